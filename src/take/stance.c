// SPDX-License-Identifier: MIT
// Skeletons in whose zero pose nobody stands.
//
// Many programs turn each joint's axes along its bone, and write BVH files without rest rotations: LaFAN1's, Bandai-Namco's,
// Unreal's. With all angles zero such a figure's legs, arms and head point the same way. Where a marker set says that a knee's
// marker sits aside of it, what bends which way, and what is at rest, it speaks of a figure that stands.
//
// So the fit is given one that does. How far every bone is turned while the figure stands is B, in the world:
//
//   legs hang, arms are held sideways, the head is above the hips;
//   what is straight at zero stays so: shins, forearms, hands, backs;
//   how thighs, collars, arms and feet are turned about their bones is what they are on average, against the bone before, in
//   the motion that comes with the skeleton: nothing else knows.
//
// The standing model has the same bones with frames R' = R B^T, which are the world's while it stands, as in any T pose's file.
// When the take is finished its shape and poses are carried back: R = R' B.
#include <math.h>
#include <string.h>

#include "math/align.h"
#include "math/euler_near.h"
#include "math/rotation.h"
#include "math/sincos.h"
#include "model/joint.h"
#include "model/model.h"
#include "take/body.h"
#include "take/take.h"

enum { LOOKS = 64 };

// A leg that points where the head does, within 60 degrees: an animal's does not.
static const double lies_above = 0.5;
// Bones of one limb are straight within 60 degrees.
static const double straight = 0.5;
// Sines of how far a foot's bone falls to the toes where somebody stands: 10 to 50 degrees. Else it is 25: sine and cosine.
static const double foot_least = 0.17, foot_most = 0.77;
static const double foot_down = 0.4226182617406994, foot_ahead = 0.9063077870366499;
// A share of a bone's length: shorter ones have no direction.
static const double some = 1e-9;

typedef struct standing {
    sn_take *t;
    const sn_model *m;
    int njoint;
    sn_fit_place at;
    sn_frame *zero;  // njoint: at the zero pose
    sn_mat3 *sum;    // njoint: of turns against the bone before, over the motion
    sn_mat3 *B;
    sn_vec3 up, left;
    int thigh[2], shin[2], foot[2], toes[2], collar[2], arm[2], forearm[2], hand[2], head;
} standing;

static bool find_parts(standing *s) {
    const sn_model *m = s->m;
    s->head = sn_body_part(m, SN_BODY_HEAD, 0);
    bool all = s->head >= 0;
    for (int k = 0; k < 2; k++) {
        s->thigh[k] = sn_body_part(m, SN_BODY_THIGH, k);
        s->shin[k] = sn_body_part(m, SN_BODY_SHIN, k);
        s->foot[k] = sn_body_part(m, SN_BODY_FOOT, k);
        s->toes[k] = sn_body_part(m, SN_BODY_TOES, k);
        s->collar[k] = sn_body_part(m, SN_BODY_CLAVICLE, k);
        s->arm[k] = sn_body_part(m, SN_BODY_UPPER_ARM, k);
        s->forearm[k] = sn_body_part(m, SN_BODY_FOREARM, k);
        s->hand[k] = sn_body_part(m, SN_BODY_WRIST, k);
        all = all && s->thigh[k] >= 0 && s->shin[k] >= 0 && s->foot[k] >= 0 &&
              s->foot[k] != s->shin[k] && s->shin[k] != s->thigh[k];
    }
    return all;
}

static sn_vec3 between(const standing *s, int a, int b) {
    return v3_sub(s->zero[b].p, s->zero[a].p);
}

static double cosine(sn_vec3 a, sn_vec3 b) {
    const double size = v3_norm(a) * v3_norm(b);
    return size > 0 ? v3_dot(a, b) / size : 0;
}

static sn_vec3 unit(sn_vec3 v) {
    const double n = v3_norm(v);
    return n > some ? v3_scale(1 / n, v) : v3(0, 0, 0);
}

