// SPDX-License-Identifier: MIT
// Rows of numbers, as a frame of a file has them, to poses and back.
#include "files/skeleton.h"

double sn_angle_radians(sn_angle_unit unit) {
    return unit == SN_ANGLE_DEGREES ? 3.14159265358979323846 / 180 : 1;
}

static sn_quat quaternion_of(const int *order, int n, const double *angle) {
    sn_quat q = {1, 0, 0, 0};
    for (int i = 0; i < n; i++) {
        int axis = order[i];
        double s, c;
        sn_sincos(angle[i] / 2, &s, &c);
        q = sn_quat_mul(q, (sn_quat){c, axis == 0 ? s : 0, axis == 1 ? s : 0, axis == 2 ? s : 0});
    }
    return q;
}

void sn_skeleton_from_row(const sn_skeleton *skeleton, sn_angle_unit unit, const double *row,
                          double *q) {
    if (skeleton == NULL || row == NULL || q == NULL) return;
    double scale = sn_angle_radians(unit);
    sn_model_zero(skeleton->model, q);
    for (int i = 0; i < skeleton->njoint; i++) {
        const sn_bone *b = &skeleton->bone[i];
        double angle[3] = {0};
        for (int k = 0; k < b->nvalue; k++) {
            double x = row[b->row + k] * (b->channel[k] < 3 ? skeleton->metres : scale);
            if (b->q[k] >= 0) q[b->q[k]] = x - b->base[k];
            if (b->q[k] == SN_ROW_QUATERNION) angle[b->slot[k]] = x;
        }
        if (b->quaternion < 0) continue;
        sn_quat r = quaternion_of(b->order, b->nangle, angle);
        double *to = q + b->quaternion;
        to[0] = r.w, to[1] = r.x, to[2] = r.y, to[3] = r.z;
    }
}

void sn_skeleton_to_row(const sn_skeleton *skeleton, sn_angle_unit unit, const double *q,
                        const double *previous, double *row) {
    if (skeleton == NULL || q == NULL || row == NULL) return;
    double scale = sn_angle_radians(unit);
    for (int i = 0; i < skeleton->njoint; i++) {
        const sn_bone *b = &skeleton->bone[i];
        double angle[3] = {0}, near[3] = {0};
        if (b->quaternion >= 0) {
            const double *at = q + b->quaternion;
            sn_mat3 R = sn_mat3_from_quat((sn_quat){at[0], at[1], at[2], at[3]});
            for (int k = 0; previous != NULL && k < b->nvalue; k++)
                if (b->q[k] == SN_ROW_QUATERNION) near[b->slot[k]] = previous[b->row + k] * scale;
            sn_euler_near(b->order, b->nangle, &R, near, angle);
        }
        for (int k = 0; k < b->nvalue; k++) {
            double *to = &row[b->row + k];
            if (b->q[k] == SN_ROW_CONSTANT) {
                *to = b->base[k];
            } else {
                double x = b->q[k] >= 0 ? q[b->q[k]] + b->base[k] : angle[b->slot[k]];
                *to = x / (b->channel[k] < 3 ? skeleton->metres : scale);
            }
        }
    }
}
