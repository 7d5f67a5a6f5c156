// SPDX-License-Identifier: MIT
// Which markers a take is fitted by, and which label is which of them.
#include <stdio.h>
#include <string.h>

#include "take/body.h"
#include "take/marker_set.h"
#include "take/take.h"

// A frame says nothing about a pose with fewer.
enum { LEAST = 3 };

static bool same_place(const double a[3], const double b[3]) {
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

// Is the model the built-in humanoid as it is, bones and markers: nobody's?
static sn_status is_anybody(const sn_take *t, bool *is) {
    sn_model *humanoid;
    const sn_model *m = t->source;
    *is = false;
    if (strcmp(sn_model_name(m), "humanoid") != 0) return SN_OK;
    SN_TRY(sn_model_humanoid(&t->allocator, &humanoid, NULL));
    *is = sn_model_nmarker(m) == sn_model_nmarker(humanoid) &&
          sn_model_njoint(m) == sn_model_njoint(humanoid);
    for (int j = 0; *is && j < sn_model_njoint(m); j++)
        *is = same_place(sn_model_joint(m, j)->position, sn_model_joint(humanoid, j)->position);
    for (int i = 0; *is && i < sn_model_nmarker(m); i++) {
        const sn_marker_desc *a = sn_model_marker(m, i), *b = sn_model_marker(humanoid, i);
        *is = strcmp(a->name, b->name) == 0 && same_place(a->position, b->position);
    }
    sn_model_destroy(humanoid);
    return SN_OK;
}

static sn_status choose_set(sn_take *t) {
    const sn_allocator *allocator = &t->allocator;
    sn_error error = {0};
    bool anybody = false;
    SN_TRY(is_anybody(t, &anybody));
    // nobody's body is scaled to whoever was recorded; not by a set of one's own, which may know no places to measure by
    if (anybody && t->given == NULL && t->options.setup == NULL &&
        t->options.calibrate == SN_CALIBRATE_AUTO)
        t->options.calibrate = SN_CALIBRATE_SCALE;
    if (t->options.setup != NULL && t->given == NULL) return sn_take_ik_markers(t);
    if (t->given != NULL) {
        const sn_marker_place *places = sn_marker_set_place(t->given, 0);
        return sn_marker_set_create(sn_marker_set_name(t->given), places,
                                    sn_marker_set_count(t->given), allocator, &t->set, NULL);
    }
    int own = 0, all = sn_model_nmarker(t->source);
    for (int i = 0; i < all; i++)
        own += sn_recording_find(t->labels, sn_model_marker(t->source, i)->name) != -1;
    // a few names that two sets share, as C7 and LASI, do not make a take the model's own
    const bool few = 2 * own < all;
    if (own >= LEAST && !t->options.builtin && !anybody && !few)
        return sn_marker_set_of_model(t->source, allocator, &t->set, NULL);
    sn_status status = sn_marker_set_builtin(t->source, t->labels, allocator, &t->set, &error);
    // of two sets that know the same labels the one with places
    if (own >= LEAST && !t->options.builtin && status != SN_ERR_MEMORY &&
        (status != SN_OK || sn_marker_set_count(t->set) <= (few && !anybody ? 2 * own : own))) {
        sn_marker_set_destroy(t->set);
        t->set = NULL;
        return sn_marker_set_of_model(t->source, allocator, &t->set, NULL);
    }
    return sn_take_fail(t, SN_FINDING_SET_UNFIT, status, &error);
}

// A generic OpenSim model is nobody's body either: as it is, it would be fitted with angles that are off by 20 degrees.
// One that was scaled has bones that are right to a centimetre, as places by labels are: bones that were held to the
// millimetre would turn the pelvis for it.
static sn_status scale_osim(sn_take *t) {
    const sn_take_options *o = &t->options;
    const bool generic = sn_osim_is_generic(o->coordinates);
    bool placed = true;
    if (o->coordinates == NULL || o->calibrate != SN_CALIBRATE_AUTO || o->setup != NULL)
        return SN_OK;
    for (int i = 0; i < sn_marker_set_count(t->set); i++)
        placed &= sn_marker_set_place(t->set, i)->placed;
    // a set of one's own may know no places to measure by
    if (placed ? !generic : t->given != NULL) return SN_OK;
    t->options.calibrate = SN_CALIBRATE_SCALE;
    return generic ? sn_take_note(t, SN_FINDING_MODEL_GENERIC, NULL, 0, 0) : SN_OK;
}

sn_status sn_take_apply(sn_take *t, const sn_mat3 *stretch) {
    sn_error error = {0};
    sn_model_destroy(t->model);
    sn_model_destroy(t->limited);
    t->model = t->limited = NULL;
    // soft limits are a task's, not the model's
    sn_limit_use limits = t->options.limits == SN_LIMITS_SOFT ? SN_LIMITS_OFF : t->options.limits;
    if (t->roams) limits = SN_LIMITS_AUTO;
    sn_status status = sn_marker_set_stretch(t->set, t->source, limits, t->roams ? t->left : NULL,
                                             stretch, &t->allocator, &t->model, &error);
    // limits help the calibration even where the fit goes without, as real takes break many files'
    if (status == SN_OK)
        status =
            sn_marker_set_stretch(t->set, t->source, t->roams ? SN_LIMITS_AUTO : SN_LIMITS_HARD,
                                  t->left, stretch, &t->allocator, &t->limited, &error);
    t->input.model = t->model;
    t->input.limited = t->limited;
    return sn_take_fail(t, SN_FINDING_JOINT_UNKNOWN, status, &error);
}

// --- labels without a place, places without data -------------------------------------------------

static bool is_unnamed(const char *name) {
    return name[0] == '*' || name[0] == '\0' || name[0] == '#';
}

// Names to compare a label with: the model's, which a setup is about; or those of the whole built-in set where it
// was cut to what the recording has.
static sn_status known_names(const sn_take *t, sn_marker_set **all, const char ***names,
                             int *count) {
    *all = NULL;
    if (t->given == NULL && t->options.setup == NULL) {
        sn_status status = sn_marker_set_builtin(t->source, NULL, &t->allocator, all, NULL);
        if (status == SN_ERR_MEMORY) return status;
    }
    *count = *all != NULL ? sn_marker_set_count(*all) : sn_model_nmarker(t->model);
    *names = sn_acquire(&t->allocator, ((size_t)*count + 1) * sizeof **names);
    if (*names == NULL) return SN_ERR_MEMORY;
    for (int i = 0; i < *count; i++)
        (*names)[i] =
            *all != NULL ? sn_marker_set_place(*all, i)->name : sn_model_marker(t->model, i)->name;
    return SN_OK;
}

static sn_status tell_list(sn_take *t, sn_finding_code code, const sn_name_list *list) {
    char text[sizeof list->text + 40];
    if (list->count == 0) return SN_OK;
    sn_name_list_print(list, text);
    return sn_take_note(t, code, text, list->count, 0);
}

static sn_status tell_labels(sn_take *t, const char *const *names, int count) {
    sn_name_list list = {0};
    int unnamed = 0;
    for (int m = 0; m < t->summary.labels; m++) {
        bool used = false;
        char one[200];
        const char *label = sn_label_name(sn_recording_label(t->labels, m));
        for (int i = 0; i < sn_model_nmarker(t->model); i++) used |= t->column[i] == t->origin[m];
        if (used) continue;
        if (is_unnamed(label)) {
            unnamed++;
            continue;
        }
        int near = sn_nearest_name(label, names, count);
        bool close = near >= 0 && sn_recording_find(t->labels, names[near]) == -1;
        (void)snprintf(one, sizeof one, "%.60s%s%s%s", label, close ? " (did you mean " : "",
                       close ? names[near] : "", close ? "?)" : "");
        sn_name_list_add(&list, one);
    }
    SN_TRY(tell_list(t, SN_FINDING_LABELS_UNKNOWN, &list));
    return unnamed > 0 ? sn_take_note(t, SN_FINDING_POINTS_UNNAMED, NULL, unnamed, 0) : SN_OK;
}

static bool is_empty(const sn_take *t, int marker) {
    const int m = t->column[marker];
    return m < 0 ||
           sn_recording_missing(t->recording, m) == sn_recording_about(t->recording)->nframe;
}

static sn_status tell_empty(sn_take *t) {
    sn_name_list list = {0};
    for (int i = 0; i < sn_model_nmarker(t->model); i++) {
        char one[64];
        if (!is_empty(t, i)) continue;
        (void)snprintf(one, sizeof one, "%.60s", sn_model_marker(t->model, i)->name);
        sn_name_list_add(&list, one);
    }
    return tell_list(t, SN_FINDING_MARKERS_EMPTY, &list);
}

// --- matching ------------------------------------------------------------------------------------

static sn_status refuse_several(sn_take *t) {
    int count;
    char text[200];
    SN_TRY(sn_take_subjects(t->source, t->recording, &t->allocator, NULL, 0, &count, NULL));
    (void)snprintf(text, sizeof text, "%.180s", sn_recording_label(t->labels, 0));
    return sn_take_refuse(t, SN_FINDING_SUBJECTS_SEVERAL, text, count, 0);
}

static sn_status match(sn_take *t) {
    int n = sn_model_nmarker(t->model);
    t->column = sn_acquire(&t->allocator, ((size_t)n + 1) * sizeof *t->column);
    if (t->column == NULL) return SN_ERR_MEMORY;
    bool several = sn_fit_match(t->model, t->labels, NULL, t->column) < 0;
    for (int i = 0; i < n; i++) {
        t->summary.matched += t->column[i] >= 0;
        if (t->column[i] >= 0) t->column[i] = t->origin[t->column[i]];
    }
    t->input.recording = t->recording;
    t->input.column = t->column;
    return several ? refuse_several(t) : SN_OK;
}

// Markers that a frame shows. Where none does, all that have a label: frames are judged later.
static int with_data(const sn_take *t) {
    int n = 0;
    for (int i = 0; i < sn_model_nmarker(t->model); i++) n += !is_empty(t, i);
    return n > 0 ? n : t->summary.matched;
}

// A finger that nothing is to show: skeletons have twenty of them a hand, and nobody takes these for made up.
static bool is_bare_finger(const sn_model *m, int joint) {
    const int parent = sn_model_parent(m, joint);
    bool finger = false;
    for (int side = 0; side < 2 && parent >= 0; side++) {
        const int forearm = sn_body_part(m, SN_BODY_FOREARM, side);
        finger =
            finger || (forearm >= 0 && parent != forearm && sn_body_is_above(m, forearm, parent));
    }
    for (int i = 0; finger && i < sn_model_nmarker(m); i++) {
        const int at = sn_model_marker(m, i)->joint;
        finger = !sn_body_is_above(m, joint, at);
    }
    return finger;
}

static int moving_dofs(const sn_model *m) {
    int n = 0;
    for (int j = 0; j < sn_model_njoint(m); j++) {
        const int first = sn_model_v_index(m, j);
        if (first < sn_model_nv(m) - sn_fit_freedom(m) || is_bare_finger(m, j)) continue;
        for (int v = first; v < first + sn_model_joint_nv(m, j); v++)
            n += sn_model_lower(m)[v] < sn_model_upper(m)[v];
    }
    return n;
}

sn_status sn_take_find_markers(sn_take *t) {
    sn_marker_set *all = NULL;
    const char **names = NULL;
    int count;
    SN_TRY(choose_set(t));
    SN_TRY(sn_take_apply(t, NULL));
    SN_TRY(match(t));
    SN_TRY(scale_osim(t));
    sn_status status = known_names(t, &all, &names, &count);
    if (status == SN_OK) status = tell_labels(t, names, count);
    if (status == SN_OK) status = tell_empty(t);
    if (names != NULL) sn_release(&t->allocator, (void *)names);
    sn_marker_set_destroy(all);
    SN_TRY(status);
    const int nv = moving_dofs(t->model), seen = with_data(t);
    const bool asked = t->given != NULL || t->options.setup != NULL;
    // three numbers a marker: with half as many as there are angles most of a figure is made up
    if (seen < LEAST || (6 * seen < nv && !asked)) {
        SN_TRY(sn_take_note(t, SN_FINDING_MARKERS_FEW, NULL, seen, count));
        t->finding[t->nfinding - 1].number[2] = nv;
        return SN_ERR_VALUE;
    }
    // a set of one's own may be meant to show a part of the figure; lower bodies and keypoints on a whole figure
    // have 16 and 17 markers for 58 angles
    if ((asked ? 6 : 5) * seen < nv)
        return sn_take_note(t, SN_FINDING_MARKERS_SPARSE, NULL, seen, nv);
    return SN_OK;
}
