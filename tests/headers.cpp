// SPDX-License-Identifier: MIT
// The headers from C++: each compiles without a warning, and a program links.
#include "sinew/sinew.h"

int main() {
    sn_model *model = nullptr;
    sn_error error = {};
    if (sn_model_humanoid(nullptr, &model, &error) != SN_OK) return 1;
    sn_problem *problem = nullptr;
    sn_solver *solver = nullptr;
    sn_solver_options options = sn_solver_options_default();
    sn_take_options take = sn_take_options_default();
    bool good = take.version > 0 && sn_problem_create_markers(model, nullptr, &problem, &error) == SN_OK &&
                sn_solver_create(problem, &options, nullptr, &solver, &error) == SN_OK;
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    return good ? 0 : 1;
}
