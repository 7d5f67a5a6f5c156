// SPDX-License-Identifier: MIT
#include "arm/seeds.h"

#include <string.h>

#include "arm/kernels.h"
#include "math/exp.h"
#include "math/sincos.h"

// Samples: those that cells keep, and the first of them, which may be starts.
enum { SAMPLES = 131072, STARTS = 32768, PATIENCE = 12, FAILED = 30 };
// Of a cell's postures: those that are tried as starts, each for the poses of so many of them; those that lead there in
// fewest steps are tried for the poses of all.
enum { TRIED = 36, EARLY = 8, BEST = 12 };

// The table does not fit into the nearest cache: what is needed soon is asked for early.
#ifdef __GNUC__
#define FETCH(at) __builtin_prefetch(at)
#else
#define FETCH(at) ((void)(at))
#endif

static const double pi = 3.141592653589793;
const double sn_arm_key_share = 0.32;
const float sn_arm_most_lean = 0.8f;

static sn_frame inverse(const sn_frame *f) {
    sn_mat3 R = m3_transpose(&f->R);
    return (sn_frame){R, v3_neg(m3_mul(&R, f->p))};
}

static bool pure_turn(const sn_arm_move *m) {
    return m->turn == 1 && m->slide == 0 && m->offset == 0;
}

// Slides along the first axis before it leave the arm as round as it is.
static bool find_turns(sn_arm_seeds *s, const sn_arm_chain *c) {
    if (!c->direct || c->n < 3 || c->n > SN_ARM_TABLE_MAX) return false;
    s->side = c->base;
    int f = 0;
    while (f < c->m && c->move[f].turn == 0) {
        if (fabs(fabs(c->fixed[f].R.c[2].z) - 1) > 1e-9) return false;
        s->side = frame_mul(&s->side, &c->fixed[f]);
        f++;
    }
    s->first = f;
    s->last = c->m - 1;
    return f + 1 < s->last && pure_turn(&c->move[f]) && pure_turn(&c->move[s->last]);
}

void sn_arm_seeds_layout(sn_arm_seeds *s, const sn_arm_chain *c, sn_layout *layout) {
    s->table = find_turns(s, c);
    if (!s->table) return;
    s->seed = sn_layout_take(layout, SN_ARM_CELLS * SN_ARM_CELL_SEEDS, sizeof *s->seed);
    s->lean = sn_layout_take(layout, SN_ARM_CELLS * SN_ARM_CELL_SEEDS, sizeof *s->lean);
    s->posture = sn_layout_take(layout, SN_ARM_POSTURES, sizeof *s->posture);
    s->key = sn_layout_take(layout, SN_ARM_KEYS, sizeof *s->key);
    s->middle =
        sn_layout_take(layout, SN_ARM_CELLS * (size_t)sn_arm_seed_rows(c->n), sizeof *s->middle);
    s->spread = sn_layout_take(layout, SN_ARM_CELLS, sizeof *s->spread);
}

// The n-dimensional sequence of Roberts: powers of the root of g^(n+1) = g + 1, which is found without
// libm so that it has the same bits everywhere.
static double ratio_of(int n) {
    double low = 1, high = 2;
    for (int i = 0; i < 80; i++) {
        double g = 0.5 * (low + high), power = 1;
        for (int k = 0; k <= n; k++) power *= g;
        *(power < g + 1 ? &low : &high) = g;
    }
    return 1 / low;
}

// The k-th point of it, as the model has the numbers, lengths in units.
static void sample(const sn_arm_seeds *s, int n, int k, double *q) {
    double step = 1;
    for (int j = 0; j < n; j++) {
        step *= s->ratio;
        double u = 0.5 + step * (k + 1);
        q[j] = s->from[j] + (u - floor(u)) * s->span[j];
    }
}

// The frame of the last joint behind its turn, in that of the first axis; with them not NULL, each move's axis and a
// place on it likewise.
static sn_frame last_frame(const sn_arm_seeds *s, const sn_arm_chain *c, const double *q,
                           sn_vec3 *axis, sn_vec3 *at) {
    const sn_frame back = inverse(&s->side);
    sn_frame f = c->base;
    for (int i = 0; i < c->m; i++) {
        const sn_arm_move *m = &c->move[i];
        double si, co;
        if (axis != NULL) {
            axis[i] = m3_mul(&back.R, f.R.c[2]);
            at[i] = v3_add(back.p, m3_mul(&back.R, f.p));
        }
        sn_sincos(m->turn * q[i] + m->offset, &si, &co);
        sn_vec3 X = f.R.c[0], Y = f.R.c[1];
        f.R.c[0] = v3_add(v3_scale(co, X), v3_scale(si, Y));
        f.R.c[1] = v3_sub(v3_scale(co, Y), v3_scale(si, X));
        f.p = v3_add(f.p, v3_scale(m->slide * q[i], f.R.c[2]));
        if (i + 1 < c->m) f = frame_mul(&f, &c->fixed[i]);
    }
    return frame_mul(&back, &f);
}

