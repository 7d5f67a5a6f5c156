// SPDX-License-Identifier: MIT
// From two frames of a model to a chain of moves about and along z.
#include "arm/chain.h"

#include <stdio.h>
#include <string.h>

#include "arm/curves.h"
#include "math/atan2.h"
#include "math/exp.h"
#include "math/rotation.h"
#include "math/sincos.h"
#include "model/model.h"

static const double turn_whole = 6.283185307179586;
// Files round: +-3.14 stands for a whole turn (as in sn_solver), which an arm may pass through.
static const double turn_gap = 0.1;

typedef struct building {
    const sn_model *model;
    const sn_arm_options *options;
    const double *pose;
    sn_arm_chain *c;
    sn_frame fixed;  ///< what has come since the last move
    sn_error *error;
} building;

static const sn_frame unmoved = {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {0, 0, 0}};

static sn_frame inverse(const sn_frame *f) {
    sn_mat3 R = m3_transpose(&f->R);
    return (sn_frame){R, v3_neg(m3_mul(&R, f->p))};
}

static void push(building *b, const sn_frame *f) { b->fixed = frame_mul(&b->fixed, f); }

// Exactly where the axis is one of the coordinate axes, so that round numbers stay round.
static sn_mat3 z_to(sn_vec3 axis) {
    for (int i = 0; i < 3; i++)
        if (fabs(v3_at(axis, i)) == 1) {
            double s = v3_at(axis, i);
            sn_vec3 z = v3_scale(s, v3_unit(i)), x = v3_unit((i + 1) % 3);
            return (sn_mat3){{x, v3_cross(z, x), z}};
        }
    int k = fabs(axis.x) < fabs(axis.y) ? (fabs(axis.x) < fabs(axis.z) ? 0 : 2)
                                        : (fabs(axis.y) < fabs(axis.z) ? 1 : 2);
    sn_vec3 y = v3_cross(axis, v3_unit(k));
    y = v3_scale(1 / v3_norm(y), y);
    return (sn_mat3){{v3_cross(y, axis), y, axis}};
}

// Turns about an axis by an angle that stays.
static sn_frame moved(sn_vec3 axis, double turn, double slide) {
    sn_expmap k = sn_expmap_at(turn * turn);
    return (sn_frame){sn_expmap_rotation(&k, v3_scale(turn, axis)), v3_scale(slide, axis)};
}

static bool is_held(const building *b, int joint) {
    for (int i = 0; i < b->options->nheld; i++)
        if (strcmp(b->options->held[i], b->model->desc[joint].name) == 0) return true;
    return false;
}

static const sn_coupling_place *coupling_of(const sn_model *m, int joint, int k) {
    int q = sn_model_q_index(m, joint) + k;
    for (int i = 0; i < m->ncoupling; i++)
        if (m->coupled[i].follower_q == q) return &m->coupled[i];
    return NULL;
}

static sn_status variable_of(building *b, int joint, int k, int *out) {
    sn_arm_chain *c = b->c;
    for (int i = 0; i < c->n; i++)
        if (c->coordinate[i].joint == joint && c->coordinate[i].index == k) {
            *out = i;
            return SN_OK;
        }
    if (c->n == SN_ARM_MAX)
        return sn_fail(b->error, SN_ERR_SIZE, 0,
                       "more than %d joints move between base and tip: hold some of them",
                       SN_ARM_MAX);
    const sn_model *m = b->model;
    int v = sn_model_v_index(m, joint) + k;
    c->coordinate[c->n] = (sn_coordinate){joint, k};
    c->place[c->n] = sn_model_q_index(m, joint) + k;
    c->low[c->n] = m->lower[v];
    c->high[c->n] = m->upper[v];
    c->length_of[c->n] = sn_model_is_length(m, joint, k);
    double speed = m->desc[joint].speed[k];
    c->speed[c->n] = speed > 0 ? speed : INFINITY;
    *out = c->n++;
    return SN_OK;
}

static sn_status drive_of(building *b, int joint, int k, int depth, sn_arm_drive *out);

