// SPDX-License-Identifier: MIT
// From tracks to one motion: seams, other looks, and the cheapest way through.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/order.h"
#include "model/model.h"
#include "track/lanes.h"

// Two tracks have merged when no joint differs by more than this (rad) and f by no more than that share.
static const double same_turn = 2 * 0x1.1df46a2529d39p-6, same_f = 0.05;
// A track is given up when f was above so many times the other's for so many seconds.
static const double lost_f = 1.5, lost_after = 0.25;
// What a turn costs against f: a radian between two frames as much as so many seconds of the usual f.
static const double turn_seconds = 0.3;
// A block (half a second) is looked at when its f is so many times the usual, or a joint turns that fast
// (rad/s); what is found must be that much lower.
// From the figure at rest it is looked several times a second; less than that is what following left of f.
static const double home_seconds = 0.25, lower_from_home = 0.97;
static const double suspect_f = 3, suspect_speed = 1800 * 0x1.1df46a2529d39p-6, lower_f = 0.93;

static void copy(const sn_lanes *l, double *to, const double *from) {
    memcpy(to, from, l->nq * sizeof *to);
}

static double *alt_pose(const sn_lanes *l, const sn_lane_worker *w, int k) {
    return w->alt + (size_t)k * l->nq;
}

// --- the cheapest way ----------------------------------------------------------------------------

// Through the frames first ... first + n - 1, at each the pose that is there (0) or the other track's (1). Its
// ends are tied to the poses before and behind, where there are any.
static void choose(sn_lanes *l, sn_lane_worker *w, int first, int n, bool *moved) {
    double weight = turn_seconds * sn_lane_rate(l) * l->median, sum[2] = {0, 0};
    for (int k = 0; k < n; k++) {
        const double *pose[2] = {sn_lane_pose(l, first + k), alt_pose(l, w, k)};
        double cost[2] = {l->f[first + k], w->cost[k]}, next[2];
        for (int to = 0; to < 2; to++) {
            const double *before[2] = {first + k > 0 ? sn_lane_pose(l, first + k - 1) : NULL,
                                       k > 0 ? alt_pose(l, w, k - 1) : NULL};
            double best = INFINITY;
            for (int from = 0; from < 2; from++) {
                double turn = 0;
                if (k == 0 && from == 1) continue;
                if (before[from] != NULL)
                    turn = weight * sn_lane_turn(l, w, before[from], pose[to], NULL);
                if (!(sum[from] + turn < best)) continue;
                best = sum[from] + turn;
                w->from[2 * k + to] = (unsigned char)from;
            }
            next[to] = best + cost[to];
        }
        sum[0] = next[0], sum[1] = next[1];
    }
    int last = first + n - 1, at;
    if (last + 1 < l->nframe) {
        const double *behind = sn_lane_pose(l, last + 1);
        sum[0] += weight * sn_lane_turn(l, w, sn_lane_pose(l, last), behind, NULL);
        sum[1] += weight * sn_lane_turn(l, w, alt_pose(l, w, n - 1), behind, NULL);
    }
    at = sum[1] < sum[0];
    for (int k = n - 1; k >= 0; k--) {
        int now = at;
        at = w->from[2 * k + now];
        if (now == 0) continue;
        copy(l, sn_lane_pose(l, first + k), alt_pose(l, w, k));
        l->f[first + k] = w->cost[k];
        if (moved != NULL) moved[first + k] = true;
    }
}

// Follow from w->previous on (the pose of frame - step) beside the poses that are there, into row `frame -
// first` of the other track, until both have merged, this one is lost or the end has come. How far it came.
static sn_status follow_beside(sn_lanes *l, sn_lane_worker *w, int first, int frame, int step,
                               int end, int *count) {
    int lost = 0, n = 0, patience = (int)(lost_after * sn_lane_rate(l)) + 1;
    for (int f = frame; f != end; f += step) {
        double most, *cost = &w->cost[f - first];
        SN_TRY(sn_lane_follow(l, w, f, n > 0, cost));
        copy(l, alt_pose(l, w, f - first), w->previous);
        (void)sn_lane_turn(l, w, sn_lane_pose(l, f), w->previous, &most);
        if (most < same_turn && fabs(*cost - l->f[f]) <= same_f * l->f[f]) break;
        n++;
        lost = *cost > lost_f * l->f[f] ? lost + 1 : 0;
        if (lost > patience || sn_cancelled(l->options.cancel)) break;
    }
    *count = n;
    return SN_OK;
}

