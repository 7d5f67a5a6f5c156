// SPDX-License-Identifier: MIT
// Reading MJCF: three passes over the same text, since what a later one needs may stand anywhere:
// the compiler's settings, the classes of defaults, then bodies and equalities.
#include "files/mjcf/mjcf.h"

#include <stdio.h>
#include <string.h>

#include "math/vec3.h"

typedef enum pass { SETTINGS, DEFAULTS, BODIES, NPASS } pass;

// What an open element is to the elements inside it.
typedef enum kind { SKIPPED, MUJOCO, CLASS, BODY, EQUALITY, CONTACT, TENDON, FIXED } kind;

typedef struct place {
    kind kind;
    int class_;  // CLASS: itself; BODY: of the elements that name none
    int body;
    sn_vec3 position;  // of the <frame> around what comes next, in the body
    sn_quat rotation;
} place;

typedef struct reading {
    sn_xml xml;
    sn_mjcf *u;
    pass pass;
    place open[SN_XML_DEPTH + 1];  // by depth
} reading;

#define FAIL(r, ...) sn_fail((r)->u->error, SN_ERR_PARSE, (r)->xml.line, __VA_ARGS__)

sn_status sn_mjcf_grow(const sn_mjcf *u, void *list, size_t *capacity, size_t need, size_t size) {
    void *items;
    memcpy(&items, list, sizeof items);
    sn_status status = sn_grow(u->allocator, &items, capacity, need, size);
    memcpy(list, &items, sizeof items);
    return status == SN_OK ? SN_OK : sn_fail_memory(u->error);
}

// --- settings ----------------------------------------------------------------------------------------

static sn_status read_compiler(reading *r) {
    sn_mjcf *u = r->u;
    char text[SN_XML_VALUE];
    bool found;
    SN_TRY(sn_mjcf_text(u, &r->xml, "angle", text, &found));
    if (found && strcmp(text, "radian") != 0 && strcmp(text, "degree") != 0)
        return FAIL(r, "<compiler>: angle=\"%.40s\" is neither degree nor radian", text);
    if (found) u->radians = strcmp(text, "radian") == 0;
    SN_TRY(sn_mjcf_text(u, &r->xml, "autolimits", text, &found));
    if (found) u->auto_limits = strcmp(text, "false") != 0;
    SN_TRY(sn_mjcf_text(u, &r->xml, "coordinate", text, &found));
    if (found && strcmp(text, "local") != 0)
        return FAIL(r,
                    "<compiler>: coordinate=\"%.40s\" is an old form that MuJoCo no longer reads "
                    "either: save the model with local coordinates",
                    text);
    SN_TRY(sn_mjcf_text(u, &r->xml, "eulerseq", text, &found));
    if (!found) return SN_OK;
    if (strlen(text) != 3 || strspn(text, "xyzXYZ") != 3)
        return FAIL(r, "<compiler>: eulerseq=\"%.40s\" is not three of x y z X Y Z", text);
    memcpy(u->euler, text, 4);
    return SN_OK;
}

// --- defaults ----------------------------------------------------------------------------------------

static sn_status find_class(const reading *r, const char *name, int *out) {
    const sn_mjcf *u = r->u;
    for (size_t i = 0; i < u->nclass_; i++) {
        if (strcmp(u->names + u->class_[i].name, name) != 0) continue;
        *out = (int)i;
        return SN_OK;
    }
    return FAIL(r, "<%.*s>: there is no class of defaults \"%.80s\"", SN_WORD(r->xml.name), name);
}

// The class an element names under `key`, else `otherwise`.
static sn_status class_of(const reading *r, const char *key, int otherwise, int *out) {
    char text[SN_XML_VALUE];
    bool found;
    *out = otherwise;
    SN_TRY(sn_mjcf_text(r->u, &r->xml, key, text, &found));
    return found ? find_class(r, text, out) : SN_OK;
}

// The outermost class is the first, under whatever name; it is there without a <default>, too.
static sn_status begin_class(reading *r, int parent, int *out) {
    sn_mjcf *u = r->u;
    size_t name;
    SN_TRY(sn_mjcf_name(u, &r->xml, "class", &name));
    if (parent < 0) {
        if (name != SIZE_MAX) u->class_[0].name = name;
        *out = 0;
        return SN_OK;
    }
    if (name == SIZE_MAX) return FAIL(r, "a <default> inside another needs class=\"...\"");
    for (size_t i = 0; i < u->nclass_; i++)
        if (strcmp(u->names + u->class_[i].name, u->names + name) == 0)
            return FAIL(r, "another class of defaults is named \"%.80s\" too", u->names + name);
    if (u->nclass_ >= SN_MAX_JOINTS) return FAIL(r, "more than %d classes", SN_MAX_JOINTS);
    SN_TRY(SN_MJCF_ROOM(u, class_, 1));
    u->class_[u->nclass_] = (sn_mjcf_class){.name = name, .parent = parent};
    *out = (int)u->nclass_++;
    return SN_OK;
}

