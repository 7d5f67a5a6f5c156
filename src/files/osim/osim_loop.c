// SPDX-License-Identifier: MIT
// What closes loops in an OpenSim file: constraints that hold two bodies together, and joints to bodies
// that hang on another joint already.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files/osim/osim.h"
#include "math/rotation.h"
#include "model/model.h"

#define NAME(u, at) ((u)->names + (at))

// How far apart a file's numbers may put bodies that are fixed to each other.
static const double near_enough = 1e-5;

// How far two frames of one joint are from closing the loop.
static double gap(const sn_loop_desc *d, const sn_frame end[2]) {
    sn_vec3 apart = v3_sub(end[0].p, end[1].p);
    double away = v3_norm(apart);
    if (d->type == SN_LOOP_DISTANCE) return fabs(away - d->distance);
    if (d->type == SN_LOOP_LINE) {
        sn_vec3 axis = v3_from(d->axis[1]);
        return v3_norm(v3_cross(apart, axis)) / v3_norm(axis);
    }
    if (d->type == SN_LOOP_POINT) return away;
    sn_mat3 back = m3_transpose(&end[1].R), turn = m3_mulm(&end[0].R, &back);
    return fmax(away, v3_norm(sn_rotation_log(&turn)));
}

// The ends are frames on joints of the model. Bodies that are fixed to each other need nothing, or
// cannot be helped.
static sn_status add_loop(sn_osim *u, sn_loop_desc *d, const sn_frame end[2], const char *owner,
                          int line, sn_builder *builder) {
    for (int i = 0; i < 2; i++) {
        sn_quat r = sn_quat_from_mat3(end[i].R);
        const double position[3] = {end[i].p.x, end[i].p.y, end[i].p.z};
        const double rotation[4] = {r.w, r.x, r.y, r.z};
        memcpy(d->position[i], position, sizeof position);
        memcpy(d->rotation[i], rotation, sizeof rotation);
    }
    if (d->joint[0] != d->joint[1]) {
        (void)sn_builder_loop_at(builder, d, line);
        return SN_OK;
    }
    double open = gap(d, end);
    if (open <= near_enough) return SN_OK;
    return sn_fail(
        u->error, SN_ERR_PARSE, line,
        "%.100s can never hold: its bodies are fixed to each other, and it is off by %.3g", owner,
        open);
}

sn_status sn_osim_add_weld(sn_osim *u, const sn_osim_joint *joint, const sn_osim_chain *copy,
                           const sn_osim_body *body, sn_builder *builder) {
    char owner[100];
    sn_loop_desc d = sn_loop_default(SN_LOOP_WELD);
    const sn_frame end[2] = {copy->here, sn_osim_body_frame(body)};
    (void)snprintf(owner, sizeof owner, "joint \"%.80s\"", NAME(u, joint->name));
    d.joint[0] = copy->last;
    d.joint[1] = body->at;
    return add_loop(u, &d, end, owner, joint->line, builder);
}

sn_status sn_osim_add_constraint(sn_osim *u, const sn_osim_constraint *c, sn_builder *builder) {
    char owner[100];
    sn_loop_desc d = sn_loop_default(c->type);
    sn_frame end[2];
    if (c->off) return SN_OK;
    (void)snprintf(owner, sizeof owner, "constraint \"%.80s\"", NAME(u, c->name));
    for (int i = 0; i < 2; i++) {
        int body;
        sn_frame on, inner = sn_osim_frame_of(&c->end[i]);
        if (c->end[i].body == SIZE_MAX)
            return sn_fail(u->error, SN_ERR_PARSE, c->line, "%.100s names only one body", owner);
        SN_TRY(sn_osim_find_body(u, c->own, c->end[i].body, c->line, owner, &body, &on));
        sn_frame outer = sn_osim_body_frame(&u->body[body]);
        outer = frame_mul(&outer, &on);
        end[i] = frame_mul(&outer, &inner);
        d.joint[i] = u->body[body].at;
        if (c->type != SN_LOOP_LINE || i == 0) continue;
        sn_vec3 along = v3_from(c->direction);
        double length = v3_norm(along);
        if (!(length > 0) || !isfinite(length))
            return sn_fail(u->error, SN_ERR_PARSE, c->line,
                           "%.100s needs the direction of its line, <line_direction_vec>", owner);
        along = m3_mul(&outer.R, v3_scale(1 / length, along));
        d.axis[1][0] = along.x, d.axis[1][1] = along.y, d.axis[1][2] = along.z;
    }
    d.distance = c->distance;
    if (c->type == SN_LOOP_DISTANCE && !(d.distance > 0 && isfinite(d.distance)))
        return sn_fail(u->error, SN_ERR_PARSE, c->line,
                       "%.100s needs a <constant_distance> above 0", owner);
    if (c->type != SN_LOOP_DISTANCE) d.distance = 1;
    return add_loop(u, &d, end, owner, c->line, builder);
}
