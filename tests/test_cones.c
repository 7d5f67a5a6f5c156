// SPDX-License-Identifier: MIT
// Balls with limits: a cone for the axis, a range for the twist about it.
#include "math/rotation.h"
#include "math/vec3.h"
#include "model/model.h"
#include "support.h"

static const double pi = 3.141592653589793;

static sn_joint_desc ball(const char *name, int parent, double swing, double lower, double upper) {
    sn_joint_desc d = sn_joint_default(SN_JOINT_BALL);
    d.name = name;
    d.parent = parent;
    d.swing = swing;
    d.twist[0] = lower;
    d.twist[1] = upper;
    return d;
}

static sn_model *finish(sn_builder *builder) {
    sn_model *model;
    sn_error error = {0};
    if (sn_builder_finish(builder, &model, &error) != SN_OK) fail_msg("%s", error.text);
    sn_builder_destroy(builder);
    return model;
}

static sn_model *one_ball(double swing, double lower, double upper) {
    sn_builder *builder;
    assert_int_equal(sn_builder_create("", NULL, &builder, NULL), SN_OK);
    sn_joint_desc d = ball("b", -1, swing, lower, upper);
    (void)sn_builder_joint(builder, &d);
    return finish(builder);
}

// Swing and twist add up to the rotation, and their rates are the differences.
static void measure(void **unused) {
    (void)unused;
    uint64_t state = 3;
    sn_model *model = one_ball(1, -1, 1);
    const sn_joint *j = &model->joint[0];
    double worst = 0;
    for (int n = 0; n < 500; n++) {
        double q[4], square = 0;
        for (int i = 0; i < 4; i++) q[i] = uniform(&state, -1, 1), square += q[i] * q[i];
        for (int i = 0; i < 4; i++) q[i] /= sqrt(square);
        sn_cone_at at = sn_cone_measure(j, q);
        if (at.swing > 3 || fabs(at.twist) > 3 || at.swing < 0.05) continue;
        sn_quat back = sn_quat_mul(sn_quat_exp(v3_scale(at.swing, at.n)),
                                   sn_quat_exp(v3_scale(at.twist, j->axis)));
        double dot = back.w * q[0] + back.x * q[1] + back.y * q[2] + back.z * q[3];
        assert_near(fabs(dot), 1, 1e-14);
        for (int i = 0; i < 3; i++) {
            sn_cone_at side[2];
            const double h = 1e-6;
            for (int s = 0; s < 2; s++) {
                double delta[3] = {0, 0, 0}, moved[4];
                delta[i] = s == 0 ? -h : h;
                j->ops->integrate(q, delta, moved);
                side[s] = sn_cone_measure(j, moved);
            }
            worst = fmax(worst, fabs((side[1].swing - side[0].swing) / (2 * h) - v3_at(at.n, i)));
            worst = fmax(worst, fabs((side[1].twist - side[0].twist) / (2 * h) - v3_at(at.m, i)) /
                                    (1 + v3_norm(at.m)));
        }
    }
    print_message("rates of swing and twist within %.1e\n", worst);
    assert_true(worst < 1e-7);
    sn_model_destroy(model);
}

static sn_report solve(const sn_problem *problem, sn_method method, double *q) {
    sn_solver_options options = sn_solver_options_default();
    sn_solver *solver;
    sn_report report;
    options.method = method;
    assert_int_equal(sn_solver_create(problem, &options, NULL, &solver, NULL), SN_OK);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    sn_solver_destroy(solver);
    return report;
}

static const sn_method methods[] = {SN_METHOD_HYBRID, SN_METHOD_NEWTON, SN_METHOD_LM};

