// SPDX-License-Identifier: MIT
// Charts and pages: well formed, no number that is none, nothing fetched, no peak lost.
#include <ctype.h>

#include "plot.h"
#include "support.h"

// Every tag is closed in order, and no number was printed as nan or inf.
static void assert_well_formed(const char *text) {
    char open[64][16];
    int depth = 0;
    for (const char *at = strchr(text, '<'); at != NULL; at = strchr(at + 1, '<')) {
        const char *end = strchr(at, '>');
        assert_non_null(end);
        if (at[1] == '!' || strncmp(at, "<meta", 5) == 0) continue;
        bool closing = at[1] == '/';
        char name[16] = {0};
        for (int i = 0; i < 15 && (isalnum((unsigned char)at[i + 1 + closing])); i++)
            name[i] = at[i + 1 + closing];
        if (closing) {
            assert_true(depth > 0);
            assert_string_equal(name, open[--depth]);
        } else if (end[-1] != '/') {
            assert_true(depth < 64);
            memcpy(open[depth++], name, sizeof name);
        }
    }
    assert_int_equal(depth, 0);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf\""));
}

enum { N = 20000 };

static void every_kind(plot_figure *out) {
    static double x[N], y[N], few[8], fy[3][8], bars[2][3] = {{1, 20, 300}, {2, NAN, 90}};
    static double value[30 * 30];
    static unsigned char category[30 * 30];
    static const char *const groups[] = {"walking", "punching", "a very long name of a group"};
    static const char *const kinds[] = {"positive definite", "indefinite", "negative definite"};
    static const double levels[] = {0.5, 1, 2};
    static plot_series lines[5], box[3], bar[2];
    static plot_chart charts[6];
    uint64_t seed = 3;
    for (int i = 0; i < N; i++) {
        x[i] = i;
        y[i] = i == 12345      ? 1e6
               : i % 1000 == 0 ? NAN
                               : pow(10, 3 * sin(i * 1e-3)) + sn_random(&seed);
    }
    for (int i = 0; i < 8; i++) few[i] = i;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 8; i++) fy[k][i] = i == 5 && k == 1 ? -1 : pow(10, 2 - (k + 1) * i);
    for (int j = 0; j < 30; j++)
        for (int i = 0; i < 30; i++) {
            double u = i / 5.0 - 3, v = j / 5.0 - 3;
            value[i + 30 * j] = u * u * 0.3 + sin(v) + 1;
            category[i + 30 * j] = value[i + 30 * j] < 1 ? 0 : value[i + 30 * j] < 2 ? 1 : 2;
        }
    lines[0] = (plot_series){"f, <long> & noisy", 0, N, x, y, false, true};
    for (int k = 0; k < 3; k++)
        lines[1 + k] = (plot_series){groups[k], 1 + k, 8, few, fy[k], k == 2, false};
    for (int k = 0; k < 3; k++) box[k] = (plot_series){groups[k], k, N / (k + 1), NULL, y, 0, 0};
    for (int k = 0; k < 2; k++)
        bar[k] = (plot_series){k ? "ours" : "printed", k, 0, NULL, bars[k], 0, 0};
    charts[0] = (plot_chart){.title = "long",
                             .x = {"frame", false, 0, 0, false},
                             .y = {"f, cm²", true, 0, 0, false},
                             .series = lines,
                             .nseries = 1};
    charts[1] = (plot_chart){.title = "few",
                             .x = {"iteration", false, 0, 0, false},
                             .y = {"f, cm²", true, 0, 0, false},
                             .series = lines + 1,
                             .nseries = 3};
    charts[2] = (plot_chart){.kind = PLOT_BARS,
                             .title = "bars",
                             .y = {"time, s", true, 0, 0, false},
                             .series = bar,
                             .nseries = 2,
                             .groups = groups,
                             .ngroup = 3};
    charts[3] = (plot_chart){.kind = PLOT_BOXES,
                             .title = "boxes",
                             .y = {"error, m", true, 0, 0, false},
                             .series = box,
                             .nseries = 3};
    charts[4] = (plot_chart){.kind = PLOT_MAP,
                             .title = "map",
                             .x = {"θ1, degrees", false, -180, 180, false},
                             .y = {"θ2, degrees", false, -180, 180, false},
                             .nx = 30,
                             .ny = 30,
                             .value = value,
                             .category = category,
                             .categories = kinds,
                             .ncategory = 3,
                             .levels = levels,
                             .nlevel = 3};
    charts[5] = charts[4];
    charts[5].kind = PLOT_SURFACE;
    charts[5].category = NULL;
    charts[5].value_label = "f";
    *out = (plot_figure){"all <kinds>", charts, 6, 2, 0, 0};
}

