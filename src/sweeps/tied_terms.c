// SPDX-License-Identifier: MIT
// Tied tasks: f = 1/2 w rho(s), s = r^T W r, over the residuals of their atoms (atoms.c).
//
//   lambda = w rho' W r          what the atoms pull with
//   D^T (w rho' W + 2 w rho'' (W r)(W r)^T) D + X(lambda)      second derivatives by their rows y
//
// Gauss-Newton keeps D^T w rho' W D. A task of one's own has neither r nor D: its gradient is forces and
// torques on its bodies, and its rows are their motions. Where all is on one body, the second
// derivatives go into its field, else they are weighted rows that couple the bodies' branches.
#include <string.h>

#include "linalg/dense.h"
#include "math/six.h"
#include "sweeps/workspace.h"
#include "tasks/loss.h"

void sn_tied_layout(sn_ties *t, const sn_problem *p, sn_layout *layout) {
    t->tied = sn_layout_take(layout, (size_t)p->ntied, sizeof *t->tied);
    t->atom = sn_layout_take(layout, (size_t)p->natom, sizeof *t->atom);
    for (int i = 0; i < p->natom; i++) {
        sn_leg *leg = sn_layout_take(layout, (size_t)sn_atom_nleg(&p->atom[i]), sizeof *leg);
        if (t->atom != NULL) t->atom[i].leg = leg;
    }
    for (int i = 0; i < p->ntied; i++) {
        const sn_tied *tied = &p->tied[i];
        size_t nr = (size_t)tied->nr, nrow = (size_t)tied->nrow;
        if (tied->nr > t->most) t->most = tied->nr;
        if (tied->nrow > t->most) t->most = tied->nrow;
        double *r = sn_layout_take(layout, nr, sizeof *r);
        double *pull = sn_layout_take(layout, nr > nrow ? nr : nrow, sizeof *pull);
        double *W = sn_layout_take(layout, nrow * nrow, sizeof *W);
        if (t->tied != NULL) t->tied[i] = (sn_tied_at){.r = r, .pull = pull, .W = W};
    }
    size_t most = (size_t)t->most;
    t->block = sn_layout_take(layout, 3 * most * most, sizeof *t->block);
    t->line = sn_layout_take(layout, 6 * most, sizeof *t->line);
    t->place = sn_layout_take(layout, most, sizeof *t->place);
    t->twin = sn_layout_take(layout, most, sizeof *t->twin);
}

// The frames that a task of one's own sees, in the world.
static void own_frames(const sn_workspace *ws, const sn_tied *tied, sn_frame *out) {
    for (int k = 0; k < tied->natom; k++) {
        out[k] = ws->frame[ws->problem->atom[tied->atom + k].joint[0]];
        out[k].p = v3_add(out[k].p, ws->origin);
    }
}

static const sn_own_task *own_of(const sn_workspace *ws, const sn_tied *tied) {
    const sn_task *task = &ws->problem->task[tied->task];
    return task->type == SN_TASK_OWN ? &task->own : NULL;
}

// s, with W r in t->line.
static double weighed(const sn_ties *t, const sn_tied *tied, const double *r) {
    double s = 0, *Wr = t->line;
    for (int i = 0; i < tied->nr; i++) {
        Wr[i] = 0;
        for (int k = 0; k < tied->nr; k++) Wr[i] += tied->W[i + tied->nr * k] * r[k];
        s += r[i] * Wr[i];
    }
    return fmax(s, 0);  // a semidefinite weight may round below 0
}

// The residuals one after the other.
static void gather(const sn_workspace *ws, const sn_tied *tied, bool moved, sn_tied_at *at) {
    const sn_problem *p = ws->problem;
    int n = 0;
    for (int k = tied->atom; k < tied->atom + tied->natom; k++) {
        sn_atom_at *atom = &ws->ties->atom[k];
        sn_atom_place(ws, &p->atom[k], moved, atom);
        for (int i = 0; i < atom->nr; i++) at->r[n++] = p->atom[k].active ? atom->r[i] : 0;
    }
}

