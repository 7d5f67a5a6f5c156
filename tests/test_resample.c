// SPDX-License-Identifier: MIT
// Recordings and motions at another rate.
#include "support.h"

static double turn_between(const sn_frame *x, const sn_frame *y) {
    sn_quat q = sn_quat_mul(sn_quat_from_mat3(y->R), sn_quat_conj(sn_quat_from_mat3(x->R)));
    sn_vec3 v = sn_quat_log(q);
    return sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
}

// One joint of every kind that turns: halfway is halfway, whatever its coordinates do.
static void halfway(void **unused) {
    (void)unused;
    static const sn_joint_type types[] = {SN_JOINT_HINGE, SN_JOINT_EULER, SN_JOINT_BALL,
                                          SN_JOINT_EXPMAP, SN_JOINT_FREE};
    uint64_t state = 77;
    double worst = 0;
    for (int k = 0; k < cases(400); k++) {
        sn_joint_desc d = random_joint(&state, types[k % 5], 0, -1);
        for (int i = 0; i < SN_MAX_JOINT_DOFS; i++) {
            d.lower[i] = -INFINITY, d.upper[i] = INFINITY, d.locked[i] = false, d.strength[i] = 1;
        }
        sn_builder *b;
        sn_model *m;
        assert_int_equal(sn_builder_create("one", NULL, &b, NULL), SN_OK);
        (void)sn_builder_joint(b, &d);
        assert_int_equal(sn_builder_finish(b, &m, NULL), SN_OK);
        sn_builder_destroy(b);
        sn_problem *problem;
        sn_workspace *ws;
        assert_int_equal(sn_problem_create(m, NULL, 0, NULL, &problem, NULL), SN_OK);
        assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
        int nq = sn_model_nq(m);
        sn_motion *motion, *twice;
        assert_int_equal(sn_motion_create(2, nq, 5, 10, NULL, &motion, NULL), SN_OK);
        // the second pose lies nearby, but may be written with other angles
        double delta[6];
        sn_model_sample(m, &state, sn_motion_edit(motion, 0));
        for (int i = 0; i < 6; i++) delta[i] = uniform(&state, -0.5, 0.5);
        double *q = sn_motion_edit(motion, 1);
        sn_model_integrate(m, sn_motion_frame(motion, 0), delta, q);
        if (d.type == SN_JOINT_HINGE) q[0] += 6.283185307179586 * below(&state, 3);
        if (d.type == SN_JOINT_EULER) {
            bool proper = d.order[0] == d.order[2];
            q[0] += 3.141592653589793, q[2] -= 3.141592653589793;
            q[1] = proper ? -q[1] : 3.141592653589793 - q[1];
        }
        assert_int_equal(sn_motion_resample(m, motion, 20, NULL, &twice, NULL), SN_OK);
        assert_true(sn_motion_nframe(twice) == 3 && sn_motion_rate(twice) == 20 &&
                    sn_motion_first_frame(twice) == 1);
        assert_memory_equal(sn_motion_frame(twice, 0), sn_motion_frame(motion, 0),
                            (size_t)nq * sizeof(double));
        assert_memory_equal(sn_motion_frame(twice, 2), q, (size_t)nq * sizeof(double));
        sn_frame frame[3];
        for (int f = 0; f < 3; f++) {
            assert_int_equal(sn_workspace_pose(ws, sn_motion_frame(twice, f)), SN_OK);
            frame[f] = sn_workspace_frame(ws, 0);
        }
        double whole = turn_between(&frame[0], &frame[2]);
        // expmaps go straight, which is not at an even speed
        double tolerance = d.type == SN_JOINT_EXPMAP ? 0.2 : 1e-7;
        worst = d.type == SN_JOINT_EXPMAP
                    ? worst
                    : fmax(worst, fabs(turn_between(&frame[0], &frame[1]) - whole / 2));
        assert_near(turn_between(&frame[0], &frame[1]), whole / 2, tolerance);
        assert_near(turn_between(&frame[1], &frame[2]), whole / 2, tolerance);
        sn_motion_destroy(twice);
        sn_motion_destroy(motion);
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
        sn_model_destroy(m);
    }
    print_message("halfway: %.1e rad off\n", worst);
}

