// SPDX-License-Identifier: MIT
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"
#include "fit_setup.h"
#include "option_rows.h"
#include "output.h"

typedef struct settings {
    const char *setup, *model, *input, *markers, *mass, *times;
    word_list search, outputs;
    const char *factors;
    bool by_volume, json;
} settings;

#define AT(field) offsetof(settings, field)

static const char *const usage[] = {
    "--setup Setup_Scale.xml [--search DIR] [-m MODEL] [-i STATIC] [-o FILE ...]",
    "-m MODEL.osim -i STATIC [--markers SET.xml] [--mass KG] -o FILE [-o FILE ...]", NULL};

static const option option_table[] = {
    {.group = "Files",
     .name = "--setup",
     .kind = OPTION_FILE,
     .value = "FILE",
     .place = AT(setup),
     .help = "a setup of OpenSim's scale tool: measurements, factors by hand, the static pose and "
             "the placing of markers as it says; -m, -i, --markers and -o go before its own"},
    {.name = "--search",
     .kind = OPTION_FOLDER,
     .value = "DIR",
     .many = true,
     .place = AT(search),
     .help = "look for the setup's files here, too; else beside it"},
    {ROW_MODEL(AT(model), "the generic model, an OSIM file")},
    {ROW_FILE("--input", "-i", AT(input),
              "the static trial: C3D, TRC, CSV, STO; also what is measured")},
    {ROW_FILE("--markers", NULL, AT(markers),
              "a MarkerSet of OpenSim: its markers come into the model, in place of those of the "
              "same name")},
    {.name = "--output",
     .letter = "-o",
     .kind = OPTION_FILE,
     .value = "FILE",
     .many = true,
     .place = AT(outputs),
     .help = "osim: the scaled model, the file as it was wherever nothing changes; xml: its "
             "markers as a MarkerSet; mot, sto, csv: the static pose"},
    {ROW_FILE("--factors", NULL, AT(factors), "write the factors as a ScaleSet of OpenSim")},
    {.group = "The subject",
     ROW_TEXT("--mass", "KG", AT(mass),
              "of the subject; without it the setup's, if it states one")},
    {ROW_FLAG("--by-volume", AT(by_volume),
              "without a setup: bodies get heavier as they grow, else each keeps its share of the "
              "mass (preserve_mass_distribution)")},
    {ROW_TEXT("--times", "A:B", AT(times),
              "without a setup: seconds of the static trial; without it all of it")},
    {.group = "Messages", ROW_FLAG("--json", AT(json), "what was found as JSON")},
    {0}};

static const help_item examples[] = {
    {"sinew scale --setup subject01_Setup_Scale.xml", "all files as the setup names them"},
    {"sinew scale --setup Setup_Scale.xml --search data -o subject01.osim -o static.mot",
     "only the scaled model and the static pose"},
    {"sinew scale -m generic.osim -i static.trc --markers markers.xml --mass 72.6 -o ann.osim",
     "without a setup: a factor for each body from all distances between markers"},
    {0}};

// --- files in ------------------------------------------------------------------------------------

typedef struct files {
    const settings *s;
    char *setup_text;
    size_t setup_length;
    sn_scale_setup *setup;
    char *model, *markers, *measured, *at_rest, *coordinates;  // paths
    char *model_text, *marker_text;
    sn_recording *measured_trial, *static_trial;
    sn_table *values;
    sn_scaling_input input;
} files;

static char *copy_of(const char *text) {
    char *copy = must_alloc(strlen(text) + 1, 1);
    return strcpy(copy, text);
}

// The path of a file: as it was given, or as the setup names it; NULL: neither. False and a message when it is
// nowhere.
static bool name_file(const files *f, const char *given, const char *what, const char *named,
                      int line, char **out) {
    *out = NULL;
    if (given != NULL) {
        *out = copy_of(given);
    } else if (named[0] != '\0') {
        *out = find_setup_file(f->s->setup, &f->s->search, what, named, line);
        return *out != NULL;
    }
    return true;
}

// What the setup keeps in a file of its own.
static bool read_part(files *f, bool used, const char *what, const char *named, int line,
                      sn_status (*read)(sn_scale_setup *, const char *, size_t, sn_error *)) {
    if (!used || named[0] == '\0') return true;
    sn_error error = {0};
    char *path = find_setup_file(f->s->setup, &f->s->search, what, named, line);
    size_t length;
    char *text = path != NULL ? read_file(path, &length) : NULL;
    bool good = text != NULL && read(f->setup, text, length, &error) == SN_OK;
    if (text != NULL && !good) (void)file_error(path, &error);
    free(text);
    free(path);
    return good;
}

