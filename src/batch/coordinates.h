// SPDX-License-Identifier: MIT
// Tasks on coordinates: rest poses and soft limits, as sweeps/joint_terms.c has them.

// What pulls a frame to its own rest pose; on the processor each lane has weights of its own.
#ifndef HOLD
#define HOLD(i) (W(lane)[SN_LANE_PULL] * T(pull)[i])
#endif

// Rest pose r, and what it weighs: the problem's own, and behind them the one of a frame.
FN REAL rest_pose(ARGS, int r, int at) {
    if (r < N(nrest)) return splat(T(rest_q)[N(nq) * r + at]);
    return W(anchor)[at];
}

FN REAL rest_weight(ARGS, int r, int i) {
    if (r < N(nrest)) {
        if (N(shared)) return W(lane)[SN_LANE_SHARE] * T(rest_w)[N(nv) * r + i];
        return splat(T(rest_w)[N(nv) * r + i]);
    }
    return HOLD(i);
}

// Rest of a joint held as a quaternion: rotation_term() of joint_terms.c.
FN void rest_turn(ARGS, int k, int r) {
    const int first = T(type)[k] == SN_BATCH_FREE ? 3 : 0, i = T(slot)[k] + first;
    const int at = T(q0)[k] + first;
    REAL rest[4], turn[4], psi[3], u[3], g[3], pu[3], full[9], more[9], c, dc;
    UNROLL for (int n = 0; n < 4; n++) rest[n] = (n == 0 ? 1.0 : -1.0) * rest_pose(PASS, r, at + n);
    quat_product(W(x) + at, rest, turn);
    const REAL norm = 1.0 / root((turn[0] * turn[0] + turn[1] * turn[1]) +
                                 (turn[2] * turn[2] + turn[3] * turn[3]));
    UNROLL for (int n = 0; n < 4; n++) turn[n] = norm * turn[n];
    quat_log(turn, psi);
    log_coefficients(dot3(psi, psi), &c, &dc);
    UNROLL for (int n = 0; n < 3; n++) u[n] = rest_weight(PASS, r, i + n) * psi[n];
    log_jacobian(c, psi, u, g);
    cross3(psi, u, pu);
    UNROLL for (int b = 0; b < 3; b++) {
        REAL minus[3], unit[3], x[3], wx[3], xu[3], xpu[3], pxu[3], ppu[3];
        UNROLL for (int n = 0; n < 3; n++) minus[n] = -psi[n], unit[n] = splat(n == b);
        log_jacobian(c, minus, unit, x);
        UNROLL for (int n = 0; n < 3; n++) wx[n] = rest_weight(PASS, r, i + n) * x[n];
        log_jacobian(c, psi, wx, full + 3 * b);
        cross3(x, u, xu);
        cross3(x, pu, xpu);
        cross3(psi, xu, pxu);
        cross3(psi, pu, ppu);
        const REAL along = dc * dot3(psi, x);
        UNROLL for (int n = 0; n < 3; n++) more[3 * b + n] =
            0.5 * xu[n] + (c * (xpu[n] + pxu[n]) + along * ppu[n]);
    }
    REAL *h = W(rest_h) + 12 * T(quat)[k];
    UNROLL for (int a = 0; a < 3; a++) {
        W(g)[i + a] = W(g)[i + a] + g[a];
        for (int b = 0; b <= a; b++) {
            const int n = packed(a, b);
            h[n] = h[n] + 0.5 * (full[3 * a + b] + full[3 * b + a]);
            h[6 + n] = h[6 + n] + 0.5 * (more[3 * a + b] + more[3 * b + a]);
        }
    }
}

FN REAL rest_apart(ARGS, int r, int i) {
    const int at = T(q_of)[i];
    REAL d = W(x)[at] - rest_pose(PASS, r, at);
    if (T(whole)[i]) d = d - 6.283185307179586 * nearest(0.15915494309189535 * d);
    return d;
}

