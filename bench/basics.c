// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "basics.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock) {
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_seconds(void) { return now(CLOCK_PROCESS_CPUTIME_ID); }

double bench_wall(void) { return now(CLOCK_MONOTONIC); }

double bench_machine(void) {
    double n[8] = {0};
    FILE *file = fopen("/proc/stat", "r");
    if (file == NULL) return -1;
    const int count = fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &n[0], &n[1], &n[2],
                             &n[3], &n[4], &n[5], &n[6], &n[7]);
    (void)fclose(file);
    // without what was idle and what waited
    return count == 8 ? (n[0] + n[1] + n[2] + n[5] + n[6] + n[7]) / (double)sysconf(_SC_CLK_TCK)
                      : -1;
}

void *bench_need(void *block) {
    if (block == NULL) {
        fputs("bench: out of memory\n", stderr);
        exit(1);
    }
    return block;
}

double *bench_numbers(size_t n) { return bench_need(calloc(n > 0 ? n : 1, sizeof(double))); }

char *bench_file(const char *folder, const char *name, size_t *length) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s%s%s", folder != NULL ? folder : "",
                   folder != NULL ? "/" : "", name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    size_t room = 1 << 16, n;
    char *text = bench_need(malloc(room));
    *length = 0;
    while ((n = fread(text + *length, 1, room - *length - 1, file)) > 0) {
        *length += n;
        if (room - *length < 2) text = bench_need(realloc(text, room *= 2));
    }
    text[*length] = '\0';
    (void)fclose(file);
    return text;
}
