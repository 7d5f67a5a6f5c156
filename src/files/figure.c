// SPDX-License-Identifier: MIT
// The list of a file's joints while it is made: adding to it, and names that differ.
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "files/skeleton.h"

sn_entry *sn_figure_add(sn_figure *figure, const char *name, int parent,
                        const sn_allocator *allocator, sn_error *error) {
    if (figure->nentry >= SN_MAX_JOINTS) {
        (void)sn_fail(error, SN_ERR_SIZE, 0, "more than %d joints", SN_MAX_JOINTS);
        return NULL;
    }
    void *entries = figure->entry;
    sn_status status =
        sn_grow(allocator, &entries, &figure->capacity, figure->nentry + 1, sizeof *figure->entry);
    figure->entry = entries;
    if (status != SN_OK) {
        (void)sn_fail_memory(error);
        return NULL;
    }
    sn_entry *e = &figure->entry[figure->nentry++];
    *e = (sn_entry){.parent = parent, .order = {{0, 1, 2}}};
    (void)snprintf(e->name, sizeof e->name, "%s", name);
    return e;
}

sn_status sn_figure_add_end(sn_figure *figure, int joint, const double offset[3],
                            const sn_allocator *allocator, sn_error *error) {
    void *ends = figure->end;
    if (figure->nend >= SN_MAX_MARKERS)
        return sn_fail(error, SN_ERR_SIZE, 0, "more than %d ends of limbs", SN_MAX_MARKERS);
    sn_status status =
        sn_grow(allocator, &ends, &figure->end_capacity, figure->nend + 1, sizeof *figure->end);
    figure->end = ends;
    if (status != SN_OK) return sn_fail_memory(error);
    sn_end *end = &figure->end[figure->nend++];
    *end = (sn_end){.joint = joint};
    memcpy(end->offset, offset, sizeof end->offset);
    return SN_OK;
}

const char *sn_entry_label(const sn_entry *entry) {
    return entry->label[0] != '\0' ? entry->label : entry->name;
}

static const char *label_of(const void *owner, int i) {
    return sn_entry_label(&((const sn_figure *)owner)->entry[i]);
}

// "name_n", the name cut where that would be too long.
static void label_with(sn_entry *e, int n) {
    const char *name = e->name[0] != '\0' ? e->name : "joint";
    char suffix[16];
    int digits = snprintf(suffix, sizeof suffix, "_%d", n);
    (void)snprintf(e->label, sizeof e->label, "%.*s%s", SN_MAX_NAME - digits, name, suffix);
}

sn_status sn_figure_label(sn_figure *figure, const sn_allocator *allocator, sn_error *error) {
    sn_names names;
    int *next = NULL;  // for the first of a name: the number to try next
    void *owner = NULL;
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        sn_names_layout(&names, figure->nentry, &layout);
        next = sn_layout_take(&layout, figure->nentry, sizeof *next);
        if (pass == 1) break;
        void *block = sn_layout_acquire(&layout, allocator, &owner);
        if (block == NULL) return sn_fail_memory(error);
        layout = (sn_layout){.block = block};
    }
    // names that stand once stay, wherever they stand
    for (size_t k = 0; k < figure->nentry; k++) {
        // that of a joint which stands in no file comes last
        size_t i = figure->several_roots ? (k + 1) % figure->nentry : k;
        sn_entry *e = &figure->entry[i];
        e->label[0] = '\0';
        next[i] = 2;
        if (e->name[0] != '\0') (void)sn_names_add(&names, (int)i, label_of, figure);
    }
    int unnamed = 1;
    for (size_t i = 0; i < figure->nentry; i++) {
        sn_entry *e = &figure->entry[i];
        int first = e->name[0] == '\0' ? -1 : sn_names_find(&names, e->name, label_of, figure);
        if (first == (int)i) continue;
        int *number = first < 0 ? &unnamed : &next[first];
        do label_with(e, (*number)++);
        while (sn_names_add(&names, (int)i, label_of, figure) != (int)i);
    }
    sn_release(allocator, owner);
    return SN_OK;
}
