// SPDX-License-Identifier: MIT
// A task in a table: on what it is, and in what its error is measured.
#pragma once

#include "sinew/sinew.h"

/// "hand", "hand-foot" for two joints, "(all)", "(7 joints)"; in `text`, of `size` bytes.
const char *task_where(const sn_model *model, const sn_task *task, char *text, size_t size);

/// How wide a column for all of them must be, `least` at least.
int task_where_width(const sn_model *model, const sn_problem *problem, int least);

/// Why a task does not count, "missing" or "weight 0"; NULL where it does.
const char *task_idle(const sn_problem *problem, int task);

/// "m", "rad", "chord", "m,rad", "-".
const char *task_unit(const sn_task *task);

/// A task in the program's JSON: type, joints, level, whether it counts, and its error.
void print_task_json(const sn_model *model, const sn_problem *problem, int task, double error);

/// How many levels the tasks that count have.
int task_levels(const sn_problem *problem);
