// SPDX-License-Identifier: MIT
// Tasks between bodies, on groups of joints, coupled and one's own: answers known by hand, poses found
// again, random problems by invariant, changes at run time, the tasks file. Their derivatives are in
// test_derivatives.c and test_ties.c.
#include "math/vec3.h"
#include "reference.h"
#include "support.h"
#include "sweeps/workspace.h"

// ---- answers known by hand ------------------------------------------------------------------------

// Sliders along x side by side, each on the root or on the one before.
static sn_model *sliders(int n, bool chain) {
    sn_builder *b;
    sn_model *model;
    char name[16];
    assert_int_equal(sn_builder_create("sliders", NULL, &b, NULL), SN_OK);
    sn_joint_desc root = sn_joint_default(SN_JOINT_FIXED);
    root.name = "root";
    assert_int_equal(sn_builder_joint(b, &root), 0);
    for (int i = 0; i < n; i++) {
        sn_joint_desc d = sn_joint_default(SN_JOINT_SLIDER);
        (void)snprintf(name, sizeof name, "s%d", i);
        d.name = name;
        d.parent = chain ? i : 0;
        d.axis[0] = 1, d.axis[1] = d.axis[2] = 0;
        d.mass = i + 1;
        assert_int_equal(sn_builder_joint(b, &d), i + 1);
    }
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    return model;
}

static sn_report solve(const sn_problem *problem, double *q) {
    sn_solver *solver;
    sn_report report;
    sn_error error = {0};
    if (sn_solver_create(problem, NULL, NULL, &solver, &error) != SN_OK) fail_msg("%s", error.text);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    sn_solver_destroy(solver);
    return report;
}

static sn_report solve_tasks(const sn_model *model, const sn_task *tasks, int n, double *q) {
    sn_problem *problem;
    sn_error error = {0};
    if (sn_problem_create(model, tasks, n, NULL, &problem, &error) != SN_OK)
        fail_msg("%s", error.text);
    sn_report report = solve(problem, q);
    sn_problem_destroy(problem);
    return report;
}

static void lines_and_distances(void **unused) {
    (void)unused;
    sn_model *model = sliders(2, false);
    double q[2] = {0.5, -0.25};
    // 5 from a point 3 beside the rail: at 4
    sn_task t = sn_task_default(SN_TASK_DISTANCE);
    t.joint = 1;
    t.local2[1] = 3;
    t.distance = 5;
    assert_true(solve_tasks(model, &t, 1, q).f < 1e-20);
    assert_near(q[0], 4, 1e-10);
    assert_true(q[1] == -0.25);
    // 0.5 apart, whichever way
    t = sn_task_default(SN_TASK_DISTANCE);
    t.joint = 1;
    t.joint2 = 2;
    t.distance = 0.5;
    assert_true(solve_tasks(model, &t, 1, q).f < 1e-20);
    assert_near(fabs(q[0] - q[1]), 0.5, 1e-10);
    // nearest to a slanted line through (1, 1): y is 0 whatever happens, so half of the way
    t = sn_task_default(SN_TASK_LINE);
    t.joint = 1;
    t.goal[0] = t.goal[1] = 1;
    t.axis[0] = 1, t.axis[1] = -1, t.axis[2] = 0;
    assert_true(solve_tasks(model, &t, 1, q).f < 1e-20);
    assert_near(q[0], 2, 1e-10);
    // onto a plane that the other slider carries
    t = sn_task_default(SN_TASK_PLANE);
    t.joint = 1;
    t.joint2 = 2;
    t.goal[0] = 0.75;
    t.normal[0] = 2, t.normal[2] = 0;
    assert_true(solve_tasks(model, &t, 1, q).f < 1e-20);
    assert_near(q[0] - q[1], 0.75, 1e-10);
    sn_model_destroy(model);
}

