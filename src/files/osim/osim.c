// SPDX-License-Identifier: MIT
// Reading .osim files: bodies, joints, coordinates and markers, wherever the versions put them.
//
//   version 2, 3   BodySet/objects/Body/Joint/<kind of joint>, which states the parent body and where
//                  the joint sits in both; CoordinateSet/objects/Coordinate inside it
//   version 4      JointSet/objects/<kind of joint>, whose sockets name frames: PhysicalOffsetFrames of
//                  its own under <frames>, or bodies; coordinates/Coordinate inside it
//
// ConstraintSet/objects holds couplers of coordinates and constraints between bodies; these name bodies
// in version 3 and sockets in version 4.
//
// Everything else is passed over. A value is the text of an element without elements inside, so it is
// looked at when such an element closes.
#include "files/osim/osim.h"

#include <math.h>
#include <string.h>

#include "files/xml.h"

// What is being read; each may be inside the one before.
typedef enum scope { JOINT, AXIS, COORDINATE, FRAME, MARKER, CONSTRAINT, NSCOPE } scope;

typedef struct reading {
    sn_xml xml;
    sn_osim *u;
    int depth[NSCOPE];  // of the element of each scope, 0: not inside
    int body;           // that is open
    int slot;           // of the axis that is open
    bool coupling;      // it is the function of a coupler
    bool timing;        // it is what a coordinate is prescribed by
    bool model;         // <Model> was met
    bool leaf;          // no element was opened since the last
    int line;           // of the last OPEN
    char *text;         // of the element that is open, not terminated
    size_t length, capacity;
} reading;

#define FAIL(r, ...)  sn_fail((r)->u->error, SN_ERR_PARSE, (r)->line, __VA_ARGS__)
#define LAST(r, list) (&(r)->u->list[(r)->u->n##list - 1])
#define NAME(r, at)   ((r)->u->names + (at))

const sn_osim_joint_type sn_osim_joint_types[] = {
    {"CustomJoint", -1, {{0, 0}}, false, false},
    {"PinJoint", 1, {{0, 2}}, false, false},
    {"SliderJoint", 1, {{3, 0}}, false, false},
    {"WeldJoint", 0, {{0, 0}}, false, false},
    {"BallJoint", 3, {{0, 0}, {1, 1}, {2, 2}}, false, false},
    {"GimbalJoint", 3, {{0, 0}, {1, 1}, {2, 2}}, false, false},
    {"UniversalJoint", 2, {{0, 0}, {1, 1}}, false, false},
    {"PlanarJoint", 3, {{0, 2}, {3, 0}, {4, 1}}, false, false},
    {"FreeJoint", 6, {{0, 0}, {1, 1}, {2, 2}, {3, 0}, {4, 1}, {5, 2}}, false, false},
    {"EllipsoidJoint", 3, {{0, 0}, {1, 1}, {2, 2}}, true, false},
    {"ScapulothoracicJoint", 4, {{0, 0}, {1, 1}, {2, 2}, {3, 0}}, true, true},
};
const int sn_osim_njoint_type = sizeof sn_osim_joint_types / sizeof sn_osim_joint_types[0];

sn_status sn_osim_grow(const sn_osim *u, void *list, size_t *capacity, size_t need, size_t size) {
    void *items;
    memcpy(&items, list, sizeof items);
    sn_status status = sn_grow(u->allocator, &items, capacity, need, size);
    memcpy(list, &items, sizeof items);
    return status == SN_OK ? SN_OK : sn_fail_memory(u->error);
}

// --- values ------------------------------------------------------------------------------------------

