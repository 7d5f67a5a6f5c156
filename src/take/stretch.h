// SPDX-License-Identifier: MIT
// Figures whose bodies are larger or smaller, each along its own axes.
#pragma once

#include "math/vec3.h"
#include "model/model.h"

/// A joint whose parent is stretched: its offset, and the slides of a function joint that follow angles.
/// @param parent  what the vectors of the parent's frame are multiplied with
/// @param room    for its functions, as long as `desc` is in use
void sn_stretch_joint(sn_joint_desc *desc, const sn_mat3 *parent, sn_joint_functions *room);

/// Does a slide of a function joint follow angles only? Then it is a length of the body.
bool sn_stretch_scales(const sn_joint_functions *functions, int move);

/// Loops, collision shapes and frames that a builder has taken over from the model.
/// @param stretch  per joint
void sn_stretch_rest(sn_builder *builder, const sn_mat3 *stretch);

/// A factor in all directions.
double sn_stretch_size(const sn_mat3 *stretch);
