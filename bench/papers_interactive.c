// SPDX-License-Identifier: MIT
// 002 Figs. 6 to 10: interactive tracking of hands, feet, pelvis and head with limits on all joints.
//
// Everything in 002's unit of length, 20 cm (its tolerance of 0.05 units is 1 cm), since a fixed step
// along the gradient means something else in every unit. 002's f has no 1/2, so its step of 0.005 is
// 0.01 here.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "papers.h"
#include "solvers/solver.h"

enum { METHODS = 4, SAMPLINGS = 3, BUDGETS = 3, GOALS = 6, MOST = 1400 };

static const double unit = 5;  // units in a metre

static const struct {
    const char *name;
    sn_method method;
} methods[METHODS] = {{"Jacobian transpose", SN_METHOD_JACOBIAN_TRANSPOSE},
                      {"projected line search", SN_METHOD_PROJECTED_GRADIENT},
                      {"SVD, clamped", SN_METHOD_PINV},
                      {"newton", SN_METHOD_NEWTON}};

static const double intervals[SAMPLINGS] = {0.05, 0.7, 1.0};

// What a frame may cost, in calls of f. 002 gave each method a number of iterations that fits into one
// time slot; a clock would give other results every time, so SLOT has the numbers of calls that took each
// method about as long (1 ms on the machine where they were measured). Beside it the same number of calls
// for all.
enum { SLOT = 0, FEW = 1 };
static const struct {
    const char *name;
    int calls[METHODS];
} budgets[BUDGETS] = {{"equal time", {340, 450, 20, 90}},
                      {"60 calls", {60, 60, 60, 60}},
                      {"600 calls", {600, 600, 600, 600}}};

typedef struct cell {
    int n;
    double error[MOST];    // summed squared error, units^2
    double joint[MOST];    // joint acceleration, rms, rad/s^2
    double calls, micros;  // means
    int above;             // frames above 002's tolerance: an effector further off than 0.05
} cell;

typedef struct results {
    cell of[BUDGETS][SAMPLINGS][METHODS];
    double truth[SAMPLINGS][MOST];  // the joint acceleration of the motion itself
} results;

typedef struct scene {
    const clip *c;
    sn_model *model;
    sn_problem *problem;
    int joint[GOALS];
    double (*goals)[GOALS][3];  // nframe
    double *truth;              // nframe x nq, in units
    size_t nq;
} scene;

// The six effectors by the names that HDM05, CMU and the built-in figure give them.
static const char *const effectors[GOALS][2] = {{"lhand", "l_hand"}, {"rhand", "r_hand"},
                                                {"lfoot", "l_foot"}, {"rfoot", "r_foot"},
                                                {"root", "pelvis"},  {"head", "head"}};

static void scene_make(const clip *c, scene *s) {
    *s = (scene){.c = c, .model = papers_limited(c, unit), .nq = (size_t)sn_model_nq(c->model)};
    sn_task tasks[GOALS];
    sn_workspace *ws = NULL;
    s->goals = bench_need(calloc((size_t)c->nframe, sizeof *s->goals));
    s->truth = bench_numbers((size_t)c->nframe * s->nq);
    for (int k = 0; k < GOALS; k++) {
        s->joint[k] = sn_model_find_joint(s->model, effectors[k][0]);
        if (s->joint[k] < 0) s->joint[k] = sn_model_find_joint(s->model, effectors[k][1]);
        if (s->joint[k] < 0) s->joint[k] = sn_model_root(s->model);
        tasks[k] = sn_task_default(SN_TASK_POINT);
        tasks[k].joint = s->joint[k];
    }
    (void)sn_problem_create(s->model, tasks, GOALS, NULL, &s->problem, NULL);
    (void)sn_workspace_create(bench_need(s->problem), false, NULL, &ws, NULL);
    bench_need(ws);
    for (int f = 0; f < c->nframe; f++) {
        double *q = s->truth + (size_t)f * s->nq;
        const double origin[3] = {0};
        memcpy(q, clip_truth(c, f), s->nq * sizeof *q);
        for (int k = 0; k < 3; k++)
            q[sn_model_q_index(s->model, sn_model_root(s->model)) + k] *= unit;
        (void)sn_workspace_pose(ws, q);
        for (int k = 0; k < GOALS; k++) {
            sn_vec3 x = sn_workspace_point(ws, s->joint[k], origin);
            s->goals[f][k][0] = x.x, s->goals[f][k][1] = x.y, s->goals[f][k][2] = x.z;
        }
    }
    sn_workspace_destroy(ws);
}

