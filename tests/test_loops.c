// SPDX-License-Identifier: MIT
// Loops: bodies that are held together beside the tree.
#include "math/atan2.h"
#include "ties.h"

// ---- loops --------------------------------------------------------------------------------------

static sn_vec3 local_of(const sn_frame *frame, sn_vec3 x) {
    return m3_tmul(&frame->R, v3_sub(x, frame->p));
}

static void put(sn_vec3 x, double out[3]) { out[0] = x.x, out[1] = x.y, out[2] = x.z; }

// A loop of a type between two joints that is closed at the pose where `ws` is.
static sn_loop_desc closed_loop(uint64_t *state, const sn_workspace *ws, sn_loop_type type, int a,
                                int b) {
    sn_loop_desc d = sn_loop_default(type);
    sn_frame A = sn_workspace_frame(ws, a), B = {m3_identity(), {0, 0, 0}};
    if (b >= 0) B = sn_workspace_frame(ws, b);
    d.joint[0] = a;
    d.joint[1] = b;
    sn_vec3 at = {uniform(state, -0.5, 0.5), uniform(state, -0.5, 0.5), uniform(state, -0.5, 0.5)};
    sn_vec3 p = v3_add(A.p, m3_mul(&A.R, at)), other = p;
    sn_vec3 axis = {uniform(state, -1, 1), uniform(state, -1, 1), uniform(state, 0.1, 1)};
    put(at, d.position[0]);
    put(m3_tmul(&A.R, axis), d.axis[0]);
    put(m3_tmul(&B.R, axis), d.axis[1]);
    if (type == SN_LOOP_LINE) other = v3_add(p, v3_scale(0.3, axis));
    if (type == SN_LOOP_DISTANCE) {
        other = v3_add(p, v3_scale(0.7, axis));
        d.distance = 0.7 * v3_norm(axis);
    }
    put(local_of(&B, other), d.position[1]);
    sn_quat qa = sn_quat_conj(sn_quat_from_mat3(A.R)), qb = sn_quat_conj(sn_quat_from_mat3(B.R));
    const double ra[4] = {qa.w, qa.x, qa.y, qa.z}, rb[4] = {qb.w, qb.x, qb.y, qb.z};
    memcpy(d.rotation[0], ra, sizeof ra);
    memcpy(d.rotation[1], rb, sizeof rb);
    return d;
}

// The same model with loops, closed at q. *open: by how much all the same, which is rounding: a function may
// have put a body 1e13 m away.
static sn_model *looped_model(uint64_t *state, const sn_model *model, const double *q, int count,
                              double *open) {
    sn_problem *none;
    sn_workspace *ws;
    sn_builder *b;
    sn_model *out;
    sn_error error = {0};
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &none, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(none, false, NULL, &ws, NULL), SN_OK);
    assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
    assert_int_equal(sn_builder_create("looped", NULL, &b, NULL), SN_OK);
    int njoint = sn_model_njoint(model);
    for (int j = 0; j < njoint; j++) (void)sn_builder_joint(b, sn_model_joint(model, j));
    sn_builder_couple_as(b, model);
    for (int i = 0; i < count; i++) {
        int first = below(state, njoint), second;
        do second = below(state, 5) == 0 ? -1 : below(state, njoint);
        while (second == first);
        sn_loop_desc d =
            closed_loop(state, ws, (sn_loop_type)below(state, SN_LOOP_TYPE_COUNT), first, second);
        assert_int_equal(sn_builder_loop(b, &d), i);
    }
    if (sn_builder_finish(b, &out, &error) != SN_OK) fail_msg("%s", error.text);
    sn_builder_destroy(b);
    sn_workspace_destroy(ws);
    sn_problem_destroy(none);
    assert_int_equal(sn_problem_create(out, NULL, 0, NULL, &none, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(none, false, NULL, &ws, NULL), SN_OK);
    assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
    *open = 0;
    for (int i = 0; i < count; i++) *open = fmax(*open, sn_workspace_loop_error(ws, i));
    sn_workspace_destroy(ws);
    sn_problem_destroy(none);
    return out;
}

