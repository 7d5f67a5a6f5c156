// SPDX-License-Identifier: MIT
// Whole takes: the example, whose truth is known, and a real clip where it is there. Held-out frames, gaps,
// outliers, threads.
#include "takes.h"

// The first half, for calibration, and the second: frames that are far from those that were seen, not the
// ones between them.
static void halves(const sn_recording *all, sn_recording *half[2]) {
    int n = sn_recording_about(all)->nframe / 2;
    for (int k = 0; k < 2; k++) half[k] = recording_cut(all, k * n, n);
}

// Offsets, lengths, and frames that the calibration has not seen.
static void calibrated(const char *name, const sn_model *model, const sn_recording *take,
                       const sn_axis_map *axes, double bound) {
    double rms[2];
    sn_calibrate_options wanted = sn_calibrate_options_default();
    if (sn_recording_about(take)->nframe < 1000) wanted.frames = 60;
    for (int scale = 0; scale < 2; scale++) {
        sn_calibrate_options o = wanted;
        o.scale = scale;
        fitted r = fit_of(model, take, axes, &o, NULL);
        rms[scale] = r.summary.rms;
        fitted_free(&r);
    }
    sn_recording *half[2];
    halves(take, half);
    sn_calibrate_options o = wanted;
    fitted seen = fit_of(model, half[0], axes, &o, NULL),
           held = fit_of(seen.model, half[1], axes, NULL, NULL);
    double ratio = held.summary.rms / seen.summary.rms;
    print_message("%s: RMS %.3f cm with offsets, %.3f cm with lengths; the second half %.3f cm "
                  "calibrated on the first, %.3f cm there "
                  "(%.3f)\n",
                  name, 100 * rms[0], 100 * rms[1], 100 * held.summary.rms, 100 * seen.summary.rms,
                  ratio);
    assert_true(rms[0] <= bound && rms[1] < 1.002 * rms[0]);
    // of a few frames under sanitizers there is not much to tell
    assert_true(ratio > 0.7 && ratio < (cases(10) < 10 ? 1.35 : 1.1));
    fitted_free(&seen);
    fitted_free(&held);
    sn_recording_destroy(half[0]);
    sn_recording_destroy(half[1]);
}

// The second half of a take after calibrating on the first.
static void half_calibrated(const char *name, const sn_model *model, const sn_recording *take,
                            const sn_axis_map *axes, double most) {
    int n = sn_recording_about(take)->nframe / 2;
    sn_calibrate_options o = sn_calibrate_options_default();
    sn_recording *early = recording_cut(take, 0, n), *late = recording_cut(take, n, n);
    fitted first = fit_of(model, early, axes, &o, NULL),
           second = fit_of(first.model, late, axes, NULL, NULL);
    print_message("%s: calibrated on the first half %.3f cm there, %.3f cm in the second\n", name,
                  100 * first.summary.rms, 100 * second.summary.rms);
    assert_true(second.summary.rms < most * first.summary.rms);
    fitted_free(&first);
    fitted_free(&second);
    sn_recording_destroy(early);
    sn_recording_destroy(late);
}

static void example_calibrated(void **state) {
    example_take *t = *state;
    sn_recording *part = recording_cut(t->recording, 0, cases(10) < 10 ? 60 : 400);
    sn_axis_map axes = sn_axis_map_identity();
    calibrated("example", t->model, part, &axes, 0.0036);
    half_calibrated("example", t->model, cases(10) < 10 ? part : t->recording, &axes, 1.2);
    sn_recording_destroy(part);
}

static void clip_calibrated(void **unused) {
    (void)unused;
    const char *path = data_path("hdm05/HDM_dg.asf");
    if (path == NULL) skip();
    size_t length;
    sn_skeleton *skeleton;
    sn_recording *take;
    sn_axis_map axes;
    char *bytes = slurp(path, &length);
    assert_int_equal(sn_asf_read(bytes, length, NULL, NULL, &skeleton, NULL), SN_OK);
    free(bytes);
    path = data_path("hdm05/HDM_dg_03-05_02_120.c3d");
    if (path == NULL) skip();
    bytes = slurp(path, &length);
    assert_int_equal(sn_c3d_read(bytes, length, NULL, &take, NULL), SN_OK);
    free(bytes);
    assert_true(sn_axis_map_parse("yzx", &axes));
    sn_model *model = with_builtin(sn_skeleton_model(skeleton), take);
    // the whole clip, but under sanitizers its beginning
    int n = sn_recording_about(take)->nframe;
    sn_recording *part = recording_cut(take, 0, cases(10) < 10 && n > 100 ? 100 : n);
    // the best marker fit is not the best motion: 0.9 cm when nothing but that counted
    calibrated("dg_03-05_02", model, part, &axes, 0.0123);
    sn_recording_destroy(part);
    sn_recording_destroy(take);
    sn_model_destroy(model);
    sn_skeleton_destroy(skeleton);
}

