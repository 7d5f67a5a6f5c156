// SPDX-License-Identifier: MIT
// One tick of a servo loop.
//
// The step wanted is x = C^T (C C^T + lambda)^-1 e, C the columns of what counts, e what is left, lambda 0
// where the arm is able and rising as it gets singular, so that steps stay small there and nothing
// jumps: the tool goes along a straight line. Where no such line leads on, at a stretched pose, at
// limits or when nothing is won any more, the arm goes around: the solution nearest to where it is (or the
// nearest pose) becomes a target, followed as the goal moves, and the joints go there straight, which
// limits never bar. Either step is slowed as a whole until every joint keeps its speed and could still
// brake, with its acceleration, where the step ends and at its limits.
#include <string.h>

#include "arm/measure.h"

enum { N = SN_ARM_MAX, BEHIND = 5, STUCK = 3, NEAR_STEPS = 40 };

// Solve A x = b for a positive A of n rows (its lower triangle, spent), x in b's place.
static void solve(double A[6][6], int n, double *x) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double s = A[i][j];
            for (int k = 0; k < j; k++) s -= A[i][k] * A[j][k] * A[k][k];
            A[i][j] = i == j ? fmax(s, 1e-15) : s / A[j][j];
        }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) x[i] -= A[i][k] * x[k];
    for (int i = 0; i < n; i++) x[i] /= A[i][i];
    for (int i = n - 1; i >= 0; i--)
        for (int k = i + 1; k < n; k++) x[i] -= A[k][i] * x[k];
}

// The greatest speed from which a joint stops within d when this tick still moves with it:
// v t + v^2 / (2 a) = d.
static double braking(double d, double a, double t) {
    if (!(d > 0)) return 0;
    // a (sqrt(t^2 + 2 d / a) - t), which rounds to 0 for the smallest d: one joint that hardly moves would stop all
    return a < INFINITY ? 2 * d / (sqrt(t * t + 2 * d / a) + t) : d / t;
}

static double error_of(const sn_arm_chain *c, const sn_frame *tool, const sn_frame *goal,
                       sn_vec3 *place, sn_vec3 *turn) {
    sn_arm_chain_error(c, tool, goal, place, turn);
    double p = v3_norm(*place) / c->unit;
    return sqrt(p * p + 0.25 * v3_dot(*turn, *turn));
}

// What is wanted of every joint, in the model's numbers; how much of what is left it would leave, 0 to 1.
static double straight(const sn_arm *arm, const double *q, const sn_frame *goal,
                       const sn_frame *tool, double column[][6], int rows, double able, double *x) {
    const sn_arm_chain *c = &arm->chain;
    double e[6], d[N], A[6][6];
    sn_vec3 place, turn;
    (void)error_of(c, tool, goal, &place, &turn);
    // far goals are gone to in the straight line of a small step
    double size = fmax(v3_norm(turn), v3_norm(place) / c->unit), cut = size > 0.2 ? 0.2 / size : 1;
    sn_arm_rows(c, goal, v3_scale(cut, turn), v3_scale(cut / c->unit, place), e);
    double all = 0, left = 0;
    for (int i = 0; i < rows; i++) all += e[i] * e[i];
    for (int j = 0; j < c->n; j++) {
        double unit = c->length_of[j] ? c->unit : 1;
        d[j] = arm->rests ? fmin(fmax((arm->rest[j] - q[j]) / unit, -0.02), 0.02) : 0;
        for (int i = 0; i < rows; i++) e[i] -= column[j][i] * d[j];
    }
    const double low = 0.02;
    // and falls with what is left, or the last of it would take forever
    double lambda = able < low ? 0.01 * (1 - able / low) * (1 - able / low) * fmin(size, 1) : 0;
    bool held[N] = {false};
    for (int pass = 0; pass < 4; pass++) {
        double w[6];
        for (int i = 0; i < rows; i++) {
            w[i] = e[i];
            for (int k = 0; k <= i; k++) {
                A[i][k] = i == k ? lambda + 1e-10 : 0;
                for (int j = 0; j < c->n; j++) A[i][k] += column[j][i] * column[j][k];
            }
        }
        solve(A, rows, w);
        bool more = false;
        for (int j = 0; j < c->n; j++) {
            if (held[j]) continue;
            double unit = c->length_of[j] ? c->unit : 1;
            x[j] = d[j];
            for (int i = 0; i < rows; i++) x[j] += column[j][i] * w[i];
            x[j] *= unit;
            // one that would leave its limits goes to them, and the others take over what it leaves
            double to = fmin(fmax(q[j] + x[j], c->low[j]), c->high[j]) - q[j];
            if (to == x[j]) continue;
            held[j] = more = true;
            x[j] = to;
            for (int i = 0; i < rows; i++) e[i] -= column[j][i] * (to / unit - d[j]);
            for (int i = 0; i < rows; i++) column[j][i] = 0;
        }
        if (more) continue;
        // what the joints that are free make of the rest
        for (int j = 0; j < c->n; j++) {
            double unit = c->length_of[j] ? c->unit : 1;
            for (int i = 0; i < rows && !held[j]; i++) e[i] -= column[j][i] * (x[j] / unit - d[j]);
        }
        break;
    }
    for (int i = 0; i < rows; i++) left += e[i] * e[i];
    return all > 0 ? sqrt(left / all) : 0;
}

