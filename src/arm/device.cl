// SPDX-License-Identifier: MIT
// Many goals on a device, as search.c does it, in three rounds: a first start from the table for every goal, which
// ignores the limits (nine of ten arrive); starts that stay inside for those that are left, a thread taking the next
// goal when it is done; and for what is left then a group of threads a goal, a start each. A pose that has arrived is
// brought to the turns that the limits want and looked at once more, with the tool on it; only then it counts.

enum { FIRST_STEPS = 12, LOOK_AFTER = 8, MOST_STEPS = 30 };

#define PI 3.141592653589793

// A goal as the table sees it (seeds.c).
typedef struct key {
    double azimuth, x[3], y[3];
    float near[5];
    int cell;
} key;

// As atan2(), to 1e-5: a seed needs no more.
static double angle_of(double s, double c) {
    const double a = fabs(s), b = fabs(c), most = a > b ? a : b;
    const double z = (a > b ? b : a) / (most + 1e-300), w = z * z;
    double r =
        z *
        (.99997726 +
         w * (-.33262347 + w * (.19354346 + w * (-.11643287 + w * (.05265332 - w * .01172120)))));
    if (a > b) r = 0.5 * PI - r;
    if (c < 0) r = PI - r;
    return s < 0 ? -r : r;
}

static int bin(double x, int n) {
    const double at = x * n;
    return !(at > 0) ? 0 : at >= n ? n - 1 : (int)at;
}

static void look(const double *G, key *out) {
    const double rho = sqrt(G[9] * G[9] + G[10] * G[10]);
    const double k = rho > 1e-12 ? G[9] / rho : 1, h = rho > 1e-12 ? G[10] / rho : 0;
    out->x[0] = k * G[0] + h * G[1], out->x[1] = k * G[1] - h * G[0], out->x[2] = G[2];
    out->y[0] = k * G[3] + h * G[4], out->y[1] = k * G[4] - h * G[3], out->y[2] = G[5];
    const double ahead = k * G[6] + h * G[7], side = k * G[7] - h * G[6], up = G[8];
    const double share = arm.key_share;
    out->near[0] = (float)rho, out->near[1] = (float)G[11], out->near[2] = (float)(share * ahead);
    out->near[3] = (float)(share * side), out->near[4] = (float)(share * up);
    const double p = ahead / (fabs(ahead) + fabs(side) + 1e-12), round = side < 0 ? p - 1 : 1 - p;
    int at = bin(rho / arm.reach, CELL_RHO);
    at = at * CELL_Z + bin((G[11] - arm.bottom) / (arm.top - arm.bottom), CELL_Z);
    at = at * CELL_AXIS + bin(0.5 + 0.5 * up, CELL_AXIS);
    out->cell = at * CELL_ROUND + bin(0.5 + 0.25 * round, CELL_ROUND);
    out->azimuth = angle_of(h, k);
}

// A goal's twelve numbers, as the kernels have it; false when it is none.
static int take_goal(__global const double *goal, double *G) {
    double q[4], R[9], p[3], A[12], size = 0;
    int good = 1;
    for (int i = 0; i < 3; i++) p[i] = goal[i] / arm.unit, good &= isfinite(goal[i]) != 0;
    for (int i = 0; i < 4; i++) q[i] = goal[3 + i], size += q[i] * q[i];
    good &= isfinite(size) && size > 1e-200;
    const double s = 2 / (good ? size : 1);
    R[0] = 1 - s * (q[2] * q[2] + q[3] * q[3]), R[1] = s * (q[1] * q[2] + q[0] * q[3]);
    R[2] = s * (q[1] * q[3] - q[0] * q[2]), R[3] = s * (q[1] * q[2] - q[0] * q[3]);
    R[4] = 1 - s * (q[1] * q[1] + q[3] * q[3]), R[5] = s * (q[2] * q[3] + q[0] * q[1]);
    R[6] = s * (q[1] * q[3] + q[0] * q[2]), R[7] = s * (q[2] * q[3] - q[0] * q[1]);
    R[8] = 1 - s * (q[1] * q[1] + q[2] * q[2]);
    UNROLL for (int i = 0; i < 3; i++) {
        UNROLL for (int c = 0; c < 3; c++) A[3 * c + i] = arm.before[i] * R[3 * c] +
                                                          arm.before[3 + i] * R[3 * c + 1] +
                                                          arm.before[6 + i] * R[3 * c + 2];
        A[9 + i] = arm.before[i] * p[0] + arm.before[3 + i] * p[1] + arm.before[6 + i] * p[2] +
                   arm.before[9 + i];
    }
    UNROLL for (int i = 0; i < 3; i++) {
        UNROLL for (int c = 0; c < 4; c++) G[3 * c + i] = A[i] * arm.behind[3 * c] +
                                                          A[3 + i] * arm.behind[3 * c + 1] +
                                                          A[6 + i] * arm.behind[3 * c + 2];
        G[9 + i] = G[9 + i] + A[9 + i];
    }
    return good;
}

