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
// A figure that a take has found says it itself: each joint's own rotation then, `stance` in its description. With the
// parent's B and the joint's rotation W against it, B = B_parent W stance.
//
// The standing model has the same bones with frames R' = R B^T, which are the world's while it stands, as in any T pose's file.
// Inside of a take there is nothing else. What it hands out, shape, poses and set, is carried back: R = R' B.
#include <math.h>
#include <string.h>

#include "math/align.h"
#include "math/euler_near.h"
#include "math/rotation.h"
#include "math/sincos.h"
#include "math/unit.h"
#include "model/joint.h"
#include "model/model.h"
#include "take/body.h"
#include "take/take.h"

enum { LOOKS = 64 };

// Why a figure is fitted as if it stood at zero, the number of SN_FINDING_STANCE_NONE: nothing shows how it stands, or one
// of its joints cannot be turned into another frame, or something else of it cannot.
enum { STANCE_UNKNOWN, STANCE_JOINT, STANCE_OTHER };

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

static bool is_bound(const sn_joint_desc *d, int nv) {
    bool bound = d->swing != INFINITY || d->turn != INFINITY || d->nreach > 0 ||
                 isfinite(d->twist[0]) || isfinite(d->twist[1]);
    for (int i = 0; i < nv; i++)
        bound |= isfinite(d->lower[i]) || isfinite(d->upper[i]) || d->locked[i];
    return bound;
}

// The first joint that cannot be turned into another frame, -1 for none: rotations of three freedoms can, without limits
// that speak of their angles, and what has none at all.
static int stiff_joint(const sn_model *m) {
    const int root = sn_model_root(m);
    if (sn_model_joint(m, root)->type != SN_JOINT_FREE) return root;
    for (int j = 0; j < sn_model_njoint(m); j++) {
        const sn_joint_desc *d = sn_model_joint(m, j);
        if (!sn_joint_turns_freely(d->type) && d->type != SN_JOINT_FIXED) return j;
        if (is_bound(d, sn_model_joint_nv(m, j))) return j;
    }
    return -1;
}

static bool has_stance(const sn_model *m) {
    for (int j = 0; j < sn_model_njoint(m); j++) {
        const sn_joint_desc *d = sn_model_joint(m, j);
        const bool turned = d->stance[1] != 0 || d->stance[2] != 0 || d->stance[3] != 0;
        if (turned && sn_joint_turns_freely(d->type)) return true;
    }
    return false;
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

static sn_mat3 rotation_of(const double q[4]) {
    double r[4];
    if (!sn_unit(q, 4, r)) return m3_identity();
    return sn_mat3_from_quat((sn_quat){r[0], r[1], r[2], r[3]});
}

// As the model says.
static void stand_as_told(standing *s) {
    for (int i = 0; i < s->njoint; i++) {
        const int j = s->m->joint[i].id, parent = sn_model_parent(s->m, j);
        const sn_joint_desc *d = sn_model_joint(s->m, j);
        const sn_mat3 W = rotation_of(d->rotation),
                      own = sn_joint_turns_freely(d->type) ? rotation_of(d->stance) : m3_identity(),
                      turn = m3_mulm(&W, &own);
        s->B[j] = parent < 0 ? turn : m3_mulm(&s->B[parent], &turn);
    }
}

// --- the model that stands ---------------------------------------------------------------------------

static void set(double out[3], sn_vec3 v) { out[0] = v.x, out[1] = v.y, out[2] = v.z; }

// The turn of what a joint hangs on.
static sn_mat3 before(const sn_take *t, int joint) {
    const int parent = sn_model_parent(t->original, joint);
    return parent < 0 ? m3_identity() : t->stance[parent];
}

// The frame that a joint turns in, while the figure stands: B_parent W.
static sn_mat3 lead_of(const sn_take *t, int joint) {
    const sn_mat3 B = before(t, joint),
                  W = rotation_of(sn_model_joint(t->original, joint)->rotation);
    return m3_mulm(&B, &W);
}

static void set_quaternion(double out[4], const sn_mat3 *R) {
    const sn_quat q = sn_quat_from_mat3(*R);
    const double sign = q.w < 0 ? -1 : 1;
    out[0] = sign * q.w, out[1] = sign * q.x, out[2] = sign * q.y, out[3] = sign * q.z;
}

// A joint's own rotations: at zero, and while the figure stands.
static void set_rotations(const sn_take *t, int joint, bool back, sn_joint_desc *d) {
    const double none[4] = {1, 0, 0, 0};
    memcpy(d->rotation, back ? sn_model_joint(t->original, joint)->rotation : none, sizeof none);
    memcpy(d->stance, none, sizeof none);
    if (!back || !sn_joint_turns_freely(d->type)) return;
    const sn_mat3 lead = lead_of(t, joint), up = m3_transpose(&lead),
                  turn = m3_mulm(&up, &t->stance[joint]);
    set_quaternion(d->stance, &turn);
}

static void carry_point(const sn_mat3 *B, bool back, double p[3]) {
    const sn_vec3 x = v3_from(p);
    set(p, back ? m3_tmul(B, x) : m3_mul(B, x));
}

// @param back  to the caller's frames
static sn_status carry_model(const sn_take *t, const sn_model *from, bool back, sn_model **out) {
    sn_builder *b;
    SN_TRY(sn_builder_create_from(from, &t->allocator, &b, NULL));
    for (int j = 0; j < sn_model_njoint(from); j++) {
        sn_joint_desc *d = &b->joint[j].desc;
        const sn_mat3 B = before(t, j);
        carry_point(&B, back, d->position);
        carry_point(&t->stance[j], back, d->centre);
        set_rotations(t, j, back, d);
    }
    for (size_t i = 0; i < b->nmarker; i++) {
        sn_marker_desc *d = &b->marker[i].desc;
        carry_point(&t->stance[d->joint], back, d->position);
    }
    const sn_status status = sn_builder_finish(b, out, NULL);
    sn_builder_destroy(b);
    return status;
}

static sn_status carry_set(const sn_take *t, const sn_marker_set *from, bool back,
                           sn_marker_set **out) {
    *out = NULL;
    if (from == NULL) return SN_OK;
    const int n = sn_marker_set_count(from);
    sn_marker_place *places = sn_acquire(&t->allocator, ((size_t)n + 1) * sizeof *places);
    if (places == NULL) return SN_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        places[i] = *sn_marker_set_place(from, i);
        const int joint = sn_model_find_joint(t->original, places[i].joint);
        if (joint >= 0) carry_point(&t->stance[joint], back, places[i].position);
    }
    const sn_status status =
        sn_marker_set_create(sn_marker_set_name(from), places, n, &t->allocator, out, NULL);
    sn_release(&t->allocator, places);
    return status;
}

