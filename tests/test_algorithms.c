// SPDX-License-Identifier: MIT
// The sweeps against a plain corrected transcription of Algorithms 2, 3 and 4.
#include "algorithms34.h"
#include "figures.h"
#include "reference.h"
#include "support.h"

static void compare(const sn_problem *problem, const double *q, double *worst) {
    const sn_model *model = sn_problem_model(problem);
    int nv = sn_model_nv(model), ntask = sn_problem_ntask(problem);
    alg34 *paper = alg34_create(problem);
    sn_workspace *ws;
    assert_non_null(paper);
    assert_int_equal(sn_workspace_create(problem, true, NULL, &ws, NULL), SN_OK);
    double *H = malloc((size_t)nv * (size_t)nv * sizeof *H), *g = malloc((size_t)nv * sizeof *g);
    double *J = malloc(3 * (size_t)nv * sizeof *J), f;
    double theirs = alg34_jacobian(paper, q);
    for (int kind = 0; kind < 2; kind++) {
        alg34_hessian(paper);
        unsigned general = kind == 0 ? 0 : SN_EVAL_GENERAL;
        assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN | general, &f), SN_OK);
        sn_workspace_gradient(ws, g);
        sn_workspace_hessian(ws, H);
        *worst = fmax(*worst, fabs(f - theirs) / theirs);
        *worst = fmax(*worst, reference_relative(g, alg34_gradient(paper), nv, 0));
        *worst = fmax(*worst, reference_relative(H, alg34_H(paper), nv * nv, 0));
    }
    for (int e = 0; e < ntask; e++) {
        const sn_task *t = sn_problem_task(problem, e);
        sn_jacobian_simple(ws, t->joint, t->local, J);
        for (int v = 0; v < nv; v++)
            *worst = fmax(*worst, reference_relative(J + 3 * v,
                                                     alg34_J(paper) + 3 * ntask * v + 3 * e, 3, 1));
    }
    free(H);
    free(g);
    free(J);
    sn_workspace_destroy(ws);
    alg34_destroy(paper);
}

static void humanoid(void **unused) {
    (void)unused;
    sn_model *model = bench_model(1, 41, true);
    double *q = malloc((size_t)sn_model_nq(model) * sizeof *q), worst = 0;
    uint64_t state = 31;
    assert_int_equal(sn_model_nv(model), 58);
    for (int i = 0; i < 20; i++) {
        sn_problem *problem = bench_problem(model, (uint64_t)i);
        sn_model_sample(model, &state, q);
        compare(problem, q, &worst);
        sn_problem_destroy(problem);
    }
    print_message("worst relative difference %.1e\n", worst);
    assert_true(worst < 1e-12);
    free(q);
    sn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(humanoid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
