// SPDX-License-Identifier: MIT
// From the nodes of a GLB file to a model, its motion, and the markers of sinew's own files.
//
// A joint's node lies at fold (above t, r) in its parent joint's frame: `fold` rigid, `above` a scale
// for t. With t0, r0 the rest pose the joint's offset is fold (above t0, r0), and its coordinates
// are what is left: r0^-1 above (t - t0) and r0^-1 r. So the zero pose is the file's rest pose.
#include "files/glb/glb_read.h"

#include <string.h>

#include "base/utf8.h"
#include "files/skeleton.h"

static const double largest = 1e15;

typedef struct building {
    sn_gltf gltf;
    sn_figure names;  // as a list of names that are made to differ
    bool *moves;      // njoint: its place changes, or it is the root
    bool *turns;      // njoint
    void *owner;
    int nframe;        // of the motion; 0: there is none
    double tolerance;  // metres: less is no motion
    sn_glb_content out;
} building;

static sn_vec3 times(sn_vec3 s, sn_vec3 t) { return v3(s.x * t.x, s.y * t.y, s.z * t.z); }

static bool fits(sn_vec3 p) {
    return fabs(p.x) <= largest && fabs(p.y) <= largest && fabs(p.z) <= largest;
}

static sn_status fail_key(const building *b, const sn_gltf_node *node, int frame) {
    return sn_fail(b->gltf.error, SN_ERR_VALUE, 0,
                   "frame %d: the place or rotation of \"%.80s\" is too far away or no number",
                   frame, node->name);
}

// --- how nodes move ------------------------------------------------------------------------------

// A node, frame after frame.
typedef struct walk {
    const sn_gltf *gltf;
    const sn_gltf_node *node;
    sn_gltf_cursor cursor[SN_GLTF_PATHS];
    sn_vec3 t, s;
    sn_quat r;
} walk;

static walk walk_begin(const sn_gltf *g, const sn_gltf_node *node) {
    return (walk){
        .gltf = g, .node = node, .t = node->translation, .s = node->scale, .r = node->rotation};
}

static bool walk_to(walk *w, int frame) {
    const int *channel = w->node->channel;
    double x[4];
    if (channel[SN_GLTF_MOVES] >= 0) {
        if (!sn_gltf_sample(w->gltf, channel[SN_GLTF_MOVES], frame, &w->cursor[SN_GLTF_MOVES], x))
            return false;
        w->t = v3_from(x);
    }
    if (channel[SN_GLTF_SCALES] >= 0) {
        if (!sn_gltf_sample(w->gltf, channel[SN_GLTF_SCALES], frame, &w->cursor[SN_GLTF_SCALES], x))
            return false;
        w->s = v3_from(x);
    }
    if (channel[SN_GLTF_TURNS] >= 0) {
        if (!sn_gltf_sample(w->gltf, channel[SN_GLTF_TURNS], frame, &w->cursor[SN_GLTF_TURNS], x))
            return false;
        // q and -q are one rotation: the one nearer to the frame before
        double side = w->r.x * x[0] + w->r.y * x[1] + w->r.z * x[2] + w->r.w * x[3] < 0 ? -1 : 1;
        w->r = (sn_quat){side * x[3], side * x[0], side * x[1], side * x[2]};
    }
    return fits(w->t) && fits(times(w->node->above, w->t));
}

static void find_length(building *b) {
    sn_gltf *g = &b->gltf;
    double longest = 0;
    for (int i = 0; i < g->nnode; i++) {
        const sn_gltf_node *node = &g->node[i];
        if (!node->joint) continue;
        for (int path = SN_GLTF_MOVES; path <= SN_GLTF_TURNS; path++) {
            if (node->channel[path] < 0) continue;
            int n = sn_gltf_frames(g, node->channel[path]);
            if (n > b->nframe) b->nframe = n;
        }
        if (node->base < 0) continue;
        longest = fmax(longest, v3_norm(times(node->above, node->translation)));
    }
    b->tolerance = 1e-6 * (longest > 0 && isfinite(longest) ? longest : 1);
}

// Of q and -q, which are one rotation, walk_to() has chosen.
static double quat_change(sn_quat a, sn_quat b) {
    double change = 0;
    const double x[4] = {a.w, a.x, a.y, a.z}, y[4] = {b.w, b.x, b.y, b.z};
    for (int k = 0; k < 4; k++) change = fmax(change, fabs(x[k] - y[k]));
    return change;
}

