// SPDX-License-Identifier: MIT
// Calibration: what it finds against the truth. Its equations: test_estimate.c.
#include "takes.h"

#include "math/vec3.h"
#include "take/estimate.h"
#include "take/stretch.h"

// --- against the truth -------------------------------------------------------------------------------

static sn_calibrate_options wanted(bool scale) {
    sn_calibrate_options o = sn_calibrate_options_default();
    o.scale = scale;
    o.frames = cases(80) < 80 ? 30 : 80;
    return o;
}

typedef struct shape_errors {
    double rms, worst;
    const char *marker;
} shape_errors;

// How far the places are from the true ones. Turning about an axis that a joint has of its own cannot be
// told from a turned marker set, so this is what remains where places can be seen.
static shape_errors places_off(const sn_model *a, const sn_model *truth) {
    shape_errors e = {0};
    for (int i = 0; i < sn_model_nmarker(a); i++) {
        const sn_marker_desc *m = sn_model_marker(a, i);
        const sn_marker_desc *t = sn_model_marker(truth, sn_model_find_marker(truth, m->name));
        double d = 0;
        for (int c = 0; c < 3; c++)
            d += (m->position[c] - t->position[c]) * (m->position[c] - t->position[c]);
        e.rms += d / sn_model_nmarker(a);
        if (sqrt(d) > e.worst) e.worst = sqrt(d), e.marker = m->name;
    }
    e.rms = sqrt(e.rms);
    return e;
}

static void offsets_found(void **state) {
    example_take *t = *state;
    sn_calibrate_options o = wanted(false);
    fitted r = fit_of(t->model, t->recording, NULL, &o, NULL);
    shape_errors before = places_off(t->model, t->subject), after = places_off(r.model, t->subject);
    print_message("offsets: RMS %.2f mm from the truth before, %.2f mm after (worst %.2f mm, %s); "
                  "markers %.2f mm; "
                  "median angle %.2f degrees off\n",
                  1e3 * before.rms, 1e3 * after.rms, 1e3 * after.worst, after.marker,
                  1e3 * r.summary.rms, median_angle(r.model, r.motion, t->truth));
    assert_true(before.rms > 0.006 && after.rms < (o.frames < 80 ? 0.009 : 0.006));
    assert_true(median_angle(r.model, r.motion, t->truth) < (o.frames < 80 ? 2 : 1.5));
    assert_true(r.summary.rms < 0.0036);
    fitted_free(&r);
}

// What is known of postures counts against all the frames together, so that more of them do not draw the figure to rest.
static void more_frames(void **state) {
    example_take *t = *state;
    sn_calibrate_options few = wanted(false), many = few;
    few.frames = 30, many.frames = 240;
    fitted a = fit_of(t->model, t->recording, NULL, &few, NULL),
           b = fit_of(t->model, t->recording, NULL, &many, NULL);
    shape_errors apart = places_off(a.model, b.model);
    print_message("frames: places from 30 and from 240 are %.2f mm apart (worst %.2f mm, %s)\n",
                  1e3 * apart.rms, 1e3 * apart.worst, apart.marker);
    assert_true(apart.rms < 0.002);  // 2.9 mm where each frame draws alike, 1.2 as it is
    fitted_free(&a);
    fitted_free(&b);
}

