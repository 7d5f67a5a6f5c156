// SPDX-License-Identifier: MIT
// Setup files of OpenSim's inverse kinematics: what to fit, with which weights, when, and where it goes.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files/osim/setup.h"
#include "files/xml_tree.h"
#include "sinew/files.h"

struct sn_ik_setup {
    sn_allocator allocator;
    sn_xml_tree tree, tasks_tree;  // all names point into them
    sn_ik_setup_info info;
    sn_ik_task *task;
    size_t capacity;
    char note[SN_SETUP_NOTE];
};

int sn_setup_find_tool(const sn_xml_tree *t, const char *name) {
    if (sn_xml_tree_is(t, 0, name)) return 0;
    return sn_xml_tree_is(t, 0, "OpenSimDocument") ? sn_xml_tree_find(t, 0, name) : -1;
}

// --- tasks ---------------------------------------------------------------------------------------

static sn_status read_source(const sn_xml_tree *t, int node, sn_ik_value *out, sn_error *error) {
    static const char *const words[] = {"default_value", "manual_value", "from_file"};
    int at = sn_xml_tree_find(t, node, "value_type");
    const char *text = sn_xml_tree_text(t, at);
    *out = SN_IK_DEFAULT;
    if (*text == '\0') return SN_OK;
    for (int i = 0; i < 3; i++) {
        *out = (sn_ik_value)i;
        if (strcmp(text, words[i]) == 0) return SN_OK;
    }
    return sn_fail(error, SN_ERR_PARSE, sn_xml_tree_line(t, at),
                   "<value_type> is \"%.40s\", none of default_value, manual_value, from_file",
                   text);
}

static sn_status read_task(const sn_xml_tree *t, int node, bool coordinate, sn_ik_task *out,
                           sn_error *error) {
    // OpenSim's own defaults
    *out = (sn_ik_task){.name = sn_xml_tree_label(t, node),
                        .coordinate = coordinate,
                        .apply = true,
                        .line = sn_xml_tree_line(t, node)};
    int weight = sn_xml_tree_find(t, node, "weight"), value = sn_xml_tree_find(t, node, "value");
    if (out->name[0] == '\0')
        return sn_fail(error, SN_ERR_PARSE, out->line, "<%.40s> has no name=\"...\"",
                       sn_xml_tree_name(t, node));
    SN_TRY(sn_xml_tree_flag(t, sn_xml_tree_find(t, node, "apply"), &out->apply, error));
    SN_TRY(sn_xml_tree_number(t, weight, &out->weight, error));
    if (!(out->weight >= 0 && out->weight <= 1e12))
        return sn_fail(error, SN_ERR_PARSE, sn_xml_tree_line(t, weight),
                       "the weight of \"%.60s\" is %g; weights are numbers from 0 to 1e12",
                       out->name, out->weight);
    if (!coordinate) return SN_OK;
    SN_TRY(read_source(t, node, &out->from, error));
    SN_TRY(sn_xml_tree_number(t, value, &out->value, error));
    if (isfinite(out->value)) return SN_OK;
    return sn_fail(error, SN_ERR_PARSE, sn_xml_tree_line(t, value),
                   "the value of \"%.60s\" is not finite", out->name);
}

static sn_status add_tasks(sn_ik_setup *s, const sn_xml_tree *t, int set, sn_error *error) {
    int list = sn_xml_tree_find(t, set, "objects");
    s->info.ntask = 0;
    for (int k = sn_xml_tree_first(t, list); k >= 0; k = sn_xml_tree_next(t, k)) {
        bool marker = sn_xml_tree_is(t, k, "IKMarkerTask");
        if (!marker && !sn_xml_tree_is(t, k, "IKCoordinateTask")) {
            sn_setup_note(s->note, "line %d: <%.40s> is not a task that is known, and is left out",
                          sn_xml_tree_line(t, k), sn_xml_tree_name(t, k));
            continue;
        }
        void *items = s->task;
        sn_status status = sn_grow(&s->allocator, &items, &s->capacity, (size_t)s->info.ntask + 1,
                                   sizeof *s->task);
        s->task = items;
        if (status != SN_OK) return sn_fail_memory(error);
        SN_TRY(read_task(t, k, !marker, &s->task[s->info.ntask], error));
        // the last of several counts, as in OpenSim's sets
        const sn_ik_task *task = &s->task[s->info.ntask];
        for (int i = 0; i < s->info.ntask; i++) {
            if (s->task[i].coordinate != task->coordinate ||
                strcmp(s->task[i].name, task->name) != 0 || !s->task[i].apply || !task->apply)
                continue;
            return sn_fail(error, SN_ERR_PARSE, task->line,
                           "another task, on line %d, is about the %s \"%.60s\", too",
                           s->task[i].line, marker ? "marker" : "coordinate", task->name);
        }
        s->info.ntask++;
    }
    return SN_OK;
}

// --- the tool ------------------------------------------------------------------------------------

