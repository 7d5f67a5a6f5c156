// SPDX-License-Identifier: MIT
// `sinew solve --tip`: one chain of a robot by the arm solver.
#pragma once

#include "cli.h"
#include "figure.h"

/// What the options of the command line say about an arm.
typedef struct arm_settings {
    const char *tip, *base, *goal, *goals, *path, *seed, *out, *tool, *loose, *rest;
    double position_tol, rotation_tol, step, seconds;
    long jobs;
    const char *device;  ///< as --device has it, for --goals
    bool all, csv;
} arm_settings;

/// Whether any of them was given.
bool wants_arm(const arm_settings *s);

/// Solve and print or write. Returns the exit code: EXIT_POOR when a goal is not reached.
/// @param start  the reference pose: joints that the chain leaves alone stay there
int solve_arm(const command *self, const figure *from, const arm_settings *s,
              const word_list *locks, const char *start, bool json);

#define ARM_OPTIONS(at)                                                                            \
    {.group = "One chain of a robot (with --tip)",                                                 \
     .name = "--tip",                                                                              \
     .kind = OPTION_TEXT,                                                                          \
     .value = "LINK",                                                                              \
     .place = (at) + offsetof(arm_settings, tip),                                                  \
     .help = "the link or joint that shall reach the goal; sinew info MODEL lists them"},          \
        {.name = "--goal",                                                                         \
         .kind = OPTION_TEXT,                                                                      \
         .value = "X,Y,Z,QW,QX,QY,QZ",                                                             \
         .place = (at) + offsetof(arm_settings, goal),                                             \
         .help =                                                                                   \
             "where it shall be, metres and a quaternion; three numbers alone are a place with "   \
             "any rotation"},                                                                      \
        {.name = "--goals",                                                                        \
         .kind = OPTION_FILE,                                                                      \
         .value = "FILE",                                                                          \
         .place = (at) + offsetof(arm_settings, goals),                                            \
         .help = "many goals: a line of names, then x,y,z,qw,qx,qy,qz a line, or x,y,z alone; "    \
                 "\"-\" is standard input"},                                                       \
        {.name = "--path",                                                                         \
         .kind = OPTION_FILE,                                                                      \
         .value = "FILE",                                                                          \
         .place = (at) + offsetof(arm_settings, path),                                             \
         .help = "goals to pass on straight lines, without a jump; as --goals"},                   \
        {.name = "--path-step",                                                                    \
         .kind = OPTION_NUMBER,                                                                    \
         .value = "M",                                                                             \
         .low = 1e-5,                                                                              \
         .high = 10,                                                                               \
         .standard = "0.01",                                                                       \
         .place = (at) + offsetof(arm_settings, step),                                             \
         .help = "of a path, metres and radians of the tool"},                                     \
        {.name = "--base",                                                                         \
         .kind = OPTION_TEXT,                                                                      \
         .value = "LINK",                                                                          \
         .place = (at) + offsetof(arm_settings, base),                                             \
         .help = "goals are in the frame of this link; without it in the world"},                  \
        {.name = "--tool",                                                                         \
         .kind = OPTION_TEXT,                                                                      \
         .value = "X,Y,Z[,QW,QX,QY,QZ]",                                                           \
         .place = (at) + offsetof(arm_settings, tool),                                             \
         .help = "a tool in the tip's frame"},                                                     \
        {.name = "--free",                                                                         \
         .kind = OPTION_CHOICE,                                                                    \
         .value = "WHAT",                                                                          \
         .choices = "none turn rotation",                                                          \
         .standard = "none",                                                                       \
         .place = (at) + offsetof(arm_settings, loose),                                            \
         .help =                                                                                   \
             "what of the goal's rotation does not count: turns about the tool's z, or all of "    \
             "it"},                                                                                \
        {.name = "--seed",                                                                         \
         .kind = OPTION_FILE,                                                                      \
         .value = "FILE",                                                                          \
         .place = (at) + offsetof(arm_settings, seed),                                             \
         .help = "find the solution nearest to these joint values: the chain's, or the whole "     \
                 "model's"},                                                                       \
        {.name = "--rest",                                                                         \
         .kind = OPTION_FILE,                                                                      \
         .value = "FILE",                                                                          \
         .place = (at) + offsetof(arm_settings, rest),                                             \
         .help = "the posture of the whole model that freedom which is left leans to"},            \
        {.name = "--all",                                                                          \
         .kind = OPTION_FLAG,                                                                      \
         .place = (at) + offsetof(arm_settings, all),                                              \
         .help = "all solutions that can be told apart, the nearest to the seed first"},           \
        {.name = "--position-tolerance",                                                           \
         .kind = OPTION_NUMBER,                                                                    \
         .value = "M",                                                                             \
         .low = 1e-12,                                                                             \
         .high = 1e3,                                                                              \
         .standard = "1e-6",                                                                       \
         .place = (at) + offsetof(arm_settings, position_tol),                                     \
         .help = "metres"},                                                                        \
        {.name = "--rotation-tolerance",                                                           \
         .kind = OPTION_NUMBER,                                                                    \
         .value = "RAD",                                                                           \
         .low = 1e-12,                                                                             \
         .high = 7,                                                                                \
         .standard = "1e-6",                                                                       \
         .place = (at) + offsetof(arm_settings, rotation_tol),                                     \
         .help = "radians"},                                                                       \
        {.name = "--jobs",                                                                         \
         .letter = "-j",                                                                           \
         .kind = OPTION_INTEGER,                                                                   \
         .value = "N",                                                                             \
         .low = 1,                                                                                 \
         .high = 256,                                                                              \
         .standard = "1",                                                                          \
         .place = (at) + offsetof(arm_settings, jobs),                                             \
         .help = "threads for --goals"},                                                           \
        {.name = "--out",                                                                          \
         .letter = "-o",                                                                           \
         .kind = OPTION_FILE,                                                                      \
         .value = "FILE",                                                                          \
         .place = (at) + offsetof(arm_settings, out),                                              \
         .help = "where the table of --goals or --path goes; without it standard output. One "     \
                 "pose as a "                                                                      \
                 "file: .glb, with the collision shapes of the model, .bvh, .csv, .mot"},          \
    {                                                                                              \
        .name = "--csv", .kind = OPTION_FLAG, .place = (at) + offsetof(arm_settings, csv),         \
        .help = "the solutions of --goal as a table"                                               \
    }
