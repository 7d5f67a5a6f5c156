// SPDX-License-Identifier: MIT
// A URDF file as it was read, before it is a model.
#pragma once

#include "base/names.h"
#include "files/bound.h"
#include "files/note.h"
#include "sinew/files.h"

typedef struct sn_urdf_joint {
    sn_joint_desc desc;          ///< without name and parent
    size_t name, parent, child;  ///< where the names of the joint and its links start in `names`
    int parent_link, child_link;
    size_t mimic;  ///< name of the joint it follows, SIZE_MAX: none
    int source;    ///< that joint, -1: none
    int walk;      ///< mark of a search for rings of mimics
    double multiplier, offset;
    int line;
    unsigned seen;  ///< a bit for each element inside that was read
} sn_urdf_joint;

typedef struct sn_urdf_link {
    size_t name;
    int joint;  ///< that holds it, -1 for the root
    int line;
    double mass, centre[3];  ///< 0 where it is not stated
} sn_urdf_link;

/// One <collision> of a link.
typedef struct sn_urdf_solid {
    int link;
    size_t name;  ///< SIZE_MAX: none
    bool stated;  ///< its <geometry> holds something to keep apart
    sn_solid_kind kind;
    double size[3], position[3], rotation[4];
    int line;
} sn_urdf_solid;

typedef struct sn_urdf {
    const sn_allocator *allocator;
    sn_error *error;
    char *names;  ///< terminated one after the other; the robot's is the first
    size_t names_used, names_capacity;
    sn_urdf_joint *joint;
    size_t njoint, joint_capacity;
    sn_urdf_link *link;
    size_t nlink, link_capacity;
    sn_urdf_solid *solid;
    size_t nsolid, solid_capacity;
    int nmesh;     ///< collisions that only a mesh states
    int root;      ///< the link that no joint holds
    void *tables;  ///< behind the two below
    sn_names link_names, joint_names;
    char note[SN_URDF_NOTE];  ///< mimics that cannot be followed, meshes
} sn_urdf;

/// Read the file into `urdf`, which is ended in either case.
sn_status sn_urdf_parse(sn_urdf *urdf, const char *text, size_t length);

/// Find joints and links by name, the root, and what mimics follow; check that it is one tree.
sn_status sn_urdf_connect(sn_urdf *urdf);

void sn_urdf_end(sn_urdf *urdf);
