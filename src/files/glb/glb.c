// SPDX-License-Identifier: MIT
// Writing a GLB file: a header, a JSON chunk, a binary chunk, all little-endian. Their sizes are
// known before the first byte is written, so nothing but the JSON is held in memory.
#include "files/glb/glb.h"

#include <string.h>

#include "files/out.h"

enum { SCENE_VERSION = 1, HEADER = 12, CHUNK_HEADER = 8 };

static void put_vec3(sn_out *o, sn_vec3 p) {
    sn_out_float(o, p.x);
    sn_out_float(o, p.y);
    sn_out_float(o, p.z);
}

// Chunks and what is in them start at multiples of four.
static uint64_t padded(uint64_t bytes) { return (bytes + 3) / 4 * 4; }

int sn_glb_keys(const sn_glb *glb, const sn_glb_track *track) {
    return track->measured ? glb->nrecorded : glb->nframe;
}

sn_glb_sizes sn_glb_measure(const sn_glb *glb) {
    sn_glb_sizes s = {0};
    int longest = 0;
    if (glb->used[SN_GLB_MEASURED] || glb->used[SN_GLB_FITTED]) {
        s.marker = 24 * (uint64_t)glb->shape[0].nvertex;
        s.marker_indices = padded(2 * (uint64_t)glb->shape[0].nindex);
    }
    for (int i = 0; i < glb->nsolid; i++) {
        const sn_glb_shape *shape = sn_glb_solid_shape(glb, glb->solid[i].kind);
        s.vertices += 24 * (uint64_t)shape->nvertex;
        s.weights += 12 * (uint64_t)shape->nvertex;
        s.indices += 4 * (uint64_t)shape->nindex;
    }
    if (glb->nshell > 0) {
        s.shells = 24 * (uint64_t)glb->shape[3].nvertex * (uint64_t)glb->nshell;
        s.shell_indices = padded(2 * (uint64_t)glb->shape[3].nindex);
    }
    s.inverse = 64 * (uint64_t)glb->model->njoint;
    for (int i = 0; i < glb->ntrack; i++) {
        int keys = sn_glb_keys(glb, &glb->track[i]);
        if (keys > longest) longest = keys;
        s.keys += (uint64_t)keys * (glb->track[i].path == SN_GLB_ROTATION ? 16 : 12);
    }
    s.times = 4 * (uint64_t)longest;
    s.all = s.marker + s.vertices + s.weights + s.inverse + s.marker_indices + s.indices +
            s.shells + s.shell_indices + s.times + s.keys;
    return s;
}

// The body: vertices, which joint carries each, the joints' inverses.
static void put_skin(const sn_glb *g, sn_out *o) {
    for (int i = 0; i < g->nsolid; i++) {
        int n = sn_glb_solid_shape(g, g->solid[i].kind)->nvertex;
        for (int v = 0; v < n && !o->failed; v++) {
            double x[6];
            sn_glb_skin_vertex(g, &g->solid[i], v, x);
            for (int k = 0; k < 6; k++) sn_out_float(o, x[k]);
        }
    }
    for (int i = 0; i < g->nsolid; i++) {
        int n = sn_glb_solid_shape(g, g->solid[i].kind)->nvertex;
        for (int v = 0; v < n && !o->failed; v++) {
            sn_out_uint16(o, (unsigned)g->solid[i].joint);
            for (int k = 1; k < 4; k++) sn_out_uint16(o, 0);
            for (int k = 0; k < 4; k++) sn_out_byte(o, k == 0 ? 255 : 0);
        }
    }
    for (int i = 0; i < g->model->njoint; i++) {
        double x[16];
        sn_glb_skin_inverse(g, i, x);
        for (int k = 0; k < 16; k++) sn_out_float(o, x[k]);
    }
}

static void put_skin_indices(const sn_glb *g, sn_out *o) {
    uint32_t base = 0;
    for (int i = 0; i < g->nsolid && !o->failed; i++) {
        const sn_glb_shape *shape = sn_glb_solid_shape(g, g->solid[i].kind);
        if (i == g->count[1]) base = 0;  // balls have accessors of their own
        for (int k = 0; k < shape->nindex; k++) sn_out_uint32(o, base + shape->index[k]);
        base += (uint32_t)shape->nvertex;
    }
}

static void put_shells(const sn_glb *g, const sn_glb_sizes *sizes, sn_out *o) {
    const sn_glb_shape *shape = &g->shape[3];
    for (int i = 0; i < g->nshell; i++) {
        for (int v = 0; v < shape->nvertex && !o->failed; v++) {
            double x[6];
            sn_glb_shell_vertex(g, i, v, x);
            for (int k = 0; k < 6; k++) sn_out_float(o, x[k]);
        }
    }
    uint64_t from = o->total;
    for (int k = 0; k < shape->nindex && g->nshell > 0; k++) sn_out_uint16(o, shape->index[k]);
    while (o->total < from + sizes->shell_indices) sn_out_byte(o, 0);
}

static void put_shapes(const sn_glb *g, const sn_glb_sizes *sizes, sn_out *o) {
    const sn_glb_shape *marker = &g->shape[0];
    put_skin(g, o);
    put_skin_indices(g, o);
    for (int v = 0; v < marker->nvertex && sizes->marker > 0; v++)
        for (int k = 0; k < 6; k++) sn_out_float(o, (double)marker->vertex[v][k]);
    uint64_t from = o->total;
    for (int k = 0; k < marker->nindex && sizes->marker > 0; k++)
        sn_out_uint16(o, marker->index[k]);
    while (o->total < from + sizes->marker_indices) sn_out_byte(o, 0);
    put_shells(g, sizes, o);
}

