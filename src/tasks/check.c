// SPDX-License-Identifier: MIT
#include "tasks/check.h"

#include <math.h>

#include "math/unit.h"

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

// Symmetric and with no negative principal minor, up to rounding.
static bool semidefinite(const double m[9]) {
    double scale = 0;
    if (!sn_task_numbers(m, 9)) return false;
    for (int i = 0; i < 9; i++) scale = fmax(scale, fabs(m[i]));
    if (scale == 0) return true;
    double w[9];
    for (int i = 0; i < 9; i++) w[i] = m[i] / scale;
    if (w[1] != w[3] || w[2] != w[6] || w[5] != w[7]) return false;
    const double slack = -1e-12;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        if (w[4 * i] < 0) return false;
        if (w[4 * i] * w[4 * j] - w[3 * i + j] * w[3 * i + j] < slack) return false;
    }
    double determinant = w[0] * (w[4] * w[8] - w[5] * w[7]) - w[1] * (w[3] * w[8] - w[5] * w[6]) +
                         w[2] * (w[3] * w[7] - w[4] * w[6]);
    return determinant >= slack;
}

static const char *check_rest(const sn_model *model, const sn_task *t) {
    if (t->q == NULL) return "it has no pose q";
    if (sn_model_check_pose(model, t->q, NULL) != SN_OK) return "q is not a finite pose";
    for (int i = 0; t->q_weight != NULL && i < sn_model_nv(model); i++)
        if (!is_weight(t->q_weight[i])) return "a weight is negative or not finite";
    return NULL;
}

static const char *check_loss(const sn_task *t) {
    if (t->loss == SN_LOSS_NONE) return NULL;
    if ((unsigned)t->loss >= SN_LOSS_COUNT) return "unknown loss";
    if (t->type != SN_TASK_POINT || t->has_matrix)
        return "only a point whose weight is one number can have a loss";
    return sn_loss_scale_fits(t->loss_scale)
               ? NULL
               : "a loss needs a loss_scale in metres, from 1e-50 to 1e50";
}

static const char *what_is_wrong(const sn_model *model, const sn_task *t) {
    double unit[4];
    bool rotates = t->type == SN_TASK_POSE || t->type == SN_TASK_FRAME2;
    if (t->version != SN_TASK_VERSION) return "it does not come from sn_task_default()";
    if ((unsigned)t->type >= SN_TASK_TYPE_COUNT) return "unknown type";
    if (!is_weight(t->weight)) return "weight is negative, not finite or over 1e50";
    if (rotates && !is_weight(t->rotation_weight))
        return "rotation_weight is negative, not finite or over 1e50";
    if (!sn_level_fits(t->level)) return "level is not one of 0 to 7";
    if (check_loss(t) != NULL) return check_loss(t);
    if (t->type == SN_TASK_REST) return check_rest(model, t);
    if (t->joint >= sn_model_njoint(model) || t->joint < (t->type == SN_TASK_LIMIT ? -1 : 0))
        return "its joint does not exist";
    if (t->type == SN_TASK_LIMIT) return NULL;
    if (!sn_task_numbers(t->local, 3)) return "local is not finite or over 1e50";
    if (t->type != SN_TASK_ORIENTATION && !sn_task_numbers(t->goal, 3))
        return "its goal is not finite or over 1e50";
    switch (t->type) {
    case SN_TASK_RELATIVE:
        if (t->joint2 < 0 || t->joint2 >= sn_model_njoint(model))
            return "its joint2 does not exist";
        return sn_task_numbers(t->local2, 3) ? NULL : "local2 is not finite or over 1e50";
    case SN_TASK_POINT:
        if (t->has_matrix && !semidefinite(t->matrix))
            return "the weight matrix must be symmetric, positive semidefinite and finite";
        return NULL;
    case SN_TASK_PLANE:
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

sn_status sn_task_check(const sn_model *model, const sn_task *task, int index, int line,
                        sn_error *error) {
    const char *what = what_is_wrong(model, task);
    if (what == NULL) return SN_OK;
    const sn_joint_desc *joint = sn_model_joint(model, task->joint);
    if (joint == NULL || task->type == SN_TASK_REST)
        return sn_fail(error, SN_ERR_TASK, line, "task %d (%s): %s", index,
                       sn_task_type_name(task->type), what);
    return sn_fail(error, SN_ERR_TASK, line, "task %d (%s on \"%.80s\"): %s", index,
                   sn_task_type_name(task->type), joint->name, what);
}
