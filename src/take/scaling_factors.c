// SPDX-License-Identifier: MIT
// The factors of a scaling: from the measurements of a setup, or from all distances in a static trial.
#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "take/scaling.h"

static int find_mark(const sn_scaling *s, const char *name) {
    for (int i = 0; i < s->nmark; i++)
        if (strcmp(s->mark[i].name, name) == 0) return i;
    return -1;
}

static int find_body(const sn_scaling *s, const char *name) {
    for (int i = 0; i < s->info.nbody; i++)
        if (strcmp(s->body[i].name, name) == 0) return i;
    return -1;
}

static double distance(const double a[3], const double b[3]) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

// --- measurements --------------------------------------------------------------------------------

// The mean distance of two markers over the frames that show both; NAN for none.
static double measure(const sn_recording *trial, int from, int to, int a, int b) {
    double sum = 0;
    int n = 0;
    for (int f = from; f <= to; f++) {
        const double *p = sn_recording_frame(trial, f);
        if (!sn_recording_present(trial, f, a) || !sn_recording_present(trial, f, b)) continue;
        sum += distance(p + 3 * a, p + 3 * b);
        n++;
    }
    return n > 0 ? sum / n : (double)NAN;
}

// A pair's distance on the model and in the trial. False where it cannot be had, which is told.
static bool measure_pair(sn_scaling *s, const sn_scale_measurement *m, const sn_scale_pair *pair,
                         const double *places, int from, int to, sn_scaling_distance *out) {
    const sn_recording *trial = s->input->measured;
    int at[2], column[2];
    for (int k = 0; k < 2; k++) {
        at[k] = find_mark(s, pair->marker[k]);
        column[k] = sn_recording_find(trial, pair->marker[k]);
        if (at[k] >= 0 && column[k] >= 0) continue;
        sn_scaling_tell(s, SN_SCALING_SETUP, pair->line,
                        "measurement \"%.60s\" is not used: the %s has no marker \"%.60s\"",
                        m->name, at[k] < 0 ? "model" : "trial", pair->marker[k]);
        return false;
    }
    *out = (sn_scaling_distance){m->name,
                                 {s->mark[at[0]].name, s->mark[at[1]].name},
                                 distance(places + 3 * at[0], places + 3 * at[1]),
                                 measure(trial, from, to, column[0], column[1])};
    if (out->model > 1e-9 && out->measured > 1e-9) return true;
    sn_scaling_tell(s, SN_SCALING_SETUP, pair->line,
                    "measurement \"%.60s\" is not used: %s \"%.60s\" and \"%.60s\"", m->name,
                    out->model > 1e-9 ? "no frame of the trial shows apart"
                                      : "on the model there is no distance between",
                    pair->marker[0], pair->marker[1]);
    return false;
}

static const char *keep_name(sn_scaling *s, const char *name) {
    size_t n = strlen(name) + 1;
    char *to = s->names + s->nnames;
    memcpy(to, name, n);
    s->nnames += n;
    return to;
}

static void take_measurement(sn_scaling *s, const sn_scale_measurement *m, const double *places,
                             int from, int to) {
    const sn_scale_setup_info *setup = sn_scale_setup_about(s->input->setup);
    double sum = 0;
    int first = s->info.ndistance;
    for (int k = 0; k < m->npair; k++) {
        sn_scaling_distance *d = &s->distance[s->info.ndistance];
        if (!measure_pair(s, m, &setup->pairs[m->pair + k], places, from, to, d)) {
            s->info.ndistance = first;
            return;
        }
        d->measurement = keep_name(s, m->name);
        sum += d->measured / d->model;
        s->info.ndistance++;
    }
    if (m->npair == 0) {
        sn_scaling_tell(s, SN_SCALING_SETUP, m->line,
                        "measurement \"%.60s\" has no pair of markers, and is not used", m->name);
        return;
    }
    for (int k = 0; k < m->nbody; k++) {
        const sn_scale_body *b = &setup->bodies[m->body + k];
        int body = find_body(s, b->body);
        if (body < 0) {
            sn_scaling_tell(s, SN_SCALING_SETUP, b->line, "the model has no body \"%.60s\"",
                            b->body);
            continue;
        }
        for (int x = 0; x < 3; x++)
            if (b->axis[x]) s->body[body].factor[x] = sum / m->npair;
    }
}

