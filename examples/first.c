#include <sinew/sinew.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    const char *tasks =
        "{\"tasks\": [{\"type\": \"point\", \"joint\": \"left_hand\", \"goal\": [0.4, 1.2, 0.3]}]}";
    double q[59] = {0, 0, 0, 1};  // the pose: a place in metres, a quaternion, 52 angles
    sn_model *figure;
    sn_problem *problem;
    sn_solver *solver;
    sn_report report;
    if (sn_model_humanoid(NULL, &figure, NULL) != SN_OK)
        return 1;  // or sn_model_read_json() for your own
    if (sn_problem_read_json(tasks, strlen(tasks), figure, NULL, &problem, NULL) != SN_OK) return 1;
    if (sn_solver_create(problem, NULL, NULL, &solver, NULL) != SN_OK) return 1;
    if (sn_solver_solve(solver, q, &report) != SN_OK) return 1;
    printf("the hand is %.1e m from its goal\n", report.worst_error);
    sn_solver_destroy(solver), sn_problem_destroy(problem), sn_model_destroy(figure);
}
