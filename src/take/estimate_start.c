// SPDX-License-Identifier: MIT
// Where an estimate begins: frames, size, poses.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/exp.h"
#include "math/order.h"
#include "math/vec3.h"
#include "model/model.h"
#include "solvers/solver.h"
#include "take/estimate.h"

static int seen_in(const sn_estimate *e, const sn_fit_input *in, int frame) {
    int n = 0;
    double goal[3];
    for (int i = 0; i < e->nmarker; i++) n += e->use[i] > 0 && sn_fit_goal(in, i, frame, goal);
    return n;
}

// In each stretch of the take the frame that sees most, nearest to its middle.
static void choose_frames(sn_estimate *e, const sn_fit_input *in, int wanted, bool still) {
    int first = e->nframe, most = 0;
    enum { LOOKED_AT = 12 };
    for (int slot = 0; slot < wanted; slot++) {
        int from = (int)((int64_t)in->count * slot / wanted),
            to = (int)((int64_t)in->count * (slot + 1) / wanted), best = -1, seen = 0;
        int step = (to - from) / LOOKED_AT + 1;
        for (int f = from + (to - from) / 2 % step; f < to; f += step) {
            int n = seen_in(e, in, in->first + f);
            bool nearer = n == seen && abs(2 * f - from - to) < abs(2 * best - from - to);
            if (best < 0 || n > seen || nearer) best = f, seen = n;
        }
        if (best < 0 || seen < 3 || 2 * seen < most) continue;
        if (seen > most) most = seen;
        e->frame[e->nframe] = in->first + best;
        e->still[e->nframe++] = still;
    }
    for (int k = first; k < e->nframe; k++) e->share[k] = e->o.independent / (e->nframe - first);
}

// The markers of all frames together count for a few frames, so that those of one frame count for less where there are
// more. So must what is known of postures, or more frames would draw the figure to rest: a half of HDM05 dg_03 fitted
// 13 % worse with 400 frames than with 60. The strengths of posture_prior.c were chosen with 60.
static double share_of_posture(const sn_estimate *e) {
    const int chosen_with = 60;
    int moving = 0;
    for (int k = 0; k < e->nframe; k++) moving += !e->still[k];
    return moving > 0 ? (double)chosen_with / moving : 1;
}

// The posture of a back and a neck lasts: one that is held for a second and a half was met once or twice, however many frames
// show it. So a take says about once a second where it is at rest, and once more. The strengths of posture_prior.c are for
// takes of ten seconds and longer.
static double lasting_posture(const sn_estimate *e) {
    const double enough = 10;
    const double rate = sn_recording_about(e->o.take->recording)->rate,
                 seconds = e->o.take->count / (rate > 0 ? rate : 120);
    return fmin((1 + seconds) / (1 + enough), 1);
}

// --- size ----------------------------------------------------------------------------------------

// The mean distance of two markers over the frames; 0 when none shows both.
static double distance(const sn_estimate *e, int i, int j) {
    double sum = 0, a[3], b[3];
    int n = 0;
    for (int k = 0; k < e->nframe; k++) {
        if (!sn_estimate_goal(e, k, i, a) || !sn_estimate_goal(e, k, j, b)) continue;
        sum += v3_norm(v3_sub(v3_from(a), v3_from(b)));
        n++;
    }
    return n > 0 ? sum / n : 0;
}

// The median over pairs of landmarks on one body; 1 where there are none.
static sn_status find_size(sn_estimate *e, double *size) {
    size_t room = (size_t)e->nmarker * (size_t)e->nmarker / 2 + 1, n = 0;
    double *ratio = sn_acquire(e->allocator, room * sizeof *ratio);
    if (ratio == NULL) return SN_ERR_MEMORY;
    for (int i = 0; i < e->nmarker; i++)
        for (int j = 0; j < i; j++) {
            const sn_marker_desc *a = sn_model_marker(e->model, i),
                                 *b = sn_model_marker(e->model, j);
            if (a->joint != b->joint || e->use[i] == 0 || e->use[j] == 0) continue;
            if (e->doubt[i] > SN_ESTIMATE_WELL_KNOWN || e->doubt[j] > SN_ESTIMATE_WELL_KNOWN)
                continue;
            double d = v3_norm(v3_sub(v3_from(a->position), v3_from(b->position)));
            double measured = distance(e, i, j);
            if (d > 0.06 && measured > 0.02) ratio[n++] = measured / d;
        }
    qsort(ratio, n, sizeof *ratio, sn_by_value);
    *size = n >= 3 ? fmin(fmax(ratio[n / 2], 0.4), 2.5) : 1;
    sn_release(e->allocator, ratio);
    return SN_OK;
}

// --- poses ---------------------------------------------------------------------------------------

