// SPDX-License-Identifier: MIT
#include "motion/lost_rows.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "math/order.h"
#include "math/round.h"

// A step is as long as another where they differ by less than the first share of it; a gap is a whole number of steps, and a row
// lies on the grid, where it is as near to it as the second. Times may be rounded to milliseconds, too.
static const double same_step = 0.25, on_grid = 0.1, rounding = 0.0011;

// Without frame numbers that say the same, fewer steps may be longer than the others.
static const double most_even = 0.9, some_even = 0.5;

// Files with more frames lost than there are rows this many times are something else.
static const double most_lost = 10;

// The mean of the steps that are about as long as most of them; 0 where fewer than this share are.
static double usual_step(const double *time, int count, double share, double *step) {
    double sum = 0;
    int n = 0;
    for (int i = 1; i < count; i++) {
        step[i - 1] = time[i] - time[i - 1];
        if (!(step[i - 1] > 0) || !isfinite(step[i - 1])) return 0;
    }
    qsort(step, (size_t)count - 1, sizeof *step, sn_by_value);
    const double middle = step[(count - 2) / 2];
    for (int i = 0; i < count - 1; i++) {
        if (fabs(step[i] - middle) > same_step * middle + rounding) continue;
        sum += step[i];
        n++;
    }
    return n >= share * (count - 1) ? sum / n : 0;
}

// Which frame each row is: whole steps from row to row, as the numbers say, too. False where they do not.
static bool number_rows(const double *time, const double *number, int count, double usual,
                        int *frame) {
    frame[0] = 0;
    for (int i = 1; i < count; i++) {
        const double length = (time[i] - time[i - 1]) / usual;
        const double jump = number != NULL ? number[i] - number[i - 1] : sn_round(length);
        // the step is not known so well that a long gap would tell by itself how many it is
        const double slack = on_grid + rounding / usual + (number != NULL ? 0.02 * jump : 0);
        if (!(jump >= 1) || floor(jump) != jump || !(fabs(length - jump) <= slack)) return false;
        if (frame[i - 1] + jump + 1 > fmin(most_lost * count, INT_MAX / 2)) return false;
        frame[i] = frame[i - 1] + (int)jump;
    }
    return true;
}

bool sn_lost_rows_find(const double *time, const double *number, int count, double *step,
                       int *frame, sn_lost_rows *out) {
    if (count < 3) return false;
    double usual = usual_step(time, count, number != NULL ? some_even : most_even, step);
    if (!(usual > 0) || !number_rows(time, number, count, usual, frame)) return false;
    out->total = frame[count - 1] + 1;
    if (out->total == count) return false;
    // once more, from the whole length: each row must be where its time is
    usual = (time[count - 1] - time[0]) / (out->total - 1);
    for (int i = 0; i < count; i++)
        if (fabs((time[i] - time[0]) / usual - frame[i]) > on_grid + rounding / usual) return false;
    out->first = 1;
    for (int i = 1; i < count && frame[i] == out->first; i++) out->first++;
    const double rate = 1 / usual, near = sn_round(rate * 1e6) / 1e6;
    out->rate = fabs(near - rate) <= 1e-12 * rate ? near : rate;
    return rate >= 1e-9;
}
