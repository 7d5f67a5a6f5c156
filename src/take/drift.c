// SPDX-License-Identifier: MIT
// Markers that go off slowly: those that neither leap nor are far from the figure, as the figure follows them.
//
// A tenth of a second apart each marker is asked how far it would be from its place if it were left out. That needs no
// other solve: with r its distance now, w its weight and A = w J H^-1 J^T what the pose gives way to it by, it would be
//
//   (I - A)^-1 r
//
// Where a marker alone shows a joint, A is 1 and r nothing. There nobody knows, and it is taken to be where it belongs.
//
// Skin does as much in some postures. But what skin does, it does in like postures again, and it does it less the nearer
// these are. So a stretch is suspect where a marker is where it never is else, and wrong where, followed without it, it is
// further from where it is in like postures than these explain.
#include "take/drift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/order.h"
#include "math/vec3.h"
#include "model/model.h"
#include "sweeps/workspace.h"
#include "tasks/loss.h"

enum { BLOCK = 16, LIKE = 3 };

// Seconds: between looks; beside a stretch where nothing is learnt of it; in which one that comes and goes is one; that are soon over.
static const double every = 0.1, beside = 0.2, joined = 0.5, soon = 0.4;

// Suspect: as far from where it mostly is, metres, and as many times as it usually is.
static const double suspect_off = 0.045, suspect_times = 4;
// Wrong: as far, and for each radian of like postures; for flesh, and where it is soon over.
static const double wrong_off = 0.045, wrong_flesh = 0.07, wrong_unlike = 0.12, wrong_soon = 1.3;
// For each radian where the take begins or ends in it: a T pose that nobody takes again says nothing.
static const double wrong_at_an_end = 0.25;
// Of that, it seems to be so far off before anything is followed again; a wrong marker makes a posture that is like none,
// which does not count then.
static const double likely = 0.75, doubtful_unlike = 0.25;
// Beyond this the others hardly show where a marker is: what the pose without it would give way to it by, times its weight.
static const double shown_by_others = 4;
// How like a posture is, rad (RMS over the joints beside the marker).
static const double like = 0.05, usual_unlike = 0.25;
// Of the take: what lasts longer is what the marker does, not what happens to it; at an end nothing tells when it is over.
static const double longest = 0.5, longest_at_an_end = 0.25;
// At the ends of a stretch it is as far off as that, of what makes it wrong.
static const double edge = 0.5;

typedef float look[3];  // from its place, in the frame of its bone; NAN where that is not seen

typedef struct suspect {
    sn_drift drift;
    int worst;  // look
    int asked;  // how often; 0 again where another stretch of the marker was wrong, which it was held against
    double share;  // of it, of what is suspect
} suspect;

struct sn_drifts {
    sn_fitting *f;
    int nmarker, step, count;  // markers; frames between looks, looks
    look *off;                 // count x nmarker
    double *give;  // nworker x scratch: how bodies give way, or 4 nv where rows join them
    size_t scratch;
    float *sorted;    // count
    sn_vec3 *middle;  // nmarker: where it mostly is
    double *usual;    // nmarker: and how far from there
    suspect *list;    // the worst first
    size_t room;
    int nlist, next;
};

// Looks in so many seconds: at few frames a second they lie further apart.
static int looks_in(const sn_drifts *d, double seconds) {
    return (int)(seconds * sn_lane_rate(&d->f->lanes) / d->step + 1e-9);
}

static int frame_of(const sn_drifts *d, int at) { return at * d->step + d->step / 2; }

static look *look_at(const sn_drifts *d, int at, int marker) {
    return &d->off[(size_t)at * (size_t)d->nmarker + (size_t)marker];
}

// --- looking -------------------------------------------------------------------------------------

static sn_vec3 solve(const sn_mat3 *A, sn_vec3 x) {
    const sn_vec3 u = v3_cross(A->c[1], A->c[2]), v = v3_cross(A->c[2], A->c[0]),
                  w = v3_cross(A->c[0], A->c[1]);
    const double det = v3_dot(A->c[0], u);
    return v3_scale(1 / det, v3(v3_dot(u, x), v3_dot(v, x), v3_dot(w, x)));
}

// Of x what is shown without the marker, where the pose without it gives way to it by B: all of it along eigenvectors
// with a small value, nothing along those with a large one.
static sn_vec3 shown(const sn_mat3 *B, sn_vec3 x) {
    const sn_mat3 one = m3_identity(), b = m3_scale(1 / shown_by_others, B), b2 = m3_mulm(&b, &b),
                  b4 = m3_mulm(&b2, &b2), I_b4 = m3_add(&one, &b4);
    return solve(&I_b4, x);
}

