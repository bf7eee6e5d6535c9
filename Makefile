# Short commands for CMake and the tests. `make help` lists them.
BUILD   ?= build
PREFIX  ?= /usr/local
JOBS    ?= $(shell nproc)
RANKS   ?= 2

# With this setting ccache, if CMake uses it, also caches compilations with precompiled headers.
export CCACHE_SLOPPINESS ?= pch_defines,time_macros

.DEFAULT_GOAL := all
.NOTPARALLEL:  # a goal may configure the build that the next goal uses
.PHONY: all help packages test-packages configure configure-tests wheel dist quickstart check test test-debian test-aarch64 bench-guard test-frameworks lint chaos chaos-recovery chaos-sweeps same-bits attack fuzz bench bench-% asan tsan install format clean

all: configure ## build the program and its modules
	@cmake --build $(BUILD) --parallel $(JOBS) --target trainrt trainrt_shared modules

help: ## print this list
	@awk -F ':.*## ' '/^[a-z0-9%-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

packages: ## install the Debian packages of .debian-packages that are missing
	@tests/support/tools/install_packages.sh .debian-packages

test-packages: ## install the missing packages of .debian-packages and .debian-packages-tests
	@tests/support/tools/install_packages.sh .debian-packages .debian-packages-tests

configure:
	@test -f $(BUILD)/build.ninja || cmake -S . -B $(BUILD) -G Ninja $(CMAKE_ARGS)

# Configures the build folder again if it was configured without tests or before Catch2 was installed.
configure-tests: test-packages configure
	@grep -q '^TRAINRT_TESTS:BOOL=ON' $(BUILD)/CMakeCache.txt && grep -q '^CATCH2_INCLUDE:PATH=/' $(BUILD)/CMakeCache.txt || \
	  cmake -S . -B $(BUILD) -DTRAINRT_TESTS=ON
	@tests/support/tools/install_arrow.sh $(BUILD)
	@tests/support/tools/install_python_packages.sh $(BUILD)/python-linters tests/lint/requirements/python.txt "the style and types of the Python package"

