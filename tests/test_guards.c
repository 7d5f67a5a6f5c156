// SPDX-License-Identifier: MIT
// What must not happen: derivatives against hyper-dual numbers, and solutions by invariant.
#include "reference.h"
#include "support.h"

static double worst_f, worst_g, worst_H;

static double largest(const double *x, int n) {
    double top = 0;
    for (int i = 0; i < n; i++) top = fmax(top, fabs(x[i]));
    return top;
}

// A random tree with random shapes on it, in the world too.
static sn_model *random_solids(uint64_t *state, int njoint, int type, double size) {
    sn_model *plain = random_model(state, njoint, type), *model;
    sn_builder *b;
    assert_int_equal(sn_builder_create_from(plain, NULL, &b, NULL), SN_OK);
    int count = 2 + below(state, 2 * njoint);
    for (int i = 0; i < count; i++) {
        sn_shape_desc d = sn_shape_default((sn_shape_type)below(state, SN_SHAPE_TYPE_COUNT));
        d.joint = below(state, njoint + 1) - 1;
        d.radius = uniform(state, 0.02, 0.3) * size;
        for (int k = 0; k < 3; k++) {
            d.from[k] = uniform(state, -0.5, 0.5);
            d.to[k] = uniform(state, -0.5, 0.5);
            d.normal[k] = uniform(state, -1, 1);
        }
        if (below(state, 10) == 0) d.radius = 0;
        (void)sn_builder_shape(b, &d);
    }
    sn_error error = {0};
    if (sn_builder_finish(b, &model, &error) != SN_OK) fail_msg("%s", error.text);
    sn_builder_destroy(b);
    sn_model_destroy(plain);
    return model;
}

static bool has_mass(const sn_model *model) {
    for (int i = 0; i < sn_model_njoint(model); i++)
        if (sn_model_joint(model, i)->mass > 0) return true;
    return false;
}

// Of one kind: 0 avoid, 1 a point's half-space, 2 the centre's, 3 coordinates, 4 support.
static bool random_guard(uint64_t *state, const sn_model *model, int kind, double *room,
                         sn_task *out) {
    int nv = sn_model_nv(model), njoint = sn_model_njoint(model);
    *out = sn_task_default(kind == 0   ? SN_TASK_AVOID
                           : kind == 4 ? SN_TASK_SUPPORT
                                       : SN_TASK_HALF_SPACE);
    out->weight = uniform(state, 0.1, 3);
    out->distance = uniform(state, 0, 0.4);
    for (int k = 0; k < 3; k++) {
        out->local[k] = uniform(state, -0.5, 0.5);
        out->goal[k] = uniform(state, -1, 1);
        out->normal[k] = uniform(state, -1, 1);
    }
    if (kind == 0) {
        if (below(state, 3) == 0) out->joint = below(state, njoint);
        return sn_model_nshape(model) > 0;
    }
    if (kind == 1) {
        out->joint = below(state, njoint);
        if (below(state, 2) == 0) out->joint2 = below(state, njoint);
        return out->joint != out->joint2;
    }
    if (kind == 2) out->joint = -1;
    if (kind == 3) {
        bool any = false;
        for (int j = 0; j < njoint; j++) {
            sn_joint_type type = sn_model_joint(model, j)->type;
            bool turns = type == SN_JOINT_BALL || type == SN_JOINT_FREE;
            for (int k = 0; k < sn_model_joint_nv(model, j); k++) {
                bool plain = !turns || (type == SN_JOINT_FREE && k < 3);
                double x = plain && below(state, 2) == 0 ? uniform(state, -1, 1) : 0;
                room[sn_model_v_index(model, j) + k] = x;
                any = any || x != 0;
            }
        }
        out->q_weight = room;
        return any && nv > 0;
    }
    if (kind == 4) {
        out->corners = room;
        out->ncorner = 3 + below(state, 6);
        for (int k = 0; k < 3 * out->ncorner; k++) room[k] = uniform(state, -1, 1);
    }
    return has_mass(model);
}

