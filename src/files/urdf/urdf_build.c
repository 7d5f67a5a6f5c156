// SPDX-License-Identifier: MIT
// From the links and joints of a URDF file to one tree and to a model.
#include "files/urdf/urdf.h"

#include <stdio.h>
#include <string.h>

#include "model/model.h"

enum { OPTIONS_VERSION = 1 };

static const char *link_name(const void *owner, int i) {
    const sn_urdf *u = owner;
    return u->names + u->link[i].name;
}

static const char *joint_name(const void *owner, int i) {
    const sn_urdf *u = owner;
    return u->names + u->joint[i].name;
}

void sn_urdf_end(sn_urdf *urdf) {
    sn_release(urdf->allocator, urdf->names);
    sn_release(urdf->allocator, urdf->joint);
    sn_release(urdf->allocator, urdf->link);
    sn_release(urdf->allocator, urdf->solid);
    sn_release(urdf->allocator, urdf->tables);
}

// Every name once, and found from here on.
static sn_status collect_names(sn_urdf *u) {
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        sn_names_layout(&u->link_names, u->nlink, &layout);
        sn_names_layout(&u->joint_names, u->njoint, &layout);
        if (pass == 1) break;
        u->tables = sn_acquire(u->allocator, layout.used);
        if (u->tables == NULL) return sn_fail_memory(u->error);
        layout = (sn_layout){.block = u->tables};
    }
    for (int i = 0; i < (int)u->nlink; i++)
        if (sn_names_add(&u->link_names, i, link_name, u) != i)
            return sn_fail(u->error, SN_ERR_PARSE, u->link[i].line,
                           "another link is named \"%.80s\" too", link_name(u, i));
    for (int i = 0; i < (int)u->njoint; i++)
        if (sn_names_add(&u->joint_names, i, joint_name, u) != i)
            return sn_fail(u->error, SN_ERR_PARSE, u->joint[i].line,
                           "another joint is named \"%.80s\" too", joint_name(u, i));
    return SN_OK;
}

static sn_status find_link(const sn_urdf *u, int joint, size_t name, int *out) {
    *out = sn_names_find(&u->link_names, u->names + name, link_name, u);
    if (*out < 0)
        return sn_fail(u->error, SN_ERR_PARSE, u->joint[joint].line,
                       "joint \"%.80s\": there is no link \"%.80s\"", joint_name(u, joint),
                       u->names + name);
    return SN_OK;
}

static sn_status connect_joint(sn_urdf *u, int i) {
    sn_urdf_joint *j = &u->joint[i];
    SN_TRY(find_link(u, i, j->parent, &j->parent_link));
    SN_TRY(find_link(u, i, j->child, &j->child_link));
    sn_urdf_link *child = &u->link[j->child_link];
    if (child->joint >= 0)
        return sn_fail(u->error, SN_ERR_PARSE, j->line,
                       "link \"%.60s\" is the child of joint \"%.60s\" and of joint \"%.60s\"",
                       u->names + child->name, joint_name(u, child->joint), joint_name(u, i));
    child->joint = i;
    return SN_OK;
}

static sn_status find_root(sn_urdf *u) {
    u->root = -1;
    for (int i = 0; i < (int)u->nlink; i++) {
        if (u->link[i].joint >= 0) continue;
        if (u->root >= 0)
            return sn_fail(u->error, SN_ERR_PARSE, u->link[i].line,
                           "no joint holds link \"%.60s\", but \"%.60s\" is the root already",
                           link_name(u, i), link_name(u, u->root));
        u->root = i;
    }
    if (u->root >= 0) return SN_OK;
    // going up from anywhere ends on a cycle, sooner or later
    int link = 0;
    for (size_t step = 0; step < u->nlink; step++) link = u->joint[u->link[link].joint].parent_link;
    return sn_fail(u->error, SN_ERR_PARSE, u->link[link].line,
                   "link \"%.60s\" hangs on itself through joint \"%.60s\": there is no root link",
                   link_name(u, link), joint_name(u, u->link[link].joint));
}

