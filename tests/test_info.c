// SPDX-License-Identifier: MIT
// sinew info: every format, every file that is about, JSON that always has the same keys.
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>

#include "base/json.h"
#include "program.h"

static const char *const keys[] = {"file", "format", "frames",  "first_frame", "rate", "units",
                                   "up",   "labels", "missing", "joints",      "dofs"};

static sn_json *info_json(const char *arguments, int code) {
    char line[3500];
    sn_json *json;
    (void)snprintf(line, sizeof line, "info %s --json", arguments);
    int got = program_run(line, false);
    if (got != code) fail_msg("sinew %s: exit %d, expected %d", line, got, code);
    sn_error error;
    if (sn_json_parse(program_output, strlen(program_output), NULL, &json, &error) != SN_OK)
        fail_msg("sinew %s: line %d: %s", line, error.line, error.text);
    assert_int_equal(sn_json_root(json)->type, SN_JSON_ARRAY);
    return json;
}

static const sn_json_node *entry(const sn_json *json, int i) {
    const sn_json_node *node = sn_json_first(json, sn_json_root(json));
    while (i-- > 0 && node != NULL) node = sn_json_next(json, node);
    assert_non_null(node);
    return node;
}

static const sn_json_node *get(const sn_json *json, const sn_json_node *object, const char *key) {
    const sn_json_node *node = sn_json_get(json, object, key);
    if (node == NULL) fail_msg("no key \"%s\"", key);
    return node;
}

static void expect_number(const sn_json *json, const sn_json_node *object, const char *key,
                          double x) {
    const sn_json_node *node = get(json, object, key);
    if (node->type != SN_JSON_NUMBER || fabs(node->number - x) > 1e-9 * fmax(1, fabs(x)))
        fail_msg("\"%s\" is %.17g, not %.17g", key,
                 node->type == SN_JSON_NUMBER ? node->number : NAN, x);
}

static void expect_text(const sn_json *json, const sn_json_node *object, const char *key,
                        const char *x) {
    const sn_json_node *node = get(json, object, key);
    if (x == NULL) {
        if (node->type != SN_JSON_NULL) fail_msg("\"%s\" is not null", key);
    } else if (node->type != SN_JSON_STRING || strcmp(node->string, x) != 0) {
        fail_msg("\"%s\" is \"%s\", not \"%s\"", key,
                 node->type == SN_JSON_STRING ? node->string : "?", x);
    }
}

static const char asf[] =
    ":version 1.10\n:name VICON\n:units\n  mass 1.0\n  length 0.45\n  angle deg\n:root\n"
    "  order TX TY TZ RX RY RZ\n  axis XYZ\n  position 0 0 0\n  orientation 0 0 0\n"
    ":bonedata\n begin\n  id 1\n  name arm\n  direction 1 0 0\n  length 2\n"
    "  axis 0 0 0 XYZ\n  dof rx rz\n  limits (-10 20)\n   (-30 40)\n end\n"
    ":hierarchy\n begin\n  root arm\n end\n";
static const char amc[] =
    ":FULLY-SPECIFIED\n:DEGREES\n5\nroot 0 1 0 0 0 0\narm 1 2\n6\nroot 0 1 0 0 0 9\n"
    "arm 3 4\n";
static const char bvh[] =
    "HIERARCHY\nROOT hips\n{\n OFFSET 0 0 0\n CHANNELS 6 Xposition Yposition Zposition "
    "Zrotation Xrotation Yrotation\n JOINT chest\n {\n  OFFSET 0 90 0\n  CHANNELS 3 "
    "Zrotation Xrotation Yrotation\n  End Site\n  {\n   OFFSET 0 80 0\n  }\n }\n}\nMOTION\n"
    "Frames: 2\nFrame Time: 0.02\n0 90 0 0 0 0 0 0 0\n1 90 0 5 0 0 0 7 0\n";
