// SPDX-License-Identifier: MIT
// sinew bench fit: every take of the data folder through sinew fit, as a table.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_angles.h"
#include "fit_take.h"

typedef struct pair {
    const char *skeleton, *take;
    bool placed;  ///< the skeleton has marker places of its own: nothing to calibrate
} pair;

static const pair pairs[] = {
    {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-05_02_120.c3d", false},
    {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_01-03_01_120.c3d", false},
    {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.c3d", false},
    {"hdm05/HDM_mm.asf", "hdm05/HDM_mm_01-02_03_120.c3d", false},
    {"cmu/02.asf", "cmu/02_01.c3d", false},
    {"cmu/85_02.bvh", "cmu/85_02.c3d", false},
    {"opensim/subject01_simbody.osim", "opensim/subject01_synthetic_marker_data.trc", true},
};

static char *join(const char *folder, const char *name) {
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = must_alloc(size, 1);
    (void)snprintf(path, size, "%s/%s", folder, name);
    return path;
}

// One row; false when the take could not be fitted.
static bool fit_row(const char *model, const char *take, const char *calibrate, const char *word) {
    fit_settings s = {.model = model, .input = take, .calibrate = calibrate, .quiet = true};
    sn_take_options plan;
    fit_result r;
    if (!make_plan(&s, &plan)) return false;
    int code = fit_take(&s, &plan, &r);
    if (code == EXIT_OK) {
        const char *slash = strrchr(take, '/');
        double all = (double)(r.summary->fit.samples + r.summary->fit.missing);
        printf("  %-34s %-8s %6d %8d %7.1f %9.3f %9.3f %9.2f %8.2f %10.0f\n",
               slash != NULL ? slash + 1 : take, word, r.summary->count, r.summary->matched,
               100.0 * (double)r.summary->fit.missing / fmax(all, 1), 100 * r.summary->fit.rms,
               100 * r.summary->fit.mean, 100 * r.summary->fit.worst, r.calibrate_seconds,
               r.summary->count / r.fit_seconds);
        (void)fflush(stdout);
    }
    free_result(&r);
    return code == EXIT_OK;
}

int bench_fit(const char *data) {
    if (data == NULL) {
        fputs("sinew bench fit: --data DIR is needed\n", stderr);
        return EXIT_USAGE;
    }
    printf("  %-34s %-8s %6s %8s %7s %9s %9s %9s %8s %10s\n", "take", "shape", "frames", "markers",
           "gaps %", "RMS cm", "mean cm", "worst cm", "calib. s", "frames/s");
    bool good = true;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char *model = join(data, pairs[i].skeleton), *take = join(data, pairs[i].take);
        if (access(model, R_OK) != 0 || access(take, R_OK) != 0) {
            printf("  %-34s is not there\n", pairs[i].take);
        } else if (pairs[i].placed) {
            good &= fit_row(model, take, "none", "as given");
        } else {
            good &= fit_row(model, take, "offsets", "offsets");
            good &= fit_row(model, take, "scale", "lengths");
        }
        free(model);
        free(take);
    }
    printf("\n  One thread. frames/s is of the fit after the calibration, second looks at valleys "
           "included.\n");
    good &= bench_angles(data);
    return good ? EXIT_OK : EXIT_FAILED;
}