// --- seams ---------------------------------------------------------------------------------------

// Both sides go on beyond the seam; each is another track to the other.
static sn_status join_seam(sn_lanes *l, sn_lane_worker *w, int i, bool *moved) {
    int size = l->span, seam = (i + 1) * size;
    // a frame between the windows of two seams belongs to none: both look at it
    int reach = size / 2 - 1 < l->window / 2 ? size / 2 - 1 : l->window / 2;
    int low = seam - reach, high = seam + reach < l->nframe ? seam + reach : l->nframe;
    int before = 0, behind = 0;
    if (reach < 1) return SN_OK;
    copy(l, w->previous, sn_lane_pose(l, seam - 1));
    SN_TRY(follow_beside(l, w, low, seam, 1, high, &behind));
    copy(l, w->previous, sn_lane_pose(l, seam));
    SN_TRY(follow_beside(l, w, low, seam - 1, -1, low - 1, &before));
    if (before + behind == 0) return SN_OK;
    int first = seam - before;
    memmove(w->alt, alt_pose(l, w, first - low),
            (size_t)(before + behind) * l->nq * sizeof(double));
    memmove(w->cost, w->cost + (first - low), (size_t)(before + behind) * sizeof(double));
    choose(l, w, first, before + behind, moved);
    return SN_OK;
}

// --- other looks ---------------------------------------------------------------------------------

// The worst frame of a block, -1 where none is suspect.
static int suspect(sn_lanes *l, sn_lane_worker *w, int first, int end) {
    double worst = 0, fastest = suspect_speed / sn_lane_rate(l);
    int at = -1, turned = -1;
    for (int f = first; f < end; f++) {
        double most = 0;
        if (l->f[f] > worst) worst = l->f[f], at = f;
        if (f > first) (void)sn_lane_turn(l, w, sn_lane_pose(l, f - 1), sn_lane_pose(l, f), &most);
        if (most > fastest) fastest = most, turned = f;
    }
    return worst > suspect_f * l->median ? at : turned;
}

// Another valley of a frame, in w->q with its f, followed both ways; the cheaper one is kept.
static sn_status try_valley(sn_lanes *l, sn_lane_worker *w, int frame, double f, int low, int high,
                            bool *moved) {
    int before = 0, behind = 0, reach = l->window / 2 - 1;
    if (frame - low > reach) low = frame - reach;
    if (high - frame > reach) high = frame + reach;
    copy(l, alt_pose(l, w, frame - low), w->q);
    w->cost[frame - low] = f;
    copy(l, w->previous, w->q);
    SN_TRY(follow_beside(l, w, low, frame + 1, 1, high, &behind));
    copy(l, w->previous, alt_pose(l, w, frame - low));
    SN_TRY(follow_beside(l, w, low, frame - 1, -1, low - 1, &before));
    int first = frame - before, n = before + 1 + behind;
    memmove(w->alt, alt_pose(l, w, first - low), (size_t)n * l->nq * sizeof(double));
    memmove(w->cost, w->cost + (first - low), (size_t)n * sizeof(double));
    choose(l, w, first, n, moved);
    return SN_OK;
}

static sn_status look_at(sn_lanes *l, sn_lane_worker *w, int frame, int low, int high, bool *moved,
                         bool *found) {
    double f;
    copy(l, w->q, sn_lane_pose(l, frame));
    sn_lane_wind_home(l, w->q);
    l->frames[frame].restarted = true;
    SN_TRY(sn_lane_look(l, w, frame, &f));
    *found = f < lower_f * l->f[frame];
    return *found ? try_valley(l, w, frame, f, low, high, moved) : SN_OK;
}

// From the figure at rest, several times a second: a limb that was led into a worse valley comes out of it, wherever
// it was led from.
static sn_status look_from_home(sn_lanes *l, sn_lane_worker *w, int first, int end, bool *moved) {
    int step = (int)(home_seconds * sn_lane_rate(l)) + 1;
    for (int frame = first + step / 2; frame < end; frame += step) {
        double f;
        SN_TRY(sn_lane_look_from_home(l, w, frame, sn_lane_pose(l, frame), &f));
        if (f < lower_from_home * l->f[frame])
            SN_TRY(try_valley(l, w, frame, f, first, end, moved));
        if (sn_cancelled(l->options.cancel)) return SN_OK;
    }
    return SN_OK;
}

