// SPDX-License-Identifier: MIT
// What joints that follow by curves make of an arm's numbers.
#pragma once

#include "arm/chain.h"

/// At a pose, in the kernels' numbers.
typedef struct sn_arm_curves {
    double value[SN_ARM_CURVES];
    double slope[SN_ARM_CURVES][SN_ARM_MAX];                        ///< by the variables
    double bend[SN_ARM_CURVES][SN_ARM_MAX * (SN_ARM_MAX + 1) / 2];  ///< the same of the slopes
} sn_arm_curves;

/// @param q      as the model has it
/// @param bends  second derivatives too
void sn_arm_curves_at(const sn_arm_chain *chain, const double *q, sn_arm_curves *out, bool bends);

/// Are all followers of several joints inside their limits? Those of one always are.
bool sn_arm_curves_inside(const sn_arm_chain *chain, const double *q);

/// Move their leaders until they are, as far as possible.
void sn_arm_curves_lead_back(const sn_arm_chain *chain, double *q);

/// All numbers that drive moves, SN_ARM_ALL, in the kernels' numbers without their shift.
/// @param curves  written where there are some
void sn_arm_chain_numbers(const sn_arm_chain *chain, const double *q, sn_arm_curves *curves,
                          bool bends, double *all);
