// SPDX-License-Identifier: MIT
// The orientations of sensors instead of markers: OpenSense's inverse kinematics.
//
//   S_i(t) = R_heading R_sensors quaternion_i(t)      a sensor in the model's world
//   B_i                                               its body's frame in the joint that carries it
//   O_i = (J_i(0) B_i)^T S_i(0)                       the sensor on its body, J_i(0) the joint at the defaults
//   J_i(t) = S_i(t) (B_i O_i)^T                       where the joint should be
//
// R_sensors turns about the x, y and z axes of space, in this order; R_heading about y, so that in the first row
// an axis of one sensor points where its body's x axis does, both seen from above.
#include <math.h>
#include <string.h>

#include "math/atan2.h"
#include "math/exp.h"
#include "math/rotation.h"
#include "math/vec3.h"
#include "sinew/files.h"
#include "take/fit.h"
#include "track/valleys.h"

enum { VERSION = 1 };

typedef struct sensor {
    char name[SN_MAX_LABEL + 1];
    int column;  // of its q0
    int joint;
    sn_mat3 on;  // B O: the sensor in the joint's frame
    double weight;
} sensor;

typedef struct imu {
    const sn_model *model;
    const sn_table *table;
    const sn_imu_options *options;
    sn_mat3 turn;  // R_heading R_sensors
    int first, count, nsensor;
    sensor *sensor;
    double *home, *lower, *upper;  // nq, nv, nv
} imu;

sn_imu_options sn_imu_options_default(void) {
    return (sn_imu_options){.version = VERSION,
                            .heading_axis = 2,
                            .heading_sign = 1,
                            .limits = SN_LIMITS_AUTO,
                            .threads = 1};
}

// The orientation in a row, turned; false when it is missing.
static bool sensor_at(const imu *m, const sn_table *table, int row, int column, sn_mat3 *out) {
    const double *q = sn_table_row(table, row) + column;
    double size = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (!(size > 1e-6) || !(size < 1e6)) return false;
    size = 1 / sqrt(size);
    sn_mat3 R = sn_mat3_from_quat((sn_quat){q[0] * size, q[1] * size, q[2] * size, q[3] * size});
    *out = m3_mulm(&m->turn, &R);
    return true;
}

// Whose column this is: "pelvis_imu" of "pelvis_imu.q0" and "/bodyset/pelvis/pelvis_imu.q0".
static bool sensor_name(const char *column, char out[SN_MAX_LABEL + 1]) {
    size_t n = strlen(column);
    const char *slash = strrchr(column, '/');
    if (n < 4 || strcmp(column + n - 3, ".q0") != 0) return false;
    const char *from = slash != NULL ? slash + 1 : column;
    n = (size_t)(column + n - 3 - from);
    if (n == 0 || n > SN_MAX_LABEL) return false;
    memcpy(out, from, n);
    out[n] = '\0';
    return true;
}

// The body that a sensor's name means: BODY_imu, or the name itself.
static int find_body(const imu *m, const char *name, sn_frame *at) {
    char body[SN_MAX_LABEL + 1];
    (void)memcpy(body, name, strlen(name) + 1);
    char *end = strstr(body, "_imu");
    if (end != NULL) *end = '\0';
    return sn_osim_frame_find(m->options->coordinates, body, at);
}

static sn_mat3 turn_of(const double angles[3]) {
    sn_mat3 R = m3_identity();
    for (int i = 0; i < 3; i++) {
        sn_mat3 about = sn_mat3_from_quat(sn_quat_exp(v3_scale(angles[i], v3_unit(i))));
        R = m3_mulm(&about, &R);
    }
    return R;
}

static double weight_of(const sn_ik_setup *setup, const char *name) {
    for (int i = 0; setup != NULL && i < sn_ik_setup_about(setup)->ntask; i++) {
        const sn_ik_task *k = sn_ik_setup_task(setup, i);
        if (strcmp(k->name, name) == 0) return k->apply ? k->weight : 0;
    }
    return 1;
}

