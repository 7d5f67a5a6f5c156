// SPDX-License-Identifier: MIT
// Vectors, rotations and frames as plain values. Quaternions are w x y z, matrices column-major,
// angles radians, lengths metres: everywhere.
#pragma once

#include "sinew/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A vector or a point.
typedef struct sn_vec3 {
    double x, y, z;
} sn_vec3;

/// A quaternion.
typedef struct sn_quat {
    double w, x, y, z;
} sn_quat;

/// A 3x3 matrix by its columns.
typedef struct sn_mat3 {
    sn_vec3 c[3];  ///< columns
} sn_mat3;

/// A rigid frame: a point l in it lies at p + R l outside.
typedef struct sn_frame {
    sn_mat3 R;  ///< how it is turned
    sn_vec3 p;  ///< where it is
} sn_frame;

/// A twist: a point x carried by it moves with velocity b + a x x.
typedef struct sn_twist {
    sn_vec3 a, b;  ///< angular velocity; velocity at the origin
} sn_twist;

/// Sine and cosine together, each within 1 ulp for every finite angle, the same bits on every
/// platform. NaN for what is not finite.
SN_API void sn_sincos(double angle, double *sine, double *cosine);

/// Rotation matrix of a quaternion of any length but zero (it is normalised).
SN_API sn_mat3 sn_mat3_from_quat(sn_quat q);

/// Unit quaternion of a rotation matrix, w >= 0.
SN_API sn_quat sn_quat_from_mat3(sn_mat3 R);

/// Unit quaternion that turns by |v| about v.
SN_API sn_quat sn_quat_exp(sn_vec3 v);

/// Rotation vector of a quaternion, its length at most pi.
SN_API sn_vec3 sn_quat_log(sn_quat q);

/// The product: q first, then p.
SN_API sn_quat sn_quat_mul(sn_quat p, sn_quat q);
/// The inverse of a unit quaternion.
SN_API sn_quat sn_quat_conj(sn_quat q);

#ifdef __cplusplus
}
#endif
