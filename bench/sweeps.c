// SPDX-License-Identifier: MIT
// The sweeps, timed against each other in one run. Each figure is the least of many rounds, and the
// rounds of the things compared alternate, so that a noisy machine disturbs all alike.
#include "sweeps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms34.h"
#include "basics.h"
#include "figures.h"
#include "sweeps/path_rows.h"
#include "sweeps/workspace.h"

enum { ROUNDS = 60 };

typedef struct setting {
    sn_model *model;
    sn_problem *problem;
    sn_workspace *ws;
    alg34 *paper;  // NULL when not asked for
    double *q, *x, *damping, *rows;
    int failed;  // pivots must not fail, or a part of the work is missing
} setting;

static setting setting_new(int copies, int markers, bool paper) {
    setting s = {.model = bench_model(copies, markers, paper)};
    size_t nv = (size_t)sn_model_nv(s.model);
    uint64_t seed = 7;
    s.problem = bench_problem(s.model, seed);
    s.q = malloc((size_t)sn_model_nq(s.model) * sizeof *s.q);
    s.x = malloc(nv * sizeof *s.x);
    s.damping = malloc(nv * sizeof *s.damping);
    s.rows = malloc(sn_path_size(sn_model_path(s.model)) * sizeof *s.rows);
    if (paper) s.paper = alg34_create(s.problem);
    if (sn_workspace_create(s.problem, true, NULL, &s.ws, NULL) != SN_OK || s.q == NULL ||
        s.x == NULL || s.damping == NULL || s.rows == NULL || (paper && s.paper == NULL)) {
        fputs("bench: out of memory\n", stderr);
        exit(1);
    }
    for (size_t i = 0; i < nv; i++) s.damping[i] = markers / 41.0;
    s.failed = -1;
    sn_model_sample(s.model, &seed, s.q);
    return s;
}

static void setting_free(setting *s) {
    if (s->failed >= 0) fputs("bench: a factorisation failed, the figures are void\n", stderr);
    sn_workspace_destroy(s->ws);
    alg34_destroy(s->paper);
    sn_problem_destroy(s->problem);
    sn_model_destroy(s->model);
    free(s->q);
    free(s->x);
    free(s->damping);
    free(s->rows);
}

// The n-th leaf of the figure, round and round.
static int bench_leaf(const sn_model *model, int n) {
    int leaf = sn_model_next_leaf(model, -1);
    while (n-- > 0) {
        leaf = sn_model_next_leaf(model, leaf);
        if (leaf < 0) leaf = sn_model_next_leaf(model, -1);
    }
    return leaf;
}

// The same with r rows that couple branches: relative points, three rows each, between limbs.
static setting setting_tied(int nrow) {
    setting s = setting_new(1, 41, false);
    sn_task extra[4];
    sn_problem *tied = NULL;
    for (int i = 0; i < nrow / 3; i++) {
        extra[i] = sn_task_default(SN_TASK_RELATIVE);
        extra[i].joint = bench_leaf(s.model, 2 * i);
        extra[i].joint2 = bench_leaf(s.model, 2 * i + 1);
    }
    sn_workspace_destroy(s.ws);
    if (sn_problem_copy(s.problem, extra, nrow / 3, NULL, &tied, NULL) != SN_OK ||
        sn_workspace_create(tied, true, NULL, &s.ws, NULL) != SN_OK) {
        fputs("bench: out of memory\n", stderr);
        exit(1);
    }
    sn_problem_destroy(s.problem);
    s.problem = tied;
    return s;
}

typedef void (*job)(setting *s);

static void exact_sweep(setting *s) {
    double f;
    (void)sn_workspace_eval(s->ws, s->q, SN_EVAL_HESSIAN, &f);
    (void)sn_workspace_rows(s->ws);
}

static void gauss_newton_sweep(setting *s) {
    double f;
    (void)sn_workspace_eval(s->ws, s->q, SN_EVAL_GAUSS_NEWTON, &f);
    (void)sn_workspace_rows(s->ws);
}

static void value_only(setting *s) {
    double f;
    (void)sn_workspace_eval(s->ws, s->q, 0, &f);
}

static void gradient_only(setting *s) {
    double f;
    (void)sn_workspace_eval(s->ws, s->q, SN_EVAL_GRADIENT, &f);
}

static void sum_only(setting *s) { (void)sn_fast_sum(s->ws, true); }

// Exact H, path-sparse, and its factorisation.
static void sparse_factor(setting *s) {
    const sn_path *path = sn_model_path(s->model);
    exact_sweep(s);
    memcpy(s->rows, sn_workspace_rows(s->ws), sn_path_size(path) * sizeof *s->rows);
    for (int i = 0; i < sn_path_count(path); i++)
        s->rows[sn_path_row(path, i) + (size_t)sn_path_length(path, i) - 1] += s->damping[i];
    if (sn_path_factor_ldl(path, 0, s->rows) >= 0) s->failed = 0;
}

