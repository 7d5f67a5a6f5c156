// SPDX-License-Identifier: MIT
// Where to start. An arm that turns about its first and about its last axis can bring neither closer
// to the goal by turning there: what counts are four numbers, how far from the first axis and how
// high the last joint's place is, and where its axis points seen from there. They make a small grid;
// each cell keeps a few postures that have led most quickly to goals of that cell, found by trying when
// the arm is made. The first and last angle follow in closed form. After these come the nearest in the
// same numbers of five hundred postures, and then, as for arms of other kinds from the beginning, points
// of a low-discrepancy sequence.
#pragma once

#include "arm/chain.h"
#include "base/memory.h"

enum {
    SN_ARM_CELL_RHO = 5,
    SN_ARM_CELL_Z = 6,
    SN_ARM_CELL_AXIS = 4,
    SN_ARM_CELL_ROUND = 5,
    SN_ARM_CELLS = SN_ARM_CELL_RHO * SN_ARM_CELL_Z * SN_ARM_CELL_AXIS * SN_ARM_CELL_ROUND,
    SN_ARM_CELL_SEEDS = 4,
    SN_ARM_POSTURES = 512,  ///< of the whole arm, for goals that a cell's do not lead to
    SN_ARM_NEAREST = 32,    ///< of them the nearest that are tried
    SN_ARM_CELL_KEPT = 32,  ///< of a cell's postures, for solutions near a start
    SN_ARM_KEYS = 5,
    SN_ARM_TABLE_MAX = 8  ///< variables of an arm with a table
};

/// What a direction counts for beside lengths in the keys below.
extern const double sn_arm_key_share;

/// A posture of the table.
typedef struct sn_arm_seed {
    float q[SN_ARM_TABLE_MAX];  ///< as the model has it, lengths in units
    float azimuth;              ///< of the last joint's place, with the first turn at 0
    float x[3], y[3];           ///< the last joint's frame, its turn at 0, seen from the azimuth
    float pad;
} sn_arm_seed;

typedef struct sn_arm_seeds {
    bool table;       ///< there is one
    int first, last;  ///< the two turns
    sn_frame side;    ///< the first axis's frame in the base
    sn_frame left,
        right;   ///< a kernels' goal between them is the last joint in the first axis's frame
    bool plain;  ///< both are nothing: goals come as they are
    double reach, low, high;                    ///< of the last joint's place: rho, z
    double ratio;                               ///< of the sequence
    double from[SN_ARM_MAX], span[SN_ARM_MAX];  ///< where variables are sampled
    sn_arm_seed *seed;                          ///< SN_ARM_CELLS * SN_ARM_CELL_SEEDS
    sn_arm_seed *posture;                       ///< SN_ARM_POSTURES
    float (*key)[SN_ARM_POSTURES];              ///< SN_ARM_KEYS: of the postures
    sn_arm_seed *kept;  ///< SN_ARM_CELLS * SN_ARM_CELL_KEPT: what a cell was sampled with
    /// SN_ARM_CELLS * n rows of their numbers, as the kernels have them; far off where there is none
    float (*middle)[SN_ARM_CELL_KEPT];
} sn_arm_seeds;

/// A goal as the table sees it.
typedef struct sn_arm_goal_key {
    double azimuth, x[3], y[3];
    float key[SN_ARM_KEYS];
    int cell;
    bool sorted;                  ///< the postures below are found
    int nearest[SN_ARM_NEAREST];  ///< postures, the nearest first
} sn_arm_goal_key;

/// Its share of the arm's memory.
void sn_arm_seeds_layout(sn_arm_seeds *seeds, const sn_arm_chain *chain, sn_layout *layout);

/// Fill what the layout made room for. Allocates while it works.
sn_status sn_arm_seeds_make(sn_arm_seeds *seeds, const sn_arm_chain *chain,
                            const sn_allocator *allocator, sn_error *error);

/// @param goal  twelve numbers, as the kernels have it
void sn_arm_goal_look(const sn_arm_seeds *seeds, const double *goal, sn_arm_goal_key *out);

/// For a goal out of reach: as if it were as far as the arm gets in its direction.
void sn_arm_goal_shrink(const sn_arm_seeds *seeds, sn_arm_goal_key *key);

/// The k-th start for a goal, in the kernels' numbers; false when the first or last angle would have to
/// be outside its limits (it is at them then).
bool sn_arm_seed_at(const sn_arm_seeds *seeds, const sn_arm_chain *chain, sn_arm_goal_key *key,
                    int k, double *q);

/// Starts for a goal that are near a posture, the nearest first and apart from each other; how many.
/// @param want  n numbers, as the kernels have them
/// @param most  room in q
/// @param q     starts, in the kernels' numbers
int sn_arm_seeds_near(const sn_arm_seeds *seeds, const sn_arm_chain *chain,
                      const sn_arm_goal_key *key, const double *want, int most,
                      double (*q)[SN_ARM_MAX]);
/// Ask the memory for what that will look at.
void sn_arm_seeds_fetch(const sn_arm_seeds *seeds, const sn_arm_chain *chain,
                        const sn_arm_goal_key *key);
