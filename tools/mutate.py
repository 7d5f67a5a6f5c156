#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the tests notice? Put single faults into src/, one at a time, and run the tests that reach them.

  tools/mutate.py [--count 100] [--seed 1] [--jobs 1] [--only N,N] [--limit 30] [--budget 60] [--no-sanitizers] [--thorough]
                  [--list]
  tools/mutate.py --named    the faults of tests/faults.json, each with the tests that are written there; all must die
                             (with --list only whether their lines are still there)

The sources are copied; the checkout is left alone. The library is shared there, so that the test programs are built once
and a fault costs its own objects and a link. Which lines each program executes is found once, with a library that marks
its basic blocks. A fault meets the programs that execute its line, the quick ones that are about its file first, each with
a tenth of its random cases (SINEW_CASES), as many as --budget CPU seconds are enough for; where all pass, the first quick
ones again with a library under AddressSanitizer and UBSan. It dies when one of them fails or takes three times its CPU
time and two seconds more.
Faults that the compiler turns into the very same objects, or refuses, and survivors that only give an array room
for one number more, and what only a device executes, where there is none, don't count; others are drawn in their place.
docs/testing.md lists faults that change nothing, each with its reason: they don't count either.
The same seed and the same sources give the same faults. Prints one line for each, the survivors at the end. What is known
is kept: the same command goes on where an interrupted one was, and after a new test only survivors meet it, and those
whose program has changed.
Exit status: 0 when at least --pass percent die (default 90), 77 when a tool is missing, 1 otherwise.
"""
import argparse
import hashlib
import json
import os
import random
import re
import resource
import shlex
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
FEW = 8  # programs that are built again because of a header they use without naming it
SANITIZED = 8  # programs that a survivor meets under the sanitizers
# Programs that no fault is tried on, and why.
LEFT_OUT = {"test_papers": "it runs the benchmarks, whose figures other tests hold, for minutes"}
# Sources that nothing runs without a device that speaks OpenCL.
DEVICE = re.compile(r"src/(arm/device|batch/(device|launch|session|program|opencl)|track/lanes_device)\.c$")
# Tests of ctest that are no C programs and use the library; the page's need a browser and another compiler.
SCRIPTS = "kernels|opencl|glb|mjcf|readme|examples|tutorials|report|shells"
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
            # what a shell lets its jobs in the background ignore
            for name in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
                signal.signal(name, signal.SIG_DFL)
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


# What a library that was built with -fsanitize-coverage=trace-pc calls at every basic block: it marks the place in a file
# that all processes of a test share, so that nothing is lost when one of them is killed.
TRACER = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static unsigned char *seen;
static uintptr_t base, size;
static int find(struct dl_phdr_info *info, size_t length, void *context) {
    (void)length, (void)context;
    if (strstr(info->dlpi_name, "libsinew.so") == NULL) return 0;
    base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz > size)
            size = info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    return 1;
}
__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("SINEW_TRACE");
    if (name == NULL || dl_iterate_phdr(find, NULL) == 0) return;
    int file = open(name, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, (off_t)size) != 0) return;
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at != MAP_FAILED) seen = at;
    close(file);
}
void __sanitizer_cov_trace_pc(void) {
    uintptr_t at = (uintptr_t)__builtin_return_address(0) - base;
    if (seen != NULL && at < size && seen[at] == 0) seen[at] = 1;
}
"""


