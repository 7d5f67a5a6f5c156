// SPDX-License-Identifier: MIT
// What a human joint does and does not do, where the markers leave it open.
//
// A pull to the zero pose (posture.c) that is stronger for what hardly turns, and walls: beyond an angle no
// body reaches, f rises. Weak ones: a marker that says otherwise wins, as takes do break every rule; they keep a
// solver from the valleys of a rolled-over collar bone or an elbow bent backwards.
//
// Parts are known by what they are to each other: what hangs on a forearm is a hand, between trunk and upper arm
// is a collar bone. How a dof turns is measured at the zero pose, so any kind of joint will do; an elbow
// bends forwards, a knee backwards.
#include <math.h>

#include "math/atan2.h"
#include "math/vec3.h"
#include "model/joint.h"
#include "take/body.h"
#include "take/fit.h"

static const double degree = 0x1.1df46a2529d39p-6;

// Against sn_fit_posture().
// A back that is held less twists one joint against the next by 60 degrees and more where markers let it, in several ways
// of nearly the same error. A neck does so, too (CMU 85_02 by 23 for a fifth of a second, with 1.5); but held more, it no
// longer makes up for a band about the head that slips (CMU 02_01 by 5 mm).
static const double back_more = 10, neck_more = 2.3, toes_more = 3;
// One marker shows what hand and fingers do together, hardly which of them: mostly the hand.
static const double hand_more = 20, fingers_more = 20;
// Skeletons have joints where a pelvis has none.
static const double pelvis_more = 1000;

typedef enum part {
    OTHER,
    PELVIS,
    BACK,
    COLLAR,
    NECK,
    ELBOW,
    HAND,
    FINGERS,
    KNEE,
    FOOT,
    TOES
} part;

// How far each may turn, degrees; elbow, knee: from a little behind straight; a back forwards: further than aside.
static const double reach[] = {[PELVIS] = 10, [BACK] = 40,     [COLLAR] = 55, [NECK] = 50,
                               [HAND] = 80,   [FINGERS] = 100, [FOOT] = 60,   [TOES] = 50};
static const double behind = 10, bent = 165, bowed = 80;
// How far an elbow or a knee that is free all ways is mostly turned about its bone and to the side, radians. One that is turned
// half about its bone bends backwards, and a calibration with nothing to say so took it so for a whole walk.
static const double mostly_wrung = 1.0, mostly_askew = 0.4;
// Of a neck in several joints one against the next, other than to nod. Without, one that markers leave too long for where
// the head is folds to one side or to the other by up to 79 degrees (HDM05 dg_03, mm).
static const double neck_aside = 25;

// How far each mostly is from rest, radians; the others are anywhere.
static const double mostly[] = {[PELVIS] = 0.02, [BACK] = 0.33,   [COLLAR] = 0.33, [NECK] = 0.33,
                                [HAND] = 1.2,    [FINGERS] = 0.5, [TOES] = 0.3};
static const double anywhere = 10;

// A hand is mostly near rest or turned far from it on purpose, and then that says nothing: beyond this, radians, the pull
// in a calibration lets go. Without, an upper arm of a squat (HDM05 mm, arms held out) was turned by 90 degrees about its
// bone to have the wrist at rest.
static const double hand_far = 0.2;

typedef struct body {
    int arm[2], forearm[2], thigh[2], shin[2], foot[2];
} body;

static bool find_body(const sn_model *m, body *b) {
    bool human = true;
    for (int side = 0; side < 2; side++) {
        b->arm[side] = sn_body_part(m, SN_BODY_UPPER_ARM, side);
        b->forearm[side] = sn_body_part(m, SN_BODY_FOREARM, side);
        b->thigh[side] = sn_body_part(m, SN_BODY_THIGH, side);
        b->shin[side] = sn_body_part(m, SN_BODY_SHIN, side);
        b->foot[side] = sn_body_part(m, SN_BODY_FOOT, side);
        // a stand-in is none
        if (b->foot[side] == b->shin[side]) b->foot[side] = -1;
        human = human && b->thigh[side] >= 0 && b->shin[side] >= 0;
    }
    return human && b->thigh[0] != b->thigh[1];
}

