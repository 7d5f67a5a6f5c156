// SPDX-License-Identifier: MIT
// The program as a user meets it: output, messages, exit codes.
#define _POSIX_C_SOURCE 200809L
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "reference.h"
#include "support.h"

enum { MOST = 4 << 20 };

static char *output;  // of the last command, both streams

// Run "sinew ARGUMENTS" and return its exit code.
static int sinew(const char *arguments) {
    char line[2048];
    (void)snprintf(line, sizeof line, "'%s' %s 2>&1", SINEW_PROGRAM, arguments);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    size_t used = 0, got;
    while ((got = fread(output + used, 1, MOST - 1 - used, pipe)) > 0) used += got;
    output[used] = '\0';
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void expect(const char *arguments, int code, const char *fragment) {
    int got = sinew(arguments);
    if (got != code || strstr(output, fragment) == NULL)
        fail_msg("sinew %s: exit %d, expected %d with \"%s\"; it said: %.500s", arguments, got,
                 code, fragment, output);
}

static char folder[64];

static const char *file(const char *name, const char *text) {
    static char path[16][128];
    static int turn;
    char *at = path[turn++ % 16];
    (void)snprintf(at, sizeof path[0], "%s/%s", folder, name);
    FILE *f = fopen(at, "wb");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    return at;
}

static const char arm[] =
    "{\"sinew\": 1, \"name\": \"arm\",\n"
    " \"joints\": [\n"
    "  {\"name\": \"base\", \"parent\": null, \"type\": \"free\", \"position\": [0,0,0], "
    "\"rotation\": [1,0,0,0]},\n"
    "  {\"name\": \"shoulder\", \"parent\": \"base\", \"type\": \"euler\", \"order\": \"ZYX\", "
    "\"position\": [0,0.3,0],\n"
    "   \"limits\": [[-1,1],[-2,2],[-1,1]]},\n"
    "  {\"name\": \"elbow\", \"parent\": \"shoulder\", \"type\": \"hinge\", \"axis\": [1,0,0], "
    "\"limits\": [[0,2.5]], \"locked\": false, \"strength\": 1}],\n"
    " \"markers\": [{\"name\": \"HAND\", \"joint\": \"elbow\", \"position\": [0,0.25,0], "
    "\"weight\": 1}]}\n";

static const char tasks[] =
    "{\"tasks\": [{\"type\": \"point\", \"joint\": \"elbow\", \"local\": [0,0.25,0], "
    "\"goal\": [0.3,0.4,0.1], \"weight\": 1}]}\n";

static void help_and_usage(void **unused) {
    (void)unused;
    static const char *const commands[] = {"solve", "info", "eval", "check", "bench", "example"};
    expect("--help", 0, "usage: sinew");
    expect("--version", 0, sn_version());
    expect("", 2, "usage: sinew");
    expect("frobnicate", 2, "there is no command \"frobnicate\"");
    for (int i = 0; i < 5; i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "%s --help", commands[i]);
        expect(line, 0, "usage: sinew");
        assert_non_null(strstr(output, commands[i]));
        (void)snprintf(line, sizeof line, "%s --version", commands[i]);
        expect(line, 0, sn_version());
        (void)snprintf(line, sizeof line, "%s --nonsense", commands[i]);
        expect(line, 2, "unknown option \"--nonsense\"");
    }
    expect("eval -m humanoid", 2, "-t TASKS");
    expect("solve -m humanoid", 2, "needs --tip");
    expect("info", 2, "FILE is missing; see sinew info --help");
    expect("check", 2, "MODEL is missing");
    expect("bench nothing", 2, "there is no benchmark \"nothing\"");
    expect("check humanoid --poses many", 2, "whole number");
    expect("eval -m humanoid -t x --hessian half", 2, "exact, gn or none");
    expect("solve --max-iterations", 2, "a value is missing");
}

