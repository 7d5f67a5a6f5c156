// SPDX-License-Identifier: MIT
// Names that the CPU and a device share: this file is compiled by both, and has no includes.
#ifndef SN_BATCH_LISTS
#define SN_BATCH_LISTS

/// Counts.
#define SN_BATCH_COUNTS(X)                                                                         \
    X(nj)      /* joints */                                                                        \
    X(nv)      /* degrees of freedom */                                                            \
    X(nq)      /* coordinates */                                                                   \
    X(npoint)  /* points of scalar weight */                                                       \
    X(npart)   /* other parts of tasks on bodies */                                                \
    X(nrest)   /* rest poses */                                                                    \
    X(nsoft)   /* coordinates with soft limits */                                                  \
    X(nquat)   /* joints that hold a quaternion */                                                 \
    X(nlower)  /* numbers of L inside joints */                                                    \
    X(nmove)   /* moves of joints that are driven by functions */                                  \
    X(nbend)   /* how their twists change: pairs of degrees of freedom of such a joint */          \
    X(nnumber) /* of all functions */                                                              \
    X(nfork)   /* joints from which a chain goes on that does not follow them in the list */       \
    X(ngoal)   /* numbers of a row of goals */                                                     \
    X(nsum)    /* numbers that the other parts of a joint are summed into */                       \
    X(matrix)  /* 1: points with a 3 x 3 weight */                                                 \
    X(loss)    /* 1: points with a loss */                                                         \
    X(gained)  /* 1: some gain is not 1 */                                                         \
    X(pulled)  /* 1: frames are pulled to the pose before them */                                  \
    X(locals)  /* 1: rows bring the local points with them */                                      \
    X(shared)  /* 1: rows say what rest poses are multiplied with */                               \
    X(limited) /* 1: some degree of freedom has a limit */                                         \
    X(method)  /* 0 hybrid, 1 always exact, 2 always Gauss-Newton */

/// Whole numbers: name and how many.
#define SN_BATCH_INTS(X)                                                                           \
    X(type, N(nj))                                                                                 \
    X(parent, N(nj))                                                                               \
    X(q0, N(nj))                                                                                   \
    X(slot, N(nj))                                                                                 \
    X(jnv, N(nj))                                                                                  \
    X(leaf, N(nj))                                                                                 \
    X(last, N(nj))                                                                                 \
    X(turned, N(nj))                                                                               \
    X(block, N(nj))     /* its degrees of freedom are eliminated together */                       \
    X(lower0, N(nj))    /* its place in L */                                                       \
    X(fork, N(nj))      /* which of the forks it is, -1 for none */                                \
    X(quat, N(nj))      /* which of the quaternions it holds, -1 for none */                       \
    X(order, 3 * N(nj)) /* euler: axes; else those of axis and axis2, -1 for others */             \
    X(length, N(nv))    /* 1: in metres */                                                         \
    X(q_of, N(nv))      /* its coordinate, -1 in a quaternion */                                   \
    X(whole, N(nv))     /* 1: rest counts the short way round */                                   \
    X(point_first, N(nj) + 1)                                                                      \
    X(point_goal, N(npoint)) /* where its goal is in a row */                                      \
    X(point_loss, N(npoint))                                                                       \
    X(part_first, N(nj) + 1)                                                                       \
    X(part_goal, N(npart))                                                                         \
    X(part_type, N(npart))                                                                         \
    X(soft_of, N(nsoft)) /* its degree of freedom */                                               \
    X(bend0, N(nj))      /* where a joint's pairs begin */                                         \
    X(move_first, N(nj) + 1)                                                                       \
    X(move_turns, N(nmove))                                                                        \
    X(move_aligned, N(nmove))                                                                      \
    X(move_kind, N(nmove))                                                                         \
    X(move_count, N(nmove))  /* pieces, coefficients or products */                                \
    X(move_number, N(nmove)) /* where its numbers begin */                                         \
    X(move_nargument, N(nmove))                                                                    \
    X(move_argument, SN_BATCH_ARGUMENTS *N(nmove)) /* coordinates of its joint */

