// SPDX-License-Identifier: MIT
// 001 Appendix A, Figs. A.9 and A.10: definiteness of H over the square of two joint angles. Two bones
// of length 1 in a plane, along x at the neutral pose, goals at 1, 2 and 3 on the x axis.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "papers.h"

enum { GOALS = 3, FINE = 121, COARSE = 37, KINDS = 4 };

static const char *const kinds[KINDS] = {"positive definite", "indefinite", "negative definite",
                                         "semi-definite (an eigenvalue is 0)"};

static sn_model *two_bones(void) {
    sn_builder *b = NULL;
    sn_model *model = NULL;
    (void)sn_builder_create("two bones", NULL, &b, NULL);
    bench_need(b);
    sn_joint_desc hinge = sn_joint_default(SN_JOINT_HINGE);
    hinge.name = "root";
    int root = sn_builder_joint(b, &hinge);
    hinge.name = "elbow";
    hinge.parent = root;
    hinge.position[0] = 1;
    (void)sn_builder_joint(b, &hinge);
    (void)sn_builder_finish(b, &model, NULL);
    sn_builder_destroy(b);
    return bench_need(model);
}

typedef struct square {
    int n;
    double *f;
    unsigned char *kind;
    double most_f_definite, least_f_negative, most_f;
    int count[KINDS];
    int lower;  // cells whose f is below the largest of a positive definite one
} square;

// Eigenvalues of [a b; b c], after 001: how many are negative, zero, positive.
static unsigned char kind_of(const double *H) {
    double mean = 0.5 * (H[0] + H[3]), d = hypot(0.5 * (H[0] - H[3]), H[1]);
    double low = mean - d, high = mean + d, zero = 1e-9;
    if (fabs(low) < zero || fabs(high) < zero) return 3;
    return low > 0 ? 0 : high < 0 ? 2 : 1;
}

static square sample(sn_workspace *ws, int n) {
    square s = {.n = n, .f = bench_numbers((size_t)(n * n)), .least_f_negative = INFINITY};
    s.kind = bench_need(calloc((size_t)(n * n), 1));
    const double turn = 6.283185307179586;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            double q[2] = {turn * ((double)i / (n - 1) - 0.5), turn * ((double)j / (n - 1) - 0.5)};
            double H[4], *f = &s.f[i + n * j];
            (void)sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, f);
            sn_workspace_hessian(ws, H);
            unsigned char kind = s.kind[i + n * j] = kind_of(H);
            s.count[kind]++;
            s.most_f = fmax(s.most_f, *f);
            if (kind == 0) s.most_f_definite = fmax(s.most_f_definite, *f);
            if (kind == 2) s.least_f_negative = fmin(s.least_f_negative, *f);
        }
    for (int i = 0; i < n * n; i++) s.lower += s.f[i] <= s.most_f_definite;
    return s;
}

static plot_chart chart_of(plot_kind kind, const square *s, const char *title,
                           const double *levels) {
    double half = 180 + 180.0 / (s->n - 1);
    return (plot_chart){.kind = kind,
                        .title = title,
                        .x = {"θ₁, degrees", false, -half, half, false},
                        .y = {"θ₂, degrees", false, -half, half, false},
                        .nx = s->n,
                        .ny = s->n,
                        .value = s->f,
                        .category = s->kind,
                        .categories = kinds,
                        .ncategory = KINDS,
                        .levels = levels,
                        .nlevel = levels != NULL ? 5 : 0,
                        .value_label = "f"};
}

