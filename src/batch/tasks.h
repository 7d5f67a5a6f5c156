// SPDX-License-Identifier: MIT
// Tasks on bodies, summed on every joint (core.h says into what), and their f.

// What a squared residual s counts for: its value, and its slope and twice its second derivative.
FN REAL loss_at(int loss, REAL c2, REAL s, REAL *slope, REAL *bend) {
    if (loss == SN_BATCH_CAUCHY) {
        *slope = c2 / (c2 + s);
        *bend = -2.0 * *slope / (c2 + s);
        return c2 * log_one_plus(s / c2);
    }
    const BITS far = LESS(c2, s);
    const REAL z = choose(far, s, splat(1)), x = root(c2 / z);
    *slope = choose(far, x, splat(1));
    *bend = choose(far, -x / z, splat(0));
    return choose(far, 2.0 * root(c2 * z) - c2, s);
}

// F p^T into N, F into the force: sums of parts are N (9), F (3), M (6).
FN void add_force(REAL *sum, const REAL *F, const REAL *p, int force) {
    UNROLL for (int c = 0; c < 3; c++) UNROLL for (int r = 0; r < 3; r++) sum[3 * c + r] =
        sum[3 * c + r] + F[r] * p[c];
    if (force) UNROLL for (int r = 0; r < 3; r++) sum[9 + r] = sum[9 + r] + F[r];
}

// Where a point of joint k is.
FN void place_point(ARGS, int i, const REAL *Rp, REAL *p) {
    const int at = T(point_goal)[i];
    if (N(locals)) {
        turn3(Rp, GOAL(at + 3), GOAL(at + 4), GOAL(at + 5), p);
    } else {
        turn3(Rp, splat(T(point_local)[3 * i]), splat(T(point_local)[3 * i + 1]),
              splat(T(point_local)[3 * i + 2]), p);
    }
    UNROLL for (int n = 0; n < 3; n++) p[n] = Rp[9 + n] + p[n];
}

// Twice f of a point at p, with r to its goal and weight w; all are 0 where the goal is missing. `losses`: some points
// have one, and then K has e `bent` u u^T more, u = (p x r, r).
FN REAL pull_point(ARGS, const int losses, int i, REAL *p, REAL *r, REAL *weight, REAL *bent) {
    const int at = T(point_goal)[i];
    UNROLL for (int n = 0; n < 3; n++) r[n] =
        (GOAL_FROM(at + n, W(lane)[SN_LANE_ORIGIN + n])) - p[n];
    REAL s = dot3(r, r), w = splat(T(point_weight)[i]), twice;
    const BITS there = EQUAL(s, s);
    if (ANY(~there)) {
        s = choose(there, s, splat(0));
        w = choose(there, w, splat(0));
        UNROLL for (int n = 0; n < 3; n++) {
            r[n] = choose(there, r[n], splat(0));
            p[n] = choose(there, p[n], splat(0));
        }
    }
    *bent = splat(0);
    if (losses && T(point_loss)[i] != 0) {
        REAL slope, bend;
        twice = w * loss_at(T(point_loss)[i], splat(T(point_scale2)[i]), s, &slope, &bend);
        *bent = w * bend;
        w = w * slope;
    } else {
        twice = w * s;
    }
    *weight = w;
    return twice;
}

// A point with a 3 x 3 weight, or onto a plane.
FN REAL add_matrix_point(ARGS, int i, const REAL *Rp, REAL *sum) {
    const int at = T(part_goal)[i];
    REAL p[3], r[3], F[3];
    if (N(locals)) {
        turn3(Rp, GOAL(at + 3), GOAL(at + 4), GOAL(at + 5), p);
    } else {
        turn3(Rp, splat(T(part_local)[3 * i]), splat(T(part_local)[3 * i + 1]),
              splat(T(part_local)[3 * i + 2]), p);
    }
    UNROLL for (int n = 0; n < 3; n++) p[n] = Rp[9 + n] + p[n];
    UNROLL for (int n = 0; n < 3; n++) r[n] =
        (GOAL_FROM(at + n, W(lane)[SN_LANE_ORIGIN + n])) - p[n];
    if (T(part_type)[i] == SN_BATCH_PLANE) {
        const REAL off = T(part_normal)[3 * i] * r[0] + T(part_normal)[3 * i + 1] * r[1] +
                         T(part_normal)[3 * i + 2] * r[2];
        UNROLL for (int n = 0; n < 3; n++) r[n] = T(part_normal)[3 * i + n] * off;
    }
    const REAL s = dot3(r, r);
    const BITS there = EQUAL(s, s);
    REAL weight[9];
    UNROLL for (int n = 0; n < 9; n++) weight[n] =
        choose(there, splat(T(part_matrix)[9 * i + n]), splat(0));
    UNROLL for (int n = 0; n < 3; n++) {
        r[n] = choose(there, r[n], splat(0));
        p[n] = choose(there, p[n], splat(0));
    }
    turn3(weight, r[0], r[1], r[2], F);
    add_force(sum, F, p, 1);
    // B^T W B with B = [-[p] I]: column c of [p] W is p x W_c, and [p] W (-[p]) likewise of its rows
    REAL pw[9], aa[9], row[3];
    REAL *A = sum + SN_SUM_MATRIX;
    UNROLL for (int c = 0; c < 3; c++) cross3(p, weight + 3 * c, pw + 3 * c);
    UNROLL for (int n = 0; n < 3; n++) {
        UNROLL for (int c = 0; c < 3; c++) row[c] = pw[3 * c + n];
        cross3(p, row, aa + 3 * n);
    }
    UNROLL for (int n = 0; n < 3; n++) UNROLL for (int c = 0; c < 3; c++) {
        if (c <= n) {
            A[packed(n, c)] = A[packed(n, c)] + aa[3 * n + c];
            A[packed(3 + n, 3 + c)] = A[packed(3 + n, 3 + c)] + weight[3 * c + n];
        }
        A[packed(3 + n, c)] = A[packed(3 + n, c)] + pw[3 * n + c];
    }
    return largest(dot3(r, F), splat(0));
}

