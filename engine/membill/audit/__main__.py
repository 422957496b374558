"""`python -m membill.audit`: run every audit; write the results, or compare them with a file."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from membill.audit.requirements import require_torch
from membill.errors import MembillError

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.option("--write", type=FILE, help="Write the results to this file.")
@click.option("--check", type=FILE, help="Compare the results with this file, the date apart.")
def main(write: Path | None, check: Path | None) -> None:
    """Audit every op and layer against PyTorch. Exit status 1 if anything differs."""
    try:
        wrong = audited(write, check)
    except MembillError as error:
        click.echo(f"membill: {error}", err=True)
        sys.exit(2)
    sys.exit(1 if wrong else 0)


def audited(write: Path | None, check: Path | None) -> bool:
    """Run, print what differs and a summary; whether anything does."""
    require_torch()
    from membill.audit import outcome, results

    before = None if check is None else results.read(check)
    found = outcome.everything()
    wrong = found.wrong
    if before is not None:
        wrong += results.differences(before, found.results)
    click.echo("\n".join((*wrong, found.results.summary())))
    if write is not None and not wrong:
        write.write_text(results.as_text(found.results), encoding="utf-8")
    return bool(wrong)


if __name__ == "__main__":
    main()
