// SPDX-License-Identifier: MIT
// A marker set from a take whose motion is known: where on the figure does each marker stay put?
//
// For marker m and joint j, with R, o the joint's frame in a frame of the take and x the marker,
//
//   p = R^T (x - o)      is constant when m is fixed to j
//
// so the joint with the least variance of p carries the marker, and the mean of p is its place.
// Joints that hardly move against each other have the same variance but for noise: of all that come
// within `tie` of the least, the one whose bone is nearest to the marker is taken. Fixed joints are
// one body with the joint that moves them, and that one is named.
//
// The same measure, summed over the markers, finds the axes: with any but the right one of the 24
// rotations the markers swim about in every joint's frame; and it finds which frame of the motion belongs to the
// recording's first.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "math/exp.h"
#include "math/vec3.h"
#include "motion/clock.h"
#include "take/fit.h"
#include "take/labels.h"
#include "take/marker_set.h"

// Of the root-mean-square movement. Skin moves by a centimetre, and known motions are no better
// known than that, so that neighbouring bones often differ by less than a tenth.
static const double tie = 1.1, tie_metres = 5e-5;

// The second best axes move the markers by so much more, or the take can't tell.
static const double clear = 1.2;

// Offset 0 is believed unless another makes the markers this much quieter.
static const double quieter = 0.98;

// SEARCHED: offsets to either side.
enum { VERSION = 1, LEAST_SAMPLES = 3, LOOKED_AT = 200, SEARCHED = 5 };

// Mean and sum of squared distances from it, one sample at a time (Welford).
typedef struct spot {
    sn_vec3 mean;
    double square;
} spot;

typedef struct learning {
    const sn_model *model;
    const sn_motion *motion;
    const sn_recording *recording;
    const sn_learn_options *options;
    char sign;  // parts subject and marker in a label
    int njoint, nmarker;
    int first, from, nframe;  // of the motion, of the recording; how many both have from there on
    sn_fit_place at;
    spot *spots;  // nmarker x njoint
    int *count;   // nmarker: samples
    void *block;
} learning;

static sn_status begin(learning *l, const sn_allocator *allocator, sn_error *error) {
    l->njoint = sn_model_njoint(l->model);
    l->nmarker = sn_recording_about(l->recording)->nmarker;
    if (sn_motion_nq(l->motion) != sn_model_nq(l->model))
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "the motion has %d coordinates, but the model has %d",
                       sn_motion_nq(l->motion), sn_model_nq(l->model));
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        size_t n = (size_t)l->nmarker * (size_t)l->njoint;
        l->spots = sn_layout_take(&layout, n, sizeof *l->spots);
        l->count = sn_layout_take(&layout, (size_t)l->nmarker, sizeof *l->count);
        if (pass == 1) break;
        void *start = sn_layout_acquire(&layout, allocator, &l->block);
        if (start == NULL) return sn_fail_memory(error);
        layout = (sn_layout){.block = start};
    }
    if (sn_fit_place_open(&l->at, l->model, allocator) != SN_OK) return sn_fail_memory(error);
    return SN_OK;
}

static void end(learning *l, const sn_allocator *allocator) {
    sn_fit_place_close(&l->at, allocator);
    sn_release(allocator, l->block);
}

static void add_sample(spot *s, int count, sn_vec3 p) {
    sn_vec3 d = v3_sub(p, s->mean);
    s->mean = v3_add(s->mean, v3_scale(1.0 / count, d));
    s->square += v3_dot(d, v3_sub(p, s->mean));
}

// Frame k of the recording belongs to frame k + offset of the motion. False when no frames are left.
static bool match(learning *l, int offset) {
    l->first = offset > 0 ? offset : 0;
    l->from = offset < 0 ? -offset : 0;
    int motion = sn_motion_nframe(l->motion) - l->first;
    int recording = sn_recording_about(l->recording)->nframe - l->from;
    l->nframe = motion < recording ? motion : recording;
    return l->nframe > 0;
}

static bool is_present(const learning *l, int f, int m) {
    return sn_recording_present(l->recording, l->from + f, m);
}

