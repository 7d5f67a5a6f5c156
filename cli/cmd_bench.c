// SPDX-License-Identifier: MIT
#include <string.h>

#include "cli.h"
#include "sweeps.h"

static const char help[] = "usage: sinew bench sweeps\n\n"
                           "Times the sweeps on the built-in humanoid (58 degrees of freedom, 41 "
                           "markers) against each other\n"
                           "and against the documents' Algorithms 3 and 4. What is judged are "
                           "ratios within this one run.\n"
                           "Exit 1 when one misses its target.\n";

static int run(int argc, char **argv) {
    const option options[] = {{0}};
    const char *word = NULL;
    int nword, code = parse_options(&command_bench, argc, argv, options, &word, 1, &nword);
    if (code >= 0) return code;
    if (nword == 0 || strcmp(word, "sweeps") != 0) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    return bench_sweeps() ? EXIT_OK : EXIT_FAILED;
}

const command command_bench = {"bench", "time the sweeps", help, run};
