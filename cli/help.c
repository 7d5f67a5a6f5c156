// SPDX-License-Identifier: MIT
// A command's table as a page of help.
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { WIDTH = 96, COLUMN = 26 };

void name_option(const option *o, char *out, size_t size) {
    const char *open = "", *close = "";
    if (o->value != NULL)
        open = o->implied != NULL ? "[=" : " ", close = o->implied != NULL ? "]" : "";
    (void)snprintf(out, size, "%s%s%s%s%s%s", o->letter != NULL ? o->letter : "",
                   o->letter != NULL ? ", " : "", o->name, open, o->value != NULL ? o->value : "",
                   close);
}

void describe_option(const option *o, char *out, size_t size) {
    char list[400] = "";
    if (o->kind == OPTION_CHOICE) list_choices(o->choices, list, sizeof list);
    (void)snprintf(out, size, "%s%s%s%s%s%s%s%s", o->help, list[0] != '\0' ? "; one of " : "", list,
                   o->many ? "; may be given several times" : "",
                   o->implied != NULL ? "; alone it means " : "",
                   o->implied != NULL ? o->implied : "", o->standard != NULL ? "; default " : "",
                   o->standard != NULL ? o->standard : "");
}

// Words between `from` and the right margin. @param at  the column that the cursor is in
static void wrap(FILE *to, const char *text, int from, int at) {
    while (*text != '\0') {
        int n = (int)strcspn(text, " \n");
        if (at > from && at + 1 + n > WIDTH) {
            fprintf(to, "\n%*s", from, "");
            at = from;
        } else if (at > from) {
            fputc(' ', to);
            at++;
        }
        fprintf(to, "%.*s", n, text);
        at += n;
        text += n;
        if (text[0] == '\n' && text[1] == '\n') {
            fprintf(to, "\n\n%*s", from, "");
            at = from;
        }
        text += strspn(text, " \n");
    }
    fputc('\n', to);
}

static void print_item(FILE *to, const char *term, const char *text, int column) {
    int n = fprintf(to, "  %s", term);
    if (n + 2 > column) {
        fputc('\n', to);
        n = 0;
    }
    fprintf(to, "%*s", column - n, "");
    wrap(to, text, column, column);
}

static void print_options(FILE *to, const option *options) {
    char name[80], text[1600];
    for (const option *o = options; o != NULL && o->kind != OPTION_END; o++) {
        if (o->group != NULL) fprintf(to, "\n%s:\n", o->group);
        name_option(o, name, sizeof name);
        describe_option(o, text, sizeof text);
        print_item(to, name, text, COLUMN);
    }
}

void print_help(const command *self, FILE *to) {
    for (int i = 0; self->usage[i] != NULL; i++)
        fprintf(to, "%s sinew %s %s\n", i == 0 ? "usage:" : "      ", self->name, self->usage[i]);
    fputc('\n', to);
    wrap(to, self->about, 0, 0);
    if (self->items != NULL) {
        int column = 0;
        for (const help_item *i = self->items; i->term != NULL; i++)
            if ((int)strlen(i->term) + 4 > column) column = (int)strlen(i->term) + 4;
        fputc('\n', to);
        for (const help_item *i = self->items; i->term != NULL; i++)
            print_item(to, i->term, i->text, column);
    }
    print_options(to, self->options);
    print_options(to, common_options);
    if (self->examples == NULL) return;
    fputs("\nExamples:\n", to);
    for (const help_item *e = self->examples; e->term != NULL; e++)
        fprintf(to, "  %s\n      %s\n", e->term, e->text);
}