static void take_manual(sn_scaling *s) {
    const sn_scale_setup_info *setup = sn_scale_setup_about(s->input->setup);
    for (int k = 0; k < setup->nmanual; k++) {
        const sn_scale_body *b = &setup->manual[k];
        int body = find_body(s, b->body);
        if (body >= 0)
            memcpy(s->body[body].factor, b->factor, sizeof b->factor);
        else
            sn_scaling_tell(s, SN_SCALING_SETUP, b->line, "the model has no body \"%.60s\"",
                            b->body);
    }
}

sn_status sn_scaling_measure(sn_scaling *s, const double *places) {
    const sn_scale_setup_info *setup = sn_scale_setup_about(s->input->setup);
    size_t names = 1, pairs = 1;
    for (int k = 0; k < setup->nmeasurement; k++) {
        names += (size_t)setup->measurement[k].npair * (strlen(setup->measurement[k].name) + 1);
        pairs += (size_t)setup->measurement[k].npair;
    }
    s->names = sn_acquire(&s->allocator, names);
    s->distance = sn_acquire(&s->allocator, pairs * sizeof *s->distance);
    if (s->names == NULL || s->distance == NULL) return sn_fail_memory(s->error);
    for (int step = 0; step < setup->nstep; step++) {
        if (setup->step[step] == SN_SCALE_MANUAL) {
            take_manual(s);
            continue;
        }
        int from, to;
        if (setup->nmeasurement == 0) continue;
        if (s->input->measured == NULL)
            return sn_scaling_refuse(s, SN_SCALING_SETUP, setup->measured_line,
                                     "there are measurements, and no trial to take them from");
        SN_TRY(sn_scaling_frames(s, s->input->measured, SN_SCALING_MEASURED, setup->measured_first,
                                 setup->measured_last, setup->measured_time_line, &from, &to));
        for (int k = 0; k < setup->nmeasurement; k++)
            take_measurement(s, &setup->measurement[k], places, from, to);
    }
    return SN_OK;
}

// --- without measurements ------------------------------------------------------------------------
//
// With one factor a body, places are linear in the factors as long as the pose stays: x_i = c_i + sum_b s_b D_ib.
// D comes from the scaling itself, with one body grown by 1. Distances of markers that at most two bodies lie
// between hardly depend on the posture of somebody who stands as the model does; the factors are those that
// explain them best, near each other: bodies are alike all over.

double sn_scaling_doubt(const sn_scaling *s, int mark) {
    bool any = false;
    for (int i = 0; i < s->nmark; i++) any = any || s->mark[i].fixed;
    return s->mark[mark].fixed || !any ? 0.012 : 0.2;
}

typedef struct estimate {
    int nbody, nmark;
    const double *places;
    double *D;          // nmark x nbody x 3
    double *L;          // nmark x 3: where the trial shows them
    double *A, *b, *x;  // (nbody + 1)^2, nbody + 1
    double *J;
} estimate;

enum { ROUNDS = 20 };
static const double spread = 0.05;  // of the bodies' factors about their mean

static sn_status find_slopes(sn_scaling *s, estimate *e) {
    for (int b = 0; b < e->nbody; b++) {
        sn_osim_factor one = {s->body[b].name, {2, 2, 2}};
        sn_osim_scaling how = {.factor = &one, .count = 1, .preserve_mass = true};
        sn_osim_scaled about;
        char *text;
        size_t length;
        double *moved = NULL;
        SN_TRY(sn_osim_scale_text(s->marked, s->nmarked, &how, &s->allocator, &text, &length,
                                  &about, s->error));
        sn_status status = sn_scaling_markers_at(s, text, length, &moved);
        for (int i = 0; i < e->nmark && status == SN_OK; i++)
            for (int x = 0; x < 3; x++)
                e->D[3 * (i * e->nbody + b) + x] = moved[3 * i + x] - e->places[3 * i + x];
        sn_release(&s->allocator, moved);
        sn_release(&s->allocator, text);
        SN_TRY(status);
    }
    return SN_OK;
}

static void add_row(estimate *e, double residual) {
    int n = e->nbody + 1;
    for (int i = 0; i < n; i++) {
        if (e->J[i] == 0) continue;
        e->b[i] -= e->J[i] * residual;
        for (int k = 0; k <= i; k++) e->A[i * n + k] += e->J[i] * e->J[k];
    }
}

