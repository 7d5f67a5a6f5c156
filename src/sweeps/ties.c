// SPDX-License-Identifier: MIT
// A tree and a few rows: solving
//
//   (M + Z^T W Z) x + A^T mu = b,   A x = 0,       M = H_T + diagonal
//
// with the factorisation M = L^T D L joint by joint and one small system. A weighted tie's W is
// written V diag(w) V^T and its rows scaled to |w|^(1/2) V^T Z, so that W becomes a sign; a singular
// W has rows of zeros and needs no care. With all rows in Z, e = +1 or -1 for weighted and 0 for
// equality rows, and s the unknowns beside x,
//
//   S s = Z M^-1 b,   S = diag(e) + Z M^-1 Z^T,   x = M^-1 (b - Z^T s)
//
// Z M^-1 Z^T = (L^-T Z^T)^T D^-1 (L^-T Z^T) needs only the half of a solve that goes towards the
// root, and that only on the paths of the tie's bodies. Then one solve of the whole tree is enough.
//
// Inertia (Haynsworth): the matrix is positive definite on the null space of A exactly when
//
//   negatives(M) - negatives(S) + negatives(e) = 0
//
// so M may have negative pivots, which are counted and kept. Dependent rows of A make S singular:
// Bunch and Parlett's pivoting leaves them out.
#include <string.h>

#include "math/six.h"
#include "sweeps/workspace.h"

enum { N = SN_MAX_JOINT_DOFS };

// One joint of a reduction. m is a constant wherever this is called, so that the loops unroll.
SN_INLINE void reduce_joint(const sn_workspace *ws, const sn_tie *tie, int n, int m, double *push) {
    const int R = tie->nrow;
    const sn_joint *j = &ws->model->joint[tie->joint[n]];
    const sn_twist *T = ws->T + j->slot, *y = ws->yf + j->slot;
    const double *inverse = ws->pivot + j->slot, *lower = ws->lower + N * j->slot;
    const double *z = tie->z + R * tie->at[n], *from = push + 6 * R * n;
    double *restrict w = tie->w + R * tie->at[n];
    double *restrict up = tie->above[n] < 0 ? NULL : push + 6 * R * tie->above[n];
    for (int r = 0; r < R; r++) {
        double own[N];
        six sum = six_load(from + 6 * r);
        for (int a = 0; a < m; a++) own[a] = z[R * a + r] - six_dot(twist_load(&T[a]), sum);
        for (int a = m - 1; a >= 0; a--) {
            for (int b = 0; b < a; b++) own[b] -= lower[N * a + b] * own[a];
            w[R * a + r] = own[a];
        }
        if (up == NULL) continue;
        sum = six_plus(sum, six_load(up + 6 * r));
        for (int a = 0; a < m; a++) sum = six_add(sum, own[a] * inverse[a], twist_load(&y[a]));
        six_store(up + 6 * r, sum);
    }
}

// L^-T z^T on the tie's paths, one joint after the other towards the root.
static void reduce_tie(const sn_workspace *ws, sn_tie *tie, double *push) {
    const sn_model *m = ws->model;
    memset(push, 0, (size_t)(6 * tie->nrow * tie->njoint) * sizeof *push);
    for (int n = 0; n < tie->njoint; n++) {
        switch (m->joint[tie->joint[n]].nv) {
        case 1:
            reduce_joint(ws, tie, n, 1, push);
            break;
        case 2:
            reduce_joint(ws, tie, n, 2, push);
            break;
        case 3:
            reduce_joint(ws, tie, n, 3, push);
            break;
        case 6:
            reduce_joint(ws, tie, n, 6, push);
            break;
        default:
            reduce_joint(ws, tie, n, m->joint[tie->joint[n]].nv, push);
            break;
        }
    }
}

