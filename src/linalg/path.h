// SPDX-License-Identifier: MIT
// The pattern behind path-sparse matrices.
#pragma once

#include "base/memory.h"
#include "sinew/path.h"

/// A maximal run of rows without a branch: each is the parent of the next, the last has no child or
/// several. Every path is whole segments and then a part of one.
typedef struct sn_segment {
    int first, count;  ///< rows
    int prefix;        ///< entries of a path before this segment
    int parent;        ///< segment above, -1 for none
} sn_segment;

struct sn_path {
    int n, nsegment;
    size_t entries;   ///< sum of the path lengths
    size_t size;      ///< the same with every row padded to an even length
    size_t *row;      ///< n + 1: where each row starts
    int *parent;      ///< n: row above, -1 for none
    int *depth;       ///< n: entries before the diagonal
    int *end;         ///< n: the subtree of row i is [i, end[i])
    int *segment_of;  ///< n
    sn_segment *segment;
};

/// Take the arrays for n rows from a layout (twice: measured, then placed).
void sn_path_layout(sn_path *path, int n, sn_layout *layout);

/// Fill in the pattern; path->n and path->parent are set, parents before children, depth first.
void sn_path_build(sn_path *path);
