# `make book` and `make test` are all a reader needs; both create the environment first.

# The first Python that TensorFlow has wheels for; another one: `make book PYTHON=python3.12`.
SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c "$(SUPPORTED)" 2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
# Where `make assignments` creates the course. `make clean` removes the default, but not COURSE=../course.
COURSE ?= _build/assignments

.PHONY: help book test test-fast lint site pdf slides notebooks lab assignments bench env lock clean

help:
	@echo "make book         run every notebook and build the site in _build/html"
	@echo "make test         run all tests"
	@echo "make test-fast    run the tests that take about three minutes together"
	@echo "make lint         check style, layout, types and imports of the code"
	@echo "make site         build the site from the committed outputs, without running anything"
	@echo "make slides       build the slides of the course in _build/slides"
	@echo "make pdf          print the site as one PDF, _build/gap.pdf; needs Chromium or Chrome"
	@echo "make notebooks    re-execute the committed notebooks and write them back, normalized"
	@echo "make lab          open the notebooks in JupyterLab"
	@echo "make assignments  create an nbgrader course in _build/assignments, or in COURSE=folder"
	@echo "make bench        measure run times, together with the quality reached"
	@echo "make env          create .venv from requirements.lock"
	@echo "make lock         update requirements.lock and environment.yml from pyproject.toml"
	@echo "make clean        remove .venv and everything built"

book: env
	$(BIN)/python tools/build_site.py --execute

test: env
	$(BIN)/python -m pytest -n 2

test-fast: env
	$(BIN)/python -m pytest -n 2 -m "not slow" tests

lint: env
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

site: env
	$(BIN)/python tools/build_site.py

slides: env
	$(BIN)/python tools/slides.py

pdf: site
	$(BIN)/python tools/build_pdf.py

notebooks: env
	$(BIN)/python tools/notebooks.py

lab: env
	$(BIN)/jupyter lab notebooks

assignments: env
	$(BIN)/python tools/assignments.py "$(COURSE)"

bench: env
	$(BIN)/python benchmarks/binary_solvers.py
	$(BIN)/python benchmarks/gaussian_solvers.py
	$(BIN)/python benchmarks/transport.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/networks.py
	$(BIN)/python benchmarks/sweeps.py
	$(BIN)/python benchmarks/speeds.py

env: .venv/complete

# pip refuses an editable project beside hashes, hence two steps. The second needs no network: the lock has what
# builds the project.
.venv/complete: requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "No Python 3.11, 3.12 or 3.13 found; set one: make book PYTHON=/path/to/python"; exit 1; }
	@"$(PYTHON)" -c "$(SUPPORTED)" || { echo "$(PYTHON) is not Python 3.11, 3.12 or 3.13"; exit 1; }
	"$(PYTHON)" -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

# One version of each package for all supported Pythons; no host names in the file. Extras stay: without them pip does
# not see that what an extra asks for is pinned, if it is not the newest.
lock: env
	$(BIN)/uv pip compile pyproject.toml --quiet --upgrade --all-extras --no-strip-extras --universal --python-version 3.11 \
		--fork-strategy fewest --generate-hashes --no-header --no-emit-index-url --no-emit-find-links -o requirements.lock
	$(BIN)/python tools/conda_environment.py

clean:
	rm -rf _build .venv .pytest_cache .hypothesis .mypy_cache .ruff_cache gaplib.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
