// SPDX-License-Identifier: MIT
// From tasks to guards.
#include "tasks/guards.h"

#include <string.h>

#include "math/unit.h"
#include "tasks/check.h"

// --- support polygons --------------------------------------------------------------------------------

// Two axes across the normal, with u x v along it.
static void across(sn_vec3 n, sn_vec3 *u, sn_vec3 *v) {
    int least = fabs(n.x) <= fabs(n.y) ? 0 : 1;
    if (fabs(n.z) < fabs(v3_at(n, least))) least = 2;
    *u = v3_cross(v3_unit(least), n);
    *u = v3_scale(1 / v3_norm(*u), *u);
    *v = v3_cross(n, *u);
}

// The convex hull of corners seen along the normal, against the clock; how many of them are on it. Sorted
// by u, then the lower chain and the upper one.
static int hull_of(const double *corners, int n, sn_vec3 normal, sn_vec3 out[2 * SN_MAX_CORNERS]) {
    sn_vec3 u, v, point[SN_MAX_CORNERS];
    across(normal, &u, &v);
    for (int i = 0; i < n; i++) {
        sn_vec3 p = v3_from(corners + 3 * i), flat = v3(v3_dot(u, p), v3_dot(v, p), i);
        int k = i;
        while (k > 0 &&
               (point[k - 1].x > flat.x || (point[k - 1].x == flat.x && point[k - 1].y > flat.y))) {
            point[k] = point[k - 1];
            k--;
        }
        point[k] = flat;
    }
    int count = 0;
    for (int pass = 0; pass < 2; pass++) {
        int floor = count + 1;
        for (int i = 0; i < n; i++) {
            sn_vec3 p = point[pass == 0 ? i : n - 1 - i];
            while (count > floor) {
                sn_vec3 a = out[count - 2], b = out[count - 1];
                if ((b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x) > 0) break;
                count--;
            }
            out[count++] = p;
        }
        count--;  // the last is the first of the other chain
    }
    for (int i = 0; i < count; i++) out[i] = v3_from(corners + 3 * (int)out[i].z);
    return count;
}

// Edge i of a hull: inwards across the normal, of unit length.
static sn_vec3 edge_normal(const sn_vec3 *hull, int count, int i, sn_vec3 normal) {
    sn_vec3 along = v3_sub(hull[(i + 1) % count], hull[i]);
    sn_vec3 in = v3_cross(normal, along);
    return v3_scale(1 / v3_norm(in), in);
}

static const char *check_support(const sn_task *t) {
    double unit[3];
    sn_vec3 hull[2 * SN_MAX_CORNERS];
    if (t->corners == NULL || t->ncorner < 3) return "it needs three corners or more";
    if (t->ncorner > SN_MAX_CORNERS) return "it has more than 64 corners";
    if (!sn_task_numbers(t->corners, 3 * t->ncorner)) return "a corner is not finite or over 1e50";
    if (!sn_unit(t->normal, 3, unit)) return "normal is zero or not finite";
    sn_vec3 n = v3_from(unit);
    int count = hull_of(t->corners, t->ncorner, n, hull);
    double area = 0, size = 0;
    for (int i = 1; i + 1 < count; i++) {
        sn_vec3 a = v3_sub(hull[i], hull[0]), b = v3_sub(hull[i + 1], hull[0]);
        area += v3_dot(n, v3_cross(a, b));
        size = fmax(size, fmax(v3_dot(a, a), v3_dot(b, b)));
    }
    return area > 1e-9 * size ? NULL : "its corners have no area between them";
}

// --- checks ------------------------------------------------------------------------------------------

static double mass_of(const sn_model *m, const sn_task *t, int i) {
    return t->masses != NULL ? t->masses[i] : m->desc[t->joints != NULL ? t->joints[i] : i].mass;
}

static int masses_of(const sn_model *m, const sn_task *t) {
    return t->joints != NULL ? t->njoint : m->njoint;
}

static const char *check_mass(const sn_model *m, const sn_task *t) {
    int n = masses_of(m, t);
    if (n <= 0 || n > m->njoint) return "its joints are none or too many";
    for (int i = 0; t->joints != NULL && i < n; i++)
        if (t->joints[i] < 0 || t->joints[i] >= m->njoint)
            return "one of its joints does not exist";
    if (t->centres != NULL && !sn_task_numbers(t->centres, 3 * n))
        return "a centre is not finite or over 1e50";
    if (t->masses != NULL && !sn_task_masses(t->masses, n))
        return "its masses are negative or add up to nothing";
    double sum = 0;
    for (int i = 0; i < n; i++) sum += mass_of(m, t, i);
    return sum > 0 ? NULL : "the model gives these joints no mass: give \"masses\"";
}

