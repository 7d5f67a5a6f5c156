// SPDX-License-Identifier: MIT
#include "tasks/problem.h"

#include <string.h>

#include "math/unit.h"
#include "tasks/check.h"

static const char *const type_names[SN_TASK_TYPE_COUNT] = {
    "point", "plane", "direction", "orientation", "frame2", "pose", "rest", "limit", "relative"};

const char *sn_task_type_name(sn_task_type type) {
    return (unsigned)type < SN_TASK_TYPE_COUNT ? type_names[type] : "unknown";
}

static const char *const loss_names[SN_LOSS_COUNT] = {"none", "huber", "cauchy"};

const char *sn_loss_name(sn_loss loss) {
    return (unsigned)loss < SN_LOSS_COUNT ? loss_names[loss] : "unknown";
}

sn_task sn_task_default(sn_task_type type) {
    sn_task task = {.version = SN_TASK_VERSION,
                    .type = type,
                    .joint = type == SN_TASK_LIMIT ? -1 : 0,
                    .normal = {0, 0, 1},
                    .rotation = {1, 0, 0, 0},
                    .i = {1, 0, 0},
                    .j = {0, 1, 0},
                    .weight = 1,
                    .rotation_weight = 1};
    if (type == SN_TASK_DIRECTION) task.local[2] = task.goal[2] = 1;
    return task;
}

static sn_vec3 unit_vec(const double x[3]) {
    double u[3] = {0, 0, 0};
    (void)sn_unit(x, 3, u);
    return v3_from(u);
}

static sn_mat3 unit_rotation(const double wxyz[4]) {
    double q[4] = {1, 0, 0, 0};
    (void)sn_unit(wxyz, 4, q);
    return sn_mat3_from_quat((sn_quat){q[0], q[1], q[2], q[3]});
}

// How many points and parts a type needs.
static int points_of(const sn_task *t) {
    return (t->type == SN_TASK_POINT && !t->has_matrix) || t->type == SN_TASK_FRAME2 ||
           t->type == SN_TASK_POSE;
}

static int parts_of(const sn_task *t) {
    switch (t->type) {
    case SN_TASK_POINT:
        return t->has_matrix;
    case SN_TASK_PLANE:
    case SN_TASK_DIRECTION:
    case SN_TASK_ORIENTATION:
    case SN_TASK_POSE:
        return 1;
    case SN_TASK_FRAME2:
        return 2;
    default:
        return 0;
    }
}

static sn_mat3 weight_matrix(const sn_task *t) {
    sn_mat3 W;
    if (t->type == SN_TASK_PLANE) {
        sn_vec3 n = unit_vec(t->normal);
        W = (sn_mat3){{v3_scale(n.x, n), v3_scale(n.y, n), v3_scale(n.z, n)}};
    } else {
        W = (sn_mat3){{v3_from(t->matrix), v3_from(t->matrix + 3), v3_from(t->matrix + 6)}};
    }
    return m3_scale(t->weight, &W);
}

// Bring the parts of a task up to date with its description.
static void refresh(sn_problem *p, int i) {
    const sn_task *t = &p->task[i];
    const sn_task_parts *at = &p->parts[i];
    bool active = at->enabled && !at->missing;
    if (at->point >= 0) {
        sn_point *point = &p->point[at->point];
        point->local = v3_from(t->local);
        point->goal = v3_from(t->goal);
        point->weight = active ? t->weight : 0;
        p->nloss += (t->loss != SN_LOSS_NONE) - (point->loss != SN_LOSS_NONE);
        point->loss = t->loss;
        point->scale2 = t->loss_scale * t->loss_scale;
    }
    sn_part *part = at->part >= 0 ? &p->part[at->part] : NULL;
    switch (t->type) {
    case SN_TASK_POINT:
    case SN_TASK_PLANE:
        if (part != NULL)
            *part = (sn_part){.type = SN_PART_POINT,
                              .active = active && t->weight > 0,
                              .weight = t->weight,
                              .local = v3_from(t->local),
                              .goal = v3_from(t->goal),
                              .matrix = weight_matrix(t),
                              .plane = t->type == SN_TASK_PLANE};
        if (part != NULL && part->plane) part->normal = unit_vec(t->normal);
        break;
    case SN_TASK_DIRECTION:
        *part = (sn_part){.type = SN_PART_DIRECTION,
                          .active = active && t->weight > 0,
                          .weight = t->weight,
                          .local = unit_vec(t->local),
                          .goal = unit_vec(t->goal)};
        break;
    case SN_TASK_ORIENTATION:
    case SN_TASK_POSE: {
        double weight = t->type == SN_TASK_POSE ? t->rotation_weight : t->weight;
        *part = (sn_part){.type = SN_PART_ORIENTATION,
                          .active = active && weight > 0,
                          .weight = weight,
                          .matrix = unit_rotation(t->rotation)};
        break;
    }
    case SN_TASK_FRAME2:
        for (int k = 0; k < 2; k++)
            p->part[k == 0 ? at->part : at->part2] =
                (sn_part){.type = SN_PART_DIRECTION,
                          .active = active && t->rotation_weight > 0,
                          .weight = t->rotation_weight,
                          .local = v3_unit(k),
                          .goal = unit_vec(k == 0 ? t->i : t->j)};
        break;
    case SN_TASK_REST:
        p->rest[at->rest].weight = t->weight;
        p->rest[at->rest].active = active && t->weight > 0;
        break;
    case SN_TASK_LIMIT:
        p->soft[at->soft].weight = t->weight;
        p->soft[at->soft].active = active && t->weight > 0;
        break;
    case SN_TASK_RELATIVE: {
        sn_relative *relative = &p->relative[at->relative];
        relative->local[0] = v3_from(t->local);
        relative->local[1] = v3_from(t->local2);
        relative->offset = v3_from(t->goal);
        relative->weight = active ? t->weight : 0;
        break;
    }
    case SN_TASK_TYPE_COUNT:
        break;
    }
}

