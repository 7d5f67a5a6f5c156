// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/scale_setup/fuzz_scale_setup.c -lm -o fuzz_scale_setup
// ./fuzz_scale_setup -dict=tests/fuzz/scale_setup/scale_setup.dict corpus tests/fuzz/scale_setup/seeds
//
// A setup of scaling, and behind a line "----" a model that is scaled by it: what was read holds together, and
// what comes out is a model again.
#include "../fuzz.h"
#include "sinew/scaling.h"

static void look(const sn_scale_setup *setup) {
    const sn_scale_setup_info *i = sn_scale_setup_about(setup);
    check(i->nstep >= 0 && i->nstep <= 2 && i->mass >= 0);
    check(i->measured_first <= i->measured_last && i->static_first <= i->static_last);
    for (int k = 0; k < i->nmeasurement; k++) {
        const sn_scale_measurement *m = &i->measurement[k];
        for (int n = 0; n < m->npair; n++)
            check(strcmp(i->pairs[m->pair + n].marker[0], i->pairs[m->pair + n].marker[1]) != 0);
        for (int n = 0; n < m->nbody; n++) {
            const sn_scale_body *b = &i->bodies[m->body + n];
            check(b->body[0] != '\0' && (b->axis[0] || b->axis[1] || b->axis[2]));
        }
    }
    for (int k = 0; k < i->nmanual; k++)
        for (int x = 0; x < 3; x++) check(i->manual[k].factor[x] > 0);
    check(sn_ik_setup_about(sn_scale_setup_ik(setup)) != NULL);
}

// Three markers for a second.
static sn_recording *the_trial(void) {
    static sn_recording *trial;
    const char *labels[] = {"A", "B", "C"};
    sn_recording_info info = {
        .nframe = 2, .nmarker = 3, .first_frame = 1, .rate = 1, .metres_per_unit = 1};
    if (trial != NULL) return trial;
    check(sn_recording_create(&info, labels, NULL, &trial, NULL) == SN_OK);
    for (int f = 0; f < 2; f++)
        for (int k = 0; k < 9; k++) sn_recording_edit(trial, f)[k] = k % 4 + 0.1 * f;
    return trial;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    size_t cut = 0;
    while (cut + 6 <= size && memcmp(text + cut, "\n----\n", 6) != 0) cut++;
    bool model = cut + 6 <= size;
    sn_scale_setup *setup;
    sn_error error = {0};
    sn_status status = sn_scale_setup_read(text, model ? cut : size, NULL, &setup, &error);
    check((status == SN_OK) == (setup != NULL));
    if (status != SN_OK) {
        check(error.status == status && error.text[0] != '\0');
        return 0;
    }
    look(setup);
    sn_scaling_input in = {.model = text + cut + 6,
                           .model_length = model ? size - cut - 6 : 0,
                           .setup = setup,
                           .measured = the_trial(),
                           .at_rest = the_trial()};
    sn_scaling *scaling = NULL;
    error = (sn_error){0};
    if (model) status = sn_scaling_create(&in, NULL, &scaling, NULL, &error);
    if (model) check((status == SN_OK) == (scaling != NULL));
    if (status != SN_OK) check(error.text[0] != '\0');
    sn_scaling_destroy(scaling);
    sn_scale_setup_destroy(setup);
    return 0;
}