static void recordings(void **unused) {
    (void)unused;
    const char *const labels[] = {"A", "B"};
    const sn_recording_info info = {.nframe = 7, .nmarker = 2, .first_frame = 40, .rate = 60};
    sn_recording *r, *out;
    assert_int_equal(sn_recording_create(&info, labels, NULL, &r, NULL), SN_OK);
    for (int f = 0; f < 7; f++)
        for (int i = 0; i < 6; i++)
            if (i < 3 || f != 3) sn_recording_edit(r, f)[i] = 10 * f + i;
    assert_int_equal(sn_recording_resample(r, 40, NULL, &out, NULL), SN_OK);
    const sn_recording_info *got = sn_recording_about(out);
    assert_true(got->nframe == 5 && got->rate == 40 && got->first_frame == 1);
    // frames 0, 1.5, 3, 4.5, 6
    for (int f = 0; f < 5; f++)
        for (int c = 0; c < 3; c++) assert_near(sn_recording_frame(out, f)[c], 15 * f + c, 1e-12);
    assert_true(sn_recording_present(out, 1, 1));   // 1.5 lies between 1 and 2, which are there
    assert_false(sn_recording_present(out, 2, 1));  // 3 is missing
    assert_true(sn_recording_present(out, 3, 1));
    sn_recording_destroy(out);
    assert_int_equal(sn_recording_resample(r, 120, NULL, &out, NULL), SN_OK);
    // no bridge over the gap: 2.5, 3 and 3.5 are all missing
    assert_int_equal(sn_recording_about(out)->nframe, 13);
    assert_int_equal(sn_recording_missing(out, 1), 3);
    assert_int_equal(sn_recording_missing(out, 0), 0);
    sn_recording_destroy(out);
    assert_int_equal(sn_recording_resample(r, 0, NULL, &out, NULL), SN_ERR_ARGUMENT);
    assert_int_equal(sn_recording_resample(r, 1e12, NULL, &out, NULL), SN_ERR_SIZE);
    assert_null(out);
    // there and back at a rate that does not divide
    assert_int_equal(sn_recording_resample(r, 60, NULL, &out, NULL), SN_OK);
    assert_int_equal(sn_recording_about(out)->nframe, 7);
    assert_memory_equal(sn_recording_frame(out, 2), sn_recording_frame(r, 2), 6 * sizeof(double));
    sn_recording_destroy(out);
    for (int fail = 0; fail < 20; fail++) {
        test_allocator a;
        test_allocator_begin(&a);
        a.fail_at = fail;
        sn_status status = sn_recording_resample(r, 50, &a.base, &out, NULL);
        if (status == SN_OK) {
            sn_recording_destroy(out);
            break;
        }
        assert_true(status == SN_ERR_MEMORY && a.live == 0);
    }
    sn_recording_destroy(r);
}

// a / b of the rate, over b m + 1 frames: the last frame stays, whatever the quotient is rounded to.
static void last_frame(void **unused) {
    (void)unused;
    static const double rates[] = {120, 100, 59.94, 29.97, 23.976, 1 / 0.0083333, 250, 1000.0 / 3};
    static const char *const label = "A";
    for (size_t r = 0; r < sizeof rates / sizeof rates[0]; r++)
        for (int a = 1; a <= 12; a++)
            for (int b = 1; b <= 12; b++)
                for (int m = 1; m <= 7; m++) {
                    sn_recording_info info = {.nframe = b * m + 1,
                                              .nmarker = 1,
                                              .first_frame = 1,
                                              .rate = rates[r],
                                              .metres_per_unit = 1};
                    sn_recording *from, *to;
                    assert_int_equal(sn_recording_create(&info, &label, NULL, &from, NULL), SN_OK);
                    for (int f = 0; f <= b * m; f++)
                        for (int c = 0; c < 3; c++) sn_recording_edit(from, f)[c] = f;
                    assert_int_equal(sn_recording_resample(from, rates[r] * a / b, NULL, &to, NULL),
                                     SN_OK);
                    int n = sn_recording_about(to)->nframe;
                    if (n != a * m + 1)
                        fail_msg("%d frames at %g, at %d/%d of it: %d, not %d", info.nframe,
                                 rates[r], a, b, n, a * m + 1);
                    assert_true(sn_recording_frame(to, n - 1)[0] == b * m);
                    sn_recording_destroy(from);
                    sn_recording_destroy(to);
                }
}

