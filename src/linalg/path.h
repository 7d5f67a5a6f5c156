// SPDX-License-Identifier: MIT
// Path-sparse symmetric matrices: the pattern of a tree's Hessian, and linear algebra without
// fill-in.
//
// Entry (i, j) can be non-zero only when i and j lie on one path to the root. Rows and vectors are
// in sweep order: a model's degrees of freedom depth first, so parents come before children and
// every subtree is contiguous (sn_model_sweep_order() gives the velocity behind each). Row i holds
// the contiguous run root ... i, so an ancestor's row has the same columns as the start of it.
#pragma once

#include "base/memory.h"
#include "sinew/model.h"

typedef struct sn_path sn_path;

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

/// The pattern of a model; lives as long as the model.
const sn_path *sn_model_path(const sn_model *model);

int sn_path_count(const sn_path *path);          ///< rows
size_t sn_path_entries(const sn_path *path);     ///< stored entries, diagonal included
size_t sn_path_size(const sn_path *path);        ///< doubles to allocate for the rows
int sn_path_length(const sn_path *path, int i);  ///< entries of row i, diagonal last
size_t sn_path_row(const sn_path *path, int i);  ///< where row i starts
int sn_path_parent(const sn_path *path, int i);  ///< the row above on its path, or -1

/// Fill a dense symmetric n x n matrix in file order: dense[order[i] + n order[j]].
/// @param order  sn_model_sweep_order(), or NULL to keep sweep order
void sn_path_to_dense(const sn_path *path, const double *rows, const int *order, double *dense);

/// y = H x
void sn_path_multiply(const sn_path *path, const double *rows, const double *x, double *y);

/// Take degrees of freedom out without changing the pattern: where keep[i] is false, row and column
/// become those of the identity.
void sn_path_drop(const sn_path *path, const bool *keep, double *rows);

/// H = L^T D L in place, L unit lower triangular, D on the diagonal; no fill-in. Returns -1, or the
/// first row (the elimination runs from the leaves to the root) whose pivot is not above
/// `tolerance`; the failed pivot is then that row's diagonal entry, and rows below it are factored.
int sn_path_factor_ldl(const sn_path *path, double tolerance, double *rows);

/// x <- (L^T D L)^-1 x
void sn_path_solve_ldl(const sn_path *path, const double *rows, double *x);

/// H = L^T L in place; otherwise as sn_path_factor_ldl().
int sn_path_factor_ltl(const sn_path *path, double tolerance, double *rows);
void sn_path_solve_ltl(const sn_path *path, const double *rows, double *x);

/// After sn_path_factor_ldl() failed at row k with pivot d <= 0: the direction z with z_k = 1 and
/// z^T H z = d, non-zero only at k and below it.
void sn_path_curvature(const sn_path *path, const double *rows, int k, double *z);
