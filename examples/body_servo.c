// A whole body at a thousand ticks a second: the built-in figure stands on both feet and draws a circle with its
// left hand; each tick keeps the joints' limits, speeds and accelerations.
//   example_body_servo
#include <math.h>
#include <sinew/sinew.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEFT, RIGHT, WEIGHT, HAND, POSTURE, NTASK };

static void stop(const char *what) {
    fprintf(stderr, "body_servo: %s\n", what);
    exit(1);
}

// The goal of a task is where its joint is now.
static void stay(sn_problem *problem, int task, const sn_workspace *ws) {
    const sn_frame at = sn_workspace_frame(ws, sn_problem_task(problem, task)->joint);
    const sn_quat turn = sn_quat_from_mat3(at.R);
    (void)sn_problem_set_goal(problem, task, (double[3]){at.p.x, at.p.y, at.p.z});
    (void)sn_problem_set_rotation(problem, task, (double[4]){turn.w, turn.x, turn.y, turn.z});
}

int main(void) {
    sn_model *model;
    sn_problem *problem;
    sn_servo *servo;
    sn_error error = {0};
    if (sn_model_humanoid(NULL, &model, &error) != SN_OK) stop(error.text);
    double *q = calloc((size_t)sn_model_nq(model), sizeof *q);
    double *speed = calloc((size_t)sn_model_nv(model), sizeof *speed);
    double *push = calloc((size_t)sn_model_nv(model), sizeof *push);
    if (q == NULL || speed == NULL || push == NULL) stop("out of memory");
    sn_model_zero(model, q);
    static const char *const bent[] = {"left_shin", "right_shin", "left_forearm", "right_forearm"};
    for (int i = 0; i < 4; i++)
        q[sn_model_q_index(model, sn_model_find_joint(model, bent[i]))] = i < 2 ? 0.5 : -1;

    // feet and weight first, then the hand, a posture below
    sn_task t[NTASK] = {sn_task_default(SN_TASK_POSE), sn_task_default(SN_TASK_POSE),
                        sn_task_default(SN_TASK_CENTRE_OF_MASS), sn_task_default(SN_TASK_POINT),
                        sn_task_default(SN_TASK_REST)};
    const int carries[2] = {sn_model_find_joint(model, "pelvis"),
                            sn_model_find_joint(model, "chest")};
    t[LEFT].joint = sn_model_find_joint(model, "left_foot");
    t[RIGHT].joint = sn_model_find_joint(model, "right_foot");
    t[WEIGHT].joints = carries;
    t[WEIGHT].masses = (const double[2]){30, 40};
    t[WEIGHT].centres = (const double[6]){0};
    t[WEIGHT].njoint = 2;
    t[WEIGHT].has_matrix = true;  // its height, along y, is free
    for (int i = 0; i < 9; i++) t[WEIGHT].matrix[i] = i == 0 || i == 8;
    t[HAND].joint = sn_model_find_joint(model, "left_hand");
    t[HAND].level = 1;
    t[POSTURE].q = q;
    t[POSTURE].level = 2;
    if (sn_problem_create(model, t, NTASK, NULL, &problem, &error) != SN_OK) stop(error.text);
    if (sn_servo_create(problem, NULL, NULL, &servo, &error) != SN_OK) stop(error.text);

    sn_workspace *ws = sn_servo_workspace(servo);
    (void)sn_workspace_pose(ws, q);
    stay(problem, LEFT, ws);
    stay(problem, RIGHT, ws);
    const sn_vec3 pelvis = sn_workspace_frame(ws, carries[0]).p,
                  chest = sn_workspace_frame(ws, carries[1]).p;
    (void)sn_problem_set_goal(
        problem, WEIGHT,
        (double[3]){(30 * pelvis.x + 40 * chest.x) / 70, 0, (30 * pelvis.z + 40 * chest.z) / 70});
    const sn_vec3 hand = sn_workspace_frame(ws, t[HAND].joint).p;

    for (int v = 0; v < sn_model_nv(model); v++) speed[v] = 3, push[v] = 30;
    const sn_servo_tick tick = {.seconds = 0.001, .velocity = speed, .acceleration = push};
    double behind = 0, feet = 0, fastest = 0;
    sn_servo_report report = {0};
    (void)sn_servo_reset(servo, NULL);  // at rest
    for (int k = 1; k <= 4000; k++) {
        // the circle sets off and ends gently
        const double x = k / 4000.0, angle = 2 * 6.283185307179586 * x * x * (3 - 2 * x);
        const double goal[3] = {hand.x + 0.1 * sin(angle), hand.y + 0.1 * (1 - cos(angle)), hand.z};
        (void)sn_problem_set_goal(problem, HAND, goal);
        if (sn_servo_step(servo, &tick, q, &report) != SN_OK) stop("a tick failed");
        feet = fmax(feet, sn_workspace_task_error(ws, LEFT));
        behind = fmax(behind, report.error[1]);
    }
    sn_servo_velocity(servo, speed);
    for (int v = 0; v < sn_model_nv(model); v++) fastest = fmax(fastest, fabs(speed[v]));
    printf("4 seconds: hand %.1e m behind at most, feet %.1e; %.1e rad/s in the end\n", behind,
           feet, fastest);
    sn_servo_destroy(servo);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    free(q);
    free(speed);
    free(push);
    return report.reached && feet < 1e-6 ? 0 : 1;
}
