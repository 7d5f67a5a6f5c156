// SPDX-License-Identifier: MIT
// Names that are nearly the same, and names of the other side.
#include <string.h>

#include "base/guess.h"
#include "base/status.h"
#include "sinew/take.h"

int sn_nearest_name(const char *name, const char *const *names, int count) {
    if (name == NULL || names == NULL) return -1;
    sn_guess guess = sn_guess_begin(name);
    int best = -1;
    for (int i = 0; i < count; i++)
        if (sn_guess_try(&guess, names[i])) best = i;
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
