// SPDX-License-Identifier: MIT
// H as a whole matrix, for methods that look for null spaces. Entry by entry along the paths, so that it
// costs what the entries are, not n products.
#include <string.h>

#include "sweeps/workspace.h"

static void add_tree(const sn_workspace *ws, double *H) {
    const sn_model *m = ws->model;
    const size_t n = (size_t)m->nv;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *joint = &m->joint[k];
        const bool own = sn_has_local(ws, joint);
        for (int i = joint->slot; i < joint->slot + joint->nv; i++) {
            sn_twist y = sn_field_times(ws->field[k].K, ws->T[i]);
            for (int j = i; j >= 0; j = m->path.parent[j]) {
                double h = v3_dot(ws->T[j].a, y.a) + v3_dot(ws->T[j].b, y.b);
                if (own && j >= joint->slot)
                    h += ws->local[SN_MAX_JOINT_DOFS * i + j - joint->slot];
                H[(size_t)i + n * (size_t)j] = H[(size_t)j + n * (size_t)i] = h;
            }
        }
    }
}

// The place among all velocities of one in a tie's rows.
static int slot_of(const sn_workspace *ws, const sn_tie *tie, int at) {
    int k = tie->njoint - 1;
    while (k > 0 && tie->at[k] > at) k--;
    return ws->model->joint[tie->joint[k]].slot + at - tie->at[k];
}

static void add_tie(const sn_workspace *ws, const sn_tie *tie, bool signs, double *H) {
    const size_t n = (size_t)ws->model->nv;
    const int R = tie->nrow;
    for (int a = 0; a < tie->nslot; a++) {
        const size_t i = (size_t)slot_of(ws, tie, a);
        for (int b = 0; b <= a; b++) {
            const size_t j = (size_t)slot_of(ws, tie, b);
            double sum = 0;
            for (int r = 0; r < R; r++)
                sum += (signs ? tie->sign[r] : 1) * tie->z[R * a + r] * tie->z[R * b + r];
            H[i + n * j] += sum;
            if (i != j) H[j + n * i] += sum;
        }
    }
}

// Rows and columns of followers are handed to those they follow, the last of a row of followers first.
static void fold(const sn_workspace *ws, double *H) {
    const sn_model *m = ws->model;
    const size_t n = (size_t)m->nv;
    const double *slope = ws->ties->slope + m->nleader;
    for (int i = m->ncoupling - 1; i >= 0; i--) {
        const sn_coupling_place *c = &m->coupled[i];
        const size_t f = (size_t)c->follower_slot;
        slope -= c->nleader;
        for (int k = 0; k < c->nleader; k++)
            for (size_t r = 0; r < n; r++) H[(size_t)c->slot[k] + n * r] += slope[k] * H[f + n * r];
        for (size_t r = 0; r < n; r++) H[f + n * r] = 0;
        for (int k = 0; k < c->nleader; k++)
            for (size_t r = 0; r < n; r++) H[r + n * (size_t)c->slot[k]] += slope[k] * H[r + n * f];
        for (size_t r = 0; r < n; r++) H[r + n * f] = 0;
    }
}

void sn_workspace_dense(const sn_workspace *ws, bool loops, double *H) {
    const size_t n = (size_t)ws->model->nv;
    memset(H, 0, n * n * sizeof *H);
    add_tree(ws, H);
    if (ws->ties == NULL) return;
    const sn_ties *t = ws->ties;
    for (size_t i = 0; i < n; i++) H[i + n * i] += t->bend[i];
    for (int p = 0; p < t->ntie; p++) {
        const sn_tie *tie = &t->tie[p];
        if (!tie->equality && tie->active) add_tie(ws, tie, true, H);
        if (loops && tie->source == SN_TIE_LOOP) add_tie(ws, tie, false, H);
    }
    fold(ws, H);
}