static void page_of_every_kind_is_well_formed(void **state) {
    (void)state;
    plot_figure figure;
    plot_text out = {0}, alone = {0};
    const char *const heads[] = {"solver", " error, cm"}, *const cells[] = {"<hybrid>", "0.5"};
    every_kind(&figure);
    page_begin(&out, "All & sundry", "a page");
    page_section(&out, "one", "One");
    page_figure(&out, &figure, "caption");
    page_table_begin(&out, "table", heads, 2);
    page_table_row(&out, cells, 2);
    page_table_end(&out);
    page_verdict(&out, "good", "<b>holds</b> it does");
    page_end(&out);
    assert_false(out.failed);
    assert_well_formed(out.data);
    assert_null(strstr(out.data, "://"));
    assert_non_null(strstr(out.data, "content=\"default-src 'none'; style-src 'sha256-"));
    assert_null(strstr(out.data, "style=\""));
    assert_non_null(strstr(out.data, "<td>&lt;hybrid&gt;</td><td class=\"n\">0.5</td>"));
    assert_non_null(strstr(out.data, "f, &lt;long&gt; &amp; noisy"));
    plot_figure_svg(&alone, &figure, true);
    assert_well_formed(alone.data);
    assert_non_null(strstr(alone.data, "xmlns="));
    const char *keep = getenv("SINEW_PLOT_PAGE");  // to look at it
    if (keep != NULL) {
        FILE *file = fopen(keep, "w");
        if (file != NULL) (void)fputs(out.data, file), (void)fclose(file);
    }
    plot_text_free(&out);
    plot_text_free(&alone);
}

static void names_stay_text(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"<script>a=\"1\"</script>", "&lt;script&gt;a=&quot;1&quot;&lt;/script&gt;"},
        {"' x='&amp;", "&#39; x=&#39;&amp;amp;"},
        {"]]>\x01\x1f\x7f\t", "]]&gt;\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\t"},
        {"\xd7\x90 \xf0\x9f\xa6\xb4", "\xd7\x90 \xf0\x9f\xa6\xb4"},
        // not UTF-8: a byte alone, cut off, too long, a surrogate, a control character of two bytes
        {"a\xff", "a\xef\xbf\xbd"},
        {"a\xe2\x82", "a\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xc0\xbc", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xc2\x85", "\xef\xbf\xbd\xef\xbf\xbd"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        plot_text out = {0};
        plot_escaped(&out, names[i][0]);
        assert_string_equal(out.data, names[i][1]);
        plot_text_free(&out);
    }
}

static void hashes(void **state) {
    (void)state;
    // of FIPS 180-4's examples, in base64
    static const char *const abc[] = {"a", "bc"}, *const none[] = {""};
    static const char *const blocks[] = {"abcdbcdecdefdefgefghfghighij",
                                         "hijkijkljklmklmnlmnomnopnopq"};
    char out[PLOT_HASH];
    plot_hash(abc, 2, out);
    assert_string_equal(out, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    plot_hash(none, 1, out);
    assert_string_equal(out, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    plot_hash(blocks, 2, out);
    assert_string_equal(out, "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=");
}

static void long_lines_are_thinned_and_keep_their_peak(void **state) {
    (void)state;
    plot_figure figure;
    plot_text out = {0};
    every_kind(&figure);
    figure.nchart = 1;
    plot_figure_svg(&out, &figure, true);
    assert_true(out.length < 40000);
    // the one peak of 1e6 is the top of the axis: the line goes there
    assert_non_null(strstr(out.data, "V26.0L"));
    plot_text_free(&out);
}

static void exponents_and_quantiles(void **state) {
    (void)state;
    const double x[] = {1, 2, 4, 8}, y[] = {3, 12, 48, 192}, v[] = {1, 2, 3, 4, 5};
    assert_near(plot_exponent(x, y, 4), 2, 1e-12);
    assert_true(isnan(plot_exponent(x, y, 1)));
    assert_near(plot_quantile(v, 5, 0.5), 3, 0);
    assert_near(plot_quantile(v, 5, 0.25), 2, 0);
    assert_near(plot_quantile(v, 5, 1), 5, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_of_every_kind_is_well_formed),
        cmocka_unit_test(names_stay_text),
        cmocka_unit_test(hashes),
        cmocka_unit_test(long_lines_are_thinned_and_keep_their_peak),
        cmocka_unit_test(exponents_and_quantiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
