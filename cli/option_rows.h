// SPDX-License-Identifier: MIT
// Options that several commands have: their fields for a row of a table.
#pragma once

#include "options.h"

/// A path under a name and a letter.
#define ROW_FILE(name_, letter_, place_, help_)                                                    \
    .name = (name_), .letter = (letter_), .kind = OPTION_FILE, .value = "FILE", .place = (place_), \
    .help = (help_)

#define ROW_MODEL(place_, help_) ROW_FILE("--model", "-m", place_, help_)
#define ROW_TASKS(place_, help_) ROW_FILE("--tasks", "-t", place_, help_)

/// What the models of `fit` and `markers` may be.
#define SKELETON_HELP "the skeleton: ASF, BVH, GLB, URDF, MJCF, OSIM or a native JSON model"
/// What the models of `solve` and `eval` may be.
#define MODEL_HELP "the model: a file of any format, or \"humanoid\""
/// What a file of a pose holds.
#define POSE_HELP "nq numbers, a JSON array or separated by white space; without it the zero pose"

/// A word.
#define ROW_TEXT(name_, value_, place_, help_)                                                     \
    .name = (name_), .kind = OPTION_TEXT, .value = (value_), .place = (place_), .help = (help_)

#define ROW_SUBJECT(place_)                                                                        \
    ROW_TEXT("--subject", "NAME", place_,                                                          \
             "of several subjects in the file, this one: the part of the labels before the colon")
#define ROW_FRAMES(place_, help_) ROW_TEXT("--frames", "A:B", place_, help_)
#define ROW_AXES(place_, help_)   ROW_TEXT("--axes", "WORD", place_, help_)

/// What --out-units does.
#define OUT_UNITS_HELP                                                                             \
    "the output's unit of length, for formats that can choose (BVH, ASF, C3D, TRC, STO, CSV): m, " \
    "cm, mm, in, ft, or source for that of the file it comes from. Without it BVH and ASF have "   \
    "the skeleton's unit (BVH else cm), markers mm (STO: m)"

/// One of the six directions; a unit of length.
#define ROW_AXIS(name_, place_, help_)                                                             \
    ROW_TEXT(name_, "AXIS", place_, help_), .choices = "x y z -x -y -z"
#define ROW_UNIT(name_, place_, help_)                                                             \
    ROW_TEXT(name_, "UNIT", place_, help_), .choices = "m cm mm in ft"
#define ROW_OUT_UNITS(name_, place_, help_)                                                        \
    ROW_TEXT(name_, "UNIT", place_, help_), .choices = "m cm mm in ft source"

#define ROW_FLAG(name_, place_, help_)                                                             \
    .name = (name_), .kind = OPTION_FLAG, .place = (place_), .help = (help_)

/// --floating: for URDF files, whose base stands on the ground.
#define ROW_FLOATING(place_)                                                                       \
    ROW_FLAG("--floating", place_, "URDF: the base moves freely, as that of a robot on legs")
