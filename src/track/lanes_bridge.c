// SPDX-License-Identifier: MIT
// What nothing sees for a while: from where it was last seen to where it is seen again.
//
// Following leaves a hidden limb where it was, or where it will be. So each degree of freedom that is seen in a
// frame by less than a tenth of what it usually is goes along the cubic that begins and ends there as fast as it
// was and will be, on top of what it did when the rest of the body moved likewise; then the frames are solved again, held to that where the goals say nothing.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/model.h"
#include "sweeps/workspace.h"
#include "track/lanes.h"

enum { BLOCK = 64 };

static const double hidden = 0.1;   // of what it usually is
static const double window = 0.08;  // seconds over which speed is measured
static const double lasting = 0.5;  // seconds; what lasts longer is led with less of it
// Pull to the cubic, of how well it is usually seen: this, and a share of how well it still is seen. The goals decide
// what they see, however little that is.
static const double beside_seen = 0.02, least_held = 2e-4;

// How a hidden one is marked: 1, and as many more as it still is seen.
enum { LEVELS = 200 };

static double pull_of(unsigned char mark) {
    double now = (double)(mark - 1) / LEVELS * hidden;
    return least_held + beside_seen * now;
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

// Which degrees of freedom are hidden in the frames of a block.
static sn_status find_hidden(sn_lanes *l, sn_lane_worker *w, int block) {
    int first = block * BLOCK, end = BLOCK < l->nframe - first ? first + BLOCK : l->nframe;
    SN_TRY(sn_problem_set_enabled(w->problem, l->rest, false));
    for (int f = first; f < end; f++) {
        int n = 0;
        double value;
        unsigned char *mark = mark_of(l, f);
        SN_TRY(l->goals(l->user, f, w->problem));
        for (int i = 0; i < l->options.goals; i++) n += sn_problem_task_active(w->problem, i);
        if (n == l->options.goals) continue;
        SN_TRY(sn_workspace_eval(w->ws, sn_lane_pose(l, f), SN_EVAL_GAUSS_NEWTON, &value));
        sn_workspace_fields_diagonal(w->ws, w->weight);
        // at this pose, were nothing missing that usually is there
        bool some = false;
        for (int i = 0; i < l->options.goals; i++) {
            if (!l->shown[i] || sn_problem_task_active(w->problem, i)) continue;
            // where it is: a loss counts for less what is far off
            const sn_task *t = sn_problem_task(w->problem, i);
            sn_vec3 p = sn_workspace_point(w->ws, t->joint, t->local);
            SN_TRY(sn_problem_set_goal(w->problem, i, (const double[3]){p.x, p.y, p.z}));
            some = true;
        }
        if (!some) continue;
        SN_TRY(sn_workspace_eval(w->ws, sn_lane_pose(l, f), SN_EVAL_GAUSS_NEWTON, &value));
        sn_workspace_fields_diagonal(w->ws, w->delta);
        for (size_t v = 0; v < l->nv; v++) {
            int at = l->model->v_of[v];
            double now = w->weight[v] / fmax(hidden * w->delta[v], 1e-30);
            mark[at] = now < 1 ? (unsigned char)(1 + LEVELS * now) : 0;
        }
    }
    return SN_OK;
}

static double *at(const sn_lanes *l, int frame, int q) { return sn_lane_pose(l, frame) + q; }

// How fast a coordinate is at the edge of a gap, towards `step`, per frame.
static double speed(const sn_lanes *l, int edge, int step, int q, size_t v) {
    int n = (int)(window * sn_lane_rate(l)), k = 0;
    if (n < 1) n = 1;
    while (k < n && edge + step * (k + 1) >= 0 && edge + step * (k + 1) < l->nframe &&
           !mark_of(l, edge + step * (k + 1))[v])
        k++;
    return k > 0 ? (*at(l, edge + step * k, q) - *at(l, edge, q)) / (step * k) : 0;
}

// --- the same motion elsewhere -------------------------------------------------------------------

// People do the same again and again: another step, another stroke. Where the rest of the body, and the limb
// before and after, moved just so at another time of the take, with the limb in sight, it moved as it did then.
enum { SAMPLES = 16, STRIDE = 2 };
static const double like = 0.12;      // rad, RMS over the other joints
static const double limb_like = 0.1;  // rad, RMS over the limb where it is seen
static const double least_gap = 0.2;  // seconds; what is shorter goes along its cubic
static const double beside = 0.15;    // seconds before and after that must be alike, too
static const double search = 30;      // seconds to each side

// A stretch of frames in which something is hidden, and how many frames later the same happened; 0: never.
typedef struct gap {
    int first, last, shift;
} gap;

typedef struct gaps {
    gap *list;
    int count;
    struct angle {
        int q, v;
    } * angles;  // of the joints but the root; slides behind them
    int nangle, nall;
    int from;   // their first coordinate where they stand one behind the other, else -1
    bool *any;  // per frame: something is hidden
} gaps;

// Squares of differences, those of the limb (1 there, else 0) apart. Four sums, none of which waits for another.
static void sum_apart(const double *x, const double *y, const double *limb, int n, double sum[2]) {
    double all[4] = {0}, own[4] = {0};
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) {
            double d = x[i + k] - y[i + k], square = d * d;
            all[k] += square;
            own[k] += limb[i + k] * square;
        }
    for (; i < n; i++) {
        double d = x[i] - y[i], square = d * d;
        all[0] += square;
        own[0] += limb[i] * square;
    }
    double part = (own[0] + own[1]) + (own[2] + own[3]);
    sum[0] += ((all[0] + all[1]) + (all[2] + all[3])) - part;
    sum[1] += part;
}

