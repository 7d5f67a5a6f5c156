// SPDX-License-Identifier: MIT
// Where the markers sit and how large the bodies are: an estimate with priors.
//
// Unknown are an offset d of each marker from its place on the figure, three factors s for each body, and the
// poses of some frames. Least is sought of
//
//   sum over frames and markers  (N/F) |r|^2 / sigma^2       N independent frames: skin moves with the posture,
//                                                            so that many frames say hardly more than two
//   + sum over markers           |d|^2 / doubt^2             a landmark is known to a centimetre or two, a marker
//                                                            in the middle of a segment is not; beyond six times
//                                                            that it grows less, on the body
//   + (log s - m)^T P (log s - m)                            bodies are alike all over: estimate_bodies.c
//   + sum over frames            ranges of joints, softly, and hardly a pull to the posture at rest
//
// The best marker fit is not the best motion: offsets, lengths and postures trade against each other, and what
// decides is how well each is known beforehand. Poses are eliminated frame by frame (estimate_normal.c).
//
// First the size, from distances between landmarks of one body; poses by landmarks alone; shape and poses by
// landmarks; then tracking markers where these poses show them, and all together.
#include "take/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/order.h"
#include "math/vec3.h"

sn_estimate_options sn_estimate_options_default(void) {
    return (sn_estimate_options){.asked = {.version = 2, .frames = 60, .only = -1, .threads = 1},
                                 .still_frames = 4,
                                 .independent = 2,
                                 .sigma = 0.01,
                                 .range = 0.03};
}

// --- between the rounds --------------------------------------------------------------------------

typedef sn_status visit(sn_estimate *e, int k, int marker, sn_vec3 residual, sn_mat3 R);

static sn_status visit_all(sn_estimate *e, visit *function, sn_error *error) {
    sn_model *model = NULL;
    sn_fit_place at = {0};
    SN_TRY(sn_estimate_model(e, e->x, false, &model, error));
    sn_status status = sn_fit_place_open(&at, model, e->allocator);
    for (int k = 0; status == SN_OK && k < e->nframe; k++) {
        status = sn_workspace_pose(at.workspace, e->poses + (size_t)k * e->nq);
        for (int i = 0; status == SN_OK && i < e->nmarker; i++) {
            double goal[3];
            const sn_marker_desc *m = sn_model_marker(model, i);
            if (!sn_estimate_goal(e, k, i, goal)) continue;
            sn_vec3 p = sn_workspace_point(at.workspace, m->joint, m->position);
            status = function(e, k, i, v3_sub(v3_from(goal), p),
                              sn_workspace_frame(at.workspace, m->joint).R);
        }
    }
    sn_fit_place_close(&at, e->allocator);
    sn_model_destroy(model);
    return status;
}

// The sum of a marker's residuals in its joint's frame, weighted, and of the weights.
static sn_status add_residual(sn_estimate *e, int k, int i, sn_vec3 r, sn_mat3 R) {
    double w = e->share[k];
    sn_vec3 local = m3_tmul(&R, r);
    double *sum = e->step + 3 * i;
    sum[0] += w * local.x, sum[1] += w * local.y, sum[2] += w * local.z;
    e->sum[i] += w;
    return SN_OK;
}

sn_status sn_estimate_place(sn_estimate *e, sn_error *error) {
    memset(e->step, 0, e->n * sizeof *e->step);
    memset(e->sum, 0, (size_t)e->nmarker * sizeof *e->sum);
    SN_TRY(visit_all(e, add_residual, error));
    for (int i = 0; i < e->nmarker; i++)
        for (int k = 0; e->doubt[i] > SN_ESTIMATE_WELL_KNOWN && e->sum[i] > 0 && k < 3; k++)
            e->x[3 * i + k] += e->step[3 * i + k] / e->sum[i];
    return SN_OK;
}

static sn_status keep_error(sn_estimate *e, int k, int i, sn_vec3 r, sn_mat3 R) {
    (void)R;
    e->trust[(size_t)k * (size_t)e->nmarker + (size_t)i] = v3_norm(r);
    return SN_OK;
}

// A sample further off than three times the usual, and than skin goes, counts for less.
static const double far_off = 0.04;

