// SPDX-License-Identifier: MIT
// One whole exact iteration of the 58-degree-of-freedom humanoid with 41 markers, again and again:
// pose, tasks, sweep, factor, solve. Run under callgrind by tools/instructions.sh, which counts
// what iteration() costs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"

static int failed;
static size_t count;

#if defined(__GNUC__)
__attribute__((noinline))
#endif
void iteration(sn_workspace *ws, const double *q, const double *damping, double *x);

void iteration(sn_workspace *ws, const double *q, const double *damping, double *x) {
    double f;
    (void)sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f);
    memcpy(x, sn_workspace_sweep_gradient(ws), count * sizeof *x);
    failed = sn_workspace_factor(ws, damping, NULL, 0, NULL);
    sn_workspace_solve(ws, x);
}

int main(int argc, char **argv) {
    int repeats = argc > 1 ? atoi(argv[1]) : 100;
    sn_model *model = NULL;
    if (sn_model_humanoid(NULL, &model, NULL) != SN_OK) return 1;
    sn_problem *problem = bench_problem(model, 7);
    sn_workspace *ws = NULL;
    if (sn_workspace_create(problem, false, NULL, &ws, NULL) != SN_OK) return 1;
    count = (size_t)sn_model_nv(model);
    double *damping = malloc(count * sizeof *damping), *x = malloc(count * sizeof *x);
    double *q = malloc((size_t)sn_model_nq(model) * sizeof *q);
    if (damping == NULL || x == NULL || q == NULL) return 1;
    // a little damping, as a solver has: 41 markers do not see every direction
    for (size_t i = 0; i < count; i++) damping[i] = 0.1;
    // the pose behind the goals, where H is nearly positive definite
    uint64_t seed = 7;
    sn_model_sample(model, &seed, q);
    for (int i = 0; i < repeats; i++) iteration(ws, q, damping, x);
    printf("%d iterations, failed pivot %d\n", repeats, failed);
    free(damping);
    free(x);
    free(q);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    return failed >= 0;
}
