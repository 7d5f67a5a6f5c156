// SPDX-License-Identifier: MIT
// Markers from OpenSim's files: weights of the tasks of its inverse kinematics, places of a MarkerSet.
#include <string.h>

#include "files/osim/scale.h"
#include "files/xml.h"
#include "math/vec3.h"
#include "model/model.h"
#include "take/fit.h"
#include "take/marker_set.h"

typedef struct reading {
    sn_xml xml;
    sn_error *error;
    sn_marker_place *place;  // of the model's markers
    bool *used;
    int count;
    int now;  // the marker of the task that is open; -1: none, or none of the model
    bool apply;
    double weight;
    char value[64];
    size_t length;
} reading;

static sn_status begin_task(reading *r) {
    char name[SN_XML_VALUE] = "";
    const sn_xml_attribute *attribute = sn_xml_find(&r->xml, "name");
    if (attribute != NULL) SN_TRY(sn_xml_value(&r->xml, attribute, name));
    if (name[0] == '\0')
        return sn_fail(r->error, SN_ERR_PARSE, r->xml.line, "an IKMarkerTask has no name=\"...\"");
    r->now = -1;
    for (int i = 0; i < r->count; i++)
        if (strcmp(r->place[i].name, name) == 0) r->now = i;
    r->apply = true;
    r->weight = 1;
    return SN_OK;
}

static sn_status read_text(reading *r) {
    size_t more;
    if (r->xml.text.length > sizeof r->value - r->length) return SN_OK;  // no value that counts
    SN_TRY(sn_xml_text(&r->xml, r->value + r->length, &more));
    r->length += more;
    return SN_OK;
}

static sn_status read_value(reading *r) {
    sn_word word = {r->value, r->length};
    while (word.length > 0 && word.text[0] == ' ') word.text++, word.length--;
    while (word.length > 0 && word.text[word.length - 1] == ' ') word.length--;
    if (sn_xml_is(&r->xml, "apply"))
        r->apply = !sn_word_is(word, "false") && !sn_word_is(word, "0");
    if (!sn_xml_is(&r->xml, "weight")) return SN_OK;
    if (sn_word_number(word, &r->weight) && r->weight >= 0 && r->weight <= 1e12) return SN_OK;
    return sn_fail(r->error, SN_ERR_PARSE, r->xml.line,
                   "the weight \"%.*s\" is not a number from 0 on", SN_WORD(word));
}

// Up to the end of the task set: files are around with something behind it.
static sn_status read_tasks(reading *r) {
    bool inside = false, in_task = false;
    for (;;) {
        sn_xml_event event;
        SN_TRY(sn_xml_next(&r->xml, &event));
        if (event == SN_XML_END)
            return sn_fail(r->error, SN_ERR_PARSE, r->xml.line, "there is no <IKTaskSet> here");
        if (event == SN_XML_TEXT && in_task) SN_TRY(read_text(r));
        if (event == SN_XML_TEXT) continue;
        bool task = sn_xml_is(&r->xml, "IKMarkerTask");
        if (sn_xml_is(&r->xml, "IKTaskSet")) {
            if (event == SN_XML_CLOSE) return SN_OK;
            inside = true;
        } else if (event == SN_XML_OPEN && task && inside) {
            SN_TRY(begin_task(r));
            in_task = true;
        } else if (event == SN_XML_CLOSE && task) {
            in_task = false;
            if (r->now >= 0) {
                r->used[r->now] = r->apply && r->weight > 0;
                r->place[r->now].weight = r->weight;
            }
        } else if (event == SN_XML_CLOSE && in_task) {
            SN_TRY(read_value(r));
        }
        r->length = 0;
    }
}

sn_status sn_marker_set_read_tasks(const char *text, size_t length, const sn_model *model,
                                   const sn_allocator *allocator, sn_marker_set **out,
                                   sn_error *error) {
    if (out != NULL) *out = NULL;
    if (length > 0) SN_NEED(text, error);
    SN_NEED(model, error);
    SN_NEED(out, error);
    if (text == NULL) text = "";
    sn_marker_set *all = NULL;
    if (sn_marker_set_of_model(model, allocator, &all, error) != SN_OK)
        return sn_fail_memory(error);
    reading r = {.error = error, .place = all->place, .count = all->count, .now = -1};
    r.used = sn_acquire(allocator, (size_t)r.count + 1);
    if (r.used == NULL) {
        sn_marker_set_destroy(all);
        return sn_fail_memory(error);
    }
    memset(r.used, 0, (size_t)r.count + 1);
    sn_xml_begin(&r.xml, text, length, error);
    sn_status status = read_tasks(&r);
    int n = 0;
    for (int i = 0; i < r.count; i++)
        if (r.used[i]) r.place[n++] = r.place[i];
    if (status == SN_OK && n == 0)
        status = sn_fail(error, SN_ERR_PARSE, 0, "no task here is about a marker of the model");
    if (status == SN_OK &&
        sn_marker_set_create(all->name, r.place, n, allocator, out, error) != SN_OK)
        status = sn_fail_memory(error);
    sn_release(allocator, r.used);
    sn_marker_set_destroy(all);
    return status;
}