// A pose near q, each velocity turned on its own.
static void disturb(uint64_t *state, const sn_model *model, double *q) {
    for (int i = 0; i < sn_model_nv(model); i++) {
        double delta[128] = {0};
        delta[i] = sn_model_gain(model)[i] != 0 ? uniform(state, -0.1, 0.1) : 0;
        sn_model_integrate(model, q, delta, q);
    }
    (void)sn_model_clamp(model, q);
}

// A random model with loops that are closed at q, which is inside all limits.
static sn_model *closed_model(uint64_t *state, int n, double **q) {
    for (;;) {
        // without the loop that the helper added
        sn_model *plain = coupled_model(state, 3 + below(state, 7), n % 2, n % 4 < 2, 1), *bare;
        *q = malloc((size_t)sn_model_nq(plain) * sizeof **q + 8);
        sn_model_sample(plain, state, *q);
        (void)sn_model_clamp(plain, *q);
        sn_builder *b;
        assert_int_equal(sn_builder_create("bare", NULL, &b, NULL), SN_OK);
        for (int j = 0; j < sn_model_njoint(plain); j++)
            (void)sn_builder_joint(b, sn_model_joint(plain, j));
        for (int i = 0; i < sn_model_ncoupling(plain); i++)
            (void)sn_builder_couple(b, sn_model_coupling(plain, i));
        assert_int_equal(sn_builder_finish(b, &bare, NULL), SN_OK);
        sn_builder_destroy(b);
        double open;
        sn_model *model = looped_model(state, bare, *q, 1 + below(state, 2), &open);
        sn_model_destroy(bare);
        sn_model_destroy(plain);
        // limits of several leaders and their follower may contradict each other
        if (sn_model_followers_inside(model, *q) && open < 1e-12) return model;
        sn_model_destroy(model);
        free(*q);
    }
}

// From a pose near one that closes the loops: they are met; f is never above that of the closed
// start, limits and couplings hold. What is reported is what is.
static sn_report solve_loops(int n, double *open) {
    uint64_t state = 24 + 100 * (uint64_t)n;
    double *q;
    sn_model *model = closed_model(&state, n, &q);
    size_t bytes = (size_t)sn_model_nq(model) * sizeof *q;
    double *start = malloc(bytes + 8);
    sn_problem *problem = random_problem(&state, model, 1 + below(&state, 3), SN_TASK_POINT);
    static const sn_method methods[] = {SN_METHOD_HYBRID, SN_METHOD_NEWTON, SN_METHOD_LM};
    sn_solver_options options = sn_solver_options_default();
    options.method = methods[n % 3];
    sn_solver *solver;
    sn_report report, first;
    assert_int_equal(sn_solver_create(problem, &options, NULL, &solver, NULL), SN_OK);
    disturb(&state, model, q);
    // no iterations: the start, closed
    sn_solver *closer;
    options.max_iterations = 0;
    assert_int_equal(sn_solver_create(problem, &options, NULL, &closer, NULL), SN_OK);
    memcpy(start, q, bytes);
    assert_int_equal(sn_solver_solve(closer, start, &first), SN_OK);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    sn_workspace *ws = sn_solver_workspace(solver);
    *open = 0;
    assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
    for (int i = 0; i < sn_model_nloop(model); i++)
        *open = fmax(*open, sn_workspace_loop_error(ws, i));
    assert_true(report.violation >= *open);
    if (report.violation > 1e-10 || report.stop == SN_STOP_STALLED) {
        print_message("case %d, %s: %s, open by %.1e, f %.3e, gradient %.1e\n", n,
                      sn_method_name(options.method), sn_stop_text(report.stop), report.violation,
                      report.f, report.gradient);
    } else {
        assert_true(report.f <= first.f * (1 + 1e-9) + 1e-20);
    }
    memcpy(start, q, bytes);
    sn_model_follow(model, start);
    assert_memory_equal(start, q, bytes);
    int moved = sn_model_clamp(model, start);
    if (moved != 0)
        fail_msg("case %d, %s: %d coordinates outside their limits (%s)", n,
                 sn_method_name(options.method), moved, sn_stop_text(report.stop));
    sn_solver_destroy(solver);
    sn_solver_destroy(closer);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    free(q);
    free(start);
    return report;
}