static void bad_input(void **unused) {
    (void)unused;
    char line[512];
    expect("info /nowhere/at/all.json", 3, "/nowhere/at/all.json: No such file");
    (void)snprintf(line, sizeof line, "info %s", folder);
    expect(line, 3, "directory");
    (void)snprintf(line, sizeof line, "info %s",
                   file("bad.json", "{\"joints\": [\n {\"name\": \"a\", \"type\": \"hinge\"}]}"));
    expect(line, 3, "bad.json:2: joint \"a\": a hinge joint needs \"axis\"");
    const char *model = file("arm.json", arm);
    (void)snprintf(line, sizeof line, "eval -m %s -t %s", model,
                   file("t.json", "{\"tasks\": [\n\n{\"type\":\"point\",\"joint\":\"nose\"}]}"));
    expect(line, 3, "t.json:3: task 0 (point): there is no joint or link \"nose\"");
    const char *good = file("tasks.json", tasks);
    (void)snprintf(line, sizeof line, "eval -m %s -t %s -q %s", model, good,
                   file("short.q", "1 2 3"));
    expect(line, 3, "3 numbers, but the model has nq = 11");
    (void)snprintf(line, sizeof line, "solve -m %s -t %s --start %s", model, good,
                   file("odd.q", "0 0 0\n0 0 0 0\n0 zero 0 0"));
    expect(line, 3, "odd.q:3: \"zero\" is not a finite number");
    (void)snprintf(line, sizeof line, "eval -m %s -t %s -q %s", model, good,
                   file("null.q", "[0,0,0, 0,0,0,0, 0,0,0, 0]"));
    expect(line, 3, "joint \"base\": its quaternion");
    // a disk that is full
    (void)snprintf(line, sizeof line, "info %s --json > /dev/full", model);
    assert_int_equal(sinew(line), 1);
}

static double number_of(const sn_json *json, const sn_json_node *object, const char *key) {
    const sn_json_node *node = sn_json_get(json, object, key);
    assert_non_null(node);
    assert_int_equal(node->type, SN_JSON_NUMBER);
    return node->number;
}

