// SPDX-License-Identifier: MIT
// Reading BVH: the joints, then a row of numbers for each frame.
//
// The rows are read twice. The first time checks everything, counts them and sees which positions
// change, so that the model is known and memory is asked for only once it is known what for; the
// second time fills it.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "files/bvh/bvh.h"

enum { OPTIONS_VERSION = 1 };

// Position channels that change by less than this part of the figure's size are an offset.
static const double still = 1e-6;

typedef struct reading {
    sn_lines lines;
    sn_figure figure;
    int nframe;  // as stated
    double rate;
    int row_size;
    double *row;
    sn_lines rows;  // where the first row begins
    const sn_allocator *allocator;
    sn_error *error;
} reading;

#define FAIL(r, ...) sn_fail((r)->error, SN_ERR_PARSE, (r)->lines.line, __VA_ARGS__)

// "Frames: n" and "Frame Time: s", in any order; stops before the first other line, with
// lines.stop still at the end of the line before.
static sn_status read_header(reading *r) {
    sn_word word;
    bool frames = false, time = false;
    for (;;) {
        r->rows = r->lines;
        if (!sn_lines_next(&r->lines)) break;
        sn_word first = sn_lines_peek(&r->lines);
        bool is_frames = sn_word_is(first, "frames"), is_time = sn_word_is(first, "frame");
        if (!is_frames && !is_time) break;
        (void)sn_lines_word(&r->lines, &word);
        if (is_frames) {
            (void)sn_lines_word(&r->lines, &word);
            if (frames) return FAIL(r, "Frames is stated twice");
            if (!sn_word_integer(word, &r->nframe) || r->nframe < 0)
                return FAIL(r, "Frames needs a number from 0 up, not \"%.*s\"", SN_WORD(word));
            frames = true;
        } else {
            double seconds;
            if (!sn_lines_word(&r->lines, &word) || !sn_word_is(word, "time"))
                return FAIL(r, "\"Frame\" must be followed by \"Time:\"");
            (void)sn_lines_word(&r->lines, &word);
            if (time) return FAIL(r, "Frame Time is stated twice");
            if (!sn_word_number(word, &seconds) || seconds < 0)
                return FAIL(r, "Frame Time needs a number of seconds from 0 up, not \"%.*s\"",
                            SN_WORD(word));
            // below this it can only be a mistake, and the rate stays finite
            r->rate = seconds > 1e-12 ? 1 / seconds : 0;
            if (r->rate == 0) sn_note(r->figure.note, "a Frame Time of 0 says no rate");
            time = true;
        }
        if (sn_lines_word(&r->lines, &word))
            return FAIL(r, "\"%.*s\" is one word too many", SN_WORD(word));
    }
    if (!frames) return FAIL(r, "MOTION must begin with \"Frames:\" and a number");
    return SN_OK;
}

// The k-th number of a row is none, or too large.
static sn_status bad_number(reading *r, int frame, int k, sn_word word) {
    static const char *const names[] = {"Xposition", "Yposition", "Zposition",
                                        "Xrotation", "Yrotation", "Zrotation"};
    size_t joint = 0;
    while (k >= r->figure.entry[joint].nchannel) k -= r->figure.entry[joint++].nchannel;
    return FAIL(r, "frame %d, %s of \"%.80s\": \"%.*s\" %s", frame,
                names[r->figure.entry[joint].channel[k]], r->figure.entry[joint].name,
                SN_WORD(word), sn_word_fault(word));
}

static sn_status read_row(reading *r, int frame) {
    sn_word word;
    for (int k = 0; k < r->row_size; k++) {
        if (!sn_lines_word(&r->lines, &word))
            return FAIL(r, "frame %d has %d numbers, but there are %d channels", frame, k,
                        r->row_size);
        if (!sn_word_number(word, &r->row[k])) return bad_number(r, frame, k, word);
    }
    if (sn_lines_word(&r->lines, &word))
        return FAIL(r, "frame %d has more numbers than the %d channels", frame, r->row_size);
    return SN_OK;
}

static void note_positions(reading *r, bool first) {
    int at = 0;
    for (size_t i = 0; i < r->figure.nentry; i++) {
        sn_entry *e = &r->figure.entry[i];
        for (int k = 0; k < e->nchannel; k++, at++) {
            int c = e->channel[k];
            if (c >= 3) continue;
            double x = r->row[at];
            if (first) e->constant[c] = e->low[c] = e->high[c] = x;
            e->low[c] = fmin(e->low[c], x);
            e->high[c] = fmax(e->high[c], x);
        }
    }
}

// All rows that are there are frames, whatever number is stated; but a file that was cut off must
// not pass for a shorter one.
static sn_status check_rows(reading *r) {
    int count = 0;
    bool ended = true;
    sn_word before = {"", 0};
    r->lines = r->rows;
    while (sn_lines_next(&r->lines)) {
        if (count == INT_MAX)
            return sn_fail(r->error, SN_ERR_SIZE, r->lines.line, "too many frames");
        count++;
        sn_word line = {r->lines.at, (size_t)(r->lines.stop - r->lines.at)};
        ended = r->lines.stop < r->lines.end || sn_line_whole(line, before);
        before = line;
        SN_TRY(read_row(r, count));
        note_positions(r, count == 1);
    }
    // without channels a row is an empty line
    if (r->row_size == 0) r->nframe = 0;
    if (count == r->nframe) return SN_OK;
    if (count == 0) return FAIL(r, "the file states %d frames and has none", r->nframe);
    if (count < r->nframe && !ended)
        return FAIL(r,
                    "the file states %d frames and ends inside the line of number %d: it was cut "
                    "off (end that line to read what is there)",
                    r->nframe, count);
    sn_note(r->figure.note, "%d frame%s stated, %d there: what is there is read", r->nframe,
            SN_S(r->nframe), count);
    r->nframe = count;
    return SN_OK;
}

