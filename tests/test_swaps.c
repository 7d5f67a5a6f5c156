// SPDX-License-Identifier: MIT
// Markers that exchange their labels: found when they do, and nowhere else.
#include <stdlib.h>

#include "takes.h"

static void exchange(sn_recording *r, const char *a, const char *b, int first, int last) {
    int i = sn_recording_find(r, a), k = sn_recording_find(r, b);
    assert_true(i >= 0 && k >= 0);
    for (int f = first; f <= last; f++) {
        double *x = sn_recording_edit(r, f), t[3];
        memcpy(t, x + 3 * i, sizeof t);
        memcpy(x + 3 * i, x + 3 * k, sizeof t);
        memcpy(x + 3 * k, t, sizeof t);
    }
}

static double apart(const sn_recording *r, const char *a, const char *b, int frame) {
    const double *x = sn_recording_frame(r, frame), *p = x + 3 * sn_recording_find(r, a),
                 *q = x + 3 * sn_recording_find(r, b);
    return sqrt(pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2) + pow(p[2] - q[2], 2));
}

enum { MOST = 16 };

static int find(const fitted *r, sn_fit_swap *out) {
    int n;
    assert_int_equal(sn_fit_swaps(&r->input, r->motion, NULL, out, MOST, &n), SN_OK);
    for (int i = 0; i < n; i++)
        print_message("    %s and %s in %d to %d, f %.5f to %.5f (%.3f)\n",
                      sn_model_marker(r->model, out[i].a)->name,
                      sn_model_marker(r->model, out[i].b)->name, out[i].first, out[i].last,
                      out[i].given, out[i].exchanged, out[i].exchanged / out[i].given);
    return n;
}

static bool is_swap(const fitted *r, const sn_fit_swap *s, const char *a, const char *b) {
    const char *x = sn_model_marker(r->model, s->a)->name,
               *y = sn_model_marker(r->model, s->b)->name;
    return (strcmp(x, a) == 0 && strcmp(y, b) == 0) || (strcmp(x, b) == 0 && strcmp(y, a) == 0);
}

// Half a second each, neighbours; calibrated on what is exchanged, too.
static void injected(void **state) {
    example_take *t = *state;
    static const struct {
        const char *a, *b;
        int first, last;
    } all[] = {
        {"LWRA", "LWRB", 200, 259}, {"LANK", "LHEE", 300, 359}, {"RFHD", "LFHD", 700, 759},
        {"RTOE", "RMT5", 420, 479}, {"LKNE", "LSHN", 800, 859}, {"LFWT", "RFWT", 500, 559},
        {"C7", "CLAV", 100, 159},   {"RWRA", "RFIN", 0, 59},    {"RELB", "RFRM", 1165, 1224}};
    int missed = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sn_fit_swap found[MOST];
        sn_recording *bad = recording_cut(t->recording, 0, t->nframe);
        exchange(bad, all[i].a, all[i].b, all[i].first, all[i].last);
        fitted r = fit_of(t->subject, bad, NULL, NULL, NULL);
        double far = apart(bad, all[i].a, all[i].b, all[i].first);
        print_message("%s and %s, %.1f cm apart\n", all[i].a, all[i].b, 100 * far);
        int n = find(&r, found);
        bool right = n == 1 && is_swap(&r, &found[0], all[i].a, all[i].b) &&
                     abs(found[0].first - all[i].first) <= 2 &&
                     abs(found[0].last - all[i].last) <= 2;
        if (!right) missed++, print_message("    MISSED\n");
        fitted_free(&r);
        sn_recording_destroy(bad);
    }
    assert_int_equal(missed, 0);
}

