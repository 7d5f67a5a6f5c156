// SPDX-License-Identifier: MIT
// Parts of the body that no marker shows are told; markers that shake are, too. On the example and on real clips, of which
// none that is right may be accused.
#include "takes.h"

static double gauss(uint64_t *state) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += sn_random(state);
    return sum;
}

static sn_take *taken(const sn_model *model, const sn_recording *recording, double smooth) {
    sn_take_options o = sn_take_options_default();
    sn_take *t;
    o.smooth = smooth;
    o.calibrate_frames = 30;
    assert_int_equal(sn_take_create(model, recording, &o, NULL, &t, NULL), SN_OK);
    assert_int_equal(sn_take_prepare(t), SN_OK);
    assert_int_equal(sn_take_finish(t), SN_OK);
    return t;
}

// The finding of a code, NULL when there is none; its sentence.
static const sn_finding *found(const sn_take *t, sn_finding_code code, char said[600]) {
    said[0] = '\0';
    for (int i = 0; i < sn_take_nfinding(t); i++) {
        if (sn_take_finding(t, i)->code != code) continue;
        (void)sn_take_sentence(t, i, SN_VOICE_COMMAND, said, 600);
        return sn_take_finding(t, i);
    }
    return NULL;
}

// --- parts ---------------------------------------------------------------------------------------

#define PELVIS "LFWT RFWT LBWT RBWT "
#define TRUNK  "C7 T10 CLAV STRN RBAC "
#define HEAD   "LFHD RFHD LBHD RBHD "
#define ARM(s) s "SHO " s "UPA " s "ELB " s "FRM " s "WRA " s "WRB " s "FIN "
#define LEG(s) s "THI " s "KNE " s "SHN " s "ANK " s "HEE " s "TOE " s "MT5 "

static bool lists(const char *names, const char *label) {
    const size_t n = strlen(label);
    for (const char *at = names; (at = strstr(at, label)) != NULL; at += n)
        if ((at == names || at[-1] == ' ') && at[n] == ' ') return true;
    return false;
}

// Samples of other markers than these are taken away in some frames.
static void leave(sn_recording *r, const char *names, int first, int end) {
    const int n = sn_recording_about(r)->nmarker;
    for (int m = 0; m < n; m++) {
        if (lists(names, sn_label_name(sn_recording_label(r, m)))) continue;
        for (int f = first; f < end; f++)
            for (int k = 0; k < 3; k++) sn_recording_edit(r, f)[3 * m + k] = NAN;
    }
}

static void parts(void **state) {
    static const struct {
        const char *left, *told;  // labels that are left, and what is said not to be shown
        sn_severity severity;
        int count;
    } all[] = {
        {PELVIS LEG("L") LEG("R"), "the trunk, the head, the arms", SN_SEVERITY_WARNING, 4},
        {LEG("L") LEG("R"), "the trunk, the head, the arms", SN_SEVERITY_WARNING, 4},
        {ARM("L") ARM("R") "C7 CLAV", "the pelvis, the head, the legs", SN_SEVERITY_WARNING, 4},
        {PELVIS TRUNK HEAD ARM("L") LEG("L") LEG("R"), "the right arm", SN_SEVERITY_WARNING, 1},
        {PELVIS TRUNK HEAD ARM("L") ARM("R") LEG("L") "RTHI RKNE ",
         "the right shin, the right foot", SN_SEVERITY_WARNING, 2},
        {PELVIS TRUNK HEAD "LSHO LUPA LELB "
                           "RSHO RUPA RELB " LEG("L") LEG("R"),
         "the forearms, the hands", SN_SEVERITY_NOTE, 4},
        {PELVIS TRUNK ARM("L") ARM("R") LEG("L") LEG("R"), "the head", SN_SEVERITY_NOTE, 1},
        {PELVIS TRUNK HEAD "LSHO LUPA LELB LFRM "
                           "RSHO RUPA RELB RFRM " LEG("L") LEG("R"),
         "the hands", SN_SEVERITY_NOTE, 2},
        // a joint between two that are shown is shown; toes and fingers are as usual
        {PELVIS TRUNK HEAD "LELB LFRM LWRA LWRB " ARM("R") LEG("L") "RKNE RSHN RANK RHEE ", NULL,
         SN_SEVERITY_NOTE, 0},
        {PELVIS TRUNK HEAD ARM("L") ARM("R") LEG("L") LEG("R"), NULL, SN_SEVERITY_NOTE, 0},
    };
    example_take *e = *state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sn_recording *r = recording_cut(e->recording, 0, 80);
        char said[600], wanted[200];
        leave(r, all[i].left, 0, 80);
        sn_take *t = taken(e->model, r, 0);
        const sn_finding *f = found(t, SN_FINDING_PARTS_UNSEEN, said);
        if (all[i].told == NULL) {
            if (f != NULL) fail_msg("%zu: %s", i, said);
        } else {
            (void)snprintf(wanted, sizeof wanted, "no marker shows %s: ", all[i].told);
            if (strstr(said, wanted) == NULL) fail_msg("%zu: \"%s\", not \"%s\"", i, said, wanted);
            assert_int_equal(f->severity, all[i].severity);
            assert_near(f->number[0], all[i].count, 0);
            assert_near(f->number[1], 1, 0);
            if (f->severity == SN_SEVERITY_WARNING)
                assert_true(sn_take_verdict(t) == SN_VERDICT_LOOK);
        }
        sn_take_destroy(t);
        sn_recording_destroy(r);
    }
}

