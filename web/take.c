// SPDX-License-Identifier: MIT
// Poses between poses, and takes: a motion, measured markers, or both.
//
// Where a take has markers and a motion, each marker belongs to the joint in whose frame it moves
// least over the take; its mean place there is the fitted marker. Where it has markers only, the
// figure's own markers of the same names are followed, frame after frame.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/rotation.h"
#include "take.h"

static take it;

// -- poses between poses

static sn_quat slerp(sn_quat a, sn_quat b, double t) {
    double sign = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z < 0 ? -1 : 1;
    sn_quat to = {sign * b.w, sign * b.x, sign * b.y, sign * b.z};
    sn_vec3 turn = sn_quat_log(sn_quat_mul(to, sn_quat_conj(a)));
    return sn_quat_mul(sn_quat_exp(v3_scale(t, turn)), a);
}

void web_blend(const double *a, const double *b, double t, double *out) {
    const sn_model *m = the.base;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        double pose[SN_MAX_JOINT_DOFS + 1];
        for (int i = 0; i < j->nq; i++) pose[i] = a[j->q0 + i] + t * (b[j->q0 + i] - a[j->q0 + i]);
        // one and two axes turn about themselves; a rotation in space takes the short way round
        bool in_space = j->type == SN_JOINT_EULER || j->type == SN_JOINT_EXPMAP ||
                        j->type == SN_JOINT_BALL || j->type == SN_JOINT_FREE;
        if (in_space && memcmp(a + j->q0, b + j->q0, (size_t)j->nq * sizeof *a) != 0) {
            sn_mat3 A = sn_joint_rotation(j, a + j->q0), B = sn_joint_rotation(j, b + j->q0);
            sn_mat3 R = sn_mat3_from_quat(slerp(sn_quat_from_mat3(A), sn_quat_from_mat3(B), t));
            (void)sn_joint_set_rotation(j, &R, pose);
        }
        memcpy(out + j->q0, pose, (size_t)j->nq * sizeof *out);
    }
}

// -- takes

void take_forget(void) {
    sn_motion_destroy(it.motion);
    sn_recording_destroy(it.recording);
    sn_solver_destroy(it.solver);
    sn_problem_destroy(it.problem);
    free(it.places);
    free(it.joint);
    free(it.local);
    it = (take){0};
}

void web_take_close(void) { take_forget(); }

const take *the_take(void) { return &it; }

static int nmarker(void) {
    return it.recording != NULL ? sn_recording_get_info(it.recording)->nmarker : 0;
}
static int nmeasured(void) {
    return it.recording != NULL ? sn_recording_get_info(it.recording)->nframe : 0;
}

int web_take_frames(void) { return it.motion != NULL ? sn_motion_nframe(it.motion) : 0; }
int web_take_markers(void) { return nmarker(); }
const char *web_take_label(int marker) { return sn_recording_label(it.recording, marker); }

double web_take_rate(void) {
    double rate = it.motion != NULL ? sn_motion_rate(it.motion) : 0;
    if (!(rate > 0) && it.recording != NULL) {
        const sn_recording_info *info = sn_recording_get_info(it.recording);
        rate = info->rate;
        // a motion that does not say how fast it is, beside markers of the same take
        if (it.motion != NULL && info->nframe > 0)
            rate *= (double)sn_motion_nframe(it.motion) / info->nframe;
    }
    return rate > 0 ? rate : 120;
}

// The frame of the recording that belongs to a frame of the motion.
static int measured_at(double frame) {
    int n = nmeasured(), of = web_take_frames();
    double at = of == n || of == 0 ? frame : frame * n / of;
    int k = (int)floor(at + 0.5);
    return k < 0 ? 0 : k >= n ? n - 1 : k;
}