// From the middle between the hips to the head.
static sn_vec3 trunk(const standing *s) {
    const sn_vec3 hips = v3_scale(0.5, v3_add(s->zero[s->thigh[0]].p, s->zero[s->thigh[1]].p));
    return v3_sub(s->zero[s->head].p, hips);
}

static bool stands_at_zero(const standing *s) {
    for (int k = 0; k < 2; k++)
        if (cosine(between(s, s->thigh[k], s->foot[k]), trunk(s)) > lies_above) return false;
    return true;
}

// What can be turned into another frame: rotations of three freedoms, without limits that speak of their angles.
static bool can_stand(const sn_model *m) {
    if (sn_model_joint(m, sn_model_root(m))->type != SN_JOINT_FREE || sn_model_ncoupling(m) > 0 ||
        sn_model_nloop(m) > 0 || sn_model_nshape(m) > 0 || sn_model_nframe(m) > 0)
        return false;
    for (int j = 0; j < sn_model_njoint(m); j++) {
        const sn_joint_desc *d = sn_model_joint(m, j);
        if (d->type != SN_JOINT_EULER && d->type != SN_JOINT_BALL && d->type != SN_JOINT_FREE &&
            d->type != SN_JOINT_FIXED)
            return false;
        for (int i = 0; i < sn_model_joint_nv(m, j); i++)
            if (isfinite(d->lower[i]) || isfinite(d->upper[i])) return false;
    }
    return true;
}

// --- how it stands ---------------------------------------------------------------------------------

static sn_status look_at_zero(standing *s) {
    sn_model_zero(s->m, s->at.q);
    SN_TRY(sn_workspace_pose(s->at.workspace, s->at.q));
    for (int j = 0; j < s->njoint; j++) s->zero[j] = sn_workspace_frame(s->at.workspace, j);
    return SN_OK;
}

static sn_status look_at_motion(standing *s) {
    const sn_motion *motion = s->t->options.own_motion;
    const int n = sn_motion_nframe(motion), looks = n < LOOKS ? n : LOOKS;
    for (int j = 0; j < s->njoint; j++) s->sum[j] = m3_zero();
    for (int i = 0; i < looks; i++) {
        SN_TRY(sn_workspace_pose(s->at.workspace,
                                 sn_motion_frame(motion, (int)((int64_t)i * n / looks))));
        for (int j = 0; j < s->njoint; j++) {
            const int parent = sn_model_parent(s->m, j);
            if (parent < 0) continue;
            const sn_mat3 own = sn_workspace_frame(s->at.workspace, j).R,
                          up = sn_workspace_frame(s->at.workspace, parent).R,
                          back = m3_transpose(&up), turn = m3_mulm(&back, &own);
            s->sum[j] = m3_add(&s->sum[j], &turn);
        }
    }
    return SN_OK;
}

// The least turn that brings a to b; none where either has no direction.
static sn_mat3 swing(sn_vec3 a, sn_vec3 b) {
    const sn_vec3 x = unit(a), y = unit(b);
    if (v3_norm(x) == 0 || v3_norm(y) == 0) return m3_identity();
    const int least =
        fabs(x.x) < fabs(x.y) ? (fabs(x.x) < fabs(x.z) ? 0 : 2) : (fabs(x.y) < fabs(x.z) ? 1 : 2);
    return sn_mat3_from_quat(sn_quat_between(x, y, unit(v3_cross(x, v3_unit(least)))));
}

// A joint's bone in the world, where its frame is turned by B.
static sn_vec3 bone(const standing *s, int joint, int next) {
    const sn_mat3 *Z = &s->zero[joint].R;
    return m3_mul(&s->B[joint], m3_tmul(Z, between(s, joint, next)));
}

static void point(const standing *s, int joint, int next, sn_vec3 way) {
    const sn_mat3 turn = swing(bone(s, joint, next), way);
    s->B[joint] = m3_mulm(&turn, &s->B[joint]);
}