// How far the fit is from the true markers that were hidden from it.
static double hidden_error(const example_take *t, const fitted *r, const sn_recording *seen,
                           double *worst) {
    sn_problem *problem;
    sn_workspace *ws[2];
    double square = 0;
    long n = 0;
    *worst = 0;
    assert_int_equal(sn_problem_create(t->subject, NULL, 0, NULL, &problem, NULL), SN_OK);
    for (int k = 0; k < 2; k++)
        assert_int_equal(sn_workspace_create(problem, false, NULL, &ws[k], NULL), SN_OK);
    for (int f = 0; f < r->input.count; f++) {
        assert_int_equal(sn_workspace_pose(ws[0], sn_motion_frame(t->truth, f)), SN_OK);
        assert_int_equal(sn_workspace_pose(ws[1], sn_motion_frame(r->motion, f)), SN_OK);
        for (int i = 0; i < 41; i++) {
            // the example's own gaps are another matter
            if (sn_recording_present(seen, f, r->column[i]) ||
                !sn_recording_present(t->recording, f, r->column[i]))
                continue;
            const sn_marker_desc *d = sn_model_marker(t->subject, i);
            sn_vec3 a = sn_workspace_point(ws[0], d->joint, d->position),
                    b = sn_workspace_point(ws[1], d->joint, d->position);
            double e =
                (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z);
            square += e;
            *worst = fmax(*worst, sqrt(e));
            n++;
        }
    }
    sn_workspace_destroy(ws[0]);
    sn_workspace_destroy(ws[1]);
    sn_problem_destroy(problem);
    assert_true(n > 0);
    return sqrt(square / (double)n);
}

// Which joint carries each marker, and not a word of where on it: knees are 42 cm from the joints that carry them.
static void bare_set(void **state) {
    example_take *t = *state;
    sn_marker_set *own, *bare;
    sn_marker_place places[41];
    sn_take_options o = sn_take_options_default();
    sn_take *take;
    sn_take_truth truth;
    assert_int_equal(sn_marker_set_of_model(t->model, NULL, &own, NULL), SN_OK);
    assert_int_equal(sn_marker_set_count(own), 41);
    for (int i = 0; i < 41; i++) {
        places[i] = *sn_marker_set_place(own, i);
        places[i].placed = false;
        memset(places[i].position, 0, sizeof places[i].position);
    }
    assert_int_equal(sn_marker_set_create("bare", places, 41, NULL, &bare, NULL), SN_OK);
    o.markers = bare;
    assert_int_equal(sn_take_create(t->model, t->recording, &o, NULL, &take, NULL), SN_OK);
    assert_int_equal(sn_take_prepare(take), SN_OK);
    assert_int_equal(sn_take_finish(take), SN_OK);
    assert_int_equal(sn_take_compare(take, t->model, t->truth, &truth), SN_OK);
    const sn_take_summary *about = sn_take_about(take);
    print_message("bare set: RMS %.3f cm, %.2f degrees off (median), joint centres %.2f cm, %s\n",
                  100 * about->fit.rms, truth.median, 100 * truth.centres,
                  sn_verdict_name(sn_take_verdict(take)));
    // its lengths are the humanoid's, and stay so
    assert_true(about->calibrated && !about->reshaped);
    assert_true(about->fit.rms < 0.0036 && truth.median < 2 && truth.centres < 0.03);
    assert_int_equal(sn_take_verdict(take), SN_VERDICT_GOOD);
    sn_take_destroy(take);
    sn_marker_set_destroy(bare);
    sn_marker_set_destroy(own);
}