static void compare(const sn_problem *problem, const double *q) {
    const sn_model *model = sn_problem_model(problem);
    int nv = sn_model_nv(model);
    size_t n = (size_t)nv;
    sn_workspace *ws;
    assert_int_equal(sn_workspace_create(problem, true, NULL, &ws, NULL), SN_OK);
    double *room = calloc(4 * n * n + 6 * n + 1, sizeof *room);
    assert_non_null(room);
    double *H = room, *H2 = H + n * n, *H3 = H2 + n * n, *g = H3 + n * n, *g2 = g + n, *x = g2 + n,
           *y = x + n, f, f2;
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f), SN_OK);
    sn_workspace_gradient(ws, g);
    sn_workspace_hessian(ws, H);
    reference_eval(problem, q, &f2, g2, H2);
    double floor = 1e-3, size = fmax(largest(H2, nv * nv), 1e3 * floor);
    worst_f = fmax(worst_f, reference_relative(&f, &f2, 1, floor));
    worst_g = fmax(worst_g, reference_relative(g, g2, nv, 1e-3 * size));
    worst_H = fmax(worst_H, reference_relative(H, H2, nv * nv, floor));
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN | SN_EVAL_GENERAL, &f), SN_OK);
    sn_workspace_hessian(ws, H3);
    assert_true(reference_relative(H3, H, nv * nv, floor) < 1e-12);
    assert_int_equal(sn_workspace_eval(ws, q, 0, &f), SN_OK);
    assert_near(f, f2, 1e-12);
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_GRADIENT, &f), SN_OK);
    sn_workspace_gradient(ws, x);
    assert_true(reference_relative(x, g, nv, 1e-3 * size) < 1e-12);
    uint64_t state = 3;
    for (int gn = 0; gn < 2; gn++) {
        assert_int_equal(sn_workspace_eval(ws, q, gn ? SN_EVAL_GAUSS_NEWTON : SN_EVAL_HESSIAN, &f),
                         SN_OK);
        sn_workspace_hessian(ws, H3);
        for (int i = 0; i < nv; i++) x[i] = uniform(&state, -1, 1);
        sn_workspace_multiply(ws, gn, x, y);
        for (int i = 0; i < nv; i++) {
            g2[i] = 0;
            for (int j = 0; j < nv; j++) g2[i] += H3[i + nv * j] * x[j];
        }
        assert_true(reference_relative(y, g2, nv, 1e-3 * size) < 1e-11);
    }
    free(room);
    sn_workspace_destroy(ws);
}

static void test_derivatives(void **unused) {
    (void)unused;
    uint64_t state = 21;
    int count = cases(1000), active = 0;
    for (int i = 0; i < count; i++) {
        int type = i % 4 == 0 ? -1 : i % SN_JOINT_TYPE_COUNT;
        sn_model *model = random_solids(&state, 1 + below(&state, 8), type, 1.5);
        double room[4][600], *q = malloc((size_t)(sn_model_nq(model) + 1) * sizeof *q);
        sn_task tasks[4];
        int ntask = 0;
        for (int k = 0; k < 3; k++)
            ntask += random_guard(&state, model, k == 0 ? i % 5 : below(&state, 5), room[ntask],
                                  &tasks[ntask]);
        if (ntask == 0 || below(&state, 2) == 0) {
            tasks[ntask] = sn_task_default(SN_TASK_POINT);
            tasks[ntask++].joint = 0;
        }
        sn_problem *problem;
        sn_error error = {0};
        if (sn_problem_create(model, tasks, ntask, NULL, &problem, &error) != SN_OK)
            fail_msg("%s", error.text);
        sn_model_sample(model, &state, q);
        compare(problem, q);
        double f;
        sn_workspace *ws;
        assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
        assert_int_equal(sn_workspace_eval(ws, q, 0, &f), SN_OK);
        for (int k = 0; k < ntask; k++)
            active += tasks[k].type != SN_TASK_POINT && sn_workspace_task_error(ws, k) > 0;
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
        free(q);
    }
    print_message(
        "%d trees, %d violated: worst relative error f %.1e, gradient %.1e, Hessian %.1e\n", count,
        active, worst_f, worst_g, worst_H);
    assert_true(active > count / 3);
    assert_true(worst_f < 1e-12);
    assert_true(worst_g < 1e-12);
    assert_true(worst_H < 1e-12);
}

