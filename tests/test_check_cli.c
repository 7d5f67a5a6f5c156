// SPDX-License-Identifier: MIT
// sinew check on the largest models: time that grows with the model, progress, and rotations that stay
// rotations down a long chain.
#define _POSIX_C_SOURCE 200809L
#include <sys/resource.h>

#include "program.h"

// A chain or a bushy tree of all that turns, about axes that are no coordinate axes.
static sn_model *large_model(int njoint, bool chain) {
    static const sn_joint_type types[] = {SN_JOINT_HINGE,  SN_JOINT_BALL,        SN_JOINT_EULER,
                                          SN_JOINT_EXPMAP, SN_JOINT_SWING_TWIST, SN_JOINT_SLIDER};
    uint64_t state = 5;
    sn_builder *builder;
    sn_model *model;
    sn_error error = {0};
    assert_int_equal(sn_builder_create("large", NULL, &builder, NULL), SN_OK);
    for (int i = 0; i < njoint; i++) {
        char name[20];
        sn_joint_desc d = sn_joint_default(i == 0 ? SN_JOINT_FREE : types[below(&state, 6)]);
        (void)snprintf(name, sizeof name, "j%d", i);
        d.name = name;
        d.parent = i == 0 ? -1 : chain ? i - 1 : i / 2;
        for (int c = 0; c < 3; c++) {
            d.position[c] = uniform(&state, -0.1, 0.1);
            d.axis[c] = uniform(&state, 0.2, 1);
        }
        assert_true(sn_builder_joint(builder, &d) >= 0);
    }
    if (sn_builder_finish(builder, &model, &error) != SN_OK) fail_msg("%s", error.text);
    sn_builder_destroy(builder);
    return model;
}

static const char *large_file(const char *name, int njoint, bool chain) {
    sn_model *model = large_model(njoint, chain);
    char *text;
    assert_int_equal(sn_model_text(model, NULL, &text), SN_OK);
    sn_model_destroy(model);
    const char *path = program_file(name, text);
    sn_release(NULL, text);
    return path;
}

static double children_seconds(void) {
    struct rusage u;
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &u), 0);
    return (double)u.ru_utime.tv_sec + 1e-6 * (double)u.ru_utime.tv_usec;
}

static void linear_time(void **unused) {
    (void)unused;
    for (int chain = 0; chain < 2; chain++) {
        const int size[2] = {1250, 10000};
        double seconds[2];
        for (int k = 0; k < 2; k++) {
            const char *path = large_file("large.json", size[k], chain);
            double before = children_seconds();
            // the same number of poses at each size: a larger one alone is hard to time
            program_expect(0, "agree with finite differences", "check %s --poses %d", path,
                           k == 0 ? 4 : 1);
            seconds[k] = (children_seconds() - before) / (k == 0 ? 4 : 1);
            assert_non_null(strstr(program_output, "some 40 of them at each pose"));
        }
        print_message("check, %s: %.2f s a pose for %d joints, %.2f s for %d\n",
                      chain ? "chain" : "tree", seconds[0], size[0], seconds[1], size[1]);
        // eight times the joints: 8 when it is linear, 64 when it is not
        assert_true(seconds[1] < 24 * seconds[0]);
    }
}

static void progress(void **unused) {
    (void)unused;
    const char *path = large_file("large.json", 3000, false);
    char line[600];
    (void)snprintf(line, sizeof line, "'%s' check %s --poses 1 2>&1", SINEW_PROGRAM, path);
    assert_int_equal(shell(line), 0);
    assert_null(strchr(program_output, '\r'));
    if (shell("command -v script") != 0) {
        print_message("skipped: the command script, for a terminal, is not there\n");
        skip();
    }
    (void)snprintf(line, sizeof line,
                   "script -qec \"'%s' check %s --poses 2\" /dev/null </dev/null", SINEW_PROGRAM,
                   path);
    assert_int_equal(shell(line), 0);
    assert_non_null(strstr(program_output, "pose 1 of 2, joint "));
    assert_non_null(strstr(program_output, "\r\033[K"));
}

// What rounding takes from a rotation must not grow from joint to joint by more than what each adds.
static void long_chain(void **unused) {
    (void)unused;
    sn_model *model = large_model(10000, true);
    uint64_t state = 3;
    double *q = malloc((size_t)sn_model_nq(model) * sizeof *q), f, worst = 0;
    sn_task task = sn_task_default(SN_TASK_POINT);
    sn_problem *problem;
    sn_workspace *ws;
    sn_error error = {0};
    assert_non_null(q);
    task.joint = sn_model_njoint(model) - 1;
    assert_int_equal(sn_problem_create(model, &task, 1, NULL, &problem, &error), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    sn_model_sample(model, &state, q);
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_GRADIENT, &f), SN_OK);
    assert_true(isfinite(f));
    sn_frame last = sn_workspace_frame(ws, task.joint);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            sn_vec3 u = last.R.c[a], v = last.R.c[b];
            worst = fmax(worst, fabs(u.x * v.x + u.y * v.y + u.z * v.z - (a == b)));
        }
    print_message("a rotation after 10,000 joints is off by %.1e\n", worst);
    assert_true(worst < 1e-10);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    free(q);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_time),
        cmocka_unit_test(progress),
        cmocka_unit_test(long_chain),
    };
    if (!program_begin("check")) return 1;
    return program_end(cmocka_run_group_tests(tests, NULL, NULL));
}
