// SPDX-License-Identifier: MIT
// What couples branches: coordinates that follow others and tasks between bodies. Derivatives
// against the hyper-dual reference, the bordered systems against plain dense ones, solves by
// invariant.
#include "ties.h"

// ---- models -------------------------------------------------------------------------------------

static sn_problem *tied_problem(uint64_t *state, const sn_model *model, int ntask, int nrelative) {
    sn_problem *some =
        random_problem(state, model, ntask, below(state, 2) == 0 ? SN_TASK_POINT : -1);
    sn_task extra[8];
    double *q[8];
    for (int i = 0; i < nrelative; i++) {
        int type = SN_TASK_RELATIVE;
        if (below(state, 3) > 0) do
                type = SN_TASK_RELATIVE + below(state, SN_TASK_AVOID - SN_TASK_RELATIVE);
            while (type == SN_TASK_COUPLED || (type == SN_TASK_OWN && !random_owns));
        extra[i] = random_task(state, model, (sn_task_type)type,
                               below(state, sn_model_njoint(model)), &q[i]);
    }
    sn_problem *all;
    assert_int_equal(sn_problem_copy(some, extra, nrelative, NULL, &all, NULL), SN_OK);
    for (int i = 0; i < nrelative; i++) free(q[i]);
    sn_problem_destroy(some);
    return all;
}

typedef struct fixture {
    sn_model *model;
    sn_problem *problem;
    sn_workspace *ws;
    int nv, nq;
    double *q, *g, *H, *g2, *H2, *x, *y, *d;
    bool *keep;
} fixture;

// A problem on a model, and a pose.
static fixture fixture_on(uint64_t *state, sn_model *model, int nrelative) {
    fixture t = {.model = model};
    t.problem = tied_problem(state, t.model, 1 + below(state, 4), nrelative);
    t.nv = sn_model_nv(t.model);
    t.nq = sn_model_nq(t.model);
    size_t n = (size_t)t.nv + 1;
    assert_int_equal(sn_workspace_create(t.problem, true, NULL, &t.ws, NULL), SN_OK);
    t.q = malloc((size_t)(t.nq + 1) * sizeof *t.q);
    double **each[] = {&t.g, &t.g2, &t.x, &t.y, &t.d};
    for (int i = 0; i < 5; i++) *each[i] = malloc(n * sizeof(double));
    t.H = malloc(n * n * sizeof *t.H);
    t.H2 = malloc(n * n * sizeof *t.H2);
    t.keep = malloc(n * sizeof *t.keep);
    sn_model_sample(t.model, state, t.q);
    return t;
}

static fixture fixture_new(uint64_t *state, bool limits, int loops) {
    int nrelative = below(state, 3), most = nrelative > 0 ? below(state, 5) : 1 + below(state, 4);
    sn_model *model = coupled_model(state, 2 + below(state, 8), most, limits, loops);
    return fixture_on(state, model, nrelative);
}

// All but the model.
static void fixture_leave(fixture *t) {
    sn_workspace_destroy(t->ws);
    sn_problem_destroy(t->problem);
    double *each[] = {t->q, t->g, t->g2, t->x, t->y, t->d, t->H, t->H2};
    for (int i = 0; i < 8; i++) free(each[i]);
    free(t->keep);
}

static void fixture_free(fixture *t) {
    fixture_leave(t);
    sn_model_destroy(t->model);
}

static double largest(const double *x, int n) {
    double top = 0;
    for (int i = 0; i < n; i++) top = fmax(top, fabs(x[i]));
    return top;
}

// ---- derivatives --------------------------------------------------------------------------------

// A function of one's own is given by the motions of its bodies one by one: what moves them all alike, and
// leads to that by a steep coupling, cancels only in the sum. 0 without one.
static double own_size(const fixture *t) {
    bool own = false;
    double gain = 1;
    for (int i = 0; i < sn_problem_ntask(t->problem); i++)
        own = own || sn_problem_task(t->problem, i)->type == SN_TASK_OWN;
    for (int c = 0; c < t->nv && own; c++) {
        for (int i = 0; i < t->nv; i++) t->x[i] = i == c;
        sn_ties_follow(t->ws, t->x);
        gain = fmax(gain, largest(t->x, t->nv));
    }
    return own ? gain * gain * rows_size(t->ws) : 0;
}