static void layout_problem(sn_problem *p, sn_layout *layout, double **numbers) {
    size_t njoint = (size_t)p->model->njoint;
    p->task = sn_layout_take(layout, (size_t)p->ntask, sizeof *p->task);
    p->parts = sn_layout_take(layout, (size_t)p->ntask, sizeof *p->parts);
    p->point = sn_layout_take(layout, (size_t)p->npoint, sizeof *p->point);
    p->point_first = sn_layout_take(layout, njoint + 1, sizeof *p->point_first);
    p->part = sn_layout_take(layout, (size_t)p->npart, sizeof *p->part);
    p->part_first = sn_layout_take(layout, njoint + 1, sizeof *p->part_first);
    p->rest = sn_layout_take(layout, (size_t)p->nrest, sizeof *p->rest);
    p->soft = sn_layout_take(layout, (size_t)p->nsoft, sizeof *p->soft);
    p->relative = sn_layout_take(layout, (size_t)p->nrelative, sizeof *p->relative);
    size_t per_rest = (size_t)p->model->nq + (size_t)p->model->nv;
    *numbers = sn_layout_take(layout, (size_t)p->nrest * per_rest, sizeof **numbers);
    sn_freedom_layout(p, layout);
}

// Give every task its parts, so that those of one joint lie together.
static void assign_parts(sn_problem *p, double *numbers) {
    const sn_model *m = p->model;
    for (int i = 0; i < p->ntask; i++) {
        sn_task *t = &p->task[i];
        if (t->type == SN_TASK_REST) t->joint = -1;  // it belongs to none, whatever was given
        int joint = t->joint >= 0 ? m->sweep_of[t->joint] : -1;
        p->parts[i] = (sn_task_parts){joint, -1, -1, -1, -1, -1, -1, true, false};
        if (joint < 0) continue;
        p->point_first[joint + 1] += points_of(t);
        p->part_first[joint + 1] += parts_of(t);
    }
    for (int k = 0; k < m->njoint; k++) {
        p->point_first[k + 1] += p->point_first[k];
        p->part_first[k + 1] += p->part_first[k];
    }
    int rest = 0, soft = 0, relative = 0;
    for (int i = 0; i < p->ntask; i++) {
        sn_task *t = &p->task[i];
        sn_task_parts *at = &p->parts[i];
        // first[] serves as the place of the next one; it is put back below
        if (points_of(t) > 0) at->point = p->point_first[at->joint]++;
        if (parts_of(t) > 0) at->part = p->part_first[at->joint]++;
        if (parts_of(t) > 1) at->part2 = p->part_first[at->joint]++;
        if (t->type == SN_TASK_REST) {
            sn_rest *r = &p->rest[at->rest = rest++];
            *r = (sn_rest){.task = i, .q = numbers, .q_weight = numbers + m->nq};
            numbers += m->nq + m->nv;
            memcpy(r->q, t->q, (size_t)m->nq * sizeof *r->q);
            sn_model_normalize_quaternions(m, r->q);
            for (int v = 0; v < m->nv; v++) r->q_weight[v] = t->q_weight ? t->q_weight[v] : 1;
            t->q = r->q;
            t->q_weight = r->q_weight;
        }
        if (t->type == SN_TASK_RELATIVE) {
            at->relative = relative++;
            p->relative[at->relative] = (sn_relative){.joint = {at->joint, m->sweep_of[t->joint2]}};
        }
        if (t->type == SN_TASK_LIMIT) {
            const sn_joint *j = at->joint < 0 ? NULL : &m->joint[at->joint];
            at->soft = soft++;
            p->soft[at->soft] = (sn_soft){.first = j ? j->v0 : 0, .count = j ? j->nv : m->nv};
        }
    }
    for (int k = m->njoint; k > 0; k--) {
        p->point_first[k] = p->point_first[k - 1];
        p->part_first[k] = p->part_first[k - 1];
    }
    p->point_first[0] = p->part_first[0] = 0;
}

