// SPDX-License-Identifier: MIT
#include "tasks/problem.h"

#include <string.h>

#include "math/sincos.h"
#include "math/unit.h"
#include "tasks/check.h"

static const char *const type_names[SN_TASK_TYPE_COUNT] = {
    "point",         "plane",    "direction", "orientation", "frame2",
    "pose",          "rest",     "limit",     "relative",    "relative-orientation",
    "relative-pose", "distance", "look-at",   "line",        "centre-of-mass",
    "posture",       "coupled",  "own",       "avoid",       "half-space",
    "support"};

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
                    .joint = type == SN_TASK_LIMIT || type == SN_TASK_AVOID ? -1 : 0,
                    .joint2 = -1,
                    .normal = {0, 0, 1},
                    .axis = {0, 0, 1},
                    .rotation = {1, 0, 0, 0},
                    .i = {1, 0, 0},
                    .j = {0, 1, 0},
                    .weight = 1,
                    .rotation_weight = 1};
    if (type == SN_TASK_DIRECTION) task.local[2] = task.goal[2] = 1;
    if (type == SN_TASK_RELATIVE || type == SN_TASK_RELATIVE_ORIENTATION ||
        type == SN_TASK_RELATIVE_POSE)
        task.joint2 = 0;
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
    if (sn_task_is_tied(t)) return 0;
    return (t->type == SN_TASK_POINT && !t->has_matrix) || t->type == SN_TASK_FRAME2 ||
           t->type == SN_TASK_POSE;
}

static int parts_of(const sn_task *t) {
    if (sn_task_is_tied(t)) return 0;
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

// The rotation of a joint in its parent-side frame.
static sn_mat3 joint_turn(const sn_joint *j, const double *q) {
    const sn_frame base = {m3_identity(), {0, 0, 0}};
    sn_frame out;
    sn_twist S[SN_MAX_JOINT_DOFS];
    sn_angle angle[SN_MAX_JOINT_DOFS] = {{0, 0}};
    for (int i = 0; i < j->nv; i++)
        if (j->ops->angles >> i & 1) sn_sincos_inline(q[i], &angle[i].s, &angle[i].c);
    j->ops->place(j, q, angle, &base, &out, S);
    return out.R;
}

static void refresh_posture(sn_problem *p, int i) {
    const sn_task *t = &p->task[i];
    sn_posture *posture = &p->posture[p->parts[i].posture];
    posture->weight = t->weight;
    posture->active = p->parts[i].enabled && !p->parts[i].missing && t->weight > 0;
    for (int k = posture->first; k < posture->first + posture->count; k++) {
        const sn_joint *j = &p->model->joint[p->posed[k].joint];
        p->posed[k].turn = joint_turn(j, posture->q + j->q0);
    }
}

void sn_problem_refresh(sn_problem *p, int i) {
    const sn_task *t = &p->task[i];
    const sn_task_parts *at = &p->parts[i];
    bool active = at->enabled && !at->missing;
    if (at->ntied > 0 || p->ncoupled > 0) sn_tied_refresh(p, i);
    if (at->ntied > 0) return;
    if (sn_task_is_guard(t)) {
        sn_guards_refresh(p->guards, p->model, t, i, active);
        return;
    }
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
    case SN_TASK_POSTURE:
        refresh_posture(p, i);
        break;
    default:
        break;
    }
}

// Where the next of a task's own arrays go.
typedef struct arrays {
    double *numbers;
    int *indices;
    size_t nnumber, nindex;
} arrays;

static void layout_problem(sn_problem *p, sn_layout *layout, arrays *room) {
    size_t njoint = (size_t)p->model->njoint;
    p->task = sn_layout_take(layout, (size_t)p->ntask, sizeof *p->task);
    p->parts = sn_layout_take(layout, (size_t)p->ntask, sizeof *p->parts);
    p->point = sn_layout_take(layout, (size_t)p->npoint, sizeof *p->point);
    p->point_first = sn_layout_take(layout, njoint + 1, sizeof *p->point_first);
    p->part = sn_layout_take(layout, (size_t)p->npart, sizeof *p->part);
    p->part_first = sn_layout_take(layout, njoint + 1, sizeof *p->part_first);
    p->rest = sn_layout_take(layout, (size_t)p->nrest, sizeof *p->rest);
    p->soft = sn_layout_take(layout, (size_t)p->nsoft, sizeof *p->soft);
    p->soft_numbers =
        sn_layout_take(layout, (size_t)p->nsoft * 3 * (size_t)p->model->nv, sizeof(double));
    p->tied = sn_layout_take(layout, (size_t)p->ntied, sizeof *p->tied);
    p->atom = sn_layout_take(layout, (size_t)p->natom, sizeof *p->atom);
    p->mass = sn_layout_take(layout, (size_t)p->nmass, sizeof *p->mass);
    p->posture = sn_layout_take(layout, (size_t)p->nposture, sizeof *p->posture);
    p->posed = sn_layout_take(layout, (size_t)p->nposed, sizeof *p->posed);
    room->numbers = sn_layout_take(layout, room->nnumber, sizeof *room->numbers);
    room->indices = sn_layout_take(layout, room->nindex, sizeof *room->indices);
    sn_freedom_layout(p, layout);
}

