// SPDX-License-Identifier: MIT
// Reading a command line by a command's table.
#include "options.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli.h"

const option common_options[] = {
    {.name = "--help",
     .letter = "-h",
     .kind = OPTION_FLAG,
     .group = "Other",
     .help = "print this help"},
    {.name = "--version", .kind = OPTION_FLAG, .help = "print the version"},
    {0}};

int wrong_usage(const command *self, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "sinew %s: ", self->name);
    (void)vfprintf(stderr, format, arguments);
    fprintf(stderr, "; see sinew %s --help\n", self->name);
    va_end(arguments);
    return EXIT_USAGE;
}

void list_choices(const char *choices, char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    for (const char *at = choices; *at != '\0' && used < size;) {
        size_t n = strcspn(at, " ");
        const char *next = at + n + (at[n] == ' ');
        const char *between = *next == '\0' ? "" : strchr(next, ' ') == NULL ? " or " : ", ";
        used += (size_t)snprintf(out + used, size - used, "%.*s%s", (int)n, at, between);
        at = next;
    }
}

static bool is_choice(const char *choices, const char *word) {
    for (const char *at = choices; *at != '\0';) {
        size_t n = strcspn(at, " ");
        if (strlen(word) == n && memcmp(at, word, n) == 0) return true;
        at += n + (at[n] == ' ');
    }
    return false;
}

// The option that `word` names: "--name" or "-n"; with "--name=value", *value is set.
static const option *find_option(const option *options, const char *word, const char **value) {
    const char *equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    *value = equals != NULL ? equals + 1 : NULL;
    for (const option *o = options; o != NULL && o->kind != OPTION_END; o++) {
        if (strlen(o->name) == length && memcmp(o->name, word, length) == 0) return o;
        if (o->letter == NULL || strncmp(o->letter, word, 2) != 0) continue;
        // "-j", or with its value "-j2"
        *value = word[2] != '\0' ? word + 2 : NULL;
        if (word[2] == '\0' || o->kind != OPTION_FLAG) return o;
    }
    return NULL;
}

// Letters put in, left out, changed, or exchanged with their neighbour.
static int edits(const char *a, const char *b) {
    enum { MOST = 40 };
    int row[3][MOST + 1], n = (int)strlen(a), m = (int)strlen(b);
    if (n > MOST || m > MOST) return MOST;
    for (int i = 0; i <= n; i++) {
        int *here = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                here[j] = i + j;
                continue;
            }
            int best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (here[j - 1] + 1 < best) best = here[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            here[j] = best;
        }
    }
    return row[n % 3][m];
}

int nearest_word(const char *word, const char *const *words, int count) {
    int nearest = -1, fewest = (int)strlen(word) / 3 + 1;
    if (strlen(word) < 2) return -1;  // one letter is near to everything
    for (int i = 0; i < count; i++) {
        int n = edits(word, words[i]);
        if (n >= fewest + (nearest < 0)) continue;
        fewest = n;
        nearest = i;
    }
    return nearest;
}

static int unknown_option(const command *self, const char *word) {
    enum { MOST = 96 };
    const char *names[MOST];
    int count = 0;
    for (const option *o = self->options; o != NULL && o->kind != OPTION_END && count < MOST; o++)
        names[count++] = o->name + 2;
    for (const option *o = common_options; o->kind != OPTION_END && count < MOST; o++)
        names[count++] = o->name + 2;
    char wanted[64];
    (void)snprintf(wanted, sizeof wanted, "%.*s", (int)strcspn(word, "="), word);
    size_t dashes = strspn(wanted, "-");
    int nearest = nearest_word(wanted + dashes, names, count);
    if (nearest < 0) return wrong_usage(self, "unknown option \"%s\"", word);
    return wrong_usage(self, "unknown option \"%s\" (did you mean --%s?)", word, names[nearest]);
}

static bool is_listed(const word_list *list, const char *word) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->word[i], word) == 0) return true;
    return false;
}

static int add_word(const command *self, const option *o, word_list *list, const char *value) {
    if (is_listed(list, value))
        return wrong_usage(self, "%s is given twice: \"%s\"", o->name, value);
    if (list->count == (int)(sizeof list->word / sizeof list->word[0]))
        return wrong_usage(self, "%s can be given %d times at most", o->name, list->count);
    list->word[list->count++] = value;
    return -1;
}

static int wrong_number(const command *self, const option *o, const char *value) {
    const char *what = o->kind == OPTION_INTEGER ? "a whole number" : "a number";
    if (o->low == 0 && o->high == 0)
        return wrong_usage(self, "%s takes %s, not \"%s\"", o->name, what, value);
    if (o->inside && isinf(o->high))
        return wrong_usage(self, "%s takes %s above %g, not \"%s\"", o->name, what, o->low, value);
    if (o->inside)
        return wrong_usage(self, "%s takes %s above %g and below %g, not \"%s\"", o->name, what,
                           o->low, o->high, value);
    if (isinf(o->high))
        return wrong_usage(self, "%s takes %s from %g, not \"%s\"", o->name, what, o->low, value);
    return wrong_usage(self, "%s takes %s from %.10g to %.10g, not \"%s\"", o->name, what, o->low,
                       o->high, value);
}

