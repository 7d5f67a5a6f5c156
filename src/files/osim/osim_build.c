// SPDX-License-Identifier: MIT
// From the bodies and joints of an OpenSim file to a model: which body is where, joint after joint from
// ground on, then the markers. What a joint does is in osim_joint.c, what closes loops in osim_loop.c.
#include "files/osim/osim.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "math/vec3.h"
#include "model/model.h"

typedef struct building {
    sn_osim *u;
    sn_builder *builder;
} building;

#define NAME(u, at) ((u)->names + (at))

void sn_osim_note(sn_osim *u, const char *format, ...) {
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

static const char *joint_name(const void *owner, int i) {
    const sn_osim *u = owner;
    return NAME(u, u->joint[i].name);
}

// --- which body is where ----------------------------------------------------------------------------

static sn_status collect_names(sn_osim *u) {
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        sn_names_layout(&u->body_names, u->nbody, &layout);
        sn_names_layout(&u->joint_names, u->njoint, &layout);
        if (pass == 1) break;
        u->tables = sn_acquire(u->allocator, layout.used);
        if (u->tables == NULL) return sn_fail_memory(u->error);
        layout = (sn_layout){.block = u->tables};
    }
    for (int i = 0; i < (int)u->nbody; i++)
        if (sn_names_add(&u->body_names, i, body_name, u) != i)
            return sn_fail(u->error, SN_ERR_PARSE, u->body[i].line,
                           "another body is named \"%.80s\" too", body_name(u, i));
    for (int i = 0; i < (int)u->njoint; i++) {
        int first = sn_names_add(&u->joint_names, i, joint_name, u);
        u->joint[i].named = first == i;
        if (first >= 0) u->joint[first].named = first == i;
    }
    return SN_OK;
}

// The frame that a name means: one's own, or one of a body, of ground, of the model.
static const sn_osim_frame *find_frame(const sn_osim *u, sn_osim_range own, size_t name) {
    for (size_t i = own.first; i < own.first + own.count; i++)
        if (strcmp(NAME(u, u->frame[i].name), NAME(u, name)) == 0) return &u->frame[i];
    for (size_t i = 0; i < u->nframe; i++)
        if (strcmp(NAME(u, u->frame[i].name), NAME(u, name)) == 0) return &u->frame[i];
    return NULL;
}

sn_frame sn_osim_frame_of(const sn_osim_place *place) {
    sn_quat q = {1, 0, 0, 0};
    for (int i = 0; i < 3; i++)
        q = sn_quat_mul(q, sn_quat_exp(v3_scale(place->angles[i], v3_unit(i))));
    return (sn_frame){sn_mat3_from_quat(q), v3_from(place->position)};
}

sn_status sn_osim_find_body(const sn_osim *u, sn_osim_range own, size_t name, int line,
                            const char *owner, int *body, sn_frame *at) {
    *at = (sn_frame){m3_identity(), {0, 0, 0}};
    for (size_t step = 0; step <= u->nframe; step++) {
        // a frame of one's own before a body of the same name
        const sn_osim_frame *f = find_frame(u, own, name);
        bool mine = f != NULL && f >= u->frame + own.first && f < u->frame + own.first + own.count;
        *body = sn_names_find(&u->body_names, NAME(u, name), body_name, u);
        if (*body >= 0 && !mine) return SN_OK;
        if (f == NULL) break;
        if (f->place.body == SIZE_MAX)
            return sn_fail(u->error, SN_ERR_PARSE, line,
                           "%.90s: the frame \"%.60s\" states no parent", owner, NAME(u, f->name));
        sn_frame outer = sn_osim_frame_of(&f->place);
        *at = frame_mul(&outer, at);
        if (mine) own.count = 0;  // its parent is looked for among the bodies first
        name = f->place.body;
    }
    return sn_fail(u->error, SN_ERR_PARSE, line, "%.90s: there is no body or frame \"%.60s\"",
                   owner, NAME(u, name));
}

static sn_status find_ends(const sn_osim *u, sn_osim_joint *j) {
    char owner[100];
    (void)snprintf(owner, sizeof owner, "joint \"%.80s\"", NAME(u, j->name));
    sn_frame parent = sn_osim_frame_of(&j->parent), child = sn_osim_frame_of(&j->child), at;
    SN_TRY(sn_osim_find_body(u, j->own, j->parent.body, j->line, owner, &j->parent_body, &at));
    j->parent_at = frame_mul(&at, &parent);
    SN_TRY(sn_osim_find_body(u, j->own, j->child.body, j->line, owner, &j->child_body, &at));
    j->child_at = frame_mul(&at, &child);
    if (j->parent_body != j->child_body) return SN_OK;
    return sn_fail(u->error, SN_ERR_PARSE, j->line, "joint \"%.60s\" joins \"%.60s\" to itself",
                   NAME(u, j->name), body_name(u, j->parent_body));
}

