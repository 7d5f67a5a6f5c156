// SPDX-License-Identifier: MIT
// Motions as tables: a column for each degree of freedom, and back.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "files/motion_table.h"
#include "math/round.h"
#include "math/vec3.h"
#include "model/model.h"
#include "motion/clock.h"
#include "sinew/files.h"

enum { NAME = 2 * SN_MAX_NAME + 2 };  // a joint's name, '_', a coordinate's

static const double turn_radians = 6.283185307179586476925;
static const double degree = 0.017453292519943295769;  // in radians

static const sn_joint *joint_of(const sn_model *model, int i) {
    return &model->joint[model->sweep_of[i]];
}

// Whether a column may have the bare name of a joint: it has one degree of freedom, and is not called
// like a coordinate of another (a hinge "hip_rx" beside an euler joint "hip").
static bool has_bare_name(const sn_model *model, int i) {
    const char *name = model->desc[i].name, *mark = strrchr(name, '_');
    char other[SN_MAX_NAME + 1];
    if (joint_of(model, i)->nv != 1) return false;
    if (mark == NULL) return true;
    memcpy(other, name, (size_t)(mark - name));
    other[mark - name] = '\0';
    int found = sn_model_find_joint(model, other);
    return found < 0 || joint_of(model, found)->nv < 2;
}

// The bare name of a column: a joint's, or that of one of several coordinates of a function joint
// that no joint and no other such coordinate has. NULL when it has none.
static const char *bare_name(const sn_model *model, int i, int k) {
    const sn_joint_functions *own = model->desc[i].functions;
    if (own == NULL || own->ncoordinate == 1)
        return has_bare_name(model, i) ? model->desc[i].name : NULL;
    const char *name = own->coordinate[k];
    if (sn_model_find_joint(model, name) >= 0) return NULL;
    for (int j = 0; j < model->njoint; j++) {
        const sn_joint_functions *other = model->desc[j].functions;
        for (int c = 0; j != i && other != NULL && c < other->ncoordinate; c++)
            if (strcmp(other->coordinate[c], name) == 0) return NULL;
    }
    return name;
}

// JOINT_COORDINATE for a joint's k-th degree of freedom.
static void coordinate_name(const sn_joint *joint, const sn_joint_desc *desc, int k,
                            char out[NAME]) {
    const char *name = desc->name;
    const sn_joint_functions *functions = desc->functions;
    static const char *const names[SN_JOINT_TYPE_COUNT][SN_MAX_JOINT_DOFS] = {
        [SN_JOINT_HINGE] = {"angle"},
        [SN_JOINT_SLIDER] = {"distance"},
        [SN_JOINT_SCREW] = {"angle"},
        [SN_JOINT_UNIVERSAL] = {"angle1", "angle2"},
        [SN_JOINT_BALL] = {"wx", "wy", "wz"},
        [SN_JOINT_EXPMAP] = {"wx", "wy", "wz"},
        [SN_JOINT_SWING_TWIST] = {"su", "sv", "twist"},
        [SN_JOINT_PLANAR] = {"tu", "tv", "angle"},
        [SN_JOINT_TRANSLATION] = {"tx", "ty", "tz"},
        [SN_JOINT_FREE] = {"tx", "ty", "tz", "wx", "wy", "wz"},
    };
    if (joint->type == SN_JOINT_FUNCTION) {
        (void)snprintf(out, NAME, "%s_%s", name, functions->coordinate[k]);
        return;
    }
    if (joint->type != SN_JOINT_EULER) {
        (void)snprintf(out, NAME, "%s_%s", name, names[joint->type][k]);
        return;
    }
    bool again = k == 2 && joint->order[2] == joint->order[0];
    (void)snprintf(out, NAME, "%s_r%c%s", name, "xyz"[joint->order[k]], again ? "3" : "");
}

sn_status sn_table_along(const sn_motion *motion, sn_table_info info, int ncolumn,
                         const char **names, const sn_allocator *allocator, sn_table **out,
                         sn_error *error) {
    double rate = sn_motion_rate(motion), offset = sn_motion_time_offset(motion);
    int first = sn_motion_first_frame(motion);
    info.nrow = sn_motion_nframe(motion);
    info.ncolumn = ncolumn + 1;
    info.rate = rate;
    *(rate > 0 ? &info.time : &info.frame) = 0;
    names[0] = rate > 0 ? "time" : "frame";
    SN_TRY(sn_table_create(&info, names, allocator, out, error));
    for (int f = 0; f < info.nrow; f++)
        sn_table_edit(*out, f)[0] =
            rate > 0 ? offset + sn_clock_time(first, f, rate) : (double)first + f;
    return SN_OK;
}

