// SPDX-License-Identifier: MIT
//
// Corrections against the print: the local position of a bone is its own (Algorithm 2 line 3); the
// third column is 3k+2 and its axis R_Z R_Y k for ZYZ (Algorithm 3); for two angles of one joint
// the outer axis is applied last, w_outer x (v_inner x p) (Algorithm 4, where h = k the printed
// order is wrong in one triangle); root translations couple with the angles through J^T J (equation
// 35b).
#include "algorithms34.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/vec3.h"

// An instantaneous joint axis: turning about it, or sliding along it.
typedef struct axis_row {
    int joint;
    sn_vec3 local;  // in the joint's parent-side frame, before the outer angles of the same joint
    bool slides;
} axis_row;

struct alg34 {
    const sn_problem *problem;
    const sn_model *model;
    int nv, njoint, ntask;
    axis_row *axis;   // nv, file order
    sn_frame *world;  // njoint
    sn_frame *base;   // njoint: parent-side frames
    int *order;       // njoint, parents first
    double *q;
    double *J, *r, *g, *H;
    int *chain;  // joints of one chain, root first
};

static bool axes_of(const sn_joint_desc *d, sn_vec3 out[3], bool *slides, int *count) {
    *slides = d->type == SN_JOINT_SLIDER || d->type == SN_JOINT_TRANSLATION;
    switch (d->type) {
    case SN_JOINT_FIXED:
        *count = 0;
        return true;
    case SN_JOINT_HINGE:
    case SN_JOINT_SLIDER:
        *count = 1;
        out[0] = v3_from(d->axis);
        break;
    case SN_JOINT_UNIVERSAL:
        *count = 2;
        out[0] = v3_from(d->axis);
        out[1] = v3_from(d->axis2);
        break;
    case SN_JOINT_EULER:
        *count = 3;
        for (int i = 0; i < 3; i++) out[i] = v3_unit(d->order[i] - 'X');
        break;
    case SN_JOINT_TRANSLATION:
        *count = 3;
        for (int i = 0; i < 3; i++) out[i] = v3_unit(i);
        break;
    default:
        return false;
    }
    for (int i = 0; i < *count; i++) out[i] = v3_scale(1 / v3_norm(out[i]), out[i]);
    return true;
}

// R(axis, angle), by Rodrigues' formula.
static sn_mat3 rotation(sn_vec3 u, double angle) {
    double s = sin(angle), c = cos(angle);
    sn_mat3 R;
    for (int i = 0; i < 3; i++) {
        sn_vec3 e = v3_unit(i);
        R.c[i] = v3_add(v3_scale(c, e),
                        v3_add(v3_scale(s, v3_cross(u, e)), v3_scale((1 - c) * v3_dot(u, e), u)));
    }
    return R;
}

alg34 *alg34_create(const sn_problem *problem) {
    const sn_model *m = sn_problem_model(problem);
    alg34 *a = calloc(1, sizeof *a);
    if (a == NULL) return NULL;
    a->problem = problem;
    a->model = m;
    a->nv = sn_model_nv(m);
    a->njoint = sn_model_njoint(m);
    a->ntask = sn_problem_ntask(problem);
    size_t nv = (size_t)a->nv, nj = (size_t)a->njoint, nt = (size_t)a->ntask;
    a->axis = calloc(nv + 1, sizeof *a->axis);
    a->world = calloc(nj, sizeof *a->world);
    a->base = calloc(nj, sizeof *a->base);
    a->order = calloc(nj, sizeof *a->order);
    a->chain = calloc(nj, sizeof *a->chain);
    a->q = calloc(nv + 1, sizeof *a->q);
    a->J = calloc(3 * nt * nv + 1, sizeof *a->J);
    a->r = calloc(3 * nt + 1, sizeof *a->r);
    a->g = calloc(nv + 1, sizeof *a->g);
    a->H = calloc(nv * nv + 1, sizeof *a->H);
    bool good = a->axis && a->world && a->base && a->order && a->chain && a->q && a->J && a->r &&
                a->g && a->H;
    for (int j = 0; good && j < a->njoint; j++) {
        sn_vec3 axis[3];
        bool slides;
        int count;
        good = axes_of(sn_model_joint(m, j), axis, &slides, &count);
        for (int i = 0; good && i < count; i++)
            a->axis[sn_model_v_index(m, j) + i] = (axis_row){j, axis[i], slides};
    }
    if (!good) {
        alg34_destroy(a);
        return NULL;
    }
    // parents first: as often as the tree is deep, over all joints
    int placed = 0;
    bool *done = calloc(nj, sizeof *done);
    while (done != NULL && placed < a->njoint) {
        for (int j = 0; j < a->njoint; j++) {
            int parent = sn_model_parent(m, j);
            if (done[j] || (parent >= 0 && !done[parent])) continue;
            done[j] = true;
            a->order[placed++] = j;
        }
    }
    free(done);
    return a;
}

