// SPDX-License-Identifier: MIT
// Which reader a file needs, and one call for all of them.
#include "sinew/files.h"

#include <string.h>

#include "files/csv/csv.h"
#include "files/stranger.h"

const char *sn_format_name(sn_format format) {
    static const char *const names[] = {
#define SN_FORMAT_ENTRY(code, text) text,
        SN_FORMAT_LIST(SN_FORMAT_ENTRY)
#undef SN_FORMAT_ENTRY
    };
    return format >= 0 && format < SN_FORMAT_COUNT ? names[format] : names[0];
}

enum { OPTIONS_VERSION = 1 };

sn_document_options sn_document_options_default(void) {
    return (sn_document_options){.version = OPTIONS_VERSION};
}

// --- what is it ------------------------------------------------------------------------------------------

sn_format sn_format_of_name(const char *file_name) {
    if (file_name == NULL) return SN_FORMAT_UNKNOWN;
    static const struct {
        const char *ending;
        sn_format format;
    } endings[] = {
        {".json", SN_FORMAT_MODEL}, {".asf", SN_FORMAT_ASF},   {".amc", SN_FORMAT_AMC},
        {".bvh", SN_FORMAT_BVH},    {".c3d", SN_FORMAT_C3D},   {".trc", SN_FORMAT_TRC},
        {".mot", SN_FORMAT_MOT},    {".sto", SN_FORMAT_MOT},   {".csv", SN_FORMAT_CSV},
        {".tsv", SN_FORMAT_CSV},    {".urdf", SN_FORMAT_URDF}, {".xml", SN_FORMAT_URDF},
        {".glb", SN_FORMAT_GLB},    {".osim", SN_FORMAT_OSIM}, {".mjcf", SN_FORMAT_MJCF}};
    size_t n = file_name != NULL ? strlen(file_name) : 0;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t m = strlen(endings[i].ending);
        if (n <= m) continue;
        sn_word word = {file_name + n - m, m};
        if (sn_word_is(word, endings[i].ending)) return endings[i].format;
    }
    return SN_FORMAT_UNKNOWN;
}

// Letter case is ignored; `word` must be lower case.
static bool holds(const char *text, size_t length, const char *word) {
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= length; i++)
        if (sn_word_is((sn_word){text + i, n}, word)) return true;
    return false;
}

// Of our own JSON files and glTF: what the keys of the outermost object say, without reading the rest. The
// reader of that kind then says what is wrong.
static sn_format json_kind(const char *text, size_t length) {
    static const struct {
        const char *key;
        sn_format format;
    } kinds[] = {
        {"tasks", SN_FORMAT_TASKS}, {"markers", SN_FORMAT_MARKERS}, {"asset", SN_FORMAT_GLB}};
    sn_format found = SN_FORMAT_MODEL;
    size_t rank = 0;
    int depth = 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (c != '"') continue;
        sn_word key = {text + ++i, 0};
        while (i < length && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
        if (i >= length) break;
        key.length = (size_t)(text + i - key.text);
        size_t next = i + 1;
        while (next < length && strchr(" \t\r\n", text[next]) != NULL && text[next] != '\0') next++;
        if (depth != 1 || next >= length || text[next] != ':') continue;
        if (key.length == 6 && memcmp(key.text, "joints", 6) == 0) return SN_FORMAT_MODEL;
        for (size_t k = rank; k < sizeof kinds / sizeof kinds[0]; k++) {
            if (strlen(kinds[k].key) != key.length ||
                memcmp(kinds[k].key, key.text, key.length) != 0)
                continue;
            found = kinds[k].format;
            rank = k;  // a later kind in the list wins over an earlier one
        }
    }
    return found;
}