static double value_of(const sn_workspace *ws, const sn_tied *tied, sn_tied_at *at) {
    const sn_own_task *own = own_of(ws, tied);
    if (own != NULL) {
        sn_frame frames[SN_MAX_OWN_JOINTS];
        own_frames(ws, tied, frames);
        return tied->weight * own->value(own->user, frames, NULL);
    }
    gather(ws, tied, false, at);
    const double s = weighed(ws->ties, tied, at->r);
    return 0.5 * tied->weight * sn_loss_of(tied->loss, tied->scale2, s).value;
}

double sn_tied_value(const sn_workspace *ws) {
    double f = 0;
    for (int i = 0; i < ws->problem->ntied; i++)
        if (ws->problem->tied[i].active)
            f += value_of(ws, &ws->problem->tied[i], &ws->ties->tied[i]);
    return f;
}

double sn_tied_error(const sn_workspace *ws, int i, bool seen) {
    const sn_tied *tied = &ws->problem->tied[i];
    const sn_own_task *own = own_of(ws, tied);
    sn_tied_at *at = &ws->ties->tied[i];
    double sum = 0;
    if (own != NULL) {
        sn_frame frames[SN_MAX_OWN_JOINTS];
        own_frames(ws, tied, frames);
        return sqrt(fmax(2 * own->value(own->user, frames, NULL), 0));
    }
    gather(ws, tied, false, at);
    if (seen && tied->nr == 3) return sqrt(sn_seen_square(tied->W, at->r));
    for (int k = 0; k < tied->nr; k++) sum += at->r[k] * at->r[k];
    return sqrt(sum);
}

// ---- derivatives --------------------------------------------------------------------------------

// A task of one's own at the placed pose: value, gradient by its joints' motions in at->pull, and the one
// residual sqrt(2 phi).
static void place_own(const sn_workspace *ws, const sn_tied *tied, sn_tied_at *at) {
    const sn_own_task *own = own_of(ws, tied);
    sn_frame frames[SN_MAX_OWN_JOINTS];
    own_frames(ws, tied, frames);
    for (int k = 0; k < tied->nrow; k++) at->pull[k] = 0;
    const double phi = own->value(own->user, frames, at->pull);
    at->f = tied->weight * phi;
    at->slope = phi > 0 ? tied->weight / (2 * phi) : 0;
    at->r[0] = sqrt(fmax(2 * at->f, 0));
    for (int k = tied->atom; k < tied->atom + tied->natom; k++)
        sn_atom_place(ws, &ws->problem->atom[k], true, &ws->ties->atom[k]);
}

// Its forces and second derivatives. phi may be any function that is 0 or above: its Gauss-Newton matrix
// is that of the residual.
static void own_forces(sn_workspace *ws, const sn_tied *tied, const sn_own_task *own, bool exact,
                       bool second, sn_tied_at *at) {
    sn_ties *t = ws->ties;
    const int n = tied->nrow;
    const double *g = at->pull;
    place_own(ws, tied, at);
    for (int k = 0; k < tied->natom; k++) {
        const int joint = ws->problem->atom[tied->atom + k].joint[0];
        const sn_vec3 turn = v3_scale(-tied->weight, v3_from(g + 6 * k));
        const sn_vec3 push = v3_scale(-tied->weight, v3_from(g + 6 * k + 3));
        t->force[t->nforce++] = (sn_tie_force){SN_FORCE_POINT, joint, ws->frame[joint].p, push, 0};
        t->force[t->nforce++] = (sn_tie_force){SN_FORCE_TORQUE, joint, v3(0, 0, 0), turn, 0};
    }
    if (!second) return;
    if (!exact || own->multiply == NULL) {
        for (int c = 0; c < n; c++)
            for (int r = 0; r < n; r++) at->W[r + n * c] = at->slope * g[r] * g[c];
        return;
    }
    double *unit = t->line;
    sn_frame frames[SN_MAX_OWN_JOINTS];
    own_frames(ws, tied, frames);
    for (int c = 0; c < n; c++) {
        for (int r = 0; r < n; r++) unit[r] = r == c;
        own->multiply(own->user, frames, unit, t->block + n * c);
    }
    for (int c = 0; c < n; c++)
        for (int r = 0; r < n; r++)
            at->W[r + n * c] = 0.5 * tied->weight * (t->block[r + n * c] + t->block[c + n * r]);
}

