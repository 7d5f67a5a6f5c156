// SPDX-License-Identifier: MIT
// Scaling an .osim file as OpenSim does: what belongs to a body grows with it.
//
//   places on a body or frame   markers, path points, offset frames, joints, wraps: each axis by its factor
//   translations of a joint     that follow a function: by the factor of the parent along their axis; those
//                               that are a coordinate as it is stay, they are degrees of freedom
//   sizes                       wraps by the factors along their own axes, ellipsoids of joints, geometry
//   mass and inertia            see scale_mass()
//
// One difference: for a translation along a direction d that is no axis of the parent OpenSim takes d.f, which
// is 1.7 for equal factors of 1 and turns the sign with d; here it is the mean of f weighted by d^2.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files/osim/osim.h"
#include "files/osim/scale.h"
#include "math/vec3.h"

typedef struct scaling {
    sn_edits e;
    sn_osim_frames frames;
    const sn_xml_tree *t;
    const sn_osim_scaling *how;
    sn_osim_scaled *about;
    double density;  // of the mass that is asked for to what comes of the factors
    int muscles, ligaments, contacts, distances, others;
    sn_error *error;
} scaling;

static const double unity[3] = {1, 1, 1};

static const double *factor_of(const scaling *s, const char *body) {
    for (int i = 0; body != NULL && i < s->how->count; i++)
        if (strcmp(s->how->factor[i].body, body) == 0) return s->how->factor[i].factor;
    return unity;
}

static bool is_unity(const double f[3]) { return f[0] == 1 && f[1] == 1 && f[2] == 1; }

// The factors of what a socket, or <body> of version 3, names.
static const double *factor_at(const scaling *s, int node, int owner, const char *socket) {
    const char *path = sn_osim_socket(s->t, node, socket);
    if (*path == '\0') path = sn_xml_tree_text(s->t, sn_xml_tree_find(s->t, node, "body"));
    return factor_of(s, sn_osim_frames_find(&s->frames, owner, path));
}

// --- numbers -------------------------------------------------------------------------------------

// Up to three numbers of an element inside `node`, each times its factor. One that is not there has nothing to
// scale.
static sn_status scale_numbers(scaling *s, int node, const char *name, int count, const double *f) {
    int k = sn_xml_tree_find(s->t, node, name);
    double x[3];
    if (k < 0 || sn_xml_tree_text(s->t, k)[0] == '\0') return SN_OK;
    SN_TRY(sn_xml_tree_numbers(s->t, k, count, x, s->error));
    for (int i = 0; i < count; i++) x[i] *= f[i];
    sn_edits_numbers(&s->e, k, count, x);
    return SN_OK;
}

// The same, where an element that is not there means ones.
static sn_status scale_ones(scaling *s, int node, const char *name, int count, const double *f) {
    bool same = true;
    for (int i = 0; i < count; i++) same = same && f[i] == 1;
    if (same) return SN_OK;
    if (sn_xml_tree_find(s->t, node, name) >= 0) return scale_numbers(s, node, name, count, f);
    const sn_xml_node *n = &s->t->node[node];
    if (n->inside == n->end) return SN_OK;  // <Mesh/>: nothing is drawn
    char indent[100];
    sn_edits_indent(&s->e, node, indent, sizeof indent);
    sn_edits_replace(&s->e, n->inside, n->inside, s->e.newline);
    sn_edits_more(&s->e, indent, strlen(indent));
    sn_edits_more(&s->e, "\t<", 2);
    sn_edits_more(&s->e, name, strlen(name));
    for (int i = 0; i < count; i++) {
        sn_edits_more(&s->e, i == 0 ? ">" : " ", 1);
        sn_edits_more_number(&s->e, f[i]);
    }
    sn_edits_more(&s->e, "</", 2);
    sn_edits_more(&s->e, name, strlen(name));
    sn_edits_more(&s->e, ">", 1);
    return SN_OK;
}

