// SPDX-License-Identifier: MIT
// A goal that the first start missed: within reach by another posture, or beyond the reach?
//
// Sixteen starts inside the limits go there first, in floats. What they come to, four at a time, falls with the exact
// Hessian. Where that stays off by little, one must tell a goal a hair beyond the reach from one that few starts lead to.
// Places where an arm rests beside such a goal are of two kinds: the arm is stretched (or folded), or a limit holds it.
// An arm without limits has only the first, and the same few of them from everywhere, so that it needs few starts to
// tell whether it gets there: those that do not get there fall too, and when they end at a place that is not the goal,
// the goal is beyond the reach, for the arm with limits too. That settles most goals a hair beyond the reach.
//
// Else limits decide, and seldom all of them. Those that the arm without limits breaks on its way are taken in, and more
// scouts go with these alone; where they came to before is brought inside all limits and falls beside them. An arm with
// some of its limits gets no farther than one with all, so that where both come to the same, a hair from the goal, the
// goal is beyond the reach. If that does not tell, starts that differ as much as they can (spread.c) go there with all
// limits, and the few that come to rest nearest to the goal fall.
#include <string.h>

#include "arm/arm.h"

enum {
    FIRST_FROM = SN_ARM_CELL_SEEDS,  ///< the first start of scouts; those before go in doubles,
    FIRST_LANE_STEPS = 8,            ///< at most so far
    FIRST_HELD = 8,                  ///< of the first sixteen scouts, those inside the limits
    FIRST_STEPS = 10,                ///< of all of them
    LOOSE_FROM = 12,                 ///< the first start of an arm without limits
    LOOSE_MORE = 2,     ///< times sixteen more such scouts, for an arm without freedom to spare
    LOOSE_FALLS = 20,   ///< steps of what they lead to
    TOGETHER = 3,       ///< of eight, with limits and without, that come to the same place: enough
    CONFIRM_STEPS = 8,  ///< of a fall where the goal seems to be beyond the reach
    ROUNDS = 3,         ///< times sixteen scouts that have some of the limits
    SINGULAR_STARTS = 28,    ///< of such an arm, where it stays off by next to nothing
    STARTS = SN_ARM_SPREAD,  ///< with limits, where they decide
    STARTS_BEYOND = 16,  ///< for the nearest pose, where the goal is known to be beyond the reach
    NEAR_EVERY = 2,  ///< the second sixteen: of the kept postures nearest to the goal, every other
    STEPS = 14,      ///< of their scouts, as long as one still comes nearer
    LOOK_AFTER = 8,  ///< from this one on
    RESTS = 8,       ///< of what they lead to, so many fall
    RESTS_BEYOND = 4,  ///< where the goal is known to be beyond the reach
    FALL_STEPS = 12,
    NEARER_STEPS = 10
};

static const double pi = 3.141592653589793;
// as f: from where a scout is beside the goal, and at it; up to where it may be on its way, and how fast it must come
// nearer to go on
static const float beside_f = 1e-4f, there_f = 1e-11f, far_f = 1e-2f, slow = 0.3f;
// from where a goal may be within reach; from where the arm with some of its limits tells; from where a fall may be at it,
// most likely is, and is
static const double maybe_f = 1e-2, hair_f = 1e-4;
static const double close_f = 1e-5, at_f = 1e-9, at_goal_f = 1e-11, goal_f = 4e-12;
// from where it may be beside a singular pose, and is if it has not come to rest: what is left of f after more steps then
static const double singular_f = 1e-8, creeps_f = 2e-11, rests_by = 0.99;
// of what is left: what a fall must promise to go on, of the first starts, without limits, and with; what it must win to
// count; what is equal, and alike
static const double first_share = 0.05, loose_share = 0.1, share = 0.2, better = 0.5, same = 1.02,
                    alike = 2;

