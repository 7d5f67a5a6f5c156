// SPDX-License-Identifier: MIT
#include "track/scouts.h"

#include <string.h>

#include "batch/batch.h"
#include "sweeps/workspace.h"

sn_status sn_scouts_open(sn_scouts *c, const sn_each_rows *rows, int frames, int starts,
                         const sn_allocator *allocator) {
    const size_t count = (size_t)frames * (size_t)starts, ngoal = (size_t)rows->batch->ngoal;
    *c = (sn_scouts){.rows = rows, .nq = (size_t)rows->batch->model->nq, .starts = starts};
    c->q = sn_acquire(allocator, count * (c->nq + ngoal + 1) * sizeof *c->q);
    c->reports = sn_acquire(allocator, count * sizeof *c->reports);
    if (c->q == NULL || c->reports == NULL) return SN_ERR_MEMORY;
    c->goals = c->q + count * c->nq;
    c->shares = c->goals + count * ngoal;
    return SN_OK;
}

void sn_scouts_close(sn_scouts *c, const sn_allocator *allocator) {
    sn_release(allocator, c->reports);
    sn_release(allocator, c->q);
}

void sn_scouts_add(sn_scouts *c, int frame) {
    const size_t ngoal = (size_t)c->rows->batch->ngoal;
    const size_t first = (size_t)c->count * (size_t)c->starts;
    double *goals = c->goals + first * ngoal;
    c->rows->row(c->rows->user, frame, goals, &c->shares[first]);
    for (size_t n = 1; n < (size_t)c->starts; n++) {
        memcpy(goals + n * ngoal, goals, ngoal * sizeof *goals);
        c->shares[first + n] = c->shares[first];
    }
    c->frame[c->count++] = frame;
}

sn_status sn_scouts_run(sn_scouts *c, double gradient, int iterations, int held) {
    const sn_batch_job job = {.nchain = c->count * c->starts,
                              .nframe = 1,
                              .goals = c->goals,
                              .starts = c->q,
                              .poses = c->q,
                              .reports = c->reports,
                              .shares = c->shares};
    return sn_batch_scout(c->rows->batch, gradient, iterations, held, &job);
}

// What a limb costs at a pose that is placed in `ws`, with the goals of a row: points and what coordinates are pulled to.
static double limb_cost(const sn_scouts *c, int row, const sn_workspace *ws, const sn_limb *l,
                        const double *q) {
    const sn_batch *b = c->rows->batch;
    const sn_batch_table *t = &b->table;
    const sn_problem *p = b->problem;
    const double *goals = c->goals + (size_t)row * (size_t)b->ngoal;
    double twice = 0;
    for (int k = l->first; k < l->end; k++) {
        const sn_joint *j = &b->model->joint[k];
        for (int i = t->point_first[k]; i < t->point_first[k + 1]; i++) {
            const sn_vec3 local = v3_from(t->point_local + 3 * i);
            const sn_vec3 at = v3_add(ws->origin, sn_place(&ws->frame[k], local));
            const sn_vec3 r = v3_sub(v3_from(goals + t->point_goal[i]), at);
            const double square = v3_dot(r, r);
            if (square >= 0) twice += t->point_weight[i] * square;  // else it is not seen
        }
        for (int r = 0; r < p->nrest; r++) {
            if (!p->rest[r].active || j->ops->quaternion >= 0) continue;
            for (int i = 0; i < j->nv; i++) {
                const double d = sn_limb_apart(j, i, q[j->q0 + i], p->rest[r].q[j->q0 + i]);
                const double w = p->rest[r].weight * p->rest[r].q_weight[j->v0 + i];
                twice += c->shares[row] * w * d * d;
            }
        }
    }
    return 0.5 * twice;
}

bool sn_scouts_better(const sn_scouts *c, int at, int start, const sn_limbs *limbs,
                      const double *own, double by, sn_workspace *ws) {
    const sn_batch *b = c->rows->batch;
    const double *q = sn_scouts_pose(c, at, start);
    const int row = at * c->starts;
    double cost[SN_MOST_LIMBS];
    bool turned[SN_MOST_LIMBS], any = false;
    for (int l = 0; l < limbs->count; l++) {
        // nearer to each other they are in one valley
        turned[l] = sn_limb_turned(b->model, &limbs->limb[l], q, own) >= 0.1;
        any = any || turned[l];
    }
    // other tasks than points are measured by others
    if (!any || b->problem->npart > 0 || b->table.loss) return any;
    if (sn_workspace_pose(ws, own) != SN_OK) return true;
    for (int l = 0; l < limbs->count; l++)
        if (turned[l]) cost[l] = limb_cost(c, row, ws, &limbs->limb[l], own);
    if (sn_workspace_pose(ws, q) != SN_OK) return true;
    for (int l = 0; l < limbs->count; l++)
        if (turned[l] && limb_cost(c, row, ws, &limbs->limb[l], q) < cost[l] - by) return true;
    return false;
}
