// SPDX-License-Identifier: MIT
// sinew fit --manifest: lists, shards, resuming, Slurm's variables; and how much memory a long take needs.
#define _DEFAULT_SOURCE  // wait4
#include <sys/resource.h>

#include "base/json.h"
#include "fit_program.h"
#include "memory_sink.h"

static void write_bytes(const char *name, const char *bytes, size_t length) {
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, length, f), length);
    assert_int_equal(fclose(f), 0);
}

// Some frames of the example as a file of its own; `times` over.
static void write_take(const char *name, int first, int count, int times) {
    size_t length;
    char *bytes = slurp(path_of("ex/take.c3d"), &length);
    sn_recording *all, *out;
    assert_int_equal(sn_c3d_read(bytes, length, NULL, &all, NULL), SN_OK);
    free(bytes);
    sn_recording_info info = *sn_recording_about(all);
    info.nmarker = 41;
    info.nframe = count * times;
    const char *labels[41];
    for (int i = 0; i < 41; i++) labels[i] = sn_recording_label(all, i);
    assert_int_equal(sn_recording_create(&info, labels, NULL, &out, NULL), SN_OK);
    for (int f = 0; f < info.nframe; f++) {
        // there and back again
        int lap = f / count, at = lap % 2 == 0 ? f % count : count - 1 - f % count;
        memcpy(sn_recording_edit(out, f), sn_recording_frame(all, first + at),
               sizeof(double[3 * 41]));
    }
    sn_recording_destroy(all);
    memory_sink sink;
    memory_sink_begin(&sink);
    assert_int_equal(sn_c3d_write(out, NULL, &sink.base, NULL, NULL), SN_OK);
    sn_recording_destroy(out);
    write_bytes(name, sink.bytes, sink.length);
    free(sink.bytes);
}

static void make_takes(void) {
    if (is_there("list.tsv")) return;
    for (int i = 0; i < 5; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "take%d.c3d", i);
        write_take(name, 100 * i, 40, 1);
    }
    put("bad.c3d", "this is no C3D file");
    put("list.tsv", "# skeleton\trecording\tname\n"
                    "ex/subject.json\ttake0.c3d\n"
                    "ex/subject.json\ttake1.c3d\tsecond take\r\n"
                    "\n"
                    "ex/subject.json\tbad.c3d\n"
                    "ex/subject.json\ttake2.c3d\n"
                    "ex/subject.json\ttake3.c3d\n"
                    "nothing.asf\ttake3.c3d\tlost\n"
                    "ex/subject.json\ttake4.c3d\n");
}

static void lists(void **unused) {
    (void)unused;
    make_takes();
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"ex/subject.json\n", "w.tsv:1: a line is SKELETON, RECORDING"},
        {"\n\nex/subject.json\t\n", "w.tsv:3: a line is"},
        {"\ttake0.c3d\n", "w.tsv:1: a line is"},
        {"a\tb\tc\td\n", "w.tsv:1: a line is"},
        {"a\tb\tc\td\te\tf\n", "w.tsv:1: a line is"},
        {"a\tb\t../c\n", "must not hold a slash"},
        {"a\tx.c3d\na\ty/x.c3d\n", "w.tsv:2: line 1 has the name \"x\" too"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        put("w.tsv", wrong[i].text);
        expect(3, wrong[i].says, "fit --manifest w.tsv --out none");
        assert_false(is_there("none"));
    }
    expect(3, "No such file", "fit --manifest nothing.tsv --out none");
    expect(2, "--shard takes K/N", "fit --manifest list.tsv --out none --shard 0/2");
    expect(2, "--shard takes K/N", "fit --manifest list.tsv --out none --shard 3/2");
    expect(2, "--shard takes K/N", "fit --manifest list.tsv --out none --shard one");
    expect(2, "--formats takes some of", "fit --manifest list.tsv --out none --formats docx");
    expect(2, "--formats takes some of", "fit --manifest list.tsv --out none --formats bvh,bvh");
    expect(2, "--formats takes some of", "fit --manifest list.tsv --out none --formats ''");
    expect(3, "the folder cannot be made", "fit --manifest list.tsv --out take0.c3d/x");
    expect(3, "the folder cannot be made", "fit --manifest list.tsv --out ''");
    put("w.tsv", "# nothing\n");
    expect(0, "0 fitted, 0 failed", "fit --manifest w.tsv --out none");
}

// A JSON line per take; bad ones are reported and the rest go on.
static void lines(void **unused) {
    (void)unused;
    make_takes();
    int good = 0, bad = 0;
    char line[400];
    (void)snprintf(
        line, sizeof line,
        "cd '%s' && '%s' fit --manifest list.tsv --out whole --formats bvh,glb,html,amc 2>err.log",
        folder, SINEW_PROGRAM);
    assert_int_equal(shell(line), 1);
    for (char *at = said; *at != '\0';) {
        char *stop = strchr(at, '\n');
        assert_non_null(stop);
        sn_json *json = NULL;
        assert_int_equal(sn_json_parse(at, (size_t)(stop - at), NULL, &json, NULL), SN_OK);
        const sn_json_node *root = sn_json_root(json), *ok = sn_json_get(json, root, "ok");
        assert_non_null(ok);
        assert_non_null(sn_json_get(json, root, "name"));
        assert_non_null(sn_json_get(json, root, "input"));
        if (sn_json_get(json, root, "error") != NULL) {
            bad++;
            assert_true(sn_json_get(json, root, "exit")->number == 3);
            assert_true(strlen(sn_json_get(json, root, "error")->string) > 10);
        } else {
            good++;
            assert_true(sn_json_get(json, root, "rms")->number < 0.0037);
        }
        sn_json_destroy(json);
        at = stop + 1;
    }
    assert_int_equal(good, 5);
    assert_int_equal(bad, 2);
    assert_true(is_there("whole/second take.glb") && is_there("whole/take4.html") &&
                !is_there("whole/bad.bvh"));
    size_t length;
    char *log = slurp(path_of("err.log"), &length);
    assert_non_null(strstr(log, "5 fitted, 2 failed"));
    free(log);
    no_parts();
}

