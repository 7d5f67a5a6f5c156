// SPDX-License-Identifier: MIT
// The first animation of a glTF file: its channels, an even clock for all of them, and values at
// the clock's frames.
//
// Files of most programs, and sinew's own, have a key for every frame: there a frame's value is its
// key's, and nothing is lost. Where keys are few the clock has a usual rate on whose frames all of
// them lie, and where there is none, 60 frames a second.
#include <string.h>

#include "files/glb/glb_read.h"
#include "math/round.h"
#include "math/unit.h"

#define FAIL(g, ...) sn_fail((g)->error, SN_ERR_PARSE, 0, __VA_ARGS__)

enum { FLOAT = 5126, LONGEST = 1 << 23 };

static double time_of(const sn_gltf_sampler *s, int key) {
    return sn_gltf_number(&s->times, key, 0);
}

static double last_time(const sn_gltf_sampler *s) { return time_of(s, s->times.count - 1); }

// --- reading -------------------------------------------------------------------------------------

static sn_status read_sampler(sn_gltf *g, int index, const sn_json_node *json, sn_gltf_path path) {
    sn_gltf_sampler *s = &g->sampler[index];
    static const char *const ways[] = {"LINEAR", "STEP", "CUBICSPLINE"};
    const char *way = sn_gltf_string(g, json, "interpolation");
    int input, output;
    while (s->way < SN_GLTF_CUBIC && way[0] != '\0' && strcmp(way, ways[s->way]) != 0) s->way++;
    if (way[0] != '\0' && strcmp(way, ways[s->way]) != 0)
        return FAIL(g, "sampler %d: the interpolation \"%.30s\" is not known", index, way);
    SN_TRY(sn_gltf_index(g, json, "input", g->accessors.count, &input));
    SN_TRY(sn_gltf_index(g, json, "output", g->accessors.count, &output));
    if (input < 0 || output < 0) return FAIL(g, "sampler %d lacks its input or output", index);
    SN_TRY(sn_gltf_accessor(g, input, &s->times));
    SN_TRY(sn_gltf_accessor(g, output, &s->values));
    s->path = path;
    if (s->times.width != 1 || s->times.component != FLOAT)
        return FAIL(g, "sampler %d: its times are not floats", index);
    if (s->values.width != (path == SN_GLTF_TURNS ? 4 : 3) ||
        (path != SN_GLTF_TURNS && s->values.component != FLOAT))
        return FAIL(g, "sampler %d: its output is not of the kind that its channel needs", index);
    int each = s->way == SN_GLTF_CUBIC ? 3 : 1;
    if (s->values.count / each != s->times.count || s->values.count % each != 0)
        return FAIL(g, "sampler %d has %d times, but %d values", index, s->times.count,
                    s->values.count);
    for (int i = 0; i < s->times.count; i++)
        if (!(fabs(time_of(s, i)) < 1e9) || (i > 0 && time_of(s, i) < time_of(s, i - 1)))
            return FAIL(g, "sampler %d: its times do not rise", index);
    return SN_OK;
}

static sn_status read_channel(sn_gltf *g, int index, const sn_json_node *json,
                              const sn_json_node **samplers, double *keys) {
    static const char *const paths[SN_GLTF_PATHS] = {"translation", "rotation", "scale"};
    const sn_json_node *target = sn_json_get(g->json, json, "target");
    int node, sampler, path = 0;
    if (target == NULL) return FAIL(g, "channel %d has no target", index);
    const char *word = sn_gltf_string(g, target, "path");
    while (path < SN_GLTF_PATHS && strcmp(word, paths[path]) != 0) path++;
    SN_TRY(sn_gltf_index(g, target, "node", g->nnode, &node));
    if (path == SN_GLTF_PATHS || node < 0) return SN_OK;  // shapes that change, and extensions
    SN_TRY(sn_gltf_index(g, json, "sampler", g->nsampler, &sampler));
    if (sampler < 0) return FAIL(g, "channel %d has no sampler", index);
    if (g->node[node].channel[path] >= 0)
        return FAIL(g, "two channels set the %s of node %d (\"%.60s\")", word, node,
                    g->node[node].name);
    sn_gltf_sampler *s = &g->sampler[sampler];
    if (s->times.count == 0) {
        SN_TRY(read_sampler(g, sampler, samplers[sampler], (sn_gltf_path)path));
    } else if ((s->path == SN_GLTF_TURNS) != (path == SN_GLTF_TURNS)) {
        return FAIL(g, "sampler %d is used for a rotation and for something else", sampler);
    }
    // what many channels share must not make much work of a small file
    *keys += s->times.count;
    if (*keys > (double)g->length + 1e5)
        return sn_fail(g->error, SN_ERR_SIZE, 0, "more keys than a file of this size can hold");
    g->node[node].channel[path] = index;
    g->channel_sampler[index] = sampler;
    return SN_OK;
}