// The same person as a model with longer legs and shorter arms knows him.
static void lengths_found(void **state) {
    example_take *t = *state;
    int njoint = sn_model_njoint(t->model);
    double *wrong = malloc((size_t)njoint * sizeof *wrong);
    sn_mat3 *stretch = malloc((size_t)njoint * sizeof *stretch);
    double position[3 * 41];
    int column[41];
    assert_true(wrong != NULL && stretch != NULL);
    static const struct {
        const char *joint;
        double by;
    } scaled[] = {{"left_thigh", 1.06}, {"right_thigh", 1.06},    {"left_shin", 0.95},
                  {"right_shin", 0.95}, {"left_upper_arm", 0.94}, {"right_upper_arm", 0.94}};
    for (int j = 0; j < njoint; j++) wrong[j] = 1;
    for (size_t i = 0; i < sizeof scaled / sizeof scaled[0]; i++) {
        int j = sn_model_find_joint(t->model, scaled[i].joint);
        if (j < 0) fail_msg("no joint %s", scaled[i].joint);
        wrong[j] = scaled[i].by;
    }
    sn_marker_set *set;
    sn_model *model;
    assert_int_equal(sn_marker_set_of_model(t->model, NULL, &set, NULL), SN_OK);
    assert_int_equal(sn_marker_set_apply(set, t->model, SN_LIMITS_OFF, wrong, NULL, &model, NULL),
                     SN_OK);
    assert_int_equal(sn_fit_match(model, t->recording, NULL, column), 41);
    sn_fit_input in = {.model = model,
                       .recording = t->recording,
                       .column = column,
                       .axes = sn_axis_map_identity(),
                       .count = t->nframe};
    sn_calibrate_options o = wanted(true);
    sn_calibrate_report report;
    sn_error error = {0};
    if (sn_calibrate(&in, &o, NULL, position, stretch, &report, &error) != SN_OK)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < sizeof scaled / sizeof scaled[0]; i += 2) {
        int j = sn_model_find_joint(t->model, scaled[i].joint),
            k = sn_model_find_joint(t->model, scaled[i + 1].joint);
        double length[2];
        for (int side = 0; side < 2; side++) {
            // along the bone, which is where its child is
            int at = side == 0 ? j : k;
            sn_vec3 way = v3(0, 0, 0);
            for (int c = 0; c < njoint; c++)
                if (sn_model_parent(model, c) == at)
                    way = v3_from(sn_model_joint(model, c)->position);
            length[side] = v3_norm(m3_mul(&stretch[at], way)) / v3_norm(way);
        }
        print_message("lengths: %-15s was %.3f of the true one, is %.3f and %.3f\n",
                      scaled[i].joint, scaled[i].by, length[0] * scaled[i].by,
                      length[1] * scaled[i].by);
        assert_true(fabs(length[0] / length[1] - 1) < 0.02);
        // priors hold it back: the rest of the difference is left to the places
        double left = fabs(length[0] * scaled[i].by - 1) / fabs(scaled[i].by - 1);
        assert_true(left < (o.frames < 60 ? 0.65 : 0.4));
    }
    print_message("lengths: markers %.2f mm before, %.2f mm after\n", 1e3 * report.rms_before,
                  1e3 * report.rms);
    assert_true(report.rms < 0.0037);
    free(wrong);
    free(stretch);
    sn_model_destroy(model);
    sn_marker_set_destroy(set);
}

// A third of the samples gone, and one in twenty thrown half a metre away.
static void spoiled(void **state) {
    example_take *t = *state;
    uint64_t random = 5;
    sn_calibrate_options o = wanted(false);
    sn_recording *bad = recording_cut(t->recording, 0, t->nframe);
    spoil_gaps(bad, 0.3, &random);
    spoil_throw(bad, 0.05, 0.5, &random);
    fitted r = fit_of(t->model, bad, NULL, &o, NULL);
    shape_errors after = places_off(r.model, t->subject);
    int expected = (int)(0.05 * 0.7 * 41 * r.calibration.frames);
    print_message("spoiled: RMS %.2f mm from the truth (worst %.2f mm, %s), %d samples for "
                  "outliers, about %d thrown\n",
                  1e3 * after.rms, 1e3 * after.worst, after.marker, r.calibration.outliers,
                  expected);
    assert_true(after.rms < (o.frames < 80 ? 0.05 : 0.015));
    assert_true(r.calibration.outliers > expected / 2 && r.calibration.outliers < 2 * expected);
    fitted_free(&r);
    sn_recording_destroy(bad);
}

