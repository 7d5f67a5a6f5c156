// SPDX-License-Identifier: MIT
#include <string.h>

#include "cli.h"
#include "parts.h"

static void usage(FILE *to) {
    fputs("usage: sinew COMMAND [options]      sinew COMMAND --help      sinew --version\n\n"
          "sinew fits articulated figures to data: inverse kinematics with exact Hessians.\n\n"
          "Commands:\n",
          to);
    for (int i = 0; commands[i] != NULL; i++)
        fprintf(to, "  %-11s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\nLengths are metres, angles radians, quaternions w x y z.\n"
          "Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 bad input, 4 done, but to be looked\n"
          "at: an arm's goal not reached, what must not happen, a fit with\n"
          "warnings or above --max-error.\n",
          to);
}

static int run(int argc, char **argv) {
    if (argc < 2) {
        usage(stderr);
        return EXIT_USAGE;
    }
    bool help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
                strcmp(argv[1], "help") == 0;
    const char *name = help && argc > 2 ? argv[2] : argv[1];
    const command *found = find_command(name);
    if (found != NULL && help) {
        print_help(found, stdout);
        return EXIT_OK;
    }
    if (help && argc == 2) {
        usage(stdout);
        return EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("sinew %s\n", sn_version());
        return EXIT_OK;
    }
    if (found != NULL) return found->run(argc - 1, argv + 1);
    const char *nearest = nearest_command(name);
    fprintf(stderr, "sinew: there is no command \"%s\"", name);
    if (nearest != NULL) fprintf(stderr, "; did you mean %s?", nearest);
    fputs("; sinew --help lists the commands\n", stderr);
    return EXIT_USAGE;
}

int main(int argc, char **argv) {
    parts_guard();
    int code = run(argc, argv);
    // a full disk or a closed pipe must not look like success
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("sinew: the output could not be written\n", stderr);
        if (code == EXIT_OK) code = EXIT_FAILED;
    }
    parts_end();
    return code;
}
