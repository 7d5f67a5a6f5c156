// SPDX-License-Identifier: MIT
// Which clips a folder holds: triples of skeleton (ASF), motion (AMC) and markers (C3D) by their names.
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "clip.h"
#include "protocol.h"

enum { DEEPEST = 6 };

typedef struct entry {
    char folder[400], name[108];  // the name without its ending
    char ending[4];               // as the file has it
    char kind;                    // 's'keleton, 'm'otion, 'p'oints
} entry;

typedef struct listing {
    entry *of;
    int n, room;
} listing;

static char kind_of(const char *ending) {
    char low[4] = {0};
    for (int i = 0; i < 3 && ending[i] != '\0'; i++)
        low[i] = (char)tolower((unsigned char)ending[i]);
    return strcmp(low, "asf") == 0   ? 's'
           : strcmp(low, "amc") == 0 ? 'm'
           : strcmp(low, "c3d") == 0 ? 'p'
                                     : 0;
}

static void add(listing *all, const char *folder, const char *file) {
    const char *dot = strrchr(file, '.');
    if (dot == NULL || strlen(dot) != 4 || kind_of(dot + 1) == 0) return;
    if (strlen(folder) >= sizeof all->of->folder || (size_t)(dot - file) >= sizeof all->of->name)
        return;
    if (all->n == all->room) {
        all->room = all->room > 0 ? 2 * all->room : 64;
        all->of = bench_need(realloc(all->of, (size_t)all->room * sizeof *all->of));
    }
    entry *e = &all->of[all->n++];
    *e = (entry){.kind = kind_of(dot + 1)};
    memcpy(e->folder, folder, strlen(folder));
    memcpy(e->name, file, (size_t)(dot - file));
    memcpy(e->ending, dot + 1, 3);
}

static void walk(listing *all, const char *folder, int depth) {
    DIR *dir = depth < DEEPEST ? opendir(folder) : NULL;
    if (dir == NULL) return;
    for (struct dirent *d = readdir(dir); d != NULL; d = readdir(dir)) {
        char path[1024];
        struct stat found;
        if (d->d_name[0] == '.') continue;
        int length = snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
        if (length >= (int)sizeof path || stat(path, &found) != 0) continue;
        if (S_ISDIR(found.st_mode)) walk(all, path, depth + 1);
        if (S_ISREG(found.st_mode)) add(all, folder, d->d_name);
    }
    (void)closedir(dir);
}

// The skeleton of a motion: in its folder, the longest name that the motion's begins with (02 of 02_01,
// HDM_dg of HDM_dg_03-05_02_120); else the only one there.
static const entry *skeleton_of(const listing *all, const entry *motion) {
    const entry *best = NULL, *any = NULL;
    int here = 0;
    for (int i = 0; i < all->n; i++) {
        const entry *e = &all->of[i];
        size_t length = strlen(e->name);
        if (e->kind != 's' || strcmp(e->folder, motion->folder) != 0) continue;
        here++;
        any = e;
        if (strncmp(e->name, motion->name, length) == 0 &&
            (best == NULL || length > strlen(best->name)))
            best = e;
    }
    return best != NULL ? best : here == 1 ? any : NULL;
}

static const entry *partner_of(const listing *all, const entry *e, char kind) {
    for (int i = 0; i < all->n; i++)
        if (all->of[i].kind == kind && strcmp(all->of[i].folder, e->folder) == 0 &&
            strcmp(all->of[i].name, e->name) == 0)
            return &all->of[i];
    return NULL;
}

static void path_of(const entry *e, char *out, size_t size) {
    (void)snprintf(out, size, "%.380s/%.100s.%s", e->folder, e->name, e->ending);
}

// dg_03-05_02 of HDM_dg_03-05_02_120: so do 001's tables name the takes.
static void take_name(const char *file, char *out, size_t size) {
    size_t length = strlen(file);
    bool hdm =
        strncmp(file, "HDM_", 4) == 0 && length > 8 && strcmp(file + length - 4, "_120") == 0;
    (void)snprintf(out, size, "%.*s", hdm ? (int)length - 8 : (int)length, file + (hdm ? 4 : 0));
}

static int compare(const void *a, const void *b) {
    const clip_files *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : strcmp(x->amc, y->amc);
}

clip_files *clip_find(const char *folder, int *n, int *skipped) {
    listing all = {0};
    walk(&all, folder, 0);
    clip_files *out = bench_need(calloc((size_t)all.n + 1, sizeof *out));
    *n = *skipped = 0;
    for (int i = 0; i < all.n; i++) {
        const entry *e = &all.of[i];
        if (e->kind == 's') continue;
        const entry *other = partner_of(&all, e, e->kind == 'm' ? 'p' : 'm');
        const entry *skeleton = skeleton_of(&all, e);
        if (other == NULL || skeleton == NULL) {
            (*skipped)++;
        } else if (e->kind == 'm') {
            clip_files *to = &out[(*n)++];
            take_name(e->name, to->name, sizeof to->name);
            path_of(skeleton, to->asf, sizeof to->asf);
            path_of(e, to->amc, sizeof to->amc);
            path_of(other, to->c3d, sizeof to->c3d);
        }
    }
    free(all.of);
    qsort(out, (size_t)*n, sizeof *out, compare);
    return out;
}