// As atan2(), to 1e-5: a seed needs no more.
static double angle_of(double s, double c) {
    double a = fabs(s), b = fabs(c), most = a > b ? a : b, z = (a > b ? b : a) / (most + 1e-300);
    double w = z * z;
    double r =
        z *
        (.99997726 +
         w * (-.33262347 + w * (.19354346 + w * (-.11643287 + w * (.05265332 - w * .01172120)))));
    if (a > b) r = 0.5 * pi - r;
    if (c < 0) r = pi - r;
    return s < 0 ? -r : r;
}

static int bin(double x, int n) {
    double at = x * n;
    return !(at > 0) ? 0 : at >= n ? n - 1 : (int)at;
}

static int cell_of(const sn_arm_seeds *s, double rho, double z, double out, double side,
                   double up) {
    double h = out / (fabs(out) + fabs(side) + 1e-12), round = side < 0 ? h - 1 : 1 - h;
    int at = bin(rho / s->reach, SN_ARM_CELL_RHO);
    at = at * SN_ARM_CELL_Z + bin((z - s->low) / (s->high - s->low), SN_ARM_CELL_Z);
    at = at * SN_ARM_CELL_AXIS + bin(0.5 + 0.5 * up, SN_ARM_CELL_AXIS);
    return at * SN_ARM_CELL_ROUND + bin(0.5 + 0.25 * round, SN_ARM_CELL_ROUND);
}

// A frame of the last joint seen from its azimuth: where the cell is.
static int look(const sn_arm_seeds *s, const sn_frame *f, double *sine, double *cosine, double x[3],
                double y[3], float key[SN_ARM_KEYS]) {
    double rho = sqrt(f->p.x * f->p.x + f->p.y * f->p.y);
    double k = rho > 1e-12 ? f->p.x / rho : 1, h = rho > 1e-12 ? f->p.y / rho : 0;
    const sn_vec3 *X = &f->R.c[0], *Y = &f->R.c[1], *Z = &f->R.c[2];
    x[0] = k * X->x + h * X->y, x[1] = k * X->y - h * X->x, x[2] = X->z;
    y[0] = k * Y->x + h * Y->y, y[1] = k * Y->y - h * Y->x, y[2] = Y->z;
    *sine = h;
    *cosine = k;
    const double out = k * Z->x + h * Z->y, side = k * Z->y - h * Z->x;
    const double share = sn_arm_key_share;
    key[0] = (float)rho, key[1] = (float)f->p.z, key[2] = (float)(share * out);
    key[3] = (float)(share * side), key[4] = (float)(share * Z->z);
    return cell_of(s, rho, f->p.z, out, side, Z->z);
}

void sn_arm_goal_look(const sn_arm_seeds *s, const double *goal, sn_arm_goal_key *out) {
    if (!s->table) return;
    sn_frame f;
    memcpy(&f, goal, sizeof f);
    if (!s->plain) {
        f = frame_mul(&s->left, &f);
        f = frame_mul(&f, &s->right);
    }
    double sine, cosine;
    out->cell = look(s, &f, &sine, &cosine, out->x, out->y, out->key);
    FETCH(s->seed + out->cell * SN_ARM_CELL_SEEDS);
    FETCH(s->lean + out->cell * SN_ARM_CELL_SEEDS);
    FETCH(s->lean[out->cell * SN_ARM_CELL_SEEDS].by[2]);
    FETCH(s->lean[out->cell * SN_ARM_CELL_SEEDS].by[4]);
    out->sorted = false;
    out->azimuth = angle_of(sine, cosine);
}

void sn_arm_goal_shrink(const sn_arm_seeds *s, sn_arm_goal_key *g) {
    if (!s->table) return;
    const double middle = 0.5 * (s->low + s->high), most = 0.85;
    double rho = (double)g->key[0], z = (double)g->key[1] - middle;
    const double a = rho / s->reach, b = 2 * z / (s->high - s->low), r = sqrt(a * a + b * b);
    if (!(r > most)) return;
    rho *= most / r, z *= most / r;
    g->key[0] = (float)rho, g->key[1] = (float)(middle + z);
    g->sorted = false;
    g->cell = cell_of(s, rho, middle + z, (double)g->key[2] / sn_arm_key_share,
                      (double)g->key[3] / sn_arm_key_share, (double)g->key[4] / sn_arm_key_share);
}

// An angle of any turn, brought into the limits; false when it had to be cut off.
static bool put(const sn_arm_chain *c, int i, double x, double *out) {
    double low = c->low[i], high = c->high[i];
    bool good = true;
    if (x > high) x -= 2 * pi;
    if (x < low) x += 2 * pi;
    if (x > high) good = false, x = x - high < low + 2 * pi - x ? high : low;
    *out = x + c->shift[i];
    return good;
}

