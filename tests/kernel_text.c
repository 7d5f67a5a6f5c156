// SPDX-License-Identifier: MIT
// Prints the kernels for the humanoid as a C program: what a device's compiler gets, a few names that only OpenCL has,
// chains of frames as numbers, and calls that do what launch.c does. kernels.sh runs it under sanitizers.
#include <math.h>
#include <stdio.h>

#include "batch/batch.h"
#include "batch/program.h"
#include "batch_rows.h"

enum { CHAINS = 3, FRAMES = 4 };

static const char shim[] =
    "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "#define __kernel\n#define __global\n#define __constant static const\n"
    "typedef unsigned int uint;\n"
    "static size_t get_global_id(int i) { return (void)i, 0; }\n"
    "static size_t get_global_size(int i) { return (void)i, 1; }\n"
    "static int atomic_inc(int *x) { return (*x)++; }\n"
    "static double as_double(long x) { double y; memcpy(&y, &x, sizeof y); return y; }\n";

// Arrays of just the size that is needed, so that a step outside is seen.
static const char calls[] =
    "static double *room(int n) { return calloc((size_t)n, sizeof(double)); }\n"
    "int main(void) {\n"
    "    enum { ROWS = CHAINS * FRAMES };\n"
    "    double *poses = room(ROWS * N_nq), *stats = room(ROWS * 4), *fixed = room(ROWS * N_nq);\n"
    "    double *goals = room(ROWS * N_ngoal), *starts = room(CHAINS * N_nq);\n"
    "    double *heads = room(2 * CHAINS * N_nq), *heads2 = room(2 * CHAINS * N_nq);\n"
    "    int *next = calloc(SN_NEXT_SIZE, sizeof *next), *list = calloc(ROWS, sizeof *list);\n"
    "    int *list2 = calloc(ROWS, sizeof *list2), solved = 0;\n"
    "    memcpy(goals, GOALS, sizeof GOALS);\n"
    "    memcpy(starts, STARTS, sizeof STARTS);\n"
    "#ifdef SN_QUICK\n"
    "    sn_batch_quick(goals, starts, poses, stats, CHAINS, FRAMES, 1, next, 40, (REAL)3e-5, 0, "
    "list,\n"
    "                   fixed, 0, heads);\n"
    "#ifdef SN_FLOAT\n"
    "    /* floats are looked at by the doubles' kernel */\n"
    "    for (int i = 0; i < ROWS; i++) solved += stats[4 * i + 1] < 1e-3 && stats[4 * i + 3] > "
    "0;\n"
    "#else\n"
    "    sn_batch_verify(goals, poses, stats, ROWS, FRAMES, 1e-3, 0, 0, next, list, list, 0, "
    "heads);\n"
    "    sn_batch_quick(goals, starts, poses, stats, CHAINS, FRAMES, 0, next, 40, 1e-6, 1, list, "
    "fixed,\n"
    "                   0, heads);\n"
    "    sn_batch_verify(goals, poses, stats, 0, FRAMES, 1e-3, 0, 0, next, list, list2, 0, "
    "heads);\n"
    "    for (int i = 0; i < ROWS; i++) solved += stats[4 * i] == SN_END_MINIMUM;\n"
    "#endif\n"
    "    /* the frames behind a piece, from its heads */\n"
    "    for (int i = 0; i < CHAINS; i++)\n"
    "        memcpy(heads + 2 * i * N_nq, poses + i * FRAMES * N_nq, 2 * N_nq * sizeof *heads);\n"
    "    memset(next, 0, SN_NEXT_SIZE * sizeof *next);\n"
    "    sn_batch_quick(goals, starts, poses, stats, CHAINS, FRAMES, 1, next, 40, (REAL)3e-5, 0, "
    "list,\n"
    "                   fixed, 8, heads);\n"
    "    (void)heads2;\n"
    "#else\n"
    "    sn_batch_chains(goals, starts, poses, stats, CHAINS, FRAMES, 1, next, 400, 0, list2, "
    "fixed, 0, 0,\n"
    "                    heads);\n"
    "    for (int i = 0; i < ROWS; i++) solved += stats[4 * i] == SN_END_MINIMUM;\n"
    "    sn_batch_heads(poses, heads, heads2, CHAINS, FRAMES);\n"
    "    for (int i = 0; i < ROWS; i++) list2[next[SN_NEXT_COUNT2]++] = i;\n"
    "    sn_batch_chains(goals, poses, poses, stats, ROWS, 1, 0, next, 400, FRAMES, list2, fixed, "
    "0, 4,\n"
    "                    heads2);\n"
    "    sn_batch_put(poses, next, SN_NEXT_COUNT2, list2, fixed, 0);\n"
    "#endif\n"
    "    printf(\"%d of %d rows are solved\\n\", solved, ROWS);\n"
    "    free(poses), free(stats), free(fixed), free(goals), free(starts), free(heads), "
    "free(heads2);\n"
    "    free(next), free(list), free(list2);\n"
    "    return solved < ROWS - 2;\n"
    "}\n";

static void print_numbers(const char *name, const double *x, int n) {
    printf("static const double %s[] = {", name);
    for (int i = 0; i < n; i++) {
        if (isnan(x[i]))
            printf("NAN,");
        else
            printf("%.17g,", x[i]);
    }
    printf("};\n");
}

// kernel_text trips|quick double|float
int main(int argc, char **argv) {
    if (argc != 3) return 2;
    row_set s = humanoid_rows(CHAINS, FRAMES, 1e-3);
    sn_batch_options o = sn_batch_options_default();
    sn_batch *batch;
    o.device = SN_DEVICE_CPU;
    o.rest = 3e-5;
    if (sn_batch_create(s.problem, &o, NULL, &batch, NULL) != SN_OK) return 1;
    sn_text text = sn_text_begin(NULL);
    const bool quick = strcmp(argv[1], "quick") == 0;
    sn_batch_program(&batch->table, quick ? SN_BATCH_QUICK : SN_BATCH_TRIPS,
                     strcmp(argv[2], "float") == 0, 1e-3, 100, &text);
    if (text.status != SN_OK) return 1;
    printf("%s%.*s", shim, (int)text.length, text.data);
    printf("enum { CHAINS = %d, FRAMES = %d };\n", CHAINS, FRAMES);
    // one goal is missing
    for (int k = 0; k < 3; k++) s.goals[s.ngoal + k] = NAN;
    print_numbers("GOALS", s.goals, s.n * s.ngoal);
    print_numbers("STARTS", s.starts, CHAINS * s.nq);
    fputs(calls, stdout);
    sn_text_end(&text);
    sn_batch_destroy(batch);
    rows_free(&s);
    return 0;
}
