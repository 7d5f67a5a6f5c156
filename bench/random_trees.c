// SPDX-License-Identifier: MIT
// Random trees with goals that can be reached: each problem has its goals at a random pose inside
// the limits and its start at another. Success: f below 1e-16 of the figure's scale.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "protocols.h"
#include "solvers.h"

static double uniform(uint64_t *state, double low, double high) {
    return low + (high - low) * sn_random(state);
}

static int below(uint64_t *state, int n) { return (int)(sn_random(state) * n); }

// A tree of 5 to about 200 degrees of freedom: mostly hinges and three-angle joints, as figures
// have.
sn_model *bench_tree(uint64_t *state, bool limits) {
    static const sn_joint_type types[] = {SN_JOINT_HINGE,  SN_JOINT_HINGE,  SN_JOINT_EULER,
                                          SN_JOINT_EULER,  SN_JOINT_BALL,   SN_JOINT_UNIVERSAL,
                                          SN_JOINT_EXPMAP, SN_JOINT_SLIDER, SN_JOINT_SWING_TWIST};
    sn_builder *b = NULL;
    sn_model *model = NULL;
    if (sn_builder_create("tree", NULL, &b, NULL) != SN_OK) return NULL;
    int dofs = 0, wanted = 5 + (int)(195 * pow(sn_random(state), 2)), n = 0;
    bool chain = below(state, 2) == 0;
    while (dofs < wanted) {
        sn_joint_type type =
            n == 0 && below(state, 2) == 0 ? SN_JOINT_FREE : types[below(state, 9)];
        sn_joint_desc d = sn_joint_default(type);
        char name[16];
        (void)snprintf(name, sizeof name, "j%d", n);
        d.name = name;
        d.parent = n == 0 ? -1 : chain || n < 3 ? n - 1 : n - 1 - below(state, n < 6 ? n : 6);
        for (int i = 0; i < 3; i++) {
            d.position[i] = n == 0 ? 0 : uniform(state, -0.3, 0.3);
            d.axis[i] = uniform(state, -1, 1);
            d.axis2[i] = uniform(state, -1, 1);
        }
        int count = type == SN_JOINT_FREE                               ? 6
                    : type == SN_JOINT_UNIVERSAL                        ? 2
                    : type == SN_JOINT_HINGE || type == SN_JOINT_SLIDER ? 1
                                                                        : 3;
        bool quaternion = type == SN_JOINT_FREE || type == SN_JOINT_BALL;
        for (int i = 0; i < count && limits && !quaternion; i++) {
            d.lower[i] = uniform(state, -2, -0.2);
            d.upper[i] = uniform(state, 0.2, 2);
        }
        (void)sn_builder_joint(b, &d);
        dofs += count;
        n++;
    }
    (void)sn_builder_finish(b, &model, NULL);
    sn_builder_destroy(b);
    return model;
}

// Points on one to six joints (leaves first of all), where pose q has them.
sn_problem *bench_reachable(uint64_t *state, const sn_model *model, const double *q,
                            double *scale) {
    sn_task tasks[12];
    int njoint = sn_model_njoint(model), n = 0, most = 1 + below(state, 6);
    for (int leaf = sn_model_next_leaf(model, -1); leaf >= 0 && n < most;
         leaf = sn_model_next_leaf(model, leaf)) {
        tasks[n] = sn_task_default(SN_TASK_POINT);
        tasks[n++].joint = leaf;
    }
    while (n < most) {
        tasks[n] = sn_task_default(SN_TASK_POINT);
        tasks[n++].joint = below(state, njoint);
    }
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) tasks[i].local[c] = uniform(state, -0.2, 0.2);
    sn_problem *problem = NULL;
    sn_workspace *ws = NULL;
    if (sn_problem_create(model, tasks, n, NULL, &problem, NULL) != SN_OK ||
        sn_workspace_create(problem, false, NULL, &ws, NULL) != SN_OK)
        return NULL;
    (void)sn_workspace_pose(ws, q);
    *scale = 0;
    for (int i = 0; i < n; i++) {
        sn_vec3 x = sn_workspace_point(ws, tasks[i].joint, tasks[i].local);
        double goal[3] = {x.x, x.y, x.z};
        (void)sn_problem_set_goal(problem, i, goal);
        *scale += x.x * x.x + x.y * x.y + x.z * x.z + 0.1;
    }
    sn_workspace_destroy(ws);
    return problem;
}

// What commit f7f9431, the first release, did with the first so many of these problems: % without and with limits,
// iterations.
enum { FIRST_RELEASE_PROBLEMS = 4000 };
static const double first_release[3] = {94.80, 87.20, 17.1};

