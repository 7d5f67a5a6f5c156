// SPDX-License-Identifier: MIT
// What nothing sees for a while: from where it was last seen to where it is seen again.
//
// Following leaves a hidden limb where it was, or where it will be. So each degree of freedom that is seen in a
// frame by less than a tenth of what it usually is goes along the cubic that begins and ends there as fast as it
// was and will be, on top of what it did when the rest of the body moved likewise (lanes_like.c); then the frames are solved
// again, held to that where the goals say nothing.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/model.h"
#include "track/lanes.h"

enum { BLOCK = 64 };

static const double window = 0.08;  // seconds over which speed is measured
static const double lasting = 0.5;  // seconds; what lasts longer is led with less of it
// Pull to where it is led, of how well it is usually seen: this, and a share of how well it still is seen. What the last
// goals of a limb say is mostly theirs to say, but not all of it: skin moves under them.
static const double beside_seen = 0.3, least_held = 2e-4;

static double pull_of(unsigned char mark) {
    return least_held + beside_seen * sn_lane_still_seen(mark);
}

static unsigned char *mark_of(const sn_lanes *l, int frame) {
    return l->hidden + (size_t)frame * l->nv;
}

// A hand that is bent, and whose marker is hidden for a tenth of a second, is not straight in between: there the pull to
// where it was led has to do without the one to the figure at rest. Both together are least where a pull of weight k to
//
//   x + (p/k)(x - home),     p the weight of what draws it home,
//
// would be without it at x. So it is aimed beyond, and a weaker one than p is made as strong, lest that be far.
bool sn_lane_keep_hidden(const sn_lanes *l, sn_lane_side *s) {
    const unsigned char *mark = l->hidden != NULL ? mark_of(l, s->frame) : NULL;
    bool any = false;
    for (int n = 1; mark != NULL && n < l->model->njoint; n++) {
        const sn_joint *j = &l->model->joint[n];
        for (int i = 0; i < j->nv; i++) {
            if (!mark[j->v0 + i]) continue;
            double p = l->drawn[j->v0 + i], *k = &s->own_weight[j->v0 + i],
                   *x = &s->rest[j->q0 + i];
            any = true;
            if (!(p > 0) || j->ops->quaternion >= 0) continue;
            double away = *x - l->home[j->q0 + i];
            *k = fmax(*k, p * fmax(fabs(away), 1));
            *x += p / *k * away;
        }
    }
    return any;
}

static double *at(const sn_lanes *l, int frame, int q) { return sn_lane_pose(l, frame) + q; }

int sn_lane_speed_window(const sn_lanes *l) {
    int n = (int)(window * sn_lane_rate(l));
    return n > 1 ? n : 1;
}

// How fast a coordinate is at the edge of a gap, towards `step`, per frame.
static double speed(const sn_lanes *l, int edge, int step, int q, size_t v) {
    int n = sn_lane_speed_window(l), k = 0;
    while (k < n && edge + step * (k + 1) >= 0 && edge + step * (k + 1) < l->nframe &&
           !mark_of(l, edge + step * (k + 1))[v])
        k++;
    return k > 0 ? (*at(l, edge + step * k, q) - *at(l, edge, q)) / (step * k) : 0;
}

double sn_lane_cubic(const sn_lanes *l, int first, int last, int frame, double x0, double x1,
                     double v0, double v1) {
    double T = last - first + 2, s = (frame - first + 1) / T, r = 1 - s,
           lasts = fmin(T, lasting * sn_lane_rate(l));
    return x0 * r * r * (1 + 2 * s) + x1 * s * s * (3 - 2 * s) +
           lasts * (v0 * s * r * r - v1 * s * s * r);
}

// What is shorter goes along its cubic, seconds.
static const double least_gap = 0.2;

// A stretch of frames in which something is hidden.
typedef struct gap {
    int first, last;
    int coordinates;  // whose gap it is
    bool led;         // by what they did elsewhere
    double *values;   // in its frames: then where to
} gap;

