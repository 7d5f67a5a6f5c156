// SPDX-License-Identifier: MIT
// Ties: what couples branches of the tree. A tie is a few rows over the velocities, either
//
//   weighted   H = H_T + Z^T W Z, a task whose residual depends on bodies of several branches
//   equality   A u = 0, a coordinate that follows others, or a loop that closes
//
// What a producer of rows gives (ties_fill.c): its value, point forces for the sweeps (they make
// the whole gradient, and the curvature but for Z^T W Z), the rows and W. The algebra (ties.c) knows
// nothing of where rows come from. A problem without ties has none of this: ws->ties is NULL.
#pragma once

#include "base/memory.h"
#include "linalg/symmetric.h"
#include "model/model.h"
#include "tasks/problem.h"

enum { SN_TIE_ROWS = 6, SN_TIE_BODIES = SN_MAX_LEADERS + 1 };

typedef enum sn_tie_source {
    SN_TIE_COUPLING,       ///< equality: the follower's velocity
    SN_TIE_COUPLING_BEND,  ///< weighted: a function of several leaders is curved
    SN_TIE_RELATIVE        ///< weighted: a relative point task
} sn_tie_source;

typedef struct sn_tie {
    sn_tie_source source;
    int index;  ///< of the coupling or task
    bool equality;
    bool active;  ///< counts at the pose of the last evaluation
    int nrow;
    int first;          ///< place of its first row among all
    int njoint, nslot;  ///< the joints it touches: the union of the paths of its bodies
    int *joint;         ///< njoint, sweep positions, the deepest first
    int *above;         ///< njoint: where a joint's parent stands in this list, -1 at the root
    int *at;            ///< njoint: where its velocities start in z and w
    double *z;          ///< nslot x nrow: the rows, scaled by |W|^(1/2) where there is a W
    double *w;          ///< nslot x nrow: L^-T z^T, of the last factorisation
    double sign[SN_TIE_ROWS];
} sn_tie;

/// A force on a point of a body, both from the sweep's origin.
typedef struct sn_tie_force {
    int joint;  ///< sweep position
    sn_vec3 p, F;
} sn_tie_force;

typedef struct sn_ties {
    int ntie, nrow, nforce;
    sn_tie *tie;
    sn_tie_force *force;  ///< of the last evaluation
    bool forced;          ///< there are forces at all
    bool coupled;         ///< some rows are the model's couplings
    double *bend;         ///< nv: what couplings of one leader add to the diagonal of H
    double *slope;        ///< per leader of each coupling: df / dq at the last evaluation
    double *extra;        ///< nv: a little on the diagonal of what only equalities see
    double *push;         ///< scratch of a reduction
    double *diagonal;     ///< nv
    bool *keep;           ///< nv

    // the small system
    int nused;           ///< rows in it
    int *used;           ///< nrow: which
    int *order;          ///< nrow
    bool *pair;          ///< nrow
    double *S;           ///< nrow x nrow
    double *even;        ///< nrow: what its rows and columns were scaled by
    double *x, *y;       ///< nrow
    double *multiplier;  ///< nrow: of the last solve
    sn_inertia inertia;
    double *z, *Hz;  ///< nv: the direction of negative curvature that a failed factorisation found
} sn_ties;

struct sn_workspace;
struct sn_placed;

/// How many ties a problem has; 0: it needs none of this.
int sn_ties_count(const sn_problem *problem);

/// Memory and structure: called twice, first measuring. `ties` itself is given.
void sn_ties_layout(sn_ties *ties, const sn_problem *problem, sn_layout *layout);

/// ties_fill.c: f of the tied tasks at the placed pose.
double sn_ties_value(const struct sn_workspace *ws);

/// ties_fill.c: |r| of a relative task.
double sn_ties_error(const struct sn_workspace *ws, int relative);

/// ties_fill.c: f and the point forces at the placed pose, before the sweep from the leaves.
double sn_ties_forces(struct sn_workspace *ws);

/// ties_fill.c: after the sweep and the gains: the gradient by the leaders alone, the rows and W.
void sn_ties_rows(struct sn_workspace *ws, bool exact, bool second);

/// v = the velocities of all when the leaders move with x; and its transpose: what a follower
/// collects is handed to its leaders.
void sn_ties_follow(const struct sn_workspace *ws, double *v);
void sn_ties_lead(const struct sn_workspace *ws, double *v);

/// For sn_workspace_multiply(), in file order and at the placed pose: velocities of followers, and
/// what ties add to a product, everything then handed to leaders.
void sn_ties_follow_file(const struct sn_workspace *ws, double *v);
void sn_ties_multiply_file(struct sn_workspace *ws, bool exact, const double *v, double *out);

/// out += Z^T W Z v and the couplings' bend, in sweep order.
void sn_ties_multiply(const struct sn_workspace *ws, const double *v, double *out);

/// d += what ties see of every velocity.
void sn_ties_diagonal(const struct sn_workspace *ws, double *d);

/// As sn_workspace_factor() and sn_workspace_solve() with the rows.
int sn_ties_factor(struct sn_workspace *ws, const double *diagonal, const bool *keep,
                   double tolerance, double *pivot);
void sn_ties_solve(struct sn_workspace *ws, double *x);
