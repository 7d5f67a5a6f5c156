// SPDX-License-Identifier: MIT
// Reading ASF, Acclaim's skeleton file: sections that start with a colon, bones between begin and
// end, a hierarchy of names. Brackets and commas count as blanks.
//
// The root's pre-set position and orientation must be zero: programs disagree on what others mean.
// Bones may turn but not slide or stretch. Unknown sections are passed over, unknown keywords of a
// bone are not: a misspelt `dof` would otherwise freeze it unseen.
#include <math.h>
#include <string.h>

#include "base/names.h"
#include "files/skeleton.h"

enum { OPTIONS_VERSION = 1 };

typedef enum section { NONE, OTHER, UNITS, ROOT, BONES, HIERARCHY } section;

// The keywords of a bone, in the order of their bits in sn_entry.seen.
typedef enum keyword { ID, NAME, DIRECTION, LENGTH, AXIS, DOF, LIMITS, BODYMASS, COFMASS } keyword;
static const char *const keywords[] = {"id",  "name",   "direction", "length", "axis",
                                       "dof", "limits", "bodymass",  "cofmass"};

typedef struct reading {
    sn_lines lines;
    sn_figure figure;
    section section;
    bool in_bone, in_limits;  // between begin and end; numbers may follow on more lines
    bool in_hierarchy, hierarchy_seen;
    int nplain;  // bones that turn but have no axis line
    const sn_allocator *allocator;
    sn_names names;
    void *names_block;
    sn_error *error;
} reading;

static sn_entry *last_bone(reading *r) { return &r->figure.entry[r->figure.nentry - 1]; }

#define FAIL(r, ...) sn_fail((r)->error, SN_ERR_PARSE, (r)->lines.line, __VA_ARGS__)

static sn_status no_more(reading *r, const char *after) {
    sn_word word;
    if (!sn_lines_word(&r->lines, &word)) return SN_OK;
    return FAIL(r, "\"%.*s\" after %s is one word too many", SN_WORD(word), after);
}

static sn_status read_numbers(reading *r, const char *what, int count, double *out) {
    for (int i = 0; i < count; i++) {
        sn_word word;
        if (!sn_lines_word(&r->lines, &word))
            return FAIL(r, "%s needs %d number%s, here are %d", what, count, count > 1 ? "s" : "",
                        i);
        if (!sn_word_number(word, &out[i]))
            return FAIL(r, "%s: \"%.*s\" %s", what, SN_WORD(word), sn_word_fault(word));
    }
    return SN_OK;
}

// A word such as XYZ: all three axes, each once.
static sn_status read_axes(reading *r, const char *what, sn_axes *out) {
    sn_word word;
    unsigned used = 0;
    (void)sn_lines_word(&r->lines, &word);
    for (size_t i = 0; i < word.length && i < 3; i++) {
        char c = word.text[i] >= 'a' ? (char)(word.text[i] - 'a' + 'A') : word.text[i];
        out->axis[i] = c - 'X';
        if (c >= 'X' && c <= 'Z') used |= 1u << (c - 'X');
    }
    if (word.length != 3 || used != 7)
        return FAIL(r, "%s needs an order such as XYZ, not \"%.*s\"", what, SN_WORD(word));
    return SN_OK;
}

static int channel_of(sn_word word) {
    static const char *const names[] = {"tx", "ty", "tz", "rx", "ry", "rz"};
    for (int i = 0; i < 6; i++)
        if (sn_word_is(word, names[i])) return i;
    return -1;
}

// The channels of a `dof` or `order` line: each at most once.
static sn_status read_channels(reading *r, const char *what, bool root, sn_entry *b) {
    sn_word word;
    unsigned used = 0;
    b->nchannel = 0;
    while (sn_lines_word(&r->lines, &word)) {
        int c = channel_of(word);
        if (!root && (sn_word_is(word, "l") || (c >= 0 && c < 3)))
            return FAIL(r, "%s \"%.*s\": bones that slide or stretch cannot be read", what,
                        SN_WORD(word));
        if (c < 0)
            return FAIL(r, "%s: \"%.*s\" is none of %srx, ry, rz", what, SN_WORD(word),
                        root ? "tx, ty, tz, " : "");
        if (used >> c & 1) return FAIL(r, "%s: \"%.*s\" stands twice", what, SN_WORD(word));
        used |= 1u << c;
        b->channel[b->nchannel++] = c;
    }
    return SN_OK;
}

