// SPDX-License-Identifier: MIT
// Levels: against what they mean, written out slowly (levels_reference.c), on random problems and on an arm.
#include "levels_reference.h"
#include "math/vec3.h"
#include "tasks/problem.h"

typedef struct tally {
    int solved, compared, doubtful, above, moved;
    double worst, iterations, alone;
} tally;

static sn_problem *random_levels(uint64_t *state, const sn_model *m, int ntask, int levels) {
    static const int kinds[] = {SN_TASK_POINT, -1, -1, -2};
    sn_problem *some = random_problem(state, m, ntask, kinds[below(state, 4)]);
    sn_task extra = sn_task_default(SN_TASK_RELATIVE);
    double *q = NULL;
    if (below(state, 4) == 0)
        extra = random_task(state, m, SN_TASK_RELATIVE, below(state, sn_model_njoint(m)), &q);
    sn_problem *p;
    sn_error error = {0};
    if (sn_problem_copy(some, &extra, extra.joint2 > 0, NULL, &p, &error) != SN_OK)
        fail_msg("%s", error.text);
    sn_problem_destroy(some);
    for (int i = 0; i < sn_problem_ntask(p); i++)
        assert_int_equal(sn_problem_set_level(p, i, below(state, levels)), SN_OK);
    return p;
}

// Level 0 of p alone.
static sn_problem *first_level(const sn_problem *p) {
    sn_problem *first;
    assert_int_equal(sn_problem_copy(p, NULL, 0, NULL, &first, NULL), SN_OK);
    int least = SN_MAX_LEVELS;
    for (int i = 0; i < sn_problem_ntask(p); i++)
        if (sn_problem_task_active(p, i) && sn_problem_task(p, i)->level < least)
            least = sn_problem_task(p, i)->level;
    for (int i = 0; i < sn_problem_ntask(p); i++)
        // without weight, not gone: a coupled task may weigh it
        if (sn_problem_task(p, i)->level != least) {
            (void)sn_problem_set_weight(first, i, 0);
            (void)sn_problem_set_rotation_weight(first, i, 0);
        }
    return first;
}

// What rounding may leave of f where a coupled task's matrix sees nothing of errors that are there: f is a difference of
// terms of this size.
static double coupled_terms(const sn_problem *p, const sn_workspace *ws) {
    double sum = 0;
    for (int i = 0; i < sn_problem_ntask(p); i++) {
        const sn_task *t = sn_problem_task(p, i);
        double most = 0, trace = 0;
        if (t->type != SN_TASK_COUPLED) continue;
        int rows = 0;
        for (int k = 0; k < t->ntask; k++) {
            most = fmax(most, sn_workspace_task_error(ws, t->tasks[k]));
            rows += sn_task_residuals(sn_problem_task(p, t->tasks[k]));
        }
        for (int k = 0; k < rows; k++) trace += t->coupling[k * (rows + 1)];
        sum += 0.5 * t->weight * trace * most * most;
    }
    return sum;
}

static void check_limits(const sn_problem *p, const double *q, const double *start) {
    const sn_model *m = sn_problem_model(p);
    for (int j = 0; j < sn_model_njoint(m); j++) {
        sn_joint_type type = sn_model_joint(m, j)->type;
        int plain = type == SN_JOINT_BALL ? 0 : type == SN_JOINT_FREE ? 3 : sn_model_joint_nv(m, j);
        for (int k = 0; k < plain; k++) {
            int at = sn_model_q_index(m, j) + k, v = sn_model_v_index(m, j) + k;
            assert_true(q[at] >= sn_problem_lower(p)[v] && q[at] <= sn_problem_upper(p)[v]);
            if (sn_problem_gain(p)[v] == 0) assert_true(q[at] == start[at]);
        }
    }
}

// Turns about some axes of a ball and not about the others: going round in them leads anywhere, so that a small motion
// and the way back need not end near where they began.
static bool turns_partly(const sn_problem *p) {
    const sn_model *m = sn_problem_model(p);
    for (int j = 0; j < sn_model_njoint(m); j++) {
        sn_joint_type type = sn_model_joint(m, j)->type;
        if (type != SN_JOINT_BALL && type != SN_JOINT_FREE) continue;
        int v = sn_model_v_index(m, j) + sn_model_joint_nv(m, j) - 3, held = 0;
        for (int k = 0; k < 3; k++) held += sn_problem_gain(p)[v + k] == 0;
        if (held == 1) return true;
    }
    return false;
}

