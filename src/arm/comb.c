// SPDX-License-Identifier: MIT
// A goal that every start so far misses by little: beyond the reach, or within it by a posture that few starts lead to?
//
// Places where an arm rests beside such a goal are of two kinds: the arm is stretched (or folded), or a limit holds it.
// An arm without limits has only the first, and the same few of them from everywhere, so that it needs few starts to
// tell whether it gets there: starts fall with the exact Hessian, and when they agree on a place that is not the goal,
// the goal is beyond the reach, for the arm with limits too. That settles most goals a hair beyond the reach.
//
// Else limits decide. Starts are many then and each is cheap: eight at a time in floats, those first that the table keeps
// for goals like it. Those that come to rest beside the goal fall a few steps, four at a time, and what does not get below
// what is known is dropped.
#include <string.h>

#include "arm/arm.h"

enum {
    LOOK_AFTER = 8,
    MOST_STEPS = 24,
    FINISH_STEPS = 6,
    LOOSE_FROM = 12,   ///< the first start of an arm without limits
    LOOSE_STEPS = 5,   ///< of its scouts
    LOOSE_FALLS = 30,  ///< of what they lead to
    KEPT = 128,        ///< starts of the table
    MORE = 96,         ///< and of the sequence
    KEPT_BEYOND =
        32,  ///< starts of the table for the nearest pose to a goal that is known to be beyond the reach
    FALL_STEPS = 12  ///< of what rests beside the goal
};

static const double pi = 3.141592653589793;
static const float far_f = 0.05f, there_f = 1e-8f;
// as f: from where a rest beside the goal is looked at; from where it may be the goal; what is at the goal
static const double beside_f = 1e-4, close_f = 1e-5, goal_f = 4e-12;
// of what is left: what a fall must promise to go on, without limits and with; what it must win to count
static const double loose_share = 0.1, share = 0.2, better = 0.5;

typedef struct comb {
    sn_arm_search *s;
    double *q;    ///< the solution
    double *low;  ///< the nearest pose, as the kernels have it
    int kept, which[KEPT];
    int at;           ///< of them, the next
    int next, until;  ///< starts of the sequence
    int beside;
    double rest[SN_ARM_LANES][SN_ARM_MAX];
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
    for (int i = 0; i < 12; i++)
        for (int l = 0; l < SN_ARM_SCOUTS; l++) x->goal[i][l] = (float)s->numbers[i];
}

// --- without limits --------------------------------------------------------------------------------

// Does a pose of the kernels' numbers break no limit, by any turn?
static bool is_inside(const sn_arm_chain *c, const double *inner) {
    double q[SN_ARM_MAX];
    sn_arm_chain_outward(c, inner, NULL, q);
    for (int j = 0; j < c->n; j++) {
        double off = q[j] - (inner[j] - c->shift[j]) * (c->length_of[j] ? c->unit : 1);
        if (c->turns[j]) off -= 2 * pi * floor(off / (2 * pi) + 0.5);
        if (fabs(off) > 1e-9) return false;
    }
    return true;
}

// Eight starts some steps towards the goal without limits; the best four.
static void send_loose(sn_arm_search *s, const bool *loose, int from, double (*out)[SN_ARM_MAX]) {
    const sn_arm *arm = s->arm;
    const int n = arm->chain.n;
    sn_arm_chain c = arm->chain;
    sn_arm_state8 x;
    float left[SN_ARM_SCOUTS];
    for (int j = 0; j < n; j++) c.round[j] = c.round[j] || loose[j];
    set_goal(s, &x);
    for (int l = 0; l < SN_ARM_SCOUTS; l++) {
        double inner[SN_ARM_MAX];
        (void)sn_arm_seed_at(&arm->seeds, &arm->chain, &s->key, from + l, inner);
        for (int j = 0; j < n; j++) x.q[j][l] = (float)inner[j];
    }
    for (int it = 0; it < LOOSE_STEPS; it++) {
        if (it > 0) memcpy(x.q, x.next, (size_t)n * sizeof x.q[0]);
        step8(arm, &c, &x);
    }
    for (int l = 0; l < SN_ARM_SCOUTS; l++) left[l] = x.place[l] + 0.25f * x.turn[l];
    for (int k = 0; k < SN_ARM_LANES; k++) {
        int best = 0;
        for (int l = 1; l < SN_ARM_SCOUTS; l++) best = left[l] < left[best] ? l : best;
        for (int j = 0; j < n; j++) out[k][j] = (double)x.q[j][best];
        left[best] = INFINITY;
    }
}

