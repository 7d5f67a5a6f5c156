// SPDX-License-Identifier: MIT
// A pull reader for XML: one call, one tag or piece of text. It knows lines, allocates nothing and never recurses.
// (expat is not used: the readers are also compiled to WebAssembly, where there is only libc.)
//
// Understood: elements, attributes in either quote, comments, CDATA, processing instructions, a
// DOCTYPE (passed over), the five entities and numeric references, a UTF-8 mark at the start. Text
// that is only white space is passed over. Refused: entity definitions, external or not, and what
// is not well formed. Prefixes are a part of names.
#pragma once

#include "files/lines.h"

enum {
    SN_XML_DEPTH = 64,       ///< elements inside each other
    SN_XML_ATTRIBUTES = 64,  ///< of one element
    SN_XML_VALUE = 1024      ///< bytes that hold a decoded value, its end included
};

typedef enum sn_xml_event {
    SN_XML_OPEN,   ///< <name ...> or <name ... />, for which a CLOSE follows too
    SN_XML_CLOSE,  ///< </name>
    SN_XML_TEXT,   ///< between tags; comments and CDATA part it into several pieces
    SN_XML_END     ///< the outermost element has ended, and nothing is left
} sn_xml_event;

typedef struct sn_xml_attribute {
    sn_word name, value;  ///< the value as it is written, between its quotes
    int line;
} sn_xml_attribute;

typedef struct sn_xml {
    const char *at, *end;
    int at_line;     ///< of `at`
    sn_word name;    ///< of the last tag
    sn_word text;    ///< the last TEXT as it is written
    bool cdata;      ///< it stood in CDATA: an & is an &
    int line;        ///< where the last tag starts
    int depth;       ///< elements that are open; 1 after the outermost OPEN
    bool begun;      ///< the outermost element was seen
    bool empty;      ///< the last tag was <name/>: its CLOSE is next
    int nattribute;  ///< of the last OPEN
    sn_xml_attribute attribute[SN_XML_ATTRIBUTES];
    struct {
        sn_word name;
        int line;
    } open[SN_XML_DEPTH];
    sn_error *error;
} sn_xml;

/// @param text  must outlive the reader; nothing is copied
void sn_xml_begin(sn_xml *xml, const char *text, size_t length, sn_error *error);

/// Go to the next tag. After a failure, don't call it again.
sn_status sn_xml_next(sn_xml *xml, sn_xml_event *out);

/// The attribute of the last OPEN with this name, NULL when there is none.
const sn_xml_attribute *sn_xml_find(const sn_xml *xml, const char *name);

/// An attribute's value, terminated: entities replaced, white space turned to spaces. Fails when it
/// has SN_XML_VALUE bytes or more, holds a NUL, or is not UTF-8.
sn_status sn_xml_value(const sn_xml *xml, const sn_xml_attribute *attribute,
                       char out[SN_XML_VALUE]);

/// The last TEXT, its entities replaced and white space turned to spaces, not terminated. Fails when
/// it holds a NUL or is not UTF-8.
/// @param out     room for text.length bytes: it never grows
/// @param length  bytes written
sn_status sn_xml_text(const sn_xml *xml, char *out, size_t *length);

/// The last tag has this name. Letter case counts.
bool sn_xml_is(const sn_xml *xml, const char *name);
