// SPDX-License-Identifier: MIT
// A marker set from a take whose motion is known.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clip.h"
#include "figure.h"
#include "inputs.h"
#include "option_rows.h"
#include "output.h"

typedef struct settings {
    const char *model, *motion, *input, *output, *subject, *offset, *axes, *up, *units;
} settings;

#define AT(field) offsetof(settings, field)

static const char *const usage[] = {"-m SKELETON -a MOTION -i TAKE -o SET.json [options]", NULL};

static const option option_table[] = {
    {.group = "Files", ROW_MODEL(AT(model), SKELETON_HELP)},
    {ROW_FILE("--motion", "-a", AT(motion),
              "its motion: AMC, MOT or CSV; a BVH with frames has its own")},
    {ROW_FILE("--input", "-i", AT(input), "the markers of the same take: C3D, TRC, CSV, STO")},
    {ROW_FILE("--output", "-o", AT(output), "the marker set")},
    {.group = "The recording", ROW_SUBJECT(AT(subject))},
    {ROW_TEXT("--offset", "N", AT(offset),
              "frame k of the recording belongs to frame k + N of the motion; without it the best "
              "of -5 to 5 is "
              "taken where it is clearly better than 0")},
    {ROW_AXES(AT(axes),
              "the recording's axes that become the model's x, y, z, such as yzx; without it the "
              "rotation with "
              "which markers move least is found")},
    {ROW_AXIS("--up", AT(up), "the recording's axis that points up, in place of --axes")},
    {ROW_UNIT("--units", AT(units),
              "the recording's unit of length, where the file states a wrong one or none: m, cm, "
              "mm, in or ft")},
    {0}};

static const help_item examples[] = {
    {"sinew markers -m skeleton.asf -a walk.amc -i walk.c3d -o set.json",
     "learn where the markers sit"},
    {"sinew fit -m skeleton.asf -i run.c3d --markers set.json -o run.bvh",
     "use it for another take"},
    {0}};

typedef struct lesson {
    const settings *settings;
    figure figure;
    sn_motion *motion;
    sn_recording *recording;
    sn_lesson learned;
    sn_marker_set *set;
    sn_learned *each;
} lesson;

// --- reading -------------------------------------------------------------------------------------

static bool load_motion(lesson *l) {
    const char *path = l->settings->motion;
    if (path == NULL) {
        l->motion = l->figure.document.motion;
        l->figure.document.motion = NULL;
        if (l->motion != NULL && sn_motion_nframe(l->motion) > 0) return true;
        complain("%s holds no motion; give one with -a", l->settings->model);
        return false;
    }
    input in;
    sn_error error;
    sn_document_options options = sn_document_options_default();
    options.skeleton = l->figure.skeleton;
    bool good = input_read(path, &options, &in, &error);
    if (good && in.document.format == SN_FORMAT_AMC) {
        l->motion = in.document.motion;
        in.document.motion = NULL;
    } else if (good && in.document.table != NULL) {
        good = sn_motion_from_table(l->figure.model, in.document.table, NULL, &l->motion, &error) ==
               SN_OK;
    } else if (good) {
        complain("%s: this %s file holds no motion of %s (a BVH file is its own skeleton: give it "
                 "with -m "
                 "alone)",
                 path, sn_format_name(in.document.format), l->settings->model);
        input_free(&in);
        return false;
    }
    if (!good) (void)file_error(path, &error);
    input_free(&in);
    return good;
}

// --- the result ----------------------------------------------------------------------------------

static void print_left_out(const lesson *l) {
    const sn_learned *out = l->each + sn_marker_set_count(l->set);
    for (int i = 0; i < l->learned.left_out; i++)
        printf("%s%s", i == 0 ? "\n  left out (unnamed, or fewer than three samples): " : ", ",
               out[i].name);
    if (l->learned.left_out > 0) putchar('\n');
}

