// SPDX-License-Identifier: MIT
// From the bodies and joints of an OpenSim file to a model.
//
// A joint leads from a frame F in its parent body to a frame M in its child. With the three rotations
// R1 R2 R3 about axes a1 a2 a3 and the translations t1 t2 t3 along axes b1 b2 b3,
//
//   R = R1 R2 R3        p = b1 t1 + b2 t2 + b3 t3        (M in F)
//
// which is a chain: sliders along the b's, then hinges about the a's. What does not move is put into the
// offset of the next joint.
//
// A knee: p follows the hinge's own angle x. A hinge whose place is c away from M's origin carries it on
// a circle, p = p0 + c - R(x) c. In the plane across the axis, with complex numbers, and exact at the
// default angle x0:
//
//   p(x) - p(x0) = c (e^(i x0) - e^(i x))
//
// of which c is the least-squares solution over the angle's range.
#include "formats/osim.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "math/vec3.h"
#include "model/model.h"

enum { SAMPLES = 65 };  // over a coordinate's range

// What an axis of a joint does: with `moves`, slope q + value of coordinate q, else value.
typedef struct motion {
    bool moves;
    int coordinate;  // -1: it follows none
    double slope, value;
    sn_vec3 axis;
} motion;

typedef struct building {
    sn_osim *u;
    sn_builder *builder;
    double *work;
    motion motion[SN_OSIM_AXES];  // of the joint at hand
    int last;                     // joint of the model that the chain has reached
    sn_frame here;                // where the chain is in its frame
    sn_vec3 centre;               // c in the frame of the hinge, 0 without one
    int count;                    // joints of the model
} building;

#define NAME(u, at) ((u)->names + (at))

static void note(sn_osim *u, const char *format, ...) SN_PRINTF(2, 3);

static void note(sn_osim *u, const char *format, ...) {
    char *text = u->info.note;
    size_t used = strlen(text), room = sizeof u->info.note;
    if (used + 5 >= room) return;
    if (used > 0) used += (size_t)snprintf(text + used, room - used, "; ");
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text + used, room - used, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= room - used) memcpy(text + room - 4, "...", 4);
}

static const char *body_name(const void *owner, int i) {
    const sn_osim *u = owner;
    return NAME(u, u->body[i].name);
}

// --- which body is where ----------------------------------------------------------------------------

static sn_status collect_names(sn_osim *u) {
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        sn_names_layout(&u->body_names, u->nbody, &layout);
        if (pass == 1) break;
        u->tables = sn_acquire(u->allocator, layout.used);
        if (u->tables == NULL) return sn_fail_memory(u->error);
        layout = (sn_layout){.block = u->tables};
    }
    for (int i = 0; i < (int)u->nbody; i++)
        if (sn_names_add(&u->body_names, i, body_name, u) != i)
            return sn_fail(u->error, SN_ERR_PARSE, u->body[i].line,
                           "another body is named \"%.80s\" too", body_name(u, i));
    return SN_OK;
}

// The body of a place; a frame of the joint's own stands between them in version 4.
static sn_status find_body(const sn_osim *u, const sn_osim_joint *j, sn_osim_place *place,
                           int *out) {
    for (size_t i = 0; i < j->nframe; i++) {
        const sn_osim_frame *f = &u->frame[j->frame + i];
        if (strcmp(NAME(u, f->name), NAME(u, place->body)) != 0) continue;
        *place = f->place;
        if (place->body == SIZE_MAX)
            return sn_fail(u->error, SN_ERR_PARSE, j->line,
                           "joint \"%.60s\": its frame \"%.60s\" states no parent",
                           NAME(u, j->name), NAME(u, f->name));
        break;
    }
    *out = sn_names_find(&u->body_names, NAME(u, place->body), body_name, u);
    if (*out >= 0) return SN_OK;
    return sn_fail(u->error, SN_ERR_PARSE, j->line,
                   "joint \"%.60s\": there is no body or frame of the joint \"%.60s\"",
                   NAME(u, j->name), NAME(u, place->body));
}

