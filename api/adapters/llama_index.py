"""A retriever and an agent memory block for LlamaIndex, on the sync or the async client.

Needs the extra `consciousness-substrate[llama-index]`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from pydantic import Field, InstanceOf

from api.adapters.fitting import FittedText, fit_query, split_text
from api.client import AsyncSubstrate, Substrate
from orchestration.assembly.budget import Budget, stems_of
from orchestration.assembly.compact import tell
from orchestration.assembly.stream import is_bare
from schemas.errors import InvalidRequest
from schemas.memory import ConsciousnessNode
from schemas.stream import ConsciousnessStream
from substrate.inference import tokens
from substrate.inference.providers import missing

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ModuleNotFoundError as error:
    raise missing("llama-index", error) from error

_SPEAKING_ROLES: Final = (MessageRole.USER, MessageRole.ASSISTANT)
TEXT_PARTS: Final = ["activation_tiers", "traversal_graph", "resolution_patterns", "rules"]
"""What the text of the memory block is made of."""
type Client = Substrate | AsyncSubstrate


class SubstrateRetriever(BaseRetriever):
    """Retrieves a citizen's memories for a query, most active first; the metadata contain the whole record.

    `options` are further arguments of the client's `retrieve`: `temporal_mode`, `max_tokens`, …. With an
    `AsyncSubstrate` only `aretrieve` works. A query that is too long is cut, and `asked` in the metadata says so.
    Sessions are left out, and so are persons of whom only the name is known.
    """

    def __init__(self, client: Client, citizen_id: str, **options: Any) -> None:
        self._client, self._citizen_id, self._options = client, citizen_id, options
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if isinstance(self._client, AsyncSubstrate):
            raise InvalidRequest(
                "retrieve cannot wait for an AsyncSubstrate: call aretrieve", remedy="Or give it a Substrate."
            )
        query = fit_query(query_bundle.query_str)
        return _to_nodes(self._client.retrieve(**self._arguments(query)), query.note) if query.text else []

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = fit_query(query_bundle.query_str)
        if not query.text:
            return []
        return _to_nodes(await _call_client(self._client, "retrieve", **self._arguments(query)), query.note)

    def _arguments(self, query: FittedText) -> dict[str, Any]:
        return {"citizen_id": self._citizen_id, "query_text": query.text, **self._options}


class SubstrateMemoryBlock(BaseMemoryBlock[str]):
    """A citizen as the long-term memory of an agent: it retrieves for the last message, and stores all messages.

    No turn fails for its length: a question that is too long is cut, and the text says so; a message that is too
    long for one memory is stored as several turns. A dump of the block leaves out the client.
    """

    name: str = "substrate"
    client: InstanceOf[Substrate] | InstanceOf[AsyncSubstrate] = Field(exclude=True, repr=False)
    citizen_id: str
    max_tokens: int = Field(default=1000, ge=1)

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        queries = [fit_query(text) for _, text in _spoken_messages(messages or ())]
        last = next((query for query in reversed(queries) if query.text), None)
        if last is None:
            return ""
        arguments = {"citizen_id": self.citizen_id, "query_text": last.text, "parts": TEXT_PARTS}
        stream = await _call_client(self.client, "retrieve", **arguments)
        text = tell(stream, Budget(self.max_tokens, tokens.counter()), stems_of(last.text)).text
        return text if last.note is None else f"{text}\n\n# Asked\n- {last.note}"

    async def _aput(self, messages: list[ChatMessage]) -> None:
        turns = [
            {"role": role, "content": piece}
            for role, text in _spoken_messages(messages)
            for piece in split_text(text)
        ]
        if turns:
            await _call_client(self.client, "ingest", citizen_id=self.citizen_id, messages=turns)


def _spoken_messages(messages: Sequence[ChatMessage]) -> list[tuple[str, str]]:
    """Role and text of each message that a user or an assistant said."""
    spoken = (message for message in messages if message.role in _SPEAKING_ROLES)
    return [(message.role.value, message.content) for message in spoken if message.content]


async def _call_client(client: Client, method: str, **fields: Any) -> Any:
    if isinstance(client, AsyncSubstrate):
        return await getattr(client, method)(**fields)
    return await asyncio.to_thread(getattr(client, method), **fields)


def _to_nodes(stream: ConsciousnessStream, note: str | None) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=_to_node(memory, note), score=memory.consciousness_adjusted_score)
        for memory in stream.activation_tiers.ordered()
        if not is_bare(memory)
    ]


def _to_node(memory: ConsciousnessNode, note: str | None) -> TextNode:
    metadata = memory.model_dump(mode="json", exclude_none=True) | ({} if note is None else {"asked": note})
    text = f"{memory.name}: {memory.description}" if memory.description else memory.name
    hidden = sorted(metadata)  # metadata are for programs; a model reads the text alone
    return TextNode(
        id_=f"{memory.level}:{memory.node_id}",
        text=text,
        metadata=metadata,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
    )
