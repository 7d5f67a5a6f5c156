// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Files that wait beside their places.
static struct {
    bool holding;
    int count, room;
    struct {
        char *path, *beside;
    } *file;
} held;

static char *copy_of(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    char *copy = must_alloc(n + m + 1, 1);
    memcpy(copy, text, n);
    memcpy(copy + n, end, m);
    return copy;
}

static bool may_replace;
static const char *replace_word;

void outputs_may_replace(bool yes, const char *word) {
    may_replace = yes;
    replace_word = word;
}

bool output_allowed(const char *path) {
    if (may_replace || strcmp(path, "-") == 0 || !was_input(path)) return true;
    complain("%s: this is an input, which would be overwritten: give another name%s%s", path,
             replace_word != NULL ? ", or " : "", replace_word != NULL ? replace_word : "");
    return false;
}

bool output_open(output *out, const char *path) {
    if (!output_allowed(path)) return false;
    for (int i = 0; i < held.count; i++) {
        if (strcmp(held.file[i].path, path) != 0) continue;
        complain("%s: two outputs have this name", path);
        return false;
    }
    *out = (output){.path = copy_of(path, "")};
    if (strcmp(path, "-") == 0) {
        out->file = stdout;
        return true;
    }
    char ending[40];
    (void)snprintf(ending, sizeof ending, ".part-%ld", (long)getpid());
    out->beside = copy_of(path, ending);
    out->file = fopen(out->beside, "wb");
    if (out->file != NULL) return true;
    complain("%s: cannot be written: %s", path, strerror(errno));
    free(out->beside);
    free(out->path);
    return false;
}

static bool write_bytes(void *user, const void *bytes, size_t count) {
    output *out = user;
    if (out->failed) return false;
    errno = 0;
    if (count == 0 || fwrite(bytes, 1, count, out->file) == count) return true;
    out->failed = true;
    out->why = errno;
    return false;
}

void outputs_hold(void) { held.holding = true; }

// The output's names are given away.
static bool hold(output *out) {
    if (held.count == held.room) {
        int room = held.room > 0 ? 2 * held.room : 16;
        void *grown = realloc(held.file, (size_t)room * sizeof *held.file);
        if (grown == NULL) return false;
        held.file = grown;
        held.room = room;
    }
    held.file[held.count].path = out->path;
    held.file[held.count++].beside = out->beside;
    return true;
}

bool outputs_release(bool good) {
    for (int i = 0; i < held.count; i++) {
        if (good && rename(held.file[i].beside, held.file[i].path) != 0) {
            complain("%s: cannot be written: %s", held.file[i].path, strerror(errno));
            good = false;
        }
        if (!good) (void)remove(held.file[i].beside);
        free(held.file[i].path);
        free(held.file[i].beside);
    }
    free(held.file);
    memset(&held, 0, sizeof held);
    return good;
}

sn_sink output_sink(output *out) { return (sn_sink){write_bytes, out}; }

bool output_close(output *out, bool good) {
    errno = 0;
    bool written = !out->failed;
    int why = out->why;
    if (out->beside != NULL) {
        if (fclose(out->file) != 0 && written) written = false, why = errno;
        if (held.holding && good && written && hold(out)) return true;
        if (good && written && rename(out->beside, out->path) != 0) written = false, why = errno;
        if (!good || !written) (void)remove(out->beside);
    } else if (fflush(out->file) != 0 && written) {
        written = false, why = errno;
    }
    if (good && !written)
        complain("%s: cannot be written: %s", out->path,
                why != 0 ? strerror(why) : "no reason was given");
    free(out->beside);
    free(out->path);
    return written;
}

bool make_folder(const char *path) {
    char *copy = copy_of(path, "");
    bool good = true;
    for (char *at = copy; good && *at != '\0'; at++) {
        if (*at != '/' || at == copy) continue;
        *at = '\0';
        good = mkdir(copy, 0777) == 0 || errno == EEXIST;
        *at = '/';
    }
    good = good && (mkdir(copy, 0777) == 0 || errno == EEXIST);
    if (!good) complain("%s: the folder cannot be made: %s", path, strerror(errno));
    free(copy);
    return good;
}
