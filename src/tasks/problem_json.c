// SPDX-License-Identifier: MIT
// The tasks file. World coordinates in metres, quaternions w x y z.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_fields.h"
#include "tasks/check.h"
#include "tasks/problem.h"

static const char *const task_keys[] = {"type",
                                        "joint",
                                        "link",
                                        "local",
                                        "goal",
                                        "point",
                                        "normal",
                                        "rotation",
                                        "i",
                                        "j",
                                        "q",
                                        "weight",
                                        "rotation_weight",
                                        "name",
                                        "loss",
                                        "loss_scale",
                                        "joint2",
                                        "local2",
                                        "level",
                                        NULL};

typedef struct reading {
    const sn_json *json;
    const sn_model *model;
    const sn_allocator *allocator;
    sn_error *error;
    sn_task *task;
    double *numbers;  // poses and weights of the rest tasks
    size_t numbers_used;
} reading;

static sn_task_type type_by_name(const char *name) {
    int type = 0;
    while (type < SN_TASK_TYPE_COUNT && strcmp(sn_task_type_name((sn_task_type)type), name) != 0)
        type++;
    return (sn_task_type)type;
}

// A number, for a point also three rows of three, for rest also nv numbers.
static void read_weight(reading *r, sn_fields *f, sn_task *t) {
    const sn_json_node *node = sn_json_get(f->json, f->object, "weight");
    if (node == NULL || f->status != SN_OK) return;
    if (node->type == SN_JSON_NUMBER) {
        t->weight = node->number;
        return;
    }
    if (t->type == SN_TASK_REST) {
        int nv = sn_model_nv(r->model);
        double *to = r->numbers + r->numbers_used;
        if (sn_json_numbers(f->json, node, (size_t)nv, to)) {
            t->q_weight = to;
            r->numbers_used += (size_t)nv;
            return;
        }
        sn_fields_fail(f, node, "\"weight\" must be a number or an array of nv = %d numbers", nv);
        return;
    }
    const sn_json_node *row = sn_json_first(f->json, node);
    bool good = t->type == SN_TASK_POINT && node->type == SN_JSON_ARRAY && node->count == 3;
    for (int i = 0; good && i < 3; i++, row = sn_json_next(f->json, row))
        good = sn_json_numbers(f->json, row, 3, t->matrix + 3 * i);
    t->has_matrix = true;
    if (!good)
        sn_fields_fail(f, node,
                       t->type == SN_TASK_POINT
                           ? "\"weight\" must be a number or three rows of three"
                           : "\"weight\" must be a number");
}

static void read_loss(sn_fields *f, sn_task *t) {
    const char *name = NULL;
    (void)sn_fields_number(f, "loss_scale", &t->loss_scale);
    if (!sn_fields_string(f, "loss", &name)) return;
    int loss = 0;
    while (loss < SN_LOSS_COUNT && strcmp(sn_loss_name((sn_loss)loss), name) != 0) loss++;
    if (loss == SN_LOSS_COUNT)
        sn_fields_fail(f, sn_json_get(f->json, f->object, "loss"),
                       "unknown loss \"%.40s\": it is none, huber or cauchy", name);
    t->loss = (sn_loss)loss;
}

static void read_level(sn_fields *f, sn_task *t) {
    double level = 0;
    if (!sn_fields_number(f, "level", &level)) return;
    if (!(level >= 0 && level < SN_MAX_LEVELS && level == floor(level)))
        sn_fields_fail(f, sn_json_get(f->json, f->object, "level"),
                       "\"level\" must be one of 0 to %d", SN_MAX_LEVELS - 1);
    else
        t->level = (int)level;
}

// A key that this type cannot do without.
static void need(sn_fields *f, bool there, const char *key) {
    if (!there) sn_fields_fail(f, f->object, "it needs \"%s\"", key);
}

