// SPDX-License-Identifier: MIT
// 001 Table 4: whole clips, time and summed marker error per frame.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "papers.h"

// EXACT: 001's method, by which it is judged: sections 2, 6.7 and 7 take the nearest semidefinite matrix where
// H is indefinite. BARE is the same without it; CODE has the published code's bandwidth.
enum { ROWS = 9, EXACT = 2, BARE = 3, CODE = 4, OURS = 5, STARTS = 2 };

static const struct {
    int iterations;
    papers_method method;
} rows[ROWS] = {
    {10, {"quasi-Newton (10)", SN_METHOD_BFGS, 0, false, false}},
    {100, {"quasi-Newton (100)", SN_METHOD_BFGS, 0, false, false}},
    {10, {"exact (10): 001's newton-pcg, band 24, Higham", SN_METHOD_NEWTON_PCG, 24, true, true}},
    {10, {"the same without Higham's projection", SN_METHOD_NEWTON_PCG, 24, true, false}},
    {10, {"... and band 8 (001's code)", SN_METHOD_NEWTON_PCG, 8, true, false}},
    {10, {"our newton-pcg (10), band 5", SN_METHOD_NEWTON_PCG, 5, false, false}},
    {10, {"newton (10)", SN_METHOD_NEWTON, 0, false, false}},
    {10, {"LM (10)", SN_METHOD_LM, 0, false, false}},
    {10, {"hybrid (10)", SN_METHOD_HYBRID, 0, false, false}}};

// 001, Table 4: s and cm per frame
static const struct {
    const char *clip;
    double s[3], cm[3];
} printed[] = {{"dg_03-05_02", {0.38, 2.63, 1.01}, {23.78, 1.61, 0.5}},
               {"dg_03-02_03", {0.31, 4.25, 0.69}, {15.25, 1.65, 0.13}},
               {"bk_05-03_03", {0.33, 2.19, 0.91}, {308.06, 5.96, 0.10}},
               {"mm_03-05_02", {0.32, 2.29, 0.77}, {43.3, 2.80, 0.09}}};

bool papers_in_table4(const char *name) {
    for (size_t k = 0; k < sizeof printed / sizeof printed[0]; k++)
        if (strcmp(printed[k].clip, name) == 0) return true;
    return false;
}

sn_track_options papers_plain_track(const papers_method *method, int iterations) {
    sn_track_options t = sn_track_options_default();
    t.solver = papers_solver(method, iterations, 1e-6);
    t.rest = 1e-8;
    t.chunk = 1 << 30;
    t.extrapolate = false;  // 001 starts at the previous solution
    t.restarts = 0;
    return t;
}

// Both starts of the first frame: 0 from theta = 0, as 001 has it, 1 from its true pose.
static void paper_rows(papers *p, int at, clip_row out[ROWS][STARTS], plot_text *csv) {
    clip c = p->clips[at];
    int most = !p->quick ? c.nframe : at == 0 ? 450 : 150;
    if (c.nframe > most) c.nframe = most;
    clip_source src = {&c, p->offsets[at], 1};
    size_t nq = (size_t)sn_model_nq(c.model);
    double *start = bench_numbers(nq);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < STARTS; k++) {
            char what[128];
            (void)snprintf(what, sizeof what, "001 Table 4: %s, %s", c.name, rows[i].method.name);
            papers_progress(p, what);
            sn_track_options t = papers_plain_track(&rows[i].method, rows[i].iterations);
            clip_zero(&c, 0, start);
            if (k == 1) memcpy(start, clip_truth(&c, 0), nq * sizeof *start);
            // eigenvalues take their time: in a quick run on a few frames
            clip part = c;
            if (p->quick && rows[i].method.higham && part.nframe > 40) part.nframe = 40;
            src.clip = &part;
            out[i][k] = clip_track(&part, &src, &t, NULL, start);
            free(out[i][k].f);
            plot_add(csv, "%s,%s,%d,%s,%d,%s,%.6g,%.6g,%.6g,%.6g,%d,%d\n", papers_cell(c.name),
                     sn_method_name(rows[i].method.method), rows[i].method.bandwidth,
                     rows[i].method.higham     ? "higham"
                     : rows[i].method.constant ? "001"
                                               : "ours",
                     rows[i].iterations, k == 0 ? "zero" : "true", out[i][k].error,
                     out[i][k].micros, out[i][k].iterations, out[i][k].poses, out[i][k].above,
                     part.nframe);
        }
    free(start);
}

