# Everything runs in .venv, which `make install` creates. `make check` is exactly what CI runs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests in parallel; two workers suit a laptop as well as CI, and a thread each: threads of torch that
# wait for a busy core make a training ten times slower (docs/log.md).
WORKERS ?= 2

.PHONY: help install simulators rerun lerobot ray partners kernels demo docs docs-serve pictures test mutants lint types check bench package format clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "goalward needs Python 3.11 or newer; try make PYTHON=python3.12 install")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,offline]'
	touch $@

$(VENV)/simulators: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[sim,metaworld]'
	$(BIN)/python -m pip install --quiet --no-deps robosuite==1.5.2 metaworld==3.1.1
	touch $@

$(VENV)/rerun: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[rerun]'
	touch $@

$(VENV)/ray: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[ray]'
	touch $@

ray: $(VENV)/ray  ## add Ray, which `--on ray` needs

$(VENV)/partners: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[onnx,zmq,wandb]'
	touch $@

partners: $(VENV)/partners  ## add what `goalward monitor` and `--tracker wandb` need

# A folder of its own, and tests in a process of their own: beside the libraries of simulators, loading
# Triton has crashed Python (docs/log.md).
$(VENV)/kernels: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target $(VENV)/triton 'triton==3.9.0'
	touch $@

kernels: $(VENV)/kernels  ## test the kernels for CUDA without a GPU, by Triton's interpreter (1 GB)
	PYTHONPATH=$(VENV)/triton GOALWARD_REQUIRE_TRITON=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/training/networks/test_kernels.py src/goalward/training/networks/kernels

$(VENV)/docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $@

lerobot:  ## test against LeRobot itself, in an environment of its own (Python 3.12, several GB)
	python3.12 -m venv .venv-lerobot
	.venv-lerobot/bin/python -m pip install --quiet 'lerobot[dataset]' --editable '.[onnx,rerun]' pytest pytest-timeout hypothesis
	.venv-lerobot/bin/python -m pytest tests/monitor/test_lerobot_reward.py tests/exports/test_with_lerobot.py

rerun: $(VENV)/rerun  ## add rerun, which `goalward export --to rerun` needs

simulators: $(VENV)/simulators  ## add mujoco, robosuite and metaworld, which `goalward simulate` needs

install: $(VENV)/installed  ## create .venv and install goalward into it

demo: install  ## evaluate a policy on the rollouts that come with the package
	$(BIN)/goalward evaluate demo --out demo_run --encoder effnet-lite0

# The report that the gallery shows; a run that is there already is not made again.
build/gallery_run/report/index.html: | $(VENV)/installed
	$(BIN)/goalward evaluate demo --out build/gallery_run --encoder effnet-lite0 --effort quick

# NO_MKDOCS_2_WARNING: the makers' notice of another program is not about these pages.
docs: $(VENV)/docs build/gallery_run/report/index.html  ## build the site into build/site, which opens from disk
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@$(BIN)/python benchmarks/pictures.py
	@echo "open build/site/index.html"

pictures: install  ## make the pictures of the pages again that are older than what they show
	$(BIN)/python benchmarks/pictures.py --make

docs-serve: $(VENV)/docs build/gallery_run/report/index.html  ## show the site on 127.0.0.1:8000 and build it anew at every change
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve --dev-addr 127.0.0.1:8000

test: install  ## run all tests
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --tb=short

# A slice: what MINUTES allow. The next call goes on where this one stopped.
MINUTES ?= 55
mutants: install  ## plant faults one by one and see whether tests notice (ROOM=targets MINUTES=55)
	$(BIN)/python benchmarks/mutants.py $(ROOM) --minutes $(MINUTES) --workers $(WORKERS)

lint: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: install
	$(BIN)/pyright

check: lint types test  ## what CI runs: linters, types, tests

bench: install  ## measure decoding, inspection, training and embedding speed
	$(BIN)/python benchmarks/decode.py
	$(BIN)/python benchmarks/inspect_speed.py
	$(BIN)/python benchmarks/train_step.py --runs 1 5
	$(BIN)/python benchmarks/embed.py

# INTERPRETERS="python3.11 python3.12 python3.13": minutes each, as torch is installed anew.
INTERPRETERS ?= $(PYTHON)
package:  ## build wheel and source archive into dist/, install and try them in empty environments
	.ci/fresh_install.sh $(INTERPRETERS)

format: install  ## format the code and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## remove the environment and what tools left
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build/mutants demo_run