void alg34_destroy(alg34 *a) {
    if (a == NULL) return;
    free(a->axis);
    free(a->world);
    free(a->base);
    free(a->order);
    free(a->chain);
    free(a->q);
    free(a->J);
    free(a->r);
    free(a->g);
    free(a->H);
    free(a);
}

// Algorithm 2, with the loop over bones in place of the recursion.
static void forward_kinematics(alg34 *a) {
    for (int n = 0; n < a->njoint; n++) {
        int j = a->order[n], parent = sn_model_parent(a->model, j);
        const sn_joint_desc *d = sn_model_joint(a->model, j);
        sn_frame offset = {sn_mat3_from_quat((sn_quat){d->rotation[0], d->rotation[1],
                                                       d->rotation[2], d->rotation[3]}),
                           v3_from(d->position)};
        sn_frame base = parent < 0 ? offset : frame_mul(&a->world[parent], &offset), world = base;
        for (int i = sn_model_v_index(a->model, j); i < a->nv && a->axis[i].joint == j; i++) {
            if (a->axis[i].slides) {
                sn_vec3 u = m3_mul(&base.R, a->axis[i].local);
                world.p = v3_add(world.p, v3_scale(a->q[i], u));
            } else {
                sn_mat3 R = rotation(a->axis[i].local, a->q[i]);
                world.R = m3_mulm(&world.R, &R);
            }
        }
        a->base[j] = base;
        a->world[j] = world;
    }
}

// The instantaneous axis of degree of freedom i in the world: R_p R_A R_B ... of the outer angles.
static sn_vec3 world_axis(const alg34 *a, int i) {
    int joint = a->axis[i].joint;
    sn_mat3 R = a->base[joint].R;
    if (a->axis[i].slides) return m3_mul(&R, a->axis[i].local);
    for (int k = sn_model_v_index(a->model, joint); k < i; k++) {
        sn_mat3 turn = rotation(a->axis[k].local, a->q[k]);
        R = m3_mulm(&R, &turn);
    }
    return m3_mul(&R, a->axis[i].local);
}

// Algorithm 1 for one effector: the chain from the root to a joint. Returns its length.
static int make_chain(alg34 *a, int joint) {
    int length = 0;
    for (int j = joint; j >= 0; j = sn_model_parent(a->model, j)) length++;
    int at = length;
    for (int j = joint; j >= 0; j = sn_model_parent(a->model, j)) a->chain[--at] = j;
    return length;
}