// --- before the frames -----------------------------------------------------------------------------------

static void add_name(char *list, size_t room, const char *name) {
    size_t used = strlen(list);
    if (used + strlen(name) + 3 > room) return;
    if (used > 0) list[used++] = ',', list[used++] = ' ';
    memcpy(list + used, name, strlen(name) + 1);
}

static sn_status find_rows(imu *m, sn_error *error) {
    const sn_table_info *info = sn_table_about(m->table);
    const sn_ik_setup_info *s =
        m->options->setup != NULL ? sn_ik_setup_about(m->options->setup) : NULL;
    int first = 0, last = info->nrow - 1;
    if (info->nrow == 0 || info->time < 0)
        return sn_fail(error, SN_ERR_VALUE, 0, "the orientations have no rows, or no time");
    double step = info->nrow > 1 ? sn_table_row(m->table, 1)[info->time] -
                                       sn_table_row(m->table, 0)[info->time]
                                 : 0;
    while (s != NULL && first < last &&
           sn_table_row(m->table, first)[info->time] < s->first_time - 0.5 * step)
        first++;
    while (s != NULL && last > first &&
           sn_table_row(m->table, last)[info->time] > s->last_time + 0.5 * step)
        last--;
    double from = sn_table_row(m->table, first)[info->time];
    if (s != NULL && (from < s->first_time - 0.5 * step || from > s->last_time + 0.5 * step))
        return sn_fail(error, SN_ERR_VALUE, s->time_line,
                       "<time_range> is %g to %g s, and no row of the orientations is in it",
                       s->first_time, s->last_time);
    m->first = first;
    m->count = last - first + 1;
    return SN_OK;
}

// Turn all sensors about the vertical.
static sn_status correct_heading(imu *m, const sn_fit_place *at, const sn_table *table,
                                 sn_error *error) {
    const sn_imu_options *o = m->options;
    if (o->heading == NULL) return SN_OK;
    for (int c = 0; c < sn_table_about(table)->ncolumn; c++) {
        char name[SN_MAX_LABEL + 1];
        sn_mat3 S;
        sn_frame on;
        if (!sensor_name(sn_table_column(table, c), name) || strcmp(name, o->heading) != 0)
            continue;
        int joint = find_body(m, name, &on);
        if (joint < 0 || !sensor_at(m, table, 0, c, &S)) break;
        sn_mat3 J = sn_workspace_frame(at->workspace, joint).R, B = m3_mulm(&J, &on.R);
        sn_vec3 points = v3_scale(o->heading_sign, S.c[o->heading_axis]), x = B.c[0];
        if (sn_hypot(points.x, points.z) < 1e-6 || sn_hypot(x.x, x.z) < 1e-6)
            return sn_fail(error, SN_ERR_VALUE, 0, "the heading of %.60s points up or down", name);
        // a turn by a about y takes (z, x) by a, too
        double a = sn_atan2(x.x, x.z) - sn_atan2(points.x, points.z);
        const double angles[3] = {0, a, 0};
        sn_mat3 R = turn_of(angles);
        m->turn = m3_mulm(&R, &m->turn);
        return SN_OK;
    }
    return sn_fail(error, SN_ERR_VALUE, 0,
                   "the heading's sensor \"%.60s\" is not among the orientations, or on no body",
                   o->heading);
}

