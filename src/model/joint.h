// SPDX-License-Identifier: MIT
// What a kind of joint must know how to do. One file per kind, one table entry each.
#pragma once

#include "math/vec3.h"
#include "model/function.h"
#include "sinew/model.h"

/// A joint as the sweeps use it. The model keeps them parents first, depth first.
typedef struct sn_joint {
    const struct sn_joint_ops *ops;
    sn_joint_type type;
    int parent;  ///< position of the parent in sweep order, -1 for the root
    int id;      ///< index in file order
    int nq, nv;
    int q0, v0;   ///< first coordinate and velocity, in file order
    int slot;     ///< first degree of freedom, in sweep order
    bool leaf;    ///< nothing hangs on it
    bool last;    ///< last child of its parent in sweep order: the first on the way back
    bool turned;  ///< offset.R is not the identity
    int aligned;  ///< axis is exactly coordinate axis 0, 1 or 2; -1 when it is not
    int aligned2;
    int order[3];         ///< euler: the three axes
    sn_frame offset;      ///< from the parent joint's frame to this one's parent-side frame
    sn_vec3 axis, axis2;  ///< unit
    sn_vec3 u, v;         ///< unit, across axis
    double pitch;
    bool cone;  ///< a ball with limits: swing (about any axis across) and twist about axis
    double swing, twist[2];
    double turn;                   ///< in their place: of the whole rotation; INFINITY for none
    int nreach;                    ///< corners of a reach cone, with which swing is INFINITY
    bool clockwise;                ///< as they are given
    const double *reach;           ///< 3 nreach, as they are given
    bool curved;                   ///< has second derivatives of its own: ops->curve or ops->bend
    unsigned whole;                ///< bit i: angle i goes round inside limits a whole turn apart
    unsigned lengths;              ///< bit i: velocity i is in metres, not radians
    const struct sn_drive *drive;  ///< function only
} sn_joint;

/// What moves a function joint, ready for the sweeps.
typedef struct sn_drive {
    int nmove;
    struct sn_drive_move {
        bool turns;
        int aligned;   ///< axis is exactly coordinate axis 0, 1 or 2; -1 when it is not
        sn_vec3 axis;  ///< unit for turns
        sn_driver driver;
    } move[SN_MAX_JOINT_MOVES];
} sn_drive;

/// Sine and cosine of one coordinate.
typedef struct sn_angle {
    double s, c;
} sn_angle;

typedef struct sn_joint_ops {
    const char *name;
    int nq, nv;
    unsigned angles;  ///< bit i: coordinate i is an angle whose sine and cosine `place` wants

    /// Where the joint's frame lies and how it moves there.
    /// @param base   the parent-side frame
    /// @param angle  one per velocity; filled where `angles` says
    /// @param S      nv twists, about the origin that base.p is measured from
    void (*place)(const sn_joint *joint, const double *q, const sn_angle *angle,
                  const sn_frame *base, sn_frame *out, sn_twist *S);

    /// The same-joint second derivatives beyond those of stacked hinges, for the rotational
    /// velocities [curve_first, curve_first + curve_count): e[a][b], b <= a, is the angular part of
    /// dS_a/dq_b - S_b x S_a, an axis through the joint's centre. NULL when there are none.
    void (*curve)(const sn_joint *joint, const double *q, const sn_frame *base, sn_vec3 e[3][3]);
    int curve_first, curve_count;

    /// The same for joints that do not turn about one centre: E[a][b], b <= a, is the whole twist
    /// dS_a/dq_b - S_b x S_a. For b > a, dS_a/dq_b itself is E[b][a]. NULL when there are none.
    void (*bend)(const sn_joint *joint, const double *q, const sn_frame *base,
                 sn_twist E[SN_MAX_JOINT_DOFS][SN_MAX_JOINT_DOFS]);

    /// NULL: coordinates are numbers that are added, subtracted and need no normalising.
    void (*integrate)(const double *q, const double *delta, double *out);
    void (*difference)(const double *q0, const double *q1, double *delta);
    void (*normalize)(bool limited, double *q);
    bool lengths[SN_MAX_JOINT_DOFS];  ///< velocity i is in metres, not radians
    int quaternion;                   ///< where a unit quaternion starts, -1 for nowhere
} sn_joint_ops;

extern const sn_joint_ops sn_joint_fixed, sn_joint_hinge, sn_joint_slider, sn_joint_screw,
    sn_joint_universal, sn_joint_euler, sn_joint_ball, sn_joint_expmap, sn_joint_swing_twist,
    sn_joint_planar, sn_joint_translation, sn_joint_free, sn_joint_function;

const sn_joint_ops *sn_joint_ops_of(sn_joint_type type);

/// How many coordinates and velocities a described joint has; as given, checked nowhere.
int sn_desc_nq(const sn_joint_desc *desc);
int sn_desc_nv(const sn_joint_desc *desc);

/// Ball, euler and free: can it be turned any way, so that its frames may be others?
bool sn_joint_turns_freely(sn_joint_type type);

/// Where a ball with limits stands: swing and twist of its rotation R, which is a swing about an axis
/// across `axis`, after a twist about it; and how both change with a turn exp(w) R of the parent-side
/// frame: d swing = n . w, d twist = m . w. Without any swing n is 0.
typedef struct sn_cone_at {
    double swing, twist;
    sn_vec3 n, m, tilted;  ///< tilted: R axis
} sn_cone_at;

/// How far a ball is turned, 0 to pi, and about which axis: d turn = axis . w. At rest the axis is 0.
double sn_turn_measure(const double quat[4], sn_vec3 *axis);