// As at zero against the bone before.
static void as_at_zero(const standing *s, int joint) {
    const int parent = sn_model_parent(s->m, joint);
    const sn_mat3 back = m3_transpose(&s->zero[parent].R), turn = m3_mulm(&back, &s->zero[joint].R);
    s->B[joint] = m3_mulm(&s->B[parent], &turn);
}

// As it mostly is.
static void as_usual(const standing *s, int joint) {
    const sn_mat3 turn = sn_best_rotation(&s->sum[joint]);
    s->B[joint] = m3_mulm(&s->B[sn_model_parent(s->m, joint)], &turn);
}

// The next bone of a limb: as at zero where that is straight.
static void straighten(const standing *s, int before, int joint, int next) {
    if (cosine(between(s, before, joint), between(s, joint, next)) > straight)
        as_at_zero(s, joint);
    else
        as_usual(s, joint);
}

static void stand_foot(const standing *s, int k) {
    const int foot = s->foot[k], toes = s->toes[k];
    as_usual(s, foot);
    if (toes < 0 || toes == foot) return;
    const sn_vec3 way = bone(s, foot, toes), forward = v3_cross(s->left, s->up);
    sn_vec3 ahead = unit(v3_sub(way, v3_scale(v3_dot(way, s->up), s->up)));
    const bool level =
        -v3_dot(unit(way), s->up) > foot_least && -v3_dot(unit(way), s->up) < foot_most;
    if (level && v3_dot(ahead, forward) > straight) return;
    if (!(v3_dot(ahead, forward) > straight)) ahead = forward;
    point(s, foot, toes, v3_sub(v3_scale(foot_ahead, ahead), v3_scale(foot_down, s->up)));
}

static void stand_joint(standing *s, int joint) {
    const sn_vec3 down = v3_neg(s->up);
    // it has no coordinates in which it could be anything else
    if (sn_model_joint(s->m, joint)->type == SN_JOINT_FIXED) {
        as_at_zero(s, joint);
        return;
    }
    for (int k = 0; k < 2; k++) {
        const sn_vec3 aside = k == 0 ? s->left : v3_neg(s->left);
        if (joint == s->thigh[k]) {
            as_usual(s, joint);
            point(s, joint, s->shin[k], down);
        } else if (joint == s->shin[k]) {
            straighten(s, s->thigh[k], joint, s->foot[k]);
            point(s, joint, s->foot[k], down);
        } else if (joint == s->foot[k]) {
            stand_foot(s, k);
        } else if (joint == s->arm[k] && s->forearm[k] >= 0) {
            as_usual(s, joint);
            point(s, joint, s->forearm[k], aside);
        } else if (joint == s->forearm[k] && s->arm[k] >= 0 && s->hand[k] >= 0 &&
                   s->hand[k] != joint) {
            straighten(s, s->arm[k], joint, s->hand[k]);
            point(s, joint, s->hand[k], aside);
        } else if (joint == s->collar[k] && joint != s->arm[k] && s->collar[0] != s->collar[1]) {
            as_usual(s, joint);
        } else {
            continue;
        }
        return;
    }
    as_at_zero(s, joint);
}

static void stand(standing *s) {
    const int root = sn_model_root(s->m);
    const sn_mat3 upright = swing(trunk(s), s->up);
    s->B[root] = m3_mulm(&upright, &s->zero[root].R);
    const sn_vec3 across = m3_mul(&upright, between(s, s->thigh[1], s->thigh[0]));
    s->left = unit(v3_sub(across, v3_scale(v3_dot(across, s->up), s->up)));
    // parents first
    for (int i = 1; i < s->njoint; i++) stand_joint(s, s->m->joint[i].id);
}

// --- the model that stands ---------------------------------------------------------------------------

static void set(double out[3], sn_vec3 v) { out[0] = v.x, out[1] = v.y, out[2] = v.z; }

// The turn of what a joint hangs on.
static sn_mat3 before(const sn_take *t, int joint) {
    const int parent = sn_model_parent(t->original, joint);
    return parent < 0 ? m3_identity() : t->stance[parent];
}

