// SPDX-License-Identifier: MIT
// What the benchmarks run on and count: the clips of a folder, and the poses a solve looks at.
#define _POSIX_C_SOURCE 200809L
#include <sys/stat.h>

#include "clip.h"
#include "papers.h"
#include "support.h"

#define FOLDER "test-clips-folder"

static void empty_file(const char *path) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

static void a_folder_s_clips_are_found_by_their_names(void **unused) {
    (void)unused;
    static const char *const files[] = {
        "a/02.asf",         "a/02_01.amc",      "a/02_01.c3d",  // the skeleton's name first
        "a/49.asf",         "a/49_18.amc",                      // no markers
        "a/x/HDM_dg.asf",   "a/x/HDM_mm.asf",   "a/x/HDM_mm_1_120.amc", "a/x/HDM_mm_1_120.c3d",
        "a/x/HDM_bk_1.amc", "a/x/HDM_bk_1.c3d",                // no skeleton of its own
        "b/only.ASF",       "b/walk.AMC",       "b/walk.c3d",  // one skeleton, other names
        "b/walk.txt",       "b/jump.c3d"};
    assert_int_equal(system("rm -rf " FOLDER " && mkdir -p " FOLDER "/a/x " FOLDER "/b"), 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[128];
        (void)snprintf(path, sizeof path, FOLDER "/%s", files[i]);
        empty_file(path);
    }
    int n, skipped;
    clip_files *found = clip_find(FOLDER, &n, &skipped);
    assert_int_equal(n, 3);
    assert_int_equal(skipped, 4);
    assert_string_equal(found[0].name, "02_01");
    assert_string_equal(found[0].asf, FOLDER "/a/02.asf");
    assert_string_equal(found[0].amc, FOLDER "/a/02_01.amc");
    assert_string_equal(found[0].c3d, FOLDER "/a/02_01.c3d");
    assert_string_equal(found[1].name, "mm_1");
    assert_string_equal(found[1].asf, FOLDER "/a/x/HDM_mm.asf");
    assert_string_equal(found[2].name, "walk");
    assert_string_equal(found[2].asf, FOLDER "/b/only.ASF");
    assert_string_equal(found[2].amc, FOLDER "/b/walk.AMC");
    free(found);
    found = clip_find(FOLDER "/nowhere", &n, &skipped);
    assert_int_equal(n, 0);
    free(found);
    assert_int_equal(system("rm -rf " FOLDER), 0);
}

static void cells_are_quoted_where_they_must_be(void **unused) {
    (void)unused;
    assert_string_equal(papers_cell("plain"), "plain");
    assert_string_equal(papers_cell("a, b"), "\"a, b\"");
    assert_string_equal(papers_cell("say \"x\""), "\"say \"\"x\"\"\"");
}

// Every pose counts once, whatever was evaluated there; the trial poses of the trust region are its
// evaluations of f alone.
static void poses_count_once(void **unused) {
    (void)unused;
    uint64_t state = 5;
    int equal = 0, of = 0;
    for (int k = 0; k < 20; k++) {
        sn_model *model = random_model(&state, 8, -1);
        sn_problem *problem = random_problem(&state, model, 6, SN_TASK_POINT);
        for (int m = 0; m < SN_METHOD_COUNT; m++) {
            sn_solver_options o = sn_solver_options_default();
            sn_solver *solver = NULL;
            sn_report report;
            double q[128];
            o.method = (sn_method)m;
            o.max_iterations = 12;
            if (!sn_method_available(o.method)) continue;
            sn_model_zero(model, q);
            assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, NULL), SN_OK);
            assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
            assert_true(report.poses >= 1);
            assert_true(report.poses <= report.functions + report.gradients + report.hessians);
            // a pose that a limit of turns brought back is looked at twice
            if (o.method == SN_METHOD_NEWTON_PCG || o.method == SN_METHOD_LM) {
                assert_true(report.poses <= 1 + report.functions);
                equal += report.poses == 1 + report.functions;
                of++;
            }
            sn_solver_destroy(solver);
        }
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
    assert_true(of > 0 && 10 * equal >= 9 * of);
}

// 001's constant inner tolerance: the same end, and never more inner work per step than a tolerance that
// shrinks; with 1e-12 both are the same.
static void a_constant_tolerance_is_kept(void **unused) {
    (void)unused;
    uint64_t state = 6;
    int different = 0;
    for (int k = 0; k < 10; k++) {
        sn_model *model = random_model(&state, 12, SN_JOINT_HINGE);
        sn_problem *problem = random_problem(&state, model, 6, SN_TASK_POINT);
        double end[2][2];
        int iterations[2][2];
        for (int tight = 0; tight < 2; tight++)
            for (int constant = 0; constant < 2; constant++) {
                sn_solver_options o = sn_solver_options_default();
                sn_solver *solver = NULL;
                sn_report report;
                double q[128];
                o.method = SN_METHOD_NEWTON_PCG;
                o.pcg_constant = constant != 0;
                o.pcg_tolerance = tight ? 1e-12 : 0.5;
                o.bandwidth = 0;
                sn_model_zero(model, q);
                assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, NULL), SN_OK);
                assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
                end[tight][constant] = report.f;
                iterations[tight][constant] = report.iterations;
                sn_solver_destroy(solver);
            }
        assert_true(end[1][0] == end[1][1] && iterations[1][0] == iterations[1][1]);
        different += iterations[0][0] != iterations[0][1];
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
    assert_true(different > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_s_clips_are_found_by_their_names),
        cmocka_unit_test(cells_are_quoted_where_they_must_be),
        cmocka_unit_test(poses_count_once),
        cmocka_unit_test(a_constant_tolerance_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