// --- functions -----------------------------------------------------------------------------------

static void put_line(scaling *s, const char *indent, const char *text) {
    sn_edits_more(&s->e, s->e.newline, strlen(s->e.newline));
    sn_edits_more(&s->e, indent, strlen(indent));
    sn_edits_more(&s->e, text, strlen(text));
}

// Nothing comes of scaling these: a coordinate as it is, or zero.
static sn_status needs_no_factor(scaling *s, int k, bool identity, bool *out) {
    const sn_xml_tree *t = s->t;
    double c[2] = {1, 0}, value = 0;
    *out = false;
    if (sn_xml_tree_is(t, k, "LinearFunction") && identity) {
        SN_TRY(sn_xml_tree_numbers(t, sn_xml_tree_find(t, k, "coefficients"), 2, c, s->error));
        *out = c[0] == 1 && c[1] == 0;
    } else if (sn_xml_tree_is(t, k, "Constant")) {
        SN_TRY(sn_xml_tree_number(t, sn_xml_tree_find(t, k, "value"), &value, s->error));
        *out = value == 0;
    }
    return SN_OK;
}

// A function times a factor: a MultiplierFunction around it, or the factor of the one that is there.
static sn_status scale_function(scaling *s, int k, bool identity, double factor) {
    const sn_xml_tree *t = s->t;
    bool nothing;
    char indent[100];
    if (k < 0 || factor == 1) return SN_OK;
    const sn_xml_node *n = &t->node[k];
    SN_TRY(needs_no_factor(s, k, identity, &nothing));
    if (nothing) return SN_OK;
    if (sn_xml_tree_is(t, k, "MultiplierFunction")) return scale_ones(s, k, "scale", 1, &factor);
    sn_edits_indent(&s->e, k, indent, sizeof indent);
    sn_edits_replace(&s->e, n->from, n->from, "<MultiplierFunction");
    if (n->label_to > n->label_from) {
        sn_edits_more(&s->e, " name=\"", 7);
        sn_edits_more_escaped(&s->e, sn_xml_tree_label(t, k));
        sn_edits_more(&s->e, "\"", 1);
    }
    sn_edits_more(&s->e, ">", 1);
    put_line(s, indent, "\t<function>");
    put_line(s, indent, "\t\t");
    sn_edits_replace(&s->e, n->end, n->end, "");
    put_line(s, indent, "\t</function>");
    put_line(s, indent, "\t<scale>");
    sn_edits_more_number(&s->e, factor);
    sn_edits_more(&s->e, "</scale>", 8);
    put_line(s, indent, "</MultiplierFunction>");
    return SN_OK;
}

// The function of an axis: inside <function>, or itself beside <axis>.
static int function_of(const sn_xml_tree *t, int axis) {
    int k = sn_xml_tree_find(t, axis, "function");
    if (k >= 0) return sn_xml_tree_first(t, k);
    for (k = sn_xml_tree_first(t, axis); k >= 0; k = sn_xml_tree_next(t, k))
        if (!sn_xml_tree_is(t, k, "coordinates") && !sn_xml_tree_is(t, k, "axis") &&
            sn_xml_tree_first(t, k) >= 0)
            return k;
    return -1;
}

static double along(const double d[3], const double f[3]) {
    if (f[0] == f[1] && f[1] == f[2]) return f[0];
    double sum = 0, all = 0;
    for (int i = 0; i < 3; i++) sum += d[i] * d[i] * f[i], all += d[i] * d[i];
    return all > 0 ? sum / all : 1;
}

// The translation of an axis, as a number 0 1 2; -1: it is none. In version 4 its name is an attribute.
static int translation_of(const sn_xml_tree *t, int axis) {
    const char *name = sn_xml_tree_label(t, axis);
    if (strncmp(name, "translation", 11) != 0) name = sn_xml_tree_name(t, axis);
    if (strncmp(name, "translation", 11) != 0) return -1;
    return name[11] >= '1' && name[11] <= '3' && name[12] == '\0' ? name[11] - '1' : -1;
}