static bool word_is(sn_word word, const char *text) {
    return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

// The element around the last one that was opened or closed; 1: the nearest.
static bool inside(const reading *r, int outer, int level, const char *name) {
    int k = outer - level;
    return k >= 0 && word_is(r->xml.open[k].name, name);
}

static sn_status keep_name(reading *r, sn_word word, const char *what, size_t *at) {
    sn_osim *u = r->u;
    if (word.length > SN_MAX_NAME) return FAIL(r, "%s has more than %d bytes", what, SN_MAX_NAME);
    SN_TRY(SN_OSIM_ROOM(u, names, word.length + 1));
    *at = u->nnames;
    memcpy(u->names + *at, word.text, word.length);
    u->names[*at + word.length] = '\0';
    u->nnames += word.length + 1;
    return SN_OK;
}

// The name="..." of the element that was opened.
static sn_status read_name(reading *r, const char *what, bool needed, size_t *at) {
    char value[SN_XML_VALUE] = "";
    const sn_xml_attribute *attribute = sn_xml_find(&r->xml, "name");
    if (attribute != NULL) SN_TRY(sn_xml_value(&r->xml, attribute, value));
    if (needed && value[0] == '\0') return FAIL(r, "%s has no name=\"...\"", what);
    return keep_name(r, (sn_word){value, strlen(value)}, what, at);
}

// The next word of the text behind *at.
static bool next_word(const reading *r, size_t *at, sn_word *out) {
    while (*at < r->length && r->text[*at] == ' ') ++*at;
    size_t from = *at;
    while (*at < r->length && r->text[*at] != ' ') ++*at;
    *out = from < *at ? (sn_word){r->text + from, *at - from} : (sn_word){"", 0};
    return out->length > 0;
}

static sn_status read_number(reading *r, sn_word word, double *out) {
    if (sn_word_number(word, out)) return SN_OK;
    return FAIL(r, "<%.*s>: \"%.*s\" is not a number", SN_WORD(r->xml.name), SN_WORD(word));
}

static sn_status read_numbers(reading *r, int count, double *out) {
    size_t at = 0;
    sn_word word;
    int n = 0;
    for (; next_word(r, &at, &word); n++) {
        double number;
        SN_TRY(read_number(r, word, &number));
        if (n < count) out[n] = number;
    }
    if (n == count) return SN_OK;
    return FAIL(r, "<%.*s> needs %d number%s, here are %d", SN_WORD(r->xml.name), count,
                count > 1 ? "s" : "", n);
}

// Any count of numbers, behind the others of the file.
static sn_status read_list(reading *r, size_t *first, size_t *count) {
    sn_osim *u = r->u;
    size_t at = 0;
    sn_word word;
    *first = u->nnumbers;
    while (next_word(r, &at, &word)) {
        SN_TRY(SN_OSIM_ROOM(u, numbers, 1));
        SN_TRY(read_number(r, word, &u->numbers[u->nnumbers]));
        u->nnumbers++;
    }
    *count = u->nnumbers - *first;
    return SN_OK;
}

static sn_status read_flag(reading *r, bool *out) {
    size_t at = 0;
    sn_word word;
    (void)next_word(r, &at, &word);
    *out = sn_word_is(word, "true") || sn_word_is(word, "1");
    if (*out || sn_word_is(word, "false") || sn_word_is(word, "0")) return SN_OK;
    return FAIL(r, "<%.*s> is \"%.*s\", neither true nor false", SN_WORD(r->xml.name),
                SN_WORD(word));
}

// A name, or the last part of a path: "pelvis", "/bodyset/pelvis", "../pelvis".
static sn_status read_path(reading *r, size_t *out) {
    size_t from = 0, to = r->length;
    while (from < to && r->text[from] == ' ') from++;
    while (to > from && r->text[to - 1] == ' ') to--;
    for (size_t i = from; i < to; i++)
        if (r->text[i] == '/') from = i + 1;
    if (from == to) return FAIL(r, "<%.*s> names nothing", SN_WORD(r->xml.name));
    return keep_name(r, (sn_word){r->text + from, to - from}, "the name", out);
}

// --- elements that close with a value -------------------------------------------------------------

// A socket of version 4; early ones have a longer name.
static bool is_socket(const reading *r, const char *name) {
    static const char tail[] = "_connectee_name";
    sn_word word = r->xml.name;
    size_t n = sizeof tail - 1;
    if (word.length > n && memcmp(word.text + word.length - n, tail, n) == 0) word.length -= n;
    return word_is(word, name);
}

static sn_status joint_value(reading *r) {
    sn_osim_joint *j = LAST(r, joint);
    const sn_xml *xml = &r->xml;
    if (sn_xml_is(xml, "parent_body") || is_socket(r, "socket_parent_frame"))
        return read_path(r, &j->parent.body);
    if (is_socket(r, "socket_child_frame")) return read_path(r, &j->child.body);
    if (sn_xml_is(xml, "location_in_parent")) return read_numbers(r, 3, j->parent.position);
    if (sn_xml_is(xml, "orientation_in_parent")) return read_numbers(r, 3, j->parent.angles);
    if (sn_xml_is(xml, "location")) return read_numbers(r, 3, j->child.position);
    if (sn_xml_is(xml, "orientation")) return read_numbers(r, 3, j->child.angles);
    if (sn_xml_is(xml, "radii_x_y_z") || sn_xml_is(xml, "thoracic_ellipsoid_radii_x_y_z"))
        return read_numbers(r, 3, j->radii);
    if (sn_xml_is(xml, "scapula_winging_axis_origin")) return read_numbers(r, 2, j->wing_origin);
    if (sn_xml_is(xml, "scapula_winging_axis_direction"))
        return read_numbers(r, 1, &j->wing_direction);
    return sn_xml_is(xml, "reverse") ? read_flag(r, &j->reverse) : SN_OK;
}

// The axis that is open, and what it belongs to.
static sn_osim_axis *open_axis(reading *r) {
    if (r->timing) return &LAST(r, coordinate)->by_time;
    return r->coupling ? &LAST(r, coupler)->axis : &LAST(r, joint)->axis[r->slot];
}

static const char *axis_owner(reading *r) {
    if (r->timing) return NAME(r, LAST(r, coordinate)->name);
    return NAME(r, r->coupling ? LAST(r, coupler)->name : LAST(r, joint)->name);
}

static const char *axis_kind(const reading *r) {
    return r->timing ? "coordinate" : r->coupling ? "coupler" : "joint";
}

static sn_status read_arguments(reading *r, sn_osim_axis *a) {
    size_t at = 0;
    sn_word word;
    while (next_word(r, &at, &word)) {
        if (a->ncoordinate == SN_MAX_ARGUMENTS)
            return FAIL(r, "%s \"%.80s\": a motion follows more than %d coordinates", axis_kind(r),
                        axis_owner(r), SN_MAX_ARGUMENTS);
        SN_TRY(keep_name(r, word, "the coordinate's name", &a->coordinate[a->ncoordinate]));
        a->ncoordinate++;
    }
    return SN_OK;
}

// Constraints are switched off by version 3, and on by version 4.
static bool is_switch(const reading *r) {
    return sn_xml_is(&r->xml, "isDisabled") || sn_xml_is(&r->xml, "isEnforced");
}

static sn_status read_switch(reading *r, bool *off) {
    bool flag;
    SN_TRY(read_flag(r, &flag));
    *off = flag == sn_xml_is(&r->xml, "isDisabled");
    return SN_OK;
}

// What a coupler says beside its function.
static sn_status coupler_value(reading *r, bool *done) {
    sn_osim_coupler *c = LAST(r, coupler);
    const sn_xml *xml = &r->xml;
    *done = true;
    if (sn_xml_is(xml, "independent_coordinate_names")) return read_arguments(r, &c->axis);
    if (sn_xml_is(xml, "dependent_coordinate_name")) return read_path(r, &c->dependent);
    if (is_switch(r)) return read_switch(r, &c->off);
    if (sn_xml_is(xml, "scale_factor")) {
        double scale;
        SN_TRY(read_numbers(r, 1, &scale));
        c->axis.function.scale *= scale;
        return SN_OK;
    }
    *done = false;
    return SN_OK;
}

static sn_status axis_value(reading *r) {
    sn_osim_axis *a = open_axis(r);
    bool done = false;
    if (r->coupling) SN_TRY(coupler_value(r, &done));
    if (done) return SN_OK;
    sn_osim_function *f = &a->function;
    const sn_xml *xml = &r->xml;
    if (sn_xml_is(xml, "axis")) return read_numbers(r, 3, a->axis);
    if (sn_xml_is(xml, "x")) return read_list(r, &f->x, &f->nx);
    if (sn_xml_is(xml, "y") || sn_xml_is(xml, "coefficients") || sn_xml_is(xml, "value"))
        return read_list(r, &f->y, &f->ny);
    if (sn_xml_is(xml, "scale")) {
        double scale;
        SN_TRY(read_numbers(r, 1, &scale));
        f->scale *= scale;
        return SN_OK;
    }
    static const char *const waves[] = {"amplitude", "omega", "phase", "offset"};
    for (int i = 0; i < 4; i++)
        if (sn_xml_is(xml, waves[i])) return read_numbers(r, 1, &f->wave[i]);
    return sn_xml_is(xml, "coordinates") ? read_arguments(r, a) : SN_OK;
}

static sn_status coordinate_value(reading *r) {
    sn_osim_coordinate *c = LAST(r, coordinate);
    if (sn_xml_is(&r->xml, "default_value")) return read_numbers(r, 1, &c->value);
    if (sn_xml_is(&r->xml, "clamped")) return read_flag(r, &c->clamped);
    if (sn_xml_is(&r->xml, "locked")) return read_flag(r, &c->locked);
    if (sn_xml_is(&r->xml, "prescribed")) return read_flag(r, &c->prescribed);
    if (!sn_xml_is(&r->xml, "range")) return SN_OK;
    SN_TRY(read_numbers(r, 2, c->range));
    c->ranged = true;
    if (c->range[0] <= c->range[1]) return SN_OK;
    return FAIL(r, "coordinate \"%.80s\": its range ends before it begins", NAME(r, c->name));
}

// Whether an element of this name is around the one that closes.
static bool somewhere_in(const reading *r, const char *name) {
    for (int k = 0; k < r->xml.depth; k++)
        if (word_is(r->xml.open[k].name, name)) return true;
    return false;
}

static sn_status frame_value(reading *r) {
    sn_osim_place *place = &LAST(r, frame)->place;
    if (is_socket(r, "socket_parent")) {
        size_t at = 0;
        sn_word word;
        // a frame among a body's own components sits on that body
        if (next_word(r, &at, &word) && word_is(word, "..") && r->body > 0 &&
            somewhere_in(r, "Body")) {
            place->body = r->u->body[r->body].name;
            return SN_OK;
        }
        return read_path(r, &place->body);
    }
    if (sn_xml_is(&r->xml, "translation")) return read_numbers(r, 3, place->position);
    return sn_xml_is(&r->xml, "orientation") ? read_numbers(r, 3, place->angles) : SN_OK;
}

static sn_status marker_value(reading *r) {
    sn_osim_marker *m = LAST(r, marker);
    if (sn_xml_is(&r->xml, "body") || is_socket(r, "socket_parent_frame"))
        return read_path(r, &m->body);
    if (sn_xml_is(&r->xml, "fixed")) {
        size_t at = 0;
        sn_word word;
        m->fixed = next_word(r, &at, &word) && (word_is(word, "true") || word_is(word, "1"));
        return SN_OK;
    }
    return sn_xml_is(&r->xml, "location") ? read_numbers(r, 3, m->position) : SN_OK;
}

static sn_status constraint_value(reading *r) {
    static const char *const bodies[][2] = {
        {"body_1", "body_2"}, {"frame1", "frame2"}, {"follower_body", "line_body"}};
    static const char *const sockets[][2] = {{"socket_body_1", "socket_body_2"},
                                             {"socket_frame1", "socket_frame2"},
                                             {"socket_follower_body", "socket_line_body"}};
    static const char *const places[][2] = {{"location_body_1", "location_body_2"},
                                            {"point_on_follower", "point_on_line"}};
    static const char *const turns[2] = {"orientation_body_1", "orientation_body_2"};
    sn_osim_constraint *c = LAST(r, constraint);
    if (is_switch(r)) return read_switch(r, &c->off);
    if (sn_xml_is(&r->xml, "line_direction_vec")) return read_numbers(r, 3, c->direction);
    if (sn_xml_is(&r->xml, "constant_distance")) return read_numbers(r, 1, &c->distance);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++)
            if (sn_xml_is(&r->xml, bodies[k][i]) || is_socket(r, sockets[k][i]))
                return read_path(r, &c->end[i].body);
        for (int k = 0; k < 2; k++)
            if (sn_xml_is(&r->xml, places[k][i])) return read_numbers(r, 3, c->end[i].position);
        if (sn_xml_is(&r->xml, turns[i])) return read_numbers(r, 3, c->end[i].angles);
    }
    return SN_OK;
}