// Positions that are held, and by what offset.
static void hold_positions(sn_figure *figure, double tolerance) {
    for (size_t i = 0; i < figure->nentry; i++) {
        sn_entry *e = &figure->entry[i];
        bool moves = false, any = false;
        for (int k = 0; k < e->nchannel; k++) {
            int c = e->channel[k];
            any = any || c < 3;
            moves = moves || (c < 3 && e->high[c] - e->low[c] > tolerance);
        }
        e->held = any && !moves && !sn_entry_is_root(figure, i);
    }
}

static sn_status prepare(reading *r, const sn_bvh_options *options, void **owner) {
    bool motion;
    SN_TRY(sn_bvh_hierarchy(&r->lines, &r->figure, r->allocator, &motion, r->error));
    for (size_t i = 0; i < r->figure.nentry; i++) {
        sn_entry *e = &r->figure.entry[i];
        memcpy(e->constant, e->offset, sizeof e->constant);  // until a frame says otherwise
        r->row_size += e->nchannel;
    }
    sn_layout layout = {0};
    (void)sn_layout_take(&layout, (size_t)r->row_size, sizeof *r->row);
    r->row = sn_layout_acquire(&layout, r->allocator, owner);
    if (r->row == NULL) return sn_fail_memory(r->error);
    if (motion) {
        sn_word word;
        if (sn_lines_word(&r->lines, &word))
            return FAIL(r, "\"%.*s\" after MOTION is one word too many", SN_WORD(word));
        SN_TRY(read_header(r));
        SN_TRY(check_rows(r));
    }
    double size;
    SN_TRY(sn_figure_size(&r->figure, r->allocator, &size, r->error));
    if (options->positions == SN_BVH_POSITIONS_AUTO) hold_positions(&r->figure, still * size);
    r->figure.metres_guessed = options->metres_per_unit == 0;
    r->figure.metres = r->figure.metres_guessed ? sn_guess_metres(size) : options->metres_per_unit;
    return SN_OK;
}

static sn_status fill(reading *r, const sn_skeleton *skeleton, sn_motion *motion) {
    r->lines = r->rows;
    for (int i = 0; i < r->nframe; i++) {
        (void)sn_lines_next(&r->lines);
        SN_TRY(read_row(r, i + 1));
        sn_skeleton_from_row(skeleton, SN_ANGLE_DEGREES, r->row, sn_motion_edit(motion, i));
    }
    return SN_OK;
}

static sn_status read_file(reading *r, const sn_bvh_options *options, void **owner,
                           sn_skeleton **skeleton, sn_motion **motion) {
    SN_TRY(prepare(r, options, owner));
    SN_TRY(sn_skeleton_build(&r->figure, false, r->allocator, skeleton, r->error));
    int nq = sn_model_nq(sn_skeleton_model(*skeleton));
    sn_status status = sn_motion_create(r->nframe, nq, 1, r->rate, r->allocator, motion, NULL);
    if (status != SN_OK) return sn_fail(r->error, status, 0, "%s", sn_status_text(status));
    SN_TRY(fill(r, *skeleton, *motion));
    return sn_guess_up_axis(*skeleton, *motion, r->allocator, r->error);
}

sn_bvh_options sn_bvh_options_default(void) { return (sn_bvh_options){.version = OPTIONS_VERSION}; }

sn_status sn_bvh_read(const char *text, size_t length, const sn_bvh_options *options,
                      const sn_allocator *allocator, sn_skeleton **skeleton, sn_motion **motion,
                      sn_error *error) {
    if (skeleton != NULL) *skeleton = NULL;
    if (motion != NULL) *motion = NULL;
    if (length > 0) SN_NEED(text, error);
    SN_NEED(skeleton, error);
    SN_NEED(motion, error);
    if (text == NULL) text = "";
    sn_bvh_options used = options != NULL ? *options : sn_bvh_options_default();
    if (used.version != OPTIONS_VERSION)
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "the options do not come from sn_bvh_options_default()");
    double metres = used.metres_per_unit;
    if (metres != 0 && !(metres >= 1e-9 && metres <= 1e9))
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "metres per unit must be 0, or between 1e-9 and 1e9");
    // a colon parts words, so that "Frames:10" and "Frames : 10" are the same
    reading r = {.lines = sn_lines_begin(text, length, ":"),
                 .figure = {.format = SN_SKELETON_BVH, .angle_unit = SN_ANGLE_DEGREES},
                 .allocator = allocator,
                 .error = error};
    void *owner = NULL;
    sn_status status = read_file(&r, &used, &owner, skeleton, motion);
    sn_release(allocator, owner);
    sn_release(allocator, r.figure.entry);
    sn_release(allocator, r.figure.end);
    if (status == SN_OK) return SN_OK;
    sn_skeleton_destroy(*skeleton);
    sn_motion_destroy(*motion);
    *skeleton = NULL;
    *motion = NULL;
    return status;
}