static sn_status read_default(reading *r, place *here, const place *outer) {
    sn_mjcf_class *c = &r->u->class_[outer->class_];
    if (sn_xml_is(&r->xml, "default")) {
        here->kind = CLASS;
        return begin_class(r, outer->class_, &here->class_);
    }
    if (sn_xml_is(&r->xml, "joint")) return sn_mjcf_joint_values(r->u, &r->xml, &c->joint);
    if (sn_xml_is(&r->xml, "site")) return sn_mjcf_site_values(r->u, &r->xml, &c->site);
    if (sn_xml_is(&r->xml, "geom")) return sn_mjcf_geom_values_read(r->u, &r->xml, &c->geom);
    return SN_OK;
}

static void inherit(const sn_mjcf *u, int class_, bool site, sn_mjcf_values *values) {
    for (int c = class_; c >= 0; c = u->class_[c].parent)
        sn_mjcf_inherit(values, site ? &u->class_[c].site : &u->class_[c].joint);
    static const sn_mjcf_values plain = {.has = 127,
                                         .type = SN_MJCF_HINGE,
                                         .axis = {0, 0, 1},
                                         .limited = 2,
                                         .rotation = {1, 0, 0, 0}};
    bool range = values->has & SN_MJCF_HAS_RANGE;
    sn_mjcf_inherit(values, &plain);
    if (!range) values->has &= ~(unsigned)SN_MJCF_HAS_RANGE;
}

// --- bodies ------------------------------------------------------------------------------------------

// A point and a rotation inside the frames around them, in the body.
static void place_point(const place *outer, double position[3]) {
    sn_mat3 R = sn_mat3_from_quat(outer->rotation);
    sn_vec3 p = v3_add(outer->position, m3_mul(&R, v3_from(position)));
    position[0] = p.x, position[1] = p.y, position[2] = p.z;
}

static void place_axis(const place *outer, double axis[3]) {
    sn_mat3 R = sn_mat3_from_quat(outer->rotation);
    sn_vec3 a = m3_mul(&R, v3_from(axis));
    axis[0] = a.x, axis[1] = a.y, axis[2] = a.z;
}

static void place_rotation(const place *outer, double rotation[4]) {
    sn_quat q = {rotation[0], rotation[1], rotation[2], rotation[3]};
    q = sn_quat_mul(outer->rotation, q);
    rotation[0] = q.w, rotation[1] = q.x, rotation[2] = q.y, rotation[3] = q.z;
}

static bool framed(const place *outer) {
    const sn_quat *q = &outer->rotation;
    const sn_vec3 *p = &outer->position;
    return q->w != 1 || q->x != 0 || q->y != 0 || q->z != 0 || p->x != 0 || p->y != 0 || p->z != 0;
}

static sn_status read_body(reading *r, place *here, const place *outer) {
    sn_mjcf *u = r->u;
    sn_mjcf_body b = {.parent = outer->body, .node = -1, .line = r->xml.line};
    int n;
    bool turned;
    SN_TRY(sn_mjcf_name(u, &r->xml, "name", &b.name));
    SN_TRY(sn_mjcf_numbers(u, &r->xml, "pos", 3, 3, b.position, &n));
    SN_TRY(sn_mjcf_rotation(u, &r->xml, b.rotation, &turned));
    if (framed(outer)) place_point(outer, b.position), place_rotation(outer, b.rotation);
    *here = (place){.kind = BODY, .body = (int)u->nbody, .rotation = {1, 0, 0, 0}};
    SN_TRY(class_of(r, "childclass", outer->class_, &here->class_));
    if (u->nbody >= SN_MAX_JOINTS)
        return sn_fail(u->error, SN_ERR_SIZE, r->xml.line, "more than %d bodies", SN_MAX_JOINTS);
    SN_TRY(SN_MJCF_ROOM(u, body, 1));
    u->body[u->nbody++] = b;
    return SN_OK;
}