static void scene_free(scene *s) {
    sn_problem_destroy(s->problem);
    sn_model_destroy(s->model);
    free(s->goals);
    free(s->truth);
}

static void scene_goals(scene *s, int frame) {
    for (int k = 0; k < GOALS; k++) (void)sn_problem_set_goal(s->problem, k, s->goals[frame][k]);
}

// Ends a solve once it has had its evaluations.
typedef struct meter {
    sn_solver *solver;
    int most;
    bool over;
} meter;

static bool is_over(void *user) { return ((const meter *)user)->over; }

static void count(void *user, const sn_trace *trace) {
    meter *m = user;
    (void)trace;
    if (m->solver->report.poses >= m->most) m->over = true;
}

// Root mean square of the joints' acceleration from three poses h apart; the root is left out.
static double acceleration(const scene *s, const double *a, const double *b, const double *c,
                           double h, double *work) {
    int nv = sn_model_nv(s->model), root = sn_model_v_index(s->model, sn_model_root(s->model));
    double sum = 0;
    sn_model_difference(s->model, a, b, work);
    sn_model_difference(s->model, b, c, work + nv);
    for (int i = 0; i < nv; i++) {
        double x = (work[nv + i] - work[i]) / (h * h);
        if (i < root || i >= root + 6) sum += x * x;
    }
    return sqrt(sum / (nv - 6));
}

static void run(scene *s, int budget, int sampling, int method, int first, int most, cell *out) {
    sn_solver_options o = sn_solver_options_default();
    meter m = {.most = budgets[budget].calls[method]};
    int every = (int)(intervals[sampling] * s->c->rate + 0.5), nv = sn_model_nv(s->model);
    double *q = bench_numbers(3 * s->nq), *work = bench_numbers((size_t)(2 * nv));
    double *now = q + 2 * s->nq, sum = 0, time = 0;
    o.method = methods[method].method;
    o.step = 0.01;
    o.max_iterations = 100000;
    o.goal = 0.5 * 0.05 * 0.05;  // 002's tolerance
    o.gradient = 1e-9;
    o.trace = count;
    o.trace_user = &m;
    o.cancel = (sn_cancel){is_over, &m};
    (void)sn_solver_create(s->problem, &o, NULL, &m.solver, NULL);
    bench_need(m.solver);
    memcpy(now, s->truth + (size_t)first * s->nq, s->nq * sizeof *q);
    for (int frame = first + every; frame < s->c->nframe && out->n < most; frame += every) {
        sn_report report;
        memmove(q, q + s->nq, 2 * s->nq * sizeof *q);
        scene_goals(s, frame);
        m.over = false;
        double begin = bench_seconds();
        (void)sn_solver_solve(m.solver, now, &report);
        time += bench_seconds() - begin;
        sum += report.poses;
        out->error[out->n] = 2 * report.f;
        out->above += report.worst_error > 0.05;
        // the first two frames have no acceleration
        out->joint[out->n] =
            out->n >= 2 ? acceleration(s, q, q + s->nq, now, intervals[sampling], work) : NAN;
        out->n++;
    }
    out->calls = sum / (out->n > 0 ? out->n : 1);
    out->micros = 1e6 * time / (out->n > 0 ? out->n : 1);
    sn_solver_destroy(m.solver);
    free(q);
    free(work);
}