// Vectors of an exponential map on both sides of half a turn, about any axis: the short way between them.
static void long_way_round(void **unused) {
    (void)unused;
    uint64_t state = 12;
    sn_joint_desc d = sn_joint_default(SN_JOINT_EXPMAP);
    sn_builder *b;
    sn_model *m;
    d.name = "one";
    assert_int_equal(sn_builder_create("one", NULL, &b, NULL), SN_OK);
    (void)sn_builder_joint(b, &d);
    assert_int_equal(sn_builder_finish(b, &m, NULL), SN_OK);
    sn_builder_destroy(b);
    for (int k = 0; k < cases(300); k++) {
        sn_motion *from, *to;
        assert_int_equal(sn_motion_create(2, 3, 1, 10, NULL, &from, NULL), SN_OK);
        double axis[3], norm = 0;
        for (int c = 0; c < 3; c++) axis[c] = uniform(&state, -1, 1), norm += axis[c] * axis[c];
        double x = uniform(&state, 2, 3.14) / sqrt(norm), y = uniform(&state, 2, 3.14) / sqrt(norm);
        for (int c = 0; c < 3; c++) {
            sn_motion_edit(from, 0)[c] = x * axis[c];
            sn_motion_edit(from, 1)[c] = -y * axis[c];
        }
        assert_int_equal(sn_motion_resample(m, from, 20, NULL, &to, NULL), SN_OK);
        sn_quat q[3];
        for (int f = 0; f < 3; f++) {
            const double *w = sn_motion_frame(to, f);
            q[f] = sn_quat_exp((sn_vec3){w[0], w[1], w[2]});
        }
        double whole = 0, half[2] = {0};
        for (int i = 0; i < 3; i++) {
            sn_quat turn =
                sn_quat_mul(i == 0 ? q[2] : q[i], sn_quat_conj(i == 0 ? q[0] : q[i - 1]));
            sn_vec3 v = sn_quat_log(turn);
            double angle = sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
            if (i == 0) whole = angle;
            if (i > 0) half[i - 1] = angle;
        }
        assert_near(whole, 2 * 3.14159265358979323846 - (x + y) * sqrt(norm), 1e-9);
        assert_near(half[0], whole / 2, 1e-9);
        assert_near(half[1], whole / 2, 1e-9);
        sn_motion_destroy(from);
        sn_motion_destroy(to);
    }
    sn_model_destroy(m);
}

// Marker A of frame f is at x = f; its time by the recording's own account.
static sn_recording *numbered(int nframe, int first_frame, double rate) {
    static const char *const label = "A";
    const sn_recording_info info = {
        .nframe = nframe, .nmarker = 1, .first_frame = first_frame, .rate = rate};
    sn_recording *r;
    assert_int_equal(sn_recording_create(&info, &label, NULL, &r, NULL), SN_OK);
    for (int f = 0; f < nframe; f++) {
        double *x = sn_recording_edit(r, f);
        x[0] = f, x[1] = x[2] = 0;
    }
    return r;
}

static double time_of(const sn_recording *r, int frame) {
    const sn_recording_info *i = sn_recording_about(r);
    return (i->first_frame - 1 + frame) / i->rate + i->time_offset;
}