// How many moving joints lie between.
static int moving_between(const sn_model *m, int joint, int top) {
    int n = 0;
    for (int j = sn_model_parent(m, joint); j >= 0 && j != top; j = sn_model_parent(m, j))
        n += sn_joint_ops_of(sn_model_joint(m, j)->type)->nv > 0;
    return n;
}

// Between the root and one thigh, with a bone to that: a chain of joints in one place is a hip.
static bool is_pelvis(const sn_model *m, const body *b, int joint, int side) {
    if (sn_body_is_above(m, joint, b->thigh[1 - side])) return false;
    for (int j = b->thigh[side]; j != joint; j = sn_model_parent(m, j))
        if (v3_norm(v3_from(sn_model_joint(m, j)->position)) > 0) return true;
    return false;
}

static part part_of(const sn_model *m, const body *b, int joint) {
    bool carries[2];
    for (int side = 0; side < 2; side++) {
        int arm = b->arm[side], forearm = b->forearm[side];
        carries[side] = arm >= 0 && sn_body_is_above(m, joint, arm) && joint != arm;
        if (joint == b->thigh[side] || joint == arm) return OTHER;
        if (joint == b->shin[side]) return KNEE;
        if (joint == forearm) return ELBOW;
        if (b->foot[side] >= 0 && joint != b->foot[side] &&
            sn_body_is_above(m, b->foot[side], joint))
            return TOES;
        if (sn_body_is_above(m, b->shin[side], joint)) return FOOT;
        if (sn_body_is_above(m, b->thigh[side], joint)) return OTHER;
        // wrist and hand are one in some skeletons and two or three joints in others
        if (forearm >= 0 && sn_body_is_above(m, forearm, joint))
            return moving_between(m, joint, forearm) < 2 ? HAND : FINGERS;
        if (arm >= 0 && sn_body_is_above(m, arm, joint)) return OTHER;
        if (sn_body_is_above(m, joint, b->thigh[side]))
            return is_pelvis(m, b, joint, side) ? PELVIS : OTHER;
    }
    if (carries[0] && carries[1]) return BACK;
    if (carries[0] || carries[1]) return COLLAR;
    return NECK;
}

// The way from a joint to the far end of its bone, at the zero pose.
static sn_vec3 bone_of(const sn_model *m, const sn_workspace *ws, int joint) {
    sn_vec3 from = sn_workspace_frame(ws, joint).p, far = v3(0, 0, 0);
    for (int j = 0; j < sn_model_njoint(m); j++) {
        if (j == joint || !sn_body_is_above(m, joint, j)) continue;
        sn_vec3 way = v3_sub(sn_workspace_frame(ws, j).p, from);
        if (v3_dot(way, way) > v3_dot(far, far)) far = way;
    }
    for (int i = 0; i < sn_model_nmarker(m) && v3_norm(far) < 1e-6; i++) {
        const sn_marker_desc *d = sn_model_marker(m, i);
        if (sn_body_is_above(m, joint, d->joint))
            far = v3_sub(sn_workspace_point(ws, d->joint, d->position), from);
    }
    double length = v3_norm(far);
    return length > 0 ? v3_scale(1 / length, far) : far;
}

// From the knees to the hips at the zero pose, added up.
static sn_vec3 upwards(const body *b, const sn_workspace *ws) {
    sn_vec3 top = v3(0, 0, 0);
    for (int side = 0; side < 2; side++)
        top = v3_add(top, v3_sub(sn_workspace_frame(ws, b->thigh[side]).p,
                                 sn_workspace_frame(ws, b->shin[side]).p));
    return top;
}

// Where the figure looks at its zero pose; zero when that can't be told.
static sn_vec3 forwards(const body *b, const sn_workspace *ws) {
    sn_vec3 across =
        v3_sub(sn_workspace_frame(ws, b->thigh[0]).p, sn_workspace_frame(ws, b->thigh[1]).p);
    sn_vec3 ahead = v3_cross(across, upwards(b, ws));
    double length = v3_norm(ahead);
    return length > 1e-9 ? v3_scale(1 / length, ahead) : v3(0, 0, 0);
}

