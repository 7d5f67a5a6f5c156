// SPDX-License-Identifier: MIT
// Edits of an .osim file in place: bytes that nobody asked to change stay as they are, comments, white space and
// order with them.
#pragma once

#include "files/xml_tree.h"

typedef struct sn_edit {
    size_t from, to;       ///< bytes of the text that go
    size_t added, nadded;  ///< what comes there, in `added`
    size_t order;          ///< of those at one place, the first comes first
} sn_edit;

/// A document, its tree, and what is to change.
typedef struct sn_edits {
    const sn_allocator *allocator;
    sn_error *error;
    const char *text;
    size_t length;
    sn_xml_tree tree;
    sn_edit *edit;
    size_t nedit, edit_capacity;
    char *added;
    size_t nadded, added_capacity;
    const char *newline;  ///< as the file ends its lines
    bool failed;          ///< memory is out
} sn_edits;

/// Read the text, which must outlive the edits. To be ended in either case.
sn_status sn_edits_begin(sn_edits *edits, const char *text, size_t length,
                         const sn_allocator *allocator, sn_error *error);
void sn_edits_end(sn_edits *edits);

/// Bytes from..to go, `with` comes there.
void sn_edits_replace(sn_edits *edits, size_t from, size_t to, const char *with);
/// The same, in the middle of an edit: more text behind that of the last one.
void sn_edits_more(sn_edits *edits, const char *with, size_t length);
/// The same, with & < > " as XML wants them.
void sn_edits_more_escaped(sn_edits *edits, const char *with);
void sn_edits_more_number(sn_edits *edits, double value);

/// The numbers inside an element, each where it stands. Those that stay the same keep their bytes.
/// @param count  how many there are; with any other number of words the whole text is replaced
void sn_edits_numbers(sn_edits *edits, int node, int count, const double *values);

/// The white space before an element on its line.
void sn_edits_indent(const sn_edits *edits, int node, char *out, size_t size);

/// The text with all edits; ends with a NUL that does not count. Free with sn_release().
sn_status sn_edits_apply(sn_edits *edits, char **out, size_t *length);
