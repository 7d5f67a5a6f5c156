// SPDX-License-Identifier: MIT
// Details that whole solves and fits hide: each test fails when the one line it is about is wrong.
#include "files/glb/glb.h"
#include "linalg/dense.h"
#include "linalg/nested.h"
#include "math/vec3.h"
#include "model/model.h"
#include "support.h"
#include "sweeps/workspace.h"
#include "take/fit.h"
#include "track/smooth.h"

// A chain of joints, each 0.3 m along x of the one before.
static sn_model *chain(const sn_joint_desc *joints, int count, const sn_marker_desc *markers,
                       int nmarker) {
    sn_builder *builder;
    sn_model *model;
    assert_int_equal(sn_builder_create("chain", NULL, &builder, NULL), SN_OK);
    for (int i = 0; i < count; i++) {
        char name[16];
        sn_joint_desc d = joints[i];
        (void)snprintf(name, sizeof name, "j%d", i);
        d.name = name;
        d.parent = i - 1;
        if (i > 0) d.position[0] = 0.3;
        assert_int_equal(sn_builder_joint(builder, &d), i);
    }
    for (int i = 0; i < nmarker; i++) assert_int_equal(sn_builder_marker(builder, &markers[i]), i);
    assert_int_equal(sn_builder_finish(builder, &model, NULL), SN_OK);
    sn_builder_destroy(builder);
    return model;
}

// The exact Hessian of an orientation is exact also where the goal is nearly met: central differences of the
// gradient agree, and the Gauss-Newton matrix is off by about the angle that is left.
static void orientation_near_its_goal(void **state) {
    (void)state;
    sn_joint_desc joints[3];
    for (int i = 0; i < 3; i++) {
        joints[i] = sn_joint_default(SN_JOINT_HINGE);
        for (int c = 0; c < 3; c++) joints[i].axis[c] = c == i;
    }
    sn_model *model = chain(joints, 3, NULL, 0);
    sn_task task = sn_task_default(SN_TASK_ORIENTATION);
    task.joint = 2;
    sn_problem *problem;
    sn_workspace *ws;
    assert_int_equal(sn_problem_create(model, &task, 1, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, true, NULL, &ws, NULL), SN_OK);
    const double q[3] = {0.4, -0.7, 0.3}, left[] = {0.003, 0.02, 0.06, 0.099, 0.3, 2};
    for (int k = 0; k < 6; k++) {
        double f, H[9], plain[9], off = 0, apart = 0;
        assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
        sn_frame frame = sn_workspace_frame(ws, 2);
        sn_quat goal = sn_quat_mul(sn_quat_exp(v3_scale(left[k] / 7, v3(3, 2, 6))),
                                   sn_quat_from_mat3(frame.R));
        assert_int_equal(
            sn_problem_set_rotation(problem, 0, (double[4]){goal.w, goal.x, goal.y, goal.z}),
            SN_OK);
        assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_GAUSS_NEWTON, &f), SN_OK);
        sn_workspace_hessian(ws, plain);
        assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f), SN_OK);
        sn_workspace_hessian(ws, H);
        for (int j = 0; j < 3; j++) {
            const double h = 1e-5;
            double there[3] = {q[0], q[1], q[2]}, g[2][3];
            for (int side = 0; side < 2; side++) {
                there[j] = q[j] + (side ? -h : h);
                assert_int_equal(sn_workspace_eval(ws, there, SN_EVAL_GRADIENT, &f), SN_OK);
                sn_workspace_gradient(ws, g[side]);
            }
            for (int i = 0; i < 3; i++) {
                off = fmax(off, fabs((g[0][i] - g[1][i]) / (2 * h) - H[3 * j + i]));
                apart = fmax(apart, fabs(plain[3 * j + i] - H[3 * j + i]));
            }
        }
        assert_true(off < 1e-8);
        assert_true(apart > 0.1 * left[k]);
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// The entries of a tree's Hessian are those of the dense one, and all others are zero there.
static void sparse_hessian(void **unused) {
    (void)unused;
    sn_model *model;
    sn_problem *problem;
    sn_workspace *ws;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    assert_int_equal(sn_problem_create_markers(model, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, true, NULL, &ws, NULL), SN_OK);
    for (int i = 0; i < sn_problem_ntask(problem); i++)
        assert_int_equal(sn_problem_set_goal(problem, i, (double[3]){0.1 * i, 1, -0.5}), SN_OK);
    int nv = sn_model_nv(model), rows[1711], columns[1711];
    double f, q[64], H[58 * 58], back[58 * 58] = {0}, values[1711] = {7};
    uint64_t state = 3;
    assert_int_equal(nv, 58);
    sn_model_sample(model, &state, q);
    // where there is no room: nothing is written
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f), SN_OK);
    size_t count = sn_workspace_sparse_hessian(ws, 0, rows, columns, values);
    assert_true(count > 58 && count < 1711 && values[0] == 7);
    assert_int_equal(sn_workspace_sparse_hessian(ws, 1711, rows, columns, values), count);
    sn_workspace_hessian(ws, H);
    for (size_t k = 0; k < count; k++) {
        assert_true(back[rows[k] + nv * columns[k]] == 0);
        back[rows[k] + nv * columns[k]] = back[columns[k] + nv * rows[k]] = values[k];
    }
    assert_memory_equal(H, back, sizeof H);
    sn_workspace_destroy(ws);
    // no room for rows: none
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f), SN_OK);
    assert_int_equal(sn_workspace_sparse_hessian(ws, 1711, rows, columns, values), 0);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// A swing longer than pi is made shorter where no limit is set, and left alone where one is.
