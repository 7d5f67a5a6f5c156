// SPDX-License-Identifier: MIT
// The documents' procedures, transcribed line by line: as the text prints them and as docs/errata.md corrects
// them. 004's Algorithms 1 to 13; the others' are in test_procedures_others.c.
// The truth beside them is forward kinematics by composing frames, and its differences.
#include "errata.h"

#include "dense.h"

typedef enum form { PRINTED, RIGHT } form;

enum { M = 6, EFFECTORS = 3, COORDINATES = 3 * M };

// 004's B, O and q. A parent of -1 is the fixed frame.
typedef struct system004 {
    int m, n;
    int parent[M];
    sn_vec3 k[M], d[M], p[M];
    sn_mat3 Rc[M];
    int joint[EFFECTORS];
    sn_vec3 pe[EFFECTORS], goal[EFFECTORS];
    double q[M];
} system004;

static sn_frame parent_frame(const system004 *s, const sn_frame *of, int j) {
    return s->parent[j] < 0 ? (sn_frame){.R = m3_identity()} : of[s->parent[j]];
}

static void compose(const system004 *s, sn_vec3 *out) {
    sn_frame world[M];
    for (int j = 0; j < s->m; j++) {
        sn_frame before = parent_frame(s, world, j), offset = {s->Rc[j], s->p[j]};
        sn_frame motion = {m3_identity(), v3_scale(s->q[j], s->d[j])};
        if (v3_norm(s->k[j]) > 0) motion.R = turn(s->k[j], s->q[j]);
        sn_frame placed = frame_mul(&before, &offset);
        world[j] = frame_mul(&placed, &motion);
    }
    for (int i = 0; i < s->n; i++)
        out[i] = v3_add(world[s->joint[i]].p, apply(world[s->joint[i]].R, s->pe[i]));
}

// 3n x m by central differences
static void differences(const system004 *s, double J[][M]) {
    const double h = 1e-6;
    for (int j = 0; j < s->m; j++) {
        system004 a = *s, b = *s;
        sn_vec3 x[EFFECTORS], y[EFFECTORS];
        a.q[j] += h;
        b.q[j] -= h;
        compose(&a, x);
        compose(&b, y);
        for (int i = 0; i < s->n; i++)
            for (int c = 0; c < 3; c++)
                J[3 * i + c][j] = (v3_at(x[i], c) - v3_at(y[i], c)) / (2 * h);
    }
}

typedef struct placed {
    sn_vec3 omega, d, c;
    sn_mat3 R;
} placed;

// ---- 4.1: an open chain of hinges ----

static void algorithm2(const system004 *s, form f, placed *W) {
    sn_mat3 R = m3_identity();
    sn_vec3 c = v3(0, 0, 0);
    for (int j = 0; j < s->m; j++) {
        c = f == PRINTED ? v3_add(apply(R, c), s->p[j]) : v3_add(c, apply(R, s->p[j]));
        R = times(R, turn(s->k[j], s->q[j]));
        W[j] = (placed){.omega = apply(R, s->k[j]), .R = R, .c = c};
    }
}

// The text has W_i; the joint of an effector is j.
static void algorithm3(const system004 *s, form f, const placed *W, sn_vec3 *E) {
    for (int i = 0; i < s->n; i++) {
        const placed *at = &W[f == PRINTED ? i : s->joint[i]];
        E[i] = v3_add(apply(at->R, s->pe[i]), at->c);
    }
}

static void algorithm4(const system004 *s, int *I) {
    for (int i = 0; i < s->n; i++) I[i] = s->joint[i];
}

// x^T [-omega]_x, a row
static sn_vec3 row_times_minus(sn_vec3 x, sn_vec3 omega) { return v3_cross(omega, x); }

// The text counts j up without having set it: it begins with `start`. X has as many rows as 1_{m x 1} in the text,
// `rows` here; E and J end after n of them. Returns how many entries of the result have no place in J.
static int algorithm5(const system004 *s, int start, int rows, const placed *W, const sn_vec3 *E,
                      const int *I, double J[][M]) {
    int j = start, outside = 0;
    for (int w = 0; w < s->m; w++, j++)
        for (int i = 0; i < rows; i++) {
            if (i >= s->n) {
                outside += 3;
                continue;
            }
            sn_vec3 X = row_times_minus(v3_sub(E[i], W[w].c), W[w].omega);
            for (int c = 0; c < 3; c++) J[3 * i + c][w] = j <= I[i] ? v3_at(X, c) : 0;
        }
    return outside;
}