static sn_status make(const standing *s, bool told) {
    sn_take *t = s->t;
    sn_marker_set *given = NULL;
    SN_TRY(carry_model(t, t->original, false, &t->standing));
    SN_TRY(carry_set(t, t->given, false, &given));
    sn_marker_set_destroy(t->given);
    t->options.markers = t->given = given;
    t->source = t->standing;
    return sn_take_note(t, SN_FINDING_STANCE_FOUND, NULL, told, 0);
}

// Why a stance that is known cannot be taken; false where it can.
static bool is_stiff(const standing *s, const char **joint) {
    const sn_model *m = s->m;
    const int stiff = stiff_joint(m);
    *joint = stiff >= 0 ? sn_model_joint(m, stiff)->name : NULL;
    return stiff >= 0 || sn_model_ncoupling(m) > 0 || sn_model_nloop(m) > 0 ||
           sn_model_nshape(m) > 0 || sn_model_nframe(m) > 0;
}

static sn_status find(standing *s, bool told) {
    const char *joint;
    SN_TRY(look_at_zero(s));
    if (!told && stands_at_zero(s)) return SN_OK;
    if (!told && sn_motion_nframe(s->t->options.own_motion) == 0)
        return sn_take_note(s->t, SN_FINDING_STANCE_NONE, NULL, STANCE_UNKNOWN, 0);
    if (is_stiff(s, &joint))
        return sn_take_note(s->t, SN_FINDING_STANCE_NONE, joint,
                            joint != NULL ? STANCE_JOINT : STANCE_OTHER, 0);
    if (told) {
        stand_as_told(s);
    } else {
        SN_TRY(look_at_motion(s));
        stand(s);
    }
    return make(s, told);
}

