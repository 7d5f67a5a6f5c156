// SPDX-License-Identifier: MIT
// Servos: what every tick keeps, on random figures with random tasks and levels; feet that stay, goals that move, jump
// or cannot be reached, limbs that must not touch.
#include "support.h"

typedef struct limits {
    sn_problem *problem;
    double *velocity, *push;      // nv
    double *before, *rate, *was;  // nq, nv, nv
} limits;

// The change from one pose to the next, seen from outside: inside the limits on position, speed and acceleration.
static void check_tick(limits *l, const double *q, double seconds) {
    const sn_model *m = sn_problem_model(l->problem);
    for (int j = 0; j < sn_model_njoint(m); j++) {
        const sn_joint_type type = sn_model_joint(m, j)->type;
        const int plain = type == SN_JOINT_BALL   ? 0
                          : type == SN_JOINT_FREE ? 3
                                                  : sn_model_joint_nv(m, j);
        for (int k = 0; k < plain; k++) {
            const int at = sn_model_q_index(m, j) + k, v = sn_model_v_index(m, j) + k;
            assert_true(q[at] >= sn_problem_lower(l->problem)[v]);
            assert_true(q[at] <= sn_problem_upper(l->problem)[v]);
            if (sn_problem_gain(l->problem)[v] == 0) assert_true(q[at] == l->before[at]);
            const double rate = (q[at] - l->before[at]) / seconds;
            assert_true(fabs(rate) <= l->velocity[v]);
            assert_true(fabs(rate - l->was[v]) <= l->push[v] * seconds);
            l->was[v] = rate;
        }
    }
    memcpy(l->before, q, (size_t)sn_model_nq(m) * sizeof *q);
}

static void follow_random(uint64_t *state, int *reached, int *ticks) {
    const double seconds = 0.002;
    sn_model *m = random_model(state, 2 + below(state, 10), -1);
    const int nv = sn_model_nv(m), nq = sn_model_nq(m);
    double *q = calloc((size_t)nq + 1, sizeof *q);
    sn_problem *p = random_problem(state, m, 1 + below(state, 5), below(state, 2) == 0 ? -1 : -2);
    limits l = {p,
                calloc((size_t)nv + 1, 8),
                calloc((size_t)nv + 1, 8),
                calloc((size_t)nq + 1, 8),
                calloc((size_t)nv + 1, 8),
                calloc((size_t)nv + 1, 8)};
    assert_true(q != NULL && l.velocity != NULL && l.push != NULL && l.before != NULL);
    for (int i = 0; i < sn_problem_ntask(p); i++)
        assert_int_equal(sn_problem_set_level(p, i, below(state, 3)), SN_OK);
    for (int v = 0; v < nv; v++) {
        l.velocity[v] = below(state, 4) == 0 ? INFINITY : uniform(state, 0.2, 5);
        l.push[v] = below(state, 4) == 0 ? INFINITY : uniform(state, 2, 50);
    }
    const sn_servo_tick tick = {seconds, l.velocity, l.push};
    test_allocator allocator;
    test_allocator_begin(&allocator);
    sn_servo *servo;
    sn_error error = {0};
    assert_int_equal(sn_servo_create(p, NULL, &allocator.base, &servo, &error), SN_OK);
    const long calls = allocator.calls;
    sn_model_sample(m, state, q);
    (void)sn_model_clamp(m, q);
    memcpy(l.before, q, (size_t)nq * sizeof *q);
    sn_servo_report r = {0};
    for (int i = 0; i < 300; i++) {
        // goals move, jump, change their level or are gone for a while
        for (int t = 0; t < sn_problem_ntask(p); t++) {
            const sn_task *task = sn_problem_task(p, t);
            double goal[3];
            memcpy(goal, task->goal, sizeof goal);
            if (i < 200 && task->type == SN_TASK_POINT && task->loss == SN_LOSS_NONE) {
                for (int c = 0; c < 3; c++) goal[c] += 1e-3 * sin(0.01 * i + c);
                if (below(state, 100) == 0) goal[below(state, 3)] += uniform(state, -1, 1);
                assert_int_equal(sn_problem_set_goal(p, t, goal), SN_OK);
            }
            if (i == 150 && below(state, 3) == 0) (void)sn_problem_set_level(p, t, below(state, 3));
            if (i == 100 && below(state, 8) == 0) (void)sn_problem_set_missing(p, t, true);
        }
        const sn_status status = sn_servo_step(servo, &tick, q, &r);
        if (status != SN_OK) fail_msg("tick %d: %s", i, sn_status_text(status));
        check_tick(&l, q, seconds);
        assert_true(r.rounds <= 12 * 8 && r.nlevel <= 3);
    }
    assert_int_equal(allocator.calls, calls);
    *reached += r.reached;
    (*ticks)++;
    sn_servo_destroy(servo);
    assert_int_equal(allocator.live, 0);
    sn_problem_destroy(p);
    sn_model_destroy(m);
    free(q);
    free(l.velocity);
    free(l.push);
    free(l.before);
    free(l.rate);
    free(l.was);
}