// The built-in figure on real people, without a word on how: scaled to them, and a good fit, squats and all. HDM05 has its
// "T10" 11 cm above the tenth vertebra.
static void anybody(void **unused) {
    (void)unused;
    static const struct {
        const char *clip;
        double most;  // cm
    } all[] = {{"hdm05/HDM_dg_06-03_03_120.c3d", 0.9},
               {"cmu/02_01.c3d", 0.6},
               {"hdm05/HDM_mm_01-02_03_120.c3d", 1.3}};
    for (int i = 0; i < (cases(10) < 10 ? 1 : 3); i++) {
        sn_document clip = read_clip(all[i].clip);
        if (clip.recording == NULL) skip();
        sn_model *humanoid;
        sn_take_options o = sn_take_options_default();
        sn_take *take;
        assert_int_equal(sn_model_humanoid(NULL, &humanoid, NULL), SN_OK);
        assert_int_equal(sn_take_create(humanoid, clip.recording, &o, NULL, &take, NULL), SN_OK);
        assert_int_equal(sn_take_prepare(take), SN_OK);
        assert_int_equal(sn_take_finish(take), SN_OK);
        const sn_take_summary *about = sn_take_about(take);
        print_message("%s: the humanoid at %.3f cm, %s\n", all[i].clip, 100 * about->fit.rms,
                      sn_verdict_name(sn_take_verdict(take)));
        assert_true(about->reshaped && 100 * about->fit.rms < all[i].most);
        assert_int_equal(sn_take_verdict(take), SN_VERDICT_GOOD);
        sn_take_destroy(take);
        sn_model_destroy(humanoid);
        sn_document_destroy(&clip);
    }
}

// Clusters alone: how large the figure is, nobody can tell, and it is said; but no giant is made to reach them.
static void clusters(void **unused) {
    (void)unused;
    sn_document clip = read_clip("c3d/Eb015pi.c3d");
    if (clip.recording == NULL) skip();
    sn_model *humanoid;
    sn_take_options o = sn_take_options_default();
    sn_take *take;
    int told = 0;
    assert_int_equal(sn_model_humanoid(NULL, &humanoid, NULL), SN_OK);
    assert_int_equal(sn_take_create(humanoid, clip.recording, &o, NULL, &take, NULL), SN_OK);
    assert_int_equal(sn_take_prepare(take), SN_OK);
    assert_int_equal(sn_take_finish(take), SN_OK);
    const sn_take_summary *about = sn_take_about(take);
    print_message("clusters: %d of %d labels, RMS %.3f cm, bones %.2f to %.2f of the figure's\n",
                  about->matched, about->labels, 100 * about->fit.rms, about->shortest,
                  about->longest);
    assert_int_equal(about->matched, 26);
    assert_true(about->fit.rms < 0.01 && about->shortest > 0.85 && about->longest < 1.15);
    for (int i = 0; i < sn_take_nfinding(take); i++) {
        char sentence[400];
        if (sn_take_finding(take, i)->code != SN_FINDING_LANDMARKS_NONE) continue;
        (void)sn_take_sentence(take, i, SN_VOICE_PLAIN, sentence, sizeof sentence);
        assert_non_null(strstr(sentence, "all 26 markers are of clusters"));
        told++;
    }
    assert_int_equal(told, 1);
    assert_int_equal(sn_take_verdict(take), SN_VERDICT_LOOK);
    sn_take_destroy(take);
    sn_model_destroy(humanoid);
    sn_document_destroy(&clip);
}

// Three samples in ten at random; then whole limbs for half a second.
static void gaps(void **state) {
    example_take *t = *state;
    uint64_t random = 9;
    double worst;
    sn_recording *take = recording_cut(t->recording, 0, 600);
    spoil_gaps(take, 0.3, &random);
    fitted r = fit_of(t->subject, take, NULL, NULL, NULL);
    double rms = hidden_error(t, &r, take, &worst);
    print_message("gaps: 30 %% at random: RMS %.2f cm from the hidden true places, worst %.1f cm; "
                  "%d frames held\n",
                  100 * rms, 100 * worst, r.summary.held);
    assert_true(rms < 0.009 && worst < 0.15 && r.summary.held == 0);
    fitted_free(&r);
    sn_recording_destroy(take);

    static const char *const limbs[][9] = {{"LTHI", "LKNE", "LSHN", "LANK", "LHEE", "LTOE", "LMT5"},
                                           {"RUPA", "RELB", "RFRM", "RWRA", "RWRB", "RFIN"},
                                           {"RTHI", "RKNE", "RSHN", "RANK", "RHEE", "RTOE", "RMT5"},
                                           {"LUPA", "LELB", "LFRM", "LWRA", "LWRB", "LFIN"}};
    take = recording_cut(t->recording, 0, 600);
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < 9 && limbs[k % 4][i] != NULL; i++)
            for (int f = 40 + 70 * k; f < 100 + 70 * k && f < 600; f++)
                for (int c = 0, m = sn_recording_find(take, limbs[k % 4][i]); c < 3; c++)
                    sn_recording_edit(take, f)[3 * m + c] = NAN;
    r = fit_of(t->subject, take, NULL, NULL, NULL);
    rms = hidden_error(t, &r, take, &worst);
    print_message("gaps: limbs for half a second: RMS %.1f cm from the hidden true places, worst "
                  "%.1f cm; markers seen "
                  "%.3f cm\n",
                  100 * rms, 100 * worst, 100 * r.summary.rms);
    assert_true(rms < 0.08 && worst < 0.4 && r.summary.rms < 0.0037);
    fitted_free(&r);

    // nobody for half a second: held, and said
    for (int f = 300; f < 360; f++)
        for (int i = 0; i < 3 * sn_recording_about(take)->nmarker; i++)
            sn_recording_edit(take, f)[i] = NAN;
    r = fit_of(t->subject, take, NULL, NULL, NULL);
    assert_int_equal(r.summary.held, 60);
    for (int f = 0; f < 600; f++) {
        assert_true(r.frames[f].held == (f >= 300 && f < 360));
        assert_int_equal(sn_model_check_pose(t->subject, sn_motion_frame(r.motion, f), NULL),
                         SN_OK);
    }
    // nothing pulls to zero: the root stays where it was
    const double *before = sn_motion_frame(r.motion, 299), *during = sn_motion_frame(r.motion, 330);
    double moved =
        hypot(before[0] - during[0], hypot(before[1] - during[1], before[2] - during[2]));
    print_message("gaps: nobody seen: the root is %.2f cm from where it was last seen\n",
                  100 * moved);
    assert_true(moved < 0.3);
    fitted_free(&r);
    sn_recording_destroy(take);
}

