#include <sinew/sinew.h>
#include <stdio.h>

int main(void) {
    sn_model *figure;  // a person; or sn_model_read_json() for your own
    sn_problem *problem;
    sn_solver *solver;
    sn_report report;
    double q[59] = {0, 0, 0, 1};  // the pose: a place, a quaternion, 52 angles
    sn_task reach = sn_task_default(SN_TASK_POINT);
    reach.goal[0] = 0.4, reach.goal[1] = 1.2, reach.goal[2] = 0.3;  // metres
    if (sn_model_humanoid(NULL, &figure) != SN_OK) return 1;
    reach.joint = sn_model_find_joint(figure, "left_hand");
    if (sn_problem_create(figure, &reach, 1, NULL, &problem, NULL) != SN_OK) return 1;
    if (sn_solver_create(problem, NULL, NULL, &solver) != SN_OK) return 1;
    if (sn_solver_solve(solver, q, &report) != SN_OK) return 1;
    printf("the hand is %.1e m from its goal\n", report.worst_error);
    sn_solver_destroy(solver), sn_problem_destroy(problem), sn_model_destroy(figure);
}
