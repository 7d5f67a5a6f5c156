// SPDX-License-Identifier: MIT
#include "motion/clock.h"
#include "math/round.h"

#include <math.h>
#include <stdio.h>

void sn_clock_add(sn_clock *clock, double time) {
    if (!isfinite(time)) {
        clock->broken = true;
        return;
    }
    double step = time - clock->last;
    if (clock->count == 0) clock->first = time;
    if (clock->count == 1) clock->step = step;
    if (clock->count > 0 && !(step > 0) && clock->nback++ == 0) clock->back = clock->count;
    // times are often rounded to a millisecond: each step may be off by one
    if (clock->count > 1 && fabs(step - clock->step) > 0.4 * clock->step + 0.0011) {
        if (clock->nother++ == 0) clock->odd = clock->count, clock->odd_step = step;
        clock->other += step;
    }
    clock->last = time;
    clock->count++;
}

double sn_clock_rate(const sn_clock *clock) {
    int steps = clock->count - 1 - clock->nother;
    double length = clock->last - clock->first - clock->other;
    if (clock->broken || clock->count < 2 || !(clock->step > 0) || !(length > 0)) return 0;
    if (clock->nother > (clock->count - 1) / 10) return 0;
    double rate = steps / length;
    if (rate < 1e-9) return 0;  // a time is wrong, and those of later frames would be out of reach
    // 119.99999999999999 is 120: the quotient carries the rounding of two times
    double near = sn_round(rate * 1e6) / 1e6;
    return fabs(near - rate) <= 1e-12 * rate ? near : rate;
}

void sn_clock_words(const sn_clock *clock, int first_frame, char *out, size_t room) {
    const int steps = clock->count - 1;
    out[0] = '\0';
    if (!clock->broken && clock->nback > 0)
        (void)snprintf(out, room,
                       "times do not go forward in %d of %d steps, first before frame %lld",
                       clock->nback, steps, (long long)first_frame + clock->back);
    else if (clock->broken || (clock->count > 1 && sn_clock_rate(clock) == 0))
        (void)snprintf(out, room, "the times do not go on in even steps");
    else if (clock->nother > 0)
        (void)snprintf(out, room,
                       "%d of %d time steps differ, first before frame %lld (%.3g s for %.3g)",
                       clock->nother, steps, (long long)first_frame + clock->odd, clock->odd_step,
                       clock->step);
}

double sn_clock_time(int first_frame, int row, double rate) {
    return ((first_frame > 1 ? (double)first_frame - 1 : 0) + row) / rate;
}

double sn_clock_offset(int first_frame, double time, double rate) {
    if (!(rate > 0) || !isfinite(time)) return 0;
    double offset = time - sn_clock_time(first_frame, 0, rate);
    return fabs(offset) > 0.0006 ? offset : 0;
}

bool sn_same_rate(double one, double other) { return fabs(one / other - 1) < 1e-4; }
