// SPDX-License-Identifier: MIT
#include "fit_imu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit_setup.h"
#include "output.h"
#include "take_page.h"

static bool has_orientations(const sn_table *table) {
    for (int i = 0; table != NULL && i < sn_table_about(table)->ncolumn; i++) {
        const char *name = sn_table_column(table, i);
        size_t n = strlen(name);
        if (n > 3 && strcmp(name + n - 3, ".q0") == 0) return true;
    }
    return false;
}

bool is_imu_take(const fit_settings *s) {
    if (s->names != NULL && sn_ik_setup_about(s->names->setup)->imu) return true;
    if (sn_format_of_name(s->input) != SN_FORMAT_MOT || !is_plain_file(s->input)) return false;
    sn_error ignored = {0};
    sn_document document;
    size_t length;
    char *bytes = read_bytes(s->input, &length, &ignored);
    if (bytes == NULL) return false;
    bool found = sn_document_read(bytes, length, s->input, NULL, NULL, &document, NULL) == SN_OK &&
                 has_orientations(document.table);
    sn_document_destroy(&document);
    free(bytes);
    return found;
}

// "pelvis_imu:-z"; the sensor's name is to be freed.
static bool parse_heading(const char *word, sn_imu_options *o, char **sensor) {
    const char *colon = word != NULL ? strrchr(word, ':') : NULL;
    *sensor = NULL;
    if (word == NULL) return true;
    if (colon == NULL || colon == word ||
        !sn_axis_parse(colon + 1, &o->heading_axis, &o->heading_sign)) {
        fprintf(stderr,
                "sinew fit: --heading takes a sensor and its axis, such as pelvis_imu:z, not "
                "\"%s\"\n",
                word);
        return false;
    }
    *sensor = must_alloc((size_t)(colon - word) + 1, 1);
    memcpy(*sensor, word, (size_t)(colon - word));
    o->heading = *sensor;
    return true;
}

static bool asked(void *user) {
    (void)user;
    return fit_cancelled;
}

static bool write_all(const fit_settings *s, const figure *f, const sn_motion *motion) {
    sn_scene scene = figure_scene(f);
    scene.motion = motion;
    bool good = true;
    outputs_hold();
    for (int i = 0; good && i < s->outputs.count; i++)
        good = write_scene(s->outputs.word[i], &scene, s->page);
    good = good && write_motion_tables(s, f->model, motion);
    return outputs_release(good && !fit_cancelled);
}

static void print_report(const fit_settings *s, const sn_imu_report *r) {
    const double degrees = 180 / acos(-1.0);
    if (s->json) {
        printf("{\"take\":");
        print_json_string(s->input);
        printf(",\"sensors\":%d,\"frames\":%d,\"rms_degrees\":%.6g,\"worst_degrees\":%.6g}\n",
               r->sensors, r->count, degrees * r->rms, degrees * r->worst);
        return;
    }
    printf("%s: %d rows\n  sensors       %d\n", s->input, r->count, r->sensors);
    printf("  error         RMS %.3f degrees, worst %.2f (%s, row %d)\n", degrees * r->rms,
           degrees * r->worst, r->worst_sensor, r->first + r->worst_frame + 1);
    if (r->unknown[0] != '\0') printf("  note          on no body of the model: %s\n", r->unknown);
    for (int i = 0; i < s->outputs.count; i++) printf("  wrote         %s\n", s->outputs.word[i]);
}

// What is asked for and has no meaning for sensors.
static bool refuse_options(const fit_settings *s) {
    const struct {
        const char *name, *value;
    } marker_options[] = {
        {"--markers", s->markers},     {"--calibrate", s->calibrate}, {"--smooth", s->smooth},
        {"--robust", s->robust},       {"--subject", s->subject},     {"--truth", s->truth},
        {"--max-error", s->max_error}, {"--report", s->report},       {"--frames", s->frames}};
    for (size_t i = 0; i < sizeof marker_options / sizeof marker_options[0]; i++) {
        if (marker_options[i].value == NULL) continue;
        fprintf(stderr, "sinew fit: %s is about markers, and %s holds orientations of sensors\n",
                marker_options[i].name, s->input);
        return true;
    }
    return false;
}

int fit_imu(const fit_settings *s, const sn_take_options *plan) {
    sn_imu_options o = sn_imu_options_default();
    sn_document orientations = {0};
    sn_imu_report report;
    sn_error error = {0};
    sn_motion *motion = NULL;
    figure f = {0};
    char *sensor;
    if (refuse_options(s) || !parse_heading(s->heading, &o, &sensor)) return EXIT_USAGE;
    for (int i = 0; i < s->outputs.count; i++) {
        if (output_allowed(s->outputs.word[i])) continue;
        free(sensor);
        return EXIT_INPUT;
    }
    int code = EXIT_INPUT;
    if (load_figure(s->model, true, 0, &f) && load_document(s->input, NULL, &orientations)) {
        o.coordinates = f.document.coordinates;
        o.setup = s->names != NULL ? s->names->setup : NULL;
        o.limits = plan->limits == SN_LIMITS_SOFT ? SN_LIMITS_HARD : plan->limits;
        o.threads = plan->threads;
        o.cancel = (sn_cancel){asked, NULL};
        if (o.coordinates == NULL) {
            complain("%s: orientations of sensors need an .osim model", s->model);
        } else if (!has_orientations(orientations.table)) {
            complain("%s: this file holds no quaternions (DataType=Quaternion)", s->input);
        } else if (sn_imu_fit(f.model, orientations.table, &o, NULL, &motion, &report, &error) !=
                   SN_OK) {
            if (fit_cancelled)
                fputs("\nsinew: stopped; no file was left half-written\n", stderr);
            else
                (void)file_error(error.line > 0 ? s->setup : s->input, &error);
            if (fit_cancelled) code = EXIT_FAILED;
        } else if (!write_all(s, &f, motion)) {
            code = EXIT_FAILED;
        } else {
            print_report(s, &report);
            code = EXIT_OK;
        }
    }
    sn_motion_destroy(motion);
    sn_document_destroy(&orientations);
    free_figure(&f);
    free(sensor);
    return code;
}
