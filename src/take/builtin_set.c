// SPDX-License-Identifier: MIT
// The marker sets that are known by their labels: the full body of HDM05 and CMU (41 markers after Vicon's
// Plug-in Gait), other sets' names for the same places and places of their own, keypoints of markerless systems; for
// any human figure with usual names of joints or bodies.
//
// First guesses of the places are given in the body's own directions at the zero pose (left, up, forward,
// found from hips, head and the plane they span), so that they hold whatever way a skeleton's axes lie.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "math/vec3.h"
#include "model/model.h"
#include "sinew/eval.h"
#include "take/body.h"
#include "take/marker_set.h"

typedef enum use { USUAL, MORE, KEYPOINT } use;

typedef struct spot {
    const char *name;  // '#' is L or R
    // other names, in lower case without signs and side; '#' is the side where it stands in the middle
    const char *other;
    sn_body on;
    double
        along;  // share of the bone; on the trunk, of the height from the hips to the head's joint
    double move[3];  // then left (outward for a side), up, forward; metres on a figure of 1.75 m
    double doubt;    // how far off that is on a person, a standard deviation, metres
    use in;  // MORE: other sets than the 41 of HDM05; KEYPOINT: markerless, where joints are
} spot;

// Of a keypoint on the pelvis: between the hips.
#define AT_HIPS 2