// By the first words of a text.
static sn_format text_kind(const char *text, size_t length) {
    sn_lines lines = sn_lines_begin(text, length, "");
    sn_word word;
    if (!sn_lines_next(&lines) || !sn_lines_word(&lines, &word)) return SN_FORMAT_UNKNOWN;
    if (sn_word_is(word, "hierarchy")) return SN_FORMAT_BVH;
    if (sn_word_is(word, "pathfiletype")) return SN_FORMAT_TRC;
    if (sn_word_is(word, ":fully-specified")) return SN_FORMAT_AMC;
    sn_rows rows = sn_rows_begin(text, length, true);
    (void)sn_rows_next_filled(&rows, ',');
    if (sn_csv_is_motive(&rows) || sn_csv_is_vicon(&rows) || sn_csv_is_qtm(&rows))
        return SN_FORMAT_CSV;
    size_t head = length < 4000 ? length : 4000;
    if (word.text[0] == ':') {
        static const char *const sections[] = {":bonedata", ":root", ":units", ":hierarchy"};
        for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
            if (holds(text, length, sections[i])) return SN_FORMAT_ASF;
        return sn_word_is(word, ":version") ? SN_FORMAT_ASF : SN_FORMAT_AMC;
    }
    if (holds(text, head, "endheader")) return SN_FORMAT_MOT;
    if (word.text[0] == '<' && holds(text, head, "<opensimdocument"))
        return holds(text, head, "<markerset") && !holds(text, head, "<model") ? SN_FORMAT_MARKERS
                                                                               : SN_FORMAT_OSIM;
    if (word.text[0] == '<' && holds(text, length, "<robot")) return SN_FORMAT_URDF;
    if (word.text[0] == '<' && holds(text, length, "<mujoco")) return SN_FORMAT_MJCF;
    return SN_FORMAT_UNKNOWN;
}

sn_format sn_format_of(const void *bytes, size_t length, const char *file_name) {
    const char *text = bytes;
    if (text == NULL) text = "", length = 0;
    sn_format named = sn_format_of_name(file_name);
    // a text whose first line is empty may begin like it: "\nP..."
    if (length >= 2 && (unsigned char)text[1] == 0x50 && (unsigned char)text[0] > 0 &&
        (unsigned char)text[0] < 32 && strchr("\t\r\n", text[0]) == NULL)
        return SN_FORMAT_C3D;
    if (length >= 4 && memcmp(text, "glTF", 4) == 0) return SN_FORMAT_GLB;
    size_t start = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (start < length && strchr(" \t\r\n", text[start]) != NULL && text[start] != '\0') start++;
    if (start < length && text[start] == '{') return json_kind(text, length);
    sn_format found = text_kind(text + start, length - start);
    return found != SN_FORMAT_UNKNOWN ? found : named;
}

// --- reading ---------------------------------------------------------------------------------------------

// A table of markers is a recording; any other stays a table.
static sn_status read_table(sn_document *d, const sn_allocator *allocator, sn_error *error) {
    sn_error ignored = {0};
    sn_status status = sn_recording_from_table(d->table, NULL, allocator, &d->recording, &ignored);
    if (status == SN_ERR_MEMORY) return sn_fail_memory(error);
    if (status == SN_OK) {
        sn_table_destroy(d->table);
        d->table = NULL;
    }
    return SN_OK;
}