// Where a minimum is reported the gradient has nothing left along the loops. Nothing stalls.
static void loops(void **unused) {
    (void)unused;
    int count = cases(400), minima = 0, opened = 0, stops[SN_STOP_COUNT] = {0};
    double worst = 0, left = 0;
    for (int n = first_case(); n < count; n++) {
        double open;
        const sn_report report = solve_loops(n, &open);
        stops[report.stop]++;
        worst = fmax(worst, open);
        opened += report.violation > 1e-10;
        if (report.stop == SN_STOP_MINIMUM) {
            minima++;
            left = fmax(left, report.gradient);
        }
    }
    count -= first_case();
    print_message("%d problems: %d left open, the worst by %.1e; %d minima, gradient %.1e\n", count,
                  opened, worst, minima, left);
    for (int i = 0; i < SN_STOP_COUNT; i++)
        if (stops[i] > 0) print_message("  %s: %d\n", sn_stop_text((sn_stop)i), stops[i]);
    assert_true(opened <= count / 5000 && stops[SN_STOP_STALLED] <= opened + count / 5000);
    assert_true(minima > count / 2);
}

// Those that were left open, or stalled, once: bent valleys, steep couplings, rows that nearly depend on each other.
static void once_open(void **unused) {
    (void)unused;
    static const int hard[] = {57927, 72459, 67559, 74599, 141963, 167756, 108127, 159360};
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        double open;
        const sn_report report = solve_loops(hard[i], &open);
        if (open > 1e-10 || report.stop == SN_STOP_STALLED)
            fail_msg("case %d: %s, open by %.1e", hard[i], sn_stop_text(report.stop), open);
    }
}

// The forces that balance the gradient are added to those that are there already: evaluated with their sum, the
// gradient is the one that balancing left, and a second time there is nothing to add.
static void balanced(void **unused) {
    (void)unused;
    double worst = 0, again = 0;
    for (int n = 0; n < cases_up_to(60, 6000); n++) {
        uint64_t state = 28 + 100 * (uint64_t)n;
        double *q, f;
        sn_model *model = closed_model(&state, n, &q);
        sn_problem *problem = random_problem(&state, model, 1 + below(&state, 3), SN_TASK_POINT);
        const int nv = sn_model_nv(model), nmu = SN_TIE_ROWS * sn_model_nloop(model);
        double g[128], mu[2 * SN_TIE_ROWS], scale[128], size = 1;
        sn_workspace *ws;
        assert_true(nv <= 128);
        assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
        for (int i = 0; i < nv; i++) scale[i] = uniform(&state, 0.5, 2);
        for (int i = 0; i < nmu; i++) ws->ties->mu[i] = uniform(&state, -1, 1);
        for (int round = 0; round < 2; round++) {
            assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_GAUSS_NEWTON, &f), SN_OK);
            for (int i = 0; i < nv; i++) {
                if (round == 1) worst = fmax(worst, fabs(ws->g[i] - g[i]) / size);
                size = fmax(size, fabs(ws->g[i]));
            }
            memcpy(mu, ws->ties->mu, (size_t)nmu * sizeof *mu);
            sn_ties_balance(ws, scale, NULL);
            memcpy(g, ws->g, (size_t)nv * sizeof *g);
            for (int i = 0; i < nmu; i++) {
                size = fmax(size, fabs(ws->ties->mu[i]));
                if (round == 1) again = fmax(again, fabs(ws->ties->mu[i] - mu[i]) / size);
            }
        }
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
        free(q);
    }
    print_message("balanced: gradient off by %.1e, a second time %.1e more\n", worst, again);
    assert_true(worst < 1e-9 && again < 1e-6);
}