static void residual_of(const system004 *s, const sn_vec3 *E, double *r) {
    for (int i = 0; i < s->n; i++)
        for (int c = 0; c < 3; c++) r[3 * i + c] = v3_at(E[i], c) - v3_at(s->goal[i], c);
}

static void algorithm6(const system004 *s, form two, form three, double J[][M], double *r) {
    placed W[M];
    sn_vec3 E[EFFECTORS];
    int I[EFFECTORS] = {0};
    algorithm2(s, two, W);
    algorithm3(s, three, W, E);
    algorithm4(s, I);
    (void)algorithm5(s, 0, s->n, W, E, I, J);
    residual_of(s, E, r);
}

// ---- 4.2: a hierarchy of hinges, sliders and screws ----

// R and C have a place for the fixed frame first. As the text prints it, the new frame is stored at the index
// of the parent; a parent of -1 is Numpy's last place.
static void algorithm7(const system004 *s, form f, placed *W) {
    sn_mat3 R[M + 1];
    sn_vec3 C[M + 1];
    for (int i = 0; i <= s->m; i++) {
        R[i] = i == 0 ? m3_identity() : m3_zero();
        C[i] = v3(0, 0, 0);
    }
    for (int j = 1; j <= s->m; j++) {
        int b = j - 1, i = s->parent[b], to = f == RIGHT ? j : i < 0 ? s->m : i;
        sn_mat3 Rc = times(R[i + 1], s->Rc[b]);
        C[to] = v3_add(v3_add(apply(R[i + 1], s->p[b]), C[i + 1]),
                       v3_scale(s->q[b], apply(Rc, s->d[b])));
        R[to] = v3_norm(s->k[b]) > 0 ? times(Rc, turn(s->k[b], s->q[b])) : Rc;
        W[b] = (placed){apply(R[to], s->k[b]), apply(Rc, s->d[b]), C[to], R[to]};
    }
}

static void algorithm8(const system004 *s, const placed *W, sn_vec3 *E) {
    for (int i = 0; i < s->n; i++) {
        const placed *at = &W[s->joint[i]];
        E[i] = v3_add(apply(at->R, s->pe[i]), at->c);
    }
}

// As printed: X_ii marks the parent instead of the joint itself, and the last loop's i never advances, so that
// every effector is written to one column. `own` and `advance` mend the one and the other.
static void algorithm9(const system004 *s, bool own, bool advance, bool I[M][EFFECTORS]) {
    bool X[M][M] = {{false}};
    int i = 0;
    memset(I, 0, sizeof(bool) * M * EFFECTORS);
    for (int j = s->m - 1; j >= 1; j--) {
        i = s->parent[j];
        X[own ? j : i][own ? j : i] = true;
        for (int k = 0; k < s->m; k++) X[i][k] |= X[j][k];
    }
    X[0][0] = true;
    if (advance) i = 0;
    for (int e = 0; e < s->n; e++) {
        for (int k = 0; k < s->m; k++) I[k][i] = X[k][s->joint[e]];
        if (advance) i++;
    }
}

static void algorithm10(const system004 *s, form f, const placed *W, const sn_vec3 *E,
                        bool I[M][EFFECTORS], double J[][M]) {
    for (int j = 0; j < s->m; j++)
        for (int i = 0; i < s->n; i++) {
            sn_vec3 X = row_times_minus(v3_sub(E[i], W[j].c), W[j].omega);
            if (f == RIGHT) X = v3_add(X, W[j].d);
            for (int c = 0; c < 3; c++) J[3 * i + c][j] = I[j][i] ? v3_at(X, c) : 0;
        }
}

typedef struct forms11 {
    form seven;
    bool own, advance;
    form ten;
} forms11;

static void algorithm11(const system004 *s, forms11 f, double J[][M], double *r) {
    placed W[M];
    sn_vec3 E[EFFECTORS];
    bool I[M][EFFECTORS];
    algorithm7(s, f.seven, W);
    algorithm8(s, W, E);
    algorithm9(s, f.own, f.advance, I);
    algorithm10(s, f.ten, W, E, I, J);
    residual_of(s, E, r);
}

static double worst(const system004 *s, double A[][M], double B[][M]) {
    double most = 0;
    for (int i = 0; i < 3 * s->n; i++)
        for (int j = 0; j < s->m; j++) {
            assert_true(isfinite(A[i][j]) && isfinite(B[i][j]));
            most = fmax(most, fabs(A[i][j] - B[i][j]));
        }
    return most;
}