static void read_goals(reading *r, sn_fields *f, sn_task *t) {
    int nq = sn_model_nq(r->model);
    switch (t->type) {
    case SN_TASK_PLANE:
        need(f, sn_fields_numbers(f, "point", 3, t->goal), "point");
        need(f, sn_fields_numbers(f, "normal", 3, t->normal), "normal");
        break;
    case SN_TASK_ORIENTATION:
        need(f, sn_fields_numbers(f, "goal", 4, t->rotation), "goal");
        break;
    case SN_TASK_DIRECTION:
        need(f, sn_json_get(f->json, f->object, "local") != NULL, "local");
        need(f, sn_fields_numbers(f, "goal", 3, t->goal), "goal");
        break;
    case SN_TASK_POSE:
        need(f, sn_fields_numbers(f, "rotation", 4, t->rotation), "rotation");
        need(f, sn_fields_numbers(f, "goal", 3, t->goal), "goal");
        break;
    case SN_TASK_FRAME2:
        need(f, sn_fields_numbers(f, "i", 3, t->i), "i");
        need(f, sn_fields_numbers(f, "j", 3, t->j), "j");
        need(f, sn_fields_numbers(f, "goal", 3, t->goal), "goal");
        break;
    case SN_TASK_REST:
        t->q = r->numbers + r->numbers_used;
        if (sn_fields_numbers(f, "q", nq, r->numbers + r->numbers_used)) {
            r->numbers_used += (size_t)nq;
        } else {
            need(f, false, "q");
        }
        break;
    case SN_TASK_POINT:
        need(f, sn_fields_numbers(f, "goal", 3, t->goal), "goal");
        break;
    case SN_TASK_RELATIVE: {
        const char *other = NULL;
        need(f, sn_fields_string(f, "joint2", &other), "joint2");
        if (other != NULL) t->joint2 = sn_model_find_joint(r->model, other);
        if (t->joint2 < 0)
            sn_fields_fail(f, sn_json_get(f->json, f->object, "joint2"),
                           "there is no joint \"%.80s\"", other);
        (void)sn_fields_numbers(f, "local2", 3, t->local2);
        (void)sn_fields_numbers(f, "goal", 3, t->goal);
        break;
    }
    default:
        break;
    }
}

// What a task is about: "joint", or "link", a body of the robot's file (a marker of the model, whose
// frame is its joint's, moved). Either word finds either, its own kind first.
static void read_body(reading *r, sn_fields *f, sn_task *t, double origin[3]) {
    const char *name = NULL;
    bool link = sn_fields_string(f, "link", &name);
    if (!link && !sn_fields_string(f, "joint", &name)) {
        if (t->type != SN_TASK_REST && t->type != SN_TASK_LIMIT) need(f, false, "joint");
        return;
    }
    if (link && sn_json_get(f->json, f->object, "joint") != NULL)
        sn_fields_fail(f, f->object, "it has both \"joint\" and \"link\"");
    int marker = sn_model_find_marker(r->model, name);
    t->joint = sn_model_find_joint(r->model, name);
    if (marker >= 0 && (link || t->joint < 0)) {
        const sn_marker_desc *m = sn_model_marker(r->model, marker);
        t->joint = m->joint;
        memcpy(origin, m->position, sizeof m->position);
    }
    if (t->joint < 0)
        sn_fields_fail(f, sn_json_get(f->json, f->object, link ? "link" : "joint"),
                       "there is no joint or link \"%.80s\"", name);
}