// How unlike a stretch and the one `shift` frames later are, below 1 when they pass; INFINITY where that one shows as
// little or they do not, or no better than `best`.
static double unlike(const sn_lanes *l, const gaps *all, const gap *g, int shift, double best,
                     const double *limb, int nlimb) {
    int margin = (int)(beside * sn_lane_rate(l)) + 2, low = g->first - margin,
        span = g->last + margin - low;
    const unsigned char *hidden_here = mark_of(l, g->first + (g->last - g->first) / 2);
    // 0: of the others, 1: of the limb
    double sum[2] = {0, 0}, enough = fmin(2 * best, 1) * like * like * SAMPLES * all->nangle;
    int n[2] = {0, 0};
    for (int k = 0; k < SAMPLES; k++) {
        int f = low + (int)((long)span * k / (SAMPLES - 1));
        const double *x = sn_lane_pose(l, f), *y = sn_lane_pose(l, f + shift);
        const unsigned char *here = mark_of(l, f), *there = mark_of(l, f + shift);
        bool some = all->any[f] || all->any[f + shift];
        if (some || all->from < 0) {
            for (int i = 0; i < all->nangle; i++) {
                int q = all->angles[i].q, v = all->angles[i].v;
                if (hidden_here[v] && there[v]) return (double)INFINITY;
                if (here[v] || there[v]) continue;
                double d = x[q] - y[q];
                sum[hidden_here[v] != 0] += d * d;
                n[hidden_here[v] != 0]++;
            }
        } else {
            sum_apart(x + all->from, y + all->from, limb, all->nangle, sum);
            n[0] += all->nangle - nlimb;
            n[1] += nlimb;
        }
        for (int i = all->nangle; some && i < all->nall; i++)
            if (hidden_here[all->angles[i].v] && there[all->angles[i].v]) return (double)INFINITY;
        // it will not get less
        if (sum[0] > enough) return (double)INFINITY;
    }
    if (n[0] == 0 || n[1] == 0) return (double)INFINITY;
    double others = sum[0] / n[0] / (like * like), own = sum[1] / n[1] / (limb_like * limb_like);
    return fmax(others, own) < 1 ? 0.5 * (others + own) : (double)INFINITY;
}

static sn_status find_like(sn_lanes *l, sn_lane_worker *w, int i) {
    const gaps *all = l->extra;
    gap *g = &all->list[i];
    double rate = sn_lane_rate(l), best = 1;
    int margin = (int)(beside * rate) + 2, reach = (int)(search * rate);
    g->shift = 0;
    if (g->last - g->first + 1 < least_gap * rate || g->first - margin < 0 ||
        g->last + margin >= l->nframe)
        return SN_OK;
    const unsigned char *hidden_here = mark_of(l, g->first + (g->last - g->first) / 2);
    int nlimb = 0;
    for (int k = 0; k < all->nangle; k++) {
        w->weight[k] = hidden_here[all->angles[k].v] != 0;
        nlimb += hidden_here[all->angles[k].v] != 0;
    }
    for (int shift = -reach; shift <= reach; shift += STRIDE) {
        if (g->first - margin + shift < 0 || g->last + margin + shift >= l->nframe || shift == 0)
            continue;
        double d = unlike(l, all, g, shift, best, w->weight, nlimb);
        if (d < best) best = d, g->shift = shift;
    }
    return SN_OK;
}

static int by_frames(const void *a, const void *b) {
    const gap *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : (x->last > y->last) - (x->last < y->last);
}

// The gaps of all angles, into `list` where there is one; how many. Many angles have the same.
static int list_gaps(const sn_lanes *l, const gaps *all, gap *list) {
    int n = 0;
    for (int i = 0; i < all->nall; i++)
        for (int f = 0, first = -1; f <= l->nframe; f++) {
            bool off = f < l->nframe && all->any[f] && mark_of(l, f)[all->angles[i].v];
            if (off && first < 0) first = f;
            if (off || first < 0) continue;
            if (list != NULL) list[n] = (gap){first, f - 1, 0};
            n++;
            first = -1;
        }
    return n;
}