sn_status sn_osim_connect(sn_osim *u) {
    SN_TRY(collect_names(u));
    for (size_t i = 0; i < u->njoint; i++) SN_TRY(find_ends(u, &u->joint[i]));
    return SN_OK;
}

// --- the chain ---------------------------------------------------------------------------------------

static sn_frame inverse(const sn_frame *f) {
    return (sn_frame){m3_transpose(&f->R), v3_neg(m3_tmul(&f->R, f->p))};
}

sn_frame sn_osim_body_frame(const sn_osim_body *body) {
    const double *r = body->rotation;
    return (sn_frame){sn_mat3_from_quat((sn_quat){r[0], r[1], r[2], r[3]}),
                      v3_from(body->position)};
}

// What a joint does, from one of its bodies to the frame of the other.
static sn_status add_chain(building *b, const sn_osim_joint *j, bool backwards,
                           sn_osim_chain *chain) {
    sn_osim *u = b->u;
    const sn_osim_body *from = &u->body[backwards ? j->child_body : j->parent_body];
    sn_frame start = sn_osim_body_frame(from);
    sn_frame back = inverse(backwards ? &j->parent_at : &j->child_at);
    chain->last = from->at;
    chain->here = frame_mul(&start, backwards ? &j->child_at : &j->parent_at);
    SN_TRY(sn_osim_add_moves(u, j, backwards, b->builder, chain));
    chain->here = frame_mul(&chain->here, &back);
    // a builder that is out of memory says so at the end
    if (chain->last < 0) chain->last = 0;
    return SN_OK;
}

// Place the body at the other end of a joint.
static sn_status place_body(building *b, sn_osim_joint *j, bool backwards) {
    sn_osim_body *to = &b->u->body[backwards ? j->parent_body : j->child_body];
    sn_osim_chain chain;
    SN_TRY(add_chain(b, j, backwards, &chain));
    sn_quat r = sn_quat_from_mat3(chain.here.R);
    const sn_vec3 p = chain.here.p;
    const double position[3] = {p.x, p.y, p.z}, rotation[4] = {r.w, r.x, r.y, r.z};
    to->at = chain.last;
    memcpy(to->position, position, sizeof position);
    memcpy(to->rotation, rotation, sizeof rotation);
    j->used = true;
    return SN_OK;
}

// A joint to a body that hangs on another one: a copy of the body without mass, held to it.
static sn_status close_joint(building *b, sn_osim_joint *j) {
    sn_osim_chain copy;
    SN_TRY(add_chain(b, j, false, &copy));
    j->used = true;
    return sn_osim_add_weld(b->u, j, &copy, &b->u->body[j->child_body], b->builder);
}

// Round after round, joints of which one end is placed; one round is enough for almost every file. Those
// that lead from parent to child come first.
static sn_status add_joints(building *b) {
    sn_osim *u = b->u;
    for (bool more = true, turned = false; more || !turned;) {
        turned = !more;
        more = false;
        for (size_t i = 0; i < u->njoint; i++) {
            sn_osim_joint *j = &u->joint[i];
            bool parent = u->body[j->parent_body].at >= 0, child = u->body[j->child_body].at >= 0;
            if (j->used || parent == child || (child && !turned)) continue;
            SN_TRY(place_body(b, j, child));
            more = true;
            if (child) break;
        }
    }
    for (size_t i = 0; i < u->nbody; i++)
        if (u->body[i].at < 0)
            return sn_fail(u->error, SN_ERR_PARSE, u->body[i].line,
                           "body \"%.80s\" hangs on no joint that leads to ground",
                           body_name(u, (int)i));
    for (size_t i = 0; i < u->njoint; i++)
        if (!u->joint[i].used) SN_TRY(close_joint(b, &u->joint[i]));
    return SN_OK;
}

// A body that is welded on adds to the mass that its joint carries.
static void add_masses(building *b) {
    for (size_t i = 0; i < b->u->nbody; i++) {
        const sn_osim_body *body = &b->u->body[i];
        sn_frame frame = sn_osim_body_frame(body);
        sn_vec3 c = v3_add(frame.p, m3_mul(&frame.R, v3_from(body->centre)));
        const double centre[3] = {c.x, c.y, c.z};
        if (body->mass > 0) sn_builder_add_mass(b->builder, body->at, body->mass, centre);
    }
}

