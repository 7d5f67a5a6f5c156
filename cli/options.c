// SPDX-License-Identifier: MIT
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli.h"

static int usage_error(const command *self, const char *what, const char *word) {
    fprintf(stderr, "sinew %s: %s \"%s\"; see sinew %s --help\n", self->name, what, word,
            self->name);
    return EXIT_USAGE;
}

// The option that `word` names: "--name" or "-n"; with "--name=value", *value is set.
static const option *find_option(const option *options, const char *word, const char **value) {
    const char *equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    *value = equals != NULL ? equals + 1 : NULL;
    for (const option *o = options; o->name != NULL; o++) {
        if (strlen(o->name) == length && memcmp(o->name, word, length) == 0) return o;
        if (o->short_name == NULL || strncmp(o->short_name, word, 2) != 0) continue;
        // "-j", or with its value "-j2"
        *value = word[2] != '\0' ? word + 2 : NULL;
        if (word[2] == '\0' || o->flag == NULL) return o;
    }
    return NULL;
}

static bool is_listed(const word_list *list, const char *word) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->word[i], word) == 0) return true;
    return false;
}

int parse_options(const command *self, int argc, char **argv, const option *options,
                  const char **words, int max_words, int *nwords) {
    *nwords = 0;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            fputs(self->help, stdout);
            return EXIT_OK;
        }
        if (strcmp(word, "--version") == 0) {
            printf("sinew %s\n", sn_version());
            return EXIT_OK;
        }
        if (word[0] != '-' || word[1] == '\0') {
            if (*nwords == max_words) return usage_error(self, "one word too many:", word);
            words[(*nwords)++] = word;
            continue;
        }
        const option *o = find_option(options, word, &value);
        if (o == NULL) return usage_error(self, "unknown option", word);
        if (o->flag != NULL) {
            if (value != NULL) return usage_error(self, "this option takes no value:", word);
            *o->flag = true;
            continue;
        }
        if (value == NULL && o->implied != NULL) value = o->implied;
        if (value == NULL && i + 1 < argc) value = argv[++i];
        if (value == NULL) return usage_error(self, "a value is missing after", word);
        if (o->list == NULL) {
            *o->value = value;
        } else if (is_listed(o->list, value)) {
            return usage_error(self, "this stands twice:", value);
        } else if (o->list->count < (int)(sizeof o->list->word / sizeof o->list->word[0])) {
            o->list->word[o->list->count++] = value;
        } else {
            return usage_error(self, "too many of", o->name);
        }
    }
    return -1;
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
        fprintf(stderr, "sinew: --frames %s: it takes FIRST:LAST, frame numbers as in the file\n", word);
    return good;
}
