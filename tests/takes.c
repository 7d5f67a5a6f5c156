// SPDX-License-Identifier: MIT
#include "takes.h"

#include "take/marker_set.h"

void example_take_create(example_take *t, uint64_t seed) {
    assert_int_equal(sn_model_humanoid(NULL, &t->model, NULL), SN_OK);
    assert_int_equal(sn_example_motion(t->model, NULL, &t->truth, NULL), SN_OK);
    assert_int_equal(sn_example_subject(seed, NULL, &t->subject, NULL), SN_OK);
    assert_int_equal(sn_example_recording(t->subject, t->truth, seed, NULL, &t->recording, NULL),
                     SN_OK);
    t->nframe = sn_motion_nframe(t->truth);
}

void example_take_destroy(example_take *t) {
    sn_recording_destroy(t->recording);
    sn_motion_destroy(t->truth);
    sn_model_destroy(t->subject);
    sn_model_destroy(t->model);
}

int example_begin(void **state) {
    static example_take take;
    example_take_create(&take, 1);
    *state = &take;
    return 0;
}

int example_end(void **state) {
    example_take_destroy(*state);
    return 0;
}

static sn_recording *same_labels(const sn_recording *recording, const sn_recording_info *info) {
    const char **labels = malloc((size_t)(info->nmarker + 1) * sizeof *labels);
    sn_recording *out;
    assert_non_null(labels);
    for (int i = 0; i < info->nmarker; i++) labels[i] = sn_recording_label(recording, i);
    assert_int_equal(sn_recording_create(info, labels, NULL, &out, NULL), SN_OK);
    free(labels);
    return out;
}

sn_recording *recording_cut(const sn_recording *recording, int first, int count) {
    sn_recording_info info = *sn_recording_about(recording);
    info.first_frame += first;
    info.nframe = count;
    sn_recording *out = same_labels(recording, &info);
    for (int f = 0; f < count; f++)
        memcpy(sn_recording_edit(out, f), sn_recording_frame(recording, first + f),
               (size_t)info.nmarker * 3 * sizeof(double));
    return out;
}

sn_recording *recording_turned(const sn_recording *recording, const sn_axis_map *map,
                               const sn_recording_info *info) {
    sn_recording *out = same_labels(recording, info);
    for (int f = 0; f < info->nframe; f++)
        for (int m = 0; m < info->nmarker; m++)
            sn_axis_map_point(map, sn_recording_frame(recording, f) + 3 * m,
                              sn_recording_edit(out, f) + 3 * m);
    return out;
}

void spoil_gaps(sn_recording *recording, double part, uint64_t *state) {
    const sn_recording_info *info = sn_recording_about(recording);
    for (int f = 0; f < info->nframe; f++)
        for (int m = 0; m < info->nmarker; m++)
            for (int c = 0, gone = sn_random(state) < part; gone && c < 3; c++)
                sn_recording_edit(recording, f)[3 * m + c] = NAN;
}

void spoil_throw(sn_recording *recording, double part, double distance, uint64_t *state) {
    const sn_recording_info *info = sn_recording_about(recording);
    for (int f = 0; f < info->nframe; f++)
        for (int m = 0; m < info->nmarker; m++) {
            if (sn_random(state) >= part) continue;
            double d[3], norm = 0;
            while (norm < 0.1 || norm > 1) {
                for (int c = 0; c < 3; c++) d[c] = uniform(state, -1, 1);
                norm = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            }
            for (int c = 0; c < 3; c++)
                sn_recording_edit(recording, f)[3 * m + c] += distance * d[c] / norm;
        }
}

void spoil_swap(sn_recording *recording, double part, uint64_t *state) {
    const sn_recording_info *info = sn_recording_about(recording);
    for (int f = 0; f < info->nframe; f++)
        // two samples are wrong for each swap
        for (int m = 0; m < info->nmarker; m++) {
            if (sn_random(state) >= part / 2) continue;
            double *x = sn_recording_edit(recording, f), t[3];
            int other = below(state, info->nmarker);
            memcpy(t, x + 3 * m, sizeof t);
            memcpy(x + 3 * m, x + 3 * other, sizeof t);
            memcpy(x + 3 * other, t, sizeof t);
        }
}