static void centres(void **unused) {
    (void)unused;
    sn_model *model = sliders(3, true);
    double q[3] = {0.3, 0.2, 0.1}, zero[3] = {0};
    // masses 1, 2, 3 at x1, x1 + x2, x1 + x2 + x3: the centre is c . x, c = (1, 5/6, 1/2), and of
    // 1/2 (c . x - 1)^2 + 1/20 |x|^2 the least lies at c / (c . c + 1/10)
    sn_task t[2] = {sn_task_default(SN_TASK_CENTRE_OF_MASS), sn_task_default(SN_TASK_REST)};
    t[0].goal[0] = 1;
    t[1].q = zero;
    t[1].weight = 0.1;
    (void)solve_tasks(model, t, 2, q);
    const double scale = 1 / (1 + 25.0 / 36 + 0.25 + 0.1);
    assert_near(q[0], scale, 1e-9);
    assert_near(q[1], 5.0 / 6 * scale, 1e-9);
    assert_near(q[2], 0.5 * scale, 1e-9);
    // of two of them, with masses and centres of one's own
    static const int joints[2] = {1, 3};
    static const double masses[2] = {3, 1}, places[6] = {0, 0, 0, 2, 0, 0};
    t[0].joints = joints;
    t[0].njoint = 2;
    t[0].masses = masses;
    t[0].centres = places;
    sn_problem *problem;
    sn_workspace *ws;
    assert_int_equal(sn_problem_create(model, t, 1, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    const double at[3] = {1, 2, 4};
    double f;
    assert_int_equal(sn_workspace_eval(ws, at, 0, &f), SN_OK);
    assert_near(sn_workspace_task_error(ws, 0), (3 * 1 + 9) / 4.0 - 1, 1e-14);
    assert_near(f, 0.5 * 4, 1e-14);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// The masses that robots' and bodies' files bring: the centre by hand, and a goal that it reaches.
static void masses_of_files(void **unused) {
    (void)unused;
    static const char *const files[] = {"urdf/g1_29dof_rev_1_0.urdf", "mjcf/g1.xml",
                                        "opensim/subject01_simbody.osim"};
    int found = 0;
    for (int i = 0; i < 3; i++) {
        const char *path = data_path(files[i]);
        if (path == NULL) continue;
        size_t length;
        char *text = slurp(path, &length);
        sn_error error = {0};
        sn_document document;
        if (sn_document_read(text, length, files[i], NULL, NULL, &document, &error) != SN_OK)
            fail_msg("%s: %s", files[i], error.text);
        const sn_model *model = document.model;
        assert_non_null(model);
        found++;
        double *q = malloc((size_t)sn_model_nq(model) * sizeof *q), all = 0, f;
        sn_model_zero(model, q);
        sn_task t = sn_task_default(SN_TASK_CENTRE_OF_MASS);
        sn_problem *problem;
        sn_workspace *ws;
        if (sn_problem_create(model, &t, 1, NULL, &problem, &error) != SN_OK)
            fail_msg("%s: %s", files[i], error.text);
        assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
        assert_int_equal(sn_workspace_eval(ws, q, 0, &f), SN_OK);
        sn_vec3 sum = {0, 0, 0};
        for (int j = 0; j < sn_model_njoint(model); j++) {
            const sn_joint_desc *d = sn_model_joint(model, j);
            sum = v3_add(sum, v3_scale(d->mass, sn_workspace_point(ws, j, d->centre)));
            all += d->mass;
        }
        sum = v3_scale(1 / all, sum);
        assert_near(sn_workspace_task_error(ws, 0), v3_norm(sum), 1e-13);
        // a little forward
        const double goal[3] = {sum.x + 0.02, sum.y, sum.z};
        assert_int_equal(sn_problem_set_goal(problem, 0, goal), SN_OK);
        sn_report report = solve(problem, q);
        print_message("%s: %.1f kg, off by %.1e m after %d iterations\n", files[i], all,
                      report.worst_error, report.iterations);
        assert_true(report.worst_error < 1e-9);
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
        sn_document_destroy(&document);
        free(q);
        free(text);
    }
    if (found == 0) skip();
}

// Two goals for one slider, weighed together: f = 1/2 (a r1^2 + 2 b r1 r2 + c r2^2).
static void coupled(void **unused) {
    (void)unused;
    sn_model *model = sliders(1, false);
    const double a = 2, b = -0.5, c = 1;
    double W[36] = {0}, q[1] = {7};
    W[0] = a, W[3] = W[18] = b, W[21] = c;
    static const int both[2] = {0, 1};
    sn_task t[3] = {sn_task_default(SN_TASK_POINT), sn_task_default(SN_TASK_POINT),
                    sn_task_default(SN_TASK_COUPLED)};
    t[0].joint = t[1].joint = 1;
    t[1].goal[0] = 3;
    t[0].weight = t[1].weight = 0;
    t[2].tasks = both;
    t[2].ntask = 2;
    t[2].coupling = W;
    (void)solve_tasks(model, t, 3, q);
    assert_near(q[0], 3 * (b + c) / (a + 2 * b + c), 1e-9);
    // one of them missing: the other alone counts, with its own block
    sn_problem *problem;
    assert_int_equal(sn_problem_create(model, t, 3, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_problem_set_missing(problem, 0, true), SN_OK);
    (void)solve(problem, q);
    assert_near(q[0], 3, 1e-9);
    const double goal[3] = {-1, 0, 0};
    assert_int_equal(sn_problem_set_goal(problem, 1, goal), SN_OK);
    (void)solve(problem, q);
    assert_near(q[0], -1, 1e-9);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

static double spring(void *user, const sn_frame *frames, double *gradient) {
    const double x = frames[0].p.x - 2;
    ++*(int *)user;
    if (gradient != NULL)
        for (int k = 0; k < 6; k++) gradient[k] = k == 3 ? x + x * x * x : 0;
    return 0.5 * x * x + 0.25 * x * x * x * x;
}

static void spring_bend(void *user, const sn_frame *frames, const double *x, double *out) {
    const double away = frames[0].p.x - 2;
    ++*(int *)user;
    for (int k = 0; k < 6; k++) out[k] = k == 3 ? (1 + 3 * away * away) * x[3] : 0;
}

static void ones_own(void **unused) {
    (void)unused;
    sn_model *model = sliders(1, false);
    int calls = 0;
    static const int joints[1] = {1};
    sn_task t = sn_task_default(SN_TASK_OWN);
    t.joints = joints;
    t.njoint = 1;
    t.own = (sn_own_task){&calls, spring, spring_bend};
    for (int bent = 0; bent < 2; bent++) {
        double q[1] = {5}, H[1];
        sn_problem *problem;
        sn_workspace *ws;
        double f;
        t.own.multiply = bent ? spring_bend : NULL;
        assert_int_equal(sn_problem_create(model, &t, 1, NULL, &problem, NULL), SN_OK);
        assert_int_equal(sn_workspace_create(problem, true, NULL, &ws, NULL), SN_OK);
        assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f), SN_OK);
        sn_workspace_hessian(ws, H);
        // 1 + 3 x^2, or phi'^2 / (2 phi), the square of d sqrt(2 phi) / dx: never a difference
        assert_near(H[0], bent ? 28 : 30 * 30 / 49.5, 1e-13);
        sn_workspace_destroy(ws);
        sn_report report = solve(problem, q);
        assert_near(q[0], 2, 1e-9);
        print_message("one's own, %s second derivatives: %d iterations\n",
                      bent ? "with" : "without", report.iterations);
        sn_problem_destroy(problem);
    }
    assert_true(calls > 0);
    sn_model_destroy(model);
}

// ---- poses found again ----------------------------------------------------------------------------

static void set3(double to[3], sn_vec3 x) { to[0] = x.x, to[1] = x.y, to[2] = x.z; }

// Give the task the goal that the pose of `ws` meets.
static void meet(const sn_workspace *ws, sn_task *t) {
    const sn_frame a = t->joint >= 0 ? sn_workspace_frame(ws, t->joint) : (sn_frame){0};
    sn_frame b = {m3_identity(), {0, 0, 0}};
    if (t->joint2 >= 0) b = sn_workspace_frame(ws, t->joint2);
    const sn_vec3 p = v3_add(a.p, m3_mul(&a.R, v3_from(t->local)));
    const sn_vec3 p2 = v3_add(b.p, m3_mul(&b.R, v3_from(t->local2)));
    const sn_mat3 back = m3_transpose(&b.R);
    const sn_mat3 turn = t->in_joint2 ? m3_mulm(&back, &a.R) : m3_mulm(&a.R, &back);
    const sn_quat r = sn_quat_from_mat3(turn);
    switch (t->type) {
    case SN_TASK_LINE:
        set3(t->goal, m3_tmul(&b.R, v3_sub(p, b.p)));
        break;
    case SN_TASK_DISTANCE:
        t->distance = v3_norm(v3_sub(p, p2));
        break;
    case SN_TASK_LOOK_AT:
        set3(t->axis, m3_tmul(&a.R, v3_sub(p2, p)));
        break;
    default:
        set3(t->goal, t->in_joint2 ? m3_tmul(&b.R, v3_sub(p, p2)) : v3_sub(p, p2));
        t->rotation[0] = r.w, t->rotation[1] = r.x, t->rotation[2] = r.y, t->rotation[3] = r.z;
        break;
    }
}

// Humanoids in random poses: hands, head and feet tied to each other as they are there, found again from
// another pose nearby.
static void found_again(void **unused) {
    (void)unused;
    sn_model *model;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    static const char *const names[] = {"left_hand", "right_hand", "head", "left_foot",
                                        "right_foot"};
    const int nq = sn_model_nq(model), nv = sn_model_nv(model);
    double q[64], start[64], step[64];
    int count = cases_up_to(100, 10000), iterations[SN_TASK_TYPE_COUNT] = {0},
        met[SN_TASK_TYPE_COUNT] = {0}, tried[SN_TASK_TYPE_COUNT] = {0};
    assert_true(nq <= 64);
    sn_problem *none;
    sn_workspace *ws;
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &none, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(none, false, NULL, &ws, NULL), SN_OK);
    for (int n = first_case(); n < count; n++) {
        uint64_t state = 51 + 1000 * (uint64_t)n;
        sn_task_type type =
            (sn_task_type)(SN_TASK_RELATIVE + n % (SN_TASK_LINE - SN_TASK_RELATIVE + 1));
        sn_task tasks[6];
        sn_model_sample(model, &state, q);
        (void)sn_model_clamp(model, q);
        assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
        // two ties of the type between three of them, and the feet where they are
        for (int k = 0; k < 4; k++) {
            double *unused_arrays;
            sn_task t =
                random_task(&state, model, k < 2 ? type : SN_TASK_RELATIVE, 0, &unused_arrays);
            t.has_matrix = t.has_rotation_matrix = false;
            t.loss = SN_LOSS_NONE;
            t.joint = sn_model_find_joint(model, names[k < 2 ? k : k + 1]);
            t.joint2 = k < 2 ? sn_model_find_joint(model, names[k + 1]) : -1;
            if (k >= 2) {
                t.type = SN_TASK_POINT;
                sn_vec3 p = sn_workspace_point(ws, t.joint, t.local);
                set3(t.goal, p);
            } else {
                meet(ws, &t);
            }
            tasks[k] = t;
        }
        for (int i = 0; i < nv; i++) step[i] = uniform(&state, -0.15, 0.15);
        sn_model_integrate(model, q, step, start);
        sn_report report = solve_tasks(model, tasks, 4, start);
        tried[type]++;
        met[type] += report.worst_error < 1e-8;
        iterations[type] += report.iterations;
    }
    int all = 0, good = 0;
    for (int t = SN_TASK_RELATIVE; t <= SN_TASK_LINE; t++) {
        if (tried[t] == 0) continue;
        print_message("%-20s met %d of %d, %.1f iterations\n", sn_task_type_name((sn_task_type)t),
                      met[t], tried[t], (double)iterations[t] / tried[t]);
        all += tried[t];
        good += met[t];
    }
    assert_true(good >= all * 97 / 100);
    sn_workspace_destroy(ws);
    sn_problem_destroy(none);
    sn_model_destroy(model);
}

// ---- invariants -----------------------------------------------------------------------------------

typedef struct invariants_tally {
    int stops[SN_STOP_COUNT], tied;
    double worst;
} invariants_tally;

// Any tasks on any trees with limits: f never above the start's, limits kept, f and the gradient as
// reported, nothing allocated.
static void check_invariants(int n, invariants_tally *t) {
    uint64_t state = 61 + 1000 * (uint64_t)n;
    sn_model *model = random_model(&state, 2 + below(&state, 8), -1);
    random_owns = n % 8 == 0;
    sn_problem *problem = random_problem(&state, model, 1 + below(&state, 4), -2);
    static const sn_method methods[] = {SN_METHOD_HYBRID, SN_METHOD_NEWTON, SN_METHOD_LM,
                                        SN_METHOD_LBFGS, SN_METHOD_NEWTON_PCG};
    sn_solver_options options = sn_solver_options_default();
    options.method = methods[n % 5];
    int nq = sn_model_nq(model), nv = sn_model_nv(model);
    double *q = malloc((size_t)(nq + nv + 1) * sizeof *q), *g = q + nq, f, start, now;
    assert_non_null(q);
    for (int j = 0; j < sn_model_njoint(model); j++)
        for (int k = 0; k < sn_model_joint_nv(model, j); k++)
            if (below(&state, 3) == 0) (void)sn_problem_set_limits(problem, j, k, -0.7, 0.9);
    sn_model_sample(model, &state, q);
    sn_solver *solver;
    sn_report report;
    test_allocator allocator;
    test_allocator_begin(&allocator);
    assert_int_equal(sn_solver_create(problem, &options, &allocator.base, &solver, NULL), SN_OK);
    sn_workspace *ws = sn_solver_workspace(solver);
    allocator.trap = true;
    t->tied += ws->ties != NULL;
    // the start, moved into its limits
    sn_solver_options still = options;
    still.max_iterations = 0;
    sn_solver *look;
    assert_int_equal(sn_solver_create(problem, &still, NULL, &look, NULL), SN_OK);
    double *moved = malloc((size_t)(nq + 1) * sizeof *moved);
    memcpy(moved, q, (size_t)nq * sizeof *q);
    sn_report first;
    assert_int_equal(sn_solver_solve(look, moved, &first), SN_OK);
    start = first.f;
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    t->stops[report.stop]++;
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_GRADIENT, &f), SN_OK);
    sn_workspace_gradient(ws, g);
    assert_near(f, report.f, 1e-11);
    if (!(f <= start * (1 + 1e-12) + 1e-300)) fail_msg("case %d: %g rose to %g", n, start, f);
    assert_int_equal(sn_workspace_eval(ws, q, 0, &now), SN_OK);
    assert_near(now, f, 1e-11);
    const double *lower = sn_problem_lower(problem), *upper = sn_problem_upper(problem);
    for (int j = 0; j < sn_model_njoint(model); j++) {
        sn_joint_type type = sn_model_joint(model, j)->type;
        int plain = type == SN_JOINT_BALL   ? 0
                    : type == SN_JOINT_FREE ? 3
                                            : sn_model_joint_nv(model, j);
        for (int k = 0; k < plain; k++) {
            int v = sn_model_v_index(model, j) + k;
            double x = q[sn_model_q_index(model, j) + k];
            if (!(x >= lower[v] && x <= upper[v]))
                fail_msg("case %d: %g outside [%g, %g]", n, x, lower[v], upper[v]);
        }
    }
    if (report.stop == SN_STOP_MINIMUM && !isnan(report.gradient))
        t->worst = fmax(t->worst, report.gradient);
    allocator.trap = false;
    sn_solver_destroy(solver);
    sn_solver_destroy(look);
    assert_int_equal(allocator.live, 0);
    free(moved);
    free(q);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    random_owns = true;
}

