// SPDX-License-Identifier: MIT
// `sinew solve --tip`: one goal, all solutions, tables, paths, pipes, and what it says when a goal is out of reach.
#define _POSIX_C_SOURCE 200809L
#include "program.h"

// A flat arm of two links, each a metre long, a slide, and a wrist that follows.
static const char flat[] =
    "<robot name='flat'><link name='base'/><link name='a'/><link name='b'/><link name='hand'/>"
    "<joint name='shoulder' type='revolute'><parent link='base'/><child link='a'/><axis xyz='0 0 "
    "1'/>"
    "<limit lower='-2.5' upper='2.5' velocity='1.5'/></joint>"
    "<joint name='elbow' type='revolute'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/>"
    "<origin xyz='1 0 0'/><limit lower='-2.8' upper='2.8' velocity='2'/></joint>"
    "<joint name='wrist' type='revolute'><parent link='b'/><child link='hand'/><axis xyz='0 0 1'/>"
    "<origin xyz='1 0 0'/><limit lower='-3' upper='3'/><mimic joint='elbow' multiplier='0.5' "
    "offset='0.1'/></joint></robot>";

static const char *robot(void) { return program_file("flat.urdf", flat); }

// Where the hand is, in the plane.
static void hand(double shoulder, double elbow, double *x, double *y) {
    *x = cos(shoulder) + cos(shoulder + elbow);
    *y = sin(shoulder) + sin(shoulder + elbow);
}

static void assert_there(double shoulder, double elbow, double x, double y) {
    double hx, hy;
    hand(shoulder, elbow, &hx, &hy);
    assert_near(hx, x, 2e-6);
    assert_near(hy, y, 2e-6);
}

static double number_after(const char *key) {
    const char *at = strstr(program_output, key);
    if (at == NULL) fail_msg("no \"%s\" in: %.800s", key, program_output);
    return strtod(at + strlen(key), NULL);
}

static void one_goal(void **unused) {
    (void)unused;
    const char *m = robot();
    program_expect(0, "reached", "solve -m %s --tip hand --goal 1,0.5,0", m);
    assert_there(number_after("shoulder"), number_after("elbow"), 1, 0.5);
    assert_null(strstr(program_output, "wrist"));  // it follows
    program_expect(0, "\"joints\":[\"shoulder\",\"elbow\"]",
                   "solve -m %s --tip hand --goal 1,0.5,0 --json", m);
    double q[2];
    assert_int_equal(sscanf(strstr(program_output, "\"q\":["), "\"q\":[%lf,%lf]", &q[0], &q[1]), 2);
    assert_there(q[0], q[1], 1, 0.5);
    assert_int_equal(program_run("solve --help", true), 0);
    // with its rotation, by the wrist
    program_expect(0, "reached", "solve -m %s --tip hand --goal 1,0.5,0 --csv", m);
    assert_true(strncmp(program_output, "reached,position_error,rotation_error,shoulder,elbow\n1,",
                        54) == 0);
    // a tool on the hand, a base, a joint that stays
    program_expect(0, "reached", "solve -m %s --tip hand --goal 1.5,0.5,0 --tool 0.1,0,0", m);
    program_expect(0, "reached", "solve -m %s --tip hand --base a --goal 1,1,0", m);
    program_expect(4, "not reached", "solve -m %s --tip hand --goal 1.5,0.5,0 --lock elbow", m);
}

static void all_of_them(void **unused) {
    (void)unused;
    const char *m = robot(), *seed = program_file("seed.json", "[0.5, -1]");
    program_expect(0, "solution 2 of 2", "solve -m %s --tip hand --goal 1,0.5,0 --all", m);
    program_expect(0, "\"solutions\":[[",
                   "solve -m %s --tip hand --goal 1,0.5,0 --all --json --seed %s", m, seed);
    double q[4];
    assert_int_equal(sscanf(strstr(program_output, "\"solutions\":"),
                            "\"solutions\":[[%lf,%lf],[%lf,%lf]]", &q[0], &q[1], &q[2], &q[3]),
                     4);
    assert_there(q[0], q[1], 1, 0.5);
    assert_there(q[2], q[3], 1, 0.5);
    assert_true(q[1] < 0 && q[3] > 0);  // the nearest to the seed first
    // each with its own error
    program_expect(0, "reached", "solve -m %s --tip hand --goal 1,0.5,0 --all --csv", m);
    const char *row = strchr(program_output, '\n');
    for (int k = 0; k < 2; k++, row = strchr(row + 1, '\n')) {
        double error, turn, x, y;
        int there;
        assert_non_null(row);
        assert_int_equal(sscanf(row, " %d,%lf,%lf,%lf,%lf", &there, &error, &turn, &q[0], &q[1]),
                         5);
        hand(q[0], q[1], &x, &y);
        assert_near(sqrt((x - 1) * (x - 1) + (y - 0.5) * (y - 0.5)), error, 1e-13);
    }
    // the other one from the other side, also with the seed of the whole model
    const char *other = program_file("other.json", "[0, 1, 0.6]");
    program_expect(0, "reached", "solve -m %s --tip hand --goal 1,0.5,0 --seed %s", m, other);
    assert_true(number_after("elbow") > 0);
    const char *wrong = program_file("wrong.json", "[0, 1, 2, 3, 4]");
    program_expect(3, "5 numbers", "solve -m %s --tip hand --goal 1,0.5,0 --seed %s", m, wrong);
}