static sn_status connect(sn_osim *u) {
    SN_TRY(collect_names(u));
    for (int i = 0; i < (int)u->njoint; i++) {
        sn_osim_joint *j = &u->joint[i];
        SN_TRY(find_body(u, j, &j->parent, &j->parent_body));
        SN_TRY(find_body(u, j, &j->child, &j->child_body));
        sn_osim_body *child = &u->body[j->child_body];
        if (j->child_body == 0)
            return sn_fail(u->error, SN_ERR_PARSE, j->line,
                           "joint \"%.80s\" has ground as its child", NAME(u, j->name));
        if (child->joint >= 0)
            return sn_fail(u->error, SN_ERR_PARSE, j->line,
                           "body \"%.60s\" is the child of joint \"%.60s\" and of joint \"%.60s\"",
                           NAME(u, child->name), NAME(u, u->joint[child->joint].name),
                           NAME(u, j->name));
        child->joint = i;
    }
    return SN_OK;
}

// --- what a joint's axes do ------------------------------------------------------------------------

static int find_coordinate(const sn_osim *u, const sn_osim_joint *j, size_t name) {
    for (size_t i = j->coordinate; i < j->coordinate + j->ncoordinate; i++)
        if (strcmp(NAME(u, u->coordinate[i].name), NAME(u, name)) == 0) return (int)i;
    return -1;
}

static double value_at(const building *b, const sn_osim_joint *j, int k, double q) {
    return sn_osim_value(b->u, &j->axis[k].function, q, b->work);
}

// An axis moves a coordinate when it does so evenly and no axis before it does.
static sn_status plan_axis(building *b, const sn_osim_joint *j, int k) {
    const sn_osim *u = b->u;
    const sn_osim_axis *a = &j->axis[k];
    const sn_osim_function *f = &a->function;
    motion *m = &b->motion[k];
    *m = (motion){.coordinate = -1, .axis = v3_from(a->axis)};
    if (a->coordinate != SIZE_MAX) {
        m->coordinate = find_coordinate(u, j, a->coordinate);
        if (m->coordinate < 0)
            return sn_fail(u->error, SN_ERR_PARSE, a->line,
                           "joint \"%.60s\" follows \"%.60s\", which is no coordinate of it",
                           NAME(u, j->name), NAME(u, a->coordinate));
    }
    const sn_osim_coordinate *c = m->coordinate >= 0 ? &u->coordinate[m->coordinate] : NULL;
    m->slope = f->kind == SN_OSIM_LINEAR ? f->scale * u->numbers[f->y] : 0;
    m->moves = c != NULL && m->slope != 0 && !(c->locked && c->value != 0);
    for (int i = 0; i < k; i++)
        if (b->motion[i].moves && b->motion[i].coordinate == m->coordinate) m->moves = false;
    m->value =
        m->moves ? f->scale * u->numbers[f->y + 1] : value_at(b, j, k, c != NULL ? c->value : 0);
    double length = v3_norm(m->axis);
    bool still = !m->moves && m->coordinate < 0 && m->value == 0;
    if (!(length > 0) && !still)
        return sn_fail(u->error, SN_ERR_PARSE, a->line, "joint \"%.80s\": an axis is 0 0 0",
                       NAME(u, j->name));
    if (!isfinite(m->value) || !isfinite(m->slope) || fabs(m->value) > 1e50)
        return sn_fail(
            u->error, SN_ERR_PARSE, a->line,
            "joint \"%.80s\": a function has no finite value at the coordinate's default",
            NAME(u, j->name));
    // rotations are about the axis, whatever its length; translations are along it times its length
    if (length > 0) m->axis = v3_scale(1 / length, m->axis);
    if (k >= 3) m->slope *= length, m->value *= length;
    return SN_OK;
}

static bool follows(const building *b, int k) {
    return !b->motion[k].moves && b->motion[k].coordinate >= 0;
}

static sn_quat about(sn_vec3 axis, double angle) { return sn_quat_exp(v3_scale(angle, axis)); }

static sn_mat3 about_matrix(sn_vec3 axis, double angle) {
    return sn_mat3_from_quat(about(axis, angle));
}

// How far the axes that follow coordinate c are from where they are held.
typedef struct drift {
    sn_vec3 moved;  // translations
    double turned;  // the largest of the rotations, radians
} drift;

static drift drift_at(const building *b, const sn_osim_joint *j, int c, double q) {
    drift d = {{0, 0, 0}, 0};
    for (int k = 0; k < SN_OSIM_AXES; k++) {
        if (!follows(b, k) || b->motion[k].coordinate != c) continue;
        double length = k >= 3 ? v3_norm(v3_from(j->axis[k].axis)) : 1;
        double off = length * value_at(b, j, k, q) - b->motion[k].value;
        if (k >= 3) d.moved = v3_add(d.moved, v3_scale(off, b->motion[k].axis));
        if (k < 3) d.turned = fmax(d.turned, fabs(off));
    }
    return d;
}

