// SPDX-License-Identifier: MIT
// Samples that are wrong for a while lose their weight.
//
// A marker that comes off, is hit, or is taken for another is wrong for some frames. Two things point to it: it
// is much further from the figure than it usually is and than its fellows are; or it leaps away and later back
// again, which a marker that alone shows a joint does without leaving the figure, as the joint follows it. Either
// is a suspicion only: the frames are followed again without the marker, and if it then is where no skin moves to,
// it stays without a weight there. Else everything is as before.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/order.h"
#include "math/vec3.h"
#include "model/joint.h"
#include "sweeps/workspace.h"
#include "take/drift.h"

enum { BLOCK = 64, ROUNDS = 3, SAMPLES = 1024, MOST_FOLLOWED = 2000, SHORT = 4 };
enum { DROPPED = 1, TESTED = 2, TRIED = 4 };

// Suspected: further off than this, metres, and than so many times what is usual for the marker.
static const double suspect_off = 0.1, suspect_times = 6;
// Wrong: the same, once the figure is followed without it.
static const double wrong_off = 0.12, wrong_times = 6;
// The same where it comes and goes slowly: skin on a raised shoulder is that far from the bone.
static const double wrong_slowly = 0.25;
// Wrong whatever is usual, where a stretch is too long to be followed again.
static const double thrown = 0.12;
// A marker that has leapt is so much of its leap away, once the figure is followed without it; and so much at least where
// it is by how it comes and goes that it is elsewhere.
static const double back_share = 0.6, least_share = 0.35;
// Seconds: left out beside what is wrong; between suspects that are one.
static const double around = 0.02, joined = 0.15;

typedef struct gate {
    sn_fitting *f;
    int nmarker, count, reach;
    int followed;  // frames, on trial; where samples are thrown all the time there is a bound to it
    double rate;
    float *off;     // count x nmarker: metres from the figure, NAN where unseen
    double *usual;  // nmarker: median of that
    double *leaps;  // nmarker: what is a leap, metres
    double *poses;  // window x nq: to go back to
    double *cost;   // window
} gate;

static float *off_of(const gate *g, int frame) {
    return g->off + (size_t)frame * (size_t)g->nmarker;
}
static unsigned char *mark_of(const gate *g, int frame, int marker) {
    return g->f->dropped + (size_t)frame * (size_t)g->nmarker + (size_t)marker;
}

// --- how far markers are off -----------------------------------------------------------------------

static sn_status measure_frame(const gate *g, sn_workspace *ws, int frame) {
    const sn_fit_input *in = &g->f->input;
    float *off = off_of(g, frame);
    SN_TRY(sn_workspace_pose(ws, sn_motion_frame(g->f->motion, frame)));
    for (int i = 0; i < g->nmarker; i++) {
        double goal[3];
        const sn_marker_desc *m = sn_model_marker(in->model, i);
        off[i] = NAN;
        if (!sn_fit_goal(in, i, in->first + frame, goal)) continue;
        off[i] =
            (float)v3_norm(v3_sub(v3_from(goal), sn_workspace_point(ws, m->joint, m->position)));
    }
    return SN_OK;
}

static sn_status measure_block(sn_lanes *l, sn_lane_worker *w, int block) {
    const gate *g = l->extra;
    int first = block * BLOCK, end = BLOCK < g->count - first ? first + BLOCK : g->count;
    for (int f = first; f < end; f++) SN_TRY(measure_frame(g, w->ws, f));
    return SN_OK;
}

// The median over frames first ... last, every step-th; NAN when none shows the marker.
static double median_off(const gate *g, int marker, int first, int last, int step) {
    float value[SAMPLES];
    size_t n = 0;
    for (int f = first; f <= last && n < SAMPLES; f += step)
        if (!isnan(off_of(g, f)[marker])) value[n++] = off_of(g, f)[marker];
    if (n == 0) return (double)NAN;
    qsort(value, n, sizeof value[0], sn_by_value_float);
    return (double)value[n / 2];
}

// --- a suspicion -----------------------------------------------------------------------------------

static void mark(const gate *g, int marker, int first, int last, unsigned char bits) {
    for (int f = first; f <= last; f++) *mark_of(g, f, marker) |= bits;
}

