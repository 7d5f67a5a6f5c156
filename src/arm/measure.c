// SPDX-License-Identifier: MIT
// How able an arm is, and why it does not get further.
//
// Manipulability w = sqrt(det(J J^T)) is the product of J's singular values, lengths in units of the arm.
#include <string.h>

#include "arm/arm.h"
#include "arm/curves.h"
#include "arm/measure.h"
#include "math/sincos.h"

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

// What moves the tool, seen from the tool, of each move and of each variable. There a move's column
// changes only with the moves behind it:  d b_i / d x_j = [b_i, b_j], j behind i.
typedef struct body {
    sn_twist move[SN_ARM_MOVES], variable[N];
    sn_arm_curves curves;
} body;

static void look(const sn_arm_chain *c, const double *q, body *b, bool bends) {
    double x[SN_ARM_ALL];
    sn_frame f = {m3_identity(), {0, 0, 0}};  // the tool in the frame behind move i
    sn_arm_chain_numbers(c, q, &b->curves, bends, x);
    for (int i = 0; i < c->n; i++) b->variable[i] = (sn_twist){{0, 0, 0}, {0, 0, 0}};
    for (int i = c->m - 1; i >= 0; i--) {
        const sn_arm_move *m = &c->move[i];
        const double at = x[m->variable];
        double s, k;
        f = frame_mul(&c->fixed[i], &f);
        // about z through the origin of f's outer frame, in the tool's own axes
        sn_mat3 back = m3_transpose(&f.R);
        sn_vec3 z = m3_mul(&back, v3(0, 0, 1)), way = m3_mul(&back, v3_cross(v3(0, 0, 1), f.p));
        b->move[i] =
            (sn_twist){v3_scale(m->turn, z), v3_add(v3_scale(m->turn, way), v3_scale(m->slide, z))};
        if (m->variable < N)
            b->variable[m->variable] = twist_add(b->variable[m->variable], 1, b->move[i]);
        for (int j = 0; j < c->n && m->variable >= N; j++)
            b->variable[j] =
                twist_add(b->variable[j], b->curves.slope[m->variable - N][j], b->move[i]);
        sn_sincos(m->turn * at + m->offset, &s, &k);
        sn_frame turned = {{{{k, s, 0}, {-s, k, 0}, {0, 0, 1}}}, {0, 0, m->slide * at}};
        f = frame_mul(&turned, &f);
    }
}

static const sn_frame still = {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {0, 0, 0}};

static int rows_of(const sn_arm_chain *c, const sn_twist *t, double *row) {
    return sn_arm_rows(c, &still, t->a, t->b, row);
}

// The factors L D L^T of what w is made of, D on the diagonal; w. 0 when it is singular.
static double factor(const sn_arm_chain *c, double column[][6], int rows, double A[N][N]) {
    const int n = c->n < rows ? c->n : rows;
    double det = 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double s = 0;
            if (rows <= c->n)
                for (int k = 0; k < c->n; k++) s += column[k][i] * column[k][j];
            else
                for (int k = 0; k < rows; k++) s += column[i][k] * column[j][k];
            for (int k = 0; k < j; k++) s -= A[i][k] * A[j][k] * A[k][k];
            if (i != j)
                A[i][j] = A[j][j] > 0 ? s / A[j][j] : 0;
            else
                A[i][i] = s > 1e-14 ? s : 0, det *= A[i][i];
        }
    return sqrt(det);
}

static double measure(const sn_arm_chain *c, const body *b, double column[][6], int *rows,
                      double A[N][N]) {
    for (int j = 0; j < c->n; j++) *rows = rows_of(c, &b->variable[j], column[j]);
    return factor(c, column, *rows, A);
}

static void solve(double A[N][N], int n, double *x) {
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) x[i] -= A[i][k] * x[k];
    for (int i = 0; i < n; i++) x[i] /= A[i][i];
    for (int i = n - 1; i >= 0; i--)
        for (int k = i + 1; k < n; k++) x[i] -= A[k][i] * x[k];
}