sn_status sn_estimate_weigh(sn_estimate *e, double *rms, int *outliers, sn_error *error) {
    size_t total = (size_t)e->nframe * (size_t)e->nmarker, count = 0;
    double sum = 0, *sorted = sn_acquire(e->allocator, (total + 1) * sizeof *sorted);
    if (sorted == NULL) return sn_fail_memory(error);
    for (size_t i = 0; i < total; i++) e->trust[i] = -1;
    sn_status status = visit_all(e, keep_error, error);
    for (size_t i = 0; i < total; i++) {
        if (e->trust[i] < 0) continue;
        sum += e->trust[i] * e->trust[i];
        sorted[count++] = e->trust[i];
    }
    qsort(sorted, count, sizeof *sorted, sn_by_value);
    double scale = count > 0 ? fmax(3 * sorted[count / 2], far_off) : 1;
    *rms = count > 0 ? sqrt(sum / (double)count) : 0;
    *outliers = 0;
    for (size_t i = 0; i < total; i++) {
        double share = e->trust[i] > 0 ? scale / e->trust[i] : 1;
        e->trust[i] = share < 1 ? share * share : 1;
        *outliers += e->trust[i] < 0.5;
    }
    sn_release(e->allocator, sorted);
    return status == SN_OK ? sn_estimate_slide(e, error) : status;
}

// --- all of it -----------------------------------------------------------------------------------

static void tell(const sn_estimate *e, double fraction) {
    if (e->o.asked.progress != NULL) e->o.asked.progress(e->o.asked.progress_user, fraction);
}

// What the frames are worth together: of noise each tells anew, of skin all are as good as a few. Skin that moves
// by 2.5 mm in the frame of its bone, as a fit of everything leaves it, stands for a shape that is off by four times
// as much: measured on walks, squats and jumps whose motion an expert found.
static const double skin_more = 4, least_skin = 0.0001, most_skin = 0.003;

static void trust_frames(sn_estimate *e, double white, double skin) {
    int count[2] = {0, 0};
    skin = skin_more * fmin(fmax(skin, least_skin), most_skin);
    e->sliding = fmin(skin / e->o.sigma, 1);  // more than the usual is no skin's
    for (int k = 0; k < e->nframe; k++) count[e->still[k]]++;
    for (int k = 0; k < e->nframe; k++) {
        double variance = count[e->still[k]] * skin * skin / e->o.independent + white * white;
        e->share[k] = e->o.sigma * e->o.sigma / variance;
    }
}

// Rounds: all markers, whose poses tell how far joints are bent; freely, which shows the noise; with what both have told.
// First and last go on to the least energy, with bones of wrong lengths (CMU 85_02) for 80 steps: where they were cut off,
// what was left of the way depended on every sample, and a marker that was wrong for a second moved other joints by degrees
// (by 1.15 there with tolerances of 1e-6 and 1e-7, by 0.56 with these).
enum { ROUNDS = 3 };
static const struct {
    int steps;
    double tolerance;
} rounds[ROUNDS] = {{300, 1e-8}, {14, 1e-3}, {300, 1e-9}};

// What frames are worth was found with these labels; to be compared with others they count as at first.
static sn_status tell_energy(sn_estimate *e, sn_error *error) {
    int moving = 0;
    for (int k = 0; k < e->nframe; k++) moving += !e->still[k];
    for (int k = 0; k < e->nframe; k++)
        e->share[k] = e->o.independent / (e->still[k] ? e->nframe - moving : moving);
    return sn_estimate_energy(e, e->x, e->poses, e->o.asked.energy, error);
}