// A coordinate that is a plain number: not a part of a quaternion.
static bool is_plain(const sn_model *m, int v) {
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        if (v < j->v0 || v >= j->v0 + j->nv) continue;
        return j->ops->quaternion < 0 || v - j->v0 < j->ops->quaternion;
    }
    return false;
}

static const char *check_coordinates(const sn_model *m, const sn_task *t) {
    bool any = false;
    if (!sn_task_numbers(t->q_weight, m->nv)) return "a factor is not finite or over 1e50";
    for (int v = 0; v < m->nv; v++) {
        if (t->q_weight[v] == 0) continue;
        any = true;
        if (!is_plain(m, v)) return "a part of a quaternion is no coordinate of a half-space";
    }
    return any ? NULL : "it names no coordinate";
}

const char *sn_guard_check(const sn_model *m, const sn_task *t) {
    double unit[3];
    if (!(fabs(t->distance) <= SN_MAX_NUMBER)) return "distance is not finite or over 1e50";
    if (t->joint < -1 || t->joint >= m->njoint) return "its joint does not exist";
    if (t->joint2 < -1 || t->joint2 >= m->njoint) return "its joint2 does not exist";
    if (t->type == SN_TASK_AVOID) {
        if (t->distance < 0) return "distance is below 0";
        return m->nshape > 0 ? NULL : "the model has no collision shapes";
    }
    if (t->type == SN_TASK_SUPPORT)
        return check_mass(m, t) != NULL ? check_mass(m, t) : check_support(t);
    if (t->q_weight != NULL) return check_coordinates(m, t);
    if (!sn_unit(t->normal, 3, unit)) return "normal is zero or not finite";
    if (!sn_task_numbers(t->goal, 3)) return "its goal is not finite or over 1e50";
    if (!sn_task_numbers(t->local, 3)) return "local is not finite or over 1e50";
    if (t->joint >= 0)
        return t->joint == t->joint2 ? "its point and its plane are on one joint" : NULL;
    if (t->joint2 >= 0) return "the centre of mass has its half-space in the world";
    return check_mass(m, t);
}

// --- building ----------------------------------------------------------------------------------------

typedef struct building {
    const sn_model *m;
    const sn_task *tasks;
    int ntask;
    sn_shape_pair *pair;
    int npair;
} building;

// Does an avoid task ask for this pair?
static bool asks(const sn_model *m, const sn_task *t, const sn_shape_pair *p) {
    int a = m->shape[p->shape[0]].joint, b = m->shape[p->shape[1]].joint;
    if (t->joint < 0) return true;
    if (t->joint2 < 0) return a == t->joint || b == t->joint;
    return (a == t->joint && b == t->joint2) || (a == t->joint2 && b == t->joint);
}

static sn_guard *add(sn_guards *g, sn_guard guard) {
    if (g->guard != NULL) g->guard[g->nguard] = guard;
    g->nguard++;
    return g->guard != NULL ? &g->guard[g->nguard - 1] : NULL;
}

static void add_pair(sn_guards *g, const building *b, int task, const sn_shape_pair *p) {
    const sn_shape_place *shape[2] = {&b->m->shaped[p->shape[0]], &b->m->shaped[p->shape[1]]};
    int plane = shape[0]->type == SN_SHAPE_PLANE ? 0 : shape[1]->type == SN_SHAPE_PLANE ? 1 : -1;
    sn_guard guard = {.kind = SN_GUARD_SEGMENTS,
                      .task = task,
                      .solid = {p->shape[0], p->shape[1]},
                      .radius = shape[0]->radius + shape[1]->radius,
                      .rest = p->rest};
    if (plane < 0) {
        (void)add(g, guard);
        return;
    }
    guard.kind = SN_GUARD_PLANE;
    guard.solid[0] = p->shape[1 - plane];
    guard.solid[1] = p->shape[plane];
    g->seen = g->seen || shape[plane]->joint >= 0;
    bool point = shape[1 - plane]->type == SN_SHAPE_SPHERE;
    for (int end = -1; end <= 1; end += 2) {
        guard.end = point ? 0 : end;
        if (!point || end < 0) (void)add(g, guard);
    }
}

