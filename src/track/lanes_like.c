// SPDX-License-Identifier: MIT
// What nothing sees for a while, by what it did when the rest of the body moved likewise.
//
// People do the same again and again: another step, another stroke; and limbs move together: who jumps swings both arms. So
// the coordinates y of a hidden limb are a Gaussian process of time t and of the posture p of all that is seen, angles,
// which way is up, and their speeds, with the covariance
//
//   4 exp(-|p - p'|^2 / 2 l^2) + (1 + r) exp(-r),     r = sqrt(3) |t - t'| / T,
//
// and are led by its mean, given the frames beside the gap and those of the take in which the rest of the body was most like
// any moment of it. Far from all of these the first term says nothing, and the second leads from one edge to the other
// (Matern's, which goes on as fast as before for a moment only). What is left of a difference at both edges goes along a
// cubic. l = 0.35 rad RMS over the angles, T = 0.5 s: half or twice of either, of the 4 or of the number of frames change the
// errors of ten takes by a twentieth.
#include <math.h>
#include <stdlib.h>

#include "linalg/dense.h"
#include "math/euler_near.h"
#include "math/exp.h"
#include "math/rotation.h"
#include "math/round.h"
#include "model/model.h"
#include "track/lanes.h"

enum { LIKE = 80, EDGE = 9, KNOWN = LIKE + 2 * EDGE, LOOKS = 16, UP = 3 };
static const double posture = 0.35, strength = 4;  // rad; of the posture against time
static const double upright = 2;                   // of which way is up, against an angle
static const double together = 0.5;                // seconds over which time alone tells something
static const double noise = 1e-3;
static const double ahead = 0.05;                  // seconds that a speed counts for
static const double apart = 1.0 / 30;              // seconds between frames that are looked at
static const double edge_step = 0.025;             // seconds between those beside the gap
static const double search = 30;                   // seconds to each side
static const double whole = 0x1.921fb54442d18p+2;  // 2 pi, a turn
static const int fewest = 4;                       // angles; fewer are no posture

// One gap: coordinates of the limb, angles of the rest, and the frames that are known.
typedef struct likeness {
    const sn_lanes *l;
    int first, last, speed;  // frames to each side over which a speed is measured
    int *limb, nlimb;        // into coordinates
    int *rest, nrest;
    const sn_lane_coordinate *all;
    double *about;         // nrest: angles are taken within half a turn of these
    double *posture;       // KNOWN + LOOKS rows of width()
    double *K, *y, *mean;  // KNOWN x KNOWN; nlimb columns of KNOWN; nlimb
    double *k, *unlike;    // KNOWN each
    double *edge[4];       // nlimb: what is left at the edges, and how fast it changes
    bool *turns;           // nlimb: the first of three angles that make a rotation
    sn_mat3 *between;      // nlimb: what that is taken against
    int frame[KNOWN], count;
} likeness;

static const unsigned char *marks(const likeness *g, int frame) {
    return g->l->hidden + (size_t)frame * g->l->nv;
}

static double near_to(double x, double y) { return x - whole * sn_round((x - y) / whole); }

// Which way is up for the figure.
static sn_vec3 up_of(const likeness *g, const double *x) {
    const sn_joint *root = &g->l->model->joint[0];
    sn_mat3 R = sn_joint_rotation(root, x + root->q0), back = m3_transpose(&R);
    return v3_scale(upright, back.c[g->l->options.up - 1]);
}

// Angles and which way is up, and what they change by in a moment; each as a share of all.
static void measure(const likeness *g, int frame, double *out) {
    const sn_lanes *l = g->l;
    int low = frame - g->speed < 0 ? 0 : frame - g->speed,
        high = frame + g->speed >= l->nframe ? l->nframe - 1 : frame + g->speed;
    const double *x = sn_lane_pose(l, frame), *x0 = sn_lane_pose(l, low),
                 *x1 = sn_lane_pose(l, high);
    const double share = 1 / sqrt(g->nrest), per = ahead * sn_lane_rate(l) / (high - low);
    double *change = out + g->nrest + UP;
    for (int i = 0; i < g->nrest; i++) {
        int q = g->all[g->rest[i]].q;
        out[i] = share * near_to(x[q], g->about[i]);
        change[i] = share * per * (x1[q] - x0[q]);
    }
    sn_vec3 up = {0, 0, 0}, rises = up;
    if (l->options.up > 0 && l->placed == 1)
        up = up_of(g, x), rises = v3_sub(up_of(g, x1), up_of(g, x0));
    for (int k = 0; k < UP; k++) {
        out[g->nrest + k] = share * v3_at(up, k);
        change[g->nrest + k] = share * per * v3_at(rises, k);
    }
}