static void print_result(const lesson *l) {
    const sn_recording_info *info = sn_recording_about(l->recording);
    const sn_lesson *found = &l->learned;
    char word[8], unit[24];
    sn_axis_map_print(&found->axes, word);
    printf("%s with %s\n", l->settings->input,
           l->settings->motion != NULL ? l->settings->motion : l->settings->model);
    printf("  axes     the model's x y z are the recording's %s (%s", word,
           found->axes_given ? "given" : "found");
    if (!found->axes_given)
        printf(": markers move by %.1f mm, with the next best axes by %.1f mm", 1e3 * found->spread,
               1e3 * found->next);
    if (info->metres_per_unit > 0) {
        printf(")\n  units    %s (stated)\n", info->unit);
    } else {
        sn_unit_name(found->axes.scale, unit);
        printf(")\n  units    %s (%s)\n", unit, l->settings->units != NULL ? "given" : "found");
    }
    printf("  frames   matched from the first of both on, offset %d (%s)\n", found->offset,
           l->settings->offset != NULL ? "given" : "found");
    printf("\n  %-12s %-16s %9s %9s\n", "marker", "joint", "spread", "samples");
    for (int i = 0; i < sn_marker_set_count(l->set); i++) {
        const sn_marker_place *p = sn_marker_set_place(l->set, i);
        printf("  %-12s %-16s %6.1f mm %9d\n", p->name, p->joint, 1e3 * l->each[i].spread,
               l->each[i].samples);
    }
    print_left_out(l);
    printf("\n  wrote    %s\n", l->settings->output);
}

static bool learn(lesson *l, const sn_learn_options *options) {
    sn_error error = {0};
    int n = sn_recording_about(l->recording)->nmarker;
    l->each = must_alloc((size_t)n + 1, sizeof *l->each);
    if (sn_marker_set_learn(l->figure.model, l->motion, l->recording, options, NULL, &l->set,
                            l->each, &l->learned, &error) == SN_OK)
        return true;
    complain("%s: %s", l->settings->input, error.text);
    return false;
}

static bool write_set(const lesson *l) {
    output out;
    if (!output_open(&out, l->settings->output)) return false;
    sn_sink sink = output_sink(&out);
    return output_close(&out, sn_marker_set_write_json(l->set, &sink, NULL), NULL);
}

static bool make_options(const settings *s, sn_learn_options *o) {
    long offset = 0;
    *o = sn_learn_options_default();
    if (s->model == NULL || s->input == NULL || s->output == NULL) {
        (void)wrong_usage(&command_markers,
                          "a skeleton (-m), its motion (-a), a recording (-i) and an output "
                          "(-o) are needed");
        return false;
    }
    if (s->axes != NULL && !sn_axis_map_parse(s->axes, &o->axes)) {
        complain("--axes takes the recording's axes that become the model's x, y and z, such as "
                 "yzx or x-zy, "
                 "and only rotations; \"%s\" is none",
                 s->axes);
        return false;
    }
    if (s->up != NULL && !sn_axis_parse(s->up, &o->up, &o->up_sign)) {
        complain(
            "--up takes the recording's axis that points up: x, y, z, -x, -y or -z; not \"%s\"",
            s->up);
        return false;
    }
    o->subject = s->subject;
    o->has_axes = s->axes != NULL;
    o->has_offset = s->offset != NULL;
    if (!parse_unit("--units", s->units, &o->unit) ||
        (o->has_offset && !parse_integer("--offset", s->offset, -1000000, 1000000, &offset)))
        return false;
    o->offset = (int)offset;
    return true;
}

static int run(int argc, char **argv) {
    settings s = {0};
    int nword, code = parse_options(&command_markers, argc, argv, &s, NULL, &nword);
    sn_learn_options options;
    if (code >= 0) return code;
    if (!make_options(&s, &options)) return EXIT_USAGE;
    lesson l = {.settings = &s};
    bool good = load_figure(s.model, false, 0, &l.figure) && load_motion(&l) &&
                (l.recording = load_recording(s.input)) != NULL;
    options.model_up = l.figure.up;
    options.model_up_sign = l.figure.up_sign;
    good = good && learn(&l, &options);
    code = !good ? EXIT_INPUT : write_set(&l) ? EXIT_OK : EXIT_FAILED;
    if (code == EXIT_OK) print_result(&l);
    sn_marker_set_destroy(l.set);
    free(l.each);
    sn_recording_destroy(l.recording);
    sn_motion_destroy(l.motion);
    free_figure(&l.figure);
    return code;
}

const command command_markers = {.name = "markers",
                                 .summary = "make a marker set from a take whose motion is known",
                                 .usage = usage,
                                 .about = "Make a marker set from a take whose motion is known: "
                                          "each marker goes to the joint in whose frame "
                                          "it moves least. sinew fit --markers SET.json then fits "
                                          "other takes of the same person and markers.",
                                 .options = option_table,
                                 .examples = examples,
                                 .run = run};
