// SPDX-License-Identifier: MIT
// The first starts of several goals side by side, each as sn_arm_search_newton() does it, to the bit. A lane that is
// done takes the next goal. Where that looks at a pose before it counts, the next step of all lanes looks at it here.
#include <string.h>

#include "arm/arm.h"

typedef struct lane {
    int at, steps;
    double before;
    bool live;
    bool waits;  // the step before may have been the last
} lane;

// The numbers of four lanes or eight.
typedef struct numbers {
    double *q, *next, *goal, *turn, *place;
} numbers;

// At a pose to which a step that may be the last has led. Nothing is left by the kernels' measure, which is the
// stricter one, or too much by the other; between them that is asked.
static bool has_arrived(sn_arm_search *s, bool there, double turn, const double *inner, double *q) {
    const double most = s->arm->options.rotation_tol;
    if (there) return sn_arm_search_accept(s, inner, NULL, q);
    return turn <= 1.01 * most * most && sn_arm_search_arrives(s, false, inner, NULL, q);
}

// After a step of lane l. True when it has ended; with *found, in q.
static bool judge(const int width, const sn_arm *arm, const numbers *x, int l, sn_arm_search *s,
                  lane *own, bool *found, double *q) {
    const int n = arm->chain.n;
    const double turn = x->turn[l], place = x->place[l], f = place + 0.25 * turn;
    const bool there = turn <= arm->turn_tol && place <= arm->place_tol;
    double inner[SN_ARM_MAX];
    *found = false;
    if (own->waits) {
        own->waits = false;
        for (int j = 0; j < n; j++) inner[j] = x->q[j * width + l];
        *found = has_arrived(s, there, turn, inner, q);
        if (*found) return true;
    }
    s->iterations++;
    own->steps++;
    const bool slow =
        own->steps >= SN_ARM_LOOK_AFTER && !(f <= SN_ARM_FAR_F && f <= 0.5 * own->before);
    const bool last = slow || own->steps >= SN_ARM_FIRST_STEPS;
    if (there || (f < SN_ARM_LAST_F && last)) {
        const double *from = there ? x->q : x->next;
        for (int j = 0; j < n; j++) inner[j] = from[j * width + l];
        *found = there ? sn_arm_search_accept(s, inner, NULL, q)
                       : sn_arm_search_arrives(s, false, inner, NULL, q);
    }
    s->stuck = !there && f < SN_ARM_STUCK_F;
    if (*found || there || last) return true;
    own->waits = f < SN_ARM_LAST_F;
    own->before = f;
    return false;
}

// The next start of the goal of lane l, from where its next step is made; false when it has none.
static bool start(const int width, const numbers *x, int l, sn_arm_search *s, lane *own) {
    double inner[SN_ARM_MAX];
    if (!sn_arm_search_start(s, inner)) return false;
    s->seeds++;
    own->steps = 0;
    own->before = INFINITY;
    own->waits = false;
    for (int j = 0; j < s->arm->chain.n; j++) x->next[j * width + l] = inner[j];
    return true;
}

// A goal into lane l; false when it had no start, and is dealt with.
static bool begin(const int width, const sn_arm *arm, const numbers *x, int l, int at,
                  sn_arm_search *s, lane *own, sn_arm_source *source) {
    (void)sn_arm_search_begin(s, arm, source->goals + 7 * (size_t)at);
    own->at = at;
    for (int i = 0; i < 12; i++) x->goal[i * width + l] = s->numbers[i];
    own->live = start(width, x, l, s, own);
    if (!own->live) source->end(source, s, at, false, NULL);
    return own->live;
}

SN_INLINE void run(const int width, const numbers *x, void *state, sn_arm_search *s, int count,
                   sn_arm_source *source) {
    const sn_arm *arm = source->arm;
    lane lanes[SN_ARM_WIDE] = {{0}};
    int next = 0, live = 0;
    for (;;) {
        for (int l = 0; l < width; l++)
            while (!lanes[l].live && next < count)
                live += begin(width, arm, x, l, next++, &s[l], &lanes[l], source);
        if (live == 0) return;
        memcpy(x->q, x->next, (size_t)(arm->chain.n * width) * sizeof *x->q);
        if (width == SN_ARM_WIDE)
            sn_arm_wide_iterate(&arm->chain, state, false, false);
        else
            sn_arm_search_step4(arm, state, false, false);
        for (int l = 0; l < width; l++) {
            double q[SN_ARM_MAX];
            bool found;
            if (!lanes[l].live || !judge(width, arm, x, l, &s[l], &lanes[l], &found, q)) continue;
            if (!found && start(width, x, l, &s[l], &lanes[l])) continue;
            lanes[l].live = false;
            live--;
            source->end(source, &s[l], lanes[l].at, found, q);
        }
    }
}

void sn_arm_search_many(sn_arm_search *s, int count, sn_arm_source *source) {
    const sn_arm *arm = source->arm;
    if (arm->wide && arm->chain.hinges && arm->options.lanes > 1) {
        sn_arm_wide_state wide;
        memset(&wide, 0, sizeof wide);
        const numbers x = {wide.q[0], wide.next[0], wide.goal[0], wide.turn, wide.place};
        run(SN_ARM_WIDE, &x, &wide, s, count, source);
    } else {
        sn_arm_state4 four;
        memset(&four, 0, sizeof four);
        const numbers x = {four.q[0], four.next[0], four.goal[0], four.turn, four.place};
        run(SN_ARM_LANES, &x, &four, s, count, source);
    }
}
