// SPDX-License-Identifier: MIT
#include "sinew/motion.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/euler_near.h"
#include "math/round.h"
#include "math/vec3.h"
#include "motion/clock.h"

static const double pi = 3.14159265358979323846;

// Times nearer to a frame's than this, in frames, are its own.
static const double same = 1e-6;

// A place between two frames.
typedef struct between {
    int frame;        // the one before
    double fraction;  // of the way to the next, 0 when there is none
} between;

static between place(int k, double step, int nframe) {
    double x = k * step;
    double near = sn_round(x);
    between b = {(int)floor(x), x - floor(x)};
    if (fabs(x - near) < same) b = (between){(int)near, 0};
    if (b.frame >= nframe - 1) b = (between){nframe - 1, 0};
    return b;
}

// How many frames of the new rate fit, -1 when they are too many.
static int new_count(int nframe, double step) {
    if (nframe == 0) return 0;
    double last = floor((nframe - 1) / step + same);
    return last < INT_MAX - 1 ? (int)last + 1 : -1;
}

sn_status sn_recording_resample(const sn_recording *recording, double rate,
                                const sn_allocator *allocator, sn_recording **out,
                                sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(recording, error);
    SN_NEED(out, error);
    sn_recording_info info = *sn_recording_about(recording);
    if (!(info.rate > 0)) return sn_fail_range(error, "the recording's rate is not known");
    if (!(rate > 0) || !isfinite(rate)) return sn_fail_range(error, "rate");
    double step = info.rate / rate;
    int nframe = info.nframe, count = new_count(nframe, step);
    if (count < 0) return sn_fail_size(error, "frames at this rate");
    info.nframe = count;
    info.time_offset += sn_clock_time(info.first_frame, 0, info.rate);
    info.first_frame = 1;
    info.rate = rate;
    const char **labels = sn_acquire(allocator, ((size_t)info.nmarker + 1) * sizeof *labels);
    if (labels == NULL) return sn_fail_memory(error);
    for (int m = 0; m < info.nmarker; m++) labels[m] = sn_recording_label(recording, m);
    sn_status status = sn_recording_create(&info, labels, allocator, out, error);
    sn_release(allocator, labels);
    for (int k = 0; status == SN_OK && k < count; k++) {
        between b = place(k, step, nframe);
        const double *x = sn_recording_frame(recording, b.frame);
        const double *y = b.fraction > 0 ? sn_recording_frame(recording, b.frame + 1) : x;
        double *to = sn_recording_edit(*out, k);
        // NaN of a missing neighbour makes the sample missing
        for (size_t i = 0; i < 3 * (size_t)info.nmarker; i++)
            to[i] = b.fraction > 0 ? x[i] + b.fraction * (y[i] - x[i]) : x[i];
    }
    return status;
}

// --- motions -------------------------------------------------------------------------------------

// exp(s log(q1 q0^-1)) q0
static sn_quat slerp(sn_quat q0, sn_quat q1, double s) {
    sn_vec3 turn = sn_quat_log(sn_quat_mul(q1, sn_quat_conj(q0)));
    return sn_quat_mul(sn_quat_exp(v3_scale(s, turn)), q0);
}

static sn_quat euler_rotation(const int order[3], const double angle[3]) {
    sn_quat q = {1, 0, 0, 0};
    for (int i = 0; i < 3; i++) {
        const double v[3] = {order[i] == 0 ? angle[i] : 0, order[i] == 1 ? angle[i] : 0,
                             order[i] == 2 ? angle[i] : 0};
        q = sn_quat_mul(q, sn_quat_exp(v3_from(v)));
    }
    return q;
}

