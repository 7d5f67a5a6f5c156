// SPDX-License-Identifier: MIT
// A fitted motion against one that is known: how far the joints' rotations are apart.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/order.h"
#include "math/rotation.h"
#include "math/vec3.h"
#include "take/take.h"

static const double degrees = 180 / 3.14159265358979323846;

// A model at a pose, against its zero pose: how far each joint's frame has turned since.
typedef struct turned {
    const sn_model *model;
    sn_fit_place zero, now;
} turned;

static sn_status open_turned(turned *t, const sn_model *model, const sn_allocator *allocator) {
    *t = (turned){.model = model};
    SN_TRY(sn_fit_place_open(&t->zero, model, allocator));
    SN_TRY(sn_fit_place_open(&t->now, model, allocator));
    sn_model_zero(model, t->zero.q);
    return sn_workspace_pose(t->zero.workspace, t->zero.q);
}

static void close_turned(turned *t, const sn_allocator *allocator) {
    sn_fit_place_close(&t->zero, allocator);
    sn_fit_place_close(&t->now, allocator);
}

// Since the zero pose, in the world; against that of another joint where `base` is not -1.
static sn_quat turn_of(const turned *t, int joint, int base) {
    sn_mat3 zero = sn_workspace_frame(t->zero.workspace, joint).R,
            now = sn_workspace_frame(t->now.workspace, joint).R;
    zero = m3_transpose(&zero);
    sn_quat q = sn_quat_from_mat3(m3_mulm(&now, &zero));
    return base < 0 ? q : sn_quat_mul(sn_quat_conj(turn_of(t, base, -1)), q);
}

// Joints of the fitted model against those of the known motion's: the same name, or both the root.
typedef struct matching {
    int *other;  // -1 for none
    int *base;   // the nearest joint above that has another, too
    // markers say something about it: it moves, and it or what hangs on it carries some
    bool *seen;
    int count, movable, compared;
} matching;

static bool moves(const sn_model *model, int joint) {
    return sn_model_joint(model, joint)->type != SN_JOINT_FIXED;
}

// The joint of a name, or one that carries a thing of that name, as an OpenSim file's bodies; -1 for none.
static int find_named(const sn_model *model, const char *name) {
    const int joint = sn_model_find_joint(model, name), frame = sn_model_find_frame(model, name);
    return joint >= 0 ? joint : frame >= 0 ? sn_model_frame(model, frame)->joint : -1;
}

// The joint of `b` that is one of `a`: both may call it by the joint's name or by what it carries.
static int find_other(const sn_model *a, int joint, const sn_model *b) {
    if (a == b) return joint;
    if (joint == sn_model_root(a) && moves(a, joint)) return sn_model_root(b);
    int other = find_named(b, sn_model_joint(a, joint)->name);
    for (int i = 0; other < 0 && i < sn_model_nframe(a); i++)
        if (sn_model_frame(a, i)->joint == joint) other = find_named(b, sn_model_frame(a, i)->name);
    return other;
}

static void match_joints(const sn_take *t, const sn_model *b, matching *m) {
    const sn_model *a = sn_take_model(t);
    int n = sn_model_njoint(a);
    memset(m->seen, 0, (size_t)n);
    for (int i = 0; i < sn_model_nmarker(a); i++) {
        int j = t->column[i] >= 0 ? sn_model_marker(a, i)->joint : -1;
        for (; j >= 0; j = sn_model_parent(a, j)) m->seen[j] = moves(a, j);
    }
    for (int j = 0; j < n; j++) m->other[j] = find_other(a, j, b);
    for (int j = 0; j < n; j++) {
        m->base[j] = sn_model_parent(a, j);
        while (m->base[j] >= 0 && m->other[m->base[j]] < 0)
            m->base[j] = sn_model_parent(a, m->base[j]);
        m->movable += moves(a, j);
        m->count += moves(a, j) && m->other[j] >= 0;
        m->compared += m->seen[j] && m->other[j] >= 0;
    }
}