// The target of an arm that goes around: kept where it is there already, followed where the goal has
// moved, and looked for anew where it got lost.
static bool aim(sn_arm_search *s, sn_arm_motion *motion, const double *q, bool anew) {
    const sn_arm *arm = s->arm;
    const size_t size = (size_t)arm->chain.n * sizeof *q;
    double found[N];
    sn_arm_report report;
    const double *from = anew ? q : motion->target;
    sn_arm_search_report(s, NULL, from, false, &report);
    if (!anew && report.reached) return true;
    if (!anew && !motion->reaches) {
        double inner[N];
        sn_arm_chain_inward(&arm->chain, motion->target, inner);
        sn_arm_search_nearest(s, inner, SN_ARM_NEAREST_STEPS, found);
        sn_arm_search_report(s, NULL, found, false, &report);
        // which turns it takes is the target's own
        sn_arm_chain_inward(&arm->chain, found, inner);
        sn_arm_chain_outward(&arm->chain, inner, motion->target, motion->target);
        return report.reached;
    }
    if (!sn_arm_search_near(s, from, arm->rests ? arm->rest : from, NEAR_STEPS, found)) {
        sn_arm_search_run(s, from, found, &report);
        if (!report.reached) {
            memcpy(motion->target, found, size);
            return false;
        }
    }
    memcpy(motion->target, found, size);
    return true;
}

static sn_status check(const sn_arm *arm, const sn_arm_tick *tick, const sn_arm_motion *motion,
                       const double *q) {
    if (!(tick->seconds > 0) || !isfinite(tick->seconds)) return SN_ERR_VALUE;
    for (int j = 0; j < arm->chain.n; j++) {
        if (!(q[j] >= arm->chain.low[j] && q[j] <= arm->chain.high[j]) || !isfinite(q[j]) ||
            !isfinite(motion->velocity[j]))
            return SN_ERR_VALUE;
        if (tick->velocity != NULL && !(tick->velocity[j] > 0)) return SN_ERR_VALUE;
        if (tick->acceleration != NULL && !(tick->acceleration[j] > 0)) return SN_ERR_VALUE;
    }
    return SN_OK;
}

