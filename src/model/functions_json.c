// SPDX-License-Identifier: MIT
// In a file:
//
//   "coordinates": ["knee"],
//   "moves": [{"slide": [1,0,0], "function": "spline", "of": ["knee"], "x": [...], "y": [...]},
//             {"turn": [0,0,1], "function": "linear", "of": ["knee"], "y": [1,0]}]
#include "model/functions_json.h"

#include <string.h>

#include "base/memory.h"

static const char *const move_keys[] = {"turn", "slide", "function", "of", "scale", "x", "y", NULL};

static void read_coordinates(sn_fields *f, sn_joint_functions *out) {
    const sn_json_node *list = sn_json_get(f->json, f->object, "coordinates");
    if (list == NULL || list->type != SN_JSON_ARRAY || list->count < 1 ||
        list->count > SN_MAX_JOINT_DOFS) {
        sn_fields_fail(f, list != NULL ? list : f->object,
                       "a function joint needs \"coordinates\", an array of 1 to 6 names");
        return;
    }
    const sn_json_node *at = sn_json_first(f->json, list);
    for (uint32_t i = 0; i < list->count; i++, at = sn_json_next(f->json, at)) {
        if (at->type != SN_JSON_STRING || at->string[0] == '\0') {
            sn_fields_fail(f, at, "a coordinate must be a name");
            return;
        }
        out->coordinate[out->ncoordinate++] = at->string;
    }
}

static void read_arguments(sn_fields *f, const sn_json_node *move, const sn_joint_functions *all,
                           sn_function *out) {
    const sn_json_node *list = sn_json_get(f->json, move, "of");
    if (list == NULL) return;
    if (list->type != SN_JSON_ARRAY || list->count > SN_MAX_ARGUMENTS) {
        sn_fields_fail(f, list, "\"of\" must be an array of coordinates' names");
        return;
    }
    const sn_json_node *at = sn_json_first(f->json, list);
    for (uint32_t i = 0; i < list->count; i++, at = sn_json_next(f->json, at)) {
        int k = 0;
        while (at->type == SN_JSON_STRING && k < all->ncoordinate &&
               strcmp(all->coordinate[k], at->string) != 0)
            k++;
        if (at->type != SN_JSON_STRING || k == all->ncoordinate) {
            sn_fields_fail(f, at, "a move follows what is no coordinate of the joint");
            return;
        }
        out->argument[out->nargument++] = k;
    }
}

// Numbers of a function; *first is where they start, since `numbers` moves as it grows.
static int read_numbers(sn_fields *f, const sn_json_node *move, const char *key,
                        sn_numbers *numbers) {
    const sn_json_node *list = sn_json_get(f->json, move, key);
    if (list == NULL || f->status != SN_OK) return 0;
    if (list->type != SN_JSON_ARRAY || list->count > SN_MAX_FUNCTION_NUMBERS) {
        sn_fields_fail(f, list, "\"%s\" of a move must be an array of numbers", key);
        return 0;
    }
    void *items = numbers->item;
    sn_status status = sn_grow(numbers->allocator, &items, &numbers->capacity,
                               numbers->count + list->count + 1, sizeof *numbers->item);
    numbers->item = items;
    if (status != SN_OK) {
        f->status = sn_fail_memory(f->error);
        return 0;
    }
    const sn_json_node *at = sn_json_first(f->json, list);
    for (uint32_t i = 0; i < list->count; i++, at = sn_json_next(f->json, at)) {
        if (at->type != SN_JSON_NUMBER) {
            sn_fields_fail(f, at, "\"%s\" of a move must be an array of numbers", key);
            return 0;
        }
        numbers->item[numbers->count++] = at->number;
    }
    return (int)list->count;
}

