// SPDX-License-Identifier: MIT
// An arm's life, and what it knows of itself.
#include "arm/arm.h"

#include <stdio.h>
#include <string.h>

#include "arm/device.h"
#include "base/threads.h"
#include "model/model.h"

enum { OPTIONS_VERSION = 1 };

sn_arm_options sn_arm_options_default(void) {
    return (sn_arm_options){.version = OPTIONS_VERSION,
                            .tool_rotation = {1, 0, 0, 0},
                            .position_tol = 1e-6,
                            .rotation_tol = 1e-6,
                            .axis = {0, 0, 1},
                            .max_seeds = 400,
                            .lanes = SN_ARM_LANES,
                            .device = SN_DEVICE_CPU,
                            .threads = 1};
}

static const char *const why_texts[SN_ARM_WHY_COUNT] = {
    "reached",
    "the goal is farther than the arm is long",
    "joint limits hold it back",
    "the arm is stretched or folded: no joint moves it the way that is left",
    "no posture was found that gets there",
    "the time was over"};

const char *sn_arm_why_text(sn_arm_why why) {
    return (int)why >= 0 && why < SN_ARM_WHY_COUNT ? why_texts[why] : "unknown";
}

static bool finite_all(const double *x, int n) {
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static sn_status check(const sn_model *model, const sn_arm_options *o, sn_error *error) {
    if (o->version != OPTIONS_VERSION)
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "the options do not come from sn_arm_options_default()");
    const char *wrong = NULL;
    const double *t = o->tool_rotation, *a = o->axis;
    double turn = t[0] * t[0] + t[1] * t[1] + t[2] * t[2] + t[3] * t[3];
    double axis = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
    if (!finite_all(o->tool_position, 3)) wrong = "tool_position";
    if (!(turn > 1e-200) || !isfinite(turn)) wrong = "tool_rotation";
    if (!(o->position_tol >= 1e-12) || !isfinite(o->position_tol)) wrong = "position_tol";
    if (!(o->rotation_tol >= 1e-12) || !isfinite(o->rotation_tol)) wrong = "rotation_tol";
    if ((int)o->rotation < 0 || o->rotation >= SN_ARM_ROTATION_COUNT) wrong = "rotation";
    if (!(axis > 1e-200) || !isfinite(axis)) wrong = "axis";
    if (o->nheld < 0 || (o->nheld > 0 && o->held == NULL)) wrong = "held";
    if (o->max_seeds < 1) wrong = "max_seeds";
    if (!(o->max_seconds >= 0)) wrong = "max_seconds";
    if (o->lanes != 1 && o->lanes != SN_ARM_LANES) wrong = "lanes";
    if ((unsigned)o->device >= SN_DEVICE_COUNT) wrong = "device";
    if (o->threads < 1 || o->threads > SN_MAX_THREADS) wrong = "threads";
    if (wrong != NULL) return sn_fail_option(error, wrong);
    for (int i = 0; i < o->nheld; i++) {
        if (o->held[i] == NULL) return sn_fail_option(error, "held");
        if (sn_model_find_joint(model, o->held[i]) < 0)
            return sn_fail(error, SN_ERR_ARGUMENT, 0, "there is no joint \"%.80s\" to hold",
                           o->held[i]);
    }
    if (o->pose != NULL) SN_TRY(sn_model_check_pose(model, o->pose, error));
    if (o->rest != NULL) SN_TRY(sn_model_check_pose(model, o->rest, error));
    return SN_OK;
}

static void layout_arm(sn_arm *arm, const sn_model *model, sn_layout *layout) {
    (void)sn_layout_take(layout, 1, sizeof *arm);
    arm->pose = sn_layout_take(layout, (size_t)sn_model_nq(model), sizeof *arm->pose);
    arm->name = sn_layout_take(layout, (size_t)arm->chain.n, sizeof *arm->name);
    arm->found = sn_layout_take(layout, (size_t)arm->chain.n * SN_ARM_SOLUTIONS, sizeof(double));
    arm->far = sn_layout_take(layout, SN_ARM_SOLUTIONS, sizeof(double));
    sn_arm_seeds_layout(&arm->seeds, &arm->chain, layout);
}

