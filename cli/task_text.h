// SPDX-License-Identifier: MIT
// A task in a table: on what it is, and in what its error is measured.
#pragma once

#include "sinew/sinew.h"

/// "hand", "hand-foot" for two joints, "(all)", "(7 joints)"; in `text`, of `size` bytes.
const char *task_where(const sn_model *model, const sn_task *task, char *text, size_t size);

/// "m", "rad", "chord", "m,rad", "-".
const char *task_unit(const sn_task *task);

/// How many levels the tasks that count have.
int task_levels(const sn_problem *problem);