// Seen in a part of the frames: told from three quarters of them on, with how many.
static void for_a_while(void **state) {
    example_take *e = *state;
    char said[600];
    for (int hidden = 52; hidden <= 64; hidden += 12) {
        sn_recording *r = recording_cut(e->recording, 0, 80);
        leave(r, PELVIS TRUNK HEAD ARM("L") LEG("L") LEG("R"), 0, hidden);
        sn_take *t = taken(e->model, r, 0);
        const sn_finding *f = found(t, SN_FINDING_PARTS_UNSEEN, said);
        assert_true((f != NULL) == (hidden == 64));
        if (f != NULL) {
            assert_non_null(strstr(said, "the right arm (in 80 % of the frames)"));
            assert_near(f->number[1], 0.8, 1e-12);
        }
        sn_take_destroy(t);
        sn_recording_destroy(r);
    }
}

// --- noise ---------------------------------------------------------------------------------------

static void shake(sn_recording *r, double sigma) {
    const sn_recording_info *info = sn_recording_about(r);
    uint64_t state = 5;
    for (int f = 0; f < info->nframe; f++)
        for (int k = 0; k < 3 * info->nmarker; k++)
            sn_recording_edit(r, f)[k] += sigma * gauss(&state);
}

static void noise(void **state) {
    static const struct {
        double sigma, smooth;
        int severity;  // -1: nothing is said
    } all[] = {{0, 0, -1},
               {0.002, 0, -1},
               {0.007, 0, SN_SEVERITY_NOTE},
               {0.01, 0, SN_SEVERITY_WARNING},
               {0.02, 0, SN_SEVERITY_WARNING},
               {0.02, 0.02, SN_SEVERITY_NOTE}};
    example_take *e = *state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sn_recording *r = recording_cut(e->recording, 0, 200);
        char said[600];
        shake(r, all[i].sigma);
        sn_take *t = taken(e->model, r, all[i].smooth);
        const sn_finding *f = found(t, SN_FINDING_MARKERS_SHAKE, said);
        if (f == NULL ? all[i].severity != -1 : (int)f->severity != all[i].severity)
            fail_msg("%g m of noise: \"%s\"", all[i].sigma, said);
        if (f != NULL) {
            // the example's own is 2 mm
            const double sigma = sqrt(all[i].sigma * all[i].sigma + 4e-6);
            print_message("%.1f cm along each axis: %s\n", 100 * all[i].sigma, said);
            assert_near(f->number[0] / (sqrt(3) * sigma), 1, 0.1);
            assert_true((strstr(said, "--smooth") != NULL) == (all[i].smooth == 0));
        }
        sn_take_destroy(t);
        sn_recording_destroy(r);
    }
}

// --- real takes ----------------------------------------------------------------------------------

static sn_recording *every(const sn_recording *r, int step, bool rate) {
    sn_recording_info info = *sn_recording_about(r);
    const char *labels[256];
    sn_recording *out;
    assert_true(info.nmarker <= 256);
    for (int m = 0; m < info.nmarker; m++) labels[m] = sn_recording_label(r, m);
    info.nframe /= step;
    info.rate = rate ? info.rate / step : 0;
    assert_int_equal(sn_recording_create(&info, labels, NULL, &out, NULL), SN_OK);
    for (int f = 0; f < info.nframe; f++)
        memcpy(sn_recording_edit(out, f), sn_recording_frame(r, f * step),
               3 * (size_t)info.nmarker * sizeof(double));
    return out;
}

// None of them shakes or lacks a part, also when it is fast and there are few frames a second.
static void clips(void **unused) {
    (void)unused;
    static const struct {
        const char *skeleton, *take;
    } all[] = {
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.c3d"},
        {"cmu/02.asf", "cmu/02_01.c3d"},
        {"cmu/85_02.bvh", "cmu/85_02.c3d"},
        {"biomech/subject4/expert.osim", "biomech/subject4/DJ1.trc"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sn_document skeleton = read_clip(all[i].skeleton), take = read_clip(all[i].take);
        if (skeleton.model == NULL || take.recording == NULL) skip();
        for (int step = 1; step <= 8; step *= 2) {
            char said[600];
            sn_recording *r = every(take.recording, step, true);
            sn_take *t = taken(skeleton.model, r, 0);
            if (found(t, SN_FINDING_PARTS_UNSEEN, said) != NULL ||
                found(t, SN_FINDING_MARKERS_SHAKE, said) != NULL)
                fail_msg("%s, every %d: %s", all[i].take, step, said);
            sn_take_destroy(t);
            sn_recording_destroy(r);
        }
        sn_document_destroy(&skeleton);
        sn_document_destroy(&take);
    }
}

// Thinned so far that a flung limb is somewhere else in every frame, with what the fit is off by on skin: no noise, whether
// the rate is known or not.
static void rare_frames(void **unused) {
    (void)unused;
    static const struct {
        const char *skeleton, *take;
        int step;
        bool rate;
    } all[] = {
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-05_02_120.c3d", 32, false},
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-05_02_120.c3d", 32, true},
        {"biomech/arnold/generic.osim", "hdm05/HDM_mm_01-02_03_120.c3d", 20, true},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sn_document skeleton = read_clip(all[i].skeleton), take = read_clip(all[i].take);
        if (skeleton.model == NULL || take.recording == NULL) skip();
        char said[600];
        sn_recording *r = every(take.recording, all[i].step, all[i].rate);
        sn_take *t = taken(skeleton.model, r, 0);
        if (found(t, SN_FINDING_MARKERS_SHAKE, said) != NULL) fail_msg("%zu: %s", i, said);
        sn_take_destroy(t);
        sn_recording_destroy(r);
        sn_document_destroy(&skeleton);
        sn_document_destroy(&take);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts), cmocka_unit_test(for_a_while), cmocka_unit_test(noise),
        cmocka_unit_test(clips), cmocka_unit_test(rare_frames),
    };
    return cmocka_run_group_tests(tests, example_begin, example_end);
}
