// SPDX-License-Identifier: MIT
// Coordinates that mean the same pose: the tidied ones do, and do not jump.
#include "math/vec3.h"
#include "support.h"
#include "take/fit.h"

static const double pi = 3.141592653589793;

// Three hinges, the middle axis across the others, and something that hangs on them.
static sn_model *make(uint64_t *state, bool across, bool marker_inside) {
    sn_builder *builder;
    sn_model *model;
    assert_int_equal(sn_builder_create("m", NULL, &builder, NULL), SN_OK);
    sn_vec3 b = v3(uniform(state, -1, 1), uniform(state, -1, 1), uniform(state, 0.1, 1));
    static const char *const names[] = {"a", "b", "c", "d"};
    for (int j = 0; j < 4; j++) {
        sn_joint_desc d = sn_joint_default(SN_JOINT_HINGE);
        sn_vec3 v = v3(uniform(state, -1, 1), uniform(state, -1, 1), uniform(state, -1, 1));
        if (across && j != 1) v = v3_cross(v, b);
        if (j == 1) v = b;
        d.name = names[j];
        d.parent = j - 1;
        d.axis[0] = v.x, d.axis[1] = v.y, d.axis[2] = v.z;
        if (j == 0 || j == 3) d.position[1] = 0.3;
        (void)sn_builder_joint(builder, &d);
    }
    sn_marker_desc m = {"M", 3, {0.1, 0.2, 0.3}, 1};
    (void)sn_builder_marker(builder, &m);
    m = (sn_marker_desc){"N", marker_inside ? 1 : 2, {0.3, 0.2, 0.1}, 1};
    (void)sn_builder_marker(builder, &m);
    assert_int_equal(sn_builder_finish(builder, &model, NULL), SN_OK);
    sn_builder_destroy(builder);
    return model;
}

static void test_tidy(void **unused) {
    (void)unused;
    uint64_t state = 3;
    enum { NFRAME = 50 };
    for (int trial = 0; trial < cases(40); trial++) {
        bool across = trial % 4 != 0, inside = trial % 4 == 1;
        sn_model *model = make(&state, across, inside);
        sn_motion *motion;
        sn_problem *problem;
        sn_workspace *ws;
        sn_vec3 place[NFRAME][2];
        assert_int_equal(sn_motion_create(NFRAME, 4, 1, 60, NULL, &motion, NULL), SN_OK);
        assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &problem, NULL), SN_OK);
        assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
        const sn_vec3 a = v3_from(sn_model_joint(model, 0)->axis),
                      b = v3_from(sn_model_joint(model, 1)->axis),
                      c = v3_from(sn_model_joint(model, 2)->axis);
        // c = R(b, t) a, by a search
        double t = 0, nearest = 9;
        for (double x = -pi; x < pi; x += 1e-4) {
            sn_vec3 u = v3_scale(1 / v3_norm(b), b), s = v3_scale(1 / v3_norm(a), a);
            sn_vec3 r = v3_add(v3_scale(cos(x), s), v3_scale(sin(x), v3_cross(u, s)));
            double off = v3_norm(v3_sub(r, v3_scale(1 / v3_norm(c), c)));
            if (off < nearest) nearest = off, t = x;
        }
        // a smooth motion near zero, of which some frames are then told in another way
        double smooth[NFRAME][4];
        for (int f = 0; f < NFRAME; f++) {
            double *q = sn_motion_edit(motion, f);
            for (int k = 0; k < 4; k++) smooth[f][k] = q[k] = 0.3 * sin(0.1 * f + k);
            if (below(&state, 2) && across && !inside) {
                q[0] += pi;
                q[1] = -q[1] - 2 * t;
                q[2] += pi;
            }
            for (int k = 0; k < 4; k++) q[k] += 2 * pi * (below(&state, 5) - 2);
        }
        for (int pass = 0; pass < 2; pass++) {
            for (int f = 0; f < NFRAME; f++) {
                assert_int_equal(sn_workspace_pose(ws, sn_motion_frame(motion, f)), SN_OK);
                for (int i = 0; i < 2; i++) {
                    const sn_marker_desc *m = sn_model_marker(model, i);
                    sn_vec3 p = sn_workspace_point(ws, m->joint, m->position);
                    if (pass == 1) assert_true(v3_norm(v3_sub(p, place[f][i])) < 1e-13);
                    place[f][i] = p;
                }
            }
            if (pass == 0) sn_fit_tidy(model, NULL, motion);
        }
        for (int f = 0; f < NFRAME; f++)
            for (int k = 0; k < 4; k++)
                assert_true(fabs(sn_motion_frame(motion, f)[k] - smooth[f][k]) < 3e-4);
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
        sn_motion_destroy(motion);
        sn_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tidy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
