// SPDX-License-Identifier: MIT
// From a generic model to the right angles: synthetic walks whose truth is known, and a person whose motion an expert
// found. Mean over pelvis, hips, knees, ankles and lumbar of the angles' root-mean-square.
#include <stdlib.h>

#include "support.h"

#include "sinew/take.h"

static bool starts(const char *name, const char *word) {
    return strncmp(name, word, strlen(word)) == 0;
}

static bool counts(const char *name) {
    size_t n = strlen(name);
    bool moves = n > 3 && name[n - 3] == '_' && name[n - 2] == 't';
    return !moves && (starts(name, "pelvis") || starts(name, "hip") || starts(name, "knee") ||
                      starts(name, "ankle") || starts(name, "lumbar"));
}

static double value_at(const sn_table *t, int column, double time) {
    double x = sn_table_at(t, column, time);
    return sn_table_about(t)->in_degrees ? x : x * 57.29577951308232;
}

// The mean over those coordinates; the worst group's mean besides.
static double off_by(const sn_table *ours, const sn_table *theirs, double *worst) {
    const sn_table_info *a = sn_table_about(ours), *b = sn_table_about(theirs);
    static const char *const groups[] = {"pelvis", "hip", "knee", "ankle", "lumbar"};
    double sum = 0, group[5] = {0};
    int n = 0, size[5] = {0};
    for (int c = 0; c < b->ncolumn; c++) {
        const char *name = sn_table_column(theirs, c);
        int mine = sn_table_find(ours, name), rows = 0;
        double square = 0;
        if (mine < 0 || !counts(name)) continue;
        for (int r = 0; r < b->nrow; r++) {
            double time = sn_table_row(theirs, r)[b->time];
            if (time < sn_table_row(ours, 0)[a->time] - 1e-6 ||
                time > sn_table_row(ours, a->nrow - 1)[a->time] + 1e-6)
                continue;
            double d = value_at(ours, mine, time) - value_at(theirs, c, time);
            square += d * d;
            rows++;
        }
        if (rows == 0) continue;
        double rms = sqrt(square / rows);
        for (int g = 0; g < 5; g++)
            if (starts(name, groups[g])) group[g] += rms, size[g]++;
        sum += rms;
        n++;
    }
    *worst = 0;
    for (int g = 0; g < 5; g++)
        if (size[g] > 0) *worst = fmax(*worst, group[g] / size[g]);
    assert_true(n >= 7);
    return sum / n;
}

static bool load(const char *path, sn_document *out) {
    const char *full = data_path(path);
    size_t length;
    if (full == NULL) return false;
    char *bytes = slurp(full, &length);
    sn_error error = {0};
    if (sn_document_read(bytes, length, full, NULL, NULL, out, &error) != SN_OK)
        fail_msg("%s: %s", path, error.text);
    free(bytes);
    return true;
}

// Add noise, and hide the joint centres that no camera sees.
static void spoil(sn_recording *r, double sigma, uint64_t *random) {
    for (int m = 0; m < sn_recording_about(r)->nmarker; m++) {
        const char *label = sn_recording_label(r, m);
        bool centre = strlen(label) > 2 && strcmp(label + strlen(label) - 2, "JC") == 0;
        for (int f = 0; f < sn_recording_about(r)->nframe; f++)
            for (int c = 0; c < 3; c++) {
                double *x = &sn_recording_edit(r, f)[3 * m + c], sum = -6;
                for (int k = 0; k < 12; k++) sum += sn_random(random);
                *x = centre ? NAN : *x + sigma * sum;
            }
    }
}

typedef struct study {
    const char *name, *model, *take, *reference, *still, *markers;
    double noise, smooth, bound, group;
    bool builtin;  // by its labels alone
    bool kept;     // as its file has it: it was scaled, and has its markers
    int left;      // ranges of the file that do not hold, which is a warning
} study;

