// SPDX-License-Identifier: MIT
#include "model/joint_fit.h"

#include <string.h>

#include "math/align.h"
#include "math/atan2.h"
#include "math/round.h"

static const double pi = 0x1.921fb54442d18p+1;

bool sn_joint_fits(const sn_model *model, const sn_joint *joint) {
    switch (joint->type) {
    case SN_JOINT_HINGE:
    case SN_JOINT_UNIVERSAL:
    case SN_JOINT_EULER:
    case SN_JOINT_BALL:
    case SN_JOINT_EXPMAP:
    case SN_JOINT_FREE:
        break;
    default:
        return false;
    }
    for (int i = 0; i < joint->nv; i++)
        if (model->gain[joint->v0 + i] == 0) return false;
    return true;
}

static double score(const sn_joint *joint, const sn_mat3 *M, const double *q) {
    sn_mat3 R = sn_joint_rotation(joint, q);
    return v3_dot(M->c[0], R.c[0]) + v3_dot(M->c[1], R.c[1]) + v3_dot(M->c[2], R.c[2]);
}

double sn_angle_near(double angle, double near, double lower, double upper) {
    double x = angle + 2 * pi * sn_round((near - angle) / (2 * pi));
    if (x < lower) x += 2 * pi * ceil((lower - x) / (2 * pi));
    if (x > upper) x -= 2 * pi * ceil((x - upper) / (2 * pi));
    if (x >= lower && x <= upper) return x;
    return fabs(remainder(lower - x, 2 * pi)) < fabs(remainder(upper - x, 2 * pi)) ? lower : upper;
}

// Each angle in turn where the score a + c cos + s sin is largest; three values of it tell.
static void climb(const sn_joint *joint, const sn_mat3 *M, const double *lower, const double *upper,
                  const double *near, double *q) {
    const double third = 2 * pi / 3, root = 0x1.bb67ae8584caap+0;  // sqrt 3
    int rounds = joint->nv > 1 ? 8 : 1;
    for (int n = 0; n < rounds * joint->nv; n++) {
        double f[3], *x = &q[n % joint->nv], before = *x;
        // not from 0: multiples of a quarter turn are slow to reduce
        for (int i = 0; i < 3; i++) {
            *x = 0.4 + (i - 1) * third;
            f[i] = score(joint, M, q);
        }
        double c = (2 * f[1] - f[0] - f[2]) / 3, s = (f[2] - f[0]) / root;
        *x = before;
        if (c * c + s * s > 1e-24 * (f[0] * f[0] + f[1] * f[1] + f[2] * f[2])) {
            int i = n % joint->nv;
            *x = sn_angle_near(0.4 + sn_atan2(s, c), near[i], lower[i], upper[i]);
        }
    }
}

// Two stacked hinges have a second summit near (a + pi, pi - b), the same turned half round the
// third axis; and so may the three Euler angles have other coordinates inside the limits.
static void other_angles(const sn_joint *joint, double *q) {
    bool proper = joint->type == SN_JOINT_EULER && joint->order[0] == joint->order[2];
    q[0] += pi;
    q[1] = (proper ? 0 : pi) - q[1];
    if (joint->nv == 3) q[2] += pi;
}

static void fit_angles(const sn_joint *joint, const sn_mat3 *M, const double *lower,
                       const double *upper, double *q) {
    double near[3], best[3], top = -INFINITY;
    size_t bytes = (size_t)joint->nv * sizeof *q;
    memcpy(near, q, bytes);
    for (int way = 0; way < (joint->nv > 1 ? 2 : 1); way++) {
        double x[3];
        memcpy(x, near, bytes);
        if (joint->type == SN_JOINT_EULER) {
            sn_mat3 R = sn_best_rotation(M);
            (void)sn_joint_set_rotation(joint, &R, x);
        }
        if (way == 1) other_angles(joint, x);
        if (joint->type != SN_JOINT_EULER) climb(joint, M, lower, upper, near, x);
        double far = 0;
        for (int i = 0; i < joint->nv; i++) {
            x[i] = sn_angle_near(x[i], near[i], lower[i], upper[i]);
            far += fabs(x[i] - near[i]);
        }
        // where both are as good, the nearer one
        double value = score(joint, M, x), size = fabs(value);
        if (way == 1 && value > top - 1e-9 * size && value < top + 1e-9 * size) {
            for (int i = 0; i < joint->nv; i++) far -= fabs(best[i] - near[i]);
            value = far < 0 ? INFINITY : -INFINITY;
        }
        if (value > top) {
            top = value;
            memcpy(best, x, bytes);
        }
    }
    memcpy(q, best, bytes);
}

bool sn_joint_fit(const sn_model *model, const sn_joint *joint, const sn_mat3 *M, double *q) {
    if (!sn_joint_fits(model, joint)) return false;
    const double *lower = model->lower + joint->v0, *upper = model->upper + joint->v0;
    if (joint->ops->quaternion >= 0 || joint->type == SN_JOINT_EXPMAP) {
        sn_mat3 R = sn_best_rotation(M);
        (void)sn_joint_set_rotation(joint, &R, q);
        for (int i = 0; i < joint->nv && joint->ops->quaternion < 0; i++)
            q[i] = fmin(fmax(q[i], lower[i]), upper[i]);
        return true;
    }
    fit_angles(joint, M, lower, upper, q);
    return true;
}
