// SPDX-License-Identifier: MIT
// Parts of the body that no marker shows.
//
// Markers show the bodies that they sit on, and those between: a thigh between pelvis and shin. What lies beyond the
// outermost ones stays as it is at rest, whatever the person did, and the error knows nothing of it.
#include <stdio.h>
#include <string.h>

#include "take/body.h"
#include "take/take.h"

// A part is told when it is not shown in so much of the frames: what is hidden for less is led by what is shown of it. From
// `always` on that is all of them.
static const double often_enough = 0.75, always = 0.995;

typedef struct part {
    sn_body body;
    const char *name, *both;  // one of a side, and of both; NULL: there is one only
    bool minor;  // takes without it are usual: arms end at the elbow in many gait laboratories
} part;

// The trunk is the body of its last joint that is shown.
static const part parts[] = {
    {SN_BODY_PELVIS, "the pelvis", NULL, false},
    {SN_BODY_THORAX, "the trunk", NULL, false},
    {SN_BODY_HEAD, "the head", NULL, true},
    {SN_BODY_UPPER_ARM, "upper arm", "upper arms", false},
    {SN_BODY_FOREARM, "forearm", "forearms", true},
    {SN_BODY_WRIST, "hand", "hands", true},
    {SN_BODY_THIGH, "thigh", "thighs", false},
    {SN_BODY_SHIN, "shin", "shins", false},
    {SN_BODY_FOOT, "foot", "feet", true},
};

enum { NPART = (int)(sizeof parts / sizeof parts[0]), TRUNK = 1, HEAD, ARM, LEG = ARM + 3 };

// How many frames show a part, of those that show anything.
typedef struct view {
    int joint[NPART][2];  // -1: the figure has none
    int hidden[NPART][2];
    int frames;
} view;

static void find_joints(const sn_model *m, view *v) {
    for (int p = 0; p < NPART; p++)
        for (int side = 0; side < 2; side++) {
            const bool there = side == 0 || parts[p].both != NULL;
            const int joint = there ? sn_body_carrier(m, parts[p].body, side) : -1;
            // a hand that is the forearm's joint has no name of its own
            const bool same = p > 0 && parts[p].both != NULL && joint == v->joint[p - 1][side];
            v->joint[p][side] = same ? -1 : joint;
        }
    if (v->joint[TRUNK][0] == v->joint[0][0]) v->joint[TRUNK][0] = -1;
}

static bool is_human(const view *v) {
    return v->joint[ARM][0] >= 0 || v->joint[ARM][1] >= 0 || v->joint[LEG][0] >= 0 ||
           v->joint[LEG][1] >= 0;
}

// Which bodies a frame's markers show. @param below  room for a number per joint
static int find_shown(const sn_take *t, int frame, int *below, bool *shown) {
    const sn_model *m = t->model;
    const int n = sn_model_njoint(m);
    int all = 0;
    for (int j = 0; j < n; j++) below[j] = 0, shown[j] = false;
    for (int i = 0; i < sn_model_nmarker(m); i++) {
        double goal[3];
        const int joint = sn_model_marker(m, i)->joint;
        if (!sn_fit_goal(&t->input, i, frame, goal)) continue;
        below[joint]++, all++;
        shown[joint] = true;
    }
    // parents come before their children
    for (int j = n - 1; j > 0; j--)
        if (sn_model_parent(m, j) >= 0) below[sn_model_parent(m, j)] += below[j];
    // between: markers on two sides of it
    for (int j = 0; j < n; j++) {
        const int parent = sn_model_parent(m, j);
        if (parent >= 0 && below[j] > 0 && below[j] < all) shown[j] = shown[parent] = true;
    }
    return all;
}

static bool shows_trunk(const sn_model *m, const bool *shown, int joint, int pelvis) {
    for (int j = joint; j >= 0 && j != pelvis; j = sn_model_parent(m, j))
        if (shown[j]) return true;
    return false;
}

