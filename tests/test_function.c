// SPDX-License-Identifier: MIT
// Functions, and the joints that they drive: values, what is refused, names of columns, document 004's
// joint. The derivatives are in test_derivatives.c, the JSON file in test_model.c.
#include "model/function.h"
#include "support.h"

static sn_function made(sn_function_type type, int nargument, int nx, const double *x, int ny,
                        const double *y) {
    return (sn_function){type, 1, nargument, {0, 1, 2}, nx, ny, x, y};
}

static sn_jet at(const sn_function *f, const double *q) {
    double room[256];
    sn_jet jet;
    assert_null(sn_function_check(f, 3));
    assert_true(sn_driver_numbers(f) <= 256);
    sn_driver driver = sn_driver_make(f, room);
    sn_driver_at(&driver, q, &jet);
    return jet;
}

static void values(void **unused) {
    (void)unused;
    const double q[3] = {0.5, -2, 3}, c[6] = {1, 2, 3, 4, 5, 6};
    sn_function f = made(SN_FUNCTION_CONSTANT, 0, 0, NULL, 1, c + 3);
    assert_near(at(&f, q).f, 4, 0);
    f = made(SN_FUNCTION_LINEAR, 3, 0, NULL, 4, c);
    assert_near(at(&f, q).f, 0.5 - 4 + 9 + 4, 0);
    f = made(SN_FUNCTION_POLYNOMIAL, 1, 0, NULL, 3, c);
    f.scale = 2;
    assert_near(at(&f, q).f, 2 * (1 + 2 * 0.5 + 3 * 0.25), 0);
    assert_near(at(&f, q).d[0], 2 * (2 + 6 * 0.5), 0);
    assert_near(at(&f, q).dd[0][0], 12, 0);
    // 1, b, b^2, a, a b, a^2
    f = made(SN_FUNCTION_POLYNOMIAL, 2, 0, NULL, 6, c);
    assert_near(at(&f, q).f, 1 + 2 * -2 + 3 * 4 + 4 * 0.5 + 5 * 0.5 * -2 + 6 * 0.25, 0);
    assert_near(at(&f, q).dd[1][0], 5, 0);
    assert_near(at(&f, q).dd[1][1], 6, 0);
    f = made(SN_FUNCTION_SINE, 2, 0, NULL, 5, c);
    assert_near(at(&f, q).f, sin(2 * 0.5 + 3 * -2 + 4) + 5, 1e-15);
    f = made(SN_FUNCTION_POLYLINE, 1, 3, (const double[]){0, 1, 2}, 3, (const double[]){0, 1, 0});
    const double places[5] = {-1, 0.25, 1, 1.25, 4}, heights[5] = {-1, 0.25, 1, 0.75, -2};
    for (int i = 0; i < 5; i++) assert_near(at(&f, &places[i]).f, heights[i], 0);
    // at a corner the slope is that of what comes after it
    assert_near(at(&f, &places[2]).d[0], -1, 0);
}

// A cubic is met exactly, four points or more; two points make a line; beyond the ends it is straight.
static void splines(void **unused) {
    (void)unused;
    double x[9], y[9];
    for (int n = 4; n <= 9; n++) {
        for (int i = 0; i < n; i++) {
            x[i] = 0.1 * i * i + 0.3 * i - 1;
            y[i] = ((2 * x[i] - 1) * x[i] + 3) * x[i] - 4;
        }
        sn_function f = made(SN_FUNCTION_SPLINE, 1, n, x, n, y);
        for (double a = x[0]; a <= x[n - 1]; a += 0.01) {
            sn_jet jet = at(&f, &a);
            assert_near(jet.f, ((2 * a - 1) * a + 3) * a - 4, 1e-12);
            assert_near(jet.d[0], (6 * a - 2) * a + 3, 1e-11);
            assert_near(jet.dd[0][0], 12 * a - 2, 1e-10);
        }
        const double ends[2] = {x[0], x[n - 1]}, out[2] = {x[0] - 0.7, x[n - 1] + 0.7};
        for (int e = 0; e < 2; e++) {
            double slope = (6 * ends[e] - 2) * ends[e] + 3;
            double value = ((2 * ends[e] - 1) * ends[e] + 3) * ends[e] - 4;
            assert_near(at(&f, &out[e]).f, value + (out[e] - ends[e]) * slope, 1e-11);
            assert_near(at(&f, &out[e]).dd[0][0], 0, 0);
        }
    }
    const double line[2] = {1, 3}, middle = 0.5;
    sn_function f = made(SN_FUNCTION_SPLINE, 1, 2, (const double[]){0, 1}, 2, line);
    assert_near(at(&f, &middle).f, 2, 0);
}

