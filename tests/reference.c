// SPDX-License-Identifier: MIT
#include "reference.h"

#include <math.h>
#include <stdlib.h>

#include "collide/closest.h"
#include "math/rotation.h"
#include "model/model.h"
#include "reference_pose.h"

// Tasks.

static hyper half_square(real weight, vec r) { return scale(weight / 2, dot(r, r)); }

// rho(s)
static hyper lost(const sn_task *task, hyper s) {
    const real c = task->loss_scale, x = 1 + s.v / (c * c);
    if (task->loss == SN_LOSS_CAUCHY) return apply(s, c * c * logl(x), 1 / x, -1 / (c * c * x * x));
    if (s.v <= c * c) return s;
    const real root = sqrtl(s.v);
    return apply(s, 2 * c * root - c * c, c / root, -c / (2 * root * s.v));
}

static hyper point_cost(const sn_task *task, vec r) {
    if (task->type == SN_TASK_PLANE) {
        const hyper d = dot(unit(task->normal), r);
        return scale((real)task->weight / 2, mul(d, d));
    }
    if (task->loss != SN_LOSS_NONE) return scale((real)task->weight / 2, lost(task, dot(r, r)));
    if (task->type != SN_TASK_POINT || !task->has_matrix) return half_square(task->weight, r);
    hyper sum = constant(0);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum = add(sum, scale(task->matrix[3 * j + i], mul(r.c[i], r.c[j])));
    return scale((real)task->weight / 2, sum);
}

static hyper direction_cost(real weight, const frame *at, vec local, const double goal[3]) {
    return half_square(weight, vec_sub(unit(goal), rotate(at->R, local)));
}

static hyper orientation_cost(real weight, const frame *at, const double goal[4]) {
    return half_square(weight, quat_log(quat_mul(quat_given(goal), quat_conj(at->R))));
}

// What a task on one joint's frame costs.
static hyper frame_cost(const sn_task *task, const frame *at) {
    const vec x = vec_add(at->p, rotate(at->R, vec_given(task->local)));
    const vec r = vec_sub(vec_given(task->goal), x);
    const real turn = task->rotation_weight;
    switch (task->type) {
    case SN_TASK_POINT:
    case SN_TASK_PLANE:
        return point_cost(task, r);
    case SN_TASK_DIRECTION:
        return direction_cost(task->weight, at, unit(task->local), task->goal);
    case SN_TASK_ORIENTATION:
        return orientation_cost(task->weight, at, task->rotation);
    case SN_TASK_FRAME2:
        return add(point_cost(task, r), add(direction_cost(turn, at, coordinate_axis(0), task->i),
                                            direction_cost(turn, at, coordinate_axis(1), task->j)));
    case SN_TASK_POSE:
        return add(point_cost(task, r), orientation_cost(turn, at, task->rotation));
    default:
        return constant(0);
    }
}

// An angle about an axis whose limits are a whole turn apart, or nearly: turns are alike.
static bool goes_round(const sn_joint_desc *joint, int k) {
    const double range = joint->upper[k] - joint->lower[k];
    const sn_joint_type type = joint->type;
    const bool angle = type == SN_JOINT_HINGE || type == SN_JOINT_UNIVERSAL ||
                       type == SN_JOINT_EULER || (type == SN_JOINT_SCREW && joint->pitch == 0) ||
                       ((type == SN_JOINT_PLANAR || type == SN_JOINT_SWING_TWIST) && k == 2);
    return angle && range >= 6.283185307179586 - 0.01 && range < INFINITY;
}

