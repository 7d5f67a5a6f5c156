// SPDX-License-Identifier: MIT
// A marker that is wrong for a second: is it named, and which joints move by it?
//
// Leaving out a marker moves the joints that it determines, however it is left out: the estimate of a joint is spread
// by sqrt(C' - C), with the covariances of the pose without it and with it (Gauss and Newton's Hessian, samples as far
// off as the take's are). "Others" are the joints for which that is below half a degree: the remaining markers
// determine them. Beside it stands what happens when the samples are simply missing.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_fit.h"

enum { THROWS = 3, LOOKS = 5 };
static const double degree = 0x1.1df46a2529d39p-6;
static const double throws[THROWS] = {0.05, 0.2, 0.5};
// Below this a joint is another one, degrees.
static const double determined = 0.5;

typedef struct study {
    const sn_model *model;
    const sn_recording *recording;
    sn_take_options options;
    int from, to;  // frames in which the marker is wrong
    double rms;
} study;

// --- how joints differ -----------------------------------------------------------------------------

static sn_mat3 turned(const sn_workspace *ws, const sn_model *m, int joint) {
    sn_mat3 R = sn_workspace_frame(ws, joint).R, out;
    int parent = sn_model_parent(m, joint);
    if (parent < 0) return R;
    sn_mat3 up = sn_workspace_frame(ws, parent).R;
    double *to = &out.c[0].x;
    const double *a = &up.c[0].x, *b = &R.c[0].x;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            to[3 * k + i] =
                a[3 * i] * b[3 * k] + a[3 * i + 1] * b[3 * k + 1] + a[3 * i + 2] * b[3 * k + 2];
    return out;
}

static double angle_between(const sn_mat3 *A, const sn_mat3 *B) {
    const double *a = &A->c[0].x, *b = &B->c[0].x;
    double trace = 0;
    for (int i = 0; i < 9; i++) trace += a[i] * b[i];
    return acos(fmin(fmax((trace - 1) / 2, -1), 1));
}

// Root mean square over frames from ... to - 1, degrees, of each joint.
static bool moved_by(const sn_model *model, const sn_motion *a, const sn_motion *b, int from,
                     int to, double *out) {
    int n = sn_model_njoint(model);
    sn_problem *problem = NULL;
    sn_workspace *ws[2] = {NULL, NULL};
    bool good = sn_problem_create(model, NULL, 0, NULL, &problem, NULL) == SN_OK &&
                sn_workspace_create(problem, false, NULL, &ws[0], NULL) == SN_OK &&
                sn_workspace_create(problem, false, NULL, &ws[1], NULL) == SN_OK;
    for (int j = 0; j < n; j++) out[j] = 0;
    for (int f = from; good && f < to; f++) {
        good = sn_workspace_pose(ws[0], sn_motion_frame(a, f)) == SN_OK &&
               sn_workspace_pose(ws[1], sn_motion_frame(b, f)) == SN_OK;
        for (int j = 0; good && j < n; j++) {
            sn_mat3 A = turned(ws[0], model, j), B = turned(ws[1], model, j);
            out[j] += pow(angle_between(&A, &B), 2);
        }
    }
    for (int j = 0; j < n; j++) out[j] = sqrt(out[j] / (to - from)) / degree;
    sn_workspace_destroy(ws[0]);
    sn_workspace_destroy(ws[1]);
    sn_problem_destroy(problem);
    return good;
}

// --- what a marker determines ----------------------------------------------------------------------

// The diagonal of the inverse; the matrix is spoiled. False when it is not positive definite.
static bool inverse_diagonal(double *A, int n, double *x, double *out) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = A[i * n + j];
            for (int k = 0; k < j; k++) sum -= A[i * n + k] * A[j * n + k];
            if (i == j && !(sum > 0)) return false;
            A[i * n + j] = i == j ? sqrt(sum) : sum / A[j * n + j];
        }
    for (int c = 0; c < n; c++) {
        double square = 0;
        for (int i = c; i < n; i++) {
            double sum = i == c ? 1 : 0;
            for (int k = c; k < i; k++) sum -= A[i * n + k] * x[k];
            x[i] = sum / A[i * n + i];
            square += x[i] * x[i];
        }
        out[c] = square;
    }
    return true;
}

// Half a radian for what no marker shows.
static const double loose = 0.5;