// Means over takes of two people whose motion is known. On the trunk heights are shares of the whole:
// skeletons cut the spine into bones in many ways. How far forward thigh, knee and shin markers sit is the mean
// over four people as calibrations find it: the motions that come with takes have these markers 1 to 3 cm further
// back than any calibration puts them.
//
// How far off: a finger finds the side of a knee or an elbow to a centimetre, but what counts is where that is about the
// axis that the skeleton's file gives the joint, and files are off by more; held tighter, thighs and upper arms stay
// turned about their bones until a take bends the joint far. A shoulder's skin goes furthest of all with the arm: what
// a take says of that place depends on what its arms do, so less of it is believed.
static const spot spots[] = {
    {"#FHD", "fhd fronthead", SN_BODY_HEAD, 0, {0.083, 0.155, 0.10}, 0.018, USUAL},
    {"#BHD", "bhd backhead", SN_BODY_HEAD, 0, {0.062, 0.08, -0.03}, 0.025, USUAL},
    {"C7", "c7 spinetop backtop cv7", SN_BODY_NECK, 0.92, {0, 0, -0.05}, 0.03, USUAL},
    {"T10",
     "t10 t8 spinethoracic12 tv8 tv10",
     SN_BODY_LOWER_BACK,
     0.59,
     {0, 0, -0.13},
     0.04,
     USUAL},
    {"CLAV",
     "clav ij sternumtop jugular clavicle",
     SN_BODY_THORAX,
     0.81,
     {0, 0, 0.09},
     0.03,
     USUAL},
    {"STRN",
     "strn sternum px xiph xiphoid chest",
     SN_BODY_UPPER_BACK,
     0.575,
     {0, 0, 0.135},
     0.03,
     USUAL},
    {"RBAC", "rbac rbak backright", SN_BODY_UPPER_BACK, 0.76, {-0.115, 0, -0.11}, 0.05, USUAL},
    {"#SHO",
     "sho shoulder acr acromion acromium acrom shouldertop ac",
     SN_BODY_CLAVICLE,
     0.88,
     {0, 0.065, 0},
     0.0075,
     USUAL},
    {"#UPA",
     "upa uarmhigh upperarm uarm arm bicep humerus",
     SN_BODY_UPPER_ARM,
     0.4,
     {0, 0.02, -0.02},
     0.04,
     USUAL},
    {"#ELB",
     "elb elbowout elbowlat elblat lel hle el elbow",
     SN_BODY_UPPER_ARM,
     0.97,
     {0, 0.045, -0.03},
     0.027,
     USUAL},
    {"#FRM", "frm fra forearm farm", SN_BODY_FOREARM, 0.6, {0, 0.045, -0.02}, 0.03, USUAL},
    {"#WRA",
     "wra wristin wristrad wristradius faradius rs radialstyloid wristthumb",
     SN_BODY_WRIST,
     0.77,
     {0, 0.05, 0.07},
     0.02,
     USUAL},
    {"#WRB",
     "wrb wristout wristuln wristulna faulna us ulnarstyloid wristpinkie",
     SN_BODY_WRIST,
     0.83,
     {0, 0.05, -0.07},
     0.02,
     USUAL},
    {"#FIN", "fin hand handout handin", SN_BODY_FINGERS, 0.5, {0, 0.04, 0.01}, 0.02, USUAL},
    {"#FWT", "fwt asi asis waist#front ias", SN_BODY_PELVIS, 0, {0.14, 0.022, 0.106}, 0.015, USUAL},
    {"#BWT",
     "bwt psi psis waist#back ips",
     SN_BODY_PELVIS,
     0,
     {0.088, 0.018, -0.095},
     0.025,
     USUAL},
    {"#THI",
     "thi thigh thighupper thighfrontlow",
     SN_BODY_THIGH,
     0.48,
     {0.095, 0, -0.005},
     0.035,
     USUAL},
    {"#KNE",
     "kne knee kneelat kneeout lfc fle le latknee kneelateral",
     SN_BODY_THIGH,
     0.91,
     {0.069, 0, -0.013},
     0.04,
     USUAL},
    {"#SHN",
     "shn tib shank shin shinfronthigh tibia",
     SN_BODY_SHIN,
     0.38,
     {0.088, 0, -0.012},
     0.05,
     USUAL},
    {"#ANK",
     "ank ankle anklelat ankleout lm fal lmal latankle lmalleolus",
     SN_BODY_FOOT,
     0,
     {0.046, 0.014, 0.002},
     0.015,
     USUAL},
    {"#HEE",
     "hee heel cal calc fcc heelback",
     SN_BODY_FOOT,
     0,
     {0.004, -0.058, -0.055},
     0.02,
     USUAL},
    {"#TOE",
     "toe forefoot2 fm2 mt2 toemid meta2",
     SN_BODY_TOES,
     0,
     {0, -0.01, 0.065},
     0.012,
     USUAL},
    {"#MT5",
     "mt5 fm5 5meta meta5 forefoot5 toeout toelat vmh d5m 5mt",
     SN_BODY_TOES,
     0,
     {0.062, 0.006, 0.03},
     0.02,
     USUAL},
    // other sets: Plug-in Gait's variants, Helen Hayes, CAST and ISB, OptiTrack, Qualisys
    {"HEADTOP", "headtop tophead vertex", SN_BODY_HEAD, 0, {0, 0.19, 0.02}, 0.025, MORE},
    {"HEADFRONT", "headfront glabella", SN_BODY_HEAD, 0, {0, 0.14, 0.11}, 0.025, MORE},
    {"#HEAD", "headside temple head", SN_BODY_HEAD, 0, {0.08, 0.10, 0.02}, 0.025, MORE},
    {"SACR", "sacr vsacral sacrum sacral vsac", SN_BODY_PELVIS, 0, {0, 0.02, -0.11}, 0.02, MORE},
    {"#ILC", "ilc ilcr iliaccrest ic crest", SN_BODY_PELVIS, 0, {0.14, 0.07, 0.02}, 0.03, MORE},
    {"#GT", "gt gtr troch trochanter greattroch ftc", SN_BODY_THIGH, 0, {0.08, 0, 0}, 0.03, MORE},
    {"#THR", "thighfront thap thl", SN_BODY_THIGH, 0.5, {0.03, 0, 0.07}, 0.05, MORE},
    {"#THB", "thighrear thl2", SN_BODY_THIGH, 0.6, {0.08, 0, -0.03}, 0.05, MORE},
    {"PV1", "pv1", SN_BODY_PELVIS, 0, {0.03, 0.05, -0.11}, 0.08, MORE},
    {"PV2", "pv2", SN_BODY_PELVIS, 0, {-0.03, 0.05, -0.11}, 0.08, MORE},
    {"PV3", "pv3", SN_BODY_PELVIS, 0, {0.03, 0, -0.11}, 0.08, MORE},
    {"PV4", "pv4", SN_BODY_PELVIS, 0, {-0.03, 0, -0.11}, 0.08, MORE},
    {"#TH1", "th1", SN_BODY_THIGH, 0.4, {0.07, 0, 0.02}, 0.08, MORE},
    {"#TH2", "th2", SN_BODY_THIGH, 0.5, {0.07, 0, 0.02}, 0.08, MORE},
    {"#TH3", "th3", SN_BODY_THIGH, 0.6, {0.07, 0, 0.02}, 0.08, MORE},
    {"#TH4", "th4", SN_BODY_THIGH, 0.5, {0.07, 0, 0.02}, 0.08, MORE},
    {"#KNM",
     "knm knem kneemed kneein mfc fme me mknee mkne medknee kneemedial",
     SN_BODY_THIGH,
     0.91,
     {-0.045, 0, -0.02},
     0.02,
     MORE},
    {"#TTC", "ttc tt tibialtuberosity", SN_BODY_SHIN, 0.1, {0, 0, 0.05}, 0.025, MORE},
    {"#HF", "hf fax fibula fibhead headfibula", SN_BODY_SHIN, 0.06, {0.05, 0, -0.03}, 0.025, MORE},
    {"#SHF", "shankfront tiap shankupper", SN_BODY_SHIN, 0.3, {0.03, 0, 0.04}, 0.05, MORE},
    {"#SKR", "shankrear", SN_BODY_SHIN, 0.4, {0.06, 0, -0.03}, 0.05, MORE},
    {"#SK1", "sk1 sh1 tb1", SN_BODY_SHIN, 0.3, {0.05, 0, 0.01}, 0.08, MORE},
    {"#SK2", "sk2 sh2 tb2", SN_BODY_SHIN, 0.4, {0.05, 0, 0.01}, 0.08, MORE},
    {"#SK3", "sk3 sh3 tb3", SN_BODY_SHIN, 0.5, {0.05, 0, 0.01}, 0.08, MORE},
    {"#SK4", "sk4 sh4 tb4", SN_BODY_SHIN, 0.4, {0.05, 0, 0.01}, 0.08, MORE},
    {"#FT1", "ft1", SN_BODY_FOOT, 0.3, {0.02, 0.03, 0}, 0.07, MORE},
    {"#FT2", "ft2", SN_BODY_FOOT, 0.5, {0.02, 0.03, 0}, 0.07, MORE},
    {"#FT3", "ft3", SN_BODY_FOOT, 0.7, {0.02, 0.03, 0}, 0.07, MORE},
    {"#FT4", "ft4", SN_BODY_FOOT, 0.5, {-0.02, 0.03, 0}, 0.07, MORE},
    {"#ANM",
     "anm ankm anklemed anklein mm tam mmal mankle medankle mma mmalleolus",
     SN_BODY_FOOT,
     0,
     {-0.04, 0.02, 0.01},
     0.02,
     MORE},
    {"#MT1",
     "mt1 fm1 meta1 forefoot1 toein toemed d1m 1mt p1mt",
     SN_BODY_TOES,
     0,
     {-0.035, 0.005, 0.03},
     0.02,
     MORE},
    {"#TIP", "toetip hallux", SN_BODY_TOES, 0, {0, 0, 0.09}, 0.025, MORE},
    {"#SHB", "shoulderback psh", SN_BODY_CLAVICLE, 0.8, {0, 0, -0.07}, 0.03, MORE},
    {"#ASH", "shoulderfront ash", SN_BODY_CLAVICLE, 0.85, {0, 0, 0.06}, 0.03, MORE},
    {"#ELM",
     "elm elbowin elbowmed elbmed mel hme em",
     SN_BODY_UPPER_ARM,
     0.97,
     {0, -0.035, 0.02},
     0.02,
     MORE},
    // keypoints of markerless systems: Halpe-26, COCO-17, BODY-25, BlazePose
    {"NOSE", "nose", SN_BODY_HEAD, 0, {0, 0.06, 0.12}, 0.025, KEYPOINT},
    {"#EYE", "eye", SN_BODY_HEAD, 0, {0.033, 0.09, 0.1}, 0.025, KEYPOINT},
    {"#EAR", "ear", SN_BODY_HEAD, 0, {0.075, 0.07, 0.02}, 0.025, KEYPOINT},
    {"TOP", "head", SN_BODY_HEAD, 0, {0, 0.19, 0.02}, 0.03, KEYPOINT},
    {"NECK", "neck", SN_BODY_NECK, 0.92, {0, 0, 0}, 0.03, KEYPOINT},
    {"#SHOULDER", "shoulder", SN_BODY_UPPER_ARM, 0, {0, 0, 0}, 0.02, KEYPOINT},
    {"#ELBOW", "elbow", SN_BODY_FOREARM, 0, {0, 0, 0}, 0.015, KEYPOINT},
    {"#WRIST", "wrist", SN_BODY_FOREARM, 1, {0, 0, 0}, 0.015, KEYPOINT},
    {"#INDEX", "index pinky thumb", SN_BODY_FINGERS, 0.5, {0, 0, 0}, 0.03, KEYPOINT},
    {"HIP", "hip midhip pelvis", SN_BODY_PELVIS, AT_HIPS, {0, 0, 0}, 0.02, KEYPOINT},
    {"#HIP", "hip", SN_BODY_THIGH, 0, {0, 0, 0}, 0.02, KEYPOINT},
    {"#KNEE", "knee", SN_BODY_SHIN, 0, {0, 0, 0}, 0.015, KEYPOINT},
    {"#ANKLE", "ankle", SN_BODY_FOOT, 0, {0, 0, 0}, 0.015, KEYPOINT},
    {"#BIGTOE", "bigtoe footindex", SN_BODY_TOES, 0, {-0.02, 0, 0.07}, 0.02, KEYPOINT},
    {"#SMALLTOE", "smalltoe", SN_BODY_TOES, 0, {0.045, 0, 0.04}, 0.02, KEYPOINT},
};

