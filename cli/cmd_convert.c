// SPDX-License-Identifier: MIT
#include <math.h>
#include <string.h>

#include "convert.h"
#include "option_rows.h"
#include "output.h"

#define AT(field) offsetof(convert_settings, field)

static const char *const usage[] = {"IN... -o OUT [-o OUT ...] [options]", NULL};

static const help_item items[] = {
    {"a recording", "C3D, TRC, CSV, STO; to c3d, trc, csv, sto"},
    {"a model", "ASF, BVH, GLB, URDF, MJCF, OSIM, JSON, or \"humanoid\", the built-in figure; to "
                "asf, bvh, json, "
                "glb"},
    {"a motion", "BVH, GLB; AMC with its ASF; MOT, CSV with their model; to bvh, asf and amc, mot, "
                 "csv, glb; as "
                 "the paths of the model's markers, where it has some, to c3d, trc"},
    {"a marker set", "beside a model; puts the markers on it"},
    {"a recording, too", "beside a motion; is shown in the glb"},
    {0}};

static const option option_table[] = {
    {.group = "Output",
     ROW_FILE("--output", "-o", AT(outputs),
              "the file to write, in the format that its ending names"),
     .many = true},
    {ROW_OUT_UNITS("--out-units", AT(units), OUT_UNITS_HELP)},
    {ROW_OUT_UNITS("--units", AT(units), "another name of --out-units")},
    {ROW_AXIS("--up", AT(up), "turn everything so that this axis is up: x, y, z, -x, -y or -z")},
    {ROW_FLAG("--force", AT(force), "let an output replace an input")},
    {.group = "Frames",
     ROW_TEXT("--fps", "R", AT(fps),
              "resample at R frames per second; of a file without a rate (AMC), state it")},
    {ROW_FRAMES(AT(frames), "keep frames A to B, by their numbers in the file")},
    {ROW_TEXT("--every", "N", AT(every), "keep each N-th frame")},
    {.group = "Input",
     ROW_UNIT(
         "--in-units", AT(in_units),
         "the unit of inputs that state none (BVH, CSV); of a recording alone, in place of the "
         "stated one")},
    {ROW_AXIS("--in-up", AT(in_up),
              "the input's axis that points up, where it is stated or guessed wrong")},
    {0}};

static const help_item examples[] = {
    {"sinew convert skeleton.asf walk.amc -o walk.bvh --out-units cm",
     "Acclaim to BVH in centimetres"},
    {"sinew convert take.c3d -o take.trc --up y", "markers for OpenSim, with y up"},
    {"sinew convert walk.bvh --fps 30 -o walk.glb",
     "a motion for a game engine, at 30 frames a second"},
    {0}};

bool convert_plan(const convert_settings *s, conversion *out) {
    *out = (conversion){.settings = s, .clip = {.every = 1, .frames_word = s->frames}};
    if (s->fps != NULL) {
        if (!parse_number("--fps", s->fps, 0, &out->clip.fps)) return false;
        if (out->clip.fps < 1e-3 || out->clip.fps > 1e6) {
            complain("--fps takes a number of frames per second from 0.001 to 1000000, not \"%s\"",
                     s->fps);
            return false;
        }
    }
    if (s->every != NULL && !parse_integer("--every", s->every, 1, 1000000, &out->clip.every))
        return false;
    if (!parse_frames(s->frames, &out->clip.frames)) return false;
    if (!parse_out_unit(s->units, &out->metres, &out->source_unit)) return false;
    if (!parse_unit("--in-units", s->in_units, &out->in_metres)) return false;
    out->has_up = s->up != NULL;
    out->has_in_up = s->in_up != NULL;
    if ((out->has_up && !sn_axis_parse(s->up, &out->up, &out->up_sign)) ||
        (out->has_in_up && !sn_axis_parse(s->in_up, &out->in_up, &out->in_up_sign))) {
        complain("--up and --in-up take an axis: x, y, z, -x, -y or -z, not \"%s\"",
                 out->has_up && !sn_axis_parse(s->up, &out->up, &out->up_sign) ? s->up : s->in_up);
        return false;
    }
    return true;
}

// --- what makes sense ----------------------------------------------------------------------------

static bool refuse(const char *path, const char *why) {
    complain("%s: %s", path, why);
    return false;
}

static bool turns(const conversion *c) {
    return c->figure_path != NULL && c->has_up &&
           (c->up != c->figure.up || c->up_sign != c->figure.up_sign);
}