// --- solving -----------------------------------------------------------------------------------------

static double worst_violation(const sn_workspace *ws, int *count) {
    sn_violation v[50];
    double most = 0;
    *count = sn_workspace_violations(ws, v, 50);
    for (int i = 0; i < *count && i < 50; i++) most = fmax(most, v[i].by);
    return most;
}

static bool is_inside(const sn_model *m, const double *q) {
    for (int j = 0; j < sn_model_njoint(m); j++) {
        sn_joint_type type = sn_model_joint(m, j)->type;
        int n = type == SN_JOINT_BALL ? 0 : type == SN_JOINT_FREE ? 3 : sn_model_joint_nv(m, j);
        for (int k = 0; k < n; k++) {
            int v = sn_model_v_index(m, j) + k;
            double x = q[sn_model_q_index(m, j) + k];
            if (x < sn_model_lower(m)[v] - 1e-12 || x > sn_model_upper(m)[v] + 1e-12) return false;
        }
    }
    return true;
}

// Joints with a lock have the same coordinates in both: what is possible for one is possible from the other.
static void share_locked(const sn_problem *p, const double *from, double *to) {
    const sn_model *m = sn_problem_model(p);
    for (int j = 0; j < sn_model_njoint(m); j++) {
        bool locked = false;
        for (int k = 0; k < sn_model_joint_nv(m, j); k++)
            locked = locked || sn_problem_gain(p)[sn_model_v_index(m, j) + k] == 0;
        const int at = sn_model_q_index(m, j);
        const int end = j + 1 < sn_model_njoint(m) ? sn_model_q_index(m, j + 1) : sn_model_nq(m);
        if (locked) memcpy(to + at, from + at, (size_t)(end - at) * sizeof *to);
    }
}

// Goals that a pose without violation meets: the solver starts elsewhere.
static void test_solutions(void **unused) {
    (void)unused;
    int count = cases(400), possible_ones = 0, clear = 0, met = 0, kept = 0, good_starts = 0;
    int cold = 0;
    long iterations = 0;
    double f;
    for (int i = first_case(); i < count; i++) {
        uint64_t state = 1000 + (uint64_t)i;
        sn_model *model =
            random_solids(&state, 2 + below(&state, 8), i % 3 == 0 ? -1 : SN_JOINT_HINGE, 0.5);
        size_t nq = (size_t)sn_model_nq(model);
        double *goal = malloc((nq + 1) * sizeof *goal), *q = malloc((nq + 1) * sizeof *q);
        double *start = malloc((nq + 1) * sizeof *start);
        assert_true(goal != NULL && q != NULL && start != NULL);
        double room[600];
        sn_task tasks[4];
        int ntask = 3;
        for (int k = 0; k < 2; k++) {
            tasks[k] = sn_task_default(SN_TASK_POINT);
            tasks[k].joint = below(&state, sn_model_njoint(model));
            tasks[k].local[0] = 0.2;
        }
        tasks[2] = sn_task_default(SN_TASK_AVOID);
        tasks[2].distance = 0.01;
        if (random_guard(&state, model, 1 + below(&state, 4), room, &tasks[3])) ntask = 4;
        sn_problem *problem;
        sn_workspace *ws;
        sn_error error = {0};
        if (sn_problem_create(model, tasks, ntask, NULL, &problem, &error) != SN_OK)
            fail_msg("%s", error.text);
        assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
        int n = 1;
        for (int tries = 0; tries < 200 && n > 0; tries++) {
            sn_model_sample(model, &state, goal);
            assert_int_equal(sn_workspace_pose(ws, goal), SN_OK);
            (void)worst_violation(ws, &n);
        }
        bool possible = n == 0;
        for (int k = 0; k < 2; k++) {
            sn_vec3 p = sn_workspace_point(ws, tasks[k].joint, tasks[k].local);
            assert_int_equal(sn_problem_set_goal(problem, k, (double[3]){p.x, p.y, p.z}), SN_OK);
        }
        // a start that violates nothing must stay so and get no worse
        double before = INFINITY;
        sn_model_sample(model, &state, q);
        share_locked(problem, goal, q);
        memcpy(start, q, nq * sizeof *q);
        assert_int_equal(sn_workspace_eval(ws, q, 0, &f), SN_OK);
        (void)worst_violation(ws, &n);
        bool good = n == 0;
        if (good) before = f;
        sn_solver *solver;
        sn_report report;
        assert_int_equal(sn_solver_create(problem, NULL, NULL, &solver, NULL), SN_OK);
        assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
        assert_true(is_inside(model, q));
        assert_int_equal(sn_workspace_eval(ws, q, 0, &f), SN_OK);
        assert_near(f, report.f, 1e-12);
        double by = worst_violation(ws, &n);
        assert_near(by, report.violation, 1e-12);
        assert_true(sn_workspace_task_error(ws, 2) <= by);
        if (good && (n > 0 || f > before * (1 + 1e-12)))
            fail_msg("case %d: from f %g without violation to f %g with %g", i, before, f, by);
        good_starts += good;
        kept += good && n == 0;
        possible_ones += possible;
        clear += possible && n == 0;
        met += possible && n == 0 && report.f < 1e-12;
        iterations += report.iterations;
        if (possible && n > 0) {
            assert_int_equal(sn_solver_solve_cold(solver, start, &report), SN_OK);
            cold += report.violation == 0;
        }
        sn_solver_destroy(solver);
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
        free(goal);
        free(q);
        free(start);
    }
    print_message(
        "%d problems, %d of them possible: %d end without violation, %d more of them cold, %d at "
        "the goals; %d of %d starts without violation stay so; %.0f iterations\n",
        count, possible_ones, clear, cold, met, kept, good_starts, (double)iterations / count);
    assert_true(clear >= 0.99 * possible_ones);
    // limbs that start crossed cannot pass through each other downhill, and other starts may take more iterations
    assert_true(possible_ones - clear - cold <= possible_ones / 5000);
}