static void lean_over(const sn_arm_lean *lean, const float *key, float *by) {
    const float most = sn_arm_most_lean;
    float d[SN_ARM_KEYS];
    for (int i = 0; i < SN_ARM_KEYS; i++) d[i] = key[i] - lean->key[i];
    for (int j = 0; j < SN_ARM_TABLE_MAX; j++) {
        float x = 0;
        for (int i = 0; i < SN_ARM_KEYS; i++) x += lean->by[i][j] * d[i];
        x = x < -most ? -most : x;
        by[j] = x > most ? most : x;
    }
}

// How a start fits the limits: not in its first or last angle, not in one between them, or in all.
enum { BEYOND, BEYOND_BETWEEN, INSIDE };

// @param lean  NULL: the posture as it is
static int from_seed(const sn_arm_seeds *s, const sn_arm_chain *c, const sn_arm_goal_key *g,
                     const sn_arm_seed *e, const sn_arm_lean *lean, double *q) {
    double sine = 0, cosine = 0;
    float by[SN_ARM_TABLE_MAX] = {0};
    int out = 0;
    if (lean != NULL) lean_over(lean, g->key, by);
    for (int j = 0; j < SN_ARM_TABLE_MAX; j++) {
        const float x = e->q[j] + by[j];
        out |= (x < s->least[j]) | (x > s->most[j]);
    }
    for (int i = 0; i < 3; i++) {
        sine += (double)e->y[i] * g->x[i] - (double)e->x[i] * g->y[i];
        cosine += (double)e->x[i] * g->x[i] + (double)e->y[i] * g->y[i];
    }
    for (int j = 0; j < c->n; j++) q[j] = (double)(e->q[j] + by[j]) + c->shift[j];
    const float first = by[s->first] - e->azimuth;
    bool a = put(c, s->first, g->azimuth + (double)first, &q[s->first]);
    bool b = put(c, s->last, angle_of(sine, cosine) + (double)by[s->last], &q[s->last]);
    return !(a && b) ? BEYOND : out ? BEYOND_BETWEEN : INSIDE;
}

// Of every SN_ARM_NEAREST-th posture the nearest, in their order.
static void sort_postures(const sn_arm_seeds *s, sn_arm_goal_key *g) {
    float far[SN_ARM_POSTURES], least[SN_ARM_NEAREST];
    for (int i = 0; i < SN_ARM_POSTURES; i++) {
        float sum = 0;
        for (int k = 0; k < SN_ARM_KEYS; k++) {
            float d = s->key[k][i] - g->key[k];
            sum += d * d;
        }
        far[i] = sum;
    }
    for (int i = 0; i < SN_ARM_NEAREST; i++) {
        int at = i, to = i;
        for (int k = i; k < SN_ARM_POSTURES; k += SN_ARM_NEAREST)
            if (far[k] < far[at]) at = k;
        for (; to > 0 && least[to - 1] > far[at]; to--) {
            least[to] = least[to - 1];
            g->nearest[to] = g->nearest[to - 1];
        }
        least[to] = far[at];
        g->nearest[to] = at;
    }
    g->sorted = true;
}

static int from_cell(const sn_arm_seeds *s, const sn_arm_chain *c, const sn_arm_goal_key *g, int k,
                     double *q) {
    const int at = g->cell * SN_ARM_CELL_SEEDS + k;
    return from_seed(s, c, g, s->seed + at, s->lean + at, q);
}

// The first of a cell's starts that lies inside the limits; else the first of all.
static bool first_of_cell(const sn_arm_seeds *s, const sn_arm_chain *c, sn_arm_goal_key *g,
                          double *q) {
    const int fit = from_cell(s, c, g, 0, q);
    g->first = 0;
    if (fit == INSIDE) return true;
    for (int k = 1; k < SN_ARM_CELL_SEEDS; k++) {
        double other[SN_ARM_MAX];
        if (from_cell(s, c, g, k, other) != INSIDE) continue;
        memcpy(q, other, (size_t)c->n * sizeof *q);
        g->first = k;
        return true;
    }
    return fit != BEYOND;
}

bool sn_arm_seed_at(const sn_arm_seeds *s, const sn_arm_chain *c, sn_arm_goal_key *g, int k,
                    double *q) {
    if (s->table && k == 0) return first_of_cell(s, c, g, q);
    if (s->table && k < SN_ARM_CELL_SEEDS)
        return from_cell(s, c, g, k == g->first ? 0 : k, q) != BEYOND;
    if (s->table && k < SN_ARM_CELL_SEEDS + SN_ARM_NEAREST) {
        if (!g->sorted) sort_postures(s, g);
        return from_seed(s, c, g, &s->posture[g->nearest[k - SN_ARM_CELL_SEEDS]], NULL, q) !=
               BEYOND;
    }
    sample(s, c->n, s->table ? k - SN_ARM_CELL_SEEDS - SN_ARM_NEAREST : k, q);
    for (int j = 0; j < c->n; j++) q[j] += c->shift[j];
    return true;
}