// @param back  to the caller's frames
static sn_status carry_model(const sn_take *t, const sn_model *from, bool back, sn_model **out) {
    sn_builder *b;
    SN_TRY(sn_builder_create_from(from, &t->allocator, &b, NULL));
    for (int j = 0; j < sn_model_njoint(from); j++) {
        sn_joint_desc *d = &b->joint[j].desc;
        const sn_mat3 B = before(t, j);
        const sn_vec3 p = v3_from(d->position);
        const double none[4] = {1, 0, 0, 0};
        set(d->position, back ? m3_tmul(&B, p) : m3_mul(&B, p));
        memcpy(d->rotation, back ? sn_model_joint(t->original, j)->rotation : none, sizeof none);
    }
    for (size_t i = 0; i < b->nmarker; i++) {
        sn_marker_desc *d = &b->marker[i].desc;
        const sn_vec3 p = v3_from(d->position);
        set(d->position, back ? m3_tmul(&t->stance[d->joint], p) : m3_mul(&t->stance[d->joint], p));
    }
    const sn_status status = sn_builder_finish(b, out, NULL);
    sn_builder_destroy(b);
    return status;
}

static sn_status carry_set(const sn_take *t, bool back, sn_marker_set **set_of) {
    if (*set_of == NULL) return SN_OK;
    const int n = sn_marker_set_count(*set_of);
    sn_marker_place *places = sn_acquire(&t->allocator, ((size_t)n + 1) * sizeof *places);
    sn_marker_set *out = NULL;
    if (places == NULL) return SN_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        places[i] = *sn_marker_set_place(*set_of, i);
        const int joint = sn_model_find_joint(t->original, places[i].joint);
        const sn_vec3 p = v3_from(places[i].position);
        if (joint < 0) continue;
        set(places[i].position,
            back ? m3_tmul(&t->stance[joint], p) : m3_mul(&t->stance[joint], p));
    }
    const sn_status status =
        sn_marker_set_create(sn_marker_set_name(*set_of), places, n, &t->allocator, &out, NULL);
    sn_release(&t->allocator, places);
    if (status != SN_OK) return status;
    sn_marker_set_destroy(*set_of);
    *set_of = out;
    return SN_OK;
}

static sn_status make(standing *s) {
    sn_take *t = s->t;
    stand(s);
    SN_TRY(carry_model(t, t->original, false, &t->standing));
    SN_TRY(carry_set(t, false, &t->given));
    t->options.markers = t->given;
    t->source = t->standing;
    return sn_take_note(t, SN_FINDING_STANCE_FOUND, NULL, 0, 0);
}

static sn_status find(standing *s) {
    SN_TRY(look_at_zero(s));
    if (stands_at_zero(s)) return SN_OK;
    const sn_motion *motion = s->t->options.own_motion;
    if (motion == NULL || sn_motion_nframe(motion) == 0 || !can_stand(s->m))
        return sn_take_note(s->t, SN_FINDING_STANCE_NONE, NULL, 0, 0);
    SN_TRY(look_at_motion(s));
    return make(s);
}

sn_status sn_take_find_stance(sn_take *t) {
    standing s = {.t = t, .m = t->original, .njoint = sn_model_njoint(t->original)};
    // OpenSim's files and setups are taken as they are
    if (t->options.coordinates != NULL || t->options.setup != NULL || !find_parts(&s)) return SN_OK;
    s.up = v3_scale(t->options.model_up_sign, v3_unit(t->options.model_up));
    const size_t n = (size_t)s.njoint;
    t->stance = s.B = sn_acquire(&t->allocator, n * sizeof *s.B);
    s.zero = sn_acquire(&t->allocator, n * sizeof *s.zero);
    s.sum = sn_acquire(&t->allocator, n * sizeof *s.sum);
    sn_status status = SN_ERR_MEMORY;
    if (s.B != NULL && s.zero != NULL && s.sum != NULL) {
        status = sn_fit_place_open(&s.at, s.m, &t->allocator);
        if (status == SN_OK) status = find(&s);
        sn_fit_place_close(&s.at, &t->allocator);
    }
    sn_release(&t->allocator, s.sum);
    sn_release(&t->allocator, s.zero);
    return status;
}

