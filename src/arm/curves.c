// SPDX-License-Identifier: MIT
// Joints of a chain that follow others by a curve, or follow several: numbers beside those of q. They
// move like variables do, and their columns are then shared out among the variables by their slopes.
#include "arm/curves.h"

#include <string.h>

enum { N = SN_ARM_MAX };

static double unit_of(const sn_arm_chain *c, int number) {
    return c->length_of[number] ? c->unit : 1;
}

static void jet_of(const sn_arm_chain *c, const sn_arm_curve *k, const double *q,
                   const double *value, sn_jet *jet) {
    double at[SN_MAX_LEADERS] = {0};
    for (int i = 0; i < k->driver.f.nargument; i++) {
        const sn_arm_drive *d = &k->leader[i];
        double x = d->variable < 0   ? 0
                   : d->variable < N ? q[d->variable]
                                     : value[d->variable - N] * unit_of(c, d->variable);
        at[i] = d->scale * x + d->offset;
    }
    sn_driver_at(&k->driver, at, jet);
}

void sn_arm_curves_at(const sn_arm_chain *c, const double *q, sn_arm_curves *out, bool bends) {
    for (int k = 0; k < c->ncurve; k++) {
        const sn_arm_curve *curve = &c->curve[k];
        sn_jet jet;
        jet_of(c, curve, q, out->value, &jet);
        const double own = unit_of(c, N + k);
        double slope[SN_MAX_LEADERS][N];
        out->value[k] = jet.f / own;
        memset(out->slope[k], 0, sizeof out->slope[k]);
        if (bends) memset(out->bend[k], 0, sizeof out->bend[k]);
        for (int i = 0; i < curve->driver.f.nargument; i++) {
            // of the argument, by the kernels' numbers
            const sn_arm_drive *d = &curve->leader[i];
            memset(slope[i], 0, sizeof slope[i]);
            if (d->variable >= 0 && d->variable < N)
                slope[i][d->variable] = d->scale * unit_of(c, d->variable);
            if (d->variable >= N)
                for (int v = 0; v < c->n; v++)
                    slope[i][v] =
                        d->scale * unit_of(c, d->variable) * out->slope[d->variable - N][v];
            for (int v = 0; v < c->n; v++) out->slope[k][v] += jet.d[i] * slope[i][v] / own;
            if (bends && d->variable >= N)
                for (int v = 0; v < c->n * (c->n + 1) / 2; v++)
                    out->bend[k][v] += jet.d[i] * d->scale * unit_of(c, d->variable) / own *
                                       out->bend[d->variable - N][v];
        }
        for (int i = 0; i < curve->driver.f.nargument && bends; i++)
            for (int j = 0; j < curve->driver.f.nargument; j++) {
                const double dd = (i >= j ? jet.dd[i][j] : jet.dd[j][i]) / own;
                for (int v = 0; v < c->n && dd != 0; v++)
                    for (int w = 0; w <= v; w++)
                        out->bend[k][v * (v + 1) / 2 + w] += dd * slope[i][v] * slope[j][w];
            }
    }
}

// How far a follower of several is outside its limits, with a sign.
static double outside(const sn_arm_curve *k, double x) {
    return x < k->lower ? k->lower - x : x > k->upper ? k->upper - x : 0;
}

bool sn_arm_curves_inside(const sn_arm_chain *c, const double *q) {
    if (!c->tied) return true;
    sn_arm_curves at;
    sn_arm_curves_at(c, q, &at, false);
    for (int k = 0; k < c->ncurve; k++)
        if (c->curve[k].limited && outside(&c->curve[k], at.value[k] * unit_of(c, N + k)) != 0)
            return false;
    return true;
}

void sn_arm_curves_lead_back(const sn_arm_chain *c, double *q) {
    for (int round = 0; round < 60 && !sn_arm_curves_inside(c, q); round++)
        for (int k = 0; k < c->ncurve; k++) {
            sn_arm_curves at;
            if (!c->curve[k].limited) continue;
            sn_arm_curves_at(c, q, &at, false);
            const double own = unit_of(c, N + k), x = at.value[k] * own;
            // a hair inside, so that rounding does not bring it out again
            double miss = outside(&c->curve[k], x), square = 0;
            miss += (miss > 0) * 1e-14 * (round + 1) - (miss < 0) * 1e-14 * (round + 1);
            for (int pass = 0; pass < 2 && miss != 0; pass++)
                for (int v = 0; v < c->n; v++) {
                    double d = at.slope[k][v] * own / unit_of(c, v), way = miss * d;
                    if (way == 0 || (way > 0 ? q[v] >= c->high[v] : q[v] <= c->low[v])) continue;
                    if (pass == 0)
                        square += d * d;
                    else
                        q[v] = fmin(fmax(q[v] + fmin(fmax(way / square, -0.5), 0.5), c->low[v]),
                                    c->high[v]);
                }
        }
}