// What a loss leaves of a weight.
static double pull_of(const sn_drifts *d, sn_vec3 r) {
    const sn_fit_options *o = &d->f->options;
    return sn_loss_of(o->loss, o->loss_scale * o->loss_scale, v3_dot(r, r)).slope;
}

// What a marker counts in the fit, by its name and by how many others there are.
static double weight_of(const sn_lane_worker *w, int marker) {
    return sn_problem_task(w->problem, marker)->weight;
}

static double *room_of(const sn_drifts *d, const sn_lane_worker *w) {
    return d->give + (size_t)(w - d->f->lanes.workers) * d->scratch;
}

// J H^-1 J^T of a marker's place, column by column.
static sn_mat3 gives_by_columns(const sn_drifts *d, const sn_lane_worker *w,
                                const sn_marker_desc *m, double *J) {
    const sn_lanes *l = &d->f->lanes;
    double *x = J + 3 * l->nv;
    sn_mat3 out;
    sn_jacobian_simple(w->ws, m->joint, m->position, J);
    for (int k = 0; k < 3; k++) {
        for (size_t n = 0; n < l->nv; n++) x[n] = l->keep[n] ? J[3 * l->model->v_of[n] + k] : 0;
        sn_workspace_solve(w->ws, x);
        out.c[k] = v3(0, 0, 0);
        for (size_t n = 0; n < l->nv; n++)
            out.c[k] = v3_add(out.c[k], v3_scale(x[n], v3_from(J + 3 * l->model->v_of[n])));
    }
    return out;
}

// How far a marker's place gives way in the pose of the last give_way().
static sn_mat3 gives_at(const sn_drifts *d, const sn_lane_worker *w, const sn_marker_desc *m) {
    double *room = room_of(d, w);
    return sn_has_rows(w->ws) ? gives_by_columns(d, w, m, room)
                              : sn_compliance_at(w->ws, room, m->joint, m->position);
}

// How far bodies give way in a frame's pose, held by its goals. Rows that join branches are not in one sweep's reach.
static sn_status give_way(const sn_drifts *d, sn_lane_worker *w, int frame, bool *good) {
    sn_lanes *l = &d->f->lanes;
    double value;
    SN_TRY(l->goals(l->user, frame, w->problem));
    SN_TRY(sn_problem_set_rest(w->problem, l->rest, sn_lane_pose(l, frame)));
    SN_TRY(sn_problem_set_enabled(w->problem, l->rest, true));
    SN_TRY(sn_workspace_eval(w->ws, sn_lane_pose(l, frame), SN_EVAL_GAUSS_NEWTON, &value));
    *good = sn_workspace_factor(w->ws, NULL, l->keep, 0, NULL) < 0;
    if (*good && !sn_has_rows(w->ws)) sn_workspace_compliance(w->ws, room_of(d, w));
    return SN_OK;
}

static sn_status look_at_frame(const sn_drifts *d, sn_lane_worker *w, int at) {
    const sn_fit_input *in = &d->f->input;
    const int frame = frame_of(d, at);
    bool good;
    for (int i = 0; i < d->nmarker; i++)
        for (int k = 0; k < 3; k++) (*look_at(d, at, i))[k] = NAN;
    SN_TRY(give_way(d, w, frame, &good));
    if (!good) return SN_OK;
    for (int i = 0; i < d->nmarker; i++) {
        const sn_marker_desc *m = sn_model_marker(in->model, i);
        double goal[3];
        if (sn_fit_dropped(in, i, frame) || !sn_fit_goal(in, i, in->first + frame, goal)) continue;
        const sn_vec3 r = v3_sub(v3_from(goal), sn_workspace_point(w->ws, m->joint, m->position));
        const sn_mat3 gives = gives_at(d, w, m),
                      A = m3_scale(-weight_of(w, i) * pull_of(d, r), &gives), one = m3_identity(),
                      I_A = m3_add(&one, &A), R = sn_workspace_frame(w->ws, m->joint).R;
        // A (I - A)^-1, column by column
        sn_mat3 B;
        for (int k = 0; k < 3; k++) B.c[k] = v3_sub(solve(&I_A, v3_unit(k)), v3_unit(k));
        const sn_vec3 off = m3_tmul(&R, shown(&B, solve(&I_A, r)));
        for (int k = 0; k < 3; k++) (*look_at(d, at, i))[k] = (float)v3_at(off, k);
    }
    return SN_OK;
}

