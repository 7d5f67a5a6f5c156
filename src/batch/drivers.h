// SPDX-License-Identifier: MIT
// Joints that are driven by functions: model/function.c and joint_function.c in lanes. A spline is a list of cubics, each
// with the place where it begins, and straight lines at both ends.
#ifndef SN_QUICK

// Argument i of the function that drives move m of a joint whose coordinates begin at q0.
FN REAL argument_of(ARGS, int q0, int m, int i) {
    return W(x)[q0 + T(move_argument)[SN_BATCH_ARGUMENTS * m + i]];
}

// Spline or polyline: the piece that each lane is in.
FN REAL piece_at(ARGS, int q0, int m, REAL *slope, REAL *bend) {
    const int at = T(move_number)[m];
    const REAL x = argument_of(PASS, q0, m, 0);
    const int count = T(move_count)[m];
    int k = 1;
    REAL c[5];
    // all lanes are past it
    while (k + 3 < count && !ANY(LESS(x, splat(T(number)[at + 5 * (k + 3)])))) k += 4;
    while (k < count && !ANY(LESS(x, splat(T(number)[at + 5 * k])))) k++;
    UNROLL for (int n = 0; n < 5; n++) c[n] = splat(T(number)[at + 5 * (k - 1) + n]);
    for (; k < count; k++) {
        const BITS past = ~LESS(x, splat(T(number)[at + 5 * k]));
        if (!ANY(past)) break;  // they rise
        UNROLL for (int n = 0; n < 5; n++) c[n] =
            choose(past, splat(T(number)[at + 5 * k + n]), c[n]);
    }
    const REAL s = x - c[0];
    *slope = c[2] + s * (2.0 * c[3] + 3.0 * s * c[4]);
    *bend = 2.0 * c[3] + 6.0 * s * c[4];
    return c[1] + s * (c[2] + s * (c[3] + s * c[4]));
}

FN REAL polynomial_at(ARGS, int q0, int m, REAL *slope, REAL *bend) {
    const REAL x = argument_of(PASS, q0, m, 0);
    REAL f = splat(0), d = splat(0), dd = splat(0);
    for (int i = T(move_count)[m] - 1; i >= 0; i--) {
        dd = dd * x + 2.0 * d;
        d = d * x + f;
        f = f * x + T(number)[T(move_number)[m] + i];
    }
    *slope = d;
    *bend = dd;
    return f;
}

// One product of powers after the other: a coefficient, then an exponent for each coordinate.
FN REAL products_at(ARGS, int q0, int m, REAL *d, REAL *dd) {
    const int n = T(move_nargument)[m];
    REAL f = splat(0), p[3 * SN_BATCH_ARGUMENTS];
    for (int k = 0; k < T(move_count)[m]; k++) {
        const int at = T(move_number)[m] + k * (n + 1);
        REAL whole = splat(T(number)[at]);
        for (int i = 0; i < n; i++) {
            const REAL a = argument_of(PASS, q0, m, i);
            REAL *x = p + 3 * i;
            x[0] = splat(1), x[1] = x[2] = splat(0);
            for (int e = 0; e < (int)T(number)[at + 1 + i]; e++) {
                x[2] = x[2] * a + 2.0 * x[1];
                x[1] = x[1] * a + x[0];
                x[0] = x[0] * a;
            }
            whole = whole * x[0];
        }
        f = f + whole;
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) {
                REAL once = splat(T(number)[at]), twice = once;
                for (int l = 0; l < n; l++) {
                    once = once * p[3 * l + (l == i)];
                    twice = twice * p[3 * l + (l == i) + (l == j)];
                }
                if (j == i) d[i] = d[i] + once;
                dd[packed(i, j)] = dd[packed(i, j)] + twice;
            }
    }
    return f;
}

// What drives move m: its value, and the derivatives by its arguments.
FN REAL driver_at(ARGS, int q0, int m, REAL *d, REAL *dd) {
    const int at = T(move_number)[m], n = T(move_nargument)[m];
    REAL f, s, c;
    for (int i = 0; i < n; i++) {
        d[i] = splat(0);
        for (int j = 0; j <= i; j++) dd[packed(i, j)] = splat(0);
    }
    switch (T(move_kind)[m]) {
    case SN_DRIVE_PIECES:
        return piece_at(PASS, q0, m, d, dd);
    case SN_DRIVE_POLYNOMIAL:
        return polynomial_at(PASS, q0, m, d, dd);
    case SN_DRIVE_PRODUCTS:
        return products_at(PASS, q0, m, d, dd);
    case SN_DRIVE_LINEAR:
        f = splat(T(number)[at + n]);
        for (int i = 0; i < n; i++) {
            f = f + T(number)[at + i] * argument_of(PASS, q0, m, i);
            d[i] = splat(T(number)[at + i]);
        }
        return f;
    default:  // a sine
        f = splat(0);
        for (int i = 0; i < n; i++) f = f + T(number)[at + 1 + i] * argument_of(PASS, q0, m, i);
        sine_cosine(f + T(number)[at + n + 1], &s, &c);
        for (int i = 0; i < n; i++) {
            d[i] = T(number)[at] * c * T(number)[at + 1 + i];
            for (int j = 0; j <= i; j++)
                dd[packed(i, j)] =
                    -T(number)[at] * s * T(number)[at + 1 + i] * T(number)[at + 1 + j];
        }
        return T(number)[at] * s + T(number)[at + n + 2];
    }
}

