// SPDX-License-Identifier: MIT
// Smooth takes: gradients by finite differences, minima against dense Newton steps built here, the
// limits of small and large tau, limits, locks and strengths, gaps, cancelling, short takes, the
// same bits again.
#include "support.h"
#include "track/smooth.h"

enum { MOST_V = 16, MOST_FRAMES = 30 };

typedef struct take {
    sn_model *model;
    sn_problem *problem;
    int nframe, nq, nv, ntask;
    double rate;
    double *q;      // nframe x nq: where smoothing starts
    double *goals;  // nframe x ntask x 3
    bool *missing;  // nframe x ntask
    int fail_at;
    long calls;
} take;

static sn_status set_goals(void *user, int frame, sn_problem *problem) {
    take *t = user;
    if (frame == t->fail_at) return SN_ERR_FILE;
    for (int i = 0; i < t->ntask; i++) {
        int at = frame * t->ntask + i;
        SN_TRY(sn_problem_set_goal(problem, i, t->goals + 3 * at));
        SN_TRY(sn_problem_set_missing(problem, i, t->missing[at]));
    }
    return SN_OK;
}

// An arm on a free root: ball shoulder (one rotation weak), hinge elbow, Euler wrist with a locked
// axis; limits where asked for. Three points on the hand's bone, one on each other.
static sn_model *make_arm(bool limits) {
    sn_builder *b;
    sn_model *model;
    assert_int_equal(sn_builder_create("arm", NULL, &b, NULL), SN_OK);
    sn_joint_desc root = sn_joint_default(SN_JOINT_FREE);
    root.name = "root";
    sn_joint_desc shoulder = sn_joint_default(SN_JOINT_BALL);
    shoulder.name = "shoulder";
    shoulder.parent = 0;
    shoulder.position[1] = 0.5;
    shoulder.strength[2] = 0.25;
    sn_joint_desc elbow = sn_joint_default(SN_JOINT_HINGE);
    elbow.name = "elbow";
    elbow.parent = 1;
    elbow.position[0] = 0.3;
    sn_joint_desc wrist = sn_joint_default(SN_JOINT_EULER);
    wrist.name = "wrist";
    wrist.parent = 2;
    wrist.position[0] = 0.25;
    wrist.locked[1] = true;
    if (limits) {
        elbow.lower[0] = -0.2;
        elbow.upper[0] = 0.35;
        wrist.lower[0] = wrist.lower[2] = -0.1;
        wrist.upper[0] = wrist.upper[2] = 0.1;
    }
    (void)sn_builder_joint(b, &root);
    (void)sn_builder_joint(b, &shoulder);
    (void)sn_builder_joint(b, &elbow);
    (void)sn_builder_joint(b, &wrist);
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    return model;
}

static const double points[][4] = {{0, 0.2, 0, 0},    {0, 0, 0.3, 0.1},  {0, -0.2, 0.2, 0},
                                   {1, 0.2, 0, 0.05}, {2, 0.1, 0.05, 0}, {2, 0.2, -0.05, 0},
                                   {3, 0.1, 0, 0},    {3, 0.1, 0.08, 0}, {3, 0.05, 0, 0.07}};
enum { POINTS = sizeof points / sizeof points[0] };

static double *frame_of(const take *t, double *q, int k) { return q + k * t->nq; }

