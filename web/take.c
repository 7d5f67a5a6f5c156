// SPDX-License-Identifier: MIT
// Takes: a motion, measured markers, or both.
//
// Where a take has both, each marker belongs to the joint in whose frame it moves least; its mean
// place there is the fitted marker. `sinew fit` writes a take with every marker twice, as
// "measured:NAME" and "fitted:NAME": then the fitted one says where it sits. A GLB file has the
// fitted ones as its figure's markers. Where a take has markers only, they are put onto the figure
// (its own markers of the same names, or the usual full-body set), the figure's bones get their
// lengths, and its poses are fitted, some frames at a time.
#include "take.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

take the_take;

static void release(take *t) {
    sn_motion_destroy(t->motion);
    sn_recording_destroy(t->recording);
    free(t->joint), free(t->local), free(t->places), free(t->column);
    *t = (take){0};
}

void take_forget(void) { release(&the_take); }
void web_take_close(void) { take_forget(); }

static int nmeasured(const take *t) {
    return t->recording != NULL ? sn_recording_get_info(t->recording)->nframe : 0;
}

int web_take_frames(void) {
    return the_take.motion != NULL ? sn_motion_nframe(the_take.motion) : 0;
}
int web_take_markers(void) { return the_take.nmarker; }

double web_take_rate(void) {
    double rate = the_take.motion != NULL ? sn_motion_rate(the_take.motion) : 0;
    if (!(rate > 0) && the_take.recording != NULL)
        rate = sn_recording_get_info(the_take.recording)->rate;
    return rate > 0 ? rate : 120;
}

void web_take_pose(double frame) {
    int n = the_take.fitted;
    if (n == 0) return;
    double at = frame < 0 ? 0 : frame > n - 1 ? n - 1 : frame;
    int k = (int)at, next = k + 1 < n ? k + 1 : k;
    web_blend(sn_motion_frame(the_take.motion, k), sn_motion_frame(the_take.motion, next), at - k,
              the.q);
}

// -- where markers sit

// Count the markers: all of the recording, or the first half where the second is the fitted ones.
static void count_markers(take *t) {
    int n = sn_recording_get_info(t->recording)->nmarker, half = n / 2;
    t->pairs = n > 0 && n % 2 == 0;
    for (int m = 0; t->pairs && m < half; m++) {
        const char *seen = sn_recording_label(t->recording, m),
                   *fitted = sn_recording_label(t->recording, half + m);
        t->pairs = strncmp(seen, "measured:", 9) == 0 && strncmp(fitted, "fitted:", 7) == 0 &&
                   strcmp(seen + 9, fitted + 7) == 0;
    }
    t->nmarker = t->pairs ? half : n;
}

static sn_status allocate_markers(take *t) {
    size_t n = (size_t)t->nmarker + 1;
    t->joint = calloc(n, sizeof *t->joint);
    t->local = calloc(3 * n, sizeof *t->local);
    t->places = calloc(6 * n, sizeof *t->places);
    return t->joint != NULL && t->local != NULL && t->places != NULL ? SN_OK : SN_ERR_MEMORY;
}

static void attach(take *t, const sn_model *model, const sn_marker_set *set) {
    for (int m = 0; m < t->nmarker; m++) {
        const char *label = sn_recording_label(t->recording, m), *name = sn_label_name(label);
        t->joint[m] = -1;
        for (int i = 0; i < sn_marker_set_count(set) && t->joint[m] < 0; i++) {
            const sn_marker_place *place = sn_marker_set_place(set, i);
            if (strcmp(place->name, name) != 0 && strcmp(place->name, label) != 0) continue;
            t->joint[m] = sn_model_find_joint(model, place->joint);
            memcpy(t->local + 3 * m, place->position, sizeof place->position);
        }
    }
}

enum { LOOKS = 48 };

static int look_frame(const take *t, int look) {
    int n = sn_motion_nframe(t->motion) < nmeasured(t) ? sn_motion_nframe(t->motion) : nmeasured(t);
    return (int)((double)look * (n - 1) / (LOOKS - 1));
}

