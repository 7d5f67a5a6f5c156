// SPDX-License-Identifier: MIT
// Sine and cosine to the last bit, rotations there and back, the coefficients of the exponential
// map.
#include "math/atan2.h"
#include "math/exp.h"
#include "math/log1p.h"
#include "math/rotation.h"
#include "math/sincos.h"
#include "support.h"

static const double pi = 0x1.921fb54442d18p+1;

// How many units in the last place of the nearest double `got` lies from `exact`.
static double ulps(double got, long double exact) {
    double nearest = (double)exact;
    if (exact == 0) return got == 0 ? 0 : INFINITY;
    double unit = nextafter(fabs(nearest), INFINITY) - fabs(nearest);
    return (double)fabsl(((long double)got - exact) / (long double)unit);
}

static double worst;

static void try_angle(double angle) {
    double s, c;
    sn_sincos(angle, &s, &c);
    double off = fmax(ulps(s, sinl((long double)angle)), ulps(c, cosl((long double)angle)));
    if (!(off <= 1)) fail_msg("sin and cos of %a: %a, %a, off by %g ulp", angle, s, c, off);
    worst = fmax(worst, off);
}

static void try_point(double y, double x) {
    double got = sn_atan2(y, x), off = ulps(got, atan2l((long double)y, (long double)x));
    if (!(off <= 1.5)) fail_msg("atan2 of %a, %a: %a, off by %g ulp", y, x, got, off);
    worst = fmax(worst, off);
}

// Over all sizes that a loss meets, and at the ends.
static void log1p_random(void **unused) {
    (void)unused;
    uint64_t state = 3;
    worst = 0;
    for (int i = 0; i < cases(100000); i++) {
        double x = i % 2 == 0 ? pow(10, -20 + 40 * sn_random(&state)) : 4 * sn_random(&state);
        double off = ulps(sn_log1p(x), log1pl((long double)x));
        if (!(off <= 1)) fail_msg("log1p of %a: %a, off by %g ulp", x, sn_log1p(x), off);
        worst = fmax(worst, off);
    }
    print_message("log1p: %.2f ulp\n", worst);
    assert_true(sn_log1p(0) == 0 && isinf(sn_log1p(INFINITY)) && sn_log1p(5e-324) == 5e-324);
    assert_true(isnan(sn_log1p(NAN)) && isnan(sn_log1p(-1)));
}

static void try_one(const char *name, double x, double got, long double exact, double most) {
    double off = ulps(got, exact);
    if (!(off <= most)) fail_msg("%s of %a: %a, off by %g ulp", name, x, got, off);
    worst = fmax(worst, off);
}

// What libm has too, against its long versions.
static void others_random(void **unused) {
    (void)unused;
    uint64_t state = 5;
    worst = 0;
    for (int i = 0; i < cases(100000); i++) {
        double x = i % 2 == 0 ? uniform(&state, -700, 700) : uniform(&state, -1, 1);
        double size = ldexp(uniform(&state, 0.5, 1), below(&state, 2000) - 1000), c;
        if (i % 2 == 0) size = uniform(&state, 0.5, 2);
        c = i % 6 == 0 ? 1 - 1e-9 * size : uniform(&state, -1, 1);
        try_one("exp", x, sn_exp(x), expl((long double)x), 1);
        try_one("log", size, sn_log(size), logl((long double)size), 1);
        try_one("cbrt", size, sn_cbrt(size), cbrtl((long double)size), 1);
        try_one("cbrt", -size, sn_cbrt(-size), cbrtl(-(long double)size), 1);
        try_one("acos", c, sn_acos(c), acosl((long double)c), 3);
    }
    print_message("exp, log, cbrt, acos: %.2f ulp\n", worst);
    assert_true(sn_exp(0) == 1 && isinf(sn_exp(710)) && sn_exp(-INFINITY) == 0);
    assert_true(isinf(sn_exp(INFINITY)) && isnan(sn_exp(NAN)) && sn_exp(-745) > 0);
    assert_true(sn_log(1) == 0 && sn_log(0) == -INFINITY && isnan(sn_log(-1)) &&
                isnan(sn_log(NAN)));
    assert_true(isinf(sn_log(INFINITY)) && sn_cbrt(27) == 3 && sn_cbrt(-1e-300) < 0);
    assert_true(sn_cbrt(0) == 0 && isinf(sn_cbrt(INFINITY)) && isnan(sn_cbrt(NAN)));
    assert_true(sn_acos(1.5) == 0 && sn_acos(-2) == pi);
}

