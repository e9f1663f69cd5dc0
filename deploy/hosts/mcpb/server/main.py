"""Becomes `substrate mcp` for the citizen that it is given; a field that was left empty says nothing."""

import os
import shutil
import sys

surroundings = {name: value for name, value in os.environ.items() if value}  # noqa: TID251
if (command := shutil.which("substrate")) is None:
    sys.exit("`substrate` is not installed: pipx install consciousness-substrate")
os.execve(command, [command, "mcp", "--citizen", sys.argv[1]], surroundings)
