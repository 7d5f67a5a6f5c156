// SPDX-License-Identifier: MIT
// How well the place of a marker on a generic figure is known, by its name.
//
// Landmarks that a finger finds are known to about a centimetre; the pelvis's lie under more; a computed joint
// centre is where the joint is. What is stuck to the middle of a segment may be anywhere on it. And how much each tells
// of a pose once its place is known.
#include <string.h>

#include "take/fit.h"

typedef enum kind { CENTRE, PELVIS, BONY, VERTEBRA, SKULL, SOFT, ANYWHERE } kind;

// Skin carries a marker from its bone while a body moves: least on the pelvis, little by a band about the head and on
// landmarks, whose skin hardly has flesh under it; on thighs and arms by centimetres, of which the calibration takes up
// some. Where joints beside a marker are bent by far, it is further still. What such frames say of its place counts for
// half at these angles: early for landmarks, whose places are known beforehand, late where the samples are all there is.
// A computed centre repeats what the markers say that it was computed from.
static const struct {
    double doubt;  // how far off its place may be, metres
    double skin;   // how far skin carries it, metres
    double bent;   // where a sample counts for half, degrees; 0: nowhere
} of_kind[] = {
    [CENTRE] = {0.005, 0.01, 0},     [PELVIS] = {0.007, 0.005, 60}, [BONY] = {0.012, 0.007, 40},
    [VERTEBRA] = {0.025, 0.007, 40}, [SKULL] = {0.024, 0.006, 40},  [SOFT] = {0.025, 0.01, 40},
    [ANYWHERE] = {0.2, 0.01, 80},
};

typedef enum where { INSIDE, AT_END, AFTER_SIDE } where;

// Parts of names in lower case without signs; the first that occurs counts. "Side": behind l or r, or with no side.
static const struct {
    const char *part;
    where at;
    kind is;
} parts[] = {
    {"hjc", INSIDE, CENTRE},
    {"kjc", INSIDE, CENTRE},
    {"ajc", INSIDE, CENTRE},
    {"sjc", INSIDE, CENTRE},
    {"ejc", INSIDE, CENTRE},
    {"wjc", INSIDE, CENTRE},
    {"jointcent", INSIDE, CENTRE},
    {"asi", INSIDE, PELVIS},
    {"psi", INSIDE, PELVIS},
    {"sacr", INSIDE, PELVIS},
    {"fwt", AFTER_SIDE, PELVIS},
    {"bwt", AFTER_SIDE, PELVIS},
    {"iliac", INSIDE, SOFT},
    {"crest", INSIDE, SOFT},
    {"waist", INSIDE, SOFT},
    {"iac", AT_END, SOFT},
    // the middle of segments, before landmarks whose names these contain
    {"cluster", INSIDE, ANYWHERE},
    {"track", INSIDE, ANYWHERE},
    {"thigh", INSIDE, ANYWHERE},
    {"thi", AFTER_SIDE, ANYWHERE},
    {"th1", AFTER_SIDE, ANYWHERE},
    {"th2", AFTER_SIDE, ANYWHERE},
    {"th3", AFTER_SIDE, ANYWHERE},
    {"th4", AFTER_SIDE, ANYWHERE},
    {"shank", INSIDE, ANYWHERE},
    {"sh1", AFTER_SIDE, ANYWHERE},
    {"sh2", AFTER_SIDE, ANYWHERE},
    {"sh3", AFTER_SIDE, ANYWHERE},
    {"sh4", AFTER_SIDE, ANYWHERE},
    {"sk1", AFTER_SIDE, ANYWHERE},
    {"sk2", AFTER_SIDE, ANYWHERE},
    {"sk3", AFTER_SIDE, ANYWHERE},
    {"sk4", AFTER_SIDE, ANYWHERE},
    {"ft1", AFTER_SIDE, ANYWHERE},
    {"ft2", AFTER_SIDE, ANYWHERE},
    {"ft3", AFTER_SIDE, ANYWHERE},
    {"ft4", AFTER_SIDE, ANYWHERE},
    {"pv1", AFTER_SIDE, ANYWHERE},
    {"pv2", AFTER_SIDE, ANYWHERE},
    {"pv3", AFTER_SIDE, ANYWHERE},
    {"pv4", AFTER_SIDE, ANYWHERE},
    {"shn", AFTER_SIDE, ANYWHERE},
    {"tib", AFTER_SIDE, ANYWHERE},
    {"tb1", AFTER_SIDE, ANYWHERE},
    {"tb2", AFTER_SIDE, ANYWHERE},
    {"tb3", AFTER_SIDE, ANYWHERE},
    {"tb4", AFTER_SIDE, ANYWHERE},
    {"shin", AFTER_SIDE, ANYWHERE},
    {"upa", AFTER_SIDE, ANYWHERE},
    {"uparm", INSIDE, ANYWHERE},
    {"upperarm", INSIDE, ANYWHERE},
    {"uarm", AFTER_SIDE, ANYWHERE},
    {"ua1", AFTER_SIDE, ANYWHERE},
    {"ua2", AFTER_SIDE, ANYWHERE},
    {"ua3", AFTER_SIDE, ANYWHERE},
    {"bicep", INSIDE, ANYWHERE},
    {"humerus", INSIDE, ANYWHERE},
    {"frm", AFTER_SIDE, ANYWHERE},
    {"fra", AFTER_SIDE, ANYWHERE},
    {"forearm", INSIDE, ANYWHERE},
    {"fasuperior", INSIDE, ANYWHERE},
    {"bac", AFTER_SIDE, ANYWHERE},
    {"bak", AFTER_SIDE, ANYWHERE},
    // landmarks
    {"knee", INSIDE, BONY},
    {"kne", AFTER_SIDE, BONY},
    {"condyle", INSIDE, BONY},
    {"lfc", INSIDE, BONY},
    {"mfc", INSIDE, BONY},
    {"fle", AT_END, BONY},
    {"fme", AT_END, BONY},
    {"mal", INSIDE, BONY},
    {"ankle", INSIDE, BONY},
    {"ank", INSIDE, BONY},
    {"heel", INSIDE, BONY},
    {"hee", AFTER_SIDE, BONY},
    {"cal", INSIDE, BONY},
    {"toe", INSIDE, BONY},
    {"mt1", INSIDE, BONY},
    {"mt2", INSIDE, BONY},
    {"mt5", INSIDE, BONY},
    {"meta", INSIDE, BONY},
    {"midfoot", INSIDE, SOFT},
    {"acr", INSIDE, BONY},
    {"shoulder", INSIDE, BONY},
    {"sho", INSIDE, BONY},
    {"clav", INSIDE, BONY},
    {"c7", INSIDE, BONY},
    // found by counting vertebrae, and missed by one or two
    {"t10", INSIDE, VERTEBRA},
    {"t8", INSIDE, VERTEBRA},
    {"t12", INSIDE, VERTEBRA},
    {"l1", AT_END, VERTEBRA},
    {"stern", INSIDE, BONY},
    {"strn", INSIDE, BONY},
    {"xiph", INSIDE, BONY},
    {"jugul", INSIDE, BONY},
    {"manub", INSIDE, BONY},
    {"elbow", INSIDE, BONY},
    {"elb", INSIDE, BONY},
    {"lel", INSIDE, BONY},
    {"mel", INSIDE, BONY},
    {"wrist", INSIDE, BONY},
    {"wra", INSIDE, BONY},
    {"wrb", INSIDE, BONY},
    {"radius", INSIDE, BONY},
    {"ulna", INSIDE, BONY},
    {"troch", INSIDE, SOFT},
    {"hip", INSIDE, SOFT},
    {"neck", INSIDE, SOFT},
    {"nose", INSIDE, SOFT},
    {"ear", AT_END, SOFT},
    {"eye", AT_END, SOFT},
    {"head", INSIDE, SOFT},
    {"temple", INSIDE, SOFT},
    {"hd", AT_END, SKULL},
    {"fin", AFTER_SIDE, SOFT},
    {"hand", INSIDE, SOFT},
};