static sn_status look(const sn_take *t, view *v) {
    const sn_model *m = t->model;
    const size_t n = (size_t)sn_model_njoint(m);
    int *below = sn_acquire(&t->allocator, n * sizeof *below);
    bool *shown = sn_acquire(&t->allocator, n * sizeof *shown);
    for (int f = 0; below != NULL && shown != NULL && f < t->input.count; f++) {
        if (find_shown(t, t->input.first + f, below, shown) < t->options.too_few) continue;
        v->frames++;
        for (int p = 0; p < NPART; p++)
            for (int side = 0; side < 2; side++) {
                const int joint = v->joint[p][side];
                if (joint < 0) continue;
                v->hidden[p][side] +=
                    p == TRUNK ? !shows_trunk(m, shown, joint, v->joint[0][0]) : !shown[joint];
            }
    }
    const sn_status status = below != NULL && shown != NULL ? SN_OK : SN_ERR_MEMORY;
    sn_release(&t->allocator, shown);
    sn_release(&t->allocator, below);
    return status;
}

// What is told: names, how many they are, the least share of frames, and whether it is more than usual.
typedef struct story {
    sn_name_list list;
    int count;
    double share;
    bool grave;
} story;

static double share_of(const view *v, int p, int side) {
    return v->joint[p][side] >= 0 ? (double)v->hidden[p][side] / v->frames : 0;
}

static void add(story *s, const char *name, double share, int count, bool minor) {
    char one[80];
    (void)snprintf(one, sizeof one, "%s", name);
    if (share < always)
        (void)snprintf(one, sizeof one, "%s (in %.0f %% of the frames)", name, 100 * share);
    sn_name_list_add(&s->list, one);
    s->count += count;
    s->share = share < s->share ? share : s->share;
    s->grave = s->grave || !minor;
}

// One of both sides, by what each has of it.
static void add_pair(story *s, const double share[2], const char *name, const char *both,
                     bool minor) {
    char one[40];
    if (share[0] >= often_enough && share[1] >= often_enough) {
        (void)snprintf(one, sizeof one, "the %s", both);
        add(s, one, share[0] < share[1] ? share[0] : share[1], 2, minor);
        return;
    }
    for (int side = 0; side < 2; side++) {
        if (share[side] < often_enough) continue;
        (void)snprintf(one, sizeof one, "the %s %s", side == 0 ? "left" : "right", name);
        add(s, one, share[side], 1, minor);
    }
}

// A limb of which nothing is shown goes by its own name.
static void add_limb(story *s, const view *v, int first, const char *name, const char *both) {
    double whole[2], each[3][2];
    for (int side = 0; side < 2; side++) {
        whole[side] = share_of(v, first, side);
        for (int p = 0; p < 3; p++) {
            each[p][side] = share_of(v, first + p, side);
            if (v->joint[first + p][side] >= 0 && each[p][side] < whole[side])
                whole[side] = each[p][side];
        }
        for (int p = 0; p < 3 && whole[side] >= often_enough; p++) each[p][side] = 0;
    }
    add_pair(s, whole, name, both, false);
    for (int p = 0; p < 3; p++)
        add_pair(s, each[p], parts[first + p].name, parts[first + p].both, parts[first + p].minor);
}

sn_status sn_take_check_parts(sn_take *t) {
    view v = {0};
    story s = {.share = 1};
    find_joints(t->model, &v);
    if (!is_human(&v)) return SN_OK;
    SN_TRY(look(t, &v));
    if (v.frames == 0) return SN_OK;
    for (int p = 0; p < ARM; p++)
        if (share_of(&v, p, 0) >= often_enough)
            add(&s, parts[p].name, share_of(&v, p, 0), 1, parts[p].minor);
    add_limb(&s, &v, ARM, "arm", "arms");
    add_limb(&s, &v, LEG, "leg", "legs");
    if (s.count == 0) return SN_OK;
    char text[sizeof s.list.text + 40];
    sn_name_list_print(&s.list, text);
    sn_finding *f = sn_take_add(t, SN_FINDING_PARTS_UNSEEN, text);
    if (f == NULL) return SN_ERR_MEMORY;
    f->number[0] = s.count;
    f->number[1] = s.share;
    if (s.grave) f->severity = SN_SEVERITY_WARNING;
    return SN_OK;
}