// What a rest or limit task costs at one joint's coordinates.
static hyper coordinate_cost(const sn_model *model, const sn_task *task, int j,
                             const coordinates *q) {
    const sn_joint_desc *joint = sn_model_joint(model, j);
    const int first = sn_model_v_index(model, j), n = plain(joint);
    hyper sum = constant(0);
    if (task->type == SN_TASK_LIMIT) {
        for (int k = 0; k < n; k++) {
            const double lower = sn_model_lower(model)[first + k];
            const double upper = sn_model_upper(model)[first + k];
            hyper out = constant(0);
            if (q->x[k].v < lower) out = sub(q->x[k], constant(lower));
            if (q->x[k].v > upper) out = sub(q->x[k], constant(upper));
            sum = add(sum, mul(out, out));
        }
    } else {
        const double *rest = task->q + sn_model_q_index(model, j);
        vec turn = {0};
        if (has_quat(joint->type)) turn = quat_log(quat_mul(q->R, quat_conj(quat_given(rest + n))));
        for (int k = 0; k < dofs(joint); k++) {
            hyper d = k < n ? sub(q->x[k], constant(rest[k])) : turn.c[k - n];
            if (k < n && goes_round(joint, k)) d.v = remainderl(d.v, 2 * acosl(-1));
            sum = add(sum, scale(task->q_weight ? task->q_weight[first + k] : 1, mul(d, d)));
        }
    }
    return scale((real)task->weight / 2, sum);
}

// Residuals of tasks that have a vector of them, each goal less what is there.

static frame at_joint(const posture *pose, const joint_state *state, int joint) {
    if (joint < 0) return (frame){.R.w = constant(1)};
    return (state[joint].moves ? state : pose->still)[joint].world;
}

static vec point_of(const frame *at, const double local[3]) {
    return vec_add(at->p, rotate(at->R, vec_given(local)));
}

static hyper root(hyper x) {
    const real r = sqrtl(x.v);
    return apply(x, r, 1 / (2 * r), -1 / (4 * r * x.v));
}

static vec vec_unit(vec x) {
    const hyper n = root(dot(x, x));
    return vec_mul(apply(n, 1 / n.v, -1 / (n.v * n.v), 2 / (n.v * n.v * n.v)), x);
}

static vec inside(const frame *at, vec x) { return rotate(quat_conj(at->R), x); }

static int put(vec x, hyper *out) {
    for (int k = 0; k < 3; k++) out[k] = x.c[k];
    return 3;
}

static vec centre_of(const sn_model *model, const sn_task *t, const posture *pose,
                     const joint_state *state) {
    const int n = t->joints ? t->njoint : pose->njoint;
    vec sum = {0};
    real all = 0;
    for (int i = 0; i < n; i++) {
        const int j = t->joints ? t->joints[i] : i;
        const sn_joint_desc *joint = sn_model_joint(model, j);
        const real mass = t->masses ? t->masses[i] : joint->mass;
        const frame at = at_joint(pose, state, j);
        sum = vec_add(sum, vec_mul(constant(mass),
                                   point_of(&at, t->centres ? t->centres + 3 * i : joint->centre)));
        all += mass;
    }
    return vec_mul(constant(1 / all), sum);
}