sn_status sn_problem_create(const sn_model *model, const sn_task *tasks, int ntask,
                            const sn_allocator *allocator, sn_problem **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(model, error);
    SN_NEED(out, error);
    if (ntask < 0) return sn_fail_range(error, "ntask");
    if (ntask > 0) SN_NEED(tasks, error);
    sn_problem p = {
        .allocator = sn_allocator_of(allocator), .given = model, .model = model, .ntask = ntask};
    for (int i = 0; i < ntask; i++) {
        SN_TRY(sn_task_check(model, &tasks[i], i, 0, error));
        p.npoint += points_of(&tasks[i]);
        p.npart += parts_of(&tasks[i]);
        p.nrest += tasks[i].type == SN_TASK_REST;
        p.nsoft += tasks[i].type == SN_TASK_LIMIT;
        p.nrelative += tasks[i].type == SN_TASK_RELATIVE;
    }
    double *numbers;
    sn_layout layout = {0};
    sn_problem *problem = sn_layout_take(&layout, 1, sizeof *problem);
    layout_problem(&p, &layout, &numbers);
    void *block = sn_layout_acquire(&layout, allocator, &p.owner);
    if (block == NULL) return sn_fail_memory(error);
    layout = (sn_layout){.block = block};
    problem = sn_layout_take(&layout, 1, sizeof *problem);
    layout_problem(&p, &layout, &numbers);
    *problem = p;
    sn_freedom_copy(problem, model, NULL);
    problem->model = &problem->view;
    if (ntask > 0) memcpy(problem->task, tasks, (size_t)ntask * sizeof *tasks);
    assign_parts(problem, numbers);
    for (int i = 0; i < ntask; i++) refresh(problem, i);
    *out = problem;
    return SN_OK;
}

sn_status sn_problem_create_markers(const sn_model *model, const sn_allocator *allocator,
                                    sn_problem **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(model, error);
    SN_NEED(out, error);
    sn_task *tasks = sn_acquire(allocator, ((size_t)model->nmarker + 1) * sizeof *tasks);
    if (tasks == NULL) return sn_fail_memory(error);
    for (int i = 0; i < model->nmarker; i++) {
        tasks[i] = sn_task_default(SN_TASK_POINT);
        tasks[i].joint = model->marker[i].joint;
        tasks[i].weight = model->marker[i].weight;
        memcpy(tasks[i].local, model->marker[i].position, sizeof tasks[i].local);
    }
    sn_status status = sn_problem_create(model, tasks, model->nmarker, allocator, out, error);
    sn_release(allocator, tasks);
    for (int i = 0; status == SN_OK && i < model->nmarker; i++)
        (void)sn_problem_set_missing(*out, i, true);
    return status;
}

sn_status sn_problem_copy(const sn_problem *problem, const sn_task *extra, int nextra,
                          const sn_allocator *allocator, sn_problem **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(problem, error);
    SN_NEED(out, error);
    if (nextra < 0 || nextra > INT32_MAX - problem->ntask) return sn_fail_range(error, "nextra");
    if (nextra > 0) SN_NEED(extra, error);
    int n = problem->ntask;
    sn_task *tasks = sn_acquire(allocator, ((size_t)n + (size_t)nextra + 1) * sizeof *tasks);
    if (tasks == NULL) return sn_fail_memory(error);
    if (n > 0) memcpy(tasks, problem->task, (size_t)n * sizeof *tasks);
    if (nextra > 0) memcpy(tasks + n, extra, (size_t)nextra * sizeof *tasks);
    sn_status status = sn_problem_create(problem->given, tasks, n + nextra, allocator, out, error);
    sn_release(allocator, tasks);
    if (status == SN_OK) sn_freedom_copy(*out, &problem->view, problem);
    for (int i = 0; status == SN_OK && i < n; i++) {
        (*out)->parts[i].enabled = problem->parts[i].enabled;
        (*out)->parts[i].missing = problem->parts[i].missing;
        refresh(*out, i);
    }
    return status;
}

void sn_problem_destroy(sn_problem *problem) {
    if (problem == NULL) return;
    sn_allocator allocator = problem->allocator;
    sn_release(&allocator, problem->owner);
}

const sn_model *sn_problem_model(const sn_problem *problem) {
    return problem != NULL ? problem->given : NULL;
}
int sn_problem_ntask(const sn_problem *problem) { return problem != NULL ? problem->ntask : 0; }