// Many programs write keys for what never changes: only what does is a degree of freedom. What is
// held keeps the place that its keys say.
static sn_status find_freedom(building *b, sn_gltf_node *node, int *stretched) {
    walk w = walk_begin(&b->gltf, node);
    bool top = node->base < 0 && !b->gltf.added_root, stretches = false;
    bool *moves = &b->moves[node->id], *turns = &b->turns[node->id];
    sn_vec3 t0 = w.t;
    sn_quat r0 = w.r;
    *moves = *turns = top;
    if (b->nframe ==
        0) {  // a still picture: what it shows is the zero pose, and every joint may turn
        *turns = true;
        node->rest_translation = t0;
        node->rest_rotation = r0;
    }
    for (int f = 0; f < b->nframe; f++) {
        if (!walk_to(&w, f)) return fail_key(b, node, f + 1);
        if (f == 0) t0 = w.t, r0 = w.r;
        sn_vec3 way = times(node->above, v3_sub(w.t, t0)), grown = v3_sub(w.s, node->scale);
        *moves = *moves || v3_norm(way) > b->tolerance;
        *turns = *turns || quat_change(w.r, r0) > 1e-6;
        stretches = stretches || v3_norm(grown) > 1e-4 * v3_norm(node->scale);
    }
    *stretched += stretches;
    if (!*moves) node->rest_translation = t0;
    if (!*turns) node->rest_rotation = r0;
    return SN_OK;
}

static sn_status find_freedoms(building *b) {
    sn_gltf *g = &b->gltf;
    int stretched = 0;
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        b->moves = sn_layout_take(&layout, (size_t)g->njoint, sizeof *b->moves);
        b->turns = sn_layout_take(&layout, (size_t)g->njoint, sizeof *b->turns);
        if (pass == 1) break;
        void *block = sn_layout_acquire(&layout, g->allocator, &b->owner);
        if (block == NULL) return sn_fail_memory(g->error);
        layout = (sn_layout){.block = block};
    }
    find_length(b);
    for (int i = 0; i < g->nnode; i++)
        if (g->node[i].joint) SN_TRY(find_freedom(b, &g->node[i], &stretched));
    if (stretched > 0)
        sn_gltf_note(g, "the scale of %d joint%s changes over time, which is left out", stretched,
                     stretched == 1 ? "" : "s");
    return SN_OK;
}

// --- the model -----------------------------------------------------------------------------------

// A name of at most SN_MAX_NAME bytes that does not end inside a character.
static void cut_name(const char *name, char out[SN_MAX_NAME + 1]) {
    size_t length = strlen(name), used = 0;
    while (used < length) {
        size_t n = sn_utf8_length(name + used, length - used);
        if (n == 0 || used + n > SN_MAX_NAME) break;
        used += n;
    }
    memcpy(out, name, used);
    out[used] = '\0';
}

static sn_status name_joints(building *b) {
    sn_gltf *g = &b->gltf;
    char name[SN_MAX_NAME + 1];
    b->names.several_roots = g->added_root;
    // there are not too many, which was looked at before: it can only be memory
    if (g->added_root && sn_figure_add(&b->names, "roots", -1, g->allocator, g->error) == NULL)
        return SN_ERR_MEMORY;
    for (int i = 0; i < g->nnode; i++) {
        if (!g->node[i].joint) continue;
        cut_name(g->node[i].name, name);
        if (sn_figure_add(&b->names, name, -1, g->allocator, g->error) == NULL)
            return SN_ERR_MEMORY;
    }
    return sn_figure_label(&b->names, g->allocator, g->error);
}

// What everything hangs on, where that is no joint: its name is the figure's.
static void name_model(const sn_gltf *g, char out[SN_MAX_NAME + 1]) {
    int at = -1;
    for (int i = 0; i < g->nnode && at < 0; i++)
        if (g->node[i].joint && g->node[i].base < 0) at = i;
    while (at >= 0 && g->node[at].parent >= 0) at = g->node[at].parent;
    cut_name(at >= 0 && !g->node[at].joint ? g->node[at].name : "", out);
}

static int joint_above(const sn_gltf *g, const sn_gltf_node *node) {
    return node->base >= 0 ? g->node[node->base].id : g->added_root ? 0 : -1;
}