static sn_status axis_factor(scaling *s, int axis, int slot, const double f[3], double *out) {
    double d[3] = {slot == 0, slot == 1, slot == 2};
    SN_TRY(sn_xml_tree_numbers(s->t, sn_xml_tree_find(s->t, axis, "axis"), 3, d, s->error));
    *out = along(d, f);
    return SN_OK;
}

// --- joints --------------------------------------------------------------------------------------

static const char *joint_parent(const scaling *s, int joint) {
    const sn_xml_tree *t = s->t;
    const char *path = sn_osim_socket(t, joint, "socket_parent_frame");
    if (*path == '\0') path = sn_xml_tree_text(t, sn_xml_tree_find(t, joint, "parent_body"));
    return sn_osim_frames_find(&s->frames, joint, path);
}

static const char *joint_child(const scaling *s, int joint) {
    const sn_xml_tree *t = s->t;
    const char *path = sn_osim_socket(t, joint, "socket_child_frame");
    if (*path != '\0') return sn_osim_frames_find(&s->frames, joint, path);
    // inside of <Joint> of its body
    int up = t->node[joint].parent;
    return up >= 0 ? sn_xml_tree_label(t, t->node[up].parent) : NULL;
}

static sn_status scale_joint(scaling *s, int joint) {
    const sn_xml_tree *t = s->t;
    const double *parent = factor_of(s, joint_parent(s, joint));
    const double *child = factor_of(s, joint_child(s, joint));
    SN_TRY(scale_numbers(s, joint, "location_in_parent", 3, parent));
    SN_TRY(scale_numbers(s, joint, "location", 3, child));
    SN_TRY(scale_numbers(s, joint, "radii_x_y_z", 3, parent));
    SN_TRY(scale_numbers(s, joint, "thoracic_ellipsoid_radii_x_y_z", 3, parent));
    SN_TRY(scale_numbers(s, joint, "scapula_winging_axis_origin", 2, child));
    int list = sn_xml_tree_find(t, joint, "SpatialTransform");
    for (int k = sn_xml_tree_first(t, list); k >= 0; k = sn_xml_tree_next(t, k)) {
        int slot = translation_of(t, k);
        double factor;
        if (slot < 0) continue;
        SN_TRY(axis_factor(s, k, slot, parent, &factor));
        SN_TRY(scale_function(s, function_of(t, k), true, factor));
    }
    return SN_OK;
}

static bool is_joint(const sn_xml_tree *t, int k) {
    bool known = false;
    for (int i = 0; i < sn_osim_njoint_type; i++)
        known = known || sn_xml_tree_is(t, k, sn_osim_joint_types[i].name);
    return known;
}

// The joint and the axis along which a coordinate is a translation as it is; NULL: none.
static int translated_by(const scaling *s, const char *coordinate, int *slot, int *joint) {
    const sn_xml_tree *t = s->t;
    for (int k = 0; k < (int)t->nnode; k++) {
        int list = t->node[k].parent;
        if (list < 0 || !sn_xml_tree_is(t, list, "SpatialTransform")) continue;
        *slot = translation_of(t, k);
        *joint = t->node[list].parent;
        if (*slot < 0) continue;
        if (strcmp(sn_xml_tree_text(t, sn_xml_tree_find(t, k, "coordinates")), coordinate) == 0)
            return k;
    }
    return -1;
}