static double square_between(const double *x, const double *y, int n) {
    double sum[4] = {0};
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) sum[k] += (x[i + k] - y[i + k]) * (x[i + k] - y[i + k]);
    for (; i < n; i++) sum[0] += (x[i] - y[i]) * (x[i] - y[i]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static int width(const likeness *g) { return 2 * (g->nrest + UP); }

static double *row(const likeness *g, int i) { return g->posture + (size_t)i * (size_t)width(g); }

static double covariance(const likeness *g, const double *p, int frame, int known) {
    double seconds = sqrt(3) * abs(frame - g->frame[known]) / sn_lane_rate(g->l) / together,
           off = square_between(p, row(g, known), width(g)) / (posture * posture);
    return strength * sn_exp(-0.5 * off) + (seconds < 40 ? (1 + seconds) * sn_exp(-seconds) : 0);
}

static bool shows_limb(const likeness *g, int frame) {
    const unsigned char *mark = marks(g, frame);
    for (int i = 0; i < g->nlimb; i++)
        if (mark[g->all[g->limb[i]].v]) return false;
    return true;
}

// Is this the gap of a coordinate: hidden in all of it, and not beside it?
static bool is_gap_of(const sn_lanes *l, int v, int first, int last) {
    const unsigned char *mark = l->hidden + (size_t)v;
    if (mark[(size_t)(first - 1) * l->nv] || mark[(size_t)(last + 1) * l->nv]) return false;
    for (int f = first; f <= last; f++)
        if (!mark[(size_t)f * l->nv]) return false;
    return true;
}

static bool is_seen(const sn_lanes *l, int v, int first, int last) {
    for (int f = first < 0 ? 0 : first; f <= last && f < l->nframe; f++)
        if (l->hidden[(size_t)f * l->nv + (size_t)v]) return false;
    return true;
}

static bool leads(const sn_lanes *l, int joint, int first, int last) {
    const sn_joint *j = &l->model->joint[joint];
    for (int i = 0; i < j->nv; i++)
        if (!is_gap_of(l, j->v0 + i, first, last)) return false;
    return true;
}

// The limb is what the gap leads, the rest what is seen through all of it.
static void divide(likeness *g, int ncoordinate) {
    for (int i = 0; i < ncoordinate; i++) {
        const sn_lane_coordinate *at = &g->all[i];
        if (leads(g->l, at->joint, g->first, g->last)) {
            g->limb[g->nlimb++] = i;
        } else if (!at->slides &&
                   is_seen(g->l, at->v, g->first - 1 - g->speed, g->last + 1 + g->speed)) {
            g->rest[g->nrest++] = i;
        }
    }
}

// The frames that are most like any moment of the gap, at most LIKE of them.
static void choose_like(likeness *g) {
    const sn_lanes *l = g->l;
    const double rate = sn_lane_rate(l);
    int step = (int)fmax(apart * rate, 1), reach = (int)(search * rate),
        low = g->first - reach < 0 ? 0 : g->first - reach,
        high = g->last + reach >= l->nframe ? l->nframe - 1 : g->last + reach,
        length = g->last - g->first;
    for (int k = 0; k < LOOKS; k++)
        measure(g, g->first + (int)((int64_t)length * k / (LOOKS - 1)), row(g, KNOWN + k));
    for (int f = low; f <= high; f += step) {
        if ((f >= g->first && f <= g->last) || !shows_limb(g, f)) continue;
        // the place behind the last is free; what comes to stand behind all is dropped
        double least = INFINITY;
        int at = g->count < LIKE ? g->count : LIKE;
        measure(g, f, g->k);
        for (int k = 0; k < LOOKS; k++)
            least = fmin(least, square_between(g->k, row(g, KNOWN + k), width(g)));
        if (at == LIKE && !(least < g->unlike[LIKE - 1])) continue;
        if (at == LIKE) at--;
        for (; at > 0 && least < g->unlike[at - 1]; at--)
            g->unlike[at] = g->unlike[at - 1], g->frame[at] = g->frame[at - 1];
        g->unlike[at] = least, g->frame[at] = f;
        if (g->count < LIKE) g->count++;
    }
}

static void add_edges(likeness *g) {
    int step = (int)fmax(edge_step * sn_lane_rate(g->l), 1);
    for (int k = 0; k < 2 * EDGE; k++) {
        int f = k < EDGE ? g->first - 1 - k * step : g->last + 1 + (k - EDGE) * step;
        if (f < 0 || f >= g->l->nframe || !shows_limb(g, f)) continue;
        bool there = false;
        for (int i = 0; i < g->count && !there; i++) there = g->frame[i] == f;
        if (!there) g->frame[g->count++] = f;
    }
}

static sn_mat3 against(const sn_mat3 *A, const sn_mat3 *B) {
    sn_mat3 back = m3_transpose(A);
    return m3_mulm(&back, B);
}

// Three angles of a joint are one rotation, which is taken against the middle between both edges: arms over the head have
// angles far from each other that are nearly the same.
static void find_turns(likeness *g) {
    const sn_lanes *l = g->l;
    const double *a = sn_lane_pose(l, g->first - 1), *b = sn_lane_pose(l, g->last + 1);
    for (int c = 0; c < g->nlimb; c++) {
        const sn_joint *j = &l->model->joint[g->all[g->limb[c]].joint];
        g->turns[c] = sn_lane_is_rotation(j);
        if (!g->turns[c]) continue;
        sn_mat3 A = sn_joint_rotation(j, a + j->q0), B = sn_joint_rotation(j, b + j->q0),
                way = against(&A, &B);
        sn_mat3 half = sn_mat3_from_quat(sn_quat_exp(v3_scale(0.5, sn_rotation_log(&way))));
        g->between[c] = m3_mulm(&A, &half);
        g->turns[c + 1] = g->turns[c + 2] = false;
        c += 2;
    }
}

// The limb in a frame that shows it.
static void read_limb(const likeness *g, int frame, double *out) {
    const sn_lanes *l = g->l;
    const double *x = sn_lane_pose(l, frame), *edge = sn_lane_pose(l, g->first - 1);
    for (int c = 0; c < g->nlimb; c++) {
        const sn_lane_coordinate *at = &g->all[g->limb[c]];
        if (g->turns[c]) {
            sn_mat3 R = sn_joint_rotation(&l->model->joint[at->joint], x + at->q),
                    off = against(&g->between[c], &R);
            sn_vec3 w = sn_rotation_log(&off);
            out[c] = w.x, out[c + 1] = w.y, out[c + 2] = w.z;
            c += 2;
        } else {
            out[c] = at->slides ? x[at->q] : near_to(x[at->q], edge[at->q]);
        }
    }
}

// Back into coordinates, those that are nearest to the frame's before.
static void put_limb(const likeness *g, const double *y, const double *before, double *out) {
    for (int c = 0; c < g->nlimb; c++) {
        if (g->turns[c]) {
            const sn_joint *j = &g->l->model->joint[g->all[g->limb[c]].joint];
            sn_mat3 off = sn_mat3_from_quat(sn_quat_exp(v3(y[c], y[c + 1], y[c + 2]))),
                    R = m3_mulm(&g->between[c], &off);
            sn_euler_near(j->order, 3, &R, before + c, out + c);
            c += 2;
        } else {
            out[c] = y[c];
        }
    }
}

// K^-1 (y - mean), in place of y. False when there is nothing to learn from.
static bool learn(likeness *g) {
    int n = g->count;
    if (n < 2) return false;
    for (int i = 0; i < n; i++) measure(g, g->frame[i], row(g, i));
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) g->K[i * n + j] = covariance(g, row(g, i), g->frame[i], j);
        g->K[i * n + i] += noise;
    }
    if (!sn_cholesky(g->K, n)) return false;
    for (int i = 0; i < n; i++) {
        read_limb(g, g->frame[i], g->unlike);
        for (int c = 0; c < g->nlimb; c++) g->y[(size_t)c * KNOWN + (size_t)i] = g->unlike[c];
    }
    for (int c = 0; c < g->nlimb; c++) {
        double *y = g->y + (size_t)c * KNOWN;
        g->mean[c] = 0;
        for (int i = 0; i < n; i++) g->mean[c] += y[i] / n;
        for (int i = 0; i < n; i++) y[i] -= g->mean[c];
        sn_cholesky_forward(g->K, n, y);
        sn_cholesky_backward(g->K, n, y);
    }
    return true;
}

