// SPDX-License-Identifier: MIT
// Reading URDF: <robot> with <link> and <joint> in any order. Inside a joint stand parent, child,
// origin, axis, limit and mimic, inside a link's <inertial> its mass and origin, inside its <collision>s
// origins and geometry; everything else is passed over, wherever it stands.
#include "files/urdf/urdf.h"

#include <math.h>
#include <string.h>

#include "files/xml.h"

// The elements of a joint, in the order of their bits in sn_urdf_joint.seen.
typedef enum part { PARENT, CHILD, ORIGIN, AXIS, LIMIT, MIMIC, NPART } part;
static const char *const parts[NPART] = {"parent", "child", "origin", "axis", "limit", "mimic"};

typedef struct reading {
    sn_xml xml;
    sn_urdf *urdf;
    bool in_joint, in_link, in_inertial, in_collision;
    bool revolute;  // the joint's type is the one that must have a limit
} reading;

#define FAIL(r, ...) sn_fail((r)->urdf->error, SN_ERR_PARSE, (r)->xml.line, __VA_ARGS__)

static sn_urdf_joint *last_joint(reading *r) { return &r->urdf->joint[r->urdf->njoint - 1]; }

static const char *joint_name(reading *r) { return r->urdf->names + last_joint(r)->name; }

// The joint or link that is open.
static const char *owner_kind(const reading *r) { return r->in_joint ? "joint" : "link"; }
static const char *owner_name(reading *r) {
    return r->in_joint ? joint_name(r) : r->urdf->names + r->urdf->link[r->urdf->nlink - 1].name;
}

static sn_status keep_name(reading *r, const char *name, size_t *at) {
    sn_urdf *u = r->urdf;
    size_t bytes = strlen(name) + 1;
    void *names = u->names;
    sn_status status = sn_grow(u->allocator, &names, &u->names_capacity, u->names_used + bytes, 1);
    u->names = names;
    if (status != SN_OK) return sn_fail_memory(u->error);
    *at = u->names_used;
    memcpy(u->names + *at, name, bytes);
    u->names_used += bytes;
    return SN_OK;
}

// An attribute that may be left out: *found tells whether it is there.
static sn_status read_optional(reading *r, const char *key, char out[SN_XML_VALUE], bool *found) {
    const sn_xml_attribute *attribute = sn_xml_find(&r->xml, key);
    *found = attribute != NULL;
    if (!*found) return SN_OK;
    SN_TRY(sn_xml_value(&r->xml, attribute, out));
    if (strstr(out, "${") != NULL || strstr(out, "$(") != NULL)
        return FAIL(r, "%s=\"%.60s\" is not expanded: run xacro on the file first", key, out);
    return SN_OK;
}

// A name that must be there.
static sn_status read_name(reading *r, const char *key, const char *what, size_t *at) {
    char value[SN_XML_VALUE];
    bool found;
    SN_TRY(read_optional(r, key, value, &found));
    if (!found || value[0] == '\0') return FAIL(r, "%s has no %s=\"...\"", what, key);
    if (strlen(value) > SN_MAX_NAME)
        return FAIL(r, "%s: %s has more than %d bytes", what, key, SN_MAX_NAME);
    return keep_name(r, value, at);
}

// `count` numbers with blanks between them; left alone when the attribute is not there.
static sn_status read_numbers(reading *r, const char *key, int count, double *out) {
    char value[SN_XML_VALUE];
    bool found;
    int n = 0;
    SN_TRY(read_optional(r, key, value, &found));
    if (!found) return SN_OK;
    for (const char *at = value;;) {
        at += strspn(at, " ");
        sn_word word = {at, strcspn(at, " ")};
        if (word.length == 0) break;
        double number;
        if (!sn_word_number(word, &number))
            return FAIL(r, "%s \"%.80s\": %s: \"%.*s\" is not a number", owner_kind(r),
                        owner_name(r), key, SN_WORD(word));
        if (n < count) out[n] = number;
        n++;
        at += word.length;
    }
    if (n != count)
        return FAIL(r, "%s \"%.80s\": %s needs %d number%s, here are %d", owner_kind(r),
                    owner_name(r), key, count, count > 1 ? "s" : "", n);
    return SN_OK;
}

