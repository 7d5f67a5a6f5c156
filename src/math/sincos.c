// SPDX-License-Identifier: MIT
//
// The slow reduction, after Payne and Hanek: angle = m 2^e with an integer m below 2^53. Of the
// product m 2^e (2/pi) only the two lowest integer bits and the fraction matter, so the words of
// 2/pi whose share is a multiple of 4 are left out and the next 256 bits are enough: the fraction
// of any double is above 2^-62, and what is cut off below 2^-169.
#include "math/sincos.h"

#include "sinew/math.h"

static const uint32_t two_over_pi[40] = {
    0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB, 0xDEBBC561,
    0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E, 0xE88235F5, 0x2EBB4484,
    0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B, 0x1FF897FF, 0xDE05980F,
    0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D, 0x7527BAC7, 0xEBE5F17B,
    0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08, 0x56033046, 0xFC7B6BAB, 0xF0CFBC20, 0x9AF4361D};

enum { WORDS = 8, LIMBS = WORDS + 2 };

// 64 bits of a little-endian number from bit `low` up; bits outside it are 0.
static uint64_t bits_at(const uint32_t limb[LIMBS], int low) {
    // three limbs hold the 64 bits wherever they begin; `low` is above -128
    int first = (low + 128) / 32 - 4, shift = (low + 128) % 32;
    uint64_t part[3];
    for (int i = 0; i < 3; i++) part[i] = first + i >= 0 && first + i < LIMBS ? limb[first + i] : 0;
    uint64_t out = (part[0] | part[1] << 32) >> shift;
    return shift > 0 ? out | part[2] << (64 - shift) : out;
}

// The highest set bit below `point`, 0 when there is none.
static int highest_bit(const uint32_t limb[LIMBS], int point) {
    int i = point > 32 * LIMBS ? LIMBS - 1 : (point - 1) / 32;
    while (i > 0 && limb[i] == 0) i--;
    int bit = 0;
    for (int step = 16; step > 0; step /= 2)
        if (limb[i] >> bit >> step != 0) bit += step;
    return 32 * i + bit;
}

int sn_sincos_reduce(double angle, double *y, double *tail) {
    *tail = 0;
    *y = angle - angle;  // NaN for what is not finite
    if (!isfinite(angle) || angle == 0) return 0;

    int e;
    uint64_t m = (uint64_t)ldexp(frexp(fabs(angle), &e), 53);
    e -= 53;
    int skip = e > 2 ? (e - 2) / 32 : 0;

    // product = m * (WORDS words of 2/pi), the least significant limb first
    uint32_t limb[LIMBS] = {0};
    const uint32_t half[2] = {(uint32_t)m, (uint32_t)(m >> 32)};
    for (int h = 0; h < 2; h++) {
        uint64_t carry = 0;
        for (int i = 0; i < WORDS; i++) {
            carry += (uint64_t)half[h] * two_over_pi[skip + WORDS - 1 - i] + limb[i + h];
            limb[i + h] = (uint32_t)carry;
            carry >>= 32;
        }
        limb[WORDS + h] += (uint32_t)carry;
    }

    // the binary point lies at bit `point`; round to nearest: a fraction over 1/2 becomes negative
    int point = 32 * WORDS - (e - 32 * skip);
    int n = (int)(bits_at(limb, point) & 3);
    bool negative = bits_at(limb, point - 1) & 1;
    n += negative;
    for (int i = 0; i < LIMBS; i++) {
        int above = 32 * (i + 1) - point;  // bits of this limb at or above the point
        uint32_t keep = above <= 0 ? ~0u : above >= 32 ? 0u : ~0u >> above;
        limb[i] = (negative ? ~limb[i] : limb[i]) & keep;
    }

    int top = highest_bit(limb, point);
    uint64_t high = bits_at(limb, top - 63), low = bits_at(limb, top - 127);
    double a = ldexp((double)(high >> 11), top - 52 - point);
    double b = ldexp((double)((high & 0x7FF) << 53 | low >> 11), top - 116 - point);

    // (a + b) pi/2, pi/2 in two doubles
    const double p = 0x1.921fb54442d18p+0, p_low = 0x1.1a62633145c07p-54;
    double product = a * p;
    double rest = fma(a, p, -product) + (a * p_low + b * p);
    double sum = product + rest;
    double left = (product - sum) + rest;
    if (negative) {
        sum = -sum;
        left = -left;
    }
    if (angle < 0) {
        sum = -sum;
        left = -left;
        n = -n;
    }
    *y = sum;
    *tail = left;
    return n & 3;
}

void sn_sincos(double angle, double *sine, double *cosine) {
    if (sine == NULL || cosine == NULL) return;
    sn_sincos_inline(angle, sine, cosine);
}
