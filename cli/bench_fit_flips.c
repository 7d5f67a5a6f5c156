// SPDX-License-Identifier: MIT
// Joints that jump, and how calm the spine is: marker error sees neither.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_fit.h"

static const double degree = 0x1.1df46a2529d39p-6;

// The rotation vector of a rotation matrix; near half a turn only its length is right.
static sn_vec3 turn_of(const double R[9]) {
    double c = fmin(fmax((R[0] + R[4] + R[8] - 1) / 2, -1), 1), angle = acos(c);
    double s[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]};
    double n = sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]), k = n > 1e-12 ? angle / n : 0;
    if (n <= 1e-12) return (sn_vec3){angle, 0, 0};
    return (sn_vec3){k * s[0], k * s[1], k * s[2]};
}

// A^T B, rows first.
static void between(const sn_mat3 *A, const sn_mat3 *B, double out[9]) {
    const sn_vec3 *a = A->c, *b = B->c;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            out[3 * i + k] = a[i].x * b[k].x + a[i].y * b[k].y + a[i].z * b[k].z;
}

static sn_mat3 as_columns(const double R[9]) {
    return (sn_mat3){{{R[0], R[3], R[6]}, {R[1], R[4], R[7]}, {R[2], R[5], R[8]}}};
}

static bool is_spine(const char *name) {
    static const char *const words[] = {"spine", "back",  "thorax", "chest", "neck",
                                        "head",  "torso", "lumbar", "waist"};
    char lower[128];
    size_t n = 0;
    for (; name[n] != '\0' && n + 1 < sizeof lower; n++)
        lower[n] = (char)tolower((unsigned char)name[n]);
    lower[n] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(lower, words[i]) != NULL) return true;
    return false;
}

typedef struct joints {
    sn_mat3 *R;     // against the parent, of the frame before
    sn_vec3 *turn;  // from the frame before that one
    bool *spine;
} joints;

static void turn_joint(joints *j, int i, const sn_mat3 *now, int k, bench_turns *out, double *spine,
                       long *count) {
    double D[9];
    between(&j->R[i], now, D);
    sn_vec3 w = turn_of(D), d = {w.x - j->turn[i].x, w.y - j->turn[i].y, w.z - j->turn[i].z};
    double angle = sqrt(w.x * w.x + w.y * w.y + w.z * w.z);
    out->over20 += angle > 20 * degree;
    out->over45 += angle > 45 * degree;
    if (j->spine[i] && k >= 2) {
        *spine += sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
        ++*count;
    }
    j->turn[i] = w;
}

bool bench_measure_turns(const sn_model *model, const sn_motion *motion, double rate, int first,
                         bench_turns *out) {
    int n = sn_model_njoint(model), nframe = sn_motion_nframe(motion);
    double spine = 0;
    long count = 0;
    sn_problem *problem = NULL;
    sn_workspace *ws = NULL;
    joints j = {must_alloc((size_t)n, sizeof *j.R), must_alloc((size_t)n, sizeof *j.turn),
                must_alloc((size_t)n, sizeof *j.spine)};
    *out = (bench_turns){0};
    for (int i = 0; i < n; i++) j.spine[i] = is_spine(sn_model_joint(model, i)->name);
    bool good = sn_problem_create(model, NULL, 0, NULL, &problem, NULL) == SN_OK &&
                sn_workspace_create(problem, false, NULL, &ws, NULL) == SN_OK;
    for (int f = first; good && f < nframe; f++) {
        good = sn_workspace_pose(ws, sn_motion_frame(motion, f)) == SN_OK;
        for (int i = 0; good && i < n; i++) {
            int parent = sn_model_parent(model, i);
            sn_mat3 own = sn_workspace_frame(ws, i).R, R = own;
            if (parent >= 0) {
                double D[9];
                sn_mat3 up = sn_workspace_frame(ws, parent).R;
                between(&up, &own, D);
                R = as_columns(D);
            }
            if (f > first) turn_joint(&j, i, &R, f - first, out, &spine, &count);
            j.R[i] = R;
        }
    }
    out->spine = count > 0 ? spine * rate * rate / (double)count : 0;
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    free(j.R);
    free(j.turn);
    free(j.spine);
    return good;
}

// Of the motion that comes with a take.
static bool measure_own(const char *data, const bench_take *t, const figure *f, double rate,
                        bench_turns *out) {
    sn_document_options options = sn_document_options_default();
    sn_document document = {0};
    char *path = bench_path(data, t->own);
    options.skeleton = f->skeleton;
    bool good = load_document(path, &options, &document) && document.motion != NULL;
    const sn_model *model = document.model != NULL ? document.model : f->model;
    // the take's rate: an AMC file does not know its own
    good = good && bench_measure_turns(model, document.motion, rate, t->own_skip, out);
    sn_document_destroy(&document);
    free(path);
    return good;
}

// Of the skeleton that a BVH of the motion has, in which an OpenSim body's hinges are one joint.
static bool measure_ours(const fit_result *r, bench_turns *out) {
    sn_export *export = NULL;
    sn_motion *motion = NULL;
    bool good = sn_export_create(r->model, SN_SKELETON_BVH, NULL, NULL, &export, NULL) == SN_OK &&
                sn_export_motion(export, r->motion, NULL, &motion, NULL) == SN_OK &&
                bench_measure_turns(sn_skeleton_model(sn_export_skeleton(export)), motion,
                                    sn_motion_rate(r->motion), 0, out);
    sn_motion_destroy(motion);
    sn_export_destroy(export);
    return good;
}

static bool flips_row(const char *data, const bench_take *t) {
    char *model = bench_path(data, t->skeleton), *take = bench_path(data, t->take);
    fit_settings s = {.model = model, .input = take, .quiet = true};
    sn_take_options plan;
    fit_result r = {0};
    bench_turns ours, own = {0};
    bool good = make_plan(&s, &plan);
    int code = good ? fit_take(&s, &plan, &r) : EXIT_USAGE;
    good = good && (code == EXIT_OK || code == EXIT_POOR) && measure_ours(&r, &ours);
    bool known =
        good && t->own != NULL && measure_own(data, t, &r.figure, sn_motion_rate(r.motion), &own);
    if (good) {
        const char *slash = strrchr(take, '/');
        printf("  %-34s %6d %8d %8d %9.3f %10.1f", slash != NULL ? slash + 1 : take,
               r.summary->count, ours.over20, ours.over45, 100 * r.summary->fit.rms, ours.spine);
        if (known) printf(" %8d %8d %10.1f", own.over20, own.over45, own.spine);
        putchar('\n');
        (void)fflush(stdout);
    }
    free_result(&r);
    free(model);
    free(take);
    return good;
}

bool bench_fit_flips(const char *data) {
    bool good = true;
    printf("\nFlips: joint-frames that turn by more than 20 and 45 degrees from one frame to the "
           "next, default options;\nspine: its mean acceleration, rad/s2; behind it the same of "
           "the motion that comes with the take\n"
           "  %-34s %6s %8s %8s %9s %10s %8s %8s %10s\n",
           "take", "frames", "> 20", "> 45", "RMS cm", "spine", "own > 20", "> 45", "spine");
    for (int i = 0; i < bench_ntake; i++)
        if (bench_is_there(data, &bench_takes[i])) good = flips_row(data, &bench_takes[i]) && good;
    return good;
}