static sn_model *reshaped(const sn_model *model, const double *position, const sn_mat3 *stretch) {
    sn_marker_set *set = NULL, *moved = NULL;
    sn_model *out = NULL;
    assert_int_equal(sn_marker_set_of_model(model, NULL, &set, NULL), SN_OK);
    int n = sn_marker_set_count(set);
    sn_marker_place *places = malloc((size_t)(n + 1) * sizeof *places);
    assert_non_null(places);
    for (int i = 0; i < n; i++) {
        places[i] = *sn_marker_set_place(set, i);
        if (position != NULL) memcpy(places[i].position, position + 3 * i, 3 * sizeof(double));
    }
    assert_int_equal(sn_marker_set_create("set", places, n, NULL, &moved, NULL), SN_OK);
    assert_int_equal(
        sn_marker_set_stretch(moved, model, SN_LIMITS_OFF, NULL, stretch, NULL, &out, NULL), SN_OK);
    sn_marker_set_destroy(set);
    sn_marker_set_destroy(moved);
    free(places);
    return out;
}

// As a take has them: of the built-in set where the markers are still there, else by the names.
static void find_doubts(const sn_model *model, const sn_recording *recording, double *doubt) {
    sn_marker_set *set = NULL;
    (void)sn_marker_set_builtin(model, recording, NULL, &set, NULL);
    for (int i = 0; i < sn_model_nmarker(model); i++) {
        const sn_marker_desc *m = sn_model_marker(model, i);
        doubt[i] = sn_doubt_of_name(m->name);
        for (int k = 0; k < sn_marker_set_count(set); k++) {
            const sn_marker_place *p = sn_marker_set_place(set, k);
            if (strcmp(p->name, m->name) == 0 && fabs(p->position[0] - m->position[0]) < 1e-9)
                doubt[i] = p->doubt;
        }
    }
    sn_marker_set_destroy(set);
}

fitted fit_of(const sn_model *model, const sn_recording *recording, const sn_axis_map *axes,
              const sn_calibrate_options *wanted, const sn_fit_options *options) {
    const sn_recording_info *info = sn_recording_about(recording);
    fitted r = {.model = reshaped(model, NULL, NULL)};
    int n = sn_model_nmarker(model);
    sn_error error = {0};
    r.column = malloc((size_t)(n + 1) * sizeof *r.column);
    r.frames = malloc((size_t)info->nframe * sizeof *r.frames);
    r.markers = malloc((size_t)(n + 1) * sizeof *r.markers);
    assert_true(r.column != NULL && r.frames != NULL && r.markers != NULL);
    assert_true(sn_fit_match(r.model, recording, NULL, r.column) >= 0);
    r.input = (sn_fit_input){.model = r.model,
                             .recording = recording,
                             .column = r.column,
                             .axes = axes != NULL ? *axes : sn_axis_map_identity(),
                             .count = info->nframe};
    if (wanted != NULL) {
        double *position = malloc((size_t)(n + 1) * 3 * sizeof *position);
        sn_mat3 *stretch = malloc((size_t)sn_model_njoint(model) * sizeof *stretch);
        assert_true(position != NULL && stretch != NULL);
        // as a take has it: with the limits that the model came with
        sn_fit_input limited = r.input;
        sn_calibrate_options known = *wanted;
        double *doubt = malloc((size_t)(n + 1) * sizeof *doubt);
        assert_non_null(doubt);
        find_doubts(model, recording, doubt);
        limited.model = model;
        known.doubt = doubt;
        if (sn_calibrate(&limited, &known, NULL, position, stretch, &r.calibration, &error) !=
            SN_OK)
            fail_msg("%s", error.text);
        sn_model_destroy(r.model);
        r.input.model = r.model = reshaped(model, position, wanted->scale ? stretch : NULL);
        free(doubt);
        free(position);
        free(stretch);
    }
    sn_fit_options o = options != NULL ? *options : sn_fit_options_default();
    if (options == NULL) {
        // as the program has them
        o.track.solver.gradient = 1e-7;
        o.track.solver.max_iterations = 100;
    }
    assert_int_equal(sn_motion_create(info->nframe, sn_model_nq(model), info->first_frame,
                                      info->rate, NULL, &r.motion, NULL),
                     SN_OK);
    if (sn_fit_run(&r.input, &o, NULL, r.motion, r.frames, r.markers, &r.summary, &error) != SN_OK)
        fail_msg("%s", error.text);
    return r;
}

