// SPDX-License-Identifier: MIT
// The unit of length of what is written.
#include <string.h>

#include "figure.h"

bool parse_out_unit(const char *word, double *metres, bool *source) {
    *source = word != NULL && strcmp(word, "source") == 0;
    *metres = word != NULL && !*source ? sn_unit_metres(word) : 0;
    if (word == NULL || *source || *metres > 0) return true;
    complain("--out-units takes m, cm, mm, in, ft or source, not \"%s\"", word);
    return false;
}

double source_unit(const char *path, double recording, double model) {
    sn_format format = sn_format_of_name(path);
    if (format == SN_FORMAT_BVH || format == SN_FORMAT_ASF || format == SN_FORMAT_AMC) return model;
    if (recording > 0) return recording;
    // files of markers name their unit, and one of an ASF file (0.45 inches) has no name
    char name[24];
    sn_unit_name(model, name);
    return model > 0 && sn_unit_metres(name) > 0 ? model : 0;
}

void describe_unit(double metres, char *out, size_t size) {
    char name[24];
    out[0] = '\0';
    if (metres <= 0) return;
    sn_unit_name(metres, name);
    // an ASF file's has no name: "0.0564444 m"
    (void)snprintf(out, size, " (lengths in %s%s)", strchr(name, ' ') != NULL ? "units of " : "",
                   name);
}
