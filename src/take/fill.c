// SPDX-License-Identifier: MIT
// Where a marker that has lost its weight would be.
//
// Without a marker its joints move, although nothing has happened to them: skin is a centimetre off its bone, and
// each marker draws the figure a little to its own side. So in frames where it is right the figure is solved without
// it, too, and how far it then is from its place, in the frame of its bone, is remembered with the posture. In the
// frames where it is wrong it is put there: the mean over such frames, those of a like posture and of a near time
// before others. Where it alone shows a joint, the joint has been led through already (lanes_bridge.c), and this
// leaves it where that led it.
//
// The markers beside it tell as much in another way (beside.c), and before there are poses: with these goals the frames are
// followed, so that no joint goes where it never was for want of a marker. At last both count, each as well as it tells the
// marker where it is known.
#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "model/joint.h"
#include "model/model.h"
#include "sweeps/workspace.h"
#include "take/body.h"
#include "take/fit.h"

// Frames that are looked at: to each side of the stretch, all over the take; fewer for a moment, whose neighbours tell.
enum { BESIDE = 16, AROUND = 160, FEW = 40, MOST = 2 * BESIDE + AROUND, SHORT = 4, ASKED = 48 };

// Seconds to each side; how near in posture (rad, RMS over the joints beside the marker) and in time (s) is near.
static const double beside = 0.4, like = 0.05, near = 2;
// Metres: frames are followed with what those beside a marker tell where it is as good as that; so good is what the figure
// tells where no frame shows it.
static const double well_told = 0.025, hardly_told = 0.02;

typedef struct example {
    int frame;
    sn_vec3 off;  // from its place, in the frame of its joint
} example;

typedef struct filling {
    sn_fitting *f;
    int marker, first, last;
    double rate;
    example known[MOST];
    int nknown;
} filling;

// Joints that have to do with where a marker is beside its bone: its own, the two above, those on it.
static bool concerns(const sn_model *m, int marker, int joint) {
    int at = sn_model_marker(m, marker)->joint, up = at;
    for (int i = 0; i < 3 && up >= 0; i++, up = sn_model_parent(m, up))
        if (up == joint) return true;
    return sn_model_parent(m, joint) == at;
}

double sn_fit_unlike(const sn_fitting *f, int marker, sn_lane_worker *w, const double *a,
                     const double *b) {
    const sn_model *m = f->input.model;
    double sum = 0;
    int n = 0;
    sn_model_difference(m, a, b, w->delta);
    for (int j = 0; j < sn_model_njoint(m); j++) {
        if (sn_body_is_above(m, j, sn_fit_floater(m)) || !concerns(m, marker, j)) continue;
        for (int i = 0; i < sn_model_joint_nv(m, j); i++) {
            if (sn_model_is_length(m, j, i)) continue;
            double d = w->delta[sn_model_v_index(m, j) + i];
            sum += d * d;
            n++;
        }
    }
    return n > 0 ? sum / n : 0;
}

// The goals of a frame, without those that have no weight in frame `as`.
static sn_status without(sn_fitting *f, int as, int frame) {
    sn_lanes *l = &f->lanes;
    sn_lane_worker *w = &l->workers[0];
    SN_TRY(l->goals(l->user, frame, w->problem));
    for (int i = 0; i < sn_model_nmarker(f->input.model); i++)
        if (sn_fit_dropped(&f->input, i, as)) SN_TRY(sn_problem_set_missing(w->problem, i, true));
    return SN_OK;
}

sn_status sn_fit_off_without(sn_fitting *f, int marker, int as, int frame, sn_vec3 *off) {
    sn_lanes *l = &f->lanes;
    sn_lane_worker *w = &l->workers[0];
    const sn_fit_input *in = &f->input;
    double goal[3], cost;
    if (!sn_fit_goal(in, marker, in->first + frame, goal)) return SN_ERR_ARGUMENT;
    SN_TRY(without(f, as, frame));
    memcpy(w->q, sn_lane_pose(l, frame), l->nq * sizeof *w->q);
    memcpy(w->trial, w->q, l->nq * sizeof *w->q);
    SN_TRY(sn_lane_solve(l, w, frame, w->trial, &cost));
    SN_TRY(sn_workspace_pose(w->ws, w->q));
    const sn_marker_desc *m = sn_model_marker(in->model, marker);
    sn_mat3 R = sn_workspace_frame(w->ws, m->joint).R;
    *off = m3_tmul(&R, v3_sub(v3_from(goal), sn_workspace_point(w->ws, m->joint, m->position)));
    return SN_OK;
}