// Every step-th frame.
static sn_status collect(learning *l, const sn_axis_map *axes, int step, sn_error *error) {
    memset(l->spots, 0, (size_t)l->nmarker * (size_t)l->njoint * sizeof *l->spots);
    memset(l->count, 0, (size_t)l->nmarker * sizeof *l->count);
    for (int f = 0; f < l->nframe; f += step) {
        if (sn_workspace_pose(l->at.workspace, sn_motion_frame(l->motion, l->first + f)) != SN_OK)
            return sn_fail(error, SN_ERR_VALUE, 0,
                           "frame %d of the motion has a number that is not finite",
                           l->first + f + sn_motion_first_frame(l->motion));
        const double *from = sn_recording_frame(l->recording, l->from + f);
        for (int m = 0; m < l->nmarker; m++) l->count[m] += is_present(l, f, m);
        for (int j = 0; j < l->njoint; j++) {
            sn_frame frame = sn_workspace_frame(l->at.workspace, j);
            for (int m = 0; m < l->nmarker; m++) {
                if (!is_present(l, f, m)) continue;
                double x[3];
                sn_axis_map_point(axes, from + 3 * (size_t)m, x);
                sn_vec3 d = v3_sub(v3_from(x), frame.p);
                sn_vec3 p =
                    v3(v3_dot(frame.R.c[0], d), v3_dot(frame.R.c[1], d), v3_dot(frame.R.c[2], d));
                add_sample(&l->spots[(size_t)m * (size_t)l->njoint + (size_t)j], l->count[m], p);
            }
        }
    }
    return SN_OK;
}

static bool is_unnamed(const char *name) {
    return name[0] == '\0' || name[0] == '*' || name[0] == '#';
}

static const char *name_of(const learning *l, int m) {
    return sn_label_name_after(sn_recording_label(l->recording, m), l->sign);
}

static bool is_subjects(const learning *l, int m) {
    return sn_label_is_of(sn_recording_label(l->recording, m), l->options->subject, l->sign);
}

static bool is_usable(const learning *l, int m) {
    return l->count[m] >= LEAST_SAMPLES && !is_unnamed(name_of(l, m)) && is_subjects(l, m);
}

// The joint that a joint moves with: itself, or for a fixed one the next above that is not.
static int mover(const sn_model *model, int joint) {
    while (sn_model_joint(model, joint)->type == SN_JOINT_FIXED &&
           sn_model_parent(model, joint) >= 0)
        joint = sn_model_parent(model, joint);
    return joint;
}

static double segment_distance(sn_vec3 p, sn_vec3 tip) {
    double length = v3_dot(tip, tip);
    double along = length > 0 ? fmin(fmax(v3_dot(p, tip) / length, 0), 1) : 0;
    sn_vec3 d = v3_sub(p, v3_scale(along, tip));
    return sqrt(v3_dot(d, d));
}

// How far a point in a joint's frame is from its bones, which lead to its children. Where a last
// bone ends is not known: it is taken for a repetition of the one before.
static double bone_distance(const sn_model *model, int joint, sn_vec3 p) {
    double least = INFINITY;
    for (int k = 0; k < sn_model_njoint(model); k++)
        if (sn_model_parent(model, k) == joint)
            least = fmin(least, segment_distance(p, v3_from(sn_model_joint(model, k)->position)));
    if (isfinite(least)) return least;
    const sn_joint_desc *d = sn_model_joint(model, joint);
    sn_mat3 R = sn_mat3_from_quat(
        (sn_quat){d->rotation[0], d->rotation[1], d->rotation[2], d->rotation[3]});
    sn_vec3 t = v3_from(d->position);
    if (d->parent < 0) t = v3(0, 0, 0);
    return segment_distance(p, v3(v3_dot(R.c[0], t), v3_dot(R.c[1], t), v3_dot(R.c[2], t)));
}