// The cells that share a side with one, itself first.
static int cells_beside(int cell, int out[9]) {
    static const int size[4] = {SN_ARM_CELL_RHO, SN_ARM_CELL_Z, SN_ARM_CELL_AXIS,
                                SN_ARM_CELL_ROUND};
    int count = 0, stride = 1;
    out[count++] = cell;
    for (int d = 3; d >= 0; stride *= size[d], d--) {
        const int at = cell / stride % size[d];
        for (int way = -1; way <= 1; way += 2) {
            int to = at + way;
            if (d == 3) to = (to + size[d]) % size[d];
            if (to >= 0 && to < size[d]) out[count++] = cell + (to - at) * stride;
        }
    }
    return count;
}

int sn_arm_kept_near(const sn_arm_seeds *s, const sn_arm_chain *c, const sn_arm_goal_key *g,
                     int most, int *which) {
    // sorted by the leading bits of how far they are, which is as fine as needed
    enum { SHIFT = 22, BUCKETS = 512 };
    int cells[9], start[BUCKETS + 1] = {0}, found = 0;
    const int count = cells_beside(g->cell, cells);
    int32_t bits[9 * SN_ARM_CELL_KEPT];
    for (int i = 0; i < count; i++) {
        const float(*row)[SN_ARM_CELL_KEPT] =
            (const float(*)[SN_ARM_CELL_KEPT])s->middle + cells[i] * sn_arm_seed_rows(c->n) + c->n;
        for (int k = 0; k < SN_ARM_CELL_KEPT; k++) {
            float sum = 0;
            for (int d = 0; d < SN_ARM_KEYS; d++) {
                const float off = row[d][k] - g->key[d];
                sum += off * off;
            }
            int32_t *at = &bits[i * SN_ARM_CELL_KEPT + k];
            memcpy(at, &sum, sizeof sum);
            if (!(sum < 1e6f)) *at = -1;  // none
            if (*at >= 0) start[(*at >> SHIFT) + 1]++;
        }
    }
    for (int i = 0; i < BUCKETS; i++) start[i + 1] += start[i];
    for (int i = 0; i < count * SN_ARM_CELL_KEPT; i++) {
        if (bits[i] < 0) continue;
        const int at = start[bits[i] >> SHIFT]++;
        found++;
        if (at < most)
            which[at] = cells[i / SN_ARM_CELL_KEPT] * SN_ARM_CELL_KEPT + i % SN_ARM_CELL_KEPT;
    }
    return found < most ? found : most;
}

bool sn_arm_kept_at(const sn_arm_seeds *s, const sn_arm_chain *c, const sn_arm_goal_key *g,
                    int which, double *q) {
    const int cell = which / SN_ARM_CELL_KEPT, k = which % SN_ARM_CELL_KEPT;
    const float(*row)[SN_ARM_CELL_KEPT] =
        (const float(*)[SN_ARM_CELL_KEPT])s->middle + cell * sn_arm_seed_rows(c->n);
    const float(*frame)[SN_ARM_CELL_KEPT] = row + c->n + SN_ARM_KEYS;
    double sine = 0, cosine = 0;
    for (int i = 0; i < 3; i++) {
        const double x = (double)frame[i][k], y = (double)frame[3 + i][k];
        sine += y * g->x[i] - x * g->y[i];
        cosine += x * g->x[i] + y * g->y[i];
    }
    for (int j = 0; j < c->n; j++) q[j] = (double)row[j][k];
    bool a = put(c, s->first, g->azimuth + q[s->first] - c->shift[s->first], &q[s->first]);
    bool b = put(c, s->last, angle_of(sine, cosine), &q[s->last]);
    return a && b;
}

void sn_arm_seeds_fetch(const sn_arm_seeds *s, const sn_arm_chain *c, const sn_arm_goal_key *g) {
    if (!s->table) return;
    const int rows = sn_arm_seed_rows(c->n);
    const float *from = s->middle[g->cell * rows];
    for (int i = 0; i < rows * SN_ARM_CELL_KEPT; i += 16) FETCH(from + i);
}

// --- making the table ------------------------------------------------------------------------------

typedef struct making {
    sn_arm_seeds *s;
    const sn_arm_chain *c;
    double (*q)[SN_ARM_TABLE_MAX];  ///< samples
    sn_arm_seed *seed;              ///< the same as seeds
    float (*key)[SN_ARM_KEYS];      ///< their keys
    int *cell, *order, *start;      ///< of samples; sorted by cell; where cells start
    int *have;                      ///< of cells
} making;