static void atan2_random(void **unused) {
    (void)unused;
    uint64_t state = 3;
    int count = cases(400000);
    worst = 0;
    for (int i = 0; i < count; i++) try_point(uniform(&state, -1, 1), uniform(&state, -1, 1));
    for (int i = 0; i < count; i++)
        try_point(ldexp(uniform(&state, -1, 1), below(&state, 1500) - 750),
                  ldexp(uniform(&state, -1, 1), below(&state, 1500) - 750));
    print_message("%d points: worst %.4f ulp\n", 2 * count, worst);
    // where C says what the answer is, to the sign of a zero
    static const double odd[] = {0,         -0.0,  1,      -1,     INFINITY,
                                 -INFINITY, 1e308, -1e308, 5e-324, -5e-324};
    for (int i = 0; i < 10; i++) {
        for (int k = 0; k < 10; k++) {
            double got = sn_atan2(odd[i], odd[k]), expected = atan2(odd[i], odd[k]);
            if (got != expected || signbit(got) != signbit(expected))
                fail_msg("atan2 of %g, %g: %a, not %a", odd[i], odd[k], got, expected);
        }
    }
    assert_true(isnan(sn_atan2(NAN, 1)) && isnan(sn_atan2(1, NAN)));
}

static void sincos_random(void **unused) {
    (void)unused;
    uint64_t state = 1;
    int count = cases(400000);
    worst = 0;
    for (int i = 0; i < count; i++) try_angle(uniform(&state, -10, 10));
    for (int i = 0; i < count; i++) try_angle(uniform(&state, -1e6, 1e6));
    // sizes from 2^-1074 to 2^1023, evenly by exponent
    for (int i = 0; i < count / 4; i++)
        try_angle(ldexp(uniform(&state, -1, 1), below(&state, 2098) - 1074));
    print_message("%d angles: worst %.4f ulp\n", 2 * count + count / 4, worst);
}

static void sincos_multiples(void **unused) {
    (void)unused;
    const long double half_pi = 1.570796326794896619231321691639751442L;
    worst = 0;
    for (int k = -1000000; k <= 1000000; k++) {
        double angle = (double)(k * half_pi);
        // all those that come close, and some of the others
        if (k % 16 != 0 && fabsl(angle - k * half_pi) > 0x1p-38L) continue;
        try_angle(angle);
        if (k % 100 == 0) {
            try_angle(nextafter(angle, INFINITY));
            try_angle(nextafter(angle, -INFINITY));
        }
    }
    // the double that comes nearest to a multiple of pi/2 of all: 6381956970095103 * 2^797
    try_angle(0x1.6ac5b262ca1ffp+849);
    try_angle(-0x1.6ac5b262ca1ffp+849);
    try_angle(0x1.921fb54442d18p+0);
    try_angle(0x1.fffffffffffffp+1023);
    try_angle(-0x1.fffffffffffffp+1023);
    // where the quick reduction hands over to the slow one
    for (double n = 0x1p20 - 3; n <= 0x1p20 + 3; n += 0.25) try_angle(n * (double)half_pi);
    for (int e = -60; e < 0; e++) {
        try_angle(0x1.921fb54442d18p+0 * (1 + ldexp(1, e)));
        try_angle(0x1.921fb54442d18p+0 * (1 - ldexp(1, e)));
    }
    print_message("near multiples of pi/2: worst %.4f ulp\n", worst);
}

static void sincos_special(void **unused) {
    (void)unused;
    double s, c;
    for (int sign = -1; sign <= 1; sign += 2) {
        sn_sincos(sign * 0.0, &s, &c);
        assert_true(s == 0 && c == 1);
        for (double x = 0x1p-1074; x < 0x1p-1000; x *= 3) {
            sn_sincos(sign * x, &s, &c);
            assert_true(s == sign * x && c == 1);
        }
        sn_sincos(sign < 0 ? -INFINITY : INFINITY, &s, &c);
        assert_true(isnan(s) && isnan(c));
    }
    sn_sincos(NAN, &s, &c);
    assert_true(isnan(s) && isnan(c));
}

