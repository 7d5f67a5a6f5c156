// SPDX-License-Identifier: MIT
// 001 Fig. 8: the inner conjugate gradients' tolerance and the preconditioner's bandwidth.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "papers.h"

enum { TOLERANCES = 3, BANDS = 6 };

static const double tolerances[TOLERANCES] = {0.01, 0.1, 0.2};
static const int bands[BANDS] = {0, 2, 4, 8, 16, 24};

typedef struct sweep {
    papers_trace t[2][TOLERANCES][BANDS];
} sweep;

// Iterations to f < 1e-2 cm^2; the limit and one more when it was not reached.
static int needed(const papers_trace *t, int limit) {
    for (int k = 0; k < t->n; k++)
        if (t->f[k] < 1e-2) return k;
    return limit + 1;
}

void papers_pcg(papers *p) {
    static double axis[402];
    static char titles[2 * TOLERANCES][64], names[BANDS][32];
    const papers_group *g = &p->groups[1];
    const clip *c = &p->clips[g->clip[0]];
    clip_source src = {c, p->offsets[g->clip[0]], 1};
    size_t nq = (size_t)sn_model_nq(c->model);
    double *q = bench_numbers(nq);
    sn_problem *problem = clip_problem(c, NULL);
    sweep *w = bench_need(calloc(1, sizeof *w));
    plot_text csv = {0};
    (void)clip_set_goals(&src, g->frame[0], problem);
    plot_raw(&csv, "start,tolerance,bandwidth,iteration,f_cm2\n");
    for (int i = 0; i < 402; i++) axis[i] = i;
    for (int start = 0; start < 2; start++)
        for (int a = 0; a < TOLERANCES; a++)
            for (int b = 0; b < BANDS; b++) {
                papers_trace *t = &w->t[start][a][b];
                // 6.7 names Higham's projection for Fig. 5 alone
                papers_method method = papers_exact;
                method.bandwidth = bands[b];
                method.higham = false;
                sn_solver_options o = papers_solver(&method, 100, 1e-26);
                o.pcg_tolerance = tolerances[a];
                memcpy(q, clip_truth(c, g->frame[0] - 1), nq * sizeof *q);
                if (start == 1) clip_zero(c, g->frame[0], q);
                papers_solve(problem, &o, q, t);
                for (int k = 0; k < t->n; k++)
                    plot_add(&csv, "%s,%g,%d,%d,%.6g\n", start == 0 ? "previous" : "zero",
                             tolerances[a], bands[b], k, t->f[k]);
            }
    papers_file(p, "001-fig8.csv", &csv);

    plot_series series[2][TOLERANCES][BANDS];
    plot_chart charts[2 * TOLERANCES];
    for (int start = 0; start < 2; start++)
        for (int a = 0; a < TOLERANCES; a++) {
            int at = start * TOLERANCES + a;
            (void)snprintf(titles[at], sizeof titles[at], "%s, tolerance %g",
                           start == 0 ? "from the frame before" : "from θ = 0", tolerances[a]);
            for (int b = 0; b < BANDS; b++) {
                const papers_trace *t = &w->t[start][a][b];
                (void)snprintf(names[b], sizeof names[b], "bandwidth %d", bands[b]);
                series[start][a][b] = (plot_series){names[b], b, t->n, axis, t->f, false, false};
            }
            charts[at] = (plot_chart){.title = titles[at],
                                      .x = {"iteration", false, 0, 0, false},
                                      .y = {"f, cm²", true, 1e-22, 1e6, false},
                                      .series = series[start][a],
                                      .nseries = BANDS};
        }
    plot_figure figure = {
        "the PCG sweep of 001 Fig. 8", charts, 2 * TOLERANCES, TOLERANCES, 390, 270};
    papers_section(p, "001-fig8", "001 Fig. 8: tolerance and bandwidth of the inner PCG");
    papers_figure(
        p, "001-fig8", &figure,
        "The first punching frame with newton-pcg, the inner tolerance constant as 001 has it.");
    int best = 999, at_24 = needed(&w->t[1][1][5], 100), worst = 0;
    for (int a = 0; a < TOLERANCES; a++)
        for (int b = 0; b < BANDS; b++) {
            int n = needed(&w->t[1][a][b], 100);
            best = n < best ? n : best;
            worst = n > worst ? n : worst;
        }
    int warm_least = 999, warm_most = 0;
    for (int a = 0; a < TOLERANCES; a++)
        for (int b = 0; b < BANDS; b++) {
            int n = needed(&w->t[0][a][b], 100);
            warm_least = n < warm_least ? n : warm_least;
            warm_most = n > warm_most ? n : warm_most;
        }
    papers_claim(
        p, "001-fig8-choice", "001 6.7 and Fig. 8",
        "overall a tolerance of 0.1 and a bandwidth of 24 gave good performance across our "
        "examples; "
        "changing these values slightly could lead to better or worse performance",
        at_24 <= best + 2 && worst <= 2 * best ? PAPERS_HOLDS
        : at_24 <= 2 * best + 2                ? PAPERS_PARTLY
                                               : PAPERS_NOT,
        "to f < 10⁻² cm² from θ = 0: %d iterations with 0.1 and 24, best %d, worst %d%s of the "
        "18 settings; from the frame before all need %d to %d.",
        at_24, best, worst > 100 ? 100 : worst, worst > 100 ? " (not reached)" : "", warm_least,
        warm_most);
    sn_problem_destroy(problem);
    free(q);
    free(w);
}
