// SPDX-License-Identifier: MIT
#include "track/limbs.h"

#include <math.h>
#include <string.h>

#include "model/model.h"

static int subtree_end(const sn_model *m, int k) {
    int n = k + 1;
    while (n < m->njoint && m->joint[n].parent >= k) n++;
    return n;
}

int sn_limb_own_tasks(const sn_problem *p, int k) {
    return p->point_first[k + 1] - p->point_first[k] + p->part_first[k + 1] - p->part_first[k];
}

int sn_limb_tasks_below(const sn_problem *p, int k) {
    int n = 0, end = subtree_end(p->model, k);
    for (int i = k; i < end; i++) n += sn_limb_own_tasks(p, i);
    return n;
}

static int branches(const sn_problem *p, int k) {
    const sn_model *m = p->model;
    int n = 0, end = subtree_end(m, k);
    for (int i = k + 1; i < end; i++) n += m->joint[i].parent == k && sn_limb_tasks_below(p, i) > 0;
    return n;
}

static bool is_chain(const sn_problem *p, int k) {
    int end = subtree_end(p->model, k);
    for (int i = k; i < end; i++)
        if (sn_limb_tasks_below(p, i) > 0 && branches(p, i) > 1) return false;
    return true;
}

void sn_limbs_find(const sn_problem *p, sn_limbs *out) {
    const sn_model *m = p->model;
    out->root_end = out->count = 0;
    while (out->root_end < m->njoint - 1 && sn_limb_own_tasks(p, out->root_end) == 0 &&
           branches(p, out->root_end) == 1)
        out->root_end++;
    out->root_end++;
    for (int k = out->root_end; k < m->njoint && out->count < SN_MOST_LIMBS;) {
        if (sn_limb_tasks_below(p, k) > 0 && is_chain(p, k)) {
            out->limb[out->count++] = (sn_limb){k, subtree_end(m, k)};
            k = subtree_end(m, k);
        } else {
            k++;
        }
    }
}

double sn_limb_apart(const sn_joint *j, int i, double a, double b) {
    static const double half = 0x1.921fb54442d18p+1;
    const double d = a - b;
    return fabs(d) <= half || !sn_joint_goes_round(j, i) ? d : remainder(d, 2 * half);
}

double sn_limb_turned(const sn_model *m, const sn_limb *l, const double *a, const double *b) {
    double most = 0;
    for (int k = l->first; k < l->end; k++) {
        const sn_joint *j = &m->joint[k];
        for (int i = 0; i < j->nq; i++) {
            const double x = a[j->q0 + i], y = b[j->q0 + i];
            const double d = fabs(j->ops->quaternion >= 0 ? x - y : sn_limb_apart(j, i, x, y));
            if (d > most) most = d;
        }
    }
    return most;
}

void sn_limb_copy(const sn_model *m, const sn_limb *l, const double *from, double *to) {
    for (int k = l->first; k < l->end; k++) {
        const sn_joint *j = &m->joint[k];
        memcpy(to + j->q0, from + j->q0, (size_t)j->nq * sizeof *to);
    }
}
