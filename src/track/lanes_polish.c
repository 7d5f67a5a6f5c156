// SPDX-License-Identifier: MIT
// Every pose once more, between its neighbours.
//
// Where markers determine a joint they alone decide. Some directions, such as one vertebra against the next,
// they leave open: noise decides there, and the pose trembles. So every joint is drawn to the middle of its
// neighbours, by so little that it is nothing beside what markers say of a joint that they determine, and much beside
// what holds one that they leave open. Before that such joints are led half way to that middle a few times, which costs
// next to nothing: solving puts right what markers determine, and what they leave open stays calm.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/model.h"
#include "track/lanes.h"

enum { POLISH = 64 };

// The pull: a share of how well a degree of freedom is seen, and never more than this, at 120 frames a second (a
// marker 0.2 m from its joint weighs 0.04). Joints one upon another that goals hardly tell apart, such as vertebrae,
// get all of the share: what noise moves there is one against the next, which leaves the goals where they are.
static const double share = 0.2, most = 2e-3;

static void copy(const sn_lanes *l, double *to, const double *from) {
    memcpy(to, from, l->nq * sizeof *to);
}

// The weights of the pull, so many times as strong as usual.
static void find_weights(sn_lanes *l, double times) {
    double rate = sn_lane_rate(l) / 120, limit = most * rate * rate * times;
    for (size_t v = 0; v < l->nv; v++) {
        double all = share * l->full[v] * times;
        l->bind[v] = l->loose[v] ? all : fmin(all, limit);
    }
    // where the figure is is always seen: nothing to be smoothed there
    const sn_joint *root = &l->model->joint[0];
    for (int i = 0; i < root->nv; i++) l->bind[root->v0 + i] = 0;
}

// The middle of the neighbours: on the cubic through those at 1 and 3 frames to both sides, which no motion is far from,
// where the straight line would cut every corner. All are of the other half of the frames.
static void find_middle(const sn_lanes *l, sn_lane_worker *w, int f, double *middle) {
    const double *a = sn_lane_pose(l, f - 1), *b = sn_lane_pose(l, f + 1);
    sn_model_difference(l->model, a, b, w->delta);
    for (size_t v = 0; v < l->nv; v++) w->delta[v] *= 0.5;
    sn_model_integrate(l->model, a, w->delta, middle);
    if (l->corners || f < 3 || f + 3 >= l->nframe) return;
    sn_model_difference(l->model, middle, sn_lane_pose(l, f - 3), w->delta);
    sn_model_difference(l->model, middle, sn_lane_pose(l, f + 3), w->weight);
    for (size_t v = 0; v < l->nv; v++) w->delta[v] = -(w->delta[v] + w->weight[v]) / 16;
    sn_model_integrate(l->model, middle, w->delta, w->room);
    copy(l, middle, w->room);
}

// Every other frame of a block, where there are marks only those.
static sn_status next_polished(sn_lanes *l, sn_lane_worker *w, sn_lane_side *s) {
    do {
        if (s->frame >= 0 && s->frame + 2 < s->end) {
            s->frame += 2;
            continue;
        }
        int block = sn_lane_next_item(l, w), first = block * POLISH;
        s->frame = -1;
        if (block < 0) return SN_OK;
        s->end = POLISH < l->nframe - first ? first + POLISH : l->nframe;
        // the last block may have no odd one
        s->frame = first + l->odd < s->end ? first + l->odd : -1;
    } while (s->frame < 0 || (l->restless != NULL && !l->restless[s->frame]));
    // the first and the last only go to the bottom of their valleys
    bool inner = s->frame > 0 && s->frame + 1 < l->nframe;
    copy(l, s->start, sn_lane_pose(l, s->frame));
    if (inner)
        find_middle(l, w, s->frame, s->rest);
    else
        copy(l, s->rest, s->start);
    memcpy(s->own_weight, inner ? l->bind : l->hold, l->nv * sizeof *s->own_weight);
    (void)sn_lane_keep_hidden(l, s);
    s->weight = s->own_weight;
    return SN_OK;
}

static void took_polished(sn_lanes *l, sn_lane_worker *w, sn_lane_side *s) {
    copy(l, sn_lane_pose(l, s->frame), w->q);
}