static sn_status read_task(reading *r, const sn_json_node *node, int index) {
    sn_fields f = {.json = r->json, .object = node, .error = r->error, .blame = SN_ERR_TASK};
    (void)snprintf(f.owner, sizeof f.owner, "task %d", index);
    if (node->type != SN_JSON_OBJECT) return sn_fields_fail(&f, node, "it must be an object");
    sn_fields_known(&f, task_keys);
    const char *type_name = NULL;
    if (!sn_fields_string(&f, "type", &type_name)) sn_fields_fail(&f, node, "it has no \"type\"");
    if (f.status != SN_OK) return f.status;
    sn_task_type type = type_by_name(type_name);
    if (type == SN_TASK_TYPE_COUNT)
        return sn_fields_fail(&f, sn_json_get(r->json, node, "type"), "unknown type \"%.40s\"",
                              type_name);
    sn_task t = sn_task_default(type);
    (void)snprintf(f.owner, sizeof f.owner, "task %d (%s)", index, type_name);
    double origin[3] = {0};
    read_body(r, &f, &t, origin);
    (void)sn_fields_numbers(&f, "local", 3, t.local);
    // a direction has no place
    for (int k = 0; k < 3 && type != SN_TASK_DIRECTION; k++) t.local[k] += origin[k];
    read_weight(r, &f, &t);
    read_loss(&f, &t);
    read_level(&f, &t);
    read_goals(r, &f, &t);
    t.rotation_weight = t.weight;
    (void)sn_fields_number(&f, "rotation_weight", &t.rotation_weight);
    if (f.status != SN_OK) return f.status;
    r->task[index] = t;
    return sn_task_check(r->model, &t, index, node->line, r->error);
}

static sn_status read_file(reading *r, int *count) {
    const sn_json_node *root = sn_json_root(r->json);
    sn_fields f = {.json = r->json,
                   .object = root,
                   .owner = "tasks file",
                   .error = r->error,
                   .blame = SN_ERR_TASK};
    static const char *const keys[] = {"sinew", "tasks", "name", NULL};
    const sn_json_node *tasks = sn_json_get(r->json, root, "tasks");
    if (root->type != SN_JSON_OBJECT || tasks == NULL || tasks->type != SN_JSON_ARRAY)
        return sn_fields_fail(&f, root, "it must hold one object with an array \"tasks\"");
    sn_fields_known(&f, keys);
    if (f.status != SN_OK) return f.status;
    if (tasks->count > INT32_MAX / 2) return sn_fields_fail(&f, tasks, "too many tasks");

    // room for the poses and weights of rest tasks: no more numbers than the file has
    size_t numbers = 1;
    const sn_json_node *at = sn_json_first(r->json, tasks);
    for (; at != NULL; at = sn_json_next(r->json, at)) {
        const sn_json_node *q = sn_json_get(r->json, at, "q");
        const sn_json_node *weight = sn_json_get(r->json, at, "weight");
        if (q != NULL) numbers += q->count;
        if (weight != NULL) numbers += weight->count;
    }
    sn_layout layout = {0};
    (void)sn_layout_take(&layout, tasks->count + 1, sizeof *r->task);
    (void)sn_layout_take(&layout, numbers, sizeof *r->numbers);
    if (layout.overflow) return sn_fields_fail(&f, tasks, "too many tasks");
    r->task = sn_acquire(r->allocator, layout.used);
    if (r->task == NULL) return sn_fail_memory(r->error);
    layout = (sn_layout){.block = (char *)r->task};
    (void)sn_layout_take(&layout, tasks->count + 1, sizeof *r->task);
    r->numbers = sn_layout_take(&layout, numbers, sizeof *r->numbers);

    at = sn_json_first(r->json, tasks);
    for (int i = 0; at != NULL; i++, at = sn_json_next(r->json, at)) SN_TRY(read_task(r, at, i));
    *count = (int)tasks->count;
    return SN_OK;
}

sn_status sn_problem_read_json(const char *text, size_t length, const sn_model *model,
                               const sn_allocator *allocator, sn_problem **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    if (length > 0) SN_NEED(text, error);
    SN_NEED(model, error);
    SN_NEED(out, error);
    if (text == NULL) text = "";
    sn_json *json;
    SN_TRY(sn_json_parse(text, length, allocator, &json, error));
    reading r = {.json = json, .model = model, .allocator = allocator, .error = error};
    int count = 0;
    sn_status status = read_file(&r, &count);
    if (status == SN_OK) status = sn_problem_create(model, r.task, count, allocator, out, error);
    sn_release(allocator, r.task);
    sn_json_destroy(json);
    return status;
}
