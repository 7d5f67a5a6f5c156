// SPDX-License-Identifier: MIT
#include "batch/program.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef SINEW_KERNELS

static void add_count(sn_text *out, const char *name, int value) {
    char line[96];
    (void)snprintf(line, sizeof line, "#define N_%s %d\n", name, value);
    sn_text_add(out, line);
}

static void begin_list(sn_text *out, const char *type, const char *name, const char *prefix) {
    sn_text_add(out, "__constant ");
    sn_text_add(out, type);
    sn_text_add(out, " ");
    sn_text_add(out, prefix);
    sn_text_add(out, name);
    sn_text_add(out, "[] = {");
}

static void add_ints(sn_text *out, const char *name, const int *values, int count) {
    char number[16];
    begin_list(out, "int", name, "T_");
    for (int i = 0; i < count; i++) {
        (void)snprintf(number, sizeof number, "%d,", values[i]);
        sn_text_add(out, number);
    }
    sn_text_add(out, "0};\n");  // a list is never empty
}

// No limit is a number beyond all others: INFINITY is no constant to some compilers.
static void add_number(sn_text *out, double x) {
    char number[40];
    if (isinf(x)) {
        sn_text_add(out, x > 0 ? "NO_LIMIT," : "-NO_LIMIT,");
        return;
    }
    // with a point, so that no compiler takes it for a whole number; %e has one in every locale of C
    (void)snprintf(number, sizeof number, "%.17e", x);
    for (char *c = number; *c != '\0'; c++)
        if (*c == ',') *c = '.';
    sn_text_add(out, number);
    sn_text_add(out, ",");
}

static void add_numbers(sn_text *out, const char *name, const double *values, int count) {
    begin_list(out, "REAL", name, "T_");
    for (int i = 0; i < count; i++) add_number(out, values[i]);
    sn_text_add(out, "0};\n");
}

static void add_bits(sn_text *out, const char *name, const double *values, int count) {
    char number[32];
    begin_list(out, "long", name, "EXACT_");
    for (int i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        (void)snprintf(number, sizeof number, "(long)0x%016" PRIx64 "UL,", bits);
        sn_text_add(out, number);
    }
    sn_text_add(out, "0};\n");
}

#define N(name) t->name

void sn_batch_program(const sn_batch_table *t, sn_batch_kernels kind, bool floats, double gradient,
                      int iterations, sn_text *out) {
    if (floats) sn_text_add(out, "#define SN_FLOAT 1\n");
    if (kind == SN_BATCH_QUICK) sn_text_add(out, "#define SN_QUICK 1\n");
    sn_text_add(out, "#ifdef cl_khr_fp64\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#endif\n"
                     "#define N(name) N_##name\n#define T(name) T_##name\n");
#define COUNT(name) add_count(out, #name, t->name);
    SN_BATCH_COUNTS(COUNT)
#undef COUNT
    sn_text_add(out, sn_batch_text_head);
#define LIST(name, count) add_ints(out, #name, t->name, count);
    SN_BATCH_INTS(LIST)
#undef LIST
    const double option[4] = {gradient, t->option[1], t->option[2], iterations};
#define LIST(name, count)                                                                          \
    if (strcmp(#name, "option") != 0) add_numbers(out, #name, t->name, count);
    SN_BATCH_NUMBERS(LIST)
#undef LIST
    add_numbers(out, "option", option, 4);
    if (kind == SN_BATCH_QUICK) {
        // a float's limit is beside its own: their bits, as no literal is a double there
        add_bits(out, "low", t->low, t->nv);
        add_bits(out, "high", t->high, t->nv);
    }
    sn_text_add(out, sn_batch_text_common);
    sn_text_add(out, kind == SN_BATCH_QUICK ? sn_batch_text_quick : sn_batch_text_trips);
}

bool sn_batch_is_quick(const sn_batch_table *t) {
    bool good =
        t->npart == 0 && t->nmove == 0 && t->nrest == 0 && t->nsoft == 0 && !t->loss && !t->gained;
    for (int k = 0; k < t->nj; k++)
        good = good && t->type[k] != SN_BATCH_EXPMAP && t->type[k] != SN_BATCH_SWING_TWIST &&
               (t->parent[k] >= 0) == (k > 0);
    return good;
}

#else

// Built without the kernels' source: there is no program, and no device.
void sn_batch_program(const sn_batch_table *t, sn_batch_kernels kind, bool floats, double gradient,
                      int iterations, sn_text *out) {
    (void)t, (void)kind, (void)floats, (void)gradient, (void)iterations, (void)out;
}

bool sn_batch_is_quick(const sn_batch_table *t) {
    (void)t;
    return false;
}

#endif