static void swing_is_wrapped_without_limits(void **state) {
    (void)state;
    for (int limited = 0; limited < 2; limited++) {
        sn_joint_desc joint = sn_joint_default(SN_JOINT_SWING_TWIST);
        if (limited) joint.upper[0] = 5;
        sn_model *model = chain(&joint, 1, NULL, 0);
        double q[3] = {4, 0, 9};
        sn_model_normalize(model, q);
        assert_near(q[0], limited ? 4 : 4 - 6.283185307179586, 1e-15);
        assert_true(q[1] == 0 && q[2] == 9);
        sn_model_destroy(model);
    }
}

// A quaternion that has drifted by however little is made a unit again; a unit keeps its very bits.
static void quaternions_do_not_drift(void **state) {
    (void)state;
    sn_joint_desc joint = sn_joint_default(SN_JOINT_BALL);
    sn_model *model = chain(&joint, 1, NULL, 0);
    const double drift[] = {1e-3, 1e-6, 1e-7, 3e-8, 1e-9, 1e-11, 1e-13, 3e-15};
    for (int k = 0; k < 8; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double q[4] = {0.5, -0.5, 0.5, 0.5}, square = 0;
            for (int i = 0; i < 4; i++) q[i] *= 1 + sign * drift[k];
            sn_model_normalize(model, q);
            for (int i = 0; i < 4; i++) square += q[i] * q[i];
            assert_true(fabs(square - 1) <= 1e-15);
        }
    double unit[4] = {0.36, 0.48, 0.48, 0.64}, kept[4];
    memcpy(kept, unit, sizeof kept);
    sn_model_normalize(model, unit);
    assert_memory_equal(kept, unit, sizeof kept);
    sn_model_destroy(model);
}

