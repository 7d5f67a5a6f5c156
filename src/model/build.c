// SPDX-License-Identifier: MIT
// From a builder's entries to a model: check every entry, find the tree, put it in sweep order.
#include <string.h>

#include "math/unit.h"
#include "model/model.h"

typedef struct building {
    const sn_builder *from;
    sn_model *model;
    sn_error *error;
} building;

static const char *joint_name(const building *b, int i) {
    return b->from->names + b->from->joint[i].name;
}

static const char *marker_name(const building *b, int i) {
    return b->from->names + b->from->marker[i].name;
}

static sn_status joint_fail(const building *b, int i, const char *what) {
    return sn_fail(b->error, SN_ERR_MODEL, b->from->joint[i].line, "joint \"%.80s\": %s",
                   joint_name(b, i), what);
}

static bool all_finite(const double *x, int n) {
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static bool order_axes(const char order[4], int axes[3]) {
    for (int i = 0; i < 3; i++) {
        if (order[i] < 'X' || order[i] > 'Z') return false;
        axes[i] = order[i] - 'X';
        if (i > 0 && axes[i] == axes[i - 1]) return false;
    }
    return order[3] == '\0';
}

static sn_status check_limits(const building *b, int i, const sn_joint_ops *ops) {
    const sn_joint_desc *d = &b->from->joint[i].desc;
    for (int k = 0; k < sn_desc_nv(d); k++) {
        double lower = d->lower[k], upper = d->upper[k];
        if (isnan(lower) || isnan(upper)) return joint_fail(b, i, "a limit is not a number");
        if (lower > upper) return joint_fail(b, i, "a lower limit is above its upper limit");
        if (lower == INFINITY || upper == -INFINITY)
            return joint_fail(b, i, "a limit leaves no room at all");
        bool rotation = ops->quaternion >= 0 && k >= ops->curve_first;
        if (rotation && (lower != -INFINITY || upper != INFINITY))
            return joint_fail(b, i,
                              "a rotation held as a quaternion takes no limits: use euler, expmap "
                              "or swing-twist");
        if (!(d->strength[k] >= 0) || !isfinite(d->strength[k]))
            return joint_fail(b, i, "strength must be a number, 0 or above");
    }
    return SN_OK;
}

static bool uses_axis(sn_joint_type type) {
    return type == SN_JOINT_BALL || type == SN_JOINT_HINGE || type == SN_JOINT_SLIDER ||
           type == SN_JOINT_SCREW || type == SN_JOINT_UNIVERSAL || type == SN_JOINT_SWING_TWIST ||
           type == SN_JOINT_PLANAR;
}

static int aligned_axis(sn_vec3 axis) {
    for (int i = 0; i < 3; i++)
        if (v3_at(axis, i) == 1) return i;
    return -1;
}

// Two axes across a unit axis, as sn_joint_desc promises them.
static void across(sn_vec3 axis, sn_vec3 *u, sn_vec3 *v) {
    int c = 2;
    if (fabs(axis.x) > fabs(v3_at(axis, c))) c = 0;
    if (fabs(axis.y) > fabs(v3_at(axis, c))) c = 1;
    sn_vec3 e = v3_unit((c + 1) % 3);
    sn_vec3 flat = v3_sub(e, v3_scale(v3_dot(e, axis), axis));
    *u = v3_scale(1 / v3_norm(flat), flat);
    *v = v3_cross(axis, *u);
}

// Which coordinates of a function joint are lengths: those that drive slides and no turn.
static unsigned drive_lengths(const sn_joint_functions *functions) {
    unsigned turns = 0, slides = 0;
    for (int m = 0; m < functions->nmove; m++) {
        const sn_function *f = &functions->move[m].function;
        unsigned *driven = functions->move[m].turns ? &turns : &slides;
        for (int i = 0; i < f->nargument; i++) *driven |= 1u << f->argument[i];
    }
    return slides & ~turns;
}

// Check one entry and turn it into what the sweeps use; tree and indices come later.
static sn_status build_joint(const building *b, int i, sn_joint *out) {
    const sn_joint_desc *d = &b->from->joint[i].desc;
    const sn_joint_ops *ops = sn_joint_ops_of(d->type);
    size_t length = strlen(joint_name(b, i));
    if (length == 0)
        return sn_fail(b->error, SN_ERR_MODEL, b->from->joint[i].line, "joint %d has no name", i);
    if (length > SN_MAX_NAME) return joint_fail(b, i, "the name is longer than 255 bytes");
    if (ops == NULL) return joint_fail(b, i, "unknown joint type");
    if (d->parent < -1 || d->parent >= (int)b->from->njoint)
        return joint_fail(b, i, "its parent does not exist");
    if (d->parent == i) return joint_fail(b, i, "it is its own parent");
    if (!all_finite(d->position, 3)) return joint_fail(b, i, "position is not finite");
    for (int k = 0; k < SN_MAX_JOINT_DOFS; k++)
        if (!(d->speed[k] >= 0) || !isfinite(d->speed[k]))
            return joint_fail(b, i, "a speed must be a number, 0 (for none) or above");
    if (!(d->mass >= 0) || !isfinite(d->mass))
        return joint_fail(b, i, "mass must be a number, 0 or above");
    if (!all_finite(d->centre, 3)) return joint_fail(b, i, "the centre of mass is not finite");
    const sn_joint_entry *entry = &b->from->joint[i];
    if (entry->wrong != NULL && entry->wrong_move >= 0)
        return sn_fail(b->error, SN_ERR_MODEL, entry->line, "joint \"%.80s\", move %d: %s",
                       joint_name(b, i), entry->wrong_move + 1, entry->wrong);
    if (entry->wrong != NULL) return joint_fail(b, i, entry->wrong);

    *out = (sn_joint){.ops = ops,
                      .type = d->type,
                      .id = i,
                      .nq = sn_desc_nq(d),
                      .nv = sn_desc_nv(d),
                      .curved = ops->curve != NULL || ops->bend != NULL,
                      .pitch = d->pitch,
                      .aligned = -1,
                      .aligned2 = -1};
    for (int k = 0; k < SN_MAX_JOINT_DOFS; k++) out->lengths |= ops->lengths[k] ? 1u << k : 0;
    if (d->type == SN_JOINT_FUNCTION) out->lengths = drive_lengths(d->functions);
    for (int k = 0; k < out->nv; k++) sn_joint_find_whole(out, k, d->lower[k], d->upper[k]);
    double q[4], a[3];
    if (!sn_unit(d->stance, 4, q)) return joint_fail(b, i, "stance is zero or not finite");
    if (!sn_unit(d->rotation, 4, q)) return joint_fail(b, i, "rotation is zero or not finite");
    out->offset.p = v3_from(d->position);
    out->turned = q[1] != 0 || q[2] != 0 || q[3] != 0;
    out->offset.R =
        out->turned ? sn_mat3_from_quat((sn_quat){q[0], q[1], q[2], q[3]}) : m3_identity();
    if (uses_axis(d->type)) {
        if (!sn_unit(d->axis, 3, a)) return joint_fail(b, i, "axis is zero or not finite");
        out->axis = v3_from(a);
        out->aligned = aligned_axis(out->axis);
        across(out->axis, &out->u, &out->v);
    }
    if (d->type == SN_JOINT_UNIVERSAL) {
        if (!sn_unit(d->axis2, 3, a)) return joint_fail(b, i, "axis2 is zero or not finite");
        out->axis2 = v3_from(a);
        out->aligned2 = aligned_axis(out->axis2);
    }
    if (d->type == SN_JOINT_BALL) {
        const double *t = d->twist;
        out->cone = d->swing != INFINITY || t[0] != -INFINITY || t[1] != INFINITY;
        out->swing = d->swing;
        out->twist[0] = t[0];
        out->twist[1] = t[1];
        out->turn = d->turn;
        if (!(d->swing > 0)) return joint_fail(b, i, "swing must be above 0");
        if (!(d->turn > 0)) return joint_fail(b, i, "turn must be above 0");
        if (d->turn != INFINITY && (out->cone || d->nreach != 0))
            return joint_fail(b, i, "it has a turn and another limit: take one of them");
        out->cone = out->cone || d->turn < 0x1.921fb54442d18p+1;
        if (d->nreach != 0) {
            out->cone = true;
            out->nreach = d->nreach;
            out->reach = d->reach[0];
            const char *wrong = sn_reach_check(out);
            if (wrong != NULL) return joint_fail(b, i, wrong);
            if (d->swing != INFINITY)
                return joint_fail(b, i, "it has a swing and a reach cone: take one of them");
        }
        if (!(t[0] <= t[1]) || t[0] == INFINITY || t[1] == -INFINITY)
            return joint_fail(b, i, "twist must be two limits, the lower one first");
    }
    if (d->type == SN_JOINT_SCREW && !isfinite(d->pitch))
        return joint_fail(b, i, "pitch is not finite");
    if (d->type == SN_JOINT_EULER && !order_axes(d->order, out->order))
        return joint_fail(b, i, "order must be three of X, Y, Z, no two neighbours equal");
    return check_limits(b, i, ops);
}

static const char *desc_name(const void *owner, int i) {
    return ((const sn_model *)owner)->desc[i].name;
}

static const char *marker_desc_name(const void *owner, int i) {
    return ((const sn_model *)owner)->marker[i].name;
}

static sn_status build_names(const building *b) {
    sn_model *m = b->model;
    for (int i = 0; i < m->njoint; i++)
        if (sn_names_add(&m->joint_names, i, desc_name, m) != i)
            return joint_fail(b, i, "another joint has the same name");
    return SN_OK;
}

// Exactly one joint without a parent.
static sn_status find_root(const building *b) {
    sn_model *m = b->model;
    m->root = -1;
    for (int i = 0; i < m->njoint; i++) {
        if (b->from->joint[i].desc.parent >= 0) continue;
        if (m->root >= 0)
            return sn_fail(b->error, SN_ERR_MODEL, b->from->joint[i].line,
                           "joint \"%.80s\": it has no parent, but \"%.80s\" is the root already",
                           joint_name(b, i), joint_name(b, m->root));
        m->root = i;
    }
    return SN_OK;
}

// A joint that no walk from the root reaches hangs on a cycle: name one that lies on it.
static sn_status cycle_fail(const building *b, int i) {
    for (int step = 0; step < b->model->njoint; step++) i = b->from->joint[i].desc.parent;
    return joint_fail(b, i, "it is its own ancestor: the parents form a cycle");
}

// Joints depth first, children in file order. `built` is in file order, scratch has 2 njoint ints.
static sn_status sweep_order(const building *b, const sn_joint *built, int *scratch) {
    sn_model *m = b->model;
    int *first = scratch, *next = scratch + m->njoint;
    for (int i = 0; i < m->njoint; i++) {
        first[i] = next[i] = -1;
        m->nchild[i] = 0;
        m->sweep_of[i] = -1;
    }
    // backwards, so that each list of children comes out in file order
    for (int i = m->njoint - 1; i >= 0; i--) {
        int parent = b->from->joint[i].desc.parent;
        if (parent < 0) continue;
        next[i] = first[parent];
        first[parent] = i;
        m->nchild[parent]++;
    }
    int placed = 0;
    for (int i = m->root; i >= 0;) {
        m->sweep_of[i] = placed;
        m->joint[placed] = built[i];
        int parent = b->from->joint[i].desc.parent;
        m->joint[placed++].parent = parent < 0 ? -1 : m->sweep_of[parent];
        // down, else across, else up until one can go across
        if (first[i] >= 0) {
            i = first[i];
            continue;
        }
        while (i >= 0 && next[i] < 0) i = b->from->joint[i].desc.parent;
        if (i >= 0) i = next[i];
    }
    if (placed == m->njoint) return SN_OK;
    int lost = 0;
    while (m->sweep_of[lost] >= 0) lost++;
    return cycle_fail(b, lost);
}

// Coordinates and velocities in file order, slots in sweep order, and the pattern of the Hessian.
// scratch has 2 njoint ints.
static void number_dofs(sn_model *m, int *scratch) {
    int q = 0, v = 0, slot = 0;
    for (int i = 0; i < m->njoint; i++) {
        sn_joint *j = &m->joint[m->sweep_of[i]];
        j->q0 = q;
        j->v0 = v;
        for (int k = 0; k < j->nv; k++) {
            const sn_joint_desc *d = &m->desc[i];
            m->lower[v + k] = d->lower[k];
            m->upper[v + k] = d->upper[k];
            m->gain[v + k] = d->locked[k] ? 0 : d->strength[k];
            if (m->gain[v + k] != 1) m->gained = true;
        }
        q += j->nq;
        v += j->nv;
    }
    m->sorted = true;
    int *last = scratch, *depth = scratch + m->njoint;  // by sweep position
    for (int k = 0; k < m->njoint; k++) {
        sn_joint *j = &m->joint[k];
        j->slot = slot;
        last[k] = j->parent < 0 ? -1 : last[j->parent];
        depth[k] = j->parent < 0 ? 1 : depth[j->parent] + 1;
        if (depth[k] > m->depth) m->depth = depth[k];
        unsigned angles = j->ops->angles;
        m->curved = m->curved || j->curved;
        m->odd = m->odd || j->nv == 4 || j->nv == 5;
        if (j->ops->quaternion >= 0) m->quaternion[m->nquaternion++] = k;
        if (j->cone) m->ncone++;
        if (j->nreach > 0) j->reach = m->desc[j->id].reach[0];
        j->leaf = true;
        if (j->parent >= 0) m->joint[j->parent].leaf = false;
        for (int i = 0; i < j->nv; i++, slot++) {
            m->path.parent[slot] = last[k];
            last[k] = slot;
            m->v_of[slot] = j->v0 + i;
            if (j->v0 + i != slot) m->sorted = false;
            if (angles >> i & 1) m->angle[m->nangle++] = (struct sn_angle_place){j->q0 + i, slot};
        }
    }
    // `depth` is done with: remember there which parents have a child already, from the end
    for (int k = 0; k < m->njoint; k++) depth[k] = 0;
    for (int k = m->njoint - 1; k > 0; k--) {
        m->joint[k].last = depth[m->joint[k].parent] == 0;
        depth[m->joint[k].parent] = 1;
    }
    sn_path_build(&m->path);
}

static sn_status build_markers(const building *b) {
    sn_model *m = b->model;
    for (int i = 0; i < m->nmarker; i++) {
        const sn_marker_entry *entry = &b->from->marker[i];
        const sn_marker_desc *d = &entry->desc;
        const char *name = marker_name(b, i), *what = NULL;
        if (strlen(name) == 0)
            what = "it has no name";
        else if (strlen(name) > SN_MAX_NAME)
            what = "the name is longer than 255 bytes";
        else if (d->joint < 0 || d->joint >= m->njoint)
            what = "its joint does not exist";
        else if (!all_finite(d->position, 3))
            what = "position is not finite";
        else if (!(d->weight >= 0) || !isfinite(d->weight))
            what = "weight must be a number, 0 or above";
        else if (sn_names_add(&m->marker_names, i, marker_desc_name, m) != i)
            what = "another marker has the same name";
        if (what != NULL)
            return sn_fail(b->error, SN_ERR_MODEL, entry->line, "marker \"%.80s\": %s", name, what);
    }
    return SN_OK;
}

typedef struct scratch {
    sn_joint *built;
    int *ints;
} scratch;

static void layout_model(sn_model *m, const sn_builder *b, char **pool, double **numbers,
                         scratch *work, sn_layout *layout) {
    int nv = m->nv;
    size_t njoint = (size_t)m->njoint, nmarker = (size_t)m->nmarker, n = (size_t)nv;
    m->joint = sn_layout_take(layout, njoint, sizeof *m->joint);
    m->sweep_of = sn_layout_take(layout, njoint, sizeof *m->sweep_of);
    m->desc = sn_layout_take(layout, njoint, sizeof *m->desc);
    m->quaternion = sn_layout_take(layout, njoint, sizeof *m->quaternion);
    m->nchild = sn_layout_take(layout, njoint, sizeof *m->nchild);
    m->marker = sn_layout_take(layout, nmarker, sizeof *m->marker);
    m->lower = sn_layout_take(layout, n, sizeof *m->lower);
    m->upper = sn_layout_take(layout, n, sizeof *m->upper);
    m->gain = sn_layout_take(layout, n, sizeof *m->gain);
    m->v_of = sn_layout_take(layout, n, sizeof *m->v_of);
    m->angle = sn_layout_take(layout, n, sizeof *m->angle);
    sn_path_layout(&m->path, nv, layout);
    sn_names_layout(&m->joint_names, njoint, layout);
    sn_names_layout(&m->marker_names, nmarker, layout);
    sn_couplings_layout(m, b, nv, numbers, layout);
    sn_loops_layout(m, b, layout);
    sn_shapes_layout(m, b, layout);
    sn_frames_layout(m, b, layout);
    *pool = sn_layout_take(layout, b->names_used, 1);
    for (int i = 0; i < m->njoint; i++) {
        const sn_joint_functions *from = b->joint[i].desc.functions, *to;
        if (from == NULL) continue;
        to = sn_functions_layout(from, layout);
        sn_drive *drive = sn_drive_layout(from, layout);
        if (to == NULL) continue;  // measuring
        m->desc[i].functions = to;
        m->joint[i].drive = drive;  // file order for now; build() keeps it
    }
    work->built = sn_layout_take(layout, njoint, sizeof *work->built);
    work->ints = sn_layout_take(layout, 2 * njoint, sizeof *work->ints);
}

static sn_status build(const building *b, scratch *work) {
    sn_model *m = b->model;
    for (int i = 0; i < m->njoint; i++) {
        const sn_drive *drive = m->joint[i].drive;
        SN_TRY(build_joint(b, i, &work->built[i]));
        work->built[i].drive = drive;
    }
    SN_TRY(build_names(b));
    SN_TRY(find_root(b));
    if (m->root < 0) return cycle_fail(b, 0);
    SN_TRY(sweep_order(b, work->built, work->ints));
    number_dofs(m, work->ints);
    SN_TRY(build_markers(b));
    SN_TRY(sn_couplings_build(m, b->from, b->error));
    SN_TRY(sn_loops_build(m, b->from, b->error));
    SN_TRY(sn_shapes_build(m, b->from, m->name, b->error));
    return sn_frames_build(m, b->from, m->name, b->error);
}

sn_status sn_builder_finish(const sn_builder *builder, sn_model **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(builder, error);
    SN_NEED(out, error);
    if (builder->status != SN_OK) {
        if (builder->status == SN_ERR_SIZE)
            return sn_fail(error, SN_ERR_SIZE, 0,
                           "more than %d joints, %d markers, %d couplings, %d loops, %d shapes, %d "
                           "excluded pairs or %d frames",
                           SN_MAX_JOINTS, SN_MAX_MARKERS, SN_MAX_COUPLINGS, SN_MAX_LOOPS,
                           SN_MAX_SHAPES, SN_MAX_EXCLUDED, SN_MAX_FRAMES);
        return sn_fail(error, builder->status, 0, "%s", sn_status_text(builder->status));
    }
    if (strlen(builder->names) > SN_MAX_NAME)
        return sn_fail(error, SN_ERR_MODEL, 0, "the model's name is longer than %d bytes",
                       SN_MAX_NAME);
    if (builder->njoint == 0) return sn_fail(error, SN_ERR_MODEL, 0, "the model has no joints");

    sn_model m = {.allocator = builder->allocator,
                  .njoint = (int)builder->njoint,
                  .nmarker = (int)builder->nmarker};
    for (int i = 0; i < m.njoint; i++) {
        // a joint of no known type has none, and is told apart below, with its name
        m.nq += sn_desc_nq(&builder->joint[i].desc);
        m.nv += sn_desc_nv(&builder->joint[i].desc);
    }
    char *names;
    double *numbers;
    scratch work;
    sn_layout layout = {0};
    sn_model *model = sn_layout_take(&layout, 1, sizeof *model);
    layout_model(&m, builder, &names, &numbers, &work, &layout);
    void *block = sn_layout_acquire(&layout, &builder->allocator, &m.owner);
    if (block == NULL) return sn_fail_memory(error);
    layout = (sn_layout){.block = block};
    model = sn_layout_take(&layout, 1, sizeof *model);
    layout_model(&m, builder, &names, &numbers, &work, &layout);
    *model = m;
    sn_couplings_copy(model, builder, numbers);

    // names move into the model
    memcpy(names, builder->names, builder->names_used);
    model->name = names;
    for (int i = 0; i < m.njoint; i++) {
        const sn_joint_functions *functions = model->desc[i].functions;
        model->desc[i] = builder->joint[i].desc;
        model->desc[i].functions = functions;
        model->desc[i].name = names + builder->joint[i].name;
    }
    for (int i = 0; i < m.nmarker; i++) {
        model->marker[i] = builder->marker[i].desc;
        model->marker[i].name = names + builder->marker[i].name;
    }
    building b = {builder, model, error};
    sn_status status = build(&b, &work);
    if (status != SN_OK) {
        sn_model_destroy(model);
        return status;
    }
    *out = model;
    return SN_OK;
}

void sn_model_destroy(sn_model *model) {
    if (model == NULL) return;
    sn_allocator allocator = model->allocator;
    sn_release(&allocator, model->owner);
}
