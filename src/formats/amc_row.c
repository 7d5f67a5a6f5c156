// SPDX-License-Identifier: MIT
// From a pose back to an AMC row: the root's rotation as three angles near those of before.
//
// For R = R_A(a) R_B(b) R_C(c), with A B C a permutation of the axes and s its sign,
//
//   R e_C = cos b (cos a e_C - s sin a e_B) + s sin b e_A
//
// gives a, up to half a turn, unless cos b = 0. With a known, R_A(-a) R = R_B R_C gives b and c
// without any division, so the three angles give back R to the last bits even where a is poorly
// determined: there a may be anything, and the previous one is the best choice.
#include <math.h>

#include "formats/skeleton.h"

static const double pi = 3.14159265358979323846;

// Below this cos b the direction that gives a is rounding noise.
static const double locked = 1e-12;

static double at(const sn_mat3 *R, int row, int column) { return v3_at(R->c[column], row); }

// Whole turns added, so that x is within half a turn of `near`.
static double unwrap(double x, double near) { return x + 2 * pi * round((near - x) / (2 * pi)); }

// R_B R_C, given a: rows A and C of R turned back.
static void inner_angles(const sn_mat3 *R, const int order[3], double s, double angle[3]) {
    int A = order[0], B = order[1], C = order[2];
    double sa, ca;
    sn_sincos(angle[A], &sa, &ca);
    // row C of R_A(-a) R; e_A x e_B = s e_C, so turning back mixes rows B and C
    double cc = ca * at(R, C, C) - s * sa * at(R, B, C);
    double ba = ca * at(R, B, A) + s * sa * at(R, C, A);
    double bb = ca * at(R, B, B) + s * sa * at(R, C, B);
    angle[B] = atan2(s * at(R, A, C), cc);
    angle[C] = atan2(s * ba, bb);
}

static double distance(const double x[3], const double y[3]) {
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sum;
}

// Angles about x, y, z (as they apply in `axes`, innermost first) that give R, nearest to `near`.
static void euler_near(const sn_mat3 *R, const sn_axes *axes, const double near[3], double out[3]) {
    const int order[3] = {axes->axis[2], axes->axis[1], axes->axis[0]};
    int A = order[0], B = order[1], C = order[2];
    double s = (B - A + 3) % 3 == 1 ? 1 : -1, best = INFINITY;
    double y = -s * at(R, B, C), x = at(R, C, C);
    // a, and the same half a turn away with b on the other side
    for (int side = 0; side < 2; side++) {
        double angle[3];
        angle[A] = hypot(x, y) < locked ? near[A] : atan2(y, x) + side * pi;
        inner_angles(R, order, s, angle);
        for (int i = 0; i < 3; i++) angle[i] = unwrap(angle[i], near[i]);
        double d = distance(angle, near);
        if (!(d < best) && side > 0) continue;
        best = d;
        for (int i = 0; i < 3; i++) out[i] = angle[i];
    }
}

void sn_skeleton_to_amc_row(const sn_skeleton *skeleton, sn_angle_unit unit, const double *q,
                            const double *previous, double *row) {
    double scale = sn_angle_radians(unit), near[6] = {0}, angle[3];
    const sn_bone *root = &skeleton->bone[0];
    for (int k = 0; previous != NULL && k < root->nvalue; k++)
        near[root->channel[k]] = previous[k] * scale;
    sn_mat3 R = sn_mat3_from_quat((sn_quat){q[3], q[4], q[5], q[6]});
    euler_near(&R, &skeleton->root_order, near + 3, angle);
    for (int k = 0; k < root->nvalue; k++) {
        sn_channel c = root->channel[k];
        row[k] = c < 3 ? q[c] / skeleton->metres : angle[c - 3] / scale;
    }
    for (int i = 1; i < skeleton->njoint; i++) {
        const sn_bone *b = &skeleton->bone[i];
        for (int k = 0; k < b->nvalue; k++) row[b->row + k] = q[b->q[k]] / scale;
    }
}
