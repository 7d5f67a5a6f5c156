// SPDX-License-Identifier: MIT
// One goal: starts, steps, and when a start is given up.
//
// The first start comes from the table and ignores the limits: nine times of ten it leads to a pose
// inside them in four or five steps. Then four at a time, from the table and from a sequence, which
// stay inside the limits at every step. A start is given up after eight steps when it is still far or
// has not come nearer by half, and after thirty. When some forty have failed, the nearest pose to the
// goal tells more: far from it the goal is out of reach, close to it the search goes on.
#include "arm/arm.h"

#include <string.h>

#include "arm/curves.h"
#include "arm/measure.h"
#include "base/clock.h"
#include "math/rotation.h"

enum {
    LOOK_AFTER = SN_ARM_LOOK_AFTER,
    FEW = SN_ARM_CELL_SEEDS + SN_ARM_NEAREST,  ///< starts before the nearest pose is looked at
    NEAR_STEPS = 40,
    MOST_CLOSED = 64,
    SOME = 12,  ///< starts before falls tell whether a goal is out of reach
    MORE = 60,  ///< starts where it may be within reach
    FALLS = 2,  ///< of four starts each
    FALL_STEPS = 12,
    CLOSE_STEPS = 30,
    NEARER_STEPS = 10,
    END_STEPS = 14
};

// worth_f: as f, what a goal that is still looked for is at most from the nearest pose; close_f: from
// where the exact Hessian may close the gap; at_f: from where it most likely does
static const double at_f = 1e-9;
static const double far_f = SN_ARM_FAR_F, worth_f = 3e-5, close_f = 1e-5, pi = 3.141592653589793;
// from where one step more is enough, most often: the pose is looked at before it counts
static const double plain_f = SN_ARM_PLAIN_F;
// what is left after the first fall where more starts may lead to the goal
static const double maybe_f = 1e-2, likely_f = 3e-3;

bool sn_arm_goal_good(const double goal[7]) {
    double w = goal[3], x = goal[4], y = goal[5], z = goal[6], n = w * w + x * x + y * y + z * z;
    // squares of places stay finite
    for (int i = 0; i < 3; i++)
        if (!(fabs(goal[i]) <= SN_MAX_NUMBER)) return false;
    return n > 1e-200 && isfinite(n);
}

bool sn_arm_search_begin(sn_arm_search *s, const sn_arm *arm, const double goal[7]) {
    if (!sn_arm_goal_good(goal)) return false;
    const double w = goal[3], x = goal[4], y = goal[5], z = goal[6];
    const sn_arm_chain *c = &arm->chain;
    s->arm = arm;
    s->goal.R = sn_mat3_from_quat((sn_quat){w, x, y, z});
    s->goal.p = v3_from(goal);
    sn_frame g = {s->goal.R, v3_scale(1 / c->unit, s->goal.p)};
    if (c->hinges) {
        g = frame_mul(&c->before, &g);
        g = frame_mul(&g, &c->behind);
    }
    memcpy(s->numbers, &g, sizeof g);
    sn_arm_goal_look(&arm->seeds, s->numbers, &s->key);
    s->until = arm->options.max_seconds > 0 ? sn_seconds() + arm->options.max_seconds : INFINITY;
    s->seeds = s->iterations = s->next = 0;
    for (int l = 0; l < SN_ARM_LANES; l++) s->best[l] = INFINITY;
    s->nearest = INFINITY;
    s->timed_out = s->seen = s->stuck = false;
    return true;
}

bool sn_arm_search_late(sn_arm_search *s) {
    if (s->until < INFINITY && sn_seconds() > s->until) s->timed_out = true;
    return s->timed_out;
}

// The angle of a turn from one rotation to another. A small one, of a pose that is there, from its sine.
static double angle_between(const sn_mat3 *from, const sn_mat3 *to) {
    double cosine = -0.5;
    sn_vec3 v = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        v = v3_add(v, v3_cross(from->c[i], to->c[i]));
        cosine += 0.5 * v3_dot(from->c[i], to->c[i]);
    }
    const double s2 = 0.25 * v3_dot(v, v);
    if (cosine > 0 && s2 < 1e-6) return sqrt(s2) * (1 + s2 * (1.0 / 6));
    const sn_mat3 back = m3_transpose(from), R = m3_mulm(to, &back);
    return v3_norm(sn_rotation_log(&R));
}

