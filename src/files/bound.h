// SPDX-License-Identifier: MIT
// Spheres and capsules around the solids that robot files state.
#pragma once

#include "model/model.h"

typedef enum sn_solid_kind {
    SN_SOLID_SPHERE,     ///< radius
    SN_SOLID_CAPSULE,    ///< radius, half the length between its ends; along z
    SN_SOLID_CYLINDER,   ///< radius, half the length; along z
    SN_SOLID_BOX,        ///< half the lengths along x, y, z
    SN_SOLID_ELLIPSOID,  ///< half axes along x, y, z
    SN_SOLID_PLANE       ///< z out of it; no size
} sn_solid_kind;

/// Add the shapes that hold a solid, all within it for spheres and capsules, around it for the others:
/// the capsule of least volume, a flat box in up to four of them side by side.
/// @param like   name, joint, kind and meets of the shapes
/// @param frame  of the solid in the joint's frame
/// Returns how many were added; 0 where a size is not above 0; a sphere may be a point.
int sn_bound_solid(sn_builder *builder, const sn_shape_desc *like, sn_solid_kind kind,
                   const double size[3], const sn_frame *frame, int line);