// A crank of length 1, and a rod of length 2 whose end slides along x. Where the middle of the rod is when the
// crank has turned by an angle.
static sn_vec3 rod_at(double angle) {
    double sine = -sin(angle) / 2, cosine = sqrt(1 - sine * sine);
    return v3(cos(angle) + cosine, sin(angle) + sine, 0);
}

// Its goal lies across the way of the middle, so that there is no slope along the loop. Within the radius of
// the way's bend that is a minimum, which is kept; beyond it a top, which is left. The tree alone has a slope
// in either case, and bends otherwise: only the forces of the loop tell.
static void saddles(void **unused) {
    (void)unused;
    static const char text[] =
        "{\"joints\": [{\"name\": \"crank\", \"type\": \"hinge\", \"axis\": [0,0,1]}, "
        "{\"name\": \"rod\", \"parent\": \"crank\", \"type\": \"hinge\", \"axis\": [0,0,1], "
        "\"position\": [1,0,0]}], \"loops\": [{\"type\": \"line\", \"joint\": \"rod\", "
        "\"position\": [2,0,0], \"axis2\": [1,0,0]}]}";
    sn_model *model;
    sn_error error = {0};
    if (sn_model_read_json(text, strlen(text), NULL, &model, &error) != SN_OK)
        fail_msg("%s", error.text);
    static const sn_method methods[] = {SN_METHOD_HYBRID, SN_METHOD_NEWTON, SN_METHOD_LM};
    uint64_t state = 27;
    int left = 0, kept = 0;
    for (int n = 0; n < cases_up_to(60, 6000); n++) {
        double angle = uniform(&state, 0.2, 2.9), h = 1e-4;
        sn_vec3 p = rod_at(angle), before = rod_at(angle - h), behind = rod_at(angle + h);
        sn_vec3 v = v3_scale(0.5 / h, v3_sub(behind, before));
        sn_vec3 a = v3_scale(1 / (h * h), v3_sub(v3_add(before, behind), v3_scale(2, p)));
        sn_vec3 across = v3(-v.y / v3_norm(v), v.x / v3_norm(v), 0);
        if (v3_dot(across, a) < 0) across = v3_neg(across);
        double bend = v3_dot(v, v) / v3_dot(across, a);
        if (bend > 5) continue;  // nearly straight there
        bool top = n % 2 == 0;
        sn_vec3 goal = v3_add(p, v3_scale((top ? 1.5 : 0.5) * bend, across));
        sn_task task = sn_task_default(SN_TASK_POINT);
        task.joint = 1;
        task.local[0] = 1;
        task.goal[0] = goal.x, task.goal[1] = goal.y;
        sn_problem *problem;
        assert_int_equal(sn_problem_create(model, &task, 1, NULL, &problem, NULL), SN_OK);
        for (int k = 0; k < 3; k++) {
            sn_solver_options options = sn_solver_options_default();
            sn_solver *solver;
            sn_report report;
            options.method = methods[k];
            options.gradient = 1e-6;  // the differences' digits
            double rod = sn_atan2(-sin(angle) / 2, sqrt(1 - sin(angle) * sin(angle) / 4)) - angle;
            double q[2] = {angle, rod}, start = 0.5 * v3_dot(v3_sub(goal, p), v3_sub(goal, p));
            assert_int_equal(sn_solver_create(problem, &options, NULL, &solver, NULL), SN_OK);
            assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
            bool good = report.violation <= 1e-10 &&
                        (report.stop == SN_STOP_MINIMUM || report.stop == SN_STOP_GOAL ||
                         (report.stop == SN_STOP_ITERATIONS && methods[k] == SN_METHOD_LM));
            good = good && (top ? report.f < 0.9999 * start : fabs(q[0] - angle) < 1e-4);
            if (!good)
                fail_msg("case %d, %s, a %s: %s, f %.6g from %.6g, turned by %.1e", n,
                         sn_method_name(methods[k]), top ? "top" : "minimum",
                         sn_stop_text(report.stop), report.f, start, q[0] - angle);
            sn_solver_destroy(solver);
        }
        left += top, kept += !top;
        sn_problem_destroy(problem);
    }
    print_message("%d tops along the loop left, %d minima kept, by each of 3 methods\n", left,
                  kept);
    assert_true(sampled() || (left > 5 && kept > 5));
    sn_model_destroy(model);
}

