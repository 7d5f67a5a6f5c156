// SPDX-License-Identifier: MIT
// Scaling a model as OpenSim's tool does. Each step makes a new text of the model's, and what is needed of it is
// read from that text as from any file: what is written is what was used.
#include "take/scaling.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "files/osim/osim.h"
#include "math/round.h"
#include "sinew/take.h"

sn_status sn_scaling_refuse(sn_scaling *s, sn_scaling_file file, int line, const char *format,
                            ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    s->file = file;
    return sn_fail(s->error, SN_ERR_VALUE, line, "%s", text);
}

void sn_scaling_tell(sn_scaling *s, sn_scaling_file file, int line, const char *format, ...) {
    if (s->info.nnote == SN_SCALING_NOTES) return;
    sn_scaling_note *n = &s->note[s->info.nnote++];
    n->file = file;
    n->line = line;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(n->text, sizeof n->text, format, arguments);
    va_end(arguments);
}

// --- trials --------------------------------------------------------------------------------------

static double time_of(const sn_recording_info *i, int frame) {
    return i->rate > 0 ? (i->first_frame - 1 + frame) / i->rate + i->time_offset : frame;
}

sn_status sn_scaling_frames(sn_scaling *s, const sn_recording *trial, sn_scaling_file file,
                            double first, double last, int line, int *from, int *to) {
    const sn_recording_info *i = sn_recording_about(trial);
    double slack = i->rate > 0 ? 1e-3 / i->rate : 0, end = time_of(i, i->nframe - 1);
    *from = 0, *to = i->nframe - 1;
    if (i->nframe == 0) return sn_scaling_refuse(s, file, 0, "it has no frames");
    if (!(i->metres_per_unit > 0))
        return sn_scaling_refuse(s, file, 0, "it states no unit of length that is known");
    if (!isfinite(first) && !isfinite(last)) return SN_OK;
    if (!(i->rate > 0)) {
        sn_scaling_tell(s, file, 0, "it states no frame rate: all frames are used");
        return SN_OK;
    }
    if (first > end + slack || last < time_of(i, 0) - slack)
        return sn_scaling_refuse(s, s->input->setup != NULL ? SN_SCALING_SETUP : file, line,
                                 "the time range is %g to %g s, and the trial goes from %g to %g s",
                                 first, last, time_of(i, 0), end);
    while (*from + 1 < i->nframe && time_of(i, *from + 1) <= first + slack) ++*from;
    for (*to = *from; *to + 1 < i->nframe && time_of(i, *to) < last - slack;) ++*to;
    return SN_OK;
}

void sn_scaling_mean(const sn_recording *trial, int from, int to, int marker, double out[3]) {
    double sum[3] = {0, 0, 0};
    int n = 0;
    for (int f = from; f <= to; f++) {
        const double *p = sn_recording_frame(trial, f) + 3 * marker;
        if (!sn_recording_present(trial, f, marker)) continue;
        for (int x = 0; x < 3; x++) sum[x] += p[x];
        n++;
    }
    for (int x = 0; x < 3; x++) out[x] = n > 0 ? sum[x] / n : (double)NAN;
}

// By how much a marker moves along an axis, at most.
static double movement(const sn_recording *trial, int from, int to, int marker) {
    double most = 0;
    for (int x = 0; x < 3; x++) {
        double low = INFINITY, high = -INFINITY;
        for (int f = from; f <= to; f++) {
            if (!sn_recording_present(trial, f, marker)) continue;
            double p = sn_recording_frame(trial, f)[3 * marker + x];
            low = fmin(low, p), high = fmax(high, p);
        }
        if (high > low) most = fmax(most, high - low);
    }
    return most;
}