// One atom whose rows are its residual, but for the sign: D is that sign, and X is 0.
static bool is_straight(const sn_problem *p, const sn_tied *tied) {
    const sn_atom *a = &p->atom[tied->atom];
    return tied->natom == 1 && a->active && a->nr == a->nrow &&
           (a->kind == SN_ATOM_OFFSET || a->kind == SN_ATOM_CENTRE);
}

// W = D^T (slope W + along (W r)(W r)^T) D + X
static void bend_tied(const sn_workspace *ws, const sn_tied *tied, bool exact, const double *Wr,
                      sn_tied_at *at) {
    const sn_ties *t = ws->ties;
    const sn_problem *p = ws->problem;
    const int n = tied->nrow, nr = tied->nr;
    if (is_straight(p, tied)) {
        for (int c = 0; c < n; c++)
            for (int r = 0; r < n; r++)
                at->W[r + n * c] = at->slope * tied->W[r + n * c] + at->along * Wr[r] * Wr[c];
        return;
    }
    for (int k = 0; k < n * n; k++) at->W[k] = 0;
    int ra = 0, ya = 0;
    for (int a = tied->atom; a < tied->atom + tied->natom; a++) {
        const sn_atom_at *A = &t->atom[a];
        int rb = 0, yb = 0;
        for (int b = tied->atom; b < tied->atom + tied->natom; b++) {
            const sn_atom_at *B = &t->atom[b];
            // the block of W, times D of b
            for (int c = 0; c < B->nrow && p->atom[a].active && p->atom[b].active; c++) {
                double middle[3] = {0};
                for (int i = 0; i < A->nr; i++)
                    for (int k = 0; k < B->nr; k++)
                        middle[i] += (at->slope * tied->W[ra + i + nr * (rb + k)] +
                                      at->along * Wr[ra + i] * Wr[rb + k]) *
                                     B->D[B->nr * c + k];
                for (int r = 0; r < A->nrow; r++)
                    for (int i = 0; i < A->nr; i++)
                        at->W[ya + r + n * (yb + c)] += A->D[A->nr * r + i] * middle[i];
            }
            if (a == b && exact && p->atom[a].active)
                for (int c = 0; c < A->nrow; c++)
                    for (int r = 0; r < A->nrow; r++)
                        at->W[ya + r + n * (yb + c)] += A->X[r + A->nrow * c];
            rb += B->nr;
            yb += B->nrow;
        }
        ra += A->nr;
        ya += A->nrow;
    }
}

static void tied_forces(sn_workspace *ws, const sn_tied *tied, bool exact, bool second,
                        sn_tied_at *at) {
    sn_ties *t = ws->ties;
    gather(ws, tied, true, at);
    const double s = weighed(t, tied, at->r), *Wr = t->line;
    const sn_loss_terms loss = sn_loss_of(tied->loss, tied->scale2, s);
    at->f = 0.5 * tied->weight * loss.value;
    at->slope = tied->weight * loss.slope;
    at->along = exact ? tied->weight * loss.bend : 0;
    for (int k = 0; k < tied->nr; k++) at->pull[k] = at->slope * Wr[k];
    const double *pull = at->pull;
    for (int k = tied->atom; k < tied->atom + tied->natom; k++) {
        const sn_atom *atom = &ws->problem->atom[k];
        if (atom->active)
            t->nforce +=
                sn_atom_pull(ws, atom, pull, exact && second, &t->atom[k], t->force + t->nforce);
        pull += atom->nr;
    }
    if (second) bend_tied(ws, tied, exact, Wr, at);
}

double sn_tied_forces(sn_workspace *ws, bool exact, bool second) {
    double f = 0;
    for (int i = 0; i < ws->problem->ntied; i++) {
        const sn_tied *tied = &ws->problem->tied[i];
        sn_tied_at *at = &ws->ties->tied[i];
        const sn_own_task *own = own_of(ws, tied);
        if (!tied->active) continue;
        if (own != NULL) {
            own_forces(ws, tied, own, exact, second, at);
        } else {
            tied_forces(ws, tied, exact, second, at);
        }
        f += at->f;
    }
    return f;
}

