// SPDX-License-Identifier: MIT
// Cyclic coordinate descent: one degree of freedom after the other is put where f is least, from
// the leaves to the root; one iteration is one such sweep.
//
// A degree of freedom carries everything below it rigidly, p -> Q p + v. For points of scalar
// weight and for directions d, all that matters of the subtree are the sums
//
//   W = sum w,  G = sum w g,  P = sum w p,  M = sum w g p^T,  D = sum w g d^T
//
// and they move along: P -> Q P + W v, M -> M Q^T + G v^T, D -> D Q^T. So a degree of freedom costs
// the same wherever it is, and a sweep costs what evaluating f once does, a few times over. Going
// from the leaves, nothing above has moved yet when a joint's turn comes, so its own frames are
// those of the sweep's start.
//
// Turning by t about the axis a through o leaves of f, with the sums taken from o,
//
//   -(c cos t + s sin t),  c = tr(M + D) - a.(M + D) a,  s = a . sum w (p x g + d x g)
//
// least at t = atan2(s, c), or at a limit. Sliding along b is a parabola, t = b.(G - P) / W. These
// two are hinges, sliders and what is stacked from them, and also a quaternion's three directions.
//
// A point with a loss has the weight w rho' of the sweep's start: the sum of squares with that
// weight lies above f and touches it there (tasks/loss.h), so what lowers it lowers f.
//
// The rest - rotation vectors, screws, rest poses on an angle, and subtrees with 3x3-weighted
// points or orientations, which are carried one by one - go by the slope of f along the coordinate,
// known exactly from the wrench below it: walk down to where it changes sign, then regula falsi.
#include <string.h>

#include "math/atan2.h"
#include "math/rotation.h"
#include "solvers/solver.h"
#include "tasks/loss.h"

static const double pi = 0x1.921fb54442d18p+1;

typedef struct sums {
    sn_mat3 M, D;
    sn_vec3 P, G;
    double W;
} sums;

typedef struct state {
    sums *sum;        // njoint: of subtrees, once their joints have had their turn
    sn_frame *place;  // npart: rotation of the body and point of each part that is not in the sums
    int *end;         // njoint: one past the last joint of the subtree
} state;

static void layout(sn_solver *s, sn_layout *layout_) {
    size_t njoint = (size_t)s->model->njoint;
    state a;
    a.sum = sn_layout_take(layout_, njoint, sizeof *a.sum);
    a.place = sn_layout_take(layout_, (size_t)s->problem->npart, sizeof *a.place);
    a.end = sn_layout_take(layout_, njoint, sizeof *a.end);
    s->state = sn_layout_keep(layout_, &a, sizeof a);
}

static const state *state_of(const sn_solver *s) { return s->state; }

// A + x y^T
static sn_mat3 add_outer(const sn_mat3 *A, sn_vec3 x, sn_vec3 y) {
    return (sn_mat3){{v3_add(A->c[0], v3_scale(y.x, x)), v3_add(A->c[1], v3_scale(y.y, x)),
                      v3_add(A->c[2], v3_scale(y.z, x))}};
}

static double trace_of(const sn_mat3 *A) { return A->c[0].x + A->c[1].y + A->c[2].z; }

static double size_of(const sn_mat3 *A) {
    return sqrt(v3_dot(A->c[0], A->c[0]) + v3_dot(A->c[1], A->c[1]) + v3_dot(A->c[2], A->c[2]));
}

// sum w p x g, of M = sum w g p^T
static sn_vec3 torque_of(const sn_mat3 *M) {
    return v3(M->c[1].z - M->c[2].y, M->c[2].x - M->c[0].z, M->c[0].y - M->c[1].x);
}

static sn_mat3 mul_transposed(const sn_mat3 *A, const sn_mat3 *B) {
    sn_mat3 T = m3_transpose(B);
    return m3_mulm(A, &T);
}

// Part i is active and not in the sums.
static bool is_odd(const sn_part *part) { return part->active && part->type != SN_PART_DIRECTION; }

// What is on joint k alone, at the pose of the last evaluation.
static void begin_joint(sn_solver *s, const state *a, int k) {
    const sn_problem *p = s->problem;
    const sn_frame *frame = &s->ws->frame[k];
    sums sum = {.W = 0};
    for (int i = p->point_first[k]; i < p->point_first[k + 1]; i++) {
        const sn_point *point = &p->point[i];
        if (point->weight == 0) continue;
        sn_vec3 x = sn_place(frame, point->local), g = v3_sub(point->goal, s->ws->origin);
        double w = sn_point_pull(point, v3_sub(g, x));
        sn_vec3 wg = v3_scale(w, g);
        sum.M = add_outer(&sum.M, wg, x);
        sum.P = v3_add(sum.P, v3_scale(w, x));
        sum.G = v3_add(sum.G, wg);
        sum.W += w;
    }
    for (int i = p->part_first[k]; i < p->part_first[k + 1]; i++) {
        const sn_part *part = &p->part[i];
        if (is_odd(part)) {
            a->place[i] = (sn_frame){frame->R, sn_place(frame, part->local)};
        } else if (part->active) {
            sn_vec3 wg = v3_scale(part->weight, part->goal);
            sum.D = add_outer(&sum.D, wg, m3_mul(&frame->R, part->local));
        }
    }
    a->sum[k] = sum;
    a->end[k] = k + 1;
}

