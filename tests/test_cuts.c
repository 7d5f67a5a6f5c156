// SPDX-License-Identifier: MIT
// Recordings that do not go on: whole frames or one marker that hold the last sample, frames that are missing.
#include "takes.h"

enum { FRAMES = 500, AT = 240, HELD = 40 };

static sn_take *fit(const sn_model *model, const sn_recording *r, const sn_document *body) {
    sn_take_options o = sn_take_options_default();
    sn_take *take;
    if (body != NULL) o.model_up = body->up, o.model_up_sign = body->up_sign;
    assert_int_equal(sn_take_create(model, r, &o, NULL, &take, NULL), SN_OK);
    assert_int_equal(sn_take_prepare(take), SN_OK);
    assert_int_equal(sn_take_finish(take), SN_OK);
    return take;
}

static const sn_finding *find(const sn_take *t, sn_finding_code code) {
    for (int i = 0; i < sn_take_nfinding(t); i++)
        if (sn_take_finding(t, i)->code == code) return sn_take_finding(t, i);
    return NULL;
}

static bool none_of_all(const sn_take *t) {
    return find(t, SN_FINDING_RECORDING_CUT) == NULL &&
           find(t, SN_FINDING_FRAMES_REPEATED) == NULL && find(t, SN_FINDING_MARKERS_HELD) == NULL;
}

// How far a marker is from where it is in another fit at most, metres; `skipped` frames from AT on are not in the first one.
static double most_off(const sn_model *m, const sn_take *a, const sn_take *b, int skipped) {
    sn_recording *at[2];
    double most = 0;
    assert_int_equal(sn_marker_paths(m, sn_take_motion(a), NULL, &at[0], NULL), SN_OK);
    assert_int_equal(sn_marker_paths(m, sn_take_motion(b), NULL, &at[1], NULL), SN_OK);
    for (int f = 0; f < sn_recording_about(at[0])->nframe; f++)
        for (int i = 0; i < sn_recording_about(at[0])->nmarker; i++) {
            const double *x = sn_recording_frame(at[0], f) + 3 * (size_t)i,
                         *y = sn_recording_frame(at[1], f < AT ? f : f + skipped) + 3 * (size_t)i;
            most = fmax(most, hypot(x[0] - y[0], hypot(x[1] - y[1], x[2] - y[2])));
        }
    for (int i = 0; i < 2; i++) sn_recording_destroy(at[i]);
    return most;
}

static void hold(sn_recording *r, int marker) {
    for (int f = AT; f < AT + HELD; f++)
        for (int i = 0; i < sn_recording_about(r)->nmarker; i++)
            if (marker < 0 || i == marker)
                memcpy(sn_recording_edit(r, f) + 3 * (size_t)i,
                       sn_recording_frame(r, AT - 1) + 3 * (size_t)i, 3 * sizeof(double));
}

static void held(void **state) {
    const example_take *t = *state;
    sn_recording *good = recording_cut(t->recording, 0, FRAMES);
    sn_take *usual = fit(t->subject, good, NULL);
    assert_true(none_of_all(usual));
    for (int one = 0; one < 2; one++) {
        sn_recording *bad = recording_cut(t->recording, 0, FRAMES);
        hold(bad, one ? sn_recording_find(bad, "LKNE") : -1);
        sn_take *take = fit(t->subject, bad, NULL);
        const sn_finding *f =
            find(take, one ? SN_FINDING_MARKERS_HELD : SN_FINDING_FRAMES_REPEATED);
        assert_non_null(f);
        assert_true(f->first == AT + 1 && f->last == AT + HELD && f->number[0] == HELD);
        assert_int_equal(f->severity, one ? SN_SEVERITY_NOTE : SN_SEVERITY_WARNING);
        if (one) assert_string_equal(f->text, "LKNE");
        const double off = most_off(t->subject, take, usual, 0);
        print_message("%s held for %.2f s: markers at most %.1f cm from the clean fit\n",
                      one ? "LKNE is" : "all are", HELD / 120.0, 100 * off);
        assert_true(off < (one ? 0.02 : 0.2));  // taken as they are: 10 and 44
        assert_null(find(take, SN_FINDING_RECORDING_CUT));
        assert_null(find(take, SN_FINDING_FIGURE_LEAPS));
        sn_take_destroy(take);
        sn_recording_destroy(bad);
    }
    sn_take_destroy(usual);
    sn_recording_destroy(good);
}

// The recording without some frames, which nothing states.
static sn_recording *without(const sn_recording *from, int frames) {
    sn_recording_info info = *sn_recording_about(from);
    const char *label[64];
    sn_recording *out;
    assert_in_range(info.nmarker, 1, 64);
    for (int i = 0; i < info.nmarker; i++) label[i] = sn_recording_label(from, i);
    info.nframe -= frames;
    assert_int_equal(sn_recording_create(&info, label, NULL, &out, NULL), SN_OK);
    for (int f = 0; f < info.nframe; f++)
        memcpy(sn_recording_edit(out, f), sn_recording_frame(from, f < AT ? f : f + frames),
               3 * (size_t)info.nmarker * sizeof(double));
    return out;
}

static void missing_frames(void **state) {
    const example_take *t = *state;
    sn_recording *good = recording_cut(t->recording, 0, FRAMES);
    sn_take *usual = fit(t->subject, good, NULL);
    for (int frames = 12; frames <= 30; frames += 18) {
        sn_recording *bad = without(good, frames);
        sn_take *take = fit(t->subject, bad, NULL);
        const sn_finding *f = find(take, SN_FINDING_RECORDING_CUT);
        assert_non_null(f);
        assert_true(f->number[0] == 1 && f->first == AT + 1 && f->last == AT + 1);
        assert_null(find(take, SN_FINDING_FIGURE_LEAPS));
        // all markers leap: none of them is wrong
        assert_null(find(take, SN_FINDING_MARKER_OFF));
        const double off = most_off(t->subject, take, usual, frames);
        print_message("%d frames are missing: markers at most %.1f cm from the clean fit\n", frames,
                      100 * off);
        assert_true(off < 0.02);
        sn_take_destroy(take);
        sn_recording_destroy(bad);
    }
    sn_take_destroy(usual);
    sn_recording_destroy(good);
}

// Feet stand as still in HDM05's clips, for up to half a second; 85_02 turns over in the air; and few frames a second make
// every step a leap.
static void nothing_there(void **unused) {
    (void)unused;
    static const char *const clips[][2] = {{"cmu/85_02.bvh", "cmu/85_02.c3d"},
                                           {"hdm05/HDM_mm.asf", "hdm05/HDM_mm_01-02_03_120.c3d"},
                                           {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_01-03_01_120.c3d"}};
    for (int k = 0; k < 6 && k < 2 * cases(3); k++) {
        sn_document body = read_clip(clips[k / 2][0]), clip = read_clip(clips[k / 2][1]);
        if (body.model == NULL || clip.recording == NULL) skip();
        sn_recording *r;
        sn_clip o = sn_clip_default();
        if (k % 2) o.rate = 30;
        assert_int_equal(sn_recording_clip(clip.recording, &o, NULL, &r, NULL, NULL), SN_OK);
        sn_take *take = fit(body.model, r, &body);
        assert_true(none_of_all(take));
        sn_take_destroy(take);
        sn_recording_destroy(r);
        sn_document_destroy(&body);
        sn_document_destroy(&clip);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(held), cmocka_unit_test(missing_frames),
                                       cmocka_unit_test(nothing_there)};
    return cmocka_run_group_tests(tests, example_begin, example_end);
}
