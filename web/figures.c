// SPDX-License-Identifier: MIT
// The figures the page offers beside the library's humanoid: a hand, an arm of seven axes, a spider
// and a chain. Y is up; lengths in metres.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stage.h"

static const double degree = 0x1.1df46a2529d39p-6;

typedef struct part {
    const char *name;
    int parent;
    sn_joint_type type;
    double position[3];
    double axis[3], axis2[3];
    double limits[2][2];  // degrees
} part;

static int add(sn_builder *b, const part *p) {
    sn_joint_desc d = sn_joint_default(p->type);
    d.name = p->name;
    d.parent = p->parent;
    memcpy(d.position, p->position, sizeof d.position);
    if (p->type == SN_JOINT_HINGE || p->type == SN_JOINT_UNIVERSAL) {
        memcpy(d.axis, p->axis, sizeof d.axis);
        for (int i = 0; i < (p->type == SN_JOINT_HINGE ? 1 : 2); i++) {
            d.lower[i] = degree * p->limits[i][0];
            d.upper[i] = degree * p->limits[i][1];
        }
    }
    if (p->type == SN_JOINT_UNIVERSAL) memcpy(d.axis2, p->axis2, sizeof d.axis2);
    return sn_builder_joint(b, &d);
}

// Where the last bone of a limb ends.
static void add_tip(sn_builder *b, const char *name, int joint, double x, double y, double z) {
    sn_marker_desc m = {name, joint, {x, y, z}, 1};
    (void)sn_builder_marker(b, &m);
}

// A hand of a grown-up held up, 19 cm from the wrist: palm towards +z, thumb at -x.
static void build_hand(sn_builder *b) {
    static const struct finger {
        const char *name;
        double x, y, bone[3];
    } fingers[] = {{"index", -0.026, 0.088, {0.042, 0.026, 0.022}},
                   {"middle", -0.004, 0.092, {0.046, 0.030, 0.023}},
                   {"ring", 0.017, 0.087, {0.043, 0.028, 0.023}},
                   {"little", 0.035, 0.077, {0.034, 0.021, 0.020}}};
    part forearm = {.name = "forearm", .parent = -1, .position = {0, 0.02, 0}};
    int root = add(b, &forearm);
    int turn = add(
        b, &(part){"forearm_turn", root, SN_JOINT_HINGE, {0, 0, 0}, {0, 1, 0}, {0}, {{-80, 80}}});
    int palm = add(b, &(part){"palm",
                              turn,
                              SN_JOINT_UNIVERSAL,
                              {0, 0.07, 0},
                              {0, 0, 1},
                              {1, 0, 0},
                              {{-30, 20}, {-70, 80}}});
    char name[32];
    for (int f = 0; f < 4; f++) {
        const struct finger *g = &fingers[f];
        int at = palm;
        for (int i = 0; i < 3; i++) {
            (void)snprintf(name, sizeof name, "%s_%d", g->name, i + 1);
            part p = {
                .name = name, .parent = at, .type = i == 0 ? SN_JOINT_UNIVERSAL : SN_JOINT_HINGE};
            p.position[0] = i == 0 ? g->x : 0;
            p.position[1] = i == 0 ? g->y : g->bone[i - 1];
            // bending turns the finger towards the palm, which is +z
            double spread[3] = {0, 0, 1}, bend[3] = {1, 0, 0};
            memcpy(i == 0 ? p.axis2 : p.axis, bend, sizeof bend);
            if (i == 0) memcpy(p.axis, spread, sizeof spread);
            const double limits[3][2][2] = {{{-15, 15}, {-20, 95}}, {{-2, 110}}, {{-5, 80}}};
            memcpy(p.limits, limits[i], sizeof p.limits);
            at = add(b, &p);
        }
        add_tip(b, g->name, at, 0, g->bone[2], 0);
    }
    // the thumb leaves the palm sideways
    sn_joint_desc d = sn_joint_default(SN_JOINT_UNIVERSAL);
    sn_quat out = sn_quat_mul(sn_quat_exp((sn_vec3){0, -60 * degree, 0}),
                              sn_quat_exp((sn_vec3){0, 0, 42 * degree}));
    const double rotation[4] = {out.w, out.x, out.y, out.z};
    d.name = "thumb_1";
    d.parent = palm;
    d.position[0] = -0.024, d.position[1] = 0.022, d.position[2] = 0.008;
    memcpy(d.rotation, rotation, sizeof rotation);
    d.axis[0] = d.axis[1] = 0, d.axis[2] = 1;
    d.axis2[0] = 1, d.axis2[1] = d.axis2[2] = 0;
    d.lower[0] = -35 * degree, d.upper[0] = 35 * degree;
    d.lower[1] = -25 * degree, d.upper[1] = 45 * degree;
    int at = sn_builder_joint(b, &d);
    at = add(b, &(part){"thumb_2", at, SN_JOINT_HINGE, {0, 0.044, 0}, {1, 0, 0}, {0}, {{-10, 60}}});
    at = add(b, &(part){"thumb_3", at, SN_JOINT_HINGE, {0, 0.033, 0}, {1, 0, 0}, {0}, {{-10, 80}}});
    add_tip(b, "thumb", at, 0, 0.028, 0);
}