// How much of f, g and H the coordinates' last bits decide: the reference once more, from coordinates that are
// one rounding away. A row of polynomials may turn a joint by 1e20 rad: then a double knows nothing of where it
// is. The tests are of what can be known, ten times that much at the most.
typedef struct knowable {
    double f, g, H;
} knowable;

static knowable find_knowable(const fixture *t, uint64_t *state, double f, double g_floor,
                              double H_floor) {
    knowable most = {0, 0, 0};
    double *q = malloc((size_t)(t->nq + 1) * sizeof *q),
           *g = malloc((size_t)(t->nv + 1) * sizeof *g),
           *H = malloc((size_t)(t->nv * t->nv + 1) * sizeof *H);
    for (int tries = 0; tries < 3; tries++) {
        double other;
        for (int i = 0; i < t->nq; i++)
            q[i] = t->q[i] * (1 + (below(state, 2) == 0 ? 1 : -1) * 0x1p-52);
        reference_eval(t->problem, q, &other, g, H);
        most.f = fmax(most.f, 10 * fabs(other - f) / fmax(fabs(f), 1e-3));
        most.g = fmax(most.g, 10 * reference_relative(g, t->g2, t->nv, g_floor));
        most.H = fmax(most.H, 10 * reference_relative(H, t->H2, t->nv * t->nv, H_floor));
    }
    free(q);
    free(g);
    free(H);
    return most;
}

static void derivatives(void **unused) {
    (void)unused;
    kinks = true;
    int count = cases_up_to(300, 30000);
    double worst_f = 0, worst_g = 0, worst_H = 0, worst_x = 0, far = INFINITY;
    int unknown = 0;
    for (int n = first_case(); n < count; n++) {
        uint64_t state = 21 + 100 * (uint64_t)n;
        fixture t = fixture_new(&state, false, n % 3 == 0 ? 1 + below(&state, 2) : 0);
        double f, f2, mu[12];
        for (int i = 0; i < SN_TIE_ROWS * sn_model_nloop(t.model); i++)
            t.ws->ties->mu[i] = mu[i] = uniform(&state, -1, 1);
        bool loops = sn_model_nloop(t.model) > 0;
        reference_mu = loops ? mu : NULL;
        assert_int_equal(sn_workspace_eval(t.ws, t.q, SN_EVAL_HESSIAN, &f), SN_OK);
        sn_workspace_gradient(t.ws, t.g);
        sn_workspace_hessian(t.ws, t.H);
        reference_eval(t.problem, t.q, &f2, t.g2, t.H2);
        const double alike = own_size(&t);
        double size = fmax(fmax(largest(t.H2, t.nv * t.nv), 1), alike);
        const double g_floor = 1e-3 * size, H_floor = 1e-2 * fmax(1, alike);
        sn_model_follow(t.model, t.q);
        double off_f = loops ? 0 : reference_relative(&f, &f2, 1, 1e-3);
        double off_g = reference_relative(t.g, t.g2, t.nv, g_floor);
        double off_H = reference_relative(t.H, t.H2, t.nv * t.nv, H_floor);
        // the gradient alone, f alone, and H x without the fields
        assert_int_equal(sn_workspace_eval(t.ws, t.q, SN_EVAL_GRADIENT, &f), SN_OK);
        sn_workspace_gradient(t.ws, t.g);
        off_g = fmax(off_g, reference_relative(t.g, t.g2, t.nv, g_floor));
        assert_int_equal(sn_workspace_eval(t.ws, t.q, 0, &f), SN_OK);
        double off_x = 0;
        if (!loops) {
            off_f = fmax(off_f, reference_relative(&f, &f2, 1, 1e-3));
            for (int i = 0; i < t.nv; i++) t.x[i] = uniform(&state, -1, 1);
            sn_workspace_multiply(t.ws, false, t.x, t.y);
            for (int i = 0; i < t.nv; i++) {
                t.d[i] = 0;
                for (int k = 0; k < t.nv; k++) t.d[i] += t.H2[i + t.nv * k] * t.x[k];
            }
            off_x = reference_relative(t.y, t.d, t.nv, g_floor);
        }
        if (off_f > 1e-12 || off_g > 1e-12 || off_H > 1e-12 || off_x > 1e-11) {
            knowable most = find_knowable(&t, &state, f2, g_floor, H_floor);
            unknown++;
            far = fmin(far, largest(t.q, t.nq));
            if (off_f > fmax(most.f, 1e-12) || off_g > fmax(most.g, 1e-12) ||
                off_H > fmax(most.H, 1e-12) || off_x > 10 * fmax(most.H, 1e-12))
                fail_msg(
                    "case %d: f off by %.1e (%.1e can be known), gradient %.1e (%.1e), Hessian "
                    "%.1e (%.1e), product %.1e",
                    n, off_f, most.f, off_g, most.g, off_H, most.H, off_x);
        } else {
            worst_f = fmax(worst_f, off_f);
            worst_g = fmax(worst_g, off_g);
            worst_H = fmax(worst_H, off_H);
            worst_x = fmax(worst_x, off_x);
        }
        reference_mu = NULL;
        fixture_free(&t);
    }
    print_message(
        "%d trees: worst relative error f %.1e, gradient %.1e, Hessian %.1e, product %.1e\n", count,
        worst_f, worst_g, worst_H, worst_x);
    if (unknown > 0)
        print_message("  %d more are off by what their coordinates' last bits decide, all with one "
                      "beyond %.0f\n",
                      unknown, far);
    kinks = false;
    // only where functions have multiplied them
    assert_true(unknown <= count / 500 && far > 10);
}

