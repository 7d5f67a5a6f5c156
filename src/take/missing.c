// SPDX-License-Identifier: MIT
// A chest without a length: found, and given one.
//
// CMU's takes went round the world as BVH files in which neck and both shoulders have the offset 0 0 0 under
// Spine1, where the ASF file of the same person has the thorax, some 11 cm. No factor makes a length of zero, so
// that a fit would bend back, neck and shoulders instead. Two things together tell such a figure:
//
//   - the joint where both arms and the head meet stands at the end of a bone of its own, and the next joints
//     towards all three begin where it begins;
//   - its trunk is short: from the hips to that place in less than `short_trunk` of a leg.
//
// The trunk is measured along its bones, which no zero pose shortens.
#include "take/missing.h"

#include <math.h>

#include "model/model.h"
#include "take/body.h"
#include "take/take.h"

// Hips to neck over hip to ankle: see the table in tests/test_missing.c.
static const double short_trunk = 0.5;

// Shares of a leg: below the first an offset is zero and its digits are rounding, above the second it is a bone.
static const double no_length = 1e-3, a_bone = 0.03;

// --- finding -------------------------------------------------------------------------------------

// The lowest joint that carries all of `part`; -1 where one of them is not there.
static int meeting(const sn_model *m, const int *part, int n) {
    int at = part[0];
    for (int i = 0; i < n; i++) {
        if (part[i] < 0) return -1;
        while (at >= 0 && !sn_body_is_above(m, at, part[i])) at = sn_model_parent(m, at);
    }
    return at;
}

// The child of `from` on the way to a joint below it; -1 when that is `from` itself.
static int next_towards(const sn_model *m, int from, int to) {
    if (from == to) return -1;
    while (sn_model_parent(m, to) != from) to = sn_model_parent(m, to);
    return to;
}

static sn_vec3 place(const sn_workspace *ws, int joint) { return sn_workspace_frame(ws, joint).p; }

static double between(const sn_workspace *ws, int a, int b) {
    return v3_norm(v3_sub(place(ws, a), place(ws, b)));
}

// The mean of both legs, hip to ankle; 0 where one has no such joints.
static double leg_length(const sn_model *m, const sn_workspace *ws, int thigh[2]) {
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        thigh[side] = sn_body_part(m, SN_BODY_THIGH, side);
        const int shin = sn_body_part(m, SN_BODY_SHIN, side),
                  foot = sn_body_part(m, SN_BODY_FOOT, side);
        // a coarse skeleton's foot is its shin
        if (thigh[side] < 0 || shin < 0 || foot < 0 || foot == shin) return 0;
        sum += between(ws, thigh[side], shin) + between(ws, shin, foot);
    }
    return sum / 2;
}

// From the middle between the hips to where the trunk's bones begin, and along these to the chest.
static double trunk_length(const sn_model *m, const sn_workspace *ws, const int thigh[2],
                           int chest) {
    const int all[3] = {chest, thigh[0], thigh[1]};
    const int pelvis = meeting(m, all, 3);
    // arms and head at the hips are a figure without a trunk
    if (pelvis < 0 || pelvis == chest) return 0;
    const sn_vec3 hips = v3_scale(0.5, v3_add(place(ws, thigh[0]), place(ws, thigh[1])));
    double sum = v3_norm(v3_sub(place(ws, pelvis), hips));
    for (int j = chest; j != pelvis; j = sn_model_parent(m, j))
        sum += between(ws, j, sn_model_parent(m, j));
    return sum;
}

static void look(const sn_model *m, const sn_workspace *ws, sn_missing *out) {
    const int part[3] = {sn_body_part(m, SN_BODY_UPPER_ARM, 0),
                         sn_body_part(m, SN_BODY_UPPER_ARM, 1), sn_body_part(m, SN_BODY_HEAD, 0)};
    int thigh[2];
    const double leg = leg_length(m, ws, thigh);
    const int chest = meeting(m, part, 3);
    if (!(leg > 0) || chest < 0 || sn_model_parent(m, chest) < 0) return;

    // what hangs on it begins there, or at the end of a bone
    double farthest = 0;
    for (int i = 0; i < 3; i++) {
        out->next[i] = next_towards(m, chest, part[i]);
        if (out->next[i] < 0) return;
        farthest = fmax(farthest, between(ws, chest, out->next[i]));
    }
    const double back = trunk_length(m, ws, thigh, chest);
    if (!(back > 0)) return;
    // it ends where the neck begins
    out->trunk = (back + between(ws, chest, out->next[2])) / leg;
    const sn_frame frame = sn_workspace_frame(ws, chest);
    const sn_vec3 bone = v3_sub(frame.p, place(ws, sn_model_parent(m, chest)));
    if (farthest > no_length * leg || v3_norm(bone) < a_bone * leg || !(out->trunk < short_trunk))
        return;
    out->chest = chest;
    out->bone = m3_tmul(&frame.R, bone);
    out->length = v3_norm(bone);
}

