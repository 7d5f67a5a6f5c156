// SPDX-License-Identifier: MIT
// What an arm can do at a pose.
#pragma once

#include "arm/arm.h"

/// The columns of what counts, lengths in units of the arm; how many rows they have.
/// @param goal  whose axes count; NULL: the tool's
int sn_arm_columns(const sn_arm_chain *c, const double *q, const sn_frame *goal, sn_frame *tool,
                   double column[][6]);

/// The rows that count of a tool's turn and way, in the axes of a goal; how many.
int sn_arm_rows(const sn_arm_chain *c, const sn_frame *goal, sn_vec3 turn, sn_vec3 way,
                double row[6]);

/// Is the goal's place farther from the first axis than all lengths together?
bool sn_arm_is_far(const sn_arm_search *s);

/// Why the nearest pose is not the goal, and which joint holds it back.
void sn_arm_why_not(const sn_arm_search *s, const double *q, sn_arm_report *report);
