# make run    build, then run the main job on the built-in example; ends with what to open
# make test   build, then run every test; ends with a count
# make soak   the long versions of the tests (millions of cases)
# make web    the page, web/dist/sinew.html
# make bench  the benchmarks
# make python the Python package: a wheel and an sdist in dist/, tested
# make python-bench  what a call from Python costs against C
# make platforms  the library for Windows and 64-bit ARM, run by wine and qemu: the same bits as here
# make man    the man pages, in build/share/man
# make cluster  the array job of docs/cluster.md on a Slurm of this machine (installs it)
# make docs   the documents as a site with a search, build/site/index.html
# make tidy   clang-tidy over the library and the program
# make format clang-format over every C file
.PHONY: run test soak bench platforms web python python-bench build test-tools man docs cluster tidy format clean
BUILD := build

# configuring again is quick and picks up new files; a new folder is for ninja where there is one
build:
	@tools/setup.sh build
	@generator=; [ -e $(BUILD)/CMakeCache.txt ] || ! command -v ninja >/dev/null || generator="-G Ninja"; \
	    cmake $$generator -S . -B $(BUILD) > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log
	@cmake --build $(BUILD) --parallel > $(BUILD)/build.log 2>&1 || { cat $(BUILD)/build.log; exit 1; }

test-tools:
	@tools/setup.sh test
	@tools/setup.sh browser || true # tests that look at a page are skipped without it

# a take that sinew makes itself, so that the true motion is known
EXAMPLE := $(BUILD)/example
PAGE := web/dist/sinew.html
run: build
	@if tools/setup.sh --list web >/dev/null; then \
	    $(MAKE) --no-print-directory web >$(BUILD)/page.log 2>&1 || \
	    echo "the page could not be built ($(BUILD)/page.log says why); the rest goes on without it"; \
	else echo "without the page, which needs more tools: make web gets them and builds it"; fi
	@$(BUILD)/sinew example --out $(EXAMPLE)
	@$(BUILD)/sinew fit -m $(EXAMPLE)/skeleton.asf -i $(EXAMPLE)/take.c3d --truth $(EXAMPLE)/truth.amc --limits hard \
	    -o $(EXAMPLE)/fit.bvh -o $(EXAMPLE)/fit.glb --report $(EXAMPLE)/report.html \
	    $$([ ! -e $(PAGE) ] || echo "-o $(EXAMPLE)/take.html --page $(PAGE)")
	@printf '\nOpen in a browser, by double click:\n  %s\n' "$(EXAMPLE)/report.html   how well it fits"
	@[ ! -e $(PAGE) ] || printf '  %s\n' "$(EXAMPLE)/take.html     the take, playing" \
	    "$(PAGE)         pull a figure by the hand"

test: test-tools build
	@tools/test.sh $(BUILD)

soak: test-tools build
	@tools/soak.sh $(BUILD)

web:
	@tools/setup.sh web
	@tools/web.sh $(BUILD)

python: build
	@tools/setup.sh python
	@tools/python.sh wheel $(BUILD)

python-bench: build
	@tools/python.sh bench $(BUILD) --check

bench: build
	@$(BUILD)/sinew bench sweeps

platforms:
	@tools/setup.sh platforms
	@tools/platforms.sh $(BUILD)

man: build
	@ls $(BUILD)/share/man/*.1

cluster: build
	@tools/setup.sh cluster
	@tests/slurm.sh "$$PWD" "$$PWD/$(BUILD)/sinew" "$(BUILD)/slurm"

docs: build
	@tools/setup.sh docs
	@tools/docs/build.sh $(BUILD)

tidy:
	@tools/setup.sh tidy
	@tools/tidy.sh

format:
	@tools/setup.sh tidy
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf $(BUILD) $(BUILD)-* web/dist dist