// --- a MarkerSet ---------------------------------------------------------------------------------

// The body that a path names, as a frame of the model: "/bodyset/pelvis" is "pelvis".
static const sn_frame_desc *find_body(const sn_model *model, const char *path) {
    const char *slash = strrchr(path, '/');
    return sn_model_frame(model, sn_model_find_frame(model, slash != NULL ? slash + 1 : path));
}

static sn_status place_marks(const sn_osim_mark *marks, int count, const sn_model *model,
                             sn_marker_place *place, int *n, sn_error *error) {
    bool some[2] = {false, false};
    for (int i = 0; i < count; i++) some[marks[i].fixed] = true;
    for (int i = 0; i < count; i++) {
        const sn_frame_desc *body = find_body(model, marks[i].frame);
        if (strlen(marks[i].name) > SN_MAX_LABEL || marks[i].name[0] == '\0')
            return sn_fail(error, SN_ERR_PARSE, marks[i].line, "a marker's name is empty or long");
        // one on a body that the model lacks is left out: sets are made for several models
        if (body == NULL) continue;
        for (int k = 0; k < *n; k++)
            if (strcmp(place[k].name, marks[i].name) == 0)
                return sn_fail(error, SN_ERR_PARSE, marks[i].line,
                               "marker \"%.60s\" stands here twice", marks[i].name);
        sn_frame f = sn_frame_place(body);
        sn_vec3 p = v3_add(f.p, m3_mul(&f.R, v3_from(marks[i].location)));
        sn_marker_place *to = &place[(*n)++];
        *to = (sn_marker_place){.placed = true, .weight = 1, .position = {p.x, p.y, p.z}};
        sn_copy_name(to->name, sizeof to->name, marks[i].name);
        sn_copy_name(to->joint, sizeof to->joint, sn_model_joint(model, body->joint)->name);
        if (some[0] && some[1]) to->doubt = sn_doubt_of_flag(to->name, marks[i].fixed);
    }
    if (*n > 0) return SN_OK;
    return sn_fail(error, SN_ERR_PARSE, 0,
                   count == 0 ? "there is no marker here"
                              : "no marker here sits on a body that the model has");
}

static sn_status read_marks(const char *text, size_t length, const sn_model *model,
                            const sn_allocator *allocator, sn_marker_set **out, sn_error *error) {
    sn_xml_tree tree = {0};
    sn_osim_mark *marks = NULL;
    int count = 0, n = 0;
    sn_status status = sn_xml_tree_read(&tree, text, length, allocator, error);
    if (status == SN_OK) status = sn_osim_marks_read(&tree, allocator, &marks, &count, error);
    sn_marker_place *place = sn_acquire(allocator, ((size_t)count + 1) * sizeof *place);
    if (status == SN_OK && place == NULL) status = sn_fail_memory(error);
    if (status == SN_OK) status = place_marks(marks, count, model, place, &n, error);
    if (status == SN_OK)
        status = sn_marker_set_create("MarkerSet", place, n, allocator, out, error);
    sn_release(allocator, place);
    sn_release(allocator, marks);
    sn_xml_tree_end(&tree, allocator);
    return status;
}

// A <MarkerSet>, and no tasks?
static bool has_marks(const char *text, size_t length) {
    static const char word[] = "<MarkerSet";
    size_t n = sizeof word - 1;
    for (size_t i = 0; i + n < length; i++)
        if (memcmp(text + i, word, n) == 0) return true;
    return false;
}

sn_status sn_marker_set_read(const char *text, size_t length, const sn_model *model,
                             const sn_allocator *allocator, sn_marker_set **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(text, error);
    SN_NEED(model, error);
    SN_NEED(out, error);
    size_t at = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < length && strchr(" \t\r\n", text[at]) != NULL && text[at] != '\0') at++;
    if (at < length && text[at] == '<' && has_marks(text, length))
        return read_marks(text, length, model, allocator, out, error);
    return at < length && text[at] == '<'
               ? sn_marker_set_read_tasks(text, length, model, allocator, out, error)
               : sn_marker_set_read_json(text, length, allocator, out, error);
}