static sums carried(const sums *from, const sn_frame *X) {
    sums to = *from;
    to.M = mul_transposed(&from->M, &X->R);
    to.M = add_outer(&to.M, from->G, X->p);
    to.D = mul_transposed(&from->D, &X->R);
    to.P = v3_add(m3_mul(&X->R, from->P), v3_scale(from->W, X->p));
    return to;
}

// One coordinate of one joint as its turn comes.
typedef struct turn_of {
    sn_solver *s;
    const sn_joint *j;
    int k, a;             // joint in sweep order, velocity in it
    double lower, upper;  // how far it may go from here
    double q[7];          // the joint's coordinates here,
    sn_frame frame;       // its frame
    sn_twist S;           // and how the coordinate moves it
} turn_of;

// The joint's coordinates, frame and twist when the coordinate has gone t further.
static void place_at(const turn_of *c, double t, double *q, sn_frame *frame, sn_twist *S) {
    const sn_joint *j = c->j;
    double delta[SN_MAX_JOINT_DOFS] = {0};
    sn_angle angle[SN_MAX_JOINT_DOFS] = {{0, 0}};
    sn_twist all[SN_MAX_JOINT_DOFS];
    delta[c->a] = t;
    if (j->ops->integrate != NULL) {
        j->ops->integrate(c->q, delta, q);
    } else {
        for (int i = 0; i < j->nq; i++) q[i] = c->q[i] + delta[i];
    }
    if (j->cone) (void)sn_cone_clamp(j, q);
    int at = c->s->q_of[j->slot + c->a] - j->q0, slot = j->slot + c->a;
    if (at >= 0) q[at] = fmin(fmax(q[at], c->s->lower[slot]), c->s->upper[slot]);
    for (int i = 0; i < j->nv; i++)
        if (j->ops->angles >> i & 1) sn_sincos(q[i], &angle[i].s, &angle[i].c);
    j->ops->place(j, q, angle, &c->s->ws->base[c->k], frame, all);
    *S = all[c->a];
}

static sn_frame motion(const sn_frame *from, const sn_frame *to) {
    sn_mat3 Q = mul_transposed(&to->R, &from->R);
    return (sn_frame){Q, v3_sub(to->p, m3_mul(&Q, from->p))};
}

// Slope of the rest poses along the coordinate; *weight receives theirs.
static double rest_slope(const turn_of *c, const double *q, double *weight) {
    const sn_problem *p = c->s->problem;
    const sn_joint *j = c->j;
    double slope = 0;
    *weight = 0;
    for (int i = 0; i < p->nrest; i++) {
        const sn_rest *rest = &p->rest[i];
        const double *q0 = rest->q + j->q0, *w = rest->q_weight + j->v0;
        if (!rest->active) continue;
        *weight += rest->weight * w[c->a];
        if (c->s->q_of[j->slot + c->a] >= 0) {
            slope += rest->weight * w[c->a] * sn_joint_apart(j, c->a, q[c->a], q0[c->a]);
            continue;
        }
        // three directions of one residual: joint_terms.c has the formula
        double delta[SN_MAX_JOINT_DOFS], x, dx;
        int start = j->ops->curve_first;
        j->ops->difference(q0, q, delta);
        sn_vec3 psi = v3_from(delta + start);
        sn_vec3 u = v3(w[start] * psi.x, w[start + 1] * psi.y, w[start + 2] * psi.z);
        sn_log_coefficients(v3_dot(psi, psi), &x, &dx);
        slope += rest->weight * v3_at(sn_log_jacobian_right(x, psi, u), c->a - start);
        for (int b = 0; b < 3; b++) *weight += rest->weight * w[start + b];
    }
    return slope;
}