sn_status sn_take_find_stance(sn_take *t) {
    standing s = {.t = t, .m = t->original, .njoint = sn_model_njoint(t->original)};
    const bool told = has_stance(t->original);
    // OpenSim's files and setups are taken as they are
    if (t->options.coordinates != NULL || t->options.setup != NULL || (!find_parts(&s) && !told))
        return SN_OK;
    s.up = v3_scale(t->options.model_up_sign, v3_unit(t->options.model_up));
    const size_t n = (size_t)s.njoint;
    t->stance = s.B = sn_acquire(&t->allocator, n * sizeof *s.B);
    s.zero = sn_acquire(&t->allocator, n * sizeof *s.zero);
    s.sum = sn_acquire(&t->allocator, n * sizeof *s.sum);
    sn_status status = SN_ERR_MEMORY;
    if (s.B != NULL && s.zero != NULL && s.sum != NULL) {
        status = sn_fit_place_open(&s.at, s.m, &t->allocator);
        if (status == SN_OK) status = find(&s, told);
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

// The turn that a joint's numbers state.
static sn_mat3 turn_of(const sn_joint_desc *d, const double *q) {
    sn_mat3 R = m3_identity();
    if (d->type == SN_JOINT_EULER)
        for (int k = 0; k < 3; k++) turn_coordinate(&R, d->order[k] - 'X', angle_of(q[k]));
    else if (d->type == SN_JOINT_BALL || d->type == SN_JOINT_FREE)
        R = rotation_of(q + (d->type == SN_JOINT_FREE ? 3 : 0));
    return R;
}

// Numbers that state a turn, nearest to those that are there.
static void put_turn(const sn_joint_desc *d, const sn_mat3 *R, double *q) {
    if (d->type == SN_JOINT_EULER) {
        const int order[3] = {d->order[0] - 'X', d->order[1] - 'X', d->order[2] - 'X'};
        sn_euler_near(order, 3, R, q, q);
    } else if (d->type == SN_JOINT_BALL || d->type == SN_JOINT_FREE) {
        double *to = q + (d->type == SN_JOINT_FREE ? 3 : 0), now[4];
        set_quaternion(now, R);
        const double along = now[0] * to[0] + now[1] * to[1] + now[2] * to[2] + now[3] * to[3];
        for (int k = 0; k < 4; k++) to[k] = along < 0 ? -now[k] : now[k];
    }
}

// A joint's numbers: R' = B_parent W R B^T, and back.
static void carry_joint(const sn_take *t, int joint, bool back, const double *from, double *to) {
    const sn_joint_desc *d = sn_model_joint(t->original, joint);
    const sn_mat3 lead = lead_of(t, joint), up = m3_transpose(&lead), *own = &t->stance[joint],
                  home = m3_transpose(own), given = turn_of(d, from);
    sn_mat3 R = m3_mulm(back ? &up : &lead, &given);
    R = m3_mulm(&R, back ? own : &home);
    put_turn(d, &R, to);
    if (d->type != SN_JOINT_FREE) return;
    memcpy(to, from, 3 * sizeof *to);
    carry_point(&lead, back, to);
}

// @param to  its frames before `first` are right already: angles are nearest to those
static void carry_poses(const sn_take *t, bool back, int first, int end, const sn_motion *from,
                        sn_motion *to) {
    const sn_model *m = t->original;
    const size_t nq = (size_t)sn_model_nq(m);
    for (int f = first; f < end; f++) {
        const double *x = sn_motion_frame(from, f);
        double *y = sn_motion_edit(to, f);
        if (f == 0)
            sn_model_zero(m, y);
        else
            memcpy(y, sn_motion_frame(to, f - 1), nq * sizeof *y);
        for (int j = 0; j < sn_model_njoint(m); j++) {
            const int at = sn_model_q_index(m, j);
            carry_joint(t, j, back, x + at, y + at);
        }
    }
}

static sn_status same_motion(const sn_take *t, const sn_motion *as, sn_motion **out) {
    SN_TRY(sn_motion_create(sn_motion_nframe(as), sn_motion_nq(as), sn_motion_first_frame(as),
                            sn_motion_rate(as), &t->allocator, out, NULL));
    sn_motion_set_time_offset(*out, sn_motion_time_offset(as));
    return SN_OK;
}

static void forget_handed(sn_take *t) {
    sn_model_destroy(t->handed.model);
    sn_model_destroy(t->handed.limited);
    sn_marker_set_destroy(t->handed.set);
    sn_motion_destroy(t->handed.motion);
    t->handed.model = t->handed.limited = NULL;
    t->handed.set = NULL;
    t->handed.motion = NULL;
}

sn_status sn_take_show_stance(sn_take *t) {
    if (t->standing == NULL) return SN_OK;
    forget_handed(t);  // where the take was prepared anew
    SN_TRY(carry_model(t, t->model, true, &t->handed.model));
    SN_TRY(carry_model(t, t->limited, true, &t->handed.limited));
    SN_TRY(carry_set(t, t->set, true, &t->handed.set));
    SN_TRY(same_motion(t, t->motion, &t->handed.motion));
    for (int f = 0; f < sn_motion_nframe(t->motion); f++)
        sn_model_zero(t->original, sn_motion_edit(t->handed.motion, f));
    return SN_OK;
}

void sn_take_show_poses(sn_take *t, int first, int end) {
    if (t->standing != NULL) carry_poses(t, true, first, end, t->motion, t->handed.motion);
}

sn_status sn_take_stand_up(const sn_take *t, const sn_motion *motion, sn_motion **out) {
    *out = NULL;
    if (t->standing == NULL) return SN_OK;
    SN_TRY(same_motion(t, motion, out));
    carry_poses(t, false, 0, sn_motion_nframe(motion), motion, *out);
    return SN_OK;
}