// dJ/dt of coupled models against differences of J along the motion q (+) t qd: a follower's column is
// in its leaders', and their share of it changes.
static void rates(void **unused) {
    (void)unused;
    int count = cases_up_to(300, 30000);
    double worst = 0;
    static const sn_jacobian_frame frames[] = {SN_JACOBIAN_BODY, SN_JACOBIAN_POINT,
                                               SN_JACOBIAN_WORLD};
    for (int n = first_case(); n < count; n++) {
        uint64_t state = 27 + 100 * (uint64_t)n;
        fixture t = fixture_new(&state, false, 0);
        const double h = 1e-5, local[3] = {0.1, -0.2, 0.3};
        size_t size = 6 * (size_t)t.nv + 1;
        double *rate = malloc(size * sizeof *rate), *side[2], *q = malloc(((size_t)t.nq + 1) * 8);
        int joint = below(&state, sn_model_njoint(t.model));
        for (int i = 0; i < t.nv; i++) t.x[i] = uniform(&state, -1, 1);
        assert_int_equal(sn_workspace_pose(t.ws, t.q), SN_OK);
        sn_jacobian_dot(t.ws, joint, frames[n % 3], local, SN_ROWS_BOTH, t.x, rate);
        for (int s = 0; s < 2; s++) {
            for (int v = 0; v < t.nv; v++) t.y[v] = (s == 0 ? -h : h) * t.x[v];
            sn_model_integrate(t.model, t.q, t.y, q);
            side[s] = malloc(size * sizeof *side[s]);
            assert_int_equal(sn_workspace_pose(t.ws, q), SN_OK);
            sn_jacobian_adjusted(t.ws, joint, frames[n % 3], local, SN_ROWS_BOTH, side[s]);
        }
        // a follower may race: differences know its rate to h^2 of its slopes' cube
        double fast = fmax(largest(rate, 6 * t.nv), 1);
        for (int i = 0; i < 6 * t.nv; i++) side[0][i] = (side[1][i] - side[0][i]) / (2 * h);
        worst = fmax(worst, reference_relative(rate, side[0], 6 * t.nv, 1) / fast);
        free(rate);
        free(side[0]);
        free(side[1]);
        free(q);
        fixture_free(&t);
    }
    print_message("%d trees: worst difference of the Jacobian's rate %.1e\n", count, worst);
    assert_true(worst < 1e-6);
}

// ---- the bordered systems -----------------------------------------------------------------------

// What a follower's share of a diagonal counts for its leaders: P^T diag P added to H.
static void add_diagonal(const fixture *t, const double *d) {
    const sn_model *m = t->model;
    double *v = malloc((size_t)t->nv * sizeof *v), *w = malloc((size_t)t->nv * sizeof *w);
    for (int c = 0; c < t->nv; c++) {
        for (int i = 0; i < t->nv; i++) v[i] = i == c;
        sn_ties_follow(t->ws, v);
        for (int i = 0; i < t->nv; i++) w[i] = v[i] * d[i];
        sn_ties_lead(t->ws, w);
        for (int i = 0; i < t->nv; i++) t->H[m->v_of[i] + t->nv * m->v_of[c]] += w[i];
    }
    free(v);
    free(w);
}

