// SPDX-License-Identifier: MIT
// Forward kinematics straight from a BVH text, written to share nothing with the library: one pass
// over white-space separated words, a stack of joints, 4x4 matrices multiplied channel by channel.
#pragma once

#include "support.h"

enum { PLAIN_MAX = 256, PLAIN_ROW = 1024 };

typedef struct plain_node {
    int parent;
    bool site;  ///< an End Site
    double offset[3];
    int nchannel, first;
    int kind[6];  ///< 0 1 2 position x y z, 3 4 5 rotation
} plain_node;

/// Nodes in the order of the file, End Sites among them.
typedef struct plain_bvh {
    int nnode, njoint, nsite, nchannel, nframe;
    double frame_time;
    plain_node node[PLAIN_MAX];
    const char *rows;  ///< into the text
} plain_bvh;

void plain_read(const char *text, plain_bvh *out);

/// The numbers of the next row; `*at` starts as rows and moves on.
void plain_row(const plain_bvh *bvh, const char **at, double *row);

/// World matrices of all nodes, row-major 4x4, in the file's unit.
void plain_place(const plain_bvh *bvh, const double *row, double (*world)[16]);