// One sample in fifty half a metre away, or with another marker's place.
static void outliers(void **state) {
    example_take *t = *state;
    sn_fit_options robust = sn_fit_options_default();
    robust.track.solver.gradient = 1e-7;
    robust.track.solver.max_iterations = 100;
    sn_recording *take = recording_cut(t->recording, 0, t->nframe / 2);
    fitted plain = fit_of(t->subject, take, NULL, NULL, &robust);
    for (int loss = 0; loss < 2; loss++) {
        robust.loss = loss == 0 ? SN_LOSS_CAUCHY : SN_LOSS_HUBER;
        robust.loss_scale = 0.02;
        fitted clean = fit_of(t->subject, take, NULL, NULL, &robust);
        for (int kind = 0; kind < 2; kind++) {
            uint64_t random = 21;
            sn_recording *bad = recording_cut(take, 0, t->nframe / 2);
            if (kind == 0) spoil_throw(bad, 0.02, 0.5, &random);
            if (kind == 1) spoil_swap(bad, 0.02, &random);
            fitted r = fit_of(t->subject, bad, NULL, NULL, &robust);
            double change = median_angle(t->model, r.motion, clean.motion);
            double off = median_angle(t->model, r.motion, t->truth);
            print_message("outliers: 2 %% %s with %s: the median angle changes by %.3f degrees; "
                          "%.2f from the truth (%.2f "
                          "without outliers and loss)\n",
                          kind == 0 ? "thrown" : "swapped", loss == 0 ? "Cauchy" : "Huber", change,
                          off, median_angle(t->model, plain.motion, t->truth));
            assert_true(change < 1);
            fitted_free(&r);
            sn_recording_destroy(bad);
        }
        fitted_free(&clean);
    }
    fitted_free(&plain);
    sn_recording_destroy(take);
}

// The same bits for any number of threads; enough frames for several chunks.
static void threads(void **state) {
    example_take *t = *state;
    sn_fit_options o = sn_fit_options_default();
    o.track.chunk = 64;
    fitted one = fit_of(t->subject, t->recording, NULL, NULL, &o);
    for (int n = 2; n <= 5; n += 3) {
        o.track.threads = n;
        fitted many = fit_of(t->subject, t->recording, NULL, NULL, &o);
        for (int f = 0; f < t->nframe; f++)
            assert_memory_equal(sn_motion_frame(one.motion, f), sn_motion_frame(many.motion, f),
                                (size_t)sn_model_nq(t->model) * sizeof(double));
        assert_memory_equal(&one.summary, &many.summary, sizeof one.summary);
        fitted_free(&many);
    }
    fitted_free(&one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_calibrated), cmocka_unit_test(clip_calibrated),
        cmocka_unit_test(bare_set),           cmocka_unit_test(anybody),
        cmocka_unit_test(clusters),           cmocka_unit_test(gaps),
        cmocka_unit_test(outliers),           cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, example_begin, example_end);
}
