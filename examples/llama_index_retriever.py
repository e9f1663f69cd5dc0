"""Substrate as a retriever of LlamaIndex: `python examples/llama_index_retriever.py`."""

from tempfile import TemporaryDirectory

from api.adapters.llama_index import SubstrateRetriever
from api.client import Substrate

with TemporaryDirectory() as directory, Substrate.embedded(directory) as memory:
    memory.remember(citizen_id="ada", name="Tea", description="Tom drinks his tea with milk.", energy=0.8)
    for found in SubstrateRetriever(memory, "ada").retrieve("How does Tom take his tea?"):
        print(f"{found.score:.2f} {found.text} (energy {found.metadata['energy']})")