static sn_status add_joint(const building *b, const sn_gltf_node *node, sn_builder *builder) {
    const sn_gltf *g = &b->gltf;
    static const sn_joint_type types[2][2] = {{SN_JOINT_FIXED, SN_JOINT_BALL},
                                              {SN_JOINT_TRANSLATION, SN_JOINT_FREE}};
    sn_joint_desc d = sn_joint_default(types[b->moves[node->id]][b->turns[node->id]]);
    sn_frame rest = {sn_mat3_from_quat(node->rest_rotation),
                     times(node->above, node->rest_translation)};
    sn_frame offset = frame_mul(&node->fold, &rest);
    sn_quat r = sn_quat_from_mat3(offset.R);
    if (!fits(offset.p)) return fail_key(b, node, 1);
    d.name = sn_entry_label(&b->names.entry[node->id]);
    d.parent = joint_above(g, node);
    d.position[0] = offset.p.x, d.position[1] = offset.p.y, d.position[2] = offset.p.z;
    d.rotation[0] = r.w, d.rotation[1] = r.x, d.rotation[2] = r.y, d.rotation[3] = r.z;
    (void)sn_builder_joint(builder, &d);
    return SN_OK;
}

static sn_status add_marker(const building *b, const sn_gltf_node *node, sn_builder *builder) {
    const sn_gltf *g = &b->gltf;
    int joint = joint_above(g, node);
    if (joint < 0)
        return sn_fail(g->error, SN_ERR_PARSE, 0, "marker \"%.80s\" hangs on no joint", node->name);
    sn_vec3 p = v3_add(node->fold.p, m3_mul(&node->fold.R, times(node->above, node->translation)));
    if (!fits(p)) return fail_key(b, node, 1);
    sn_marker_desc d = {node->name, joint, {p.x, p.y, p.z}, 1};
    (void)sn_builder_marker(builder, &d);
    return SN_OK;
}

static sn_status fill_builder(const building *b, sn_builder *builder) {
    const sn_gltf *g = &b->gltf;
    if (g->added_root) {
        sn_joint_desc d = sn_joint_default(SN_JOINT_FIXED);
        d.name = sn_entry_label(&b->names.entry[0]);
        (void)sn_builder_joint(builder, &d);
    }
    for (int i = 0; i < g->nnode; i++)
        if (g->node[i].joint) SN_TRY(add_joint(b, &g->node[i], builder));
    for (int i = 0; i < g->nnode; i++)
        if (g->node[i].mark == SN_GLTF_FITTED && g->node[i].in_scene)
            SN_TRY(add_marker(b, &g->node[i], builder));
    return SN_OK;
}

static sn_status build_model(building *b) {
    const sn_gltf *g = &b->gltf;
    char name[SN_MAX_NAME + 1];
    sn_builder *builder;
    SN_TRY(name_joints(b));
    name_model(g, name);
    if (sn_builder_create(name, g->allocator, &builder, NULL) != SN_OK)
        return sn_fail_memory(g->error);
    sn_status status = fill_builder(b, builder);
    if (status == SN_OK) status = sn_builder_finish(builder, &b->out.model, g->error);
    sn_builder_destroy(builder);
    return status;
}

// --- motion and recording ------------------------------------------------------------------------

static sn_status fill_joint(building *b, const sn_gltf_node *node) {
    walk w = walk_begin(&b->gltf, node);
    int at = sn_model_q_index(b->out.model, node->id);
    bool moves = b->moves[node->id], turns = b->turns[node->id];
    sn_quat back = sn_quat_conj(node->rest_rotation);
    sn_mat3 turn = sn_mat3_from_quat(back);
    for (int f = 0; f < b->nframe && (moves || turns); f++) {
        double *q = sn_motion_edit(b->out.motion, f) + at;
        if (!walk_to(&w, f)) return fail_key(b, node, f + 1);
        if (moves) {
            sn_vec3 way = times(node->above, v3_sub(w.t, node->rest_translation));
            sn_vec3 p = m3_mul(&turn, way);
            q[0] = p.x, q[1] = p.y, q[2] = p.z;
            q += 3;
        }
        if (turns) {
            sn_quat r = sn_quat_mul(back, w.r);
            q[0] = r.w, q[1] = r.x, q[2] = r.y, q[3] = r.z;
        }
    }
    return SN_OK;
}

static sn_status build_motion(building *b) {
    sn_gltf *g = &b->gltf;
    if (b->nframe == 0) return SN_OK;
    sn_status status = sn_motion_create(b->nframe, sn_model_nq(b->out.model), 1, g->clock.rate,
                                        g->allocator, &b->out.motion, NULL);
    if (status != SN_OK) return sn_fail_memory(g->error);
    for (int i = 0; i < g->nnode; i++)
        if (g->node[i].joint) SN_TRY(fill_joint(b, &g->node[i]));
    return SN_OK;
}