// A marker of no weight stays where it was, and pulls nobody.
static void weights(void **state) {
    example_take *t = *state;
    sn_calibrate_options o = wanted(false);
    o.frames = 20;
    sn_marker_set *set, *light;
    sn_model *model;
    assert_int_equal(sn_marker_set_of_model(t->model, NULL, &set, NULL), SN_OK);
    sn_marker_place places[41];
    for (int i = 0; i < 41; i++) places[i] = *sn_marker_set_place(set, i);
    places[10].weight = 0;
    assert_int_equal(sn_marker_set_create("light", places, 41, NULL, &light, NULL), SN_OK);
    assert_int_equal(sn_marker_set_apply(light, t->model, SN_LIMITS_OFF, NULL, NULL, &model, NULL),
                     SN_OK);
    sn_recording *cut[2];
    fitted r[2];
    for (int k = 0; k < 2; k++) {
        cut[k] = recording_cut(t->recording, 0, 200);
        for (int f = 0; k > 0 && f < 200; f++)
            for (int c = 0; c < 3; c++) sn_recording_edit(cut[k], f)[30 + c] += 0.3;
        r[k] = fit_of(model, cut[k], NULL, &o, NULL);
        assert_memory_equal(sn_model_marker(r[k].model, 10)->position, places[10].position,
                            sizeof places[10].position);
    }
    for (int i = 0; i < 41; i++)
        for (int c = 0; c < 3; c++)
            assert_near(sn_model_marker(r[0].model, i)->position[c],
                        sn_model_marker(r[1].model, i)->position[c], 1e-3);
    for (int k = 0; k < 2; k++) {
        fitted_free(&r[k]);
        sn_recording_destroy(cut[k]);
    }
    sn_model_destroy(model);
    sn_marker_set_destroy(set);
    sn_marker_set_destroy(light);
}

// Whichever allocation fails, it is said and all is given back.
static void memory_fails(void **state) {
    example_take *t = *state;
    sn_recording *part = recording_cut(t->recording, 0, 6);
    int column[41];
    double position[3 * 41];
    sn_mat3 *stretch = malloc((size_t)sn_model_njoint(t->model) * sizeof *stretch);
    sn_fit_frame frames[6];
    sn_fit_marker markers[41];
    sn_motion *motion;
    assert_non_null(stretch);
    assert_int_equal(sn_fit_match(t->model, part, NULL, column), 41);
    assert_int_equal(sn_motion_create(6, sn_model_nq(t->model), 1, 120, NULL, &motion, NULL),
                     SN_OK);
    sn_fit_input in = {.model = t->model,
                       .recording = part,
                       .column = column,
                       .axes = sn_axis_map_identity(),
                       .count = 6};
    sn_calibrate_options o = wanted(true);
    o.frames = 2;
    char *json;
    assert_int_equal(sn_model_text(t->model, NULL, &json), SN_OK);
    for (int what = 0; what < 7; what++) {
        long n = 0, step = 1;
        for (;; n += step) {
            test_allocator a;
            sn_error error = {0};
            sn_calibrate_report report;
            sn_fit_summary summary;
            sn_axes_report axes;
            sn_marker_set *set = NULL;
            sn_model *model = NULL;
            test_allocator_begin(&a);
            a.fail_at = n;
            sn_status status;
            if (what == 0)
                status = sn_calibrate(&in, &o, &a.base, position, stretch, &report, &error);
            if (what == 1)
                status = sn_fit_run(&in, NULL, &a.base, motion, frames, markers, &summary, &error);
            if (what == 2) status = sn_fit_measure(&in, motion, &a.base, frames, markers, &summary);
            if (what == 3) status = sn_axes_find(t->model, part, 1, 1, &a.base, &axes, NULL);
            if (what == 4) status = sn_marker_set_builtin(t->model, part, &a.base, &set, &error);
            if (what == 5)
                status = sn_marker_set_read_json(json, strlen(json), &a.base, &set, &error);
            if (what == 6) {
                status = sn_marker_set_of_model(t->model, &a.base, &set, NULL);
                if (status == SN_OK)
                    status = sn_marker_set_apply(set, t->model, SN_LIMITS_OFF, NULL, &a.base,
                                                 &model, &error);
            }
            if (what >= 4 && what < 6 && status != SN_OK) assert_null(set);
            bool had = set != NULL;
            sn_model_destroy(model);
            sn_marker_set_destroy(set);
            if (a.live != 0) fail_msg("%d leaks %ld when %ld fails", what, a.live, n);
            if (status == SN_OK) {
                if (a.calls > n) fail_msg("%d lost the failure of call %ld", what, n);
                break;
            }
            if (status != SN_ERR_MEMORY) fail_msg("%d: status %d at %ld", what, (int)status, n);
            bool tells = what != 2 && what != 3 && !(what == 6 && !had);
            if (tells && strstr(error.text, "memory") == NULL)
                fail_msg("%d says nothing at %ld", what, n);
            // calibration asks often, for the same things again and again
            if (n > 60) step = 1 + n / 20;
        }
    }
    sn_release(NULL, json);
    free(stretch);
    sn_motion_destroy(motion);
    sn_recording_destroy(part);
}