static const char *word(const sn_xml_tree *t, int tool, const char *name, int *line) {
    int at = sn_xml_tree_find(t, tool, name);
    const char *text = sn_xml_tree_word(t, at);
    if (line != NULL) *line = *text != '\0' ? sn_xml_tree_line(t, at) : 0;
    return text;
}

static sn_status read_times(sn_ik_setup *s, int tool, sn_error *error) {
    sn_ik_setup_info *info = &s->info;
    int at = sn_xml_tree_find(&s->tree, tool, "time_range");
    double range[2] = {-INFINITY, INFINITY};
    SN_TRY(sn_xml_tree_numbers(&s->tree, at, 2, range, error));
    info->first_time = range[0], info->last_time = range[1];
    info->time_line =
        sn_xml_tree_text(&s->tree, at)[0] != '\0' ? sn_xml_tree_line(&s->tree, at) : 0;
    if (range[0] <= range[1]) return SN_OK;
    return sn_fail(error, SN_ERR_PARSE, info->time_line,
                   "<time_range> ends at %g s, before it begins at %g s", range[1], range[0]);
}

static sn_status read_accuracy(sn_ik_setup *s, int tool, sn_error *error) {
    sn_ik_setup_info *info = &s->info;
    int at = sn_xml_tree_find(&s->tree, tool, "accuracy");
    SN_TRY(sn_xml_tree_number(&s->tree, at, &info->accuracy, error));
    if (!(info->accuracy > 0) || !isfinite(info->accuracy))
        return sn_fail(error, SN_ERR_PARSE, sn_xml_tree_line(&s->tree, at),
                       "<accuracy> is %g; it must be above 0", info->accuracy);
    at = sn_xml_tree_find(&s->tree, tool, "constraint_weight");
    SN_TRY(sn_xml_tree_number(&s->tree, at, &info->constraint_weight, error));
    if (info->constraint_weight >= 0) return SN_OK;
    return sn_fail(error, SN_ERR_PARSE, sn_xml_tree_line(&s->tree, at),
                   "<constraint_weight> is %g; it must be 0 or above, or Inf",
                   info->constraint_weight);
}

// What is known and has no meaning here, beside what is read: the rest is said to be passed over.
static void tell_strangers(sn_ik_setup *s, int tool) {
    static const char *const known[] = {"results_directory",
                                        "input_directory",
                                        "model_file",
                                        "constraint_weight",
                                        "accuracy",
                                        "IKTaskSet",
                                        "marker_file",
                                        "coordinate_file",
                                        "time_range",
                                        "output_motion_file",
                                        "report_errors",
                                        "report_marker_locations",
                                        "sensor_to_opensim_rotations",
                                        "orientations_file",
                                        "optimizer_algorithm",
                                        "OrientationWeightSet"};
    const sn_xml_tree *t = &s->tree;
    for (int k = sn_xml_tree_first(t, tool); k >= 0; k = sn_xml_tree_next(t, k)) {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            found = found || sn_xml_tree_is(t, k, known[i]);
        if (!found)
            sn_setup_note(s->note, "line %d: <%.40s> is not honoured", sn_xml_tree_line(t, k),
                          sn_xml_tree_name(t, k));
    }
}

// The weights of sensors are tasks, too.
static sn_status add_sensors(sn_ik_setup *s, int set, sn_error *error) {
    const sn_xml_tree *t = &s->tree;
    int list = sn_xml_tree_find(t, set, "objects");
    for (int k = sn_xml_tree_first(t, list); k >= 0; k = sn_xml_tree_next(t, k)) {
        void *items = s->task;
        sn_status status = sn_grow(&s->allocator, &items, &s->capacity, (size_t)s->info.ntask + 1,
                                   sizeof *s->task);
        s->task = items;
        if (status != SN_OK) return sn_fail_memory(error);
        SN_TRY(read_task(t, k, false, &s->task[s->info.ntask], error));
        s->info.ntask++;
    }
    return SN_OK;
}

static sn_status read_tool(sn_ik_setup *s, int tool, sn_error *error) {
    const sn_xml_tree *t = &s->tree;
    sn_ik_setup_info *i = &s->info;
    i->name = sn_xml_tree_label(t, tool);
    i->model_file = word(t, tool, "model_file", &i->model_line);
    i->marker_file = word(t, tool, "marker_file", &i->marker_line);
    i->coordinate_file = word(t, tool, "coordinate_file", &i->coordinate_line);
    i->orientations_file = word(t, tool, "orientations_file", NULL);
    i->output_file = word(t, tool, "output_motion_file", &i->output_line);
    i->results_directory = word(t, tool, "results_directory", NULL);
    SN_TRY(read_times(s, tool, error));
    SN_TRY(read_accuracy(s, tool, error));
    SN_TRY(sn_xml_tree_numbers(t, sn_xml_tree_find(t, tool, "sensor_to_opensim_rotations"), 3,
                               i->sensor_rotation, error));
    SN_TRY(
        sn_xml_tree_flag(t, sn_xml_tree_find(t, tool, "report_errors"), &i->report_errors, error));
    SN_TRY(sn_xml_tree_flag(t, sn_xml_tree_find(t, tool, "report_marker_locations"),
                            &i->report_markers, error));
    tell_strangers(s, tool);
    int set = sn_xml_tree_find(t, tool, "IKTaskSet");
    i->task_file = sn_xml_tree_file(t, set);
    if (s->info.imu)
        return add_sensors(s, sn_xml_tree_find(t, tool, "OrientationWeightSet"), error);
    return add_tasks(s, t, set, error);
}

