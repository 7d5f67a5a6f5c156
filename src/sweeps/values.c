// SPDX-License-Identifier: MIT
// f alone, and the size of each task's residual.
#include "linalg/dense.h"
#include "math/rotation.h"
#include "sweeps/workspace.h"
#include "tasks/loss.h"

static sn_vec3 point_residual(const sn_workspace *ws, const sn_frame *frame, sn_vec3 local,
                              sn_vec3 goal) {
    return v3_sub(v3_sub(goal, ws->origin), sn_place(frame, local));
}

// The residual of a part, without its weight.
static sn_vec3 part_residual(const sn_workspace *ws, const sn_frame *frame, const sn_part *part) {
    switch (part->type) {
    case SN_PART_POINT:
        return sn_part_seen(part, point_residual(ws, frame, part->local, part->goal));
    case SN_PART_DIRECTION:
        return v3_sub(part->goal, m3_mul(&frame->R, part->local));
    case SN_PART_ORIENTATION:
        break;
    }
    sn_mat3 back = m3_transpose(&frame->R), turn = m3_mulm(&part->matrix, &back);
    return sn_rotation_log(&turn);
}

double sn_sweep_value(sn_workspace *ws) {
    const sn_problem *p = ws->problem;
    double f = 0;
    for (int k = 0; k < ws->model->njoint; k++) {
        const sn_frame *frame = &ws->frame[k];
        double twice = 0;
        for (int i = p->point_first[k]; i < p->point_first[k + 1]; i++) {
            const sn_point *point = &p->point[i];
            if (point->weight == 0) continue;
            sn_vec3 r = point_residual(ws, frame, point->local, point->goal);
            twice += point->weight * sn_loss_at(point, v3_dot(r, r)).value;
        }
        for (int i = p->part_first[k]; i < p->part_first[k + 1]; i++) {
            const sn_part *part = &p->part[i];
            if (!part->active) continue;
            sn_vec3 r = part_residual(ws, frame, part);
            sn_vec3 weighted =
                part->type == SN_PART_POINT ? m3_mul(&part->matrix, r) : v3_scale(part->weight, r);
            twice += fmax(v3_dot(r, weighted), 0);  // a semidefinite weight may round below 0
        }
        f += 0.5 * twice;
    }
    if (ws->ties != NULL) f += sn_tied_value(ws);
    if (sn_has_guards(ws)) f += sn_guards_value(ws);
    return f + sn_joint_terms_value(ws);
}

static double rest_error(const sn_workspace *ws, const sn_rest *rest) {
    const sn_model *m = ws->model;
    double sum = 0;
    sn_model_difference(m, rest->q, ws->q, ws->scratch);
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        for (int i = 0; j->whole != 0 && i < j->nv; i++)
            ws->scratch[j->v0 + i] = sn_joint_apart(j, i, ws->scratch[j->v0 + i], 0);
    }
    for (int v = 0; v < m->nv; v++)
        if (rest->q_weight[v] > 0) sum += ws->scratch[v] * ws->scratch[v];
    return sqrt(sum);
}

static double soft_error(const sn_workspace *ws, const sn_soft *soft) {
    const sn_model *m = ws->model;
    double sum = 0;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        for (int i = 0; i < j->nv; i++) {
            int v = j->v0 + i;
            if (v < soft->first || v >= soft->first + soft->count) continue;
            if (j->ops->quaternion >= 0 && i >= j->ops->curve_first) continue;
            double out = sn_soft_out(soft, m, v, ws->q[j->q0 + i]);
            sum += out * out;
        }
        sn_soft_turn t;
        bool ours = j->v0 >= soft->first && j->v0 < soft->first + soft->count;
        if (ours && sn_soft_turned(soft, j, ws->q, false, &t)) sum += t.out * t.out;
    }
    return sqrt(sum);
}

// With `seen` what counts alone: nothing of a part that weighs nothing, nothing along a direction that a matrix
// does not see. A task that weighs nothing at all is measured whole.
static double task_length(const sn_workspace *ws, int task, bool seen) {
    const sn_problem *p = ws->problem;
    const sn_task_parts *at = &p->parts[task];
    const sn_task *t = &p->task[task];
    const bool turns =
        t->type == SN_TASK_POSE || t->type == SN_TASK_FRAME2 || t->type == SN_TASK_RELATIVE_POSE;
    seen = seen && (t->weight > 0 || (turns && t->rotation_weight > 0));
    if (at->rest >= 0) return rest_error(ws, &p->rest[at->rest]);
    if (at->soft >= 0) return soft_error(ws, &p->soft[at->soft]);
    if (sn_task_is_guard(&p->task[task])) return sn_guards_error(ws, task);
    if (at->posture >= 0) return sn_posture_error(ws, &p->posture[at->posture]);
    if (at->ntied > 0) {
        double sum = 0;
        for (int i = at->tied; i < at->tied + at->ntied; i++) {
            if (seen && p->tied[i].weight == 0) continue;
            double error = sn_tied_error(ws, i, seen);
            sum += error * error;
        }
        return sqrt(sum);
    }
    const sn_frame *frame = &ws->frame[at->joint];
    double sum = 0;
    if (at->point >= 0 && !(seen && t->weight == 0)) {
        const sn_point *point = &p->point[at->point];
        sn_vec3 r = point_residual(ws, frame, point->local, point->goal);
        sum += v3_dot(r, r);
    }
    if (t->type == SN_TASK_PLANE) {
        // only the distance from the plane counts: r^T W r = w (n . r)^2
        sn_vec3 r = part_residual(ws, frame, &p->part[at->part]), n = v3_from(t->normal);
        return fabs(v3_dot(r, n)) / v3_norm(n);
    }
    const int parts[2] = {at->part, at->part2};
    for (int i = 0; i < 2; i++) {
        if (parts[i] < 0) continue;
        const sn_part *part = &p->part[parts[i]];
        const bool point = part->type == SN_PART_POINT;
        sn_vec3 r = part_residual(ws, frame, part);
        const double numbers[3] = {r.x, r.y, r.z};
        if (seen && (point ? t->weight : part->weight) == 0) continue;
        sum += seen && point && t->has_matrix ? sn_seen_square(t->matrix, numbers) : v3_dot(r, r);
    }
    return sqrt(sum);
}

double sn_task_length(const sn_workspace *ws, int task) { return task_length(ws, task, false); }

double sn_workspace_task_error(const sn_workspace *ws, int task) {
    if (ws == NULL) return NAN;
    if (task < 0 || task >= ws->problem->ntask) return 0;
    return task_length(ws, task, true);
}