// The products of the rows of two ties on the joints that both touch, row by row. The numbers of rows
// are constants where there are many such products.
SN_INLINE void sum_products(const sn_workspace *ws, const sn_tie *p, const sn_tie *q, int rows,
                            int columns, double *restrict sum) {
    const sn_model *m = ws->model;
    for (int i = 0; i < rows * columns; i++) sum[i] = 0;
    for (int i = 0, k = 0; i < p->njoint && k < q->njoint;) {
        if (p->joint[i] != q->joint[k]) {
            // the deeper of the two is touched by one alone
            if (p->joint[i] > q->joint[k]) {
                i++;
            } else {
                k++;
            }
            continue;
        }
        const sn_joint *j = &m->joint[p->joint[i]];
        const double *u = p->w + rows * p->at[i], *v = q->w + columns * q->at[k];
        for (int a = 0; a < j->nv; a++, u += rows, v += columns) {
            const double inverse = ws->pivot[j->slot + a];
            for (int r = 0; r < rows; r++) {
                const double x = inverse * u[r];
                for (int c = 0; c < columns; c++) sum[columns * r + c] += x * v[c];
            }
        }
        i++;
        k++;
    }
}

// Those products in their places of S, both triangles.
static void put_products(const sn_workspace *ws, const sn_tie *p, const sn_tie *q, int n,
                         double *S) {
    double three[9], *sum = three;
    if (p->nrow == 3 && q->nrow == 3) {
        sum_products(ws, p, q, 3, 3, three);
    } else {
        sum = ws->ties->block;
        sum_products(ws, p, q, p->nrow, q->nrow, sum);
    }
    for (int r = 0; r < p->nrow; r++)
        for (int c = 0; c < q->nrow; c++)
            S[p->first + r + n * (q->first + c)] = S[q->first + c + n * (p->first + r)] =
                sum[q->nrow * r + c];
}

// Has row r of an equality nothing left on the velocities that may move? What the two bodies of a loop
// do alike cancels, and leaves rounding where that is all they do.
static bool is_void(const sn_workspace *ws, const sn_tie *tie, int r, const bool *keep) {
    double most = 0;
    for (int n = 0; n < tie->njoint; n++) {
        const sn_joint *j = &ws->model->joint[tie->joint[n]];
        for (int a = 0; a < j->nv; a++)
            if (keep == NULL || keep[j->slot + a])
                most = fmax(most, fabs(tie->z[tie->nrow * (tie->at[n] + a) + r]));
    }
    return most <= 1e-12 * tie->size;
}

static void fill_small(const sn_workspace *ws) {
    sn_ties *t = ws->ties;
    for (int p = 0; p < t->ntie; p++) {
        if (!t->tie[p].active) continue;
        for (int q = 0; q <= p; q++)
            if (t->tie[q].active) put_products(ws, &t->tie[p], &t->tie[q], t->nrow, t->S);
    }
}

static bool all_positive(const sn_ties *t) {
    for (int p = 0; p < t->ntie; p++) {
        const sn_tie *tie = &t->tie[p];
        if (tie->active && tie->equality) return false;
        for (int r = 0; r < tie->nrow && tie->active; r++)
            if (tie->sign[r] < 0) return false;
    }
    return true;
}

// Where the tree is positive definite and all rows are weighted by more than 0, so is S, by 1 at least: it
// needs no pivots and no rows of equal size. False where rounding has eaten that 1.
static bool factor_definite(sn_ties *t) {
    const int n = t->nrow;
    int u = 0;
    for (int p = 0; p < t->ntie; p++)
        for (int r = 0; r < t->tie[p].nrow && t->tie[p].active; r++)
            t->used[u++] = t->tie[p].first + r;
    // packed; places never move up
    for (int k = 0; k < u && u < n; k++)
        for (int i = 0; i < u; i++) t->S[i + u * k] = t->S[t->used[i] + n * t->used[k]];
    for (int i = 0; i < u; i++) {
        t->S[i + u * i] += 1;
        t->even[i] = 1;
    }
    t->nused = u;
    t->inertia = (sn_inertia){.positive = u};
    return sn_symmetric_factor_definite(u, t->S, 1e-11, t->order, t->pair);
}

