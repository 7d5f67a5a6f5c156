// SPDX-License-Identifier: MIT
#include "figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

static void give_up(const char *what) {
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static void add_copy(sn_builder *b, const sn_model *figure, int copy, int markers,
                     bool euler_root) {
    int njoint = sn_model_njoint(figure), index[64], spare = 0;
    char name[300];
    for (int j = 0; j < njoint; j++) {
        sn_joint_desc d = *sn_model_joint(figure, j);
        (void)snprintf(name, sizeof name, "%s.%d", d.name, copy);
        d.name = name;
        d.parent = d.parent < 0 ? 0 : index[d.parent];
        if (euler_root && d.type == SN_JOINT_FREE) {
            char mover[320];
            sn_joint_desc t = sn_joint_default(SN_JOINT_TRANSLATION);
            (void)snprintf(mover, sizeof mover, "%s.move", name);
            t.name = mover;
            t.parent = d.parent;
            memcpy(t.position, d.position, sizeof t.position);
            sn_joint_desc r = sn_joint_default(SN_JOINT_EULER);
            r.name = name;
            r.parent = sn_builder_joint(b, &t);
            memcpy(r.order, "ZYX", 4);
            d = r;
        }
        index[j] = sn_builder_joint(b, &d);
    }
    int own = sn_model_nmarker(figure);
    for (int i = 0; i < markers; i++) {
        sn_marker_desc m = *sn_model_marker(figure, i % own);
        (void)snprintf(name, sizeof name, "%s.%d.%d", m.name, copy, spare++);
        m.name = name;
        m.joint = index[m.joint];
        for (int c = 0; c < 3; c++) m.position[c] += 0.001 * (i / own);
        (void)sn_builder_marker(b, &m);
    }
}

sn_model *bench_model(int copies, int markers, bool euler_root) {
    sn_model *figure = NULL, *model = NULL;
    sn_builder *b = NULL;
    if (sn_model_humanoid(NULL, &figure, NULL) != SN_OK ||
        sn_builder_create("bench", NULL, &b, NULL) != SN_OK)
        give_up("out of memory");
    sn_joint_desc root = sn_joint_default(SN_JOINT_FIXED);
    root.name = "world";
    (void)sn_builder_joint(b, &root);
    for (int i = 0; i < copies; i++) add_copy(b, figure, i, markers, euler_root);
    if (sn_builder_finish(b, &model, NULL) != SN_OK) give_up("the model cannot be built");
    sn_builder_destroy(b);
    sn_model_destroy(figure);
    return model;
}

sn_problem *bench_problem(const sn_model *model, uint64_t seed) {
    sn_problem *problem = NULL;
    sn_workspace *ws = NULL;
    double *q = malloc((size_t)sn_model_nq(model) * sizeof *q);
    if (q == NULL || sn_problem_create_markers(model, NULL, &problem, NULL) != SN_OK ||
        sn_workspace_create(problem, false, NULL, &ws, NULL) != SN_OK)
        give_up("out of memory");
    sn_model_sample(model, &seed, q);
    if (sn_workspace_pose(ws, q) != SN_OK) give_up("a bad pose");
    for (int i = 0; i < sn_problem_ntask(problem); i++) {
        const sn_task *t = sn_problem_task(problem, i);
        sn_vec3 x = sn_workspace_point(ws, t->joint, t->local);
        double goal[3] = {x.x, x.y, x.z};
        for (int c = 0; c < 3; c++) goal[c] += 0.01 * (2 * sn_random(&seed) - 1);
        (void)sn_problem_set_goal(problem, i, goal);
    }
    sn_workspace_destroy(ws);
    free(q);
    return problem;
}
