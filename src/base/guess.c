// SPDX-License-Identifier: MIT
#include "base/guess.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 64 };

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

// Edits (a letter put in, left out or changed) from one name to the other; `most` or more are not counted.
static int edits(const char *a, const char *b, int most) {
    size_t na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST) return most;
    if ((int)(na > nb ? na - nb : nb - na) >= most) return most;
    // letters that the one has more of than the other must all be changed, put in or left out
    signed char more[64] = {0};
    for (size_t i = 0; i < na; i++) more[lower(a[i]) & 63]++;
    for (size_t i = 0; i < nb; i++) more[lower(b[i]) & 63]--;
    int above = 0, below = 0;
    for (int i = 0; i < 64; i++) {
        if (more[i] > 0) above += more[i];
        if (more[i] < 0) below -= more[i];
    }
    if (above >= most || below >= most) return most;
    int row[LONGEST + 1];
    for (size_t j = 0; j <= nb; j++) row[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int corner = row[0], least = (int)i;
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int up = row[j], cost = corner + (lower(a[i - 1]) != lower(b[j - 1]));
            corner = up;
            if (up + 1 < cost) cost = up + 1;
            if (row[j - 1] + 1 < cost) cost = row[j - 1] + 1;
            row[j] = cost;
            if (cost < least) least = cost;
        }
        if (least >= most) return most;
    }
    return row[nb];
}

sn_guess sn_guess_begin(const char *wanted) {
    // half of the letters wrong is no likeness
    const size_t half = strlen(wanted) / 2;
    return (sn_guess){wanted, NULL, half < LONGEST ? (int)half + 1 : LONGEST};
}

bool sn_guess_try(sn_guess *g, const char *name) {
    const int d = name != NULL ? edits(g->wanted, name, g->least) : g->least;
    if (d >= g->least) return false;
    g->least = d;
    g->name = name;
    return true;
}

const char *sn_guess_text(const sn_guess *g, char *text, size_t size) {
    (void)snprintf(text, size, "%s%.60s%s", g->name != NULL ? "; did you mean \"" : "",
                   g->name != NULL ? g->name : "", g->name != NULL ? "\"?" : "");
    return text;
}
