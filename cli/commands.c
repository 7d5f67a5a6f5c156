// SPDX-License-Identifier: MIT
// The list of commands.
#include <string.h>

#include "cli.h"

const command *const commands[] = {&command_fit,
                                   &command_scale,
                                   &command_solve,
                                   &command_info,
                                   &command_convert,
                                   &command_markers,
                                   &command_eval,
                                   &command_check,
                                   &command_bench,
                                   &command_example,
                                   &command_man,
                                   &command_completion,
                                   NULL};

const command *find_command(const char *name) {
    for (int i = 0; commands[i] != NULL; i++)
        if (strcmp(name, commands[i]->name) == 0) return commands[i];
    return NULL;
}

const char *nearest_command(const char *name) {
    const char *names[sizeof commands / sizeof commands[0]];
    int count = 0;
    for (; commands[count] != NULL; count++) names[count] = commands[count]->name;
    int nearest = nearest_word(name, names, count);
    return nearest >= 0 ? names[nearest] : NULL;
}