// The small system over a tree with so many negative pivots, its rows of equal size, factored. With `soft`
// above 0 on its diagonal, loops that contradict each other share what cannot be met, in the sense of least
// squares. Returns negatives(e) - negatives(S).
static int factor_small(sn_workspace *ws, const bool *keep, int tree, double soft) {
    sn_ties *t = ws->ties;
    const int n = t->nrow;
    int negative = 0;
    fill_small(ws);
    if (tree == 0 && !(soft > 0) && all_positive(t)) {
        if (factor_definite(t)) return 0;
        fill_small(ws);
    }
    t->nused = 0;
    for (int p = 0; p < t->ntie; p++) {
        const sn_tie *tie = &t->tie[p];
        for (int r = 0; r < tie->nrow && tie->active; r++) {
            int i = tie->first + r;
            if (tie->equality) {
                if (t->spare[i] || is_void(ws, tie, r, keep)) continue;
            } else {
                t->S[i + n * i] += tie->sign[r];
                negative += tie->sign[r] < 0;
            }
            // a follower follows whatever else gives way
            t->y[t->nused] = tie->source == SN_TIE_LOOP ? soft : 0;
            t->used[t->nused++] = i;
        }
    }
    // scaled and packed; places never move up
    const int u = t->nused;
    for (int i = 0; i < u; i++) {
        double size = 0;
        for (int k = 0; k < u; k++) {
            // compared, since gcc 12 for 64-bit ARM fails on fmax() of gathered numbers
            double entry = fabs(t->S[t->used[i] + n * t->used[k]]);
            if (entry > size) size = entry;
        }
        t->even[i] = size > 0 ? 1 / sqrt(size) : 1;
    }
    for (int k = 0; k < u; k++)
        for (int i = 0; i < u; i++)
            t->S[i + u * k] = t->S[t->used[i] + n * t->used[k]] * t->even[i] * t->even[k];
    for (int i = 0; i < u && soft > 0; i++) t->S[i + u * i] += t->y[i];
    const double least = soft > 0 ? 0.1 * fmin(soft, 1e-10) : 1e-13;
    t->inertia = sn_symmetric_factor(u, t->S, least, t->order, t->pair);
    return negative - t->inertia.negative;
}

// A direction along which the matrix of a failed factorisation bends down, in t->z, and its
// curvature there; 0 when a few trials find none. Both large and small eigenvalues may be the
// negative one, so that solutions and products are tried.
static double find_bend(sn_workspace *ws, const double *diagonal, const bool *keep) {
    sn_ties *t = ws->ties;
    const int nv = ws->model->nv;
    for (int i = 0; i < nv; i++) {
        double x = ws->g[i] + 1e-3 * (i % 2 == 0 ? 1 : -1) * fabs(ws->g[i]);
        t->z[i] = keep[i] ? (x != 0 ? x : 1e-3) : 0;
    }
    for (int tries = 0; tries < 4; tries++) {
        sn_ties_solve(ws, t->z);
        double square = 0, bend = 0;
        sn_workspace_fields_multiply(ws, t->z, t->Hz);
        for (int i = 0; i < nv; i++) {
            if (!keep[i]) t->z[i] = 0;
            square += t->z[i] * t->z[i];
            bend += t->z[i] * t->Hz[i];
            if (diagonal != NULL) bend += diagonal[i] * t->z[i] * t->z[i];
        }
        if (!(square > 0) || !isfinite(square)) break;
        if (bend < 0) return bend;
        for (int i = 0; i < nv; i++) t->z[i] /= sqrt(square);
    }
    for (int i = 0; i < nv; i++) t->z[i] = 0;
    return 0;
}

