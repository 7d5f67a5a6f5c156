// SPDX-License-Identifier: MIT
#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4000 };  // the exact decimal form of any double is shorter

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Where the number's parts end; false when it isn't one. Counts digits for the fast way.
typedef struct scan {
    uint64_t digits;  // the first 19 significant digits, the point left out
    int ndigits;      // significant digits seen
    int exponent;     // value = digits * 10^exponent when ndigits <= 19
    bool negative;
} scan;

static bool scan_number(const char *text, size_t length, scan *s) {
    *s = (scan){0};
    size_t i = 0;
    if (i < length && (text[i] == '+' || text[i] == '-')) s->negative = text[i++] == '-';
    bool any = false, point = false;
    for (; i < length; i++) {
        char c = text[i];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(c)) break;
        any = true;
        if (s->ndigits > 0 || c != '0') {
            if (s->ndigits < 19) s->digits = s->digits * 10 + (uint64_t)(c - '0');
            s->ndigits++;
        }
        if (point) s->exponent--;
    }
    if (!any) return false;
    if (i < length && (text[i] == 'e' || text[i] == 'E')) {
        i++;
        bool minus = false;
        if (i < length && (text[i] == '+' || text[i] == '-')) minus = text[i++] == '-';
        if (i == length) return false;
        int e = 0;
        for (; i < length && is_digit(text[i]); i++)
            if (e < 100000) e = e * 10 + (text[i] - '0');
        s->exponent += minus ? -e : e;
    }
    return i == length;
}

bool sn_number_parse(const char *text, size_t length, double *out) {
    // 10^0 ... 10^22 are exact doubles, and so is an integer below 2^53: one rounding, no more
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    scan s;
    *out = 0;
    if (length > LONGEST || !scan_number(text, length, &s)) return false;
    if (s.ndigits <= 15 && s.exponent >= -22 && s.exponent <= 22) {
        double value = (double)s.digits;
        value = s.exponent < 0 ? value / power[-s.exponent] : value * power[s.exponent];
        *out = s.negative ? -value : value;
        return true;
    }
    // the rest through strtod, which wants the locale's decimal point
    char copy[LONGEST + 16];
    const char *point = localeconv()->decimal_point;
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '.') {
            copy[n++] = text[i];
            continue;
        }
        for (const char *c = point; *c != '\0' && n < sizeof copy - 1; c++) copy[n++] = *c;
    }
    copy[n < sizeof copy ? n : sizeof copy - 1] = '\0';
    *out = strtod(copy, NULL);
    return isfinite(*out);
}

// snprintf, with the locale's decimal point turned back into '.'.
static void print_digits(double value, int digits, char out[SN_NUMBER_TEXT]) {
    (void)snprintf(out, SN_NUMBER_TEXT, "%.*g", digits, value);
    const char *point = localeconv()->decimal_point;
    char *at = point[0] == '.' && point[1] == '\0' ? NULL : strstr(out, point);
    if (at != NULL) {
        size_t length = strlen(point);
        *at = '.';
        memmove(at + 1, at + length, strlen(at + length) + 1);
    }
}

void sn_number_print17(double value, char out[SN_NUMBER_TEXT]) {
    if (isfinite(value)) {
        print_digits(value, 17, out);
    } else {
        memcpy(out, "null", 5);
    }
}

void sn_number_print(double value, char out[SN_NUMBER_TEXT]) {
    if (!isfinite(value)) {
        memcpy(out, "null", 5);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        double back;
        print_digits(value, digits, out);
        if (sn_number_parse(out, strlen(out), &back) && back == value) return;
    }
}
