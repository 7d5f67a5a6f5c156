// SPDX-License-Identifier: MIT
// How fast a motion is, and where its bodies are, as tables.
//
// With d_k = q_(k+1) (-) q_k, which for balls is a rotation vector and for all else a difference,
//
//   u_k = rate (d_(k-1) + d_k) / 2,      du_k/dt = rate^2 (d_k - d_(k-1))
//
// both right to second order; the first and last frame go on as the parabola of the three there does.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "files/motion_table.h"
#include "model/model.h"
#include "sinew/eval.h"
#include "sinew/motion.h"

static const double degree = 0.017453292519943295769;

enum { NAME = 2 * SN_MAX_NAME + 16 };

// --- velocities and accelerations ------------------------------------------------------------------------

// What a velocity is multiplied with for the table: degrees where the motion's own column has them.
static void find_units(const sn_model *m, double *unit) {
    for (int j = 0; j < m->njoint; j++)
        for (int k = 0; k < sn_model_joint_nv(m, j); k++)
            unit[sn_model_v_index(m, j) + k] = sn_model_is_length(m, j, k) ? 1 : 1 / degree;
}

static void fill_rates(const sn_model *m, const sn_motion *motion, const double *unit, double *d,
                       sn_table *table) {
    int n = sn_motion_nframe(motion), nv = m->nv;
    double rate = sn_motion_rate(motion);
    for (int f = 0; f + 1 < n; f++)
        sn_model_difference(m, sn_motion_frame(motion, f), sn_motion_frame(motion, f + 1),
                            d + (size_t)f * (size_t)nv);
    for (int f = 0; f < n; f++) {
        double *row = sn_table_edit(table, f) + 1;
        int at = f == 0 ? 1 : f == n - 1 ? n - 2 : f;  // the frame in the middle of the three
        const double *b = d + (size_t)at * (size_t)nv, *a = b - nv;
        for (int v = 0; v < nv; v++) {
            double u = 0.5 * rate * (a[v] + b[v]), dudt = rate * rate * (b[v] - a[v]);
            row[v] = unit[v] * (u + (f - at) / rate * dudt);
            row[nv + v] = unit[v] * dudt;
        }
    }
}

sn_status sn_table_from_rates(const sn_model *model, const sn_motion *motion,
                              const sn_allocator *allocator, sn_table **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(model, error);
    SN_NEED(motion, error);
    SN_NEED(out, error);
    sn_table *plain = NULL;
    SN_TRY(sn_table_from_motion(model, motion, allocator, &plain, error));
    size_t nv = (size_t)model->nv, count = (size_t)sn_motion_nframe(motion);
    sn_status status = SN_OK;
    if (!(sn_motion_rate(motion) > 0) || count < 3)
        status = sn_fail(error, SN_ERR_ARGUMENT, 0,
                         count < 3 ? "velocities need three frames"
                                   : "velocities need a frame rate, which the motion lacks");
    const char **names = NULL;
    char *pool = NULL;
    double *numbers = NULL;
    if (status == SN_OK) {
        names = sn_acquire(allocator, (2 * nv + 1) * sizeof *names);
        pool = sn_acquire(allocator, (2 * nv + 1) * NAME);
        numbers = sn_acquire(allocator, nv * (count + 1) * sizeof *numbers + 1);
        if (names == NULL || pool == NULL || numbers == NULL) status = sn_fail_memory(error);
    }
    if (status == SN_OK) {
        for (size_t i = 0; i < 2 * nv; i++) {
            char *name = pool + i * NAME;
            (void)snprintf(name, NAME, "%s_%s", sn_table_column(plain, (int)(i % nv) + 1),
                           i < nv ? "u" : "dudt");
            names[1 + i] = name;
        }
        find_units(model, numbers);
        status = sn_table_along(motion, sn_table_info_default(), 2 * (int)nv, names, allocator, out,
                                error);
    }
    if (status == SN_OK) fill_rates(model, motion, numbers, numbers + nv, *out);
    sn_release(allocator, numbers);
    sn_release(allocator, pool);
    sn_release(allocator, (void *)names);
    sn_table_destroy(plain);
    return status;
}

