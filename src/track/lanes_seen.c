// SPDX-License-Identifier: MIT
// What is hidden of a frame: what its goals show of each degree of freedom by less than a tenth of what they usually do.
//
// Of a rotation that is asked of any turn of it. With the forearm an upper arm's turn about its bone is hidden, now in one of
// its three angles and now in another, and mostly in none of them alone; but where the bone points is seen as before. So what
// is seen of it is a matrix, and whoever leads what is hidden leads it about that axis only.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/dense.h"
#include "math/euler_near.h"
#include "model/model.h"
#include "sweeps/workspace.h"
#include "track/lanes.h"

enum { BLOCK = 64 };

static const double hidden = 0.1;   // of what it usually is
static const double closing = 0.5;  // seconds; see close_moments()

// How a hidden one is marked: 1, and as many more as it still is seen; while they are looked for also one that is seen less
// than usual.
enum { LEVELS = 200, LESS = 255 };

double sn_lane_still_seen(unsigned char mark) { return (double)(mark - 1) / LEVELS * hidden; }

static unsigned char mark_for(double seen) {
    if (seen < hidden) return (unsigned char)(1 + LEVELS * fmax(seen / hidden, 0));
    return seen < 1 - 1e-9 ? LESS : 0;
}

static unsigned char *mark_of(const sn_lanes *l, int frame) {
    return l->hidden + (size_t)frame * l->nv;
}

// Turns of each rotation about the world's axes through it, 3 x 3.
static void see_rotations(const sn_lanes *l, const sn_workspace *ws, double *seen) {
    for (int k = 0; k < l->model->njoint; k++, seen += 9) {
        if (!sn_lane_is_rotation(&l->model->joint[k])) continue;
        const sn_vec3 at = ws->frame[k].p;
        for (int i = 0; i < 3; i++) {
            const sn_twist push = sn_field_times(ws->field[k].K, twist_about(v3_unit(i), at));
            for (int j = 0; j < 3; j++) {
                const sn_twist turn = twist_about(v3_unit(j), at);
                seen[3 * i + j] = v3_dot(push.a, turn.a) + v3_dot(push.b, turn.b);
            }
        }
    }
}

// now - share all, and a trifle, as a turn that is never seen is not hidden; false where that is not positive.
static bool factor(const double *now, const double *all, double share, double *A) {
    double trifle = 1e-6 * (all[0] + all[4] + all[8]);
    for (int i = 0; i < 9; i++) A[i] = now[i] - share * all[i] + (i % 4 == 0 ? trifle : 0);
    return sn_cholesky(A, 3);
}

// Of a rotation the share that is seen of the turn that is seen least; `hidden` where it is as much or more.
static double least_share(const double *now, const double *all) {
    double low = 0, high = hidden, A[9];
    if (factor(now, all, hidden, A)) return hidden;
    while (high - low > hidden / LEVELS) {
        double share = 0.5 * (low + high);
        *(factor(now, all, share, A) ? &low : &high) = share;
    }
    return low;
}

// That turn, as an axis: inverse iterations, which converge at once, as its share is nearly known.
static sn_vec3 least_axis(const double *now, const double *all, double share) {
    double A[9], x[3] = {1, 1, 1};
    if (!factor(now, all, share, A)) return v3(0, 0, 0);
    for (int k = 0; k < 8; k++) {
        sn_vec3 y = v3(all[0] * x[0] + all[1] * x[1] + all[2] * x[2],
                       all[3] * x[0] + all[4] * x[1] + all[5] * x[2],
                       all[6] * x[0] + all[7] * x[1] + all[8] * x[2]);
        y = v3_scale(1 / fmax(v3_norm(y), 1e-300), y);
        for (int i = 0; i < 3; i++) x[i] = v3_at(y, i);
        sn_cholesky_forward(A, 3, x);
        sn_cholesky_backward(A, 3, x);
    }
    sn_vec3 axis = v3_from(x);
    return v3_scale(1 / fmax(v3_norm(axis), 1e-300), axis);
}