enum { NSPOT = (int)(sizeof spots / sizeof spots[0]) };

// Where joints are a body's own, as in OpenSim's models: the same spots there, from a part that need not be the one that
// carries them, arms hanging. Skeletons that were made for animation have their knees lower and their feet thicker.
typedef struct on_bones {
    const char *name;
    sn_body on, from;
    double along;
    double move[3];
    double doubt;
} on_bones;

// On trunk and pelvis heights are shares as above. Means over the marker sets of three laboratories' OpenSim models.
static const on_bones bones[] = {
    {"C7", SN_BODY_NECK, SN_BODY_NECK, 0.82, {0, 0, -0.086}, 0.025},
    {"NECK", SN_BODY_NECK, SN_BODY_NECK, 0.82, {0, 0, -0.03}, 0.03},
    {"CLAV", SN_BODY_THORAX, SN_BODY_THORAX, 0.77, {0, 0, 0.032}, 0.025},
    {"#FWT", SN_BODY_PELVIS, SN_BODY_PELVIS, 0, {0.125, 0.023, 0.09}, 0.015},
    {"#BWT", SN_BODY_PELVIS, SN_BODY_PELVIS, 0, {0.044, 0.038, -0.082}, 0.015},
    {"SACR", SN_BODY_PELVIS, SN_BODY_PELVIS, 0, {0, 0.03, -0.08}, 0.015},
    {"#SHO", SN_BODY_CLAVICLE, SN_BODY_UPPER_ARM, 0, {-0.033, 0.048, -0.004}, 0.012},
    {"#SHB", SN_BODY_CLAVICLE, SN_BODY_UPPER_ARM, 0, {-0.005, -0.007, -0.07}, 0.03},
    {"#ASH", SN_BODY_CLAVICLE, SN_BODY_UPPER_ARM, 0, {-0.005, -0.005, 0.03}, 0.03},
    {"#ELB", SN_BODY_UPPER_ARM, SN_BODY_UPPER_ARM, 1, {0.024, 0.021, 0.006}, 0.015},
    {"#ELM", SN_BODY_UPPER_ARM, SN_BODY_UPPER_ARM, 1, {-0.06, 0.016, -0.003}, 0.015},
    {"#WRA", SN_BODY_FOREARM, SN_BODY_FOREARM, 1, {0.028, 0.01, -0.006}, 0.015},
    {"#WRB", SN_BODY_FOREARM, SN_BODY_FOREARM, 1, {-0.028, 0.01, -0.019}, 0.015},
    {"#KNE", SN_BODY_THIGH, SN_BODY_THIGH, 1, {0.053, 0.006, 0.002}, 0.015},
    {"#KNM", SN_BODY_THIGH, SN_BODY_THIGH, 1, {-0.053, 0.005, 0.002}, 0.015},
    {"#ANK", SN_BODY_SHIN, SN_BODY_SHIN, 1, {0.049, 0.004, -0.008}, 0.012},
    {"#ANM", SN_BODY_SHIN, SN_BODY_SHIN, 1, {-0.036, 0.011, 0.006}, 0.012},
    {"#HEE", SN_BODY_FOOT, SN_BODY_FOOT, 0, {-0.006, 0.024, -0.025}, 0.015},
    {"#TOE", SN_BODY_FOOT, SN_BODY_TOES, 0, {-0.01, 0.03, 0.012}, 0.015},
    {"#MT5", SN_BODY_FOOT, SN_BODY_TOES, 0, {0.06, 0.003, -0.02}, 0.02},
    {"#MT1", SN_BODY_FOOT, SN_BODY_TOES, 0, {-0.033, 0.004, 0.015}, 0.015},
    {"#TIP", SN_BODY_TOES, SN_BODY_TOES, 0, {0, 0.005, 0.085}, 0.02},
};

