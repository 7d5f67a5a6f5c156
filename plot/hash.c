// SPDX-License-Identifier: MIT
// SHA-256 (FIPS 180-4) in base64, by which a page's policy names the one style it allows.
#include <stdint.h>
#include <string.h>

#include "plot.h"

typedef struct sha {
    uint32_t k[64], h[8];
    unsigned char block[64];
    uint64_t length;  // bytes so far
} sha;

static uint32_t turn(uint32_t x, int by) { return x >> by | x << (32 - by); }

// The first 32 bits behind the point of the roots of the first primes: square roots to begin with,
// cube roots for the rounds. By whole numbers, so that they are the same everywhere.
static uint32_t root_bits(uint32_t prime, int power) {
    // the largest x below 2^36 with x^power <= prime 2^(32 power), by bits from the top
    uint64_t x = 0;
    for (int bit = 35; bit >= 0; bit--) {
        uint64_t t = x | (uint64_t)1 << bit;
        // t^power in words of 32 bits, lowest first
        uint64_t word[6] = {1};
        for (int k = 0; k < power; k++) {
            uint64_t low[6] = {0};
            for (int i = 0; i < 5; i++) {
                uint64_t a = word[i] * (t & 0xffffffffu), b = word[i] * (t >> 32);
                low[i] += a & 0xffffffffu;
                low[i + 1] += (a >> 32) + b;
            }
            for (int i = 0; i < 5; i++) low[i + 1] += low[i] >> 32, low[i] &= 0xffffffffu;
            memcpy(word, low, sizeof word);
        }
        bool below = true;
        for (int i = 5; i >= 0; i--) {
            uint64_t wanted = i == power ? prime : 0;
            if (word[i] == wanted) continue;
            below = word[i] < wanted;
            break;
        }
        if (below) x = t;
    }
    return (uint32_t)x;
}

static uint32_t next_prime(uint32_t after) {
    for (uint32_t n = after + 1;; n++) {
        uint32_t d = 2;
        while (d * d <= n && n % d != 0) d++;
        if (d * d > n) return n;
    }
}

static void mix(sha *s) {
    uint32_t w[64], h[8];
    for (int i = 0; i < 16; i++) {
        const unsigned char *b = s->block + 4 * i;
        w[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] +
               (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
    memcpy(h, s->h, sizeof h);
    for (int i = 0; i < 64; i++) {
        uint32_t choice = (h[4] & h[5]) ^ (~h[4] & h[6]);
        uint32_t most = (h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]);
        uint32_t a =
            h[7] + (turn(h[4], 6) ^ turn(h[4], 11) ^ turn(h[4], 25)) + choice + s->k[i] + w[i];
        uint32_t b = (turn(h[0], 2) ^ turn(h[0], 13) ^ turn(h[0], 22)) + most;
        memmove(h + 1, h, 7 * sizeof *h);
        h[4] += a;
        h[0] = a + b;
    }
    for (int i = 0; i < 8; i++) s->h[i] += h[i];
}

static void feed(sha *s, unsigned char byte) {
    s->block[s->length++ % 64] = byte;
    if (s->length % 64 == 0) mix(s);
}

void plot_hash(const char *const *texts, int count, char out[PLOT_HASH]) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    sha s = {.length = 0};
    uint32_t prime = 1;
    for (int i = 0; i < 64; i++) {
        prime = next_prime(prime);
        s.k[i] = root_bits(prime, 3);
        if (i < 8) s.h[i] = root_bits(prime, 2);
    }
    for (int t = 0; t < count; t++)
        for (const char *c = texts[t]; *c != '\0'; c++) feed(&s, (unsigned char)*c);
    uint64_t bits = 8 * s.length;
    feed(&s, 0x80);
    while (s.length % 64 != 56) feed(&s, 0);
    for (int i = 56; i >= 0; i -= 8) feed(&s, (unsigned char)(bits >> i));
    unsigned char sum[33] = {0};
    for (int i = 0; i < 32; i++) sum[i] = (unsigned char)(s.h[i / 4] >> (24 - 8 * (i % 4)));
    for (int i = 0; i < 11; i++) {
        const unsigned char *g = sum + 3 * i;
        const int six[4] = {g[0] >> 2, (g[0] & 3) << 4 | g[1] >> 4, (g[1] & 15) << 2 | g[2] >> 6,
                            g[2] & 63};
        for (int k = 0; k < 4; k++) out[4 * i + k] = digits[six[k]];
    }
    memcpy(out + 43, "=", 2);
}