typedef struct comb {
    sn_arm_search *s;
    double *q;    ///< the solution
    double *low;  ///< the nearest pose, as the kernels have it
    bool free
        [SN_ARM_MAX];  ///< variables whose limits do not count where limits do not; those of slides do
    sn_arm_scouts x;
    float left[SN_ARM_TROOP];              ///< of the scouts, as f
    bool gets_there;                       ///< one of them that has no limits
    double bound;                          ///< what is left without limits, as f
    bool all_free;                         ///< none of the limits counted there
    double out[SN_ARM_LANES][SN_ARM_MAX];  ///< where some came to without limits
    int outs;                              ///< how many
} comb;

bool sn_arm_search_can_comb(const sn_arm *arm) {
    return arm->seeds.table && arm->chain.hinges && sn_arm_search_can_fall(arm);
}

// --- scouts ----------------------------------------------------------------------------------------

static void from_lane(const sn_arm_chain *c, float (*from)[SN_ARM_TROOP], int lane, double *q) {
    for (int j = 0; j < c->n; j++) q[j] = (double)from[j][lane];
}

// A scout at start number `which` of spread.c.
static void set_scout(comb *w, int lane, int which, bool held) {
    sn_arm_search *s = w->s;
    const sn_arm_chain *c = &s->arm->chain;
    double inner[SN_ARM_MAX];
    (void)sn_arm_spread_at(&s->arm->seeds, c, &s->key, which, inner);
    if (held) sn_arm_search_clamp(c, inner);
    for (int j = 0; j < c->n; j++) {
        const bool free = c->round[j] || (!held && w->free[j]);
        w->x.q[j][lane] = (float)inner[j];
        w->x.lower[j][lane] = free ? -INFINITY : (float)c->lower[j];
        w->x.upper[j][lane] = free ? INFINITY : (float)c->upper[j];
    }
}

// Does a pose of the kernels' numbers break a limit, by any turn? Those it breaks no longer are free where `take`.
static bool breaks(comb *w, const double *inner, double by, bool take) {
    const sn_arm_chain *c = &w->s->arm->chain;
    double q[SN_ARM_MAX];
    bool outside = false;
    sn_arm_chain_outward(c, inner, NULL, q);
    for (int j = 0; j < c->n; j++) {
        double off = q[j] - (inner[j] - c->shift[j]) * (c->length_of[j] ? c->unit : 1);
        if (c->turns[j]) off -= 2 * pi * floor(off / (2 * pi) + 0.5);
        if (!(fabs(off) > by)) continue;
        outside = true;
        if (take) w->free[j] = false;
    }
    return outside;
}

// A scout is at the goal. One without limits may be outside of them; one inside that does not arrive is left to the falls.
static bool arrives(comb *w, int lane, bool held) {
    const sn_arm_chain *c = &w->s->arm->chain;
    double inner[SN_ARM_MAX];
    from_lane(c, w->x.next, lane, inner);
    if (held || !breaks(w, inner, 1e-4, false))
        return sn_arm_search_newton(w->s, &sn_arm_finish, inner, NULL, w->q);
    if (w->outs < SN_ARM_LANES) memcpy(w->out[w->outs++], inner, sizeof inner);
    w->gets_there = true;
    return false;
}

// Scouts some steps towards the goal, the first `held` of them inside the limits: true when one gets there.
static bool send(comb *w, int count, int held, int steps) {
    sn_arm_search *s = w->s;
    const size_t rows = (size_t)s->arm->chain.n * sizeof w->x.q[0];
    bool done[SN_ARM_TROOP] = {false};
    bool more = true;
    for (int l = 0; l < count; l++) w->left[l] = INFINITY;
    s->seeds += count;
    for (int it = 0; it < steps && more; it++) {
        if (it > 0) memcpy(w->x.q, w->x.next, rows);
        sn_arm_search_scout(s->arm, &s->arm->chain, &w->x, count, true, false);
        s->iterations++;
        more = it + 1 < LOOK_AFTER;
        for (int l = 0; l < count; l++) {
            const float f = w->x.place[l] + 0.25f * w->x.turn[l], before = w->left[l];
            w->left[l] = f;
            more = more || (f < far_f && f < slow * before);
            if (done[l] || !(f < there_f)) continue;
            if (arrives(w, l, l < held)) return true;
            done[l] = true;
        }
        if (held == 0 && w->gets_there) break;
    }
    return false;
}

