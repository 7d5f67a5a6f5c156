// SPDX-License-Identifier: MIT
// Fit a skeleton to a recording of markers, and write its motion as BVH.
//
//   fit_take SKELETON RECORDING MOTION.bvh
#include <sinew/sinew.h>
#include <stdio.h>
#include <stdlib.h>

// A file of any format that sinew reads.
static bool load(const char *path, sn_document *out) {
    sn_error error = {0};
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long size = -1;
    *out = (sn_document){0};
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0) bytes = malloc((size_t)size + 1);
    bool read = bytes != NULL && fread(bytes, 1, (size_t)size, file) == (size_t)size;
    bool good =
        read && sn_document_read(bytes, (size_t)size, path, NULL, NULL, out, &error) == SN_OK;
    if (!good) fprintf(stderr, "%s: %s\n", path, read ? error.text : "cannot be read");
    if (file != NULL) (void)fclose(file);
    free(bytes);
    return good;
}

static bool write(void *file, const void *bytes, size_t count) {
    return fwrite(bytes, 1, count, file) == count;
}

// The motion of the fitted model.
static bool save(const char *path, const sn_document *skeleton, const sn_take *take) {
    sn_scene scene = sn_scene_of(skeleton);
    FILE *file = fopen(path, "wb");
    if (file == NULL) return false;
    scene.model = sn_take_model(take);
    scene.reshaped = sn_take_about(take)->reshaped;
    scene.motion = sn_take_motion(take);
    bool good = sn_scene_write(&scene, SN_FORMAT_BVH, &(sn_sink){write, file}, NULL, NULL) == SN_OK;
    return fclose(file) == 0 && good;
}

int main(int argc, char **argv) {
    sn_document skeleton = {0}, markers = {0};
    sn_take *take = NULL;
    sn_error error = {0};
    if (argc != 4 || !load(argv[1], &skeleton) || !load(argv[2], &markers)) return 1;

    sn_take_options options = sn_take_options_default();
    options.model_up = skeleton.up;
    options.model_up_sign = skeleton.up_sign;
    options.own_motion = skeleton.motion;  // shows how it stands where nobody does in its zero pose
    options.calibrate = SN_CALIBRATE_SCALE;  // bones as long as this person's
    bool good =
        sn_take_create(skeleton.model, markers.recording, &options, NULL, &take, &error) == SN_OK;
    if (!good) fprintf(stderr, "%s\n", error.text);
    good = good && sn_take_prepare(take) == SN_OK && sn_take_finish(take) == SN_OK;

    // what a person should know, whether it went well or not
    for (int i = 0; i < sn_take_nfinding(take); i++) {
        char text[1000];
        (void)sn_take_sentence(take, i, SN_VOICE_PLAIN, text, sizeof text);
        printf("%s: %s\n", sn_severity_name(sn_take_finding(take, i)->severity), text);
    }
    if (good) {
        const sn_take_summary *s = sn_take_about(take);
        printf("%d frames, markers %.2f mm off (RMS)\n", s->count, 1e3 * s->fit.rms);
        good = save(argv[3], &skeleton, take);
    }
    sn_take_destroy(take);
    sn_document_destroy(&markers);
    sn_document_destroy(&skeleton);
    return good ? 0 : 1;
}
