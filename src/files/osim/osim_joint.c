// SPDX-License-Identifier: MIT
// What a joint of an OpenSim file does, as joints of a model.
//
// A joint leads from a frame F in its parent body to a frame M in its child. With the three rotations
// R1 R2 R3 about axes a1 a2 a3 and the translations t1 t2 t3 along axes b1 b2 b3 (all of them made
// unit vectors, as Simbody does),
//
//   R = R1 R2 R3        p = b1 t1 + b2 t2 + b3 t3        (M in F)
//
// which is a list of moves, outermost first: slides along the b's, then turns about the a's. The other
// way round (a reversed joint, or one that is walked from its child) it is the list backwards, each
// move taken back.
//
//   EllipsoidJoint: R of three angles about x, y, z, and p = (r_x n_x, r_y n_y, r_z n_z) with n = R z =
//   (sin y, -sin x cos y, cos x cos y). The products are sums of two sines each, of x + y and x - y.
//   ScapulothoracicJoint: the same on the thorax turned by a quarter about z, then the winging about an
//   axis in the scapula's plane.
//
// The list is cut into runs that share no coordinate. A run of one plain move is a hinge or a slider
// with the coordinate's name; any other is a `function` joint, called by its coordinate or, where there
// are several, as in the file. What does not move goes into the offset of the next joint.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files/osim/osim.h"
#include "model/model.h"

#define NAME(u, at) ((u)->names + (at))

enum { MOVES = 16, COORDINATES = 6 };

static const double pi = 0x1.921fb54442d18p+1;

// A move; its function's arguments are coordinates of the joint, counted from its first.
typedef struct move {
    bool turns;
    sn_vec3 axis;
    sn_function f;
} move;

typedef struct planning {
    sn_osim *u;
    const sn_osim_joint *j;
    int n;
    move moves[MOVES];
    int count;     // joints of several coordinates
    double *room;  // for numbers that no file states
    double *work;  // to evaluate a function
} planning;

static const sn_osim_coordinate *coordinate(const planning *p, int k) {
    return &p->u->coordinate[p->j->coordinate + (size_t)k];
}

// Locked away from 0, where a pose may start: it becomes a constant.
static bool is_held(const sn_osim_coordinate *c) { return c->locked && c->value != 0; }

static sn_status find_coordinate(const planning *p, size_t name, int line, int *out) {
    const sn_osim *u = p->u;
    for (int i = 0; i < (int)p->j->ncoordinate; i++) {
        *out = i;
        if (strcmp(NAME(u, coordinate(p, i)->name), NAME(u, name)) == 0) return SN_OK;
    }
    return sn_fail(u->error, SN_ERR_PARSE, line,
                   "joint \"%.60s\" follows \"%.60s\", which is no coordinate of it",
                   NAME(u, p->j->name), NAME(u, name));
}

// A function where its coordinates have their default values.
static double value_at_default(const planning *p, const sn_function *f) {
    double q[COORDINATES] = {0};
    for (int i = 0; i < f->nargument; i++) q[f->argument[i]] = coordinate(p, f->argument[i])->value;
    sn_jet jet;
    sn_driver driver = sn_driver_make(f, p->work);
    sn_driver_at(&driver, q, &jet);
    return jet.f;
}

// Numbers that stay while the joint is planned.
static const double *keep(planning *p, const double *from, int n) {
    double *to = p->room;
    memcpy(to, from, (size_t)n * sizeof *to);
    p->room += n;
    return to;
}

static void set_constant(planning *p, move *m, double value) {
    m->f = (sn_function){.type = SN_FUNCTION_CONSTANT, .scale = 1, .ny = 1};
    m->f.y = keep(p, &value, 1);
}

static move *add_move(planning *p, bool turns, sn_vec3 axis) {
    move *m = &p->moves[p->n++];
    m->turns = turns;
    m->axis = axis;
    return m;
}

static void add_constant(planning *p, bool turns, sn_vec3 axis, double value) {
    set_constant(p, add_move(p, turns, axis), value);
}

// amplitude sin(a x + b y + phase) along an axis, x and y being the first two coordinates
static void add_wave(planning *p, sn_vec3 axis, double amplitude, double a, double b,
                     double phase) {
    move *m = add_move(p, false, axis);
    const double numbers[5] = {amplitude, a, b, phase, 0};
    m->f = (sn_function){.type = SN_FUNCTION_SINE, .scale = 1, .nargument = 2, .argument = {0, 1}};
    m->f.ny = 5;
    m->f.y = keep(p, numbers, 5);
}

