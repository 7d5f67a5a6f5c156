// SPDX-License-Identifier: MIT
#include "protocols.h"

FILE *bench_csv;

void print_head(const char *what) {
    printf("\n%s\n  %-26s %10s %10s %10s %8s %9s %9s %9s\n", what, "solver", "error cm",
           "iterations", "us/frame", "above", "restarts", "hessians", "factors");
}

void print_row(const char *clip_name, const char *protocol, const char *name, const clip_row *r) {
    printf("  %-26s %10.3f %10.2f %10.1f %8d %9d %9.2f %9.2f\n", name, r->error, r->iterations,
           r->micros, r->above, r->restarted, r->hessians, r->factorizations);
    if (bench_csv != NULL)
        fprintf(bench_csv, "%s,%s,%s,%.6g,%.6g,%.6g,%d,%d,%.6g,%.6g\n", clip_name, protocol, name,
                r->error, r->iterations, r->micros, r->above, r->restarted, r->hessians,
                r->factorizations);
    fflush(stdout);
}

bool judge(const char *what, double value, const char *relation, double target) {
    bool good = relation[0] == '<' ? value <= target : value >= target;
    printf("  %-70s %10.3f %s %g%s\n", what, value, relation, target, good ? "" : "   MISSED");
    return good;
}
