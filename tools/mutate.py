#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the tests notice? Put single faults into src/, one at a time, and run the tests that reach them.

  tools/mutate.py [--count 100] [--seed 1] [--jobs 1] [--only N,N] [--limit 30] [--no-sanitizers] [--thorough] [--list]
  tools/mutate.py --named    the faults of tests/faults.json, each with the tests that are written there; all must die
                             (with --list only whether their lines are still there)

The sources are copied; the checkout is left alone. Which lines each test program executes is found once, with a
build for gcov. A fault is built in the copy and meets every test program that executes its line, the quick ones
that are about its file first, each with a tenth of its random cases (SINEW_CASES); where all pass, the quick ones run again under
AddressSanitizer and UBSan. It dies when one of them fails or takes three times its CPU time and two seconds more.
Faults that the compiler turns into the very same object, or refuses, and survivors that only give an array room
for one number more, and what only a device executes, where there is none, don't count; others are drawn in their place.
docs/testing.md lists faults that change nothing, each with its reason: they don't count either.
The same seed and the same sources give the same faults. Prints one line for each, the survivors at the end; the
same command goes on where an interrupted one was.
Exit status: 0 when at least --pass percent die (default 90), 77 when a tool is missing, 1 otherwise.
"""
import argparse
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CASES = "0.1"  # of the random cases
# Programs that no fault is tried on, and why.
LEFT_OUT = {"test_papers": "it runs the benchmarks, whose figures other tests hold, for minutes in a build for gcov"}
# Tests of ctest that are no C programs and use the library; the page's need a browser and another compiler.
# Sources that nothing runs without a device that speaks OpenCL.
DEVICE = re.compile(r"src/(arm/device|batch/(device|launch|session|program|opencl)|track/lanes_device)\.c$")
SCRIPTS = "kernels|opencl|glb|mjcf|readme|examples|tutorials|report|shells|consumer|instructions"
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


def only_room(text, first, last, new):
    """Whether a fault gives an array of numbers room for one more, which nobody sees unless its size is asked for.
    (Not one of letters: where a text is cut off can be seen.)"""
    line = re.sub(r"\{[^{}]*\}", "", blank(text)[text.rfind("\n", 0, first) + 1:last + 1])
    return text[last + 1] != "[" and new.isdigit() and int(new) > int(text[first:last]) and re.match(
        r"\s*(?:static |const )*(?!char|return|else|goto)[A-Za-z_]\w* (?:[^=({]*|[^({]*, )\w+\[(?:\w+ \+ )?\d+\]$",
        line) is not None


class Fault:
    def __init__(self, text, path, kind, first, last, new):
        self.path, self.kind, self.original = path, kind, text
        self.only_room = kind == "constant" and only_room(text, first, last, new)
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


LIMIT = 8 << 30  # bytes of memory and of a file that a test program may ask for


class Program:
    """What became of a command: its exit status (None: it took too long), output and CPU seconds."""

    def __init__(self, command, cwd, env=None, cpu=None, memory=None):
        def limits():
            if cpu is not None:
                resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 1, int(cpu) + 2))
                resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
            if memory is not None:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        self.status, self.output, self.seconds = 127, "", 0
        with tempfile.TemporaryFile() as said:
            try:
                child = subprocess.Popen(command, cwd=cwd, env=env, stdout=said, stderr=subprocess.STDOUT,
                                         stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=limits)
            except OSError as problem:
                self.output = str(problem)
                return
            # CPU time is what counts, whatever else the machine does; the clock is for those that sleep
            end = time.monotonic() + (1e9 if cpu is None else 60 + 20 * cpu)
            pid, pause = 0, 0.001
            while pid == 0:
                pid, ended, used = os.wait4(child.pid, os.WNOHANG)
                if pid == 0 and time.monotonic() > end:
                    os.killpg(child.pid, signal.SIGKILL)  # its own group: programs it started too
                elif pid == 0:
                    time.sleep(pause)
                    pause = min(1.5 * pause, 0.05)
            child.returncode = os.waitstatus_to_exitcode(ended)
            self.status = None if child.returncode in (-signal.SIGXCPU, -signal.SIGKILL) else child.returncode
            self.seconds = used.ru_utime + used.ru_stime
            said.seek(0)
            self.output = said.read().decode(errors="replace")


class Bench:
    """The copy of the sources, its builds, and what is known of the test programs."""

    def __init__(self, work, options, tests=None, code=None):
        self.work, self.options = work, options
        self.tree, self.build, self.gcov, self.asan = (work / name for name in ("tree", "build", "gcov", "asan"))
        self.tests, self.code, self.clean = tests or {}, code or {}, ""

    def prepare(self):
        """Bring the copy up to date, touching only what differs, so that little is built again."""
        self.work.mkdir(parents=True, exist_ok=True)
        shared = self.work / "shared"
        if not shared.is_symlink() and (ROOT.parent / "shared").exists():
            shared.symlink_to((ROOT.parent / "shared").resolve())
        listed = Program(["git", "ls-files", "-co", "--exclude-standard"], ROOT)
        if listed.status == 0:
            names = listed.output.split("\n")
        else:  # an archive of the sources
            names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")
                     if not re.match(r"build|out/|\.git|web/dist|node_modules", str(path.relative_to(ROOT)))]
        wanted = {name for name in names if name and (ROOT / name).is_file()}
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

    def digest(self, *patterns):
        result = hashlib.sha256()
        for path in sorted(path for pattern in patterns for path in self.tree.glob(pattern)):
            if path.is_file():
                result.update(str(path.relative_to(self.tree)).encode() + path.read_bytes())
        return result.hexdigest()

    def configure(self, folder, *options):
        self.must(["cmake", "-G", "Ninja", "-S", str(self.tree), "-B", str(folder), "-DSINEW_WERROR=OFF",
                   "-DCMAKE_C_COMPILER=gcc", *options])

    def must(self, command):
        done = Program(command, self.tree)
        if done.status != 0:
            sys.exit(" ".join(command) + " failed:\n" + done.output[-3000:])

    def ninja(self, folder, *targets, jobs=1):
        return ["ninja", "-C", str(folder), f"-j{jobs}", "--quiet", *targets]

    def make(self):
        self.configure(self.build, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O1")
        self.must(self.ninja(self.build, "libsinew.a"))
        self.clean = self.objects()
        if not self.options.no_sanitizers:  # built when the first fault needs it
            self.configure(self.asan, "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O1 -g",
                           "-DSINEW_SANITIZE=address,undefined")

    def run_test(self, folder, name, cpu, memory=LIMIT, **environment):
        environment = {**os.environ, "SINEW_CASES": CASES, **environment}
        return Program([str(folder / "tests" / name)], folder / "tests", environment, cpu, memory)

    def coverage(self):
        """For every test program its CPU seconds and the lines it executes; kept until the sources, the program
        or what the programs share change."""
        kept = self.work / "coverage.json"
        old = json.loads(kept.read_text()) if kept.exists() else {}
        common = self.digest("include/**/*", "src/**/*", "bench/*", "cli/*", "tests/[!t]*.[ch]", "tests/takes.*") + CASES
        if old.get("common") != common:
            old = {"common": common, "tests": {}, "code": {}}
        self.code = old["code"]
        names = [path.stem for path in sorted((self.tree / "tests").glob("test_*.c")) if path.stem not in LEFT_OUT]
        for name, why in LEFT_OUT.items():
            print(f"left out: {name}, {why}", flush=True)
        self.tests = {name: test for name, test in old["tests"].items() if name in names}
        stale = [name for name in names if self.tests.get(name, {}).get("digest") != self.digest(f"tests/{name}.c")
                 or self.tests[name].get("limit", self.options.limit) < self.options.limit
                 or self.tests[name].get("left out", "").startswith("fails")]
        if stale:
            self.must(self.ninja(self.build, "sinew", *stale, jobs=self.options.jobs))
            # counts of threads may be lost when not atomic, but never all of them
            self.configure(self.gcov, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O1 --coverage")
            self.must(self.ninja(self.gcov, "sinew", *stale, jobs=self.options.jobs))
        with ThreadPoolExecutor(self.options.jobs) as pool:
            for name, test in zip(stale, pool.map(self.look_at, stale)):
                if "folder" in test:
                    test["lines"] = self.lines(Path(test.pop("folder")))
                    print(f"{name}: {test['seconds']:.1f} s, {sum(map(len, test['lines'].values()))} lines", flush=True)
                self.tests[name] = test
                kept.write_text(json.dumps({"common": common, "tests": self.tests, "code": self.code}))
        for name, test in self.tests.items():
            if "left out" in test or test["seconds"] > self.options.limit:
                print(f"left out: {name} {test.get('left out', 'takes too long')}", flush=True)

    def look_at(self, name):
        """One test program, plainly and counted; its counts lie in "folder"."""
        test = {"digest": self.digest(f"tests/{name}.c"), "lines": {}}
        # a second time, should it fail by itself on a busy machine; then with all cases, should a tenth be too few
        for cases in (CASES, CASES, "1"):
            done = self.run_test(self.build, name, self.options.limit, SINEW_CASES=cases)
            if done.status == 0 or done.status is None:
                break
        test["cases"] = cases
        test["seconds"] = done.seconds
        if done.status == 0:
            folder = self.work / "counts" / name
            shutil.rmtree(folder, ignore_errors=True)
            for _ in range(2):
                done = self.run_test(self.gcov, name, 20 * self.options.limit, GCOV_PREFIX=str(folder), SINEW_CASES=cases)
                if done.status == 0:
                    break
            # what a program with counters says besides may disturb it (a child that is killed, a disk that is full);
            # it has passed without them, and the lines are what is wanted
            if done.status is not None and folder.exists():
                test["folder"] = str(folder)
                return test
        test["left out"] = "takes too long" if done.status is None else "fails without a fault"
        if done.status is None:
            test["limit"] = self.options.limit
        return test

    def lines(self, folder):
        """The lines of src/ of a folder of counts, which is removed; notes all lines that have code."""
        root = Path(str(folder) + str(self.gcov))
        # a header counts in the test programs, too
        data = [path for path in root.rglob("*.gcda") if re.search("sinew.dir|test_", str(path.relative_to(root)))]
        for path in data:  # the compiler's notes lie beside
            shutil.copy(path, self.gcov / path.relative_to(root))
        data = [str(self.gcov / path.relative_to(root)) for path in data]
        shutil.rmtree(folder, ignore_errors=True)
        executed = {}
        for first in range(0, len(data), 40):
            output = Program(["gcov", "--json-format", "--stdout"] + data[first:first + 40], self.gcov).output
            for text in output.split("\n"):
                if not text.startswith("{"):
                    continue
                for file in json.loads(text)["files"]:
                    name = os.path.relpath(os.path.join(self.gcov, file["file"]), self.tree)
                    if name.startswith("src/"):
                        found = executed.setdefault(name, set())
                        found.update(line["line_number"] for line in file["lines"] if line["count"])
                        known = set(self.code.get(name, []))
                        self.code[name] = sorted(known.union(line["line_number"] for line in file["lines"]))
        return {name: sorted(found) for name, found in executed.items()}

    def objects(self):
        """Of the library as it is built now."""
        digest = hashlib.sha256()
        for path in sorted(self.build.rglob("CMakeFiles/sinew.dir/**/*.o")):
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def covering(self, fault):
        """The tests that reach a fault, the quick ones that are about its file first."""
        code = set(self.code.get(fault.path, []))
        reach = set(range(fault.line, fault.line_end + 1))
        lines = fault.original.split("\n")
        # gcov knows a statement of several lines by one of them: look above, within the function
        first = fault.line
        while first > 1 and not reach & code and not re.match(r"[}\w]", lines[first - 1]):
            first -= 1
            reach.add(first)
        if not reach & code:
            reach = code  # a table: whoever uses the file
        names = [name for name, test in self.tests.items()
                 if test["seconds"] <= self.options.limit and reach.intersection(test["lines"].get(fault.path, []))]
        def cost(name):  # what is made for this file notices sooner than what passes through it
            lines = self.tests[name]["lines"]
            return (self.tests[name]["seconds"] + 0.2) * sum(map(len, lines.values())) / len(lines[fault.path])
        return sorted(names, key=cost)

    def dies(self, name, folder, slow):
        """Whether a test program fails with the fault that is in the copy now."""
        program = folder / "tests" / name
        if Program(self.ninja(folder, name), self.tree).status != 0:
            return ""  # the sanitizers' build leaves some out
        if str(folder / "sinew").encode() in program.read_bytes():
            self.must(self.ninja(folder, "sinew"))
        # the sanitizers reserve much more memory than they use
        for _ in range(2):  # twice, should a program fail now and then by itself
            done = self.run_test(folder, name, slow * (3 * self.tests[name]["seconds"] + 2),
                                 LIMIT if slow == 1 else None, SINEW_CASES=self.tests[name].get("cases", CASES))
            if done.status == 0:
                return ""
            if done.status is None:
                break
        return name + (" (time)" if done.status is None else "") + (" (sanitizers)" if slow > 1 else "")

    def dies_late(self, names):
        """With --thorough, what survived so far: the programs that reach it with all their cases, however long they
        take, then the scripts."""
        for name in names:
            Program(self.ninja(self.build, name, "sinew"), self.tree)
            if self.run_test(self.build, name, 20 * self.options.limit, SINEW_CASES="1").status != 0:
                return name + " (all cases)"
        Program(self.ninja(self.build), self.tree)
        done = Program(["ctest", "--test-dir", str(self.build), "--stop-on-failure", "-R", f"^({SCRIPTS})$"], self.tree)
        failed = re.search(r"- (\w+) \(", done.output)
        return "" if done.status == 0 else (failed.group(1) if failed else "a script")

    def judge(self, fault, before):
        """What became of a fault, and by what. before: the program that noticed it the last time, or None."""
        target = self.tree / fault.path
        target.write_text(fault.mutated)
        try:
            if Program(self.ninja(self.build, "libsinew.a"), self.tree).status != 0:
                return "refused", ""
            if self.objects() == self.clean:
                return "same", ""
            names = self.covering(fault)
            if not names and DEVICE.search(fault.path):
                return "unseen", "no device here"
            if not names:
                return "survived", "no test executes the line"
            runs = [(name, self.build, 1) for name in names]
            if not self.options.no_sanitizers:
                runs += [(name, self.asan, 10) for name in names if self.tests[name]["seconds"] <= 1]
            if before is not None:
                runs.sort(key=lambda at: at[0] != before[0] or (at[2] > 1) != before[1])
            for name, folder, slow in runs:
                why = self.dies(name, folder, slow)
                if why:
                    return "died", why
            if self.options.thorough:
                long = [name for name, test in self.tests.items() if test["seconds"] > self.options.limit]
                why = self.dies_late(names + long)
                if why:
                    return "died", why
            if fault.only_room:
                return "same", "only room"
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


class Results:
    """Verdicts, told in the order of the faults. They hold for one state of everything: an interrupted run goes on
    where it was. For another state they say which program to try first."""

    def __init__(self, bench, known, count):
        self.known, self.count, self.lock = known, count, threading.Lock()
        self.kept = bench.work / "verdicts.json"
        self.verdicts = json.loads(self.kept.read_text()) if self.kept.exists() else {}
        self.state = bench.digest("include/**/*", "src/**/*", "tests/*.[ch]", "bench/*", "cli/*")
        self.state += f" {bench.options.no_sanitizers} {bench.options.limit} {bench.options.thorough} {CASES}"
        self.waiting, self.begun = {}, []
        self.counted, self.equivalent, self.survivors = 0, 0, []

    def full(self):
        return self.counted == self.count

    def settle(self, bench, number, fault):
        name = "\n".join(fault.key()) + f"\n{fault.line}"
        with self.lock:
            self.begun.append(number)
            old = self.verdicts.get(name)
        before = None
        if fault.key() in self.known:
            verdict, why = "equivalent", ""
        elif old is not None and old["state"] == self.state:
            verdict, why = old["verdict"], old["why"]
        else:
            if old is not None and old["verdict"] == "died":
                before = (old["why"].split(" ")[0], "sanitizers" in old["why"])
            verdict, why = bench.judge(fault, before)
        with self.lock:
            if verdict != "equivalent":
                self.verdicts[name] = {"state": self.state, "verdict": verdict, "why": why}
                self.kept.write_text(json.dumps(self.verdicts, indent=0))
            self.waiting[number] = (verdict, why, fault)
            self.tell()

    def tell(self):
        while self.begun and min(self.begun) in self.waiting and not self.full():
            number = min(self.begun)
            self.begun.remove(number)
            verdict, why, fault = self.waiting.pop(number)
            print(f"{number} {verdict} {fault} ({why})" if why else f"{number} {verdict} {fault}", flush=True)
            self.equivalent += verdict == "equivalent"
            self.counted += verdict in ("died", "survived")
            if verdict == "survived":
                self.survivors.append((number, fault, why))


def list_named():
    """Whether every fault of tests/faults.json still has its line: quick, for every test run."""
    bad = 0
    for fault in json.loads((ROOT / "tests/faults.json").read_text()):
        found = (ROOT / fault["file"]).read_text().count(fault["before"])
        bad += found != 1
        print(f"{'fits' if found == 1 else 'IS FOUND %d TIMES' % found}: {fault['file']}: {fault['what']}")
    return 1 if bad else 0


def named(bench):
    """The faults of tests/faults.json against their own tests; how many survive or fit the sources no more."""
    left = 0
    bench.options.no_sanitizers = True
    faults = json.loads(bench.read("tests/faults.json"))
    bench.make()
    names = sorted({name for fault in faults for name in fault["tests"]})
    bench.must(bench.ninja(bench.build, "sinew", *names, jobs=bench.options.jobs))
    for name in names:
        done = bench.run_test(bench.build, name, 600)
        bench.tests[name] = {"seconds": done.seconds}
        if done.status != 0:
            sys.exit(f"{name} fails without a fault:\n" + done.output[-3000:])
    for fault in faults:
        target = bench.tree / fault["file"]
        original, verdict = target.read_text(), "survived"
        if original.count(fault["before"]) != 1:
            verdict = "is not to be found in"
        else:
            target.write_text(original.replace(fault["before"], fault["after"]))
            try:
                for name in fault["tests"]:
                    why = bench.dies(name, bench.build, 1)
                    if why:
                        verdict = f"died ({why})"
                        break
            finally:
                target.write_text(original)
        left += not verdict.startswith("died")
        print(f"{verdict}: {fault['file']}: {fault['what']}", flush=True)
    print(f"\n{len(faults) - left} of {len(faults)} named faults died; commit {commit()}")
    return 1 if left else 0


def commit():
    name = Program(["git", "rev-parse", "--short", "HEAD"], ROOT)
    changed = Program(["git", "status", "--porcelain", "src", "include", "tests", "bench", "cli"], ROOT)
    return "no commit" if name.status != 0 else name.output.strip() + (" with changes" if changed.output else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", default="build-mutate", help="folder for the copy and its builds")
    parser.add_argument("--limit", type=float, default=30, help="leave out programs of more CPU seconds")
    parser.add_argument("--jobs", type=int, default=1, help="faults at a time, each in a copy of its own")
    parser.add_argument("--only", default="", help="numbers of the faults to try, with commas between")
    parser.add_argument("--no-sanitizers", action="store_true", help="without the second try under ASan and UBSan")
    parser.add_argument("--thorough", action="store_true",
                        help="what survives meets all random cases, the long programs and ctest's scripts")
    parser.add_argument("--list", action="store_true", help="print the faults and end")
    parser.add_argument("--pass", dest="share", type=float, default=90, help="percent that must die")
    parser.add_argument("--named", action="store_true", help="the faults of tests/faults.json instead")
    options = parser.parse_args()
    if options.named and options.list:
        return list_named()
    absent = [name for name in ("cmake", "ninja", "gcc", "gcov") if shutil.which(name) is None]
    if absent:
        print("skipped: single faults, which need " + " and ".join(absent))
        return 77

    bench = Bench((ROOT / options.work).resolve(), options)
    bench.prepare()
    if options.named:
        return named(bench)
    paths = sorted(str(path.relative_to(bench.tree)) for path in (bench.tree / "src").rglob("*.[ch]"))
    sites = [(path,) + fault for path in paths for fault in faults_of(bench.read(path))]
    random.Random(options.seed).shuffle(sites)
    print(f"{len(sites)} possible faults, seed {options.seed}, commit {commit()}, "
          f"{'with' if (bench.work / 'shared').exists() else 'without'} the data beside the checkout", flush=True)
    only = {int(number) for number in options.only.split(",")} if options.only else None
    numbers = iter(sorted(only) if only else range(len(sites)))
    if options.list:
        for number in sorted(only) if only else range(options.count):
            print(number, Fault(bench.read(sites[number][0]), *sites[number]))
        return 0

    bench.make()
    bench.coverage()
    benches = [bench]
    for i in range(1, options.jobs):
        benches.append(Bench(bench.work / f"job{i}", options, bench.tests, bench.code))
        benches[i].prepare()
        benches[i].make()
    results = Results(bench, excused(), options.count if only is None else None)

    def work(at):
        while True:
            with results.lock:
                number = None if results.full() else next(numbers, None)
            if number is None:
                return
            fault = Fault(at.read(sites[number][0]), *sites[number])
            results.settle(at, number, fault)

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(work, benches))
    counted, equivalent, survivors = results.counted, results.equivalent, results.survivors
    died = counted - len(survivors)
    print(f"\n{died} of {counted} faults died ({100 * died / max(counted, 1):.0f} %), {equivalent} more change nothing; "
          f"seed {options.seed}, commit {commit()}")
    for number, fault, why in survivors:
        print(f"survivor {number}: {fault} ({why})")
    return 0 if 100 * died >= options.share * counted else 1


if __name__ == "__main__":
    sys.exit(main())
