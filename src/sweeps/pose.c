// SPDX-License-Identifier: MIT
// The sweep from the root to the leaves: every joint's frame and the twists of its degrees of
// freedom.
#include <string.h>

#include "math/sincos.h"
#include "sweeps/workspace.h"

// All angles' sines and cosines first, two at a time.
static void place_angles(sn_workspace *ws, const double *q) {
    const struct sn_angle_place *place = ws->model->angle;
    int i = 0, n = ws->model->nangle;
    for (; i + 1 < n; i += 2) {
        const double angle[2] = {q[place[i].q], q[place[i + 1].q]};
        double s[2], c[2];
        sn_sincos_two(angle, s, c);
        ws->angle[place[i].slot] = (sn_angle){s[0], c[0]};
        ws->angle[place[i + 1].slot] = (sn_angle){s[1], c[1]};
    }
    if (i < n) {
        sn_angle *last = &ws->angle[place[i].slot];
        sn_sincos_inline(q[place[i].q], &last->s, &last->c);
    }
}

// The root's own place becomes the origin: twists b + a x p change by the shift.
static void place_root(sn_workspace *ws, const double *q) {
    const sn_joint *j = &ws->model->joint[0];
    sn_frame *out = &ws->frame[0];
    ws->base[0] = j->offset;
    j->ops->place(j, q + j->q0, ws->angle, &ws->base[0], out, ws->S);
    ws->origin = out->p;
    for (int i = 0; i < j->nv; i++)
        ws->S[i].b = v3_sub(ws->S[i].b, v3_cross(ws->origin, ws->S[i].a));
    ws->base[0].p = v3_sub(ws->base[0].p, ws->origin);
    out->p = v3(0, 0, 0);
}

void sn_sweep_pose(sn_workspace *ws, const double *q) {
    const sn_model *m = ws->model;
    if (q != ws->q) memcpy(ws->q, q, (size_t)m->nq * sizeof *q);
    if (m->ncoupling > 0) {
        sn_model_follow(m, ws->q);
        q = ws->q;
    }
    place_angles(ws, q);
    place_root(ws, q);
    for (int k = 1; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        const sn_frame *parent = &ws->frame[j->parent];
        sn_frame *base = &ws->base[k];
        base->R = j->turned ? m3_mulm(&parent->R, &j->offset.R) : parent->R;
        base->p = sn_place(parent, j->offset.p);
        j->ops->place(j, q + j->q0, ws->angle + j->slot, base, &ws->frame[k], ws->S + j->slot);
    }
}
