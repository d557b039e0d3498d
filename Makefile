# Everything here works on a fresh clone with python3 (3.11 or newer), a C++20 compiler and make.
#
#   make demo         learn the maze and print the learned rules
#   make test         all checks and all tests
#   make test-only    all tests, without the checks
#   make quick        the tests of the core, in under a minute on two cores
#   make lint         style, types, imports and clang-tidy, without the tests
#   make coverage     which lines of Python and C++ the tests run
#   make bench        measure the speed of every path
#   make prolog-test  compare exported rules with the engine in SWI-Prolog, which must be installed
#   make torture      attack everything with real faults and count the promises that broke
#   make lower-bounds test with the lowest versions of all dependencies
#   make sanitize     the tests on a debug build with address and undefined-behaviour sanitizers
#   make sanitize-threads   the tests of threads on a debug build with the thread sanitizer
#   make format       format Python and C++
#   make docs         build the documentation site in build/site
#   make wheel        build dist/*.whl
#   make sdist        build dist/*.tar.gz
#   make clean        remove everything that the above made

PYTHON ?= python3
MAKEFLAGS += --no-print-directory

# .venv is a plain install, as a user would make it. The others are editable installs.
demo := .venv
test := .venv-test
sanitize := .venv-sanitize
sanitize_threads := .venv-sanitize-threads
coverage := .venv-coverage

cores := $(shell getconf _NPROCESSORS_ONLN)
# Bytecode is compiled at the first import: most installed modules are never imported.
pip := -m pip -qq --disable-pip-version-check
install := $(pip) install --no-compile
cpp := $(shell find cpp -name '*.cpp' -o -name '*.hpp')
engine := pyproject.toml CMakeLists.txt $(shell find cpp -type d) $(cpp)
package := $(shell find src -name '*.py' -o -name '*.toml' -o -name '*.txt')
# The benchmark plugin warns when tests run in parallel, so it is off.
pytest := python -m pytest -p no:benchmark -n $(cores) --dist worksteal

.PHONY: demo test test-only quick lint lint-python lint-types lint-imports lint-cpp tidy coverage bench \
    prolog-test torture lower-bounds sanitize sanitize-threads format docs wheel sdist clean

demo: $(demo)/.installed
	@$(demo)/bin/treethink learn maze
	@echo
	@echo "treethink is installed in $(demo). To use the command yourself:  . $(demo)/bin/activate"

test: lint test-only

test-only: $(test)/.installed
	@$(test)/bin/$(pytest)

# The folders that test the core; tests with the marker `slow` are left out, and Hypothesis tries
# fewer examples (see tests/conftest.py).
quick: $(test)/.installed
	@HYPOTHESIS_PROFILE=quick $(test)/bin/$(pytest) -q -m "not slow" \
	    tests/core tests/learning tests/baselines tests/twins tests/worlds

lint: $(test)/.installed
	@echo "Checking style, types and imports ..."
	@$(MAKE) -j$(cores) lint-types lint-python lint-imports lint-cpp tidy

lint-python: $(test)/.installed
	@$(test)/bin/ruff check --quiet .
	@$(test)/bin/ruff format --check --quiet .

lint-types: $(test)/.installed
	@$(test)/bin/mypy

lint-imports: $(test)/.installed
	@$(test)/bin/lint-imports > build/import-contracts.txt || { cat build/import-contracts.txt; exit 1; }

lint-cpp: $(test)/.installed
	@$(test)/bin/clang-format --dry-run -Werror $(cpp)

# clang-tidy reads all sources of a folder as one file: most of its time goes into standard headers.
# The bindings are left out, because nanobind's macros raise findings that are not ours.
folders := $(patsubst cpp/%/,%,$(filter-out cpp/ cpp/bindings/,$(sort $(dir $(filter %.cpp,$(cpp))))))
tidy: $(patsubst %,build/tidy/%/findings.txt,engine $(folders))

