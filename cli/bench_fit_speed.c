// SPDX-License-Identifier: MIT
// How well takes fit and how long that takes, and a long take from file to file.
#define _POSIX_C_SOURCE 200809L  // mkdtemp
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_fit.h"
#include "output.h"

// One row; false when the take could not be fitted.
static bool fit_row(const char *model, const char *take, const char *calibrate, const char *word) {
    fit_settings s = {.model = model, .input = take, .calibrate = calibrate, .quiet = true};
    sn_take_options plan;
    fit_result r;
    if (!make_plan(&s, &plan)) return false;
    int code = fit_take(&s, &plan, &r);
    if (r.summary != NULL) {
        const char *slash = strrchr(take, '/');
        double all =
            (double)(r.summary->fit.samples + r.summary->fit.missing + r.summary->fit.dropped);
        printf("  %-34s %-8s %6d %8d %7.1f %9.3f %9.3f %9.2f %8.2f %10.0f\n",
               slash != NULL ? slash + 1 : take, word, r.summary->count, r.summary->matched,
               100.0 * (double)r.summary->fit.missing / fmax(all, 1), 100 * r.summary->fit.rms,
               100 * r.summary->fit.mean, 100 * r.summary->fit.worst, r.calibrate_seconds,
               r.summary->count / r.fit_seconds);
        (void)fflush(stdout);
    }
    free_result(&r);
    return code == EXIT_OK || code == EXIT_POOR;
}

// --- ten minutes -----------------------------------------------------------------------------------

enum { LONG_FRAMES = 72000 };

// The example there and back again, as long as it takes: 58 degrees of freedom, 41 markers.
static sn_status make_long(sn_recording **out) {
    sn_model *model = NULL, *subject = NULL;
    sn_motion *motion = NULL;
    sn_recording *once = NULL;
    const char **labels = NULL;
    sn_status status = sn_model_humanoid(NULL, &model, NULL);
    if (status == SN_OK) status = sn_example_motion(model, NULL, &motion, NULL);
    if (status == SN_OK) status = sn_example_subject(1, NULL, &subject, NULL);
    if (status == SN_OK) status = sn_example_recording(subject, motion, 1, NULL, &once, NULL);
    if (status == SN_OK) {
        sn_recording_info info = *sn_recording_about(once);
        int n = info.nframe;
        info.nframe = LONG_FRAMES;
        labels = must_alloc((size_t)info.nmarker, sizeof *labels);
        for (int i = 0; i < info.nmarker; i++) labels[i] = sn_recording_label(once, i);
        status = sn_recording_create(&info, labels, NULL, out, NULL);
        for (int f = 0; status == SN_OK && f < LONG_FRAMES; f++) {
            int k = f % (2 * n - 2);
            memcpy(sn_recording_edit(*out, f), sn_recording_frame(once, k < n ? k : 2 * n - 2 - k),
                   3 * (size_t)info.nmarker * sizeof(double));
        }
    }
    free(labels);
    sn_recording_destroy(once);
    sn_motion_destroy(motion);
    sn_model_destroy(subject);
    sn_model_destroy(model);
    return status;
}

static bool write_long(const char *path) {
    sn_recording *recording = NULL;
    output out;
    sn_error error = {0};
    sn_status status = make_long(&recording);
    bool good = status == SN_OK && output_open(&out, path);
    if (good) {
        sn_sink sink = output_sink(&out);
        good = output_close(&out, sn_c3d_write(recording, NULL, &sink, NULL, &error), &error);
    }
    sn_recording_destroy(recording);
    return good;
}

static bool long_row(const char *input, const char *motion, const char *threads,
                     const char *smooth) {
    fit_settings s = {.model = "humanoid",
                      .input = input,
                      .markers = "builtin",
                      .threads = threads,
                      .smooth = smooth,
                      .quiet = true};
    sn_take_options plan;
    fit_result r;
    s.outputs.word[s.outputs.count++] = motion;
    if (!make_plan(&s, &plan)) return false;
    double begin = now();
    int code = fit_take(&s, &plan, &r);
    double took = now() - begin;
    if (r.summary != NULL)
        printf("  %-10s %-8s %8d %9.3f %10.2f %10.2f %10.2f\n", threads,
               smooth != NULL ? smooth : "none", r.summary->count, 100 * r.summary->fit.rms,
               r.calibrate_seconds, r.fit_seconds, took);
    (void)fflush(stdout);
    free_result(&r);
    return code == EXIT_OK || code == EXIT_POOR;
}

static bool bench_long(void) {
    char folder[] = "/tmp/sinew-bench-XXXXXX", input[64], motion[64];
    if (mkdtemp(folder) == NULL) {
        complain("%s: no folder can be made there", folder);
        return false;
    }
    (void)snprintf(input, sizeof input, "%s/long.c3d", folder);
    (void)snprintf(motion, sizeof motion, "%s/long.bvh", folder);
    printf("\nTen minutes of the example, from C3D to BVH (58 degrees of freedom, 41 markers)\n"
           "  %-10s %-8s %8s %9s %10s %10s %10s\n",
           "threads", "smooth", "frames", "RMS cm", "calib. s", "take s", "in all s");
    bool good = write_long(input) && long_row(input, motion, "1", NULL) &&
                long_row(input, motion, "2", NULL) && long_row(input, motion, "2", "0.01");
    (void)unlink(input);
    (void)unlink(motion);
    (void)rmdir(folder);
    return good;
}

bool bench_fit_speed(const char *data) {
    printf("How well, how fast\n  %-34s %-8s %6s %8s %7s %9s %9s %9s %8s %10s\n", "take", "shape",
           "frames", "markers", "gaps %", "RMS cm", "mean cm", "worst cm", "calib. s", "frames/s");
    bool good = true;
    for (int i = 0; i < bench_ntake; i++) {
        const bench_take *t = &bench_takes[i];
        if (!bench_is_there(data, t)) continue;
        char *model = bench_path(data, t->skeleton), *take = bench_path(data, t->take);
        good &= fit_row(model, take, NULL, "default");
        if (!t->placed) good &= fit_row(model, take, "scale", "lengths");
        free(model);
        free(take);
    }
    printf("  One thread. frames/s is of the fit after the calibration, second looks at valleys "
           "included.\n");
    return bench_long() && good;
}