// A follower moves when one of those it follows does, unless it is held at its limit: then they move
// along it.
static void spread_keep(const sn_workspace *ws, const bool *given, bool *keep) {
    const sn_model *m = ws->model;
    for (int i = 0; i < m->nv; i++) keep[i] = given == NULL || given[i];
    for (int i = 0; i < m->ncoupling; i++) {
        const sn_coupling_place *c = &m->coupled[i];
        bool moves = false;
        for (int k = 0; k < c->nleader; k++) moves = moves || keep[c->slot[k]];
        keep[c->follower_slot] = moves && !ws->ties->stuck[i];
    }
}

int sn_ties_factor(sn_workspace *ws, const double *diagonal, const bool *keep, double tolerance,
                   double *pivot) {
    sn_ties *t = ws->ties;
    const sn_model *m = ws->model;
    (void)tolerance;
    spread_keep(ws, keep, t->keep);
    for (int i = 0; i < m->nv; i++)
        t->diagonal[i] = (diagonal != NULL ? diagonal[i] : 0) + t->bend[i] + t->extra[i];
    for (int i = 0; i < m->nv; i++) t->z[i] = 0;
    if (pivot != NULL) *pivot = 0;
    int negatives = sn_workspace_count_negatives(
        ws, t->diagonal, keep == NULL && m->ncoupling == 0 ? NULL : t->keep);
    if (negatives < 0) return -1 - negatives;
    for (int p = 0; p < t->ntie; p++)
        if (t->tie[p].active) reduce_tie(ws, &t->tie[p], t->push);
    if (negatives + factor_small(ws, t->keep, negatives, 0) == 0) return -1;
    double bend = find_bend(ws, diagonal, t->keep);
    if (pivot != NULL) *pivot = bend;
    return 0;
}

// What a tie's rows make of x, and x less what they give back; R is a constant where that is frequent.
SN_INLINE void read_rows(const sn_workspace *ws, const sn_tie *tie, int R, const double *x,
                         double *restrict sum) {
    const double *w = tie->w;
    for (int r = 0; r < R; r++) sum[r] = 0;
    for (int n = 0; n < tie->njoint; n++) {
        const sn_joint *j = &ws->model->joint[tie->joint[n]];
        for (int i = j->slot; i < j->slot + j->nv; i++, w += R)
            for (int r = 0; r < R; r++) sum[r] += w[r] * x[i];
    }
}

SN_INLINE void give_back(const sn_workspace *ws, const sn_tie *tie, int R, const double *s,
                         double *restrict x) {
    const double *w = tie->w;
    for (int n = 0; n < tie->njoint; n++) {
        const sn_joint *j = &ws->model->joint[tie->joint[n]];
        for (int i = j->slot; i < j->slot + j->nv; i++, w += R) {
            double sum = 0;
            for (int r = 0; r < R; r++) sum += w[r] * s[r];
            x[i] -= ws->pivot[i] * sum;
        }
    }
}

void sn_ties_solve(sn_workspace *ws, double *x) {
    sn_ties *t = ws->ties;
    sn_workspace_reduce(ws, x);
    for (int p = 0; p < t->ntie; p++) {
        const sn_tie *tie = &t->tie[p];
        if (!tie->active) {
            for (int r = 0; r < tie->nrow; r++) t->x[tie->first + r] = 0;
        } else if (tie->nrow == 3) {
            double sum[3];
            read_rows(ws, tie, 3, x, sum);
            memcpy(t->x + tie->first, sum, sizeof sum);
        } else {
            read_rows(ws, tie, tie->nrow, x, t->x + tie->first);
        }
    }
    for (int i = 0; i < t->nrow; i++) t->multiplier[i] = 0;
    for (int i = 0; i < t->nused; i++) t->y[i] = t->even[i] * t->x[t->used[i]];
    sn_symmetric_solve(t->nused, t->S, t->inertia, t->order, t->pair, t->y, t->x);
    for (int i = 0; i < t->nused; i++) t->multiplier[t->used[i]] = t->even[i] * t->y[i];
    for (int p = 0; p < t->ntie; p++) {
        const sn_tie *tie = &t->tie[p];
        const double *s = t->multiplier + tie->first;
        if (!tie->active) continue;
        if (tie->nrow == 3) {
            const double three[3] = {s[0], s[1], s[2]};
            give_back(ws, tie, 3, three, x);
        } else {
            give_back(ws, tie, tie->nrow, s, x);
        }
    }
    sn_workspace_substitute(ws, x);
}

