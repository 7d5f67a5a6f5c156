// SPDX-License-Identifier: MIT
// Newton's method as 001 (docs/bibliography.md) runs it (section 6.7): a trust region around the exact Hessian's model,
// and inside it conjugate gradients with a banded preconditioner.
//
//   minimise m(p) = g . p + 1/2 p . H p      over |D p| <= Delta and the limits
//
// D^2 is the Gauss-Newton diagonal, so that radians and metres mix. H appears in products only,
// which cost time linear in the size of the figure.
//
// - Steihaug and Toint: run conjugate gradients from p = 0; where the curvature d . H d is not
//   positive, or the next point is outside, follow d to the edge of the region and stop there.
//   Otherwise stop when the residual, in the preconditioner's norm, has fallen to pcg_tolerance, or
//   to the root of the relative gradient where that is less: a constant tolerance, 001's
//   (pcg_constant), converges linearly. 001 allows nv^2 iterations.
// - The preconditioner is the band |i - j| <= bandwidth of H in sweep order, where a joint's
//   ancestors are its neighbours. A band of an indefinite matrix, and now and then of a definite
//   one, is not positive definite: then M = band + lambda D^2, with lambda from 1e-3 up, four times
//   as large every time, until Cholesky's method goes through.
// - Higham's nearest positive semidefinite matrix, an option: H+ = H - sum of lambda_i v_i v_i^T
//   over the negative eigenvalues. It is dense, and needs LAPACK; in a build without it, the option
//   does nothing.
// - Limits: 001 leaves them to a reflective interior method; here they are part of the model. What
//   stands at a limit and is pushed outwards is held (s->keep). Each run of conjugate gradients
//   goes as far as the limits let; what came to stand at one is taken out, and the rest goes on
//   from there. Where that does not help, the step is the projected scaled gradient, along which m
//   falls at first.
#include "solvers/solver.h"

#include <string.h>

#ifdef SINEW_LAPACK
#include <lapacke.h>
#endif

typedef struct state {
    double *band;      // M: nv x (bandwidth + 1), M_ij of row i at i - j
    double *lower;     // its Cholesky factor L, M = L L^T, likewise
    bool *open;        // nv: what may still move
    double *residual;  // nv
    double *solved;    // nv: M^-1 of the residual
    double *along;     // nv: the direction d,
    double *times;     // nv: and H d
    double *step;      // nv: what one run of conjugate gradients adds
    double *next;      // nv: p moved by it, inside the limits
    double *dense;     // nearest_psd: H+, nv x nv
#ifdef SINEW_LAPACK
    double *vectors, *values;  // for it, of H: nv x nv, nv
    double *work;              // LAPACK's
    lapack_int *iwork;         // likewise
#endif
} state;

static state *state_of(const sn_solver *s) { return s->state; }

static bool uses_psd(const sn_solver *s) {
#ifdef SINEW_LAPACK
    return s->options.nearest_psd;
#else
    (void)s;
    return false;
#endif
}

static void layout(sn_solver *s, sn_layout *layout_) {
    size_t n = (size_t)s->n, band = n * (size_t)(s->options.bandwidth + 1);
    state a = {0};
    a.band = sn_layout_take(layout_, band, sizeof *a.band);
    a.lower = sn_layout_take(layout_, band, sizeof *a.lower);
    a.open = sn_layout_take(layout_, n, sizeof *a.open);
    a.residual = sn_layout_take(layout_, n, sizeof *a.residual);
    a.solved = sn_layout_take(layout_, n, sizeof *a.solved);
    a.along = sn_layout_take(layout_, n, sizeof *a.along);
    a.times = sn_layout_take(layout_, n, sizeof *a.times);
    a.step = sn_layout_take(layout_, n, sizeof *a.step);
    a.next = sn_layout_take(layout_, n, sizeof *a.next);
#ifdef SINEW_LAPACK
    if (uses_psd(s)) {
        a.dense = sn_layout_take(layout_, n * n, sizeof *a.dense);
        a.vectors = sn_layout_take(layout_, n * n, sizeof *a.vectors);
        a.values = sn_layout_take(layout_, n, sizeof *a.values);
        a.work = sn_layout_take(layout_, 1 + 6 * n + 2 * n * n, sizeof *a.work);
        a.iwork = sn_layout_take(layout_, 3 + 5 * n, sizeof *a.iwork);
    }
#endif
    s->state = sn_layout_keep(layout_, &a, sizeof a);
}

// H_ij, j at or above i on its path, y being K T_i of i's joint.
static double entry(const sn_workspace *ws, const sn_joint *joint, int i, int j, sn_twist y) {
    double h = v3_dot(ws->T[j].a, y.a) + v3_dot(ws->T[j].b, y.b);
    if (j >= joint->slot && sn_has_local(ws, joint))
        h += ws->local[SN_MAX_JOINT_DOFS * i + j - joint->slot];
    return h;
}

