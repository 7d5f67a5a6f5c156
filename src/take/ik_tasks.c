// SPDX-License-Identifier: MIT
// Marker weights from the task files of OpenSim's inverse kinematics.
#include <string.h>

#include "files/xml.h"
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

sn_status sn_marker_set_read(const char *text, size_t length, const sn_model *model,
                             const sn_allocator *allocator, sn_marker_set **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(text, error);
    SN_NEED(model, error);
    SN_NEED(out, error);
    size_t at = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < length && strchr(" \t\r\n", text[at]) != NULL && text[at] != '\0') at++;
    return at < length && text[at] == '<'
               ? sn_marker_set_read_tasks(text, length, model, allocator, out, error)
               : sn_marker_set_read_json(text, length, allocator, out, error);
}
