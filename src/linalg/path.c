// SPDX-License-Identifier: MIT
#include "linalg/path.h"

#include <string.h>

#include "base/pair.h"

void sn_path_layout(sn_path *path, int n, sn_layout *layout) {
    size_t count = (size_t)n;
    path->n = n;
    path->row = sn_layout_take(layout, count + 1, sizeof *path->row);
    path->parent = sn_layout_take(layout, count + 1, sizeof *path->parent);
    path->depth = sn_layout_take(layout, count + 1, sizeof *path->depth);
    path->end = sn_layout_take(layout, count + 1, sizeof *path->end);
    path->segment_of = sn_layout_take(layout, count + 1, sizeof *path->segment_of);
    path->segment = sn_layout_take(layout, count + 1, sizeof *path->segment);
}

void sn_path_build(sn_path *path) {
    path->entries = path->size = 0;
    path->nsegment = 0;
    for (int i = 0; i < path->n; i++) {
        int parent = path->parent[i];
        path->depth[i] = parent < 0 ? 0 : path->depth[parent] + 1;
        size_t length = (size_t)path->depth[i] + 1;
        path->row[i] = path->size;
        path->entries += length;
        path->size += (length + 1) / 2 * 2;
        path->end[i] = i + 1;
    }
    path->row[path->n] = path->size;
    // subtrees are contiguous, so a parent ends where its last child does
    for (int i = path->n - 1; i >= 0; i--) {
        int parent = path->parent[i];
        if (parent >= 0 && path->end[parent] < path->end[i]) path->end[parent] = path->end[i];
    }
    for (int i = 0; i < path->n; i++) {
        int parent = path->parent[i];
        // i goes on with its parent's segment when it is the only child: then both end together
        if (parent == i - 1 && parent >= 0 && path->end[parent] == path->end[i]) {
            path->segment_of[i] = path->segment_of[parent];
            path->segment[path->segment_of[i]].count++;
            continue;
        }
        path->segment_of[i] = path->nsegment;
        path->segment[path->nsegment++] =
            (sn_segment){i, 1, path->depth[i], parent < 0 ? -1 : path->segment_of[parent]};
    }
}

int sn_path_count(const sn_path *path) { return path != NULL ? path->n : 0; }
size_t sn_path_entries(const sn_path *path) { return path != NULL ? path->entries : 0; }
size_t sn_path_size(const sn_path *path) { return path != NULL ? path->size : 0; }

static bool is_row(const sn_path *path, int i) { return path != NULL && i >= 0 && i < path->n; }

int sn_path_length(const sn_path *path, int i) { return is_row(path, i) ? path->depth[i] + 1 : 0; }
size_t sn_path_row(const sn_path *path, int i) { return is_row(path, i) ? path->row[i] : 0; }
int sn_path_parent(const sn_path *path, int i) { return is_row(path, i) ? path->parent[i] : -1; }

void sn_path_to_dense(const sn_path *path, const double *rows, const int *order, double *dense) {
    if (path == NULL || rows == NULL || dense == NULL) return;
    size_t n = (size_t)path->n;
    for (size_t i = 0; i < n * n; i++) dense[i] = 0;
    for (int i = 0; i < path->n; i++) {
        const double *row = rows + path->row[i];
        size_t a = (size_t)(order == NULL ? i : order[i]);
        for (int j = i; j >= 0; j = path->parent[j]) {
            size_t b = (size_t)(order == NULL ? j : order[j]);
            dense[a + n * b] = dense[b + n * a] = row[path->depth[j]];
        }
    }
}

void sn_path_multiply(const sn_path *path, const double *rows, const double *x, double *y) {
    if (path == NULL || rows == NULL || x == NULL || y == NULL) return;
    for (int i = 0; i < path->n; i++) {
        const double *row = rows + path->row[i];
        const sn_pair xx = pair_of(x[i]);
        sn_pair pairs = pair_of(0);
        double sum = row[path->depth[i]] * x[i];
        // segment by segment, since the columns of one are neighbours in x and y too
        int segment = path->segment_of[i], count = i - path->segment[segment].first;
        while (segment >= 0) {
            const sn_segment *s = &path->segment[segment];
            const double *from = row + s->prefix, *with = x + s->first;
            double *to = y + s->first;
            int j = 0;
            for (; j + 1 < count; j += 2) {
                const sn_pair a = pair_load(from + j);
                pairs = pair_add(pairs, pair_mul(a, pair_load(with + j)));
                pair_store(to + j, pair_add(pair_load(to + j), pair_mul(a, xx)));
            }
            if (j < count) {
                sum += from[j] * with[j];
                to[j] += from[j] * x[i];
            }
            segment = s->parent;
            if (segment >= 0) count = path->segment[segment].count;
        }
        y[i] = sum + pair_sum(pairs);
    }
}

void sn_path_drop(const sn_path *path, const bool *keep, double *rows) {
    if (path == NULL || keep == NULL || rows == NULL) return;
    for (int i = 0; i < path->n; i++) {
        double *row = rows + path->row[i];
        for (int j = i; j >= 0; j = path->parent[j])
            if (!keep[i] || !keep[j]) row[path->depth[j]] = 0;
        if (!keep[i]) row[path->depth[i]] = 1;
    }
}
