// SPDX-License-Identifier: MIT
// Attributes of MJCF: numbers, five ways to state a rotation, and what defaults leave open.
#include <math.h>
#include <string.h>

#include "files/mjcf/mjcf.h"
#include "math/atan2.h"
#include "math/vec3.h"

#define FAIL(u, xml, ...) sn_fail((u)->error, SN_ERR_PARSE, (xml)->line, __VA_ARGS__)

sn_status sn_mjcf_text(const sn_mjcf *u, const sn_xml *xml, const char *key, char out[SN_XML_VALUE],
                       bool *found) {
    (void)u;
    const sn_xml_attribute *attribute = sn_xml_find(xml, key);
    *found = attribute != NULL;
    out[0] = '\0';
    return *found ? sn_xml_value(xml, attribute, out) : SN_OK;
}

sn_status sn_mjcf_numbers(const sn_mjcf *u, const sn_xml *xml, const char *key, int least, int most,
                          double *out, int *count) {
    char text[SN_XML_VALUE];
    bool found;
    *count = 0;
    SN_TRY(sn_mjcf_text(u, xml, key, text, &found));
    if (!found) return SN_OK;
    int n = 0;
    for (const char *at = text;;) {
        at += strspn(at, " ");
        sn_word word = {at, strcspn(at, " ")};
        if (word.length == 0) break;
        double number;
        if (!sn_word_number(word, &number))
            return FAIL(u, xml, "<%.*s>: %s: \"%.*s\" is not a number", SN_WORD(xml->name), key,
                        SN_WORD(word));
        if (n < most) out[n] = number;
        n++;
        at += word.length;
    }
    if (n < least || n > most) {
        if (least == most)
            return FAIL(u, xml, "<%.*s>: %s needs %d number%s, here are %d", SN_WORD(xml->name),
                        key, most, most > 1 ? "s" : "", n);
        return FAIL(u, xml, "<%.*s>: %s needs %d to %d numbers, here are %d", SN_WORD(xml->name),
                    key, least, most, n);
    }
    *count = n;
    return SN_OK;
}

sn_status sn_mjcf_name(sn_mjcf *u, const sn_xml *xml, const char *key, size_t *at) {
    char text[SN_XML_VALUE];
    bool found;
    *at = SIZE_MAX;
    SN_TRY(sn_mjcf_text(u, xml, key, text, &found));
    if (!found || text[0] == '\0') return SN_OK;
    size_t bytes = strlen(text) + 1;
    if (bytes > SN_MAX_NAME + 1)
        return FAIL(u, xml, "<%.*s>: %s has more than %d bytes", SN_WORD(xml->name), key,
                    SN_MAX_NAME);
    SN_TRY(SN_MJCF_ROOM(u, names, bytes));
    *at = u->nnames;
    memcpy(u->names + *at, text, bytes);
    u->nnames += bytes;
    return SN_OK;
}

double sn_mjcf_angle(const sn_mjcf *u, double angle) {
    return u->radians ? angle : angle * (3.14159265358979323846 / 180);
}

// --- rotations ---------------------------------------------------------------------------------------

static void put(sn_quat q, double out[4]) {
    out[0] = q.w, out[1] = q.x, out[2] = q.y, out[3] = q.z;
}

// Letters in small type turn about axes that the earlier letters turned, capitals about fixed ones.
static sn_quat from_euler(const sn_mjcf *u, const double angle[3]) {
    sn_quat q = {1, 0, 0, 0};
    for (int i = 0; i < 3; i++) {
        char letter = u->euler[i];
        bool fixed = letter >= 'X' && letter <= 'Z';
        sn_vec3 axis = v3_unit(fixed ? letter - 'X' : letter - 'x');
        sn_quat turn = sn_quat_exp(v3_scale(sn_mjcf_angle(u, angle[i]), axis));
        q = fixed ? sn_quat_mul(turn, q) : sn_quat_mul(q, turn);
    }
    return q;
}

sn_quat sn_mjcf_turn_z(sn_vec3 to) {
    sn_vec3 axis = v3_cross(v3(0, 0, 1), to);
    double sine = v3_norm(axis);
    if (sine < 1e-10) axis = v3(1, 0, 0);  // straight up, or straight down
    double angle = sn_atan2(sine, to.z);
    return sn_quat_exp(v3_scale(angle / v3_norm(axis), axis));
}

sn_status sn_mjcf_rotation(const sn_mjcf *u, const sn_xml *xml, double out[4], bool *found) {
    static const char *const keys[] = {"quat", "axisangle", "xyaxes", "zaxis", "euler"};
    static const int counts[] = {4, 4, 6, 3, 3};
    double x[6] = {0};
    int kind = -1, n;
    for (int k = 0; k < 5; k++) {
        double values[6] = {0};
        SN_TRY(sn_mjcf_numbers(u, xml, keys[k], counts[k], counts[k], values, &n));
        if (n == 0) continue;
        if (kind >= 0)
            return FAIL(u, xml, "<%.*s> states its rotation twice: %s and %s", SN_WORD(xml->name),
                        keys[kind], keys[k]);
        kind = k;
        memcpy(x, values, sizeof x);
    }
    *found = kind >= 0;
    sn_vec3 a = v3(x[0], x[1], x[2]), b = v3(x[3], x[4], x[5]);
    double length = v3_norm(a);
    switch (kind) {
    case 0:
        length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
        if (!(length > 0)) break;
        for (int i = 0; i < 4; i++) out[i] = x[i] / length;
        return SN_OK;
    case 1:
        if (!(length > 0)) break;
        put(sn_quat_exp(v3_scale(sn_mjcf_angle(u, x[3]) / length, a)), out);
        return SN_OK;
    case 2: {
        if (!(length > 0)) break;
        sn_vec3 ex = v3_scale(1 / length, a), ey = v3_sub(b, v3_scale(v3_dot(ex, b), ex));
        double across = v3_norm(ey);
        if (!(across > 1e-10 * v3_norm(b))) break;
        ey = v3_scale(1 / across, ey);
        put(sn_quat_from_mat3((sn_mat3){{ex, ey, v3_cross(ex, ey)}}), out);
        return SN_OK;
    }
    case 3:
        if (!(length > 0)) break;
        put(sn_mjcf_turn_z(v3_scale(1 / length, a)), out);
        return SN_OK;
    case 4:
        put(from_euler(u, x), out);
        return SN_OK;
    default:
        put((sn_quat){1, 0, 0, 0}, out);
        return SN_OK;
    }
    return FAIL(u, xml, "<%.*s>: %s states no rotation: its numbers are zero or parallel",
                SN_WORD(xml->name), keys[kind]);
}

