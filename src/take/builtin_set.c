// SPDX-License-Identifier: MIT
// The full-body marker set of HDM05 and CMU (41 markers after Vicon's Plug-in Gait, whose own names for
// the same places are known too), for any human figure with usual joint names.
//
// First guesses of the places are given in the body's own directions at the zero pose (left, up, forward,
// found from hips, head and the plane they span), so that they hold whatever way a skeleton's axes lie.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "math/vec3.h"
#include "sinew/eval.h"
#include "take/body.h"
#include "take/marker_set.h"

typedef struct spot {
    const char *name, *other;  // '#' is L or R; other: Plug-in Gait's name of the same place
    sn_body on;
    double
        along;  // share of the bone; on the trunk, of the height from the hips to the head's joint
    double move[3];  // then left (outward for a side), up, forward; metres on a figure of 1.75 m
    double doubt;    // how far off that is on a person, a standard deviation, metres
} spot;

// Means over takes of two people whose motion is known. On the trunk heights are shares of the whole:
// skeletons cut the spine into bones in many ways.
static const spot spots[] = {
    {"#FHD", NULL, SN_BODY_HEAD, 0, {0.083, 0.155, 0.10}, 0.018},
    {"#BHD", NULL, SN_BODY_HEAD, 0, {0.062, 0.08, -0.03}, 0.025},
    {"C7", NULL, SN_BODY_NECK, 0.92, {0, 0, -0.05}, 0.03},
    {"T10", NULL, SN_BODY_LOWER_BACK, 0.59, {0, 0, -0.13}, 0.04},
    {"CLAV", NULL, SN_BODY_THORAX, 0.81, {0, 0, 0.09}, 0.03},
    {"STRN", NULL, SN_BODY_UPPER_BACK, 0.575, {0, 0, 0.135}, 0.03},
    {"RBAC", "RBAK", SN_BODY_UPPER_BACK, 0.76, {-0.115, 0, -0.11}, 0.05},
    {"#SHO", NULL, SN_BODY_CLAVICLE, 0.88, {0, 0.065, 0}, 0.015},
    {"#UPA", NULL, SN_BODY_UPPER_ARM, 0.4, {0, 0.02, -0.02}, 0.04},
    {"#ELB", NULL, SN_BODY_UPPER_ARM, 0.97, {0, 0.045, -0.03}, 0.015},
    {"#FRM", "#FRA", SN_BODY_FOREARM, 0.6, {0, 0.045, -0.02}, 0.03},
    {"#WRA", NULL, SN_BODY_WRIST, 0.77, {0, 0.05, 0.07}, 0.02},
    {"#WRB", NULL, SN_BODY_WRIST, 0.83, {0, 0.05, -0.07}, 0.02},
    {"#FIN", NULL, SN_BODY_FINGERS, 0.5, {0, 0.04, 0.01}, 0.02},
    {"#FWT", "#ASI", SN_BODY_PELVIS, 0, {0.14, 0.022, 0.106}, 0.015},
    {"#BWT", "#PSI", SN_BODY_PELVIS, 0, {0.088, 0.018, -0.095}, 0.025},
    {"#THI", NULL, SN_BODY_THIGH, 0.48, {0.095, 0, -0.02}, 0.035},
    {"#KNE", NULL, SN_BODY_THIGH, 0.91, {0.069, 0, -0.024}, 0.02},
    {"#SHN", "#TIB", SN_BODY_SHIN, 0.38, {0.088, 0, -0.04}, 0.05},
    {"#ANK", NULL, SN_BODY_FOOT, 0, {0.046, 0.014, 0.002}, 0.015},
    {"#HEE", NULL, SN_BODY_FOOT, 0, {0.004, -0.058, -0.055}, 0.02},
    {"#TOE", NULL, SN_BODY_TOES, 0, {0, -0.01, 0.065}, 0.02},
    {"#MT5", NULL, SN_BODY_TOES, 0, {0.062, 0.006, 0.03}, 0.02},
};

enum { NSPOT = (int)(sizeof spots / sizeof spots[0]) };

// A figure with fewer matches is none of ours.
enum { LEAST_SPOTS = 8 };

// The body at the zero pose.
typedef struct body {
    const sn_model *model;
    const sn_workspace *ws;
    sn_vec3 left, up, forward;
    sn_vec3 hips, head;  // between the thighs' joints, and the head's
    double size;         // height over 1.75 m
} body;

static sn_vec3 place(const body *b, int joint) { return sn_workspace_frame(b->ws, joint).p; }

static bool find_directions(body *b) {
    int thigh[2] = {sn_body_part(b->model, SN_BODY_THIGH, 0),
                    sn_body_part(b->model, SN_BODY_THIGH, 1)};
    int foot[2] = {sn_body_part(b->model, SN_BODY_FOOT, 0),
                   sn_body_part(b->model, SN_BODY_FOOT, 1)};
    int head = sn_body_part(b->model, SN_BODY_HEAD, 0);
    if (thigh[0] < 0 || thigh[1] < 0 || foot[0] < 0 || foot[1] < 0 || head < 0) return false;
    sn_vec3 left = v3_sub(place(b, thigh[0]), place(b, thigh[1]));
    sn_vec3 low = v3_scale(0.5, v3_add(place(b, foot[0]), place(b, foot[1])));
    sn_vec3 up = v3_sub(place(b, head), low);
    sn_vec3 forward = v3_cross(left, up);
    if (!(v3_norm(forward) > 1e-9)) return false;
    b->up = v3_scale(1 / v3_norm(up), up);
    b->forward = v3_scale(1 / v3_norm(forward), forward);
    b->left = v3_cross(b->up, b->forward);
    b->hips = v3_scale(0.5, v3_add(place(b, thigh[0]), place(b, thigh[1])));
    b->head = place(b, head);
    b->size = v3_norm(up) / 1.5;  // from the ankles to the head's joint
    return true;
}

