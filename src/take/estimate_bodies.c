// SPDX-License-Identifier: MIT
// Which joints make a body, along which axes it is scaled, and how alike the factors of bodies are.
//
// A body is scaled about the joint that carries it: every vector from there to a marker or to the next joint
// grows by the body's three factors along the body's axes. An .osim file's joint may be a chain of several here;
// those in the middle belong to the body that the chain begins at, whose size its translations follow.
//
// People differ in size, then in how long a segment is, then in how thick; left and right are nearly the same.
// As sums of independent parts, the logarithms of two factors (bodies b and c, axes k and l) have the covariance
//
//   common^2 + [same segment](segment^2 + [k = l] segment_axis^2)
//            + [same body or its mirror image](body^2 + [k = l] body_axis^2) + [b = c, k = l] side^2
#include <string.h>

#include "linalg/dense.h"
#include "math/vec3.h"
#include "model/model.h"
#include "take/estimate.h"

static const double segment = 0.06, segment_axis = 0.08, body_own = 0.02, body_axis = 0.04,
                    side_own = 0.005;
// The same where both sides were measured: they are as they are.
static const double side_measured = 0.05;

// Bodies of one segment, by how their names begin once side and signs are taken away.
static const char *const segments[][12] = {
    {"talus", "calcn", "toes", "toe", "foot", "ankle", "mtp", "midfoot", NULL},
    {"ulna", "radius", "hand", "forearm", "lowerarm", "wrist", "finger", "thumb", "elbow", NULL},
    {"femur", "thigh", "patella", "upleg", "upperleg", "hip", NULL},
    {"tibia", "shin", "shank", "fibula", "lowerleg", "calf", "knee", NULL},
    {"humerus", "upperarm", "uparm", NULL},
    {"spine", "lowerback", "upperback", "thorax", "chest", "torso", "abdomen", "lumbar", "rib",
     NULL},
    {"neck", "head", "skull", "lowerneck", "upperneck", NULL},
    {"clavicle", "collar", "scapula", "shoulder", NULL},
};

// Letters of a name in lower case, without its side.
static int plain(const char *name, char out[64]) {
    size_t n = 0;
    int side = 0;
    char text[64];
    for (; *name != '\0' && n < 63; name++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name + 32) : *name;
        text[n++] = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
    }
    text[n] = '\0';
    char *from = text;
    static const char *const words[2][2] = {{"left", "l"}, {"right", "r"}};
    for (int s = 0; s < 2 && side == 0; s++) {
        size_t long_word = strlen(words[s][0]);
        if (n > 2 && text[n - 1] == words[s][1][0] && text[n - 2] == '_') {
            text[n - 2] = '\0', side = s + 1;
        } else if (n > 2 && text[0] == words[s][1][0] && text[1] == '_') {
            from = text + 2, side = s + 1;
        } else if (n > long_word && strncmp(text, words[s][0], long_word) == 0) {
            from = text + long_word, side = s + 1;
        } else if (n > long_word && strcmp(text + n - long_word, words[s][0]) == 0) {
            text[n - long_word] = '\0', side = s + 1;
        }
    }
    n = 0;
    for (; *from != '\0'; from++)
        if (*from != '_') out[n++] = *from;
    out[n] = '\0';
    return side;
}

static int segment_of(const char *name) {
    int count = (int)(sizeof segments / sizeof segments[0]);
    for (int s = 0; s < count; s++)
        for (int k = 0; segments[s][k] != NULL; k++)
            if (strncmp(name, segments[s][k], strlen(segments[s][k])) == 0) return s;
    // "lfemur" of an ASF file: the side without a sign
    for (int s = 0; s < count && (name[0] == 'l' || name[0] == 'r'); s++)
        for (int k = 0; segments[s][k] != NULL; k++)
            if (strncmp(name + 1, segments[s][k], strlen(segments[s][k])) == 0) return s;
    return -1;
}

// The frame of the body that a joint carries; bodies come before joints among the frames of an .osim file.
static int frame_on(const sn_model *model, int joint) {
    for (int i = 0; i < sn_model_nframe(model); i++)
        if (sn_model_frame(model, i)->joint == joint) return i;
    return -1;
}

static bool is_root(const sn_model *model, int joint) {
    const sn_joint_desc *d = sn_model_joint(model, joint);
    return d->parent < 0 && d->type == SN_JOINT_FIXED;
}

// Does a joint carry a body that gets factors? @param frame  of its body, where bodies have names
static bool is_scaled(const sn_estimate *e, int joint, bool named, int frame) {
    if (!e->o.asked.scale) return joint == e->o.asked.only;
    return named ? frame >= 0 : !is_root(e->model, joint);
}

