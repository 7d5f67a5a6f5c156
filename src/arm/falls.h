// SPDX-License-Identifier: MIT
// Poses on their way down to where nothing gets nearer to a goal; see fall.h.
#pragma once

#include "arm/chain.h"
#include "base/pair.h"

typedef struct sn_arm_falls {
    double goal[12];  ///< columns and place of the tool, in units
    int first;        ///< the first lane of four that a step is of
    double low[SN_ARM_MAX][SN_ARM_WIDE],
        high[SN_ARM_MAX][SN_ARM_WIDE];   ///< infinite where a variable goes round
    double q[SN_ARM_MAX][SN_ARM_WIDE];   ///< what is looked at next
    double at[SN_ARM_MAX][SN_ARM_WIDE];  ///< the nearest so far
    double f[SN_ARM_WIDE];               ///< there; INFINITY to begin
    double slope[SN_ARM_WIDE];           ///< the greatest that is left
    double promise[SN_ARM_WIDE];         ///< by how much f may still fall
    double mu[SN_ARM_WIDE];              ///< damping; 0 to begin
    double stiff[SN_ARM_WIDE];           ///< how f bends along the step that is under way
    double hope[SN_ARM_WIDE];            ///< what it is to win; 1 to begin
    double out[SN_ARM_WIDE];             ///< 1: it has left the valley
    double g[SN_ARM_MAX][SN_ARM_WIDE];
    double a[SN_ARM_MAX][3][SN_ARM_WIDE], J[SN_ARM_MAX][3][SN_ARM_WIDE];  ///< turns and ways
    double u[6][SN_ARM_WIDE];  ///< what is left: half the turn, and the way
    double H[SN_ARM_MAX * (SN_ARM_MAX + 1) / 2][SN_ARM_WIDE];
} sn_arm_falls;

/// One step of four, from lane `first` on. Numbers are the kernels' for chains of `hinges` (the goal then seen from the first
/// turn), else the model's, lengths in units.
void sn_arm4_fall(const sn_arm_chain *chain, sn_arm_falls *state);
/// The same with the registers of AVX2; the bits are the same.
void sn_arm4_avx2_fall(const sn_arm_chain *chain, sn_arm_falls *state);
/// The same, and all eight, with the registers of AVX-512; only where the machine has them.
void sn_arm4_wide_fall(const sn_arm_chain *chain, sn_arm_falls *state);
void sn_arm_wide_fall(const sn_arm_chain *chain, sn_arm_falls *state);
