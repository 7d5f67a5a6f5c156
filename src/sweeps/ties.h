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
    SN_TIE_TASK,           ///< weighted: a task on several bodies
    SN_TIE_LOOP,           ///< equality: a loop that closes
    SN_TIE_LOOP_BEND,      ///< weighted: how the loop's force turns with both bodies
    SN_TIE_GUARD           ///< weighted: all guards that count, the last of all ties; nrow changes
} sn_tie_source;

typedef struct sn_tie {
    sn_tie_source source;
    int index;  ///< of the coupling or task
    bool equality;
    bool active;   ///< counts at the pose of the last evaluation
    bool resting;  ///< left out for a moment
    int nrow;
    int first;          ///< place of its first row among all
    int njoint, nslot;  ///< the joints it touches: the union of the paths of its bodies
    int *joint;         ///< njoint, sweep positions, the deepest first
    int *above;         ///< njoint: where a joint's parent stands in this list, -1 at the root
    int *at;            ///< njoint: where its velocities start in z and w
    double *z;          ///< nslot x nrow: the rows, scaled by |W|^(1/2) where there is a W
    double *w;          ///< nslot x nrow: L^-T z^T, of the last factorisation
    double *sign;       ///< nrow: +1 or -1
    double size;  ///< equality: the largest term of its rows; what they leave of it may be rounding
} sn_tie;

/// What a tie does to one body: a wrench, and the curvature of its own motion.
typedef enum sn_force_kind {
    SN_FORCE_POINT,  ///< F on its point p
    SN_FORCE_SEEN,   ///< F, fixed in the body, on a point p of another body that lies there
    SN_FORCE_TURN,   ///< its direction p is drawn to F, both unit vectors, with weight w
    SN_FORCE_TORQUE  ///< the torque F
} sn_force_kind;

/// Places are from the sweep's origin.
typedef struct sn_tie_force {
    sn_force_kind kind;
    int joint;  ///< sweep position
    sn_vec3 p, F;
    double w;
} sn_tie_force;

/// How one body moves the rows y of an atom: y += T (a; b), T of nrow x 6 numbers, row by row.
typedef struct sn_leg {
    int joint;  ///< sweep position
    double T[36];
} sn_leg;

/// An atom at the pose of the last evaluation with derivatives: its residual moves with D y, and
/// lambda . r bends by X in y, beside what its forces do to the bodies.
typedef struct sn_atom_at {
    int nr, nrow, nleg;
    double r[3], D[18], X[36];  ///< D is nr x nrow, X nrow x nrow, column-major
    sn_leg *leg;
} sn_atom_at;

/// A tied task there.
typedef struct sn_tied_at {
    double f;
    double *r, *pull;  ///< nr: the residual, and lambda = df / dr
    double *W;         ///< nrow x nrow: second derivatives by the atoms' rows
    double along;      ///< what a loss adds to weight W: along (W r) (W r)^T
    double slope;      ///< weight rho'
} sn_tied_at;