// At rest both skeletons must lie the same way, else angles from there mean other things. The joint
// where they do not, -1 for none.
static int other_rest(const turned *a, const turned *b, const matching *m) {
    for (int j = 0; j < sn_model_njoint(a->model); j++) {
        if (m->other[j] < 0 || m->base[j] < 0) continue;
        sn_vec3 x = v3_sub(sn_workspace_frame(a->zero.workspace, j).p,
                           sn_workspace_frame(a->zero.workspace, m->base[j]).p),
                y = v3_sub(sn_workspace_frame(b->zero.workspace, m->other[j]).p,
                           sn_workspace_frame(b->zero.workspace, m->other[m->base[j]]).p);
        double size = v3_norm(x) * v3_norm(y);
        // within 10 degrees
        if (size > 1e-4 && v3_dot(x, y) < 0.985 * size) return j;
    }
    return -1;
}

// What speaks against comparing.
static sn_status check(sn_take *t, const sn_model *model, const sn_motion *motion,
                       const matching *m, const turned *a, const turned *b) {
    int needed = t->summary.first + t->summary.count, nframe = sn_motion_nframe(motion);
    if (nframe < needed) return sn_take_refuse(t, SN_FINDING_TRUTH_SHORT, NULL, nframe, needed);
    if (sn_motion_nq(motion) != sn_model_nq(model) || 2 * m->count < m->movable)
        return sn_take_refuse(t, SN_FINDING_TRUTH_OTHER, NULL, m->count, m->movable);
    int joint = other_rest(a, b, m);
    if (joint < 0) return SN_OK;
    SN_TRY(sn_take_note(t, SN_FINDING_TRUTH_REST, NULL, 0, 0));
    t->finding[t->nfinding - 1].joint = joint;
    return SN_ERR_VALUE;
}

// @param angle  room for every joint of every frame
static void compare(const sn_take *t, const sn_motion *motion, const matching *m, turned *a,
                    turned *b, double *angle, sn_take_truth *out) {
    size_t n = 0;
    double sum = 0, apart = 0;
    for (int f = 0; f < t->summary.count; f++) {
        int known = t->summary.first + f + out->late;
        if (sn_workspace_pose(a->now.workspace, sn_motion_frame(sn_take_motion(t), f)) != SN_OK ||
            sn_workspace_pose(b->now.workspace, sn_motion_frame(motion, known)) != SN_OK)
            continue;
        for (int j = 0; j < sn_model_njoint(t->model); j++) {
            if (!m->seen[j] || m->other[j] < 0) continue;
            int base = m->base[j];
            sn_quat d =
                sn_quat_mul(sn_quat_conj(turn_of(b, m->other[j], base < 0 ? -1 : m->other[base])),
                            turn_of(a, j, base));
            double e = v3_norm(sn_quat_log(d)) * degrees;
            angle[n++] = e;
            sum += e * e;
            sn_vec3 way = v3_sub(sn_workspace_frame(a->now.workspace, j).p,
                                 sn_workspace_frame(b->now.workspace, m->other[j]).p);
            apart += v3_dot(way, way);
        }
    }
    if (n == 0) return;
    qsort(angle, n, sizeof *angle, sn_by_value);
    out->median = angle[n / 2];
    out->most = angle[(size_t)(0.95 * (double)(n - 1))];
    out->rms = sqrt(sum / (double)n);
    out->centres = sqrt(apart / (double)n);
}

// A marker on a bone of the known motion: its mean place there, and Welford's sum of squares about it.
typedef struct spot {
    sn_vec3 mean;
    double spread;
    int count;
} spot;

// A marker stays where it is on its bone: how far each wanders about its mean place on the bones of the known motion.
static double wander(const sn_take *t, const sn_motion *motion, const matching *m, turned *b,
                     int late, int step, spot *spots) {
    int nmarker = sn_model_nmarker(t->model);
    double square = 0;
    long n = 0;
    memset(spots, 0, (size_t)nmarker * sizeof *spots);
    for (int f = 0; f < t->summary.count; f += step) {
        int frame = t->summary.first + f;
        if (sn_workspace_pose(b->now.workspace, sn_motion_frame(motion, frame + late)) != SN_OK)
            continue;
        for (int i = 0; i < nmarker; i++) {
            int joint = t->column[i] >= 0 ? m->other[sn_model_marker(t->model, i)->joint] : -1;
            double goal[3];
            if (joint < 0 || !sn_fit_goal(&t->input, i, frame, goal)) continue;
            sn_frame bone = sn_workspace_frame(b->now.workspace, joint);
            sn_vec3 x = m3_tmul(&bone.R, v3_sub(v3_from(goal), bone.p)),
                    d = v3_sub(x, spots[i].mean);
            spots[i].mean = v3_add(spots[i].mean, v3_scale(1.0 / ++spots[i].count, d));
            spots[i].spread += v3_dot(d, v3_sub(x, spots[i].mean));
        }
    }
    for (int i = 0; i < nmarker; i++) square += spots[i].spread, n += spots[i].count;
    return n > 0 ? sqrt(square / (double)n) : (double)INFINITY;
}