typedef struct gaps {
    gap *list;
    int count;
    sn_lane_coordinate *all;  // of the joints but the root
    int nall;
    sn_lane_mirror mirror;
    bool mirrored;   // there is one
    bool *any;       // per frame: something is hidden
    double *room;    // for each worker
    size_t size;     // of one
    double *values;  // of all gaps
    sn_lane_swing *swings;
} gaps;

static sn_status lead_gap(sn_lanes *l, sn_lane_worker *w, int i) {
    const gaps *all = l->extra;
    gap *g = &all->list[i];
    g->led =
        sn_lane_like(l, g->first, g->last, all->all, all->nall, all->mirrored ? &all->mirror : NULL,
                     all->room + all->size * (size_t)(w - l->workers), g->values);
    return SN_OK;
}

static int by_frames(const void *a, const void *b) {
    const gap *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : (x->last > y->last) - (x->last < y->last);
}

static void list_coordinates(const sn_lanes *l, gaps *all) {
    for (int k = 1; k < l->model->njoint; k++) {
        const sn_joint *j = &l->model->joint[k];
        for (int i = 0; j->ops->quaternion < 0 && i < j->nv; i++)
            all->all[all->nall++] =
                (sn_lane_coordinate){k, j->q0 + i, j->v0 + i, (j->lengths >> i & 1) != 0};
    }
    for (int f = 0; f < l->nframe; f++) {
        const unsigned char *mark = mark_of(l, f);
        all->any[f] = false;
        for (size_t v = 0; v < l->nv && !all->any[f]; v++) all->any[f] = mark[v] != 0;
    }
}

// The next gap of a coordinate behind a frame; false: there is none.
static bool next_gap(const sn_lanes *l, const gaps *all, int coordinate, int behind, gap *out) {
    const size_t v = (size_t)all->all[coordinate].v;
    int f = behind + 1;
    while (f < l->nframe && !(all->any[f] && mark_of(l, f)[v])) f++;
    *out = (gap){.first = f, .coordinates = 1};
    while (f < l->nframe && all->any[f] && mark_of(l, f)[v]) f++;
    out->last = f - 1;
    return out->first < l->nframe;
}

// Along their cubics, from how it was before to how it is behind.
static void bridge_all(sn_lanes *l, const gaps *all) {
    gap g;
    for (int i = 0; i < all->nall; i++)
        for (int done = -1; next_gap(l, all, i, done, &g); done = g.last) {
            int a = g.first - 1, b = g.last + 1, q = all->all[i].q;
            size_t v = (size_t)all->all[i].v;
            if (a < 0 || b >= l->nframe) continue;
            double x0 = *at(l, a, q), x1 = *at(l, b, q);
            double v0 = speed(l, a, -1, q, v), v1 = speed(l, b, 1, q, v);
            for (int f = g.first; f <= g.last; f++)
                *at(l, f, q) = sn_lane_cubic(l, g.first, g.last, f, x0, x1, v0, v1);
        }
}

static bool hides_root(const sn_lanes *l, int frame) {
    const sn_joint *root = &l->model->joint[0];
    for (int i = 0; i < root->nv; i++)
        if (!mark_of(l, frame)[root->v0 + i]) return false;
    return root->nv > 0 && root->nv <= 6;
}

// How the root moves at the edge of a gap, towards `step`, per frame; in w->weight.
static void root_speed(const sn_lanes *l, sn_lane_worker *w, int edge, int step) {
    int n = sn_lane_speed_window(l), k = 0;
    while (k < n && edge + step * (k + 1) >= 0 && edge + step * (k + 1) < l->nframe &&
           !hides_root(l, edge + step * (k + 1)))
        k++;
    sn_model_difference(l->model, sn_lane_pose(l, edge), sn_lane_pose(l, edge + step * k),
                        w->weight);
    for (size_t v = 0; v < l->nv; v++) w->weight[v] *= k > 0 ? 1.0 / (step * k) : 0;
}

