// SPDX-License-Identifier: MIT
#include <string.h>

#include "cli.h"
#include "parts.h"

static const command *const commands[] = {&command_fit,     &command_solve,   &command_info,
                                          &command_convert, &command_markers, &command_eval,
                                          &command_check,   &command_bench,   &command_example};
enum { COUNT = sizeof commands / sizeof commands[0] };

static void usage(FILE *to) {
    fputs("sinew "
          "fits articulated figures to data: inverse kinematics with exact Hessians.\n\n"
          "usage: sinew COMMAND [options]      sinew COMMAND --help      sinew --version\n\n"
          "commands:\n",
          to);
    for (int i = 0; i < COUNT; i++)
        fprintf(to, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\nLengths are metres, angles radians, quaternions w x y z.\n"
          "Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 bad input, 4 a fit above --max-error.\n",
          to);
}

static int run(int argc, char **argv) {
    if (argc < 2) {
        usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        usage(stdout);
        return EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("sinew %s\n", sn_version());
        return EXIT_OK;
    }
    for (int i = 0; i < COUNT; i++)
        if (strcmp(argv[1], commands[i]->name) == 0) return commands[i]->run(argc - 1, argv + 1);
    fprintf(stderr, "sinew: there is no command \"%s\"\n\n", argv[1]);
    usage(stderr);
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
