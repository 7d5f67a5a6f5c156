// SPDX-License-Identifier: MIT
#include "pose_picture.h"

#include <math.h>
#include <stdlib.h>

// Three views side by side, each this large in pixels.
static const double view_width = 330, view_height = 420, margin = 36;

// A round stroke: a limb, a shape, a goal.
typedef struct stroke {
    double a[3], b[3];  // world
    double radius;      // metres; 0: a thin line
    const char *style;
    double depth;
} stroke;

typedef struct drawing {
    stroke *stroke;
    int count, room;
    double low[3], high[3];
} drawing;

static void put(double to[3], sn_vec3 p) { to[0] = p.x, to[1] = p.y, to[2] = p.z; }

static void widen(drawing *d, const double p[3], double radius) {
    for (int i = 0; i < 3; i++) {
        d->low[i] = fmin(d->low[i], p[i] - radius);
        d->high[i] = fmax(d->high[i], p[i] + radius);
    }
}

static void add(drawing *d, sn_vec3 a, sn_vec3 b, double radius, const char *style) {
    if (d->count == d->room) return;
    stroke *s = &d->stroke[d->count++];
    *s = (stroke){.radius = radius, .style = style};
    put(s->a, a);
    put(s->b, b);
    widen(d, s->a, radius);
    widen(d, s->b, radius);
}

static const char limb[] = "stroke='#333' stroke-width='2.5'";
static const char shape[] = "stroke='#2f6690' stroke-opacity='0.25'";
static const char goal[] = "stroke='#c8102e' stroke-width='6'";
static const char sight[] = "stroke='#c8102e' stroke-width='1' stroke-dasharray='4 3'";
static const char weight[] = "stroke='#e09f3e' stroke-width='9'";
static const char corner[] = "stroke='#e09f3e' stroke-width='4'";

static void add_goals(drawing *d, const pose_picture *p) {
    for (int i = 0; i < sn_problem_ntask(p->problem); i++) {
        const sn_task *t = sn_problem_task(p->problem, i);
        if (!sn_problem_task_active(p->problem, i)) continue;
        const sn_vec3 g = {t->goal[0], t->goal[1], t->goal[2]};
        const sn_vec3 g2 = {t->local2[0], t->local2[1], t->local2[2]};
        const sn_joint_desc *joint = sn_model_joint(p->model, t->joint);
        if (joint != NULL && (t->type <= SN_TASK_POSE || t->type == SN_TASK_RELATIVE) &&
            t->type != SN_TASK_DIRECTION && t->type != SN_TASK_ORIENTATION)
            add(d, sn_workspace_frame(p->ws, t->joint).p,
                sn_workspace_point(p->ws, t->joint, t->local), 0, limb);
        if (t->type == SN_TASK_RELATIVE && t->joint2 >= 0)
            add(d, sn_workspace_frame(p->ws, t->joint2).p,
                sn_workspace_point(p->ws, t->joint2, t->local2), 0, limb);
        if (t->type == SN_TASK_POINT || t->type == SN_TASK_POSE || t->type == SN_TASK_FRAME2)
            add(d, g, g, 0, goal);
        if (t->type == SN_TASK_LOOK_AT && t->joint2 < 0) {
            add(d, sn_workspace_point(p->ws, t->joint, t->local), g2, 0, sight);
            add(d, g2, g2, 0, goal);
        }
        for (int k = 0; t->type == SN_TASK_SUPPORT && k < t->ncorner; k++) {
            const double *c = t->corners + 3 * k;
            add(d, (sn_vec3){c[0], c[1], c[2]}, (sn_vec3){c[0], c[1], c[2]}, 0, corner);
        }
    }
}

// The centre of mass, where the model knows its masses.
static void add_weight(drawing *d, const pose_picture *p) {
    sn_vec3 c = {0, 0, 0};
    double all = 0;
    for (int j = 0; j < sn_model_njoint(p->model); j++) {
        const sn_joint_desc *joint = sn_model_joint(p->model, j);
        const sn_vec3 at = sn_workspace_point(p->ws, j, joint->centre);
        c.x += joint->mass * at.x, c.y += joint->mass * at.y, c.z += joint->mass * at.z;
        all += joint->mass;
    }
    if (!(all > 0)) return;
    c.x /= all, c.y /= all, c.z /= all;
    add(d, c, c, 0, weight);
}

