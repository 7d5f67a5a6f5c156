// SPDX-License-Identifier: MIT
// The reference's poses: joints, functions and couplings as their definitions say, in hyper-dual numbers.
// Included by reference.c alone.
#pragma once

#include "hyper.h"
#include "model/model.h"
#include "sinew/sinew.h"

// Joints.

static int dofs(const sn_joint_desc *joint) {
    if (joint->type == SN_JOINT_FUNCTION) return joint->functions->ncoordinate;
    static const int count[SN_JOINT_TYPE_COUNT] = {
        [SN_JOINT_HINGE] = 1,       [SN_JOINT_SLIDER] = 1,      [SN_JOINT_SCREW] = 1,
        [SN_JOINT_UNIVERSAL] = 2,   [SN_JOINT_EULER] = 3,       [SN_JOINT_BALL] = 3,
        [SN_JOINT_EXPMAP] = 3,      [SN_JOINT_SWING_TWIST] = 3, [SN_JOINT_PLANAR] = 3,
        [SN_JOINT_TRANSLATION] = 3, [SN_JOINT_FREE] = 6,
    };
    return count[joint->type];
}

static bool has_quat(sn_joint_type type) { return type == SN_JOINT_BALL || type == SN_JOINT_FREE; }

// How many coordinates are plain numbers, which are added to; they come before a quaternion.
static int plain(const sn_joint_desc *joint) {
    return dofs(joint) - (has_quat(joint->type) ? 3 : 0);
}

// A joint's coordinates after a step, plain ones and the quaternion.
typedef struct coordinates {
    hyper x[SN_MAX_JOINT_DOFS];
    quat R;
} coordinates;

static coordinates step(const sn_joint_desc *joint, const double *q,
                        const hyper u[SN_MAX_JOINT_DOFS]) {
    coordinates c = {.R.w = constant(1)};
    const int n = plain(joint);
    for (int k = 0; k < n; k++) c.x[k] = add(constant(q[k]), u[k]);
    if (has_quat(joint->type))
        c.R = quat_mul(quat_exp((vec){{u[n], u[n + 1], u[n + 2]}}), quat_given(q + n));
    return c;
}

