"""The Python client: every method that a program may call."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

from api.adapters.langgraph import SubstrateStore
from api.adapters.llama_index import SubstrateMemoryBlock, SubstrateRetriever
from api.client import AsyncSubstrate, Substrate
from scripts.reference import markdown
from scripts.reference.document import openapi
from substrate_client import errors

SECTIONS = {
    "remember": "Memories",
    "relate": "Links",
    "apply": "Commands",
    "hear": "Conversations",
    "retrieve": "Asking",
    "quarantine": "Quarantine and retention",
    "revaluations": "What was learned",
    "imagine": "Looking ahead",
    "agreement": "Sharing",
    "perspectives": "The mind",
    "stream": "Streams",
    "associate": "Tags and identity",
    "receipt": "Receipts",
    "list_citizens": "Citizens",
    "list_collectives": "Collectives",
    "sweep": "Upkeep",
    "create_key": "Keys",
    "live": "Service",
}
"""The heading that stands before each of these methods."""
ABOUT = """\
`from substrate_client import Substrate, AsyncSubstrate`; `api.client` has the same two for programs in the
environment of the service, with `embedded` besides. Both have the methods below; those of `AsyncSubstrate` are
awaited. A method that takes a value also takes the fields of that value by name. `substrate_client._calls` names
them: an editor completes them, and a type checker finds a misspelt one. A field may have its short name: `text`,
`query`, `emotions`."""
FRAMEWORKS = """\
LlamaIndex: `from api.adapters.llama_index import SubstrateRetriever, SubstrateMemoryBlock`. LangGraph, with the
extra `langgraph`: `from api.adapters.langgraph import SubstrateStore`. Programs that use them are in
`examples/`."""


def page() -> str:
    makers = [_maker(Substrate, Substrate.__init__), _maker(AsyncSubstrate, AsyncSubstrate.__init__)]
    inside = _maker(Substrate.embedded, Substrate.embedded)
    ports = [_maker(kind, kind.__init__) for kind in (SubstrateRetriever, SubstrateStore)]
    frameworks = ("## Frameworks", FRAMEWORKS, *ports, f"`{_block()}`\n\n{_docstring(SubstrateMemoryBlock)}")
    tree = inspect.getdoc(errors) or ""
    return markdown.page(
        "Python", ABOUT, *makers, inside, *_methods(), *frameworks, "## Errors", f"```text\n{tree}\n```"
    )


def _block() -> str:
    fields = SubstrateMemoryBlock.__annotations__
    return f"SubstrateMemoryBlock({', '.join(f'{name}=…' for name in fields)})"


def _docstring(documented: Any) -> str:
    return markdown.paragraphs(inspect.getdoc(documented))


def _maker(documented: Any, called: Any) -> str:
    signature = str(inspect.signature(called)).replace("(self, ", "(").replace("'", "").split(" -> ")[0]
    return f"`{documented.__qualname__}{signature}`\n\n{_docstring(documented)}"


def _methods() -> Iterator[str]:
    named = {name: method for kind in AsyncSubstrate.__mro__[:-1] for name, method in vars(kind).items()}
    for name, method in named.items():
        if inspect.iscoroutinefunction(method) and not name.startswith("_"):
            if name in SECTIONS:
                yield f"## {SECTIONS[name]}"
            yield f"### {name}\n\n`{_signature(method)}`\n\n{_meaning(method)}"


def _signature(method: Any) -> str:
    signature = inspect.signature(method)
    parameters = [parameter for name, parameter in signature.parameters.items() if name != "self"]
    text = f"{method.__name__}{signature.replace(parameters=parameters)}".replace("'", "")
    return re.sub(r"Unpack\[(?:fields\.)?(\w+)\]", r"\1", text)


def _meaning(method: Any) -> str:
    """The docstring of the method, with links to the values that it takes and returns."""
    words = " ".join(map(str, inspect.get_annotations(method).values()))
    known = openapi()["components"]["schemas"]
    named = [name for name in dict.fromkeys(words.replace("|", " ").split()) if name in known]
    links = ", ".join(map(markdown.linked, named))
    return _docstring(method) + (f"\n\nValues: {links}." if links else "")