static sn_status look_at_block(sn_lanes *l, sn_lane_worker *w, int block) {
    const sn_drifts *d = l->extra;
    const int first = block * BLOCK, end = first + BLOCK < d->count ? first + BLOCK : d->count;
    for (int at = first; at < end; at++) SN_TRY(look_at_frame(d, w, at));
    return SN_OK;
}

static double middle_of(float *x, int n) {
    if (n == 0) return 0;
    qsort(x, (size_t)n, sizeof *x, sn_by_value_float);
    return (double)x[n / 2];
}

static sn_vec3 away(const sn_drifts *d, int at, int marker) {
    const float *x = *look_at(d, at, marker);
    return v3_sub(v3((double)x[0], (double)x[1], (double)x[2]), d->middle[marker]);
}

static void find_usual(const sn_drifts *d, int marker) {
    double middle[3];
    int n = 0;
    for (int k = 0; k < 3; k++) {
        n = 0;
        for (int at = 0; at < d->count; at++)
            if (!isnan((*look_at(d, at, marker))[k])) d->sorted[n++] = (*look_at(d, at, marker))[k];
        middle[k] = middle_of(d->sorted, n);
    }
    d->middle[marker] = v3_from(middle);
    n = 0;
    for (int at = 0; at < d->count; at++) {
        const double far = v3_norm(away(d, at, marker));
        if (!isnan(far)) d->sorted[n++] = (float)far;
    }
    d->usual[marker] = middle_of(d->sorted, n);
}

// --- what is suspect -----------------------------------------------------------------------------

static double bar_of(const sn_drifts *d, int marker) {
    return fmax(suspect_off, suspect_times * d->usual[marker]);
}

// The end of the stretch that begins at a look: the last one that is as far off, gaps passed over. *n: how many are.
static int end_of(const sn_drifts *d, int marker, int from, int *n) {
    const int gap = looks_in(d, joined);
    int last = from;
    *n = 0;
    for (int at = from; at < d->count && at <= last + gap; at++) {
        if (!(v3_norm(away(d, at, marker)) > bar_of(d, marker))) continue;
        last = at;
        ++*n;
    }
    return last;
}

// Is a marker as much to that side at another time, in a posture that is like this one?
static bool is_usual(const sn_drifts *d, const suspect *x) {
    sn_lanes *l = &d->f->lanes;
    const double *q = sn_lane_pose(l, frame_of(d, x->worst));
    const int apart = looks_in(d, joined), marker = x->drift.marker;
    const sn_vec3 off = away(d, x->worst, marker);
    int alike = 0;
    for (int at = 0; at < d->count; at++) {
        if (at >= x->drift.from - apart && at <= x->drift.to + apart) continue;
        if (!(v3_norm(v3_sub(away(d, at, marker), off)) < 0.5 * v3_norm(off))) continue;
        alike += sn_fit_unlike(d->f, marker, &l->workers[0], q, sn_lane_pose(l, frame_of(d, at))) <
                 usual_unlike * usual_unlike;
    }
    return alike > 1;
}

// Where a marker is in postures like that of a frame, outside of a stretch, and how unlike the nearest of these are.
static sn_vec3 expected(const sn_drifts *d, const sn_drift *x, int frame, double *unlike) {
    sn_lanes *l = &d->f->lanes;
    sn_lane_worker *w = &l->workers[0];
    const int apart = looks_in(d, beside);
    double weights = 1e-30, nearest[LIKE];
    sn_vec3 mean = v3(0, 0, 0);
    for (int k = 0; k < LIKE; k++) nearest[k] = INFINITY;
    for (int at = 0; at < d->count; at++) {
        const sn_vec3 off = away(d, at, x->marker);
        if ((at >= x->from - apart && at <= x->to + apart) || isnan(off.x)) continue;
        double u = sn_fit_unlike(d->f, x->marker, w, sn_lane_pose(l, frame),
                                 sn_lane_pose(l, frame_of(d, at)));
        double share = 1 / (1 + u / (like * like));
        share *= share;
        share *= share;
        weights += share;
        mean = v3_add(mean, v3_scale(share, off));
        for (int k = 0; k < LIKE; k++)
            if (u < nearest[k]) {
                const double more = nearest[k];
                nearest[k] = u;
                u = more;
            }
    }
    *unlike = sqrt(nearest[LIKE - 1]);
    return v3_add(d->middle[x->marker], v3_scale(1 / weights, mean));
}

static bool is_at_an_end(const sn_drifts *d, const sn_drift *x) {
    return x->from < 2 || x->to > d->count - 3;
}

