// SPDX-License-Identifier: MIT
// Rows of H: H_ij = T_j . y_i, y_i = K T_i, for every j on i's path, from the twists laid out by
// component so that neighbours j are computed together.
#include "base/pair.h"
#include "sweeps/workspace.h"

static void columns_fill(sn_workspace *ws) {
    double *to = ws->columns;
    const size_t stride = ws->stride;
    for (int i = 0; i < ws->model->nv; i++, to++) {
        const sn_twist *T = &ws->T[i];
        to[0] = T->a.x;
        to[stride] = T->a.y;
        to[2 * stride] = T->a.z;
        to[3 * stride] = T->b.x;
        to[4 * stride] = T->b.y;
        to[5 * stride] = T->b.z;
    }
}

// Row `slot` but for the joint's own terms.
static void row_fill(sn_workspace *ws, int slot, sn_twist ys) {
    const sn_path *path = &ws->model->path;
    const double y[6] = {ys.a.x, ys.a.y, ys.a.z, ys.b.x, ys.b.y, ys.b.z};
    sn_pair yy[6];
    for (int c = 0; c < 6; c++) yy[c] = pair_of(y[c]);
    double *row = ws->rows + path->row[slot];
    int segment = path->segment_of[slot], count = slot - path->segment[segment].first + 1;
    while (segment >= 0) {
        const sn_segment *s = &path->segment[segment];
        double *to = row + s->prefix;
        // the six components lie `stride` apart
        const double *T = ws->columns + s->first, *end = T + (count & ~1);
        const size_t stride = ws->stride;
        for (; T < end; T += 2, to += 2) {
            sn_pair sum = pair_mul(pair_load(T), yy[0]);
            sum = pair_add(sum, pair_mul(pair_load(T + stride), yy[1]));
            sum = pair_add(sum, pair_mul(pair_load(T + 2 * stride), yy[2]));
            sum = pair_add(sum, pair_mul(pair_load(T + 3 * stride), yy[3]));
            sum = pair_add(sum, pair_mul(pair_load(T + 4 * stride), yy[4]));
            sum = pair_add(sum, pair_mul(pair_load(T + 5 * stride), yy[5]));
            pair_store(to, sum);
        }
        if (count & 1)
            *to = ((((T[0] * y[0] + T[stride] * y[1]) + T[2 * stride] * y[2]) +
                    T[3 * stride] * y[3]) +
                   T[4 * stride] * y[4]) +
                  T[5 * stride] * y[5];
        segment = s->parent;
        if (segment >= 0) count = path->segment[segment].count;
    }
}

void sn_rows_fill(sn_workspace *ws) {
    const sn_model *m = ws->model;
    columns_fill(ws);
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        for (int i = j->slot; i < j->slot + j->nv; i++)
            row_fill(ws, i, sn_field_times(ws->field[k].K, ws->T[i]));
        if (!sn_has_local(ws, j)) continue;
        for (int a = 0; a < j->nv; a++) {
            int slot = j->slot + a;
            double *diagonal = ws->rows + m->path.row[slot] + m->path.depth[slot];
            const double *local = ws->local + SN_MAX_JOINT_DOFS * slot;
            for (int b = 0; b <= a; b++) diagonal[b - a] += local[b];
        }
    }
    ws->rows_valid = true;
}