// The best of some scouts, `count` of them.
static void best_scouts(comb *w, int from, int until, int count, double (*out)[SN_ARM_MAX],
                        float *left) {
    for (int k = 0; k < count; k++) {
        int best = from;
        for (int l = from + 1; l < until; l++) best = w->left[l] < w->left[best] ? l : best;
        from_lane(&w->s->arm->chain, w->x.q, best, out[k]);
        left[k] = w->left[best];
        w->left[best] = INFINITY;
    }
}

// Where scouts came to rest beside the goal, the nearest first.
typedef struct rests {
    int count;
    float left[RESTS];
    double q[RESTS][SN_ARM_MAX];
} rests;

static void keep_rest(comb *w, int lane, rests *r) {
    const float f = w->left[lane];
    if (!(f < (r->count < RESTS ? beside_f : r->left[RESTS - 1]))) return;
    if (r->count < RESTS) r->count++;
    int at = r->count - 1;
    for (; at > 0 && r->left[at - 1] > f; at--) {
        r->left[at] = r->left[at - 1];
        memcpy(r->q[at], r->q[at - 1], sizeof r->q[at]);
    }
    r->left[at] = f;
    from_lane(&w->s->arm->chain, w->x.q, lane, r->q[at]);
}

// --- falls -----------------------------------------------------------------------------------------

static void take_lower(comb *w, const sn_arm_fall *fall) {
    if (!(fall->f < w->s->nearest)) return;
    w->s->nearest = fall->f;
    memcpy(w->low, fall->q, SN_ARM_MAX * sizeof *w->low);
}

static sn_arm_fall fall_held(double (*start)[SN_ARM_MAX], double *low) {
    return (sn_arm_fall){
        .start = start, .steps = FALL_STEPS, .share = first_share, .agree = 2, .q = low};
}

static sn_arm_fall fall_loose(const comb *w, double (*start)[SN_ARM_MAX], double *low) {
    return (sn_arm_fall){.start = start,
                         .steps = LOOSE_FALLS,
                         .loose = w->free,
                         .share = loose_share,
                         .agree = 2,
                         .enough = goal_f,
                         .q = low};
}

// Where an arm without limits came to. A pose inside the limits that is nearer than what is known is kept.
static void end_loose(comb *w, const sn_arm_fall *fall) {
    w->bound = fmin(w->bound, fall->f);
    if (!breaks(w, fall->q, 1e-9, false)) take_lower(w, fall);
    if (fall->f < goal_f) w->gets_there = true;
}

// Four fall inside the limits and, unless one of them is at the goal, four of those that have none. `enough`: what the
// former need not get below.
static void fall_both(comb *w, double (*held)[SN_ARM_MAX], double (*loose)[SN_ARM_MAX],
                      double enough) {
    double low[2][SN_ARM_MAX];
    sn_arm_fall fall[2] = {fall_held(held, low[0]), fall_loose(w, loose, low[1])};
    const int count = w->gets_there ? 1 : 2;
    fall[0].enough = enough, fall[0].together = count == 2 ? TOGETHER : 0, fall[1].end = w->out;
    sn_arm_search_fall(w->s, fall, count);
    take_lower(w, &fall[0]);
    if (count == 2) end_loose(w, &fall[1]), w->outs = SN_ARM_LANES;
}

// Whether the nearest pose is at the goal.
static bool at_goal(comb *w) {
    if (!(w->s->nearest < at_goal_f)) return false;
    sn_arm_search_nearest(w->s, w->low, SN_ARM_NEARER_STEPS, w->q);
    return sn_arm_search_left(w->s, w->q, &w->s->nearest);
}

// The first scouts; true when one gets there.
static bool send_first(comb *w, int held) {
    for (int l = 0; l < SN_ARM_TROOP; l++)
        set_scout(w, l, SN_ARM_ALL_KEPT + (l < held ? FIRST_FROM + l : LOOSE_FROM + l - held),
                  l < held);
    return send(w, SN_ARM_TROOP, held, FIRST_STEPS);
}

