// SPDX-License-Identifier: MIT
// The nearest pose to a goal, by projected Newton steps with the exact Hessian.
//
//   f = |place|^2 / 2 + |turn|^2 / 8, lengths in units of the arm
//
// At a goal out of reach the residual stays, and the curvature that Gauss and Newton leave out is as
// large as what they keep. It is also what leads on where an arm is stretched short of a goal that
// another posture reaches: there the gradient vanishes and a direction of negative curvature does not.
//
// With a_i, J_i the turn and way of the tool that move i makes, e the turn that is left, r the way
// gone too far, and i the outer of two moves,
//
//   g_i  = r . J_i - e . a_i / 4
//   H_ij = J_i . J_j + r . (a_i x J_j) + (a_i . C a_j - e . (a_i x a_j) / 2) / 4
//   C    = n n^T + (t/2) cot(t/2) (1 - n n^T),   e = t n
#include <string.h>

#include "arm/arm.h"
#include "arm/curves.h"
#include "arm/falls.h"
#include "math/rotation.h"
#include "math/sincos.h"

enum { N = SN_ARM_MAX };

// least: of f, what a step must win to be followed by another
static const double turn_weight = 0.25, rounding = 1e-12, least = 1e-7;

typedef struct point {
    double f, g[N], H[N * (N + 1) / 2];  // H: lower triangle
    sn_vec3 r, e;
} point;

#define AT(M, i, j) (M)[(i) * ((i) + 1) / 2 + (j)]

// Axes a and ways J of the moves at the tool, in units; x all numbers that drive them.
static sn_frame place(const sn_arm_chain *c, const double *x, sn_vec3 *a, sn_vec3 *J) {
    sn_frame f = c->base;
    sn_vec3 o[SN_ARM_MOVES];
    for (int i = 0; i < c->m; i++) {
        const sn_arm_move *m = &c->move[i];
        double at = x[m->variable], s, k;
        a[i] = f.R.c[2];
        o[i] = f.p;
        sn_sincos_inline(m->turn * at + m->offset, &s, &k);
        sn_vec3 X = f.R.c[0], Y = f.R.c[1];
        f.R.c[0] = v3_add(v3_scale(k, X), v3_scale(s, Y));
        f.R.c[1] = v3_sub(v3_scale(k, Y), v3_scale(s, X));
        f.p = v3_add(f.p, v3_scale(m->slide * at, a[i]));
        f = frame_mul(&f, &c->fixed[i]);
    }
    for (int i = 0; i < c->m; i++) {
        const sn_arm_move *m = &c->move[i];
        J[i] =
            v3_add(v3_scale(m->turn, v3_cross(a[i], v3_sub(f.p, o[i]))), v3_scale(m->slide, a[i]));
        a[i] = v3_scale(m->turn, a[i]);
    }
    return f;
}

// Rows and columns of curves, shared out among the variables: g = S^T g, H = S^T H S + sum g_k bend_k.
static void share_out(const sn_arm_chain *c, const sn_arm_curves *curves, const double *g,
                      const double *H, point *at) {
    enum { ALL = SN_ARM_ALL };
    double S[ALL][N];
    memset(S, 0, sizeof S);
    for (int i = 0; i < c->n; i++) S[i][i] = 1;
    for (int k = 0; k < c->ncurve; k++) memcpy(S[N + k], curves->slope[k], sizeof S[0]);
    for (int v = 0; v < c->n; v++) {
        at->g[v] = 0;
        for (int i = 0; i < N + c->ncurve; i++) at->g[v] += S[i][v] * g[i];
        for (int w = 0; w <= v; w++) {
            double sum = 0;
            for (int i = 0; i < N + c->ncurve; i++)
                for (int j = 0; j < N + c->ncurve && S[i][v] != 0; j++)
                    sum += S[i][v] * S[j][w] * (i >= j ? AT(H, i, j) : AT(H, j, i));
            for (int k = 0; k < c->ncurve; k++) sum += g[N + k] * AT(curves->bend[k], v, w);
            AT(at->H, v, w) = sum;
        }
    }
}

