// SPDX-License-Identifier: MIT
// What an .osim file says about its coordinates beside the model: default values, stated ranges, what is
// prescribed over time.
#include <math.h>
#include <string.h>

#include "files/osim/osim.h"
#include "model/function.h"

#define NAME(u, at) ((u)->names + (at))

struct sn_osim_coordinates {
    sn_allocator allocator;
    void *owner;
    int count;
    sn_osim_coordinate_info *info;
    sn_driver *driver;  // of those that are prescribed
    char *names;
    double *numbers;
    int nplace;
    struct place {
        const char *name;
        int joint;
        sn_frame at;
    } * place;  // bodies, then frames
    bool generic;
    int nmark;
    struct mark {
        const char *name;
        bool fixed;
    } * mark;
};

static sn_function function_of(const sn_osim *u, const sn_osim_coordinate *c) {
    const sn_osim_axis *a = &c->by_time;
    const sn_osim_function *f = &a->function;
    return (sn_function){.type = f->type,
                         .scale = f->scale,
                         .nargument = a->ncoordinate,
                         .nx = (int)f->nx,
                         .ny = (int)f->ny,
                         .x = u->numbers != NULL ? u->numbers + f->x : NULL,
                         .y = u->numbers != NULL ? u->numbers + f->y : NULL};
}

static void lay_out(sn_osim_coordinates *c, const sn_osim *u, sn_layout *layout) {
    size_t numbers = 0;
    for (size_t i = 0; i < u->ncoordinate; i++) {
        if (!sn_osim_is_prescribed(&u->coordinate[i])) continue;
        sn_function f = function_of(u, &u->coordinate[i]);
        numbers += sn_driver_numbers(&f);
    }
    c->info = sn_layout_take(layout, u->ncoordinate, sizeof *c->info);
    c->driver = sn_layout_take(layout, u->ncoordinate, sizeof *c->driver);
    c->names = sn_layout_take(layout, u->nnames + 1, 1);
    c->numbers = sn_layout_take(layout, numbers + 1, sizeof *c->numbers);
    c->place = sn_layout_take(layout, u->nbody + u->nframe, sizeof *c->place);
    c->mark = sn_layout_take(layout, u->nmarker, sizeof *c->mark);
}

// The place of a coordinate in the model: a joint of its name, or one of a function joint's.
static sn_coordinate find_in(const sn_model *m, const char *name) {
    for (int j = 0; j < sn_model_njoint(m); j++) {
        const sn_joint_desc *d = sn_model_joint(m, j);
        if (d->functions == NULL) {
            bool one = d->type == SN_JOINT_HINGE || d->type == SN_JOINT_SLIDER;
            if (one && strcmp(d->name, name) == 0) return (sn_coordinate){j, 0};
            continue;
        }
        for (int k = 0; k < d->functions->ncoordinate; k++)
            if (strcmp(d->functions->coordinate[k], name) == 0) return (sn_coordinate){j, k};
    }
    return (sn_coordinate){-1, 0};
}

// OpenSim calls a coordinate rotational when a rotation follows it alone and as it is; any other drives
// what is "coupled", and stays in radians in files.
static bool rotates(const sn_osim *u, const sn_osim_joint *j, size_t coordinate) {
    for (int k = 0; k < 3; k++) {
        const sn_osim_axis *a = &j->axis[k];
        const sn_osim_function *f = &a->function;
        if (a->ncoordinate != 1 || f->type != SN_FUNCTION_LINEAR || f->ny != 2) continue;
        const double *y = u->numbers + f->y;
        if (strcmp(NAME(u, a->coordinate[0]), NAME(u, coordinate)) == 0 &&
            fabs(f->scale * y[0]) == 1 && y[1] == 0)
            return true;
    }
    return false;
}

static void fill(sn_osim_coordinates *c, const sn_osim *u, const sn_model *model) {
    double *room = c->numbers;
    if (u->nnames > 0) memcpy(c->names, u->names, u->nnames);
    c->count = (int)u->ncoordinate;
    for (size_t n = 0; n < u->njoint; n++) {
        const sn_osim_joint *j = &u->joint[n];
        for (size_t i = j->coordinate; i < j->coordinate + j->ncoordinate; i++) {
            const sn_osim_coordinate *from = &u->coordinate[i];
            c->info[i] =
                (sn_osim_coordinate_info){.name = c->names + from->name,
                                          .at = find_in(model, NAME(u, from->name)),
                                          .value = from->value,
                                          .lower = from->ranged ? from->range[0] : -INFINITY,
                                          .upper = from->ranged ? from->range[1] : INFINITY,
                                          .clamped = from->clamped,
                                          .locked = from->locked,
                                          .prescribed = sn_osim_is_prescribed(from),
                                          .rotates = rotates(u, j, from->name),
                                          .line = from->line};
            if (!c->info[i].prescribed) continue;
            sn_function f = function_of(u, from);
            c->driver[i] = sn_driver_make(&f, room);
            room += sn_driver_numbers(&f);
        }
    }
}