// The axes u and v across the unit axis.
static void across(vec axis, vec *u, vec *v) {
    int c = 2;
    if (fabsl(axis.c[0].v) > fabsl(axis.c[c].v)) c = 0;
    if (fabsl(axis.c[1].v) > fabsl(axis.c[c].v)) c = 1;
    real e[3] = {0, 0, 0};
    e[(c + 1) % 3] = 1;
    const real along = axis.c[(c + 1) % 3].v;
    for (int k = 0; k < 3; k++) e[k] -= along * axis.c[k].v;
    const real length = sqrtl(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    *u = vec_constant((real[3]){e[0] / length, e[1] / length, e[2] / length});
    *v = cross(axis, *u);
}

static vec coordinate_axis(int k) { return vec_constant((real[3]){k == 0, k == 1, k == 2}); }

// Functions.

static hyper power(hyper x, int k) {
    hyper p = constant(1);
    for (int i = 0; i < k; i++) p = mul(p, x);
    return p;
}

// The sum of a polynomial's terms whose first arguments have the powers that made `so_far`.
static hyper terms(const sn_function *f, const hyper *q, int argument, int left, hyper so_far,
                   int *next) {
    if (argument == f->nargument) return scale(f->y[(*next)++], so_far);
    hyper sum = constant(0);
    for (int k = 0; k <= left; k++)
        sum = add(sum, terms(f, q, argument + 1, left - k,
                             mul(so_far, power(q[f->argument[argument]], k)), next));
    return sum;
}

static int count_terms(int arguments, int left) {
    if (arguments == 0) return 1;
    int n = 0;
    for (int k = 0; k <= left; k++) n += count_terms(arguments - 1, left - k);
    return n;
}

// The third derivative of the cubic through four points: six times their divided difference.
static real third(const double *x, const double *y) {
    real sum = 0;
    for (int i = 0; i < 4; i++) {
        real p = y[i];
        for (int j = 0; j < 4; j++)
            if (j != i) p /= (real)x[i] - x[j];
        sum += p;
    }
    return 6 * sum;
}

// Second derivatives at the knots from the definition: slopes meet at inner knots, the first and last
// pieces have the third derivatives of the cubics through the outermost four points (0 with fewer).
static void spline_bends(const double *x, const double *y, int n, real *M) {
    real *A = calloc((size_t)(n * (n + 1)), sizeof *A);
    if (A == NULL) abort();
#define AT(r, c) A[(r) * (n + 1) + (c)]
    for (int i = 1; i + 1 < n; i++) {
        const real left = (real)x[i] - x[i - 1], right = (real)x[i + 1] - x[i];
        AT(i, i - 1) = left / 6;
        AT(i, i) = (left + right) / 3;
        AT(i, i + 1) = right / 6;
        AT(i, n) = ((real)y[i + 1] - y[i]) / right - ((real)y[i] - y[i - 1]) / left;
    }
    AT(0, 0) = AT(n - 1, n - 2) = -1;
    AT(0, 1) = AT(n - 1, n - 1) = 1;
    if (n > 3) {
        AT(0, n) = third(x, y) * ((real)x[1] - x[0]);
        AT(n - 1, n) = third(x + n - 4, y + n - 4) * ((real)x[n - 1] - x[n - 2]);
    }
    for (int c = 0; c < n; c++) {
        int pivot = c;
        for (int r = c + 1; r < n; r++)
            if (fabsl(AT(r, c)) > fabsl(AT(pivot, c))) pivot = r;
        for (int k = 0; k <= n; k++) {
            const real t = AT(c, k);
            AT(c, k) = AT(pivot, k);
            AT(pivot, k) = t;
        }
        for (int r = 0; r < n; r++) {
            if (r == c || AT(r, c) == 0) continue;
            const real t = AT(r, c) / AT(c, c);
            for (int k = c; k <= n; k++) AT(r, k) -= t * AT(c, k);
        }
    }
    for (int i = 0; i < n; i++) M[i] = AT(i, n) / AT(i, i);
#undef AT
    free(A);
}

static hyper spline(const sn_function *f, hyper at) {
    const int n = f->nx;
    const double *x = f->x, *y = f->y;
    real *M = calloc((size_t)n, sizeof *M);
    if (M == NULL) abort();
    if (n > 2) spline_bends(x, y, n, M);
    int k = 0;
    while (k + 2 < n && at.v >= x[k + 1]) k++;
    const real h = (real)x[k + 1] - x[k], slope = ((real)y[k + 1] - y[k]) / h;
    const real left = slope - h * (2 * M[k] + M[k + 1]) / 6;
    const real right = slope + h * (M[k] + 2 * M[k + 1]) / 6;
    const hyper s = sub(at, constant(x[k]));
    hyper out = add(constant(y[k]), scale(left, s));
    if (at.v > x[n - 1]) {
        out = add(constant(y[n - 1]), scale(right, sub(at, constant(x[n - 1]))));
    } else if (at.v >= x[0]) {
        out = add(out, scale(M[k] / 2, power(s, 2)));
        out = add(out, scale((M[k + 1] - M[k]) / (6 * h), power(s, 3)));
    }
    free(M);
    return out;
}

static hyper polyline(const sn_function *f, hyper at) {
    int k = 0;
    while (k + 2 < f->nx && at.v >= f->x[k + 1]) k++;
    const real slope = ((real)f->y[k + 1] - f->y[k]) / ((real)f->x[k + 1] - f->x[k]);
    return add(constant(f->y[k]), scale(slope, sub(at, constant(f->x[k]))));
}

static hyper function_at(const sn_function *f, const hyper *q) {
    const int n = f->nargument;
    hyper value = constant(0);
    int next = 0, degree = 0;
    switch (f->type) {
    case SN_FUNCTION_CONSTANT:
        value = constant(f->y[0]);
        break;
    case SN_FUNCTION_LINEAR:
        for (int i = 0; i < n; i++) value = add(value, scale(f->y[i], q[f->argument[i]]));
        value = add(value, constant(f->y[n]));
        break;
    case SN_FUNCTION_POLYNOMIAL:
        while (count_terms(n, degree) < f->ny) degree++;
        value = terms(f, q, 0, degree, constant(1), &next);
        break;
    case SN_FUNCTION_SPLINE:
        value = spline(f, q[f->argument[0]]);
        break;
    case SN_FUNCTION_POLYLINE:
        value = polyline(f, q[f->argument[0]]);
        break;
    default:
        value = constant(f->y[n + 1]);
        for (int i = 0; i < n; i++) value = add(value, scale(f->y[1 + i], q[f->argument[i]]));
        value = add(scale(f->y[0], sine(value)), constant(f->y[n + 2]));
        break;
    }
    return scale(f->scale, value);
}

// The joint's motion in its parent-side frame.
static frame motion(const sn_joint_desc *joint, const coordinates *q) {
    const hyper *x = q->x;
    const vec three = {{x[0], x[1], x[2]}};
    frame m = {.R.w = constant(1)};
    vec u, v;
    switch (joint->type) {
    case SN_JOINT_HINGE:
        m.R = quat_about(unit(joint->axis), x[0]);
        break;
    case SN_JOINT_SLIDER:
        m.p = vec_mul(x[0], unit(joint->axis));
        break;
    case SN_JOINT_SCREW:
        m.R = quat_about(unit(joint->axis), x[0]);
        m.p = vec_mul(scale(joint->pitch, x[0]), unit(joint->axis));
        break;
    case SN_JOINT_UNIVERSAL:
        m.R = quat_mul(quat_about(unit(joint->axis), x[0]), quat_about(unit(joint->axis2), x[1]));
        break;
    case SN_JOINT_EULER:
        for (int k = 0; k < 3; k++)
            m.R = quat_mul(m.R, quat_about(coordinate_axis(joint->order[k] - 'X'), x[k]));
        break;
    case SN_JOINT_BALL:
        m.R = q->R;
        break;
    case SN_JOINT_EXPMAP:
        m.R = quat_exp(three);
        break;
    case SN_JOINT_SWING_TWIST:
        across(unit(joint->axis), &u, &v);
        m.R = quat_mul(quat_exp(vec_add(vec_mul(x[0], u), vec_mul(x[1], v))),
                       quat_about(unit(joint->axis), x[2]));
        break;
    case SN_JOINT_PLANAR:
        across(unit(joint->axis), &u, &v);
        m.p = vec_add(vec_mul(x[0], u), vec_mul(x[1], v));
        m.R = quat_about(unit(joint->axis), x[2]);
        break;
    case SN_JOINT_TRANSLATION:
        m.p = three;
        break;
    case SN_JOINT_FREE:
        m.p = three;
        m.R = q->R;
        break;
    case SN_JOINT_FUNCTION:
        for (int k = 0; k < joint->functions->nmove; k++) {
            const sn_joint_move *move = &joint->functions->move[k];
            const hyper value = function_at(&move->function, x);
            if (move->turns)
                m.R = quat_mul(m.R, quat_about(unit(move->axis), value));
            else
                m.p = vec_add(m.p, rotate(m.R, vec_mul(value, vec_given(move->axis))));
        }
        break;
    default:
        break;
    }
    return m;
}

static frame compose(const frame *outer, const frame *inner) {
    return (frame){quat_mul(outer->R, inner->R), vec_add(outer->p, rotate(outer->R, inner->p))};
}

// Poses.

typedef struct joint_state {
    coordinates q;
    frame local;  // to the parent joint's frame
    frame world;
    bool steps;  // its own coordinates depend on the directions
    bool moves;  // its world frame does
} joint_state;

typedef struct posture {
    const sn_model *model;
    const double *q;
    int njoint;
    int *order;          // parents before children
    int *owner;          // velocity -> joint
    joint_state *still;  // without derivatives
    joint_state *now;    // with those of the present pair, only where there are any
} posture;

static void *acquire(size_t count, size_t size) {
    void *block = calloc(count + 1, size);
    if (!block) abort();
    return block;
}

// From each joint up to the first one placed already, then back down, so that no depth is too much.
static void find_order(const sn_model *model, int njoint, int *order) {
    bool *placed = acquire((size_t)njoint, sizeof *placed);
    int *path = acquire((size_t)njoint, sizeof *path);
    int count = 0;
    for (int joint = 0; joint < njoint; joint++) {
        int length = 0;
        for (int k = joint; k >= 0 && !placed[k]; k = sn_model_joint(model, k)->parent) {
            placed[k] = true;
            path[length++] = k;
        }
        while (length > 0) order[count++] = path[--length];
    }
    free(path);
    free(placed);
}

// The coordinates of a joint for the directions of velocities a and b.
static void step_joint(const posture *pose, int a, int b, int j, joint_state *s) {
    const double *gain = sn_model_gain(pose->model);
    const sn_joint_desc *type = sn_model_joint(pose->model, j);
    const int first = sn_model_v_index(pose->model, j);
    hyper u[SN_MAX_JOINT_DOFS] = {{0, 0, 0, 0}};
    for (int i = 0; i < dofs(type); i++) {
        if (first + i == a) u[i].a = gain[a];
        if (first + i == b) u[i].b = gain[b];
    }
    s->q = step(type, pose->q + sn_model_q_index(pose->model, j), u);
}

// A coupling's function, of any kind.
static void follow(const sn_coupling_desc *c, joint_state *state) {
    sn_function f = c->function;
    hyper x[SN_MAX_LEADERS];
    f.nargument = c->nleader;
    for (int i = 0; i < c->nleader; i++) {
        x[i] = state[c->leader[i].joint].q.x[c->leader[i].index];
        f.argument[i] = i;
    }
    state[c->follower.joint].q.x[c->follower.index] = function_at(&f, x);
}

// The state of all joints for the directions of velocities a and b; for a < 0 the still one.
static void place(posture *pose, int a, int b) {
    joint_state *state = a < 0 ? pose->still : pose->now;
    const bool coupled = sn_model_ncoupling(pose->model) > 0;
    for (int j = 0; j < pose->njoint && coupled; j++) step_joint(pose, a, b, j, &state[j]);
    // in whatever order they are given: a row of n followers is right after n rounds
    for (int round = 0; round < sn_model_ncoupling(pose->model); round++)
        for (int i = 0; i < sn_model_ncoupling(pose->model); i++)
            follow(sn_model_coupling(pose->model, i), state);
    for (int k = 0; k < pose->njoint; k++) {
        const int j = pose->order[k];
        const sn_joint_desc *joint = sn_model_joint(pose->model, j);
        const int parent = joint->parent;
        joint_state *s = &state[j];
        s->steps = a < 0 || coupled || j == pose->owner[a] || j == pose->owner[b];
        s->moves = s->steps || (parent >= 0 && state[parent].moves);
        if (!s->moves) continue;
        if (s->steps) {
            if (!coupled) step_joint(pose, a, b, j, s);
            const frame offset = {quat_given(joint->rotation), vec_given(joint->position)};
            const frame m = motion(joint, &s->q);
            s->local = compose(&offset, &m);
        }
        const frame *local = s->steps ? &s->local : &pose->still[j].local;
        if (parent < 0) {
            s->world = *local;
        } else {
            const joint_state *outer = state[parent].moves ? state : pose->still;
            s->world = compose(&outer[parent].world, local);
        }
    }
}

static posture pose_create(const sn_model *model, const double *q) {
    const int njoint = sn_model_njoint(model);
    const size_t n = (size_t)njoint;
    posture pose = {.model = model, .q = q, .njoint = njoint};
    pose.order = acquire(n, sizeof *pose.order);
    pose.owner = acquire((size_t)sn_model_nv(model), sizeof *pose.owner);
    pose.still = acquire(n, sizeof *pose.still);
    pose.now = acquire(n, sizeof *pose.now);
    find_order(model, njoint, pose.order);
    for (int j = 0; j < njoint; j++)
        for (int i = 0; i < dofs(sn_model_joint(model, j)); i++)
            pose.owner[sn_model_v_index(model, j) + i] = j;
    place(&pose, -1, -1);
    return pose;
}

static void pose_destroy(posture *pose) {
    free(pose->order);
    free(pose->owner);
    free(pose->still);
    free(pose->now);
}