// The band of the exact Hessian, or with dense != NULL the whole of what may move.
static void fill(const sn_solver *s, double *band, double *dense) {
    const sn_workspace *ws = s->ws;
    const int reach = dense != NULL ? s->n : s->options.bandwidth, width = reach + 1;
    memset(dense != NULL ? dense : band, 0,
           (size_t)s->n * (size_t)(dense != NULL ? s->n : width) * sizeof *band);
    for (int k = 0; k < s->model->njoint; k++) {
        const sn_joint *joint = &s->model->joint[k];
        for (int i = joint->slot; i < joint->slot + joint->nv; i++) {
            sn_twist y = sn_field_times(ws->field[k].K, ws->T[i]);
            for (int j = i; j >= 0 && i - j <= reach; j = s->model->path.parent[j]) {
                double h = entry(ws, joint, i, j, y);
                if (dense == NULL) {
                    band[(size_t)i * (size_t)width + (size_t)(i - j)] = h;
                } else if (s->keep[i] && s->keep[j]) {
                    dense[(size_t)i + (size_t)s->n * (size_t)j] = h;
                    dense[(size_t)j + (size_t)s->n * (size_t)i] = h;
                }
            }
        }
    }
}

#ifdef SINEW_LAPACK
// H+ into `dense` and its band into `band`.
static bool find_nearest(sn_solver *s) {
    const size_t n = (size_t)s->n, width = (size_t)s->options.bandwidth + 1;
    double *H = state_of(s)->dense, *V = state_of(s)->vectors, *value = state_of(s)->values;
    fill(s, NULL, H);
    memcpy(V, H, n * n * sizeof *V);
    if (LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', s->n, V, s->n > 0 ? s->n : 1, value,
                            state_of(s)->work, (lapack_int)(1 + 6 * n + 2 * n * n),
                            state_of(s)->iwork, (lapack_int)(3 + 5 * n)) != 0)
        return false;
    for (size_t k = 0; k < n && value[k] < 0; k++) {
        const double *v = V + n * k;
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++) H[i + n * j] -= value[k] * v[i] * v[j];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t back = 0; back < width && back <= i; back++)
            state_of(s)->band[i * width + back] = H[i + n * (i - back)];
    return true;
}
#endif

// Once per pose.
static bool find_matrix(sn_solver *s) {
#ifdef SINEW_LAPACK
    if (uses_psd(s)) return find_nearest(s);
#endif
    fill(s, state_of(s)->band, NULL);
    return true;
}

// out = H x of the model
static void times(sn_solver *s, const double *x, double *out) {
    if (!uses_psd(s)) {
        sn_workspace_fields_multiply(s->ws, x, out);
        return;
    }
    const double *H = state_of(s)->dense;
    for (int i = 0; i < s->n; i++) out[i] = 0;
    for (int j = 0; j < s->n; j++, H += s->n)
        for (int i = 0; i < s->n; i++) out[i] += H[i] * x[j];
}

// L L^T = M = band + lambda D^2 on what is open, D^2 alone elsewhere.
static bool factor_band(const sn_solver *s, double lambda) {
    const bool *open = state_of(s)->open;
    const int width = s->options.bandwidth + 1;
    const double *M = state_of(s)->band;
    double *L = state_of(s)->lower;
    for (int i = 0; i < s->n; i++) {
        const double *row = M + (size_t)i * (size_t)width;
        double *to = L + (size_t)i * (size_t)width;
        int first = i >= width ? i - width + 1 : 0;
        for (int j = first; j <= i; j++) {
            const double *other = L + (size_t)j * (size_t)width;
            int start = j >= width && j - width + 1 > first ? j - width + 1 : first;
            double sum = open[i] && open[j] ? row[i - j] : 0;
            if (i == j) sum = open[i] ? sum + lambda * s->scale[i] : s->scale[i];
            for (int k = start; k < j; k++) sum -= to[i - k] * other[j - k];
            if (j < i) {
                to[i - j] = sum / other[0];
            } else {
                if (!(sum > 1e-10 * s->scale[i])) return false;
                to[0] = sqrt(sum);
            }
        }
    }
    return true;
}

// The shift begins at a quarter of the last one.
static void precondition(sn_solver *s, double *shift) {
    double lambda = 0.25 * *shift < 1e-3 ? 0 : 0.25 * *shift;
    for (int tries = 0; tries < 40; tries++) {
        s->report.factorizations++;
        *shift = lambda;
        if (factor_band(s, lambda)) return;
        lambda = lambda > 0 ? 4 * lambda : 1e-3;
    }
    // numbers beyond all measure: the diagonal will do
    memset(state_of(s)->lower, 0,
           (size_t)s->n * (size_t)(s->options.bandwidth + 1) * sizeof(double));
    for (int i = 0; i < s->n; i++)
        state_of(s)->lower[(size_t)i * (size_t)(s->options.bandwidth + 1)] = sqrt(s->scale[i]);
}

