// SPDX-License-Identifier: MIT
// The figure as its own mirror image.
//
// Of most figures the left is the right's mirror image, in their places and in their axes: then the pose in a mirror has the
// other side's angles, some of them with the other sign. With the figure at zero, n the unit vector across it and a the axis
// of an angle, the mirror has the axis 2 (n.a) n - a, as what turns is turned the other way round there; a length along b
// has b - 2 (n.b) n. Where the other side's own axis is that or its opposite, the angle has that sign.
#include <math.h>

#include "math/vec3.h"
#include "model/model.h"
#include "sweeps/workspace.h"
#include "track/lanes.h"

// Of the figure's size by which a joint may be off its place in the mirror; and how much of an axis must be there.
static const double off = 0.05, along = 0.95;

// In sweep order; one in the middle is its own.
static int image_of(const sn_lanes *l, int k) {
    const int other = l->options.mirror[l->model->joint[k].id];
    return other < 0 ? k : l->model->sweep_of[other];
}

// Across, and a point that lies in the mirror.
static bool find_plane(const sn_lanes *l, const sn_workspace *ws, sn_vec3 *n, sn_vec3 *middle) {
    int pairs = 0;
    *n = *middle = v3(0, 0, 0);
    for (int k = 0; k < l->model->njoint; k++) {
        const int other = image_of(l, k);
        if (other <= k || l->model->joint[k].nv == 0) continue;
        const sn_vec3 a = ws->frame[k].p, b = ws->frame[other].p, way = v3_sub(a, b);
        *n = v3_add(*n, v3_dot(way, *n) < 0 ? v3_scale(-1, way) : way);
        *middle = v3_add(*middle, v3_scale(0.5, v3_add(a, b)));
        pairs++;
    }
    const double length = v3_norm(*n);
    if (pairs == 0 || !(length > 0)) return false;
    *n = v3_scale(1 / length, *n);
    *middle = v3_scale(1.0 / pairs, *middle);
    return true;
}

static bool places_are_alike(const sn_lanes *l, const sn_workspace *ws, sn_vec3 n, sn_vec3 middle) {
    double size = 0;
    for (int k = 0; k < l->model->njoint; k++)
        size = fmax(size, v3_norm(v3_sub(ws->frame[k].p, middle)));
    for (int k = 0; k < l->model->njoint; k++) {
        if (l->model->joint[k].nv == 0) continue;
        const sn_vec3 image = sn_lane_reflect(v3_sub(ws->frame[k].p, middle), n),
                      there = v3_sub(ws->frame[image_of(l, k)].p, middle);
        if (!(v3_norm(v3_sub(image, there)) <= off * size)) return false;
    }
    return true;
}

static bool joints_are_alike(const sn_joint *a, const sn_joint *b) {
    bool alike = a->type == b->type && a->nv == b->nv && a->lengths == b->lengths;
    for (int i = 0; i < 3; i++) alike = alike && a->order[i] == b->order[i];
    return alike;
}

// The sign of a velocity's image, 0 when the other side has no such axis.
static double sign_of(const sn_workspace *ws, const sn_joint *j, const sn_joint *other, int i,
                      sn_vec3 n) {
    const sn_twist *S = &ws->S[j->slot + i], *there = &ws->S[other->slot + i];
    const bool slides = (j->lengths >> i & 1) != 0;
    const sn_vec3 image =
                      slides ? sn_lane_reflect(S->b, n) : v3_scale(-1, sn_lane_reflect(S->a, n)),
                  axis = slides ? there->b : there->a;
    const double both = v3_norm(image) * v3_norm(axis), cosine = v3_dot(image, axis);
    return both > 0 && fabs(cosine) >= along * both ? copysign(1, cosine) : 0;
}

bool sn_lane_mirror_find(const sn_lanes *l, const sn_lane_coordinate *all, int count,
                         sn_lane_mirror *mirror) {
    sn_lane_worker *w = &l->workers[0];
    sn_vec3 middle;
    if (l->options.mirror == NULL) return false;
    sn_model_zero(l->model, w->q);
    if (sn_workspace_pose(w->ws, w->q) != SN_OK ||
        !find_plane(l, w->ws, &mirror->across, &middle) ||
        !places_are_alike(l, w->ws, mirror->across, middle))
        return false;
    for (int i = 0; i < count; i++) {
        const int k = all[i].joint, image = image_of(l, k);
        const sn_joint *j = &l->model->joint[k], *other = &l->model->joint[image];
        int at = 0;
        if (!joints_are_alike(j, other)) return false;
        while (at < count && all[at].q != other->q0 + (all[i].q - j->q0)) at++;
        if (at == count) return false;
        mirror->of[i] = at;
        mirror->sign[i] = sign_of(w->ws, j, other, all[i].v - j->v0, mirror->across);
        if (mirror->sign[i] == 0) return false;
    }
    return true;
}