static bool has_output(const conversion *c, sn_format format) {
    for (int i = 0; i < c->settings->outputs.count; i++)
        if (sn_format_of_name(c->settings->outputs.word[i]) == format) return true;
    return false;
}

static bool check_without_figure(const conversion *c, const char *path, sn_format format) {
    if (c->table != NULL) {
        if (format != SN_FORMAT_MOT && format != SN_FORMAT_CSV)
            return refuse(path, "a table of coordinates needs its model as another input");
        if (c->has_up || c->clip.fps > 0 || c->clip.every > 1 || c->clip.frames_word != NULL ||
            c->metres > 0)
            return refuse(
                path,
                "a table can only be changed (--fps, --frames, --every, --up, --out-units) with "
                "its model as another input");
        return true;
    }
    if (c->recording == NULL) return refuse(path, "there is nothing to write");
    switch (format) {
    case SN_FORMAT_C3D:
    case SN_FORMAT_TRC:
    case SN_FORMAT_MOT:
        if (sn_recording_about(c->recording)->rate > 0) return true;
        return refuse(path, "the recording has no frame rate, which this format needs: state one "
                            "with --fps");
    case SN_FORMAT_CSV:
        return true;
    case SN_FORMAT_GLB:
        return refuse(path,
                      "markers are shown beside a figure: give its skeleton, or motion, as another "
                      "input");
    default:
        return refuse(path,
                      "markers do not become a skeleton's motion by conversion: use sinew fit -m "
                      "SKELETON -i MARKERS");
    }
}

static bool check_motion_needed(const conversion *c, const char *path) {
    if (c->motion != NULL) return true;
    return refuse(path,
                  c->recording != NULL
                      ? "there is a skeleton and markers, but no motion: use sinew fit to find one"
                      : "there is no motion to write: the inputs hold a model alone");
}

static bool check_with_figure(const conversion *c, const char *path, sn_format format) {
    switch (format) {
    case SN_FORMAT_AMC: {
        if (!check_motion_needed(c, path)) return false;
        bool own = c->figure.document.format == SN_FORMAT_ASF && !turns(c) &&
                   (c->metres == 0 || c->source_unit || c->metres == c->figure_world.metres);
        if (own || has_output(c, SN_FORMAT_ASF)) return true;
        return refuse(path, "an AMC file needs the skeleton it belongs to: write that too, "
                            "with -o NAME.asf");
    }
    case SN_FORMAT_MOT:
        if (!check_motion_needed(c, path)) return false;
        if (turns(c)) return refuse(path, "coordinates of a model do not turn: leave --up out");
        return true;
    case SN_FORMAT_CSV:
        if (!check_motion_needed(c, path)) return false;
        if (turns(c)) return refuse(path, "coordinates of a model do not turn: leave --up out");
        return true;
    case SN_FORMAT_C3D:
    case SN_FORMAT_TRC:
        if (!check_motion_needed(c, path)) return false;
        if (sn_model_nmarker(convert_model(c)) > 0) return true;
        return refuse(path,
                      "the model has no markers: give a marker set as another input (sinew markers "
                      "makes one)");
    default:
        return true;
    }
}

static bool check_outputs(const conversion *c) {
    for (int i = 0; i < c->settings->outputs.count; i++) {
        const char *path = c->settings->outputs.word[i];
        sn_format format = sn_format_of_name(path);
        if (!output_allowed(path)) return false;
        if (format == SN_FORMAT_URDF || format == SN_FORMAT_OSIM || format == SN_FORMAT_MJCF)
            return refuse(
                path,
                "files of this format can be read, but not written; write asf, bvh, glb or json");
        if (!(c->figure_path != NULL ? check_with_figure(c, path, format)
                                     : check_without_figure(c, path, format)))
            return false;
    }
    return true;
}

// --- writing -------------------------------------------------------------------------------------

static bool write_table(const char *path, const sn_table *table) {
    output out;
    sn_error error = {0};
    if (!output_open(&out, path)) return false;
    sn_sink sink = output_sink(&out);
    sn_status status = sn_format_of_name(path) == SN_FORMAT_MOT
                           ? sn_sto_write(table, &sink, &error)
                           : sn_csv_write_table(table, &sink, &error);
    return output_close(&out, status, &error);
}

