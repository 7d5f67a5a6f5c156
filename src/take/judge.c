// SPDX-License-Identifier: MIT
// Looking at a finished take as a person would: joints that jump, a whole figure that does, joints that stand at their
// limits or are where no body's are; markers that are off.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/exp.h"
#include "math/vec3.h"
#include "model/model.h"
#include "take/take.h"

static const double degree = 0x1.1df46a2529d39p-6;

// A joint jumps when it turns by more than 20 degrees in 1/120 s; at other rates as fast as that, between these. With
// fewer frames a second what its markers show tells a motion from a jump.
static const double fast = 2400, least_jump = 8, most_jump = 40;
// A whole figure leaps when it goes faster than anybody runs, metres a second, and by more than this, metres.
static const double fastest = 15, least_leap = 0.15;
// What its markers show may be this share of it.
static const double shown_share = 1.3;
// Closer to the joint a marker shows no turn, metres.
static const double least_lever = 0.03;
// Frames at a limit, or where no body is, that are worth a sentence, of all; and degrees beyond.
static const double at_limit_share = 0.1, beyond_share = 0.05, beyond_least = 20;
// A marker stands out when its RMS error is so many times the usual and above that, metres.
static const double stands_out = 4, stands_out_least = 0.025;
// A marker has fallen off when so many of its samples are wrong.
static const double fallen_share = 0.3;
// The mean error of a take that fits badly, metres.
static const double large_error = 0.025;
// So many markers, in such a share of those that are seen, for so many seconds.
enum { MOST_TOLD = 8, MOST_STRETCHES = 3, WRONG_TOGETHER = 4 };
static const double wrong_share = 0.1, wrong_long = 0.25;

// --- joints that jump ----------------------------------------------------------------------------

typedef struct joint_state {
    sn_mat3 parent;  // how its parent is turned in the world
    sn_mat3 own;     // how it is turned against that
    sn_vec3 at;      // where it is
} joint_state;

typedef struct joint_jumps {
    int count, first, last;
    double most;  // radians; of a figure metres
} joint_jumps;

static double angle_of(const sn_mat3 *a, const sn_mat3 *b) {
    double trace = v3_dot(a->c[0], b->c[0]) + v3_dot(a->c[1], b->c[1]) + v3_dot(a->c[2], b->c[2]);
    return sn_acos((trace - 1) / 2);
}

static sn_status find_states(const sn_take *t, const sn_fit_place *at, int frame,
                             joint_state *state) {
    const sn_model *m = t->model;
    SN_TRY(sn_workspace_pose(at->workspace, sn_motion_frame(t->motion, frame)));
    for (int j = 0; j < sn_model_njoint(m); j++) {
        int parent = sn_model_parent(m, j);
        sn_frame here = sn_workspace_frame(at->workspace, j);
        sn_mat3 up = parent >= 0 ? sn_workspace_frame(at->workspace, parent).R : m3_identity();
        sn_mat3 back = m3_transpose(&up);
        state[j] = (joint_state){up, m3_mulm(&back, &here.R), here.p};
    }
    return SN_OK;
}

// How far the markers of a joint turn about it, as seen from its parent.
static double shown_turn(const sn_take *t, const joint_state *a, const joint_state *b, int joint,
                         int frame) {
    double most = 0;
    for (int i = 0; i < sn_model_nmarker(t->model); i++) {
        double x[2][3];
        if (sn_model_marker(t->model, i)->joint != joint) continue;
        if (!sn_fit_goal(&t->input, i, t->input.first + frame - 1, x[0]) ||
            !sn_fit_goal(&t->input, i, t->input.first + frame, x[1]))
            continue;
        sn_mat3 A = m3_transpose(&a->parent), B = m3_transpose(&b->parent);
        sn_vec3 from = m3_mul(&A, v3_sub(v3_from(x[0]), a->at));
        sn_vec3 to = m3_mul(&B, v3_sub(v3_from(x[1]), b->at));
        double n = v3_norm(from) * v3_norm(to);
        if (!(n > least_lever * least_lever)) continue;
        most = fmax(most, sn_acos(v3_dot(from, to) / n));
    }
    return most;
}

