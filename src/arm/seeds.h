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
#include "arm/kernels.h"
#include "base/memory.h"
#include "base/pair.h"

enum {
    SN_ARM_CELL_RHO = 5,
    SN_ARM_CELL_Z = 6,
    SN_ARM_CELL_AXIS = 4,
    SN_ARM_CELL_ROUND = 5,
    SN_ARM_CELLS = SN_ARM_CELL_RHO * SN_ARM_CELL_Z * SN_ARM_CELL_AXIS * SN_ARM_CELL_ROUND,
    SN_ARM_CELL_SEEDS = 4,
    SN_ARM_POSTURES = 512,  ///< of the whole arm, for goals that a cell's do not lead to
    SN_ARM_NEAREST = 32,    ///< of them the nearest that are tried
    SN_ARM_CELL_KEPT = 64,  ///< of a cell's postures, for solutions near a start
    SN_ARM_ALL_KEPT = SN_ARM_CELLS * SN_ARM_CELL_KEPT,
    SN_ARM_SPREAD = 64,  ///< starts of a cell that differ
    SN_ARM_KEYS = 5,
    SN_ARM_TABLE_MAX = 8  ///< variables of an arm with a table
};

/// What a direction counts for beside lengths in the keys below.
extern const double sn_arm_key_share;
/// How far a start may lean from its posture in a variable.
extern const float sn_arm_most_lean;

/// A posture of the table.
typedef struct sn_arm_seed {
    float q[SN_ARM_TABLE_MAX];  ///< as the model has it, lengths in units
    float azimuth;              ///< of the last joint's place, with the first turn at 0
    float x[3], y[3];           ///< the last joint's frame, its turn at 0, seen from the azimuth
    float pad;
} sn_arm_seed;

/// What a posture of a cell becomes for a goal beside its own: all variables to first order, by how the goal's key
/// differs. That is the first Newton step, without its equations.
typedef struct sn_arm_lean {
    float by[SN_ARM_KEYS][SN_ARM_TABLE_MAX];
    float key[SN_ARM_KEYS];  ///< the posture's
    float pad[3];
} sn_arm_lean;

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
    sn_arm_lean *lean;                          ///< the same
    float least[SN_ARM_TABLE_MAX],
        most[SN_ARM_TABLE_MAX];     ///< limits of the middle joints, as seeds have them
    sn_arm_seed *posture;           ///< SN_ARM_POSTURES
    float (*key)[SN_ARM_POSTURES];  ///< SN_ARM_KEYS: of the postures
    /// What a cell was sampled with, sn_arm_seed_rows() rows for each cell: the variables as the kernels have them, of the
    /// first turn less the azimuth; the key, far off where there is none; the last joint's frame
    float (*middle)[SN_ARM_CELL_KEPT];
    uint16_t (*spread)
        [SN_ARM_SPREAD];  ///< SN_ARM_CELLS: starts that differ, those that differ most first
} sn_arm_seeds;

/// A goal as the table sees it.
typedef struct sn_arm_goal_key {
    double azimuth, x[3], y[3];
    float key[SN_ARM_KEYS];
    int cell;
    int first;                    ///< of the cell's starts the one that comes first
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

/// Rows of a cell's kept postures.
SN_INLINE int sn_arm_seed_rows(int n) { return n + SN_ARM_KEYS + 6; }

/// A cell's kept postures by how near they are to a wanted one, in eight columns.
typedef struct sn_arm_ranking {
    int32_t sorts[SN_ARM_CELL_KEPT];  ///< the smaller the nearer; the last bits are its place
    int32_t least[SN_ARM_SCOUTS];     ///< of each column
    float last[SN_ARM_CELL_KEPT];     ///< the last joint's angles
} sn_arm_ranking;

/// @param want  n numbers, as the kernels have them
void sn_arm_plain_rank(const sn_arm_seeds *seeds, const sn_arm_chain *chain,
                       const sn_arm_goal_key *key, const double *want, sn_arm_ranking *out);
/// The same with the registers of AVX2; the bits are the same.
void sn_arm_avx2_rank(const sn_arm_seeds *seeds, const sn_arm_chain *chain,
                      const sn_arm_goal_key *key, const double *want, sn_arm_ranking *out);
/// The nearest that are left, which are taken out, into scouts from lane `from` on: the postures for the goal, inside the
/// limits, of all turns those nearest to the wanted one. How many lanes there are then.
/// @param most  how far they may be
int sn_arm_plain_take(const sn_arm_seeds *seeds, const sn_arm_chain *chain,
                      const sn_arm_goal_key *key, const double *want, double most, int from,
                      sn_arm_ranking *ranking, sn_arm_scouts *out);
/// The same with the registers of AVX2; the bits are the same.
int sn_arm_avx2_take(const sn_arm_seeds *seeds, const sn_arm_chain *chain,
                     const sn_arm_goal_key *key, const double *want, double most, int from,
                     sn_arm_ranking *ranking, sn_arm_scouts *out);
/// Which of the kept postures of a goal's cell and of those beside it are nearest in the table's numbers; how many.
int sn_arm_kept_near(const sn_arm_seeds *seeds, const sn_arm_chain *chain,
                     const sn_arm_goal_key *key, int most, int *which);
/// One of them as a start, in the kernels' numbers; as sn_arm_seed_at().
bool sn_arm_kept_at(const sn_arm_seeds *seeds, const sn_arm_chain *chain,
                    const sn_arm_goal_key *key, int which, double *q);

/// Starts from which some are taken that differ.
enum { SN_ARM_POOL = 160, SN_ARM_POOL_PLACES = 256 };
typedef struct sn_arm_pool {
    int count, which[SN_ARM_POOL];
    int rows;
    float x[SN_ARM_TABLE_MAX][SN_ARM_POOL];  ///< the middle joints
    float far[SN_ARM_POOL];                  ///< from the nearest that is taken, squared
    float share[SN_ARM_POOL];                ///< what that counts for
} sn_arm_pool;

/// The one that is farthest from all that are taken, `at` the last of them.
int sn_arm_plain_apart(sn_arm_pool *pool, int at);
/// The same with the registers of AVX2; the bits are the same.
int sn_arm_avx2_apart(sn_arm_pool *pool, int at);

/// spread.c: starts for each cell that differ.
void sn_arm_spread_make(sn_arm_seeds *seeds, const sn_arm_chain *chain);
/// One of them, in the kernels' numbers; as sn_arm_seed_at(), whose starts are those from SN_ARM_ALL_KEPT on.
bool sn_arm_spread_at(const sn_arm_seeds *seeds, const sn_arm_chain *chain, sn_arm_goal_key *key,
                      int which, double *q);

/// Ask the memory for what a ranking will look at.
void sn_arm_seeds_fetch(const sn_arm_seeds *seeds, const sn_arm_chain *chain,
                        const sn_arm_goal_key *key);
