// SPDX-License-Identifier: MIT
// The solution nearest to a posture.
//
// Close to it one lane goes there: steps that take the goal and as much of the way to the posture as the goal leaves.
// From afar that may end in the wrong valley. Scouts then start from the posture itself and from those that the table
// keeps for such goals, eight at a time in floats, the nearest first: each comes down to the goal and leans to the
// posture on its way, and the nearest that they find is finished in doubles. That goes on while starts are left that are
// nearer than what was found. From a start that is farther from what was found than most are it goes on from everywhere:
// almost all that is missed is missed there.
//
// Arms without such a table, or with a step that is not of hinges alone, send four lanes in doubles.
#include <stdlib.h>
#include <string.h>

#include "arm/arm.h"

enum {
    LOOK_AFTER = 8,
    SLIDES = 4,  ///< steps of a lane that lean to the posture, at least
    MOST_STEPS = 24,
    BATCHES = 17,         ///< of eight scouts, at most: all that a cell keeps
    SCOUT_LEANS = 2,      ///< steps of a scout towards the posture, where freedom is left
    SCOUT_STEPS = 4,      ///< all of them,
    SCOUT_STEPS_SIX = 3,  ///< where none is left,
    SCOUT_WAITS = 3,      ///< and more, until the nearest is at the goal
    EVERYWHERE = 64,      ///< starts, where what was found is far off,
    EVERY_STEPS = 8,      ///< their steps,
    PATIENT_LEANS = 5,    ///< and those of the nearest that they lead to
    PATIENT_STEPS = 8,
    NEAR_STEPS = 40,
    USUAL = 256  ///< random goals and starts that tell how far solutions are
};

// f up to which one lane alone is tried; beyond which a start is given up, or leans on; from where one
// step more is enough
static const double close_f = 0.01, far_f = 0.05, bent_f = 0.05;
// of a scout, one step before its end: up to where it may get to the goal, does, and does if it went without a posture
static const float scout_f = 3e-2f, sure_f = 5e-5f, there_f = 1e-3f;
// of random starts, those for which looking near them is enough: with freedom to spare, and without
static const double usual_share = 0.75, usual_share_six = 0.65;
// of the distance that was found, squared, what another scout must be below: what is not is the same solution
static const double nearer = 0.998;
static const double pi = 3.141592653589793;

// One step without the limits: the pose is looked at before it counts.
static const sn_arm_newton bent = {false, 1, 1, INFINITY, SN_ARM_LAST_F};

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
    bool spare;    ///< freedom is left to slide along
    bool scouted;  ///< starts were sent scouts before
    sn_arm_state4 x;
    slide lane[SN_ARM_LANES];
    double far;                 ///< of the best found, squared
    double position, rotation;  ///< what is left there
    double *q;                  ///< it
} sliding;

static void put_start(sliding *w, int l, double *inner) {
    const sn_arm_chain *c = &w->s->arm->chain;
    double want[SN_ARM_MAX];
    if (w->scouted) {
        memcpy(want, w->inward, sizeof want);
    } else {
        sn_arm_search_clamp(c, inner);
        wanted(c, w->inward, inner, want);
    }
    for (int j = 0; j < c->n; j++) w->x.q[j][l] = inner[j], w->x.want[j][l] = want[j];
    slide *e = &w->lane[l];
    e->live = true, e->steps = 0, e->before = INFINITY, e->pull = w->spare && !w->scouted;
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

// How far scouts are from the posture, squared, and the nearest of those that come to the goal: -1 when none is nearer
// than what was found before.
static int nearest_scout(const sliding *w, const sn_arm_scouts *x, int count, float *far) {
    int best = -1;
    for (int l = 0; l < SN_ARM_SCOUTS; l++) far[l] = 0;
    for (int j = 0; j < w->s->arm->chain.n; j++)
        for (int l = 0; l < SN_ARM_SCOUTS; l++) {
            const float d = x->next[j][l] - x->want[j][l];
            far[l] += d * d;
        }
    for (int l = 0; l < SN_ARM_SCOUTS; l++) {
        if (l >= count || !(x->place[l] + 0.25f * x->turn[l] < scout_f && (double)far[l] < w->far))
            far[l] = INFINITY;
        else if (best < 0 || far[l] < far[best])
            best = l;
    }
    return best;
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
    if (e->pull == 0 && (there || f < SN_ARM_PLAIN_F)) {
        arrive(w, l, there ? w->x.q : w->x.next);
        return false;
    }
    if (!there && slow(e, f)) return false;
    // where another has arrived it must be on its way to something nearer
    if (w->far < INFINITY && !w->scouted && (f > close_f || way_off(w, l) > w->far)) return false;
    if (e->pull > 0) lean(w, l, f);
    e->before = f;
    return true;
}

static bool slide_lanes(sliding *w, double (*start)[SN_ARM_MAX], int count) {
    sn_arm_search *s = w->s;
    const size_t rows = (size_t)s->arm->chain.n * sizeof w->x.q[0];
    int next = 0, live = 0;
    set_goal(w);
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
            if (ends[l] && next < count && (w->far == INFINITY || w->scouted))
                put_start(w, l, start[next++]), live++;
    }
    return w->far < INFINITY;
}

