// SPDX-License-Identifier: MIT
// From the bodies of an MJCF file to a model.
//
// A body sits at T = (position, rotation) in its parent. Its joints act one after the other, the
// first the outermost, each about its own anchor a_k, a point of the body:
//
//   body = parent . T . A_1 M_1 A_1^-1 . A_2 M_2 A_2^-1 ...      A_k: the translation to a_k
//
// so joint k of the model sits at a_k - a_(k-1) in the frame of the one before it, and the body's
// origin at -a_n in the frame of the last. A coordinate x stands for x - ref: a hinge's frame is
// turned back by ref, a slider's moved back.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files/mjcf/mjcf.h"
#include "files/note.h"
#include "math/vec3.h"
#include "model/model.h"

typedef struct building {
    sn_mjcf *u;
    sn_builder *builder;
    void *block;        // behind all below
    size_t *node_name;  // of the model's joints
    int nnode;
    sn_names nodes, given;  // of the model's joints so far; of the file's that have a name
    size_t *marker_name;
    int nmarker;
    sn_names markers;
} building;

static const char *node_name(const void *owner, int i) {
    const building *b = owner;
    return b->u->names + b->node_name[i];
}

static const char *given_name(const void *owner, int i) {
    const building *b = owner;
    return b->u->names + b->u->joint[i].name;
}

static const char *marker_name(const void *owner, int i) {
    const building *b = owner;
    return b->u->names + b->marker_name[i];
}

// --- names -------------------------------------------------------------------------------------------

static sn_status layout_names(building *b) {
    const sn_mjcf *u = b->u;
    size_t most = u->nbody + u->njoint + u->nsite + 1;
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        b->node_name = sn_layout_take(&layout, most, sizeof *b->node_name);
        b->marker_name = sn_layout_take(&layout, most, sizeof *b->marker_name);
        sn_names_layout(&b->nodes, most, &layout);
        sn_names_layout(&b->given, most, &layout);
        sn_names_layout(&b->markers, most, &layout);
        if (pass == 1) break;
        b->block = sn_acquire(u->allocator, layout.used);
        if (b->block == NULL) return sn_fail_memory(u->error);
        layout = (sn_layout){.block = b->block};
    }
    for (int i = 0; i < (int)u->njoint; i++) {
        const sn_mjcf_joint *j = &u->joint[i];
        if (j->name == SIZE_MAX || sn_names_add(&b->given, i, given_name, b) == i) continue;
        return sn_fail(u->error, SN_ERR_PARSE, j->line, "another joint is named \"%.80s\" too",
                       u->names + j->name);
    }
    return SN_OK;
}

// A name that no joint has: `wanted`, or with a number behind it.
static sn_status make_name(building *b, const char *wanted, size_t *at) {
    sn_mjcf *u = b->u;
    char text[SN_MAX_NAME + 1];
    for (int number = 1;; number++) {
        if (number == 1) {
            (void)snprintf(text, sizeof text, "%s", wanted);
        } else {
            (void)snprintf(text, sizeof text, "%.*s_%d", SN_MAX_NAME - 12, wanted, number);
        }
        if (sn_names_find(&b->nodes, text, node_name, b) < 0 &&
            sn_names_find(&b->given, text, given_name, b) < 0)
            break;
    }
    size_t bytes = strlen(text) + 1;
    SN_TRY(SN_MJCF_ROOM(u, names, bytes));
    *at = u->nnames;
    memcpy(u->names + *at, text, bytes);
    u->nnames += bytes;
    return SN_OK;
}

static void add_name(building *b, size_t name) {
    b->node_name[b->nnode] = name;
    (void)sn_names_add(&b->nodes, b->nnode, node_name, b);
}

// What joints are called that have no name of their own.
static void body_word(const sn_mjcf *u, int body, char out[SN_MAX_NAME + 1]) {
    size_t name = u->body[body].name;
    if (name != SIZE_MAX) {
        (void)snprintf(out, SN_MAX_NAME + 1, "%s", u->names + name);
    } else {
        (void)snprintf(out, SN_MAX_NAME + 1, "body_%d", body);
    }
}

// --- the order of joints -----------------------------------------------------------------------------