static void gather(drawing *d, const pose_picture *p) {
    const sn_model *m = p->model;
    for (int i = 0; i < sn_model_nshape(m); i++) {
        const sn_shape_desc *s = sn_model_shape(m, i);
        if (s->type == SN_SHAPE_PLANE) continue;
        sn_vec3 a = {s->from[0], s->from[1], s->from[2]}, b = {s->to[0], s->to[1], s->to[2]};
        if (s->joint >= 0) {
            a = sn_workspace_point(p->ws, s->joint, s->from);
            b = sn_workspace_point(p->ws, s->joint, s->to);
        }
        add(d, a, s->type == SN_SHAPE_CAPSULE ? b : a, s->radius, shape);
    }
    for (int j = 0; j < sn_model_njoint(m); j++) {
        const int parent = sn_model_joint(m, j)->parent;
        const sn_vec3 at = sn_workspace_frame(p->ws, j).p;
        if (parent >= 0) add(d, sn_workspace_frame(p->ws, parent).p, at, 0, limb);
    }
    add_weight(d, p);
    add_goals(d, p);
}

// One view: `across` to the right, up upwards.
static void draw_view(plot_text *out, const drawing *d, int across, int up, double sign,
                      double scale, double x0, const char *title) {
    const double y0 = view_height - margin;
    const double middle = 0.5 * (d->low[across] + d->high[across]);
    const double floor = sign > 0 ? d->low[up] : -d->high[up];
    plot_add(out, "<text x='%.0f' y='20' text-anchor='middle' fill='#333'>%s</text>\n",
             x0 + view_width / 2, title);
    for (int i = 0; i < d->count; i++) {
        const stroke *s = &d->stroke[i];
        plot_add(out, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke-linecap='round' %s",
                 x0 + view_width / 2 + scale * (s->a[across] - middle),
                 y0 - scale * (sign * s->a[up] - floor),
                 x0 + view_width / 2 + scale * (s->b[across] - middle) + 0.01,
                 y0 - scale * (sign * s->b[up] - floor), s->style);
        if (s->radius > 0) plot_add(out, " stroke-width='%.1f'", 2 * scale * s->radius);
        plot_add(out, "/>\n");
    }
}

void pose_picture_svg(plot_text *text, const pose_picture *p) {
    const int room = sn_model_nshape(p->model) + sn_model_njoint(p->model) +
                     (SN_MAX_CORNERS + 4) * sn_problem_ntask(p->problem) + 1;
    drawing d = {.stroke = malloc((size_t)room * sizeof *d.stroke),
                 .room = room,
                 .low = {INFINITY, INFINITY, INFINITY},
                 .high = {-INFINITY, -INFINITY, -INFINITY}};
    if (d.stroke == NULL) {
        text->failed = true;
        return;
    }
    gather(&d, p);
    // the figure looks along `ahead`, as robots (x, z up) and people (z, y up) do
    const int up = p->up, ahead = up == 2 ? 0 : up == 1 ? 2 : 1, side = 3 - up - ahead;
    double size = 1e-6;
    for (int i = 0; i < 3 && d.count > 0; i++) {
        // each axis stands in two of the views
        const double there = i == ahead ? view_width - margin : view_height - 2 * margin;
        size = fmax(size, (d.high[i] - d.low[i]) / fmin(there, view_width - margin));
    }
    plot_add(text,
             "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' "
             "font-family='sans-serif' font-size='13' fill='none'>\n"
             "<rect width='100%%' height='100%%' fill='#fbfaf7'/>\n",
             3 * view_width, view_height);
    draw_view(text, &d, side, up, p->up_sign, 1 / size, 0, "front");
    draw_view(text, &d, ahead, up, p->up_sign, 1 / size, view_width, "side");
    draw_view(text, &d, ahead, side, 1, 1 / size, 2 * view_width, "from above");
    plot_add(text, "</svg>\n");
    free(d.stroke);
}
