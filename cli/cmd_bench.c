// SPDX-License-Identifier: MIT
#include <string.h>

#include "cli.h"
#include "solvers.h"
#include "sweeps.h"

static const char help[] =
    "usage: sinew bench sweeps\n"
    "       sinew bench solvers [--data DIR] [--csv FILE] [--quick] [--problems N]\n\n"
    "sweeps: times the sweeps on the built-in humanoid (58 degrees of freedom, 41 markers) "
    "against\n"
    "each other and against the documents' Algorithms 3 and 4; what is judged are ratios within "
    "this\n"
    "one run.\n"
    "solvers: all solvers on real clips (DIR has the folders hdm05 and cmu) by the protocols of\n"
    "docs/solvers.md, and on random trees.\n"
    "Exit 1 when a target is missed.\n\n"
    "  --csv FILE   the rows as CSV too\n"
    "  --quick      the first 400 frames of a clip\n"
    "  --problems N random trees, default 2000\n";

static int run(int argc, char **argv) {
    bench_options o = {0};
    const char *problems = "2000";
    const option options[] = {VALUE("--data", NULL, &o.data),
                              VALUE("--csv", NULL, &o.csv),
                              FLAG("--quick", &o.quick),
                              VALUE("--problems", NULL, &problems),
                              {0}};
    const char *word = NULL;
    long count;
    int nword, code = parse_options(&command_bench, argc, argv, options, &word, 1, &nword);
    if (code >= 0) return code;
    if (!parse_integer("--problems", problems, 0, 10000000, &count)) return EXIT_USAGE;
    o.problems = (int)count;
    if (nword == 1 && strcmp(word, "sweeps") == 0) return bench_sweeps() ? EXIT_OK : EXIT_FAILED;
    if (nword == 1 && strcmp(word, "solvers") == 0)
        return bench_solvers(&o) ? EXIT_OK : EXIT_FAILED;
    fputs(help, stderr);
    return EXIT_USAGE;
}

const command command_bench = {"bench", "time the sweeps, compare the solvers", help, run};
