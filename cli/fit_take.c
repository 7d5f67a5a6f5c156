// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "fit_take.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"

volatile bool fit_cancelled;

// --- notes and progress ------------------------------------------------------------------------------------

static void note(fit_result *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note(fit_result *r, const char *format, ...) {
    char text[2000];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char **grown = realloc(r->notes, (size_t)(r->nnote + 1) * sizeof *grown);
    char *copy = must_alloc(strlen(text) + 1, 1);
    if (grown == NULL) {
        free(copy);
        return;
    }
    memcpy(copy, text, strlen(text) + 1);
    r->notes = grown;
    r->notes[r->nnote++] = copy;
}

typedef struct meter {
    bool shown;
    double begin, last;
    int first;  ///< number of the first frame
    double error;
} meter;

static bool on_terminal(const fit_settings *s) { return !s->quiet && isatty(2); }

static void show_fit(void *user, int done, int nframe, const sn_track_frame *latest) {
    meter *m = user;
    double t = now();
    if (latest != NULL) m->error = latest->report.mean_error;
    if (!m->shown || (t - m->last < 0.1 && done < nframe)) return;
    m->last = t;
    double rate = done / fmax(t - m->begin, 1e-9);
    fprintf(stderr, "\r  frame %d of %d, %.0f frames/s, error %.2f cm, %.0f s left   ", done, nframe, rate,
            100 * m->error, (nframe - done) / fmax(rate, 1e-9));
    if (done == nframe) fputs("\r\033[K", stderr);
}

static void show_calibration(void *user, double fraction) {
    meter *m = user;
    if (m->shown) fprintf(stderr, "\r  calibrating, %.0f %%   ", 100 * fraction);
}

// --- marker sets -------------------------------------------------------------------------------------------

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
    if (s->markers != NULL && strcmp(s->markers, "builtin") != 0) return load_set(s->markers, r->figure.model);
    int own = 0;
    for (int i = 0; i < sn_model_nmarker(r->figure.model); i++)
        own += sn_recording_find(r->recording, sn_model_marker(r->figure.model, i)->name) != -1;
    if (own >= 3 && s->markers == NULL) {
        if (sn_marker_set_of_model(r->figure.model, NULL, &set) != SN_OK)
            complain("out of memory");
        return set;
    }
    if (sn_marker_set_builtin(r->figure.model, r->recording, NULL, &set, &error) != SN_OK)
        (void)file_error(s->input, &error);
    return set;
}

static bool is_unnamed(const char *name) { return name[0] == '*' || name[0] == '\0' || name[0] == '#'; }

// Say which labels have no place, with the nearest known names, and which markers have no data.

static void tell_unmatched(fit_result *r) {
    int n = sn_model_nmarker(r->model), listed = 0, unnamed = 0;
    char text[900] = "", one[200];
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
        if (strlen(text) + strlen(one) + 20 < sizeof text) strcat(text, one);
        listed++;
    }
    if (listed > 0) note(r, "%d label%s in no marker set: %s", listed, listed == 1 ? " is" : "s are", text);
    if (unnamed > 0) note(r, "%d unnamed point%s left out", unnamed, unnamed == 1 ? " was" : "s were");
    text[0] = '\0';
    listed = 0;
    for (int i = 0; i < n; i++) {
        int nframe = sn_recording_get_info(r->recording)->nframe;
        bool empty = r->column[i] < 0 || sn_recording_missing(r->recording, r->column[i]) == nframe;
        if (!empty) continue;
        (void)snprintf(one, sizeof one, "%s%.60s", listed++ > 0 ? ", " : "", names[i]);
        if (strlen(text) + strlen(one) + 20 < sizeof text) strcat(text, one);
    }
    if (listed > 0) note(r, "%d marker%s of the set without data: %s", listed, listed == 1 ? "" : "s", text);
    sn_marker_set_destroy(all);
    free(known);
    free(names);
}

// --- axes and units ----------------------------------------------------------------------------------------

static const char *unit_word(double metres) {
    return metres == 1 ? "m" : metres == 0.001 ? "mm" : metres == 0.01 ? "cm" : metres == 0.0254 ? "in" : "";
}