enum { MOST_SKIPPED = 64 };

// A stretch of blocks; after blocks where nothing was found some are left out.
static sn_status look_through(sn_lanes *l, sn_lane_worker *w, int first, int end, bool *moved) {
    int block = (int)(0.5 * sn_lane_rate(l)) + 1, skip = 0, next = 1;
    for (int f = first; f < end; f += block) {
        int stop = block < end - f ? f + block : end, at = suspect(l, w, f, stop);
        bool found;
        if (at < 0) continue;
        if (skip-- > 0) continue;
        SN_TRY(look_at(l, w, at, first, end, moved, &found));
        if (sn_cancelled(l->options.cancel)) return SN_OK;
        next = found ? 1 : next < MOST_SKIPPED ? 2 * next : MOST_SKIPPED;
        skip = found ? 0 : next / 2;
    }
    return SN_OK;
}

// --- all of it -----------------------------------------------------------------------------------

static sn_status find_median(sn_lanes *l) {
    size_t n = (size_t)l->nframe;
    double *sorted = sn_acquire(&l->allocator, n * sizeof *sorted);
    if (sorted == NULL) return SN_ERR_MEMORY;
    memcpy(sorted, l->f, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, sn_by_value);
    l->median = sorted[n / 2];
    sn_release(&l->allocator, sorted);
    return SN_OK;
}

static sn_status seam_pass(sn_lanes *l, sn_lane_worker *w, int i) {
    return join_seam(l, w, i, l->moved);
}

enum { STRETCH = 4096 };

static sn_status look_pass(sn_lanes *l, sn_lane_worker *w, int i) {
    // the frames at the ends of a stretch stay, as the next one looks at them
    int first = i * STRETCH + (i > 0);
    bool last = l->nframe - i * STRETCH <= STRETCH;
    int end = last ? l->nframe : (i + 1) * STRETCH - 1;
    SN_TRY(look_from_home(l, w, first, end, l->moved));
    return look_through(l, w, first, end, l->moved);
}

void sn_lanes_unwind(sn_lanes *l) {
    for (int f = 1; f < l->nframe; f++)
        sn_lane_unwind(l->model, 0, sn_lane_pose(l, f - 1), sn_lane_pose(l, f));
}

sn_status sn_lanes_join(sn_lanes *l, bool *moved) {
    SN_TRY(find_median(l));
    l->moved = moved;
    SN_TRY(sn_lanes_run(l, seam_pass, l->nspan - 1));
    SN_TRY(sn_lanes_run(l, look_pass, (l->nframe + STRETCH - 1) / STRETCH));
    sn_lanes_unwind(l);
    return SN_OK;
}

sn_status sn_lanes_again(sn_lanes *l, int first, int last) {
    sn_lane_worker *w = &l->workers[0];
    int n = last - first + 1;
    bool cut = n > l->window;
    int turn = first == 0 ? first : last + 1 == l->nframe ? last + 1 : cut ? first + n / 2 : first;
    // backwards over all of it, or as far as the turn
    if (last + 1 < l->nframe) {
        copy(l, w->previous, sn_lane_pose(l, last + 1));
        for (int f = last; f >= turn; f--) {
            SN_TRY(sn_lane_follow(l, w, f, f < last, &l->f[f]));
            copy(l, sn_lane_pose(l, f), w->previous);
        }
    }
    if (first == 0) return SN_OK;
    bool other = !cut && last + 1 < l->nframe;
    int end = other ? last + 1 : turn;
    copy(l, w->previous, sn_lane_pose(l, first - 1));
    for (int f = first; f < end; f++) {
        double cost;
        SN_TRY(sn_lane_follow(l, w, f, f > first, &cost));
        copy(l, other ? alt_pose(l, w, f - first) : sn_lane_pose(l, f), w->previous);
        *(other ? &w->cost[f - first] : &l->f[f]) = cost;
    }
    if (other) choose(l, w, first, n, NULL);
    return SN_OK;
}
