// SPDX-License-Identifier: MIT
// The solution nearest to a posture.
//
// Close to it one lane goes there: steps that take the goal and as much of the way to the posture as the goal leaves.
// From afar that may end in the wrong valley. Scouts then start from the posture itself and from those that the table
// keeps for such goals, eight at a time in floats, the nearest first: each comes down to the goal and leans to the
// posture on its way, and the nearest that they find is finished in doubles. That goes on while starts are left that are
// nearer than what was found. What is found far off is looked for once more with more patience, and then from everywhere.
//
// Arms without such a table, or with a step that is not of hinges alone, send four lanes in doubles.
#include <string.h>

#include "arm/arm.h"

enum {
    LOOK_AFTER = 8,
    SLIDES = 4,  ///< steps of a lane that lean to the posture, at least
    MOST_STEPS = 24,
    BATCHES = 17,     ///< of eight scouts, at most: all that a cell keeps
    SCOUT_STEPS = 4,  ///< of a scout
    SCOUT_MORE = 1,   ///< of the first eight, which most often tell
    SCOUT_LEANS = 2,  ///< of them to the posture, where freedom is left
    PATIENT = 3,      ///< batches of scouts that take more steps
    EVERYWHERE = 64,  ///< starts, where what was found is still far off
    PATIENT_LEANS = 5,
    PATIENT_STEPS = 8,
    NEAR_STEPS = 40
};

// f up to which one lane alone is tried; beyond which a start is given up, or leans on; from where one
// step more is enough
static const double close_f = 0.01, far_f = 0.05, bent_f = 0.05;
static const float scout_f = 1e-2f;
// squared: from here on scouts have not leaned enough
static const double afar = 16, farthest = 25;
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