static sn_status add_axis(planning *p, int k) {
    const sn_osim *u = p->u;
    const sn_osim_axis *a = &p->j->axis[k];
    const sn_osim_function *from = &a->function;
    if (from->ny == 0) return SN_OK;  // not in the file
    sn_function f = {.type = from->type,
                     .scale = from->scale,
                     .nargument = a->ncoordinate,
                     .nx = (int)from->nx,
                     .ny = (int)from->ny,
                     .x = u->numbers + from->x,
                     .y = u->numbers + from->y};
    for (int i = 0; i < a->ncoordinate; i++) {
        SN_TRY(find_coordinate(p, a->coordinate[i], a->line, &f.argument[i]));
        if (f.argument[i] >= COORDINATES)
            return sn_fail(u->error, SN_ERR_PARSE, a->line,
                           "joint \"%.80s\" has more than %d coordinates", NAME(u, p->j->name),
                           COORDINATES);
    }
    sn_vec3 axis = v3_from(a->axis);
    double length = v3_norm(axis);
    if (f.type == SN_FUNCTION_CONSTANT && f.scale * f.y[0] == 0) return SN_OK;
    if (!(length > 0) || !isfinite(length))
        return sn_fail(u->error, SN_ERR_PARSE, a->line, "joint \"%.80s\": an axis is 0 0 0",
                       NAME(u, p->j->name));
    add_move(p, k < 3, v3_scale(1 / length, axis))->f = f;
    return SN_OK;
}

// The moves of an ellipsoid, and of a scapula on it.
static void add_ellipsoid(planning *p, bool wings) {
    const double *r = p->j->radii;
    // the thorax is turned by a quarter, and its radii with it
    const double radii[3] = {wings ? r[1] : r[0], wings ? r[0] : r[1], r[2]};
    if (wings) add_constant(p, true, v3_unit(2), pi / 2);
    add_wave(p, v3_unit(0), radii[0], 0, 1, 0);
    for (int side = 1; side >= -1; side -= 2) {
        add_wave(p, v3_unit(1), -radii[1] / 2, 1, side, 0);
        add_wave(p, v3_unit(2), radii[2] / 2, 1, side, pi / 2);
    }
    for (int k = 0; k < 3; k++) (void)add_axis(p, k);
    if (!wings) return;
    const double *origin = p->j->wing_origin;
    double sine, cosine;
    sn_sincos(p->j->wing_direction, &sine, &cosine);
    add_constant(p, true, v3_unit(2), -pi / 2);
    for (int i = 0; i < 2; i++) add_constant(p, false, v3_unit(i), origin[i]);
    (void)add_axis(p, 3);
    p->moves[p->n - 1].turns = true;
    p->moves[p->n - 1].axis = v3(-sine, cosine, 0);
    for (int i = 0; i < 2; i++) add_constant(p, false, v3_unit(i), -origin[i]);
}

static sn_status list_moves(planning *p, bool inverse) {
    const sn_osim_joint_type *type = &sn_osim_joint_types[p->j->type];
    if (type->ellipsoid) {
        add_ellipsoid(p, type->wings);
    } else {
        for (int k = 3; k < SN_OSIM_AXES; k++) SN_TRY(add_axis(p, k));
        for (int k = 0; k < 3; k++) SN_TRY(add_axis(p, k));
    }
    for (int i = 0; i < p->n && inverse; i++) p->moves[i].f.scale *= -1;
    for (int i = 0, k = p->n - 1; i < k && inverse; i++, k--) {
        move t = p->moves[i];
        p->moves[i] = p->moves[k];
        p->moves[k] = t;
    }
    return SN_OK;
}

// Which of the joint's coordinates a move follows, a bit each.
static unsigned follows(const move *m) {
    unsigned bits = 0;
    for (int i = 0; i < m->f.nargument; i++) bits |= 1u << m->f.argument[i];
    return bits;
}

// Put the values of held coordinates into a linear function or a sine of several.
static void fold(planning *p, sn_function *f) {
    bool sine = f->type == SN_FUNCTION_SINE;
    if (!sine && f->type != SN_FUNCTION_LINEAR) return;
    double y[SN_MAX_ARGUMENTS + 3], *slope = y + sine, *rest = slope + f->nargument;
    int n = 0;
    memcpy(y, f->y, (size_t)f->ny * sizeof *y);
    double sum = *rest, offset = sine ? rest[1] : 0;
    for (int i = 0; i < f->nargument; i++) {
        const sn_osim_coordinate *c = coordinate(p, f->argument[i]);
        if (is_held(c)) {
            sum += slope[i] * c->value;
            continue;
        }
        slope[n] = slope[i];
        f->argument[n++] = f->argument[i];
    }
    if (n == f->nargument) return;
    slope[n] = sum;
    slope[n + 1] = offset;
    f->nargument = n;
    f->ny = n + 1 + 2 * sine;
    f->y = keep(p, y, f->ny);
}