static uint64_t hash_bits(uint64_t hash, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    for (int i = 0; i < 8; i++) hash = (hash ^ (bits >> 8 * i & 0xFF)) * 0x100000001b3u;
    return hash;
}

// Two angles at once have the bits of one at a time, also where many turns are taken off.
static void sincos_pairs(void **unused) {
    (void)unused;
    uint64_t state = 9;
    for (int i = 0; i < 20000; i++) {
        const double size = i % 2 ? 1.6e6 : 10;
        double angle[2], s[2], c[2];
        for (int k = 0; k < 2; k++) angle[k] = uniform(&state, -size, size);
        sn_sincos_two(angle, s, c);
        for (int k = 0; k < 2; k++) {
            double one_s, one_c;
            sn_sincos(angle[k], &one_s, &one_c);
            if (s[k] != one_s || c[k] != one_c) fail_msg("%a: not the same bits", angle[k]);
        }
    }
}

// The bits of the arc tangent; every entry of its table counts.
static void atan2_golden(void **unused) {
    (void)unused;
    uint64_t state = 8, hash = 0xcbf29ce484222325u;
    for (int i = 0; i < 20000; i++) {
        double y = uniform(&state, -1, 1);
        double x = uniform(&state, -1, 1);
        hash = hash_bits(hash, sn_atan2(y, x));
    }
    print_message("hash %016llx\n", (unsigned long long)hash);
    assert_true(hash == 0x481f263754f6ffd5u);
}

// The same bits from every compiler, at every level of optimisation, on every machine.
static void sincos_golden(void **unused) {
    (void)unused;
    uint64_t state = 7, hash = 0xcbf29ce484222325u;
    for (int i = 0; i < 10000; i++) {
        // one draw a statement: the order of two in one expression is the compiler's choice
        int exponent = below(&state, 2000) - 1000;
        double x = uniform(&state, -1, 1);
        double angle = i % 4 < 2 ? 10 * x : i % 4 == 2 ? 1e6 * x : ldexp(x, exponent);
        double s, c;
        sn_sincos(angle, &s, &c);
        hash = hash_bits(hash_bits(hash, s), c);
    }
    print_message("hash %016llx\n", (unsigned long long)hash);
    assert_true(hash == 0xfb6f35f8adf7f255u);
}

static sn_vec3 random_unit(uint64_t *state) {
    for (;;) {
        sn_vec3 v = {uniform(state, -1, 1), uniform(state, -1, 1), uniform(state, -1, 1)};
        double n = v3_norm(v);
        if (n > 0.1 && n < 1) return v3_scale(1 / n, v);
    }
}

static double quat_distance(sn_quat p, sn_quat q) {
    double minus =
        fmax(fmax(fabs(p.w - q.w), fabs(p.x - q.x)), fmax(fabs(p.y - q.y), fabs(p.z - q.z)));
    double plus =
        fmax(fmax(fabs(p.w + q.w), fabs(p.x + q.x)), fmax(fabs(p.y + q.y), fabs(p.z + q.z)));
    return fmin(minus, plus);
}

static double mat_distance(const sn_mat3 *A, const sn_mat3 *B) {
    double top = 0;
    for (int c = 0; c < 3; c++) {
        sn_vec3 d = v3_sub(A->c[c], B->c[c]);
        top = fmax(top, fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z))));
    }
    return top;
}