static sn_status read_first(sn_gltf *g, const sn_json_node *animation) {
    const sn_json_node *samplers, *channels, **list = NULL, *at;
    double keys = 0;
    SN_TRY(sn_gltf_array(g, animation, "samplers", &samplers));
    SN_TRY(sn_gltf_array(g, animation, "channels", &channels));
    if (samplers == NULL || channels == NULL) return FAIL(g, "an animation without channels");
    if (samplers->count > INT32_MAX || channels->count > INT32_MAX)
        return sn_fail(g->error, SN_ERR_SIZE, 0, "too many channels");
    g->nsampler = (int)samplers->count;
    g->nchannel = (int)channels->count;
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        g->sampler = sn_layout_take(&layout, (size_t)g->nsampler, sizeof *g->sampler);
        g->channel_sampler =
            sn_layout_take(&layout, (size_t)g->nchannel, sizeof *g->channel_sampler);
        list = sn_layout_take(&layout, (size_t)g->nsampler, sizeof *list);
        if (pass == 1) break;
        void *block = sn_layout_acquire(&layout, g->allocator, &g->keys_owner);
        if (block == NULL) return sn_fail_memory(g->error);
        layout = (sn_layout){.block = block};
    }
    at = sn_json_first(g->json, samplers);
    for (int i = 0; at != NULL; i++, at = sn_json_next(g->json, at)) list[i] = at;
    at = sn_json_first(g->json, channels);
    for (int i = 0; at != NULL; i++, at = sn_json_next(g->json, at))
        SN_TRY(read_channel(g, i, at, list, &keys));
    return SN_OK;
}

sn_status sn_gltf_read_animation(sn_gltf *g) {
    const sn_json_node *animations;
    SN_TRY(sn_gltf_array(g, g->root, "animations", &animations));
    if (animations == NULL || animations->count == 0) return SN_OK;
    const sn_json_node *first = sn_json_first(g->json, animations);
    if (animations->count > 1)
        sn_gltf_note(g, "of its %u animations the first is read, \"%.80s\"",
                     (unsigned)animations->count, sn_gltf_string(g, first, "name"));
    return read_first(g, first);
}

// --- the clock -----------------------------------------------------------------------------------

static const sn_gltf_sampler *sampler_of(const sn_gltf *g, int channel) {
    return &g->sampler[g->channel_sampler[channel]];
}

// How far from a frame, in frames, a key may lie and still be its key: times are floats.
static double slack(double time, double rate) {
    return fmin(0.01 + 2.5e-7 * fabs(time) * rate, 0.45);
}

static void mark_used(sn_gltf *g, int channel) {
    if (channel >= 0) g->sampler[g->channel_sampler[channel]].used = true;
}

static void find_used(sn_gltf *g) {
    for (int i = 0; i < g->nnode; i++) {
        const sn_gltf_node *node = &g->node[i];
        bool measured = node->mark == SN_GLTF_MEASURED && node->in_scene && !node->joint;
        if (node->joint || measured) mark_used(g, node->channel[SN_GLTF_MOVES]);
        if (node->joint) mark_used(g, node->channel[SN_GLTF_TURNS]);
        if (measured) mark_used(g, node->channel[SN_GLTF_SCALES]);
    }
}

// Every key has a frame, and one of its own.
static bool keys_at_frames(const sn_gltf *g, double start, double rate) {
    for (int i = 0; i < g->nsampler; i++) {
        const sn_gltf_sampler *s = &g->sampler[i];
        double before = -1;
        for (int k = 0; s->used && k < s->times.count; k++) {
            double t = time_of(s, k), x = (t - start) * rate, frame = sn_round(x);
            if (fabs(x - frame) > slack(t, rate) || frame == before) return false;
            before = frame;
        }
    }
    return true;
}

// The quotient of two floats: 119.999997 is 120.
static double tidy_rate(double rate) {
    double near = sn_round(rate * 1000) / 1000;
    return near > 0 && fabs(near - rate) <= 2.5e-7 * rate ? near : rate;
}

static double choose_rate(sn_gltf *g, const sn_gltf_sampler *densest, bool curved, double seconds) {
    static const double usual[] = {24, 25,         30,  24 / 1.001, 30 / 1.001,  48, 50,
                                   60, 60 / 1.001, 100, 120,        120 / 1.001, 240};
    double start = g->clock.start, length = last_time(densest) - time_of(densest, 0);
    double own = length > 0 ? tidy_rate((densest->times.count - 1) / length) : 0;
    g->clock.even = own > 0 && (!curved || own >= 20) && keys_at_frames(g, start, own);
    if (g->clock.even) return own;
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        g->clock.even = seconds * usual[i] < LONGEST && keys_at_frames(g, start, usual[i]);
        if (g->clock.even) return usual[i];
    }
    double rate = fmin(fmax(ceil(own), 60), 1000);
    sn_gltf_note(g, "its keys are not evenly spaced: the motion is taken %g times a second", rate);
    return rate;
}

