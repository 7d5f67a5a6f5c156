// SPDX-License-Identifier: MIT
// A problem as flat lists.
#include "batch/make.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tasks/level.h"

// Where the numbers of a task are in a row of goals.
static int goal_numbers(const sn_task *t) {
    switch (t->type) {
    case SN_TASK_POINT:
    case SN_TASK_PLANE:
    case SN_TASK_DIRECTION:
    case SN_TASK_LINE:
    case SN_TASK_RELATIVE:
    case SN_TASK_LOOK_AT:
    case SN_TASK_CENTRE_OF_MASS:
        return 3;
    case SN_TASK_ORIENTATION:
    case SN_TASK_RELATIVE_ORIENTATION:
        return 4;
    case SN_TASK_POSE:
    case SN_TASK_RELATIVE_POSE:
        return 7;
    case SN_TASK_FRAME2:
        return 9;
    case SN_TASK_DISTANCE:
        return 1;
    default:
        return 0;
    }
}

static bool has_local(const sn_task *t) {
    return t->type == SN_TASK_POINT || t->type == SN_TASK_PLANE || t->type == SN_TASK_POSE ||
           t->type == SN_TASK_FRAME2;
}

int sn_batch_goal_places(const sn_problem *p, bool locals, int *at) {
    int n = 0;
    for (int i = 0; i < p->ntask; i++) {
        int count = goal_numbers(&p->task[i]);
        if (at != NULL) at[i] = count > 0 ? n : -1;
        n += count + (locals && has_local(&p->task[i]) ? 3 : 0);
    }
    return n;
}

// Does a coordinate that follows others matter to a task? The place of a patella without markers is found when the
// knee is known.
static bool is_seen(const sn_problem *p, const sn_coupling_place *c) {
    const sn_model *m = p->model;
    const int v = c->follower_v;
    int k = 0;
    while (k + 1 < m->njoint && m->joint[k + 1].slot <= c->follower_slot) k++;
    for (int i = k; i < m->njoint && (i == k || m->joint[i].parent >= k); i++)
        if (p->point_first[i + 1] > p->point_first[i] || p->part_first[i + 1] > p->part_first[i])
            return true;
    for (int i = 0; i < p->nrest; i++)
        if (p->rest[i].weight * p->rest[i].q_weight[v] != 0) return true;
    for (int i = 0; i < p->nsoft; i++)
        if (v >= p->soft[i].first && v < p->soft[i].first + p->soft[i].count) return true;
    return false;
}

const char *sn_batch_unfit(const sn_problem *p, const sn_solver_options *o) {
    const sn_model *m = p->model;
    int level[SN_MAX_LEVELS];
    if (o->method != SN_METHOD_HYBRID && o->method != SN_METHOD_NEWTON && o->method != SN_METHOD_LM)
        return "the method is not hybrid, newton or lm";
    if (m->nloop > 0) return "the model has loops";
    if (m->tied_limits) return "limits of a coordinate that follows several others";
    for (int i = 0; i < m->ncoupling; i++)
        if (is_seen(p, &m->coupled[i])) return "tasks see coordinates that follow others";
    if (m->ncone > 0) return "a ball of the model has limits";
    if (p->guards != NULL) return "something must not happen (avoid, half-space, support)";
    if (p->ntied > 0) return "a task touches several bodies or has a loss of its own";
    if (p->nposture > 0) return "there is a posture task";
    if (sn_problem_levels(p, level) > 1) return "tasks have several levels";
    for (int s = 0; s < p->nsoft; s++)
        for (int k = 0; k < m->njoint; k++) {
            const sn_joint *j = &m->joint[k];
            const sn_soft *soft = &p->soft[s];
            if (j->ops->quaternion >= 0 && soft->upper != NULL && j->v0 >= soft->first &&
                j->v0 < soft->first + soft->count &&
                soft->upper[j->v0 + j->ops->curve_first] < INFINITY)
                return "a ball has a soft limit";
        }
    if (p->ntask == 0 || m->nv == 0) return "there is nothing to solve";
    return NULL;
}

