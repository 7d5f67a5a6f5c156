// SPDX-License-Identifier: MIT
// What was measured on the person: lengths of bodies, and the height.
#include <math.h>
#include <string.h>

#include "math/exp.h"
#include "math/vec3.h"
#include "take/body.h"
#include "take/estimate.h"

// Of sizes of one whose height is known: bodies of one height differ by so much in their legs.
static const double of_one_height = 0.03;

// From the hips down to the ankles, as a share of the height: 0.46 to 0.48 in the figures that are about.
static const double leg_share = 0.47;

// A tape measure finds joints to half a centimetre.
static const double tape = 0.005;

// The joint that carries a body.
static int joint_of(const sn_estimate *e, const char *name, int *body) {
    for (*body = 0; *body < e->nbody; ++*body) {
        if (strcmp(e->name[*body], name) != 0) continue;
        for (int j = 0; j < e->njoint; j++)
            if (e->body[j] == *body) return j;
    }
    return -1;
}

// Down the tree from a body's joint: where the next joints begin, in the joint's frame. Those in the same place
// are one.
static int next_joints(const sn_estimate *e, int joint, sn_vec3 *out, int room) {
    int n = 0;
    for (int j = 0; j < e->njoint && n < room; j++) {
        const sn_joint_desc *d = sn_model_joint(e->model, j);
        if (d->parent != joint || v3_norm(v3_from(d->position)) < 1e-6) continue;
        out[n++] = v3_from(d->position);
    }
    return n;
}

// The way that a body's length is measured along: to the farthest next joint; between two that are mirror images.
static bool way_of(const sn_estimate *e, int joint, sn_vec3 *way) {
    enum { MOST = 16 };
    sn_vec3 at[MOST];
    int n = next_joints(e, joint, at, MOST);
    double best = 0;
    if (n == 0) return false;
    for (int i = 0; i < n; i++)
        if (v3_norm(at[i]) > best) best = v3_norm(at[i]), *way = at[i];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            if (fabs(v3_norm(at[i]) - v3_norm(at[k])) < 1e-4 &&
                v3_norm(v3_sub(at[i], at[k])) > 0.05)
                *way = v3_sub(at[i], at[k]);
    *way = m3_tmul(&e->axes[joint], *way);
    return true;
}

static double bone(const sn_workspace *ws, int from, int to) {
    return v3_norm(v3_sub(sn_workspace_frame(ws, from).p, sn_workspace_frame(ws, to).p));
}

// Hip, knee and ankle of a leg, by the joints' names or OpenSim's; false where there is none.
static bool find_leg(const sn_model *m, int out[3]) {
    static const char *const legs[2][3] = {{"femur_l", "tibia_l", "talus_l"},
                                           {"femur_r", "tibia_r", "talus_r"}};
    static const sn_body parts[3] = {SN_BODY_THIGH, SN_BODY_SHIN, SN_BODY_FOOT};
    for (int k = 0; k < 3; k++) out[k] = sn_body_part(m, parts[k], 0);
    for (int side = 0; side < 2 && out[0] < 0; side++) {
        int f[3];
        for (int k = 0; k < 3; k++) {
            int i = sn_model_find_frame(m, legs[side][k]);
            f[k] = i >= 0 ? sn_model_frame(m, i)->joint : -1;
        }
        if (f[0] >= 0 && f[1] >= 0 && f[2] >= 0) memcpy(out, f, sizeof f);
    }
    return out[0] >= 0 && out[1] >= 0 && out[2] >= 0;
}

sn_status sn_fit_height(const sn_model *m, const double *q, const sn_allocator *allocator,
                        double *out) {
    sn_fit_place at = {0};
    int leg[3];
    *out = 0;
    if (!find_leg(m, leg)) return SN_OK;
    sn_status status = sn_fit_place_open(&at, m, allocator);
    if (status == SN_OK) status = sn_workspace_pose(at.workspace, q);
    if (status == SN_OK)
        *out =
            (bone(at.workspace, leg[0], leg[1]) + bone(at.workspace, leg[1], leg[2])) / leg_share;
    sn_fit_place_close(&at, allocator);
    return status;
}

static sn_status refuse_body(const sn_estimate *e, const char *name, sn_error *error) {
    const int near = sn_nearest_name(name, (const char *const *)e->name, e->nbody);
    return sn_fail(error, SN_ERR_VALUE, 0,
                   "a length is given for \"%.80s\", which the model lacks%s%.80s%s", name,
                   near >= 0 ? "; did you mean \"" : "", near >= 0 ? e->name[near] : "",
                   near >= 0 ? "\"?" : "");
}

sn_status sn_estimate_known(sn_estimate *e, double *size, sn_error *error) {
    e->common = SN_ESTIMATE_ANY_SIZE;
    *size = 0;
    e->nlength = 0;
    for (int i = 0; i < e->o.asked.nlength && e->o.asked.scale; i++) {
        const sn_known_length *l = &e->o.asked.lengths[i];
        struct sn_estimate_length *to = &e->length[e->nlength];
        int joint = joint_of(e, l->body, &to->body);
        if (joint < 0) return refuse_body(e, l->body, error);
        if (!way_of(e, joint, &to->way))
            return sn_fail(error, SN_ERR_VALUE, 0,
                           "\"%.80s\" has no joint behind it that its length leads to", l->body);
        to->metres = l->metres;
        e->nlength++;
    }
    if (!(e->o.asked.height > 0) || !e->o.asked.scale) return SN_OK;
    double figure;
    if (sn_fit_height(e->model, e->o.home, e->allocator, &figure) != SN_OK)
        return sn_fail_memory(error);
    if (!(figure > 0))
        return sn_fail(error, SN_ERR_VALUE, 0,
                       "the model has no legs whose names are known, so a height does not help");
    *size = e->o.asked.height / figure;
    e->common = of_one_height;
    return SN_OK;
}

double sn_estimate_length_off(const sn_estimate *e, int i, const double *x, double slope[3]) {
    const struct sn_estimate_length *k = &e->length[i];
    const double *l = x + 3 * (size_t)e->nmarker + 3 * (size_t)k->body;
    double u[3] = {sn_exp(l[0]) * k->way.x, sn_exp(l[1]) * k->way.y, sn_exp(l[2]) * k->way.z};
    double length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    for (int a = 0; a < 3; a++) slope[a] = u[a] * u[a] / length / tape;
    return (length - k->metres) / tape;
}