static int residuals(const sn_task *t, const posture *pose, const joint_state *state, hyper *out) {
    const bool single = t->type < SN_TASK_RELATIVE && t->type != SN_TASK_PLANE;
    const frame a = at_joint(pose, state, t->type == SN_TASK_CENTRE_OF_MASS ? -1 : t->joint);
    const frame b = at_joint(pose, state, single ? -1 : t->joint2);
    const vec goal = vec_given(t->goal), p = point_of(&a, t->local), p2 = point_of(&b, t->local2);
    const quat turn = quat_given(t->rotation);
    int n = 0;
    switch (t->type) {
    case SN_TASK_POINT:
    case SN_TASK_POSE:
    case SN_TASK_FRAME2:
        n = put(vec_sub(goal, p), out);
        break;
    case SN_TASK_RELATIVE:
    case SN_TASK_RELATIVE_POSE:
        n = put(vec_sub(goal, t->in_joint2 ? inside(&b, vec_sub(p, p2)) : vec_sub(p, p2)), out);
        break;
    case SN_TASK_DIRECTION:
        return put(vec_sub(unit(t->goal), rotate(a.R, unit(t->local))), out);
    case SN_TASK_CENTRE_OF_MASS:
        return put(vec_sub(goal, centre_of(pose->model, t, pose, state)), out);
    case SN_TASK_DISTANCE: {
        const vec d = vec_sub(p, p2);
        out[0] = sub(constant(t->distance), root(dot(d, d)));
        return 1;
    }
    case SN_TASK_LOOK_AT:
        return put(vec_sub(vec_unit(vec_sub(p2, p)), rotate(a.R, unit(t->axis))), out);
    case SN_TASK_PLANE:
        out[0] = dot(unit(t->normal), vec_sub(goal, inside(&b, vec_sub(p, b.p))));
        return 1;
    case SN_TASK_LINE: {
        const vec u = unit(t->axis), y = vec_sub(goal, inside(&b, vec_sub(p, b.p)));
        return put(vec_sub(y, vec_mul(dot(u, y), u)), out);
    }
    default:
        break;
    }
    if (t->type == SN_TASK_FRAME2) {
        n += put(vec_sub(unit(t->i), rotate(a.R, coordinate_axis(0))), out + n);
        n += put(vec_sub(unit(t->j), rotate(a.R, coordinate_axis(1))), out + n);
    }
    if (t->type == SN_TASK_ORIENTATION || t->type == SN_TASK_POSE)
        n += put(quat_log(quat_mul(turn, quat_conj(a.R))), out + n);
    if (t->type == SN_TASK_RELATIVE_ORIENTATION || t->type == SN_TASK_RELATIVE_POSE) {
        quat left = quat_mul(quat_mul(turn, b.R), quat_conj(a.R));
        if (t->in_joint2) left = quat_mul(turn, quat_mul(quat_conj(a.R), b.R));
        n += put(quat_log(left), out + n);
    }
    return n;
}

// r^T W r, W NULL for I.
static hyper squared(const hyper *r, int n, const double *W) {
    hyper sum = constant(0);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (W != NULL || i == j) sum = add(sum, scale(W ? W[i + n * j] : 1, mul(r[i], r[j])));
    return sum;
}

static hyper vector_cost(const sn_task *t, const posture *pose, const joint_state *state) {
    hyper r[9];
    const int n = residuals(t, pose, state, r);
    hyper s = squared(r, n > 3 ? 3 : n, t->has_matrix ? t->matrix : NULL);
    if (t->loss != SN_LOSS_NONE) s = lost(t, s);
    hyper sum = scale((real)t->weight / 2, s);
    if (n > 3)
        sum = add(sum,
                  scale((real)t->rotation_weight / 2,
                        squared(r + 3, n - 3, t->has_rotation_matrix ? t->rotation_matrix : NULL)));
    return sum;
}

const bool *reference_missing;

static hyper coupled_cost(const sn_problem *problem, const sn_task *t, const posture *pose,
                          const joint_state *state) {
    hyper r[SN_MAX_COUPLING];
    int n = 0;
    for (int i = 0; i < t->ntask; i++) {
        const int own = residuals(sn_problem_task(problem, t->tasks[i]), pose, state, r + n);
        for (int k = 0; k < own && reference_missing && reference_missing[t->tasks[i]]; k++)
            r[n + k] = constant(0);
        n += own;
    }
    return scale((real)t->weight / 2, squared(r, n, t->coupling));
}

static hyper posture_cost(const sn_task *t, const posture *pose, const joint_state *state) {
    hyper sum = constant(0);
    const int n = t->joints ? t->njoint : pose->njoint;
    for (int i = 0; i < n; i++) {
        const int j = t->joints ? t->joints[i] : i;
        const sn_joint_desc *joint = sn_model_joint(pose->model, j);
        const hyper none[SN_MAX_JOINT_DOFS] = {{0, 0, 0, 0}};
        const coordinates rest = step(joint, t->q + sn_model_q_index(pose->model, j), none);
        const frame goal = motion(joint, &rest);
        const frame now = motion(joint, &(state[j].steps ? state : pose->still)[j].q);
        sum = add(sum, half_square(t->weight, quat_log(quat_mul(goal.R, quat_conj(now.R)))));
    }
    return sum;
}