// A follower by a curve or of several: its leaders first, so that curves come in their order.
static sn_status curve_of(building *b, const sn_coupling_place *f, int depth, int *out) {
    sn_arm_chain *c = b->c;
    const sn_model *m = b->model;
    const sn_coupling_desc *d = &m->coupling[f->given];
    for (int i = 0; i < c->ncurve; i++)
        if (c->curve[i].coordinate.joint == d->follower.joint &&
            c->curve[i].coordinate.index == d->follower.index) {
            *out = SN_ARM_MAX + i;
            return SN_OK;
        }
    sn_arm_curve curve = {
        d->follower, f->driver, {{0}}, m->lower[f->follower_v], m->upper[f->follower_v],
        f->limited};
    for (int i = 0; i < f->nleader; i++) {
        curve.driver.f.argument[i] = i;
        SN_TRY(drive_of(b, d->leader[i].joint, d->leader[i].index, depth + 1, &curve.leader[i]));
    }
    if (c->ncurve == SN_ARM_CURVES)
        return sn_fail(b->error, SN_ERR_SIZE, 0,
                       "more than %d joints between base and tip follow others by curves: hold "
                       "some of them",
                       SN_ARM_CURVES);
    c->tied = c->tied || curve.limited;
    *out = SN_ARM_MAX + c->ncurve;
    c->length_of[*out] = sn_model_is_length(m, d->follower.joint, d->follower.index);
    c->curve[c->ncurve++] = curve;
    return SN_OK;
}

static sn_status drive_of(building *b, int joint, int k, int depth, sn_arm_drive *out) {
    const sn_model *m = b->model;
    *out = (sn_arm_drive){-1, 1, 0};
    for (; !is_held(b, joint);) {
        const sn_coupling_place *f = coupling_of(m, joint, k);
        if (f == NULL) break;
        const sn_coupling_desc *d = &m->coupling[f->given];
        if (f->nleader != 1 || d->function.type != SN_FUNCTION_LINEAR) {
            if (depth > SN_ARM_CURVES)
                return sn_fail(b->error, SN_ERR_SIZE, 0,
                               "joint \"%.80s\" is at the end of more than %d that follow each "
                               "other: hold some of them",
                               m->desc[joint].name, SN_ARM_CURVES);
            return curve_of(b, f, depth, &out->variable);
        }
        const double *y = d->function.y, scale = d->function.scale;
        out->offset += out->scale * scale * y[1];
        out->scale *= scale * y[0];
        joint = d->leader[0].joint;
        k = d->leader[0].index;
    }
    int at = sn_model_q_index(m, joint) + k;
    if (is_held(b, joint) || m->gain[sn_model_v_index(m, joint) + k] == 0) {
        out->offset += out->scale * b->pose[at];
        return SN_OK;
    }
    return variable_of(b, joint, k, &out->variable);
}

// One move of a joint, forwards or (backwards) undone.
static sn_status push_move(building *b, int joint, int k, sn_vec3 axis, double turn, double slide,
                           double sign) {
    sn_arm_drive d;
    SN_TRY(drive_of(b, joint, k, 0, &d));
    turn *= sign;
    slide *= sign;
    if (d.variable < 0) {
        sn_frame f = moved(axis, turn * d.offset, slide * d.offset);
        push(b, &f);
        return SN_OK;
    }
    sn_arm_chain *c = b->c;
    if (c->m == SN_ARM_MOVES)
        return sn_fail(b->error, SN_ERR_SIZE, 0, "more than %d moves between base and tip",
                       SN_ARM_MOVES);
    if (turn * d.scale < 0 || (turn == 0 && slide * d.scale < 0)) {
        axis = v3_neg(axis);
        turn = -turn;
        slide = -slide;
    }
    sn_frame to = {z_to(axis), {0, 0, 0}}, back = inverse(&to);
    push(b, &to);
    *(c->m == 0 ? &c->base : &c->fixed[c->m - 1]) = b->fixed;
    // the constant part of a slide goes into the frame behind, that of a turn into the offset
    c->move[c->m++] = (sn_arm_move){d.variable, turn * d.scale, slide * d.scale, turn * d.offset};
    b->fixed = unmoved;
    b->fixed.p.z = slide * d.offset;
    push(b, &back);
    return SN_OK;
}