// Of all rotation vectors of the quaternion, the one nearest to `last`: they lie 2 pi apart on a
// line through the origin.
static sn_vec3 nearest_vector(const double quat[4], sn_vec3 last) {
    sn_vec3 w = sn_quat_log((sn_quat){quat[0], quat[1], quat[2], quat[3]});
    double angle = v3_norm(w);
    // no turn at all has no line of its own: stay on the last one
    sn_vec3 axis = angle > 1e-9 ? v3_scale(1 / angle, w) : last;
    double length = v3_norm(axis);
    if (!(length > 0)) return w;
    axis = v3_scale(1 / length, axis);
    double turns = sn_round((v3_dot(last, axis) - v3_dot(w, axis)) / turn_radians);
    return v3_add(w, v3_scale(turns * turn_radians, axis));
}

// Whether a column holds a coordinate as it is: a length; or one of a function joint by which nothing turns
// evenly, which OpenSim calls coupled and never converts to degrees (a patella's that a spline turns).
static bool is_plain(const sn_joint *joint, int k) {
    if (joint->lengths >> k & 1) return true;
    if (joint->type != SN_JOINT_FUNCTION) return false;
    for (int i = 0; i < joint->drive->nmove; i++) {
        const sn_function *f = &joint->drive->move[i].driver.f;
        if (joint->drive->move[i].turns && f->type == SN_FUNCTION_LINEAR && f->nargument == 1 &&
            f->argument[0] == k && fabs(f->scale * f->y[0]) == 1 && f->y[1] == 0)
            return false;
    }
    return true;
}

// A joint's row from its coordinates; `last` is its row before, or all zero.
static void joint_to_row(const sn_joint *joint, const double *q, const double *last, double *row) {
    int ball = joint->ops->quaternion;
    for (int k = 0; k < joint->nv; k++) {
        if (ball >= 0 && k >= ball) break;
        row[k] = is_plain(joint, k) ? q[k] : q[k] / degree;
    }
    if (ball < 0) return;
    sn_vec3 w = nearest_vector(q + ball, v3_scale(degree, v3_from(last + ball)));
    row[ball] = w.x / degree;
    row[ball + 1] = w.y / degree;
    row[ball + 2] = w.z / degree;
}

// The other way; `last` are the coordinates before, or NULL. A quaternion keeps near their sign.
static void joint_from_row(const sn_joint *joint, const double *row, double unit,
                           const double *last, double *q) {
    int ball = joint->ops->quaternion;
    for (int k = 0; k < joint->nv; k++) {
        if (ball >= 0 && k >= ball) break;
        q[k] = is_plain(joint, k) ? row[k] : row[k] * unit;
    }
    if (ball < 0) return;
    sn_quat p = sn_quat_exp(v3_scale(unit, v3_from(row + ball)));
    double to[4] = {p.w, p.x, p.y, p.z}, dot = p.w;
    if (last != NULL) {
        dot = 0;
        for (int i = 0; i < 4; i++) dot += to[i] * last[ball + i];
    }
    for (int i = 0; i < 4; i++) q[ball + i] = dot < 0 ? -to[i] : to[i];
}

sn_status sn_table_from_motion(const sn_model *model, const sn_motion *motion,
                               const sn_allocator *allocator, sn_table **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(model, error);
    SN_NEED(motion, error);
    SN_NEED(out, error);
    if (sn_motion_nq(motion) != model->nq)
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "the motion has %d coordinates, but the model has %d", sn_motion_nq(motion),
                       model->nq);
    sn_table_info info = sn_table_info_default();
    memcpy(info.unit, "m", 2);
    (void)snprintf(info.name, sizeof info.name, "%s", model->name);

    void *owner = NULL;
    sn_layout layout = {0};
    const char **name = NULL;
    char *pool = NULL;
    for (int pass = 0; pass < 2; pass++) {
        name = sn_layout_take(&layout, (size_t)model->nv + 1, sizeof *name);
        pool = sn_layout_take(&layout, (size_t)model->nv, NAME);
        if (pass == 1) break;
        void *start = sn_layout_acquire(&layout, allocator, &owner);
        if (start == NULL) return sn_fail_memory(error);
        layout = (sn_layout){.block = start};
    }
    for (int i = 0; i < model->njoint; i++) {
        const sn_joint *joint = joint_of(model, i);
        for (int k = 0; k < joint->nv; k++, pool += NAME) {
            const char *bare = bare_name(model, i, k);
            coordinate_name(joint, &model->desc[i], k, pool);
            name[1 + joint->v0 + k] = bare != NULL ? bare : pool;
        }
    }
    sn_status status = sn_table_along(motion, info, model->nv, name, allocator, out, error);
    sn_release(allocator, owner);
    if (status != SN_OK) return sn_fail(error, status, 0, "%s", sn_status_text(status));

    static const double zero[SN_MAX_JOINT_DOFS] = {0};
    for (int f = 0; f < sn_motion_nframe(motion); f++) {
        const double *q = sn_motion_frame(motion, f);
        double *row = sn_table_edit(*out, f);
        for (int i = 0; i < model->njoint; i++) {
            const sn_joint *joint = joint_of(model, i);
            const double *last = f > 0 ? sn_table_row(*out, f - 1) + 1 + joint->v0 : zero;
            joint_to_row(joint, q + joint->q0, last, row + 1 + joint->v0);
        }
    }
    return SN_OK;
}

