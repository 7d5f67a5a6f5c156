// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/model_json/fuzz_model_json.c -lm -o fuzz_model_json
// ./fuzz_model_json -dict=tests/fuzz/model_json/json.dict corpus tests/fuzz/model_json/seeds
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz.h"
#include "model/model_text.h"
#include "sinew/sinew.h"

// f, gradient and Hessian at the zero pose, of a point on the last joint.
static void evaluate(const sn_model *model) {
    sn_task task = sn_task_default(SN_TASK_POINT);
    sn_problem *problem;
    sn_workspace *ws;
    task.joint = sn_model_njoint(model) - 1;
    task.goal[0] = 1;
    check(sn_problem_create(model, &task, 1, NULL, &problem, NULL) == SN_OK);
    check(sn_workspace_create(problem, true, NULL, &ws, NULL) == SN_OK);
    double *q = malloc(((size_t)sn_model_nq(model) + 1) * sizeof *q), f;
    check(q != NULL);
    sn_model_zero(model, q);
    (void)sn_model_clamp(model, q);
    sn_status status = sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f);
    check(status == SN_ERR_VALUE || (status == SN_OK && isfinite(f)));
    free(q);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sn_model *model, *again;
    sn_error error = {0};
    char *text, *second;
    sn_status status = sn_model_read_json((const char *)data, size, NULL, &model, &error);
    if (status != SN_OK) {
        check(model == NULL && error.status == status && error.text[0] != '\0');
        return 0;
    }
    check(sn_model_text(model, NULL, &text) == SN_OK);
    check(sn_model_read_json(text, strlen(text), NULL, &again, NULL) == SN_OK);
    check(strcmp(sn_model_name(model), sn_model_name(again)) == 0);
    check(sn_model_text(again, NULL, &second) == SN_OK);
    check(strcmp(text, second) == 0);
    evaluate(again);
    sn_release(NULL, text);
    sn_release(NULL, second);
    sn_model_destroy(again);
    sn_model_destroy(model);
    return 0;
}