static sn_status add_markers(building *b) {
    const sn_osim_range none = {0, 0};
    sn_osim *u = b->u;
    for (size_t i = 0; i < u->nmarker; i++) {
        const sn_osim_marker *m = &u->marker[i];
        char owner[100];
        int found;
        sn_frame on;
        (void)snprintf(owner, sizeof owner, "marker \"%.80s\"", NAME(u, m->name));
        SN_TRY(sn_osim_find_body(u, none, m->body, m->line, owner, &found, &on));
        sn_frame frame = sn_osim_body_frame(&u->body[found]);
        frame = frame_mul(&frame, &on);
        sn_vec3 p = v3_add(frame.p, m3_mul(&frame.R, v3_from(m->position)));
        sn_marker_desc d = {NAME(u, m->name), u->body[found].at, {p.x, p.y, p.z}, 1};
        (void)sn_builder_marker_at(b->builder, &d, m->line);
    }
    return SN_OK;
}

static void add_frame(building *b, const char *name, const sn_osim_body *body, const sn_frame *on) {
    if (name[0] == '\0' || strlen(name) > SN_MAX_NAME) return;  // no name to be called by
    sn_frame at = sn_osim_body_frame(body);
    at = frame_mul(&at, on);
    sn_quat r = sn_quat_from_mat3(at.R);
    sn_frame_desc d = {name, body->at, {at.p.x, at.p.y, at.p.z}, {r.w, r.x, r.y, r.z}};
    (void)sn_builder_frame(b->builder, &d);
}

// The names that the file has for its bodies and joints, so that tasks may use them: a joint's is that of
// its frame on the child. Ground is a joint of the model already; a body goes before a joint of its name,
// and of joints of one name none is meant.
static void add_frames(building *b) {
    sn_osim *u = b->u;
    const sn_frame none = {m3_identity(), {0, 0, 0}};
    for (size_t i = 1; i < u->nbody; i++)
        add_frame(b, NAME(u, u->body[i].name), &u->body[i], &none);
    for (size_t i = 0; i < u->njoint; i++) {
        const sn_osim_joint *j = &u->joint[i];
        const char *name = NAME(u, j->name);
        if (!j->named || sn_names_find(&u->body_names, name, body_name, u) >= 0) continue;
        add_frame(b, name, &u->body[j->child_body], &j->child_at);
    }
}

// A coordinate of the file in the model: a joint of its name, or one of a function joint's. False when
// nothing moves by it.
static bool find_coordinate(const building *b, size_t name, sn_coordinate *out) {
    const char *word = NAME(b->u, name);
    for (size_t i = 0; i < b->builder->njoint; i++) {
        const sn_joint_desc *d = &b->builder->joint[i].desc;
        *out = (sn_coordinate){(int)i, 0};
        if (d->functions == NULL) {
            bool one = d->type == SN_JOINT_HINGE || d->type == SN_JOINT_SLIDER;
            if (one && strcmp(b->builder->names + b->builder->joint[i].name, word) == 0)
                return true;
            continue;
        }
        for (int k = 0; k < d->functions->ncoordinate; k++, out->index++)
            if (strcmp(d->functions->coordinate[k], word) == 0) return true;
    }
    return false;
}

static sn_status add_coupler(building *b, const sn_osim_coupler *c) {
    sn_osim *u = b->u;
    const sn_osim_function *f = &c->axis.function;
    sn_coupling_desc d = {.nleader = c->axis.ncoordinate,
                          .function = {.type = f->type,
                                       .scale = f->scale,
                                       .nx = (int)f->nx,
                                       .ny = (int)f->ny,
                                       .x = u->numbers + f->x,
                                       .y = u->numbers + f->y}};
    if (c->off) return SN_OK;
    if (c->dependent == SIZE_MAX)
        return sn_fail(u->error, SN_ERR_PARSE, c->axis.line,
                       "coupler \"%.80s\" states no dependent coordinate", NAME(u, c->name));
    bool known = find_coordinate(b, c->dependent, &d.follower);
    for (int k = 0; k < d.nleader; k++)
        known = find_coordinate(b, c->axis.coordinate[k], &d.leader[k]) && known;
    if (known) {
        (void)sn_builder_couple_at(b->builder, &d, c->axis.line);
    } else {
        sn_osim_note(u, "coupler \"%.60s\" is left out: nothing moves by one of its coordinates",
                     NAME(u, c->name));
    }
    return SN_OK;
}

