# Few verbs; `make help` lists them. Everything lands in .venv and .cache of this folder and in the lab's own folders.
SHELL := /bin/sh
UV := .cache/uv/bin/uv
PYTHON := .venv/bin/python
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# each program would compile Ansible and its libraries for itself
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help

help: ## list the verbs
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 16

tools: .venv/.synced ## the controller's environment, as pinned in requirements.lock

lab: tools ## start the lab, build the whole site in it and run a job through the gate
	$(PYTHON) lab/lab requirements --install
	$(PYTHON) -m lab.demo

lab-down: tools ## stop the lab; nothing of it is left
	$(PYTHON) lab/lab down

check: tools ## for daily work: lint, types, unit tests, conformance; minutes, and nothing boots
	$(PYTHON) -m tests.run check

test: tools ## lint, types, tests, the lab's tests, molecule; PARTS="lint unit" runs some of them
	$(PYTHON) -m tests.run $(PARTS)

nightly: tools ## what is slow and seldom red, one part after the other: hours; tests/nightly.yml says how it ended
	$(PYTHON) -m tests.run nightly

old-python: tools ## node-side code and its tests on Python 3.9, the oldest that managed nodes may have
	$(PYTHON) -m tests.old_python

mutants: tools ## plant known defects one by one, each must turn its test red
	$(PYTHON) -m tests.mutants $(NAMES)

bench: tools ## count what the site costs per host, on a running lab
	$(PYTHON) -m bench.results

nodes: tools ## boot 16 nodes, build them, and measure what one costs a run that changes nothing
	$(PYTHON) -m bench.nodes

chaos: tools ## cut runs of the site off at seeded points, and see that the next ones mend it; SEEDS="3 22" repeats some
	$(PYTHON) lab/lab requirements --install
	$(PYTHON) -m tests.chaos $(SEEDS)

isolation: tools ## boot a node with a kernel of its own, build it with production's defaults, and see its jobs and pods confined
	LAB_SITE=isolation $(PYTHON) lab/lab requirements --install
	$(PYTHON) -m tests.isolation

rxe: tools ## run a proof's worker with perftest between two virtual machines with rdma_rxe, and look at the packets
	LAB_SITE=isolation $(PYTHON) lab/lab requirements --install
	$(PYTHON) -m tests.rxe

dcb: tools ## build a driver of test ports, boot it in a virtual machine, and set their QoS with the kernel's dcb
	LAB_SITE=isolation $(PYTHON) lab/lab requirements --install
	$(PYTHON) -m tests.dcb

gpu: tools ## as root on a machine with an NVIDIA GPU: read it as nodes do, and run jobs of a real slurmd on it; no mode changes
	$(PYTHON) -m tests.gpu --look
	$(PYTHON) lab/lab requirements --install
	$(PYTHON) -m tests.gpu

explore: tools ## run the gate's code in a model of Slurm and Kubernetes, under 10,000 schedules of faults
	$(PYTHON) -m tests.explorer

dashboards: .cache/dashboards/.synced ## write the dashboards of examples/grafana, their pictures, and the page of questions
	PYTHONPATH=. .cache/dashboards/bin/python -m docs.dashboards.write

docs: tools ## write what is derived from code
	PYTHONPATH=collections:. $(PYTHON) docs/generate.py

changelog: tools ## write CHANGELOG.md as the next release will have it; the fragments stay
	rm -rf build/changelog && mkdir -p build/changelog && cp -r changelogs galaxy.yml build/changelog
	cd build/changelog && antsibull-changelog release --version "$$(sed -n 's/^version: //p' galaxy.yml)"
	cp build/changelog/CHANGELOG.md CHANGELOG.md

golden: tools ## write anew what runs place at the example sites (tests/golden)
	$(PYTHON) -m tests.golden

lock: $(UV) ## pin anew: requirements.lock from pyproject.toml
	$(UV) pip compile --quiet --universal --generate-hashes --python-version 3.12 --no-header \
	  --group lab --group test --group lint pyproject.toml --upgrade --output-file requirements.lock
	echo uv | $(UV) pip compile --quiet --generate-hashes --python-version 3.9 --no-annotate --no-header --upgrade \
	  - --output-file .config/uv-requirements.lock
	$(UV) pip compile --quiet --universal --generate-hashes --python-version 3.12 --no-annotate --no-header --upgrade \
	  meta/ee-requirements.txt .config/ee-requirements.in --output-file .config/ee-requirements.lock
	$(UV) pip compile --quiet --generate-hashes --python-version 3.9 --no-annotate --no-header --upgrade \
	  tests/old_python/requirements.in --output-file tests/old_python/requirements.lock
	$(UV) pip compile --quiet --generate-hashes --no-deps --python-version 3.12 --no-annotate --no-header --upgrade \
	  tests/old_ansible/requirements.in --output-file tests/old_ansible/requirements.lock
	$(UV) pip compile --quiet --universal --generate-hashes --python-version 3.12 --no-annotate --no-header --upgrade \
	  .config/dashboards-requirements.in --output-file .config/dashboards-requirements.lock

# uv lives in a virtualenv of its own, so that nothing is asked of the machine but a Python with venv
$(UV): .config/uv-requirements.lock
	@mkdir -p .cache
	@python3 -m venv .cache/uv || { rm -rf .cache/uv; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -q && apt-get install -qy python3-venv && python3 -m venv .cache/uv; \
	  else echo "python3 has no venv module; install it: sudo apt-get install python3-venv" >&2; exit 1; fi; }
	@.cache/uv/bin/pip install --quiet --disable-pip-version-check --require-hashes -r .config/uv-requirements.lock
	@touch $@

.venv/.synced: requirements.lock .python-version $(UV)
	@test -x $(PYTHON) || $(UV) venv --quiet .venv
	@$(UV) pip sync --quiet --require-hashes --python $(PYTHON) requirements.lock
	@touch $@

# Grafana's SDK and matplotlib, which neither sites nor tests need
.cache/dashboards/.synced: .config/dashboards-requirements.lock .python-version $(UV)
	@test -x .cache/dashboards/bin/python || $(UV) venv --quiet .cache/dashboards
	@$(UV) pip sync --quiet --require-hashes --python .cache/dashboards/bin/python .config/dashboards-requirements.lock
	@touch $@

.PHONY: help tools lab lab-down check test nightly old-python mutants bench nodes chaos isolation rxe dcb gpu explore dashboards docs changelog golden lock
