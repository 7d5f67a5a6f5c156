// SPDX-License-Identifier: MIT
// What the inputs of a conversion are together: a figure, its motion, a recording.
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "convert.h"

void convert_note(conversion *c, const char *format, ...) {
    if (c->nnote == CONVERT_NOTES) return;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(c->notes[c->nnote++], sizeof c->notes[0], format, arguments);
    va_end(arguments);
}

const sn_model *convert_model(const conversion *c) {
    return c->marked != NULL ? c->marked : c->figure_path != NULL ? c->figure.model : NULL;
}

// --- the files -----------------------------------------------------------------------------------

static bool only_one(const char *what, const char **place, const char *path) {
    if (*place != NULL) {
        complain("two inputs hold %s: %s and %s; give one of them", what, *place, path);
        return false;
    }
    *place = path;
    return true;
}

static void say_frames(char *out, size_t size, int first, int count, double rate) {
    int n = snprintf(out, size, "%d frame%s", count, count == 1 ? "" : "s");
    if (count > 0 && n > 0)
        n += snprintf(out + n, size - (size_t)n, " (%d to %d)", first, first + count - 1);
    if (rate > 0) (void)snprintf(out + n, size - (size_t)n, ", %.6g frames/s", rate);
}

static void say_read(const input *in) {
    const sn_document *d = &in->document;
    char model[80] = "", frames[80] = "", markers[60] = "";
    if (d->model != NULL)
        (void)snprintf(model, sizeof model, ", %d joint%s, %d degree%s of freedom",
                       sn_model_njoint(d->model), sn_model_njoint(d->model) == 1 ? "" : "s",
                       sn_model_nv(d->model), sn_model_nv(d->model) == 1 ? "" : "s");
    if (d->motion != NULL)
        say_frames(frames, sizeof frames, sn_motion_first_frame(d->motion),
                   sn_motion_nframe(d->motion), sn_motion_rate(d->motion));
    if (d->recording != NULL) {
        const sn_recording_info *info = sn_recording_about(d->recording);
        (void)snprintf(markers, sizeof markers, ", %d marker%s", info->nmarker,
                       info->nmarker == 1 ? "" : "s");
        say_frames(frames, sizeof frames, info->first_frame, info->nframe, info->rate);
    }
    if (d->table != NULL)
        say_frames(frames, sizeof frames, 1, sn_table_about(d->table)->nrow,
                   sn_table_rate(d->table));
    if (in->set != NULL)
        (void)snprintf(markers, sizeof markers, ", %d markers", sn_marker_set_count(in->set));
    printf("read   %s: %s%s%s%s%s\n", in->path, sn_format_name(d->format), model, markers,
           frames[0] != '\0' ? ", " : "", frames);
}

// Hand an input's parts over to the conversion.
static bool take_input(conversion *c, input *in) {
    sn_document *d = &in->document;
    say_read(in);
    bool motion =
        d->motion != NULL && (d->format == SN_FORMAT_AMC || sn_motion_nframe(d->motion) > 0);
    if (motion || d->table != NULL) {
        if (!only_one("a motion", &c->motion_path, in->path)) return false;
        c->motion = d->motion;
        c->table = d->table;
        d->motion = NULL;
        d->table = NULL;
    }
    if (d->recording != NULL) {
        if (!only_one("markers", &c->recording_path, in->path)) return false;
        c->recording = d->recording;
        d->recording = NULL;
    }
    if (in->set != NULL) {
        if (!only_one("a marker set", &c->set_path, in->path)) return false;
        c->set = in->set;
        in->set = NULL;
    }
    if (d->model != NULL) {
        if (!only_one("a skeleton", &c->figure_path, in->path)) return false;
        c->figure_world = world_of_model(d);
        if (d->note[0] != '\0') convert_note(c, "%s: %s", in->path, d->note);
        char couplings[200];
        describe_couplings(d, couplings, sizeof couplings);
        if (couplings[0] != '\0')
            convert_note(
                c, "%s: %s; a JSON output keeps this, in other formats they move on their own",
                in->path, couplings);
        figure_of(d, &c->figure);
    }
    return true;
}

static bool read_one(conversion *c, const char *path, bool *wait) {
    input in;
    sn_error error;
    sn_document_options options = sn_document_options_default();
    options.use_limits = true;
    options.metres_per_unit = c->in_metres;
    if (wait == NULL && c->figure_path != NULL) options.skeleton = c->figure.skeleton;
    bool good = input_read(path, &options, &in, &error);
    bool markers = !good && in.document.format == SN_FORMAT_MARKERS;
    if (markers && wait == NULL && c->figure_path != NULL)
        good = input_read_set(path, c->figure.model, &in, &error);
    if (good) {
        good = take_input(c, &in);
    } else if (wait != NULL && (in.document.format == SN_FORMAT_AMC || markers)) {
        *wait = good = true;
    } else {
        (void)file_error(path, &error);
    }
    input_free(&in);
    return good;
}

