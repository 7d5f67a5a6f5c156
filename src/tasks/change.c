// SPDX-License-Identifier: MIT
// Changing the tasks of a problem: goals, weights and switches. Nothing here allocates.
#include <string.h>

#include "math/unit.h"
#include "tasks/check.h"
#include "tasks/problem.h"

static bool is_task(const sn_problem *problem, int task) {
    return task >= 0 && task < problem->ntask;
}

static sn_task_type type_of(const sn_problem *problem, int task) {
    return problem->task[task].type;
}

// Has it a goal of three numbers?
static bool has_goal(sn_task_type type) {
    return type != SN_TASK_ORIENTATION && type != SN_TASK_REST && type != SN_TASK_LIMIT &&
           type != SN_TASK_RELATIVE_ORIENTATION && type != SN_TASK_DISTANCE &&
           (type < SN_TASK_POSTURE || type == SN_TASK_HALF_SPACE);
}

static bool has_local(sn_task_type type) {
    return type != SN_TASK_ORIENTATION && type != SN_TASK_REST && type != SN_TASK_LIMIT &&
           type != SN_TASK_RELATIVE_ORIENTATION &&
           (type < SN_TASK_CENTRE_OF_MASS || type == SN_TASK_HALF_SPACE);
}

static bool has_local2(sn_task_type type) {
    return type == SN_TASK_RELATIVE || type == SN_TASK_RELATIVE_POSE || type == SN_TASK_DISTANCE ||
           type == SN_TASK_LOOK_AT;
}

static bool has_rotation(sn_task_type type) {
    return type == SN_TASK_ORIENTATION || type == SN_TASK_POSE || type == SN_TASK_FRAME2 ||
           type == SN_TASK_RELATIVE_ORIENTATION || type == SN_TASK_RELATIVE_POSE;
}

