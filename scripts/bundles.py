"""Writes what hosts install by one click: the plugin folder of Claude Code, and the `.mcpb` bundle of desktops.

`python -m scripts.bundles DIRECTORY` makes `DIRECTORY/claude-code` (a marketplace with one plugin) and
`DIRECTORY/substrate.mcpb` of `deploy/hosts`. The plugin has the hook, the bundle the list of the tools.
"""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from pathlib import Path

from api.cli.hosts.host_files import PROGRAMS
from api.mcp.tools import choose_tools

SOURCE = Path(__file__).parents[1] / "deploy" / "hosts"


def write_bundles(directory: Path) -> None:
    """Write both into the directory; what was there of them is replaced."""
    plugin = directory / "claude-code"
    shutil.rmtree(plugin, ignore_errors=True)
    shutil.copytree(SOURCE / "claude-code", plugin)
    shutil.copy(PROGRAMS / "hook.py", plugin / "substrate" / "hooks" / "hook.py")
    manifest = json.loads((SOURCE / "mcpb" / "manifest.json").read_text())
    manifest["tools"] = [{"name": tool.name, "description": tool.description} for tool in choose_tools(())]
    with zipfile.ZipFile(directory / "substrate.mcpb", "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("manifest.json", json.dumps(manifest, indent=2))
        bundle.write(SOURCE / "mcpb" / "server" / "main.py", "server/main.py")


if __name__ == "__main__":
    write_bundles(Path(sys.argv[1]))