// The arm waving, its points measured with noise; the take starts from shaken poses.
static take make_take(int nframe, bool limits, double noise) {
    take t = {.nframe = nframe, .rate = 100, .fail_at = -1, .ntask = POINTS};
    sn_task tasks[POINTS];
    sn_workspace *ws;
    uint64_t state = 11;
    t.model = make_arm(limits);
    t.nq = sn_model_nq(t.model);
    t.nv = sn_model_nv(t.model);
    for (int i = 0; i < POINTS; i++) {
        tasks[i] = sn_task_default(SN_TASK_POINT);
        tasks[i].joint = (int)points[i][0];
        memcpy(tasks[i].local, points[i] + 1, sizeof tasks[i].local);
    }
    assert_int_equal(sn_problem_create(t.model, tasks, POINTS, NULL, &t.problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(t.problem, false, NULL, &ws, NULL), SN_OK);
    t.q = calloc((size_t)(nframe * t.nq + 1), sizeof *t.q);
    t.goals = calloc((size_t)(nframe * POINTS * 3 + 1), sizeof *t.goals);
    t.missing = calloc((size_t)(nframe * POINTS + 1), sizeof *t.missing);
    for (int k = 0; k < nframe; k++) {
        double *q = frame_of(&t, t.q, k), d[MOST_V];
        sn_model_zero(t.model, q);
        for (int i = 0; i < t.nv; i++) d[i] = 0.3 * sin(0.15 * k + i) + 0.02 * k;
        d[t.nv - 2] = 0;  // locked
        sn_model_integrate(t.model, q, d, q);
        assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
        for (int i = 0; i < POINTS; i++) {
            sn_vec3 p = sn_workspace_point(ws, tasks[i].joint, tasks[i].local);
            double *g = t.goals + 3 * (k * POINTS + i);
            g[0] = p.x + uniform(&state, -noise, noise);
            g[1] = p.y + uniform(&state, -noise, noise);
            g[2] = p.z + uniform(&state, -noise, noise);
        }
        for (int i = 0; i < t.nv; i++) d[i] = uniform(&state, -0.05, 0.05);
        d[t.nv - 2] = 0;
        sn_model_integrate(t.model, q, d, q);
        (void)sn_model_clamp(t.model, q);
    }
    sn_workspace_destroy(ws);
    return t;
}

static void free_take(take *t) {
    sn_problem_destroy(t->problem);
    sn_model_destroy(t->model);
    free(t->q);
    free(t->goals);
    free(t->missing);
}

static sn_smooth_options options_of(const take *t, double tau) {
    sn_smooth_options o = sn_smooth_options_default();
    o.tau = tau;
    o.rate = t->rate;
    o.tolerance = 1e-15;
    o.max_iterations = 200;
    return o;
}

static sn_smooth_report smooth(take *t, const sn_smooth_options *o, double *q) {
    sn_smoother *smoother;
    sn_smooth_report r;
    assert_int_equal(sn_smoother_create(t->problem, o, NULL, &smoother, NULL), SN_OK);
    assert_int_equal(sn_smoother_run(smoother, t->nframe, set_goals, t, q, &r), SN_OK);
    sn_smoother_destroy(smoother);
    assert_true(r.objective <= r.start);
    return r;
}

// F from its definition alone, with the D of the poses `start`.
typedef struct objective {
    take *t;
    sn_workspace *ws;
    double tau, D[MOST_V];
} objective;

static objective objective_of(take *t, double tau, const double *start) {
    objective o = {.t = t, .tau = tau};
    double H[MOST_V * MOST_V], f, top = 0;
    const double *gain = sn_model_gain(t->model);
    assert_int_equal(sn_workspace_create(t->problem, true, NULL, &o.ws, NULL), SN_OK);
    for (int k = 0; k < t->nframe; k++) {
        assert_int_equal(set_goals(t, k, t->problem), SN_OK);
        assert_int_equal(sn_workspace_eval(o.ws, start + k * t->nq, SN_EVAL_GAUSS_NEWTON, &f),
                         SN_OK);
        sn_workspace_hessian(o.ws, H);
        for (int i = 0; i < t->nv; i++)
            if (gain[i] != 0) o.D[i] += H[i + t->nv * i] / (gain[i] * gain[i] * t->nframe);
    }
    for (int i = 0; i < t->nv; i++) top = fmax(top, o.D[i]);
    for (int i = 0; i < t->nv; i++) o.D[i] = gain[i] == 0 ? 0 : fmax(o.D[i], 1e-6 * top);
    return o;
}

static double value_of(objective *o, const double *q) {
    const take *t = o->t;
    double sum = 0, f, d[2][MOST_V], rate4 = pow(t->rate * o->tau, 4);
    for (int k = 0; k < t->nframe; k++) {
        const double *at = q + k * t->nq;
        assert_int_equal(set_goals(o->t, k, o->t->problem), SN_OK);
        assert_int_equal(sn_workspace_eval(o->ws, at, 0, &f), SN_OK);
        sum += f;
        if (k == 0 || k + 1 == t->nframe) continue;
        sn_model_difference(t->model, at - t->nq, at, d[0]);
        sn_model_difference(t->model, at, at + t->nq, d[1]);
        for (int i = 0; i < t->nv; i++)
            sum += 0.5 * o->D[i] * rate4 * (d[1][i] - d[0][i]) * (d[1][i] - d[0][i]);
    }
    return sum;
}

// q (+) gain o u, frame by frame.
static void moved(const take *t, const double *q, const double *u, double *out) {
    const double *gain = sn_model_gain(t->model);
    for (int k = 0; k < t->nframe; k++) {
        double d[MOST_V];
        for (int i = 0; i < t->nv; i++) d[i] = gain[i] * u[k * t->nv + i];
        sn_model_integrate(t->model, q + k * t->nq, d, out + k * t->nq);
    }
}

// F along one or two of the steps' coordinates.
static double value_at(objective *o, const double *q, int a, double x, int b, double y) {
    int n = o->t->nframe * o->t->nv;
    double *u = calloc((size_t)n, sizeof *u);
    double *out = malloc((size_t)(o->t->nframe * o->t->nq) * sizeof *out);
    u[a] += x;
    if (b >= 0) u[b] += y;
    moved(o->t, q, u, out);
    double f = value_of(o, out);
    free(u);
    free(out);
    return f;
}

// The gradient that the library uses, at poses where neighbours are far apart too.
static void gradient(void **unused) {
    (void)unused;
    for (int far = 0; far < 2; far++) {
        take t = make_take(7, false, 0.01);
        uint64_t state = 5;
        for (int k = 0; k < t.nframe && far; k++)
            sn_model_sample(t.model, &state, frame_of(&t, t.q, k));
        objective o = objective_of(&t, 0.02, t.q);
        int n = t.nframe * t.nv;
        double worst = 0, scale = 0;
        sn_smooth_options options = options_of(&t, 0.02);
        sn_smoother *s;
        assert_int_equal(sn_smoother_create(t.problem, &options, NULL, &s, NULL), SN_OK);
        s->nframe = t.nframe;
        s->q = t.q;
        for (int i = 0; i < t.nv; i++) s->weight[i] = o.D[i] * s->fourth;
        const int *v_of = sn_model_sweep_order(t.model);
        double *g = calloc((size_t)n, sizeof *g);
        for (int k = 0; k < t.nframe; k++) {
            double sweep[MOST_V] = {0}, f;
            assert_int_equal(set_goals(&t, k, t.problem), SN_OK);
            assert_int_equal(sn_workspace_eval(o.ws, frame_of(&t, t.q, k), SN_EVAL_GRADIENT, &f),
                             SN_OK);
            memcpy(sweep, sn_workspace_sweep_gradient(o.ws), (size_t)t.nv * sizeof *sweep);
            sn_smooth_gradient_add(s, &s->workers[0], t.q, k, sweep);
            for (int i = 0; i < t.nv; i++) g[k * t.nv + v_of[i]] = sweep[i];
        }
        for (int i = 0; i < n; i++) {
            double h = 1e-5;
            double slope =
                (value_at(&o, t.q, i, h, -1, 0) - value_at(&o, t.q, i, -h, -1, 0)) / (2 * h);
            worst = fmax(worst, fabs(slope - g[i]));
            scale = fmax(scale, fabs(g[i]));
        }
        print_message("gradient off by %.1e of %.1e\n", worst, scale);
        assert_true(worst < 1e-7 * scale);
        sn_smoother_destroy(s);
        sn_workspace_destroy(o.ws);
        free(g);
        free_take(&t);
    }
}

// x <- A^-1 x by elimination with pivots; A is n x n.
static void solve_dense(double *A, double *x, int n) {
    for (int c = 0; c < n; c++) {
        int best = c;
        for (int r = c + 1; r < n; r++)
            if (fabs(A[r * n + c]) > fabs(A[best * n + c])) best = r;
        for (int k = 0; k < n; k++) {
            double swap = A[c * n + k];
            A[c * n + k] = A[best * n + k];
            A[best * n + k] = swap;
        }
        double swap = x[c];
        x[c] = x[best];
        x[best] = swap;
        for (int r = c + 1; r < n; r++) {
            double l = A[r * n + c] / A[c * n + c];
            for (int k = c; k < n; k++) A[r * n + k] -= l * A[c * n + k];
            x[r] -= l * x[c];
        }
    }
    for (int r = n - 1; r >= 0; r--) {
        for (int k = r + 1; k < n; k++) x[r] -= A[r * n + k] * x[k];
        x[r] /= A[r * n + r];
    }
}

// At the result: a dense Newton step, gradient and Hessian by differences of F, gains nothing more.
static void dense_newton(void **unused) {
    (void)unused;
    take t = make_take(6, false, 0.02);
    size_t bytes = (size_t)(t.nframe * t.nq) * sizeof(double);
    double *q = malloc(bytes), *out = malloc(bytes);
    memcpy(q, t.q, bytes);
    objective o = objective_of(&t, 0.015, t.q);
    sn_smooth_options options = options_of(&t, 0.015);
    sn_smooth_report r = smooth(&t, &options, q);
    assert_near(r.start, value_of(&o, t.q), 1e-11);
    double F = value_of(&o, q);
    assert_near(r.objective, F, 1e-11);
    assert_near(r.data + r.smoothness, r.objective, 1e-14);
    assert_int_equal(r.stop, SN_STOP_MINIMUM);

    int n = t.nframe * t.nv;
    double *g = calloc((size_t)n, sizeof *g), *u = calloc((size_t)n, sizeof *u);
    double *H = calloc((size_t)(n * n), sizeof *H), h = 1e-4, slope = 0;
    for (int a = 0; a < n; a++) {
        double up = value_at(&o, q, a, h, -1, 0), down = value_at(&o, q, a, -h, -1, 0);
        g[a] = (up - down) / (2 * h);
        H[a * n + a] = (up - 2 * F + down) / (h * h);
        if (sn_model_gain(t.model)[a % t.nv] == 0) H[a * n + a] = 1;
        for (int b = 0; b < a; b++)
            H[a * n + b] = H[b * n + a] =
                (value_at(&o, q, a, h, b, h) - value_at(&o, q, a, h, b, -h) -
                 value_at(&o, q, a, -h, b, h) + value_at(&o, q, a, -h, b, -h)) /
                (4 * h * h);
        u[a] = -g[a];
    }
    solve_dense(H, u, n);
    for (int a = 0; a < n; a++) slope += g[a] * u[a];
    moved(&t, q, u, out);
    print_message(
        "F %.6e -> %.6e in %d steps and %d products; dense Newton promises %.1e, gives %.1e\n",
        r.start, F, r.iterations, r.products, -0.5 * slope, F - value_of(&o, out));
    assert_true(-0.5 * slope < 1e-9 * F && -0.5 * slope > -1e-9 * F);
    assert_true(F - value_of(&o, out) < 1e-9 * F);
    sn_workspace_destroy(o.ws);
    free(g);
    free(u);
    free(H);
    free(q);
    free(out);
    free_take(&t);
}

// The largest second difference of the poses, per square second.
static double largest_acceleration(const take *t, const double *q) {
    double worst = 0, d[2][MOST_V];
    for (int k = 1; k + 1 < t->nframe; k++) {
        sn_model_difference(t->model, q + (k - 1) * t->nq, q + k * t->nq, d[0]);
        sn_model_difference(t->model, q + k * t->nq, q + (k + 1) * t->nq, d[1]);
        for (int i = 0; i < t->nv; i++)
            worst = fmax(worst, t->rate * t->rate * fabs(d[1][i] - d[0][i]));
    }
    return worst;
}

static void small_and_large_tau(void **unused) {
    (void)unused;
    take t = make_take(MOST_FRAMES, false, 0.005);
    size_t bytes = (size_t)(t.nframe * t.nq) * sizeof(double);
    double *tracked = malloc(bytes), *q = malloc(bytes), last = INFINITY, d[MOST_V];
    sn_solver *solver;
    sn_solver_options so = sn_solver_options_default();
    so.goal = 0;
    memcpy(tracked, t.q, bytes);
    assert_int_equal(sn_solver_create(t.problem, &so, NULL, &solver, NULL), SN_OK);
    for (int k = 0; k < t.nframe; k++) {
        sn_report report;
        assert_int_equal(set_goals(&t, k, t.problem), SN_OK);
        assert_int_equal(sn_solver_solve(solver, frame_of(&t, tracked, k), &report), SN_OK);
    }
    sn_solver_destroy(solver);
    static const double taus[] = {0, 1e-5, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3};
    for (size_t n = 0; n < sizeof taus / sizeof taus[0]; n += sampled() ? 2 : 1) {
        sn_smooth_options o = options_of(&t, taus[n]);
        if (taus[n] <= 0.05) memcpy(q, tracked, bytes);
        if (taus[n] > 0.05) o.tolerance = 1e-6;  // reached by way of the smaller ones, and slowly
        sn_smooth_report r = smooth(&t, &o, q);
        double a = largest_acceleration(&t, q), off = 0;
        for (int k = 0; k < t.nframe; k++) {
            sn_model_difference(t.model, tracked + k * t.nq, q + k * t.nq, d);
            for (int i = 0; i < t.nv; i++) off = fmax(off, fabs(d[i]));
        }
        print_message(
            "tau %g: F %.4e -> %.4e, acceleration %.3e, moved %.1e, %d steps, %d products, %s\n",
            taus[n], r.start, r.objective, a, off, r.iterations, r.products, sn_stop_text(r.stop));
        if (taus[n] <= 0.05) assert_int_equal(r.stop, SN_STOP_MINIMUM);
        assert_true(a < 1.0001 * last);
        last = a;
        if (taus[n] <= 1e-5) assert_true(off < 1e-6);
        if (taus[n] >= 0.3) assert_true(a < 1);  // constant velocity: it was above 1000
    }
    free(tracked);
    free(q);
    free_take(&t);
}

static void limits_locks_and_gaps(void **unused) {
    (void)unused;
    take t = make_take(MOST_FRAMES, true, 0.01);
    size_t bytes = (size_t)(t.nframe * t.nq) * sizeof(double);
    double *q = malloc(bytes);
    const double *lower = sn_model_lower(t.model), *upper = sn_model_upper(t.model);
    sn_smooth_options o = options_of(&t, 0.01);
    int elbow = sn_model_q_index(t.model, 2), wrist = sn_model_q_index(t.model, 3), held = 0;
    int ve = sn_model_v_index(t.model, 2), vw = sn_model_v_index(t.model, 3);
    memcpy(q, t.q, bytes);
    sn_smooth_report r = smooth(&t, &o, q);
    assert_int_equal(r.stop, SN_STOP_MINIMUM);
    for (int k = 0; k < t.nframe; k++) {
        double *at = frame_of(&t, q, k);
        assert_true(at[elbow] >= lower[ve] && at[elbow] <= upper[ve]);
        held += at[elbow] == lower[ve] || at[elbow] == upper[ve];
        for (int i = 0; i < 3; i++)
            assert_true(at[wrist + i] >= lower[vw + i] && at[wrist + i] <= upper[vw + i]);
        assert_true(at[wrist + 1] == frame_of(&t, t.q, k)[wrist + 1]);  // locked: not a bit
    }
    print_message("elbow at a limit in %d of %d frames, %d steps\n", held, t.nframe, r.iterations);
    assert_true(held > 3);
    // stationary: no degree of freedom that may move lowers F
    objective f = objective_of(&t, 0.01, t.q);
    double F = value_of(&f, q), worst = 0;
    for (int a = 0; a < t.nframe * t.nv; a++) {
        int v = a % t.nv, at = v == ve ? elbow : v >= vw ? wrist + v - vw : -1;
        double h = 1e-5, x = at >= 0 ? frame_of(&t, q, a / t.nv)[at] : 0;
        double slope = (value_at(&f, q, a, h, -1, 0) - value_at(&f, q, a, -h, -1, 0)) / (2 * h);
        bool pushed = at >= 0 && ((x == lower[v] && slope > 0) || (x == upper[v] && slope < 0));
        if (!pushed) worst = fmax(worst, fabs(slope));
    }
    print_message("free gradient %.1e, F %.3e\n", worst, F);
    assert_true(worst < 1e-6 * F);
    sn_workspace_destroy(f.ws);
    free(q);
    free_take(&t);

    // the arm hidden for 10 frames and pointing anywhere in the poses given: bridged
    t = make_take(MOST_FRAMES, false, 0);
    take truth = make_take(MOST_FRAMES, false, 0);
    o = options_of(&truth, 0);
    (void)smooth(&truth, &o, truth.q);
    uint64_t state = 9;
    double before = 0, after = 0;
    for (int k = 10; k < 20; k++) {
        for (int i = 3; i < POINTS; i++) t.missing[k * POINTS + i] = true;
        frame_of(&t, t.q, k)[sn_model_q_index(t.model, 2)] += uniform(&state, -0.5, 0.5);
    }
    q = malloc(bytes);
    memcpy(q, t.q, bytes);
    o = options_of(&t, 0.005);
    (void)smooth(&t, &o, q);
    for (int k = 10; k < 20; k++) {
        before =
            fmax(before, fabs(frame_of(&t, t.q, k)[7 + 4] - frame_of(&truth, truth.q, k)[7 + 4]));
        after = fmax(after, fabs(frame_of(&t, q, k)[7 + 4] - frame_of(&truth, truth.q, k)[7 + 4]));
    }
    print_message("hidden elbow off by %.3f, smoothed %.4f\n", before, after);
    assert_true(after < 0.02 && before > 0.3);
    free(q);
    free_take(&truth);
    free_take(&t);
}

// However far a step goes: trial poses lie inside the limits, and what is locked stays.
static void long_steps(void **unused) {
    (void)unused;
    take t = make_take(3, true, 0.01);
    sn_smooth_options o = options_of(&t, 0.01);
    sn_smoother *s;
    double x[3 * MOST_V], g[3 * MOST_V] = {0}, p[3 * 2 * MOST_V], sums[SMOOTH_SUMS] = {0};
    int wrist = sn_model_q_index(t.model, 3);
    assert_int_equal(sn_smoother_create(t.problem, &o, NULL, &s, NULL), SN_OK);
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int i = 0; i < 3 * MOST_V; i++) x[i] = 10 * sign;
        s->nframe = 3;
        s->q = t.q;
        s->p = p;
        s->x = x;
        s->g = g;
        s->t = 1;
        assert_int_equal(sn_smooth_move(s, &s->workers[0], 0, 3, sums), SN_OK);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(sn_model_clamp(t.model, p + k * t.nq), 0);
            assert_true(p[k * t.nq + wrist + 1] == t.q[k * t.nq + wrist + 1]);
        }
    }
    sn_smoother_destroy(s);
    free_take(&t);
}