static void note_wrong(const gate *g, int first, int last) {
    for (int f = first; f <= last; f++) g->f->wrong[f] = true;
}

// Does a marker say something of a joint: the one it sits on, two above, and all below?
static bool concerns(const sn_model *m, int marker, int joint) {
    int at = sn_model_marker(m, marker)->joint, up = at;
    for (int i = 0; i < 3 && up >= 0; i++, up = sn_model_parent(m, up))
        if (up == joint) return true;
    for (int j = joint; j >= 0; j = sn_model_parent(m, j))
        if (j == at) return true;
    return false;
}

// What a marker says nothing of stays where it was, as far as the other markers let it: they decided that before.
static sn_status keep_others(const gate *g, int marker, int frame, const double *before) {
    sn_lanes *l = &g->f->lanes;
    sn_lane_worker *w = &l->workers[0];
    const sn_model *m = g->f->input.model;
    double *pose = sn_lane_pose(l, frame);
    memcpy(w->trial, before, l->nq * sizeof *w->trial);
    for (int j = 0; j < sn_model_njoint(m); j++) {
        int q = sn_model_q_index(m, j);
        size_t n = (size_t)sn_joint_ops_of(sn_model_joint(m, j)->type)->nq;
        if (concerns(m, marker, j)) memcpy(w->trial + q, pose + q, n * sizeof *pose);
    }
    SN_TRY(l->goals(l->user, frame, w->problem));
    memcpy(w->q, w->trial, l->nq * sizeof *w->q);
    SN_TRY(sn_lane_solve(l, w, frame, w->trial, &l->f[frame]));
    memcpy(pose, w->q, l->nq * sizeof *pose);
    return SN_OK;
}

// Follow frames again without a marker. go_back() takes it back.
static sn_status follow_without(gate *g, int marker, int a, int b) {
    sn_lanes *l = &g->f->lanes;
    const size_t n = (size_t)(b - a) + 1;
    g->followed += b - a + 1;
    memcpy(g->poses, sn_lane_pose(l, a), n * l->nq * sizeof *g->poses);
    memcpy(g->cost, l->f + a, n * sizeof *g->cost);
    for (int f = a; f <= b; f++)
        if ((*mark_of(g, f, marker) & DROPPED) == 0) *mark_of(g, f, marker) |= DROPPED | TRIED;
    SN_TRY(sn_lanes_again(l, a, b));
    for (int f = a; f <= b; f++)
        SN_TRY(keep_others(g, marker, f, g->poses + (size_t)(f - a) * l->nq));
    for (int f = a; f <= b; f++) SN_TRY(measure_frame(g, l->workers[0].ws, f));
    return SN_OK;
}

static void give_back(const gate *g, int marker, int first, int last) {
    for (int f = first; f <= last; f++)
        if (*mark_of(g, f, marker) & TRIED)
            *mark_of(g, f, marker) &= (unsigned char)~(DROPPED | TRIED);
}

static void keep_without(const gate *g, int marker, int first, int last) {
    for (int f = first; f <= last; f++) *mark_of(g, f, marker) &= (unsigned char)~TRIED;
}

static sn_status go_back(gate *g, int marker, int a, int b) {
    sn_lanes *l = &g->f->lanes;
    const size_t n = (size_t)(b - a) + 1;
    give_back(g, marker, a, b);
    memcpy(sn_lane_pose(l, a), g->poses, n * l->nq * sizeof *g->poses);
    memcpy(l->f + a, g->cost, n * sizeof *g->cost);
    for (int f = a; f <= b; f++) SN_TRY(measure_frame(g, l->workers[0].ws, f));
    return SN_OK;
}

static bool may_follow(const gate *g, int n) {
    return n <= g->f->lanes.window && g->followed <= MOST_FOLLOWED + g->count / 4;
}