void fitted_free(fitted *r) {
    sn_motion_destroy(r->motion);
    sn_model_destroy(r->model);
    free(r->markers);
    free(r->frames);
    free(r->column);
}

double plain_rms(const sn_model *model, const sn_motion *motion, const sn_recording *recording,
                 const int *column, const sn_axis_map *axes, int first, int step) {
    sn_problem *problem;
    sn_workspace *ws;
    double square = 0;
    long count = 0;
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    for (int f = first; f < sn_motion_nframe(motion); f += step) {
        assert_int_equal(sn_workspace_pose(ws, sn_motion_frame(motion, f)), SN_OK);
        for (int i = 0; i < sn_model_nmarker(model); i++) {
            const sn_marker_desc *d = sn_model_marker(model, i);
            if (column[i] < 0 || !sn_recording_present(recording, f, column[i])) continue;
            const double *x = sn_recording_frame(recording, f) + 3 * column[i];
            sn_frame frame = sn_workspace_frame(ws, d->joint);
            const double p[3] = {frame.p.x, frame.p.y, frame.p.z};
            for (int c = 0; c < 3; c++) {
                double at = p[c];
                for (int k = 0; k < 3; k++) at += (&frame.R.c[k].x)[c] * d->position[k];
                double goal = axes->scale * axes->sign[c] * x[axes->axis[c]];
                square += (goal - at) * (goal - at);
            }
            count++;
        }
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return sqrt(square / (double)(count > 0 ? count : 1));
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median_angle(const sn_model *model, const sn_motion *a, const sn_motion *b) {
    int nv = sn_model_nv(model), n = sn_motion_nframe(a);
    size_t count = 0;
    double *all = malloc((size_t)n * (size_t)nv * sizeof *all), *d = malloc((size_t)nv * sizeof *d);
    assert_true(all != NULL && d != NULL);
    for (int f = 0; f < n; f++) {
        sn_model_difference(model, sn_motion_frame(a, f), sn_motion_frame(b, f), d);
        // without the root's place
        for (int v = 3; v < nv; v++) all[count++] = fabs(d[v]);
    }
    qsort(all, count, sizeof *all, by_size);
    double median = all[count / 2] * 57.29577951308232;
    free(all);
    free(d);
    return median;
}

sn_model *with_builtin(const sn_model *model, const sn_recording *recording) {
    sn_marker_set *set;
    sn_model *out;
    sn_error error = {0};
    if (sn_marker_set_builtin(model, recording, NULL, &set, &error) != SN_OK)
        fail_msg("%s", error.text);
    assert_int_equal(sn_marker_set_apply(set, model, SN_LIMITS_HARD, NULL, NULL, &out, &error),
                     SN_OK);
    sn_marker_set_destroy(set);
    return out;
}

sn_document read_clip(const char *name) {
    sn_document out = {0};
    sn_error error = {0};
    size_t length;
    sn_document_options o = sn_document_options_default();
    o.use_limits = true;
    const char *path = data_path(name);
    if (path == NULL) return out;
    char *bytes = slurp(path, &length);
    if (sn_document_read(bytes, length, path, &o, NULL, &out, &error) != SN_OK)
        fail_msg("%s: %s", name, error.text);
    free(bytes);
    return out;
}