static system004 random_system(uint64_t *state, bool tree) {
    static const int parents[M] = {-1, 0, 1, 1, 3, 0}, effectors[EFFECTORS] = {2, 4, 5};
    system004 s = {.m = M, .n = EFFECTORS};
    for (int j = 0; j < M; j++) {
        s.parent[j] = tree ? parents[j] : j - 1;
        s.k[j] = random_axis(state);
        s.p[j] = random_vector(state);
        s.Rc[j] = tree ? turn(random_vector(state), uniform(state, -2, 2)) : m3_identity();
        s.q[j] = uniform(state, -1, 1);
        // a slider, and a screw
        if (tree && j % 3 == 1) s.d[j] = random_axis(state);
        if (tree && j == 1) s.k[j] = v3(0, 0, 0);
    }
    for (int i = 0; i < EFFECTORS; i++) {
        s.joint[i] = tree ? effectors[i] : 2 * i + 1;
        s.pe[i] = random_vector(state);
    }
    return s;
}

static void chain_of_hinges(void **unused) {
    (void)unused;
    uint64_t state = 21;
    system004 s = random_system(&state, false);
    double J[3 * EFFECTORS][M], truth[3 * EFFECTORS][M], r[3 * EFFECTORS], two, three;
    differences(&s, truth);
    algorithm6(&s, PRINTED, RIGHT, J, r);
    two = worst(&s, J, truth);
    algorithm6(&s, RIGHT, PRINTED, J, r);
    three = worst(&s, J, truth);
    algorithm6(&s, RIGHT, RIGHT, J, r);
    judge("004 Algorithm 6 with 2", two, worst(&s, J, truth), 1e-8);
    judge("004 Algorithm 6 with 3", three, worst(&s, J, truth), 1e-8);

    // Algorithm 5 alone: with any j but 0 at first, joints that carry an effector are left out, or others taken in
    placed W[M];
    sn_vec3 E[EFFECTORS];
    int I[EFFECTORS] = {0};
    double unset[3] = {0};
    algorithm2(&s, RIGHT, W);
    algorithm3(&s, RIGHT, W, E);
    algorithm4(&s, I);
    for (int start = -1; start <= 1; start++) {
        (void)algorithm5(&s, start, s.n, W, E, I, J);
        unset[start + 1] = worst(&s, J, truth);
    }
    judge("004 Algorithm 5, j not set", fmin(unset[0], unset[2]), unset[1], 1e-8);
    judge("004 Algorithm 5, rows of 1_{m x 1}", algorithm5(&s, 0, s.m, W, E, I, J),
          algorithm5(&s, 0, s.n, W, E, I, J), 1);
}

static void hierarchy(void **unused) {
    (void)unused;
    uint64_t state = 22;
    static const struct {
        const char *what;
        forms11 f;
    } cases_[] = {{"004 Algorithm 11 with 7, places", {PRINTED, true, true, RIGHT}},
                  {"004 Algorithm 11 with 9, X_ii", {RIGHT, false, true, RIGHT}},
                  {"004 Algorithm 11 with 9, i stands still", {RIGHT, true, false, RIGHT}},
                  {"004 Algorithm 11 with 10", {RIGHT, true, true, PRINTED}}};
    system004 s = random_system(&state, true);
    double J[3 * EFFECTORS][M], truth[3 * EFFECTORS][M], r[3 * EFFECTORS];
    differences(&s, truth);
    algorithm11(&s, (forms11){RIGHT, true, true, RIGHT}, J, r);
    double right = worst(&s, J, truth);
    for (size_t k = 0; k < sizeof cases_ / sizeof cases_[0]; k++) {
        algorithm11(&s, cases_[k].f, J, r);
        judge(cases_[k].what, worst(&s, J, truth), right, 1e-8);
    }
}

// ---- 4.3: a chain of balls, each three hinges about x, y and z, one effector with its orientation ----

enum { BALLS = 2 };

typedef struct spheres {
    sn_mat3 Rc[BALLS];
    sn_vec3 p[BALLS], pe, we, goal,
        turned;  // the effector's and the wanted place and rotation vector
    double q[3 * BALLS];
} spheres;

static sn_mat3 exponential(sn_vec3 w) { return sn_mat3_from_quat(sn_quat_exp(w)); }

static sn_frame effector_of(const spheres *s) {
    sn_frame at = {.R = m3_identity()}, end = {exponential(s->we), s->pe};
    for (int b = 0; b < BALLS; b++) {
        sn_frame offset = {s->Rc[b], s->p[b]}, motion = {.R = m3_identity()};
        for (int i = 0; i < 3; i++) motion.R = times(motion.R, turn(v3_unit(i), s->q[3 * b + i]));
        at = frame_mul(&at, &offset);
        at = frame_mul(&at, &motion);
    }
    return frame_mul(&at, &end);
}