// AMC files and OpenSim's marker sets wait until their skeleton is known.
static bool read_files(conversion *c) {
    const convert_settings *s = c->settings;
    bool wait[CONVERT_INPUTS] = {false};
    for (int i = 0; i < s->nfile; i++)
        if (!read_one(c, s->files[i], &wait[i])) return false;
    for (int i = 0; i < s->nfile; i++)
        if (wait[i] && !read_one(c, s->files[i], NULL)) return false;
    return true;
}

// --- together ------------------------------------------------------------------------------------

static bool table_to_motion(conversion *c) {
    if (c->table == NULL || c->figure_path == NULL) return true;
    sn_error error = {0};
    sn_status status = sn_motion_from_table(c->figure.model, c->table, NULL, &c->motion, &error);
    if (status != SN_OK) (void)file_error(c->motion_path, &error);
    sn_table_destroy(c->table);
    c->table = NULL;
    return status == SN_OK;
}

static bool apply_set(conversion *c) {
    if (c->set == NULL) return true;
    sn_error error = {0};
    if (c->figure_path == NULL) {
        complain("%s: a marker set needs the skeleton that it belongs to as another input",
                 c->set_path);
        return false;
    }
    if (sn_marker_set_apply(c->set, c->figure.model, SN_LIMITS_HARD, NULL, NULL, &c->marked,
                            &error) == SN_OK)
        return true;
    (void)file_error(c->set_path, &error);
    return false;
}

static void move_recording(sn_recording *recording, const sn_axis_map *map) {
    const sn_recording_info *info = sn_recording_about(recording);
    for (int f = 0; f < info->nframe; f++) {
        double *x = sn_recording_edit(recording, f);
        for (int m = 0; m < info->nmarker; m++) sn_axis_map_point(map, x + 3 * m, x + 3 * m);
    }
}

// A recording with other facts about it: what sn_recording_about() gives can't be changed in
// place.
static bool restate(conversion *c, const sn_recording_info *info) {
    const char **labels = must_alloc((size_t)info->nmarker, sizeof *labels);
    for (int m = 0; m < info->nmarker; m++) labels[m] = sn_recording_label(c->recording, m);
    sn_recording *next = NULL;
    sn_status status = sn_recording_create(info, labels, NULL, &next, NULL);
    free(labels);
    if (status != SN_OK) {
        complain("%s: %s", c->recording_path, sn_status_text(status));
        return false;
    }
    for (int f = 0; f < info->nframe; f++)
        memcpy(sn_recording_edit(next, f), sn_recording_frame(c->recording, f),
               3 * (size_t)info->nmarker * sizeof(double));
    sn_recording_destroy(c->recording);
    c->recording = next;
    return true;
}

// The recording in metres, whatever its file says.
static bool settle_unit(conversion *c) {
    sn_recording_info info = *sn_recording_about(c->recording);
    world *w = &c->recording_world;
    double stated = info.metres_per_unit;
    if (c->in_metres > 0 && (!(stated > 0) || c->figure_path == NULL))
        world_set_unit(w, c->in_metres, "given");
    if (!(w->metres > 0)) {
        convert_note(c,
                     "%s states no known unit of length: its numbers stay as they are (--in-units "
                     "states one)",
                     c->recording_path);
        return true;
    }
    if (w->metres == stated) return true;
    sn_axis_map map = sn_axis_map_identity();
    map.scale = w->metres / (stated > 0 ? stated : 1);
    info.metres_per_unit = w->metres;
    (void)snprintf(info.unit, sizeof info.unit, "%.15s", w->unit);
    if (!restate(c, &info)) return false;
    move_recording(c->recording, &map);
    return true;
}

// An axis of the recording, such as its y_screen, after it was turned.
static void turn_axis(const sn_axis_map *map, char word[4]) {
    int axis;
    double sign;
    if (!sn_axis_parse(word, &axis, &sign)) return;
    for (int i = 0; i < 3; i++)
        if (map->axis[i] == axis)
            (void)snprintf(word, 4, "%c%c", sign * map->sign[i] < 0 ? '-' : '+', "XYZ"[i]);
}

static bool turn_recording(conversion *c, const sn_axis_map *map, int up, double sign) {
    sn_recording_info info = *sn_recording_about(c->recording);
    turn_axis(map, info.x_screen);
    (void)snprintf(info.y_screen, sizeof info.y_screen, "%c%c", sign < 0 ? '-' : '+', "XYZ"[up]);
    if (!restate(c, &info)) return false;
    move_recording(c->recording, map);
    return true;
}