void sn_ties_multiply(const sn_workspace *ws, const double *v, double *out) {
    const sn_ties *t = ws->ties;
    for (int i = 0; i < ws->model->nv; i++) out[i] += t->bend[i] * v[i];
    for (int p = 0; p < t->ntie; p++) {
        const sn_tie *tie = &t->tie[p];
        if (!tie->active || tie->equality) continue;
        double *sum = t->line;
        for (int r = 0; r < tie->nrow; r++) sum[r] = 0;
        for (int pass = 0; pass < 2; pass++) {
            for (int n = 0; n < tie->njoint; n++) {
                const sn_joint *j = &ws->model->joint[tie->joint[n]];
                for (int a = 0; a < j->nv; a++) {
                    const double *z = tie->z + tie->nrow * (tie->at[n] + a);
                    for (int r = 0; r < tie->nrow; r++) {
                        if (pass == 0) {
                            sum[r] += z[r] * v[j->slot + a];
                        } else {
                            out[j->slot + a] += tie->sign[r] * z[r] * sum[r];
                        }
                    }
                }
            }
        }
    }
}

void sn_ties_diagonal(const sn_workspace *ws, double *d) {
    const sn_ties *t = ws->ties;
    const sn_model *m = ws->model;
    for (int i = 0; i < m->nv; i++) d[i] += t->bend[i];
    for (int p = 0; p < t->ntie; p++) {
        const sn_tie *tie = &t->tie[p];
        if (!tie->active || tie->equality) continue;
        for (int n = 0; n < tie->njoint; n++) {
            const sn_joint *j = &m->joint[tie->joint[n]];
            for (int a = 0; a < j->nv; a++) {
                const double *z = tie->z + tie->nrow * (tie->at[n] + a);
                for (int r = 0; r < tie->nrow; r++) d[j->slot + a] += tie->sign[r] * z[r] * z[r];
            }
        }
    }
    // what only a loop sees is seen all the same
    const double *K = ws->field[0].K;
    double weight = fmax((K[21] + K[28] + K[35]) / 3, 1e-3 * (K[0] + K[7] + K[14]));
    for (int p = 0; p < t->ntie; p++) {
        const sn_tie *tie = &t->tie[p];
        if (tie->source != SN_TIE_LOOP) continue;
        for (int n = 0; n < tie->njoint; n++) {
            const sn_joint *j = &m->joint[tie->joint[n]];
            for (int a = 0; a < j->nv; a++) {
                const double *z = tie->z + tie->nrow * (tie->at[n] + a);
                for (int r = 0; r < tie->nrow; r++) d[j->slot + a] += weight * z[r] * z[r];
            }
        }
    }
    // a leader is seen through those that follow it, the last of a row of followers first
    const double *slope = t->slope + m->nleader;
    for (int i = m->ncoupling - 1; i >= 0; i--) {
        const sn_coupling_place *c = &m->coupled[i];
        slope -= c->nleader;
        for (int k = 0; k < c->nleader; k++)
            d[c->slot[k]] += slope[k] * slope[k] * d[c->follower_slot];
    }
}

void sn_ties_follow(const sn_workspace *ws, double *v) {
    const sn_model *m = ws->model;
    const double *slope = ws->ties->slope;
    for (int i = 0; i < m->ncoupling; i++) {
        const sn_coupling_place *c = &m->coupled[i];
        double sum = 0;
        for (int k = 0; k < c->nleader; k++) sum += slope[k] * v[c->slot[k]];
        v[c->follower_slot] = sum;
        slope += c->nleader;
    }
}

