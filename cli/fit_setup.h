// SPDX-License-Identifier: MIT
// A setup of OpenSim's inverse kinematics on the command line: its file, and the files that it names.
#pragma once

#include "fit_take.h"

/// What a setup names, where it was found.
typedef struct setup_names {
    sn_ik_setup *setup;
    char *model, *input, *output, *coordinate;  ///< NULL: not named, or given otherwise
} setup_names;

/// A file that a setup names: as it stands there, or by its name alone, in the setup's folder and then in those
/// to search. NULL and a message, with the line, when it is nowhere. Free with free().
char *find_setup_file(const char *setup, const word_list *search, const char *what,
                      const char *given, int line);
/// Where a setup's output goes: OpenSim's tools work in the folder of their setup. Free with free().
char *beside_setup(const char *setup, const char *name);

/// Read the setup and put the files that it names into the settings, where none were given. False and a
/// message when it cannot be read or a file is nowhere.
bool name_setup_files(fit_settings *settings, setup_names *out);
void free_setup_names(setup_names *names);

/// The values of its coordinate tasks, NULL when it names none; false and a message when they can't be read.
bool load_setup_values(const setup_names *names, sn_table **out);