static bool is_task(const sn_problem *problem, int task) {
    return task >= 0 && task < problem->ntask;
}

const sn_task *sn_problem_task(const sn_problem *problem, int task) {
    if (problem == NULL) return NULL;
    return is_task(problem, task) ? &problem->task[task] : NULL;
}

bool sn_problem_task_active(const sn_problem *problem, int task) {
    if (problem == NULL) return false;
    if (!is_task(problem, task)) return false;
    const sn_task_parts *at = &problem->parts[task];
    const sn_task *t = &problem->task[task];
    bool turns = t->type == SN_TASK_POSE || t->type == SN_TASK_FRAME2;
    return at->enabled && !at->missing && (t->weight > 0 || (turns && t->rotation_weight > 0));
}

sn_status sn_problem_set_goal(sn_problem *problem, int task, const double goal[3]) {
    if (problem == NULL || goal == NULL) return SN_ERR_ARGUMENT;
    if (!is_task(problem, task)) return SN_ERR_ARGUMENT;
    sn_task *t = &problem->task[task];
    if (t->type == SN_TASK_ORIENTATION || t->type == SN_TASK_REST || t->type == SN_TASK_LIMIT)
        return SN_ERR_ARGUMENT;
    double unit[3];
    if (!sn_task_numbers(goal, 3)) return SN_ERR_VALUE;
    if (t->type == SN_TASK_DIRECTION && !sn_unit(goal, 3, unit)) return SN_ERR_VALUE;
    memcpy(t->goal, goal, sizeof t->goal);
    problem->parts[task].missing = false;
    refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_local(sn_problem *problem, int task, const double local[3]) {
    if (problem == NULL || local == NULL) return SN_ERR_ARGUMENT;
    if (!is_task(problem, task)) return SN_ERR_ARGUMENT;
    sn_task *t = &problem->task[task];
    if (t->type == SN_TASK_ORIENTATION || t->type == SN_TASK_REST || t->type == SN_TASK_LIMIT)
        return SN_ERR_ARGUMENT;
    double unit[3];
    if (!sn_task_numbers(local, 3)) return SN_ERR_VALUE;
    if (t->type == SN_TASK_DIRECTION && !sn_unit(local, 3, unit)) return SN_ERR_VALUE;
    memcpy(t->local, local, sizeof t->local);
    refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_rotation(sn_problem *problem, int task, const double wxyz[4]) {
    if (problem == NULL || wxyz == NULL) return SN_ERR_ARGUMENT;
    if (!is_task(problem, task)) return SN_ERR_ARGUMENT;
    sn_task *t = &problem->task[task];
    if (t->type != SN_TASK_ORIENTATION && t->type != SN_TASK_POSE && t->type != SN_TASK_FRAME2)
        return SN_ERR_ARGUMENT;
    double unit[4];
    if (!sn_unit(wxyz, 4, unit)) return SN_ERR_VALUE;
    memcpy(t->rotation, wxyz, sizeof t->rotation);
    sn_mat3 R = unit_rotation(wxyz);
    memcpy(t->i, &R.c[0], sizeof t->i);
    memcpy(t->j, &R.c[1], sizeof t->j);
    problem->parts[task].missing = false;
    refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_rest(sn_problem *problem, int task, const double *q) {
    if (problem == NULL || q == NULL) return SN_ERR_ARGUMENT;
    if (!is_task(problem, task) || problem->task[task].type != SN_TASK_REST) return SN_ERR_ARGUMENT;
    SN_TRY(sn_model_check_pose(problem->model, q, NULL));
    sn_rest *r = &problem->rest[problem->parts[task].rest];
    memcpy(r->q, q, (size_t)problem->model->nq * sizeof *q);
    sn_model_normalize_quaternions(problem->model, r->q);
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
    refresh(problem, task);
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
    if (t->type != SN_TASK_POINT || t->has_matrix || (unsigned)loss >= SN_LOSS_COUNT)
        return SN_ERR_ARGUMENT;
    if (loss != SN_LOSS_NONE && !sn_loss_scale_fits(scale)) return SN_ERR_VALUE;
    t->loss = loss;
    t->loss_scale = scale;
    refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_enabled(sn_problem *problem, int task, bool enabled) {
    if (problem == NULL) return SN_ERR_ARGUMENT;
    if (!is_task(problem, task)) return SN_ERR_ARGUMENT;
    problem->parts[task].enabled = enabled;
    refresh(problem, task);
    return SN_OK;
}

sn_status sn_problem_set_missing(sn_problem *problem, int task, bool missing) {
    if (problem == NULL) return SN_ERR_ARGUMENT;
    if (!is_task(problem, task)) return SN_ERR_ARGUMENT;
    problem->parts[task].missing = missing;
    refresh(problem, task);
    return SN_OK;
}