sn_status sn_estimate_problem(const sn_estimate *e, const sn_model *model, sn_problem **out,
                              double *pull, sn_error *error) {
    sn_problem *markers = NULL;
    *out = NULL;
    SN_TRY(sn_problem_create_markers(model, e->allocator, &markers, error));
    sn_task extra[2] = {sn_task_default(SN_TASK_REST), sn_task_default(SN_TASK_LIMIT)};
    double unit = e->o.sigma * e->o.sigma;
    for (size_t v = 0; v < e->nv; v++) {
        double s = e->o.rest[v];
        pull[v] = isfinite(s) && s > 0 ? unit / (s * s) : 0;
    }
    extra[0].q = e->o.home;
    extra[0].q_weight = pull;
    extra[1].lower = e->o.lower;
    extra[1].upper = e->o.upper;
    extra[1].weight = unit / (e->o.range * e->o.range);
    sn_status status = sn_problem_copy(markers, extra, 2, e->allocator, out, error);
    sn_problem_destroy(markers);
    return status;
}

static sn_status set_frame(const sn_estimate *e, sn_problem *problem, int k) {
    for (int i = 0; i < e->nmarker; i++) {
        double goal[3];
        if (sn_estimate_goal(e, k, i, goal)) {
            SN_TRY(sn_problem_set_goal(problem, i, goal));
            SN_TRY(sn_problem_set_weight(problem, i, sn_model_marker(e->model, i)->weight));
        } else {
            SN_TRY(sn_problem_set_missing(problem, i, true));
        }
    }
    return SN_OK;
}

// Solvers of single frames, one a thread, and what they found.
typedef struct finders {
    sn_problem *problem[SN_ESTIMATE_PARTS];
    sn_solver *solver[SN_ESTIMATE_PARTS];
    double *q;  // nworker x nq
    double *f;  // nframe: of the poses
    double doubtful;
    bool changed;
} finders;

// A frame is looked at from nothing where f is so many times the usual: with limbs folded the wrong way it was 1.3 to 7
// times that in takes that are about, and else within a tenth.
static const double doubtful = 1.15;
// And what is found so counts when it is that much lower: neighbours had better be folded alike.
static const double lower_by = 0.9;

static sn_status look_from_nothing(sn_estimate *e, finders *found, int thread, int k) {
    double *q = found->q + (size_t)thread * e->nq;
    sn_report report;
    SN_TRY(set_frame(e, found->problem[thread], k));
    memcpy(q, e->o.home, e->nq * sizeof *q);
    SN_TRY(sn_solver_solve_cold(found->solver[thread], q, &report));
    if (!(report.f < lower_by * found->f[k])) return SN_OK;
    memcpy(e->poses + (size_t)k * e->nq, q, e->nq * sizeof *q);
    found->f[k] = report.f;
    return SN_OK;
}

// From the frame before, which is kept unless the present pose is much lower.
static sn_status look_from_before(sn_estimate *e, finders *found, int thread, int k) {
    double *q = found->q + (size_t)thread * e->nq, *pose = e->poses + (size_t)k * e->nq;
    sn_report report;
    SN_TRY(set_frame(e, found->problem[thread], k));
    memcpy(q, pose - e->nq, e->nq * sizeof *q);
    SN_TRY(sn_solver_solve(found->solver[thread], q, &report));
    if (found->f[k] < lower_by * report.f) return SN_OK;
    memcpy(pose, q, e->nq * sizeof *q);
    found->f[k] = report.f;
    return SN_OK;
}

// The first frame of a part from nothing, the others each from the one before.
static sn_status follow_part(sn_estimate *e, sn_estimate_worker *w, int part) {
    finders *found = e->extra;
    int thread = (int)(w - e->workers), first, end;
    sn_estimate_part(e, part, &first, &end);
    for (int k = first; k < end; k++) {
        if (sn_cancelled(e->o.asked.cancel)) return SN_ERR_CANCELLED;
        found->f[k] = INFINITY;
        SN_TRY(k == first ? look_from_nothing(e, found, thread, k)
                          : look_from_before(e, found, thread, k));
    }
    return SN_OK;
}

static sn_status look_again(sn_estimate *e, sn_estimate_worker *w, int k) {
    finders *found = e->extra;
    if (found->f[k] <= found->doubtful) return SN_OK;
    return look_from_nothing(e, found, (int)(w - e->workers), k);
}

static sn_status choose_poses(sn_estimate *e, finders *found, sn_error *error) {
    SN_TRY(sn_estimate_run(e, e->x, follow_part, SN_ESTIMATE_PARTS, error));
    // the median
    memcpy(e->sum, found->f, (size_t)e->nframe * sizeof *e->sum);
    qsort(e->sum, (size_t)e->nframe, sizeof *e->sum, sn_by_value);
    found->doubtful = e->nframe > 0 ? doubtful * e->sum[e->nframe / 2] : 0;
    SN_TRY(sn_estimate_run(e, e->x, look_again, e->nframe, error));
    // what was found in one frame is tried in those behind it: limbs had better be folded alike
    for (int k = 1; k < e->nframe; k++) {
        if (sn_cancelled(e->o.asked.cancel)) return SN_ERR_CANCELLED;
        SN_TRY(look_from_before(e, found, 0, k));
    }
    return SN_OK;
}