// A turn is never more than its coordinates change: most frames need no look at all.
static double most_change(const sn_take *t, int frame, double *delta) {
    const sn_model *m = t->model;
    double most = 0;
    sn_model_difference(m, sn_motion_frame(t->motion, frame - 1), sn_motion_frame(t->motion, frame),
                        delta);
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        double sum = 0;
        for (int i = 0; i < j->nv; i++)
            if (!(j->lengths >> i & 1)) sum += fabs(delta[j->v0 + i]);
        if (sum > most) most = sum;
    }
    return most;
}

static sn_status count_jumps(const sn_take *t, sn_fit_place *at, double limit, double *delta,
                             joint_state *a, joint_state *b, joint_jumps *out) {
    for (int f = 1; f < t->input.count; f++) {
        if (most_change(t, f, delta) <= limit) continue;
        if (at->workspace == NULL) SN_TRY(sn_fit_place_open(at, t->model, &t->allocator));
        SN_TRY(find_states(t, at, f - 1, a));
        SN_TRY(find_states(t, at, f, b));
        for (int j = 0; j < sn_model_njoint(t->model); j++) {
            double angle = angle_of(&a[j].own, &b[j].own);
            if (angle <= limit || angle <= shown_share * shown_turn(t, &a[j], &b[j], j, f))
                continue;
            if (out[j].count++ == 0) out[j].first = f;
            out[j].last = f;
            out[j].most = fmax(out[j].most, angle);
        }
    }
    return SN_OK;
}

static sn_status tell_jumps(sn_take *t, joint_jumps *all) {
    for (int told = 0; told < MOST_TOLD; told++) {
        int worst = -1;
        for (int j = 0; j < sn_model_njoint(t->model); j++)
            if (all[j].count > 0 && (worst < 0 || all[j].count > all[worst].count)) worst = j;
        if (worst < 0) return SN_OK;
        sn_finding *f = sn_take_add(t, SN_FINDING_JOINT_JUMPS, NULL);
        if (f == NULL) return SN_ERR_MEMORY;
        f->number[0] = all[worst].count;
        f->number[1] = all[worst].most / degree;
        f->joint = worst;
        f->has_frames = true;
        f->first = (int64_t)all[worst].first + t->summary.first_frame;
        f->last = (int64_t)all[worst].last + t->summary.first_frame;
        all[worst].count = 0;
    }
    return SN_OK;
}

static sn_status find_jumps(sn_take *t) {
    size_t n = (size_t)sn_model_njoint(t->model) + 1, nv = (size_t)sn_model_nv(t->model) + 1;
    double rate = sn_motion_rate(t->motion);
    double limit = fmin(fmax(fast / (rate > 0 ? rate : 120), least_jump), most_jump) * degree;
    const sn_allocator *allocator = &t->allocator;
    joint_state *state = sn_acquire(allocator, 2 * n * sizeof *state);
    joint_jumps *jumps = sn_acquire(allocator, n * sizeof *jumps);
    double *delta = sn_acquire(allocator, nv * sizeof *delta);
    sn_fit_place at = {0};
    sn_status status = state == NULL || jumps == NULL || delta == NULL ? SN_ERR_MEMORY : SN_OK;
    if (status == SN_OK) {
        memset(jumps, 0, n * sizeof *jumps);
        status = count_jumps(t, &at, limit, delta, state, state + n, jumps);
    }
    sn_fit_place_close(&at, allocator);
    for (size_t j = 0; status == SN_OK && j + 1 < n; j++) t->summary.jumps += jumps[j].count;
    if (status == SN_OK) status = tell_jumps(t, jumps);
    sn_release(allocator, delta);
    sn_release(allocator, jumps);
    sn_release(allocator, state);
    return status;
}

// --- a figure that leaps ---------------------------------------------------------------------------

