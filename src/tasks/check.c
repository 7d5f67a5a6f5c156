// SPDX-License-Identifier: MIT
#include "tasks/check.h"

#include <math.h>

#include "math/unit.h"
#include "tasks/problem.h"

bool sn_task_numbers(const double *x, int n) {
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i]) <= SN_MAX_NUMBER)) return false;
    return true;
}

bool sn_loss_scale_fits(double scale) {
    return scale >= 1 / SN_MAX_NUMBER && scale <= SN_MAX_NUMBER;
}

bool sn_level_fits(int level) { return level >= 0 && level < SN_MAX_LEVELS; }

static bool is_weight(double w) { return w >= 0 && w <= SN_MAX_NUMBER; }

// Column by column, Cholesky's method without square roots, the largest pivot first: what is left
// behind a pivot must stay a matrix whose diagonal bounds it.
bool sn_task_semidefinite(const double *m, int n) {
    double scale = 0;
    if (!sn_task_numbers(m, n * n)) return false;
    for (int i = 0; i < n * n; i++) scale = fmax(scale, fabs(m[i]));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (m[i + n * j] != m[j + n * i]) return false;
    if (scale == 0) return true;
    double L[SN_MAX_COUPLING][SN_MAX_COUPLING], d[SN_MAX_COUPLING];
    bool done[SN_MAX_COUPLING] = {false};
    if (n > SN_MAX_COUPLING) return false;
    for (int k = 0; k < n; k++) {
        int top = -1;
        double most = 0;
        for (int i = 0; i < n; i++) {
            if (done[i]) continue;
            double left = m[i + n * i] / scale;
            for (int p = 0; p < k; p++) left -= L[i][p] * L[i][p] * d[p];
            if (left < -1e-12) return false;
            if (top < 0 || left > most) top = i, most = left;
        }
        for (int i = 0; i < n; i++) {
            if (done[i]) continue;
            double left = m[i + n * top] / scale;
            for (int p = 0; p < k; p++) left -= L[i][p] * L[top][p] * d[p];
            // no pivot is left: neither may be anything beside the diagonal
            if (most <= 1e-13) {
                for (int j = 0; j < n; j++) {
                    if (done[j]) continue;
                    double rest = m[i + n * j] / scale;
                    for (int p = 0; p < k; p++) rest -= L[i][p] * L[j][p] * d[p];
                    if (fabs(rest) > 1e-6) return false;
                }
                continue;
            }
            L[i][k] = left / most;
        }
        if (most <= 1e-13) return true;
        d[k] = most;
        done[top] = true;
    }
    return true;
}

bool sn_task_masses(const double *masses, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (!is_weight(masses[i])) return false;
        sum += masses[i];
    }
    return sum > 0 && sum <= SN_MAX_NUMBER;
}

static const char *check_rest(const sn_model *model, const sn_task *t) {
    if (t->q == NULL) return "it has no pose q";
    if (sn_model_check_pose(model, t->q, NULL) != SN_OK)
        return "q is not a finite pose: a number or a quaternion of it is none";
    for (int i = 0; t->q_weight != NULL && i < sn_model_nv(model); i++)
        if (!is_weight(t->q_weight[i])) return "a weight is negative or not finite";
    return NULL;
}

static const char *check_limits(const sn_model *model, const sn_task *t) {
    if ((t->lower == NULL) != (t->upper == NULL)) return "it has lower limits or upper ones only";
    for (int i = 0; i < sn_model_nv(model); i++) {
        if (t->lower != NULL && !(t->lower[i] <= t->upper[i]))
            return "a lower limit is above the upper";
        if (t->q_weight != NULL && !is_weight(t->q_weight[i]))
            return "a weight is negative or not finite";
    }
    return NULL;
}

static const char *check_loss(const sn_task *t) {
    if (t->loss == SN_LOSS_NONE) return NULL;
    if ((unsigned)t->loss >= SN_LOSS_COUNT) return "unknown loss";
    if (sn_task_residuals(t) == 0 || sn_task_residuals(t) > 3)
        return "a task with two weights, on coordinates, coupled or one's own has no loss";
    return sn_loss_scale_fits(t->loss_scale) ? NULL
                                             : "a loss needs a loss_scale, from 1e-50 to 1e50";
}

