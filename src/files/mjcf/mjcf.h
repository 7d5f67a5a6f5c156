// SPDX-License-Identifier: MIT
// An MJCF file as it was read, before it is a model.
#pragma once

#include "base/names.h"
#include "files/bound.h"
#include "files/xml.h"
#include "sinew/files.h"

/// The four kinds of joint, and what a file may state of one or leave to a class of defaults.
typedef enum sn_mjcf_kind { SN_MJCF_FREE, SN_MJCF_BALL, SN_MJCF_SLIDE, SN_MJCF_HINGE } sn_mjcf_kind;
enum {
    SN_MJCF_HAS_TYPE = 1,
    SN_MJCF_HAS_POSITION = 2,
    SN_MJCF_HAS_AXIS = 4,
    SN_MJCF_HAS_RANGE = 8,
    SN_MJCF_HAS_LIMITED = 16,
    SN_MJCF_HAS_REF = 32,
    SN_MJCF_HAS_ROTATION = 64  ///< sites
};

/// Attributes of a joint or a site; `has` says which are stated.
typedef struct sn_mjcf_values {
    unsigned has;
    sn_mjcf_kind type;
    double position[3];
    double axis[3];
    double range[2];  ///< as written: degrees where the compiler says so
    int limited;      ///< 0 false, 1 true, 2 auto
    double ref;
    double rotation[4];
} sn_mjcf_values;

/// Attributes of a geom.
enum {
    SN_MJCF_GEOM_TYPE = 1,
    SN_MJCF_GEOM_SIZE = 2,
    SN_MJCF_GEOM_POSITION = 4,
    SN_MJCF_GEOM_ROTATION = 8,
    SN_MJCF_GEOM_ENDS = 16,
    SN_MJCF_GEOM_KIND = 32,
    SN_MJCF_GEOM_MEETS = 64
};
typedef struct sn_mjcf_geom_values {
    unsigned has;
    int type;  ///< a sn_solid_kind; -1: a mesh or another kind that holds no shape
    double size[3], position[3], rotation[4], ends[6];
    uint32_t kind, meets;
} sn_mjcf_geom_values;

/// A class of defaults.
typedef struct sn_mjcf_class {
    size_t name;  ///< where it starts in `names`
    int parent;   ///< the class around it, -1 for the outermost
    sn_mjcf_values joint, site;
    sn_mjcf_geom_values geom;
} sn_mjcf_class;

typedef struct sn_mjcf_body {
    size_t name;
    int parent;  ///< body, 0 for the world, which is the first
    double position[3], rotation[4];
    bool has_mass;
    double mass, centre[3];
    size_t joint, njoint;  ///< its own, once they are sorted
    int node;              ///< joint of the model that carries it, -1: none
    double shift[3];       ///< of its origin in that joint's frame
    double world_position[3],
        world_rotation[4];  ///< where it is while every joint is at its reference
    int line;
} sn_mjcf_body;

typedef struct sn_mjcf_joint {
    size_t name;  ///< SIZE_MAX: none
    int body;
    sn_mjcf_values values;  ///< all of them
    int node;               ///< joint of the model
    bool follows, leads;    ///< in a coupling
    int line;
} sn_mjcf_joint;

typedef struct sn_mjcf_site {
    size_t name;
    int body;
    sn_mjcf_values values;
    int line;
} sn_mjcf_site;

/// A geom that can run into others.
typedef struct sn_mjcf_geom {
    size_t name;
    int body;
    sn_mjcf_geom_values values;  ///< all of them; ends are turned into place and length
    int line;
} sn_mjcf_geom;

/// <exclude>: two bodies by name; <pair>: two geoms.
typedef struct sn_mjcf_exclude {
    size_t body[2];
    uint32_t bit;  ///< of a pair
    int line;
} sn_mjcf_exclude;

typedef enum sn_mjcf_equality_kind {
    SN_MJCF_CONNECT,
    SN_MJCF_WELD,
    SN_MJCF_JOINT,
    SN_MJCF_TENDON
} sn_mjcf_equality_kind;

/// A tendon; a fixed one is a sum of coordinates.
typedef struct sn_mjcf_tendon {
    size_t name;
    bool fixed, limited;
    bool used;            ///< an equality holds it
    size_t first, count;  ///< its parts
} sn_mjcf_tendon;

/// What a joint adds to a fixed tendon's length.
typedef struct sn_mjcf_part {
    size_t joint;  ///< its name
    double coefficient;
    int line;
} sn_mjcf_part;

/// An equality: two bodies held together, a joint that follows another, a tendon as long as another.
typedef struct sn_mjcf_equality {
    sn_mjcf_equality_kind kind;
    size_t first, second;  ///< names; SIZE_MAX: the world, no second joint
    bool sites;            ///< they are sites
    double anchor[3];
    bool has_relative;
    double relative[7];      ///< of a weld: position, then w x y z
    double coefficients[5];  ///< of a joint or a tendon
    int line;
} sn_mjcf_equality;