// Whole turns between frames are no acceleration.
static void whole_turns(void **unused) {
    (void)unused;
    take t = make_take(MOST_FRAMES, false, 0.005);
    size_t bytes = (size_t)(t.nframe * t.nq) * sizeof(double);
    double *q = malloc(bytes), *turned = malloc(bytes);
    int elbow = sn_model_q_index(t.model, 2);
    sn_smooth_options o = options_of(&t, 0.01);
    memcpy(q, t.q, bytes);
    memcpy(turned, t.q, bytes);
    for (int k = 10; k < 30; k++)
        turned[k * t.nq + elbow] += (k < 20 ? 4 : -2) * 3.14159265358979323846;
    sn_smooth_report a = smooth(&t, &o, q), b = smooth(&t, &o, turned);
    assert_near(a.start, b.start, 1e-9);
    assert_near(a.objective, b.objective, 1e-9);
    for (int k = 0; k < t.nframe; k++)
        assert_near(q[k * t.nq + elbow], turned[k * t.nq + elbow], 1e-6);
    free(q);
    free(turned);
    free_take(&t);
}

static volatile bool stop_now;
static int stop_after;
static void stop_there(void *user, int iterations, int products, double value) {
    (void)user, (void)iterations, (void)value;
    stop_now = products >= stop_after;
}

