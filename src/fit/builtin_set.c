// SPDX-License-Identifier: MIT
// The full-body marker set of HDM05 and CMU (41 markers after Vicon's Plug-in Gait, whose own names for
// the same places are known too), for any human figure with usual joint names.
//
// First guesses of the places are given in the body's own directions at the zero pose (left, up, forward,
// found from hips, head and the plane they span), so that they hold whatever way a skeleton's axes lie.
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "fit/marker_set.h"
#include "math/vec3.h"
#include "sinew/eval.h"

typedef enum part {
    PELVIS, LOWER_BACK, UPPER_BACK, THORAX, NECK, HEAD,
    CLAVICLE, UPPER_ARM, FOREARM, WRIST, FINGERS,
    THIGH, SHIN, FOOT, TOES,
    PART_COUNT
} part;

// Names of each part in the skeletons that are about, in letters and digits only, lower case; '#' is the
// side: left, l, and so on. The first that a model has is taken; behind "|" stand stand-ins, parts that
// carry the marker when a skeleton is coarser.
static const char *const part_names[PART_COUNT][12] = {
    [PELVIS] = {"root", "hips", "pelvis", "hip", "bip01", "bip001", "base", "reference", NULL},
    [LOWER_BACK] = {"lowerback", "spinelow", "spine", "abdomen", "spine1", "chest", "torso", NULL},
    [UPPER_BACK] = {"upperback", "spinemid", "spine1", "chest", "spine", "torso", NULL},
    [THORAX] = {"thorax", "chest2", "spine3", "spine2", "upperchest", "chest", "spine1", "spine",
                "torso", NULL},
    [NECK] = {"lowerneck", "necklow", "neck", "thorax", "chest", "spine2", "spine1", NULL},
    [HEAD] = {"head", "neck1", "neck", NULL},
    [CLAVICLE] = {"#clavicle", "#collar", "#shoulderjoint", "#shoulder", "thorax", "chest", NULL},
    [UPPER_ARM] = {"#humerus", "#upperarm", "#arm", "#uparm", "#shldr", "#shoulder", NULL},
    [FOREARM] = {"#radius", "#forearm", "#lowerarm", "#elbow", NULL},
    [WRIST] = {"#wrist", "#hand", "#radius", "#forearm", NULL},
    [FINGERS] = {"#fingers", "#handindex1", "#fingerbase", "#hand", "#wrist", NULL},
    [THIGH] = {"#femur", "#thigh", "#upleg", "#upperleg", "#hip", NULL},
    [SHIN] = {"#tibia", "#shin", "#leg", "#lowerleg", "#calf", "#knee", NULL},
    [FOOT] = {"#foot", "#ankle", "#tibia", NULL},
    [TOES] = {"#toes", "#toebase", "#toe", "#toe0", "#foot", "#ankle", NULL},
};

typedef struct spot {
    const char *name, *other;  // '#' is L or R; other: Plug-in Gait's name of the same place
    part on;
    double along;    // share of the bone
    double move[3];  // then left (outward for a side), up, forward; metres on a figure of 1.75 m
} spot;

static const spot spots[] = {
    {"#FHD", NULL, HEAD, 0, {0.08, 0.15, 0.09}},
    {"#BHD", NULL, HEAD, 0, {0.07, 0.11, -0.05}},
    {"C7", NULL, NECK, 0.5, {0, 0.02, -0.06}},
    {"T10", NULL, LOWER_BACK, 1.6, {0, 0, -0.10}},
    {"CLAV", NULL, THORAX, 1, {0, 0, 0.09}},
    {"STRN", NULL, UPPER_BACK, 0.9, {0, 0, 0.13}},
    {"RBAC", "RBAK", UPPER_BACK, 1.3, {-0.10, 0, -0.10}},
    {"#SHO", NULL, CLAVICLE, 0.88, {0, 0.07, 0}},
    {"#UPA", NULL, UPPER_ARM, 0.4, {0, 0.03, 0}},
    {"#ELB", NULL, UPPER_ARM, 0.95, {0, 0.045, -0.01}},
    {"#FRM", "#FRA", FOREARM, 0.55, {0, 0.04, 0}},
    {"#WRA", NULL, WRIST, 0.4, {0, 0.03, 0.05}},
    {"#WRB", NULL, WRIST, 0.4, {0, 0.03, -0.045}},
    {"#FIN", NULL, FINGERS, 0.5, {0, 0.03, 0.01}},
    {"#FWT", "#ASI", PELVIS, 0, {0.13, 0.03, 0.11}},
    {"#BWT", "#PSI", PELVIS, 0, {0.09, 0.035, -0.10}},
    {"#THI", NULL, THIGH, 0.57, {0.08, 0, 0}},
    {"#KNE", NULL, THIGH, 0.95, {0.06, 0, -0.01}},
    {"#SHN", "#TIB", SHIN, 0.5, {0.055, 0, 0}},
    {"#ANK", NULL, FOOT, 0, {0.048, 0.005, -0.005}},
    {"#HEE", NULL, FOOT, 0, {0, -0.045, -0.065}},
    {"#TOE", NULL, TOES, 0.4, {0, 0.01, 0.03}},
    {"#MT5", NULL, TOES, 0.4, {0.055, 0.005, 0.01}},
};

enum { NSPOT = (int)(sizeof spots / sizeof spots[0]) };

// A figure with fewer matches is none of ours.
enum { LEAST_SPOTS = 8 };