// --- valleys that a step of the shape led into -----------------------------------------------------

// Of the present pose, of those of the frames beside it and of the figure at rest the one that leads lowest, into
// poses_try; the present one unless another is much lower.
static sn_status fold_again(sn_estimate *e, sn_estimate_worker *w, int k) {
    finders *found = e->extra;
    int thread = (int)(w - e->workers);
    double *q = found->q + (size_t)thread * e->nq, *out = e->poses_try + (size_t)k * e->nq, sum,
           least = 0;
    const double *pose = e->poses + (size_t)k * e->nq;
    const sn_joint *root = &e->model->joint[0];
    sn_report report;
    SN_TRY(set_frame(e, found->problem[thread], k));
    memcpy(out, pose, e->nq * sizeof *out);
    found->f[k] = 0;
    for (int from = 0; from < 4; from++) {
        const double *start = from == 0   ? pose
                              : from == 1 ? e->o.home
                              : from == 2 ? pose - e->nq
                                          : pose + e->nq;
        if ((from == 2 && k == 0) || (from == 3 && k + 1 == e->nframe)) continue;
        memcpy(q, start, e->nq * sizeof *q);
        memcpy(q + root->q0, pose + root->q0, (size_t)root->nq * sizeof *q);
        if (from > 0) SN_TRY(sn_solver_solve(found->solver[thread], q, &report));
        SN_TRY(sn_estimate_settle_pose(e, w, k, q, &sum));
        if (from > 0 && !(sum < lower_by * least)) continue;
        least = sum;
        if (from == 0) continue;
        memcpy(out, q, e->nq * sizeof *q);
        found->f[k] = 1;
    }
    return SN_OK;
}

static sn_status fold_poses(sn_estimate *e, finders *found, sn_error *error) {
    SN_TRY(sn_estimate_run(e, e->x, fold_again, e->nframe, error));
    double *t = e->poses;
    e->poses = e->poses_try, e->poses_try = t;
    for (int k = 0; k < e->nframe; k++) found->changed = found->changed || found->f[k] > 0;
    return SN_OK;
}

// --- all of it -------------------------------------------------------------------------------------

typedef sn_status search(sn_estimate *e, finders *found, sn_error *error);

// A search of poses with the present shape, with a solver a thread.
static sn_status find_poses(sn_estimate *e, search *how, bool *changed, sn_error *error) {
    sn_model *model = NULL;
    finders found = {0};
    size_t n = (size_t)e->nframe;
    sn_solver_options o = sn_solver_options_default();
    o.max_iterations = 60;
    o.gradient = 1e-5;
    o.cancel = e->o.asked.cancel;
    found.q = sn_acquire(e->allocator, ((size_t)e->nworker * e->nq + n + 1) * sizeof *found.q);
    sn_status status = found.q == NULL ? sn_fail_memory(error) : SN_OK;
    if (status == SN_OK) status = sn_estimate_model(e, e->x, false, &model, error);
    for (int i = 0; i < e->nworker && status == SN_OK; i++) {
        status = sn_estimate_problem(e, model, &found.problem[i], e->delta, error);
        if (status == SN_OK)
            status =
                sn_solver_create_plain(found.problem[i], &o, e->allocator, &found.solver[i], error);
    }
    if (status == SN_OK) {
        found.f = found.q + (size_t)e->nworker * e->nq;
        e->extra = &found;
        status = how(e, &found, error);
        e->extra = NULL;
    }
    *changed = found.changed;
    for (int i = 0; i < e->nworker; i++) {
        sn_solver_destroy(found.solver[i]);
        sn_problem_destroy(found.problem[i]);
    }
    sn_model_destroy(model);
    sn_release(e->allocator, found.q);
    return status;
}

sn_status sn_estimate_fold(sn_estimate *e, bool *changed, sn_error *error) {
    *changed = false;
    if (sn_cancelled(e->o.asked.cancel)) return SN_OK;
    return find_poses(e, fold_poses, changed, error);
}

sn_status sn_estimate_start(sn_estimate *e, sn_error *error) {
    double size = 1;
    e->nframe = 0;
    choose_frames(e, e->o.take, e->o.asked.frames, false);
    if (e->o.asked.still != NULL) choose_frames(e, e->o.asked.still, e->o.still_frames, true);
    e->posture = share_of_posture(e);
    e->lasting = lasting_posture(e);
    e->sliding = 0;
    for (size_t i = 0; i < (size_t)e->nframe * (size_t)e->nmarker; i++) e->trust[i] = 1;
    if (e->o.asked.scale) SN_TRY(find_size(e, &size));
    if (e->size > 0) size = e->size;
    for (int i = 0; i < 3 * e->nbody; i++)
        e->mean[i] = e->x[3 * (size_t)e->nmarker + (size_t)i] = sn_log(size);
    bool unused;
    return find_poses(e, choose_poses, &unused, error);
}