void sn_ties_lead(const sn_workspace *ws, double *v) {
    const sn_model *m = ws->model;
    const double *slope = ws->ties->slope + m->nleader;
    for (int i = m->ncoupling - 1; i >= 0; i--) {
        const sn_coupling_place *c = &m->coupled[i];
        slope -= c->nleader;
        for (int k = 0; k < c->nleader; k++) v[c->slot[k]] += slope[k] * v[c->follower_slot];
        v[c->follower_slot] = 0;
    }
}

// ---- equalities alone, in the measure D^2 -----------------------------------------------------------

// x D^-2 of the velocities that may move.
static double inverse_of(const sn_ties *t, const double *scale, int slot) {
    return t->keep[slot] ? 1 / scale[slot] : 0;
}

// A D^-2 A^T of all equalities, factored as the small system.
static void factor_equalities(sn_workspace *ws, const double *scale, const bool *keep,
                              double soft) {
    sn_ties *t = ws->ties;
    spread_keep(ws, keep, t->keep);
    // the products of rows as they are: as if L were 1 and D the scale
    for (int i = 0; i < ws->model->nv; i++) ws->pivot[i] = inverse_of(t, scale, i);
    for (int p = 0; p < t->ntie; p++) {
        sn_tie *tie = &t->tie[p];
        tie->resting = tie->active && !tie->equality;
        if (tie->resting) tie->active = false;
        if (tie->equality)
            memcpy(tie->w, tie->z, (size_t)(tie->nrow * tie->nslot) * sizeof *tie->w);
    }
    (void)factor_small(ws, t->keep, 0, soft);
    for (int p = 0; p < t->ntie; p++)
        if (t->tie[p].resting) t->tie[p].active = true;
}

void sn_ties_rank(sn_workspace *ws, const double *scale, const bool *keep) {
    sn_ties *t = ws->ties;
    for (int i = 0; i < t->nrow; i++) t->spare[i] = false;
    factor_equalities(ws, scale, keep, 0);
    for (int k = t->nused - t->inertia.dropped; k < t->nused; k++)
        t->spare[t->used[t->order[k]]] = true;
}

// s = (A D^-2 A^T)^-1 b: b in t->x by row, s in t->multiplier.
static void solve_equalities(sn_ties *t) {
    for (int i = 0; i < t->nused; i++) t->y[i] = t->even[i] * t->x[t->used[i]];
    for (int i = 0; i < t->nrow; i++) t->multiplier[i] = 0;
    sn_symmetric_solve(t->nused, t->S, t->inertia, t->order, t->pair, t->y, t->x);
    for (int i = 0; i < t->nused; i++) t->multiplier[t->used[i]] = t->even[i] * t->y[i];
}

// x += a A^T s, times D^-2 where asked.
static void add_transposed(const sn_workspace *ws, double a, const double *scale, double *x) {
    const sn_ties *t = ws->ties;
    for (int p = 0; p < t->ntie; p++) {
        const sn_tie *tie = &t->tie[p];
        for (int n = 0; n < tie->njoint && tie->equality; n++) {
            const sn_joint *j = &ws->model->joint[tie->joint[n]];
            for (int k = 0; k < j->nv; k++) {
                double sum = 0;
                for (int r = 0; r < tie->nrow; r++)
                    sum += tie->z[tie->nrow * (tie->at[n] + k) + r] * t->multiplier[tie->first + r];
                x[j->slot + k] += a * sum * (scale != NULL ? inverse_of(t, scale, j->slot + k) : 1);
            }
        }
    }
}

void sn_ties_restore(sn_workspace *ws, const double *scale, const bool *keep, double soft,
                     const double *c, double *x) {
    sn_ties *t = ws->ties;
    factor_equalities(ws, scale, keep, soft);
    for (int p = 0; p < t->ntie; p++) {
        const sn_tie *tie = &t->tie[p];
        bool loop = tie->source == SN_TIE_LOOP;
        for (int r = 0; r < tie->nrow; r++)
            t->x[tie->first + r] = loop ? c[SN_TIE_ROWS * tie->index + r] : 0;
    }
    solve_equalities(t);
    for (int i = 0; i < ws->model->nv; i++) x[i] = 0;
    add_transposed(ws, -1, scale, x);
}