void web_take_pose(double frame) {
    int n = web_take_frames();
    if (n == 0) return;
    double at = frame < 0 ? 0 : frame > n - 1 ? n - 1 : frame;
    int k = (int)at;
    const double *a = sn_motion_frame(it.motion, k),
                 *b = sn_motion_frame(it.motion, k + 1 < n ? k + 1 : k);
    web_blend(a, b, at - k, the.q);
}

static sn_vec3 at(const double *p) { return (sn_vec3){p[0], p[1], p[2]}; }

// A measured place in the figure's axes.
static sn_vec3 measured(int frame, int marker) {
    const double *p = sn_recording_frame(it.recording, frame) + 3 * marker;
    return (sn_vec3){p[it.axes[0]], p[it.axes[1]], p[it.axes[2]]};
}

// Where every marker sits on its joint, from some frames of the take; the error of it, metres.
static double attach(void) {
    enum { LOOKS = 48 };
    int njoint = sn_model_njoint(the.base), n = web_take_frames(), count = nmarker();
    double total = 0;
    int sure = 0;
    double *best = malloc((size_t)count * sizeof *best);
    sn_frame *frames = malloc((size_t)njoint * LOOKS * sizeof *frames);
    if (best == NULL || frames == NULL) {
        free(best), free(frames);
        return INFINITY;
    }
    for (int look = 0; look < LOOKS; look++) {
        (void)sn_workspace_pose(
            the.probe, sn_motion_frame(it.motion, (int)((double)look * (n - 1) / (LOOKS - 1))));
        for (int j = 0; j < njoint; j++)
            frames[look * njoint + j] = sn_workspace_frame(the.probe, j);
    }
    for (int m = 0; m < count; m++) {
        best[m] = INFINITY;
        it.joint[m] = -1;
        for (int j = 0; j < njoint; j++) {
            sn_vec3 sum = {0, 0, 0};
            double square = 0;
            int seen = 0;
            for (int look = 0; look < LOOKS; look++) {
                sn_vec3 p = measured(measured_at((double)look * (n - 1) / (LOOKS - 1)), m);
                if (!isfinite(p.x)) continue;
                const sn_frame *f = &frames[look * njoint + j];
                sn_vec3 l = m3_tmul(&f->R, v3_sub(p, f->p));
                sum = v3_add(sum, l);
                square += v3_dot(l, l);
                seen++;
            }
            if (seen < 8) continue;
            sn_vec3 mean = v3_scale(1.0 / seen, sum);
            double spread = square / seen - v3_dot(mean, mean);
            if (!(spread < best[m])) continue;
            best[m] = spread;
            it.joint[m] = j;
            it.local[3 * m] = mean.x, it.local[3 * m + 1] = mean.y, it.local[3 * m + 2] = mean.z;
        }
        // what moves more than 15 cm in every frame belongs to no joint
        if (!(best[m] < 0.15 * 0.15)) it.joint[m] = -1;
        if (it.joint[m] < 0) continue;
        total += sqrt(fmax(best[m], 0));
        sure++;
    }
    free(best);
    free(frames);
    return sure * 2 > count ? total / sure : INFINITY;
}

// The recording's axes against the motion's: of the three turns of x y z, the one in which the
// markers sit stillest on the joints.
static void attach_best(void) {
    static const int turns[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}};
    int best = 0;
    double least = INFINITY;
    for (int i = 0; i < 3; i++) {
        memcpy(it.axes, turns[i], sizeof it.axes);
        double error = attach();
        if (error < least) least = error, best = i;
    }
    memcpy(it.axes, turns[best], sizeof it.axes);
    (void)attach();
}

// The figure's own markers, by name; how many there are.
static int match_names(void) {
    int found = 0;
    for (int m = 0; m < nmarker(); m++) {
        const char *name = sn_label_name(sn_recording_label(it.recording, m));
        int own = sn_model_find_marker(the.base, name);
        it.joint[m] = -1;
        if (own < 0) continue;
        const sn_marker_desc *d = sn_model_marker(the.base, own);
        it.joint[m] = d->joint;
        memcpy(it.local + 3 * m, d->position, sizeof d->position);
        found++;
    }
    return found;
}

