// SPDX-License-Identifier: MIT
// Man pages from the commands' tables, as troff.
#include <string.h>

#include "cli.h"

static const char *const usage[] = {"[COMMAND]", NULL};

static const help_item examples[] = {{"sinew man fit | man -l -", "read the page of sinew fit"},
                                     {"sinew man > sinew.1", "keep the page of the program"},
                                     {0}};

// Text as troff reads it: a backslash, a dash that stays one, a line that begins with a request's sign.
static void put_text(const char *text, bool paragraphs) {
    bool begins = true;
    for (; *text != '\0'; text++) {
        if (text[0] == '\n' && text[1] == '\n' && paragraphs) {
            fputs("\n.PP\n", stdout);
            text++;
            begins = true;
            continue;
        }
        if (begins && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
        begins = *text == '\n';
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
    }
}

static void put_line(const char *before, const char *text) {
    fputs(before, stdout);
    put_text(text, false);
    putchar('\n');
}

// "SINEW-FIT"
static void put_title(const char *name) {
    printf(".TH SINEW");
    if (name != NULL) printf("\\-");
    for (const char *c = name != NULL ? name : ""; *c != '\0'; c++)
        putchar(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    printf(" 1 \"\" \"sinew %s\" \"User Commands\"\n", sn_version());
}

static void put_options(const option *options) {
    char name[80], text[1600];
    for (const option *o = options; o != NULL && o->kind != OPTION_END; o++) {
        if (o->group != NULL) put_line(".SS ", o->group);
        name_option(o, name, sizeof name);
        describe_option(o, text, sizeof text);
        put_line(".TP\n.B ", name);
        put_line("", text);
    }
}

static void put_exit_codes(void) {
    static const char *const meaning[] = {
        "well", "failed", "wrong usage", "bad input",
        ("done, but to be looked at: an arm's goal not reached, what must not happen, a fit with "
         "warnings or above \\-\\-max\\-error")};
    puts(".SH EXIT STATUS");
    for (int i = 0; i < 5; i++) printf(".TP\n.B %d\n%s\n", i, meaning[i]);
}

static void put_command(const command *c) {
    put_title(c->name);
    printf(".SH NAME\nsinew\\-%s \\- ", c->name);
    put_line("", c->summary);
    puts(".SH SYNOPSIS");
    for (int i = 0; c->usage[i] != NULL; i++) {
        printf("%s.B sinew %s\n", i > 0 ? ".br\n" : "", c->name);
        put_line("", c->usage[i]);
    }
    puts(".SH DESCRIPTION");
    put_text(c->about, true);
    putchar('\n');
    for (const help_item *i = c->items; i != NULL && i->term != NULL; i++) {
        put_line(".TP\n.B ", i->term);
        put_line("", i->text);
    }
    puts(".SH OPTIONS");
    put_options(c->options);
    put_options(common_options);
    put_exit_codes();
    if (c->examples != NULL) puts(".SH EXAMPLES");
    for (const help_item *e = c->examples; e != NULL && e->term != NULL; e++) {
        put_line(".TP\n.B ", e->term);
        put_line("", e->text);
    }
    puts(".SH SEE ALSO\n.BR sinew (1)");
}

static void put_program(void) {
    put_title(NULL);
    puts(".SH NAME\nsinew \\- fit articulated figures to data: inverse kinematics with exact "
         "Hessians\n"
         ".SH SYNOPSIS\n.B sinew\nCOMMAND [options]\n.br\n.B sinew\nCOMMAND \\-\\-help\n.br\n.B "
         "sinew\n"
         "\\-\\-version\n"
         ".SH DESCRIPTION\nLengths are metres, angles radians, quaternions w x y z.\n.SH COMMANDS");
    for (int i = 0; commands[i] != NULL; i++) {
        printf(".TP\n.BR sinew\\-%s (1)\n", commands[i]->name);
        put_line("", commands[i]->summary);
    }
    put_exit_codes();
    puts(".SH SEE ALSO");
    for (int i = 0; commands[i] != NULL; i++)
        printf(".BR sinew\\-%s (1)%s\n", commands[i]->name, commands[i + 1] != NULL ? "," : "");
}

static int run(int argc, char **argv) {
    const char *word = NULL;
    int nword, code = parse_options(&command_man, argc, argv, NULL, &word, &nword);
    if (code >= 0) return code;
    if (nword == 0) {
        put_program();
        return EXIT_OK;
    }
    const command *c = find_command(word);
    if (c == NULL) return wrong_usage(&command_man, "there is no command \"%s\"", word);
    put_command(c);
    return EXIT_OK;
}

const command command_man = {
    .name = "man",
    .summary = "print the man page of the program or of a command",
    .usage = usage,
    .about = "Print the man page of the program, or of one of its commands, as troff.",
    .examples = examples,
    .word = "COMMAND",
    .word_choices = "fit solve info convert markers eval check bench example man completion",
    .most_words = 1,
    .run = run};
