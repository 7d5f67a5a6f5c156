// SPDX-License-Identifier: MIT
// A goal that every start so far misses by little: beyond the reach, or within it by a posture that few starts lead to?
//
// Places where an arm rests beside such a goal are of two kinds: the arm is stretched (or folded), or a limit holds it.
// An arm without limits has only the first, and the same few of them from everywhere, so that it needs few starts to
// tell whether it gets there: those that do not get there fall with the exact Hessian, and when they end at a place that is
// not the goal, the goal is beyond the reach, for the arm with limits too. That settles most goals a hair beyond the reach.
//
// Else limits decide. Starts that differ as much as they can (spread.c) go there eight at a time in floats. The few that
// come to rest nearest to the goal fall, four at a time.
#include <string.h>

#include "arm/arm.h"

enum {
    LOOSE_FROM = 12,    ///< the first start of an arm without limits
    LOOSE_STEPS = 10,   ///< of its scouts
    LOOSE_FALLS = 20,   ///< of what they lead to
    STARTS = 40,        ///< with limits
    STARTS_SPARE = 24,  ///< of an arm with two joints to spare, which more of them lead to the goal
    STARTS_BEYOND = 16,  ///< for the nearest pose, where the goal is known to be beyond the reach
    STEPS = 12,          ///< of its scouts
    RESTS = 8,           ///< of what they lead to, so many fall
    RESTS_BEYOND = 4,    ///< where the goal is known to be beyond the reach
    FALL_STEPS = 12,
    FINISH_STEPS = 6
};

static const double pi = 3.141592653589793;
// as f: from where a scout is beside the goal, and at it; from where a fall may be at the goal, and is
static const float beside_f = 1e-4f, there_f = 1e-11f;
static const double close_f = 1e-5, goal_f = 4e-12;
// of what is left: what a fall must promise to go on, without limits and with; what it must win to count; what is equal
static const double loose_share = 0.1, share = 0.2, better = 0.5, same = 1.02;

typedef struct comb {
    sn_arm_search *s;
    double *q;    ///< the solution
    double *low;  ///< the nearest pose, as the kernels have it
    int starts, which[STARTS];
    int rests;   ///< how many of these fall
    int beside;  ///< how many there are, the nearest first
    float left[RESTS];
    double rest[RESTS][SN_ARM_MAX];
} comb;

bool sn_arm_search_can_comb(const sn_arm *arm) {
    return arm->seeds.table && arm->chain.hinges && sn_arm_search_can_fall(arm);
}

static void step8(const sn_arm *arm, const sn_arm_chain *c, sn_arm_state8 *x) {
    if (arm->avx2)
        sn_arm8_avx2_iterate(c, x, true, false);
    else
        sn_arm8_iterate(c, x, true, false);
}

static void set_goal(const sn_arm_search *s, sn_arm_state8 *x) {
    for (int i = 0; i < 12; i++) {
        const float g = (float)s->numbers[i];
        const float all[SN_ARM_SCOUTS] = {g, g, g, g, g, g, g, g};
        memcpy(x->goal[i], all, sizeof all);
    }
}

// What a scout has found, in doubles.
static bool finish(comb *w, float (*from)[SN_ARM_SCOUTS], int lane) {
    sn_arm_search *s = w->s;
    const sn_arm *arm = s->arm;
    const int n = arm->chain.n;
    sn_arm_state1 x;
    double found[SN_ARM_MAX], before = INFINITY;
    for (int j = 0; j < n; j++) x.q[j][0] = (double)from[j][lane];
    memcpy(x.goal, s->numbers, sizeof s->numbers);
    x.turn_tol = arm->turn_tol;
    x.place_tol = arm->place_tol;
    for (int it = 0; it < FINISH_STEPS; it++) {
        sn_arm1_iterate(&arm->chain, &x, true, false);
        s->iterations++;
        const bool there = x.turn[0] <= x.turn_tol && x.place[0] <= x.place_tol;
        const double f = x.place[0] + 0.25 * x.turn[0];
        if (there || f < SN_ARM_PLAIN_F) {
            for (int j = 0; j < n; j++) found[j] = there ? x.q[j][0] : x.next[j][0];
            if (sn_arm_search_arrives(s, there, found, NULL, w->q)) return true;
            if (there) return false;
        }
        if (!(f < 0.5 * before)) return false;
        before = f;
        for (int j = 0; j < n; j++) x.q[j][0] = x.next[j][0];
    }
    return false;
}

// --- without limits --------------------------------------------------------------------------------

