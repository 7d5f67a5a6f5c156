// SPDX-License-Identifier: MIT
// The functions of a joint: checked, copied, made ready for the sweeps.
#include <string.h>

#include "math/unit.h"
#include "model/model.h"

static const char *const usual_name[SN_MAX_JOINT_DOFS] = {"q1", "q2", "q3", "q4", "q5", "q6"};

static const char *name_of(const sn_joint_functions *f, int i) {
    return f->coordinate[i] != NULL && f->coordinate[i][0] != '\0' ? f->coordinate[i]
                                                                   : usual_name[i];
}

static const char *check_names(const sn_joint_functions *f) {
    for (int i = 0; i < f->ncoordinate; i++) {
        if (strlen(name_of(f, i)) > SN_MAX_NAME)
            return "a coordinate's name is longer than 255 bytes";
        for (int j = 0; j < i; j++)
            if (strcmp(name_of(f, i), name_of(f, j)) == 0)
                return "two of its coordinates have the same name";
    }
    return NULL;
}

static const char *check_move(const sn_joint_move *move, int ncoordinate) {
    double unit[3];
    if (!sn_unit(move->axis, 3, unit)) return "axis is zero or not finite";
    return sn_function_check(&move->function, ncoordinate);
}

const char *sn_functions_check(const sn_joint_functions *f, int *move) {
    *move = -1;
    if (f == NULL) return "it needs its functions";
    if (f->ncoordinate < 1 || f->ncoordinate > SN_MAX_JOINT_DOFS)
        return "a function joint has 1 to 6 coordinates";
    if (f->nmove < 1 || f->nmove > SN_MAX_JOINT_MOVES) return "a function joint has 1 to 8 moves";
    const char *wrong = check_names(f);
    for (int m = 0; wrong == NULL && m < f->nmove; m++) {
        wrong = check_move(&f->move[m], f->ncoordinate);
        *move = wrong != NULL ? m : -1;
    }
    return wrong;
}

static double *copy_numbers(const double *from, int n, sn_layout *layout) {
    double *to = sn_layout_take(layout, (size_t)n, sizeof *to);
    if (to != NULL && n > 0) memcpy(to, from, (size_t)n * sizeof *to);
    return to;
}

sn_joint_functions *sn_functions_layout(const sn_joint_functions *from, sn_layout *layout) {
    sn_joint_functions *to = sn_layout_take(layout, 1, sizeof *to);
    if (to != NULL) *to = *from;
    for (int i = 0; i < from->ncoordinate; i++) {
        size_t bytes = strlen(name_of(from, i)) + 1;
        char *name = sn_layout_take(layout, bytes, 1);
        if (to == NULL) continue;
        memcpy(name, name_of(from, i), bytes);
        to->coordinate[i] = name;
    }
    for (int m = 0; m < from->nmove; m++) {
        const sn_function *f = &from->move[m].function;
        const double *x = copy_numbers(f->x, f->nx, layout);
        const double *y = copy_numbers(f->y, f->ny, layout);
        if (to == NULL) continue;
        to->move[m].function.x = x;
        to->move[m].function.y = y;
    }
    return to;
}

sn_joint_functions *sn_functions_copy(const sn_joint_functions *from,
                                      const sn_allocator *allocator) {
    sn_layout layout = {0};
    (void)sn_functions_layout(from, &layout);
    if (layout.overflow) return NULL;
    // The first piece of a layout is where its block is, so that the copy itself can be released.
    layout = (sn_layout){.block = sn_acquire(allocator, layout.used)};
    return layout.block != NULL ? sn_functions_layout(from, &layout) : NULL;
}

sn_drive *sn_drive_layout(const sn_joint_functions *from, sn_layout *layout) {
    sn_drive *to = sn_layout_take(layout, 1, sizeof *to);
    if (to != NULL) to->nmove = from->nmove;
    for (int m = 0; m < from->nmove; m++) {
        const sn_joint_move *move = &from->move[m];
        double unit[3],
            *room = sn_layout_take(layout, sn_driver_numbers(&move->function), sizeof *room);
        if (to == NULL) continue;
        (void)sn_unit(move->axis, 3, unit);
        sn_vec3 axis = v3_from(move->turns ? unit : move->axis);
        to->move[m] = (struct sn_drive_move){.turns = move->turns, .aligned = -1, .axis = axis};
        for (int i = 0; i < 3; i++)
            if (v3_at(axis, i) == 1) to->move[m].aligned = i;
        to->move[m].driver = sn_driver_make(&move->function, room);
    }
    return to;
}