static bool in_order(clip_row r[ROWS][STARTS], int exact, int start) {
    return r[0][start].error > r[1][start].error && r[1][start].error > r[exact][start].error;
}

// How many clips come out in 001's order with one exact row.
static int ordered(const papers *p, clip_row (*r)[ROWS][STARTS], int exact, int start) {
    int n = 0;
    for (int i = 0; i < p->nclip; i++) n += in_order(r[i], exact, start);
    return n;
}

static papers_verdict number_verdict(double cm) {
    return fabs(cm - 0.5) < 0.15 ? PAPERS_HOLDS : cm < 1.0 ? PAPERS_PARTLY : PAPERS_NOT;
}

static void judge(papers *p, clip_row (*r)[ROWS][STARTS]) {
    // a quick run has too few frames with the projection
    int exact = p->quick ? BARE : EXACT, few[STARTS] = {0};
    for (int i = 0; i < p->nclip; i++)
        for (int k = 0; k < STARTS; k++) few[k] += r[i][exact][k].iterations < 4;
    clip_row(*first)[STARTS] = r[0];
    papers_claim(p, "001-table4-order", "001 6.6 and Table 4",
                 "the exact Newton solver with k_max = 10 gives the lowest error; quasi-Newton "
                 "(10) does a very "
                 "poor job, quasi-Newton (100) is between",
                 papers_share(ordered(p, r, exact, 0), p->nclip),
                 "by 001's method (bandwidth 24, Higham's projection) and from θ = 0 in this order "
                 "on %d of %d "
                 "clips; with the first frame from its true pose, so that ten iterations there "
                 "decide nothing, "
                 "on %d. Without the projection on %d and %d, with bandwidth 8 as in the published "
                 "code on %d "
                 "and %d, with our newton-pcg (bandwidth 5) on %d and %d. %s from θ = 0: %.2f, "
                 "%.2f and %.2f cm; "
                 "001 prints 23.78, 1.61 and 0.5 for dg_03-05_02.",
                 ordered(p, r, EXACT, 0), p->nclip, ordered(p, r, EXACT, 1), ordered(p, r, BARE, 0),
                 ordered(p, r, BARE, 1), ordered(p, r, CODE, 0), ordered(p, r, CODE, 1),
                 ordered(p, r, OURS, 0), ordered(p, r, OURS, 1), p->clips[0].name,
                 first[0][0].error, first[1][0].error, first[exact][0].error);
    if (!p->example && strcmp(p->clips[0].name, printed[0].clip) == 0)
        papers_claim(p, "001-table4-number", "001 Table 4",
                     "dg_03-05_02: the exact method leaves 0.5 cm per frame",
                     number_verdict(first[exact][0].error),
                     "from θ = 0 %.2f cm by 001's method (%d frames are left above 10⁻² cm²), %.2f "
                     "(%d) without "
                     "Higham's projection, %.2f (%d) with bandwidth 8 as in the published code, "
                     "%.2f (%d) with "
                     "our newton-pcg (bandwidth 5). From the true first pose %.2f, %.2f, %.2f and "
                     "%.2f: how many "
                     "frames follow a wrong valley decides. It is the sum over 41 markers, and the "
                     "offsets are "
                     "recomputed from the truth of each frame: a perfect pose always exists.",
                     first[EXACT][0].error, first[EXACT][0].above, first[BARE][0].error,
                     first[BARE][0].above, first[CODE][0].error, first[CODE][0].above,
                     first[OURS][0].error, first[OURS][0].above, first[EXACT][1].error,
                     first[BARE][1].error, first[CODE][1].error, first[OURS][1].error);
    papers_claim(
        p, "001-table4-iterations", "001 6.6",
        "the exact method typically required fewer than 4 iterations",
        papers_share(few[0], p->nclip),
        "mean below 4 on %d of %d clips from θ = 0 (%.2f on %s) and on %d from the true first "
        "pose (%.2f); our newton-pcg %.2f and %.2f, newton %.2f and %.2f.",
        few[0], p->nclip, first[exact][0].iterations, p->clips[0].name, few[1],
        first[exact][1].iterations, first[OURS][0].iterations, first[OURS][1].iterations,
        first[OURS + 1][0].iterations, first[OURS + 1][1].iterations);
    papers_claim(
        p, "001-table4-time", "001 6.6",
        "quasi-Newton (100) does not achieve the low error of the exact method, even though the "
        "computational time is comparable",
        first[1][0].error > first[exact][0].error   ? PAPERS_HOLDS
        : first[1][1].error > first[exact][1].error ? PAPERS_PARTLY
                                                    : PAPERS_NOT,
        "%s from θ = 0: exact leaves %.2f cm against %.2f (from the true first pose %.2f against "
        "%.2f). "
        "It takes %.2f of quasi-Newton (100)'s time (001: 1.01/2.63 = 0.38); without Higham's "
        "projection, whose eigenvalues are most of that, %.2f, and leaves %.2f cm.",
        p->clips[0].name, first[exact][0].error, first[1][0].error, first[exact][1].error,
        first[1][1].error, first[exact][0].micros / first[1][0].micros,
        first[BARE][0].micros / first[1][0].micros, first[BARE][0].error);
}