class Build:
    """The copy of the sources, built in one way: the programs once, the library once for every fault."""

    def __init__(self, tree, folder, flags, *options):
        self.tree, self.folder = tree, folder
        must(["cmake", "-G", "Ninja", "-S", str(tree), "-B", str(folder), "-DSINEW_WERROR=OFF", "-DSINEW_OPEN=ON",
              "-DCMAKE_C_COMPILER=gcc", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
              "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON", "-DCMAKE_C_FLAGS_RELEASE=-O1 -fno-semantic-interposition " + flags,
              *options], tree)

    def make(self, *targets, jobs=1):
        must(["ninja", "-C", str(self.folder), f"-j{jobs}", "--quiet", *targets], self.tree)

    def learn(self, jobs=1):
        """Build the library; how it is compiled and linked, and what each of its objects depends on."""
        self.make("libsinew.so", jobs=jobs)
        self.compile = {}
        for entry in json.loads((self.folder / "compile_commands.json").read_text()):
            words = shlex.split(entry["command"])
            self.compile[words[words.index("-o") + 1]] = (entry["file"], words)
        self.users = {}  # of every file: the objects that are built from it
        name = None
        for line in Program(["ninja", "-C", str(self.folder), "-t", "deps"], self.tree).output.split("\n"):
            if line.startswith(" "):
                used = os.path.relpath(os.path.join(self.folder, line.strip()), self.tree)
                self.users.setdefault(used, []).append(name)
            elif ":" in line:
                name = line.split(":")[0]

    def link(self, target, output, instead):
        """Link target anew, with other objects in the place of those that have changed."""
        target = os.path.relpath((self.folder / target).resolve(), self.folder)  # a library behind its links
        shown = Program(["ninja", "-C", str(self.folder), "-t", "commands", "-s", target], self.tree).output
        words = [instead.get(word, word) for word in shlex.split(shown) if word not in (":", "&&")]
        words[words.index("-o") + 1] = str(output)
        return Program(words, self.folder)

    def put(self, fault, scratch, program=None):
        """Compile what a fault changes and link the library, or a test program, into scratch. Returns "refused",
        "same" when the compiler sees no difference, or ""."""
        overlay = scratch / "overlay"
        shutil.rmtree(overlay, ignore_errors=True)
        changed = overlay / fault.path
        changed.parent.mkdir(parents=True)
        changed.write_text(fault.mutated)
        part = f"tests/CMakeFiles/{program}.dir/" if program else "CMakeFiles/sinew.dir/"
        instead = {}
        for name in self.users.get(fault.path, []):
            if not name.startswith(part):
                continue
            source, words = self.compile[name][0], list(self.compile[name][1])
            for option in ("-MF", "-MT"):
                if option in words:
                    del words[words.index(option):words.index(option) + 2]
            words = [word for word in words if word != "-MD"]
            output = scratch / "objects" / name
            output.parent.mkdir(parents=True, exist_ok=True)
            words[words.index("-o") + 1] = str(output)
            if source == str(self.tree / fault.path):
                words[words.index(source)] = str(changed)
            # every #include names a file by its folder, so that this one is found first
            words += ["-iquote", str(overlay / "src"), f"-fmacro-prefix-map={overlay}={self.tree}"]
            if Program(words, self.folder).status != 0:
                return "refused"
            if output.read_bytes() != (self.folder / name).read_bytes():
                instead[name] = str(output)
        if not instead:
            return "same"
        output = scratch / (program or "libsinew.so")
        if self.link("tests/" + program if program else "libsinew.so", output, instead).status != 0:
            return "refused"
        if not program:  # under the name that the programs ask for, too
            for alias in self.folder.glob("libsinew.so.*"):
                (scratch / alias.name).unlink(missing_ok=True)
                (scratch / alias.name).symlink_to("libsinew.so")
        return ""


def must(command, cwd):
    done = Program(command, cwd)
    if done.status != 0:
        sys.exit(" ".join(command) + " failed:\n" + done.output[-3000:])