static sn_status read_frame(reading *r, place *here, const place *outer) {
    double position[3] = {0}, rotation[4];
    int n;
    bool turned;
    SN_TRY(sn_mjcf_numbers(r->u, &r->xml, "pos", 3, 3, position, &n));
    SN_TRY(sn_mjcf_rotation(r->u, &r->xml, rotation, &turned));
    place_point(outer, position);
    place_rotation(outer, rotation);
    *here = (place){.kind = BODY,
                    .body = outer->body,
                    .position = v3_from(position),
                    .rotation = {rotation[0], rotation[1], rotation[2], rotation[3]}};
    return class_of(r, "childclass", outer->class_, &here->class_);
}

static sn_status read_joint(reading *r, const place *outer, bool free) {
    sn_mjcf *u = r->u;
    sn_mjcf_joint j = {.body = outer->body, .node = -1, .line = r->xml.line};
    int class_;
    SN_TRY(sn_mjcf_name(u, &r->xml, "name", &j.name));
    SN_TRY(class_of(r, "class", outer->class_, &class_));
    if (!free) {
        SN_TRY(sn_mjcf_joint_values(u, &r->xml, &j.values));
        inherit(u, class_, false, &j.values);
    }
    if (free || j.values.type == SN_MJCF_FREE)
        j.values = (sn_mjcf_values){.type = SN_MJCF_FREE};  // it has no place, axis or range
    if (outer->body == 0) return FAIL(r, "the world cannot have a joint");
    if (framed(outer)) place_point(outer, j.values.position), place_axis(outer, j.values.axis);
    const double *a = j.values.axis;
    bool straight = j.values.type == SN_MJCF_SLIDE || j.values.type == SN_MJCF_HINGE;
    if (straight && a[0] == 0 && a[1] == 0 && a[2] == 0)
        return FAIL(r, "<joint>: its axis is 0 0 0");
    if (u->njoint >= SN_MAX_JOINTS)
        return sn_fail(u->error, SN_ERR_SIZE, r->xml.line, "more than %d joints", SN_MAX_JOINTS);
    SN_TRY(SN_MJCF_ROOM(u, joint, 1));
    u->joint[u->njoint++] = j;
    return SN_OK;
}

static sn_status read_site(reading *r, const place *outer) {
    sn_mjcf *u = r->u;
    sn_mjcf_site s = {.body = outer->body, .line = r->xml.line};
    int class_;
    SN_TRY(sn_mjcf_name(u, &r->xml, "name", &s.name));
    SN_TRY(class_of(r, "class", outer->class_, &class_));
    SN_TRY(sn_mjcf_site_values(u, &r->xml, &s.values));
    u->info.nsite++;
    if (s.name == SIZE_MAX) return SN_OK;  // nobody can ask for it
    inherit(u, class_, true, &s.values);
    if (framed(outer)) {
        place_point(outer, s.values.position);
        place_rotation(outer, s.values.rotation);
    }
    if (u->nsite >= SN_MAX_JOINTS)
        return sn_fail(u->error, SN_ERR_SIZE, r->xml.line, "more than %d sites", SN_MAX_JOINTS);
    SN_TRY(SN_MJCF_ROOM(u, site, 1));
    u->site[u->nsite++] = s;
    return SN_OK;
}

static sn_status read_geom(reading *r, const place *outer) {
    sn_mjcf *u = r->u;
    sn_mjcf_geom g = {.body = outer->body, .line = r->xml.line};
    int class_;
    SN_TRY(sn_mjcf_name(u, &r->xml, "name", &g.name));
    SN_TRY(class_of(r, "class", outer->class_, &class_));
    SN_TRY(sn_mjcf_geom_values_read(u, &r->xml, &g.values));
    for (int c = class_; c >= 0; c = u->class_[c].parent)
        sn_mjcf_geom_inherit(&g.values, &u->class_[c].geom);
    if (!sn_mjcf_geom_complete(&g.values))
        return FAIL(r, "<geom>: the ends of fromto are the same point");
    // only to be looked at, unless a <pair> names it
    const bool silent = g.values.kind == 0 && g.values.meets == 0;
    if (silent && (g.name == SIZE_MAX || g.values.type < 0)) return SN_OK;
    if (g.values.type < 0) {
        u->nmesh++;
        return SN_OK;
    }
    if (framed(outer)) {
        place_point(outer, g.values.position);
        place_rotation(outer, g.values.rotation);
    }
    if (u->ngeom >= SN_MAX_SHAPES)
        return sn_fail(u->error, SN_ERR_SIZE, r->xml.line, "more than %d geoms", SN_MAX_SHAPES);
    SN_TRY(SN_MJCF_ROOM(u, geom, 1));
    u->geom[u->ngeom++] = g;
    return SN_OK;
}