static bool read_setup(files *f) {
    sn_error error = {0};
    f->setup_text = read_file(f->s->setup, &f->setup_length);
    if (f->setup_text == NULL) return false;
    if (sn_scale_setup_read(f->setup_text, f->setup_length, NULL, &f->setup, &error) != SN_OK) {
        (void)file_error(f->s->setup, &error);
        return false;
    }
    const sn_scale_setup_info *info = sn_scale_setup_about(f->setup);
    if (!read_part(f, info->places, "task set", info->task_file, 0, sn_scale_setup_read_tasks) ||
        !read_part(f, info->scales, "measurement set", info->measurement_set_file,
                   info->measurement_set_line, sn_scale_setup_read_set) ||
        !read_part(f, info->scales, "scale set", info->scale_set_file, info->scale_set_line,
                   sn_scale_setup_read_set))
        return false;
    return name_file(f, f->s->model, "model", info->model_file, info->model_line, &f->model) &&
           name_file(f, f->s->markers, "marker set", info->marker_set_file, info->marker_set_line,
                     &f->markers) &&
           name_file(f, info->measured_file[0] != '\0' ? f->s->input : NULL, "marker file",
                     info->measured_file, info->measured_line, &f->measured) &&
           name_file(f, info->places ? f->s->input : NULL, "marker file", info->static_file,
                     info->static_line, &f->at_rest) &&
           name_file(f, NULL, "coordinate file", info->coordinate_file, info->coordinate_line,
                     &f->coordinates);
}

static bool read_files(files *f) {
    sn_scaling_input *in = &f->input;
    if (f->model == NULL) {
        complain("%s: <model_file> names no model, and there is no -m", f->s->setup);
        return false;
    }
    f->model_text = read_file(f->model, &in->model_length);
    if (f->model_text == NULL) return false;
    if (f->markers != NULL) {
        f->marker_text = read_file(f->markers, &in->markers_length);
        if (f->marker_text == NULL) return false;
    }
    if (f->measured != NULL && (f->measured_trial = load_recording(f->measured)) == NULL)
        return false;
    if (f->at_rest != NULL && (f->static_trial = load_recording(f->at_rest)) == NULL) return false;
    if (f->coordinates != NULL) {
        sn_document document;
        if (!load_document(f->coordinates, NULL, &document)) return false;
        f->values = document.table;
        document.table = NULL;
        sn_document_destroy(&document);
        if (f->values == NULL) {
            complain("%s: this file holds no table of coordinates", f->coordinates);
            return false;
        }
    }
    in->model = f->model_text;
    in->markers = f->marker_text;
    in->setup = f->setup;
    in->measured = f->measured_trial;
    in->at_rest = f->static_trial;
    in->coordinate_values = f->values;
    return true;
}

