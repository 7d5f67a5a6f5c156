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
// any moment of it, as they are or, what the other side does, in a mirror, where time tells nothing. Far from all of these
// the first term says nothing, and the second leads from one edge to the other (Matern's, which goes on as fast as before for
// a moment only). What is left of a difference at both edges goes along a cubic. l = 0.35 rad RMS over the angles, T = 0.5 s,
// as the 4 and the number of frames, were chosen with HDM05's and CMU's takes and the example in view.
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

// A frame, as it is or in a mirror.
typedef struct moment {
    int frame;
    bool mirrored;
} moment;

// One gap: coordinates of the limb, angles of the rest, and the frames that are known.
typedef struct likeness {
    const sn_lanes *l;
    int first, last, speed;  // frames to each side over which a speed is measured
    int *limb, nlimb;        // into coordinates
    int *rest, nrest;
    const sn_lane_coordinate *all;
    int nall;
    const sn_lane_mirror *mirror;  // NULL: none
    double *image[2];              // nq: poses in it
    double *about;                 // nrest: angles are taken within half a turn of these
    sn_mat3 *centre;               // nrest: and rotations against these
    double *posture;               // KNOWN + LOOKS rows of width()
    double *K, *y, *mean;          // KNOWN x KNOWN; nlimb columns of KNOWN; nlimb
    double *k, *unlike;            // KNOWN each
    double *edge[4];               // nlimb: what is left at the edges, and how fast it changes
    bool *turns;                   // nlimb: the first of three angles that make a rotation
    sn_mat3 *between;              // nlimb: what that is taken against
    moment at[KNOWN];
    int count;
} likeness;

static const unsigned char *marks(const likeness *g, int frame) {
    return g->l->hidden + (size_t)frame * g->l->nv;
}

static double near_to(double x, double y) { return x - whole * sn_round((x - y) / whole); }

static moment as_it_is(int frame) { return (moment){frame, false}; }

// A frame's pose; in a mirror only the list's coordinates are there.
static const double *pose_of(const likeness *g, moment m, double *image) {
    const double *x = sn_lane_pose(g->l, m.frame);
    if (!m.mirrored) return x;
    for (int i = 0; i < g->nall; i++)
        image[g->all[i].q] = g->mirror->sign[i] * x[g->all[g->mirror->of[i]].q];
    return image;
}

static bool knows_up(const likeness *g) { return g->l->options.up > 0 && g->l->placed == 1; }

// Which way is up for the figure.
static sn_vec3 up_of(const likeness *g, moment m) {
    const sn_joint *root = &g->l->model->joint[0];
    sn_mat3 R = sn_joint_rotation(root, sn_lane_pose(g->l, m.frame) + root->q0),
            back = m3_transpose(&R);
    sn_vec3 up = back.c[g->l->options.up - 1];
    return v3_scale(upright, m.mirrored ? sn_lane_reflect(up, g->mirror->across) : up);
}

static sn_mat3 against(const sn_mat3 *A, const sn_mat3 *B) {
    sn_mat3 back = m3_transpose(A);
    return m3_mulm(&back, B);
}

static sn_vec3 turn_between(const sn_mat3 *A, const sn_mat3 *B) {
    sn_mat3 way = against(A, B);
    return sn_rotation_log(&way);
}

static void put(double *out, double scale, sn_vec3 x) {
    for (int k = 0; k < 3; k++) out[k] = scale * v3_at(x, k);
}

// Angles and which way is up, each as a share of all. Three angles that make a rotation are its turn: arms over the head have
// angles far from each other that are nearly the same.
static void measure_posture(const likeness *g, moment m, double *out) {
    const sn_lanes *l = g->l;
    const double *x = pose_of(g, m, g->image[0]), share = 1 / sqrt(g->nrest);
    for (int i = 0; i < g->nrest; i++) {
        const sn_lane_coordinate *at = &g->all[g->rest[i]];
        const sn_joint *j = &l->model->joint[at->joint];
        if (!sn_lane_is_rotation(j)) {
            out[i] = share * near_to(x[at->q], g->about[i]);
            continue;
        }
        sn_mat3 R = sn_joint_rotation(j, x + j->q0);
        put(out + i, share, turn_between(&g->centre[i], &R));
        i += 2;
    }
    put(out + g->nrest, share, knows_up(g) ? up_of(g, m) : v3(0, 0, 0));
}

