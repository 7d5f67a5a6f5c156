// SPDX-License-Identifier: MIT
// A humanoid at a thousand ticks a second for ten seconds: feet pinned, centre of mass held, hands on circles, the head on a
// point, a posture below. Limits on speed and acceleration are looked at from outside, in the poses that come out.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol.h"
#include "solvers.h"

enum {
    TICKS = 10000,
    FEET = 0,
    HANDS = 2,
    WEIGHT = 4,
    GAZE = 5,
    POSTURE = 6,
    APART = 7,
    NTASK = 8
};

static const double seconds = 0.001, top_speed = 3, top_push = 30, two_pi = 6.283185307179586;

typedef struct body {
    const char *name;
    sn_model *model;
    const char *foot[2], *hand[2], *head;
    double hand_local[2][3], hand_goal[2][3], gaze_from[3], gaze_axis[3], gaze_goal[3];
    int root;  // coordinates of the base
} body;

typedef struct body_run {
    const char *name;
    double turns;   // of the circles, a second
    double radius;  // metres
    double jump;    // metres that the goals jump to and fro, every two seconds
} body_run;

static bool load(const char *data, const char *file, body *b) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/mjcf/%s", data, file);
    size_t length;
    char *text = bench_file(NULL, path, &length);
    if (text == NULL) return false;
    sn_error error = {0};
    sn_status status = sn_mjcf_read(text, length, NULL, &b->model, NULL, &error);
    free(text);
    if (status != SN_OK) printf("%s: %s\n", path, error.text);
    return status == SN_OK;
}

static void copy3(double to[3], const double from[3]) { memcpy(to, from, 3 * sizeof *to); }

static sn_problem *ask(const body *b, const double *posture) {
    sn_task t[NTASK];
    for (int k = 0; k < 2; k++) {
        sn_task *foot = &t[FEET + k], *hand = &t[HANDS + k];
        *foot = sn_task_default(SN_TASK_POSE);
        foot->joint = sn_model_find_joint(b->model, b->foot[k]);
        *hand = sn_task_default(SN_TASK_POINT);
        hand->joint = sn_model_find_joint(b->model, b->hand[k]);
        hand->level = 2;
        copy3(hand->local, b->hand_local[k]);
    }
    // over the feet; its height is free
    t[WEIGHT] = sn_task_default(SN_TASK_CENTRE_OF_MASS);
    t[WEIGHT].level = 1;
    t[WEIGHT].has_matrix = true;
    t[WEIGHT].matrix[0] = t[WEIGHT].matrix[4] = 1;
    t[WEIGHT].matrix[8] = 0;
    t[GAZE] = sn_task_default(SN_TASK_LOOK_AT);
    t[GAZE].joint = sn_model_find_joint(b->model, b->head);
    t[GAZE].level = 3;
    copy3(t[GAZE].local, b->gaze_from);
    copy3(t[GAZE].axis, b->gaze_axis);
    copy3(t[GAZE].local2, b->gaze_goal);
    t[POSTURE] = sn_task_default(SN_TASK_REST);
    t[POSTURE].level = 4;
    t[POSTURE].q = posture;
    t[APART] = sn_task_default(SN_TASK_AVOID);
    t[APART].distance = 0.005;
    sn_problem *problem = NULL;
    sn_error error = {0};
    if (sn_problem_create(b->model, t, NTASK, NULL, &problem, &error) != SN_OK)
        printf("%s: %s\n", b->name, error.text);
    return problem;
}

// Where the hands should be at a time.
static void set_hands(const body *b, const body_run *run, sn_problem *p, double time) {
    const double angle = two_pi * run->turns * time;
    const double off = fmod(time, 4) >= 2 ? run->jump : 0;
    for (int k = 0; k < 2; k++) {
        double goal[3];
        copy3(goal, b->hand_goal[k]);
        goal[1] += (k == 0 ? 1 : -1) * run->radius * sin(angle);
        goal[2] += run->radius * (1 - cos(angle)) + off;
        (void)sn_problem_set_goal(p, HANDS + k, goal);
    }
}