bool bench_random_trees(int problems) {
    int success[SN_METHOD_COUNT][2] = {{0}}, tried[SN_METHOD_COUNT][2] = {{0}};
    double time[SN_METHOD_COUNT] = {0}, iterations[SN_METHOD_COUNT] = {0};
    // of the problems that both get: hybrid alone reaches the goal, the other alone does
    int hybrid_alone[SN_METHOD_COUNT][2] = {{0}}, other_alone[SN_METHOD_COUNT][2] = {{0}};
    uint64_t state = 2024;
    for (int p = 0; p < problems; p++) {
        bool limits = p % 2 == 1;
        sn_model *model = bench_tree(&state, limits);
        if (model == NULL) return false;
        size_t nq = (size_t)sn_model_nq(model);
        double *goal = malloc(nq * sizeof *goal), *start = malloc(nq * sizeof *start);
        double *q = malloc(nq * sizeof *q), scale;
        sn_model_sample(model, &state, goal);
        sn_model_sample(model, &state, start);
        sn_problem *problem = bench_reachable(&state, model, goal, &scale);
        bool hybrid = false;  // the first of the methods
        for (int m = 0; m < SN_METHOD_COUNT && problem != NULL; m++) {
            // the slow ones on every twentieth
            bool slow = m != SN_METHOD_HYBRID && m != SN_METHOD_NEWTON && m != SN_METHOD_LM;
            if (!sn_method_available((sn_method)m) || (slow && p / 2 % 20 != 0)) continue;
            sn_solver_options o = sn_solver_options_default();
            sn_solver *solver = NULL;
            sn_report report;
            o.method = (sn_method)m;
            o.goal = 1e-17 * scale;
            o.max_iterations = 500;
            if (sn_solver_create(problem, &o, NULL, &solver, NULL) != SN_OK) continue;
            memcpy(q, start, nq * sizeof *q);
            double begin = bench_wall();
            (void)sn_solver_solve(solver, q, &report);
            time[m] += bench_wall() - begin;
            iterations[m] += report.iterations;
            tried[m][limits]++;
            bool there = report.f < 1e-16 * scale;
            success[m][limits] += there;
            if (m == SN_METHOD_HYBRID) hybrid = there;
            hybrid_alone[m][limits] += hybrid && !there;
            other_alone[m][limits] += there && !hybrid;
            sn_solver_destroy(solver);
        }
        sn_problem_destroy(problem);
        free(goal);
        free(start);
        free(q);
        sn_model_destroy(model);
    }
    printf("\nrandom trees: %d problems of 5 to 200 degrees of freedom, reachable goals\n",
           problems);
    printf("  %-20s %9s %12s %12s %12s %12s %22s %12s\n", "solver", "problems", "no limits %",
           "limits %", "iterations", "us", "hybrid alone, it alone", "with limits");
    double lead[2] = {-INFINITY, -INFINITY};
    for (int m = 0; m < SN_METHOD_COUNT; m++) {
        int n = tried[m][0] + tried[m][1];
        if (n == 0) continue;
        printf("  %-20s %9d %12.2f %12.2f %12.1f %12.1f", sn_method_name((sn_method)m), n,
               100.0 * success[m][0] / tried[m][0], 100.0 * success[m][1] / tried[m][1],
               iterations[m] / n, 1e6 * time[m] / n);
        printf(m == SN_METHOD_HYBRID ? "\n" : " %11d %10d %6d %5d\n", hybrid_alone[m][0],
               other_alone[m][0], hybrid_alone[m][1], other_alone[m][1]);
        for (int limits = 0; limits < 2; limits++) {
            int hybrids = hybrid_alone[m][limits], others = other_alone[m][limits];
            if (hybrids + others > 0)
                lead[limits] =
                    fmax(lead[limits], (others - hybrids) / sqrt((double)(hybrids + others)));
        }
    }
    if (problems == FIRST_RELEASE_PROBLEMS)
        printf("  %-20s %9d %12.2f %12.2f %12.1f\n", "first release, hybrid", problems,
               first_release[0], first_release[1], first_release[2]);
    // every method ends in another valley now and then, and two of them seldom in the same problems: of n problems
    // that only one of the two solves, either may get sqrt(n) more than its half by luck
    bool good = judge("another method's lead over hybrid without limits, standard deviations",
                      lead[0], "<=", 2);
    good &= judge("another method's lead over hybrid with limits, standard deviations", lead[1],
                  "<=", 2);
    good &=
        judge("hybrid: time over the faster of newton and lm",
              time[SN_METHOD_HYBRID] / fmin(time[SN_METHOD_NEWTON], time[SN_METHOD_LM]), "<=", 1);
    if (problems == FIRST_RELEASE_PROBLEMS)
        good &=
            judge("hybrid: % solved, against the first release on the same problems",
                  100.0 * (success[SN_METHOD_HYBRID][0] + success[SN_METHOD_HYBRID][1]) / problems,
                  ">=", 0.5 * (first_release[0] + first_release[1]));
    return good;
}