// What is left of the way of hinges: from the last turn's frame, with the tool put back on.
static void left_of_hinges(const sn_arm_search *s, const double *q, double *position,
                           double *rotation) {
    const sn_arm_chain *c = &s->arm->chain;
    double inner[SN_ARM_MAX], numbers[12];
    sn_frame end, goal;
    sn_arm_chain_inward(c, q, inner);
    sn_arm1_end_at(c, inner, numbers);
    memcpy(&end, numbers, sizeof end);
    memcpy(&goal, s->numbers, sizeof goal);
    const sn_vec3 there = v3_add(end.p, m3_mul(&end.R, c->tip));
    *position = c->unit * v3_norm(v3_sub(v3_add(goal.p, m3_mul(&goal.R, c->tip)), there));
    *rotation = angle_between(&end.R, &goal.R);
}

static bool within(const sn_arm_search *s, const double *q, double *position, double *rotation) {
    if (s->arm->chain.hinges) {
        left_of_hinges(s, q, position, rotation);
    } else {
        sn_frame tool = sn_arm_chain_tool(&s->arm->chain, q);
        sn_vec3 place, turn;
        sn_arm_chain_error(&s->arm->chain, &tool, &s->goal, &place, &turn);
        *position = v3_norm(place);
        *rotation = v3_norm(turn);
    }
    return *position <= s->arm->options.position_tol && *rotation <= s->arm->options.rotation_tol &&
           sn_arm_curves_inside(&s->arm->chain, q);
}

bool sn_arm_search_left(const sn_arm_search *s, const double *q, double *f) {
    double position, rotation;
    const bool good = within(s, q, &position, &rotation);
    position /= s->arm->chain.unit;
    *f = position * position + 0.25 * rotation * rotation;
    return good;
}

bool sn_arm_search_accept(const sn_arm_search *s, const double *inner, const double *near,
                          double *q) {
    const sn_arm_chain *c = &s->arm->chain;
    const double moved = sn_arm_chain_outward(c, inner, near, q);
    if (moved < 1e-12) return sn_arm_curves_inside(c, q);
    double position, rotation;
    return moved < 1e-3 && within(s, q, &position, &rotation);
}

bool sn_arm_search_arrives(sn_arm_search *s, bool there, const double *inner, const double *near,
                           double *q) {
    s->seen = sn_arm_search_accept(s, inner, near, q) &&
              (within(s, q, &s->position, &s->rotation) || there);
    return s->seen;
}

bool sn_arm_search_start(sn_arm_search *s, double *inner) {
    const sn_arm *arm = s->arm;
    const int most = arm->seeds.table ? SN_ARM_CELL_SEEDS : 1;
    if (s->seeds >= (arm->chain.n > 6 ? 4 : 1) || s->stuck) return false;
    if (s->seeds == 0 && sn_arm_is_far(s)) return false;
    while (s->next < most)
        if (sn_arm_seed_at(&arm->seeds, &arm->chain, &s->key, s->next++, inner)) return true;
    return false;
}

const sn_arm_newton sn_arm_first = {false, SN_ARM_FIRST_STEPS, SN_ARM_LOOK_AFTER, SN_ARM_FAR_F,
                                    SN_ARM_LAST_F};
const sn_arm_newton sn_arm_finish = {true, 6, 1, INFINITY, SN_ARM_PLAIN_F};
static const sn_arm_newton patient = {true, 12, 4, INFINITY, SN_ARM_PLAIN_F};

bool sn_arm_search_newton(sn_arm_search *s, const sn_arm_newton *way, double *inner,
                          const double *near, double *q) {
    const sn_arm *arm = s->arm;
    const int n = arm->chain.n;
    sn_arm_state1 x;
    for (int j = 0; j < n; j++) x.q[j][0] = inner[j];
    memcpy(x.goal, s->numbers, sizeof s->numbers);
    x.turn_tol = arm->turn_tol;
    x.place_tol = arm->place_tol;
    double before = INFINITY;
    for (int it = 1; it <= way->steps; it++) {
        sn_arm1_iterate(&arm->chain, &x, way->hold, false);
        s->iterations++;
        const bool there = x.turn[0] <= x.turn_tol && x.place[0] <= x.place_tol;
        const double f = x.place[0] + 0.25 * x.turn[0];
        s->stuck = !there && f < SN_ARM_STUCK_F;
        if (there || f < way->last_f) {
            for (int j = 0; j < n; j++) inner[j] = there ? x.q[j][0] : x.next[j][0];
            if (sn_arm_search_arrives(s, there, inner, near, q)) return true;
            if (there) return false;
        }
        if (it >= way->patience && !(f <= way->far && f <= 0.5 * before)) break;
        before = f;
        for (int j = 0; j < n; j++) x.q[j][0] = x.next[j][0];
    }
    return false;
}