// Whether the goal is beyond the reach of the arm without limits; those of slides count. What it comes to, as f, in
// `bound`. A pose inside the limits that is nearer than what is known is kept.
static bool is_beyond(comb *w, double *bound) {
    sn_arm_search *s = w->s;
    const sn_arm_chain *c = &s->arm->chain;
    bool loose[SN_ARM_MAX];
    double start[SN_ARM_LANES][SN_ARM_MAX], low[SN_ARM_MAX];
    *bound = INFINITY;
    for (int j = 0; j < c->n; j++) loose[j] = c->turns[j];
    // an arm without freedom to spare has postures that do not lead to each other
    const int goes = c->n > 6 ? 1 : 6;
    for (int go = 0; go <= goes; go++) {
        if (go > 0) {
            send_loose(s, loose, LOOSE_FROM + SN_ARM_SCOUTS * (go - 1), start);
            s->seeds += SN_ARM_SCOUTS, s->iterations += LOOSE_STEPS;
        }
        const double f = sn_arm_search_fall(s, go > 0 ? start : s->best_q, LOOSE_FALLS, loose,
                                            loose_share, 2, low);
        *bound = fmin(*bound, f);
        if (f < s->nearest && is_inside(c, low)) {
            s->nearest = f;
            memcpy(w->low, low, sizeof low);
        }
        if (f < goal_f) return false;
    }
    return true;
}

// --- with limits -----------------------------------------------------------------------------------

typedef struct tooth {
    int steps;
    float before;
    bool live;
} tooth;

static bool next_start(comb *w, double *inner) {
    const sn_arm *arm = w->s->arm;
    if (w->at < w->kept)
        (void)sn_arm_kept_at(&arm->seeds, &arm->chain, &w->s->key, w->which[w->at++], inner);
    else if (w->next < w->until)
        (void)sn_arm_seed_at(&arm->seeds, &arm->chain, &w->s->key, w->next++, inner);
    else
        return false;
    sn_arm_search_clamp(&arm->chain, inner);
    return true;
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

// Those that rest beside the goal: true when one of them leads to it.
static bool fall_four(comb *w) {
    sn_arm_search *s = w->s;
    double low[SN_ARM_MAX];
    for (int l = w->beside; l < SN_ARM_LANES; l++)
        memcpy(w->rest[l], w->rest[0], sizeof w->rest[0]);
    w->beside = 0;
    const double f = sn_arm_search_fall(s, w->rest, FALL_STEPS, NULL, share, 1, low);
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

// A scout after a step: whether it goes on. What it comes to is looked at.
static bool goes_on(comb *w, tooth *t, sn_arm_state8 *x, int l, bool *arrived) {
    const int n = w->s->arm->chain.n;
    const float f = x->place[l] + 0.25f * x->turn[l];
    t->steps++;
    if (f < there_f) {
        *arrived = finish(w, x->next, l);
        if (*arrived || (double)f > w->s->nearest) return false;
    } else if (t->steps < LOOK_AFTER ||
               (f <= far_f && f <= 0.5f * t->before && t->steps < MOST_STEPS)) {
        t->before = f;
        for (int j = 0; j < n; j++) x->q[j][l] = x->next[j][l];
        return true;
    }
    if ((double)f < beside_f) {
        for (int j = 0; j < n; j++) w->rest[w->beside][j] = (double)x->q[j][l];
        *arrived = ++w->beside == SN_ARM_LANES && fall_four(w);
    }
    return false;
}

static bool comb_through(comb *w) {
    sn_arm_search *s = w->s;
    const sn_arm *arm = s->arm;
    tooth teeth[SN_ARM_SCOUTS] = {{0}};
    sn_arm_state8 x;
    int live = 0;
    set_goal(s, &x);
    memset(x.q, 0, (size_t)arm->chain.n * sizeof x.q[0]);
    for (int round = 0;; round++) {
        for (int l = 0; l < SN_ARM_SCOUTS; l++) {
            double inner[SN_ARM_MAX];
            // where no start is left, a lane's numbers go on and nobody looks at them
            if (teeth[l].live || !next_start(w, inner)) continue;
            for (int j = 0; j < arm->chain.n; j++) x.q[j][l] = (float)inner[j];
            teeth[l] = (tooth){0, INFINITY, true};
            live++;
            s->seeds++;
        }
        if (live == 0) return w->beside > 0 && fall_four(w);
        if ((round & 7) == 7 && sn_arm_search_late(s)) return false;
        step8(arm, &arm->chain, &x);
        s->iterations++;
        for (int l = 0; l < SN_ARM_SCOUTS; l++) {
            bool arrived = false;
            if (!teeth[l].live || goes_on(w, &teeth[l], &x, l, &arrived)) continue;
            if (arrived) return true;
            teeth[l].live = false;
            live--;
        }
    }
}

bool sn_arm_search_comb(sn_arm_search *s, int from, int most, double *low, double *q) {
    const sn_arm *arm = s->arm;
    comb w = {.s = s, .q = q, .low = low};
    double bound;
    const bool beyond = is_beyond(&w, &bound);
    // with limits an arm gets no nearer than without
    if (beyond && s->nearest <= 1.02 * bound) return false;
    int left = most - s->seeds;
    w.kept = beyond ? KEPT_BEYOND : KEPT;
    if (w.kept > left) w.kept = left > 0 ? left : 0;
    left -= w.kept;
    w.kept = sn_arm_kept_near(&arm->seeds, &arm->chain, &s->key, w.kept, w.which);
    w.next = from;
    w.until = beyond ? from : from + (left < MORE ? left : MORE);
    return comb_through(&w);
}
