// SPDX-License-Identifier: MIT
// One table per command: from it come the parser, the help, the shells' completion and the man pages.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/// What an option takes, and what the command's settings have in its place.
typedef enum option_kind {
    OPTION_END,
    OPTION_FLAG,     ///< nothing; a bool
    OPTION_TEXT,     ///< a word; const char *
    OPTION_FILE,     ///< a path; const char *
    OPTION_FOLDER,   ///< a path; const char *
    OPTION_CHOICE,   ///< one of `choices`; const char *
    OPTION_INTEGER,  ///< a whole number from `low` to `high`; long
    OPTION_NUMBER    ///< a finite number from `low` to `high`; double
} option_kind;

typedef struct option {
    const char *name;    ///< "--model"
    const char *letter;  ///< "-m"; NULL for none
    option_kind kind;
    const char *value;  ///< what stands for the value in the help: "FILE"; NULL for a flag
    const char *help;   ///< a phrase without a full stop; choices and default are added to it
    size_t place;       ///< offset in the command's settings

    const char *group;  ///< the heading above it; NULL: it belongs to the option before it
    const char
        *standard;  ///< the default, which the parser sets; NULL: the settings stay as they are
    const char
        *implied;  ///< the value of "--calibrate" alone, beside "--calibrate=scale"; NULL: none
    const char *choices;  ///< "hard soft off"; of another kind: words that a shell offers
    double low, high;     ///< of numbers; both 0: any
    bool inside;          ///< low and high themselves are left out
    bool many;            ///< may come several times; a word_list of texts
    bool required;
} option;

/// Values of an option that may be given several times.
typedef struct word_list {
    const char *word[64];
    int count;
} word_list;

/// A line of an explanation or an example: what, and what that is.
typedef struct help_item {
    const char *term, *text;
} help_item;

/// One command of the program. Arrays end with an empty element; all but name, summary, usage, about and run
/// may be missing.
typedef struct command {
    const char *name;
    const char *summary;       ///< one line, for the list of commands
    const char *const *usage;  ///< what follows "sinew NAME ", a line each
    const char *about;         ///< paragraphs, separated by empty lines
    const help_item *items;    ///< explained below `about`
    const option *options;
    const help_item *examples;  ///< lines of shell, and what they do
    const char *word;           ///< what a word without dashes is: "FILE"; NULL: there are none
    const char *word_choices;   ///< what it may be, for shells; NULL: a file
    int least_words, most_words;
    int (*run)(int argc, char **argv);
} command;

/// All commands; NULL ends them.
extern const command *const commands[];
/// NULL when there is none of this name.
const command *find_command(const char *name);
/// The command's name nearest to a wrong one; NULL when none is near.
const char *nearest_command(const char *name);

/// The index of the word that differs from a wrong one in a third of its letters or less; -1 when none does.
int nearest_word(const char *word, const char *const *words, int count);

/// Options that every command has.
extern const option common_options[];

/// Read options into `settings` and other words into `words`; --help and --version are handled here.
/// @param words  room for self->most_words, or for argc when that is less; NULL when there are none
/// Returns -1 to go on, or the exit code to end with.
int parse_options(const command *self, int argc, char **argv, void *settings, const char **words,
                  int *nwords);

/// "sinew NAME: text; see sinew NAME --help" on standard error. Returns the exit code for wrong usage.
int wrong_usage(const command *self, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// "hard, soft or off" from "hard soft off".
void list_choices(const char *choices, char *out, size_t size);
/// What the help says about an option: its phrase, its choices, its default.
void describe_option(const option *o, char *out, size_t size);
/// "-m, --model FILE", "--calibrate[=WHAT]".
void name_option(const option *o, char *out, size_t size);

void print_help(const command *self, FILE *to);