// A function of one's own for tests: smooth, 0 or above, of any number of frames.
static hyper own_phi(const frame *f, int n) {
    hyper sum = constant(0);
    for (int i = 0; i < n; i++) {
        const frame *next = &f[(i + 1) % n];
        const vec e = n > 1 ? vec_sub(f[i].p, next->p) : f[i].p;
        const hyper square = scale(0.1L, dot(e, e)), one = constant(1);
        const hyper turn =
            dot(rotate(f[i].R, coordinate_axis(0)), rotate(next->R, coordinate_axis(i % 2 + 1)));
        sum = add(sum, scale(0.25L, mul(square, square)));
        sum = add(sum, mul(add(one, turn), add(one, square)));
    }
    return sum;
}

static frame own_frame(const sn_frame *given, const hyper u[6]) {
    const sn_quat q = sn_quat_from_mat3(given->R);
    const double wxyz[4] = {q.w, q.x, q.y, q.z}, p[3] = {given->p.x, given->p.y, given->p.z};
    const vec turn = {{u[0], u[1], u[2]}}, move = {{u[3], u[4], u[5]}};
    return (frame){quat_mul(quat_exp(turn), quat_given(wxyz)), vec_add(vec_given(p), move)};
}

// phi, d phi / d u_a and d^2 phi / d u_a d u_b
static hyper own_along(int n, const sn_frame *frames, int a, int b) {
    frame at[SN_MAX_OWN_JOINTS];
    for (int i = 0; i < n; i++) {
        hyper u[6] = {{0, 0, 0, 0}};
        if (a / 6 == i && a >= 0) u[a % 6].a = 1;
        if (b / 6 == i && b >= 0) u[b % 6].b = 1;
        at[i] = own_frame(&frames[i], u);
    }
    return own_phi(at, n);
}

double reference_own_value(void *user, const sn_frame *frames, double *gradient) {
    const int n = *(const int *)user;
    for (int a = 0; gradient && a < 6 * n; a++) gradient[a] = (double)own_along(n, frames, a, -1).a;
    return (double)own_along(n, frames, -1, -1).v;
}

void reference_own_multiply(void *user, const sn_frame *frames, const double *x, double *out) {
    const int n = *(const int *)user;
    for (int a = 0; a < 6 * n; a++) {
        real sum = 0;
        for (int b = 0; b < 6 * n; b++)
            if (x[b] != 0) sum += x[b] * own_along(n, frames, a, b).ab;
        out[a] = (double)sum;
    }
}

static hyper own_cost(const sn_task *t, const posture *pose, const joint_state *state) {
    frame at[SN_MAX_OWN_JOINTS];
    for (int i = 0; i < t->njoint; i++) at[i] = at_joint(pose, state, t->joints[i]);
    return scale(t->weight, own_phi(at, t->njoint));
}

// What must not happen. The nearest points of two segments are sought on all nine pieces of the square.

static hyper over(hyper x, hyper y) {
    return mul(x, apply(y, 1 / y.v, -1 / (y.v * y.v), 2 / (y.v * y.v * y.v)));
}

static hyper one_sided(real weight, hyper c) {
    return c.v < 0 ? scale(weight / 2, mul(c, c)) : constant(0);
}

static hyper smooth_energy(vec m, vec a, vec b, real soft, hyper s, hyper t) {
    const vec r = vec_add(m, vec_sub(vec_mul(s, a), vec_mul(t, b)));
    const hyper one = constant(1);
    const hyper bent =
        add(mul(dot(a, a), sub(mul(s, s), one)), mul(dot(b, b), sub(mul(t, t), one)));
    return scale(0.5L, add(dot(r, r), scale(soft, bent)));
}

