// SPDX-License-Identifier: MIT
// A small XML file as a tree: what the setup files of OpenSim's tools are read from. Texts are trimmed, white
// space in them turned to spaces; every element knows its line.
#pragma once

#include "base/memory.h"
#include "files/xml.h"

typedef struct sn_xml_node {
    size_t name, label, file, text;  ///< where they begin in `texts`: its tag, its name="..." and
                                     ///< file="...", what is inside
    int line;
    int first, next;  ///< its first element, the next one beside it; -1 for none
    int parent;       ///< what it is inside of; -1 for the outermost
    // bytes of the document, for edits in place: <name ...> is from..inside, </name> is close..end. Of
    // <name/> inside, close and end are one.
    size_t from, inside, close, end;
    size_t label_from, label_to;  ///< its name="...", between the quotes; both 0 without one
} sn_xml_node;

typedef struct sn_xml_tree {
    sn_xml_node *node;  ///< the outermost element is the first
    size_t nnode, node_capacity;
    char *texts;
    size_t ntexts, texts_capacity;
} sn_xml_tree;

/// Read a whole document. To be ended in either case.
sn_status sn_xml_tree_read(sn_xml_tree *tree, const char *text, size_t length,
                           const sn_allocator *allocator, sn_error *error);
void sn_xml_tree_end(sn_xml_tree *tree, const sn_allocator *allocator);

/// The first element of a name inside another; -1 when there is none, or `node` is -1.
int sn_xml_tree_find(const sn_xml_tree *tree, int node, const char *name);
/// The first element inside another, and the one after it; -1 for none.
int sn_xml_tree_first(const sn_xml_tree *tree, int node);
int sn_xml_tree_next(const sn_xml_tree *tree, int node);

bool sn_xml_tree_is(const sn_xml_tree *tree, int node, const char *name);
const char *sn_xml_tree_name(const sn_xml_tree *tree, int node);
/// Its name="...", "" for none.
const char *sn_xml_tree_label(const sn_xml_tree *tree, int node);
/// Its file="...", where what it holds stands in another file; "" for none.
const char *sn_xml_tree_file(const sn_xml_tree *tree, int node);
/// The text inside, "" for none, and for -1.
const char *sn_xml_tree_text(const sn_xml_tree *tree, int node);
/// The line of an element, 0 for -1.
int sn_xml_tree_line(const sn_xml_tree *tree, int node);

// Values. Where an element is -1 or empty they leave `out` as it is; what is wrong is said with the line.

/// A number; infinities in any spelling are allowed.
sn_status sn_xml_tree_number(const sn_xml_tree *tree, int node, double *out, sn_error *error);
/// Exactly `count` numbers.
sn_status sn_xml_tree_numbers(const sn_xml_tree *tree, int node, int count, double *out,
                              sn_error *error);
/// "true", "1", "false", "0".
sn_status sn_xml_tree_flag(const sn_xml_tree *tree, int node, bool *out, sn_error *error);
/// The text as a name of a file or a thing; OpenSim's "Unassigned" is none.
const char *sn_xml_tree_word(const sn_xml_tree *tree, int node);