// Labels exchanged to the end of a take, for which the fit rolled the limb over: from there a limit is in the
// way of the true pose, so only the pose before the stretch leads to it.
static void swap_seen_from_before(void **state) {
    (void)state;
    enum { FRAMES = 20, FROM = 12 };
    const double truth = -3.6, rolled = -0.3;
    sn_joint_desc joint = sn_joint_default(SN_JOINT_HINGE);
    joint.axis[0] = 1, joint.axis[2] = 0;
    joint.lower[0] = -4, joint.upper[0] = 1;
    const sn_marker_desc markers[] = {
        {"a", 0, {0, 0.1, 0}, 1}, {"b", 0, {0, -0.1, 0}, 1}, {"c", 0, {0, 0, 0.05}, 1}};
    sn_model *model = chain(&joint, 1, markers, 3);
    const char *labels[] = {"a", "b", "c"};
    const sn_recording_info info = {
        .nframe = FRAMES, .nmarker = 3, .rate = 100, .metres_per_unit = 1};
    sn_recording *recording;
    sn_motion *motion;
    assert_int_equal(sn_recording_create(&info, labels, NULL, &recording, NULL), SN_OK);
    assert_int_equal(sn_motion_create(FRAMES, 1, 1, 100, NULL, &motion, NULL), SN_OK);
    for (int f = 0; f < FRAMES; f++) {
        bool exchanged = f >= FROM;
        sn_motion_edit(motion, f)[0] = exchanged ? rolled : truth;
        for (int i = 0; i < 3; i++) {
            const double *p = markers[exchanged && i < 2 ? 1 - i : i].position;
            double *to = sn_recording_edit(recording, f) + 3 * i;
            to[0] = p[0];
            to[1] = cos(truth) * p[1] - sin(truth) * p[2];
            to[2] = sin(truth) * p[1] + cos(truth) * p[2];
        }
    }
    const int column[] = {0, 1, 2};
    const sn_fit_input input = {.model = model,
                                .recording = recording,
                                .column = column,
                                .axes = sn_axis_map_identity(),
                                .count = FRAMES};
    sn_fit_swap swaps[4];
    int count = -1;
    assert_int_equal(sn_fit_swaps(&input, motion, NULL, swaps, 4, &count), SN_OK);
    assert_int_equal(count, 1);
    assert_int_equal(swaps[0].a, 0);
    assert_int_equal(swaps[0].b, 1);
    assert_int_equal(swaps[0].first, FROM);
    assert_int_equal(swaps[0].last, FRAMES - 1);
    sn_motion_destroy(motion);
    sn_recording_destroy(recording);
    sn_model_destroy(model);
}

// A method that finds no step says so, and ends there: at a minimum that no gradient test may stop at.
static void plain_methods_say_that_they_stall(void **state) {
    (void)state;
    const sn_method methods[] = {SN_METHOD_DLS, SN_METHOD_GAUSS_NEWTON};
    sn_joint_desc joint = sn_joint_default(SN_JOINT_HINGE);
    sn_model *model = chain(&joint, 1, NULL, 0);
    sn_task task = sn_task_default(SN_TASK_POINT);
    task.local[0] = 1, task.goal[0] = task.goal[1] = 0.5;  // out of reach: f stays above 0
    sn_problem *problem;
    assert_int_equal(sn_problem_create(model, &task, 1, NULL, &problem, NULL), SN_OK);
    for (int k = 0; k < 2; k++) {
        sn_solver_options o = sn_solver_options_default();
        o.method = methods[k];
        o.gradient = o.goal = 0;
        o.max_iterations = 2000;
        sn_solver *solver;
        sn_report report;
        double q = 0.1;
        assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, NULL), SN_OK);
        assert_int_equal(sn_solver_solve(solver, &q, &report), SN_OK);
        assert_int_equal(report.stop, SN_STOP_STALLED);
        assert_true(report.iterations < 2000);
        assert_near(q, 0.7853981633974483, 1e-7);
        sn_solver_destroy(solver);
    }
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// The low pass of the smoother's preconditioner is what its file says: L D L^T of 1 + T / mu, T with the bands of
// squared second differences. A wrong factor would only cost products.
static void low_pass_is_factored(void **state) {
    (void)state;
    enum { FRAMES = 9 };
    double low[2][FRAMES], l[FRAMES][FRAMES] = {{0}}, worst = 0;
    const double mu = 0.01;
    sn_smoother s = {.fourth = 0.3, .nframe = FRAMES, .low = {low[0], low[1]}};
    sn_smooth_slow_begin(&s);
    for (int k = 0; k < FRAMES; k++) {
        l[k][k] = 1;
        if (k + 1 < FRAMES) l[k + 1][k] = low[1][k];
        if (k + 2 < FRAMES) l[k + 2][k] = s.fourth / mu * low[0][k];
    }
    for (int i = 0; i < FRAMES; i++)
        for (int j = 0; j <= i; j++) {
            double band[3], sum = i == j;
            for (int k = 0; k < FRAMES; k++) sum -= l[i][k] / low[0][k] * l[j][k];
            sn_smooth_bands(j, FRAMES, band);
            worst = fmax(worst, fabs(sum + (i - j < 3 ? s.fourth / mu * band[i - j] : 0)));
        }
    print_message("off by %.1e\n", worst);
    assert_true(worst < 1e-12);
}

