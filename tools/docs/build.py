#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The site of documents: static HTML from the Markdown, the reference of C, of Python and of the command
line, and a search that needs no network. Open it by double click.

    tools/docs/build.py OUT [--program build/sinew]

Every link and every anchor is looked up; the exit code is 1 when one leads nowhere.
"""
import argparse
import ast
import html
import json
import os
import re
import shutil
import subprocess
import sys

try:
    import markdown
except ImportError:
    sys.exit("the site of documents needs Python's markdown (Debian: python3-markdown)")

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# (heading, [(file, title)]); a title of None is the file's own first heading
CONTENTS = [
    ("Start", ["README.md", "CHANGELOG.md"]),
    ("Tutorials", ["docs/tutorials/%s.md" % n for n in
                   ("animator", "biomechanist", "robot-programmer", "c-embedder", "student")]),
    ("Guides", ["docs/%s.md" % n for n in
                ("mocap", "opensim", "opensim-scale", "robots", "tasks", "levels", "collisions", "python", "python-options",
                 "batch", "cluster", "arithmetic")]),
    ("Reference", ["docs/files.md"]),
    ("How it works", ["docs/%s.md" % n for n in
                      ("solvers", "derivations", "papers", "errata", "bibliography", "architecture",
                       "files-of-src", "testing")] + ["CONTRIBUTING.md"]),
]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def slug(text, seen):
    """An anchor as the common hosts of repositories make it, so that links work in both places."""
    text = re.sub(r"<[^>]+>", "", html.unescape(text)).lower()
    text = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
    n = seen.get(text, 0)
    seen[text] = n + 1
    return text if n == 0 else "%s-%d" % (text, n)


class Page:
    def __init__(self, source, url, text, title=None):
        self.source, self.url, self.text = source, url, text
        self.folder = os.path.dirname(source)
        first = re.search(r"(?m)^# (.+)$", text)
        self.title = title or (re.sub(r"[`*]", "", first.group(1)) if first else source)
        self.anchors, self.sections, self.body = set(), [], ""

    def render(self, symbols):
        """Markdown to HTML, headings with anchors, C names linked to where they are declared."""
        body = markdown.markdown(loose_lists(self.text), extensions=["tables", "fenced_code", "md_in_html", "sane_lists"])
        seen = {}

        def heading(match):
            level, inner = match.group(1), match.group(2)
            anchor = slug(inner, seen)
            self.anchors.add(anchor)
            plain = html.unescape(re.sub(r"<[^>]+>", "", inner))
            self.sections.append((int(level), anchor, plain, match.start()))
            return '<h%s id="%s">%s<a class="here" href="#%s" aria-label="link to here">#</a></h%s>' % (
                level, anchor, inner, anchor, level)

        body = re.sub(r"<h([1-4])>(.*?)</h\1>", heading, body, flags=re.S)
        # declarations of the C reference: an anchor each
        if self.source == "docs/api.md":
            def declared(match):
                plain = re.sub(r"//.*", "", html.unescape(match.group(1)))
                name = re.search(r"\}\s*(sn_\w+);", plain) or re.search(r"\(\*(sn_\w+)\)", plain) or \
                    re.search(r"\b(sn_\w+)\(", plain) or re.search(r"\b(sn_\w+);", plain)
                if not name:
                    return match.group(0)
                self.anchors.add(name.group(1))
                return '<pre id="%s"><code class="language-c">%s</code></pre>' % (name.group(1), match.group(1))
            body = re.sub(r'<pre><code class="language-c">(.*?)</code></pre>', declared, body, flags=re.S)

        def code(match):
            url = symbols.get(match.group(1))
            return '<a class="symbol" href="%s"><code>%s%s</code></a>' % (
                relative(url, self.url), match.group(1), match.group(2)) if url else match.group(0)

        # a name that stands alone in code marks and outside of links
        parts = re.split(r"(<a .*?</a>|<pre.*?</pre>)", body, flags=re.S)
        self.body = "".join(
            p if p.startswith(("<a ", "<pre")) else re.sub(r"<code>(sn_\w+)((?:\(\))?)</code>", code, p) for p in parts)


def loose_lists(text):
    """A list right under a paragraph is a list on the hosts of repositories; Python's markdown wants a blank line."""
    out, fenced, last = [], False, ""
    for line in text.split("\n"):
        if line.startswith("```"):
            fenced = not fenced
        item = re.match(r"(\d+\.|[-*]) ", line)
        if not fenced and item and last.strip() and not re.match(r"(\d+\.|[-*]) |  ", last):
            out.append("")
        out.append(line)
        last = line
    return "\n".join(out)


