#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/api.md from the public headers: every function, type and constant with its comment.

    tools/api.py            writes docs/api.md
    tools/api.py --check    fails where an item has no comment, where a struct of options does not begin
                            with its version, or where docs/api.md is not what the headers say
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# what is read first comes first; a header that is new in sinew.h follows by itself
INCLUDED = re.findall(
    r'^#include "sinew/(\w+)\.h"', open(os.path.join(ROOT, "include/sinew/sinew.h"), encoding="utf-8").read(), re.M
)
FIRST = ["base", "math", "model", "motion", "task", "eval", "solver", "arm", "track", "take", "files"]
HEADERS = [h for h in FIRST if h in INCLUDED] + [h for h in INCLUDED if h not in FIRST]


def strip_doc(lines):
    return "\n".join(re.sub(r"^\s*//+<?\s?", "", line) for line in lines).strip()


def body_of(text):
    """What stands between the C++ brackets, without macros that only make lists."""
    start = text.index('extern "C" {')
    return text[text.index("\n#endif", start) + 7 : text.rindex("#ifdef __cplusplus")]


def items(header):
    """(kind, name, code, comment) for every public item, in order; ("section", title, "", text) too."""
    lines = body_of(open(os.path.join(ROOT, "include/sinew", header + ".h"), encoding="utf-8").read()).split("\n")
    comment, section, i = [], [], 0
    group = ""  # the comment of a run of functions without a blank line between
    while i < len(lines):
        line = lines[i]
        if line.startswith("// --- "):
            title = line.strip("/- ")
            text = []
            i += 1
            while i < len(lines) and (lines[i].startswith("//") and not lines[i].startswith("///")):
                text.append(lines[i])
                i += 1
            yield "section", title, "", strip_doc(text)
            continue
        if line.startswith("//"):
            comment.append(line)
        elif not line.strip():
            comment, group = [], ""
        elif line.startswith("#define"):
            macro = [line]
            while macro[-1].endswith("\\"):
                i += 1
                macro.append(lines[i])
            name = re.match(r"#define (\w+)", line).group(1)
            trailing = re.search(r"//+<?\s*(.*)$", macro[0])
            yield "macro", name, "", strip_doc(comment) or (trailing.group(1) if trailing else "")
            comment = []
        elif line.startswith("#"):
            pass
        else:
            code = [line]
            depth = line.count("{") - line.count("}")
            while depth > 0 or not re.search(r";\s*(//.*)?$", code[-1]):
                i += 1
                code.append(lines[i])
                depth += lines[i].count("{") - lines[i].count("}")
            joined = "\n".join(code)
            trailing = re.search(r";\s*///<\s*(.*)$", code[-1])
            text = strip_doc(comment) or (trailing.group(1) if trailing else "")
            if line.startswith("SN_API"):
                name = re.search(r"\b(sn_\w+)\(", joined).group(1)
                if not text:
                    text = group
                group = text or group
                yield "function", name, re.sub(r"\s*///?<?.*", "", joined).replace("SN_API ", ""), text
            elif line.startswith("typedef enum") or line.startswith("enum"):
                name = re.search(r"\}\s*(\w*);", joined) or re.match(r"typedef enum (\w+)", joined)
                yield "enum", name.group(1), joined, text
            elif "{" in line:
                yield "struct", re.search(r"\}\s*(\w+);", joined).group(1), joined, text
            else:
                name = re.search(r"\(\*(\w+)\)|(\w+);", joined)
                yield "type", name.group(1) or name.group(2), joined, text
            comment = []
        i += 1


def bare(kind, name, code):
    """Fields of a struct, or constants of an enum, that have no comment of their own or above."""
    out, above, run = [], False, False
    inner = code[code.index("{") + 1 : code.rindex("}")]
    commented_run = False
    for line in inner.split("\n"):
        s = line.strip()
        if not s or s.startswith("#"):
            commented_run = False
            continue
        if s.startswith("//"):
            above = True
            continue
        field = re.match(r"[^;,{/]*?(\w+)(\[[^\]]*\])*\s*[;,]", s)
        if "///<" in s or "//" in s or above:
            commented_run = True
        elif kind == "struct" and ";" in s:
            out.append(s.split(";")[0])
        above = above and not s.endswith((";", ",")) and ";" not in s
    return out


# what the name of a field says by itself
PLAIN = {"version", "user", "trace_user", "progress_user", "x, y, z", "w, x, y, z"}


def check(header, kind, name, code, text, faults):
    if not text and name != "SN_API":
        faults.append(f"include/sinew/{header}.h: {name} has no comment")
    if kind == "struct":
        for field in bare(kind, name, code):
            names = re.sub(r"^(const |unsigned |struct )*\w+ \**", "", field).strip()
            if names not in PLAIN:
                faults.append(f"include/sinew/{header}.h: {name}: {field} has no comment")
        if name.endswith("_options") and not re.search(r"\{\s*(///[^\n]*\n\s*)*uint32_t version;", code):
            faults.append(f"include/sinew/{header}.h: {name} does not begin with its version")


def main():
    faults, out, count = [], [], 0
    out.append("# The interface\n\nMade by `tools/api.py` from the headers in `include/sinew/`, which say the same; a test\n"
               "compares the two. [architecture.md](architecture.md) says what is behind it.\n")
    shown = set()
    for header in HEADERS:
        text = open(os.path.join(ROOT, "include/sinew", header + ".h"), encoding="utf-8").read()
        intro = strip_doc(re.match(r"// SPDX[^\n]*\n((?://[^\n]*\n)*)", text).group(1).split("\n"))
        out.append(f"\n## sinew/{header}.h\n\n{quote(intro)}\n")
        for kind, name, code, comment in items(header):
            if kind == "section":
                out.append(f"\n### {name}\n\n{quote(comment)}\n")
                continue
            check(header, kind, name or "an enum", code, comment, faults)
            count += kind == "function"
            if kind == "macro":
                if comment or name not in shown:  # a macro defined once for each system is listed once
                    out.append(f"\n`{name}`: {quote(comment)}\n")
                shown.add(name)
            else:
                out.append(f"\n```c\n{code}\n```\n{quote(comment)}\n")
    made = "".join(out)
    path = os.path.join(ROOT, "docs/api.md")
    if "--check" in sys.argv:
        if not os.path.exists(path) or open(path, encoding="utf-8").read() != made:
            faults.append("docs/api.md is not what the headers say: run tools/api.py")
        for fault in faults:
            print(fault)
        print(f"{count} functions in {len(HEADERS)} headers")
        return 1 if faults else 0
    open(path, "w", encoding="utf-8").write(made)
    for fault in faults:
        print(fault)
    return 0


def quote(text):
    """A comment as Markdown: its lines as they are, formulas and lists kept apart."""
    if not text:
        return ""
    lines = text.split("\n")
    if any(line.startswith("  ") for line in lines):
        return "```text\n" + text + "\n```"
    return re.sub(r"(?m)^@param (\w+)\s+", r"- `\1`: ", text).replace("<", "&lt;").replace("*", "\\*")


if __name__ == "__main__":
    sys.exit(main())
