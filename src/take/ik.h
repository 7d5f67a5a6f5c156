// SPDX-License-Identifier: MIT
// What OpenSim's files add to a take: default and prescribed values, ranges, and what a setup of its inverse
// kinematics asks for.
#pragma once

#include "math/quintic.h"
#include "sinew/take.h"

/// A coordinate whose value changes from frame to frame.
typedef struct sn_ik_moving {
    sn_coordinate at;
    int q;                  ///< where it is in a pose
    int source;             ///< prescribed: its coordinate in the model's file
    int nknot;              ///< of a column of the coordinate file: its rows with a number,
    sn_quintic_knot *knot;  ///< and the spline through them
} sn_ik_moving;

/// Constant once made; the fit's threads share it.
typedef struct sn_ik_plan {
    void *owner;
    bool exact;  ///< OpenSim's objective: weights of markers over their sum
    const sn_osim_coordinates *coordinates;
    const sn_table *table;  ///< of the coordinate file; NULL for none
    double *home;           ///< nq: defaults
    double *lower, *upper;  ///< nv: stated ranges, clamped or not
    double *pull;           ///< nv: weights of coordinate tasks
    double *target;         ///< nq: and where they pull to
    bool pulls;             ///< there are coordinate tasks
    int nprescribed, nfile;
    sn_ik_moving *prescribed, *file;
    sn_quintic_knot *knot;  ///< of all that is taken from the file
    double *work;           ///< while the splines are made
    double start, step;  ///< the time of the recording's first frame, and between frames; seconds
} sn_ik_plan;

/// The values of coordinate tasks at a frame of the recording. @param q  nq, filled
void sn_ik_targets(const sn_ik_plan *plan, int frame, double *q);

/// Hold the prescribed coordinates of a problem where they are at a frame of the recording.
sn_status sn_ik_hold(const sn_ik_plan *plan, int frame, sn_problem *problem);

/// The time of a frame of the recording, from 0.
double sn_ik_time(const sn_ik_plan *plan, int frame);