static void truth_of(const scene *s, int sampling, int first, int n, double *out) {
    int every = (int)(intervals[sampling] * s->c->rate + 0.5);
    double *work = bench_numbers((size_t)(2 * sn_model_nv(s->model)));
    for (int i = 0; i < n; i++) {
        const double *b = s->truth + (size_t)(first + i * every) * s->nq;
        out[i] = i < 1 ? NAN
                       : acceleration(s, b - (size_t)every * s->nq, b, b + (size_t)every * s->nq,
                                      intervals[sampling], work);
    }
    free(work);
}

static double median_of(const double *x, int n) {
    double *v = bench_numbers((size_t)n);
    int m = 0;
    for (int i = 0; i < n; i++)
        if (isfinite(x[i])) v[m++] = x[i];
    double out = papers_median(v, m);
    free(v);
    return out;
}

static double quartiles_of(const double *x, int n) {
    int m = 0, below = 0, above = 0;
    double middle = median_of(x, n), *low = bench_numbers((size_t)n),
           *high = bench_numbers((size_t)n);
    for (int i = 0; i < n; i++) m += isfinite(x[i]);
    for (int i = 0; i < n; i++) {
        if (x[i] <= middle) low[below++] = x[i];
        if (x[i] >= middle) high[above++] = x[i];
    }
    double out = m > 0 ? papers_median(high, above) - papers_median(low, below) : NAN;
    free(low);
    free(high);
    return out;
}

// Fig. 6: a fixed step from one pose to the goals of another; f after every step.
enum { STEPS = 60 };

static int flip(scene *s, double step, int every, double *f) {
    int nv = sn_model_nv(s->model), rises = 0;
    double *q = bench_numbers(s->nq), *g = bench_numbers((size_t)nv);
    sn_workspace *ws = NULL;
    (void)sn_workspace_create(s->problem, false, NULL, &ws, NULL);
    bench_need(ws);
    memcpy(q, s->truth, s->nq * sizeof *q);
    (void)sn_model_clamp(s->model, q);
    scene_goals(s, every);
    for (int i = 0; i < STEPS; i++) {
        if (sn_workspace_eval(ws, q, SN_EVAL_GRADIENT, &f[i]) != SN_OK) f[i] = NAN;
        f[i] *= 2;
        if (i > 0 && f[i] > f[i - 1]) rises++;
        sn_workspace_gradient(ws, g);
        for (int k = 0; k < nv; k++) g[k] *= -2 * step;  // the gradient of 002's f
        sn_model_integrate(s->model, q, g, q);
        sn_model_normalize(s->model, q);
        (void)sn_model_clamp(s->model, q);
    }
    sn_workspace_destroy(ws);
    free(q);
    free(g);
    return rises;
}

static void figure6(papers *p, scene *s) {
    static const double steps[3] = {0.0005, 0.005, 0.05};
    static const char *const names[3] = {"step 0.0005", "step 0.005", "step 0.05"};
    static double f[3][STEPS], axis[STEPS];
    int rises[3], every = (int)(0.05 * s->c->rate + 0.5);
    plot_series series[3];
    plot_text csv = {0};
    plot_raw(&csv, "step,iteration,f_units2\n");
    for (int i = 0; i < STEPS; i++) axis[i] = i;
    for (int k = 0; k < 3; k++) {
        rises[k] = flip(s, steps[k], every, f[k]);
        series[k] = (plot_series){names[k], k, STEPS, axis, f[k], false, false};
        for (int i = 0; i < STEPS; i++) plot_add(&csv, "%g,%d,%.6g\n", steps[k], i, f[k][i]);
    }
    papers_file(p, "002-fig6.csv", &csv);
    plot_chart chart = {.title = "Jacobian transpose with a fixed step, goals 0.05 s ahead",
                        .x = {"iteration", false, 0, 0, false},
                        .y = {"summed squared error, units²", true, 0, 0, false},
                        .series = series,
                        .nseries = 3};
    plot_figure figure = {"002 Fig. 6: a step too long", &chart, 1, 1, 620, 320};
    papers_section(p, "002-fig6", "002 Fig. 6: what a fixed step does");
    papers_figure(p, "002-fig6", &figure,
                  "One unit is 20 cm. The pose flips to and fro where the line goes up and down.");
    bool bad = rises[2] > 5 && f[2][STEPS - 1] > 2 * f[1][STEPS - 1];
    papers_claim(
        p, "002-fig6", "002 Fig. 6 and section 5",
        "a step of 0.05 flips between poses; more than 0.005 diverges, less only slows down",
        bad && f[1][STEPS - 1] < f[1][0] && f[0][STEPS - 1] > f[1][STEPS - 1] ? PAPERS_HOLDS
        : bad                                                                 ? PAPERS_PARTLY
                                                                              : PAPERS_NOT,
        "from f = %.2g units²: with 0.05 f rises in %d of %d steps and ends at %.2g; with "
        "0.005 it rises in %d and ends at %.2g; with 0.0005 in %d and ends at %.2g.",
        f[1][0], rises[2], STEPS - 1, f[2][STEPS - 1], rises[1], f[1][STEPS - 1], rises[0],
        f[0][STEPS - 1]);
}