// Neighbours on the same side: q and -q are the same rotation, but the way between is not.
static void put_rotations(const sn_glb *g, int joint, sn_out *o) {
    sn_quat last = {1, 0, 0, 0};
    for (int f = 0; f < g->nframe && !o->failed; f++) {
        sn_frame at = sn_glb_local(g, joint, f);
        sn_quat q = sn_quat_from_mat3(at.R);
        if (q.w * last.w + q.x * last.x + q.y * last.y + q.z * last.z < 0)
            q = (sn_quat){-q.w, -q.x, -q.y, -q.z};
        put_vec3(o, v3(q.x, q.y, q.z));
        sn_out_float(o, q.w);
        last = q;
    }
}

// A marker's places or sizes. While it is missing it stays where it was, and has no size.
static void put_marker(const sn_glb *g, const sn_glb_track *track, sn_out *o) {
    double at[3];
    (void)sn_glb_first_sample(g, track->source, at);
    for (int f = 0; f < g->nrecorded && !o->failed; f++) {
        double r = sn_glb_sample(g, f, track->source, at) ? g->ball : 0;
        put_vec3(o, track->path == SN_GLB_SCALE ? v3(r, r, r) : v3_from(at));
    }
}

static void put_track(const sn_glb *g, const sn_glb_track *track, sn_out *o) {
    if (track->measured) {
        put_marker(g, track, o);
    } else if (track->path == SN_GLB_ROTATION) {
        put_rotations(g, track->source, o);
    } else {
        for (int f = 0; f < g->nframe && !o->failed; f++)
            put_vec3(o, sn_glb_local(g, track->source, f).p);
    }
}

sn_status sn_glb_total(const sn_glb_sizes *sizes, size_t json_length, uint32_t *out,
                       sn_error *error) {
    uint64_t total = HEADER + 2 * CHUNK_HEADER + padded(json_length) + padded(sizes->all);
    *out = (uint32_t)total;
    if (total <= UINT32_MAX) return SN_OK;
    return sn_fail(error, SN_ERR_SIZE, 0,
                   "the file would have %.2f GB, and the format ends at 4.29: write fewer frames",
                   (double)total * 1e-9);
}

static sn_status put_file(const sn_glb *g, const sn_glb_sizes *sizes, const sn_text *json,
                          const sn_sink *sink) {
    uint32_t total, json_bytes = (uint32_t)padded(json->length);
    SN_TRY(sn_glb_total(sizes, json->length, &total, g->error));
    sn_out o;
    sn_out_begin(&o, sink);
    sn_out_uint32(&o, 0x46546c67);  // "glTF"
    sn_out_uint32(&o, 2);
    sn_out_uint32(&o, total);
    sn_out_uint32(&o, json_bytes);
    sn_out_uint32(&o, 0x4e4f534a);  // "JSON"
    for (size_t i = 0; i < json_bytes; i++)
        sn_out_byte(&o, i < json->length ? (unsigned char)json->data[i] : ' ');
    sn_out_uint32(&o, (uint32_t)padded(sizes->all));
    sn_out_uint32(&o, 0x004e4942);  // "BIN"
    put_shapes(g, sizes, &o);
    for (uint64_t i = 0; i < sizes->times / 4; i++) sn_out_float(&o, (double)i / g->rate);
    for (int i = 0; i < g->ntrack && !o.failed; i++) put_track(g, &g->track[i], &o);
    SN_TRY(sn_out_end(&o, g->error));
    SN_ASSERT(o.total == total);
    return SN_OK;
}

static sn_status write_scene(sn_glb *g, const sn_sink *sink) {
    SN_TRY(sn_glb_prepare(g));
    sn_glb_sizes sizes = sn_glb_measure(g);
    sn_text json = sn_text_begin(g->allocator);
    sn_glb_json(g, &sizes, &json);
    sn_status status =
        json.status != SN_OK ? sn_fail_memory(g->error) : put_file(g, &sizes, &json, sink);
    sn_text_end(&json);
    return status;
}

sn_status sn_glb_write(const sn_glb_scene *scene, const sn_sink *sink,
                       const sn_allocator *allocator, sn_error *error) {
    SN_NEED(scene, error);
    SN_NEED(sink, error);
    SN_NEED(sink->write, error);
    if (scene->version != SCENE_VERSION)
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "the scene does not come from sn_glb_scene_default()");
    sn_glb g = {.scene = scene, .allocator = allocator, .error = error};
    sn_status status = write_scene(&g, sink);
    sn_release(allocator, g.owner);
    return status;
}

sn_glb_scene sn_glb_scene_default(const sn_model *model) {
    return (sn_glb_scene){.version = SCENE_VERSION, .model = model, .rotation = {1, 0, 0, 0}};
}

bool sn_glb_up(const char *axis, double rotation[4]) {
    if (axis == NULL || rotation == NULL) return false;
    static const double s = 0.70710678118654752440;
    // about z, about nothing, about x: so that the axis comes to lie along y
    const double up[3][4] = {{s, 0, 0, s}, {1, 0, 0, 0}, {s, -s, 0, 0}};
    const double down[3][4] = {{s, 0, 0, -s}, {0, 1, 0, 0}, {s, s, 0, 0}};
    bool minus = axis[0] == '-';
    if (axis[0] == '-' || axis[0] == '+') axis++;
    char letter = (char)(axis[0] & ~0x20);
    bool known = letter >= 'X' && letter <= 'Z' && axis[1] == '\0';
    memcpy(rotation, known ? (minus ? down : up)[letter - 'X'] : up[1], sizeof up[0]);
    return known;
}
