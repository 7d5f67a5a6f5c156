// SPDX-License-Identifier: MIT
// Where the documents are wrong (docs/errata.md): single formulas of 002, 003 and 004, as printed and right.
#include "dense.h"
#include "errata.h"

enum { ROWS = 3, COLUMNS = 4 };

static double jacobian[ROWS][COLUMNS], wanted[ROWS];

static void random_system(uint64_t seed) {
    for (int i = 0; i < ROWS; i++) {
        wanted[i] = uniform(&seed, -1, 1);
        for (int j = 0; j < COLUMNS; j++) jacobian[i][j] = uniform(&seed, -1, 1);
    }
}

// (J^T J + shift I) x = J^T e
static void damped(double shift, double x[COLUMNS]) {
    double A[COLUMNS * COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
        x[i] = 0;
        for (int k = 0; k < ROWS; k++) x[i] += jacobian[k][i] * wanted[k];
        for (int j = 0; j < COLUMNS; j++) {
            A[i + COLUMNS * j] = i == j ? shift : 0;
            for (int k = 0; k < ROWS; k++) A[i + COLUMNS * j] += jacobian[k][i] * jacobian[k][j];
        }
    }
    assert_true(dense_cholesky_solve(COLUMNS, A, x));
}

// Before (15): 1/2 |J x - e|^2 + lambda^2 |x|^2. Its minimum has 2 lambda^2, (15) has lambda^2.
static double objective_slope(const double x[COLUMNS], double lambda2) {
    double worst = 0;
    for (int j = 0; j < COLUMNS; j++) {
        double g = 2 * lambda2 * x[j];
        for (int i = 0; i < ROWS; i++) {
            double r = -wanted[i];
            for (int k = 0; k < COLUMNS; k++) r += jacobian[i][k] * x[k];
            g += jacobian[i][j] * r;
        }
        worst = fmax(worst, fabs(g));
    }
    return worst;
}

static void damping_of_002(void **unused) {
    (void)unused;
    const double lambda2 = 0.3;
    double printed[COLUMNS], right[COLUMNS];
    random_system(11);
    damped(lambda2, printed);
    damped(2 * lambda2, right);
    judge("002 (15)", objective_slope(printed, lambda2), objective_slope(right, lambda2), 1e-12);
}

// (27) steps by -tau grad f, and grad f of (26) is -2 J^T e; Buss's tau of (28) belongs to the step tau J^T e.
static void step_of_002(void **unused) {
    (void)unused;
    double z[ROWS] = {0}, g[COLUMNS] = {0}, ez_ = 0, zz = 0, slope[2] = {0};
    random_system(12);
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < ROWS; i++) g[j] += jacobian[i][j] * wanted[i];
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) z[i] += jacobian[i][j] * g[j];
        ez_ += wanted[i] * z[i];
        zz += z[i] * z[i];
    }
    // the slope of 1/2 |e - t z|^2 where the step ends: 0 for the best step
    for (int k = 0; k < 2; k++) {
        double t = (k == 0 ? 2 : 1) * ez_ / zz;
        for (int i = 0; i < ROWS; i++) slope[k] -= z[i] * (wanted[i] - t * z[i]);
    }
    judge("002 (27) with (28)", fabs(slope[0]), fabs(slope[1]), 1e-12);
}

// (29): |I - J J+ tau e| subtracts a vector from a matrix. (I - J J+) tau e is what no step can reach: 0 where
// J has full row rank, and else what is left of e by least squares.
static void deviation_of_002(void **unused) {
    (void)unused;
    // J = a b^T of rank one: J J+ = a a^T / |a|^2
    uint64_t state = 13;
    sn_vec3 a = random_axis(&state), e = random_vector(&state);
    sn_vec3 reached = v3_scale(v3_dot(a, e), a), left = v3_sub(e, reached);
    // the print, read element by element as Numpy would spread it: column j of I minus the vector
    double printed = 0;
    for (int j = 0; j < 3; j++) {
        sn_vec3 column = v3_sub(v3_unit(j), reached);
        printed += v3_dot(column, column);
    }
    // by hand: e minus the nearest multiple of a
    double t = v3_dot(a, e) / v3_dot(a, a), truth = gap(e, v3_scale(t, a));
    judge("002 (29)", fabs(sqrt(printed) - truth), fabs(v3_norm(left) - truth), 1e-12);
}