static void add_masses(sn_guards *g, const sn_model *m, const sn_task *t) {
    double sum = 0;
    const int n = masses_of(m, t);
    for (int i = 0; i < n; i++) sum += mass_of(m, t, i);
    for (int i = 0; i < n; i++) {
        const int joint = t->joints != NULL ? t->joints[i] : i;
        const double mass = mass_of(m, t, i);
        if (mass == 0) continue;
        if (g->mass != NULL)
            g->mass[g->nmass] = (sn_guard_mass){
                m->sweep_of[joint], mass / sum,
                v3_from(t->centres != NULL ? t->centres + 3 * i : m->desc[joint].centre)};
        g->nmass++;
    }
}

static void add_terms(sn_guards *g, const sn_model *m, const sn_task *t) {
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        for (int a = 0; a < j->nv; a++) {
            if (t->q_weight[j->v0 + a] == 0) continue;
            if (g->term != NULL)
                g->term[g->nterm] =
                    (sn_guard_term){j->q0 + a, j->v0 + a, j->slot + a, t->q_weight[j->v0 + a]};
            g->nterm++;
        }
    }
}

// Everything, counted while the lists are NULL.
static void add_all(sn_guards *g, const building *b) {
    const sn_model *m = b->m;
    g->nguard = g->nmass = g->nterm = 0;
    g->nsolid = m->nshape;
    for (int i = 0; i < b->ntask; i++) {
        const sn_task *t = &b->tasks[i];
        if (g->first != NULL) g->first[i] = g->nguard;
        if (g->own != NULL) g->own[i] = g->nsolid;
        if (!sn_task_is_guard(t)) continue;
        bool centre = t->type == SN_TASK_SUPPORT ||
                      (t->type == SN_TASK_HALF_SPACE && t->q_weight == NULL && t->joint < 0);
        const int masses = g->nmass;
        if (centre) add_masses(g, m, t);
        const int nmass = g->nmass - masses;
        if (t->type == SN_TASK_AVOID) {
            for (int k = 0; k < b->npair; k++)
                if (asks(m, t, &b->pair[k])) add_pair(g, b, i, &b->pair[k]);
        } else if (centre) {
            int count = t->type == SN_TASK_SUPPORT ? t->ncorner : 1;
            for (int k = 0; k < count; k++)
                (void)add(g,
                          (sn_guard){
                              .kind = SN_GUARD_CENTRE, .task = i, .first = masses, .count = nmass});
        } else if (t->q_weight != NULL) {
            int first = g->nterm;
            add_terms(g, m, t);
            (void)add(g, (sn_guard){.kind = SN_GUARD_COORDINATES,
                                    .task = i,
                                    .first = first,
                                    .count = g->nterm - first});
        } else {
            g->seen = g->seen || t->joint2 >= 0;
            (void)add(
                g,
                (sn_guard){.kind = SN_GUARD_PLANE, .task = i, .solid = {g->nsolid, g->nsolid + 1}});
            g->nsolid += 2;
        }
    }
    if (g->first != NULL) g->first[b->ntask] = g->nguard;
}

static void layout_guards(sn_guards *g, int ntask, sn_layout *layout) {
    g->solid = sn_layout_take(layout, (size_t)g->nsolid, sizeof *g->solid);
    g->guard = sn_layout_take(layout, (size_t)g->nguard, sizeof *g->guard);
    g->mass = sn_layout_take(layout, (size_t)g->nmass, sizeof *g->mass);
    g->term = sn_layout_take(layout, (size_t)g->nterm, sizeof *g->term);
    g->first = sn_layout_take(layout, (size_t)ntask + 1, sizeof *g->first);
    g->corners = sn_layout_take(layout, 3 * (size_t)g->nguard, sizeof *g->corners);
    g->own = sn_layout_take(layout, (size_t)ntask, sizeof *g->own);
}

