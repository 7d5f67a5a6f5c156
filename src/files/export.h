// SPDX-License-Identifier: MIT
// What the parts of an export share.
//
// With W a joint's rotation at the zero pose and G the turn of the whole figure, a target's bone has
// the rotation G R W^T G^T where the model's joint has R: none at the zero pose. Its joint's frame
// is that times C (see skeleton.h), so that the rotation it makes there is
//
//   M = C^T (G R_parent W_parent^T G^T)^T (G R W^T G^T) C
#pragma once

#include "files/skeleton.h"
#include "sinew/eval.h"
#include "sinew/files.h"

struct sn_export {
    sn_allocator allocator;
    void *owner;
    const sn_model *model;
    const sn_skeleton *source;  ///< NULL when the model is none of a skeleton's; only on creation
    sn_problem *problem;
    sn_workspace *ws;
    sn_skeleton *skeleton;
    sn_mat3 G;
    double metres;   ///< of the skeleton's unit
    double size;     ///< of the figure at the zero pose, in that unit
    sn_frame *zero;  ///< njoint: frames at the zero pose, turned by G
    sn_frame *bone;  ///< njoint: at the pose, turned by G, rotations without those of zero
    sn_mat3 *C;      ///< njoint: of the target
    int *target;     ///< njoint: the skeleton's joint; -1: it is one with the joint below it
    int *above;      ///< njoint: the joint that it hangs on in the skeleton, -1 for none
    bool *copied;    ///< njoint: its coordinates are the model's
};

/// A name without what the formats' readers take for something else.
void sn_export_name(const char *from, char out[SN_MAX_NAME + 1]);

/// From what it hangs on to a joint at the zero pose, in the target's unit.
sn_vec3 sn_export_offset(const sn_export *self, int joint);

/// The k-th end of a joint at the zero pose, from the joint, in the target's unit. False when there
/// is none.
bool sn_export_end(const sn_export *self, int joint, int k, sn_vec3 *out);

/// Does it change its place in its parent's frame?
bool sn_export_slides(const sn_joint_desc *joint);

/// The figure to write: fill `figure`, self->target and self->copied; self->above is the parent until then.
sn_status sn_export_bvh(sn_export *self, sn_figure *figure, const sn_allocator *allocator,
                        sn_error *error);
sn_status sn_export_asf(sn_export *self, sn_figure *figure, const sn_allocator *allocator,
                        sn_error *error);

/// The skeleton's joint that a joint of the model became; -1 when it is one with the next, or out of range.
int sn_export_joint(const sn_export *self, int joint);
