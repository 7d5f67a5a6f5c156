# make run    build, then run the main job on the built-in example; ends with what to open
# make test   build, then run every test; ends with a count
# make soak   the long versions of the tests (millions of cases)
# make web    the page, web/dist/sinew.html
# make bench  the benchmarks
.PHONY: run test soak bench web build setup clean
BUILD := build

setup:
	@tools/setup.sh

# configuring again is quick and picks up new files
build: setup
	@cmake -G Ninja -S . -B $(BUILD) > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log
	@ninja -C $(BUILD) --quiet

# a take that sinew makes itself, so that the true motion is known
EXAMPLE := $(BUILD)/example
PAGE := web/dist/sinew.html
run: build
	@$(MAKE) --no-print-directory web >$(BUILD)/page.log 2>&1 || \
	    echo "the page could not be built ($(BUILD)/page.log says why); the rest goes on without it"
	@$(BUILD)/sinew example --out $(EXAMPLE)
	@$(BUILD)/sinew fit -m $(EXAMPLE)/skeleton.asf -i $(EXAMPLE)/take.c3d --truth $(EXAMPLE)/truth.amc \
	    -o $(EXAMPLE)/fit.bvh -o $(EXAMPLE)/fit.glb --report $(EXAMPLE)/report.html \
	    $$([ ! -e $(PAGE) ] || echo "-o $(EXAMPLE)/take.html --page $(PAGE)")
	@printf '\nOpen in a browser, by double click:\n  %s\n' "$(EXAMPLE)/report.html   how well it fits"
	@[ ! -e $(PAGE) ] || printf '  %s\n' "$(EXAMPLE)/take.html     the take, playing" \
	    "$(PAGE)         pull a figure by the hand"

test: build
	@tools/test.sh $(BUILD)

soak: build
	@tools/soak.sh $(BUILD)

web:
	@tools/setup.sh web
	@tools/web.sh $(BUILD)

bench: build
	@$(BUILD)/sinew bench sweeps

clean:
	rm -rf $(BUILD) $(BUILD)-* web/dist