// Roll about x, pitch about y, yaw about z, all axes fixed: R = Rz Ry Rx.
static void rotation_of(const double rpy[3], double out[4]) {
    sn_quat q = {1, 0, 0, 0};
    for (int i = 2; i >= 0; i--) {
        double s, c;
        sn_sincos(rpy[i] / 2, &s, &c);
        q = sn_quat_mul(q, (sn_quat){c, i == 0 ? s : 0, i == 1 ? s : 0, i == 2 ? s : 0});
    }
    out[0] = q.w, out[1] = q.x, out[2] = q.y, out[3] = q.z;
}

static bool moves_along_axis(sn_joint_type type) {
    return type == SN_JOINT_HINGE || type == SN_JOINT_SLIDER;
}

// lower and upper count as 0 where they are missing, so the format says.
static sn_status read_limit(reading *r, bool used) {
    double lower = 0, upper = 0, speed = 0;
    SN_TRY(read_numbers(r, "lower", 1, &lower));
    SN_TRY(read_numbers(r, "upper", 1, &upper));
    SN_TRY(read_numbers(r, "velocity", 1, &speed));
    // continuous joints have no ends but a speed
    if (moves_along_axis(last_joint(r)->desc.type)) last_joint(r)->desc.speed[0] = fmax(speed, 0);
    if (!used) return SN_OK;
    if (lower > upper)
        return FAIL(r, "joint \"%.80s\": its lower limit is above its upper limit", joint_name(r));
    last_joint(r)->desc.lower[0] = lower;
    last_joint(r)->desc.upper[0] = upper;
    return SN_OK;
}

static sn_status read_part(reading *r, part which) {
    sn_urdf_joint *j = last_joint(r);
    double rpy[3] = {0};
    switch (which) {
    case PARENT:
        return read_name(r, "link", "<parent>", &j->parent);
    case CHILD:
        return read_name(r, "link", "<child>", &j->child);
    case ORIGIN:
        SN_TRY(read_numbers(r, "xyz", 3, j->desc.position));
        SN_TRY(read_numbers(r, "rpy", 3, rpy));
        rotation_of(rpy, j->desc.rotation);
        return SN_OK;
    case AXIS:
        return read_numbers(r, "xyz", 3, j->desc.axis);
    case LIMIT:
        return read_limit(r, r->revolute || j->desc.type == SN_JOINT_SLIDER);
    case MIMIC:
        SN_TRY(read_numbers(r, "multiplier", 1, &j->multiplier));
        SN_TRY(read_numbers(r, "offset", 1, &j->offset));
        return read_name(r, "joint", "<mimic>", &j->mimic);
    case NPART:
        break;
    }
    return SN_OK;
}

static sn_status begin_joint(reading *r) {
    static const struct {
        const char *name;
        sn_joint_type type;
    } types[] = {{"revolute", SN_JOINT_HINGE},   {"continuous", SN_JOINT_HINGE},
                 {"prismatic", SN_JOINT_SLIDER}, {"fixed", SN_JOINT_FIXED},
                 {"floating", SN_JOINT_FREE},    {"planar", SN_JOINT_PLANAR}};
    sn_urdf *u = r->urdf;
    size_t name;
    SN_TRY(read_name(r, "name", "a joint", &name));
    char word[SN_XML_VALUE];
    bool found;
    SN_TRY(read_optional(r, "type", word, &found));
    if (!found) return FAIL(r, "joint \"%.80s\" has no type=\"...\"", u->names + name);
    size_t k = 0;
    while (k < sizeof types / sizeof types[0] && strcmp(word, types[k].name) != 0) k++;
    if (k == sizeof types / sizeof types[0])
        return FAIL(r,
                    "joint \"%.80s\": the type \"%.40s\" is none of revolute, continuous, "
                    "prismatic, fixed, floating, planar",
                    u->names + name, word);
    void *joints = u->joint;
    sn_status status =
        sn_grow(u->allocator, &joints, &u->joint_capacity, u->njoint + 1, sizeof *u->joint);
    u->joint = joints;
    if (status != SN_OK) return sn_fail_memory(u->error);
    sn_urdf_joint *j = &u->joint[u->njoint++];
    *j = (sn_urdf_joint){.desc = sn_joint_default(types[k].type),
                         .name = name,
                         .parent_link = -1,
                         .child_link = -1,
                         .mimic = SIZE_MAX,
                         .source = -1,
                         .multiplier = 1,
                         .line = r->xml.line};
    j->desc.axis[0] = 1, j->desc.axis[2] = 0;  // the format's default is x
    r->in_joint = true;
    r->revolute = strcmp(word, "revolute") == 0;
    return SN_OK;
}

