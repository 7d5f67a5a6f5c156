// SPDX-License-Identifier: MIT
// Many problems at once on a device that speaks OpenCL (pocl will do), against this processor's lanes. With
// an argument, what goes wrong with OpenCL: then this processor's results, to the last bit, and a note.
#include "batch_rows.h"

#include "base/clock.h"
#include "batch/batch.h"

static const char *goes_wrong;

static bool no_device(void) {
    sn_device_info info[4];
    int n = sn_batch_devices(info, 4);
    for (int i = 0; i < n && i < 4; i++)
        if (info[i].doubles) return false;
    print_message("skipped: no OpenCL device with doubles (Debian: pocl-opencl-icd)\n");
    return true;
}

static sn_batch *create(const row_set *s, sn_device device, sn_precision precision) {
    sn_batch_options o = sn_batch_options_default();
    sn_batch *batch;
    o.device = device;
    o.precision = precision;
    o.device_threads = 64;
    o.solver.gradient = 1e-8;
    o.start = SN_BATCH_PREVIOUS;
    assert_int_equal(sn_batch_create(s->problem, &o, NULL, &batch, NULL), SN_OK);
    return batch;
}

// f of a device agrees to 1e-9 in doubles and to 1e-6 in mixed precision.
static void humanoid(void **unused) {
    (void)unused;
    enum { CHAINS = 5, FRAMES = 3 };
    if (no_device()) return;
    row_set s = humanoid_rows(CHAINS, FRAMES, 2e-3);
    double *q = calloc((size_t)(s.n * s.nq), sizeof *q),
           *q1 = calloc((size_t)(s.n * s.nq), sizeof *q);
    sn_batch_report r[CHAINS * FRAMES], r1[CHAINS * FRAMES];
    sn_batch *here = create(&s, SN_DEVICE_CPU, SN_PRECISION_DOUBLE);
    assert_int_equal(sn_batch_track(here, CHAINS, FRAMES, s.goals, s.starts, q1, r1), SN_OK);
    sn_batch_destroy(here);
    for (int p = 0; p < 2; p++) {
        sn_batch *there =
            create(&s, SN_DEVICE_OPENCL, p == 0 ? SN_PRECISION_DOUBLE : SN_PRECISION_MIXED);
        double worst = 0;
        int apart = 0;
        assert_int_equal(sn_batch_track(there, CHAINS, FRAMES, s.goals, s.starts, q, r), SN_OK);
        if (sn_batch_count(there).device != s.n) fail_msg("%s", sn_batch_note(there));
        for (int i = 0; i < s.n; i++) {
            const double off = fabs(r[i].f - r1[i].f) / r1[i].f;
            assert_int_equal(r[i].stop, SN_STOP_MINIMUM);
            // floats may lead into another valley
            if (p == 1 && off > 1e-3) {
                apart++;
            } else {
                worst = fmax(worst, off);
            }
        }
        print_message("%s: f within %g, %d rows in another valley\n", sn_batch_note(there), worst,
                      apart);
        assert_true(worst < (p == 0 ? 1e-9 : 1e-6) && apart <= 1);
        // handed over beforehand, the same
        double *q2 = sn_batch_room(there, (size_t)(s.n * s.nq) * sizeof *q2);
        assert_non_null(q2);
        assert_int_equal(sn_batch_submit(there, CHAINS, FRAMES, s.goals, s.starts, q2, NULL),
                         SN_OK);
        assert_int_equal(sn_batch_submit(there, 1, FRAMES, s.goals, s.starts, q1, r1), SN_OK);
        assert_int_equal(sn_batch_wait(there), SN_OK);
        assert_int_equal(sn_batch_wait(there), SN_OK);
        assert_memory_equal(q, q2, (size_t)(s.n * s.nq) * sizeof *q);
        assert_memory_equal(q, q1, (size_t)(FRAMES * s.nq) * sizeof *q);
        sn_batch_destroy(there);
        here = create(&s, SN_DEVICE_CPU, SN_PRECISION_DOUBLE);
        assert_int_equal(sn_batch_track(here, CHAINS, FRAMES, s.goals, s.starts, q1, r1), SN_OK);
        sn_batch_destroy(here);
    }
    free(q);
    free(q1);
    rows_free(&s);
}