// The same of a stretch that is suspected; it stays without a weight where it then is further off than `need`.
static sn_status test(gate *g, int marker, int first, int last, double need, bool *found) {
    // what is thrown is back at once
    int reach = last - first < SHORT ? 0 : g->reach;
    int a = first - reach > 0 ? first - reach : 0;
    int b = last + reach < g->count ? last + reach : g->count - 1;
    mark(g, marker, first, last, TESTED);
    if (!may_follow(g, b - a + 1)) {
        // where samples are thrown all the time the poses are right but for a little: polishing does it
        double off = median_off(g, marker, first, last, (last - first) / SAMPLES + 1);
        if (!(off > fmax(thrown, need))) return SN_OK;
        mark(g, marker, a, b, DROPPED);
        note_wrong(g, a, b);
        *found = true;
        return SN_OK;
    }
    for (int f = a; f <= b; f++)
        if (*mark_of(g, f, marker) & DROPPED) return SN_OK;
    SN_TRY(follow_without(g, marker, a, b));
    double off = median_off(g, marker, first, last, (last - first) / SAMPLES + 1);
    if (!(off > need)) return go_back(g, marker, a, b);
    keep_without(g, marker, a, b);
    note_wrong(g, a, b);
    *found = true;
    return SN_OK;
}

// --- leaps -----------------------------------------------------------------------------------------

// Follow frames again with a marker that was left out and is right.
static sn_status take_back(gate *g, int marker, int first, int last) {
    sn_lanes *l = &g->f->lanes;
    for (int f = first; f <= last; f++)
        if ((*mark_of(g, f, marker) & TESTED) == 0)
            *mark_of(g, f, marker) &= (unsigned char)~DROPPED;
    // where that happens all the time polishing does it
    if (!may_follow(g, last - first + 1)) return SN_OK;
    g->followed += last - first + 1;
    SN_TRY(sn_lanes_again(l, first, last));
    for (int f = first; f <= last; f++) SN_TRY(measure_frame(g, l->workers[0].ws, f));
    return SN_OK;
}

// How far a marker leaps against the figure between two frames, both solved without it: where skin and the figure's
// faults have it stays out of it. 0 where that cannot be seen.
static sn_status leap_of(const gate *g, int marker, int as, int a, int b, double *out) {
    const sn_fit_input *in = &g->f->input;
    double goal[3];
    sn_vec3 x, y;
    *out = 0;
    if (a < 0 || b >= g->count || !sn_fit_goal(in, marker, in->first + a, goal) ||
        !sn_fit_goal(in, marker, in->first + b, goal))
        return SN_OK;
    SN_TRY(sn_fit_off_without(g->f, marker, as, a, &x));
    SN_TRY(sn_fit_off_without(g->f, marker, as, b, &y));
    *out = v3_norm(v3_sub(x, y));
    return SN_OK;
}

// Is a marker elsewhere in a stretch: mostly, or by how it comes and goes?
static sn_status is_elsewhere(const gate *g, int marker, int first, int last, double need,
                              bool *out) {
    double there, back;
    const double off = median_off(g, marker, first, last, (last - first) / SAMPLES + 1);
    *out = off > need;
    // at few frames a second a fast one seems to leap, and without it its limb does
    if (*out || !(off > least_share / back_share * need)) return SN_OK;
    SN_TRY(leap_of(g, marker, first, first - 1, first, &there));
    SN_TRY(leap_of(g, marker, first, last, last + 1, &back));
    *out = there > need && back > need;
    return SN_OK;
}

static unsigned char marks_of(const gate *g, int marker, int first, int last) {
    unsigned char marks = 0;
    for (int f = first; f <= last; f++) marks |= *mark_of(g, f, marker);
    return marks;
}

// Markers that leap away and back again were left out from the beginning. One that is no further from its place than
// that, and does not leap against the figure, only was fast.
static sn_status test_leaps(gate *g, int marker, sn_fit_leap *leaps, bool *found) {
    int n = sn_fit_find_leaps(&g->f->input, marker, leaps);
    for (int i = 0; i < n; i++) {
        int first = leaps[i].first, last = leaps[i].last;
        double need = back_share * leaps[i].size;
        bool elsewhere;
        const unsigned char some = marks_of(g, marker, first, last);
        if ((some & DROPPED) == 0) {
            SN_TRY(test(g, marker, first, last, need, found));
            continue;
        }
        SN_TRY(is_elsewhere(g, marker, first, last, need, &elsewhere));
        if (elsewhere) {
            note_wrong(g, first, last);
            mark(g, marker, first, last, TESTED);
            *found = true;
        } else {
            SN_TRY(take_back(g, marker, first, last));
        }
    }
    return SN_OK;
}

// --- markers far off -------------------------------------------------------------------------------

