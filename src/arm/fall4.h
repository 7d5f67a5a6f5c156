// SPDX-License-Identifier: MIT
// Four poses on their way down to where nothing gets nearer to a goal; see fall.h.
#pragma once

#include "arm/chain.h"
#include "base/pair.h"

typedef struct sn_arm_fall4 {
    double goal[12];                           ///< columns and place of the tool, in units
    double low[SN_ARM_MAX], high[SN_ARM_MAX];  ///< of the variables; infinite where they go round
    double q[SN_ARM_MAX][SN_ARM_LANES];        ///< what is looked at next
    double at[SN_ARM_MAX][SN_ARM_LANES];       ///< the nearest so far
    double f[SN_ARM_LANES];                    ///< there; INFINITY to begin
    double slope[SN_ARM_LANES];                ///< the greatest that is left
    double promise[SN_ARM_LANES];              ///< by how much f may still fall
    double mu[SN_ARM_LANES];                   ///< damping; 0 to begin
    double stiff[SN_ARM_LANES];                ///< how f bends along the step that is under way
    double hope[SN_ARM_LANES];                 ///< what it is to win; 1 to begin
    double out[SN_ARM_LANES];                  ///< 1: it has left the valley
    double g[SN_ARM_MAX][SN_ARM_LANES];
    double a[SN_ARM_MAX][3][SN_ARM_LANES], J[SN_ARM_MAX][3][SN_ARM_LANES];  ///< turns and ways
    double u[6][SN_ARM_LANES];  ///< what is left: half the turn, and the way
    double H[SN_ARM_MAX * (SN_ARM_MAX + 1) / 2][SN_ARM_LANES];
} sn_arm_fall4;

/// One step of all four. Numbers are the model's, lengths in units.
void sn_arm4_fall(const sn_arm_chain *chain, sn_arm_fall4 *state);
/// The same with the registers of AVX2; the bits are the same.
void sn_arm4_avx2_fall(const sn_arm_chain *chain, sn_arm_fall4 *state);