// Memory that stays when it is given back, so that a run's arrays can be looked at behind it.
static void *kept[16];
static int nkept;
static void *acquire_kept(void *user, size_t bytes) {
    (void)user;
    return nkept < 16 ? kept[nkept++] = malloc(bytes) : NULL;
}
static void release_kept(void *user, void *block) { (void)user, (void)block; }

// A step damped ten thousand times as much is shorter by nearly as much: the damping is in the system
// that is solved, not only in what preconditions it.
static void damped_steps(void **unused) {
    (void)unused;
    take t = make_take(MOST_FRAMES, true, 0.01);
    size_t bytes = (size_t)(t.nframe * t.nq) * sizeof(double);
    double *q = malloc(bytes), length[2] = {0}, promise;
    memcpy(q, t.q, bytes);
    for (int i = 0; i < 2; i++) {
        sn_smooth_options o = options_of(&t, 0.02);
        sn_smoother *s;
        sn_smooth_report r;
        o.max_iterations = 0;
        const sn_allocator allocator = {acquire_kept, release_kept, NULL};
        assert_int_equal(sn_smoother_create(t.problem, &o, &allocator, &s, NULL), SN_OK);
        assert_int_equal(sn_smoother_run(s, t.nframe, set_goals, &t, q, &r), SN_OK);
        for (int k = 0; k < t.nframe; k++) s->lambda[k] = i == 0 ? 10 : 1e5;
        assert_int_equal(sn_smooth_step(s, &promise), SN_OK);
        for (int k = 0; k < t.nframe * s->nv; k++)
            length[i] += s->seen[k % s->nv] * s->x[k] * s->x[k];
        length[i] = sqrt(length[i]);
        sn_smoother_destroy(s);
        while (nkept > 0) free(kept[--nkept]);
    }
    print_message("length of a step %.3g, damped more %.3g\n", length[0], length[1]);
    assert_true(length[0] > 0 && length[1] < 1e-2 * length[0]);
    free(q);
    free_take(&t);
}