static void refused(void **unused) {
    (void)unused;
    const double y[4] = {1, 2, NAN, 1}, x[3] = {0, 1, 1};
    const struct {
        sn_function f;
        const char *part;
    } wrong[] = {
        {made(SN_FUNCTION_TYPE_COUNT, 1, 0, NULL, 1, y), "unknown"},
        {made(SN_FUNCTION_CONSTANT, 1, 0, NULL, 1, y), "follows no"},
        {made(SN_FUNCTION_LINEAR, 0, 0, NULL, 1, y), "follows no"},
        {made(SN_FUNCTION_SPLINE, 2, 2, x, 2, y), "one coordinate"},
        {made(SN_FUNCTION_LINEAR, 3, 0, NULL, 4, y), "no such"},
        {made(SN_FUNCTION_LINEAR, 1, 0, NULL, 3, y), "too few"},
        {made(SN_FUNCTION_LINEAR, 1, 1, x, 2, y), "too few"},
        {made(SN_FUNCTION_POLYNOMIAL, 2, 0, NULL, 2, y), "too few"},
        {made(SN_FUNCTION_POLYNOMIAL, 1, 0, NULL, 0, y), "too few"},
        {made(SN_FUNCTION_POLYNOMIAL, 1, 0, NULL, 3, y), "not finite"},
        {made(SN_FUNCTION_SPLINE, 1, 1, x, 1, y), "too few"},
        {made(SN_FUNCTION_SPLINE, 1, 3, x, 3, x), "rise"},
        {made(SN_FUNCTION_LINEAR, 7, 0, NULL, 8, y), "too many"},
        {made(SN_FUNCTION_LINEAR, 1, 0, NULL, -2, y), "too many"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *text = sn_function_check(&wrong[i].f, 2);
        assert_non_null(text);
        if (strstr(text, wrong[i].part) == NULL) fail_msg("%zu: %s", i, text);
    }
    // in a model the joint is named, and which of its moves
    sn_joint_functions two = {.ncoordinate = 1, .nmove = 2};
    for (int m = 0; m < 2; m++)
        two.move[m] = (sn_joint_move){true, {0, 0, 1}, made(SN_FUNCTION_LINEAR, 1, 0, NULL, 2, y)};
    two.move[1].axis[2] = 0;
    sn_builder *builder;
    sn_model *model;
    sn_error error;
    sn_joint_desc d = sn_joint_default(SN_JOINT_FUNCTION);
    d.name = "knee";
    for (int round = 0; round < 3; round++) {
        d.functions = round == 0 ? NULL : &two;
        if (round == 2) two.ncoordinate = 7;
        assert_int_equal(sn_builder_create("", NULL, &builder, NULL), SN_OK);
        assert_int_equal(sn_builder_joint(builder, &d), 0);
        assert_int_equal(sn_builder_finish(builder, &model, &error), SN_ERR_MODEL);
        assert_non_null(strstr(error.text, "knee"));
        assert_true((strstr(error.text, "move 2") != NULL) == (round == 1));
        sn_builder_destroy(builder);
    }
}

// Two coordinates of one joint have their own names as columns, and each its unit.
static void columns(void **unused) {
    (void)unused;
    const double one[2] = {1, 0};
    sn_joint_functions functions = {
        .ncoordinate = 2, .coordinate = {"pro_sup", "slip"}, .nmove = 2};
    functions.move[0] =
        (sn_joint_move){false, {1, 0, 0}, made(SN_FUNCTION_LINEAR, 1, 0, NULL, 2, one)};
    functions.move[0].function.argument[0] = 1;
    functions.move[1] =
        (sn_joint_move){true, {0, 0, 1}, made(SN_FUNCTION_LINEAR, 1, 0, NULL, 2, one)};
    sn_joint_desc d = sn_joint_default(SN_JOINT_FUNCTION);
    sn_builder *builder;
    sn_model *model;
    sn_motion *motion, *again;
    sn_table *table;
    d.name = "radius";
    d.functions = &functions;
    assert_int_equal(sn_builder_create("", NULL, &builder, NULL), SN_OK);
    (void)sn_builder_joint(builder, &d);
    assert_int_equal(sn_builder_finish(builder, &model, NULL), SN_OK);
    sn_builder_destroy(builder);
    assert_int_equal(sn_model_joint_nv(model, 0), 2);
    assert_false(sn_model_is_length(model, 0, 0));
    assert_true(sn_model_is_length(model, 0, 1));
    assert_int_equal(sn_motion_create(1, 2, 1, 100, NULL, &motion, NULL), SN_OK);
    sn_motion_edit(motion, 0)[0] = 3.141592653589793;
    sn_motion_edit(motion, 0)[1] = 0.25;
    assert_int_equal(sn_table_from_motion(model, motion, NULL, &table, NULL), SN_OK);
    assert_string_equal(sn_table_column(table, 1), "pro_sup");
    assert_string_equal(sn_table_column(table, 2), "slip");
    assert_near(sn_table_row(table, 0)[1], 180, 1e-15);
    assert_near(sn_table_row(table, 0)[2], 0.25, 0);
    assert_int_equal(sn_motion_from_table(model, table, NULL, &again, NULL), SN_OK);
    assert_near(sn_motion_frame(again, 0)[0], 3.141592653589793, 1e-15);
    assert_near(sn_motion_frame(again, 0)[1], 0.25, 0);
    sn_table_destroy(table);
    sn_motion_destroy(motion);
    sn_motion_destroy(again);
    sn_model_destroy(model);
}

// Document 004: joints that turn about w and slide along d, both by the same q, w and d being anything
// (equation 61). Algorithm 7 makes the frames and axes from the root on; algorithm 10, with the sliding
// direction that it forgets, the Jacobian of end effectors.
enum { CHAIN = 7 };

typedef struct link {
    int parent;
    double k[3], d[3], position[3], rotation[4];
} link;

static void rodrigues(const double k[3], double angle, double R[9]) {
    double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int third = 3 - i - j;
            double skew = i == j ? 0 : ((j + 1) % 3 == i ? 1 : -1) * k[third];
            R[i + 3 * j] = (i == j ? c : 0) + (1 - c) * k[i] * k[j] + s * skew;
        }
}

