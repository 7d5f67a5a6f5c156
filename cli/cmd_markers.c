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

enum { SEARCHED = 5 };  // offsets, to either side

// Offset 0 is believed unless another makes the markers this much quieter.
static const double clearly = 0.98;

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
    int offset, unnamed;
    bool offset_found;
    sn_axis_map axes;
    const char *axes_known;
    double spread, next;  // of the axes; 0 when they were given
    sn_marker_set *set;
    double *spreads;
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

// The sign between subject and marker in the labels, as the library reads them. False and a message when
// the subject is unknown, or not named among several.
static bool find_sign(const lesson *l, char *sign) {
    enum { MOST = 40 };
    sn_subject all[MOST];
    const char *subject = l->settings->subject;
    int count = 0, known = 0;
    sn_error error = {0};
    if (sn_take_subjects(l->figure.model, l->recording, NULL, all, MOST, &count, &error) != SN_OK) {
        complain("%s", error.text);
        return false;
    }
    *sign = count > 0 ? all[0].name[all[0].length] : '\0';
    if (count < 2 && subject == NULL) return true;
    char names[1000] = "";
    for (int i = 0; i < count && i < MOST; i++) {
        size_t used = strlen(names);
        (void)snprintf(names + used, sizeof names - used, "%s%.*s", i > 0 ? ", " : "",
                       all[i].length, all[i].name);
        known |= subject != NULL && strlen(subject) == (size_t)all[i].length &&
                 memcmp(subject, all[i].name, strlen(subject)) == 0;
    }
    if (known) return true;
    if (subject == NULL)
        complain("%s: several subjects; choose one with --subject NAME: %s", l->settings->input,
                 names);
    else
        complain("%s: no label belongs to the subject \"%s\"; here are: %s", l->settings->input,
                 subject, count > 0 ? names : "none");
    return false;
}

// Only one subject's markers, with a colon before their names.
static bool keep_subject(lesson *l) {
    const char *subject = l->settings->subject;
    char sign;
    if (!find_sign(l, &sign)) return false;
    if (subject == NULL && (sign == ':' || sign == '\0')) return true;
    sn_recording_info info = *sn_recording_about(l->recording);
    int all = info.nmarker, *column = must_alloc((size_t)all, sizeof *column);
    char **labels = must_alloc((size_t)all, sizeof *labels);
    size_t n = subject != NULL ? strlen(subject) : 0;
    info.nmarker = 0;
    for (int m = 0; m < all; m++) {
        const char *label = sn_recording_label(l->recording, m), *at = strrchr(label, sign);
        if (subject != NULL &&
            (at == NULL || (size_t)(at - label) != n || memcmp(label, subject, n) != 0))
            continue;
        char *copy = must_alloc(strlen(label) + 1, 1);
        (void)strcpy(copy, label);
        if (at != NULL && at > label) copy[at - label] = ':';
        column[info.nmarker] = m;
        labels[info.nmarker++] = copy;
    }
    sn_recording *kept = NULL;
    if (sn_recording_create(&info, (const char *const *)labels, NULL, &kept, NULL) != SN_OK)
        complain("out of memory");
    for (int f = 0; kept != NULL && f < info.nframe; f++)
        for (int m = 0; m < info.nmarker; m++)
            memcpy(sn_recording_edit(kept, f) + 3 * m,
                   sn_recording_frame(l->recording, f) + 3 * column[m], 3 * sizeof(double));
    for (int m = 0; m < info.nmarker; m++) free(labels[m]);
    free(labels);
    free(column);
    if (kept == NULL) return false;
    sn_recording_destroy(l->recording);
    l->recording = kept;
    return true;
}

static bool check_rates(const lesson *l) {
    double motion = sn_motion_rate(l->motion), recording = sn_recording_about(l->recording)->rate;
    if (!(motion > 0) || !(recording > 0) || fabs(motion / recording - 1) < SAME_RATE) return true;
    complain("the motion has %g frames/s, the recording %g: bring them together first, with sinew "
             "convert "
             "--fps",
             motion, recording);
    return false;
}

// --- matching frames -----------------------------------------------------------------------------