// The whole motion of a joint that does not move here.
static void push_still(building *b, const sn_joint *j, bool up) {
    sn_angle angle[SN_MAX_JOINT_DOFS] = {{0, 1}};
    const double *q = b->pose + j->q0;
    for (int i = 0; i < j->nv; i++)
        if (j->ops->angles >> i & 1) sn_sincos(q[i], &angle[i].s, &angle[i].c);
    sn_twist S[SN_MAX_JOINT_DOFS];
    sn_frame f;
    j->ops->place(j, q, angle, &unmoved, &f, S);
    if (up) f = inverse(&f);
    push(b, &f);
}

static sn_status push_joint(building *b, int joint, bool up) {
    const sn_joint *j = &b->model->joint[b->model->sweep_of[joint]];
    struct {
        sn_vec3 axis;
        double turn, slide;
    } part[3] = {{j->axis, 1, 0}};
    int n = 1;
    switch (j->type) {
    case SN_JOINT_HINGE:
        break;
    case SN_JOINT_SLIDER:
        part[0].turn = 0, part[0].slide = 1;
        break;
    case SN_JOINT_SCREW:
        part[0].slide = j->pitch;
        break;
    case SN_JOINT_UNIVERSAL:
        part[1].axis = j->axis2, part[1].turn = 1;
        part[1].slide = 0, n = 2;
        break;
    case SN_JOINT_EULER:
        for (n = 0; n < 3; n++)
            part[n].axis = v3_unit(j->order[n]), part[n].turn = 1, part[n].slide = 0;
        break;
    case SN_JOINT_PLANAR:
        for (n = 0; n < 3; n++) {
            part[n].axis = n == 0 ? j->u : n == 1 ? j->v : j->axis;
            part[n].turn = n == 2, part[n].slide = n < 2;
        }
        break;
    case SN_JOINT_TRANSLATION:
        for (n = 0; n < 3; n++) part[n].axis = v3_unit(n), part[n].turn = 0, part[n].slide = 1;
        break;
    default:
        n = -1;
        break;
    }
    sn_frame back = inverse(&j->offset);
    if (!up) push(b, &j->offset);
    if (n < 0) push_still(b, j, up);
    for (int i = 0; i < n; i++) {
        int k = up ? n - 1 - i : i;
        SN_TRY(push_move(b, joint, k, part[k].axis, part[k].turn, part[k].slide, up ? -1 : 1));
    }
    if (up) push(b, &back);
    return SN_OK;
}

// A link (a marker) or a joint by name.
static sn_status find_frame(const building *b, const char *what, const char *name, int *joint,
                            sn_frame *in) {
    *in = unmoved;
    *joint = -1;
    if (name == NULL) return SN_OK;
    int marker = sn_model_find_marker(b->model, name);
    if (marker >= 0) {
        *joint = b->model->marker[marker].joint;
        in->p = v3_from(b->model->marker[marker].position);
        return SN_OK;
    }
    *joint = sn_model_find_joint(b->model, name);
    if (*joint < 0)
        return sn_fail(b->error, SN_ERR_ARGUMENT, 0,
                       "there is no link or joint \"%.80s\" for the %s", name, what);
    return SN_OK;
}

static int depth_of(const sn_model *m, int joint) {
    int n = 0;
    for (; joint >= 0; joint = sn_model_parent(m, joint)) n++;
    return n;
}

static sn_status walk(building *b, const char *tip) {
    const sn_model *m = b->model;
    int from, to, common, down;
    sn_frame start, end;
    SN_TRY(find_frame(b, "base", b->options->base, &from, &start));
    SN_TRY(find_frame(b, "tip", tip, &to, &end));
    int up = from;
    common = to;
    for (int d = depth_of(m, common) - depth_of(m, up); d > 0; d--)
        common = sn_model_parent(m, common);
    for (int d = depth_of(m, up) - depth_of(m, common); d > 0; d--) up = sn_model_parent(m, up);
    while (up != common) {
        up = sn_model_parent(m, up);
        common = sn_model_parent(m, common);
    }
    b->fixed = inverse(&start);
    for (int j = from; j != common; j = sn_model_parent(m, j)) SN_TRY(push_joint(b, j, true));
    for (int left = depth_of(m, to) - depth_of(m, common); left > 0; left--) {
        down = to;
        for (int k = 1; k < left; k++) down = sn_model_parent(m, down);
        SN_TRY(push_joint(b, down, false));
    }
    push(b, &end);
    return SN_OK;
}

