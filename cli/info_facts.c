// SPDX-License-Identifier: MIT
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "amc_scan.h"
#include "info.h"

static void note(file_facts *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note(file_facts *f, const char *format, ...) {
    if (f->nnote == INFO_NOTES) return;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(f->notes[f->nnote++], sizeof f->notes[0], format, arguments);
    va_end(arguments);
}

// The first few of the names that tasks may use beside those of joints and markers.
static void describe_frames(file_facts *f, const sn_model *model) {
    enum { SHOWN = 4 };
    char names[SHOWN * 60] = "";
    int n = sn_model_nframe(model), used = 0;
    for (int i = 0; i < n && i < SHOWN; i++)
        used += snprintf(names + used, sizeof names - (size_t)used, "%s%.50s", i > 0 ? ", " : "",
                         sn_model_frame(model, i)->name);
    if (n > 0)
        note(f, "tasks may also name %d frame%s: %s%s", n, n == 1 ? "" : "s", names,
             n > SHOWN ? ", ..." : "");
}

static void about_recording(file_facts *f, const sn_recording *recording) {
    const sn_recording_info *info = sn_recording_about(recording);
    f->nframe = info->nframe;
    f->first_frame = info->first_frame;
    f->rate = info->rate;
    f->time_offset = info->time_offset;
    f->world = world_of_recording(recording);
    f->gaps = must_alloc((size_t)info->nmarker, sizeof *f->gaps);
    f->samples = (long)info->nframe * info->nmarker;
    for (int m = 0; m < info->nmarker; m++) {
        int run = 0;
        for (int k = 0; k < info->nframe; k++) {
            run = sn_recording_present(recording, k, m) ? 0 : run + 1;
            if (run > f->gaps[m].longest) f->gaps[m].longest = run;
        }
        f->gaps[m].missing = sn_recording_missing(recording, m);
        f->missing += f->gaps[m].missing;
    }
    if (info->note[0] != '\0') note(f, "%s", info->note);
    if (info->nother > 0)
        note(f, "%d point%s of the file %s no marker position%s (angles, forces, ...) and left out",
             info->nother, info->nother == 1 ? "" : "s", info->nother == 1 ? "is" : "are",
             info->nother == 1 ? "" : "s");
    if (info->nanalog > 0 || info->nevent > 0) {
        char text[120];
        describe_left_out(info, text, sizeof text);
        note(f, "%s are not read", text);
    }
    if (info->nrenamed > 0)
        note(f,
             "%d marker%s a label that another has before: it was made different by _2, _3, ... at "
             "its end",
             info->nrenamed, info->nrenamed == 1 ? " has" : "s have");
    if (f->world.conflict)
        note(f, "the file states %s as up, but by their labels the markers stand along %s",
             f->world.up_text, f->world.shown);
}

static void about_motion(file_facts *f, const sn_motion *motion) {
    f->nframe = sn_motion_nframe(motion);
    f->first_frame = sn_motion_first_frame(motion);
    f->time_offset = sn_motion_time_offset(motion);
    f->rate = sn_motion_rate(motion);
}

static void about_table(file_facts *f, const sn_table *table) {
    const sn_table_info *info = sn_table_about(table);
    f->nframe = info->nrow;
    f->rate = sn_table_rate(table);
    double first = 1;
    if (info->frame >= 0 && info->nrow > 0) first = sn_table_row(table, 0)[info->frame];
    if (info->frame < 0 && info->time >= 0 && info->nrow > 0)
        first = round(sn_table_row(table, 0)[info->time] * f->rate) + 1;
    f->first_frame = fabs(first) < 1e9 ? (int)first : 1;
    double metres = sn_unit_metres(info->unit);
    if (metres > 0) world_set_unit(&f->world, metres, STATED);
    if (metres == 0) (void)snprintf(f->world.unknown, sizeof f->world.unknown, "%s", info->unit);
    if (info->note[0] != '\0') note(f, "%s", info->note);
}

file_facts collect_facts(const input *in) {
    const sn_document *d = &in->document;
    file_facts f = {.in = in, .nframe = -1, .joints = -1, .dofs = -1};
    const sn_document *figure = in->partner != NULL ? &in->partner->document : d;
    if (figure->model != NULL) {
        f.world = world_of_model(figure);
        f.joints = sn_model_njoint(figure->model);
        f.dofs = sn_model_nv(figure->model);
    }
    if (d->motion != NULL) about_motion(&f, d->motion);
    if (d->recording != NULL) about_recording(&f, d->recording);
    if (d->table != NULL) about_table(&f, d->table);
    if (d->note[0] != '\0') note(&f, "%s", d->note);
    if (f.world.unknown[0] != '\0')
        note(&f, "the file's unit \"%s\" is not known", f.world.unknown);
    char couplings[200];
    describe_couplings(d, couplings, sizeof couplings);
    if (couplings[0] != '\0') note(&f, "%s", couplings);
    int loops = d->model != NULL ? sn_model_nloop(d->model) : 0;
    if (loops > 0) note(&f, "%d closed loop%s", loops, loops == 1 ? "" : "s");
    int shapes = d->model != NULL ? sn_model_nshape(d->model) : 0;
    int excluded = shapes > 0 ? sn_model_nexcluded(d->model) : 0;
    if (shapes > 0) note(&f, "%d collision shape%s", shapes, shapes == 1 ? "" : "s");
    if (excluded > 0) note(&f, "%d pair%s of joints may touch", excluded, excluded == 1 ? "" : "s");
    describe_frames(&f, d->model);
    return f;
}

bool collect_amc(const char *path, input *in, file_facts *out, sn_error *error) {
    size_t length;
    amc_facts amc;
    char *text = read_bytes(path, &length, error);
    if (text == NULL) return false;
    sn_status status = scan_amc(text, length, &amc, error);
    free(text);
    if (status != SN_OK) return false;
    *in = (input){.path = path, .document = {.format = SN_FORMAT_AMC}};
    *out = (file_facts){.in = in,
                        .nframe = amc.nframe,
                        .first_frame = amc.first_frame,
                        .rate = amc.rate,
                        .joints = amc.bones,
                        .dofs = amc.values};
    note(out,
         "this motion can only be read with its skeleton: give the ASF file in the same command "
         "(sinew info skeleton.asf motion.amc)");
    return true;
}

void free_facts(file_facts *facts) { free(facts->gaps); }