static void invariants(void **unused) {
    (void)unused;
    int count = cases(900);
    invariants_tally t = {0};
    for (int n = first_case(); n < count; n++) check_invariants(n, &t);
    print_message("%d problems, %d with tied tasks; minima %d, goals met %d, stalled %d, limits of "
                  "iterations %d; largest relative gradient at a minimum %.1e\n",
                  count, t.tied, t.stops[SN_STOP_MINIMUM], t.stops[SN_STOP_GOAL],
                  t.stops[SN_STOP_STALLED], t.stops[SN_STOP_ITERATIONS], t.worst);
    assert_true(t.tied > (count - first_case()) / 2);
    assert_true(t.worst <= 1e-8);
}

// Found by the long version: another turn of an angle, and a rotation that is off by half a turn is off by the half turn the
// other way, which is far from the same where tasks are coupled.
static void half_turns(void **unused) {
    (void)unused;
    invariants_tally t = {0};
    check_invariants(437233, &t);
    check_invariants(724998, &t);
}

// ---- at run time ----------------------------------------------------------------------------------

static double value_of(const sn_problem *problem, const double *q) {
    sn_workspace *ws;
    double f, g[64];
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_GRADIENT, &f), SN_OK);
    sn_workspace_gradient(ws, g);
    for (int i = 0; i < sn_model_nv(sn_problem_model(problem)); i++) f += 0.01 * (i + 1) * g[i];
    sn_workspace_destroy(ws);
    return f;
}