// Real clips, calibrated as they come: nothing there; and what is put in is found, labels exchanged while the
// markers are calibrated too.
static void clips(void **unused) {
    (void)unused;
    static const struct {
        const char *skeleton, *take;
    } all[] = {{"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.c3d"},
               {"cmu/02.asf", "cmu/02_01.c3d"},
               {"hdm05/HDM_mm.asf", "hdm05/HDM_mm_01-02_03_120.c3d"},
               {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-05_02_120.c3d"},
               {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_01-03_01_120.c3d"},
               {"cmu/85_02.bvh", "cmu/85_02.c3d"}};
    static const char *const pairs[][2] = {{"LWRA", "LWRB"}, {"RELB", "RFRM"}, {"LANK", "LHEE"},
                                           {"LFHD", "RFHD"}, {"RSHO", "CLAV"}, {"LWRA", "LFIN"}};
    int missed = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sn_document skeleton = read_clip(all[i].skeleton), take = read_clip(all[i].take);
        if (skeleton.model == NULL || take.recording == NULL) skip();
        sn_axis_map axes;
        sn_fit_swap found[MOST];
        assert_true(sn_axis_map_parse("yzx", &axes));
        sn_model *model = with_builtin(skeleton.model, take.recording);
        sn_calibrate_options o = sn_calibrate_options_default();
        o.frames = 40;
        int nframe = sn_recording_about(take.recording)->nframe;
        fitted r = fit_of(model, take.recording, &axes, &o, NULL);
        print_message("%s, as it is\n", all[i].take);
        assert_int_equal(find(&r, found), 0);
        for (size_t k = 0; i < 2 && k < sizeof pairs / sizeof pairs[0]; k++) {
            sn_recording *bad = recording_cut(take.recording, 0, nframe);
            double far = apart(bad, pairs[k][0], pairs[k][1], 80);
            exchange(bad, pairs[k][0], pairs[k][1], 80, 139);
            fitted b =
                fit_of(k % 2 == 0 ? r.model : model, bad, &axes, k % 2 == 0 ? NULL : &o, NULL);
            print_message("%s and %s, %.1f cm apart\n", pairs[k][0], pairs[k][1], 100 * far);
            int n = find(&b, found);
            bool right = n == 1 && is_swap(&b, &found[0], pairs[k][0], pairs[k][1]) &&
                         abs(found[0].first - 80) <= 2 && abs(found[0].last - 139) <= 2;
            if (!right) missed += far > 0.08, print_message("    MISSED\n");
            fitted_free(&b);
            sn_recording_destroy(bad);
        }
        fitted_free(&r);
        sn_model_destroy(model);
        sn_document_destroy(&skeleton);
        sn_document_destroy(&take);
    }
    assert_int_equal(missed, 0);
}

// A whole take from half of it on: told, put right, and the motion is that of the take with its right labels.
static void put_right(void **state) {
    example_take *t = *state;
    static const char *const pairs[][2] = {{"LKNE", "RKNE"}, {"LHEE", "RHEE"}, {"LFWT", "RFWT"}};
    sn_take_options o = sn_take_options_default();
    sn_take *good, *bad;
    assert_int_equal(sn_take_create(t->subject, t->recording, &o, NULL, &good, NULL), SN_OK);
    assert_int_equal(sn_take_prepare(good), SN_OK);
    assert_int_equal(sn_take_finish(good), SN_OK);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const int first = 600, last = i == 0 ? t->nframe - 1 : 719;
        sn_recording *r = recording_cut(t->recording, 0, t->nframe);
        exchange(r, pairs[i][0], pairs[i][1], first, last);
        assert_int_equal(sn_take_create(t->subject, r, &o, NULL, &bad, NULL), SN_OK);
        assert_int_equal(sn_take_prepare(bad), SN_OK);
        assert_int_equal(sn_take_finish(bad), SN_OK);
        int told = 0;
        double most = 0;
        for (int k = 0; k < sn_take_nfinding(bad); k++) {
            const sn_finding *f = sn_take_finding(bad, k);
            if (f->code != SN_FINDING_EXCHANGED) continue;
            told++;
            assert_true(f->number[1] == 1);
            // frames are numbered from 1 there
            assert_true(llabs(f->first - first - 1) <= 2 && llabs(f->last - last - 1) <= 2);
        }
        for (int f = 0; f < t->nframe; f++) {
            const double *x = sn_motion_frame(sn_take_motion(good), f),
                         *y = sn_motion_frame(sn_take_motion(bad), f);
            for (int q = 0; q < sn_model_nq(t->subject); q++) most = fmax(most, fabs(x[q] - y[q]));
        }
        print_message("%s and %s: %.4f from the fit with right labels\n", pairs[i][0], pairs[i][1],
                      most);
        assert_int_equal(told, 1);
        assert_true(most < 1e-3);
        assert_int_equal(sn_take_verdict(bad), SN_VERDICT_GOOD);
        sn_take_destroy(bad);
        sn_recording_destroy(r);
    }
    sn_take_destroy(good);
}

static sn_take *take_of(const sn_model *model, const sn_recording *recording,
                        sn_calibrate_use calibrate) {
    sn_take_options o = sn_take_options_default();
    sn_take *take;
    o.calibrate = calibrate;
    assert_int_equal(sn_take_create(model, recording, &o, NULL, &take, NULL), SN_OK);
    assert_int_equal(sn_take_prepare(take), SN_OK);
    assert_int_equal(sn_take_finish(take), SN_OK);
    return take;
}

// How far a take's coordinates are from another's at most.
static double most_off(const sn_take *a, const sn_take *b) {
    const sn_motion *m = sn_take_motion(a), *n = sn_take_motion(b);
    double most = 0;
    for (int f = 0; f < sn_motion_nframe(m); f++)
        for (int q = 0; q < sn_motion_nq(m); q++)
            most = fmax(most, fabs(sn_motion_frame(m, f)[q] - sn_motion_frame(n, f)[q]));
    return most;
}

