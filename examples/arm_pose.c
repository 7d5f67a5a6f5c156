// A robot arm to a pose: reads a URDF (or any other model) and asks one of its links to be somewhere.
//   arm_pose arm.urdf LINK X Y Z      metres, in the frame of the robot's base
#include <sinew/sinew.h>
#include <stdio.h>
#include <stdlib.h>

static void *read_whole(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    char *bytes = malloc(1 << 24);
    *length = bytes != NULL ? fread(bytes, 1, 1 << 24, file) : 0;
    fclose(file);
    return bytes;
}

int main(int argc, char **argv) {
    if (argc != 6) return fprintf(stderr, "usage: arm_pose MODEL LINK X Y Z\n"), 2;
    size_t length = 0;
    void *bytes = read_whole(argv[1], &length);
    if (bytes == NULL) return perror(argv[1]), 1;
    sn_document arm;
    sn_error error = {0};
    sn_status status = sn_document_read(argv[1], bytes, length, NULL, NULL, &arm, &error);
    free(bytes);
    if (status != SN_OK) return fprintf(stderr, "%s:%d: %s\n", argv[1], error.line, error.text), 1;
    if (arm.model == NULL) return fprintf(stderr, "%s holds no robot\n", argv[1]), 1;

    // a link of a URDF is a marker of the model: a joint, and a point in its frame
    int marker = sn_model_find_marker(arm.model, argv[2]);
    if (marker < 0) return fprintf(stderr, "%s has no link \"%s\"\n", argv[1], argv[2]), 1;
    const sn_marker_desc *link = sn_model_marker(arm.model, marker);

    // where it should be, and that it should point straight down: half a turn about x
    sn_task task = sn_task_default(SN_TASK_POSE);
    task.joint = link->joint;
    for (int k = 0; k < 3; k++) {
        task.local[k] = link->position[k];
        task.goal[k] = strtod(argv[3 + k], NULL);
    }
    task.rotation[0] = 0, task.rotation[1] = 1;

    sn_problem *problem = NULL;
    sn_solver *solver = NULL;
    sn_report report;
    double *q = calloc((size_t)sn_model_nq(arm.model), sizeof *q);
    status =
        q != NULL ? sn_problem_create(arm.model, &task, 1, NULL, &problem, &error) : SN_ERR_MEMORY;
    if (status == SN_OK) status = sn_solver_create(problem, NULL, NULL, &solver, NULL);
    if (status == SN_OK) {
        sn_model_zero(arm.model, q);
        status = sn_solver_solve_cold(solver, q, &report);  // the zero pose says little
    }
    if (status != SN_OK)
        return fprintf(stderr, "%s\n", error.text[0] ? error.text : sn_status_text(status)), 1;

    printf("%s: %s, %.1e m and radians off\n", argv[2], sn_stop_text(report.stop),
           report.worst_error);
    for (int j = 0; j < sn_model_njoint(arm.model); j++)
        if (sn_model_joint_nq(arm.model, j) == 1)
            printf("%-28s %8.4f\n", sn_model_joint(arm.model, j)->name,
                   q[sn_model_q_index(arm.model, j)]);
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    sn_document_destroy(&arm);
    free(q);
    return report.worst_error < 1e-6 ? 0 : 3;
}
