# Everything here works on a fresh clone with python3 (3.11 or newer), a C++20 compiler and make.
#
#   make demo       learn the maze, and show the rules that were learned
#   make test       lint, types and all tests
#   make bench      how fast every path runs
#   make prolog-test   whether exported rules answer alike in swipl, which must be installed
#   make sanitize   the engine's tests with assertions, address and undefined-behaviour sanitizers
#   make format     put Python and C++ into our format
#   make docs       the site, in build/site
#   make wheel      dist/*.whl
#   make sdist      dist/*.tar.gz
#   make clean      remove everything that the above made

PYTHON ?= python3
MAKEFLAGS += --no-print-directory

# .venv is a plain install, as a user's would be; the other two are developed in.
demo := .venv
test := .venv-test
sanitize := .venv-sanitize

pip := -m pip -qq --disable-pip-version-check
cpp := $(shell find cpp -name '*.cpp' -o -name '*.hpp')
engine := pyproject.toml CMakeLists.txt $(shell find cpp -type d) $(cpp)
package := $(shell find src -name '*.py' -o -name '*.toml' -o -name '*.txt')
# Benchmarks and their plugin want a core for themselves; tests do not.
on_all_cores := -n auto --dist worksteal -p no:benchmark

.PHONY: demo test lint bench prolog-test sanitize format docs wheel sdist clean

demo: $(demo)/.installed
	@$(demo)/bin/treethink learn maze
	@echo
	@echo "treethink is installed in $(demo); to type the above:  . $(demo)/bin/activate"

test: lint
	@$(test)/bin/python -m pytest $(on_all_cores)

lint: $(test)/.installed
	@echo "lint and types ..."
	@$(test)/bin/ruff check --quiet .
	@$(test)/bin/ruff format --check --quiet .
	@$(test)/bin/mypy

# The flags of each file are in the build folder of the test environment.
.PHONY: tidy
tidy: $(test)/.installed
	@echo "clang-tidy ..."
	@$(test)/bin/cmake -S . -B build/$(test) -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
	@find cpp -name '*.cpp' -not -path 'cpp/bindings/*' | \
	    xargs -P "$$(nproc 2>/dev/null || echo 2)" -n 1 $(test)/bin/clang-tidy --quiet -p build/$(test) \
	    --header-filter='/cpp/.*[.]hpp$$' 2>/dev/null

bench: $(test)/.installed
	@$(test)/bin/treethink bench
	@$(test)/bin/python -m pytest benchmarks --benchmark-only --benchmark-group-by=group

# The ordinary tests prove the clauses with an interpreter of their own.
prolog-test: $(test)/.installed
	@command -v swipl >/dev/null || { echo "swipl is not installed (Debian: apt install swi-prolog-nox)"; exit 1; }
	@swipl --version
	@$(test)/bin/python -m pytest -p no:benchmark tests/swi_prolog.py

# The sanitizers' runtime must be in the process before anything else is. Python frees some of
# its memory never, which is not our leak. Their reports go past pytest, to the screen.
sanitize: $(sanitize)/.installed
	@LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc \
	    $(sanitize)/bin/python -m pytest $(on_all_cores) --capture=sys tests

format: $(test)/.installed
	@$(test)/bin/ruff check --fix --quiet . ; $(test)/bin/ruff format .
	@$(test)/bin/python $(pip) install clang-format
	@$(test)/bin/clang-format -i $(cpp)

# The names of the engine come from the stub that a build leaves beside the sources.
docs: $(test)/.installed
	@$(test)/bin/python $(pip) install $$($(PYTHON) -c 'import tomllib; \
	    print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"])')
	@NO_MKDOCS_2_WARNING=1 $(test)/bin/mkdocs build --quiet --strict
	@echo "the site is build/site/index.html"

wheel sdist: $(test)/.tools
	@echo "building a $@ ..."
	@$(test)/bin/python -m build --$@ --outdir dist . >/dev/null
	@ls dist

clean:
	rm -rf .venv .venv-* build dist .benchmarks .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -f src/treethink/_engine.pyi
	find . -name __pycache__ -prune -exec rm -rf {} +

# A plain install holds a copy of the Python sources too, so it follows them.
$(demo)/.installed: $(engine) $(package)
	@$(make_venv)
	@echo "building the engine (a minute or two, once) ..."
	@$(@D)/bin/python $(pip) install .
	@touch $@

# What a build needs is said once, in pyproject.toml. cmake and ninja come from pip, so that a
# kept build folder does not depend on what else the machine has.
$(test)/.tools $(sanitize)/.tools: pyproject.toml
	@$(make_venv)
	@$(@D)/bin/python $(pip) install build cmake ninja $$($(PYTHON) -c \
	    'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])')
	@touch $@

# Editable, from a kept build folder: after a change only what changed is compiled.
install_editable = $(@D)/bin/python $(pip) install --no-build-isolation --editable ".[test]" \
	--constraint constraints.txt \
	--config-settings=build-dir=build/$(@D) --config-settings=cmake.define.TREETHINK_TESTING=ON

$(test)/.installed: $(test)/.tools $(engine)
	@echo "building the engine ..."
	@$(install_editable)
	@touch $@

$(sanitize)/.installed: $(sanitize)/.tools $(engine)
	@echo "building the engine with sanitizers ..."
	@$(install_editable) --config-settings=cmake.build-type=Debug \
	    --config-settings=cmake.define.TREETHINK_SANITIZE=ON
	@touch $@

define make_venv
set -e; $(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.12 ..." \
    if sys.version_info < (3, 11) else 0)'; \
echo "making $(@D) ..."; $(PYTHON) -m venv $(@D)
endef
