// SPDX-License-Identifier: MIT
#include "arms_models.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A joint of a Denavit-Hartenberg table: Rz(q + pi halves) Tz(d) Tx(a) Rx(alpha), in quarter turns.
typedef struct dh {
    double a, quarters, d, lower, upper, speed;
    int halves;
} dh;

#define D   (3.141592653589793 / 180)
#define ANY -INFINITY, INFINITY

static const dh panda[] = {
    {0, -1, .333, -2.8973, 2.8973, 2.175, 0},    {0, 1, 0, -1.7628, 1.7628, 2.175, 0},
    {.0825, 1, .316, -2.8973, 2.8973, 2.175, 0}, {-.0825, -1, 0, -3.0718, -.0698, 2.175, 0},
    {0, 1, .384, -2.8973, 2.8973, 2.61, 0},      {.088, 1, 0, -.0175, 3.7525, 2.61, 0},
    {0, 0, .107, -2.8973, 2.8973, 2.61, 0}};
static const dh iiwa14[] = {
    {0, -1, .36, -170 * D, 170 * D, 85 * D, 0}, {0, 1, 0, -120 * D, 120 * D, 85 * D, 0},
    {0, 1, .42, -170 * D, 170 * D, 100 * D, 0}, {0, -1, 0, -120 * D, 120 * D, 75 * D, 0},
    {0, -1, .4, -170 * D, 170 * D, 130 * D, 0}, {0, 1, 0, -120 * D, 120 * D, 135 * D, 0},
    {0, 0, .126, -175 * D, 175 * D, 135 * D, 0}};
static const dh ur5[] = {
    {0, 1, .089159, -360 * D, 360 * D, 180 * D, 0}, {-.425, 0, 0, -360 * D, 360 * D, 180 * D, 0},
    {-.39225, 0, 0, -360 * D, 360 * D, 180 * D, 0}, {0, 1, .10915, -360 * D, 360 * D, 180 * D, 0},
    {0, -1, .09465, -360 * D, 360 * D, 180 * D, 0}, {0, 0, .0823, -360 * D, 360 * D, 180 * D, 0}};
static const dh ur10[] = {
    {0, 1, .1273, -180 * D, 180 * D, 120 * D, 0},  {-.612, 0, 0, -180 * D, 180 * D, 120 * D, 0},
    {-.5723, 0, 0, -180 * D, 180 * D, 180 * D, 0}, {0, 1, .163941, -180 * D, 180 * D, 180 * D, 0},
    {0, -1, .1157, -180 * D, 180 * D, 180 * D, 0}, {0, 0, .0922, -180 * D, 180 * D, 180 * D, 0}};
static const dh kinova[] = {{0, 1, -.2848, ANY, 1.39, 0}, {0, 1, -.0118, -2.2497, 2.2497, 1.39, 1},
                            {0, 1, -.4208, ANY, 1.39, 1}, {0, 1, -.0128, -2.5796, 2.5796, 1.39, 1},
                            {0, 1, -.3143, ANY, 1.22, 1}, {0, 1, 0, -2.0996, 2.0996, 1.22, 1},
                            {0, 2, -.1674, ANY, 1.22, 1}};

// A torso that lifts, then seven hinges along a stretched arm.
static const struct {
    double x, z;
    int axis;  // 0 x, 1 y, 2 z; -1: slides along z
    double lower, upper, speed;
} fetch[] = {{-.086875, .37743, -1, 0, .38615, .1}, {.119525, .34858, 2, -1.6056, 1.6056, 1.256},
             {.117, .06, 1, -1.221, 1.518, 1.454},  {.219, 0, 0, ANY, 1.571},
             {.133, 0, 1, -2.251, 2.251, 1.521},    {.197, 0, 0, ANY, 1.571},
             {.1245, 0, 1, -2.16, 2.16, 2.268},     {.1385, 0, 0, ANY, 2.268}};

static const struct {
    const char *name;
    const dh *table;
    int n;
} arms[ARMS_COUNT] = {{"panda", panda, 7}, {"iiwa14", iiwa14, 7}, {"ur5", ur5, 6},
                      {"ur10", ur10, 6},   {"kinova", kinova, 7}, {"fetch", NULL, 8}};

const char *arms_name(int arm) { return arm >= 0 && arm < ARMS_COUNT ? arms[arm].name : NULL; }

static void add_table(sn_builder *b, const dh *table, int n) {
    char name[16];
    for (int i = 0; i <= n; i++) {
        sn_joint_desc j = sn_joint_default(i < n ? SN_JOINT_HINGE : SN_JOINT_FIXED);
        (void)snprintf(name, sizeof name, i < n ? "joint%d" : "tool", i + 1);
        j.name = name;
        j.parent = i - 1;
        if (i > 0) {
            const double half = sqrt(0.5), quarters = table[i - 1].quarters;
            j.position[0] = table[i - 1].a;
            j.position[2] = table[i - 1].d;
            if (quarters != 0) j.rotation[0] = half, j.rotation[1] = quarters > 0 ? half : -half;
            if (quarters == 2) j.rotation[0] = 0, j.rotation[1] = 1;
        }
        if (i < n && table[i].halves != 0) {  // and half a turn about z
            const double w = j.rotation[0], x = j.rotation[1];
            j.rotation[0] = j.rotation[1] = 0, j.rotation[2] = -x, j.rotation[3] = w;
        }
        if (i < n) j.lower[0] = table[i].lower, j.upper[0] = table[i].upper;
        if (i < n) j.speed[0] = table[i].speed;
        (void)sn_builder_joint(b, &j);
    }
}

static void add_fetch(sn_builder *b) {
    char name[16];
    for (int i = 0; i < 9; i++) {
        sn_joint_type type = i == 8              ? SN_JOINT_FIXED
                             : fetch[i].axis < 0 ? SN_JOINT_SLIDER
                                                 : SN_JOINT_HINGE;
        sn_joint_desc j = sn_joint_default(type);
        (void)snprintf(name, sizeof name, i < 8 ? "joint%d" : "tool", i + 1);
        j.name = name;
        j.parent = i - 1;
        j.position[0] = i < 8 ? fetch[i].x : .16645;
        j.position[2] = i < 8 ? fetch[i].z : 0;
        if (i < 8 && fetch[i].axis >= 0) j.axis[2] = 0, j.axis[fetch[i].axis] = 1;
        if (i < 8) j.lower[0] = fetch[i].lower, j.upper[0] = fetch[i].upper;
        if (i < 8) j.speed[0] = fetch[i].speed;
        (void)sn_builder_joint(b, &j);
    }
}

sn_model *arms_model(int arm) {
    sn_builder *builder;
    sn_model *model = NULL;
    if (arms_name(arm) == NULL) return NULL;
    if (sn_builder_create(arms[arm].name, NULL, &builder, NULL) != SN_OK) return NULL;
    if (arms[arm].table != NULL)
        add_table(builder, arms[arm].table, arms[arm].n);
    else
        add_fetch(builder);
    (void)sn_builder_finish(builder, &model, NULL);
    sn_builder_destroy(builder);
    return model;
}
