"""A class of another package that a setting names as `package.module:Class`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

from schemas.errors import Fault, InvalidRequest


class ClassPath(NamedTuple):
    """`purpose` and `kind` describe the class in messages (`language model`); `setting` is where it is named."""

    path: str
    purpose: str
    kind: str
    setting: str

    def load(self, base: type[Any]) -> type[Any]:
        """Import the class. Raises InvalidRequest when it does not exist or is no subclass of `base`."""
        module, _, name = self.path.partition(":")
        try:
            loaded = getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError, TypeError) as exc:
            raise InvalidRequest(
                f"the {self.purpose} class {self.path} cannot be imported ({type(exc).__name__})",
                remedy=f"Install the package, and write {self.setting} as package.module:Class.",
            ) from exc
        if not (isinstance(loaded, type) and issubclass(loaded, base)):
            raise InvalidRequest(
                f"{self.path} is not a LlamaIndex {self.kind}",
                remedy=f"Name a subclass of LlamaIndex's {base.__name__} in {self.setting}.",
            )
        return loaded

    @contextmanager
    def building(self) -> Iterator[None]:
        """Instantiate the class inside the `with` block. Raises Fault for any exception there."""
        try:
            yield
        except Exception as exc:
            raise Fault(
                f"the {self.purpose} class {self.path} cannot be built with no arguments ({type(exc).__name__})",
                remedy="Name a class that takes its configuration from the environment, or wrap it in one.",
            ) from exc
