// SPDX-License-Identifier: MIT
// 001 Figs. 3, 4, 5 and 7: f over iterations, unconstrained, with limits, and from theta = 0.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "papers.h"

enum { SOLVERS = 4, SETTINGS = 3, LONGEST = 402 };

static const struct {
    const char *name;
    sn_method method;
} solvers[SOLVERS] = {{"quasi-Newton (bfgs)", SN_METHOD_BFGS},
                      {"exact (newton-pcg)", SN_METHOD_NEWTON_PCG},
                      {"exact (newton)", SN_METHOD_NEWTON},
                      {"LM (lm)", SN_METHOD_LM}};

typedef enum setting { UNCONSTRAINED, LIMITED, FROM_ZERO } setting;

static const struct {
    const char *id, *title, *caption;
    int iterations;
} settings[SETTINGS] = {
    {"001-fig3", "001 Figs. 3 and 7 (left): unconstrained, from the frame before",
     "f over iterations, one line per frame; rows: kinds of motion, columns: solvers. The dotted "
     "line is "
     "001's stopping tolerance of 10⁻² cm².",
     100},
    {"001-fig4", "001 Figs. 4 and 7 (middle): with joint limits",
     "The same with limits by the rule of 001's code: the range of the motion, 5 % wider (the "
     "root's "
     "rotation, a quaternion here, has none). LM is ours, which keeps limits; 001's does not.",
     100},
    {"001-fig5", "001 Figs. 5 and 7 (right): from θ = 0",
     "The same problems from the zero pose with the root at the mean marker, unconstrained, up to "
     "200 "
     "iterations.",
     200},
};

typedef struct result {
    papers_trace t;
    double order;  // of convergence at the end, NAN when it cannot be told
} result;

typedef struct results {
    result of[SETTINGS][PAPERS_GROUPS][SOLVERS][PAPERS_GROUP];
} results;

// The order p of f_(k+1) ~ f_k^p near the end, from the last step of which all of f_(k-1), f_k and
// f_(k+1) are below 10 cm^2 and above 1e-22, where rounding leaves some 1e-25 of f. 1 is linear, 2
// quadratic.
static double order_of(const papers_trace *t) {
    for (int k = t->n - 2; k >= 1; k--) {
        double a = t->f[k - 1], b = t->f[k], c = t->f[k + 1];
        if (c > 1e-22 && c < 0.3 * b && b < 0.5 * a && a < 10) return log(c / b) / log(b / a);
    }
    return NAN;
}

static void solve_one(papers *p, const papers_group *g, int i, setting how, sn_method method,
                      result *out) {
    clip c = p->clips[g->clip[i]];
    clip_source src = {&c, p->offsets[g->clip[i]], 1};
    sn_model *limited = how == LIMITED ? papers_limited(&c, 1) : NULL;
    if (limited != NULL) c.model = limited;
    sn_problem *problem = clip_problem(&c, NULL);
    size_t nq = (size_t)sn_model_nq(c.model);
    double *q = bench_numbers(nq);
    sn_solver_options o = papers_solver(method, settings[how].iterations, 1e-26);
    memcpy(q, clip_truth(&c, g->frame[i] - 1), nq * sizeof *q);
    if (how == FROM_ZERO) clip_zero(&c, g->frame[i], q);
    (void)clip_set_goals(&src, g->frame[i], problem);
    papers_solve(problem, &o, q, &out->t);
    out->order = order_of(&out->t);
    free(q);
    sn_problem_destroy(problem);
    sn_model_destroy(limited);
}