// The findings that two markers were exchanged, as frames from 0; all must have been put right.
static int exchanges(const sn_take *take, const char *a, const char *b, int *first, int *last) {
    int n = 0;
    for (int i = 0; i < sn_take_nfinding(take); i++) {
        const sn_finding *f = sn_take_finding(take, i);
        char sentence[400];
        (void)sn_take_sentence(take, i, SN_VOICE_PLAIN, sentence, sizeof sentence);
        print_message("    %s\n", sentence);
        if (f->code != SN_FINDING_EXCHANGED) continue;
        const char *x = sn_model_marker(sn_take_model(take), f->marker)->name,
                   *y = sn_model_marker(sn_take_model(take), f->other)->name;
        assert_true((strcmp(x, a) == 0 && strcmp(y, b) == 0) ||
                    (strcmp(x, b) == 0 && strcmp(y, a) == 0));
        assert_true(f->number[1] == 1);
        assert_int_equal(f->severity, SN_SEVERITY_NOTE);
        if (n++ == 0) *first = (int)f->first - 1;
        *last = (int)f->last - 1;
    }
    return n;
}

// A take that is calibrated as well: what wrong labels have told is forgotten, findings too.
static void calibrated_again(void **state) {
    example_take *t = *state;
    static const struct {
        const char *a, *b;
        int first, last;
    } all[] = {{"RHEE", "RTOE", 612, 1224}, {"LKNE", "RKNE", 700, 759}};
    sn_take *good = take_of(t->model, t->recording, SN_CALIBRATE_OFFSETS);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        int first = -1, last = -1, end = all[i].last < t->nframe ? all[i].last : t->nframe - 1;
        sn_recording *r = recording_cut(t->recording, 0, t->nframe);
        exchange(r, all[i].a, all[i].b, all[i].first, end);
        sn_take *bad = take_of(t->model, r, SN_CALIBRATE_OFFSETS);
        print_message("%s and %s: %g from the fit with right labels\n", all[i].a, all[i].b,
                      most_off(good, bad));
        assert_int_equal(exchanges(bad, all[i].a, all[i].b, &first, &last), 1);
        assert_int_equal(first, all[i].first);
        assert_int_equal(last, end);
        assert_true(most_off(good, bad) == 0);
        assert_int_equal(sn_take_nfinding(bad), sn_take_nfinding(good) + 1);
        assert_int_equal(sn_take_verdict(bad), SN_VERDICT_GOOD);
        sn_take_destroy(bad);
        sn_recording_destroy(r);
    }
    sn_take_destroy(good);
}

// The same, in the whole take and in most of it, which no jump shows: a calibration would absorb it.
static void whole_takes(void **state) {
    example_take *t = *state;
    static const struct {
        const char *a, *b;
        double end;
    } all[] = {{"LWRA", "LWRB", 1}, {"RWRA", "RWRB", 1},   {"RHEE", "RTOE", 1},
               {"RELB", "RWRA", 1}, {"LWRA", "LWRB", 0.6}, {"LKNE", "LANK", 0.9}};
    sn_take *good = take_of(t->model, t->recording, SN_CALIBRATE_OFFSETS);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        int first = -1, last = -1, end = (int)(all[i].end * t->nframe) - 1;
        sn_recording *r = recording_cut(t->recording, 0, t->nframe);
        exchange(r, all[i].a, all[i].b, 0, end);
        sn_take *bad = take_of(t->model, r, SN_CALIBRATE_OFFSETS);
        print_message("%s and %s: %g from the fit with right labels\n", all[i].a, all[i].b,
                      most_off(good, bad));
        assert_int_equal(exchanges(bad, all[i].a, all[i].b, &first, &last), 1);
        assert_int_equal(first, 0);
        assert_true(abs(last - end) <= 2);
        assert_true(most_off(good, bad) == 0);
        assert_int_equal(sn_take_verdict(bad), SN_VERDICT_GOOD);
        sn_take_destroy(bad);
        sn_recording_destroy(r);
    }
    sn_take_destroy(good);
}

