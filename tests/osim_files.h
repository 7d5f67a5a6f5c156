// SPDX-License-Identifier: MIT
// What the tests of OpenSim files share.
#pragma once

#include <glob.h>

#include "math/vec3.h"
#include "plain_osim.h"
#include "support.h"
#include "take/fit.h"

static const double degrees = 57.29577951308232;

// --- little helpers ----------------------------------------------------------------------------------

// Text that is put together; one at a time.
static char text[65536];
static size_t used;

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void put(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    used += (size_t)vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
    assert_true(used < sizeof text);
}

// Where a marker is at a pose.
static sn_vec3 marker_at(const sn_model *model, const char *name, const double *q) {
    sn_problem *problem;
    sn_workspace *ws;
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
    const sn_marker_desc *m = sn_model_marker(model, sn_model_find_marker(model, name));
    assert_non_null(m);
    sn_vec3 p = sn_workspace_point(ws, m->joint, m->position);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return p;
}

// --- files in either layout --------------------------------------------------------------------------

static bool new_layout;  // version 4

static void begin_file(void) {
    used = 0;
    put("<?xml version=\"1.0\"?>\n<OpenSimDocument Version=\"%d\">\n<Model name=\"test\">\n",
        new_layout ? 40000 : 20303);
    if (!new_layout) put("<BodySet><objects>\n<Body name=\"ground\"><Joint/></Body>\n");
    if (new_layout) put("<Ground name=\"ground\"/>\n<JointSet><objects>\n");
}

typedef struct ends {
    double at[3], angles[3], child_at[3], child_angles[3];
} ends;

static void put_vector(const char *tag, const double x[3]) {
    put("<%s> %.17g %.17g\n%.17g</%s>", tag, x[0], x[1], x[2], tag);
}

// A joint of a kind, its middle given.
static void put_joint(const char *kind, const char *name, const char *parent, const char *child,
                      const ends *e, const char *coordinates, const char *middle) {
    if (new_layout) {
        put("<%s name=\"%s\"><socket_parent_frame>p_offset</socket_parent_frame>\n"
            "<socket_child_frame>c_offset</socket_child_frame>\n<coordinates>%s</coordinates>\n",
            kind, name, coordinates);
        put("<frames><PhysicalOffsetFrame name=\"p_offset\"><socket_parent>%s%s</socket_parent>",
            strcmp(parent, "ground") == 0 ? "/" : "/bodyset/", parent);
        put_vector("translation", e->at);
        put_vector("orientation", e->angles);
        put("</PhysicalOffsetFrame><PhysicalOffsetFrame "
            "name=\"c_offset\"><socket_parent>/bodyset/%s"
            "</socket_parent>",
            child);
        put_vector("translation", e->child_at);
        put_vector("orientation", e->child_angles);
        put("</PhysicalOffsetFrame></frames>%s</%s>\n", middle, kind);
        return;
    }
    put("<Body name=\"%s\"><mass>1</mass><Joint><%s name=\"%s\">%s<parent_body>%s</parent_body>\n",
        child, kind, name, middle, parent);
    put_vector("location_in_parent", e->at);
    put_vector("orientation_in_parent", e->angles);
    put_vector("location", e->child_at);
    put_vector("orientation", e->child_angles);
    put("<CoordinateSet><objects>%s</objects></CoordinateSet><reverse>false</reverse></%s></"
        "Joint></Body>\n",
        coordinates, kind);
}

static const char *bodies[4];

static void begin_markers(void) {
    put("</objects></%s>\n", new_layout ? "JointSet" : "BodySet");
    if (new_layout) {
        put("<BodySet><objects>");
        for (int i = 0; i < 4 && bodies[i] != NULL; i++)
            put("<Body name=\"%s\"><mass>2</mass></Body>\n", bodies[i]);
        put("</objects></BodySet>");
    }
    put("<ForceSet><objects><Muscle name=\"m\"><GeometryPath>1 "
        "2</GeometryPath></Muscle></objects></ForceSet>"
        "<MarkerSet><objects>\n");
}

static void put_marker(const char *name, const char *body, double x, double y, double z) {
    put("<Marker name=\"%s\"><%s>%s%s</%s><location>%.17g %.17g %.17g</location></Marker>\n", name,
        new_layout ? "socket_parent_frame" : "body", new_layout ? "/bodyset/" : "", body,
        new_layout ? "socket_parent_frame" : "body", x, y, z);
}

static void end_file(void) { put("</objects></MarkerSet></Model></OpenSimDocument>\n"); }
