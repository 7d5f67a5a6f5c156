// SPDX-License-Identifier: MIT
// Rows of H: H_ij = S_j . y_i for every j on i's path, from the twists laid out by component so
// that neighbours j are computed together.
#include "sweeps/workspace.h"

void sn_rows_begin(sn_workspace *ws) {
    for (int i = 0; i < ws->model->nv; i++) {
        const sn_twist *S = &ws->S[i];
        const double part[6] = {S->a.x, S->a.y, S->a.z, S->b.x, S->b.y, S->b.z};
        for (int c = 0; c < 6; c++) ws->column[c][i] = part[c];
    }
}

void sn_rows_fill(sn_workspace *ws, int slot, sn_vec3 ya, sn_vec3 yb) {
    const sn_path *path = &ws->model->path;
    double *row = ws->rows + path->row[slot];
    int segment = path->segment_of[slot], count = slot - path->segment[segment].first + 1;
    while (segment >= 0) {
        const sn_segment *s = &path->segment[segment];
        double *restrict to = row + s->prefix;
        const double *restrict c0 = ws->column[0] + s->first, *restrict c1 = ws->column[1] + s->first;
        const double *restrict c2 = ws->column[2] + s->first, *restrict c3 = ws->column[3] + s->first;
        const double *restrict c4 = ws->column[4] + s->first, *restrict c5 = ws->column[5] + s->first;
        int j = 0;
        for (; j + 1 < count; j += 2) {
            to[j] = ((c0[j] * ya.x + c1[j] * ya.y) + (c2[j] * ya.z + c3[j] * yb.x)) +
                    (c4[j] * yb.y + c5[j] * yb.z);
            to[j + 1] = ((c0[j + 1] * ya.x + c1[j + 1] * ya.y) +
                         (c2[j + 1] * ya.z + c3[j + 1] * yb.x)) +
                        (c4[j + 1] * yb.y + c5[j + 1] * yb.z);
        }
        if (j < count)
            to[j] = ((c0[j] * ya.x + c1[j] * ya.y) + (c2[j] * ya.z + c3[j] * yb.x)) +
                    (c4[j] * yb.y + c5[j] * yb.z);
        segment = s->parent;
        if (segment >= 0) count = path->segment[segment].count;
    }
}

void sn_rows_curve(sn_workspace *ws, int k, sn_vec3 n, sn_vec3 f) {
    const sn_joint *j = &ws->model->joint[k];
    const sn_joint_ops *ops = sn_joint_ops_of(j->type);
    const sn_path *path = &ws->model->path;
    sn_vec3 e[3][3];
    ops->curve(j, ws->q + j->q0, &ws->base[k], e);
    // the torque about the joint's centre: (e; o x e) . (n; f) = e . (n - o x f)
    sn_vec3 torque = v3_sub(n, v3_cross(ws->frame[k].p, f));
    for (int a = 0; a < ops->curve_count; a++) {
        int slot = j->slot + ops->curve_first + a;
        double *diagonal = ws->rows + path->row[slot] + path->depth[slot];
        for (int b = 0; b <= a; b++) diagonal[b - a] -= v3_dot(e[a][b], torque);
    }
}
