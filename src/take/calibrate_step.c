// SPDX-License-Identifier: MIT
// The poses for a shape, and steps of the shape; see calibrate.c.
#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "take/calibrate.h"

sn_status sn_calibration_problem(const sn_calibration *c, const sn_model *model, sn_problem **out,
                                 sn_error *error) {
    sn_problem *markers = NULL;
    *out = NULL;
    SN_TRY(sn_problem_create_markers(model, c->allocator, &markers, error));
    sn_task rest = sn_task_default(SN_TASK_REST);
    rest.q = c->zero;
    rest.q_weight = c->neutral_of;
    rest.weight = c->neutral;
    sn_status status = sn_problem_copy(markers, &rest, 1, c->allocator, out, error);
    sn_problem_destroy(markers);
    return status;
}

static sn_status set_frame(const sn_calibration *c, sn_problem *problem, int k) {
    for (int i = 0; i < c->shape.nmarker; i++) {
        double goal[3];
        if (sn_fit_goal(c->input, i, c->frame[k], goal)) {
            SN_TRY(sn_problem_set_goal(problem, i, goal));
            SN_TRY(sn_problem_set_weight(problem, i, sn_calibration_weight(c, k, i)));
        } else {
            SN_TRY(sn_problem_set_missing(problem, i, true));
        }
    }
    return SN_OK;
}

// Twice the pull to the first guess.
static double guess_energy(const sn_calibration *c, const double *x) {
    double sum = 0;
    for (int i = 0; i < c->shape.size; i++)
        sum += c->pull[i] * (x[i] - c->guess[i]) * (x[i] - c->guess[i]);
    return sum;
}

// Solve all poses for shape x from those in `poses`; the total energy and the normal equations.
static sn_status at_shape(sn_calibration *c, const double *x, double *poses, double *energy,
                          sn_error *error) {
    sn_model *model = NULL;
    sn_problem *problem = NULL;
    sn_solver *solver = NULL;
    sn_solver_options o = sn_solver_options_default();
    o.max_iterations = 30;
    o.gradient = 1e-7;
    *energy = 0.5 * guess_energy(c, x);
    SN_TRY(sn_shape_model(&c->shape, x, c->allocator, &model, error));
    sn_status status = sn_calibration_problem(c, model, &problem, error);
    if (status == SN_OK) status = sn_solver_create(problem, &o, c->allocator, &solver, error);
    if (status == SN_OK) sn_normal_begin(c, x);
    for (int k = 0; status == SN_OK && k < c->nframe; k++) {
        sn_report report;
        double *q = poses + (size_t)k * c->nq;
        status = set_frame(c, problem, k);
        if (status == SN_OK) status = sn_solver_solve(solver, q, &report);
        if (status != SN_OK) break;
        *energy += report.f;
        sn_normal_add(c, sn_solver_workspace(solver), model, k);
    }
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    return status;
}

// x_new = x - (S + lambda diag S)^-1 g. False when it cannot be solved.
static bool step_from(sn_calibration *c, const double *x, double lambda, double *x_new) {
    size_t n = (size_t)c->shape.size;
    memcpy(c->factored, c->S, n * n * sizeof *c->S);
    for (size_t i = 0; i < n; i++) {
        c->factored[i * n + i] += lambda * c->S[i * n + i] + 1e-12;
        x_new[i] = c->g[i];
    }
    if (!sn_cholesky(c->factored, (int)n)) return false;
    sn_cholesky_forward(c->factored, (int)n, x_new);
    sn_cholesky_backward(c->factored, (int)n, x_new);
    for (size_t i = 0; i < n; i++) x_new[i] = x[i] - x_new[i];
    // a bone neither vanishes nor turns round
    for (size_t i = 3 * (size_t)c->shape.nmarker; i < n; i++)
        x_new[i] = fmin(fmax(x_new[i], 0.25), 4);
    return true;
}

sn_status sn_calibration_improve(sn_calibration *c, int iterations, double tolerance,
                                 sn_error *error) {
    size_t n = (size_t)c->shape.size, poses = (size_t)c->nframe * c->nq;
    double energy, lambda = 0;
    SN_TRY(at_shape(c, c->x, c->poses, &energy, error));
    for (int i = 0, failed = 0; i < iterations && failed < 6; i++) {
        if (sn_cancelled(c->cancel)) return SN_OK;
        double next = INFINITY;
        memcpy(c->poses_try, c->poses, poses * sizeof *c->poses);
        memcpy(c->S_kept, c->S, n * n * sizeof *c->S);
        memcpy(c->g_kept, c->g, n * sizeof *c->g);
        if (step_from(c, c->x, lambda, c->x_try))
            SN_TRY(at_shape(c, c->x_try, c->poses_try, &next, error));
        c->iterations++;
        if (!(next < energy)) {
            memcpy(c->S, c->S_kept, n * n * sizeof *c->S);
            memcpy(c->g, c->g_kept, n * sizeof *c->g);
            lambda = lambda > 0 ? 10 * lambda : 1e-4;
            failed++;
            continue;
        }
        failed = 0;
        lambda = lambda > 1e-5 ? lambda / 10 : 0;
        memcpy(c->x, c->x_try, n * sizeof *c->x);
        memcpy(c->poses, c->poses_try, poses * sizeof *c->poses);
        bool done = energy - next < tolerance * energy;
        energy = next;
        if (done) break;
    }
    return SN_OK;
}
