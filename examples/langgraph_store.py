"""Substrate as a store of LangGraph, with the engine in the program: `python examples/langgraph_store.py`."""

from tempfile import TemporaryDirectory

from api.adapters.langgraph import SubstrateStore
from api.client import Substrate

with TemporaryDirectory() as directory, Substrate.embedded(directory) as memory:
    store = SubstrateStore(memory, "ada")
    store.put(("people", "tom"), "tea", {"drinks": "tea with milk"})
    for item in store.search(("people",), query="What does Tom drink?"):
        print(item.namespace, item.key, item.value["drinks"])
