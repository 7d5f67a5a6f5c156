// SPDX-License-Identifier: MIT
// The shapes of a GLB scene: outlines turned about y, with smooth normals.
#include <string.h>

#include "files/glb/glb.h"
#include "math/exp.h"

// An outline: the radius at a height, from pole to pole.
typedef struct outline {
    double y, r;
} outline;

static void normal_at(const outline *o, int n, int i, double *r, double *y) {
    if (i == 0 || i == n - 1) {
        *r = 0, *y = i == 0 ? -1 : 1;
        return;
    }
    // across the outline's direction there, the chord between its neighbours
    double dy = o[i + 1].y - o[i - 1].y, dr = o[i + 1].r - o[i - 1].r, length = sn_hypot(dy, dr);
    *r = dy / length, *y = -dr / length;
}

// around: corners of a ring
static void turn_outline(const outline *o, int n, int around, sn_glb_shape *shape) {
    const double pi = 3.14159265358979323846;
    shape->nvertex = shape->nindex = 0;
    for (int i = 0; i < n; i++) {
        double nr, ny;
        normal_at(o, n, i, &nr, &ny);
        for (int k = 0; k < around; k++) {
            double s, c;
            sn_sincos(2 * pi * k / around, &s, &c);
            const double v[6] = {o[i].r * c, o[i].y, o[i].r * s, nr * c, ny, nr * s};
            for (int j = 0; j < 6; j++) shape->vertex[shape->nvertex][j] = (float)v[j];
            shape->nvertex++;
        }
    }
    // counter-clockwise from outside; at a pole one of the two triangles has no area
    for (int i = 0; i + 1 < n; i++) {
        for (int k = 0; k < around; k++) {
            int a = i * around + k, b = i * around + (k + 1) % around, c = a + around;
            const int corner[6] = {a, c, b, b, c, b + around};
            int from = i == 0 ? 3 : 0, to = i == n - 2 ? 3 : 6;
            for (int j = from; j < to; j++) shape->index[shape->nindex++] = (uint16_t)corner[j];
        }
    }
}

static void ball(int rings, int around, sn_glb_shape *shape) {
    outline o[16];
    for (int i = 0; i < rings; i++) {
        double s, c;
        sn_sincos(3.14159265358979323846 * i / (rings - 1), &s, &c);
        o[i] = (outline){-c, i == rings - 1 ? 0 : s};
    }
    turn_outline(o, rings, around, shape);
}

void sn_glb_marker(sn_glb_shape *shape) { ball(11, 20, shape); }
void sn_glb_ball(sn_glb_shape *shape) { ball(7, 10, shape); }

void sn_glb_capsule(sn_glb_shape *shape) {
    enum { RINGS = 6 };  // of one half
    outline o[2 * RINGS];
    for (int i = 0; i < RINGS; i++) {
        double s, c;
        sn_sincos(3.14159265358979323846 / 2 * i / (RINGS - 1), &s, &c);
        if (i == RINGS - 1) c = 0;
        o[i] = (outline){-c, s};
        o[2 * RINGS - 1 - i] = (outline){c, s};
    }
    turn_outline(o, 2 * RINGS, SN_GLB_CAPSULE_CORNERS, shape);
    for (int v = 0; v < shape->nvertex; v++)
        for (int k = 0; k < 3; k++) shape->vertex[v][3 + k] = shape->vertex[v][k];
    // the rings below the middle, those above it, and the band between the two
    uint16_t band[SN_GLB_BAND];
    uint16_t *from = shape->index + (shape->nindex - SN_GLB_BAND) / 2, *next = from + SN_GLB_BAND;
    memcpy(band, from, sizeof band);
    memmove(from, next, (size_t)(shape->index + shape->nindex - next) * sizeof *next);
    memcpy(shape->index + shape->nindex - SN_GLB_BAND, band, sizeof band);
}

void sn_glb_bone(sn_glb_shape *shape) {
    // round at both ends, widest near the joint it hangs on
    static const outline o[] = {{0, 0},       {0.02, 0.48}, {0.08, 0.84}, {0.18, 1.0},
                                {0.50, 0.78}, {0.86, 0.51}, {0.97, 0.36}, {1, 0}};
    turn_outline(o, (int)(sizeof o / sizeof o[0]), 10, shape);
}
