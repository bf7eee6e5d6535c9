# The front door; CMake does the work. `make help` lists the rooms.
BUILD   ?= build
PREFIX  ?= /usr/local
JOBS    ?= $(shell nproc)
RANKS   ?= 2

# What lets ccache, if it is the compiler's launcher, take precompiled headers.
export CCACHE_SLOPPINESS ?= pch_defines,time_macros

.DEFAULT_GOAL := all
.NOTPARALLEL:  # a goal configures what the next one builds
.PHONY: all help packages test-packages configure configure-tests wheel quickstart check test bench-guard test-frameworks lint chaos chaos-sweeps attack fuzz bench bench-% asan tsan install format clean

all: configure ## build the program and its modules
	@cmake --build $(BUILD) --parallel $(JOBS) --target trainrt trainrt_shared modules

help: ## this list
	@awk -F ':.*## ' '/^[a-z%-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

packages: ## install the Debian packages of .debian-packages that are missing
	@tests/support/tools/install_packages.sh .debian-packages

test-packages: ## the same with those of .debian-packages-tests
	@tests/support/tools/install_packages.sh .debian-packages .debian-packages-tests

configure:
	@test -f $(BUILD)/build.ninja || cmake -S . -B $(BUILD) -G Ninja $(CMAKE_ARGS)

# A folder that was configured without tests, or when Catch2 was not there yet, is configured again.
configure-tests: test-packages configure
	@grep -q '^TRAINRT_TESTS:BOOL=ON' $(BUILD)/CMakeCache.txt && grep -q '^CATCH2_INCLUDE:PATH=/' $(BUILD)/CMakeCache.txt || \
	  cmake -S . -B $(BUILD) -DTRAINRT_TESTS=ON
	@tests/support/tools/install_arrow.sh $(BUILD)
	@tests/support/tools/install_python_packages.sh $(BUILD)/python-linters tests/lint/requirements/python.txt "the style and types of the Python package"

