// SPDX-License-Identifier: MIT
// The same problems for the native library and for WebAssembly: random goals within reach, on every
// figure of the page, solved by every method that needs no LAPACK. Built twice: as a program, which
// writes the poses or the times of its solves, and as a module with the two functions exported.
//
//   problems poses COUNT > FILE    all numbers of all poses, as they lie in memory
//   problems time                  for every line of input, time one batch and print its seconds
#include "problems.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "stage.h"

static uint64_t state = 1;

// those that WebAssembly has: without LAPACK
static const int methods[] = {SN_METHOD_HYBRID,
                              SN_METHOD_NEWTON,
                              SN_METHOD_NEWTON_PCG,
                              SN_METHOD_LM,
                              SN_METHOD_DLS,
                              SN_METHOD_GAUSS_NEWTON,
                              SN_METHOD_BFGS,
                              SN_METHOD_LBFGS,
                              SN_METHOD_NCG,
                              SN_METHOD_PROJECTED_GRADIENT,
                              SN_METHOD_JACOBIAN_TRANSPOSE,
                              SN_METHOD_CCD};

// Goals at a random pose for `count` joints; the solve starts from a pose not far from it.
static void pose_problem(int count, bool turned) {
    int njoint = web_njoint();
    double *goal_pose = the.rest;
    sn_model_sample(the.model, &state, goal_pose);
    sn_model_sample(the.model, &state, the.q);
    web_blend(goal_pose, the.q, 0.4, the.q);
    // as in the page: drawn to where it was when the pull began
    memcpy(web_ease(), the.q, (size_t)web_nq() * sizeof(double));
    (void)sn_workspace_pose(the.probe, goal_pose);
    for (int i = 0; i < count; i++) {
        int joint = (int)(sn_random(&state) * njoint);
        int kind = turned ? (int)(sn_random(&state) * 3) : WEB_POSITION;
        sn_frame at = sn_workspace_frame(the.probe, joint);
        sn_quat r = sn_quat_from_mat3(at.R);
        web_goal_set(i, joint, kind, 1, 0, 0, 0, at.p.x, at.p.y, at.p.z, r.w, r.x, r.y, r.z);
    }
    (void)web_goals(count);
    web_begin(WEB_FROM_LAST);
}

int problems_poses(int first, int count, double *out, int room) {
    int used = 0;
    for (int i = first; i < first + count; i++) {
        state = (uint64_t)i * 7919;
        int method = methods[i / WEB_FIGURES % (int)(sizeof methods / sizeof methods[0])];
        if (web_figure(i % WEB_FIGURES) != SN_OK || web_lane(0, method, 50) != SN_OK) return -1;
        pose_problem(1 + i % 5, i % 2 == 1);
        if (web_solve(0) != SN_OK || used + web_nq() > room) return -1;
        memcpy(out + used, the.lanes[0].q, (size_t)web_nq() * sizeof *out);
        used += web_nq();
    }
    return used;
}

void problems_prepare(void) {
    state = 5;
    (void)web_figure(WEB_HUMANOID);
    (void)web_lane(0, SN_METHOD_HYBRID, 100);
    pose_problem(5, true);
}

double problems_batch(int solves) {
    double sum = 0;
    for (int i = 0; i < solves; i++) {
        (void)web_solve(0);
        sum += the.lanes[0].report.f;
    }
    return sum;
}

#ifndef __wasm__
#include <time.h>

static double seconds(void) {
    struct timespec t;
    (void)timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "poses") == 0) {
        static double out[4096];
        int count = atoi(argv[2]);
        for (int i = 0; i < count; i++) {
            int n = problems_poses(i, 1, out, 4096);
            if (n < 0 || fwrite(out, sizeof *out, (size_t)n, stdout) != (size_t)n) return 1;
        }
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "time") == 0) {
        problems_prepare();
        char line[64];
        while (fgets(line, sizeof line, stdin) != NULL) {
            int solves = atoi(line);
            double begin = seconds(), sum = problems_batch(solves);
            printf("%.9f %.17g\n", seconds() - begin, sum);
            fflush(stdout);
        }
        return 0;
    }
    fprintf(stderr, "usage: problems poses COUNT | problems time\n");
    return 2;
}
#endif