// A recording says which axis points up on a screen; else the one in which the markers lie highest
// above the floor for their spread: persons are taller than wide.
static void find_up(void) {
    static const int turns[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}};  // up is x y z's [1]
    const char *says = sn_recording_get_info(it.recording)->y_screen;
    int up = says[0] != '\0' ? says[1] - 'X' : -1;
    if (up < 0 || up > 2) {
        double most = -1;
        for (int c = 0; c < 3; c++) {
            double low = INFINITY, high = -INFINITY;
            const double *p = sn_recording_frame(it.recording, 0);
            for (int m = 0; m < nmarker(); m++)
                if (isfinite(p[3 * m + c]))
                    low = fmin(low, p[3 * m + c]), high = fmax(high, p[3 * m + c]);
            if (high - low > most) most = high - low, up = c;
        }
    }
    memcpy(it.axes, turns[up == 1 ? 0 : up == 2 ? 1 : 2], sizeof it.axes);
}

static sn_status allocate_markers(void) {
    size_t n = (size_t)nmarker() + 1;
    free(it.joint), free(it.local), free(it.places);
    it.joint = calloc(n, sizeof *it.joint);
    it.local = calloc(3 * n, sizeof *it.local);
    it.places = calloc(6 * n, sizeof *it.places);
    return it.joint != NULL && it.local != NULL && it.places != NULL ? SN_OK : SN_ERR_MEMORY;
}

// Nothing but markers: a motion to be filled by web_take_fit().
static sn_status prepare_fit(sn_error *error) {
    find_up();
    int found = match_names();
    if (found < 6) {
        set_message(error, "these markers are not on this figure: drop its skeleton and motion as "
                           "well, or a model with markers of the same names");
        return SN_ERR_VALUE;
    }
    sn_solver_options options = sn_solver_options_default();
    options.gradient = 1e-6;
    SN_TRY(sn_problem_create_markers(the.model, NULL, &it.problem, error));
    SN_TRY(sn_solver_create(it.problem, &options, NULL, &it.solver));
    return sn_motion_create(nmeasured(), sn_model_nq(the.base), 0,
                            sn_recording_get_info(it.recording)->rate, NULL, &it.motion);
}

sn_status take_motion(sn_motion *motion) {
    if (sn_motion_nq(motion) != sn_model_nq(the.base) || sn_motion_nframe(motion) < 1) {
        sn_motion_destroy(motion);
        return SN_ERR_VALUE;
    }
    sn_motion_destroy(it.motion);
    sn_solver_destroy(it.solver);
    sn_problem_destroy(it.problem);
    it.solver = NULL;
    it.problem = NULL;
    it.motion = motion;
    it.fitted = sn_motion_nframe(motion);
    if (it.recording != NULL) attach_best();
    return SN_OK;
}

sn_status take_recording(sn_recording *recording, sn_error *error) {
    take before = it;
    it.joint = NULL, it.local = NULL, it.places = NULL;
    it.recording = recording;
    bool fit_before = it.solver != NULL;
    if (fit_before) it.motion = NULL, it.solver = NULL, it.problem = NULL, it.fitted = 0;
    sn_status status = nmeasured() > 0 && nmarker() > 0 ? allocate_markers() : SN_ERR_VALUE;
    if (status == SN_ERR_VALUE) set_message(error, "there is no marker in this file");
    if (status == SN_OK && it.motion != NULL) attach_best();
    if (status == SN_OK && it.motion == NULL) status = prepare_fit(error);
    take drop = status == SN_OK ? before : it;
    // what is shared stays
    if (!fit_before && (status == SN_OK || drop.motion == before.motion)) drop.motion = NULL;
    if (!fit_before && status == SN_OK) drop.solver = NULL, drop.problem = NULL;
    sn_motion_destroy(drop.motion);
    sn_solver_destroy(drop.solver);
    sn_problem_destroy(drop.problem);
    sn_recording_destroy(drop.recording);
    free(drop.joint), free(drop.local), free(drop.places);
    if (status != SN_OK) it = before;
    return status;
}