// The limb in a frame, by its posture.
static void guess(const likeness *g, int frame, double *out) {
    double *p = row(g, KNOWN);
    measure(g, frame, p);
    for (int i = 0; i < g->count; i++) g->k[i] = covariance(g, p, frame, i);
    for (int c = 0; c < g->nlimb; c++) {
        const double *y = g->y + (size_t)c * KNOWN;
        double sum = g->mean[c];
        for (int i = 0; i < g->count; i++) sum += g->k[i] * y[i];
        out[c] = sum;
    }
}

// How far the guess is off at an edge, and by how much that changes in a frame.
static void look_at_edge(likeness *g, int edge, int step, double *off, double *change) {
    const sn_lanes *l = g->l;
    int n = sn_lane_speed_window(l), k = 0;
    while (k < n) {
        int f = edge + step * (k + 1);
        if (f < 0 || f >= l->nframe || !shows_limb(g, f)) break;
        k++;
    }
    guess(g, edge, off);
    read_limb(g, edge, g->unlike);
    for (int c = 0; c < g->nlimb; c++) off[c] = g->unlike[c] - off[c];
    guess(g, edge + step * k, change);
    read_limb(g, edge + step * k, g->unlike);
    for (int c = 0; c < g->nlimb; c++)
        change[c] = k > 0 ? (g->unlike[c] - change[c] - off[c]) / (step * k) : 0;
}