// Jacobi's rotations; W is destroyed.
static void eigenvalues(int n, double *W, double *values, double *V) {
    double size = 0;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            V[i + n * j] = i == j;
            size = fmax(size, fabs(W[i + n * j]));
        }
    }
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0;
        for (int q = 1; q < n; q++) {
            for (int p = 0; p < q; p++) {
                const double w = W[p + n * q];
                off = fmax(off, fabs(w));
                if (w == 0) continue;
                const double t0 = (W[q + n * q] - W[p + n * p]) / (2 * w);
                const double t = (t0 < 0 ? -1 : 1) / (fabs(t0) + sqrt(1 + t0 * t0));
                const double c = 1 / sqrt(1 + t * t), s = t * c;
                for (int i = 0; i < n; i++) {
                    const double x = W[i + n * p], y = W[i + n * q];
                    W[i + n * p] = c * x - s * y;
                    W[i + n * q] = s * x + c * y;
                }
                for (int i = 0; i < n; i++) {
                    const double x = W[p + n * i], y = W[q + n * i];
                    W[p + n * i] = c * x - s * y;
                    W[q + n * i] = s * x + c * y;
                    const double u = V[i + n * p], v = V[i + n * q];
                    V[i + n * p] = c * u - s * v;
                    V[i + n * q] = s * u + c * v;
                }
            }
        }
        if (off <= 1e-16 * size) break;
    }
    for (int i = 0; i < n; i++) values[i] = W[i + n * i];
}

// Dense: negative eigenvalues of the kept part, and its smallest one in size.
static int dense_negatives(const fixture *t, const bool *kept, double *smallest, double *top) {
    int n = 0, negative = 0, at[128];
    for (int i = 0; i < t->nv; i++)
        if (kept[i]) at[n++] = i;
    double *W = malloc((size_t)(n * n + 1) * sizeof *W),
           *V = malloc((size_t)(n * n + 1) * sizeof *V);
    double *values = malloc((size_t)(n + 1) * sizeof *values);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) W[i + n * k] = t->H[at[i] + t->nv * at[k]];
    eigenvalues(n, W, values, V);
    *smallest = INFINITY;
    *top = 0;
    for (int i = 0; i < n; i++) {
        negative += values[i] < 0;
        *smallest = fmin(*smallest, fabs(values[i]));
        *top = fmax(*top, fabs(values[i]));
    }
    free(W);
    free(V);
    free(values);
    return negative;
}

// Gaussian elimination with pivoting on the kept part, long double.
static void dense_solve(const fixture *t, const bool *kept, const double *b, double *x) {
    int n = 0, at[128];
    for (int i = 0; i < t->nv; i++)
        if (kept[i]) at[n++] = i;
    long double A[64][65];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) A[i][k] = t->H[at[i] + t->nv * at[k]];
        A[i][n] = b[at[i]];
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabsl(A[i][k]) > fabsl(A[best][k])) best = i;
        for (int c = 0; c <= n; c++) {
            long double s = A[k][c];
            A[k][c] = A[best][c];
            A[best][c] = s;
        }
        for (int i = k + 1; i < n; i++) {
            long double l = A[i][k] / A[k][k];
            for (int c = k; c <= n; c++) A[i][c] -= l * A[k][c];
        }
    }
    for (int i = 0; i < t->nv; i++) x[i] = 0;
    for (int k = n - 1; k >= 0; k--) {
        long double sum = A[k][n];
        for (int c = k + 1; c < n; c++) sum -= A[k][c] * x[at[c]];
        x[at[k]] = (double)(sum / A[k][k]);
    }
}