static sn_status end_joint(reading *r) {
    sn_urdf_joint *j = last_joint(r);
    r->in_joint = false;
    for (part k = PARENT; k <= CHILD; k++)
        if (!(j->seen >> k & 1))
            return sn_fail(r->urdf->error, SN_ERR_PARSE, j->line, "joint \"%.80s\" has no <%s>",
                           joint_name(r), parts[k]);
    bool limited = r->revolute || j->desc.type == SN_JOINT_SLIDER;
    if (limited && !(j->seen >> LIMIT & 1))
        return sn_fail(r->urdf->error, SN_ERR_PARSE, j->line,
                       "joint \"%.80s\" has no <limit>, which %s", joint_name(r),
                       r->revolute ? "a revolute joint needs: one without an end is continuous"
                                   : "a prismatic joint needs");
    const double *a = j->desc.axis;
    bool uses_axis = moves_along_axis(j->desc.type) || j->desc.type == SN_JOINT_PLANAR;
    if (uses_axis && a[0] == 0 && a[1] == 0 && a[2] == 0)
        return sn_fail(r->urdf->error, SN_ERR_PARSE, j->line, "joint \"%.80s\": its axis is 0 0 0",
                       joint_name(r));
    return SN_OK;
}

static sn_status read_link(reading *r) {
    sn_urdf *u = r->urdf;
    size_t name;
    SN_TRY(read_name(r, "name", "a link", &name));
    void *links = u->link;
    sn_status status =
        sn_grow(u->allocator, &links, &u->link_capacity, u->nlink + 1, sizeof *u->link);
    u->link = links;
    if (status != SN_OK) return sn_fail_memory(u->error);
    u->link[u->nlink++] = (sn_urdf_link){.name = name, .joint = -1, .line = r->xml.line};
    r->in_link = true;
    return SN_OK;
}

// Inside <inertial>. The axes of inertia are of no use here, so only the origin's place is kept.
static sn_status read_inertial(reading *r) {
    sn_urdf_link *link = &r->urdf->link[r->urdf->nlink - 1];
    if (sn_xml_is(&r->xml, "origin")) return read_numbers(r, "xyz", 3, link->centre);
    if (!sn_xml_is(&r->xml, "mass")) return SN_OK;
    SN_TRY(read_numbers(r, "value", 1, &link->mass));
    if (link->mass < 0) return FAIL(r, "link \"%.80s\": its mass is below 0", owner_name(r));
    return SN_OK;
}

static sn_status begin_solid(reading *r) {
    sn_urdf *u = r->urdf;
    char name[SN_XML_VALUE];
    bool found;
    SN_TRY(read_optional(r, "name", name, &found));
    if (u->nsolid >= SN_MAX_SHAPES)
        return sn_fail(u->error, SN_ERR_SIZE, r->xml.line, "more than %d collisions",
                       SN_MAX_SHAPES);
    void *solids = u->solid;
    sn_status status =
        sn_grow(u->allocator, &solids, &u->solid_capacity, u->nsolid + 1, sizeof *u->solid);
    u->solid = solids;
    if (status != SN_OK) return sn_fail_memory(u->error);
    sn_urdf_solid *s = &u->solid[u->nsolid++];
    *s = (sn_urdf_solid){
        .link = (int)u->nlink - 1, .name = SIZE_MAX, .rotation = {1, 0, 0, 0}, .line = r->xml.line};
    if (!found || name[0] == '\0' || strlen(name) > SN_MAX_NAME) return SN_OK;
    return keep_name(r, name, &s->name);
}