// Degrees of freedom with terms between them.
static bool is_block(const sn_joint *j) {
    return j->type == SN_JOINT_BALL || j->type == SN_JOINT_FREE || j->type == SN_JOINT_EXPMAP ||
           j->type == SN_JOINT_SWING_TWIST || j->type == SN_JOINT_FUNCTION;
}

// Does a chain go on from joint k that does not follow it in the list?
static bool is_fork(const sn_model *m, int k) {
    for (int i = k + 2; i < m->njoint; i++)
        if (m->joint[i].parent == k) return true;
    return false;
}

static int count_soft(const sn_problem *p, bool all) {
    int n = 0;
    for (int s = 0; s < p->nsoft; s++)
        for (int k = 0; k < p->model->njoint; k++) {
            const sn_joint *j = &p->model->joint[k];
            const sn_soft *soft = &p->soft[s];
            if (!(soft->active || all) || j->v0 < soft->first || j->v0 >= soft->first + soft->count)
                continue;
            n += j->ops->quaternion >= 0 ? j->ops->curve_first : j->nv;
        }
    return n;
}

static int count_rest(const sn_problem *p) {
    int n = 0;
    for (int i = 0; i < p->nrest; i++) n += p->rest[i].active;
    return n;
}

void sn_batch_table_count(const sn_problem *p, const sn_solver_options *o, bool locals, bool pulled,
                          sn_batch_table *t) {
    const sn_model *m = p->model;
    *t = (sn_batch_table){.nj = m->njoint,
                          .nv = m->nv,
                          .nq = m->nq,
                          .npoint = p->npoint,
                          .npart = p->npart,
                          .nrest = count_rest(p),
                          .nsoft = count_soft(p, false),
                          .loss = p->nloss > 0,
                          .locals = locals,
                          .pulled = pulled,
                          .method = o->method == SN_METHOD_NEWTON ? 1
                                    : o->method == SN_METHOD_LM   ? 2
                                                                  : 0};
    for (int i = 0; i < p->npart; i++) t->matrix |= p->part[i].type == SN_PART_POINT;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        if (is_block(j)) t->nlower += j->nv * (j->nv - 1) / 2;
        t->nquat += j->ops->quaternion >= 0;
        t->nfork += is_fork(m, k);
    }
    for (int v = 0; v < m->nv; v++) t->gained |= m->gain[v] != 1;
    sn_batch_drive_count(m, t);
    t->nsum = t->npart > 0 ? SN_SUM_MATRIX + 21 * t->matrix : 0;
    t->ngoal = sn_batch_goal_places(p, locals, NULL);
}

void sn_batch_table_most(const sn_problem *p, const sn_solver_options *o, sn_batch_table *t) {
    sn_batch_table_count(p, o, false, false, t);
    t->nrest = p->nrest;
    t->nsoft = count_soft(p, true);
    t->loss = p->npoint > 0;
}

#define N(name) t->name

void sn_batch_table_layout(sn_batch_table *t, sn_layout *layout) {
#define TAKE(name, count) t->name = sn_layout_take(layout, (size_t)(count), sizeof *t->name);
    SN_BATCH_INTS(TAKE)
    SN_BATCH_NUMBERS(TAKE)
#undef TAKE
}

void sn_batch_work_layout(const sn_batch_table *t, int lanes, sn_batch_work *w, sn_layout *layout) {
    w->goal = sn_layout_take(layout, (size_t)t->ngoal * (size_t)lanes, sizeof(double));
    w->hold =
        sn_layout_take(layout, (size_t)t->pulled * (size_t)t->nv * (size_t)lanes, sizeof(double));
#define TAKE(name, count)                                                                          \
    w->name = sn_layout_take(layout, (size_t)(count) * (size_t)lanes, sizeof(double));
    SN_BATCH_ARRAYS(TAKE)
#undef TAKE
}
#undef N

