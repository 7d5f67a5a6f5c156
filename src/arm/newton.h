// SPDX-License-Identifier: MIT
// What a Newton step of an arm is made of on a device, over the REAL of a thread (dialect.cl): C and OpenCL C 1.2 at
// once, without includes. The processor's step stands in geometry.h and kernel.h, whose lanes may be floats and so
// need a splat() around every constant: a change to the step belongs into both.
//
// The includer defines SN_INLINE, REAL, BITS, LESS, ANY, UNROLL, CHAIN (a pointer to the chain), KERNEL(name),
// SINES and the functions splat, choose, root.

SN_INLINE REAL smaller(REAL a, REAL b) { return choose(LESS(a, b), a, b); }
SN_INLINE REAL larger(REAL a, REAL b) { return choose(LESS(b, a), a, b); }

SN_INLINE void cross(const REAL *a, const REAL *b, REAL *out) {
    REAL x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
}

// The end frame's columns and place.
typedef struct KERNEL(end) {
    REAL x[3], y[3], z[3], p[3];
} KERNEL(end);

SN_INLINE void turn_about_z(KERNEL(end) * f, REAL s, REAL c) {
    UNROLL for (int i = 0; i < 3; i++) {
        REAL u = c * f->x[i] + s * f->y[i];
        f->y[i] = c * f->y[i] - s * f->x[i];
        f->x[i] = u;
    }
}

// The rotation vector that leads from the end's columns to the goal's. With t its length and h =
// cos(t/2), the sum v of the columns' cross products is sin t times its axis, and t / sin t = P(h)/h
// to 1e-5, exact at t = 0. Near t = pi, where v vanishes, the axis is taken from the diagonal.
SN_INLINE void rotation_left(const KERNEL(end) * f, const REAL *G, REAL *e) {
    REAL t[3], d[3], c = splat(0);
    cross(f->x, G, e);
    cross(f->y, G + 3, t);
    for (int i = 0; i < 3; i++) e[i] = e[i] + t[i];
    cross(f->z, G + 6, t);
    for (int i = 0; i < 3; i++) {
        e[i] = 0.5 * (e[i] + t[i]);
        d[i] = f->x[i] * G[i] + f->y[i] * G[3 + i] + f->z[i] * G[6 + i];
        c = c + d[i];
    }
    const REAL h2 = larger(0.25 * (1.0 + c), splat(1e-4)), h = root(h2), u = 1.0 - h;
    const REAL k =
        (1.0 +
         u * (.3333248 +
              u * (.1339174 + u * (.0507743 + u * (.0500331 + u * (-.0290525 + u * .0317874)))))) /
        h;
    for (int i = 0; i < 3; i++) e[i] = k * e[i];
    const BITS near_pi = LESS(c, splat(-0.999));
    if (ANY(near_pi)) {
        const REAL cosine = 0.5 * (c - 1.0);
        for (int i = 0; i < 3; i++) {
            REAL part = 3.1 * root(larger(0.5 * (d[i] - cosine), splat(0)));
            e[i] = choose(near_pi, choose(LESS(e[i], splat(0)), -part, part), e[i]);
        }
    }
}

// Hinges, or (lead) a slide and hinges, in the chain's shorter form: axes, places and the frame behind
// the last turn.
SN_INLINE void place_hinges(const int n, const bool lead, CHAIN c, const REAL *q, REAL a[][3],
                            REAL o[][3], KERNEL(end) * f) {
    REAL s[SN_ARM_MAX], k[SN_ARM_MAX];
    SINES(n, q, s, k);
    for (int i = 0; i < 3; i++) {
        f->x[i] = splat(i == 0), f->y[i] = splat(i == 1);
        f->z[i] = splat(i == 2), f->p[i] = splat(0);
    }
    UNROLL for (int j = 0; j < n; j++) {
        UNROLL for (int i = 0; i < 3; i++) a[j][i] = f->z[i], o[j][i] = f->p[i];
        if (lead && j == 0)
            f->p[2] = q[0];
        else
            turn_about_z(f, s[j], k[j]);
        if (j + 1 == n) break;
        UNROLL for (int i = 0; i < 3; i++) {
            f->p[i] =
                f->p[i] + (c->t[j][0] * f->x[i] + c->t[j][1] * f->y[i] + c->t[j][2] * f->z[i]);
            REAL y = c->cosine[j] * f->y[i] + c->sine[j] * f->z[i];
            f->z[i] = c->cosine[j] * f->z[i] - c->sine[j] * f->y[i];
            f->y[i] = y;
        }
    }
}

// (A + lambda) x = b for a symmetric A of `size` rows in its lower triangle, which is spent.
SN_INLINE void solve_small(const int size, REAL *A, const REAL *b, REAL *x) {
    REAL inverse[SN_ARM_MAX];
#define AT(r, c) A[(r) * ((r) + 1) / 2 + (c)]
    UNROLL for (int r = 0; r < size; r++) {
        UNROLL for (int c = 0; c < r; c++) {
            REAL s = AT(r, c);
            UNROLL for (int k = 0; k < c; k++) s = s - AT(r, k) * AT(c, k) * inverse[k];
            AT(r, c) = s;
        }
        REAL d = AT(r, r), s = b[r];
        UNROLL for (int k = 0; k < r; k++) {
            REAL l = AT(r, k) * inverse[k];
            d = d - l * AT(r, k);
            s = s - l * x[k];
        }
        inverse[r] = 1.0 / larger(d, splat(1e-10));
        x[r] = s;
    }
    UNROLL for (int r = size - 1; r >= 0; r--) {
        REAL s = x[r];
        UNROLL for (int k = r + 1; k < size; k++) s = s - AT(k, r) * x[k];
        x[r] = s * inverse[r];
    }
#undef AT
}

// The step x = J^T (J J^T + lambda)^-1 e, or what it is with fewer than six variables.
SN_INLINE void solve_step(const int n, REAL J[][6], const REAL *e, REAL lambda, REAL *x) {
    REAL A[SN_ARM_MAX * (SN_ARM_MAX + 1) / 2], w[6];
    if (n >= 6) {
        UNROLL for (int r = 0; r < 6; r++) UNROLL for (int k = 0; k <= r; k++) {
            REAL sum = r == k ? lambda : splat(0);
            UNROLL for (int j = 0; j < n; j++) sum = sum + J[j][r] * J[j][k];
            A[r * (r + 1) / 2 + k] = sum;
        }
        solve_small(6, A, e, w);
        UNROLL for (int j = 0; j < n; j++) {
            REAL sum = splat(0);
            UNROLL for (int i = 0; i < 6; i++) sum = sum + J[j][i] * w[i];
            x[j] = sum;
        }
    } else {
        REAL g[6] = {splat(0), splat(0), splat(0), splat(0), splat(0), splat(0)};
        UNROLL for (int r = 0; r < n; r++) {
            UNROLL for (int k = 0; k <= r; k++) {
                REAL sum = r == k ? lambda : splat(0);
                UNROLL for (int i = 0; i < 6; i++) sum = sum + J[r][i] * J[k][i];
                A[r * (r + 1) / 2 + k] = sum;
            }
            REAL sum = splat(0);
            UNROLL for (int i = 0; i < 6; i++) sum = sum + J[r][i] * e[i];
            g[r] = sum;
        }
        solve_small(n, A, g, x);
    }
}