static void making_room(making *m, sn_layout *layout) {
    m->q = sn_layout_take(layout, SAMPLES, sizeof *m->q);
    m->seed = sn_layout_take(layout, SAMPLES, sizeof *m->seed);
    m->key = sn_layout_take(layout, SAMPLES, sizeof *m->key);
    m->cell = sn_layout_take(layout, SAMPLES, sizeof *m->cell);
    m->order = sn_layout_take(layout, SAMPLES, sizeof *m->order);
    m->start = sn_layout_take(layout, SN_ARM_CELLS + 1, sizeof *m->start);
    m->have = sn_layout_take(layout, SN_ARM_CELLS, sizeof *m->have);
}

static void make_samples(making *m) {
    sn_arm_seeds *s = m->s;
    const sn_arm_chain *c = m->c;
    s->low = INFINITY, s->high = -INFINITY, s->reach = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < SAMPLES; k++) {
            double q[SN_ARM_TABLE_MAX] = {0}, sine, cosine, x[3], y[3];
            float key[SN_ARM_KEYS];
            sample(s, c->n, k, m->q[k]);
            memcpy(q, m->q[k], sizeof q);
            q[s->first] = q[s->last] = 0;
            sn_frame f = last_frame(s, c, q, NULL, NULL);
            if (pass == 0) {
                s->reach = fmax(s->reach, sn_hypot(f.p.x, f.p.y));
                s->low = fmin(s->low, f.p.z);
                s->high = fmax(s->high, f.p.z);
                if (k + 1 == SAMPLES) {
                    if (s->reach <= 0) s->reach = 1;
                    if (s->high <= s->low) s->high = s->low + 1;
                }
                if (k >= STARTS / 8 && k + 1 < SAMPLES) k = SAMPLES - 2;  // the extent is known
                continue;
            }
            m->cell[k] = look(s, &f, &sine, &cosine, x, y, key);
            sn_arm_seed *e = &m->seed[k];
            for (int j = 0; j < c->n; j++) e->q[j] = (float)q[j];
            e->azimuth = (float)angle_of(sine, cosine);
            for (int i = 0; i < 3; i++) e->x[i] = (float)x[i], e->y[i] = (float)y[i];
            memcpy(m->key[k], key, sizeof key);
            if (k >= SN_ARM_POSTURES) continue;
            s->posture[k] = *e;
            for (int i = 0; i < SN_ARM_KEYS; i++) s->key[i][k] = key[i];
        }
}

static void sort_samples(making *m) {
    for (int k = 0; k < SAMPLES; k++) m->start[m->cell[k] + 1]++;
    for (int i = 0; i < SN_ARM_CELLS; i++) m->start[i + 1] += m->start[i];
    for (int k = 0; k < SAMPLES; k++) m->order[m->start[m->cell[k]]++] = k;
    for (int i = SN_ARM_CELLS; i > 0; i--) m->start[i] = m->start[i - 1];
    m->start[0] = 0;
}

// Postures of a cell that are tried: as starts, and their poses as goals.
typedef struct trials {
    int n;
    const sn_arm_seed *seed[TRIED];
    sn_arm_lean lean[TRIED];
    double goal[TRIED][12];
    sn_arm_goal_key key[TRIED];
    int cost
        [TRIED]
        [TRIED];  ///< steps from a seed to a goal; FAILED when they are many or lead outside the limits
} trials;

// One of them on its way.
typedef struct trial {
    int seed, goal, steps;  ///< steps 0: none
} trial;

// A kernel's numbers, `width` lanes side by side.
typedef struct numbers {
    double *q, *next, *goal, *turn, *place;
} numbers;

static bool ends_inside(const sn_arm_chain *c, const double *q, int width) {
    double inner[SN_ARM_MAX], out[SN_ARM_MAX];
    for (int j = 0; j < c->n; j++) inner[j] = q[j * width];
    return sn_arm_chain_outward(c, inner, NULL, out) <= 1e-9;
}

// The next of seeds `which` times goals from..until into a lane, from number `at` on; false when there is none.
static bool next_trial(const making *m, trials *t, const int *which, int count, int from, int until,
                       int *at, const int width, const numbers *x, int lane, trial *own) {
    const int goals = until - from;
    for (; *at < count * goals; (*at)++) {
        double q[SN_ARM_MAX];
        *own = (trial){which[*at / goals], from + *at % goals, 1};
        t->cost[own->seed][own->goal] = FAILED;
        if (from_seed(m->s, m->c, &t->key[own->goal], t->seed[own->seed], &t->lean[own->seed], q) ==
            BEYOND)
            continue;
        for (int j = 0; j < m->c->n; j++) x->q[j * width + lane] = q[j];
        for (int i = 0; i < 12; i++) x->goal[i * width + lane] = t->goal[own->goal][i];
        (*at)++;
        return true;
    }
    own->steps = 0;
    return false;
}