// What they change by in a moment.
static void measure_speed(const likeness *g, moment m, double *out) {
    const sn_lanes *l = g->l;
    const int last = l->nframe - 1;
    const moment low = {m.frame - g->speed < 0 ? 0 : m.frame - g->speed, m.mirrored},
                 high = {m.frame + g->speed > last ? last : m.frame + g->speed, m.mirrored};
    const double *x0 = pose_of(g, low, g->image[0]), *x1 = pose_of(g, high, g->image[1]),
                 per = ahead * sn_lane_rate(l) / (high.frame - low.frame) / sqrt(g->nrest);
    for (int i = 0; i < g->nrest; i++) {
        const sn_lane_coordinate *at = &g->all[g->rest[i]];
        const sn_joint *j = &l->model->joint[at->joint];
        if (!sn_lane_is_rotation(j)) {
            out[i] = per * (x1[at->q] - x0[at->q]);
            continue;
        }
        sn_mat3 R0 = sn_joint_rotation(j, x0 + j->q0), R1 = sn_joint_rotation(j, x1 + j->q0);
        put(out + i, per, turn_between(&R0, &R1));
        i += 2;
    }
    put(out + g->nrest, per, knows_up(g) ? v3_sub(up_of(g, high), up_of(g, low)) : v3(0, 0, 0));
}

static int half_width(const likeness *g) { return g->nrest + UP; }
static int width(const likeness *g) { return 2 * half_width(g); }

static void measure(const likeness *g, moment m, double *out) {
    measure_posture(g, m, out);
    measure_speed(g, m, out + half_width(g));
}

static double square_between(const double *x, const double *y, int n) {
    double sum[4] = {0};
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) sum[k] += (x[i + k] - y[i + k]) * (x[i + k] - y[i + k]);
    for (; i < n; i++) sum[0] += (x[i] - y[i]) * (x[i] - y[i]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static double *row(const likeness *g, int i) { return g->posture + (size_t)i * (size_t)width(g); }

static double covariance(const likeness *g, const double *p, moment m, int known) {
    const moment k = g->at[known];
    double seconds = sqrt(3) * abs(m.frame - k.frame) / sn_lane_rate(g->l) / together,
           off = square_between(p, row(g, known), width(g)) / (posture * posture);
    bool in_time = m.mirrored == k.mirrored && seconds < 40;
    return strength * sn_exp(-0.5 * off) + (in_time ? (1 + seconds) * sn_exp(-seconds) : 0);
}

static bool shows_limb(const likeness *g, moment m) {
    const unsigned char *mark = marks(g, m.frame);
    for (int i = 0; i < g->nlimb; i++)
        if (mark[g->all[m.mirrored ? g->mirror->of[g->limb[i]] : g->limb[i]].v]) return false;
    return true;
}

// The take begins or ends with some gaps: those have one edge.
static bool has_edge(const sn_lanes *l, int frame) { return frame >= 0 && frame < l->nframe; }

// The pose at an edge, or at the only one.
static const double *edge_pose(const likeness *g, bool behind) {
    const int frame = behind ? g->last + 1 : g->first - 1;
    return sn_lane_pose(g->l, has_edge(g->l, frame) ? frame : behind ? g->first - 1 : g->last + 1);
}

// Is this the gap of a coordinate: hidden in all of it, and not beside it?
static bool is_gap_of(const sn_lanes *l, int v, int first, int last) {
    const unsigned char *mark = l->hidden + (size_t)v;
    if (has_edge(l, first - 1) && mark[(size_t)(first - 1) * l->nv]) return false;
    if (has_edge(l, last + 1) && mark[(size_t)(last + 1) * l->nv]) return false;
    for (int f = first; f <= last; f++)
        if (!mark[(size_t)f * l->nv]) return false;
    return true;
}

static bool is_seen(const sn_lanes *l, int joint, int first, int last) {
    const sn_joint *j = &l->model->joint[joint];
    for (int f = first < 0 ? 0 : first; f <= last && f < l->nframe; f++)
        for (int i = 0; i < j->nv; i++)
            if (l->hidden[(size_t)f * l->nv + (size_t)(j->v0 + i)]) return false;
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
                   is_seen(g->l, at->joint, g->first - 1 - g->speed, g->last + 1 + g->speed)) {
            g->rest[g->nrest++] = i;
        }
    }
}