static int choose_joint(const learning *l, int m) {
    const spot *s = l->spots + (size_t)m * (size_t)l->njoint;
    double least = INFINITY, nearest = INFINITY;
    int best = 0;
    for (int j = 0; j < l->njoint; j++) least = fmin(least, s[j].square);
    double bound = tie * sqrt(least / l->count[m]) + tie_metres;
    for (int j = 0; j < l->njoint; j++) {
        if (sqrt(s[j].square / l->count[m]) > bound) continue;
        double d = bone_distance(l->model, j, s[j].mean);
        if (!(d < nearest)) continue;
        best = mover(l->model, j);
        nearest = d;
    }
    return best;
}

static sn_status make_places(const learning *l, sn_marker_place *place, sn_learned *each,
                             int *count, sn_error *error) {
    int n = 0;
    for (int m = 0; m < l->nmarker; m++) {
        if (!is_usable(l, m)) continue;
        const char *name = name_of(l, m);
        if (strlen(name) > SN_MAX_LABEL)
            return sn_fail(error, SN_ERR_ARGUMENT, 0, "the label \"%.80s...\" is too long", name);
        for (int i = 0; i < n; i++)
            if (strcmp(place[i].name, name) == 0)
                return sn_fail(error, SN_ERR_ARGUMENT, 0,
                               "two markers are called \"%s\"; choose one subject", name);
        int j = choose_joint(l, m);
        const spot *s = &l->spots[(size_t)m * (size_t)l->njoint + (size_t)j];
        place[n] = (sn_marker_place){
            .position = {s->mean.x, s->mean.y, s->mean.z}, .placed = true, .weight = 1};
        sn_copy_name(place[n].name, sizeof place[n].name, name);
        sn_copy_name(place[n].joint, sizeof place[n].joint, sn_model_joint(l->model, j)->name);
        if (each != NULL)
            each[n] = (sn_learned){m, name, l->count[m], sqrt(s->square / l->count[m])};
        n++;
    }
    *count = n;
    if (n == 0)
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "no marker has a name and %d samples",
                       LEAST_SAMPLES);
    return SN_OK;
}

// Those of other subjects are not left out: nobody asked for them.
static int list_left_out(const learning *l, sn_learned *out) {
    int n = 0;
    for (int m = 0; m < l->nmarker; m++) {
        if (is_usable(l, m) || !is_subjects(l, m)) continue;
        if (out != NULL) out[n] = (sn_learned){m, name_of(l, m), l->count[m], 0};
        n++;
    }
    return n;
}

static sn_status make_set(const learning *l, const sn_allocator *allocator, sn_marker_set **out,
                          sn_learned *each, sn_lesson *lesson, sn_error *error) {
    int count = 0;
    sn_marker_place *place = sn_acquire(allocator, ((size_t)l->nmarker + 1) * sizeof *place);
    if (place == NULL) return sn_fail_memory(error);
    sn_status status = make_places(l, place, each, &count, error);
    if (status == SN_OK) {
        lesson->left_out = list_left_out(l, each != NULL ? each + count : NULL);
        status = sn_marker_set_create("learned", place, count, allocator, out, error);
        if (status != SN_OK) (void)sn_fail_memory(error);
    }
    sn_release(allocator, place);
    return status;
}

// --- axes ----------------------------------------------------------------------------------------

// Root-mean-square movement over all markers, each in its best joint's frame.
static double total_spread(const learning *l) {
    double square = 0;
    long samples = 0;
    for (int m = 0; m < l->nmarker; m++) {
        double least = INFINITY;
        if (!is_usable(l, m)) continue;
        for (int j = 0; j < l->njoint; j++)
            least = fmin(least, l->spots[(size_t)m * (size_t)l->njoint + (size_t)j].square);
        square += least;
        samples += l->count[m];
    }
    return samples > 0 ? sqrt(square / (double)samples) : INFINITY;
}

// Root-mean-square distance of points from their mean.
typedef struct cloud {
    spot spot;
    int count;
} cloud;

static void add_point(cloud *c, sn_vec3 p) { add_sample(&c->spot, ++c->count, p); }
static double cloud_size(const cloud *c) {
    return c->count > 0 ? sqrt(c->spot.square / c->count) : 0;
}

