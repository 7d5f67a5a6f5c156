// SPDX-License-Identifier: MIT
#include "motion/clock.h"

#include <math.h>

void sn_clock_add(sn_clock *clock, double time) {
    if (!isfinite(time)) {
        clock->broken = true;
        return;
    }
    if (clock->count == 0) clock->first = time;
    double step = time - clock->last;
    if (clock->count == 1) clock->least = clock->most = step;
    if (clock->count > 1) {
        clock->least = fmin(clock->least, step);
        clock->most = fmax(clock->most, step);
    }
    clock->last = time;
    clock->count++;
}

double sn_clock_rate(const sn_clock *clock, bool *even) {
    *even = false;
    double length = clock->last - clock->first;
    if (clock->broken || clock->count < 2 || !(length > 0)) return 0;
    double rate = (clock->count - 1) / length, mean = 1 / rate;
    // times are often rounded to a millisecond: each step may be off by one
    double slack = 0.5 * mean + 0.0011;
    *even = clock->least >= 0 && clock->least >= mean - slack && clock->most <= mean + slack;
    // 119.99999999999999 is 120: the quotient carries the rounding of two times
    double near = round(rate * 1e6) / 1e6;
    return fabs(near - rate) <= 1e-12 * rate ? near : rate;
}

double sn_clock_time(int first_frame, int row, double rate) {
    return ((first_frame > 1 ? (double)first_frame - 1 : 0) + row) / rate;
}
