// SPDX-License-Identifier: MIT
// Limbs that are hidden for half a second: how far their markers are from where they were, which the fit was not told.
//
// In each round some limbs of a take are hidden, far enough from each other in time, by chance but the same each time;
// calibration and all are with the gaps. The data folder's takes, then takes that are made from motions of other kinds: most
// of them do something once, which no other moment of the take tells of.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "bench_fit.h"

enum { ROUNDS = 8, AT_ONCE = 6, MOST = 6, LIMBS = 4 };
static const double hidden = 0.5, apart = 1.25, beside = 0.25;  // seconds

// By their markers, without the side.
static const char *const limbs[LIMBS][MOST] = {{"UPA", "ELB", "FRM", "WRA", "WRB", "FIN"},
                                               {"KNE", "SHN", "ANK", "HEE", "TOE", "MT5"},
                                               {"FRM", "WRA", "WRB", "FIN"},
                                               {"ANK", "HEE", "TOE", "MT5"}};

static const bench_take made[] = {
    {.skeleton = "hdm05/HDM_bk.asf", .take = "hdm05/cuts/HDM_bk_kickLFront1Reps_009_120.amc"},
    {.skeleton = "hdm05/HDM_mm.asf", .take = "hdm05/cuts/HDM_mm_squat1Reps_037_120.amc"},
    {.skeleton = "hdm05/HDM_mm.asf", .take = "hdm05/cuts/HDM_mm_throwBasketball_010_120.amc"},
    {.skeleton = "hdm05/HDM_dg.asf", .take = "hdm05/cuts/HDM_dg_lieDownFloor_011_120.amc"},
    {.skeleton = "cmu/charleston.asf", .take = "cmu/charleston1.amc"},
    {.skeleton = "cmu/backflip.asf", .take = "cmu/backflip.amc"},
    {.skeleton = "cmu/49.asf", .take = "cmu/49_18.amc"},
    {.skeleton = "cmu/49_06.bvh", .take = "cmu/49_06.bvh"},
    {.skeleton = "cmu/88_01.bvh", .take = "cmu/88_01.bvh"},
    {.skeleton = "bvh/bvh11_131_01_max.bvh", .take = "bvh/bvh11_131_01_max.bvh"},
    {.skeleton = "bvh/AV_8Walk_Meredith_HVHA_Rep1.bvh",
     .take = "bvh/AV_8Walk_Meredith_HVHA_Rep1.bvh"},
    {.skeleton = "bvh/test_mocapbank.bvh", .take = "bvh/test_mocapbank.bvh"},
    {.skeleton = "bvh/xia_neutral_16_000.bvh", .take = "bvh/xia_neutral_16_000.bvh"},
    {.skeleton = "bvh/lawrennd_Swagger.bvh", .take = "bvh/lawrennd_Swagger.bvh"},
};
enum { NMADE = sizeof made / sizeof made[0] };

typedef struct hole {
    int first, end, limb;
    char side;
} hole;

static int column_of(const sn_recording *r, const hole *h, int i) {
    char name[8];
    const char *rest = limbs[h->limb][i];
    if (rest == NULL) return -1;
    (void)snprintf(name, sizeof name, "%c%s", h->side, rest);
    for (int m = 0; m < sn_recording_about(r)->nmarker; m++)
        if (strcmp(sn_label_name(sn_recording_label(r, m)), name) == 0) return m;
    return -1;
}

// Holes of one round, made in the recording; how many.
static int make_holes(sn_recording *r, uint64_t *random, hole *out) {
    const sn_recording_info *info = sn_recording_about(r);
    const double rate = info->rate > 0 ? info->rate : 120;
    int n = 0, margin = (int)(beside * rate), length = (int)(hidden * rate + 0.5),
        room = info->nframe - 2 * margin - length, wanted = (int)(info->nframe / (2 * rate));
    for (int tries = 0; room > 0 && tries < AT_ONCE && tries <= wanted; tries++) {
        hole h = {.side = sn_random(random) < 0.5 ? 'L' : 'R'};
        h.limb = (int)(LIMBS * sn_random(random));
        h.first = margin + (int)(room * sn_random(random));
        h.end = h.first + length;
        bool near = false;
        for (int i = 0; i < n; i++) near = near || abs(out[i].first - h.first) < apart * rate;
        if (near) continue;
        out[n++] = h;
        for (int i = 0; i < MOST; i++)
            for (int f = h.first, m = column_of(r, &h, i); m >= 0 && f < h.end; f++)
                for (int c = 0; c < 3; c++) sn_recording_edit(r, f)[3 * m + c] = (double)NAN;
    }
    return n;
}

