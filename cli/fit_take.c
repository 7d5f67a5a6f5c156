// SPDX-License-Identifier: MIT
// One take from files to files.
#include "fit_take.h"

#include <stdlib.h>
#include <string.h>

#include "fit_setup.h"
#include "inputs.h"
#include "output.h"
#include "take_page.h"

atomic_bool fit_cancelled;

static bool asked(void *user) {
    (void)user;
    return fit_cancelled;
}

// --- files in ------------------------------------------------------------------------------------

static sn_marker_set *load_set(const char *path, const sn_model *model) {
    size_t length;
    sn_error error = {0};
    sn_marker_set *set = NULL;
    char *text = read_file(path, &length);
    if (text == NULL) return NULL;
    if (sn_marker_set_read(text, length, model, NULL, &set, &error) != SN_OK)
        (void)file_error(path, &error);
    free(text);
    return set;
}

// Told before the work, not after it.
static bool outputs_allowed(const fit_settings *s) {
    for (int i = 0; i < s->outputs.count; i++)
        if (!output_allowed(s->outputs.word[i])) return false;
    return (s->derivatives == NULL || output_allowed(s->derivatives)) &&
           (s->bodies == NULL || output_allowed(s->bodies)) &&
           (s->save_model == NULL || output_allowed(s->save_model)) &&
           (s->report == NULL || output_allowed(s->report));
}

static bool load_files(fit_result *r, sn_marker_set **set) {
    const fit_settings *s = r->settings;
    if (!load_setup_values(s->names, &r->values)) return false;
    if (!load_figure(s->model, true, 0, &r->figure)) return false;
    if (r->figure.document.note[0] != '\0')
        (void)snprintf(r->file_note, sizeof r->file_note, "%.190s: %s", s->model,
                       r->figure.document.note);
    r->recording = load_recording(s->input);
    if (r->recording == NULL) return false;
    if (s->still != NULL && !still_is_frames(s->still)) {
        r->still = load_recording(s->still);
        if (r->still == NULL) return false;
    }
    if (s->markers != NULL && strcmp(s->markers, "builtin") != 0) {
        *set = load_set(s->markers, r->figure.model);
        if (*set == NULL) return false;
    }
    return outputs_allowed(s);
}

// --- the take ------------------------------------------------------------------------------------

// What a step of the take failed with, and the exit code.
static int step_failed(const fit_result *r, const char *path, sn_status status) {
    int last = sn_take_nfinding(r->take) - 1;
    const sn_finding *f = sn_take_finding(r->take, last);
    if (fit_cancelled) return EXIT_FAILED;
    if (f == NULL || f->severity != SN_SEVERITY_ERROR) {
        complain("%s: %s", path, sn_status_text(status));
        return EXIT_FAILED;
    }
    char text[2400];
    (void)sn_take_sentence(r->take, last, SN_VOICE_COMMAND, text, sizeof text);
    if (f->code == SN_FINDING_SETUP && r->settings->setup != NULL) {
        if (f->number[0] > 0)
            complain("%s:%.0f: %s", r->settings->setup, f->number[0], text);
        else
            complain("%s: %s", r->settings->setup, text);
        return EXIT_INPUT;
    }
    if (f->code == SN_FINDING_JOINT_UNKNOWN && r->settings->markers != NULL)
        path = r->settings->markers;
    complain("%s: %s", path, text);
    // what was asked does not suit the model
    return f->code == SN_FINDING_FAILED && status != SN_ERR_VALUE ? EXIT_FAILED : EXIT_INPUT;
}

