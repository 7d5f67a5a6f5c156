// SPDX-License-Identifier: MIT
//
// Featherstone's factorisation H = L^T D L, from the leaves to the root. Eliminating row k changes
// only rows i on its path, and there by
//
//   row_i[0 .. i] -= (H_ki / d_k) row_k[0 .. i]
//
// a multiple of the start of row k: an axpy without indices, so nothing fills in. Up to four rows
// of a chain are eliminated together, which reads and writes each ancestor's row once for the four.
// Rows are padded to an even length and the loops run over pairs; what they leave in the padding is
// never read as an entry.
#include <math.h>

#include "base/pair.h"
#include "linalg/path.h"

enum { BLOCK = 4 };

// t[0..n) -= c r[0..n), in pairs
static void update1(int n, double *t, const double *r, double c) {
    const sn_pair cc = pair_of(c);
    for (int j = 0; j < n; j += 2)
        pair_store(t + j, pair_sub(pair_load(t + j), pair_mul(cc, pair_load(r + j))));
}

// t -= c[3] r3, then c[2] r2, ...: the same operations as four times update1
static void update4(int n, double *t, const double *const r[BLOCK], const double c[BLOCK]) {
    const sn_pair c0 = pair_of(c[0]), c1 = pair_of(c[1]), c2 = pair_of(c[2]), c3 = pair_of(c[3]);
    const double *r0 = r[0], *r1 = r[1], *r2 = r[2], *r3 = r[3];
    for (int j = 0; j < n; j += 2) {
        sn_pair sum = pair_sub(pair_load(t + j), pair_mul(c3, pair_load(r3 + j)));
        sum = pair_sub(sum, pair_mul(c2, pair_load(r2 + j)));
        sum = pair_sub(sum, pair_mul(c1, pair_load(r1 + j)));
        pair_store(t + j, pair_sub(sum, pair_mul(c0, pair_load(r0 + j))));
    }
}

// Rows [first, first + count) of a chain, the lowest first. -1 or the row that failed.
static int factor_block(const sn_path *path, int first, int count, double tolerance, double *rows,
                        double inverse[BLOCK]) {
    for (int a = count - 1; a >= 0; a--) {
        const double *row = rows + path->row[first + a];
        double d = row[path->depth[first + a]];
        if (!(d > tolerance)) return first + a;
        inverse[a] = 1 / d;
        for (int b = a - 1; b >= 0; b--) {
            int depth = path->depth[first + b];
            update1(depth + 1, rows + path->row[first + b], row, row[depth] * inverse[a]);
        }
    }
    return -1;
}

// Take the block's share out of every row above it.
static void update_above(const sn_path *path, int first, int count, double *rows,
                         const double inverse[BLOCK]) {
    const double *r[BLOCK];
    for (int a = 0; a < count; a++) r[a] = rows + path->row[first + a];
    int segment = path->segment_of[first], above = first - path->segment[segment].first;
    while (segment >= 0) {
        const sn_segment *s = &path->segment[segment];
        for (int j = 0; j < above; j++) {
            int depth = s->prefix + j;
            double *t = rows + path->row[s->first + j];
            if (count == BLOCK) {
                const double c[BLOCK] = {r[0][depth] * inverse[0], r[1][depth] * inverse[1],
                                         r[2][depth] * inverse[2], r[3][depth] * inverse[3]};
                update4(depth + 1, t, r, c);
            } else {
                for (int a = count - 1; a >= 0; a--)
                    update1(depth + 1, t, r[a], r[a][depth] * inverse[a]);
            }
        }
        segment = s->parent;
        if (segment >= 0) above = path->segment[segment].count;
    }
}

static void scale_row(double *row, int n, double factor) {
    for (int j = 0; j < n; j++) row[j] *= factor;
}