static const char trc[] =
    "PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\t"
    "OrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n50\t50\t4\t2\tmm\t50\t3\t4\n"
    "Frame#\tTime\tA\t\t\tB\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n"
    "3\t0.04\t1\t2\t3\t4\t5\t6\n4\t0.06\t1\t2\t3\t\t\t\n5\t0.08\t1\t2\t3\t\t\t\n"
    "6\t0.1\t1\t2\t3\t4\t5\t6\n";
static const char mot[] = "walk\nversion=1\nnRows=2\nnColumns=3\ninDegrees=yes\nendheader\n"
                          "time\tknee\thip\n0\t1\t2\n0.5\t3\t4\n";
static const char urdf[] =
    "<robot name=\"r\"><link name=\"base\"/><link name=\"tool\"/><joint name=\"j\" "
    "type=\"continuous\"><parent link=\"base\"/><child link=\"tool\"/></joint></robot>\n";
static const char set[] =
    "{\"name\": \"few\", \"markers\": [{\"name\": \"A\", \"joint\": \"arm\"}]}\n";

static void each_format(void **unused) {
    (void)unused;
    char line[2000];
    (void)snprintf(line, sizeof line, "%s %s %s %s %s %s %s humanoid", program_file("a.asf", asf),
                   program_file("a.amc", amc), program_file("a.bvh", bvh),
                   program_file("a.trc", trc), program_file("a.mot", mot),
                   program_file("a.urdf", urdf), program_file("set.json", set));
    sn_json *json = info_json(line, 0);
    assert_int_equal(sn_json_root(json)->count, 8);
    for (int i = 0; i < 8; i++)
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
            (void)get(json, entry(json, i), keys[k]);

    const sn_json_node *e = entry(json, 0);
    expect_text(json, e, "format", "asf");
    expect_text(json, e, "frames", NULL);
    expect_text(json, e, "up", "+y");
    expect_text(json, e, "up_known", "assumed");
    expect_text(json, e, "units_known", "stated");
    expect_number(json, e, "metres_per_unit", 0.0254 / 0.45);
    expect_number(json, e, "joints", 2);
    expect_number(json, e, "dofs", 8);
    e = entry(json, 1);
    expect_text(json, e, "format", "amc");
    expect_number(json, e, "frames", 2);
    expect_number(json, e, "first_frame", 5);
    expect_text(json, e, "rate", NULL);
    expect_number(json, e, "dofs", 8);
    expect_text(json, e, "skeleton", program_path("a.asf"));
    e = entry(json, 2);
    expect_text(json, e, "format", "bvh");
    expect_number(json, e, "rate", 50);
    expect_text(json, e, "units", "cm");
    expect_text(json, e, "units_known", "guessed");
    expect_text(json, e, "up", "+y");
    expect_number(json, e, "dofs", 9);
    e = entry(json, 3);
    expect_text(json, e, "format", "trc");
    expect_number(json, e, "frames", 4);
    expect_number(json, e, "first_frame", 3);
    expect_number(json, e, "rate", 50);
    expect_text(json, e, "units", "mm");
    expect_text(json, e, "joints", NULL);
    double two[2];
    assert_true(sn_json_numbers(json, get(json, e, "missing"), 2, two));
    assert_true(two[0] == 0 && two[1] == 2);
    assert_true(sn_json_numbers(json, get(json, e, "longest_gaps"), 2, two));
    assert_true(two[0] == 0 && two[1] == 2);
    assert_string_equal(sn_json_first(json, get(json, e, "labels"))->string, "A");
    e = entry(json, 4);
    expect_text(json, e, "format", "mot");
    expect_number(json, e, "frames", 2);
    expect_number(json, e, "rate", 2);
    assert_int_equal(get(json, e, "columns")->count, 3);
    expect_text(json, e, "labels", NULL);
    e = entry(json, 5);
    expect_text(json, e, "format", "urdf");
    expect_text(json, e, "up", "+z");
    expect_number(json, e, "dofs", 1);
    e = entry(json, 6);
    expect_text(json, e, "format", "markers");
    assert_int_equal(get(json, e, "labels")->count, 1);
    e = entry(json, 7);
    expect_text(json, e, "format", "sinew");
    expect_number(json, e, "nq", 59);
    expect_number(json, e, "hessian_entries", 850);
    sn_json_destroy(json);

    program_expect(0, "2 (5 to 6), no rate stated", "info %s", program_path("a.amc"));
    assert_non_null(strstr(program_output, "can only be read with its skeleton"));
    assert_non_null(strstr(program_output, "numbers in a frame  8"));
    program_expect(0, "50.0             2", "info %s", program_path("a.trc"));
}

