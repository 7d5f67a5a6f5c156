// SPDX-License-Identifier: MIT
// Nearest points of segments m_0 + s a_0 and m_1 + t a_1, s and t in [-1, 1]: the least of
//
//   E(s, t) = 1/2 |m + s a_0 - t a_1|^2 + e/2 (|a_0|^2 (s^2 - 1) + |a_1|^2 (t^2 - 1)),   m = m_0 - m_1
//
// a convex quadratic on a square. Over s in [-1, 1] and any t the least is at the clamped s of the free
// minimum; where its t leaves the square, the minimum of the square lies on that side of it, and is the
// clamped least of a parabola in s.
#include "collide/closest.h"

static double clamp(double x) { return x < -1 ? -1 : x > 1 ? 1 : x; }

// With s and t known.
static void finish(sn_closest *c, const sn_solid *a, const sn_solid *b, sn_vec3 m, double soft) {
    const double aa = v3_dot(a->arm, a->arm), bb = v3_dot(b->arm, b->arm);
    c->r = v3_add(m, v3_sub(v3_scale(c->s, a->arm), v3_scale(c->t, b->arm)));
    c->square = v3_dot(c->r, c->r) + soft * (aa * (c->s * c->s - 1) + bb * (c->t * c->t - 1));
}

static sn_closest closest(const sn_solid *a, const sn_solid *b, double soft) {
    const sn_vec3 m = v3_sub(a->middle, b->middle);
    const double aa = v3_dot(a->arm, a->arm), bb = v3_dot(b->arm, b->arm);
    if (aa == 0 || bb == 0) soft = 0;
    const double ss = aa * (1 + soft), tt = bb * (1 + soft), st = -v3_dot(a->arm, b->arm);
    const double gs = v3_dot(a->arm, m), gt = -v3_dot(b->arm, m);
    const double det = ss * tt - st * st;
    sn_closest c = {.A = {ss, st, tt}};
    bool flat = ss > 0 && tt > 0 && det <= 1e-13 * ss * tt;
    if (ss > 0 && !flat) c.s = clamp(tt > 0 ? (st * gt - tt * gs) / det : -gs / ss);
    if (tt > 0) {
        double t = -(gt + st * c.s) / tt;
        c.t = clamp(t);
        if (t != c.t && ss > 0) c.s = clamp(-(gs + st * c.t) / ss);
    }
    finish(&c, a, b, m, soft);
    // parallel, but for rounding: one of the ends is nearest, or as near as all else
    for (int k = 0; k < 4 && flat; k++) {
        sn_closest e = c;
        const double end = k % 2 == 0 ? -1 : 1;
        if (k < 2) {
            e.s = end;
            e.t = clamp(-(gt + st * end) / tt);
        } else {
            e.t = end;
            e.s = clamp(-(gs + st * end) / ss);
        }
        finish(&e, a, b, m, soft);
        if (e.square < c.square) c = e;
    }
    c.free[0] = ss > 0 && c.s > -1 && c.s < 1;
    c.free[1] = tt > 0 && c.t > -1 && c.t < 1;
    c.p[0] = v3_add(a->middle, v3_scale(c.s, a->arm));
    c.p[1] = v3_add(b->middle, v3_scale(c.t, b->arm));
    return c;
}

sn_closest sn_closest_points(const sn_solid *a, const sn_solid *b) { return closest(a, b, 0); }

sn_closest sn_closest_smooth(const sn_solid *a, const sn_solid *b) {
    return closest(a, b, SN_CLOSEST_SOFT);
}

static double from_plane(const sn_solid *plane, const sn_shape_place *shape, const sn_solid *at) {
    double middle = v3_dot(plane->arm, v3_sub(at->middle, plane->middle));
    return middle - fabs(v3_dot(plane->arm, at->arm)) - shape->radius;
}

double sn_shapes_distance(const sn_shape_place *a, const sn_solid *pa, const sn_shape_place *b,
                          const sn_solid *pb) {
    bool plane_a = a->type == SN_SHAPE_PLANE, plane_b = b->type == SN_SHAPE_PLANE;
    if (plane_a && plane_b) return INFINITY;
    if (plane_a) return from_plane(pa, b, pb);
    if (plane_b) return from_plane(pb, a, pa);
    return v3_norm(sn_closest_points(pa, pb).r) - a->radius - b->radius;
}