// A figure with fewer matches is none of ours.
enum { LEAST_SPOTS = 8 };

// The body at the zero pose.
typedef struct body {
    const sn_model *model;
    const sn_workspace *ws;
    sn_vec3 left, up, forward;
    sn_vec3 hips, head;  // between the thighs' joints, and the head's
    double size;         // height over 1.75 m
    bool bones;          // parts are bodies with names of their own, as in an .osim file
} body;

static sn_vec3 place(const body *b, int joint) { return sn_workspace_frame(b->ws, joint).p; }

static bool find_directions(body *b) {
    int thigh[2] = {sn_body_carrier(b->model, SN_BODY_THIGH, 0),
                    sn_body_carrier(b->model, SN_BODY_THIGH, 1)};
    int foot[2] = {sn_body_carrier(b->model, SN_BODY_FOOT, 0),
                   sn_body_carrier(b->model, SN_BODY_FOOT, 1)};
    int head = sn_body_carrier(b->model, SN_BODY_HEAD, 0);
    int arm[2] = {sn_body_carrier(b->model, SN_BODY_UPPER_ARM, 0),
                  sn_body_carrier(b->model, SN_BODY_UPPER_ARM, 1)};
    if (thigh[0] < 0 || thigh[1] < 0 || foot[0] < 0 || foot[1] < 0) return false;
    sn_vec3 left = v3_sub(place(b, thigh[0]), place(b, thigh[1]));
    sn_vec3 low = v3_scale(0.5, v3_add(place(b, foot[0]), place(b, foot[1])));
    b->hips = v3_scale(0.5, v3_add(place(b, thigh[0]), place(b, thigh[1])));
    // without a head: where it would be above the shoulders, or above the hips
    sn_vec3 high = v3_add(low, v3_scale(1.8, v3_sub(b->hips, low)));
    if (head >= 0) {
        high = place(b, head);
    } else if (arm[0] >= 0 && arm[1] >= 0) {
        high = v3_scale(0.5, v3_add(place(b, arm[0]), place(b, arm[1])));
        high = v3_add(high, v3_scale(0.12, v3_sub(high, low)));
    }
    sn_vec3 up = v3_sub(high, low);
    sn_vec3 forward = v3_cross(left, up);
    if (!(v3_norm(forward) > 1e-9)) return false;
    b->up = v3_scale(1 / v3_norm(up), up);
    b->forward = v3_scale(1 / v3_norm(forward), forward);
    b->left = v3_cross(b->up, b->forward);
    b->head = high;
    b->size = v3_norm(up) / 1.5;  // from the ankles to the head's joint
    b->bones = sn_body_part(b->model, SN_BODY_THIGH, 0) < 0;
    return true;
}