// Which column of the table each degree of freedom has.
static sn_status find_columns(const sn_model *model, const sn_table *table, int *column,
                              sn_error *error) {
    for (int i = 0; i < model->njoint; i++) {
        const sn_joint *joint = joint_of(model, i);
        const char *joint_name = model->desc[i].name;
        for (int k = 0; k < joint->nv; k++) {
            char name[NAME];
            coordinate_name(joint, &model->desc[i], k, name);
            const char *bare = bare_name(model, i, k);
            int found = bare != NULL ? sn_table_find(table, bare) : -1;
            if (found < 0) found = sn_table_find(table, name);
            if (found < 0)
                return sn_fail(error, SN_ERR_VALUE, 0,
                               "the table has no column '%.100s' for the joint '%.60s'",
                               bare != NULL ? bare : name, joint_name);
            column[joint->v0 + k] = found;
        }
    }
    return SN_OK;
}

static sn_status fill_motion(const sn_model *model, const sn_table *table, const int *column,
                             sn_motion *motion, sn_error *error) {
    const sn_table_info *info = sn_table_about(table);
    double unit = info->in_degrees ? degree : 1;
    for (int f = 0; f < info->nrow; f++) {
        const double *row = sn_table_row(table, f);
        const double *last = f > 0 ? sn_motion_frame(motion, f - 1) : NULL;
        double *q = sn_motion_edit(motion, f);
        for (int i = 0; i < model->njoint; i++) {
            const sn_joint *joint = joint_of(model, i);
            double values[SN_MAX_JOINT_DOFS];
            for (int k = 0; k < joint->nv; k++) {
                int c = column[joint->v0 + k];
                values[k] = row[c];
                if (!isfinite(row[c]))
                    return sn_fail(error, SN_ERR_VALUE, 0,
                                   "row %d of the table has no number in column '%.100s'", f + 1,
                                   sn_table_column(table, c));
            }
            joint_from_row(joint, values, unit, last == NULL ? NULL : last + joint->q0,
                           q + joint->q0);
        }
    }
    return SN_OK;
}

// The number of the first frame: as the table says, else from the time.
static int first_frame(const sn_table *table, double rate) {
    const sn_table_info *info = sn_table_about(table);
    if (info->nrow == 0) return 1;
    const double *row = sn_table_row(table, 0);
    double number = 1;
    if (info->frame >= 0)
        number = row[info->frame];
    else if (info->time >= 0)
        number = sn_round(row[info->time] * rate) + 1;
    return fabs(number) < 1e9 ? (int)number : 1;
}

sn_status sn_motion_from_table(const sn_model *model, const sn_table *table,
                               const sn_allocator *allocator, sn_motion **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(model, error);
    SN_NEED(table, error);
    SN_NEED(out, error);
    int nrow = sn_table_about(table)->nrow;
    int *column = sn_acquire(allocator, ((size_t)model->nv + 1) * sizeof *column);
    if (column == NULL) return sn_fail_memory(error);
    sn_status status = find_columns(model, table, column, error);
    if (status == SN_OK) {
        double rate = sn_table_rate(table);
        int first = first_frame(table, rate), time = sn_table_about(table)->time;
        status = sn_motion_create(nrow, model->nq, first, rate, allocator, out, error);
        if (status == SN_OK && time >= 0 && nrow > 0)
            sn_motion_set_time_offset(*out,
                                      sn_clock_offset(first, sn_table_row(table, 0)[time], rate));
        if (status != SN_OK)
            (void)sn_fail(error, status, 0, "%s", sn_status_text(status));
        else
            status = fill_motion(model, table, column, *out, error);
    }
    sn_release(allocator, column);
    if (status != SN_OK) {
        sn_motion_destroy(*out);
        *out = NULL;
    }
    return status;
}