// Joints by body, in the order of the file within each: a joint may stand behind a child body.
static sn_status sort_joints(sn_mjcf *u) {
    if (u->njoint == 0) return SN_OK;
    sn_mjcf_joint *sorted = sn_acquire(u->allocator, u->njoint * sizeof *sorted);
    if (sorted == NULL) return sn_fail_memory(u->error);
    for (size_t i = 0; i < u->njoint; i++) u->body[u->joint[i].body].njoint++;
    size_t next = 0;
    for (size_t i = 0; i < u->nbody; i++) {
        u->body[i].joint = next;
        next += u->body[i].njoint;
        u->body[i].njoint = 0;
    }
    for (size_t i = 0; i < u->njoint; i++) {
        sn_mjcf_body *body = &u->body[u->joint[i].body];
        sorted[body->joint + body->njoint++] = u->joint[i];
    }
    memcpy(u->joint, sorted, u->njoint * sizeof *sorted);
    sn_release(u->allocator, sorted);
    return SN_OK;
}

static sn_status check_joints(sn_mjcf *u) {
    for (size_t i = 0; i < u->njoint; i++) {
        const sn_mjcf_joint *j = &u->joint[i];
        const sn_mjcf_body *body = &u->body[j->body];
        if (j->values.type != SN_MJCF_FREE) continue;
        if (body->parent != 0)
            return sn_fail(u->error, SN_ERR_PARSE, j->line,
                           "a free joint must be in a body that hangs on the world");
        if (body->njoint > 1)
            return sn_fail(u->error, SN_ERR_PARSE, j->line,
                           "a body with a free joint cannot have another joint");
    }
    return SN_OK;
}

// --- joints ------------------------------------------------------------------------------------------

static sn_status set_range(building *b, const sn_mjcf_joint *j, sn_joint_desc *d) {
    const sn_mjcf *u = b->u;
    const sn_mjcf_values *v = &j->values;
    bool range = v->has & SN_MJCF_HAS_RANGE;
    bool limited = v->limited == 1 || (v->limited == 2 && u->auto_limits && range);
    if (!limited) return SN_OK;
    if (v->type == SN_MJCF_BALL) {
        // how far it may turn from rest, about any axis; a whole turn is no limit
        d->turn = sn_mjcf_angle(u, v->range[1]);
        if (v->range[0] == 0 && d->turn > 0) return SN_OK;
        return sn_fail(
            u->error, SN_ERR_PARSE, j->line,
            "<joint>: the range of a ball joint is 0 and an angle above it, not %g to %g",
            v->range[0], v->range[1]);
    }
    bool hinge = v->type == SN_MJCF_HINGE;
    d->lower[0] = hinge ? sn_mjcf_angle(u, v->range[0]) : v->range[0];
    d->upper[0] = hinge ? sn_mjcf_angle(u, v->range[1]) : v->range[1];
    if (v->range[0] < v->range[1]) return SN_OK;
    return sn_fail(u->error, SN_ERR_PARSE, j->line,
                   "<joint>: it is limited, but its range is %g to %g", v->range[0], v->range[1]);
}

// Where the chain is: in the frame of joint `node`, turned and moved.
typedef struct here {
    int node;
    sn_vec3 p;
    sn_quat q;
} here;

static sn_vec3 turned(sn_quat q, sn_vec3 x) {
    sn_mat3 R = sn_mat3_from_quat(q);
    return m3_mul(&R, x);
}

static void put3(sn_vec3 v, double out[3]) { out[0] = v.x, out[1] = v.y, out[2] = v.z; }
static void put4(sn_quat q, double out[4]) {
    out[0] = q.w, out[1] = q.x, out[2] = q.y, out[3] = q.z;
}
static sn_quat quat_from(const double q[4]) { return (sn_quat){q[0], q[1], q[2], q[3]}; }