// No right take may be told to be wrong, nor a half of one, at any rate; and what is put in is put right.
static void whole_clips(void **unused) {
    (void)unused;
    static const struct {
        const char *skeleton, *take;
    } all[] = {{"cmu/02.asf", "cmu/02_01.c3d"},
               {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.c3d"},
               {"hdm05/HDM_mm.asf", "hdm05/HDM_mm_01-02_03_120.c3d"},
               {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-05_02_120.c3d"},
               {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_01-03_01_120.c3d"},
               {"cmu/85_02.bvh", "cmu/85_02.c3d"}};
    static const char *const pairs[][2] = {
        {"LWRA", "LWRB"}, {"RWRA", "RWRB"}, {"RHEE", "RTOE"}, {"RELB", "RWRA"}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sn_document skeleton = read_clip(all[i].skeleton), take = read_clip(all[i].take);
        if (skeleton.model == NULL || take.recording == NULL) {
            print_message("skipped: %s is not there\n", all[i].take);
            skip();
        }
        const int n = sn_recording_about(take.recording)->nframe;
        for (int part = 0; part < 4; part++) {
            int first, last;
            sn_clip clip = sn_clip_default();
            sn_recording *r = recording_cut(take.recording, part == 2 ? n / 2 : 0,
                                            part == 1 || part == 2 ? n / 2 : n);
            sn_recording *slow = NULL;
            clip.every = part == 3 ? 4 : 1;
            assert_int_equal(sn_recording_clip(r, &clip, NULL, &slow, NULL, NULL), SN_OK);
            sn_take *right = take_of(skeleton.model, slow, SN_CALIBRATE_AUTO);
            print_message("%s, part %d\n", all[i].take, part);
            assert_int_equal(exchanges(right, "", "", &first, &last), 0);
            for (size_t k = 0; k < 4 && i < 2 && part == 0; k++) {
                sn_recording *bad = recording_cut(r, 0, n);
                exchange(bad, pairs[k][0], pairs[k][1], 0, n - 1);
                sn_take *mended = take_of(skeleton.model, bad, SN_CALIBRATE_AUTO);
                assert_int_equal(exchanges(mended, pairs[k][0], pairs[k][1], &first, &last), 1);
                assert_true(most_off(right, mended) == 0);
                sn_take_destroy(mended);
                sn_recording_destroy(bad);
            }
            sn_take_destroy(right);
            sn_recording_destroy(slow);
            sn_recording_destroy(r);
        }
        sn_document_destroy(&skeleton);
        sn_document_destroy(&take);
    }
}

// All labels of both legs, or of both arms, in some of the take: one finding with its frames, and no other.
static void sides(void **state) {
    example_take *t = *state;
    static const char *const names[2][8] = {{"SHO", "UPA", "ELB", "FRM", "WRA", "WRB", "FIN"},
                                            {"THI", "KNE", "SHN", "ANK", "HEE", "TOE", "MT5"}};
    static const struct {
        int legs, without, first, last;
    } all[] = {
        {1, 0, 612, 1224}, {0, 0, 612, 1224}, {1, 0, 857, 1224}, {0, 1, 367, 734}, {0, 0, 0, 1224}};
    sn_take *good = take_of(t->model, t->recording, SN_CALIBRATE_OFFSETS);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        int told = 0;
        sn_recording *r = recording_cut(t->recording, 0, t->nframe);
        for (int k = all[i].without; k < 7; k++) {
            char left[8], right[8];
            (void)snprintf(left, sizeof left, "L%s", names[all[i].legs][k]);
            (void)snprintf(right, sizeof right, "R%s", names[all[i].legs][k]);
            exchange(r, left, right, all[i].first, all[i].last);
        }
        sn_take *bad = take_of(t->model, r, SN_CALIBRATE_OFFSETS);
        print_message("%s: %g from the fit with right labels\n", all[i].legs ? "legs" : "arms",
                      most_off(good, bad));
        for (int k = 0; k < sn_take_nfinding(bad); k++) {
            const sn_finding *f = sn_take_finding(bad, k);
            char sentence[400];
            (void)sn_take_sentence(bad, k, SN_VOICE_COMMAND, sentence, sizeof sentence);
            print_message("    %s\n", sentence);
            assert_null(strstr(sentence, "1.0 times"));
            assert_int_equal(f->severity, SN_SEVERITY_NOTE);
            if (f->code != SN_FINDING_SIDES_EXCHANGED) continue;
            told++;
            assert_string_equal(f->text, all[i].legs ? "legs" : "arms");
            assert_true(f->number[1] == 1);
            assert_int_equal(f->first, all[i].first + 1);
            assert_int_equal(f->last, all[i].last + 1);
            assert_non_null(strstr(sentence, "left and right are exchanged on the "));
        }
        assert_int_equal(told, 1);
        assert_true(most_off(good, bad) == 0);
        assert_int_equal(sn_take_verdict(bad), SN_VERDICT_GOOD);
        sn_take_destroy(bad);
        sn_recording_destroy(r);
    }
    sn_take_destroy(good);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(injected),
                                       cmocka_unit_test(put_right),
                                       cmocka_unit_test(calibrated_again),
                                       cmocka_unit_test(whole_takes),
                                       cmocka_unit_test(sides),
                                       cmocka_unit_test(whole_clips),
                                       cmocka_unit_test(clips)};
    return cmocka_run_group_tests(tests, example_begin, example_end);
}