// A hinge of more than a turn, kept below -3: the goal lies at -5.6, beyond its limits, and at 0.7, a turn on, where it
// must not be. It goes to its limit.
static void test_turns(void **unused) {
    (void)unused;
    static const char hinge[] = "{\"joints\": [{\"name\": \"a\", \"type\": \"hinge\", \"axis\": "
                                "[0, 0, 1], \"limits\": [[-4.5, 6.2]]}]}";
    static const char tasks[] =
        "{\"tasks\": [{\"type\": \"point\", \"joint\": \"a\", \"local\": [1, 0, 0], "
        "\"goal\": [0.7648, 0.6442, 0]}, "
        "{\"type\": \"half-space\", \"coordinates\": {\"a\": -1}, \"distance\": 3}]}";
    sn_model *m;
    sn_problem *p = NULL;
    sn_solver *s;
    sn_report report;
    sn_error error = {0};
    double q[1] = {-4.2};
    if (sn_model_read_json(hinge, strlen(hinge), NULL, &m, &error) != SN_OK ||
        sn_problem_read_json(tasks, strlen(tasks), m, NULL, &p, &error) != SN_OK)
        fail_msg("%s", error.text);
    assert_int_equal(sn_solver_create(p, NULL, NULL, &s, NULL), SN_OK);
    assert_int_equal(sn_solver_solve(s, q, &report), SN_OK);
    assert_true(report.violation == 0);
    assert_near(q[0], -4.5, 1e-12);
    sn_solver_destroy(s);
    sn_problem_destroy(p);
    sn_model_destroy(m);
}

// --- the elbow out of the ribs -------------------------------------------------------------------------