// How far what is measured is from the moment of the gap that is most like it, by its first n numbers.
static double least_between(const likeness *g, int n) {
    double least = INFINITY;
    for (int k = 0; k < LOOKS; k++) least = fmin(least, square_between(g->k, row(g, KNOWN + k), n));
    return least;
}

// One more moment, if it is among the LIKE that are most like any of the gap's.
static void consider(likeness *g, moment m) {
    int at = g->count;
    const double limit = at == LIKE ? g->unlike[LIKE - 1] : INFINITY;
    // speeds cost more, and most are far off without them
    measure_posture(g, m, g->k);
    double least = least_between(g, half_width(g));
    if (!(least < limit)) return;
    measure_speed(g, m, g->k + half_width(g));
    least = least_between(g, width(g));
    if (!(least < limit)) return;
    // the place behind the last is free; what comes to stand behind all is dropped
    if (at == LIKE) at--;
    for (; at > 0 && least < g->unlike[at - 1]; at--)
        g->unlike[at] = g->unlike[at - 1], g->at[at] = g->at[at - 1];
    g->unlike[at] = least, g->at[at] = m;
    if (g->count < LIKE) g->count++;
}

static void choose_like(likeness *g) {
    const sn_lanes *l = g->l;
    const double rate = sn_lane_rate(l);
    int step = (int)fmax(apart * rate, 1), reach = (int)(search * rate),
        low = g->first - reach < 0 ? 0 : g->first - reach,
        high = g->last + reach >= l->nframe ? l->nframe - 1 : g->last + reach,
        length = g->last - g->first;
    for (int k = 0; k < LOOKS; k++)
        measure(g, as_it_is(g->first + (int)((int64_t)length * k / (LOOKS - 1))),
                row(g, KNOWN + k));
    for (int f = low; f <= high; f += step) {
        const moment own = {f, false}, image = {f, true};
        if ((f < g->first || f > g->last) && shows_limb(g, own)) consider(g, own);
        if (g->mirror != NULL && shows_limb(g, image)) consider(g, image);
    }
}

static void add_edges(likeness *g) {
    int step = (int)fmax(edge_step * sn_lane_rate(g->l), 1);
    for (int k = 0; k < 2 * EDGE; k++) {
        moment m = as_it_is(k < EDGE ? g->first - 1 - k * step : g->last + 1 + (k - EDGE) * step);
        if (m.frame < 0 || m.frame >= g->l->nframe || !shows_limb(g, m)) continue;
        bool there = false;
        for (int i = 0; i < g->count && !there; i++)
            there = g->at[i].frame == m.frame && !g->at[i].mirrored;
        if (!there) g->at[g->count++] = m;
    }
}

// A rotation of the limb is taken against the middle between both edges.
static void find_turns(likeness *g) {
    const sn_lanes *l = g->l;
    const double *a = edge_pose(g, false), *b = edge_pose(g, true);
    for (int c = 0; c < g->nlimb; c++) {
        const sn_joint *j = &l->model->joint[g->all[g->limb[c]].joint];
        g->turns[c] = sn_lane_is_rotation(j);
        if (!g->turns[c]) continue;
        sn_mat3 A = sn_joint_rotation(j, a + j->q0), B = sn_joint_rotation(j, b + j->q0);
        sn_mat3 half = sn_mat3_from_quat(sn_quat_exp(v3_scale(0.5, turn_between(&A, &B))));
        g->between[c] = m3_mulm(&A, &half);
        g->turns[c + 1] = g->turns[c + 2] = false;
        c += 2;
    }
}

