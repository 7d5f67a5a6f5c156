// SPDX-License-Identifier: MIT
// sinew fit as a user meets it: the program with the example's files in its folder. program.h with shorter
// names for what the tests of the fit do all the time.
#pragma once

#include "program.h"
#include "takes.h"

#define said   program_output  // by the last command, both streams
#define folder program_folder

// "sinew ARGUMENTS", run inside the folder; its exit code.
static int sinew(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int sinew(const char *format, ...) {
    char arguments[3000], line[4000];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    (void)snprintf(line, sizeof line, "cd '%s' && '%s' %s 2>&1", folder, SINEW_PROGRAM, arguments);
    return shell(line);
}

static void expect(int code, const char *fragment, const char *arguments) {
    int got = sinew("%s", arguments);
    if (got != code || strstr(said, fragment) == NULL)
        fail_msg("sinew %s: exit %d, expected %d with \"%s\"; it said: %.800s", arguments, got,
                 code, fragment, said);
}

static inline const char *path_of(const char *name) { return program_path(name); }
static inline void put(const char *name, const char *text) { (void)program_file(name, text); }
static inline bool is_there(const char *name) { return access(path_of(name), F_OK) == 0; }

// Nothing half-written may be anywhere.
static inline void no_parts(void) {
    char line[200];
    (void)snprintf(line, sizeof line, "find '%s' -name '*.part*'", folder);
    assert_int_equal(shell(line), 0);
    if (said[0] != '\0') fail_msg("left behind: %s", said);
}

static int fit_begin(void **unused) {
    (void)unused;
    return program_begin("fit") ? sinew("example --out ex") : -1;
}

static int fit_end(void **unused) {
    (void)unused;
    return program_end(0);
}

// The first frames of the example's recording; call when fit_begin() has made it.
static inline sn_recording *example_frames(int count) {
    size_t length;
    sn_recording *all, *part;
    char *bytes = slurp(path_of("ex/take.c3d"), &length);
    assert_int_equal(sn_c3d_read(bytes, length, NULL, &all, NULL), SN_OK);
    free(bytes);
    part = recording_cut(all, 0, count);
    sn_recording_destroy(all);
    return part;
}