// How many joints, from the root on, carry the whole figure: the ways of a root may be several joints.
static int carriers(const sn_model *m) {
    int n = 1;
    for (bool only = true; only && n < m->njoint; n += only) {
        only = m->joint[n].parent == n - 1;
        for (int k = n + 1; k < m->njoint; k++) only = only && m->joint[k].parent != n - 1;
    }
    return n < m->njoint ? n : m->njoint;
}

static sn_status find_leaps(sn_take *t) {
    const sn_model *m = t->model;
    const double rate = sn_motion_rate(t->motion);
    const double limit = fmax(fastest / (rate > 0 ? rate : 120), least_leap);
    const int n = carriers(m);
    joint_jumps leaps = {0};
    if (n == m->njoint) return SN_OK;  // a thing, which may be thrown
    double *delta = sn_acquire(&t->allocator, ((size_t)m->nv + 1) * sizeof *delta);
    if (delta == NULL) return SN_ERR_MEMORY;
    for (int f = 1; f < t->input.count; f++) {
        double sum = 0;
        sn_model_difference(m, sn_motion_frame(t->motion, f - 1), sn_motion_frame(t->motion, f),
                            delta);
        for (int k = 0; k < n; k++) {
            const sn_joint *j = &m->joint[k];
            for (int i = 0; i < j->nv; i++)
                if (j->lengths >> i & 1) sum += delta[j->v0 + i] * delta[j->v0 + i];
        }
        // that is told as what it is
        if (!(sum > limit * limit) || (t->cut != NULL && t->cut[f])) continue;
        if (leaps.count++ == 0) leaps.first = f;
        leaps.last = f;
        leaps.most = fmax(leaps.most, sqrt(sum));
    }
    sn_release(&t->allocator, delta);
    if (leaps.count == 0) return SN_OK;
    sn_finding *f = sn_take_add(t, SN_FINDING_FIGURE_LEAPS, NULL);
    if (f == NULL) return SN_ERR_MEMORY;
    f->number[0] = leaps.count;
    f->number[1] = leaps.most;
    f->has_frames = true;
    f->first = (int64_t)leaps.first + t->summary.first_frame;
    f->last = (int64_t)leaps.last + t->summary.first_frame;
    return SN_OK;
}

// --- ranges --------------------------------------------------------------------------------------

// In how many frames a joint is below `lower` or above `upper`, and by how much at most; at a bound counts
// where `touch`.
static int count_outside(const sn_take *t, int joint, const double *lower, const double *upper,
                         bool touch, double *most) {
    const sn_model *m = t->model;
    int v = sn_model_v_index(m, joint), q = sn_model_q_index(m, joint), count = 0;
    int n = sn_model_joint_nv(m, joint);
    bool bounded = false;
    *most = 0;
    for (int i = 0; i < n; i++) bounded |= isfinite(lower[v + i]) || isfinite(upper[v + i]);
    if (!bounded) return 0;
    for (int f = 0; f < t->input.count; f++) {
        const double *x = sn_motion_frame(t->motion, f) + q;
        bool outside = false;
        for (int i = 0; i < n; i++) {
            // a root that its range keeps from its markers counts; a body's prior is about angles
            if (!touch && sn_model_is_length(m, joint, i)) continue;
            double over = fmax(x[i] - upper[v + i], lower[v + i] - x[i]);
            outside |= touch ? over >= 0 : over > beyond_least * degree;
            *most = fmax(*most, over);
        }
        count += outside;
    }
    return count;
}

static sn_status tell_outside(sn_take *t, sn_finding_code code, const double *lower,
                              const double *upper, double share) {
    int told = 0;
    for (int j = 0; j < sn_model_njoint(t->model) && told < MOST_TOLD; j++) {
        const sn_joint_desc *d = sn_model_joint(t->model, j);
        double most;
        if (sn_joint_ops_of(d->type)->quaternion >= 0) continue;
        int n = count_outside(t, j, lower, upper, code == SN_FINDING_AT_LIMITS, &most);
        if (n == 0 || n < share * t->input.count) continue;
        sn_finding *f = sn_take_add(t, code, NULL);
        if (f == NULL) return SN_ERR_MEMORY;
        f->number[0] = n;
        f->number[1] = code == SN_FINDING_AT_LIMITS ? (double)n / t->input.count : most / degree;
        f->joint = j;
        told++;
    }
    return SN_OK;
}