static double sample(const sn_osim_coordinate *c, int i) {
    return c->range[0] + (c->range[1] - c->range[0]) * i / (SAMPLES - 1);
}

// The rotation that coordinate c moves when it is the joint's only one; -1: there is none.
static int only_hinge(const building *b, int c) {
    int found = -1;
    for (int k = 0; k < 3; k++) {
        if (!b->motion[k].moves) continue;
        if (found >= 0 || b->motion[k].coordinate != c) return -1;
        found = k;
    }
    return found;
}

// The hinge's axis in F: the constant rotations before it turn it.
static sn_mat3 before_hinge(const building *b, int hinge) {
    sn_mat3 R = m3_identity();
    for (int k = 0; k < hinge; k++) {
        sn_mat3 next = about_matrix(b->motion[k].axis, b->motion[k].value);
        R = m3_mulm(&R, &next);
    }
    return R;
}

// c of the head of this file, in F.
static sn_vec3 fit_centre(const building *b, const sn_osim_joint *j, int c, int hinge,
                          sn_vec3 axis) {
    const sn_osim_coordinate *q = &b->u->coordinate[c];
    const motion *m = &b->motion[hinge];
    sn_mat3 start = about_matrix(axis, m->slope * q->value + m->value);
    sn_vec3 u = v3_cross(axis, v3_unit(fabs(axis.x) < 0.6 ? 0 : 1));
    u = v3_scale(1 / v3_norm(u), u);
    sn_vec3 v = v3_cross(axis, u);
    double re = 0, im = 0, square = 0;
    for (int i = 0; i < SAMPLES; i++) {
        double x = sample(q, i);
        sn_vec3 d = drift_at(b, j, c, x).moved;
        sn_mat3 R = about_matrix(axis, m->slope * x + m->value);
        sn_vec3 w = v3_sub(m3_mul(&start, u), m3_mul(&R, u));
        double wr = v3_dot(w, u), wi = v3_dot(w, v), dr = v3_dot(d, u), di = v3_dot(d, v);
        re += wr * dr + wi * di;  // conj(w) d
        im += wr * di - wi * dr;
        square += wr * wr + wi * wi;
    }
    if (!(square > 0) || !isfinite(re) || !isfinite(im)) return v3(0, 0, 0);
    return v3_add(v3_scale(re / square, u), v3_scale(im / square, v));
}

// Put the hinge in its place, and tell how far off the joint is over the range of coordinate c.
static void settle_coordinate(building *b, const sn_osim_joint *j, int c) {
    sn_osim *u = b->u;
    const sn_osim_coordinate *q = &u->coordinate[c];
    int hinge = only_hinge(b, c);
    sn_vec3 centre = {0, 0, 0}, axis = {0, 0, 1};
    sn_mat3 before = m3_identity(), start = before;
    if (hinge >= 0) {
        before = before_hinge(b, hinge);
        axis = m3_mul(&before, b->motion[hinge].axis);
        start = about_matrix(axis, b->motion[hinge].slope * q->value + b->motion[hinge].value);
        centre = fit_centre(b, j, c, hinge, axis);
    }
    double held = 0, off = 0, turned = 0;
    for (int i = 0; i < SAMPLES; i++) {
        double x = sample(q, i);
        drift d = drift_at(b, j, c, x);
        sn_vec3 carried = {0, 0, 0};
        if (hinge >= 0) {
            sn_mat3 R = about_matrix(axis, b->motion[hinge].slope * x + b->motion[hinge].value);
            carried = v3_sub(m3_mul(&start, centre), m3_mul(&R, centre));
        }
        held = fmax(held, v3_norm(d.moved));
        off = fmax(off, v3_norm(v3_sub(d.moved, carried)));
        turned = fmax(turned, d.turned);
    }
    if (hinge >= 0) {
        b->here.p = v3_add(b->here.p, m3_mul(&b->here.R, m3_mul(&start, centre)));
        b->centre = m3_tmul(&before, centre);
    }
    const char *joint = NAME(u, j->name), *name = NAME(u, q->name);
    if (held > 0 && v3_norm(centre) > 0)
        note(u, "%.60s moves by up to %.1f mm with %.60s; as a hinge it is up to %.1f mm off",
             joint, 1e3 * held, name, 1e3 * off);
    else if (held > 0)
        note(u, "%.60s moves by up to %.1f mm with %.60s, which is left out", joint, 1e3 * held,
             name);
    if (turned > 0)
        note(u, "%.60s turns by up to %.1f degrees with %.60s, which is left out", joint,
             turned * 57.29577951308232, name);
}