class Bench:
    """The copy of the sources, its builds, and what is known of the test programs."""

    def __init__(self, work, options):
        self.work, self.options = work, options
        self.tree = work / "tree"
        self.tests, self.code = {}, {}
        self.lock, self.asan, self.asan_clean = threading.Lock(), None, {}

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

    def common(self):
        """What all test programs depend on."""
        return self.digest("include/**/*", "src/**/*", "bench/*", "cli/*", "report/*", "plot/*", "tests/[!t]*.[ch]",
                           "tests/takes.*")

    def own(self, name):
        """What one test program is made of besides, and the documents where it reads them."""
        patterns = [f"tests/{name}.c", f"tests/{name[5:]}.txt"]
        return self.digest(*patterns, *(["docs/*", "README.md"] if 'SINEW_ROOT "/docs' in self.text(name) else []))

    def text(self, name):
        path = self.tree / "tests" / f"{name}.c"
        return path.read_text() if path.exists() else ""

    def make(self):
        self.build = Build(self.tree, self.work / "build", "")
        self.build.learn(self.options.jobs)

    def run_test(self, name, library, scratch, cpu, memory=LIMIT, program=None, **environment):
        """A test program with the library of a folder, in a folder of its own."""
        scratch.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "SINEW_CASES": self.tests.get(name, {}).get("cases", CASES),
                       "LD_LIBRARY_PATH": str(library), **environment}
        return Program([str(program or self.build.folder / "tests" / name)], scratch, environment, cpu, memory)

    def coverage(self):
        """For every test program its CPU seconds and the lines it executes; kept until the sources, the program
        or what the programs share change."""
        kept = self.work / "coverage.json"
        old = json.loads(kept.read_text()) if kept.exists() else {}
        common = self.common() + CASES
        if old.get("common") != common:
            old = {"common": common, "tests": {}, "code": {}}
        self.code = old["code"]
        names = [path.stem for path in sorted((self.tree / "tests").glob("test_*.c")) if path.stem not in LEFT_OUT]
        for name, why in LEFT_OUT.items():
            print(f"left out: {name}, {why}", flush=True)
        self.tests = {name: test for name, test in old["tests"].items() if name in names}
        self.build.make("sinew", *names, jobs=self.options.jobs)
        self.build.learn()
        stale = [name for name in names if self.tests.get(name, {}).get("own") != self.own(name)
                 or self.tests[name].get("limit", self.options.limit) < self.options.limit
                 or self.tests[name].get("left out", "").startswith("fails")]
        if stale:
            trace = Build(self.tree, self.work / "trace", "-g1 -fsanitize-coverage=trace-pc")
            trace.make("libsinew.so", jobs=self.options.jobs)
            (self.work / "tracer.c").write_text(TRACER)
            must(["gcc", "-O2", "-shared", "-fPIC", "-o", "tracer.so", "tracer.c"], self.work)
            blocks = self.blocks(trace.folder / "libsinew.so")
            with ThreadPoolExecutor(self.options.jobs) as pool:
                for name, test in zip(stale, pool.map(lambda name: self.look_at(name, trace.folder), stale)):
                    if "trace" in test:
                        test["lines"] = self.lines(Path(test.pop("trace")), blocks)
                        print(f"{name}: {test['seconds']:.1f} s, {sum(map(len, test['lines'].values()))} lines", flush=True)
                    self.tests[name] = test
                    kept.write_text(json.dumps({"common": common, "tests": self.tests, "code": self.code}))
        for name, test in self.tests.items():
            if "left out" in test or test["seconds"] > self.options.limit:
                print(f"left out: {name} {test.get('left out', 'takes too long')}", flush=True)

    def blocks(self, library):
        """The lines of src/ of every basic block, by the address that marks it; notes all lines that have code."""
        blocks, here, block, calls, code = {}, None, None, False, {}
        place = re.compile(r"(/[^:]+):(\d+)")
        output = subprocess.run(["objdump", "-d", "-l", "--no-show-raw-insn", str(library)], stdout=subprocess.PIPE,
                                text=True, check=True).stdout
        for line in output.split("\n"):
            if line.startswith("/"):
                found = place.match(line)
                name = os.path.relpath(found.group(1), self.tree) if found else ""
                here = (name, int(found.group(2))) if name.startswith("src/") else None
                if here:
                    code.setdefault(name, set()).add(here[1])
            elif line.startswith(" ") and ":" in line:
                if calls:
                    block = blocks.setdefault(int(line.split(":")[0], 16), set())
                calls = "__sanitizer_cov_trace_pc" in line
            elif not line.startswith(" "):
                if line.endswith(">:"):
                    block, here = None, None  # a function begins
                continue
            if block is not None and here:
                block.add(here)
        self.code = {name: sorted(lines) for name, lines in code.items()}
        return blocks

    def try_clean(self, name, scratch, cpu):
        """A test program without a fault: a second time, should it fail by itself on a busy machine; then with all
        cases, should a tenth be too few."""
        for cases in (CASES, CASES, "1"):
            done = self.run_test(name, self.build.folder, scratch, cpu, SINEW_CASES=cases)
            if done.status == 0 or done.status is None:
                break
        return done, cases

    def look_at(self, name, traced):
        """One test program, plainly and traced; what it marked lies in the file "trace"."""
        test = {"own": self.own(name), "lines": {}}
        scratch = self.work / "look" / name
        done, cases = self.try_clean(name, scratch, self.options.limit)
        test["cases"] = cases
        test["seconds"] = done.seconds
        if done.status == 0:
            marks = scratch / "marks"
            marks.unlink(missing_ok=True)
            done = self.run_test(name, traced, scratch, 20 * self.options.limit, SINEW_CASES=cases,
                                 LD_PRELOAD=str(self.work / "tracer.so"), SINEW_TRACE=str(marks))
            # it has passed as it is; that it is slower now and may fail for that does not matter
            if done.status is not None:
                if marks.exists():  # not for a program that does without the library
                    test["trace"] = str(marks)
                return test
        test["left out"] = "takes too long" if done.status is None else "fails without a fault"
        if done.status is None:
            test["limit"] = self.options.limit
        return test

    def lines(self, marks, blocks):
        """The lines of src/ that a file of marks stands for; the file is removed."""
        executed = {}
        for found in re.finditer(b"\\x01", marks.read_bytes()):
            for name, line in blocks.get(found.start(), ()):
                executed.setdefault(name, set()).add(line)
        shutil.rmtree(marks.parent, ignore_errors=True)
        return {name: sorted(found) for name, found in executed.items()}

    def covering(self, fault):
        """The tests that reach a fault, the quick ones that are about its file first, as far as --budget goes."""
        code = set(self.code.get(fault.path, []))
        reach = set(range(fault.line, fault.line_end + 1))
        lines = fault.original.split("\n")
        # a statement of several lines is known by one of them: look above, within the function
        first = fault.line
        while first > 1 and not reach & code and not re.match(r"[}\w]", lines[first - 1]):
            first -= 1
            reach.add(first)
        last = fault.line_end
        while last < len(lines) and not reach & code and not re.match(r"[}\w]", lines[last - 1]):
            last += 1
            reach.add(last)
        if not reach & code:
            reach = code  # a table: whoever uses the file
        names = [name for name, test in self.tests.items()
                 if test["seconds"] <= self.options.limit and reach.intersection(test["lines"].get(fault.path, []))]
        def cost(name):  # what is made for this file notices sooner than what passes through it
            lines = self.tests[name]["lines"]
            return (self.tests[name]["seconds"] + 0.2) * sum(map(len, lines.values())) / len(lines[fault.path])
        chosen, spent = [], 0
        for name in sorted(names, key=cost):
            if spent + self.tests[name]["seconds"] <= self.options.budget:
                chosen.append(name)
                spent += self.tests[name]["seconds"]
        return chosen

    def includers(self, fault):
        """The tests that the header of a fault is compiled into: those that include it themselves, and all where they are
        few. What is inline there is not the library's."""
        if not fault.path.endswith(".h"):
            return []
        names = [name.split("/")[-1][:-len(".c.o")] for name in self.build.users.get(fault.path, []) if "/test_" in name]
        names = [name for name in names if name in self.tests and self.tests[name]["seconds"] <= self.options.limit]
        if len(names) <= FEW:
            return names
        line = '#include "' + fault.path[len("src/"):] + '"'
        return [name for name in names if line in self.read(f"tests/{name}.c")]

    def dies(self, name, library, scratch, program=None):
        """Whether a test program fails with a library, or as another program."""
        for _ in range(2):  # twice, should a program fail now and then by itself
            done = self.run_test(name, library, scratch / "run", 3 * self.tests[name]["seconds"] + 2, program=program)
            if done.status == 0:
                return ""
            if done.status is None:
                return name + " (time)"
        return name

    def sanitized(self):
        """The library under AddressSanitizer and UBSan, built when the first fault needs it."""
        with self.lock:
            if self.asan is None:
                self.asan = Build(self.tree, self.work / "asan", "-g1 -fsanitize=address,undefined -fno-sanitize-recover=all"
                                  " -fno-omit-frame-pointer", "-DSINEW_HARDENING=OFF")
                self.asan.learn(self.options.jobs)
        return self.asan

    def dies_sanitized(self, name, library, scratch):
        """Whether a test program finds something under the sanitizers that it does not find without a fault."""
        runtime = Program(["gcc", "-print-file-name=libasan.so"], self.work).output.strip()
        def run(library, scratch):
            # what the sanitizers' words do not name is no finding of theirs: the program ran without them before
            done = self.run_test(name, library, scratch, 10 * (3 * self.tests[name]["seconds"] + 2), None,
                                 LD_PRELOAD=runtime, ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0")
            return re.search("AddressSanitizer|runtime error:", done.output) is not None
        if name not in self.asan_clean:
            self.asan_clean[name] = not run(self.asan.folder, self.work / "look" / ("asan_" + name))
        return name + " (sanitizers)" if self.asan_clean[name] and run(library, scratch / "run") else ""

    def dies_late(self, names, scratch):
        """With --thorough, what survived so far: the programs that reach it with all their cases, however long they
        take, then the scripts."""
        for name in names:
            if self.run_test(name, scratch, scratch / "run", 20 * self.options.limit, SINEW_CASES="1").status != 0:
                return name + " (all cases)"
        def scripts(library):
            done = Program(["ctest", "--test-dir", str(self.build.folder), "-R", f"^({SCRIPTS})$"], self.tree,
                           {**os.environ, "LD_LIBRARY_PATH": str(library)})
            return set(re.findall(r"- (\w+) \((?:Failed|Timeout|SEGFAULT)", done.output))
        with self.lock:  # they write into the build
            if not hasattr(self, "scripts_clean"):
                self.build.make()
                self.scripts_clean = scripts(self.build.folder)
            failed = scripts(scratch) - self.scripts_clean
        return sorted(failed)[0] if failed else ""

    def judge(self, fault, scratch, tried):
        """What became of a fault, and by what. tried: the programs that it has survived already, with what they were
        made of; is brought up to date."""
        names, includers = self.covering(fault), self.includers(fault)
        quick = [] if self.options.no_sanitizers else [name for name in names if self.tests[name]["seconds"] <= 1][:SANITIZED]
        survived = ("same", "only room") if fault.only_room else ("survived", f"{len(names)} test programs execute it")
        runs = [(name, "plain") for name in names] + [(name, "inline") for name in includers] + [(name, "asan") for name in quick]
        if tried and not self.options.thorough and all(tried.get(f"{name} {kind}") == self.own(name) for name, kind in runs):
            return survived
        verdict = self.build.put(fault, scratch)
        if verdict == "refused" or verdict == "same" and not includers:
            return verdict, ""
        if not names and not includers:
            return ("unseen", "no device here") if DEVICE.search(fault.path) else ("survived", "no test executes the line")

        def attempt(name, kind, run):
            key = f"{name} {kind}"
            if tried.get(key) == self.own(name):
                return ""
            why = run()
            if not why:
                tried[key] = self.own(name)
            return why

        if verdict == "":
            for name in names:
                why = attempt(name, "plain", lambda: self.dies(name, scratch, scratch))
                if why:
                    return "died", why
        for name in includers:
            def inline():
                if self.build.put(fault, scratch, name):
                    return ""
                return self.dies(name, scratch if verdict == "" else self.build.folder, scratch, scratch / name)
            why = attempt(name, "inline", inline)
            if why:
                return "died", why
        fresh = [name for name in quick if tried.get(f"{name} asan") != self.own(name)]
        if fresh and self.sanitized().put(fault, scratch / "asan") == "":
            for name in fresh:
                why = attempt(name, "asan", lambda: self.dies_sanitized(name, scratch / "asan", scratch))
                if why:
                    return "died", why
        if self.options.thorough and verdict == "":
            long = [name for name, test in self.tests.items() if test["seconds"] > self.options.limit]
            why = self.dies_late(names + long, scratch)
            if why:
                return "died", why
        return survived


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
    """Verdicts, told in the order of the faults. A death holds as long as the program that noticed stays as it is, a
    survival for the programs that were tried: after a new test only the survivors meet it, and an interrupted run goes
    on where it was. All of it holds for one state of the sources alone."""

    def __init__(self, bench, known, count):
        self.bench, self.known, self.count, self.lock = bench, known, count, threading.Lock()
        self.kept = bench.work / "verdicts.json"
        old = json.loads(self.kept.read_text()) if self.kept.exists() else {}
        self.state = bench.common() + CASES
        self.verdicts = old["verdicts"] if old.get("state") == self.state else {}
        self.waiting, self.begun = {}, []
        self.counted, self.equivalent, self.survivors = 0, 0, []

    def full(self):
        return self.counted == self.count

    def settle(self, scratch, number, fault):
        name = "\n".join(fault.key()) + f"\n{fault.line}"
        with self.lock:
            old = self.verdicts.get(name, {"tried": {}})
        program = old.get("why", "").split(" ")[0]
        if fault.key() in self.known:
            verdict, why = "equivalent", ""
        elif old.get("verdict") in ("refused", "same") or old.get("verdict") == "died" and old["own"] == self.bench.own(program):
            verdict, why = old["verdict"], old["why"]
        else:
            verdict, why = self.bench.judge(fault, scratch, old["tried"])
            program = why.split(" ")[0]
            old = {"verdict": verdict, "why": why, "tried": old["tried"],
                   "own": self.bench.own(program) if verdict == "died" else ""}
        with self.lock:
            if verdict != "equivalent":
                self.verdicts[name] = old
                self.kept.write_text(json.dumps({"state": self.state, "verdicts": self.verdicts}, indent=0))
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
    faults = json.loads(bench.read("tests/faults.json"))
    bench.make()
    names = sorted({name for fault in faults for name in fault["tests"]})
    bench.build.make("sinew", *names, jobs=bench.options.jobs)
    for name in names:
        done, cases = bench.try_clean(name, bench.work / "look" / name, 600)
        bench.tests[name] = {"seconds": done.seconds, "cases": cases}
        if done.status != 0:
            sys.exit(f"{name} fails without a fault:\n" + done.output[-3000:])
    for entry in faults:
        text, verdict = bench.read(entry["file"]), "survived"
        scratch = bench.work / "job0"
        if text.count(entry["before"]) != 1:
            verdict = "is not to be found in"
        else:
            first = text.index(entry["before"])
            fault = Fault(text, entry["file"], "named", first, first + len(entry["before"]), entry["after"])
            if entry["file"].startswith("src/"):
                fits, library = bench.build.put(fault, scratch) == "", scratch
            else:  # of the program: it and its tests are built with the fault, and again without
                (bench.tree / entry["file"]).write_text(fault.mutated)
                bench.build.make("sinew", *entry["tests"])
                fits, library = True, bench.build.folder
            why = next(filter(None, (bench.dies(name, library, scratch) for name in entry["tests"])), "") if fits else ""
            verdict = f"died ({why})" if why else "survived" if fits else "is no fault for the compiler"
            if library == bench.build.folder:
                (bench.tree / entry["file"]).write_text(text)
        left += not verdict.startswith("died")
        print(f"{verdict}: {entry['file']}: {entry['what']}", flush=True)
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
    parser.add_argument("--budget", type=float, default=60,
                        help="CPU seconds of test programs that a fault meets at most, the likeliest first")
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
    absent = [name for name in ("cmake", "ninja", "gcc", "objdump") if shutil.which(name) is None]
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
    results = Results(bench, excused(), options.count if only is None else None)

    def work(job):
        while True:
            with results.lock:
                number = None if results.full() else next(numbers, None)
                if number is None:
                    return
                results.begun.append(number)
            fault = Fault(bench.read(sites[number][0]), *sites[number])
            results.settle(bench.work / f"job{job}", number, fault)

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(work, range(options.jobs)))
    counted, equivalent, survivors = results.counted, results.equivalent, results.survivors
    died = counted - len(survivors)
    print(f"\n{died} of {counted} faults died ({100 * died / max(counted, 1):.0f} %), {equivalent} more change nothing; "
          f"seed {options.seed}, commit {commit()}")
    for number, fault, why in survivors:
        print(f"survivor {number}: {fault} ({why})")
    return 0 if 100 * died >= options.share * counted else 1


if __name__ == "__main__":
    sys.exit(main())