// exp, log, matrix and quaternion of one rotation vector, there and back.
static void round_trip(sn_vec3 axis, double angle) {
    sn_vec3 v = v3_scale(angle, axis);
    sn_quat q = sn_quat_exp(v);
    assert_near(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 1e-15);
    sn_mat3 R = sn_mat3_from_quat(q);
    sn_quat back = sn_quat_from_mat3(R);
    assert_true(back.w >= 0);
    assert_true(quat_distance(q, back) < 1e-15);

    sn_vec3 w = sn_quat_log(q), rw = sn_rotation_log(&R);
    assert_true(v3_norm(w) <= pi * (1 + 1e-15));
    double relative = 1e-15 * fmax(angle, 1e-300);
    if (angle < pi - 1e-8) {
        assert_true(v3_norm(v3_sub(w, v)) <= 4 * relative);
        // a matrix carries small angles only to 1e-16 of 1
        assert_true(v3_norm(v3_sub(rw, v)) <= 1e-15 + 8 * relative);
    }
    // near pi the axis may come out the other way round: compare the rotations
    assert_true(quat_distance(sn_quat_exp(w), q) < 1e-15);
    assert_true(quat_distance(sn_quat_exp(rw), q) < 2e-15);

    sn_expmap k = sn_expmap_at(v3_dot(v, v));
    sn_mat3 E = sn_expmap_rotation(&k, v);
    assert_true(mat_distance(&E, &R) < 2e-15);
}

static void rotations_there_and_back(void **unused) {
    (void)unused;
    static const double angles[] = {0,      1e-300, 1e-20,     1e-9, 1e-5, 1e-3, 0.1,      0.7,
                                    0.9999, 1,      1.5707963, 2,    3,    3.14, 3.1415926};
    uint64_t state = 3;
    for (int i = 0; i < cases(2000); i++) {
        sn_vec3 axis = i < 6 ? v3_scale(i < 3 ? 1 : -1, v3_unit(i % 3)) : random_unit(&state);
        for (size_t a = 0; a < sizeof angles / sizeof angles[0]; a++) round_trip(axis, angles[a]);
        round_trip(axis, pi - 1e-9);
        round_trip(axis, pi);
        round_trip(axis, uniform(&state, 0, pi));
    }
}

static void quaternion_algebra(void **unused) {
    (void)unused;
    uint64_t state = 4;
    for (int i = 0; i < cases(2000); i++) {
        sn_quat p = sn_quat_exp(v3_scale(uniform(&state, 0, 3), random_unit(&state)));
        sn_quat q = sn_quat_exp(v3_scale(uniform(&state, 0, 3), random_unit(&state)));
        sn_mat3 P = sn_mat3_from_quat(p), Q = sn_mat3_from_quat(q);
        sn_mat3 PQ = m3_mulm(&P, &Q), both = sn_mat3_from_quat(sn_quat_mul(p, q));
        assert_true(mat_distance(&PQ, &both) < 2e-15);
        sn_quat one = sn_quat_mul(q, sn_quat_conj(q));
        assert_true(quat_distance(one, (sn_quat){1, 0, 0, 0}) < 1e-15);
        double size = pow(10, uniform(&state, -150, 150));
        sn_quat far = {size * q.w, size * q.x, size * q.y, size * q.z};
        sn_mat3 same = sn_mat3_from_quat(far);
        assert_true(mat_distance(&same, &Q) < 2e-15);
        sn_vec3 log_far = sn_quat_log(far), log_q = sn_quat_log(q);
        assert_true(v3_norm(v3_sub(log_far, log_q)) < 1e-14);
    }
    // a quarter turn about z takes x to y
    sn_mat3 R = sn_mat3_from_quat(sn_quat_exp(v3(0, 0, pi / 2)));
    assert_true(v3_norm(v3_sub(R.c[0], v3(0, 1, 0))) < 1e-15);
}

// "A quaternion of any length but zero."
static void quaternion_lengths(void **unused) {
    (void)unused;
    static const double sizes[] = {1e-320, 1e-300, 1e-200, 1e-160, 1e160, 1e200, 1e300};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        sn_mat3 R = sn_mat3_from_quat((sn_quat){sizes[i], 0, 0, sizes[i]});
        if (!(v3_norm(v3_sub(R.c[0], v3(0, 1, 0))) < 1e-3))
            fail_msg("length %g: the x axis goes to %g %g %g", sizes[i], R.c[0].x, R.c[0].y,
                     R.c[0].z);
    }
}

typedef struct exact_expmap {
    long double sine, alpha, beta, dalpha, dbeta;
} exact_expmap;

