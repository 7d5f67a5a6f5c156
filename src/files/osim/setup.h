// SPDX-License-Identifier: MIT
// What the setup files of OpenSim's tools share.
#pragma once

#include "base/status.h"
#include "files/note.h"
#include "files/xml_tree.h"
#include "sinew/files.h"

/// The element of a tool in a document: inside <OpenSimDocument>, or the outermost itself; -1 when it is not
/// there.
int sn_setup_find_tool(const sn_xml_tree *tree, const char *name);

/// ik_setup.c: the marker placement of a <ScaleTool> as a setup of inverse kinematics.
sn_status sn_ik_setup_read_placer(const char *text, size_t length, const sn_allocator *allocator,
                                  sn_ik_setup **out, sn_error *error);
