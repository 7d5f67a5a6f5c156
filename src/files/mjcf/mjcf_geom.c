// SPDX-License-Identifier: MIT
// A <geom>: what it states, what its classes of defaults add, and what MuJoCo assumes.
#include <math.h>
#include <string.h>

#include "files/mjcf/mjcf.h"
#include "math/vec3.h"

static const struct {
    const char *name;
    int kind;
} kinds[] = {{"sphere", SN_SOLID_SPHERE},       {"capsule", SN_SOLID_CAPSULE},
             {"cylinder", SN_SOLID_CYLINDER},   {"box", SN_SOLID_BOX},
             {"ellipsoid", SN_SOLID_ELLIPSOID}, {"plane", SN_SOLID_PLANE}};

static sn_status read_bits(const sn_mjcf *u, const sn_xml *xml, const char *key, unsigned bit,
                           sn_mjcf_geom_values *out, uint32_t *bits) {
    double x;
    int n;
    SN_TRY(sn_mjcf_numbers(u, xml, key, 1, 1, &x, &n));
    if (n == 0) return SN_OK;
    if (!(x >= -2147483648.0 && x <= 4294967295.0 && x == floor(x)))
        return sn_fail(u->error, SN_ERR_PARSE, xml->line,
                       "<geom>: %s is no whole number of 32 bits", key);
    *bits = (uint32_t)(int64_t)x;
    out->has |= bit;
    return SN_OK;
}

sn_status sn_mjcf_geom_values_read(const sn_mjcf *u, const sn_xml *xml, sn_mjcf_geom_values *out) {
    char text[SN_XML_VALUE];
    bool found;
    int n;
    *out = (sn_mjcf_geom_values){0};
    SN_TRY(sn_mjcf_text(u, xml, "type", text, &found));
    if (found) {
        out->has |= SN_MJCF_GEOM_TYPE;
        out->type = -1;
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            if (strcmp(text, kinds[k].name) == 0) out->type = kinds[k].kind;
    }
    // one that is to be fitted to a mesh, whose size only the mesh tells
    SN_TRY(sn_mjcf_text(u, xml, "mesh", text, &found));
    if (found) {
        out->has |= SN_MJCF_GEOM_TYPE;
        out->type = -1;
    }
    SN_TRY(sn_mjcf_numbers(u, xml, "size", 1, 3, out->size, &n));
    if (n > 0) out->has |= SN_MJCF_GEOM_SIZE;
    SN_TRY(sn_mjcf_numbers(u, xml, "pos", 3, 3, out->position, &n));
    if (n > 0) out->has |= SN_MJCF_GEOM_POSITION;
    SN_TRY(sn_mjcf_rotation(u, xml, out->rotation, &found));
    if (found) out->has |= SN_MJCF_GEOM_ROTATION;
    SN_TRY(sn_mjcf_numbers(u, xml, "fromto", 6, 6, out->ends, &n));
    if (n > 0) out->has |= SN_MJCF_GEOM_ENDS;
    SN_TRY(read_bits(u, xml, "contype", SN_MJCF_GEOM_KIND, out, &out->kind));
    return read_bits(u, xml, "conaffinity", SN_MJCF_GEOM_MEETS, out, &out->meets);
}

void sn_mjcf_geom_inherit(sn_mjcf_geom_values *v, const sn_mjcf_geom_values *d) {
    unsigned missing = d->has & ~v->has;
    if (missing & SN_MJCF_GEOM_TYPE) v->type = d->type;
    if (missing & SN_MJCF_GEOM_SIZE) memcpy(v->size, d->size, sizeof v->size);
    if (missing & SN_MJCF_GEOM_POSITION) memcpy(v->position, d->position, sizeof v->position);
    if (missing & SN_MJCF_GEOM_ROTATION) memcpy(v->rotation, d->rotation, sizeof v->rotation);
    if (missing & SN_MJCF_GEOM_ENDS) memcpy(v->ends, d->ends, sizeof v->ends);
    if (missing & SN_MJCF_GEOM_KIND) v->kind = d->kind;
    if (missing & SN_MJCF_GEOM_MEETS) v->meets = d->meets;
    v->has |= missing;
}

bool sn_mjcf_geom_complete(sn_mjcf_geom_values *v) {
    static const sn_mjcf_geom_values plain = {.has = SN_MJCF_GEOM_TYPE | SN_MJCF_GEOM_ROTATION |
                                                     SN_MJCF_GEOM_KIND | SN_MJCF_GEOM_MEETS,
                                              .type = SN_SOLID_SPHERE,
                                              .rotation = {1, 0, 0, 0},
                                              .kind = 1,
                                              .meets = 1};
    sn_mjcf_geom_inherit(v, &plain);
    if (!(v->has & SN_MJCF_GEOM_ENDS)) return true;
    bool round = v->type == SN_SOLID_CAPSULE || v->type == SN_SOLID_CYLINDER;
    if (!round && v->type != SN_SOLID_BOX && v->type != SN_SOLID_ELLIPSOID) return true;
    sn_vec3 from = v3_from(v->ends), to = v3_from(v->ends + 3), along = v3_sub(from, to);
    double length = v3_norm(along);
    if (!(length > 0)) return false;
    sn_vec3 middle = v3_scale(0.5, v3_add(from, to));
    sn_quat q = sn_mjcf_turn_z(v3_scale(1 / length, along));
    v->position[0] = middle.x, v->position[1] = middle.y, v->position[2] = middle.z;
    v->rotation[0] = q.w, v->rotation[1] = q.x, v->rotation[2] = q.y, v->rotation[3] = q.z;
    // the first size counts across, for boxes and ellipsoids both ways
    if (!round) v->size[1] = v->size[0];
    v->size[round ? 1 : 2] = 0.5 * length;
    return true;
}