static sn_twist bracket(const sn_twist *a, const sn_twist *b) {
    return (sn_twist){v3_cross(a->a, b->a), v3_add(v3_cross(a->a, b->b), v3_cross(a->b, b->a))};
}

// How much of a move's column a variable has.
static double share(const sn_arm_chain *c, const body *b, int move, int variable) {
    int v = c->move[move].variable;
    return v < N ? v == variable : b->curves.slope[v - N][variable];
}

// dw / dq_k = w sum_j p_j . dc_j / dq_k with P the pseudoinverse's transpose: of C C^T it is
// (C C^T)^-1 c_j, of C^T C the columns of C (C^T C)^-1.
static void slope_of(const sn_arm_chain *c, const body *b, double w, double column[][6], int rows,
                     double A[N][N], double *gradient) {
    double P[N][6];
    for (int j = 0; j < c->n && rows <= c->n; j++) {
        memcpy(P[j], column[j], sizeof P[j]);
        solve(A, rows, P[j]);
    }
    for (int r = 0; r < rows && rows > c->n; r++) {
        double x[N];
        for (int j = 0; j < c->n; j++) x[j] = column[j][r];
        solve(A, c->n, x);
        for (int j = 0; j < c->n; j++) P[j][r] = x[j];
    }
    memset(gradient, 0, (size_t)c->n * sizeof *gradient);
    for (int i = 0; i < c->m; i++) {
        double row[6], dot;
        for (int j = i + 1; j < c->m; j++) {
            const sn_twist change = bracket(&b->move[i], &b->move[j]);
            (void)rows_of(c, &change, row);
            dot = 0;
            for (int v = 0; v < c->n; v++) {
                double part = share(c, b, i, v);
                for (int r = 0; r < rows && part != 0; r++) dot += part * P[v][r] * row[r];
            }
            for (int k = 0; k < c->n; k++) gradient[k] += w * dot * share(c, b, j, k);
        }
        // a curve's own slope changes too
        int curve = c->move[i].variable - N;
        if (curve < 0) continue;
        (void)rows_of(c, &b->move[i], row);
        for (int v = 0; v < c->n; v++) {
            dot = 0;
            for (int r = 0; r < rows; r++) dot += P[v][r] * row[r];
            for (int k = 0; k < c->n; k++) {
                int most = v > k ? v : k, least = v > k ? k : v;
                gradient[k] += w * dot * b->curves.bend[curve][most * (most + 1) / 2 + least];
            }
        }
    }
    for (int k = 0; k < c->n; k++)
        if (c->length_of[k]) gradient[k] /= c->unit;
}

double sn_arm_manipulability(const sn_arm *arm, const double *q, double *gradient) {
    if (arm == NULL || q == NULL) return 0;
    const sn_arm_chain *c = &arm->chain;
    double column[N][6], A[N][N];
    body b;
    int rows = 0;
    look(c, q, &b, gradient != NULL);
    double w = measure(c, &b, column, &rows, A);
    if (gradient != NULL && w > 0) slope_of(c, &b, w, column, rows, A, gradient);
    bool known = w > 0;
    for (int k = 0; gradient != NULL && known && k < c->n; k++) known = isfinite(gradient[k]);
    // none, or beyond what numbers hold: links a million kilometres long
    if (gradient != NULL && !known) memset(gradient, 0, (size_t)c->n * sizeof *gradient);
    return w;
}

bool sn_arm_is_far(const sn_arm_search *s) {
    const sn_arm_chain *c = &s->arm->chain;
    if (c->place_free[0] || c->place_free[1] || c->place_free[2]) return false;
    const double reach = c->length + c->lever;
    const sn_vec3 way = v3_sub(v3_scale(1 / c->unit, s->goal.p), c->base.p);
    return v3_dot(way, way) > reach * reach;
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
    if (c->n >= rows && sn_arm_manipulability(s->arm, q, NULL) < 1e-3)
        report->why = SN_ARM_SINGULAR;
}