// A caller's own threads: here none, and the last job first.
static void run_backwards(void *user, int njob, void (*job)(void *job_user, int i),
                          void *job_user) {
    int *most = user;
    if (njob > *most) *most = njob;
    for (int i = njob - 1; i >= 0; i--) job(job_user, i);
}

// The number of threads, and whose they are, changes no bit of places, shapes and what is said of them.
static void threads_agree(void **state) {
    example_take *t = *state;
    static const int threads[] = {1, 2, 3, 8, 40, 5};
    enum { RUNS = sizeof threads / sizeof threads[0] };
    int njoint = sn_model_njoint(t->model), column[41], pooled = 0, nsure[2] = {0, 0};
    sn_calibrate_report report[2];
    size_t room = 41 + 2 * (size_t)njoint;
    double position[2][3 * 41];
    sn_mat3 *stretch = malloc(2 * (size_t)njoint * sizeof *stretch);
    sn_take_sure *sure = malloc(2 * room * sizeof *sure);
    assert_true(stretch != NULL && sure != NULL);
    assert_int_equal(sn_fit_match(t->model, t->recording, NULL, column), 41);
    sn_fit_input in = {.model = t->model,
                       .recording = t->recording,
                       .column = column,
                       .axes = sn_axis_map_identity(),
                       .count = t->nframe};
    for (int run = 0; run < RUNS; run++) {
        int to = run > 0;
        sn_calibrate_options o = wanted(true);
        o.frames = 13;
        o.threads = threads[run];
        if (run == RUNS - 1) o.pool = (sn_threads){run_backwards, &pooled};
        o.sure = sure + (size_t)to * room, o.nsure = &nsure[to];
        memset(o.sure, 0, room * sizeof *sure);
        memset(&report[to], 0, sizeof report[to]);
        assert_int_equal(
            sn_calibrate(&in, &o, NULL, position[to], stretch + to * njoint, &report[to], NULL),
            SN_OK);
        assert_int_equal(memcmp(position[0], position[to], sizeof position[0]), 0);
        assert_int_equal(memcmp(stretch, stretch + to * njoint, (size_t)njoint * sizeof *stretch),
                         0);
        assert_true(report[0].rms == report[to].rms &&
                    report[0].iterations == report[to].iterations);
        assert_int_equal(nsure[0], nsure[to]);
        for (int i = 0; i < nsure[0]; i++)
            assert_true(sure[i].sigma == sure[room + (size_t)i].sigma || run == 0);
    }
    assert_int_equal(pooled, 5);
    free(sure);
    free(stretch);
}

// How much is held at a time.
typedef struct held_memory {
    size_t now, most;
} held_memory;

enum { HEAD = 64 };  // the size stands before a block

static void *hold(void *user, size_t bytes) {
    held_memory *m = user;
    char *block = malloc(bytes + HEAD);
    if (block == NULL) return NULL;
    memcpy(block, &bytes, sizeof bytes);
    m->now += bytes;
    if (m->now > m->most) m->most = m->now;
    return block + HEAD;
}

static void let_go(void *user, void *block) {
    held_memory *m = user;
    size_t bytes;
    memcpy(&bytes, (char *)block - HEAD, sizeof bytes);
    m->now -= bytes;
    free((char *)block - HEAD);
}