sn_status sn_arm_step(sn_arm *arm, const double goal[7], const sn_arm_tick *tick,
                      sn_arm_motion *motion, double *q, sn_arm_tick_report *report) {
    if (arm == NULL || goal == NULL || tick == NULL || motion == NULL || q == NULL)
        return SN_ERR_ARGUMENT;
    const sn_arm_chain *c = &arm->chain;
    const double t = tick->seconds, inside = 1 - 1e-9;  // what rounding may take
    sn_arm_search s;
    double column[N][6], x[N], share = 1;
    sn_frame tool;
    sn_vec3 place, turn;
    SN_TRY(check(arm, tick, motion, q));
    if (!sn_arm_search_begin(&s, arm, goal)) return SN_ERR_VALUE;
    int rows = sn_arm_columns(c, q, &s.goal, &tool, column);
    double able = sn_arm_manipulability(arm, q, NULL);
    double leaves = straight(arm, q, &s.goal, &tool, column, rows, able, x);
    const bool stuck = leaves > 0.5 || motion->behind >= STUCK;
    if (stuck && !motion->around) {
        motion->around = true;
        motion->error = INFINITY;
        motion->behind = 0;
        motion->reaches = aim(&s, motion, q, true);
    } else if (motion->around) {
        motion->reaches = aim(&s, motion, q, false);
    }
    double way = 0;
    for (int j = 0; j < c->n && motion->around; j++) {
        x[j] = motion->target[j] - q[j];
        way = fmax(way, fabs(x[j]) / (c->length_of[j] ? c->unit : 1));
    }
    for (int j = 0; j < c->n && way > 0.2; j++) x[j] *= 0.2 / way;

    double a[N], top[N];
    for (int j = 0; j < c->n; j++) {
        a[j] = tick->acceleration != NULL ? tick->acceleration[j] : INFINITY;
        top[j] = c->speed[j];
        if (tick->velocity != NULL) top[j] = fmin(top[j], tick->velocity[j]);
        double d = fabs(x[j]), most = fmin(top[j], braking(d, a[j], t));
        if (d > 0 && d / t * share > most) share = most / (d / t);
    }
    // the whole step as fast as every acceleration allows, so that its direction stays
    double least = 0, most = share;
    for (int j = 0; j < c->n; j++) {
        double v = x[j] / t, was = motion->velocity[j], more = inside * a[j] * t;
        if (v == 0) continue;
        double one = (was - more) / v, other = (was + more) / v;
        least = fmax(least, fmin(one, other));
        most = fmin(most, fmax(one, other));
    }
    const double pace = most >= least ? most : share;
    for (int j = 0; j < c->n; j++) {
        double v = pace * x[j] / t, was = motion->velocity[j], before = q[j];
        v = fmin(fmax(v, was - inside * a[j] * t), was + inside * a[j] * t);
        v = fmin(fmax(v, -inside * braking(q[j] - c->low[j], a[j], t)),
                 inside * braking(c->high[j] - q[j], a[j], t));
        v = fmin(fmax(v, -inside * top[j]), inside * top[j]);
        const double next = fmin(fmax(q[j] + v * t, c->low[j]), c->high[j]);
        if (isfinite(next))
            q[j] = next;  // else a joint without limits would go where no tick comes back from
        motion->velocity[j] = (q[j] - before) / t;
    }
    tool = sn_arm_chain_tool(c, q);
    double left = error_of(c, &tool, &s.goal, &place, &turn);
    bool reached =
        v3_norm(place) <= arm->options.position_tol && v3_norm(turn) <= arm->options.rotation_tol;
    // on the way around the tool may be led away: what counts there is how far the joints still are
    double behind = left;
    if (motion->around && motion->reaches) {
        behind = 0;
        for (int j = 0; j < c->n; j++)
            behind = fmax(behind, fabs(motion->target[j] - q[j]) / (c->length_of[j] ? c->unit : 1));
    }
    motion->behind = !reached && behind > motion->error + 1e-13 ? motion->behind + 1 : 0;
    motion->error = behind;
    sn_arm_report why = {.why = SN_ARM_REACHED};
    if (motion->around && !motion->reaches) sn_arm_why_not(&s, motion->target, &why);
    if (reached || (motion->around && behind < 0.05 && !stuck && able > 0.02 && motion->reaches))
        motion->around = false, motion->error = left;
    if (report != NULL)
        *report = (sn_arm_tick_report){.reached = reached,
                                       .position_error = v3_norm(place),
                                       .rotation_error = v3_norm(turn),
                                       .share = share,
                                       .manipulability = able,
                                       .runs_away = motion->behind >= BEHIND,
                                       .around = motion->around,
                                       .why = why.why};
    return SN_OK;
}
