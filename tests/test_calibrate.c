// SPDX-License-Identifier: MIT
// Calibration: its normal equations against finite differences, and what it finds against the truth.
#include "takes.h"

#include "take/calibrate.h"

// --- the normal equations ----------------------------------------------------------------------------
//
// The reduced objective of a small calibration, by brute force: for a shape x all poses are solved to the
// end, f(x) = pull to the guess + sum over frames of the pose problem's least f.

enum { FRAMES = 4 };

typedef struct small {
    sn_calibration c;
    sn_model *model;
    sn_recording *recording;
    int column[8];
    sn_fit_input input;
    double *block;
} small;

static sn_model *small_figure(void) {
    static const char text[] =
        "{\"name\": \"s\", \"joints\": [{\"name\": \"hip\", \"type\": \"free\"},"
        "{\"name\": \"l_leg\", \"parent\": \"hip\", \"type\": \"euler\", \"order\": \"XYZ\", "
        "\"position\": [0.1,-0.1,0]},"
        "{\"name\": \"r_leg\", \"parent\": \"hip\", \"type\": \"hinge\", \"axis\": [1,0.2,0], "
        "\"position\": [-0.1,-0.1,0]},"
        "{\"name\": \"l_foot\", \"parent\": \"l_leg\", \"type\": \"hinge\", \"axis\": [1,0,0], "
        "\"position\": [0,-0.4,0.05]},"
        "{\"name\": \"r_foot\", \"parent\": \"r_leg\", \"type\": \"euler\", \"order\": \"ZYX\", "
        "\"position\": [0,-0.4,0.05]}],"
        "\"markers\": [{\"name\": \"a\", \"joint\": \"hip\", \"position\": [0.1,0.1,0.1]},"
        "{\"name\": \"b\", \"joint\": \"hip\", \"position\": [-0.1,0.1,0.1]},"
        "{\"name\": \"c\", \"joint\": \"hip\", \"position\": [0,0.1,-0.1], \"weight\": 0.5},"
        "{\"name\": \"d\", \"joint\": \"l_leg\", \"position\": [0.05,-0.2,0.1]},"
        "{\"name\": \"e\", \"joint\": \"l_foot\", \"position\": [0.05,-0.1,0.1], \"weight\": 2},"
        "{\"name\": \"f\", \"joint\": \"r_foot\", \"position\": [0.02,-0.1,0.15]},"
        "{\"name\": \"g\", \"joint\": \"r_foot\", \"position\": [0.1,0,-0.1]},"
        "{\"name\": \"h\", \"joint\": \"r_leg\", \"position\": [0.03,-0.2,0.07]}]}";
    sn_model *model;
    sn_error error;
    if (sn_model_read_json(text, strlen(text), NULL, &model, &error) != SN_OK)
        fail_msg("%s", error.text);
    return model;
}