static hyper smooth_distance(vec m, vec a, vec b) {
    const bool point_a = dot(a, a).v == 0, point_b = dot(b, b).v == 0;
    const real soft = point_a || point_b ? 0 : (real)SN_CLOSEST_SOFT;
    const hyper ss = scale(1 + soft, dot(a, a)), tt = scale(1 + soft, dot(b, b));
    const hyper st = scale(-1, dot(a, b)), gs = dot(a, m), gt = scale(-1, dot(b, m));
    hyper best = constant(INFINITY);
    for (int i = point_a ? 0 : -1; i <= (point_a ? 0 : 2); i++)
        for (int k = point_b ? 0 : -1; k <= (point_b ? 0 : 2); k++) {
            // 2 stands for free, others for a fixed number; 0 is only a point's
            if ((i == 0 && !point_a) || (k == 0 && !point_b)) continue;
            hyper s = constant(i), t = constant(k);
            if (i == 2 && k == 2) {
                const hyper det = sub(mul(ss, tt), mul(st, st));
                s = over(sub(mul(st, gt), mul(tt, gs)), det);
                t = over(sub(mul(st, gs), mul(ss, gt)), det);
            } else if (i == 2) {
                s = over(scale(-1, add(gs, mul(st, t))), ss);
            } else if (k == 2) {
                t = over(scale(-1, add(gt, mul(st, s))), tt);
            }
            if (fabsl(s.v) > 1 || fabsl(t.v) > 1) continue;
            const hyper E = smooth_energy(m, a, b, soft, s, t);
            if (E.v < best.v) best = E;
        }
    return best;
}

static vec shape_point(const frame *at, const sn_shape_desc *d, const double *which) {
    return d->joint < 0 ? vec_given(which) : point_of(at, which);
}

static hyper pair_cost(const sn_task *task, const posture *pose, const joint_state *state,
                       const sn_shape_pair *pair) {
    const sn_shape_desc *d[2];
    vec from[2], to[2];
    for (int i = 0; i < 2; i++) {
        d[i] = sn_model_shape(pose->model, pair->shape[i]);
        const frame at = at_joint(pose, state, d[i]->joint);
        from[i] = shape_point(&at, d[i], d[i]->from);
        to[i] = d[i]->type == SN_SHAPE_CAPSULE ? shape_point(&at, d[i], d[i]->to) : from[i];
    }
    real least = fmin(task->distance, pair->rest);
    for (int i = 0; i < 2; i++)
        if (d[i]->type != SN_SHAPE_PLANE) least += d[i]->radius;
    for (int i = 0; i < 2; i++) {
        if (d[i]->type != SN_SHAPE_PLANE) continue;
        const frame at = at_joint(pose, state, d[i]->joint);
        const vec n = rotate(at.R, unit(d[i]->normal));
        hyper sum = constant(0);
        for (int end = 0; end < (d[1 - i]->type == SN_SHAPE_CAPSULE ? 2 : 1); end++) {
            const vec p = end == 0 ? from[1 - i] : to[1 - i];
            sum = add(sum,
                      one_sided(task->weight, sub(dot(n, vec_sub(p, from[i])), constant(least))));
        }
        return sum;
    }
    vec middle[2], arm[2];
    for (int i = 0; i < 2; i++) {
        middle[i] = vec_mul(constant(0.5L), vec_add(from[i], to[i]));
        arm[i] = vec_mul(constant(0.5L), vec_sub(to[i], from[i]));
        if (d[i]->type != SN_SHAPE_CAPSULE) arm[i] = (vec){0};
    }
    const hyper E = smooth_distance(vec_sub(middle[0], middle[1]), arm[0], arm[1]);
    return one_sided(task->weight,
                     scale(1 / (2 * least), sub(scale(2, E), constant(least * least))));
}

// The library's choice of pairs, which test_collide.c looks at.
static sn_shape_pair *pair;
static int npair;

