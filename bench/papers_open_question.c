// SPDX-License-Identifier: MIT
// 001 section 7's open question: when does the exact term K:r matter, how often is H indefinite, and
// what does switching between the two models (hybrid) bring?
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dense.h"
#include "papers.h"

enum { PROTOCOLS = 3, METHODS = 3, MOST = 400 };

static const char *const protocols[PROTOCOLS] = {"paper", "calibrated", "cold"};
static const papers_method methods[METHODS] = {{.name = "hybrid", .method = SN_METHOD_HYBRID},
                                               {.name = "newton", .method = SN_METHOD_NEWTON},
                                               {.name = "lm", .method = SN_METHOD_LM}};

typedef struct point {
    double share;   // |K:r| / |J^T J| in the Frobenius norm
    int negatives;  // negative eigenvalues of H, beyond rounding
} point;

typedef struct protocol {
    int n;
    double frame[MOST];
    double start[MOST], end[MOST];  // the share at both
    int indefinite_start, indefinite_end;
    double negatives;
    double iterations[METHODS], micros[METHODS], calls[METHODS];  // sums
    double exact_share;                                           // of hybrid's iterations
    int least[METHODS];     // frames where this method's f is within 1e-4 of the least of the three
    papers_trace *slowest;  // one frame, the three methods: f - f* over iterations
} protocol;

static point look(sn_workspace *ws, int n, const double *q, double *work) {
    double *H = work, *G = work + n * n, *values = work + 2 * n * n, f;
    double norm = 0, rest = 0;
    point out = {0};
    (void)sn_workspace_eval(ws, q, SN_EVAL_GAUSS_NEWTON, &f);
    sn_workspace_hessian(ws, G);
    (void)sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f);
    sn_workspace_hessian(ws, H);
    for (int i = 0; i < n * n; i++) {
        norm += G[i] * G[i];
        rest += (H[i] - G[i]) * (H[i] - G[i]);
    }
    out.share = sqrt(rest / norm);
    dense_eigenvalues(n, H, values);
    // what no marker sees has the eigenvalue 0: rounding must not count
    for (int i = 0; i < n; i++) out.negatives += values[i] < -1e-9 * values[n - 1];
    return out;
}

// Where frame f starts under a protocol, given the pose found for the frame before.
static void start_of(const clip *c, int k, int frame, const double *last, double *q) {
    size_t bytes = (size_t)sn_model_nq(c->model) * sizeof *q;
    memcpy(q, k == 0 ? clip_truth(c, frame - 1) : last, bytes);
    if (k == 2) clip_zero(c, frame, q);
}

static void run(papers *p, int k, const clip *c, const double *fixed, int every, protocol *out) {
    clip_source src = {c, k == 0 ? p->offsets[0] : NULL, 1};
    sn_problem *problem = clip_problem(c, k == 0 ? NULL : fixed);
    size_t nq = (size_t)sn_model_nq(c->model);
    int nv = sn_model_nv(c->model);
    double *q = bench_numbers(nq), *last = bench_numbers(nq), *best = bench_numbers(nq);
    double *work = bench_numbers((size_t)(2 * nv * nv + nv));
    sn_workspace *ws = NULL;
    sn_solver *before = NULL;
    sn_solver_options o = papers_solver(&methods[0], 200, 0);
    papers_trace *t = bench_need(calloc(METHODS, sizeof *t));
    double slowest = 0;
    (void)sn_workspace_create(problem, true, NULL, &ws, NULL);
    bench_need(ws);
    (void)sn_solver_create(problem, &o, NULL, &before, NULL);
    bench_need(before);
    for (int frame = every; frame < c->nframe && out->n < MOST; frame += every) {
        sn_report report;
        // the calibrated protocol starts from the optimum of the frame before
        memcpy(last, clip_truth(c, frame - 1), nq * sizeof *last);
        (void)clip_set_goals(&src, frame - 1, problem);
        if (k == 1) (void)sn_solver_solve(before, last, &report);
        (void)clip_set_goals(&src, frame, problem);
        double least = INFINITY;
        for (int m = 0; m < METHODS; m++) {
            o = papers_solver(&methods[m], 200, k == 0 ? 1e-6 : 0);
            o.gradient = 1e-6;
            start_of(c, k, frame, last, q);
            papers_solve(problem, &o, q, &t[m]);
            if (t[m].report.f < least) memcpy(best, q, nq * sizeof *best);
            least = fmin(least, t[m].report.f);
            out->iterations[m] += t[m].report.iterations;
            out->micros[m] += t[m].micros;
            out->calls[m] += t[m].report.poses;
            if (m == 0) out->exact_share += t[m].exact;
        }
        for (int m = 0; m < METHODS; m++) out->least[m] += t[m].report.f <= 1.0001 * least + 1e-6;
        if (t[2].report.iterations > slowest && out->slowest != NULL) {
            slowest = t[2].report.iterations;
            memcpy(out->slowest, t, METHODS * sizeof *t);
        }
        start_of(c, k, frame, last, q);
        point a = look(ws, nv, q, work), b = look(ws, nv, best, work);
        out->frame[out->n] = frame;
        out->start[out->n] = a.share;
        out->end[out->n++] = b.share;
        out->indefinite_start += a.negatives > 0;
        out->indefinite_end += b.negatives > 0;
        out->negatives += a.negatives;
    }
    sn_solver_destroy(before);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    free(q);
    free(last);
    free(best);
    free(work);
    free(t);
}