sn_status sn_problem_set_goal(sn_problem *problem, int task, const double goal[3]) {
    if (problem == NULL || goal == NULL) return SN_ERR_ARGUMENT;
    if (!is_task(problem, task)) return SN_ERR_ARGUMENT;
    sn_task *t = &problem->task[task];
    if (!has_goal(t->type)) return SN_ERR_ARGUMENT;
    double unit[3];
    if (!sn_task_numbers(goal, 3)) return SN_ERR_VALUE;
    if (t->type == SN_TASK_DIRECTION && !sn_unit(goal, 3, unit)) return SN_ERR_VALUE;
    memcpy(t->type == SN_TASK_LOOK_AT ? t->local2 : t->goal, goal, sizeof t->goal);
    problem->parts[task].missing = false;
    sn_problem_refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_local(sn_problem *problem, int task, const double local[3]) {
    if (problem == NULL || local == NULL) return SN_ERR_ARGUMENT;
    if (!is_task(problem, task)) return SN_ERR_ARGUMENT;
    sn_task *t = &problem->task[task];
    if (!has_local(t->type)) return SN_ERR_ARGUMENT;
    double unit[3];
    if (!sn_task_numbers(local, 3)) return SN_ERR_VALUE;
    if (t->type == SN_TASK_DIRECTION && !sn_unit(local, 3, unit)) return SN_ERR_VALUE;
    memcpy(t->local, local, sizeof t->local);
    sn_problem_refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_local2(sn_problem *problem, int task, const double local2[3]) {
    if (problem == NULL || local2 == NULL) return SN_ERR_ARGUMENT;
    if (!is_task(problem, task) || !has_local2(type_of(problem, task))) return SN_ERR_ARGUMENT;
    if (!sn_task_numbers(local2, 3)) return SN_ERR_VALUE;
    memcpy(problem->task[task].local2, local2, sizeof problem->task[task].local2);
    sn_problem_refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_axis(sn_problem *problem, int task, const double axis[3]) {
    if (problem == NULL || axis == NULL || !is_task(problem, task)) return SN_ERR_ARGUMENT;
    sn_task *t = &problem->task[task];
    bool plane =
        t->type == SN_TASK_PLANE || t->type == SN_TASK_HALF_SPACE || t->type == SN_TASK_SUPPORT;
    if (!plane && t->type != SN_TASK_LINE && t->type != SN_TASK_LOOK_AT) return SN_ERR_ARGUMENT;
    double unit[3];
    if (!sn_unit(axis, 3, unit)) return SN_ERR_VALUE;
    memcpy(plane ? t->normal : t->axis, axis, sizeof t->axis);
    sn_problem_refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_distance(sn_problem *problem, int task, double distance) {
    if (problem == NULL || !is_task(problem, task)) return SN_ERR_ARGUMENT;
    const sn_task *t = &problem->task[task];
    if (t->type != SN_TASK_DISTANCE && !sn_task_is_guard(t)) return SN_ERR_ARGUMENT;
    bool either = t->type == SN_TASK_HALF_SPACE || t->type == SN_TASK_SUPPORT;
    if (!(fabs(distance) <= SN_MAX_NUMBER) || (distance < 0 && !either)) return SN_ERR_VALUE;
    problem->task[task].distance = distance;
    problem->parts[task].missing = false;
    sn_problem_refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_corners(sn_problem *problem, int task, const double *corners,
                                 int ncorner) {
    if (problem == NULL || corners == NULL || !is_task(problem, task)) return SN_ERR_ARGUMENT;
    sn_task *t = &problem->task[task];
    if (t->type != SN_TASK_SUPPORT) return SN_ERR_ARGUMENT;
    int room = problem->guards->first[task + 1] - problem->guards->first[task];
    if (ncorner > room) return SN_ERR_SIZE;
    sn_task other = *t;
    other.corners = corners;
    other.ncorner = ncorner;
    if (sn_guard_check(problem->model, &other) != NULL) return SN_ERR_VALUE;
    double *to = problem->guards->corners + 3 * problem->guards->first[task];
    memmove(to, corners, 3 * (size_t)ncorner * sizeof *to);
    t->corners = to;
    t->ncorner = ncorner;
    problem->parts[task].missing = false;
    sn_problem_refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_rotation(sn_problem *problem, int task, const double wxyz[4]) {
    if (problem == NULL || wxyz == NULL) return SN_ERR_ARGUMENT;
    if (!is_task(problem, task)) return SN_ERR_ARGUMENT;
    sn_task *t = &problem->task[task];
    if (!has_rotation(t->type)) return SN_ERR_ARGUMENT;
    double unit[4];
    if (!sn_unit(wxyz, 4, unit)) return SN_ERR_VALUE;
    memcpy(t->rotation, wxyz, sizeof t->rotation);
    sn_mat3 R = sn_mat3_from_quat((sn_quat){unit[0], unit[1], unit[2], unit[3]});
    memcpy(t->i, &R.c[0], sizeof t->i);
    memcpy(t->j, &R.c[1], sizeof t->j);
    problem->parts[task].missing = false;
    sn_problem_refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_rest(sn_problem *problem, int task, const double *q) {
    if (problem == NULL || q == NULL) return SN_ERR_ARGUMENT;
    if (!is_task(problem, task)) return SN_ERR_ARGUMENT;
    const sn_task_parts *at = &problem->parts[task];
    if (at->rest < 0 && at->posture < 0) return SN_ERR_ARGUMENT;
    SN_TRY(sn_model_check_pose(problem->model, q, NULL));
    double *to = at->rest >= 0 ? problem->rest[at->rest].q : problem->posture[at->posture].q;
    memcpy(to, q, (size_t)problem->model->nq * sizeof *q);
    sn_model_normalize_quaternions(problem->model, to);
    sn_problem_refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_rest_weights(sn_problem *problem, int task, const double *weights) {
    if (problem == NULL || weights == NULL) return SN_ERR_ARGUMENT;
    if (!is_task(problem, task) || problem->task[task].type != SN_TASK_REST) return SN_ERR_ARGUMENT;
    size_t nv = (size_t)problem->model->nv;
    for (size_t v = 0; v < nv; v++)
        if (!(weights[v] >= 0) || weights[v] > SN_MAX_NUMBER) return SN_ERR_VALUE;
    memcpy(problem->rest[problem->parts[task].rest].q_weight, weights, nv * sizeof *weights);
    return SN_OK;
}

sn_status sn_problem_set_weight(sn_problem *problem, int task, double weight) {
    if (problem == NULL) return SN_ERR_ARGUMENT;
    if (!is_task(problem, task)) return SN_ERR_ARGUMENT;
    if (!(weight >= 0) || weight > SN_MAX_NUMBER) return SN_ERR_VALUE;
    problem->task[task].weight = weight;
    sn_problem_refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_rotation_weight(sn_problem *problem, int task, double weight) {
    if (problem == NULL || !is_task(problem, task)) return SN_ERR_ARGUMENT;
    sn_task_type type = type_of(problem, task);
    if (type != SN_TASK_POSE && type != SN_TASK_FRAME2 && type != SN_TASK_RELATIVE_POSE)
        return SN_ERR_ARGUMENT;
    if (!(weight >= 0) || weight > SN_MAX_NUMBER) return SN_ERR_VALUE;
    problem->task[task].rotation_weight = weight;
    sn_problem_refresh(problem, task);
    return SN_OK;
}

static sn_status set_matrix(sn_problem *problem, int task, bool rotation, const double matrix[9]) {
    if (problem == NULL || matrix == NULL || !is_task(problem, task)) return SN_ERR_ARGUMENT;
    sn_task *t = &problem->task[task];
    if (!(rotation ? t->has_rotation_matrix : t->has_matrix)) return SN_ERR_ARGUMENT;
    if (!sn_task_semidefinite(matrix, 3)) return SN_ERR_VALUE;
    memcpy(rotation ? t->rotation_matrix : t->matrix, matrix, sizeof t->matrix);
    sn_problem_refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_matrix(sn_problem *problem, int task, const double matrix[9]) {
    return set_matrix(problem, task, false, matrix);
}

sn_status sn_problem_set_rotation_matrix(sn_problem *problem, int task, const double matrix[9]) {
    return set_matrix(problem, task, true, matrix);
}

sn_status sn_problem_set_coupling(sn_problem *problem, int task, const double *coupling) {
    if (problem == NULL || coupling == NULL || !is_task(problem, task)) return SN_ERR_ARGUMENT;
    if (type_of(problem, task) != SN_TASK_COUPLED) return SN_ERR_ARGUMENT;
    sn_tied *tied = &problem->tied[problem->parts[task].tied];
    if (!sn_task_semidefinite(coupling, tied->nr)) return SN_ERR_VALUE;
    // the task's copy is the problem's own
    memcpy((double *)problem->task[task].coupling, coupling,
           (size_t)tied->nr * (size_t)tied->nr * sizeof *coupling);
    sn_problem_refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_masses(sn_problem *problem, int task, const double *masses) {
    if (problem == NULL || masses == NULL || !is_task(problem, task)) return SN_ERR_ARGUMENT;
    if (type_of(problem, task) != SN_TASK_CENTRE_OF_MASS) return SN_ERR_ARGUMENT;
    const sn_atom *atom = &problem->atom[problem->tied[problem->parts[task].tied].atom];
    if (!sn_task_masses(masses, atom->nleg)) return SN_ERR_VALUE;
    memcpy((double *)problem->task[task].masses, masses, (size_t)atom->nleg * sizeof *masses);
    sn_problem_refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_level(sn_problem *problem, int task, int level) {
    if (problem == NULL) return SN_ERR_ARGUMENT;
    if (!is_task(problem, task)) return SN_ERR_ARGUMENT;
    if (!sn_level_fits(level)) return SN_ERR_VALUE;
    problem->task[task].level = level;
    return SN_OK;
}

sn_status sn_problem_set_loss(sn_problem *problem, int task, sn_loss loss, double scale) {
    if (problem == NULL) return SN_ERR_ARGUMENT;
    if (!is_task(problem, task)) return SN_ERR_ARGUMENT;
    sn_task *t = &problem->task[task];
    if ((unsigned)loss >= SN_LOSS_COUNT) return SN_ERR_ARGUMENT;
    bool point = problem->parts[task].point >= 0 && t->type == SN_TASK_POINT;
    bool tied = problem->parts[task].ntied == 1 && t->type < SN_TASK_POSTURE;
    if (!point && !tied) return SN_ERR_ARGUMENT;
    if (loss != SN_LOSS_NONE && !sn_loss_scale_fits(scale)) return SN_ERR_VALUE;
    t->loss = loss;
    t->loss_scale = scale;
    sn_problem_refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_enabled(sn_problem *problem, int task, bool enabled) {
    if (problem == NULL) return SN_ERR_ARGUMENT;
    if (!is_task(problem, task)) return SN_ERR_ARGUMENT;
    problem->parts[task].enabled = enabled;
    sn_problem_refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_missing(sn_problem *problem, int task, bool missing) {
    if (problem == NULL) return SN_ERR_ARGUMENT;
    if (!is_task(problem, task)) return SN_ERR_ARGUMENT;
    problem->parts[task].missing = missing;
    sn_problem_refresh(problem, task);
    return SN_OK;
}