// Where the marker is in a frame that is solved without those that are wrong in the stretch.
static sn_status look(filling *x, int frame) {
    const sn_fit_input *in = &x->f->input;
    double goal[3];
    if (frame < 0 || frame >= in->count || sn_fit_dropped(in, x->marker, frame) ||
        !sn_fit_goal(in, x->marker, in->first + frame, goal) || x->nknown == MOST)
        return SN_OK;
    example *to = &x->known[x->nknown++];
    to->frame = frame;
    return sn_fit_off_without(x->f, x->marker, x->first + (x->last - x->first) / 2, frame,
                              &to->off);
}

static sn_status look_around(filling *x) {
    int count = x->f->input.count, reach = (int)(beside * x->rate) + 1;
    bool moment = x->last - x->first < reach / 2;
    int step = reach / BESIDE + 1, stride = count / (moment ? FEW : AROUND) + 1;
    for (int k = 0; k < BESIDE && k * step < reach; k++) {
        SN_TRY(look(x, x->first - 1 - k * step));
        SN_TRY(look(x, x->last + 1 + k * step));
    }
    for (int f = stride / 2; f < count; f += stride)
        if (f < x->first - reach || f > x->last + reach) SN_TRY(look(x, f));
    return SN_OK;
}

// How far it is from its place in a posture, by the examples that are further away in time than `apart` frames.
static bool mean_off(const filling *x, int frame, const double *q, int apart, sn_vec3 *out) {
    sn_lanes *l = &x->f->lanes;
    sn_lane_worker *w = &l->workers[0];
    double weights = 0;
    sn_vec3 mean = v3(0, 0, 0);
    for (int i = 0; i < x->nknown; i++) {
        const example *k = &x->known[i];
        if (k->frame - frame >= -apart && k->frame - frame <= apart) continue;
        double late = (k->frame - frame) / (near * x->rate);
        double d = sn_fit_unlike(x->f, x->marker, w, q, sn_lane_pose(l, k->frame)) / (like * like) +
                   late * late;
        double share = 1 / ((1 + d) * (1 + d));
        // those of another posture say next to nothing
        share *= share;
        weights += share;
        mean = v3_add(mean, v3_scale(share, k->off));
    }
    if (weights > 0) *out = v3_scale(1 / weights, mean);
    return weights > 0;
}

// How far that is from where the marker is in the examples themselves, metres.
static double ask(const filling *x) {
    const int reach = (int)(beside * x->rate) + 1, half = (x->last - x->first + 1) / 2,
              apart = half > reach ? half : reach;
    double sum = 0;
    int n = 0;
    for (int i = 0; i < x->nknown; i += x->nknown / ASKED + 1) {
        const example *k = &x->known[i];
        sn_vec3 off;
        if (!mean_off(x, k->frame, sn_lane_pose(&x->f->lanes, k->frame), apart, &off)) continue;
        off = v3_sub(off, k->off);
        sum += v3_dot(off, off);
        n++;
    }
    return n > 0 ? sqrt(sum / n) : hardly_told;
}

// Its place in a frame, posed without any marker that is wrong, and what it is off there.
static sn_status fill_frame(filling *x, int frame, float goal[3]) {
    sn_fitting *f = x->f;
    sn_lanes *l = &f->lanes;
    sn_lane_worker *w = &l->workers[0];
    double cost, led[3];
    sn_vec3 off = v3(0, 0, 0);
    bool solved = false;
    memcpy(w->q, sn_lane_pose(l, frame), l->nq * sizeof *w->q);
    for (int i = 0; i < sn_model_nmarker(f->input.model) && !solved; i++)
        solved = sn_fit_dropped(&f->input, i, frame) && sn_fit_filled(&f->input, i, frame, led);
    if (solved) {
        SN_TRY(without(f, frame, frame));
        memcpy(w->trial, w->q, l->nq * sizeof *w->trial);
        SN_TRY(sn_lane_solve(l, w, frame, w->trial, &cost));
    }
    SN_TRY(sn_workspace_pose(w->ws, w->q));
    const sn_marker_desc *m = sn_model_marker(f->input.model, x->marker);
    const sn_mat3 R = sn_workspace_frame(w->ws, m->joint).R;
    sn_vec3 p = sn_workspace_point(w->ws, m->joint, m->position);
    (void)mean_off(x, frame, w->q, -1, &off);
    p = v3_add(p, m3_mul(&R, off));
    goal[0] = (float)p.x, goal[1] = (float)p.y, goal[2] = (float)p.z;
    return SN_OK;
}

