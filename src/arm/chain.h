// SPDX-License-Identifier: MIT
// A chain of turns and slides between two frames of a model, in the form the kernels want.
//
//   base -> tip  =  F_0 M_1 F_1 M_2 ... M_m F_m
//
// Every M turns about its own z by `turn` times a variable plus an offset, and slides along it by
// `slide` times the variable: the fixed frames F take up how the axes lie. Lengths are divided by
// `unit`, a power of two near the arm's length, so that steps and thresholds fit arms of every size
// and no digit is lost.
//
// An arm of hinges, or of a slide and then hinges, has a shorter form: any rotation is Rz Rx Rz, its
// outer parts are turns of the neighbours, so that F_i keeps a place and one angle.
#pragma once

#include "math/vec3.h"
#include "model/function.h"
#include "sinew/arm.h"

enum {
    SN_ARM_MOVES = 48,   ///< moves of a chain, followers included
    SN_ARM_CURVES = 16,  ///< joints that follow by a curve, or follow several
    SN_ARM_ALL = SN_ARM_MAX + SN_ARM_CURVES,
    SN_ARM_LANES = 4,
    SN_ARM_WIDE = 8,    ///< lanes of doubles with AVX-512
    SN_ARM_SCOUTS = 8,  ///< lanes of floats
    SN_ARM_TROOP = 16   ///< the same with AVX-512
};

/// x between two limits, which compilers take for two instructions; fmin() and fmax() are calls.
static inline double sn_arm_between(double x, double low, double high) {
    x = x < low ? low : x;
    return x > high ? high : x;
}

/// Where a coordinate's value comes from: scale times a number, plus an offset.
typedef struct sn_arm_drive {
    int variable;  ///< of q; SN_ARM_MAX + k: what curve k says; -1: none, it stays
    double scale, offset;
} sn_arm_drive;

/// A joint that follows by a curve, or follows several. The curves it follows come before it.
typedef struct sn_arm_curve {
    sn_coordinate coordinate;
    sn_driver driver;                     ///< of its leaders in their order
    sn_arm_drive leader[SN_MAX_LEADERS];  ///< as the model has them
    double lower, upper;                  ///< its own limits
    bool limited;                         ///< which those of its leaders do not see to
} sn_arm_curve;

/// How the next axis of the shorter form lies: few arms have others than the first two.
typedef enum sn_arm_bend { SN_ARM_PARALLEL, SN_ARM_QUARTER, SN_ARM_ANY_BEND } sn_arm_bend;

/// One turn, slide or both.
typedef struct sn_arm_move {
    int variable;  ///< which number drives it: of q, or SN_ARM_MAX + k: what curve k says
    double turn, slide, offset;
} sn_arm_move;

typedef struct sn_arm_chain {
    int n;  ///< variables
    int m;  ///< moves
    sn_arm_move move[SN_ARM_MOVES];
    sn_frame base;                 ///< F_0, lengths in units
    sn_frame fixed[SN_ARM_MOVES];  ///< F_i behind move i; the last leads to the tool
    double unit;
    double length;  ///< of the arm, in units
    double lever;   ///< from the last axis to the tool, in units

    // The shorter form, where `hinges`: q' = q + shift, and the tool is taken off the goal.
    bool hinges;
    bool lead;    ///< the first move is a slide
    bool direct;  ///< every variable has one move, in their order, and everything counts
    double shift[SN_ARM_MAX];
    double t[SN_ARM_MAX][3], cosine[SN_ARM_MAX], sine[SN_ARM_MAX];
    uint8_t ways[SN_ARM_MAX];   ///< which of t are not zero, a bit each
    uint8_t bends[SN_ARM_MAX];  ///< an sn_arm_bend
    sn_frame before, behind;    ///< of the first turn, and of the last
    sn_vec3 tip;                ///< the tool's place in the frame of the last turn

    // Of the variables, in the kernels' numbers (shifted, in units).
    double lower[SN_ARM_MAX], upper[SN_ARM_MAX];
    bool turns[SN_ARM_MAX];      ///< a whole turn on it is the same
    bool round[SN_ARM_MAX];      ///< its limits leave it a whole turn: it passes through them
    bool length_of[SN_ARM_ALL];  ///< it is in metres; of the curves too
    // The same as the model states them.
    double low[SN_ARM_MAX], high[SN_ARM_MAX], speed[SN_ARM_MAX];
    double middle[SN_ARM_MAX];  ///< of the limits; 0 where there are none
    sn_coordinate coordinate[SN_ARM_MAX];
    int place[SN_ARM_MAX];  ///< of the coordinate in a pose

    // What counts of an error.
    sn_arm_rotation rotation;
    sn_vec3 axis;  ///< of the tool
    bool place_free[3];
    bool masked;  ///< something does not count

    int ncurve;
    sn_arm_curve curve[SN_ARM_CURVES];
    bool tied;  ///< some of them is limited
} sn_arm_chain;

/// The chain between two frames by name. `options` were checked.
sn_status sn_arm_chain_make(const sn_model *model, const char *tip, const sn_arm_options *options,
                            const double *pose, sn_arm_chain *out, sn_error *error);

/// The tool's frame in the base's, metres, from the arm's q as the model states it.
sn_frame sn_arm_chain_tool(const sn_arm_chain *chain, const double *q);

/// The same, and the twist of each variable in the base's frame, its point the origin.
sn_frame sn_arm_chain_twists(const sn_arm_chain *chain, const double *q, sn_twist *twist);

/// How far a frame is from a goal, in what counts: place (metres) and turn (radians).
void sn_arm_chain_error(const sn_arm_chain *chain, const sn_frame *tool, const sn_frame *goal,
                        sn_vec3 *place, sn_vec3 *turn);

/// How many numbers of a goal count.
int sn_arm_chain_rows(const sn_arm_chain *chain);

/// From the model's numbers to the kernels' and back; back is wrapped into the limits where it can
/// be, nearest to `near` (NULL: to the middle of the limits), and then moved into them: the most that one had to be.
void sn_arm_chain_inward(const sn_arm_chain *chain, const double *q, double *inner);
double sn_arm_chain_outward(const sn_arm_chain *chain, const double *inner, const double *near,
                            double *q);