// --- the chain ---------------------------------------------------------------------------------------

static void add_joint(building *b, int k) {
    sn_osim *u = b->u;
    const motion *m = &b->motion[k];
    const sn_osim_coordinate *c = &u->coordinate[m->coordinate];
    sn_joint_desc d = sn_joint_default(k < 3 ? SN_JOINT_HINGE : SN_JOINT_SLIDER);
    d.name = NAME(u, c->name);
    d.parent = b->last;
    d.position[0] = b->here.p.x, d.position[1] = b->here.p.y, d.position[2] = b->here.p.z;
    sn_quat r = sn_quat_from_mat3(b->here.R);
    d.rotation[0] = r.w, d.rotation[1] = r.x, d.rotation[2] = r.y, d.rotation[3] = r.z;
    sn_vec3 axis = m->slope < 0 ? v3_neg(m->axis) : m->axis;
    d.axis[0] = axis.x, d.axis[1] = axis.y, d.axis[2] = axis.z;
    double scale = fabs(m->slope);
    if (c->clamped) d.lower[0] = scale * c->range[0], d.upper[0] = scale * c->range[1];
    d.locked[0] = c->locked;
    if (scale != 1) note(u, "%.60s is %.6g times what it is in the file", d.name, scale);
    (void)sn_builder_joint_at(b->builder, &d, c->line);
    b->last = b->count++;
    b->here = (sn_frame){m3_identity(), {0, 0, 0}};
}

static void add_axis(building *b, int k) {
    const motion *m = &b->motion[k];
    if (k < 3) {
        sn_mat3 R = about_matrix(m->axis, m->value);
        b->here.R = m3_mulm(&b->here.R, &R);
    } else {
        b->here.p = v3_add(b->here.p, m3_mul(&b->here.R, v3_scale(m->value, m->axis)));
    }
    if (!m->moves) return;
    add_joint(b, k);
    if (k < 3) {
        b->here.p = v3_neg(b->centre);
        b->centre = v3(0, 0, 0);
    }
}

static sn_frame place_frame(const sn_osim_place *place) {
    sn_quat q = {1, 0, 0, 0};
    for (int i = 0; i < 3; i++) q = sn_quat_mul(q, about(v3_unit(i), place->angles[i]));
    return (sn_frame){sn_mat3_from_quat(q), v3_from(place->position)};
}

static sn_frame inverse(const sn_frame *f) {
    return (sn_frame){m3_transpose(&f->R), v3_neg(m3_tmul(&f->R, f->p))};
}

static sn_frame body_frame(const sn_osim_body *body) {
    const double *r = body->rotation;
    return (sn_frame){sn_mat3_from_quat((sn_quat){r[0], r[1], r[2], r[3]}),
                      v3_from(body->position)};
}

static void tell_unmoved(building *b, const sn_osim_joint *j) {
    sn_osim *u = b->u;
    for (size_t i = j->coordinate; i < j->coordinate + j->ncoordinate; i++) {
        const sn_osim_coordinate *c = &u->coordinate[i];
        bool moves = false;
        for (int k = 0; k < SN_OSIM_AXES; k++)
            moves |= b->motion[k].moves && b->motion[k].coordinate == (int)i;
        if (!moves)
            note(u, "%.60s is held at %.6g%s", NAME(u, c->name), c->value,
                 c->locked ? ", where it is locked" : "");
    }
}

static sn_status add_chain(building *b, const sn_osim_joint *j) {
    sn_osim *u = b->u;
    const sn_osim_body *parent = &u->body[j->parent_body];
    sn_frame start = body_frame(parent), offset = place_frame(&j->parent);
    sn_frame child = place_frame(&j->child), back = inverse(&child);
    for (int k = 0; k < SN_OSIM_AXES; k++) SN_TRY(plan_axis(b, j, k));
    b->last = parent->at;
    b->here = frame_mul(&start, &offset);
    b->centre = v3(0, 0, 0);
    for (int k = 0; k < SN_OSIM_AXES; k++) {
        bool first = follows(b, k);
        for (int i = 0; i < k; i++)
            if (follows(b, i) && b->motion[i].coordinate == b->motion[k].coordinate) first = false;
        if (first && !u->coordinate[b->motion[k].coordinate].locked)
            settle_coordinate(b, j, b->motion[k].coordinate);
    }
    for (int k = 3; k < SN_OSIM_AXES; k++) add_axis(b, k);
    for (int k = 0; k < 3; k++) add_axis(b, k);
    tell_unmoved(b, j);
    sn_osim_body *body = &u->body[j->child_body];
    sn_frame end = frame_mul(&b->here, &back);
    sn_quat r = sn_quat_from_mat3(end.R);
    body->at = b->last;
    body->position[0] = end.p.x, body->position[1] = end.p.y, body->position[2] = end.p.z;
    body->rotation[0] = r.w, body->rotation[1] = r.x, body->rotation[2] = r.y,
    body->rotation[3] = r.z;
    return SN_OK;
}

