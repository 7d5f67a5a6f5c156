// SPDX-License-Identifier: MIT
// Many problems at once: a thousand places for the humanoid's hands, solved side by side. Two halves are
// handed over one after the other, so that a device would work on one while the next is made ready.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sinew/sinew.h"

enum { ROWS = 1000, HALF = ROWS / 2 };

int main(void) {
    sn_model *model;
    if (sn_model_humanoid(NULL, &model, NULL) != SN_OK) return 1;
    sn_task tasks[2];
    const char *const hands[2] = {"left_hand", "right_hand"};
    for (int i = 0; i < 2; i++) {
        tasks[i] = sn_task_default(SN_TASK_POINT);
        tasks[i].joint = sn_model_find_joint(model, hands[i]);
        if (tasks[i].joint < 0) return 1;
    }
    sn_problem *problem;
    sn_batch *batch;
    sn_error error;
    if (sn_problem_create(model, tasks, 2, NULL, &problem, &error) != SN_OK ||
        sn_batch_create(problem, NULL, NULL, &batch, &error) != SN_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    // memory that a device copies at full speed; freed with the batch
    const size_t ngoal = (size_t)sn_batch_ngoal(batch), nq = (size_t)sn_model_nq(model);
    double *goals = sn_batch_room(batch, ROWS * ngoal * sizeof *goals);
    double *poses = sn_batch_room(batch, ROWS * nq * sizeof *poses);
    sn_batch_report *reports = calloc(ROWS, sizeof *reports);
    if (goals == NULL || poses == NULL || reports == NULL) return 1;
    for (int half = 0; half < 2; half++) {
        for (int i = half * HALF; i < (half + 1) * HALF; i++)
            for (int hand = 0; hand < 2; hand++) {
                double *goal = goals + (size_t)i * ngoal + sn_batch_goal_at(batch, hand);
                const double angle = 0.01 * i + hand;
                goal[0] = (hand == 0 ? 0.3 : -0.3) + 0.1 * cos(angle);
                goal[1] = 1.2 + 0.2 * sin(angle);
                goal[2] = 0.3;
            }
        const size_t from = (size_t)(half * HALF);
        if (sn_batch_submit(batch, HALF, 1, goals + from * ngoal, NULL, poses + from * nq,
                            reports + from) != SN_OK)
            return 1;
    }
    if (sn_batch_wait(batch) != SN_OK || sn_batch_wait(batch) != SN_OK) return 1;
    int reached = 0, iterations = 0;
    for (int i = 0; i < ROWS; i++) {
        reached += reports[i].f < 1e-12;
        iterations += reports[i].iterations;
    }
    printf("%d of %d pairs of places reached, %.1f iterations each, on %s\n", reached, ROWS,
           (double)iterations / ROWS, sn_batch_note(batch));
    printf("%d problems side by side; the plain solver helped with %d\n", sn_batch_lanes(batch),
           (int)sn_batch_count(batch).plain);
    free(reports);
    sn_batch_destroy(batch);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    return 0;
}
