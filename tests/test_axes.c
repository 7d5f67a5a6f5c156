// SPDX-License-Identifier: MIT
// Axes and units of a recording: maps between axes, what is stated, what is found.
#include "takes.h"

static double determinant(const sn_axis_map *m) {
    double R[9] = {0};
    for (int i = 0; i < 3; i++) R[3 * i + m->axis[i]] = m->sign[i];
    return R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) +
           R[2] * (R[3] * R[7] - R[4] * R[6]);
}

static void axis_maps(void **unused) {
    (void)unused;
    int good = 0;
    for (int code = 0; code < 27 * 8; code++) {
        char text[8], printed[8];
        int n = 0, axis[3] = {code / 72, code / 24 % 3, code / 8 % 3};
        for (int i = 0; i < 3; i++) {
            if (code >> i & 1) text[n++] = '-';
            text[n++] = "xyz"[axis[i]];
        }
        text[n] = '\0';
        bool twice = axis[0] == axis[1] || axis[1] == axis[2] || axis[0] == axis[2];
        sn_axis_map m;
        bool parsed = sn_axis_map_parse(text, &m);
        if (twice) {
            assert_false(parsed);
            continue;
        }
        sn_axis_map want = {{axis[0], axis[1], axis[2]},
                            {code & 1 ? -1 : 1, code & 2 ? -1 : 1, code & 4 ? -1 : 1},
                            1};
        if (parsed != (determinant(&want) > 0)) fail_msg("%s: parsed %d", text, (int)parsed);
        if (!parsed) continue;
        good++;
        sn_axis_map_print(&m, printed);
        assert_string_equal(printed, text);
        m.scale = 2;
        double x[3] = {1, 10, 100};
        sn_axis_map_point(&m, x, x);
        const double from[3] = {1, 10, 100};
        for (int i = 0; i < 3; i++) assert_true(x[i] == 2 * want.sign[i] * from[axis[i]]);
    }
    assert_int_equal(good, 24);
    sn_axis_map m;
    assert_true(sn_axis_map_parse("+Y, +Z, +X", &m) && m.axis[0] == 1);
    static const char *const wrong[] = {"",      "x",   "xy",  "xyzx", "xy ", "xyw",
                                        "--xyz", "x y", "xzy", "-xyz", "yz"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(sn_axis_map_parse(wrong[i], &m));
    static const char *const no_axis[] = {"", "-", "+", "w", "xy", "{", "--x", " x"};
    int axis;
    double sign;
    for (size_t i = 0; i < sizeof no_axis / sizeof no_axis[0]; i++)
        assert_false(sn_axis_parse(no_axis[i], &axis, &sign));
    assert_true(sn_axis_parse("-Z", &axis, &sign) && axis == 2 && sign == -1);
    assert_true(sn_axis_parse("+x", &axis, &sign) && axis == 0 && sign == 1);
    // from every up to every up: a rotation that does so
    for (int from = 0; from < 6; from++)
        for (int to = 0; to < 6; to++) {
            double s = from < 3 ? 1 : -1, z = to < 3 ? 1 : -1, up[3] = {0}, out[3];
            m = sn_axis_map_up(from % 3, s, to % 3, z);
            assert_true(determinant(&m) == 1);
            up[from % 3] = s;
            sn_axis_map_point(&m, up, out);
            for (int i = 0; i < 3; i++) assert_true(out[i] == (i == to % 3 ? z : 0));
        }
    char text[8];
    m = sn_axis_map_up(2, 1, 1, 1);
    sn_axis_map_print(&m, text);
    assert_string_equal(text, "yzx");
    m = sn_axis_map_up(1, -1, 1, -1);
    sn_axis_map_print(&m, text);
    assert_string_equal(text, "xyz");
}

typedef struct found_case {
    const char *name, *map;  // of the example into the recording
    double scale;            // of the numbers
    const char *stated;      // up
    double metres;           // stated, 0 for none
    int up;
    double sign;
    sn_known up_known, unit_known;
    bool conflict, doubtful;
    double unit;
} found_case;

// The example, seen as other laboratories would have written it.
static void axes_found(void **state) {
    example_take *t = *state;
    static const found_case all[] = {
        {"z up, mm stated", "zxy", 1, "+Z", 0.001, 2, 1, SN_KNOWN_STATED, SN_KNOWN_STATED, false,
         false, 0.001},
        {"y up, nothing stated, m", "xyz", 1, "", 0, 1, 1, SN_KNOWN_FOUND, SN_KNOWN_FOUND, false,
         false, 1},
        {"z up, nothing stated, mm", "zxy", 1000, "", 0, 2, 1, SN_KNOWN_FOUND, SN_KNOWN_FOUND,
         false, false, 0.001},
        {"z up, nothing stated, cm", "zxy", 100, "", 0, 2, 1, SN_KNOWN_FOUND, SN_KNOWN_FOUND, false,
         false, 0.01},
        {"x up, nothing stated, in", "yzx", 1 / 0.0254, "", 0, 0, 1, SN_KNOWN_FOUND, SN_KNOWN_FOUND,
         false, false, 0.0254},
        {"z up, y stated", "zxy", 1, "+Y", 1, 2, 1, SN_KNOWN_FOUND, SN_KNOWN_STATED, true, false,
         1},
        {"upside down along y", "-x-yz", 1, "", 1, 1, -1, SN_KNOWN_FOUND, SN_KNOWN_STATED, false,
         false, 1},
        {"upside down, +Y stated", "-x-yz", 1, "+Y", 1, 1, -1, SN_KNOWN_FOUND, SN_KNOWN_STATED,
         true, false, 1},
        {"-z up", "zxy", 1, "+Z", 1, 2, 1, SN_KNOWN_STATED, SN_KNOWN_STATED, false, false, 1},
        {"m stated, mm meant", "xyz", 1000, "+Y", 1, 1, 1, SN_KNOWN_STATED, SN_KNOWN_STATED, false,
         true, 1},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const found_case *c = &all[i];
        sn_axis_map map;
        sn_axes_report r;
        sn_recording_info info = *sn_recording_about(t->recording);
        assert_true(sn_axis_map_parse(c->map, &map));
        map.scale = c->scale;
        info.metres_per_unit = c->metres;
        (void)snprintf(info.y_screen, sizeof info.y_screen, "%s", c->stated);
        sn_recording *turned = recording_turned(t->recording, &map, &info);
        assert_int_equal(sn_axes_find(t->model, turned, 1, 1, NULL, &r, NULL), SN_OK);
        if (r.up != c->up || r.up_sign != c->sign || r.up_known != c->up_known ||
            r.unit_known != c->unit_known || r.up_conflict != c->conflict ||
            r.unit_doubtful != c->doubtful || r.unit != c->unit)
            fail_msg("%s: up %d %g (%d, conflict %d), unit %g (%d, doubtful %d, size %g)", c->name,
                     r.up, r.up_sign, (int)r.up_known, (int)r.up_conflict, r.unit,
                     (int)r.unit_known, (int)r.unit_doubtful, r.size);
        // and without the model, against the built-in figure
        sn_axes_report g;
        assert_int_equal(sn_axes_guess(turned, NULL, &g, NULL), SN_OK);
        assert_true(g.up == r.up && g.up_sign == r.up_sign && g.up_known == r.up_known &&
                    g.up_conflict == r.up_conflict && g.unit == r.unit &&
                    g.unit_known == r.unit_known && g.map.scale == r.map.scale);
        // the markers stand upright in the model's world: heads above feet, in metres
        double head[3], foot[3];
        const double *x = sn_recording_frame(turned, 30);
        sn_axis_map_point(&r.map, x + 3 * sn_recording_find(turned, "LFHD"), head);
        sn_axis_map_point(&r.map, x + 3 * sn_recording_find(turned, "LANK"), foot);
        assert_true(determinant(&r.map) == 1);
        if (!c->doubtful) assert_true(head[1] - foot[1] > 1.3 && head[1] - foot[1] < 1.9);
        sn_recording_destroy(turned);
    }
    // nobody there: what is stated, else the model's
    sn_recording_info info = *sn_recording_about(t->recording);
    sn_axes_report r;
    sn_axis_map same = sn_axis_map_identity();
    info.y_screen[0] = '\0';
    sn_recording *empty = recording_turned(t->recording, &same, &info);
    uint64_t random = 1;
    spoil_gaps(empty, 1, &random);
    assert_int_equal(sn_axes_find(t->model, empty, 2, -1, NULL, &r, NULL), SN_OK);
    assert_true(r.up == 2 && r.up_sign == -1 && r.up_known == SN_KNOWN_ASSUMED);
    sn_recording_destroy(empty);
}

// Labels of no set: who stands on the floor, and how tall, tells the axis and the unit.
static void axes_by_shape(void **state) {
    example_take *t = *state;
    static const struct {
        const char *map, *stated;
        double scale, metres;
        int up;
        sn_known up_known, unit_known;
        double unit;
    } all[] = {
        {"xyz", "", 1, 0, 1, SN_KNOWN_FOUND, SN_KNOWN_FOUND, 1},
        {"zxy", "", 100, 0, 2, SN_KNOWN_FOUND, SN_KNOWN_FOUND, 0.01},
        {"xyz", "", 1000, 0, 1, SN_KNOWN_FOUND, SN_KNOWN_FOUND, 0.001},
        {"xyz", "+Z", 1000, 0.01, 2, SN_KNOWN_STATED, SN_KNOWN_STATED,
         0.01},                                                       // what is stated stands
        {"xyz", "", 1e6, 0, 1, SN_KNOWN_FOUND, SN_KNOWN_ASSUMED, 1},  // no unit makes a person
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sn_axis_map map;
        sn_axes_report r;
        char text[64][8];
        const char *labels[64];
        sn_recording_info info = *sn_recording_about(t->recording);
        assert_true(info.nmarker <= 64 && sn_axis_map_parse(all[i].map, &map));
        map.scale = all[i].scale;
        info.metres_per_unit = all[i].metres;
        (void)snprintf(info.y_screen, sizeof info.y_screen, "%s", all[i].stated);
        sn_recording *turned = recording_turned(t->recording, &map, &info), *strange;
        for (int k = 0; k < info.nmarker; k++) {
            (void)snprintf(text[k], sizeof text[k], "q%d", k);
            labels[k] = text[k];
        }
        assert_int_equal(sn_recording_create(&info, labels, NULL, &strange, NULL), SN_OK);
        for (int f = 0; f < info.nframe; f++)
            memcpy(sn_recording_edit(strange, f), sn_recording_frame(turned, f),
                   3 * (size_t)info.nmarker * sizeof(double));
        assert_int_equal(sn_axes_guess(strange, NULL, &r, NULL), SN_OK);
        if (r.up != all[i].up || r.up_sign != 1 || r.up_known != all[i].up_known ||
            r.unit_known != all[i].unit_known || r.unit != all[i].unit)
            fail_msg("%zu: up %d %g (%d), unit %g (%d)", i, r.up, r.up_sign, (int)r.up_known,
                     r.unit, (int)r.unit_known);
        sn_recording_destroy(turned);
        sn_recording_destroy(strange);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(axis_maps), cmocka_unit_test(axes_found),
                                       cmocka_unit_test(axes_by_shape)};
    return cmocka_run_group_tests(tests, example_begin, example_end);
}
