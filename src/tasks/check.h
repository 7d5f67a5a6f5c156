// SPDX-License-Identifier: MIT
// Is a task well formed? The same rules for the C API, the JSON reader and the setters.
#pragma once

#include "base/status.h"
#include "sinew/task.h"

enum { SN_TASK_VERSION = 1 };

/// All finite and not beyond SN_MAX_NUMBER.
bool sn_task_numbers(const double *x, int n);

/// May be the scale of a loss: its square is neither 0 nor infinite.
bool sn_loss_scale_fits(double scale);

/// Symmetric and with no negative eigenvalue, up to rounding: n x n numbers.
bool sn_task_semidefinite(const double *matrix, int n);

/// May be masses: none negative, the sum above 0.
bool sn_task_masses(const double *masses, int n);

/// Check what a coupled task says of the others; SN_OK for tasks of other types.
sn_status sn_task_check_coupled(const sn_task *tasks, int ntask, int index, sn_error *error);

/// One of the levels there are.
bool sn_level_fits(int level);

/// Check one task; the message names it by its place, type and joint.
sn_status sn_task_check(const sn_model *model, const sn_task *task, int index, int line,
                        sn_error *error);
