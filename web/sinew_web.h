// SPDX-License-Identifier: MIT
// What the page calls: plain integers and doubles, and pointers into the one memory. Nothing called
// during a drag allocates (web_goal_move, web_goal_turn, web_begin, web_solve, web_commit,
// web_place, ...), so the page's views into the memory stay valid.
//
// There is one stage: a figure, its pose, its goals, and up to three solvers (lanes) that all start
// from the same pose. Lane 0 moves the figure, the others are ghosts.
#pragma once

#include "sinew/sinew.h"

#ifdef __wasm__
#define WEB(name) __attribute__((export_name(#name))) name
#else
#define WEB(name) name
#endif

enum { WEB_LANES = 3, WEB_GOALS = 64, WEB_ITERATIONS = 200 };

enum { WEB_POSITION, WEB_ORIENTATION, WEB_BOTH };      // kinds of goal
enum { WEB_FROM_LAST, WEB_FROM_REST, WEB_FROM_ZERO };  // where solves start
enum { WEB_HUMANOID, WEB_HAND, WEB_ARM, WEB_SPIDER, WEB_CHAIN, WEB_FIGURES };

// -- what the page does for the module

/// Told how far the preparation of a take is, 0 to 1.
#ifdef __wasm__
__attribute__((import_module("page"), import_name("progress"))) void page_progress(double share);
#else
static inline void page_progress(double share) { (void)share; }
#endif

// -- memory and messages: stage.c

/// Room for `bytes` bytes that the page fills (a file, its name); valid until the next call. NULL
/// when memory is out.
void *WEB(web_buffer)(int bytes);
/// The sentence of the last failure, or "".
const char *WEB(web_message)(void);

// -- the figure: stage.c, figures.c

/// One of the built-in figures, at its zero pose, with no goals. An sn_status.
int WEB(web_figure)(int which);
const char *WEB(web_name)(void);
int WEB(web_njoint)(void);
int WEB(web_nq)(void);
int WEB(web_nv)(void);
const char *WEB(web_joint_name)(int joint);
int WEB(web_joint_parent)(int joint);  ///< -1 for the root
int WEB(web_joint_type)(int joint);
int WEB(web_joint_q)(int joint);  ///< its first coordinate
int WEB(web_joint_v)(int joint);  ///< its first velocity; the next joint's ends it
/// Where its bone ends, in its own frame: 3 doubles, NaN when the file does not say.
const double *WEB(web_joint_tip)(int joint);
/// Collision shapes. One is 12 doubles: its sn_shape_type, its joint (-1 for the world), from, to, normal, radius.
int WEB(web_nshape)(void);
const double *WEB(web_shape)(int shape);
const double *WEB(web_lower)(void);  ///< nv limits as the file has them
const double *WEB(web_upper)(void);

/// Limits on or off, and which joints are locked (njoint flags). Makes the model, the problem and
/// the solvers anew; the pose stays. An sn_status.
int WEB(web_restrict)(int limits, const unsigned char *locked);

// -- poses

double *WEB(web_q)(void);     ///< nq, the pose shown; may be written
double *WEB(web_rest)(void);  ///< nq, the rest pose; may be written
/// nq, the pose that joints are gently drawn to in every solve; may be written.
double *WEB(web_ease)(void);
/// Make a written pose a good one: unit quaternions, finite, joints that mimic others where those
/// put them. 0 when it was not finite.
int WEB(web_tidy)(double *q);
/// Between two poses, rotations by slerp: at t = 0 the first, at 1 the second.
void WEB(web_blend)(const double *a, const double *b, double t, double *out);
/// Joint frames at the pose of a lane (0: the pose shown): njoint 4 x 4 matrices, column-major.
const float *WEB(web_place)(int lane);
/// nv numbers: -1 or 1 where the pose shown is held at its lower or upper limit, else 0.
const signed char *WEB(web_held)(void);

// -- goals

void WEB(web_goal_set)(int goal, int joint, int kind, double weight, double lx, double ly,
                       double lz, double x, double y, double z, double qw, double qx, double qy,
                       double qz);