static void draw(papers *p, int how, results *r) {
    static double axis[LONGEST];
    static const double level[2] = {1e-2, 1e-2};
    double ends[2] = {0, settings[how].iterations};
    plot_series series[PAPERS_GROUPS][SOLVERS][PAPERS_GROUP + 1];
    plot_chart charts[PAPERS_GROUPS * SOLVERS];
    char titles[PAPERS_GROUPS * SOLVERS][64];
    for (int i = 0; i < LONGEST; i++) axis[i] = i;
    for (int g = 0; g < PAPERS_GROUPS; g++)
        for (int s = 0; s < SOLVERS; s++) {
            int n = p->groups[g].n, at = g * SOLVERS + s, longest = 8;
            series[g][s][0] = (plot_series){NULL, PLOT_GREY, 2, ends, level, false, true};
            for (int i = 0; i < n; i++) {
                const papers_trace *t = &r->of[how][g][s][i].t;
                series[g][s][i + 1] = (plot_series){NULL, i, t->n, axis, t->f, false, n > 20};
                if (t->n > longest) longest = t->n;
            }
            (void)snprintf(titles[at], sizeof titles[at], "%s: %s", p->groups[g].name,
                           solvers[s].name);
            charts[at] = (plot_chart){.title = titles[at],
                                      .x = {"iteration", false, 0, longest, false},
                                      .y = {"f, cm²", true, 1e-22, 1e6, false},
                                      .series = series[g][s],
                                      .nseries = n + 1};
        }
    plot_figure figure = {settings[how].title, charts, PAPERS_GROUPS * SOLVERS, SOLVERS, 330, 230};
    papers_section(p, settings[how].id, settings[how].title);
    papers_figure(p, settings[how].id, &figure, settings[how].caption);
}

// How many of a setting's problems a solver brings below 1e-2 cm^2, within k iterations.
static int reached(papers *p, const results *r, int how, int s, int k) {
    int count = 0;
    for (int g = 0; g < PAPERS_GROUPS; g++)
        for (int i = 0; i < p->groups[g].n; i++) {
            const papers_trace *t = &r->of[how][g][s][i].t;
            for (int n = 0; n < t->n && n <= k; n++)
                if (t->f[n] < 1e-2) {
                    count++;
                    break;
                }
        }
    return count;
}

static double after(const papers_trace *t, int k) { return t->f[k < t->n ? k : t->n - 1]; }

static int problems(const papers *p) {
    int n = 0;
    for (int g = 0; g < PAPERS_GROUPS; g++) n += p->groups[g].n;
    return n;
}

static void judge_warm(papers *p, const results *r, int how, const char *id, const char *source) {
    int better = 0, of = 0;
    double gap[PAPERS_GROUPS * PAPERS_GROUP];
    for (int g = 0; g < PAPERS_GROUPS; g++)
        for (int i = 0; i < p->groups[g].n; i++) {
            double exact = after(&r->of[how][g][1][i].t, 10),
                   qn = after(&r->of[how][g][0][i].t, 10);
            gap[of++] = log10(fmax(qn, 1e-24) / fmax(exact, 1e-24));
            better += exact < 1e-2 * qn;
        }
    papers_claim(
        p, id, source,
        "within 10 iterations the exact method is several orders of magnitude more accurate "
        "than quasi-Newton",
        papers_share(better, of),
        "after 10 iterations f is at least 100 times smaller on %d of %d frames; the median "
        "gap is %.1f orders of magnitude.",
        better, of, papers_median(gap, of));
}

static void judge_order(papers *p, const results *r) {
    double orders[2][SETTINGS * PAPERS_GROUPS * PAPERS_GROUP];
    int n[2] = {0};
    for (int k = 0; k < 2; k++)
        for (int how = 0; how < SETTINGS; how++)
            for (int g = 0; g < PAPERS_GROUPS; g++)
                for (int i = 0; i < p->groups[g].n; i++) {
                    double order = r->of[how][g][k == 0 ? 2 : 1][i].order;
                    if (!isnan(order) && r->of[how][g][2][i].t.report.f < 1e-12)
                        orders[k][n[k]++] = order;
                }
    double newton = papers_median(orders[0], n[0]), pcg = papers_median(orders[1], n[1]);
    int fast = 0;
    for (int i = 0; i < n[0]; i++) fast += orders[0][i] > 1.6;
    papers_claim(
        p, "001-quadratic-tail", "001 6.4",
        "near the solution the exact method converges quadratically",
        newton > 1.7 ? PAPERS_HOLDS
        : fast > 0   ? PAPERS_PARTLY
                     : PAPERS_NOT,
        "median order %.2f for newton (f ~ f^order from step to step, down to 10⁻²² cm²), above "
        "1.6 in %d of %d runs; a singular H at the solution makes the last steps of the others "
        "slow. "
        "newton-pcg, whose inner solves are stopped early, %.2f. 1 is linear, 2 quadratic.",
        newton, fast, n[0], pcg);
}

