"""What hosts install by one click is whole: the plugin of Claude Code, and the bundle of desktops."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

from api.cli.hosts import table
from api.mcp.tools import choose_tools
from scripts.bundles import write_bundles


def test_the_plugin_has_a_marketplace_its_hooks_and_the_program_that_they_call(tmp_path: Path) -> None:
    write_bundles(tmp_path)
    write_bundles(tmp_path)
    folder = tmp_path / "claude-code"
    [listed] = json.loads((folder / ".claude-plugin/marketplace.json").read_text())["plugins"]
    plugin = folder / listed["source"]
    assert json.loads((plugin / ".claude-plugin/plugin.json").read_text())["name"] == listed["name"]
    hooks = json.loads((plugin / "hooks/hooks.json").read_text())["hooks"]
    assert tuple(hooks) == table.EVENTS
    for groups in hooks.values():
        [[call]] = [group["hooks"] for group in groups]
        program = call["command"].split('"')[1].replace("${CLAUDE_PLUGIN_ROOT}", str(plugin))
        compile(Path(program).read_text(), program, "exec")
    servers = json.loads((plugin / ".mcp.json").read_text())["mcpServers"]
    assert table.is_ours(servers["substrate"])


def test_the_bundle_has_what_its_manifest_names(tmp_path: Path) -> None:
    write_bundles(tmp_path)
    with zipfile.ZipFile(tmp_path / "substrate.mcpb") as bundle:
        manifest = json.loads(bundle.read("manifest.json"))
        assert manifest["server"]["entry_point"] in bundle.namelist()
        compile(bundle.read(manifest["server"]["entry_point"]), "main.py", "exec")
    assert {"manifest_version", "name", "version", "description", "author", "server"} <= manifest.keys()
    assert [tool["name"] for tool in manifest["tools"]] == [tool.name for tool in choose_tools(())]
    asked = json.dumps(manifest["server"])
    for name, field in manifest["user_config"].items():
        assert f"${{user_config.{name}}}" in asked
        assert {"type", "title", "description"} <= field.keys()


def test_the_list_for_models_names_every_page_of_the_documentation() -> None:
    docs = Path(__file__).parents[3] / "docs"
    named = re.findall(r"\]\(([^)]+)\)", (docs / "llms.txt").read_text())
    assert sorted(named) == sorted(page.name for page in docs.glob("*.md"))