// What the first scouts came to, with limits and without. False when the goal is far from what can be reached.
static bool fall_first(comb *w, int held) {
    double start[2][SN_ARM_LANES][SN_ARM_MAX], low[SN_ARM_MAX];
    float least = INFINITY, left[SN_ARM_WIDE];
    for (int l = 0; l < held; l++) least = w->left[l] < least ? w->left[l] : least;
    best_scouts(w, 0, held, SN_ARM_LANES, start[0], left);
    // the table's starts may have come nearer
    for (int l = 0; l < SN_ARM_LANES; l++) {
        if (!(w->s->best[l] < (double)left[l])) continue;
        memcpy(start[0][l], w->s->best_q[l], sizeof start[0][l]);
        least = fminf(least, (float)w->s->best[l]);
    }
    best_scouts(w, held, SN_ARM_TROOP, SN_ARM_LANES, start[1], left);
    if ((double)least < maybe_f) {
        fall_both(w, start[0], start[1], 0);
        return true;
    }
    sn_arm_fall fall = fall_held(start[0], low);
    sn_arm_search_fall(w->s, &fall, 1);
    take_lower(w, &fall);
    if (!(w->s->nearest < maybe_f)) return false;
    if (w->gets_there) return true;
    fall = fall_loose(w, start[1], low);
    fall.end = w->out;
    sn_arm_search_fall(w->s, &fall, 1);
    end_loose(w, &fall), w->outs = SN_ARM_LANES;
    return true;
}

// More starts of an arm without limits: true when one arrives. One without freedom to spare has postures that do not lead
// to each other.
static bool try_loose(comb *w) {
    rests r = {0};
    double low[2][SN_ARM_MAX];
    for (int go = 0; go < LOOSE_MORE && !w->gets_there; go++) {
        const int from = SN_ARM_ALL_KEPT + LOOSE_FROM + SN_ARM_SCOUTS + SN_ARM_TROOP * go;
        for (int l = 0; l < SN_ARM_TROOP; l++) set_scout(w, l, from + l, false);
        if (send(w, SN_ARM_TROOP, 0, FIRST_STEPS)) return true;
        for (int l = 0; l < SN_ARM_TROOP; l++) keep_rest(w, l, &r);
    }
    if (w->gets_there || r.count == 0) return false;
    for (int k = r.count; k < SN_ARM_WIDE; k++) memcpy(r.q[k], r.q[0], sizeof r.q[k]);
    sn_arm_fall fall[2] = {fall_loose(w, r.q, low[0]), fall_loose(w, r.q + SN_ARM_LANES, low[1])};
    fall[0].together = TOGETHER;
    sn_arm_search_fall(w->s, fall, 2);
    end_loose(w, &fall[0]);
    end_loose(w, &fall[1]);
    return false;
}

// The nearest pose may be beside a singular one at the goal, which doubles come to in the end where there is no freedom to
// go round it. One that rests is not.
static bool try_singular(comb *w, int most) {
    sn_arm_search *s = w->s;
    const double before = s->nearest;
    if (!(before < singular_f)) return false;
    s->nearest = sn_arm_search_fall_on(s, NEARER_STEPS, w->low);
    if (s->nearest > rests_by * before && s->nearest > creeps_f) return false;
    return sn_arm_search_lanes(s, 0, most < SINGULAR_STARTS ? most : SINGULAR_STARTS,
                               SN_ARM_LANE_STEPS, NULL, w->q);
}

// --- some limits -----------------------------------------------------------------------------------

// With limits an arm gets no nearer than without: where both come to the same, no posture gets there.
static bool is_beyond(const comb *w) {
    return !w->gets_there && w->s->nearest <= same * w->bound &&
           (w->all_free || w->bound <= alike * w->s->nearest);
}

