// SPDX-License-Identifier: MIT
// What the tests share: cmocka, random models and problems, allocators that trap or fail, data.
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "files/skeleton_rows.h"
#include "model/model_text.h"
#include "sinew/sinew.h"
#include "sweeps/path_rows.h"

/// How many random cases to run: `usual`, times the environment's SINEW_CASES (a factor such as
/// 0.1 or 100) where it is set.
int cases(int usual);

/// The same with an end to it, where a case costs much and the last ones tell no more.
int cases_up_to(int usual, int most);

/// Run the tests of this program alone whose names match the environment's SINEW_ONLY (loops, s*).
void only_asked(void);
/// Fewer than usual are asked for, as under sanitizers: every path once is enough.
bool sampled(void);
/// The first of them to look at, the environment's SINEW_FIRST: to see again the one that failed, or to share
/// a long run between processors.
int first_case(void);

/// Path of a file under the data folder; NULL when it isn't there, and the test should skip() after
/// printing why, which this does.
const char *data_path(const char *name);

/// Numbers in the program's locale have a decimal comma from here until setlocale(LC_NUMERIC, "C"): which one it is, made
/// by localedef where none is installed. NULL when there is no way, which is printed.
const char *decimal_commas(void);

/// A whole file, terminated; fails the test when it can't be read. Free with free().
char *slurp(const char *path, size_t *length);

/// |x - y| <= tolerance max(1, |x|, |y|), else fail with both.
void assert_near(double x, double y, double tolerance);

double uniform(uint64_t *state, double low, double high);
int below(uint64_t *state, int n);

/// A random joint of a type: axis, offset, order, sometimes limits, lock or strength. The name is
/// j<index>.
sn_joint_desc random_joint(uint64_t *state, sn_joint_type type, int index, int parent);

/// Whether random functions may have kinks (polylines): f then has minima that are no stationary points.
extern bool random_kinks;

/// random_problem() draws tasks of one's own, too, which go through the slow hyper-dual reference.
extern bool random_owns;

/// Random functions of up to `most` coordinates: all kinds, of one or several of them. They stay until
/// the 64th call after.
const sn_joint_functions *random_functions(uint64_t *state, int most);

/// A random tree of `njoint` joints (type < 0: any type). Parents may come after their children.
sn_model *random_model(uint64_t *state, int njoint, int type);

/// A random task of a type on a joint; rest poses are allocated into *q (free them).
sn_task random_task(uint64_t *state, const sn_model *model, sn_task_type type, int joint,
                    double **q);

/// What rows that couple branches would add to H if nothing cancelled, after an evaluation with second
/// derivatives: what moves all bodies of a task alike cancels only in the sum.
double rows_size(const sn_workspace *ws);

/// Perhaps a matrix weight and a loss, where it can have them.
void random_weights(uint64_t *state, sn_task *task);

/// `ntask` random tasks, of one type or (type < 0) any.
/// A type of -1 is any of those on one joint, -2 any at all, with matrices and losses.
sn_problem *random_problem(uint64_t *state, const sn_model *model, int ntask, int type);

/// A reader refused a file: with SN_ERR_PARSE, no object, and a message at the line.
void check_refusal(sn_status status, const void *out, const sn_error *error, int line,
                   const char *message);

/// An allocator that counts, and fails the call number `fail_at` (from 0; -1 never), or from then
/// on.
typedef struct test_allocator {
    sn_allocator base;
    long calls, live;
    long fail_at;
    bool fail_after;  ///< fail every call from fail_at on
    bool trap;        ///< any call at all is a failure
} test_allocator;

void test_allocator_begin(test_allocator *allocator);