// Geoms that keep apart whatever their kinds say.
static sn_status read_contact_pair(reading *r) {
    sn_mjcf *u = r->u;
    sn_mjcf_exclude e = {.line = r->xml.line};
    SN_TRY(sn_mjcf_name(u, &r->xml, "geom1", &e.body[0]));
    SN_TRY(sn_mjcf_name(u, &r->xml, "geom2", &e.body[1]));
    if (e.body[0] == SIZE_MAX || e.body[1] == SIZE_MAX)
        return FAIL(r, "<pair> does not name two geoms");
    if (u->npair >= SN_MAX_EXCLUDED)
        return sn_fail(u->error, SN_ERR_SIZE, r->xml.line, "more than %d contact pairs",
                       SN_MAX_EXCLUDED);
    SN_TRY(SN_MJCF_ROOM(u, pair, 1));
    u->pair[u->npair++] = e;
    return SN_OK;
}

// Bodies that never touch.
static sn_status read_contact(reading *r) {
    sn_mjcf *u = r->u;
    sn_mjcf_exclude e = {.line = r->xml.line};
    if (sn_xml_is(&r->xml, "pair")) return read_contact_pair(r);
    if (!sn_xml_is(&r->xml, "exclude")) return SN_OK;
    SN_TRY(sn_mjcf_name(u, &r->xml, "body1", &e.body[0]));
    SN_TRY(sn_mjcf_name(u, &r->xml, "body2", &e.body[1]));
    if (e.body[0] == SIZE_MAX || e.body[1] == SIZE_MAX)
        return FAIL(r, "<exclude> does not name two bodies");
    if (u->nexclude >= SN_MAX_EXCLUDED)
        return sn_fail(u->error, SN_ERR_SIZE, r->xml.line, "more than %d excluded pairs",
                       SN_MAX_EXCLUDED);
    SN_TRY(SN_MJCF_ROOM(u, exclude, 1));
    u->exclude[u->nexclude++] = e;
    return SN_OK;
}

static sn_status read_inertial(reading *r, const place *outer) {
    sn_mjcf_body *b = &r->u->body[outer->body];
    int n;
    SN_TRY(sn_mjcf_numbers(r->u, &r->xml, "pos", 3, 3, b->centre, &n));
    SN_TRY(sn_mjcf_numbers(r->u, &r->xml, "mass", 1, 1, &b->mass, &n));
    if (n == 0) return FAIL(r, "<inertial> has no mass=\"...\"");
    if (b->mass < 0) return FAIL(r, "<inertial>: a mass below 0");
    if (framed(outer)) place_point(outer, b->centre);
    b->has_mass = true;
    return SN_OK;
}

static sn_status read_in_body(reading *r, place *here, const place *outer) {
    sn_xml *xml = &r->xml;
    if (sn_xml_is(xml, "body")) return read_body(r, here, outer);
    if (sn_xml_is(xml, "frame")) return read_frame(r, here, outer);
    if (sn_xml_is(xml, "joint")) return read_joint(r, outer, false);
    if (sn_xml_is(xml, "freejoint")) return read_joint(r, outer, true);
    if (sn_xml_is(xml, "site")) return read_site(r, outer);
    if (sn_xml_is(xml, "inertial")) return read_inertial(r, outer);
    if (sn_xml_is(xml, "geom")) return read_geom(r, outer);
    if (sn_xml_is(xml, "replicate") || sn_xml_is(xml, "attach"))
        return FAIL(r,
                    "<%.*s> makes bodies that are not in the file: let MuJoCo save the compiled "
                    "model (mj_saveLastXML) and read that",
                    SN_WORD(xml->name));
    if (sn_xml_is(xml, "composite") || sn_xml_is(xml, "flexcomp")) r->u->nskipped++;
    return SN_OK;
}

// --- tendons ---------------------------------------------------------------------------------------

