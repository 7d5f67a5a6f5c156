// SPDX-License-Identifier: MIT
// What a problem allows its coordinates: limits, locks, strengths.
//
// A problem looks at its model through a view: the model's own struct with limits, gains and joints in
// arrays of the problem. All that is evaluated and solved goes through the view, so that a change needs no
// new model and no memory.
#include <math.h>
#include <string.h>

#include "tasks/problem.h"

void sn_freedom_layout(sn_problem *p, sn_layout *layout) {
    size_t nv = (size_t)p->given->nv, njoint = (size_t)p->given->njoint;
    p->view.joint = sn_layout_take(layout, njoint, sizeof *p->view.joint);
    p->view.lower = sn_layout_take(layout, nv, sizeof(double));
    p->view.upper = sn_layout_take(layout, nv, sizeof(double));
    p->view.gain = sn_layout_take(layout, nv, sizeof(double));
    p->view.inner = p->given->ncoupling > 0 ? sn_layout_take(layout, nv, sizeof(double)) : NULL;
    p->strength = sn_layout_take(layout, nv, sizeof *p->strength);
    p->locked = sn_layout_take(layout, nv, sizeof *p->locked);
}

void sn_freedom_copy(sn_problem *p, const sn_model *from, const sn_problem *other) {
    size_t nv = (size_t)from->nv;
    sn_model own = p->view;
    p->view = *from;
    p->view.joint = own.joint, p->view.lower = own.lower, p->view.upper = own.upper;
    p->view.gain = own.gain;
    p->view.inner = from->ncoupling > 0 ? own.inner : own.gain;
    memcpy(own.joint, from->joint, (size_t)from->njoint * sizeof *own.joint);
    memcpy(own.lower, from->lower, nv * sizeof(double));
    memcpy(own.upper, from->upper, nv * sizeof(double));
    memcpy(own.gain, from->gain, nv * sizeof(double));
    if (from->ncoupling > 0) memcpy(own.inner, from->inner, nv * sizeof(double));
    for (int k = 0; k < from->njoint; k++) {
        const sn_joint *j = &from->joint[k];
        const sn_joint_desc *d = &from->desc[j->id];
        for (int a = 0; a < j->nv; a++) {
            int v = j->v0 + a;
            p->strength[v] = other != NULL ? other->strength[v] : d->strength[a];
            p->locked[v] = other != NULL ? other->locked[v] : d->locked[a];
        }
    }
}

// The velocity of a joint's k-th degree of freedom; -1 when there is none, or it follows others.
static int find(const sn_problem *p, int joint, int k, sn_joint **out) {
    if (p == NULL || joint < 0 || joint >= p->view.njoint) return -1;
    *out = &p->view.joint[p->view.sweep_of[joint]];
    if (k < 0 || k >= (*out)->nv) return -1;
    int v = (*out)->v0 + k;
    return p->view.ncoupling > 0 && p->view.follows[v] ? -1 : v;
}

sn_status sn_problem_set_limits(sn_problem *problem, int joint, int k, double lower, double upper) {
    sn_joint *j;
    int v = find(problem, joint, k, &j);
    if (v < 0) return SN_ERR_ARGUMENT;
    if (!(lower <= upper) || lower == INFINITY || upper == -INFINITY) return SN_ERR_VALUE;
    bool rotation = j->ops->quaternion >= 0 && k >= j->ops->curve_first;
    if (rotation && (lower != -INFINITY || upper != INFINITY)) return SN_ERR_ARGUMENT;
    problem->view.lower[v] = lower;
    problem->view.upper[v] = upper;
    sn_joint_find_whole(j, k, lower, upper);
    return SN_OK;
}

static void set_gain(sn_problem *p, int v) {
    double gain = p->locked[v] ? 0 : p->strength[v];
    p->view.gain[v] = p->view.inner[v] = gain;
    p->view.gained = p->view.ncoupling > 0;
    for (int i = 0; i < p->view.nv && !p->view.gained; i++) p->view.gained = p->view.gain[i] != 1;
}

sn_status sn_problem_set_locked(sn_problem *problem, int joint, int k, bool locked) {
    sn_joint *j;
    int v = find(problem, joint, k, &j);
    if (v < 0) return SN_ERR_ARGUMENT;
    problem->locked[v] = locked;
    set_gain(problem, v);
    return SN_OK;
}

sn_status sn_problem_set_strength(sn_problem *problem, int joint, int k, double strength) {
    sn_joint *j;
    int v = find(problem, joint, k, &j);
    if (v < 0) return SN_ERR_ARGUMENT;
    if (!(strength >= 0) || !isfinite(strength)) return SN_ERR_VALUE;
    problem->strength[v] = strength;
    set_gain(problem, v);
    return SN_OK;
}

const double *sn_problem_lower(const sn_problem *problem) {
    return problem != NULL ? problem->view.lower : NULL;
}

const double *sn_problem_upper(const sn_problem *problem) {
    return problem != NULL ? problem->view.upper : NULL;
}

const double *sn_problem_gain(const sn_problem *problem) {
    return problem != NULL ? problem->view.gain : NULL;
}