// The axis that a small turn of velocity v is about, in the world.
static sn_vec3 axis_of(const sn_fit_place *at, const sn_model *m, int joint, int v, double *delta,
                       double *q, sn_status *status) {
    const double step = 1e-5;
    sn_mat3 R = sn_workspace_frame(at->workspace, joint).R;
    delta[v] = step;
    sn_model_integrate(m, at->q, delta, q);
    delta[v] = 0;
    *status = sn_workspace_pose(at->workspace, q);
    sn_mat3 turned = sn_workspace_frame(at->workspace, joint).R, back = m3_transpose(&R);
    sn_mat3 D = m3_mulm(&turned, &back);
    if (*status == SN_OK) *status = sn_workspace_pose(at->workspace, at->q);
    return v3_scale(0.5 / step,
                    v3(v3_at(D.c[1], 2) - v3_at(D.c[2], 1), v3_at(D.c[2], 0) - v3_at(D.c[0], 2),
                       v3_at(D.c[0], 1) - v3_at(D.c[1], 0)));
}

// An elbow or knee: which of its angles bends it, and which way.
static sn_status wall_bend(const sn_fit_place *at, const sn_model *m, int joint, sn_vec3 towards,
                           double *room, sn_fit_prior *out) {
    double *lower = out->lower, *upper = out->upper;
    int first = sn_model_v_index(m, joint), count = sn_desc_nv(sn_model_joint(m, joint));
    double *delta = room, *q = room + sn_model_nv(m), best = 0.6;
    sn_vec3 bone = bone_of(m, at->workspace, joint), want = v3_cross(bone, towards);
    sn_status status = SN_OK;
    int bends = -1;
    double sign = 1;
    if (v3_norm(want) < 0.5) return SN_OK;
    want = v3_scale(1 / v3_norm(want), want);
    for (int i = 0; i < count && status == SN_OK; i++) {
        double along = v3_dot(axis_of(at, m, joint, first + i, delta, q, &status), want);
        if (fabs(along) > best) best = fabs(along), bends = i, sign = along > 0 ? 1 : -1;
    }
    if (bends < 0) return status;
    for (int i = 0; i < count && status == SN_OK; i++) {
        const double along = v3_dot(axis_of(at, m, joint, first + i, delta, q, &status), bone);
        const double most = fabs(along) > 0.6 ? mostly_wrung : mostly_askew;
        if (i != bends) out->spread[first + i] = fmin(out->spread[first + i], most);
    }
    lower[first + bends] = -(sign > 0 ? behind : bent) * degree;
    upper[first + bends] = (sign > 0 ? bent : behind) * degree;
    return status;
}

static sn_status wall(const sn_fit_place *at, const sn_model *m, const body *b, int joint,
                      double *room, sn_fit_prior *out) {
    double *lower = out->lower, *upper = out->upper;
    const sn_joint_desc *d = sn_model_joint(m, joint);
    const sn_joint_ops *ops = sn_joint_ops_of(d->type);
    int first = sn_model_v_index(m, joint), count = sn_desc_nv(d);
    part what = part_of(m, b, joint);
    if (what == OTHER || count == 0) return SN_OK;
    if (ops->quaternion >= 0) {
        // a ball: all of its turn
        if (what == ELBOW || what == KNEE)
            upper[first] = bent * degree;
        else
            upper[first] = (what == BACK ? bowed : reach[what]) * degree;
        return SN_OK;
    }
    if (what == ELBOW || what == KNEE) {
        sn_vec3 ahead = forwards(b, at->workspace);
        return wall_bend(at, m, joint, what == KNEE ? v3_neg(ahead) : ahead, room, out);
    }
    for (int i = 0; i < count; i++) {
        if (d->type != SN_JOINT_FUNCTION && ops->lengths[i]) continue;
        lower[first + i] = -reach[what] * degree;
        upper[first + i] = reach[what] * degree;
    }
    return SN_OK;
}

// A marker so far from the bone shows its turn, metres.
static const double least_lever = 0.03;

