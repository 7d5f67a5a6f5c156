// SPDX-License-Identifier: MIT
// Arms with a goal for place and orientation of the tool: goal and start are random poses inside the limits, one
// plain solve each with the default options. Success: a millionth of a metre and radian. The failures are other
// valleys, most with a limit in the way, so what is measured is how a step control finds its way from far off.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "protocols.h"
#include "solvers.h"

enum { MOST = 7 };

static const double right_angle = 1.57079632679489661923, degree = 0.01745329251994329577;

// Denavit and Hartenberg's a, alpha (in right angles) and d, and the limits in degrees, from the makers' data sheets.
typedef struct arm {
    const char *name;
    int n;
    double a[MOST], alpha[MOST], d[MOST], lower[MOST], upper[MOST];
    double first_release;  // % of these very problems that commit f7f9431 solved, the first release
} arm;

enum { PROBLEMS = 10000 };

static const arm arms[] = {
    {"iiwa 14",
     7,
     {0},
     {-1, 1, 1, -1, -1, 1, 0},
     {0.36, 0, 0.42, 0, 0.4, 0, 0.126},
     {-170, -120, -170, -120, -170, -120, -175},
     {170, 120, 170, 120, 170, 120, 175},
     73.20},
    {"Panda",
     7,
     {0, 0, 0.0825, -0.0825, 0, 0.088, 0},
     {-1, 1, 1, -1, 1, 1, 0},
     {0.333, 0, 0.316, 0, 0.384, 0, 0.107},
     {-166, -101, -166, -176, -166, -1, -166},
     {166, 101, 166, -4, 166, 215, 166},
     50.53},
    {"UR5",
     6,
     {0, -0.425, -0.39225, 0, 0, 0},
     {1, 0, 0, 1, -1, 0},
     {0.089159, 0, 0, 0.10915, 0.09465, 0.0823},
     {-360, -360, -180, -360, -360, -360},
     {360, 360, 180, 360, 360, 360},
     51.47},
    // no angle can go round here, as they can where a range is a whole turn: the step control alone
    {"UR5, limits of 170",
     6,
     {0, -0.425, -0.39225, 0, 0, 0},
     {1, 0, 0, 1, -1, 0},
     {0.089159, 0, 0, 0.10915, 0.09465, 0.0823},
     {-170, -170, -170, -170, -170, -170},
     {170, 170, 170, 170, 170, 170},
     33.23},
};

// Hinges about z, each moved and turned by the link before it; a fixed joint at the end is the tool.
static sn_model *build(const arm *a) {
    sn_builder *b = NULL;
    sn_model *model = NULL;
    if (sn_builder_create(a->name, NULL, &b, NULL) != SN_OK) return NULL;
    for (int i = 0; i <= a->n; i++) {
        sn_joint_desc d = sn_joint_default(i < a->n ? SN_JOINT_HINGE : SN_JOINT_FIXED);
        char name[16];
        (void)snprintf(name, sizeof name, "j%d", i);
        d.name = name;
        d.parent = i - 1;
        d.axis[0] = d.axis[1] = 0;
        d.axis[2] = 1;
        if (i > 0) {
            double half = 0.5 * right_angle * a->alpha[i - 1];
            d.position[0] = a->a[i - 1];
            d.position[2] = a->d[i - 1];
            d.rotation[0] = cos(half);
            d.rotation[1] = sin(half);
        }
        if (i < a->n) {
            d.lower[0] = degree * a->lower[i];
            d.upper[0] = degree * a->upper[i];
        }
        (void)sn_builder_joint(b, &d);
    }
    (void)sn_builder_finish(b, &model, NULL);
    sn_builder_destroy(b);
    return model;
}

// -1 where something cannot be made.
static int solved(const arm *a, double *iterations) {
    sn_model *model = build(a);
    sn_problem *problem = NULL;
    sn_solver *solver = NULL;
    sn_workspace *ws = NULL;
    sn_task task = sn_task_default(SN_TASK_POSE);
    sn_solver_options o = sn_solver_options_default();
    int count = -1;
    task.joint = a->n;
    o.goal = 1e-14;
    *iterations = 0;
    if (model != NULL && sn_problem_create(model, &task, 1, NULL, &problem, NULL) == SN_OK &&
        sn_solver_create(problem, &o, NULL, &solver, NULL) == SN_OK &&
        sn_workspace_create(problem, false, NULL, &ws, NULL) == SN_OK) {
        uint64_t state = 7;
        count = 0;
        for (int k = 0; k < PROBLEMS; k++) {
            double q[MOST];
            sn_report report;
            sn_model_sample(model, &state, q);
            (void)sn_workspace_pose(ws, q);
            sn_frame at = sn_workspace_frame(ws, a->n);
            sn_quat turn = sn_quat_from_mat3(at.R);
            double place[3] = {at.p.x, at.p.y, at.p.z},
                   rotation[4] = {turn.w, turn.x, turn.y, turn.z};
            (void)sn_problem_set_goal(problem, 0, place);
            (void)sn_problem_set_rotation(problem, 0, rotation);
            sn_model_sample(model, &state, q);
            (void)sn_solver_solve(solver, q, &report);
            // f = 1/2 (place^2 + rotation^2)
            count += report.f < 0.5e-12;
            *iterations += report.iterations;
        }
    }
    sn_workspace_destroy(ws);
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    return count;
}

bool bench_arms(void) {
    bool good = true;
    printf("\narms: %d goals for place and orientation each, one start, inside the limits\n",
           PROBLEMS);
    printf("  %-20s %12s %16s %12s\n", "arm", "solved %", "first release %", "iterations");
    for (size_t i = 0; i < sizeof arms / sizeof arms[0]; i++) {
        double iterations;
        int count = solved(&arms[i], &iterations);
        if (count < 0) return false;
        double percent = 100.0 * count / PROBLEMS;
        printf("  %-20s %12.2f %16.2f %12.1f\n", arms[i].name, percent, arms[i].first_release,
               iterations / PROBLEMS);
        good &= percent >= arms[i].first_release;
    }
    return judge("arms: every one at least as often as the first release", good, ">=", 1);
}