// Of the usual units, the one with which the markers are about as far apart as the joints.
static double find_unit(learning *l, int step) {
    static const double units[] = {1, 0.0254, 0.01, 0.001};
    double ratio = 0, best = 1, least = INFINITY;
    int n = 0;
    for (int f = 0; f < l->nframe; f += step) {
        cloud joints = {0}, markers = {0};
        if (sn_workspace_pose(l->at.workspace, sn_motion_frame(l->motion, l->first + f)) != SN_OK)
            continue;
        for (int j = 0; j < l->njoint; j++)
            add_point(&joints, sn_workspace_frame(l->at.workspace, j).p);
        const double *from = sn_recording_frame(l->recording, l->from + f);
        for (int m = 0; m < l->nmarker; m++)
            if (is_present(l, f, m) && is_usable(l, m))
                add_point(&markers, v3_from(from + 3 * (size_t)m));
        if (markers.count < 4 || !(cloud_size(&markers) > 0) || !(cloud_size(&joints) > 0))
            continue;
        ratio += sn_log(cloud_size(&markers) / cloud_size(&joints));
        n++;
    }
    for (size_t i = 0; n > 0 && i < sizeof units / sizeof units[0]; i++) {
        double off = fabs(sn_log(units[i]) + ratio / n);
        if (off < least) least = off, best = units[i];
    }
    return best;
}

// The k-th of the 24 rotations that map axes to axes.
static sn_axis_map rotation(int k) {
    static const char *const words[24] = {"xyz",   "x-y-z",  "-xy-z", "-x-yz",  "yzx",   "y-z-x",
                                          "-yz-x", "-y-zx",  "zxy",   "z-x-y",  "-zx-y", "-z-xy",
                                          "xz-y",  "x-zy",   "-xzy",  "-x-z-y", "yx-z",  "y-xz",
                                          "-yxz",  "-y-x-z", "zy-x",  "z-yx",   "-zyx",  "-z-y-x"};
    sn_axis_map map = sn_axis_map_identity();
    bool good = sn_axis_map_parse(words[k], &map);
    SN_ASSERT(good);
    (void)good;
    return map;
}

// Of the 24 rotations the one with which the markers move least.
static sn_status find_axes(learning *l, sn_lesson *lesson, sn_error *error) {
    double scale = 1;
    int step = l->nframe / LOOKED_AT + 1;
    if (!(sn_recording_about(l->recording)->metres_per_unit > 0)) {
        sn_axis_map none = sn_axis_map_identity();
        SN_TRY(collect(l, &none, step, error));  // for the counts
        scale = find_unit(l, step);
    }
    for (int k = 0; k < 24; k++) {
        sn_axis_map map = rotation(k);
        map.scale = scale;
        SN_TRY(collect(l, &map, step, error));
        double s = total_spread(l);
        if (!(s < lesson->next)) continue;
        if (s < lesson->spread) {
            lesson->next = lesson->spread;
            lesson->spread = s;
            lesson->axes = map;
        } else {
            lesson->next = s;
        }
    }
    return SN_OK;
}

// What was found, or what the caller knows in its place.
static sn_status settle_axes(const learning *l, sn_lesson *lesson, sn_error *error) {
    const sn_learn_options *o = l->options;
    double stated = sn_recording_about(l->recording)->metres_per_unit, scale = lesson->axes.scale;
    lesson->axes_given = o->has_axes || o->up >= 0;
    if (!lesson->axes_given && !o->unclear && lesson->next < clear * lesson->spread)
        return sn_fail(error, SN_ERR_VALUE, 0,
                       "which way the recording lies is not clear from this take (%.1f mm of "
                       "movement, and %.1f mm the other way); say it by the option axes or up",
                       1e3 * lesson->spread, 1e3 * lesson->next);
    if (o->has_axes)
        lesson->axes = o->axes;
    else if (o->up >= 0)
        lesson->axes = sn_axis_map_up(o->up, o->up_sign, o->model_up, o->model_up_sign);
    lesson->axes.scale = o->unit > 0 ? o->unit / (stated > 0 ? stated : 1) : scale;
    return SN_OK;
}

// --- offset --------------------------------------------------------------------------------------

