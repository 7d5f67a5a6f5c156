// SPDX-License-Identifier: MIT
// What must not happen, by the program: solve, eval, info, --srdf.
#define _POSIX_C_SOURCE 200809L
#include "program.h"

static const char robot[] = "<robot name='r'><link name='base'><collision><geometry><sphere "
                            "radius='0.3'/></geometry></collision></link>"
                            "<link name='arm'/><link name='hand'><collision "
                            "name='fist'><geometry><sphere radius='0.1'/></geometry>"
                            "</collision></link>"
                            "<joint name='lift' type='prismatic'><parent link='base'/><child "
                            "link='arm'/><origin xyz='1 0 0'/>"
                            "<axis xyz='0 0 1'/><limit lower='-1' upper='1'/></joint>"
                            "<joint name='slide' type='prismatic'><parent link='arm'/><child "
                            "link='hand'/><axis xyz='1 0 0'/>"
                            "<limit lower='-2' upper='1'/><origin xyz='0.1 0 0'/></joint></robot>";

static void test_solve(void **unused) {
    (void)unused;
    const char *model = program_file("r.urdf", robot);
    const char *tasks = program_file(
        "t.json",
        "{\"tasks\": [{\"type\": \"point\", \"link\": \"hand\", \"goal\": [0.1, 0, 0.05]},"
        "{\"type\": \"avoid\", \"distance\": 0.02}]}");
    program_expect(0, "2 collision shapes", "info %s", model);
    program_expect(0, "nothing happens that must not", "solve -m %s -t %s", model, tasks);
    // on the sphere of 0.42 around the base, in the goal's direction
    program_expect(0, "\"q\":[", "solve -m %s -t %s --json", model, tasks);
    double x, z;
    assert_int_equal(sscanf(program_output, "{\"q\":[%lf,%lf]", &z, &x), 2);
    assert_near(hypot(x + 1.1, z), 0.42, 1e-4);
    assert_near(z / (x + 1.1), 0.5, 1e-3);
    assert_null(strstr(program_output, "violations"));
    // with all joints locked it cannot be met: which, and by how much
    const char *start = program_file("q.json", "[0, -0.9]");
    program_expect(4, "violated by 0.22 m: task 1 (avoid), base and fist",
                   "solve -m %s -t %s --start %s --lock lift --lock slide", model, tasks, start);
    program_expect(4, "\"violation\":0.21999",
                   "solve -m %s -t %s --start %s --lock lift --lock slide --json", model, tasks,
                   start);
    assert_non_null(strstr(program_output,
                           "\"violations\":[{\"task\":1,\"shapes\":[0,1],\"names\":["
                           "\"base\",\"fist\"],\"by\":0.21999"));
    // where SRDF lets them touch, the goal is reached
    const char *srdf = program_file(
        "r.srdf", "<robot name='r'><disable_collisions link1='hand' link2='base'/></robot>");
    program_expect(0, "reached", "solve -m %s -t %s --srdf %s", model, tasks, srdf);
    const char *other = program_file("o.srdf", "<sdf/>");
    program_expect(3, "is this an SRDF file?", "solve -m %s -t %s --srdf %s", model, tasks, other);
    program_expect(1, "use hybrid", "solve -m %s -t %s --solver ccd", model, tasks);
    program_expect(0, "avoid", "eval -m %s -t %s -q %s", model, tasks, start);
    // the pose as a file: with the shapes where it can show them
    char glb[600];
    (void)snprintf(glb, sizeof glb, "%s", program_file("pose.glb", ""));
    program_expect(0, "nothing happens", "solve -m %s -t %s -o %s", model, tasks, glb);
    size_t length;
    char *bytes = slurp(glb, &length);
    bytes[length - 1] = '\0';
    assert_non_null(strstr(bytes + 20, "\"name\":\"fist\",\"extras\":{\"sinew\":\"shape\"}"));
    free(bytes);
    program_expect(1, "ending", "solve -m %s -t %s -o %s", model, tasks,
                   program_file("pose.xyz", ""));
}

// Long names do not shift the table; a task that only another one weighs is not "missing"; and where the goal is met no
// gradient is printed.
static void test_table(void **unused) {
    (void)unused;
    const char *model = program_file(
        "long.urdf", "<robot name='r'><link name='base'/><link name='a'/><link name='b'/>"
                     "<joint name='the_first_joint' type='prismatic'><parent link='base'/><child "
                     "link='a'/><axis xyz='0 0 1'/><limit lower='-1' upper='1'/></joint>"
                     "<joint name='the_second_joint' type='prismatic'><parent link='a'/><child "
                     "link='b'/><axis xyz='1 0 0'/><limit lower='-2' upper='1'/></joint></robot>");
    const char *tasks = program_file(
        "long.json", "{\"tasks\": [{\"type\": \"point\", \"link\": \"b\", \"goal\": [0.1, 0, 0.2]},"
                     "{\"type\": \"distance\", \"link\": \"b\", \"joint2\": \"the_first_joint\", "
                     "\"distance\": 0.1},"
                     "{\"type\": \"point\", \"link\": \"b\", \"goal\": [0, 0, 0], \"weight\": 0},"
                     "{\"type\": \"half-space\", \"link\": \"b\", \"point\": [0, 0, 0.1], "
                     "\"normal\": [0, 0, 1]}]}");
    program_expect(0, "the_second_joint-the_first_joint", "solve -m %s -t %s", model, tasks);
    assert_non_null(strstr(program_output, "weight 0"));
    assert_null(strstr(program_output, "missing"));
    assert_non_null(strstr(program_output, "goal met"));
    assert_null(strstr(program_output, "relative gradient"));
    int at = -1, lines = 0;
    for (const char *line = program_output, *end; (end = strchr(line, '\n')) != NULL;
         line = end + 1) {
        const char *word = strstr(line, "reached");
        if (word == NULL || word > end) continue;
        if (at < 0) at = (int)(word - line);
        assert_int_equal(word - line, at);
        lines++;
    }
    assert_int_equal(lines, 3);
    program_expect(0, "(weight 0)", "eval -m %s -t %s", model, tasks);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_solve), cmocka_unit_test(test_table)};
    if (!program_begin("guards")) return 1;
    return program_end(cmocka_run_group_tests(tests, NULL, NULL));
}
