// SPDX-License-Identifier: MIT
// Reading AMC, Acclaim's motion file: a number for each frame, then a line for each bone.
//
// The text is read twice. The first time checks everything and counts the frames, so that memory is
// asked for only once it is known what for; the second time fills it.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "files/skeleton.h"

typedef struct reading {
    sn_lines lines;
    const sn_skeleton *skeleton;
    sn_angle_unit unit;
    double rate;
    int nframe, first, number;  // frames begun; the number of the first and of this one
    int frame_line;             // where this one begins
    int expected, found;        // bones of the first frame; bones of this one so far
    double *row;                // row_size
    int *seen;                  // njoint: the count of frames when a bone was last met
    sn_motion *motion;          // NULL the first time
    sn_error *error;
} reading;

#define FAIL(r, ...) sn_fail((r)->error, SN_ERR_PARSE, (r)->lines.line, __VA_ARGS__)

static const char *joint_name(const reading *r, int joint) {
    return sn_model_joint(r->skeleton->model, joint)->name;
}

// A line that starts with a colon, before the first frame.
static sn_status read_directive(reading *r) {
    sn_word key, word;
    (void)sn_lines_word(&r->lines, &key);
    if (r->nframe > 0) return FAIL(r, "\"%.*s\" between frames", SN_WORD(key));
    if (sn_word_is(key, ":degrees")) r->unit = SN_ANGLE_DEGREES;
    if (sn_word_is(key, ":radians")) r->unit = SN_ANGLE_RADIANS;
    if (sn_word_is(key, ":samples-per-second")) {
        (void)sn_lines_word(&r->lines, &word);
        if (!sn_word_number(word, &r->rate) || !(r->rate > 0))
            return FAIL(r, "\"%.*s\" is no number of samples per second", SN_WORD(word));
    }
    return SN_OK;
}

// The frame so far is complete: the same bones as the first one's, the root among them.
static sn_status end_frame(reading *r) {
    if (r->nframe == 0) return SN_OK;
    int joint = 0, njoint = r->skeleton->njoint;
    if (r->nframe == 1) r->expected = r->found;
    if (r->seen[0] == r->nframe || r->skeleton->bone[0].nvalue == 0) {
        if (r->found == r->expected) joint = njoint;
        // every bone of this frame was in the one before, so one that was there is missing here
        while (joint < njoint && r->seen[joint] != r->nframe - 1) joint++;
    }
    if (joint < njoint)
        return sn_fail(r->error, SN_ERR_PARSE, r->frame_line, "frame %d has no line for \"%.80s\"",
                       r->number, joint_name(r, joint));
    if (r->motion != NULL)
        sn_skeleton_from_row(r->skeleton, r->unit, r->row,
                             sn_motion_edit(r->motion, r->nframe - 1));
    return SN_OK;
}

static sn_status begin_frame(reading *r, int number) {
    SN_TRY(end_frame(r));
    if (r->nframe > 0 && (int64_t)number != (int64_t)r->number + 1)
        return FAIL(r, "frame %d follows frame %d: frames must be numbered one after the other",
                    number, r->number);
    if (r->nframe == INT_MAX)
        return sn_fail(r->error, SN_ERR_SIZE, r->lines.line, "too many frames");
    if (r->nframe == 0) r->first = number;
    r->nframe++;
    r->number = number;
    r->frame_line = r->lines.line;
    r->found = 0;
    return SN_OK;
}

static sn_status read_bone(reading *r, sn_word word) {
    char name[SN_MAX_NAME + 1];
    int joint =
        sn_word_copy(word, name, sizeof name) ? sn_model_find_joint(r->skeleton->model, name) : -1;
    if (joint < 0 && sn_word_is(word, "root")) joint = 0;  // in capitals
    if (r->nframe == 0) return FAIL(r, "\"%.*s\" before the first frame's number", SN_WORD(word));
    if (joint < 0) return FAIL(r, "the skeleton has no bone \"%.*s\"", SN_WORD(word));
    if (r->seen[joint] == r->nframe)
        return FAIL(r, "frame %d has a second line for \"%.80s\"", r->number, name);
    if (r->nframe > 1 && r->seen[joint] != r->nframe - 1)
        return FAIL(r, "frame %d has a line for \"%.80s\", which the frame before has not",
                    r->number, name);
    r->seen[joint] = r->nframe;
    r->found++;

    const sn_bone *b = &r->skeleton->bone[joint];
    for (int k = 0; k < b->nvalue; k++) {
        if (!sn_lines_word(&r->lines, &word))
            return FAIL(r, "frame %d: \"%.80s\" needs %d number%s, here %s %d", r->number, name,
                        b->nvalue, SN_S(b->nvalue), k == 1 ? "is" : "are", k);
        if (!sn_word_number(word, &r->row[b->row + k]))
            return FAIL(r, "frame %d, \"%.80s\": \"%.*s\" %s", r->number, name, SN_WORD(word),
                        sn_word_fault(word));
    }
    if (sn_lines_word(&r->lines, &word))
        return FAIL(r, "\"%.80s\" has %d degree%s of freedom: \"%.*s\" is one number too many",
                    name, b->nvalue, b->nvalue == 1 ? "" : "s", SN_WORD(word));
    return SN_OK;
}

static sn_status read_line(reading *r) {
    sn_word word, more;
    if (sn_lines_peek(&r->lines).text[0] == ':') return read_directive(r);
    (void)sn_lines_word(&r->lines, &word);
    int number;
    more = sn_lines_peek(&r->lines);
    if (more.length == 0 && sn_word_integer(word, &number)) return begin_frame(r, number);
    return read_bone(r, word);
}

static sn_status read_file(reading *r, const char *text, size_t length) {
    r->lines = sn_lines_begin(text, length, "(),");
    r->unit = r->skeleton->figure.angle_unit;
    r->rate = 0;
    r->nframe = 0;
    for (int i = 0; i < r->skeleton->njoint; i++) r->seen[i] = 0;
    while (sn_lines_next(&r->lines)) SN_TRY(read_line(r));
    SN_TRY(end_frame(r));
    if (r->nframe == 0) return FAIL(r, "the file has no frames");
    return SN_OK;
}

sn_status sn_amc_read(const char *text, size_t length, const sn_skeleton *skeleton,
                      const sn_allocator *allocator, sn_motion **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    if (length > 0) SN_NEED(text, error);
    SN_NEED(skeleton, error);
    SN_NEED(out, error);
    if (text == NULL) text = "";
    reading r = {.skeleton = skeleton, .error = error};
    void *block = NULL;
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        r.row = sn_layout_take(&layout, (size_t)skeleton->row_size, sizeof *r.row);
        r.seen = sn_layout_take(&layout, (size_t)skeleton->njoint, sizeof *r.seen);
        if (pass == 1) break;
        void *start = sn_layout_acquire(&layout, allocator, &block);
        if (start == NULL) return sn_fail_memory(error);
        layout = (sn_layout){.block = start};
    }
    sn_status status = read_file(&r, text, length);
    if (status == SN_OK) {
        status = sn_motion_create(r.nframe, sn_model_nq(skeleton->model), r.first, r.rate,
                                  allocator, out, error);
        r.motion = *out;
        status = status == SN_OK ? read_file(&r, text, length)
                                 : sn_fail(error, status, 0, "%s", sn_status_text(status));
    }
    sn_release(allocator, block);
    return status;
}