static void random_servos(void **unused) {
    (void)unused;
    const int count = cases(100);
    int reached = 0, all = 0;
    for (int i = first_case(); i < count; i++) {
        uint64_t state = 1700 + (uint64_t)i;
        follow_random(&state, &reached, &all);
    }
    print_message("%d figures of %d at their goals in the end\n", reached, all);
}

// ---- a figure that stands ---------------------------------------------------------------------------

enum { LEFT_FOOT, RIGHT_FOOT, HAND, POSTURE, NTASK };

typedef struct figure {
    sn_model *model;
    sn_problem *problem;
    sn_servo *servo;
    int nq, nv;
    double *q, *velocity, *push;
    double hand[3];
} figure;

static figure stand(void) {
    figure f = {0};
    sn_task t[NTASK];
    assert_int_equal(sn_model_humanoid(NULL, &f.model, NULL), SN_OK);
    f.nq = sn_model_nq(f.model);
    f.nv = sn_model_nv(f.model);
    f.q = calloc((size_t)f.nq, sizeof *f.q);
    f.velocity = calloc((size_t)f.nv, sizeof *f.q);
    f.push = calloc((size_t)f.nv, sizeof *f.q);
    assert_true(f.q != NULL && f.velocity != NULL && f.push != NULL);
    sn_model_zero(f.model, f.q);
    (void)sn_model_clamp(f.model, f.q);
    for (int j = 0; j < sn_model_njoint(f.model); j++) {
        // limbs a little bent: stretched ones are singular
        const int v = sn_model_v_index(f.model, j);
        const double low = sn_model_lower(f.model)[v], high = sn_model_upper(f.model)[v];
        if (sn_model_joint(f.model, j)->type == SN_JOINT_HINGE)
            f.q[sn_model_q_index(f.model, j)] = low + 0.3 * (high - low);
    }
    static const char *const names[] = {"left_foot", "right_foot", "left_hand"};
    for (int k = 0; k < 3; k++) {
        t[k] = sn_task_default(k < 2 ? SN_TASK_POSE : SN_TASK_POINT);
        t[k].joint = sn_model_find_joint(f.model, names[k]);
        assert_true(t[k].joint >= 0);
        t[k].level = k / 2;
    }
    t[POSTURE] = sn_task_default(SN_TASK_REST);
    t[POSTURE].level = 2;
    t[POSTURE].q = f.q;
    assert_int_equal(sn_problem_create(f.model, t, NTASK, NULL, &f.problem, NULL), SN_OK);
    assert_int_equal(sn_servo_create(f.problem, NULL, NULL, &f.servo, NULL), SN_OK);
    sn_workspace *ws = sn_servo_workspace(f.servo);
    assert_int_equal(sn_workspace_pose(ws, f.q), SN_OK);
    for (int k = 0; k < 3; k++) {
        const sn_frame at = sn_workspace_frame(ws, t[k].joint);
        const sn_quat turn = sn_quat_from_mat3(at.R);
        const double goal[3] = {at.p.x, at.p.y, at.p.z};
        const double rotation[4] = {turn.w, turn.x, turn.y, turn.z};
        assert_int_equal(sn_problem_set_goal(f.problem, k, goal), SN_OK);
        if (k < 2) assert_int_equal(sn_problem_set_rotation(f.problem, k, rotation), SN_OK);
        if (k == 2) memcpy(f.hand, goal, sizeof goal);
    }
    for (int v = 0; v < f.nv; v++) {
        f.velocity[v] = 4;
        f.push[v] = 40;
    }
    return f;
}

static void drop(figure *f) {
    sn_servo_destroy(f->servo);
    sn_problem_destroy(f->problem);
    sn_model_destroy(f->model);
    free(f->q);
    free(f->velocity);
    free(f->push);
}