static void algorithm12(const spheres *s, form f, sn_vec3 *P, sn_vec3 *W, sn_mat3 *R, sn_vec3 *c) {
    *R = m3_identity();
    *c = v3(0, 0, 0);
    for (int b = 0, j = 0; b < BALLS; b++) {
        *c = v3_add(*c, apply(f == PRINTED ? s->Rc[b] : *R, s->p[b]));
        *R = times(*R, s->Rc[b]);
        for (int i = 0; i < 3; i++, j++) {
            *R = times(*R, turn(v3_unit(i), s->q[j]));
            W[j] = R->c[i];
            P[j] = *c;
        }
    }
}

// Columns of J: the velocity of the place, then the angular one.
static void algorithm13(const spheres *s, form f, sn_vec3 J[3 * BALLS][2], sn_vec3 r[2]) {
    sn_vec3 P[3 * BALLS], W[3 * BALLS], c;
    sn_mat3 R;
    algorithm12(s, f, P, W, &R, &c);
    sn_vec3 p = v3_add(apply(R, s->pe), c);
    sn_mat3 difference =
        times(times(exponential(s->turned), exponential(v3_neg(s->we))), transposed(R));
    r[0] = v3_sub(p, s->goal);
    r[1] = v3_neg(log_of(difference));
    for (int j = 0; j < 3 * BALLS; j++) {
        J[j][0] = v3_cross(W[j], v3_sub(p, P[j]));
        J[j][1] = W[j];
    }
}

static spheres random_spheres(uint64_t *state) {
    spheres s = {.pe = random_vector(state), .we = random_vector(state)};
    for (int b = 0; b < BALLS; b++) {
        s.Rc[b] = turn(random_vector(state), uniform(state, -2, 2));
        s.p[b] = random_vector(state);
    }
    for (int j = 0; j < 3 * BALLS; j++) s.q[j] = uniform(state, -0.5, 0.5);
    return s;
}

static double off_by(const spheres *s, form f) {
    const double h = 1e-6;
    sn_vec3 J[3 * BALLS][2], r[2];
    double most = 0;
    algorithm13(s, f, J, r);
    for (int j = 0; j < 3 * BALLS; j++) {
        spheres a = *s, b = *s;
        a.q[j] += h;
        b.q[j] -= h;
        sn_frame x = effector_of(&a), y = effector_of(&b);
        sn_vec3 moved = v3_scale(1 / (2 * h), v3_sub(x.p, y.p));
        sn_vec3 spun = v3_scale(1 / (2 * h), log_of(times(x.R, transposed(y.R))));
        most = fmax(most, fmax(gap(J[j][0], moved), gap(J[j][1], spun)));
    }
    // the residual: by what the effector must still move and turn
    sn_frame at = effector_of(s);
    sn_vec3 rest = log_of(times(exponential(s->turned), transposed(at.R)));
    return fmax(most, fmax(gap(r[0], v3_sub(at.p, s->goal)), gap(r[1], v3_neg(rest))));
}

static void chain_of_balls(void **unused) {
    (void)unused;
    uint64_t state = 23;
    spheres s = random_spheres(&state);
    s.goal = random_vector(&state);
    s.turned = random_vector(&state);
    judge("004 Algorithm 13 with 12", off_by(&s, PRINTED), off_by(&s, RIGHT), 1e-8);
}

// ---- Algorithm 1 ----

// delta <- J^-1 r for a J of n x m numbers by columns, as a least-squares solution of least norm
static void least_squares(int n, int m, double *J, const double *r, double *delta) {
    double A[18 * 18], b[18];
    for (int i = 0; i < n; i++) {
        b[i] = r[i];
        for (int k = 0; k < n; k++) {
            A[i + n * k] = i == k ? 1e-12 : 0;
            for (int j = 0; j < m; j++) A[i + n * k] += J[i + n * j] * J[k + n * j];
        }
    }
    assert_true(dense_cholesky_solve(n, A, b));
    for (int j = 0; j < m; j++) {
        delta[j] = 0;
        for (int i = 0; i < n; i++) delta[j] += J[i + n * j] * b[i];
    }
}

typedef void (*system_function)(void *args, const double *q, double *J, double *r);

// Returns how often the loop ran; `most` ends the printed form, which does not count.
static int algorithm1(system_function JE, void *args, int n, int m, double *q, int limit, form f,
                      int most, double *norm) {
    double J[18 * COORDINATES], r[18], delta[COORDINATES];
    int i = 0, ran = 0;
    while (i < limit && ran < most) {
        JE(args, q, J, r);
        *norm = 0;
        for (int k = 0; k < n; k++) *norm += r[k] * r[k];
        *norm = sqrt(*norm);
        if (*norm < 1e-10) break;
        least_squares(n, m, J, r, delta);
        for (int k = 0; k < m; k++) q[k] -= delta[k];
        if (f == RIGHT) i++;
        ran++;
    }
    return ran;
}