// Is the innermost of `depth` open elements, or the one that closed inside them, a body's own?
static bool in_body(const reading *r, int depth) {
    return r->body > 0 && inside(r, depth, 1, "Body") && inside(r, depth, 3, "BodySet");
}

static sn_status body_value(reading *r) {
    sn_osim_body *body = &r->u->body[r->body];
    if (sn_xml_is(&r->xml, "mass_center")) return read_numbers(r, 3, body->centre);
    if (!sn_xml_is(&r->xml, "mass")) return SN_OK;
    SN_TRY(read_numbers(r, 1, &body->mass));
    if (body->mass >= 0) return SN_OK;
    return FAIL(r, "body \"%.80s\": its mass is below 0", NAME(r, body->name));
}

// Is a picture of a body's bones open? The axes of its frame and what muscles wrap around have pictures of their own.
static bool in_picture(const reading *r) {
    return r->body > 0 && (somewhere_in(r, "Mesh") || somewhere_in(r, "VisibleObject")) &&
           somewhere_in(r, "Body") && somewhere_in(r, "BodySet") &&
           !somewhere_in(r, "WrapObjectSet");
}

// How large a picture is drawn says nothing of the figure: wrong numbers are passed over.
static void drawn_value(reading *r) {
    if (!in_picture(r)) return;
    sn_osim_body *body = &r->u->body[r->body];
    body->drawn |= sn_xml_is(&r->xml, "mesh_file") || sn_xml_is(&r->xml, "geometry_file");
    size_t at = 0;
    sn_word word;
    double factor;
    while (sn_xml_is(&r->xml, "scale_factors") && next_word(r, &at, &word))
        body->resized |= sn_word_number(word, &factor) && fabs(factor - 1) > 1e-9;
}