// An angle of any turn, brought into the limits; false when it had to be cut off.
static int put(int i, double x, double *out) {
    const double low = arm.low[i], high = arm.high[i];
    int good = 1;
    if (x > high) x -= 2 * PI;
    if (x < low) x += 2 * PI;
    if (x > high) good = 0, x = x - high < low + 2 * PI - x ? high : low;
    *out = x + arm.shift[i];
    return good;
}

// By how much variable j of a cell's posture leans towards the goal. The leans lie behind the postures.
static float lean_of(const key *g, __global const float *seeds, int at, int j) {
    __global const float *e = seeds + 16 * (CELLS * CELL_SEEDS + POSTURES) + LEAN_SIZE * at;
    float x = 0;
    UNROLL for (int i = 0; i < 5; i++) x += e[LEAN_WIDTH * i + j] *
                                           (g->near[i] - e[5 * LEAN_WIDTH + i]);
    return x < -MOST_LEAN ? -MOST_LEAN : x > MOST_LEAN ? MOST_LEAN : x;
}

// The k-th start for a goal: of its cell, then of all postures the nearest of every GROUPS-th, then of the
// sequence.
static int start_at(const key *g, __global const float *seeds, __global const float *keys, int k,
                    double *q) {
    int at = g->cell * CELL_SEEDS + k;
    if (k >= CELL_SEEDS + GROUPS) {
        double step = 1;
        UNROLL for (int j = 0; j < SN_ARM_MAX; j++) {
            step *= arm.ratio;
            const double u = 0.5 + step * (k - CELL_SEEDS - GROUPS + 1);
            q[j] = arm.from[j] + (u - floor(u)) * arm.span[j] + arm.shift[j];
        }
        return 1;
    }
    if (k >= CELL_SEEDS) {
        float least = 1e30f;
        for (int i = k - CELL_SEEDS; i < POSTURES; i += GROUPS) {
            float sum = 0;
            for (int n = 0; n < 5; n++) {
                const float d = keys[n * POSTURES + i] - g->near[n];
                sum += d * d;
            }
            if (sum < least) least = sum, at = CELLS * CELL_SEEDS + i;
        }
    }
    __global const float *e = seeds + 16 * at;
    double sine = 0, cosine = 0, x;
    UNROLL for (int i = 0; i < 3; i++) {
        sine += (double)e[12 + i] * g->x[i] - (double)e[9 + i] * g->y[i];
        cosine += (double)e[9 + i] * g->x[i] + (double)e[12 + i] * g->y[i];
    }
    int good = 1;
    UNROLL for (int j = 0; j < SN_ARM_MAX; j++) {
        const double by = k < CELL_SEEDS ? (double)lean_of(g, seeds, at, j) : 0;
        q[j] = (double)e[j] + by + arm.shift[j];
        if (j == arm.first) good &= put(j, g->azimuth - (double)e[8] + by, &x), q[j] = x;
        if (j == arm.last) good &= put(j, angle_of(sine, cosine) + by, &x), q[j] = x;
    }
    return good;
}

// The turn of x that the limits want, nearest to their middle, cut off at them.
static double outward(int j, double x) {
    const double low = arm.low[j], high = arm.high[j];
    if (arm.turns[j]) {
        const double middle = fabs(low) < 1e300 && fabs(high) < 1e300 ? 0.5 * (low + high) : 0;
        x -= 2 * PI * rint((x - middle) / (2 * PI));
        if (x > high && x - 2 * PI >= low) x -= 2 * PI;
        if (x < low && x + 2 * PI <= high) x += 2 * PI;
    }
    return x < low ? low : x > high ? high : x;
}