/// The first `count` goals that were set are the problem now. An sn_status.
int WEB(web_goals)(int count);
void WEB(web_goal_move)(int goal, double x, double y, double z);
void WEB(web_goal_turn)(int goal, double w, double x, double y, double z);
/// Of the pose shown: the point's place (3), its rotation (4), distance and angle to the goal.
const double *WEB(web_goal_state)(int goal);

// -- solving

int WEB(web_method_count)(void);
const char *WEB(web_method_name)(int method);
int WEB(web_method_available)(int method);
/// The method of a lane, -1 for none, and how many iterations it may take. An sn_status.
int WEB(web_lane)(int lane, int method, int iterations);

/// Choose where the next solves start.
void WEB(web_begin)(int from);
/// Solve in a lane from there. An sn_status.
int WEB(web_solve)(int lane);
/// The same again, watched. Returns how many entries web_trace_entries() has.
int WEB(web_trace)(int lane);
/// The pose of lane 0 becomes the pose shown; where some joint would turn by more than `most` radians,
/// all go only as far as that joint may. 1: all the way, 0: there is some of it left.
int WEB(web_commit)(double most);

/// Of the last solve: stop, f, relative gradient, worst error, iterations, limits that hold.
const double *WEB(web_report)(int lane);
const char *WEB(web_stop_text)(int stop);
/// Per entry 8 numbers, the first entry at the start pose: f, worst distance to a goal in metres,
/// relative gradient, negative eigenvalues of the exact Hessian of what is free to move, those that
/// are zero, held limits, exact Hessian used, step taken.
const double *WEB(web_trace_entries)(int lane);

// -- files: files.c

/// What web_open() found, added up; 0 for a file that cannot be used.
enum { WEB_MODEL = 1, WEB_MOTION = 2, WEB_MARKERS = 4 };
/// Read the file in web_buffer(): its name, a zero, whose markers of several subjects' are meant ("" for
/// none), a zero, then `bytes` bytes. 0: see web_message(); all stays as it was. Else web_message() is
/// what its reader left out or decided, "" for nothing. `metres`: per unit of a BVH file, 0 to guess it.
int WEB(web_open)(int bytes, double metres);
/// Where web_open() refused a recording because it has several subjects: who they are, else none.
int WEB(web_nsubject)(void);
const char *WEB(web_subject)(int subject);

enum { WEB_BVH, WEB_GLB };
/// Write poses as a file: `nframe` poses of nq numbers in web_buffer(), or 0 for those of the take.
/// Its size in bytes, -1 when it could not be written: see web_message().
int WEB(web_save)(int kind, int nframe, double rate);
const char *WEB(web_saved)(void);

// -- takes: take.c

int WEB(web_take_frames)(void);   ///< 0 without a take
double WEB(web_take_rate)(void);  ///< frames per second
/// The pose shown becomes that of a frame, between frames by slerp.
void WEB(web_take_pose)(double frame);
int WEB(web_take_markers)(void);
/// Per marker 6 floats, measured and fitted, at a frame and the pose shown; NaN for what is missing.
const float *WEB(web_take_places)(double frame);
/// All poses, web_take_frames() times web_nq() numbers; NULL without a take.
const double *WEB(web_take_poses)(void);
/// Fit poses to markers that came without a motion, `frames` more of them: how many are done, which can
/// be looked at. -1 when memory is out.
int WEB(web_take_fit)(int frames);
/// What needs the whole take, once all frames are done: it may move them. However the frames were cut,
/// the poses have the same bits then, those of `sinew fit --calibrate=scale`. An sn_status.
int WEB(web_take_finish)(void);
/// What a person should know about the fit: how many, whether one is a warning (1) or a note (0), and
/// its sentence, valid until the next call.
int WEB(web_take_nfinding)(void);
int WEB(web_take_severity)(int finding);
const char *WEB(web_take_finding)(int finding);
void WEB(web_take_close)(void);