sn_status sn_guards_create(const sn_model *m, const sn_task *tasks, int ntask,
                           const sn_allocator *allocator, sn_guards **out) {
    building b = {m, tasks, ntask, NULL, 0};
    bool any = false, avoids = false;
    *out = NULL;
    for (int i = 0; i < ntask; i++) {
        any = any || sn_task_is_guard(&tasks[i]);
        avoids = avoids || tasks[i].type == SN_TASK_AVOID;
    }
    if (!any) return SN_OK;
    if (avoids) SN_TRY(sn_pairs_find(m, allocator, &b.pair, &b.npair));
    sn_guards g = {0}, *guards;
    sn_layout layout = {0};
    add_all(&g, &b);
    (void)sn_layout_take(&layout, 1, sizeof *guards);
    layout_guards(&g, ntask, &layout);
    void *block = sn_layout_acquire(&layout, allocator, &g.owner);
    if (block == NULL) {
        sn_release(allocator, b.pair);
        return SN_ERR_MEMORY;
    }
    layout = (sn_layout){.block = block};
    guards = sn_layout_take(&layout, 1, sizeof *guards);
    layout_guards(&g, ntask, &layout);
    add_all(&g, &b);
    if (m->nshape > 0) memcpy(g.solid, m->shaped, (size_t)m->nshape * sizeof *g.solid);
    *guards = g;
    sn_release(allocator, b.pair);
    *out = guards;
    return SN_OK;
}

void sn_guards_destroy(sn_guards *guards, const sn_allocator *allocator) {
    if (guards != NULL) sn_release(allocator, guards->owner);
}

// --- numbers -----------------------------------------------------------------------------------------

static void refresh_half_space(sn_guards *g, const sn_model *m, const sn_task *t, int index) {
    sn_guard *guard = &g->guard[g->first[index]];
    double unit[3];
    guard->least = t->distance;
    if (t->q_weight != NULL) return;
    if (!sn_unit(t->normal, 3, unit)) return;  // checked before
    if (t->joint < 0) {
        guard->normal = v3_from(unit);
        guard->least += v3_dot(guard->normal, v3_from(t->goal));
        return;
    }
    sn_shape_place *point = &g->solid[g->own[index]], *plane = point + 1;
    *point = (sn_shape_place){
        .type = SN_SHAPE_SPHERE, .joint = m->sweep_of[t->joint], .middle = v3_from(t->local)};
    *plane = (sn_shape_place){.type = SN_SHAPE_PLANE,
                              .joint = t->joint2 < 0 ? -1 : m->sweep_of[t->joint2],
                              .middle = v3_from(t->goal),
                              .normal = v3_from(unit),
                              .reach = INFINITY};
}

static void refresh_support(sn_guards *g, const sn_task *t, int index, double weight) {
    sn_vec3 hull[2 * SN_MAX_CORNERS];
    double unit[3];
    if (!sn_unit(t->normal, 3, unit)) return;
    sn_vec3 n = v3_from(unit);
    int count = hull_of(t->corners, t->ncorner, n, hull);
    for (int i = 0; i < g->first[index + 1] - g->first[index]; i++) {
        sn_guard *guard = &g->guard[g->first[index] + i];
        guard->weight = i < count ? weight : 0;
        if (i >= count) continue;
        guard->normal = edge_normal(hull, count, i, n);
        guard->least = t->distance + v3_dot(guard->normal, hull[i]);
    }
}

// A pair keeps the task's distance, or that at rest where it is nearer then.
static void refresh_pairs(sn_guards *g, const sn_task *t, int index) {
    for (int i = g->first[index]; i < g->first[index + 1]; i++) {
        sn_guard *guard = &g->guard[i];
        guard->least = guard->radius + fmin(t->distance, guard->rest);
        if (guard->kind != SN_GUARD_SEGMENTS) continue;
        const double a = v3_norm(g->solid[guard->solid[0]].arm);
        const double c = v3_norm(g->solid[guard->solid[1]].arm);
        guard->near = a + c + guard->least + sqrt(SN_CLOSEST_SOFT * (a * a + c * c));
        if (!(guard->least > 0)) guard->weight = 0;  // two points never touch
    }
}

void sn_guards_refresh(sn_guards *g, const sn_model *m, const sn_task *t, int index, bool active) {
    double weight = active ? t->weight : 0;
    for (int i = g->first[index]; i < g->first[index + 1]; i++) g->guard[i].weight = weight;
    if (t->type == SN_TASK_AVOID) refresh_pairs(g, t, index);
    if (t->type == SN_TASK_HALF_SPACE) refresh_half_space(g, m, t, index);
    if (t->type == SN_TASK_SUPPORT) refresh_support(g, t, index, weight);
}