// What a scout found, in doubles: a step or two. Between the limits a bent one is enough, most often.
static void finish(sliding *w, double *inner) {
    sn_arm_search *s = w->s;
    const sn_arm_chain *c = &s->arm->chain;
    const int n = c->n;
    double q[SN_ARM_MAX], from[SN_ARM_MAX];
    bool between = true;
    for (int j = 0; j < n; j++)
        between = between && (c->round[j] || (inner[j] > c->lower[j] && inner[j] < c->upper[j]));
    memcpy(from, inner, (size_t)n * sizeof *from);
    if (!(between && sn_arm_search_newton(s, &bent, from, w->want, q)) &&
        !sn_arm_search_newton(s, &sn_arm_finish, inner, w->want, q))
        return;
    const double far = distance(&s->arm->chain, q, w->want);
    if (!(far < w->far)) return;
    w->far = far;
    w->position = s->position, w->rotation = s->rotation;
    memcpy(w->q, q, (size_t)n * sizeof *q);
}

// Eight starts some steps down to the goal and towards the posture, in floats, until the nearest is known to get there.
// Those that end nearer to the posture than what was found before are finished, the nearest first.
static void send_scouts(sliding *w, sn_arm_scouts *x, int count, int leans, int steps) {
    const sn_arm *arm = w->s->arm;
    const int n = arm->chain.n;
    float far[SN_ARM_SCOUTS];
    int best = -1;
    for (int j = 0; j < n && count < SN_ARM_SCOUTS; j++)
        for (int l = count; l < SN_ARM_SCOUTS; l++) x->q[j][l] = x->q[j][0];
    for (int it = 0; it < steps + SCOUT_WAITS; it++) {
        if (it > 0) memcpy(x->q, x->next, (size_t)n * sizeof x->q[0]);
        sn_arm_search_scout(arm, &arm->chain, x, SN_ARM_SCOUTS, true, w->spare && it < leans);
        w->s->iterations++;
        if (it + 1 < steps) continue;
        best = nearest_scout(w, x, count, far);
        if (best < 0 || x->place[best] + 0.25f * x->turn[best] < sure_f) break;
    }
    for (int k = 0; k < SN_ARM_LANES && best >= 0; k++) {
        double inner[SN_ARM_MAX];
        for (int j = 0; j < n; j++) inner[j] = (double)x->next[j][best];
        finish(w, inner);
        far[best] = INFINITY;
        best = -1;
        for (int l = 0; l < count; l++)
            if ((double)far[l] < nearer * w->far && (best < 0 || far[l] < far[best])) best = l;
    }
}