static bool shows_turn(const sn_model *m, const sn_workspace *ws, int joint, sn_vec3 bone) {
    for (int i = 0; i < sn_model_nmarker(m); i++) {
        const sn_marker_desc *d = sn_model_marker(m, i);
        if (d->joint != joint) continue;
        sn_vec3 way =
            v3_sub(sn_workspace_point(ws, joint, d->position), sn_workspace_frame(ws, joint).p);
        if (v3_norm(v3_cross(way, bone)) > least_lever) return true;
    }
    return false;
}

// Which angles turn an upper arm or a thigh about its bone, where no marker sits beside that: keypoints lie in the
// bones' ends, and do not show it while elbow or knee are straight.
static sn_status find_turn(const sn_fit_place *at, const sn_model *m, int joint, double *room,
                           double *turn) {
    int first = sn_model_v_index(m, joint), count = sn_desc_nv(sn_model_joint(m, joint));
    double *delta = room, *q = room + sn_model_nv(m);
    sn_vec3 bone = bone_of(m, at->workspace, joint);
    sn_status status = SN_OK;
    if (shows_turn(m, at->workspace, joint, bone)) return SN_OK;
    for (int i = 0; i < count && status == SN_OK; i++)
        if (fabs(v3_dot(axis_of(at, m, joint, first + i, delta, q, &status), bone)) > 0.9)
            turn[first + i] = 1;
    return status;
}

// A spine that leans further at the zero pose is no standing figure's.
static const double most_lean = 30;

// Fingers at rest are bent, and hardly bend back. Which way is told by the ranges of a skeleton file alone.
static const double fingers_bent = 0.25, fingers_back = 5, one_sided = 2;

static void bend_fingers(const sn_model *m, const sn_model *ranges, int joint, sn_fit_prior *out) {
    int first = sn_model_v_index(m, joint), count = sn_desc_nv(sn_model_joint(m, joint));
    const double *lower = sn_model_lower(ranges), *upper = sn_model_upper(ranges);
    if (sn_joint_ops_of(sn_model_joint(m, joint)->type)->quaternion >= 0) return;
    for (int v = first; v < first + count; v++) {
        double low = lower[v], high = upper[v];
        if (!isfinite(low) || !isfinite(high) || low > 0 || high < 0) continue;
        double *rest = &out->q[sn_model_q_index(m, joint) + v - first];
        if (-low > one_sided * high && -low > 0.5) {
            *rest = fingers_bent * low;
            out->upper[v] = fingers_back * degree;
        } else if (high > -one_sided * low && high > 0.5) {
            *rest = fingers_bent * high;
            out->lower[v] = -fingers_back * degree;
        }
    }
}

// The bone that goes on from a joint of the back to the next of it, at the zero pose; zero for none.
static sn_vec3 spine_of(const sn_model *m, const body *b, const sn_workspace *ws, int joint) {
    for (int j = 0; j < sn_model_njoint(m); j++) {
        if (sn_model_parent(m, j) == joint && part_of(m, b, j) == BACK)
            return v3_sub(sn_workspace_frame(ws, j).p, sn_workspace_frame(ws, joint).p);
    }
    return v3(0, 0, 0);
}

// A back at rest is upright, bone by bone, where a skeleton's zero pose leans. The lower backs of seven Acclaim skeletons
// lean by 18 degrees backwards to 2 forwards, and in their 13 motions they mostly are bent forwards by 4 to 29: the more,
// the further they lean backwards. From there it bows: most of a back between pelvis and chest is one joint to these
// skeletons, which a squat bends by 55 degrees (HDM05 mm; the person's own motion of another squat by 75).
static sn_status stand_up(const sn_fit_place *at, const sn_model *m, const body *b, int joint,
                          double *room, sn_fit_prior *out) {
    int first = sn_model_v_index(m, joint), count = sn_desc_nv(sn_model_joint(m, joint));
    double *delta = room, *q = room + sn_model_nv(m);
    sn_vec3 bone = spine_of(m, b, at->workspace, joint), ahead = forwards(b, at->workspace),
            top = upwards(b, at->workspace);
    sn_status status = SN_OK;
    double height = v3_norm(top);
    if (sn_joint_ops_of(sn_model_joint(m, joint)->type)->quaternion >= 0 || v3_norm(ahead) < 0.5 ||
        height < 1e-9)
        return SN_OK;
    top = v3_scale(1 / height, top);
    double lean = v3_norm(bone) > 1e-6 ? sn_atan2(v3_dot(bone, ahead), v3_dot(bone, top)) : 0;
    if (fabs(lean) > most_lean * degree) lean = 0;
    // turning about this leans forwards
    sn_vec3 across = v3_cross(top, ahead);
    for (int i = 0; i < count && status == SN_OK; i++) {
        double along = v3_dot(axis_of(at, m, joint, first + i, delta, q, &status), across);
        if (fabs(along) < 0.9) continue;
        double upright = along > 0 ? -lean : lean;
        out->q[sn_model_q_index(m, joint) + i] = upright;
        out->lower[first + i] = upright - (along > 0 ? reach[BACK] : bowed) * degree;
        out->upper[first + i] = upright + (along > 0 ? bowed : reach[BACK]) * degree;
    }
    return status;
}