static void small_begin(small *s, double noise, uint64_t *state) {
    *s = (small){.model = small_figure()};
    sn_calibration *c = &s->c;
    int nq = sn_model_nq(s->model), nv = sn_model_nv(s->model), n = 3 * 8 + 2, m = 8;
    static const char *const labels[8] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    sn_recording_info info = {.nframe = FRAMES, .nmarker = m, .rate = 100, .metres_per_unit = 1};
    assert_int_equal(sn_recording_create(&info, labels, NULL, &s->recording, NULL), SN_OK);
    for (int i = 0; i < m; i++) s->column[i] = i;
    s->input = (sn_fit_input){.model = s->model,
                              .recording = s->recording,
                              .column = s->column,
                              .axes = sn_axis_map_identity(),
                              .count = FRAMES};
    static int group[5], columns[16], frame[FRAMES];
    *c = (sn_calibration){
        .input = &s->input,
        .nq = (size_t)nq,
        .nv = (size_t)nv,
        .nframe = FRAMES,
        .neutral = 1e-2,
        .damping = 0,
        .shape = {.model = s->model, .njoint = 5, .nmarker = m, .size = n, .group = group},
        .columns = columns,
        .frame = frame};
    // hip's bone one factor, the legs' another that they share
    group[0] = 0, group[1] = group[2] = 1, group[3] = group[4] = -1;
    double **fields[] = {&c->weight, &c->error, &c->poses,      &c->x,   &c->guess,
                         &c->pull,   &c->S,     &c->g,          &c->A,   &c->B,
                         &c->J,      &c->Jx,    &c->neutral_of, &c->zero};
    const int sizes[] = {FRAMES * m, FRAMES * m, FRAMES * nq, n,      n,     n,  n * n,
                         n,          nv * nv,    n * nv,      3 * nv, 3 * n, nv, nq};
    size_t total = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) total += (size_t)sizes[i];
    s->block = calloc(total, sizeof *s->block);
    assert_non_null(s->block);
    total = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        *fields[i] = s->block + total;
        total += (size_t)sizes[i];
    }
    sn_fit_neutral(s->model, c->zero, c->neutral_of);
    for (int i = 0; i < n; i++) {
        c->guess[i] = i < 3 * m ? sn_model_marker(s->model, i / 3)->position[i % 3] : 1;
        c->x[i] = c->guess[i];
        c->pull[i] = 0.01;
    }
    for (int k = 0; k < FRAMES; k++) {
        double *q = c->poses + (size_t)k * (size_t)nq, *x = sn_recording_edit(s->recording, k);
        sn_problem *problem;
        sn_workspace *ws;
        frame[k] = k;
        sn_model_zero(s->model, q);
        for (int i = 0; i < nq; i++) q[i] += noise * uniform(state, -1, 1);
        sn_model_normalize(s->model, q);
        assert_int_equal(sn_problem_create(s->model, NULL, 0, NULL, &problem, NULL), SN_OK);
        assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
        assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
        for (int i = 0; i < m; i++) {
            const sn_marker_desc *d = sn_model_marker(s->model, i);
            sn_vec3 p = sn_workspace_point(ws, d->joint, d->position);
            x[3 * i] = p.x, x[3 * i + 1] = p.y, x[3 * i + 2] = p.z;
            for (int j = 0; j < 3; j++) x[3 * i + j] += 0.1 * noise * uniform(state, -1, 1);
            c->weight[k * m + i] = uniform(state, 0.3, 1);
        }
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
    }
    for (int j = 0; j < 3; j++) sn_recording_edit(s->recording, 2)[3 * 4 + j] = NAN;  // a gap
}

static void small_end(small *s) {
    free(s->block);
    sn_recording_destroy(s->recording);
    sn_model_destroy(s->model);
}

// f at a shape; with `normal` its normal equations as calibrate.c collects them.
static double reduced(small *s, const double *x, bool normal) {
    sn_calibration *c = &s->c;
    sn_model *model;
    sn_problem *markers, *problem;
    sn_solver *solver;
    sn_solver_options o = sn_solver_options_default();
    o.max_iterations = 200;
    o.gradient = 1e-13;
    o.goal = 0;
    sn_task rest = sn_task_default(SN_TASK_REST);
    rest.q = c->zero;
    rest.q_weight = c->neutral_of;
    rest.weight = c->neutral;
    double f = 0;
    for (int i = 0; i < c->shape.size; i++)
        f += 0.5 * c->pull[i] * (x[i] - c->guess[i]) * (x[i] - c->guess[i]);
    assert_int_equal(sn_shape_model(&c->shape, x, NULL, &model, NULL), SN_OK);
    assert_int_equal(sn_problem_create_markers(model, NULL, &markers, NULL), SN_OK);
    assert_int_equal(sn_problem_copy(markers, &rest, 1, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, NULL), SN_OK);
    if (normal) sn_normal_begin(c, x);
    for (int k = 0; k < FRAMES; k++) {
        double q[32];
        sn_report report;
        memcpy(q, c->poses + (size_t)k * c->nq, c->nq * sizeof *q);
        for (int i = 0; i < c->shape.nmarker; i++) {
            if (sn_recording_present(s->recording, k, i)) {
                assert_int_equal(
                    sn_problem_set_goal(problem, i, sn_recording_frame(s->recording, k) + 3 * i),
                    SN_OK);
                double own = sn_model_marker(s->model, i)->weight;
                assert_int_equal(
                    sn_problem_set_weight(problem, i, own * c->weight[k * c->shape.nmarker + i]),
                    SN_OK);
            } else {
                assert_int_equal(sn_problem_set_missing(problem, i, true), SN_OK);
            }
        }
        assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
        f += report.f;
        if (normal) sn_normal_add(c, sn_solver_workspace(solver), model, k);
    }
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    sn_problem_destroy(markers);
    sn_model_destroy(model);
    return f;
}

