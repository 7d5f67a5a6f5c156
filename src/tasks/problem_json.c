// SPDX-License-Identifier: MIT
// The tasks file. World coordinates in metres, quaternions w x y z.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/guess.h"
#include "base/json_fields.h"
#include "tasks/check.h"
#include "tasks/place.h"
#include "tasks/problem.h"

static const char *const task_keys[] = {
    "type",     "joint",      "link",   "local",   "goal",   "point",           "normal",
    "rotation", "i",          "j",      "q",       "weight", "rotation_weight", "name",
    "loss",     "loss_scale", "joint2", "link2",   "local2", "goal_in",         "axis",
    "distance", "joints",     "masses", "centres", "tasks",  "corners",         "coordinates",
    "level",    "missing",    NULL};

typedef struct reading {
    const sn_json *json;
    const sn_model *model;
    const sn_allocator *allocator;
    sn_error *error;
    sn_task *task;
    double *numbers;  // arrays of the tasks: poses, weights, masses, ...
    size_t numbers_used;
    int *indices;  // joints and tasks
    size_t indices_used;
    sn_place place, other;  // of the task that is read
} reading;

static sn_task_type type_by_name(const char *name) {
    int type = 0;
    while (type < SN_TASK_TYPE_COUNT && strcmp(sn_task_type_name((sn_task_type)type), name) != 0)
        type++;
    return (sn_task_type)type;
}

// n rows of n numbers.
static bool read_matrix(const sn_json *json, const sn_json_node *node, int n, double *to) {
    const sn_json_node *row = sn_json_first(json, node);
    bool good = node->type == SN_JSON_ARRAY && node->count == (size_t)n;
    for (int i = 0; good && i < n; i++, row = sn_json_next(json, row))
        good = sn_json_numbers(json, row, (size_t)n, to + n * i);
    return good;
}

// A number, for tasks of three residuals also three rows of three, for rest also nv numbers, for coupled
// tasks as many rows as they have numbers.
static void read_weight(reading *r, sn_fields *f, sn_task *t) {
    const sn_json_node *node = sn_json_get(f->json, f->object, "weight");
    if (node == NULL || f->status != SN_OK) return;
    if (t->type == SN_TASK_COUPLED) {
        int n = node->count <= SN_MAX_COUPLING ? (int)node->count : 0;
        double *to = r->numbers + r->numbers_used;
        t->coupling = to;
        if (n == 0 || !read_matrix(f->json, node, n, to)) {
            sn_fields_fail(f, node, "\"weight\" must be n rows of n numbers, n at most %d",
                           SN_MAX_COUPLING);
            return;
        }
        r->numbers_used += (size_t)(n * n);
        return;
    }
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
    bool three =
        sn_task_residuals(t) == 3 || t->type == SN_TASK_POSE || t->type == SN_TASK_RELATIVE_POSE;
    t->has_matrix = true;
    if (!three || !read_matrix(f->json, node, 3, t->matrix))
        sn_fields_fail(f, node,
                       three ? "\"weight\" must be a number or three rows of three"
                             : "\"weight\" must be a number");
}

