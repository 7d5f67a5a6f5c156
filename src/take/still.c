// SPDX-License-Identifier: MIT
// The static trial: which frames it is, and whether it can be one of this take.
//
// The same markers on the same person are as far apart on a bone in the trial as in the take, and the same
// way round; and who stands keeps all distances, those between bones as well. What differs there is another person's, of
// another size, mirrored, or moves, and a calibration that believes it turns joints by tens of degrees while the
// markers fit.
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "math/exp.h"
#include "math/order.h"
#include "math/vec3.h"
#include "take/take.h"

static bool shows_something(const sn_fit_input *in) {
    int n = 0;
    for (int f = 0; f < in->count && n < 3; f++) {
        n = 0;
        for (int i = 0; i < sn_model_nmarker(in->model); i++)
            n += in->column[i] >= 0 &&
                 sn_recording_present(in->recording, in->first + f, in->column[i]);
    }
    return n >= 3;
}

bool sn_take_has_still(const sn_take_options *o) {
    return o->still != NULL || o->still_first != INT64_MIN || o->still_last != INT64_MAX;
}

sn_status sn_take_find_still(sn_take *t, int *column, sn_fit_input *out) {
    const sn_take_options *o = &t->options;
    bool own = o->still == NULL;
    *out = (sn_fit_input){0};
    if (!sn_take_has_still(o)) return SN_OK;
    *out = t->input;
    out->model = t->limited;
    out->recording = own ? t->input.recording : o->still;
    if (!own) {
        (void)sn_fit_match(t->limited, o->still, NULL, column);
        out->column = column;
    }
    const sn_recording_info *info = sn_recording_about(out->recording);
    int64_t from = info->first_frame, to = from + info->nframe - 1;
    int64_t first = o->still_first > from ? o->still_first : from,
            last = o->still_last < to ? o->still_last : to;
    out->first = (int)(first - from);
    out->count = first <= last ? (int)(last - first + 1) : 0;
    if (shows_something(out)) return SN_OK;
    SN_TRY(sn_take_note(t, SN_FINDING_STATIC_UNFIT, NULL, (double)from, (double)to));
    sn_finding *f = &t->finding[t->nfinding - 1];
    f->has_frames = first > last;
    f->first = o->still_first;
    f->last = o->still_last;
    return SN_ERR_VALUE;
}

// --- distances -----------------------------------------------------------------------------------

enum { LOOKED_AT = 50, MOST_PAIRS = 2048 };  // frames, spread over a trial; pairs of markers

// Two markers in a recording: their mean distance, 0 where they are never seen together, and its standard deviation.
static double apart_in(const sn_fit_input *in, int a, int b, double *change) {
    const int step = in->count / LOOKED_AT + 1;
    double sum = 0, square = 0, x[3], y[3];
    int n = 0;
    *change = 0;
    for (int f = in->first; f < in->first + in->count; f += step) {
        if (!sn_fit_goal(in, a, f, x) || !sn_fit_goal(in, b, f, y)) continue;
        double d = v3_norm(v3_sub(v3_from(x), v3_from(y)));
        sum += d;
        square += d * d;
        n++;
    }
    if (n == 0) return 0;
    *change = sqrt(fmax(square / n - sum / n * (sum / n), 0));
    return sum / n;
}

static int joint_of(const sn_fit_input *in, int marker) {
    return sn_model_marker(in->model, marker)->joint;
}

// Of n numbers, which it puts in order, the one that `share` of them lie below.
static double quantile(double *x, int n, double share) {
    qsort(x, (size_t)n, sizeof *x, sn_by_value);
    return x[(int)(share * (n - 1))];
}

// Logarithms of how much further apart markers of one bone are in the trial; the number of pairs.
static int compare_bones(const sn_fit_input *take, const sn_fit_input *still, double *out) {
    const int nmarker = sn_model_nmarker(take->model);
    int n = 0;
    for (int i = 0; i < nmarker; i++)
        for (int k = i + 1; k < nmarker && n < MOST_PAIRS; k++) {
            double unused;
            if (joint_of(take, i) != joint_of(take, k)) continue;
            double a = apart_in(take, i, k, &unused), b = apart_in(still, i, k, &unused);
            if (a > 0 && b > 0) out[n++] = sn_log(b / a);
        }
    return n;
}

// Beyond these it is no trial of this take, whatever else it is.
static const double still_below = 0.85, still_above = 1.18;

// Of one person and unit the median distance is the same within 0.7 %, and each pair's within 1 to 2.4 % (the median; subject4,
// gait2354, HDM05's dg with markers put on anew); persons differ by 8 % and more (HDM05's and CMU's).
static const double other_size = 0.03, other_places = 0.045;

