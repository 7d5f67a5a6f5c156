// SPDX-License-Identifier: MIT
// A scene as a file, whichever format the file's name asks for.
#include <stdio.h>

#include "figure.h"
#include "output.h"
#include "take_page.h"

bool write_scene(const char *path, const sn_scene *s, const char *page) {
    output out;
    sn_error error = {0};
    if (!output_open(&out, path)) return false;
    sn_sink sink = output_sink(&out);
    sn_status status = is_page_name(path)
                           ? write_take_page(s, page, path, &sink, &error)
                           : sn_scene_write(s, sn_format_of_name(path), &sink, &error);
    bool good = output_close(&out, status == SN_OK);
    if (status != SN_OK && status != SN_ERR_FILE) {
        if (error.text[0] == '\0')
            (void)snprintf(error.text, sizeof error.text, "%s", sn_status_text(status));
        error.line = 0;
        (void)file_error(path, &error);
    }
    return good && status == SN_OK;
}