// sum of z^k (-1)^k / (2k + m)!, and twice its derivative by z
static long double exact_series(long double z, int m, bool derivative) {
    long double sum = 0, factorial = 1, power = 1;
    for (int i = 2; i <= m; i++) factorial *= i;
    for (int k = 0; k < 40; k++) {
        long double sign = k % 2 ? -1 : 1;
        if (derivative) {
            // the factorial is one step ahead of the power
            if (k > 0) {
                sum += sign * 2 * k * power / factorial;
                power *= z;
            }
        } else {
            sum += sign * power / factorial;
            power *= z;
        }
        factorial *= (long double)(2 * k + m + 1) * (2 * k + m + 2);
    }
    return sum;
}

static exact_expmap exact_at(long double t) {
    long double s = sinl(t), c = cosl(t), t2 = t * t;
    if (t < 4)
        return (exact_expmap){exact_series(t2, 1, false), exact_series(t2, 2, false),
                              exact_series(t2, 3, false), exact_series(t2, 2, true),
                              exact_series(t2, 3, true)};
    return (exact_expmap){s / t, (1 - c) / t2, (t - s) / (t * t2),
                          (t * s - 2 * (1 - c)) / (t2 * t2),
                          (3 * s - t * c - 2 * t) / (t2 * t2 * t)};
}

static void expmap_coefficients(void **unused) {
    (void)unused;
    double off[5] = {0};
    for (double t = 1e-8; t < 20; t *= 1.0007) {
        double t2 = t * t;
        sn_expmap k = sn_expmap_at(t2);
        exact_expmap x = exact_at(sqrtl((long double)t2));
        // relative to the size each falls off with: several pass through zero
        double falls = 1 + t2;
        off[0] = fmax(off[0], (double)fabsl(k.sine - x.sine) * sqrt(falls));
        off[1] = fmax(off[1], (double)fabsl(k.alpha - x.alpha) * falls);
        off[2] = fmax(off[2], (double)fabsl(k.beta - x.beta) * falls);
        off[3] = fmax(off[3], (double)fabsl(k.dalpha - x.dalpha) * falls * sqrt(falls));
        off[4] = fmax(off[4], (double)fabsl(k.dbeta - x.dbeta) * falls * falls);
    }
    print_message("sine %.1e alpha %.1e beta %.1e dalpha %.1e dbeta %.1e\n", off[0], off[1], off[2],
                  off[3], off[4]);
    for (int i = 0; i < 5; i++) assert_true(off[i] < 3e-15);
    sn_expmap zero = sn_expmap_at(0);
    assert_true(zero.sine == 1 && zero.alpha == 0.5 && zero.beta == 1. / 6);
    assert_true(zero.dalpha == -1. / 12 && zero.dbeta == -1. / 60);
}

static void log_coefficients(void **unused) {
    (void)unused;
    double off = 0, doff = 0;
    for (double t = 1e-3; t <= pi; t *= 1.0007) {
        double c, dc;
        sn_log_coefficients(t * t, &c, &dc);
        long double T = sqrtl((long double)(t * t)), s = sinl(T / 2), k = cosl(T / 2);
        long double exact = (1 - T / 2 * k / s) / (T * T);
        long double rate = ((T / (4 * s * s) - k / s / 2) / T - 2 * exact) / (T * T);
        // the closed forms themselves lose digits for small t
        double lost = 1e-19 / (t * t), more = lost / (t * t);
        off = fmax(off, fmax(0, (double)fabsl(c - exact) - 4 * lost));
        doff = fmax(doff, fmax(0, (double)fabsl(dc - rate) - 16 * more));
    }
    print_message("c %.1e c'/t %.1e\n", off, doff);
    assert_true(off < 1e-15 && doff < 1e-15);
}

