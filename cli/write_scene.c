// SPDX-License-Identifier: MIT
// A scene as a file, whichever format the file's name asks for.
#include <stdio.h>
#include <string.h>

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

bool write_pose(const char *path, const sn_model *model, const double *q, const figure *from) {
    sn_motion *motion = NULL;
    sn_error error = {0};
    if (sn_motion_create(1, sn_model_nq(model), 1, 1, NULL, &motion, &error) != SN_OK) {
        complain("%s", error.text);
        return false;
    }
    memcpy(sn_motion_edit(motion, 0), q, (size_t)sn_model_nq(model) * sizeof *q);
    sn_scene scene = sn_scene_default(model);
    scene.skeleton = from->model == model ? from->skeleton : NULL;
    scene.motion = motion;
    scene.up = from->up;
    scene.up_sign = from->up_sign;
    scene.shapes = true;
    const bool good = write_scene(path, &scene, NULL);
    sn_motion_destroy(motion);
    return good;
}