// The task's own copy of an array; NULL stays NULL, and the pose of a model without coordinates a pose.
static const double *keep_numbers(arrays *room, const double *from, size_t n) {
    if (from == NULL) return NULL;
    double *to = room->numbers;
    if (n > 0) memcpy(to, from, n * sizeof *to);
    room->numbers += n;
    return to;
}

static const int *keep_indices(arrays *room, const int *from, int n) {
    if (from == NULL || n <= 0) return NULL;
    int *to = room->indices;
    memcpy(to, from, (size_t)n * sizeof *to);
    room->indices += n;
    return to;
}

// A task holds no array that it has no use for: the caller's may be gone by then.
static void drop_arrays(sn_task *t) {
    bool group =
        t->type == SN_TASK_CENTRE_OF_MASS || t->type == SN_TASK_POSTURE || t->type == SN_TASK_OWN;
    bool centre = t->type == SN_TASK_CENTRE_OF_MASS || t->type == SN_TASK_HALF_SPACE ||
                  t->type == SN_TASK_SUPPORT;
    if (!group && !centre) t->joints = NULL, t->njoint = 0;
    if (!centre) t->masses = t->centres = NULL;
    if (t->type != SN_TASK_COUPLED) t->tasks = NULL, t->ntask = 0, t->coupling = NULL;
    if (t->type != SN_TASK_REST && t->type != SN_TASK_HALF_SPACE && t->type != SN_TASK_LIMIT)
        t->q_weight = NULL;
    if (t->type != SN_TASK_LIMIT) t->lower = t->upper = NULL;
    if (t->type != SN_TASK_SUPPORT) t->corners = NULL, t->ncorner = 0;
    if (t->type != SN_TASK_REST && t->type != SN_TASK_POSTURE) t->q = NULL;
}

// The arrays that a tied task or a posture was given become its own.
static void keep_arrays(sn_problem *p, sn_task *t, arrays *room) {
    const sn_model *m = p->model;
    if (t->type == SN_TASK_COUPLED) {
        size_t rows = 0;
        for (int k = 0; k < t->ntask; k++) rows += (size_t)sn_task_residuals(&p->task[t->tasks[k]]);
        t->tasks = keep_indices(room, t->tasks, t->ntask);
        t->coupling = keep_numbers(room, t->coupling, rows * rows);
        return;
    }
    size_t n = t->joints != NULL ? (size_t)t->njoint : (size_t)m->njoint;
    t->joints = keep_indices(room, t->joints, t->njoint);
    if (t->type == SN_TASK_CENTRE_OF_MASS) {
        double *masses = room->numbers;
        if (t->masses == NULL)
            for (size_t k = 0; k < n; k++)
                *room->numbers++ = m->desc[t->joints != NULL ? t->joints[k] : (int)k].mass;
        else
            (void)keep_numbers(room, t->masses, n);
        t->masses = masses;
        t->centres = keep_numbers(room, t->centres, 3 * n);
    }
}

static void assign_posture(sn_problem *p, int i, arrays *room) {
    const sn_model *m = p->model;
    sn_task *t = &p->task[i];
    sn_posture *posture = &p->posture[p->parts[i].posture = p->nposture++];
    *posture = (sn_posture){.q = room->numbers, .first = p->nposed};
    t->q = keep_numbers(room, t->q, (size_t)m->nq);
    if (m->nq > 0) sn_model_normalize_quaternions(m, posture->q);
    posture->count = t->joints != NULL ? t->njoint : m->njoint;
    for (int k = 0; k < posture->count; k++)
        p->posed[p->nposed++].joint = t->joints != NULL ? m->sweep_of[t->joints[k]] : k;
}