static void free_files(files *f) {
    sn_scale_setup_destroy(f->setup);
    sn_recording_destroy(f->measured_trial);
    sn_recording_destroy(f->static_trial);
    sn_table_destroy(f->values);
    char *all[] = {f->setup_text, f->model,       f->markers,    f->measured,
                   f->at_rest,    f->coordinates, f->model_text, f->marker_text};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

static const char *path_of(const files *f, sn_scaling_file file) {
    const char *paths[] = {f->s->setup, f->model, f->markers, f->measured, f->at_rest};
    const char *path = paths[file];
    return path != NULL ? path : f->model;
}

// --- files out -----------------------------------------------------------------------------------

// The static pose in OpenSim's own columns.
static bool write_static_pose(const char *path, const sn_scaling_info *info) {
    if (info->pose == NULL) {
        complain("%s: there is no static pose: no trial was given, or the setup places no markers",
                 path);
        return false;
    }
    sn_scene scene = sn_scene_default(info->model);
    scene.motion = info->pose;
    return write_scene(path, &scene, NULL);
}

static bool write_text(const char *path, const char *text, size_t length) {
    output out;
    if (!output_open(&out, path)) return false;
    sn_sink sink = output_sink(&out);
    bool good = sink.write(sink.user, text, length);
    return output_close(&out, good ? SN_OK : SN_ERR_FILE, NULL);
}

typedef enum kind { MODEL, SCALED, MARKERS, POSE, FACTORS } kind;

static bool ends_with(const char *path, const char *ending) {
    size_t n = strlen(path), m = strlen(ending);
    return n >= m && strcmp(path + n - m, ending) == 0;
}

static kind kind_of(const char *path) {
    return ends_with(path, ".osim") ? MODEL : ends_with(path, ".xml") ? MARKERS : POSE;
}

typedef struct target {
    kind kind;
    char *path;
} target;

enum { TARGETS = 70 };

// What -o asks for, or what the setup names.
static int list_targets(const files *f, target out[TARGETS]) {
    const settings *s = f->s;
    const sn_scale_setup_info *info = sn_scale_setup_about(f->setup);
    int n = 0;
    for (int i = 0; i < s->outputs.count; i++)
        out[n++] = (target){kind_of(s->outputs.word[i]), copy_of(s->outputs.word[i])};
    if (s->factors != NULL) out[n++] = (target){FACTORS, copy_of(s->factors)};
    if (n > 0 || info == NULL) return n;
    const struct {
        kind kind;
        const char *name;
    } own[] = {{SCALED, info->scaled_model_file},
               {FACTORS, info->scale_file},
               {POSE, info->motion_file},
               {MODEL, info->output_model_file},
               {MARKERS, info->marker_file}};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (own[i].name[0] != '\0')
            out[n++] = (target){own[i].kind, beside_setup(s->setup, own[i].name)};
    return n;
}

static bool write_target(const target *t, const sn_scaling_info *i) {
    switch (t->kind) {
    case MODEL:
        return write_text(t->path, i->model_text, i->model_length);
    case SCALED:
        return write_text(t->path, i->scaled_text, i->scaled_length);
    case MARKERS:
        return write_text(t->path, i->marker_text, i->marker_length);
    case FACTORS:
        return write_text(t->path, i->factor_text, i->factor_length);
    default:
        return write_static_pose(t->path, i);
    }
}

// --- what is said --------------------------------------------------------------------------------

static void print_json(const sn_scaling_info *info) {
    printf("{\"mass\":");
    print_number(info->mass);
    printf(",\"factors\":{");
    for (int i = 0; i < info->nbody; i++) {
        if (i > 0) putchar(',');
        print_json_string(info->body[i].name);
        putchar(':');
        print_numbers(info->body[i].factor, 3);
    }
    printf("},\"markers\":[");
    for (int i = 0; i < info->nmarker; i++) {
        const sn_scaling_marker *m = &info->marker[i];
        printf("%s{\"name\":", i > 0 ? "," : "");
        print_json_string(m->name);
        printf(",\"fixed\":%s,\"seen\":%s,\"location\":", m->fixed ? "true" : "false",
               m->seen ? "true" : "false");
        print_numbers(m->location, 3);
        if (m->seen) {
            printf(",\"error\":");
            print_number(m->error);
        }
        putchar('}');
    }
    printf("]");
    if (info->pose != NULL) {
        printf(",\"rms\":");
        print_number(info->rms);
        printf(",\"worst\":");
        print_number(info->worst);
        printf(",\"objective\":");
        print_number(info->objective);
    }
    printf("}\n");
}

static void print_text(const sn_scaling_info *info) {
    for (int i = 0; i < info->ndistance; i++) {
        const sn_scaling_distance *d = &info->distance[i];
        printf("%-16s %s - %s: model %.1f mm, measured %.1f mm, factor %.6f\n", d->measurement,
               d->marker[0], d->marker[1], 1000 * d->model, 1000 * d->measured,
               d->measured / d->model);
    }
    printf("factors\n");
    for (int i = 0; i < info->nbody; i++) {
        const sn_scaling_body *b = &info->body[i];
        printf("  %-16s %.6f %.6f %.6f\n", b->name, b->factor[0], b->factor[1], b->factor[2]);
    }
    printf("mass: %.4f kg (was %.4f)\n", info->mass, info->mass_before);
    if (info->pose == NULL) return;
    int moved = 0;
    double most = 0;
    for (int i = 0; i < info->nmarker; i++) {
        const sn_scaling_marker *m = &info->marker[i];
        if (!m->moved) continue;
        moved++;
        most = fmax(most, m->error);
    }
    printf("static pose: markers RMS %.2f mm, worst %.2f mm; %d of %d markers placed, by up to "
           "%.1f mm\n",
           1000 * info->rms, 1000 * info->worst, moved, info->nmarker, 1000 * most);
}

static void print_notes(const files *f, const sn_scaling_info *info) {
    for (int i = 0; i < info->nnote; i++) {
        const sn_scaling_note *n = &info->note[i];
        if (n->line > 0)
            fprintf(stderr, "warning: %s:%d: %s\n", path_of(f, n->file), n->line, n->text);
        else
            fprintf(stderr, "warning: %s: %s\n", path_of(f, n->file), n->text);
    }
}

// --- all of it -----------------------------------------------------------------------------------

static int scale(files *f) {
    sn_scaling *scaling = NULL;
    sn_scaling_file file;
    sn_error error = {0};
    target targets[TARGETS];
    int n = list_targets(f, targets), code = EXIT_OK;
    if (n == 0) {
        complain("nothing is to be written: name a file with -o, or in the setup");
        return EXIT_USAGE;
    }
    for (int i = 0; i < n && code == EXIT_OK; i++)
        if (targets[i].path == NULL || !output_allowed(targets[i].path)) code = EXIT_INPUT;
    if (code == EXIT_OK && sn_scaling_create(&f->input, NULL, &scaling, &file, &error) != SN_OK)
        code = file_error(path_of(f, file), &error);
    if (code == EXIT_OK) {
        const sn_scaling_info *info = sn_scaling_about(scaling);
        bool good = true;
        outputs_hold();
        for (int i = 0; i < n && good; i++) good = write_target(&targets[i], info);
        if (!outputs_release(good)) code = EXIT_FAILED;
        if (code == EXIT_OK) (f->s->json ? print_json : print_text)(info);
        if (code == EXIT_OK) print_notes(f, info);
    }
    for (int i = 0; i < n; i++) free(targets[i].path);
    sn_scaling_destroy(scaling);
    return code;
}

static bool parse_times(const char *word, sn_scaling_input *in) {
    const char *colon = word != NULL ? strchr(word, ':') : NULL;
    char first[64];
    if (word == NULL) return true;
    if (colon == NULL || (size_t)(colon - word) >= sizeof first) {
        complain("--times %s: it must be two times in seconds, A:B", word);
        return false;
    }
    memcpy(first, word, (size_t)(colon - word));
    first[colon - word] = '\0';
    if (!parse_number("--times", first, -1e9, &in->first) ||
        !parse_number("--times", colon + 1, -1e9, &in->last))
        return false;
    if (in->first <= in->last) return true;
    complain("--times %s: it ends before it begins", word);
    return false;
}

static int run(int argc, char **argv) {
    settings s = {0};
    int nword, code = parse_options(&command_scale, argc, argv, &s, NULL, &nword);
    if (code >= 0) return code;
    files f = {.s = &s};
    if (s.setup == NULL && s.search.count > 0)
        return wrong_usage(&command_scale, "--search belongs to --setup");
    if (s.setup == NULL && (s.model == NULL || s.input == NULL))
        return wrong_usage(&command_scale,
                           "a setup (--setup), or a model (-m) and a static trial (-i) are needed");
    if (s.setup != NULL && (s.by_volume || s.times != NULL))
        return wrong_usage(&command_scale, "--by-volume and --times go without --setup, which has "
                                           "its own");
    if (s.mass != NULL && !parse_number("--mass", s.mass, 0, &f.input.mass)) return EXIT_USAGE;
    if (!parse_times(s.times, &f.input)) return EXIT_USAGE;
    f.input.by_volume = s.by_volume;
    for (int i = 0; i < s.outputs.count; i++) {
        const char *name = s.outputs.word[i];
        if (kind_of(name) == POSE && !ends_with(name, ".mot") && !ends_with(name, ".sto") &&
            !ends_with(name, ".csv")) {
            complain("-o %s: its ending must be one of osim, xml, mot, sto, csv", name);
            return EXIT_USAGE;
        }
    }
    bool good = true;
    if (s.setup != NULL) {
        good = read_setup(&f);
    } else {
        f.model = copy_of(s.model);
        f.at_rest = copy_of(s.input);
        if (s.markers != NULL) f.markers = copy_of(s.markers);
    }
    code = good && read_files(&f) ? scale(&f) : EXIT_INPUT;
    free_files(&f);
    return code;
}

const command command_scale = {
    .name = "scale",
    .summary = "scale an OpenSim model to a subject from a static trial",
    .usage = usage,
    .about = "Scale an OpenSim model to a subject and place its markers, as OpenSim's scale tool "
             "does.",
    .options = option_table,
    .examples = examples,
    .run = run};