static sn_status read_unit(reading *r) {
    sn_word key, word;
    (void)sn_lines_word(&r->lines, &key);
    if (sn_word_is(key, "length")) {
        SN_TRY(read_numbers(r, "the unit of length", 1, &r->figure.length_unit));
        // so far from 1 that it can only be a mistake, and products stay finite
        if (!(r->figure.length_unit >= 1e-9 && r->figure.length_unit <= 1e9))
            return FAIL(r, "the unit of length must be between 1e-9 and 1e9");
        r->figure.metres_guessed = false;
        return no_more(r, "the unit of length");
    }
    if (sn_word_is(key, "angle")) {
        (void)sn_lines_word(&r->lines, &word);
        if (sn_word_is(word, "deg") || sn_word_is(word, "degrees")) {
            r->figure.angle_unit = SN_ANGLE_DEGREES;
        } else if (sn_word_is(word, "rad") || sn_word_is(word, "radians")) {
            r->figure.angle_unit = SN_ANGLE_RADIANS;
        } else {
            return FAIL(r, "the unit of angle must be deg or rad, not \"%.*s\"", SN_WORD(word));
        }
        return no_more(r, "the unit of angle");
    }
    return SN_OK;  // mass and others: nothing that is read here is measured in them
}

static sn_status read_root(reading *r) {
    sn_word key;
    (void)sn_lines_word(&r->lines, &key);
    if (sn_word_is(key, "order"))
        return read_channels(r, "the root's order", true, r->figure.entry);
    if (sn_word_is(key, "axis")) {
        // it orders the pre-set orientation only, and that is zero
        SN_TRY(read_axes(r, "the root's axis", &r->figure.entry[0].order));
        return no_more(r, "the root's axis");
    }
    if (sn_word_is(key, "position") || sn_word_is(key, "orientation")) {
        double x[3];
        SN_TRY(read_numbers(r, "the root's position or orientation", 3, x));
        if (x[0] != 0 || x[1] != 0 || x[2] != 0)
            return FAIL(
                r,
                "the root's %.*s must be 0 0 0, as programs disagree on what another means: write "
                "that to read the file without it",
                SN_WORD(key));
        return no_more(r, "the root's position or orientation");
    }
    return FAIL(r, ":root has no keyword \"%.*s\"", SN_WORD(key));
}

static sn_status begin_bone(reading *r) {
    if (r->hierarchy_seen) return FAIL(r, "a bone after :hierarchy: :bonedata must come first");
    if (r->figure.nentry >= SN_MAX_JOINTS)
        return sn_fail(r->error, SN_ERR_SIZE, r->lines.line, "more than %d bones",
                       SN_MAX_JOINTS - 1);
    void *bones = r->figure.entry;
    sn_status status = sn_grow(r->allocator, &bones, &r->figure.capacity, r->figure.nentry + 1,
                               sizeof *r->figure.entry);
    r->figure.entry = bones;
    if (status != SN_OK) return sn_fail_memory(r->error);
    r->figure.entry[r->figure.nentry++] =
        (sn_entry){.line = r->lines.line, .parent = -1, .order = {{0, 1, 2}}};
    r->in_bone = true;
    return SN_OK;
}

static sn_status end_bone(reading *r) {
    const sn_entry *b = last_bone(r);
    r->in_bone = r->in_limits = false;
    r->nplain += b->nchannel > 0 && !(b->seen >> AXIS & 1);
    if (!(b->seen >> NAME & 1)) return FAIL(r, "the bone that ends here has no name");
    if (!(b->seen >> DIRECTION & 1)) return FAIL(r, "bone \"%.80s\" has no direction", b->name);
    if (!(b->seen >> LENGTH & 1)) return FAIL(r, "bone \"%.80s\" has no length", b->name);
    double norm = v3_norm(v3_from(b->direction));
    if (b->length > 0 && !(norm > 1e-9))
        return FAIL(r, "bone \"%.80s\": its direction is zero", b->name);
    if ((b->seen >> LIMITS & 1) && b->nlimit != 2 * b->nchannel)
        return sn_fail(r->error, SN_ERR_PARSE, b->limit_line,
                       "bone \"%.80s\": %d degrees of freedom need %d limits, here are %d", b->name,
                       b->nchannel, 2 * b->nchannel, b->nlimit);
    return SN_OK;
}

// Pairs of numbers; as many lines as it takes.
static sn_status read_limits(reading *r) {
    sn_entry *b = last_bone(r);
    sn_word word;
    while (sn_lines_word(&r->lines, &word)) {
        if (b->nlimit == 2 * SN_BONE_DOFS) return FAIL(r, "more limits than a bone can have");
        if (!sn_word_extended(word, &b->limit[b->nlimit]))
            return FAIL(r, "limits: \"%.*s\" is not a number", SN_WORD(word));
        b->nlimit++;
    }
    return SN_OK;
}