typedef struct total {
    double square, worst;
    long samples;
    int holes;
} total;

// How far the fit is from what was hidden from it.
static bool measure(const sn_take *t, const sn_recording *all, const hole *holes, int n,
                    total *out) {
    const sn_model *m = sn_take_model(t);
    sn_problem *problem = NULL;
    sn_workspace *ws = NULL;
    bool good = sn_problem_create(m, NULL, 0, NULL, &problem, NULL) == SN_OK &&
                sn_workspace_create(problem, false, NULL, &ws, NULL) == SN_OK;
    for (int k = 0; good && k < n; k++)
        for (int f = holes[k].first; good && f < holes[k].end; f++) {
            good = sn_workspace_pose(ws, sn_motion_frame(sn_take_motion(t), f)) == SN_OK;
            for (int i = 0; good && i < MOST; i++) {
                int column = column_of(all, &holes[k], i);
                for (int j = 0; column >= 0 && j < sn_model_nmarker(m); j++) {
                    if (sn_take_column(t, j) != column || !sn_recording_present(all, f, column))
                        continue;
                    const sn_marker_desc *d = sn_model_marker(m, j);
                    sn_vec3 p = sn_workspace_point(ws, d->joint, d->position);
                    double x[3];
                    sn_axis_map_point(&sn_take_about(t)->axes.map,
                                      sn_recording_frame(all, f) + 3 * (size_t)column, x);
                    double off = hypot(p.x - x[0], hypot(p.y - x[1], p.z - x[2]));
                    out->square += off * off;
                    out->worst = fmax(out->worst, off);
                    out->samples++;
                }
            }
        }
    out->holes += n;
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return good;
}

static bool row(const char *data, const bench_take *b, bool is_made) {
    char *model = bench_path(data, b->skeleton), *take = bench_path(data, b->take);
    figure body = {0};
    sn_recording *all = NULL;
    total sum = {0};
    uint64_t random = 1;
    bool good = load_figure(model, true, 0, &body) &&
                (all = is_made ? bench_made_recording(&body, take) : load_recording(take)) != NULL;
    for (int i = 0; good && i < ROUNDS; i++) {
        hole holes[AT_ONCE];
        sn_recording *seen = bench_copy_recording(all);
        sn_take *t = NULL;
        sn_take_options o = sn_take_options_default();
        o.model_up = body.up, o.model_up_sign = body.up_sign;
        int n = seen != NULL ? make_holes(seen, &random, holes) : 0;
        good = seen != NULL && sn_take_create(body.model, seen, &o, NULL, &t, NULL) == SN_OK &&
               sn_take_prepare(t) == SN_OK && sn_take_finish(t) == SN_OK &&
               measure(t, all, holes, n, &sum);
        sn_take_destroy(t);
        sn_recording_destroy(seen);
    }
    if (good && sum.samples > 0)
        printf("  %-34s %6d %8.1f %8.1f\n", strrchr(b->take, '/') + 1, sum.holes,
               100 * sqrt(sum.square / (double)sum.samples), 100 * sum.worst);
    (void)fflush(stdout);
    sn_recording_destroy(all);
    free_figure(&body);
    free(model);
    free(take);
    return good;
}

bool bench_fit_hidden(const char *data) {
    bool good = true;
    printf("\nLimbs hidden for half a second (arms, legs, forearms with hands, feet), calibration "
           "included: how far their\nmarkers are from where they were, cm\n  %-34s %6s %8s %8s\n",
           "take", "times", "RMS", "worst");
    for (int i = 0; i < bench_ntake; i++)
        if (!bench_takes[i].placed && bench_is_there(data, &bench_takes[i]))
            good = row(data, &bench_takes[i], false) && good;
    printf("  markers made from these motions, 2 cm about the usual places:\n");
    for (int i = 0; i < NMADE; i++)
        if (bench_is_there(data, &made[i])) good = row(data, &made[i], true) && good;
    return good;
}