static const char person[] =
    "{\"sinew\": 1, \"name\": \"person\", \"joints\": ["
    "{\"name\": \"trunk\", \"type\": \"fixed\"},"
    "{\"name\": \"shoulder\", \"type\": \"euler\", \"order\": \"XYZ\", \"parent\": \"trunk\", "
    "\"position\": [0, 0.2, 0.5]},"
    "{\"name\": \"elbow\", \"type\": \"hinge\", \"axis\": [0, 1, 0], \"parent\": \"shoulder\", "
    "\"position\": [0, 0, -0.3], \"limits\": [[-2.5, 0]]},"
    "{\"name\": \"wrist\", \"type\": \"fixed\", \"parent\": \"elbow\", \"position\": [0, 0, "
    "-0.28]}],"
    "\"shapes\": ["
    "{\"type\": \"capsule\", \"name\": \"ribs\", \"joint\": \"trunk\", \"from\": [0, 0, 0.1], "
    "\"to\": [0, 0, 0.4], \"radius\": 0.13},"
    "{\"type\": \"capsule\", \"name\": \"upper arm\", \"joint\": \"shoulder\", \"from\": [0, 0, "
    "-0.12], \"to\": [0, 0, -0.3], \"radius\": 0.05},"
    "{\"type\": \"capsule\", \"name\": \"forearm\", \"joint\": \"elbow\", \"from\": [0, 0, 0], "
    "\"to\": [0, 0, -0.25], \"radius\": 0.04}]}";

static sn_model *read_person(void) {
    sn_model *m;
    sn_error error = {0};
    if (sn_model_read_json(person, strlen(person), NULL, &m, &error) != SN_OK)
        fail_msg("%s", error.text);
    return m;
}

// How far elbow and forearm are from the ribs where the hand is at its goal; NAN where it is not there.
static double nearest_rib(const sn_model *m, const char *tasks, const double *start, double *q,
                          sn_report *report) {
    sn_problem *p;
    sn_solver *s;
    sn_error error = {0};
    if (sn_problem_read_json(tasks, strlen(tasks), m, NULL, &p, &error) != SN_OK)
        fail_msg("%s", error.text);
    assert_int_equal(sn_solver_create(p, NULL, NULL, &s, NULL), SN_OK);
    memcpy(q, start, 4 * sizeof *q);
    assert_int_equal(sn_solver_solve(s, q, report), SN_OK);
    const sn_workspace *ws = sn_solver_workspace(s);
    double least = sn_workspace_distance(ws, 0, 2);  // the upper arm is the trunk's neighbour
    double hand = sn_workspace_task_error(ws, 0);
    sn_solver_destroy(s);
    sn_problem_destroy(p);
    return hand < 1e-6 ? least : NAN;
}

#define HAND "{\"tasks\": [{\"type\": \"point\", \"joint\": \"wrist\", \"goal\": [0.22, 0.06, 0.3]}"

static void test_elbow(void **unused) {
    (void)unused;
    sn_model *m = read_person();
    uint64_t state = 4;
    int inside = 0, count = cases(200), reached = 0;
    sn_report report;
    for (int i = 0; i < count; i++) {
        double start[4], q[4];
        sn_model_sample(m, &state, start);
        for (int k = 0; k < 3; k++) start[k] *= 0.3;
        double plain = nearest_rib(m, HAND "]}", start, q, &report);
        double kept =
            nearest_rib(m, HAND ", {\"type\": \"avoid\", \"distance\": 0.01}]}", start, q, &report);
        inside += plain < 0;
        reached += kept >= 0.01;
        if (report.violation > 0 && !isnan(kept))
            fail_msg("start %d: violated by %g", i, report.violation);
        if (!isnan(kept)) assert_true(kept >= 0.01);
    }
    print_message(
        "%d starts: the arm ends in the ribs %d times without avoid, never with it; %d reach "
        "the goal beside them\n",
        count, inside, reached);
    assert_true(inside > count / 10);
    assert_true(reached > 0.8 * count);
    sn_model_destroy(m);
}