// Values of a scope stand right inside its element, but those of an axis may be deeper: functions are
// nested in functions.
static sn_status read_value(reading *r) {
    int outer = r->xml.depth;
    if (outer == 0) return SN_OK;
    if (r->depth[AXIS] > 0) return axis_value(r);
    if (r->depth[COORDINATE] == outer) return coordinate_value(r);
    if (r->depth[FRAME] == outer) return frame_value(r);
    if (r->depth[JOINT] == outer) return joint_value(r);
    if (r->depth[MARKER] == outer) return marker_value(r);
    if (r->depth[CONSTRAINT] == outer) return constraint_value(r);
    if (in_body(r, outer)) return body_value(r);
    static const char *const pictures[] = {"mesh_file", "geometry_file", "scale_factors"};
    for (int i = 0; i < 3; i++)
        if (sn_xml_is(&r->xml, pictures[i])) drawn_value(r);
    return SN_OK;
}

// --- elements that open ---------------------------------------------------------------------------

static sn_status begin_document(reading *r) {
    char value[SN_XML_VALUE] = "";
    if (!sn_xml_is(&r->xml, "OpenSimDocument"))
        return FAIL(
            r, "the outermost element is <%.*s>, not <OpenSimDocument>: is this an OpenSim model?",
            SN_WORD(r->xml.name));
    const sn_xml_attribute *version = sn_xml_find(&r->xml, "Version");
    if (version != NULL) SN_TRY(sn_xml_value(&r->xml, version, value));
    int *number = &r->u->info.version;
    if (!sn_word_integer((sn_word){value, strlen(value)}, number))
        return FAIL(r, "<OpenSimDocument> has no Version=\"...\" that is a number");
    if (*number < 20000 || *number > 49999)
        return FAIL(
            r,
            "this is a file of version %d; versions 20000 to 49999 (OpenSim 2 to 4) are read: "
            "open and save it with OpenSim 4",
            *number);
    return SN_OK;
}