// Frames are eliminated one by one: sixty of them with lengths and places take 4 MB, of which the sums of the eight
// parts are the most.
static void memory_bounded(void **state) {
    example_take *t = *state;
    int column[41];
    double position[3 * 41];
    sn_mat3 stretch[100];
    held_memory m = {0, 0};
    const sn_allocator allocator = {hold, let_go, &m};
    sn_calibrate_options o = sn_calibrate_options_default();
    sn_calibrate_report report;
    assert_int_equal(sn_fit_match(t->model, t->recording, NULL, column), 41);
    sn_fit_input in = {.model = t->model,
                       .recording = t->recording,
                       .column = column,
                       .axes = sn_axis_map_identity(),
                       .count = t->nframe};
    o.scale = true;
    assert_true(o.frames == 60 && sn_model_njoint(t->model) <= 100);
    assert_int_equal(sn_calibrate(&in, &o, &allocator, position, stretch, &report, NULL), SN_OK);
    print_message("memory: %.2f MB for %d frames\n", 1e-6 * (double)m.most, report.frames);
    assert_true(report.frames == 60 && m.now == 0 && m.most < 4500000);
}

static void refused(void **state) {
    example_take *t = *state;
    int column[41];
    double position[3 * 41];
    sn_mat3 stretch[100];
    sn_calibrate_report report;
    sn_error error = {0};
    assert_int_equal(sn_fit_match(t->model, t->recording, NULL, column), 41);
    sn_fit_input in = {.model = t->model,
                       .recording = t->recording,
                       .column = column,
                       .axes = sn_axis_map_identity()};
    sn_calibrate_options o = wanted(true);
    assert_int_equal(sn_calibrate(&in, NULL, NULL, position, stretch, &report, &error),
                     SN_ERR_ARGUMENT);  // no frames
    in.count = 10;
    assert_int_equal(sn_calibrate(&in, &o, NULL, position, NULL, &report, &error),
                     SN_ERR_ARGUMENT);  // no room
    o.scale = false;
    o.version = 9;
    assert_int_equal(sn_calibrate(&in, &o, NULL, position, stretch, &report, &error),
                     SN_ERR_ARGUMENT);
    // nobody there
    uint64_t random = 1;
    sn_recording *empty = recording_cut(t->recording, 0, 10);
    spoil_gaps(empty, 1, &random);
    in.recording = empty;
    o = wanted(false);
    assert_int_equal(sn_calibrate(&in, &o, NULL, position, stretch, &report, &error), SN_ERR_VALUE);
    assert_non_null(strstr(error.text, "no frame has markers"));
    // a body that is not there
    in.recording = t->recording;
    const sn_known_length nobody = {"tail", 0.5};
    o = wanted(true);
    o.lengths = &nobody, o.nlength = 1;
    assert_int_equal(sn_calibrate(&in, &o, NULL, position, stretch, &report, &error), SN_ERR_VALUE);
    assert_non_null(strstr(error.text, "\"tail\", which the model lacks"));
    sn_recording_destroy(empty);
}

// Stopped from outside: it ends at once.
static bool at_once(void *unused) {
    (void)unused;
    return true;
}

static void cancelled(void **state) {
    example_take *t = *state;
    int column[41];
    double position[3 * 41];
    sn_mat3 stretch[100];
    sn_calibrate_report report;
    sn_calibrate_options o = wanted(false);
    o.cancel = (sn_cancel){at_once, NULL};
    assert_int_equal(sn_fit_match(t->model, t->recording, NULL, column), 41);
    sn_fit_input in = {.model = t->model,
                       .recording = t->recording,
                       .column = column,
                       .axes = sn_axis_map_identity(),
                       .count = t->nframe};
    assert_int_equal(sn_calibrate(&in, &o, NULL, position, stretch, &report, NULL), SN_OK);
    assert_true(report.cancelled && report.iterations <= 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_found),  cmocka_unit_test(lengths_found),
        cmocka_unit_test(spoiled),        cmocka_unit_test(weights),
        cmocka_unit_test(memory_fails),   cmocka_unit_test(refused),
        cmocka_unit_test(cancelled),      cmocka_unit_test(threads_agree),
        cmocka_unit_test(memory_bounded), cmocka_unit_test(more_frames),
    };
    return cmocka_run_group_tests(tests, example_begin, example_end);
}