// Where a part begins, which may be welded to another one's joint.
static sn_vec3 origin(const body *b, sn_body part, int side, int joint) {
    int frame = b->bones ? sn_body_frame(b->model, part, side) : -1;
    if (frame < 0 || sn_model_frame(b->model, frame)->joint != joint) return place(b, joint);
    sn_frame at = sn_workspace_frame(b->ws, joint);
    sn_frame in = sn_frame_place(sn_model_frame(b->model, frame));
    return v3_add(at.p, m3_mul(&at.R, in.p));
}

// The bone's end: the mean of the joint's children that leave it; a leaf goes on the way it came, 9 cm.
static sn_vec3 bone_vector(const body *b, int joint) {
    sn_vec3 sum = v3(0, 0, 0);
    int n = 0;
    for (int j = 0; j < sn_model_njoint(b->model); j++) {
        if (sn_model_parent(b->model, j) != joint) continue;
        sn_vec3 d = v3_sub(place(b, j), place(b, joint));
        if (v3_norm(d) > 1e-6) sum = v3_add(sum, d), n++;
    }
    if (n > 0) return v3_scale(1.0 / n, sum);
    for (int j = sn_model_parent(b->model, joint); j >= 0; j = sn_model_parent(b->model, j)) {
        sn_vec3 d = v3_sub(place(b, joint), place(b, j));
        if (v3_norm(d) > 1e-6) return v3_scale(0.09 * b->size / v3_norm(d), d);
    }
    return sum;
}

// From where a part begins to where the next one does.
static sn_vec3 part_vector(const body *b, sn_body part, int side, int joint) {
    static const sn_body next[SN_BODY_PARTS] = {[SN_BODY_UPPER_ARM] = SN_BODY_FOREARM,
                                                [SN_BODY_FOREARM] = SN_BODY_FINGERS,
                                                [SN_BODY_THIGH] = SN_BODY_SHIN};
    sn_body end = b->bones ? next[part] : SN_BODY_PELVIS;
    int carrier = end != SN_BODY_PELVIS ? sn_body_carrier(b->model, end, side) : -1;
    if (carrier < 0) return bone_vector(b, joint);
    return v3_sub(origin(b, end, side, carrier), origin(b, part, side, joint));
}

static bool is_trunk(sn_body part) { return part >= SN_BODY_LOWER_BACK && part <= SN_BODY_NECK; }

// Where along its bone, or up the trunk, a spot lies, from its joint.
static sn_vec3 way_along(const body *b, const spot *s, int side, int joint) {
    if (s->on == SN_BODY_CLAVICLE && joint == sn_body_carrier(b->model, SN_BODY_THORAX, 0)) {
        // no collar bones: the shoulders are the trunk's
        double height = (b->bones ? 0.71 : 0.93) * v3_dot(v3_sub(b->head, b->hips), b->up);
        sn_vec3 up = v3_scale(height - v3_dot(v3_sub(place(b, joint), b->hips), b->up), b->up);
        return v3_add(up, v3_scale((side == 0 ? 0.16 : -0.16) * s->along * b->size, b->left));
    }
    if (!is_trunk(s->on))
        return v3_add(v3_sub(origin(b, s->on, side, joint), place(b, joint)),
                      v3_scale(s->along, part_vector(b, s->on, side, joint)));
    double height = s->along * v3_dot(v3_sub(b->head, b->hips), b->up);
    return v3_scale(height - v3_dot(v3_sub(place(b, joint), b->hips), b->up), b->up);
}

static bool hangs(const body *b, int side) {
    int arm = sn_body_carrier(b->model, SN_BODY_UPPER_ARM, side),
        forearm = sn_body_carrier(b->model, SN_BODY_FOREARM, side);
    if (arm < 0 || forearm < 0) return false;
    sn_vec3 way = v3_sub(place(b, forearm), place(b, arm));
    return v3_dot(way, b->up) < -0.7 * v3_norm(way);
}

static const on_bones *spot_on_bones(const body *b, const spot *s) {
    for (size_t i = 0; b->bones && i < sizeof bones / sizeof bones[0]; i++)
        if (strcmp(bones[i].name, s->name) == 0) return &bones[i];
    return NULL;
}

// From its joint; false where a part is missing.
static bool find_on_bones(const body *b, const on_bones *s, int side, int *joint, sn_vec3 *at) {
    int on = sn_body_carrier(b->model, s->on, side),
        from = sn_body_carrier(b->model, s->from, side);
    if (on < 0 || from < 0) return false;
    sn_vec3 out = v3_scale(side == 0 ? 1 : -1, b->left);
    *joint = on;
    *at = v3_sub(origin(b, s->from, side, from), place(b, on));
    *at = v3_add(*at, v3_scale(s->along, part_vector(b, s->from, side, from)));
    *at = v3_add(*at, v3_scale(s->move[0] * b->size, out));
    *at = v3_add(*at, v3_scale(s->move[1] * b->size, b->up));
    *at = v3_add(*at, v3_scale(s->move[2] * b->size, b->forward));
    return true;
}