// Is the level as good as small motions that keep those above it can make it?
static void look_around(reference_levels *r, uint64_t *state, const double *q, double f, tally *t) {
    double *near = malloc((size_t)(r->nq + 1) * sizeof *near), *u = calloc((size_t)r->n + 1, 8);
    double upper = reference_levels_f(r, 0, q);
    assert_true(near != NULL && u != NULL);
    for (int i = 0; i < 6; i++) {
        for (int v = 0; v < r->n; v++)
            u[v] = 1e-3 * uniform(state, -1, 1) * (sn_problem_gain(r->problem)[v] != 0);
        sn_model_integrate(r->model, q, u, near);
        (void)sn_model_clamp(r->model, near);
        double there = reference_levels_restore(r, near);
        if (there > upper * (1 + 1e-13) + 1e-24) continue;
        // the way back may lead into another valley of the levels above
        double moved = 0;
        for (int k = 0; k < r->nq; k++) moved = fmax(moved, fabs(near[k] - q[k]));
        if (moved > 0.05) continue;
        t->compared++;
        double lower = reference_levels_f(r, 1, near);
        // a motion of 1e-3 that helped would help by more than this
        if (lower < f * (1 - 1e-5) - 1e-15) t->moved++;
    }
    free(near);
    free(u);
}

static void one_random(uint64_t *state, int number, tally *t) {
    int joints = 2 + below(state, 7);
    random_kinks = false;
    sn_model *m = random_model(state, joints, -1);
    sn_problem *p = random_levels(state, m, 2 + below(state, 5), 2 + below(state, 2));
    sn_problem *first = first_level(p);
    size_t nq = (size_t)sn_model_nq(m);
    double *start = malloc((nq + 1) * sizeof *start), *q = malloc((nq + 1) * sizeof *q);
    double *alone = malloc((nq + 1) * sizeof *alone);
    assert_true(start != NULL && q != NULL && alone != NULL);
    sn_model_sample(m, state, start);
    (void)sn_model_clamp(m, start);
    memcpy(q, start, nq * sizeof *q);
    memcpy(alone, start, nq * sizeof *q);
    sn_solver *solver;
    sn_report report, single;
    assert_int_equal(sn_solver_create(p, NULL, NULL, &solver, NULL), SN_OK);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    // a function may have put a joint far away, and places have no more digits than that
    double far = 0;
    for (int i = 0; i < joints; i++)
        far = fmax(far, v3_norm(sn_workspace_frame(sn_solver_workspace(solver), i).p));
    const double coupled = coupled_terms(p, sn_solver_workspace(solver));
    sn_solver_destroy(solver);
    assert_int_equal(sn_solver_create(first, NULL, NULL, &solver, NULL), SN_OK);
    assert_int_equal(sn_solver_solve(solver, alone, &single), SN_OK);
    sn_solver_destroy(solver);
    check_limits(p, q, start);
    t->iterations += report.iterations;
    t->alone += single.iterations;
    bool good = report.stop == SN_STOP_MINIMUM || report.stop == SN_STOP_GOAL;
    if (report.nlevel > 1) {
        t->solved += good;
        if (!good)
            print_message("case %d: %s after %d\n", number, sn_stop_text(report.stop),
                          report.iterations);
        bool settled = single.stop == SN_STOP_MINIMUM || single.stop == SN_STOP_GOAL;
        // soft limits keep an angle from going round, on whichever level they are
        for (int i = 0; i < sn_problem_ntask(p); i++)
            if (sn_problem_task(p, i)->type == SN_TASK_LIMIT) settled = false;
        // cut off between two steps, the first level is as near as putting it right has to bring it
        double slack = good ? 1e-9 : 1e-4, digits = 1e-18;
        digits = fmax(digits * fmax(1, far * far), 4e-16 * coupled);
        if (settled && report.level[0].f > single.f * (1 + slack) + digits) {
            t->above++;
            print_message("case %d: level 0 ends at %.12g, alone at %.12g: %s (terms of %g)\n",
                          number, report.level[0].f, single.f, sn_stop_text(report.stop), coupled);
        }
    } else {
        t->solved++;
    }
    for (int i = 1; good && i < report.nlevel; i++) {
        // above a level that was kept from its goals the reference knows no curvature
        bool met = true;
        for (int k = 0; k < i; k++) met = met && (report.level[k].f < 1e-20 || i == 1);
        if (!met) break;
        reference_levels r;
        bool doubtful;
        reference_levels_begin(&r, p, report.level[i].level);
        double slope = reference_levels_slope(&r, q, &doubtful);
        double f = reference_levels_f(&r, 1, q);
        t->doubtful += doubtful;
        if (!doubtful && f > 1e-20) {
            t->worst = fmax(t->worst, slope);
            if (slope > 1e-7) print_message("case %d: level %d has slope %g\n", number, i, slope);
            int before = t->moved;
            if (!turns_partly(p)) look_around(&r, state, q, f, t);
            if (t->moved > before) print_message("case %d: level %d can be lower\n", number, i);
        }
        reference_levels_end(&r);
    }
    sn_problem_destroy(first);
    sn_problem_destroy(p);
    sn_model_destroy(m);
    free(start), free(q), free(alone);
}