// The static trial as one frame.
static sn_status take_mean(sn_scaling *s) {
    const sn_scale_setup_info *setup = sn_scale_setup_about(s->input->setup);
    const sn_recording *trial = s->input->at_rest;
    bool all = s->input->first == 0 && s->input->last == 0;
    double first = setup != NULL ? setup->static_first : all ? -INFINITY : s->input->first;
    double last = setup != NULL ? setup->static_last : all ? INFINITY : s->input->last;
    int from, to;
    SN_TRY(sn_scaling_frames(s, trial, SN_SCALING_STATIC, first, last,
                             setup != NULL ? setup->static_time_line : 0, &from, &to));
    sn_recording_info info = *sn_recording_about(trial);
    int n = info.nmarker;
    const char **labels = sn_acquire(&s->allocator, ((size_t)n + 1) * sizeof *labels);
    if (labels == NULL) return sn_fail_memory(s->error);
    for (int i = 0; i < n; i++) labels[i] = sn_recording_label(trial, i);
    info.first_frame += from;
    info.nframe = 1;
    sn_status status = sn_recording_create(&info, labels, &s->allocator, &s->mean, s->error);
    sn_release(&s->allocator, labels);
    SN_TRY(status);
    for (int i = 0; i < n; i++)
        sn_scaling_mean(trial, from, to, i, sn_recording_edit(s->mean, 0) + 3 * i);
    for (int i = 0; setup != NULL && setup->max_movement > 0 && i < n; i++) {
        double most = movement(trial, from, to, i) / info.metres_per_unit;
        if (most > setup->max_movement)
            sn_scaling_tell(s, SN_SCALING_STATIC, 0,
                            "marker \"%.60s\" moves by %.4g %s in the static trial; "
                            "max_marker_movement is %g",
                            sn_recording_label(trial, i), most, info.unit, setup->max_movement);
    }
    return SN_OK;
}

// --- the model -----------------------------------------------------------------------------------

static sn_status read_model(sn_scaling *s, const char *text, size_t length, sn_model **model,
                            sn_osim_coordinates **coordinates, sn_frame **frames) {
    s->file = SN_SCALING_MODEL;
    *model = NULL, *coordinates = NULL;
    return sn_osim_read_frames(text, length, &s->allocator, model, coordinates, NULL, frames,
                               s->error);
}

// The joints at a pose, by a problem without tasks.
static sn_status pose_model(sn_scaling *s, const sn_model *model, const double *q,
                            sn_problem **problem, sn_workspace **workspace) {
    *workspace = NULL;
    sn_status status = sn_problem_create(model, NULL, 0, &s->allocator, problem, s->error);
    if (status == SN_OK)
        status = sn_workspace_create(*problem, false, &s->allocator, workspace, s->error);
    if (status == SN_OK && sn_workspace_pose(*workspace, q) != SN_OK)
        status = sn_fail(s->error, SN_ERR_VALUE, 0, "the pose is not finite");
    return status;
}

static sn_status place_default(sn_scaling *s, const sn_model *model,
                               const sn_osim_coordinates *coordinates, double *out) {
    sn_problem *problem = NULL;
    sn_workspace *workspace = NULL;
    double *q = sn_acquire(&s->allocator, ((size_t)sn_model_nq(model) + 1) * sizeof *q);
    if (q == NULL) return sn_fail_memory(s->error);
    sn_model_zero(model, q);
    for (int i = 0; i < sn_osim_coordinates_count(coordinates); i++) {
        const sn_osim_coordinate_info *c = sn_osim_coordinate_at(coordinates, i);
        if (c->at.joint >= 0) q[sn_model_q_index(model, c->at.joint) + c->at.index] = c->value;
    }
    sn_model_follow(model, q);
    sn_status status = pose_model(s, model, q, &problem, &workspace);
    for (int i = 0; status == SN_OK && i < sn_model_nmarker(model); i++) {
        const sn_marker_desc *m = sn_model_marker(model, i);
        sn_vec3 p = sn_workspace_point(workspace, m->joint, m->position);
        out[3 * i] = p.x, out[3 * i + 1] = p.y, out[3 * i + 2] = p.z;
    }
    sn_workspace_destroy(workspace);
    sn_problem_destroy(problem);
    sn_release(&s->allocator, q);
    return status;
}