static void fit_study(const study *s, int draw) {
    sn_document model = {0}, take = {0}, reference = {0}, still = {0};
    sn_error error = {0};
    if (!load(s->model, &model) || !load(s->take, &take) || !load(s->reference, &reference)) skip();
    if (s->still != NULL && !load(s->still, &still)) skip();
    uint64_t random = 5 + (uint64_t)draw;
    if (s->noise > 0) spoil(take.recording, s->noise, &random);
    sn_take_options o = sn_take_options_default();
    sn_marker_set *set = NULL;
    o.coordinates = model.coordinates;
    o.still = still.recording;
    o.smooth = s->smooth;
    o.builtin = s->builtin;
    if (s->markers != NULL) {
        size_t length;
        const char *path = data_path(s->markers);
        if (path == NULL) skip();
        char *bytes = slurp(path, &length);
        assert_int_equal(sn_marker_set_read(bytes, length, model.model, NULL, &set, &error), SN_OK);
        free(bytes);
        o.markers = set;
    }
    sn_take *t;
    assert_int_equal(sn_take_create(model.model, take.recording, &o, NULL, &t, &error), SN_OK);
    assert_int_equal(sn_take_prepare(t), SN_OK);
    assert_true(sn_take_about(t)->reshaped == !s->kept);
    assert_int_equal(sn_take_finish(t), SN_OK);
    int left = 0;
    for (int i = 0; i < sn_take_nfinding(t); i++)
        left += sn_take_finding(t, i)->code == SN_FINDING_RANGE_LEFT;
    assert_int_equal(left, s->left);
    if (left > 0) assert_int_equal(sn_take_verdict(t), SN_VERDICT_LOOK);
    sn_table *ours;
    assert_int_equal(sn_table_from_motion(sn_take_model(t), sn_take_motion(t), NULL, &ours, &error),
                     SN_OK);
    double worst, mean = off_by(ours, reference.table, &worst), zero = 0;
    int nzero = 0;
    for (int i = 0; i < sn_take_nsure(t); i++) {
        const sn_take_sure *sure = sn_take_sure_of(t, i);
        assert_true(sure->sigma >= 0 && sure->name != NULL);
        if (sure->kind != SN_SURE_ZERO || !counts(sure->name)) continue;
        zero += sure->sigma * 57.3;
        nzero++;
    }
    print_message(
        "%-44s %.2f degrees (at most %.1f), the worst group %.2f; zeros said to be sure to %.1f\n",
        s->name, mean, s->bound, worst, nzero > 0 ? zero / nzero : 0);
    assert_true(mean <= s->bound);
    assert_true(worst <= s->group);
    // what it says of itself is of the right size
    if (s->noise == 0 && s->still == NULL && s->bound > 1 && !s->builtin && !s->kept)
        assert_true(zero / nzero > 0.4 * mean && zero / nzero < 5 * mean);
    sn_table_destroy(ours);
    sn_take_destroy(t);
    sn_marker_set_destroy(set);
    sn_document_destroy(&model);
    sn_document_destroy(&take);
    sn_document_destroy(&reference);
    sn_document_destroy(&still);
}

#define ARNOLD(n)                                                                                  \
    .model = "biomech/arnold/generic.osim", .take = "biomech/arnold/subject0" #n ".trc",           \
    .reference = "biomech/arnold/subject0" #n ".sto"
#define SUBJECT4(what)                                                                             \
    .model = "biomech/subject4/generic.osim", .take = "biomech/subject4/" what ".trc",             \
    .reference = "biomech/subject4/" what ".mot"