static sn_status run(sn_estimate *e, sn_calibrate_report *report, sn_error *error) {
    int known = 0;
    bool folded;
    for (int i = 0; i < e->nmarker; i++) known += e->doubt[i] <= SN_ESTIMATE_WELL_KNOWN;
    bool apart = known >= 6 && known < e->nmarker;
    for (int i = 0; i < e->nmarker; i++)
        e->use[i] = !apart || e->doubt[i] <= SN_ESTIMATE_WELL_KNOWN;
    tell(e, 0);
    SN_TRY(sn_estimate_start(e, error));
    if (e->nframe == 0)
        return sn_fail(error, SN_ERR_VALUE, 0, "no frame has markers to calibrate from");
    tell(e, 0.2);
    SN_TRY(sn_estimate_weigh(e, &report->rms_before, &report->outliers, error));
    SN_TRY(sn_estimate_improve(e, apart ? 10 : 14, 1e-3, error));
    tell(e, 0.5);
    for (int i = 0; i < e->nmarker; i++) e->use[i] = 1;
    if (apart) SN_TRY(sn_estimate_place(e, error));
    for (int pass = 0; pass < ROUNDS; pass++) {
        if (sn_cancelled(e->o.asked.cancel)) return SN_OK;
        if (pass == 1) trust_frames(e, e->o.sigma, 0);
        SN_TRY(sn_estimate_fold(e, &folded, error));
        SN_TRY(sn_estimate_weigh(e, &report->rms, &report->outliers, error));
        SN_TRY(sn_estimate_improve(e, rounds[pass].steps, rounds[pass].tolerance, error));
        if (pass == 0) memcpy(e->bent, e->poses, (size_t)e->nframe * e->nq * sizeof *e->bent);
        if (pass == 1) {
            double white, skin;
            SN_TRY(sn_estimate_noise(e, &white, &skin, error));
            trust_frames(e, white, skin);
        }
        tell(e, 0.6 + 0.1 * pass);
    }
    SN_TRY(sn_estimate_fold(e, &folded, error));
    if (folded)
        SN_TRY(
            sn_estimate_improve(e, rounds[ROUNDS - 1].steps, rounds[ROUNDS - 1].tolerance, error));
    SN_TRY(sn_estimate_weigh(e, &report->rms, &report->outliers, error));
    report->frames = e->nframe;
    report->iterations = e->iterations;
    if (e->o.asked.sure != NULL)
        SN_TRY(sn_estimate_sure(e, e->o.asked.sure, e->o.asked.nsure, error));
    return e->o.asked.energy != NULL ? tell_energy(e, error) : SN_OK;
}

static void lay_out_bodies(sn_estimate *e, sn_layout *l) {
    size_t n = (size_t)e->njoint;
    e->body = sn_layout_take(l, n, sizeof *e->body);
    e->axes = sn_layout_take(l, n, sizeof *e->axes);
    e->name = sn_layout_take(l, n, sizeof *e->name);
    e->length = sn_layout_take(l, (size_t)e->o.asked.nlength, sizeof *e->length);
}

static void lay_out_workers(sn_estimate *e, sn_layout *l) {
    size_t n = e->n, nv = e->nv;
    e->workers = sn_layout_take(l, (size_t)e->nworker, sizeof *e->workers);
    for (int i = 0; i < e->nworker; i++) {
        sn_estimate_worker spare, *w = e->workers != NULL ? &e->workers[i] : &spare;
        *w = (sn_estimate_worker){0};
        w->A = sn_layout_take(l, nv * nv, sizeof *w->A);
        // rows are taken four at a time
        w->B = sn_layout_take(l, (nv + 3) * n, sizeof *w->B);
        w->y = sn_layout_take(l, nv + 3, sizeof *w->y);
        w->J = sn_layout_take(l, 3 * nv, sizeof *w->J);
        w->Jx = sn_layout_take(l, 3 * n, sizeof *w->Jx);
        w->delta = sn_layout_take(l, nv, sizeof *w->delta);
        w->columns = sn_layout_take(l, 3 + 3 * (size_t)e->njoint, sizeof *w->columns);
        w->dofs = sn_layout_take(l, nv, sizeof *w->dofs);
        w->runs = sn_layout_take(l, n + 1, sizeof *w->runs);
    }
}

static void lay_out(sn_estimate *e, sn_layout *l) {
    size_t n = e->n, nv = e->nv, m = (size_t)e->nmarker, nb = 3 * (size_t)e->nbody,
           F = (size_t)e->o.asked.frames + (size_t)e->o.still_frames;
    e->doubt = sn_layout_take(l, m, sizeof *e->doubt);
    e->use = sn_layout_take(l, m, sizeof *e->use);
    e->mean = sn_layout_take(l, nb, sizeof *e->mean);
    e->P = sn_layout_take(l, nb * nb, sizeof *e->P);
    e->frame = sn_layout_take(l, F, sizeof *e->frame);
    e->still = sn_layout_take(l, F, sizeof *e->still);
    e->share = sn_layout_take(l, F, sizeof *e->share);
    e->trust = sn_layout_take(l, F * m, sizeof *e->trust);
    e->poses = sn_layout_take(l, F * e->nq, sizeof *e->poses);
    e->poses_try = sn_layout_take(l, F * e->nq, sizeof *e->poses_try);
    e->bent = sn_layout_take(l, F * e->nq, sizeof *e->bent);
    e->x = sn_layout_take(l, n, sizeof *e->x);
    e->x_try = sn_layout_take(l, n, sizeof *e->x_try);
    e->g = sn_layout_take(l, n, sizeof *e->g);
    e->step = sn_layout_take(l, n, sizeof *e->step);
    e->S = sn_layout_take(l, n * n, sizeof *e->S);
    e->factored = sn_layout_take(l, n * n, sizeof *e->factored);
    e->U = sn_layout_take(l, F * (nv * (nv + 1) / 2), sizeof *e->U);
    e->gq = sn_layout_take(l, F * nv, sizeof *e->gq);
    e->sum = sn_layout_take(l, F > m ? F : m, sizeof *e->sum);
    e->delta = sn_layout_take(l, nv, sizeof *e->delta);
    // equations of the shape, or how joints follow it
    size_t part = n * (n + 1) / 2 + n;
    for (int i = 0; i < SN_ESTIMATE_PARTS; i++)
        e->part[i] = sn_layout_take(l, part > nv * n ? part : nv * n, sizeof(double));
    lay_out_workers(e, l);
}

