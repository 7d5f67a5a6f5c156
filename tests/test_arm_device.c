// SPDX-License-Identifier: MIT
// Many goals of an arm on a device that speaks OpenCL (pocl will do): every one that is reached is looked at by
// this processor, inside the limits to the last bit. With an argument, what goes wrong with OpenCL: then this
// processor's results, to the last bit, and a note.
#include "arm/arm.h"
#include "arms_models.h"
#include "on_device.h"

enum { GOALS = 300 };

static sn_arm *create(const sn_model *model, sn_device device, const double *tool) {
    sn_arm *arm;
    sn_arm_options o = sn_arm_options_default();
    o.device = device;
    if (tool != NULL) memcpy(o.tool_position, tool, sizeof o.tool_position);
    assert_int_equal(sn_arm_create(model, "tool", &o, NULL, &arm, NULL), SN_OK);
    return arm;
}

static void make_goals(const sn_arm *arm, uint64_t *state, double *goals) {
    for (int i = 0; i < GOALS; i++) {
        double q[SN_ARM_MAX];
        for (int j = 0; j < sn_arm_n(arm); j++)
            q[j] =
                uniform(state, fmax(sn_arm_lower(arm)[j], -3.1), fmin(sn_arm_upper(arm)[j], 3.1));
        // some at a limit
        if (i % 10 == 0) q[1] = sn_arm_upper(arm)[1];
        sn_arm_tool(arm, q, goals + 7 * i);
    }
}

static void look_at(const sn_arm *arm, const double *goal, const double *q,
                    const sn_arm_report *r) {
    double tool[7], off = 0, dot = 0;
    sn_arm_tool(arm, q, tool);
    for (int k = 0; k < 3; k++) off += (tool[k] - goal[k]) * (tool[k] - goal[k]);
    for (int k = 3; k < 7; k++) dot += tool[k] * goal[k];
    assert_true(sqrt(off) <= 1e-6 * (1 + 1e-6) && fabs(sqrt(off) - r->position_error) < 1e-12);
    assert_true(1 - dot * dot <= 0.2501e-12 + 1e-15);
    assert_true(r->rotation_error <= 1e-6 * (1 + 1e-6) && r->seeds > 0 && r->iterations > 0);
    for (int j = 0; j < sn_arm_n(arm); j++)
        assert_true(q[j] >= sn_arm_lower(arm)[j] && q[j] <= sn_arm_upper(arm)[j]);
}

// Seven and six hinges, with and without a tool of its own.
static void arms(void **unused) {
    (void)unused;
    if (no_device()) skip();
    uint64_t state = 3;
    const double tool[3] = {0.02, -0.1, 0.15};
    double goals[7 * GOALS], *q;
    static sn_arm_report r[GOALS];
    for (int a = 0; a < (sampled() ? 1 : 3); a++) {
        sn_model *model = arms_model(a);
        sn_arm *arm = create(model, SN_DEVICE_OPENCL, a > 0 ? tool : NULL);
        if (strstr(sn_arm_note(arm), "OpenCL,") == NULL) fail_msg("%s", sn_arm_note(arm));
        q = sn_arm_room(arm, GOALS * SN_ARM_MAX * sizeof *q);
        assert_non_null(q);
        make_goals(arm, &state, goals);
        // one is out of reach
        goals[0] = 9;
        assert_int_equal(sn_arm_solve_many(arm, GOALS, goals, NULL, q, r), SN_OK);
        int lost = 0, starts = 0;
        for (int i = 0; i < GOALS; i++) {
            lost += !r[i].reached;
            starts += r[i].seeds;
            if (r[i].reached) look_at(arm, goals + 7 * i, q + sn_arm_n(arm) * i, &r[i]);
        }
        assert_false(r[0].reached);
        assert_int_equal(r[0].why, SN_ARM_FAR);
        print_message("%s: %d of %d lost, %.2f starts each, %s\n", arms_name(a), lost - 1, GOALS,
                      (double)starts / GOALS, sn_arm_note(arm));
        assert_int_equal(lost, 1);
        assert_null(strstr(sn_arm_note(arm), "this processor"));  // it did not have to take over
        // without reports the same
        double *again = malloc((size_t)(GOALS * sn_arm_n(arm)) * sizeof *again);
        assert_int_equal(sn_arm_solve_many(arm, GOALS, goals, NULL, again, NULL), SN_OK);
        assert_memory_equal(q, again, (size_t)(GOALS * sn_arm_n(arm)) * sizeof *q);
        goals[7 * 5 + 2] = NAN;
        assert_int_equal(sn_arm_solve_many(arm, GOALS, goals, NULL, again, NULL), SN_ERR_VALUE);
        free(again);
        sn_arm_destroy(arm);
        sn_model_destroy(model);
    }
}

// This processor takes over, and says why: for an arm with a slide in front, and when OpenCL goes wrong.
static void takes_over(void **unused) {
    (void)unused;
    uint64_t state = 5;
    sn_model *model = arms_model(goes_wrong != NULL ? 0 : 5);
    sn_arm *here = create(model, SN_DEVICE_CPU, NULL),
           *there = create(model, SN_DEVICE_OPENCL, NULL);
    static double goals[7 * GOALS], q[SN_ARM_MAX * GOALS], q1[SN_ARM_MAX * GOALS];
    make_goals(here, &state, goals);
    assert_int_equal(sn_arm_solve_many(here, GOALS, goals, NULL, q1, NULL), SN_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sn_arm_solve_many(there, GOALS, goals, NULL, q, NULL), SN_OK);
        assert_memory_equal(q, q1, (size_t)(GOALS * sn_arm_n(here)) * sizeof *q);
    }
    print_message("%s: %s\n", goes_wrong != NULL ? goes_wrong : "a slide", sn_arm_note(there));
    assert_non_null(strstr(sn_arm_note(there), "this processor"));
    assert_non_null(strstr(sn_arm_note(there), ": "));
    sn_arm_destroy(here);
    sn_arm_destroy(there);
    sn_model_destroy(model);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(arms), cmocka_unit_test(takes_over)};
    const struct CMUnitTest wrong[] = {cmocka_unit_test(takes_over)};
    return RUN_ON_DEVICE(argc, argv, tests, wrong);
}