static void draw(papers *p, results *r) {
    static plot_series errors[BUDGETS][SAMPLINGS][METHODS], joints[SAMPLINGS][METHODS + 1];
    static plot_chart charts[BUDGETS * SAMPLINGS], smooth[SAMPLINGS];
    static char titles[BUDGETS * SAMPLINGS][64], heads[SAMPLINGS][64];
    for (int k = 0; k < SAMPLINGS; k++) {
        for (int b = 0; b < BUDGETS; b++) {
            int at = b * SAMPLINGS + k;
            (void)snprintf(titles[at], sizeof titles[at], "every %g s, %s a frame", intervals[k],
                           budgets[b].name);
            for (int m = 0; m < METHODS; m++)
                errors[b][k][m] = (plot_series){
                    methods[m].name, m, r->of[b][k][m].n, NULL, r->of[b][k][m].error, 0, 0};
            charts[at] = (plot_chart){.kind = PLOT_BOXES,
                                      .title = titles[at],
                                      .y = {"summed squared error, units²", true, 1e-6, 1e3, false},
                                      .series = errors[b][k],
                                      .nseries = METHODS};
        }
        (void)snprintf(heads[k], sizeof heads[k], "every %g s, %s a frame", intervals[k],
                       budgets[0].name);
        for (int m = 0; m < METHODS; m++)
            joints[k][m] = (plot_series){
                methods[m].name, m, r->of[0][k][m].n, NULL, r->of[0][k][m].joint, 0, 0};
        joints[k][METHODS] =
            (plot_series){"the motion itself", 6, r->of[0][k][0].n, NULL, r->truth[k], 0, 0};
        smooth[k] = (plot_chart){.kind = PLOT_BOXES,
                                 .title = heads[k],
                                 .y = {"joint acceleration, rad/s²", true, 0, 0, false},
                                 .series = joints[k],
                                 .nseries = METHODS + 1};
    }
    plot_figure boxes = {"002 Figs. 8 to 10", charts, BUDGETS * SAMPLINGS, SAMPLINGS, 400, 300};
    plot_figure accelerations = {"smoothness", smooth, SAMPLINGS, SAMPLINGS, 400, 300};
    papers_figure(
        p, "002-fig8", &boxes,
        "Boxes: quartiles and median; whiskers to 1.5 of their distance; crosses: outliers. "
        "Columns: 002 Figs. 8, 9, 10 (samplings of Fig. 7 a, b, c). One unit is 20 cm; "
        "002's tolerance of 0.05 units per effector is where a solve ends.");
    papers_figure(
        p, "002-smoothness", &accelerations,
        "How smooth the motion is that comes out: second differences of the joint angles, "
        "root mean square over the joints, beside those of the recorded motion.");
}

