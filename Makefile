# Two commands matter: `make demo` and `make test`. Both set up what they need.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SOURCES := setup.py pyproject.toml $(shell find src -name "_*_kernels.py" -o -name "*.pxd")

.PHONY: demo test docs lint dist test-dist test-scale test-oldest test-debug test-sanitize fuzz mutate \
    bench papers clean

demo: $(VENV)/.made
	$(BIN)/python -m costboost.demo

test: lint
	@command -v chromium >/dev/null || test -n "$$COSTBOOST_CHROMIUM" || \
	    echo "no chromium: tests of the live report in a browser are skipped (apt-get install chromium)"
	$(BIN)/python -m pytest

lint: $(VENV)/.built
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Rebuilt only when the kernels or the build recipe change. The demo needs no test tools, and few of
# the modules that pip would turn into bytecode.
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
$(VENV)/.made: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --no-compile -e ".[plot,pandas]"
	touch $@
# What the tests need beside the package, which is not built a second time. They start hundreds of
# processes: bytecode is made here by all cores, also where Python may write none.
EXTRA = $(BIN)/python -c 'import sys, tomllib; print(*tomllib.load(open("pyproject.toml", "rb")) \
    ["project"]["optional-dependencies"][sys.argv[1]])'
$(VENV)/.built: $(VENV)/.made
	$(PIP) --no-compile $$($(EXTRA) test)
	-$(BIN)/python -m compileall -q -j 0 $(VENV)/lib src papers
	touch $@

# The site, into build/docs: offline, and warnings are errors. Then every link inside it is checked,
# and pages are looked at in a browser where there is one.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -q -W --keep-going -j 2 -d build/doctrees docs build/docs
	$(BIN)/python -m pytest -n 0 -m "site or not site" tests/test_site.py
	@echo "build/docs/index.html"
$(VENV)/.docs: $(VENV)/.built
	$(PIP) --no-compile $$($(EXTRA) docs)
	touch $@

# Source distribution and wheel, built in isolation, the wheel from the unpacked source.
dist: $(VENV)/.made
	$(PIP) --no-compile "build>=1.2" "twine>=6"
	rm -rf dist
	$(BIN)/python -m build .
	$(BIN)/python -m twine check --strict dist/*

# What was built: its contents, and that it installs, runs and tests itself with nothing but what it
# requires, with and without a compiler. CHECKS="not declarations and not from_the_source" leaves out
# what takes longest.
CHECKS ?= dist
test-dist: $(VENV)/.built dist
	$(BIN)/python -m pytest -n 0 -m dist -k "$(CHECKS)" tests/test_distribution.py

# What takes long on clusters: workers that are killed, many parts.
test-scale: $(VENV)/.built
	$(BIN)/python -m pytest -n 0 -m scale tests

# The oldest versions that pyproject.toml allows.
test-oldest:
	test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check \
	    -r tests/oldest.txt .
	.venv-oldest/bin/python -m pytest tests

# The same tests with bounds checking on in the compiled kernels.
test-debug:
	test -x .venv-debug/bin/python || $(PYTHON) -m venv .venv-debug
	COSTBOOST_DEBUG=1 .venv-debug/bin/python -m pip install --quiet \
	    --disable-pip-version-check --no-cache-dir ".[test]"
	.venv-debug/bin/python -m pytest tests

# The kernels under AddressSanitizer and UBSan (gcc), by the tests that reach them and a fuzz of the
# public interface. Any report ends the run. Leaks are Python's own; its small blocks are malloc's
# here, so that they are watched too.
SANITIZED := tests/binning tests/shards tests/trees tests/boosting tests/explain/test_shap_kernels.py \
    tests/estimators/gradient/test_gradient.py tests/inputs/test_arrays_outside.py tests/test_fuzz.py
FUZZ ?= 3000
SANITIZE_ENV = LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
    PYTHONMALLOC=malloc OPENBLAS_NUM_THREADS=1
test-sanitize:
	test -x .venv-sanitize/bin/python || $(PYTHON) -m venv .venv-sanitize
	COSTBOOST_SANITIZE=1 .venv-sanitize/bin/python -m pip install --quiet \
	    --disable-pip-version-check --no-cache-dir ".[test]"
	grep -q __asan_report .venv-sanitize/lib/*/site-packages/costboost/trees/_forest_kernels*.so
	$(SANITIZE_ENV) COSTBOOST_FUZZ=$(FUZZ) .venv-sanitize/bin/python -m pytest \
	    -p no:faulthandler $(SANITIZED)

# Changed model files, 100,000 of them: the right model or one error, and nothing else.
fuzz: $(VENV)/.built
	$(BIN)/python tests/helpers/fuzzing.py 100000

# Change single places of the code and see whether the tests notice.
mutate: $(VENV)/.built
	$(BIN)/python tests/mutate.py

bench: $(VENV)/.built
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/predict.py
	$(BIN)/python benchmarks/explain.py
	$(BIN)/python benchmarks/family.py
	$(BIN)/python benchmarks/multiclass.py
	$(BIN)/python benchmarks/cost.py
	$(BIN)/python benchmarks/deploy.py
	$(BIN)/python benchmarks/capacity.py

# What the papers claim, computed again, in its small forms. `make papers QUICK=` is the papers' own
# protocols, which takes hours; `make papers PAPERS=cai` is one of them.
PAPERS ?= properties lecture cai fan questions nikolaou lozano-abe
QUICK ?= --quick
papers: $(VENV)/.built
	for name in $(PAPERS); do $(BIN)/python -m papers $$name $(QUICK) || exit 1; done

clean:
	rm -rf build dist .venv .venv-oldest .venv-debug .venv-sanitize src/*.egg-info
	find src -name '*.so' -delete -o -name '__pycache__' -prune -exec rm -rf {} +