static sn_status place_sensors(imu *m, sn_imu_report *report, const sn_allocator *allocator,
                               sn_error *error) {
    const sn_table *placed = m->options->placement != NULL ? m->options->placement : m->table;
    sn_fit_place at;
    sn_status status = sn_fit_place_open(&at, m->model, allocator);
    if (status == SN_OK) status = sn_workspace_pose(at.workspace, m->home);
    if (status == SN_OK) status = correct_heading(m, &at, placed, error);
    for (int c = 0; status == SN_OK && c < sn_table_about(m->table)->ncolumn; c++) {
        sensor s = {.column = c};
        sn_frame on;
        sn_mat3 first;
        if (!sensor_name(sn_table_column(m->table, c), s.name)) continue;
        s.weight = weight_of(m->options->setup, s.name);
        int at_placement = sn_table_find(placed, sn_table_column(m->table, c));
        int body = find_body(m, s.name, &on);
        // a frame of the sensor's own name says how it sits
        bool registered = strstr(s.name, "_imu") != NULL;
        sn_frame own;
        s.joint = registered ? sn_osim_frame_find(m->options->coordinates, s.name, &own) : -1;
        if (s.joint >= 0) {
            s.on = own.R;
        } else if (body >= 0 && at_placement >= 0 &&
                   sensor_at(m, placed, 0, at_placement, &first)) {
            sn_mat3 J = sn_workspace_frame(at.workspace, body).R;
            s.joint = body;
            // B O = B (J B)^T S = J^T S
            J = m3_transpose(&J);
            s.on = m3_mulm(&J, &first);
        }
        if (s.joint < 0) {
            add_name(report->unknown, sizeof report->unknown, s.name);
        } else if (s.weight > 0) {
            m->sensor[m->nsensor++] = s;
        }
    }
    sn_fit_place_close(&at, allocator);
    if (status == SN_ERR_MEMORY) return sn_fail_memory(error);
    SN_TRY(status);
    if (m->nsensor > 0) return SN_OK;
    return sn_fail(error, SN_ERR_VALUE, 0,
                   "no sensor sits on a body of the model: columns are named BODY_imu");
}

static void find_home(imu *m) {
    const sn_osim_coordinates *list = m->options->coordinates;
    sn_model_zero(m->model, m->home);
    for (int v = 0; v < sn_model_nv(m->model); v++) m->lower[v] = -INFINITY, m->upper[v] = INFINITY;
    for (int i = 0; i < sn_osim_coordinates_count(list); i++) {
        const sn_osim_coordinate_info *c = sn_osim_coordinate_at(list, i);
        if (c->at.joint < 0 || c->at.joint >= sn_model_njoint(m->model)) continue;
        int v = sn_model_v_index(m->model, c->at.joint) + c->at.index;
        m->home[sn_model_q_index(m->model, c->at.joint) + c->at.index] = c->value;
        m->lower[v] = c->lower, m->upper[v] = c->upper;
    }
    sn_model_follow(m->model, m->home);
}

// --- frames ----------------------------------------------------------------------------------------------

// Prescribed coordinates, where they are at a row's time.
static void hold_prescribed(const imu *m, int frame, sn_problem *problem) {
    const sn_osim_coordinates *list = m->options->coordinates;
    double time = sn_table_row(m->table, m->first + frame)[sn_table_about(m->table)->time];
    for (int i = 0; i < sn_osim_coordinates_count(list); i++) {
        const sn_osim_coordinate_info *c = sn_osim_coordinate_at(list, i);
        if (!c->prescribed || c->at.joint < 0) continue;
        double x = sn_osim_prescribed(list, i, time);
        (void)sn_problem_set_limits(problem, c->at.joint, c->at.index, x, x);
    }
}

static sn_status set_goals(void *user, int frame, sn_problem *problem) {
    const imu *m = user;
    double sum = 0;
    hold_prescribed(m, frame, problem);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < m->nsensor; i++) {
            const sensor *s = &m->sensor[i];
            sn_mat3 S;
            bool seen = sensor_at(m, m->table, m->first + frame, s->column, &S);
            if (pass == 0) {
                sum += seen ? s->weight : 0;
                continue;
            }
            SN_TRY(sn_problem_set_missing(problem, i, !seen));
            if (!seen) continue;
            sn_mat3 back = m3_transpose(&s->on), J = m3_mulm(&S, &back);
            sn_quat q = sn_quat_from_mat3(J);
            const double wxyz[4] = {q.w, q.x, q.y, q.z};
            SN_TRY(sn_problem_set_rotation(problem, i, wxyz));
            SN_TRY(sn_problem_set_weight(problem, i, s->weight / sum));
        }
    }
    return SN_OK;
}

