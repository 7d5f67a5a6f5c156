// SPDX-License-Identifier: MIT
// The built-in figure: a person of 1.75 m with the layout of an optical-capture skeleton, 31
// joints, 58 degrees of freedom, 41 markers. Y is up, the figure looks along z, its left is +x. At
// the zero pose it stands with the arms stretched sideways; every limb runs along its own -y.
#include <stdio.h>

#include "model/model.h"

typedef struct bone_row {
    const char *name;
    const char *parent;
    sn_joint_type type;
    const char *axes;  // the rotations, outermost first
    double position[3];
    double turn;          // about z, degrees, before the joint's own motion
    double limits[3][2];  // degrees
} bone_row;

// One side only; the other is its mirror image. '#' becomes left_ or right_.
static const bone_row bones[] = {
    {"pelvis", NULL, SN_JOINT_FREE, "", {0, 0.95, 0}, 0, {{0}}},
    {"#hip", "pelvis", SN_JOINT_FIXED, "", {0.09, -0.06, 0.01}, 0, {{0}}},
    {"#thigh", "#hip", SN_JOINT_EULER, "ZYX", {0, 0, 0}, 0, {{-40, 60}, {-70, 70}, {-150, 40}}},
    {"#shin", "#thigh", SN_JOINT_HINGE, "X", {0, -0.42, 0}, 0, {{-5, 160}}},
    {"#foot", "#shin", SN_JOINT_UNIVERSAL, "ZX", {0, -0.41, 0}, 0, {{-40, 40}, {-60, 50}}},
    {"#toes", "#foot", SN_JOINT_HINGE, "X", {0, -0.05, 0.13}, 0, {{-60, 30}}},
    {"spine_low",
     "pelvis",
     SN_JOINT_EULER,
     "ZYX",
     {0, 0.1, -0.01},
     0,
     {{-35, 35}, {-35, 35}, {-35, 55}}},
    {"spine_mid",
     "spine_low",
     SN_JOINT_EULER,
     "ZYX",
     {0, 0.12, 0},
     0,
     {{-30, 30}, {-30, 30}, {-30, 45}}},
    {"chest",
     "spine_mid",
     SN_JOINT_EULER,
     "ZYX",
     {0, 0.12, 0},
     0,
     {{-30, 30}, {-30, 30}, {-30, 45}}},
    {"neck_low",
     "chest",
     SN_JOINT_EULER,
     "ZYX",
     {0, 0.16, -0.02},
     0,
     {{-40, 40}, {-45, 45}, {-45, 45}}},
    {"neck_high",
     "neck_low",
     SN_JOINT_EULER,
     "ZYX",
     {0, 0.06, 0.01},
     0,
     {{-40, 40}, {-45, 45}, {-45, 45}}},
    {"head",
     "neck_high",
     SN_JOINT_EULER,
     "ZYX",
     {0, 0.06, 0.01},
     0,
     {{-30, 30}, {-45, 45}, {-45, 45}}},
    {"#clavicle", "chest", SN_JOINT_UNIVERSAL, "ZY", {0.03, 0.13, 0.02}, 0, {{-25, 40}, {-30, 30}}},
    {"#upper_arm",
     "#clavicle",
     SN_JOINT_EULER,
     "ZYX",
     {0.15, 0, -0.02},
     90,
     {{-110, 90}, {-110, 110}, {-100, 100}}},
    {"#forearm", "#upper_arm", SN_JOINT_HINGE, "X", {0, -0.29, 0}, 0, {{-160, 5}}},
    {"#wrist", "#forearm", SN_JOINT_HINGE, "Y", {0, -0.25, 0}, 0, {{-90, 90}}},
    {"#hand", "#wrist", SN_JOINT_UNIVERSAL, "ZX", {0, -0.01, 0}, 0, {{-40, 40}, {-80, 80}}},
    {"#fingers", "#hand", SN_JOINT_HINGE, "X", {0, -0.08, 0}, 0, {{-100, 20}}},
    {"#thumb", "#hand", SN_JOINT_FIXED, "", {0, -0.03, 0.03}, 0, {{0}}},
};

typedef struct spot {
    const char *name;  // '#' becomes L or R
    const char *bone;
    double position[3];
} spot;

