// SPDX-License-Identifier: MIT
// From a problem to the lists of table.h.
#pragma once

#include "batch/table.h"
#include "sinew/batch.h"
#include "tasks/problem.h"

/// Where each task's numbers begin in a row of goals (`at` may be NULL); returns how many a row has.
int sn_batch_goal_places(const sn_problem *p, bool locals, int *at);

/// NULL, or why a problem's rows are left to the plain solver.
const char *sn_batch_unfit(const sn_problem *p, const sn_solver_options *o);

/// The table of a problem that fits: counts; room for its lists, measured and placed; the lists.
/// @param round  nv: angles that go round, without limits on the way
void sn_batch_table_count(const sn_problem *p, const sn_solver_options *o, bool locals, bool pulled,
                          sn_batch_table *t);
/// The same for the most that the problem can come to with its tasks on, off or weighted otherwise.
void sn_batch_table_most(const sn_problem *p, const sn_solver_options *o, sn_batch_table *t);
void sn_batch_table_layout(sn_batch_table *t, sn_layout *layout);
void sn_batch_table_fill(sn_batch_table *t, const sn_problem *p, const sn_solver_options *o,
                         const int *goal_at, const bool *round);

/// table_drive.c: what functions drive.
void sn_batch_drive_count(const sn_model *model, sn_batch_table *t);
void sn_batch_drive_fill(const sn_model *model, sn_batch_table *t);

/// Room for the numbers of so many lanes.
void sn_batch_work_layout(const sn_batch_table *t, int lanes, sn_batch_work *w, sn_layout *layout);