// The next sixteen of the starts that differ, without the limits that are free: true when one gets there.
static bool send_loose(comb *w, int from) {
    const uint16_t *which = w->s->arm->seeds.spread[w->s->key.cell];
    w->outs = 0;
    for (int l = 0; l < SN_ARM_TROOP; l++) set_scout(w, l, which[from + l], false);
    return send(w, SN_ARM_TROOP, 0, FIRST_STEPS);
}

// Limits that the arm without them breaks count from now on. Where it came to is brought inside all limits and falls on,
// beside what scouts come to that have those limits.
static bool take_in(comb *w, int from) {
    sn_arm_search *s = w->s;
    double held[SN_ARM_LANES][SN_ARM_MAX], loose[SN_ARM_LANES][SN_ARM_MAX];
    float left[SN_ARM_LANES];
    // inside the limits nothing gets nearer than what is left without
    const double least = w->gets_there || s->nearest <= same * w->bound ? 0 : w->bound;
    for (int l = 0; l < SN_ARM_LANES; l++) {
        memcpy(held[l], w->out[l < w->outs ? l : 0], sizeof held[l]);
        (void)breaks(w, held[l], 1e-9, true);
        sn_arm_search_clamp(&s->arm->chain, held[l]);
    }
    w->gets_there = w->all_free = false, w->bound = INFINITY;
    if (send_loose(w, from)) return true;
    best_scouts(w, 0, SN_ARM_TROOP, SN_ARM_LANES, loose, left);
    fall_both(w, held, loose, same * least);
    if (s->nearest <= same * least) w->bound = least, w->gets_there = false;
    return at_goal(w);
}

// Others may get there yet: more scouts, and what they come to falls a few steps inside the limits.
static bool confirm(comb *w, int from) {
    double start[SN_ARM_WIDE][SN_ARM_MAX], low[2][SN_ARM_MAX];
    float left[SN_ARM_WIDE];
    if (send_loose(w, from)) return true;
    best_scouts(w, 0, SN_ARM_TROOP, SN_ARM_WIDE, start, left);
    sn_arm_fall fall[2] = {fall_held(start, low[0]), fall_held(start + SN_ARM_LANES, low[1])};
    for (int g = 0; g < 2; g++)
        fall[g].steps = CONFIRM_STEPS, fall[g].share = share, fall[g].enough = goal_f;
    fall[0].together = TOGETHER;
    sn_arm_search_fall(w->s, fall, 2);
    take_lower(w, &fall[0]);
    take_lower(w, &fall[1]);
    return at_goal(w);
}

// Starts that have nothing to do with the goal, inside the limits: true when one gets there. Where the table's lead nowhere,
// one of fifteen such does, more or less.
static bool try_anywhere(comb *w, int most) {
    enum { FROM = SN_ARM_ALL_KEPT + SN_ARM_CELL_SEEDS + SN_ARM_NEAREST };
    if (most - w->s->seeds < SN_ARM_TROOP) return false;
    for (int l = 0; l < SN_ARM_TROOP; l++) set_scout(w, l, FROM + l, true);
    return send(w, SN_ARM_TROOP, SN_ARM_TROOP, FIRST_STEPS);
}

// Limits are taken in as they are broken, until the goal is reached (true), is held to be beyond the reach, or is neither.
static bool comb_loosely(comb *w, int most) {
    for (int go = 0; go < ROUNDS && !is_beyond(w); go++) {
        if (most - w->s->seeds < 2 * SN_ARM_TROOP || sn_arm_search_late(w->s)) return false;
        if (take_in(w, SN_ARM_TROOP * go)) return true;
        if (is_beyond(w) && confirm(w, SN_ARM_TROOP * (go + 1))) return true;
        if (go > 0 && is_beyond(w) && try_anywhere(w, most)) return true;
    }
    return false;
}

// --- with limits -----------------------------------------------------------------------------------