// The costs of some seeds for goals from..until, side by side as the machine can: the bits are the same.
static void run_trials(const making *m, trials *t, const int *which, int count, int from,
                       int until) {
    const bool avx2 = sn_arm_avx2(), wide = m->c->hinges && sn_arm_has_wide();
    const int width = wide ? SN_ARM_WIDE : avx2 ? SN_ARM_LANES : 1;
    sn_arm_wide_state eight = {0};
    sn_arm_state4 four = {0};
    sn_arm_state1 one = {.turn_tol = 1e-12, .place_tol = 1e-12};
    const numbers x =
        wide   ? (numbers){eight.q[0], eight.next[0], eight.goal[0], eight.turn, eight.place}
        : avx2 ? (numbers){four.q[0], four.next[0], four.goal[0], four.turn, four.place}
               : (numbers){one.q[0], one.next[0], one.goal[0], one.turn, one.place};
    trial lane[SN_ARM_WIDE];
    int at = 0, live = 0;
    for (int l = 0; l < width; l++)
        live += next_trial(m, t, which, count, from, until, &at, width, &x, l, &lane[l]);
    while (live > 0) {
        if (wide)
            sn_arm_wide_iterate(m->c, &eight, false, false);
        else if (avx2)
            sn_arm4_avx2_iterate(m->c, &four, false, false);
        else
            sn_arm1_iterate(m->c, &one, false, false);
        for (int l = 0; l < width; l++) {
            trial *own = &lane[l];
            if (own->steps == 0) continue;
            const bool there = x.turn[l] <= 1e-12 && x.place[l] <= 1e-12;
            if (there && ends_inside(m->c, x.q + l, width))
                t->cost[own->seed][own->goal] = own->steps;
            if (there || own->steps == PATIENCE) {
                live -= !next_trial(m, t, which, count, from, until, &at, width, &x, l, own);
                continue;
            }
            own->steps++;
            for (int j = 0; j < m->c->n; j++) x.q[j * width + l] = x.next[j * width + l];
        }
    }
}

// The seeds that take fewest steps to the first few goals, `most` of them or fewer.
static int best_trials(const trials *t, int early, int most, int *which) {
    int sum[TRIED] = {0}, count = 0;
    for (int a = 0; a < t->n; a++)
        for (int g = 0; g < early; g++) sum[a] += t->cost[a][g];
    while (count < most && count < t->n) {
        int best = 0;
        for (int a = 1; a < t->n; a++) best = sum[a] < sum[best] ? a : best;
        which[count++] = best;
        sum[best] = FAILED * TRIED + 1;
    }
    return count;
}

// L L^T of a symmetric matrix in its lower triangle, in its place.
static void factor_keys(double A[SN_ARM_KEYS][SN_ARM_KEYS]) {
    for (int r = 0; r < SN_ARM_KEYS; r++)
        for (int c = 0; c <= r; c++) {
            double sum = A[r][c];
            for (int i = 0; i < c; i++) sum -= A[r][i] * A[c][i];
            A[r][c] = r == c ? sqrt(sum) : sum / A[c][c];
        }
}

static void solve_keys(double A[SN_ARM_KEYS][SN_ARM_KEYS], double *x) {
    for (int r = 0; r < SN_ARM_KEYS; r++) {
        for (int c = 0; c < r; c++) x[r] -= A[r][c] * x[c];
        x[r] /= A[r][r];
    }
    for (int r = SN_ARM_KEYS - 1; r >= 0; r--) {
        for (int c = r + 1; c < SN_ARM_KEYS; c++) x[r] -= A[c][r] * x[c];
        x[r] /= A[r][r];
    }
}

