// SPDX-License-Identifier: MIT
// Progress on a terminal, and how long the stages of a take took.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <unistd.h>

#include "fit_take.h"

meter meter_begin(bool quiet) {
    double t = now();
    return (meter){.shown = !quiet && isatty(2), .begin = t, .fit_from = t};
}

void meter_show(void *user, const sn_take_progress *p) {
    meter *m = user;
    double t = now();
    if (p->stage == SN_STAGE_CALIBRATE) {
        if (p->fraction == 0) m->calibrate_from = t;
        m->calibrated = t - m->calibrate_from;
        m->fit_from = t;
        if (m->shown) fprintf(stderr, "\r  calibrating, %.0f %%   ", 100 * p->fraction);
        if (m->shown && p->fraction == 1) fputs("\r\033[K", stderr);
    }
    if (p->stage == SN_STAGE_FINISH && m->shown && (t - m->last >= 0.1 || p->fraction == 1)) {
        m->last = t;
        fprintf(stderr, "\r  finishing, %.0f %%\033[K", 100 * p->fraction);
        if (p->fraction == 1) fputs("\r\033[K", stderr);
    }
    if (p->stage != SN_STAGE_SOLVE) return;
    if (p->error > 0) m->error = p->error;
    if (!m->shown || (t - m->last < 0.1 && p->done < p->total)) return;
    m->last = t;
    double rate = p->done / fmax(t - m->fit_from, 1e-9);
    fprintf(stderr, "\r  frame %d of %d, %.0f frames/s, ", p->done, p->total, rate);
    if (m->error > 0) fprintf(stderr, "error %.2f cm, ", 100 * m->error);
    fprintf(stderr, "%.0f s left\033[K", (p->total - p->done) / fmax(rate, 1e-9));
    if (p->done == p->total) fputs("\r\033[K", stderr);
}

void meter_end(const meter *m) {
    if (m->shown) fputs("\r\033[K", stderr);
}