// The first so many of them down: true when one of them leads to the goal.
static bool fall_rests(comb *w, rests *r, int most) {
    sn_arm_search *s = w->s;
    double low[RESTS / SN_ARM_LANES][SN_ARM_MAX];
    sn_arm_fall fall[RESTS / SN_ARM_LANES];
    int count = 0;
    // the last four may be the same
    for (int k = r->count; k > 0 && k % SN_ARM_LANES != 0; k++)
        memcpy(r->q[k], r->q[0], sizeof r->q[k]);
    for (int k = 0; k < r->count && k < most; k += SN_ARM_LANES, count++)
        fall[count] = (sn_arm_fall){.start = r->q + k,
                                    .steps = FALL_STEPS,
                                    .share = share,
                                    .agree = SN_ARM_LANES,
                                    .q = low[count]};
    sn_arm_search_fall(s, fall, count);
    for (int k = 0; k < count; k++) {
        const bool look = fall[k].f < close_f && fall[k].f < better * s->nearest;
        take_lower(w, &fall[k]);
        if (!look) continue;
        sn_arm_search_nearest(s, w->low, SN_ARM_NEARER_STEPS, w->q);
        if (sn_arm_search_left(s, w->q, &s->nearest)) return true;
        sn_arm_chain_inward(&s->arm->chain, w->q, w->low);
    }
    return false;
}

// Starts that differ: true when one gets there.
static bool comb_through(comb *w, int most, bool beyond) {
    sn_arm_search *s = w->s;
    const sn_arm *arm = s->arm;
    const uint16_t *which = arm->seeds.spread[s->key.cell];
    int near[NEAR_EVERY * SN_ARM_TROOP];
    int starts = beyond ? STARTS_BEYOND : STARTS;
    rests r = {0};
    if (starts > most - s->seeds) starts = most - s->seeds;
    if (starts <= 0) return false;
    for (int from = 0; from < starts; from += SN_ARM_TROOP) {
        const int count = starts - from < SN_ARM_TROOP ? starts - from : SN_ARM_TROOP;
        if (sn_arm_search_late(s)) return false;
        const int kept = from == SN_ARM_TROOP ? sn_arm_kept_near(&arm->seeds, &arm->chain, &s->key,
                                                                 NEAR_EVERY * SN_ARM_TROOP, near)
                                              : 0;
        for (int l = 0; l < count; l++)
            set_scout(w, l, NEAR_EVERY * l < kept ? near[NEAR_EVERY * l] : which[from + l], true);
        if (send(w, count, count, STEPS)) return true;
        for (int l = 0; l < count; l++) keep_rest(w, l, &r);
    }
    return fall_rests(w, &r, beyond ? RESTS_BEYOND : RESTS);
}

bool sn_arm_search_comb(sn_arm_search *s, int most, double *low, double *q) {
    const sn_arm_chain *c = &s->arm->chain;
    const int first = most < FIRST_FROM ? most : FIRST_FROM;
    const int held = most < FIRST_HELD ? most : FIRST_HELD;
    // the table's own starts once more, inside the limits: more often than not one of them gets there
    if (sn_arm_search_lanes(s, 0, first, FIRST_LANE_STEPS, NULL, q)) return true;
    if (sn_arm_search_late(s)) return false;
    comb w;
    w.s = s, w.q = q, w.low = low, w.all_free = true, w.gets_there = false, w.outs = 0;
    w.bound = s->nearest = INFINITY;
    for (int j = 0; j < c->n; j++) w.free[j] = c->turns[j];
    for (int i = 0; i < 12; i++)
        for (int l = 0; l < SN_ARM_TROOP; l++) w.x.goal[i][l] = (float)s->numbers[i];
    if (send_first(&w, held)) return true;
    if (sn_arm_search_late(s) || !fall_first(&w, held)) return false;
    if (c->n <= 6 && try_loose(&w)) return true;
    // what is this near may be at the goal
    if (s->nearest < at_f) s->nearest = sn_arm_search_fall_on(s, NEARER_STEPS, low);
    if (at_goal(&w)) return true;
    if (c->n <= 6 && try_singular(&w, most)) return true;
    if (is_beyond(&w)) return false;
    const bool known = !w.gets_there;
    if (comb_loosely(&w, most)) return true;
    if (is_beyond(&w) && s->nearest < hair_f) return false;
    return comb_through(&w, most, known);
}
