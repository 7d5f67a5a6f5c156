// SPDX-License-Identifier: MIT
// `sinew bench papers --quick` makes its page, and what holds in the documents holds in its CSV files.
// With the clips at hand it runs on them, else on the built-in example, where 001's numbers do not apply.
#define _POSIX_C_SOURCE 200809L
#include <sys/stat.h>

#include "support.h"

#define OUT "test-papers-out"

static bool with_clips;
static int status;

static int run_once(void **unused) {
    (void)unused;
    struct stat found;
    char line[1024];
    with_clips = stat(SINEW_DATA "/hdm05/HDM_dg_03-05_02_120.c3d", &found) == 0;
    if (!with_clips) print_message("skipped: 001's numbers, no clips under %s\n", SINEW_DATA);
    (void)snprintf(line, sizeof line,
                   "rm -rf " OUT "; OPENBLAS_NUM_THREADS=1 %s bench papers --quick --out " OUT
                   " %s%s > test-papers.txt 2> test-papers.err",
                   SINEW_PROGRAM, with_clips ? "--data " : "", with_clips ? SINEW_DATA : "");
    status = system(line);
    return 0;
}

static char *output(const char *name) {
    char path[256];
    size_t length;
    (void)snprintf(path, sizeof path, OUT "/%s", name);
    return slurp(path, &length);
}

static void it_succeeds_and_is_silent_in_a_pipe(void **unused) {
    (void)unused;
    size_t length;
    assert_int_equal(status, 0);
    char *errors = slurp("test-papers.err", &length);
    assert_string_equal(errors, "");
    free(errors);
}

static void page_has_every_section_and_fetches_nothing(void **unused) {
    (void)unused;
    static const char *const sections[] = {
        "verdicts",     "data",     "001-table3",   "001-table4",    "001-fig3", "001-fig4",
        "001-fig5",     "001-fig8", "001-figA10",   "001-section7",  "002-fig6", "002-fig8",
        "003-section2", "003-fig8", "004-section4", "004-logarithm", "cost"};
    static const char *const banned[] = {"://",  "<script", "<link", "@import",
                                         "url(", "src=",    "nan"};
    char *page = output("papers.html");
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        char id[64];
        (void)snprintf(id, sizeof id, "<h2 id=\"%s\">", sections[i]);
        if (strstr(page, id) == NULL) fail_msg("the page has no section %s", sections[i]);
    }
    for (size_t i = 0; i < sizeof banned / sizeof banned[0]; i++) {
        const char *at = strstr(page, banned[i]);
        if (at != NULL) fail_msg("the page has \"%s\": %.60s", banned[i], at);
    }
    assert_non_null(strstr(page, "Content-Security-Policy"));
    if (!with_clips) assert_non_null(strstr(page, "No recordings were given"));
    free(page);
}

static void figures_stand_alone(void **unused) {
    (void)unused;
    static const char *const figures[] = {"001-fig3.svg",
                                          "001-fig4.svg",
                                          "001-fig5.svg",
                                          "001-fig8.svg",
                                          "001-figA10.svg",
                                          "001-section7.svg",
                                          "002-fig6.svg",
                                          "002-fig8.svg",
                                          "002-smoothness.svg",
                                          "003-fig8-cost.svg",
                                          "003-fig8-robustness.svg",
                                          "004-logarithm.svg",
                                          "cost.svg"};
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        char *svg = output(figures[i]);
        assert_int_equal(strncmp(svg, "<svg", 4), 0);
        assert_non_null(strstr(svg, "</svg>"));
        assert_non_null(strstr(svg, "<title>"));
        assert_null(strstr(svg, "nan"));
        free(svg);
    }
}

// How many cells a line of a CSV file has; -1 when a quote is left open.
static int cells_of(const char *line) {
    int n = 1;
    bool quoted = false;
    for (; *line != '\0'; line++) {
        quoted ^= *line == '"';
        n += *line == ',' && !quoted;
    }
    return quoted ? -1 : n;
}

static void every_row_has_as_many_cells_as_the_first(void **unused) {
    (void)unused;
    static const char *const files[] = {
        "001-convergence.csv", "001-fig8.csv",   "001-figA10.csv",   "001-section7.csv",
        "001-table3.csv",      "001-table4.csv", "002-fig6.csv",     "001-table4-calibrated.csv",
        "002-fig8.csv",        "004-chains.csv", "003-section2.csv", "003-fig8-cost.csv",
        "004-logarithm.csv",   "verdicts.csv",   "cost.csv",         "003-fig8-robustness.csv",
        "frames.csv"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *csv = output(files[i]), *save = NULL;
        char *line = strtok_r(csv, "\n", &save);
        int wanted = cells_of(line);
        assert_true(wanted > 1);
        for (; line != NULL; line = strtok_r(NULL, "\n", &save))
            if (cells_of(line) != wanted) fail_msg("%s: %s", files[i], line);
        free(csv);
    }
}