/// Numbers likewise.
#define SN_BATCH_NUMBERS(X)                                                                        \
    X(offset, 12 * N(nj)) /* columns of R, place */                                                \
    X(axis, 12 * N(nj))   /* axis, axis2, u, v */                                                  \
    X(pitch, N(nj))                                                                                \
    X(gain, N(nv))                                                                                 \
    X(low, N(nv))                                                                                  \
    X(high, N(nv))                                                                                 \
    X(point_local, 3 * N(npoint))                                                                  \
    X(point_weight, N(npoint))                                                                     \
    X(point_scale2, N(npoint))                                                                     \
    X(part_local, 3 * N(npart))                                                                    \
    X(part_weight, N(npart))                                                                       \
    X(part_matrix, 9 * N(npart))                                                                   \
    X(part_normal, 3 * N(npart))                                                                   \
    X(rest_q, N(nrest) * N(nq))                                                                    \
    X(rest_w, N(nrest) * N(nv))                                                                    \
    X(pull, N(pulled) * N(nv))  /* weights of a rest pose of its own for each frame */             \
    X(soft_limit, 3 * N(nsoft)) /* lower, upper, weight */                                         \
    X(move_axis, 3 * N(nmove))                                                                     \
    X(number, N(nnumber)) /* of the functions */                                                   \
    X(option, 4)          /* gradient, goal (below 0: by share), share, iterations */

/// Numbers of every lane: name and how many.
#define SN_BATCH_ARRAYS(X)                                                                         \
    X(q, N(nq)) /* the best pose so far */                                                         \
    X(x, N(nq)) /* the pose that is evaluated next */                                              \
    X(frame, 12 * N(nj))                                                                           \
    X(S, 6 * N(nv))       /* twists times gains */                                                 \
    X(bend, 6 * N(nbend)) /* how the twists of driven joints change */                             \
    X(point, 7 * N(npoint))                                                                        \
    X(bent, N(loss) * N(npoint))                                                                   \
    X(sum, N(nsum) * N(nj)) /* of the other parts */                                               \
    X(wrench, 6 * N(nj))    /* of its subtree's */                                                 \
    X(hung, 27 * N(nfork))  /* what comes from the other chains of a fork */                       \
    X(Y, 6 * N(nv))                                                                                \
    X(diagonal, N(nv)) /* what a factorisation adds */                                             \
    X(inverse, N(nv))                                                                              \
    X(lower, N(nlower))                                                                            \
    X(twist, 6 * N(nj))      /* of a body along a step */                                          \
    X(rest_h, 12 * N(nquat)) /* second derivatives of rest poses of quaternions */                 \
    X(own, N(nv))            /* those of all other coordinates' terms */                           \
    X(g, N(nv))                                                                                    \
    X(seen, N(nv))                                                                                 \
    X(scale, N(nv))                                                                                \
    X(keep, N(nv))                                                                                 \
    X(open, N(nv))                                                                                 \
    X(step, N(nv))                                                                                 \
    X(plain, N(nv))                                                                                \
    X(fixed, N(nv))                                                                                \
    X(y, N(nv))                                                                                    \
    X(z, N(nv))                                                                                    \
    X(anchor, N(pulled) * N(nq)) /* what a frame is pulled to */                                   \
    X(lane, SN_LANE_COUNT)