static bool has_one_coordinate(const sn_urdf_joint *j) {
    return j->desc.type == SN_JOINT_HINGE || j->desc.type == SN_JOINT_SLIDER;
}

// A mimic that cannot be followed makes its joint an ordinary one, with a note: the rest of the robot is good.
static void connect_mimic(sn_urdf *u, int i) {
    sn_urdf_joint *j = &u->joint[i];
    if (j->mimic == SIZE_MAX || j->desc.type == SN_JOINT_FIXED) return;
    const char *other = u->names + j->mimic;
    int source = sn_names_find(&u->joint_names, other, joint_name, u);
    if (source < 0)
        sn_note(u->note,
                "joint \"%.80s\" mimics \"%.80s\", but there is no such joint: it moves freely",
                joint_name(u, i), other);
    else if (!has_one_coordinate(j) || !has_one_coordinate(&u->joint[source]))
        sn_note(
            u->note,
            "joint \"%.80s\" mimics \"%.80s\", but not both have one coordinate: it moves freely",
            joint_name(u, i), other);
    else
        j->source = source;
}

// Where mimics follow each other in a ring, one of them has to go first. Each joint is walked over once.
static void open_rings(sn_urdf *u) {
    for (int i = 0; i < (int)u->njoint; i++) {
        int at = i;
        while (at >= 0 && u->joint[at].walk == 0) {
            u->joint[at].walk = i + 1;
            at = u->joint[at].source;
        }
        if (at < 0 || u->joint[at].walk != i + 1) continue;
        sn_note(u->note,
                "joint \"%.80s\" mimics \"%.80s\", and so itself in the end: it moves freely",
                joint_name(u, at), joint_name(u, u->joint[at].source));
        u->joint[at].source = -1;
    }
}

sn_status sn_urdf_connect(sn_urdf *u) {
    if (u->nlink == 0) return sn_fail(u->error, SN_ERR_PARSE, 0, "the robot has no links");
    if (u->nlink > SN_MAX_MARKERS || u->njoint >= SN_MAX_JOINTS)
        return sn_fail(u->error, SN_ERR_SIZE, 0, "more than %d joints or %d links",
                       SN_MAX_JOINTS - 1, SN_MAX_MARKERS);
    SN_TRY(collect_names(u));
    for (int i = 0; i < (int)u->njoint; i++) SN_TRY(connect_joint(u, i));
    SN_TRY(find_root(u));
    for (int i = 0; i < (int)u->njoint; i++) connect_mimic(u, i);
    open_rings(u);
    return SN_OK;
}

// The root link's name, with "_root" behind it as long as a joint has that name.
static sn_status name_root(const sn_urdf *u, char out[SN_MAX_NAME + 1]) {
    (void)snprintf(out, SN_MAX_NAME + 1, "%s", link_name(u, u->root));
    while (sn_names_find(&u->joint_names, out, joint_name, u) >= 0) {
        size_t length = strlen(out);
        if (length + 5 > SN_MAX_NAME)
            return sn_fail(u->error, SN_ERR_PARSE, u->link[u->root].line,
                           "joint and root link \"%.80s\" share a name that is too long to extend",
                           link_name(u, u->root));
        memcpy(out + length, "_root", 6);
    }
    return SN_OK;
}

// Joint i of the file is joint i + 1 of the model; the root link's comes first.
static int holder(const sn_urdf *u, int link) { return u->link[link].joint + 1; }

// A link's frame is that of the joint that holds it. Without mass a centre means nothing.
static void set_mass(sn_joint_desc *d, const sn_urdf_link *link) {
    d->mass = link->mass;
    if (link->mass > 0) memcpy(d->centre, link->centre, sizeof d->centre);
}