// The layout of a light-weight robot arm: seven hinges, along the arm and across it in turn.
static void build_arm(sn_builder *b) {
    static const double rise[7] = {0.16, 0.18, 0.2, 0.2, 0.2, 0.2, 0.08};
    static const double limit[7] = {170, 120, 170, 120, 170, 120, 175};
    part base = {.name = "base", .parent = -1};
    int at = add(b, &base);
    for (int i = 0; i < 7; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "axis_%d", i + 1);
        part p = {name,      at,  SN_JOINT_HINGE,         {0, rise[i], 0},
                  {0, 0, 0}, {0}, {{-limit[i], limit[i]}}};
        p.axis[i % 2 == 0 ? 1 : 2] = 1;
        at = add(b, &p);
    }
    add_tip(b, "tool", at, 0, 0.1, 0);
}

// Eight legs of four hinges on a body that is free.
static void build_spider(sn_builder *b) {
    static const double heading[4] = {52, 18, -18, -52};
    part body = {.name = "body", .parent = -1, .type = SN_JOINT_FREE, .position = {0, 0.16, 0}};
    int root = add(b, &body);
    part abdomen = {"abdomen", root,      SN_JOINT_UNIVERSAL,    {0, 0.01, -0.08},
                    {0, 1, 0}, {1, 0, 0}, {{-25, 25}, {-25, 25}}};
    add_tip(b, "spinneret", add(b, &abdomen), 0, 0.02, -0.17);
    for (int leg = 0; leg < 8; leg++) {
        // along the leg is its own +x; the left legs point to +x, the right ones are turned round
        bool left = leg < 4;
        double turn = left ? -heading[leg] : 180 + heading[leg - 4];
        char name[32], tip[32];
        sn_joint_desc d = sn_joint_default(SN_JOINT_HINGE);
        sn_quat r = sn_quat_exp((sn_vec3){0, turn * degree, 0});
        (void)snprintf(name, sizeof name, "%s_%d_coxa", left ? "left" : "right", leg % 4 + 1);
        d.name = name;
        d.parent = root;
        d.position[0] = (left ? 1 : -1) * (leg % 4 == 1 || leg % 4 == 2 ? 0.055 : 0.045);
        d.position[2] = 0.065 - 0.042 * (leg % 4);
        d.rotation[0] = r.w, d.rotation[2] = r.y;
        d.axis[0] = d.axis[2] = 0, d.axis[1] = 1;
        d.lower[0] = -45 * degree, d.upper[0] = 45 * degree;
        int at = sn_builder_joint(b, &d);
        static const struct {
            const char *name;
            double x, low, high;
        } bones[3] = {
            {"femur", 0.05, -30, 100}, {"tibia", 0.16, -150, 5}, {"tarsus", 0.17, -60, 40}};
        for (int i = 0; i < 3; i++) {
            (void)snprintf(name, sizeof name, "%s_%d_%s", left ? "left" : "right", leg % 4 + 1,
                           bones[i].name);
            at = add(b, &(part){name,
                                at,
                                SN_JOINT_HINGE,
                                {bones[i].x, 0, 0},
                                {0, 0, 1},
                                {0},
                                {{bones[i].low, bones[i].high}}});
        }
        (void)snprintf(tip, sizeof tip, "%s_%d_tip", left ? "left" : "right", leg % 4 + 1);
        add_tip(b, tip, at, 0.11, 0, 0);
    }
}

// A hundred joints of two axes, 2 m.
static void build_chain(sn_builder *b) {
    part foot = {.name = "foot", .parent = -1};
    int at = add(b, &foot);
    for (int i = 0; i < 100; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "link_%d", i + 1);
        at = add(b, &(part){name,
                            at,
                            SN_JOINT_UNIVERSAL,
                            {0, 0.02, 0},
                            {0, 0, 1},
                            {1, 0, 0},
                            {{-15, 15}, {-15, 15}}});
    }
    add_tip(b, "tip", at, 0, 0.02, 0);
}

sn_status figure_build(int which, sn_model **out) {
    static const char *const names[] = {"humanoid", "hand", "arm", "spider", "chain"};
    static void (*const build[])(sn_builder *) = {NULL, build_hand, build_arm, build_spider,
                                                  build_chain};
    *out = NULL;
    if (which < 0 || which >= WEB_FIGURES) return SN_ERR_ARGUMENT;
    if (which == WEB_HUMANOID) return sn_model_humanoid(NULL, out, NULL);
    sn_builder *b;
    sn_status status = sn_builder_create(names[which], NULL, &b, NULL);
    if (status != SN_OK) return status;
    build[which](b);
    status = sn_builder_finish(b, out, &the.error);
    sn_builder_destroy(b);
    return status;
}