/// Numbers of a lane's state.
enum {
    SN_LANE_STATE,
    SN_LANE_STOP,
    SN_LANE_F,
    SN_LANE_FIRST,
    SN_LANE_LAMBDA,
    SN_LANE_REACH,
    SN_LANE_GROWTH,
    SN_LANE_FAILED,
    SN_LANE_GRADIENT,
    SN_LANE_PROMISE,
    SN_LANE_NOISE,
    SN_LANE_WHOLE,
    SN_LANE_GOAL,
    SN_LANE_EXACT,
    SN_LANE_CROSSED,
    SN_LANE_ITERATIONS,
    SN_LANE_FACTORS,
    SN_LANE_TRIES,
    SN_LANE_LONGS,
    SN_LANE_ROUND,
    SN_LANE_ACTIVE,
    SN_LANE_SLOPE,
    SN_LANE_BEND,
    SN_LANE_LENGTH,
    SN_LANE_MOST,
    SN_LANE_MOST2,
    SN_LANE_CRAWLS,
    SN_LANE_SLOW,
    SN_LANE_NEAR,     ///< 1: a stride begins near the bottom; on the processor
    SN_LANE_REFUSED,  ///< 1: the exact Hessian was not positive definite on a stride's way
    SN_LANE_JUMP,     ///< f above which a start is solved with the exact Hessian; on the processor
    SN_LANE_SHARE,    ///< what rest poses are multiplied with
    SN_LANE_PULL,     ///< 1: it is pulled, 0: it is not
    SN_LANE_ORIGIN,
    SN_LANE_ORIGIN_Y,
    SN_LANE_ORIGIN_Z,
    SN_LANE_COUNT
};

/// What a lane does in its next trip.
enum {
    SN_STATE_IDLE,
    SN_STATE_START,   ///< look at the start
    SN_STATE_TRIAL,   ///< look at where a step led
    SN_STATE_AGAIN,   ///< another step from the same pose
    SN_STATE_REFINE,  ///< the same with some degrees of freedom put at their limits
    SN_STATE_PROBE,   ///< look at f, and be done
    SN_STATE_DONE
};

/// How a lane ended; the last two are left to the plain solver.
enum {
    SN_END_GOAL,
    SN_END_MINIMUM,
    SN_END_STALLED,
    SN_END_ITERATIONS,
    SN_END_PROBED,
    SN_END_SADDLE,
    SN_END_ODD
};

/// Kinds of joints and of losses.
enum {
    SN_BATCH_FIXED,
    SN_BATCH_HINGE,
    SN_BATCH_SLIDER,
    SN_BATCH_SCREW,
    SN_BATCH_UNIVERSAL,
    SN_BATCH_EULER,
    SN_BATCH_BALL,
    SN_BATCH_EXPMAP,
    SN_BATCH_SWING_TWIST,
    SN_BATCH_PLANAR,
    SN_BATCH_TRANSLATION,
    SN_BATCH_FREE,
    SN_BATCH_DRIVEN
};
/// Kinds of functions, and the most arguments of one.
enum {
    SN_DRIVE_PIECES,  ///< cubics, five numbers each: where it begins, then its coefficients from there
    SN_DRIVE_POLYNOMIAL,
    SN_DRIVE_PRODUCTS,
    SN_DRIVE_LINEAR,
    SN_DRIVE_SINE
};
#define SN_BATCH_ARGUMENTS 6
enum { SN_BATCH_HUBER = 1, SN_BATCH_CAUCHY = 2 };

/// Kinds of parts.
enum { SN_BATCH_POINT, SN_BATCH_PLANE, SN_BATCH_DIRECTION, SN_BATCH_ORIENTATION };

/// Some coordinates have terms of their own; how many rest poses a lane has, the frame's own behind the others.
#define SN_BATCH_OWN   (N(nrest) + N(nsoft) + N(pulled) > 0)
#define SN_BATCH_RESTS (N(nrest) + N(pulled))

/// Counters of a device: chains, rows of the first list and of the second that are taken; how many those have.
enum { SN_NEXT_CHAIN, SN_NEXT_ROW, SN_NEXT_ROW2, SN_NEXT_COUNT, SN_NEXT_COUNT2, SN_NEXT_SIZE };

/// Where the second list of sums begins: what 3 x 3 weights add.
#define SN_SUM_MATRIX 18

#endif