static void bordered(void **unused) {
    (void)unused;
    int count = cases_up_to(600, 60000), definite = 0, indefinite = 0, tree_negative = 0, rough = 0;
    double worst = 0;
    for (int n = first_case(); n < count; n++) {
        uint64_t state = 22 + 100 * (uint64_t)n;
        fixture t = fixture_new(&state, false, 0);
        const int *v_of = sn_model_sweep_order(t.model);
        const double *gain = sn_model_gain(t.model);
        double f, smallest, top;
        bool kept[128];
        if (t.nv == 0 || t.nv > 64 || !sn_has_rows(t.ws)) {
            fixture_free(&t);
            continue;
        }
        assert_int_equal(sn_workspace_eval(t.ws, t.q, SN_EVAL_HESSIAN, &f), SN_OK);
        sn_workspace_hessian(t.ws, t.H);
        double damping = n % 3 == 0 ? 0.05 : uniform(&state, 0, 3);
        for (int i = 0; i < t.nv; i++) {
            t.d[i] = damping * uniform(&state, 0.5, 1);
            t.keep[i] = gain[v_of[i]] != 0 && below(&state, 6) > 0;
            kept[v_of[i]] = t.keep[i];
        }
        // and the hair that the library lays under what only equalities see (ties_fill.c)
        for (int i = 0; i < t.nv; i++) t.y[i] = t.d[i] + t.ws->ties->extra[i];
        add_diagonal(&t, t.y);
        int negatives = dense_negatives(&t, kept, &smallest, &top);
        int tree = sn_workspace_count_negatives(t.ws, t.d, NULL);
        tree_negative += tree > 0 && negatives == 0;
        int failed = sn_workspace_factor(t.ws, t.d, t.keep, 0, NULL);
        if (smallest > 1e-5 * top && top > 0) {
            // the inertia, counted without forming H
            assert_true((failed < 0) == (negatives == 0));
            definite += failed < 0;
            indefinite += failed >= 0;
            if (failed < 0) {
                double b[128], x[128];
                for (int i = 0; i < t.nv; i++)
                    t.x[i] = b[v_of[i]] = t.keep[i] ? uniform(&state, -1, 1) : 0;
                sn_workspace_solve(t.ws, t.x);
                dense_solve(&t, kept, b, x);
                for (int i = 0; i < t.nv; i++) t.y[v_of[i]] = t.keep[i] ? t.x[i] : 0;
                double off = reference_relative(t.y, x, t.nv, 0);
                worst = fmax(worst, off);
                rough += off > 1e-9;
            } else {
                // a direction that is found bends down
                double bend = 0;
                sn_workspace_curvature(t.ws, failed, t.x);
                for (int i = 0; i < t.nv; i++)
                    for (int k = 0; k < t.nv; k++)
                        bend += (t.keep[i] ? t.x[i] : 0) * t.H[v_of[i] + t.nv * v_of[k]] *
                                (t.keep[k] ? t.x[k] : 0);
                assert_true(largest(t.x, t.nv) == 0 || bend < 0);
            }
        }
        fixture_free(&t);
    }
    print_message("%d definite (%d over an indefinite tree), %d not; worst relative difference "
                  "%.1e, %d above 1e-9\n",
                  definite, tree_negative, indefinite, worst, rough);
    // systems of condition up to 1e5; the tree by itself may be far worse, which costs digits: seldom
    count -= first_case();
    assert_true(rough <= count / 5000 && worst < 1e-5);
    assert_true(definite > count / 5 && indefinite > count / 20);
}

// ---- solves -------------------------------------------------------------------------------------