// From the joint of a hand that stands in for a wrist. Skeletons without a wrist's bone have that joint at the wrist or, as
// CMU's BVH files, some way up the forearm: how far shows against the upper arm.
static bool find_wrist(const body *b, int side, int joint, sn_vec3 *at) {
    static const double forearm_share = 0.93;
    int arm = sn_body_part(b->model, SN_BODY_UPPER_ARM, side),
        forearm = sn_body_part(b->model, SN_BODY_FOREARM, side);
    const char *name = sn_model_joint(b->model, joint)->name;
    if (b->bones || arm < 0 || forearm < 0 || joint == forearm) return false;
    if (strstr(name, "rist") != NULL || strstr(name, "RIST") != NULL) return false;
    sn_vec3 bone = v3_sub(place(b, joint), place(b, forearm));
    double upper = v3_norm(v3_sub(place(b, forearm), place(b, arm))), length = v3_norm(bone);
    if (!(length > 1e-6)) return false;
    *at = v3_scale(fmax(forearm_share * upper / length - 1, 0), bone);
    return true;
}

// Letters and digits in lower case.
static void plain_label(const char *label, char out[64]) {
    size_t n = 0;
    for (; *label != '\0' && n < 63; label++) {
        char c = *label >= 'A' && *label <= 'Z' ? (char)(*label + 32) : *label;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) out[n++] = c;
    }
    out[n] = '\0';
}

// --- palms ---------------------------------------------------------------------------------------

// A finger's base beside another's, or a thumb beside the hand, shows a side from so far on, metres on a figure of 1.75 m.
static const double beside = 0.01;

// The joint below a forearm whose name says a digit, the first or the last of its chain; -1 for none.
static int find_digit(const body *b, int forearm, const char *const words[], bool last) {
    int found = -1;
    for (int j = 0; j < sn_model_njoint(b->model) && (last || found < 0); j++) {
        char plain[64];
        plain_label(sn_model_joint(b->model, j)->name, plain);
        bool is = j != forearm && sn_body_is_above(b->model, forearm, j), said = false;
        for (int w = 0; words[w] != NULL; w++) said = said || strstr(plain, words[w]) != NULL;
        if (is && said) found = j;
    }
    return found;
}

// From the little finger's side of a hand to the thumb's, across the forearm; zero where no digit shows it.
static sn_vec3 thumb_side(const body *b, int forearm, int hand, sn_vec3 bone) {
    static const char *const thumbs[] = {"thumb", NULL}, *const first[] = {"index", NULL},
                             *const others[] = {"pinky", "little", "ring", NULL};
    const int thumb = find_digit(b, forearm, thumbs, true),
              index = find_digit(b, forearm, first, false),
              other = find_digit(b, forearm, others, false);
    sn_vec3 way = v3(0, 0, 0);
    if (index >= 0 && other >= 0)
        way = v3_sub(place(b, index), place(b, other));
    else if (thumb >= 0 && hand >= 0)
        way = v3_sub(place(b, thumb), place(b, hand));
    way = v3_sub(way, v3_scale(v3_dot(way, bone) / v3_dot(bone, bone), bone));
    return v3_norm(way) > beside * b->size ? v3_scale(1 / v3_norm(way), way) : v3(0, 0, 0);
}

static bool has_radius(const body *b, int forearm) {
    char plain[64];
    plain_label(sn_model_joint(b->model, forearm)->name, plain);
    return strstr(plain, "radius") != NULL;
}

// Arms that hang: where the thumbs' side of the forearm is. OpenSim's have their palms to the front, and so have skeletons with
// its names of bones; elsewhere digits show it, to a quarter turn, as thumbs lie before the palm. Where nothing does, palms face
// the thighs, as they do when arms that were held out with palms down are let hang.
static sn_vec3 thumbs_of(const body *b, int side, sn_vec3 out) {
    const int forearm = sn_body_carrier(b->model, SN_BODY_FOREARM, side),
              hand = sn_body_carrier(b->model, SN_BODY_WRIST, side);
    if (b->bones || has_radius(b, forearm)) return out;
    const sn_vec3 way = thumb_side(b, forearm, hand, b->up);
    const double ahead = v3_dot(way, b->forward), aside = v3_dot(way, out);
    if (fabs(ahead) < fabs(aside)) return aside > 0 ? out : v3_neg(out);
    return ahead < 0 ? v3_neg(b->forward) : b->forward;
}

static sn_vec3 find_place(const body *b, const spot *s, int side, int joint) {
    double mirror = side == 0 ? 1 : -1;
    sn_vec3 out = v3_scale(mirror, b->left), up = b->up, ahead = b->forward;
    // arms that hang down: what is up with arms held out, palms down, is then outward on the upper arm, and on the forearm
    // where the back of the hand is
    if (s->on >= SN_BODY_UPPER_ARM && s->on <= SN_BODY_FINGERS && hangs(b, side)) {
        const sn_vec3 aside = out;
        ahead = s->on == SN_BODY_UPPER_ARM ? b->forward : thumbs_of(b, side, aside);
        up = v3_scale(mirror, v3_cross(b->up, ahead));
        out = v3_neg(b->up);
    }
    bool hips = s->on == SN_BODY_PELVIS && s->along == AT_HIPS;
    sn_vec3 at;
    if (s->on != SN_BODY_WRIST || !find_wrist(b, side, joint, &at))
        at = hips ? v3_sub(b->hips, place(b, joint)) : way_along(b, s, side, joint);
    // a skeleton file's root is a hand's breadth above the hips; an .osim file's pelvis may begin anywhere
    if (!hips && s->on == SN_BODY_PELVIS && sn_model_nframe(b->model) > 0) {
        at = v3_add(v3_sub(b->hips, place(b, joint)), v3_scale(0.068 * b->size, b->up));
        at = v3_add(at, v3_scale(-0.015 * b->size, b->forward));
    }
    at = v3_add(at, v3_scale(s->move[0] * b->size, out));
    at = v3_add(at, v3_scale(s->move[1] * b->size, up));
    return v3_add(at, v3_scale(s->move[2] * b->size, ahead));
}

