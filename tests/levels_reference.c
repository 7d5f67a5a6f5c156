// SPDX-License-Identifier: MIT
#include "levels_reference.h"

static sn_problem *only(const sn_problem *p, int from, int to) {
    sn_problem *copy;
    assert_int_equal(sn_problem_copy(p, NULL, 0, NULL, &copy, NULL), SN_OK);
    for (int i = 0; i < sn_problem_ntask(p); i++) {
        int level = sn_problem_task(p, i)->level;
        // without weight, not gone: a coupled task may weigh it
        if (level < from || level > to) {
            (void)sn_problem_set_weight(copy, i, 0);
            (void)sn_problem_set_rotation_weight(copy, i, 0);
        }
        (void)sn_problem_set_level(copy, i, 0);
    }
    return copy;
}

void reference_levels_begin(reference_levels *r, const sn_problem *problem, int level) {
    size_t n = (size_t)sn_model_nv(sn_problem_model(problem));
    *r = (reference_levels){.model = sn_problem_model(problem),
                            .problem = problem,
                            .n = (int)n,
                            .nq = sn_model_nq(sn_problem_model(problem)),
                            .part = {only(problem, 0, level - 1), only(problem, level, level)}};
    for (int i = 0; i < 2; i++)
        assert_int_equal(sn_workspace_create(r->part[i], true, NULL, &r->ws[i], NULL), SN_OK);
    r->g = calloc(n + 1, sizeof *r->g);
    r->H = calloc(n * n + 1, sizeof *r->H);
    r->values = calloc(n + 1, sizeof *r->values);
    r->vectors = calloc(n * n + 1, sizeof *r->vectors);
    r->step = calloc(n + 1, sizeof *r->step);
    r->q = calloc((size_t)r->nq + 1, sizeof *r->q);
    r->free = calloc(n + 1, sizeof *r->free);
}

void reference_levels_end(reference_levels *r) {
    for (int i = 0; i < 2; i++) {
        sn_workspace_destroy(r->ws[i]);
        sn_problem_destroy(r->part[i]);
    }
    free(r->g), free(r->H), free(r->values), free(r->vectors), free(r->step), free(r->q),
        free(r->free);
}

double reference_levels_f(reference_levels *r, int which, const double *q) {
    double f;
    assert_int_equal(sn_workspace_eval(r->ws[which], q, SN_EVAL_HESSIAN, &f), SN_OK);
    sn_workspace_gradient(r->ws[which], r->g);
    sn_workspace_hessian(r->ws[which], r->H);
    return f;
}

// The coordinate that velocity v changes, -1 inside a quaternion.
static int coordinate(const sn_model *m, int v) {
    for (int j = 0; j < sn_model_njoint(m); j++) {
        int first = sn_model_v_index(m, j), k = v - first;
        if (k < 0 || k >= sn_model_joint_nv(m, j)) continue;
        sn_joint_type type = sn_model_joint(m, j)->type;
        if (type == SN_JOINT_BALL || (type == SN_JOINT_FREE && k >= 3)) return -1;
        return sn_model_q_index(m, j) + k;
    }
    return -1;
}

// Eigenvalues by Jacobi's rotations of what is free; the others are 0 with unit vectors.
static void find_eigen(reference_levels *r) {
    const int n = r->n;
    double *A = r->H, *V = r->vectors;
    for (int i = 0; i < n * n; i++) {
        V[i] = i % (n + 1) == 0;
        if (!r->free[i % n] || !r->free[i / n]) A[i] = 0;
    }
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0, on = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) *(i == j ? &on : &off) += A[i + n * j] * A[i + n * j];
        if (off <= 1e-40 * on) break;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                double apq = A[p + n * q];
                if (apq == 0) continue;
                double ratio = (A[q + n * q] - A[p + n * p]) / (2 * apq);
                double t = (ratio < 0 ? -1 : 1) / (fabs(ratio) + sqrt(1 + ratio * ratio));
                double c = 1 / sqrt(1 + t * t), s = t * c;
                for (int k = 0; k < n; k++) {
                    double x = A[k + n * p], y = A[k + n * q];
                    A[k + n * p] = c * x - s * y, A[k + n * q] = s * x + c * y;
                }
                for (int k = 0; k < n; k++) {
                    double x = A[p + n * k], y = A[q + n * k];
                    A[p + n * k] = c * x - s * y, A[q + n * k] = s * x + c * y;
                    x = V[k + n * p], y = V[k + n * q];
                    V[k + n * p] = c * x - s * y, V[k + n * q] = s * x + c * y;
                }
            }
    }
    for (int i = 0; i < n; i++) r->values[i] = A[i + n * i];
}