static const study studies[] = {
    {"arnold 1, all markers", ARNOLD(1), .bound = 0.4, .group = 5},
    {"subject4 walking", SUBJECT4("walking1"), .bound = 2.0, .group = 5},
    {"subject4 walking, static trial", SUBJECT4("walking1"),
     .still = "biomech/subject4/static1.trc", .bound = 1.2, .group = 5},
    {"arnold 1, 5 mm of noise, no joint centres", ARNOLD(1), .noise = 0.005, .bound = 1.5,
     .group = 5},
    // places for labels that are known, on an OpenSim model's own joints: gait10's toes are welded to its feet
    {"subject4 squats, by its labels", SUBJECT4("squats1"), .bound = 2.5, .group = 5,
     .builtin = true},
    {"gait10 walking, by its labels", .model = "biomech/gait10/subject01.osim",
     .take = "biomech/gait10/subject01_walk.trc",
     .reference = "biomech/gait10/reference/subject01_walk_IK.mot", .bound = 4.0, .group = 6,
     .builtin = true},
    // arms are lifted to 155 degrees, and this model's range ends at 90: the trunk leaned back instead, and its shape with it
    {"subject4 drop jump on arnold's model", .model = "biomech/arnold/generic.osim",
     .take = "biomech/subject4/DJ1.trc", .reference = "biomech/subject4/DJ1.mot", .bound = 3.0,
     .group = 5, .left = 2},
    {"subject4 squats on arnold's model", .model = "biomech/arnold/generic.osim",
     .take = "biomech/subject4/squats1.trc", .reference = "biomech/subject4/squats1.mot",
     .bound = 1.9, .group = 5, .left = 2},
    // a spline that moves the knee goes on beyond its range: a whole turn away it is another knee
    {"gait10 walking", .model = "biomech/gait10/subject01.osim",
     .take = "biomech/gait10/subject01_walk.trc",
     .reference = "biomech/gait10/reference/subject01_walk_IK.mot", .bound = 3.0, .group = 5,
     .kept = true},
    // the rest with SINEW_CASES
    {"subject4 walking, by its labels", SUBJECT4("walking1"), .bound = 2.0, .group = 5,
     .builtin = true},
    {"subject4 drop jump, by its labels", SUBJECT4("DJ1"), .bound = 3.0, .group = 5,
     .builtin = true},
    {"arnold 2, all markers", ARNOLD(2), .bound = 0.4, .group = 5},
    {"arnold 2, 5 mm of noise, no joint centres", ARNOLD(2), .noise = 0.005, .bound = 1.5,
     .group = 5},
    {"arnold 1, the same smoothed", ARNOLD(1), .noise = 0.005, .smooth = 0.01, .bound = 1.0,
     .group = 5},
    {"arnold 2, the same smoothed", ARNOLD(2), .noise = 0.005, .smooth = 0.01, .bound = 1.0,
     .group = 5},
    {"subject4 squats", SUBJECT4("squats1"), .bound = 2.0, .group = 5},
    {"subject4 drop jump", SUBJECT4("DJ1"), .bound = 2.0, .group = 5},
    {"gait2354 walking, its marker set", .model = "biomech/gait2354/gait2354_simbody.osim",
     .take = "biomech/gait2354/subject01_walk1.trc",
     .reference = "biomech/gait2354/reference/subject01_walk1_ik.mot",
     .markers = "biomech/gait2354/gait2354_Scale_MarkerSet.xml", .bound = 3.0, .group = 5},
};

static void right_angles(void **unused) {
    (void)unused;
    int all = (int)(sizeof studies / sizeof studies[0]), some = cases(10) > 10 ? all : 9,
        draws = cases(10) > 10 ? cases(10) / 5 : 1;
    for (int i = 0; i < (cases(10) < 10 ? 1 : some); i++)
        for (int draw = 0; draw < (studies[i].noise > 0 ? draws : 1); draw++)
            fit_study(&studies[i], draw);
}

// All labels are Plug-in Gait's and some of them the model's own, too: the set that knows more of them is taken.
static void set_by_labels(void **unused) {
    (void)unused;
    static const char *const renamed[][2] = {
        {"RASI", "RASI"},  {"LASI", "LASI"},  {"RPSI", "RPSI"},      {"LPSI", "LPSI"},
        {"C7", "C7"},      {"CLAV", "CLAV"},  {"RTOE", "RTOE"},      {"LTOE", "LTOE"},
        {"RACR", "RSHO"},  {"LACR", "LSHO"},  {"RLFC", "RKNE"},      {"LLFC", "LKNE"},
        {"RLMAL", "RANK"}, {"LLMAL", "LANK"}, {"RCAL", "RHEE"},      {"LCAL", "LHEE"},
        {"RTH1", "RTHI"},  {"LTH1", "LTHI"},  {"RTB1", "RTIB"},      {"LTB1", "LTIB"},
        {"RLEL", "RELB"},  {"LLEL", "LELB"},  {"RFAradius", "RWRA"}, {"LFAradius", "LWRA"}};
    enum { COUNT = sizeof renamed / sizeof renamed[0] };
    const char *labels[COUNT];
    sn_document model = {0}, take = {0};
    if (!load("biomech/arnold/generic.osim", &model) ||
        !load("biomech/arnold/subject01.trc", &take))
        skip();
    sn_recording_info info = *sn_recording_about(take.recording);
    info.nmarker = COUNT;
    for (int i = 0; i < COUNT; i++) labels[i] = renamed[i][1];
    sn_recording *r;
    assert_int_equal(sn_recording_create(&info, labels, NULL, &r, NULL), SN_OK);
    for (int i = 0; i < COUNT; i++) {
        int from = sn_recording_find(take.recording, renamed[i][0]);
        assert_true(from >= 0);
        for (int f = 0; f < info.nframe; f++)
            memcpy(sn_recording_edit(r, f) + 3 * i,
                   sn_recording_frame(take.recording, f) + 3 * from, 3 * sizeof(double));
    }
    sn_take_options o = sn_take_options_default();
    o.coordinates = model.coordinates;
    sn_take *t;
    assert_int_equal(sn_take_create(model.model, r, &o, NULL, &t, NULL), SN_OK);
    assert_int_equal(sn_take_prepare(t), SN_OK);
    print_message("%d of %d labels\n", sn_take_about(t)->matched, COUNT);
    assert_int_equal(sn_take_about(t)->matched, COUNT);
    sn_take_destroy(t);
    sn_recording_destroy(r);
    sn_document_destroy(&model);
    sn_document_destroy(&take);
}

