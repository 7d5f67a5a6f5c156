// SPDX-License-Identifier: MIT
// A take to try things out with, without anybody's data.
#include <stdlib.h>
#include <string.h>

#include "output.h"

typedef struct settings {
    const char *out;
    long seed;
} settings;

#define AT(field) offsetof(settings, field)

static const char *const usage[] = {"[--out DIR] [--seed N]", NULL};

static const help_item items[] = {
    {"take.c3d",
     "what a capture system saw: millimetres, z up, 2 mm of noise, gaps, a subject before every "
     "label, and one unnamed point"},
    {"skeleton.asf", "the figure"},
    {"truth.amc", "how it really moved, to be read with skeleton.asf"},
    {"truth.bvh", "the same, skeleton included"},
    {"model.json", "the figure as sinew's own model file, with its markers where a model has them"},
    {"subject.json",
     "the same with its markers where this person has them: what a calibration should find"},
    {0}};

static const option option_table[] = {
    {.group = "Options",
     .name = "--out",
     .letter = "-o",
     .kind = OPTION_FOLDER,
     .value = "DIR",
     .standard = "example",
     .place = AT(out),
     .help = "the folder to write to; it is made when missing"},
    {.name = "--seed",
     .kind = OPTION_INTEGER,
     .value = "N",
     .high = 0x7fffffff,
     .standard = "1",
     .place = AT(seed),
     .help = "changes the markers' places, the noise and the gaps"},
    {0}};

static const help_item examples[] = {
    {"sinew example --out ex", "six files in the folder ex"},
    {"sinew fit -m ex/skeleton.asf -i ex/take.c3d --truth ex/truth.amc -o ex/fit.bvh",
     "fit them, and compare with the truth"},
    {0}};

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

// y up becomes z up, as most laboratories have it, and the figure walks along x: the axes in turn.
static sn_status z_up(const sn_recording *from, sn_recording **out) {
    sn_recording_info info = *sn_recording_about(from);
    const char **labels = must_alloc((size_t)info.nmarker, sizeof *labels);
    for (int i = 0; i < info.nmarker; i++) labels[i] = sn_recording_label(from, i);
    memcpy(info.x_screen, "+X", 3);
    memcpy(info.y_screen, "+Z", 3);
    sn_status status = sn_recording_create(&info, labels, NULL, out, NULL);
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

static sn_status take_make(take *t, uint64_t seed) {
    sn_recording *recording = NULL;
    sn_status status = sn_model_humanoid(NULL, &t->model, NULL);
    if (status == SN_OK) status = sn_example_motion(t->model, NULL, &t->motion, NULL);
    if (status == SN_OK) status = sn_example_subject(seed, NULL, &t->subject, NULL);
    if (status == SN_OK)
        status = sn_example_recording(t->subject, t->motion, seed, NULL, &recording, NULL);
    if (status == SN_OK) status = z_up(recording, &t->recording);
    sn_recording_destroy(recording);
    return status;
}

// One file of the folder, being written.
typedef struct page {
    output out;
    sn_sink sink;
    sn_error error;
    char path[1024];
} page;

static bool page_begin(page *p, const char *folder, const char *name) {
    *p = (page){.error = {0}};
    int n = snprintf(p->path, sizeof p->path, "%s/%s", folder, name);
    if (n < 0 || (size_t)n >= sizeof p->path) {
        fputs("sinew example: the name of the folder is too long\n", stderr);
        return false;
    }
    if (!output_open(&p->out, p->path)) return false;
    p->sink = output_sink(&p->out);
    return true;
}

static bool page_end(page *p, sn_status status) {
    bool good = output_close(&p->out, status, &p->error);
    if (good) printf("%s\n", p->path);
    return good;
}

static bool write_c3d(const take *t, const char *folder) {
    page p;
    return page_begin(&p, folder, "take.c3d") &&
           page_end(&p, sn_c3d_write(t->recording, NULL, &p.sink, NULL, &p.error));
}

static bool write_model(const sn_model *model, const char *folder, const char *name) {
    page p;
    return page_begin(&p, folder, name) &&
           page_end(&p, sn_model_write_json(model, &p.sink, NULL, &p.error));
}

static bool write_acclaim(const sn_skeleton *skeleton, const sn_motion *motion,
                          const char *folder) {
    page p;
    return page_begin(&p, folder, "skeleton.asf") &&
           page_end(&p, sn_asf_write(skeleton, &p.sink, &p.error)) &&
           page_begin(&p, folder, "truth.amc") &&
           page_end(&p, sn_amc_write(skeleton, motion, &p.sink, NULL, &p.error));
}

static bool write_bvh(const sn_skeleton *skeleton, const sn_motion *motion, const char *folder) {
    page p;
    return page_begin(&p, folder, "truth.bvh") &&
           page_end(&p, sn_bvh_write(skeleton, motion, &p.sink, NULL, &p.error));
}

// The figure and how it moved, as other programs have them.
static bool write_truth(const take *t, sn_skeleton_format format, const char *folder) {
    sn_error error = {0};
    sn_export *exported = NULL;
    sn_motion *motion = NULL;
    sn_status status = sn_export_create(t->model, format, NULL, NULL, &exported, &error);
    if (status == SN_OK) status = sn_export_motion(exported, t->motion, NULL, &motion, &error);
    bool good = status == SN_OK;
    if (!good) fprintf(stderr, "sinew: %s\n", error.text);
    const sn_skeleton *skeleton = good ? sn_export_skeleton(exported) : NULL;
    if (good)
        good = format == SN_SKELETON_ASF ? write_acclaim(skeleton, motion, folder)
                                         : write_bvh(skeleton, motion, folder);
    sn_motion_destroy(motion);
    sn_export_destroy(exported);
    return good;
}

static int run(int argc, char **argv) {
    settings s = {0};
    int nword, code = parse_options(&command_example, argc, argv, &s, NULL, &nword);
    if (code >= 0) return code;
    const char *folder = s.out;
    if (!make_folder(folder)) return EXIT_FAILED;
    take t = {0};
    sn_status status = take_make(&t, (uint64_t)s.seed);
    bool good = status == SN_OK;
    if (!good) fprintf(stderr, "sinew: %s\n", sn_status_text(status));
    good = good && write_c3d(&t, folder) && write_truth(&t, SN_SKELETON_ASF, folder) &&
           write_truth(&t, SN_SKELETON_BVH, folder) && write_model(t.model, folder, "model.json") &&
           write_model(t.subject, folder, "subject.json");
    take_free(&t);
    return good ? EXIT_OK : EXIT_FAILED;
}

const command command_example = {.name = "example",
                                 .summary = "write a take to try things on",
                                 .usage = usage,
                                 .about = "Write a take of sinew's own making: the built-in figure "
                                          "walks, does a cartwheel and walks on, "
                                          "120 frames a second, with 41 markers on it that are a "
                                          "little off the places where the model has "
                                          "them.",
                                 .items = items,
                                 .options = option_table,
                                 .examples = examples,
                                 .run = run};