// Round after round, joints whose parent is placed; one round is enough for almost every file.
static sn_status add_joints(building *b) {
    sn_osim *u = b->u;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < u->njoint; i++) {
            const sn_osim_joint *j = &u->joint[i];
            if (u->body[j->child_body].at >= 0 || u->body[j->parent_body].at < 0) continue;
            SN_TRY(add_chain(b, j));
            more = true;
        }
    }
    for (size_t i = 0; i < u->nbody; i++)
        if (u->body[i].at < 0)
            return sn_fail(u->error, SN_ERR_PARSE, u->body[i].line,
                           "body \"%.80s\" hangs on no joint that leads to ground",
                           body_name(u, (int)i));
    return SN_OK;
}

static sn_status add_markers(building *b) {
    sn_osim *u = b->u;
    for (size_t i = 0; i < u->nmarker; i++) {
        const sn_osim_marker *m = &u->marker[i];
        int found = sn_names_find(&u->body_names, NAME(u, m->body), body_name, u);
        if (found < 0)
            return sn_fail(u->error, SN_ERR_PARSE, m->line,
                           "marker \"%.80s\" sits on \"%.80s\", but there is no such body",
                           NAME(u, m->name), NAME(u, m->body));
        sn_frame frame = body_frame(&u->body[found]);
        sn_vec3 p = v3_add(frame.p, m3_mul(&frame.R, v3_from(m->position)));
        sn_marker_desc d = {NAME(u, m->name), u->body[found].at, {p.x, p.y, p.z}, 1};
        (void)sn_builder_marker_at(b->builder, &d, m->line);
    }
    return SN_OK;
}

static sn_status build(sn_osim *u, sn_model **out) {
    building b = {.u = u, .count = 1};
    b.work = sn_acquire(u->allocator, 3 * (u->nnumbers + 2) * sizeof *b.work);
    if (b.work == NULL || sn_builder_create(NAME(u, u->name), u->allocator, &b.builder) != SN_OK) {
        sn_release(u->allocator, b.work);
        return sn_fail_memory(u->error);
    }
    sn_joint_desc ground = sn_joint_default(SN_JOINT_FIXED);
    ground.name = "ground";
    (void)sn_builder_joint(b.builder, &ground);
    sn_status status = add_joints(&b);
    if (status == SN_OK) status = add_markers(&b);
    if (status == SN_OK) status = sn_builder_finish(b.builder, out, u->error);
    sn_builder_destroy(b.builder);
    sn_release(u->allocator, b.work);
    return status;
}

sn_status sn_osim_read(const char *text, size_t length, const sn_allocator *allocator,
                       sn_model **out, sn_osim_info *info, sn_error *error) {
    if (out != NULL) *out = NULL;
    if ((text == NULL && length > 0) || out == NULL) return sn_fail_missing(error);
    if (text == NULL) text = "";
    sn_osim u = {.allocator = allocator, .error = error};
    sn_status status = sn_osim_parse(&u, text, length);
    if (status == SN_OK) status = connect(&u);
    if (status == SN_OK) status = build(&u, out);
    if (status == SN_OK && u.nconstraint > 0)
        note(&u, "%d constraint%s between coordinates or bodies left out", u.nconstraint,
             u.nconstraint == 1 ? " is" : "s are");
    u.info.nbody = (int)u.nbody - 1;
    u.info.njoint = (int)u.njoint;
    u.info.ncoordinate = (int)u.ncoordinate;
    if (info != NULL) *info = status == SN_OK ? u.info : (sn_osim_info){0};
    sn_release(allocator, u.names);
    sn_release(allocator, u.numbers);
    sn_release(allocator, u.body);
    sn_release(allocator, u.joint);
    sn_release(allocator, u.frame);
    sn_release(allocator, u.coordinate);
    sn_release(allocator, u.marker);
    sn_release(allocator, u.tables);
    return status;
}