static sn_status read_tendon(reading *r, place *here) {
    sn_mjcf *u = r->u;
    sn_mjcf_tendon t = {.fixed = sn_xml_is(&r->xml, "fixed"), .first = u->npart};
    char limited[SN_XML_VALUE];
    double range[2];
    bool stated;
    int n;
    if (!t.fixed && !sn_xml_is(&r->xml, "spatial")) return SN_OK;
    SN_TRY(sn_mjcf_name(u, &r->xml, "name", &t.name));
    SN_TRY(sn_mjcf_text(u, &r->xml, "limited", limited, &stated));
    SN_TRY(sn_mjcf_numbers(u, &r->xml, "range", 2, 2, range, &n));
    t.limited = stated && strcmp(limited, "auto") != 0 ? strcmp(limited, "true") == 0
                                                       : n > 0 && u->auto_limits;
    if (u->ntendon >= SN_MAX_JOINTS)
        return sn_fail(u->error, SN_ERR_SIZE, r->xml.line, "more than %d tendons", SN_MAX_JOINTS);
    SN_TRY(SN_MJCF_ROOM(u, tendon, 1));
    u->tendon[u->ntendon++] = t;
    if (t.fixed) here->kind = FIXED;
    return SN_OK;
}

static sn_status read_part(reading *r) {
    sn_mjcf *u = r->u;
    sn_mjcf_part p = {.coefficient = 1, .line = r->xml.line};
    int n;
    if (!sn_xml_is(&r->xml, "joint")) return SN_OK;
    SN_TRY(sn_mjcf_name(u, &r->xml, "joint", &p.joint));
    SN_TRY(sn_mjcf_numbers(u, &r->xml, "coef", 1, 1, &p.coefficient, &n));
    if (p.joint == SIZE_MAX || n == 0)
        return FAIL(r, "<fixed>: a <joint> needs joint=\"...\" and coef=\"...\"");
    if (u->npart >= SN_MAX_COUPLINGS)
        return sn_fail(u->error, SN_ERR_SIZE, r->xml.line, "more than %d joints in tendons",
                       SN_MAX_COUPLINGS);
    SN_TRY(SN_MJCF_ROOM(u, part, 1));
    u->part[u->npart++] = p;
    u->tendon[u->ntendon - 1].count++;
    return SN_OK;
}

// --- equalities --------------------------------------------------------------------------------------

static sn_status read_pair(reading *r, const char *first, const char *second, sn_mjcf_equality *e) {
    SN_TRY(sn_mjcf_name(r->u, &r->xml, first, &e->first));
    return sn_mjcf_name(r->u, &r->xml, second, &e->second);
}

static sn_status read_equality(reading *r) {
    sn_mjcf *u = r->u;
    sn_xml *xml = &r->xml;
    sn_mjcf_equality e = {.coefficients = {0, 1, 0, 0, 0}, .line = xml->line};
    char text[SN_XML_VALUE];
    bool found;
    int n;
    SN_TRY(sn_mjcf_text(u, xml, "active", text, &found));
    if (found && strcmp(text, "false") == 0) return SN_OK;
    if (sn_xml_is(xml, "connect") || sn_xml_is(xml, "weld")) {
        e.kind = sn_xml_is(xml, "weld") ? SN_MJCF_WELD : SN_MJCF_CONNECT;
        SN_TRY(read_pair(r, "body1", "body2", &e));
        if (e.first == SIZE_MAX) {
            e.sites = true;
            SN_TRY(read_pair(r, "site1", "site2", &e));
        }
        SN_TRY(sn_mjcf_numbers(u, xml, "anchor", 3, 3, e.anchor, &n));
        SN_TRY(sn_mjcf_numbers(u, xml, "relpose", 7, 7, e.relative, &n));
        for (int i = 3; i < 7; i++)
            e.has_relative = e.has_relative || (n > 0 && e.relative[i] != 0);
    } else if (sn_xml_is(xml, "joint") || sn_xml_is(xml, "tendon")) {
        bool joint = sn_xml_is(xml, "joint");
        e.kind = joint ? SN_MJCF_JOINT : SN_MJCF_TENDON;
        SN_TRY(read_pair(r, joint ? "joint1" : "tendon1", joint ? "joint2" : "tendon2", &e));
        double given[5] = {0};
        SN_TRY(sn_mjcf_numbers(u, xml, "polycoef", 1, 5, given, &n));
        memcpy(e.coefficients, given, (size_t)n * sizeof *given);
    } else {
        u->nskipped++;
        return SN_OK;
    }
    if (e.first == SIZE_MAX || (e.sites && e.second == SIZE_MAX))
        return FAIL(r, "<%.*s> does not say what it holds", SN_WORD(xml->name));
    if (u->nequality >= SN_MAX_JOINTS)
        return sn_fail(u->error, SN_ERR_SIZE, xml->line, "more than %d equalities", SN_MAX_JOINTS);
    SN_TRY(SN_MJCF_ROOM(u, equality, 1));
    u->equality[u->nequality++] = e;
    return SN_OK;
}