// Frame 0 of both belong together afterwards.
static bool shift(const lesson *l, int offset, sn_motion **motion, sn_recording **recording) {
    int nmotion = sn_motion_nframe(l->motion), nrec = sn_recording_about(l->recording)->nframe;
    int skip_motion = offset > 0 ? offset : 0, skip_rec = offset < 0 ? -offset : 0;
    *motion = NULL;
    *recording = NULL;
    if (skip_motion >= nmotion || skip_rec >= nrec) return false;
    *motion = cut_motion(l->motion, skip_motion, nmotion - skip_motion);
    *recording = cut_recording(l->recording, skip_rec, nrec - skip_rec);
    return *motion != NULL && *recording != NULL;
}

static double spread_at(const lesson *l, int offset) {
    sn_motion *motion;
    sn_recording *recording;
    double spread = INFINITY;
    if (shift(l, offset, &motion, &recording))
        (void)sn_marker_spread(l->figure.model, motion, recording, &l->axes, NULL, &spread, NULL);
    sn_motion_destroy(motion);
    sn_recording_destroy(recording);
    return spread;
}

static void find_offset(lesson *l) {
    double least = clearly * spread_at(l, 0);
    for (int k = 1; k <= SEARCHED; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double spread = spread_at(l, sign * k);
            if (!(spread < least)) continue;
            least = spread;
            l->offset = sign * k;
        }
    l->offset_found = true;
}

static bool apply_offset(lesson *l) {
    sn_motion *motion;
    sn_recording *recording;
    if (l->offset == 0) return true;
    if (!shift(l, l->offset, &motion, &recording)) {
        sn_motion_destroy(motion);
        sn_recording_destroy(recording);
        complain("--offset %d: no frames are left", l->offset);
        return false;
    }
    sn_motion_destroy(l->motion);
    sn_recording_destroy(l->recording);
    l->motion = motion;
    l->recording = recording;
    return true;
}

// --- axes ----------------------------------------------------------------------------------------

static bool find_axes(lesson *l) {
    const settings *s = l->settings;
    const sn_recording_info *info = sn_recording_about(l->recording);
    sn_error error = {0};
    double unit, sign;
    int up;
    if (!parse_unit("--units", s->units, &unit)) return false;
    if (sn_axes_learn(l->figure.model, l->motion, l->recording, NULL, &l->axes, &l->spread,
                      &l->next, &error) != SN_OK) {
        complain("%s", error.text);
        return false;
    }
    double scale = l->axes.scale;
    l->axes_known = "found";
    // a take in which the figure does not turn can't tell; then up must do
    if (l->next < 1.2 * l->spread && s->axes == NULL && s->up == NULL) {
        complain("which way the recording lies is not clear from this take (%.1f mm of movement, "
                 "and %.1f mm "
                 "the other way); say it with --axes or --up",
                 1e3 * l->spread, 1e3 * l->next);
        return false;
    }
    if (s->up != NULL && sn_axis_parse(s->up, &up, &sign))
        l->axes = sn_axis_map_up(up, sign, l->figure.up, l->figure.up_sign);
    if (s->axes != NULL) (void)sn_axis_map_parse(s->axes, &l->axes);
    if (s->axes != NULL || s->up != NULL) l->axes_known = "given";
    l->axes.scale =
        unit > 0 ? unit / (info->metres_per_unit > 0 ? info->metres_per_unit : 1) : scale;
    return true;
}

// --- the result ----------------------------------------------------------------------------------

static int samples_of(const lesson *l, const char *name) {
    const sn_recording_info *info = sn_recording_about(l->recording);
    int frames =
        sn_motion_nframe(l->motion) < info->nframe ? sn_motion_nframe(l->motion) : info->nframe;
    int marker = sn_recording_find(l->recording, name), count = 0;
    for (int f = 0; f < frames; f++) count += sn_recording_present(l->recording, f, marker);
    return count;
}

static bool in_set(const lesson *l, const char *name) {
    for (int i = 0; i < sn_marker_set_count(l->set); i++)
        if (strcmp(sn_marker_set_place(l->set, i)->name, name) == 0) return true;
    return false;
}