// A known motion may begin before the recording, as with the T pose in front of CMU's BVH files: so many frames, by where
// the markers wander least on its bones. Frames looked at for that, the most frames before, and how clear it must be.
enum { LOOKED_AT = 60, MOST_BEFORE = 1200 };
static const double clearly = 0.97;

static int find_late(const sn_take *t, const sn_motion *motion, const matching *m, turned *b,
                     spot *spots) {
    int more = sn_motion_nframe(motion) - sn_recording_about(t->recording)->nframe,
        step = t->summary.count / LOOKED_AT + 1, late = 0;
    double least = wander(t, motion, m, b, 0, step, spots) * clearly;
    for (int k = 1; k <= more && k <= MOST_BEFORE; k++) {
        double here = wander(t, motion, m, b, k, step, spots);
        if (here < least) least = here, late = k;
    }
    // the least of all may lie further on
    return late < MOST_BEFORE ? late : 0;
}

// Frames are compared by their places, so that another rate means other moments.
static sn_status tell_rate(sn_take *t, const sn_motion *motion) {
    double ours = sn_recording_about(t->recording)->rate, theirs = sn_motion_rate(motion);
    if (!(ours > 0 && theirs > 0) || fabs(ours - theirs) < 0.01 * ours) return SN_OK;
    return sn_take_note(t, SN_FINDING_TRUTH_RATE, NULL, ours, theirs);
}

sn_status sn_take_compare(sn_take *take, const sn_model *model, const sn_motion *motion,
                          sn_take_truth *out) {
    if (out == NULL) return SN_ERR_ARGUMENT;
    *out = (sn_take_truth){0};
    if (take == NULL || take->step != SN_TAKE_FINISHED || motion == NULL) return SN_ERR_ARGUMENT;
    const sn_allocator *allocator = &take->allocator;
    const sn_model *other = model != NULL ? model : take->original;
    sn_model *mended;
    SN_TRY(sn_take_mend_other(take, other, &mended));
    out->chest = mended != NULL;
    if (mended != NULL) other = mended;
    size_t n = (size_t)sn_model_njoint(take->model);
    turned a = {0}, b = {0};
    double *angle = NULL;
    spot *spots = NULL;
    matching m = {.other = sn_acquire(allocator, n * sizeof *m.other),
                  .base = sn_acquire(allocator, n * sizeof *m.base),
                  .seen = sn_acquire(allocator, n)};
    sn_status status = m.other == NULL || m.base == NULL || m.seen == NULL ? SN_ERR_MEMORY : SN_OK;
    if (status == SN_OK) {
        match_joints(take, other, &m);
        status = open_turned(&a, sn_take_model(take), allocator);
    }
    if (status == SN_OK) status = open_turned(&b, other, allocator);
    if (status == SN_OK) status = check(take, other, motion, &m, &a, &b);
    if (status == SN_OK) status = tell_rate(take, motion);
    if (status == SN_OK) {
        size_t room = (size_t)m.compared * (size_t)take->summary.count + 1;
        angle =
            room < SIZE_MAX / sizeof *angle ? sn_acquire(allocator, room * sizeof *angle) : NULL;
        spots = sn_acquire(allocator, ((size_t)sn_model_nmarker(take->model) + 1) * sizeof *spots);
        if (angle == NULL || spots == NULL) status = SN_ERR_MEMORY;
    }
    if (status == SN_OK) {
        out->late = find_late(take, motion, &m, &b, spots);
        double markers = wander(take, motion, &m, &b, out->late, 1, spots);
        out->markers = isfinite(markers) ? markers : 0;
        compare(take, motion, &m, &a, &b, angle, out);
        out->joints = m.count;
        out->movable = m.movable;
    }
    sn_release(allocator, spots);
    sn_release(allocator, angle);
    close_turned(&a, allocator);
    close_turned(&b, allocator);
    sn_release(allocator, m.seen);
    sn_release(allocator, m.base);
    sn_release(allocator, m.other);
    sn_model_destroy(mended);
    return status;
}