static bool find_axes(fit_result *r) {
    const fit_plan *p = r->plan;
    const figure *f = &r->figure;
    const sn_recording_info *info = sn_recording_get_info(r->recording);
    if (sn_axes_find(r->model, r->recording, f->up, f->up_sign, NULL, &r->axes) != SN_OK) {
        complain("out of memory");
        return false;
    }
    if (p->has_up) {
        double scale = r->axes.map.scale;
        r->axes.map = sn_axis_map_up(p->up, p->up_sign, f->up, f->up_sign);
        r->axes.map.scale = scale;
        r->axes.up = p->up, r->axes.up_sign = p->up_sign, r->axes.up_known = SN_KNOWN_FORCED;
        r->axes.up_conflict = false;
    }
    if (p->has_axes) {
        double scale = r->axes.map.scale;
        r->axes.map = p->axes;
        r->axes.map.scale = scale;
        r->axes.up = p->axes.axis[f->up];
        r->axes.up_sign = p->axes.sign[f->up] * f->up_sign;
        r->axes.up_known = SN_KNOWN_FORCED;
        r->axes.up_conflict = false;
    }
    if (p->unit > 0) {
        // numbers are metres already where the file stated a unit
        double factor = p->unit / (info->metres_per_unit > 0 ? info->metres_per_unit : 1);
        r->axes.spread *= factor / r->axes.map.scale;
        r->axes.map.scale = factor;
        r->axes.unit = p->unit;
        r->axes.unit_known = SN_KNOWN_FORCED;
        r->axes.unit_doubtful = r->axes.spread < 0.4 || r->axes.spread > 2.5;
    }
    const char *unit = p->unit > 0 ? r->settings->units : info->unit;
    (void)snprintf(r->unit_text, sizeof r->unit_text, "%s", unit[0] != '\0' ? unit : unit_word(r->axes.unit));
    if (r->axes.up_conflict)
        note(r, "the file states %s as up, but the figure stands along %s%c; the figure was believed "
                "(--up forces it)",
             info->y_screen, r->axes.up_sign < 0 ? "-" : "+", "xyz"[r->axes.up]);
    if (r->axes.up_known == SN_KNOWN_ASSUMED)
        note(r, "which axis of the recording is up is neither stated nor clear from the figure; %s%c was "
                "assumed (--up forces it)",
             r->axes.up_sign < 0 ? "-" : "+", "xyz"[r->axes.up]);
    if (r->axes.unit_known != SN_KNOWN_STATED && r->axes.unit_known != SN_KNOWN_FORCED)
        note(r, "the file states no unit of length; %s makes the markers as large as the figure "
                "(--units forces it)",
             r->unit_text);
    if (r->axes.unit_doubtful)
        note(r, "WARNING: with %s as unit the markers are spread %.2g times as far as the figure; is the "
                "unit right? (--units forces it)",
             r->unit_text[0] != '\0' ? r->unit_text : "this", r->axes.spread);
    return true;
}

// The recording in metres and the model's world; what has no place on the model goes missing.
static void move_recording(fit_result *r) {
    const sn_recording_info *info = sn_recording_get_info(r->recording);
    bool *used = must_alloc((size_t)info->nmarker, sizeof *used);
    for (int i = 0; i < sn_model_nmarker(r->model); i++)
        if (r->column[i] >= 0) used[r->column[i]] = true;
    for (int f = 0; f < info->nframe; f++) {
        double *x = sn_recording_edit(r->recording, f);
        for (int m = 0; m < info->nmarker; m++) {
            sn_axis_map_point(&r->axes.map, x + 3 * m, x + 3 * m);
            for (int k = 0; !used[m] && k < 3; k++) x[3 * m + k] = NAN;
        }
    }
    free(used);
}

// --- the steps ---------------------------------------------------------------------------------------------

// Only the markers of one subject: "Daniel" for "Daniel:LFHD".
static bool keep_subject(fit_result *r) {
    sn_recording_info info = *sn_recording_get_info(r->recording);
    const char *subject = r->settings->subject;
    size_t length = strlen(subject);
    const char **labels = must_alloc((size_t)info.nmarker, sizeof *labels);
    int *from = must_alloc((size_t)info.nmarker, sizeof *from), n = 0;
    char others[400] = "", last[100] = "";
    for (int m = 0; m < info.nmarker; m++) {
        const char *label = sn_recording_label(r->recording, m);
        size_t before = (size_t)(sn_label_name(label) - label);
        if (before == length + 1 && memcmp(label, subject, length) == 0) {
            labels[n] = label;
            from[n++] = m;
        } else if (before > 1 && before < sizeof last &&
                   (strlen(last) != before - 1 || memcmp(last, label, before - 1) != 0)) {
            (void)snprintf(last, sizeof last, "%.*s", (int)before - 1, label);
            if (strlen(others) + before + 4 < sizeof others)
                (void)snprintf(others + strlen(others), before + 3, "%s%s", others[0] != '\0' ? ", " : "", last);
        }
    }
    info.nmarker = n;
    sn_recording *kept = NULL;
    if (n == 0) {
        complain("%s: no label belongs to the subject \"%s\"; %s%s", r->settings->input, subject,
                 others[0] != '\0' ? "here are: " : "the labels name no subject", others);
    } else if (sn_recording_create(&info, labels, NULL, &kept) != SN_OK) {
        complain("out of memory");
    }
    for (int f = 0; kept != NULL && f < info.nframe; f++)
        for (int m = 0; m < n; m++)
            memcpy(sn_recording_edit(kept, f) + 3 * m, sn_recording_frame(r->recording, f) + 3 * from[m],
                   3 * sizeof(double));
    sn_recording_destroy(r->recording);
    r->recording = kept;
    free(labels);
    free(from);
    return kept != NULL;
}