static sn_status find_outside(sn_take *t) {
    if (t->options.limits == SN_LIMITS_HARD)
        return tell_outside(t, SN_FINDING_AT_LIMITS, sn_model_lower(t->model),
                            sn_model_upper(t->model), at_limit_share);
    sn_fit_prior prior;
    if (t->options.setup != NULL || t->options.posture == 0) return SN_OK;
    sn_status status = sn_fit_find_prior(t->model, NULL, &t->allocator, &prior);
    if (status == SN_OK)
        status = tell_outside(t, SN_FINDING_BEYOND_BODY, prior.lower, prior.upper, beyond_share);
    if (prior.q != NULL) sn_release(&t->allocator, prior.q);
    return status;
}

// --- markers -------------------------------------------------------------------------------------

static double usual_rms(const sn_take *t) {
    double best = 0;
    int n = sn_model_nmarker(t->model), seen = 0;
    for (int i = 0; i < n; i++) seen += t->markers[i].seen > 0;
    // the median, without sorting: as many below as above
    for (int i = 0; i < n; i++) {
        int below = 0;
        for (int k = 0; k < n; k++)
            below += t->markers[k].seen > 0 && t->markers[k].rms <= t->markers[i].rms;
        if (t->markers[i].seen > 0 && 2 * below >= seen && (best == 0 || t->markers[i].rms < best))
            best = t->markers[i].rms;
    }
    return best;
}

static sn_status find_markers_off(sn_take *t) {
    double usual = usual_rms(t);
    for (int i = 0; i < sn_model_nmarker(t->model); i++) {
        double rms = t->markers[i].rms;
        if (t->markers[i].seen == 0 || rms < stands_out_least || rms < stands_out * usual) continue;
        // what is off for a while is told already
        bool told = false;
        for (size_t k = 0; k < t->nfinding; k++)
            told |= t->finding[k].code == SN_FINDING_MARKER_OFF && t->finding[k].marker == i;
        if (told) continue;
        sn_finding *f = sn_take_add(t, SN_FINDING_MARKER_STANDS_OUT, NULL);
        if (f == NULL) return SN_ERR_MEMORY;
        f->number[0] = rms;
        f->number[1] = usual;
        f->marker = i;
    }
    if (t->summary.fit.mean > large_error)
        return sn_take_note(t, SN_FINDING_ERROR_LARGE, NULL, t->summary.fit.mean, 0);
    return SN_OK;
}

// Frames that hardly anything was seen in; a guess for so many seconds at once, or together and in such a share of all, is to
// be looked at.
static const double held_long = 0.5, held_share = 0.1;

static sn_status find_held(sn_take *t) {
    const double rate = sn_motion_rate(t->motion), usual = rate > 0 ? rate : 120;
    int count = 0, longest = 0, first = 0, since = 0;
    for (int f = 0; f < t->input.count; f++) {
        if (!t->frames[f].held) {
            since = f + 1;
            continue;
        }
        count++;
        if (f + 1 - since > longest) longest = f + 1 - since, first = since;
    }
    if (count == 0) return SN_OK;
    sn_finding *f = sn_take_add(t, SN_FINDING_FRAMES_HELD, NULL);
    if (f == NULL) return SN_ERR_MEMORY;
    f->number[0] = count;
    f->number[1] = (double)count / t->input.count;
    f->has_frames = true;
    f->first = (int64_t)first + t->summary.first_frame;
    f->last = (int64_t)first + longest - 1 + t->summary.first_frame;
    const bool many = f->number[1] > held_share && count > held_long * usual;
    if (longest > held_long * usual || many) f->severity = SN_SEVERITY_WARNING;
    return SN_OK;
}

