// Dragging a hand in real time: sixty times a second the goal moves a little, and a solve may take a
// millisecond. What is reached within the budget is drawn; the next frame goes on from there.
#include <math.h>
#include <sinew/sinew.h>
#include <stdio.h>
#include <stdlib.h>

enum { FRAMES = 120 };

int main(void) {
    sn_model *figure;
    sn_problem *problem;
    sn_solver *solver;
    sn_error error = {0};
    if (sn_model_humanoid(NULL, &figure, NULL) != SN_OK) return 1;

    // the hand follows the mouse, the feet stay, and everything else stays near to where it was
    int nq = sn_model_nq(figure);
    double *q = calloc((size_t)nq, sizeof *q);
    if (q == NULL) return 1;
    sn_model_zero(figure, q);
    enum { HAND, LEFT, RIGHT, REST, TASKS };
    static const char *const names[] = {"left_hand", "left_foot", "right_foot"};
    sn_task tasks[TASKS];
    for (int i = HAND; i <= RIGHT; i++) {
        tasks[i] = sn_task_default(SN_TASK_POINT);
        tasks[i].joint = sn_model_find_joint(figure, names[i]);
    }
    tasks[REST] = sn_task_default(SN_TASK_REST);
    tasks[REST].q = q;
    tasks[REST].weight = 1e-4;
    sn_solver_options options = sn_solver_options_default();
    options.seconds = 1e-3;
    options.gradient = 1e-6;  // nobody sees more digits
    if (sn_problem_create(figure, tasks, TASKS, NULL, &problem, &error) != SN_OK ||
        sn_solver_create(problem, &options, NULL, &solver, NULL) != SN_OK)
        return fprintf(stderr, "%s\n", error.text), 1;

    // goals where hand and feet are now
    double at[3][3], f;
    sn_workspace *ws = sn_solver_workspace(solver);
    if (sn_workspace_eval(ws, q, 0, &f) != SN_OK) return 1;
    for (int i = HAND; i <= RIGHT; i++) {
        sn_vec3 p = sn_workspace_frame(ws, tasks[i].joint).p;
        at[i][0] = p.x, at[i][1] = p.y, at[i][2] = p.z;
        sn_problem_set_goal(problem, i, at[i]);
    }

    // the mouse draws a circle of 40 cm in two seconds
    double worst = 0, feet = 0;
    int late = 0, iterations = 0;
    for (int k = 1; k <= FRAMES; k++) {
        double angle = 2 * acos(-1) * k / FRAMES;
        const double mouse[3] = {at[HAND][0], at[HAND][1] + 0.2 * sin(angle),
                                 at[HAND][2] + 0.2 * (1 - cos(angle))};
        sn_report report;
        sn_problem_set_goal(problem, HAND, mouse);
        sn_problem_set_rest(problem, REST, q);  // calm: near to the last frame
        if (sn_solver_solve(solver, q, &report) != SN_OK) return 1;
        late += report.stop == SN_STOP_TIME;
        iterations += report.iterations;
        worst = fmax(worst, sn_workspace_task_error(ws, HAND));
        feet =
            fmax(feet, fmax(sn_workspace_task_error(ws, LEFT), sn_workspace_task_error(ws, RIGHT)));
    }
    printf("%d frames, %.1f iterations each, %d ended by the budget\n", FRAMES,
           (double)iterations / FRAMES, late);
    printf("the hand was at most %.2f mm from the mouse, the feet moved by %.2f mm\n", 1e3 * worst,
           1e3 * feet);
    sn_solver_destroy(solver), sn_problem_destroy(problem), sn_model_destroy(figure);
    free(q);
    return 0;
}