// What the filled markers of a frame change, by one step from the pose that knows of none, or of what those beside them
// told: with the gradient of that change alone. The other goals had their say when the frame was followed; a pose that went
// on to the bottom of its valley here, and nowhere else, would leave those beside it wherever markers leave a joint nearly
// open. before: what was told. J: 3 nv.
static sn_status add_filled(sn_fitting *f, const sn_fit_input *before, int frame, double *J) {
    sn_lanes *l = &f->lanes;
    sn_lane_worker *w = &l->workers[0];
    const sn_model *m = l->model;
    double *pose = sn_lane_pose(l, frame), *x = w->weight, value;
    SN_TRY(l->goals(l->user, frame, w->problem));
    SN_TRY(sn_problem_set_rest(w->problem, l->rest, pose));
    SN_TRY(sn_problem_set_enabled(w->problem, l->rest, true));
    SN_TRY(sn_workspace_eval(w->ws, pose, SN_EVAL_GAUSS_NEWTON, &value));
    if (sn_workspace_factor(w->ws, NULL, l->keep, 0, NULL) >= 0) return SN_OK;
    memset(x, 0, l->nv * sizeof *x);
    for (int i = 0; i < f->nfill; i++) {
        const sn_fit_fill *k = &f->fill[i];
        if (frame < k->first || frame > k->last) continue;
        const sn_marker_desc *d = sn_model_marker(f->input.model, k->marker);
        const float *goal = k->goal + 3 * (size_t)(frame - k->first);
        double was[3];
        const sn_vec3 from = sn_fit_filled(before, k->marker, frame, was)
                                 ? v3_from(was)
                                 : sn_workspace_point(w->ws, d->joint, d->position);
        sn_vec3 r = v3_sub(v3((double)goal[0], (double)goal[1], (double)goal[2]), from);
        const double weight = sn_problem_task(w->problem, k->marker)->weight;
        sn_jacobian_simple(w->ws, d->joint, d->position, J);
        for (size_t n = 0; n < l->nv; n++)
            x[n] += weight * v3_dot(r, v3_from(J + 3 * (size_t)m->v_of[n]));
    }
    for (size_t n = 0; n < l->nv; n++) x[n] = l->keep[n] ? x[n] : 0;
    sn_workspace_solve(w->ws, x);
    for (size_t n = 0; n < l->nv; n++) w->delta[m->v_of[n]] = m->gain[m->v_of[n]] * x[n];
    sn_model_integrate(m, pose, w->delta, w->q);
    (void)sn_model_clamp(w->problem->model, w->q);
    memcpy(pose, w->q, l->nq * sizeof *pose);
    return SN_OK;
}

// Frames that several markers are filled in for are changed once.
static sn_status solve_again(sn_fitting *f, const sn_fit_input *before) {
    double *J = sn_acquire(&f->allocator, (3 * f->lanes.nv + 1) * sizeof *J);
    bool *done = sn_acquire(&f->allocator, (size_t)f->input.count * sizeof *done);
    sn_status status = J == NULL || done == NULL ? SN_ERR_MEMORY : SN_OK;
    for (int k = 0; status == SN_OK && k < f->input.count; k++) done[k] = false;
    for (int i = 0; status == SN_OK && i < f->nfill; i++)
        for (int k = f->fill[i].first; status == SN_OK && k <= f->fill[i].last; k++) {
            if (!done[k]) status = add_filled(f, before, k, J);
            done[k] = true;
        }
    sn_release(&f->allocator, done);
    sn_release(&f->allocator, J);
    return status;
}

// --- by those beside it ----------------------------------------------------------------------------

static void forget(const sn_fitting *f, sn_fit_fill *list, int n) {
    for (int i = 0; i < n; i++) sn_release(&f->allocator, list[i].goal);
}

// One more goal of a stretch, where those beside the marker tell it well.
static sn_status add_beside(sn_fitting *f, int marker, int first, int last, bool *added) {
    const size_t n = (size_t)(last - first) + 1;
    *added = false;
    if (n < SHORT || f->nfill == SN_FIT_MOST_FILLED) return SN_OK;
    sn_fit_fill fill = {marker, first, last, sn_acquire(&f->allocator, 3 * n * sizeof *fill.goal)};
    if (fill.goal == NULL) return SN_ERR_MEMORY;
    if (!(sn_fit_beside(&f->input, marker, first, last, fill.goal) < well_told)) {
        sn_release(&f->allocator, fill.goal);
        return SN_OK;
    }
    *added = true;
    f->fill[f->nfill++] = fill;
    f->input.fill = f->fill;
    f->input.nfill = f->nfill;
    return SN_OK;
}

