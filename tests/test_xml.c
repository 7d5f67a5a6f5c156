// SPDX-License-Identifier: MIT
// The XML reader: what it hands out, what it passes over, what it refuses and on which line.
#include "support.h"

#include "files/xml.h"

// All in one line: "(name key=value key=value [text] name)", or "!line: message".
static const char *read_all(const char *text, size_t length) {
    static char out[4096];
    sn_error error = {0};
    sn_xml xml;
    char value[SN_XML_VALUE];
    size_t n = 0;
    out[0] = '\0';
#define PUT(...) (n += (size_t)snprintf(out + n, sizeof out - n, __VA_ARGS__))
    sn_xml_begin(&xml, text, length, &error);
    for (;;) {
        sn_xml_event event;
        if (sn_xml_next(&xml, &event) != SN_OK) break;
        if (event == SN_XML_END) return out;
        if (event == SN_XML_TEXT) {
            size_t used = 0;
            if (sn_xml_text(&xml, value, &used) != SN_OK) goto failed;
            assert_true(used <= xml.text.length);
            PUT("[%.*s]", (int)used, value);
            continue;
        }
        if (event == SN_XML_CLOSE) PUT("%.*s)", SN_WORD(xml.name));
        if (event == SN_XML_CLOSE) continue;
        PUT("(%.*s ", SN_WORD(xml.name));
        for (int i = 0; i < xml.nattribute; i++) {
            const sn_xml_attribute *a = &xml.attribute[i];
            if (sn_xml_value(&xml, a, value) != SN_OK) goto failed;
            PUT("%.*s=%s ", SN_WORD(a->name), value);
        }
    }
failed:
    assert_int_equal(error.status, SN_ERR_PARSE);
    assert_true(error.line >= 1 && error.text[0] != '\0');
    (void)snprintf(out, sizeof out, "!%d: %s", error.line, error.text);
    return out;
#undef PUT
}

#define READS(text, as) assert_string_equal(read_all(text, sizeof(text) - 1), as)

static void test_reads(void **state) {
    (void)state;
    READS("<a/>", "(a a)");
    READS("<a></a >", "(a a)");
    READS("\xEF\xBB\xBF<?xml version=\"1.0\"?>\n<!-- <b> -->\n<a x='1' y = \"2'\"\n "
          "z='\"'><b/></a>\n",
          "(a x=1 y=2' z=\" (b b)a)");
    READS("<a>text &amp; <![CDATA[<b> & ]] ]]><c/>more &#65;</a><!-- end --><?p?>",
          "(a [text & ][<b> & ]] ](c c)[more A]a)");
    READS("<a>\n 1\t2<!-- 3 -->4\n<b> </b></a>", "(a [  1 2][4 ](b b)a)");
    READS("<a><![CDATA[]]></a>", "(a []a)");
    READS("<a v='&lt;&gt;&amp;&quot;&apos;&#x41;&#66;&#xe9;&#x20AC;&#x1F600;'/>",
          "(a v=<>&\"'AB\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80 a)");
    READS("<a v='1\t2\r\n3'/>", "(a v=1 2  3 a)");
    READS("<a v='&#10;'/>", "(a v=\n a)");
    READS("<x:a x:b='1'/>", "(x:a x:b=1 x:a)");
    READS("<!DOCTYPE a SYSTEM \"a>.dtd\" [ <!ELEMENT a (b)> <!-- ]> --> ]>\n<a/>", "(a a)");
    READS("<a -->", "!1: in the tag <a> an attribute should start, not '-'");
}