// The exit code, or -1 to go on.
static int fit(fit_result *r) {
    const char *path = r->settings->input;
    meter m = meter_begin(r->settings->quiet);
    sn_take_options o = *r->options;
    sn_marker_set *set = NULL;
    sn_error error = {0};
    if (!load_files(r, &set)) return EXIT_INPUT;
    o.markers = set;
    o.still = r->still;
    o.coordinates = r->figure.document.coordinates;
    o.setup = r->settings->names != NULL ? r->settings->names->setup : NULL;
    o.coordinate_values = r->values;
    if (o.setup != NULL && o.coordinates == NULL) {
        complain("%s: a setup of OpenSim needs an .osim model", r->settings->model);
        return EXIT_INPUT;
    }
    o.model_up = r->figure.up;
    o.model_up_sign = r->figure.up_sign;
    o.own_motion = r->figure.document.motion;
    o.cancel = (sn_cancel){asked, NULL};
    o.progress = meter_show;
    o.progress_user = &m;
    sn_status status = sn_take_create(r->figure.model, r->recording, &o, NULL, &r->take, &error);
    sn_marker_set_destroy(set);
    if (status != SN_OK) {
        (void)file_error(path, &error);
        return EXIT_FAILED;
    }
    m.fit_from = now();
    status = sn_take_prepare(r->take);
    if (status == SN_OK) status = sn_take_finish(r->take);
    meter_end(&m);
    if (status != SN_OK) {
        int code = step_failed(r, path, status);
        // rather than the report of another run
        if (r->settings->report != NULL && !fit_cancelled && code == EXIT_INPUT &&
            !write_fit_report(r->settings->report, r))
            code = EXIT_FAILED;
        return code;
    }
    r->calibrate_seconds = m.calibrated;
    r->fit_seconds = now() - m.fit_from;
    r->model = sn_take_model(r->take);
    r->motion = sn_take_motion(r->take);
    r->summary = sn_take_about(r->take);
    r->frames = sn_take_frames(r->take);
    r->markers = sn_take_marker_errors(r->take);
    return -1;
}

// --- a motion that is known ----------------------------------------------------------------------

// The motion of a file, for its own skeleton or else for the figure's model.
static sn_motion *load_known(const char *path, const figure *f, sn_document *document) {
    sn_document_options options = sn_document_options_default();
    sn_error error = {0};
    sn_motion *motion = NULL;
    options.skeleton = f->skeleton;
    bool amc = sn_format_of_name(path) == SN_FORMAT_AMC;
    if (amc && (f->skeleton == NULL || sn_skeleton_kind(f->skeleton) != SN_SKELETON_ASF)) {
        complain(
            "%s: an AMC file can be read only with its ASF file, and the model is none; make a "
            "BVH of the two (sinew convert X.asf %s -o truth.bvh) and give that to --truth",
            path, path);
        return NULL;
    }
    if (!load_document(path, &options, document)) return NULL;
    motion = document->motion;
    document->motion = NULL;
    if (motion == NULL && document->table != NULL) {
        if (sn_motion_from_table(f->model, document->table, NULL, &motion, &error) != SN_OK)
            (void)file_error(path, &error);
    } else if (motion == NULL) {
        complain("%s: this %s file holds no motion", path, sn_format_name(document->format));
    }
    return motion;
}

static bool compare_with_truth(fit_result *r) {
    sn_document document = {0};
    const char *path = r->settings->truth;
    sn_motion *motion = load_known(path, &r->figure, &document);
    bool good = motion != NULL;
    if (good) {
        sn_status status = sn_take_compare(r->take, document.model, motion, &r->truth);
        good = status == SN_OK;
        if (!good) (void)step_failed(r, path, status);
    }
    sn_motion_destroy(motion);
    sn_document_destroy(&document);
    return good;
}

// --- files out -----------------------------------------------------------------------------------

// An AMC file means nothing without the ASF file whose bones it moves.
static void tell_amc(fit_result *r) {
    const fit_settings *s = r->settings;
    const char *amc = NULL;
    bool reshaped = r->summary->reshaped, asf = false;
    bool ours = r->figure.skeleton != NULL && !reshaped &&
                sn_skeleton_kind(r->figure.skeleton) == SN_SKELETON_ASF;
    for (int i = 0; i < s->outputs.count; i++) {
        sn_format format = sn_format_of_name(s->outputs.word[i]);
        asf |= format == SN_FORMAT_ASF;
        if (format == SN_FORMAT_AMC) amc = s->outputs.word[i];
    }
    if (amc == NULL || asf || ours) return;
    // without the folder: a report is the same wherever it is written
    const char *slash = strrchr(amc, '/'), *name = slash != NULL ? slash + 1 : amc;
    const char *whose =
        reshaped ? "with the bone lengths found here" : "that no ASF file holds yet";
    char *out = r->output_note;
    if (s->name != NULL)
        (void)snprintf(out, sizeof r->output_note,
                       "%.200s belongs to a skeleton %s: write that beside it, --formats asf,amc",
                       name, whose);
    else
        (void)snprintf(out, sizeof r->output_note,
                       "%.200s belongs to a skeleton %s: write that beside it, -o %.*s.asf", name,
                       whose, (int)strlen(name) - 4, name);
}