// The wrench of the parts that are not in the sums, carried by X; returns how many there are.
static int odd_wrench(const turn_of *c, const sn_frame *X, sn_vec3 *n, sn_vec3 *f) {
    const sn_problem *p = c->s->problem;
    const state *a = state_of(c->s);
    int count = 0;
    for (int i = p->part_first[c->k]; i < p->part_first[a->end[c->k]]; i++) {
        const sn_part *part = &p->part[i];
        if (!is_odd(part)) continue;
        count++;
        sn_frame at = frame_mul(X, &a->place[i]);
        if (part->type == SN_PART_POINT) {
            sn_vec3 r = v3_sub(v3_sub(part->goal, c->s->ws->origin), at.p);
            sn_vec3 F = m3_mul(&part->matrix, r);
            *n = v3_add(*n, v3_cross(at.p, F));
            *f = v3_add(*f, F);
        } else {
            sn_mat3 turn_left = mul_transposed(&part->matrix, &at.R);
            *n = v3_add(*n, v3_scale(part->weight, sn_rotation_log(&turn_left)));
        }
    }
    return count;
}

// df/dt when the coordinate has gone t further.
static double slope_at(const turn_of *c, double t) {
    double q[7], weight;
    sn_frame frame;
    sn_twist S;
    place_at(c, t, q, &frame, &S);
    sn_frame X = motion(&c->frame, &frame);
    sums sum = carried(&state_of(c->s)->sum[c->k], &X);
    sn_vec3 n = v3_add(torque_of(&sum.M), torque_of(&sum.D)), f = v3_sub(sum.G, sum.P);
    (void)odd_wrench(c, &X, &n, &f);
    return rest_slope(c, q, &weight) - v3_dot(S.a, n) - v3_dot(S.b, f);
}

// A slope that is nothing but rounding: a relative gradient (see sn_solver_finished()) of 1e-12. Where
// it does not matter, a coordinate stays put.
static bool is_level(const turn_of *c, double slope) {
    int i = c->j->slot + c->a;
    double g = slope * c->s->model->gain[c->s->model->v_of[i]];
    return g * g <= 1e-24 * 2 * c->s->f * c->s->scale[i];
}

// Downhill to the nearest place where the slope is 0, or to the limit.
static double descend(const turn_of *c) {
    double left = 0, slope = slope_at(c, 0), sign = slope > 0 ? -1 : 1;
    double end = sign > 0 ? fmin(c->upper, pi) : fmin(-c->lower, pi);
    if (is_level(c, slope) || end <= 0) return 0;
    slope *= sign;
    // walk until it no longer goes down, in steps too short to pass over a hill
    double right = fmin(0.05, end), other = sign * slope_at(c, sign * right);
    while (other < 0 && right < end) {
        left = right;
        slope = other;
        right = fmin(fmin(3 * right, right + 0.5), end);
        other = sign * slope_at(c, sign * right);
    }
    if (other <= 0) return sign * right;
    // slope < 0 at left, other > 0 at right: regula falsi, the Illinois way
    double first = fabs(slope);
    for (int tries = 0, side = 0; tries < 60 && right - left > 1e-15 * right; tries++) {
        double t = left + (right - left) * slope / (slope - other);
        if (!(t > left && t < right)) t = 0.5 * (left + right);
        double here = sign * slope_at(c, sign * t);
        if (fabs(here) <= 1e-13 * first) return sign * t;
        if (here < 0) {
            if (side < 0) other *= 0.5;
            left = t;
            slope = here;
            side = -1;
        } else {
            if (side > 0) slope *= 0.5;
            right = t;
            other = here;
            side = 1;
        }
    }
    return sign * left;
}

// The least of -(c cos t + s sin t) with t between the limits.
static double best_turn(const turn_of *c, sn_vec3 axis, sn_vec3 through) {
    const sums *sum = &state_of(c->s)->sum[c->k];
    // the sums from a point on the axis
    sn_mat3 M = add_outer(&sum->M, v3_neg(sum->G), through);
    M = add_outer(&M, through, v3_sub(v3_scale(sum->W, through), sum->P));
    M = m3_add(&M, &sum->D);
    double x = trace_of(&M) - v3_dot(axis, m3_mul(&M, axis)), y = v3_dot(axis, torque_of(&M));
    // on the axis, or almost: no angle is better than another
    double reach = v3_norm(through), size = size_of(&sum->M) + size_of(&sum->D);
    size += reach * (v3_norm(sum->G) + v3_norm(sum->P) + reach * sum->W);
    if (x * x + y * y <= 1e-30 * size * size) return 0;
    double t = sn_atan2(y, x);
    if (t >= c->lower && t <= c->upper) return t;
    if (t - 2 * pi >= c->lower && t - 2 * pi <= c->upper) return t - 2 * pi;
    if (t + 2 * pi >= c->lower && t + 2 * pi <= c->upper) return t + 2 * pi;
    // the end that is nearer on the circle; less than a turn apart, or one of the above were inside
    double below = fabs(remainder(t - c->lower, 2 * pi));
    double above = fabs(remainder(t - c->upper, 2 * pi));
    return below < above ? c->lower : c->upper;
}