// How far a coordinate is out of a soft limit.
FN REAL soft_out(ARGS, int n) {
    const REAL x = W(x)[T(q_of)[T(soft_of)[n]]];
    const REAL low = splat(T(soft_limit)[3 * n]), high = splat(T(soft_limit)[3 * n + 1]);
    return choose(LESS(x, low), x - low, choose(LESS(high, x), x - high, splat(0)));
}

// f of rest poses and soft limits alone.
FN REAL rest_value(ARGS) {
    REAL twice = splat(0);
    for (int r = 0; r < SN_BATCH_RESTS; r++) {
        for (int i = 0; i < N(nv); i++) {
            if (T(q_of)[i] < 0) continue;
            const REAL d = rest_apart(PASS, r, i);
            twice = twice + rest_weight(PASS, r, i) * d * d;
        }
        for (int k = 0; k < N(nj); k++) {
            if (T(quat)[k] < 0) continue;
            const int first = T(type)[k] == SN_BATCH_FREE ? 3 : 0, i = T(slot)[k] + first;
            const int at = T(q0)[k] + first;
            REAL rest[4], turn[4], psi[3];
            UNROLL for (int n = 0; n < 4; n++) rest[n] =
                (n == 0 ? 1.0 : -1.0) * rest_pose(PASS, r, at + n);
            quat_product(W(x) + at, rest, turn);
            const REAL norm = 1.0 / root((turn[0] * turn[0] + turn[1] * turn[1]) +
                                         (turn[2] * turn[2] + turn[3] * turn[3]));
            UNROLL for (int n = 0; n < 4; n++) turn[n] = norm * turn[n];
            quat_log(turn, psi);
            UNROLL for (int n = 0; n < 3; n++) twice =
                twice + rest_weight(PASS, r, i + n) * psi[n] * psi[n];
        }
    }
    for (int n = 0; n < N(nsoft); n++) {
        const REAL out = soft_out(PASS, n);
        twice = twice + T(soft_limit)[3 * n + 2] * out * out;
    }
    return 0.5 * twice;
}

// Their gradient and second derivatives: those of a quaternion are Gauss-Newton's six, then what the exact
// ones have more.
PART void rest_terms(PART_ARGS) {
    HERE;
    for (int i = 0; i < N(nv); i++) W(own)[i] = W(g)[i] = splat(0);
    for (int i = 0; i < 12 * N(nquat); i++) W(rest_h)[i] = splat(0);
    for (int r = 0; r < SN_BATCH_RESTS; r++) {
        for (int i = 0; i < N(nv); i++) {
            if (T(q_of)[i] < 0) continue;
            const REAL w = rest_weight(PASS, r, i);
            W(g)[i] = W(g)[i] + w * rest_apart(PASS, r, i);
            W(own)[i] = W(own)[i] + w;
        }
        for (int k = 0; k < N(nj); k++)
            if (T(quat)[k] >= 0) rest_turn(PASS, k, r);
    }
    for (int n = 0; n < N(nsoft); n++) {
        const int i = T(soft_of)[n];
        const REAL out = soft_out(PASS, n);
        W(g)[i] = W(g)[i] + T(soft_limit)[3 * n + 2] * out;
        W(own)
        [i] = W(own)[i] + choose(EQUAL(out, splat(0)), splat(0), splat(T(soft_limit)[3 * n + 2]));
    }
    if (!N(gained)) return;
    for (int i = 0; i < N(nv); i++) {
        W(g)[i] = T(gain)[i] * W(g)[i];
        W(own)[i] = T(gain)[i] * T(gain)[i] * W(own)[i];
    }
    for (int k = 0; k < N(nj); k++) {
        if (T(quat)[k] < 0) continue;
        const int i = T(slot)[k] + (T(type)[k] == SN_BATCH_FREE ? 3 : 0);
        REAL *h = W(rest_h) + 12 * T(quat)[k];
        UNROLL for (int a = 0; a < 3; a++) for (int b = 0; b <= a; b++) for (int n = packed(a, b);
                                                                             n < 12; n += 6) h[n] =
            T(gain)[i + a] * T(gain)[i + b] * h[n];
    }
}