static sn_status begin_body(reading *r) {
    sn_osim *u = r->u;
    size_t name;
    SN_TRY(read_name(r, "a body", true, &name));
    r->body = 0;
    if (strcmp(u->names + name, "ground") == 0) return SN_OK;
    SN_TRY(SN_OSIM_ROOM(u, body, 1));
    r->body = (int)u->nbody;
    u->body[u->nbody++] = (sn_osim_body){.name = name, .at = -1, .line = r->line};
    return SN_OK;
}

static sn_status begin_joint(reading *r, bool in_body) {
    sn_osim *u = r->u;
    int type = 0;
    size_t name;
    SN_TRY(read_name(r, "a joint", true, &name));
    while (type < sn_osim_njoint_type && !sn_xml_is(&r->xml, sn_osim_joint_types[type].name))
        type++;
    if (type == sn_osim_njoint_type)
        return FAIL(r, "joint \"%.80s\" is a <%.*s>, which is not supported (file version %d)",
                    NAME(r, name), SN_WORD(r->xml.name), u->info.version);
    SN_TRY(SN_OSIM_ROOM(u, joint, 1));
    sn_osim_joint *j = &u->joint[u->njoint++];
    *j = (sn_osim_joint){.name = name,
                         .type = type,
                         .parent.body = SIZE_MAX,
                         .child.body = in_body ? u->body[r->body].name : SIZE_MAX,
                         .own.first = u->nframe,
                         .coordinate = u->ncoordinate,
                         .line = r->line};
    for (int k = 0; k < SN_OSIM_AXES; k++) {
        j->axis[k] = (sn_osim_axis){.function = {.scale = 1, .wave = {1, 1}}, .line = r->line};
        j->axis[k].axis[k % 3] = 1;
    }
    r->depth[JOINT] = r->xml.depth;
    return SN_OK;
}

static sn_status begin_axis(reading *r) {
    static const char *const slots[SN_OSIM_AXES] = {"rotation1",    "rotation2",    "rotation3",
                                                    "translation1", "translation2", "translation3"};
    sn_osim_joint *j = LAST(r, joint);
    size_t name;
    SN_TRY(read_name(r, "a TransformAxis", true, &name));
    r->slot = 0;
    while (r->slot < SN_OSIM_AXES && strcmp(NAME(r, name), slots[r->slot]) != 0) r->slot++;
    if (r->slot == SN_OSIM_AXES)
        return FAIL(r,
                    "joint \"%.60s\": the TransformAxis \"%.60s\" is none of rotation1 to "
                    "translation3",
                    NAME(r, j->name), NAME(r, name));
    j->axis[r->slot].line = r->line;
    r->coupling = r->timing = false;
    r->depth[AXIS] = r->xml.depth;
    return SN_OK;
}

// What a coordinate is prescribed by, a function of the time, is read as that of an axis.
static sn_status begin_prescribed(reading *r) {
    LAST(r, coordinate)->by_time =
        (sn_osim_axis){.function = {.scale = 1, .wave = {1, 1}}, .line = r->line};
    r->coupling = false;
    r->timing = true;
    r->depth[AXIS] = r->xml.depth;
    return SN_OK;
}