// Every tied task its atoms; coupled ones last, since they look at others.
static void assign_tied(sn_problem *p, arrays *room) {
    p->ntied = p->natom = p->nmass = p->nposture = p->nposed = 0;
    for (int last = 0; last < 2; last++) {
        for (int i = 0; i < p->ntask; i++) {
            sn_task *t = &p->task[i];
            bool tied = sn_task_is_tied(t);
            if ((t->type == SN_TASK_COUPLED) != last) continue;
            if (!tied && t->type != SN_TASK_POSTURE) continue;
            keep_arrays(p, t, room);
            if (t->type == SN_TASK_POSTURE) assign_posture(p, i, room);
            if (!tied) continue;
            sn_tied_need need = sn_tied_needs(p->model, p->task, i);
            for (int k = 0; k < need.tied; k++) {
                p->tied[p->ntied + k].W = room->numbers;
                room->numbers += need.matrix / (size_t)need.tied;
            }
            sn_tied_assign(p, i);
        }
    }
}

// The arrays of a task that becomes guards.
static void keep_guard(const sn_model *m, sn_task *t, arrays *room) {
    const size_t n = t->joints != NULL ? (size_t)t->njoint : (size_t)m->njoint;
    t->joints = keep_indices(room, t->joints, t->njoint);
    t->masses = keep_numbers(room, t->masses, n);
    t->centres = keep_numbers(room, t->centres, 3 * n);
    t->q_weight = keep_numbers(room, t->q_weight, (size_t)m->nv);
    t->corners = keep_numbers(room, t->corners, 3 * (size_t)t->ncorner);
}

// The numbers that a soft limit has of its own, copied; the task leads to the copies.
static void keep_limits(sn_problem *p, int soft, sn_task *t) {
    size_t nv = (size_t)p->model->nv;
    double *to = p->soft_numbers + 3 * nv * (size_t)soft;
    const double **from[3] = {&t->lower, &t->upper, &t->q_weight};
    const double **own[3] = {&p->soft[soft].lower, &p->soft[soft].upper, &p->soft[soft].q_weight};
    for (int k = 0; k < 3; k++, to += nv) {
        if (*from[k] == NULL) continue;
        memcpy(to, *from[k], nv * sizeof *to);
        *from[k] = *own[k] = to;
    }
}

// Give every task its parts, so that those of one joint lie together.
static void assign_parts(sn_problem *p, arrays *room) {
    const sn_model *m = p->model;
    for (int i = 0; i < p->ntask; i++) {
        sn_task *t = &p->task[i];
        drop_arrays(t);
        // some belong to none, whatever was given
        bool guard = sn_task_is_guard(t);
        if (t->type == SN_TASK_REST || (t->type >= SN_TASK_CENTRE_OF_MASS && !guard)) t->joint = -1;
        if (guard) keep_guard(m, t, room);
        int joint = t->joint >= 0 && !guard ? m->sweep_of[t->joint] : -1;
        p->parts[i] = (sn_task_parts){joint, -1, -1, -1, -1, -1, -1, 0, -1, true, false};
        if (joint < 0) continue;
        p->point_first[joint + 1] += points_of(t);
        p->part_first[joint + 1] += parts_of(t);
    }
    for (int k = 0; k < m->njoint; k++) {
        p->point_first[k + 1] += p->point_first[k];
        p->part_first[k + 1] += p->part_first[k];
    }
    int rest = 0, soft = 0;
    for (int i = 0; i < p->ntask; i++) {
        sn_task *t = &p->task[i];
        sn_task_parts *at = &p->parts[i];
        // first[] serves as the place of the next one; it is put back below
        if (points_of(t) > 0) at->point = p->point_first[at->joint]++;
        if (parts_of(t) > 0) at->part = p->part_first[at->joint]++;
        if (parts_of(t) > 1) at->part2 = p->part_first[at->joint]++;
        if (t->type == SN_TASK_REST) {
            sn_rest *r = &p->rest[at->rest = rest++];
            *r = (sn_rest){.task = i, .q = room->numbers, .q_weight = room->numbers + m->nq};
            room->numbers += m->nq + m->nv;
            memcpy(r->q, t->q, (size_t)m->nq * sizeof *r->q);
            sn_model_normalize_quaternions(m, r->q);
            for (int v = 0; v < m->nv; v++) r->q_weight[v] = t->q_weight ? t->q_weight[v] : 1;
            t->q = r->q;
            t->q_weight = r->q_weight;
        }
        if (t->type == SN_TASK_LIMIT) {
            const sn_joint *j = at->joint < 0 ? NULL : &m->joint[at->joint];
            at->soft = soft++;
            p->soft[at->soft] = (sn_soft){.first = j ? j->v0 : 0, .count = j ? j->nv : m->nv};
            keep_limits(p, at->soft, t);
        }
    }
    for (int k = m->njoint; k > 0; k--) {
        p->point_first[k] = p->point_first[k - 1];
        p->part_first[k] = p->part_first[k - 1];
    }
    p->point_first[0] = p->part_first[0] = 0;
    assign_tied(p, room);
}

