# The front door; CMake does the work. `make help` lists the rooms.
BUILD   ?= build
PREFIX  ?= /usr/local
JOBS    ?= $(shell nproc)
RANKS   ?= 2

.DEFAULT_GOAL := all
.PHONY: all help packages configure quickstart test chaos attack fuzz bench bench-% asan tsan install format clean

all: configure ## build the program and its modules
	@cmake --build $(BUILD) --parallel $(JOBS) --target trainrt trainrt_shared modules

help: ## this list
	@awk -F ':.*## ' '/^[a-z%-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

packages: ## install the Debian packages of .debian-packages that are missing
	@tests/support/install_packages.sh .debian-packages

configure:
	@test -f $(BUILD)/build.ninja || cmake -S . -B $(BUILD) -G Ninja $(CMAKE_ARGS)

quickstart: packages all ## install, build, and train FashionMNIST on 2 ranks, without Slurm
	@jobs/quickstart.sh $(BUILD) $(RANKS)

test: packages configure ## install, build, and run every test
	@cmake --build $(BUILD) --parallel $(JOBS)
	@tests/run.sh $(BUILD)

chaos: packages all ## break runs under Slurm by seeded plans: make chaos SEED=7 PLANS=100 TIME=seconds, or one again: SEED=7 PLAN=31
	@/usr/bin/python3 tests/chaos/chaos.py $(BUILD) $(if $(SEED),--seed $(SEED)) $(if $(PLANS),--plans $(PLANS)) \
	  $(if $(PLAN),--plan $(PLAN)) $(if $(JSON),--json '$(JSON)') $(if $(TIME),--time $(TIME))

attack: packages all ## kill a small run at every system call, and let each fail: make attack SEED=7 POINTS=300 ERRORS=all TIME=seconds, or ONE='POINT'
	@cmake --build $(BUILD) --parallel $(JOBS) --target attack_injector
	@/usr/bin/python3 tests/attack/attack.py $(BUILD) $(if $(SEED),--seed $(SEED)) $(if $(POINTS),--points $(POINTS)) \
	  $(if $(ONE),--one '$(ONE)') $(if $(SCENE),--scene $(SCENE)) $(if $(ERRORS),--errors $(ERRORS)) $(if $(TIME),--time $(TIME))

fuzz: packages ## made-up files, configs and messages for all that reads such: make fuzz SEED=7 TIME=seconds TARGET=manifest
	@/usr/bin/python3 tests/fuzz/fuzz.py $(BUILD) $(if $(SEED),--seed $(SEED)) $(if $(TIME),--time $(TIME)) \
	  $(if $(TARGET),--target $(TARGET))

BENCHES = $(patsubst tests/bench/bench_%.py,bench-%,$(wildcard tests/bench/bench_*.py))
bench: $(BENCHES) ## all benchmarks, side by side with their peers

bench-%: packages all ## one benchmark: bench-train, bench-comm, bench-start, bench-report, bench-checkpoint, bench-scale, bench-restart, bench-gpu
	@cmake --build $(BUILD) --parallel $(JOBS) --target bench_modules
	@/usr/bin/python3 tests/bench/bench_$*.py $(BUILD)

# Built without torch, whose libraries bring their own memory and threads.
CCACHE = $(if $(shell command -v ccache),-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)

asan: packages ## the unit and contract tests under AddressSanitizer and UBSan
	@cmake -S . -B $(BUILD)-asan -G Ninja $(CCACHE) -DTRAINRT_SANITIZE=address,undefined -DTRAINRT_TORCH=OFF >/dev/null
	@cmake --build $(BUILD)-asan --parallel $(JOBS) --target unit_and_contract
	@ASAN_OPTIONS=detect_leaks=0 tests/run.sh $(BUILD)-asan unit contract

tsan: packages ## the unit and contract tests under ThreadSanitizer
	@cmake -S . -B $(BUILD)-tsan -G Ninja $(CCACHE) -DTRAINRT_SANITIZE=thread -DTRAINRT_TORCH=OFF >/dev/null
	@cmake --build $(BUILD)-tsan --parallel $(JOBS) --target unit_and_contract
	@UCX_MEM_EVENTS=n tests/run.sh $(BUILD)-tsan unit contract  # UCX's hooks in madvise crash inside the sanitizer

install: all ## lay down program, library, modules, headers, jobs, schemas and the module file: make install PREFIX=/opt/trainrt
	@cmake --install $(BUILD) --prefix $(PREFIX)

format: ## clang-format over everything
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format -i

clean: ## remove what was built
	@rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz
