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
                           : sn_scene_write(s, sn_format_of_name(path), &sink, NULL, &error);
    return output_close(&out, status, &error);
}