// Rz(a) Rx(b) Rz(c) = R; the turns at its sides are given to the neighbours.
static void shorten(sn_arm_chain *c, int i) {
    const sn_mat3 *R = &c->fixed[i].R;
    double s = sn_hypot(R->c[2].x, R->c[2].y), a = 0, g;
    if (s < 1e-12) {
        g = sn_atan2(-R->c[1].x, R->c[0].x);
    } else {
        a = sn_atan2(R->c[2].x, -R->c[2].y);
        g = sn_atan2(R->c[0].z, R->c[1].z);
    }
    double sine, cosine;
    sn_sincos(a, &sine, &cosine);
    sn_vec3 p = c->fixed[i].p;
    c->t[i][0] = cosine * p.x + sine * p.y;
    c->t[i][1] = cosine * p.y - sine * p.x;
    c->t[i][2] = p.z;
    c->cosine[i] = R->c[2].z;
    c->sine[i] = s;
    // what is rounding alone takes no time in the kernels
    for (int k = 0; k < 3; k++) {
        if (fabs(c->t[i][k]) < 1e-15) c->t[i][k] = 0;
        if (c->t[i][k] != 0) c->ways[i] |= (uint8_t)(1 << k);
    }
    if (fabs(c->cosine[i]) < 1e-15) c->cosine[i] = 0, c->sine[i] = 1;
    if (s < 1e-15 && c->cosine[i] > 0) c->cosine[i] = 1, c->sine[i] = 0;
    c->bends[i] = c->sine[i] == 0 && c->cosine[i] == 1   ? SN_ARM_PARALLEL
                  : c->sine[i] == 1 && c->cosine[i] == 0 ? SN_ARM_QUARTER
                                                         : SN_ARM_ANY_BEND;
    // a slide and a turn about its axis may change places: what it cannot take goes before the arm
    if (i == 0 && c->lead) {
        sn_frame turn = moved(v3(0, 0, 1), a, 0);
        c->before = frame_mul(&c->before, &turn);
    } else {
        c->shift[i] += a;
    }
    c->shift[i + 1] += g;
}

static void set_form(sn_arm_chain *c) {
    c->direct = !c->masked && c->m == c->n;
    for (int i = 0; i < c->m; i++) c->direct = c->direct && c->move[i].variable == i;
    c->lead = c->direct && c->m > 1 && c->move[0].turn == 0 && c->move[0].slide == 1;
    c->hinges = c->direct;
    for (int i = c->lead ? 1 : 0; i < c->m; i++)
        c->hinges =
            c->hinges && c->move[i].turn == 1 && c->move[i].slide == 0 && c->move[i].offset == 0;
    // for others there is no code
    c->hinges = c->hinges && (c->lead ? c->n == 7 || c->n == 8 : c->n == 6 || c->n == 7);
    c->lead = c->lead && c->hinges;
    if (!c->hinges) return;
    c->before = c->base;
    for (int i = 0; i + 1 < c->m; i++) shorten(c, i);
    c->before = inverse(&c->before);
    c->behind = inverse(&c->fixed[c->m - 1]);
    c->tip = c->fixed[c->m - 1].p;
}

static void set_unit(sn_arm_chain *c) {
    double length = 0;
    for (int i = 0; i < c->m; i++) {
        if (i + 1 < c->m) length += v3_norm(c->fixed[i].p);
        int v = c->move[i].variable, k = v - SN_ARM_MAX;
        double range = k < 0 ? c->high[v] - c->low[v] : c->curve[k].upper - c->curve[k].lower;
        if (c->move[i].slide != 0)
            length += fabs(c->move[i].slide) * (range < INFINITY ? range : 1);
    }
    double lever = v3_norm(c->fixed[c->m - 1].p);
    if (c->masked || c->m < 3) length += lever;
    int e = 0;
    if (length > 0) (void)frexp(length / 0.8, &e);
    c->unit = length > 0 ? ldexp(1, e - 1) : 1;
    c->length = length / c->unit;
    c->lever = lever / c->unit;
    c->base.p = v3_scale(1 / c->unit, c->base.p);
    for (int i = 0; i < c->m; i++) c->fixed[i].p = v3_scale(1 / c->unit, c->fixed[i].p);
    // a length drives slides one to one and turns by the unit; an angle slides by less
    for (int i = 0; i < c->m; i++) {
        if (c->length_of[c->move[i].variable])
            c->move[i].turn *= c->unit;
        else
            c->move[i].slide /= c->unit;
    }
}

