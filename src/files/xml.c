// SPDX-License-Identifier: MIT
#include "files/xml.h"

#include <string.h>

#include "base/utf8.h"

#define FAIL(xml, ...) sn_fail((xml)->error, SN_ERR_PARSE, (xml)->at_line, __VA_ARGS__)

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// What ends a name. Letters are not told from other characters: a tag that is wrong there is not
// one that a reader of robots knows.
static bool ends_name(char c) {
    return is_space(c) || memchr("<>/=\"'&", c, 7) != NULL || c == '\0';
}

static bool same(sn_word a, sn_word b) {
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static bool word_is(sn_word word, const char *text) {
    return same(word, (sn_word){text, strlen(text)});
}

bool sn_xml_is(const sn_xml *xml, const char *name) { return word_is(xml->name, name); }

static bool starts_with(const sn_xml *xml, const char *what) {
    size_t n = strlen(what);
    return (size_t)(xml->end - xml->at) >= n && memcmp(xml->at, what, n) == 0;
}

// Go on to `to`, counting lines: each ends with LF, CRLF or CR.
static void move(sn_xml *xml, const char *to) {
    for (; xml->at < to; xml->at++) {
        bool cr = *xml->at == '\r' && !(xml->at + 1 < xml->end && xml->at[1] == '\n');
        if (*xml->at == '\n' || cr) xml->at_line++;
    }
}

// Go behind the next `what`; false, and not moved, when there is none.
static bool move_behind(sn_xml *xml, const char *what) {
    size_t n = strlen(what);
    for (const char *at = xml->at; (size_t)(xml->end - at) >= n; at++) {
        at = memchr(at, what[0], (size_t)(xml->end - at) - n + 1);
        if (at == NULL) return false;
        if (memcmp(at, what, n) != 0) continue;
        move(xml, at + n);
        return true;
    }
    return false;
}

static void pass_space(sn_xml *xml) {
    const char *at = xml->at;
    while (at < xml->end && is_space(*at)) at++;
    move(xml, at);
}

static sn_word take_name(sn_xml *xml) {
    const char *at = xml->at;
    // what no name starts with; "!" belongs to declarations that are not read
    bool no_name = at < xml->end && memchr("0123456789-.!", *at, 13) != NULL;
    while (!no_name && at < xml->end && !ends_name(*at)) at++;
    sn_word name = {xml->at, (size_t)(at - xml->at)};
    xml->at = at;
    return name;
}

void sn_xml_begin(sn_xml *xml, const char *text, size_t length, sn_error *error) {
    *xml = (sn_xml){.at = text, .end = text + length, .at_line = 1, .line = 1, .error = error};
    if (starts_with(xml, "\xEF\xBB\xBF")) xml->at += 3;
}

// The character of a reference &...; in text[0..length), as UTF-8 in out; `used` counts its bytes.
// How many bytes it becomes; 0 when it is none.
static size_t decode_reference(const char *text, size_t length, size_t *used, char out[4]) {
    static const struct {
        const char *name;
        char is;
    } known[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    const char *stop = memchr(text, ';', length < 16 ? length : 16);
    if (stop == NULL) return 0;
    sn_word body = {text + 1, (size_t)(stop - text) - 1};
    *used = body.length + 2;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!word_is(body, known[i].name)) continue;
        out[0] = known[i].is;
        return 1;
    }
    bool hex = body.length > 1 && body.text[1] == 'x';
    size_t first = hex ? 2 : 1;
    if (body.length <= first || body.text[0] != '#') return 0;
    uint32_t code = 0;
    for (size_t i = first; i < body.length; i++) {
        char c = body.text[i], low = (char)(c | 0x20);
        uint32_t digit = c >= '0' && c <= '9' ? (uint32_t)(c - '0') : 99;
        if (hex && low >= 'a' && low <= 'f') digit = (uint32_t)(low - 'a') + 10;
        if (digit >= (hex ? 16u : 10u)) return 0;
        code = code * (hex ? 16 : 10) + digit;
        if (code > 0x10ffff) return 0;
    }
    if (code == 0 || (code >= 0xd800 && code < 0xe000)) return 0;
    if (code < 0x80) return out[0] = (char)code, 1;
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n - 1; i > 0; i--, code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(lead[n] | code);
    return n;
}

