// SPDX-License-Identifier: MIT
// How the joints of a figure are while it is calibrated: an .osim file's defaults and ranges, else what a human
// joint does (prior.c).
#include <math.h>
#include <string.h>

#include "take/body.h"
#include "take/fit.h"
#include "take/posture.h"

// A pull that decides only what nothing else shows, radians.
static const double anywhere = 10;

// A back is near upright where nothing else shows how the pelvis tilts: keypoints have its hips alone, and tilt and back
// went against each other by 70 degrees. Markers on it show both, and how a person stands is better left to them.
const double sn_posture_upright = 0.12;
enum { SHOW_PELVIS = 3 };

static const double degree = 0x1.1df46a2529d39p-6;

// Standing still: how far from rest, degrees, by how a coordinate's name begins; 0: anywhere.
static const struct {
    const char *begins;
    double degrees;
} standing[] = {{"pelvis_list", 3}, {"pelvis_tilt", 10}, {"pelvis", 0},  {"arm", 30},
                {"shoulder", 30},   {"elbow", 30},       {"pro_sup", 0}, {"wrist", 0}};
static const double others_standing = 10;

static double standing_still(const char *name, bool all) {
    for (size_t i = 0; i < sizeof standing / sizeof standing[0]; i++)
        if (strncmp(name, standing[i].begins, strlen(standing[i].begins)) == 0)
            return standing[i].degrees > 0 ? standing[i].degrees * degree : INFINITY;
    return all ? INFINITY : others_standing * degree;
}

// Does a joint move all of the figure? Above it there is nothing but ground.
static bool moves_all(const sn_model *m, int joint) {
    for (int j = joint; j >= 0; j = sn_model_parent(m, j)) {
        int parent = sn_model_parent(m, j);
        for (int i = 0; parent >= 0 && i < sn_model_nframe(m); i++)
            if (sn_model_frame(m, i)->joint == parent) return false;
    }
    return true;
}

static bool shows_pelvis(const sn_model *m) {
    int pelvis = sn_body_carrier(m, SN_BODY_PELVIS, 0), n = 0;
    for (int i = 0; i < sn_model_nmarker(m); i++) n += sn_model_marker(m, i)->joint == pelvis;
    return n >= SHOW_PELVIS;
}

// Between pelvis and trunk?
static bool is_back(const sn_model *m, int joint) {
    int trunk = sn_body_carrier(m, SN_BODY_THORAX, 0);
    bool back = trunk >= 0 && sn_body_is_above(m, joint, trunk);
    for (int side = 0; side < 2; side++) {
        int thigh = sn_body_carrier(m, SN_BODY_THIGH, side);
        back = back && thigh >= 0 && !sn_body_is_above(m, joint, thigh);
    }
    return back;
}

bool sn_posture_hides_back(const sn_model *m, int joint) {
    return is_back(m, joint) && !shows_pelvis(m);
}

static void take_coordinates(const sn_model *m, const sn_osim_coordinates *list,
                             sn_posture_prior *p) {
    for (int i = 0; i < sn_osim_coordinates_count(list); i++) {
        const sn_osim_coordinate_info *c = sn_osim_coordinate_at(list, i);
        if (c->at.joint < 0) continue;
        int q = sn_model_q_index(m, c->at.joint) + c->at.index,
            v = sn_model_v_index(m, c->at.joint) + c->at.index;
        p->home[q] = p->home_v[v] = c->value;
        bool all = moves_all(m, c->at.joint);
        if (c->rotates) p->still[v] = standing_still(c->name, all);
        if (all) continue;
        bool length = sn_model_is_length(m, c->at.joint, c->at.index);
        p->rest[v] = length                                  ? 0.1
                     : sn_posture_hides_back(m, c->at.joint) ? sn_posture_upright
                                                             : anywhere;
        if (!c->rotates || !isfinite(p->still[v])) p->still[v] = p->rest[v];
        // all of a turn and more is no range
        if (c->upper - c->lower < 6.2 && c->lower < c->upper)
            p->lower[v] = c->lower, p->upper[v] = c->upper;
    }
    sn_model_follow(m, p->home);
}

void sn_posture_leave(const sn_model *model, const sn_left_range *left, sn_posture_prior *p) {
    for (int v = 0; left != NULL && v < sn_model_nv(model); v++) {
        if (left[v].lower) p->lower[v] = -INFINITY;
        if (left[v].upper) p->upper[v] = INFINITY;
    }
}

static bool is_leg(const sn_model *m, int joint) {
    for (int side = 0; side < 2; side++) {
        int thigh = sn_body_part(m, SN_BODY_THIGH, side);
        for (int j = joint; j >= 0 && thigh >= 0; j = sn_model_parent(m, j))
            if (j == thigh) return true;
    }
    return false;
}

sn_status sn_posture_find(const sn_model *m, const sn_osim_coordinates *coordinates,
                          const sn_allocator *allocator, sn_posture_prior *out) {
    size_t nq = (size_t)sn_model_nq(m), nv = (size_t)sn_model_nv(m);
    out->home = sn_acquire(allocator, (nq + 7 * nv + 1) * sizeof *out->home);
    if (out->home == NULL) return SN_ERR_MEMORY;
    out->home_v = out->home + nq;
    out->rest = out->home_v + nv;
    out->still = out->rest + nv;
    out->lower = out->still + nv;
    out->upper = out->lower + nv;
    out->far = out->upper + nv;
    out->lasts = out->far + nv;
    sn_model_zero(m, out->home);
    for (size_t v = 0; v < nv; v++) {
        out->home_v[v] = out->far[v] = out->lasts[v] = 0;
        out->rest[v] = out->still[v] = INFINITY;
        out->lower[v] = -INFINITY, out->upper[v] = INFINITY;
    }
    if (coordinates != NULL) {
        take_coordinates(m, coordinates, out);
        return SN_OK;
    }
    sn_fit_prior prior;
    sn_status status = sn_fit_find_prior(m, m, allocator, &prior);
    if (status == SN_OK) memcpy(out->home, prior.q, nq * sizeof *prior.q);
    for (int j = 0; status == SN_OK && j < sn_model_njoint(m); j++) {
        const sn_joint_desc *d = sn_model_joint(m, j);
        int q = sn_model_q_index(m, j), v = sn_model_v_index(m, j), n = sn_model_joint_nv(m, j);
        bool plain = d->type != SN_JOINT_BALL && d->type != SN_JOINT_FREE;
        for (int i = 0; plain && i < n; i++) out->home_v[v + i] = prior.q[q + i];
    }
    for (size_t v = 0; status == SN_OK && v < nv; v++) {
        out->rest[v] = prior.spread[v];
        out->lower[v] = prior.lower[v], out->upper[v] = prior.upper[v];
        out->far[v] = prior.far[v], out->lasts[v] = prior.lasts[v];
    }
    // whether arms hang or are held out is not known
    for (size_t v = 0; status == SN_OK && v < nv; v++) out->still[v] = out->rest[v];
    for (int j = 0; status == SN_OK && j < sn_model_njoint(m); j++)
        for (int i = 0; is_leg(m, j) && i < sn_model_joint_nv(m, j); i++)
            out->still[sn_model_v_index(m, j) + i] = others_standing * degree;
    sn_release(allocator, prior.q);
    return status;
}