// A static trial that says feet where it has metres measured the person at a third, and the verdict was good.
static void static_of_another_size(void **unused) {
    (void)unused;
    sn_document model = {0}, take = {0}, still = {0};
    if (!load("biomech/subject4/generic.osim", &model) ||
        !load("biomech/subject4/walking1.trc", &take) ||
        !load("biomech/subject4/static1.trc", &still))
        skip();
    for (int k = 0; k < 2; k++) {
        sn_take_options o = sn_take_options_default();
        o.coordinates = model.coordinates;
        o.still = still.recording;
        sn_take *t;
        assert_int_equal(sn_take_create(model.model, take.recording, &o, NULL, &t, NULL), SN_OK);
        if (k == 0) {
            assert_int_equal(sn_take_prepare(t), SN_OK);
            const sn_recording_info *info = sn_recording_about(still.recording);
            for (int f = 0; f < info->nframe; f++)
                for (int i = 0; i < 3 * info->nmarker; i++)
                    sn_recording_edit(still.recording, f)[i] *= 0.3048;
        } else {
            assert_int_not_equal(sn_take_prepare(t), SN_OK);
            const sn_finding *last = sn_take_finding(t, sn_take_nfinding(t) - 1);
            assert_int_equal(last->code, SN_FINDING_STATIC_SIZE);
            assert_true(last->number[0] > 0.28 && last->number[0] < 0.33);
        }
        sn_take_destroy(t);
    }
    sn_document_destroy(&model);
    sn_document_destroy(&take);
    sn_document_destroy(&still);
}

// Legs alone on a whole figure: arms and head have no zero that anything shows.
static void nothing_sits_there(void **unused) {
    (void)unused;
    sn_document model = {0}, take = {0};
    if (!load("biomech/subject4/generic.osim", &model) ||
        !load("biomech/subject4/walking1.trc", &take))
        skip();
    for (int m = 0; m < sn_recording_about(take.recording)->nmarker; m++) {
        const char *label = sn_recording_label(take.recording, m);
        bool arm = strstr(label, "elbow") != NULL || strstr(label, "wrist") != NULL ||
                   strstr(label, "arm") != NULL || strstr(label, "Arm") != NULL;
        for (int f = 0; arm && f < sn_recording_about(take.recording)->nframe; f++)
            for (int c = 0; c < 3; c++) sn_recording_edit(take.recording, f)[3 * m + c] = NAN;
    }
    sn_take_options o = sn_take_options_default();
    o.coordinates = model.coordinates;
    sn_take *t;
    assert_int_equal(sn_take_create(model.model, take.recording, &o, NULL, &t, NULL), SN_OK);
    assert_int_equal(sn_take_prepare(t), SN_OK);
    int elbows = 0, knees = 0;
    for (int i = 0; i < sn_take_nsure(t); i++) {
        const sn_take_sure *s = sn_take_sure_of(t, i);
        if (s->kind != SN_SURE_ZERO) continue;
        if (strstr(s->name, "elbow") != NULL) assert_true(!s->shown && s->sigma > 1), elbows++;
        if (strstr(s->name, "knee") != NULL) assert_true(s->sigma > 0 && s->sigma < 0.3), knees++;
    }
    assert_true(elbows == 2 && knees == 2);
    sn_take_destroy(t);
    sn_document_destroy(&model);
    sn_document_destroy(&take);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_angles), cmocka_unit_test(set_by_labels),
        cmocka_unit_test(static_of_another_size), cmocka_unit_test(nothing_sits_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
