// SPDX-License-Identifier: MIT
// The arm solver on arms that everybody knows, or on one of the caller's.
#pragma once

#include "sinew/sinew.h"

typedef struct arms_options {
    int problems;           ///< of each kind
    const sn_model *model;  ///< NULL: the built-in arms
    const char *tip;        ///< of the model
    const char *peer;       ///< the program that solves the same with KDL; NULL: none
} arms_options;

/// Measure and print a table with the targets. False when one is missed.
bool bench_arm_solver(const arms_options *options);

/// A peer's figures.
typedef struct arms_peer {
    int problems, solved;
    double median, mean, p99;  ///< microseconds
} arms_peer;

/// arms_kdl.c: the same problems by the peer; false when it can't be run or the chain is none for it.
/// @param goals   7 numbers each
/// @param starts  n numbers each
bool bench_arms_peer(const char *peer, const sn_model *model, const char *tip, int problems,
                     const double *goals, const double *starts, arms_peer *out);
