// SPDX-License-Identifier: MIT
// How much less a sample says of a marker's place, the further the joints beside it are turned.
//
// A place is asked for on the figure at rest: there it is known beforehand, and from there skin slides as the joints
// beside the marker turn: that of its bone, and of those that hang on the bone the nearest. Hardly at first, and by far
// in a deep bend: with the third power of the angle. So a sample counts for
//
//   1 / (1 + s^2 (t / h)^3),      t = sum over both joints of 4 sin^2(a/2) = 3 - trace R,
//
// of one at rest: h is t at the angle where it is half (doubt.c), s goes with the skin that was measured in the take
// (estimate_noise.c): where hardly any moves, none slides. What a marker's samples say together stays what it was: which
// frames are believed changes, not how much. Without that the half of HDM05 mm_01-02_03 that squats had its thigh
// markers 2 cm from where the half that walks has them, and the pelvis tilted by 10 degrees.
//
// The turns are those of the first round's poses (estimate.c), which hold to what is known of places: weights that follow
// a shape which follows them wander off.
//
// Lengths are shown by joints that bend: where they are sought, too, frames are believed further. A static trial shows
// the places at rest by itself: then all are believed alike.
#include <math.h>

#include "math/vec3.h"
#include "take/estimate.h"

// Does a joint carry a body? One of an .osim file's may be a chain of several here, its body at the end.
static bool carries(const sn_model *m, int joint) {
    for (int i = 0; i < sn_model_nframe(m); i++)
        if (sn_model_frame(m, i)->joint == joint) return true;
    return sn_model_nframe(m) == 0 && sn_model_joint_nv(m, joint) > 0;
}

// The joint that carries the body which a joint belongs to; -1 for the ground.
static int body_of(const sn_model *m, int joint) {
    while (joint >= 0 && !carries(m, joint)) joint = sn_model_parent(m, joint);
    return joint;
}

typedef struct turns {
    int *above;  // njoint: the body above a body; -1 for a joint that carries none, or none above
    sn_mat3 *rest;  // njoint: how a body lies in the one above at rest
    double *turn;   // njoint: 4 sin^2 of half the angle from there
    int *body;      // nmarker: that it sits on, -1 for one that is left as it is
    int *next;      // nmarker: the nearest that hangs on that, -1 for none
    double *slide;  // nmarker: s^2 / h^3
    double *all;    // nmarker: what a marker's samples counted for together, and do now
    double *now;
} turns;

static sn_mat3 lies(const sn_workspace *ws, int body, int above) {
    sn_mat3 R = sn_workspace_frame(ws, body).R, P = sn_workspace_frame(ws, above).R;
    sn_mat3 back = m3_transpose(&P);
    return m3_mulm(&back, &R);
}

static const double degree = 0.017453292519943295769;

// Where a sample of any marker counts for half while lengths are sought, degrees.
static const double bent_for_lengths = 100;

static double turn_of(double angle) {
    double sine, cosine;
    sn_sincos(0.5 * angle * degree, &sine, &cosine);
    return 4 * sine * sine;
}

// At rest.
static int nearest_on(const sn_estimate *e, const sn_workspace *ws, const turns *t, int marker) {
    const sn_marker_desc *m = sn_model_marker(e->model, marker);
    sn_vec3 p = sn_workspace_point(ws, m->joint, m->position);
    double least = 0;
    int nearest = -1;
    for (int j = 0; j < e->njoint; j++) {
        if (t->above[j] < 0 || t->above[j] != t->body[marker]) continue;
        double far = v3_norm(v3_sub(sn_workspace_frame(ws, j).p, p));
        if (nearest < 0 || far < least) nearest = j, least = far;
    }
    return nearest;
}