// Couplings exact to the last bit, all limits kept, f not above that of the start, the gradient by
// the leaders small where a minimum is reported.
static void solve_once(fixture *t, int index, sn_method method, int *minima, double *worst) {
    sn_solver_options options = sn_solver_options_default();
    options.method = method;
    sn_solver *solver;
    sn_report report;
    sn_error error = {0};
    sn_status status = sn_solver_create(t->problem, &options, NULL, &solver, &error);
    if (method == SN_METHOD_CCD) {
        assert_int_equal(status, SN_ERR_UNSUPPORTED);
        assert_non_null(strstr(error.text, "ccd turns one joint at a time"));
        assert_null(solver);
        return;
    }
    assert_int_equal(status, SN_OK);
    double *q = malloc((size_t)(t->nq + 1) * sizeof *q),
           *exact = malloc((size_t)(t->nq + 1) * sizeof *q);
    memcpy(q, t->q, (size_t)t->nq * sizeof *q);
    memcpy(exact, t->q, (size_t)t->nq * sizeof *q);
    (void)sn_model_clamp(t->model, exact);
    double start, f;
    assert_int_equal(sn_workspace_eval(t->ws, exact, SN_EVAL_GAUSS_NEWTON, &start), SN_OK);
    sn_workspace_fields_diagonal(t->ws, t->d);
    // a column may vanish at the minimum: what is hardly seen counts as a millionth of what was
    double top = largest(t->d, t->nv);
    // several leaders' limits and their follower's may contradict each other: then it is said
    bool inside = sn_model_followers_inside(t->model, exact);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    memcpy(exact, q, (size_t)t->nq * sizeof *q);
    sn_model_follow(t->model, exact);
    assert_memory_equal(exact, q, (size_t)t->nq * sizeof *q);
    const sn_model *m = t->model;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        int plain = j->ops->quaternion >= 0 ? j->ops->quaternion : j->nq;
        for (int i = 0; i < plain; i++) {
            const sn_joint_desc *d = &m->desc[j->id];  // as it was given
            double x = q[j->q0 + i], out = fmax(d->lower[i] - x, x - d->upper[i]);
            if (!(out <= (inside ? 0 : report.violation)))
                fail_msg("case %d, %s: %s is %.3g outside its limits", index,
                         sn_method_name(method), d->name, out);
        }
    }
    assert_int_equal(sn_workspace_eval(t->ws, q, SN_EVAL_GAUSS_NEWTON, &f), SN_OK);
    assert_near(f, report.f, 1e-12);
    assert_true(f <= start * (1 + 1e-12));
    bool minimum = report.stop == SN_STOP_MINIMUM || report.stop == SN_STOP_SADDLE;
    if (minimum && !m->tied_limits && f > 1e-20) {
        const double *g = sn_workspace_sweep_gradient(t->ws);
        sn_workspace_fields_diagonal(t->ws, t->d);
        ++*minima;
        for (int i = 0; i < t->nv; i++) {
            int v = m->v_of[i], at = -1;
            for (int k = 0; k < m->njoint; k++)
                if (i >= m->joint[k].slot && i < m->joint[k].slot + m->joint[k].nv &&
                    (m->joint[k].ops->quaternion < 0 ||
                     i - m->joint[k].slot < m->joint[k].ops->quaternion))
                    at = m->joint[k].q0 + i - m->joint[k].slot;
            bool held = at >= 0 &&
                        ((q[at] <= m->lower[v] && g[i] > 0) || (q[at] >= m->upper[v] && g[i] < 0));
            if (m->gain[v] == 0 || held) continue;
            *worst = fmax(
                *worst,
                fabs(g[i]) /
                    sqrt(2 * f * (t->d[i] + 1e-6 * fmax(largest(t->d, t->nv), fmax(top, 1e-3)))));
        }
    }
    free(q);
    free(exact);
    sn_solver_destroy(solver);
}

static void solves(void **unused) {
    (void)unused;
    int count = cases(600), minima = 0, rough = 0;
    double worst = 0;
    sn_model *model = NULL;
    for (int n = first_case(); n < count; n++) {
        // five problems on a model: finding the ranges of its leaders takes longer than a solve
        uint64_t state = 23 + 100 * (uint64_t)(n / 5);
        if (n % 5 == 0 || model == NULL) {
            sn_model_destroy(model);
            model = coupled_model(&state, 2 + below(&state, 8), 1 + below(&state, 4), true, 0);
        }
        state = 24 + 100 * (uint64_t)n;
        random_owns = n % 16 == 0;
        fixture t = fixture_on(&state, model, below(&state, 3));
        static const sn_method first[] = {SN_METHOD_HYBRID, SN_METHOD_NEWTON, SN_METHOD_LM};
        sn_method method = n % 2 == 0 ? first[n / 2 % 3] : (sn_method)(n / 2 % SN_METHOD_COUNT);
        int tried = 0;
        double off = 0;
        if (sn_ties_count(t.problem) > 0 && sn_method_available(method)) {
            bool walks =
                method == SN_METHOD_PINV || method == SN_METHOD_QR || method == SN_METHOD_SDLS;
            solve_once(&t, n, method, &tried, &off);
            if (!walks) {
                minima += tried;
                if (off > 1e-5)
                    print_message("case %d, %s: gradient %.1e\n", n, sn_method_name(method), off);
                rough += off > 1e-5;
                worst = fmax(worst, off);
            }
        }
        fixture_leave(&t);
    }
    random_owns = true;
    sn_model_destroy(model);
    print_message("%d problems, %d minima, worst relative gradient there %.1e\n", count, minima,
                  worst);
    count -= first_case();
    assert_true(minima > count / 3);
    // the solver's measure is the largest diagonal of its way, which a function may have made steep
    assert_true(rough <= count / 20000);
}

