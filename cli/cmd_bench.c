// SPDX-License-Identifier: MIT
#include <string.h>

#include "cli.h"

static const char help[] =
    "usage: sinew bench sweeps\n\n"
    "Times the sweeps on the built-in humanoid (58 degrees of freedom, 41 markers); all figures are\n"
    "ratios within this one run.\n";

static int run(int argc, char **argv) {
    const option options[] = {{0}};
    const char *word = NULL;
    int nword, code = parse_options(&command_bench, argc, argv, options, &word, 1, &nword);
    if (code >= 0) return code;
    fputs(help, stderr);
    return EXIT_USAGE;
}

const command command_bench = {"bench", "time the sweeps", help, run};
