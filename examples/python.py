"""Substrate in a Python program, with the engine inside it: `python examples/python.py`."""

from tempfile import TemporaryDirectory

from api.client import Substrate

with TemporaryDirectory() as directory, Substrate.embedded(directory) as memory:
    memory.remember(citizen_id="ada", id="tea", name="Tea with Tom", text="Tom drinks his tea black.")
    memory.correct(citizen_id="ada", id="tea", text="Tom drinks his tea with milk.")
    stream = memory.retrieve(citizen_id="ada", query="How does Tom take his tea?", form="compact")
    print(stream.text)
    print([record.description for record in memory.history("tea", citizen_id="ada").records])
