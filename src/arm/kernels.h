// SPDX-License-Identifier: MIT
// One Newton step of an arm in one lane or four; see kernel.h.
#pragma once

#include "arm/chain.h"
#include "base/pair.h"

/// As f, from where a step is the last, most often: with its bend, and nearer without.
#define SN_ARM_LAST_F  5e-5
#define SN_ARM_PLAIN_F 1e-7

/// What a step reads and writes. Lane by lane the same numbers give the same bits.
#define SN_ARM_STATE(real, lanes)                                                                  \
    struct {                                                                                       \
        real q[SN_ARM_MAX][lanes];      /* where it is evaluated */                                \
        real next[SN_ARM_MAX][lanes];   /* where the step leads */                                 \
        real want[SN_ARM_MAX][lanes];   /* the wanted posture */                                   \
        real goal[12][lanes];           /* the end's columns and place */                          \
        real lower[SN_ARM_MAX][lanes];  /* scouts: the limits of each, */                          \
        real upper[SN_ARM_MAX][lanes];  /* infinite where they do not count */                     \
        real pull[lanes];               /* how much of the way to the posture a step takes */      \
        real turn[lanes], place[lanes]; /* what is left at q, squared */                           \
        double turn_tol, place_tol;     /* squared */                                              \
        double give_up;                 /* one lane that leans: f from where no step is made */    \
        int first;                      /* scouts: the first lane of eight that a step is of */    \
    }
typedef SN_ARM_STATE(double, 1) sn_arm_state1;
typedef SN_ARM_STATE(double, SN_ARM_LANES) sn_arm_state4;
typedef SN_ARM_STATE(float, SN_ARM_TROOP) sn_arm_scouts;
typedef SN_ARM_STATE(double, SN_ARM_WIDE) sn_arm_wide_state;

/// One step. One lane alone, without a posture: `next` is not written when both tolerances hold.
/// @param hold  stay inside the limits
/// @param pull  lean to the wanted posture, inside the limits
void sn_arm1_iterate(const sn_arm_chain *c, sn_arm_state1 *s, bool hold, bool pull);
void sn_arm4_iterate(const sn_arm_chain *c, sn_arm_state4 *s, bool hold, bool pull);
/// For chains that have no step of their own.
void sn_arm1_any(const sn_arm_chain *c, sn_arm_state1 *s, bool hold, bool pull);
void sn_arm4_any(const sn_arm_chain *c, sn_arm_state4 *s, bool hold, bool pull);
/// The same with the registers of AVX2; where the compiler has none of them it calls the above.
void sn_arm4_avx2_iterate(const sn_arm_chain *c, sn_arm_state4 *s, bool hold, bool pull);
/// Where the end of a chain of `hinges` is at q: columns and place, as in a state's goal.
void sn_arm1_end_at(const sn_arm_chain *c, const double *q, double out[12]);
/// Eight scouts in floats, from lane `first` on, for chains of `hinges` alone.
void sn_arm8_iterate(const sn_arm_chain *c, sn_arm_scouts *s, bool hold, bool pull);
void sn_arm8_avx2_iterate(const sn_arm_chain *c, sn_arm_scouts *s, bool hold, bool pull);
/// The same, and all sixteen, with the registers of AVX-512; only where the machine has them.
void sn_arm8_wide_iterate(const sn_arm_chain *c, sn_arm_scouts *s, bool hold, bool pull);
void sn_arm16_iterate(const sn_arm_chain *c, sn_arm_scouts *s, bool hold, bool pull);
/// Whether this machine has them.
bool sn_arm_avx2(void);
/// Eight lanes of doubles with the registers of AVX-512, for chains of `hinges` alone; only where the machine has them.
void sn_arm_wide_iterate(const sn_arm_chain *c, sn_arm_wide_state *s, bool hold, bool pull);
bool sn_arm_has_wide(void);