sn_status sn_scaling_markers_at(sn_scaling *s, const char *text, size_t length, double **out) {
    sn_model *model = NULL;
    sn_osim_coordinates *coordinates = NULL;
    *out = NULL;
    SN_TRY(read_model(s, text, length, &model, &coordinates, NULL));
    sn_status status = SN_OK;
    if (sn_model_nmarker(model) != s->nmark)
        status = sn_fail(s->error, SN_ERR_PARSE, 0,
                         "it has markers outside of its <MarkerSet>, which cannot be scaled");
    if (status == SN_OK) {
        *out = sn_acquire(&s->allocator, (3 * (size_t)s->nmark + 1) * sizeof **out);
        status =
            *out == NULL ? sn_fail_memory(s->error) : place_default(s, model, coordinates, *out);
    }
    if (status != SN_OK) {
        sn_release(&s->allocator, *out);
        *out = NULL;
    }
    sn_osim_coordinates_destroy(coordinates);
    sn_model_destroy(model);
    return status;
}

// The model as it was given, so that what is wrong with it is told with its own lines.
static sn_status check_model(sn_scaling *s) {
    sn_model *model;
    sn_osim_coordinates *list;
    SN_TRY(read_model(s, s->input->model, s->input->model_length, &model, &list, NULL));
    sn_status status = SN_OK;
    for (int i = 0; i < sn_osim_coordinates_count(list) && status == SN_OK; i++) {
        const sn_osim_coordinate_info *c = sn_osim_coordinate_at(list, i);
        double slack = 1e-6 * (1 + fabs(c->upper - c->lower));
        bool inside = c->value >= c->lower - slack && c->value <= c->upper + slack;
        if (c->locked && !c->prescribed && c->clamped && !inside && s->input->at_rest != NULL)
            status =
                sn_scaling_refuse(s, SN_SCALING_MODEL, c->line,
                                  "coordinate \"%.60s\" is locked at %g, and clamped to %g ... "
                                  "%g: both cannot be",
                                  c->name, c->value, c->lower, c->upper);
    }
    sn_osim_coordinates_destroy(list);
    sn_model_destroy(model);
    return status;
}

// The model's text with the marker set, its markers and bodies.
static sn_status add_markers(sn_scaling *s) {
    const sn_scaling_input *in = s->input;
    sn_xml_tree set = {0};
    sn_osim_mark *marks = NULL;
    int count = 0;
    sn_status status = SN_OK;
    s->file = SN_SCALING_MARKERS;
    if (in->markers != NULL) {
        status = sn_xml_tree_read(&set, in->markers, in->markers_length, &s->allocator, s->error);
        if (status == SN_OK)
            status = sn_osim_marks_read(&set, &s->allocator, &marks, &count, s->error);
    }
    if (status == SN_OK)
        status = sn_osim_marks_add(in->model, in->model_length, marks, count, &s->allocator,
                                   &s->marked, &s->nmarked, s->error);
    sn_release(&s->allocator, marks);
    sn_xml_tree_end(&set, &s->allocator);
    SN_TRY(status);
    s->file = SN_SCALING_MODEL;
    SN_TRY(sn_xml_tree_read(&s->tree, s->marked, s->nmarked, &s->allocator, s->error));
    return sn_osim_marks_read(&s->tree, &s->allocator, &s->mark, &s->nmark, s->error);
}