static void draw(papers *p, protocol r[PROTOCOLS]) {
    static double axis[402];
    static double gaps[METHODS][402];
    plot_series shares[2 * PROTOCOLS], lines[METHODS];
    char names[2 * PROTOCOLS][48];
    for (int k = 0; k < PROTOCOLS; k++)
        for (int end = 0; end < 2; end++) {
            int at = 2 * k + end;
            (void)snprintf(names[at], sizeof names[at], "%s, at the %s", protocols[k],
                           end ? "solution" : "start");
            shares[at] = (plot_series){
                names[at], at, r[k].n, r[k].frame, end ? r[k].end : r[k].start, true, false};
        }
    double least = INFINITY;
    for (int m = 0; m < METHODS; m++)
        for (int i = 0; i < r[1].slowest[m].n; i++) least = fmin(least, r[1].slowest[m].f[i]);
    for (int i = 0; i < 402; i++) axis[i] = i;
    for (int m = 0; m < METHODS; m++) {
        for (int i = 0; i < r[1].slowest[m].n; i++) gaps[m][i] = r[1].slowest[m].f[i] - least;
        lines[m] =
            (plot_series){methods[m].name, m, r[1].slowest[m].n, axis, gaps[m], false, false};
    }
    plot_chart charts[2] = {{.title = "how large the exact term is",
                             .x = {"frame", false, 0, 0, false},
                             .y = {"‖K:r‖ / ‖JᵀJ‖", true, 0, 0, false},
                             .series = shares,
                             .nseries = 2 * PROTOCOLS},
                            {.title = "calibrated, the frame slowest for LM",
                             .x = {"iteration", false, 0, 0, false},
                             .y = {"f − f*, cm²", true, 1e-12, 1e3, false},
                             .series = lines,
                             .nseries = METHODS}};
    plot_figure figure = {"the exact term along a clip", charts, 2, 2, 560, 330};
    papers_figure(
        p, "001-section7", &figure,
        "Left: the size of the second-order term along the clip. Right: how far f is above the "
        "least f found.");
}

