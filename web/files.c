// SPDX-License-Identifier: MIT
// Files that were dropped into the page: one row per kind.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "take.h"

void set_message(sn_error *error, const char *text) {
    (void)snprintf(error->text, sizeof error->text, "%s", text);
    error->line = 0;
}

typedef struct reader {
    const char *ending;
    int found;
    sn_status (*read)(const char *bytes, size_t length, sn_error *error);
} reader;

static sn_status read_json(const char *bytes, size_t length, sn_error *error) {
    sn_model *model;
    sn_status status = sn_model_read_json(bytes, length, NULL, &model, error);
    return status == SN_OK ? (sn_status)stage_take_model(model, NULL) : status;
}

static sn_status read_asf(const char *bytes, size_t length, sn_error *error) {
    sn_skeleton *skeleton;
    sn_asf_options options = sn_asf_options_default();
    options.use_limits = true;  // the page switches them
    sn_status status = sn_asf_read(bytes, length, &options, NULL, &skeleton, error);
    return status == SN_OK ? (sn_status)stage_take_model(NULL, skeleton) : status;
}

static sn_status read_amc(const char *bytes, size_t length, sn_error *error) {
    sn_motion *motion;
    if (the.skeleton == NULL) {
        set_message(error, "an AMC motion needs its skeleton: drop the ASF file with it");
        return SN_ERR_VALUE;
    }
    sn_status status = sn_amc_read(bytes, length, the.skeleton, NULL, &motion, error);
    return status == SN_OK ? take_motion(motion) : status;
}

static sn_status read_c3d(const char *bytes, size_t length, sn_error *error) {
    sn_recording *recording;
    sn_status status = sn_c3d_read(bytes, length, NULL, &recording, error);
    return status == SN_OK ? take_recording(recording, error) : status;
}

static const reader readers[] = {{"json", WEB_MODEL, read_json},
                                 {"asf", WEB_MODEL, read_asf},
                                 {"amc", WEB_MOTION, read_amc},
                                 {"c3d", WEB_MARKERS, read_c3d}};

static bool ends_with(const char *name, const char *ending) {
    size_t n = strlen(name), m = strlen(ending);
    if (n <= m || name[n - m - 1] != '.') return false;
    for (size_t i = 0; i < m; i++)
        if (tolower((unsigned char)name[n - m + i]) != ending[i]) return false;
    return true;
}

int web_open(int bytes) {
    const char *name = the.buffer, *data = name + strlen(name) + 1;
    sn_error error = {0};
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        if (!ends_with(name, readers[i].ending)) continue;
        sn_status status = readers[i].read(data, (size_t)bytes, &error);
        if (status == SN_OK) return readers[i].found;
        if (error.text[0] == '\0') set_message(&error, sn_status_text(status));
        if (error.line > 0) {
            (void)snprintf(the.error.text, sizeof the.error.text, "line %d: %.220s", error.line,
                           error.text);
        } else {
            the.error = error;
        }
        return WEB_BAD_FILE;
    }
    set_message(&the.error, "this kind of file is not known here");
    return WEB_BAD_FILE;
}