static sn_status sweep(sn_lanes *l) {
    static const sn_lane_source source = {next_polished, took_polished, true};
    for (l->odd = 0; l->odd < 2; l->odd++)
        SN_TRY(sn_lanes_aside(l, &source, (l->nframe + POLISH - 1) / POLISH));
    return SN_OK;
}

// --- before it -------------------------------------------------------------------------------------

// Times, at 120 frames a second; as long in seconds at other rates, and never more than this.
static const double eased = 8, most_eased = 12;

static void ease_frame(sn_lanes *l, int f) {
    double *q = sn_lane_pose(l, f);
    const double *a = q - l->nq, *b = q + l->nq;
    if (f == 0 || f + 1 == l->nframe) return;
    for (int k = 1; k < l->model->njoint; k++) {
        const sn_joint *j = &l->model->joint[k];
        if (j->ops->quaternion >= 0) continue;
        for (int i = 0; i < j->nv; i++) {
            int at = j->q0 + i;
            if (l->loose[j->v0 + i]) q[at] += 0.25 * (a[at] + b[at] - 2 * q[at]);
        }
    }
}

static sn_status ease_block(sn_lanes *l, int block, int odd) {
    int first = block * POLISH, end = POLISH < l->nframe - first ? first + POLISH : l->nframe;
    for (int f = first + odd; f < end; f += 2) ease_frame(l, f);
    return SN_OK;
}
static sn_status ease_even(sn_lanes *l, sn_lane_worker *w, int i) {
    (void)w;
    return ease_block(l, i, 0);
}
static sn_status ease_odd(sn_lanes *l, sn_lane_worker *w, int i) {
    (void)w;
    return ease_block(l, i, 1);
}

static sn_status ease(sn_lanes *l) {
    double rate = sn_lane_rate(l) / 120, times = fmin(eased * rate * rate, most_eased);
    const sn_model *m = l->model;
    int blocks = (l->nframe + POLISH - 1) / POLISH;
    // what hangs together by more than joints does not stay together so
    if (m->nloop > 0 || m->ncoupling > 0 || m->ncone > 0) return SN_OK;
    for (int i = 0; i < (int)(times + 0.5); i++) {
        SN_TRY(sn_lanes_run(l, ease_even, blocks));
        SN_TRY(sn_lanes_run(l, ease_odd, blocks));
    }
    return SN_OK;
}

// --- where joints still leap ---------------------------------------------------------------------

// A leap is a turn as fast as this, rad/s; so many seconds about it are calmed, with weights that grow from round
// to round.
static const double leap_speed = 2100 * 0x1.1df46a2529d39p-6, calmed = 0.07, grows = 4;
enum { ROUNDS = 5, SWEEPS = 2 };

static int mark_leaps(sn_lanes *l) {
    sn_lane_worker *w = &l->workers[0];
    double limit = leap_speed / sn_lane_rate(l);
    int reach = (int)(calmed * sn_lane_rate(l)) + 2, count = 0;
    memset(l->restless, 0, (size_t)l->nframe * sizeof *l->restless);
    for (int f = 1; f < l->nframe; f++) {
        double turned;
        (void)sn_lane_turn(l, w, sn_lane_pose(l, f - 1), sn_lane_pose(l, f), &turned);
        if (turned <= limit) continue;
        count++;
        for (int k = f - reach; k < f + reach; k++)
            if (k >= 0 && k < l->nframe) l->restless[k] = true;
    }
    return count;
}

// What is left of leaps after polishing is where a whole limb may turn against the next joint with hardly a cost:
// there, and only there, the middle of the neighbours counts for more.
static sn_status calm(sn_lanes *l) {
    double times = 1;
    l->restless = sn_acquire(&l->allocator, (size_t)l->nframe * sizeof *l->restless);
    if (l->restless == NULL) return SN_ERR_MEMORY;
    sn_status status = SN_OK;
    for (int i = 0; i < ROUNDS && status == SN_OK && mark_leaps(l) > 0; i++) {
        times *= grows;
        find_weights(l, times);
        for (int k = 0; k < SWEEPS && status == SN_OK; k++) status = sweep(l);
    }
    sn_release(&l->allocator, l->restless);
    l->restless = NULL;
    return status;
}

sn_status sn_lanes_polish(sn_lanes *l, int sweeps) {
    SN_TRY(ease(l));
    find_weights(l, 1);
    for (int i = 0; i < sweeps; i++) {
        l->corners = i + 1 < sweeps;
        SN_TRY(sweep(l));
    }
    return calm(l);
}