// A root that is no free joint is held like the rest of the trunk.
static void posture_of_the_root(void **state) {
    (void)state;
    sn_model *humanoid, *model;
    sn_builder *b;
    double q[80], weight[80];
    assert_int_equal(sn_model_humanoid(NULL, &humanoid, NULL), SN_OK);
    assert_int_equal(sn_builder_create("held", NULL, &b, NULL), SN_OK);
    for (int j = 0; j < sn_model_njoint(humanoid); j++) {
        sn_joint_desc d = *sn_model_joint(humanoid, j);
        if (j == 0) {
            d = sn_joint_default(SN_JOINT_BALL);
            d.name = "pelvis";
        }
        (void)sn_builder_joint(b, &d);
    }
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    sn_fit_posture(model, q, weight);
    int head = sn_model_v_index(model, sn_model_find_joint(model, "head"));
    assert_true(head > 0 && weight[head] > 0 && weight[head] != 1);
    for (int i = 0; i < 3; i++) assert_true(weight[i] == weight[head]);
    sn_model_destroy(humanoid);
    sn_model_destroy(model);
}

// Cholesky's factor and both its solves, against the product.
static void cholesky_solves(void **state) {
    (void)state;
    enum { N = 7 };
    uint64_t random = 4;
    double B[N][N], A[N * N], L[N * N], x[N], b[N];
    for (int i = 0; i < N; i++) {
        x[i] = uniform(&random, -1, 1);
        for (int j = 0; j < N; j++) B[i][j] = uniform(&random, -1, 1);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[i * N + j] = i == j;
            for (int k = 0; k < N; k++) A[i * N + j] += B[i][k] * B[j][k];
        }
    for (int i = 0; i < N; i++) {
        b[i] = 0;
        for (int j = 0; j < N; j++) b[i] += A[i * N + j] * x[j];
    }
    memcpy(L, A, sizeof L);
    assert_true(sn_cholesky(L, N));
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k <= j; k++) sum += L[i * N + k] * L[j * N + k];
            assert_near(sum, A[i * N + j], 1e-13);
        }
    sn_cholesky_forward(L, N, b);
    sn_cholesky_backward(L, N, b);
    for (int i = 0; i < N; i++) assert_near(b[i], x[i], 1e-12);
    A[N * N - 1] = -1;
    assert_false(sn_cholesky(A, N));
}

// The volume inside a shape's triangles, and its extent: y from `low` to `high`, the largest distance from the y axis.
static double volume_of(const sn_glb_shape *shape, double *low, double *high, double *radius) {
    double sum = 0;
    *low = INFINITY, *high = -INFINITY, *radius = 0;
    for (int i = 0; i < shape->nvertex; i++) {
        const float *p = shape->vertex[i];
        *low = fmin(*low, (double)p[1]), *high = fmax(*high, (double)p[1]);
        *radius = fmax(*radius, sqrt((double)p[0] * (double)p[0] + (double)p[2] * (double)p[2]));
        assert_near(v3_norm(v3((double)p[3], (double)p[4], (double)p[5])), 1, 1e-6);
    }
    for (int i = 0; i < shape->nindex; i += 3) {
        sn_vec3 corner[3];
        for (int k = 0; k < 3; k++) {
            const float *p = shape->vertex[shape->index[i + k]];
            corner[k] = v3((double)p[0], (double)p[1], (double)p[2]);
        }
        sum += v3_dot(corner[0], v3_cross(corner[1], corner[2])) / 6;
    }
    return sum;
}

// What a scene is drawn with: a bone from 0 to 1 and two balls, closed and seen from outside.
static void shapes_are_solid(void **state) {
    (void)state;
    static sn_glb_shape shape;
    double low, high, radius, volume;
    sn_glb_bone(&shape);
    volume = volume_of(&shape, &low, &high, &radius);
    print_message("a bone: %d triangles, volume %.6f\n", shape.nindex / 3, volume);
    assert_true(low == 0 && high == 1 && fabs(radius - 1) < 1e-6);
    assert_near(volume, 1.59351, 1e-5);  // of seven cones with ten sides
    sn_glb_ball(&shape);
    volume = volume_of(&shape, &low, &high, &radius);
    print_message("a ball: %d triangles, volume %.6f\n", shape.nindex / 3, volume);
    assert_true(low == -1 && high == 1 && fabs(radius - 1) < 1e-6 && volume > 3.4 && volume < 4.19);
    sn_glb_marker(&shape);
    volume = volume_of(&shape, &low, &high, &radius);
    print_message("a marker: %d triangles, volume %.6f\n", shape.nindex / 3, volume);
    assert_true(low == -1 && high == 1 && fabs(radius - 1) < 1e-6 && volume > 3.9 && volume < 4.19);
}