// The bone's end: the mean of the joint's children that leave it; a leaf goes on the way it came, 9 cm.
static sn_vec3 bone_vector(const body *b, int joint) {
    sn_vec3 sum = v3(0, 0, 0);
    int n = 0;
    for (int j = 0; j < sn_model_njoint(b->model); j++) {
        if (sn_model_parent(b->model, j) != joint) continue;
        sn_vec3 d = v3_sub(place(b, j), place(b, joint));
        if (v3_norm(d) > 1e-6) sum = v3_add(sum, d), n++;
    }
    if (n > 0) return v3_scale(1.0 / n, sum);
    for (int j = sn_model_parent(b->model, joint); j >= 0; j = sn_model_parent(b->model, j)) {
        sn_vec3 d = v3_sub(place(b, joint), place(b, j));
        if (v3_norm(d) > 1e-6) return v3_scale(0.09 * b->size / v3_norm(d), d);
    }
    return sum;
}

// Where along its bone, or up the trunk, a spot lies, from its joint.
static sn_vec3 way_along(const body *b, const spot *s, int joint) {
    if (s->on < SN_BODY_LOWER_BACK || s->on > SN_BODY_NECK)
        return v3_scale(s->along, bone_vector(b, joint));
    double height = s->along * v3_dot(v3_sub(b->head, b->hips), b->up);
    return v3_scale(height - v3_dot(v3_sub(place(b, joint), b->hips), b->up), b->up);
}

static void set_place(const body *b, const spot *s, int side, int joint, sn_marker_place *out) {
    double mirror = side == 0 ? 1 : -1;
    sn_vec3 at = way_along(b, s, joint);
    at = v3_add(at, v3_scale(mirror * s->move[0] * b->size, b->left));
    at = v3_add(at, v3_scale(s->move[1] * b->size, b->up));
    at = v3_add(at, v3_scale(s->move[2] * b->size, b->forward));
    sn_frame frame = sn_workspace_frame(b->ws, joint);
    sn_vec3 local = m3_tmul(&frame.R, at);
    out->position[0] = local.x, out->position[1] = local.y, out->position[2] = local.z;
    out->weight = 1;
    out->doubt = s->doubt * b->size;
    sn_copy_name(out->joint, sizeof out->joint, sn_model_joint(b->model, joint)->name);
}

// The label of a spot in the recording, by either of its names; false when it is not there.
static bool find_label(const spot *s, int side, const sn_recording *recording, char out[8]) {
    const char *names[2] = {s->name, s->other};
    for (int i = 0; i < 2 && names[i] != NULL; i++) {
        sn_copy_name(out, 8, names[i]);
        if (out[0] == '#') out[0] = side == 0 ? 'L' : 'R';
        if (recording == NULL || sn_recording_find(recording, out) != -1) return true;
    }
    return false;
}

static int collect(const body *b, const sn_recording *recording, sn_marker_place *places) {
    int count = 0;
    for (int i = 0; i < NSPOT; i++)
        for (int side = 0; side < (spots[i].name[0] == '#' ? 2 : 1); side++) {
            char label[8];
            int joint = sn_body_part(b->model, spots[i].on, side);
            if (joint < 0 || !find_label(&spots[i], side, recording, label)) continue;
            places[count] = (sn_marker_place){0};
            sn_copy_name(places[count].name, sizeof places[count].name, label);
            set_place(b, &spots[i], side, joint, &places[count++]);
        }
    return count;
}

sn_status sn_marker_set_builtin(const sn_model *model, const sn_recording *recording,
                                const sn_allocator *allocator, sn_marker_set **out,
                                sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(model, error);
    SN_NEED(out, error);
    sn_problem *problem = NULL;
    sn_workspace *ws = NULL;
    sn_status status = sn_problem_create(model, NULL, 0, allocator, &problem, error);
    if (status == SN_OK) status = sn_workspace_create(problem, false, allocator, &ws, error);
    double *q = sn_acquire(allocator, (size_t)(sn_model_nq(model) + 1) * sizeof *q);
    sn_marker_place *places = sn_acquire(allocator, 2 * NSPOT * sizeof *places);
    if (status != SN_OK || q == NULL || places == NULL) {
        status = sn_fail_memory(error);
    } else {
        sn_model_zero(model, q);
        (void)sn_workspace_pose(ws, q);
        body b = {.model = model, .ws = ws};
        int count = find_directions(&b) ? collect(&b, recording, places) : -1;
        if (count < 0) {
            status =
                sn_fail(error, SN_ERR_MODEL, 0,
                        "the model has no joints with the usual names of thighs, feet and head, "
                        "so the built-in marker set does not fit it");
        } else if (count < LEAST_SPOTS) {
            char number[24];
            (void)snprintf(number, sizeof number, "only %d", count);
            status =
                sn_fail(error, SN_ERR_MODEL, 0,
                        "%s of the recording's labels belong to the built-in marker set (LFHD, "
                        "C7, LFWT or LASI, ...)",
                        count == 0 ? "none" : number);
        } else {
            status = sn_marker_set_create("full body (HDM05, CMU, Plug-in Gait)", places, count,
                                          allocator, out, error);
            if (status != SN_OK) (void)sn_fail_memory(error);
        }
    }
    sn_release(allocator, places);
    sn_release(allocator, q);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return status;
}
