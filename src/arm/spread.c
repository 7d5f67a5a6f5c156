// SPDX-License-Identifier: MIT
// Few starts for a goal that differ.
//
// Postures that are alike lead to the same place, and those that a table has nearest to a goal are alike. So the next start
// is the one whose middle joints are farthest from those of all starts before it; the first joint and the last follow
// from the goal. The farther down the list, the less that counts.
#include <string.h>

#include "arm/seeds.h"

enum {
    KEPT = 96,                      ///< of the postures that are kept for goals near it
    SEQUENCE = SN_ARM_POOL - KEPT,  ///< and of the starts that follow
    FROM = 12,                      ///< those that were tried
    ALL_KEPT = SN_ARM_CELLS * SN_ARM_CELL_KEPT
};

static const float later = 0.2f;

// All joints but the first and the last, as the kernels have them.
static void middle_of(const sn_arm_seeds *s, const sn_arm_chain *c, sn_arm_goal_key *g, int which,
                      double *q) {
    const int cell = which / SN_ARM_CELL_KEPT, k = which % SN_ARM_CELL_KEPT;
    if (which >= ALL_KEPT)
        (void)sn_arm_seed_at(s, c, g, which - ALL_KEPT, q);
    else
        for (int j = 0; j < c->n; j++)
            q[j] = (double)s->middle[cell * sn_arm_seed_rows(c->n) + j][k];
}

static void fill(const sn_arm_seeds *s, const sn_arm_chain *c, sn_arm_goal_key *g, sn_arm_pool *p) {
    memset(p, 0, sizeof *p);
    p->count = sn_arm_kept_near(s, c, g, KEPT, p->which);
    for (int k = 0; k < SEQUENCE; k++) p->which[p->count++] = ALL_KEPT + FROM + k;
    for (int k = 0; k < p->count; k++) {
        double q[SN_ARM_MAX];
        middle_of(s, c, g, p->which[k], q);
        p->far[k] = 1e30f;
        p->share[k] = 1 / (1 + later * (float)k);
        p->rows = 0;
        for (int j = 0; j < c->n; j++)
            if (j != s->first && j != s->last) p->x[p->rows++][k] = (float)q[j];
    }
}

int sn_arm_spread(const sn_arm_seeds *s, const sn_arm_chain *c, bool avx2, sn_arm_goal_key *g,
                  int most, int *which) {
    sn_arm_pool p;
    fill(s, c, g, &p);
    if (most > p.count) most = p.count;
    for (int i = 0, at = 0; i < most; i++) {
        which[i] = p.which[at];
        at = avx2 ? sn_arm_avx2_apart(&p, at) : sn_arm_plain_apart(&p, at);
    }
    return most;
}

bool sn_arm_spread_at(const sn_arm_seeds *s, const sn_arm_chain *c, sn_arm_goal_key *g, int which,
                      double *q) {
    return which < ALL_KEPT ? sn_arm_kept_at(s, c, g, which, q)
                            : sn_arm_seed_at(s, c, g, which - ALL_KEPT, q);
}
