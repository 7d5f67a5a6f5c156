// SPDX-License-Identifier: MIT
// A cylinder or box of half length h and half width w across is held by a capsule whose ends lie d inside
// its own: the radius is sqrt(w^2 + d^2) then. Of all d that of least volume is taken, so that a cube gets
// a sphere and a rod a capsule of hardly more than its width. An ellipsoid with half axes a >= b >= c lies in the
// capsule of radius b and half length a - b, whatever its c.
#include "files/bound.h"

#include <string.h>

typedef struct adding {
    sn_builder *builder;
    sn_shape_desc d;
    const sn_frame *frame;
    int line, count;
} adding;

static void put(const sn_frame *frame, sn_vec3 local, double out[3]) {
    sn_vec3 p = v3_add(frame->p, m3_mul(&frame->R, local));
    out[0] = p.x, out[1] = p.y, out[2] = p.z;
}

// Around the segment middle - half axis ... middle + half axis.
static void add_capsule(adding *a, sn_vec3 middle, int axis, double half, double radius) {
    sn_vec3 arm = v3_scale(half, v3_unit(axis));
    bool point = half <= 1e-9 * radius;  // also where both are 0
    a->d.type = point ? SN_SHAPE_SPHERE : SN_SHAPE_CAPSULE;
    a->d.radius = radius;
    put(a->frame, point ? middle : v3_sub(middle, arm), a->d.from);
    put(a->frame, point ? middle : v3_add(middle, arm), a->d.to);
    (void)sn_builder_shape_at(a->builder, &a->d, a->line);
    a->count++;
}

// How far the ends of the capsule of least volume lie inside those of a rod.
static double best_inset(double half, double width) {
    double best = 0, least = INFINITY;
    for (int i = 0; i <= 64; i++) {
        double d = half * i / 64, square = width * width + d * d;
        double volume = 2 * square * (half - d) + 4.0 / 3 * square * sqrt(square);
        if (volume < least) least = volume, best = d;
    }
    return best;
}

static void add_rod(adding *a, sn_vec3 middle, int axis, double half, double width) {
    double inset = best_inset(half, width);
    add_capsule(a, middle, axis, half - inset, sqrt(width * width + inset * inset));
}

// Axes by their length, the longest first.
static void sort_axes(const double size[3], int axis[3]) {
    for (int i = 0; i < 3; i++) axis[i] = i;
    for (int i = 0; i < 2; i++)
        for (int k = i + 1; k < 3; k++)
            if (size[axis[k]] > size[axis[i]]) {
                int other = axis[i];
                axis[i] = axis[k];
                axis[k] = other;
            }
}

static void add_box(adding *a, const double size[3]) {
    int axis[3];
    sort_axes(size, axis);
    const double half = size[axis[0]], middle = size[axis[1]], thin = size[axis[2]];
    int strips = middle < 4 * thin ? (int)(middle / thin + 0.5) : 4;
    if (strips < 1) strips = 1;
    for (int i = 0; i < strips; i++) {
        double w = middle / strips, at = (2 * i + 1) * w - middle;
        add_rod(a, v3_scale(at, v3_unit(axis[1])), axis[0], half, sqrt(w * w + thin * thin));
    }
}

int sn_bound_solid(sn_builder *builder, const sn_shape_desc *like, sn_solid_kind kind,
                   const double size[3], const sn_frame *frame, int line) {
    static const int sizes[] = {1, 2, 2, 3, 3, 0};
    adding a = {.builder = builder, .d = *like, .frame = frame, .line = line};
    const sn_vec3 centre = {0, 0, 0};
    for (int i = 0; i < sizes[kind]; i++) {
        bool point = kind == SN_SOLID_SPHERE && size[i] == 0;
        if (!point && !(size[i] > 0 && size[i] <= 1e50)) return 0;
    }
    switch (kind) {
    case SN_SOLID_SPHERE:
        add_capsule(&a, centre, 2, 0, size[0]);
        break;
    case SN_SOLID_CAPSULE:
        add_capsule(&a, centre, 2, size[1], size[0]);
        break;
    case SN_SOLID_CYLINDER:
        // a disc is a box whose corners are cut off, and better held as that
        if (size[1] < 0.5 * size[0]) {
            add_box(&a, (double[3]){size[0], size[0], size[1]});
        } else {
            add_rod(&a, centre, 2, size[1], size[0]);
        }
        break;
    case SN_SOLID_BOX:
        add_box(&a, size);
        break;
    case SN_SOLID_ELLIPSOID: {
        int axis[3];
        sort_axes(size, axis);
        add_capsule(&a, centre, axis[0], size[axis[0]] - size[axis[1]], size[axis[1]]);
        break;
    }
    case SN_SOLID_PLANE:
        a.d.type = SN_SHAPE_PLANE;
        put(frame, centre, a.d.from);
        a.d.normal[0] = frame->R.c[2].x;
        a.d.normal[1] = frame->R.c[2].y;
        a.d.normal[2] = frame->R.c[2].z;
        (void)sn_builder_shape_at(builder, &a.d, line);
        a.count++;
        break;
    }
    return a.count;
}
