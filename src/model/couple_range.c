// SPDX-License-Identifier: MIT
// Where a function of one number stays between two values. The function is walked through in pieces
// on which it rises or falls: its knots, or fine steps of a stretch beyond which it turns no more,
// parted where the slope changes its sign. On each piece the allowed part is one interval, and its
// ends are found by halving, a hair inside: the function's own value is inside at every number up to
// them, to the last bit.
#include "model/model.h"

typedef struct walk {
    const sn_driver *driver;
    double low, high;  // of the value
    bool open;         // the last piece ended inside
    double start;      // where the present run of allowed numbers began
    double end;
    bool any;
    double best_start, best_end;
} walk;

static double value(const walk *w, double x) {
    sn_jet jet;
    sn_driver_at(w->driver, &x, &jet);
    return jet.f;
}

static double slope(const sn_driver *driver, double x) {
    sn_jet jet;
    sn_driver_at(driver, &x, &jet);
    return jet.d[0];
}

static bool inside(const walk *w, double x) {
    double f = value(w, x);
    return f >= w->low && f <= w->high;
}

// Inside by more than the function's rounding, which is not the same from one number to the next.
static bool well_inside(const walk *w, double x) {
    double f = value(w, x), size = fabs(f);
    if (isfinite(w->low)) size = fmax(size, fabs(w->low));
    if (isfinite(w->high)) size = fmax(size, fabs(w->high));
    double hair = 16 * 2.220446049250313e-16 * size;
    return f >= w->low + hair && f <= w->high - hair;
}

// Between `in`, which passes, and `out`, which does not: the last number that passes.
static double last(const walk *w, bool (*passes)(const walk *, double), double in, double out) {
    for (int i = 0; i < 2100; i++) {
        double middle = 0.5 * in + 0.5 * out;
        if (middle == in || middle == out) break;
        if (passes(w, middle)) {
            in = middle;
        } else {
            out = middle;
        }
    }
    return in;
}

// Between `in`, which is inside, and `out`, which is not: where the allowed numbers end, a hair before
// the last one, so that all up to there are inside.
static double edge(const walk *w, double in, double out) {
    return last(w, well_inside(w, in) ? well_inside : inside, in, out);
}

static void close_run(walk *w) {
    if (!w->open) return;
    w->open = false;
    double width = w->end - w->start, best = w->best_end - w->best_start;
    double away = fmax(fmax(w->start, -w->end), 0),
           far = fmax(fmax(w->best_start, -w->best_end), 0);
    if (w->any && (width < best || (width == best && away >= far))) return;
    w->any = true;
    w->best_start = w->start;
    w->best_end = w->end;
}

// A piece from a to b on which the function rises or falls.
static void walk_piece(walk *w, double a, double b) {
    bool at_a = inside(w, a), at_b = inside(w, b);
    double from = a, to = b;
    if (at_a && !at_b) to = edge(w, a, b);
    if (!at_a && at_b) from = edge(w, b, a);
    if (!at_a && !at_b) {
        // it may pass through: where it is nearest to the middle of the allowed values
        bool rises = value(w, b) > value(w, a);
        double left = a, right = b;
        for (int i = 0; i < 2100; i++) {
            double middle = 0.5 * left + 0.5 * right;
            if (middle == left || middle == right || inside(w, middle)) break;
            bool below = value(w, middle) < w->low;
            if (below == rises) {
                left = middle;
            } else {
                right = middle;
            }
        }
        double middle = 0.5 * left + 0.5 * right;
        if (!inside(w, middle)) {
            close_run(w);
            return;
        }
        from = edge(w, middle, a);
        to = edge(w, middle, b);
    }
    if (!(w->open && from == a)) {
        close_run(w);
        w->open = true;
        w->start = from;
    }
    w->end = to;
    if (to != b) close_run(w);
}

// Part [a, b] where the slope changes its sign.
static void walk_stretch(walk *w, double a, double b) {
    if (!(a < b)) return;
    double left = a, right = b, before = slope(w->driver, a), after = slope(w->driver, b);
    if (before * after < 0) {
        for (int i = 0; i < 200; i++) {
            double middle = 0.5 * left + 0.5 * right;
            if (middle == left || middle == right) break;
            if (slope(w->driver, middle) * before > 0) {
                left = middle;
            } else {
                right = middle;
            }
        }
        walk_piece(w, a, left);
        if (left < b) walk_piece(w, left, b);
        return;
    }
    walk_piece(w, a, b);
}

// A number beyond which the function only rises or only falls, as far as the limits matter.
static double reach(const sn_driver *driver, double low, double high) {
    const sn_function *f = &driver->f;
    double size = (isfinite(low) ? fabs(low) : 0) + (isfinite(high) ? fabs(high) : 0);
    double most = 1;
    if (f->type == SN_FUNCTION_SINE) return 100 / fmax(fabs(f->y[1]), 1e-3);
    if (f->nx > 0) {
        for (int end = 0; end < 2; end++) {
            double x = end == 0 ? f->x[0] - 1 : f->x[f->nx - 1] + 1, d = slope(driver, x);
            sn_jet jet;
            sn_driver_at(driver, &x, &jet);
            most = fmax(most, fabs(x) + (d != 0 ? 2 * (size + fabs(jet.f)) / fabs(d) : 0));
        }
        return most;
    }
    // Cauchy's bound on the roots of f - limit and of its derivatives
    double coefficients = 0, top = 0;
    int degree = f->type == SN_FUNCTION_LINEAR ? 1 : f->ny - 1;
    const double lead = fabs(f->scale);
    for (int i = 0; i <= degree; i++) {
        double c = f->y[f->type == SN_FUNCTION_LINEAR ? 1 - i : i];
        if (c != 0) top = fabs(c);
        coefficients += fabs(c) * (i + 1);
    }
    if (!(top * lead > 0)) return 1;
    return 2 + 2 * (coefficients + size / lead) / top;
}

// The same in equal parts.
static void walk_parts(walk *w, double a, double b, int parts) {
    double at = a;
    for (int i = 1; i <= parts; i++) {
        double r = (double)i / parts, to = i == parts ? b : a * (1 - r) + b * r;
        walk_stretch(w, at, to);
        at = to;
    }
}

bool sn_driver_range(const sn_driver *driver, double low, double high, double *lower,
                     double *upper) {
    walk w = {.driver = driver, .low = low, .high = high};
    const sn_function *f = &driver->f;
    double far = reach(driver, low, high);
    double a = *lower == -INFINITY ? fmin(-far, *upper - 1) : *lower;
    double b = *upper == INFINITY ? fmax(far, *lower + 1) : *upper;
    if (a == b) return inside(&w, a);
    if (f->nx > 0) {
        double at = a;
        for (int k = 0; k < f->nx; k++) {
            if (f->x[k] <= at || f->x[k] >= b) continue;
            // a cubic's slope may change its sign twice between two knots
            walk_parts(&w, at, f->x[k], 16);
            at = f->x[k];
        }
        walk_parts(&w, at, b, 16);
    } else {
        walk_parts(&w, a, b, f->type == SN_FUNCTION_LINEAR ? 1 : 4096);
    }
    close_run(&w);
    if (!w.any) return false;
    // what is allowed up to a made-up end is allowed beyond it
    if (w.best_start > a || *lower != -INFINITY) *lower = w.best_start;
    if (w.best_end < b || *upper != INFINITY) *upper = w.best_end;
    return true;
}
