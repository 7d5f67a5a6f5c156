// SPDX-License-Identifier: MIT
// sinew bench fit: the angles that come of a generic model, against the truth and against an expert; behind that joint
// centres (bench_clips.c), and what one half of a take tells of the other (bench_halves.c).
#include "bench_angles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_clips.h"
#include "bench_fit.h"
#include "bench_halves.h"
#include "fit_take.h"
#include "inputs.h"

enum { GROUPS = 5 };
static const char *const groups[GROUPS] = {"pelvis", "hip", "knee", "ankle", "lumbar"};

static bool starts(const char *name, const char *word) {
    return strncmp(name, word, strlen(word)) == 0;
}

static bool is_place(const char *name) {
    size_t n = strlen(name);
    return n > 3 && name[n - 3] == '_' && name[n - 2] == 't';
}

// Degrees, straight between the rows.
static double value_at(const sn_table *t, int column, double time) {
    double x = sn_table_at(t, column, time);
    return sn_table_about(t)->in_degrees ? x : x * 57.29577951308232;
}

static double rms_of(const sn_table *ours, int mine, const sn_table *theirs, int column) {
    const sn_table_info *a = sn_table_about(ours), *b = sn_table_about(theirs);
    double square = 0, first = sn_table_row(ours, 0)[a->time],
           last = sn_table_row(ours, a->nrow - 1)[a->time];
    int n = 0;
    for (int r = 0; r < b->nrow; r++) {
        double time = sn_table_row(theirs, r)[b->time];
        if (time < first - 1e-6 || time > last + 1e-6) continue;
        double d = value_at(ours, mine, time) - value_at(theirs, column, time);
        square += d * d;
        n++;
    }
    return n > 0 ? sqrt(square / n) : -1;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Degrees: means of a group's coordinates and of all groups', the median of all coordinates.
typedef struct angles {
    double group[GROUPS], mean, median;
} angles;

static angles compare(const sn_table *ours, const sn_table *theirs) {
    angles out = {0};
    double all[200];
    int n = 0, nall = 0, size[GROUPS] = {0};
    for (int c = 0; c < sn_table_about(theirs)->ncolumn && nall < 200; c++) {
        const char *column = sn_table_column(theirs, c);
        int mine = sn_table_find(ours, column);
        if (mine < 0 || c == sn_table_about(theirs)->time || is_place(column)) continue;
        double rms = rms_of(ours, mine, theirs, c);
        if (rms < 0) continue;
        all[nall++] = rms;
        for (int g = 0; g < GROUPS; g++)
            if (starts(column, groups[g])) out.group[g] += rms, size[g]++, out.mean += rms, n++;
    }
    for (int g = 0; g < GROUPS; g++)
        if (size[g] > 0) out.group[g] /= size[g];
    qsort(all, (size_t)nall, sizeof *all, by_size);
    if (n > 0) out.mean /= n;
    if (nall > 0) out.median = all[nall / 2];
    return out;
}

// --- from a generic model ------------------------------------------------------------------------

typedef struct study {
    const char *name, *model, *take, *reference, *still, *markers;
    double noise, smooth;
    bool builtin;
} study;

#define ARNOLD(n)                                                                                  \
    .model = "biomech/arnold/generic.osim", .take = "biomech/arnold/subject0" #n ".trc",           \
    .reference = "biomech/arnold/subject0" #n ".sto"
#define SUBJECT4(what)                                                                             \
    .model = "biomech/subject4/generic.osim", .take = "biomech/subject4/" what ".trc",             \
    .reference = "biomech/subject4/" what ".mot"

static const study studies[] = {
    {"arnold 1, truth", ARNOLD(1)},
    {"arnold 2, truth", ARNOLD(2)},
    {"arnold 1, 5 mm of noise, no joint centres", ARNOLD(1), .noise = 0.005},
    {"arnold 2, 5 mm of noise, no joint centres", ARNOLD(2), .noise = 0.005},
    {"arnold 1, the same, --smooth 0.01", ARNOLD(1), .noise = 0.005, .smooth = 0.01},
    {"arnold 2, the same, --smooth 0.01", ARNOLD(2), .noise = 0.005, .smooth = 0.01},
    {"subject4 walking1, expert", SUBJECT4("walking1")},
    {"subject4 squats1, expert", SUBJECT4("squats1")},
    {"subject4 DJ1, expert", SUBJECT4("DJ1")},
    {"subject4 walking1, --static static1, expert", SUBJECT4("walking1"),
     .still = "biomech/subject4/static1.trc"},
    {"subject4 DJ1, --static static1, expert", SUBJECT4("DJ1"),
     .still = "biomech/subject4/static1.trc"},
    {"subject4 DJ1 on arnold's model, expert", .model = "biomech/arnold/generic.osim",
     .take = "biomech/subject4/DJ1.trc", .reference = "biomech/subject4/DJ1.mot"},
    {"subject4 squats1 on arnold's model, expert", .model = "biomech/arnold/generic.osim",
     .take = "biomech/subject4/squats1.trc", .reference = "biomech/subject4/squats1.mot"},
    {"gait2354 walk, OpenSim's scaling", .model = "biomech/gait2354/gait2354_simbody.osim",
     .take = "biomech/gait2354/subject01_walk1.trc",
     .reference = "biomech/gait2354/reference/subject01_walk1_ik.mot",
     .markers = "biomech/gait2354/gait2354_Scale_MarkerSet.xml"},
    {"subject4 walking1, --markers builtin", SUBJECT4("walking1"), .builtin = true},
    {"subject4 squats1, --markers builtin", SUBJECT4("squats1"), .builtin = true},
    {"subject4 DJ1, --markers builtin", SUBJECT4("DJ1"), .builtin = true},
    {"gait2354 walk, --markers builtin", .model = "biomech/gait2354/gait2354_simbody.osim",
     .take = "biomech/gait2354/subject01_walk1.trc",
     .reference = "biomech/gait2354/reference/subject01_walk1_ik.mot", .builtin = true},
    {"gait10 walk", .model = "biomech/gait10/subject01.osim",
     .take = "biomech/gait10/subject01_walk.trc",
     .reference = "biomech/gait10/reference/subject01_walk_IK.mot"},
    {"gait10 walk, --markers builtin", .model = "biomech/gait10/subject01.osim",
     .take = "biomech/gait10/subject01_walk.trc",
     .reference = "biomech/gait10/reference/subject01_walk_IK.mot", .builtin = true},
};

static double next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

// Nearly normal: the sum of twelve.
static void spoil(sn_recording *r, double sigma, uint64_t random) {
    for (int m = 0; m < sn_recording_about(r)->nmarker; m++) {
        const char *label = sn_recording_label(r, m);
        bool centre = strlen(label) > 2 && strcmp(label + strlen(label) - 2, "JC") == 0;
        for (int f = 0; f < sn_recording_about(r)->nframe; f++)
            for (int c = 0; c < 3; c++) {
                double *x = &sn_recording_edit(r, f)[3 * m + c], sum = -6;
                for (int k = 0; k < 12; k++) sum += next_random(&random);
                *x = centre ? (double)NAN : *x + sigma * sum;
            }
    }
}

static bool load(const char *data, const char *name, sn_document *out) {
    sn_document_options options = sn_document_options_default();
    char *path = bench_path(data, name);
    bool good = access(path, R_OK) == 0 && load_document(path, &options, out);
    free(path);
    return good;
}

static sn_marker_set *load_markers(const char *data, const char *name, const sn_model *model) {
    char *path = bench_path(data, name);
    size_t length;
    sn_marker_set *set = NULL;
    char *text = read_file(path, &length);
    if (text != NULL) (void)sn_marker_set_read(text, length, model, NULL, &set, NULL);
    free(text);
    free(path);
    return set;
}

static bool run_study(const char *data, const study *s, int draw, angles *out, bool *missing) {
    sn_document model = {0}, take = {0}, reference = {0}, still = {0};
    bool there = load(data, s->model, &model) && load(data, s->take, &take) &&
                 load(data, s->reference, &reference) &&
                 (s->still == NULL || load(data, s->still, &still));
    bool good = false;
    if (there && take.recording != NULL && reference.table != NULL) {
        sn_take_options o = sn_take_options_default();
        sn_take *t = NULL;
        sn_table *ours = NULL;
        sn_marker_set *set =
            s->markers != NULL ? load_markers(data, s->markers, model.model) : NULL;
        if (s->noise > 0) spoil(take.recording, s->noise, 5 + (uint64_t)draw);
        o.coordinates = model.coordinates;
        o.still = still.recording;
        o.smooth = s->smooth;
        o.builtin = s->builtin;
        o.markers = set;
        good =
            sn_take_create(model.model, take.recording, &o, NULL, &t, NULL) == SN_OK &&
            sn_take_prepare(t) == SN_OK && sn_take_finish(t) == SN_OK &&
            sn_table_from_motion(sn_take_model(t), sn_take_motion(t), NULL, &ours, NULL) == SN_OK;
        if (good) *out = compare(ours, reference.table);
        sn_table_destroy(ours);
        sn_take_destroy(t);
        sn_marker_set_destroy(set);
    }
    sn_document_destroy(&model);
    sn_document_destroy(&take);
    sn_document_destroy(&reference);
    sn_document_destroy(&still);
    *missing = !there;
    return good;
}

// How lucky one draw of noise is, another tells.
enum { DRAWS = 4 };

static bool study_row(const char *data, const study *s) {
    angles sum = {0};
    double worst = 0;
    int n = s->noise > 0 ? DRAWS : 1;
    for (int draw = 0; draw < n; draw++) {
        angles one;
        bool missing;
        if (!run_study(data, s, draw, &one, &missing)) {
            printf("  %-46s %s\n", s->name, missing ? "is not there" : "could not be fitted");
            return missing;
        }
        for (int g = 0; g < GROUPS; g++) sum.group[g] += one.group[g] / n;
        sum.mean += one.mean / n;
        sum.median += one.median / n;
        worst = fmax(worst, one.mean);
    }
    printf("  %-46s", s->name);
    for (int g = 0; g < GROUPS; g++) printf(" %7.2f", sum.group[g]);
    printf(" %8.2f %14.2f", sum.mean, sum.median);
    if (n > 1) printf("  (%d draws, mean at worst %.2f)", n, worst);
    printf("\n");
    (void)fflush(stdout);
    return true;
}

bool bench_angles(const char *data) {
    bool good = true;
    printf("\n  From a generic model (gait10: from one that was scaled), default options: "
           "root-mean-square of\n"
           "  angles, degrees\n"
           "  %-46s %7s %7s %7s %7s %7s %8s %14s\n",
           "take, against", "pelvis", "hips", "knees", "ankles", "lumbar", "mean", "median of all");
    for (size_t i = 0; i < sizeof studies / sizeof studies[0]; i++)
        good &= study_row(data, &studies[i]);
    good &= bench_clips(data);
    good &= bench_halves(data);
    return good;
}