static void set_names(sn_arm *arm) {
    for (int i = 0; i < arm->chain.n; i++) {
        sn_coordinate c = arm->chain.coordinate[i];
        const char *joint = arm->model->desc[c.joint].name;
        if (sn_model_joint_nv(arm->model, c.joint) == 1)
            (void)snprintf(arm->name[i], sizeof arm->name[i], "%s", joint);
        else
            (void)snprintf(arm->name[i], sizeof arm->name[i], "%s.%d", joint, c.index);
    }
}

// The kernels measure at the last joint where the tool is taken off: a turn there moves the tool.
static void set_tolerances(sn_arm *arm) {
    const sn_arm_chain *c = &arm->chain;
    double turn = arm->options.rotation_tol, place = arm->options.position_tol / c->unit;
    if (c->hinges) {
        double lever = c->lever;
        if (lever * turn > 0.5 * place) turn = 0.5 * place / lever;
        place -= lever * turn;
    }
    arm->turn_tol = 0.998 * turn * turn;
    arm->place_tol = 0.998 * place * place;
}

static sn_status reference(const sn_model *model, const sn_arm_options *o, double *pose) {
    size_t nq = (size_t)sn_model_nq(model);
    sn_model_zero(model, pose);
    if (o->pose != NULL)
        memcpy(pose, o->pose, nq * sizeof *pose);
    else
        (void)sn_model_clamp(model, pose);
    sn_model_normalize_quaternions(model, pose);
    sn_model_follow(model, pose);
    return SN_OK;
}

sn_status sn_arm_create(const sn_model *model, const char *tip, const sn_arm_options *options,
                        const sn_allocator *allocator, sn_arm **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(model, error);
    SN_NEED(tip, error);
    SN_NEED(out, error);
    sn_arm_options used = options != NULL ? *options : sn_arm_options_default();
    SN_TRY(check(model, &used, error));

    // the chain says how large the arm is, and needs the pose
    sn_arm arm = {.model = model, .options = used};
    double *pose = sn_acquire(allocator, ((size_t)sn_model_nq(model) + 1) * sizeof *pose);
    if (pose == NULL) return sn_fail_memory(error);
    sn_status status = reference(model, &used, pose);
    if (status == SN_OK) status = sn_arm_chain_make(model, tip, &used, pose, &arm.chain, error);
    sn_layout layout = {0};
    char *block = NULL;
    if (status == SN_OK) {
        layout_arm(&arm, model, &layout);
        block = sn_layout_acquire(&layout, allocator, &arm.owner);
        if (block == NULL) status = sn_fail_memory(error);
    }
    if (status == SN_OK) {
        layout = (sn_layout){.block = block};
        layout_arm(&arm, model, &layout);
        memcpy(arm.pose, pose, (size_t)sn_model_nq(model) * sizeof *pose);
        arm.allocator = sn_allocator_of(allocator);
        arm.avx2 = sn_arm_avx2();
        arm.wide = sn_arm_has_wide();
        set_tolerances(&arm);
        set_names(&arm);
        arm.rests = used.rest != NULL;
        for (int i = 0; i < arm.chain.n && arm.rests; i++) {
            double x = used.rest[arm.chain.place[i]];
            arm.rest[i] = fmin(fmax(x, arm.chain.low[i]), arm.chain.high[i]);
        }
        arm.options.base = NULL, arm.options.held = NULL, arm.options.pose = NULL;
        arm.options.rest = NULL;
        status = sn_arm_seeds_make(&arm.seeds, &arm.chain, allocator, error);
        if (status != SN_OK) sn_release(allocator, arm.owner);
        if (status == SN_OK) arm.usual = sn_arm_usual_distance(&arm);
    }
    sn_release(allocator, pose);
    if (status != SN_OK) return status;
    char why[1200] = "";
    if (used.device != SN_DEVICE_CPU)
        arm.device = sn_arm_device_create(&arm, used.device, why, sizeof why);
    sn_arm_set_note(&arm, used.device == SN_DEVICE_OPENCL ? why : "");
    memcpy(block, &arm, sizeof arm);
    *out = (sn_arm *)(void *)block;
    return SN_OK;
}