// The markers of the figure towards those measured in this frame.
static void set_goals(int frame) {
    for (int t = 0; t < sn_problem_ntask(it.problem); t++)
        (void)sn_problem_set_missing(it.problem, t, true);
    for (int m = 0; m < nmarker(); m++) {
        int own =
            sn_model_find_marker(the.base, sn_label_name(sn_recording_label(it.recording, m)));
        sn_vec3 p = measured(frame, m);
        const double to[3] = {p.x, p.y, p.z};
        if (own >= 0 && isfinite(p.x)) (void)sn_problem_set_goal(it.problem, own, to);
    }
}

// The root under the markers' middle, for the first frame.
static void first_pose(double *q) {
    sn_vec3 sum = {0, 0, 0};
    int count = 0;
    memcpy(q, the.rest, (size_t)sn_model_nq(the.base) * sizeof *q);
    for (int t = 0; t < sn_problem_ntask(it.problem); t++) {
        if (!sn_problem_task_active(it.problem, t)) continue;
        sum = v3_add(sum, at(sn_problem_task(it.problem, t)->goal));
        count++;
    }
    const sn_joint *root = &the.model->joint[0];
    if (count == 0 || (root->type != SN_JOINT_FREE && root->type != SN_JOINT_TRANSLATION)) return;
    sn_vec3 local = m3_tmul(&root->offset.R, v3_sub(v3_scale(1.0 / count, sum), root->offset.p));
    q[root->q0] = local.x, q[root->q0 + 1] = local.y, q[root->q0 + 2] = local.z;
}

// Which way the person looks is not known: of four headings the one that fits best.
static void solve_first(double *q) {
    size_t bytes = (size_t)sn_model_nq(the.base) * sizeof *q;
    const sn_joint *root = &the.model->joint[0];
    double least = INFINITY;
    for (int turn = 0; turn < 4; turn++) {
        sn_report report;
        first_pose(the.again);
        sn_quat r = sn_quat_exp((sn_vec3){0, turn * 1.5707963267948966, 0});
        if (root->type == SN_JOINT_FREE) {
            const double wxyz[4] = {r.w, r.x, r.y, r.z};
            memcpy(the.again + root->q0 + 3, wxyz, sizeof wxyz);
        }
        if (sn_solver_solve(it.solver, the.again, &report) != SN_OK || !(report.f < least))
            continue;
        least = report.f;
        memcpy(q, the.again, bytes);
    }
}

int web_take_fit(int frames) {
    int n = web_take_frames();
    for (int i = 0; i < frames && it.fitted < n; i++, it.fitted++) {
        double *q = sn_motion_edit(it.motion, it.fitted);
        sn_report report;
        set_goals(it.fitted);
        if (it.fitted == 0) {
            solve_first(q);
            continue;
        }
        memcpy(q, sn_motion_frame(it.motion, it.fitted - 1),
               (size_t)sn_model_nq(the.base) * sizeof *q);
        (void)sn_solver_solve(it.solver, q, &report);
    }
    return it.fitted;
}

const float *web_take_places(double frame) {
    int k = measured_at(frame);
    (void)sn_workspace_pose(the.probe, the.q);
    for (int m = 0; m < nmarker(); m++) {
        sn_vec3 p = measured(k, m), f = {NAN, NAN, NAN};
        if (it.joint[m] >= 0) f = sn_workspace_point(the.probe, it.joint[m], it.local + 3 * m);
        const double all[6] = {p.x, p.y, p.z, f.x, f.y, f.z};
        for (int c = 0; c < 6; c++) it.places[6 * m + c] = (float)all[c];
    }
    return it.places;
}
