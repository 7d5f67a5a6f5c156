// SPDX-License-Identifier: MIT
// Reading SRDF: which links of a robot may touch. Of the file only these count, all right below <robot>:
//
//   <disable_collisions link1="a" link2="b" reason="..."/>
//   <disable_default_collisions link="a"/>, but for pairs of
//   <enable_collisions link1="a" link2="b"/>
#include <string.h>

#include "files/note.h"
#include "files/xml.h"
#include "model/model.h"
#include "sinew/files.h"

typedef struct reading {
    sn_xml xml;
    const sn_model *model;
    sn_builder *builder;
    sn_srdf_info *info;
    sn_error *error;
    bool *loose;    // by joint and the world behind them: of disable_default_collisions
    bool enabling;  // this pass looks at enable_collisions alone
    void *pairs;    // enabled ones: npair times two joints
    size_t npair, room;
    const sn_allocator *allocator;
} reading;

#define FAIL(r, ...) sn_fail((r)->error, SN_ERR_PARSE, (r)->xml.line, __VA_ARGS__)

// The joint that holds a link: readers of robots put a marker of its name there.
static sn_status read_link(reading *r, const char *key, int *joint, bool *found) {
    char name[SN_XML_VALUE];
    const sn_xml_attribute *attribute = sn_xml_find(&r->xml, key);
    if (attribute == NULL) return FAIL(r, "<%.*s> has no %s=\"...\"", SN_WORD(r->xml.name), key);
    SN_TRY(sn_xml_value(&r->xml, attribute, name));
    int marker = sn_model_find_marker(r->model, name);
    *joint = marker >= 0 ? r->model->marker[marker].joint : sn_model_find_joint(r->model, name);
    *found = *joint >= 0;
    return SN_OK;
}

static sn_status read_pair(reading *r, int joint[2], bool *found) {
    bool each[2];
    SN_TRY(read_link(r, "link1", &joint[0], &each[0]));
    SN_TRY(read_link(r, "link2", &joint[1], &each[1]));
    *found = each[0] && each[1];
    return SN_OK;
}

static sn_status read_enabled(reading *r) {
    int joint[2];
    bool found;
    SN_TRY(read_pair(r, joint, &found));
    if (!found) return SN_OK;
    if (r->npair >= SN_MAX_EXCLUDED) return FAIL(r, "more than %d enabled pairs", SN_MAX_EXCLUDED);
    sn_status status = sn_grow(r->allocator, &r->pairs, &r->room, r->npair + 1, 2 * sizeof(int));
    if (status != SN_OK) return sn_fail_memory(r->error);
    int(*pair)[2] = r->pairs;
    memcpy(pair[r->npair++], joint, sizeof joint);
    return SN_OK;
}

static bool is_enabled(const reading *r, int a, int b) {
    const int(*pair)[2] = r->pairs;
    for (size_t i = 0; i < r->npair; i++)
        if ((pair[i][0] == a && pair[i][1] == b) || (pair[i][0] == b && pair[i][1] == a))
            return true;
    return false;
}

// A link that touches nothing unless it is said: against every joint that carries shapes.
static void loosen(reading *r, int joint) {
    const sn_model *m = r->model;
    for (int i = 0; i < m->njoint; i++) r->loose[i] = false;
    for (int i = 0; i < m->nshape; i++) {
        int other = m->shape[i].joint;
        if (other < 0 || other == joint || r->loose[other]) continue;
        r->loose[other] = true;
        if (!is_enabled(r, joint, other)) (void)sn_builder_exclude(r->builder, joint, other);
    }
}

static sn_status read_open(reading *r) {
    sn_word tag = r->xml.name;
    if (r->xml.depth == 1) {
        if (sn_xml_is(&r->xml, "robot")) return SN_OK;
        return FAIL(r, "the outermost element is <%.*s>, not <robot>: is this an SRDF file?",
                    SN_WORD(tag));
    }
    if (r->xml.depth != 2) return SN_OK;
    if (tag.length > 6 && memcmp(tag.text, "xacro:", 6) == 0)
        return FAIL(r, "<%.*s> is a macro that is not expanded: run xacro on the file first",
                    SN_WORD(tag));
    if (r->enabling) return sn_xml_is(&r->xml, "enable_collisions") ? read_enabled(r) : SN_OK;
    int joint[2];
    bool found;
    if (sn_xml_is(&r->xml, "disable_collisions")) {
        SN_TRY(read_pair(r, joint, &found));
        r->info->npair += found;
        r->info->nunknown += !found;
        if (found) (void)sn_builder_exclude(r->builder, joint[0], joint[1]);
    }
    if (sn_xml_is(&r->xml, "disable_default_collisions")) {
        SN_TRY(read_link(r, "link", &joint[0], &found));
        r->info->nunknown += !found;
        if (found) loosen(r, joint[0]);
    }
    return SN_OK;
}

static sn_status run_pass(reading *r, const char *text, size_t length) {
    sn_xml_begin(&r->xml, text, length, r->error);
    for (;;) {
        sn_xml_event event;
        SN_TRY(sn_xml_next(&r->xml, &event));
        if (event == SN_XML_END) return SN_OK;
        if (event == SN_XML_OPEN) SN_TRY(read_open(r));
    }
}

sn_status sn_srdf_read(const char *text, size_t length, const sn_model *model,
                       const sn_allocator *allocator, sn_model **out, sn_srdf_info *info,
                       sn_error *error) {
    sn_srdf_info own;
    if (out != NULL) *out = NULL;
    if (length > 0) SN_NEED(text, error);
    SN_NEED(model, error);
    SN_NEED(out, error);
    if (text == NULL) text = "";
    if (info == NULL) info = &own;
    *info = (sn_srdf_info){0};
    reading r = {.model = model, .info = info, .error = error, .allocator = allocator};
    SN_TRY(sn_builder_create_from(model, allocator, &r.builder, error));
    r.loose = sn_acquire(allocator, (size_t)model->njoint * sizeof *r.loose);
    sn_status status = r.loose != NULL ? SN_OK : sn_fail_memory(error);
    r.enabling = true;
    if (status == SN_OK) status = run_pass(&r, text, length);
    r.enabling = false;
    if (status == SN_OK) status = run_pass(&r, text, length);
    if (status == SN_OK) status = sn_builder_finish(r.builder, out, error);
    if (status == SN_OK && info->nunknown > 0)
        sn_note(info->note, "%d disabled pair%s of links that the model has not", info->nunknown,
                info->nunknown == 1 ? " is" : "s are");
    sn_builder_destroy(r.builder);
    sn_release(allocator, r.loose);
    sn_release(allocator, r.pairs);
    return status;
}
