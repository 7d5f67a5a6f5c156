// SPDX-License-Identifier: MIT
#include "plain_bvh.h"

#include <ctype.h>

// The next word in lower case.
static const char *word(const char *at, char out[64]) {
    while (isspace((unsigned char)*at)) at++;
    size_t n = 0;
    while (*at != '\0' && !isspace((unsigned char)*at)) {
        if (n < 63) out[n++] = (char)tolower((unsigned char)*at);
        at++;
    }
    out[n] = '\0';
    return at;
}

void plain_read(const char *text, plain_bvh *b) {
    char w[64];
    int stack[PLAIN_MAX], depth = 0;
    memset(b, 0, sizeof *b);
    for (const char *at = word(text, w); strcmp(w, "motion") != 0; at = word(at, w)) {
        assert_true(w[0] != '\0');
        if (strcmp(w, "root") == 0 || strcmp(w, "joint") == 0 || strcmp(w, "end") == 0) {
            plain_node *n = &b->node[b->nnode++];
            assert_true(b->nnode < PLAIN_MAX);
            n->parent = depth > 0 ? stack[depth - 1] : -1;
            n->site = w[0] == 'e';
            n->site ? b->nsite++ : b->njoint++;
            at += strcspn(at, "{\r\n");  // its name
        } else if (strcmp(w, "{") == 0) {
            stack[depth++] = b->nnode - 1;
        } else if (strcmp(w, "}") == 0) {
            depth--;
        } else if (strcmp(w, "offset") == 0) {
            char *end;
            for (int i = 0; i < 3; i++, at = end)
                b->node[b->nnode - 1].offset[i] = strtod(at, &end);
        } else if (strcmp(w, "channels") == 0) {
            plain_node *n = &b->node[b->nnode - 1];
            at = word(at, w);
            n->nchannel = atoi(w);
            n->first = b->nchannel;
            b->nchannel += n->nchannel;
            for (int i = 0; i < n->nchannel; i++) {
                at = word(at, w);
                n->kind[i] = w[0] - 'x' + (w[1] == 'r' ? 3 : 0);
            }
        }
        b->rows = at;
    }
    char *end;
    const char *at = strstr(b->rows, "Frames:");
    if (at == NULL) return;
    b->nframe = (int)strtol(at + 7, &end, 10);
    at = strstr(end, "Time:");
    b->frame_time = strtod(at + 5, &end);
    b->rows = end;
}

void plain_row(const plain_bvh *b, const char **at, double *row) {
    for (int k = 0; k < b->nchannel; k++) {
        char *end;
        row[k] = strtod(*at, &end);
        assert_true(end != *at);
        *at = end;
    }
}

static void multiply(double *a, const double *b) {
    double c[16];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            c[4 * i + j] = 0;
            for (int k = 0; k < 4; k++) c[4 * i + j] += a[4 * i + k] * b[4 * k + j];
        }
    memcpy(a, c, sizeof c);
}

void plain_place(const plain_bvh *b, const double *row, double (*world)[16]) {
    static const double one[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    for (int i = 0; i < b->nnode; i++) {
        const plain_node *n = &b->node[i];
        double *M = world[i], move[16], shift[3];
        memcpy(M, n->parent < 0 ? one : world[n->parent], sizeof one);
        memcpy(shift, n->offset, sizeof shift);
        for (int k = 0; k < n->nchannel; k++)
            if (n->kind[k] < 3) shift[n->kind[k]] = row[n->first + k];
        memcpy(move, one, sizeof one);
        for (int k = 0; k < 3; k++) move[4 * k + 3] = shift[k];
        multiply(M, move);
        for (int k = 0; k < n->nchannel; k++) {
            if (n->kind[k] < 3) continue;
            double t = row[n->first + k] * (3.14159265358979323846 / 180);
            int u = (n->kind[k] - 3 + 1) % 3, v = (n->kind[k] - 3 + 2) % 3;
            memcpy(move, one, sizeof one);
            move[4 * u + u] = move[4 * v + v] = cos(t);
            move[4 * u + v] = -sin(t);
            move[4 * v + u] = sin(t);
            multiply(M, move);
        }
    }
}
