"""Graphiti behind HTTP, for `benchmarks.beside_graphiti`: an interpreter that has Graphiti runs it, not ours.

    python graphiti_side.py fill ENGINE_PORT TOKENIZER MODEL FILE
    python graphiti_side.py serve ENGINE_PORT TOKENIZER MODEL PORT RECIPE

`fill` stores the longest conversation of a LoCoMo file without a language model: each turn is an episode and a
fact, from its speaker to the longest word that it says; both are entities. `serve` answers `POST /v1/retrieve` by
the search of the RECIPE (`plain`: edges alone; `combined`: all that Graphiti keeps), over a pool of RESP3
connections. The model is the local one of Substrate, its tokenizer and its ONNX file.
"""

# mypy: disable-error-code="import-not-found, misc"

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

os.environ["EMBEDDING_DIM"] = "384"  # noqa: TID251  Graphiti reads it when it is imported
os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"  # noqa: TID251

import numpy as np
import onnxruntime
import orjson
import uvicorn
from falkordb.asyncio import FalkorDB
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.falkordb_driver import FalkorDriver
from graphiti_core.edges import EntityEdge, EpisodicEdge
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode
from graphiti_core.search.search_config_recipes import COMBINED_HYBRID_SEARCH_RRF
from redis.asyncio import BlockingConnectionPool
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tokenizers import Tokenizer

GROUP = "locomo"
MOST_TOKENS = 256
CONNECTIONS = 32


class Embeds(EmbedderClient):
    """The local model of Substrate, on one thread beside the loop."""

    def __init__(self, tokenizer: str, model: str) -> None:
        self.tokenizer = Tokenizer.from_file(tokenizer)
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MOST_TOKENS)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.thread = ThreadPoolExecutor(1)

    def embed(self, text: str) -> list[float]:
        """The vector of a text."""
        tokens = self.tokenizer.encode(text).ids
        vectors: Any = self.session.run(None, {"ids": np.array([tokens], np.int32)})[0]
        return list(vectors[0].tolist())

    async def create(self, input_data: Any) -> list[float]:
        """The vector of the first text."""
        text = input_data if isinstance(input_data, str) else input_data[0]
        return await asyncio.get_running_loop().run_in_executor(self.thread, self.embed, text)

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        """The vectors of texts."""
        return [await self.create(text) for text in input_data_list]


class Asks(LLMClient):
    """No language model is asked."""

    def __init__(self) -> None:
        super().__init__(LLMConfig(api_key="none"))

    async def _generate_response(self, *_: Any, **__: Any) -> dict[str, Any]:
        raise NotImplementedError


class Ranks(CrossEncoderClient):
    """No cross-encoder is asked."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        """Never called by these recipes."""
        raise NotImplementedError


def connect(port: int, embedder: Embeds) -> Graphiti:
    """Graphiti on the engine at this port."""
    pool = BlockingConnectionPool(
        host="127.0.0.1", port=port, protocol=3, max_connections=CONNECTIONS, decode_responses=True
    )
    driver = FalkorDriver(falkor_db=FalkorDB(connection_pool=pool), database=GROUP)
    return Graphiti(graph_driver=driver, llm_client=Asks(), embedder=embedder, cross_encoder=Ranks())


async def fill(port: int, embedder: Embeds, file: Path) -> None:
    """Store the longest conversation of the file."""
    graphiti = connect(port, embedder)
    await graphiti.build_indices_and_constraints()
    talks = [sample["conversation"] for sample in json.loads(await asyncio.to_thread(file.read_bytes))]
    sessions = [[(number, part) for number, part in talk.items() if isinstance(part, list)] for talk in talks]
    longest = max(range(len(talks)), key=lambda place: sum(len(part) for _, part in sessions[place]))
    entities: dict[str, EntityNode] = {}
    for name, part in sessions[longest]:
        at = datetime.strptime(talks[longest][f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for turn in part:
            await store(graphiti, entities, turn["speaker"], turn["text"], at)
    sys.stdout.write(f"{len(entities)} entities\n")


async def store(
    graphiti: Graphiti, entities: dict[str, EntityNode], speaker: str, said: str, at: datetime
) -> None:
    """Store a turn: an episode, a fact, and the entities that are new."""
    same: dict[str, Any] = {"group_id": GROUP, "created_at": at}
    topic = max(re.findall(r"\w+", said.lower()) or ["something"], key=len)
    text = f"{speaker}: {said}"
    episode = EpisodicNode(
        name=text[:40], content=text, valid_at=at, source=EpisodeType.message, source_description="chat", **same
    )
    ends = []
    for name in (speaker, topic):
        if name not in entities:
            entities[name] = EntityNode(name=name, labels=["Entity"], summary=text, **same)
            await entities[name].generate_name_embedding(graphiti.embedder)
            await entities[name].save(graphiti.driver)
        ends.append(entities[name].uuid)
    fact = EntityEdge(
        source_node_uuid=ends[0], target_node_uuid=ends[1], name="SAYS", fact=text, episodes=[episode.uuid],
        valid_at=at, **same,
    )  # fmt: skip
    await fact.generate_embedding(graphiti.embedder)
    episode.entity_edges = [fact.uuid]
    await episode.save(graphiti.driver)
    await fact.save(graphiti.driver)
    for end in ends:
        mention = EpisodicEdge(source_node_uuid=episode.uuid, target_node_uuid=end, **same)
        await mention.save(graphiti.driver)


async def serve(engine: int, embedder: Embeds, port: int, recipe: str) -> None:
    """Answer until interrupted."""
    graphiti = connect(engine, embedder)

    async def retrieve(request: Request) -> Response:
        text = orjson.loads(await request.body())["query_text"]
        if recipe == "plain":
            found: Any = [edge.model_dump(mode="json") for edge in await graphiti.search(text, group_ids=[GROUP])]
        else:
            results = await graphiti.search_(text, COMBINED_HYBRID_SEARCH_RRF, group_ids=[GROUP])
            found = results.model_dump(mode="json")
        return Response(orjson.dumps(found), media_type="application/json")

    async def ready(_: Request) -> Response:
        return JSONResponse({})

    app = Starlette(routes=[Route("/v1/retrieve", retrieve, methods=["POST"]), Route("/health/ready", ready)])
    await uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning", access_log=False)).serve()


def main() -> None:
    """Fill or serve."""
    what, engine, tokenizer, model, *rest = sys.argv[1:]
    embedder = Embeds(tokenizer, model)
    with (
        suppress(KeyboardInterrupt),
        asyncio.Runner(loop_factory=uvicorn.Config("").get_loop_factory()) as runner,
    ):
        if what == "fill":
            runner.run(fill(int(engine), embedder, Path(rest[0])))
        else:
            runner.run(serve(int(engine), embedder, int(rest[0]), rest[1]))


if __name__ == "__main__":
    main()