// Inside an axis, what starts with a capital is a function.
static sn_status begin_function(reading *r) {
    static const struct {
        const char *name;
        sn_function_type type;
        bool falling;
    } known[] = {{"Constant", SN_FUNCTION_CONSTANT, false},
                 {"LinearFunction", SN_FUNCTION_LINEAR, false},
                 {"PolynomialFunction", SN_FUNCTION_POLYNOMIAL, true},
                 {"MultivariatePolynomialFunction", SN_FUNCTION_POLYNOMIAL, false},
                 {"SimmSpline", SN_FUNCTION_SPLINE, false},
                 {"NaturalCubicSpline", SN_FUNCTION_SPLINE, false},
                 {"natCubicSpline", SN_FUNCTION_SPLINE, false},
                 {"GCVSpline", SN_FUNCTION_SPLINE, false},
                 {"PiecewiseLinearFunction", SN_FUNCTION_POLYLINE, false},
                 {"Sine", SN_FUNCTION_SINE, false}};
    sn_osim_function *f = &open_axis(r)->function;
    if (sn_xml_is(&r->xml, "MultiplierFunction")) return SN_OK;
    size_t k = 0;
    while (k < sizeof known / sizeof known[0] && !sn_xml_is(&r->xml, known[k].name)) k++;
    if (k < sizeof known / sizeof known[0]) {
        if (f->stated)
            return FAIL(r, "%s \"%.80s\": a TransformAxis has two functions", axis_kind(r),
                        axis_owner(r));
        f->stated = true;
        f->type = known[k].type;
        f->falling = known[k].falling;
        if (sn_xml_is(&r->xml, "GCVSpline") && !r->timing)
            sn_osim_note(r->u, "%.60s: a GCVSpline is taken for a cubic spline through its points",
                         axis_owner(r));
    } else if (r->xml.name.text[0] < 'A' || r->xml.name.text[0] > 'Z') {
        return SN_OK;
    } else if (r->timing) {
        // it matters only where the coordinate is prescribed, which may be said behind it
        LAST(r, coordinate)->unreadable = true;
    } else {
        return FAIL(r, "%s \"%.80s\": the function <%.*s> is not supported (file version %d)",
                    axis_kind(r), axis_owner(r), SN_WORD(r->xml.name), r->u->info.version);
    }
    return SN_OK;
}

// A coupler's function is read as that of an axis.
static sn_status begin_coupler(reading *r) {
    sn_osim *u = r->u;
    size_t name;
    SN_TRY(read_name(r, "a constraint", true, &name));
    SN_TRY(SN_OSIM_ROOM(u, coupler, 1));
    u->coupler[u->ncoupler++] =
        (sn_osim_coupler){.name = name,
                          .dependent = SIZE_MAX,
                          .axis = {.function = {.scale = 1, .wave = {1, 1}}, .line = r->line}};
    r->coupling = true;
    r->timing = false;
    r->depth[AXIS] = r->xml.depth;
    return SN_OK;
}

// A constraint between bodies; those of other kinds are counted.
static sn_status begin_constraint(reading *r) {
    static const struct {
        const char *name;
        sn_loop_type type;
    } known[] = {{"WeldConstraint", SN_LOOP_WELD},
                 {"PointConstraint", SN_LOOP_POINT},
                 {"PointOnLineConstraint", SN_LOOP_LINE},
                 {"ConstantDistanceConstraint", SN_LOOP_DISTANCE}};
    sn_osim *u = r->u;
    size_t k = 0, name;
    while (k < sizeof known / sizeof known[0] && !sn_xml_is(&r->xml, known[k].name)) k++;
    if (k == sizeof known / sizeof known[0]) {
        u->nstranger++;
        return SN_OK;
    }
    SN_TRY(read_name(r, "a constraint", false, &name));
    SN_TRY(SN_OSIM_ROOM(u, constraint, 1));
    u->constraint[u->nconstraint++] =
        (sn_osim_constraint){.name = name,
                             .type = known[k].type,
                             .end = {{.body = SIZE_MAX}, {.body = SIZE_MAX}},
                             .own.first = u->nframe,
                             .distance = NAN,
                             .line = r->line};
    r->depth[CONSTRAINT] = r->xml.depth;
    return SN_OK;
}

static sn_status begin_coordinate(reading *r) {
    sn_osim *u = r->u;
    size_t name;
    SN_TRY(read_name(r, "a coordinate", true, &name));
    SN_TRY(SN_OSIM_ROOM(u, coordinate, 1));
    u->coordinate[u->ncoordinate++] = (sn_osim_coordinate){.name = name, .line = r->line};
    LAST(r, joint)->ncoordinate++;
    r->depth[COORDINATE] = r->xml.depth;
    return SN_OK;
}

static sn_status begin_frame(reading *r) {
    sn_osim *u = r->u;
    size_t name;
    SN_TRY(read_name(r, "a frame", true, &name));
    SN_TRY(SN_OSIM_ROOM(u, frame, 1));
    u->frame[u->nframe++] = (sn_osim_frame){.name = name, .place.body = SIZE_MAX};
    if (r->depth[JOINT] > 0) LAST(r, joint)->own.count++;
    if (r->depth[CONSTRAINT] > 0) LAST(r, constraint)->own.count++;
    r->depth[FRAME] = r->xml.depth;
    return SN_OK;
}

static sn_status begin_marker(reading *r) {
    sn_osim *u = r->u;
    size_t name;
    SN_TRY(read_name(r, "a marker", true, &name));
    SN_TRY(SN_OSIM_ROOM(u, marker, 1));
    u->marker[u->nmarker++] = (sn_osim_marker){.name = name, .body = SIZE_MAX, .line = r->line};
    r->depth[MARKER] = r->xml.depth;
    return SN_OK;
}

