// SPDX-License-Identifier: MIT
// sinew against OpenSim on the same models and takes: whose objective is lower, how far the angles are apart, how
// long it takes. Data as in docs/opensim.md: folders subject4, gait2354 and gait10.
#pragma once

#include "sinew/sinew.h"

/// What another program is to fit: the same model, frames and tasks.
typedef struct opensim_job {
    const char *osim;  ///< the model's file
    size_t length;
    const sn_model *model;
    const sn_osim_coordinates *coordinates;
    const sn_ik_setup *setup;
    const sn_recording *recording;
    int first, count;  ///< frames
    double seconds;    ///< it took, of processor time, without building the model
    double *q;         ///< count x nq: what it found
} opensim_job;

/// Simbody's Assembler, the solver inside OpenSim; false and a message when it fails.
typedef bool (*opensim_peer)(opensim_job *job);

/// One take with its reference.
typedef struct opensim_case {
    const char *name, *model, *setup, *markers, *reference;  ///< under the data folder
    double apart, apart_barrier;                             ///< targets, degrees; 0: none
} opensim_case;

enum { OPENSIM_CASES = 5 };
extern const opensim_case opensim_cases[OPENSIM_CASES];

/// What is in its files.
typedef struct opensim_files {
    char *osim;
    size_t length;
    sn_document model, markers, reference;
    sn_ik_setup *setup;
    sn_motion *theirs;  ///< of the reference
} opensim_files;

/// False, after a message, when a file is not there or not right.
bool opensim_load(const opensim_case *which, const char *data, opensim_files *out);
void opensim_free(opensim_files *files);

/// How a take compares.
typedef struct opensim_result {
    int frames;    ///< of the reference
    double worst;  ///< the largest of our objective over OpenSim's, of all frames
    int worse;     ///< frames in which OpenSim is in a worse valley
    int early;  ///< frames in which it stopped more than 0.5 % above the bottom of its own objective
    int counted;       ///< coordinates that count
    double apart;      ///< mean of their RMS, degrees, without the frames of `worse` and `early`
    double apart_all;  ///< with them
    double seconds;    ///< ours, of all frames fitted
    int fitted;        ///< frames
} opensim_result;

/// Fit one and compare.
/// @param rms  per coordinate of the file: RMS over the frames that count, degrees or metres; NULL
/// @param moved  per coordinate: what 1 cm of noise in every marker moves it by; NAN: no marker sees it. NULL
bool opensim_compare(const opensim_files *files, bool barrier, opensim_result *out, double *rms,
                     double *moved);

/// Other starts for every `every`-th frame, `starts` each: how many frames have a lower valley than ours.
/// @param tried  frames that were looked at
int opensim_other_starts(const opensim_files *files, int starts, int every, uint64_t seed,
                         int *tried);

/// All of it as a table. @param peer  NULL: none is built in
/// 0 well, 1 when a target is missed, 3 when the data cannot be read.
int bench_opensim(const char *data, bool coordinates, opensim_peer peer);