static hyper guard_cost(const sn_task *t, const posture *pose, const joint_state *state) {
    hyper sum = constant(0);
    if (t->type == SN_TASK_AVOID) {
        for (int i = 0; i < npair; i++) {
            const int a = sn_model_shape(pose->model, pair[i].shape[0])->joint;
            const int b = sn_model_shape(pose->model, pair[i].shape[1])->joint;
            if (t->joint >= 0 && t->joint2 < 0 && a != t->joint && b != t->joint) continue;
            sum = add(sum, pair_cost(t, pose, state, &pair[i]));
        }
        return sum;
    }
    if (t->q_weight != NULL) {
        hyper c = constant(-(real)t->distance);
        for (int j = 0; j < pose->njoint; j++)
            for (int k = 0; k < plain(sn_model_joint(pose->model, j)); k++)
                c = add(c, scale(t->q_weight[sn_model_v_index(pose->model, j) + k],
                                 (state[j].steps ? state : pose->still)[j].q.x[k]));
        return one_sided(t->weight, c);
    }
    const sn_task all = {.joints = NULL};
    if (t->type == SN_TASK_HALF_SPACE && t->joint >= 0) {
        const frame a = at_joint(pose, state, t->joint), b = at_joint(pose, state, t->joint2);
        const vec n = rotate(b.R, unit(t->normal)), o = point_of(&b, t->goal);
        return one_sided(t->weight,
                         sub(dot(n, vec_sub(point_of(&a, t->local), o)), constant(t->distance)));
    }
    const vec c = centre_of(pose->model, &all, pose, state);
    if (t->type == SN_TASK_HALF_SPACE)
        return one_sided(t->weight, sub(dot(unit(t->normal), vec_sub(c, vec_given(t->goal))),
                                        constant(t->distance)));
    // an edge is two corners with all others on one side
    const vec up = unit(t->normal);
    for (int i = 0; i < t->ncorner; i++)
        for (int k = 0; k < t->ncorner; k++) {
            if (i == k) continue;
            const vec a = vec_given(t->corners + 3 * i), b = vec_given(t->corners + 3 * k);
            const vec in = vec_unit(cross(up, vec_sub(b, a)));
            bool edge = true;
            for (int n = 0; n < t->ncorner && edge; n++)
                edge = n == i || n == k || dot(in, vec_sub(vec_given(t->corners + 3 * n), a)).v > 0;
            if (edge)
                sum = add(sum,
                          one_sided(t->weight, sub(dot(in, vec_sub(c, a)), constant(t->distance))));
        }
    return sum;
}

const double *reference_mu;

// mu . c of a loop, the axes across given by the library.
static hyper loop_cost(const sn_loop_place *loop, const sn_loop_desc *d, const posture *pose,
                       const joint_state *state, const double *mu) {
    vec p[2], axis[2][3];
    hyper sum = constant(0);
    for (int i = 0; i < 2; i++) {
        frame at = {.R.w = constant(1)};
        if (d->joint[i] >= 0)
            at = (state[d->joint[i]].moves ? state : pose->still)[d->joint[i]].world;
        p[i] = vec_add(at.p, rotate(at.R, vec_given(d->position[i])));
        for (int k = 0; k < 3; k++) {
            const double column[3] = {loop->frame[i].c[k].x, loop->frame[i].c[k].y,
                                      loop->frame[i].c[k].z};
            axis[i][k] = rotate(at.R, vec_given(column));
        }
    }
    const vec r = vec_sub(p[0], p[1]);
    if (d->type == SN_LOOP_DISTANCE) {
        const real L = d->distance;
        return scale(mu[0] / (2 * L), sub(dot(r, r), constant(L * L)));
    }
    if (d->type == SN_LOOP_LINE)
        return add(scale(mu[0], dot(axis[1][1], r)), scale(mu[1], dot(axis[1][2], r)));
    for (int k = 0; k < 3; k++) sum = add(sum, scale(mu[k], r.c[k]));
    for (int k = 0; k < 2 && d->type == SN_LOOP_PIN; k++)
        sum = add(sum, scale(mu[3 + k], dot(axis[0][0], axis[1][1 + k])));
    for (int k = 0; k < 3 && d->type == SN_LOOP_WELD; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        sum = add(sum, scale((real)mu[3 + k] / 2,
                             sub(dot(axis[0][i], axis[1][j]), dot(axis[0][j], axis[1][i]))));
    }
    return sum;
}