// Every & of a piece begins a reference that is known.
static sn_status check_references(const sn_xml *xml, sn_word piece, int line) {
    const char *end = piece.text + piece.length;
    for (const char *at = piece.text; at < end; at++) {
        at = memchr(at, '&', (size_t)(end - at));
        if (at == NULL) break;
        size_t used;
        char out[4];
        if (decode_reference(at, (size_t)(end - at), &used, out) > 0) continue;
        size_t n = 1;
        while (at + n < end && n < 20 && !ends_name(at[n]) && at[n] != ';') n++;
        return sn_fail(xml->error, SN_ERR_PARSE, line,
                       "\"%.*s\" is no reference that is known here: write &amp; for an &", (int)n,
                       at);
    }
    return SN_OK;
}

// Replace references, unless `raw`, and turn white space to spaces. What is wrong, NULL when nothing.
static const char *decode(sn_word from, bool raw, size_t room, char *out, size_t *length) {
    size_t n = 0;
    for (size_t i = 0; i < from.length;) {
        char piece[4];
        size_t used, bytes = sn_utf8_length(from.text + i, from.length - i);
        if (bytes == 0 || from.text[i] == '\0') return "holds bytes that are not UTF-8 text";
        if (from.text[i] == '&' && !raw) {
            bytes = decode_reference(from.text + i, from.length - i, &used, piece);
            i += used;
        } else {
            memcpy(piece, from.text + i, bytes);
            if (is_space(piece[0])) piece[0] = ' ';
            i += bytes;
        }
        if (n + bytes > room) return "is too long";
        memcpy(out + n, piece, bytes);
        n += bytes;
    }
    *length = n;
    return NULL;
}

sn_status sn_xml_value(const sn_xml *xml, const sn_xml_attribute *attribute,
                       char out[SN_XML_VALUE]) {
    size_t n = 0;
    const char *wrong = decode(attribute->value, false, SN_XML_VALUE - 1, out, &n);
    if (wrong != NULL)
        return sn_fail(xml->error, SN_ERR_PARSE, attribute->line,
                       "the attribute \"%.*s\" of <%.*s> %s", SN_WORD(attribute->name),
                       SN_WORD(xml->name), wrong);
    out[n] = '\0';
    return SN_OK;
}

sn_status sn_xml_text(const sn_xml *xml, char *out, size_t *length) {
    const char *wrong = decode(xml->text, xml->cdata, xml->text.length, out, length);
    if (wrong == NULL) return SN_OK;
    return sn_fail(xml->error, SN_ERR_PARSE, xml->line, "the text in <%.*s> %s",
                   SN_WORD(xml->open[xml->depth - 1].name), wrong);
}

const sn_xml_attribute *sn_xml_find(const sn_xml *xml, const char *name) {
    for (int i = 0; i < xml->nattribute; i++)
        if (word_is(xml->attribute[i].name, name)) return &xml->attribute[i];
    return NULL;
}

// Pass over what starts here, from its `begin` up to and with `what`.
static sn_status pass_behind(sn_xml *xml, const char *begin, const char *what, const char *thing) {
    xml->at += strlen(begin);  // which holds no end of a line
    if (move_behind(xml, what)) return SN_OK;
    return FAIL(xml, "%s that starts here has no end \"%s\"", thing, what);
}