static bool occurs(const char *name, const char *part, where at) {
    size_t n = strlen(name), m = strlen(part);
    if (n < m) return false;
    if (at == INSIDE) return strstr(name, part) != NULL;
    if (at == AT_END) return strcmp(name + n - m, part) == 0;
    bool sided = name[0] == 'l' || name[0] == 'r';
    return strncmp(name, part, m) == 0 || (sided && strncmp(name + 1, part, m) == 0);
}

// Of a name that is listed; false for others.
static bool find_kind(const char *name, kind *out) {
    char plain[64];
    size_t n = 0;
    for (; *name != '\0' && n < 63; name++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name + 32) : *name;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) plain[n++] = c;
    }
    plain[n] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (occurs(plain, parts[i].part, parts[i].at)) {
            *out = parts[i].is;
            return true;
        }
    return false;
}

static kind kind_of(const char *name) {
    kind is = ANYWHERE;
    (void)find_kind(name, &is);
    return is;
}

bool sn_is_tracking_name(const char *name) {
    kind is;
    return find_kind(name, &is) && is == ANYWHERE;
}

double sn_doubt_of_name(const char *name) { return of_kind[kind_of(name)].doubt; }

double sn_doubt_of_flag(const char *name, bool fixed) {
    kind is = kind_of(name);
    if (!fixed && is != CENTRE) is = ANYWHERE;
    if (fixed && is == ANYWHERE) is = BONY;
    return of_kind[is].doubt;
}

double sn_bent_of_name(const char *name) { return of_kind[kind_of(name)].bent; }

double sn_weight_of_name(const char *name) {
    double usual = of_kind[ANYWHERE].skin, skin = of_kind[kind_of(name)].skin;
    return usual * usual / (skin * skin);
}