// A coordinate that follows another and is a length grows by its joint's parent.
static sn_status scale_coupler(scaling *s, int k) {
    const sn_xml_tree *t = s->t;
    const char *name = sn_xml_tree_text(t, sn_xml_tree_find(t, k, "dependent_coordinate_name"));
    int slot, joint, axis = translated_by(s, name, &slot, &joint);
    bool identity = true;
    double factor;
    if (axis < 0) return SN_OK;
    int f = function_of(t, axis);
    if (f >= 0) {
        identity = sn_xml_tree_is(t, f, "LinearFunction");
        if (identity) SN_TRY(needs_no_factor(s, f, true, &identity));
    }
    if (!identity) return SN_OK;  // the function of the axis was scaled
    SN_TRY(axis_factor(s, axis, slot, factor_of(s, joint_parent(s, joint)), &factor));
    return scale_ones(s, k, "scale_factor", 1, &factor);
}

// Points of a constraint stay on their bodies. (OpenSim leaves them, and opens the loop.)
static sn_status scale_constraint(scaling *s, int k) {
    static const char *const ends[][3] = {
        {"body_1", "socket_body_1", "location_body_1"},
        {"body_2", "socket_body_2", "location_body_2"},
        {"follower_body", "socket_follower_body", "point_on_follower"},
        {"line_body", "socket_line_body", "point_on_line"}};
    const sn_xml_tree *t = s->t;
    for (int i = 0; i < 4; i++) {
        const char *path = sn_osim_socket(t, k, ends[i][1]);
        if (*path == '\0') path = sn_xml_tree_text(t, sn_xml_tree_find(t, k, ends[i][0]));
        const double *f = factor_of(s, sn_osim_frames_find(&s->frames, -1, path));
        SN_TRY(scale_numbers(s, k, ends[i][2], 3, f));
    }
    if (sn_xml_tree_is(t, k, "ConstantDistanceConstraint")) s->distances++;
    return SN_OK;
}

// --- what hangs on bodies ------------------------------------------------------------------------

static sn_status scale_moving_point(scaling *s, int k) {
    static const char *const names[2][3] = {{"x_location", "y_location", "z_location"},
                                            {"XAttachment", "YAttachment", "ZAttachment"}};
    const double *f = factor_at(s, k, -1, "socket_parent_frame");
    for (int i = 0; i < 3; i++)
        for (int n = 0; n < 2; n++) {
            int at = sn_xml_tree_find(s->t, k, names[n][i]);
            SN_TRY(scale_function(s, sn_xml_tree_first(s->t, at), false, f[i]));
        }
    return SN_OK;
}

static sn_status scale_geometry(scaling *s, int frame, const double f[3]) {
    const sn_xml_tree *t = s->t;
    int list = sn_xml_tree_find(t, frame, "attached_geometry");
    for (int k = sn_xml_tree_first(t, list); k >= 0; k = sn_xml_tree_next(t, k))
        SN_TRY(scale_ones(s, k, "scale_factors", 3, f));
    int shown = sn_xml_tree_find(t, frame, "VisibleObject");
    return shown >= 0 ? scale_ones(s, shown, "scale_factors", 3, f) : SN_OK;
}

// How much a wrap grows along its own axes.
static sn_status wrap_factors(scaling *s, int k, const double f[3], double out[3]) {
    sn_osim_place place = {.body = SIZE_MAX};
    int turn = sn_xml_tree_find(s->t, k, "xyz_body_rotation");
    SN_TRY(sn_xml_tree_numbers(s->t, turn, 3, place.angles, s->error));
    sn_frame frame = sn_osim_frame_of(&place);
    for (int i = 0; i < 3; i++) {
        sn_vec3 a = m3_mul(&frame.R, v3_unit(i));
        a = (sn_vec3){a.x * f[0], a.y * f[1], a.z * f[2]};
        out[i] = sqrt(v3_dot(a, a));
    }
    // equal factors are themselves, to the bit
    if (f[0] == f[1] && f[1] == f[2]) out[0] = out[1] = out[2] = f[0];
    return SN_OK;
}