// What follows only coordinates that are held becomes a constant.
static sn_status hold(planning *p) {
    for (int i = 0; i < p->n; i++) {
        move *m = &p->moves[i];
        bool held = true;
        for (int k = 0; k < m->f.nargument; k++)
            held = held && is_held(coordinate(p, m->f.argument[k]));
        double value = value_at_default(p, &m->f);
        if (!isfinite(value) || fabs(value) > 1e50)
            return sn_fail(p->u->error, SN_ERR_PARSE, p->j->line,
                           "joint \"%.80s\": a function has no finite value at the coordinate's "
                           "default",
                           NAME(p->u, p->j->name));
        if (held)
            set_constant(p, m, value);
        else
            fold(p, &m->f);
    }
    return SN_OK;
}

// Slides next to each other may go in any order: those that follow what turns come next to the turns,
// so that they share a joint with them and no more.
static void sort_slides(planning *p) {
    unsigned turning = 0;
    for (int i = 0; i < p->n; i++)
        if (p->moves[i].turns) turning |= follows(&p->moves[i]);
    for (int first = 0; first < p->n;) {
        int end = first;
        while (end < p->n && !p->moves[end].turns) end++;
        bool behind = first > 0;  // the turns come before
        for (int pass = first; pass < end; pass++) {
            for (int i = first; i + 1 < end; i++) {
                int rank[2];
                for (int side = 0; side < 2; side++) {
                    unsigned bits = follows(&p->moves[i + side]);
                    rank[side] = bits == 0 ? 0 : bits & turning ? 2 : 1;
                    if (behind) rank[side] = -rank[side];
                }
                if (rank[0] <= rank[1]) continue;
                move t = p->moves[i];
                p->moves[i] = p->moves[i + 1];
                p->moves[i + 1] = t;
            }
        }
        first = end == first ? first + 1 : end;
    }
}

// --- from moves to joints ----------------------------------------------------------------------------

static void advance(sn_osim_chain *chain, const move *m, double value) {
    sn_vec3 along = m3_mul(&chain->here.R, m->axis);
    if (!m->turns) {
        chain->here.p = v3_add(chain->here.p, v3_scale(value, along));
        return;
    }
    sn_mat3 R = sn_mat3_from_quat(sn_quat_exp(v3_scale(value, m->axis)));
    chain->here.R = m3_mulm(&chain->here.R, &R);
}

static void add_joint(sn_builder *builder, sn_osim_chain *chain, sn_joint_desc *d, int line) {
    sn_quat r = sn_quat_from_mat3(chain->here.R);
    const sn_vec3 p = chain->here.p;
    const double position[3] = {p.x, p.y, p.z}, rotation[4] = {r.w, r.x, r.y, r.z};
    memcpy(d->position, position, sizeof position);
    memcpy(d->rotation, rotation, sizeof rotation);
    d->parent = chain->last;
    chain->last = sn_builder_joint_at(builder, d, line);
    chain->here = (sn_frame){m3_identity(), {0, 0, 0}};
}

static void set_limits(const sn_osim_coordinate *c, sn_joint_desc *d, int k) {
    if (c->clamped) d->lower[k] = c->range[0], d->upper[k] = c->range[1];
    d->locked[k] = c->locked;
    if (is_held(c)) d->lower[k] = d->upper[k] = c->value;
}

// One move by one coordinate, once its own length: a hinge or a slider.
static bool is_plain(const move *m) {
    return m->f.type == SN_FUNCTION_LINEAR && m->f.nargument == 1 &&
           fabs(m->f.scale * m->f.y[0]) == 1;
}

static void add_plain(const planning *p, const move *m, sn_builder *builder, sn_osim_chain *chain) {
    const sn_osim_coordinate *c = coordinate(p, m->f.argument[0]);
    sn_joint_desc d = sn_joint_default(m->turns ? SN_JOINT_HINGE : SN_JOINT_SLIDER);
    sn_vec3 axis = v3_scale(m->f.scale * m->f.y[0], m->axis);
    d.name = NAME(p->u, c->name);
    d.axis[0] = axis.x, d.axis[1] = axis.y, d.axis[2] = axis.z;
    set_limits(c, &d, 0);
    double start = m->f.scale * m->f.y[1];
    if (start != 0) advance(chain, m, start);
    add_joint(builder, chain, &d, c->line);
}

// Take a function's value at the defaults out of it: the bone's length is then in the joint's offset,
// and what is left is how the joint moves.
static void take_out(planning *p, move *m, sn_osim_chain *chain) {
    sn_function *f = &m->f;
    double value = value_at_default(p, f), own = value / f->scale;
    if (value == 0 || f->scale == 0 || !isfinite(own)) return;
    double *y = p->room;
    f->y = keep(p, f->y, f->ny);
    bool points = f->type == SN_FUNCTION_SPLINE || f->type == SN_FUNCTION_POLYLINE;
    if (f->type == SN_FUNCTION_POLYNOMIAL) y[0] -= own;
    if (f->type == SN_FUNCTION_LINEAR || f->type == SN_FUNCTION_SINE) y[f->ny - 1] -= own;
    for (int i = 0; i < f->ny && points; i++) y[i] -= own;
    advance(chain, m, value);
}