// J_l against central differences of the rotation, and its change against differences of J_l.
static void expmap_derivatives(void **unused) {
    (void)unused;
    uint64_t state = 8;
    const double h = 1e-5;
    for (int i = 0; i < cases(500); i++) {
        sn_vec3 w = v3_scale(uniform(&state, 0, 9), random_unit(&state)), d = random_unit(&state);
        sn_vec3 plus = v3_add(w, v3_scale(h, d)), minus = v3_sub(w, v3_scale(h, d));
        sn_quat turn = sn_quat_mul(sn_quat_exp(plus), sn_quat_conj(sn_quat_exp(minus)));
        sn_expmap k = sn_expmap_at(v3_dot(w, w));
        sn_vec3 slow = v3_scale(0.5 / h, sn_quat_log(turn));
        assert_true(v3_norm(v3_sub(slow, sn_expmap_jacobian(&k, w, d))) < 1e-8);
        sn_vec3 x = random_unit(&state);
        sn_expmap kp = sn_expmap_at(v3_dot(plus, plus)), km = sn_expmap_at(v3_dot(minus, minus));
        sn_vec3 rise = v3_sub(sn_expmap_jacobian(&kp, plus, x), sn_expmap_jacobian(&km, minus, x));
        sn_vec3 change = sn_expmap_jacobian_change(&k, w, x, d);
        assert_true(v3_norm(v3_sub(v3_scale(0.5 / h, rise), change)) < 1e-8);
    }
}

static void expmap_wrap(void **unused) {
    (void)unused;
    uint64_t state = 6;
    for (int i = 0; i < cases(2000); i++) {
        sn_vec3 w = v3_scale(uniform(&state, 0, 40), random_unit(&state)), s = sn_expmap_wrap(w);
        assert_true(v3_norm(s) <= pi * (1 + 1e-14));
        assert_true(quat_distance(sn_quat_exp(w), sn_quat_exp(s)) < 1e-13);
        if (v3_norm(w) < 3.14) assert_memory_equal(&w, &s, sizeof w);
    }
}

// The sweeps take two angles at a time: the same bits as one by one.
static void two_at_a_time(void **unused) {
    (void)unused;
    uint64_t state = 6;
    for (int n = 0; n < 200000; n++) {
        double size = ldexp(1, below(&state, 60) - 20), s[2], c[2];
        double angle[2] = {0};
        const int odd = below(&state, 2);  // the one that may need the long way
        angle[1 - odd] = uniform(&state, -10, 10);
        angle[odd] = n % 100 == 0 ? n / 100 * 1.5707963267948966 : uniform(&state, -size, size);
        sn_sincos_two(angle, s, c);
        for (int i = 0; i < 2; i++) {
            double sine, cosine;
            sn_sincos(angle[i], &sine, &cosine);
            assert_memory_equal(&s[i], &sine, sizeof sine);
            assert_memory_equal(&c[i], &cosine, sizeof cosine);
        }
    }
}

// The slow reduction gives these very bits, for angles of every size and for those next to a multiple of
// pi/2; the hash was taken when it still went bit by bit.
static void test_reduction_bits(void **state) {
    (void)state;
    uint64_t random = 5, hash = 14695981039346656037u;
    for (int i = 0; i < 20000; i++) {
        int power = (int)(2000 * sn_random(&random)) - 980;
        double size = ldexp(1 + sn_random(&random), power);
        double near = floor(ldexp(1 + sn_random(&random), i % 60)) * 0x1.921fb54442d18p+0;
        double angle = (i % 4 < 2 ? size : near) * (i % 2 ? -1 : 1), part[2];
        int n = sn_sincos_reduce(angle, &part[0], &part[1]);
        unsigned char bytes[sizeof part];
        memcpy(bytes, part, sizeof bytes);
        hash = (hash ^ (unsigned)n) * 1099511628211u;
        for (size_t k = 0; k < sizeof bytes; k++) hash = (hash ^ bytes[k]) * 1099511628211u;
    }
    assert_true(hash == 0x2ee9ce4efadb769fu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reduction_bits), cmocka_unit_test(two_at_a_time),
        cmocka_unit_test(atan2_random),        cmocka_unit_test(log1p_random),
        cmocka_unit_test(others_random),       cmocka_unit_test(sincos_random),
        cmocka_unit_test(sincos_multiples),    cmocka_unit_test(sincos_special),
        cmocka_unit_test(sincos_golden),       cmocka_unit_test(atan2_golden),
        cmocka_unit_test(sincos_pairs),        cmocka_unit_test(rotations_there_and_back),
        cmocka_unit_test(quaternion_algebra),  cmocka_unit_test(quaternion_lengths),
        cmocka_unit_test(expmap_coefficients), cmocka_unit_test(log_coefficients),
        cmocka_unit_test(expmap_derivatives),  cmocka_unit_test(expmap_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
