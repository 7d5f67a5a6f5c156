// SPDX-License-Identifier: MIT
// Which shapes must keep apart. Left out:
//
//   one body         shapes on one joint, or joined by fixed joints
//   neighbours       bodies with one moving joint between them, or several at one place (a shoulder of
//                    three hinges); a joint that moves freely makes none
//   kinds            that do not meet
//   excluded pairs   of the model: SRDF's disable_collisions, MJCF's <exclude>
//   touching at rest where the file itself lets them overlap
#include <string.h>

#include "collide/closest.h"
#include "math/sincos.h"

// Does a joint leave its parent's place altogether?
static bool roams(const sn_joint *j) {
    return j->type == SN_JOINT_FREE || j->type == SN_JOINT_TRANSLATION ||
           j->type == SN_JOINT_PLANAR;
}

// The frames of all joints at a pose, in sweep order.
static void place_all(const sn_model *m, const double *q, sn_frame *frame, sn_twist *S,
                      sn_angle *angle) {
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        const sn_frame base = j->parent < 0 ? j->offset : frame_mul(&frame[j->parent], &j->offset);
        for (int i = 0; i < j->nv; i++)
            if (j->ops->angles >> i & 1) sn_sincos(q[j->q0 + i], &angle[i].s, &angle[i].c);
        j->ops->place(j, q + j->q0, angle, &base, &frame[k], S);
    }
}

// Is `upper` the body that `lower` hangs on? On the way up, joints may be passed that lie at the place of
// the one below and carry no shape: together they are one joint.
static bool hangs_on(const sn_model *m, const bool *carries, int lower, int upper) {
    for (int k = lower; k >= 0;) {
        const sn_joint *j = &m->joint[k];
        if (roams(j)) return false;
        int next = j->parent;
        sn_vec3 away = j->offset.p;
        while (next >= 0 && m->joint[next].nv == 0) {
            away = v3_add(m->joint[next].offset.p, m3_mul(&m->joint[next].offset.R, away));
            next = m->joint[next].parent;
        }
        if (next == upper) return true;
        if (next < 0 || carries[next] || v3_norm(away) > 1e-9) return false;
        k = next;
    }
    return false;
}

// A body that the rest pose puts at a known place in the world.
static bool is_anchored(const sn_model *m, int body) {
    for (int k = body; k >= 0; k = m->joint[k].parent)
        if (roams(&m->joint[k])) return false;
    return true;
}

static bool is_excluded(const sn_model *m, int a, int b) {
    for (int i = 0; i < m->nexcluded; i++) {
        const int *x = m->excluded[i];
        if ((x[0] == a && x[1] == b) || (x[0] == b && x[1] == a)) return true;
    }
    return false;
}

typedef struct room {
    double *q;
    sn_frame *frame;
    sn_twist *S;
    sn_angle *angle;
    sn_solid *solid;
    bool *carries, *anchored;  // by joint in sweep order: has shapes; stands in the world
} room;

static void layout_room(room *r, const sn_model *m, sn_layout *layout) {
    r->q = sn_layout_take(layout, (size_t)m->nq, sizeof *r->q);
    r->frame = sn_layout_take(layout, (size_t)m->njoint, sizeof *r->frame);
    r->S = sn_layout_take(layout, SN_MAX_JOINT_DOFS, sizeof *r->S);
    r->angle = sn_layout_take(layout, SN_MAX_JOINT_DOFS, sizeof *r->angle);
    r->solid = sn_layout_take(layout, (size_t)m->nshape, sizeof *r->solid);
    r->carries = sn_layout_take(layout, (size_t)m->njoint, sizeof *r->carries);
    r->anchored = sn_layout_take(layout, (size_t)m->njoint, sizeof *r->anchored);
}

// Must shapes i and k keep apart? Then *rest is their distance at rest.
static bool must_keep(const sn_model *m, const room *r, int i, int k, double *rest) {
    const sn_shape_desc *di = &m->shape[i], *dk = &m->shape[k];
    const sn_shape_place *a = &m->shaped[i], *b = &m->shaped[k];
    *rest = INFINITY;
    if ((di->kind & dk->meets) == 0 && (dk->kind & di->meets) == 0) return false;
    if (a->type == SN_SHAPE_PLANE && b->type == SN_SHAPE_PLANE) return false;
    if (a->body == b->body || is_excluded(m, di->joint, dk->joint)) return false;
    // the world itself has no neighbours; a body fixed to it has
    if (a->joint >= 0 && b->joint >= 0)
        if ((a->body >= 0 && hangs_on(m, r->carries, a->body, b->body)) ||
            (b->body >= 0 && hangs_on(m, r->carries, b->body, a->body)))
            return false;
    bool known_a = a->body < 0 || r->anchored[a->body];
    bool known_b = b->body < 0 || r->anchored[b->body];
    bool both_roam = !known_a && !known_b;  // and so together
    if (both_roam || (known_a && known_b))
        *rest = sn_shapes_distance(a, &r->solid[i], b, &r->solid[k]);
    return *rest > 0;
}

sn_status sn_pairs_find(const sn_model *m, const sn_allocator *allocator, sn_shape_pair **out,
                        int *count) {
    *out = NULL;
    *count = 0;
    if (m->nshape < 2) return SN_OK;
    room r = {0};
    sn_layout layout = {0};
    void *owner;
    layout_room(&r, m, &layout);
    void *block = sn_layout_acquire(&layout, allocator, &owner);
    if (block == NULL) return SN_ERR_MEMORY;
    layout = (sn_layout){.block = block};
    layout_room(&r, m, &layout);
    sn_model_zero(m, r.q);
    (void)sn_model_clamp(m, r.q);
    place_all(m, r.q, r.frame, r.S, r.angle);
    for (int k = 0; k < m->njoint; k++) r.anchored[k] = is_anchored(m, k);
    for (int i = 0; i < m->nshape; i++) {
        const sn_shape_place *s = &m->shaped[i];
        r.solid[i] = sn_shape_solid(s, s->joint < 0 ? NULL : &r.frame[s->joint]);
        if (s->body >= 0) r.carries[s->body] = true;
    }
    // counted, then kept
    sn_status status = SN_OK;
    for (int pass = 0; pass < 2 && status == SN_OK; pass++) {
        int n = 0;
        for (int i = 0; i < m->nshape; i++)
            for (int k = i + 1; k < m->nshape; k++) {
                double rest;
                if (!must_keep(m, &r, i, k, &rest)) continue;
                if (pass == 1) (*out)[n] = (sn_shape_pair){{i, k}, rest};
                n++;
            }
        *count = n;
        if (n == 0) break;
        if (pass == 0) {
            *out = sn_acquire(allocator, (size_t)n * sizeof **out);
            if (*out == NULL) status = SN_ERR_MEMORY;
        }
    }
    sn_release(allocator, owner);
    return status;
}
