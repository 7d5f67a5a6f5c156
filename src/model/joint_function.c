// SPDX-License-Identifier: MIT
// A joint whose motions are functions of its coordinates: a local map in front of stacked turns and
// slides. With s_k the twist of the k-th move (outermost first) and f_k its function,
//
//   S_a = sum_k f_k,a s_k
//   dS_a/dq_b = sum_k f_k,ab s_k + sum_k sum over l outside k of f_k,a f_l,b s_l x s_k
//
// since a move carries all those inside it: ds_k by move l is s_l x s_k. OpenSim's CustomJoint is this
// with three slides, then three turns; so is document 004's (docs/bibliography.md) joint with an axis and a direction of its
// own (equation 61): a slide q |d| along d, then a turn q |w| about w.
#include "math/sincos.h"
#include "model/joint.h"

// Move k from the frame *at, which goes on to where it leads; returns its twist.
static sn_twist make_move(const struct sn_drive_move *move, double value, sn_frame *at) {
    if (!move->turns) {
        sn_vec3 along = m3_mul(&at->R, move->axis);
        at->p = v3_add(at->p, v3_scale(value, along));
        return twist_along(along);
    }
    sn_angle angle;
    sn_sincos_inline(value, &angle.s, &angle.c);
    return twist_about(turn(&at->R, move->aligned, move->axis, angle), at->p);
}

static const sn_twist still = {{0, 0, 0}, {0, 0, 0}};

static void place(const sn_joint *joint, const double *q, const sn_angle *angle,
                  const sn_frame *base, sn_frame *out, sn_twist *S) {
    (void)angle;
    const sn_drive *drive = joint->drive;
    *out = *base;
    for (int a = 0; a < joint->nv; a++) S[a] = still;
    for (int k = 0; k < drive->nmove; k++) {
        const sn_driver *driver = &drive->move[k].driver;
        sn_jet jet;
        sn_driver_at(driver, q, &jet);
        sn_twist s = make_move(&drive->move[k], jet.f, out);
        for (int i = 0; i < driver->f.nargument; i++) {
            int a = driver->f.argument[i];
            S[a] = twist_add(S[a], jet.d[i], s);
        }
    }
}

static void bend(const sn_joint *joint, const double *q, const sn_frame *base,
                 sn_twist E[SN_MAX_JOINT_DOFS][SN_MAX_JOINT_DOFS]) {
    const sn_drive *drive = joint->drive;
    sn_frame at = *base;
    sn_twist outer[SN_MAX_JOINT_DOFS];  // S of the moves so far
    for (int a = 0; a < joint->nv; a++) {
        outer[a] = still;
        for (int b = 0; b <= a; b++) E[a][b] = still;
    }
    for (int k = 0; k < drive->nmove; k++) {
        const sn_driver *driver = &drive->move[k].driver;
        const int *argument = driver->f.argument, n = driver->f.nargument;
        sn_jet jet;
        sn_driver_at(driver, q, &jet);
        sn_twist s = make_move(&drive->move[k], jet.f, &at);
        for (int i = 0; i < n; i++) {
            int a = argument[i];
            for (int b = 0; b <= a; b++)
                E[a][b] = twist_add(E[a][b], jet.d[i], twist_cross(outer[b], s));
            for (int j = 0; j < n; j++) {
                int b = argument[j];
                if (b <= a) E[a][b] = twist_add(E[a][b], j <= i ? jet.dd[i][j] : jet.dd[j][i], s);
            }
        }
        for (int i = 0; i < n; i++) outer[argument[i]] = twist_add(outer[argument[i]], jet.d[i], s);
    }
    for (int a = 0; a < joint->nv; a++)
        for (int b = 0; b < a; b++)
            E[a][b] = twist_add(E[a][b], -1, twist_cross(outer[b], outer[a]));
}

const sn_joint_ops sn_joint_function = {
    .name = "function", .place = place, .bend = bend, .quaternion = -1};
