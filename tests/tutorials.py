#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do what the tutorials say, in their order, in an empty folder each, as a reader would.

    tests/tutorials.py SOURCE BUILD [LIBRARIES...]      -l... that the library itself was linked with

A block after a line that ends in "as `NAME`:" is saved under that name, a C file also compiled and run. Blocks
marked sh are run, and any failure is one.
"""
import os
import re
import subprocess
import sys
import tempfile

source, build = (os.path.abspath(a) for a in sys.argv[1:3])
folder = os.path.join(source, "docs/tutorials")
environment = dict(os.environ, PATH=build + os.pathsep + os.environ["PATH"])


def blocks(text):
    """(kind, name to save under or None, lines) for each fenced block."""
    lines, i, before = text.split("\n"), 0, ""
    while i < len(lines):
        if lines[i].startswith("```"):
            kind, begin = lines[i][3:].strip(), i + 1
            i = begin
            while not lines[i].startswith("```"):
                i += 1
            name = re.search(r"as `([\w.-]+)`:$", before)
            yield kind, name.group(1) if name else None, "\n".join(lines[begin:i]) + "\n"
            before = ""
        elif lines[i].strip():
            before = lines[i]
        i += 1


def run(command, where, page, shown):
    done = subprocess.run(command, cwd=where, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit("%s: this ended with %d:\n%s\n%s" % (page, done.returncode, shown, done.stdout))


count = 0
pages = sorted(p for p in os.listdir(folder) if p.endswith(".md"))
for page in pages:
    with open(os.path.join(folder, page), encoding="utf-8") as f:
        text = f.read()
    with tempfile.TemporaryDirectory() as where:
        for kind, name, body in blocks(text):
            if name:
                with open(os.path.join(where, name), "w", encoding="utf-8") as f:
                    f.write(body)
            if kind == "sh":
                run(["sh", "-eu", "-c", body], where, page, body)
            elif name and name.endswith(".c"):
                program = os.path.join(where, name[:-2])
                run(["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-I", os.path.join(source, "include"), name, "-o", program,
                     os.path.join(build, "libsinew.a"), *sys.argv[3:], "-lm", "-pthread"], where, page, "cc " + name)
                run([program], where, page, program)
            elif not name:
                continue
            count += 1
print("%d tutorials, %d steps done as written" % (len(pages), count))
sys.exit(0 if count >= 2 * len(pages) else "hardly anything was found to do in the tutorials")