// Mean and spread of a marker in a joint's frame; the spread infinite when it was hardly seen.
static double spread_on(const take *t, const sn_frame *frames, int njoint, int joint, int marker,
                        double mean[3]) {
    sn_vec3 sum = {0, 0, 0};
    double square = 0;
    int seen = 0, column = t->pairs ? t->nmarker + marker : marker;
    for (int look = 0; look < LOOKS; look++) {
        double p[3];
        sn_axis_map_point(&t->axes,
                          sn_recording_frame(t->recording, look_frame(t, look)) + 3 * column, p);
        if (!isfinite(p[0])) continue;
        const sn_frame *f = &frames[look * njoint + joint];
        sn_vec3 l = m3_tmul(&f->R, v3_sub((sn_vec3){p[0], p[1], p[2]}, f->p));
        sum = v3_add(sum, l);
        square += v3_dot(l, l);
        seen++;
    }
    if (seen < 8) return INFINITY;
    sum = v3_scale(1.0 / seen, sum);
    mean[0] = sum.x, mean[1] = sum.y, mean[2] = sum.z;
    return sqrt(fmax(square / seen - v3_dot(sum, sum), 0));
}

// Every marker to the joint in whose frame it moves least; the mean of how much, metres. What moves
// more than 15 cm in every frame belongs to none.
static double attach_learned(take *t, const sn_frame *frames) {
    int njoint = sn_model_njoint(the.base), sure = 0;
    double total = 0;
    for (int m = 0; m < t->nmarker; m++) {
        double best = 0.15, mean[3];
        t->joint[m] = -1;
        for (int j = 0; j < njoint; j++) {
            double spread = spread_on(t, frames, njoint, j, m, mean);
            if (!(spread < best)) continue;
            best = spread;
            t->joint[m] = j;
            memcpy(t->local + 3 * m, mean, sizeof mean);
        }
        if (t->joint[m] < 0) continue;
        total += best;
        sure++;
    }
    return 2 * sure > t->nmarker ? total / sure : INFINITY;
}

// The recording's axes are not known: of the three cyclic ones, the one in which the markers move
// least on the joints.
static sn_status learn(take *t) {
    static const char *const turns[3] = {"xyz", "yzx", "zxy"};
    int njoint = sn_model_njoint(the.base), best = 0;
    double least = INFINITY;
    sn_frame *frames = malloc((size_t)njoint * LOOKS * sizeof *frames);
    if (frames == NULL) return SN_ERR_MEMORY;
    for (int look = 0; look < LOOKS; look++) {
        (void)sn_workspace_pose(the.probe, sn_motion_frame(t->motion, look_frame(t, look)));
        for (int j = 0; j < njoint; j++)
            frames[look * njoint + j] = sn_workspace_frame(the.probe, j);
    }
    for (int i = 0; i < 3; i++) {
        (void)sn_axis_map_parse(turns[i], &t->axes);
        double spread = attach_learned(t, frames);
        if (spread < least) least = spread, best = i;
    }
    (void)sn_axis_map_parse(turns[best], &t->axes);
    (void)attach_learned(t, frames);
    free(frames);
    return SN_OK;
}

// Where the markers sit on a figure that moves: as its own markers say, when the recording is in
// its world already, else as they move.
static sn_status place_markers(take *t, bool here) {
    sn_marker_set *set;
    if (!here || sn_model_nmarker(the.base) == 0) return learn(t);
    sn_status status = sn_marker_set_of_model(the.base, NULL, &set);
    if (status != SN_OK) return status;
    attach(t, the.base, set);
    sn_marker_set_destroy(set);
    return SN_OK;
}

// -- fitting

static sn_status usual_markers(const take *t, sn_model **out, sn_error *error) {
    sn_marker_set *set;
    sn_status status = sn_marker_set_builtin(the.base, t->recording, NULL, &set, error);
    size_t used = strlen(error->text);
    if (status == SN_ERR_MODEL)
        (void)snprintf(error->text + used, sizeof error->text - used,
                       "; drop the motion that belongs to them with them");
    if (status != SN_OK) return status;
    status = sn_marker_set_apply(set, the.base, SN_LIMITS_OFF, NULL, NULL, out, error);
    sn_marker_set_destroy(set);
    return status;
}