static sn_status list_bodies(sn_scaling *s) {
    sn_osim_frames f;
    SN_TRY(sn_osim_frames_make(&s->tree, &s->allocator, &f, s->error));
    s->body = sn_acquire(&s->allocator, ((size_t)f.nbody + 1) * sizeof *s->body);
    s->factor = sn_acquire(&s->allocator, ((size_t)f.nbody + 1) * sizeof *s->factor);
    bool good = s->body != NULL && s->factor != NULL;
    for (int i = 0; i < f.nbody && good; i++) {
        const char *name = sn_xml_tree_label(&s->tree, f.body[i]);
        if (strcmp(name, "ground") != 0)
            s->body[s->info.nbody++] = (sn_scaling_body){name, {1, 1, 1}};
    }
    sn_osim_frames_end(&f, &s->allocator);
    return good ? SN_OK : sn_fail_memory(s->error);
}

static sn_status find_factors(sn_scaling *s) {
    const sn_scale_setup_info *setup = sn_scale_setup_about(s->input->setup);
    double *places = NULL;
    SN_TRY(sn_scaling_markers_at(s, s->marked, s->nmarked, &places));
    sn_status status = SN_OK;
    s->file = SN_SCALING_STATIC;
    if (setup != NULL && setup->scales) status = sn_scaling_measure(s, places);
    if (setup == NULL && s->input->at_rest != NULL) status = sn_scaling_estimate(s, places);
    sn_release(&s->allocator, places);
    for (int i = 0; i < s->info.nbody; i++) {
        s->factor[i].body = s->body[i].name;
        memcpy(s->factor[i].factor, s->body[i].factor, sizeof s->body[i].factor);
    }
    return status;
}

static sn_status scale(sn_scaling *s) {
    const sn_scale_setup_info *setup = sn_scale_setup_about(s->input->setup);
    double mass = s->input->mass > 0 ? s->input->mass : setup != NULL ? setup->mass : 0;
    // a switched-off scaler leaves the mass, too
    if (setup != NULL && !setup->scales) mass = s->input->mass;
    bool keep = setup != NULL ? setup->preserve_mass || !setup->scales : !s->input->by_volume;
    sn_osim_scaling how = {s->factor, s->info.nbody, mass, keep};
    sn_osim_scaled about;
    s->file = SN_SCALING_MODEL;
    SN_TRY(sn_osim_scale_text(s->marked, s->nmarked, &how, &s->allocator, &s->scaled, &s->nscaled,
                              &about, s->error));
    s->info.mass_before = about.mass_before;
    s->info.mass = about.mass;
    if (about.note[0] != '\0')
        sn_scaling_tell(s, SN_SCALING_MODEL, 0, "not scaled: %s", about.note);
    return SN_OK;
}

// --- the static pose -----------------------------------------------------------------------------

// Without a setup every marker pulls as its place is known.
static sn_status make_tasks(sn_scaling *s) {
    size_t room = 100;
    for (int i = 0; i < s->nmark; i++) room += 6 * strlen(s->mark[i].name) + 120;
    char *text = sn_acquire(&s->allocator, room);
    if (text == NULL) return sn_fail_memory(s->error);
    size_t n = (size_t)snprintf(text, room, "<IKTaskSet><objects>");
    for (int i = 0; i < s->nmark; i++) {
        n += (size_t)snprintf(text + n, room - n, "<IKMarkerTask name=\"");
        for (const char *c = s->mark[i].name; *c != '\0'; c++)
            n += (size_t)snprintf(text + n, room - n, strchr("&<>\"'", *c) != NULL ? "&#%d;" : "%c",
                                  *c);
        double share = 0.012 / sn_scaling_doubt(s, i);
        n += (size_t)snprintf(text + n, room - n, "\"><weight>%.6f</weight></IKMarkerTask>",
                              share * share);
    }
    n += (size_t)snprintf(text + n, room - n, "</objects></IKTaskSet>");
    sn_status status = sn_ik_setup_read(text, n, &s->allocator, &s->ik, s->error);
    sn_release(&s->allocator, text);
    return status;
}