static sn_status read_name(reading *r, sn_entry *b) {
    sn_word word;
    if (!sn_lines_word(&r->lines, &word)) return FAIL(r, "a bone's name is missing");
    if (!sn_word_copy(word, b->name, sizeof b->name))
        return FAIL(r, "the name \"%.*s\" is longer than %d bytes or holds a NUL", SN_WORD(word),
                    SN_MAX_NAME);
    return no_more(r, "the name");
}

static sn_status read_keyword(reading *r, keyword key) {
    sn_entry *b = last_bone(r);
    switch (key) {
    case NAME:
        return read_name(r, b);
    case DIRECTION:
        SN_TRY(read_numbers(r, "direction", 3, b->direction));
        return no_more(r, "direction");
    case LENGTH:
        SN_TRY(read_numbers(r, "length", 1, &b->length));
        if (b->length < 0) return FAIL(r, "a bone's length must be 0 or above");
        return no_more(r, "length");
    case AXIS:
        SN_TRY(read_numbers(r, "axis", 3, b->angle));
        // without an order it is the usual one
        if (sn_lines_peek(&r->lines).length > 0) SN_TRY(read_axes(r, "axis", &b->order));
        return no_more(r, "axis");
    case DOF:
        return read_channels(r, "dof", false, b);
    case LIMITS:
        r->in_limits = true;
        b->limit_line = r->lines.line;
        return read_limits(r);
    case ID:
    case BODYMASS:
    case COFMASS:
        break;  // bones go by their names; masses are not used
    }
    return SN_OK;
}

static sn_status read_bone_line(reading *r) {
    sn_word word = sn_lines_peek(&r->lines);
    double number;
    if (r->in_limits && sn_word_extended(word, &number)) return read_limits(r);
    r->in_limits = false;
    (void)sn_lines_word(&r->lines, &word);
    if (sn_word_is(word, "begin")) {
        if (r->in_bone) return FAIL(r, "a bone begins before the one before it has ended");
        SN_TRY(begin_bone(r));
        return no_more(r, "begin");
    }
    if (!r->in_bone) return FAIL(r, "\"%.*s\" where a bone should begin", SN_WORD(word));
    if (sn_word_is(word, "end")) {
        SN_TRY(no_more(r, "end"));
        return end_bone(r);
    }
    for (int i = 0; i < (int)(sizeof keywords / sizeof keywords[0]); i++) {
        if (!sn_word_is(word, keywords[i])) continue;
        if (last_bone(r)->seen >> i & 1) return FAIL(r, "\"%s\" stands twice", keywords[i]);
        last_bone(r)->seen |= 1u << i;
        return read_keyword(r, (keyword)i);
    }
    return FAIL(r, "a bone has no keyword \"%.*s\"", SN_WORD(word));
}

static const char *bone_name(const void *owner, int i) {
    return ((const sn_figure *)owner)->entry[i].name;
}

// All bones are known: find them by name from here on.
static sn_status begin_hierarchy(reading *r) {
    if (r->hierarchy_seen) return FAIL(r, "a second :hierarchy");
    r->hierarchy_seen = true;
    sn_layout layout = {0};
    sn_names_layout(&r->names, r->figure.nentry, &layout);
    r->names_block = sn_acquire(r->allocator, layout.used);
    if (r->names_block == NULL) return sn_fail_memory(r->error);
    layout = (sn_layout){.block = r->names_block};
    sn_names_layout(&r->names, r->figure.nentry, &layout);
    for (size_t i = 0; i < r->figure.nentry; i++)
        if (sn_names_add(&r->names, (int)i, bone_name, &r->figure) != (int)i)
            return sn_fail(r->error, SN_ERR_PARSE, r->figure.entry[i].line,
                           "another bone is named \"%.80s\" too", r->figure.entry[i].name);
    return SN_OK;
}

static sn_status find_bone(reading *r, sn_word word, int *out) {
    char name[SN_MAX_NAME + 1];
    *out = sn_word_copy(word, name, sizeof name)
               ? sn_names_find(&r->names, name, bone_name, &r->figure)
               : -1;
    if (*out < 0 && sn_word_is(word, "root")) *out = 0;  // in capitals
    if (*out < 0) return FAIL(r, "there is no bone \"%.*s\"", SN_WORD(word));
    return SN_OK;
}