static void read_rotation_weight(sn_fields *f, sn_task *t) {
    const sn_json_node *node = sn_json_get(f->json, f->object, "rotation_weight");
    t->rotation_weight = t->weight;
    if (node == NULL || f->status != SN_OK) return;
    if (node->type != SN_JSON_ARRAY) {
        (void)sn_fields_number(f, "rotation_weight", &t->rotation_weight);
        return;
    }
    bool pose = t->type == SN_TASK_POSE || t->type == SN_TASK_RELATIVE_POSE;
    t->has_rotation_matrix = true;
    t->rotation_weight = 1;
    if (!pose || !read_matrix(f->json, node, 3, t->rotation_matrix))
        sn_fields_fail(f, node,
                       pose ? "\"rotation_weight\" must be a number or three rows of three"
                            : "\"rotation_weight\" must be a number");
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

// A task without data until its goal is set: true and false.
static bool is_missing(sn_fields *f) {
    const sn_json_node *at = sn_json_get(f->json, f->object, "missing");
    if (at != NULL && at->type != SN_JSON_TRUE && at->type != SN_JSON_FALSE)
        sn_fields_fail(f, at, "\"missing\" must be true or false");
    return at != NULL && at->type == SN_JSON_TRUE;
}

// A key that this type cannot do without; the goal of a missing task is still to come.
static void need(sn_fields *f, bool there, const char *key) {
    const bool later = strcmp(key, "goal") == 0 || strcmp(key, "rotation") == 0;
    if (!there && !(later && is_missing(f))) sn_fields_fail(f, f->object, "it needs \"%s\"", key);
}

// The place that a key names; joint -1 and a message for none. Either word finds joints, bodies and markers,
// its own kind first.
static sn_place find_body(reading *r, sn_fields *f, const char *key, const char *name, bool link) {
    sn_place place = sn_place_find(r->model, name, link);
    if (place.joint >= 0) return place;
    const sn_model *m = r->model;
    sn_guess guess = sn_guess_begin(name);
    char meant[90];
    for (int i = 0; i < sn_model_njoint(m); i++)
        (void)sn_guess_try(&guess, sn_model_joint(m, i)->name);
    for (int i = 0; i < sn_model_nframe(m); i++)
        (void)sn_guess_try(&guess, sn_model_frame(m, i)->name);
    sn_fields_fail(f, sn_json_get(f->json, f->object, key), "there is no joint or link \"%.80s\"%s",
                   name, sn_guess_text(&guess, meant, sizeof meant));
    return place;
}

// What a task is about: "joint" or "link".
static void read_body(reading *r, sn_fields *f, sn_task *t) {
    const char *name = NULL;
    bool link = sn_fields_string(f, "link", &name);
    if (!link && !sn_fields_string(f, "joint", &name)) {
        if (t->type != SN_TASK_REST && t->type != SN_TASK_LIMIT && t->type < SN_TASK_CENTRE_OF_MASS)
            need(f, false, "joint");
        if (t->type == SN_TASK_HALF_SPACE) t->joint = -1;  // the centre of mass, or coordinates
        return;
    }
    if (link && sn_json_get(f->json, f->object, "joint") != NULL)
        sn_fields_fail(f, f->object, "it has both \"joint\" and \"link\"");
    if (t->type == SN_TASK_POSTURE || t->type == SN_TASK_CENTRE_OF_MASS ||
        t->type == SN_TASK_COUPLED || t->type == SN_TASK_SUPPORT)
        sn_fields_fail(f, f->object, "it has no one joint");
    r->place = find_body(r, f, link ? "link" : "joint", name, link);
    t->joint = r->place.joint;
}

// The other body of a task between two, with a point of its own; -1 where there is none: the world.
static bool read_other(reading *r, sn_fields *f, sn_task *t) {
    const char *name = NULL;
    bool link = sn_fields_string(f, "link2", &name);
    if (!link && !sn_fields_string(f, "joint2", &name)) {
        t->joint2 = -1;
        return false;
    }
    r->other = find_body(r, f, link ? "link2" : "joint2", name, link);
    t->joint2 = r->other.joint;
    (void)sn_fields_numbers(f, "local2", 3, t->local2);
    return true;
}

static void read_relative(reading *r, sn_fields *f, sn_task *t) {
    const char *in = NULL;
    need(f, read_other(r, f, t), "joint2");
    if (sn_fields_string(f, "goal_in", &in)) {
        t->in_joint2 = strcmp(in, "joint2") == 0;
        if (!t->in_joint2 && strcmp(in, "world") != 0)
            sn_fields_fail(f, sn_json_get(f->json, f->object, "goal_in"),
                           "\"goal_in\" is \"world\" or \"joint2\"");
    }
    if (t->type == SN_TASK_RELATIVE_ORIENTATION) {
        (void)sn_fields_numbers(f, "goal", 4, t->rotation);
        return;
    }
    (void)sn_fields_numbers(f, "goal", 3, t->goal);
    if (t->type == SN_TASK_RELATIVE_POSE) (void)sn_fields_numbers(f, "rotation", 4, t->rotation);
}

// Names of joints, into t->joints.
static void read_joints(reading *r, sn_fields *f, sn_task *t) {
    const sn_json_node *list = sn_json_get(f->json, f->object, "joints");
    if (list == NULL || f->status != SN_OK) return;
    if (list->type != SN_JSON_ARRAY || list->count == 0 ||
        list->count > (size_t)sn_model_njoint(r->model)) {
        sn_fields_fail(f, list, "\"joints\" must be an array of names");
        return;
    }
    int *to = r->indices + r->indices_used;
    const sn_json_node *at = sn_json_first(f->json, list);
    for (; at != NULL; at = sn_json_next(f->json, at)) {
        if (at->type != SN_JSON_STRING) {
            sn_fields_fail(f, at, "\"joints\" must be an array of names");
            return;
        }
        sn_place place = find_body(r, f, "joints", at->string, false);
        // a posture is of a joint's own motion, and centres are in its frame
        if (place.named &&
            (t->type == SN_TASK_POSTURE || sn_json_get(f->json, f->object, "centres") != NULL))
            sn_fields_fail(f, at, "\"%.80s\" is a frame on joint \"%.80s\": name the joint",
                           at->string, sn_model_joint(r->model, place.joint)->name);
        if (f->status != SN_OK) return;
        to[t->njoint] = place.joint;
        t->njoint++;
    }
    t->joints = to;
    r->indices_used += (size_t)t->njoint;
}

// Of which joints a centre of mass is, and what masses they have.
static void read_masses(reading *r, sn_fields *f, sn_task *t) {
    read_joints(r, f, t);
    int n = t->joints != NULL ? t->njoint : sn_model_njoint(r->model);
    if (sn_json_get(f->json, f->object, "masses") != NULL &&
        sn_fields_numbers(f, "masses", n, r->numbers + r->numbers_used)) {
        t->masses = r->numbers + r->numbers_used;
        r->numbers_used += (size_t)n;
    }
    const sn_json_node *list = sn_json_get(f->json, f->object, "centres");
    if (list == NULL || f->status != SN_OK) return;
    double *to = r->numbers + r->numbers_used;
    const sn_json_node *row = sn_json_first(f->json, list);
    bool good = list->type == SN_JSON_ARRAY && list->count == (size_t)n;
    for (int i = 0; good && i < n; i++, row = sn_json_next(f->json, row))
        good = sn_json_numbers(f->json, row, 3, to + 3 * i);
    if (!good) {
        sn_fields_fail(f, list, "\"centres\" must be %d rows of three numbers, one a joint", n);
        return;
    }
    t->centres = to;
    r->numbers_used += 3 * (size_t)n;
}

// {"knee": 1, "shoulder": [0, 0.5, 0]}: factors of coordinates, one for each of a joint.
static void read_coordinates(reading *r, sn_fields *f, sn_task *t) {
    const sn_json_node *list = sn_json_get(f->json, f->object, "coordinates");
    int nv = sn_model_nv(r->model);
    double *to = r->numbers + r->numbers_used;
    if (list->type != SN_JSON_OBJECT) {
        sn_fields_fail(f, list, "\"coordinates\" must be an object of joints and factors");
        return;
    }
    for (int v = 0; v < nv; v++) to[v] = 0;
    const sn_json_node *at = sn_json_first(f->json, list);
    for (; at != NULL && f->status == SN_OK; at = sn_json_next(f->json, at)) {
        int joint = sn_model_find_joint(r->model, at->key);
        int n = sn_model_joint_nv(r->model, joint), v = sn_model_v_index(r->model, joint);
        if (joint < 0) {
            sn_fields_fail(f, at, "there is no joint \"%.80s\"", at->key);
        } else if (at->type == SN_JSON_NUMBER && n == 1) {
            to[v] = at->number;
        } else if (!sn_json_numbers(f->json, at, (size_t)n, to + v)) {
            sn_fields_fail(f, at, "\"%.80s\" needs %d factor%s", at->key, n, n == 1 ? "" : "s");
        }
    }
    t->q_weight = to;
    r->numbers_used += (size_t)nv;
}

static void read_half_space(reading *r, sn_fields *f, sn_task *t) {
    (void)sn_fields_number(f, "distance", &t->distance);
    if (sn_json_get(f->json, f->object, "coordinates") != NULL) {
        if (t->joint >= 0) sn_fields_fail(f, f->object, "it has both a joint and \"coordinates\"");
        need(f, sn_json_get(f->json, f->object, "distance") != NULL, "distance");
        if (f->status == SN_OK) read_coordinates(r, f, t);
        return;
    }
    need(f, sn_fields_numbers(f, "point", 3, t->goal), "point");
    need(f, sn_fields_numbers(f, "normal", 3, t->normal), "normal");
    (void)read_other(r, f, t);
    if (t->joint < 0) read_masses(r, f, t);
}

static void read_support(reading *r, sn_fields *f, sn_task *t) {
    const sn_json_node *list = sn_json_get(f->json, f->object, "corners");
    (void)sn_fields_number(f, "distance", &t->distance);
    (void)sn_fields_numbers(f, "normal", 3, t->normal);
    read_masses(r, f, t);
    need(f, list != NULL, "corners");
    if (f->status != SN_OK) return;
    double *to = r->numbers + r->numbers_used;
    bool good = list->type == SN_JSON_ARRAY && list->count >= 3 && list->count <= SN_MAX_CORNERS;
    const sn_json_node *at = sn_json_first(f->json, list);
    for (int i = 0; good && at != NULL; i++, at = sn_json_next(f->json, at))
        good = sn_json_numbers(f->json, at, 3, to + 3 * i);
    if (!good) {
        sn_fields_fail(f, list, "\"corners\" must be 3 to %d points of three numbers",
                       SN_MAX_CORNERS);
        return;
    }
    t->corners = to;
    t->ncorner = (int)list->count;
    r->numbers_used += 3 * (size_t)list->count;
}

// The place of a task in the file, by its name or number; -1 for none.
static int find_task(const reading *r, const sn_json_node *name) {
    const sn_json_node *tasks = sn_json_get(r->json, sn_json_root(r->json), "tasks");
    const sn_json_node *at = sn_json_first(r->json, tasks);
    if (name->type == SN_JSON_NUMBER) {
        bool fits = name->number >= 0 && name->number < (double)tasks->count;
        return fits && (int)name->number == name->number ? (int)name->number : -1;
    }
    if (name->type != SN_JSON_STRING) return -1;
    for (int i = 0; at != NULL; i++, at = sn_json_next(r->json, at)) {
        const sn_json_node *own = sn_json_get(r->json, at, "name");
        if (own != NULL && own->type == SN_JSON_STRING && strcmp(own->string, name->string) == 0)
            return i;
    }
    return -1;
}

static void read_coupled(reading *r, sn_fields *f, sn_task *t) {
    const sn_json_node *list = sn_json_get(f->json, f->object, "tasks");
    need(f, list != NULL, "tasks");
    need(f, t->coupling != NULL, "weight");
    if (f->status != SN_OK) return;
    int *to = r->indices + r->indices_used;
    if (list->type != SN_JSON_ARRAY || list->count == 0 || list->count > SN_MAX_COUPLING) {
        sn_fields_fail(f, list, "\"tasks\" must be an array of names or numbers of tasks");
        return;
    }
    const sn_json_node *at = sn_json_first(f->json, list);
    for (; at != NULL; at = sn_json_next(f->json, at)) {
        to[t->ntask] = find_task(r, at);
        if (to[t->ntask] < 0) {
            if (at->type == SN_JSON_STRING)
                sn_fields_fail(f, at, "there is no task \"%.60s\"", at->string);
            else
                sn_fields_fail(f, at, "\"tasks\" must be an array of names or numbers of tasks");
            return;
        }
        t->ntask++;
    }
    t->tasks = to;
    r->indices_used += (size_t)t->ntask;
}

static void read_pose(reading *r, sn_fields *f, sn_task *t) {
    int nq = sn_model_nq(r->model);
    t->q = r->numbers + r->numbers_used;
    if (sn_fields_numbers(f, "q", nq, r->numbers + r->numbers_used)) {
        r->numbers_used += (size_t)nq;
    } else {
        need(f, false, "q");
    }
}

static void read_goals(reading *r, sn_fields *f, sn_task *t) {
    switch (t->type) {
    case SN_TASK_PLANE:
        need(f, sn_fields_numbers(f, "point", 3, t->goal), "point");
        need(f, sn_fields_numbers(f, "normal", 3, t->normal), "normal");
        (void)read_other(r, f, t);
        break;
    case SN_TASK_LINE:
        need(f, sn_fields_numbers(f, "point", 3, t->goal), "point");
        need(f, sn_fields_numbers(f, "axis", 3, t->axis), "axis");
        (void)read_other(r, f, t);
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
    case SN_TASK_POSTURE:
        read_joints(r, f, t);
        read_pose(r, f, t);
        break;
    case SN_TASK_REST:
        read_pose(r, f, t);
        break;
    case SN_TASK_POINT:
        need(f, sn_fields_numbers(f, "goal", 3, t->goal), "goal");
        break;
    case SN_TASK_RELATIVE:
    case SN_TASK_RELATIVE_ORIENTATION:
    case SN_TASK_RELATIVE_POSE:
        read_relative(r, f, t);
        break;
    case SN_TASK_DISTANCE:
        need(f, sn_fields_number(f, "distance", &t->distance), "distance");
        if (!read_other(r, f, t)) need(f, sn_fields_numbers(f, "point", 3, t->local2), "point");
        break;
    case SN_TASK_LOOK_AT:
        need(f, sn_fields_numbers(f, "axis", 3, t->axis), "axis");
        if (!read_other(r, f, t)) need(f, sn_fields_numbers(f, "goal", 3, t->local2), "goal");
        break;
    case SN_TASK_CENTRE_OF_MASS:
        need(f, sn_fields_numbers(f, "goal", 3, t->goal), "goal");
        read_masses(r, f, t);
        break;
    case SN_TASK_AVOID:
        (void)sn_fields_number(f, "distance", &t->distance);
        (void)read_other(r, f, t);
        if (t->joint < 0 && t->joint2 >= 0) need(f, false, "joint");
        break;
    case SN_TASK_HALF_SPACE:
        read_half_space(r, f, t);
        break;
    case SN_TASK_SUPPORT:
        read_support(r, f, t);
        break;
    case SN_TASK_COUPLED:
        read_coupled(r, f, t);
        break;
    default:
        break;
    }
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
    if (type == SN_TASK_TYPE_COUNT) {
        sn_guess guess = sn_guess_begin(type_name);
        char meant[90];
        for (int i = 0; i < SN_TASK_TYPE_COUNT; i++)
            (void)sn_guess_try(&guess, sn_task_type_name((sn_task_type)i));
        return sn_fields_fail(&f, sn_json_get(r->json, node, "type"), "unknown type \"%.40s\"%s",
                              type_name, sn_guess_text(&guess, meant, sizeof meant));
    }
    if (type == SN_TASK_OWN)
        return sn_fields_fail(&f, node, "a function of one's own is given in C: see sn_own_task");
    sn_task t = sn_task_default(type);
    (void)snprintf(f.owner, sizeof f.owner, "task %d (%s)", index, type_name);
    r->place = r->other = sn_place_none();
    read_body(r, &f, &t);
    (void)sn_fields_numbers(&f, "local", 3, t.local);
    read_weight(r, &f, &t);
    read_loss(&f, &t);
    read_level(&f, &t);
    (void)is_missing(&f);
    read_goals(r, &f, &t);
    read_rotation_weight(&f, &t);
    if (f.status != SN_OK) return f.status;
    const char *wrong = sn_place_apply(&t, &r->place, &r->other);
    if (wrong != NULL) return sn_fields_fail(&f, node, "%s", wrong);
    r->task[index] = t;
    return sn_task_check(r->model, &t, index, node->line, r->error);
}

// The matrix of a coupled task must have the size of what it weighs.
static sn_status check_coupled(reading *r, const sn_json_node *node, int index) {
    const sn_task *t = &r->task[index];
    if (t->type != SN_TASK_COUPLED) return SN_OK;
    sn_fields f = {.json = r->json, .object = node, .error = r->error, .blame = SN_ERR_TASK};
    (void)snprintf(f.owner, sizeof f.owner, "task %d (coupled)", index);
    const sn_json_node *weight = sn_json_get(r->json, node, "weight");
    size_t rows = 0;
    for (int k = 0; k < t->ntask; k++) rows += (size_t)sn_task_residuals(&r->task[t->tasks[k]]);
    if (rows != weight->count)
        return sn_fields_fail(&f, weight, "its tasks have %zu numbers, \"weight\" has %u rows",
                              rows, (unsigned)weight->count);
    return SN_OK;
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

    // room for the tasks' arrays: no more numbers than the file has
    size_t numbers = 1, indices = 1;
    const sn_json_node *at = sn_json_first(r->json, tasks);
    for (; at != NULL; at = sn_json_next(r->json, at)) {
        const sn_json_node *q = sn_json_get(r->json, at, "q");
        const sn_json_node *weight = sn_json_get(r->json, at, "weight");
        if (q != NULL) numbers += q->count;
        if (weight != NULL) numbers += weight->count;
        if (weight != NULL && weight->count <= SN_MAX_COUPLING)
            numbers += weight->count * weight->count;
        const sn_json_node *masses = sn_json_get(r->json, at, "masses");
        const sn_json_node *centres = sn_json_get(r->json, at, "centres");
        const sn_json_node *joints = sn_json_get(r->json, at, "joints");
        const sn_json_node *members = sn_json_get(r->json, at, "tasks");
        if (masses != NULL) numbers += masses->count;
        if (centres != NULL) numbers += 3 * centres->count;
        if (joints != NULL) indices += joints->count;
        const sn_json_node *corners = sn_json_get(r->json, at, "corners");
        const sn_json_node *coordinates = sn_json_get(r->json, at, "coordinates");
        if (corners != NULL) numbers += 3 * corners->count;
        if (coordinates != NULL) numbers += (size_t)sn_model_nv(r->model);
        if (members != NULL) indices += members->count;
    }
    sn_layout layout = {0};
    (void)sn_layout_take(&layout, tasks->count + 1, sizeof *r->task);
    (void)sn_layout_take(&layout, numbers, sizeof *r->numbers);
    (void)sn_layout_take(&layout, indices, sizeof *r->indices);
    if (layout.overflow) return sn_fields_fail(&f, tasks, "too many tasks");
    r->task = sn_acquire(r->allocator, layout.used);
    if (r->task == NULL) return sn_fail_memory(r->error);
    layout = (sn_layout){.block = (char *)r->task};
    (void)sn_layout_take(&layout, tasks->count + 1, sizeof *r->task);
    r->numbers = sn_layout_take(&layout, numbers, sizeof *r->numbers);
    r->indices = sn_layout_take(&layout, indices, sizeof *r->indices);

    at = sn_json_first(r->json, tasks);
    for (int i = 0; at != NULL; i++, at = sn_json_next(r->json, at)) SN_TRY(read_task(r, at, i));
    at = sn_json_first(r->json, tasks);
    for (int i = 0; at != NULL; i++, at = sn_json_next(r->json, at))
        SN_TRY(check_coupled(r, at, i));
    *count = (int)tasks->count;
    return SN_OK;
}

static void mark_missing(const reading *r, sn_problem *problem) {
    const sn_json_node *tasks = sn_json_get(r->json, sn_json_root(r->json), "tasks");
    const sn_json_node *at = sn_json_first(r->json, tasks);
    for (int i = 0; at != NULL; i++, at = sn_json_next(r->json, at)) {
        sn_fields f = {.json = r->json, .object = at};
        if (is_missing(&f)) (void)sn_problem_set_missing(problem, i, true);
    }
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
    if (status == SN_OK) mark_missing(&r, *out);
    sn_release(allocator, r.task);
    sn_json_destroy(json);
    return status;
}