static void judge(papers *p, const results *r) {
    // of every budget: how many of its three samplings
    int lower[BUDGETS] = {0}, tighter[BUDGETS] = {0}, svd[BUDGETS] = {0}, smooth[BUDGETS] = {0},
        first = 0;
    for (int b = 0; b < BUDGETS; b++)
        for (int k = 0; k < SAMPLINGS; k++) {
            const cell *c = r->of[b][k];
            double m[METHODS];
            for (int i = 0; i < METHODS; i++) m[i] = median_of(c[i].error, c[i].n);
            lower[b] += m[1] <= m[0];
            tighter[b] += quartiles_of(c[1].error, c[1].n) <= quartiles_of(c[0].error, c[0].n);
            svd[b] += m[1] <= m[2];
            smooth[b] += median_of(c[1].joint, c[1].n) <= median_of(c[2].joint, c[2].n);
            first += m[3] <= m[0] * 1.001 && m[3] <= m[1] * 1.001 && m[3] <= m[2] * 1.001;
        }
    const cell *near = r->of[SLOT][0], *far = r->of[SLOT][2];
    // Fig. 8 has the samples of every 0.05 s
    double searched = median_of(near[1].error, near[1].n),
           fixed = median_of(near[0].error, near[0].n);
    bool tight = quartiles_of(near[1].error, near[1].n) <= quartiles_of(near[0].error, near[0].n);
    papers_claim(
        p, "002-fig8-median", "002 Fig. 8",
        "the projected line-search has a much lower median as well as a more compact distribution "
        "(than the Jacobian transpose)",
        tight && 2 * searched <= fixed ? PAPERS_HOLDS
        : tight || searched <= fixed   ? PAPERS_PARTLY
                                       : PAPERS_NOT,
        "every 0.05 s, in equal time: median %.3g against %.3g units², quartiles %.3g against %.3g "
        "apart. Over the samplings of Figs. 8 to 10 a lower median in %d of 3, a tighter one in "
        "%d; "
        "with 60 calls for each in %d and %d, with 600 in %d and %d.",
        searched, fixed, quartiles_of(near[1].error, near[1].n),
        quartiles_of(near[0].error, near[0].n), lower[SLOT], tighter[SLOT], lower[FEW],
        tighter[FEW], lower[2], tighter[2]);
    if (near[2].n > 0) {
        papers_claim(
            p, "002-fig8-svd", "002 5.1",
            "in closeness to the reference the gradient projection gives superior results to "
            "the SVD based Jacobian inverse method",
            papers_share(svd[SLOT], SAMPLINGS),
            "a lower median in %d of the 3 samplings in equal time; with 60 calls for each in "
            "%d, with 600 in %d.",
            svd[SLOT], svd[FEW], svd[2]);
        papers_claim(
            p, "002-smooth", "002 5.1 and Fig. 11",
            "and in smoothness: the animation by SVD and clamping clearly jitters",
            papers_share(smooth[SLOT], SAMPLINGS),
            "a lower median joint acceleration in %d of the 3 samplings in equal time (60 calls "
            "%d, 600 calls %d); every 0.05 s %.1f against %.1f rad/s² (the motion itself %.1f). "
            "Who lags behind is smooth as well: the median errors there are %.2g and %.2g "
            "units².",
            smooth[SLOT], smooth[FEW], smooth[2], median_of(near[1].joint, near[1].n),
            median_of(near[2].joint, near[2].n), median_of(r->truth[0], near[0].n),
            median_of(near[1].error, near[1].n), median_of(near[2].error, near[2].n));
    }
    double far_m = median_of(far[0].error, far[0].n), near_m = median_of(near[0].error, near[0].n);
    papers_claim(
        p, "002-fig10", "002 Fig. 10",
        "the Jacobian transpose method is beginning to have problems due to the lack of coherence",
        far_m > 10 * near_m ? PAPERS_HOLDS
        : far_m > near_m    ? PAPERS_PARTLY
                            : PAPERS_NOT,
        "in equal time its median error grows from %.3g units² every 0.05 s to %.3g every 1.0 s.",
        near_m, far_m);
    papers_text(
        p,
        "Beside 002: our <code>newton</code>, which keeps limits inside the solver, has the lowest "
        "median (or ends at the tolerance like the best) in %d of %d cells. Six goals leave most "
        "joints free, and it uses that freedom: every 0.05 s its joints accelerate by %.1f rad/s², "
        "those of the motion itself by %.1f. Tracking proper adds a rest task for that.",
        first, BUDGETS * SAMPLINGS, median_of(near[3].joint, near[3].n),
        median_of(r->truth[0], near[0].n));
}