// Is there more neck above a joint of it?
static bool goes_on(const sn_model *m, const body *b, int joint) {
    for (int j = 0; j < sn_model_njoint(m); j++)
        if (sn_model_parent(m, j) == joint && part_of(m, b, j) == NECK) return true;
    return false;
}

// A neck nods in all of its joints, and a head is drawn in with one against the next; but hardly any of them bends aside or
// turns far by itself.
static sn_status straighten(const sn_fit_place *at, const sn_model *m, const body *b, int joint,
                            double *room, sn_fit_prior *out) {
    int first = sn_model_v_index(m, joint), count = sn_desc_nv(sn_model_joint(m, joint));
    double *delta = room, *q = room + sn_model_nv(m);
    sn_vec3 across = v3_cross(upwards(b, at->workspace), forwards(b, at->workspace));
    sn_status status = SN_OK;
    if (sn_joint_ops_of(sn_model_joint(m, joint)->type)->quaternion >= 0 || v3_norm(across) < 1e-9)
        return SN_OK;
    across = v3_scale(1 / v3_norm(across), across);
    for (int i = 0; i < count && status == SN_OK; i++) {
        double along = v3_dot(axis_of(at, m, joint, first + i, delta, q, &status), across);
        if (fabs(along) > 0.75) continue;
        out->lower[first + i] = -neck_aside * degree;
        out->upper[first + i] = neck_aside * degree;
    }
    return status;
}

sn_status sn_fit_no_prior(const sn_model *model, const sn_allocator *allocator, sn_fit_prior *out) {
    int nq = sn_model_nq(model), nv = sn_model_nv(model);
    *out = (sn_fit_prior){0};
    out->q = sn_acquire(allocator, (size_t)(nq + 7 * nv + nv + nq + 1) * sizeof *out->q);
    if (out->q == NULL) return SN_ERR_MEMORY;
    out->weight = out->q + nq;
    out->lower = out->weight + nv;
    out->upper = out->lower + nv;
    out->spread = out->upper + nv;
    out->far = out->spread + nv;
    out->lasts = out->far + nv;
    out->turn = out->lasts + nv;
    sn_model_zero(model, out->q);
    for (int v = 0; v < nv; v++) {
        out->weight[v] = out->turn[v] = out->far[v] = out->lasts[v] = 0;
        out->spread[v] = INFINITY;
        out->lower[v] = -INFINITY, out->upper[v] = INFINITY;
    }
    return SN_OK;
}