static void test_random(void **unused) {
    (void)unused;
    tally t = {0};
    int count = cases(400), from = first_case();
    for (int i = from; i < from + count; i++) {
        uint64_t state = 1000u + (uint64_t)i;
        one_random(&state, i, &t);
    }
    print_message(
        "%d problems: %d solved, level 0 above in %d; %d motions, %d lower; slope %.1e; %d "
        "doubtful; %.1f iterations, %.1f alone\n",
        count, t.solved, t.above, t.compared, t.moved, t.worst, t.doubtful, t.iterations / count,
        t.alone / count);
    assert_int_equal(t.above, 0);
    assert_int_equal(t.moved, 0);
    assert_true(t.compared >= 2 * count);
    assert_true(t.worst < 1e-7);
    assert_true(t.solved >= count * 96 / 100);
}

// Found by the long version: a gaze on its own eye, a first level that nothing moves and whose matrix is rounding, one that
// was lost a little with each step; a middle level that hardly bends one way and was left on it unfinished; one that
// hardly bends and pulls all the same; first levels that were left above where they end alone (23959, 24940, 25643), and
// one that rounding was thought to end at too large a gradient (24919); a middle level that was left where it bends down, its
// way out taken by the one below it (29053).
static void test_found(void **unused) {
    (void)unused;
    static const int numbers[] = {634,  801,   891,   1587,  5494,  5584,  7290, 8262,
                                  9799, 12191, 23959, 24919, 24940, 25643, 29053};
    tally t = {0};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint64_t state = 1000u + (uint64_t)numbers[i];
        one_random(&state, numbers[i], &t);
    }
    assert_int_equal(t.above, 0);
    assert_int_equal(t.moved, 0);
    assert_true(t.compared >= 15 && t.worst < 1e-7);
}

// Problems that stalled at the end of their digits, or of those of a coupled task, and end at a minimum.
static void test_settled(void **unused) {
    (void)unused;
    static const int numbers[] = {42, 172, 801, 1631, 1677};
    tally t = {0};
    const int count = (int)(sizeof numbers / sizeof *numbers);
    for (int i = 0; i < count; i++) {
        uint64_t state = 1000u + (uint64_t)numbers[i];
        one_random(&state, numbers[i], &t);
    }
    assert_int_equal(t.solved, count);
    assert_int_equal(t.above, 0);
    assert_int_equal(t.moved, 0);
    assert_true(t.worst < 1e-7);
}

// ---- an arm ------------------------------------------------------------------------------------------

// Shoulder, elbow and wrist of seven axes; with `couple` the last follows the first, with `loop` a bar holds
// the elbow's link to the world.
static sn_model *arm_model(bool couple, bool loop) {
    static const double length[7] = {0.35, 0, 0.42, 0, 0.4, 0, 0.12};
    sn_builder *b;
    sn_model *m;
    sn_error error = {0};
    assert_int_equal(sn_builder_create("seven", NULL, &b, NULL), SN_OK);
    for (int i = 0; i < 7; i++) {
        sn_joint_desc d = sn_joint_default(SN_JOINT_HINGE);
        char name[8];
        (void)snprintf(name, sizeof name, "a%d", i + 1);
        d.name = name;
        d.parent = i - 1;
        d.position[2] = i > 0 ? length[i - 1] : 0;
        d.axis[0] = 0, d.axis[1] = i % 2, d.axis[2] = 1 - i % 2;
        d.upper[0] = couple ? INFINITY : i % 2 == 1 ? 2.1 : 2.9;
        d.lower[0] = -d.upper[0];
        (void)sn_builder_joint(b, &d);
    }
    double y[2] = {0.7, 0.1};
    if (couple) {
        sn_coupling_desc c = {.follower = {6, 0}, .nleader = 1, .leader = {{0, 0}}};
        c.function =
            (sn_function){.type = SN_FUNCTION_LINEAR, .scale = 1, .nargument = 1, .y = y, .ny = 2};
        (void)sn_builder_couple(b, &c);
    }
    if (loop) {
        sn_loop_desc l = sn_loop_default(SN_LOOP_DISTANCE);
        l.joint[0] = 3, l.joint[1] = -1;
        l.position[0][2] = 0.2, l.position[1][0] = 0.5, l.position[1][2] = 0.6;
        l.distance = 0.6;
        (void)sn_builder_loop(b, &l);
    }
    if (sn_builder_finish(b, &m, &error) != SN_OK) fail_msg("%s", error.text);
    sn_builder_destroy(b);
    return m;
}

