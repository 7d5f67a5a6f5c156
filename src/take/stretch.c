// SPDX-License-Identifier: MIT
// What a stretched body does to joints, loops, shapes and frames.
#include "take/stretch.h"
#include "math/exp.h"

#include <math.h>

// A slide is a length of the body where no coordinate of it is a length itself, that is, drives no turn.
bool sn_stretch_scales(const sn_joint_functions *f, int move) {
    if (f->move[move].turns) return false;
    for (int i = 0; i < f->move[move].function.nargument; i++) {
        bool angle = false;
        for (int m = 0; m < f->nmove; m++)
            for (int k = 0; f->move[m].turns && k < f->move[m].function.nargument; k++)
                angle =
                    angle || f->move[m].function.argument[k] == f->move[move].function.argument[i];
        if (!angle) return false;
    }
    return true;
}

static sn_vec3 turned(const double rotation[4], sn_vec3 v, bool back) {
    sn_quat q = {rotation[0], rotation[1], rotation[2], rotation[3]};
    double norm = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    sn_quat unit = {q.w / norm, q.x / norm, q.y / norm, q.z / norm};
    sn_mat3 R = sn_mat3_from_quat(unit);
    return back ? m3_tmul(&R, v) : m3_mul(&R, v);
}

static void put(double out[3], sn_vec3 v) { out[0] = v.x, out[1] = v.y, out[2] = v.z; }

void sn_stretch_joint(sn_joint_desc *desc, const sn_mat3 *parent, sn_joint_functions *room) {
    put(desc->position, m3_mul(parent, v3_from(desc->position)));
    if (desc->functions == NULL) return;
    *room = *desc->functions;
    desc->functions = room;
    for (int m = 0; m < room->nmove; m++) {
        if (!sn_stretch_scales(room, m)) continue;
        sn_vec3 along = turned(desc->rotation, v3_from(room->move[m].axis), false);
        put(room->move[m].axis, turned(desc->rotation, m3_mul(parent, along), true));
    }
}

double sn_stretch_size(const sn_mat3 *A) {
    return sn_cbrt(v3_dot(A->c[0], v3_cross(A->c[1], A->c[2])));
}

void sn_stretch_rest(sn_builder *builder, const sn_mat3 *stretch) {
    for (size_t i = 0; i < builder->nloop; i++) {
        sn_loop_desc *loop = &builder->loop[i].desc;
        double factor[2] = {1, 1};
        for (int k = 0; k < 2; k++) {
            if (loop->joint[k] < 0) continue;
            const sn_mat3 *A = &stretch[loop->joint[k]];
            factor[k] = sn_stretch_size(A);
            put(loop->position[k], m3_mul(A, v3_from(loop->position[k])));
        }
        bool both = loop->joint[0] >= 0 && loop->joint[1] >= 0;
        loop->distance *= both ? sqrt(factor[0] * factor[1]) : factor[0] * factor[1];
    }
    for (size_t i = 0; i < builder->nshape; i++) {
        sn_shape_desc *solid = &builder->shape[i].desc;
        if (solid->joint < 0) continue;
        const sn_mat3 *A = &stretch[solid->joint];
        put(solid->from, m3_mul(A, v3_from(solid->from)));
        put(solid->to, m3_mul(A, v3_from(solid->to)));
        solid->radius *= sn_stretch_size(A);
    }
    for (size_t i = 0; i < builder->nframe; i++) {
        sn_frame_desc *frame = &builder->frame[i].desc;
        put(frame->position, m3_mul(&stretch[frame->joint], v3_from(frame->position)));
    }
}