static void set_place(const body *b, const spot *s, int side, int joint, sn_marker_place *to) {
    const on_bones *own = spot_on_bones(b, s);
    sn_vec3 at;
    if (own != NULL && (own->from == SN_BODY_PELVIS || is_trunk(own->from))) {
        spot there = *s;
        there.along = own->along;
        memcpy(there.move, own->move, sizeof there.move);
        at = find_place(b, &there, side, joint);
    } else if (own == NULL || !find_on_bones(b, own, side, &joint, &at)) {
        at = find_place(b, s, side, joint);
    }
    sn_frame frame = sn_workspace_frame(b->ws, joint);
    sn_vec3 local = m3_tmul(&frame.R, at);
    to->position[0] = local.x, to->position[1] = local.y, to->position[2] = local.z;
    to->weight = 1;
    to->doubt = (own != NULL ? own->doubt : s->doubt) * b->size;
    sn_copy_name(to->joint, sizeof to->joint, sn_model_joint(b->model, joint)->name);
}

// --- labels --------------------------------------------------------------------------------------

static bool says(const char *plain, const char *name, size_t length, const char *side) {
    size_t n = strlen(plain), ns = strlen(side);
    const char *hole = memchr(name, '#', length);
    if (hole != NULL) {
        size_t before = (size_t)(hole - name), after = length - before - 1;
        return n == before + ns + after && strncmp(plain, name, before) == 0 &&
               strncmp(plain + before, side, ns) == 0 &&
               strncmp(plain + before + ns, hole + 1, after) == 0;
    }
    if (n != length + ns) return false;
    if (strncmp(plain, side, ns) == 0 && strncmp(plain + ns, name, length) == 0) return true;
    return strncmp(plain, name, length) == 0 && strcmp(plain + length, side) == 0;
}

// Does a label mean a spot? The side stands in front, behind or in the middle: LKNE, Knee_L, left_knee.
static bool means(const char *plain, const spot *s, int side) {
    static const char *const sides[2][2] = {{"l", "left"}, {"r", "right"}};
    for (const char *name = s->other; *name != '\0';) {
        size_t length = strcspn(name, " ");
        for (int w = 0; w < 2; w++)
            if (says(plain, name, length, s->name[0] == '#' ? sides[side][w] : "")) return true;
        name += length;
        while (*name == ' ') name++;
    }
    return false;
}

// Are the labels keypoints? No marker is stuck to a nose or an eye.
static bool has_keypoints(const sn_recording *recording) {
    int n = recording != NULL ? sn_recording_about(recording)->nmarker : 0;
    for (int i = 0; i < n; i++) {
        char plain[64];
        plain_label(sn_label_name(sn_recording_label(recording, i)), plain);
        if (strcmp(plain, "nose") == 0 || strstr(plain, "bigtoe") != NULL) return true;
    }
    return false;
}

// The label of a spot in the recording; false when it is not there. The spot's own name goes first.
static bool find_label(const spot *s, int side, const sn_recording *recording,
                       char out[SN_MAX_LABEL + 1]) {
    sn_copy_name(out, SN_MAX_LABEL + 1, s->name);
    if (out[0] == '#') out[0] = side == 0 ? 'L' : 'R';
    if (recording == NULL || (s->in == USUAL && sn_recording_find(recording, out) != -1))
        return true;
    for (int i = 0; i < sn_recording_about(recording)->nmarker; i++) {
        char plain[64];
        const char *label = sn_label_name(sn_recording_label(recording, i));
        plain_label(label, plain);
        if (!means(plain, s, side)) continue;
        sn_copy_name(out, SN_MAX_LABEL + 1, label);
        return true;
    }
    return false;
}

static bool is_taken(const sn_marker_place *places, int count, const char *label) {
    for (int i = 0; i < count; i++)
        if (strcmp(places[i].name, label) == 0) return true;
    return false;
}

// Keypoints lie in joints, so that a knee is not where a marker on it would be: they go first where there are any.
static int collect(const body *b, const sn_recording *recording, sn_marker_place *places) {
    int count = 0;
    bool keypoints = has_keypoints(recording);
    for (int pass = keypoints ? 0 : 1; pass < 2; pass++)
        for (int i = 0; i < NSPOT; i++) {
            bool now = pass == 0 ? spots[i].in == KEYPOINT : spots[i].in != KEYPOINT;
            if (!now || (recording == NULL && spots[i].in != USUAL)) continue;
            for (int side = 0; side < (spots[i].name[0] == '#' ? 2 : 1); side++) {
                char label[SN_MAX_LABEL + 1];
                int joint = sn_body_carrier(b->model, spots[i].on, side);
                if (joint < 0 || !find_label(&spots[i], side, recording, label)) continue;
                if (is_taken(places, count, label)) continue;
                places[count] = (sn_marker_place){0};
                sn_copy_name(places[count].name, sizeof places[count].name, label);
                set_place(b, &spots[i], side, joint, &places[count++]);
            }
        }
    return count;
}