sn_status sn_fit_find_prior(const sn_model *model, const sn_model *ranges,
                            const sn_allocator *allocator, sn_fit_prior *out) {
    int nv = sn_model_nv(model), floater = sn_fit_floater(model);
    body b;
    sn_fit_place at;
    sn_status status = sn_fit_no_prior(model, allocator, out);
    if (status != SN_OK) return status;
    double *room = out->turn + nv;
    sn_fit_posture(model, out->q, out->weight);
    for (int v = 0; v < nv; v++) {
        out->spread[v] = out->weight[v] > 0 ? anywhere / sqrt(out->weight[v]) : INFINITY;
        room[v] = 0;
    }
    if (!find_body(model, &b)) return SN_OK;
    status = sn_fit_place_open(&at, model, allocator);
    if (status == SN_OK) {
        sn_model_zero(model, at.q);
        status = sn_workspace_pose(at.workspace, at.q);
    }
    for (int j = 0; status == SN_OK && j < sn_model_njoint(model); j++) {
        if (sn_body_is_above(model, j, floater)) continue;
        part what = part_of(model, &b, j);
        double more = what == BACK || what == COLLAR ? back_more
                      : what == NECK                 ? neck_more
                      : what == TOES                 ? toes_more
                      : what == HAND                 ? hand_more
                      : what == FINGERS              ? fingers_more
                      : what == PELVIS               ? pelvis_more
                                                     : 1;
        int first = sn_model_v_index(model, j), count = sn_desc_nv(sn_model_joint(model, j));
        for (int i = 0; i < count; i++) {
            out->weight[first + i] *= more;
            out->far[first + i] = what == HAND ? hand_far : 0;
            out->lasts[first + i] = what == BACK ? 1 : what == NECK ? 2 : 0;
        }
        for (int i = 0; i < count && what < (part)(sizeof mostly / sizeof mostly[0]); i++)
            if (mostly[what] > 0)
                out->spread[first + i] = fmin(out->spread[first + i], mostly[what]);
        status = wall(&at, model, &b, j, room, out);
        if (status == SN_OK && what == NECK && goes_on(model, &b, j))
            status = straighten(&at, model, &b, j, room, out);
        for (int side = 0; side < 2 && status == SN_OK; side++)
            if (j == b.arm[side] || j == b.thigh[side])
                status = find_turn(&at, model, j, room, out->turn);
        if (status == SN_OK && what == BACK) status = stand_up(&at, model, &b, j, room, out);
        if (status == SN_OK && what == FINGERS && ranges != NULL)
            bend_fingers(model, ranges, j, out);
    }
    sn_fit_place_close(&at, allocator);
    return status;
}

// --- in words ------------------------------------------------------------------------------------

// Of a limb: about its bone it turns, about the line ahead it is led aside, about what is across both it bends.
static const char *term_of(sn_vec3 axis, sn_vec3 bone, sn_vec3 ahead, bool trunk) {
    const double most = 0.75;
    double along = fabs(v3_dot(axis, bone)), aside = fabs(v3_dot(axis, ahead));
    if (along > most) return "rotation";
    if (aside > most) return trunk ? "side bending" : "abduction";
    return along < 0.5 && aside < 0.5 ? "flexion" : "";
}

sn_status sn_fit_angle_term(const sn_model *model, int joint, int dof,
                            const sn_allocator *allocator, const char **out) {
    body b;
    sn_fit_place at;
    const sn_joint_desc *d = sn_model_joint(model, joint);
    const sn_joint_ops *ops = sn_joint_ops_of(d->type);
    int nv = sn_model_nv(model), nq = sn_model_nq(model);
    *out = "";
    if (ops->quaternion >= 0 || joint == sn_model_root(model) || !find_body(model, &b))
        return SN_OK;
    if (sn_model_is_length(model, joint, dof)) return SN_OK;
    double *room = sn_acquire(allocator, (size_t)(nv + nq + 1) * sizeof *room);
    sn_status status = room == NULL ? SN_ERR_MEMORY : sn_fit_place_open(&at, model, allocator);
    if (room == NULL) return status;
    if (status == SN_OK) {
        for (int v = 0; v < nv; v++) room[v] = 0;
        sn_model_zero(model, at.q);
        status = sn_workspace_pose(at.workspace, at.q);
    }
    if (status == SN_OK) {
        sn_vec3 bone = bone_of(model, at.workspace, joint), ahead = forwards(&b, at.workspace);
        sn_vec3 axis = axis_of(&at, model, joint, sn_model_v_index(model, joint) + dof, room,
                               room + nv, &status);
        part what = part_of(model, &b, joint);
        bool known = v3_norm(bone) > 0.5 && v3_norm(ahead) > 0.5 && v3_norm(axis) > 0.5;
        bool foot = what == FOOT || what == TOES;
        // a foot's bone points ahead, so that these words mean something else there
        if (known && !foot)
            *out = term_of(axis, bone, ahead, what == BACK || what == NECK || what == COLLAR);
    }
    sn_fit_place_close(&at, allocator);
    sn_release(allocator, room);
    return status;
}