void papers_table4(papers *p) {
    clip_row(*r)[ROWS][STARTS] = bench_need(calloc((size_t)p->nclip, sizeof *r));
    plot_text csv = {0};
    plot_raw(&csv, "clip,solver,bandwidth,settings,iterations_limit,start,error_cm,us_per_frame,"
                   "iterations,calls,above_1e-2_cm2,frames\n");
    for (int i = 0; i < p->nclip; i++) paper_rows(p, i, r[i], &csv);
    papers_file(p, "001-table4.csv", &csv);
    const char *const heads[] = {"clip",           "solver",         " 001: s", " 001: cm",
                                 " cm from θ = 0", " cm from truth", " µs",     " iterations",
                                 " calls",         " frames above"};
    papers_section(p, "001-table4", "001 Table 4: whole clips");
    papers_text(
        p, "001's protocol: offsets of every marker recomputed from the truth of the very frame "
           "that is solved; each frame from the solver's own last pose, the first from θ = 0 (root "
           "at the mean marker) and, beside it, from its true pose, so that the luck of one frame "
           "can be told from the rest; stop at f &lt; 10⁻² cm² or after the iterations in "
           "parentheses. Error: the sum of the 41 distances, mean over frames. Times, counts and "
           "the frames left above 10⁻² cm² belong to the start from the true pose. Calls: poses at "
           "which f was evaluated, alone or with derivatives. 001 prints bandwidth 24 (6.7), its "
           "published code has 8.");
    if (p->quick)
        papers_text(p, "This is a quick run: parts of the clips, and Higham's row on 40 frames.");
    if (!papers_has_higham())
        papers_text(p, "This build has no LAPACK, so Higham's projection does nothing.");
    page_table_begin(&p->body, "per frame; 001's clips that are not at hand have its numbers alone",
                     heads, 10);
    for (int i = 0; i < p->nclip; i++)
        for (int s = 0; s < ROWS; s++) {
            char theirs[64] = "|";
            int column = s <= EXACT ? s : -1;
            for (size_t k = 0; k < sizeof printed / sizeof printed[0] && column >= 0; k++)
                if (strcmp(printed[k].clip, p->clips[i].name) == 0)
                    (void)snprintf(theirs, sizeof theirs, "%.2f|%.2f", printed[k].s[column],
                                   printed[k].cm[column]);
            papers_row(p, "%s|%s|%s|%.3f|%.3f|%.0f|%.2f|%.1f|%d", p->clips[i].name,
                       rows[s].method.name, theirs, r[i][s][0].error, r[i][s][1].error,
                       r[i][s][1].micros, r[i][s][1].iterations, r[i][s][1].poses,
                       r[i][s][1].above);
        }
    for (size_t k = 0; k < sizeof printed / sizeof printed[0]; k++) {
        bool here = false;
        for (int i = 0; i < p->nclip; i++) here |= strcmp(p->clips[i].name, printed[k].clip) == 0;
        for (int s = 0; s <= EXACT && !here; s++)
            papers_row(p, "%s|%s|%.2f|%.2f|not at hand|||||", printed[k].clip, rows[s].method.name,
                       printed[k].s[s], printed[k].cm[s]);
    }
    page_table_end(&p->body);
    judge(p, r);
    free(r);
    papers_calibrated(p);
}
