// SPDX-License-Identifier: MIT
// What the setup files of OpenSim's tools share.
#pragma once

#include "files/xml_tree.h"

/// The element of a tool in a document: inside <OpenSimDocument>, or the outermost itself; -1 when it is not
/// there.
int sn_setup_find_tool(const sn_xml_tree *tree, const char *name);