static sn_status add_joint(building *b, sn_mjcf_joint *j, here *at, bool last) {
    static const sn_joint_type types[] = {SN_JOINT_FREE, SN_JOINT_BALL, SN_JOINT_SLIDER,
                                          SN_JOINT_HINGE};
    sn_mjcf *u = b->u;
    const sn_mjcf_values *v = &j->values;
    const sn_mjcf_body *body = &u->body[j->body];
    sn_joint_desc d = sn_joint_default(types[v->type]);
    size_t name = j->name;
    if (name == SIZE_MAX) {
        char word[SN_MAX_NAME + 1];
        body_word(u, j->body, word);
        SN_TRY(make_name(b, word, &name));
    }
    add_name(b, name);
    sn_vec3 anchor = v3_from(v->position), axis = v3_from(v->axis);
    sn_quat q = at->q;
    sn_vec3 p = v3_add(at->p, turned(q, anchor));
    double length = v3_norm(axis), ref = v->ref;
    if (v->type == SN_MJCF_FREE) p = v3(0, 0, 0), q = (sn_quat){1, 0, 0, 0};
    if (v->type == SN_MJCF_SLIDE && ref != 0)
        p = v3_sub(p, turned(q, v3_scale(ref / length, axis)));
    if (v->type == SN_MJCF_HINGE && ref != 0)
        q = sn_quat_mul(q, sn_quat_exp(v3_scale(-sn_mjcf_angle(u, ref) / length, axis)));
    d.name = u->names + name;
    d.parent = at->node;
    put3(p, d.position);
    put4(q, d.rotation);
    if (v->type == SN_MJCF_SLIDE || v->type == SN_MJCF_HINGE) put3(axis, d.axis);
    SN_TRY(set_range(b, j, &d));
    if (last) {
        d.mass = body->mass;
        put3(v3_sub(v3_from(body->centre), anchor), d.centre);
        if (body->mass == 0) put3(v3(0, 0, 0), d.centre);
    }
    j->node = b->nnode++;
    (void)sn_builder_joint_at(b->builder, &d, j->line);
    // what follows starts in this joint's frame, whose origin is the anchor
    *at = (here){j->node, v3_neg(anchor), {1, 0, 0, 0}};
    return SN_OK;
}

// A joint that does not move: of a body that is welded on, of a site that is turned.
static sn_status add_fixed(building *b, const char *word, const here *at, int line, double mass,
                           const double centre[3], int *node) {
    sn_joint_desc d = sn_joint_default(SN_JOINT_FIXED);
    size_t name;
    SN_TRY(make_name(b, word, &name));
    add_name(b, name);
    d.name = b->u->names + name;
    d.parent = at->node;
    put3(at->p, d.position);
    put4(at->q, d.rotation);
    d.mass = mass;
    if (mass > 0) memcpy(d.centre, centre, sizeof d.centre);
    *node = b->nnode++;
    (void)sn_builder_joint_at(b->builder, &d, line);
    return SN_OK;
}

static sn_status add_body(building *b, int i) {
    sn_mjcf *u = b->u;
    sn_mjcf_body *body = &u->body[i];
    const sn_mjcf_body *parent = &u->body[body->parent];
    here at = {parent->node, v3_add(v3_from(parent->shift), v3_from(body->position)),
               quat_from(body->rotation)};
    if (!body->has_mass) u->nuntold++;
    for (size_t k = 0; k < body->njoint; k++)
        SN_TRY(add_joint(b, &u->joint[body->joint + k], &at, k + 1 == body->njoint));
    if (body->njoint == 0) {
        char word[SN_MAX_NAME + 1];
        body_word(u, i, word);
        SN_TRY(add_fixed(b, word, &at, body->line, body->mass, body->centre, &at.node));
        at.p = v3(0, 0, 0);
    }
    body->node = at.node;
    put3(at.p, body->shift);
    return SN_OK;
}

// --- markers -----------------------------------------------------------------------------------------

static void add_marker(building *b, size_t name, int node, sn_vec3 p, int line) {
    b->marker_name[b->nmarker] = name;
    if (sn_names_add(&b->markers, b->nmarker, marker_name, b) != b->nmarker) return;
    b->nmarker++;
    sn_marker_desc d = {b->u->names + name, node, {p.x, p.y, p.z}, 1};
    (void)sn_builder_marker_at(b->builder, &d, line);
}

static sn_status add_site(building *b, const sn_mjcf_site *site) {
    sn_mjcf *u = b->u;
    const sn_mjcf_body *body = &u->body[site->body];
    const double *q = site->values.rotation;
    here at = {body->node, v3_add(v3_from(body->shift), v3_from(site->values.position)),
               quat_from(q)};
    add_marker(b, site->name, at.node, at.p, site->line);
    if (q[1] == 0 && q[2] == 0 && q[3] == 0) return SN_OK;
    char word[SN_MAX_NAME + 1];
    int node;
    double none[3] = {0};
    (void)snprintf(word, sizeof word, "%s", u->names + site->name);
    return add_fixed(b, word, &at, site->line, 0, none, &node);
}

// --- equalities ----------------------------------------------------------------------------------------

