// SPDX-License-Identifier: MIT
#include "take/body.h"

#include <string.h>

#include "sinew/take.h"

// Names of each part in the skeletons that are about, in letters and digits only, lower case; '#' is the
// side: left, l, and so on. The first that a model has is taken; behind "|" stand stand-ins, parts that
// carry the marker when a skeleton is coarser.
static const char *const part_names[SN_BODY_PARTS][12] = {
    [SN_BODY_PELVIS] = {"root", "hips", "pelvis", "hip", "bip01", "bip001", "base", "reference",
                        NULL},
    [SN_BODY_LOWER_BACK] = {"lowerback", "spinelow", "spine", "abdomen", "spine1", "chest", "torso",
                            NULL},
    [SN_BODY_UPPER_BACK] = {"upperback", "spinemid", "spine1", "chest", "spine", "torso", NULL},
    [SN_BODY_THORAX] = {"thorax", "chest2", "spine3", "spine2", "upperchest", "chest", "spine1",
                        "spine", "torso", NULL},
    [SN_BODY_NECK] = {"lowerneck", "necklow", "neck", "thorax", "chest", "spine2", "spine1",
                      "torso", NULL},
    [SN_BODY_HEAD] = {"head", "neck1", "neck", NULL},
    [SN_BODY_CLAVICLE] = {"#clavicle", "#collar", "#shoulderjoint", "#shoulder", "thorax", "chest",
                          "torso", NULL},
    [SN_BODY_UPPER_ARM] = {"#humerus", "#upperarm", "#arm", "#uparm", "#shldr", "#shoulder", NULL},
    [SN_BODY_FOREARM] = {"#radius", "#forearm", "#lowerarm", "#elbow", NULL},
    [SN_BODY_WRIST] = {"#wrist", "#hand", "#radius", "#forearm", NULL},
    [SN_BODY_FINGERS] = {"#fingers", "#handindex1", "#fingerbase", "#hand", "#wrist", NULL},
    [SN_BODY_THIGH] = {"#femur", "#thigh", "#upleg", "#upperleg", "#hip", NULL},
    [SN_BODY_SHIN] = {"#tibia", "#shin", "#leg", "#lowerleg", "#calf", "#knee", NULL},
    [SN_BODY_FOOT] = {"#foot", "#calcn", "#ankle", "#talus", "#tibia", NULL},
    [SN_BODY_TOES] = {"#toes", "#toebase", "#toe", "#toe0", "#foot", "#ankle", NULL},
};

// Letters and digits of a joint's name in lower case, without what comes before a colon or an exporter's
// usual prefix.
static void plain_name(const char *name, char out[64]) {
    size_t n = 0;
    name = sn_label_name(name);
    for (; *name != '\0' && n < 63; name++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name + 32) : *name;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) out[n++] = c;
    }
    out[n] = '\0';
    static const char *const prefixes[] = {"mixamorig", "bip01", "bip001"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t m = strlen(prefixes[i]);
        if (strncmp(out, prefixes[i], m) == 0 && out[m] != '\0')
            memmove(out, out + m, strlen(out + m) + 1);
    }
}

// Does a joint's plain name say this part? The side may stand in front or behind: lhand, lefthand, handl.
static bool is_part(const char *plain, const char *pattern, int side) {
    static const char *const words[2][2] = {{"left", "l"}, {"right", "r"}};
    if (pattern[0] != '#') return strcmp(plain, pattern) == 0;
    pattern++;
    size_t n = strlen(plain), np = strlen(pattern);
    for (int w = 0; w < 2; w++) {
        const char *word = words[side][w];
        size_t nw = strlen(word);
        if (n != nw + np) continue;
        if (strncmp(plain, word, nw) == 0 && strcmp(plain + nw, pattern) == 0) return true;
        if (strncmp(plain, pattern, np) == 0 && strcmp(plain + np, word) == 0) return true;
    }
    return false;
}

// The place of the first name of a part that a plain name says, before `best`; else `best`.
static int better_name(sn_body which, int side, const char *name, int best) {
    char plain[64];
    plain_name(name, plain);
    for (int k = 0; k < best && part_names[which][k] != NULL; k++)
        if (is_part(plain, part_names[which][k], side)) return k;
    return best;
}

enum { NO_NAME = 100 };

int sn_body_part(const sn_model *model, sn_body which, int side) {
    int found = -1, best = NO_NAME;
    for (int j = 0; j < sn_model_njoint(model) && best > 0; j++) {
        int k = better_name(which, side, sn_model_joint(model, j)->name, best);
        if (k < best) best = k, found = j;
    }
    return found;
}

int sn_body_frame(const sn_model *model, sn_body which, int side) {
    int found = -1, best = NO_NAME;
    for (int i = 0; i < sn_model_nframe(model) && best > 0; i++) {
        int k = better_name(which, side, sn_model_frame(model, i)->name, best);
        if (k < best) best = k, found = i;
    }
    return found;
}

int sn_body_carrier(const sn_model *model, sn_body which, int side) {
    int found = sn_body_part(model, which, side);
    if (found >= 0) return found;
    // an .osim file's joints have the names of coordinates: its bodies are frames
    int frame = sn_body_frame(model, which, side);
    return frame >= 0 ? sn_model_frame(model, frame)->joint : -1;
}

bool sn_body_is_above(const sn_model *model, int joint, int below) {
    for (int j = below; j >= 0; j = sn_model_parent(model, j))
        if (j == joint) return true;
    return false;
}