// x <- M^-1 x
static void solve_band(const sn_solver *s, double *x) {
    const int width = s->options.bandwidth + 1;
    const double *L = state_of(s)->lower;
    for (int i = 0; i < s->n; i++) {
        const double *row = L + (size_t)i * (size_t)width;
        for (int back = 1; back < width && back <= i; back++) x[i] -= row[back] * x[i - back];
        x[i] /= row[0];
    }
    for (int i = s->n - 1; i >= 0; i--) {
        const double *row = L + (size_t)i * (size_t)width;
        x[i] /= row[0];
        for (int back = 1; back < width && back <= i; back++) x[i - back] -= row[back] * x[i];
    }
}

// x . D^2 y
static double dot_scaled(const sn_solver *s, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < s->n; i++) sum += s->scale[i] * x[i] * y[i];
    return sum;
}

// How far along d from x, |D x| <= radius, the edge is.
static double to_edge(const sn_solver *s, const double *x, const double *d, double radius) {
    double a = dot_scaled(s, d, d), b = dot_scaled(s, x, d);
    double c = fmin(dot_scaled(s, x, x) - radius * radius, 0), root = sqrt(fmax(b * b - a * c, 0));
    return b > 0 ? -c / (b + root) : (root - b) / a;
}

typedef struct region {
    double radius;
    double shift;     // lambda of the preconditioner
    double target;    // r . M^-1 r to reach; negative until the first run sets it
    bool indefinite;  // some run met negative curvature
} region;

// Conjugate gradients from p, w being what they add: in `step`.
static void conjugate_gradients(sn_solver *s, const double *p, region *in) {
    const bool *open = state_of(s)->open;
    double *r = state_of(s)->residual, *z = state_of(s)->solved, *d = state_of(s)->along;
    double *Hd = state_of(s)->times, *w = state_of(s)->step, *x = state_of(s)->next;
    const double most = (double)s->n * s->n;
    times(s, p, Hd);
    for (int i = 0; i < s->n; i++) {
        r[i] = z[i] = open[i] ? -(s->ws->g[i] + Hd[i]) : 0;
        w[i] = 0;
        x[i] = p[i];
    }
    solve_band(s, z);
    memcpy(d, z, (size_t)s->n * sizeof *d);
    double rz = sn_solver_dot(r, z, s->n);
    if (in->target < 0) {
        double tolerance = s->options.pcg_tolerance;
        if (!s->options.pcg_constant) tolerance = fmin(tolerance, sqrt(s->report.gradient));
        in->target = tolerance * tolerance * rz;
    }
    for (double count = 0; count < most && rz > in->target; count++) {
        times(s, d, Hd);
        double curvature = 0, square = dot_scaled(s, d, d);
        for (int i = 0; i < s->n; i++) curvature += open[i] ? d[i] * Hd[i] : 0;
        double edge = to_edge(s, x, d, in->radius), step = rz / curvature;
        // rounding leaves curvature of about this size where there is none
        bool flat = !(curvature > 1e-14 * square);
        if (curvature < -1e-10 * square) in->indefinite = true;
        bool last = flat || step >= edge;
        if (last) step = edge;
        for (int i = 0; i < s->n; i++) {
            w[i] += step * d[i];
            x[i] = p[i] + w[i];
            r[i] -= open[i] ? step * Hd[i] : 0;
            z[i] = r[i];
        }
        if (last) return;
        solve_band(s, z);
        double next = sn_solver_dot(r, z, s->n), beta = next / rz;
        for (int i = 0; i < s->n; i++) d[i] = z[i] + beta * d[i];
        rz = next;
    }
}

static double clamp_move(const sn_solver *s, int i, double step) {
    int at = s->q_of[i];
    double gain = s->model->gain[s->model->v_of[i]];
    if (at < 0 || gain == 0) return step;
    double x = s->q[at] + gain * step;
    if (x < s->lower[i]) return (s->lower[i] - s->q[at]) / gain;
    if (x > s->upper[i]) return (s->upper[i] - s->q[at]) / gain;
    return step;
}

// The decrease m(0) - m(x).
static double promised(sn_solver *s, const double *x) {
    double *Hx = state_of(s)->times;
    times(s, x, Hx);
    return -(sn_solver_dot(s->ws->g, x, s->n) + 0.5 * sn_solver_dot(x, Hx, s->n));
}