// Letters and digits of a joint's name in lower case, without what comes before a colon or an exporter's
// usual prefix.
static void plain_name(const char *name, char out[64]) {
    size_t n = 0;
    name = sn_label_name(name);
    for (; *name != '\0' && n < 63; name++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name + 32) : *name;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) out[n++] = c;
    }
    out[n] = '\0';
    static const char *const prefixes[] = {"mixamorig", "bip01", "bip001"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t m = strlen(prefixes[i]);
        if (strncmp(out, prefixes[i], m) == 0 && out[m] != '\0') memmove(out, out + m, strlen(out + m) + 1);
    }
}

// Does a joint's plain name say this part? The side may stand in front or behind: lhand, lefthand, handl.
static bool is_part(const char *plain, const char *pattern, int side) {
    static const char *const words[2][2] = {{"left", "l"}, {"right", "r"}};
    if (pattern[0] != '#') return strcmp(plain, pattern) == 0;
    pattern++;
    size_t n = strlen(plain), np = strlen(pattern);
    for (int w = 0; w < 2; w++) {
        const char *word = words[side][w];
        size_t nw = strlen(word);
        if (n != nw + np) continue;
        if (strncmp(plain, word, nw) == 0 && strcmp(plain + nw, pattern) == 0) return true;
        if (strncmp(plain, pattern, np) == 0 && strcmp(plain + np, word) == 0) return true;
    }
    return false;
}

static int find_part(const sn_model *model, part which, int side) {
    for (int k = 0; part_names[which][k] != NULL; k++)
        for (int j = 0; j < sn_model_njoint(model); j++) {
            char plain[64];
            plain_name(sn_model_joint(model, j)->name, plain);
            if (is_part(plain, part_names[which][k], side)) return j;
        }
    return -1;
}

// The body at the zero pose.
typedef struct body {
    const sn_model *model;
    const sn_workspace *ws;
    sn_vec3 left, up, forward;
    double size;  // height over 1.75 m
} body;

static sn_vec3 place(const body *b, int joint) { return sn_workspace_frame(b->ws, joint).p; }

static bool find_directions(body *b) {
    int thigh[2] = {find_part(b->model, THIGH, 0), find_part(b->model, THIGH, 1)};
    int foot[2] = {find_part(b->model, FOOT, 0), find_part(b->model, FOOT, 1)};
    int head = find_part(b->model, HEAD, 0);
    if (thigh[0] < 0 || thigh[1] < 0 || foot[0] < 0 || foot[1] < 0 || head < 0) return false;
    sn_vec3 left = v3_sub(place(b, thigh[0]), place(b, thigh[1]));
    sn_vec3 low = v3_scale(0.5, v3_add(place(b, foot[0]), place(b, foot[1])));
    sn_vec3 up = v3_sub(place(b, head), low);
    sn_vec3 forward = v3_cross(left, up);
    if (!(v3_norm(forward) > 1e-9)) return false;
    b->up = v3_scale(1 / v3_norm(up), up);
    b->forward = v3_scale(1 / v3_norm(forward), forward);
    b->left = v3_cross(b->up, b->forward);
    b->size = v3_norm(up) / 1.5;  // from the ankles to the head's joint
    return true;
}

// The bone's end: the mean of the joint's children that leave it; a short way on for a leaf.
static sn_vec3 bone_vector(const body *b, int joint) {
    sn_vec3 sum = v3(0, 0, 0);
    int n = 0;
    for (int j = 0; j < sn_model_njoint(b->model); j++) {
        if (sn_model_parent(b->model, j) != joint) continue;
        sn_vec3 d = v3_sub(place(b, j), place(b, joint));
        if (v3_norm(d) > 1e-6) sum = v3_add(sum, d), n++;
    }
    return n > 0 ? v3_scale(1.0 / n, sum) : sum;
}

static void set_place(const body *b, const spot *s, int side, int joint, sn_marker_place *out) {
    double mirror = side == 0 ? 1 : -1;
    sn_vec3 at = v3_scale(s->along, bone_vector(b, joint));
    at = v3_add(at, v3_scale(mirror * s->move[0] * b->size, b->left));
    at = v3_add(at, v3_scale(s->move[1] * b->size, b->up));
    at = v3_add(at, v3_scale(s->move[2] * b->size, b->forward));
    sn_frame frame = sn_workspace_frame(b->ws, joint);
    sn_vec3 local = m3_tmul(&frame.R, at);
    out->position[0] = local.x, out->position[1] = local.y, out->position[2] = local.z;
    out->weight = 1;
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
            int joint = find_part(b->model, spots[i].on, side);
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
    *out = NULL;
    sn_problem *problem = NULL;
    sn_workspace *ws = NULL;
    sn_status status = sn_problem_create(model, NULL, 0, allocator, &problem, error);
    if (status == SN_OK) status = sn_workspace_create(problem, false, allocator, &ws);
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
            status = sn_fail(error, SN_ERR_MODEL, 0,
                             "the model has no joints with the usual names of thighs, feet and head, so "
                             "the built-in marker set does not fit it; give one with --markers");
        } else if (count < LEAST_SPOTS) {
            status = sn_fail(error, SN_ERR_MODEL, 0,
                             "only %d labels of the recording belong to the built-in marker set (LFHD, "
                             "C7, LFWT or LASI, ...); give a set with --markers",
                             count);
        } else {
            status = sn_marker_set_create("full body (HDM05, CMU, Plug-in Gait)", places, count,
                                          allocator, out);
            if (status != SN_OK) (void)sn_fail_memory(error);
        }
    }
    sn_release(allocator, places);
    sn_release(allocator, q);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return status;
}