static void judge(papers *p, const protocol r[PROTOCOLS]) {
    const protocol *c = &r[1];
    bool few = true, low = true;
    for (int k = 0; k < PROTOCOLS; k++)
        for (int m = 1; m < METHODS; m++) {
            few &= r[k].iterations[0] <= 1.02 * r[k].iterations[m];
            low &= r[k].least[0] >= r[k].least[m];
        }
    papers_claim(
        p, "001-hybrid", "001 section 7 (an open question)",
        "switching between exact and approximate modes would be interesting to explore",
        few && low   ? PAPERS_HOLDS
        : few || low ? PAPERS_PARTLY
                     : PAPERS_NOT,
        "mean iterations of hybrid, newton and LM: paper %.1f, %.1f, %.1f; calibrated "
        "%.1f, "
        "%.1f, %.1f; cold %.1f, %.1f, %.1f. Hybrid uses the exact Hessian in %.0f, %.0f and %.0f "
        "%% of "
        "its iterations. Cold, they end at the least f of the three on %d, %d and %d of %d frames.",
        r[0].iterations[0] / r[0].n, r[0].iterations[1] / r[0].n, r[0].iterations[2] / r[0].n,
        c->iterations[0] / c->n, c->iterations[1] / c->n, c->iterations[2] / c->n,
        r[2].iterations[0] / r[2].n, r[2].iterations[1] / r[2].n, r[2].iterations[2] / r[2].n,
        100 * r[0].exact_share / r[0].iterations[0], 100 * c->exact_share / c->iterations[0],
        100 * r[2].exact_share / r[2].iterations[0], r[2].least[0], r[2].least[1], r[2].least[2],
        r[2].n);
    int often = 0;
    for (int k = 0; k < PROTOCOLS; k++) often += 2 * r[k].indefinite_start >= r[k].n;
    papers_claim(
        p, "001-indefinite", "001 section 7",
        "the exact Newton method regularly encounters indefinite Hessians",
        papers_share(often, PROTOCOLS),
        "at the start of a solve H has a negative eigenvalue on %.0f %% of the frames (paper), "
        "%.0f %% (calibrated), %.0f %% (cold, %.1f of them on average); at the solution on "
        "%.0f, %.0f and %.0f %%.",
        100.0 * r[0].indefinite_start / r[0].n, 100.0 * c->indefinite_start / c->n,
        100.0 * r[2].indefinite_start / r[2].n, r[2].negatives / r[2].n,
        100.0 * r[0].indefinite_end / r[0].n, 100.0 * c->indefinite_end / c->n,
        100.0 * r[2].indefinite_end / r[2].n);
}

void papers_open_question(papers *p) {
    clip c = p->clips[0];
    int wanted = p->quick ? 24 : 200, every = c.nframe / wanted > 0 ? c.nframe / wanted : 1;
    protocol *r = bench_need(calloc(PROTOCOLS, sizeof *r));
    plot_text csv = {0};
    double *fixed = clip_calibrate(&c, c.nframe / 60 + 1, NULL);
    r[1].slowest = bench_need(calloc(METHODS, sizeof *r[1].slowest));
    for (int k = 0; k < PROTOCOLS; k++) {
        char what[64];
        (void)snprintf(what, sizeof what, "001 section 7: %s", protocols[k]);
        papers_progress(p, what);
        run(p, k, &c, fixed, every, &r[k]);
    }
    papers_section(p, "001-section7", "001 section 7: what the exact term buys, and hybrid");
    papers_text(
        p,
        "Every %d frames of %s. Paper: 001's offsets, from the true pose of the frame before, to "
        "f &lt; 10⁻² cm². Calibrated: fixed offsets, from the optimum of the frame before, to a "
        "relative gradient of 10⁻⁶. Cold: the same from θ = 0.",
        every, c.name);
    const char *const heads[] = {"protocol",
                                 "solver",
                                 " iterations",
                                 " calls",
                                 " µs",
                                 " at the least f",
                                 " ‖K:r‖/‖JᵀJ‖ start",
                                 " solution",
                                 " H indefinite: start",
                                 " solution"};
    page_table_begin(&p->body, "means; medians of the ratio", heads, 10);
    plot_raw(&csv, "protocol,frame,share_start,share_solution\n");
    for (int k = 0; k < PROTOCOLS; k++) {
        const protocol *t = &r[k];
        for (int m = 0; m < METHODS; m++)
            papers_row(p, "%s|%s|%.2f|%.1f|%.0f|%d of %d|%.3g|%.3g|%d|%d", protocols[k],
                       methods[m].name, t->iterations[m] / t->n, t->calls[m] / t->n,
                       t->micros[m] / t->n, t->least[m], t->n, papers_median(t->start, t->n),
                       papers_median(t->end, t->n), t->indefinite_start, t->indefinite_end);
        for (int i = 0; i < t->n; i++)
            plot_add(&csv, "%s,%.0f,%.6g,%.6g\n", protocols[k], t->frame[i], t->start[i],
                     t->end[i]);
    }
    page_table_end(&p->body);
    papers_file(p, "001-section7.csv", &csv);
    draw(p, r);
    judge(p, r);
    free(r[1].slowest);
    free(r);
    free(fixed);
}