// p moves by w, or as much of it as the limits let. Either every entry stops at its own limit, when
// the model falls at least half as far that way as without limits, or all stop where the first
// does. What came to stand at a limit is closed; false when nothing did.
static bool advance(sn_solver *s, double *p, const double *w, double *promise) {
    bool *open = state_of(s)->open, closed = false;
    double *x = state_of(s)->next, first = 1, before = *promise;
    for (int i = 0; i < s->n; i++) x[i] = p[i] + w[i];
    double free_promise = promised(s, x);
    for (int i = 0; i < s->n; i++) {
        double at = clamp_move(s, i, x[i]);
        if (at == x[i]) continue;
        first = fmin(first, fmax((at - p[i]) / w[i], 0));
        x[i] = at;
        closed = true;
    }
    *promise = closed ? promised(s, x) : free_promise;
    bool all = *promise > before && *promise - before >= 0.5 * (free_promise - before);
    for (int i = 0; i < s->n; i++) {
        bool stopped = x[i] != p[i] + w[i] && (all || (x[i] - p[i]) / w[i] <= first * (1 + 1e-12));
        if (stopped) open[i] = false;
        p[i] = all || stopped ? x[i] : p[i] + first * w[i];
    }
    if (!all) *promise = promised(s, p);
    return closed;
}

// The projected scaled gradient, halved until the model falls.
static double descend(sn_solver *s, double *p, double *w, double radius) {
    double square = 0, promise = 0;
    for (int i = 0; i < s->n; i++) {
        w[i] = s->keep[i] ? -s->ws->g[i] / s->scale[i] : 0;
        square += s->scale[i] * w[i] * w[i];
    }
    for (double t = fmin(1, radius / sqrt(square)); !(promise > 0) && t > 1e-10; t *= 0.5) {
        for (int i = 0; i < s->n; i++) p[i] = clamp_move(s, i, t * w[i]);
        promise = promised(s, p);
    }
    return promise;
}

// A step inside region and limits, in s->step; returns the decrease it promises.
static double find_step(sn_solver *s, region *in) {
    double *p = s->step, *w = state_of(s)->step, promise = 0;
    for (int i = 0; i < s->n; i++) {
        state_of(s)->open[i] = s->keep[i];
        p[i] = 0;
    }
    in->target = -1;
    for (int round = 0; round < 20; round++) {
        precondition(s, &in->shift);
        conjugate_gradients(s, p, in);
        if (!advance(s, p, w, &promise)) break;
    }
    return promise > 0 ? promise : descend(s, p, w, in->radius);
}

// A third of the way to the minimum of a model whose Hessian is D^2: with the whole way, more of
// the poor starts end in a worse minimum.
static double first_radius(const sn_solver *s) {
    double square = 0;
    for (int i = 0; i < s->n; i++)
        if (s->keep[i]) square += s->ws->g[i] * s->ws->g[i] / s->scale[i];
    return 0.3 * sqrt(square);
}

static void run(sn_solver *s) {
    region in = {.radius = -1};
    double first_f = s->f;
    bool fresh = true;  // the pose has changed
    if (!sn_solver_eval(s, s->q, SN_EVAL_HESSIAN, &s->f)) {
        sn_solver_stalled(s);
        return;
    }
    while (!sn_solver_finished(s)) {
        sn_trace trace = {.exact = true};
        double before = s->f, f = NAN;
        if (in.radius < 0) in.radius = first_radius(s);
        in.indefinite = false;
        double promise = !fresh || find_matrix(s) ? find_step(s, &in) : 0;
        trace.step = sn_solver_move(s, 1, s->step);
        trace.indefinite = in.indefinite;
        bool finite = sn_solver_eval(s, s->trial, 0, &f);
        double fall = before - f, size = sqrt(dot_scaled(s, s->moved, s->moved));
        trace.ratio = promise > 0 ? fall / promise : -1;
        // where f itself is at the end of its digits, the model is trusted instead
        bool blind =
            promise > 0 && promise < 1e-13 * before && fabs(fall) <= 1e-14 * before && f <= first_f;
        fresh = trace.taken = finite && ((trace.ratio > 1e-4 && fall > 0) || blind);
        if (trace.taken) sn_solver_take(s, f);
        sn_solver_iterated(s, &trace);
        if (!(trace.ratio >= 0.25) && !blind) {
            in.radius = 0.25 * fmin(in.radius, size);
        } else if (trace.ratio > 0.75 && size > 0.8 * in.radius) {
            in.radius *= 2;
        }
        bool stuck = !(promise > 0) || in.radius < 1e-15 * sqrt(2 * before);
        if (trace.taken ? !sn_solver_eval(s, s->q, SN_EVAL_HESSIAN, &s->f) : stuck) {
            sn_solver_stalled(s);
            return;
        }
    }
}

const sn_method_ops sn_method_newton_pcg = {layout, true, run};
