"""A group of commands whose errors name the nearest right name."""

from __future__ import annotations

import click

from membill.errors import unknown


class Commands(click.Group):
    """Commands by name."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The command; InputError with the nearest name if there is none."""
        if cmd_name not in self.commands:
            raise unknown("command", cmd_name, self.commands)
        return self.commands[cmd_name]