static bool write_table(const char *path, sn_table *table, sn_error *error) {
    output out;
    if (table == NULL) {
        (void)file_error(path, error);
        return false;
    }
    bool good = output_open(&out, path);
    if (good) {
        const sn_sink sink = output_sink(&out);
        sn_status status = sn_format_of_name(path) == SN_FORMAT_CSV
                               ? sn_csv_write_table(table, &sink, error)
                               : sn_sto_write(table, &sink, error);
        good = output_close(&out, status, error);
    }
    sn_table_destroy(table);
    return good;
}

bool write_motion_tables(const fit_settings *s, const sn_model *model, const sn_motion *motion) {
    sn_table *table = NULL;
    sn_error error = {0};
    bool good = true;
    if (s->derivatives != NULL) {
        (void)sn_table_from_rates(model, motion, NULL, &table, &error);
        good = write_table(s->derivatives, table, &error);
    }
    table = NULL;
    if (good && s->bodies != NULL) {
        (void)sn_table_from_bodies(model, motion, NULL, &table, &error);
        good = write_table(s->bodies, table, &error);
    }
    return good;
}

// One output, in the unit that was asked for.
static bool write_output(fit_result *r, const char *path, sn_scene scene, int i) {
    bool source, page = is_page_name(path);
    sn_format format = sn_format_of_name(path);
    world model = world_of_model(&r->figure.document);
    (void)parse_out_unit(r->settings->out_units, &scene.metres_per_unit, &source);
    if (source)
        scene.metres_per_unit =
            source_unit(path, sn_recording_about(r->recording)->metres_per_unit, model.metres);
    r->out_unit[i] = page ? 0 : sn_scene_unit(&scene, format);
    const sn_samples measured = sn_take_samples(r->take);
    if (page || format == SN_FORMAT_GLB) scene.samples = &measured;
    return write_scene(path, &scene, r->settings->page);
}

static bool write_outputs(fit_result *r) {
    const fit_settings *s = r->settings;
    tell_amc(r);
    sn_scene all = figure_scene(&r->figure), shape = all;
    all.model = r->model;
    all.reshaped = shape.reshaped = r->summary->reshaped;
    all.motion = r->motion;
    // with the file's limits, whether or not they were used here
    shape.model = sn_take_limited_model(r->take);
    bool good = true;
    outputs_hold();
    for (int i = 0; good && i < s->outputs.count && !fit_cancelled; i++)
        good = write_output(r, s->outputs.word[i], all, i);
    if (good && s->save_model != NULL) good = write_scene(s->save_model, &shape, NULL);
    if (good && s->report != NULL) good = write_fit_report(s->report, r);
    good = good && write_motion_tables(s, r->model, r->motion);
    return outputs_release(good && !fit_cancelled);
}

// --- all of it -----------------------------------------------------------------------------------

int fit_take(const fit_settings *settings, const sn_take_options *options, fit_result *r) {
    *r = (fit_result){.settings = settings, .options = options};
    int code = fit(r);
    if (code < 0) {
        bool good = (settings->truth == NULL || compare_with_truth(r)) && write_outputs(r);
        code = !good                                                                  ? EXIT_FAILED
               : r->summary->above > 0 || sn_take_verdict(r->take) != SN_VERDICT_GOOD ? EXIT_POOR
                                                                                      : EXIT_OK;
    }
    if (fit_cancelled) {
        fputs("\nsinew: stopped; no file was left half-written\n", stderr);
        return EXIT_FAILED;
    }
    return code;
}

void free_result(fit_result *r) {
    sn_take_destroy(r->take);
    sn_recording_destroy(r->recording);
    sn_recording_destroy(r->still);
    sn_table_destroy(r->values);
    free_figure(&r->figure);
}