static const spot spots[] = {
    {"#FHD", "head", {0.06, 0.15, 0.08}},       {"#BHD", "head", {0.06, 0.13, -0.08}},
    {"C7", "neck_low", {0, 0, -0.05}},          {"T10", "spine_low", {0, 0.12, -0.11}},
    {"CLAV", "chest", {0, 0.1, 0.09}},          {"STRN", "spine_mid", {0, 0.06, 0.12}},
    {"RBAC", "spine_mid", {-0.07, 0.1, -0.11}}, {"#SHO", "#clavicle", {0.15, 0.05, -0.02}},
    {"#UPA", "#upper_arm", {0.04, -0.16, 0}},   {"#ELB", "#upper_arm", {0.04, -0.29, -0.01}},
    {"#FRM", "#forearm", {0.03, -0.14, 0}},     {"#WRA", "#wrist", {0.01, 0, 0.04}},
    {"#WRB", "#wrist", {0.01, 0, -0.04}},       {"#FIN", "#fingers", {0.01, -0.02, 0}},
    {"#FWT", "pelvis", {0.12, 0.03, 0.1}},      {"#BWT", "pelvis", {0.06, 0.04, -0.1}},
    {"#THI", "#thigh", {0.08, -0.24, 0.02}},    {"#KNE", "#thigh", {0.06, -0.41, 0.01}},
    {"#SHN", "#shin", {0.05, -0.2, 0.04}},      {"#ANK", "#foot", {0.05, 0, -0.01}},
    {"#HEE", "#foot", {0, -0.03, -0.07}},       {"#TOE", "#toes", {0, 0.02, 0.05}},
    {"#MT5", "#toes", {0.05, 0.01, 0.02}},
};

// The name with its side put in; false when it has none.
static bool side_name(const char *name, const char *side, char out[32]) {
    bool sided = name != NULL && name[0] == '#';
    (void)snprintf(out, 32, "%s%s", sided ? side : "", name == NULL ? "" : name + sided);
    return sided;
}

static int find(const sn_builder *b, const char *name) {
    for (size_t i = 0; i < b->njoint; i++) {
        const char *at = b->names + b->joint[i].name;
        size_t n = 0;
        while (at[n] != '\0' && at[n] == name[n]) n++;
        if (at[n] == name[n]) return (int)i;
    }
    return -1;
}

// mirror: +1 for the left and the middle, -1 for the right.
static void add_bone(sn_builder *b, const bone_row *bone, const char *side, double mirror) {
    const double degree = 0x1.1df46a2529d39p-6;
    char name[32], parent[32];
    sn_joint_desc d = sn_joint_default(bone->type);
    (void)side_name(bone->name, side, name);
    (void)side_name(bone->parent, side, parent);
    d.name = name;
    d.parent = bone->parent == NULL ? -1 : find(b, parent);
    for (int i = 0; i < 3; i++) d.position[i] = bone->position[i];
    d.position[0] *= mirror;
    sn_quat turn = sn_quat_exp(v3(0, 0, mirror * bone->turn * degree));
    d.rotation[0] = turn.w;
    d.rotation[3] = turn.z;
    double *const axis[2] = {d.axis, d.axis2};
    for (int i = 0; bone->axes[i] != '\0'; i++) {
        int which = bone->axes[i] - 'X';
        // mirrored in x, turns about x stay, those about y and z change sense
        double low = bone->limits[i][0] * degree, high = bone->limits[i][1] * degree;
        bool flip = mirror < 0 && which != 0;
        d.lower[i] = flip ? -high : low;
        d.upper[i] = flip ? -low : high;
        d.order[i] = bone->axes[i];
        if (bone->type == SN_JOINT_EULER) continue;
        for (int c = 0; c < 3; c++) axis[i][c] = c == which;
    }
    (void)sn_builder_joint(b, &d);
}

static void add_side(sn_builder *b, const bone_row *first, int count, const char *side,
                     double mirror) {
    for (int i = 0; i < count; i++) add_bone(b, &first[i], side, mirror);
}

sn_status sn_model_humanoid(const sn_allocator *allocator, sn_model **out, sn_error *error) {
    SN_NEED(out, error);
    *out = NULL;
    sn_builder *b;
    SN_TRY(sn_builder_create("humanoid", allocator, &b, error));
    const int count = (int)(sizeof bones / sizeof bones[0]);
    for (int i = 0; i < count;) {
        if (bones[i].name[0] != '#') {
            add_bone(b, &bones[i++], "", 1);
            continue;
        }
        int run = 1;
        while (i + run < count && bones[i + run].name[0] == '#') run++;
        add_side(b, bones + i, run, "left_", 1);
        add_side(b, bones + i, run, "right_", -1);
        i += run;
    }
    for (size_t i = 0; i < sizeof spots / sizeof spots[0]; i++) {
        char name[32], joint[32];
        bool sided = spots[i].name[0] == '#';
        for (int side = 0; side <= sided; side++) {
            const double *p = spots[i].position;
            (void)side_name(spots[i].name, side == 0 ? "L" : "R", name);
            (void)side_name(spots[i].bone, side == 0 ? "left_" : "right_", joint);
            sn_marker_desc d = {name, find(b, joint), {side == 0 ? p[0] : -p[0], p[1], p[2]}, 1};
            (void)sn_builder_marker(b, &d);
        }
    }
    sn_status status = sn_builder_finish(b, out, error);
    sn_builder_destroy(b);
    return status;
}
