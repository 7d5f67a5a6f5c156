// SPDX-License-Identifier: MIT
// A list of takes: SKELETON <tab> RECORDING [<tab> NAME], a line each. Paths are relative to the list.
//
// Each take's files are DIR/NAME.FORMAT. A take is done when all of them are there: each appears whole or
// not at all, and what they hold does not depend on how the list was split.
#define _POSIX_C_SOURCE 200809L
#include "fit_many.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"

typedef struct take {
    char *model, *input, *name;
    int line;
} take;

typedef struct take_list {
    take *take;
    int count;
} take_list;

static char *copy_part(const char *from, size_t length) {
    char *copy = must_alloc(length + 1, 1);
    memcpy(copy, from, length);
    return copy;
}

// A path of the list, seen from here.
static char *beside(const char *manifest, const char *path, size_t length) {
    const char *slash = strrchr(manifest, '/');
    size_t folder = slash != NULL ? (size_t)(slash - manifest) + 1 : 0;
    if (path[0] == '/' || (length == 8 && memcmp(path, "humanoid", 8) == 0)) folder = 0;
    char *out = must_alloc(folder + length + 1, 1);
    memcpy(out, manifest, folder);
    memcpy(out + folder, path, length);
    return out;
}

// The file's name without folder and ending.
static char *base_name(const char *path) {
    const char *slash = strrchr(path, '/'), *from = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(from, '.');
    return copy_part(from, dot != NULL && dot != from ? (size_t)(dot - from) : strlen(from));
}

static void free_list(take_list *list) {
    for (int i = 0; i < list->count; i++) {
        free(list->take[i].model);
        free(list->take[i].input);
        free(list->take[i].name);
    }
    free(list->take);
}

static bool add_take(take_list *list, const char *manifest, const char *line, size_t length,
                     int number) {
    const char *part[4];
    size_t size[4];
    int n = 0;
    for (size_t i = 0, from = 0; i <= length; i++) {
        if (i < length && line[i] != '\t') continue;
        if (n < 4) part[n] = line + from, size[n] = i - from;
        n++;
        from = i + 1;
    }
    if (n < 2 || n > 3 || size[0] == 0 || size[1] == 0) {
        complain("%s:%d: a line is SKELETON, RECORDING and, if you like, a NAME, separated by tabs",
                 manifest, number);
        return false;
    }
    take *grown = realloc(list->take, (size_t)(list->count + 1) * sizeof *grown);
    if (grown == NULL) {
        complain("out of memory");
        return false;
    }
    list->take = grown;
    take *t = &list->take[list->count++];
    *t = (take){.model = beside(manifest, part[0], size[0]),
                .input = beside(manifest, part[1], size[1]),
                .line = number};
    t->name = n == 3 && size[2] > 0 ? copy_part(part[2], size[2]) : base_name(t->input);
    if (strchr(t->name, '/') != NULL) {
        complain("%s:%d: the name \"%s\" must not hold a slash", manifest, number, t->name);
        return false;
    }
    for (int i = 0; i + 1 < list->count; i++)
        if (strcmp(list->take[i].name, t->name) == 0) {
            complain("%s:%d: line %d has the name \"%s\" too; give one of them another in a third "
                     "column",
                     manifest, number, list->take[i].line, t->name);
            return false;
        }
    return true;
}

static bool read_list(const char *path, take_list *list) {
    size_t length;
    char *text = read_file(path, &length);
    if (text == NULL) return false;
    bool good = true;
    int number = 1;
    for (size_t from = 0; good && from < length; number++) {
        size_t end = from;
        while (end < length && text[end] != '\n') end++;
        size_t stop = end > from && text[end - 1] == '\r' ? end - 1 : end;
        if (stop > from && text[from] != '#')
            good = add_take(list, path, text + from, stop - from, number);
        from = end + 1;
    }
    free(text);
    return good;
}

// "2/8", or what Slurm says about an array job.
static bool find_shard(const char *word, long *k, long *n) {
    const char *id = getenv("SLURM_ARRAY_TASK_ID"), *count = getenv("SLURM_ARRAY_TASK_COUNT"),
               *least = getenv("SLURM_ARRAY_TASK_MIN");
    *k = *n = 1;
    if (word == NULL && id != NULL) {
        *n = count != NULL ? strtol(count, NULL, 10) : 1;
        *k = strtol(id, NULL, 10) - (least != NULL ? strtol(least, NULL, 10) : 0) + 1;
        if (*n >= 1 && *k >= 1 && *k <= *n) return true;
        complain("SLURM_ARRAY_TASK_ID is %s of %s tasks from %s; number them without steps, or "
                 "give --shard",
                 id, count != NULL ? count : "?", least != NULL ? least : "?");
        return false;
    }
    if (word == NULL) return true;
    char *end;
    *k = strtol(word, &end, 10);
    if (*end == '/') {
        *n = strtol(end + 1, &end, 10);
        if (*end == '\0' && *n >= 1 && *k >= 1 && *k <= *n) return true;
    }
    complain("--shard takes K/N with K from 1 to N, not \"%s\"", word);
    return false;
}