// What is changed counts as if the problem had been made so; nothing is allocated, and copies know it.
static void changed(void **unused) {
    (void)unused;
    uint64_t state = 71;
    sn_model *model;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    double q[64];
    sn_model_sample(model, &state, q);
    static const int joints[3] = {2, 5, 9}, members[2] = {0, 2};
    static const double masses[3] = {1, 2, 3}, heavy[3] = {5, 0, 1}, point[3] = {0.1, -0.2, 0.3},
                        axis[3] = {1, 2, -1}, first[9] = {2, 0.5, 0, 0.5, 1, 0, 0, 0, 3},
                        second[9] = {1, 0, 0, 0, 4, 1, 0, 1, 2};
    double W[16] = {0}, V[16] = {0};
    for (int i = 0; i < 4; i++) {
        W[5 * i] = 1 + i;
        V[5 * i] = 2;
    }
    V[1] = V[4] = 0.5;
    enum { LINE, POSE, DISTANCE, LOOK, CENTRE, COUPLED, TASKS };
    sn_task t[TASKS] = {
        sn_task_default(SN_TASK_LINE),           sn_task_default(SN_TASK_RELATIVE_POSE),
        sn_task_default(SN_TASK_DISTANCE),       sn_task_default(SN_TASK_LOOK_AT),
        sn_task_default(SN_TASK_CENTRE_OF_MASS), sn_task_default(SN_TASK_COUPLED)};
    for (int i = LINE; i <= LOOK; i++) t[i].joint = 3 + i, t[i].joint2 = 12 - i;
    t[POSE].has_matrix = t[POSE].has_rotation_matrix = true;
    t[POSE].in_joint2 = true;
    memcpy(t[POSE].matrix, first, sizeof first);
    memcpy(t[POSE].rotation_matrix, first, sizeof first);
    t[CENTRE].joints = joints;
    t[CENTRE].njoint = 3;
    t[CENTRE].masses = masses;
    t[COUPLED].tasks = members;
    t[COUPLED].ntask = 2;
    t[COUPLED].coupling = W;
    test_allocator allocator;
    test_allocator_begin(&allocator);
    sn_problem *p, *fresh, *copy;
    assert_int_equal(sn_problem_create(model, t, TASKS, &allocator.base, &p, NULL), SN_OK);
    double before = value_of(p, q);
    allocator.trap = true;
    assert_int_equal(sn_problem_set_axis(p, LINE, axis), SN_OK);
    assert_int_equal(sn_problem_set_goal(p, LINE, point), SN_OK);
    assert_int_equal(sn_problem_set_local2(p, DISTANCE, point), SN_OK);
    assert_int_equal(sn_problem_set_distance(p, DISTANCE, 0.4), SN_OK);
    assert_int_equal(sn_problem_set_axis(p, LOOK, axis), SN_OK);
    assert_int_equal(sn_problem_set_goal(p, LOOK, point), SN_OK);
    assert_int_equal(sn_problem_set_loss(p, LOOK, SN_LOSS_CAUCHY, 0.2), SN_OK);
    assert_int_equal(sn_problem_set_rotation_weight(p, POSE, 0.3), SN_OK);
    assert_int_equal(sn_problem_set_matrix(p, POSE, second), SN_OK);
    assert_int_equal(sn_problem_set_rotation_matrix(p, POSE, second), SN_OK);
    assert_int_equal(sn_problem_set_masses(p, CENTRE, heavy), SN_OK);
    assert_int_equal(sn_problem_set_coupling(p, COUPLED, V), SN_OK);
    allocator.trap = false;
    // what is none is refused and changes nothing
    const double wrong[16] = {-1}, nothing[3] = {0, 0, 0};
    assert_int_equal(sn_problem_set_matrix(p, POSE, wrong), SN_ERR_VALUE);
    assert_int_equal(sn_problem_set_coupling(p, COUPLED, wrong), SN_ERR_VALUE);
    assert_int_equal(sn_problem_set_masses(p, CENTRE, nothing), SN_ERR_VALUE);
    assert_int_equal(sn_problem_set_axis(p, LINE, nothing), SN_ERR_VALUE);
    assert_int_equal(sn_problem_set_distance(p, DISTANCE, -1), SN_ERR_VALUE);
    assert_int_equal(sn_problem_set_matrix(p, LINE, second), SN_ERR_ARGUMENT);
    assert_int_equal(sn_problem_set_distance(p, LINE, 1), SN_ERR_ARGUMENT);
    assert_int_equal(sn_problem_set_masses(p, LINE, heavy), SN_ERR_ARGUMENT);
    memcpy(t[LINE].axis, axis, sizeof axis);
    memcpy(t[LINE].goal, point, sizeof point);
    memcpy(t[DISTANCE].local2, point, sizeof point);
    t[DISTANCE].distance = 0.4;
    memcpy(t[LOOK].axis, axis, sizeof axis);
    memcpy(t[LOOK].local2, point, sizeof point);
    t[LOOK].loss = SN_LOSS_CAUCHY;
    t[LOOK].loss_scale = 0.2;
    t[POSE].rotation_weight = 0.3;
    memcpy(t[POSE].matrix, second, sizeof second);
    memcpy(t[POSE].rotation_matrix, second, sizeof second);
    t[CENTRE].masses = heavy;
    t[COUPLED].coupling = V;
    assert_int_equal(sn_problem_create(model, t, TASKS, NULL, &fresh, NULL), SN_OK);
    assert_int_equal(sn_problem_copy(p, NULL, 0, NULL, &copy, NULL), SN_OK);
    assert_true(value_of(p, q) != before);
    assert_near(value_of(p, q), value_of(fresh, q), 1e-14);
    assert_near(value_of(p, q), value_of(copy, q), 1e-14);
    sn_problem_destroy(copy);
    sn_problem_destroy(fresh);
    sn_problem_destroy(p);
    assert_int_equal(allocator.live, 0);
    sn_model_destroy(model);
}