// Is all else of it seen? Asked of `now` with that turn as well seen as usual.
static bool is_alone(const double *now, const double *all, sn_vec3 axis) {
    double y[3], sees = 0, rest[9];
    for (int i = 0; i < 3; i++) {
        y[i] = 0;
        for (int j = 0; j < 3; j++) y[i] += all[3 * i + j] * v3_at(axis, j);
        sees += y[i] * v3_at(axis, i);
    }
    if (!(sees > 0)) return false;
    for (int i = 0; i < 9; i++) rest[i] = now[i] + y[i / 3] * y[i % 3] / sees;
    return least_share(rest, all) >= hidden;
}

static unsigned char see_rotation(const sn_workspace *ws, int joint, const double *q,
                                  const double *now, const double *all, sn_lane_swing *swing) {
    double share = least_share(now, all);
    sn_vec3 axis = least_axis(now, all, share);
    if (!is_alone(now, all, axis)) axis = v3(0, 0, 0);
    axis = m3_tmul(&ws->frame[joint].R, axis);
    for (int i = 0; i < 3; i++) {
        swing->axis[i] = (float)v3_at(axis, i);
        swing->angles[i] = (float)q[i];
    }
    return mark_for(share);
}

typedef struct pass {
    double *matrices;  // 18 njoint for each worker
    sn_lane_swing *swings;
    int nrotation;
} pass;

// The frames of a block.
static sn_status find_hidden(sn_lanes *l, sn_lane_worker *w, int block) {
    const pass *p = l->extra;
    const size_t matrices = 9 * (size_t)l->model->njoint;
    double *now = p->matrices + 2 * matrices * (size_t)(w - l->workers), *all = now + matrices;
    int first = block * BLOCK, end = BLOCK < l->nframe - first ? first + BLOCK : l->nframe;
    SN_TRY(sn_problem_set_enabled(w->problem, l->rest, false));
    for (int f = first; f < end; f++) {
        int n = 0;
        double value;
        unsigned char *mark = mark_of(l, f);
        SN_TRY(l->goals(l->user, f, w->problem));
        for (int i = 0; i < l->options.goals; i++) n += sn_problem_task_active(w->problem, i);
        if (n == l->options.goals) continue;
        SN_TRY(sn_workspace_eval(w->ws, sn_lane_pose(l, f), SN_EVAL_GAUSS_NEWTON, &value));
        sn_workspace_fields_diagonal(w->ws, w->weight);
        see_rotations(l, w->ws, now);
        // at this pose, were nothing missing that usually is there
        bool some = false;
        for (int i = 0; i < l->options.goals; i++) {
            if (!l->shown[i] || sn_problem_task_active(w->problem, i)) continue;
            // where it is: a loss counts for less what is far off
            const sn_task *t = sn_problem_task(w->problem, i);
            sn_vec3 x = sn_workspace_point(w->ws, t->joint, t->local);
            SN_TRY(sn_problem_set_goal(w->problem, i, (const double[3]){x.x, x.y, x.z}));
            some = true;
        }
        if (!some) continue;
        SN_TRY(sn_workspace_eval(w->ws, sn_lane_pose(l, f), SN_EVAL_GAUSS_NEWTON, &value));
        sn_workspace_fields_diagonal(w->ws, w->delta);
        see_rotations(l, w->ws, all);
        for (size_t v = 0; v < l->nv; v++)
            mark[l->model->v_of[v]] = mark_for(w->weight[v] / fmax(w->delta[v], 1e-30));
        sn_lane_swing *swing = p->swings + (size_t)f * (size_t)p->nrotation;
        for (int k = 1; k < l->model->njoint; k++) {
            const sn_joint *j = &l->model->joint[k];
            if (!sn_lane_is_rotation(j)) continue;
            if (mark[j->v0] || mark[j->v0 + 1] || mark[j->v0 + 2]) {
                mark[j->v0] = see_rotation(w->ws, k, sn_lane_pose(l, f) + j->q0,
                                           now + 9 * (size_t)k, all + 9 * (size_t)k, swing);
                mark[j->v0 + 1] = mark[j->v0 + 2] = mark[j->v0];
            }
            swing++;
        }
    }
    return SN_OK;
}