static void judge(papers *p, const square s[GOALS]) {
    int apart = 0, small = 0;
    double share[GOALS], worst = 0;
    for (int k = 0; k < GOALS; k++) {
        share[k] = s[k].most_f_definite / s[k].most_f;
        worst = fmax(worst, share[k]);
        small += share[k] < 0.5;
        apart += s[k].most_f_definite < s[k].least_f_negative;
    }
    papers_claim(
        p, "001-a10-definite", "001 Appendix A, Fig. A.10",
        "H is positive definite only where the residual is small", papers_share(small, GOALS),
        "the largest f with a positive definite H is %.0f, %.0f and %.0f %% of the largest f "
        "for goals 1, 2 and 3; positive definite are %.0f, %.0f and %.0f %% of the square.",
        100 * share[0], 100 * share[1], 100 * share[2], 100.0 * s[0].count[0] / (s[0].n * s[0].n),
        100.0 * s[1].count[0] / (s[1].n * s[1].n), 100.0 * s[2].count[0] / (s[2].n * s[2].n));
    papers_claim(
        p, "001-a10-negative", "001 Appendix A, Fig. A.10",
        "H is negative definite where the residual is large", papers_share(apart, GOALS),
        "for %d of 3 goals the least f of a negative definite H (%.2f, %.2f, %.2f) is above the "
        "largest f of a positive definite one (%.2f, %.2f, %.2f).",
        apart, s[0].least_f_negative, s[1].least_f_negative, s[2].least_f_negative,
        s[0].most_f_definite, s[1].most_f_definite, s[2].most_f_definite);
    int semi = s[0].count[3] + s[1].count[3] + s[2].count[3];
    papers_claim(p, "001-a10-semi", "001 Appendix A",
                 "semi-definite matrices do not occur frequently",
                 semi < 3 * s[0].n * s[0].n / 100 ? PAPERS_HOLDS : PAPERS_PARTLY,
                 "%d of %d sampled poses have an eigenvalue of 0.", semi, 3 * s[0].n * s[0].n);
}

void papers_definiteness(papers *p) {
    static const char *const titles[GOALS] = {"goal (1, 0): inside", "goal (2, 0): on the rim",
                                              "goal (3, 0): out of reach"};
    sn_model *model = two_bones();
    sn_task task = sn_task_default(SN_TASK_POINT);
    task.joint = 1;
    task.local[0] = 1;
    square fine[GOALS], coarse[GOALS];
    double levels[GOALS][5];
    plot_chart charts[2 * GOALS];
    plot_text csv = {0};
    plot_raw(&csv, "goal,theta1_degrees,theta2_degrees,f,kind\n");
    for (int k = 0; k < GOALS; k++) {
        sn_problem *problem = NULL;
        sn_workspace *ws = NULL;
        task.goal[0] = k + 1;
        (void)sn_problem_create(model, &task, 1, NULL, &problem, NULL);
        (void)sn_workspace_create(bench_need(problem), true, NULL, &ws, NULL);
        fine[k] = sample(bench_need(ws), FINE);
        coarse[k] = sample(ws, COARSE);
        for (int i = 0; i < 5; i++) levels[k][i] = fine[k].most_f * (0.1 + 0.2 * i);
        charts[k] = chart_of(PLOT_MAP, &fine[k], titles[k], levels[k]);
        charts[GOALS + k] = chart_of(PLOT_SURFACE, &coarse[k], titles[k], NULL);
        for (int j = 0; j < FINE; j++)
            for (int i = 0; i < FINE; i++)
                plot_add(&csv, "%d,%d,%d,%.6g,%s\n", k + 1, 3 * i - 180, 3 * j - 180,
                         fine[k].f[i + FINE * j],
                         fine[k].kind[i + FINE * j] == 3 ? "semi-definite"
                                                         : kinds[fine[k].kind[i + FINE * j]]);
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
    }
    papers_file(p, "001-figA10.csv", &csv);
    plot_figure figure = {"definiteness of the Hessian over the configuration square",
                          charts,
                          2 * GOALS,
                          GOALS,
                          390,
                          350};
    papers_section(p, "001-figA10",
                   "001 Figs. A.9, A.10: definiteness over the configuration square");
    papers_text(
        p, "Two bones of length 1, both hinges about z, along x at θ = 0 (Fig. A.9). Above: "
           "where H is positive definite, indefinite, negative definite; blue: level sets of f. "
           "Below: f as the height, coloured alike.");
    papers_figure(p, "001-figA10", &figure, "Sampled every 3 degrees (the surface every 10).");
    judge(p, fine);
    for (int k = 0; k < GOALS; k++) {
        free(fine[k].f);
        free(fine[k].kind);
        free(coarse[k].f);
        free(coarse[k].kind);
    }
    sn_model_destroy(model);
}