// <!DOCTYPE name SYSTEM "..." [ ... ]>: nothing in it is used, so only its end is looked for.
static sn_status pass_doctype(sn_xml *xml) {
    int brackets = 0;
    const int line = xml->at_line;
    while (xml->at < xml->end) {
        char c = *xml->at;
        if (starts_with(xml, "<!--")) {
            SN_TRY(pass_behind(xml, "<!--", "-->", "the comment"));
            continue;
        }
        if (starts_with(xml, "<?")) {
            SN_TRY(pass_behind(xml, "<?", "?>", "the instruction"));
            continue;
        }
        if (starts_with(xml, "<!ENTITY"))
            return FAIL(xml, "the DOCTYPE defines an entity, which is not supported: write what it "
                             "stands for where it is used");
        if (c == '>' && brackets == 0) {
            xml->at++;
            return SN_OK;
        }
        if (c == '[' && brackets == 0) brackets++;
        if (c == ']' && brackets > 0) brackets--;
        const char quote[2] = {c, '\0'};
        if (c == '"' || c == '\'') {
            SN_TRY(pass_behind(xml, quote, quote, "the quoted text"));
        } else {
            move(xml, xml->at + 1);
        }
    }
    return sn_fail(xml->error, SN_ERR_PARSE, line, "the DOCTYPE that starts here has no end");
}

static sn_status read_attribute(sn_xml *xml) {
    int line = xml->at_line;
    sn_word name = take_name(xml);
    if (name.length == 0) {
        unsigned char c = (unsigned char)*xml->at;
        if (c > ' ' && c < 0x7f)
            return FAIL(xml, "in the tag <%.*s> an attribute should start, not '%c'",
                        SN_WORD(xml->name), c);
        return FAIL(xml, "in the tag <%.*s> an attribute should start", SN_WORD(xml->name));
    }
    pass_space(xml);
    if (xml->at == xml->end || *xml->at != '=')
        return FAIL(xml, "the attribute \"%.*s\" of <%.*s> has no =\"value\"", SN_WORD(name),
                    SN_WORD(xml->name));
    xml->at++;
    pass_space(xml);
    char quote = xml->at < xml->end ? *xml->at : '\0';
    if (quote != '"' && quote != '\'')
        return FAIL(xml, "the value of attribute \"%.*s\" of <%.*s> must stand in quotes",
                    SN_WORD(name), SN_WORD(xml->name));
    const char *from = xml->at + 1, *to = memchr(from, quote, (size_t)(xml->end - from));
    size_t length = to == NULL ? (size_t)(xml->end - from) : (size_t)(to - from);
    // a quote that was forgotten is found long before the file ends: < may not stand in a value
    if (to == NULL || memchr(from, '<', length) != NULL)
        return FAIL(xml,
                    "the value of attribute \"%.*s\" of <%.*s> has no closing quote, or holds "
                    "a < (write &lt;)",
                    SN_WORD(name), SN_WORD(xml->name));
    sn_word value = {from, length};
    SN_TRY(check_references(xml, value, xml->at_line));
    for (int i = 0; i < xml->nattribute; i++)
        if (same(xml->attribute[i].name, name))
            return FAIL(xml, "the attribute \"%.*s\" of <%.*s> stands twice", SN_WORD(name),
                        SN_WORD(xml->name));
    if (xml->nattribute == SN_XML_ATTRIBUTES)
        return FAIL(xml, "<%.*s> has more than %d attributes", SN_WORD(xml->name),
                    SN_XML_ATTRIBUTES);
    xml->attribute[xml->nattribute++] = (sn_xml_attribute){name, value, line};
    move(xml, to + 1);
    return SN_OK;
}

// The tag at "<": its name and attributes.
static sn_status read_open(sn_xml *xml) {
    xml->at++;
    xml->name = take_name(xml);
    xml->nattribute = 0;
    if (xml->name.length == 0) return FAIL(xml, "after < the name of an element should follow");
    if (xml->begun && xml->depth == 0)
        return FAIL(xml, "<%.*s> stands behind the end of the outermost element",
                    SN_WORD(xml->name));
    if (xml->depth == SN_XML_DEPTH)
        return FAIL(xml, "elements are nested deeper than %d", SN_XML_DEPTH);
    xml->begun = true;
    xml->open[xml->depth].name = xml->name;
    xml->open[xml->depth++].line = xml->line;
    for (;;) {
        const char *before = xml->at;
        pass_space(xml);
        if (xml->at == xml->end)
            return sn_fail(xml->error, SN_ERR_PARSE, xml->line,
                           "the file ends inside the tag <%.*s>", SN_WORD(xml->name));
        xml->empty = starts_with(xml, "/>");
        if (xml->empty || *xml->at == '>') {
            xml->at += xml->empty ? 2 : 1;
            return SN_OK;
        }
        if (xml->at == before)
            return FAIL(xml, "in the tag <%.*s> a blank is missing", SN_WORD(xml->name));
        SN_TRY(read_attribute(xml));
    }
}