// The place of a joint in a tie's list, by halving: they stand in falling order.
static int place_of(const sn_tie *tie, int joint) {
    int low = 0, high = tie->njoint - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (tie->joint[middle] > joint) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Every leg's share lies on the way of its body to the root: sums from the deepest joint up, each
// joint's velocities then see the sum of all that hangs on it. What V does to rows it does to the few legs.
void sn_tied_rows(const sn_workspace *ws, sn_tie *tie, const double *V, bool plain) {
    const sn_ties *t = ws->ties;
    const sn_tied *tied = &ws->problem->tied[tie->index];
    const int R = tie->nrow;
    double *sum = t->push;  // njoint x R x 6
    memset(sum, 0, (size_t)(6 * R * tie->njoint) * sizeof *sum);
    int first = 0;
    for (int a = tied->atom; a < tied->atom + tied->natom; a++) {
        const sn_atom_at *atom = &t->atom[a];
        for (int l = 0; l < atom->nleg; l++) {
            double *to = sum + 6 * R * place_of(tie, atom->leg[l].joint);
            for (int k = 0; k < atom->nrow; k++) {
                const six own = six_load(atom->leg[l].T + 6 * k);
                for (int r = plain ? first + k : 0; r < (plain ? first + k + 1 : R); r++)
                    six_store(to + 6 * r, six_add(six_load(to + 6 * r), V[R * r + first + k], own));
            }
        }
        first += atom->nrow;
    }
    for (int n = 0; n < tie->njoint; n++) {
        const sn_joint *j = &ws->model->joint[tie->joint[n]];
        const double *own = sum + 6 * R * n;
        double *z = tie->z + R * tie->at[n];
        for (int a = 0; a < j->nv; a++, z += R) {
            const six T = twist_load(&ws->T[j->slot + a]);
            for (int r = 0; r < R; r++) z[r] = six_dot(six_load(own + 6 * r), T);
        }
        if (tie->above[n] < 0) continue;
        double *up = sum + 6 * R * tie->above[n];
        for (int k = 0; k < 6 * R; k += 2)
            pair_store(up + k, pair_add(pair_load(up + k), pair_load(own + k)));
    }
}

void sn_tied_fields(const sn_workspace *ws, sn_field *fields) {
    const sn_ties *t = ws->ties;
    for (int i = 0; i < ws->problem->ntied; i++) {
        const sn_tied *tied = &ws->problem->tied[i];
        if (!tied->active || !tied->single) continue;
        const int R = tied->nrow;
        const double *W = t->tied[i].W;
        double *T = t->block, *WT = t->block + 6 * R;  // R x 6 each; most is 6 at least
        int joint = -1, first = 0;
        for (int k = 0; k < 6 * R; k++) T[k] = 0;
        for (int a = tied->atom; a < tied->atom + tied->natom; a++) {
            const sn_atom_at *atom = &t->atom[a];
            for (int l = 0; l < atom->nleg; l++) {
                joint = atom->leg[l].joint;
                for (int k = 0; k < 6 * atom->nrow; k++) T[6 * first + k] += atom->leg[l].T[k];
            }
            first += atom->nrow;
        }
        if (joint < 0) continue;
        for (int r = 0; r < R; r++)
            for (int c = 0; c < 6; c++) {
                WT[6 * r + c] = 0;
                for (int k = 0; k < R; k++) WT[6 * r + c] += W[r + R * k] * T[6 * k + c];
            }
        for (int c = 0; c < 6; c++)
            for (int r = 0; r < 6; r++)
                for (int k = 0; k < R; k++)
                    fields[joint].K[r + 6 * c] += T[6 * k + r] * WT[6 * k + c];
    }
}

void sn_tied_answer(sn_workspace *ws) {
    const sn_ties *t = ws->ties;
    for (int i = 0; i < ws->problem->ntied; i++) {
        const sn_tied *tied = &ws->problem->tied[i];
        if (!tied->active || tied->single) continue;
        const int R = tied->nrow;
        const double *W = t->tied[i].W;
        double *y = t->line, *Wy = t->line + R;
        for (int r = 0; r < R; r++) y[r] = Wy[r] = 0;
        for (int pass = 0; pass < 2; pass++) {
            int first = 0;
            for (int a = tied->atom; a < tied->atom + tied->natom; a++) {
                const sn_atom_at *atom = &t->atom[a];
                for (int l = 0; l < atom->nleg; l++) {
                    const sn_leg *leg = &atom->leg[l];
                    double *V = (double *)(void *)&ws->carry[leg->joint];
                    double *answer = (double *)(void *)&ws->answer[leg->joint];
                    for (int r = 0; r < atom->nrow; r++)
                        for (int c = 0; c < 6; c++) {
                            if (pass == 0) {
                                y[first + r] += leg->T[6 * r + c] * V[c];
                            } else {
                                answer[c] += leg->T[6 * r + c] * Wy[first + r];
                            }
                        }
                }
                first += atom->nrow;
            }
            for (int c = 0; c < R && pass == 0; c++)
                for (int r = 0; r < R; r++) Wy[r] += W[r + R * c] * y[c];
        }
    }
}

// ---- residuals as an equation -------------------------------------------------------------------

// V with V^T V = slope W, n x n, by Cholesky's method with the largest pivot first.
static void root_of(const double *W, double slope, int n, double *V, double *A) {
    double least = 0;
    for (int k = 0; k < n * n; k++) A[k] = slope * W[k], V[k] = 0;
    for (int k = 0; k < n; k++) least = fmax(least, 1e-15 * A[k + n * k]);
    for (int k = 0; k < n; k++) {
        int top = 0;
        for (int i = 1; i < n; i++)
            if (A[i + n * i] > A[top + n * top]) top = i;
        const double pivot = A[top + n * top];
        if (!(pivot > least)) break;
        for (int i = 0; i < n; i++) V[k + n * i] = A[i + n * top] / sqrt(pivot);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) A[i + n * j] -= V[k + n * i] * V[k + n * j];
        A[top + n * top] = 0;
    }
}