// What the take says, as an error or as notes.
static sn_status pass_findings(sn_scaling *s, const sn_take *take, sn_status status) {
    sn_error *error = s->error;
    for (int i = 0; i < sn_take_nfinding(take); i++) {
        const sn_finding *f = sn_take_finding(take, i);
        char text[2400];
        (void)sn_take_sentence(take, i, SN_VOICE_PLAIN, text, sizeof text);
        bool setup = f->code == SN_FINDING_SETUP || f->code == SN_FINDING_SETUP_IGNORED;
        sn_scaling_file file =
            setup && s->input->setup != NULL ? SN_SCALING_SETUP : SN_SCALING_STATIC;
        int line = setup ? (int)f->number[0] : 0;
        if (f->severity == SN_SEVERITY_ERROR && status != SN_OK) {
            s->file = file;
            return sn_fail(error, status, line, "%.390s", text);
        }
        if (f->severity == SN_SEVERITY_WARNING) sn_scaling_tell(s, file, line, "%.390s", text);
    }
    return status == SN_OK ? SN_OK : sn_fail(error, status, 0, "%s", sn_status_text(status));
}

static sn_status solve(sn_scaling *s) {
    sn_take_options o = sn_take_options_default();
    sn_take *take = NULL;
    double f = 0;
    o.coordinates = s->coordinates;
    o.setup = s->ik != NULL ? s->ik : sn_scale_setup_ik(s->input->setup);
    o.coordinate_values = s->input->coordinate_values;
    o.model_up = 1;
    o.model_up_sign = 1;
    s->file = SN_SCALING_STATIC;
    SN_TRY(sn_take_create(s->model, s->mean, &o, &s->allocator, &take, s->error));
    sn_status status = sn_take_prepare(take);
    if (status == SN_OK) status = sn_take_finish(take);
    status = pass_findings(s, take, status);
    if (status == SN_OK) {
        const sn_motion *found = sn_take_motion(take);
        int nq = sn_motion_nq(found);
        status = sn_motion_create(1, nq, sn_motion_first_frame(found), sn_motion_rate(found),
                                  &s->allocator, &s->pose, s->error);
        if (status == SN_OK)
            memcpy(sn_motion_edit(s->pose, 0), sn_motion_frame(found, 0),
                   (size_t)nq * sizeof(double));
        if (status == SN_OK)
            sn_motion_set_time_offset(s->pose, sn_recording_about(s->mean)->time_offset);
        if (status == SN_OK && sn_take_objective(take, found, &f) == SN_OK) s->info.objective = f;
    }
    sn_take_destroy(take);
    return status;
}

// Angles are given near their defaults: a turn more is the same pose, but no reader expects 359 for -1.
static sn_status unwind(sn_scaling *s) {
    const double turn = 0x1.921fb54442d18p+2;
    double *q = sn_motion_edit(s->pose, 0);
    sn_problem *problem = NULL;
    sn_workspace *workspace = NULL;
    int n = sn_model_nmarker(s->model);
    sn_vec3 *at = sn_acquire(&s->allocator, ((size_t)n + 1) * sizeof *at);
    if (at == NULL) return sn_fail_memory(s->error);
    sn_status status = pose_model(s, s->model, q, &problem, &workspace);
    for (int i = 0; i < n && status == SN_OK; i++) {
        const sn_marker_desc *m = sn_model_marker(s->model, i);
        at[i] = sn_workspace_point(workspace, m->joint, m->position);
    }
    for (int k = 0; status == SN_OK && k < sn_osim_coordinates_count(s->coordinates); k++) {
        const sn_osim_coordinate_info *c = sn_osim_coordinate_at(s->coordinates, k);
        if (c->at.joint < 0 || !c->rotates || c->locked || c->prescribed) continue;
        int x = sn_model_q_index(s->model, c->at.joint) + c->at.index;
        double before = q[x], after = before - turn * sn_round((before - c->value) / turn);
        if (after == before || (c->clamped && (after < c->lower || after > c->upper))) continue;
        q[x] = after;
        bool same = sn_workspace_pose(workspace, q) == SN_OK;
        for (int i = 0; i < n && same; i++) {
            const sn_marker_desc *m = sn_model_marker(s->model, i);
            sn_vec3 d = v3_sub(sn_workspace_point(workspace, m->joint, m->position), at[i]);
            same = v3_dot(d, d) < 1e-18;
        }
        if (!same) q[x] = before;
    }
    sn_workspace_destroy(workspace);
    sn_problem_destroy(problem);
    sn_release(&s->allocator, at);
    return status;
}