// A body's place in the reference configuration, where every joint is as the file draws it.
static here drawn(const sn_mjcf *u, int i) {
    here at = {0, {0, 0, 0}, {1, 0, 0, 0}};
    for (; i > 0; i = u->body[i].parent) {
        const sn_mjcf_body *body = &u->body[i];
        sn_quat q = quat_from(body->rotation);
        at.p = v3_add(v3_from(body->position), turned(q, at.p));
        at.q = sn_quat_mul(q, at.q);
    }
    return at;
}

// One end of a loop: its body, and a frame in it.
typedef struct loop_end {
    int body;
    sn_vec3 p;
    sn_quat q;
} loop_end;

static bool find_end(const sn_mjcf *u, const sn_mjcf_equality *e, size_t name, loop_end *out) {
    *out = (loop_end){0, {0, 0, 0}, {1, 0, 0, 0}};
    if (name == SIZE_MAX) return true;
    for (size_t i = 0; i < u->nsite && e->sites; i++) {
        if (strcmp(u->names + u->site[i].name, u->names + name) != 0) continue;
        *out = (loop_end){u->site[i].body, v3_from(u->site[i].values.position),
                          quat_from(u->site[i].values.rotation)};
        return true;
    }
    for (size_t i = 0; i < u->nbody && !e->sites; i++) {
        bool world = i == 0 && strcmp("world", u->names + name) == 0;
        if (!world && (u->body[i].name == SIZE_MAX ||
                       strcmp(u->names + u->body[i].name, u->names + name) != 0))
            continue;
        out->body = (int)i;
        return true;
    }
    return false;
}

// A connect holds a point of both bodies together, a weld a frame. What the file leaves out of the
// second is where the reference configuration has it.
static sn_status add_loop(building *b, const sn_mjcf_equality *e) {
    sn_mjcf *u = b->u;
    loop_end end[2];
    const size_t name[2] = {e->first, e->second};
    for (int i = 0; i < 2; i++)
        if (!find_end(u, e, name[i], &end[i]))
            return sn_fail(u->error, SN_ERR_PARSE, e->line,
                           "an equality names \"%.80s\", which is no %s", u->names + name[i],
                           e->sites ? "site" : "body");
    bool weld = e->kind == SN_MJCF_WELD;
    if (!e->sites && weld && e->has_relative) {
        end[0].p = v3_from(e->relative);
        end[0].q = quat_from(e->relative + 3);
    } else if (!e->sites) {
        const here first = drawn(u, end[0].body), second = drawn(u, end[1].body);
        if (!weld) end[0].p = v3_from(e->anchor);
        sn_vec3 at = weld ? second.p : v3_add(first.p, turned(first.q, end[0].p));
        if (weld) {
            end[0].p = turned(sn_quat_conj(first.q), v3_sub(at, first.p));
            end[0].q = sn_quat_mul(sn_quat_conj(first.q), second.q);
        }
        end[1].p = turned(sn_quat_conj(second.q), v3_sub(at, second.p));
    }
    if (u->body[end[0].body].node < 0) {
        loop_end other = end[0];
        end[0] = end[1];
        end[1] = other;
    }
    sn_loop_desc d = sn_loop_default(weld ? SN_LOOP_WELD : SN_LOOP_POINT);
    for (int i = 0; i < 2; i++) {
        const sn_mjcf_body *body = &u->body[end[i].body];
        d.joint[i] = body->node;
        put3(body->node < 0 ? end[i].p : v3_add(v3_from(body->shift), end[i].p), d.position[i]);
        put4(end[i].q, d.rotation[i]);
    }
    if (d.joint[0] == d.joint[1]) return SN_OK;  // one body: nothing to close
    (void)sn_builder_loop_at(b->builder, &d, e->line);
    return SN_OK;
}

static sn_status add_equality(building *b, const sn_mjcf_equality *e) {
    if (e->kind == SN_MJCF_JOINT) return sn_mjcf_couple_joints(b->u, b->builder, e);
    if (e->kind == SN_MJCF_TENDON) return sn_mjcf_couple_tendons(b->u, b->builder, e);
    return add_loop(b, e);
}

// --- shapes ------------------------------------------------------------------------------------------