// A pose that meets the goals of the beginning: knees bent, found level by level.
static bool stand(const body *b, const body_run *run, sn_problem *p, double *q) {
    sn_workspace *ws = NULL;
    sn_solver *solver = NULL;
    sn_report report = {0};
    double middle[3] = {0, 0, 0};
    if (sn_workspace_create(p, false, NULL, &ws, NULL) != SN_OK) return false;
    (void)sn_workspace_pose(ws, q);
    for (int k = 0; k < 2; k++) {
        const sn_frame f = sn_workspace_frame(ws, sn_problem_task(p, FEET + k)->joint);
        const double goal[3] = {f.p.x, f.p.y, 0.035};
        (void)sn_problem_set_goal(p, FEET + k, goal);
        for (int i = 0; i < 3; i++) middle[i] += 0.5 * goal[i];
    }
    middle[0] += 0.03;
    (void)sn_problem_set_goal(p, WEIGHT, middle);
    set_hands(b, run, p, 0);
    bool good = sn_solver_create(p, NULL, NULL, &solver, NULL) == SN_OK &&
                sn_solver_solve(solver, q, &report) == SN_OK &&
                report.level[0].worst_error < 1e-6 && report.level[2].worst_error < 1e-6;
    if (!good) printf("  the start was not found: %s\n", sn_stop_text(report.stop));
    sn_solver_destroy(solver);
    sn_workspace_destroy(ws);
    return good;
}