static void hinges_JE(void *args, const double *q, double *J, double *r) {
    system004 s = *(system004 *)args;
    double rows[3 * EFFECTORS][M];
    memcpy(s.q, q, sizeof s.q);
    if (s.parent[2] == 1 && s.parent[3] == 2)
        algorithm6(&s, RIGHT, RIGHT, rows, r);
    else
        algorithm11(&s, (forms11){RIGHT, true, true, RIGHT}, rows, r);
    for (int i = 0; i < 3 * s.n; i++)
        for (int j = 0; j < s.m; j++) J[i + 3 * s.n * j] = rows[i][j];
}

static void balls_JE(void *args, const double *q, double *J, double *r) {
    spheres s = *(spheres *)args;
    sn_vec3 columns[3 * BALLS][2], rest[2];
    memcpy(s.q, q, sizeof s.q);
    algorithm13(&s, RIGHT, columns, rest);
    for (int i = 0; i < 6; i++) {
        r[i] = v3_at(rest[i / 3], i % 3);
        for (int j = 0; j < 3 * BALLS; j++) J[i + 6 * j] = v3_at(columns[j][i / 3], i % 3);
    }
}

// The first 3n rows of these, n = 1.
static void places_JE(void *args, const double *q, double *J, double *r) {
    double whole[6 * 3 * BALLS], rest[6];
    balls_JE(args, q, whole, rest);
    for (int i = 0; i < 3; i++) {
        r[i] = rest[i];
        for (int j = 0; j < 3 * BALLS; j++) J[i + 3 * j] = whole[i + 6 * j];
    }
}

static void all_three_solve(void **unused) {
    (void)unused;
    uint64_t state = 24;
    for (int tree = 0; tree < 2; tree++) {
        system004 s = random_system(&state, tree != 0);
        double q[M], norm;
        s.n = 1;
        s.joint[0] = tree ? 4 : M - 1;
        compose(&s, s.goal);
        for (int j = 0; j < M; j++) q[j] = s.q[j] + uniform(&state, -0.1, 0.1);
        int ran = algorithm1(hinges_JE, &s, 3, M, q, 20, RIGHT, 100, &norm);
        print_message("004 Algorithm 1 on %s: %.1e after %d\n", tree ? "a hierarchy" : "hinges",
                      norm, ran);
        assert_true(norm < 1e-10);
    }
    spheres s = random_spheres(&state);
    sn_frame at = effector_of(&s);
    double q[3 * BALLS], norm;
    s.goal = at.p;
    s.turned = log_of(at.R);
    for (int j = 0; j < 3 * BALLS; j++) q[j] = s.q[j] + uniform(&state, -0.1, 0.1);
    int ran = algorithm1(balls_JE, &s, 6, 3 * BALLS, q, 20, RIGHT, 100, &norm);
    print_message("004 Algorithm 1 on balls: %.1e after %d\n", norm, ran);
    assert_true(norm < 1e-10);

    // Algorithm 13 says 3n rows, that is three for its one effector; it makes six, and with the first three alone
    // the orientation stays as it was
    double left[2];
    for (int rows = 3; rows <= 6; rows += 3) {
        spheres moved = s;
        for (int j = 0; j < 3 * BALLS; j++) moved.q[j] = s.q[j] + (j % 2 == 0 ? 0.1 : -0.1);
        (void)algorithm1(rows == 3 ? places_JE : balls_JE, &s, rows, 3 * BALLS, moved.q, 20, RIGHT,
                         100, &norm);
        assert_true(norm < 1e-10);
        left[rows / 6] = v3_norm(log_of(times(effector_of(&moved).R, transposed(at.R))));
    }
    judge("004 Algorithm 13, 3n rows", left[0], left[1], 1e-9);

    // out of reach nothing but the count ends it
    s.goal = v3(100, 0, 0);
    int printed = algorithm1(balls_JE, &s, 6, 3 * BALLS, q, 5, PRINTED, 40, &norm);
    int right = algorithm1(balls_JE, &s, 6, 3 * BALLS, q, 5, RIGHT, 40, &norm);
    judge("004 Algorithm 1, steps beyond m", printed - 5, right - 5, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chain_of_hinges),
        cmocka_unit_test(hierarchy),
        cmocka_unit_test(chain_of_balls),
        cmocka_unit_test(all_three_solve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