static sn_status measure(const imu *m, sn_problem *problem, const sn_motion *motion,
                         const sn_allocator *allocator, sn_imu_report *report) {
    sn_workspace *ws = NULL;
    double sum = 0, f;
    long n = 0;
    SN_TRY(sn_workspace_create(problem, false, allocator, &ws, NULL));
    sn_status status = SN_OK;
    for (int k = 0; status == SN_OK && k < m->count; k++) {
        status = set_goals((void *)(uintptr_t)m, k, problem);
        if (status == SN_OK) status = sn_workspace_eval(ws, sn_motion_frame(motion, k), 0, &f);
        for (int i = 0; status == SN_OK && i < m->nsensor; i++) {
            if (!sn_problem_task_active(problem, i)) continue;
            double e = sn_workspace_task_error(ws, i);
            sum += e * e;
            n++;
            if (e <= report->worst) continue;
            report->worst = e;
            report->worst_frame = k;
            memcpy(report->worst_sensor, m->sensor[i].name, sizeof report->worst_sensor);
        }
    }
    if (n > 0) report->rms = sqrt(sum / (double)n);
    sn_workspace_destroy(ws);
    return status;
}

static void free_limits(const sn_model *model, sn_problem *problem) {
    for (int j = 0; j < sn_model_njoint(model); j++)
        for (int k = 0; k < sn_model_joint_nv(model, j); k++)
            (void)sn_problem_set_limits(problem, j, k, -INFINITY, INFINITY);
}

static sn_status solve(imu *m, const sn_allocator *allocator, sn_motion *motion,
                       sn_imu_report *report, sn_error *error) {
    const sn_imu_options *o = m->options;
    sn_task *tasks = sn_acquire(allocator, ((size_t)m->nsensor + 1) * sizeof *tasks);
    sn_problem *problem = NULL;
    sn_tracker *tracker = NULL;
    sn_track_options track = sn_track_options_default();
    double accuracy = o->setup != NULL ? sn_ik_setup_about(o->setup)->accuracy : 1e-5;
    if (tasks == NULL) return sn_fail_memory(error);
    for (int i = 0; i < m->nsensor; i++) {
        tasks[i] = sn_task_default(SN_TASK_ORIENTATION);
        tasks[i].joint = m->sensor[i].joint;
    }
    track.rest = 0;
    track.restarts = 0;
    track.threads = o->threads;
    track.solver.gradient = fmin(fmax(accuracy, 1e-12), 1e-4);
    track.solver.max_iterations = 100;
    track.solver.cancel = o->cancel;
    double rate = fmin(sn_motion_rate(motion), 1e6);
    sn_valley_options valleys = {.solver = track.solver,
                                 .home = m->home,
                                 .lower = m->lower,
                                 .upper = m->upper,
                                 .every = rate > 2 ? (int)(rate / 2) : 30,
                                 .lower_by = 1e-7,
                                 .seeds = 5,
                                 .threads = o->threads,
                                 .cancel = o->cancel};
    double *start = sn_acquire(allocator, ((size_t)sn_model_nq(m->model) + 1) * sizeof *start);
    sn_status status = start == NULL ? sn_fail_memory(error) : SN_OK;
    if (status == SN_OK)
        status = sn_problem_create(m->model, tasks, m->nsensor, allocator, &problem, error);
    if (status == SN_OK && o->limits == SN_LIMITS_OFF) free_limits(m->model, problem);
    if (status == SN_OK)
        status = sn_valley_first(problem, &valleys, set_goals, m, 0, allocator, start);
    if (status == SN_OK) status = sn_tracker_create(problem, &track, allocator, &tracker, error);
    if (status == SN_OK)
        status =
            sn_tracker_run(tracker, m->count, set_goals, m, start, sn_motion_edit(motion, 0), NULL);
    if (status == SN_OK)
        status = sn_track_valleys(problem, &valleys, m->count, set_goals, m, allocator,
                                  sn_motion_edit(motion, 0), NULL);
    if (status == SN_OK && sn_cancelled(o->cancel)) status = SN_ERR_CANCELLED;
    if (status == SN_OK) status = measure(m, problem, motion, allocator, report);
    sn_tracker_destroy(tracker);
    sn_problem_destroy(problem);
    sn_release(allocator, start);
    sn_release(allocator, tasks);
    return status;
}