static bool is_fitted(const sn_scaling *s, const char *name) {
    const sn_ik_setup *ik = s->ik != NULL ? s->ik : sn_scale_setup_ik(s->input->setup);
    for (int i = 0; i < sn_ik_setup_about(ik)->ntask; i++) {
        const sn_ik_task *k = sn_ik_setup_task(ik, i);
        // without a setup: landmarks
        double least = s->ik != NULL ? 0.5 : 0;
        if (!k->coordinate && k->apply && k->weight > least && strcmp(k->name, name) == 0)
            return true;
    }
    return false;
}

// Each marker where the pose shows it, on its body.
static void move_markers(sn_scaling *s, const sn_workspace *workspace) {
    const double *seen = sn_recording_frame(s->mean, 0);
    double sum = 0;
    int n = 0;
    for (int i = 0; i < s->nmark; i++) {
        sn_scaling_marker *m = &s->marker[i];
        const sn_marker_desc *d = sn_model_marker(s->model, i);
        int column = sn_recording_find(s->mean, m->name);
        m->seen = column >= 0 && sn_recording_present(s->mean, 0, column);
        if (!m->seen) continue;
        sn_vec3 at = v3_from(seen + 3 * column);
        sn_vec3 model = sn_workspace_point(workspace, d->joint, d->position);
        sn_vec3 off = v3_sub(at, model);
        m->error = sqrt(v3_dot(off, off));
        if (is_fitted(s, m->name)) {
            sum += m->error * m->error;
            s->info.worst = fmax(s->info.worst, m->error);
            n++;
        }
        if (m->fixed) continue;
        sn_frame joint = sn_workspace_frame(workspace, d->joint);
        sn_frame frame = frame_mul(&joint, &s->frames[i]);
        sn_vec3 p = m3_tmul(&frame.R, v3_sub(at, frame.p));
        m->location[0] = p.x, m->location[1] = p.y, m->location[2] = p.z;
        m->moved = true;
    }
    s->info.rms = n > 0 ? sqrt(sum / n) : 0;
}

// The markers of the scaled text, which are those of the marked one.
static sn_status take_markers(sn_scaling *s) {
    sn_xml_tree tree = {0};
    sn_osim_mark *marks = NULL;
    int count = 0;
    s->marker = sn_acquire(&s->allocator, ((size_t)s->nmark + 1) * sizeof *s->marker);
    if (s->marker == NULL) return sn_fail_memory(s->error);
    sn_status status = sn_xml_tree_read(&tree, s->scaled, s->nscaled, &s->allocator, s->error);
    if (status == SN_OK)
        status = sn_osim_marks_read(&tree, &s->allocator, &marks, &count, s->error);
    for (int i = 0; status == SN_OK && i < count; i++) {
        s->marker[i] = (sn_scaling_marker){.name = s->mark[i].name, .fixed = marks[i].fixed};
        memcpy(s->marker[i].before, marks[i].location, sizeof marks[i].location);
        memcpy(s->marker[i].location, marks[i].location, sizeof marks[i].location);
    }
    s->info.nmarker = s->nmark;
    sn_release(&s->allocator, marks);
    sn_xml_tree_end(&tree, &s->allocator);
    return status;
}

static sn_status find_pose(sn_scaling *s) {
    sn_problem *problem = NULL;
    sn_workspace *workspace = NULL;
    SN_TRY(take_mean(s));
    if (s->input->setup == NULL) SN_TRY(make_tasks(s));
    SN_TRY(solve(s));
    SN_TRY(unwind(s));
    sn_status status = pose_model(s, s->model, sn_motion_frame(s->pose, 0), &problem, &workspace);
    if (status == SN_OK) move_markers(s, workspace);
    sn_workspace_destroy(workspace);
    sn_problem_destroy(problem);
    return status;
}

