// SPDX-License-Identifier: MIT
// Angles a person would write down.
//
// A pose has several sets of coordinates: a hinge may have made whole turns, and three hinges in a row at
// one place, the middle axis b across the others a and c, reach every rotation in two ways,
//
//   R(a, x) R(b, y) R(c, z) = R(a, x + pi) R(b, -y - 2 t) R(c, z + pi)      with c = R(b, t) a
//
// because half turns about a and c make a turn by -2 t about b. A solver that starts far away may end in any
// of them. Markers cannot tell; a plot of hip flexion can.
#include <math.h>

#include "math/atan2.h"
#include "math/round.h"
#include "math/vec3.h"
#include "take/fit.h"
#include "take/ik.h"

static const double pi = 0x1.921fb54442d18p+1;

static bool is_coupled(const sn_model *m, int j) {
    for (int i = 0; i < sn_model_ncoupling(m); i++) {
        const sn_coupling_desc *c = sn_model_coupling(m, i);
        if (c->follower.joint == j) return true;
        for (int k = 0; k < c->nleader; k++)
            if (c->leader[k].joint == j) return true;
    }
    return false;
}

// The files of OpenSim say where it is to stand, a whole turn included.
static bool is_planned(const sn_model *m, const sn_ik_plan *plan, int j) {
    if (plan == NULL) return false;
    for (int i = 0; i < plan->nprescribed; i++)
        if (plan->prescribed[i].at.joint == j) return true;
    return plan->pull[sn_model_v_index(m, j)] > 0;
}

// A hinge that may stand at any angle, and nothing else changes with a whole turn of it.
static bool turns_freely(const sn_model *m, const sn_ik_plan *plan, int j) {
    const sn_joint_desc *d = sn_model_joint(m, j);
    return d->type == SN_JOINT_HINGE && !d->locked[0] && isinf(d->lower[0]) && isinf(d->upper[0]) &&
           !is_coupled(m, j) && !is_planned(m, plan, j);
}

static bool has_marker(const sn_model *m, int joint) {
    for (int i = 0; i < sn_model_nmarker(m); i++)
        if (sn_model_marker(m, i)->joint == joint) return true;
    return false;
}

// `j` sits on its parent without any offset, and nothing else does.
static bool is_alone_on(const sn_model *m, int j) {
    const sn_joint_desc *d = sn_model_joint(m, j);
    for (int k = 0; k < 3; k++)
        if (d->position[k] != 0 || d->rotation[k + 1] != 0) return false;
    for (int i = 0; i < sn_model_njoint(m); i++)
        if (i != j && sn_model_parent(m, i) == d->parent) return false;
    return !has_marker(m, d->parent);
}

// Three hinges that reach every rotation in two ways; their coordinates, and t.
typedef struct triple {
    int q[3];
    double t;
} triple;

static bool find_triple(const sn_model *m, const sn_ik_plan *plan, int last, triple *out) {
    int joint[3] = {-1, -1, last};
    for (int k = 2; k > 0; k--) {
        joint[k - 1] = sn_model_parent(m, joint[k]);
        if (joint[k - 1] < 0 || !turns_freely(m, plan, joint[k]) ||
            !turns_freely(m, plan, joint[k - 1]) || !is_alone_on(m, joint[k]))
            return false;
    }
    sn_vec3 axis[3];
    for (int k = 0; k < 3; k++) {
        axis[k] = v3_from(sn_model_joint(m, joint[k])->axis);
        axis[k] = v3_scale(1 / v3_norm(axis[k]), axis[k]);
        out->q[k] = sn_model_q_index(m, joint[k]);
    }
    if (fabs(v3_dot(axis[0], axis[1])) > 1e-9 || fabs(v3_dot(axis[1], axis[2])) > 1e-9)
        return false;
    out->t = sn_atan2(v3_dot(axis[1], v3_cross(axis[0], axis[2])), v3_dot(axis[0], axis[2]));
    return true;
}

// The angle without the whole turns that lead away from `near`.
static double unwound(double angle, double near) {
    return angle + 2 * pi * sn_round((near - angle) / (2 * pi));
}

// The second way is told when it is the nearer one.
static void tidy_triple(const triple *t, const double *before, double *q) {
    double way[2][3], far[2] = {0, 0};
    for (int w = 0; w < 2; w++) {
        for (int k = 0; k < 3; k++) {
            double angle = q[t->q[k]], near = before != NULL ? before[t->q[k]] : 0;
            if (w == 1) angle = k == 1 ? -angle - 2 * t->t : angle + pi;
            way[w][k] = unwound(angle, near);
            far[w] += (way[w][k] - near) * (way[w][k] - near);
        }
    }
    for (int k = 0; k < 3; k++) q[t->q[k]] = way[far[1] < far[0]][k];
}

void sn_fit_tidy(const sn_model *model, const sn_ik_plan *plan, sn_motion *motion) {
    int count = sn_motion_nframe(motion);
    const double *home = plan != NULL ? plan->home : NULL;
    for (int j = 0; j < sn_model_njoint(model); j++) {
        triple t;
        if (!turns_freely(model, plan, j)) continue;
        bool three = find_triple(model, plan, j, &t);
        int at = sn_model_q_index(model, j);
        for (int f = 0; f < count; f++) {
            double *q = sn_motion_edit(motion, f);
            const double *before = f > 0 ? sn_motion_frame(motion, f - 1) : home;
            q[at] = unwound(q[at], before != NULL ? before[at] : 0);
            if (three) tidy_triple(&t, before, q);
        }
    }
}