static bool is_stopped(void *user) {
    (void)user;
    return stop_now;
}

static void cancelling(void **unused) {
    (void)unused;
    take t = make_take(MOST_FRAMES, true, 0.01);
    size_t bytes = (size_t)(t.nframe * t.nq) * sizeof(double);
    double *q = malloc(bytes), last = INFINITY;
    objective f = objective_of(&t, 0.02, t.q);
    sn_smooth_options o = options_of(&t, 0.02);
    o.cancel = (sn_cancel){is_stopped, NULL};
    o.progress = stop_there;
    for (stop_after = 0; stop_after < 40; stop_after += 3) {
        memcpy(q, t.q, bytes);
        stop_now = stop_after == 0;
        sn_smooth_report r = smooth(&t, &o, q);
        assert_int_equal(r.stop, SN_STOP_CANCELLED);
        assert_near(value_of(&f, q), r.objective, 1e-11);
        assert_true(r.objective <= last);
        if (stop_after == 0) assert_memory_equal(q, t.q, bytes);
        for (int k = 0; k < t.nframe; k++) {
            double copy[32];
            memcpy(copy, frame_of(&t, q, k), (size_t)t.nq * sizeof *copy);
            assert_int_equal(sn_model_check_pose(t.model, copy, NULL), SN_OK);
            assert_int_equal(sn_model_clamp(t.model, copy), 0);
        }
        last = r.objective;
    }
    assert_true(last < value_of(&f, t.q));
    sn_workspace_destroy(f.ws);
    free(q);
    free_take(&t);
}

