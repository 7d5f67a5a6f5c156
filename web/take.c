// SPDX-License-Identifier: MIT
// Takes: a motion, measured markers, or both.
//
// Where a take has both, the library learns from the motion where each marker sits. `sinew fit`
// writes a take with every marker twice, as "measured:NAME" and "fitted:NAME": then the fitted one
// says where it sits. A GLB file has the fitted ones as its figure's markers. Where a take has
// markers only, the library's take fits the figure to them, bones' lengths included, as `sinew fit
// --calibrate=scale` does.
#include "take.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

take the_take;

static void release(take *t) {
    sn_take_destroy(t->fit);
    sn_model_destroy(t->source);
    sn_skeleton_destroy(t->source_file);
    sn_osim_coordinates_destroy(t->coordinates);
    sn_motion_destroy(t->motion);
    sn_recording_destroy(t->recording);
    free(t->joint), free(t->local), free(t->places);
    *t = (take){0};
}

void take_forget(void) { release(&the_take); }
void web_take_close(void) { take_forget(); }

static int nmeasured(const take *t) {
    return t->recording != NULL ? sn_recording_about(t->recording)->nframe : 0;
}

const sn_motion *take_poses(void) {
    return the_take.fit != NULL ? sn_take_motion(the_take.fit) : the_take.motion;
}

int web_take_frames(void) {
    const sn_motion *poses = take_poses();
    return poses != NULL ? sn_motion_nframe(poses) : 0;
}

const double *web_take_poses(void) {
    const sn_motion *poses = take_poses();
    return poses != NULL ? sn_motion_frame(poses, 0) : NULL;
}

int web_take_markers(void) { return the_take.nmarker; }

double web_take_rate(void) {
    const sn_motion *poses = take_poses();
    double rate = poses != NULL ? sn_motion_rate(poses) : 0;
    if (!(rate > 0) && the_take.recording != NULL)
        rate = sn_recording_about(the_take.recording)->rate;
    return rate > 0 ? rate : 120;
}

static int solved(void) {
    return the_take.fit != NULL ? sn_take_solved(the_take.fit) : web_take_frames();
}

void web_take_pose(double frame) {
    int n = solved();
    if (n == 0) return;
    double at = frame < 0 ? 0 : frame > n - 1 ? n - 1 : frame;
    int k = (int)at, next = k + 1 < n ? k + 1 : k;
    web_blend(sn_motion_frame(take_poses(), k), sn_motion_frame(take_poses(), next), at - k, the.q);
}

// -- where markers sit