// A joint with its frame in the world, one of its axes, and the effector.
static void twists_of_003(void **unused) {
    (void)unused;
    uint64_t state = 14;
    sn_frame joint = {turn(random_vector(&state), 1.1), random_vector(&state)};
    sn_vec3 p_e = random_vector(&state);
    // after (29): Ad of (5) on the twist (0; z) of the joint's axis: (p^ R z; R z)
    sn_vec3 z = apply(joint.R, ez), linear = v3_cross(joint.p, z);
    // a column of the simple Jacobian, (16), by a difference
    const double h = 1e-6;
    sn_vec3 arm = v3_sub(p_e, joint.p);
    sn_vec3 truth = v3_scale(1 / (2 * h), v3_sub(apply(turn(z, h), arm), apply(turn(z, -h), arm)));
    // right: moved to the effector, as (12) does it: v + omega x p_e
    judge("003 after (29)", gap(linear, truth), gap(v3_add(linear, v3_cross(z, p_e)), truth), 1e-9);

    // (11): m joints give m blocks of 6 x 6
    int blocks = 4, columns = 0;
    for (int i = 0; i < blocks; i++) columns += 6;
    judge("003 (11), number of columns", abs(blocks - columns), abs(6 * blocks - columns), 1);

    // (19): [P R; 0 1] of a point and of a direction in homogeneous coordinates, rows 1 to 3
    sn_vec3 local = random_vector(&state), want = v3_add(joint.p, apply(joint.R, local));
    sn_vec3 printed = v3_add(v3_scale(local.x, joint.p),
                             v3_add(v3_scale(local.y, joint.R.c[0]),
                                    v3_add(v3_scale(local.z, joint.R.c[1]), joint.R.c[2])));
    sn_vec3 right = v3_add(
        v3_scale(local.x, joint.R.c[0]),
        v3_add(v3_scale(local.y, joint.R.c[1]), v3_add(v3_scale(local.z, joint.R.c[2]), joint.p)));
    judge("003 (19)", gap(printed, want), gap(right, want), 1e-14);

    // (25): the order z y x
    sn_mat3 X = turn(ex, 0.4), Y = turn(ey, -0.7), Z = turn(ez, 1.2);
    sn_builder *b = NULL;
    sn_model *model = NULL;
    sn_problem *none = NULL;
    sn_workspace *ws = NULL;
    sn_joint_desc d = sn_joint_default(SN_JOINT_EULER);
    d.name = "joint";
    memcpy(d.order, "ZYX", 4);
    double q[3] = {1.2, -0.7, 0.4}, local3[3] = {local.x, local.y, local.z};
    assert_int_equal(sn_builder_create("one", NULL, &b, NULL), SN_OK);
    (void)sn_builder_joint(b, &d);
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &none, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(none, false, NULL, &ws, NULL), SN_OK);
    assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
    sn_vec3 at = sn_workspace_point(ws, 0, local3);
    judge("003 (25)", gap(apply(times(times(Z, X), Y), local), at),
          gap(apply(times(times(Z, Y), X), local), at), 1e-14);
    sn_workspace_destroy(ws);
    sn_problem_destroy(none);
    sn_model_destroy(model);
    sn_builder_destroy(b);
}

static sn_mat3 slope_of(sn_mat3 a, sn_mat3 b, double h) {
    sn_mat3 minus = m3_scale(-1, &b), d = m3_add(&a, &minus);
    return m3_scale(1 / (2 * h), &d);
}