def relative(url, page):
    path, _, anchor = url.partition("#")
    path = os.path.relpath(path, os.path.dirname(page) or ".")
    return path + ("#" + anchor if anchor else "")


def commands(program):
    """A page from the program's own help."""
    out = ["# The command line\n\nWhat `sinew --help` and `sinew COMMAND --help` print.\n"]
    top = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    out.append("\n```text\n%s\n```\n" % top.rstrip())
    for name in re.findall(r"(?m)^  ([a-z]+) ", top):
        help_ = subprocess.run([program, name, "--help"], capture_output=True, text=True)
        if help_.returncode == 0 and help_.stdout:
            out.append("\n## sinew %s\n\n```text\n%s\n```\n" % (name, help_.stdout.rstrip()))
    return "".join(out)


def python_reference():
    """Classes and functions with their docstrings, read from the source without importing it."""
    folder = os.path.join(ROOT, "python/sinew")
    if not os.path.isdir(folder):
        return None
    out = ["# The Python package\n\nMade from the docstrings; [python.md](python.md) explains the package.\n"]

    def signature(f):
        args = ast.unparse(f.args)
        return "%s(%s)%s" % (f.name, args, " -> " + ast.unparse(f.returns) if f.returns else "")

    def text(node):
        return block(ast.get_docstring(node) or "")

    def block(doc):
        """Doctests and indented lines become code."""
        lines, result, code = doc.split("\n"), [], False
        for line in lines:
            is_code = line.startswith((">>>", "...", "    ")) or (code and line.strip() and not line[:1].isupper())
            if is_code != code:
                result.append("```python" if is_code else "```")
                code = is_code
            result.append(line)
        if code:
            result.append("```")
        return "\n".join(result)

    for name in sorted(os.listdir(folder)):
        if not name.endswith(".py") or (name.startswith("_") and name != "__init__.py"):
            continue
        tree = ast.parse(read("python/sinew/" + name))
        module = "sinew" if name == "__init__.py" else "sinew." + name[:-3]
        public = [n for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef)) and not n.name.startswith("_")]
        if not public and not ast.get_docstring(tree):
            continue
        out.append("\n## %s\n\n%s\n" % (module, text(tree)))
        for node in public:
            if isinstance(node, ast.FunctionDef):
                out.append("\n### %s\n\n```python\n%s\n```\n\n%s\n" % (node.name, signature(node), text(node)))
                continue
            out.append("\n### class %s\n\n%s\n" % (node.name, text(node)))
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and (not member.name.startswith("_") or member.name == "__init__"):
                    what = "property " if any(ast.unparse(d) == "property" for d in member.decorator_list) else ""
                    out.append("\n```python\n%s%s\n```\n\n%s\n" % (what, signature(member), text(member)))
    return "".join(out)


def pages_of(program):
    """[(heading, [Page])], the reference with what is made."""
    groups = []
    for heading, sources in CONTENTS:
        group = []
        for source in sources:
            if not os.path.exists(os.path.join(ROOT, source)):
                continue
            url = "index.html" if source == "README.md" else re.sub(r"^docs/", "", source)[:-3] + ".html"
            group.append(Page(source, url, read(source)))
        if heading == "Reference":
            group.insert(0, Page("docs/api.md", "api.html", read("docs/api.md"), "C"))
            reference = python_reference()
            if reference:
                group.insert(1, Page("docs/python-reference.md", "python-reference.html", reference, "Python"))
            if program:
                group.insert(2, Page("docs/commands.md", "commands.html", commands(program), "Command line"))
        groups.append((heading, group))
    groups[0][1][0].title = "What it is"
    return groups