wheel: configure ## build only the Python package, for pip: build/wheel/trainrt-*.whl (needs pip, setuptools and wheel, and no network)
	@cmake --build $(BUILD) --target python_wheel && ls $(BUILD)/wheel/*.whl

dist: packages configure ## build one file for systems without a compiler and without libraries: build/dist/trainrt-*.tar.xz and a wheel (Debian 12)
	@tests/support/tools/install_arrow.sh $(BUILD)
	@cmake --build $(BUILD) --parallel $(JOBS) --target trainrt modules
	@slurm/packaging/dist.sh $(BUILD)

quickstart: ## install, build, and train FashionMNIST on 2 ranks, without Slurm
	@echo "quickstart, 1 of 3: installs the missing packages of .debian-packages (takes minutes if many are missing)"
	@$(MAKE) --no-print-directory packages
	@echo "quickstart, 2 of 3: builds in $(BUILD)/ with $(JOBS) jobs (an estimate of the time follows after 20 seconds)"
	@$(MAKE) --no-print-directory configure
	@src/build_with_estimate.sh $(BUILD) $(JOBS) trainrt trainrt_shared modules
	@echo "quickstart, 3 of 3: trains 10 epochs of FashionMNIST on $(RANKS) ranks (about a minute)"
	@TRAINRT_STORAGE=$${TRAINRT_STORAGE:-$(BUILD)/runs} jobs/quickstart.sh $(BUILD) $(RANKS)

check: configure-tests all ## run the tests for every change: lint, unit and contract (at most 90 seconds after the build)
	@cmake --build $(BUILD) --parallel $(JOBS) --target unit_and_contract
	@tests/run.sh $(BUILD) lint unit contract

test: configure-tests ## install packages, build, and run all tests
	@cmake --build $(BUILD) --parallel $(JOBS)
	@tests/run.sh $(BUILD)

test-debian: ## run quickstart and all tests in a fresh Debian (needs root, mmdebstrap and 15 GB): make test-debian RELEASE=trixie ROOTS=DIR COMMAND='make quickstart'
	@tests/portability/debian.sh '$(RELEASE)' '$(or $(ROOTS),$(BUILD)/debian)' $(if $(COMMAND),'$(COMMAND)')

test-aarch64: ## build for aarch64 by Debian's cross compiler, and run the unit and contract tests by qemu (needs root, mmdebstrap, Linux 6.7 and 5 GB): make test-aarch64 ROOTS=DIR
	@tests/portability/aarch64.sh '$(or $(ROOTS),$(BUILD)/debian)' $(if $(COMMAND),'$(COMMAND)')

test-frameworks: test-packages all ## run unchanged scripts of frameworks from PyPI (8 GB in TRAINRT_FRAMEWORKS=DIR): make test-frameworks ONLY='Lightning JAX' RESULTS=FILE SEEDS=DIR RAY_EXAMPLES=DIR
	@RESULTS='$(RESULTS)' $(if $(TRAINRT_FRAMEWORKS),TRAINRT_FRAMEWORKS='$(TRAINRT_FRAMEWORKS)') \
	  /usr/bin/python3 tests/frameworks/pypi/run_frameworks.py $(BUILD) $(ONLY)
	@TRAINRT_SAMPLES=all SEEDS='$(SEEDS)' RAY_EXAMPLES='$(RAY_EXAMPLES)' $(if $(TRAINRT_FRAMEWORKS),TRAINRT_FRAMEWORKS='$(TRAINRT_FRAMEWORKS)') \
	  /usr/bin/python3 tests/frameworks/examples/test_samples.py $(BUILD) $(ONLY)
	@TRAINRT_SAMPLES=all /usr/bin/python3 tests/frameworks/torch/test_build_torch.py $(BUILD) $(ONLY)

lint: all ## run clang-tidy on src (needs the package clang-tidy-16), and the tests of tests/lint
	@cmake -S . -B $(BUILD)-lint -G Ninja -DTRAINRT_TESTS=OFF -DTRAINRT_PCH=OFF -DCMAKE_UNITY_BUILD_BATCH_SIZE=30 $(LEAN) >/dev/null
	@nice /usr/bin/python3 tests/support/tools/clang_tidy.py $(BUILD)-lint $(JOBS)
	@tests/run.sh $(BUILD) lint

chaos: test-packages all ## disturb runs under Slurm by random plans: make chaos SEED=7 PLANS=100 TIME=seconds; to repeat one plan: SEED=7 PLAN=31
	@/usr/bin/python3 tests/chaos/chaos.py $(BUILD) $(if $(SEED),--seed $(SEED)) $(if $(PLANS),--plans $(PLANS)) \
	  $(if $(PLAN),--plan $(PLAN)) $(if $(JSON),--json '$(JSON)') $(if $(TIME),--time $(TIME))

chaos-recovery: test-packages all ## kill ranks, programs and standbys of runs with failure.recovery = live: make chaos-recovery SEED=7 RUNS=20 KILLS=12 TIME=seconds
	@/usr/bin/python3 tests/chaos/recovery.py $(BUILD) $(if $(SEED),--seed $(SEED)) $(if $(RUNS),--runs $(RUNS)) $(if $(KILLS),--kills $(KILLS)) \
	  $(if $(TIME),--time $(TIME))

chaos-sweeps: test-packages all ## kill sweeps of trainrt tune by random plans: make chaos-sweeps SEED=7 PLANS=100 TIME=seconds SLURM=1; to repeat one plan: SEED=7 PLAN=31
	@/usr/bin/python3 tests/chaos/break_sweeps.py $(BUILD) $(if $(SLURM),--slurm) $(if $(SEED),--seed $(SEED)) $(if $(PLANS),--plans $(PLANS)) \
	  $(if $(PLAN),--plan $(PLAN)) $(if $(TIME),--time $(TIME))

same-bits: test-packages all ## carry runs of 8 workers on 1 to 8 nodes, with resizes, kills and requeues: make same-bits SEED=7 SCHEDULES=50 KINDS=linear,gpt TIME=seconds
	@/usr/bin/python3 tests/chaos/same_bits.py $(BUILD) $(if $(SEED),--seed $(SEED)) $(if $(SCHEDULES),--schedules $(SCHEDULES)) \
	  $(if $(KINDS),--kinds $(KINDS)) $(if $(TIME),--time $(TIME))

attack: configure-tests all ## kill a small run at every system call, let each call fail, and flip bits of data files: make attack SEED=7 POINTS=300 BITS=1000 ERRORS=all TIME=seconds, or ONE='POINT'
	@cmake --build $(BUILD) --parallel $(JOBS) --target attack_injector
	@$(if $(ONE),true,/usr/bin/python3 tests/attack/flips.py $(BUILD) $(if $(SEED),--seed $(SEED)) $(if $(BITS),--bits $(BITS)))
	@/usr/bin/python3 tests/attack/attack.py $(BUILD) $(if $(SEED),--seed $(SEED)) $(if $(POINTS),--points $(POINTS)) \
	  $(if $(ONE),--one '$(ONE)') $(if $(SCENE),--scene $(SCENE)) $(if $(ERRORS),--errors $(ERRORS)) $(if $(TIME),--time $(TIME))

fuzz: test-packages ## give random files, configurations and messages to every parser: make fuzz SEED=7 TIME=seconds TARGET=manifest
	@/usr/bin/python3 tests/fuzz/fuzz.py $(BUILD) $(if $(SEED),--seed $(SEED)) $(if $(TIME),--time $(TIME)) \
	  $(if $(TARGET),--target $(TARGET))

BENCHES = $(patsubst tests/bench/bench_%.py,bench-%,$(wildcard tests/bench/bench_*.py))
bench: $(BENCHES) ## run all benchmarks, which compare trainrt with other software

bench-%: configure-tests all ## run one benchmark: bench-train, bench-comm, bench-start, bench-report, bench-checkpoint, bench-data, bench-scale, bench-elastic, bench-restart, bench-recovery, bench-program, bench-api, bench-frameworks, bench-stage, bench-tune, bench-see, bench-trees, bench-formats, bench-gpu
	@cmake --build $(BUILD) --parallel $(JOBS) --target bench_modules
	@/usr/bin/python3 tests/bench/bench_$*.py $(BUILD) $(ONLY)

bench-guard: configure-tests all ## compare twelve ratios with recorded ones, in 2 to 6 minutes: make bench-guard BASE=FILE; RECORD=FILE writes a new record
	@cmake --build $(BUILD) --parallel $(JOBS) --target bench_modules
	@/usr/bin/python3 tests/bench/guard.py $(BUILD) $(if $(BASE),--base '$(BASE)') $(if $(RECORD),--record '$(RECORD)')

# Builds with sanitizers leave out torch, whose libraries manage their own memory and threads, and the kernels for GPUs.
LEAN = -DTRAINRT_TORCH=OFF -DTRAINRT_CUDA=OFF
CCACHE = $(if $(shell command -v ccache),-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)

asan: test-packages ## run the unit and contract tests with AddressSanitizer, its leak check, and UBSan
	@cmake -S . -B $(BUILD)-asan -G Ninja $(CCACHE) -DTRAINRT_SANITIZE=address,undefined $(LEAN) >/dev/null
	@cmake --build $(BUILD)-asan --parallel $(JOBS) --target unit_and_contract
	@tests/run.sh $(BUILD)-asan unit contract

tsan: test-packages ## run the unit and contract tests with ThreadSanitizer
	@cmake -S . -B $(BUILD)-tsan -G Ninja $(CCACHE) -DTRAINRT_SANITIZE=thread $(LEAN) >/dev/null
	@cmake --build $(BUILD)-tsan --parallel $(JOBS) --target unit_and_contract
	@UCX_MEM_EVENTS=n tests/run.sh $(BUILD)-tsan unit contract  # UCX's hooks for madvise() crash in the sanitizer

install: all ## install the program, library, modules, headers, jobs, schemas and module file: make install PREFIX=/opt/trainrt
	@cmake --install $(BUILD) --prefix $(PREFIX)

format: ## format all C++ and CUDA files with clang-format
	@git ls-files '*.cpp' '*.hpp' '*.cu' | xargs clang-format -i

clean: ## remove all build folders
	@rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz $(BUILD)-lint