wheel: configure ## the Python package alone, for pip: build/wheel/trainrt-*.whl (needs pip, setuptools and wheel, and no network)
	@cmake --build $(BUILD) --target python_wheel && ls $(BUILD)/wheel/*.whl

quickstart: ## install, build, and train FashionMNIST on 2 ranks, without Slurm
	@echo "quickstart, 1 of 3: packages of .debian-packages that are missing are installed (minutes if there are many)"
	@$(MAKE) --no-print-directory packages
	@echo "quickstart, 2 of 3: build in $(BUILD)/ with $(JOBS) jobs (an estimate of the time follows after 20 seconds)"
	@$(MAKE) --no-print-directory configure
	@src/build_with_estimate.sh $(BUILD) $(JOBS) trainrt trainrt_shared modules
	@echo "quickstart, 3 of 3: 10 epochs of FashionMNIST on $(RANKS) ranks (about a minute)"
	@TRAINRT_STORAGE=$${TRAINRT_STORAGE:-$(BUILD)/runs} jobs/quickstart.sh $(BUILD) $(RANKS)

check: configure-tests all ## the tests to run after every change: lint, unit and contract (at most 90 seconds once all is built)
	@cmake --build $(BUILD) --parallel $(JOBS) --target unit_and_contract
	@tests/run.sh $(BUILD) lint unit contract

test: configure-tests ## install, build, and run every test
	@cmake --build $(BUILD) --parallel $(JOBS)
	@tests/run.sh $(BUILD)

test-frameworks: test-packages all ## unchanged scripts of PyPI's frameworks (8 GB in TRAINRT_FRAMEWORKS=DIR): make test-frameworks ONLY='Lightning JAX' RESULTS=FILE
	@RESULTS='$(RESULTS)' $(if $(TRAINRT_FRAMEWORKS),TRAINRT_FRAMEWORKS='$(TRAINRT_FRAMEWORKS)') \
	  /usr/bin/python3 tests/frameworks/pypi/run_frameworks.py $(BUILD) $(ONLY)

lint: all ## clang-tidy over src (needs the package clang-tidy-16), and the tests of tests/lint
	@cmake -S . -B $(BUILD)-lint -G Ninja -DTRAINRT_TESTS=OFF -DTRAINRT_PCH=OFF -DCMAKE_UNITY_BUILD_BATCH_SIZE=30 $(LEAN) >/dev/null
	@nice /usr/bin/python3 tests/support/tools/clang_tidy.py $(BUILD)-lint $(JOBS)
	@tests/run.sh $(BUILD) lint

chaos: test-packages all ## break runs under Slurm by seeded plans: make chaos SEED=7 PLANS=100 TIME=seconds, or one again: SEED=7 PLAN=31
	@/usr/bin/python3 tests/chaos/chaos.py $(BUILD) $(if $(SEED),--seed $(SEED)) $(if $(PLANS),--plans $(PLANS)) \
	  $(if $(PLAN),--plan $(PLAN)) $(if $(JSON),--json '$(JSON)') $(if $(TIME),--time $(TIME))

chaos-sweeps: test-packages all ## kill sweeps of trainrt tune by seeded plans: make chaos-sweeps SEED=7 PLANS=100 TIME=seconds SLURM=1, or one again: SEED=7 PLAN=31
	@/usr/bin/python3 tests/chaos/break_sweeps.py $(BUILD) $(if $(SLURM),--slurm) $(if $(SEED),--seed $(SEED)) $(if $(PLANS),--plans $(PLANS)) \
	  $(if $(PLAN),--plan $(PLAN)) $(if $(TIME),--time $(TIME))

attack: configure-tests all ## kill a small run at every system call, and let each fail; flip bits of data files: make attack SEED=7 POINTS=300 BITS=1000 ERRORS=all TIME=seconds, or ONE='POINT'
	@cmake --build $(BUILD) --parallel $(JOBS) --target attack_injector
	@$(if $(ONE),true,/usr/bin/python3 tests/attack/flips.py $(BUILD) $(if $(SEED),--seed $(SEED)) $(if $(BITS),--bits $(BITS)))
	@/usr/bin/python3 tests/attack/attack.py $(BUILD) $(if $(SEED),--seed $(SEED)) $(if $(POINTS),--points $(POINTS)) \
	  $(if $(ONE),--one '$(ONE)') $(if $(SCENE),--scene $(SCENE)) $(if $(ERRORS),--errors $(ERRORS)) $(if $(TIME),--time $(TIME))

fuzz: test-packages ## made-up files, configs and messages for all that reads such: make fuzz SEED=7 TIME=seconds TARGET=manifest
	@/usr/bin/python3 tests/fuzz/fuzz.py $(BUILD) $(if $(SEED),--seed $(SEED)) $(if $(TIME),--time $(TIME)) \
	  $(if $(TARGET),--target $(TARGET))

BENCHES = $(patsubst tests/bench/bench_%.py,bench-%,$(wildcard tests/bench/bench_*.py))
bench: $(BENCHES) ## all benchmarks, side by side with their peers

bench-%: configure-tests all ## one benchmark: bench-train, bench-comm, bench-start, bench-report, bench-checkpoint, bench-data, bench-scale, bench-restart, bench-program, bench-api, bench-frameworks, bench-stage, bench-tune, bench-see, bench-trees, bench-formats, bench-gpu
	@cmake --build $(BUILD) --parallel $(JOBS) --target bench_modules
	@/usr/bin/python3 tests/bench/bench_$*.py $(BUILD) $(ONLY)

bench-guard: configure-tests all ## compare twelve ratios with the recorded ones, in 2 to 6 minutes: make bench-guard BASE=FILE, or RECORD=FILE to write one
	@cmake --build $(BUILD) --parallel $(JOBS) --target bench_modules
	@/usr/bin/python3 tests/bench/guard.py $(BUILD) $(if $(BASE),--base '$(BASE)') $(if $(RECORD),--record '$(RECORD)')

# Built without torch, whose libraries bring their own memory and threads, and without kernels for GPUs.
LEAN = -DTRAINRT_TORCH=OFF -DTRAINRT_CUDA=OFF
CCACHE = $(if $(shell command -v ccache),-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)

asan: test-packages ## the unit and contract tests under AddressSanitizer, with its search for leaks, and UBSan
	@cmake -S . -B $(BUILD)-asan -G Ninja $(CCACHE) -DTRAINRT_SANITIZE=address,undefined $(LEAN) >/dev/null
	@cmake --build $(BUILD)-asan --parallel $(JOBS) --target unit_and_contract
	@tests/run.sh $(BUILD)-asan unit contract

tsan: test-packages ## the unit and contract tests under ThreadSanitizer
	@cmake -S . -B $(BUILD)-tsan -G Ninja $(CCACHE) -DTRAINRT_SANITIZE=thread $(LEAN) >/dev/null
	@cmake --build $(BUILD)-tsan --parallel $(JOBS) --target unit_and_contract
	@UCX_MEM_EVENTS=n tests/run.sh $(BUILD)-tsan unit contract  # UCX's hooks in madvise crash inside the sanitizer

install: all ## lay down program, library, modules, headers, jobs, schemas and the module file: make install PREFIX=/opt/trainrt
	@cmake --install $(BUILD) --prefix $(PREFIX)

format: ## clang-format over everything
	@git ls-files '*.cpp' '*.hpp' '*.cu' | xargs clang-format -i

clean: ## remove what was built
	@rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz $(BUILD)-lint