static sn_status begin(const sn_estimate *e, sn_workspace *ws, turns *t) {
    // how a whole figure lies bends nothing, also where a joint on the floor is above it
    const int floater = sn_fit_floater(e->model);
    SN_TRY(sn_workspace_pose(ws, e->o.home));
    for (int j = 0; j < e->njoint; j++) {
        const bool bends = carries(e->model, j) && j != floater;
        t->above[j] = bends ? body_of(e->model, sn_model_parent(e->model, j)) : -1;
        if (t->above[j] >= 0) t->rest[j] = lies(ws, j, t->above[j]);
    }
    for (int i = 0; i < e->nmarker; i++) {
        const sn_marker_desc *m = sn_model_marker(e->model, i);
        double bent = sn_bent_of_name(m->name);
        if (e->o.asked.scale && bent > 0) bent = fmax(bent, bent_for_lengths);
        double half = turn_of(bent);
        t->slide[i] = half > 0 ? e->sliding * e->sliding / (half * half * half) : 0;
        t->body[i] = t->slide[i] > 0 ? body_of(e->model, m->joint) : -1;
        t->next[i] = nearest_on(e, ws, t, i);
        t->all[i] = t->now[i] = 0;
    }
    return SN_OK;
}

static void find_turns(const sn_estimate *e, const sn_workspace *ws, turns *t) {
    for (int j = 0; j < e->njoint; j++) {
        t->turn[j] = 0;
        if (t->above[j] < 0) continue;
        sn_mat3 now = lies(ws, j, t->above[j]);
        double trace = 0;
        for (int c = 0; c < 3; c++) trace += v3_dot(t->rest[j].c[c], now.c[c]);
        t->turn[j] = fmax(3 - trace, 0);
    }
}

static void weigh_frame(sn_estimate *e, turns *t, int k) {
    double goal[3];
    for (int i = 0; i < e->nmarker; i++) {
        double *trust = &e->trust[(size_t)k * (size_t)e->nmarker + (size_t)i];
        if (t->body[i] < 0 || !sn_estimate_goal(e, k, i, goal)) continue;
        t->all[i] += *trust;
        double turned = t->turn[t->body[i]] + (t->next[i] >= 0 ? t->turn[t->next[i]] : 0);
        *trust /= 1 + t->slide[i] * turned * turned * turned;
        t->now[i] += *trust;
    }
}

static void keep_sums(sn_estimate *e, const turns *t) {
    for (int k = 0; k < e->nframe; k++)
        for (int i = 0; i < e->nmarker; i++) {
            double goal[3];
            if (t->now[i] > 0 && sn_estimate_goal(e, k, i, goal))
                e->trust[(size_t)k * (size_t)e->nmarker + (size_t)i] *= t->all[i] / t->now[i];
        }
}

static void lay_out(const sn_estimate *e, sn_layout *l, turns *t) {
    size_t n = (size_t)e->njoint, m = (size_t)e->nmarker;
    t->above = sn_layout_take(l, n, sizeof *t->above);
    t->rest = sn_layout_take(l, n, sizeof *t->rest);
    t->turn = sn_layout_take(l, n, sizeof *t->turn);
    t->body = sn_layout_take(l, m, sizeof *t->body);
    t->next = sn_layout_take(l, m, sizeof *t->next);
    t->slide = sn_layout_take(l, m, sizeof *t->slide);
    t->all = sn_layout_take(l, m, sizeof *t->all);
    t->now = sn_layout_take(l, m, sizeof *t->now);
}

sn_status sn_estimate_slide(sn_estimate *e, sn_error *error) {
    sn_fit_place at = {0};
    sn_layout layout = {0};
    turns t;
    void *owner = NULL;
    if (e->o.asked.still != NULL || e->sliding == 0) return SN_OK;
    lay_out(e, &layout, &t);
    void *block = sn_layout_acquire(&layout, e->allocator, &owner);
    if (block == NULL) return sn_fail_memory(error);
    layout = (sn_layout){.block = block};
    lay_out(e, &layout, &t);
    // how bodies are turned does not depend on the shape
    sn_status status = sn_fit_place_open(&at, e->model, e->allocator);
    if (status == SN_OK) status = begin(e, at.workspace, &t);
    for (int k = 0; status == SN_OK && k < e->nframe; k++) {
        status = sn_workspace_pose(at.workspace, e->bent + (size_t)k * e->nq);
        find_turns(e, at.workspace, &t);
        if (status == SN_OK) weigh_frame(e, &t, k);
    }
    if (status == SN_OK) keep_sums(e, &t);
    sn_fit_place_close(&at, e->allocator);
    sn_release(e->allocator, owner);
    return status;
}