def link_pages(pages, out, faults):
    """Links between Markdown files become links between pages; everything else they name is copied beside."""
    by_source = {p.source: p for p in pages}
    for page in pages:
        def target(match):
            attribute, link = match.group(1), html.unescape(match.group(2))
            if re.match(r"[a-z]+:", link):
                return match.group(0)
            path, _, anchor = link.partition("#")
            if not path:
                if anchor not in page.anchors:
                    faults.append("%s: no heading for #%s" % (page.source, anchor))
                return match.group(0)
            source = os.path.normpath(os.path.join(page.folder, path))
            if source in by_source:
                other = by_source[source]
                if anchor and anchor not in other.anchors:
                    faults.append("%s: %s has no #%s" % (page.source, source, anchor))
                return '%s="%s"' % (attribute, relative(other.url + ("#" + anchor if anchor else ""), page.url))
            if path.endswith(".html") and any(p.url == os.path.normpath(os.path.join(os.path.dirname(page.url), path)) for p in pages):
                return match.group(0)
            full = os.path.join(ROOT, source)
            if not os.path.exists(full):
                faults.append("%s: there is no %s" % (page.source, link))
                return match.group(0)
            if os.path.isfile(full):
                copy = os.path.join("files", source)
                os.makedirs(os.path.dirname(os.path.join(out, copy)), exist_ok=True)
                shutil.copyfile(full, os.path.join(out, copy))
                return '%s="%s"' % (attribute, relative(copy, page.url))
            return match.group(0)

        page.body = re.sub(r'\b(href|src)="([^"]*)"', target, page.body)


def search_index(pages):
    """[title, url, text] a section."""
    rows = []
    for page in pages:
        parts = re.split(r'(?=<h[1-3] id=")|(?=<pre id=")', page.body)
        for part in parts:
            at = re.match(r'<h[1-3] id="([^"]*)">(.*?)<a class="here"', part, re.S)
            name = re.match(r'<pre id="([^"]*)"', part)
            plain = html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", part))).strip()
            if not plain:
                continue
            anchor = at.group(1) if at else name.group(1) if name else ""
            title = html.unescape(re.sub(r"<[^>]+>", "", at.group(2))) if at else anchor or page.title
            rows.append([title, page.title, page.url + ("#" + anchor if anchor else ""), plain[:1500]])
    return rows


def write(out, groups):
    template = open(os.path.join(HERE, "page.html"), encoding="utf-8").read()
    for _, group in groups:
        for page in group:
            base = os.path.relpath(".", os.path.dirname(page.url) or ".")
            nav = []
            for heading, others in groups:
                if others:
                    nav.append("<h2>%s</h2><ul>" % heading)
                    nav += ['<li><a href="%s"%s>%s</a></li>' % (
                        relative(p.url, page.url), ' aria-current="page"' if p is page else "", html.escape(p.title))
                        for p in others]
                    nav.append("</ul>")
            inside = [(level, a, t) for level, a, t, _ in page.sections if level == 2]
            toc = "".join('<li><a href="#%s">%s</a></li>' % (a, html.escape(t)) for _, a, t in inside)
            text = template
            for key, value in (("TITLE", html.escape(page.title)), ("BASE", base), ("NAV", "".join(nav)),
                               ("TOC", "<h2>On this page</h2><ul>%s</ul>" % toc if len(inside) > 2 else ""),
                               ("BODY", page.body)):
                text = text.replace("@%s@" % key, value)
            path = os.path.join(out, page.url)
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)


def main():
    parser = argparse.ArgumentParser(description="the site of documents")
    parser.add_argument("out")
    parser.add_argument("--program", help="the built sinew, for the reference of its commands")
    args = parser.parse_args()
    groups = pages_of(args.program)
    pages = [p for _, group in groups for p in group]
    for page in pages:  # the C reference first: others link to its names
        if page.source == "docs/api.md":
            page.render({})
            symbols = {a: page.url + "#" + a for a in page.anchors if a.startswith("sn_")}
    for page in pages:
        if page.source != "docs/api.md":
            page.render(symbols)
    os.makedirs(args.out, exist_ok=True)
    faults = []
    link_pages(pages, args.out, faults)
    write(args.out, groups)
    for name in ("site.css", "site.js"):
        shutil.copyfile(os.path.join(HERE, name), os.path.join(args.out, name))
    with open(os.path.join(args.out, "search.js"), "w", encoding="utf-8") as f:
        f.write("window.SINEW_SEARCH = " + json.dumps(search_index(pages), ensure_ascii=False).replace("</", "<\\/") + ";\n")
    for fault in faults:
        print(fault)
    print("%d pages, %d names of C, %d links that lead nowhere: %s" % (
        len(pages), len(symbols), len(faults), os.path.join(args.out, "index.html")))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
