// SPDX-License-Identifier: MIT
// Which of a cell's kept postures are near a wanted one, and which of many differ, REAL side by side: included by rank.c and rank_avx2.c,
// each of which says for which registers. All are the same operations, so the bits do not depend on which one runs.
#include <math.h>

#define LANES SN_ARM_SCOUTS
#define LANES_FLOAT
#include "arm/lanes.h"
#include "arm/seeds.h"

#define UNROLL

// What the last joint's angle is for a goal: as from_seed() has it, to 1e-4.
SN_INLINE REAL last_angle(const float (*x)[SN_ARM_CELL_KEPT], int at, const sn_arm_goal_key *g) {
    const REAL zero = splat(0);
    REAL s = zero, c = zero;
    for (int i = 0; i < 3; i++) {
        const REAL ex = load(x[i] + at), ey = load(x[3 + i] + at);
        const REAL gx = splat(g->x[i]), gy = splat(g->y[i]);
        s = s + (ey * gx - ex * gy);
        c = c + (ex * gx + ey * gy);
    }
    const INTS back = LESS(s, zero), left = LESS(c, zero);
    const REAL a = choose(back, -s, s), b = choose(left, -c, c);
    const INTS steep = LESS(b, a);
    const REAL z = choose(steep, b, a) / (choose(steep, a, b) + splat(1e-30)), w = z * z;
    REAL r = splat(-.0851330) + w * splat(.0208351);
    r = z * (splat(.9998660) + w * (splat(-.3302995) + w * (splat(.1801410) + w * r)));
    r = choose(steep, splat(1.5707963267948966) - r, r);
    r = choose(left, splat(3.141592653589793) - r, r);
    return choose(back, -r, r);
}

// The ways of a variable from what is wanted, squared, added: by another turn where the limits leave room for that.
SN_INLINE void add_ways(const sn_arm_chain *c, int j, const float *q, double at, double want,
                        float *far) {
    const REAL from = splat(at);
    if (!c->turns[j]) {
        for (int k = 0; k < SN_ARM_CELL_KEPT; k += SN_ARM_SCOUTS) {
            const REAL d = load(q + k) - from;
            store(far + k, load(far + k) + d * d);
        }
        return;
    }
    const REAL magic = splat(12582912.0), per = splat(0.15915494309189535);
    const REAL whole = splat(6.283185307179586);
    const REAL low = splat(c->lower[j] - want), high = splat(c->upper[j] - want);
    for (int k = 0; k < SN_ARM_CELL_KEPT; k += SN_ARM_SCOUTS) {
        const REAL d = load(q + k) - from, near = d - whole * ((d * per + magic) - magic);
        const REAL way = choose(LESS(near, low) | LESS(high, near), d, near);
        store(far + k, load(far + k) + way * way);
    }
}

void KERNEL(rank)(const sn_arm_seeds *s, const sn_arm_chain *c, const sn_arm_goal_key *g,
                  const double *want, sn_arm_ranking *out) {
    const float(*row)[SN_ARM_CELL_KEPT] =
        (const float(*)[SN_ARM_CELL_KEPT])s->middle + g->cell * sn_arm_seed_rows(c->n);
    float far[SN_ARM_CELL_KEPT];
    // a length of the goal beside angles, squared
    for (int k = 0; k < SN_ARM_CELL_KEPT; k += SN_ARM_SCOUTS) {
        REAL off = splat(0);
        for (int i = 0; i < SN_ARM_KEYS; i++) {
            const REAL d = load(row[c->n + i] + k) - splat((double)g->key[i]);
            off = off + d * d;
        }
        store(far + k, splat(50) * off);
        store(out->last + k, last_angle(row + c->n + SN_ARM_KEYS, k, g));
    }
    for (int j = 0; j < c->n; j++)
        add_ways(c, j, j == s->last ? out->last : row[j],
                 want[j] - (j == s->first  ? g->azimuth
                            : j == s->last ? c->shift[j]
                                           : 0),
                 want[j], far);
    // numbers that sort, with their places in them, and the least of each column
    INTS place = {0, 1, 2, 3, 4, 5, 6, 7}, least = {0};
    for (int k = 0; k < SN_ARM_CELL_KEPT; k += SN_ARM_SCOUTS, place += SN_ARM_SCOUTS) {
        const INTS sorts = ((INTS)load(far + k) & ~(SN_ARM_CELL_KEPT - 1)) | place;
        memcpy(out->sorts + k, &sorts, sizeof sorts);
        const INTS less = k == 0 ? ~(INTS){0} : (INTS)(sorts < least);
        least = (less & sorts) | (~less & least);
    }
    memcpy(out->least, &least, sizeof least);
}