static void judge_cold(papers *p, const results *r) {
    int of = problems(p), got[SOLVERS];
    for (int s = 0; s < SOLVERS; s++) got[s] = reached(p, r, FROM_ZERO, s, 400);
    papers_claim(p, "001-fig5-exact", "001 6.4",
                 "only the exact method consistently reaches a low error from a poor start",
                 got[1] == of && got[3] < of && got[0] < of ? PAPERS_HOLDS
                 : got[1] >= got[0] && got[1] >= got[3]     ? PAPERS_PARTLY
                                                            : PAPERS_NOT,
                 "f < 10⁻² cm² within 200 iterations from θ = 0: newton-pcg %d, newton %d, LM %d, "
                 "quasi-Newton %d of %d frames.",
                 got[1], got[2], got[3], got[0], of);
    papers_claim(p, "001-fig5-lm", "001 6.4",
                 "LM tends to get stuck in a local minimum from a poor start",
                 2 * got[3] < of   ? PAPERS_HOLDS
                 : got[3] < got[2] ? PAPERS_PARTLY
                                   : PAPERS_NOT,
                 "LM reaches f < 10⁻² cm² on %d of %d frames, newton on %d: it is stuck on %d.",
                 got[3], of, got[2], of - got[3]);
    int slower = 0;
    for (int g = 0; g < PAPERS_GROUPS; g++)
        for (int i = 0; i < p->groups[g].n; i++)
            slower += after(&r->of[FROM_ZERO][g][1][i].t, 10) >
                      after(&r->of[UNCONSTRAINED][g][1][i].t, 10);
    papers_claim(
        p, "001-fig5-slower", "001 6.4", "all methods converge worse from θ = 0",
        papers_share(slower, of),
        "f after 10 iterations of newton-pcg is larger than from the frame before on %d of %d "
        "frames.",
        slower, of);
}

static void judge_limits(papers *p, const results *r) {
    int fewer = 0, same = 0, of = 0;
    for (int g = 0; g < PAPERS_GROUPS; g++)
        for (int i = 0; i < p->groups[g].n; i++, of++) {
            int free_n = 0, bound_n = 0;
            const papers_trace *a = &r->of[UNCONSTRAINED][g][2][i].t;
            const papers_trace *b = &r->of[LIMITED][g][2][i].t;
            while (free_n < a->n && a->f[free_n] >= 1e-2) free_n++;
            while (bound_n < b->n && b->f[bound_n] >= 1e-2) bound_n++;
            fewer += bound_n < free_n;
            same += bound_n == free_n;
        }
    papers_claim(
        p, "001-fig4-better", "001 6.3", "limits sometimes give slightly better performance",
        fewer > 0 ? PAPERS_HOLDS : PAPERS_NOT,
        "newton needs fewer iterations to 10⁻² cm² with limits on %d, as many on %d, more on %d "
        "of %d frames.",
        fewer, same, of - fewer - same, of);
}

void papers_convergence(papers *p) {
    results *r = bench_need(calloc(1, sizeof *r));
    plot_text csv = {0};
    plot_raw(&csv, "setting,kind,clip,frame,solver,iteration,f_cm2\n");
    for (int how = 0; how < SETTINGS; how++) {
        papers_progress(p, settings[how].title);
        for (int g = 0; g < PAPERS_GROUPS; g++)
            for (int s = 0; s < SOLVERS; s++)
                for (int i = 0; i < p->groups[g].n; i++) {
                    result *one = &r->of[how][g][s][i];
                    solve_one(p, &p->groups[g], i, (setting)how, solvers[s].method, one);
                    for (int k = 0; k < one->t.n; k++)
                        plot_add(&csv, "%s,%s,%s,%d,%s,%d,%.6g\n", settings[how].id,
                                 p->groups[g].name, p->clips[p->groups[g].clip[i]].name,
                                 p->groups[g].frame[i], sn_method_name(solvers[s].method), k,
                                 one->t.f[k]);
                }
    }
    papers_file(p, "001-convergence.csv", &csv);
    draw(p, UNCONSTRAINED, r);
    judge_warm(p, r, UNCONSTRAINED, "001-fig3", "001 Figs. 3, 7 and section 7");
    judge_order(p, r);
    draw(p, LIMITED, r);
    judge_warm(p, r, LIMITED, "001-fig4", "001 Figs. 4, 7 and section 7");
    judge_limits(p, r);
    draw(p, FROM_ZERO, r);
    judge_cold(p, r);
    free(r);
}