// Members that are missing or off drop out of a coupled task, derivatives and all.
static void missing_members(void **unused) {
    (void)unused;
    int count = cases_up_to(100, 10000);
    double worst = 0;
    for (int n = 0; n < count; n++) {
        uint64_t state = 81 + 1000 * (uint64_t)n;
        sn_model *model = random_model(&state, 2 + below(&state, 5), -1);
        sn_problem *problem = random_problem(&state, model, 4, SN_TASK_COUPLED);
        int nv = sn_model_nv(model);
        size_t size = (size_t)(nv * nv + 1);
        double *q = malloc((size_t)(sn_model_nq(model) + 1) * sizeof *q), f, f2;
        double *H = malloc(size * sizeof *H), *H2 = malloc(size * sizeof *H2);
        bool gone[4] = {false};
        for (int i = 0; i < 3; i++) {
            gone[i] = below(&state, 2) == 0;
            if (gone[i])
                (void)(i % 2 == 0 ? sn_problem_set_missing(problem, i, true)
                                  : sn_problem_set_enabled(problem, i, false));
        }
        sn_model_sample(model, &state, q);
        sn_workspace *ws;
        assert_int_equal(sn_workspace_create(problem, true, NULL, &ws, NULL), SN_OK);
        assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f), SN_OK);
        sn_workspace_hessian(ws, H);
        reference_missing = gone;
        reference_eval(problem, q, &f2, NULL, H2);
        reference_missing = NULL;
        assert_near(f, f2, 1e-12);
        worst = fmax(worst, reference_relative(H, H2, nv * nv, 0.1));
        sn_workspace_destroy(ws);
        free(q);
        free(H);
        free(H2);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
    print_message("%d coupled tasks, members missing: Hessian off by %.1e\n", count, worst);
    assert_true(worst < 1e-11);
}