// The marker of a frame that is furthest off against what is usual for it; -1 when none is suspect.
static int suspect_in(const gate *g, int frame) {
    int worst = -1;
    double most = 1;
    for (int i = 0; i < g->nmarker; i++) {
        double off = (double)off_of(g, frame)[i];
        if (isnan(off) || *mark_of(g, frame, i) != 0) continue;
        double share = off / fmax(suspect_off, suspect_times * g->usual[i]);
        if (share > most) most = share, worst = i;
    }
    return worst;
}

// Does a marker leap, come or go near a frame?
static bool is_sudden(const gate *g, int marker, int frame) {
    for (int f = frame - g->reach - 2; f <= frame + g->reach + 2; f++) {
        double d;
        if (f < 2 || f >= g->count) continue;
        if (!sn_fit_leap_at(&g->f->input, marker, f, &d) || d > g->leaps[marker]) return true;
    }
    return false;
}

static sn_status test_far(gate *g, int marker, const int *suspect, bool *found) {
    int gap = (int)(joined * g->rate) + 1, first = -1, last = -1;
    for (int f = 0; f <= g->count; f++) {
        bool hit = f < g->count && suspect[f] == marker;
        if (hit) {
            if (first < 0) first = f;
            last = f;
        }
        if (first < 0 || (f < g->count && f - last <= gap)) continue;
        bool now = false, sudden = is_sudden(g, marker, first) || is_sudden(g, marker, last);
        SN_TRY(test(g, marker, first, last,
                    fmax(sudden ? wrong_off : wrong_slowly, wrong_times * g->usual[marker]), &now));
        *found |= now;
        first = -1;
    }
    return SN_OK;
}

static sn_status round_of(gate *g, int *suspect, bool *found) {
    *found = false;
    for (int f = 0; f < g->count; f++) suspect[f] = suspect_in(g, f);
    for (int i = 0; i < g->nmarker; i++) SN_TRY(test_far(g, i, suspect, found));
    return SN_OK;
}

// A marker that is wrong all the time has a usual of its own: none counts beyond three times the others'.
static void bound_usual(gate *g) {
    double middle = INFINITY;
    for (int i = 0; i < g->nmarker; i++) {
        int below = 0;
        for (int k = 0; k < g->nmarker; k++) below += g->usual[k] <= g->usual[i];
        if (2 * below >= g->nmarker) middle = fmin(middle, g->usual[i]);
    }
    for (int i = 0; i < g->nmarker; i++) g->usual[i] = fmin(g->usual[i], 3 * middle);
}

// --- markers that go off slowly ----------------------------------------------------------------------

static sn_status test_piece(gate *g, sn_drifts *drifts, sn_drift *x, bool *found) {
    const int a = x->first, b = x->last;
    bool wrong;
    if (!may_follow(g, b - a + 1)) return SN_OK;
    SN_TRY(follow_without(g, x->marker, a, b));
    SN_TRY(sn_drifts_judge(drifts, x, &wrong));
    if (!wrong) return go_back(g, x->marker, a, b);
    if (x->first > a) give_back(g, x->marker, a, x->first - 1);
    if (x->last < b) give_back(g, x->marker, x->last + 1, b);
    keep_without(g, x->marker, x->first, x->last);
    mark(g, x->marker, x->first, x->last, TESTED);
    note_wrong(g, x->first, x->last);
    *found = true;
    // the others were drawn along by it
    return sn_drifts_look(drifts, x, a, b);
}

// A long one by as much at a time as can be followed.
static sn_status test_drift(gate *g, sn_drifts *drifts, const sn_drift *x, bool *found) {
    const int window = g->f->lanes.window, count = x->last - x->first + 1,
              pieces = (count + window - 1) / window;
    for (int k = 0; k < pieces; k++) {
        sn_drift piece = *x;
        piece.first = x->first + (int)((int64_t)count * k / pieces);
        piece.last = x->first + (int)((int64_t)count * (k + 1) / pieces) - 1;
        SN_TRY(test_piece(g, drifts, &piece, found));
    }
    return SN_OK;
}

static sn_status test_drifts(gate *g, bool *found) {
    sn_drifts *drifts;
    sn_drift one;
    sn_status status = sn_drifts_open(g->f, &drifts);
    while (status == SN_OK && !sn_cancelled(g->f->lanes.options.cancel) &&
           sn_drifts_next(drifts, &one))
        status = test_drift(g, drifts, &one, found);
    sn_drifts_close(drifts);
    return status;
}