// How far off is wrong, where the nearest postures are so unlike.
static double need_of(const sn_drifts *d, const sn_drift *x, double unlike) {
    const char *name = sn_model_marker(d->f->input.model, x->marker)->name;
    const double off = sn_is_tracking_name(name) ? wrong_flesh : wrong_off;
    return (off + (is_at_an_end(d, x) ? wrong_at_an_end : wrong_unlike) * unlike) *
           (x->looks < looks_in(d, soon) ? wrong_soon : 1);
}

// Is it worth while to follow it without the marker?
static bool is_likely(const sn_drifts *d, const suspect *x) {
    const int marker = x->drift.marker;
    double unlike;
    const sn_vec3 at = expected(d, &x->drift, frame_of(d, x->worst), &unlike),
                  off = v3_add(d->middle[marker], away(d, x->worst, marker));
    return v3_norm(v3_sub(off, at)) > likely * need_of(d, &x->drift, fmin(unlike, doubtful_unlike));
}

// The stretch that begins at a look: its end, its worst look and how bad that is. Is it far off, and not for ever?
static bool find_stretch(const sn_drifts *d, suspect *x) {
    const int marker = x->drift.marker, from = x->drift.from;
    x->drift.to = end_of(d, marker, from, &x->drift.looks);
    x->worst = from;
    for (int at = from; at <= x->drift.to; at++)
        if (v3_norm(away(d, at, marker)) > v3_norm(away(d, x->worst, marker))) x->worst = at;
    const sn_vec3 off = away(d, x->worst, marker);
    const double most = is_at_an_end(d, &x->drift) ? longest_at_an_end : longest;
    x->share = v3_norm(off) / bar_of(d, marker);
    return x->share > 1 && x->drift.to - from + 1 < most * d->count && x->drift.looks > 1;
}

static bool is_suspect(const sn_drifts *d, suspect *x) {
    return find_stretch(d, x) && !is_usual(d, x);
}

static int by_share(const void *a, const void *b) {
    const suspect *x = a, *y = b;
    if (x->share != y->share) return x->share > y->share ? -1 : 1;
    if (x->drift.marker != y->drift.marker) return x->drift.marker - y->drift.marker;
    return x->drift.from - y->drift.from;
}

static sn_status list_suspects(sn_drifts *d) {
    for (int i = 0; i < d->nmarker; i++)
        for (int at = 0; at < d->count; at++) {
            suspect one = {.drift = {.marker = i, .from = at}};
            if (!(v3_norm(away(d, at, i)) > bar_of(d, i))) continue;
            const bool far = find_stretch(d, &one);
            at = one.drift.to;
            if (!far) continue;
            SN_TRY(sn_grow(&d->f->allocator, (void **)&d->list, &d->room, (size_t)d->nlist + 1,
                           sizeof *d->list));
            d->list[d->nlist++] = one;
        }
    if (d->nlist > 0) qsort(d->list, (size_t)d->nlist, sizeof *d->list, by_share);
    return SN_OK;
}

bool sn_drifts_next(sn_drifts *d, sn_drift *out) {
    const int last = d->f->input.count - 1;
    for (; d->next < d->nlist; d->next++) {
        suspect *x = &d->list[d->next];
        // it may have been another one's
        if (x->asked++ > 0 || !is_suspect(d, x) || !is_likely(d, x)) continue;
        *out = x->drift;
        out->first = frame_of(d, out->from) - 2 * d->step;
        out->last = frame_of(d, out->to) + 2 * d->step;
        if (out->first < 0) out->first = 0;
        if (out->last > last) out->last = last;
        return true;
    }
    return false;
}

// --- what is wrong -------------------------------------------------------------------------------

// How far a marker is from `at`, in the frame of its bone, in a frame that was followed without it.
static sn_status far_from(const sn_drifts *d, int marker, int frame, sn_vec3 at, double *out) {
    sn_lanes *l = &d->f->lanes;
    sn_lane_worker *w = &l->workers[0];
    const sn_fit_input *in = &d->f->input;
    const sn_marker_desc *m = sn_model_marker(in->model, marker);
    double goal[3];
    bool good;
    *out = (double)NAN;
    if (!sn_fit_goal(in, marker, in->first + frame, goal)) return SN_OK;
    SN_TRY(give_way(d, w, frame, &good));
    if (!good) return SN_OK;
    const sn_mat3 gives = gives_at(d, w, m), B = m3_scale(weight_of(w, marker), &gives),
                  R = sn_workspace_frame(w->ws, m->joint).R;
    const sn_vec3 r = v3_sub(v3_from(goal), sn_workspace_point(w->ws, m->joint, m->position));
    *out = v3_norm(shown(&B, v3_sub(r, m3_mul(&R, at))));
    return SN_OK;
}