// Which frames are kept, under which numbers, and what becomes of the rate; a sample's time never changes.
static void clips(void **unused) {
    (void)unused;
    static const struct {
        double rate;
        sn_clip clip;
        sn_clip_rate what;
        int nframe, number;
        double first, step, new_rate;
    } cases[] = {
        {60, {0, 100, 1, 0}, SN_CLIP_RATE_KEPT, 21, 5, 0, 1, 60},
        {60, {4, 10, 1, 60}, SN_CLIP_RATE_KEPT, 10, 9, 4, 1, 60},
        {60, {4, 10, 3, 0}, SN_CLIP_RATE_KEPT, 4, 1, 4, 3, 20},
        {60, {4, 10, 1, 30}, SN_CLIP_RATE_RESAMPLED, 5, 1, 4, 2, 30},
        {60, {4, 9, 2, 30}, SN_CLIP_RATE_RESAMPLED, 3, 1, 4, 4, 15},
        {59.9999, {3, 100, 1, 60}, SN_CLIP_RATE_TAKEN_FOR, 18, 8, 3, 1, 60},
        {59.99, {0, 100, 1, 60}, SN_CLIP_RATE_RESAMPLED, 21, 1, 0, 59.99 / 60, 60},
        {0, {2, 6, 2, 50}, SN_CLIP_RATE_STATED, 3, 1, 2, 2, 25},
        {0, {2, 6, 1, 0}, SN_CLIP_RATE_KEPT, 6, 7, 2, 1, 0},
        {60, {21, 5, 1, 0}, SN_CLIP_RATE_KEPT, 0, 26, 0, 0, 60},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sn_recording *r = numbered(21, 5, cases[i].rate), *out;
        sn_clip_rate what;
        assert_int_equal(sn_recording_clip(r, &cases[i].clip, NULL, &out, &what, NULL), SN_OK);
        const sn_recording_info *got = sn_recording_about(out);
        assert_int_equal(what, cases[i].what);
        assert_int_equal(got->nframe, cases[i].nframe);
        assert_int_equal(got->first_frame, cases[i].number);
        assert_near(got->rate, cases[i].new_rate, 1e-12);
        for (int f = 0; f < got->nframe; f++) {
            double x = cases[i].first + cases[i].step * f;
            assert_near(sn_recording_frame(out, f)[0], x, 1e-9);
            // in case 5 the frames themselves are said to come at another time
            if (cases[i].rate > 0 && what != SN_CLIP_RATE_TAKEN_FOR)
                assert_near(time_of(out, f), (4 + x) / cases[i].rate, 1e-9);
        }
        sn_recording_destroy(out);
        sn_recording_destroy(r);
    }
}

// The same of a motion, and what is refused.
static void clipped_motion(void **unused) {
    (void)unused;
    sn_model *m;
    sn_motion *motion, *out;
    const sn_clip part = {.first = 1, .count = 7, .every = 2, .rate = 50};
    static const sn_clip wrong[] = {{-1, 1, 1, 0}, {12, 1, 1, 0}, {0, -1, 1, 0},
                                    {0, 1, 0, 0},  {0, 1, 1, -1}, {0, 1, 1, INFINITY}};
    static const char text[] = "{\"name\": \"a\", \"joints\": [{\"name\": \"a\", \"type\": "
                               "\"hinge\", \"axis\": [1,0,0]}]}";
    assert_int_equal(sn_model_read_json(text, strlen(text), NULL, &m, NULL), SN_OK);
    assert_int_equal(sn_motion_create(11, 1, 1, 100, NULL, &motion, NULL), SN_OK);
    for (int f = 0; f < 11; f++) sn_motion_edit(motion, f)[0] = 0.1 * f;
    assert_int_equal(sn_motion_clip(m, motion, &part, NULL, &out, NULL, NULL), SN_OK);
    // frames 1 to 7, of these 1, 3, 5, 7, of these 1 and 5
    assert_true(sn_motion_nframe(out) == 2 && sn_motion_rate(out) == 25);
    assert_near(sn_motion_frame(out, 0)[0], 0.1, 1e-12);
    assert_near(sn_motion_frame(out, 1)[0], 0.5, 1e-12);
    assert_near(sn_motion_time_offset(out), 0.01, 1e-12);
    sn_motion_destroy(out);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sn_recording *r = numbered(11, 1, 60), *none;
        assert_int_equal(sn_motion_clip(m, motion, &wrong[i], NULL, &out, NULL, NULL),
                         SN_ERR_ARGUMENT);
        assert_int_equal(sn_recording_clip(r, &wrong[i], NULL, &none, NULL, NULL), SN_ERR_ARGUMENT);
        assert_true(out == NULL && none == NULL);
        sn_recording_destroy(r);
    }
    for (int fail = 0; fail < 40; fail++) {
        test_allocator a;
        test_allocator_begin(&a);
        a.fail_at = fail;
        sn_status status = sn_motion_clip(m, motion, &part, &a.base, &out, NULL, NULL);
        if (status == SN_OK) {
            assert_true(fail > 2);
            sn_motion_destroy(out);
            break;
        }
        assert_true(status == SN_ERR_MEMORY && a.live == 0 && out == NULL);
    }
    sn_motion_destroy(motion);
    sn_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest list[] = {
        cmocka_unit_test(halfway),    cmocka_unit_test(recordings),
        cmocka_unit_test(last_frame), cmocka_unit_test(long_way_round),
        cmocka_unit_test(clips),      cmocka_unit_test(clipped_motion)};
    return cmocka_run_group_tests(list, NULL, NULL);
}