static sn_status own_markers(sn_model **out, sn_error *error) {
    sn_marker_set *set;
    sn_status status = sn_marker_set_of_model(the.base, NULL, &set);
    if (status != SN_OK) return status;
    status = sn_marker_set_apply(set, the.base, SN_LIMITS_OFF, NULL, NULL, out, error);
    sn_marker_set_destroy(set);
    return status;
}

// Give the figure the lengths of who wore the markers.
static sn_status calibrated(const take *t, const sn_model *model, const int *column, sn_model **out,
                            sn_error *error) {
    size_t count = (size_t)sn_model_nmarker(model);
    double *position = calloc(3 * count, sizeof *position),
           *factor = calloc((size_t)sn_model_njoint(model), sizeof *factor);
    sn_marker_place *places = calloc(count, sizeof *places);
    sn_fit_input input = {model, t->recording, column, t->axes, 0, nmeasured(t)};
    sn_calibrate_options options = sn_calibrate_options_default();
    sn_calibrate_report report;
    sn_marker_set *set = NULL, *placed = NULL;
    options.scale = true;
    options.frames = 40;
    sn_status status = SN_ERR_MEMORY;
    if (position != NULL && factor != NULL && places != NULL)
        status = sn_calibrate(&input, &options, NULL, position, factor, &report, error);
    if (status == SN_OK) status = sn_marker_set_of_model(model, NULL, &set);
    if (status == SN_OK) {
        for (size_t i = 0; i < count; i++) {
            places[i] = *sn_marker_set_place(set, (int)i);
            memcpy(places[i].position, position + 3 * i, sizeof places[i].position);
            places[i].placed = true;
        }
        status = sn_marker_set_create(sn_model_name(model), places, (int)count, NULL, &placed);
    }
    if (status == SN_OK)
        status = sn_marker_set_apply(placed, model, SN_LIMITS_OFF, factor, NULL, out, error);
    sn_marker_set_destroy(set);
    sn_marker_set_destroy(placed);
    free(position), free(factor), free(places);
    return status;
}

// A figure made for these markers, and all that the fit of its frames needs.
static sn_status prepare(take *t, sn_model **figure, sn_error *error) {
    sn_model *marked = NULL;
    sn_axes_report axes;
    *figure = NULL;
    t->column =
        calloc((size_t)(sn_model_nmarker(the.base) > 128 ? sn_model_nmarker(the.base) : 128),
               sizeof *t->column);
    if (t->column == NULL) return SN_ERR_MEMORY;
    sn_status status = SN_OK;
    // the figure's own markers where they are the recording's
    bool own = sn_model_nmarker(the.base) > 0 &&
               sn_fit_match(the.base, t->recording, NULL, t->column) >= 6;
    status = own ? own_markers(&marked, error) : usual_markers(t, &marked, error);
    if (status != SN_OK) return status;
    if (sn_fit_match(marked, t->recording, NULL, t->column) < 6) {
        set_message(error, "these markers are not this figure's: drop its skeleton or its motion "
                           "with them");
        status = SN_ERR_VALUE;
    }
    if (status == SN_OK) status = sn_axes_find(marked, t->recording, 1, 1, NULL, &axes);
    if (status == SN_OK) {
        t->axes = axes.map;
        status = calibrated(t, marked, t->column, figure, error);
    }
    sn_model_destroy(marked);
    if (status == SN_OK)
        status = sn_motion_create(nmeasured(t), sn_model_nq(*figure), 1,
                                  sn_recording_get_info(t->recording)->rate, NULL, &t->motion);
    return status;
}