// Its hand to a pose or a point, and a posture on the next level.
static sn_problem *arm_problem(const sn_model *m, sn_task_type type, int level) {
    static const double rest[7] = {0.1, 0.4, 0, -0.9, 0, 0.5, 0};
    sn_task task[2] = {sn_task_default(type), sn_task_default(SN_TASK_REST)};
    task[0].joint = 6;
    task[0].local[2] = 0.12;
    task[1].q = rest;
    task[1].level = level;
    sn_problem *p;
    assert_int_equal(sn_problem_create(m, task, 2, NULL, &p, NULL), SN_OK);
    return p;
}

static void hand_goal(sn_problem *p, sn_workspace *ws, const double *q) {
    const double local[3] = {0, 0, 0.12};
    assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
    sn_vec3 at = sn_workspace_point(ws, 6, local);
    sn_frame frame = sn_workspace_frame(ws, 6);
    sn_quat turn = sn_quat_from_mat3(frame.R);
    assert_int_equal(sn_problem_set_goal(p, 0, (double[3]){at.x, at.y, at.z}), SN_OK);
    if (sn_problem_task(p, 0)->type == SN_TASK_POSE)
        assert_int_equal(sn_problem_set_rotation(p, 0, (double[4]){turn.w, turn.x, turn.y, turn.z}),
                         SN_OK);
}

// The pose is met as it is alone, the posture is at its best below it, in at most twice the iterations, and
// nothing is allocated. Next to a singular pose too, where the arm is all but `stretched`.
static void check_arm(bool near, bool stretched) {
    sn_model *m = arm_model(false, false);
    sn_problem *p = arm_problem(m, SN_TASK_POSE, 1);
    sn_workspace *ws;
    sn_solver *solver;
    test_allocator memory;
    test_allocator_begin(&memory);
    assert_int_equal(sn_workspace_create(p, false, NULL, &ws, NULL), SN_OK);
    assert_int_equal(sn_solver_create(p, NULL, &memory.base, &solver, NULL), SN_OK);
    memory.trap = true;
    int count = cases(150), met = 0, many = 0;
    double iterations = 0, alone = 0, worst = 0;
    uint64_t state = 5;
    for (int i = 0; i < count; i++) {
        double goal[7], start[7], q[7];
        sn_report report, single;
        for (int k = 0; k < 7; k++) {
            goal[k] = uniform(&state, -1, 1) * (k % 2 == 1 ? 1.8 : 2.5);
            start[k] = uniform(&state, -1, 1) * (k % 2 == 1 ? 1.8 : 2.5);
        }
        if (near) {
            // where the goal was before, and the posture at its best
            double further[7];
            if (stretched) goal[3] = uniform(&state, -0.1, 0.1);
            for (int k = 0; k < 7; k++) further[k] = goal[k] + 0.02 * start[k];
            if (stretched) further[3] = pow(10, uniform(&state, -6, -2));
            hand_goal(p, ws, goal);
            assert_int_equal(sn_solver_solve(solver, goal, &report), SN_OK);
            memcpy(start, goal, sizeof start);
            memcpy(goal, further, sizeof goal);
        }
        hand_goal(p, ws, goal);
        memcpy(q, start, sizeof q);
        (void)sn_problem_set_enabled(p, 1, false);
        assert_int_equal(sn_solver_solve(solver, q, &single), SN_OK);
        assert_int_equal(single.nlevel, 1);
        (void)sn_problem_set_enabled(p, 1, true);
        memcpy(q, start, sizeof q);
        assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
        assert_int_equal(report.nlevel, 2);
        iterations += report.iterations;
        alone += single.iterations;
        many += report.iterations > 2 * single.iterations;
        check_limits(p, q, start);
        // alone, too, an arm that is all but stretched may creep for longer than it is let
        if (stretched && single.stop != SN_STOP_GOAL) continue;
        assert_true(report.level[0].f <= single.f * (1 + 1e-9) + 1e-20);
        if (!(single.worst_error < 1e-9)) continue;
        met++;
        assert_true(report.level[0].worst_error < 1e-9);
        assert_true(sn_workspace_task_error(sn_solver_workspace(solver), 0) < 1e-9);
        assert_near(report.f, report.level[0].f + report.level[1].f, 1e-12);
        reference_levels r;
        bool doubtful;
        reference_levels_begin(&r, p, 1);
        double slope = reference_levels_slope(&r, q, &doubtful);
        if (!doubtful) worst = fmax(worst, slope);
        reference_levels_end(&r);
    }
    memory.trap = false;
    print_message("%d of %d poses met; %.2f iterations, %.2f alone, more than twice as many in %d; "
                  "slope %.1e\n",
                  met, count, iterations / count, alone / count, many, worst);
    assert_true(met > count / 2);
    assert_true(iterations <= (stretched ? 1.1 : 1) * alone);  // creeping takes what it takes
    // through a stretched pose a goal in some thousands leads away from where it can be met
    assert_true(many <= (stretched ? count / 1000 : 0));
    assert_true(worst < (stretched ? 1e-7 : 1e-8));
    sn_solver_destroy(solver);
    sn_workspace_destroy(ws);
    sn_problem_destroy(p);
    sn_model_destroy(m);
}