static void set_hand(figure *f, double x, double y, double z) {
    const double goal[3] = {f->hand[0] + x, f->hand[1] + y, f->hand[2] + z};
    assert_int_equal(sn_problem_set_goal(f->problem, HAND, goal), SN_OK);
}

// A goal on a circle that sets off gently is followed without lag; the feet stay.
static void follows_without_lag(void **unused) {
    (void)unused;
    figure f = stand();
    const sn_servo_tick tick = {0.001, f.velocity, f.push};
    double feet = 0, hand = 0;
    for (int i = 0; i < 2000; i++) {
        const double s = i < 500 ? 0.5 * i * i / 500.0 : i - 250.0, a = 0.004 * s;
        sn_servo_report r;
        set_hand(&f, 0.05 * sin(a), 0.05 * (1 - cos(a)), 0);
        assert_int_equal(sn_servo_step(f.servo, &tick, f.q, &r), SN_OK);
        assert_int_equal(r.nlevel, 3);
        feet = fmax(feet, r.error[0]);
        hand = fmax(hand, r.error[1]);
    }
    print_message("feet %.1e, hand %.1e behind\n", feet, hand);
    assert_true(feet < 1e-7 && hand < 1e-6);
    drop(&f);
}

// A goal that jumps is reached again, without overshooting much, and the feet stay.
static void jumps(void **unused) {
    (void)unused;
    figure f = stand();
    const sn_servo_tick tick = {0.001, f.velocity, f.push};
    double feet = 0, past = 0;
    int there = 0;
    for (int i = 0; i < 1500; i++) {
        sn_servo_report r;
        set_hand(&f, 0, i < 20 ? 0 : 0.2, 0);
        assert_int_equal(sn_servo_step(f.servo, &tick, f.q, &r), SN_OK);
        feet = fmax(feet, r.error[0]);
        if (i > 20 && there == 0 && r.error[1] < 1e-4) there = i;
        if (there > 0) past = fmax(past, r.error[1]);
        assert_false(r.runs_away && there > 0);
    }
    print_message("0.2 m in %d ticks, feet %.1e, then %.1e off at most\n", there - 20, feet, past);
    assert_true(there > 0 && there < 1000);
    assert_true(feet < 1e-5 && past < 2e-3);
    drop(&f);
}

// Out of reach, by much or by a hair, the arm stretches and comes to rest: it does not tremble.
static void comes_to_rest(void **unused) {
    (void)unused;
    const double far[] = {1.5, 0.8, 0.7, 0.5};
    for (size_t k = 0; k < sizeof far / sizeof *far; k++) {
        figure f = stand();
        const sn_servo_tick tick = {0.001, f.velocity, f.push};
        double *u = calloc((size_t)f.nv, sizeof *u), *before = calloc((size_t)f.nv, sizeof *u);
        double fastest = 0, feet = 0, hand = 0;
        int harsh = 0;
        assert_true(u != NULL && before != NULL);
        for (int i = 0; i < 3000; i++) {
            sn_servo_report r;
            set_hand(&f, 0, far[k], 0.3 * far[k]);
            assert_int_equal(sn_servo_step(f.servo, &tick, f.q, &r), SN_OK);
            sn_servo_velocity(f.servo, u);
            feet = fmax(feet, r.error[0]);
            hand = r.error[1];
            double change = 0;
            for (int v = 0; v < f.nv && i >= 2500; v++) {
                fastest = fmax(fastest, fabs(u[v]));
                change = fmax(change, fabs(u[v] - before[v]) / 0.001);
            }
            harsh += change > 1;
            memcpy(before, u, (size_t)f.nv * sizeof *u);
        }
        print_message(
            "away by %g m: %.1e off, in the last 500 ticks at most %.1e rad/s, %d of them "
            "above 1 rad/s^2, feet %.1e\n",
            far[k], hand, fastest, harsh, feet);
        assert_true(fastest < 0.1 && harsh <= 25 && feet < 1e-5);
        free(u);
        free(before);
        drop(&f);
    }
}

static void same_again(void **unused) {
    (void)unused;
    double *first = NULL;
    for (int run = 0; run < 2; run++) {
        figure f = stand();
        const sn_servo_tick tick = {0.001, f.velocity, f.push};
        for (int i = 0; i < 100; i++) {
            set_hand(&f, 0, 1e-3 * i, 0);
            assert_int_equal(sn_servo_step(f.servo, &tick, f.q, NULL), SN_OK);
        }
        if (run == 0) first = malloc((size_t)f.nq * sizeof *first);
        assert_non_null(first);
        if (run == 0) memcpy(first, f.q, (size_t)f.nq * sizeof *first);
        assert_memory_equal(first, f.q, (size_t)f.nq * sizeof *first);
        drop(&f);
    }
    free(first);
}