static void look(const sn_arm_search *s, const double *q, point *at, bool derivatives) {
    const sn_arm_chain *c = &s->arm->chain;
    sn_vec3 a[SN_ARM_MOVES], J[SN_ARM_MOVES];
    sn_arm_curves curves;
    double x[SN_ARM_ALL], more_g[SN_ARM_ALL], more_H[SN_ARM_ALL * (SN_ARM_ALL + 1) / 2];
    double *const g = c->ncurve > 0 ? more_g : at->g, *const H = c->ncurve > 0 ? more_H : at->H;
    sn_arm_chain_numbers(c, q, &curves, derivatives, x);
    sn_frame tool = place(c, x, a, J), goal = s->goal;
    goal.p = v3_scale(1 / c->unit, goal.p);
    sn_arm_chain_error(c, &tool, &goal, &at->r, &at->e);
    at->r = v3_neg(at->r);
    at->f = 0.5 * v3_dot(at->r, at->r) + 0.5 * turn_weight * v3_dot(at->e, at->e);
    if (!derivatives) return;
    double t2 = v3_dot(at->e, at->e), t = sqrt(t2), sine, cosine;
    sn_vec3 n = t > 1e-9 ? v3_scale(1 / t, at->e) : v3(0, 0, 0);
    sn_sincos_inline(0.5 * t, &sine, &cosine);
    const double cot = t > 1e-4 ? 0.5 * t * cosine / sine : 1 - t2 / 12;
    sn_vec3 pointing = m3_mul(&goal.R, c->axis);
    const size_t numbers = c->ncurve > 0 ? SN_ARM_ALL : (size_t)c->n;
    memset(g, 0, numbers * sizeof *g);
    memset(H, 0, numbers * (numbers + 1) / 2 * sizeof *H);
    for (int j = 0; j < c->m; j++) {
        int vj = c->move[j].variable;
        g[vj] += v3_dot(at->r, J[j]) - turn_weight * v3_dot(at->e, a[j]);
        sn_vec3 way = J[j], turn = a[j];
        for (int k = 0; k < 3; k++)
            if (c->place_free[k])
                way = v3_sub(way, v3_scale(v3_dot(way, goal.R.c[k]), goal.R.c[k]));
        if (c->rotation == SN_ARM_ROTATION_NONE) turn = v3(0, 0, 0);
        if (c->rotation == SN_ARM_ROTATION_AXIS)
            turn = v3_sub(turn, v3_scale(v3_dot(turn, pointing), pointing));
        sn_vec3 bent = v3_add(v3_scale(cot, turn), v3_scale((1 - cot) * v3_dot(n, turn), n));
        for (int i = 0; i <= j; i++) {
            int vi = c->move[i].variable;
            double h =
                v3_dot(J[i], way) + v3_dot(at->r, v3_cross(a[i], J[j])) +
                turn_weight * (v3_dot(a[i], bent) - 0.5 * v3_dot(at->e, v3_cross(a[i], a[j])));
            if (vi == vj && i != j) h *= 2;  // both orders of a variable with itself
            if (vi > vj)
                AT(H, vi, vj) += h;
            else
                AT(H, vj, vi) += h;
        }
    }
    if (c->ncurve > 0) share_out(c, &curves, g, H, at);
}

// Factor H + mu of the free variables; -1 when positive, else the variable whose pivot is not, with a
// direction along which f bends down in z.
static int factor(const double *H, const bool *held, int n, double mu, double *L, double *z) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double s = held[i] || held[j] ? (i == j ? 1.0 : 0.0) : AT(H, i, j) + (i == j ? mu : 0);
            for (int k = 0; k < j; k++) s -= AT(L, i, k) * AT(L, j, k) * AT(L, k, k);
            if (i != j) {
                AT(L, i, j) = s / AT(L, j, j);
                continue;
            }
            AT(L, i, i) = s;
            if (s > 1e-13) continue;
            memset(z, 0, (size_t)n * sizeof *z);
            z[i] = 1;
            for (int r = i - 1; r >= 0; r--)
                for (int k = r + 1; k <= i; k++) z[r] -= AT(L, k, r) * z[k];
            return i;
        }
    }
    return -1;
}

static void solve(const double *L, const double *g, const bool *held, int n, double *p) {
    for (int i = 0; i < n; i++) {
        p[i] = held[i] ? 0 : -g[i];
        for (int k = 0; k < i; k++) p[i] -= AT(L, i, k) * p[k];
    }
    for (int i = 0; i < n; i++) p[i] /= AT(L, i, i);
    for (int i = n - 1; i >= 0; i--)
        for (int k = i + 1; k < n; k++) p[i] -= AT(L, k, i) * p[k];
}

// q + p in the model's numbers, inside the limits; angles that go round pass through.
static void move(const sn_arm_chain *c, const double *q, const double *p, double size,
                 double *out) {
    for (int i = 0; i < c->n; i++) {
        out[i] = q[i] + size * p[i] * (c->length_of[i] ? c->unit : 1);
        if (!c->round[i]) out[i] = sn_arm_between(out[i], c->low[i], c->high[i]);
    }
}