// A start on its way.
typedef struct state {
    double q[SN_ARM_MAX], before, position, rotation;
    int hold, steps, all, checking;
} state;

static void begin(state *s, const key *g, __global const float *seeds, __global const float *keys,
                  int k, int hold) {
    // what the limits cut off is no start that ignores them
    const int whole = start_at(g, seeds, keys, k, s->q);
    if (hold)
        UNROLL for (int j = 0; j < SN_ARM_MAX; j++) {
            if (!arm.round[j]) s->q[j] = outward(j, s->q[j] - arm.shift[j]) + arm.shift[j];
        }
    s->hold = hold;
    s->steps = whole || hold ? 0 : MOST_STEPS;
    s->before = 1e30;
    s->checking = 0;
}

// One step: 1 when it is a solution, -1 when the start is given up.
static int advance(state *s, const double *G) {
    double a[SN_ARM_MAX][3], o[SN_ARM_MAX][3], e[6], J[SN_ARM_MAX][6], x[SN_ARM_MAX];
    arm_end f;
    place_hinges(SN_ARM_MAX, 0, &arm, s->q, a, o, &f);
    rotation_left(&f, G, e);
    UNROLL for (int k = 0; k < 3; k++) e[3 + k] = G[9 + k] - f.p[k];
    const double turn2 = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
    const double place2 = e[3] * e[3] + e[4] * e[4] + e[5] * e[5];
    const double now = place2 + 0.25 * turn2;
    const int there = turn2 <= arm.turn_tol && place2 <= arm.place_tol;
    s->steps++, s->all++;
    if (s->checking) {
        // of the tool itself
        double off = 0;
        UNROLL for (int k = 0; k < 3; k++) {
            const double d = e[3 + k] + (G[k] - f.x[k]) * arm.tool[0] +
                             (G[3 + k] - f.y[k]) * arm.tool[1] + (G[6 + k] - f.z[k]) * arm.tool[2];
            off += d * d;
        }
        s->position = arm.unit * sqrt(off);
        s->rotation = sqrt(turn2);
        if (s->position <= arm.position_tol && s->rotation <= arm.rotation_tol) return 1;
        s->checking = 0;
        s->hold = 1;
    } else if (there) {
        double moved = 0;
        UNROLL for (int j = 0; j < SN_ARM_MAX; j++) {
            const double at = s->q[j] - arm.shift[j], to = outward(j, at);
            double off = fabs(to - at);
            if (arm.turns[j]) off = fabs(off - 2 * PI * rint(off / (2 * PI)));
            moved = fmax(moved, off);
            s->q[j] = to + arm.shift[j];
        }
        s->checking = 1;
        return moved < 1e-3 ? 0 : -1;
    }
    const int slow = !there && s->steps >= LOOK_AFTER && !(now <= 0.05 && now <= 0.5 * s->before);
    if (slow || s->steps >= (s->hold ? MOST_STEPS : FIRST_STEPS)) return -1;
    s->before = now;
    const double cut_turn = fmin(1, 1 / sqrt(turn2 + 1e-30));
    const double cut_place = fmin(1, arm.length * 0.33 / sqrt(place2 + 1e-30));
    UNROLL for (int k = 0; k < 3; k++) e[k] = e[k] * cut_turn, e[3 + k] = e[3 + k] * cut_place;
    UNROLL for (int j = 0; j < SN_ARM_MAX; j++) {
        double lever[3], along = 0;
        UNROLL for (int k = 0; k < 3; k++) lever[k] = f.p[k] - o[j][k], J[j][k] = a[j][k];
        cross(a[j], lever, J[j] + 3);
        UNROLL for (int k = 0; k < 6; k++) along += J[j][k] * e[k];
        const int held = s->hold && !arm.round[j] &&
                         ((s->q[j] <= arm.lower[j] && along < 0) ||
                          (s->q[j] >= arm.upper[j] && along > 0));
        UNROLL for (int k = 0; k < 6; k++) J[j][k] = held ? 0 : J[j][k];
    }
    solve_step(SN_ARM_MAX, J, e, 0.01 * now + 1e-9, x);
    UNROLL for (int j = 0; j < SN_ARM_MAX; j++) {
        const double to = s->q[j] + x[j];
        s->q[j] = s->hold && !arm.round[j] ? fmin(fmax(to, arm.lower[j]), arm.upper[j]) : to;
    }
    return 0;
}