static sn_status build(sn_osim *u, sn_model **out) {
    building b = {.u = u};
    u->work = sn_acquire(u->allocator, (6 * u->nnumbers + 512) * sizeof *u->work);
    if (u->work == NULL ||
        sn_builder_create(NAME(u, u->name), u->allocator, &b.builder, NULL) != SN_OK)
        return sn_fail_memory(u->error);
    sn_joint_desc ground = sn_joint_default(SN_JOINT_FIXED);
    ground.name = "ground";
    (void)sn_builder_joint(b.builder, &ground);
    sn_status status = add_joints(&b);
    if (status == SN_OK) add_masses(&b);
    if (status == SN_OK) status = add_markers(&b);
    if (status == SN_OK) add_frames(&b);
    for (size_t i = 0; i < u->ncoupler && status == SN_OK; i++)
        status = add_coupler(&b, &u->coupler[i]);
    for (size_t i = 0; i < u->nconstraint && status == SN_OK; i++)
        status = sn_osim_add_constraint(u, &u->constraint[i], b.builder);
    if (status == SN_OK) status = sn_builder_finish(b.builder, out, u->error);
    sn_builder_destroy(b.builder);
    return status;
}

void sn_osim_end(sn_osim *u) {
    const sn_allocator *allocator = u->allocator;
    sn_release(allocator, u->names);
    sn_release(allocator, u->numbers);
    sn_release(allocator, u->body);
    sn_release(allocator, u->joint);
    sn_release(allocator, u->frame);
    sn_release(allocator, u->coordinate);
    sn_release(allocator, u->marker);
    sn_release(allocator, u->coupler);
    sn_release(allocator, u->constraint);
    sn_release(allocator, u->tables);
    sn_release(allocator, u->work);
}

// What the location of each marker is measured in, seen from the joint it hangs on.
static sn_status find_marker_frames(const sn_osim *u, sn_frame **out) {
    const sn_osim_range none = {0, 0};
    sn_frame *frames = sn_acquire(u->allocator, (u->nmarker + 1) * sizeof *frames);
    if (frames == NULL) return sn_fail_memory(u->error);
    *out = frames;
    for (size_t i = 0; i < u->nmarker; i++) {
        const sn_osim_marker *m = &u->marker[i];
        int found;
        sn_frame on;
        SN_TRY(sn_osim_find_body(u, none, m->body, m->line, "marker", &found, &on));
        sn_frame frame = sn_osim_body_frame(&u->body[found]);
        frames[i] = frame_mul(&frame, &on);
    }
    return SN_OK;
}

sn_status sn_osim_read_frames(const char *text, size_t length, const sn_allocator *allocator,
                              sn_model **out, sn_osim_coordinates **coordinates, sn_osim_info *info,
                              sn_frame **frames, sn_error *error) {
    sn_osim u = {.allocator = allocator, .error = error};
    sn_status status = sn_osim_parse(&u, text, length);
    if (status == SN_OK) status = sn_osim_connect(&u);
    if (status == SN_OK) status = build(&u, out);
    if (status == SN_OK && u.nstranger > 0)
        sn_osim_note(&u, "%d constraint%s left out, of kinds that are not read", u.nstranger,
                     u.nstranger == 1 ? " is" : "s are");
    if (status == SN_OK && coordinates != NULL)
        status = sn_osim_coordinates_make(&u, *out, coordinates);
    if (status == SN_OK && frames != NULL) status = find_marker_frames(&u, frames);
    if (status != SN_OK) {
        sn_model_destroy(*out);
        *out = NULL;
    }
    u.info.nbody = (int)u.nbody - 1;
    u.info.njoint = (int)u.njoint;
    u.info.ncoordinate = (int)u.ncoordinate;
    if (info != NULL) *info = status == SN_OK ? u.info : (sn_osim_info){0};
    sn_osim_end(&u);
    return status;
}

sn_status sn_osim_read(const char *text, size_t length, const sn_allocator *allocator,
                       sn_model **out, sn_osim_coordinates **coordinates, sn_osim_info *info,
                       sn_error *error) {
    if (out != NULL) *out = NULL;
    if (coordinates != NULL) *coordinates = NULL;
    if (length > 0) SN_NEED(text, error);
    SN_NEED(out, error);
    return sn_osim_read_frames(text != NULL ? text : "", length, allocator, out, coordinates, info,
                               NULL, error);
}
