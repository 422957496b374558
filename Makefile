# make site    set up, derive everything, build the site into build/site
# make test    set up, run the tests
# make check   lint, format and types
# make audit   compare every op and layer with PyTorch (installs torch)
# make serve   the site at http://127.0.0.1:8000, rebuilt on change
# make results write the audit's results anew after a spec changed on purpose
# make golden  write the golden files anew after a spec changed on purpose

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: site test check audit results serve golden clean

site: $(VENV)/with-site
	$(BIN)/membill site build

serve: $(VENV)/with-site
	$(BIN)/membill site serve

test: $(VENV)/with-site $(VENV)/with-test
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile

check: $(VENV)/with-check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy engine/membill specs/membill_specs

audit: $(VENV)/with-test $(VENV)/with-audit
	$(BIN)/python -m pytest tests/audit

results: $(VENV)/with-audit
	$(BIN)/python -m membill.audit --write specs/membill_specs/audit_results.json

golden: $(VENV)/with-site $(VENV)/with-test
	$(BIN)/python -m pytest tests/test_golden.py --update-golden

$(VENV)/with-%: pyproject.toml | $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	touch $@

$(VENV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Membill needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) build site/docs/reference