sn_status sn_estimate_bodies(sn_estimate *e) {
    const sn_model *m = e->model;
    bool named = sn_model_nframe(m) > 0;
    sn_fit_place at = {0};
    sn_status status = sn_fit_place_open(&at, m, e->allocator);
    if (status == SN_OK) {
        sn_model_zero(m, at.q);
        status = sn_workspace_pose(at.workspace, at.q);
    }
    e->nbody = 0;
    for (int j = 0; status == SN_OK && j < e->njoint; j++) {
        int f = named ? frame_on(m, j) : -1;
        e->body[j] = -1;
        e->axes[j] = m3_identity();
        if (!is_scaled(e, j, named, f)) continue;
        e->body[j] = e->nbody;
        if (f >= 0) {
            const sn_frame_desc *d = sn_model_frame(m, f);
            e->name[e->nbody++] = d->name;
            e->axes[j] = sn_frame_place(d).R;
        } else {
            // a figure's axes are the world's while it stands as at zero
            sn_mat3 R = sn_workspace_frame(at.workspace, j).R;
            e->name[e->nbody++] = sn_model_joint(m, j)->name;
            e->axes[j] = m3_transpose(&R);
        }
    }
    // the middle of a chain: as the body above it
    for (int pass = 0; status == SN_OK && e->o.asked.scale && pass < e->njoint; pass++) {
        bool more = false;
        for (int j = 0; j < e->njoint; j++) {
            int parent = sn_model_parent(m, j);
            if (e->body[j] >= 0 || parent < 0 || e->body[parent] < 0) continue;
            sn_frame here = sn_workspace_frame(at.workspace, j),
                     above = sn_workspace_frame(at.workspace, parent);
            sn_mat3 back = m3_transpose(&here.R), turn = m3_mulm(&back, &above.R);
            e->body[j] = e->body[parent];
            e->axes[j] = m3_mulm(&turn, &e->axes[parent]);
            more = true;
        }
        if (!more) break;
    }
    sn_fit_place_close(&at, e->allocator);
    e->n = 3 * (size_t)e->nmarker + 3 * (size_t)e->nbody;
    return status;
}

static int carrier(const sn_estimate *e, int body) {
    for (int j = 0; j < e->njoint; j++)
        if (e->body[j] == body) return j;
    return 0;
}

static bool are_alike(const sn_estimate *e, int b, int c) {
    char one[64], other[64];
    (void)plain(e->name[b], one);
    (void)plain(e->name[c], other);
    // "femur_l" by its name, "lfemur" by its joint's mirror image
    return strcmp(one, other) == 0 ||
           sn_model_mirror_joint(e->model, carrier(e, b)) == carrier(e, c);
}

static bool is_measured(const sn_estimate *e, int body) {
    for (int i = 0; i < e->nlength; i++)
        if (e->length[i].body == body) return true;
    return false;
}

static bool are_both_measured(const sn_estimate *e, int body) {
    for (int c = 0; c < e->nbody && is_measured(e, body); c++)
        if (c != body && is_measured(e, c) && are_alike(e, body, c)) return true;
    return false;
}

sn_status sn_estimate_prior(sn_estimate *e) {
    size_t n = 3 * (size_t)e->nbody;
    if (n == 0) return SN_OK;
    double *C = sn_acquire(e->allocator, n * n * sizeof *C);
    if (C == NULL) return SN_ERR_MEMORY;
    for (int b = 0; b < e->nbody; b++) {
        const double side = are_both_measured(e, b) ? side_measured : side_own;
        for (int c = 0; c < e->nbody; c++) {
            char one[64], other[64];
            (void)plain(e->name[b], one);
            (void)plain(e->name[c], other);
            int sb = segment_of(one), sc = segment_of(other);
            bool alike = are_alike(e, b, c);
            bool together = alike || (sb >= 0 && sb == sc);
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++) {
                    double v = e->common * e->common;
                    if (together) v += segment * segment;
                    if (together && k == l) v += segment_axis * segment_axis;
                    if (alike) v += body_own * body_own;
                    if (alike && k == l) v += body_axis * body_axis;
                    if (b == c && k == l) v += side * side;
                    C[(3 * (size_t)b + (size_t)k) * n + 3 * (size_t)c + (size_t)l] = v;
                }
        }
    }
    bool good = sn_cholesky(C, (int)n);
    // P = C^-1, column after column
    for (size_t i = 0; good && i < n; i++) {
        double *column = e->P + i * n;
        memset(column, 0, n * sizeof *column);
        column[i] = 1;
        sn_cholesky_forward(C, (int)n, column);
        sn_cholesky_backward(C, (int)n, column);
    }
    sn_release(e->allocator, C);
    return good ? SN_OK : SN_ERR_VALUE;
}