static void every_claim_has_a_verdict(void **unused) {
    (void)unused;
    char *csv = output("verdicts.csv");
    int holds = 0, partly = 0, not = 0, lines = 0;
    char *save = NULL;
    for (char *line = strtok_r(csv, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        holds += strstr(line, "\",holds,\"") != NULL;
        partly += strstr(line, "\",holds partly,\"") != NULL;
        not += strstr(line, "\",does not hold,\"") != NULL;
        lines++;
    }
    assert_true(lines > 30);
    assert_int_equal(holds + partly + not, lines - 1);
    assert_true(holds >= 8);
    free(csv);
}

// 001-table4.csv: clip,solver,bandwidth,settings,limit,start,error_cm,...
static double error_of(const char *csv, const char *wanted) {
    const char *at = strstr(csv, wanted);
    if (at == NULL) fail_msg("001-table4.csv has no row %s", wanted);
    return strtod(at + strlen(wanted), NULL);
}

static void table_4_keeps_its_order(void **unused) {
    (void)unused;
    static const char *const clips[] = {"dg_03-05_02", "dg_01-03_01", "dg_06-03_03", "02_01"};
    char *csv = output("001-table4.csv");
    for (int i = 0; i < (with_clips ? 4 : 1); i++) {
        const char *clip = with_clips ? clips[i] : "example";
        char row[3][128];
        (void)snprintf(row[0], sizeof row[0], "\n%s,bfgs,0,ours,10,true,", clip);
        (void)snprintf(row[1], sizeof row[1], "\n%s,bfgs,0,ours,100,true,", clip);
        (void)snprintf(row[2], sizeof row[2], "\n%s,newton-pcg,24,001,10,true,", clip);
        double ten = error_of(csv, row[0]), hundred = error_of(csv, row[1]);
        double exact = error_of(csv, row[2]);
        print_message("%s: %.2f, %.2f, %.2f cm\n", clip, ten, hundred, exact);
        assert_true(ten > 2 * hundred);
        assert_true(hundred > exact);
        if (i == 0 && with_clips) assert_true(exact <= 0.6);
    }
    free(csv);
}

// 001-convergence.csv: setting,kind,clip,frame,solver,iteration,f. The order p of f_(k+1) ~ f_k^p at the
// last steps of newton's runs from the frame before.
static void newton_ends_quadratically(void **unused) {
    (void)unused;
    if (!with_clips) {
        // the example's straight limbs make its solutions singular, and the last steps linear
        print_message("skipped: the order of convergence, no clips\n");
        return;
    }
    char *csv = output("001-convergence.csv"), *save = NULL;
    double last[3] = {NAN, NAN, NAN};
    int quadratic = 0, runs = 0;
    double order = NAN, least = 1.6;  // bfgs: none at all
    for (char *line = strtok_r(csv, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        const char *at = strstr(line, ",newton,");
        if (strncmp(line, "001-fig3,", 9) != 0 || at == NULL) continue;
        char *end;
        long k = strtol(at + 8, &end, 10);
        double f = strtod(end + 1, NULL);
        if (k == 0) {
            if (isfinite(order)) runs++, quadratic += order > least;
            order = last[1] = last[2] = NAN;
        }
        last[0] = last[1], last[1] = last[2], last[2] = f;
        // above what rounding leaves of f, some 1e-25 cm^2
        if (last[2] > 1e-22 && last[2] < 0.3 * last[1] && last[1] < 0.5 * last[0] && last[0] < 10)
            order = log(last[2] / last[1]) / log(last[1] / last[0]);
    }
    if (isfinite(order)) runs++, quadratic += order > least;
    print_message("%d of %d runs end with an order above %g\n", quadratic, runs, least);
    assert_true(runs >= 8);
    assert_true(3 * quadratic > runs);
    free(csv);
}

// 001-figA10.csv: goal,theta1,theta2,f,kind
static void definite_only_where_the_residual_is_small(void **unused) {
    (void)unused;
    char *csv = output("001-figA10.csv"), *save = NULL;
    double most[4] = {0}, definite[4] = {0}, negative[4] = {9, 9, 9, 9};
    for (char *line = strtok_r(csv, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        int goal = line[0] - '0', field = 0;
        if (goal < 1 || goal > 3) continue;
        char *at = line;
        for (; field < 3 && at != NULL; field++) at = strchr(at + 1, ',');
        assert_non_null(at);
        double f = strtod(at + 1, &at);
        most[goal] = fmax(most[goal], f);
        if (strstr(at, "positive") != NULL) definite[goal] = fmax(definite[goal], f);
        if (strstr(at, "negative") != NULL) negative[goal] = fmin(negative[goal], f);
    }
    for (int goal = 1; goal <= 3; goal++) {
        print_message("goal %d: positive definite up to f = %.2f, negative from %.2f, most %.2f\n",
                      goal, definite[goal], negative[goal], most[goal]);
        assert_true(definite[goal] > 0);
        assert_true(definite[goal] < 0.4 * most[goal]);
        assert_true(definite[goal] < negative[goal]);
    }
    free(csv);
}

static void bad_folders_are_refused(void **unused) {
    (void)unused;
    assert_int_equal(system(SINEW_PROGRAM " bench papers --quick --data . --out " OUT
                                          " > test-papers.txt 2>&1") >>
                         8,
                     3);
    assert_int_equal(system(SINEW_PROGRAM " bench papers --quick --out /nowhere/at/all"
                                          " > test-papers.txt 2>&1") >>
                         8,
                     1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_succeeds_and_is_silent_in_a_pipe),
        cmocka_unit_test(page_has_every_section_and_fetches_nothing),
        cmocka_unit_test(figures_stand_alone),
        cmocka_unit_test(every_row_has_as_many_cells_as_the_first),
        cmocka_unit_test(every_claim_has_a_verdict),
        cmocka_unit_test(table_4_keeps_its_order),
        cmocka_unit_test(newton_ends_quadratically),
        cmocka_unit_test(definite_only_where_the_residual_is_small),
        cmocka_unit_test(bad_folders_are_refused),
    };
    return cmocka_run_group_tests(tests, run_once, NULL);
}