static void test_arm(void **unused) {
    (void)unused;
    check_arm(false, false);
    check_arm(true, false);
    check_arm(true, true);
}

// A goal that the arm of `sinew bench levels` is given there with this seed, from where the goal was before.
static void draw_goal(uint64_t seed, int number, double *goal, double *start) {
    uint64_t state = seed;
    for (int i = 0; i <= number; i++)
        for (int half = 0; half < 2; half++)
            for (int k = 0; k < 7; k++)
                (half == 0 ? goal : start)[k] = 0.9 * uniform(&state, -1, 1) * (k % 2 ? 2.1 : 2.9);
}

// Of millions of goals these took more than twice the iterations of the pose alone: rounding that was not known as such,
// postures with a radian to go, limits in the way of a trial that kept the next ones from moving, and a first level near a
// singular pose that began anew.
static void test_goals_found(void **unused) {
    (void)unused;
    static const struct {
        uint64_t seed;
        int number;
    } found[] = {{12, 13262}, {13, 1516}, {14, 12308}, {14, 2047}, {15, 11117}, {15, 6250},
                 {12, 7244},  {11, 2173}, {22, 9685},  {7, 10388}, {9, 2561},   {9, 13373}};
    sn_model *m = arm_model(false, false);
    sn_problem *p = arm_problem(m, SN_TASK_POSE, 1);
    sn_workspace *ws;
    sn_solver *solver;
    const double rest[7] = {0};
    assert_int_equal(sn_problem_set_rest(p, 1, rest), SN_OK);
    assert_int_equal(sn_workspace_create(p, false, NULL, &ws, NULL), SN_OK);
    assert_int_equal(sn_solver_create(p, NULL, NULL, &solver, NULL), SN_OK);
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        double goal[7], start[7], q[7];
        sn_report report, single;
        draw_goal(found[i].seed, found[i].number, goal, start);
        memcpy(q, goal, sizeof q);
        hand_goal(p, ws, goal);
        assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
        for (int k = 0; k < 7; k++) goal[k] += 0.02 * start[k];
        memcpy(start, q, sizeof q);
        hand_goal(p, ws, goal);
        (void)sn_problem_set_enabled(p, 1, false);
        assert_int_equal(sn_solver_solve(solver, q, &single), SN_OK);
        (void)sn_problem_set_enabled(p, 1, true);
        assert_int_equal(single.stop, SN_STOP_GOAL);
        assert_int_equal(sn_solver_solve(solver, start, &report), SN_OK);
        assert_int_equal(report.stop, SN_STOP_MINIMUM);
        if (report.iterations > 2 * single.iterations)
            fail_msg("goal %d of %d: %d iterations, %d alone", found[i].number, (int)found[i].seed,
                     report.iterations, single.iterations);
    }
    sn_solver_destroy(solver);
    sn_workspace_destroy(ws);
    sn_problem_destroy(p);
    sn_model_destroy(m);
}