// With tasks between branches, too, the matrix in sweep order is the Hessian in file order.
static void dense_hessian(void **unused) {
    (void)unused;
    enum { TIES = 40 };  // of every length, as the rows of some end where the next begin
    sn_model *model;
    sn_problem *problem;
    sn_workspace *ws;
    sn_task task[TIES];
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    const int nv = sn_model_nv(model), njoint = sn_model_njoint(model);
    uint64_t state = 45;
    for (int i = 0; i < TIES; i++) {
        task[i] = sn_task_default(SN_TASK_DISTANCE);
        task[i].joint = 1 + below(&state, njoint - 1);
        do task[i].joint2 = below(&state, njoint);
        while (task[i].joint2 == task[i].joint);
        for (int c = 0; c < 3; c++) task[i].local[c] = uniform(&state, -0.2, 0.2);
        task[i].distance = 0.5;
    }
    assert_int_equal(sn_problem_create(model, task, TIES, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, true, NULL, &ws, NULL), SN_OK);
    static double q[64], damping[58], H[58 * 58], dense[58 * 58];
    double f, most = 0;
    assert_int_equal(nv, 58);
    sn_model_sample(model, &state, q);
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f), SN_OK);
    sn_workspace_hessian(ws, H);
    for (int i = 0; i < nv; i++) damping[i] = 10;
    (void)sn_workspace_factor(ws, damping, NULL, 0, NULL);  // fills what lies behind the rows
    sn_workspace_dense(ws, false, dense);
    const int *v_of = model->v_of;
    for (int i = 0; i < nv * nv; i++) most = fmax(most, fabs(H[i]));
    assert_true(most > 0.1);
    for (int i = 0; i < nv; i++)
        for (int j = 0; j < nv; j++)
            assert_near(dense[i + nv * j], H[v_of[i] + nv * v_of[j]], 1e-13 * most);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

static sn_report solved(const sn_model *model, const sn_task *tasks, int n, sn_method method,
                        int iterations, double *q) {
    sn_problem *problem;
    sn_solver *solver;
    sn_report report;
    sn_solver_options o = sn_solver_options_default();
    o.method = method;
    o.max_iterations = iterations;
    assert_int_equal(sn_problem_create(model, tasks, n, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, NULL), SN_OK);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    return report;
}

// Of a quadratic bfgs knows the whole inverse after a few steps: sliders along leaning axes.
static void bfgs_learns_a_quadratic(void **unused) {
    (void)unused;
    static const double axes[3][3] = {{1, 0.2, 0}, {0.9, 0.5, 0.1}, {0.3, 0.2, 1}};
    sn_joint_desc joints[3];
    sn_marker_desc marker = {.name = "m", .joint = 2, .weight = 1};
    for (int i = 0; i < 3; i++) {
        joints[i] = sn_joint_default(SN_JOINT_SLIDER);
        memcpy(joints[i].axis, axes[i], sizeof axes[i]);
    }
    sn_model *model = chain(joints, 3, &marker, 1);
    sn_task task = sn_task_default(SN_TASK_POINT);
    task.joint = 2;
    memcpy(task.goal, (double[3]){0.7, -0.4, 0.9}, 3 * sizeof(double));
    double q[3] = {0};
    sn_report report = solved(model, &task, 1, SN_METHOD_BFGS, 100, q);
    print_message("bfgs: %d iterations to f = %.1e\n", report.iterations, report.f);
    assert_true(report.f < 1e-20);
    assert_true(report.iterations <= 18);
    sn_model_destroy(model);
}

