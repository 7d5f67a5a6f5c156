// SPDX-License-Identifier: MIT
// A problem seen at one level: the tasks of that level count, all others are as if switched off.
#pragma once

#include "tasks/problem.h"

/// The given problem with arrays of its own where a task's being active is written.
typedef struct sn_level_view {
    sn_problem problem;
    int top;  ///< the first of its levels: guards belong to it
    sn_point *point;
    sn_part *part;
    sn_rest *rest;
    sn_soft *soft;
    sn_tied *tied;
    sn_posture *posture;
    int *point_level, *part_level, *rest_level, *soft_level, *tied_level, *posture_level;
} sn_level_view;

/// Its share of a block of memory: called twice, first measuring.
void sn_level_view_layout(sn_level_view *view, const sn_problem *problem, sn_layout *layout);

/// Look at the problem as it is now; it has no tasks until one of its levels is shown.
void sn_level_view_begin(sn_level_view *view, const sn_problem *problem);

/// The tasks of `level` alone; -1: none at all.
void sn_level_view_show(sn_level_view *view, const sn_problem *problem, int level);

/// The levels that active tasks have, in order; how many.
int sn_problem_levels(const sn_problem *problem, int level[SN_MAX_LEVELS]);