FN void add_twist(REAL *S, REAL x, const REAL *T6) {
    UNROLL for (int n = 0; n < 6; n++) S[n] = S[n] + x * T6[n];
}

FN void cross_twists(const REAL *V, const REAL *S, REAL *out) {
    REAL c[3];
    cross3(V, S, out);
    cross3(V, S + 3, out + 3);
    cross3(V + 3, S, c);
    UNROLL for (int n = 0; n < 3; n++) out[3 + n] = out[3 + n] + c[n];
}

#define ARGUMENT(i) T(move_argument)[SN_BATCH_ARGUMENTS * m + (i)]

// The frame, twist and bend (below) of a joint with one coordinate, as most are.
FN void place_single(ARGS, int k, REAL *R, REAL *p) {
    REAL S[6], E[6];
    UNROLL for (int i = 0; i < 6; i++) S[i] = E[i] = splat(0);
    for (int m = T(move_first)[k]; m < T(move_first)[k + 1]; m++) {
        REAL a[3], b[3], c[3], e[3], d = splat(0), dd = splat(0);
        const REAL f = driver_at(PASS, T(q0)[k], m, &d, &dd);
        const NUMBER x = T(move_axis)[3 * m], y = T(move_axis)[3 * m + 1],
                     z = T(move_axis)[3 * m + 2];
        if (T(move_turns)[m]) {
            REAL sine, cosine;
            sine_cosine(f, &sine, &cosine);
            turn_about(T(move_aligned)[m], x, y, z, sine, cosine, R, a);
            cross3(p, a, b);
            cross3(S, a, c);
            UNROLL for (int i = 0; i < 3; i++) E[i] = E[i] + (d * c[i] + dd * a[i]);
            cross3(S, b, c);
            cross3(S + 3, a, e);
            UNROLL for (int i = 0; i < 3; i++) {
                E[3 + i] = E[3 + i] + (d * (c[i] + e[i]) + dd * b[i]);
                S[i] = S[i] + d * a[i];
                S[3 + i] = S[3 + i] + d * b[i];
            }
        } else {
            turn3(R, splat(x), splat(y), splat(z), a);
            cross3(S, a, c);
            UNROLL for (int i = 0; i < 3; i++) {
                E[3 + i] = E[3 + i] + (d * c[i] + dd * a[i]);
                S[3 + i] = S[3 + i] + d * a[i];
                p[i] = p[i] + f * a[i];
            }
        }
    }
    UNROLL for (int i = 0; i < 6; i++) {
        W(S)[6 * T(slot)[k] + i] = S[i];
        W(bend)[6 * T(bend0)[k] + i] = E[i];
    }
}

// The joint's frame and twists, and into `bend` what joint_function.c calls E: how they change.
PART void place_driven(PART_ARGS, int k, REAL *R, REAL *p) {
    HERE;
    const int nv = T(jnv)[k];
    if (nv == 1) {
        place_single(PASS, k, R, p);
        return;
    }
    REAL *S = W(S) + 6 * T(slot)[k], *E = W(bend) + 6 * T(bend0)[k];
    REAL a[3], s[6], change[6], sine, cosine;
    for (int i = 0; i < 6 * nv; i++) S[i] = splat(0);
    for (int i = 0; i < 3 * nv * (nv + 1); i++) E[i] = splat(0);
    for (int m = T(move_first)[k]; m < T(move_first)[k + 1]; m++) {
        const int n = T(move_nargument)[m];
        REAL d[SN_BATCH_ARGUMENTS], dd[SN_BATCH_ARGUMENTS * (SN_BATCH_ARGUMENTS + 1) / 2];
        const REAL f = driver_at(PASS, T(q0)[k], m, d, dd);
        const NUMBER x = T(move_axis)[3 * m], y = T(move_axis)[3 * m + 1],
                     z = T(move_axis)[3 * m + 2];
        if (T(move_turns)[m]) {
            sine_cosine(f, &sine, &cosine);
            turn_about(T(move_aligned)[m], x, y, z, sine, cosine, R, a);
            put_turn(s, a, p);
        } else {
            turn3(R, splat(x), splat(y), splat(z), a);
            put_slide(s, a);
            UNROLL for (int i = 0; i < 3; i++) p[i] = p[i] + f * a[i];
        }
        for (int i = 0; i < n; i++) {
            // the first carries nothing yet
            for (int b = 0; b <= ARGUMENT(i) && m > T(move_first)[k]; b++) {
                cross_twists(S + 6 * b, s, change);
                add_twist(E + 6 * packed(ARGUMENT(i), b), d[i], change);
            }
            for (int j = 0; j < n; j++)
                if (ARGUMENT(j) <= ARGUMENT(i))
                    add_twist(E + 6 * packed(ARGUMENT(i), ARGUMENT(j)), dd[packed(i, j)], s);
        }
        for (int i = 0; i < n; i++) add_twist(S + 6 * ARGUMENT(i), d[i], s);
    }
    for (int i = 0; i < nv; i++)
        for (int b = 0; b < i; b++) {
            cross_twists(S + 6 * b, S + 6 * i, change);
            add_twist(E + 6 * packed(i, b), splat(-1), change);
        }
}
#undef ARGUMENT

#endif