static sn_status fit_some(int frames) {
    const sn_model *m = the.base;
    int first = the_take.fitted;
    sn_fit_options options = sn_fit_options_default();
    sn_fit_summary summary;
    sn_fit_input input = {m, the_take.recording, the_take.column, the_take.axes, first, frames};
    sn_fit_frame *reports = calloc((size_t)frames, sizeof *reports);
    sn_fit_marker *markers = calloc((size_t)sn_model_nmarker(m), sizeof *markers);
    sn_motion *some = NULL;
    options.limits = SN_LIMITS_OFF;
    sn_status status = reports != NULL && markers != NULL ? SN_OK : SN_ERR_MEMORY;
    if (status == SN_OK)
        status = sn_motion_create(frames, sn_model_nq(m), 1, web_take_rate(), NULL, &some);
    if (status == SN_OK)
        status = sn_fit_run(&input, &options, NULL, some, reports, markers, &summary, NULL);
    for (int i = 0; i < frames && status == SN_OK; i++)
        memcpy(sn_motion_edit(the_take.motion, first + i), sn_motion_frame(some, i),
               (size_t)sn_model_nq(m) * sizeof(double));
    sn_motion_destroy(some);
    free(reports), free(markers);
    return status;
}

int web_take_fit(int frames) {
    int left = web_take_frames() - the_take.fitted;
    if (frames > left) frames = left;
    if (frames <= 0) return the_take.fitted;
    if (fit_some(frames) != SN_OK) return -1;
    return the_take.fitted += frames;
}

// -- opening

sn_status take_motion(sn_motion *motion) {
    if (sn_motion_nq(motion) != sn_model_nq(the.base) || sn_motion_nframe(motion) < 1) {
        sn_motion_destroy(motion);
        return SN_ERR_VALUE;
    }
    sn_motion_destroy(the_take.motion);
    free(the_take.column);
    the_take.column = NULL;
    the_take.motion = motion;
    the_take.fitted = sn_motion_nframe(motion);
    if (the_take.recording != NULL) (void)learn(&the_take);
    return SN_OK;
}

sn_status take_recording(sn_recording *recording, bool here, bool *figure, sn_error *error) {
    take next = {.recording = recording, .axes = sn_axis_map_identity()};
    count_markers(&next);
    sn_model *model = NULL;
    // a motion that was not fitted to other markers stays
    bool known = the_take.motion != NULL && the_take.column == NULL;
    sn_status status =
        nmeasured(&next) > 0 && next.nmarker > 0 ? allocate_markers(&next) : SN_ERR_VALUE;
    if (status == SN_ERR_VALUE) set_message(error, "there is no marker in this file");
    if (status == SN_OK && known) {
        next.motion = the_take.motion;
        status = place_markers(&next, here);
    } else if (status == SN_OK) {
        status = prepare(&next, &model, error);
    }
    *figure = status == SN_OK && model != NULL;
    if (status != SN_OK) {
        if (known) next.motion = NULL;
        release(&next);
        sn_model_destroy(model);
        return status;
    }
    if (known) {
        next.fitted = the_take.fitted;
        the_take.motion = NULL;
    }
    take_forget();
    if (model != NULL) status = (sn_status)stage_take_model(model, NULL);
    if (status == SN_OK && model != NULL) {
        sn_marker_set *set;
        status = sn_marker_set_of_model(the.base, NULL, &set);
        if (status == SN_OK) attach(&next, the.base, set);
        if (status == SN_OK) sn_marker_set_destroy(set);
    }
    the_take = next;
    return status;
}

const float *web_take_places(double frame) {
    take *t = &the_take;
    int n = nmeasured(t), k = (int)floor(frame + 0.5);
    k = k < 0 ? 0 : k >= n ? n - 1 : k;
    (void)sn_workspace_pose(the.probe, the.q);
    for (int m = 0; m < t->nmarker; m++) {
        double seen[3];
        sn_vec3 f = {NAN, NAN, NAN};
        sn_axis_map_point(&t->axes, sn_recording_frame(t->recording, k) + 3 * m, seen);
        if (t->joint[m] >= 0) f = sn_workspace_point(the.probe, t->joint[m], t->local + 3 * m);
        const double all[6] = {seen[0], seen[1], seen[2], f.x, f.y, f.z};
        for (int c = 0; c < 6; c++) t->places[6 * m + c] = (float)all[c];
    }
    return t->places;
}