static sn_status check_size(sn_take *t, const sn_fit_input *still) {
    enum { LEAST = 4 };
    double ratio[MOST_PAIRS];
    const int n = compare_bones(&t->input, still, ratio);
    if (n < LEAST) return SN_OK;
    const double middle = sn_exp(quantile(ratio, n, 0.5));
    for (int i = 0; i < n; i++) ratio[i] = fabs(ratio[i]);
    const double apart = quantile(ratio, n, 0.5);
    if (middle < still_below || middle > still_above)
        return sn_take_refuse(t, SN_FINDING_STATIC_SIZE, NULL, middle, 0);
    if (fabs(middle - 1) < other_size && apart < other_places) return SN_OK;
    return sn_take_note(t, SN_FINDING_STATIC_DIFFERS, NULL, middle, apart);
}

// Nine in ten distances between markers of different bones change by less, metres: who stands sways by 0.1 to 0.8 cm (subject4,
// gait2354, HDM05, CMU), who sets off changes them by 2.6 cm, who walks by 4 to 20.
static const double stands = 0.02;

static sn_status check_moves(sn_take *t, const sn_fit_input *still) {
    const long long nmarker = sn_model_nmarker(t->model);
    const long long step = nmarker * (nmarker - 1) / 2 / MOST_PAIRS + 1;
    double change[MOST_PAIRS];
    long long pair = 0;
    int n = 0;
    for (int i = 0; i < nmarker; i++)
        for (int k = i + 1; k < nmarker; k++, pair++) {
            if (pair % step != 0 || joint_of(still, i) == joint_of(still, k)) continue;
            if (apart_in(still, i, k, &change[n]) > 0) n++;
        }
    if (n == 0) return SN_OK;
    const double most = quantile(change, n, 0.9);
    return most < stands ? SN_OK : sn_take_note(t, SN_FINDING_STATIC_MOVES, NULL, most, 0);
}

// --- handedness ----------------------------------------------------------------------------------

// A tetrahedron of markers keeps its handedness as long as none of them passes through the plane of the others. Where all of
// them are this far from it, metres, no noise turns it over.
static const double deep = 0.03;

// 1 or -1: the handedness of four markers, the same in all frames that were looked at; 0: none, or a flat one.
static int hand_in(const sn_fit_input *in, const int m[4]) {
    enum { FRAMES = 10 };
    const int step = in->count / FRAMES + 1;
    int hand = 0;
    for (int f = in->first; f < in->first + in->count; f += step) {
        double x[4][3];
        sn_vec3 d[3];
        bool seen = true;
        for (int k = 0; k < 4; k++) seen = seen && sn_fit_goal(in, m[k], f, x[k]);
        if (!seen) continue;
        for (int k = 0; k < 3; k++) d[k] = v3_sub(v3_from(x[k + 1]), v3_from(x[0]));
        const sn_vec3 side[4] = {v3_cross(d[0], d[1]), v3_cross(d[1], d[2]), v3_cross(d[2], d[0]),
                                 v3_cross(v3_sub(d[1], d[0]), v3_sub(d[2], d[0]))};
        double volume = v3_dot(d[2], side[0]), largest = 0;
        for (int k = 0; k < 4; k++) largest = fmax(largest, v3_norm(side[k]));
        const int now = volume > 0 ? 1 : -1;
        if (!(fabs(volume) > deep * largest) || now == -hand) return 0;
        hand = now;
    }
    return hand;
}

// Markers that both have; how many.
static int common_markers(const sn_fit_input *take, const sn_fit_input *still, int *out, int most) {
    int n = 0;
    for (int i = 0; i < sn_model_nmarker(take->model) && n < most; i++)
        if (take->column[i] >= 0 && still->column[i] >= 0) out[n++] = i;
    return n;
}

// Most tetrahedra over a body go the other way round only in a mirror.
static sn_status check_mirror(sn_take *t, const sn_fit_input *still) {
    enum { MOST = 256, DRAWN = 3000, LEAST = 20 };
    int marker[MOST], same = 0, other = 0;
    const int n = common_markers(&t->input, still, marker, MOST);
    uint64_t random = 1;
    for (int i = 0; i < DRAWN && n >= 4; i++) {
        int m[4];
        for (int k = 0; k < 4; k++) m[k] = marker[(int)(sn_random(&random) * n)];
        const int hand = hand_in(still, m);  // 0 where a marker was drawn twice
        if (hand == 0) continue;
        const int product = hand * hand_in(&t->input, m);
        same += product > 0;
        other += product < 0;
    }
    if (same + other < LEAST || other <= same) return SN_OK;
    return sn_take_note(t, SN_FINDING_STATIC_MIRRORED, NULL, (double)other / (same + other), 0);
}

sn_status sn_take_check_still(sn_take *t, const sn_fit_input *still) {
    SN_TRY(check_moves(t, still));
    // frames of the take itself are the same body's
    if (t->options.still == NULL) return SN_OK;
    SN_TRY(check_mirror(t, still));
    return check_size(t, still);
}
