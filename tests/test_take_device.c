// SPDX-License-Identifier: MIT
// A take whose frames are followed on a device that speaks OpenCL (pocl will do). With an argument, what goes wrong
// with OpenCL: then this processor's motion, to the last bit, and a note.
#include <math.h>
#include <string.h>

#include "on_device.h"
#include "take/take.h"
#include "takes.h"

enum { FIRST = 300, FRAMES = 90 };

static sn_recording *recording;
static const sn_model *model;

static sn_take *take_on(sn_device device) {
    sn_take_options o = sn_take_options_default();
    sn_take *take;
    o.device = device;
    o.calibrate = SN_CALIBRATE_NONE;
    assert_int_equal(sn_take_create(model, recording, &o, NULL, &take, NULL), SN_OK);
    assert_int_equal(sn_take_prepare(take), SN_OK);
    assert_int_equal(sn_take_solve(take, -1), SN_OK);
    return take;
}

static int which_finding(const sn_take *take) {
    for (int i = 0; i < sn_take_nfinding(take); i++)
        if (sn_take_finding(take, i)->code == SN_FINDING_DEVICE) return i;
    return -1;
}

static const sn_finding *about_device(const sn_take *take) {
    return sn_take_finding(take, which_finding(take));
}

// Every frame that was followed is a minimum to this processor, too: solved on from there, f stays to 1e-9 and the pose
// to 1e-8.
static void look_at_frames(sn_take *take) {
    sn_lanes *l = &take->fitting.lanes;
    sn_lane_worker *w = &l->workers[0];
    sn_solver_options o = l->options.solver;
    sn_solver *solver;
    sn_report report;
    double worst_f = 0, worst_q = 0;
    o.gradient = 1e-11;
    int first, end, seed, n = 0;
    assert_int_equal(sn_lane_seed(l, w, 0, &first, &end, &seed), SN_OK);
    assert_int_equal(sn_solver_create(w->problem, &o, NULL, &solver, NULL), SN_OK);
    for (int f = seed + 2; f < end; f++, n++) {
        double at, *q = sn_lane_pose(l, f);
        assert_int_equal(l->goals(l->user, f, w->problem), SN_OK);
        assert_int_equal(sn_problem_set_rest(w->problem, l->rest, q - l->nq), SN_OK);
        assert_int_equal(sn_problem_set_enabled(w->problem, l->rest, true), SN_OK);
        memcpy(w->q, q, l->nq * sizeof *q);
        assert_int_equal(sn_workspace_eval(w->ws, q, 0, &at), SN_OK);
        assert_int_equal(sn_solver_solve(solver, w->q, &report), SN_OK);
        worst_f = fmax(worst_f, fabs(at - report.f) / report.f);
        for (size_t i = 0; i < l->nq; i++) worst_q = fmax(worst_q, fabs(q[i] - w->q[i]));
    }
    print_message("%d frames: f within %g, poses within %g\n", n, worst_f, worst_q);
    assert_true(n > FRAMES / 3 && worst_f < 1e-9 && worst_q < 1e-8);
    sn_solver_destroy(solver);
}

static void followed(void **unused) {
    (void)unused;
    if (no_device()) skip();
    sn_take *here = take_on(SN_DEVICE_CPU), *there = take_on(SN_DEVICE_OPENCL);
    look_at_frames(there);
    assert_int_equal(sn_take_finish(here), SN_OK);
    assert_int_equal(sn_take_finish(there), SN_OK);
    assert_null(about_device(here));
    const sn_finding *f = about_device(there);
    assert_non_null(f);
    char sentence[600];
    (void)sn_take_sentence(there, which_finding(there), SN_VOICE_PLAIN, sentence, sizeof sentence);
    const double rms = sn_take_about(here)->fit.rms, rms2 = sn_take_about(there)->fit.rms;
    const double apart = median_angle(model, sn_take_motion(here), sn_take_motion(there));
    print_message("%s; RMS %.6f and %.6f cm, %g degrees apart\n", sentence, 100 * rms, 100 * rms2,
                  apart);
    // all but the seed
    assert_true(f->number[0] >= FRAMES - 2 && f->number[1] == FRAMES);
    assert_non_null(strstr(sentence, "OpenCL"));
    assert_true(fabs(rms2 - rms) < 1e-3 * rms && apart < 0.05);
    sn_take_destroy(here);
    sn_take_destroy(there);
}

// AUTO leaves a short take here and says nothing.
static void short_take(void **unused) {
    (void)unused;
    sn_take *here = take_on(SN_DEVICE_CPU), *there = take_on(SN_DEVICE_AUTO);
    assert_int_equal(sn_take_finish(here), SN_OK);
    assert_int_equal(sn_take_finish(there), SN_OK);
    assert_null(about_device(there));
    assert_memory_equal(sn_motion_frame(sn_take_motion(here), 0),
                        sn_motion_frame(sn_take_motion(there), 0),
                        FRAMES * (size_t)sn_model_nq(model) * sizeof(double));
    sn_take_destroy(here);
    sn_take_destroy(there);
}

static void takes_over(void **unused) {
    (void)unused;
    sn_take *here = take_on(SN_DEVICE_CPU), *there = take_on(SN_DEVICE_OPENCL);
    assert_int_equal(sn_take_finish(here), SN_OK);
    assert_int_equal(sn_take_finish(there), SN_OK);
    const sn_finding *f = about_device(there);
    assert_non_null(f);
    print_message("%s: %s\n", goes_wrong, f->text);
    assert_non_null(strstr(f->text, "this processor"));
    const double rms = sn_take_about(here)->fit.rms, rms2 = sn_take_about(there)->fit.rms;
    assert_true(fabs(rms2 - rms) < 1e-3 * rms);
    // a device that was never there leaves no trace
    if (f->number[0] == 0)
        assert_memory_equal(sn_motion_frame(sn_take_motion(here), 0),
                            sn_motion_frame(sn_take_motion(there), 0),
                            FRAMES * (size_t)sn_model_nq(model) * sizeof(double));
    sn_take_destroy(here);
    sn_take_destroy(there);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(followed), cmocka_unit_test(short_take)};
    const struct CMUnitTest wrong[] = {cmocka_unit_test(takes_over)};
    example_take example;
    example_take_create(&example, 1);
    model = example.subject;
    recording = recording_cut(example.recording, FIRST, FRAMES);
    int fails = RUN_ON_DEVICE(argc, argv, tests, wrong);
    sn_recording_destroy(recording);
    example_take_destroy(&example);
    return fails;
}
