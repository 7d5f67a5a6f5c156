#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the tests notice? Put single faults into src/, one at a time, and run the tests that reach them.

  tools/mutate.py [--count 100] [--seed 1] [--work build-mutate] [--limit 60] [--only N,N] [--list]

The sources are copied; the checkout is left alone. Which lines each test program executes is found once,
with a build for gcov. A fault is built in the copy and meets the programs that execute its line, the
quickest first; where all pass, the quick ones run again under AddressSanitizer and UBSan. It dies when one of them
fails or takes ten times its time. Faults that the compiler
turns into the very same object, or refuses, don't count; others are drawn in their place.
docs/testing.md lists faults that change nothing, each with its reason: they don't count either.
The same seed and the same sources give the same faults. Prints one line for each, the survivors at the end.
Exit status: 0 when at least --pass percent die (default 90), 1 otherwise.
"""
import argparse
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RELATIONAL = {"<": [">", "<="], ">": ["<", ">="], "<=": [">=", "<"], ">=": ["<=", ">"], "==": ["!="], "!=": ["=="]}
ARITHMETIC = {"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "+=": ["-="], "-=": ["+="], "&&": ["||"],
              "||": ["&&"], "%": ["*"], "|=": ["&="], "*=": ["/="], "/=": ["*="]}
OPERATOR = re.compile(r"(?<= )(<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|\|=|[-<>+*/%])(?= )")
NUMBER = re.compile(r"(?<![\w.])(\d+\.?\d*(?:e[-+]?\d+)?|0x[0-9A-Fa-f]+)(?![\w.])")
CONDITION = re.compile(r"\b(if|while) \(")
STATEMENT = re.compile(r"^\s+(?!return|break|continue|goto|case|default|else|do\b|typedef|static|const|struct|enum"
                       r"|double |int |bool |size_t |unsigned|char |uint\d|int\d|sn_\w+ \*?\w+( =|;|\[))[\w*(].*;$")


def blank(text):
    """The text with comments, strings and preprocessor lines as blanks, every place kept."""
    def spaces(found):
        return re.sub(r"[^\n]", " ", found.group())
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', spaces, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", spaces, text, flags=re.M)


def closing(text, start):
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return -1


def faults_of(source):
    """Every single fault of a file: (kind, first, last, replacement)."""
    text = blank(source)
    faults = []
    for m in OPERATOR.finditer(text):
        for kind, table in (("relational", RELATIONAL), ("arithmetic", ARITHMETIC)):
            for new in table.get(m.group(), []):
                boundary = kind == "relational" and {m.group(), new} in ({"<", "<="}, {">", ">="})
                faults.append(("boundary" if boundary else kind, m.start(), m.end(), new))
    for m in NUMBER.finditer(text):
        old = m.group()
        if old.startswith("0x") or text[m.start() - 1] == "[" and text[m.end()] == "]" and text[
                text.rfind("\n", 0, m.start()) + 1:m.start()].split(" ")[0] in ("static", "typedef"):
            continue
        plain = old.isdigit()
        new = str(int(old) + 1) if plain else repr(float(old) * 2) if float(old) else "1.0"
        faults.append(("constant", m.start(), m.end(), new))
        if plain and int(old) > 0:
            faults.append(("constant", m.start(), m.end(), str(int(old) - 1)))
    for m in CONDITION.finditer(text):
        end = closing(text, m.end() - 1)
        if end > 0:
            faults.append(("negated", m.end(), end, "!(" + text[m.end():end] + ")"))
    at = 0
    depth = 0
    for line in text.split("\n"):
        if STATEMENT.match(line) and depth > 0 and line.count("(") == line.count(")"):
            first = at + len(line) - len(line.lstrip())
            faults.append(("dropped", first, at + len(line), ";"))
        depth += line.count("{") - line.count("}")
        at += len(line) + 1
    return faults


class Fault:
    def __init__(self, text, path, kind, first, last, new):
        self.path, self.kind, self.original = path, kind, text
        if kind == "negated":
            new = "!(" + text[first:last] + ")"
        self.mutated = text[:first] + new + text[last:]
        self.line = text.count("\n", 0, first) + 1
        self.line_end = text.count("\n", 0, last) + 1
        begin = text.rfind("\n", 0, first) + 1
        end = text.find("\n", last)
        self.before = " ".join(text[begin:end].split())
        self.after = " ".join((text[begin:first] + new + text[last:end]).split())

    def key(self):
        return (self.path, self.before, self.after)

    def __str__(self):
        return f"{self.path}:{self.line} {self.kind}: `{self.before}` -> `{self.after}`"


def run(command, cwd, seconds=None, env=None):
    """Exit status, None when it took too long."""
    try:
        with subprocess.Popen(command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, start_new_session=True) as child:
            try:
                output = child.communicate(timeout=seconds)[0]
                return child.returncode, output.decode(errors="replace")
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, 9)  # its own group: programs it started too
                child.communicate()
                return None, ""
    except OSError as problem:
        return 127, str(problem)


class Bench:
    """The copy of the sources and its two builds."""

    def __init__(self, work, limit, quick):
        self.work, self.limit, self.quick = work, limit, quick
        self.tree, self.build, self.gcov, self.asan = (work / name for name in ("tree", "build", "gcov", "asan"))
        self.environment = dict(os.environ, SINEW_CASES=os.environ.get("SINEW_CASES", "0.1"))

    def prepare(self):
        self.work.mkdir(parents=True, exist_ok=True)
        shared = self.work / "shared"
        if not shared.is_symlink() and (ROOT.parent / "shared").exists():
            shared.symlink_to((ROOT.parent / "shared").resolve())
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                                capture_output=True, text=True).stdout.split("\n")
        wanted = {name for name in listed if name and (ROOT / name).is_file()}
        for old in list(self.tree.rglob("*")):
            if old.is_file() and str(old.relative_to(self.tree)) not in wanted:
                old.unlink()
        for name in sorted(wanted):
            source, target = ROOT / name, self.tree / name
            if not target.exists() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)

    def read(self, path):
        return (self.tree / path).read_text()

    def make(self, folder, *options):
        for command in (["cmake", "-G", "Ninja", "-S", str(self.tree), "-B", str(folder), "-DSINEW_WERROR=OFF", *options],
                        ["ninja", "-C", str(folder), "-j1", "--quiet", "all"]):
            status, output = run(command, self.tree)
            if status != 0:
                sys.exit(" ".join(command) + " failed:\n" + output[-3000:])

    def make_all(self):
        self.make(self.build, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O1")
        if not self.quick:
            self.make(self.asan, "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O1 -g",
                      "-DSINEW_SANITIZE=address,undefined")

    def coverage(self):
        """{test: {"seconds": s, "lines": {path: [line, ...]}}, ...}, and under "" all lines that have code.
        Kept until a source or a test changes."""
        digest = hashlib.sha256()
        for path in sorted(list((self.tree / "src").rglob("*.[ch]")) + list((self.tree / "tests").glob("*.[ch]"))):
            digest.update(path.read_bytes())
        kept = self.work / "coverage.json"
        old = json.loads(kept.read_text()) if kept.exists() else {}
        if old.get("digest") == digest.hexdigest() and old.get("limit") == self.limit:
            return old["tests"]
        self.make(self.gcov, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O1 --coverage -fprofile-update=prefer-atomic")
        tests = {"": {"seconds": 0, "lines": {}}}
        for source in sorted((self.tree / "tests").glob("test_*.c")):
            name = source.stem
            begin = time.monotonic()
            status, output = run([str(self.build / "tests" / name)], self.build / "tests", self.limit, self.environment)
            seconds = time.monotonic() - begin
            if status != 0:
                print(f"left out: {name} " + ("takes too long" if status is None else "fails"), flush=True)
                continue
            for data in self.gcov.rglob("*.gcda"):
                data.unlink()
            status, output = run([str(self.gcov / "tests" / name)], self.gcov / "tests", 20 * self.limit,
                                 self.environment)
            if status != 0:
                print(f"left out: {name} fails in the build for coverage", flush=True)
                continue
            tests[name] = {"seconds": seconds, "lines": self.lines(tests[""]["lines"])}
            print(f"{name}: {seconds:.1f} s, {sum(map(len, tests[name]['lines'].values()))} lines", flush=True)
        kept.write_text(json.dumps({"digest": digest.hexdigest(), "limit": self.limit, "tests": tests}))
        return tests

    def lines(self, code):
        data = [str(path) for path in self.gcov.rglob("*.gcda") if "sinew" in str(path.relative_to(self.gcov))]
        executed = {}
        for first in range(0, len(data), 40):
            status, output = run(["gcov", "--json-format", "--stdout"] + data[first:first + 40], self.gcov)
            for text in output.split("\n"):
                if not text.startswith("{"):
                    continue
                for file in json.loads(text)["files"]:
                    name = os.path.relpath(os.path.join(self.gcov, file["file"]), self.tree)
                    if name.startswith("src/"):
                        found = executed.setdefault(name, set())
                        found.update(line["line_number"] for line in file["lines"] if line["count"])
                        code[name] = sorted(set(code.get(name, [])).union(line["line_number"] for line in file["lines"]))
        return {name: sorted(found) for name, found in executed.items()}

    def objects(self):
        """Of the library as it is built now."""
        digest = hashlib.sha256()
        for path in sorted(self.build.rglob("CMakeFiles/sinew.dir/**/*.o")):
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def covering(self, fault, tests):
        """The tests that reach a fault, the quickest first."""
        code = set(tests[""]["lines"].get(fault.path, []))
        reach = set(range(fault.line, fault.line_end + 1))
        lines = fault.original.split("\n")
        # gcov knows a statement of several lines by one of them: look above, within the function
        first = fault.line
        while first > 1 and not reach & code and not re.match(r"[}\w]", lines[first - 1]):
            first -= 1
            reach.add(first)
        if not reach & code:
            reach = code  # a table: whoever uses the file
        names = [name for name, test in tests.items() if name and reach.intersection(test["lines"].get(fault.path, []))]
        return sorted(names, key=lambda name: tests[name]["seconds"])

    def judge(self, fault, tests, clean):
        """What became of a fault, and by what."""
        target = self.tree / fault.path
        target.write_text(fault.mutated)
        try:
            status, _ = run(["ninja", "-C", str(self.build), "-j1", "--quiet", "libsinew.a"], self.tree)
            if status != 0:
                return "refused", ""
            if self.objects() == clean:
                return "same", ""
            names = self.covering(fault, tests)
            if not names:
                return "survived", "no test executes the line"
            for folder, slow in ((self.build, 1),) if self.quick else ((self.build, 1), (self.asan, 10)):
                for name in names:
                    if slow > 1 and tests[name]["seconds"] > 1:
                        break
                    known = self.read(f"tests/{name}.c")
                    wanted = [name] + (["sinew"] if "program.h" in known or "SINEW_PROGRAM" in known else [])
                    if run(["ninja", "-C", str(folder), "-j1", "--quiet", *wanted], self.tree)[0] != 0:
                        continue  # the sanitizers' build leaves some out
                    seconds = slow * (10 * tests[name]["seconds"] + 5)
                    status, _ = run([str(folder / "tests" / name)], folder / "tests", seconds, self.environment)
                    if status != 0:
                        return "died", name + (" (time)" if status is None else "") + (" (asan)" if slow > 1 else "")
            return "survived", f"{len(names)} test programs execute it"
        finally:
            target.write_text(fault.original)


def excused():
    """Faults that change nothing: rows `file` | `before` | `after` | reason of docs/testing.md."""
    rows = {}
    page = ROOT / "docs" / "testing.md"
    for line in page.read_text().split("\n") if page.exists() else []:
        m = re.match(r"\| `(src/[^`]+)` \| `(.+?)` \| `(.+?)` \| (.+) \|$", line)
        if m:
            rows[(m.group(1), m.group(2).replace("\\|", "|"), m.group(3).replace("\\|", "|"))] = m.group(4)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", default="build-mutate", help="folder for the copy and its builds")
    parser.add_argument("--limit", type=float, default=60, help="leave out test programs that take longer, seconds")
    parser.add_argument("--only", default="", help="numbers of the faults to try, with commas between")
    parser.add_argument("--quick", action="store_true", help="without the sanitizers")
    parser.add_argument("--keep", action="store_true", help="leave the copy of the sources as it is")
    parser.add_argument("--first", type=int, default=0, help="number of the first fault")
    parser.add_argument("--list", action="store_true", help="print the faults and end")
    parser.add_argument("--pass", dest="share", type=float, default=90, help="percent that must die")
    options = parser.parse_args()

    bench = Bench((ROOT / options.work).resolve(), options.limit, options.quick)
    if not options.keep:
        bench.prepare()
    paths = sorted(str(path.relative_to(bench.tree)) for path in (bench.tree / "src").rglob("*.[ch]"))
    sites = [(path,) + fault for path in paths for fault in faults_of(bench.read(path))]
    random.Random(options.seed).shuffle(sites)
    print(f"{len(sites)} possible faults, seed {options.seed}", flush=True)
    if options.list:
        for number, site in enumerate(sites[:options.count]):
            print(number, Fault(bench.read(site[0]), *site))
        return 0

    bench.make_all()
    tests = bench.coverage()
    clean = bench.objects()
    only = {int(number) for number in options.only.split(",")} if options.only else None
    known = excused()
    counted, survivors = 0, []
    for number, site in enumerate(sites):
        if counted == (len(only) if only else options.count):
            break
        if number < options.first or only is not None and number not in only:
            continue
        fault = Fault(bench.read(site[0]), *site)
        if fault.key() in known:
            print(f"{number} equivalent {fault}", flush=True)
            counted += only is not None
            continue
        verdict, why = bench.judge(fault, tests, clean)
        print(f"{number} {verdict} {fault} ({why})" if why else f"{number} {verdict} {fault}", flush=True)
        if verdict in ("refused", "same"):
            counted += only is not None
            continue
        counted += 1
        if verdict == "survived":
            survivors.append((number, fault, why))

    died = counted - len(survivors)
    print(f"\n{died} of {counted} faults died ({100 * died / max(counted, 1):.0f} %), seed {options.seed}")
    for number, fault, why in survivors:
        print(f"survivor {number}: {fault} ({why})")
    return 0 if 100 * died >= options.share * counted else 1


if __name__ == "__main__":
    sys.exit(main())