// The middle joints move by K^T (K K^T + damping)^-1 of the difference, where K is how they move the key; the first and
// the last make good how the azimuth and the turn about the last axis change with that.
static void find_lean(const making *m, int k, sn_arm_lean *out) {
    const sn_arm_seeds *s = m->s;
    const int n = m->c->n;
    const double damping = 1e-3, share = sn_arm_key_share;
    sn_vec3 axis[SN_ARM_TABLE_MAX], at[SN_ARM_TABLE_MAX];
    double q[SN_ARM_TABLE_MAX], K[SN_ARM_TABLE_MAX][SN_ARM_KEYS] = {{0}};
    double azimuth[SN_ARM_TABLE_MAX] = {0}, twist[SN_ARM_TABLE_MAX] = {0};
    memset(out, 0, sizeof *out);
    memcpy(out->key, m->key[k], sizeof out->key);
    memcpy(q, m->q[k], sizeof q);
    q[s->first] = q[s->last] = 0;
    const sn_frame f = last_frame(s, m->c, q, axis, at);
    const double rho = fmax(sqrt(f.p.x * f.p.x + f.p.y * f.p.y), 1e-6);
    const double co = f.p.x / rho, si = f.p.y / rho;
    const sn_vec3 Z = f.R.c[2];
    for (int j = 0; j < n; j++) {
        if (j == s->first || j == s->last) continue;
        const sn_arm_move *move = &m->c->move[j];
        const sn_vec3 turn = v3_scale(move->turn, axis[j]);
        const sn_vec3 v =
            v3_add(v3_cross(turn, v3_sub(f.p, at[j])), v3_scale(move->slide, axis[j]));
        const sn_vec3 dZ = v3_cross(turn, Z);
        azimuth[j] = (co * v.y - si * v.x) / rho;
        twist[j] = v3_dot(turn, Z) - azimuth[j] * Z.z;
        K[j][0] = co * v.x + si * v.y;
        K[j][1] = v.z;
        K[j][2] = share * (co * dZ.x + si * dZ.y + azimuth[j] * (co * Z.y - si * Z.x));
        K[j][3] = share * (co * dZ.y - si * dZ.x - azimuth[j] * (co * Z.x + si * Z.y));
        K[j][4] = share * dZ.z;
    }
    double A[SN_ARM_KEYS][SN_ARM_KEYS];
    for (int r = 0; r < SN_ARM_KEYS; r++)
        for (int c = 0; c <= r; c++) {
            A[r][c] = r == c ? damping : 0;
            for (int j = 0; j < n; j++) A[r][c] += K[j][r] * K[j][c];
        }
    factor_keys(A);
    for (int i = 0; i < SN_ARM_KEYS; i++) {
        double w[SN_ARM_KEYS] = {0}, around = 0, about = 0;
        w[i] = 1;
        solve_keys(A, w);
        for (int j = 0; j < n; j++) {
            double d = 0;
            for (int r = 0; r < SN_ARM_KEYS; r++) d += K[j][r] * w[r];
            out->by[i][j] = (float)d;
            around += azimuth[j] * d;
            about += twist[j] * d;
        }
        out->by[i][s->first] = (float)-around;
        out->by[i][s->last] = (float)-about;
    }
}

// The few of a cell's postures that reach most goals of the cell in fewest steps, best first.
static void rank_cell(making *m, trials *t, int cell) {
    const int first = m->start[cell];
    int count = 0, which[TRIED], left[TRIED];
    while (first + count < m->start[cell + 1] && m->order[first + count] < STARTS) count++;
    t->n = count < TRIED ? count : TRIED;
    for (int g = 0; g < t->n; g++) {
        const int k = m->order[first + (int)((long)g * count / t->n)];
        sn_frame f = last_frame(m->s, m->c, m->q[k], NULL, NULL);
        if (!m->s->plain) {
            sn_frame before = inverse(&m->s->left), behind = inverse(&m->s->right);
            f = frame_mul(&before, &f);
            f = frame_mul(&f, &behind);
        }
        memcpy(t->goal[g], &f, sizeof f);
        sn_arm_goal_look(m->s, t->goal[g], &t->key[g]);
        t->seed[g] = &m->seed[k];
        find_lean(m, k, &t->lean[g]);
        left[g] = FAILED;
        which[g] = g;
    }
    const int early = t->n < EARLY ? t->n : EARLY;
    run_trials(m, t, which, t->n, 0, early);
    const int best_count = best_trials(t, early, BEST, which);
    if (early < t->n) run_trials(m, t, which, best_count, early, t->n);
    bool used[BEST] = {false};
    while (m->have[cell] < SN_ARM_CELL_SEEDS && m->have[cell] < best_count) {
        int best = -1, least = 0;
        for (int k = 0; k < best_count; k++) {
            const int *cost = t->cost[which[k]];
            int sum = 0;
            for (int g = 0; g < t->n; g++)
                sum += m->have[cell] == 0 || cost[g] < left[g] ? cost[g] : left[g];
            if (!used[k] && (best < 0 || sum < least)) best = k, least = sum;
        }
        used[best] = true;
        for (int g = 0; g < t->n; g++)
            if (t->cost[which[best]][g] < left[g]) left[g] = t->cost[which[best]][g];
        const int to = cell * SN_ARM_CELL_SEEDS + m->have[cell]++;
        m->s->seed[to] = *t->seed[which[best]];
        m->s->lean[to] = t->lean[which[best]];
    }
}

static void keep_cell(making *m, int cell) {
    const int first = m->start[cell], count = m->start[cell + 1] - first;
    const int n = count < SN_ARM_CELL_KEPT ? count : SN_ARM_CELL_KEPT;
    float(*row)[SN_ARM_CELL_KEPT] = m->s->middle + cell * sn_arm_seed_rows(m->c->n);
    for (int k = 0; k < SN_ARM_CELL_KEPT; k++) {
        const int at = k < n ? m->order[first + (int)((long)k * count / n)] : 0;
        for (int j = 0; j < m->c->n; j++) row[j][k] = m->seed[at].q[j] + (float)m->c->shift[j];
        row[m->s->first][k] = (float)m->c->shift[m->s->first] - m->seed[at].azimuth;
        for (int i = 0; i < SN_ARM_KEYS; i++) row[m->c->n + i][k] = k < n ? m->key[at][i] : 1e9f;
        for (int i = 0; i < 3; i++) {
            row[m->c->n + SN_ARM_KEYS + i][k] = m->seed[at].x[i];
            row[m->c->n + SN_ARM_KEYS + 3 + i][k] = m->seed[at].y[i];
        }
    }
}

