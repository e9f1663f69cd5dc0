"""A class of another package that a setting names as `package.module:Class`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

from schemas.errors import Fault, InvalidRequest


class ClassPath(NamedTuple):
    """The path, what the class is for (`language model`), what it is to be, and the setting that names it."""

    path: str
    purpose: str
    kind: str
    setting: str

    def found(self, base: type[Any]) -> type[Any]:
        """The class. Raises InvalidRequest when there is none, or when it is no subclass of `base`."""
        module, _, name = self.path.partition(":")
        try:
            found = getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError, TypeError) as exc:
            raise InvalidRequest(
                f"The {self.purpose} class {self.path} cannot be imported ({type(exc).__name__}).",
                remedy=f"Install the package, and write {self.setting} as package.module:Class.",
            ) from exc
        if not (isinstance(found, type) and issubclass(found, base)):
            raise InvalidRequest(
                f"{self.path} is not a LlamaIndex {self.kind}.",
                remedy=f"Name a subclass of LlamaIndex's {base.__name__} in {self.setting}.",
            )
        return found

    @contextmanager
    def building(self) -> Iterator[None]:
        """Within it the class is built. Raises Fault for whatever goes wrong there."""
        try:
            yield
        except Exception as exc:
            raise Fault(
                f"The {self.purpose} class {self.path} cannot be built with no arguments ({type(exc).__name__}).",
                remedy="Name a class that takes its configuration from the environment, or wrap it in one.",
            ) from exc