sn_status sn_fit_fill_dropped(sn_fitting *f) {
    bool added;
    for (int i = 0; i < sn_model_nmarker(f->input.model); i++)
        for (int k = 0, first = -1; k <= f->input.count; k++) {
            const bool off = k < f->input.count && sn_fit_dropped(&f->input, i, k);
            if (off && first < 0) first = k;
            if (off || first < 0) continue;
            SN_TRY(add_beside(f, i, first, k - 1, &added));
            first = -1;
        }
    return SN_OK;
}

sn_status sn_fit_follow_filled(sn_fitting *f) {
    for (int i = 0; i < f->noff && !sn_cancelled(f->options.cancel); i++) {
        const sn_fit_off *o = &f->off[i];
        double goal[3];
        bool added;
        if (sn_fit_filled(&f->input, o->marker, o->first + (o->last - o->first) / 2, goal))
            continue;
        SN_TRY(add_beside(f, o->marker, o->first, o->last, &added));
        if (added && o->last - o->first < f->lanes.window)
            SN_TRY(sn_lanes_again(&f->lanes, o->first, o->last));
    }
    return SN_OK;
}

// --- all of it -------------------------------------------------------------------------------------

// Both ways of telling where it is, each by how well it does.
static sn_status tell(filling *x, float *goal, float *other) {
    const int count = x->last - x->first + 1;
    double figure = (double)INFINITY, others = (double)INFINITY;
    SN_TRY(look_around(x));
    if (x->nknown > 0) figure = ask(x);
    if (count >= SHORT) others = sn_fit_beside(&x->f->input, x->marker, x->first, x->last, other);
    const double share = 1 / (1 + others * others / (figure * figure));
    for (int k = 0; k < count; k++) {
        const bool told = count >= SHORT && isfinite(others) && !isnan(other[3 * k]);
        if (x->nknown > 0) SN_TRY(fill_frame(x, x->first + k, goal + 3 * k));
        for (int c = 0; told && c < 3; c++) {
            float *to = &goal[3 * k + c];
            *to = x->nknown > 0
                      ? (float)((1 - share) * (double)*to + share * (double)other[3 * k + c])
                      : other[3 * k + c];
        }
    }
    return SN_OK;
}

static sn_status fill_one(filling *x, sn_fit_fill *out, bool *filled) {
    const sn_allocator *allocator = &x->f->allocator;
    const size_t n = (size_t)(x->last - x->first) + 1;
    *out = (sn_fit_fill){x->marker, x->first, x->last,
                         sn_acquire(allocator, 3 * n * sizeof *out->goal)};
    float *other = sn_acquire(allocator, 3 * n * sizeof *other);
    sn_status status =
        out->goal == NULL || other == NULL ? SN_ERR_MEMORY : tell(x, out->goal, other);
    sn_release(allocator, other);
    *filled = status == SN_OK && x->nknown > 0;
    if (!*filled) sn_release(allocator, out->goal);
    return status;
}

sn_status sn_fit_fill_in(sn_fitting *f) {
    double rate = sn_lane_rate(&f->lanes);
    sn_fit_fill *list = sn_acquire(&f->allocator, SN_FIT_MOST_FILLED * sizeof *list);
    sn_status status = list == NULL ? SN_ERR_MEMORY : SN_OK;
    int n = 0;
    // first all of them, by poses that know of none, or of what those beside them told
    for (int i = 0; i < f->noff && status == SN_OK; i++) {
        filling x = {.f = f,
                     .marker = f->off[i].marker,
                     .first = f->off[i].first,
                     .last = f->off[i].last,
                     .rate = rate};
        bool filled;
        if (sn_cancelled(f->options.cancel) || n == SN_FIT_MOST_FILLED) break;
        // of very many the short ones are samples that are thrown: the frames beside them say where the marker is
        if (f->noff > SN_FIT_MOST_FILLED && x.last - x.first < SHORT) continue;
        status = fill_one(&x, &list[n], &filled);
        n += filled;
    }
    if (status != SN_OK) {
        if (list != NULL) forget(f, list, n);
        sn_release(&f->allocator, list);
        return status;
    }
    sn_fit_fill before[SN_FIT_MOST_FILLED];
    sn_fit_input known = f->input;
    memcpy(before, f->fill, sizeof before);
    known.fill = before;
    memcpy(f->fill, list, (size_t)n * sizeof *list);
    f->nfill = n;
    f->input.fill = f->fill;
    f->input.nfill = n;
    if (n > 0) status = solve_again(f, &known);
    forget(f, before, known.nfill);
    sn_release(&f->allocator, list);
    return status;
}
