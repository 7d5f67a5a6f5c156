// SPDX-License-Identifier: MIT
// The files of a fit: skeleton, recording, marker set, and which marker is which.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fit_steps.h"

// A set of its own, or with XML the weights of an OpenSim task file for the model's markers.
static sn_marker_set *load_set(const char *path, const sn_model *model) {
    size_t length;
    sn_error error = {0};
    sn_marker_set *set = NULL;
    char *text = read_file(path, &length);
    if (text == NULL) return NULL;
    bool tasks = text[strspn(text, " \t\r\n\xef\xbb\xbf")] == '<';
    sn_status status = tasks ? sn_marker_set_read_tasks(text, length, model, NULL, &set, &error)
                             : sn_marker_set_read_json(text, length, NULL, &set, &error);
    if (status != SN_OK) (void)file_error(path, &error);
    free(text);
    return set;
}

// The model's own markers when the recording has at least three of them, else the built-in set.
static sn_marker_set *choose_set(fit_result *r) {
    const fit_settings *s = r->settings;
    sn_marker_set *set = NULL;
    sn_error error = {0};
    if (s->markers != NULL && strcmp(s->markers, "builtin") != 0)
        return load_set(s->markers, r->figure.model);
    int own = 0;
    for (int i = 0; i < sn_model_nmarker(r->figure.model); i++)
        own += sn_recording_find(r->recording, sn_model_marker(r->figure.model, i)->name) != -1;
    if (own >= 3 && s->markers == NULL) {
        if (sn_marker_set_of_model(r->figure.model, NULL, &set) != SN_OK) complain("out of memory");
        return set;
    }
    if (sn_marker_set_builtin(r->figure.model, r->recording, NULL, &set, &error) != SN_OK) {
        (void)file_error(s->input, &error);
        if (error.status == SN_ERR_MODEL)
            complain(
                "say with --markers SET which marker sits on which joint; docs/mocap.md shows how");
    }
    return set;
}

static bool is_unnamed(const char *name) {
    return name[0] == '*' || name[0] == '\0' || name[0] == '#';
}

// Say which labels have no place, with the nearest known names, and which markers have no data.
static void tell_unmatched(fit_result *r) {
    int n = sn_model_nmarker(r->model), listed = 0, unnamed = 0, unsaid = 0;
    char text[900] = "", one[200], more[40] = "";
    const char **names = must_alloc((size_t)n, sizeof *names);
    for (int i = 0; i < n; i++) names[i] = sn_model_marker(r->model, i)->name;
    // the built-in set was cut to what the recording has: for a likeness all of it counts
    sn_marker_set *all = NULL;
    if (r->settings->markers == NULL || strcmp(r->settings->markers, "builtin") == 0)
        (void)sn_marker_set_builtin(r->figure.model, NULL, NULL, &all, NULL);
    int nknown = all != NULL ? sn_marker_set_count(all) : n;
    const char **known = must_alloc((size_t)nknown, sizeof *known);
    for (int i = 0; i < nknown; i++)
        known[i] = all != NULL ? sn_marker_set_place(all, i)->name : names[i];
    for (int m = 0; m < r->nlabel; m++) {
        bool used = false;
        const char *label = sn_label_name(sn_recording_label(r->recording, m));
        for (int i = 0; i < n; i++) used |= r->column[i] == m;
        if (used) continue;
        if (is_unnamed(label)) {
            unnamed++;
            continue;
        }
        int near = sn_nearest_name(label, known, nknown);
        bool close = near >= 0 && sn_recording_find(r->recording, known[near]) == -1;
        (void)snprintf(one, sizeof one, "%s%.60s%s%s%s", listed > 0 ? ", " : "", label,
                       close ? " (did you mean " : "", close ? known[near] : "", close ? "?)" : "");
        if (strlen(text) + strlen(one) + 20 < sizeof text) {
            strcat(text, one);
        } else {
            unsaid++;
        }
        listed++;
    }
    if (unsaid > 0) (void)snprintf(more, sizeof more, " and %d more", unsaid);
    if (listed > 0)
        note(r, "%d label%s in no marker set: %s%s", listed, listed == 1 ? " is" : "s are", text,
             more);
    if (unnamed > 0)
        note(r, "%d unnamed point%s left out", unnamed, unnamed == 1 ? " was" : "s were");
    text[0] = '\0';
    listed = 0;
    for (int i = 0; i < n; i++) {
        int nframe = sn_recording_get_info(r->recording)->nframe;
        bool empty = r->column[i] < 0 || sn_recording_missing(r->recording, r->column[i]) == nframe;
        if (!empty) continue;
        (void)snprintf(one, sizeof one, "%s%.60s", listed++ > 0 ? ", " : "", names[i]);
        if (strlen(text) + strlen(one) + 20 < sizeof text) strcat(text, one);
    }
    if (listed > 0)
        note(r, "%d marker%s of the set without data: %s", listed, listed == 1 ? "" : "s", text);
    sn_marker_set_destroy(all);
    free(known);
    free(names);
}