// One number in all lanes: written out, which compilers take for one store.
static void fill(float lanes[SN_ARM_TROOP], double number) {
    const float x = (float)number;
    const float all[SN_ARM_TROOP] = {x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
    memcpy(lanes, all, sizeof all);
}

static void begin_scouts(const sliding *w, sn_arm_scouts *x) {
    for (int i = 0; i < 12; i++) fill(x->goal[i], w->s->numbers[i]);
    const sn_arm_chain *c = &w->s->arm->chain;
    for (int j = 0; j < c->n; j++) {
        fill(x->want[j], w->inward[j]);
        fill(x->lower[j], c->lower[j]);
        fill(x->upper[j], c->upper[j]);
    }
    fill(x->pull, 1);
}

// Starts from the posture itself and from those of the table, by how near they are: as long as one may lead to something
// nearer than what was found.
static void look_around(sliding *w) {
    const sn_arm *arm = w->s->arm;
    const sn_arm_chain *c = &arm->chain;
    const bool avx2 = arm->avx2;
    sn_arm_ranking ranking;
    sn_arm_scouts x;
    (avx2 ? sn_arm_avx2_rank : sn_arm_plain_rank)(&arm->seeds, c, &w->s->key, w->inward, &ranking);
    // a start leads to something as near as it is; with freedom to spare seldom to something that is not nearer
    const double enough = w->spare ? 0.85 : 1.0;
    const int steps = w->spare ? SCOUT_STEPS : SCOUT_STEPS_SIX;
    begin_scouts(w, &x);
    for (int j = 0; j < c->n; j++)
        x.q[j][0] = (float)sn_arm_between(w->inward[j], c->lower[j], c->upper[j]);
    for (int batch = 0; batch < BATCHES; batch++) {
        const int count = (avx2 ? sn_arm_avx2_take : sn_arm_plain_take)(
            &arm->seeds, c, &w->s->key, w->inward, enough * w->far, batch == 0 ? 1 : 0, &ranking,
            &x);
        if (count == 0) break;
        w->s->seeds += count;
        send_scouts(w, &x, count, SCOUT_LEANS, steps);
        if (count < SN_ARM_SCOUTS) break;
    }
}

// Solutions from starts all over the arm's range, the nearest of them in the eight lanes of scouts.
typedef struct gathered {
    double far[SN_ARM_SCOUTS];
    double q[SN_ARM_SCOUTS][SN_ARM_MAX];
    int count;
} gathered;

static void gather(gathered *g, double far, const double *q, int n) {
    int at = g->count;
    if (at < SN_ARM_SCOUTS) {
        g->count++;
    } else {
        at = 0;
        for (int i = 1; i < SN_ARM_SCOUTS; i++) at = g->far[i] > g->far[at] ? i : at;
        if (!(far < g->far[at])) return;
    }
    g->far[at] = far;
    memcpy(g->q[at], q, (size_t)n * sizeof *q);
}

// A variable of the kernels' numbers, by whole turns as near to what is wanted as the limits let it.
static double nearest_turn(const sn_arm_chain *c, int j, float at, double want) {
    double x = (double)at;
    if (!c->turns[j]) return x;
    x -= 2 * pi * floor((x - want) / (2 * pi) + 0.5);
    if (x < c->lower[j]) x += 2 * pi;
    if (x > c->upper[j]) x -= 2 * pi;
    return x;
}

// Starts from everywhere, sixteen at a time, without regard to the posture; the nearest of what they lead to lean to it.
static void look_everywhere(sliding *w) {
    sn_arm_search *s = w->s;
    const sn_arm *arm = s->arm;
    const sn_arm_chain *c = &arm->chain;
    gathered g = {.count = 0};
    double inner[SN_ARM_MAX];
    sn_arm_scouts x;
    begin_scouts(w, &x);
    for (int from = 0; from < EVERYWHERE && !sn_arm_search_late(s); from += SN_ARM_TROOP) {
        for (int l = 0; l < SN_ARM_TROOP; l++) {
            (void)sn_arm_seed_at(&arm->seeds, c, &s->key, from + l, inner);
            sn_arm_search_clamp(c, inner);
            for (int j = 0; j < c->n; j++) x.q[j][l] = (float)inner[j];
        }
        for (int it = 0; it < EVERY_STEPS; it++) {
            if (it > 0) memcpy(x.q, x.next, (size_t)c->n * sizeof x.q[0]);
            sn_arm_search_scout(arm, c, &x, SN_ARM_TROOP, true, false);
        }
        s->seeds += SN_ARM_TROOP, s->iterations += EVERY_STEPS;
        for (int l = 0; l < SN_ARM_TROOP; l++) {
            if (!(x.place[l] + 0.25f * x.turn[l] < there_f)) continue;
            for (int j = 0; j < c->n; j++)
                inner[j] = nearest_turn(c, j, x.next[j][l], w->inward[j]);
            gather(&g, distance(c, inner, w->inward), inner, c->n);
        }
    }
    if (g.count == 0) return;
    for (int k = 0; k < g.count; k++)
        for (int j = 0; j < c->n; j++) x.q[j][k] = (float)g.q[k][j];
    send_scouts(w, &x, g.count, PATIENT_LEANS, PATIENT_STEPS);
}

static void begin_sliding(sliding *w, sn_arm_search *s, const double *want, double *q) {
    const sn_arm_chain *c = &s->arm->chain;
    w->s = s, w->want = want, w->q = q, w->spare = c->n > sn_arm_chain_rows(c);
    w->far = INFINITY, w->position = w->rotation = 0;
    w->scouted = s->arm->seeds.table && c->hinges;
    sn_arm_chain_inward(c, want, w->inward);
}

static int rising(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double sn_arm_usual_distance(const sn_arm *arm) {
    const sn_arm_chain *c = &arm->chain;
    double far[USUAL];
    if (!(arm->seeds.table && c->hinges)) return INFINITY;
    for (int k = 0; k < USUAL; k++) {
        // points of the sequence whose differences are spread out as well
        enum { FIRST = SN_ARM_CELL_SEEDS + SN_ARM_NEAREST, APART = 37 };
        double inner[SN_ARM_MAX], want[SN_ARM_MAX], q[SN_ARM_MAX];
        sn_arm_search s = {.arm = arm, .until = INFINITY};
        sliding w;
        (void)sn_arm_seed_at(&arm->seeds, c, &s.key, FIRST + k, inner);
        sn_arm1_end_at(c, inner, s.numbers);
        sn_arm_goal_look(&arm->seeds, s.numbers, &s.key);
        (void)sn_arm_seed_at(&arm->seeds, c, &s.key, FIRST + USUAL + APART * k, inner);
        // anywhere between its limits, which may be more than a turn apart
        for (int j = 0; j < c->n; j++) {
            const double at = (inner[j] - c->shift[j] - arm->seeds.from[j]) / arm->seeds.span[j];
            const double unit = c->length_of[j] ? c->unit : 1;
            want[j] = c->low[j] > -INFINITY && c->high[j] < INFINITY && arm->seeds.span[j] > 0
                          ? c->low[j] + at * (c->high[j] - c->low[j])
                          : (inner[j] - c->shift[j]) * unit;
        }
        begin_sliding(&w, &s, want, q);
        look_around(&w);
        far[k] = w.far;
    }
    qsort(far, USUAL, sizeof *far, rising);
    return far[(int)((c->n > 6 ? usual_share : usual_share_six) * USUAL)];
}

bool sn_arm_search_nearby(sn_arm_search *s, const double *want, double *q) {
    const sn_arm *arm = s->arm;
    const sn_arm_chain *c = &arm->chain;
    const double near = 1.0;  // squared, radians and metres
    sn_arm_seeds_fetch(&arm->seeds, c, &s->key);
    // where the posture is near the goal one lane will do
    if (slide_one(s, want, want, NEAR_STEPS, close_f, q) && distance(c, q, want) < near)
        return true;
    sliding w;
    begin_sliding(&w, s, want, q);
    if (w.scouted) {
        look_around(&w);
        if (w.far > arm->usual) look_everywhere(&w);
        s->seen = w.far < INFINITY;
        s->position = w.position, s->rotation = w.rotation;
        return s->seen;
    }
    double start[SN_ARM_LANES][SN_ARM_MAX];
    memcpy(start[0], w.inward, sizeof start[0]);
    for (int k = 1; k < SN_ARM_LANES; k++)
        (void)sn_arm_seed_at(&arm->seeds, c, &s->key, k - 1, start[k]);
    return slide_lanes(&w, start, SN_ARM_LANES);
}