void sn_arm_search_scout(const sn_arm *arm, const sn_arm_chain *c, sn_arm_scouts *x, int count,
                         bool hold, bool pull) {
    if (count > SN_ARM_SCOUTS && arm->wide && !pull) {
        sn_arm16_iterate(c, x, hold, false);
        return;
    }
    for (x->first = 0; x->first < count; x->first += SN_ARM_SCOUTS)
        (arm->wide   ? sn_arm8_wide_iterate
         : arm->avx2 ? sn_arm8_avx2_iterate
                     : sn_arm8_iterate)(c, x, hold, pull);
}

// One step of four lanes, by whichever code: the bits are the same.
void sn_arm_search_step4(const sn_arm *arm, sn_arm_state4 *x, bool hold, bool pull) {
    if (arm->options.lanes == 1) {
        sn_arm_state1 one;
        one.turn_tol = one.place_tol = -1;
        one.give_up = INFINITY;
        for (int l = 0; l < SN_ARM_LANES; l++) {
            for (int j = 0; j < arm->chain.n; j++) one.q[j][0] = x->q[j][l];
            for (int j = 0; j < arm->chain.n && pull; j++) one.want[j][0] = x->want[j][l];
            for (int i = 0; i < 12; i++) one.goal[i][0] = x->goal[i][l];
            if (pull) one.pull[0] = x->pull[l];
            sn_arm1_iterate(&arm->chain, &one, hold, pull);
            for (int j = 0; j < arm->chain.n; j++) x->next[j][l] = one.next[j][0];
            x->turn[l] = one.turn[0];
            x->place[l] = one.place[0];
        }
    } else if (arm->avx2) {
        sn_arm4_avx2_iterate(&arm->chain, x, hold, pull);
    } else {
        sn_arm4_iterate(&arm->chain, x, hold, pull);
    }
}

void sn_arm_search_clamp(const sn_arm_chain *c, double *inner) {
    for (int j = 0; j < c->n; j++) {
        if (c->round[j]) continue;
        if (c->turns[j]) {  // another turn of it may be inside
            while (inner[j] > c->upper[j] && inner[j] - 2 * pi >= c->lower[j]) inner[j] -= 2 * pi;
            while (inner[j] < c->lower[j] && inner[j] + 2 * pi <= c->upper[j]) inner[j] += 2 * pi;
        }
        inner[j] = sn_arm_between(inner[j], c->lower[j], c->upper[j]);
    }
}

typedef struct lane {
    int steps;
    double before;
    bool live;
} lane;

static double fall(sn_arm_search *s, double (*start)[SN_ARM_MAX], int steps, double share,
                   int agree, double *low) {
    sn_arm_fall f = {.start = start, .steps = steps, .share = share, .agree = agree, .q = low};
    sn_arm_search_fall(s, &f, 1);
    return f.f;
}

// Later starts end beside the goal where an arm is all but stretched: the exact Hessian knows the rest of
// the way.
static bool close_four(sn_arm_search *s, double (*beside)[SN_ARM_MAX], double *q) {
    double low[SN_ARM_MAX], position, rotation;
    if (sn_arm_search_can_fall(s->arm)) {
        (void)fall(s, beside, CLOSE_STEPS, 1e-4, SN_ARM_LANES, low);
        sn_arm_search_nearest(s, low, SN_ARM_NEAREST_STEPS, q);
        return within(s, q, &position, &rotation);
    }
    for (int l = 0; l < SN_ARM_LANES; l++) {
        sn_arm_search_nearest(s, beside[l], SN_ARM_NEAREST_STEPS, q);
        if (within(s, q, &position, &rotation)) return true;
    }
    return false;
}