static void short_takes_and_failures(void **unused) {
    (void)unused;
    for (int n = 0; n <= 3; n++) {
        take t = make_take(n, false, 0.01);
        sn_smooth_options o = options_of(&t, 0.02);
        sn_smooth_report r = smooth(&t, &o, t.q);
        assert_int_equal(r.stop, SN_STOP_MINIMUM);
        if (n < 3) assert_true(r.smoothness == 0);
        free_take(&t);
    }
    take t = make_take(5, false, 0.01);
    sn_smooth_options o = options_of(&t, 0.02);
    sn_smooth_report r;
    sn_smoother *s;
    size_t bytes = (size_t)(t.nframe * t.nq) * sizeof(double);
    double *before = malloc(bytes);
    memcpy(before, t.q, bytes);
    // memory that runs out anywhere: the poses stay
    for (long n = 0, done = 0; !done; n++) {
        test_allocator a;
        test_allocator_begin(&a);
        a.fail_at = n;
        sn_status status = sn_smoother_create(t.problem, &o, &a.base, &s, NULL);
        if (status == SN_OK) {
            status = sn_smoother_run(s, t.nframe, set_goals, &t, t.q, &r);
            done = status == SN_OK;
            sn_smoother_destroy(s);
        }
        assert_int_equal(a.live, 0);
        assert_int_equal(status, done ? SN_OK : SN_ERR_MEMORY);
        if (!done) assert_memory_equal(t.q, before, bytes);
    }
    memcpy(t.q, before, bytes);
    assert_int_equal(sn_smoother_create(t.problem, &o, NULL, &s, NULL), SN_OK);
    t.fail_at = 3;
    assert_int_equal(sn_smoother_run(s, t.nframe, set_goals, &t, t.q, &r), SN_ERR_FILE);
    t.fail_at = -1;
    assert_int_equal(sn_smoother_run(s, -1, set_goals, &t, t.q, &r), SN_ERR_ARGUMENT);
    assert_int_equal(sn_smoother_run(s, t.nframe, NULL, &t, t.q, &r), SN_ERR_ARGUMENT);
    t.q[t.nq] = NAN;
    assert_int_equal(sn_smoother_run(s, t.nframe, set_goals, &t, t.q, &r), SN_ERR_VALUE);
    sn_smoother_destroy(s);
    const double bad[][2] = {{-1, 100}, {NAN, 100}, {0.1, 0}, {0.1, INFINITY}, {1e9, 100}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        o = options_of(&t, bad[i][0]);
        o.rate = bad[i][1];
        assert_int_equal(sn_smoother_create(t.problem, &o, NULL, &s, NULL), SN_ERR_ARGUMENT);
        assert_null(s);
    }
    free(before);
    free_take(&t);
}