static void mul(const double A[9], const double *B, int columns_of_B, double *out) {
    for (int j = 0; j < columns_of_B; j++)
        for (int i = 0; i < 3; i++) {
            double sum = 0;
            for (int n = 0; n < 3; n++) sum += A[i + 3 * n] * B[n + 3 * j];
            out[i + 3 * j] = sum;
        }
}

static void quat_matrix(const double q[4], double R[9]) {
    double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), v[3];
    double sine = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) / n;
    for (int i = 0; i < 3; i++) v[i] = q[1 + i] / n / sine;
    rodrigues(v, 2 * atan2(sine, q[0] / n), R);
}

static double length(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static void axis_and_direction(void **unused) {
    (void)unused;
    uint64_t state = 4;
    double worst = 0, worst_J = 0;
    for (int round = 0; round < cases(300); round++) {
        link links[CHAIN];
        sn_builder *builder;
        sn_model *model;
        double coefficients[CHAIN][4], q[CHAIN], local[3];
        assert_int_equal(sn_builder_create("", NULL, &builder, NULL), SN_OK);
        for (int i = 0; i < CHAIN; i++) {
            link *l = &links[i];
            l->parent = i == 0 ? -1 : below(&state, i);
            for (int c = 0; c < 3; c++) {
                l->k[c] = uniform(&state, -1, 1);
                l->d[c] = uniform(&state, -1, 1);
                l->position[c] = uniform(&state, -1, 1);
            }
            for (int c = 0; c < 4; c++) l->rotation[c] = uniform(&state, -1, 1);
            q[i] = uniform(&state, -3, 3);
            sn_joint_functions f = {.ncoordinate = 1, .nmove = 2};
            coefficients[i][0] = 1;
            coefficients[i][2] = length(l->k);
            coefficients[i][1] = coefficients[i][3] = 0;
            f.move[0].function = made(SN_FUNCTION_LINEAR, 1, 0, NULL, 2, coefficients[i]);
            f.move[1].function = made(SN_FUNCTION_LINEAR, 1, 0, NULL, 2, coefficients[i] + 2);
            f.move[1].turns = true;
            memcpy(f.move[0].axis, l->d, sizeof l->d);
            memcpy(f.move[1].axis, l->k, sizeof l->k);
            sn_joint_desc d = sn_joint_default(SN_JOINT_FUNCTION);
            char name[8];
            (void)snprintf(name, sizeof name, "j%d", i);
            d.name = name;
            d.parent = l->parent;
            d.functions = &f;
            memcpy(d.position, l->position, sizeof d.position);
            memcpy(d.rotation, l->rotation, sizeof d.rotation);
            assert_int_equal(sn_builder_joint(builder, &d), i);
        }
        assert_int_equal(sn_builder_finish(builder, &model, NULL), SN_OK);
        sn_builder_destroy(builder);
        for (int c = 0; c < 3; c++) local[c] = uniform(&state, -1, 1);

        // algorithm 7: R_c <- R_i R_c, C <- R_i p + C_i + q R_c d, R <- R_c exp([k] q)
        double R[CHAIN][9], C[CHAIN][3], w[CHAIN][3], slide[CHAIN][3];
        const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, nowhere[3] = {0, 0, 0};
        for (int j = 0; j < CHAIN; j++) {
            const link *l = &links[j];
            const double *above = l->parent < 0 ? identity : R[l->parent];
            const double *from = l->parent < 0 ? nowhere : C[l->parent];
            double offset[9], Rc[9], turn[9], unit[3];
            quat_matrix(l->rotation, offset);
            mul(above, offset, 3, Rc);
            mul(Rc, l->d, 1, slide[j]);
            mul(above, l->position, 1, C[j]);
            for (int c = 0; c < 3; c++) {
                C[j][c] += from[c] + q[j] * slide[j][c];
                unit[c] = l->k[c] / length(l->k);
            }
            rodrigues(unit, q[j] * length(l->k), turn);
            mul(Rc, turn, 3, R[j]);
            mul(R[j], l->k, 1, w[j]);
        }
        sn_problem *problem;
        sn_workspace *ws;
        sn_task task = sn_task_default(SN_TASK_POINT);
        task.joint = CHAIN - 1;
        assert_int_equal(sn_problem_create(model, &task, 1, NULL, &problem, NULL), SN_OK);
        assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
        assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
        double E[3], J[3 * CHAIN];
        mul(R[CHAIN - 1], local, 1, E);
        sn_vec3 p = sn_workspace_point(ws, CHAIN - 1, local);
        for (int c = 0; c < 3; c++) E[c] += C[CHAIN - 1][c];
        worst = fmax(worst, fmax(fabs(p.x - E[0]), fmax(fabs(p.y - E[1]), fabs(p.z - E[2]))));
        sn_jacobian_simple(ws, CHAIN - 1, local, J);
        for (int j = CHAIN - 1; j >= 0; j = links[j].parent) {
            for (int c = 0; c < 3; c++) {
                int a = (c + 1) % 3, b = (c + 2) % 3;
                double column =
                    slide[j][c] + w[j][a] * (E[b] - C[j][b]) - w[j][b] * (E[a] - C[j][a]);
                worst_J = fmax(worst_J, fabs(column - J[3 * j + c]));
            }
        }
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
    print_message("against 004's algorithms 7, 8 and 10: places %.1e, Jacobian %.1e\n", worst,
                  worst_J);
    assert_true(worst < 1e-12);
    assert_true(worst_J < 1e-12);
}

// The Jacobian's rate against its difference along a motion.
static void jacobian_rate(void **unused) {
    (void)unused;
    uint64_t state = 9;
    double worst = 0;
    for (int round = 0; round < cases(200); round++) {
        sn_model *model = random_model(&state, 3, SN_JOINT_FUNCTION);
        int nv = sn_model_nv(model);
        sn_problem *problem = random_problem(&state, model, 1, SN_TASK_POINT);
        sn_workspace *ws;
        double q[18], qd[18], moved[18], J[2][6 * 18], rate[6 * 18], size = 1;
        const double h = 1e-5;
        assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
        sn_model_sample(model, &state, q);
        for (int v = 0; v < nv; v++) qd[v] = uniform(&state, -1, 1);
        for (int side = 0; side < 2; side++) {
            for (int v = 0; v < nv; v++) moved[v] = q[v] + (side == 0 ? -h : h) * qd[v];
            assert_int_equal(sn_workspace_pose(ws, moved), SN_OK);
            sn_jacobian_adjusted(ws, 2, SN_JACOBIAN_WORLD, NULL, SN_ROWS_BOTH, J[side]);
        }
        assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
        sn_jacobian_dot(ws, 2, SN_JACOBIAN_WORLD, NULL, SN_ROWS_BOTH, qd, rate);
        for (int i = 0; i < 6 * nv; i++) size = fmax(size, fabs(rate[i]));
        for (int i = 0; i < 6 * nv; i++)
            worst = fmax(worst, fabs((J[1][i] - J[0][i]) / (2 * h) - rate[i]) / size);
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
    print_message("worst of the Jacobian's rate %.1e\n", worst);
    assert_true(worst < 1e-7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(splines),
        cmocka_unit_test(refused),
        cmocka_unit_test(columns),
        cmocka_unit_test(axis_and_direction),
        cmocka_unit_test(jacobian_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