sn_cone_at sn_cone_measure(const sn_joint *joint, const double quat[4]);

/// Limits that a ball is held at.
enum {
    SN_CONE_SWING = 1,
    SN_CONE_LOWER = 2,
    SN_CONE_UPPER = 4,
    SN_CONE_TURN = 8,
    SN_CONE_FACE = 16  ///< face i: << i
};

/// A reach cone's face from corner i to the next: the direction k inwards, k . d >= 0 for those inside.
sn_vec3 sn_reach_face(const sn_joint *joint, int i);

/// What is wrong with a reach cone, or NULL; also finds which way round it is given.
const char *sn_reach_check(sn_joint *joint);

/// Bring a ball into its limits, and onto those that `held` names; true when it was not there.
bool sn_cone_put(const sn_joint *joint, unsigned held, double quat[4]);
static inline bool sn_cone_clamp(const sn_joint *joint, double quat[4]) {
    return sn_cone_put(joint, 0, quat);
}

/// The angles of R = R_A R_B R_C; the middle one in [-pi/2, pi/2] or, when A is C, in [0, pi].
void sn_euler_from_rotation(const int order[3], const sn_mat3 *R, double angles[3]);

/// Coordinates that give a joint the rotation R between its parent-side frame and its own; false
/// for a type that cannot take any rotation. Translations stay.
bool sn_joint_set_rotation(const sn_joint *joint, const sn_mat3 *R, double *q);

/// The rotation that a joint has now.
sn_mat3 sn_joint_rotation(const sn_joint *joint, const double *q);

/// The turn of an angle that is nearest to `near` inside the limits; where they leave it none, the limit
/// that is less of a turn away.
double sn_angle_near(double angle, double near, double lower, double upper);

/// Is velocity i an angle about an axis that a whole turn brings back?
static inline bool sn_joint_goes_round(const sn_joint *joint, int i) {
    return (joint->ops->angles >> i & 1) != 0 &&
           (joint->type != SN_JOINT_SCREW || joint->pitch == 0);
}

/// Limits less than this short of a whole turn count as one: files round.
static const double sn_turn_gap = 0.01;

/// How far coordinate i is from x0: the short way round where it goes round inside its limits, so that
/// turns are alike.
static inline double sn_joint_apart(const sn_joint *joint, int i, double x, double x0) {
    double d = x - x0;
    return (joint->whole >> i & 1) != 0 ? remainder(d, 6.283185307179586) : d;
}

/// Note whether angle i goes round inside limits a whole turn apart.
static inline void sn_joint_find_whole(sn_joint *joint, int i, double lower, double upper) {
    double range = upper - lower;
    bool whole = range >= 6.283185307179586 - sn_turn_gap && range < INFINITY;
    joint->whole &= ~(1u << i);
    if (whole && sn_joint_goes_round(joint, i)) joint->whole |= 1u << i;
}

/// A rotation about axis a through point o.
static inline sn_twist twist_about(sn_vec3 a, sn_vec3 o) { return (sn_twist){a, v3_cross(o, a)}; }

/// A translation along u.
static inline sn_twist twist_along(sn_vec3 u) { return (sn_twist){{0, 0, 0}, u}; }

/// R <- R R_i(angle): turn a frame about its own coordinate axis i.
static inline void turn_coordinate(sn_mat3 *R, int i, sn_angle angle) {
    int j = i == 2 ? 0 : i + 1, k = i == 0 ? 2 : i - 1;
    sn_vec3 cj = R->c[j], ck = R->c[k];
    R->c[j] = v3_add(v3_scale(angle.c, cj), v3_scale(angle.s, ck));
    R->c[k] = v3_sub(v3_scale(angle.c, ck), v3_scale(angle.s, cj));
}

/// R <- R exp(angle l) for a unit axis l of the frame, whose direction outside is a = R l.
///
/// Column i becomes cos c_i + sin R (l x e_i) + (1 - cos) l_i a. The cross product is taken inside the frame, so
/// that all is linear in R: outside, as a x c_i, it would add what R lacks of a rotation once more at each
/// joint, and a chain of 900 would end in infinities.
static inline void turn_axis(sn_mat3 *R, sn_vec3 l, sn_vec3 a, sn_angle angle) {
    sn_vec3 va = v3_scale(1 - angle.c, a), sl = v3_scale(angle.s, l);
    sn_vec3 x = R->c[0], y = R->c[1], z = R->c[2];
    sn_vec3 lx = v3_sub(v3_scale(sl.z, y), v3_scale(sl.y, z));
    sn_vec3 ly = v3_sub(v3_scale(sl.x, z), v3_scale(sl.z, x));
    sn_vec3 lz = v3_sub(v3_scale(sl.y, x), v3_scale(sl.x, y));
    R->c[0] = v3_add(v3_scale(angle.c, x), v3_add(lx, v3_scale(l.x, va)));
    R->c[1] = v3_add(v3_scale(angle.c, y), v3_add(ly, v3_scale(l.y, va)));
    R->c[2] = v3_add(v3_scale(angle.c, z), v3_add(lz, v3_scale(l.z, va)));
}

/// Turn about the joint's axis, the short way when it is a coordinate axis. Returns it outside.
static inline sn_vec3 turn(sn_mat3 *R, int aligned, sn_vec3 axis, sn_angle angle) {
    if (aligned >= 0) {
        sn_vec3 a = R->c[aligned];
        turn_coordinate(R, aligned, angle);
        return a;
    }
    sn_vec3 a = m3_mul(R, axis);
    turn_axis(R, axis, a, angle);
    return a;
}