static void test_refuses(void **state) {
    (void)state;
    READS("", "!1: the file holds no element");
    READS("\n\n <!-- -->\n", "!4: the file holds no element");
    READS("hello", "!1: text where an element should begin: is this XML, saved as UTF-8?");
    READS("\xFF\xFE<\0a\0", "!1: text where an element should begin: is this XML, saved as UTF-8?");
    READS("<a>\n<b>\n</a>", "!3: </a> where <b> of line 2 should end");
    READS("<a>\r<b>\r\n</a>", "!3: </a> where <b> of line 2 should end");
    READS("</a>", "!1: </a> ends what was never begun");
    READS("<a>\n", "!2: the file ends inside <a> of line 1");
    READS("<a>\n<b x='1'\n", "!2: the file ends inside the tag <b>");
    READS("<a/><b/>", "!1: <b> stands behind the end of the outermost element");
    READS("<a/>\ntail", "!2: text behind the end of the outermost element");
    READS("<a/><![CDATA[x]]>", "!1: after < the name of an element should follow");
    READS("<a x/>", "!1: the attribute \"x\" of <a> has no =\"value\"");
    READS("<a x=1/>", "!1: the value of attribute \"x\" of <a> must stand in quotes");
    READS("<a x='1' x='2'/>", "!1: the attribute \"x\" of <a> stands twice");
    READS("<a x='1'y='2'/>", "!1: in the tag <a> a blank is missing");
    READS("<a\nx='1>\n<b/></a>", "!2: the value of attribute \"x\" of <a> has no closing quote, or "
                                 "holds a < (write &lt;)");
    READS("<a>\n&nbsp;</a>",
          "!1: \"&nbsp\" is no reference that is known here: write &amp; for an &");
    READS("<a x='a & b'/>", "!1: \"&\" is no reference that is known here: write &amp; for an &");
    for (int i = 0; i < 7; i++) {
        static const char *const bad[] = {"&#0;", "&#xD800;", "&#x110000;",    "&#;",
                                          "&#x;", "&#12a;",   "&#99999999999;"};
        char text[64];
        (void)snprintf(text, sizeof text, "<a x='%s'/>", bad[i]);
        assert_int_equal(read_all(text, strlen(text))[0], '!');
    }
    READS("<a x='\xE9'/>", "!1: the attribute \"x\" of <a> holds bytes that are not UTF-8 text");
    READS("<a x='\0'/>", "!1: the attribute \"x\" of <a> holds bytes that are not UTF-8 text");
    READS("<a>\n\n\xE9</a>", "!3: the text in <a> holds bytes that are not UTF-8 text");
    READS("<a><b/>x\0</a>", "!1: the text in <a> holds bytes that are not UTF-8 text");
    READS("<a>x", "!1: the file ends inside <a> of line 1");
    READS("<!-- \n<a/>", "!1: the comment that starts here has no end \"-->\"");
    READS("<a><!-->", "!1: the comment that starts here has no end \"-->\"");
    READS("\n<!DOCTYPE a [\n<!ENTITY b 'c'>\n]>\n<a/>",
          "!3: the DOCTYPE defines an entity, which is not supported: write what it stands for "
          "where it is used");
    READS("\n<!DOCTYPE a [ ", "!2: the DOCTYPE that starts here has no end");
    READS("<a><!DOCTYPE a></a>", "!1: after < the name of an element should follow");
    READS("<1a/>", "!1: after < the name of an element should follow");
}

static void test_bounds(void **state) {
    (void)state;
    static char text[8192];
    sn_error error;
    sn_xml xml;
    sn_xml_event event = SN_XML_OPEN;
    for (int depth = SN_XML_DEPTH; depth <= SN_XML_DEPTH + 1; depth++) {
        size_t n = 0;
        for (int i = 0; i < depth; i++) n += (size_t)sprintf(text + n, "<a>");
        for (int i = 0; i < depth; i++) n += (size_t)sprintf(text + n, "</a>");
        sn_xml_begin(&xml, text, n, &error);
        sn_status status = SN_OK;
        while (status == SN_OK && (event != SN_XML_END || xml.depth > 0))
            status = sn_xml_next(&xml, &event);
        assert_int_equal(status, depth <= SN_XML_DEPTH ? SN_OK : SN_ERR_PARSE);
        event = SN_XML_OPEN;
    }
    for (int count = SN_XML_ATTRIBUTES; count <= SN_XML_ATTRIBUTES + 1; count++) {
        size_t n = (size_t)sprintf(text, "<a");
        for (int i = 0; i < count; i++) n += (size_t)sprintf(text + n, " k%d='%d'", i, i);
        n += (size_t)sprintf(text + n, "/>");
        sn_xml_begin(&xml, text, n, &error);
        assert_int_equal(sn_xml_next(&xml, &event),
                         count <= SN_XML_ATTRIBUTES ? SN_OK : SN_ERR_PARSE);
        if (count > SN_XML_ATTRIBUTES) continue;
        assert_non_null(sn_xml_find(&xml, "k63"));
        assert_null(sn_xml_find(&xml, "k64"));
    }
    for (int length = SN_XML_VALUE - 1; length <= SN_XML_VALUE; length++) {
        char value[SN_XML_VALUE];
        int n = sprintf(text, "<a v='%0*d'/>", length, 7);
        sn_xml_begin(&xml, text, (size_t)n, &error);
        assert_int_equal(sn_xml_next(&xml, &event), SN_OK);
        assert_int_equal(sn_xml_value(&xml, sn_xml_find(&xml, "v"), value),
                         length < SN_XML_VALUE ? SN_OK : SN_ERR_PARSE);
    }
}

// Cut anywhere, a file is refused, and nothing behind the cut is read (the copies are exact).
static void test_truncation(void **state) {
    (void)state;
    static const char text[] = "<?xml?><!DOCTYPE a [<!ELEMENT a (#PCDATA)>]><a x='&amp;' "
                               "y=\"2\"><!-- c --><b/>t&#65;<![CDATA[d]]></a>";
    for (size_t n = 0; n + 1 < sizeof text; n++) {
        char *copy = malloc(n + 1);
        assert_non_null(copy);
        char *exact = n > 0 ? malloc(n) : copy;
        assert_non_null(exact);
        memcpy(exact, text, n);
        if (read_all(exact, n)[0] != '!') fail_msg("%zu bytes were taken for a whole file", n);
        if (exact != copy) free(exact);
        free(copy);
    }
    assert_int_equal(read_all(text, sizeof text - 1)[0], '(');
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_truncation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
