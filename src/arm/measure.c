// SPDX-License-Identifier: MIT
// How able an arm is, and why it does not get further.
//
// Manipulability w = sqrt(det(J J^T)) is the product of J's singular values, lengths in units of the arm.
#include <string.h>

#include "arm/arm.h"
#include "arm/measure.h"

enum { N = SN_ARM_MAX };

int sn_arm_rows(const sn_arm_chain *c, const sn_frame *goal, sn_vec3 turn, sn_vec3 way,
                double row[6]) {
    int n = 0;
    if (c->rotation == SN_ARM_ROTATION_ALL) {
        row[n++] = turn.x, row[n++] = turn.y, row[n++] = turn.z;
    } else if (c->rotation == SN_ARM_ROTATION_AXIS) {
        sn_vec3 z = m3_mul(&goal->R, c->axis);
        sn_vec3 x = v3_cross(z, fabs(z.x) < 0.7 ? v3_unit(0) : v3_unit(1));
        x = v3_scale(1 / v3_norm(x), x);
        row[n++] = v3_dot(x, turn), row[n++] = v3_dot(v3_cross(z, x), turn);
    }
    for (int k = 0; k < 3; k++)
        if (!c->place_free[k]) row[n++] = v3_dot(goal->R.c[k], way);
    return n;
}

int sn_arm_columns(const sn_arm_chain *c, const double *q, const sn_frame *goal, sn_frame *tool,
                   double column[][6]) {
    sn_twist t[N];
    int rows = 0;
    *tool = sn_arm_chain_twists(c, q, t);
    for (int j = 0; j < c->n; j++) {
        sn_vec3 way = v3_add(t[j].b, v3_cross(t[j].a, tool->p));
        double metres = c->length_of[j] ? 1 : 1 / c->unit, turns = c->length_of[j] ? c->unit : 1;
        rows = sn_arm_rows(c, goal != NULL ? goal : tool, v3_scale(turns, t[j].a),
                           v3_scale(metres, way), column[j]);
    }
    return rows;
}

// det of a symmetric positive matrix by its factors, which replace it; 0 when it is singular.
static double factor(double *A, int n) {
    double det = 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double s = A[i * N + j];
            for (int k = 0; k < j; k++) s -= A[i * N + k] * A[j * N + k] * A[k * N + k];
            if (i != j)
                A[i * N + j] = A[j * N + j] > 0 ? s / A[j * N + j] : 0;
            else
                A[i * N + i] = s > 1e-14 ? s : 0, det *= A[i * N + i];
        }
    return det;
}

static double measure(const sn_arm_chain *c, const double *q) {
    double column[N][6], A[N * N];
    sn_frame tool;
    int rows = sn_arm_columns(c, q, NULL, &tool, column), n = c->n < rows ? c->n : rows;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double s = 0;
            if (rows <= c->n)
                for (int k = 0; k < c->n; k++) s += column[k][i] * column[k][j];
            else
                for (int k = 0; k < rows; k++) s += column[i][k] * column[j][k];
            A[i * N + j] = s;
        }
    return sqrt(factor(A, n));
}

double sn_arm_manipulability(const sn_arm *arm, const double *q, double *gradient) {
    if (arm == NULL || q == NULL) return 0;
    const sn_arm_chain *c = &arm->chain;
    double w = measure(c, q);
    if (gradient == NULL) return w;
    // dw by differences of fourth order: good to ten digits, for every kind of chain and what counts
    double at[N];
    memcpy(at, q, (size_t)c->n * sizeof *at);
    for (int j = 0; j < c->n; j++) {
        const double h = 1e-3 * (c->length_of[j] ? c->unit : 1);
        double side[4];
        for (int k = 0; k < 4; k++) {
            at[j] = q[j] + h * (k < 2 ? k - 2 : k - 1);
            side[k] = measure(c, at);
        }
        at[j] = q[j];
        gradient[j] = (side[0] - 8 * side[1] + 8 * side[2] - side[3]) / (12 * h);
    }
    return w;
}

bool sn_arm_is_far(const sn_arm_search *s) {
    const sn_arm_chain *c = &s->arm->chain;
    if (c->place_free[0] || c->place_free[1] || c->place_free[2]) return false;
    double reach = c->length + c->lever;
    return v3_norm(v3_sub(v3_scale(1 / c->unit, s->goal.p), c->base.p)) > reach;
}

void sn_arm_why_not(const sn_arm_search *s, const double *q, sn_arm_report *report) {
    const sn_arm_chain *c = &s->arm->chain;
    double column[N][6], e[6], most = 0;
    sn_frame tool;
    sn_vec3 place, turn;
    int rows = sn_arm_columns(c, q, &s->goal, &tool, column);
    sn_arm_chain_error(c, &tool, &s->goal, &place, &turn);
    place = v3_scale(1 / c->unit, place);
    (void)sn_arm_rows(c, &s->goal, turn, place, e);
    double size = sqrt(v3_dot(place, place) + v3_dot(turn, turn));
    report->why = SN_ARM_POSTURE;
    if (s->timed_out) {
        report->why = SN_ARM_TIME;
        return;
    }
    // which joint at a limit would go on towards the goal
    for (int j = 0; j < c->n; j++) {
        double g = 0;
        for (int i = 0; i < rows; i++) g += column[j][i] * e[i];
        bool low = q[j] <= c->low[j], high = q[j] >= c->high[j];
        if (((low && g < 0) || (high && g > 0)) && fabs(g) > most) {
            most = fabs(g);
            report->joint = j;
        }
    }
    if (sn_arm_is_far(s)) {
        report->why = SN_ARM_FAR;
        return;
    }
    if (report->joint >= 0 && most > 1e-3 * size) {
        report->why = SN_ARM_LIMIT;
        return;
    }
    report->joint = -1;
    if (c->n >= rows && measure(c, q) < 1e-3) report->why = SN_ARM_SINGULAR;
}
