// SPDX-License-Identifier: MIT
// Asking a model, and moving poses: add, subtract, normalise, clamp, sample.
#include "model/model.h"

#include <string.h>

#include "base/random.h"

const char *sn_model_name(const sn_model *model) { return model != NULL ? model->name : NULL; }
int sn_model_njoint(const sn_model *model) { return model != NULL ? model->njoint : 0; }
int sn_model_nmarker(const sn_model *model) { return model != NULL ? model->nmarker : 0; }
int sn_model_nq(const sn_model *model) { return model != NULL ? model->nq : 0; }
int sn_model_nv(const sn_model *model) { return model != NULL ? model->nv : 0; }
int sn_model_depth(const sn_model *model) { return model != NULL ? model->depth : 0; }
int sn_model_root(const sn_model *model) { return model != NULL ? model->root : -1; }
const double *sn_model_lower(const sn_model *model) { return model != NULL ? model->lower : NULL; }
const double *sn_model_upper(const sn_model *model) { return model != NULL ? model->upper : NULL; }
const double *sn_model_gain(const sn_model *model) { return model != NULL ? model->gain : NULL; }
const sn_path *sn_model_path(const sn_model *model) { return model != NULL ? &model->path : NULL; }
const int *sn_model_sweep_order(const sn_model *model) {
    return model != NULL ? model->v_of : NULL;
}

static bool is_joint(const sn_model *model, int joint) {
    return joint >= 0 && joint < model->njoint;
}

const sn_joint_desc *sn_model_joint(const sn_model *model, int joint) {
    if (model == NULL) return NULL;
    return is_joint(model, joint) ? &model->desc[joint] : NULL;
}

const sn_marker_desc *sn_model_marker(const sn_model *model, int marker) {
    if (model == NULL) return NULL;
    return marker >= 0 && marker < model->nmarker ? &model->marker[marker] : NULL;
}

static const char *joint_name_of(const void *owner, int i) {
    return ((const sn_model *)owner)->desc[i].name;
}

static const char *marker_name_of(const void *owner, int i) {
    return ((const sn_model *)owner)->marker[i].name;
}

int sn_model_ncoupling(const sn_model *model) { return model != NULL ? model->ncoupling : 0; }

const sn_coupling_desc *sn_model_coupling(const sn_model *model, int coupling) {
    return model != NULL && coupling >= 0 && coupling < model->ncoupling
               ? &model->coupling[coupling]
               : NULL;
}

int sn_model_find_joint(const sn_model *model, const char *name) {
    if (model == NULL || name == NULL) return -1;
    return sn_names_find(&model->joint_names, name, joint_name_of, model);
}

int sn_model_find_marker(const sn_model *model, const char *name) {
    if (model == NULL || name == NULL) return -1;
    return sn_names_find(&model->marker_names, name, marker_name_of, model);
}

int sn_model_q_index(const sn_model *model, int joint) {
    if (model == NULL) return -1;
    return is_joint(model, joint) ? model->joint[model->sweep_of[joint]].q0 : -1;
}

int sn_model_v_index(const sn_model *model, int joint) {
    if (model == NULL) return -1;
    return is_joint(model, joint) ? model->joint[model->sweep_of[joint]].v0 : -1;
}

static const sn_joint *joint_at(const sn_model *model, int joint) {
    return &model->joint[model->sweep_of[joint]];
}

int sn_model_joint_nq(const sn_model *model, int joint) {
    if (model == NULL) return 0;
    return is_joint(model, joint) ? joint_at(model, joint)->nq : 0;
}

int sn_model_joint_nv(const sn_model *model, int joint) {
    if (model == NULL) return 0;
    return is_joint(model, joint) ? joint_at(model, joint)->nv : 0;
}

bool sn_model_is_length(const sn_model *model, int joint, int k) {
    if (model == NULL) return false;
    return is_joint(model, joint) && k >= 0 && k < SN_MAX_JOINT_DOFS &&
           (joint_at(model, joint)->lengths >> k & 1) != 0;
}

int sn_model_parent(const sn_model *model, int joint) {
    if (model == NULL) return -1;
    return is_joint(model, joint) ? model->desc[joint].parent : -1;
}