double alg34_jacobian(alg34 *a, const double *q) {
    int rows = 3 * a->ntask;
    double f = 0;
    memcpy(a->q, q, (size_t)a->nv * sizeof *q);
    forward_kinematics(a);
    memset(a->J, 0, (size_t)rows * (size_t)a->nv * sizeof *a->J);
    for (int e = 0; e < a->ntask; e++) {
        const sn_task *t = sn_problem_task(a->problem, e);
        sn_frame *world = &a->world[t->joint];
        sn_vec3 p = v3_add(world->p, m3_mul(&world->R, v3_from(t->local)));
        sn_vec3 r = v3_sub(v3_from(t->goal), p);
        double weight = sn_problem_task_active(a->problem, e) ? t->weight : 0;
        double root = sqrt(weight);
        memcpy(a->r + 3 * e, &(sn_vec3){root * r.x, root * r.y, root * r.z}, sizeof r);
        f += 0.5 * weight * v3_dot(r, r);
        int length = make_chain(a, t->joint);
        for (int k = 0; k < length; k++) {
            int joint = a->chain[k];
            sn_vec3 arm = v3_sub(p, a->world[joint].p);
            for (int i = sn_model_v_index(a->model, joint); i < a->nv && a->axis[i].joint == joint;
                 i++) {
                sn_vec3 u = world_axis(a, i);
                sn_vec3 column = a->axis[i].slides ? u : v3_cross(u, arm);
                column = v3_scale(root, column);
                memcpy(a->J + (size_t)rows * (size_t)i + 3 * e, &column, sizeof column);
            }
        }
    }
    for (int i = 0; i < a->nv; i++) {
        double sum = 0;
        for (int k = 0; k < rows; k++) sum += a->J[(size_t)rows * (size_t)i + (size_t)k] * a->r[k];
        a->g[i] = -sum;
    }
    return f;
}

void alg34_hessian(alg34 *a) {
    int rows = 3 * a->ntask, nv = a->nv;
    for (int i = 0; i < nv; i++) {
        for (int j = 0; j <= i; j++) {
            const double *x = a->J + (size_t)rows * (size_t)i, *y = a->J + (size_t)rows * (size_t)j;
            double sum = 0;
            for (int k = 0; k < rows; k++) sum += x[k] * y[k];
            a->H[i + nv * j] = a->H[j + nv * i] = sum;
        }
    }
    for (int e = 0; e < a->ntask; e++) {
        sn_vec3 r = v3_from(a->r + 3 * e);
        int length = make_chain(a, sn_problem_task(a->problem, e)->joint);
        for (int k = 0; k < length; k++) {
            int inner = a->chain[k];
            for (int h = 0; h <= k; h++) {
                int outer = a->chain[h];
                for (int j = sn_model_v_index(a->model, outer); j < nv && a->axis[j].joint == outer;
                     j++) {
                    if (a->axis[j].slides) continue;  // a translation carries no direction along
                    sn_vec3 w = world_axis(a, j);
                    for (int i = sn_model_v_index(a->model, inner);
                         i < nv && a->axis[i].joint == inner; i++) {
                        if (inner == outer && i < j) continue;  // j must be the outer axis
                        sn_vec3 Ji = v3_from(a->J + (size_t)rows * (size_t)i + 3 * e);
                        double Kr = v3_dot(v3_cross(w, Ji), r);
                        a->H[i + nv * j] -= Kr;
                        if (i != j) a->H[j + nv * i] -= Kr;
                    }
                }
            }
        }
    }
}

const double *alg34_J(const alg34 *a) { return a->J; }
const double *alg34_gradient(const alg34 *a) { return a->g; }
const double *alg34_H(const alg34 *a) { return a->H; }

bool alg34_cholesky_solve(alg34 *a, double *x) {
    int n = a->nv;
    double *L = a->H;  // row-major lower triangle in place
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = L[i * n + j];
            for (int k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
            if (i != j) {
                L[i * n + j] = sum / L[j * n + j];
            } else if (sum > 0) {
                L[i * n + i] = sqrt(sum);
            } else {
                return false;
            }
        }
    }
    for (int i = 0; i < n; i++) {
        double sum = a->g[i];
        for (int k = 0; k < i; k++) sum -= L[i * n + k] * x[k];
        x[i] = sum / L[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        double sum = x[i];
        for (int k = i + 1; k < n; k++) sum -= L[k * n + i] * x[k];
        x[i] = sum / L[i * n + i];
    }
    return true;
}
