// SPDX-License-Identifier: MIT
// The body of a GLB scene: bones and balls, each carried by one joint, as one mesh at the zero pose.
// A player puts a vertex v at F_j B_j^-1 v, F_j the joint's frame, B_j the same at the zero pose.
#include <math.h>

#include "files/glb/glb.h"
#include "math/unit.h"

const sn_glb_shape *sn_glb_solid_shape(const sn_glb *glb, sn_glb_kind kind) {
    return &glb->shape[kind == SN_GLB_BONE ? 2 : 1];
}

sn_quat sn_glb_from_y(sn_vec3 d) {
    double q[4], arc[4] = {1 + d.y, d.z, 0, -d.x};
    if (!sn_unit(arc, 4, q)) return (sn_quat){0, 1, 0, 0};
    return (sn_quat){q[0], q[1], q[2], q[3]};
}

// A plane goes on for ever: what is drawn of it is a flat round piece, as wide as the figure, below or beside its root.
static void shell_frame(const sn_glb *g, const sn_shape_desc *d, sn_vec3 end[2], sn_vec3 *scale,
                        sn_quat *turn) {
    const double thin = 1e-3 * g->size;  // what a line and a point need to be seen
    const double radius = fmax(d->radius, thin);
    end[0] = end[1] = v3_from(d->from);
    *scale = v3(radius, radius, radius);
    *turn = (sn_quat){1, 0, 0, 0};
    double axis[3];
    if (d->type == SN_SHAPE_PLANE) {
        if (sn_unit(d->normal, 3, axis)) *turn = sn_glb_from_y(v3_from(axis));
        *scale = v3(g->size, thin, g->size);
        const sn_vec3 up = v3_from(axis), root = g->frame[g->model->root].p;
        if (d->joint < 0) {
            const double off = v3_dot(up, v3_sub(root, end[0]));
            end[0] = v3_sub(root, v3_scale(off, up));
        }
        end[0] = end[1] = v3_sub(end[0], v3_scale(thin, up));
    } else if (d->type == SN_SHAPE_CAPSULE) {
        end[1] = v3_from(d->to);
        const sn_vec3 way = v3_sub(end[1], end[0]);
        const double along[3] = {way.x, way.y, way.z};
        if (sn_unit(along, 3, axis)) *turn = sn_glb_from_y(v3_from(axis));
    }
}

void sn_glb_shell_vertex(const sn_glb *glb, int shell, int vertex, double out[6]) {
    const sn_glb_shape *shape = &glb->shape[3];
    const float *v = shape->vertex[vertex];
    sn_vec3 end[2], s;
    sn_quat turn;
    shell_frame(glb, &glb->model->shape[shell], end, &s, &turn);
    const sn_mat3 R = sn_mat3_from_quat(turn);
    const sn_vec3 p = m3_mul(&R, v3((double)v[0] * s.x, (double)v[1] * s.y, (double)v[2] * s.z));
    sn_vec3 n = v3((double)v[3] / s.x, (double)v[4] / s.y, (double)v[5] / s.z);
    n = m3_mul(&R, v3_scale(1 / v3_norm(n), n));
    const sn_vec3 at = v3_add(end[vertex >= shape->nvertex / 2], p);
    out[0] = at.x, out[1] = at.y, out[2] = at.z;
    out[3] = n.x, out[4] = n.y, out[5] = n.z;
}

void sn_glb_skin_vertex(const sn_glb *glb, const sn_glb_solid *solid, int vertex, double out[6]) {
    const float *v = sn_glb_solid_shape(glb, solid->kind)->vertex[vertex];
    const sn_frame *B = &glb->bind[solid->joint];
    sn_mat3 turn = sn_mat3_from_quat(solid->rotation);
    sn_vec3 s = solid->scale;
    sn_vec3 p = v3((double)v[0] * s.x, (double)v[1] * s.y, (double)v[2] * s.z);
    // a normal stays across the surface that the scale stretches
    sn_vec3 n = v3((double)v[3] / s.x, (double)v[4] / s.y, (double)v[5] / s.z);
    p = v3_add(B->p, m3_mul(&B->R, m3_mul(&turn, p)));
    n = m3_mul(&B->R, m3_mul(&turn, v3_scale(1 / v3_norm(n), n)));
    out[0] = p.x, out[1] = p.y, out[2] = p.z;
    out[3] = n.x, out[4] = n.y, out[5] = n.z;
}

void sn_glb_skin_inverse(const sn_glb *glb, int joint, double out[16]) {
    const sn_frame *B = &glb->bind[joint];
    sn_mat3 R = m3_transpose(&B->R);
    sn_vec3 p = v3_neg(m3_mul(&R, B->p));
    for (int k = 0; k < 3; k++) {
        out[4 * k] = R.c[k].x, out[4 * k + 1] = R.c[k].y, out[4 * k + 2] = R.c[k].z;
        out[4 * k + 3] = 0;
    }
    out[12] = p.x, out[13] = p.y, out[14] = p.z, out[15] = 1;
}
