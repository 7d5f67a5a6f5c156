// SPDX-License-Identifier: MIT
// Pages: one file, no script, nothing fetched.
#include <stdlib.h>
#include <string.h>

#include "svg.h"

static const char page_style[] =
    "*{box-sizing:border-box}"
    "body{margin:0 auto;max-width:1180px;padding:24px 20px 80px;background:var(--paper);"
    "color:var(--ink);font:16px/1.5 system-ui,sans-serif}"
    "h1{font-size:28px;line-height:1.2;margin:12px 0}h2{font-size:21px;margin:44px 0 8px;"
    "padding-top:14px;border-top:1px solid var(--grid)}p{max-width:76ch;margin:8px 0}"
    "a{color:var(--c0)}code{font:13.5px ui-monospace,monospace}"
    ".wide{overflow-x:auto;margin:14px 0}table{border-collapse:collapse;font-size:14px}"
    "caption{text-align:left;color:var(--soft);padding:4px 0;caption-side:top}"
    "th,td{padding:4px 12px 4px 0;border-bottom:1px solid var(--grid);text-align:left;"
    "vertical-align:top}th{font-weight:600}"
    "th,td,h1,code{unicode-bidi:isolate;overflow-wrap:anywhere}"
    "td:last-child,th:last-child{padding-right:0}"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    "figure{margin:16px 0;overflow-x:auto}figure svg{max-width:100%;height:auto;min-width:560px}"
    "figcaption{color:var(--soft);font-size:14px;max-width:90ch}"
    ".verdict{background:var(--panel);border-left:4px solid var(--soft);padding:8px 14px;"
    "margin:12px 0;max-width:90ch}.verdict b{margin-right:6px}"
    ".verdict.good{border-color:var(--good)}.good b{color:var(--good)}"
    ".verdict.partly{border-color:var(--partly)}.partly b{color:var(--partly)}"
    ".verdict.bad{border-color:var(--bad)}.bad b{color:var(--bad)}"
    ".findings{padding-left:20px;max-width:90ch}.findings li{margin:6px 0}"
    ".findings .warning b{color:var(--partly)}.findings .error b{color:var(--bad)}.findings .note "
    "b{color:var(--soft)}"
    "@page{size:A4;margin:14mm}"
    "@media "
    "print{body{max-width:none;font-size:10pt;padding:0}h2{break-after:avoid;margin-top:22px}"
    "figure,.verdict,tr,.findings li{break-inside:avoid}thead{display:table-header-group}"
    "figure svg{min-width:0}table{font-size:8.5pt}th,td{padding:2px 7px 2px 0;"
    "overflow-wrap:break-word}th.n{white-space:normal}"
    ".wide,figure{overflow:visible}a{color:inherit}}";

// Whatever stands in a page, nothing in it runs and nothing is fetched: the one style is named by its
// hash.
static void policy(plot_text *out) {
    const char *const style[] = {plot_style, page_style};
    char hash[PLOT_HASH];
    plot_hash(style, 2, hash);
    plot_add(out,
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
             "style-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">",
             hash);
}

void page_begin(plot_text *out, const char *title, const char *subtitle_html) {
    plot_raw(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    policy(out);
    plot_raw(out, "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
                  "<meta name=\"color-scheme\" content=\"light dark\"><title>");
    plot_escaped(out, title);
    plot_add(out, "</title>\n<style>%s%s</style></head>\n<body><h1>", plot_style, page_style);
    plot_escaped(out, title);
    plot_raw(out, "</h1>\n");
    page_paragraph(out, subtitle_html);
}

void page_section(plot_text *out, const char *id, const char *title) {
    plot_add(out, "<h2 id=\"%s\">", id);
    plot_escaped(out, title);
    plot_raw(out, "</h2>\n");
}

void page_paragraph(plot_text *out, const char *html) { plot_add(out, "<p>%s</p>\n", html); }

void page_figure(plot_text *out, const plot_figure *figure, const char *caption_html) {
    plot_raw(out, "<figure>");
    plot_figure_svg(out, figure, false);
    plot_add(out, "<figcaption>%s</figcaption></figure>\n", caption_html);
}

static void cell(plot_text *out, const char *tag, bool number, const char *text) {
    plot_add(out, "<%s%s>", tag, number ? " class=\"n\"" : "");
    plot_escaped(out, text);
    plot_add(out, "</%s>", tag);
}

void page_table_begin(plot_text *out, const char *caption_html, const char *const *heads,
                      int nhead) {
    plot_add(out, "<div class=\"wide\"><table><caption>%s</caption><thead><tr>", caption_html);
    // a head that starts with a space stands over numbers
    for (int i = 0; i < nhead; i++)
        cell(out, "th", heads[i][0] == ' ', heads[i] + (heads[i][0] == ' '));
    plot_raw(out, "</tr></thead><tbody>\n");
}

void page_table_row(plot_text *out, const char *const *cells, int ncell) {
    plot_raw(out, "<tr>");
    for (int i = 0; i < ncell; i++) {
        char *end;
        (void)strtod(cells[i], &end);
        // "12", "0.5 cm", "8 of 8", but not "3 of them were found"
        cell(out, "td", end != cells[i] && strlen(end) < 7, cells[i]);
    }
    plot_raw(out, "</tr>\n");
}

void page_table_end(plot_text *out) { plot_raw(out, "</tbody></table></div>\n"); }

void page_verdict(plot_text *out, const char *kind, const char *html) {
    plot_add(out, "<div class=\"verdict %s\">%s</div>\n", kind, html);
}

void page_end(plot_text *out) { plot_raw(out, "</body></html>\n"); }