// What can't be read is reported, and the rest still shown.
static void errors(void **unused) {
    (void)unused;
    char line[1000];
    const char *bad = program_file("bad.trc", "PathFileType\t4\nnonsense\n");
    const char *frames =
        program_file("bad.amc", ":DEGREES\n1\nroot 0 0 0 0 0 0\n3\nroot 0 0 0 0 0 0\n");
    const char *odd =
        program_file("odd.amc", ":DEGREES\n1\nroot 0 0 0 0 0 0\narm 1 2\n2\nroot 0 0 0 0 0 0\n");
    (void)snprintf(line, sizeof line, "%s %s /nowhere.c3d", bad, program_file("a.trc", trc));
    sn_json *json = info_json(line, 3);
    assert_int_equal(sn_json_root(json)->count, 3);
    expect_text(json, entry(json, 0), "file", bad);
    assert_non_null(sn_json_get(json, entry(json, 0), "error"));
    expect_text(json, entry(json, 1), "format", "trc");
    expect_text(json, entry(json, 2), "error", "No such file or directory");
    sn_json_destroy(json);
    program_expect(3, "bad.trc:", "info %s %s", bad, program_path("a.trc"));
    assert_non_null(strstr(program_output, "TRC recording"));
    program_expect(3, "bad.amc:4: frame 3 follows frame 1", "info %s", frames);
    program_expect(3, "odd.amc:5: frame 2 has 1 bones with 6 numbers", "info %s", odd);
    // with a skeleton that is not its own
    program_expect(3, "a2.amc:3: the skeleton has no bone \"leg\"", "info %s %s",
                   program_file("a.asf", asf),
                   program_file("a2.amc", ":DEGREES\n1\nleg 0 0 0 0 0 0\n"));
    // the one that fits is found among several
    program_expect(0, "AMC motion of", "info %s %s %s", program_file("z.asf", asf),
                   program_file("a.amc", amc), program_path("a.asf"));
}

// --- every file that is about --------------------------------------------------------------------

static int shown, refused;

// Files that are no motion-capture file at all, or empty; the rest must be read.
static bool may_be_refused(const char *path) {
    static const char *const endings[] = {"README.md",

                                          "c3d/Empty.c3d"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t n = strlen(path), m = strlen(endings[i]);
        if (n >= m && strcmp(path + n - m, endings[i]) == 0) return true;
    }
    // setups and marker sets of OpenSim's tools hold no model
    const char *ending = strrchr(path, '.');
    if (ending != NULL && strcmp(ending, ".xml") == 0 && strstr(path, "/data/mjcf/") == NULL)
        return true;
    return strstr(path, "/golden/") != NULL;  // tables of words and bare numbers
}

static void try_file(const char *path) {
    char line[1200];
    (void)snprintf(line, sizeof line, "info '%s'", path);
    int code = program_run(line, true);
    if (code == 0) {
        if (strncmp(program_output, path, strlen(path)) != 0)
            fail_msg("%s: %.200s", path, program_output);
        shown++;
        if (may_be_refused(path) && strstr(path, "/golden/") == NULL) fail_msg("%s was read", path);
        return;
    }
    if (code != 3 || !may_be_refused(path))
        fail_msg("%s: exit %d: %.300s", path, code, program_output);
    // "sinew: FILE:LINE: sentence"
    char start[1100];
    (void)snprintf(start, sizeof start, "sinew: %s:", path);
    if (strncmp(program_output, start, strlen(start)) != 0 ||
        strlen(program_output) < strlen(start) + 15)
        fail_msg("%s: %.300s", path, program_output);
    refused++;
}