static bool load_files(fit_result *r) {
    const fit_settings *s = r->settings;
    if (!load_figure(s->model, true, 0, &r->figure)) return false;
    if (r->figure.document.note[0] != '\0') note(r, "%s: %s", s->model, r->figure.document.note);
    r->recording = load_recording(s->input);
    if (r->recording == NULL || (s->subject != NULL && !keep_subject(r))) return false;
    r->nlabel = sn_recording_get_info(r->recording)->nmarker;
    return true;
}

static bool apply_set(fit_result *r, const double *factor) {
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
    (void)file_error(r->settings->markers != NULL ? r->settings->markers : r->settings->model, &error);
    return false;
}

static bool match(fit_result *r) {
    r->column = must_alloc((size_t)sn_model_nmarker(r->model), sizeof *r->column);
    r->matched = sn_fit_match(r->model, r->recording, NULL, r->column);
    if (r->matched < 0) {
        complain("%s: several subjects have markers of the same names; choose one with --subject NAME, the "
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
             sn_model_nmarker(r->model), r->nnote > 0 ? "; " : "", r->nnote > 0 ? r->notes[0] : "");
    return false;
}

// Frames by their numbers in the file.
static bool choose_frames(fit_result *r) {
    const sn_recording_info *info = sn_recording_get_info(r->recording);
    long from = info->first_frame, to = from + info->nframe - 1;
    long first = r->plan->frames.first != LONG_MIN ? r->plan->frames.first : from;
    long last = r->plan->frames.last != LONG_MAX ? r->plan->frames.last : to;
    if (info->nframe == 0) {
        complain("%s: the recording has no frames", r->settings->input);
        return false;
    }
    if (first < from || last > to || first > last) {
        complain("--frames %s: the file's frames are %ld to %ld", r->settings->frames, from,
                to);
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
        complain("%s: no frame from %ld to %ld has three markers with data", r->settings->input, first, last);
        return false;
    }
    r->input = (sn_fit_input){.recording = r->recording,
                              .column = r->column,
                              .axes = sn_axis_map_identity(),
                              .first = (int)(first - from),
                              .count = (int)(last - first + 1)};
    return true;
}

static bool calibrate(fit_result *r) {
    bool placed = true;
    for (int i = 0; i < sn_marker_set_count(r->set); i++) placed &= sn_marker_set_place(r->set, i)->placed;
    r->input.model = r->model;
    if (!r->plan->must_calibrate && (placed || !r->plan->may_calibrate)) return true;
    int n = sn_model_nmarker(r->model);
    double *position = must_alloc((size_t)n, 3 * sizeof *position);
    meter m = {.shown = on_terminal(r->settings)};
    sn_calibrate_options o = r->plan->calibrate;
    sn_error error = {0};
    sn_fit_input input = r->input;
    input.model = r->limited;
    o.limits = r->plan->fit.limits != SN_LIMITS_OFF;
    o.cancel = &fit_cancelled;
    o.progress = show_calibration;
    o.progress_user = &m;
    double begin = now();
    sn_status status = sn_calibrate(&input, &o, NULL, position, r->factor, &r->calibration, &error);
    r->calibrate_seconds = now() - begin;
    r->calibrated = true;
    if (r->input.count < 60)
        note(r, "calibrated from %d frames only: a short or still take hardly tells marker places from joint "
                "angles, and a small error proves little",
             r->input.count);
    if (m.shown) fputs("\r\033[K", stderr);
    bool good = status == SN_OK && !fit_cancelled;
    if (status != SN_OK) (void)file_error(r->settings->input, &error);
    if (good) {
        sn_marker_place *places = must_alloc((size_t)n, sizeof *places);
        for (int i = 0; i < n; i++) {
            places[i] = *sn_marker_set_place(r->set, i);
            double moved = 0;
            for (int k = 0; k < 3; k++)
                moved += (position[3 * i + k] - places[i].position[k]) *
                         (position[3 * i + k] - places[i].position[k]);
            r->shift += sqrt(moved) / n;
            memcpy(places[i].position, position + 3 * i, sizeof places[i].position);
            places[i].placed = true;
        }
        sn_marker_set *next = NULL;
        good = sn_marker_set_create(sn_marker_set_name(r->set), places, n, NULL, &next) == SN_OK;
        sn_marker_set_destroy(r->set);
        r->set = next;
        r->reshaped = o.scale;
        good = good && apply_set(r, o.scale ? r->factor : NULL);
        free(places);
    }
    r->input.model = r->model;
    free(position);
    return good;
}

static bool run_fit(fit_result *r) {
    const sn_recording_info *info = sn_recording_get_info(r->recording);
    sn_fit_options o = r->plan->fit;
    meter m = {.shown = on_terminal(r->settings), .begin = now()};
    sn_error error = {0};
    o.cancel = &fit_cancelled;
    o.track.progress = show_fit;
    o.track.progress_user = &m;
    r->frames = must_alloc((size_t)r->input.count, sizeof *r->frames);
    r->markers = must_alloc((size_t)sn_model_nmarker(r->model), sizeof *r->markers);
    if (sn_motion_create(r->input.count, sn_model_nq(r->model), info->first_frame + r->input.first,
                         info->rate, NULL, &r->motion) != SN_OK) {
        complain("out of memory");
        return false;
    }
    sn_status status =
        sn_fit_run(&r->input, &o, NULL, r->motion, r->frames, r->markers, &r->summary, &error);
    r->fit_seconds = now() - m.begin;
    if (status != SN_OK) (void)file_error(r->settings->input, &error);
    for (int f = 0; status == SN_OK && f < r->input.count; f++)
        r->above += (double)r->frames[f].rms > r->plan->max_error;
    return status == SN_OK && !fit_cancelled;
}

// The frames that were fitted; NULL and a message when memory is out.
static sn_recording *fitted_frames(const fit_result *r) {
    sn_recording_info info = *sn_recording_get_info(r->recording);
    const char **labels = must_alloc((size_t)info.nmarker, sizeof *labels);
    for (int m = 0; m < info.nmarker; m++) labels[m] = sn_recording_label(r->recording, m);
    info.nframe = r->input.count;
    info.first_frame += r->input.first;
    sn_recording *out = NULL;
    if (sn_recording_create(&info, labels, NULL, &out) != SN_OK) complain("out of memory");
    for (int f = 0; out != NULL && f < info.nframe; f++)
        memcpy(sn_recording_edit(out, f), sn_recording_frame(r->recording, r->input.first + f),
               3 * (size_t)info.nmarker * sizeof(double));
    free(labels);
    return out;
}

static bool write_outputs(fit_result *r) {
    const fit_settings *s = r->settings;
    // the recording must run alongside the motion
    sn_recording *part = fitted_frames(r);
    if (part == NULL) return false;
    scene all = {.figure = &r->figure,
                 .model = r->model,
                 .reshaped = r->reshaped,
                 .motion = r->motion,
                 .recording = part,
                 .page = s->page};
    bool good = true;
    outputs_hold();
    for (int i = 0; good && i < s->outputs.count && !fit_cancelled; i++)
        good = write_scene(s->outputs.word[i], &all);
    if (good && s->save_model != NULL) {
        // with the file's limits, whether or not they were used here
        scene shape = {.figure = &r->figure, .model = r->limited, .reshaped = r->reshaped};
        good = write_scene(s->save_model, &shape);
    }
    if (good && s->report != NULL) good = write_fit_report(s->report, r);
    sn_recording_destroy(part);
    return outputs_release(good && !fit_cancelled);
}

int fit_take(const fit_settings *settings, const fit_plan *plan, fit_result *r) {
    *r = (fit_result){.settings = settings, .plan = plan};
    bool good = load_files(r) && (r->set = choose_set(r)) != NULL && apply_set(r, NULL) && match(r) &&
                find_axes(r);
    int code = EXIT_INPUT;
    if (good) {
        r->factor = must_alloc((size_t)sn_model_njoint(r->model), sizeof *r->factor);
        move_recording(r);
        good = choose_frames(r);
        if (!good) return EXIT_INPUT;
        code = EXIT_FAILED;
        good = calibrate(r) && run_fit(r) && (settings->truth == NULL || compare_with_truth(r)) &&
               write_outputs(r);
    }
    if (fit_cancelled) {
        fputs("\nsinew: stopped; no file was left half-written\n", stderr);
        return EXIT_FAILED;
    }
    if (!good) return code;
    return r->above > 0 ? EXIT_POOR : EXIT_OK;
}

void free_result(fit_result *r) {
    for (int i = 0; i < r->nnote; i++) free(r->notes[i]);
    free(r->notes);
    free(r->frames);
    free(r->markers);
    free(r->column);
    free(r->factor);
    sn_motion_destroy(r->motion);
    sn_model_destroy(r->model);
    sn_model_destroy(r->limited);
    sn_marker_set_destroy(r->set);
    sn_recording_destroy(r->recording);
    free_figure(&r->figure);
}