static void paper_factor(setting *s) {
    int nv = sn_model_nv(s->model);
    (void)alg34_jacobian(s->paper, s->q);
    alg34_hessian(s->paper);
    double *H = (double *)(void *)(uintptr_t)alg34_H(s->paper);  // its own to change
    for (int i = 0; i < nv; i++) H[i + nv * i] += s->damping[i];
    if (!alg34_cholesky_solve(s->paper, s->x)) s->failed = 0;
}

// Pose, tasks, sweep, factor, solve.
static void iteration(setting *s) {
    double f;
    (void)sn_workspace_eval(s->ws, s->q, SN_EVAL_HESSIAN, &f);
    memcpy(s->x, sn_workspace_sweep_gradient(s->ws), (size_t)sn_model_nv(s->model) * sizeof *s->x);
    if (sn_workspace_factor(s->ws, s->damping, NULL, 0, NULL) >= 0) s->failed = 0;
    sn_workspace_solve(s->ws, s->x);
}

static double round_of(job run, setting *s, int repeats) {
    double begin = bench_wall();
    for (int i = 0; i < repeats; i++) run(s);
    return (bench_wall() - begin) / repeats;
}

// The least time of each, in alternating rounds of about half a millisecond.
static void compare(job a, setting *sa, double *ta, job b, setting *sb, double *tb) {
    *ta = *tb = INFINITY;
    double guess_a = round_of(a, sa, 3), guess_b = round_of(b, sb, 3);
    int na = (int)(5e-4 / guess_a) + 1, nb = (int)(5e-4 / guess_b) + 1;
    for (int i = 0; i < ROUNDS; i++) {
        *ta = fmin(*ta, round_of(a, sa, na));
        *tb = fmin(*tb, round_of(b, sb, nb));
    }
}

static bool report(const char *what, double ta, double tb, double ratio, bool at_least,
                   double target) {
    bool good = at_least ? ratio >= target : ratio <= target;
    printf("  %-58s %9.2f %9.2f %8.2f  %s %g%s\n", what, 1e6 * ta, 1e6 * tb, ratio,
           at_least ? ">=" : "<=", target, good ? "" : "   MISSED");
    return good;
}

bool bench_sweeps(void) {
    setting one = setting_new(1, 41, false), many = setting_new(1, 4100, false);
    setting wide = setting_new(16, 41, false), paper = setting_new(1, 41, true);
    double a, b;
    bool good = true;
    printf("humanoid, %d degrees of freedom, %d markers; microseconds, least of %d rounds\n\n",
           sn_model_nv(one.model), sn_model_nmarker(one.model), ROUNDS);
    printf("  %-58s %9s %9s %8s  %s\n", "", "this", "that", "ratio", "target");

    compare(exact_sweep, &one, &a, gauss_newton_sweep, &one, &b);
    good &= report("exact sweep / Gauss-Newton sweep", a, b, a / b, false, 1.05);
    compare(paper_factor, &paper, &a, sparse_factor, &paper, &b);
    good &= report("Algorithms 3, 4 + dense Cholesky / sparse H + factor", a, b, a / b, true, 20);
    // whole iterations less the summing of the markers, each timed by itself: what is left must not know
    // how many there are
    double whole[2], sums[2];
    compare(iteration, &many, &whole[0], iteration, &one, &whole[1]);
    compare(sum_only, &many, &sums[0], sum_only, &one, &sums[1]);
    a = whole[0] - sums[0];
    b = whole[1] - sums[1];
    good &= report("4,100 markers / 41, an iteration less the summing", a, b, a / b, false, 1.25);
    good &=
        report("4,100 markers / 41, the summing", sums[0], sums[1], sums[0] / sums[1], false, 100);
    compare(iteration, &wide, &a, iteration, &one, &b);
    good &= report("16 figures on one root / 1, a whole iteration", a, b, a / b, false, 18);

    for (int nrow = 3; nrow <= 12; nrow *= 2) {
        char what[80];
        setting tied = setting_tied(nrow);
        (void)snprintf(what, sizeof what,
                       "an iteration with %d rows that couple branches / without", nrow);
        compare(iteration, &tied, &a, iteration, &one, &b);
        good &= report(what, a, b, a / b, false, 1 + nrow / 6.0);
        setting_free(&tied);
    }

    printf("\n  for information:\n");
    compare(value_only, &one, &a, gradient_only, &one, &b);
    printf("  %-58s %9.2f %9.2f\n", "f alone; f and gradient", 1e6 * a, 1e6 * b);
    compare(sum_only, &one, &a, sum_only, &many, &b);
    printf("  %-58s %9.2f %9.2f\n", "summing 41 markers; summing 4,100", 1e6 * a, 1e6 * b);
    compare(iteration, &one, &a, sparse_factor, &one, &b);
    printf("  %-58s %9.2f %9.2f\n", "a whole iteration, joint by joint; H and its sparse factor",
           1e6 * a, 1e6 * b);
    setting_free(&one);
    setting_free(&many);
    setting_free(&wide);
    setting_free(&paper);
    return good;
}