// ccd turns towards a rotation, too.
static void ccd_orients(void **unused) {
    (void)unused;
    sn_joint_desc joints[3];
    static const double axes[3][3] = {{0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
    for (int i = 0; i < 3; i++) {
        joints[i] = sn_joint_default(SN_JOINT_HINGE);
        memcpy(joints[i].axis, axes[i], sizeof axes[i]);
    }
    sn_model *model = chain(joints, 3, NULL, 0);
    sn_task task = sn_task_default(SN_TASK_ORIENTATION);
    task.joint = 2;
    sn_quat r = sn_quat_exp(v3(0.5, -0.3, 0.8));
    memcpy(task.rotation, (double[4]){r.w, r.x, r.y, r.z}, 4 * sizeof(double));
    double q[3] = {0};
    sn_report report = solved(model, &task, 1, SN_METHOD_CCD, 200, q);
    print_message("ccd: %d rounds to f = %.1e\n", report.iterations, report.f);
    assert_true(report.f < 1e-16);
    sn_model_destroy(model);
}

// What a servo moves is shared out so that a radian counts as much as the figure's size: of a slider and a hinge that
// both move a point along x, by the squares of that times what each brings.
static void servo_weighs_lengths(void **unused) {
    (void)unused;
    sn_joint_desc joints[2] = {sn_joint_default(SN_JOINT_SLIDER), sn_joint_default(SN_JOINT_HINGE)};
    memcpy(joints[0].axis, (double[3]){1, 0, 0}, 3 * sizeof(double));
    memcpy(joints[1].axis, (double[3]){0, 0, 1}, 3 * sizeof(double));
    sn_model *model = chain(joints, 2, NULL, 0);  // the hinge is 0.3 m away: the figure's size
    sn_task task = sn_task_default(SN_TASK_POINT);
    task.joint = 1;
    task.local[1] = 2;
    memcpy(task.goal, (double[3]){0.3 + 1e-6, 2, 0}, 3 * sizeof(double));
    sn_problem *problem;
    sn_servo *servo;
    assert_int_equal(sn_problem_create(model, &task, 1, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_servo_create(problem, NULL, NULL, &servo, NULL), SN_OK);
    double q[2] = {0};
    const sn_servo_tick tick = {.seconds = 0.001};
    sn_servo_report report;
    assert_int_equal(sn_servo_step(servo, &tick, q, &report), SN_OK);
    assert_true(q[0] > 0 && q[1] < 0);
    assert_near(q[0] / q[1], -0.3 * 0.3 / 2, 1e-4);
    sn_servo_destroy(servo);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// A follower of two at a limit that the goal pulls it against: the two move along it, against each other, to a minimum.
// So they do where a crank and its rod, which have nothing to do with it, close a loop beside them.
static void follower_at_its_limit(void **unused) {
    (void)unused;
    static const char figure[] =
        "{\"joints\": [{\"name\": \"a\", \"type\": \"slider\", \"axis\": [1, 0, 0]},"
        "{\"name\": \"b\", \"type\": \"slider\", \"axis\": [0, 1, 0], \"parent\": \"a\"},"
        "{\"name\": \"c\", \"type\": \"hinge\", \"axis\": [0, 0, 1], \"limits\": [[-0.5, 0.5]], "
        "\"parent\": \"b\"}%s],"
        "\"couplings\": [{\"joint\": \"c\", \"of\": [\"a\", \"b\"], \"function\": \"linear\", "
        "\"y\": [1, 1, 0]}]%s}";
    static const char crank[] =
        ", {\"name\": \"crank\", \"type\": \"hinge\", \"axis\": [0, 0, 1], \"parent\": \"b\"},"
        "{\"name\": \"rod\", \"parent\": \"crank\", \"type\": \"hinge\", \"axis\": [0, 0, 1], "
        "\"position\": [1, 0, 0]}";
    static const char loop[] = ", \"loops\": [{\"type\": \"line\", \"joint\": \"rod\", \"joint2\": "
                               "\"b\", \"position\": [2, 0, 0], \"axis2\": [1, 0, 0]}]";
    for (int looped = 0; looped < 2; looped++) {
        char text[1500];
        sn_model *model;
        sn_error error = {0};
        assert_true(snprintf(text, sizeof text, figure, looped ? crank : "", looped ? loop : "") <
                    (int)sizeof text);
        if (sn_model_read_json(text, strlen(text), NULL, &model, &error) != SN_OK)
            fail_msg("%s", error.text);
        // a + b <= 0.5; (2, 1) is nearest to (0.75, -0.25)
        sn_task task = sn_task_default(SN_TASK_POINT);
        task.joint = 1;
        memcpy(task.goal, (double[3]){2, 1, 0}, 3 * sizeof(double));
        static const double starts[3][2] = {{0, 0}, {0.5, 0}, {-1, 1.5}};
        for (int k = 0; k < 3; k++) {
            double q[5] = {starts[k][0], starts[k][1], starts[k][0] + starts[k][1]};
            sn_report report = solved(model, &task, 1, SN_METHOD_HYBRID, 200, q);
            print_message("%s after %d iterations at %.9f %.9f\n", sn_stop_text(report.stop),
                          report.iterations, q[0], q[1]);
            assert_int_equal(report.stop, SN_STOP_MINIMUM);
            assert_near(q[0], 0.75, 1e-7);
            assert_near(q[1], -0.25, 1e-7);
            assert_true(q[2] <= 0.5);
        }
        sn_model_destroy(model);
    }
}

// J with a singular value of 1e-5: what J^T J leaves free is off by 1e-6, and sharpened with J by no more than J's digits.
static void null_space_is_sharpened(void **state) {
    (void)state;
    enum { ROWS = 4, N = 6 };
    const bool free[N] = {true, true, true, true, true, true};
    double block[6][N * N], d[N], w[ROWS], J[ROWS * N], W[N * N];
    int order[N], place[N];
    sn_nested a = {.n = N,
                   .basis = block[0],
                   .seen = block[1],
                   .factor = block[2],
                   .R = block[3],
                   .T = block[4],
                   .L = block[5],
                   .d = d,
                   .order = order,
                   .place = place};
    uint64_t random = 3;
    for (int i = 0; i < ROWS * N; i++) J[i] = uniform(&random, -1, 1);
    // the last row is the one before it but for 1e-5
    for (int i = 0; i < N; i++) J[3 + ROWS * i] = J[2 + ROWS * i] + 1e-5 * J[3 + ROWS * i];
    for (int i = 0; i < N * N; i++) {
        W[i] = 0;
        for (int r = 0; r < ROWS; r++) W[i] += J[r + ROWS * (i % N)] * J[r + ROWS * (i / N)];
    }
    sn_nested_begin(&a, free);
    assert_int_equal(sn_nested_add(&a, W, 1e-13, N), ROWS);
    assert_true(sn_nested_thinnest(&a, 0) < 1e-9 && sn_nested_thinnest(&a, 0) > 1e-12);
    double seen[2] = {0};
    for (int after = 0; after < 2; after++) {
        if (after) sn_nested_sharpen(&a, J, ROWS, w);
        for (int c = 0; c < sn_nested_left(&a); c++) {
            const double *z = sn_nested_rest(&a) + N * c;
            for (int r = 0; r < ROWS; r++) {
                double sum = 0;
                for (int i = 0; i < N; i++) sum += J[r + ROWS * i] * z[i];
                seen[after] = fmax(seen[after], fabs(sum));
            }
        }
    }
    assert_true(seen[0] > 1e-13);
    assert_true(seen[1] < 1e-15);
    // the basis is still orthonormal
    for (int c = 0; c < N; c++)
        for (int b = 0; b <= c; b++) {
            double sum = 0;
            for (int i = 0; i < N; i++) sum += a.basis[i + N * c] * a.basis[i + N * b];
            assert_near(sum, b == c, 1e-11);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follower_at_its_limit),
        cmocka_unit_test(servo_weighs_lengths),
        cmocka_unit_test(dense_hessian),
        cmocka_unit_test(bfgs_learns_a_quadratic),
        cmocka_unit_test(ccd_orients),
        cmocka_unit_test(orientation_near_its_goal),
        cmocka_unit_test(sparse_hessian),
        cmocka_unit_test(swing_is_wrapped_without_limits),
        cmocka_unit_test(quaternions_do_not_drift),
        cmocka_unit_test(swap_seen_from_before),
        cmocka_unit_test(plain_methods_say_that_they_stall),
        cmocka_unit_test(low_pass_is_factored),
        cmocka_unit_test(shapes_are_solid),
        cmocka_unit_test(cholesky_solves),
        cmocka_unit_test(null_space_is_sharpened),
        cmocka_unit_test(posture_of_the_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