static void put3(double *to, sn_vec3 v) {
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

static void fill_joints(sn_batch_table *t, const sn_model *m) {
    static const int types[SN_JOINT_TYPE_COUNT] = {
        [SN_JOINT_FIXED] = SN_BATCH_FIXED,
        [SN_JOINT_HINGE] = SN_BATCH_HINGE,
        [SN_JOINT_SLIDER] = SN_BATCH_SLIDER,
        [SN_JOINT_SCREW] = SN_BATCH_SCREW,
        [SN_JOINT_UNIVERSAL] = SN_BATCH_UNIVERSAL,
        [SN_JOINT_EULER] = SN_BATCH_EULER,
        [SN_JOINT_BALL] = SN_BATCH_BALL,
        [SN_JOINT_EXPMAP] = SN_BATCH_EXPMAP,
        [SN_JOINT_SWING_TWIST] = SN_BATCH_SWING_TWIST,
        [SN_JOINT_PLANAR] = SN_BATCH_PLANAR,
        [SN_JOINT_TRANSLATION] = SN_BATCH_TRANSLATION,
        [SN_JOINT_FREE] = SN_BATCH_FREE,
        [SN_JOINT_FUNCTION] = SN_BATCH_DRIVEN,
    };
    int lower = 0, quat = 0, fork = 0;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        t->type[k] = types[j->type];
        t->parent[k] = j->parent;
        t->q0[k] = j->q0;
        t->slot[k] = j->slot;
        t->jnv[k] = j->nv;
        t->leaf[k] = j->leaf;
        t->last[k] = j->last;
        t->turned[k] = j->turned;
        t->block[k] = is_block(j);
        t->lower0[k] = lower;
        if (is_block(j)) lower += j->nv * (j->nv - 1) / 2;
        t->quat[k] = j->ops->quaternion >= 0 ? quat++ : -1;
        t->fork[k] = is_fork(m, k) ? fork++ : -1;
        bool euler = j->type == SN_JOINT_EULER;
        t->order[3 * k] = euler ? j->order[0] : j->aligned;
        t->order[3 * k + 1] = euler ? j->order[1] : j->aligned2;
        t->order[3 * k + 2] = euler ? j->order[2] : -1;
        for (int c = 0; c < 3; c++) put3(t->offset + 12 * k + 3 * c, j->offset.R.c[c]);
        put3(t->offset + 12 * k + 9, j->offset.p);
        put3(t->axis + 12 * k, j->axis);
        put3(t->axis + 12 * k + 3, j->axis2);
        put3(t->axis + 12 * k + 6, j->u);
        put3(t->axis + 12 * k + 9, j->v);
        t->pitch[k] = j->pitch;
        for (int a = 0; a < j->nv; a++) {
            int i = j->slot + a;
            t->gain[i] = m->gain[j->v0 + a];
            t->length[i] = j->lengths >> a & 1;
            t->whole[i] = j->whole >> a & 1;
        }
    }
    sn_model_sweep_limits(m, t->q_of, t->low, t->high);
}