// --- back ----------------------------------------------------------------------------------------------

static sn_angle angle_of(double x) {
    sn_angle a;
    sn_sincos_inline(x, &a.s, &a.c);
    return a;
}

// A joint's numbers in the caller's frames, nearest to those of the frame before.
static void carry_joint(const sn_take *t, int joint, const double *from, const double *near,
                        double *out) {
    const sn_joint_desc *d = sn_model_joint(t->original, joint);
    const sn_mat3 B = before(t, joint), *own = &t->stance[joint],
                  W = sn_mat3_from_quat(
                      (sn_quat){d->rotation[0], d->rotation[1], d->rotation[2], d->rotation[3]}),
                  lead = m3_mulm(&B, &W), back = m3_transpose(&lead);
    // M = (B W)^T R' own
    sn_mat3 R = m3_identity(), M;
    if (d->type == SN_JOINT_EULER) {
        for (int k = 0; k < 3; k++) turn_coordinate(&R, d->order[k] - 'X', angle_of(from[k]));
    } else if (d->type == SN_JOINT_BALL || d->type == SN_JOINT_FREE) {
        const double *q = from + (d->type == SN_JOINT_FREE ? 3 : 0);
        R = sn_mat3_from_quat((sn_quat){q[0], q[1], q[2], q[3]});
    }
    M = m3_mulm(&back, &R);
    M = m3_mulm(&M, own);
    if (d->type == SN_JOINT_EULER) {
        const int order[3] = {d->order[0] - 'X', d->order[1] - 'X', d->order[2] - 'X'};
        sn_euler_near(order, 3, &M, near, out);
    } else if (d->type == SN_JOINT_BALL || d->type == SN_JOINT_FREE) {
        const int at = d->type == SN_JOINT_FREE ? 3 : 0;
        const sn_quat q = sn_quat_from_mat3(M);
        const double *n = near + at;
        const double sign = q.w * n[0] + q.x * n[1] + q.y * n[2] + q.z * n[3] < 0 ? -1 : 1;
        out[at] = sign * q.w, out[at + 1] = sign * q.x;
        out[at + 2] = sign * q.y, out[at + 3] = sign * q.z;
        if (at > 0) set(out, m3_tmul(&lead, v3_from(from)));
    }
}

static sn_status carry_motion(sn_take *t) {
    const sn_model *m = t->original;
    const size_t nq = (size_t)sn_model_nq(m);
    double *pose = sn_acquire(&t->allocator, 2 * (nq + 1) * sizeof *pose), *near = pose + nq;
    if (pose == NULL) return SN_ERR_MEMORY;
    sn_model_zero(m, near);
    for (int f = 0; f < sn_motion_nframe(t->motion); f++) {
        double *q = sn_motion_edit(t->motion, f);
        memcpy(pose, q, nq * sizeof *pose);
        for (int j = 0; j < sn_model_njoint(m); j++) {
            const int at = sn_model_q_index(m, j);
            carry_joint(t, j, pose + at, near + at, q + at);
        }
        memcpy(near, q, nq * sizeof *near);
    }
    sn_release(&t->allocator, pose);
    return SN_OK;
}

sn_status sn_take_leave_stance(sn_take *t) {
    if (t->standing == NULL) return SN_OK;
    sn_model *model = NULL, *limited = NULL;
    sn_status status = carry_model(t, t->model, true, &model);
    if (status == SN_OK) status = carry_model(t, t->limited, true, &limited);
    if (status == SN_OK) status = carry_set(t, true, &t->set);
    if (status == SN_OK) status = carry_motion(t);
    if (status != SN_OK) {
        sn_model_destroy(model);
        sn_model_destroy(limited);
        return status;
    }
    // names of what the calibration found are those of the one that stood
    t->stood = t->model;
    sn_model_destroy(t->limited);
    t->model = model;
    t->limited = limited;
    t->input.model = model;
    t->input.limited = limited;
    return SN_OK;
}
