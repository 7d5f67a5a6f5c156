// SPDX-License-Identifier: MIT
// A figure's limbs: the chains at its ends, as joints in sweep order.
#pragma once

#include "tasks/problem.h"

enum { SN_MOST_LIMBS = 63 };

typedef struct sn_limb {
    int first, end;
} sn_limb;

typedef struct sn_limbs {
    int root_end;  ///< the joints before it place the figure: up to the first that carries a task or branches
    int count;
    sn_limb limb[SN_MOST_LIMBS];
} sn_limbs;

void sn_limbs_find(const sn_problem *problem, sn_limbs *out);

/// How many tasks on bodies a joint carries; with all that hang on it.
int sn_limb_own_tasks(const sn_problem *problem, int joint);
int sn_limb_tasks_below(const sn_problem *problem, int joint);

/// a - b of coordinate i of a joint, the short way round where it goes round.
double sn_limb_apart(const sn_joint *joint, int i, double a, double b);

/// How far a stretch of joints is turned between two poses: the largest angle, lengths as radians a metre.
double sn_limb_turned(const sn_model *model, const sn_limb *limb, const double *a, const double *b);

void sn_limb_copy(const sn_model *model, const sn_limb *limb, const double *from, double *to);