static void borrow(making *m, int to, int from) {
    sn_arm_seed *mine = m->s->seed + to * SN_ARM_CELL_SEEDS;
    sn_arm_lean *lean = m->s->lean + to * SN_ARM_CELL_SEEDS;
    const sn_arm_seed *other = m->s->seed + from * SN_ARM_CELL_SEEDS;
    for (int k = 0; k < m->have[from] && m->have[to] < SN_ARM_CELL_SEEDS; k++) {
        bool there = false;
        for (int i = 0; i < m->have[to]; i++)
            there = there || memcmp(mine[i].q, other[k].q, sizeof mine[i].q) == 0;
        if (there) continue;
        lean[m->have[to]] = m->s->lean[from * SN_ARM_CELL_SEEDS + k];
        mine[m->have[to]++] = other[k];
    }
}

// What a cell is short of comes from those beside it, ring by ring.
static void fill_cells(making *m) {
    static const int size[4] = {SN_ARM_CELL_RHO, SN_ARM_CELL_Z, SN_ARM_CELL_AXIS,
                                SN_ARM_CELL_ROUND};
    int stride[4] = {1, 1, 1, 1};
    for (int d = 2; d >= 0; d--) stride[d] = stride[d + 1] * size[d + 1];
    for (bool moved = true; moved;) {
        moved = false;
        for (int cell = 0; cell < SN_ARM_CELLS; cell++) m->cell[cell] = m->have[cell];
        for (int cell = 0; cell < SN_ARM_CELLS; cell++) {
            if (m->have[cell] == SN_ARM_CELL_SEEDS) continue;
            int had = m->have[cell];
            for (int d = 3; d >= 0; d--)
                for (int way = -1; way <= 1; way += 2) {
                    int at = cell / stride[d] % size[d], to = at + way;
                    if (d == 3) to = (to + size[3]) % size[3];
                    if (to < 0 || to >= size[d]) continue;
                    int other = cell + (to - at) * stride[d];
                    if (m->cell[other] > 0) borrow(m, cell, other);
                }
            moved = moved || m->have[cell] > had;
        }
    }
}

sn_status sn_arm_seeds_make(sn_arm_seeds *s, const sn_arm_chain *c, const sn_allocator *allocator,
                            sn_error *error) {
    s->ratio = ratio_of(c->n);
    for (int j = 0; j < c->n; j++) {
        double unit = c->length_of[j] ? c->unit : 1, width = c->length_of[j] ? 1 : pi;
        double low = c->low[j] / unit, high = c->high[j] / unit;
        if (c->round[j] || (low == -INFINITY && high == INFINITY)) {
            double middle = low > -INFINITY && high < INFINITY ? 0.5 * (low + high) : 0;
            low = middle - width, high = middle + width;
        } else if (low == -INFINITY) {
            low = high - 2 * width;
        } else if (high == INFINITY) {
            high = low + 2 * width;
        }
        s->from[j] = low;
        s->span[j] = high - low;
    }
    if (!s->table) return SN_OK;
    for (int j = 0; j < SN_ARM_TABLE_MAX; j++) {
        const bool bound = j < c->n && !c->round[j] && j != s->first && j != s->last;
        s->least[j] = bound ? (float)s->from[j] : -INFINITY;
        s->most[j] = bound ? (float)(s->from[j] + s->span[j]) : INFINITY;
    }
    s->plain = c->hinges && !c->lead;
    s->left = inverse(&s->side);
    if (c->hinges) {
        sn_frame start = inverse(&c->before);
        s->left = frame_mul(&s->left, &start);
    }
    s->right = (sn_frame){m3_identity(), {0, 0, 0}};
    if (!c->hinges) s->right = inverse(&c->fixed[c->m - 1]);
    making m = {.s = s, .c = c};
    sn_layout layout = {0};
    void *owner;
    making_room(&m, &layout);
    char *block = sn_layout_acquire(&layout, allocator, &owner);
    if (block == NULL) return sn_fail_memory(error);
    layout = (sn_layout){.block = block};
    making_room(&m, &layout);
    make_samples(&m);
    sort_samples(&m);
    trials t;
    for (int cell = 0; cell < SN_ARM_CELLS; cell++) rank_cell(&m, &t, cell), keep_cell(&m, cell);
    fill_cells(&m);
    sn_arm_spread_make(s, c);
    sn_release(allocator, owner);
    return SN_OK;
}
