// SPDX-License-Identifier: MIT
// Calls of every public function with one argument wrong at a time.
//
// A row is a good call whose arguments are wrapped in what can be wrong with them. Run without a fault it
// must succeed; then each fault is put in by its number, until there are no more.
#pragma once

#include "support.h"

/// Good arguments for the rows.
typedef struct misuse_world {
    sn_model *model;
    sn_builder *builder, *scrap;  ///< the second may be spoilt
    sn_problem *problem, *tied;   ///< tasks POINT, ORIENTATION, REST, DIRECTION
    sn_workspace *ws;
    sn_solver *solver;
    sn_tracker *tracker;
    sn_smoother *smoother;
    sn_motion *motion;        ///< FRAMES of the model
    sn_recording *recording;  ///< FRAMES of its markers
    sn_table *table;
    sn_marker_set *set;
    sn_export *bvh, *asf;
    sn_task task;
    const sn_sink *sink;  ///< that takes everything
    const sn_path *path;
    char *json, *bvh_text, *asf_text, *amc_text, *mot_text, *csv_text, *trc_text, *set_text;
    char *c3d, *glb;
    size_t c3d_size, glb_size;
    const char *tasks, *urdf, *osim, *ik_tasks;
    double *q, *v, *rows, *big;  ///< pose, velocities, a matrix of the path, room for anything
    bool *keep;
} misuse_world;

extern misuse_world w;

enum {
    MISUSE_LINE = 0,
    MISUSE_DISTANCE,
    MISUSE_POSE,
    MISUSE_CENTRE,
    MISUSE_COUPLED,
    MISUSE_SUPPORT
};
enum { MISUSE_FRAMES = 4, MISUSE_POINT = 0, MISUSE_ORIENTATION, MISUSE_REST, MISUSE_DIRECTION };

/// Some rows and what they need: run when one of them is to be called now.
void misuse_group(void (*rows)(void));
/// Is this row to be called now?
bool misuse_row(const char *name);
/// Is the fault to be put in here? `wrong`: the call must then refuse.
bool misuse_here(bool wrong);
/// What a call gave, where a fault must be refused: a status, or a value that is harmless.
void misuse_status(sn_status status);
void misuse_value(bool harmless);
int misuse_int(int good, bool negative_only);
double misuse_double(double good, bool wrong);
const void *misuse_options(const void *good, size_t size, bool null_too);
const sn_sink *misuse_sink(void);
/// A slot that must be NULL after a failure.
void *misuse_out(void *slot, void (*destroy)(void *));

// What can be wrong with an argument.
#define PTR(x)         (misuse_here(true) ? NULL : (x))   // NULL is refused
#define SINK           misuse_sink()                      // none, and one that cannot write
#define MAY(x)         (misuse_here(false) ? NULL : (x))  // NULL is allowed
#define INDEX(x)       misuse_int(x, false)               // out of range
#define COUNT(x)       misuse_int(x, true)                // negative
#define NUM(x)         misuse_double(x, true)             // NaN and infinity are refused
#define ANY(x)         misuse_double(x, false)            // and where they are let through
#define ENUM(type, x)  ((type)misuse_int((int)(x), false))
#define OPTIONS(x)     misuse_options(&(x), sizeof(x), false)  // NULL is allowed, another version not
#define OUT(slot, end) (misuse_here(true) ? NULL : misuse_out(&(slot), end))

// Rows by what they return.
#define STATUS(function, ...)                                                                      \
    if (misuse_row(#function)) misuse_status(function(__VA_ARGS__))
#define VALUE(function, harmless, ...)                                                             \
    if (misuse_row(#function)) misuse_value(function(__VA_ARGS__) harmless)
#define VOID(function, ...)                                                                        \
    if (misuse_row(#function)) (function(__VA_ARGS__), misuse_value(true))
// a struct, which has no harmless value to compare with: it must come back
#define STRUCT(function, ...)                                                                      \
    if (misuse_row(#function)) ((void)function(__VA_ARGS__), misuse_value(true))
// no argument to be wrong
#define NONE(function)                                                                             \
    if (misuse_row(#function)) ((void)function(), misuse_value(true))

void misuse_core(void);
void misuse_files(void);
