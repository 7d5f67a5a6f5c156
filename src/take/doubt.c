// SPDX-License-Identifier: MIT
// How well the place of a marker on a generic figure is known, by its name.
//
// Landmarks that a finger finds are known to about a centimetre; the pelvis's lie under more; a computed joint
// centre is where the joint is. What is stuck to the middle of a segment may be anywhere on it. And how much each tells
// of a pose once its place is known.
#include <string.h>

#include "take/fit.h"

static const double centre = 0.005, bony = 0.012, pelvis = 0.007, skull = 0.024, soft = 0.025,
                    anywhere = 0.2;

typedef enum where { INSIDE, AT_END, AFTER_SIDE } where;

// Parts of names in lower case without signs; the first that occurs counts. "Side": behind l or r, or with no side.
static const struct {
    const char *part;
    where at;
    double doubt;
} parts[] = {
    {"hjc", INSIDE, centre},
    {"kjc", INSIDE, centre},
    {"ajc", INSIDE, centre},
    {"sjc", INSIDE, centre},
    {"ejc", INSIDE, centre},
    {"wjc", INSIDE, centre},
    {"jointcent", INSIDE, centre},
    {"asi", INSIDE, pelvis},
    {"psi", INSIDE, pelvis},
    {"sacr", INSIDE, pelvis},
    {"fwt", AFTER_SIDE, pelvis},
    {"bwt", AFTER_SIDE, pelvis},
    {"iliac", INSIDE, soft},
    {"crest", INSIDE, soft},
    {"waist", INSIDE, soft},
    {"iac", AT_END, soft},
    // the middle of segments, before landmarks whose names these contain
    {"cluster", INSIDE, anywhere},
    {"track", INSIDE, anywhere},
    {"thigh", INSIDE, anywhere},
    {"thi", AFTER_SIDE, anywhere},
    {"th1", AFTER_SIDE, anywhere},
    {"th2", AFTER_SIDE, anywhere},
    {"th3", AFTER_SIDE, anywhere},
    {"th4", AFTER_SIDE, anywhere},
    {"shank", INSIDE, anywhere},
    {"sh1", AFTER_SIDE, anywhere},
    {"sh2", AFTER_SIDE, anywhere},
    {"sh3", AFTER_SIDE, anywhere},
    {"sh4", AFTER_SIDE, anywhere},
    {"shn", AFTER_SIDE, anywhere},
    {"tib", AFTER_SIDE, anywhere},
    {"tb1", AFTER_SIDE, anywhere},
    {"tb2", AFTER_SIDE, anywhere},
    {"tb3", AFTER_SIDE, anywhere},
    {"tb4", AFTER_SIDE, anywhere},
    {"shin", AFTER_SIDE, anywhere},
    {"upa", AFTER_SIDE, anywhere},
    {"uparm", INSIDE, anywhere},
    {"upperarm", INSIDE, anywhere},
    {"uarm", AFTER_SIDE, anywhere},
    {"ua1", AFTER_SIDE, anywhere},
    {"ua2", AFTER_SIDE, anywhere},
    {"ua3", AFTER_SIDE, anywhere},
    {"bicep", INSIDE, anywhere},
    {"humerus", INSIDE, anywhere},
    {"frm", AFTER_SIDE, anywhere},
    {"fra", AFTER_SIDE, anywhere},
    {"forearm", INSIDE, anywhere},
    {"fasuperior", INSIDE, anywhere},
    {"bac", AFTER_SIDE, anywhere},
    {"bak", AFTER_SIDE, anywhere},
    // landmarks
    {"knee", INSIDE, bony},
    {"kne", AFTER_SIDE, bony},
    {"condyle", INSIDE, bony},
    {"lfc", INSIDE, bony},
    {"mfc", INSIDE, bony},
    {"fle", AT_END, bony},
    {"fme", AT_END, bony},
    {"mal", INSIDE, bony},
    {"ankle", INSIDE, bony},
    {"ank", INSIDE, bony},
    {"heel", INSIDE, bony},
    {"hee", AFTER_SIDE, bony},
    {"cal", INSIDE, bony},
    {"toe", INSIDE, bony},
    {"mt1", INSIDE, bony},
    {"mt2", INSIDE, bony},
    {"mt5", INSIDE, bony},
    {"meta", INSIDE, bony},
    {"midfoot", INSIDE, soft},
    {"acr", INSIDE, bony},
    {"shoulder", INSIDE, bony},
    {"sho", INSIDE, bony},
    {"clav", INSIDE, bony},
    {"c7", INSIDE, bony},
    {"t10", INSIDE, bony},
    {"t8", INSIDE, bony},
    {"t12", INSIDE, bony},
    {"l1", AT_END, bony},
    {"stern", INSIDE, bony},
    {"strn", INSIDE, bony},
    {"xiph", INSIDE, bony},
    {"jugul", INSIDE, bony},
    {"manub", INSIDE, bony},
    {"elbow", INSIDE, bony},
    {"elb", INSIDE, bony},
    {"lel", INSIDE, bony},
    {"mel", INSIDE, bony},
    {"wrist", INSIDE, bony},
    {"wra", INSIDE, bony},
    {"wrb", INSIDE, bony},
    {"radius", INSIDE, bony},
    {"ulna", INSIDE, bony},
    {"troch", INSIDE, soft},
    {"hip", INSIDE, soft},
    {"neck", INSIDE, soft},
    {"nose", INSIDE, soft},
    {"ear", AT_END, soft},
    {"eye", AT_END, soft},
    {"head", INSIDE, soft},
    {"temple", INSIDE, soft},
    {"hd", AT_END, skull},
    {"fin", AFTER_SIDE, soft},
    {"hand", INSIDE, soft},
};

static bool occurs(const char *name, const char *part, where at) {
    size_t n = strlen(name), m = strlen(part);
    if (n < m) return false;
    if (at == INSIDE) return strstr(name, part) != NULL;
    if (at == AT_END) return strcmp(name + n - m, part) == 0;
    bool sided = name[0] == 'l' || name[0] == 'r';
    return strncmp(name, part, m) == 0 || (sided && strncmp(name + 1, part, m) == 0);
}

double sn_doubt_of_name(const char *name) {
    char plain[64];
    size_t n = 0;
    for (; *name != '\0' && n < 63; name++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name + 32) : *name;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) plain[n++] = c;
    }
    plain[n] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (occurs(plain, parts[i].part, parts[i].at)) return parts[i].doubt;
    return anywhere;
}

double sn_doubt_of_flag(const char *name, bool fixed) {
    double d = sn_doubt_of_name(name);
    if (!fixed) return d == centre ? centre : anywhere;
    return d < anywhere ? d : bony;
}

// How far skin carries a marker from its bone while a body moves, metres: least on the pelvis, little by a band about the
// head and on landmarks, whose skin hardly has flesh under it; on thighs and arms by centimetres, of which the
// calibration takes up some.
static const double on_pelvis = 0.005, on_skull = 0.006, on_landmarks = 0.007, elsewhere = 0.01;

double sn_weight_of_name(const char *name) {
    double d = sn_doubt_of_name(name), sigma = elsewhere;
    // a computed centre repeats what the markers say that it was computed from
    if (d == pelvis) sigma = on_pelvis;
    if (d == skull) sigma = on_skull;
    if (d == bony) sigma = on_landmarks;
    return elsewhere * elsewhere / (sigma * sigma);
}