// A model that is half as large again opens its loops by half as much again, whatever the pose.
static void scaled(void **unused) {
    (void)unused;
    uint64_t state = 25;
    double worst = 0;
    for (int n = 0; n < 20; n++) {
        sn_builder *b;
        sn_model *model, *larger;
        sn_marker_set *set;
        double q[12], factor[4] = {1.5, 1.5, 1.5, 1.5};
        assert_int_equal(sn_builder_create("rods", NULL, &b, NULL), SN_OK);
        for (int i = 0; i < 4; i++) {
            static const char *const names[] = {"a", "b", "c", "d"};
            sn_joint_desc d = sn_joint_default(SN_JOINT_EXPMAP);
            d.name = names[i];
            d.parent = i == 0 ? -1 : (i - 1) / 2;
            for (int k = 0; k < 3 && i > 0; k++) d.position[k] = uniform(&state, -1, 1);
            (void)sn_builder_joint(b, &d);
        }
        for (int i = 0; i < SN_LOOP_TYPE_COUNT; i++) {
            sn_loop_desc loop = sn_loop_default((sn_loop_type)i);
            loop.joint[0] = 3, loop.joint[1] = i == 0 ? 0 : 2;
            for (int k = 0; k < 6; k++) loop.position[k / 3][k % 3] = uniform(&state, -1, 1);
            loop.distance = uniform(&state, 0.2, 1);
            (void)sn_builder_loop(b, &loop);
        }
        assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
        sn_builder_destroy(b);
        assert_int_equal(sn_marker_set_create("none", NULL, 0, NULL, &set, NULL), SN_OK);
        assert_int_equal(
            sn_marker_set_apply(set, model, SN_LIMITS_HARD, factor, NULL, &larger, NULL), SN_OK);
        for (int i = 0; i < 12; i++) q[i] = uniform(&state, -1, 1);
        const sn_model *both[2] = {model, larger};
        double open[2][SN_LOOP_TYPE_COUNT];
        for (int k = 0; k < 2; k++) {
            sn_problem *problem;
            sn_workspace *ws;
            assert_int_equal(sn_problem_create(both[k], NULL, 0, NULL, &problem, NULL), SN_OK);
            assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
            assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
            for (int i = 0; i < SN_LOOP_TYPE_COUNT; i++)
                open[k][i] = sn_workspace_loop_error(ws, i);
            sn_workspace_destroy(ws);
            sn_problem_destroy(problem);
        }
        // pins and welds may say an angle
        static const sn_loop_type lengths[] = {SN_LOOP_POINT, SN_LOOP_LINE, SN_LOOP_DISTANCE};
        for (int i = 0; i < 3; i++)
            worst = fmax(worst, fabs(open[1][lengths[i]] - 1.5 * open[0][lengths[i]]));
        sn_marker_set_destroy(set);
        sn_model_destroy(model);
        sn_model_destroy(larger);
    }
    assert_true(worst < 1e-14);
}