// Where the whole figure is hidden it goes from where it was to where it will be, as its joints do.
static void bridge_root(sn_lanes *l) {
    sn_lane_worker *w = &l->workers[0];
    const sn_joint *root = &l->model->joint[0];
    for (int f = 0; f < l->nframe; f++) {
        int first = f;
        while (f < l->nframe && hides_root(l, f)) f++;
        if (f == first || first == 0 || f == l->nframe) continue;
        double way[6], v0[6], v1[6];
        const double *a = sn_lane_pose(l, first - 1);
        sn_model_difference(l->model, a, sn_lane_pose(l, f), w->delta);
        memcpy(way, w->delta + root->v0, (size_t)root->nv * sizeof *way);
        root_speed(l, w, first - 1, -1);
        memcpy(v0, w->weight + root->v0, (size_t)root->nv * sizeof *v0);
        root_speed(l, w, f, 1);
        memcpy(v1, w->weight + root->v0, (size_t)root->nv * sizeof *v1);
        for (int k = first; k < f; k++) {
            memset(w->delta, 0, l->nv * sizeof *w->delta);
            for (int i = 0; i < root->nv; i++)
                w->delta[root->v0 + i] = sn_lane_cubic(l, first, f - 1, k, 0, way[i], v0[i], v1[i]);
            sn_model_integrate(l->model, a, w->delta, w->room);
            memcpy(sn_lane_pose(l, k) + root->q0, w->room + root->q0,
                   (size_t)root->ops->nq * sizeof *w->room);
        }
    }
}

// The gaps that may be led, each once, and room for what comes of them.
static sn_status list_gaps(sn_lanes *l, gaps *all) {
    const double least = least_gap * sn_lane_rate(l);
    size_t n = 0, sum = 0;
    gap g;
    for (int pass = 0; pass < 2; pass++) {
        size_t k = 0;
        for (int i = 0; i < all->nall; i++)
            for (int done = -1; next_gap(l, all, i, done, &g); done = g.last) {
                bool all_along = g.first == 0 && g.last + 1 >= l->nframe;
                if (g.last - g.first + 1 < least || all_along) continue;
                if (pass > 0) all->list[k] = g;
                k++;
                sum += pass == 0 ? (size_t)(g.last - g.first + 1) : 0;
            }
        n = k;
        if (n == 0) return SN_OK;
        if (pass > 0) continue;
        all->size = sn_lane_like_room(l, all->nall);
        all->list = sn_acquire(&l->allocator, n * sizeof *all->list);
        all->room = sn_acquire(&l->allocator, all->size * (size_t)l->nworker * sizeof *all->room);
        all->values = sn_acquire(&l->allocator, sum * sizeof *all->values);
        if (all->list == NULL || all->room == NULL || all->values == NULL) return SN_ERR_MEMORY;
    }
    qsort(all->list, n, sizeof *all->list, by_frames);
    double *values = all->values;
    for (size_t i = 0; i < n; i++) {
        gap *last = all->count > 0 ? &all->list[all->count - 1] : NULL;
        if (last != NULL && by_frames(&all->list[i], last) == 0)
            last->coordinates++;
        else
            all->list[all->count++] = all->list[i];
    }
    for (int i = 0; i < all->count; i++) {
        all->list[i].values = values;
        values +=
            (size_t)all->list[i].coordinates * (size_t)(all->list[i].last - all->list[i].first + 1);
    }
    return SN_OK;
}