// ---- what must not happen -----------------------------------------------------------------------------

static const char arm_text[] =
    "{\"name\": \"arm\", \"joints\": ["
    "{\"name\": \"a\", \"type\": \"hinge\", \"axis\": [0,0,1], \"limits\": [[-3,3]]},"
    "{\"name\": \"b\", \"parent\": \"a\", \"type\": \"hinge\", \"axis\": [0,0,1], "
    "\"position\": [0.5,0,0], \"limits\": [[-2.5,2.5]]},"
    "{\"name\": \"c\", \"parent\": \"b\", \"type\": \"hinge\", \"axis\": [0,0,1], "
    "\"position\": [0.5,0,0], \"limits\": [[-2.5,2.5]]}],"
    "\"shapes\": [{\"type\": \"capsule\", \"joint\": \"c\", \"from\": [0,0,0], \"to\": [0.3,0,0], "
    "\"radius\": 0.03}, {\"type\": \"sphere\", \"from\": [0.7,0.9,0], \"radius\": 0.1}]}";

// The goal lies inside the ball: the hand stops at it, and goes on when the goal does.
static void keeps_off(void **unused) {
    (void)unused;
    sn_model *m;
    sn_problem *p;
    sn_servo *servo;
    sn_error error = {0};
    if (sn_model_read_json(arm_text, strlen(arm_text), NULL, &m, &error) != SN_OK)
        fail_msg("%s", error.text);
    sn_task t[2] = {sn_task_default(SN_TASK_POINT), sn_task_default(SN_TASK_AVOID)};
    t[0].joint = 2;
    t[0].local[0] = 0.3;
    assert_int_equal(sn_problem_create(m, t, 2, NULL, &p, &error), SN_OK);
    assert_int_equal(sn_servo_create(p, NULL, NULL, &servo, &error), SN_OK);
    const double velocity[3] = {3, 3, 3}, push[3] = {30, 30, 30};
    const sn_servo_tick tick = {0.001, velocity, push};
    double q[3] = {-0.5, 0.4, 0.3}, worst = 0, nearest = INFINITY;
    sn_servo_report r = {0};
    int held = 0;
    for (int i = 0; i < 4000; i++) {
        const double goal[3] = {0.7, i < 2000 ? 0.9 : 0.3, 0};
        assert_int_equal(sn_problem_set_goal(p, 0, goal), SN_OK);
        assert_int_equal(sn_servo_step(servo, &tick, q, &r), SN_OK);
        worst = fmax(worst, r.violation);
        held += r.guarded > 0;
        nearest = fmin(nearest, sn_workspace_distance(sn_servo_workspace(servo), 0, 1));
        if (i == 1999) assert_true(!r.reached && r.error[0] < 0.2);
    }
    print_message("nearest %.1e m, violated by %.1e, held off in %d ticks\n", nearest, worst, held);
    assert_true(worst == 0 && nearest < 1e-3 && held > 0 && r.reached);
    sn_servo_destroy(servo);
    sn_problem_destroy(p);
    sn_model_destroy(m);
}

static void refuses(void **unused) {
    (void)unused;
    figure f = stand();
    sn_servo_tick tick = {0, NULL, NULL};
    const double kept = f.q[0];
    assert_int_equal(sn_servo_step(f.servo, &tick, f.q, NULL), SN_ERR_VALUE);
    tick.seconds = 0.001;
    f.q[0] = NAN;
    assert_int_equal(sn_servo_step(f.servo, &tick, f.q, NULL), SN_ERR_VALUE);
    f.q[0] = kept;
    tick.velocity = f.velocity;
    f.velocity[3] = 0;
    assert_int_equal(sn_servo_step(f.servo, &tick, f.q, NULL), SN_ERR_VALUE);
    f.velocity[3] = INFINITY;
    assert_int_equal(sn_servo_step(f.servo, &tick, f.q, NULL), SN_OK);
    f.push[0] = NAN;
    assert_int_equal(sn_servo_reset(f.servo, f.push), SN_ERR_VALUE);
    drop(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_servos), cmocka_unit_test(follows_without_lag),
        cmocka_unit_test(jumps),         cmocka_unit_test(comes_to_rest),
        cmocka_unit_test(same_again),    cmocka_unit_test(keeps_off),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests_name("servo", tests, NULL, NULL);
}