void sn_ties_values(const sn_workspace *ws, double *c) {
    for (int i = 0; i < ws->model->nloop; i++) {
        int n = sn_loop_values(ws, i, c + SN_TIE_ROWS * i);
        for (int r = n; r < SN_TIE_ROWS; r++) c[SN_TIE_ROWS * i + r] = 0;
    }
}

void sn_ties_moved(const sn_workspace *ws, const double *x, double *c) {
    const sn_ties *t = ws->ties;
    for (int i = 0; i < SN_TIE_ROWS * ws->model->nloop; i++) c[i] = 0;
    for (int p = 0; p < t->ntie; p++) {
        const sn_tie *tie = &t->tie[p];
        if (tie->source != SN_TIE_LOOP) continue;
        for (int n = 0; n < tie->njoint; n++) {
            const sn_joint *j = &ws->model->joint[tie->joint[n]];
            for (int a = 0; a < j->nv; a++)
                for (int r = 0; r < tie->nrow; r++)
                    c[SN_TIE_ROWS * tie->index + r] +=
                        tie->z[tie->nrow * (tie->at[n] + a) + r] * x[j->slot + a];
        }
    }
}

void sn_ties_pull(const sn_workspace *ws, const double *c, double *y) {
    sn_ties *t = ws->ties;
    for (int p = 0; p < t->ntie; p++) {
        const sn_tie *tie = &t->tie[p];
        const double *values = c + SN_TIE_ROWS * tie->index;
        for (int r = 0; r < tie->nrow; r++)
            t->multiplier[tie->first + r] = tie->source == SN_TIE_LOOP ? values[r] : 0;
    }
    for (int i = 0; i < ws->model->nv; i++) y[i] = 0;
    add_transposed(ws, 1, NULL, y);
    if (t->coupled) sn_ties_lead(ws, y);
}

void sn_ties_balance(sn_workspace *ws, const double *scale, const bool *keep) {
    sn_ties *t = ws->ties;
    factor_equalities(ws, scale, keep, 0);
    for (int p = 0; p < t->ntie; p++) {
        const sn_tie *tie = &t->tie[p];
        for (int r = 0; r < tie->nrow; r++) t->x[tie->first + r] = 0;
        for (int n = 0; n < tie->njoint && tie->equality; n++) {
            const sn_joint *j = &ws->model->joint[tie->joint[n]];
            for (int a = 0; a < j->nv; a++)
                for (int r = 0; r < tie->nrow; r++)
                    t->x[tie->first + r] -= tie->z[tie->nrow * (tie->at[n] + a) + r] *
                                            inverse_of(t, scale, j->slot + a) * ws->g[j->slot + a];
        }
    }
    solve_equalities(t);
    // rows of couplings only hand gradients to leaders, which was done: g stays as they left it
    add_transposed(ws, 1, NULL, ws->g);
    const double *slope = t->slope + ws->model->nleader;
    for (int i = ws->model->ncoupling - 1; i >= 0; i--) {
        const sn_coupling_place *c = &ws->model->coupled[i];
        double *push = &ws->g[c->follower_slot];
        slope -= c->nleader;
        for (int k = 0; k < c->nleader && !t->stuck[i]; k++) ws->g[c->slot[k]] += slope[k] * *push;
        if (t->stuck[i]) t->taken[i] += *push;
        *push = 0;
    }
    for (int p = 0; p < t->ntie; p++) {
        const sn_tie *tie = &t->tie[p];
        if (tie->source != SN_TIE_LOOP) continue;
        for (int r = 0; r < tie->nrow; r++)
            t->mu[SN_TIE_ROWS * tie->index + r] += t->multiplier[tie->first + r];
    }
}

double sn_ties_open(const sn_workspace *ws) {
    double most = 0;
    for (int i = 0; i < ws->model->nloop; i++) most = fmax(most, sn_loop_error(ws, i));
    return most;
}
