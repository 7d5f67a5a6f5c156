// SPDX-License-Identifier: MIT
// The ranking of rank.h with the registers of AVX2.
#include "arm/seeds.h"

#include "base/avx2.h"

#ifdef HAVE_AVX2
#define KERNEL(name) sn_arm_avx2_##name
#include "arm/rank.h"

#include "base/avx2_end.h"
#else
void sn_arm_avx2_rank(const sn_arm_seeds *s, const sn_arm_chain *c, const sn_arm_goal_key *g,
                      const double *want, sn_arm_ranking *out) {
    sn_arm_plain_rank(s, c, g, want, out);
}
int sn_arm_avx2_take(const sn_arm_seeds *s, const sn_arm_chain *c, const sn_arm_goal_key *g,
                     const double *want, double most, int from, sn_arm_ranking *r,
                     sn_arm_scouts *out) {
    return sn_arm_plain_take(s, c, g, want, most, from, r, out);
}
int sn_arm_avx2_apart(sn_arm_pool *p, int at) { return sn_arm_plain_apart(p, at); }
#endif