// One pose as a file that shows it: the whole robot. Notes about shapes, which do not count here, are left out.
static void pose_files(void **unused) {
    (void)unused;
    char text[sizeof flat + 200];
    const char *mesh = "<collision><geometry><mesh filename='a.stl'/></geometry></collision>";
    (void)snprintf(text, sizeof text,
                   "%s<link name='c'>%s</link><joint name='r' type='fixed'>"
                   "<parent link='hand'/><child link='c'/></joint></robot>",
                   flat, mesh);
    // behind what is there, before the robot's end
    char *end = strstr(text, "</robot>");
    memmove(end, end + 8, strlen(end + 8) + 1);
    const char *m = program_file("mesh.urdf", text), *glb = program_path("pose.glb");
    program_expect(0, "reached", "solve -m %s --tip hand --goal 1,0.5,0 -o %s", m, glb);
    assert_null(strstr(program_output, "collision"));
    assert_non_null(strstr(program_output, "shoulder"));
    size_t length;
    char *bytes = slurp(glb, &length);
    assert_memory_equal(bytes, "glTF", 4);
    free(bytes);
    program_expect(0, "GLB model \"flat\"", "info %s", glb);
}

// Exit 4, by how much, and why.
static void out_of_reach(void **unused) {
    (void)unused;
    const char *m = robot();
    program_expect(4, "farther than the arm is long", "solve -m %s --tip hand --goal 3,0,0", m);
    assert_near(number_after("not reached: "), 1, 1e-6);
    program_expect(4, "\"reached\":false", "solve -m %s --tip hand --goal 3,0,0 --json", m);
    assert_near(number_after("\"position_error\":"), 1, 1e-6);
    // folded it cannot come to the shoulder: the elbow's limit
    program_expect(4, "the limit of elbow", "solve -m %s --tip hand --goal 0.1,0,0", m);
}

static void tables(void **unused) {
    (void)unused;
    const char *m = robot();
    enum { COUNT = 300 };
    char text[COUNT * 60 + 100];
    size_t used = (size_t)snprintf(text, sizeof text, "x,y,z,qw,qx,qy,qz\n");
    for (int k = 0; k < COUNT; k++) {
        double x, y;
        hand(-2 + 0.013 * k, 0.4 + 0.005 * k, &x, &y);
        used += (size_t)snprintf(text + used, sizeof text - used, "%.15g,%.15g,%d,1,0,0,0\n", x, y,
                                 k == 100 ? 1 : 0);
    }
    const char *goals = program_file("goals.csv", text);
    const char *out = program_path("q.csv"), *two = program_path("q2.csv");
    // one of them is a metre above the plane
    program_expect(4, "1 of 300 goals are not reached: by 1 m",
                   "solve -m %s --tip hand --free rotation --goals %s -o %s", m, goals, out);
    size_t length;
    char *table = slurp(out, &length);
    assert_true(strncmp(table, "reached,position_error,rotation_error,shoulder,elbow\n", 53) == 0);
    const char *at = strchr(table, '\n') + 1;
    for (int k = 0; k < COUNT; k++) {
        double row[5], x, y;
        assert_int_equal(
            sscanf(at, "%lf,%lf,%lf,%lf,%lf", &row[0], &row[1], &row[2], &row[3], &row[4]), 5);
        hand(-2 + 0.013 * k, 0.4 + 0.005 * k, &x, &y);
        assert_int_equal((int)row[0], k != 100);
        assert_true(fabs(row[3]) <= 2.5 && fabs(row[4]) <= 2.8);
        if (k != 100) assert_there(row[3], row[4], x, y);
        at = strchr(at, '\n') + 1;
    }
    assert_true(*at == '\0');
    // on threads and through a pipe: the same bytes
    program_expect(4, "1 of 300", "solve -m %s --tip hand --free rotation --goals %s -o %s -j 3", m,
                   goals, two);
    char *again = slurp(two, &length);
    assert_string_equal(table, again);
    free(again);
    char line[1000];
    (void)snprintf(line, sizeof line,
                   "'%s' solve -m %s --tip hand --free rotation --goals - < %s 2>/dev/null",
                   SINEW_PROGRAM, m, goals);
    assert_int_equal(shell(line), 4);
    assert_string_equal(table, program_output);
    free(table);
    // what is wrong is named with its line
    const char *bad =
        program_file("bad.csv", "x,y,z,qw,qx,qy,qz\n1,0,0,1,0,0,0\n1,0,zero,1,0,0,0\n");
    program_expect(3, "bad.csv:3: z: \"zero\" is not a number", "solve -m %s --tip hand --goals %s",
                   m, bad);
}