// How far the coordinate goes.
static double best_step(const turn_of *c) {
    const sums *sum = &state_of(c->s)->sum[c->k];
    const sn_joint_ops *ops = c->j->ops;
    const sn_frame still = {m3_identity(), {0, 0, 0}};
    sn_vec3 n = {0, 0, 0}, f = {0, 0, 0};
    double weight, pull = rest_slope(c, c->q, &weight);
    bool odd = odd_wrench(c, &still, &n, &f) > 0;
    if (!odd && ops->lengths[c->a]) {
        if (sum->W + weight <= 0) return 0;
        double t = (v3_dot(c->S.b, v3_sub(sum->G, sum->P)) - pull) / (sum->W + weight);
        return fmin(fmax(t, c->lower), c->upper);
    }
    bool turns = c->s->q_of[c->j->slot + c->a] < 0 || (ops->angles >> c->a & 1);
    if (c->j->type == SN_JOINT_SCREW && c->j->pitch != 0) turns = false;
    if (odd || weight > 0 || !turns) return descend(c);
    return best_turn(c, c->S.a, v3_cross(c->S.a, c->S.b));
}

// Carry the subtree along.
static void carry(const turn_of *c, const sn_frame *X) {
    const sn_problem *p = c->s->problem;
    const state *a = state_of(c->s);
    a->sum[c->k] = carried(&a->sum[c->k], X);
    for (int i = p->part_first[c->k]; i < p->part_first[a->end[c->k]]; i++)
        if (is_odd(&p->part[i])) a->place[i] = frame_mul(X, &a->place[i]);
}

// All degrees of freedom of joint k, the inner ones first; its coordinates are in s->trial. Returns
// the sum of the squared steps.
static double move_joint(sn_solver *s, int k) {
    const sn_joint *j = &s->model->joint[k];
    double square = 0, *q = s->trial + j->q0;
    for (int a = j->nv - 1; a >= 0; a--) {
        int i = j->slot + a, at = s->q_of[i];
        turn_of c = {.s = s, .j = j, .k = k, .a = a, .lower = -INFINITY, .upper = INFINITY};
        if (s->model->gain[s->model->v_of[i]] == 0) continue;
        if (at >= 0) {
            c.lower = s->lower[i] - s->trial[at];
            c.upper = s->upper[i] - s->trial[at];
        }
        double next[7];
        sn_frame frame;
        sn_twist S;
        memcpy(c.q, q, (size_t)j->nq * sizeof *q);
        place_at(&c, 0, next, &c.frame, &c.S);
        double t = best_step(&c);
        if (t == 0 || !isfinite(t)) continue;
        place_at(&c, t, next, &frame, &S);
        // at a limit exactly: the sum may round to either side of it
        if (at >= 0 && (t == c.lower || t == c.upper))
            next[at - j->q0] = t == c.lower ? s->lower[i] : s->upper[i];
        memcpy(q, next, (size_t)j->nq * sizeof *q);
        sn_frame X = motion(&c.frame, &frame);
        carry(&c, &X);
        square += t * t;
    }
    return square;
}

static double sweep(sn_solver *s) {
    const sn_model *m = s->model;
    const state *a = state_of(s);
    double square = 0;
    memcpy(s->trial, s->q, (size_t)m->nq * sizeof *s->q);
    for (int k = 0; k < m->njoint; k++) begin_joint(s, a, k);
    for (int k = m->njoint - 1; k >= 0; k--) {
        square += move_joint(s, k);
        int parent = m->joint[k].parent;
        if (parent < 0) continue;
        sums *to = &a->sum[parent];
        const sums *from = &a->sum[k];
        to->M = m3_add(&to->M, &from->M);
        to->D = m3_add(&to->D, &from->D);
        to->P = v3_add(to->P, from->P);
        to->G = v3_add(to->G, from->G);
        to->W += from->W;
        if (a->end[k] > a->end[parent]) a->end[parent] = a->end[k];
    }
    return sqrt(square);
}

static void run(sn_solver *s) {
    while (!sn_solver_finished(s)) {
        sn_trace trace = {.ratio = NAN};
        double f;
        trace.step = sweep(s);
        trace.damping = 1;
        trace.taken = sn_solver_eval(s, s->trial, SN_EVAL_GRADIENT, &f) && f < s->f;
        if (trace.taken) sn_solver_take(s, f);
        sn_solver_iterated(s, &trace);
        if (!trace.taken) {
            sn_solver_stalled(s);
            return;
        }
    }
}

const sn_method_ops sn_method_ccd = {layout, false, run};
