"""LlamaIndex: a retriever, and a memory block for its agents, on either face of the client."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import Field, InstanceOf

from api.client import AsyncSubstrate, Substrate
from schemas.memory import ConsciousnessNode
from schemas.stream import ConsciousnessStream

_SAYING: Final = (MessageRole.USER, MessageRole.ASSISTANT)


class SubstrateRetriever(BaseRetriever):
    """What a citizen remembers for a query, most active first, each node with all metadata of its record.

    `asking` is what `retrieve` takes beside the citizen and the query: `temporal_mode`, `max_tokens`, ….
    """

    def __init__(self, client: Substrate, citizen_id: str, **asking: Any) -> None:
        self._client, self._citizen_id, self._asking = client, citizen_id, asking
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        stream = self._client.retrieve(
            citizen_id=self._citizen_id, query_text=query_bundle.query_str, **self._asking
        )
        return _nodes(stream)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class SubstrateMemoryBlock(BaseMemoryBlock[str]):
    """A citizen as the long-term memory of an agent: it wakes to what is said last, and keeps what is said."""

    name: str = "substrate"
    client: InstanceOf[Substrate] | InstanceOf[AsyncSubstrate]
    citizen_id: str
    max_tokens: int = Field(default=1000, ge=1)

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        said = [message.content for message in messages or () if message.role in _SAYING and message.content]
        if not said:
            return ""
        stream = await self._call(
            "retrieve",
            citizen_id=self.citizen_id,
            query_text=said[-1][:20_000],
            max_tokens=self.max_tokens,
            form="compact",
        )
        return str(stream.text or "")

    async def _aput(self, messages: list[ChatMessage]) -> None:
        said = [
            {"role": message.role.value, "content": message.content}
            for message in messages
            if message.role in _SAYING and message.content
        ]
        if said:
            await self._call("ingest", citizen_id=self.citizen_id, messages=said)

    async def _call(self, method: str, **fields: Any) -> Any:
        if isinstance(self.client, AsyncSubstrate):
            return await getattr(self.client, method)(**fields)
        return await asyncio.to_thread(getattr(self.client, method), **fields)


def _nodes(stream: ConsciousnessStream) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=_node(memory), score=memory.consciousness_adjusted_score)
        for memory in stream.activation_tiers.ordered()
    ]


def _node(memory: ConsciousnessNode) -> TextNode:
    metadata = memory.model_dump(mode="json", exclude_none=True)
    text = f"{memory.name}: {memory.description}" if memory.description else memory.name
    hidden = sorted(metadata)  # metadata are for programs; the text alone is read
    return TextNode(
        id_=f"{memory.level}:{memory.node_id}",
        text=text,
        metadata=metadata,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
    )