// The sum of all that depends on the directions in `state`.
static hyper cost(const sn_problem *problem, const posture *pose, const joint_state *state) {
    hyper sum = constant(0);
    for (int i = 0; reference_mu && i < sn_model_nloop(pose->model); i++)
        sum = add(sum, loop_cost(&pose->model->looped[i], sn_model_loop(pose->model, i), pose,
                                 state, reference_mu + 6 * i));
    for (int t = 0; t < sn_problem_ntask(problem); t++) {
        if (!sn_problem_task_active(problem, t)) continue;
        const sn_task *task = sn_problem_task(problem, t);
        if (task->type == SN_TASK_COUPLED) {
            sum = add(sum, coupled_cost(problem, task, pose, state));
            continue;
        }
        if (task->type == SN_TASK_POSTURE) {
            sum = add(sum, posture_cost(task, pose, state));
            continue;
        }
        if (task->type == SN_TASK_OWN) {
            sum = add(sum, own_cost(task, pose, state));
            continue;
        }
        if (task->type > SN_TASK_OWN) {
            sum = add(sum, guard_cost(task, pose, state));
            continue;
        }
        const bool plain_point = task->type == SN_TASK_POINT && !task->has_matrix;
        if (task->type >= SN_TASK_RELATIVE || task->has_matrix || task->has_rotation_matrix ||
            (task->type == SN_TASK_PLANE && task->joint2 >= 0) ||
            (task->loss != SN_LOSS_NONE && !plain_point)) {
            sum = add(sum, vector_cost(task, pose, state));
            continue;
        }
        if (task->type != SN_TASK_REST && task->type != SN_TASK_LIMIT) {
            const joint_state *s = &state[task->joint];
            if (s->moves) sum = add(sum, frame_cost(task, &s->world));
            continue;
        }
        for (int j = 0; j < pose->njoint; j++) {
            const bool of = task->type == SN_TASK_REST || task->joint < 0 || task->joint == j;
            if (of && state[j].steps)
                sum = add(sum, coordinate_cost(pose->model, task, j, &state[j].q));
        }
    }
    return sum;
}

void reference_eval(const sn_problem *problem, const double *q, double *f, double *g, double *H) {
    const sn_model *model = sn_problem_model(problem);
    const size_t nv = (size_t)sn_model_nv(model);
    posture pose = pose_create(model, q);
    if (sn_pairs_find(model, NULL, &pair, &npair) != SN_OK) abort();
    if (f) *f = (double)cost(problem, &pose, pose.still).v;
    for (size_t a = 0; a < (g || H ? nv : 0); a++) {
        for (size_t b = a; b < (H ? nv : a + 1); b++) {
            place(&pose, (int)a, (int)b);
            const hyper sum = cost(problem, &pose, pose.now);
            if (g && b == a) g[a] = (double)sum.a;
            if (H) H[b * nv + a] = H[a * nv + b] = (double)sum.ab;
        }
    }
    free(pair);
    pose_destroy(&pose);
}

void reference_frame(const sn_model *model, const double *q, int joint, double R[9], double p[3]) {
    posture pose = pose_create(model, q);
    const frame *world = &pose.still[joint].world;
    for (int c = 0; c < 3; c++) {
        const vec column = rotate(world->R, coordinate_axis(c));
        for (int r = 0; r < 3; r++) R[3 * c + r] = (double)column.c[r].v;
        p[c] = (double)world->p.c[c].v;
    }
    pose_destroy(&pose);
}

double reference_relative(const double *x, const double *y, int n, double floor) {
    double difference = 0, size = fmax(1e-300, floor);
    for (int k = 0; k < n; k++) {
        if (!isfinite(x[k]) || !isfinite(y[k])) return INFINITY;
        difference = fmax(difference, fabs(x[k] - y[k]));
        size = fmax(size, fabs(y[k]));
    }
    return difference / size;
}
