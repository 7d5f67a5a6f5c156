// SPDX-License-Identifier: MIT
#include "motion/clock.h"
#include "math/round.h"

#include <math.h>

void sn_clock_add(sn_clock *clock, double time) {
    if (!isfinite(time)) {
        clock->broken = true;
        return;
    }
    double step = time - clock->last;
    if (clock->count == 0) clock->first = time;
    if (clock->count == 1) clock->step = step;
    // times are often rounded to a millisecond: each step may be off by one
    if (clock->count > 1 && fabs(step - clock->step) > 0.4 * clock->step + 0.0011) {
        clock->nother++;
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

double sn_clock_time(int first_frame, int row, double rate) {
    return ((first_frame > 1 ? (double)first_frame - 1 : 0) + row) / rate;
}

double sn_clock_offset(int first_frame, double time, double rate) {
    if (!(rate > 0) || !isfinite(time)) return 0;
    double offset = time - sn_clock_time(first_frame, 0, rate);
    return fabs(offset) > 0.0006 ? offset : 0;
}

bool sn_same_rate(double one, double other) { return fabs(one / other - 1) < 1e-4; }