// Does a pose of the kernels' numbers break no limit, by any turn?
static bool is_inside(const sn_arm_chain *c, const double *inner, double by) {
    double q[SN_ARM_MAX];
    sn_arm_chain_outward(c, inner, NULL, q);
    for (int j = 0; j < c->n; j++) {
        double off = q[j] - (inner[j] - c->shift[j]) * (c->length_of[j] ? c->unit : 1);
        if (c->turns[j]) off -= 2 * pi * floor(off / (2 * pi) + 0.5);
        if (fabs(off) > by) return false;
    }
    return true;
}

typedef enum loose { STAYS_OFF, GETS_THERE, ARRIVES } loose;

// Eight starts some steps towards the goal without limits; the best four. Where some get there, whether one of them
// breaks no limit.
static loose send_loose(comb *w, const sn_arm_chain *c, int from, double (*out)[SN_ARM_MAX]) {
    sn_arm_search *s = w->s;
    const sn_arm *arm = s->arm;
    const int n = c->n;
    sn_arm_state8 x;
    float left[SN_ARM_SCOUTS];
    loose result = STAYS_OFF;
    set_goal(s, &x);
    for (int l = 0; l < SN_ARM_SCOUTS; l++) {
        double inner[SN_ARM_MAX];
        (void)sn_arm_seed_at(&arm->seeds, &arm->chain, &s->key, from + l, inner);
        for (int j = 0; j < n; j++) x.q[j][l] = (float)inner[j];
    }
    s->seeds += SN_ARM_SCOUTS;
    for (int it = 0; it < LOOSE_STEPS && result == STAYS_OFF; it++) {
        if (it > 0) memcpy(x.q, x.next, (size_t)n * sizeof x.q[0]);
        step8(arm, c, &x);
        s->iterations++;
        for (int l = 0; l < SN_ARM_SCOUTS; l++) {
            left[l] = x.place[l] + 0.25f * x.turn[l];
            if (left[l] < there_f) result = GETS_THERE;
        }
    }
    for (int l = 0; l < SN_ARM_SCOUTS && result == GETS_THERE; l++) {
        double inner[SN_ARM_MAX];
        for (int j = 0; j < n; j++) inner[j] = (double)x.q[j][l];
        if (left[l] < there_f && is_inside(&arm->chain, inner, 1e-4) && finish(w, x.q, l))
            result = ARRIVES;
    }
    for (int k = 0; k < SN_ARM_LANES; k++) {
        int best = 0;
        for (int l = 1; l < SN_ARM_SCOUTS; l++) best = left[l] < left[best] ? l : best;
        for (int j = 0; j < n; j++) out[k][j] = (double)x.q[j][best];
        left[best] = INFINITY;
    }
    return result;
}

// Whether the arm gets to the goal without limits; those of slides count. What it comes to, as f, in `bound`. A pose
// inside the limits that is nearer than what is known is kept.
static loose try_loose(comb *w, double *bound) {
    sn_arm_search *s = w->s;
    const sn_arm_chain *c = &s->arm->chain;
    sn_arm_chain unbound = *c;
    bool free[SN_ARM_MAX];
    double start[SN_ARM_LANES][SN_ARM_MAX], low[SN_ARM_MAX];
    *bound = INFINITY;
    for (int j = 0; j < c->n; j++) free[j] = c->turns[j], unbound.round[j] = c->round[j] || free[j];
    // an arm without freedom to spare has postures that do not lead to each other
    const int goes = c->n > 6 ? 1 : 5;
    for (int go = 0; go < goes; go++) {
        const loose found = send_loose(w, &unbound, LOOSE_FROM + SN_ARM_SCOUTS * go, start);
        if (found != STAYS_OFF) return found;
        const double f = sn_arm_search_fall(s, start, LOOSE_FALLS, free, loose_share, 2, low);
        *bound = fmin(*bound, f);
        if (f < s->nearest && is_inside(c, low, 1e-9)) {
            s->nearest = f;
            memcpy(w->low, low, sizeof low);
        }
        if (f < goal_f) return GETS_THERE;
    }
    return STAYS_OFF;
}

// --- with limits -----------------------------------------------------------------------------------

// What a scout comes to, where it is beside the goal and among the nearest.
static void keep_rest(comb *w, const sn_arm_state8 *x, int lane) {
    const float f = x->place[lane] + 0.25f * x->turn[lane];
    if (!(f < (w->beside < RESTS ? beside_f : w->left[RESTS - 1]))) return;
    if (w->beside < RESTS) w->beside++;
    int at = w->beside - 1;
    for (; at > 0 && w->left[at - 1] > f; at--) {
        w->left[at] = w->left[at - 1];
        memcpy(w->rest[at], w->rest[at - 1], sizeof w->rest[at]);
    }
    w->left[at] = f;
    for (int j = 0; j < w->s->arm->chain.n; j++) w->rest[at][j] = (double)x->q[j][lane];
}