// ---- the tasks file -------------------------------------------------------------------------------

static const char all_kinds[] =
    "{\"tasks\": ["
    "{\"name\": \"hands\", \"type\": \"relative\", \"joint\": \"left_hand\", \"joint2\": "
    "\"right_hand\", \"local2\": [0,0,0.1], \"goal\": [0.3,0,0], \"goal_in\": \"joint2\", "
    "\"loss\": "
    "\"huber\", \"loss_scale\": 0.1},"
    "{\"type\": \"relative-orientation\", \"joint\": \"left_foot\", \"joint2\": \"right_foot\", "
    "\"goal\": [1,0,0,0], \"weight\": [[1,0,0],[0,2,0],[0,0,3]]},"
    "{\"type\": \"relative-pose\", \"joint\": \"left_hand\", \"joint2\": \"head\", \"goal\": "
    "[0,0.1,0], \"rotation\": [0,1,0,0], \"rotation_weight\": [[1,0,0],[0,0,0],[0,0,1]]},"
    "{\"name\": \"far\", \"type\": \"distance\", \"joint\": \"head\", \"point\": [0,2,0], "
    "\"distance\": 0.5},"
    "{\"type\": \"distance\", \"joint\": \"head\", \"joint2\": \"left_foot\", \"distance\": 1},"
    "{\"type\": \"look-at\", \"joint\": \"head\", \"axis\": [0,0,1], \"goal\": [1,1,3]},"
    "{\"type\": \"look-at\", \"joint\": \"head\", \"axis\": [0,0,1], \"joint2\": \"left_hand\"},"
    "{\"type\": \"line\", \"joint\": \"left_hand\", \"point\": [0,1,0], \"axis\": [1,0,0]},"
    "{\"type\": \"plane\", \"joint\": \"left_hand\", \"joint2\": \"pelvis\", \"point\": [0,0,0.2], "
    "\"normal\": [0,0,1]},"
    "{\"type\": \"centre-of-mass\", \"joints\": [\"pelvis\", \"head\"], \"masses\": [30, 5], "
    "\"centres\": [[0,0,0],[0,0.1,0]], \"goal\": [0,1,0]},"
    "{\"type\": \"coupled\", \"tasks\": [\"hands\", \"far\"], \"weight\": "
    "[[1,0,0,0.5],[0,1,0,0],[0,0,1,0],[0.5,0,0,1]]},"
    "{\"type\": \"orientation\", \"joint\": \"head\", \"goal\": [1,0,0,0], \"weight\": "
    "[[1,0,0],[0,0,0],[0,0,1]]}]}";