// --- all of it -----------------------------------------------------------------------------------

static sn_status run(sn_scaling *s) {
    const sn_scale_setup_info *setup = sn_scale_setup_about(s->input->setup);
    if (setup != NULL && setup->note[0] != '\0')
        sn_scaling_tell(s, SN_SCALING_SETUP, 0, "%.390s", setup->note);
    SN_TRY(check_model(s));
    SN_TRY(add_markers(s));
    SN_TRY(list_bodies(s));
    SN_TRY(find_factors(s));
    SN_TRY(scale(s));
    SN_TRY(read_model(s, s->scaled, s->nscaled, &s->model, &s->coordinates, &s->frames));
    SN_TRY(take_markers(s));
    bool places = s->input->at_rest != NULL && (setup == NULL || setup->places);
    if (places) SN_TRY(find_pose(s));
    s->file = SN_SCALING_MODEL;
    SN_TRY(sn_scaling_place_markers(s));
    sn_osim_coordinates_destroy(s->coordinates);
    sn_model_destroy(s->model);
    SN_TRY(read_model(s, s->placed, s->nplaced, &s->model, &s->coordinates, NULL));
    SN_TRY(sn_osim_marks_print(s->placed, s->nplaced, &s->allocator, &s->marker_text,
                               &s->info.marker_length, s->error));
    return sn_scaling_print_factors(s);
}

sn_status sn_scaling_create(const sn_scaling_input *input, const sn_allocator *allocator,
                            sn_scaling **out, sn_scaling_file *file, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(input, error);
    SN_NEED(out, error);
    SN_NEED(input->model, error);
    if (!(input->mass >= 0) || !isfinite(input->mass) || !(input->first <= input->last))
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "the mass is a number from 0 on, and the first time not after the last");
    sn_scaling *s = sn_acquire(allocator, sizeof *s);
    if (s == NULL) return sn_fail_memory(error);
    *s = (sn_scaling){
        .allocator = sn_allocator_of(allocator), .input = input, .file = SN_SCALING_MODEL};
    sn_error own = {0};
    s->error = error != NULL ? error : &own;
    sn_status status = run(s);
    if (file != NULL) *file = s->file;
    s->input = NULL;
    s->error = NULL;
    if (status != SN_OK) {
        sn_scaling_destroy(s);
        return status;
    }
    sn_scaling_info *i = &s->info;
    i->body = s->body, i->distance = s->distance, i->marker = s->marker, i->note = s->note;
    i->model_text = s->placed, i->model_length = s->nplaced;
    i->scaled_text = s->scaled, i->scaled_length = s->nscaled;
    i->marker_text = s->marker_text;
    i->factor_text = s->factor_text;
    i->model = s->model;
    i->pose = s->pose;
    *out = s;
    return SN_OK;
}

void sn_scaling_destroy(sn_scaling *s) {
    if (s == NULL) return;
    sn_allocator allocator = s->allocator;
    void *blocks[] = {s->marked, s->scaled, s->placed,   s->marker_text, s->factor_text, s->mark,
                      s->body,   s->factor, s->distance, s->marker,      s->names,       s->frames};
    sn_xml_tree_end(&s->tree, &allocator);
    sn_osim_coordinates_destroy(s->coordinates);
    sn_model_destroy(s->model);
    sn_recording_destroy(s->mean);
    sn_ik_setup_destroy(s->ik);
    sn_motion_destroy(s->pose);
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) sn_release(&allocator, blocks[i]);
    sn_release(&allocator, s);
}

const sn_scaling_info *sn_scaling_about(const sn_scaling *s) { return s != NULL ? &s->info : NULL; }