// Followers and loops hold while the levels are solved, and the posture is as good as a weight of a
// hundred-millionth lets it be.
static void test_tied(void **unused) {
    (void)unused;
    for (int kind = 1; kind < 4; kind++) {
        sn_model *m = arm_model((kind & 1) != 0, (kind & 2) != 0);
        sn_problem *p = arm_problem(m, SN_TASK_POINT, 1),
                   *weighed = arm_problem(m, SN_TASK_POINT, 0);
        sn_workspace *ws;
        sn_solver *solver, *other;
        assert_int_equal(sn_workspace_create(p, false, NULL, &ws, NULL), SN_OK);
        assert_int_equal(sn_problem_set_weight(weighed, 0, 1e8), SN_OK);
        sn_solver_options o = sn_solver_options_default();
        o.max_iterations = 2000;
        assert_int_equal(sn_solver_create(p, NULL, NULL, &solver, NULL), SN_OK);
        assert_int_equal(sn_solver_create(weighed, &o, NULL, &other, NULL), SN_OK);
        uint64_t state = 11;
        int met = 0;
        for (int i = 0; i < 20; i++) {
            double q[7], start[7];
            sn_report report, single;
            for (int k = 0; k < 7; k++) start[k] = uniform(&state, -1.2, 1.2);
            (void)sn_model_clamp(m, start);
            memcpy(q, start, sizeof q);
            // a pose at which the loop closes, and there the goal
            (void)sn_problem_set_missing(p, 0, true);
            assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
            for (int k = 0; k < 7; k++) q[k] += 0.3 * start[k];
            hand_goal(p, ws, q);
            hand_goal(weighed, ws, q);
            memcpy(q, start, sizeof q);
            assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
            assert_true(report.violation <= 1e-10);
            if (kind & 1) assert_near(q[6], 0.7 * q[0] + 0.1, 1e-12);
            if (report.stop != SN_STOP_MINIMUM || report.level[0].worst_error > 1e-9) continue;
            met++;
            // the weighed solve, from there, has nothing to gain but what it takes from the goal
            double f = report.level[1].f;
            assert_int_equal(sn_solver_solve(other, q, &single), SN_OK);
            assert_true(single.f > f * (1 - 1e-4));
        }
        print_message("%s%s: %d of 20 met\n", kind & 1 ? "coupled " : "", kind & 2 ? "looped" : "",
                      met);
        assert_true(met >= 10);
        sn_solver_destroy(solver);
        sn_solver_destroy(other);
        sn_workspace_destroy(ws);
        sn_problem_destroy(p);
        sn_problem_destroy(weighed);
        sn_model_destroy(m);
    }
}

// A goal that moves by tenths of a millimetre through the middle of the reach, to its edge and beyond, and
// back: the pose follows as calmly. Where the arm is nearly stretched the elbow goes with the root of the
// distance, so the bound has a root in it.
static void test_calm(void **unused) {
    (void)unused;
    sn_model *m = arm_model(false, false);
    for (int type = 0; type < 2; type++) {
        sn_problem *p = arm_problem(m, type == 0 ? SN_TASK_POINT : SN_TASK_POSE, 1);
        sn_solver *solver;
        assert_int_equal(sn_solver_create(p, NULL, NULL, &solver, NULL), SN_OK);
        double q[7] = {0.1, 0.4, 0.1, -0.9, 0.1, 0.5, 0}, worst = 0, again = 0;
        sn_report report;
        const int steps = 1500;
        for (int i = 0; i <= 2 * steps; i++) {
            double t = i <= steps ? i : 2 * steps - i, before[7];
            // the shoulder is at 0.35, the arm 0.94 long: it is stretched at x of about 0.93
            double goal[3] = {0.85 + 1e-4 * t, 0.02 * sin(0.002 * t), 0.45};
            memcpy(before, q, sizeof q);
            assert_int_equal(sn_problem_set_goal(p, 0, goal), SN_OK);
            if (type == 1)
                assert_int_equal(sn_problem_set_rotation(p, 0, (double[4]){0.7, 0.05, 0.7, 0}),
                                 SN_OK);
            assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
            double moved = 0;
            for (int k = 0; k < 7; k++) moved = fmax(moved, fabs(q[k] - before[k]));
            if (i > 0) worst = fmax(worst, moved);
            // the same goal once more: it stays
            memcpy(before, q, sizeof q);
            assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
            for (int k = 0; k < 7 && i > 0; k++) again = fmax(again, fabs(q[k] - before[k]));
        }
        print_message(
            "%s: steps of 1e-4 m move a joint by %.1e at most, the same goal again by %.1e\n",
            type == 0 ? "point" : "pose", worst, again);
        assert_true(worst < 0.05);
        assert_true(again < 1e-4);
        sn_solver_destroy(solver);
        sn_problem_destroy(p);
    }
    sn_model_destroy(m);
}

// ---- at run time ---------------------------------------------------------------------------------------