void sn_arm_set_note(sn_arm *arm, const char *why) {
    if (arm->device != NULL)
        (void)snprintf(arm->note, sizeof arm->note, "%.120s by OpenCL, doubles",
                       sn_arm_device_name(arm->device));
    else
        (void)snprintf(arm->note, sizeof arm->note, "this processor, %d side by side%s%.1200s",
                       arm->options.lanes, why[0] != '\0' ? ": " : "", why);
}

const char *sn_arm_note(const sn_arm *arm) { return arm != NULL ? arm->note : ""; }

void *sn_arm_room(sn_arm *arm, size_t bytes) {
    if (arm == NULL || bytes == 0) return NULL;
    if (arm->device != NULL) {
        void *room = sn_arm_device_room(arm->device, bytes);
        if (room != NULL) return room;
    }
    if (arm->nroom >= (int)(sizeof arm->room / sizeof arm->room[0])) return NULL;
    void *room = sn_acquire(&arm->allocator, bytes);
    if (room != NULL) arm->room[arm->nroom++] = room;
    return room;
}

void sn_arm_destroy(sn_arm *arm) {
    if (arm == NULL) return;
    const sn_allocator allocator = arm->allocator;
    sn_arm_device_destroy(arm->device);
    sn_arm_device_destroy(arm->lost);
    for (int i = 0; i < arm->nroom; i++) sn_release(&allocator, arm->room[i]);
    sn_release(&allocator, arm->owner);
}

int sn_arm_n(const sn_arm *arm) { return arm != NULL ? arm->chain.n : 0; }

sn_coordinate sn_arm_coordinate(const sn_arm *arm, int i) {
    if (arm == NULL || i < 0 || i >= arm->chain.n) return (sn_coordinate){-1, -1};
    return arm->chain.coordinate[i];
}

const char *sn_arm_name(const sn_arm *arm, int i) {
    return arm != NULL && i >= 0 && i < arm->chain.n ? arm->name[i] : NULL;
}

const double *sn_arm_lower(const sn_arm *arm) { return arm != NULL ? arm->chain.low : NULL; }
const double *sn_arm_upper(const sn_arm *arm) { return arm != NULL ? arm->chain.high : NULL; }
const double *sn_arm_speed(const sn_arm *arm) { return arm != NULL ? arm->chain.speed : NULL; }

void sn_arm_from_pose(const sn_arm *arm, const double *pose, double *q) {
    if (arm == NULL || pose == NULL || q == NULL) return;
    for (int i = 0; i < arm->chain.n; i++) q[i] = pose[arm->chain.place[i]];
}

void sn_arm_to_pose(const sn_arm *arm, const double *q, double *pose) {
    if (arm == NULL || pose == NULL || q == NULL) return;
    memcpy(pose, arm->pose, (size_t)sn_model_nq(arm->model) * sizeof *pose);
    for (int i = 0; i < arm->chain.n; i++) pose[arm->chain.place[i]] = q[i];
    sn_model_follow(arm->model, pose);
}

void sn_arm_tool(const sn_arm *arm, const double *q, double tool[7]) {
    if (arm == NULL || q == NULL || tool == NULL) return;
    sn_frame f = sn_arm_chain_tool(&arm->chain, q);
    sn_quat r = sn_quat_from_mat3(f.R);
    const double out[7] = {f.p.x, f.p.y, f.p.z, r.w, r.x, r.y, r.z};
    memcpy(tool, out, sizeof out);
}