// How much of a limb its last markers show depends on the pose, and that is a guess: for a moment they may seem to show
// it. What is hidden before and behind such a moment is hidden in it.
static void close_moments(sn_lanes *l) {
    const int longest = (int)(closing * sn_lane_rate(l));
    for (size_t v = 0; v < l->nv; v++)
        for (int f = 0, first = 0, last = -1; f <= l->nframe; f++) {
            const unsigned char mark = f < l->nframe ? mark_of(l, f)[v] : 0;
            if (mark == LESS) continue;
            // first ... f - 1 are less than usual; before them is `last`, if it is hidden
            bool close = mark != 0 && last == first - 1 && last >= 0 && f - first <= longest;
            for (int k = first; k < f; k++) mark_of(l, k)[v] = close ? 1 + LEVELS : 0;
            first = f + 1;
            last = mark != 0 ? f : -1;
        }
}

int sn_lane_nrotation(const sn_lanes *l) {
    int n = 0;
    for (int k = 1; k < l->model->njoint; k++) n += sn_lane_is_rotation(&l->model->joint[k]);
    return n;
}

sn_status sn_lanes_find_hidden(sn_lanes *l, sn_lane_swing *swings) {
    int blocks = (l->nframe + BLOCK - 1) / BLOCK;
    pass p = {.swings = swings, .nrotation = sn_lane_nrotation(l)};
    p.matrices = sn_acquire(&l->allocator, (size_t)l->nworker * 18 * (size_t)l->model->njoint *
                                               sizeof *p.matrices);
    if (p.matrices == NULL) return SN_ERR_MEMORY;
    l->extra = &p;
    sn_status status = sn_lanes_run(l, find_hidden, blocks);
    l->extra = NULL;
    sn_release(&l->allocator, p.matrices);
    if (status == SN_OK) close_moments(l);
    return status;
}

// Of both turns the second's, as far as it goes about the axis.
static sn_mat3 turned_about(sn_vec3 axis, const sn_mat3 *seen, const sn_mat3 *led) {
    sn_mat3 back = m3_transpose(seen), way = m3_mulm(&back, led);
    sn_quat q = sn_quat_from_mat3(way);
    double s = axis.x * q.x + axis.y * q.y + axis.z * q.z, norm = sqrt(q.w * q.w + s * s);
    // at half a turn about another axis any turn about this one is as near
    if (!(norm > 1e-6)) return *seen;
    q = (sn_quat){q.w / norm, s * axis.x / norm, s * axis.y / norm, s * axis.z / norm};
    sn_mat3 turn = sn_mat3_from_quat(q);
    return m3_mulm(seen, &turn);
}

void sn_lanes_keep_swings(sn_lanes *l, const sn_lane_swing *swings) {
    const int n = sn_lane_nrotation(l);
    for (int f = 0; n > 0 && f < l->nframe; f++) {
        const sn_lane_swing *s = swings + (size_t)f * (size_t)n;
        double *q = sn_lane_pose(l, f);
        for (int k = 1; k < l->model->njoint; k++) {
            const sn_joint *j = &l->model->joint[k];
            if (!sn_lane_is_rotation(j)) continue;
            if (mark_of(l, f)[j->v0]) {
                const double angles[3] = {s->angles[0], s->angles[1], s->angles[2]};
                const sn_vec3 axis = v3(s->axis[0], s->axis[1], s->axis[2]);
                sn_mat3 seen = sn_joint_rotation(j, angles), led = sn_joint_rotation(j, q + j->q0);
                if (v3_norm(axis) > 0.5) {
                    sn_mat3 R = turned_about(axis, &seen, &led);
                    const double near[3] = {q[j->q0], q[j->q0 + 1], q[j->q0 + 2]};
                    sn_euler_near(j->order, 3, &R, near, q + j->q0);
                }
            }
            s++;
        }
    }
}