// The place of the nearest that is left; -1 when it is farther than that.
SN_INLINE int take_nearest(sn_arm_ranking *r, float most) {
    int column = 0;
    float far;
    for (int i = 1; i < SN_ARM_SCOUTS; i++) column = r->least[i] < r->least[column] ? i : column;
    int32_t least = r->least[column];
    const int k = least & (SN_ARM_CELL_KEPT - 1);
    memcpy(&far, &least, sizeof far);
    if (!(far <= most)) return -1;
    r->sorts[k] = least = INT32_MAX;
    for (int i = column; i < SN_ARM_CELL_KEPT; i += SN_ARM_SCOUTS)
        least = r->sorts[i] < least ? r->sorts[i] : least;
    r->least[column] = least;
    return k;
}

int KERNEL(take)(const sn_arm_seeds *s, const sn_arm_chain *c, const sn_arm_goal_key *g,
                 const double *want, double most, int from, sn_arm_ranking *r, sn_arm_scouts *out) {
    const float(*row)[SN_ARM_CELL_KEPT] =
        (const float(*)[SN_ARM_CELL_KEPT])s->middle + g->cell * sn_arm_seed_rows(c->n);
    const REAL magic = splat(12582912.0), per = splat(0.15915494309189535);
    const REAL whole = splat(6.283185307179586);
    int which[SN_ARM_SCOUTS], count = from;
    while (count < SN_ARM_SCOUTS) {
        const int k = take_nearest(r, most < 1e6 ? (float)most : 1e6f);
        if (k < 0) break;
        which[count++] = k;
    }
    if (count == from) return count;
    for (int l = 0; l < from; l++) which[l] = which[from];
    for (int l = count; l < SN_ARM_SCOUTS; l++) which[l] = which[from];
    for (int j = 0; j < c->n; j++) {
        const float *q = j == s->last ? r->last : row[j];
        float some[SN_ARM_SCOUTS];
        for (int l = 0; l < SN_ARM_SCOUTS; l++) some[l] = q[which[l]];
        REAL x = load(some) + splat(j == s->first ? g->azimuth : j == s->last ? c->shift[j] : 0);
        const REAL low = splat(c->lower[j]), high = splat(c->upper[j]);
        if (c->turns[j]) {
            const REAL near = x - whole * (((x - splat(want[j])) * per + magic) - magic);
            x = choose(LESS(near, low) | LESS(high, near), x, near);
        }
        x = choose(LESS(x, low), low, x);
        store(some, choose(LESS(high, x), high, x));
        memcpy(out->q[j] + from, some + from, (size_t)(SN_ARM_SCOUTS - from) * sizeof *some);
    }
    return count;
}

int KERNEL(apart)(sn_arm_pool *p, int at) {
    INTS place = {0, 1, 2, 3, 4, 5, 6, 7}, most = {0};
    for (int k = 0; k < SN_ARM_POOL; k += SN_ARM_SCOUTS, place += SN_ARM_SCOUTS) {
        REAL off = splat(0), far = load(p->far + k);
        for (int i = 0; i < p->rows; i++) {
            const REAL d = load(p->x[i] + k) - splat((double)p->x[i][at]);
            off = off + d * d;
        }
        far = choose(LESS(off, far), off, far);
        store(p->far + k, far);
        // numbers that sort, with their places in them
        const INTS bits = (INTS)(far * load(p->share + k));
        const INTS sorts = (bits & ~(SN_ARM_POOL_PLACES - 1)) | place;
        const INTS less = (INTS)(most < sorts);
        most = (less & sorts) | (~less & most);
    }
    int32_t best = most[0];
    for (int l = 1; l < SN_ARM_SCOUTS; l++) best = most[l] > best ? most[l] : best;
    return best & (SN_ARM_POOL_PLACES - 1);
}