static void file(void **unused) {
    (void)unused;
    sn_model *model;
    sn_problem *p;
    sn_error error = {0};
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    if (sn_problem_read_json(all_kinds, strlen(all_kinds), model, NULL, &p, &error) != SN_OK)
        fail_msg("%s", error.text);
    assert_int_equal(sn_problem_ntask(p), 12);
    const sn_task *t = sn_problem_task(p, 0);
    assert_true(t->in_joint2 && t->goal[0] == 0.3 && t->local2[2] == 0.1);
    assert_int_equal(t->joint2, sn_model_find_joint(model, "right_hand"));
    assert_int_equal(t->loss, SN_LOSS_HUBER);
    assert_true(sn_problem_task(p, 1)->has_matrix && sn_problem_task(p, 1)->matrix[8] == 3);
    assert_true(sn_problem_task(p, 2)->has_rotation_matrix);
    assert_int_equal(sn_problem_task(p, 3)->joint2, -1);
    assert_true(sn_problem_task(p, 3)->local2[1] == 2);
    assert_true(sn_problem_task(p, 5)->local2[2] == 3 && sn_problem_task(p, 5)->joint2 == -1);
    assert_true(sn_problem_task(p, 8)->goal[2] == 0.2);
    assert_int_equal(sn_problem_task(p, 9)->njoint, 2);
    assert_true(sn_problem_task(p, 9)->centres[4] == 0.1);
    assert_int_equal(sn_problem_task(p, 10)->tasks[1], 3);
    double q[64];
    sn_model_zero(model, q);
    assert_true(solve(p, q).f >= 0);
    sn_problem_destroy(p);
    // goals that are still to come
    static const char later[] =
        "{\"tasks\": [{\"type\": \"point\", \"joint\": \"head\", \"missing\": true},"
        "{\"type\": \"pose\", \"joint\": \"head\", \"missing\": true},"
        "{\"type\": \"point\", \"joint\": \"head\", \"missing\": false, \"goal\": [0,1,0]}]}";
    if (sn_problem_read_json(later, strlen(later), model, NULL, &p, &error) != SN_OK)
        fail_msg("%s", error.text);
    assert_false(sn_problem_task_active(p, 0) || sn_problem_task_active(p, 1));
    assert_true(sn_problem_task_active(p, 2));
    assert_int_equal(sn_problem_set_goal(p, 0, q), SN_OK);
    assert_true(sn_problem_task_active(p, 0));
    sn_problem_destroy(p);
    // a failing allocation, whichever it is, leaves nothing behind
    for (long n = 0;; n++) {
        test_allocator a;
        test_allocator_begin(&a);
        a.fail_at = n;
        sn_status status =
            sn_problem_read_json(all_kinds, strlen(all_kinds), model, &a.base, &p, NULL);
        if (status == SN_OK) sn_problem_destroy(p);
        assert_int_equal(a.live, 0);
        if (status == SN_OK) break;
        assert_int_equal(status, SN_ERR_MEMORY);
    }
    static const struct {
        const char *task, *says;
    } wrong[] = {
        {"\"type\": \"point\", \"joint\": \"head\", \"missing\": 1", "must be true or false"},
        {"\"type\": \"point\", \"joint\": \"head\", \"missing\": false", "needs \"goal\""},
        {"\"type\": \"relative\", \"joint\": \"head\"", "needs \"joint2\""},
        {"\"type\": \"relative\", \"joint\": \"head\", \"joint2\": \"zz\"", "\"zz\""},
        {"\"type\": \"relative\", \"joint\": \"head\", \"joint2\": \"pelvis\", \"goal_in\": 3",
         "goal_in"},
        {"\"type\": \"relative\", \"joint\": \"head\", \"joint2\": \"pelvis\", \"goal_in\": \"x\"",
         "\"world\" or \"joint2\""},
        {"\"type\": \"distance\", \"joint\": \"head\", \"point\": [0,0,0]", "needs \"distance\""},
        {"\"type\": \"distance\", \"joint\": \"head\", \"distance\": 1", "needs \"point\""},
        {"\"type\": \"distance\", \"joint\": \"head\", \"point\": [0,0,0], \"distance\": -1",
         "distance is negative"},
        {"\"type\": \"distance\", \"joint\": \"head\", \"point\": [0,0,0], \"distance\": 1, "
         "\"weight\": [[1,0,0],[0,1,0],[0,0,1]]",
         "\"weight\" must be a number"},
        {"\"type\": \"look-at\", \"joint\": \"head\", \"axis\": [0,0,1]", "needs \"goal\""},
        {"\"type\": \"look-at\", \"joint\": \"head\", \"axis\": [0,0,0], \"goal\": [1,0,0]",
         "axis is zero"},
        {"\"type\": \"line\", \"joint\": \"head\", \"point\": [0,0,0]", "needs \"axis\""},
        {"\"type\": \"centre-of-mass\", \"goal\": [0,0,0], \"joints\": [\"head\"], \"masses\": [0]",
         "masses"},
        {"\"type\": \"centre-of-mass\", \"goal\": [0,0,0], \"joints\": [\"head\", \"head\"], "
         "\"masses\": [1, 1]",
         "twice"},
        {"\"type\": \"centre-of-mass\", \"goal\": [0,0,0], \"joints\": []", "array of names"},
        {"\"type\": \"centre-of-mass\", \"goal\": [0,0,0], \"joints\": [\"head\"], \"centres\": "
         "[1]",
         "1 rows of three"},
        {"\"type\": \"centre-of-mass\", \"joint\": \"head\", \"goal\": [0,0,0]", "no one joint"},
        {"\"type\": \"posture\", \"joints\": [\"head\"]", "needs \"q\""},
        {"\"type\": \"coupled\", \"tasks\": [0]", "needs \"weight\""},
        {"\"type\": \"coupled\", \"tasks\": [0], \"weight\": [[1]]", "3 numbers"},
        {"\"type\": \"coupled\", \"tasks\": [1], \"weight\": [[1,0,0],[0,1,0],[0,0,1]]",
         "0 numbers"},
        {"\"type\": \"coupled\", \"tasks\": [\"who\"], \"weight\": [[1]]", "no task \"who\""},
        {"\"type\": \"coupled\", \"tasks\": [0.5], \"weight\": [[1]]", "names or numbers"},
        {"\"type\": \"coupled\", \"tasks\": [0], \"weight\": [[1,2,0],[2,1,0],[0,0,1]]",
         "positive semidefinite"},
        {"\"type\": \"coupled\", \"tasks\": [0,0], \"weight\": "
         "[[1,0,0,0,0,0],[0,1,0,0,0,0],[0,0,1,0,0,0],[0,0,0,1,0,0],[0,0,0,0,1,0],[0,0,0,0,0,1]]",
         "twice"},
        {"\"type\": \"own\"", "given in C"},
        {"\"type\": \"pose\", \"joint\": \"head\", \"goal\": [0,0,0], \"rotation\": [1,0,0,0], "
         "\"loss\": \"huber\", \"loss_scale\": 1",
         "has no loss"},
        {"\"type\": \"pose\", \"joint\": \"head\", \"goal\": [0,0,0], \"rotation\": [1,0,0,0], "
         "\"rotation_weight\": [[1]]",
         "three rows of three"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[700];
        (void)snprintf(text, sizeof text,
                       "{\"tasks\": [{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0,0,0]},"
                       "\n{%s}]}",
                       wrong[i].task);
        sn_error said = {0};
        assert_int_equal(sn_problem_read_json(text, strlen(text), model, NULL, &p, &said),
                         SN_ERR_TASK);
        assert_null(p);
        if (strstr(said.text, wrong[i].says) == NULL)
            fail_msg("%s: \"%s\" lacks \"%s\"", wrong[i].task, said.text, wrong[i].says);
    }
    sn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_distances),
        cmocka_unit_test(centres),
        cmocka_unit_test(masses_of_files),
        cmocka_unit_test(coupled),
        cmocka_unit_test(ones_own),
        cmocka_unit_test(found_again),
        cmocka_unit_test(invariants),
        cmocka_unit_test(half_turns),
        cmocka_unit_test(changed),
        cmocka_unit_test(missing_members),
        cmocka_unit_test(file),
    };
    only_asked();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
