// SPDX-License-Identifier: MIT
// The solver's parameters as options of a command.
#pragma once

#include <math.h>

#include "cli.h"

/// As the parser leaves them; all zero (no method) for the defaults of the library.
typedef struct solver_settings {
    const char *method;
    long max_iterations, memory, bandwidth;
    double goal, gradient, seconds;
    double damping, step, alpha, beta, pcg_tolerance;
    bool nearest_psd, pcg_constant;
} solver_settings;

#define SOLVER_NAMES                                                                               \
    "hybrid newton newton-pcg lm dls gauss-newton pinv qr bfgs lbfgs ncg projected-gradient "      \
    "jacobian-transpose ccd sdls"

/// Rows of a table. @param base  offset of the solver_settings in the command's settings
/// @param iterations, tolerance  their defaults, as text
#define SOLVER_OPTIONS(base, iterations, tolerance)                                                \
    {.group = "Solver",                                                                            \
     .name = "--solver",                                                                           \
     .kind = OPTION_CHOICE,                                                                        \
     .value = "NAME",                                                                              \
     .choices = SOLVER_NAMES,                                                                      \
     .standard = "hybrid",                                                                         \
     .help = "the method (docs/solvers.md compares them)",                                         \
     .place = (base) + offsetof(solver_settings, method)},                                         \
        {.name = "--max-iterations",                                                               \
         .kind = OPTION_INTEGER,                                                                   \
         .value = "N",                                                                             \
         .low = 0,                                                                                 \
         .high = 1000000,                                                                          \
         .standard = (iterations),                                                                 \
         .help = "stop after this many iterations",                                                \
         .place = (base) + offsetof(solver_settings, max_iterations)},                             \
        {.name = "--tolerance",                                                                    \
         .kind = OPTION_NUMBER,                                                                    \
         .value = "X",                                                                             \
         .high = INFINITY,                                                                         \
         .standard = (tolerance),                                                                  \
         .help = "stop when the relative projected gradient is below",                             \
         .place = (base) + offsetof(solver_settings, gradient)},                                   \
        {.name = "--objective",                                                                    \
         .kind = OPTION_NUMBER,                                                                    \
         .value = "F",                                                                             \
         .standard = "-1",                                                                         \
         .help = "stop when the objective f is at or below; below 0: when all errors are about "   \
                 "1e-13 of "                                                                       \
                 "the figure's size",                                                              \
         .place = (base) + offsetof(solver_settings, goal)},                                       \
        {.name = "--damping",                                                                      \
         .kind = OPTION_NUMBER,                                                                    \
         .value = "LAMBDA",                                                                        \
         .high = INFINITY,                                                                         \
         .standard = "0.1",                                                                        \
         .help = "dls: the constant damping",                                                      \
         .place = (base) + offsetof(solver_settings, damping)},                                    \
        {.name = "--step",                                                                         \
         .kind = OPTION_NUMBER,                                                                    \
         .value = "H",                                                                             \
         .high = INFINITY,                                                                         \
         .standard = "0.005",                                                                      \
         .help = "jacobian-transpose: the fixed step; 0 chooses Buss's step in each iteration",    \
         .place = (base) + offsetof(solver_settings, step)},                                       \
        {.name = "--alpha",                                                                        \
         .kind = OPTION_NUMBER,                                                                    \
         .value = "A",                                                                             \
         .high = 1,                                                                                \
         .inside = true,                                                                           \
         .standard = "1e-4",                                                                       \
         .help = "projected-gradient: the share of the predicted decrease that Armijo's test "     \
                 "asks for",                                                                       \
         .place = (base) + offsetof(solver_settings, alpha)},                                      \
        {.name = "--beta",                                                                         \
         .kind = OPTION_NUMBER,                                                                    \
         .value = "B",                                                                             \
         .high = 1,                                                                                \
         .inside = true,                                                                           \
         .standard = "0.5",                                                                        \
         .help = "projected-gradient: the factor that shortens a step which failed the test",      \
         .place = (base) + offsetof(solver_settings, beta)},                                       \
        {.name = "--memory",                                                                       \
         .kind = OPTION_INTEGER,                                                                   \
         .value = "N",                                                                             \
         .low = 1,                                                                                 \
         .high = 1000,                                                                             \
         .standard = "10",                                                                         \
         .help = "lbfgs: pairs of steps and gradients that are kept",                              \
         .place = (base) + offsetof(solver_settings, memory)},                                     \
        {.name = "--bandwidth",                                                                    \
         .kind = OPTION_INTEGER,                                                                   \
         .value = "N",                                                                             \
         .high = 24,                                                                               \
         .standard = "5",                                                                          \
         .help = "newton-pcg: bandwidth of the preconditioner",                                    \
         .place = (base) + offsetof(solver_settings, bandwidth)},                                  \
        {.name = "--pcg-tolerance",                                                                \
         .kind = OPTION_NUMBER,                                                                    \
         .value = "X",                                                                             \
         .high = INFINITY,                                                                         \
         .inside = true,                                                                           \
         .standard = "0.1",                                                                        \
         .help = "newton-pcg: stop the conjugate gradients at this relative residual",             \
         .place = (base) + offsetof(solver_settings, pcg_tolerance)},                              \
        {.name = "--pcg-constant",                                                                 \
         .kind = OPTION_FLAG,                                                                      \
         .help = "newton-pcg: keep that tolerance near the solution too",                          \
         .place = (base) + offsetof(solver_settings, pcg_constant)},                               \
    {                                                                                              \
        .name = "--nearest-psd", .kind = OPTION_FLAG,                                              \
        .help = "newton-pcg: use the nearest positive semidefinite Hessian",                       \
        .place = (base) + offsetof(solver_settings, nearest_psd)                                   \
    }

/// Put them into a solver's options. False and a message when the build lacks the method, or when a
/// parameter is given that the method does not have.
bool apply_solver(const command *self, const solver_settings *settings, sn_solver_options *out);
