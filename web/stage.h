// SPDX-License-Identifier: MIT
// The one stage behind the page's calls.
#pragma once

#include "sinew_web.h"
#include "solvers/solver.h"

typedef struct goal {
    int joint, kind;
    double weight;
    double local[3], at[3], turn[4];
} goal;

typedef struct lane {
    int method, iterations;  // method -1: not used
    sn_solver *solver;
    double *q;
    sn_report report;
    double *trace;  // 8 per entry
    int ntrace;
    bool watched;
} lane;

typedef struct stage {
    // what the figure came from; one of the two owns `base`
    sn_skeleton *skeleton;
    sn_model *own;
    const sn_model *base;
    bool turned;  // z was up: its root is turned, what belongs to the world is not
    sn_osim_coordinates
        *coordinates;  // of an OpenSim file: its ranges, locks and defaults; else NULL

    sn_model *model;  // base with limits and locks as they are switched
    bool limits;
    unsigned char *locked;             // njoint
    double size;                       // metres, about half the figure's extent
    double *numbers;                   // everything below that is double, in one block
    double *q, *rest, *start, *again;  // nq
    double *ease;                      // nq: the pose that joints are drawn to
    double *delta, *gradient;          // nv
    double *ease_weight;               // nv
    double *rows;                      // a path-sparse matrix
    bool *free;                        // nv, sweep order
    signed char *held;                 // nv
    float *matrices;                   // njoint x 16

    goal goals[WEB_GOALS];
    int ngoal;
    sn_problem *problem;
    sn_workspace *probe;
    lane lanes[WEB_LANES];

    sn_error error;
    void *buffer;
} stage;

extern stage the;

/// A new figure in place of the present one, which is let go. Takes over what is given; on failure
/// it is destroyed and the present figure stays.
int stage_take_model(sn_model *model, sn_skeleton *skeleton);

/// ease.c: how strongly each joint of `base` is drawn to its place, and the task that does it.
void ease_weigh(void);
sn_task ease_task(void);
/// Move the goals of the problem on by what that task took from them at the pose q of a solve, as
/// often as EASE_ROUNDS, and back to their places.
enum { EASE_ROUNDS = 1 };
void ease_move_on(const double *q);
void ease_move_back(void);

/// figures.c
sn_status figure_build(int which, sn_model **out);

/// take.c: forget the take when the figure changes.
void take_forget(void);