static void set_limits(sn_arm_chain *c) {
    for (int v = 0; v < c->n; v++) {
        bool turns = !c->length_of[v];
        for (int i = 0; i < c->m; i++)
            if (c->move[i].variable == v)
                turns = turns && fabs(c->move[i].turn) == 1 && c->move[i].slide == 0;
        for (int k = 0; k < c->ncurve; k++)
            for (int i = 0; i < c->curve[k].driver.f.nargument; i++)
                turns = turns && c->curve[k].leader[i].variable != v;
        c->turns[v] = turns;
        c->round[v] = turns && c->high[v] - c->low[v] >= turn_whole - turn_gap;
        const bool between = c->low[v] > -INFINITY && c->high[v] < INFINITY;
        c->middle[v] = between ? 0.5 * (c->low[v] + c->high[v]) : 0;
        double unit = c->length_of[v] ? c->unit : 1;
        c->lower[v] = c->low[v] / unit + c->shift[v];
        c->upper[v] = c->high[v] / unit + c->shift[v];
    }
}

sn_status sn_arm_chain_make(const sn_model *model, const char *tip, const sn_arm_options *options,
                            const double *pose, sn_arm_chain *out, sn_error *error) {
    *out = (sn_arm_chain){.base = unmoved, .rotation = options->rotation};
    building b = {model, options, pose, out, unmoved, error};
    SN_TRY(walk(&b, tip));
    if (out->m == 0)
        return sn_fail(error, SN_ERR_MODEL, 0, "no joint moves between %s%.80s%s and \"%.80s\"",
                       options->base != NULL ? "\"" : "",
                       options->base != NULL ? options->base : "the world",
                       options->base != NULL ? "\"" : "", tip);
    const double *p = options->tool_position, *r = options->tool_rotation;
    sn_frame tool = {sn_mat3_from_quat((sn_quat){r[0], r[1], r[2], r[3]}), v3_from(p)};
    push(&b, &tool);
    out->fixed[out->m - 1] = b.fixed;
    out->axis = v3_from(options->axis);
    out->axis = v3_scale(1 / v3_norm(out->axis), out->axis);
    memcpy(out->place_free, options->free_position, sizeof out->place_free);
    out->masked = out->rotation != SN_ARM_ROTATION_ALL || out->place_free[0] ||
                  out->place_free[1] || out->place_free[2];
    set_unit(out);
    set_form(out);
    set_limits(out);
    return SN_OK;
}

void sn_arm_chain_numbers(const sn_arm_chain *c, const double *q, sn_arm_curves *curves, bool bends,
                          double *all) {
    for (int i = 0; i < c->n; i++) all[i] = c->length_of[i] ? q[i] / c->unit : q[i];
    if (c->ncurve == 0) return;
    sn_arm_curves_at(c, q, curves, bends);
    memcpy(all + SN_ARM_MAX, curves->value, sizeof curves->value);
}