static sn_status read_open(reading *r) {
    const sn_xml *xml = &r->xml;
    int outer = xml->depth - 1;  // elements around this one
    if (outer == 0) return begin_document(r);
    if (outer == 1 && sn_xml_is(xml, "Model")) {
        r->model = true;
        return read_name(r, "the model's name", false, &r->u->name);
    }
    if (r->depth[AXIS] > 0) return begin_function(r);
    if (r->depth[JOINT] > 0) {
        if (sn_xml_is(xml, "TransformAxis")) return begin_axis(r);
        if (sn_xml_is(xml, "Coordinate")) return begin_coordinate(r);
        if (r->depth[COORDINATE] > 0 && sn_xml_is(xml, "prescribed_function"))
            return begin_prescribed(r);
        if (sn_xml_is(xml, "PhysicalOffsetFrame") && inside(r, outer, 1, "frames"))
            return begin_frame(r);
        return SN_OK;
    }
    if (r->depth[MARKER] > 0 || r->depth[FRAME] > 0) return SN_OK;
    // a frame of a body, of ground or of the model
    if (sn_xml_is(xml, "PhysicalOffsetFrame")) return begin_frame(r);
    if (inside(r, outer, 1, "Joint") && inside(r, outer, 2, "Body")) return begin_joint(r, true);
    if (!inside(r, outer, 1, "objects")) return SN_OK;
    if (inside(r, outer, 2, "JointSet")) return begin_joint(r, false);
    if (inside(r, outer, 2, "BodySet") && sn_xml_is(xml, "Body")) return begin_body(r);
    if (inside(r, outer, 2, "MarkerSet") && sn_xml_is(xml, "Marker")) return begin_marker(r);
    if (!inside(r, outer, 2, "ConstraintSet")) return SN_OK;
    if (sn_xml_is(xml, "CoordinateCouplerConstraint")) return begin_coupler(r);
    return begin_constraint(r);
}

// --- elements that close --------------------------------------------------------------------------

static sn_status put_numbers(reading *r, const double *from, size_t n, sn_osim_function *f) {
    sn_osim *u = r->u;
    SN_TRY(SN_OSIM_ROOM(u, numbers, n));
    memcpy(u->numbers + u->nnumbers, from, n * sizeof *from);
    f->y = u->nnumbers;
    f->ny = n;
    u->nnumbers += n;
    return SN_OK;
}

// What OpenSim takes where the file is silent; then the function must be right.
static sn_status end_axis(reading *r) {
    static const double line[2] = {1, 0};
    sn_osim_axis *a = open_axis(r);
    sn_osim_function *f = &a->function;
    if (r->timing) {
        if (!f->stated || LAST(r, coordinate)->unreadable) return SN_OK;
        a->ncoordinate = 1;  // the time
    }
    if (!f->stated) f->type = a->ncoordinate > 0 ? SN_FUNCTION_LINEAR : SN_FUNCTION_CONSTANT;
    if (f->type == SN_FUNCTION_CONSTANT) {
        a->ncoordinate = 0;  // it follows none, whatever is listed
        if (f->ny == 0) SN_TRY(put_numbers(r, line + 1, 1, f));
    }
    if (f->type == SN_FUNCTION_LINEAR && f->ny == 0 && a->ncoordinate == 1)
        SN_TRY(put_numbers(r, line, 2, f));
    if (f->type == SN_FUNCTION_SINE) SN_TRY(put_numbers(r, f->wave, 4, f));
    for (size_t i = 0; f->falling && i < f->ny / 2; i++) {
        double *y = r->u->numbers + f->y, t = y[i];
        y[i] = y[f->ny - 1 - i];
        y[f->ny - 1 - i] = t;
    }
    const double *numbers = r->u->numbers;
    bool many = f->nx > SN_MAX_FUNCTION_NUMBERS || f->ny > SN_MAX_FUNCTION_NUMBERS;
    sn_function whole = {.type = f->type,
                         .scale = f->scale,
                         .nargument = a->ncoordinate,
                         .argument = {0, 1, 2, 3, 4, 5},
                         .nx = many ? -1 : (int)f->nx,
                         .ny = many ? -1 : (int)f->ny,
                         .x = numbers != NULL ? numbers + f->x : NULL,
                         .y = numbers != NULL ? numbers + f->y : NULL};
    const char *wrong = f->falling && a->ncoordinate > 1
                            ? "it follows several coordinates"
                            : sn_function_check(&whole, a->ncoordinate);
    if (wrong == NULL) return SN_OK;
    return sn_fail(r->u->error, SN_ERR_PARSE, a->line,
                   r->timing     ? "coordinate \"%.80s\": its prescribed_function is wrong: %s"
                   : r->coupling ? "coupler \"%.80s\": its function is wrong: %s"
                                 : "joint \"%.80s\": the function of a TransformAxis is wrong: %s",
                   axis_owner(r), wrong);
}

