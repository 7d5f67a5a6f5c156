// SPDX-License-Identifier: MIT
// Many problems at once on a device that speaks OpenCL (pocl will do), against this processor's lanes. With
// an argument, what goes wrong with OpenCL: then this processor's results, to the last bit, and a note.
#include <dlfcn.h>

#include "batch_rows.h"

#include "base/clock.h"
#include "batch/batch.h"
#include "on_device.h"

static sn_batch *create_with(const row_set *s, sn_device device, sn_precision precision,
                             int threads) {
    sn_batch_options o = sn_batch_options_default();
    sn_batch *batch;
    o.device = device;
    o.precision = precision;
    o.device_threads = threads;
    o.solver.gradient = 1e-8;
    o.start = SN_BATCH_PREVIOUS;
    assert_int_equal(sn_batch_create(s->problem, &o, NULL, &batch, NULL), SN_OK);
    return batch;
}

static sn_batch *create(const row_set *s, sn_device device, sn_precision precision) {
    return create_with(s, device, precision, 64);
}

// f of a device agrees to 1e-9 in doubles and to 1e-6 in mixed precision.
static void humanoid(void **unused) {
    (void)unused;
    enum { CHAINS = 5, FRAMES = 3 };
    if (no_device()) skip();
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
        int above = 0, lower = 0;
        assert_int_equal(sn_batch_track(there, CHAINS, FRAMES, s.goals, s.starts, q, r), SN_OK);
        if (sn_batch_count(there).device != s.n) fail_msg("%s", sn_batch_note(there));
        for (int i = 0; i < s.n; i++) {
            const double off = fabs(r[i].f - r1[i].f) / r1[i].f;
            assert_int_equal(r[i].stop, SN_STOP_MINIMUM);
            // floats, and a second look where a limit was met, may lead into another valley
            if (p == 1 && off > 1e-3) {
                above += r[i].f > r1[i].f;
                lower += r[i].f < r1[i].f;
            } else {
                worst = fmax(worst, off);
            }
        }
        print_message("%s: f within %g, %d rows in a deeper valley, %d in a shallower one\n",
                      sn_batch_note(there), worst, lower, above);
        assert_true(worst < (p == 0 ? 1e-9 : 1e-6) && above <= 1);
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

// Long chains are cut along their frames, and threads take the chains as they come: neither shows.
static void cut_chains(void **unused) {
    (void)unused;
    enum { CHAINS = 70, FRAMES = 9 };
    if (no_device()) skip();
    row_set s = humanoid_rows(CHAINS, FRAMES, 5e-4);
    const size_t bytes = (size_t)(s.n * s.nq) * sizeof(double);
    double *q[3];
    sn_batch_report *r = calloc(3 * (size_t)s.n, sizeof *r);
    for (int i = 0; i < 3; i++) {
        q[i] = malloc(bytes);
        sn_batch *b = i < 2
                          ? create_with(&s, SN_DEVICE_OPENCL, SN_PRECISION_MIXED, i == 0 ? 64 : 192)
                          : create(&s, SN_DEVICE_CPU, SN_PRECISION_DOUBLE);
        assert_int_equal(sn_batch_track(b, CHAINS, FRAMES, s.goals, s.starts, q[i], r + i * s.n),
                         SN_OK);
        assert_int_equal(sn_batch_count(b).rows, s.n);
        if (i < 2) assert_int_equal(sn_batch_count(b).device, s.n);
        sn_batch_destroy(b);
    }
    assert_memory_equal(q[0], q[1], bytes);
    int above = 0, open = 0;
    for (int i = 0; i < s.n; i++) {
        open += r[i].stop != SN_STOP_MINIMUM;
        above += r[i].f > r[2 * s.n + i].f * (1 + 1e-6);
    }
    print_message("%d frames in chains that are cut: %d in a shallower valley, %d not at its end\n",
                  s.n, above, open);
    assert_true(above <= s.n / 50 && open <= s.n / 100);
    for (int i = 0; i < 3; i++) free(q[i]);
    free(r);
    rows_free(&s);
}

// All kinds of joints and tasks; where a rest pose makes H regular the poses agree to 1e-8.
static void random_problems(void **unused) {
    (void)unused;
    enum { ROWS = 24 };
    if (no_device()) skip();
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
    // nothing is under way that would come over what this processor does from now on
    int (*copying)(void) = NULL;
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW), *at = NULL;
    if (library != NULL) at = dlsym(library, "sn_opencl_copying");
    memcpy(&copying, &at, sizeof at);
    if (copying != NULL) assert_int_equal(copying(), 0);
    assert_true(copying != NULL || strcmp(goes_wrong, "lost") != 0);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(humanoid), cmocka_unit_test(cut_chains),
                                       cmocka_unit_test(random_problems)};
    const struct CMUnitTest wrong[] = {cmocka_unit_test(takes_over)};
    return RUN_ON_DEVICE(argc, argv, tests, wrong);
}