static void add_markers(const sn_take *t, const sn_workspace *ws, int frame, int leave, double *J,
                        double weight, double *A) {
    const sn_model *m = sn_take_model(t);
    const sn_samples samples = sn_take_samples(t);
    int n = sn_model_nv(m);
    for (int i = 0; i < n * n; i++) A[i] = i % (n + 1) == 0 ? 1 / (loose * loose) : 0;
    for (int k = 0; k < sn_model_nmarker(m); k++) {
        const sn_marker_desc *d = sn_model_marker(m, k);
        double x[3];
        int column = -1;
        for (int s = 0; s < samples.nmarker && column < 0; s++)
            if (strcmp(sn_label_name(samples.label(samples.user, s)), sn_label_name(d->name)) == 0)
                column = s;
        if (k == leave || column < 0 || !samples.sample(samples.user, frame, column, x)) continue;
        sn_jacobian_simple(ws, d->joint, d->position, J);
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                A[i * n + j] += weight * (J[3 * i] * J[3 * j] + J[3 * i + 1] * J[3 * j + 1] +
                                          J[3 * i + 2] * J[3 * j + 2]);
    }
}

// How far each joint moves when a marker is left out, degrees.
static bool expected_moves(const study *s, const sn_take *t, int marker, double *out) {
    const sn_model *m = sn_take_model(t);
    int n = sn_model_nv(m), njoint = sn_model_njoint(m);
    double *A = must_alloc((size_t)n * (size_t)(n + 6) + 1, sizeof *A), *J = A + n * n,
           *x = J + 3 * n, *with = x + n, *without = with + n;
    double weight = 3 / (s->rms * s->rms);
    sn_problem *problem = NULL;
    sn_workspace *ws = NULL;
    bool good = sn_problem_create(m, NULL, 0, NULL, &problem, NULL) == SN_OK &&
                sn_workspace_create(problem, false, NULL, &ws, NULL) == SN_OK;
    for (int j = 0; j < njoint; j++) out[j] = 0;
    for (int k = 0; good && k < LOOKS; k++) {
        int f = s->from + (s->to - s->from) * (2 * k + 1) / (2 * LOOKS);
        good = sn_workspace_pose(ws, sn_motion_frame(sn_take_motion(t), f)) == SN_OK;
        if (!good) break;
        add_markers(t, ws, f, -1, J, weight, A);
        good = inverse_diagonal(A, n, x, with);
        add_markers(t, ws, f, marker, J, weight, A);
        good = good && inverse_diagonal(A, n, x, without);
        for (int j = 0; good && j < njoint; j++)
            for (int i = 0; i < sn_model_joint_nv(m, j); i++) {
                int v = sn_model_v_index(m, j) + i;
                if (!sn_model_is_length(m, j, i)) out[j] += fmax(without[v] - with[v], 0) / LOOKS;
            }
    }
    for (int j = 0; j < njoint; j++) out[j] = sqrt(out[j]) / degree;
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    free(A);
    return good;
}

// --- takes -----------------------------------------------------------------------------------------

static sn_take *fit_of(const study *s, const sn_recording *recording) {
    sn_take *t = NULL;
    if (sn_take_create(s->model, recording, &s->options, NULL, &t, NULL) == SN_OK &&
        sn_take_prepare(t) == SN_OK && sn_take_finish(t) == SN_OK)
        return t;
    sn_take_destroy(t);
    return NULL;
}

// The recording with a marker moved by `off` metres for a second, or missing where that is 0.
static sn_recording *spoiled(const study *s, int column, double off) {
    static const double way[3] = {0.6, -0.64, 0.48};
    sn_recording *out = bench_copy_recording(s->recording);
    for (int f = s->from; out != NULL && f < s->to; f++)
        for (int c = 0; c < 3; c++) {
            double *x = &sn_recording_edit(out, f)[3 * column + c];
            *x = off > 0 ? *x + off * way[c] : (double)NAN;
        }
    return out;
}

static int named(const study *s, const sn_take *t, int marker) {
    int rate = s->to - s->from, slack = rate / 20 + 2;
    for (int i = 0; i < sn_take_nfinding(t); i++) {
        const sn_finding *f = sn_take_finding(t, i);
        if (f->code != SN_FINDING_MARKER_OFF || f->marker != marker) continue;
        int first = (int)f->first - sn_take_about(t)->first_frame,
            last = (int)f->last - sn_take_about(t)->first_frame;
        if (abs(first - s->from) <= slack && abs(last + 1 - s->to) <= slack) return 1;
    }
    return 0;
}

typedef struct worst {
    double others, all;
    int other, joint;
} worst;

static void take_worst(const sn_model *m, const double *moved, const double *expected, worst *w) {
    for (int j = 0; j < sn_model_njoint(m); j++) {
        if (moved[j] > w->all) w->all = moved[j], w->joint = j;
        if (expected[j] < determined && moved[j] > w->others) w->others = moved[j], w->other = j;
    }
}