sn_status sn_missing_find(const sn_model *model, const sn_allocator *allocator, sn_missing *out) {
    sn_fit_place at;
    *out = (sn_missing){.chest = -1};
    sn_status status = sn_fit_place_open(&at, model, allocator);
    if (status == SN_OK) {
        sn_model_zero(model, at.q);
        status = sn_workspace_pose(at.workspace, at.q);
    }
    if (status == SN_OK) look(model, at.workspace, out);
    sn_fit_place_close(&at, allocator);
    return status;
}

sn_status sn_missing_add(const sn_model *model, const sn_missing *missing,
                         const sn_allocator *allocator, sn_model **out, sn_error *error) {
    sn_builder *builder;
    *out = NULL;
    SN_TRY(sn_builder_create_from(model, allocator, &builder, error));
    for (int i = 0; i < 3; i++) {
        double *at = builder->joint[missing->next[i]].desc.position;
        at[0] = missing->bone.x, at[1] = missing->bone.y, at[2] = missing->bone.z;
    }
    sn_status status = sn_builder_finish(builder, out, error);
    sn_builder_destroy(builder);
    return status;
}

// --- a take's ------------------------------------------------------------------------------------

static sn_status note(sn_take *t, sn_finding_code code, double length) {
    const int chest = t->missing.chest;
    sn_finding *f = sn_take_add(t, code, sn_model_joint(t->source, chest)->name);
    if (f == NULL) return SN_ERR_MEMORY;
    f->joint = chest;
    f->number[0] = length;
    return SN_OK;
}

// By itself where places are found by the built-in set, which says where they are on a body that has a chest. Whoever asks
// for places alone, or knows them already, has chosen the skeleton as it is.
static bool gets_lengths(const sn_take *t) {
    const sn_calibrate_use use = t->options.calibrate;
    return use == SN_CALIBRATE_SCALE ||
           (use == SN_CALIBRATE_AUTO && t->given == NULL && sn_model_nmarker(t->source) == 0);
}

sn_status sn_take_find_missing(sn_take *t) {
    sn_missing *m = &t->missing;
    *m = (sn_missing){.chest = -1};
    // OpenSim's files and setups are taken as they are
    if (t->options.coordinates != NULL || t->options.setup != NULL) return SN_OK;
    SN_TRY(sn_missing_find(t->source, &t->allocator, m));
    if (m->chest < 0) return SN_OK;
    if (!gets_lengths(t)) return note(t, SN_FINDING_CHEST_MISSING, m->length);
    sn_error error = {0};
    sn_status status = sn_missing_add(t->source, m, &t->allocator, &t->mended, &error);
    if (status == SN_OK) t->source = t->mended;
    return sn_take_fail(t, SN_FINDING_FAILED, status, &error);
}

static double added_length(const sn_take *t) {
    return v3_norm(v3_from(sn_model_joint(t->model, t->missing.next[2])->position));
}

sn_status sn_take_tell_missing(sn_take *t) {
    return t->mended != NULL ? note(t, SN_FINDING_CHEST_ADDED, added_length(t)) : SN_OK;
}

sn_status sn_take_mend_other(const sn_take *t, const sn_model *other, sn_model **out) {
    sn_missing m;
    *out = NULL;
    if (t->mended == NULL) return SN_OK;
    SN_TRY(sn_missing_find(other, &t->allocator, &m));
    if (m.chest < 0) return SN_OK;
    m.bone = v3_scale(added_length(t) / m.length, m.bone);
    return sn_missing_add(other, &m, &t->allocator, out, NULL);
}