static void test_changes(void **unused) {
    (void)unused;
    sn_model *m = arm_model(false, false);
    sn_problem *p = arm_problem(m, SN_TASK_POINT, 0);
    sn_solver *solver, *fresh;
    const double goal[3] = {0.4, 0.2, 0.5};
    double q[7] = {0.1, 0.4, 0.1, -0.9, 0.1, 0.5, 0}, start[7], other[7];
    sn_report report, again;
    memcpy(start, q, sizeof q);
    assert_int_equal(sn_problem_set_goal(p, 0, goal), SN_OK);
    assert_int_equal(sn_solver_create(p, NULL, NULL, &solver, NULL), SN_OK);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    assert_int_equal(report.nlevel, 1);
    assert_true(report.worst_error > 1e-3);
    // one level, whatever its number, is no level
    memcpy(other, start, sizeof q);
    for (int i = 0; i < 2; i++) assert_int_equal(sn_problem_set_level(p, i, 3), SN_OK);
    assert_int_equal(sn_solver_solve(solver, other, &again), SN_OK);
    assert_memory_equal(other, q, sizeof q);
    assert_int_equal(again.level[0].level, 3);
    // the same solver minds a new level, with the same bits as a new one
    assert_int_equal(sn_problem_set_level(p, 1, 7), SN_OK);
    memcpy(q, start, sizeof q);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    assert_int_equal(report.nlevel, 2);
    assert_true(report.level[0].worst_error < 1e-9);
    assert_int_equal(sn_solver_create(p, NULL, NULL, &fresh, NULL), SN_OK);
    memcpy(other, start, sizeof q);
    assert_int_equal(sn_solver_solve(fresh, other, &again), SN_OK);
    assert_memory_equal(other, q, sizeof q);
    sn_solver_destroy(fresh);
    // without its goal the upper level is gone, and the posture is met
    assert_int_equal(sn_problem_set_missing(p, 0, true), SN_OK);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    assert_int_equal(report.nlevel, 1);
    assert_true(report.worst_error < 1e-9);
    // levels the other way round: the posture first, nothing is left for the point
    assert_int_equal(sn_problem_set_missing(p, 0, false), SN_OK);
    assert_int_equal(sn_problem_set_level(p, 1, 1), SN_OK);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    assert_true(report.level[0].worst_error < 1e-9 && report.level[1].worst_error > 0.01);
    assert_int_equal(sn_problem_set_level(p, 0, 8), SN_ERR_VALUE);
    assert_int_equal(sn_problem_set_level(p, 0, -1), SN_ERR_VALUE);
    assert_int_equal(sn_problem_set_level(p, 2, 0), SN_ERR_ARGUMENT);
    // a search for other valleys is of the first level, too
    assert_int_equal(sn_problem_set_level(p, 1, 4), SN_OK);
    assert_int_equal(sn_solver_solve_cold(solver, q, &report), SN_OK);
    assert_true(report.level[0].worst_error < 1e-9 && report.level[1].gradient < 1e-8);
    sn_solver_destroy(solver);
    sn_problem_destroy(p);
    sn_model_destroy(m);
}

// A limit lies in the way of the posture: the arm once went to it and back until its iterations were used up.
static void test_limit_in_the_way(void **unused) {
    (void)unused;
    static const double goal[9] = {0.671,  0.5259,  0.6664, -1.3696, 1.2856,
                                   0.4088, -2.4014, 0.0072, 0.037};
    static const double from[9] = {-1.1468, -0.3406, 0.7023, -1.4595, -1.7241,
                                   1.8082,  -1.5702, 0.0197, 0.0272};
    const char *path = data_path("urdf/panda.urdf");
    if (path == NULL) skip();
    size_t length;
    char *text = slurp(path, &length);
    sn_model *m;
    assert_int_equal(sn_urdf_read(text, length, NULL, NULL, &m, NULL, NULL), SN_OK);
    assert_int_equal(sn_model_nq(m), 9);
    const sn_marker_desc *hand = sn_model_marker(m, sn_model_find_marker(m, "panda_link8"));
    double rest[9];
    for (int v = 0; v < 9; v++) rest[v] = 0.5 * (sn_model_lower(m)[v] + sn_model_upper(m)[v]);
    sn_task task[2] = {sn_task_default(SN_TASK_POSE), sn_task_default(SN_TASK_REST)};
    task[0].joint = hand->joint;
    memcpy(task[0].local, hand->position, sizeof task[0].local);
    task[1].q = rest;
    task[1].level = 1;
    sn_problem *p;
    sn_solver *solver;
    uint64_t state = 3;
    assert_int_equal(sn_problem_create(m, task, 2, NULL, &p, NULL), SN_OK);
    assert_int_equal(sn_solver_create(p, NULL, NULL, &solver, NULL), SN_OK);
    int most = 0;
    for (int i = 0; i < 40; i++) {
        double q[9];
        sn_report report;
        for (int v = 0; v < 9; v++) q[v] = goal[v] + (i > 0 ? uniform(&state, -1e-3, 1e-3) : 0);
        sn_workspace *ws = sn_solver_workspace(solver);
        assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
        const sn_vec3 at = sn_workspace_point(ws, hand->joint, hand->position);
        const sn_quat turn = sn_quat_from_mat3(sn_workspace_frame(ws, hand->joint).R);
        (void)sn_problem_set_goal(p, 0, (double[3]){at.x, at.y, at.z});
        (void)sn_problem_set_rotation(p, 0, (double[4]){turn.w, turn.x, turn.y, turn.z});
        memcpy(q, from, sizeof q);
        assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
        assert_int_equal(report.stop, SN_STOP_MINIMUM);
        assert_true(report.level[0].worst_error < 1e-9);
        most = report.iterations > most ? report.iterations : most;
    }
    print_message("a limit in the way: %d iterations at most\n", most);
    assert_true(most <= 20);
    sn_solver_destroy(solver);
    sn_problem_destroy(p);
    sn_model_destroy(m);
    free(text);
}