// Beside a figure the recording is brought into its world; alone it is turned as asked.
static bool settle_up(conversion *c) {
    world *w = &c->recording_world;
    char word[8];
    bool beside = c->figure_path != NULL;
    if (!beside && !c->has_up) return true;
    if (beside && c->recording_path == c->figure_path) return true;  // one file, one world (GLB)
    int up = beside ? c->figure.up : c->up;
    double sign = beside ? c->figure.up_sign : c->up_sign;
    sn_axes_report report;
    sn_axis_map map;
    if (beside && !c->has_in_up &&
        sn_axes_find(convert_model(c), c->recording, up, sign, NULL, &report, NULL) == SN_OK &&
        report.up_known == SN_KNOWN_FOUND)
        world_set_up(w, report.up, report.up_sign, GUESSED);
    if (w->up_known == NULL) {
        complain(
            "%s: the up axis is neither stated nor clear from the markers; give it with --in-up",
            c->recording_path);
        return false;
    }
    map = sn_axis_map_up(w->up, w->up_sign, up, sign);
    sn_axis_map_print(&map, word);
    if (beside) convert_note(c, "the skeleton's x y z are the recording's %s", word);
    if (strcmp(word, "xyz") == 0) return true;
    return turn_recording(c, &map, up, sign);
}

static bool settle_recording(conversion *c) {
    if (c->recording == NULL) return true;
    world *w = &c->recording_world;
    *w = world_of_recording(c->recording);
    if (c->has_in_up) world_set_up(w, c->in_up, c->in_up_sign, "given");
    if (w->conflict)
        convert_note(c, "%s states %s as up, but by their labels the markers stand along %s",
                     c->recording_path, w->up_text, w->shown);
    const sn_recording_info *info = sn_recording_about(c->recording);
    if (info->note[0] != '\0') convert_note(c, "%s: %s", c->recording_path, info->note);
    if (info->nanalog > 0 || info->nevent > 0) {
        char text[120];
        describe_left_out(info, text, sizeof text);
        convert_note(c, "%s: %s are left out", c->recording_path, text);
    }
    if (info->nrenamed > 0)
        convert_note(c, "%s: %d repeated label%s, renamed with _2, _3, ...", c->recording_path,
                     info->nrenamed, info->nrenamed == 1 ? "" : "s");
    return settle_unit(c) && settle_up(c);
}

static bool settle_figure(conversion *c) {
    if (c->figure_path == NULL) return true;
    figure *f = &c->figure;
    if (c->has_in_up && c->recording == NULL) {
        f->up = c->in_up, f->up_sign = c->in_up_sign;
        world_set_up(&c->figure_world, f->up, f->up_sign, "given");
    }
    if (c->in_metres > 0 && f->document.format == SN_FORMAT_BVH)
        world_set_unit(&c->figure_world, c->in_metres, "given");
    if (c->figure_world.up_known == NULL)
        world_set_up(&c->figure_world, f->up, f->up_sign, ASSUMED);
    return true;
}

// An AMC file has no rate; all that are about were captured at 120 frames a second.
static void settle_rate(conversion *c) {
    if (c->motion == NULL || sn_motion_rate(c->motion) > 0 || c->clip.fps > 0) return;
    if (c->recording != NULL && sn_recording_about(c->recording)->rate > 0) {
        c->clip.fps = sn_recording_about(c->recording)->rate;
        convert_note(c, "%s states no rate; the recording's is used", c->motion_path);
        return;
    }
    c->assumed_rate = true;
    c->clip.fps = 120;
    convert_note(c, "%s states no rate; 120 frames/s is assumed (--fps states another)",
                 c->motion_path);
}

static bool clip_all(conversion *c) {
    char said[240];
    const clip_plan *p = &c->clip;
    int first = c->motion != NULL ? sn_motion_first_frame(c->motion) : 0;
    if (c->motion == NULL && c->recording == NULL && c->table == NULL &&
        (p->frames_word != NULL || p->every > 1)) {
        complain("--frames and --every need frames, and these inputs have none");
        return false;
    }
    if (c->motion != NULL) {
        if (!clip_motion(p, c->motion_path, c->figure.model, &c->motion, said)) return false;
        if (said[0] != '\0' && !c->assumed_rate) convert_note(c, "%s: %s", c->motion_path, said);
    }
    if (c->recording == NULL) return true;
    bool good = c->motion != NULL ? clip_alongside(p, c->recording_path, first, &c->recording, said)
                                  : clip_recording(p, c->recording_path, &c->recording, said);
    if (good && said[0] != '\0') convert_note(c, "%s: %s", c->recording_path, said);
    return good;
}

bool convert_read(conversion *c) {
    if (!read_files(c) || !table_to_motion(c) || !apply_set(c) || !settle_figure(c) ||
        !settle_recording(c))
        return false;
    settle_rate(c);
    return clip_all(c);
}

void convert_free(conversion *c) {
    sn_table_destroy(c->table);
    sn_motion_destroy(c->motion);
    sn_recording_destroy(c->recording);
    sn_model_destroy(c->marked);
    sn_marker_set_destroy(c->set);
    if (c->figure_path != NULL) free_figure(&c->figure);
}
