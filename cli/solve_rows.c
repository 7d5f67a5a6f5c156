// SPDX-License-Identifier: MIT
#include "solve_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

sn_device device_of(const char *name) {
    if (name != NULL && strcmp(name, "cpu") == 0) return SN_DEVICE_CPU;
    if (name != NULL && strcmp(name, "opencl") == 0) return SN_DEVICE_OPENCL;
    return SN_DEVICE_AUTO;
}

// The rows of a file; NULL after a message.
static sn_table *read_rows(const char *path, const sn_batch *batch) {
    sn_error error = {0};
    sn_table *table = NULL;
    size_t length;
    char *text = read_bytes(path, &length, &error);
    if (text == NULL || sn_csv_read_table(text, length, NULL, &table, &error) != SN_OK)
        (void)file_error(path, &error);
    free(text);
    const int need = sn_batch_ngoal(batch);
    if (table != NULL && sn_table_about(table)->ncolumn != need) {
        complain("%s: %d columns, but the goals of the tasks are %d numbers: three for a point, "
                 "four (w x "
                 "y z) for a rotation, in the order of the tasks",
                 path, sn_table_about(table)->ncolumn, need);
        sn_table_destroy(table);
        return NULL;
    }
    return table;
}

enum { EXTRA = 3, NAME = 96 };

// A column for each coordinate, then f, relative gradient and iterations.
static sn_table *make_table(const sn_model *model, int nrow) {
    const int nq = sn_model_nq(model);
    char(*text)[NAME] = must_alloc((size_t)nq + EXTRA, sizeof *text);
    const char **names = must_alloc((size_t)nq + EXTRA, sizeof *names);
    for (int j = 0; j < sn_model_njoint(model); j++) {
        const int first = sn_model_q_index(model, j);
        const int end = j + 1 < sn_model_njoint(model) ? sn_model_q_index(model, j + 1) : nq;
        for (int i = first; i < end; i++) {
            if (end - first == 1)
                (void)snprintf(text[i], sizeof *text, "%.80s", sn_model_joint(model, j)->name);
            else
                (void)snprintf(text[i], sizeof *text, "%.80s.%d", sn_model_joint(model, j)->name,
                               i - first);
        }
    }
    static const char *const extra[EXTRA] = {"f", "gradient", "iterations"};
    for (int i = 0; i < EXTRA; i++) (void)snprintf(text[nq + i], sizeof *text, "%s", extra[i]);
    for (int i = 0; i < nq + EXTRA; i++) names[i] = text[i];
    sn_table_info info = sn_table_info_default();
    info.nrow = nrow;
    info.ncolumn = nq + EXTRA;
    info.in_degrees = false;
    sn_table *table = NULL;
    if (sn_table_create(&info, names, NULL, &table, NULL) != SN_OK) complain("out of memory");
    free(names);
    free(text);
    return table;
}

static bool write_rows(const char *path, const sn_table *table) {
    output out;
    sn_error error = {0};
    if (!output_open(&out, path != NULL ? path : "-")) return false;
    const sn_sink sink = output_sink(&out);
    sn_status status = sn_csv_write_table(table, &sink, &error);
    return output_close(&out, status, &error);
}

// All rows; the poses, f and iterations into the table.
static int run_rows(sn_batch *batch, const sn_model *model, const sn_table *goals,
                    const double *start, const char *out) {
    const int n = sn_table_about(goals)->nrow;
    const size_t nq = (size_t)sn_model_nq(model), ngoal = (size_t)sn_batch_ngoal(batch);
    double *row = must_alloc((size_t)n * ngoal + 1, sizeof *row);
    double *q = must_alloc((size_t)n * nq + 1, sizeof *q);
    sn_batch_report *reports = must_alloc((size_t)n + 1, sizeof *reports);
    for (int i = 0; i < n; i++) {
        memcpy(row + (size_t)i * ngoal, sn_table_row(goals, i), ngoal * sizeof *row);
        memcpy(q + (size_t)i * nq, start, nq * sizeof *q);
    }
    int code = EXIT_FAILED, bad = 0, first = 0;
    sn_status status = sn_batch_solve(batch, n, row, q, q, reports);
    sn_table *table = status == SN_OK ? make_table(model, n) : NULL;
    if (status != SN_OK) complain("%s", sn_status_text(status));
    for (int i = 0; i < n && table != NULL; i++) {
        double *to = sn_table_edit(table, i);
        memcpy(to, q + (size_t)i * nq, nq * sizeof *q);
        to[nq] = reports[i].f;
        to[nq + 1] = reports[i].gradient;
        to[nq + 2] = reports[i].iterations;
        const bool wrong =
            reports[i].stop == SN_STOP_BAD_GOALS || reports[i].stop == SN_STOP_BAD_START;
        if (wrong && bad++ == 0) first = i;
    }
    if (table != NULL && write_rows(out, table)) code = bad > 0 ? EXIT_INPUT : EXIT_OK;
    const sn_batch_counts c = sn_batch_count(batch);
    fprintf(stderr, "%d row%s on %s; %.1f iterations a row", n, n == 1 ? "" : "s",
            sn_batch_note(batch), n > 0 ? (double)c.iterations / n : 0);
    if (c.plain > 0) fprintf(stderr, "; the plain solver helped with %d", (int)c.plain);
    fputs("\n", stderr);
    if (bad > 0)
        complain("row %d%s %s goals that are no numbers, or a quaternion of length 0", first + 1,
                 bad > 1 ? " and others" : "", bad > 1 ? "have" : "has");
    sn_table_destroy(table);
    free(row);
    free(q);
    free(reports);
    return code;
}

int solve_rows(const sn_problem *problem, const double *start, const sn_solver_options *options,
               const rows_settings *s) {
    sn_batch_options o = sn_batch_options_default();
    sn_error error = {0};
    sn_batch *batch = NULL;
    o.solver = *options;
    o.device = device_of(s->device);
    if (s->precision != NULL && strcmp(s->precision, "mixed") == 0)
        o.precision = SN_PRECISION_MIXED;
    o.threads = s->jobs > 0 ? (int)s->jobs : 1;
    if (sn_batch_create(problem, &o, NULL, &batch, &error) != SN_OK) {
        complain("%s", error.text);
        return EXIT_FAILED;
    }
    sn_table *goals = read_rows(s->goals, batch);
    int code = EXIT_INPUT;
    if (goals != NULL) code = run_rows(batch, sn_problem_model(problem), goals, start, s->out);
    sn_table_destroy(goals);
    sn_batch_destroy(batch);
    return code;
}
