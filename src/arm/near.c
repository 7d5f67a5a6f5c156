// SPDX-License-Identifier: MIT
// The solution nearest to a posture.
//
// Close to it one lane goes there: steps that take the goal and as much of the way to the posture as
// the goal leaves. From afar that may end in the wrong valley. Four lanes then start from the posture
// itself and from those of the table that are nearest to it; each comes down to the goal, slides along
// what freedom is left until the posture gets no nearer, and the nearest end is taken.
#include <string.h>

#include "arm/arm.h"

enum {
    LOOK_AFTER = 8,
    SLIDES = 4,  ///< steps of a lane that lean to the posture, at least
    MOST_STEPS = 24,
    STARTS = 4,  ///< what lanes start from
    NEAR_STEPS = 40
};

// f up to which one lane alone is tried; beyond which a start is given up, or leans on; from where one
// step more is enough
static const double close_f = 0.01, far_f = 0.05, bent_f = 0.05, last_f = 1e-8;
static const double pi = 3.141592653589793;

// A posture as the kernels have it; of turns that go round that nearest to `inner`.
static void wanted(const sn_arm_chain *c, const double *inward, const double *inner, double *out) {
    for (int j = 0; j < c->n; j++) {
        out[j] = inward[j];
        if (c->round[j]) out[j] += 2 * pi * floor((inner[j] - out[j]) / (2 * pi) + 0.5);
    }
}

static void remember(sn_arm_search *s, int lane, double f, const double *q, int n) {
    if (!(f < s->best[lane])) return;
    s->best[lane] = f;
    memcpy(s->best_q[lane], q, (size_t)n * sizeof *q);
}

// Gives up where the start is farther from the goal than `most`, as f.
static bool slide_one(sn_arm_search *s, const double *start, const double *want, int steps,
                      double most, double *q) {
    const sn_arm *arm = s->arm;
    const sn_arm_chain *c = &arm->chain;
    sn_arm_state1 x;
    double inner[SN_ARM_MAX], inward[SN_ARM_MAX];
    sn_arm_chain_inward(c, start, inner);
    sn_arm_chain_inward(c, want, inward);
    sn_arm_search_clamp(c, inner);
    for (int j = 0; j < c->n; j++) x.q[j][0] = inner[j];
    wanted(c, inward, inner, &x.want[0][0]);
    memcpy(x.goal, s->numbers, sizeof s->numbers);
    x.turn_tol = arm->turn_tol;
    x.place_tol = arm->place_tol;
    x.give_up = most;
    bool there = false;
    double before = INFINITY;
    s->seeds++;
    for (int it = 1; it <= steps; it++) {
        x.pull[0] = 1;
        sn_arm1_iterate(c, &x, true, true);
        s->iterations++;
        const double f = x.place[0] + 0.25 * x.turn[0];
        if (it == 1 && f > most) return false;
        x.give_up = INFINITY;
        remember(s, 0, f, &x.q[0][0], c->n);
        double step = 0;
        for (int j = 0; j < c->n; j++) step = fmax(step, fabs(x.next[j][0] - x.q[j][0]));
        if (x.turn[0] <= x.turn_tol && x.place[0] <= x.place_tol) {
            for (int j = 0; j < c->n; j++) inner[j] = x.q[j][0];
            there = true;
            if (step < 1e-4) break;
        } else if (it >= LOOK_AFTER && !(f <= far_f && (f <= 0.5 * before || there))) {
            break;
        }
        before = f;
        for (int j = 0; j < c->n; j++) x.q[j][0] = x.next[j][0];
    }
    return there && sn_arm_search_accept(s, inner, start, q);
}

bool sn_arm_search_near(sn_arm_search *s, const double *start, const double *want, int steps,
                        double *q) {
    return slide_one(s, start, want, steps, INFINITY, q);
}

