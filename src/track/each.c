// SPDX-License-Identifier: MIT
// The take is cut into chains of neighbouring frames, and as many of them as there are lanes are followed at once, all
// from the last pose that is known before them. Where one of them ends in another valley the seams show it, and
// sn_track_valleys() looks at those. How a take is cut depends on its length alone, so that neither lanes nor threads
// change a bit.
#include "track/each.h"

#include <math.h>
#include <string.h>

#include "batch/batch.h"

enum { CHAINS = 16, LONG_CHAIN = 32, FEW_CHAINS = 8 };

// Chains enough for the lanes of a thread or two, and not longer than needed for that.
static int chain_length(int nframe) {
    const int chains = nframe <= FEW_CHAINS * LONG_CHAIN ? FEW_CHAINS : CHAINS;
    const int length = nframe / chains + (nframe % chains > 0);
    return length < 1 ? 1 : length < LONG_CHAIN ? length : LONG_CHAIN;
}

static void lay_out(sn_each *e, sn_layout *layout) {
    const size_t nq = (size_t)e->rows.batch->model->nq, block = (size_t)e->block;
    e->start = sn_layout_take(layout, nq, sizeof(double));
    e->starts = sn_layout_take(layout, CHAINS * nq, sizeof(double));
    e->reports = sn_layout_take(layout, block, sizeof *e->reports);
}

sn_status sn_each_begin(sn_each *each, const sn_each_rows *rows, int nframe, const double *start,
                        const sn_allocator *allocator, double *q, sn_lane_frame *frames) {
    sn_each e = {.allocator = sn_allocator_of(allocator),
                 .rows = *rows,
                 .nframe = nframe,
                 .length = chain_length(nframe),
                 .q = q,
                 .frames = frames};
    e.block = CHAINS * e.length < nframe ? CHAINS * e.length : nframe;
    sn_layout layout = {0};
    lay_out(&e, &layout);
    void *block = sn_layout_acquire(&layout, allocator, &e.owner);
    if (block == NULL) return SN_ERR_MEMORY;
    layout = (sn_layout){.block = block};
    lay_out(&e, &layout);
    memcpy(e.start, start, (size_t)rows->batch->model->nq * sizeof *start);
    *each = e;
    return SN_OK;
}

void sn_each_end(sn_each *each) {
    if (each->owner != NULL) sn_release(&each->allocator, each->owner);
    *each = (sn_each){0};
}

// How many degrees of freedom stand at a limit.
static int at_limits(const sn_model *m, const double *q) {
    int n = 0;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        const int count = j->ops->quaternion >= 0 ? j->ops->quaternion : j->nv;
        for (int i = 0; i < count; i++) {
            const double x = q[j->q0 + i];
            n += m->gain[j->v0 + i] != 0 && (x <= m->lower[j->v0 + i] || x >= m->upper[j->v0 + i]);
        }
    }
    return n;
}

static void keep_report(sn_lane_frame *to, const sn_batch_report *r, int active) {
    // a trip is a look at all of it
    const int looks = r->iterations + 1;
    *to = (sn_lane_frame){.iterations = r->iterations,
                          .functions = looks,
                          .gradients = looks,
                          .hessians = looks,
                          .factorizations = looks,
                          .active = (short)active,
                          .stop = (unsigned char)r->stop};
}

// The next chains.
static sn_status follow(sn_each *e) {
    sn_batch *b = e->rows.batch;
    const size_t nq = (size_t)b->model->nq;
    const int first = e->solved, left = e->nframe - first, n = e->block < left ? e->block : left;
    const int nchain = n / e->length + (n % e->length > 0);
    double *q = e->q + (size_t)first * nq;
    for (int c = 0; c < nchain; c++)
        memcpy(e->starts + (size_t)c * nq, first > 0 ? q - nq : e->start, nq * sizeof *q);
    const sn_batch_job job = {.nchain = nchain,
                              .nframe = e->length,
                              .starts = e->starts,
                              .poses = q,
                              .reports = e->reports,
                              .rows = n,
                              .row = e->rows.row,
                              .user = e->rows.user,
                              .first = first};
    SN_TRY(sn_batch_run(b, &job));
    for (int i = 0; i < n; i++)
        keep_report(&e->frames[first + i], &e->reports[i], at_limits(b->model, q + (size_t)i * nq));
    e->solved += n;
    double share;
    e->rows.row(e->rows.user, first + n - 1, b->worker[0].numbers, &share);
    const double f = e->reports[n - 1].f;
    e->error = share > 0 && f > 0 ? sqrt(2 * f / share) : 0;
    return SN_OK;
}

sn_status sn_each_advance(sn_each *each, int count) {
    const int left = each->nframe - each->solved;
    const int end = each->solved + (count < 0 || count > left ? left : count);
    while (each->solved < end) SN_TRY(follow(each));
    return SN_OK;
}