int sn_model_next_leaf(const sn_model *model, int leaf) {
    if (model == NULL) return -1;
    if (leaf >= model->njoint) return -1;
    for (int i = leaf < 0 ? 0 : leaf + 1; i < model->njoint; i++)
        if (model->nchild[i] == 0) return i;
    return -1;
}

void sn_model_zero(const sn_model *model, double *q) {
    if (model == NULL || q == NULL) return;
    for (int i = 0; i < model->nq; i++) q[i] = 0;
    for (int k = 0; k < model->njoint; k++) {
        const sn_joint *j = &model->joint[k];
        int quaternion = j->ops->quaternion;
        if (quaternion >= 0) q[j->q0 + quaternion] = 1;
    }
    sn_model_follow(model, q);
}

void sn_model_integrate(const sn_model *model, const double *q, const double *delta, double *out) {
    if (model == NULL || q == NULL || delta == NULL || out == NULL) return;
    for (int k = 0; k < model->njoint; k++) {
        const sn_joint *j = &model->joint[k];
        const sn_joint_ops *ops = j->ops;
        if (ops->integrate != NULL) {
            ops->integrate(q + j->q0, delta + j->v0, out + j->q0);
            continue;
        }
        for (int i = 0; i < j->nv; i++) out[j->q0 + i] = q[j->q0 + i] + delta[j->v0 + i];
    }
    sn_model_follow(model, out);
}

void sn_model_difference(const sn_model *model, const double *q0, const double *q1, double *delta) {
    if (model == NULL || q0 == NULL || q1 == NULL || delta == NULL) return;
    for (int k = 0; k < model->njoint; k++) {
        const sn_joint *j = &model->joint[k];
        const sn_joint_ops *ops = j->ops;
        if (ops->difference != NULL) {
            ops->difference(q0 + j->q0, q1 + j->q0, delta + j->v0);
            continue;
        }
        for (int i = 0; i < j->nv; i++) delta[j->v0 + i] = q1[j->q0 + i] - q0[j->q0 + i];
    }
}

static bool limited(const sn_model *model, const sn_joint *j) {
    for (int i = j->v0; i < j->v0 + j->nv; i++)
        if (model->lower[i] != -INFINITY || model->upper[i] != INFINITY) return true;
    return false;
}

void sn_model_normalize(const sn_model *model, double *q) {
    if (model == NULL || q == NULL) return;
    for (int k = 0; k < model->njoint; k++) {
        const sn_joint *j = &model->joint[k];
        const sn_joint_ops *ops = j->ops;
        if (ops->normalize != NULL) ops->normalize(limited(model, j), q + j->q0);
    }
    sn_model_follow(model, q);
}

void sn_model_normalize_quaternions(const sn_model *model, double *q) {
    for (int i = 0; i < model->nquaternion; i++) {
        const sn_joint *j = &model->joint[model->quaternion[i]];
        j->ops->normalize(true, q + j->q0);
    }
}

int sn_model_clamp(const sn_model *model, double *q) {
    if (model == NULL || q == NULL) return 0;
    int moved = 0;
    for (int k = 0; k < model->njoint; k++) {
        const sn_joint *j = &model->joint[k];
        // where a quaternion starts, coordinates and velocities part; it has no limits anyway
        int quaternion = j->ops->quaternion;
        int count = quaternion >= 0 ? quaternion : j->nv;
        for (int i = 0; i < count; i++) {
            if (model->ncoupling > 0 && model->follows[j->v0 + i]) continue;
            double *x = &q[j->q0 + i], lower = model->lower[j->v0 + i];
            double upper = model->upper[j->v0 + i];
            double clamped = *x < lower ? lower : *x > upper ? upper : *x;
            if (clamped != *x) moved++;
            if (*x < lower || *x > upper) *x = clamped;
        }
        if (j->cone && sn_cone_clamp(j, q + j->q0)) moved++;
    }
    sn_model_follow(model, q);
    if (model->tied_limits) moved += sn_model_lead_back(model, q);
    return moved;
}