static double distance(const sn_arm_chain *c, const double *a, const double *b) {
    double sum = 0;
    for (int j = 0; j < c->n; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

typedef struct slide {
    bool live;
    int steps;
    double before;  ///< f of the step before
    double pull;    ///< what the next step takes of the way to the posture, 0 or 1
} slide;

typedef struct sliding {
    sn_arm_search *s;
    const double *want;  ///< as the model has it
    double inward[SN_ARM_MAX];
    bool spare;  ///< freedom is left to slide along
    sn_arm_state4 x;
    slide lane[SN_ARM_LANES];
    double far;  ///< of the best found, squared
    double *q;   ///< it
} sliding;

static void put_start(sliding *w, int l, double *inner) {
    const sn_arm_chain *c = &w->s->arm->chain;
    double want[SN_ARM_MAX];
    sn_arm_search_clamp(c, inner);
    wanted(c, w->inward, inner, want);
    for (int j = 0; j < c->n; j++) w->x.q[j][l] = inner[j], w->x.want[j][l] = want[j];
    slide *e = &w->lane[l];
    e->live = true, e->steps = 0, e->before = INFINITY, e->pull = w->spare;
    w->s->seeds++;
}

// A lane has arrived, or will have with this step.
static void arrive(sliding *w, int l, double (*at)[SN_ARM_LANES]) {
    const sn_arm_chain *c = &w->s->arm->chain;
    double inner[SN_ARM_MAX], q[SN_ARM_MAX];
    for (int j = 0; j < c->n; j++) inner[j] = at[j][l];
    if (!sn_arm_search_accept(w->s, inner, w->want, q)) return;
    double far = distance(c, q, w->want);
    if (!(far < w->far)) return;
    w->far = far;
    memcpy(w->q, q, (size_t)c->n * sizeof *q);
}

// How far a lane is from its posture, squared.
static double way_off(const sliding *w, int l) {
    double sum = 0;
    for (int j = 0; j < w->s->arm->chain.n; j++) {
        double d = w->x.q[j][l] - w->x.want[j][l];
        sum += d * d;
    }
    return sum;
}

// A lane leans to the posture for a few steps, until the posture would move it no more to speak of. The
// last steps then close in at once.
static void lean(sliding *w, int l, double f) {
    slide *e = &w->lane[l];
    double size = 0;
    for (int j = 0; j < w->s->arm->chain.n && e->pull > 0; j++) {
        double step = w->x.next[j][l] - w->x.q[j][l];
        size += step * step;
    }
    if (f < bent_f && (e->steps >= SLIDES || size < 0.03 * way_off(w, l))) e->pull = 0;
}

static bool slow(const slide *e, double f) {
    return e->steps >= MOST_STEPS ||
           (e->steps >= LOOK_AFTER && !(f <= far_f && (f <= 0.5 * e->before || e->pull > 0)));
}

static void set_goal(sliding *w) {
    for (int i = 0; i < 12; i++)
        for (int l = 0; l < SN_ARM_LANES; l++) w->x.goal[i][l] = w->s->numbers[i];
}

// After a step: whether the lane goes on.
static bool goes_on(sliding *w, int l) {
    const sn_arm *arm = w->s->arm;
    slide *e = &w->lane[l];
    const double f = w->x.place[l] + 0.25 * w->x.turn[l];
    e->steps++;
    const bool there = w->x.turn[l] <= arm->turn_tol && w->x.place[l] <= arm->place_tol;
    if (e->pull == 0 && (there || f < last_f)) {
        arrive(w, l, there ? w->x.q : w->x.next);
        return false;
    }
    if (!there && slow(e, f)) return false;
    // where another has arrived it must be on its way to something nearer
    if (w->far < INFINITY && (f > close_f || way_off(w, l) > w->far)) return false;
    if (e->pull > 0) lean(w, l, f);
    e->before = f;
    return true;
}

static bool slide_lanes(sliding *w, double (*start)[SN_ARM_MAX], int count) {
    sn_arm_search *s = w->s;
    const size_t rows = (size_t)s->arm->chain.n * sizeof w->x.q[0];
    int next = 0, live = 0;
    set_goal(w);
    w->far = INFINITY;
    for (int l = 0; l < SN_ARM_LANES; l++)
        put_start(w, l, start[next < count ? next++ : 0]), live++;
    while (live > 0) {
        for (int l = 0; l < SN_ARM_LANES; l++) w->x.pull[l] = w->lane[l].pull;
        sn_arm_search_step4(s->arm, &w->x, true, w->spare);
        s->iterations++;
        bool ends[SN_ARM_LANES] = {false};
        for (int l = 0; l < SN_ARM_LANES; l++)
            if (w->lane[l].live && !goes_on(w, l)) w->lane[l].live = false, ends[l] = true, live--;
        memcpy(w->x.q, w->x.next, rows);
        for (int l = 0; l < SN_ARM_LANES; l++)
            if (ends[l] && next < count && w->far == INFINITY)
                put_start(w, l, start[next++]), live++;
    }
    return w->far < INFINITY;
}

bool sn_arm_search_nearby(sn_arm_search *s, const double *want, double *q) {
    const sn_arm *arm = s->arm;
    const sn_arm_chain *c = &arm->chain;
    const double near = 1.0;  // squared, radians and metres
    double start[STARTS][SN_ARM_MAX];
    sn_arm_chain_inward(c, want, start[0]);
    sn_arm_search_clamp(c, start[0]);
    sn_arm_seeds_fetch(&arm->seeds, c, &s->key);
    // where the posture is near the goal one lane will do
    if (slide_one(s, want, want, NEAR_STEPS, close_f, q) && distance(c, q, want) < near)
        return true;
    sliding w;
    w.s = s, w.want = want, w.q = q, w.spare = c->n > sn_arm_chain_rows(c);
    sn_arm_chain_inward(c, want, w.inward);
    int count = 1 + sn_arm_seeds_near(&arm->seeds, c, &s->key, w.inward, STARTS - 1, start + 1);
    if (!arm->seeds.table)
        for (; count < SN_ARM_LANES; count++) {
            (void)sn_arm_seed_at(&arm->seeds, c, &s->key, count - 1, start[count]);
        }
    return slide_lanes(&w, start, count);
}
