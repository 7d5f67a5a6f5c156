// SPDX-License-Identifier: MIT
#include "track/scouts.h"

#include <string.h>

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
