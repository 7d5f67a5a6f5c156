// SPDX-License-Identifier: MIT
// Names that are nearly the same, and names of the other side.
#include <string.h>

#include "base/status.h"
#include "sinew/take.h"

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

int sn_nearest_name(const char *name, const char *const *names, int count) {
    if (name == NULL || names == NULL) return -1;
    // half of the letters wrong is no likeness
    const size_t half = strlen(name) / 2;
    int best = -1, least = half < LONGEST ? (int)half + 1 : LONGEST;
    for (int i = 0; i < count; i++) {
        if (names[i] == NULL) continue;
        int d = edits(name, names[i], least);
        if (d < least) least = d, best = i;
    }
    return best;
}

// The name with one side's word replaced by the other's at `at`.
static bool replaced(const char *name, size_t at, size_t length, const char *by, char *out,
                     size_t size) {
    size_t n = strlen(name), nb = strlen(by);
    if (n - length + nb >= size) return false;
    memcpy(out, name, at);
    memcpy(out + at, by, nb);
    memcpy(out + at + nb, name + at + length, n - at - length + 1);
    return true;
}

int sn_model_mirror_joint(const sn_model *model, int joint) {
    if (model == NULL) return -1;
    static const char *const sides[][2] = {
        {"left", "right"}, {"Left", "Right"}, {"LEFT", "RIGHT"}, {"_l", "_r"}, {"_L", "_R"},
        {".l", ".r"},      {".L", ".R"},      {" l", " r"},      {" L", " R"}, {":l", ":r"},
        {":L", ":R"},      {"l", "r"},        {"L", "R"}};
    const sn_joint_desc *d = sn_model_joint(model, joint);
    if (d == NULL) return -1;
    char other[SN_MAX_NAME + 8];
    for (size_t s = 0; s < sizeof sides / sizeof sides[0]; s++)
        for (int way = 0; way < 2; way++) {
            const char *from = sides[s][way], *to = sides[s][1 - way];
            size_t n = strlen(from);
            for (const char *at = strstr(d->name, from); at != NULL; at = strstr(at + 1, from)) {
                // a single letter only at the start or the end
                if (n == 1 && at != d->name && at[1] != '\0') continue;
                if (!replaced(d->name, (size_t)(at - d->name), n, to, other, sizeof other))
                    continue;
                int found = sn_model_find_joint(model, other);
                if (found >= 0 && found != joint) return found;
            }
        }
    return -1;
}