// All kinds of joints and tasks; where a rest pose makes H regular the poses agree to 1e-8.
static void random_problems(void **unused) {
    (void)unused;
    enum { ROWS = 24 };
    if (no_device()) return;
    uint64_t state = 81;  // draws functions in both of the first problems
    int rows = 0, apart = 0;
    double worst = 0, worst_q = 0;
    for (int c = 0, n = cases(2); c < n; c++) {
        row_set s = random_rows(&state, 4 + below(&state, 8), 2 + below(&state, 5), ROWS, true);
        double *q = calloc((size_t)(s.n * s.nq), sizeof *q),
               *q1 = calloc((size_t)(s.n * s.nq), sizeof *q);
        sn_batch_report r[ROWS], r1[ROWS];
        sn_batch *here = create(&s, SN_DEVICE_CPU, SN_PRECISION_DOUBLE);
        sn_batch *there = create(&s, SN_DEVICE_OPENCL, SN_PRECISION_DOUBLE);
        assert_int_equal(sn_batch_solve(here, ROWS, s.goals, s.starts, q1, r1), SN_OK);
        assert_int_equal(sn_batch_solve(there, ROWS, s.goals, s.starts, q, r), SN_OK);
        if (here->fits && sn_batch_count(there).device == 0) fail_msg("%s", sn_batch_note(there));
        for (int i = 0; i < ROWS && here->fits; i++) {
            double f = fabs(r[i].f - r1[i].f) / fmax(r1[i].f, 1e-18), off = 0;
            for (int k = 0; k < s.nq; k++)
                off = fmax(off, fabs(q[i * s.nq + k] - q1[i * s.nq + k]));
            rows++;
            if (f > 1e-9) {
                apart++;
                continue;
            }
            worst = fmax(worst, f);
            if (r[i].stop == SN_STOP_MINIMUM) worst_q = fmax(worst_q, off);
        }
        sn_batch_destroy(here);
        sn_batch_destroy(there);
        free(q);
        free(q1);
        rows_free(&s);
    }
    print_message("%d rows: f within %g, poses within %g; %d in another valley\n", rows, worst,
                  worst_q, apart);
    assert_true(apart <= rows / 100);
    assert_true(worst_q < 1e-8);
}

// This processor takes over, and says why.
static void takes_over(void **unused) {
    (void)unused;
    enum { CHAINS = 520, FRAMES = 1 };
    row_set s = humanoid_rows(CHAINS, FRAMES, 1e-3);
    double *q = calloc((size_t)(s.n * s.nq), sizeof *q),
           *q1 = calloc((size_t)(s.n * s.nq), sizeof *q);
    sn_batch_report *r = calloc((size_t)s.n, sizeof *r);
    sn_batch *here = create(&s, SN_DEVICE_CPU, SN_PRECISION_DOUBLE);
    sn_batch *there = create(&s, SN_DEVICE_OPENCL, SN_PRECISION_DOUBLE);
    assert_int_equal(sn_batch_track(here, CHAINS, FRAMES, s.goals, s.starts, q1, NULL), SN_OK);
    const int64_t rows = sn_batch_count(here).rows;
    assert_int_equal(sn_batch_track(there, CHAINS, FRAMES, s.goals, s.starts, q, r), SN_OK);
    print_message("%s: %s\n", goes_wrong, sn_batch_note(there));
    assert_non_null(strstr(sn_batch_note(there), "this processor"));
    assert_int_equal(sn_batch_count(there).rows, rows);
    double worst = 0;
    for (int i = 0; i < s.n; i++) {
        assert_int_equal(r[i].stop, SN_STOP_MINIMUM);
        for (int k = 0; k < s.nq; k++)
            worst = fmax(worst, fabs(q[i * s.nq + k] - q1[i * s.nq + k]));
    }
    // what the device did before it was lost stays its own
    const bool partly = sn_batch_count(there).device > 0;
    if (strcmp(goes_wrong, "lost") == 0) assert_true(partly);
    if (!partly) assert_memory_equal(q, q1, (size_t)(s.n * s.nq) * sizeof *q);
    assert_true(worst < 1e-2);
    // and on it goes
    assert_int_equal(sn_batch_track(there, CHAINS, FRAMES, s.goals, s.starts, q, r), SN_OK);
    assert_memory_equal(q, q1, (size_t)(s.n * s.nq) * sizeof *q);
    sn_batch_destroy(here);
    sn_batch_destroy(there);
    free(q);
    free(q1);
    free(r);
    rows_free(&s);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(humanoid),
                                       cmocka_unit_test(random_problems)};
    const struct CMUnitTest wrong[] = {cmocka_unit_test(takes_over)};
    goes_wrong = argc > 1 ? argv[1] : NULL;
    return goes_wrong != NULL ? cmocka_run_group_tests(wrong, NULL, NULL)
                              : cmocka_run_group_tests(tests, NULL, NULL);
}
