# The only entry points. What they do is in scripts/ and xtask/.

.PHONY: help run dev test check bench faults clean
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## the shop with demo sales; installs what is missing, starts private stores, builds, serves
	@scripts/run

dev: ## the same in development: rebuilds and restarts on every change
	@scripts/run --watch

test: ## everything: lints, Rust tests, browser tests, on real stores
	@scripts/setup test
	@scripts/check
	@scripts/with-stores target/test-stores scripts/test

check: ## formatting, lints, rules of the source tree
	@scripts/setup test
	@scripts/check

bench: ## measures; QUICK=1 for a short run, ARGS='…' for the bench's own arguments, e.g. ARGS=--help
	@scripts/setup run
	@cargo build --quiet --release --package server
	@scripts/with-stores target/bench-stores cargo run --quiet --release --package bench --bin bench -- $(if $(QUICK),--quick) $(ARGS)

faults: ## breaks the running system in every way and judges; QUICK=1 for the short set, ARGS='--seed 7 --only K53'
	@scripts/setup test
	@scripts/faults $(if $(QUICK),--quick) $(ARGS)

clean: ## removes what was built; the data in .data stays
	@scripts/stores stop
	@rm -rf target end2end/node_modules xtask/tools/node_modules