// --- joints and sites --------------------------------------------------------------------------------

static sn_status read_type(const sn_mjcf *u, const sn_xml *xml, sn_mjcf_values *out) {
    static const char *const kinds[] = {"free", "ball", "slide", "hinge"};
    char text[SN_XML_VALUE];
    bool found;
    SN_TRY(sn_mjcf_text(u, xml, "type", text, &found));
    if (!found) return SN_OK;
    for (int k = 0; k < 4; k++) {
        if (strcmp(text, kinds[k]) != 0) continue;
        out->type = (sn_mjcf_kind)k;
        out->has |= SN_MJCF_HAS_TYPE;
        return SN_OK;
    }
    return FAIL(u, xml, "<joint>: the type \"%.40s\" is none of free, ball, slide, hinge", text);
}

static sn_status read_limited(const sn_mjcf *u, const sn_xml *xml, sn_mjcf_values *out) {
    static const char *const words[] = {"false", "true", "auto"};
    char text[SN_XML_VALUE];
    bool found;
    SN_TRY(sn_mjcf_text(u, xml, "limited", text, &found));
    if (!found) return SN_OK;
    for (int k = 0; k < 3; k++) {
        if (strcmp(text, words[k]) != 0) continue;
        out->limited = k;
        out->has |= SN_MJCF_HAS_LIMITED;
        return SN_OK;
    }
    return FAIL(u, xml, "<joint>: limited=\"%.40s\" is none of true, false, auto", text);
}

sn_status sn_mjcf_joint_values(const sn_mjcf *u, const sn_xml *xml, sn_mjcf_values *out) {
    int n;
    *out = (sn_mjcf_values){0};
    SN_TRY(read_type(u, xml, out));
    SN_TRY(read_limited(u, xml, out));
    SN_TRY(sn_mjcf_numbers(u, xml, "pos", 3, 3, out->position, &n));
    if (n > 0) out->has |= SN_MJCF_HAS_POSITION;
    SN_TRY(sn_mjcf_numbers(u, xml, "axis", 3, 3, out->axis, &n));
    if (n > 0) out->has |= SN_MJCF_HAS_AXIS;
    SN_TRY(sn_mjcf_numbers(u, xml, "range", 2, 2, out->range, &n));
    if (n > 0) out->has |= SN_MJCF_HAS_RANGE;
    SN_TRY(sn_mjcf_numbers(u, xml, "ref", 1, 1, &out->ref, &n));
    if (n > 0) out->has |= SN_MJCF_HAS_REF;
    return SN_OK;
}

sn_status sn_mjcf_site_values(const sn_mjcf *u, const sn_xml *xml, sn_mjcf_values *out) {
    int n;
    bool turned;
    double ends[6];
    *out = (sn_mjcf_values){0};
    SN_TRY(sn_mjcf_numbers(u, xml, "pos", 3, 3, out->position, &n));
    if (n > 0) out->has |= SN_MJCF_HAS_POSITION;
    SN_TRY(sn_mjcf_rotation(u, xml, out->rotation, &turned));
    if (turned) out->has |= SN_MJCF_HAS_ROTATION;
    // from one end to the other: z points from the first to the second, as for capsules
    SN_TRY(sn_mjcf_numbers(u, xml, "fromto", 6, 6, ends, &n));
    if (n == 0) return SN_OK;
    for (int i = 0; i < 3; i++) out->position[i] = 0.5 * (ends[i] + ends[3 + i]);
    sn_vec3 along = v3_sub(v3_from(ends), v3_from(ends + 3));
    double length = v3_norm(along);
    if (!(length > 0)) return FAIL(u, xml, "<site>: the ends of fromto are the same point");
    put(sn_mjcf_turn_z(v3_scale(1 / length, along)), out->rotation);
    out->has |= SN_MJCF_HAS_POSITION | SN_MJCF_HAS_ROTATION;
    return SN_OK;
}

void sn_mjcf_inherit(sn_mjcf_values *v, const sn_mjcf_values *d) {
    unsigned missing = d->has & ~v->has;
    if (missing & SN_MJCF_HAS_TYPE) v->type = d->type;
    if (missing & SN_MJCF_HAS_POSITION) memcpy(v->position, d->position, sizeof v->position);
    if (missing & SN_MJCF_HAS_AXIS) memcpy(v->axis, d->axis, sizeof v->axis);
    if (missing & SN_MJCF_HAS_RANGE) memcpy(v->range, d->range, sizeof v->range);
    if (missing & SN_MJCF_HAS_LIMITED) v->limited = d->limited;
    if (missing & SN_MJCF_HAS_REF) v->ref = d->ref;
    if (missing & SN_MJCF_HAS_ROTATION) memcpy(v->rotation, d->rotation, sizeof v->rotation);
    v->has |= missing;
}
