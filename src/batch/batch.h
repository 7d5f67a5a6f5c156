// SPDX-License-Identifier: MIT
// Many problems from the inside: the rows of a job are handed out one by one (run.c), solved in lanes or by
// the plain solver (rows.c), or all at once on a device.
#pragma once

#include <stdatomic.h>

#include "batch/kernels.h"
#include "batch/make.h"
#include "model/model.h"
#include "solvers/solver.h"

/// Chains of frames; plain rows are chains of one.
typedef struct sn_batch_job {
    int nchain, nframe;
    const double *goals, *starts;
    double *poses;
    sn_batch_report *reports;
    int rows;  ///< of all chains, the last one shorter than the others; 0: all are whole
    const double *shares;  ///< of each row: what rest poses are multiplied with; NULL: 1
    /// In the place of goals and shares: fills them in for a row.
    void (*row)(void *user, int row, double *goals, double *share);
    void *user;
    int first;  ///< which of the user's rows the first is
} sn_batch_job;

/// A row in a lane.
typedef struct sn_batch_row {
    bool live;
    int chain, frame, seed;
    double *start;              ///< nq: where it began
    double *previous, *before;  ///< nq: the chain's last two poses
    double *best;               ///< nq: of the starts so far
    double usual;  ///< f that the chain's frames begin with, smoothed; NaN before the second
    double jump;   ///< f above which its start is a jump
    sn_batch_report kept;
    int64_t iterations;
    double share;  ///< what rest poses are multiplied with
} sn_batch_row;

/// What a thread works with.
typedef struct sn_batch_worker {
    struct sn_batch *batch;
    sn_problem *problem;
    sn_solver *solver;
    sn_batch_work work;
    sn_batch_row *row;  ///< a lane each
    double *q, *delta;  ///< nq, nv: scratch
    double *numbers;    ///< ngoal: a row of goals, ready for a lane
    double share;       ///< what the plain solver multiplies rest poses with
    sn_batch_counts counts;
    char apart
        [64];  ///< counts change with every trip: not in a line that the next thread reads from
} sn_batch_worker;

typedef struct sn_batch_device sn_batch_device;

struct sn_batch {
    sn_allocator allocator;
    void *owner;
    const sn_model *model;  ///< with the problem's limits and gains
    sn_problem *problem;
    sn_batch_options options;
    sn_batch_table table;
    bool fits;  ///< lanes can solve it
    int lanes;
    sn_batch_trip trip;
    int *goal_at;  ///< ntask
    bool *round;   ///< nv: angles that go round
    bool turning;  ///< there are some
    bool bounded;  ///< ... with limits
    bool flat;     ///< coordinates are added and subtracted as they are
    int ngoal;
    double *
        pull;  ///< nv, file order: what pulls a frame to the pose before it; only with options.rest
    int nworker;
    sn_batch_worker *worker;
    sn_batch_device *device;  ///< NULL: the processor
    sn_batch_device *lost;    ///< one that failed
    char note[1400];
    sn_batch_counts counts;
    sn_batch_job waiting[2];
    bool begun[2];  ///< on the device, in slot 0 or 1
    int slot[2];
    int nwaiting, next_slot;
    void *room[16];  ///< plain memory that was asked for
    int nroom;

    // of the present job
    const sn_batch_job *job;
    atomic_int next, failed;
};

/// rows.c: numbers of a row as lanes want them: directions of length 1, one NaN in front of what is
/// missing. False when they are no goals.
bool sn_batch_row_goals(const sn_batch *b, const double *goals, double *out);
/// The same from a problem with the batch's tasks, whose goals, local points or missing tasks may be other ones. False
/// when more of it is another.
bool sn_batch_row_of(const sn_batch *b, const sn_problem *problem, double *out);
/// A row from a problem itself, without local points. @param at  ntask: from sn_batch_goal_places()
bool sn_batch_problem_goals(const sn_problem *problem, const int *at, double *out);
/// The sine of the lanes is good for angles of some turns: what is far out is the plain solver's.
bool sn_batch_row_far(const sn_batch_table *t, const double *q);
/// How a lane that ended with SN_END_... ended.
sn_stop sn_batch_stop_of(int how);
/// A start that can be used, moved into the limits; false when it is none.
bool sn_batch_row_start(const sn_batch *b, const double *start, double *q);
/// Put a row's goals into a thread's own problem; false when they are no goals.
bool sn_batch_row_set(const sn_batch_worker *w, const double *goals);
/// The plain solver on a row from q.
/// @param anchor  what it is pulled to; NULL: nothing
void sn_batch_row_plain(sn_batch_worker *w, const double *goals, const double *anchor, double *q,
                        sn_batch_report *out);
/// Bring angles that go round to the turn nearest to `start`. False when the plain solver must go on.
bool sn_batch_row_turns(const sn_batch *b, const double *start, double *q);
/// The n-th other start of a row.
void sn_batch_row_seed(const sn_batch *b, int64_t row, int n, const double *start, double *q);
/// Where a chain goes on.
void sn_batch_row_next(const sn_batch_worker *w, const sn_batch_row *row, int frame, double *q);

/// batch.c: the same as sn_batch_create(), with each frame of a chain but the first pulled to the pose before it.
/// @param hold  nv, file order: how much each degree of freedom is
sn_status sn_batch_create_held(const sn_problem *problem, const sn_batch_options *options,
                               const double *hold, const sn_allocator *allocator, sn_batch **out,
                               sn_error *error);

/// run.c: all rows of a job on this processor.
sn_status sn_batch_run(sn_batch *b, const sn_batch_job *job);
/// The same with rows that end at another relative gradient, or after so many iterations: as the hybrid method goes.
/// @param held  degrees of freedom from this one on (sweep order) stay as they are
sn_status sn_batch_scout(sn_batch *b, double gradient, int iterations, int held,
                         const sn_batch_job *job);