// Bodies, and the frames on them that lead to one.
static void fill_places(sn_osim_coordinates *c, const sn_osim *u) {
    const sn_osim_range none = {0, 0};
    sn_osim quiet = *u;
    quiet.error = NULL;
    for (size_t i = 0; i < u->nbody; i++)
        c->place[c->nplace++] = (struct place){c->names + u->body[i].name, u->body[i].at,
                                               sn_osim_body_frame(&u->body[i])};
    for (size_t i = 0; i < u->nframe; i++) {
        int body;
        sn_frame on, at;
        if (sn_osim_find_body(&quiet, none, u->frame[i].name, 0, "", &body, &on) != SN_OK) continue;
        at = sn_osim_body_frame(&u->body[body]);
        c->place[c->nplace++] =
            (struct place){c->names + u->frame[i].name, u->body[body].at, frame_mul(&at, &on)};
    }
}

// A hand's or a foot's bones may be borrowed from another skeleton: most of the bodies decide.
static bool is_generic(const sn_osim *u) {
    int drawn = 0, resized = 0;
    for (size_t i = 0; i < u->nbody; i++) {
        drawn += u->body[i].drawn;
        resized += u->body[i].drawn && u->body[i].resized;
    }
    return 2 * resized < drawn;
}

bool sn_osim_is_generic(const sn_osim_coordinates *coordinates) {
    return coordinates != NULL && coordinates->generic;
}

bool sn_osim_landmark(const sn_osim_coordinates *coordinates, const char *marker, bool *out) {
    if (coordinates == NULL || marker == NULL || out == NULL) return false;
    bool some[2] = {false, false}, found = false;
    for (int i = 0; i < coordinates->nmark; i++) {
        some[coordinates->mark[i].fixed] = true;
        if (strcmp(coordinates->mark[i].name, marker) != 0) continue;
        *out = coordinates->mark[i].fixed;
        found = true;
    }
    return found && some[0] && some[1];
}

int sn_osim_frame_find(const sn_osim_coordinates *coordinates, const char *name, sn_frame *out) {
    if (coordinates == NULL || name == NULL || out == NULL) return -1;
    for (int i = 0; i < coordinates->nplace; i++) {
        if (strcmp(coordinates->place[i].name, name) != 0) continue;
        *out = coordinates->place[i].at;
        return coordinates->place[i].joint;
    }
    return -1;
}

sn_status sn_osim_coordinates_make(const sn_osim *u, const sn_model *model,
                                   sn_osim_coordinates **out) {
    sn_osim_coordinates c = {.allocator = sn_allocator_of(u->allocator)}, *to;
    sn_layout layout = {0};
    (void)sn_layout_take(&layout, 1, sizeof c);
    lay_out(&c, u, &layout);
    void *block = sn_layout_acquire(&layout, u->allocator, &c.owner);
    if (block == NULL) return sn_fail_memory(u->error);
    layout = (sn_layout){.block = block};
    to = sn_layout_take(&layout, 1, sizeof *to);
    lay_out(&c, u, &layout);
    *to = c;
    fill(to, u, model);
    fill_places(to, u);
    to->generic = is_generic(u);
    for (size_t i = 0; i < u->nmarker; i++)
        to->mark[to->nmark++] = (struct mark){to->names + u->marker[i].name, u->marker[i].fixed};
    *out = to;
    return SN_OK;
}

void sn_osim_coordinates_destroy(sn_osim_coordinates *coordinates) {
    if (coordinates == NULL) return;
    sn_allocator allocator = coordinates->allocator;
    sn_release(&allocator, coordinates->owner);
}

int sn_osim_coordinates_count(const sn_osim_coordinates *coordinates) {
    return coordinates != NULL ? coordinates->count : 0;
}

const sn_osim_coordinate_info *sn_osim_coordinate_at(const sn_osim_coordinates *coordinates,
                                                     int i) {
    bool there = coordinates != NULL && i >= 0 && i < coordinates->count;
    return there ? &coordinates->info[i] : NULL;
}

int sn_osim_coordinate_find(const sn_osim_coordinates *coordinates, const char *name) {
    if (coordinates == NULL || name == NULL) return -1;
    for (int i = 0; i < coordinates->count; i++)
        if (strcmp(coordinates->info[i].name, name) == 0) return i;
    return -1;
}

double sn_osim_prescribed(const sn_osim_coordinates *coordinates, int i, double time) {
    const sn_osim_coordinate_info *info = sn_osim_coordinate_at(coordinates, i);
    if (info == NULL) return 0;
    if (!info->prescribed) return info->value;
    sn_jet jet;
    sn_driver_at(&coordinates->driver[i], &time, &jet);
    return jet.f;
}