build/tidy/%/findings.txt: $(cpp) .clang-tidy $(test)/.installed
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(abspath $(or $(wildcard cpp/$*/*.cpp),$(wildcard cpp/*.cpp))) > $(@D)/all.cpp
	@$(test)/bin/clang-tidy --quiet --config-file=.clang-tidy --checks=-bugprone-suspicious-include \
	    $(@D)/all.cpp -- -std=c++20 -Icpp > $@.failed 2>&1 && mv $@.failed $@ || { cat $@.failed; exit 1; }

# Both figures are for the same run of all tests: lines of src/, then lines of cpp/.
coverage: $(coverage)/.installed
	@rm -rf coverage .coverage .coverage.*; mkdir coverage
	@find build/$(coverage) -name '*.gcda' -delete
	@$(coverage)/bin/$(pytest) -q --cov --cov-report=html:coverage/python --cov-report= $(TESTS)
	@echo "Python:"; $(coverage)/bin/coverage report --format=total --precision=1
	@echo "C++:"; $(coverage)/bin/gcovr --root . --filter cpp/ --gcov-ignore-parse-errors=all \
	    --html-nested coverage/cpp.html --print-summary build/$(coverage) | grep '^lines'
	@echo "The pages are coverage/python/index.html and coverage/cpp.html"

bench: $(test)/.installed
	@$(test)/bin/treethink bench
	@$(test)/bin/python -m pytest benchmarks --benchmark-only --benchmark-group-by=group

# The ordinary tests prove the clauses with a small Prolog interpreter written in Python.
prolog-test: $(test)/.installed
	@command -v swipl >/dev/null || { echo "swipl is not installed (Debian: apt install swi-prolog-nox)"; exit 1; }
	@swipl --version
	@$(test)/bin/python -m pytest -p no:benchmark tests/support/swi_prolog.py

# The table goes into docs/reliability.md. More:  tests/torture/torture.py --help
torture: $(test)/.installed lower-bounds
	@$(test)/bin/python tests/torture/torture.py --write

# The environment is made anew; the build folder of the wheel is kept.
lower-bounds: $(test)/.tools
	@rm -rf build/lower-bounds/dist
	@PATH="$(abspath $(test)/bin):$$PATH" $(test)/bin/python $(pip) wheel --no-deps --no-build-isolation \
	    --config-settings=build-dir=build/lower-bounds/build --wheel-dir build/lower-bounds/dist .
	@$(test)/bin/python tests/torture/lower_bounds.py build/lower-bounds/dist/*.whl

# The runtime of the sanitizers must be loaded before anything else. Python never frees some of its
# memory, so leaks are not reported. Reports of the sanitizers bypass pytest and appear on the screen.
sanitize: $(sanitize)/.installed
	@LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc \
	    $(sanitize)/bin/$(pytest) --capture=sys tests

# Only the engine is watched, not Python. One process, because the threads are in the tests.
sanitize-threads: $(sanitize_threads)/.installed
	@LD_PRELOAD="$$($(CXX) -print-file-name=libtsan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	    TSAN_OPTIONS="exitcode=66 history_size=7" \
	    $(sanitize_threads)/bin/python -m pytest -p no:benchmark --capture=sys tests/core/test_threads.py

format: $(test)/.installed
	@$(test)/bin/ruff check --fix --quiet . ; $(test)/bin/ruff format .
	@$(test)/bin/clang-format -i $(cpp)

# The reference pages describe the engine too: its names come from the stub that the build wrote.
docs: $(test)/.installed
	@$(test)/bin/python $(install) $$($(PYTHON) -c 'import tomllib; \
	    print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"])')
	@NO_MKDOCS_2_WARNING=1 $(test)/bin/mkdocs build --quiet --strict
	@echo "The site is build/site/index.html"

wheel sdist: $(test)/.tools
	@echo "Building a $@ ..."
	@$(test)/bin/python -m build --$@ --outdir dist . >/dev/null
	@ls dist

clean:
	rm -rf .venv .venv-* build coverage dist .benchmarks .coverage .coverage.* .hypothesis \
	    .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	rm -f src/treethink/_engine.pyi
	find . -name __pycache__ -prune -exec rm -rf {} +

# A plain install copies the Python sources, so it is made again when they change.
$(demo)/.installed: $(engine) $(package)
	@$(make_venv)
	@echo "Building the engine (a minute or two, once) ..."
	@$(@D)/bin/python $(install) .
	@touch $@

# The requirements of a build are listed once, in pyproject.toml. cmake and ninja come from pip, so
# that a kept build folder does not depend on the programs of the machine.
$(test)/.tools $(sanitize)/.tools $(sanitize_threads)/.tools $(coverage)/.tools: pyproject.toml
	@$(make_venv)
	@$(@D)/bin/python $(install) build cmake ninja $$($(PYTHON) -c \
	    'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])')
	@touch $@

# Editable, from a kept build folder: after a change only the changed files are compiled.
install_editable = $(@D)/bin/python $(install) --no-build-isolation --constraint constraints.txt \
	--config-settings=build-dir=build/$(@D) --config-settings=cmake.define.TREETHINK_TESTING=ON \
	--config-settings=cmake.define.CMAKE_EXPORT_COMPILE_COMMANDS=ON --editable

$(test)/.installed: $(test)/.tools $(engine)
	@echo "Building the engine and installing the test environment ..."
	@$(install_editable) ".[test]"
	@touch $@

$(sanitize)/.installed: $(sanitize)/.tools $(engine)
	@echo "Building the engine with sanitizers ..."
	@$(install_editable) ".[test]" --config-settings=cmake.build-type=Debug \
	    --config-settings=cmake.define.TREETHINK_SANITIZE=ON
	@touch $@

$(sanitize_threads)/.installed: $(sanitize_threads)/.tools $(engine)
	@echo "Building the engine with the thread sanitizer ..."
	@$(install_editable) ".[test]" --config-settings=cmake.build-type=Debug \
	    --config-settings=cmake.define.TREETHINK_SANITIZE=thread
	@touch $@

$(coverage)/.installed: $(coverage)/.tools $(engine)
	@echo "Building the engine with coverage counters ..."
	@$(install_editable) ".[coverage]" --config-settings=cmake.define.TREETHINK_COVERAGE=ON
	@touch $@

define make_venv
set -e; $(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.12 ..." \
    if sys.version_info < (3, 11) else 0)'; \
echo "Making $(@D) ..."; $(PYTHON) -m venv $(@D)
endef