static void add_geom(building *b, const sn_mjcf_geom *g) {
    const sn_mjcf_body *body = &b->u->body[g->body];
    sn_shape_desc d = sn_shape_default(SN_SHAPE_SPHERE);
    char word[SN_MAX_NAME + 1];
    body_word(b->u, g->body, word);
    d.name = g->name != SIZE_MAX ? b->u->names + g->name : word;
    // what stands in the world stays there, whatever joint holds the bodies that hang on it
    d.joint = g->body == 0 ? -1 : body->node;
    d.kind = g->values.kind;
    d.meets = g->values.meets;
    sn_vec3 p = v3_from(g->values.position);
    const sn_frame frame = {sn_mat3_from_quat(quat_from(g->values.rotation)),
                            d.joint < 0 ? p : v3_add(v3_from(body->shift), p)};
    (void)sn_bound_solid(b->builder, &d, (sn_solid_kind)g->values.type, g->values.size, &frame,
                         g->line);
}

static sn_mjcf_geom *find_geom(sn_mjcf *u, size_t name) {
    for (size_t i = 0; i < u->ngeom; i++)
        if (u->geom[i].name != SIZE_MAX && strcmp(u->names + u->geom[i].name, u->names + name) == 0)
            return &u->geom[i];
    return NULL;
}

// A <pair> becomes a bit that only its geoms have: one for all pairs of a first geom. Pairs with meshes, and more
// first geoms than there are bits, are left out.
static void join_pairs(sn_mjcf *u) {
    uint32_t used = 0;
    for (size_t i = 0; i < u->ngeom; i++) used |= u->geom[i].values.kind | u->geom[i].values.meets;
    for (size_t i = 0; i < u->npair; i++) {
        sn_mjcf_geom *a = find_geom(u, u->pair[i].body[0]), *b = find_geom(u, u->pair[i].body[1]);
        uint32_t bit = 0;
        // the bit that an earlier pair of the same first geom has
        for (size_t k = 0; k < i && a != NULL; k++)
            if (find_geom(u, u->pair[k].body[0]) == a) bit = u->pair[k].bit;
        for (uint32_t next = 1; bit == 0 && next != 0; next <<= 1)
            if ((used & next) == 0) bit = next;
        if (a == NULL || b == NULL || a == b || bit == 0) {
            u->nlost++;
            continue;
        }
        used |= bit;
        u->pair[i].bit = bit;
        a->values.kind |= bit;
        b->values.meets |= bit;
    }
}

static sn_status add_exclude(building *b, const sn_mjcf_exclude *e) {
    sn_mjcf *u = b->u;
    int node[2];
    for (int k = 0; k < 2; k++) {
        size_t i = 0;
        const char *wanted = u->names + e->body[k];
        while (i < u->nbody &&
               (u->body[i].name == SIZE_MAX || strcmp(u->names + u->body[i].name, wanted) != 0))
            i++;
        if (i == u->nbody)
            return sn_fail(u->error, SN_ERR_PARSE, e->line, "<exclude>: there is no body \"%.80s\"",
                           wanted);
        node[k] = i == 0 ? -1 : u->body[i].node;
    }
    (void)sn_builder_exclude(b->builder, node[0], node[1]);
    return SN_OK;
}

// --- all of it ---------------------------------------------------------------------------------------

// The world needs a joint of its own unless a single body hangs on it and nothing else does.
static bool world_is_needed(const sn_mjcf *u) {
    int hanging = 0;
    for (size_t i = 1; i < u->nbody; i++) hanging += u->body[i].parent == 0;
    for (size_t i = 0; i < u->nsite; i++)
        if (u->site[i].body == 0) return true;
    return hanging != 1;
}

static sn_status add_everything(building *b) {
    sn_mjcf *u = b->u;
    if (world_is_needed(u)) {
        here at = {-1, {0, 0, 0}, {1, 0, 0, 0}};
        double none[3] = {0};
        SN_TRY(add_fixed(b, "world", &at, 0, 0, none, &u->body[0].node));
    }
    for (int i = 1; i < (int)u->nbody; i++) SN_TRY(add_body(b, i));
    for (int i = 1; i < (int)u->nbody; i++) {
        const sn_mjcf_body *body = &u->body[i];
        if (body->name != SIZE_MAX)
            add_marker(b, body->name, body->node, v3_from(body->shift), body->line);
    }
    for (size_t i = 0; i < u->nsite; i++) SN_TRY(add_site(b, &u->site[i]));
    // those of tendons last: they can choose which joint follows
    for (int last = 0; last < 2; last++)
        for (size_t i = 0; i < u->nequality; i++)
            if ((u->equality[i].kind == SN_MJCF_TENDON) == last)
                SN_TRY(add_equality(b, &u->equality[i]));
    join_pairs(u);
    for (size_t i = 0; i < u->ngeom; i++)
        if (u->geom[i].values.kind != 0 || u->geom[i].values.meets != 0) add_geom(b, &u->geom[i]);
    for (size_t i = 0; i < u->nexclude; i++) SN_TRY(add_exclude(b, &u->exclude[i]));
    return SN_OK;
}