static void add_solids(const sn_urdf *u, sn_builder *builder) {
    for (size_t i = 0; i < u->nsolid; i++) {
        const sn_urdf_solid *s = &u->solid[i];
        const double *q = s->rotation;
        if (!s->stated) continue;
        sn_shape_desc d = sn_shape_default(SN_SHAPE_SPHERE);
        d.name = s->name != SIZE_MAX ? u->names + s->name : link_name(u, s->link);
        d.joint = holder(u, s->link);
        const sn_frame frame = {sn_mat3_from_quat((sn_quat){q[0], q[1], q[2], q[3]}),
                                v3_from(s->position)};
        (void)sn_bound_solid(builder, &d, s->kind, s->size, &frame, s->line);
    }
}

static sn_status build_model(const sn_urdf *u, bool floating, sn_model **out) {
    char root_name[SN_MAX_NAME + 1];
    sn_builder *builder;
    SN_TRY(name_root(u, root_name));
    if (sn_builder_create(u->names, u->allocator, &builder, NULL) != SN_OK)
        return sn_fail_memory(u->error);
    sn_joint_desc root = sn_joint_default(floating ? SN_JOINT_FREE : SN_JOINT_FIXED);
    root.name = root_name;
    set_mass(&root, &u->link[u->root]);
    (void)sn_builder_joint_at(builder, &root, u->link[u->root].line);
    for (int i = 0; i < (int)u->njoint; i++) {
        sn_joint_desc d = u->joint[i].desc;
        d.name = joint_name(u, i);
        d.parent = holder(u, u->joint[i].parent_link);
        set_mass(&d, &u->link[u->joint[i].child_link]);
        (void)sn_builder_joint_at(builder, &d, u->joint[i].line);
    }
    for (int i = 0; i < (int)u->nlink; i++) {
        sn_marker_desc d = {link_name(u, i), holder(u, i), {0, 0, 0}, 1};
        (void)sn_builder_marker_at(builder, &d, u->link[i].line);
    }
    for (int i = 0; i < (int)u->njoint; i++) {
        const sn_urdf_joint *j = &u->joint[i];
        if (j->source < 0) continue;
        const double numbers[2] = {j->multiplier, j->offset};
        const sn_coupling_desc c = {
            .follower = {i + 1, 0},
            .nleader = 1,
            .leader = {{j->source + 1, 0}},
            .function = {.type = SN_FUNCTION_LINEAR, .scale = 1, .ny = 2, .y = numbers}};
        (void)sn_builder_couple_at(builder, &c, j->line);
    }
    add_solids(u, builder);
    sn_status status = sn_builder_finish(builder, out, u->error);
    sn_builder_destroy(builder);
    return status;
}

sn_urdf_options sn_urdf_options_default(void) {
    return (sn_urdf_options){.version = OPTIONS_VERSION, .floating_base = false};
}

sn_status sn_urdf_read(const char *text, size_t length, const sn_urdf_options *options,
                       const sn_allocator *allocator, sn_model **out, sn_urdf_info *info,
                       sn_error *error) {
    if (out != NULL) *out = NULL;
    if (length > 0) SN_NEED(text, error);
    SN_NEED(out, error);
    if (text == NULL) text = "";
    sn_urdf_options used = options != NULL ? *options : sn_urdf_options_default();
    if (used.version != OPTIONS_VERSION)
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "the options do not come from sn_urdf_options_default()");
    sn_urdf u = {.allocator = allocator, .error = error};
    sn_status status = sn_urdf_parse(&u, text, length);
    if (status == SN_OK) status = sn_urdf_connect(&u);
    if (status == SN_OK) status = build_model(&u, used.floating_base, out);
    if (u.nmesh > 0)
        sn_note(u.note,
                "%d collision mesh%s left out: only spheres, capsules, cylinders and boxes count",
                u.nmesh, u.nmesh == 1 ? " is" : "es are");
    if (status == SN_OK && info != NULL) memcpy(info->note, u.note, sizeof u.note);
    sn_urdf_end(&u);
    return status;
}
