// SPDX-License-Identifier: MIT
// What the tests of ASF and AMC share.
#pragma once

#include "reader.h"

#include "sinew/files.h"

static const char tiny_asf[] = "# a comment\n"
                               ":version 1.10\n"
                               ":name tiny\n"
                               ":units\n"
                               "  mass 1.0\n"
                               "  length 0.5\n"
                               "  angle deg\n"
                               ":documentation\n"
                               "  anything: (at all)\n"
                               ":root\n"
                               "  order TX TY TZ RX RY RZ\n"
                               "  axis XYZ\n"
                               "  position 0 0 0\n"
                               "  orientation 0 0 0\n"
                               ":bonedata\n"
                               "  begin\n"
                               "    id 1\n"
                               "    name hip\n"
                               "    direction 1 0 0\n"
                               "    length 2\n"
                               "    axis 0 0 20 XYZ\n"
                               "    dof rx ry rz\n"
                               "    limits (-160.0 20.0)\n"
                               "           (-70.0, 70.0)\n"
                               "           (-inf 70.0)\n"
                               "  end\n"
                               "  begin\n"
                               "    id 2\n"
                               "    name knee\n"
                               "    direction 0 -3 0\n"
                               "    length 4\n"
                               "    axis 10 7.6e-016 -20 XYZ\n"
                               "    dof rx rz\n"
                               "  end\n"
                               "  begin\n"
                               "    id 3\n"
                               "    name toe\n"
                               "    direction 0 0 1\n"
                               "    length 1\n"
                               "  end\n"
                               ":hierarchy\n"
                               "  begin\n"
                               "    root hip\n"
                               "    hip knee\n"
                               "    knee toe\n"
                               "  end\n";

static const char tiny_amc[] = "#!OML:ASF f\xfcr.ASF\n"
                               ":FULLY-SPECIFIED\n"
                               ":DEGREES\n"
                               "7\n"
                               "root 1 2 3 10 20 30\n"
                               "knee 5 -6e-002\n"
                               "hip 1 2 3\n"
                               "8\n"
                               "root 1.5 2 3 11 20 30\n"
                               "knee 6 -7\n"
                               "hip 2 3 4\n";

static sn_skeleton *read_asf(const char *text) {
    sn_skeleton *s;
    sn_error error = {0};
    if (sn_asf_read(text, strlen(text), NULL, NULL, &s, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    return s;
}

// Every newline as something else, with tabs and brackets for blanks and no last line end.
static char *dressed(const char *text, const char *newline) {
    char *out = calloc(4 * strlen(text) + 8, 1);
    assert_non_null(out);
    strcpy(out, newline[1] == '\n' ? "\xef\xbb\xbf" : "");
    for (const char *c = text; *c != '\0'; c++) {
        bool comment = text + 5 > c;
        if (*c == '\n' && c[1] == '\0') break;
        if (*c == '\n')
            strcat(out, newline);
        else if (*c == ' ' && !comment)
            strcat(out, "\t(, ");
        else
            out[strlen(out)] = *c;  // the rest is zero
    }
    return out;
}