// The turn from the figure's up axis to the wanted one as a quaternion.
static void rotation_of(const conversion *c, double out[4]) {
    sn_axis_map map = sn_axis_map_up(c->figure.up, c->figure.up_sign, c->up, c->up_sign);
    sn_mat3 R = {{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
    for (int i = 0; i < 3; i++) (&R.c[map.axis[i]].x)[i] = map.sign[i];
    sn_quat q = sn_quat_from_mat3(R);
    out[0] = q.w, out[1] = q.x, out[2] = q.y, out[3] = q.z;
}

static bool write_outputs(const conversion *c) {
    sn_scene s = c->figure_path != NULL ? figure_scene(&c->figure) : sn_scene_default(NULL);
    s.model = convert_model(c);
    s.motion = c->motion;
    s.recording = c->recording;
    double recorded = c->recording != NULL ? c->recording_world.metres : 0;
    double modelled = c->figure_path != NULL ? c->figure_world.metres : 0;
    if (turns(c)) rotation_of(c, s.rotation);
    for (int i = 0; i < c->settings->outputs.count; i++) {
        const char *path = c->settings->outputs.word[i];
        char unit[48] = "";
        s.metres_per_unit = c->source_unit ? source_unit(path, recorded, modelled) : c->metres;
        if (!(c->table != NULL ? write_table(path, c->table) : write_scene(path, &s, NULL)))
            return false;
        if (c->table == NULL)
            describe_unit(sn_scene_unit(&s, sn_format_of_name(path)), unit, sizeof unit);
        printf("wrote  %s%s\n", path, unit);
    }
    return true;
}

static void say_world(const char *what, const world *w) {
    char unit[120], up[60] = "not stated";
    world_describe_unit(w, unit, sizeof unit);
    if (w->up_known != NULL) (void)snprintf(up, sizeof up, "%s (%s)", w->up_text, w->up_known);
    printf("%-6s unit of length %s, up %s\n", what, unit, up);
}

// Native models are taken to have y up.
static void say_lost_axis(conversion *c) {
    if (c->figure_path == NULL || c->has_up || !has_output(c, SN_FORMAT_MODEL)) return;
    if (c->figure.up == 1 && c->figure.up_sign > 0) return;
    convert_note(c,
                 "a JSON model states no up axis and is read with y up; this figure has %s up "
                 "(--up y turns it)",
                 c->figure_world.up_text);
}

static void say_all(const conversion *c) {
    if (c->figure_path != NULL) say_world("model", &c->figure_world);
    if (c->recording != NULL) say_world("taken", &c->recording_world);
    if (c->has_up) printf("turned so that %s is up\n", c->settings->up);
    for (int i = 0; i < c->nnote; i++) printf("note   %s\n", c->notes[i]);
}

static int convert(const convert_settings *s) {
    conversion c;
    if (!convert_plan(s, &c)) return EXIT_USAGE;
    int code = EXIT_INPUT;
    if (convert_read(&c)) {
        say_lost_axis(&c);
        say_all(&c);
        code = !check_outputs(&c) ? EXIT_INPUT : write_outputs(&c) ? EXIT_OK : EXIT_FAILED;
    }
    convert_free(&c);
    return code;
}

static int run(int argc, char **argv) {
    convert_settings s = {0};
    const char *files[CONVERT_INPUTS];
    int code = parse_options(&command_convert, argc, argv, &s, files, &s.nfile);
    if (code >= 0) return code;
    s.files = files;
    outputs_may_replace(s.force, "--force");
    if (s.nfile == 0 || s.outputs.count == 0)
        return wrong_usage(&command_convert, "an input and an output (-o) are needed");
    for (int i = 0; i < s.outputs.count; i++)
        if (sn_format_of_name(s.outputs.word[i]) == SN_FORMAT_UNKNOWN) {
            fprintf(stderr,
                    "sinew convert: -o %s: its ending must be one of asf, amc, bvh, c3d, trc, mot, "
                    "sto, csv, glb, json\n",
                    s.outputs.word[i]);
            return EXIT_USAGE;
        }
    return convert(&s);
}

const command command_convert = {.name = "convert",
                                 .summary =
                                     "write files as other formats, at another rate, unit or axis",
                                 .usage = usage,
                                 .about = "Write files as other formats. Markers become a motion "
                                          "by sinew fit, not here. IN are, in any order:",
                                 .items = items,
                                 .options = option_table,
                                 .examples = examples,
                                 .word = "IN",
                                 .word_choices = NULL,
                                 .most_words = CONVERT_INPUTS,
                                 .run = run};
