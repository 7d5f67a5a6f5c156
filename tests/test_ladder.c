// SPDX-License-Identifier: MIT
// The servo's null spaces inside null spaces, against what they are: orthonormal directions that the levels before
// do not see. Random rows of every size, some that repeat others, some entries that cannot move.
#include "servo/servo.h"
#include "support.h"

enum { MOST = 13, ROWS = 9 };

typedef struct room {
    double Z[MOST * MOST], B[ROWS * MOST], v[MOST * MOST], beta[MOST], E[MOST * MOST],
        M[MOST * MOST];
    double norm[ROWS], x[MOST], y[MOST], w[MOST];
    int order[ROWS];
} room;

static sn_ladder ladder_in(room *r, int n) {
    return (sn_ladder){.n = n,
                       .Z = r->Z,
                       .B = r->B,
                       .v = r->v,
                       .beta = r->beta,
                       .E = r->E,
                       .M = r->M,
                       .norm = r->norm,
                       .order = r->order,
                       .x = r->x,
                       .y = r->y,
                       .w = r->w};
}

static double inner(const double *x, const double *y, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

// Z's columns are orthonormal, move nothing that cannot move, and `count` rows see none of them.
static void check_basis(const sn_ladder *a, const double *unit, const double *rows, int count) {
    const int n = a->n;
    for (int c = 0; c < a->nz; c++) {
        double column[MOST], other[MOST];
        for (int i = 0; i < n; i++) {
            column[i] = a->Z[n * i + c];
            if (unit[i] == 0) assert_true(column[i] == 0);
        }
        for (int d = 0; d <= c; d++) {
            for (int i = 0; i < n; i++) other[i] = a->Z[n * i + d];
            assert_near(inner(column, other, n), c == d, 1e-12);
        }
        for (int r = 0; r < count; r++)
            assert_near(inner(rows + (size_t)n * (size_t)r, column, n), 0, 1e-11);
    }
}

// V, column by column, as the ladder spreads it.
static void read_directions(sn_ladder *a, int rank, double V[MOST][MOST]) {
    for (int c = 0; c < rank; c++) {
        double w[MOST] = {0};
        w[c] = 1;
        sn_ladder_spread(a, rank, w, V[c]);
    }
}

// After a split into `rank` directions: V is orthonormal and sees all that A does, gathering is its transpose,
// and what is solved for is the minimum of |A V w + b|^2 + damping |w|^2.
static void check_level(sn_ladder *a, const double *A, int m, int rank, uint64_t *state) {
    const int n = a->n;
    double V[MOST][MOST], b[ROWS], w[MOST], back[MOST], out[MOST], x[MOST];
    const double damping = below(state, 3) == 0 ? 1e-6 : uniform(state, 0.01, 2);
    read_directions(a, rank, V);
    for (int c = 0; c < rank; c++)
        for (int d = 0; d <= c; d++) assert_near(inner(V[c], V[d], n), c == d, 1e-12);
    for (int i = 0; i < n; i++) x[i] = uniform(state, -1, 1);
    sn_ladder_gather(a, rank, x, back);
    for (int c = 0; c < rank; c++) assert_near(back[c], inner(V[c], x, n), 1e-12);
    for (int i = 0; i < m; i++) b[i] = uniform(state, -1, 1);
    sn_ladder_factor(a, m, rank, damping);
    sn_ladder_solve(a, m, rank, b, w);
    sn_ladder_spread(a, rank, w, out);
    double left[ROWS], most = 0;
    for (int i = 0; i < m; i++) left[i] = inner(A + (size_t)n * (size_t)i, out, n) + b[i];
    for (int c = 0; c < rank; c++) most = fmax(most, fabs(w[c]));
    for (int c = 0; c < rank; c++) {
        double slope = damping * w[c];
        for (int i = 0; i < m; i++) slope += left[i] * inner(A + (size_t)n * (size_t)i, V[c], n);
        assert_near(slope, 0, 1e-10 * (1 + most));
    }
}

static void random_ladders(void **unused) {
    (void)unused;
    uint64_t state = 5;
    int levels = 0, lost = 0;
    for (int k = 0; k < cases(400); k++) {
        static room r;
        const int n = 1 + k % MOST;
        double unit[MOST], rows[4 * ROWS * MOST], *A = rows;
        sn_ladder a = ladder_in(&r, n);
        int movable = 0, seen = 0;
        for (int i = 0; i < n; i++) movable += (unit[i] = below(&state, 5) != 0 ? 0.5 : 0) > 0;
        memset(r.v, 0x7f, sizeof r.v);
        sn_ladder_begin(&a, unit);
        assert_int_equal(a.nz, movable);
        check_basis(&a, unit, rows, 0);
        for (int level = 0; level < 4 && a.nz > 0; level++, levels++) {
            const int m = 1 + below(&state, ROWS < n ? 5 : 3), before = a.nz;
            int free = 0;
            for (int i = 0; i < m; i++) {
                const bool again = i > 0 && below(&state, 4) == 0;
                free += !again;
                for (int j = 0; j < n; j++) {
                    double *to = &A[n * i + j];
                    *to = below(&state, 3) == 0 ? 0 : uniform(&state, -1, 1);
                    // a multiple of the row before says nothing new
                    if (again) *to = -0.7 * A[n * (i - 1) + j];
                }
            }
            sn_ladder_see(&a, A, m);
            const int rank = sn_ladder_split(&a, m);
            assert_true(rank <= free && rank <= before && a.nz == before);
            check_level(&a, A, m, rank, &state);
            sn_ladder_next(&a, rank);
            assert_int_equal(a.nz, before - rank);
            seen += m;
            check_basis(&a, unit, rows, seen);
            lost += rank < m && rank < before;
            A += n * m;
            // the last level of a servo takes all that is left, without reflections
            if (a.nz > 0 && below(&state, 3) == 0) {
                sn_ladder_see(&a, A - n * m, m);
                check_level(&a, A - n * m, m, a.nz, &state);
            }
        }
    }
    assert_true(levels > cases(400) && lost > cases(400) / 10);
}

// A direction that is taken out is gone, and nothing else is: what was spanned before is spanned by what is left and
// the direction's part in it.
static void dropped(void **unused) {
    (void)unused;
    uint64_t state = 9;
    for (int k = 0; k < cases(200); k++) {
        static room r;
        const int n = 2 + k % (MOST - 1);
        double unit[MOST], g[MOST] = {0}, x[MOST], inside[MOST] = {0}, along[MOST] = {0};
        sn_ladder a = ladder_in(&r, n);
        for (int i = 0; i < n; i++) unit[i] = i == 0 ? 0 : 1, x[i] = uniform(&state, -1, 1);
        sn_ladder_begin(&a, unit);
        // only what cannot move: nothing to take out
        g[0] = 1;
        assert_false(sn_ladder_drop(&a, g));
        assert_int_equal(a.nz, n - 1);
        for (int i = 0; i < n; i++)
            g[i] = k % 2 == 0 ? uniform(&state, -1, 1) : i == 1 + below(&state, n - 1);
        g[1] += k % 3 - 1;  // heads of both signs
        double square = 0, share = 0;
        for (int i = 1; i < n; i++) square += g[i] * g[i], share += g[i] * x[i];
        for (int i = 1; i < n; i++) inside[i] = x[i], along[i] = g[i] * share / square;
        if (square == 0) continue;
        assert_true(sn_ladder_drop(&a, g));
        assert_int_equal(a.nz, n - 2);
        check_basis(&a, unit, g, 1);
        for (int i = 0; i < n; i++) {
            double sum = along[i];
            for (int c = 0; c < a.nz; c++) {
                double part = 0;
                for (int j = 0; j < n; j++) part += a.Z[n * j + c] * x[j];
                sum += part * a.Z[n * i + c];
            }
            assert_near(sum, inside[i], 1e-12);
        }
        assert_false(sn_ladder_drop(&a, g));  // gone already
        assert_int_equal(a.nz, n - 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_ladders),
        cmocka_unit_test(dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