static double most(const double *p, int n) {
    double m = 0;
    for (int i = 0; i < n; i++) m = fmax(m, fabs(p[i]));
    return m;
}

// Along a direction of negative curvature, the way that goes down if one does.
static bool slip(const sn_arm_search *s, const double *q, const point *at, const double *z,
                 double *out, point *next) {
    const sn_arm_chain *c = &s->arm->chain;
    double slope = 0, longest = most(z, c->n);
    for (int i = 0; i < c->n; i++) slope += at->g[i] * z[i];
    double size = 0.4;
    for (int tries = 0; tries < 5; tries++, size *= 0.25)  // down to 1.5e-3
        for (int way = 0; way < 2; way++) {
            double sign = (slope > 0) == (way == 0) ? -1 : 1;
            move(c, q, z, sign * size / longest, out);
            look(s, out, next, false);
            if (next->f < at->f) return true;
        }
    return false;
}

void sn_arm_search_nearest(sn_arm_search *s, const double *from, int steps, double *q) {
    const sn_arm_chain *c = &s->arm->chain;
    const int n = c->n;
    double L[N * (N + 1) / 2], p[N], z[N], out[N], mu = 0;
    point at, next;
    const double place = s->arm->options.position_tol / c->unit,
                 turn = s->arm->options.rotation_tol;
    sn_arm_chain_outward(c, from, NULL, q);
    look(s, q, &at, true);
    for (int it = 0; it < steps; it++) {
        bool held[N];
        double slope = 0;
        if (v3_norm(at.r) < 0.1 * place && v3_norm(at.e) < 0.1 * turn) break;
        for (int i = 0; i < n; i++) {
            held[i] = !c->round[i] &&
                      ((q[i] <= c->low[i] && at.g[i] > 0) || (q[i] >= c->high[i] && at.g[i] < 0));
            if (!held[i]) slope = fmax(slope, fabs(at.g[i]));
        }
        s->iterations++;
        // what bends less than this beside the way that is left is flat: freedom that the goal leaves
        const double flat = 1e-5 * fmin(sqrt(2 * at.f), 0.03);
        int bad = factor(at.H, held, n, flat, L, z);
        bool moved = bad >= 0 && slip(s, q, &at, z, out, &next) && next.f < at.f - least * at.f;
        if (bad < 0 && slope < 1e-10 * sqrt(2 * at.f)) break;
        for (int tries = 0; tries < 12 && !moved; tries++) {
            mu = fmax(mu, flat);
            while (factor(at.H, held, n, mu, L, z) >= 0) mu *= 4;
            solve(L, at.g, held, n, p);
            double size = fmin(1, 0.5 / (most(p, n) + 1e-300));
            move(c, q, p, size, out);
            look(s, out, &next, false);
            moved = next.f < at.f;
            mu = moved ? 0.2 * mu : 8 * mu;
        }
        if (!moved) break;
        double won = at.f - next.f;
        memcpy(q, out, (size_t)n * sizeof *q);
        look(s, q, &at, true);
        if (won < least * at.f) break;
    }
    // whole turns back into the limits
    double inner[N];
    sn_arm_chain_inward(c, q, inner);
    sn_arm_chain_outward(c, inner, NULL, q);
    if (c->tied) sn_arm_curves_lead_back(c, q);
}

// --- four or eight at a time --------------------------------------------------------------------------------

bool sn_arm_search_can_fall(const sn_arm *arm) { return arm->chain.direct; }

// Between the kernels' numbers and those of a fall, which are the same for hinges.
static double shift_of(const sn_arm_chain *c, int j) { return c->hinges ? 0 : c->shift[j]; }

// Four lanes of poses, from `first` on, where they begin.
static void set_fall(const sn_arm_chain *c, const sn_arm_fall *fall, int first, sn_arm_falls *x) {
    const size_t four = SN_ARM_LANES * sizeof(double);
    for (int j = 0; j < c->n; j++) {
        const double unit = c->length_of[j] ? c->unit : 1, shift = shift_of(c, j);
        const bool free = c->round[j] || (fall->loose != NULL && fall->loose[j]);
        const double low = free ? -INFINITY : c->hinges ? c->lower[j] : c->low[j] / unit;
        const double high = free ? INFINITY : c->hinges ? c->upper[j] : c->high[j] / unit;
        for (int l = 0; l < SN_ARM_LANES; l++) {
            x->low[j][first + l] = low, x->high[j][first + l] = high;
            // what is at a limit but for rounding is held by it
            const double at = fall->start[l][j] - shift;
            x->q[j][first + l] = at < low + rounding ? low : at > high - rounding ? high : at;
        }
        // what a first step reads and does not use must be numbers
        memset(x->at[j] + first, 0, four);
        memset(x->g[j] + first, 0, four);
        for (int i = 0; i < 3; i++) {
            memset(x->a[j][i] + first, 0, four);
            memset(x->J[j][i] + first, 0, four);
        }
    }
    for (int i = 0; i < c->n * (c->n + 1) / 2; i++) memset(x->H[i] + first, 0, four);
    for (int i = 0; i < 6; i++) memset(x->u[i] + first, 0, four);
    for (int l = first; l < first + SN_ARM_LANES; l++)
        x->f[l] = INFINITY, x->mu[l] = x->stiff[l] = x->out[l] = 0, x->hope[l] = 1;
}

