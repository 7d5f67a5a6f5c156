// SPDX-License-Identifier: MIT
// Setup files of OpenSim's scale tool: what is measured, what is given by hand, how the static pose is found.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files/osim/setup.h"

#define LIST(type, list)                                                                           \
    type *list;                                                                                    \
    size_t list##_room

// A file: all names point into its tree, or into its words.
typedef struct source {
    sn_xml_tree tree;
    char *words;  // as long as the texts of the tree
    size_t nwords;
} source;

// The setup itself, then files that sets of it stand in.
enum { SETUP, MEASUREMENTS, FACTORS, SOURCES };

struct sn_scale_setup {
    sn_allocator allocator;
    source source[SOURCES];
    sn_ik_setup *ik;
    sn_scale_setup_info info;
    LIST(sn_scale_measurement, measurement);
    LIST(sn_scale_pair, pair);
    LIST(sn_scale_body, body);
    LIST(sn_scale_body, manual);
    int npair, nbody;
    char note[SN_SETUP_NOTE];
};

#define FAIL(t, node, ...) sn_fail(error, SN_ERR_PARSE, sn_xml_tree_line(t, node), __VA_ARGS__)

static sn_status room_for(sn_scale_setup *s, void *list, size_t *room, int count, size_t size,
                          sn_error *error) {
    void *items;
    memcpy(&items, list, sizeof items);
    sn_status status = sn_grow(&s->allocator, &items, room, (size_t)count + 1, size);
    memcpy(list, &items, sizeof items);
    return status == SN_OK ? SN_OK : sn_fail_memory(error);
}