// --- the file ----------------------------------------------------------------------------------------

static sn_status read_section(reading *r, place *here) {
    sn_mjcf *u = r->u;
    sn_xml *xml = &r->xml;
    if (r->pass == SETTINGS && sn_xml_is(xml, "compiler")) return read_compiler(r);
    if (r->pass == DEFAULTS && sn_xml_is(xml, "default")) {
        here->kind = CLASS;
        return begin_class(r, -1, &here->class_);
    }
    if (r->pass != BODIES) return SN_OK;
    if (sn_xml_is(xml, "worldbody"))
        *here = (place){.kind = BODY, .body = 0, .rotation = {1, 0, 0, 0}};
    if (sn_xml_is(xml, "equality")) here->kind = EQUALITY;
    u->has_actuator = u->has_actuator || sn_xml_is(xml, "actuator");
    if (sn_xml_is(xml, "tendon")) here->kind = TENDON;
    if (sn_xml_is(xml, "contact")) here->kind = CONTACT;
    u->has_keyframe = u->has_keyframe || sn_xml_is(xml, "keyframe");
    return SN_OK;
}

static sn_status read_open(reading *r) {
    int depth = r->xml.depth;
    place *here = &r->open[depth], *outer = &r->open[depth - 1];
    *here = (place){.kind = SKIPPED, .rotation = {1, 0, 0, 0}};
    if (depth == 1) {
        if (!sn_xml_is(&r->xml, "mujoco"))
            return FAIL(r, "the outermost element is <%.*s>, not <mujoco>: is this an MJCF file?",
                        SN_WORD(r->xml.name));
        here->kind = MUJOCO;
        return r->pass == SETTINGS ? sn_mjcf_name(r->u, &r->xml, "model", &r->u->name) : SN_OK;
    }
    if (outer->kind != SKIPPED && sn_xml_is(&r->xml, "include")) {
        char file[SN_XML_VALUE];
        bool found;
        SN_TRY(sn_mjcf_text(r->u, &r->xml, "file", file, &found));
        return FAIL(r,
                    "a part of this model stands in another file, \"%.80s\": read that one, or let "
                    "MuJoCo save the model as one file (mj_saveLastXML)",
                    file);
    }
    switch (outer->kind) {
    case MUJOCO:
        return read_section(r, here);
    case CLASS:
        return read_default(r, here, outer);
    case BODY:
        return read_in_body(r, here, outer);
    case EQUALITY:
        return read_equality(r);
    case CONTACT:
        return read_contact(r);
    case TENDON:
        return read_tendon(r, here);
    case FIXED:
        return read_part(r);
    case SKIPPED:
        break;
    }
    return SN_OK;
}

static sn_status run_pass(reading *r, const char *text, size_t length) {
    sn_xml_begin(&r->xml, text, length, r->u->error);
    r->open[0] = (place){.kind = SKIPPED};
    for (;;) {
        sn_xml_event event;
        SN_TRY(sn_xml_next(&r->xml, &event));
        if (event == SN_XML_END) return SN_OK;
        if (event == SN_XML_OPEN) SN_TRY(read_open(r));
    }
}

sn_status sn_mjcf_parse(sn_mjcf *u, const char *text, size_t length) {
    static const char start[] = "\0main\0world";
    u->auto_limits = true;
    (void)snprintf(u->euler, sizeof u->euler, "xyz");
    // an empty name, and those of the outermost class and of the world
    SN_TRY(SN_MJCF_ROOM(u, names, sizeof start));
    memcpy(u->names, start, sizeof start);
    u->nnames = sizeof start;
    SN_TRY(SN_MJCF_ROOM(u, class_, 1));
    u->class_[u->nclass_++] = (sn_mjcf_class){.name = 1, .parent = -1};
    SN_TRY(SN_MJCF_ROOM(u, body, 1));
    u->body[u->nbody++] =
        (sn_mjcf_body){.name = 6, .parent = -1, .rotation = {1, 0, 0, 0}, .node = -1};
    reading r = {.u = u};
    for (r.pass = SETTINGS; r.pass < NPASS; r.pass++) SN_TRY(run_pass(&r, text, length));
    if (u->name == SIZE_MAX) u->name = 0;
    return SN_OK;
}
