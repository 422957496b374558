"""The audits, each run once for all tests that ask for it."""

from functools import cache

from membill.audit import results

of_op = cache(results.of_op)
of_module = cache(results.of_module)