bool sn_arm_search_lanes(sn_arm_search *s, int from, int until, int steps, sn_arm_collect *collect,
                         double *q) {
    const sn_arm *arm = s->arm;
    const sn_arm_chain *c = &arm->chain;
    const int n = c->n;
    sn_arm_state4 x;
    lane lanes[SN_ARM_LANES] = {{0}};
    int next = from, live = 0, closed = 0;
    double beside[SN_ARM_LANES][SN_ARM_MAX];
    bool begun = false;
    for (int i = 0; i < 12; i++)
        for (int l = 0; l < SN_ARM_LANES; l++) x.goal[i][l] = s->numbers[i];
    for (int round = 0;; round++) {
        for (int l = 0; l < SN_ARM_LANES; l++) {
            if (lanes[l].live) continue;
            double inner[SN_ARM_MAX] = {0};
            if (next < until) {
                (void)sn_arm_seed_at(&arm->seeds, c, &s->key, next++, inner);
            } else if (begun) {
                continue;  // its numbers go on, nobody looks at them
            }
            sn_arm_search_clamp(c, inner);
            for (int j = 0; j < n; j++) x.q[j][l] = inner[j];
            lanes[l] = (lane){0, INFINITY, true};
            live++;
            s->seeds++;
        }
        begun = true;
        if (live == 0) {
            // what is left of four
            if (closed % SN_ARM_LANES == 0) return false;
            for (int l = closed % SN_ARM_LANES; l < SN_ARM_LANES; l++)
                memcpy(beside[l], beside[0], sizeof beside[0]);
            return close_four(s, beside, q);
        }
        if ((round & 7) == 7 && sn_arm_search_late(s)) return false;
        sn_arm_search_step4(arm, &x, true, false);
        s->iterations++;
        for (int l = 0; l < SN_ARM_LANES; l++) {
            if (!lanes[l].live) continue;
            double f = x.place[l] + 0.25 * x.turn[l];
            if (f < s->best[l]) {
                s->best[l] = f;
                for (int j = 0; j < n; j++) s->best_q[l][j] = x.q[j][l];
            }
            const bool there = x.turn[l] <= arm->turn_tol && x.place[l] <= arm->place_tol;
            if (there || f < plain_f) {
                double inner[SN_ARM_MAX];
                for (int j = 0; j < n; j++) inner[j] = there ? x.q[j][l] : x.next[j][l];
                const bool good = sn_arm_search_arrives(s, there, inner,
                                                        collect != NULL ? collect->near : NULL, q);
                if (good && collect == NULL) return true;
                if (good) collect->take(collect, q);
                if (good || there) {
                    lanes[l].live = false;
                    live--;
                    continue;
                }
            }
            lanes[l].steps++;
            bool slow = !(f <= far_f && f <= 0.5 * lanes[l].before);
            if ((lanes[l].steps >= LOOK_AFTER && slow) || lanes[l].steps >= steps) {
                lanes[l].live = false;
                live--;
                if (from >= FEW && collect == NULL && f < close_f && closed < MOST_CLOSED) {
                    for (int j = 0; j < n; j++) beside[closed % SN_ARM_LANES][j] = x.q[j][l];
                    if (++closed % SN_ARM_LANES == 0 && close_four(s, beside, q)) return true;
                }
                continue;
            }
            lanes[l].before = f;
            for (int j = 0; j < n; j++) x.q[j][l] = x.next[j][l];
        }
    }
}

void sn_arm_search_report(const sn_arm_search *s, const double *seed, const double *q, bool reached,
                          sn_arm_report *report) {
    *report = (sn_arm_report){.seeds = s->seeds, .iterations = s->iterations, .joint = -1};
    if (reached && s->seen) {
        report->reached = true;
        report->position_error = s->position;
        report->rotation_error = s->rotation;
    } else {
        report->reached = within(s, q, &report->position_error, &report->rotation_error) || reached;
    }
    if (seed != NULL) {
        double sum = 0;
        for (int j = 0; j < s->arm->chain.n; j++) sum += (q[j] - seed[j]) * (q[j] - seed[j]);
        report->distance = sqrt(sum);
    }
    if (!report->reached) sn_arm_why_not(s, q, report);
}