// A parent and its children.
static sn_status read_hierarchy_line(reading *r) {
    sn_word word;
    int parent, child;
    (void)sn_lines_word(&r->lines, &word);
    bool begin = sn_word_is(word, "begin"), end = sn_word_is(word, "end");
    if ((begin || end) && sn_lines_peek(&r->lines).length == 0) {
        r->in_hierarchy = begin;
        return SN_OK;
    }
    SN_TRY(find_bone(r, word, &parent));
    while (sn_lines_word(&r->lines, &word)) {
        SN_TRY(find_bone(r, word, &child));
        if (child == 0) return FAIL(r, "the root cannot have a parent");
        if (r->figure.entry[child].parent >= 0)
            return FAIL(r, "bone \"%.*s\" has a parent already", SN_WORD(word));
        r->figure.entry[child].parent = parent;
    }
    return SN_OK;
}

static sn_status begin_section(reading *r) {
    sn_word word;
    (void)sn_lines_word(&r->lines, &word);
    if (r->in_bone) return FAIL(r, "bone \"%.80s\" has no end", last_bone(r)->name);
    if (r->in_hierarchy) return FAIL(r, ":hierarchy has no end");
    r->section = OTHER;
    if (sn_word_is(word, ":units")) r->section = UNITS;
    if (sn_word_is(word, ":root")) r->section = ROOT;
    if (sn_word_is(word, ":bonedata")) r->section = BONES;
    if (sn_word_is(word, ":hierarchy")) {
        r->section = HIERARCHY;
        return begin_hierarchy(r);
    }
    if (sn_word_is(word, ":name") && sn_lines_word(&r->lines, &word) &&
        !sn_word_copy(word, r->figure.name, sizeof r->figure.name))
        return FAIL(r, "the skeleton's name is longer than %d bytes or holds a NUL", SN_MAX_NAME);
    return SN_OK;
}

static sn_status read_line(reading *r) {
    sn_word word = sn_lines_peek(&r->lines);
    if (word.text[0] == ':') return begin_section(r);
    switch (r->section) {
    case NONE:
        return FAIL(r, "\"%.*s\" before any section: is this an ASF file?", SN_WORD(word));
    case OTHER:
        break;
    case UNITS:
        return read_unit(r);
    case ROOT:
        return read_root(r);
    case BONES:
        return read_bone_line(r);
    case HIERARCHY:
        return read_hierarchy_line(r);
    }
    return SN_OK;
}

static sn_status read_file(reading *r) {
    // the root is the first bone, with what a file may leave out
    SN_TRY(begin_bone(r));
    r->in_bone = false;
    sn_entry *root = r->figure.entry;
    memcpy(root->name, "root", 5);
    root->nchannel = SN_ROW_VALUES;
    for (int i = 0; i < SN_ROW_VALUES; i++) root->channel[i] = i;

    while (sn_lines_next(&r->lines)) SN_TRY(read_line(r));
    if (r->in_bone) return FAIL(r, "the file ends inside bone \"%.80s\"", last_bone(r)->name);
    if (r->in_hierarchy) return FAIL(r, "the file ends inside :hierarchy");
    if (r->figure.nentry == 1) return FAIL(r, "the file has no bones");
    if (r->nplain > 0)
        sn_note(r->figure.note, "%d bone%s no axis: turned about the world's", r->nplain,
                r->nplain == 1 ? " has" : "s have");
    for (size_t i = 1; i < r->figure.nentry; i++)
        if (r->figure.entry[i].parent < 0)
            return sn_fail(r->error, SN_ERR_PARSE, r->figure.entry[i].line,
                           "bone \"%.80s\" has no parent: :hierarchy does not name it",
                           r->figure.entry[i].name);
    return SN_OK;
}

sn_asf_options sn_asf_options_default(void) {
    return (sn_asf_options){.version = OPTIONS_VERSION, .use_limits = false};
}

sn_status sn_asf_read(const char *text, size_t length, const sn_asf_options *options,
                      const sn_allocator *allocator, sn_skeleton **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    if (length > 0) SN_NEED(text, error);
    SN_NEED(out, error);
    if (text == NULL) text = "";
    sn_asf_options used = options != NULL ? *options : sn_asf_options_default();
    if (used.version != OPTIONS_VERSION)
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "the options do not come from sn_asf_options_default()");
    reading r = {.lines = sn_lines_begin(text, length, "(),"),
                 .figure = {.format = SN_SKELETON_ASF,
                            .up = "+Y",
                            .length_unit = 1,
                            .metres_guessed = true,
                            .angle_unit = SN_ANGLE_DEGREES},
                 .allocator = allocator,
                 .error = error};
    sn_status status = read_file(&r);
    if (status == SN_OK)
        status = sn_skeleton_build(&r.figure, used.use_limits, allocator, out, error);
    sn_release(allocator, r.figure.entry);
    sn_release(allocator, r.names_block);
    return status;
}
