// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/tasks_json/fuzz_tasks_json.c -lm -o fuzz_tasks_json
// ./fuzz_tasks_json -dict=tests/fuzz/tasks_json/json.dict corpus tests/fuzz/tasks_json/seeds
#include <math.h>
#include <stdlib.h>

#include "../fuzz.h"
#include "sinew/sinew.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static sn_model *model;
    if (model == NULL) check(sn_model_humanoid(NULL, &model, NULL) == SN_OK);
    sn_problem *problem;
    sn_workspace *ws;
    sn_error error = {0};
    sn_status status =
        sn_problem_read_json((const char *)data, size, model, NULL, &problem, &error);
    if (status != SN_OK) {
        check(problem == NULL && error.status == status && error.text[0] != '\0');
        return 0;
    }
    check(sn_workspace_create(problem, true, NULL, &ws, NULL) == SN_OK);
    double q[64], f;
    check(sn_model_nq(model) <= 64);
    sn_model_zero(model, q);
    const unsigned what[] = {0, SN_EVAL_GRADIENT, SN_EVAL_HESSIAN, SN_EVAL_GAUSS_NEWTON};
    for (int i = 0; i < 4; i++) {
        status = sn_workspace_eval(ws, q, what[i], &f);
        check(status == SN_ERR_VALUE || (status == SN_OK && isfinite(f)));
    }
    for (int i = 0; i < sn_problem_ntask(problem); i++)
        check(!(sn_workspace_task_error(ws, i) < 0));
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return 0;
}