void sn_tied_residuals(const sn_workspace *ws, int i, double *r, double *J, int rows, int row) {
    const sn_ties *t = ws->ties;
    const sn_model *m = ws->model;
    const sn_tied *tied = &ws->problem->tied[i];
    const bool own = own_of(ws, tied) != NULL;
    sn_tied_at *at = &t->tied[i];
    const int nr = tied->nr;
    double *V = t->block, *A = t->block + t->most * t->most;
    if (own) {
        place_own(ws, tied, at);
        r[0] = at->r[0];
    } else {
        gather(ws, tied, true, at);
        const double s = weighed(t, tied, at->r);
        at->slope = tied->weight * sn_loss_of(tied->loss, tied->scale2, s).slope;
        root_of(tied->W, at->slope, nr, V, A);
        for (int k = 0; k < nr; k++) {
            r[k] = 0;
            for (int c = 0; c < nr; c++) r[k] += V[k + nr * c] * at->r[c];
        }
    }
    if (J == NULL) return;
    int first = 0, motion = 0;
    for (int a = tied->atom; a < tied->atom + tied->natom; a++) {
        const sn_atom_at *atom = &t->atom[a];
        for (int l = 0; l < atom->nleg && ws->problem->atom[a].active; l++) {
            // V D T, row by row
            double *B = A;
            for (int k = 0; k < nr; k++)
                for (int c = 0; c < 6; c++) {
                    double sum = 0;
                    for (int y = 0; y < atom->nrow; y++) {
                        double VD = 0;
                        for (int x = 0; x < atom->nr; x++)
                            VD += V[k + nr * (first + x)] * atom->D[atom->nr * y + x];
                        if (own) VD = sqrt(at->slope) * at->pull[motion + y];
                        sum += VD * atom->leg[l].T[6 * y + c];
                    }
                    B[6 * k + c] = sum;
                }
            for (int k = atom->leg[l].joint; k >= 0; k = m->joint[k].parent) {
                const sn_joint *j = &m->joint[k];
                for (int v = 0; v < j->nv; v++) {
                    const double *S = (const double *)(const void *)&ws->S[j->slot + v];
                    double *column = J + (size_t)rows * (size_t)(j->slot + v) + row;
                    for (int x = 0; x < nr; x++)
                        for (int c = 0; c < 6; c++)
                            column[x] += m->inner[j->v0 + v] * B[6 * x + c] * S[c];
                }
            }
        }
        first += atom->nr;
        motion += atom->nrow;
    }
}
