// Levels: an arm of seven axes keeps its hand where it is asked to, and its posture with what that leaves free.
// Halfway the levels are exchanged, in the same solver.
//   levels
#include <math.h>
#include <sinew/sinew.h>
#include <stdio.h>

enum { AXES = 7, POSTURE = 1, FRAMES = 200 };

static sn_model *build_arm(void) {
    static const double length[AXES] = {0.35, 0, 0.42, 0, 0.4, 0, 0.12};
    sn_builder *builder = NULL;
    sn_model *model = NULL;
    if (sn_builder_create("arm", NULL, &builder, NULL) != SN_OK) return NULL;
    for (int i = 0; i < AXES; i++) {
        sn_joint_desc joint = sn_joint_default(SN_JOINT_HINGE);
        char name[8];
        (void)snprintf(name, sizeof name, "axis%d", i + 1);
        joint.name = name;
        joint.parent = i - 1;
        joint.position[2] = i > 0 ? length[i - 1] : 0;
        joint.axis[1] = i % 2, joint.axis[2] = 1 - i % 2;  // in turn along the arm and across
        joint.lower[0] = -2.9, joint.upper[0] = 2.9;
        (void)sn_builder_joint(builder, &joint);
    }
    (void)sn_builder_finish(builder, &model, NULL);
    sn_builder_destroy(builder);
    return model;
}

int main(void) {
    sn_model *arm = build_arm();
    const double posture[AXES] = {0, 0.6, 0, -1.2, 0, 0.6, 0};
    sn_task task[2] = {sn_task_default(SN_TASK_POINT), sn_task_default(SN_TASK_REST)};
    task[0].joint = AXES - 1;
    task[0].local[2] = 0.12;
    task[POSTURE].q = posture;
    task[POSTURE].level = 1;  // below the hand, which has level 0

    sn_problem *problem = NULL;
    sn_solver *solver = NULL;
    sn_error error = {0};
    double q[AXES] = {0, 0.6, 0, -1.2, 0, 0.6, 0}, hand = 0, rest = 0, gradient = 0, off = 0;
    int iterations = 0;
    sn_status status = sn_problem_create(arm, task, 2, NULL, &problem, &error);
    if (status == SN_OK) status = sn_solver_create(problem, NULL, NULL, &solver, &error);
    for (int i = 0; i < 2 * FRAMES && status == SN_OK; i++) {
        const double turn = 6.283185307179586 * i / FRAMES;
        const double goal[3] = {0.45 + 0.1 * cos(turn), 0.15 * sin(turn), 0.5};
        sn_report report;
        if (i == FRAMES) (void)sn_problem_set_level(problem, 0, 2);  // now the posture comes first
        (void)sn_problem_set_goal(problem, 0, goal);
        status = sn_solver_solve(solver, q, &report);
        if (status != SN_OK) break;
        if (i < FRAMES) {
            hand = fmax(hand, report.level[0].worst_error);
            rest = fmax(rest, report.level[1].worst_error);
            gradient = fmax(gradient, report.level[1].gradient);
            iterations += report.iterations;
        } else {
            off = fmax(off, report.level[0].worst_error);
        }
    }
    if (status != SN_OK) return fprintf(stderr, "%s\n", error.text), 1;
    printf("the hand first: it is %.1e m off at most, the posture %.2f rad\n", hand, rest);
    printf("nothing better is free for the posture: relative gradient %.1e\n", gradient);
    printf("%.1f iterations a frame\n", (double)iterations / FRAMES);
    printf("the posture first: it is %.1e rad off at most\n", off);
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    sn_model_destroy(arm);
    return hand < 1e-9 && off < 1e-9 ? 0 : 3;
}