static sn_status scale_wraps(scaling *s, int frame, const double f[3]) {
    const sn_xml_tree *t = s->t;
    int list = sn_xml_tree_find(t, sn_xml_tree_find(t, frame, "WrapObjectSet"), "objects");
    for (int k = sn_xml_tree_first(t, list); k >= 0 && !is_unity(f); k = sn_xml_tree_next(t, k)) {
        double own[3];
        SN_TRY(wrap_factors(s, k, f, own));
        SN_TRY(scale_numbers(s, k, "translation", 3, f));
        const double xy = own[0] == own[1] ? own[0] : 0.5 * (own[0] + own[1]);
        const double all =
            own[0] == own[1] && own[1] == own[2] ? own[0] : (own[0] + own[1] + own[2]) / 3;
        if (sn_xml_tree_is(t, k, "WrapCylinder")) {
            SN_TRY(scale_numbers(s, k, "radius", 1, &xy));
            SN_TRY(scale_numbers(s, k, "length", 1, &own[2]));
        } else if (sn_xml_tree_is(t, k, "WrapSphere")) {
            SN_TRY(scale_numbers(s, k, "radius", 1, &all));
        } else if (sn_xml_tree_is(t, k, "WrapEllipsoid")) {
            SN_TRY(scale_numbers(s, k, "dimensions", 3, own));
        } else if (sn_xml_tree_is(t, k, "WrapTorus")) {
            SN_TRY(scale_numbers(s, k, "inner_radius", 1, &xy));
            SN_TRY(scale_numbers(s, k, "outer_radius", 1, &xy));
        } else {
            s->others++;
        }
    }
    return SN_OK;
}

// --- mass ----------------------------------------------------------------------------------------

static const char *const moments[6] = {"inertia_xx", "inertia_yy", "inertia_zz",
                                       "inertia_xy", "inertia_xz", "inertia_yz"};

static sn_status read_inertia(scaling *s, int body, double I[6]) {
    SN_TRY(sn_xml_tree_numbers(s->t, sn_xml_tree_find(s->t, body, "inertia"), 6, I, s->error));
    for (int i = 0; i < 6; i++)
        SN_TRY(sn_xml_tree_number(s->t, sn_xml_tree_find(s->t, body, moments[i]), &I[i], s->error));
    return SN_OK;
}

static void write_inertia(scaling *s, int body, const double I[6]) {
    int k = sn_xml_tree_find(s->t, body, "inertia");
    if (k >= 0 && sn_xml_tree_text(s->t, k)[0] != '\0') sn_edits_numbers(&s->e, k, 6, I);
    for (int i = 0; i < 6; i++) {
        k = sn_xml_tree_find(s->t, body, moments[i]);
        if (k >= 0 && sn_xml_tree_text(s->t, k)[0] != '\0') sn_edits_numbers(&s->e, k, 1, &I[i]);
    }
}

static bool alike(double a, double b) { return fabs(a - b) <= 2e-14 * fmax(fabs(a), 1); }

// The moments of a body that grows by f. Where it grows alike in all directions they grow by f^2. Else it is
// taken for a cylinder along the axis of the least moment: m r^2 / 2 about it, m (l^2 / 12 + r^2 / 4) across.
static void grow_inertia(const double f[3], double before, double mass, double I[6]) {
    double ratio = before > 0 ? mass / before : 1;
    if (alike(f[0], f[1]) && alike(f[1], f[2])) {
        for (int i = 0; i < 6; i++) I[i] *= ratio * f[0] * f[0];
        return;
    }
    int axis = I[0] <= I[1] ? (I[0] <= I[2] ? 0 : 2) : I[1] <= I[2] ? 1 : 2;
    int b = (axis + 1) % 3, c = (axis + 2) % 3, other = axis == 0 ? 1 : 0;
    double r2 = fmax(2 * I[axis] / before, 0);
    double l2 = fmax(12 * (I[other] - 0.25 * before * r2) / before, 0);
    r2 *= f[b] * f[c];
    l2 *= f[axis] * f[axis];
    I[axis] = 0.5 * mass * r2;
    I[b] = I[c] = mass * (l2 / 12 + 0.25 * r2);
    I[3] *= ratio * f[0] * f[1];
    I[4] *= ratio * f[0] * f[2];
    I[5] *= ratio * f[1] * f[2];
}