static void same_bits(void **unused) {
    (void)unused;
    take t = make_take(sampled() ? 30 : 150, true, 0.01);
    size_t bytes = (size_t)(t.nframe * t.nq) * sizeof(double);
    double *one = malloc(bytes), *many = malloc(bytes);
    sn_smooth_options o = options_of(&t, 0.02);
    o.max_iterations = 4;
    memcpy(one, t.q, bytes);
    sn_smooth_report first = smooth(&t, &o, one);
    for (int k = 0; k < t.nframe; k++)
        assert_int_equal(sn_model_clamp(t.model, frame_of(&t, one, k)), 0);
    for (int threads = 1; threads <= 5; threads += 2) {
        o.threads = threads;
        memcpy(many, t.q, bytes);
        sn_smooth_report r = smooth(&t, &o, many);
        assert_memory_equal(one, many, bytes);
        assert_true(r.objective == first.objective && r.products == first.products);
    }
    free(one);
    free(many);
    free_take(&t);
}

// Weights have no unit: all of them a millionth, and the take takes the same way.
static void weights_of_any_size(void **unused) {
    (void)unused;
    sn_smooth_report r[3];
    for (int n = 0; n < 3; n++) {
        take t = make_take(MOST_FRAMES, true, 0.005);
        for (int i = 0; i < t.ntask; i++)
            assert_int_equal(
                sn_problem_set_weight(t.problem, i, n == 0 ? 1 : ldexp(1, n == 1 ? -20 : 20)),
                SN_OK);
        sn_smooth_options o = options_of(&t, 0.02);
        r[n] = smooth(&t, &o, t.q);
        print_message("F %.4e, %d steps, %d products\n", r[n].objective, r[n].iterations,
                      r[n].products);
        free_take(&t);
    }
    for (int n = 1; n < 3; n++) {
        assert_near(ldexp(r[n].objective, n == 1 ? 20 : -20) / r[0].objective, 1, 1e-9);
        assert_int_equal(r[n].iterations, r[0].iterations);
        assert_true(abs(r[n].products - r[0].products) <= r[0].products / 20);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient),
        cmocka_unit_test(dense_newton),
        cmocka_unit_test(small_and_large_tau),
        cmocka_unit_test(limits_locks_and_gaps),
        cmocka_unit_test(long_steps),
        cmocka_unit_test(whole_turns),
        cmocka_unit_test(cancelling),
        cmocka_unit_test(damped_steps),
        cmocka_unit_test(short_takes_and_failures),
        cmocka_unit_test(weights_of_any_size),
        cmocka_unit_test(same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