static void lead(likeness *g, double *values) {
    const sn_lanes *l = g->l;
    look_at_edge(g, g->first - 1, -1, g->edge[0], g->edge[1]);
    look_at_edge(g, g->last + 1, 1, g->edge[2], g->edge[3]);
    double *before = g->mean + g->nlimb;
    for (int c = 0; c < g->nlimb; c++)
        before[c] = sn_lane_pose(l, g->first - 1)[g->all[g->limb[c]].q];
    for (int f = g->first; f <= g->last; f++, before = values, values += g->nlimb) {
        guess(g, f, g->unlike);
        for (int c = 0; c < g->nlimb; c++)
            g->unlike[c] += sn_lane_cubic(l, g->first, g->last, f, g->edge[0][c], g->edge[2][c],
                                          g->edge[1][c], g->edge[3][c]);
        put_limb(g, g->unlike, before, values);
    }
}

void sn_lane_like_write(sn_lanes *l, int first, int last, const sn_lane_coordinate *all, int count,
                        const double *values) {
    int nlimb = 0;
    for (int i = 0; i < count; i++) nlimb += leads(l, all[i].joint, first, last);
    for (int i = 0, c = 0; i < count; i++) {
        if (!leads(l, all[i].joint, first, last)) continue;
        for (int f = first; f <= last; f++)
            sn_lane_pose(l, f)[all[i].q] = values[(size_t)(f - first) * (size_t)nlimb + (size_t)c];
        c++;
    }
}

size_t sn_lane_like_room(int ncoordinate) {
    size_t n = (size_t)ncoordinate + UP;
    return n + (KNOWN + LOOKS) * 2 * n + KNOWN * KNOWN + KNOWN * n + 2 * n + (KNOWN + 2 * n) +
           (KNOWN + n) + 4 * n + 9 * n + 3 * n;
}

bool sn_lane_like(const sn_lanes *l, int first, int last, const sn_lane_coordinate *all, int count,
                  double *room, double *values) {
    likeness g = {.l = l, .first = first, .last = last, .all = all};
    size_t n = (size_t)count + UP;
    g.speed = (int)fmax(ahead * sn_lane_rate(l), 1);
    g.about = room;
    g.posture = g.about + n;
    g.K = g.posture + (KNOWN + LOOKS) * 2 * n;
    g.y = g.K + KNOWN * KNOWN;
    g.mean = g.y + KNOWN * n;
    g.k = g.mean + 2 * n;
    g.unlike = g.k + KNOWN + 2 * n;
    for (size_t i = 0; i < 4; i++) g.edge[i] = g.unlike + KNOWN + n + i * n;
    g.between = (sn_mat3 *)(g.edge[3] + n);
    g.limb = (int *)(g.between + n);
    g.rest = g.limb + n;
    g.turns = (bool *)(g.rest + n);
    divide(&g, count);
    if (g.nlimb == 0 || g.nrest < fewest) return false;
    find_turns(&g);
    const double *middle = sn_lane_pose(l, first + (last - first) / 2);
    for (int i = 0; i < g.nrest; i++) g.about[i] = middle[all[g.rest[i]].q];
    choose_like(&g);
    add_edges(&g);
    if (!learn(&g)) return false;
    lead(&g, values);
    return true;
}