static bool in_range(const option *o, double x) {
    if (o->low == 0 && o->high == 0) return true;
    return o->inside ? x > o->low && x < o->high : x >= o->low && x <= o->high;
}

// Put a value in its place. -1 to go on.
static int set_option(const command *self, const option *o, void *settings, const char *value) {
    char *place = (char *)settings + o->place;
    if (o->many) return add_word(self, o, (word_list *)(void *)place, value);
    switch (o->kind) {
    case OPTION_INTEGER: {
        char *end;
        long n = strtol(value, &end, 10);
        if (end == value || *end != '\0' || !in_range(o, (double)n))
            return wrong_number(self, o, value);
        memcpy(place, &n, sizeof n);
        return -1;
    }
    case OPTION_NUMBER: {
        double x;
        if (!sn_number_parse(value, strlen(value), &x) || !in_range(o, x))
            return wrong_number(self, o, value);
        memcpy(place, &x, sizeof x);
        return -1;
    }
    case OPTION_CHOICE:
        if (!is_choice(o->choices, value)) {
            char list[400];
            list_choices(o->choices, list, sizeof list);
            return wrong_usage(self, "%s takes %s, not \"%s\"", o->name, list, value);
        }
        break;
    default:
        break;
    }
    memcpy(place, &value, sizeof value);
    return -1;
}

// "--help" and "--version", which end the program; -1 for any other word.
static int common_option(const command *self, const char *word) {
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        print_help(self, stdout);
        return EXIT_OK;
    }
    if (strcmp(word, "--version") == 0) {
        printf("sinew %s\n", sn_version());
        return EXIT_OK;
    }
    return -1;
}

static int check_given(const command *self, const bool *given, int nword) {
    for (int k = 0; self->options != NULL && self->options[k].kind != OPTION_END; k++) {
        const option *o = &self->options[k];
        if (!o->required || given[k]) continue;
        char name[80];
        name_option(o, name, sizeof name);
        return wrong_usage(self, "%s is missing", name);
    }
    if (nword < self->least_words) return wrong_usage(self, "%s is missing", self->word);
    return -1;
}

int parse_options(const command *self, int argc, char **argv, void *settings, const char **words,
                  int *nwords) {
    bool given[96] = {false}, only_words = false;
    *nwords = 0;
    for (const option *o = self->options; o != NULL && o->kind != OPTION_END; o++)
        if (o->standard != NULL && !o->many) (void)set_option(self, o, settings, o->standard);
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value;
        if (only_words || word[0] != '-' || word[1] == '\0') {
            if (*nwords == self->most_words)
                return wrong_usage(self, "one word too many: \"%s\"", word);
            words[(*nwords)++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            only_words = true;
            continue;
        }
        int code = common_option(self, word);
        if (code >= 0) return code;
        const option *o = find_option(self->options, word, &value);
        if (o == NULL) return unknown_option(self, word);
        given[o - self->options] = true;
        if (o->kind == OPTION_FLAG) {
            if (value != NULL) return wrong_usage(self, "%s takes no value: \"%s\"", o->name, word);
            *(bool *)(void *)((char *)settings + o->place) = true;
            continue;
        }
        if (value == NULL && o->implied != NULL) value = o->implied;
        if (value == NULL && i + 1 < argc) value = argv[++i];
        if (value == NULL) return wrong_usage(self, "a value is missing after \"%s\"", word);
        code = set_option(self, o, settings, value);
        if (code >= 0) return code;
    }
    return check_given(self, given, *nwords);
}

bool parse_number(const char *option_name, const char *text, double low, double *out) {
    if (sn_number_parse(text, strlen(text), out) && *out >= low) return true;
    fprintf(stderr, "sinew: %s takes a number from %g, not \"%s\"\n", option_name, low, text);
    return false;
}

bool parse_integer(const char *option_name, const char *text, long low, long high, long *out) {
    char *end;
    *out = strtol(text, &end, 10);
    if (end != text && *end == '\0' && *out >= low && *out <= high) return true;
    fprintf(stderr, "sinew: %s takes a whole number from %ld to %ld, not \"%s\"\n", option_name,
            low, high, text);
    return false;
}

bool parse_frames(const char *word, frame_range *out) {
    *out = (frame_range){LONG_MIN, LONG_MAX};
    if (word == NULL) return true;
    const char *colon = strchr(word, ':');
    char *end;
    bool good = colon != NULL;
    if (good && colon != word) {
        out->first = strtol(word, &end, 10);
        good = end == colon;
    }
    if (good && colon[1] != '\0') {
        out->last = strtol(colon + 1, &end, 10);
        good = *end == '\0';
    }
    if (!good)
        fprintf(stderr,
                "sinew: --frames takes FIRST:LAST, frame numbers as in the file, not \"%s\"\n",
                word);
    return good;
}