static void read_move(sn_fields *joint, const sn_json_node *node, sn_joint_functions *all,
                      sn_numbers *numbers) {
    sn_joint_move *move = &all->move[all->nmove++];
    sn_fields f = *joint;
    const char *type = NULL;
    *move = (sn_joint_move){.function.scale = 1};
    f.object = node;
    if (node->type != SN_JSON_OBJECT) {
        sn_fields_fail(joint, node, "a move must be an object");
        return;
    }
    sn_fields_known(&f, move_keys);
    move->turns = sn_fields_numbers(&f, "turn", 3, move->axis);
    if (sn_fields_numbers(&f, "slide", 3, move->axis) == move->turns)
        sn_fields_fail(&f, node, "a move needs \"turn\" or \"slide\", and not both");
    (void)sn_fields_number(&f, "scale", &move->function.scale);
    if (!sn_fields_string(&f, "function", &type))
        sn_fields_fail(&f, node, "a move has no \"function\"");
    else if ((move->function.type = sn_function_type_find(type)) == SN_FUNCTION_TYPE_COUNT)
        sn_fields_fail(&f, node, "unknown function \"%.40s\"", type);
    if (f.status == SN_OK) read_arguments(&f, node, all, &move->function);
    move->function.nx = read_numbers(&f, node, "x", numbers);
    move->function.ny = read_numbers(&f, node, "y", numbers);
    joint->status = f.status;
}

void sn_functions_read(sn_fields *f, sn_joint_functions *out, sn_numbers *numbers) {
    *out = (sn_joint_functions){0};
    if (f->status != SN_OK) return;
    read_coordinates(f, out);
    if (f->status != SN_OK) return;
    const sn_json_node *list = sn_json_get(f->json, f->object, "moves");
    if (list == NULL || list->type != SN_JSON_ARRAY || list->count < 1 ||
        list->count > SN_MAX_JOINT_MOVES) {
        sn_fields_fail(f, list != NULL ? list : f->object,
                       "a function joint needs \"moves\", an array of 1 to %d", SN_MAX_JOINT_MOVES);
        return;
    }
    const sn_json_node *at = sn_json_first(f->json, list);
    for (uint32_t i = 0; i < list->count && f->status == SN_OK; i++, at = sn_json_next(f->json, at))
        read_move(f, at, out, numbers);
    // the numbers have stopped moving
    size_t next = 0;
    for (int m = 0; numbers->item != NULL && m < out->nmove; m++) {
        sn_function *function = &out->move[m].function;
        function->x = numbers->item + next;
        function->y = function->x + function->nx;
        next += (size_t)function->nx + (size_t)function->ny;
    }
}

void sn_function_write_numbers(sn_text *t, const sn_function *f) {
    if (f->scale != 1) {
        sn_text_add(t, ", \"scale\": ");
        sn_text_add_number(t, f->scale);
    }
    if (f->nx > 0) sn_text_add_numbers(t, "x", f->x, f->nx);
    sn_text_add_numbers(t, "y", f->y, f->ny);
}

void sn_functions_write(sn_text *t, const sn_joint_functions *functions) {
    sn_text_add(t, ", \"coordinates\": [");
    for (int i = 0; i < functions->ncoordinate; i++) {
        if (i > 0) sn_text_add(t, ", ");
        sn_text_add_json_string(t, functions->coordinate[i]);
    }
    sn_text_add(t, "],\n   \"moves\": [");
    for (int m = 0; m < functions->nmove; m++) {
        const sn_joint_move *move = &functions->move[m];
        const sn_function *f = &move->function;
        if (m > 0) sn_text_add(t, ",\n             ");
        sn_text_add(t, move->turns ? "{\"turn\": " : "{\"slide\": ");
        sn_text_add_array(t, move->axis, 3);
        sn_text_add(t, ", \"function\": \"");
        sn_text_add(t, sn_function_type_name(f->type));
        sn_text_add(t, "\"");
        for (int i = 0; i < f->nargument; i++) {
            sn_text_add(t, i > 0 ? ", " : ", \"of\": [");
            sn_text_add_json_string(t, functions->coordinate[f->argument[i]]);
        }
        if (f->nargument > 0) sn_text_add(t, "]");
        sn_function_write_numbers(t, f);
        sn_text_add(t, "}");
    }
    sn_text_add(t, "]");
}