// Points and parts of a task, each with its place in a row.
static void fill_tasks(sn_batch_table *t, const sn_problem *p, const int *goal_at) {
    const sn_model *m = p->model;
    for (int k = 0; k <= m->njoint; k++) {
        t->point_first[k] = p->point_first[k];
        t->part_first[k] = p->part_first[k];
    }
    for (int n = 0; n < p->ntask; n++) {
        const sn_task *task = &p->task[n];
        const sn_task_parts *at = &p->parts[n];
        const bool on = at->enabled;
        const int place = goal_at[n], more = t->locals && has_local(task) ? 3 : 0;
        if (at->point >= 0) {
            const sn_point *point = &p->point[at->point];
            put3(t->point_local + 3 * at->point, point->local);
            t->point_goal[at->point] = place;
            t->point_weight[at->point] = on ? task->weight : 0;
            t->point_loss[at->point] = point->loss == SN_LOSS_HUBER    ? SN_BATCH_HUBER
                                       : point->loss == SN_LOSS_CAUCHY ? SN_BATCH_CAUCHY
                                                                       : 0;
            t->point_scale2[at->point] = point->scale2;
        }
        const int parts[2] = {at->part, at->part2};
        for (int i = 0; i < 2; i++) {
            if (parts[i] < 0) continue;
            const sn_part *part = &p->part[parts[i]];
            int goal = place;
            if (task->type == SN_TASK_POSE) goal = place + 3 + more;
            if (task->type == SN_TASK_FRAME2) goal = place + 3 + more + 3 * i;
            t->part_goal[parts[i]] = goal;
            t->part_type[parts[i]] = part->type == SN_PART_DIRECTION     ? SN_BATCH_DIRECTION
                                     : part->type == SN_PART_ORIENTATION ? SN_BATCH_ORIENTATION
                                     : part->plane                       ? SN_BATCH_PLANE
                                                                         : SN_BATCH_POINT;
            put3(t->part_local + 3 * parts[i], part->local);
            put3(t->part_normal + 3 * parts[i], part->normal);
            t->part_weight[parts[i]] = on ? part->weight : 0;
            for (int c = 0; c < 3; c++)
                put3(t->part_matrix + 9 * parts[i] + 3 * c, on ? part->matrix.c[c] : v3(0, 0, 0));
        }
    }
}

static void fill_coordinates(sn_batch_table *t, const sn_problem *p) {
    const sn_model *m = p->model;
    int n = 0;
    for (int r = 0; r < p->nrest; r++) {
        const sn_rest *rest = &p->rest[r];
        if (!rest->active) continue;
        memcpy(t->rest_q + (size_t)n * (size_t)m->nq, rest->q, (size_t)m->nq * sizeof *rest->q);
        sn_model_normalize_quaternions(m, t->rest_q + (size_t)n * (size_t)m->nq);
        for (int i = 0; i < m->nv; i++)
            t->rest_w[n * m->nv + i] = rest->weight * rest->q_weight[m->v_of[i]];
        n++;
    }
    n = 0;
    for (int s = 0; s < p->nsoft; s++) {
        const sn_soft *soft = &p->soft[s];
        if (!soft->active) continue;
        for (int k = 0; k < m->njoint; k++) {
            const sn_joint *j = &m->joint[k];
            if (j->v0 < soft->first || j->v0 >= soft->first + soft->count) continue;
            int count = j->ops->quaternion >= 0 ? j->ops->curve_first : j->nv;
            for (int a = 0; a < count; a++, n++) {
                int v = j->v0 + a;
                t->soft_of[n] = j->slot + a;
                t->soft_limit[3 * n] = soft->lower != NULL ? soft->lower[v] : m->lower[v];
                t->soft_limit[3 * n + 1] = soft->upper != NULL ? soft->upper[v] : m->upper[v];
                t->soft_limit[3 * n + 2] = sn_soft_weight(soft, v);
            }
        }
    }
}

void sn_batch_table_fill(sn_batch_table *t, const sn_problem *p, const sn_solver_options *o,
                         const int *goal_at, const bool *round) {
    fill_joints(t, p->model);
    sn_batch_drive_fill(p->model, t);
    fill_tasks(t, p, goal_at);
    fill_coordinates(t, p);
    for (int i = 0; i < t->nv; i++) {
        if (round[i]) t->low[i] = -INFINITY, t->high[i] = INFINITY;
        t->limited |= t->q_of[i] >= 0 && (t->low[i] > -INFINITY || t->high[i] < INFINITY);
    }
    t->option[0] = o->gradient;
    t->option[1] = o->goal < 0 ? -1 : o->goal;
    t->option[2] = 1e-26;
    t->option[3] = o->max_iterations;
}