static void try_folder(const char *folder, int depth) {
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        char path[1000];
        if (e->d_name[0] == '.') continue;
        int n = snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        assert_true(n > 0 && (size_t)n < sizeof path);
        DIR *below_it = depth < 4 ? opendir(path) : NULL;
        if (below_it != NULL) {
            (void)closedir(below_it);
            try_folder(path, depth + 1);
        } else {
            try_file(path);
        }
    }
    (void)closedir(dir);
}

// A pipe gives its bytes once, however often they are looked at.
static void pipes(void **unused) {
    (void)unused;
    (void)program_file("pipe.asf", asf);
    (void)program_file("pipe.amc", amc);
    static const struct {
        const char *before, *arguments, *says;
    } lines[] = {
        {"cat pipe.asf |", "info /dev/stdin", "/dev/stdin: ASF model"},
        {"cat pipe.asf |", "info -", "-: ASF model"},
        {"cat pipe.amc |", "info pipe.asf -", "-: AMC motion of pipe.asf"},
        {"cat pipe.amc |", "info pipe.asf /dev/stdin", "/dev/stdin: AMC motion of pipe.asf"},
        {"cat pipe.amc |", "info /dev/stdin", "/dev/stdin: AMC motion"},
        {"cat pipe.asf |", "info /dev/stdin pipe.amc", "pipe.amc: AMC motion of /dev/stdin"},
        {"mkfifo fifo; cat pipe.asf >fifo &", "info pipe.amc fifo", "pipe.amc: AMC motion of fifo"},
        {"cat pipe.amc |", "convert - pipe.asf -o pipe.bvh", "wrote  pipe.bvh"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char line[600];
        (void)snprintf(line, sizeof line, "cd '%s' && %s '%s' %s 2>&1", program_folder,
                       lines[i].before, SINEW_PROGRAM, lines[i].arguments);
        int code = shell(line);
        if (code != 0 || strstr(program_output, lines[i].says) == NULL)
            fail_msg("%s sinew %s: exit %d, expected 0 with \"%s\"; it said: %s", lines[i].before,
                     lines[i].arguments, code, lines[i].says, program_output);
    }
}

// Refused by its size, without reading it.
static void too_large(void **unused) {
    (void)unused;
    FILE *f = fopen(program_path("large.c3d"), "wb");
    assert_non_null(f);
    assert_int_equal(fseeko(f, (off_t)4 << 30, SEEK_SET), 0);
    assert_int_not_equal(fputc(0, f), EOF);
    assert_int_equal(fclose(f), 0);
    // with less memory than the program would read of it, where it runs so (not with a sanitizer)
    char line[600];
    (void)snprintf(
        line, sizeof line,
        "cd '%s'; (ulimit -v 400000 && '%s' --version) >/dev/null 2>&1 && ulimit -v 400000; '%s' "
        "info large.c3d 2>&1",
        program_folder, SINEW_PROGRAM, SINEW_PROGRAM);
    assert_int_equal(shell(line), 3);
    assert_string_equal(program_output,
                        "sinew: large.c3d: larger than 1 GiB, the most that is read\n");
    assert_int_equal(remove(program_path("large.c3d")), 0);
}

static void all_data(void **unused) {
    (void)unused;
    if (data_path("README.md") == NULL) skip();
    try_folder(SINEW_DATA, 0);
    print_message("%d files shown, %d refused\n", shown, refused);
    assert_true(shown > 80);
}

int main(void) {
    const struct CMUnitTest list[] = {
        cmocka_unit_test(each_format), cmocka_unit_test(errors),   cmocka_unit_test(pipes),
        cmocka_unit_test(too_large),   cmocka_unit_test(all_data),
    };
    if (!program_begin("info")) return 1;
    return program_end(cmocka_run_group_tests(list, NULL, NULL));
}
