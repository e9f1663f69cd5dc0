"""Schemas of the tools: short, still true, and narrowed to the citizen of the server."""

from __future__ import annotations

from typing import Any

import pytest

from api.mcp.tool import Tool
from api.mcp.tool_schemas import CITIZEN, CitizenScope, answer_schema, argument_schema, single_citizen_scope
from api.mcp.tools import TOOLS, choose_tools, split_names
from schemas.errors import InvalidRequest

tools = pytest.mark.parametrize("tool", TOOLS, ids=[tool.name for tool in TOOLS])


def keywords(schema: Any) -> set[str]:
    """Every keyword of a schema, but the names of its properties."""
    if isinstance(schema, list):
        return set().union(*map(keywords, schema))
    if not isinstance(schema, dict):
        return set()
    inner = [value for name, value in schema.items() if name != "properties"]
    parts = [*inner, *schema.get("properties", {}).values()]
    return set(schema).union(*map(keywords, parts))


@tools
def test_a_schema_has_no_references_titles_or_patterns(tool: Tool) -> None:
    for schema in (argument_schema(tool.arguments), answer_schema(tool.answer)):
        assert not keywords(schema) & {"$ref", "$defs", "title", "pattern", "propertyNames"}


@tools
def test_a_schema_names_and_requires_the_fields_of_its_arguments(tool: Tool) -> None:
    schema, fields = argument_schema(tool.arguments), tool.arguments.model_fields
    assert set(schema["properties"]) == set(fields)
    assert set(schema["required"]) == {name for name, field in fields.items() if field.is_required()}


@tools
def test_a_server_for_one_citizen_alone_takes_no_other(tool: Tool) -> None:
    schema = argument_schema(tool.arguments)
    optional = CitizenScope("ada").narrow(schema)
    assert CITIZEN in optional["properties"]
    assert CITIZEN not in optional["required"]
    alone = CitizenScope("ada", alone=True).narrow(schema)
    assert CITIZEN not in alone["properties"]
    assert CitizenScope().narrow(schema) == schema


def test_six_tools_are_usual_and_others_are_chosen_by_name() -> None:
    assert len(choose_tools(())) == 6
    assert [tool.name for tool in choose_tools({"undo", "recall"}) if tool.extra] == ["undo"]
    assert choose_tools({"all"}) == TOOLS
    assert split_names(" undo,, resolve ,") == {"undo", "resolve"}
    with pytest.raises(InvalidRequest, match="there is no tool forget, undoo"):
        choose_tools({"undoo", "forget", "undo"})


def test_the_citizen_of_the_server_is_filled_in_where_it_is_left_out() -> None:
    assert CitizenScope("ada").complete({"query": "sea"}) == {CITIZEN: "ada", "query": "sea"}
    assert CitizenScope("ada").complete({CITIZEN: "bo"}) == {CITIZEN: "bo"}
    assert CitizenScope().complete({"query": "sea"}) == {"query": "sea"}
    with pytest.raises(InvalidRequest, match="for ada alone"):
        CitizenScope("ada", alone=True).complete({CITIZEN: "bo"})


def test_an_invalid_citizen_is_refused_by_the_name_of_its_option() -> None:
    assert single_citizen_scope("ada", "--citizen") == CitizenScope("ada", alone=True)
    with pytest.raises(InvalidRequest, match="--citizen: a citizen id has"):
        single_citizen_scope("a/b", "--citizen")