// How far the centre of mass is from its goal, seen from above.
static double off_weight(const body *b, const sn_workspace *ws, const sn_problem *p) {
    double sum = 0, at[3] = {0};
    for (int k = 0; k < sn_model_njoint(b->model); k++) {
        const sn_joint_desc *d = sn_model_joint(b->model, k);
        const sn_vec3 c = sn_workspace_point(ws, k, d->centre);
        sum += d->mass;
        at[0] += d->mass * c.x, at[1] += d->mass * c.y;
    }
    const double *goal = sn_problem_task(p, WEIGHT)->goal;
    return hypot(at[0] / sum - goal[0], at[1] / sum - goal[1]);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool drive(const body *b, const body_run *run) {
    const int nv = sn_model_nv(b->model), nq = sn_model_nq(b->model);
    double *q = bench_numbers((size_t)nq), *posture = bench_numbers((size_t)nq);
    double *before = bench_numbers((size_t)nq), *was = bench_numbers((size_t)nq);
    double *velocity = bench_numbers((size_t)nv), *push = bench_numbers((size_t)nv);
    double *micros = bench_numbers(TICKS);
    for (int v = 0; v < nv; v++) {
        velocity[v] = v < 6 ? INFINITY : top_speed;
        push[v] = v < 6 ? INFINITY : top_push;
    }
    sn_model_zero(b->model, q);
    (void)sn_model_clamp(b->model, q);
    static const char *const bent[][2] = {{"hip_pitch", "-0.5"},
                                          {"knee", "1"},
                                          {"ankle_pitch", "-0.5"},
                                          {"shoulder_pitch", "0.2"},
                                          {"elbow", "0.9"}};
    for (size_t i = 0; i < sizeof bent / sizeof *bent; i++)
        for (int k = 0; k < 2; k++) {
            char name[64];
            (void)snprintf(name, sizeof name, "%s_%s_joint", k == 0 ? "left" : "right", bent[i][0]);
            const int joint = sn_model_find_joint(b->model, name);
            if (joint >= 0) q[sn_model_q_index(b->model, joint)] = strtod(bent[i][1], NULL);
        }
    memcpy(posture, q, (size_t)nq * sizeof *q);
    sn_problem *p = ask(b, posture);
    sn_servo *servo = NULL;
    const sn_servo_tick tick = {seconds, velocity, push};
    bool good =
        p != NULL && stand(b, run, p, q) && sn_servo_create(p, NULL, NULL, &servo, NULL) == SN_OK;
    double feet = 0, weight = 0, hands = 0, late = 0, speed = 0, pushed = 0, jump = 0;
    double violated = 0;
    int outside = 0, held = 0, ticks = good ? TICKS : 0;
    for (int i = 0; i < ticks; i++) {
        const double time = (i + 1) * seconds;
        sn_servo_report r;
        set_hands(b, run, p, time);
        memcpy(before, q, (size_t)nq * sizeof *q);
        const double begin = bench_seconds();
        good &= sn_servo_step(servo, &tick, q, &r) == SN_OK;
        micros[i] = 1e6 * (bench_seconds() - begin);
        feet = fmax(feet, r.error[0]);
        weight = fmax(weight, off_weight(b, sn_servo_workspace(servo), p));
        hands = fmax(hands, r.error[2]);
        if (fmod(time, 2) > 1) late = fmax(late, r.error[2]);
        violated = fmax(violated, r.violation);
        held += r.limited > 0;
        for (int k = b->root; k < nq; k++) {
            const int v = k - b->root + 6;
            const double now = (q[k] - before[k]) / seconds;
            outside += q[k] < sn_model_lower(b->model)[v] || q[k] > sn_model_upper(b->model)[v];
            speed = fmax(speed, fabs(now));
            pushed = fmax(pushed, fabs(now - was[k]) / seconds);
            jump = fmax(jump, fabs(q[k] - before[k]));
            was[k] = now;
        }
    }
    if (ticks > 0) {
        qsort(micros, TICKS, sizeof *micros, by_size);
        printf("  %-22s %6.1f %6.1f %6.1f   %8.1e %8.1e %8.1e %8.1e   %6.3f %7.3f  %.4f %7d %6.1f "
               "%%\n",
               run->name, micros[TICKS / 2], micros[TICKS * 99 / 100], micros[TICKS - 1], feet,
               weight, hands, late, speed, pushed, jump, outside, 100.0 * held / TICKS);
        good = good && micros[TICKS * 99 / 100] < 200 && speed <= top_speed && pushed <= top_push &&
               outside == 0 && violated == 0 && feet < 1e-5 && late < 1e-4 &&
               jump <= top_speed * seconds;
    }
    sn_servo_destroy(servo);
    sn_problem_destroy(p);
    free(q);
    free(posture);
    free(before);
    free(was);
    free(velocity);
    free(push);
    free(micros);
    return good;
}

bool bench_body(const bench_options *o) {
    static const body_run runs[] = {{"circles", 0.5, 0.08, 0},
                                    {"fast circles", 1, 0.08, 0},
                                    {"goals that jump", 0.25, 0.05, 0.12}};
    body b = {.name = "G1",
              .foot = {"left_ankle_roll_joint", "right_ankle_roll_joint"},
              .hand = {"left_wrist_yaw_joint", "right_wrist_yaw_joint"},
              .head = "waist_pitch_joint",
              .hand_local = {{0.09, 0, 0}, {0.09, 0, 0}},
              .hand_goal = {{0.3, 0.2, 0.8}, {0.3, -0.2, 0.8}},
              .gaze_from = {0.06, 0, 0.4},
              .gaze_axis = {0.9, 0, -0.436},
              .gaze_goal = {1.5, 0, 0.5},
              .root = 7};
    bool good = true;
    if (o->data == NULL || !load(o->data, "g1.xml", &b)) {
        printf("skipped: body needs --data DIR with DIR/mjcf/g1.xml\n");
        return true;
    }
    printf("G1, %d degrees of freedom, 10 s at 1 kHz, speed at most %g rad/s, acceleration %g "
           "rad/s^2\n"
           "  %-22s %6s %6s %6s   %8s %8s %8s %8s   %6s %7s  %6s %7s %8s\n",
           sn_model_nv(b.model), top_speed, top_push, "", "us p50", "p99", "most", "feet m",
           "weight m", "hands m", "settled", "speed", "accel.", "jump", "outside", "limited");
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) good &= drive(&b, &runs[i]);
    sn_model_destroy(b.model);
    printf(
        "\n%s: p99 below 200 us on one core, limits kept, feet within 10 um, hands within 0.1 mm "
        "once settled\n",
        good ? "PASS" : "FAIL");
    return good;
}
