"""The tools of the Model Context Protocol."""

from __future__ import annotations

from api.mcp.server import FOCUS_URI
from api.mcp.tool import Tool
from api.mcp.tools import TOOLS
from scripts.reference import markdown

ABOUT = """\
Made from the list of tools that an agent receives. How to connect an agent: [Model Context
Protocol](../mcp.md)."""


def page() -> str:
    resource = f"## Resource\n\n`{FOCUS_URI}`: the memories that are in the focus of a citizen now."
    return markdown.page("MCP tools", ABOUT, *map(_tool, TOOLS), resource)


def _tool(tool: Tool) -> str:
    hint = "Changes nothing." if tool.read_only else "Ends a belief." if tool.destructive else "Ends nothing."
    hint += " Offered where it is chosen." if tool.extra else ""
    schema = tool.arguments.model_json_schema()
    return "\n\n".join((f"## {tool.name}", f"{tool.description} {hint}", markdown.fields(schema)))