// Four of those that rest beside the goal: true when one of them leads to it.
static bool fall_four(comb *w, double (*rest)[SN_ARM_MAX]) {
    sn_arm_search *s = w->s;
    double low[SN_ARM_MAX];
    const double f = sn_arm_search_fall(s, rest, FALL_STEPS, NULL, share, SN_ARM_LANES, low);
    if (!(f < s->nearest)) return false;
    const bool look = f < close_f && f < better * s->nearest;
    s->nearest = f;
    memcpy(w->low, low, sizeof low);
    if (!look) return false;
    sn_arm_search_nearest(s, low, SN_ARM_NEARER_STEPS, w->q);
    if (sn_arm_search_left(s, w->q, &s->nearest)) return true;
    sn_arm_chain_inward(&s->arm->chain, w->q, w->low);
    return false;
}

// Eight starts inside the limits; the last ones may be the same.
static void set_starts(comb *w, int from, sn_arm_state8 *x) {
    sn_arm_search *s = w->s;
    const sn_arm *arm = s->arm;
    for (int l = 0; l < SN_ARM_SCOUTS; l++) {
        double inner[SN_ARM_MAX];
        const int k = from + l < w->starts ? from + l : w->starts - 1;
        (void)sn_arm_spread_at(&arm->seeds, &arm->chain, &s->key, w->which[k], inner);
        sn_arm_search_clamp(&arm->chain, inner);
        for (int j = 0; j < arm->chain.n; j++) x->q[j][l] = (float)inner[j];
        s->seeds += from + l < w->starts;
    }
}

// Eight starts towards the goal: true when one gets there.
static bool send(comb *w, int from, sn_arm_state8 *x) {
    sn_arm_search *s = w->s;
    const sn_arm *arm = s->arm;
    const int n = arm->chain.n;
    bool done[SN_ARM_SCOUTS] = {false};
    set_starts(w, from, x);
    for (int it = 0; it < STEPS; it++) {
        if (it > 0) memcpy(x->q, x->next, (size_t)n * sizeof x->q[0]);
        step8(arm, &arm->chain, x);
        s->iterations++;
        for (int l = 0; l < SN_ARM_SCOUTS; l++) {
            if (done[l] || !(x->place[l] + 0.25f * x->turn[l] < there_f)) continue;
            if (finish(w, x->next, l)) return true;
            done[l] = true;
        }
    }
    for (int l = 0; l < SN_ARM_SCOUTS && from + l < w->starts; l++) keep_rest(w, x, l);
    return false;
}

static bool comb_through(comb *w) {
    sn_arm_state8 x;
    set_goal(w->s, &x);
    for (int from = 0; from < w->starts; from += SN_ARM_SCOUTS) {
        if (sn_arm_search_late(w->s)) return false;
        if (send(w, from, &x)) return true;
    }
    // the last four may be the same
    for (int k = w->beside; k > 0 && k % SN_ARM_LANES != 0; k++)
        memcpy(w->rest[k], w->rest[0], sizeof w->rest[k]);
    for (int k = 0; k < w->beside && k < w->rests; k += SN_ARM_LANES)
        if (fall_four(w, w->rest + k)) return true;
    return false;
}

bool sn_arm_search_comb(sn_arm_search *s, int most, double *low, double *q) {
    const sn_arm *arm = s->arm;
    comb w = {.s = s, .q = q, .low = low};
    double bound;
    const loose found = try_loose(&w, &bound);
    const bool beyond = found == STAYS_OFF;
    if (found == ARRIVES) return true;
    // what it got to may break no limit
    if (!beyond && s->nearest < goal_f) {
        sn_arm_search_nearest(s, low, SN_ARM_NEARER_STEPS, q);
        if (sn_arm_search_left(s, q, &s->nearest)) return true;
    }
    // with limits an arm gets no nearer than without
    if (beyond && s->nearest <= same * bound) return false;
    int left = most - s->seeds;
    w.starts = beyond ? STARTS_BEYOND : arm->chain.n > 7 ? STARTS_SPARE : STARTS;
    w.rests = beyond ? RESTS_BEYOND : RESTS;
    if (w.starts > left) w.starts = left > 0 ? left : 0;
    w.starts = sn_arm_spread(&arm->seeds, &arm->chain, arm->avx2, &s->key, w.starts, w.which);
    return comb_through(&w);
}
