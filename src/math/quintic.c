// SPDX-License-Identifier: MIT
// The natural quintic spline.
//
// Between two knots it is the polynomial of degree five with the values f, slopes v and bends a of both ends. With
// d = f1 - f0 and h the distance, its third and fourth derivatives are
//
//   left   s3 = (60 d - 36 h v0 - 24 h v1 - 9 h2 a0 + 3 h2 a1) / h3
//          s4 = (-360 d + 192 h v0 + 168 h v1 + 36 h2 a0 - 24 h2 a1) / h4
//   right  s3 = (60 d - 24 h v0 - 36 h v1 - 3 h2 a0 + 9 h2 a1) / h3
//          s4 = (360 d - 168 h v0 - 192 h v1 - 24 h2 a0 + 36 h2 a1) / h4
//
// At an inner knot both agree from both sides, at the ends both are 0: two equations a knot in its own v and a and
// those of its neighbours, with the matrix of a sum of squares (the integral that is least), so that elimination from
// the first knot to the last needs no exchanges.
#include "math/quintic.h"

#include <stddef.h>

// The piece that begins at a knot as a sum of squares in (v0, a0, v1, a1): both diagonal blocks, the block between,
// and what the values push with. The first derivatives of half the integral: s4 against v, -s3 against a.
typedef struct piece {
    double first[3], last[3];  // vv, va, aa
    double between[2][2];      // rows v0, a0; columns v1, a1
    double push[4];
} piece;

static piece piece_between(const sn_quintic_knot *k) {
    double h = k[1].t - k[0].t, d = k[1].f - k[0].f, h2 = h * h, h3 = h2 * h, h4 = h3 * h;
    return (piece){.first = {192 / h3, 36 / h2, 9 / h},
                   .last = {192 / h3, -36 / h2, 9 / h},
                   .between = {{168 / h3, -24 / h2}, {24 / h2, -3 / h}},
                   .push = {360 * d / h4, 60 * d / h3, 360 * d / h4, -60 * d / h3}};
}

void sn_quintic_fit(int n, sn_quintic_knot *knot, double *work) {
    for (int i = 0; i < n; i++) knot[i].slope = knot[i].bend = 0;
    if (n == 2) knot[0].slope = knot[1].slope = (knot[1].f - knot[0].f) / (knot[1].t - knot[0].t);
    if (n < 3) return;
    double diagonal[3] = {0, 0, 0}, right[2] = {0, 0};
    for (int i = 0; i < n; i++) {
        piece p = {0};
        if (i + 1 < n) p = piece_between(knot + i);
        double a = diagonal[0] + p.first[0], b = diagonal[1] + p.first[1];
        double c = diagonal[2] + p.first[2], det = a * c - b * b;
        double x = right[0] + p.push[0], y = right[1] + p.push[1];
        // the block's inverse times what goes to the next knot, and times the right side
        double *w = work + 6 * (size_t)i;
        for (int k = 0; k < 2; k++) {
            w[k] = (c * p.between[0][k] - b * p.between[1][k]) / det;
            w[2 + k] = (a * p.between[1][k] - b * p.between[0][k]) / det;
        }
        w[4] = (c * x - b * y) / det;
        w[5] = (a * y - b * x) / det;
        diagonal[0] = p.last[0] - p.between[0][0] * w[0] - p.between[1][0] * w[2];
        diagonal[1] = p.last[1] - p.between[0][0] * w[1] - p.between[1][0] * w[3];
        diagonal[2] = p.last[2] - p.between[0][1] * w[1] - p.between[1][1] * w[3];
        right[0] = p.push[2] - p.between[0][0] * w[4] - p.between[1][0] * w[5];
        right[1] = p.push[3] - p.between[0][1] * w[4] - p.between[1][1] * w[5];
    }
    for (int i = n - 1; i >= 0; i--) {
        double v = i + 1 < n ? knot[i + 1].slope : 0, a = i + 1 < n ? knot[i + 1].bend : 0;
        const double *w = work + 6 * (size_t)i;
        knot[i].slope = w[4] - w[0] * v - w[1] * a;
        knot[i].bend = w[5] - w[2] * v - w[3] * a;
    }
}

double sn_quintic_at(int n, const sn_quintic_knot *knot, double t) {
    int low = 0, high = n - 1;
    if (!(t > knot[low].t) || !(t < knot[high].t)) {
        const sn_quintic_knot *k = &knot[t > knot[low].t ? high : low];
        double x = t - k->t;
        return k->f + x * (k->slope + 0.5 * x * k->bend);
    }
    while (high - low > 1) {
        int mid = low + (high - low) / 2;
        if (knot[mid].t <= t)
            low = mid;
        else
            high = mid;
    }
    const sn_quintic_knot *k = &knot[low];
    double h = k[1].t - k->t, u = (t - k->t) / h, d = k[1].f - k->f;
    double v0 = h * k->slope, v1 = h * k[1].slope;
    double a0 = 0.5 * h * h * k->bend, a1 = 0.5 * h * h * k[1].bend;
    // what the left end's parabola misses of value, slope and bend at the right end
    double value = d - v0 - a0, slope = v1 - v0 - 2 * a0, bend = a1 - a0;
    double c3 = 10 * value - 4 * slope + bend;
    double c4 = -15 * value + 7 * slope - 2 * bend;
    double c5 = 6 * value - 3 * slope + bend;
    return k->f + u * (v0 + u * (a0 + u * (c3 + u * (c4 + u * c5))));
}
