// SPDX-License-Identifier: MIT
#include "solver_settings.h"

static bool belongs(const command *self, const char *name, bool changed, sn_method owner,
                    sn_method method) {
    if (!changed || owner == method) return true;
    (void)wrong_usage(self, "%s is a parameter of --solver %s; this is %s", name,
                      sn_method_name(owner), sn_method_name(method));
    return false;
}

bool apply_solver(const command *self, const solver_settings *s, sn_solver_options *o) {
    if (s->method == NULL) return true;
    const sn_solver_options standard = sn_solver_options_default();
    o->method = sn_method_find(s->method);
    if (!sn_method_available(o->method)) {
        (void)wrong_usage(self, "--solver %s needs LAPACK, and this build is without it",
                          s->method);
        return false;
    }
    o->max_iterations = (int)s->max_iterations;
    o->goal = s->goal;
    o->gradient = s->gradient;
    o->seconds = s->seconds;
    o->damping = s->damping;
    o->step = s->step;
    o->alpha = s->alpha;
    o->beta = s->beta;
    o->memory = (int)s->memory;
    o->bandwidth = (int)s->bandwidth;
    o->pcg_tolerance = s->pcg_tolerance;
    o->pcg_constant = s->pcg_constant;
    o->nearest_psd = s->nearest_psd;
    const struct {
        const char *name;
        bool changed;
        sn_method owner;
    } all[] = {
        {"--damping", o->damping != standard.damping, SN_METHOD_DLS},
        {"--step", o->step != standard.step, SN_METHOD_JACOBIAN_TRANSPOSE},
        {"--alpha", o->alpha != standard.alpha, SN_METHOD_PROJECTED_GRADIENT},
        {"--beta", o->beta != standard.beta, SN_METHOD_PROJECTED_GRADIENT},
        {"--memory", o->memory != standard.memory, SN_METHOD_LBFGS},
        {"--bandwidth", o->bandwidth != standard.bandwidth, SN_METHOD_NEWTON_PCG},
        {"--pcg-tolerance", o->pcg_tolerance != standard.pcg_tolerance, SN_METHOD_NEWTON_PCG},
        {"--pcg-constant", o->pcg_constant, SN_METHOD_NEWTON_PCG},
        {"--nearest-psd", o->nearest_psd, SN_METHOD_NEWTON_PCG},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (!belongs(self, all[i].name, all[i].changed, all[i].owner, o->method)) return false;
    return true;
}