// A straight line through waypoints; one that leads out of reach says where it ends.
static void paths(void **unused) {
    (void)unused;
    const char *m = robot();
    const char *way = program_file(
        "way.csv", "x,y,z,qw,qx,qy,qz\n1,-0.5,0,1,0,0,0\n1,0.5,0,1,0,0,0\n1.4,0.5,0,1,0,0,0\n");
    program_expect(0, "shoulder,elbow\n",
                   "solve -m %s --tip hand --free rotation --path %s --path-step 0.02", m, way);
    int rows = 0;
    double before[2] = {0, 0};
    for (const char *at = strchr(program_output, '\n') + 1; *at != '\0';
         at = strchr(at, '\n') + 1) {
        double q[2], x, y;
        assert_int_equal(sscanf(at, "%lf,%lf", &q[0], &q[1]), 2);
        hand(q[0], q[1], &x, &y);
        assert_true(fabs(x - 1) < 3e-6 || fabs(y - 0.5) < 3e-6);
        for (int j = 0; j < 2 && rows > 0; j++) assert_true(fabs(q[j] - before[j]) < 0.1);
        memcpy(before, q, sizeof q);
        rows++;
    }
    assert_true(rows >= 70);
    const char *away =
        program_file("away.csv", "x,y,z,qw,qx,qy,qz\n1,0,0,1,0,0,0\n3,0,0,1,0,0,0\n");
    program_expect(4, "on the way to goal 2", "solve -m %s --tip hand --free rotation --path %s", m,
                   away);
}

static void wrong_words(void **unused) {
    (void)unused;
    const char *m = robot();
    program_expect(3, "did you mean \"hand\"?", "solve -m %s --tip hnd --goal 1,0,0", m);
    program_expect(2, "--tip needs one of", "solve -m %s --tip hand", m);
    program_expect(2, "a goal needs --tip", "solve -m %s --goal 1,0,0", m);
    program_expect(2, "it needs the numbers x,y,z", "solve -m %s --tip hand --goal 1,0", m);
    program_expect(2, "the quaternion qw,qx,qy,qz is no rotation",
                   "solve -m %s --tip hand --goal 1,0,0,0,0,0,0", m);
    program_expect(3, "did you mean \"elbow\"?", "solve -m %s --tip hand --goal 1,0,0 --lock elbw",
                   m);
    program_expect(3, "not in its range", "solve -m %s --tip hand --goal 1e300,0,0", m);
    // what would be passed over in silence
    const char *goals = program_file("two.csv", "x,y,z\n1,0.5,0\n1000,500,0\n");
    program_expect(2, "--all is for one goal", "solve -m %s --tip hand --goals %s --all", m, goals);
    program_expect(2, "--json is for one goal", "solve -m %s --tip hand --goals %s --json", m,
                   goals);
    program_expect(2, "many poses are a table", "solve -m %s --tip hand --goals %s -o a.glb", m,
                   goals);
    program_expect(2, "--svg draws tasks", "solve -m %s --tip hand --goal 1,0,0 --svg a.svg", m);
    // a table of places; goals in millimetres
    program_expect(
        4, "1 of 2 goals are not reached: by 1.12e+03 m and 0 rad at most; goals are in metres",
        "solve -m %s --tip hand --goals %s", m, goals);
    program_expect(4, "; goals are in metres", "solve -m %s --tip hand --goal 1000,500,0", m);
    const char *macro =
        program_file("arm.urdf.xacro", "<robot name='r' xmlns:xacro='http://ros.org/wiki/xacro'>"
                                       "<xacro:arm prefix='left'/></robot>");
    program_expect(3, "run xacro on the file first", "solve -m %s --tip hand --goal 1,0,0", macro);
}

// What info says of a robot: chains by their tips, ranges, speeds, who follows whom.
static void info(void **unused) {
    (void)unused;
    const char *m = robot();
    program_expect(0, "hand (2)", "info %s", m);
    assert_non_null(strstr(program_output, "shoulder, hinge  -2.5 to 2.5 rad, 1.5 rad/s"));
    assert_non_null(strstr(program_output, "follows elbow"));
    program_expect(0, "\"tips\":[\"hand\"]", "info --json %s", m);
    assert_non_null(strstr(program_output, "\"follows\":[\"elbow\"]"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_goal), cmocka_unit_test(all_of_them), cmocka_unit_test(out_of_reach),
        cmocka_unit_test(tables),   cmocka_unit_test(paths),       cmocka_unit_test(wrong_words),
        cmocka_unit_test(info),     cmocka_unit_test(pose_files)};
    if (!program_begin("arm")) return 1;
    return program_end(cmocka_run_group_tests(tests, NULL, NULL));
}