// The nearest pose from the best that a lane has seen; where it is almost at the goal, from those of the
// other lanes too.
static bool close_in(sn_arm_search *s, double *q) {
    const sn_arm_chain *c = &s->arm->chain;
    double other[SN_ARM_MAX], f;
    bool used[SN_ARM_LANES] = {false};
    s->nearest = INFINITY;
    for (int k = 0; k < SN_ARM_LANES; k++) {
        int best = -1;
        for (int l = 0; l < SN_ARM_LANES; l++)
            if (!used[l] && s->best[l] < INFINITY && (best < 0 || s->best[l] < s->best[best]))
                best = l;
        if (best < 0 || (k > 0 && s->nearest > close_f)) break;
        used[best] = true;
        sn_arm_search_nearest(s, s->best_q[best], SN_ARM_NEAREST_STEPS, other);
        bool good = sn_arm_search_left(s, other, &f);
        if (f < s->nearest || good) {
            s->nearest = f;
            memcpy(q, other, (size_t)c->n * sizeof *q);
        }
        if (good) return true;
    }
    return false;
}

// Four starts down, the best of them into low; what is left there, as f.
static double fall_from(sn_arm_search *s, double (*start)[SN_ARM_MAX], double *low) {
    return fall(s, start, FALL_STEPS, 0.05, 3, low);
}

double sn_arm_search_fall_on(sn_arm_search *s, int steps, double *low) {
    double start[SN_ARM_LANES][SN_ARM_MAX];
    sn_arm_search_clamp(&s->arm->chain, low);
    for (int l = 0; l < SN_ARM_LANES; l++) memcpy(start[l], low, sizeof start[l]);
    return fall(s, start, steps, 1e-4, 1, low);
}

// The last of the way to the nearest pose.
static bool end_fall(sn_arm_search *s, double *low, double *q) {
    const double f = sn_arm_search_fall_on(s, END_STEPS, low);
    sn_arm_search_nearest(s, low, f < at_f ? SN_ARM_NEAREST_STEPS : SN_ARM_NEARER_STEPS, q);
    if (sn_arm_search_left(s, q, &s->nearest)) return true;
    // singular, all but there: steps without a Hessian get on, slowly
    double other[SN_ARM_MAX];
    if (!(f < at_f && sn_arm_search_newton(s, &patient, low, NULL, other))) return false;
    memcpy(q, other, (size_t)s->arm->chain.n * sizeof *q);
    return true;
}

// A goal far from what can be reached: from starts for a goal as far as the arm gets. Keeps what was lower before, as f
// in *least.
static void fall_far(sn_arm_search *s, double *least, double *low) {
    const sn_arm_goal_key key = s->key;
    sn_arm_goal_shrink(&s->arm->seeds, &s->key);
    const int falls = s->arm->chain.n > 6 ? FALLS : 2 * FALLS;  // they cost half of it there
    for (int k = 0; k < falls; k += 2) {
        double start[SN_ARM_WIDE][SN_ARM_MAX], other[2][SN_ARM_MAX];
        for (int l = 0; l < SN_ARM_WIDE; l++)
            (void)sn_arm_seed_at(&s->arm->seeds, &s->arm->chain, &s->key, SN_ARM_LANES * k + l,
                                 start[l]);
        sn_arm_fall fall[2];
        for (int g = 0; g < 2; g++)
            fall[g] = (sn_arm_fall){.start = start + SN_ARM_LANES * g,
                                    .steps = FALL_STEPS,
                                    .share = 0.05,
                                    .agree = 3,
                                    .q = other[g]};
        sn_arm_search_fall(s, fall, 2);
        for (int g = 0; g < 2; g++) {
            if (!(fall[g].f < *least)) continue;
            *least = fall[g].f;
            memcpy(low, other[g], sizeof other[g]);
        }
    }
    s->key = key;
}

// The nearest pose by falls: from where the lanes got and, where that is not near, from starts of their
// own. Where it is near, more lanes come between, since the goal may be within reach.
static bool fall_in(sn_arm_search *s, bool far, int most, double *q) {
    double low[SN_ARM_MAX], other[SN_ARM_MAX], least = INFINITY;
    if (!far) least = fall_from(s, s->best_q, low);
    if (least < at_f) least = sn_arm_search_fall_on(s, NEARER_STEPS, low);
    if (least < close_f && end_fall(s, low, q)) return true;
    if (least < maybe_f && SOME < most) {
        const int more = least < likely_f ? MORE : SOME + 20;
        if (sn_arm_search_lanes(s, SOME, more < most ? more : most, SN_ARM_LANE_STEPS, NULL, q))
            return true;
        const double f = fall_from(s, s->best_q, other);
        return end_fall(s, f < least ? other : low, q);
    }
    fall_far(s, &least, low);
    return end_fall(s, low, q);
}