// A pair's distance as a row, where few bodies lie between the two.
static bool add_pair(const sn_scaling *s, estimate *e, int i, int j) {
    int n = e->nbody, between = 0;
    double d[3], length = 0;
    if (!isfinite(e->L[3 * i]) || !isfinite(e->L[3 * j])) return false;
    for (int x = 0; x < 3; x++) {
        d[x] = e->places[3 * i + x] - e->places[3 * j + x];
        for (int b = 0; b < n; b++)
            d[x] += (e->x[b] - 1) * (e->D[3 * (i * n + b) + x] - e->D[3 * (j * n + b) + x]);
        length += d[x] * d[x];
    }
    length = sqrt(length);
    if (length < 0.05) return false;
    double si = sn_scaling_doubt(s, i), sj = sn_scaling_doubt(s, j);
    double sigma = sqrt(si * si + sj * sj);
    for (int b = 0; b < n; b++) {
        double slope = 0;
        for (int x = 0; x < 3; x++)
            slope += d[x] * (e->D[3 * (i * n + b) + x] - e->D[3 * (j * n + b) + x]);
        e->J[b] = slope / length / sigma;
        between += fabs(slope / length) > 1e-6;
    }
    e->J[n] = 0;
    if (between == 0 || between > 2) return false;
    add_row(e, (length - distance(e->L + 3 * i, e->L + 3 * j)) / sigma);
    return true;
}

static int round_of(const sn_scaling *s, estimate *e) {
    int n = e->nbody + 1, pairs = 0;
    memset(e->A, 0, (size_t)n * (size_t)n * sizeof *e->A);
    memset(e->b, 0, (size_t)n * sizeof *e->b);
    for (int i = 0; i < e->nmark; i++)
        for (int j = 0; j < i; j++) pairs += add_pair(s, e, i, j);
    for (int b = 0; b < e->nbody; b++) {
        memset(e->J, 0, (size_t)n * sizeof *e->J);
        e->J[b] = 1 / spread, e->J[n - 1] = -1 / spread;
        add_row(e, (e->x[b] - e->x[n - 1]) / spread);
    }
    memset(e->J, 0, (size_t)n * sizeof *e->J);
    e->J[n - 1] = 1;  // the mean hardly: to the generic model's size
    add_row(e, e->x[n - 1] - 1);
    if (!sn_cholesky(e->A, n)) return 0;
    sn_cholesky_forward(e->A, n, e->b);
    sn_cholesky_backward(e->A, n, e->b);
    for (int i = 0; i < n; i++) e->x[i] = fmin(fmax(e->x[i] + e->b[i], 0.2), 5);
    return pairs;
}

static void lay_out(estimate *e, sn_layout *layout) {
    size_t n = (size_t)e->nbody + 1, m = (size_t)e->nmark;
    e->D = sn_layout_take(layout, 3 * m * n, sizeof *e->D);
    e->L = sn_layout_take(layout, 3 * m, sizeof *e->L);
    e->A = sn_layout_take(layout, n * n, sizeof *e->A);
    e->b = sn_layout_take(layout, n, sizeof *e->b);
    e->x = sn_layout_take(layout, n, sizeof *e->x);
    e->J = sn_layout_take(layout, n, sizeof *e->J);
}

sn_status sn_scaling_estimate(sn_scaling *s, const double *places) {
    const sn_recording *trial = s->input->at_rest;
    estimate e = {.nbody = s->info.nbody, .nmark = s->nmark, .places = places};
    sn_layout layout = {0};
    void *owner = NULL;
    int from, to, pairs = 0;
    bool all = s->input->first == 0 && s->input->last == 0;
    SN_TRY(sn_scaling_frames(s, trial, SN_SCALING_STATIC, all ? -INFINITY : s->input->first,
                             all ? INFINITY : s->input->last, 0, &from, &to));
    lay_out(&e, &layout);
    void *block = sn_layout_acquire(&layout, &s->allocator, &owner);
    if (block == NULL) return sn_fail_memory(s->error);
    layout = (sn_layout){.block = block};
    lay_out(&e, &layout);
    for (int i = 0; i < e.nmark; i++) {
        int column = sn_recording_find(trial, s->mark[i].name);
        e.L[3 * i] = (double)NAN;
        if (column >= 0) sn_scaling_mean(trial, from, to, column, e.L + 3 * i);
    }
    for (int i = 0; i <= e.nbody; i++) e.x[i] = 1;
    sn_status status = find_slopes(s, &e);
    for (int k = 0; k < ROUNDS && status == SN_OK; k++) pairs = round_of(s, &e);
    for (int b = 0; b < e.nbody; b++)
        for (int x = 0; x < 3; x++) s->body[b].factor[x] = e.x[b];
    sn_release(&s->allocator, owner);
    SN_TRY(status);
    if (pairs > 0) return SN_OK;
    return sn_scaling_refuse(s, SN_SCALING_STATIC, 0,
                             "it shows no two of the model's markers: nothing can be measured");
}