static void print_result(const lesson *l) {
    const sn_recording_info *info = sn_recording_about(l->recording);
    char word[8], unit[24];
    sn_axis_map_print(&l->axes, word);
    printf("%s with %s\n", l->settings->input,
           l->settings->motion != NULL ? l->settings->motion : l->settings->model);
    printf("  axes     the model's x y z are the recording's %s (%s", word, l->axes_known);
    if (strcmp(l->axes_known, "found") == 0)
        printf(": markers move by %.1f mm, with the next best axes by %.1f mm", 1e3 * l->spread,
               1e3 * l->next);
    if (info->metres_per_unit > 0) {
        printf(")\n  units    %s (stated)\n", info->unit);
    } else {
        sn_unit_name(l->axes.scale, unit);
        printf(")\n  units    %s (%s)\n", unit, l->settings->units != NULL ? "given" : "found");
    }
    printf("  frames   matched from the first of both on, offset %d (%s)\n", l->offset,
           l->offset_found ? "found" : "given");
    printf("\n  %-12s %-16s %9s %9s\n", "marker", "joint", "spread", "samples");
    for (int i = 0; i < sn_marker_set_count(l->set); i++) {
        const sn_marker_place *p = sn_marker_set_place(l->set, i);
        printf("  %-12s %-16s %6.1f mm %9d\n", p->name, p->joint, 1e3 * l->spreads[i],
               samples_of(l, p->name));
    }
    for (int m = 0, n = 0; m < info->nmarker; m++) {
        const char *name = sn_label_name(sn_recording_label(l->recording, m));
        if (in_set(l, name)) continue;
        printf("%s%s", n++ == 0 ? "\n  left out (unnamed, or fewer than three samples): " : ", ",
               name);
        if (m == info->nmarker - 1) putchar('\n');
    }
    printf("\n  wrote    %s\n", l->settings->output);
}

static bool learn(lesson *l) {
    sn_error error = {0};
    int n = sn_recording_about(l->recording)->nmarker;
    l->spreads = must_alloc((size_t)n, sizeof *l->spreads);
    if (sn_marker_set_learn(l->figure.model, l->motion, l->recording, &l->axes, NULL, &l->set,
                            l->spreads, &error) == SN_OK)
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

static bool check_words(const settings *s, long *offset) {
    sn_axis_map map;
    double number;
    int axis;
    if (s->model == NULL || s->input == NULL || s->output == NULL) {
        (void)wrong_usage(&command_markers,
                          "a skeleton (-m), its motion (-a), a recording (-i) and an output "
                          "(-o) are needed");
        return false;
    }
    if (s->axes != NULL && !sn_axis_map_parse(s->axes, &map)) {
        complain("--axes takes the recording's axes that become the model's x, y and z, such as "
                 "yzx or x-zy, "
                 "and only rotations; \"%s\" is none",
                 s->axes);
        return false;
    }
    if (s->up != NULL && !sn_axis_parse(s->up, &axis, &number)) {
        complain(
            "--up takes the recording's axis that points up: x, y, z, -x, -y or -z; not \"%s\"",
            s->up);
        return false;
    }
    return parse_unit("--units", s->units, &number) &&
           (s->offset == NULL || parse_integer("--offset", s->offset, -1000000, 1000000, offset));
}

static int run(int argc, char **argv) {
    settings s = {0};
    int nword, code = parse_options(&command_markers, argc, argv, &s, NULL, &nword);
    long offset = 0;
    if (code >= 0) return code;
    if (!check_words(&s, &offset)) return EXIT_USAGE;
    lesson l = {.settings = &s, .offset = (int)offset};
    bool good = load_figure(s.model, false, 0, &l.figure) && load_motion(&l) &&
                (l.recording = load_recording(s.input)) != NULL && keep_subject(&l) &&
                check_rates(&l);
    // given offsets first, as the axes are found from frames that belong together; a small one that
    // is still to be found does not hide them
    if (good && s.offset != NULL) good = apply_offset(&l);
    good = good && find_axes(&l);
    if (good && s.offset == NULL) {
        find_offset(&l);
        good = apply_offset(&l);
    }
    good = good && learn(&l);
    code = !good ? EXIT_INPUT : write_set(&l) ? EXIT_OK : EXIT_FAILED;
    if (code == EXIT_OK) print_result(&l);
    sn_marker_set_destroy(l.set);
    free(l.spreads);
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