static const char *check_joints(const sn_model *model, const sn_task *t) {
    if (t->joints == NULL) return NULL;
    if (t->njoint <= 0 || t->njoint > sn_model_njoint(model))
        return "its joints are none or too many";
    for (int i = 0; i < t->njoint; i++)
        if (t->joints[i] < 0 || t->joints[i] >= sn_model_njoint(model))
            return "one of its joints does not exist";
    for (int i = 0; i < t->njoint; i++)
        for (int k = 0; k < i; k++)
            if (t->joints[i] == t->joints[k]) return "it names a joint twice";
    return NULL;
}

static const char *check_centre(const sn_model *model, const sn_task *t) {
    const char *what = check_joints(model, t);
    if (what != NULL) return what;
    if (!sn_task_numbers(t->goal, 3)) return "its goal is not finite or over 1e50";
    int n = t->joints != NULL ? t->njoint : sn_model_njoint(model);
    if (t->centres != NULL && !sn_task_numbers(t->centres, 3 * n))
        return "a centre is not finite or over 1e50";
    if (t->masses != NULL)
        return sn_task_masses(t->masses, n) ? NULL : "its masses are negative or add up to nothing";
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += sn_model_joint(model, t->joints != NULL ? t->joints[i] : i)->mass;
    return sum > 0 ? NULL : "the model gives these joints no mass: give \"masses\"";
}

static const char *check_own(const sn_model *model, const sn_task *t) {
    if (t->own.value == NULL) return "it has no function own.value";
    if (t->joints == NULL || t->njoint <= 0) return "it names no joints";
    if (t->njoint > SN_MAX_OWN_JOINTS) return "it has more than 8 joints";
    return check_joints(model, t);
}

static const char *check_matrices(const sn_task *t) {
    bool pose = t->type == SN_TASK_POSE || t->type == SN_TASK_RELATIVE_POSE;
    if (t->has_matrix) {
        if (!pose && sn_task_residuals(t) != 3)
            return "a weight matrix is for residuals of three numbers";
        if (!sn_task_semidefinite(t->matrix, 3))
            return "the weight matrix must be symmetric, positive semidefinite and finite";
    }
    if (!t->has_rotation_matrix) return NULL;
    if (!pose) return "rotation_matrix is for poses";
    return sn_task_semidefinite(t->rotation_matrix, 3)
               ? NULL
               : "rotation_matrix must be symmetric, positive semidefinite and finite";
}

// Tasks between a joint and another, or the world.
static const char *check_pair(const sn_model *model, const sn_task *t) {
    double unit[4];
    bool relative = t->type == SN_TASK_RELATIVE || t->type == SN_TASK_RELATIVE_ORIENTATION ||
                    t->type == SN_TASK_RELATIVE_POSE;
    if (t->joint2 < (relative ? 0 : -1) || t->joint2 >= sn_model_njoint(model))
        return "its joint2 does not exist";
    if (!sn_task_numbers(t->local2, 3)) return "local2 is not finite or over 1e50";
    if ((t->type == SN_TASK_LOOK_AT || t->type == SN_TASK_LINE) && !sn_unit(t->axis, 3, unit))
        return "axis is zero or not finite";
    if (t->type == SN_TASK_DISTANCE && !is_weight(t->distance))
        return "distance is negative, not finite or over 1e50";
    if ((t->type == SN_TASK_RELATIVE_ORIENTATION || t->type == SN_TASK_RELATIVE_POSE) &&
        !sn_unit(t->rotation, 4, unit))
        return "rotation is zero or not finite";
    return NULL;
}