#define ROOM(s, list, count)                                                                       \
    room_for((s), &(s)->list, &(s)->list##_room, (count), sizeof *(s)->list, error)

// The words of a text, each terminated; the texts of the tree are longer than all of them together.
static int split(source *s, const char *text, const char **out, int most) {
    int n = 0;
    for (;;) {
        while (*text == ' ' || *text == ',') text++;
        size_t length = strcspn(text, " ,");
        if (length == 0) return n;
        char *word = s->words + s->nwords;
        memcpy(word, text, length);
        word[length] = '\0';
        s->nwords += length + 1;
        if (n < most) out[n] = word;
        n++;
        text += length;
    }
}

static const char *word(const sn_xml_tree *t, int outer, const char *name, int *line) {
    int at = sn_xml_tree_find(t, outer, name);
    const char *text = sn_xml_tree_word(t, at);
    if (line != NULL) *line = *text != '\0' ? sn_xml_tree_line(t, at) : 0;
    return text;
}

static sn_status is_on(const sn_xml_tree *t, int node, bool *out, sn_error *error) {
    *out = true;
    return sn_xml_tree_flag(t, sn_xml_tree_find(t, node, "apply"), out, error);
}

// The list of a set that cannot stand in a file of its own.
static sn_status find_list(const sn_xml_tree *t, int outer, const char *name, int *out,
                           sn_error *error) {
    int set = sn_xml_tree_find(t, outer, name);
    *out = sn_xml_tree_find(t, set, "objects");
    if (sn_xml_tree_file(t, set)[0] == '\0') return SN_OK;
    return FAIL(t, set, "<%s file=\"%.80s\">: put what that file holds here", name,
                sn_xml_tree_file(t, set));
}

static sn_status read_times(const sn_xml_tree *t, int outer, double *first, double *last, int *line,
                            sn_error *error) {
    int at = sn_xml_tree_find(t, outer, "time_range");
    double range[2] = {-1, -1};
    *first = -INFINITY, *last = INFINITY, *line = 0;
    SN_TRY(sn_xml_tree_numbers(t, at, 2, range, error));
    // what OpenSim writes for none
    if (range[0] == -1 && range[1] == -1) return SN_OK;
    *first = range[0], *last = range[1], *line = sn_xml_tree_line(t, at);
    if (range[0] <= range[1]) return SN_OK;
    return FAIL(t, at, "<time_range> ends at %g s, before it begins at %g s", range[1], range[0]);
}

// --- measurements --------------------------------------------------------------------------------

static sn_status read_pairs(sn_scale_setup *s, source *from, int list, sn_error *error) {
    const sn_xml_tree *t = &from->tree;
    for (int k = sn_xml_tree_first(t, list); k >= 0; k = sn_xml_tree_next(t, k)) {
        if (!sn_xml_tree_is(t, k, "MarkerPair")) continue;
        int at = sn_xml_tree_find(t, k, "markers");
        SN_TRY(ROOM(s, pair, s->npair));
        sn_scale_pair *p = &s->pair[s->npair];
        int n = split(from, sn_xml_tree_text(t, at), p->marker, 2);
        p->line = sn_xml_tree_line(t, at >= 0 ? at : k);
        if (n != 2)
            return sn_fail(error, SN_ERR_PARSE, p->line, "<markers> names %d, and a pair needs two",
                           n);
        if (strcmp(p->marker[0], p->marker[1]) == 0)
            return sn_fail(error, SN_ERR_PARSE, p->line,
                           "<markers> is \"%.60s\" twice: there is no distance", p->marker[0]);
        s->npair++;
    }
    return SN_OK;
}

static sn_status read_axes(source *from, int k, bool axis[3], sn_error *error) {
    const sn_xml_tree *t = &from->tree;
    int at = sn_xml_tree_find(t, k, "axes");
    const char *words[3];
    int n = split(from, sn_xml_tree_text(t, at), words, 3);
    for (int i = 0; i < 3; i++) axis[i] = false;
    for (int i = 0; i < n; i++) {
        int x =
            i < 3 && words[i][0] != '\0' && words[i][1] == '\0' ? (words[i][0] | 0x20) - 'x' : -1;
        if (x < 0 || x > 2 || axis[x])
            return FAIL(t, at, "<axes> of \"%.60s\" is \"%.40s\"; it is some of X Y Z",
                        sn_xml_tree_label(t, k), sn_xml_tree_text(t, at));
        axis[x] = true;
    }
    if (n > 0) return SN_OK;
    return FAIL(t, at >= 0 ? at : k, "\"%.60s\" is scaled along none of its axes X Y Z",
                sn_xml_tree_label(t, k));
}

static sn_status read_bodies(sn_scale_setup *s, source *from, int list, sn_error *error) {
    const sn_xml_tree *t = &from->tree;
    for (int k = sn_xml_tree_first(t, list); k >= 0; k = sn_xml_tree_next(t, k)) {
        if (!sn_xml_tree_is(t, k, "BodyScale")) continue;
        SN_TRY(ROOM(s, body, s->nbody));
        sn_scale_body *b = &s->body[s->nbody];
        *b = (sn_scale_body){.body = sn_xml_tree_label(t, k), .line = sn_xml_tree_line(t, k)};
        if (b->body[0] == '\0') return FAIL(t, k, "<BodyScale> has no name=\"...\"");
        SN_TRY(read_axes(from, k, b->axis, error));
        s->nbody++;
    }
    return SN_OK;
}

static sn_status read_measurements(sn_scale_setup *s, source *from, int set, sn_error *error) {
    const sn_xml_tree *t = &from->tree;
    int list = sn_xml_tree_find(t, set, "objects"), inner;
    for (int k = sn_xml_tree_first(t, list); k >= 0; k = sn_xml_tree_next(t, k)) {
        bool on;
        if (!sn_xml_tree_is(t, k, "Measurement")) continue;
        SN_TRY(is_on(t, k, &on, error));
        if (!on) continue;
        SN_TRY(ROOM(s, measurement, s->info.nmeasurement));
        sn_scale_measurement m = {.name = sn_xml_tree_label(t, k),
                                  .pair = s->npair,
                                  .body = s->nbody,
                                  .line = sn_xml_tree_line(t, k)};
        SN_TRY(find_list(t, k, "MarkerPairSet", &inner, error));
        SN_TRY(read_pairs(s, from, inner, error));
        SN_TRY(find_list(t, k, "BodyScaleSet", &inner, error));
        SN_TRY(read_bodies(s, from, inner, error));
        m.npair = s->npair - m.pair;
        m.nbody = s->nbody - m.body;
        s->measurement[s->info.nmeasurement++] = m;
    }
    return SN_OK;
}

static sn_status read_manual(sn_scale_setup *s, source *from, int set, sn_error *error) {
    const sn_xml_tree *t = &from->tree;
    int list = sn_xml_tree_find(t, set, "objects");
    for (int k = sn_xml_tree_first(t, list); k >= 0; k = sn_xml_tree_next(t, k)) {
        bool on;
        if (!sn_xml_tree_is(t, k, "Scale")) continue;
        SN_TRY(is_on(t, k, &on, error));
        if (!on) continue;
        int at = sn_xml_tree_find(t, k, "scales");
        SN_TRY(ROOM(s, manual, s->info.nmanual));
        sn_scale_body *b = &s->manual[s->info.nmanual];
        *b = (sn_scale_body){.body = word(t, k, "segment", NULL),
                             .factor = {1, 1, 1},
                             .line = sn_xml_tree_line(t, k)};
        if (b->body[0] == '\0') return FAIL(t, k, "<Scale> states no <segment>");
        SN_TRY(sn_xml_tree_numbers(t, at, 3, b->factor, error));
        for (int i = 0; i < 3; i++)
            if (!(b->factor[i] > 0) || !isfinite(b->factor[i]))
                return FAIL(t, at, "<scales> of \"%.60s\" holds %g; factors are above 0", b->body,
                            b->factor[i]);
        s->info.nmanual++;
    }
    return SN_OK;
}

static sn_status read_order(sn_scale_setup *s, int scaler, sn_error *error) {
    const sn_xml_tree *t = &s->source[SETUP].tree;
    int at = sn_xml_tree_find(t, scaler, "scaling_order");
    const char *words[2];
    int n = split(&s->source[SETUP], sn_xml_tree_text(t, at), words, 2);
    if (n > 2)
        return FAIL(t, at,
                    "<scaling_order> names %d steps; there are two, measurements and "
                    "manualScale",
                    n);
    for (int i = 0; i < n; i++) {
        bool manual = strcmp(words[i], "manualScale") == 0;
        if (!manual && strcmp(words[i], "measurements") != 0)
            return FAIL(t, at,
                        "<scaling_order> names \"%.60s\", neither measurements nor "
                        "manualScale",
                        words[i]);
        s->info.step[i] = manual ? SN_SCALE_MANUAL : SN_SCALE_MEASUREMENTS;
    }
    if (n == 2 && s->info.step[0] == s->info.step[1]) n = 1;
    s->info.nstep = n;
    if (n == 0) sn_setup_note(s->note, "<scaling_order> is empty: nothing is scaled");
    return SN_OK;
}

static sn_status read_scaler(sn_scale_setup *s, int tool, sn_error *error) {
    const sn_xml_tree *t = &s->source[SETUP].tree;
    sn_scale_setup_info *i = &s->info;
    int scaler = sn_xml_tree_find(t, tool, "ModelScaler");
    if (scaler < 0) return SN_OK;
    SN_TRY(is_on(t, scaler, &i->scales, error));
    if (!i->scales) return SN_OK;
    SN_TRY(read_order(s, scaler, error));
    int measured = sn_xml_tree_find(t, scaler, "MeasurementSet");
    int manual = sn_xml_tree_find(t, scaler, "ScaleSet");
    i->measurement_set_file = sn_xml_tree_file(t, measured);
    i->scale_set_file = sn_xml_tree_file(t, manual);
    if (i->measurement_set_file[0] != '\0') i->measurement_set_line = sn_xml_tree_line(t, measured);
    if (i->scale_set_file[0] != '\0') i->scale_set_line = sn_xml_tree_line(t, manual);
    SN_TRY(read_measurements(s, &s->source[SETUP], measured, error));
    SN_TRY(read_manual(s, &s->source[SETUP], manual, error));
    i->measured_file = word(t, scaler, "marker_file", &i->measured_line);
    SN_TRY(read_times(t, scaler, &i->measured_first, &i->measured_last, &i->measured_time_line,
                      error));
    int flag = sn_xml_tree_find(t, scaler, "preserve_mass_distribution");
    SN_TRY(sn_xml_tree_flag(t, flag, &i->preserve_mass, error));
    i->scaled_model_file = word(t, scaler, "output_model_file", NULL);
    i->scale_file = word(t, scaler, "output_scale_file", NULL);
    bool measures = false;
    for (int k = 0; k < i->nstep; k++) measures |= i->step[k] == SN_SCALE_MEASUREMENTS;
    if (!measures) {
        i->measured_file = i->measurement_set_file = "";
        i->measured_line = i->measurement_set_line = 0;
        i->nmeasurement = 0;
    }
    if ((i->nmeasurement > 0 || i->measurement_set_file[0] != '\0') && i->measured_file[0] == '\0')
        return FAIL(t, scaler,
                    "there are measurements, and <marker_file> names no trial to take "
                    "them from");
    return SN_OK;
}

// --- markers -------------------------------------------------------------------------------------

// Weights that leave nothing to fit.
static sn_status check_tasks(const sn_scale_setup *s, int line, sn_error *error) {
    int n = 0;
    for (int k = 0; k < sn_ik_setup_about(s->ik)->ntask; k++) {
        const sn_ik_task *task = sn_ik_setup_task(s->ik, k);
        n += !task->coordinate && task->apply && task->weight > 0;
    }
    if (n > 0) return SN_OK;
    return sn_fail(error, SN_ERR_PARSE, line,
                   "no task of the static pose follows a marker: there is none that is switched on "
                   "and has a weight above 0");
}

static sn_status read_placer(sn_scale_setup *s, int tool, sn_error *error) {
    const sn_xml_tree *t = &s->source[SETUP].tree;
    sn_scale_setup_info *i = &s->info;
    int placer = sn_xml_tree_find(t, tool, "MarkerPlacer");
    if (placer < 0) return SN_OK;
    SN_TRY(is_on(t, placer, &i->places, error));
    if (!i->places) return SN_OK;
    i->static_file = word(t, placer, "marker_file", &i->static_line);
    SN_TRY(read_times(t, placer, &i->static_first, &i->static_last, &i->static_time_line, error));
    SN_TRY(sn_xml_tree_number(t, sn_xml_tree_find(t, placer, "max_marker_movement"),
                              &i->max_movement, error));
    i->coordinate_file = word(t, placer, "coordinate_file", &i->coordinate_line);
    i->motion_file = word(t, placer, "output_motion_file", NULL);
    i->output_model_file = word(t, placer, "output_model_file", NULL);
    i->marker_file = word(t, placer, "output_marker_file", NULL);
    int set = sn_xml_tree_find(t, placer, "IKTaskSet");
    i->task_file = sn_xml_tree_file(t, set);
    bool moves = true;
    int flag = sn_xml_tree_find(t, placer, "move_model_markers");
    SN_TRY(sn_xml_tree_flag(t, flag, &moves, error));
    if (!moves)
        sn_setup_note(
            s->note,
            "line %d: <move_model_markers> is not honoured: a marker stays where it is when "
            "it is <fixed>",
            sn_xml_tree_line(t, flag));
    if (i->static_file[0] == '\0')
        return FAIL(t, placer,
                    "<MarkerPlacer> is switched on, and <marker_file> names no static "
                    "trial");
    if (i->task_file[0] != '\0') return SN_OK;
    return check_tasks(s, sn_xml_tree_line(t, set >= 0 ? set : placer), error);
}

// --- the tool ------------------------------------------------------------------------------------

static sn_status read_setup(sn_scale_setup *s, sn_error *error) {
    const sn_xml_tree *t = &s->source[SETUP].tree;
    sn_scale_setup_info *i = &s->info;
    int tool = sn_setup_find_tool(t, "ScaleTool");
    if (tool < 0)
        return FAIL(t, 0, "there is no <ScaleTool> here: is this the setup of another tool?");
    i->name = sn_xml_tree_label(t, tool);
    if (strcmp(i->name, "default") == 0) i->name = "";
    int mass = sn_xml_tree_find(t, tool, "mass");
    SN_TRY(sn_xml_tree_number(t, mass, &i->mass, error));
    if (!isfinite(i->mass)) return FAIL(t, mass, "<mass> is not finite");
    if (i->mass < 0) i->mass = 0;
    int maker = sn_xml_tree_find(t, tool, "GenericModelMaker");
    i->model_file = word(t, maker, "model_file", &i->model_line);
    i->marker_set_file = word(t, maker, "marker_set_file", &i->marker_set_line);
    SN_TRY(read_scaler(s, tool, error));
    return read_placer(s, tool, error);
}

static sn_status open_source(sn_scale_setup *s, int which, const char *text, size_t length,
                             sn_error *error) {
    source *from = &s->source[which];
    SN_TRY(sn_xml_tree_read(&from->tree, text, length, &s->allocator, error));
    // the words of a text are at most twice as long, with their ends
    from->words = sn_acquire(&s->allocator, 2 * from->tree.ntexts + 1);
    return from->words != NULL ? SN_OK : sn_fail_memory(error);
}

static void close_source(sn_scale_setup *s, int which) {
    sn_xml_tree_end(&s->source[which].tree, &s->allocator);
    sn_release(&s->allocator, s->source[which].words);
    s->source[which] = (source){0};
}

static void show_lists(sn_scale_setup *s) {
    s->info.measurement = s->measurement;
    s->info.pairs = s->pair;
    s->info.bodies = s->body;
    s->info.manual = s->manual;
}

sn_status sn_scale_setup_read(const char *text, size_t length, const sn_allocator *allocator,
                              sn_scale_setup **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    if (length > 0) SN_NEED(text, error);
    SN_NEED(out, error);
    if (text == NULL) text = "";
    sn_scale_setup *s = sn_acquire(allocator, sizeof *s);
    if (s == NULL) return sn_fail_memory(error);
    *s = (sn_scale_setup){.allocator = sn_allocator_of(allocator)};
    s->info = (sn_scale_setup_info){.name = "",
                                    .model_file = "",
                                    .marker_set_file = "",
                                    .measurement_set_file = "",
                                    .scale_set_file = "",
                                    .measured_file = "",
                                    .measured_first = -INFINITY,
                                    .measured_last = INFINITY,
                                    .scaled_model_file = "",
                                    .scale_file = "",
                                    .static_file = "",
                                    .static_first = -INFINITY,
                                    .static_last = INFINITY,
                                    .max_movement = -1,
                                    .coordinate_file = "",
                                    .task_file = "",
                                    .motion_file = "",
                                    .output_model_file = "",
                                    .marker_file = "",
                                    .note = s->note};
    sn_status status = open_source(s, SETUP, text, length, error);
    if (status == SN_OK) status = sn_ik_setup_read_placer(text, length, allocator, &s->ik, error);
    if (status == SN_OK) status = read_setup(s, error);
    show_lists(s);
    if (status != SN_OK) {
        sn_scale_setup_destroy(s);
        return status;
    }
    *out = s;
    return SN_OK;
}

sn_status sn_scale_setup_read_tasks(sn_scale_setup *setup, const char *text, size_t length,
                                    sn_error *error) {
    SN_NEED(setup, error);
    SN_TRY(sn_ik_setup_read_tasks(setup->ik, text, length, error));
    return check_tasks(setup, 0, error);
}

sn_status sn_scale_setup_read_set(sn_scale_setup *setup, const char *text, size_t length,
                                  sn_error *error) {
    SN_NEED(setup, error);
    if (length > 0) SN_NEED(text, error);
    sn_xml_tree peek = {0};
    SN_TRY(sn_xml_tree_read(&peek, text != NULL ? text : "", length, &setup->allocator, error));
    bool measured = sn_setup_find_tool(&peek, "MeasurementSet") >= 0;
    bool factors = sn_setup_find_tool(&peek, "ScaleSet") >= 0;
    sn_xml_tree_end(&peek, &setup->allocator);
    if (!measured && !factors)
        return sn_fail(error, SN_ERR_PARSE, 1,
                       "there is neither a <MeasurementSet> nor a <ScaleSet> here");
    int which = measured ? MEASUREMENTS : FACTORS;
    source *from = &setup->source[which];
    close_source(setup, which);
    if (measured)
        setup->info.nmeasurement = setup->npair = setup->nbody = 0;
    else
        setup->info.nmanual = 0;
    sn_status status = open_source(setup, which, text, length, error);
    if (status == SN_OK) {
        int set = sn_setup_find_tool(&from->tree, measured ? "MeasurementSet" : "ScaleSet");
        status = measured ? read_measurements(setup, from, set, error)
                          : read_manual(setup, from, set, error);
    }
    // lines are said of the setup, and these are not in it
    for (int k = 0; k < setup->info.nmeasurement && measured; k++) setup->measurement[k].line = 0;
    for (int k = 0; k < setup->npair && measured; k++) setup->pair[k].line = 0;
    for (int k = 0; k < setup->nbody && measured; k++) setup->body[k].line = 0;
    for (int k = 0; k < setup->info.nmanual && factors; k++) setup->manual[k].line = 0;
    show_lists(setup);
    if (status == SN_OK) return SN_OK;
    // nothing half read is left
    if (measured)
        setup->info.nmeasurement = setup->npair = setup->nbody = 0;
    else
        setup->info.nmanual = 0;
    return status;
}

void sn_scale_setup_destroy(sn_scale_setup *setup) {
    if (setup == NULL) return;
    sn_allocator allocator = setup->allocator;
    sn_ik_setup_destroy(setup->ik);
    for (int k = 0; k < SOURCES; k++) close_source(setup, k);
    sn_release(&allocator, setup->measurement);
    sn_release(&allocator, setup->pair);
    sn_release(&allocator, setup->body);
    sn_release(&allocator, setup->manual);
    sn_release(&allocator, setup);
}

const sn_scale_setup_info *sn_scale_setup_about(const sn_scale_setup *setup) {
    return setup != NULL ? &setup->info : NULL;
}

const sn_ik_setup *sn_scale_setup_ik(const sn_scale_setup *setup) {
    return setup != NULL ? setup->ik : NULL;
}