// The tag at "</".
static sn_status read_close(sn_xml *xml) {
    xml->at += 2;
    xml->name = take_name(xml);
    if (xml->depth == 0) return FAIL(xml, "</%.*s> ends what was never begun", SN_WORD(xml->name));
    if (!same(xml->open[xml->depth - 1].name, xml->name))
        return FAIL(xml, "</%.*s> where <%.*s> of line %d should end", SN_WORD(xml->name),
                    SN_WORD(xml->open[xml->depth - 1].name), xml->open[xml->depth - 1].line);
    pass_space(xml);
    if (xml->at == xml->end || *xml->at != '>')
        return FAIL(xml, "the tag </%.*s> has no >", SN_WORD(xml->name));
    xml->at++;
    xml->depth--;
    return SN_OK;
}

// Text up to the next "<"; *blank tells whether it is white space only.
static sn_status read_text(sn_xml *xml, bool *blank) {
    const char *stop = memchr(xml->at, '<', (size_t)(xml->end - xml->at));
    sn_word piece = {xml->at, (size_t)((stop == NULL ? xml->end : stop) - xml->at)};
    int line = xml->at_line;
    pass_space(xml);
    *blank = xml->at == piece.text + piece.length;
    if (xml->depth == 0 && !*blank)
        return FAIL(xml, xml->begun ? "text behind the end of the outermost element"
                                    : "text where an element should begin: is this XML, saved "
                                      "as UTF-8?");
    SN_TRY(check_references(xml, piece, line));
    xml->line = xml->at_line;
    xml->text = piece;
    xml->cdata = false;
    move(xml, piece.text + piece.length);
    return SN_OK;
}

// The CDATA at "<![CDATA[".
static sn_status read_cdata(sn_xml *xml) {
    xml->text.text = xml->at + 9;
    SN_TRY(pass_behind(xml, "<![CDATA[", "]]>", "the CDATA"));
    xml->text.length = (size_t)(xml->at - 3 - xml->text.text);
    xml->cdata = true;
    return SN_OK;
}

sn_status sn_xml_next(sn_xml *xml, sn_xml_event *out) {
    if (xml->empty) {
        xml->empty = false;
        xml->name = xml->open[--xml->depth].name;
        *out = SN_XML_CLOSE;
        return SN_OK;
    }
    for (;;) {
        if (xml->at < xml->end && *xml->at != '<') {
            bool blank;
            SN_TRY(read_text(xml, &blank));
            *out = SN_XML_TEXT;
            // what ends with the file inside an element is told of below
            if (!blank && xml->at < xml->end) return SN_OK;
        }
        xml->line = xml->at_line;
        if (xml->at == xml->end) break;
        if (starts_with(xml, "<!--")) {
            SN_TRY(pass_behind(xml, "<!--", "-->", "the comment"));
        } else if (starts_with(xml, "<?")) {
            SN_TRY(pass_behind(xml, "<?", "?>", "the instruction"));
        } else if (starts_with(xml, "<![CDATA[") && xml->depth > 0) {
            *out = SN_XML_TEXT;
            return read_cdata(xml);
        } else if (starts_with(xml, "<!DOCTYPE") && !xml->begun) {
            move(xml, xml->at + 9);
            SN_TRY(pass_doctype(xml));
        } else if (starts_with(xml, "</")) {
            *out = SN_XML_CLOSE;
            return read_close(xml);
        } else {
            *out = SN_XML_OPEN;
            return read_open(xml);
        }
    }
    if (xml->depth > 0)
        return FAIL(xml, "the file ends inside <%.*s> of line %d",
                    SN_WORD(xml->open[xml->depth - 1].name), xml->open[xml->depth - 1].line);
    if (!xml->begun) return FAIL(xml, "the file holds no element");
    *out = SN_XML_END;
    return SN_OK;
}