// "amc,glb,html": known ones, each once.
static bool check_formats(const char *formats) {
    static const char *const known[] = {"asf", "amc", "bvh",  "c3d", "trc", "mot",
                                        "sto", "csv", "json", "glb", "html"};
    enum { KNOWN = (int)(sizeof known / sizeof known[0]) };
    bool seen[KNOWN] = {false}, good = formats[0] != '\0';
    for (const char *at = formats; good && *at != '\0';) {
        size_t n = strcspn(at, ",");
        int k = 0;
        while (k < KNOWN && (strlen(known[k]) != n || memcmp(known[k], at, n) != 0)) k++;
        good = k < KNOWN && !seen[k];
        if (good) seen[k] = true;
        at += n + (at[n] == ',');
    }
    if (!good)
        complain("--formats takes some of asf, amc, bvh, c3d, trc, mot, sto, csv, json, glb, html, "
                 "separated by commas, not \"%s\"",
                 formats);
    return good;
}

// The outputs of a take; the report among them when "html" is asked for.
static void name_outputs(const many_settings *many, const take *t, fit_settings *s) {
    s->outputs.count = 0;
    for (const char *at = many->formats; *at != '\0';) {
        size_t n = strcspn(at, ",");
        size_t size = strlen(many->out) + strlen(t->name) + n + 3;
        char *path = must_alloc(size, 1);
        (void)snprintf(path, size, "%s/%s.%.*s", many->out, t->name, (int)n, at);
        if (n == 4 && memcmp(at, "html", 4) == 0) {
            s->report = path;
        } else {
            s->outputs.word[s->outputs.count++] = path;
        }
        at += n + (at[n] == ',');
    }
}

static void free_outputs(fit_settings *s) {
    for (int i = 0; i < s->outputs.count; i++) free((void *)(uintptr_t)s->outputs.word[i]);
    free((void *)(uintptr_t)s->report);
    s->outputs.count = 0;
    s->report = NULL;
}

static bool all_there(const fit_settings *s) {
    for (int i = 0; i < s->outputs.count; i++)
        if (access(s->outputs.word[i], F_OK) != 0) return false;
    return s->report == NULL || access(s->report, F_OK) == 0;
}

// What a run that was killed outright left beside the places of its files.
static void remove_dead_parts(const fit_settings *s) {
    for (int i = 0; i < s->outputs.count; i++) parts_remove_dead(s->outputs.word[i]);
    if (s->report != NULL) parts_remove_dead(s->report);
}

int fit_many(const many_settings *many, const fit_settings *settings,
             const sn_take_options *options) {
    take_list list = {0};
    long k, n;
    int failed = 0, poor = 0, done = 0, skipped = 0;
    fit_settings s = *settings;
    if (!find_shard(many->shard, &k, &n) || !check_formats(many->formats)) return EXIT_USAGE;
    bool good = read_list(many->manifest, &list);
    if (good && !make_folder(many->out)) good = false;
    for (int i = (int)k - 1; good && i < list.count && !fit_cancelled; i += (int)n) {
        const take *t = &list.take[i];
        fit_result result;
        s.model = t->model;
        s.input = t->input;
        s.name = t->name;
        name_outputs(many, t, &s);
        if (many->resume) remove_dead_parts(&s);
        if (many->resume && all_there(&s)) {
            skipped++;
            free_outputs(&s);
            continue;
        }
        forget_complaint();
        int code = fit_take(&s, options, &result);
        if (code == EXIT_OK || code == EXIT_POOR) {
            print_fit_json(&result);
            print_fit_warnings(&result);
            done++;
            poor += code == EXIT_POOR;
        } else if (!fit_cancelled) {
            print_fit_failure(&result, code);
            failed++;
        }
        (void)fflush(stdout);
        free_result(&result);
        free_outputs(&s);
    }
    if (good && !settings->quiet)
        fprintf(
            stderr,
            "sinew: %d fitted, %d failed, %d there already (shard %ld of %ld, %d takes in all)\n",
            done, failed, skipped, k, n, list.count);
    free_list(&list);
    if (!good) return EXIT_INPUT;
    return failed > 0 || fit_cancelled ? EXIT_FAILED : poor > 0 ? EXIT_POOR : EXIT_OK;
}
