// SPDX-License-Identifier: MIT
#include "reference.h"

#include <math.h>
#include <stdlib.h>

#include "collide/closest.h"
#include "math/rotation.h"
#include "model/model.h"

typedef long double real;

// Hyper-dual numbers: a value, its derivatives along two directions, and the mixed second one.

typedef struct hyper {
    real v, a, b, ab;
} hyper;

typedef struct vec {
    hyper c[3];
} vec;

// A unit quaternion, w x y z; it stays one in its derivatives too.
typedef struct quat {
    hyper w;
    vec v;
} quat;

typedef struct frame {
    quat R;
    vec p;
} frame;

static hyper constant(real v) { return (hyper){v, 0, 0, 0}; }

static hyper add(hyper x, hyper y) { return (hyper){x.v + y.v, x.a + y.a, x.b + y.b, x.ab + y.ab}; }

static hyper sub(hyper x, hyper y) { return (hyper){x.v - y.v, x.a - y.a, x.b - y.b, x.ab - y.ab}; }

static hyper scale(real s, hyper x) { return (hyper){s * x.v, s * x.a, s * x.b, s * x.ab}; }

static hyper mul(hyper x, hyper y) {
    return (hyper){x.v * y.v, x.v * y.a + x.a * y.v, x.v * y.b + x.b * y.v,
                   x.v * y.ab + x.a * y.b + x.b * y.a + x.ab * y.v};
}

// A function of x, given with its first two derivatives at x.v.
static hyper apply(hyper x, real f, real f1, real f2) {
    return (hyper){f, f1 * x.a, f1 * x.b, f1 * x.ab + f2 * x.a * x.b};
}

static hyper sine(hyper x) {
    const real s = sinl(x.v), c = cosl(x.v);
    return apply(x, s, c, -s);
}

static hyper cosine(hyper x) {
    const real s = sinl(x.v), c = cosl(x.v);
    return apply(x, c, -s, -c);
}

// A power series at x, 0 <= x.v < 1, whose coefficients come from 1 by these ratios.
static hyper series(hyper x, real (*ratio)(int k)) {
    real f = 0, f1 = 0, f2 = 0, c = 1;
    real power = 1, power1 = 0, power2 = 0;  // x^k, x^(k-1), x^(k-2)
    for (int k = 0; k < 100; k++) {
        f += c * power;
        f1 += c * power1 * (real)k;
        f2 += c * power2 * (real)(k * (k - 1));
        if (k >= 2 && fabsl(c * power2) < 1e-26L) break;
        c *= ratio(k);
        power2 = power1;
        power1 = power;
        power *= x.v;
    }
    return apply(x, f, f1, f2);
}

static real cosine_ratio(int k) { return -1 / (real)((2 * k + 1) * (2 * k + 2)); }
static real sinc_ratio(int k) { return -1 / (real)((2 * k + 2) * (2 * k + 3)); }
static real arcsine_ratio(int k) {
    return (real)((2 * k + 1) * (2 * k + 1)) / (real)((2 * k + 2) * (2 * k + 3));
}

// cos(t) and sin(t) / t as functions of x = t^2, in which both are analytic at 0.
static void cosine_sinc(hyper x, hyper *cos_t, hyper *sinc_t) {
    if (x.v < 1) {
        *cos_t = series(x, cosine_ratio);
        *sinc_t = series(x, sinc_ratio);
        return;
    }
    const real t = sqrtl(x.v), c = cosl(t), s = sinl(t) / t;
    const real c1 = -s / 2, s1 = (c - s) / (2 * x.v);
    const real c2 = -s1 / 2, s2 = (c1 - 3 * s1) / (2 * x.v);
    *cos_t = apply(x, c, c1, c2);
    *sinc_t = apply(x, s, s1, s2);
}

// Vectors.

static vec vec_constant(const real x[3]) {
    return (vec){{constant(x[0]), constant(x[1]), constant(x[2])}};
}

static vec vec_given(const double x[3]) {
    return (vec){{constant(x[0]), constant(x[1]), constant(x[2])}};
}

static vec vec_add(vec x, vec y) {
    return (vec){{add(x.c[0], y.c[0]), add(x.c[1], y.c[1]), add(x.c[2], y.c[2])}};
}

static vec vec_sub(vec x, vec y) {
    return (vec){{sub(x.c[0], y.c[0]), sub(x.c[1], y.c[1]), sub(x.c[2], y.c[2])}};
}

static vec vec_mul(hyper s, vec x) {
    return (vec){{mul(s, x.c[0]), mul(s, x.c[1]), mul(s, x.c[2])}};
}

static hyper dot(vec x, vec y) {
    return add(add(mul(x.c[0], y.c[0]), mul(x.c[1], y.c[1])), mul(x.c[2], y.c[2]));
}

static vec cross(vec x, vec y) {
    return (vec){{sub(mul(x.c[1], y.c[2]), mul(x.c[2], y.c[1])),
                  sub(mul(x.c[2], y.c[0]), mul(x.c[0], y.c[2])),
                  sub(mul(x.c[0], y.c[1]), mul(x.c[1], y.c[0]))}};
}

static vec unit(const double x[3]) {
    const real a = x[0], b = x[1], c = x[2], length = sqrtl(a * a + b * b + c * c);
    return vec_constant((real[3]){a / length, b / length, c / length});
}

// Rotations.

static quat quat_given(const double q[4]) {
    const real w = q[0], x = q[1], y = q[2], z = q[3];
    const real length = sqrtl(w * w + x * x + y * y + z * z);
    return (quat){constant(w / length),
                  vec_constant((real[3]){x / length, y / length, z / length})};
}

static quat quat_mul(quat p, quat q) {
    return (quat){sub(mul(p.w, q.w), dot(p.v, q.v)),
                  vec_add(vec_add(vec_mul(p.w, q.v), vec_mul(q.w, p.v)), cross(p.v, q.v))};
}

static quat quat_conj(quat q) { return (quat){q.w, vec_mul(constant(-1), q.v)}; }

static vec rotate(quat q, vec x) {
    const vec t = vec_mul(constant(2), cross(q.v, x));
    return vec_add(vec_add(x, vec_mul(q.w, t)), cross(q.v, t));
}

static quat quat_about(vec axis, hyper angle) {
    const hyper half = scale(0.5L, angle);
    return (quat){cosine(half), vec_mul(sine(half), axis)};
}

static quat quat_exp(vec x) {
    hyper c, s;
    cosine_sinc(scale(0.25L, dot(x, x)), &c, &s);
    return (quat){c, vec_mul(scale(0.5L, s), x)};
}

// The rotation vector, at most pi long: angle / sin(angle / 2) times the vector part.
static vec quat_log(quat q) {
    if (q.w.v < 0) q = (quat){scale(-1, q.w), vec_mul(constant(-1), q.v)};
    const hyper n2 = dot(q.v, q.v);
    if (n2.v < 0.25L) return vec_mul(scale(2, series(n2, arcsine_ratio)), q.v);
    // As a function h of w alone, for n^2 = 1 - w^2: n^2 h' = w h - 2, n^2 h'' = 3 w h' + h.
    const real w = q.w.v, n = sqrtl(n2.v), h = 2 * atan2l(n, w) / n;
    const real h1 = (w * h - 2) / n2.v, h2 = (3 * w * h1 + h) / n2.v;
    return vec_mul(apply(q.w, h, h1, h2), q.v);
}

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