int sn_path_factor_ldl(const sn_path *path, double tolerance, double *rows) {
    if (path == NULL || rows == NULL) return 0;
    double inverse[BLOCK];
    for (int end = path->n; end > 0;) {
        int start = path->segment[path->segment_of[end - 1]].first;
        int first = end - start > BLOCK ? end - BLOCK : start, count = end - first;
        int failed = factor_block(path, first, count, tolerance, rows, inverse);
        int done = failed < 0 ? first : failed + 1;  // rows of the block that are eliminated
        if (failed < 0) update_above(path, first, count, rows, inverse);
        for (int i = done; i < end; i++)
            scale_row(rows + path->row[i], path->depth[i], inverse[i - first]);
        if (failed >= 0) return failed;
        end = first;
    }
    return -1;
}

int sn_path_factor_ltl(const sn_path *path, double tolerance, double *rows) {
    if (path == NULL || rows == NULL) return 0;
    int failed = sn_path_factor_ldl(path, tolerance < 0 ? 0 : tolerance, rows);
    for (int i = failed < 0 ? 0 : failed + 1; i < path->n; i++) {
        double *row = rows + path->row[i];
        double root = sqrt(row[path->depth[i]]);
        scale_row(row, path->depth[i], root);
        row[path->depth[i]] = root;
    }
    return failed;
}

// x[above k] -= L_k. x_k, and the reverse: the sum of L_kj x_j above k. Segment by segment, since
// the columns of one are neighbours in x too.
static void scatter(const sn_path *path, const double *row, int k, double xk, double *x) {
    int segment = path->segment_of[k], count = k - path->segment[segment].first;
    while (segment >= 0) {
        const sn_segment *s = &path->segment[segment];
        const double *from = row + s->prefix;
        double *to = x + s->first;
        const sn_pair xx = pair_of(xk);
        int j = 0;
        for (; j + 1 < count; j += 2)
            pair_store(to + j, pair_sub(pair_load(to + j), pair_mul(xx, pair_load(from + j))));
        if (j < count) to[j] -= from[j] * xk;
        segment = s->parent;
        if (segment >= 0) count = path->segment[segment].count;
    }
}

static double gather(const sn_path *path, const double *row, int k, const double *x) {
    sn_pair pairs = pair_of(0);
    double sum = 0;
    int segment = path->segment_of[k], count = k - path->segment[segment].first;
    while (segment >= 0) {
        const sn_segment *s = &path->segment[segment];
        const double *from = row + s->prefix, *with = x + s->first;
        int j = 0;
        for (; j + 1 < count; j += 2)
            pairs = pair_add(pairs, pair_mul(pair_load(from + j), pair_load(with + j)));
        if (j < count) sum += from[j] * with[j];
        segment = s->parent;
        if (segment >= 0) count = path->segment[segment].count;
    }
    return sum + pair_sum(pairs);
}

void sn_path_solve_ldl(const sn_path *path, const double *rows, double *x) {
    if (path == NULL || rows == NULL || x == NULL) return;
    for (int k = path->n - 1; k >= 0; k--) scatter(path, rows + path->row[k], k, x[k], x);
    for (int k = 0; k < path->n; k++) {
        const double *row = rows + path->row[k];
        x[k] = x[k] / row[path->depth[k]] - gather(path, row, k, x);
    }
}

void sn_path_solve_ltl(const sn_path *path, const double *rows, double *x) {
    if (path == NULL || rows == NULL || x == NULL) return;
    for (int k = path->n - 1; k >= 0; k--) {
        const double *row = rows + path->row[k];
        x[k] /= row[path->depth[k]];
        scatter(path, row, k, x[k], x);
    }
    for (int k = 0; k < path->n; k++) {
        const double *row = rows + path->row[k];
        x[k] = (x[k] - gather(path, row, k, x)) / row[path->depth[k]];
    }
}

void sn_path_curvature(const sn_path *path, const double *rows, int k, double *z) {
    if (path == NULL || rows == NULL || z == NULL) return;
    for (int i = 0; i < path->n; i++) z[i] = 0;
    if (k < 0 || k >= path->n) return;
    z[k] = 1;
    // L z = e_k, forward through k's subtree; the entries above k do not matter since z is 0 there
    for (int i = k + 1; i < path->end[k]; i++) z[i] = -gather(path, rows + path->row[i], i, z);
}
