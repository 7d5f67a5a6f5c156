// SPDX-License-Identifier: MIT
// The pieces of an iteration, timed one by one in the lanes of the includer, which defines LANES, TRIP_NAME and
// CORE_NAME as trip8.c does: pose, sums, gradient, factor, solve at the poses and goals that a batch ended with.
#include "batch_cores.h"

#include "batch/lanes.h"
#include "protocol.h"

// H + diagonal, exact, everything moving: as at an ordinary pose.
static void open_factor(ARGS, FACTOR *f) {
    for (int i = 0; i < N(nv); i++) {
        W(keep)[i] = splat(1);
        W(scale)[i] = W(y)[i];
    }
    f->most = f->most2 = f->add = f->pivot = f->at = splat(0);
    f->failed = LESS(splat(1), splat(0));
    f->metric = splat(0);
    f->scale = splat(1);
}

// The right side of a step; half of its solve goes with the factor.
static void begin_step(ARGS) {
    for (int i = 0; i < N(nv); i++) W(step)[i] = -W(g)[i];
}

void CORE_NAME(const sn_batch_table *tab, const sn_batch_work *room, int rounds, double *micros) {
    enum { TIMES = 50 };
    FACTOR f;
    REAL value = splat(0);
    for (int n = 0; n < CORE_PIECES; n++) micros[n] = 1e300;
    place(tab, room);
    value = value + sum_sweep(tab, room);
    (void)diagonal_sweep(tab, room, splat(0));
    open_factor(tab, room, &f);
    for (int r = 0; r < rounds; r++)
        for (int piece = 0; piece < CORE_PIECES; piece++) {
            const double begin = bench_seconds();
            for (int n = 0; n < TIMES; n++) {
                const bool all = piece == CORE_ALL;
                if (all || piece == CORE_POSE) place(tab, room);
                if (all || piece == CORE_SUMS) value = value + sum_sweep(tab, room);
                if (all || piece == CORE_FACTOR) {
                    begin_step(tab, room);
                    factor_sweep(tab, room, splat(1), &f, W(step));
                }
                if (all || piece == CORE_SOLVE) substitute(tab, room, W(step));
            }
            const double each = 1e6 * (bench_seconds() - begin) / (TIMES * LANES);
            if (each < micros[piece]) micros[piece] = each;
        }
    W(lane)[SN_LANE_F] = value;  // what is summed is used
}