// --- all of it -------------------------------------------------------------------------------------------

static const char *wrong(const sn_imu_options *o) {
    if (o->version != VERSION) return "version: start from sn_imu_options_default()";
    if (o->coordinates == NULL) return "coordinates: those of the model's file are needed";
    if (o->heading_axis < 0 || o->heading_axis > 2) return "heading_axis: 0, 1 or 2";
    if (o->heading_sign != 1 && o->heading_sign != -1) return "heading_sign: 1 or -1";
    if ((unsigned)o->limits > SN_LIMITS_AUTO || o->limits == SN_LIMITS_SOFT) return "limits";
    if (o->threads < 1 || o->threads > 256) return "threads: 1 to 256";
    return NULL;
}

sn_status sn_imu_fit(const sn_model *model, const sn_table *orientations,
                     const sn_imu_options *options, const sn_allocator *allocator, sn_motion **out,
                     sn_imu_report *report, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(model, error);
    SN_NEED(orientations, error);
    SN_NEED(options, error);
    SN_NEED(out, error);
    sn_imu_report spare = {0}, *r = report != NULL ? report : &spare;
    *r = (sn_imu_report){0};
    const char *bad = wrong(options);
    if (bad != NULL)
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "this option is out of range: %s", bad);
    size_t nq = (size_t)sn_model_nq(model), nv = (size_t)sn_model_nv(model);
    size_t ncolumn = (size_t)sn_table_about(orientations)->ncolumn;
    imu m = {.table = orientations, .options = options, .turn = m3_identity()};
    sn_motion *motion = NULL;
    if (options->setup != NULL)
        m.turn = turn_of(sn_ik_setup_about(options->setup)->sensor_rotation);
    m.home = sn_acquire(allocator, (nq + 2 * nv + 1) * sizeof *m.home);
    m.sensor = sn_acquire(allocator, (ncolumn + 1) * sizeof *m.sensor);
    sn_status status = m.home == NULL || m.sensor == NULL ? sn_fail_memory(error) : SN_OK;
    if (status == SN_OK) {
        m.model = model;
        m.lower = m.home + nq;
        m.upper = m.lower + nv;
        find_home(&m);
        status = find_rows(&m, error);
    }
    if (status == SN_OK) status = place_sensors(&m, r, allocator, error);
    if (status == SN_OK)
        status = sn_motion_create(m.count, (int)nq, 1, sn_table_rate(orientations), allocator,
                                  &motion, error);
    if (status == SN_OK) {
        int time = sn_table_about(orientations)->time;
        sn_motion_set_time_offset(motion, sn_table_row(orientations, m.first)[time]);
        r->sensors = m.nsensor;
        r->first = m.first;
        r->count = m.count;
        status = solve(&m, allocator, motion, r, error);
        if (status != SN_OK && error != NULL && error->text[0] == '\0')
            (void)sn_fail(error, status, 0, "%s", sn_status_text(status));
    }
    if (status == SN_OK)
        *out = motion;
    else
        sn_motion_destroy(motion);
    sn_release(allocator, m.sensor);
    sn_release(allocator, m.home);
    return status;
}