static void find_free(reference_levels *r, const double *q, bool mind_gradient) {
    const double *lower = sn_problem_lower(r->problem), *upper = sn_problem_upper(r->problem);
    for (int v = 0; v < r->n; v++) {
        int at = coordinate(r->model, v);
        bool low = at >= 0 && q[at] <= lower[v], high = at >= 0 && q[at] >= upper[v];
        r->free[v] = sn_problem_gain(r->problem)[v] != 0;
        if (low && !(mind_gradient && r->g[v] < 0)) r->free[v] = false;
        if (high && !(mind_gradient && r->g[v] > 0)) r->free[v] = false;
    }
}

double reference_levels_slope(reference_levels *r, const double *q, bool *doubtful) {
    const int n = r->n;
    double top = 0, slope = 0, size = 0;
    (void)reference_levels_f(r, 0, q);
    find_free(r, q, false);
    find_eigen(r);
    *doubtful = false;
    for (int i = 0; i < n; i++) top = fmax(top, fabs(r->values[i]));
    double f = reference_levels_f(r, 1, q);
    for (int i = 0; i < n; i++) size = fmax(size, 2 * f * fabs(r->H[i + n * i]));
    for (int i = 0; i < n; i++) {
        double share = fabs(r->values[i]) / fmax(top, 1e-300), sum = 0;
        if (share > 1e-14 && share < 1e-8) *doubtful = true;
        if (share > 1e-11) continue;
        for (int k = 0; k < n; k++)
            if (r->free[k]) sum += r->vectors[k + n * i] * r->g[k];
        slope += sum * sum;
    }
    return size > 0 ? sqrt(slope / size) : 0;
}

double reference_levels_restore(reference_levels *r, double *q) {
    const int n = r->n;
    const double *gain = sn_problem_gain(r->problem);
    for (int round = 0; round < 30; round++) {
        double top = 0, size = 0;
        (void)reference_levels_f(r, 0, q);
        find_free(r, q, true);
        find_eigen(r);
        for (int i = 0; i < n; i++) {
            top = fmax(top, r->values[i]);
            r->step[i] = 0;
        }
        for (int i = 0; i < n; i++) {
            double sum = 0;
            if (r->values[i] <= 1e-9 * top) continue;
            for (int k = 0; k < n; k++)
                if (r->free[k]) sum += r->vectors[k + n * i] * r->g[k];
            for (int k = 0; k < n; k++)
                if (r->free[k]) r->step[k] -= sum / r->values[i] * r->vectors[k + n * i];
        }
        for (int i = 0; i < n; i++) {
            r->step[i] *= gain[i];
            size = fmax(size, fabs(r->step[i]));
        }
        if (size > 0.1)
            for (int i = 0; i < n; i++) r->step[i] *= 0.1 / size;
        sn_model_integrate(r->model, q, r->step, r->q);
        for (int i = 0; i < n; i++) {
            int at = coordinate(r->model, i);
            if (at >= 0 && r->free[i])
                r->q[at] = fmin(fmax(r->q[at], sn_problem_lower(r->problem)[i]),
                                sn_problem_upper(r->problem)[i]);
        }
        memcpy(q, r->q, (size_t)r->nq * sizeof *q);
        if (size < 1e-14) break;
    }
    return reference_levels_f(r, 0, q);
}