// Eight starts some steps down to the goal and towards the posture, in floats. Those that end nearer to the posture than
// what was found before are kept, the nearest first.
static int send_scouts(sliding *w, sn_arm_scouts *x, int count, int leans, int steps,
                       double (*out)[SN_ARM_MAX], double *off) {
    const sn_arm *arm = w->s->arm;
    const int n = arm->chain.n;
    float far[SN_ARM_SCOUTS];
    int kept = 0;
    for (int l = 0; l < SN_ARM_SCOUTS; l++) {
        for (int j = 0; j < n && l >= count; j++) x->q[j][l] = x->q[j][0];
        far[l] = 0;
    }
    for (int it = 0; it < steps; it++) {
        if (it > 0) memcpy(x->q, x->next, (size_t)n * sizeof x->q[0]);
        sn_arm_search_scout(arm, &arm->chain, x, SN_ARM_SCOUTS, true, w->spare && it < leans);
        w->s->iterations++;
    }
    for (int j = 0; j < n; j++)
        for (int l = 0; l < SN_ARM_SCOUTS; l++) {
            const float d = x->next[j][l] - x->want[j][l];
            far[l] += d * d;
        }
    for (; kept < SN_ARM_LANES; kept++) {
        int best = -1;
        for (int l = 0; l < count; l++)
            if (x->place[l] + 0.25f * x->turn[l] < scout_f && (double)far[l] < w->far &&
                (best < 0 || far[l] < far[best]))
                best = l;
        if (best < 0) break;
        for (int j = 0; j < n; j++) out[kept][j] = (double)x->next[j][best];
        off[kept] = (double)far[best];
        far[best] = INFINITY;
    }
    return kept;
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

// What a scout found, in doubles: a step or two.
static void finish(sliding *w, double *inner) {
    sn_arm_search *s = w->s;
    const int n = s->arm->chain.n;
    double q[SN_ARM_MAX];
    if (!sn_arm_search_newton(s, &sn_arm_finish, inner, w->want, q)) return;
    const double far = distance(&s->arm->chain, q, w->want);
    if (!(far < w->far)) return;
    w->far = far;
    w->position = s->position, w->rotation = s->rotation;
    memcpy(w->q, q, (size_t)n * sizeof *q);
}

// One number in all lanes: written out, which compilers take for one store.
static void fill(float lanes[SN_ARM_SCOUTS], double number) {
    const float x = (float)number;
    const float all[SN_ARM_SCOUTS] = {x, x, x, x, x, x, x, x};
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
static void look_around(sliding *w, int batches, int leans, int steps) {
    const sn_arm *arm = w->s->arm;
    const sn_arm_chain *c = &arm->chain;
    double start[SN_ARM_LANES][SN_ARM_MAX], off[SN_ARM_LANES];
    sn_arm_ranking ranking;
    sn_arm_scouts x;
    (arm->avx2 ? sn_arm_avx2_rank : sn_arm_plain_rank)(&arm->seeds, c, &w->s->key, w->inward,
                                                       &ranking);
    // a start may lead to something a little nearer than it is, by a way that an arm without freedom to spare does not see
    const double enough = w->spare ? 0.85 : 1.2;
    begin_scouts(w, &x);
    for (int batch = 0; batch < batches; batch++) {
        int count = 0;
        for (int j = 0; j < c->n && batch == 0; j++)
            x.q[j][0] = (float)sn_arm_between(w->inward[j], c->lower[j], c->upper[j]);
        if (batch == 0) count = 1;
        for (; count < SN_ARM_SCOUTS; count++) {
            double q[SN_ARM_MAX];
            if (!sn_arm_ranking_take(&arm->seeds, c, &w->s->key, w->inward, &ranking, q) ||
                (double)ranking.far > enough * w->far)
                break;
            for (int j = 0; j < c->n; j++) x.q[j][count] = (float)q[j];
        }
        if (count == 0) break;
        w->s->seeds += count;
        const int more = batch == 0 ? SCOUT_MORE : 0;
        const int kept = send_scouts(w, &x, count, leans + more, steps + more, start, off);
        for (int k = 0; k < kept && off[k] < w->far; k++) finish(w, start[k]);
        if (count < SN_ARM_SCOUTS) break;
    }
}

// Solutions from starts all over the arm's range, the nearest of them in the eight lanes of scouts.
typedef struct gathered {
    sn_arm_collect base;
    sliding *w;
    double far[SN_ARM_SCOUTS];
    double q[SN_ARM_SCOUTS][SN_ARM_MAX];
    int count;
} gathered;

static void gather(sn_arm_collect *self, const double *q) {
    gathered *g = (gathered *)(void *)self;
    const sn_arm_chain *c = &g->w->s->arm->chain;
    const double far = distance(c, q, self->near);
    int at = g->count;
    if (at < SN_ARM_SCOUTS) {
        g->count++;
    } else {
        at = 0;
        for (int i = 1; i < SN_ARM_SCOUTS; i++) at = g->far[i] > g->far[at] ? i : at;
        if (!(far < g->far[at])) return;
    }
    g->far[at] = far;
    memcpy(g->q[at], q, (size_t)c->n * sizeof *q);
}

static void look_everywhere(sliding *w) {
    const sn_arm_chain *c = &w->s->arm->chain;
    gathered g = {.base = {w->want, gather}, .w = w};
    double q[SN_ARM_MAX], start[SN_ARM_LANES][SN_ARM_MAX], off[SN_ARM_LANES];
    sn_arm_scouts x;
    (void)sn_arm_search_lanes(w->s, 0, EVERYWHERE, SN_ARM_LANE_STEPS, &g.base, q);
    if (g.count == 0) return;
    begin_scouts(w, &x);
    for (int k = 0; k < g.count; k++) {
        sn_arm_chain_inward(c, g.q[k], q);
        for (int j = 0; j < c->n; j++) x.q[j][k] = (float)q[j];
    }
    const int kept = send_scouts(w, &x, g.count, PATIENT_LEANS, PATIENT_STEPS, start, off);
    for (int k = 0; k < kept && off[k] < w->far; k++) finish(w, start[k]);
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
    w.s = s, w.want = want, w.q = q, w.spare = c->n > sn_arm_chain_rows(c);
    w.far = INFINITY, w.position = w.rotation = 0, w.scouted = arm->seeds.table && c->hinges;
    sn_arm_chain_inward(c, want, w.inward);
    if (w.scouted) {
        look_around(&w, BATCHES, SCOUT_LEANS, SCOUT_STEPS);
        // far off: the same with more patience
        if (w.spare && w.far > afar) look_around(&w, PATIENT, PATIENT_LEANS, PATIENT_STEPS);
        if (w.far > (w.spare ? 0.75 : 1.0) * farthest) look_everywhere(&w);
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