static sn_status read_setup(sn_ik_setup *s, sn_error *error) {
    const sn_xml_tree *t = &s->tree;
    int tool = sn_setup_find_tool(t, "InverseKinematicsTool");
    int imu = sn_setup_find_tool(t, "IMUInverseKinematicsTool");
    int set = sn_setup_find_tool(t, "IKTaskSet");
    s->info.imu = imu >= 0;
    if (tool >= 0 || imu >= 0) return read_tool(s, tool >= 0 ? tool : imu, error);
    if (set >= 0) return add_tasks(s, t, set, error);
    return sn_fail(error, SN_ERR_PARSE, sn_xml_tree_line(t, 0),
                   "there is no <InverseKinematicsTool> here: is this the setup of another tool?");
}

// The marker placement of a scaling is one frame of inverse kinematics: its tasks and its coordinate file. The
// times say what is averaged, which is not for the solver.
static sn_status read_placer(sn_ik_setup *s, sn_error *error) {
    const sn_xml_tree *t = &s->tree;
    int placer = sn_xml_tree_find(t, sn_setup_find_tool(t, "ScaleTool"), "MarkerPlacer");
    int set = sn_xml_tree_find(t, placer, "IKTaskSet");
    s->info.coordinate_file = word(t, placer, "coordinate_file", &s->info.coordinate_line);
    s->info.task_file = sn_xml_tree_file(t, set);
    return add_tasks(s, t, set, error);
}

static sn_status make(const char *text, size_t length, const sn_allocator *allocator,
                      sn_status (*read)(sn_ik_setup *s, sn_error *error), sn_ik_setup **out,
                      sn_error *error) {
    sn_ik_setup *s = sn_acquire(allocator, sizeof *s);
    if (s == NULL) return sn_fail_memory(error);
    *s = (sn_ik_setup){.allocator = sn_allocator_of(allocator)};
    s->info = (sn_ik_setup_info){.name = "",
                                 .model_file = "",
                                 .marker_file = "",
                                 .coordinate_file = "",
                                 .orientations_file = "",
                                 .task_file = "",
                                 .output_file = "",
                                 .results_directory = "",
                                 .first_time = -INFINITY,
                                 .last_time = INFINITY,
                                 .accuracy = 1e-5,
                                 .constraint_weight = INFINITY};
    s->info.note = s->note;
    sn_status status = sn_xml_tree_read(&s->tree, text, length, allocator, error);
    if (status == SN_OK) status = read(s, error);
    if (status != SN_OK) {
        sn_ik_setup_destroy(s);
        return status;
    }
    *out = s;
    return SN_OK;
}

sn_status sn_ik_setup_read(const char *text, size_t length, const sn_allocator *allocator,
                           sn_ik_setup **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    if (length > 0) SN_NEED(text, error);
    SN_NEED(out, error);
    return make(text != NULL ? text : "", length, allocator, read_setup, out, error);
}

sn_status sn_ik_setup_read_placer(const char *text, size_t length, const sn_allocator *allocator,
                                  sn_ik_setup **out, sn_error *error) {
    *out = NULL;
    return make(text, length, allocator, read_placer, out, error);
}

sn_status sn_ik_setup_read_tasks(sn_ik_setup *setup, const char *text, size_t length,
                                 sn_error *error) {
    SN_NEED(setup, error);
    if (length > 0) SN_NEED(text, error);
    if (text == NULL) text = "";
    setup->info.ntask = 0;
    sn_xml_tree_end(&setup->tasks_tree, &setup->allocator);
    SN_TRY(sn_xml_tree_read(&setup->tasks_tree, text, length, &setup->allocator, error));
    int set = sn_setup_find_tool(&setup->tasks_tree, "IKTaskSet");
    if (set < 0)
        return sn_fail(error, SN_ERR_PARSE, sn_xml_tree_line(&setup->tasks_tree, 0),
                       "there is no <IKTaskSet> here");
    return add_tasks(setup, &setup->tasks_tree, set, error);
}

void sn_ik_setup_destroy(sn_ik_setup *setup) {
    if (setup == NULL) return;
    sn_allocator allocator = setup->allocator;
    sn_xml_tree_end(&setup->tree, &allocator);
    sn_xml_tree_end(&setup->tasks_tree, &allocator);
    sn_release(&allocator, setup->task);
    sn_release(&allocator, setup);
}

const sn_ik_setup_info *sn_ik_setup_about(const sn_ik_setup *setup) {
    return setup != NULL ? &setup->info : NULL;
}

const sn_ik_task *sn_ik_setup_task(const sn_ik_setup *setup, int i) {
    return setup != NULL && i >= 0 && i < setup->info.ntask ? &setup->task[i] : NULL;
}