sn_status sn_gltf_set_clock(sn_gltf *g) {
    const sn_gltf_sampler *densest = NULL;
    double start = INFINITY, end = -INFINITY, moving = g->nmeasured + 1;
    bool curved = false;
    find_used(g);
    for (int i = 0; i < g->nnode; i++)
        moving += g->node[i].joint && (g->node[i].channel[SN_GLTF_MOVES] >= 0 ||
                                       g->node[i].channel[SN_GLTF_TURNS] >= 0);
    for (int i = 0; i < g->nsampler; i++) {
        const sn_gltf_sampler *s = &g->sampler[i];
        if (!s->used) continue;
        if (densest == NULL || s->times.count > densest->times.count) densest = s;
        start = fmin(start, time_of(s, 0));
        end = fmax(end, last_time(s));
        curved = curved || s->way == SN_GLTF_CUBIC;
    }
    if (densest == NULL || !(end > start)) {
        g->clock.start = densest != NULL ? start : 0;
        return SN_OK;
    }
    g->clock.start = start;
    g->clock.rate = choose_rate(g, densest, curved, end - start);
    double frames = (end - start) * g->clock.rate + 1;
    double bytes = frames * 7 * sizeof(double) * moving;
    if (frames > LONGEST || bytes > 256 * (double)g->length + 16e6)
        return sn_fail(g->error, SN_ERR_SIZE, 0,
                       "%.0f seconds of motion are more than a file of %zu bytes should hold",
                       end - start, g->length);
    return SN_OK;
}

int sn_gltf_frames(const sn_gltf *g, int channel) {
    if (channel < 0 || !(g->clock.rate > 0)) return 1;
    double x = (last_time(sampler_of(g, channel)) - g->clock.start) * g->clock.rate;
    return (int)(g->clock.even ? sn_round(x) : ceil(x - 0.01)) + 1;
}

// --- values --------------------------------------------------------------------------------------

static bool key_value(const sn_gltf_sampler *s, int element, double *out) {
    for (int k = 0; k < s->values.width; k++) {
        out[k] = sn_gltf_number(&s->values, element, k);
        if (!isfinite(out[k])) return false;
    }
    return true;
}

static bool on_the_way(const sn_gltf_sampler *s, int key, double u, double out[4]) {
    double a[4], b[4];
    if (!key_value(s, key, a) || !key_value(s, key + 1, b)) return false;
    if (s->path != SN_GLTF_TURNS) {
        for (int k = 0; k < 3; k++) out[k] = a[k] + u * (b[k] - a[k]);
        return true;
    }
    if (!sn_unit(a, 4, a) || !sn_unit(b, 4, b)) return false;
    sn_quat from = {a[3], a[0], a[1], a[2]}, to = {b[3], b[0], b[1], b[2]};
    sn_vec3 turn = sn_quat_log(sn_quat_mul(to, sn_quat_conj(from)));
    sn_quat q = sn_quat_mul(sn_quat_exp(v3_scale(u, turn)), from);
    out[0] = q.x, out[1] = q.y, out[2] = q.z, out[3] = q.w;
    return true;
}

// Hermite's cubic; a key has its in-tangent, its value and its out-tangent.
static bool on_the_curve(const sn_gltf_sampler *s, int key, double u, double seconds,
                         double out[4]) {
    double a[4], b[4], da[4], db[4], u2 = u * u, u3 = u2 * u;
    if (!key_value(s, 3 * key + 1, a) || !key_value(s, 3 * key + 2, da) ||
        !key_value(s, 3 * key + 3, db) || !key_value(s, 3 * key + 4, b))
        return false;
    for (int k = 0; k < s->values.width; k++)
        out[k] = (2 * u3 - 3 * u2 + 1) * a[k] + seconds * (u3 - 2 * u2 + u) * da[k] +
                 (3 * u2 - 2 * u3) * b[k] + seconds * (u3 - u2) * db[k];
    return true;
}

bool sn_gltf_sample(const sn_gltf *g, int channel, int frame, sn_gltf_cursor *cursor,
                    double out[4]) {
    const sn_gltf_sampler *s = sampler_of(g, channel);
    double rate = g->clock.rate > 0 ? g->clock.rate : 1, t = g->clock.start + frame / rate;
    double near = slack(t, rate) / rate;
    bool good;
    while (cursor->key + 1 < s->times.count && time_of(s, cursor->key + 1) <= t + near)
        cursor->key++;
    int key = cursor->key;
    double from = time_of(s, key);
    if (t <= from + near || key + 1 == s->times.count || s->way == SN_GLTF_STEP) {
        good = key_value(s, s->way == SN_GLTF_CUBIC ? 3 * key + 1 : key, out);
    } else {
        double seconds = time_of(s, key + 1) - from, u = (t - from) / seconds;
        good = s->way == SN_GLTF_LINEAR ? on_the_way(s, key, u, out)
                                        : on_the_curve(s, key, u, seconds, out);
    }
    return good && (s->path != SN_GLTF_TURNS || sn_unit(out, 4, out));
}
