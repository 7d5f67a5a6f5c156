// SPDX-License-Identifier: MIT
// Joints that are driven by functions, as flat lists.
#include <math.h>

#include "batch/make.h"
#include "model/model.h"

_Static_assert((int)SN_BATCH_ARGUMENTS >= (int)SN_MAX_ARGUMENTS, "arguments of a function");

static bool is_pieces(const sn_function *f) {
    return f->type == SN_FUNCTION_SPLINE || f->type == SN_FUNCTION_POLYLINE;
}

// A spline goes on straight at both ends, a polyline in its first and last piece.
static int piece_count(const sn_function *f) {
    return f->type == SN_FUNCTION_SPLINE ? f->nx + 1 : f->nx - 1;
}

static int number_count(const sn_function *f) {
    if (is_pieces(f)) return 5 * piece_count(f);
    if (f->type == SN_FUNCTION_POLYNOMIAL && f->nargument > 1) return f->ny * (f->nargument + 1);
    return f->ny;
}

static void put_piece(double *to, double x, double y, double slope, double square, double cube) {
    to[0] = x, to[1] = y, to[2] = slope, to[3] = square, to[4] = cube;
}

// All but its place times a function's scale.
static void scale_pieces(const sn_function *f, double *to) {
    for (int i = 0; i < 5 * piece_count(f); i++)
        if (i % 5 != 0) to[i] *= f->scale;
}

static void put_spline(const sn_driver *driver, double *to) {
    const double *x = driver->f.x, *y = driver->f.y, *sigma = driver->sigma;
    const int n = driver->f.nx;
    double right = 0;
    for (int k = 0; k + 1 < n; k++) {
        const double h = x[k + 1] - x[k], slope = (y[k + 1] - y[k]) / h;
        const double left = slope - h * (sigma[k + 1] + 2 * sigma[k]);
        right = slope + h * (sigma[k] + 2 * sigma[k + 1]);
        if (k == 0) put_piece(to, x[0], y[0], left, 0, 0);
        put_piece(to + 5 * (k + 1), x[k], y[k], left, 3 * sigma[k], (sigma[k + 1] - sigma[k]) / h);
    }
    put_piece(to + 5 * n, x[n - 1], y[n - 1], right, 0, 0);
}

static void put_polyline(const sn_driver *driver, double *to) {
    const double *x = driver->f.x, *y = driver->f.y;
    for (int k = 0; k + 1 < driver->f.nx; k++)
        put_piece(to + 5 * k, x[k], y[k], (y[k + 1] - y[k]) / (x[k + 1] - x[k]), 0, 0);
}

static void put_products(const sn_driver *driver, double *to) {
    const int n = driver->f.nargument;
    int exponent[SN_MAX_ARGUMENTS] = {0};
    for (int m = 0; m < driver->f.ny; m++) {
        *to++ = driver->f.scale * driver->f.y[m];
        for (int i = 0; i < n; i++) *to++ = exponent[i];
        sn_next_product(driver, exponent);
    }
}

static void put_move(sn_batch_table *t, int m, int number, const struct sn_drive_move *move) {
    const sn_function *f = &move->driver.f;
    double *to = t->number + number;
    t->move_turns[m] = move->turns;
    t->move_aligned[m] = move->aligned;
    t->move_axis[3 * m] = move->axis.x;
    t->move_axis[3 * m + 1] = move->axis.y;
    t->move_axis[3 * m + 2] = move->axis.z;
    t->move_number[m] = number;
    t->move_nargument[m] = f->nargument;
    t->move_count[m] = is_pieces(f) ? piece_count(f) : f->ny;
    for (int i = 0; i < SN_BATCH_ARGUMENTS; i++)
        t->move_argument[SN_BATCH_ARGUMENTS * m + i] = i < f->nargument ? f->argument[i] : 0;
    switch (f->type) {
    case SN_FUNCTION_SPLINE:
        t->move_kind[m] = SN_DRIVE_PIECES;
        put_spline(&move->driver, to);
        scale_pieces(f, to);
        return;
    case SN_FUNCTION_POLYLINE:
        t->move_kind[m] = SN_DRIVE_PIECES;
        put_polyline(&move->driver, to);
        scale_pieces(f, to);
        return;
    case SN_FUNCTION_POLYNOMIAL:
        t->move_kind[m] = f->nargument > 1 ? SN_DRIVE_PRODUCTS : SN_DRIVE_POLYNOMIAL;
        if (f->nargument > 1) {
            put_products(&move->driver, to);
            return;
        }
        break;
    default:
        t->move_kind[m] = f->type == SN_FUNCTION_SINE ? SN_DRIVE_SINE : SN_DRIVE_LINEAR;
    }
    // of a sine the amplitude and what it is about have a scale, its frequencies have none
    const int first = f->type == SN_FUNCTION_SINE ? 1 : 0,
              last = f->type == SN_FUNCTION_SINE ? f->ny - 1 : 0;
    for (int i = 0; i < f->ny; i++) to[i] = i >= first && i < last ? f->y[i] : f->scale * f->y[i];
}

void sn_batch_drive_count(const sn_model *m, sn_batch_table *t) {
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        if (j->type != SN_JOINT_FUNCTION) continue;
        t->nmove += j->drive->nmove;
        t->nbend += j->nv * (j->nv + 1) / 2;
        for (int i = 0; i < j->drive->nmove; i++)
            t->nnumber += number_count(&j->drive->move[i].driver.f);
    }
}

void sn_batch_drive_fill(const sn_model *m, sn_batch_table *t) {
    int move = 0, bend = 0, number = 0;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        t->move_first[k] = move;
        t->bend0[k] = bend;
        if (j->type != SN_JOINT_FUNCTION) continue;
        bend += j->nv * (j->nv + 1) / 2;
        for (int i = 0; i < j->drive->nmove; i++) {
            put_move(t, move++, number, &j->drive->move[i]);
            number += number_count(&j->drive->move[i].driver.f);
        }
    }
    t->move_first[m->njoint] = move;
}
