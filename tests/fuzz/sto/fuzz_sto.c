// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/sto/fuzz_sto.c -lm -o fuzz_sto
// ./fuzz_sto -dict=tests/fuzz/sto/sto.dict corpus tests/fuzz/sto/seeds
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz.h"
#include "sinew/files.h"

// What was read, when it can be written, reads back the same.
static void write_and_read(const sn_table *table) {
    bytes b = {0};
    sn_sink sink = {keep, &b};
    sn_table *back;
    if (sn_sto_write(table, &sink, NULL) == SN_OK) {
        check(sn_sto_read(b.at, b.length, NULL, &back, NULL) == SN_OK);
        const sn_table_info *x = sn_table_about(table), *y = sn_table_about(back);
        check(x->nrow == y->nrow && x->ncolumn == y->ncolumn && x->in_degrees == y->in_degrees);
        for (int i = 0; i < x->nrow; i++)
            for (int c = 0; c < x->ncolumn; c++) {
                double p = sn_table_row(table, i)[c], q = sn_table_row(back, i)[c];
                check(p == q || (isnan(p) && isnan(q)));
            }
        sn_table_destroy(back);
    }
    free(b.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static sn_model *model;
    if (model == NULL) check(sn_model_humanoid(NULL, &model, NULL) == SN_OK);
    sn_table *table;
    sn_error error = {0};
    sn_status status = sn_sto_read((const char *)data, size, NULL, &table, &error);
    check((status == SN_OK) == (table != NULL));
    if (status != SN_OK) {
        check(error.status == status && error.text[0] != '\0');
        return 0;
    }
    const sn_table_info *info = sn_table_about(table);
    // a cell of a vector is three numbers
    check(info->ncolumn > 0 && (size_t)info->nrow * (size_t)info->ncolumn <= 3 * size);
    check(isfinite(sn_table_rate(table)));
    write_and_read(table);
    sn_recording *recording;
    if (sn_recording_from_table(table, "mm", NULL, &recording, NULL) == SN_OK)
        sn_recording_destroy(recording);
    sn_motion *motion;
    if (sn_motion_from_table(model, table, NULL, &motion, NULL) == SN_OK) sn_motion_destroy(motion);
    sn_table_destroy(table);
    return 0;
}
