"""Node as a calculator: one process that evaluates source after source."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

SERVER = """
const lines = require("node:readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { code, values } = JSON.parse(line);
  const names = Object.keys(values);
  let answer;
  try {
    const run = new Function(...names, `"use strict"; return ${code};`);
    answer = { value: run(...names.map((name) => BigInt(values[name]))).toString() };
  } catch (error) {
    answer = { error: String(error) };
  }
  console.log(JSON.stringify(answer));
});
"""


@dataclass(frozen=True)
class Node:
    process: subprocess.Popen[str]

    @classmethod
    @contextmanager
    def started(cls) -> Iterator["Node"]:
        """Start Node; without one, the test is skipped, or fails where CI is set."""
        path = shutil.which("node")
        if path is None:
            report = pytest.fail if os.environ.get("CI") else pytest.skip
            report("node is not installed, so JavaScript cannot be compared")
        with subprocess.Popen(
            [path, "-e", SERVER], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            yield cls(process)
            assert process.stdin is not None
            process.stdin.close()

    def evaluate(self, code: str, values: Mapping[str, int]) -> int:
        """The BigInt that `code` gives, as an int."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        given = {name: str(value) for name, value in values.items()}
        stdin.write(json.dumps({"code": code, "values": given}) + "\n")
        stdin.flush()
        answer = json.loads(stdout.readline())
        assert "error" not in answer, f"{answer['error']} in {code}"
        return int(answer["value"])