// --- bodies ----------------------------------------------------------------------------------------------

// Does joint j have a place of its own? One that only turns on its parent, where that is, has not.
static bool has_place(const sn_model *m, int j) {
    const sn_joint_desc *d = &m->desc[j];
    if (d->parent < 0) return m->joint[m->sweep_of[j]].nv > 0;
    if (d->position[0] != 0 || d->position[1] != 0 || d->position[2] != 0) return true;
    // what slides carries its centre along
    if (d->type == SN_JOINT_FUNCTION) return true;
    for (int k = 0; k < sn_model_joint_nv(m, j); k++)
        if (sn_model_is_length(m, j, k)) return true;
    return false;
}

static double whole_mass(const sn_model *m) {
    double mass = 0;
    for (int j = 0; j < m->njoint; j++) mass += m->desc[j].mass;
    return mass;
}

static sn_status fill_bodies(const sn_model *m, const sn_motion *motion, double mass,
                             sn_workspace *ws, sn_table *table) {
    for (int f = 0; f < sn_motion_nframe(motion); f++) {
        double *row = sn_table_edit(table, f) + 1, centre[3] = {0};
        SN_TRY(sn_workspace_pose(ws, sn_motion_frame(motion, f)));
        for (int j = 0; j < m->njoint; j++) {
            const sn_joint_desc *d = &m->desc[j];
            if (has_place(m, j)) {
                sn_vec3 p = sn_workspace_frame(ws, j).p;
                *row++ = p.x, *row++ = p.y, *row++ = p.z;
            }
            if (!(d->mass > 0)) continue;
            sn_vec3 c = sn_workspace_point(ws, j, d->centre);
            centre[0] += d->mass / mass * c.x;
            centre[1] += d->mass / mass * c.y;
            centre[2] += d->mass / mass * c.z;
        }
        if (mass > 0) memcpy(row, centre, sizeof centre);
    }
    return SN_OK;
}

sn_status sn_table_from_bodies(const sn_model *model, const sn_motion *motion,
                               const sn_allocator *allocator, sn_table **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(model, error);
    SN_NEED(motion, error);
    SN_NEED(out, error);
    if (sn_motion_nq(motion) != model->nq)
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "the motion belongs to another model");
    double mass = whole_mass(model);
    size_t njoint = (size_t)model->njoint;
    const char **names = sn_acquire(allocator, (3 * njoint + 4) * sizeof *names);
    char *pool = sn_acquire(allocator, (3 * njoint + 4) * NAME);
    sn_problem *problem = NULL;
    sn_workspace *ws = NULL;
    int n = 1;
    sn_status status = names == NULL || pool == NULL ? sn_fail_memory(error) : SN_OK;
    if (status == SN_OK) {
        for (int j = 0; j <= model->njoint; j++) {
            bool centre = j == model->njoint;
            if (centre ? !(mass > 0) : !has_place(model, j)) continue;
            for (int k = 0; k < 3; k++, n++) {
                char *name = pool + (size_t)n * NAME;
                (void)snprintf(name, NAME, "%s_%c", centre ? "center_of_mass" : model->desc[j].name,
                               'X' + k);
                names[n] = name;
            }
        }
        status =
            sn_table_along(motion, sn_table_info_default(), n - 1, names, allocator, out, error);
    }
    if (status == SN_OK) status = sn_problem_create(model, NULL, 0, allocator, &problem, error);
    if (status == SN_OK) status = sn_workspace_create(problem, false, allocator, &ws, error);
    if (status == SN_OK) status = fill_bodies(model, motion, mass, ws, *out);
    if (status != SN_OK) {
        sn_table_destroy(*out);
        *out = NULL;
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_release(allocator, pool);
    sn_release(allocator, (void *)names);
    return status;
}