// Cassie's legs are closed by rods: its feet reach goals with all loops met.
static void cassie(void **unused) {
    (void)unused;
    const char *path = data_path("mjcf/cassie.xml");
    if (path == NULL) skip();
    size_t length;
    char *text = slurp(path, &length);
    sn_model *m;
    sn_error error = {0};
    if (sn_mjcf_read(text, length, NULL, &m, NULL, &error) != SN_OK) fail_msg("%s", error.text);
    assert_int_equal(sn_model_nloop(m), 4);
    sn_problem *problem;
    sn_solver *solver;
    sn_task task[3];
    static const char *const on[3] = {"cassie-pelvis", "left-foot", "right-foot"};
    double *q = malloc((size_t)sn_model_nq(m) * sizeof *q);
    sn_model_zero(m, q);
    for (int i = 0; i < 3; i++) {
        int marker = sn_model_find_marker(m, on[i]);
        assert_true(marker >= 0);
        task[i] = sn_task_default(SN_TASK_POINT);
        task[i].joint = sn_model_marker(m, marker)->joint;
        memcpy(task[i].local, sn_model_marker(m, marker)->position, sizeof task[i].local);
    }
    assert_int_equal(sn_problem_create(m, task, 3, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_solver_create(problem, NULL, NULL, &solver, NULL), SN_OK);
    sn_workspace *ws = sn_solver_workspace(solver);
    uint64_t state = 9;
    double worst = 0, error_left = 0;
    int total = 0;
    // close it where it is drawn, then walk the feet about
    for (int n = 0; n < 20; n++) {
        sn_report report;
        assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
        for (int i = 0; i < 3; i++) {
            sn_vec3 p = sn_workspace_point(ws, task[i].joint, task[i].local);
            const double goal[3] = {p.x + (i > 0 ? uniform(&state, -0.05, 0.05) : 0), p.y,
                                    p.z + (i > 0 ? uniform(&state, -0.05, 0.05) : 0)};
            assert_int_equal(sn_problem_set_goal(problem, i, goal), SN_OK);
        }
        assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
        worst = fmax(worst, report.violation);
        error_left = fmax(error_left, report.worst_error);
        total += report.iterations;
    }
    print_message("cassie: loops open by %.1e at most, feet off by %.1e m, %d iterations\n", worst,
                  error_left, total);
    assert_true(worst <= 1e-10);
    // what cannot keep the loops closed says so
    sn_smoother *smoother;
    assert_int_equal(sn_smoother_create(problem, NULL, NULL, &smoother, &error),
                     SN_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "loops closed"));
    for (int i = 0; i < SN_METHOD_COUNT; i++) {
        sn_solver_options options = sn_solver_options_default();
        sn_solver *other;
        options.method = (sn_method)i;
        bool can = i == SN_METHOD_HYBRID || i == SN_METHOD_NEWTON || i == SN_METHOD_LM;
        if (!sn_method_available(options.method)) continue;
        sn_status status = sn_solver_create(problem, &options, NULL, &other, &error);
        assert_int_equal(status, can ? SN_OK : SN_ERR_UNSUPPORTED);
        if (!can) assert_non_null(strstr(error.text, "cannot keep the model's loops closed"));
        sn_solver_destroy(other);
    }
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    sn_model_destroy(m);
    free(q);
    free(text);
}

// Written and read again: the same numbers.
static void round_trip(void **unused) {
    (void)unused;
    uint64_t state = 26;
    for (int n = 0; n < cases_up_to(100, 10000); n++) {
        sn_model *m = coupled_model(&state, 3 + below(&state, 6), 3, true, 2), *back;
        char *text, *again;
        sn_error error = {0};
        assert_int_equal(sn_model_text(m, NULL, &text), SN_OK);
        if (sn_model_read_json(text, strlen(text), NULL, &back, &error) != SN_OK)
            fail_msg("%s", error.text);
        assert_int_equal(sn_model_text(back, NULL, &again), SN_OK);
        assert_string_equal(text, again);
        assert_int_equal(sn_model_ncoupling(back), sn_model_ncoupling(m));
        assert_int_equal(sn_model_nloop(back), 2);
        sn_release(NULL, text);
        sn_release(NULL, again);
        sn_model_destroy(m);
        sn_model_destroy(back);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(balanced),   cmocka_unit_test(saddles),   cmocka_unit_test(scaled),
        cmocka_unit_test(loops),      cmocka_unit_test(once_open), cmocka_unit_test(cassie),
        cmocka_unit_test(round_trip),
    };
    only_asked();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
