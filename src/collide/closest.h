// SPDX-License-Identifier: MIT
// The nearest points of two segments, the smooth measure of their distance that the one-sided terms
// use, and which pairs of a model's shapes must keep apart.
#pragma once

#include "model/model.h"

/// A shape in the world, or from the sweep's origin: its ends are middle - arm and middle + arm. For
/// a plane `middle` lies on it and `arm` is its unit normal.
typedef struct sn_solid {
    sn_vec3 middle, arm;
} sn_solid;

/// How much smoothing there is between two capsules: see sn_closest_smooth().
#define SN_CLOSEST_SOFT 1e-3

/// Points middle + s arm and middle + t arm of two segments, s and t in [-1, 1].
typedef struct sn_closest {
    double s, t;
    bool free[2];   ///< s, t lie inside; else at an end, or the segment is a point
    sn_vec3 p[2];   ///< the two points
    sn_vec3 r;      ///< p[0] - p[1]
    double square;  ///< |r|^2; smooth: twice E
    double A[3];    ///< E's second derivatives by s s, s t, t t
} sn_closest;

/// The nearest points themselves.
sn_closest sn_closest_points(const sn_solid *a, const sn_solid *b);

/// The smooth measure. With a and b the arms,
///
///   E = min over s, t of 1/2 |p_0 - p_1|^2 + soft/2 (|a|^2 (s^2 - 1) + |b|^2 (t^2 - 1))
///
/// lies below 1/2 d^2, by soft/2 (|a|^2 + |b|^2) at most, and has continuous first derivatives also where
/// two capsules are parallel, where the nearest points of the segments themselves jump from end to end.
/// Where one of them is a sphere there is nothing to smooth, and E = 1/2 d^2.
sn_closest sn_closest_smooth(const sn_solid *a, const sn_solid *b);

/// Place a shape of the model: frame of its joint, or NULL for the world's.
static inline sn_solid sn_shape_solid(const sn_shape_place *shape, const sn_frame *frame) {
    sn_vec3 arm = shape->type == SN_SHAPE_PLANE ? shape->normal : shape->arm;
    if (frame == NULL) return (sn_solid){shape->middle, arm};
    return (sn_solid){v3_add(frame->p, m3_mul(&frame->R, shape->middle)), m3_mul(&frame->R, arm)};
}

/// The distance between the surfaces of two placed shapes, below 0 where they overlap; INFINITY for two
/// planes.
double sn_shapes_distance(const sn_shape_place *a, const sn_solid *pa, const sn_shape_place *b,
                          const sn_solid *pb);

/// Two shapes that must keep apart, and how far they are at rest; INFINITY where the rest pose says
/// nothing of it.
typedef struct sn_shape_pair {
    int shape[2];
    double rest;
} sn_shape_pair;

/// All pairs of a model that must keep apart, in the order of the shapes: those of different bodies that
/// meet by kind, are not excluded, no neighbours, and do not touch in the rest pose (all coordinates 0, moved
/// into their limits). *out is to be given to sn_release(); NULL when there are none.
sn_status sn_pairs_find(const sn_model *model, const sn_allocator *allocator, sn_shape_pair **out,
                        int *count);
