// SPDX-License-Identifier: MIT
#include "task_text.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"

static bool joins_two(const sn_task *t) {
    return t->type == SN_TASK_PLANE || t->type == SN_TASK_AVOID || t->type == SN_TASK_HALF_SPACE ||
           (t->type >= SN_TASK_RELATIVE && t->type < SN_TASK_CENTRE_OF_MASS);
}

// Others are on coordinates, on tasks or on a list of joints.
static bool on_joint(const sn_task *t) {
    return t->type <= SN_TASK_POSE || t->type == SN_TASK_LIMIT || joins_two(t);
}

const char *task_where(const sn_model *model, const sn_task *t, char *text, size_t size) {
    const sn_joint_desc *joint = t->joint >= 0 ? sn_model_joint(model, t->joint) : NULL;
    const sn_joint_desc *other = joins_two(t) ? sn_model_joint(model, t->joint2) : NULL;
    if (t->type == SN_TASK_COUPLED) {
        (void)snprintf(text, size, "(%d tasks)", t->ntask);
    } else if (t->type == SN_TASK_HALF_SPACE && t->q_weight != NULL) {
        (void)snprintf(text, size, "(coordinates)");
    } else if ((t->type == SN_TASK_HALF_SPACE && joint == NULL) || t->type == SN_TASK_SUPPORT) {
        (void)snprintf(text, size, "(centre of mass)");
    } else if (t->type >= SN_TASK_CENTRE_OF_MASS && t->joints != NULL) {
        (void)snprintf(text, size, "(%d joint%s)", t->njoint, t->njoint == 1 ? "" : "s");
    } else if (joint == NULL) {
        (void)snprintf(text, size, "(all)");
    } else {
        (void)snprintf(text, size, "%s%s%s", joint->name, other != NULL ? "-" : "",
                       other != NULL ? other->name : "");
    }
    return text;
}

int task_where_width(const sn_model *model, const sn_problem *problem, int least) {
    char where[100];
    for (int i = 0; i < sn_problem_ntask(problem); i++) {
        const char *text = task_where(model, sn_problem_task(problem, i), where, sizeof where);
        if ((int)strlen(text) > least) least = (int)strlen(text);
    }
    return least;
}

const char *task_idle(const sn_problem *problem, int task) {
    if (sn_problem_task_active(problem, task)) return NULL;
    return sn_problem_task(problem, task)->weight == 0 ? "weight 0" : "missing";
}

const char *task_unit(const sn_task *t) {
    switch (t->type) {
    case SN_TASK_ORIENTATION:
    case SN_TASK_RELATIVE_ORIENTATION:
    case SN_TASK_POSTURE:
        return "rad";
    case SN_TASK_DIRECTION:
    case SN_TASK_LOOK_AT:
        return "chord";
    case SN_TASK_POSE:
    case SN_TASK_FRAME2:
    case SN_TASK_RELATIVE_POSE:
    case SN_TASK_REST:
    case SN_TASK_LIMIT:
    case SN_TASK_COUPLED:
        return t->type == SN_TASK_LIMIT && t->joint >= 0 ? "m" : "m,rad";
    case SN_TASK_OWN:
        return "-";
    default:
        return "m";
    }
}

void print_task_json(const sn_model *model, const sn_problem *problem, int task, double error) {
    const sn_task *t = sn_problem_task(problem, task);
    const sn_joint_desc *joint = sn_model_joint(model, t->joint);
    const sn_joint_desc *other = joins_two(t) ? sn_model_joint(model, t->joint2) : NULL;
    printf("{\"type\":\"%s\"", sn_task_type_name(t->type));
    if (joint != NULL && on_joint(t)) {
        printf(",\"joint\":");
        print_json_string(joint->name);
    }
    if (other != NULL) {
        printf(",\"joint2\":");
        print_json_string(other->name);
    }
    printf(",\"level\":%d,\"active\":%s,\"error\":", t->level,
           sn_problem_task_active(problem, task) ? "true" : "false");
    print_number(error);
    putchar('}');
}

int task_levels(const sn_problem *problem) {
    bool there[SN_MAX_LEVELS] = {false};
    int count = 0;
    for (int i = 0; i < sn_problem_ntask(problem); i++)
        if (sn_problem_task_active(problem, i)) there[sn_problem_task(problem, i)->level] = true;
    for (int i = 0; i < SN_MAX_LEVELS; i++) count += there[i];
    return count;
}