// All joints but the CustomJoint have coordinates that move along and about fixed axes.
static sn_status end_joint(reading *r) {
    static const double line[2] = {1, 0};
    sn_osim *u = r->u;
    sn_osim_joint *j = LAST(r, joint);
    const sn_osim_joint_type *type = &sn_osim_joint_types[j->type];
    if (j->parent.body == SIZE_MAX || j->child.body == SIZE_MAX)
        return sn_fail(u->error, SN_ERR_PARSE, j->line, "joint \"%.80s\" states no %s",
                       NAME(r, j->name), j->parent.body == SIZE_MAX ? "parent" : "child");
    if (type->ncoordinate < 0) return SN_OK;
    if (j->ncoordinate != (size_t)type->ncoordinate)
        return sn_fail(u->error, SN_ERR_PARSE, j->line,
                       "joint \"%.80s\" has %zu coordinates, but a %s "
                       "has %d",
                       NAME(r, j->name), j->ncoordinate, type->name, type->ncoordinate);
    if (type->ellipsoid && !(j->radii[0] > 0 && j->radii[1] > 0 && j->radii[2] > 0))
        return sn_fail(u->error, SN_ERR_PARSE, j->line,
                       "joint \"%.80s\": the ellipsoid's radii must be above 0", NAME(r, j->name));
    for (int k = 0; k < type->ncoordinate; k++) {
        sn_osim_axis *a = &j->axis[type->moves[k].slot];
        for (int i = 0; i < 3; i++) a->axis[i] = i == type->moves[k].axis;
        a->coordinate[0] = u->coordinate[j->coordinate + (size_t)k].name;
        a->ncoordinate = 1;
        a->function = (sn_osim_function){.type = SN_FUNCTION_LINEAR, .stated = true, .scale = 1};
        SN_TRY(put_numbers(r, line, 2, &a->function));
    }
    return SN_OK;
}

static sn_status read_close(reading *r) {
    int closed = r->xml.depth + 1;
    if (r->leaf) SN_TRY(read_value(r));
    for (scope k = 0; k < NSCOPE; k++) {
        if (r->depth[k] != closed) continue;
        r->depth[k] = 0;
        if (k == AXIS) SN_TRY(end_axis(r));
        if (k == JOINT) SN_TRY(end_joint(r));
        if (k == MARKER && LAST(r, marker)->body == SIZE_MAX)
            return sn_fail(r->u->error, SN_ERR_PARSE, LAST(r, marker)->line,
                           "marker \"%.80s\" states no body", NAME(r, LAST(r, marker)->name));
    }
    return SN_OK;
}

static sn_status read_text(reading *r) {
    bool value = in_body(r, r->xml.depth - 1);
    if (inside(r, r->xml.depth, 1, "scale_factors")) value = in_picture(r);
    if (!value && r->depth[JOINT] == 0 && r->depth[AXIS] == 0 && r->depth[MARKER] == 0 &&
        r->depth[FRAME] == 0 && r->depth[CONSTRAINT] == 0)
        return SN_OK;
    size_t written;
    SN_TRY(sn_osim_grow(r->u, &r->text, &r->capacity, r->length + r->xml.text.length, 1));
    SN_TRY(sn_xml_text(&r->xml, r->text + r->length, &written));
    r->length += written;
    return SN_OK;
}

static sn_status read_all(reading *r) {
    for (;;) {
        sn_xml_event event;
        SN_TRY(sn_xml_next(&r->xml, &event));
        if (event == SN_XML_END)
            return r->model
                       ? SN_OK
                       : FAIL(r, "there is no <Model> in this OpenSim file: is it a tool's setup?");
        if (event == SN_XML_TEXT) {
            SN_TRY(read_text(r));
            continue;
        }
        if (event == SN_XML_OPEN) r->line = r->xml.line;
        SN_TRY(event == SN_XML_OPEN ? read_open(r) : read_close(r));
        r->leaf = event == SN_XML_OPEN;
        r->length = 0;
    }
}

// Body 0 is always ground: some versions list it, some don't. Its name without its letters is that of
// a model that has none.
static sn_status begin_ground(reading *r) {
    sn_osim *u = r->u;
    size_t name;
    SN_TRY(keep_name(r, (sn_word){"ground", 6}, "", &name));
    u->name = name + 6;
    SN_TRY(SN_OSIM_ROOM(u, body, 1));
    u->body[u->nbody++] = (sn_osim_body){.name = name, .rotation = {1, 0, 0, 0}};
    return SN_OK;
}

sn_status sn_osim_parse(sn_osim *u, const char *text, size_t length) {
    reading r = {.u = u};
    sn_xml_begin(&r.xml, text, length, u->error);
    sn_status status = begin_ground(&r);
    if (status == SN_OK) status = read_all(&r);
    sn_release(u->allocator, r.text);
    return status;
}
