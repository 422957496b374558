"""The command line: `membill list`, `show`, `eval` and the other commands, by name."""

from __future__ import annotations

import signal
import sys
from importlib import import_module
from typing import Any

import click

import membill
from membill.errors import MembillError, unknown

# Imported when they are asked for: `show` need not wait for what only `audit` uses.
COMMANDS = {
    "audit": "membill.audit.command:audit",
    "bill": "membill.cli.bill:command",
    "cache": "membill.cli.cache:command",
    "eval": "membill.cli.evaluate:evaluate",
    "fit": "membill.cli.fit:command",
    "frontier": "membill.cli.frontier:command",
    "list": "membill.cli.listing:listing",
    "new": "membill.cli.new:new",
    "pipeline": "membill.cli.pipeline:command",
    "show": "membill.cli.show:show",
    "site": "membill.cli.site:site",
    "solve": "membill.cli.solve:command",
    "states": "membill.cli.states:states",
}


class Program(click.Group):
    """Reports everything that is wrong with the input as `membill: ...`, exit status 2."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The command; InputError with the nearest name if there is none."""
        if cmd_name not in COMMANDS:
            raise unknown("command", cmd_name, COMMANDS)
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run, and leave the process with the exit status."""
        try:
            status = super().main(*args, **{**extra, "standalone_mode": False})
        except click.Abort:
            status = 130
        except click.exceptions.NoArgsIsHelpError as error:
            error.show(sys.stdout)
            status = 0
        except (MembillError, click.ClickException) as error:
            click.echo(f"membill: {_message(error)}", err=True)
            status = 2
        sys.exit(status if isinstance(status, int) else 0)


def _message(error: MembillError | click.ClickException) -> str:
    if isinstance(error, MembillError):
        # The engine speaks of its keyword arguments; here they are options.
        return str(error).replace("specialise=False", "--general")
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        params = error.ctx.command.get_params(error.ctx)
        options = [name for param in params for name in (*param.opts, *param.secondary_opts)]
        return str(unknown("option", error.option_name, options))
    return error.format_message()


@click.group(
    "membill",
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(membill.__version__, prog_name="membill", message="%(prog)s %(version)s")
def program() -> None:
    """Where every byte of training memory comes from, as formulas.

    LAYER is the name of a layer (see `membill list`) or the path of a spec file of your own:
    ./mine.py, or ./mine.py:name if it holds several.
    """


def main() -> None:
    """The entry point of the process: UTF-8 out, and quiet when a pipe is closed early."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    program(prog_name="membill")


__all__ = ["main", "program"]