typedef struct falling {
    bool more, rests[SN_ARM_LANES];
    int best;  ///< lane of all
} falling;

// After a step: whether there is another.
static bool falls_on(const sn_arm_fall *fall, const sn_arm_falls *x, int first, falling *own) {
    const double *f = x->f;
    int same = 0;
    own->more = false;
    for (int l = first; l < first + SN_ARM_LANES; l++) {
        if (f[l] < f[own->best]) own->best = l;
        bool *rests = &own->rests[l - first];
        *rests = *rests || x->slope[l] <= 1e-9 * sqrt(f[l]) || x->promise[l] <= fall->share * f[l];
        own->more = own->more || !*rests;
    }
    for (int l = first; l < first + SN_ARM_LANES; l++)
        same += own->rests[l - first] && f[l] < 1.01 * f[own->best];
    return own->more && same < fall->agree && !(2 * f[own->best] < fall->enough);
}

// Whether some of either four rest at one place, the lowest of all.
static bool agree_together(const sn_arm_falls *x, const falling own[2], int enough) {
    const double lowest = fmin(x->f[own[0].best], x->f[own[1].best]);
    int same[2] = {0};
    for (int l = 0; l < SN_ARM_WIDE; l++)
        same[l / SN_ARM_LANES] +=
            own[l / SN_ARM_LANES].rests[l % SN_ARM_LANES] && x->f[l] < 1.01 * lowest;
    return same[0] > 0 && same[1] > 0 && same[0] + same[1] >= enough;
}

void sn_arm_search_fall(sn_arm_search *s, sn_arm_fall *fall, int count) {
    enum { MOST = SN_ARM_WIDE / SN_ARM_LANES };
    const sn_arm *arm = s->arm;
    const sn_arm_chain *c = &arm->chain;
    sn_arm_falls x;
    falling own[MOST] = {{0}};
    sn_frame goal = {s->goal.R, v3_scale(1 / c->unit, s->goal.p)};
    if (c->hinges) goal = frame_mul(&c->before, &goal);
    memcpy(x.goal, &goal, sizeof x.goal);
    for (int g = 0; g < count; g++) {
        own[g].best = SN_ARM_LANES * g;
        own[g].more = true;
        set_fall(c, &fall[g], SN_ARM_LANES * g, &x);
    }
    for (int it = 0, live = count; live > 0; it++) {
        const bool lanes = arm->options.lanes != 1, wide = live == MOST && arm->wide && lanes;
        if (wide) sn_arm_wide_fall(c, &x);
        live = 0;
        for (int g = 0; g < count; g++) {
            if (!own[g].more) continue;
            x.first = SN_ARM_LANES * g;
            if (!wide && arm->wide && lanes)
                sn_arm4_wide_fall(c, &x);
            else if (!wide && arm->avx2 && lanes)
                sn_arm4_avx2_fall(c, &x);
            else if (!wide)
                sn_arm4_fall(c, &x);
            s->iterations++;
            own[g].more = falls_on(&fall[g], &x, x.first, &own[g]) && it + 1 < fall[g].steps;
            live += own[g].more;
        }
        if (count == MOST && ((fall->together > 0 && agree_together(&x, own, fall->together)) ||
                              2 * x.f[own[0].best] < fall->enough))
            break;
    }
    for (int g = 0; g < count; g++) {
        const int best = own[g].best;
        s->seeds += SN_ARM_LANES;
        for (int j = 0; j < c->n; j++) fall[g].q[j] = x.at[j][best] + shift_of(c, j);
        fall[g].f = 2 * x.f[best];
        for (int l = 0; l < SN_ARM_LANES && fall[g].end != NULL; l++)
            for (int j = 0; j < c->n; j++)
                fall[g].end[l][j] = x.at[j][SN_ARM_LANES * g + l] + shift_of(c, j);
    }
}
