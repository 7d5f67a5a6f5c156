// SPDX-License-Identifier: MIT
// The first half of a BVH file: joints in braces.
//
// It is read as a stream of words, whatever lines they stand on; only a joint's name is what is left
// of its line, as names hold blanks and colons. Braces are counted by walking up the parents.
#include <string.h>

#include "files/bvh/bvh.h"

enum { SEEN_OFFSET = 1, SEEN_CHANNELS = 2 };

typedef struct reading {
    sn_lines *lines;
    sn_figure *figure;
    int open;         // the joint whose brace is open, -1 for none
    bool in_end;      // inside an End Site of it
    bool end_offset;  // whose OFFSET was met
    int end_line;     // where it begins
    int nodd_end;     // End Sites that are called otherwise
    int nroot;
    const sn_allocator *allocator;
    sn_error *error;
} reading;

#define FAIL(r, ...) sn_fail((r)->error, SN_ERR_PARSE, (r)->lines->line, __VA_ARGS__)

static bool next_word(reading *r, sn_word *word) {
    while (!sn_lines_word(r->lines, word))
        if (!sn_lines_next(r->lines)) return false;
    return true;
}

static const char *open_name(const reading *r) {
    return r->open < 0 ? "" : r->figure->entry[r->open].name;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

// What is left of the line without blanks around it, up to an opening brace that stands alone or
// ends the line.
static sn_word rest_of_line(reading *r, bool *brace) {
    const char *from = r->lines->at, *stop = r->lines->stop, *to = from;
    while (to < stop &&
           !(*to == '{' && (to == from || is_blank(to[-1])) && (to + 1 == stop || is_blank(to[1]))))
        to++;
    *brace = to < stop;
    r->lines->at = *brace ? to + 1 : stop;
    while (from < to && is_blank(*from)) from++;
    // a name never ends with a brace, so that it can stand alone on its line when it is written
    for (; to > from && (is_blank(to[-1]) || to[-1] == '{'); to--)
        if (to[-1] == '{') *brace = true;
    return (sn_word){from, (size_t)(to - from)};
}

static sn_status open_brace(reading *r, const char *what, bool brace) {
    sn_word word = {"", 0};
    bool more = brace || next_word(r, &word);
    if (brace || sn_word_is(word, "{")) return SN_OK;
    if (!more) return FAIL(r, "the file ends where %s needs a {", what);
    return FAIL(r, "%s needs a { here, not \"%.*s\"", what, SN_WORD(word));
}

static sn_status begin_joint(reading *r, bool root) {
    bool brace;
    char name[SN_MAX_NAME + 1];
    int line = r->lines->line;
    sn_word word = rest_of_line(r, &brace);
    if (root && r->open >= 0)
        return FAIL(r, "a ROOT inside \"%.80s\": a brace is missing before it", open_name(r));
    if (!root && r->open < 0) return FAIL(r, "a JOINT outside every ROOT: a brace is too many");
    if (!sn_word_copy(word, name, sizeof name))
        return FAIL(r, "the name \"%.*s\" is longer than %d bytes or holds a NUL", SN_WORD(word),
                    SN_MAX_NAME);
    sn_error why = {0};
    sn_entry *e = sn_figure_add(r->figure, name, r->open, r->allocator, &why);
    if (e == NULL) return sn_fail(r->error, why.status, line, "%s", why.text);
    e->line = line;
    r->open = (int)r->figure->nentry - 1;
    r->nroot += root;
    return open_brace(r, root ? "ROOT" : "JOINT", brace);
}

// "End Site"; some programs write a name behind or in place of "Site", or both as one word.
static sn_status begin_end(reading *r, bool one_word) {
    bool brace;
    sn_word word = sn_lines_peek(r->lines);
    r->end_line = r->lines->line;
    bool usual = !one_word && sn_word_is(word, "site");
    if (r->open < 0) return FAIL(r, "an End Site outside every joint");
    if (usual) (void)sn_lines_word(r->lines, &word);
    r->nodd_end += !usual;
    (void)rest_of_line(r, &brace);
    r->in_end = true;
    r->end_offset = false;
    return open_brace(r, "End Site", brace);
}

static sn_status read_offset(reading *r) {
    double offset[3];
    for (int i = 0; i < 3; i++) {
        sn_word word = {"", 0};
        if (!next_word(r, &word) || !sn_word_number(word, &offset[i]))
            return FAIL(r, "OFFSET of \"%.80s\" needs 3 numbers: \"%.*s\" %s", open_name(r),
                        SN_WORD(word), sn_word_fault(word));
    }
    sn_entry *e = &r->figure->entry[r->open];
    if (r->in_end ? r->end_offset : (e->seen & SEEN_OFFSET) != 0)
        return FAIL(r, "a second OFFSET in \"%.80s\"", e->name);
    if (r->in_end) {
        r->end_offset = true;
        sn_error why = {0};
        if (sn_figure_add_end(r->figure, r->open, offset, r->allocator, &why) != SN_OK)
            return sn_fail(r->error, why.status, r->lines->line, "%s", why.text);
        return SN_OK;
    }
    e->seen |= SEEN_OFFSET;
    memcpy(e->offset, offset, sizeof offset);
    return SN_OK;
}

static int channel_of(sn_word word) {
    static const char *const names[] = {"xposition", "yposition", "zposition",
                                        "xrotation", "yrotation", "zrotation"};
    for (int i = 0; i < 6; i++)
        if (sn_word_is(word, names[i])) return i;
    return -1;
}

// Positions once each; rotations three different ones, fewer, or A B A.
static sn_status check_channels(reading *r, const sn_entry *e) {
    static const char axes[] = "XYZXYZ";
    sn_channel turn[SN_ROW_VALUES];
    int n = 0;
    unsigned seen = 0;
    for (int k = 0; k < e->nchannel; k++) {
        sn_channel c = e->channel[k];
        if (c >= 3) {
            turn[n++] = c;
        } else if (seen >> c & 1) {
            return FAIL(r, "\"%.80s\" has %cposition twice", e->name, axes[c]);
        } else {
            seen |= 1u << c;
        }
    }
    if (n > 3) return FAIL(r, "\"%.80s\" has %d rotations: at most 3 can be read", e->name, n);
    for (int k = 1; k < n; k++)
        if (turn[k] == turn[k - 1])
            return FAIL(r, "\"%.80s\" has %crotation twice in a row", e->name, axes[turn[k]]);
    return SN_OK;
}

static sn_status read_channels(reading *r) {
    sn_word word = {"", 0};
    sn_entry *e = &r->figure->entry[r->open];
    int count;
    if (r->in_end) return FAIL(r, "an End Site of \"%.80s\" has CHANNELS: it cannot move", e->name);
    if (e->seen & SEEN_CHANNELS) return FAIL(r, "\"%.80s\" has CHANNELS twice", e->name);
    if (!next_word(r, &word) || !sn_word_integer(word, &count) || count < 0 ||
        count > SN_ROW_VALUES)
        return FAIL(r, "CHANNELS of \"%.80s\" needs a number from 0 to %d, not \"%.*s\"", e->name,
                    SN_ROW_VALUES, SN_WORD(word));
    for (int k = 0; k < count; k++) {
        word = (sn_word){"", 0};
        if (!next_word(r, &word) || (e->channel[k] = channel_of(word)) < 0)
            return FAIL(r,
                        "\"%.80s\" needs %d channels such as Xposition or Zrotation: \"%.*s\" is "
                        "none",
                        e->name, count, SN_WORD(word));
        e->nchannel++;
    }
    e->seen |= SEEN_CHANNELS;
    return check_channels(r, e);
}

static sn_status close_brace(reading *r) {
    if (r->open < 0) return FAIL(r, "a } too many");
    if (r->in_end) {
        r->in_end = false;
        if (!r->end_offset) return FAIL(r, "the End Site of \"%.80s\" has no OFFSET", open_name(r));
        return SN_OK;
    }
    const sn_entry *e = &r->figure->entry[r->open];
    if (!(e->seen & SEEN_OFFSET)) return FAIL(r, "\"%.80s\" has no OFFSET", e->name);
    r->open = e->parent;
    return SN_OK;
}

static sn_status read_word(reading *r, sn_word word) {
    if (sn_word_is(word, "}")) return close_brace(r);
    if (r->in_end && !sn_word_is(word, "offset") && !sn_word_is(word, "channels"))
        return FAIL(r, "\"%.*s\" in an End Site, which holds an OFFSET only", SN_WORD(word));
    if (sn_word_is(word, "root")) return begin_joint(r, true);
    if (sn_word_is(word, "joint")) return begin_joint(r, false);
    if (sn_word_is(word, "end")) return begin_end(r, false);
    if (sn_word_is(word, "endsite")) return begin_end(r, true);
    bool offset = sn_word_is(word, "offset");
    if (offset || sn_word_is(word, "channels")) {
        if (r->open < 0) return FAIL(r, "\"%.*s\" outside every joint", SN_WORD(word));
        return offset ? read_offset(r) : read_channels(r);
    }
    return FAIL(r, "\"%.*s\" where a joint, OFFSET, CHANNELS, End Site or } should be",
                SN_WORD(word));
}

// Several ROOTs hang on a fixed joint that is put before them.
static sn_status join_roots(reading *r) {
    sn_figure *f = r->figure;
    sn_error why = {0};
    if (sn_figure_add(f, "", -1, r->allocator, &why) == NULL)
        return sn_fail(r->error, why.status, r->lines->line, "%s", why.text);
    memmove(f->entry + 1, f->entry, (f->nentry - 1) * sizeof *f->entry);
    f->entry[0] = (sn_entry){.name = "roots", .parent = -1, .line = f->entry[1].line};
    for (size_t i = 1; i < f->nentry; i++) f->entry[i].parent++;
    for (size_t i = 0; i < f->nend; i++) f->end[i].joint++;
    f->several_roots = true;
    return SN_OK;
}

sn_status sn_bvh_hierarchy(sn_lines *lines, sn_figure *figure, const sn_allocator *allocator,
                           bool *motion, sn_error *error) {
    reading r = {
        .lines = lines, .figure = figure, .open = -1, .allocator = allocator, .error = error};
    sn_word word = {"", 0};
    *motion = false;
    if (!next_word(&r, &word) || !sn_word_is(word, "hierarchy"))
        return FAIL(&r, "the file does not begin with HIERARCHY: is this a BVH file?");
    while (next_word(&r, &word)) {
        if (r.open < 0 && sn_word_is(word, "motion")) {
            *motion = true;
            break;
        }
        SN_TRY(read_word(&r, word));
    }
    if (r.open >= 0) return FAIL(&r, "the file ends inside \"%.80s\"", open_name(&r));
    if (figure->nentry == 0) return FAIL(&r, "the file has no ROOT");
    if (r.nodd_end > 0)
        sn_note(figure->note, "%d block%s taken for End Site%s", r.nodd_end,
                r.nodd_end == 1 ? " called otherwise is" : "s called otherwise are",
                SN_S(r.nodd_end));
    if (r.nroot > 1) SN_TRY(join_roots(&r));
    return sn_figure_label(figure, allocator, error);
}