static void give(const sn_estimate *e, double *position, sn_mat3 *stretch) {
    for (int j = 0; j < e->njoint; j++) stretch[j] = sn_estimate_stretch(e, e->x, j);
    for (int i = 0; i < e->nmarker; i++) {
        const sn_marker_desc *d = sn_model_marker(e->model, i);
        sn_vec3 p = m3_mul(&stretch[d->joint], v3_from(d->position));
        p = v3_add(p, v3_from(e->x + 3 * i));
        position[3 * i] = p.x, position[3 * i + 1] = p.y, position[3 * i + 2] = p.z;
    }
}

sn_status sn_estimate_open(sn_estimate *e, const sn_estimate_options *options,
                           const sn_allocator *allocator, sn_error *error) {
    const sn_model *model = options->take->model;
    *e = (sn_estimate){.allocator = allocator,
                       .o = *options,
                       .model = model,
                       .njoint = sn_model_njoint(model),
                       .nmarker = sn_model_nmarker(model),
                       .nq = (size_t)sn_model_nq(model),
                       .nv = (size_t)sn_model_nv(model),
                       .nworker = options->asked.threads};
    // more would find nothing to do
    if (e->nworker > SN_ESTIMATE_PARTS) e->nworker = SN_ESTIMATE_PARTS;
    if (e->o.asked.frames > options->take->count) e->o.asked.frames = options->take->count;
    if (e->o.asked.still == NULL) e->o.still_frames = 0;
    sn_layout layout = {0};
    lay_out_bodies(e, &layout);
    void *block = sn_layout_acquire(&layout, allocator, &e->owner[0]);
    if (block == NULL) return sn_fail_memory(error);
    layout = (sn_layout){.block = block};
    lay_out_bodies(e, &layout);
    SN_TRY(sn_estimate_bodies(e) == SN_OK ? SN_OK : sn_fail_memory(error));
    layout = (sn_layout){0};
    lay_out(e, &layout);
    block = sn_layout_acquire(&layout, allocator, &e->owner[1]);
    if (block == NULL) return sn_fail_memory(error);
    layout = (sn_layout){.block = block};
    lay_out(e, &layout);
    for (int i = 0; i < e->nmarker; i++) {
        e->doubt[i] = fmax(options->asked.doubt[i], 1e-4);
        e->use[i] = 1;
    }
    SN_TRY(sn_estimate_known(e, &e->size, error));
    sn_status status = sn_estimate_prior(e);
    return status == SN_OK ? SN_OK : sn_fail(error, status, 0, "%s", sn_status_text(status));
}

void sn_estimate_close(sn_estimate *e) {
    sn_release(e->allocator, e->owner[1]);
    sn_release(e->allocator, e->owner[0]);
}

sn_status sn_estimate_shape(const sn_estimate_options *options, const sn_allocator *allocator,
                            double *position, sn_mat3 *stretch, sn_calibrate_report *report,
                            sn_error *error) {
    sn_estimate e;
    sn_error own = {0}, *told = error != NULL ? error : &own;
    *report = (sn_calibrate_report){0};
    sn_status status = sn_estimate_open(&e, options, allocator, told);
    if (status == SN_OK) status = run(&e, report, told);
    report->cancelled = sn_cancelled(options->asked.cancel);
    // then what was found so far counts
    if (status == SN_ERR_CANCELLED) {
        status = SN_OK;
        *told = (sn_error){0};
    }
    if (status == SN_OK)
        give(&e, position, stretch);
    else if (told->text[0] == '\0')
        (void)sn_fail(told, status, 0, "%s", sn_status_text(status));
    sn_estimate_close(&e);
    return status;
}
