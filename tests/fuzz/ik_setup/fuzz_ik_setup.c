// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/ik_setup/fuzz_ik_setup.c -lm -o fuzz_ik_setup
// ./fuzz_ik_setup -dict=tests/fuzz/ik_setup/ik_setup.dict corpus tests/fuzz/ik_setup/seeds
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz.h"
#include "sinew/take.h"

// A slide and a hinge with three markers, and a take of four frames.
static const char file[] =
    "<OpenSimDocument Version='40000'><Model name='m'><BodySet><objects><Body name='a'/>"
    "<Body name='b'/></objects></BodySet><JointSet><objects><SliderJoint name='s'>"
    "<socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/a"
    "</socket_child_frame><coordinates><Coordinate name='p'/></coordinates></SliderJoint>"
    "<PinJoint name='h'><socket_parent_frame>/bodyset/a</socket_parent_frame><socket_child_frame>"
    "/bodyset/b</socket_child_frame><coordinates><Coordinate name='q'><range>-1 1</range>"
    "<clamped>true</clamped></Coordinate></coordinates></PinJoint></objects></JointSet>"
    "<MarkerSet><objects><Marker name='A'><socket_parent_frame>/bodyset/a</socket_parent_frame>"
    "<location>0 0 0.1</location></Marker><Marker name='B'><socket_parent_frame>/bodyset/b"
    "</socket_parent_frame><location>0.2 0 0</location></Marker><Marker name='C'>"
    "<socket_parent_frame>/bodyset/b</socket_parent_frame><location>0 0.3 0</location></Marker>"
    "</objects></MarkerSet></Model></OpenSimDocument>";

static sn_document model;
static sn_recording *recording;

static void make_take(void) {
    if (recording != NULL) return;
    sn_motion *motion;
    check(sn_document_read(file, sizeof file - 1, "m.osim", NULL, NULL, &model, NULL) == SN_OK);
    check(sn_motion_create(4, sn_model_nq(model.model), 1, 10, NULL, &motion, NULL) == SN_OK);
    for (int f = 0; f < 4; f++) sn_motion_edit(motion, f)[1] = 0.2 * f;
    check(sn_marker_paths(model.model, motion, NULL, &recording, NULL) == SN_OK);
    sn_motion_destroy(motion);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sn_ik_setup *setup;
    sn_error error = {0};
    sn_status status = sn_ik_setup_read((const char *)data, size, NULL, &setup, &error);
    check((status == SN_OK) == (setup != NULL));
    if (status != SN_OK) {
        check(error.status == status && error.text[0] != '\0');
        return 0;
    }
    const sn_ik_setup_info *info = sn_ik_setup_about(setup);
    check(info->accuracy > 0 && info->first_time <= info->last_time &&
          info->constraint_weight >= 0);
    for (int i = 0; i < info->ntask; i++) {
        const sn_ik_task *t = sn_ik_setup_task(setup, i);
        check(t->name[0] != '\0' && t->weight >= 0 && t->weight <= 1e12 && isfinite(t->value));
    }
    // a take with it ends well, or with a sentence
    make_take();
    sn_take_options o = sn_take_options_default();
    sn_take *take;
    o.coordinates = model.coordinates;
    o.setup = setup;
    check(sn_take_create(model.model, recording, &o, NULL, &take, NULL) == SN_OK);
    status = sn_take_prepare(take);
    if (status == SN_OK) status = sn_take_finish(take);
    if (status == SN_OK) {
        const sn_motion *m = sn_take_motion(take);
        for (int f = 0; f < sn_motion_nframe(m); f++) check(fabs(sn_motion_frame(m, f)[1]) <= 1);
    } else {
        check(sn_take_nfinding(take) > 0);
    }
    sn_take_destroy(take);
    sn_ik_setup_destroy(setup);
    return 0;
}