// Uniform between the limits; where one is missing, within `range` of the other, or of 0.
static double sample_between(uint64_t *state, double lower, double upper, double range) {
    if (lower == -INFINITY && upper == INFINITY) {
        lower = -range;
        upper = range;
    } else if (lower == -INFINITY) {
        lower = upper - range;
    } else if (upper == INFINITY) {
        upper = lower + range;
    }
    double r = sn_random(state),
           x = lower * (1 - r) + upper * r;  // no overflow between huge limits
    return x < lower ? lower : x > upper ? upper : x;
}

void sn_model_sample(const sn_model *model, uint64_t *state, double *q) {
    if (model == NULL || state == NULL || q == NULL) return;
    const double pi = 0x1.921fb54442d18p+1;
    for (int i = 0; i < model->njoint; i++) {
        const sn_joint *j = &model->joint[model->sweep_of[i]];  // file order: q decides the pose
        const sn_joint_ops *ops = j->ops;
        int count = ops->quaternion >= 0 ? ops->quaternion : j->nv;
        for (int k = 0; k < count; k++) {
            int v = j->v0 + k;
            q[j->q0 + k] = sample_between(state, model->lower[v], model->upper[v],
                                          j->lengths >> k & 1 ? 1 : pi);
        }
        if (ops->quaternion < 0) continue;
        // a uniform direction in four dimensions: a point of the ball, not too near its centre
        double *r = q + j->q0 + ops->quaternion, square;
        do {
            for (int k = 0; k < 4; k++) r[k] = 2 * sn_random(state) - 1;
            square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3];
        } while (square > 1 || square < 0.01);
        for (int k = 0; k < 4; k++) r[k] /= sqrt(square);
        if (j->cone) (void)sn_cone_clamp(j, r);
    }
    sn_model_follow(model, q);
    if (model->tied_limits) (void)sn_model_lead_back(model, q);
}

static double quaternion_square(const sn_joint *j, const double *q) {
    const double *r = q + j->q0 + j->ops->quaternion;
    return r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3];
}

// Quick, for every evaluation: is all well?
static bool good_pose(const sn_model *model, const double *q) {
    double probe = 0;  // 0 times what is not finite is not a number
    for (int i = 0; i < model->nq; i++) probe += 0 * q[i];
    bool good = probe == 0;
    for (int i = 0; i < model->nquaternion; i++) {
        double square = quaternion_square(&model->joint[model->quaternion[i]], q);
        good = good && square > 1e-200 && square < 1e200;
    }
    return good;
}

sn_status sn_model_check_pose(const sn_model *model, const double *q, sn_error *error) {
    SN_NEED(model, error);
    SN_NEED(q, error);
    if (good_pose(model, q)) return SN_OK;
    for (int i = 0; i < model->njoint; i++) {
        const sn_joint *j = &model->joint[model->sweep_of[i]];
        const char *name = model->desc[i].name;
        for (int k = 0; k < j->nq; k++)
            if (!isfinite(q[j->q0 + k]))
                return sn_fail(error, SN_ERR_VALUE, 0,
                               "coordinate %d (joint \"%.80s\") is not finite", j->q0 + k, name);
        if (j->ops->quaternion < 0) continue;
        double square = quaternion_square(j, q);
        if (!(square > 1e-200 && square < 1e200))
            return sn_fail(error, SN_ERR_VALUE, 0,
                           "joint \"%.80s\": its quaternion (from coordinate %d) is zero or huge",
                           name, j->q0 + j->ops->quaternion);
    }
    return SN_OK;
}

void sn_model_sweep_limits(const sn_model *model, int *q_of, double *lower, double *upper) {
    for (int k = 0; k < model->njoint; k++) {
        const sn_joint *j = &model->joint[k];
        for (int a = 0; a < j->nv; a++) {
            int i = j->slot + a;
            bool plain = j->ops->quaternion < 0 || a < j->ops->quaternion;
            if (model->ncoupling > 0 && model->follows[j->v0 + a])
                plain = false;  // leaders' keep its
            q_of[i] = plain ? j->q0 + a : -1;
            lower[i] = model->lower[j->v0 + a];
            upper[i] = model->upper[j->v0 + a];
        }
    }
}