// No time is left: the best pose that was seen.
static bool take_best(const sn_arm_search *s, double *q) {
    int best = 0;
    for (int l = 1; l < SN_ARM_LANES; l++)
        if (s->best[l] < s->best[best]) best = l;
    sn_arm_chain_outward(&s->arm->chain, s->best_q[best], NULL, q);
    if (s->arm->chain.tied) sn_arm_curves_lead_back(&s->arm->chain, q);
    return false;
}

// The same by scouts, for arms that have them.
static bool comb_in(sn_arm_search *s, int most, double *q) {
    double low[SN_ARM_MAX];
    if (sn_arm_search_comb(s, most, low, q)) return true;
    if (s->timed_out) return take_best(s, q);
    if (!(s->nearest < maybe_f)) fall_far(s, &s->nearest, low);
    return end_fall(s, low, q);
}

// A pose within the limits, where no start leads to a number: joints that begin a million kilometres away.
static void stand_by(const sn_arm_search *s, double *q) {
    double inner[SN_ARM_MAX] = {0};
    sn_arm_search_clamp(&s->arm->chain, inner);
    sn_arm_chain_outward(&s->arm->chain, inner, NULL, q);
    if (s->arm->chain.tied) sn_arm_curves_lead_back(&s->arm->chain, q);
}

// What is left to do when the first start failed.
static bool run_rest(sn_arm_search *s, double *q) {
    s->seen = false;
    stand_by(s, q);
    const bool far = sn_arm_is_far(s), falls = sn_arm_search_can_fall(s->arm);
    const int most = s->arm->options.max_seeds;
    if (!far && sn_arm_search_can_comb(s->arm)) return comb_in(s, most, q);
    const int some = far ? SN_ARM_LANES : falls ? SOME : FEW;
    if (!(far && falls) &&
        sn_arm_search_lanes(s, 0, some < most ? some : most, SN_ARM_LANE_STEPS, NULL, q))
        return true;
    if (s->timed_out) return take_best(s, q);
    if (falls ? fall_in(s, far, most, q) : close_in(s, q)) return true;
    if (far || s->nearest > worth_f || s->timed_out) return false;
    const int from = falls ? MORE : FEW;
    return from < most &&
           (sn_arm_search_lanes(s, from, most, SN_ARM_LANE_STEPS, NULL, q) || close_in(s, q));
}

void sn_arm_search_end(sn_arm_search *s, bool found, double *q, sn_arm_report *report) {
    if (!found) found = run_rest(s, q);
    if (report != NULL) sn_arm_search_report(s, NULL, q, found, report);
}

void sn_arm_search_run(sn_arm_search *s, const double *seed, double *q, sn_arm_report *report) {
    const sn_arm *arm = s->arm;
    const double *want = seed != NULL ? seed : arm->rests ? arm->rest : NULL;
    double inner[SN_ARM_MAX], slid[SN_ARM_MAX];
    bool found = want != NULL && sn_arm_search_nearby(s, want, q);
    if (found) {
        // the last step may not have been looked at before: where it was not enough, more follow
        sn_arm_search_report(s, seed, q, s->seen, report);
        if (report->reached) return;
        memcpy(slid, q, (size_t)arm->chain.n * sizeof *q);
        found = sn_arm_search_near(s, slid, want, NEAR_STEPS, q);
    }
    if (!found) {
        while (!found && sn_arm_search_start(s, inner)) {
            s->seeds++;
            found = sn_arm_search_newton(s, &sn_arm_first, inner, NULL, q);
        }
        if (!found) found = run_rest(s, q);
        if (found && want != NULL && sn_arm_search_near(s, q, want, NEAR_STEPS, slid)) {
            memcpy(q, slid, (size_t)arm->chain.n * sizeof *q);
            s->seen = false;
        }
    }
    sn_arm_search_report(s, seed, q, found, report);
}
