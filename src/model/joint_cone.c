// SPDX-License-Identifier: MIT
// Limits of a ball: a cone for its axis, a range for the twist about it.
//
// R = swing twist, with a the axis at rest and d = R a where it points: the swing turns a to d the short way,
// about n = a x d / |a x d|, and the twist turns about a before. With a turn exp(w) of the parent-side frame
//
//   d swing = n . w        d twist = m . w,   m = (a + d) / (1 + a . d)
//
// n and m are at right angles, so that each limit can be kept without touching the other.
//
// In the place of the cone there may be a convex polygon on the sphere of directions d, the reach cone of
// Wilhelms and Van Gelder. Its sides are great circles: a face with the direction k inwards keeps k . d >= 0,
// and is a cone of a right angle about k. What lies outside is put to the nearest point of the polygon.
//
// Or the whole rotation is limited, as a range of MuJoCo's balls is: with R a turn by an angle about u,
// d angle = u . w, and what lies outside goes straight back towards rest.
#include "math/atan2.h"
#include "math/rotation.h"
#include "model/joint.h"

static sn_quat twist_of(const sn_joint *j, const double quat[4]) {
    sn_vec3 a = j->axis;
    double along = a.x * quat[1] + a.y * quat[2] + a.z * quat[3], w = quat[0];
    double norm = sqrt(w * w + along * along);
    if (!(norm > 0)) return (sn_quat){1, 0, 0, 0};  // half a turn over: any twist will do
    w /= norm;
    along /= norm;
    return (sn_quat){w, along * a.x, along * a.y, along * a.z};
}

sn_cone_at sn_cone_measure(const sn_joint *j, const double quat[4]) {
    sn_cone_at at = {0};
    sn_mat3 R = sn_mat3_from_quat((sn_quat){quat[0], quat[1], quat[2], quat[3]});
    sn_vec3 a = j->axis, d = m3_mul(&R, a), across = v3_cross(a, d);
    double sine = v3_norm(across), cosine = v3_dot(a, d);
    sn_quat t = twist_of(j, quat);
    at.tilted = d;
    at.swing = sn_atan2(sine, cosine);
    if (sine > 1e-12) at.n = v3_scale(1 / sine, across);
    double half = sn_atan2(a.x * t.x + a.y * t.y + a.z * t.z, t.w);
    at.twist = 2 * half;
    if (at.twist > 0x1.921fb54442d18p+1) at.twist -= 0x1.921fb54442d18p+2;
    if (at.twist < -0x1.921fb54442d18p+1) at.twist += 0x1.921fb54442d18p+2;
    if (1 + cosine > 1e-9) at.m = v3_scale(1 / (1 + cosine), v3_add(a, d));
    return at;
}

// --- reach cones ---------------------------------------------------------------------------------------

static const double on_face = 1e-13;

static sn_vec3 corner(const sn_joint *j, int i) {
    sn_vec3 v = v3_from(j->reach + 3 * (i % j->nreach));
    double most = fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)));
    v = v3_scale(1 / most, v);
    return v3_scale(1 / v3_norm(v), v);
}

sn_vec3 sn_reach_face(const sn_joint *j, int i) {
    sn_vec3 k = v3_cross(corner(j, i), corner(j, i + 1));
    return v3_scale((j->clockwise ? -1 : 1) / v3_norm(k), k);
}

const char *sn_reach_check(sn_joint *j) {
    if (j->nreach < 3 || j->nreach > SN_MAX_REACH) return "reach needs 3 to 16 directions";
    for (int i = 0; i < j->nreach; i++) {
        double square = 0;
        for (int c = 0; c < 3; c++) {
            if (!isfinite(j->reach[3 * i + c])) return "a direction of reach is not finite";
            square += fabs(j->reach[3 * i + c]);
        }
        if (!(square > 1e-300 && isfinite(square))) return "a direction of reach is zero";
    }
    sn_vec3 first = v3_cross(corner(j, 0), corner(j, 1));
    j->clockwise = v3_dot(first, corner(j, 2)) < 0;
    // every corner lies well inside of all faces that do not end in it
    for (int i = 0; i < j->nreach; i++) {
        if (!(v3_norm(v3_cross(corner(j, i), corner(j, i + 1))) > 1e-6))
            return "neighbours among the directions of reach are alike or opposite";
        for (int k = 2; k < j->nreach; k++)
            if (!(v3_dot(sn_reach_face(j, i), corner(j, i + k)) > 1e-9))
                return "reach must be the corners of a convex polygon, in order";
    }
    return NULL;
}

