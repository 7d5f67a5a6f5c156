// SPDX-License-Identifier: MIT
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"
#include "option_rows.h"

typedef struct settings {
    bool json, devices;
} settings;

static const char *const usage[] = {"FILE... [--json]", "--devices", NULL};

static const option option_table[] = {
    {.group = "Options",
     ROW_FLAG("--json", offsetof(settings, json),
              "an array with one object per file; what a file does not "
              "have is null, and a file that can't be "
              "read has \"file\" and \"error\" alone")},
    {ROW_FLAG("--devices", offsetof(settings, devices),
              "instead of files: what of this machine can solve many problems at once")},
    {0}};

static const help_item examples[] = {
    {"sinew info take.c3d", "frames, rate, labels and gaps of a recording"},
    {"sinew info skeleton.asf walk.amc", "a motion together with its skeleton"},
    {"sinew info --json *.c3d | jq '.[].rate'", "one number of many files"},
    {"sinew info --devices", "what can solve many problems at once here"},
    {0}};

// The skeletons of the command line, which AMC files may need.
typedef struct skeletons {
    input *at;
    int *place;  ///< in the command line
    int count;
} skeletons;

// Only ASF files are read here; a look at the first bytes tells them from large recordings.
static bool may_be_skeleton(const char *path) {
    if (is_humanoid(path)) return false;
    // what is no plain file is read once and kept
    if (sn_format_of_name(path) == SN_FORMAT_ASF || !is_plain_file(path)) return true;
    char head[4096];
    FILE *file = fopen(path, "rb");
    size_t n = file != NULL ? fread(head, 1, sizeof head, file) : 0;
    if (file != NULL) (void)fclose(file);
    return sn_format_of(head, n, path) == SN_FORMAT_ASF;
}

static skeletons find_skeletons(const char *const *files, int nfile) {
    skeletons s = {must_alloc((size_t)nfile, sizeof *s.at),
                   must_alloc((size_t)nfile, sizeof *s.place), 0};
    sn_error ignored;
    for (int i = 0; i < nfile; i++) {
        if (!may_be_skeleton(files[i])) continue;
        if (input_read(files[i], NULL, &s.at[s.count], &ignored) &&
            s.at[s.count].document.format == SN_FORMAT_ASF) {
            s.place[s.count++] = i;
        } else {
            input_free(&s.at[s.count]);
        }
    }
    return s;
}

static void free_skeletons(skeletons *s) {
    for (int i = 0; i < s->count; i++) input_free(&s->at[i]);
    free(s->at);
    free(s->place);
}

// Against the nearest ASF file before it, else any that fits; `error` is about the nearest one.
static bool read_amc(const char *path, int place, const skeletons *s, input *in, sn_error *error) {
    int nearest = 0;
    for (int i = 1; i < s->count; i++)
        if (s->place[i] < place) nearest = i;
    for (int k = 0; k < s->count; k++) {
        const input *partner = &s->at[(nearest + k) % s->count];
        sn_document_options options = sn_document_options_default();
        sn_error why;
        options.skeleton = partner->document.skeleton;
        if (input_read(path, &options, in, &why)) {
            in->partner = partner;
            return true;
        }
        if (k == 0) *error = why;
    }
    return false;
}

static bool show(const char *path, int place, const skeletons *s, bool json, sn_error *error) {
    input in;
    file_facts facts = {0};
    bool good = input_read(path, NULL, &in, error);
    bool amc = in.document.format == SN_FORMAT_AMC;
    if (!good && amc && s->count > 0) good = read_amc(path, place, s, &in, error);
    if (good) {
        facts = collect_facts(&in);
    } else if (amc && s->count == 0 && error->status == SN_ERR_ARGUMENT) {
        good = collect_amc(path, &in, &facts, error);
    }
    if (good) (json ? print_info_json : print_info_text)(&facts);
    free_facts(&facts);
    input_free(&in);
    return good;
}

static void print_error_json(const char *path, const sn_error *error) {
    printf("{\"file\":");
    print_json_string(path);
    printf(",\"error\":");
    print_json_string(error->text);
    if (error->line > 0) printf(",\"line\":%d", error->line);
    printf("}");
}

static int show_all(const char *const *files, int nfile, bool json) {
    int code = EXIT_OK;
    skeletons s = find_skeletons(files, nfile);
    if (json) putchar('[');
    for (int i = 0; i < nfile; i++) {
        sn_error error = {0};
        if (i > 0) fputs(json ? ",\n" : "\n", stdout);
        if (show(files[i], i, &s, json, &error)) continue;
        code = EXIT_INPUT;
        (void)fflush(stdout);
        (void)file_error(files[i], &error);
        if (json) print_error_json(files[i], &error);
    }
    if (json) puts("]");
    free_skeletons(&s);
    return code;
}

// What many problems at once can be solved on.
static int show_devices(void) {
    sn_device_info info[16];
    const int n = sn_batch_devices(info, 16);
    sn_model *model = NULL;
    sn_problem *problem = NULL;
    sn_batch *batch = NULL;
    sn_batch_options o = sn_batch_options_default();
    o.device = SN_DEVICE_CPU;
    if (sn_model_humanoid(NULL, &model, NULL) == SN_OK &&
        sn_problem_create_markers(model, NULL, &problem, NULL) == SN_OK &&
        sn_batch_create(problem, &o, NULL, &batch, NULL) == SN_OK)
        printf("cpu: this processor, %d problems side by side on each thread\n",
               sn_batch_lanes(batch));
    for (int i = 0; i < n && i < 16; i++)
        printf("opencl: %s (%s), %s, %d units, %.1f GB, %s%s\n", info[i].name, info[i].vendor,
               info[i].gpu ? "a GPU" : "no GPU", info[i].units, 1e-9 * (double)info[i].memory,
               info[i].doubles ? "doubles" : "no doubles: not used", i == 0 ? "" : ", not used");
    if (n == 0) puts("opencl: none (libOpenCL.so.1 and a driver are needed)");
    sn_batch_destroy(batch);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    return EXIT_OK;
}

static int run(int argc, char **argv) {
    settings s = {0};
    const char **files = must_alloc((size_t)argc, sizeof *files);
    int nfile, code = parse_options(&command_info, argc, argv, &s, files, &nfile);
    if (code < 0 && s.devices) {
        code = nfile > 0 ? wrong_usage(&command_info, "--devices takes no files") : show_devices();
    } else if (code < 0 && nfile == 0) {
        code = wrong_usage(&command_info, "FILE is missing");
    } else if (code < 0) {
        code = show_all(files, nfile, s.json);
    }
    free(files);
    return code;
}

const command command_info = {.name = "info",
                              .summary = "say what a file holds",
                              .usage = usage,
                              .about = "Say what each file holds: frames, rate, unit and up axis "
                                       "(and how they are known), labels, gaps of "
                                       "every marker, joints, degrees of freedom.\n\n"
                                       "FILE is ASF, AMC, BVH, GLB, C3D, TRC, MOT, STO, CSV (also "
                                       "of Motive and Nexus), TSV of QTM, URDF, "
                                       "MJCF, OpenSim, a native JSON model or marker set, \"-\" "
                                       "for standard input, or \"humanoid\", the "
                                       "built-in figure. An AMC file is read against the ASF file "
                                       "in the same command that fits it.",
                              .options = option_table,
                              .examples = examples,
                              .word = "FILE",
                              .least_words = 0,
                              .most_words = INT_MAX,
                              .run = run};