static void list_angles(const sn_lanes *l, gaps *all) {
    for (unsigned slides = 0; slides < 2; slides++) {
        for (int k = 1; k < l->model->njoint; k++) {
            const sn_joint *j = &l->model->joint[k];
            for (int i = 0; j->ops->quaternion < 0 && i < j->nv; i++)
                if ((j->lengths >> i & 1) == slides)
                    all->angles[all->nall++] = (struct angle){j->q0 + i, j->v0 + i};
        }
        if (slides == 0) all->nangle = all->nall;
    }
    all->from = all->nangle > 0 ? all->angles[0].q : -1;
    for (int i = 0; i < all->nangle; i++)
        if (all->angles[i].q != all->angles[0].q + i) all->from = -1;
    for (int f = 0; f < l->nframe; f++) {
        const unsigned char *mark = mark_of(l, f);
        all->any[f] = false;
        for (size_t v = 0; v < l->nv && !all->any[f]; v++) all->any[f] = mark[v] != 0;
    }
}

// From `first` to `last` along the same motion elsewhere, or from nothing, and a cubic that leads from how it was
// before to how it is behind.
static void bridge(sn_lanes *l, int first, int last, int shift, int q, size_t v) {
    int a = first - 1, b = last + 1;
    if (a < 0 || b >= l->nframe) return;
    double T = b - a, x0 = *at(l, a, q), x1 = *at(l, b, q);
    double v0 = speed(l, a, -1, q, v), v1 = speed(l, b, 1, q, v);
    if (shift != 0) {
        x0 -= *at(l, a + shift, q), x1 -= *at(l, b + shift, q);
        v0 -= speed(l, a + shift, -1, q, v), v1 -= speed(l, b + shift, 1, q, v);
    }
    double lasts = fmin(T, lasting * sn_lane_rate(l));
    v0 *= lasts, v1 *= lasts;
    for (int f = first; f <= last; f++) {
        double s = (f - a) / T, r = 1 - s, base = shift != 0 ? *at(l, f + shift, q) : 0;
        *at(l, f, q) = base + x0 * r * r * (1 + 2 * s) + x1 * s * s * (3 - 2 * s) + v0 * s * r * r -
                       v1 * s * s * r;
    }
}

static void bridge_all(sn_lanes *l, const gaps *all) {
    for (int k = 1; k < l->model->njoint; k++) {
        const sn_joint *j = &l->model->joint[k];
        if (j->ops->quaternion >= 0) continue;
        for (int i = 0; i < j->nv; i++) {
            size_t v = (size_t)j->v0 + (size_t)i;
            for (int f = 0, first = -1; f <= l->nframe; f++) {
                bool off = f < l->nframe && all->any[f] && mark_of(l, f)[v];
                if (off && first < 0) first = f;
                if (off || first < 0) continue;
                const gap key = {first, f - 1, 0};
                const gap *found = all->count > 0 ? bsearch(&key, all->list, (size_t)all->count,
                                                            sizeof key, by_frames)
                                                  : NULL;
                bridge(l, first, f - 1, found != NULL ? found->shift : 0, j->q0 + i, v);
                first = -1;
            }
        }
    }
}

// Each gap is looked up once, on all threads: that reads only what is seen, and bridges lead over the rest.
static sn_status bridge_gaps(sn_lanes *l, gaps *all) {
    list_angles(l, all);
    int n = list_gaps(l, all, NULL);
    if (n == 0) return SN_OK;
    all->list = sn_acquire(&l->allocator, (size_t)n * sizeof *all->list);
    if (all->list == NULL) return SN_ERR_MEMORY;
    (void)list_gaps(l, all, all->list);
    qsort(all->list, (size_t)n, sizeof *all->list, by_frames);
    for (int i = 0; i < n; i++)
        if (i == 0 || by_frames(&all->list[i], &all->list[all->count - 1]) != 0)
            all->list[all->count++] = all->list[i];
    l->extra = all;
    SN_TRY(sn_lanes_run(l, find_like, all->count));
    bridge_all(l, all);
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
    l->hidden = sn_acquire(&l->allocator, marks);
    if (l->hidden != NULL) memset(l->hidden, 0, marks);
    all.angles = sn_acquire(&l->allocator, (l->nv + 1) * sizeof *all.angles);
    all.any = sn_acquire(&l->allocator, (size_t)l->nframe * sizeof *all.any);
    sn_status status = l->hidden == NULL || all.angles == NULL || all.any == NULL
                           ? SN_ERR_MEMORY
                           : sn_lanes_run(l, find_hidden, blocks);
    if (status == SN_OK) status = bridge_gaps(l, &all);
    if (status == SN_OK) status = sn_lanes_aside(l, &solved, blocks);
    sn_release(&l->allocator, all.list);
    sn_release(&l->allocator, all.any);
    sn_release(&l->allocator, all.angles);
    l->extra = NULL;
    return status;
}