static double spread_at(learning *l, int offset, const sn_axis_map *axes) {
    if (!match(l, offset) || collect(l, axes, l->nframe / LOOKED_AT + 1, NULL) != SN_OK)
        return INFINITY;
    return total_spread(l);
}

static int find_offset(learning *l, const sn_axis_map *axes) {
    double least = quieter * spread_at(l, 0, axes);
    int best = 0;
    for (int k = 1; k <= SEARCHED; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double spread = spread_at(l, sign * k, axes);
            if (!(spread < least)) continue;
            least = spread;
            best = sign * k;
        }
    return best;
}

// --- the whole -----------------------------------------------------------------------------------

sn_learn_options sn_learn_options_default(void) {
    return (sn_learn_options){
        .version = VERSION, .model_up = 1, .model_up_sign = 1, .up = -1, .up_sign = 1};
}

static sn_status check(const learning *l, sn_error *error) {
    const sn_learn_options *o = l->options;
    double motion = sn_motion_rate(l->motion), recording = sn_recording_about(l->recording)->rate;
    if (o->version != VERSION)
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "version: start from sn_learn_options_default()");
    if (o->model_up < 0 || o->model_up > 2) return sn_fail_range(error, "model_up");
    if (o->offset == INT_MIN) return sn_fail_range(error, "offset");
    if (o->up < -1 || o->up > 2) return sn_fail_range(error, "up");
    if (fabs(o->model_up_sign) != 1) return sn_fail_range(error, "model_up_sign");
    if (fabs(o->up_sign) != 1) return sn_fail_range(error, "up_sign");
    if (!(o->unit >= 0) || isinf(o->unit)) return sn_fail_range(error, "unit");
    if (o->has_axes && !sn_axis_map_proper(&o->axes)) return sn_fail_range(error, "axes");
    if (motion > 0 && recording > 0 && !sn_same_rate(motion, recording))
        return sn_fail(
            error, SN_ERR_ARGUMENT, 0,
            "the motion has %g frames/s, the recording %g: bring them together first, by "
            "resampling one of them",
            motion, recording);
    return sn_label_check_subject(l->recording, o->subject, l->sign, error);
}

static sn_status learn(learning *l, const sn_allocator *allocator, sn_marker_set **out,
                       sn_learned *each, sn_lesson *lesson, sn_error *error) {
    const sn_learn_options *o = l->options;
    if (sn_label_sign(l->model, l->recording, allocator, &l->sign) != SN_OK)
        return sn_fail_memory(error);
    SN_TRY(check(l, error));
    SN_TRY(begin(l, allocator, error));
    // a given offset first, as the axes are found from frames that belong together; a small one that is still to be
    // found does not hide them
    if (!match(l, o->has_offset ? o->offset : 0))
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "with an offset of %d no frames are left",
                       o->has_offset ? o->offset : 0);
    SN_TRY(find_axes(l, lesson, error));
    SN_TRY(settle_axes(l, lesson, error));
    lesson->offset = o->has_offset ? o->offset : find_offset(l, &lesson->axes);
    (void)match(l, lesson->offset);
    lesson->nframe = l->nframe;
    SN_TRY(collect(l, &lesson->axes, 1, error));
    return make_set(l, allocator, out, each, lesson, error);
}

sn_status sn_marker_set_learn(const sn_model *model, const sn_motion *motion,
                              const sn_recording *recording, const sn_learn_options *options,
                              const sn_allocator *allocator, sn_marker_set **out, sn_learned *each,
                              sn_lesson *lesson, sn_error *error) {
    sn_lesson own, *told = lesson != NULL ? lesson : &own;
    sn_learn_options usual = sn_learn_options_default();
    *told = (sn_lesson){.axes = sn_axis_map_identity(), .spread = INFINITY, .next = INFINITY};
    if (out != NULL) *out = NULL;
    SN_NEED(model, error);
    SN_NEED(motion, error);
    SN_NEED(recording, error);
    SN_NEED(out, error);
    learning l = {.model = model,
                  .motion = motion,
                  .recording = recording,
                  .options = options != NULL ? options : &usual};
    sn_status status = learn(&l, allocator, out, each, told, error);
    end(&l, allocator);
    return status;
}
