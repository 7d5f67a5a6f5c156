// SPDX-License-Identifier: MIT
// A skeleton's rows, as its files have them, and where its limbs end.
#pragma once

#include "sinew/files.h"

// A row holds the numbers of one frame in the file's own units: for AMC the root's in the order of
// its `order` line, then bone after bone in the ASF's order, each in the order of its `dof` line;
// for BVH channel after channel.

/// Where limbs end: BVH's End Sites, ASF's tips of bones without children.
int sn_skeleton_nend(const sn_skeleton *skeleton);
/// The joint of the k-th end, and its place in the joint's frame, metres; -1 when out of range.
int sn_skeleton_end(const sn_skeleton *skeleton, int k, double out[3]);
int sn_skeleton_row_size(const sn_skeleton *skeleton);
/// Where a joint's numbers stand in a row.
int sn_skeleton_row_index(const sn_skeleton *skeleton, int joint);
/// How many numbers a joint has in a row.
int sn_skeleton_row_count(const sn_skeleton *skeleton, int joint);
/// The name of a joint's k-th number as the files have it: "TX" ... "RZ" for ASF's root, "rx" ...
/// "rz" for a bone, "Xposition" ... "Zrotation" for BVH; NULL when out of range.
const char *sn_skeleton_row_name(const sn_skeleton *skeleton, int joint, int k);
/// A pose from a row. Allocates nothing.
void sn_skeleton_from_row(const sn_skeleton *skeleton, sn_angle_unit unit, const double *row,
                          double *q);
/// A row from a pose. The angles of a free joint are not unique: of all that give its rotation,
/// those nearest to `previous` are taken (NULL: nearest to zero). What a free joint's list of
/// channels lacks is lost. Allocates nothing.
void sn_skeleton_to_row(const sn_skeleton *skeleton, sn_angle_unit unit, const double *q,
                        const double *previous, double *row);