// The gradient holds anywhere; S is the Hessian where the residuals vanish, and there is none but the rest
// task's that the solver's poses leave.
static void normal_equations(void **unused) {
    (void)unused;
    uint64_t random = 11;
    for (int round = 0; round < cases(4); round++) {
        small s;
        bool far = round % 2 == 0;
        small_begin(&s, far ? 0.3 : 1e-4, &random);
        int n = s.c.shape.size;
        double x[26], g[26], largest = 0, worst = 0, scale = 0, off = 0;
        memcpy(x, s.c.x, sizeof x);
        for (int i = 0; far && i < n; i++) x[i] += uniform(&random, -0.03, 0.03);
        (void)reduced(&s, x, true);
        memcpy(g, s.c.g, sizeof g);
        double h = 1e-4;
        for (int i = 0; i < n; i++) {
            double at = x[i], f[4];
            for (int k = 0; k < 4; k++) {
                x[i] = at + h * (double[]){-2, -1, 1, 2}[k];
                f[k] = reduced(&s, x, false);
            }
            x[i] = at;
            double slope = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h);
            worst = fmax(worst, fabs(slope - g[i]));
            largest = fmax(largest, fabs(slope));
        }
        if (far) {
            print_message("gradient: off by %.1e of %.1e\n", worst, largest);
            assert_true(worst < 1e-7 * fmax(1, largest) && largest > 1e-4);
            small_end(&s);
            continue;
        }
        // columns of the Hessian from gradients at both sides
        double S[26 * 26];
        memcpy(S, s.c.S, sizeof S);
        for (int j = 0; j < n; j++) {
            double at = x[j], low[26];
            x[j] = at - h;
            (void)reduced(&s, x, true);
            memcpy(low, s.c.g, sizeof low);
            x[j] = at + h;
            (void)reduced(&s, x, true);
            x[j] = at;
            for (int i = 0; i < n; i++) {
                double second = (s.c.g[i] - low[i]) / (2 * h),
                       have = S[i >= j ? i * n + j : j * n + i];
                off = fmax(off, fabs(second - have));
                scale = fmax(scale, fabs(second));
            }
        }
        print_message("Schur complement: off by %.1e of %.1e\n", off, scale);
        assert_true(off < 2e-3 * scale);
        small_end(&s);
    }
}

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