// Inside <collision>: its origin, and what stands in <geometry>.
static sn_status read_solid(reading *r) {
    static const char *const kinds[] = {"sphere", "capsule", "cylinder", "box"};
    sn_urdf_solid *s = &r->urdf->solid[r->urdf->nsolid - 1];
    if (r->xml.depth == 4 && sn_xml_is(&r->xml, "origin")) {
        double rpy[3] = {0};
        SN_TRY(read_numbers(r, "xyz", 3, s->position));
        SN_TRY(read_numbers(r, "rpy", 3, rpy));
        rotation_of(rpy, s->rotation);
    }
    if (r->xml.depth != 5) return SN_OK;
    r->urdf->nmesh += sn_xml_is(&r->xml, "mesh");
    for (int k = 0; k < 4; k++) {
        if (!sn_xml_is(&r->xml, kinds[k])) continue;
        s->stated = true;
        s->kind = (sn_solid_kind)k;
        if (s->kind == SN_SOLID_BOX) {
            SN_TRY(read_numbers(r, "size", 3, s->size));
            for (int i = 0; i < 3; i++) s->size[i] *= 0.5;
            return SN_OK;
        }
        SN_TRY(read_numbers(r, "radius", 1, &s->size[0]));
        SN_TRY(read_numbers(r, "length", 1, &s->size[1]));
        s->size[1] *= 0.5;
        return SN_OK;
    }
    return SN_OK;
}

static sn_status read_robot(reading *r) {
    char name[SN_XML_VALUE] = "";
    bool found;
    size_t at;
    if (!sn_xml_is(&r->xml, "robot"))
        return FAIL(r,
                    "the outermost element is <%.*s>, not <robot>: is this a model (URDF <robot>, "
                    "MJCF <mujoco>, "
                    "OpenSim <OpenSimDocument>)?",
                    SN_WORD(r->xml.name));
    SN_TRY(read_optional(r, "name", name, &found));
    if (strlen(name) > SN_MAX_NAME)
        return FAIL(r, "the robot's name has more than %d bytes", SN_MAX_NAME);
    return keep_name(r, name, &at);
}

static sn_status read_open(reading *r) {
    sn_word tag = r->xml.name;
    if (tag.length > 6 && memcmp(tag.text, "xacro:", 6) == 0)
        return FAIL(r, "<%.*s> is a macro that is not expanded: run xacro on the file first",
                    SN_WORD(tag));
    if (r->xml.depth == 1) return read_robot(r);
    if (r->xml.depth == 2 && sn_xml_is(&r->xml, "link")) return read_link(r);
    if (r->xml.depth == 2 && sn_xml_is(&r->xml, "joint")) return begin_joint(r);
    if (r->xml.depth == 3 && r->in_link) r->in_inertial = sn_xml_is(&r->xml, "inertial");
    if (r->xml.depth == 4 && r->in_inertial) return read_inertial(r);
    if (r->xml.depth == 3 && r->in_link && sn_xml_is(&r->xml, "collision")) {
        r->in_collision = true;
        return begin_solid(r);
    }
    if (r->xml.depth >= 4 && r->in_collision) return read_solid(r);
    if (r->xml.depth != 3 || !r->in_joint) return SN_OK;
    for (int k = 0; k < NPART; k++) {
        if (!sn_xml_is(&r->xml, parts[k])) continue;
        if (last_joint(r)->seen >> k & 1)
            return FAIL(r, "joint \"%.80s\": <%s> stands twice", joint_name(r), parts[k]);
        last_joint(r)->seen |= 1u << k;
        return read_part(r, (part)k);
    }
    return SN_OK;
}

sn_status sn_urdf_parse(sn_urdf *urdf, const char *text, size_t length) {
    reading r = {.urdf = urdf};
    sn_xml_begin(&r.xml, text, length, urdf->error);
    for (;;) {
        sn_xml_event event;
        SN_TRY(sn_xml_next(&r.xml, &event));
        if (event == SN_XML_END) return SN_OK;
        if (event == SN_XML_OPEN) SN_TRY(read_open(&r));
        if (event == SN_XML_CLOSE && r.xml.depth == 2) r.in_inertial = r.in_collision = false;
        if (event == SN_XML_CLOSE && r.xml.depth == 1) r.in_link = false;
        if (event == SN_XML_CLOSE && r.in_joint && r.xml.depth == 1) SN_TRY(end_joint(&r));
    }
}