static const char *what_is_wrong(const sn_model *model, const sn_task *t) {
    double unit[4];
    bool rotates =
        t->type == SN_TASK_POSE || t->type == SN_TASK_FRAME2 || t->type == SN_TASK_RELATIVE_POSE;
    if (t->version != SN_TASK_VERSION) return "it does not come from sn_task_default()";
    if ((unsigned)t->type >= SN_TASK_TYPE_COUNT) return "unknown type";
    if (!is_weight(t->weight)) return "weight is negative, not finite or over 1e50";
    if (rotates && !is_weight(t->rotation_weight))
        return "rotation_weight is negative, not finite or over 1e50";
    if (!sn_level_fits(t->level)) return "level is not one of 0 to 7";
    if (check_loss(t) != NULL) return check_loss(t);
    if (check_matrices(t) != NULL) return check_matrices(t);
    if (t->type == SN_TASK_REST) return check_rest(model, t);
    if (t->type == SN_TASK_POSTURE) {
        const char *what = check_joints(model, t);
        return what != NULL ? what : check_rest(model, t);
    }
    if (t->type == SN_TASK_CENTRE_OF_MASS) return check_centre(model, t);
    if (t->type == SN_TASK_OWN) return check_own(model, t);
    if (sn_task_is_guard(t)) return sn_guard_check(model, t);
    if (t->type == SN_TASK_COUPLED) return NULL;  // sn_task_check_coupled() knows the others
    if (t->joint >= sn_model_njoint(model) || t->joint < (t->type == SN_TASK_LIMIT ? -1 : 0))
        return "its joint does not exist";
    if (t->type == SN_TASK_LIMIT) return check_limits(model, t);
    if (!sn_task_numbers(t->local, 3)) return "local is not finite or over 1e50";
    if (t->type != SN_TASK_ORIENTATION && !sn_task_numbers(t->goal, 3))
        return "its goal is not finite or over 1e50";
    if (t->type > SN_TASK_LIMIT) return check_pair(model, t);
    switch (t->type) {
    case SN_TASK_POINT:
        return NULL;
    case SN_TASK_PLANE:
        if (t->joint2 < -1 || t->joint2 >= sn_model_njoint(model))
            return "its joint2 does not exist";
        return sn_unit(t->normal, 3, unit) ? NULL : "normal is zero or not finite";
    case SN_TASK_DIRECTION:
        if (!sn_unit(t->local, 3, unit)) return "local is a zero direction";
        return sn_unit(t->goal, 3, unit) ? NULL : "goal is a zero direction";
    case SN_TASK_FRAME2:
        if (!sn_unit(t->i, 3, unit)) return "i is zero or not finite";
        return sn_unit(t->j, 3, unit) ? NULL : "j is zero or not finite";
    default:
        return sn_unit(t->rotation, 4, unit) ? NULL : "rotation is zero or not finite";
    }
}

static const char *coupled_wrong(const sn_task *tasks, int ntask, const sn_task *t) {
    int rows = 0;
    if (t->tasks == NULL || t->ntask <= 0 || t->ntask > ntask) return "it names no tasks";
    if (t->coupling == NULL) return "it has no matrix";
    for (int i = 0; i < t->ntask; i++) {
        if (t->tasks[i] < 0 || t->tasks[i] >= ntask) return "one of its tasks does not exist";
        for (int k = 0; k < i; k++)
            if (t->tasks[i] == t->tasks[k]) return "it names a task twice";
        int own = sn_task_residuals(&tasks[t->tasks[i]]);
        if (own == 0) return "one of its tasks has no residual vector to couple";
        rows += own;
        if (rows > SN_MAX_COUPLING) return "it couples more than 48 numbers";
    }
    return sn_task_semidefinite(t->coupling, rows)
               ? NULL
               : "its matrix must be symmetric, positive semidefinite and finite";
}

sn_status sn_task_check_coupled(const sn_task *tasks, int ntask, int index, sn_error *error) {
    if (tasks[index].type != SN_TASK_COUPLED) return SN_OK;
    const char *what = coupled_wrong(tasks, ntask, &tasks[index]);
    if (what == NULL) return SN_OK;
    return sn_fail(error, SN_ERR_TASK, 0, "task %d (coupled): %s", index, what);
}

sn_status sn_task_check(const sn_model *model, const sn_task *task, int index, int line,
                        sn_error *error) {
    const char *what = what_is_wrong(model, task);
    if (what == NULL) return SN_OK;
    const sn_joint_desc *joint = sn_model_joint(model, task->joint);
    if (joint == NULL || task->type == SN_TASK_REST || task->type >= SN_TASK_CENTRE_OF_MASS)
        return sn_fail(error, SN_ERR_TASK, line, "task %d (%s): %s", index,
                       sn_task_type_name(task->type), what);
    return sn_fail(error, SN_ERR_TASK, line, "task %d (%s on \"%.80s\"): %s", index,
                   sn_task_type_name(task->type), joint->name, what);
}