static void rotating_a_vector_in_004(void **unused) {
    (void)unused;
    uint64_t state = 15;
    sn_vec3 k = random_axis(&state), v = random_vector(&state);
    const double a = 0.9;
    sn_vec3 along = v3_scale(v3_dot(k, v), k), across = v3_sub(v, along);
    sn_vec3 turned = v3_add(v3_scale(cos(a), across), v3_scale(sin(a), v3_cross(k, across)));
    // (4) calls R v what is R v_perp, (5) the other way round
    judge("004 (4), (5)", gap(turned, apply(turn(k, a), v)),
          fmax(gap(turned, apply(turn(k, a), across)),
               gap(v3_add(along, turned), apply(turn(k, a), v))),
          1e-14);
    // (26): K is [k alpha] by its name and [k] by its entries; the square is that of the unit axis
    sn_mat3 K = m3_skew(k), Ka = m3_skew(v3_scale(a, k)), square = times(K, K),
            named = times(Ka, Ka);
    sn_vec3 first = v3(k.x * k.x - 1, k.x * k.y, k.x * k.z);
    judge("004 (26)", gap(named.c[0], first), gap(square.c[0], first), 1e-14);
    // below (36): <a, b x c> = <b, a x c>
    sn_vec3 b = random_vector(&state), c = random_vector(&state);
    double triple = v3_dot(v, v3_cross(b, c));
    judge("004 (36), the triple product", fabs(v3_dot(b, v3_cross(v, c)) - triple),
          fabs(v3_dot(b, v3_cross(c, v)) - triple), 1e-14);
    // (39): the last line keeps omega where k is meant, that is R_0 turned twice
    sn_mat3 R0 = turn(random_vector(&state), 1.3),
            truth = times(times(R0, turn(k, a)), transposed(R0));
    sn_vec3 omega = apply(R0, k);
    judge("004 (39)", gap3(turn(apply(R0, omega), a), truth), gap3(turn(omega, a), truth), 1e-14);
    // (50): the second term of the exponential without its 1/2
    const double small = 0.3;
    sn_mat3 W = m3_skew(v3_scale(small, k)), WW = times(W, W), half = m3_scale(0.5, &WW),
            I = m3_identity();
    sn_mat3 upto = m3_add(&I, &W), with = m3_add(&upto, &WW), without = m3_add(&upto, &half);
    judge("004 (50)", gap3(with, turn(k, small)), gap3(without, turn(k, small)), 1e-2);
}

static void angular_velocities_of_004(void **unused) {
    (void)unused;
    uint64_t state = 16;
    const double a = 0.9, h = 1e-6, rate = 1.7;
    sn_vec3 k = random_axis(&state);
    sn_mat3 R = turn(k, a), by_angle = slope_of(turn(k, a + h), turn(k, a - h), h);
    sn_mat3 K = m3_skew(k), Ka = m3_skew(v3_scale(a, k));
    judge("004 (42)", gap3(times(Ka, R), by_angle), gap3(times(K, R), by_angle), 1e-8);
    // (43), the angle growing with time: the velocity is k times the rate, and R is transposed
    sn_mat3 by_time = slope_of(turn(k, a + rate * h), turn(k, a - rate * h), h);
    sn_mat3 want = m3_skew(v3_scale(rate, k));
    judge("004 (43)", gap3(times(by_time, R), Ka), gap3(times(by_time, transposed(R)), want), 1e-8);
    judge("004 (44)", gap3(times(by_angle, R), K), gap3(times(by_angle, transposed(R)), K), 1e-8);
    // (46): the sum of the axes as they stand, each in its own frame; right: each moved to the fixed frame
    sn_vec3 axis[3], plain = v3(0, 0, 0), moved = v3(0, 0, 0);
    double rates[3] = {0.5, -1.2, 0.8}, t = 0.6;
    sn_mat3 now = m3_identity(), later = now, before = now;
    for (int i = 0; i < 3; i++) {
        axis[i] = random_axis(&state);
        plain = v3_add(plain, v3_scale(rates[i], axis[i]));
        moved = v3_add(moved, v3_scale(rates[i], apply(now, axis[i])));
        now = times(now, turn(axis[i], rates[i] * t));
        later = times(later, turn(axis[i], rates[i] * (t + h)));
        before = times(before, turn(axis[i], rates[i] * (t - h)));
    }
    sn_mat3 spin = times(slope_of(later, before, h), transposed(now));
    judge("004 (46)", gap3(m3_skew(plain), spin), gap3(m3_skew(moved), spin), 1e-8);
}