// The same with a posture below: it is met as far as hand and ribs allow.
static void test_levels(void **unused) {
    (void)unused;
    sn_model *m = read_person();
    // pulled straight through the ribs
    static const char tasks[] =
        HAND ", {\"type\": \"avoid\", \"distance\": 0.01},"
             "{\"type\": \"rest\", \"q\": [1.5, 0, 0, -1.5], \"level\": 1}]}";
    uint64_t state = 9;
    int count = cases(100), met = 0, nvalley = 0;
    double valley[10][4];
    for (int i = 0; i < count; i++) {
        double start[4], q[4];
        sn_report report;
        sn_model_sample(m, &state, start);
        for (int k = 0; k < 3; k++) start[k] *= 0.2;
        start[3] = -1.5;
        double kept = nearest_rib(m, tasks, start, q, &report);
        if (isnan(kept)) continue;
        assert_true(kept >= 0.01);
        met++;
        // the arm goes round the ribs one way or another; where it ends is always the same
        double apart = INFINITY;
        for (int v = 0; v < nvalley; v++) {
            double most = 0;
            for (int k = 0; k < 4; k++) most = fmax(most, fabs(q[k] - valley[v][k]));
            apart = fmin(apart, most);
        }
        if (apart > 1e-3 && nvalley < 10) memcpy(valley[nvalley++], q, sizeof valley[0]);
    }
    print_message("%d of %d meet the first level, in %d ways\n", met, count, nvalley);
    assert_true(nvalley <= 3);
    assert_true(met > 0.9 * count);
    sn_model_destroy(m);
}

// --- memory --------------------------------------------------------------------------------------------

static void test_memory(void **unused) {
    (void)unused;
    static const char tasks[] = HAND
        ", {\"type\": \"avoid\", \"distance\": 0.01},"
        "{\"type\": \"half-space\", \"coordinates\": {\"elbow\": -1, \"shoulder\": [0, 0.1, 0]}, "
        "\"distance\": 0.2},"
        "{\"type\": \"half-space\", \"joint\": \"elbow\", \"joint2\": \"shoulder\", \"point\": [0, "
        "0, -1], \"normal\": [0, 0, 1]},"
        "{\"type\": \"support\", \"joints\": [\"elbow\"], \"masses\": [1], \"corners\": [[-1, -1, "
        "0], "
        "[1, -1, 0], [0, 1, 0]], \"distance\": 0.1}]}";
    sn_model *m = read_person();
    bool good = false;
    for (long fail = 0; !good; fail++) {
        test_allocator a;
        sn_problem *p = NULL;
        sn_solver *s = NULL;
        sn_report report;
        test_allocator_begin(&a);
        a.fail_at = fail;
        sn_status status = sn_problem_read_json(tasks, strlen(tasks), m, &a.base, &p, NULL);
        if (status == SN_OK) status = sn_solver_create(p, NULL, &a.base, &s, NULL);
        good = status == SN_OK;
        if (!good) assert_int_equal(status, SN_ERR_MEMORY);
        a.trap = true;
        double q[4] = {0.1, 0.2, 0.1, -1};
        for (int k = 0; k < 2 && good; k++) {
            assert_int_equal(sn_solver_solve(s, q, &report), SN_OK);
            assert_int_equal(sn_problem_set_distance(p, 1, 0.02), SN_OK);
            assert_int_equal(sn_problem_set_axis(p, 4, (double[3]){0, 0.1, 1}), SN_OK);
            assert_int_equal(
                sn_problem_set_corners(p, 4, (double[9]){-1, -1, 0, 1, -1, 0, 0, 2, 0}, 3), SN_OK);
        }
        if (good) assert_true(report.violation == 0);
        if (good) assert_true(sn_workspace_distance(sn_solver_workspace(s), 0, 2) >= 0.02);
        a.trap = false;
        sn_solver_destroy(s);
        sn_problem_destroy(p);
        assert_int_equal(a.live, 0);
    }
    sn_model_destroy(m);
}