// @param found   SN_ARM_MAX numbers of each goal
// @param errors  two of each, metres and radians
// @param ends    of each: below 0 when it is no goal, else 2^24 when it is reached, starts, and steps times 2^12
static void put_pose(const state *s, int i, int starts, __global double *found,
                     __global float *errors, __global int *ends) {
    UNROLL for (int j = 0; j < SN_ARM_MAX; j++)
        found[(size_t)i * SN_ARM_MAX + j] =
            fmin(fmax(s->q[j] - arm.shift[j], arm.low[j]), arm.high[j]);
    errors[2 * (size_t)i] = (float)s->position;
    errors[2 * (size_t)i + 1] = (float)s->rotation;
    ends[i] = (1 << 24) + starts + (min(s->all, 4095) << 12);
}

// @param goals  7 numbers each
// @param seeds  those of the cells, then the postures, 16 numbers each; their keys
// @param next   goals of the second round that are taken; how many there are, and in the third
// @param list   those of the second round
__kernel void sn_arm_first(__global const double *goals, __global double *found,
                           __global float *errors, __global int *ends, __global const float *seeds,
                           __global const float *keys, const int n, __global int *next,
                           __global int *list) {
    const int i = (int)get_global_id(0);
    if (i >= n) return;
    double G[12];
    key g;
    state s;
    s.all = 0;
    if (!take_goal(goals + 7 * (size_t)i, G)) {
        ends[i] = -1;
        return;
    }
    look(G, &g);
    begin(&s, &g, seeds, keys, 0, 0);
    int how = 0;
    while (how == 0) how = advance(&s, G);
    if (how > 0) {
        put_pose(&s, i, 1, found, errors, ends);
    } else {
        ends[i] = 0;
        list[atomic_inc(next + 1)] = i;
    }
}

// @param list2  those of the third round
// @param most   starts for a goal
__kernel void sn_arm_more(__global const double *goals, __global double *found,
                          __global float *errors, __global int *ends, __global const float *seeds,
                          __global const float *keys, const int most, __global int *next,
                          __global const int *list, __global int *list2) {
    const int n = next[1];
    int turn = atomic_inc(next), i = 0, start = 0, fresh = 2;  // 1: the next start, 2: the next goal
    double G[12];
    key g;
    state s;
    while (turn < n) {
        if (fresh == 2) {
            i = list[turn];
            (void)take_goal(goals + 7 * (size_t)i, G);
            look(G, &g);
            start = s.all = 0;
        }
        if (fresh > 0) begin(&s, &g, seeds, keys, start, 1);
        const int how = advance(&s, G);
        fresh = 0;
        if (how == 0) continue;
        start++;
        fresh = how < 0 && start < most ? 1 : 2;
        if (fresh == 1) continue;
        if (how > 0)
            put_pose(&s, i, 1 + start, found, errors, ends);
        else
            list2[atomic_inc(next + 2)] = i;
        turn = atomic_inc(next);
    }
}

// A group of threads for a goal; of those that arrive the first start counts.
// @param from  the first start
__kernel void sn_arm_all(__global const double *goals, __global double *found,
                         __global float *errors, __global int *ends, __global const float *seeds,
                         __global const float *keys, const int from, __global const int *next,
                         __global const int *list2) {
    __local int first;
    const int own = (int)get_local_id(0);
    for (int turn = (int)get_group_id(0); turn < next[2]; turn += (int)get_num_groups(0)) {
        const int i = list2[turn];
        double G[12];
        key g;
        state s;
        if (own == 0) first = 1 << 20;
        barrier(CLK_LOCAL_MEM_FENCE);
        (void)take_goal(goals + 7 * (size_t)i, G);
        look(G, &g);
        s.all = 0;
        begin(&s, &g, seeds, keys, from + own, 1);
        int how = 0;
        while (how == 0) how = advance(&s, G);
        if (how > 0) atomic_min(&first, own);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (first == own) put_pose(&s, i, 1 + from + own + 1, found, errors, ends);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