static double grown_mass(const scaling *s, const double f[3], double mass) {
    return s->how->preserve_mass ? mass : mass * fabs(f[0] * f[1] * f[2]);
}

static sn_status read_mass(scaling *s, int body, double *out) {
    *out = 0;
    return sn_xml_tree_number(s->t, sn_xml_tree_find(s->t, body, "mass"), out, s->error);
}

static bool is_ground(const sn_xml_tree *t, int body) {
    return strcmp(sn_xml_tree_label(t, body), "ground") == 0;
}

// How much heavier everything must be for the mass that is asked for.
static sn_status find_density(scaling *s) {
    double sum = 0;
    s->density = 1;
    for (int i = 0; i < s->frames.nbody; i++) {
        int body = s->frames.body[i];
        double mass;
        if (is_ground(s->t, body)) continue;
        SN_TRY(read_mass(s, body, &mass));
        s->about->mass_before += mass;
        sum += grown_mass(s, factor_of(s, sn_xml_tree_label(s->t, body)), mass);
    }
    s->about->mass = sum;
    if (!(s->how->mass > 0)) return SN_OK;
    if (!(sum > 0))
        return sn_fail(s->error, SN_ERR_PARSE, 0,
                       "the bodies of the model have no mass: it cannot become %g kg",
                       s->how->mass);
    s->density = s->how->mass / sum;
    s->about->mass = s->how->mass;
    return SN_OK;
}

static sn_status scale_mass(scaling *s, int body, const double f[3]) {
    double before, I[6] = {0};
    SN_TRY(read_mass(s, body, &before));
    SN_TRY(read_inertia(s, body, I));
    double mass = grown_mass(s, f, before);
    if (is_unity(f) && s->density == 1) return SN_OK;
    if (before > 0) {
        grow_inertia(f, before, mass, I);
    } else {
        for (int i = 0; i < 6; i++) I[i] = 0;
    }
    mass *= s->density;
    for (int i = 0; i < 6; i++) I[i] *= s->density;
    int k = sn_xml_tree_find(s->t, body, "mass");
    if (k >= 0 && sn_xml_tree_text(s->t, k)[0] != '\0') sn_edits_numbers(&s->e, k, 1, &mass);
    write_inertia(s, body, I);
    return SN_OK;
}

static sn_status scale_body(scaling *s, int body) {
    const double *f = factor_of(s, sn_xml_tree_label(s->t, body));
    SN_TRY(scale_geometry(s, body, f));
    SN_TRY(scale_wraps(s, body, f));
    if (is_ground(s->t, body)) return SN_OK;
    SN_TRY(scale_numbers(s, body, "mass_center", 3, f));
    return scale_mass(s, body, f);
}

static sn_status scale_frame(scaling *s, int k) {
    const sn_xml_tree *t = s->t;
    // what it stands on; a joint's own frames name bodies
    const char *name = sn_osim_socket(t, k, "socket_parent");
    int up = t->node[k].parent;
    while (strcmp(name, "..") == 0 && up >= 0) {
        if (sn_xml_tree_label(t, up)[0] != '\0') name = sn_xml_tree_label(t, up);
        up = t->node[up].parent;
    }
    const double *f = factor_of(s, sn_osim_frames_find(&s->frames, -1, name));
    SN_TRY(scale_numbers(s, k, "translation", 3, f));
    SN_TRY(scale_geometry(s, k, f));
    return scale_wraps(s, k, f);
}

// --- all of it -----------------------------------------------------------------------------------