typedef struct sn_ties {
    int ntie, nrow, nforce;
    sn_tie *tie;
    sn_tied_at *tied;     ///< the problem's
    sn_atom_at *atom;     ///< the problem's
    int most;             ///< rows of the largest tie, and numbers of the largest residual
    double *block;        ///< 3 x most x most: scratch
    double *line;         ///< 6 x most: scratch
    int *place;           ///< most: scratch
    bool *twin;           ///< most: scratch
    sn_tie_force *force;  ///< of the last evaluation
    bool forced;          ///< there are forces at all
    bool turned;          ///< some are other than on points: the general sweep is needed
    double *mu;           ///< nloop x SN_TIE_ROWS: the loops' forces, set by solvers
    bool coupled;         ///< some rows are the model's couplings
    double *bend;         ///< nv: what couplings of one leader add to the diagonal of H
    double *slope;        ///< per leader of each coupling: df / dq at the last evaluation
    bool *stuck;          ///< ncoupling: a limited follower is held at its limit, set by solvers
    double *taken;        ///< ncoupling: what it pushes there, which sn_ties_balance() took from g
    double *pushed;       ///< ncoupling: the same at the evaluation before, for the curvature
    double *extra;        ///< nv: a little on the diagonal of what only equalities see
    double *push;         ///< scratch of a reduction
    double *diagonal;     ///< nv
    bool *keep;           ///< nv

    // the small system
    int nused;           ///< rows in it
    int *used;           ///< nrow: which
    int *order;          ///< nrow
    bool *spare;         ///< nrow: equalities that depend on the others, as sn_ties_rank() found
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
struct sn_field;

/// How many ties a problem has; 0: it needs none of this.
int sn_ties_count(const sn_problem *problem);

/// Does anything of a problem need ws->ties? Tied tasks on one body have no rows, but forces.
bool sn_ties_any(const sn_problem *problem);

/// Memory and structure: called twice, first measuring. `ties` itself is given.
void sn_ties_layout(sn_ties *ties, const sn_problem *problem, sn_layout *layout);

/// atoms.c: r of an atom at the placed pose, times its sign; and with `moved` its D and legs.
void sn_atom_place(const struct sn_workspace *ws, const sn_atom *atom, bool moved, sn_atom_at *at);

/// atoms.c: the forces of lambda . r, at most sn_atom_forces(); how many. With `bent` also X.
int sn_atom_pull(const struct sn_workspace *ws, const sn_atom *atom, const double *lambda,
                 bool bent, sn_atom_at *at, sn_tie_force *out);
int sn_atom_nforce(const sn_atom *atom);
int sn_atom_nleg(const sn_atom *atom);

/// tied_terms.c: memory of the tied tasks.
void sn_tied_layout(sn_ties *ties, const sn_problem *problem, sn_layout *layout);

/// tied_terms.c: f of the tied tasks at the placed pose.
double sn_tied_value(const struct sn_workspace *ws);

/// tied_terms.c: |r| of a tied task; with `seen` of what its matrix sees of it, where it has three numbers.
double sn_tied_error(const struct sn_workspace *ws, int tied, bool seen);

/// tied_terms.c: f and, into ws->ties->force, the forces of all tied tasks at the placed pose; with `second`
/// their W too.
double sn_tied_forces(struct sn_workspace *ws, bool exact, bool second);

/// tied_terms.c: V times the rows of one, V nrow x nrow, row by row; `plain`: it is diagonal.
void sn_tied_rows(const struct sn_workspace *ws, sn_tie *tie, const double *V, bool plain);

/// tied_terms.c: what tied tasks on one body alone add to its field.
void sn_tied_fields(const struct sn_workspace *ws, struct sn_field *fields);

/// tied_terms.c: what the tied tasks answer to the bodies' twists in ws->carry, added to ws->answer.
void sn_tied_answer(struct sn_workspace *ws);

/// tied_terms.c: residuals of one, weighed by its root, 3 natom numbers; J likewise, by sweep order, from
/// row `row` of `rows` on, or NULL.
void sn_tied_residuals(const struct sn_workspace *ws, int tied, double *r, double *J, int rows,
                       int row);

/// ties_fill.c: f and the forces at the placed pose, before the sweep from the leaves.
double sn_ties_forces(struct sn_workspace *ws, bool exact, bool second);

/// ties_fill.c: after the sweep and the gains: the gradient by the leaders alone, the rows and W.
void sn_ties_rows(struct sn_workspace *ws, bool exact, bool second);
/// The rows of the loops alone, from the twists as they are.
void sn_ties_refill_loops(struct sn_workspace *ws);

/// loops.c: its rows of c at the placed pose; how many there are.
int sn_loop_values(const struct sn_workspace *ws, int loop, double c[SN_TIE_ROWS]);
int sn_loop_nrow(const sn_loop_place *loop);
/// How many rows its weighted tie has; 0: none.
int sn_loop_nbend(const sn_loop_place *loop);
/// The forces of mu, at most SN_LOOP_FORCES; how many.
enum { SN_LOOP_FORCES = 14 };
int sn_loop_forces(const struct sn_workspace *ws, int loop, const double *mu, sn_tie_force *out);
/// The rows of either tie, and W of the second; the rows are 0 before.
void sn_loop_rows(const struct sn_workspace *ws, sn_tie *tie);
void sn_loop_bend(const struct sn_workspace *ws, sn_tie *tie, const double *mu, double *W);

/// How far it is open: the distance of the points, the angle between axes or rotations.
double sn_loop_error(const struct sn_workspace *ws, int loop);
/// Half the sum of their squares. c vanishes as well where a pin or weld is turned by half a turn; this
/// does not.
double sn_loop_misfit(const struct sn_workspace *ws, int loop);

/// The step of least x^T D^2 x with A x = -c on what may move, c by SN_TIE_ROWS a loop; couplings are
/// kept. With `soft` above 0 a step that gets less near and is shorter (closing.c).
void sn_ties_restore(struct sn_workspace *ws, const double *scale, const bool *keep, double soft,
                     const double *c, double *x);
/// Find the rows of equalities that depend on others on what may move, from the rows alone: in
/// A M^-1 A^T rounding may hide them where M is ill-conditioned. They are left out until the next
/// evaluation.
void sn_ties_rank(struct sn_workspace *ws, const double *scale, const bool *keep);
/// c at the placed pose, and A^T c by the leaders alone: the slope of half the sum of c^2.
void sn_ties_values(const struct sn_workspace *ws, double *c);
void sn_ties_pull(const struct sn_workspace *ws, const double *c, double *y);
/// How c moves with the velocities x, A x.
void sn_ties_moved(const struct sn_workspace *ws, const double *x, double *c);
/// Change mu so that what is left of g on what may move is least in the measure D^-2; g with it. So is
/// what followers push that are stuck.
void sn_ties_balance(struct sn_workspace *ws, const double *scale, const bool *keep);
/// How far the loop that is open most is open at the placed pose.
double sn_ties_open(const struct sn_workspace *ws);

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