static sn_status read_any(const char *name, const char *text, size_t length,
                          const sn_document_options *o, const sn_allocator *allocator,
                          sn_document *d, sn_error *error) {
    sn_asf_options asf = sn_asf_options_default();
    sn_bvh_options bvh = sn_bvh_options_default();
    bool binary = d->format == SN_FORMAT_C3D || d->format == SN_FORMAT_GLB;
    const char *stranger = sn_stranger(text, length, !binary && d->format != SN_FORMAT_UNKNOWN);
    if (stranger != NULL) return sn_fail(error, SN_ERR_PARSE, 0, "%s", stranger);
    asf.use_limits = o->use_limits;
    bvh.metres_per_unit = o->metres_per_unit;
    switch (d->format) {
    case SN_FORMAT_MODEL:
        return sn_model_read_json(text, length, allocator, &d->owned, error);
    case SN_FORMAT_URDF: {
        sn_urdf_info info;
        sn_urdf_options urdf = sn_urdf_options_default();
        urdf.floating_base = o->floating_base;
        SN_TRY(sn_urdf_read(text, length, &urdf, allocator, &d->owned, &info, error));
        memcpy(d->note, info.note, sizeof info.note);
        return SN_OK;
    }
    case SN_FORMAT_OSIM: {
        sn_osim_info info;
        SN_TRY(sn_osim_read(text, length, allocator, &d->owned, &d->coordinates, &info, error));
        memcpy(d->note, info.note, sizeof d->note);
        return SN_OK;
    }
    case SN_FORMAT_MJCF: {
        sn_mjcf_info info;
        SN_TRY(sn_mjcf_read(text, length, allocator, &d->owned, &info, error));
        memcpy(d->note, info.note, sizeof info.note);
        return SN_OK;
    }
    case SN_FORMAT_ASF:
        return sn_asf_read(text, length, &asf, allocator, &d->skeleton, error);
    case SN_FORMAT_BVH:
        return sn_bvh_read(text, length, &bvh, allocator, &d->skeleton, &d->motion, error);
    case SN_FORMAT_AMC:
        if (o->skeleton == NULL || sn_skeleton_kind(o->skeleton) != SN_SKELETON_ASF)
            return sn_fail(error, SN_ERR_ARGUMENT, 0,
                           "an AMC file can only be read together with its ASF skeleton");
        return sn_amc_read(text, length, o->skeleton, allocator, &d->motion, error);
    case SN_FORMAT_C3D:
        return sn_c3d_read(text, length, allocator, &d->recording, error);
    case SN_FORMAT_TRC:
        return sn_trc_read(text, length, allocator, &d->recording, error);
    case SN_FORMAT_MOT:
        SN_TRY(sn_sto_read(text, length, allocator, &d->table, error));
        return read_table(d, allocator, error);
    case SN_FORMAT_CSV:
        SN_TRY(sn_csv_read_table(text, length, allocator, &d->table, error));
        return read_table(d, allocator, error);
    case SN_FORMAT_TASKS:
    case SN_FORMAT_MARKERS:
        return sn_fail(error, SN_ERR_PARSE, 0,
                       "this is a %s file, not a model, motion or recording",
                       d->format == SN_FORMAT_TASKS ? "tasks" : "marker set");
    case SN_FORMAT_GLB: {
        sn_glb_content content;
        SN_TRY(sn_glb_read(text, length, allocator, &content, error));
        d->owned = content.model;
        d->motion = content.motion;
        d->recording = content.recording;
        memcpy(d->note, content.note, sizeof content.note);
        return SN_OK;
    }
    case SN_FORMAT_UNKNOWN:
    case SN_FORMAT_COUNT:
        break;
    }
    // a table under any name
    sn_status status = sn_csv_read_table(text, length, allocator, &d->table, NULL);
    if (status == SN_ERR_MEMORY) return sn_fail_memory(error);
    if (status == SN_OK) {
        d->format = SN_FORMAT_CSV;
        return read_table(d, allocator, error);
    }
    return sn_fail(error, SN_ERR_PARSE, 0,
                   "neither its name (%.80s) nor its first bytes say what kind of file this is",
                   name != NULL ? name : "none");
}

// Robots stand on the x-y plane, figures on the x-z plane, unless the skeleton tells.
static void find_up(sn_document *d) {
    d->up = d->format == SN_FORMAT_URDF || d->format == SN_FORMAT_MJCF ? 2 : 1;
    d->up_sign = 1;
    if (d->skeleton == NULL) return;
    const char *axis = sn_skeleton_up_axis(d->skeleton);
    d->up_guessed = sn_skeleton_kind(d->skeleton) == SN_SKELETON_BVH;
    if (axis[0] == '-') d->up_sign = -1;
    if (axis[0] == '-' || axis[0] == '+') axis++;
    if (axis[0] != '\0' && strchr("xyz", axis[0] | 0x20) != NULL) d->up = (axis[0] | 0x20) - 'x';
}

sn_status sn_document_read(const void *bytes, size_t length, const char *file_name,
                           const sn_document_options *options, const sn_allocator *allocator,
                           sn_document *out, sn_error *error) {
    if (out != NULL) *out = (sn_document){0};
    if (length > 0) SN_NEED(bytes, error);
    SN_NEED(out, error);
    if (bytes == NULL) bytes = "";
    sn_document_options o = options != NULL ? *options : sn_document_options_default();
    if (o.version != OPTIONS_VERSION || !(o.metres_per_unit >= 0) || o.metres_per_unit > 1e50)
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "the options do not come from sn_document_options_default()");
    *out = (sn_document){.format = sn_format_of(bytes, length, file_name)};
    sn_format format = out->format;
    sn_status status = read_any(file_name, bytes, length, &o, allocator, out, error);
    if (status != SN_OK) {
        sn_document_destroy(out);
        out->format = format;
        return status;
    }
    if (out->skeleton != NULL) {
        const char *note = sn_skeleton_note(out->skeleton);
        memcpy(out->note, note, strlen(note) + 1);
    }
    out->model = out->skeleton != NULL ? sn_skeleton_model(out->skeleton) : out->owned;
    find_up(out);
    return SN_OK;
}

void sn_document_destroy(sn_document *d) {
    if (d == NULL) return;
    sn_motion_destroy(d->motion);
    sn_recording_destroy(d->recording);
    sn_table_destroy(d->table);
    sn_skeleton_destroy(d->skeleton);
    sn_osim_coordinates_destroy(d->coordinates);
    sn_model_destroy(d->owned);
    *d = (sn_document){0};
}
