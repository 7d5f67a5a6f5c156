// SPDX-License-Identifier: MIT
// A tracker from the inside: track.c solves frames one after the other, side.c chunks of them side by side.
#pragma once

#include <stdatomic.h>

#include "batch/batch.h"
#include "sinew/track.h"

/// What following a chunk needs of its last frames.
typedef struct sn_track_state {
    double *previous, *before;  ///< nq: the last two poses
    double *left;               ///< nq: the pose before the last frame that another try found
    double *weight;             ///< nv, file order: of the rest task
    double usual;               ///< f of the frames that went well, smoothed; NaN before the first
} sn_track_state;

/// A chunk in a lane.
typedef struct sn_track_side {
    sn_track_state state;
    double *start;   ///< nq: where the frame in the lane began
    int frame, end;  ///< in the lane; of this advance, one past its last
    int first;       ///< of the chunk
    bool live;       ///< there is one in it
    bool probing;    ///< f of the pose before is looked at
    bool
        extrapolating;  ///< the frame began from the extrapolated pose, which must be better than that
    bool extrapolated;  ///< that was so
    double probed;      ///< f of the pose before
} sn_track_side;

/// What one thread works with.
typedef struct sn_track_worker {
    sn_problem *problem;  ///< the tasks, and the rest task behind them
    sn_solver *solver;
    sn_solver *careful;        ///< for other tries: another iteration limit
    sn_workspace *ws;          ///< to look at f
    double *q, *trial, *best;  ///< nq
    double *delta;             ///< nv
    sn_track_state own, now;   ///< its memory; of the chunk that it looks at
    sn_track_side *side;       ///< a lane each
    int width;                 ///< how many lanes there are
} sn_track_worker;

struct sn_tracker {
    sn_allocator allocator;
    void *owner;
    const sn_model *model;
    sn_track_options options;
    int rest;         ///< index of the rest task
    sn_batch *batch;  ///< for chunks side by side; NULL: they cannot be
    int nworker;
    sn_track_worker *workers;
    double *start;        ///< nq
    sn_track_state kept;  ///< of the chunk that goes on in the next advance

    // of the present run
    int nframe;
    sn_track_goals goals;
    void *user;
    double *q;
    sn_track_frame *frames;
    int solved;  ///< frames solved in order; where that is inside a chunk, `kept` has its state
    int end;     ///< frames of the present advance end here
    bool aside;  ///< chunks are solved side by side
    atomic_int next_chunk, done;
    atomic_int failed;  ///< sn_status of the first failure
};

static inline double *sn_track_pose(const sn_tracker *t, int frame) {
    return t->q + (size_t)frame * (size_t)t->model->nq;
}

/// track.c: a whole frame by the plain solver; the chunk's state is w->now.
sn_status sn_track_plain(sn_tracker *t, sn_track_worker *w, int frame, bool moving,
                         sn_track_frame *out);
/// The problem as a frame has it: goals, and what it is pulled to.
sn_status sn_track_prepare(sn_tracker *t, sn_track_worker *w, int frame);
/// A frame ended in w->q: tried again where that pays, and into the chunk's state and the motion. The problem is
/// prepared where `ready`.
sn_status sn_track_settle(sn_tracker *t, sn_track_worker *w, int frame, bool ready,
                          sn_track_frame *out);
/// A chunk's first frame is solved: what follows it needs.
sn_status sn_track_enter(sn_tracker *t, sn_track_worker *w, int first);
void sn_track_copy_state(const sn_tracker *t, sn_track_state *to, const sn_track_state *from);

void sn_track_add_counts(sn_report *to, const sn_report *from);
/// Room for one.
void sn_track_layout_state(const sn_tracker *t, sn_track_state *state, sn_layout *layout);

/// side.c: chunks that nobody has begun, until none is left; `resumes`: first the one that `kept` has.
sn_status sn_track_aside(sn_tracker *t, sn_track_worker *w, bool resumes);
/// Room for it.
void sn_track_aside_layout(const sn_tracker *t, sn_track_worker *w, sn_layout *layout);