// Frames at the ends in which it is where it belongs.
static sn_status trim(const sn_drifts *d, sn_drift *x, double bar) {
    double unlike, far;
    for (int side = 0; side < 2; side++) {
        const sn_vec3 at = expected(d, x, frame_of(d, side == 0 ? x->from : x->to), &unlike);
        int *end = side == 0 ? &x->first : &x->last;
        for (; x->first < x->last; *end += side == 0 ? 1 : -1) {
            SN_TRY(far_from(d, x->marker, *end, at, &far));
            if (far > bar) break;
        }
    }
    return SN_OK;
}

sn_status sn_drifts_judge(const sn_drifts *d, sn_drift *x, bool *wrong) {
    int n = 0;
    double unlike = 0;
    *wrong = false;
    for (int at = x->from; at <= x->to; at++) {
        double u, far;
        if (frame_of(d, at) < x->first || frame_of(d, at) > x->last) continue;
        if (isnan((*look_at(d, at, x->marker))[0])) continue;  // left out for another reason
        const sn_vec3 place = expected(d, x, frame_of(d, at), &u);
        SN_TRY(far_from(d, x->marker, frame_of(d, at), place, &far));
        if (isnan(far)) continue;
        unlike = fmax(unlike, u);
        d->sorted[n++] = (float)far;
    }
    if (n == 0 || !isfinite(unlike)) return SN_OK;
    const double need = need_of(d, x, unlike);
    *wrong = middle_of(d->sorted, n) > need;
    return *wrong ? trim(d, x, edge * need) : SN_OK;
}

// --- its life ------------------------------------------------------------------------------------

sn_status sn_drifts_look(sn_drifts *d, const sn_drift *wrong, int first, int last) {
    sn_lanes *l = &d->f->lanes;
    sn_lane_worker *w = &l->workers[0];
    for (int k = 0; k < d->next; k++)
        if (d->list[k].drift.marker == wrong->marker && d->list[k].drift.from != wrong->from)
            d->list[k].asked = 0;
    d->next = 0;
    for (int at = 0; at < d->count; at++)
        if (frame_of(d, at) >= first && frame_of(d, at) <= last) SN_TRY(look_at_frame(d, w, at));
    return SN_OK;
}

sn_status sn_drifts_open(sn_fitting *f, sn_drifts **out) {
    const sn_allocator *allocator = &f->allocator;
    sn_lanes *l = &f->lanes;
    sn_drifts *d = sn_acquire(allocator, sizeof *d);
    *out = d;
    if (d == NULL) return SN_ERR_MEMORY;
    *d = (sn_drifts){.f = f, .nmarker = sn_model_nmarker(f->input.model)};
    d->step = (int)(every * sn_lane_rate(l) + 0.5);
    if (d->step < 1) d->step = 1;
    d->count = f->input.count / d->step;
    const size_t count = (size_t)d->count + 1, n = (size_t)d->nmarker + 1;
    d->off = sn_acquire(allocator, count * n * sizeof *d->off);
    d->sorted = sn_acquire(allocator, count * sizeof *d->sorted);
    d->middle = sn_acquire(allocator, n * sizeof *d->middle);
    d->usual = sn_acquire(allocator, n * sizeof *d->usual);
    d->scratch = 36 * (size_t)l->model->njoint;
    if (d->scratch < 4 * l->nv) d->scratch = 4 * l->nv;
    d->give = sn_acquire(allocator, (size_t)l->nworker * d->scratch * sizeof *d->give);
    if (d->off == NULL || d->sorted == NULL || d->middle == NULL || d->usual == NULL ||
        d->give == NULL)
        return SN_ERR_MEMORY;
    void *before = l->extra;
    l->extra = d;
    const sn_status status = sn_lanes_run(l, look_at_block, (d->count + BLOCK - 1) / BLOCK);
    l->extra = before;
    SN_TRY(status);
    if (sn_cancelled(f->options.cancel)) return SN_OK;
    for (int i = 0; i < d->nmarker; i++) find_usual(d, i);
    return list_suspects(d);
}

void sn_drifts_close(sn_drifts *d) {
    if (d == NULL) return;
    const sn_allocator *allocator = &d->f->allocator;
    sn_release(allocator, d->give);
    sn_release(allocator, d->list);
    sn_release(allocator, d->usual);
    sn_release(allocator, d->middle);
    sn_release(allocator, d->sorted);
    sn_release(allocator, d->off);
    sn_release(allocator, d);
}
