// SPDX-License-Identifier: MIT
// Notes for people, and progress on a terminal.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fit_steps.h"

static void add(sentences *list, const char *format, va_list arguments) {
    char text[2000];
    (void)vsnprintf(text, sizeof text, format, arguments);
    char **grown = realloc(list->text, (size_t)(list->count + 1) * sizeof *grown);
    char *copy = must_alloc(strlen(text) + 1, 1);
    if (grown == NULL) {
        free(copy);
        return;
    }
    memcpy(copy, text, strlen(text) + 1);
    list->text = grown;
    list->text[list->count++] = copy;
}

void note(fit_result *r, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add(&r->notes, format, arguments);
    va_end(arguments);
}

void warn(fit_result *r, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add(&r->warnings, format, arguments);
    va_end(arguments);
}

void free_sentences(sentences *list) {
    for (int i = 0; i < list->count; i++) free(list->text[i]);
    free(list->text);
    *list = (sentences){0};
}

meter meter_begin(const fit_settings *s) {
    return (meter){.shown = !s->quiet && isatty(2), .begin = now()};
}

void show_fit(void *user, int done, int nframe, const sn_track_frame *latest) {
    meter *m = user;
    double t = now();
    if (latest != NULL) m->error = latest->report.mean_error;
    if (!m->shown || (t - m->last < 0.1 && done < nframe)) return;
    m->last = t;
    double rate = done / fmax(t - m->begin, 1e-9);
    fprintf(stderr, "\r  frame %d of %d, %.0f frames/s, error %.2f cm, %.0f s left   ", done,
            nframe, rate, 100 * m->error, (nframe - done) / fmax(rate, 1e-9));
    if (done == nframe) fputs("\r\033[K", stderr);
}

void show_calibration(void *user, double fraction) {
    meter *m = user;
    if (m->shown) fprintf(stderr, "\r  calibrating, %.0f %%   ", 100 * fraction);
}

void meter_end(const meter *m) {
    if (m->shown) fputs("\r\033[K", stderr);
}