// What eval prints is what the library computes, to the last bit.
static void eval_json(void **unused) {
    (void)unused;
    char line[512];
    const char *q_text = "[0.1,-0.2,0.3, 0.9,0.1,-0.2,0.3, 0.4,-0.5,0.6, 1.1]";
    const double q[] = {0.1, -0.2, 0.3, 0.9, 0.1, -0.2, 0.3, 0.4, -0.5, 0.6, 1.1};
    (void)snprintf(line, sizeof line, "eval -m %s -t %s -q %s --json", file("arm.json", arm),
                   file("tasks.json", tasks), file("a.q", q_text));
    sn_model *model;
    sn_problem *problem;
    sn_workspace *ws;
    sn_json *json;
    double f, g[10], H[100], printed[10];
    assert_int_equal(sn_model_read_json(arm, strlen(arm), NULL, &model, NULL), SN_OK);
    assert_int_equal(sn_problem_read_json(tasks, strlen(tasks), model, NULL, &problem, NULL),
                     SN_OK);
    assert_int_equal(sn_workspace_create(problem, true, NULL, &ws, NULL), SN_OK);
    for (int gn = 0; gn < 2; gn++) {
        char whole[600];
        (void)snprintf(whole, sizeof whole, "%s --hessian %s", line, gn ? "gn" : "exact");
        assert_int_equal(sinew(whole), 0);
        assert_int_equal(sn_json_parse(output, strlen(output), NULL, &json, NULL), SN_OK);
        const sn_json_node *root = sn_json_root(json);
        assert_int_equal(sn_workspace_eval(ws, q, gn ? SN_EVAL_GAUSS_NEWTON : SN_EVAL_HESSIAN, &f),
                         SN_OK);
        sn_workspace_gradient(ws, g);
        sn_workspace_hessian(ws, H);
        assert_true(number_of(json, root, "f") == f);
        assert_true(number_of(json, root, "nq") == 11 && number_of(json, root, "nv") == 10);
        assert_true(sn_json_numbers(json, sn_json_get(json, root, "g"), 10, printed));
        assert_memory_equal(printed, g, sizeof g);
        const sn_json_node *row = sn_json_first(json, sn_json_get(json, root, "H"));
        for (int i = 0; i < 10; i++, row = sn_json_next(json, row)) {
            assert_true(sn_json_numbers(json, row, 10, printed));
            assert_memory_equal(printed, H + 10 * i, sizeof printed);
        }
        const sn_json_node *joint = sn_json_first(json, sn_json_get(json, root, "joints"));
        for (int j = 0; j < 3; j++, joint = sn_json_next(json, joint)) {
            sn_frame frame = sn_workspace_frame(ws, j);
            double R[9], p[3];
            assert_string_equal(sn_json_get(json, joint, "name")->string,
                                sn_model_joint(model, j)->name);
            assert_true(sn_json_numbers(json, sn_json_get(json, joint, "position"), 3, printed));
            assert_memory_equal(printed, &frame.p, sizeof frame.p);
            assert_true(sn_json_numbers(json, sn_json_get(json, joint, "rotation"), 4, printed));
            reference_frame(model, q, j, R, p);
            sn_mat3 back =
                sn_mat3_from_quat((sn_quat){printed[0], printed[1], printed[2], printed[3]});
            assert_true(reference_relative(&back.c[0].x, R, 9, 1) < 1e-14);
        }
        sn_json_destroy(json);
    }
    (void)snprintf(line + strlen(line), 64, " --hessian none");
    assert_int_equal(sinew(line), 0);
    assert_null(strstr(output, "\"H\""));
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

static void solve_json(void **unused) {
    (void)unused;
    char line[512];
    sn_json *json;
    (void)snprintf(line, sizeof line, "solve -m %s -t %s --json", file("arm.json", arm),
                   file("tasks.json", tasks));
    assert_int_equal(sinew(line), 0);
    assert_int_equal(sn_json_parse(output, strlen(output), NULL, &json, NULL), SN_OK);
    const sn_json_node *root = sn_json_root(json);
    double q[11];
    assert_true(sn_json_numbers(json, sn_json_get(json, root, "q"), 11, q));
    assert_true(number_of(json, root, "f") < 1e-20);
    assert_true(number_of(json, root, "iterations") > 0);
    assert_string_equal(sn_json_get(json, root, "stop")->string, "goal met");
    const sn_json_node *task = sn_json_first(json, sn_json_get(json, root, "tasks"));
    assert_true(number_of(json, task, "error") < 1e-9);
    sn_json_destroy(json);
    expect("solve", 0, "one iteration takes");
    assert_non_null(strstr(output, "reached"));
    expect("solve --trace", 0, "damping");
    expect("solve --cold", 0, "goal met");
}

// A frame's Jacobian in its own axes: the hinge about z turns it about what is its y, a metre away along
// what is its z.
static void eval_frame(void **unused) {
    (void)unused;
    char line[512];
    const char *model = file(
        "framed.json", "{\"joints\": [{\"name\": \"a\", \"parent\": null, \"type\": \"hinge\", "
                       "\"axis\": [0,0,1]}], \"frames\": [{\"name\": \"tool\", \"joint\": \"a\", "
                       "\"position\": [1,0,0], \"rotation\": [0.5,0.5,0.5,0.5]}]}");
    (void)snprintf(line, sizeof line, "eval -m %s --jacobian tool", model);
    expect(line, 0, "1.000000   0.000000   0.000000   0.000000   1.000000   0.000000");
    (void)snprintf(line, sizeof line, "eval -m %s --jacobian tool --frame aligned", model);
    expect(line, 0, "0.000000   1.000000   0.000000   0.000000   0.000000   1.000000");
    (void)snprintf(line, sizeof line, "eval -m %s --jacobian tol", model);
    expect(line, 3, "did you mean \"tool\"?");
    (void)snprintf(line, sizeof line, "info %s", model);
    expect(line, 0, "tasks may also name 1 frame: tool");
}

static void info_and_check(void **unused) {
    (void)unused;
    char line[512];
    sn_json *json;
    expect("info humanoid", 0, "58 (59 coordinates), 52 with limits");
    const char *model = file("arm.json", arm);
    (void)snprintf(line, sizeof line, "info %s humanoid --json", model);
    assert_int_equal(sinew(line), 0);
    assert_int_equal(sn_json_parse(output, strlen(output), NULL, &json, NULL), SN_OK);
    const sn_json_node *first = sn_json_first(json, sn_json_root(json));
    assert_int_equal(sn_json_root(json)->count, 2);
    assert_true(number_of(json, first, "joints") == 3 && number_of(json, first, "dofs") == 10);
    assert_true(number_of(json, sn_json_next(json, first), "hessian_entries") == 850);
    sn_json_destroy(json);
    expect("check humanoid --poses 3", 0, "agree with finite differences");
    // a pose beside a kink of f: an orientation half a turn from its goal
    expect("check humanoid --seed 3", 0, "agree with finite differences");
    (void)snprintf(line, sizeof line, "check %s -t %s --poses 5 --seed 3", model,
                   file("tasks.json", tasks));
    expect(line, 0, "agree with finite differences");
    // standard input
    (void)snprintf(line, sizeof line, "info - < %s", model);
    expect(line, 0, "sinew model \"arm\"");
}

static char *made(const char *name, size_t *length) {
    char path[160];
    (void)snprintf(path, sizeof path, "%s/take/%s", folder, name);
    return slurp(path, length);
}

// The furthest that joints of the same name are apart in two motions; the left hand must be one.
static double same_places(const sn_model *a, const sn_motion *p, const sn_model *b,
                          const sn_motion *q) {
    sn_problem *pa, *pb;
    sn_workspace *wa, *wb;
    double most = 0;
    int hands = 0;
    assert_int_equal(sn_problem_create(a, NULL, 0, NULL, &pa, NULL), SN_OK);
    assert_int_equal(sn_problem_create(b, NULL, 0, NULL, &pb, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(pa, false, NULL, &wa, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(pb, false, NULL, &wb, NULL), SN_OK);
    for (int i = 0; i < sn_motion_nframe(p); i += 10) {
        assert_int_equal(sn_workspace_pose(wa, sn_motion_frame(p, i)), SN_OK);
        assert_int_equal(sn_workspace_pose(wb, sn_motion_frame(q, i)), SN_OK);
        for (int j = 0; j < sn_model_njoint(a); j++) {
            int other = sn_model_find_joint(b, sn_model_joint(a, j)->name);
            if (other < 0) continue;
            hands += strcmp(sn_model_joint(a, j)->name, "left_hand") == 0;
            sn_vec3 x = sn_workspace_frame(wa, j).p, y = sn_workspace_frame(wb, other).p;
            most = fmax(most, fmax(fabs(x.x - y.x), fmax(fabs(x.y - y.y), fabs(x.z - y.z))));
        }
    }
    assert_true(hands > 100);
    sn_workspace_destroy(wa);
    sn_workspace_destroy(wb);
    sn_problem_destroy(pa);
    sn_problem_destroy(pb);
    return most;
}

// The files read back, and belong together: the markers are where the model with its true markers
// has them, but for the noise.
static void example(void **unused) {
    (void)unused;
    char line[256];
    size_t length;
    (void)snprintf(line, sizeof line, "example --out '%s/take' --seed 5", folder);
    expect(line, 0, "take.c3d");
    expect("example --seed x", 2, "--seed");
    expect("example --out /dev/null/no", 1, "/dev/null/no");
    sn_error error;
    sn_recording *take;
    sn_model *subject, *model;
    sn_motion *truth;
    sn_problem *problem;
    sn_workspace *ws;
    char *bytes = made("take.c3d", &length);
    assert_int_equal(sn_c3d_read(bytes, length, NULL, &take, &error), SN_OK);
    free(bytes);
    bytes = made("subject.json", &length);
    assert_int_equal(sn_model_read_json(bytes, length, NULL, &subject, &error), SN_OK);
    free(bytes);
    bytes = made("model.json", &length);
    assert_int_equal(sn_model_read_json(bytes, length, NULL, &model, &error), SN_OK);
    free(bytes);
    const sn_recording_info *info = sn_recording_about(take);
    assert_true(info->rate == 120 && info->metres_per_unit == 0.001 && info->nmarker == 42);
    assert_string_equal(info->y_screen, "+Z");
    assert_string_equal(sn_recording_label(take, 0), "figure:LFHD");
    assert_int_equal(sn_example_motion(model, NULL, &truth, NULL), SN_OK);
    assert_int_equal(sn_motion_nframe(truth), info->nframe);
    assert_int_equal(sn_problem_create_markers(subject, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    double square = 0;
    int count = 0;
    for (int i = 0; i < info->nframe; i += 10) {
        assert_int_equal(sn_workspace_pose(ws, sn_motion_frame(truth, i)), SN_OK);
        const double *x = sn_recording_frame(take, i);
        for (int m = 0; m < 41; m++, x += 3) {
            const sn_marker_desc *d = sn_model_marker(subject, m);
            if (!sn_recording_present(take, i, m)) continue;
            sn_vec3 p = sn_workspace_point(ws, d->joint, d->position);
            const double off[3] = {x[0] - p.z, x[1] - p.x, x[2] - p.y};
            for (int c = 0; c < 3; c++) square += off[c] * off[c];
            count += 3;
        }
    }
    assert_near(1e3 * sqrt(square / count), 2, 0.02);

    // the truth in both formats puts the joints where it has them
    sn_skeleton *asf, *bvh;
    sn_motion *amc, *moved;
    bytes = made("skeleton.asf", &length);
    assert_int_equal(sn_asf_read(bytes, length, NULL, NULL, &asf, &error), SN_OK);
    free(bytes);
    bytes = made("truth.amc", &length);
    assert_int_equal(sn_amc_read(bytes, length, asf, NULL, &amc, &error), SN_OK);
    free(bytes);
    bytes = made("truth.bvh", &length);
    sn_bvh_options centimetres = sn_bvh_options_default();
    centimetres.metres_per_unit = 0.01;
    assert_int_equal(sn_bvh_read(bytes, length, &centimetres, NULL, &bvh, &moved, &error), SN_OK);
    free(bytes);
    assert_int_equal(sn_motion_nframe(amc), info->nframe);
    assert_int_equal(sn_motion_nframe(moved), info->nframe);
    assert_true(same_places(model, truth, sn_skeleton_model(asf), amc) < 1e-6);
    assert_true(same_places(model, truth, sn_skeleton_model(bvh), moved) < 1e-6);
    sn_motion_destroy(amc);
    sn_motion_destroy(moved);
    sn_skeleton_destroy(asf);
    sn_skeleton_destroy(bvh);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_motion_destroy(truth);
    sn_model_destroy(subject);
    sn_model_destroy(model);
    sn_recording_destroy(take);
}

int main(void) {
    const struct CMUnitTest tests_list[] = {
        cmocka_unit_test(help_and_usage), cmocka_unit_test(bad_input),
        cmocka_unit_test(eval_json),      cmocka_unit_test(solve_json),
        cmocka_unit_test(info_and_check), cmocka_unit_test(example),
        cmocka_unit_test(eval_frame),
    };
    output = malloc(MOST);
    (void)snprintf(folder, sizeof folder, "/tmp/sinew-cli-XXXXXX");
    if (output == NULL || mkdtemp(folder) == NULL) return 1;
    int failed = cmocka_run_group_tests(tests_list, NULL, NULL);
    char line[128];
    (void)snprintf(line, sizeof line, "rm -r '%s'", folder);
    if (system(line) != 0) failed = 1;
    free(output);
    return failed;
}
