// SPDX-License-Identifier: MIT
// What a scaling writes: the model with its markers placed, the factors as a ScaleSet.
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "take/scaling.h"

// Markers that moved, markers the trial lacks, the subject's name.
sn_status sn_scaling_place_markers(sn_scaling *s) {
    const sn_scale_setup_info *setup = sn_scale_setup_about(s->input->setup);
    size_t n = (size_t)s->nmark + 1;
    sn_osim_mark *moved = sn_acquire(&s->allocator, n * sizeof *moved);
    const char **gone = sn_acquire(&s->allocator, n * sizeof *gone);
    int nmoved = 0, ngone = 0;
    sn_status status = moved == NULL || gone == NULL ? sn_fail_memory(s->error) : SN_OK;
    for (int i = 0; status == SN_OK && i < s->nmark && s->pose != NULL; i++) {
        const sn_scaling_marker *m = &s->marker[i];
        if (sn_recording_find(s->mean, m->name) == -1) gone[ngone++] = m->name;
        if (!m->moved) continue;
        moved[nmoved] = (sn_osim_mark){.name = m->name};
        memcpy(moved[nmoved++].location, m->location, sizeof m->location);
    }
    if (status == SN_OK)
        status = sn_osim_marks_move(s->scaled, s->nscaled, setup != NULL ? setup->name : "", moved,
                                    nmoved, gone, ngone, &s->allocator, &s->placed, &s->nplaced,
                                    s->error);
    if (ngone > 0)
        sn_scaling_tell(s, SN_SCALING_STATIC, 0,
                        "%d marker%s of the model %s not in the static trial, and taken out: "
                        "\"%.60s\"%s",
                        ngone, ngone == 1 ? "" : "s", ngone == 1 ? "is" : "are", gone[0],
                        ngone > 1 ? " and others" : "");
    sn_release(&s->allocator, moved);
    sn_release(&s->allocator, gone);
    return status;
}

sn_status sn_scaling_print_factors(sn_scaling *s) {
    size_t room = 300, n = 0;
    for (int i = 0; i < s->info.nbody; i++) room += 6 * strlen(s->body[i].name) + 300;
    char *t = s->factor_text = sn_acquire(&s->allocator, room);
    if (t == NULL) return sn_fail_memory(s->error);
    n += (size_t)snprintf(t + n, room - n,
                          "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<OpenSimDocument "
                          "Version=\"20303\">\n\t<ScaleSet name=\"ScaleSet\">\n\t\t<objects>\n");
    for (int i = 0; i < s->info.nbody; i++) {
        n += (size_t)snprintf(t + n, room - n, "\t\t\t<Scale>\n\t\t\t\t<scales>");
        for (int x = 0; x < 3; x++) {
            char number[SN_NUMBER_TEXT];
            sn_number_print(s->body[i].factor[x], number);
            n += (size_t)snprintf(t + n, room - n, " %s", number);
        }
        n += (size_t)snprintf(t + n, room - n, "</scales>\n\t\t\t\t<segment>");
        for (const char *c = s->body[i].name; *c != '\0'; c++)
            n += (size_t)snprintf(t + n, room - n, strchr("&<>", *c) != NULL ? "&#%d;" : "%c", *c);
        n += (size_t)snprintf(t + n, room - n,
                              "</segment>\n\t\t\t\t<apply>true</apply>\n\t\t\t</Scale>\n");
    }
    n += (size_t)snprintf(t + n, room - n,
                          "\t\t</objects>\n\t\t<groups />\n\t</ScaleSet>\n</OpenSimDocument>\n");
    s->info.factor_length = n;
    return SN_OK;
}