// How much of everything there is.
static sn_status count_parts(sn_problem *p, const sn_task *tasks, arrays *room, sn_error *error) {
    size_t tied = 0, atom = 0, mass = 0, posed = 0;
    for (int i = 0; i < p->ntask; i++) SN_TRY(sn_task_check(p->model, &tasks[i], i, 0, error));
    for (int i = 0; i < p->ntask; i++) {
        const sn_task *t = &tasks[i];
        SN_TRY(sn_task_check_coupled(tasks, p->ntask, i, error));
        sn_tied_need need = sn_tied_needs(p->model, tasks, i);
        p->npoint += points_of(t);
        p->npart += parts_of(t);
        p->nrest += t->type == SN_TASK_REST;
        p->nsoft += t->type == SN_TASK_LIMIT;
        p->nposture += t->type == SN_TASK_POSTURE;
        if (t->type == SN_TASK_POSTURE)
            posed += (size_t)(t->joints != NULL ? t->njoint : p->model->njoint);
        if (t->type == SN_TASK_REST) room->nnumber += (size_t)p->model->nq + (size_t)p->model->nv;
        if (t->type == SN_TASK_HALF_SPACE && t->q_weight != NULL)
            room->nnumber += (size_t)p->model->nv;
        if (t->type == SN_TASK_SUPPORT) room->nnumber += 3 * (size_t)t->ncorner;
        if (t->type == SN_TASK_HALF_SPACE || t->type == SN_TASK_SUPPORT) {
            room->nnumber += 4 * (size_t)p->model->njoint;
            room->nindex += (size_t)p->model->njoint;
        }
        room->nnumber += need.numbers + need.matrix;
        if (t->type == SN_TASK_COUPLED) room->nnumber += need.matrix;
        room->nindex += need.indices;
        tied += (size_t)need.tied;
        atom += (size_t)need.atom;
        mass += (size_t)need.mass;
        if (atom > INT32_MAX || mass > INT32_MAX || posed > INT32_MAX)
            return sn_fail(error, SN_ERR_SIZE, 0, "too many tasks");
    }
    p->ntied = (int)tied, p->natom = (int)atom, p->nmass = (int)mass, p->nposed = (int)posed;
    return SN_OK;
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
    arrays room = {0};
    SN_TRY(count_parts(&p, tasks, &room, error));
    sn_layout layout = {0};
    sn_problem *problem = sn_layout_take(&layout, 1, sizeof *problem);
    layout_problem(&p, &layout, &room);
    void *block = sn_layout_acquire(&layout, allocator, &p.owner);
    if (block == NULL) return sn_fail_memory(error);
    layout = (sn_layout){.block = block};
    problem = sn_layout_take(&layout, 1, sizeof *problem);
    layout_problem(&p, &layout, &room);
    *problem = p;
    sn_freedom_copy(problem, model, NULL);
    problem->model = &problem->view;
    if (ntask > 0) memcpy(problem->task, tasks, (size_t)ntask * sizeof *tasks);
    assign_parts(problem, &room);
    if (sn_guards_create(model, problem->task, ntask, allocator, &problem->guards) != SN_OK) {
        sn_problem_destroy(problem);
        return sn_fail_memory(error);
    }
    for (int i = 0; i < ntask; i++) sn_problem_refresh(problem, i);
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
        sn_problem_refresh(*out, i);
    }
    return status;
}

void sn_problem_destroy(sn_problem *problem) {
    if (problem == NULL) return;
    sn_allocator allocator = problem->allocator;
    sn_guards_destroy(problem->guards, &allocator);
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
    bool turns =
        t->type == SN_TASK_POSE || t->type == SN_TASK_FRAME2 || t->type == SN_TASK_RELATIVE_POSE;
    return at->enabled && !at->missing && (t->weight > 0 || (turns && t->rotation_weight > 0));
}
