// SPDX-License-Identifier: MIT
// Few starts for the goals of a cell that differ, found when the arm is made.
//
// Postures that are alike lead to the same place, and those that a table has nearest to a goal are alike. So the next start
// is the one whose middle joints are farthest from those of all starts before it; the first joint and the last follow
// from the goal. The farther down the list, the less that counts.
#include <string.h>

#include "arm/kernels.h"
#include "arm/seeds.h"

enum {
    KEPT = 96,                      ///< of the postures that are kept for goals near it
    SEQUENCE = SN_ARM_POOL - KEPT,  ///< and of the starts that follow
    FROM = SN_ARM_TROOP             ///< those that were tried
};

static const float later = 0.2f;

// All joints but the first and the last, as the kernels have them.
static void middle_of(const sn_arm_seeds *s, const sn_arm_chain *c, sn_arm_goal_key *g, int which,
                      double *q) {
    const int cell = which / SN_ARM_CELL_KEPT, k = which % SN_ARM_CELL_KEPT;
    if (which >= SN_ARM_ALL_KEPT)
        (void)sn_arm_seed_at(s, c, g, which - SN_ARM_ALL_KEPT, q);
    else
        for (int j = 0; j < c->n; j++)
            q[j] = (double)s->middle[cell * sn_arm_seed_rows(c->n) + j][k];
}

static void fill(const sn_arm_seeds *s, const sn_arm_chain *c, sn_arm_goal_key *g, sn_arm_pool *p) {
    memset(p, 0, sizeof *p);
    p->count = sn_arm_kept_near(s, c, g, KEPT, p->which);
    for (int k = 0; k < SEQUENCE; k++) p->which[p->count++] = SN_ARM_ALL_KEPT + FROM + k;
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

// The table's numbers in the middle of a cell: those of the postures that it keeps.
static void middle_key(const sn_arm_seeds *s, const sn_arm_chain *c, int cell, sn_arm_goal_key *g) {
    const float(*key)[SN_ARM_CELL_KEPT] =
        (const float(*)[SN_ARM_CELL_KEPT])s->middle + cell * sn_arm_seed_rows(c->n) + c->n;
    int count = 0;
    memset(g, 0, sizeof *g);
    g->cell = cell;
    for (int k = 0; k < SN_ARM_CELL_KEPT && key[0][k] < 1e6f; k++, count++)
        for (int i = 0; i < SN_ARM_KEYS; i++) g->key[i] += key[i][k];
    for (int i = 0; i < SN_ARM_KEYS && count > 0; i++) g->key[i] /= (float)count;
}

void sn_arm_spread_make(sn_arm_seeds *s, const sn_arm_chain *c) {
    const bool avx2 = sn_arm_avx2();
    for (int cell = 0; cell < SN_ARM_CELLS; cell++) {
        sn_arm_goal_key g;
        sn_arm_pool p;
        middle_key(s, c, cell, &g);
        fill(s, c, &g, &p);
        for (int i = 0, at = 0; i < SN_ARM_SPREAD; i++) {
            s->spread[cell][i] = (uint16_t)p.which[at];
            at = avx2 ? sn_arm_avx2_apart(&p, at) : sn_arm_plain_apart(&p, at);
        }
    }
}

bool sn_arm_spread_at(const sn_arm_seeds *s, const sn_arm_chain *c, sn_arm_goal_key *g, int which,
                      double *q) {
    return which < SN_ARM_ALL_KEPT ? sn_arm_kept_at(s, c, g, which, q)
                                   : sn_arm_seed_at(s, c, g, which - SN_ARM_ALL_KEPT, q);
}
