// SPDX-License-Identifier: MIT
// A rotation as angles near those of before.
//
// For R = R_A(a) R_B(b) R_C(c), with D the axis that is neither A nor B and s the sign of (A B D),
//
//   C = D:  R e_D = cos b (cos a e_D - s sin a e_B) + s sin b e_A
//   C = A:  R e_A = sin b (sin a e_B - s cos a e_D) + cos b e_A
//
// gives a, up to half a turn, unless the factor before the brackets is zero. With a known,
// S = R_A(-a) R = R_B R_C gives b and c without any division, so the three angles give back R to the
// last bits even where a is poorly determined: there a may be anything, and the previous one is the
// best choice.
//
// Two angles alone have no such freedom:
//
//   R_A(a) R_B(b) e_B = cos a e_B + s sin a e_D        (R_A R_B)^T e_A = cos b e_A + s sin b e_D
#include "math/euler_near.h"

#include <math.h>

#include "math/atan2.h"
#include "math/round.h"
#include "math/vec3.h"

static const double pi = 3.14159265358979323846;

// Below this the direction that gives a is rounding noise.
static const double locked = 1e-12;

static double at(const sn_mat3 *R, int row, int column) { return v3_at(R->c[column], row); }

// Whole turns added, so that x is within half a turn of `near`.
static double unwrap(double x, double near) { return x + 2 * pi * sn_round((near - x) / (2 * pi)); }

// b and c, given a.
static void inner_angles(const int order[3], const sn_mat3 *R, double angle[3]) {
    int A = order[0], B = order[1], D = 3 - A - B;
    double s = (B - A + 3) % 3 == 1 ? 1 : -1, sa, ca;
    sn_sincos(angle[0], &sa, &ca);
    // rows B and D of S; e_A x e_B = s e_D, so turning back mixes them
#define ROW_B(column) (ca * at(R, B, column) + s * sa * at(R, D, column))
#define ROW_D(column) (ca * at(R, D, column) - s * sa * at(R, B, column))
    if (order[2] == D) {
        angle[1] = sn_atan2(s * at(R, A, D), ROW_D(D));
        angle[2] = sn_atan2(s * ROW_B(A), ROW_B(B));
    } else {
        angle[1] = sn_atan2(-s * ROW_D(A), at(R, A, A));
        angle[2] = sn_atan2(-s * ROW_B(D), ROW_B(B));
    }
#undef ROW_B
#undef ROW_D
}

static double distance(const double x[3], const double y[3]) {
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sum;
}

static void three_angles(const int order[3], const sn_mat3 *R, const double near[3],
                         double out[3]) {
    int A = order[0], B = order[1], C = order[2], D = 3 - A - B;
    double s = (B - A + 3) % 3 == 1 ? 1 : -1, best = INFINITY;
    double y = C == D ? -s * at(R, B, D) : at(R, B, A);
    double x = C == D ? at(R, D, D) : -s * at(R, D, A);
    // a, and the same half a turn away with b on the other side
    for (int side = 0; side < 2; side++) {
        double angle[3];
        angle[0] = sqrt(x * x + y * y) < locked ? near[0] : sn_atan2(y, x) + side * pi;
        inner_angles(order, R, angle);
        for (int i = 0; i < 3; i++) angle[i] = unwrap(angle[i], near[i]);
        double d = distance(angle, near);
        if (!(d < best) && side > 0) continue;
        best = d;
        for (int i = 0; i < 3; i++) out[i] = angle[i];
        // the other is half a turn away in two of them: further than this
        if (d < 1) break;
    }
}

void sn_euler_near(const int *order, int n, const sn_mat3 *R, const double *near, double *out) {
    if (n == 3) {
        three_angles(order, R, near, out);
    } else if (n == 2) {
        int A = order[0], B = order[1], D = 3 - A - B;
        double s = (B - A + 3) % 3 == 1 ? 1 : -1;
        out[0] = unwrap(sn_atan2(s * at(R, D, B), at(R, B, B)), near[0]);
        out[1] = unwrap(sn_atan2(s * at(R, A, D), at(R, A, A)), near[1]);
    } else if (n == 1) {
        int B = (order[0] + 1) % 3, D = (order[0] + 2) % 3;
        out[0] = unwrap(sn_atan2(at(R, D, B), at(R, B, B)), near[0]);
    }
}