// ---- limits of followers ------------------------------------------------------------------------

// Two hinges, the second a function of the first.
static sn_status pair(const sn_function *f, const double low[2], const double high[2],
                      sn_model **out, sn_error *error) {
    sn_builder *b;
    assert_int_equal(sn_builder_create("pair", NULL, &b, NULL), SN_OK);
    for (int i = 0; i < 2; i++) {
        sn_joint_desc d = sn_joint_default(SN_JOINT_HINGE);
        d.name = i == 0 ? "leader" : "follower";
        d.parent = i - 1;
        d.lower[0] = low[i];
        d.upper[0] = high[i];
        (void)sn_builder_joint(b, &d);
    }
    sn_coupling_desc c = {.follower = {1, 0}, .nleader = 1, .leader = {{0, 0}}, .function = *f};
    (void)sn_builder_couple(b, &c);
    sn_status status = sn_builder_finish(b, out, error);
    sn_builder_destroy(b);
    return status;
}

// Whatever the leader's place in its range, the follower is inside its own; and just beyond an end
// that is not the leader's own it is outside.
static void ranges(void **unused) {
    (void)unused;
    uint64_t state = 25;
    int count = cases_up_to(400, 40000), empty = 0, narrowed = 0;
    for (int n = 0; n < count; n++) {
        double x[8], y[8], low[2], high[2];
        sn_function f = {.scale = uniform(&state, 0.2, 2), .x = x, .y = y};
        const sn_function_type types[] = {SN_FUNCTION_LINEAR, SN_FUNCTION_POLYNOMIAL,
                                          SN_FUNCTION_SPLINE, SN_FUNCTION_POLYLINE,
                                          SN_FUNCTION_SINE};
        f.type = types[n % 5];
        bool knots = f.type == SN_FUNCTION_SPLINE || f.type == SN_FUNCTION_POLYLINE;
        f.ny = knots ? 7 : f.type == SN_FUNCTION_LINEAR ? 2 : 4;
        f.nx = knots ? f.ny : 0;
        for (int i = 0; i < f.ny; i++) {
            x[i] = (i > 0 ? x[i - 1] : -2) + uniform(&state, 0.2, 1);
            y[i] = uniform(&state, -1, 1);
        }
        low[0] = below(&state, 3) == 0 ? -INFINITY : uniform(&state, -3, 0);
        high[0] = below(&state, 3) == 0 ? INFINITY : uniform(&state, 0, 3);
        low[1] = below(&state, 4) == 0 ? -INFINITY : uniform(&state, -1.5, 0.2);
        high[1] = below(&state, 4) == 0 ? INFINITY : fmax(low[1], -0.2) + uniform(&state, 0, 1.5);
        sn_model *m;
        sn_error error = {0};
        if (pair(&f, low, high, &m, &error) != SN_OK) {
            assert_non_null(strstr(error.text, "no room for both"));
            empty++;
            continue;
        }
        double from = sn_model_lower(m)[0], to = sn_model_upper(m)[0];
        assert_true(from <= to && from >= low[0] && to <= high[0]);
        narrowed += from > low[0] || to < high[0];
        double a = fmax(from, -20), b = fmin(to, 20);
        for (int i = 0; i <= 200; i++) {
            double q[2] = {i == 200 ? b : a + (b - a) * i / 200, 0};
            sn_model_follow(m, q);
            if (a <= b && !(q[1] >= low[1] && q[1] <= high[1]))
                fail_msg("case %d: %.17g leads to %.17g", n, q[0], q[1]);
        }
        for (int side = 0; side < 2; side++) {
            double end = side == 0 ? from : to;
            if (end == (side == 0 ? low[0] : high[0])) continue;
            // nor is one of the last numbers out by rounding
            double near[2] = {end, 0};
            for (int i = 0; i < 40 && near[0] >= from && near[0] <= to; i++) {
                sn_model_follow(m, near);
                if (!(near[1] >= low[1] && near[1] <= high[1]))
                    fail_msg("case %d: %d numbers before its end, %.17g leads to %.17g", n, i,
                             near[0], near[1]);
                near[0] = nextafter(near[0], side == 0 ? INFINITY : -INFINITY);
            }
            // a touch further: out, unless the function only just touches its limit
            double q[2] = {end + (side == 0 ? -1e-6 : 1e-6) * fmax(1, fabs(end)), 0};
            sn_model_follow(m, q);
            assert_true(q[1] <= low[1] + 1e-9 || q[1] >= high[1] - 1e-9);
        }
        sn_model_destroy(m);
    }
    print_message("%d functions: %d ranges narrowed, %d leave no room\n", count, narrowed, empty);
    assert_true(narrowed > count / 3);
}