FN REAL add_direction(ARGS, int i, const REAL *Rp, REAL *sum) {
    const int at = T(part_goal)[i];
    REAL d[3], r[3], F[3];
    turn3(Rp, splat(T(part_local)[3 * i]), splat(T(part_local)[3 * i + 1]),
          splat(T(part_local)[3 * i + 2]), d);
    UNROLL for (int n = 0; n < 3; n++) r[n] = GOAL(at + n) - d[n];
    REAL s = dot3(r, r);
    const BITS there = EQUAL(s, s);
    const REAL w = choose(there, splat(T(part_weight)[i]), splat(0));
    s = choose(there, s, splat(0));
    UNROLL for (int n = 0; n < 3; n++) F[n] = w * choose(there, r[n], splat(0));
    add_force(sum, F, d, 0);
    const REAL x = w * d[0], y = w * d[1], z = w * d[2];
    sum[12] = sum[12] + x * d[0], sum[13] = sum[13] + y * d[1], sum[14] = sum[14] + z * d[2];
    sum[15] = sum[15] + x * d[1], sum[16] = sum[16] + x * d[2], sum[17] = sum[17] + y * d[2];
    return w * s;
}

FN REAL add_orientation(ARGS, int i, const REAL *Rp, REAL *sum) {
    const int at = T(part_goal)[i];
    REAL q[4], G[9], turn[9], psi[3], c, dc;
    UNROLL for (int n = 0; n < 4; n++) q[n] = GOAL(at + n);
    const REAL size = (q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]);
    const BITS there = EQUAL(size, size);
    UNROLL for (int n = 0; n < 4; n++) q[n] = choose(there, q[n], splat(n == 0));
    quat_rotation(q, G);
    // G R^T: column m is the sum over the columns of G, times R's entry m
    UNROLL for (int m = 0; m < 3; m++) turn3(G, Rp[m], Rp[3 + m], Rp[6 + m], turn + 3 * m);
    matrix_log(turn, psi);
    const REAL w = choose(there, splat(T(part_weight)[i]), splat(0)), t2 = dot3(psi, psi);
    log_coefficients(t2, &c, &dc);
    const REAL h = 0.5 * w, wc = w * c;
    UNROLL for (int n = 0; n < 3; n++) sum[12 + n] = sum[12 + n] + h;
    UNROLL for (int m = 0; m < 3; m++) UNROLL for (int n = 0; n < 3; n++) sum[3 * m + n] =
        sum[3 * m + n] - wc * psi[n] * psi[m];
    sum[1] = sum[1] + h * psi[2], sum[3] = sum[3] - h * psi[2];
    sum[6] = sum[6] + h * psi[1], sum[2] = sum[2] - h * psi[1];
    sum[5] = sum[5] + h * psi[0], sum[7] = sum[7] - h * psi[0];
    return w * t2;
}

// The wrench of sums.
FN void wrench_of(const REAL *sum, REAL *phi) {
    phi[0] = sum[5] - sum[7], phi[1] = sum[6] - sum[2], phi[2] = sum[1] - sum[3];
    UNROLL for (int i = 0; i < 3; i++) phi[3 + i] = sum[9 + i];
}

// Twice f of all tasks on joint k that are no points of scalar weight, and their sums.
FN REAL sum_parts(ARGS, int k, const REAL *Rp, REAL *sum) {
    REAL twice = splat(0);
    for (int i = 0; i < N(nsum); i++) sum[i] = splat(0);
    for (int i = T(part_first)[k]; i < T(part_first)[k + 1]; i++) {
        if (T(part_type)[i] == SN_BATCH_DIRECTION) {
            twice = twice + add_direction(PASS, i, Rp, sum);
        } else if (T(part_type)[i] == SN_BATCH_ORIENTATION) {
            twice = twice + add_orientation(PASS, i, Rp, sum);
        } else {
            twice = twice + add_matrix_point(PASS, i, Rp, sum);
        }
    }
    return twice;
}