// The same bytes however the work is split, and resuming does only what is missing.
static void shards(void **unused) {
    (void)unused;
    make_takes();
    if (!is_there("whole"))
        (void)sinew("fit --manifest list.tsv --out whole --formats bvh,glb,html,amc");
    for (int k = 1; k <= 3; k++)
        (void)sinew(
            "fit --manifest list.tsv --out split --formats bvh,glb,html,amc --shard %d/3 -j %d", k,
            k);
    char line[500];
    (void)snprintf(line, sizeof line, "cd '%s' && diff -r whole split && ls split | wc -l", folder);
    if (shell(line) != 0) fail_msg("%.400s", said);
    assert_int_equal(atoi(said), 20);
    // Slurm's variables do the same; the tasks may count from anything
    (void)snprintf(
        line, sizeof line,
        "cd '%s' && for i in 0 1 2; do SLURM_ARRAY_TASK_ID=$((i + 7)) SLURM_ARRAY_TASK_MIN=7 "
        "SLURM_ARRAY_TASK_COUNT=3 '%s' fit --manifest list.tsv --out slurm --formats "
        "bvh,glb,html,amc; done 2>&1; "
        "diff -r whole slurm",
        folder, SINEW_PROGRAM);
    if (shell(line) != 0) fail_msg("%.400s", said);
    (void)snprintf(
        line, sizeof line,
        "cd '%s' && SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=3 '%s' fit "
        "--manifest list.tsv --out slurm 2>&1",
        folder, SINEW_PROGRAM);
    assert_int_equal(shell(line), 2);
    assert_non_null(strstr(said, "number them without steps"));
    // what is there is left alone
    assert_int_equal(remove(path_of("split/take2.glb")), 0);
    put("split/take0.bvh", "mine");
    // as a run leaves it that is killed outright; nobody else's
    put("split/take0.glb.part-1", "half");
    put("split/take2.html.part-123456", "half");
    put("split/other.glb.part-1", "another's");
    assert_int_equal(
        sinew("fit --manifest list.tsv --out split --formats bvh,glb,html,amc --resume"), 1);
    assert_non_null(strstr(said, "1 fitted, 2 failed, 4 there already"));
    size_t length;
    char *mine = slurp(path_of("split/take0.bvh"), &length);
    assert_string_equal(mine, "mine");
    free(mine);
    assert_true(is_there("split/take2.glb"));
    assert_false(is_there("split/take0.glb.part-1") || is_there("split/take2.html.part-123456"));
    assert_true(is_there("split/other.glb.part-1"));
    assert_int_equal(remove(path_of("split/other.glb.part-1")), 0);
}

// Peak memory of a fit in MB.
static double peak(const char *take) {
    pid_t pid = fork();
    struct rusage usage;
    int status;
    assert_true(pid >= 0);
    if (pid == 0) {
        if (chdir(folder) != 0 || freopen("/dev/null", "w", stdout) == NULL) _exit(99);
        (void)execl(SINEW_PROGRAM, "sinew", "fit", "-m", "ex/subject.json", "-i", take, "-o",
                    "long.bvh", "-j", "2", (char *)NULL);
        _exit(99);
    }
    assert_int_equal(wait4(pid, &status, 0, &usage), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return (double)usage.ru_maxrss / 1024;
}

// Ten minutes, 72,000 frames of 41 markers, stay under 300 MB: measured in a soak, else from two shorter ones.
static void memory(void **unused) {
    (void)unused;
#if defined(__SANITIZE_ADDRESS__)
    print_message("skipped: a sanitizer's memory is not the program's\n");
    skip();
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    print_message("skipped: a sanitizer's memory is not the program's\n");
    skip();
#endif
#endif
    bool whole = cases(100) >= 10000;
    int size[2] = {1200, whole ? 72000 : 6000};
    double mb[2];
    for (int k = 0; k < 2; k++) {
        write_take("long.c3d", 0, 1200, size[k] / 1200);
        mb[k] = peak("long.c3d");
    }
    double slope = (mb[1] - mb[0]) / (size[1] - size[0]), at = mb[0] + slope * (72000 - size[0]);
    print_message("memory: %.1f MB for %d frames, %.1f MB for %d; %s 72,000: %.0f MB\n", mb[0],
                  size[0], mb[1], size[1], whole ? "measured at" : "so for", at);
    assert_true(at < 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),
        cmocka_unit_test(lines),
        cmocka_unit_test(shards),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, fit_begin, fit_end);
}