// --- all of it -------------------------------------------------------------------------------------

static sn_status run(gate *g, int *suspect, sn_fit_leap *leaps, bool *any) {
    sn_lanes *l = &g->f->lanes;
    bool found;
    const unsigned char *known = g->f->input.wrong;
    l->extra = g;
    // nothing is asked of what an earlier fit has found
    for (size_t i = 0; known != NULL && i < (size_t)g->count * (size_t)g->nmarker; i++)
        if (known[i]) g->f->dropped[i] |= TESTED, *any = true;
    SN_TRY(sn_lanes_run(l, measure_block, (g->count + BLOCK - 1) / BLOCK));
    if (sn_cancelled(l->options.cancel)) return SN_OK;
    for (int i = 0; i < g->nmarker; i++) {
        g->usual[i] = median_off(g, i, 0, g->count - 1, g->count / SAMPLES + 1);
        if (isnan(g->usual[i])) g->usual[i] = 0;
        g->leaps[i] = sn_fit_leap_least(&g->f->input, i);
    }
    bound_usual(g);
    for (int i = 0; i < g->nmarker && !sn_cancelled(l->options.cancel); i++)
        SN_TRY(test_leaps(g, i, leaps, any));
    for (int round = 0; round < ROUNDS; round++) {
        SN_TRY(round_of(g, suspect, &found));
        *any |= found;
        if (!found || sn_cancelled(l->options.cancel)) break;
    }
    if (!sn_cancelled(l->options.cancel)) SN_TRY(test_drifts(g, any));
    return SN_OK;
}

// The stretches that came of it, in the order of markers.
static void list_off(const gate *g) {
    sn_fitting *f = g->f;
    for (int i = 0; i < g->nmarker; i++)
        for (int k = 0, first = -1; k <= g->count; k++) {
            bool off = k < g->count && (*mark_of(g, k, i) & DROPPED);
            if (off && first < 0) first = k;
            if (off || first < 0) continue;
            sn_fit_off one = {.marker = i, .first = first, .last = k - 1};
            for (int m = first; m < k; m++)
                if (!isnan(off_of(g, m)[i])) one.worst = fmax(one.worst, (double)off_of(g, m)[i]);
            if (f->noff < SN_FIT_MOST_OFF) f->off[f->noff++] = one;
            first = -1;
        }
}

sn_status sn_fit_gate(sn_fitting *f) {
    const sn_allocator *allocator = &f->allocator;
    double rate = sn_recording_about(f->input.recording)->rate;
    gate g = {.f = f,
              .nmarker = sn_model_nmarker(f->input.model),
              .count = f->input.count,
              .rate = fmin(rate > 0 ? rate : 120, 1e6)};
    size_t count = (size_t)g.count, n = (size_t)g.nmarker + 1, window = (size_t)f->lanes.window + 1;
    g.reach = (int)(around * g.rate) + 1;
    g.off = sn_acquire(allocator, count * n * sizeof *g.off);
    g.usual = sn_acquire(allocator, n * sizeof *g.usual);
    g.leaps = sn_acquire(allocator, n * sizeof *g.leaps);
    g.poses = sn_acquire(allocator, window * f->lanes.nq * sizeof *g.poses);
    g.cost = sn_acquire(allocator, window * sizeof *g.cost);
    int *suspect = sn_acquire(allocator, count * sizeof *suspect);
    sn_fit_leap *leaps = sn_acquire(allocator, count * sizeof *leaps);
    sn_status status = SN_ERR_MEMORY;
    bool any = false;
    if (g.off != NULL && g.usual != NULL && g.leaps != NULL && g.poses != NULL && g.cost != NULL &&
        suspect != NULL && leaps != NULL)
        status = run(&g, suspect, leaps, &any);
    if (status == SN_OK && any) list_off(&g);
    sn_release(allocator, leaps);
    sn_release(allocator, suspect);
    sn_release(allocator, g.cost);
    sn_release(allocator, g.poses);
    sn_release(allocator, g.leaps);
    sn_release(allocator, g.usual);
    sn_release(allocator, g.off);
    return status;
}