// A point on the axis reaches as far as the cone lets it, straight towards its goal; an orientation turns
// as far as the twist lets it.
static void known_minima(void **unused) {
    (void)unused;
    uint64_t state = 8;
    for (int n = 0; n < cases(100); n++) {
        double swing = uniform(&state, 0.2, 1.2), most = uniform(&state, 0.1, 1);
        sn_model *model = one_ball(swing, -most, most);
        double lean = uniform(&state, swing + 0.05, 2.5), round = uniform(&state, -pi, pi);
        sn_task t = sn_task_default(SN_TASK_POINT);
        t.joint = 0;
        t.local[2] = 1;
        t.goal[0] = sin(lean) * cos(round), t.goal[1] = sin(lean) * sin(round),
        t.goal[2] = cos(lean);
        sn_problem *problem;
        assert_int_equal(sn_problem_create(model, &t, 1, NULL, &problem, NULL), SN_OK);
        for (int m = 0; m < 3; m++) {
            double q[4] = {1, 0.1 * uniform(&state, -1, 1), 0.1 * uniform(&state, -1, 1), 0.05};
            sn_report r = solve(problem, methods[m], q);
            sn_cone_at at = sn_cone_measure(&model->joint[0], q);
            assert_near(at.swing, swing, 1e-12);
            assert_true(fabs(at.twist) <= most + 1e-12);
            sn_vec3 d = v3(sin(swing) * cos(round), sin(swing) * sin(round), cos(swing));
            // Gauss-Newton nears a minimum with so much left over by and by
            bool exact = methods[m] != SN_METHOD_LM;
            assert_true(v3_norm(v3_sub(at.tilted, d)) < (exact ? 1e-7 : 1e-3));
            if (r.active < 1 || (exact && r.stop != SN_STOP_MINIMUM))
                fail_msg("%s: %s", sn_method_name(methods[m]), sn_stop_text(r.stop));
        }
        sn_problem_destroy(problem);
        // twisted further than it may be
        sn_task o = sn_task_default(SN_TASK_ORIENTATION);
        double turn = uniform(&state, most + 0.05, 2.5);
        o.joint = 0;
        o.rotation[0] = cos(turn / 2);
        o.rotation[3] = sin(turn / 2);
        assert_int_equal(sn_problem_create(model, &o, 1, NULL, &problem, NULL), SN_OK);
        for (int m = 0; m < 3; m++) {
            double q[4] = {1, 0.1, -0.1, 0.02};
            sn_report r = solve(problem, methods[m], q);
            sn_cone_at at = sn_cone_measure(&model->joint[0], q);
            assert_near(at.twist, most, 1e-12);
            assert_true(r.stop == SN_STOP_MINIMUM || methods[m] == SN_METHOD_LM);
        }
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
}

// --- reach cones ---------------------------------------------------------------------------------------

// Corners on a circle of directions, in order either way round, of any length: convex.
static void random_reach(uint64_t *state, sn_joint_desc *d) {
    sn_vec3 middle, u, v;
    do middle = v3(uniform(state, -1, 1), uniform(state, -1, 1), uniform(state, -1, 1));
    while (v3_norm(middle) < 0.1);
    middle = v3_scale(1 / v3_norm(middle), middle);
    u = v3_cross(middle, fabs(middle.x) < 0.6 ? v3_unit(0) : v3_unit(1));
    u = v3_scale(1 / v3_norm(u), u);
    v = v3_cross(middle, u);
    double wide = uniform(state, 0.2, 1.3), at = uniform(state, 0, 6),
           sign = below(state, 2) ? 1 : -1;
    d->swing = INFINITY;
    d->nreach = 3 + below(state, SN_MAX_REACH - 2);
    for (int i = 0; i < d->nreach; i++) {
        double angle = at + sign * 2 * pi * (i + uniform(state, -0.3, 0.3)) / d->nreach;
        sn_vec3 c =
            v3_add(v3_scale(cos(wide), middle),
                   v3_scale(sin(wide), v3_add(v3_scale(cos(angle), u), v3_scale(sin(angle), v))));
        c = v3_scale(uniform(state, 0.5, 2), c);
        d->reach[i][0] = c.x, d->reach[i][1] = c.y, d->reach[i][2] = c.z;
    }
}

// How far outside a direction is: below 0 inside.
static double outside(const sn_joint_desc *d, sn_vec3 at) {
    double most = -INFINITY, turn = 0;
    for (int i = 0; i < d->nreach; i++) {
        sn_vec3 a = v3_from(d->reach[i]), b = v3_from(d->reach[(i + 1) % d->nreach]);
        sn_vec3 k = v3_cross(a, b);
        if (i == 0) turn = v3_dot(k, v3_from(d->reach[2])) < 0 ? 1 : -1;
        most = fmax(most, turn * v3_dot(k, at) / v3_norm(k));
    }
    return most;
}

// The largest product of a direction with one of the polygon: along all sides, finer and finer.
static double nearest(const sn_joint_desc *d, sn_vec3 to) {
    double best = -1;
    for (int i = 0; i < d->nreach; i++) {
        sn_vec3 a = v3_from(d->reach[i]), b = v3_from(d->reach[(i + 1) % d->nreach]);
        double low = 0, high = 1;
        a = v3_scale(1 / v3_norm(a), a);
        b = v3_scale(1 / v3_norm(b), b);
        for (int round = 0; round < 12; round++) {
            double top = -2, at = 0, step = (high - low) / 20;
            for (int k = 0; k <= 20; k++) {
                double t = low + k * step;
                sn_vec3 p = v3_add(v3_scale(1 - t, a), v3_scale(t, b));
                double dot = v3_dot(p, to) / v3_norm(p);
                if (dot > top) top = dot, at = t;
            }
            best = fmax(best, top);
            low = fmax(0, at - step), high = fmin(1, at + step);
        }
    }
    return best;
}

// A point on the axis gets as near to its goal as the polygon lets it: at a side or in a corner.
static void reach_minima(void **unused) {
    (void)unused;
    uint64_t state = 9;
    int sides = 0, corners = 0, inside = 0, missed = 0, solves = 0;
    for (int n = 0; n < cases(150); n++) {
        sn_builder *builder;
        assert_int_equal(sn_builder_create("", NULL, &builder, NULL), SN_OK);
        sn_joint_desc d = ball("b", -1, INFINITY, -INFINITY, INFINITY);
        random_reach(&state, &d);
        (void)sn_builder_joint(builder, &d);
        sn_model *model = finish(builder);
        sn_task t = sn_task_default(SN_TASK_POINT);
        sn_vec3 goal = v3(uniform(&state, -1, 1), uniform(&state, -1, 1), uniform(&state, -1, 1));
        goal = v3_scale(1 / v3_norm(goal), goal);
        t.local[2] = 1;
        t.goal[0] = goal.x, t.goal[1] = goal.y, t.goal[2] = goal.z;
        double best = outside(&d, goal) <= 0 ? 1 : nearest(&d, goal);
        sn_problem *problem;
        assert_int_equal(sn_problem_create(model, &t, 1, NULL, &problem, NULL), SN_OK);
        for (int m = 0; m < 3; m++) {
            double q[4], again[4];
            sn_model_sample(model, &state, q);
            sn_report r = solve(problem, methods[m], q);
            sn_cone_at at = sn_cone_measure(&model->joint[0], q);
            assert_true(outside(&d, at.tilted) <= 1e-12);
            memcpy(again, q, sizeof q);
            if (sn_model_clamp(model, again) != 0)
                fail_msg("case %d, %s: clamped again, outside by %.3g, norm off by %.3g", n,
                         sn_method_name(methods[m]), outside(&d, at.tilted),
                         q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1);
            assert_memory_equal(again, q, sizeof q);
            // from far behind the polygon another corner may be a minimum of its own
            solves++;
            if (v3_dot(at.tilted, goal) < best - (methods[m] == SN_METHOD_LM ? 1e-4 : 1e-9))
                missed++;
            inside += r.active == 0, sides += r.active == 1, corners += r.active == 2;
            if (methods[m] != SN_METHOD_LM && r.stop != SN_STOP_MINIMUM && r.stop != SN_STOP_GOAL)
                fail_msg("case %d, %s: %s, gradient %.1e, %d active", n, sn_method_name(methods[m]),
                         sn_stop_text(r.stop), r.gradient, r.active);
        }
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
    print_message(
        "reach cones: %d inside, %d at sides, %d in corners; %d of %d in another minimum\n", inside,
        sides, corners, missed, solves);
    assert_true(inside > 0 && sides > solves / 10 && corners > solves / 10 &&
                missed <= solves / 10);
}

// Chains with such balls: limits hold at every returned pose, f falls, and no small step along the limits
// lowers it.
static void chains(void **unused) {
    (void)unused;
    uint64_t state = 21;
    int count = cases(60), ended = 0, at_limits = 0;
    long iterations = 0;
    for (int n = 0; n < count; n++) {
        static const char *const names[] = {"a", "b", "c", "d", "e"};
        sn_builder *builder;
        assert_int_equal(sn_builder_create("", NULL, &builder, NULL), SN_OK);
        for (int i = 0; i < 5; i++) {
            sn_joint_desc d = ball(names[i], i - 1, uniform(&state, 0.2, 1.5),
                                   -uniform(&state, 0.1, 1), uniform(&state, 0.1, 1));
            for (int k = 0; k < 3; k++) {
                d.axis[k] = uniform(&state, -1, 1);
                d.position[k] = uniform(&state, -0.5, 0.5);
            }
            if (i == 3) d.swing = INFINITY;
            if (i == 4) d.twist[0] = -INFINITY, d.twist[1] = INFINITY;
            if (n % 3 > 0 && below(&state, 2) == 0) random_reach(&state, &d);
            if (n % 4 == 3 && i % 2 == 0) {
                d.swing = d.twist[1] = INFINITY, d.twist[0] = -INFINITY, d.nreach = 0;
                d.turn = uniform(&state, 0.2, 3);
            }
            (void)sn_builder_joint(builder, &d);
        }
        sn_model *model = finish(builder);
        sn_problem *problem = random_problem(&state, model, 4, n % 2 == 0 ? SN_TASK_POINT : -1);
        sn_workspace *ws;
        assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
        double start[20], q[20], before, after;
        sn_model_sample(model, &state, start);
        for (int m = 0; m < SN_METHOD_COUNT; m++) {
            if (!sn_method_available((sn_method)m)) continue;
            memcpy(q, start, sizeof q);
            assert_int_equal(sn_workspace_eval(ws, start, 0, &before), SN_OK);
            sn_report r = solve(problem, (sn_method)m, q);
            assert_true(r.f <= before * (1 + 1e-12));
            for (int k = 0; k < 5; k++) {
                const sn_joint *j = &model->joint[k];
                sn_cone_at at = sn_cone_measure(j, q + j->q0);
                assert_true(at.swing <= j->swing + 1e-12);
                sn_vec3 about;
                assert_true(sn_turn_measure(q + j->q0, &about) <= j->turn + 1e-12);
                double off_reach = j->nreach == 0 ? -1 : outside(&model->desc[k], at.tilted);
                if (off_reach > 1e-12)
                    fail_msg("%s: joint %d outside by %.3g (start %.3g)",
                             sn_method_name((sn_method)m), k, off_reach,
                             outside(&model->desc[k], sn_cone_measure(j, start + j->q0).tilted));
                // half a turn over there is no telling twist from swing
                double sure = 1e-12 / (1e-12 + fabs(cos(at.swing / 2)));
                double off = fmax(j->twist[0] - at.twist, at.twist - j->twist[1]);
                if (!(off <= sure))
                    fail_msg("%s: twist %.3g over, swing %.17g", sn_method_name((sn_method)m), off,
                             at.swing);
            }
            bool second = m == SN_METHOD_HYBRID || m == SN_METHOD_NEWTON;
            if (!second) continue;
            ended +=
                r.stop == SN_STOP_MINIMUM || r.stop == SN_STOP_GOAL || r.stop == SN_STOP_SADDLE;
            at_limits += r.active;
            iterations += r.iterations;
            if (r.stop != SN_STOP_MINIMUM) continue;
            for (int k = 0; k < 40; k++) {
                double delta[15], moved[20];
                for (int i = 0; i < 15; i++) delta[i] = uniform(&state, -1e-4, 1e-4);
                sn_model_integrate(model, q, delta, moved);
                (void)sn_model_clamp(model, moved);
                assert_int_equal(sn_workspace_eval(ws, moved, 0, &after), SN_OK);
                if (!(after >= r.f * (1 - 1e-9) - 1e-12))
                    fail_msg("%s: f falls from %.17g to %.17g", sn_method_name((sn_method)m), r.f,
                             after);
            }
        }
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
    print_message("%d of %d solves ended at a minimum, %.1f limits active, %.1f iterations\n",
                  ended, 2 * count, at_limits / (2.0 * count), (double)iterations / (2.0 * count));
    assert_true(ended >= 2 * count * 19 / 20);
    assert_true(at_limits > count);
}

// A limit of the whole turn: its rate is its axis, and an orientation beyond it is met as nearly as can be,
// turned about the same axis as far as the limit lets it.
static void whole_turns(void **unused) {
    (void)unused;
    uint64_t state = 12;
    double rate = 0, off = 0;
    for (int n = 0; n < cases(100); n++) {
        sn_builder *builder;
        assert_int_equal(sn_builder_create("", NULL, &builder, NULL), SN_OK);
        sn_joint_desc d = ball("b", -1, INFINITY, -INFINITY, INFINITY);
        d.turn = uniform(&state, 0.1, 2.8);
        (void)sn_builder_joint(builder, &d);
        sn_model *model = finish(builder);
        const sn_joint *j = &model->joint[0];
        sn_vec3 u = v3(uniform(&state, -1, 1), uniform(&state, -1, 1), uniform(&state, 0.1, 1));
        u = v3_scale(1 / v3_norm(u), u);
        sn_task o = sn_task_default(SN_TASK_ORIENTATION);
        sn_quat goal = sn_quat_exp(v3_scale(uniform(&state, d.turn, 3.1), u));
        const double to[4] = {goal.w, goal.x, goal.y, goal.z};
        memcpy(o.rotation, to, sizeof to);
        o.joint = 0;
        sn_problem *problem;
        assert_int_equal(sn_problem_create(model, &o, 1, NULL, &problem, NULL), SN_OK);
        for (int m = 0; m < 3; m++) {
            // half of the way: on the other side of a whole turn is another minimum
            sn_quat half = sn_quat_exp(v3_scale(d.turn / 2, u));
            double q[4] = {half.w, half.x + 0.1, half.y - 0.1, half.z};
            sn_report r = solve(problem, methods[m], q);
            sn_vec3 axis;
            assert_near(sn_turn_measure(q, &axis), d.turn, 1e-12);
            bool exact = methods[m] != SN_METHOD_LM;
            double away = v3_norm(v3_sub(axis, u));
            if (exact) off = fmax(off, away);
            if (r.active != 1 || away > (exact ? 1e-7 : 1e-3))
                fail_msg("%s: %s, %d limits, axis off by %.1e, turn %.3f",
                         sn_method_name(methods[m]), sn_stop_text(r.stop), r.active, away, d.turn);
            if (exact && r.stop != SN_STOP_MINIMUM)
                fail_msg("%s: %s", sn_method_name(methods[m]), sn_stop_text(r.stop));
            double again[4];
            memcpy(again, q, sizeof q);
            assert_int_equal(sn_model_clamp(model, again), 0);
        }
        double q[4] = {to[0], to[1], to[2], to[3]};
        for (int i = 0; i < 3; i++) {
            const double h = 1e-6;
            double side[2];
            sn_vec3 axis;
            for (int s = 0; s < 2; s++) {
                double delta[3] = {0, 0, 0}, moved[4];
                delta[i] = s == 0 ? -h : h;
                j->ops->integrate(q, delta, moved);
                side[s] = sn_turn_measure(moved, &axis);
            }
            rate = fmax(rate, fabs((side[1] - side[0]) / (2 * h) - v3_at(u, i)));
        }
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
    print_message("rates of turns within %.1e, minima at their limits within %.1e\n", rate, off);
    assert_true(rate < 1e-7);
    // read and written, refused beside another limit
    static const char *const good =
        "{\"joints\": [{\"name\": \"a\", \"type\": \"ball\", \"turn\": 0.7}]}";
    static const char *const wrong[] = {
        "{\"joints\": [{\"name\": \"a\", \"type\": \"ball\", \"turn\": 0}]}",
        "{\"joints\": [{\"name\": \"a\", \"type\": \"ball\", \"turn\": 1, \"swing\": 1}]}",
        "{\"joints\": [{\"name\": \"a\", \"type\": \"ball\", \"turn\": 1, \"twist\": [0, 1]}]}",
        "{\"joints\": [{\"name\": \"a\", \"type\": \"free\", \"turn\": 1}]}"};
    sn_model *model, *again;
    char *text;
    assert_int_equal(sn_model_read_json(good, strlen(good), NULL, &model, NULL), SN_OK);
    assert_int_equal(sn_model_text(model, NULL, &text), SN_OK);
    assert_int_equal(sn_model_read_json(text, strlen(text), NULL, &again, NULL), SN_OK);
    assert_true(sn_model_joint(again, 0)->turn == 0.7);
    sn_release(NULL, text);
    sn_model_destroy(again);
    sn_model_destroy(model);
    for (int i = 0; i < 4; i++)
        assert_int_equal(sn_model_read_json(wrong[i], strlen(wrong[i]), NULL, &model, NULL),
                         SN_ERR_MODEL);
}

static void files(void **unused) {
    (void)unused;
    sn_model *model = one_ball(0.7, -0.2, INFINITY), *again;
    char *text, *second;
    assert_int_equal(sn_model_text(model, NULL, &text), SN_OK);
    assert_int_equal(sn_model_read_json(text, strlen(text), NULL, &again, NULL), SN_OK);
    assert_int_equal(sn_model_text(again, NULL, &second), SN_OK);
    assert_string_equal(text, second);
    assert_true(sn_model_joint(again, 0)->swing == 0.7 &&
                sn_model_joint(again, 0)->twist[0] == -0.2);
    sn_release(NULL, text);
    sn_release(NULL, second);
    sn_model_destroy(again);
    sn_model_destroy(model);
    sn_builder *builder;
    uint64_t state = 4;
    assert_int_equal(sn_builder_create("", NULL, &builder, NULL), SN_OK);
    sn_joint_desc d = ball("b", -1, INFINITY, -1, 1);
    random_reach(&state, &d);
    (void)sn_builder_joint(builder, &d);
    model = finish(builder);
    assert_int_equal(sn_model_text(model, NULL, &text), SN_OK);
    assert_int_equal(sn_model_read_json(text, strlen(text), NULL, &again, NULL), SN_OK);
    assert_int_equal(sn_model_joint(again, 0)->nreach, d.nreach);
    assert_memory_equal(sn_model_joint(again, 0)->reach, d.reach, sizeof d.reach);
    sn_release(NULL, text);
    sn_model_destroy(again);
    sn_model_destroy(model);
#define REACH(reach) "{\"joints\": [{\"name\": \"a\", \"type\": \"ball\", \"reach\": " reach "}]}"
    static const struct {
        const char *text, *message;
    } refused[] = {
        {REACH("[[1,0,0],[0,1,0]]"), "joint \"a\": \"reach\" must be 3 to 16 directions [x, y, z]"},
        {REACH("[[1,0,0],[0,1,0],[0,0]]"),
         "joint \"a\": \"reach\" must be 3 to 16 directions [x, y, z]"},
        {REACH("[[1,0,0],[0,1,0],[0,0,0]]"), "joint \"a\": a direction of reach is zero"},
        {REACH("[[1,0,0],[2,0,0],[0,0,1]]"),
         "joint \"a\": neighbours among the directions of reach are alike or opposite"},
        {REACH("[[1,0,1],[0,1,1],[-1,0,1],[0.1,0,1]]"),
         "joint \"a\": reach must be the corners of a convex polygon, in order"},
        {REACH("[[1,0,1],[-1,0,1],[0,1,1],[0,-1,1]]"),
         "joint \"a\": reach must be the corners of a convex polygon, in order"},
        {REACH("[[1,0,0],[0,1,0],[0,0,1]], \"swing\": 1"),
         "joint \"a\": it has a swing and a reach cone: take one of them"},
        {"{\"joints\": [{\"name\": \"a\", \"type\": \"free\", \"reach\": "
         "[[1,0,0],[0,1,0],[0,0,1]]}]}",
         "joint \"a\": only a ball has \"swing\", \"twist\", \"turn\" and \"reach\""}};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        sn_error error = {0};
        assert_int_equal(
            sn_model_read_json(refused[i].text, strlen(refused[i].text), NULL, &model, &error),
            SN_ERR_MODEL);
        assert_string_equal(error.text, refused[i].message);
    }
    // a text has no such numbers
    for (int bad = 0; bad < 3; bad++) {
        sn_error error = {0};
        d = ball("b", -1, INFINITY, -1, 1);
        random_reach(&state, &d);
        d.reach[d.nreach - 1][bad] = NAN;
        assert_int_equal(sn_builder_create("", NULL, &builder, NULL), SN_OK);
        (void)sn_builder_joint(builder, &d);
        assert_int_equal(sn_builder_finish(builder, &model, &error), SN_ERR_MODEL);
        assert_string_equal(error.text, "joint \"b\": a direction of reach is not finite");
        sn_builder_destroy(builder);
    }
    static const char *const wrong[] = {
        "{\"joints\": [{\"name\": \"a\", \"type\": \"ball\", \"swing\": 0}]}",
        "{\"joints\": [{\"name\": \"a\", \"type\": \"ball\", \"twist\": [1, 0]}]}",
        "{\"joints\": [{\"name\": \"a\", \"type\": \"ball\", \"twist\": 3}]}",
        "{\"joints\": [{\"name\": \"a\", \"type\": \"free\", \"swing\": 1}]}"};
    for (int i = 0; i < 4; i++)
        assert_int_equal(sn_model_read_json(wrong[i], strlen(wrong[i]), NULL, &model, NULL),
                         SN_ERR_MODEL);
}

// Without limits a ball has no cone, no twist and no reach either.
static void off(void **unused) {
    (void)unused;
    sn_builder *b;
    sn_model *model, *kept, *free_of;
    sn_marker_set *set;
    assert_int_equal(sn_builder_create("balls", NULL, &b, NULL), SN_OK);
    uint64_t state = 5;
    for (int i = 0; i < 2; i++) {
        sn_joint_desc d = sn_joint_default(SN_JOINT_BALL);
        d.name = i == 0 ? "a" : "b";
        d.parent = i - 1;
        d.twist[0] = -0.2;
        d.twist[1] = 0.3;
        d.swing = i == 0 ? 0.5 : INFINITY;
        if (i == 1) random_reach(&state, &d);
        (void)sn_builder_joint(b, &d);
    }
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    assert_int_equal(sn_marker_set_create("none", NULL, 0, NULL, &set, NULL), SN_OK);
    assert_int_equal(sn_marker_set_apply(set, model, SN_LIMITS_HARD, NULL, NULL, &kept, NULL),
                     SN_OK);
    assert_int_equal(sn_marker_set_apply(set, model, SN_LIMITS_OFF, NULL, NULL, &free_of, NULL),
                     SN_OK);
    for (int n = 0; n < 50; n++) {
        double q[8], before[8];
        sn_model_sample(free_of, &state, q);
        memcpy(before, q, sizeof q);
        assert_int_equal(sn_model_clamp(free_of, q), 0);
        assert_memory_equal(q, before, sizeof q);
        assert_true(n > 0 || sn_model_joint(kept, 1)->nreach > 0);
    }
    assert_true(sn_model_joint(free_of, 0)->swing == INFINITY);
    assert_int_equal(sn_model_joint(free_of, 1)->nreach, 0);
    assert_true(sn_model_joint(kept, 0)->swing == 0.5);
    sn_marker_set_destroy(set);
    sn_model_destroy(model);
    sn_model_destroy(kept);
    sn_model_destroy(free_of);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measure), cmocka_unit_test(known_minima), cmocka_unit_test(reach_minima),
        cmocka_unit_test(chains),  cmocka_unit_test(whole_turns),  cmocka_unit_test(files),
        cmocka_unit_test(off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