sn_frame sn_arm_chain_twists(const sn_arm_chain *c, const double *q, sn_twist *twist) {
    sn_frame f = c->base;
    sn_arm_curves curves;
    sn_twist own[SN_ARM_ALL];
    double x[SN_ARM_ALL];
    sn_arm_chain_numbers(c, q, &curves, false, x);
    if (twist != NULL)
        for (int i = 0; i < SN_ARM_ALL; i++) own[i] = (sn_twist){{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < c->m; i++) {
        const sn_arm_move *m = &c->move[i];
        double at = x[m->variable], s, k;
        sn_vec3 z = f.R.c[2];
        if (twist != NULL) {
            sn_twist t = {v3_scale(m->turn, z),
                          v3_add(v3_scale(m->turn, v3_cross(f.p, z)), v3_scale(m->slide, z))};
            own[m->variable] = twist_add(own[m->variable], 1, t);
        }
        sn_sincos_inline(m->turn * at + m->offset, &s, &k);
        sn_vec3 X = f.R.c[0], Y = f.R.c[1];
        f.R.c[0] = v3_add(v3_scale(k, X), v3_scale(s, Y));
        f.R.c[1] = v3_sub(v3_scale(k, Y), v3_scale(s, X));
        f.p = v3_add(f.p, v3_scale(m->slide * at, z));
        f = frame_mul(&f, &c->fixed[i]);
    }
    f.p = v3_scale(c->unit, f.p);
    // per radian or metre of the model, in metres
    for (int i = 0; i < c->n && twist != NULL; i++) {
        for (int k = 0; k < c->ncurve; k++)
            own[i] = twist_add(own[i], curves.slope[k][i], own[SN_ARM_MAX + k]);
        double each = c->length_of[i] ? 1 / c->unit : 1;
        twist[i] = (sn_twist){v3_scale(each, own[i].a), v3_scale(each * c->unit, own[i].b)};
    }
    return f;
}

sn_frame sn_arm_chain_tool(const sn_arm_chain *c, const double *q) {
    return sn_arm_chain_twists(c, q, NULL);
}

void sn_arm_chain_error(const sn_arm_chain *c, const sn_frame *tool, const sn_frame *goal,
                        sn_vec3 *place, sn_vec3 *turn) {
    *place = v3_sub(goal->p, tool->p);
    for (int i = 0; i < 3; i++)
        if (c->place_free[i])
            *place = v3_sub(*place, v3_scale(v3_dot(*place, goal->R.c[i]), goal->R.c[i]));
    *turn = v3(0, 0, 0);
    if (c->rotation == SN_ARM_ROTATION_ALL) {
        sn_mat3 back = m3_transpose(&tool->R), R = m3_mulm(&goal->R, &back);
        *turn = sn_rotation_log(&R);
    } else if (c->rotation == SN_ARM_ROTATION_AXIS) {
        sn_vec3 from = m3_mul(&tool->R, c->axis), to = m3_mul(&goal->R, c->axis);
        sn_vec3 across = v3_cross(from, to);
        double s = v3_norm(across), k = v3_dot(from, to);
        if (s < 1e-12 && k < 0) {  // any axis across it
            across = v3_cross(from, fabs(from.x) < 0.7 ? v3_unit(0) : v3_unit(1));
            *turn = v3_scale(0.5 * turn_whole / v3_norm(across), across);
        } else if (s > 0) {
            *turn = v3_scale(sn_atan2(s, k) / s, across);
        }
    }
}

int sn_arm_chain_rows(const sn_arm_chain *c) {
    int rows = c->rotation == SN_ARM_ROTATION_ALL ? 6 : c->rotation == SN_ARM_ROTATION_AXIS ? 5 : 3;
    for (int i = 0; i < 3; i++) rows -= c->place_free[i];
    return rows;
}

void sn_arm_chain_inward(const sn_arm_chain *c, const double *q, double *inner) {
    for (int i = 0; i < c->n; i++)
        inner[i] = (c->length_of[i] ? q[i] / c->unit : q[i]) + c->shift[i];
}

double sn_arm_chain_outward(const sn_arm_chain *c, const double *inner, const double *near,
                            double *q) {
    double moved = 0;
    for (int i = 0; i < c->n; i++) {
        const double low = c->low[i], high = c->high[i];
        const double to = near != NULL ? near[i] : c->middle[i];  // q may be near itself
        const double x = (inner[i] - c->shift[i]) * (c->length_of[i] ? c->unit : 1);
        double off = 0;
        if (c->turns[i] && !(fabs(x - to) <= 0.5 * turn_whole && x >= low && x <= high)) {
            q[i] = sn_arm_between(sn_angle_near(x, to, low, high), low, high);
            off = q[i] - x;
            off -= turn_whole * floor(off / turn_whole + 0.5);
        } else {
            q[i] = sn_arm_between(x, low, high);
            off = q[i] - x;
        }
        moved = fabs(off) > moved ? fabs(off) : moved;
    }
    return moved;
}
