// SPDX-License-Identifier: MIT
// The body of a GLB scene: bones and balls, each carried by one joint, as one mesh at the zero pose.
// A player puts a vertex v at F_j B_j^-1 v, F_j the joint's frame, B_j the same at the zero pose.
#include <math.h>

#include "files/glb/glb.h"

const sn_glb_shape *sn_glb_solid_shape(const sn_glb *glb, sn_glb_kind kind) {
    return &glb->shape[kind == SN_GLB_BONE ? 2 : 1];
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