// The same person as a model with longer legs and shorter arms knows him.
static void lengths_found(void **state) {
    example_take *t = *state;
    int njoint = sn_model_njoint(t->model);
    double *wrong = malloc((size_t)njoint * sizeof *wrong),
           *factor = malloc((size_t)njoint * sizeof *factor);
    double position[3 * 41];
    int column[41];
    assert_true(wrong != NULL && factor != NULL);
    static const struct {
        const char *joint;
        double by;
    } scaled[] = {{"left_thigh", 1.12}, {"right_thigh", 1.12},   {"left_shin", 0.92},
                  {"right_shin", 0.92}, {"left_upper_arm", 0.9}, {"right_upper_arm", 0.9}};
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
    if (sn_calibrate(&in, &o, NULL, position, factor, &report, &error) != SN_OK)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < sizeof scaled / sizeof scaled[0]; i += 2) {
        int j = sn_model_find_joint(t->model, scaled[i].joint),
            k = sn_model_find_joint(t->model, scaled[i + 1].joint);
        assert_true(factor[j] == factor[k]);
        print_message("lengths: %-15s was %.3f of the true one, is %.3f\n", scaled[i].joint,
                      scaled[i].by, factor[j] * scaled[i].by);
        assert_true(fabs(factor[j] * scaled[i].by - 1) < 0.03);
    }
    print_message("lengths: markers %.2f mm before, %.2f mm after\n", 1e3 * report.rms_before,
                  1e3 * report.rms);
    assert_true(report.rms < 0.0037);
    free(wrong);
    free(factor);
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
    double position[3 * 41], *factor = malloc((size_t)sn_model_njoint(t->model) * sizeof *factor);
    sn_fit_frame frames[6];
    sn_fit_marker markers[41];
    sn_motion *motion;
    assert_non_null(factor);
    assert_int_equal(sn_fit_match(t->model, part, NULL, column), 41);
    assert_int_equal(sn_motion_create(6, sn_model_nq(t->model), 1, 120, NULL, &motion, NULL),
                     SN_OK);
    sn_fit_input in = {.model = t->model,
                       .recording = part,
                       .column = column,
                       .axes = sn_axis_map_identity(),
                       .count = 6};
    sn_calibrate_options o = wanted(true);
    o.iterations = 1;
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
                status = sn_calibrate(&in, &o, &a.base, position, factor, &report, &error);
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
    free(factor);
    sn_motion_destroy(motion);
    sn_recording_destroy(part);
}

static void refused(void **state) {
    example_take *t = *state;
    int column[41];
    double position[3 * 41];
    sn_calibrate_report report;
    sn_error error = {0};
    assert_int_equal(sn_fit_match(t->model, t->recording, NULL, column), 41);
    sn_fit_input in = {.model = t->model,
                       .recording = t->recording,
                       .column = column,
                       .axes = sn_axis_map_identity()};
    sn_calibrate_options o = wanted(true);
    assert_int_equal(sn_calibrate(&in, NULL, NULL, position, NULL, &report, &error),
                     SN_ERR_ARGUMENT);  // no frames
    in.count = 10;
    assert_int_equal(sn_calibrate(&in, &o, NULL, position, NULL, &report, &error),
                     SN_ERR_ARGUMENT);  // no factors
    o.scale = false;
    o.version = 9;
    assert_int_equal(sn_calibrate(&in, &o, NULL, position, NULL, &report, &error), SN_ERR_ARGUMENT);
    // nobody there
    uint64_t random = 1;
    sn_recording *empty = recording_cut(t->recording, 0, 10);
    spoil_gaps(empty, 1, &random);
    in.recording = empty;
    o = wanted(false);
    assert_int_equal(sn_calibrate(&in, &o, NULL, position, NULL, &report, &error), SN_ERR_VALUE);
    assert_non_null(strstr(error.text, "no frame has markers"));
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
    sn_calibrate_report report;
    sn_calibrate_options o = wanted(false);
    o.cancel = (sn_cancel){at_once, NULL};
    assert_int_equal(sn_fit_match(t->model, t->recording, NULL, column), 41);
    sn_fit_input in = {.model = t->model,
                       .recording = t->recording,
                       .column = column,
                       .axes = sn_axis_map_identity(),
                       .count = t->nframe};
    assert_int_equal(sn_calibrate(&in, &o, NULL, position, NULL, &report, NULL), SN_OK);
    assert_true(report.cancelled && report.iterations <= 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_equations), cmocka_unit_test(offsets_found),
        cmocka_unit_test(lengths_found),    cmocka_unit_test(spoiled),
        cmocka_unit_test(weights),          cmocka_unit_test(memory_fails),
        cmocka_unit_test(refused),          cmocka_unit_test(cancelled),
    };
    return cmocka_run_group_tests(tests, example_begin, example_end);
}