// What is wrong is said; nothing leaks when memory runs out.
static void refused(void **unused) {
    (void)unused;
    static const struct {
        const char *ties, *says;
    } wrong[] = {
        {"\"couplings\": [{\"joint\": \"b\", \"of\": [\"b\"], \"function\": \"linear\", \"y\": "
         "[1,0]}]",
         "it follows itself in the end"},
        {"\"couplings\": [{\"joint\": \"b\", \"of\": [\"z\"], \"function\": \"linear\", \"y\": "
         "[1,0]}]",
         "there is no joint \"z\""},
        {"\"couplings\": [{\"joint\": \"b\", \"of\": [[\"a\",1]], \"function\": \"linear\", \"y\": "
         "[1,0]}]",
         "a leader is no plain coordinate"},
        {"\"couplings\": [{\"joint\": \"b\", \"of\": [\"a\"], \"function\": \"linear\", \"y\": "
         "[1]}]",
         "too few or too many numbers"},
        {"\"couplings\": [{\"joint\": \"b\", \"of\": [\"a\"], \"function\": \"linear\", \"y\": "
         "[1,0]},"
         "{\"joint\": \"b\", \"of\": [\"a\"], \"function\": \"linear\", \"y\": [2,0]}]",
         "another coupling has the same follower"},
        {"\"couplings\": [{\"joint\": \"b\", \"of\": [\"a\"], \"function\": \"linear\", \"y\": "
         "[1,9]}]",
         "the limits of follower and leader leave no room for both"},
        {"\"loops\": [{\"type\": \"knot\", \"joint\": \"b\"}]", "unknown type \"knot\""},
        {"\"loops\": [{\"type\": \"point\"}]", "it has no \"joint\""},
        {"\"loops\": [{\"type\": \"point\", \"joint\": \"b\", \"joint2\": \"b\"}]",
         "both ends are on one joint"},
        {"\"loops\": [{\"type\": \"pin\", \"joint\": \"b\", \"axis\": [0,0,0]}]",
         "an axis is zero"},
        {"\"loops\": [{\"type\": \"distance\", \"joint\": \"b\", \"distance\": 0}]",
         "its distance must be above 0"},
    };
    char text[1200];
#define TWO                                                                                        \
    "{\"joints\": [{\"name\": \"a\", \"type\": \"hinge\", \"axis\": [0,0,1], \"limits\": "         \
    "[[-1,1]]}, "                                                                                  \
    "{\"name\": \"b\", \"parent\": \"a\", \"type\": \"hinge\", \"axis\": [0,0,1], \"limits\": "    \
    "[[-1,1]]}], %s}"
    sn_model *m;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sn_error error = {0};
        (void)snprintf(text, sizeof text, TWO, wrong[i].ties);
        assert_int_equal(sn_model_read_json(text, strlen(text), NULL, &m, &error), SN_ERR_MODEL);
        if (strstr(error.text, wrong[i].says) == NULL)
            fail_msg("%s: %s", wrong[i].says, error.text);
    }
    (void)snprintf(text, sizeof text, TWO,
                   "\"couplings\": [{\"joint\": \"b\", \"of\": [\"a\"], \"function\": \"linear\", "
                   "\"y\": [0.5,0]}], "
                   "\"loops\": [{\"type\": \"line\", \"joint\": \"b\"}]");
    for (long n = 0;; n++) {
        test_allocator a;
        test_allocator_begin(&a);
        a.fail_at = n;
        sn_status status = sn_model_read_json(text, strlen(text), &a.base, &m, NULL);
        if (status == SN_OK) sn_model_destroy(m);
        assert_int_equal(a.live, 0);
        if (status == SN_OK) break;
        assert_int_equal(status, SN_ERR_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives), cmocka_unit_test(rates),  cmocka_unit_test(bordered),
        cmocka_unit_test(solves),      cmocka_unit_test(ranges), cmocka_unit_test(refused),
    };
    only_asked();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