static bool load_files(fit_result *r) {
    const fit_settings *s = r->settings;
    if (!load_figure(s->model, true, 0, &r->figure)) return false;
    if (r->figure.document.note[0] != '\0') note(r, "%s: %s", s->model, r->figure.document.note);
    r->recording = load_recording(s->input);
    if (r->recording == NULL || !part_subjects(r) || (s->subject != NULL && !keep_subject(r)))
        return false;
    r->nlabel = sn_recording_get_info(r->recording)->nmarker;
    return true;
}

bool apply_set(fit_result *r, const double *factor) {
    sn_error error = {0};
    sn_model_destroy(r->model);
    sn_model_destroy(r->limited);
    r->model = r->limited = NULL;
    // limits help the calibration even where the fit goes without, as real takes break many files'
    if (sn_marker_set_apply(r->set, r->figure.model, r->plan->fit.limits, factor, NULL, &r->model,
                            &error) == SN_OK &&
        sn_marker_set_apply(r->set, r->figure.model, SN_LIMITS_HARD, factor, NULL, &r->limited,
                            &error) == SN_OK)
        return true;
    (void)file_error(r->settings->markers != NULL ? r->settings->markers : r->settings->model,
                     &error);
    return false;
}

static bool match(fit_result *r) {
    r->column = must_alloc((size_t)sn_model_nmarker(r->model), sizeof *r->column);
    r->matched = sn_fit_match(r->model, r->recording, NULL, r->column);
    if (r->matched < 0) {
        complain("%s: several subjects have markers of the same names; choose one with --subject "
                 "NAME, the "
                 "part of a label before the colon (\"%s\")",
                 r->settings->input, sn_recording_label(r->recording, 0));
        return false;
    }
    int found = 0;
    for (int i = 0; i < sn_model_nmarker(r->model); i++) found += r->column[i] >= 0;
    r->matched = found;
    tell_unmatched(r);
    if (found >= 3) return true;
    complain("%s: only %d of the set's %d markers are in this file%s%s", r->settings->input, found,
             sn_model_nmarker(r->model), r->notes.count > 0 ? "; " : "",
             r->notes.count > 0 ? r->notes.text[0] : "");
    return false;
}

bool load_take(fit_result *r) {
    return load_files(r) && (r->set = choose_set(r)) != NULL && apply_set(r, NULL) && match(r);
}

// By their numbers in the file.
bool choose_frames(fit_result *r) {
    const sn_recording_info *info = sn_recording_get_info(r->recording);
    long from = info->first_frame, to = from + info->nframe - 1;
    long first = r->plan->frames.first != LONG_MIN ? r->plan->frames.first : from;
    long last = r->plan->frames.last != LONG_MAX ? r->plan->frames.last : to;
    if (info->nframe == 0) {
        complain("%s: the recording has no frames", r->settings->input);
        return false;
    }
    if (first < from || last > to || first > last) {
        complain("--frames %s: the file's frames are %ld to %ld", r->settings->frames, from, to);
        return false;
    }
    int most = 0;
    for (long f = first - from; f <= last - from; f++) {
        int n = 0;
        for (int i = 0; i < sn_model_nmarker(r->model); i++)
            n += r->column[i] >= 0 && sn_recording_present(r->recording, (int)f, r->column[i]);
        if (n > most) most = n;
    }
    if (most < 3) {
        complain("%s: no frame from %ld to %ld has three markers with data", r->settings->input,
                 first, last);
        return false;
    }
    r->input = (sn_fit_input){.recording = r->recording,
                              .column = r->column,
                              .axes = sn_axis_map_identity(),
                              .first = (int)(first - from),
                              .count = (int)(last - first + 1)};
    return true;
}