void papers_interactive(papers *p) {
    scene s;
    results *r = bench_need(calloc(1, sizeof *r));
    plot_text csv = {0};
    scene_make(&p->clips[0], &s);
    // a quick run begins where there is motion
    int first = p->quick ? s.c->nframe / 8 : 0;
    figure6(p, &s);
    papers_section(p, "002-fig8", "002 Figs. 7 to 10: the same time for every method");
    papers_text(
        p,
        "Goals: where hands, feet, pelvis and head of %s are; %d degrees of freedom (002: 71), "
        "limits on all joints by the range of the motion, 5 %% wider (the root's rotation has "
        "none). Sampled every 0.05, 0.7 and 1.0 s (Fig. 7); each frame from the method's last "
        "pose. 002 gave each method the number of iterations that takes about 15 ms on its 1.66 "
        "GHz "
        "machine. Here “equal time” gives each the number of calls of f that took about 0.25 ms "
        "where "
        "it was measured (%d, %d, %d and %d), so that every run finds the same; beside it 60 and "
        "600 "
        "calls for each, and the time they took now. An iteration that has begun is finished.",
        s.c->name, sn_model_nv(s.model), budgets[SLOT].calls[0], budgets[SLOT].calls[1],
        budgets[SLOT].calls[2], budgets[SLOT].calls[3]);
    const char *const heads[] = {
        "budget",           " every, s", "method", " frames",        " median, units²",
        " quartiles apart", " calls",    " µs",    " off by > 0.05", " acceleration, rad/s²"};
    page_table_begin(&p->body, "summed squared error of the six effectors", heads, 10);
    plot_raw(&csv, "budget,interval_s,method,frame,error_units2,acceleration_rad_s2\n");
    for (int b = 0; b < BUDGETS; b++)
        for (int k = 0; k < SAMPLINGS; k++)
            for (int m = 0; m < METHODS; m++) {
                cell *c = &r->of[b][k][m];
                char what[96];
                int most = p->quick ? (b == 2 ? 10 : 40) : MOST;
                if (!sn_method_available(methods[m].method)) continue;
                (void)snprintf(what, sizeof what, "002: %s, every %g s, %s", methods[m].name,
                               intervals[k], budgets[b].name);
                papers_progress(p, what);
                run(&s, b, k, m, first, most, c);
                papers_row(p, "%s|%g|%s|%d|%.3g|%.3g|%.1f|%.0f|%d|%.1f", budgets[b].name,
                           intervals[k], methods[m].name, c->n, median_of(c->error, c->n),
                           quartiles_of(c->error, c->n), c->calls, c->micros, c->above,
                           median_of(c->joint, c->n));
                for (int i = 0; i < c->n; i++)
                    plot_add(&csv, "%s,%g,%s,%d,%.6g,%.6g\n", budgets[b].name, intervals[k],
                             papers_cell(methods[m].name), i, c->error[i], c->joint[i]);
            }
    page_table_end(&p->body);
    for (int k = 0; k < SAMPLINGS; k++) truth_of(&s, k, first, r->of[0][k][0].n, r->truth[k]);
    papers_file(p, "002-fig8.csv", &csv);
    draw(p, r);
    judge(p, r);
    scene_free(&s);
    free(r);
}