// Is it in the polygon and on the faces that are held?
static bool fits(const sn_joint *j, unsigned held, sn_vec3 d) {
    for (int i = 0; i < j->nreach; i++) {
        double in = v3_dot(sn_reach_face(j, i), d);
        if (in < -on_face || ((held >> i & 1) && in > on_face)) return false;
    }
    return true;
}

// The nearest direction of the polygon, on the faces that are held (bit i: face i).
static sn_vec3 nearest_inside(const sn_joint *j, unsigned held, sn_vec3 d) {
    if (fits(j, held, d)) return d;
    sn_vec3 best = d;
    double most = -INFINITY;
    for (int i = 0; i < 2 * j->nreach; i++) {
        sn_vec3 p;
        if (i < j->nreach) {
            sn_vec3 k = sn_reach_face(j, i);
            if (held != 0 && held != 1u << i) continue;
            p = v3_sub(d, v3_scale(v3_dot(k, d), k));
            double size = v3_norm(p);
            if (!(size > 1e-9)) continue;
            p = v3_scale(1 / size, p);
            p = v3_sub(p, v3_scale(v3_dot(k, p), k));
        } else {
            p = corner(j, i);
        }
        if (v3_dot(p, d) > most && fits(j, held, p)) most = v3_dot(p, d), best = p;
    }
    // faces that do not meet cannot both be held
    return most == -INFINITY ? nearest_inside(j, 0, d) : best;
}

static void store(sn_quat q, double quat[4]) {
    double sign = q.w * quat[0] + q.x * quat[1] + q.y * quat[2] + q.z * quat[3] < 0 ? -1 : 1;
    quat[0] = sign * q.w;
    quat[1] = sign * q.x;
    quat[2] = sign * q.y;
    quat[3] = sign * q.z;
}

// First the axis, then the twist that this has left, if it is limited.
static bool reach_put(const sn_joint *j, unsigned held, double quat[4]) {
    sn_cone_at at = sn_cone_measure(j, quat);
    sn_vec3 to = nearest_inside(j, held / SN_CONE_FACE, at.tilted);
    bool moved = v3_dot(v3_sub(to, at.tilted), v3_sub(to, at.tilted)) > 0;
    if (moved) {
        sn_quat q = {quat[0], quat[1], quat[2], quat[3]};
        store(sn_quat_mul(sn_quat_between(at.tilted, to, j->u), q), quat);
        at = sn_cone_measure(j, quat);
    }
    double twist = sn_angle_near(at.twist, at.twist, j->twist[0], j->twist[1]);
    if (held & SN_CONE_LOWER) twist = j->twist[0];
    if (held & SN_CONE_UPPER) twist = j->twist[1];
    if (twist == at.twist) return moved;
    store(sn_quat_mul(sn_quat_between(j->axis, to, j->u), sn_quat_exp(v3_scale(twist, j->axis))),
          quat);
    return true;
}

// --- the whole rotation ----------------------------------------------------------------------------------

double sn_turn_measure(const double quat[4], sn_vec3 *axis) {
    sn_vec3 v = v3(quat[1], quat[2], quat[3]);
    double size = v3_norm(v), sign = quat[0] < 0 ? -1 : 1;
    *axis = size > 1e-12 ? v3_scale(sign / size, v) : v3(0, 0, 0);
    return 2 * sn_atan2(size, fabs(quat[0]));
}

static bool turn_put(const sn_joint *j, unsigned held, double quat[4]) {
    sn_vec3 axis;
    double off = sn_turn_measure(quat, &axis) - j->turn;
    if ((held & SN_CONE_TURN ? fabs(off) : off) <= on_face) return false;
    if (v3_dot(axis, axis) == 0) axis = j->u;
    store(sn_quat_exp(v3_scale(j->turn, axis)), quat);
    return true;
}

// --- limits --------------------------------------------------------------------------------------------

bool sn_cone_put(const sn_joint *j, unsigned held, double quat[4]) {
    if (j->nreach > 0) return reach_put(j, held, quat);
    if (j->turn != INFINITY) return turn_put(j, held, quat);
    sn_cone_at at = sn_cone_measure(j, quat);
    double swing = fmin(at.swing, j->swing);
    double twist = sn_angle_near(at.twist, at.twist, j->twist[0], j->twist[1]);
    if (held & SN_CONE_SWING) swing = j->swing;
    if (held & SN_CONE_LOWER) twist = j->twist[0];
    if (held & SN_CONE_UPPER) twist = j->twist[1];
    if (swing == at.swing && twist == at.twist) return false;
    sn_vec3 n = at.n;
    if (v3_dot(n, n) == 0) n = j->u;  // it leans nowhere, or over by half a turn
    sn_quat q = sn_quat_mul(sn_quat_exp(v3_scale(swing, n)), sn_quat_exp(v3_scale(twist, j->axis)));
    store(q, quat);
    return true;
}
