// SPDX-License-Identifier: MIT
// Which body a frame of an .osim file belongs to, by the file's tree alone.
#include <stdio.h>
#include <string.h>

#include "files/osim/scale.h"

static bool is_body(const sn_xml_tree *t, int k) {
    int list = t->node[k].parent;
    if (!sn_xml_tree_is(t, k, "Body") || list < 0 || t->node[list].parent < 0) return false;
    return sn_xml_tree_is(t, list, "objects") && sn_xml_tree_is(t, t->node[list].parent, "BodySet");
}

sn_status sn_osim_frames_make(const sn_xml_tree *t, const sn_allocator *allocator,
                              sn_osim_frames *out, sn_error *error) {
    *out = (sn_osim_frames){.tree = t, .model = -1};
    out->block = sn_acquire(allocator, (2 * t->nnode + 2) * sizeof *out->body);
    if (out->block == NULL) return sn_fail_memory(error);
    out->body = out->block;
    out->frame = out->body + t->nnode + 1;
    for (int k = 0; k < (int)t->nnode; k++) {
        if (sn_xml_tree_is(t, k, "Model") && out->model < 0) out->model = k;
        if (is_body(t, k)) {
            out->body[out->nbody++] = k;
            if (sn_xml_tree_find(t, k, "Joint") >= 0) out->joints_in_bodies = true;
        }
        if (sn_xml_tree_is(t, k, "PhysicalOffsetFrame")) out->frame[out->nframe++] = k;
    }
    if (out->model >= 0) return SN_OK;
    return sn_fail(error, SN_ERR_PARSE, sn_xml_tree_line(t, 0), "there is no <Model> here");
}

void sn_osim_frames_end(sn_osim_frames *frames, const sn_allocator *allocator) {
    sn_release(allocator, frames->block);
    *frames = (sn_osim_frames){0};
}

const char *sn_osim_socket(const sn_xml_tree *t, int node, const char *name) {
    char early[80];
    (void)snprintf(early, sizeof early, "%s_connectee_name", name);
    int k = sn_xml_tree_find(t, node, name);
    return sn_xml_tree_text(t, k >= 0 ? k : sn_xml_tree_find(t, node, early));
}

static int find_frame(const sn_osim_frames *f, int owner, const char *name) {
    const sn_xml_tree *t = f->tree;
    for (int i = 0; i < f->nframe; i++) {
        int k = f->frame[i];
        if (strcmp(sn_xml_tree_label(t, k), name) != 0) continue;
        // of a joint: <frames> between the two
        int up = t->node[k].parent;
        if (owner < 0 || up == owner || (up >= 0 && t->node[up].parent == owner)) return k;
    }
    return -1;
}

const char *sn_osim_frames_find(const sn_osim_frames *f, int owner, const char *path) {
    const sn_xml_tree *t = f->tree;
    for (int step = 0; step <= f->nframe + 1; step++) {
        const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
        int k = owner >= 0 ? find_frame(f, owner, name) : -1;
        owner = -1;
        if (k < 0) {
            if (strcmp(name, "ground") == 0) return "ground";
            for (int i = 0; i < f->nbody; i++)
                if (strcmp(sn_xml_tree_label(t, f->body[i]), name) == 0)
                    return sn_xml_tree_label(t, f->body[i]);
            k = find_frame(f, -1, name);
        }
        if (k < 0) return NULL;
        path = sn_osim_socket(t, k, "socket_parent");
        if (*path == '\0') return NULL;
        // a frame inside a body may name it as what is around it
        if (strcmp(path, "..") == 0) {
            int up = t->node[k].parent;
            while (up >= 0 && sn_xml_tree_label(t, up)[0] == '\0') up = t->node[up].parent;
            path = up >= 0 ? sn_xml_tree_label(t, up) : "";
        }
    }
    return NULL;
}
