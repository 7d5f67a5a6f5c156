// SPDX-License-Identifier: MIT
// Skeletons with a free joint on the floor and the hips, free as well, below it: the one on the floor stays, where it wandered by
// metres, and the fit is that of the figure without it.
#include "model/model.h"
#include "takes.h"

enum { FRAMES = 900 };

// The built-in figure on one or two more free joints.
static sn_model *on_floor(const sn_model *m, int more) {
    sn_builder *b;
    sn_model *out;
    sn_error error = {0};
    assert_int_equal(sn_builder_create("on a floor", NULL, &b, NULL), SN_OK);
    for (int k = 0; k < more; k++) {
        sn_joint_desc d = sn_joint_default(SN_JOINT_FREE);
        d.parent = k - 1;
        d.name = k == 0 ? "floor" : "lift";
        (void)sn_builder_joint(b, &d);
    }
    for (int j = 0; j < sn_model_njoint(m); j++) {
        sn_joint_desc d = *sn_model_joint(m, j);
        d.parent = sn_model_parent(m, j) + more;
        (void)sn_builder_joint(b, &d);
    }
    if (sn_builder_finish(b, &out, &error) != SN_OK) fail_msg("%s", error.text);
    sn_builder_destroy(b);
    return out;
}

static void stays(void **state) {
    example_take *e = *state;
    sn_recording *r = recording_cut(e->recording, 0, FRAMES);
    double plain = 0;
    for (int more = 0; more <= 2; more++) {
        sn_model *model = on_floor(e->model, more);
        sn_take_options o = sn_take_options_default();
        sn_take *t;
        o.builtin = true;
        assert_int_equal(sn_take_create(model, r, &o, NULL, &t, NULL), SN_OK);
        assert_int_equal(sn_take_prepare(t), SN_OK);
        assert_int_equal(sn_take_finish(t), SN_OK);
        double moved = 0;
        for (int f = 0; f < FRAMES; f++)
            for (int i = 0; i < 7 * more; i++)
                moved = fmax(moved, fabs(sn_motion_frame(sn_take_motion(t), f)[i] - (i % 7 == 3)));
        const double rms = sn_take_about(t)->fit.rms;
        int leaps = 0;
        for (int i = 0; i < sn_take_nfinding(t); i++)
            leaps += sn_take_finding(t, i)->code == SN_FINDING_FIGURE_LEAPS;
        print_message("%d more: RMS %.4f cm, they move by %.4f, leaps %d, %s\n", more, 100 * rms,
                      moved, leaps, sn_verdict_name(sn_take_verdict(t)));
        if (more == 0) plain = rms;
        assert_near(rms / plain, 1, 0.003);
        assert_true(moved < 0.001 && leaps == 0);
        assert_int_equal(sn_take_verdict(t), SN_VERDICT_GOOD);
        sn_take_destroy(t);
        sn_model_destroy(model);
    }
    sn_recording_destroy(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stays)};
    return cmocka_run_group_tests(tests, example_begin, example_end);
}