static void tell(building *b) {
    sn_mjcf *u = b->u;
    char *note = u->info.note;
    u->info.nbody = (int)u->nbody - 1;
    u->info.njoint = (int)u->njoint;
    bool idle = false, limited = false;
    for (size_t i = 0; i < u->ntendon; i++) {
        idle = idle || !u->tendon[i].used;
        limited = limited || u->tendon[i].limited;
    }
    if (u->nskipped > 0)
        sn_note(note, "%d composite or flex element%s left out", u->nskipped,
                u->nskipped == 1 ? " is" : "s are");
    if (u->nspatial > 0)
        sn_note(note, "%d equalit%s of tendons through sites left out", u->nspatial,
                u->nspatial == 1 ? "y" : "ies");
    if (u->ntangled > 0)
        sn_note(note,
                "%d equalit%s of tendons left out: no joint of them can follow at most %d others",
                u->ntangled, u->ntangled == 1 ? "y" : "ies", SN_MAX_LEADERS);
    if (limited) sn_note(note, "limits of tendons are left out");
    if (u->nuntold > 0)
        sn_note(note, "%d bod%s no <inertial>: their mass counts as 0", u->nuntold,
                u->nuntold == 1 ? "y has" : "ies have");
    if (u->nmesh > 0)
        sn_note(note, "%d collision mesh%s left out", u->nmesh, u->nmesh == 1 ? " is" : "es are");
    if (u->nlost > 0)
        sn_note(note, "%d contact pair%s with meshes left out", u->nlost, SN_S(u->nlost));
    if (u->has_actuator || idle || u->has_keyframe)
        sn_note(note, "not read:%s%s%s", u->has_actuator ? " actuators" : "",
                idle ? " tendons" : "", u->has_keyframe ? " keyframes" : "");
}

sn_status sn_mjcf_build(sn_mjcf *u, sn_model **out) {
    building b = {.u = u};
    if (u->nbody < 2)
        return sn_fail(u->error, SN_ERR_PARSE, 0, "the file has no <body> in its <worldbody>");
    sn_status status = sort_joints(u);
    if (status == SN_OK) status = check_joints(u);
    if (status == SN_OK) status = layout_names(&b);
    if (status == SN_OK &&
        sn_builder_create(u->names + u->name, u->allocator, &b.builder, NULL) != SN_OK)
        status = sn_fail_memory(u->error);
    if (status == SN_OK) status = add_everything(&b);
    if (status == SN_OK) status = sn_builder_finish(b.builder, out, u->error);
    if (status == SN_OK) tell(&b);
    sn_builder_destroy(b.builder);
    sn_release(u->allocator, b.block);
    return status;
}

sn_status sn_mjcf_read(const char *text, size_t length, const sn_allocator *allocator,
                       sn_model **out, sn_mjcf_info *info, sn_error *error) {
    if (out != NULL) *out = NULL;
    if (length > 0) SN_NEED(text, error);
    SN_NEED(out, error);
    if (text == NULL) text = "";
    if (info != NULL) *info = (sn_mjcf_info){0};
    sn_mjcf u = {.allocator = allocator, .error = error, .name = SIZE_MAX};
    sn_status status = sn_mjcf_parse(&u, text, length);
    if (status == SN_OK) status = sn_mjcf_build(&u, out);
    if (status == SN_OK && info != NULL) *info = u.info;
    sn_release(allocator, u.names);
    sn_release(allocator, u.class_);
    sn_release(allocator, u.body);
    sn_release(allocator, u.joint);
    sn_release(allocator, u.site);
    sn_release(allocator, u.equality);
    sn_release(allocator, u.geom);
    sn_release(allocator, u.exclude);
    sn_release(allocator, u.tendon);
    sn_release(allocator, u.part);
    sn_release(allocator, u.pair);
    return status;
}