// After (69): R_ei = R_se(q_0), so that log(R_se R_ei) should be 0 at q_0. It is with the transpose.
static void end_effectors_of_004(void **unused) {
    (void)unused;
    uint64_t state = 17;
    sn_mat3 Rse = turn(random_vector(&state), 0.8);
    judge("004 (68), R_ei", v3_norm(log_of(times(Rse, Rse))),
          v3_norm(log_of(times(Rse, transposed(Rse)))), 1e-14);
    // (76): R_sc_j R_sc_{j+1} where the rest of the chain, R_{c_{j+1} e}, is meant
    sn_mat3 parent = turn(random_vector(&state), 0.5), rest = turn(random_vector(&state), -1.1);
    sn_vec3 k = random_axis(&state);
    const double q = 0.7;
    sn_mat3 next = times(parent, turn(k, q));  // R_{s c_{j+1}}
    sn_mat3 truth = times(times(parent, turn(k, q)), rest), outer = turn(apply(parent, k), q);
    judge("004 (76)", gap3(times(times(outer, parent), next), truth),
          gap3(times(times(outer, parent), rest), truth), 1e-14);
}

// The logarithm of I + X for a small X of any form.
static sn_mat3 matrix_log(sn_mat3 X) {
    sn_mat3 sum = m3_zero(), power = X;
    for (int k = 1; k < 400; k++) {
        sn_mat3 term = m3_scale((k % 2 == 1 ? 1.0 : -1.0) / k, &power);
        sum = m3_add(&sum, &term);
        power = times(power, X);
    }
    return sum;
}

// (86): log(R_se R_ce^T - log(R_sT R_ce^T)): a bracket takes the logarithm of what is no rotation, and R_ce, the rest
// of the chain, stands for R_se. The truth: the effector turned by -r about fixed axes is at R_sT.
static void residual_of_86(void **unused) {
    (void)unused;
    uint64_t state = 19;
    sn_mat3 Rse = turn(random_vector(&state), 0.8), Rce = turn(random_vector(&state), -0.6);
    sn_vec3 left = v3_scale(0.6, random_axis(&state));  // what is left to turn
    sn_mat3 RsT = times(turn(left, 0.6), Rse);
    sn_mat3 truth = m3_skew(v3_neg(left));
    sn_mat3 inner = m3_skew(log_of(times(RsT, transposed(Rse)))), X = m3_scale(-1, &inner);
    sn_vec3 right =
        v3_sub(log_of(times(Rse, transposed(Rse))), log_of(times(RsT, transposed(Rse))));
    judge("004 (86), the bracket", gap3(matrix_log(X), truth), gap3(m3_skew(right), truth), 1e-14);
    judge("004 (86), R_ce for R_se", gap(v3_neg(log_of(times(RsT, transposed(Rce)))), v3_neg(left)),
          gap(right, v3_neg(left)), 1e-14);
}

// (89): J delta = E, but the step is q + delta and (83) has -E.
static void sign_of_89(void **unused) {
    (void)unused;
    double x[COLUMNS], before = 0, plus = 0, minus = 0;
    random_system(18);
    damped(1e-9, x);  // J x = e nearly; E = -e before the step
    for (int i = 0; i < ROWS; i++) {
        double move = 0;
        for (int j = 0; j < COLUMNS; j++) move += jacobian[i][j] * x[j];
        before += wanted[i] * wanted[i];
        plus += (-wanted[i] + move) * (-wanted[i] + move);   // J delta = -E
        minus += (-wanted[i] - move) * (-wanted[i] - move);  // J delta = E
    }
    assert_true(minus > before);
    judge("004 (89)", sqrt(minus / before), sqrt(plus / before), 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damping_of_002),           cmocka_unit_test(step_of_002),
        cmocka_unit_test(deviation_of_002),         cmocka_unit_test(twists_of_003),
        cmocka_unit_test(rotating_a_vector_in_004), cmocka_unit_test(angular_velocities_of_004),
        cmocka_unit_test(end_effectors_of_004),     cmocka_unit_test(sign_of_89),
        cmocka_unit_test(residual_of_86),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