// All gaps along their cubics at first, then the longer ones by what was done elsewhere: on all threads, into places of
// their own, so that none sees what another one does.
static sn_status bridge_gaps(sn_lanes *l, gaps *all) {
    bool some = false;
    list_coordinates(l, all);
    bridge_all(l, all);
    bridge_root(l);
    sn_lanes_keep_swings(l, all->swings);
    SN_TRY(list_gaps(l, all));
    all->mirrored = all->count > 0 && sn_lane_mirror_find(l, all->all, all->nall, &all->mirror);
    l->extra = all;
    SN_TRY(sn_lanes_run(l, lead_gap, all->count));
    for (int i = 0; i < all->count; i++) {
        const gap *g = &all->list[i];
        some = some || g->led;
        if (g->led) sn_lane_like_write(l, g->first, g->last, all->all, all->nall, g->values);
    }
    if (some) {
        sn_lanes_keep_swings(l, all->swings);
        sn_lanes_unwind(l);
    }
    return SN_OK;
}

// The next frame of a block in which something is hidden, pulled to where it was led.
static sn_status next_hidden(sn_lanes *l, sn_lane_worker *w, sn_lane_side *s) {
    do {
        if (s->frame >= 0 && s->frame + 1 < s->end) {
            s->frame++;
        } else {
            int block = sn_lane_next_item(l, w), first = block * BLOCK;
            s->frame = block < 0 ? -1 : first;
            if (block < 0) return SN_OK;
            s->end = BLOCK < l->nframe - first ? first + BLOCK : l->nframe;
        }
        const unsigned char *mark = mark_of(l, s->frame);
        for (size_t v = 0; v < l->nv; v++)
            s->own_weight[v] = mark[v] ? pull_of(mark[v]) * l->full[v] : l->hold[v];
        memcpy(s->start, sn_lane_pose(l, s->frame), l->nq * sizeof *s->start);
        memcpy(s->rest, s->start, l->nq * sizeof *s->rest);
    } while (!sn_lane_keep_hidden(l, s));
    s->weight = s->own_weight;
    return SN_OK;
}

static void took_hidden(sn_lanes *l, sn_lane_worker *w, sn_lane_side *s) {
    memcpy(sn_lane_pose(l, s->frame), w->q, l->nq * sizeof *w->q);
}

sn_status sn_lanes_bridge(sn_lanes *l) {
    static const sn_lane_source solved = {next_hidden, took_hidden, true};
    int blocks = (l->nframe + BLOCK - 1) / BLOCK;
    gaps all = {0};
    size_t marks = (size_t)l->nframe * l->nv + 1;
    sn_lanes_unwind(l);
    l->hidden = sn_acquire(&l->allocator, marks);
    if (l->hidden != NULL) memset(l->hidden, 0, marks);
    all.all = sn_acquire(&l->allocator, (l->nv + 1) * sizeof *all.all);
    all.any = sn_acquire(&l->allocator, (size_t)l->nframe * sizeof *all.any);
    all.mirror.of = sn_acquire(&l->allocator, (l->nv + 1) * sizeof *all.mirror.of);
    all.mirror.sign = sn_acquire(&l->allocator, (l->nv + 1) * sizeof *all.mirror.sign);
    all.swings = sn_acquire(&l->allocator, ((size_t)l->nframe * (size_t)sn_lane_nrotation(l) + 1) *
                                               sizeof *all.swings);
    const bool room = l->hidden != NULL && all.all != NULL && all.any != NULL &&
                      all.swings != NULL && all.mirror.of != NULL && all.mirror.sign != NULL;
    sn_status status = room ? sn_lanes_find_hidden(l, all.swings) : SN_ERR_MEMORY;
    if (status == SN_OK) status = bridge_gaps(l, &all);
    if (status == SN_OK) status = sn_lanes_aside(l, &solved, blocks);
    sn_release(&l->allocator, all.list);
    sn_release(&l->allocator, all.any);
    sn_release(&l->allocator, all.mirror.of);
    sn_release(&l->allocator, all.mirror.sign);
    sn_release(&l->allocator, all.all);
    sn_release(&l->allocator, all.room);
    sn_release(&l->allocator, all.values);
    sn_release(&l->allocator, all.swings);
    l->extra = NULL;
    return status;
}
