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
    output *file;
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

// The name at the end of a chain of links, whether or not something is there. NULL and errno.
static char *follow(const char *path) {
    char *at = copy_of(path, ""), target[4096];
    for (int links = 0;; links++) {
        ssize_t n = readlink(at, target, sizeof target - 1);
        if (n < 0 && (errno == EINVAL || errno == ENOENT)) return at;
        if (n >= 0 && links == 40) errno = ELOOP;
        if (n < 0 || links == 40) break;
        target[n] = '\0';
        char *slash = target[0] == '/' ? NULL : strrchr(at, '/');
        if (slash != NULL) slash[1] = '\0';
        char *next = copy_of(slash != NULL ? at : "", target);
        free(at);
        at = next;
    }
    free(at);
    return NULL;
}

static bool open_place(output *out) {
    struct stat s;
    bool there = stat(out->path, &s) == 0;
    errno = EISDIR;
    if (there && S_ISDIR(s.st_mode)) return false;
    if (there && !S_ISREG(s.st_mode)) return (out->file = fopen(out->path, "wb")) != NULL;
    // what may not be written is not replaced either
    if (there && access(out->path, W_OK) != 0) return false;
    out->place = follow(out->path);
    if (out->place == NULL) return false;
    for (int i = 0; i < held.count; i++) {
        errno = EEXIST;
        if (strcmp(held.file[i].place, out->place) == 0) return false;
    }
    out->file = part_create(&out->part, out->place);
    if (out->file != NULL && there) (void)fchmod(out->part.lock, s.st_mode & 0777);
    return out->file != NULL;
}

static void free_names(output *out) {
    free(out->place);
    free(out->path);
}

static void complain_unwritten(const output *out, int why) {
    complain("%s: cannot be written: %s", out->path,
             why != 0 ? strerror(why) : "no reason was given");
}

bool output_open(output *out, const char *path) {
    if (!output_allowed(path)) return false;
    *out = (output){.path = copy_of(path, "")};
    if (strcmp(path, "-") == 0) {
        out->file = stdout;
        return true;
    }
    if (open_place(out)) return true;
    if (errno == EEXIST) {
        complain("%s: two outputs have this name", path);
    } else {
        complain_unwritten(out, errno);
    }
    free_names(out);
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

static bool hold(const output *out) {
    if (held.count == held.room) {
        int room = held.room > 0 ? 2 * held.room : 16;
        void *grown = realloc(held.file, (size_t)room * sizeof *held.file);
        if (grown == NULL) return false;
        held.file = grown;
        held.room = room;
    }
    held.file[held.count++] = *out;
    return true;
}

bool outputs_release(bool good) {
    for (int i = 0; i < held.count; i++) {
        output *out = &held.file[i];
        if (!good) {
            part_remove(&out->part);
        } else if (!part_finish(&out->part, out->place)) {
            complain_unwritten(out, errno);
            good = false;
        }
        free_names(out);
    }
    free(held.file);
    memset(&held, 0, sizeof held);
    return good;
}

sn_sink output_sink(output *out) { return (sn_sink){write_bytes, out}; }

// All bytes are where they belong, which a disk may say only now.
static bool flush(output *out) {
    errno = 0;
    bool good = (out->file == stdout ? fflush(out->file) : fclose(out->file)) == 0;
    if (!good && !out->failed) out->failed = true, out->why = errno;
    return !out->failed;
}

bool output_close(output *out, sn_status status, const sn_error *error) {
    bool good = flush(out) && status == SN_OK;
    if (good && out->place != NULL) {
        if (held.holding && hold(out)) return true;
        good = part_finish(&out->part, out->place);
        if (!good) out->failed = true, out->why = errno;
    } else if (out->place != NULL) {
        part_remove(&out->part);
    }
    if (out->failed) {
        complain_unwritten(out, out->why);
    } else if (status != SN_OK) {
        complain("%s: %s", out->path,
                 error != NULL && error->text[0] != '\0' ? error->text : sn_status_text(status));
    }
    free_names(out);
    return good;
}

bool output_text(const char *path, const char *text, size_t length, bool failed) {
    output out;
    if (failed) complain("out of memory");
    if (failed || !output_open(&out, path)) return false;
    sn_sink sink = output_sink(&out);
    bool good = length == 0 || sink.write(sink.user, text, length);
    return output_close(&out, good ? SN_OK : SN_ERR_FILE, NULL);
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