// The file's name of the joint, which may be that of a coordinate, too; a second one of several
// coordinates is numbered.
static void joint_name(planning *p, char out[SN_MAX_NAME + 32]) {
    const sn_osim *u = p->u;
    const char *name = NAME(u, p->j->name);
    bool taken = strcmp(name, "ground") == 0;
    for (size_t i = 0; i < u->ncoordinate; i++)
        taken = taken || strcmp(name, NAME(u, u->coordinate[i].name)) == 0;
    int n = snprintf(out, SN_MAX_NAME + 32, "%s%s", name, taken ? "_joint" : "");
    if (++p->count > 1) (void)snprintf(out + n, (size_t)(SN_MAX_NAME + 32 - n), "_%d", p->count);
}

// Moves [first, end) as one joint.
static void add_function(planning *p, int first, int end, sn_builder *builder,
                         sn_osim_chain *chain) {
    sn_joint_functions functions = {0};
    sn_joint_desc d = sn_joint_default(SN_JOINT_FUNCTION);
    int place[COORDINATES], turned = first;
    char name[SN_MAX_NAME + 32];
    while (turned < end && !p->moves[turned].turns) turned++;
    for (int i = first; i < turned; i++) {
        move *m = &p->moves[i];
        if (m->f.type != SN_FUNCTION_CONSTANT) take_out(p, m, chain);
    }
    unsigned bits = 0;
    for (int i = first; i < end; i++) bits |= follows(&p->moves[i]);
    for (int k = 0; k < COORDINATES; k++) {
        if ((bits >> k & 1) == 0) continue;
        place[k] = functions.ncoordinate++;
        functions.coordinate[place[k]] = NAME(p->u, coordinate(p, k)->name);
        set_limits(coordinate(p, k), &d, place[k]);
    }
    for (int i = first; i < end; i++) {
        const move *m = &p->moves[i];
        sn_joint_move *to = &functions.move[functions.nmove++];
        *to = (sn_joint_move){m->turns, {m->axis.x, m->axis.y, m->axis.z}, m->f};
        for (int a = 0; a < m->f.nargument; a++) to->function.argument[a] = place[m->f.argument[a]];
    }
    d.name = functions.coordinate[0];
    if (functions.ncoordinate > 1) {
        joint_name(p, name);
        d.name = name;
    }
    d.functions = &functions;
    add_joint(builder, chain, &d, p->j->line);
}

// The end of the run that begins with move i: no coordinate of it is followed behind.
static int run_end(const planning *p, int i) {
    unsigned bits = 0;
    int end = i + 1;
    for (int k = i; k < end; k++) {
        bits |= follows(&p->moves[k]);
        for (int n = end; n < p->n; n++)
            if (follows(&p->moves[n]) & bits) end = n + 1;
    }
    return end;
}

static void tell_unmoved(const planning *p) {
    unsigned bits = 0;
    for (int i = 0; i < p->n; i++) bits |= follows(&p->moves[i]);
    for (int k = 0; k < (int)p->j->ncoordinate; k++) {
        const sn_osim_coordinate *c = coordinate(p, k);
        const char *name = NAME(p->u, c->name);
        if (k < COORDINATES && (bits >> k & 1) != 0) {
            if (c->prescribed && !sn_osim_is_prescribed(c))
                sn_osim_note(p->u, "%.60s is prescribed over time in the file, and free here",
                             name);
            continue;
        }
        if (is_held(c))
            sn_osim_note(p->u, "%.60s is held at %.6g, where it is locked", name, c->value);
        else
            sn_osim_note(p->u, "%.60s moves nothing", name);
    }
}

sn_status sn_osim_add_moves(sn_osim *u, const sn_osim_joint *joint, bool backwards,
                            sn_builder *builder, sn_osim_chain *chain) {
    planning p = {.u = u, .j = joint, .room = u->work, .work = u->work + u->nnumbers + 256};
    SN_TRY(list_moves(&p, joint->reverse != backwards));
    SN_TRY(hold(&p));
    sort_slides(&p);
    for (int i = 0, end; i < p.n; i = end) {
        const move *m = &p.moves[i];
        end = run_end(&p, i);
        if (m->f.type == SN_FUNCTION_CONSTANT)
            advance(chain, m, m->f.scale * m->f.y[0]);
        else if (end == i + 1 && is_plain(m))
            add_plain(&p, m, builder, chain);
        else
            add_function(&p, i, end, builder, chain);
    }
    tell_unmoved(&p);
    return SN_OK;
}