// Angles of one rotation may jump from frame to frame though the rotation does not; so the rotation
// is what is interpolated, and its angles nearest to the nearer frame's are taken.
static void between_eulers(const sn_joint_desc *d, const double *x, const double *y, double s,
                           double *out) {
    const int order[3] = {d->order[0] - 'X', d->order[1] - 'X', d->order[2] - 'X'};
    sn_mat3 R = sn_mat3_from_quat(slerp(euler_rotation(order, x), euler_rotation(order, y), s));
    sn_euler_near(order, 3, &R, s < 0.5 ? x : y, out);
}

static void between_expmaps(const double *x, const double *y, double s, double *out) {
    sn_quat q = slerp(sn_quat_exp(v3_from(x)), sn_quat_exp(v3_from(y)), s);
    sn_vec3 v = sn_quat_log(q);
    out[0] = v.x, out[1] = v.y, out[2] = v.z;
}

static double shortest_way(double angle) { return angle - 2 * pi * sn_round(angle / (2 * pi)); }

// Joints for which a straight line between coordinates may be the long way round.
static void correct_joint(const sn_model *model, int j, const double *x, const double *y, double s,
                          double *out) {
    const sn_joint_desc *d = sn_model_joint(model, j);
    int at = sn_model_q_index(model, j), first = 0, count = 0;
    switch (d->type) {
    case SN_JOINT_EULER:
        between_eulers(d, x + at, y + at, s, out + at);
        break;
    case SN_JOINT_EXPMAP: {
        sn_vec3 way = v3_sub(v3_from(y + at), v3_from(x + at));
        if (v3_dot(way, way) > pi * pi) between_expmaps(x + at, y + at, s, out + at);
        break;
    }
    case SN_JOINT_HINGE:
        count = 1;
        break;
    case SN_JOINT_UNIVERSAL:
        count = 2;
        break;
    case SN_JOINT_SWING_TWIST:
    case SN_JOINT_PLANAR:
        first = 2, count = 1;
        break;
    default:
        break;
    }
    for (int k = first; k < first + count; k++)
        out[at + k] = x[at + k] + s * shortest_way(y[at + k] - x[at + k]);
}

sn_status sn_motion_resample(const sn_model *model, const sn_motion *motion, double rate,
                             const sn_allocator *allocator, sn_motion **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(model, error);
    SN_NEED(motion, error);
    SN_NEED(out, error);
    int nframe = sn_motion_nframe(motion), nq = sn_motion_nq(motion), nv = sn_model_nv(model);
    double own = sn_motion_rate(motion);
    if (!(own > 0)) return sn_fail_range(error, "the motion's rate is not known");
    if (!(rate > 0) || !isfinite(rate)) return sn_fail_range(error, "rate");
    if (nq != sn_model_nq(model)) return sn_fail_range(error, "the motion is not of this model");
    double step = own / rate;
    int count = new_count(nframe, step);
    if (count < 0) return sn_fail_size(error, "frames at this rate");
    double *delta = sn_acquire(allocator, ((size_t)nv + 1) * sizeof *delta);
    if (delta == NULL) return sn_fail_memory(error);
    sn_status status = sn_motion_create(count, nq, 1, rate, allocator, out, error);
    if (status == SN_OK)
        sn_motion_set_time_offset(*out, sn_motion_time_offset(motion) +
                                            sn_clock_time(sn_motion_first_frame(motion), 0, own));
    for (int k = 0; status == SN_OK && k < count; k++) {
        between b = place(k, step, nframe);
        const double *x = sn_motion_frame(motion, b.frame);
        double *q = sn_motion_edit(*out, k);
        memcpy(q, x, (size_t)nq * sizeof *q);
        if (b.fraction == 0) continue;
        const double *y = sn_motion_frame(motion, b.frame + 1);
        sn_model_difference(model, x, y, delta);
        for (int v = 0; v < nv; v++) delta[v] *= b.fraction;
        sn_model_integrate(model, x, delta, q);
        for (int j = 0; j < sn_model_njoint(model); j++)
            correct_joint(model, j, x, y, b.fraction, q);
    }
    sn_release(allocator, delta);
    return status;
}
