// SPDX-License-Identifier: MIT
// The life of a servo.
#include "servo/servo.h"

#include <string.h>

enum { OPTIONS_VERSION = 1 };

sn_servo_options sn_servo_options_default(void) {
    return (sn_servo_options){
        .version = OPTIONS_VERSION, .position_tol = 1e-4, .guard_seconds = 0.05};
}

static const char *wrong_option(const sn_servo_options *o) {
    if (o->version != OPTIONS_VERSION) return "version";
    if (!(o->position_tol > 0) || !isfinite(o->position_tol)) return "position_tol";
    if (!(o->guard_seconds > 0) || !isfinite(o->guard_seconds)) return "guard_seconds";
    return NULL;
}

static void layout_servo(sn_servo *s, sn_layout *layout) {
    const size_t n = (size_t)s->n, nq = (size_t)s->model->nq, rows = (size_t)s->rows;
    const size_t room = (size_t)s->room, one = sizeof(double);
    sn_ladder *a = &s->ladder;
    s->r = sn_layout_take(layout, rows, one);
    s->left = sn_layout_take(layout, rows, one);
    s->J = sn_layout_take(layout, rows * n, one);
    s->A = sn_layout_take(layout, room * n, one);
    s->e = sn_layout_take(layout, room, one);
    s->moved = sn_layout_take(layout, room, one);
    s->row_level = sn_layout_take(layout, rows, sizeof *s->row_level);
    s->row_bends = sn_layout_take(layout, rows, sizeof *s->row_bends);
    a->n = s->n;
    a->Z = sn_layout_take(layout, n * n, one);
    a->B = sn_layout_take(layout, room * n, one);
    a->v = sn_layout_take(layout, n * n, one);
    a->beta = sn_layout_take(layout, n, one);
    a->E = sn_layout_take(layout, n * n, one);
    a->T = sn_layout_take(layout, n, one);
    a->M = sn_layout_take(layout, n * n, one);
    a->order = sn_layout_take(layout, room, sizeof *a->order);
    a->norm = sn_layout_take(layout, room, one);
    a->x = sn_layout_take(layout, n, one);
    a->y = sn_layout_take(layout, n, one);
    a->w = sn_layout_take(layout, n, one);
    double **const numbers[] = {&s->length, &s->unit,     &s->lower,     &s->upper,
                                &s->speed,  &s->top,      &s->push,      &s->low,
                                &s->high,   &s->low_kept, &s->high_kept, &s->rest,
                                &s->p,      &s->delta,    &s->velocity,  &s->file};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = sn_layout_take(layout, n, one);
    s->before = sn_layout_take(layout, SN_MAX_LEVELS * n, one);
    s->q_of = sn_layout_take(layout, n, sizeof *s->q_of);
    s->held = sn_layout_take(layout, n, sizeof *s->held);
    s->pose = sn_layout_take(layout, nq, one);
    s->last = sn_layout_take(layout, nq, one);
    s->guard_row = sn_layout_take(layout, SN_SERVO_GUARDS * n, one);
}

// An entry of a length is the figure's size at its zero pose, as far as joints are from the root.
static void find_lengths(sn_servo *s) {
    const sn_model *m = s->model;
    double size = 0;
    for (int k = 0; k < m->njoint; k++) size = fmax(size, v3_norm(s->ws->frame[k].p));
    if (!(size > 0)) size = 1;
    s->size = size;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        for (int a = 0; a < j->nv; a++) {
            const double speed = m->desc[j->id].speed[a];
            s->length[j->slot + a] = j->ops->lengths[a] ? size : 1;
            s->speed[j->slot + a] = speed > 0 ? speed : INFINITY;
        }
    }
}

sn_status sn_servo_create(const sn_problem *problem, const sn_servo_options *options,
                          const sn_allocator *allocator, sn_servo **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(problem, error);
    SN_NEED(out, error);
    sn_servo s = {.allocator = sn_allocator_of(allocator),
                  .problem = problem,
                  .model = problem->model,
                  .options = options != NULL ? *options : sn_servo_options_default(),
                  .n = problem->model->nv,
                  .rows = sn_residual_count(problem)};
    SN_TRY(sn_fail_option(error, wrong_option(&s.options)));
    if (s.model->nloop > 0)
        return sn_fail(error, SN_ERR_UNSUPPORTED, 0, "a servo cannot move a model with loops");
    s.room = s.rows + SN_SERVO_GUARDS;
    sn_layout layout = {0};
    sn_servo *servo = sn_layout_take(&layout, 1, sizeof *servo);
    layout_servo(&s, &layout);
    void *block = sn_layout_acquire(&layout, allocator, &s.owner);
    if (block == NULL) return sn_fail_memory(error);
    sn_status status = sn_workspace_create(problem, false, allocator, &s.ws, error);
    if (status != SN_OK) {
        sn_release(&s.allocator, s.owner);
        return status;
    }
    layout = (sn_layout){.block = block};
    servo = sn_layout_take(&layout, 1, sizeof *servo);
    layout_servo(&s, &layout);
    *servo = s;
    find_lengths(servo);
    *out = servo;
    return SN_OK;
}

void sn_servo_destroy(sn_servo *s) {
    if (s == NULL) return;
    sn_workspace_destroy(s->ws);
    sn_allocator allocator = s->allocator;
    sn_release(&allocator, s->owner);
}

sn_status sn_servo_reset(sn_servo *s, const double *velocity) {
    if (s == NULL) return SN_ERR_ARGUMENT;
    for (int v = 0; v < s->n && velocity != NULL; v++)
        if (!isfinite(velocity[v])) return SN_ERR_VALUE;
    for (int i = 0; i < s->n; i++)
        s->velocity[i] = velocity != NULL ? velocity[s->model->v_of[i]] : 0;
    for (int i = 0; i < SN_MAX_LEVELS * s->n; i++) s->before[i] = 0;
    s->moving = false;
    s->error = 0;
    s->behind = 0;
    return SN_OK;
}

void sn_servo_velocity(const sn_servo *s, double *velocity) {
    if (s == NULL || velocity == NULL) return;
    for (int i = 0; i < s->n; i++) velocity[s->model->v_of[i]] = s->velocity[i];
}

sn_workspace *sn_servo_workspace(sn_servo *s) { return s != NULL ? s->ws : NULL; }