static sn_status scale_node(scaling *s, int k) {
    static const char *const points[] = {"Marker", "PathPoint", "ConditionalPathPoint", "Station"};
    const sn_xml_tree *t = s->t;
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        if (sn_xml_tree_is(t, k, points[i]))
            return scale_numbers(s, k, "location", 3, factor_at(s, k, -1, "socket_parent_frame"));
    if (sn_xml_tree_is(t, k, "MovingPathPoint")) return scale_moving_point(s, k);
    if (sn_xml_tree_is(t, k, "PhysicalOffsetFrame")) return scale_frame(s, k);
    if (sn_xml_tree_is(t, k, "CoordinateCouplerConstraint")) return scale_coupler(s, k);
    if (is_joint(t, k)) return scale_joint(s, k);
    if (sn_xml_tree_find(t, k, "location_body_1") >= 0 ||
        sn_xml_tree_find(t, k, "point_on_follower") >= 0 ||
        sn_xml_tree_is(t, k, "ConstantDistanceConstraint"))
        return scale_constraint(s, k);
    s->muscles += sn_xml_tree_is(t, k, "optimal_fiber_length");
    s->ligaments += sn_xml_tree_is(t, k, "resting_length") || sn_xml_tree_is(t, k, "rest_length");
    int list = t->node[k].parent;
    if (list >= 0 && t->node[list].parent >= 0 && sn_xml_tree_is(t, list, "objects"))
        s->contacts += sn_xml_tree_is(t, t->node[list].parent, "ContactGeometrySet");
    return SN_OK;
}

// The defaults of a file are patterns, not parts of the model.
static bool is_part(const scaling *s, int k) {
    const sn_xml_tree *t = s->t;
    const sn_xml_node *model = &t->node[s->frames.model];
    if (t->node[k].from < model->inside || t->node[k].from >= model->close) return false;
    for (int up = k; up >= 0; up = t->node[up].parent)
        if (sn_xml_tree_is(t, up, "defaults")) return false;
    return true;
}

static void add_note(sn_osim_scaled *about, int count, const char *what) {
    size_t used = strlen(about->note), room = sizeof about->note;
    if (count == 0 || used + 120 > room) return;
    (void)snprintf(about->note + used, room - used, "%s%d %s", used > 0 ? ", " : "", count, what);
}

static void tell_unscaled(const scaling *s) {
    sn_osim_scaled *about = s->about;
    add_note(about, s->muscles, "muscles keep their optimal_fiber_length and tendon_slack_length");
    add_note(about, s->ligaments, "ligaments or springs keep their resting length");
    add_note(about, s->contacts, "contact geometries keep their place and size");
    add_note(about, s->distances, "constraints keep their distance");
    add_note(about, s->others, "wrap objects of unknown kinds keep their size");
}

static sn_status scale_all(scaling *s) {
    SN_TRY(find_density(s));
    for (int i = 0; i < s->frames.nbody; i++) SN_TRY(scale_body(s, s->frames.body[i]));
    for (int k = 0; k < (int)s->t->nnode; k++)
        if (is_part(s, k)) SN_TRY(scale_node(s, k));
    tell_unscaled(s);
    return SN_OK;
}

sn_status sn_osim_scale_text(const char *text, size_t length, const sn_osim_scaling *how,
                             const sn_allocator *allocator, char **out, size_t *out_length,
                             sn_osim_scaled *about, sn_error *error) {
    scaling s = {.how = how, .about = about, .error = error};
    *out = NULL;
    *about = (sn_osim_scaled){0};
    sn_status status = sn_edits_begin(&s.e, text, length, allocator, error);
    s.t = &s.e.tree;
    if (status == SN_OK) status = sn_osim_frames_make(s.t, allocator, &s.frames, error);
    if (status == SN_OK) status = scale_all(&s);
    if (status == SN_OK) status = sn_edits_apply(&s.e, out, out_length);
    sn_osim_frames_end(&s.frames, allocator);
    sn_edits_end(&s.e);
    return status;
}