static bool is_measured(const sn_gltf_node *node) {
    return node->mark == SN_GLTF_MEASURED && node->in_scene && !node->joint;
}

static sn_status fill_marker(building *b, const sn_gltf_node *node, int marker, int nframe) {
    walk w = walk_begin(&b->gltf, node);
    if (node->base >= 0)
        return sn_fail(b->gltf.error, SN_ERR_PARSE, 0,
                       "the measured marker \"%.80s\" hangs on a joint", node->name);
    for (int f = 0; f < nframe; f++) {
        if (!walk_to(&w, f)) return fail_key(b, node, f + 1);
        if (w.s.x == 0 && w.s.y == 0 && w.s.z == 0) continue;  // hidden: it was not seen
        sn_vec3 p = v3_add(node->fold.p, m3_mul(&node->fold.R, times(node->above, w.t)));
        if (!fits(p)) return fail_key(b, node, f + 1);
        double *out = sn_recording_edit(b->out.recording, f) + (size_t)3 * (size_t)marker;
        out[0] = p.x, out[1] = p.y, out[2] = p.z;
    }
    return SN_OK;
}

static sn_status build_recording(building *b) {
    sn_gltf *g = &b->gltf;
    int nframe = 0, n = 0;
    if (g->nmeasured == 0) return SN_OK;
    const char **labels = sn_acquire(g->allocator, (size_t)g->nmeasured * sizeof *labels);
    if (labels == NULL) return sn_fail_memory(g->error);
    for (int i = 0; i < g->nnode; i++) {
        const sn_gltf_node *node = &g->node[i];
        if (!is_measured(node)) continue;
        labels[n++] = node->name;
        for (int path = 0; path < SN_GLTF_PATHS; path++) {
            if (path == SN_GLTF_TURNS || node->channel[path] < 0) continue;
            int frames = sn_gltf_frames(g, node->channel[path]);
            if (frames > nframe) nframe = frames;
        }
    }
    if (nframe == 0) nframe = b->nframe > 0 ? b->nframe : 1;
    sn_recording_info info = {.nframe = nframe,
                              .nmarker = n,
                              .first_frame = 1,
                              .rate = g->clock.rate,
                              .metres_per_unit = 1,
                              .unit = "m",
                              .x_screen = "+X",
                              .y_screen = "+Y"};
    sn_status status = sn_recording_create(&info, labels, g->allocator, &b->out.recording, NULL);
    sn_release(g->allocator, labels);
    if (status != SN_OK) return sn_fail_memory(g->error);
    for (int i = 0, m = 0; i < g->nnode; i++)
        if (is_measured(&g->node[i])) SN_TRY(fill_marker(b, &g->node[i], m++, nframe));
    return SN_OK;
}

static sn_status read_all(building *b, const void *bytes, size_t length) {
    sn_gltf *g = &b->gltf;
    SN_TRY(sn_gltf_open(g, bytes, length));
    SN_TRY(sn_gltf_read_nodes(g));
    SN_TRY(sn_gltf_read_animation(g));
    SN_TRY(sn_gltf_find_joints(g));
    SN_TRY(sn_gltf_set_clock(g));
    SN_TRY(find_freedoms(b));
    SN_TRY(build_model(b));
    SN_TRY(build_motion(b));
    return build_recording(b);
}

sn_status sn_glb_read(const void *bytes, size_t length, const sn_allocator *allocator,
                      sn_glb_content *out, sn_error *error) {
    if (out != NULL) *out = (sn_glb_content){0};
    if (length > 0) SN_NEED(bytes, error);
    SN_NEED(out, error);
    if (bytes == NULL) bytes = "";
    building b = {.gltf = {.allocator = allocator, .error = error}};
    b.gltf.note = b.out.note;
    sn_status status = read_all(&b, bytes, length);
    sn_gltf_close(&b.gltf);
    sn_release(allocator, b.owner);
    sn_release(allocator, b.names.entry);
    if (status != SN_OK) sn_glb_content_destroy(&b.out);
    *out = b.out;
    return status;
}

void sn_glb_content_destroy(sn_glb_content *content) {
    if (content == NULL) return;
    sn_model_destroy(content->model);
    sn_motion_destroy(content->motion);
    sn_recording_destroy(content->recording);
    *content = (sn_glb_content){0};
}
