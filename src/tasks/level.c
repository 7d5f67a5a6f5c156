// SPDX-License-Identifier: MIT
#include "tasks/level.h"

#include <string.h>

void sn_level_view_layout(sn_level_view *v, const sn_problem *p, sn_layout *layout) {
    size_t npoint = (size_t)p->npoint, npart = (size_t)p->npart, nrest = (size_t)p->nrest;
    size_t nsoft = (size_t)p->nsoft, ntied = (size_t)p->ntied, nposture = (size_t)p->nposture;
    v->point = sn_layout_take(layout, npoint, sizeof *v->point);
    v->part = sn_layout_take(layout, npart, sizeof *v->part);
    v->rest = sn_layout_take(layout, nrest, sizeof *v->rest);
    v->soft = sn_layout_take(layout, nsoft, sizeof *v->soft);
    v->tied = sn_layout_take(layout, ntied, sizeof *v->tied);
    v->posture = sn_layout_take(layout, nposture, sizeof *v->posture);
    v->point_level = sn_layout_take(layout, npoint, sizeof *v->point_level);
    v->part_level = sn_layout_take(layout, npart, sizeof *v->part_level);
    v->rest_level = sn_layout_take(layout, nrest, sizeof *v->rest_level);
    v->soft_level = sn_layout_take(layout, nsoft, sizeof *v->soft_level);
    v->tied_level = sn_layout_take(layout, ntied, sizeof *v->tied_level);
    v->posture_level = sn_layout_take(layout, nposture, sizeof *v->posture_level);
}

static void copy(void *to, const void *from, int count, size_t size) {
    if (count > 0) memcpy(to, from, (size_t)count * size);
}

void sn_level_view_begin(sn_level_view *v, const sn_problem *p) {
    v->problem = *p;
    v->problem.point = v->point;
    v->problem.part = v->part;
    v->problem.rest = v->rest;
    v->problem.soft = v->soft;
    v->problem.tied = v->tied;
    v->problem.posture = v->posture;
    copy(v->point, p->point, p->npoint, sizeof *p->point);
    copy(v->part, p->part, p->npart, sizeof *p->part);
    copy(v->rest, p->rest, p->nrest, sizeof *p->rest);
    copy(v->soft, p->soft, p->nsoft, sizeof *p->soft);
    copy(v->tied, p->tied, p->ntied, sizeof *p->tied);
    copy(v->posture, p->posture, p->nposture, sizeof *p->posture);
    for (int i = 0; i < p->ntask; i++) {
        const sn_task_parts *at = &p->parts[i];
        const int level = p->task[i].level;
        if (at->point >= 0) v->point_level[at->point] = level;
        if (at->part >= 0) v->part_level[at->part] = level;
        if (at->part2 >= 0) v->part_level[at->part2] = level;
        if (at->rest >= 0) v->rest_level[at->rest] = level;
        if (at->soft >= 0) v->soft_level[at->soft] = level;
        for (int k = 0; k < at->ntied; k++) v->tied_level[at->tied + k] = level;
        if (at->posture >= 0) v->posture_level[at->posture] = level;
    }
    int level[SN_MAX_LEVELS];
    v->top = sn_problem_levels(p, level) > 0 ? level[0] : 0;
    sn_level_view_show(v, p, -1);
}

void sn_level_view_show(sn_level_view *v, const sn_problem *p, int level) {
    // what must not happen comes first, whatever level it was given
    v->problem.guards = level == v->top ? p->guards : NULL;
    for (int i = 0; i < p->npoint; i++)
        v->point[i].weight = v->point_level[i] == level ? p->point[i].weight : 0;
    for (int i = 0; i < p->npart; i++)
        v->part[i].active = v->part_level[i] == level && p->part[i].active;
    for (int i = 0; i < p->nrest; i++)
        v->rest[i].active = v->rest_level[i] == level && p->rest[i].active;
    for (int i = 0; i < p->nsoft; i++)
        v->soft[i].active = v->soft_level[i] == level && p->soft[i].active;
    for (int i = 0; i < p->ntied; i++)
        v->tied[i].active = v->tied_level[i] == level && p->tied[i].active;
    for (int i = 0; i < p->nposture; i++)
        v->posture[i].active = v->posture_level[i] == level && p->posture[i].active;
}

int sn_problem_levels(const sn_problem *p, int level[SN_MAX_LEVELS]) {
    bool there[SN_MAX_LEVELS] = {false};
    int count = 0;
    for (int i = 0; i < p->ntask; i++)
        if (sn_problem_task_active(p, i) && !sn_task_is_guard(&p->task[i]))
            there[p->task[i].level] = true;
    for (int i = 0; i < SN_MAX_LEVELS; i++)
        if (there[i]) level[count++] = i;
    return count;
}