// Count the markers: all of the recording, or the first half where the second is the fitted ones.
static void count_markers(take *t) {
    int n = sn_recording_about(t->recording)->nmarker, half = n / 2;
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

// The recording whose markers say where they sit: the fitted half of pairs.
static sn_status placed_markers(const take *t, sn_recording **out) {
    sn_recording_info info = *sn_recording_about(t->recording);
    int skipped = t->pairs ? t->nmarker : 0;
    const char **labels = calloc((size_t)t->nmarker, sizeof *labels);
    if (labels == NULL) return SN_ERR_MEMORY;
    for (int m = 0; m < t->nmarker; m++) labels[m] = sn_recording_label(t->recording, skipped + m);
    info.nmarker = t->nmarker;
    sn_status status = sn_recording_create(&info, labels, NULL, out, NULL);
    for (int f = 0; status == SN_OK && f < info.nframe; f++)
        memcpy(sn_recording_edit(*out, f), sn_recording_frame(t->recording, f) + 3 * skipped,
               3 * (size_t)t->nmarker * sizeof(double));
    free(labels);
    return status;
}

// How the recording lies against a figure that moves, and where its markers sit: as they move.
static sn_status learn(take *t, const sn_motion *motion) {
    sn_recording *from = NULL;
    sn_marker_set *set = NULL;
    sn_lesson lesson;
    sn_learn_options options = sn_learn_options_default();
    // shown as they are, frame beside frame, however likely that is
    options.unclear = options.has_offset = true;
    sn_status status = placed_markers(t, &from);
    if (status == SN_OK) {
        status =
            sn_marker_set_learn(the.base, motion, from, &options, NULL, &set, NULL, &lesson, NULL);
        t->axes = lesson.axes;
    }
    // nobody knows where they sit: they are shown as they were measured
    if (status != SN_OK && status != SN_ERR_MEMORY) status = SN_OK;
    for (int m = 0; m < t->nmarker; m++) t->joint[m] = -1;
    if (set != NULL) attach(t, the.base, set);
    sn_marker_set_destroy(set);
    sn_recording_destroy(from);
    return status;
}

// Where the markers sit on a figure that moves: as its own markers say, when the recording is in
// its world already, else as they move.
static sn_status place_markers(take *t, const sn_motion *motion, bool here) {
    sn_marker_set *set;
    if (!here || sn_model_nmarker(the.base) == 0) return learn(t, motion);
    sn_status status = sn_marker_set_of_model(the.base, NULL, &set, NULL);
    if (status != SN_OK) return status;
    attach(t, the.base, set);
    sn_marker_set_destroy(set);
    return SN_OK;
}

// -- fitting

// The sentence of a finding, kept until the next.
static const char *sentence(take *t, int i) {
    (void)sn_take_sentence(t->fit, i, SN_VOICE_PAGE, t->text, sizeof t->text);
    return t->text;
}

static void tell(void *user, const sn_take_progress *p) {
    (void)user;
    if (p->stage == SN_STAGE_CALIBRATE) page_progress(p->fraction);
}

// Who can be chosen, where a recording was refused because there are several.
static struct {
    int n;
    char name[SUBJECTS][SUBJECT];
} subjects;

void take_no_subjects(void) { subjects.n = 0; }
int web_nsubject(void) { return subjects.n; }

const char *web_subject(int subject) {
    return subject >= 0 && subject < subjects.n ? subjects.name[subject] : "";
}

static void keep_subjects(const sn_recording *recording) {
    sn_subject all[SUBJECTS];
    int count = 0;
    if (sn_take_subjects(the.base, recording, NULL, all, SUBJECTS, &count, NULL) != SN_OK) return;
    for (int i = 0; i < count && i < SUBJECTS; i++)
        if (all[i].length < SUBJECT)
            (void)snprintf(subjects.name[subjects.n++], SUBJECT, "%.*s", all[i].length,
                           all[i].name);
}

// Where the markers that are fitted sit.
static void attach_fitted(take *t, const sn_model *figure) {
    for (int m = 0; m < t->nmarker; m++) t->joint[m] = -1;
    for (int i = 0; i < sn_model_nmarker(figure); i++) {
        const sn_marker_desc *d = sn_model_marker(figure, i);
        int m = sn_take_column(t->fit, i);
        if (m < 0 || m >= t->nmarker) continue;
        t->joint[m] = d->joint;
        memcpy(t->local + (ptrdiff_t)3 * m, d->position, sizeof d->position);
    }
}

// The figure fitted to the markers, ready for its frames; *figure is a copy of it for the stage.
static sn_status prepare(take *t, sn_model **figure, sn_error *error) {
    sn_take_options o = sn_take_options_default();
    sn_marker_set *set = NULL;
    *figure = NULL;
    // the figure gets the lengths of who wore the markers
    o.calibrate = SN_CALIBRATE_SCALE;
    // no own_motion: markers beside a motion are shown as they are, and nothing is fitted
    o.progress = tell;
    // with them the ranges of an OpenSim file hold, as in `sinew fit`
    o.coordinates = the.coordinates;
    if (t->subject[0] != '\0') o.subject = t->subject;
    if (the.skeleton != NULL &&
        !sn_axis_parse(sn_skeleton_up_axis(the.skeleton), &o.model_up, &o.model_up_sign))
        o.model_up = 1, o.model_up_sign = 1;
    sn_status status = sn_take_create(the.base, t->recording, &o, NULL, &t->fit, error);
    if (status != SN_OK) return status;
    status = sn_take_prepare(t->fit);
    int last = sn_take_nfinding(t->fit) - 1;
    if (status != SN_OK && status != SN_ERR_MEMORY && last >= 0) {
        set_message(error, sentence(t, last));
        if (sn_take_finding(t->fit, last)->code == SN_FINDING_SUBJECTS_SEVERAL)
            keep_subjects(t->recording);
    }
    if (status != SN_OK) return status;
    t->axes = sn_take_about(t->fit)->axes.map;
    status = sn_marker_set_of_model(sn_take_model(t->fit), NULL, &set, NULL);
    if (status == SN_OK)
        status = sn_marker_set_apply(set, sn_take_model(t->fit), SN_LIMITS_OFF, NULL, NULL, figure,
                                     error);
    if (status == SN_OK) attach_fitted(t, *figure);
    sn_marker_set_destroy(set);
    return status;
}

int web_take_fit(int frames) {
    if (the_take.fit != NULL && frames > 0 && solved() < web_take_frames() &&
        sn_take_solve(the_take.fit, frames) != SN_OK)
        return -1;
    return solved();
}

int web_take_finish(void) {
    bool left = the_take.fit != NULL && sn_take_frames(the_take.fit) == NULL;
    return left ? (int)sn_take_finish(the_take.fit) : SN_OK;
}

int web_take_nfinding(void) { return the_take.fit != NULL ? sn_take_nfinding(the_take.fit) : 0; }

int web_take_severity(int finding) {
    const sn_finding *f = the_take.fit != NULL ? sn_take_finding(the_take.fit, finding) : NULL;
    return f != NULL ? (int)f->severity : -1;
}

const char *web_take_finding(int finding) {
    return finding >= 0 && finding < web_take_nfinding() ? sentence(&the_take, finding) : "";
}

// -- opening

sn_status take_motion(sn_motion *motion) {
    if (sn_motion_nq(motion) != sn_model_nq(the.base) || sn_motion_nframe(motion) < 1) {
        sn_motion_destroy(motion);
        return SN_ERR_VALUE;
    }
    take *t = &the_take;
    sn_take_destroy(t->fit);
    sn_model_destroy(t->source);
    sn_skeleton_destroy(t->source_file);
    sn_osim_coordinates_destroy(t->coordinates);
    sn_motion_destroy(t->motion);
    t->fit = NULL;
    t->source = NULL;
    t->source_file = NULL;
    t->coordinates = NULL;
    t->motion = motion;
    if (t->recording != NULL) (void)learn(t, motion);
    return SN_OK;
}

// A fitted figure takes the stage. What it was made from stays with the take, which reads it.
static sn_status show_figure(take *t, sn_model *figure) {
    t->source = the.own;
    t->source_file = the.skeleton;
    t->coordinates = the.coordinates;
    the.own = NULL;
    the.skeleton = NULL;
    the.coordinates = NULL;
    sn_status status = (sn_status)stage_take_model(figure, NULL);
    if (the.base != NULL && the.own == NULL) {
        // the present figure stayed
        the.own = t->source;
        the.skeleton = t->source_file;
        the.coordinates = t->coordinates;
        t->source = NULL;
        t->source_file = NULL;
        t->coordinates = NULL;
    }
    return status;
}

sn_status take_recording(sn_recording *recording, const char *subject, bool here, bool *figure,
                         sn_error *error) {
    take next = {.recording = recording, .axes = sn_axis_map_identity()};
    (void)snprintf(next.subject, sizeof next.subject, "%s", subject);
    sn_model *model = NULL;
    // a motion that was not fitted to other markers stays
    sn_motion *known = the_take.motion;
    *figure = false;
    count_markers(&next);
    sn_status status =
        nmeasured(&next) > 0 && next.nmarker > 0 ? allocate_markers(&next) : SN_ERR_VALUE;
    if (status == SN_ERR_VALUE) set_message(error, "there is no marker in this file");
    if (status == SN_OK)
        status = known != NULL ? place_markers(&next, known, here) : prepare(&next, &model, error);
    if (status == SN_OK && model != NULL) {
        status = show_figure(&next, model);
        *figure = status == SN_OK;
    }
    if (status != SN_OK) {
        release(&next);
        return status;
    }
    if (known != NULL) {
        next.motion = known;
        the_take.motion = NULL;
    }
    take_forget();
    the_take = next;
    return SN_OK;
}

// Of several subjects the one that was chosen is shown.
static bool is_shown(const take *t, int marker) {
    const char *label = sn_recording_label(t->recording, marker);
    size_t n = strlen(t->subject);
    return n == 0 || t->fit == NULL || (strncmp(label, t->subject, n) == 0 && strlen(label) > n);
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
        if (!is_shown(t, m)) seen[0] = seen[1] = seen[2] = (double)NAN;
        if (t->joint[m] >= 0) f = sn_workspace_point(the.probe, t->joint[m], t->local + 3 * m);
        const double all[6] = {seen[0], seen[1], seen[2], f.x, f.y, f.z};
        for (int c = 0; c < 6; c++) t->places[6 * m + c] = (float)all[c];
    }
    return t->places;
}