// The limb in a moment that shows it.
static void read_limb(const likeness *g, moment m, double *out) {
    const sn_lanes *l = g->l;
    const double *x = pose_of(g, m, g->image[0]), *edge = edge_pose(g, false);
    for (int c = 0; c < g->nlimb; c++) {
        const sn_lane_coordinate *at = &g->all[g->limb[c]];
        if (g->turns[c]) {
            sn_mat3 R = sn_joint_rotation(&l->model->joint[at->joint], x + at->q);
            put(out + c, 1, turn_between(&g->between[c], &R));
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
    for (int i = 0; i < n; i++) measure(g, g->at[i], row(g, i));
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) g->K[i * n + j] = covariance(g, row(g, i), g->at[i], j);
        g->K[i * n + i] += noise;
    }
    if (!sn_cholesky(g->K, n)) return false;
    for (int i = 0; i < n; i++) {
        read_limb(g, g->at[i], g->unlike);
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
    measure(g, as_it_is(frame), p);
    for (int i = 0; i < g->count; i++) g->k[i] = covariance(g, p, as_it_is(frame), i);
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
    if (!has_edge(l, edge)) {
        for (int c = 0; c < g->nlimb; c++) off[c] = change[c] = 0;
        return;
    }
    while (k < n) {
        int f = edge + step * (k + 1);
        if (f < 0 || f >= l->nframe || !shows_limb(g, as_it_is(f))) break;
        k++;
    }
    guess(g, edge, off);
    read_limb(g, as_it_is(edge), g->unlike);
    for (int c = 0; c < g->nlimb; c++) off[c] = g->unlike[c] - off[c];
    guess(g, edge + step * k, change);
    read_limb(g, as_it_is(edge + step * k), g->unlike);
    for (int c = 0; c < g->nlimb; c++)
        change[c] = k > 0 ? (g->unlike[c] - change[c] - off[c]) / (step * k) : 0;
}

static void lead(likeness *g, double *values) {
    const sn_lanes *l = g->l;
    look_at_edge(g, g->first - 1, -1, g->edge[0], g->edge[1]);
    look_at_edge(g, g->last + 1, 1, g->edge[2], g->edge[3]);
    double *before = g->mean + g->nlimb;
    for (int c = 0; c < g->nlimb; c++) before[c] = edge_pose(g, false)[g->all[g->limb[c]].q];
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

size_t sn_lane_like_room(const sn_lanes *l, int ncoordinate) {
    size_t n = (size_t)ncoordinate + UP;
    return n + (KNOWN + LOOKS) * 2 * n + KNOWN * KNOWN + KNOWN * n + 2 * n + (KNOWN + 2 * n) +
           (KNOWN + n) + 4 * n + 2 * l->nq + 9 * n + 9 * n + 3 * n;
}

bool sn_lane_like(const sn_lanes *l, int first, int last, const sn_lane_coordinate *all, int count,
                  const sn_lane_mirror *mirror, double *room, double *values) {
    likeness g = {
        .l = l, .first = first, .last = last, .all = all, .nall = count, .mirror = mirror};
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
    for (size_t i = 0; i < 2; i++) g.image[i] = g.edge[3] + n + i * l->nq;
    g.between = (sn_mat3 *)(g.image[1] + l->nq);
    g.centre = g.between + n;
    g.limb = (int *)(g.centre + n);
    g.rest = g.limb + n;
    g.turns = (bool *)(g.rest + n);
    divide(&g, count);
    if (g.nlimb == 0 || g.nrest < fewest) return false;
    find_turns(&g);
    const double *middle = sn_lane_pose(l, first + (last - first) / 2);
    for (int i = 0; i < g.nrest; i++) {
        const sn_lane_coordinate *at = &all[g.rest[i]];
        const sn_joint *j = &l->model->joint[at->joint];
        g.about[i] = middle[at->q];
        if (sn_lane_is_rotation(j)) g.centre[i] = sn_joint_rotation(j, middle + j->q0);
    }
    choose_like(&g);
    add_edges(&g);
    if (!learn(&g)) return false;
    lead(&g, values);
    return true;
}