// --- which set it is -----------------------------------------------------------------------------

// Sets by name: labels that tell them apart, in lower case without signs. The first of which most are there.
static const struct {
    const char *name, *labels;
} sets[] = {
    {"full body (HDM05, CMU, Plug-in Gait)", "lfwt lbwt lfhd c7 clav lshn lfrm rbac lmt5"},
    {"Plug-in Gait", "lasi lpsi lthi lkne ltib lank lhee ltoe"},
    {"Plug-in Gait with a sacral marker", "lasi sacr lthi lkne ltib lank lhee ltoe"},
    {"Helen Hayes", "lasis vsacral lthighupper lshankupper lheel ltoetip lkneelat"},
    {"CAST and ISB landmarks with clusters",
     "lfle lfme lfal ltam lfcc lfm1 lfm5 lfax lttc lth1 lsk1"},
    {"OptiTrack",
     "waistlfront waistlback lshouldertop lelbowout lwristout lkneeout lankleout ltoein"},
    {"Qualisys",
     "headfront spinetop lshouldertop lkneeout lankleout lheelback lforefoot2 lforefoot5"},
    {"markerless keypoints (Halpe-26)",
     "nose head neck lshoulder lhip hip lbigtoe lsmalltoe lheel"},
    {"markerless keypoints (BODY-25)", "nose neck midhip lhip lbigtoe lsmalltoe lheel lear leye"},
    {"markerless keypoints (BlazePose)",
     "nose leftear lefteye leftfootindex leftheel leftpinky leftindex leftthumb"},
    {"markerless keypoints (COCO-17)", "nose leye lear lshoulder lelbow lwrist lhip lknee lankle"},
};

static bool has_plain(const sn_recording *recording, const char *wanted, size_t length) {
    for (int i = 0; i < sn_recording_about(recording)->nmarker; i++) {
        char plain[64];
        plain_label(sn_label_name(sn_recording_label(recording, i)), plain);
        if (strlen(plain) == length && strncmp(plain, wanted, length) == 0) return true;
    }
    return false;
}

static const char *set_name(const sn_recording *recording) {
    double best = 0.4;
    const char *name = recording == NULL ? sets[0].name : "landmarks, by their names";
    bool keypoints = has_keypoints(recording);
    for (size_t i = 0; recording != NULL && i < sizeof sets / sizeof sets[0]; i++) {
        int found = 0, all = 0;
        if (keypoints != (strncmp(sets[i].name, "markerless", 10) == 0)) continue;
        for (const char *label = sets[i].labels; *label != '\0'; all++) {
            size_t length = strcspn(label, " ");
            found += has_plain(recording, label, length);
            label += length;
            while (*label == ' ') label++;
        }
        if ((double)found / all > best) best = (double)found / all, name = sets[i].name;
    }
    return name;
}

sn_status sn_marker_set_builtin(const sn_model *model, const sn_recording *recording,
                                const sn_allocator *allocator, sn_marker_set **out,
                                sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(model, error);
    SN_NEED(out, error);
    sn_problem *problem = NULL;
    sn_workspace *ws = NULL;
    sn_status status = sn_problem_create(model, NULL, 0, allocator, &problem, error);
    if (status == SN_OK) status = sn_workspace_create(problem, false, allocator, &ws, error);
    double *q = sn_acquire(allocator, (size_t)(sn_model_nq(model) + 1) * sizeof *q);
    sn_marker_place *places = sn_acquire(allocator, 2 * NSPOT * sizeof *places);
    if (status != SN_OK || q == NULL || places == NULL) {
        status = sn_fail_memory(error);
    } else {
        sn_model_zero(model, q);
        (void)sn_workspace_pose(ws, q);
        body b = {.model = model, .ws = ws};
        int count = find_directions(&b) ? collect(&b, recording, places) : -1;
        if (count < 0) {
            status =
                sn_fail(error, SN_ERR_MODEL, 0,
                        "the model has no joints with the usual names of thighs, feet and head, "
                        "so the built-in marker set does not fit it");
        } else if (count < LEAST_SPOTS) {
            char number[24];
            (void)snprintf(number, sizeof number, "only %d", count);
            status =
                sn_fail(error, SN_ERR_MODEL, 0,
                        "%s of the recording's labels belong to the built-in marker set (LFHD, "
                        "C7, LFWT or LASI, ...)",
                        count == 0 ? "none" : number);
        } else {
            status =
                sn_marker_set_create(set_name(recording), places, count, allocator, out, error);
            if (status != SN_OK) (void)sn_fail_memory(error);
        }
    }
    sn_release(allocator, places);
    sn_release(allocator, q);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return status;
}