// Samples that lost their weight: stretches that the fit has found, by marker. Of more than a few of one marker the frames are
// listed, so that one that flickers leaves room for the others.
static sn_status tell_off_of(sn_take *t, const sn_fit_off *off, int count) {
    const sn_fit_marker *m = &t->markers[off[0].marker];
    const bool each = count <= MOST_STRETCHES;
    for (int i = 0; i < count; i += each ? 1 : count) {
        sn_name_list list = {0};
        char text[sizeof list.text + 40] = "";
        double worst = 0;
        const int end = each ? i + 1 : count;
        for (int k = i; k < end; k++) {
            const long long from = t->summary.first_frame;
            char frames[48];
            if (off[k].last > off[k].first)
                (void)snprintf(frames, sizeof frames, "%lld to %lld", from + off[k].first,
                               from + off[k].last);
            else
                (void)snprintf(frames, sizeof frames, "%lld", from + off[k].first);
            sn_name_list_add(&list, frames);
            worst = fmax(worst, off[k].worst);
        }
        sn_name_list_print(&list, text);
        sn_finding *f = sn_take_add(t, SN_FINDING_MARKER_OFF, text);
        if (f == NULL) return SN_ERR_MEMORY;
        f->number[0] = worst;
        f->number[2] = end - i;
        f->marker = off[i].marker;
        // a marker that has fallen off leaves its joint to the others all the time: to be looked at
        f->number[1] = (double)m->dropped / fmax(1, m->dropped + m->seen);
        if (m->dropped > fallen_share * (m->dropped + m->seen)) f->severity = SN_SEVERITY_WARNING;
        f->has_frames = true;
        f->first = (int64_t)off[i].first + t->summary.first_frame;
        f->last = (int64_t)off[end - 1].last + t->summary.first_frame;
    }
    return SN_OK;
}

// Many markers at once, for a while: are they wrong, or the others?
static sn_status find_wrong_together(sn_take *t, const sn_fit_off *off, int count) {
    const double rate = sn_motion_rate(t->motion), usual = rate > 0 ? rate : 120;
    int most = 0, best = 0, first = 0, run = 0;
    for (int f = 0; f < t->input.count; f++) {
        int wrong = 0, seen = 0;
        double goal[3];
        for (int i = 0; i < count; i++) wrong += off[i].first <= f && f <= off[i].last;
        if (wrong < WRONG_TOGETHER) {
            run = 0;
            continue;
        }
        for (int i = 0; i < sn_model_nmarker(t->model); i++)
            seen += sn_fit_goal(&t->input, i, t->input.first + f, goal);
        run = wrong > wrong_share * seen ? run + 1 : 0;
        if (run > best) best = run, first = f + 1 - run;
        if (run > 0 && wrong > most) most = wrong;
    }
    if (best < wrong_long * usual) return SN_OK;
    sn_finding *f = sn_take_add(t, SN_FINDING_WRONG_TOGETHER, NULL);
    if (f == NULL) return SN_ERR_MEMORY;
    f->number[0] = most;
    f->has_frames = true;
    f->first = (int64_t)first + t->summary.first_frame;
    f->last = (int64_t)first + best - 1 + t->summary.first_frame;
    return SN_OK;
}

sn_status sn_take_tell_off(sn_take *t, const sn_fit_off *off, int count) {
    for (int i = 0, n; i < count; i += n) {
        for (n = 1; i + n < count && off[i + n].marker == off[i].marker; n++) continue;
        SN_TRY(tell_off_of(t, off + i, n));
    }
    return find_wrong_together(t, off, count);
}

sn_status sn_take_judge(sn_take *t) {
    SN_TRY(find_jumps(t));
    SN_TRY(find_leaps(t));
    SN_TRY(find_held(t));
    SN_TRY(find_outside(t));
    SN_TRY(sn_take_check_shake(t));
    return find_markers_off(t);
}