static bool marker_row(const study *s, const sn_take *clean, int marker, const char *take) {
    const sn_model *m = sn_take_model(clean);
    size_t njoint = (size_t)sn_model_njoint(m);
    double *moved = must_alloc(2 * njoint, sizeof *moved), *expected = moved + njoint;
    int found = 0, column = sn_take_column(clean, marker), others = 0;
    worst wrong = {0, 0, 0, 0}, gone = wrong;
    bool good = expected_moves(s, clean, marker, expected);
    for (int i = 0; good && i <= THROWS; i++) {
        sn_recording *bad = spoiled(s, column, i < THROWS ? throws[i] : 0);
        sn_take *t = bad != NULL ? fit_of(s, bad) : NULL;
        good = t != NULL &&
               moved_by(m, sn_take_motion(clean), sn_take_motion(t), s->from, s->to, moved);
        if (good && i < THROWS) found += named(s, t, marker);
        if (good) take_worst(m, moved, expected, i < THROWS ? &wrong : &gone);
        sn_take_destroy(t);
        sn_recording_destroy(bad);
    }
    for (size_t j = 0; j < njoint; j++) others += expected[j] < determined;
    if (good)
        printf("  %-28s %-8s %d of %d %5d %8.2f %-16.16s %8.2f %8.2f %-16.16s %8.2f\n", take,
               sn_model_marker(m, marker)->name, found, THROWS, others, wrong.others,
               sn_model_joint(m, wrong.other)->name, gone.others, wrong.all,
               sn_model_joint(m, wrong.joint)->name, gone.all);
    (void)fflush(stdout);
    free(moved);
    return good;
}

// One of those that are chosen by hand, or of the first ones.
static bool is_chosen(const sn_model *m, int marker, const bench_take *take, int count) {
    if (count > BENCH_SPOILED) return marker < count;
    for (int i = 0; i < count; i++)
        if (strcmp(sn_label_name(sn_model_marker(m, marker)->name), take->spoiled[i]) == 0)
            return true;
    return false;
}

static bool wrong_rows(const char *data, const bench_take *b, int count) {
    char *model = bench_path(data, b->skeleton), *take = bench_path(data, b->take);
    fit_settings settings = {.model = model, .input = take, .quiet = true};
    figure body = {0};
    sn_document document = {0};
    sn_document_options options = sn_document_options_default();
    sn_take_options plan;
    bool good = make_plan(&settings, &plan) && load_figure(model, true, 0, &body) &&
                load_document(take, &options, &document) && document.recording != NULL;
    if (good) {
        const sn_recording_info *info = sn_recording_about(document.recording);
        study s = {.model = body.model, .recording = document.recording, .options = plan};
        int half = info->nframe / 2,
            second = (int)(info->rate + 0.5) < half ? (int)(info->rate + 0.5) : half;
        s.from = (info->nframe - second) / 2, s.to = s.from + second;
        s.options.model_up = body.up, s.options.model_up_sign = body.up_sign;
        s.options.coordinates = body.document.coordinates;
        sn_take *clean = fit_of(&s, s.recording);
        good = clean != NULL;
        if (good) s.rms = fmax(sn_take_about(clean)->fit.rms, 1e-3);
        for (int k = 0; good && k < sn_model_nmarker(sn_take_model(clean)); k++)
            if (sn_take_column(clean, k) >= 0 && is_chosen(sn_take_model(clean), k, b, count))
                good = marker_row(&s, clean, k, strrchr(take, '/') + 1);
        sn_take_destroy(clean);
    }
    sn_document_destroy(&document);
    free_figure(&body);
    free(model);
    free(take);
    return good;
}

bool bench_fit_wrong(const char *data, int count) {
    bool good = true;
    printf("\nA marker that is off by 5, 20 and 50 cm for a second, calibration included: named "
           "with its frames;\nthe largest turn of a joint by it, root-mean-square over that "
           "second, degrees: of the others (which the remaining\nmarkers determine) and of all; "
           "\"missing\": the same when its samples are simply missing\n"
           "  %-28s %-8s %-6s %5s %8s %-16s %8s %8s %-16s %8s\n",
           "take", "marker", "named", "n", "others", "worst", "missing", "all", "worst", "missing");
    for (int i = 0; i < bench_ntake; i++)
        if (bench_is_there(data, &bench_takes[i]))
            good = wrong_rows(data, &bench_takes[i], count) && good;
    return good;
}
