// SPDX-License-Identifier: MIT
// A take to try things out with, without anybody's data.
#define _POSIX_C_SOURCE 200809L  // mkdir
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

static const char help[] =
    "usage: sinew example [--out DIR] [--seed N]\n\n"
    "Writes a take of sinew's own making: the built-in figure walks, does a cartwheel and walks "
    "on,\n"
    "120 frames a second, with 41 markers on it that are not quite where the model has them.\n\n"
    "  take.c3d        what a capture system saw: millimetres, z up, 2 mm of noise, gaps, a "
    "subject\n"
    "                  before every label, and a point that belongs to nothing\n"
    "  truth.csv       how it really moved: degrees and metres\n"
    "  model.json      the figure as sinew's own model file, its markers where a model has them\n"
    "  subject.json    the same with its markers where this person has them: what a calibration\n"
    "                  should find\n\n"
    "  -o, --out DIR   where to; made when it is not there; default example\n"
    "  --seed N        of the markers' places, the noise and the gaps; default 1\n";

// A file that is written beside its place and put there when it is whole.
typedef struct output {
    FILE *file;
    char path[1024], part[1040];
} output;

static bool put(void *user, const void *bytes, size_t count) {
    return fwrite(bytes, 1, count, user) == count;
}

static bool output_begin(output *o, const char *folder, const char *name) {
    int n = snprintf(o->path, sizeof o->path, "%s/%s", folder, name);
    if (n < 0 || (size_t)n >= sizeof o->path) {
        fputs("sinew example: the name of the folder is too long\n", stderr);
        return false;
    }
    (void)snprintf(o->part, sizeof o->part, "%s.part", o->path);
    o->file = fopen(o->part, "wb");
    if (o->file == NULL) fprintf(stderr, "sinew: %s: %s\n", o->path, strerror(errno));
    return o->file != NULL;
}

static bool output_end(output *o, sn_status status, const sn_error *error) {
    bool whole = status == SN_OK;
    if (fclose(o->file) != 0 && whole) status = SN_ERR_FILE, whole = false;
    if (whole && rename(o->part, o->path) == 0) {
        printf("%s\n", o->path);
        return true;
    }
    (void)remove(o->part);
    const char *text = error->text[0] != '\0' ? error->text : sn_status_text(status);
    fprintf(stderr, "sinew: %s: %s\n", o->path, whole ? strerror(errno) : text);
    return false;
}

typedef struct take {
    sn_model *model, *subject;
    sn_motion *motion;
    sn_recording *recording;  // y up, metres
} take;

static void take_free(take *t) {
    sn_recording_destroy(t->recording);
    sn_motion_destroy(t->motion);
    sn_model_destroy(t->subject);
    sn_model_destroy(t->model);
}

static sn_status take_make(take *t, uint64_t seed) {
    sn_status status = sn_model_humanoid(NULL, &t->model);
    if (status == SN_OK) status = sn_example_motion(t->model, NULL, &t->motion);
    if (status == SN_OK) status = sn_example_subject(seed, NULL, &t->subject);
    if (status == SN_OK)
        status = sn_example_recording(t->subject, t->motion, seed, NULL, &t->recording);
    return status;
}

// y up becomes z up, as most laboratories have it, and the figure walks along x: the axes in turn.
static sn_status z_up(const sn_recording *from, sn_recording **out) {
    sn_recording_info info = *sn_recording_get_info(from);
    const char **labels = must_alloc((size_t)info.nmarker, sizeof *labels);
    for (int i = 0; i < info.nmarker; i++) labels[i] = sn_recording_label(from, i);
    (void)strcpy(info.x_screen, "+X");
    (void)strcpy(info.y_screen, "+Z");
    sn_status status = sn_recording_create(&info, labels, NULL, out);
    free(labels);
    for (int k = 0; status == SN_OK && k < info.nframe; k++) {
        const double *x = sn_recording_frame(from, k);
        double *to = sn_recording_edit(*out, k);
        for (int i = 0; i < info.nmarker; i++, x += 3, to += 3) {
            to[0] = x[2];
            to[1] = x[0];
            to[2] = x[1];
        }
    }
    return status;
}

static bool write_c3d(const take *t, const char *folder) {
    output o;
    sn_error error = {0};
    sn_recording *turned = NULL;
    if (!output_begin(&o, folder, "take.c3d")) return false;
    const sn_sink sink = {put, o.file};
    sn_status status = z_up(t->recording, &turned);
    if (status == SN_OK) status = sn_c3d_write(turned, NULL, NULL, &sink, &error);
    sn_recording_destroy(turned);
    return output_end(&o, status, &error);
}

static bool write_model(const sn_model *model, const char *folder, const char *name) {
    output o;
    char *text = NULL;
    const sn_error error = {0};
    if (!output_begin(&o, folder, name)) return false;
    sn_status status = sn_model_write_json(model, NULL, &text);
    if (status == SN_OK && !put(o.file, text, strlen(text))) status = SN_ERR_FILE;
    sn_string_free(text, NULL);
    return output_end(&o, status, &error);
}

static bool write_truth(const take *t, const char *folder) {
    output o;
    sn_error error = {0};
    sn_table *table = NULL;
    if (!output_begin(&o, folder, "truth.csv")) return false;
    const sn_sink sink = {put, o.file};
    sn_status status = sn_table_from_motion(t->model, t->motion, NULL, &table, &error);
    if (status == SN_OK) status = sn_csv_write_table(table, &sink, &error);
    sn_table_destroy(table);
    return output_end(&o, status, &error);
}

static int run(int argc, char **argv) {
    const char *folder = "example", *seed_text = "1", *word = NULL;
    const option options[] = {
        VALUE("--out", "-o", &folder), VALUE("--seed", NULL, &seed_text), {0}};
    int nword, code = parse_options(&command_example, argc, argv, options, &word, 0, &nword);
    long seed;
    if (code >= 0) return code;
    if (!parse_integer("--seed", seed_text, 0, 0x7fffffff, &seed)) return EXIT_USAGE;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "sinew: %s: %s\n", folder, strerror(errno));
        return EXIT_FAILED;
    }
    take t = {0};
    sn_status status = take_make(&t, (uint64_t)seed);
    bool good = status == SN_OK;
    if (!good) fprintf(stderr, "sinew: %s\n", sn_status_text(status));
    good = good && write_c3d(&t, folder) && write_truth(&t, folder) &&
           write_model(t.model, folder, "model.json") &&
           write_model(t.subject, folder, "subject.json");
    take_free(&t);
    return good ? EXIT_OK : EXIT_FAILED;
}

const command command_example = {"example", "write a take of sinew's own making to try things on",
                                 help, run};