static void test_methods(void **unused) {
    (void)unused;
    sn_model *m = arm_model(false, false);
    sn_problem *p = arm_problem(m, SN_TASK_POINT, 1);
    const double goal[3] = {0.4, 0.2, 0.5};
    assert_int_equal(sn_problem_set_goal(p, 0, goal), SN_OK);
    for (int method = 0; method < SN_METHOD_COUNT; method++) {
        if (!sn_method_available((sn_method)method)) continue;
        sn_solver_options o = sn_solver_options_default();
        sn_solver *solver;
        sn_error error = {0};
        o.method = (sn_method)method;
        bool can =
            method == SN_METHOD_HYBRID || method == SN_METHOD_NEWTON || method == SN_METHOD_LM;
        assert_int_equal(sn_problem_set_level(p, 1, 1), SN_OK);
        sn_status status = sn_solver_create(p, &o, NULL, &solver, &error);
        assert_int_equal(status, can ? SN_OK : SN_ERR_UNSUPPORTED);
        if (!can) {
            assert_non_null(strstr(error.text, "levels"));
            // and when they come later
            assert_int_equal(sn_problem_set_level(p, 1, 0), SN_OK);
            assert_int_equal(sn_solver_create(p, &o, NULL, &solver, &error), SN_OK);
            assert_int_equal(sn_problem_set_level(p, 1, 1), SN_OK);
        }
        double q[7] = {0.1, 0.4, 0.1, -0.9, 0.1, 0.5, 0}, start[7];
        sn_report report;
        memcpy(start, q, sizeof q);
        assert_int_equal(sn_solver_solve(solver, q, &report), status);
        if (can) {
            assert_true(report.level[0].worst_error < 1e-9);
            assert_true(report.level[1].gradient < 1e-8);
        } else {
            assert_memory_equal(q, start, sizeof q);
        }
        sn_solver_destroy(solver);
    }
    sn_problem_destroy(p);
    sn_model_destroy(m);
}

static void test_json(void **unused) {
    (void)unused;
    sn_model *m = arm_model(false, false);
    static const char form[] = "{\"tasks\": [{\"type\": \"point\", \"joint\": \"a7\", \"goal\": "
                               "[0, 0, 1], \"level\": %s}]}";
    static const struct {
        const char *text;
        int level;
    } rows[] = {{"0", 0},    {"7", 7},      {"8", -1},    {"-1", -1},
                {"1.5", -1}, {"\"1\"", -1}, {"1e300", -1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[200];
        sn_problem *p;
        sn_error error = {0};
        (void)snprintf(text, sizeof text, form, rows[i].text);
        sn_status status = sn_problem_read_json(text, strlen(text), m, NULL, &p, &error);
        assert_int_equal(status, rows[i].level < 0 ? SN_ERR_TASK : SN_OK);
        if (rows[i].level < 0) {
            assert_non_null(strstr(error.text, "level"));
        } else {
            assert_int_equal(sn_problem_task(p, 0)->level, rows[i].level);
        }
        sn_problem_destroy(p);
    }
    sn_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_settled),
        cmocka_unit_test(test_arm),
        cmocka_unit_test(test_goals_found),
        cmocka_unit_test(test_tied),
        cmocka_unit_test(test_calm),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_limit_in_the_way),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_json),
    };
    only_asked();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