#define SN_MJCF_LIST(type, list)                                                                   \
    type *list;                                                                                    \
    size_t n##list, list##_capacity

typedef struct sn_mjcf {
    const sn_allocator *allocator;
    sn_error *error;
    sn_mjcf_info info;
    SN_MJCF_LIST(char, names);
    size_t name;  ///< of the model
    SN_MJCF_LIST(sn_mjcf_class, class_);
    SN_MJCF_LIST(sn_mjcf_body, body);
    SN_MJCF_LIST(sn_mjcf_joint, joint);
    SN_MJCF_LIST(sn_mjcf_site, site);
    SN_MJCF_LIST(sn_mjcf_equality, equality);
    SN_MJCF_LIST(sn_mjcf_geom, geom);
    SN_MJCF_LIST(sn_mjcf_exclude, exclude);
    SN_MJCF_LIST(sn_mjcf_tendon, tendon);
    SN_MJCF_LIST(sn_mjcf_part, part);
    SN_MJCF_LIST(sn_mjcf_exclude, pair);
    int nmesh;  ///< geoms that can run into others, and only a mesh states them
    bool radians, auto_limits;
    char euler[4];  ///< the compiler's sequence; capitals are about fixed axes
    int nskipped;   ///< elements that hold bodies sinew does not make
    int nspatial;   ///< equalities of tendons through sites
    int ntangled;   ///< equalities of tendons that are no coupling
    bool has_actuator, has_keyframe;
    int nlost;    ///< contact pairs that are left out
    int nuntold;  ///< bodies whose mass only their shapes tell
} sn_mjcf;

#define SN_MJCF_ROOM(u, list, more)                                                                \
    sn_mjcf_grow((u), &(u)->list, &(u)->list##_capacity, (u)->n##list + (more), sizeof *(u)->list)

/// @param list  the address of a pointer to the items
sn_status sn_mjcf_grow(const sn_mjcf *u, void *list, size_t *capacity, size_t need, size_t size);

/// Read the file into `u`, which is to be ended in either case.
sn_status sn_mjcf_parse(sn_mjcf *u, const char *text, size_t length);

// --- attributes (mjcf_attributes.c) ---

/// An attribute's text, terminated; "" when it is not there.
sn_status sn_mjcf_text(const sn_mjcf *u, const sn_xml *xml, const char *key, char out[SN_XML_VALUE],
                       bool *found);
/// At least `least` and at most `most` numbers; *count is 0 when the attribute is not there.
sn_status sn_mjcf_numbers(const sn_mjcf *u, const sn_xml *xml, const char *key, int least, int most,
                          double *out, int *count);
/// A name that is kept; SIZE_MAX when there is none.
sn_status sn_mjcf_name(sn_mjcf *u, const sn_xml *xml, const char *key, size_t *at);
/// quat, axisangle, euler, xyaxes or zaxis of the last OPEN; *found tells whether one is stated.
sn_status sn_mjcf_rotation(const sn_mjcf *u, const sn_xml *xml, double out[4], bool *found);
/// What a <joint> states.
sn_status sn_mjcf_joint_values(const sn_mjcf *u, const sn_xml *xml, sn_mjcf_values *out);
/// What a <site> states.
sn_status sn_mjcf_site_values(const sn_mjcf *u, const sn_xml *xml, sn_mjcf_values *out);
/// mjcf_geom.c: what a <geom> states, and what it does not state from a class of defaults.
sn_status sn_mjcf_geom_values_read(const sn_mjcf *u, const sn_xml *xml, sn_mjcf_geom_values *out);
void sn_mjcf_geom_inherit(sn_mjcf_geom_values *values, const sn_mjcf_geom_values *defaults);
/// MuJoCo's own defaults for the rest, and place, rotation and length from `ends`; false when the ends coincide.
bool sn_mjcf_geom_complete(sn_mjcf_geom_values *values);
/// The shortest turn that takes z to a unit vector.
sn_quat sn_mjcf_turn_z(sn_vec3 to);
/// Fill what `values` does not state from `defaults`.
void sn_mjcf_inherit(sn_mjcf_values *values, const sn_mjcf_values *defaults);
/// An angle of the file in radians.
double sn_mjcf_angle(const sn_mjcf *u, double angle);

// --- couplings (mjcf_couple.c) ---

/// A joint follows another, or stays.
sn_status sn_mjcf_couple_joints(sn_mjcf *u, sn_builder *builder, const sn_mjcf_equality *e);
/// A joint of fixed tendons follows the others.
sn_status sn_mjcf_couple_tendons(sn_mjcf *u, sn_builder *builder, const sn_mjcf_equality *e);

/// The model of what was read.
sn_status sn_mjcf_build(sn_mjcf *u, sn_model **out);