static void test_refused(void **unused) {
    (void)unused;
    static const char *const cases_of[][2] = {
        {"{\"type\": \"avoid\", \"distance\": -1}", "below 0"},
        {"{\"type\": \"avoid\", \"joint2\": \"elbow\"}", "joint"},
        {"{\"type\": \"half-space\", \"joint\": \"elbow\", \"point\": [0, 0, 0]}", "normal"},
        {"{\"type\": \"half-space\", \"joint\": \"elbow\", \"point\": [0, 0, 0], \"normal\": [0, "
         "0, 0]}",
         "zero"},
        {"{\"type\": \"half-space\", \"point\": [0, 0, 0], \"normal\": [0, 0, 1]}", "no mass"},
        {"{\"type\": \"half-space\", \"joint\": \"elbow\", \"joint2\": \"elbow\", \"point\": [0, "
         "0, "
         "0], \"normal\": [0, 0, 1]}",
         "one joint"},
        {"{\"type\": \"half-space\", \"coordinates\": {\"elbow\": 1}}", "distance"},
        {"{\"type\": \"half-space\", \"coordinates\": {\"knee\": 1}, \"distance\": 0}", "no joint"},
        {"{\"type\": \"half-space\", \"coordinates\": {\"shoulder\": 1}, \"distance\": 0}",
         "3 factors"},
        {"{\"type\": \"half-space\", \"coordinates\": {}, \"distance\": 0}", "no coordinate"},
        {"{\"type\": \"support\", \"corners\": [[0, 0, 0], [1, 0, 0], [2, 0, 0]], \"joints\": "
         "[\"elbow\"], \"masses\": [1]}",
         "no area"},
        {"{\"type\": \"support\", \"corners\": [[0, 0, 0], [1, 0, 0]]}", "3 to 64"},
    };
    sn_model *m = read_person();
    for (size_t i = 0; i < sizeof cases_of / sizeof cases_of[0]; i++) {
        char text[600];
        sn_problem *p;
        sn_error error = {0};
        (void)snprintf(text, sizeof text, "{\"tasks\": [%s]}", cases_of[i][0]);
        if (sn_problem_read_json(text, strlen(text), m, NULL, &p, &error) == SN_OK)
            fail_msg("%s is accepted", cases_of[i][0]);
        if (strstr(error.text, cases_of[i][1]) == NULL)
            fail_msg("%s: \"%s\"", cases_of[i][0], error.text);
    }
    sn_model_destroy(m);
}

// A robot that stands on one foot, its hands 0.25 m apart and below both its posture, which pulls its weight over the edge of
// the foot: the edge is there and is not from step to step, and the levels above are lost again and again.
static void test_edge(void **unused) {
    (void)unused;
    const char *path = data_path("mjcf/g1.xml");
    if (path == NULL) skip();
    size_t length;
    char *text = slurp(path, &length);
    sn_model *m;
    sn_error error = {0};
    if (sn_mjcf_read(text, length, NULL, &m, NULL, &error) != SN_OK) fail_msg("%s", error.text);
    free(text);
    const char *tasks =
        "{\"tasks\": [{\"type\": \"pose\", \"joint\": \"left_ankle_roll_joint\", \"goal\": [0, "
        "0.12, 0.03],"
        "\"rotation\": [1, 0, 0, 0]}, {\"type\": \"relative\", \"joint\": \"left_wrist_yaw_joint\","
        "\"joint2\": \"right_wrist_yaw_joint\", \"goal\": [0, 0.25, 0], \"level\": 1},"
        "{\"type\": \"support\", \"corners\": [[-0.05, 0.08, 0], [0.15, 0.08, 0], [0.15, 0.16, 0],"
        "[-0.05, 0.16, 0]]}]}";
    double *q = malloc((size_t)sn_model_nq(m) * sizeof *q);
    sn_model_zero(m, q);
    sn_task posture = sn_task_default(SN_TASK_POSTURE);
    posture.q = q;
    posture.level = 2;
    sn_problem *some, *p;
    sn_solver *solver;
    sn_report report;
    if (sn_problem_read_json(tasks, strlen(tasks), m, NULL, &some, &error) != SN_OK)
        fail_msg("%s", error.text);
    assert_int_equal(sn_problem_copy(some, &posture, 1, NULL, &p, NULL), SN_OK);
    assert_int_equal(sn_solver_create(p, NULL, NULL, &solver, NULL), SN_OK);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    assert_int_equal(report.nlevel, 3);
    assert_true(report.violation < 1e-9);
    assert_true(report.level[0].worst_error < 1e-9 && report.level[1].worst_error < 1e-9);
    // 0.22 where it was given up after the third time
    assert_true(report.level[2].f < 0.021);
    sn_solver_destroy(solver);
    sn_problem_destroy(some);
    sn_problem_destroy(p);
    sn_model_destroy(m);
    free(q);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives), cmocka_unit_test(test_solutions),
        cmocka_unit_test(test_turns),       cmocka_unit_test(test_elbow),
        cmocka_unit_test(test_levels),      cmocka_unit_test(test_memory),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_edge),
    };
    only_asked();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
