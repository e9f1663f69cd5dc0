"""Providers of models: classes that a setting names, extras, failures, what the clients of OpenAI's API share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit

from schemas.errors import Fault, InvalidRequest

if TYPE_CHECKING:
    from pydantic import SecretStr

DISTRIBUTION: Final = "consciousness-substrate"
OPENAI_ADDRESS: Final = "https://api.openai.com/v1"
# One retry, by the client, which honours Retry-After; LlamaIndex's own second layer of retries then does nothing.
OPENAI_RETRIES: Final = 1

type Extra = Literal["langgraph", "llama-index", "openai", "otlp", "pdf"]
"""Packages that come with an extra of the installation, because most need none of them."""


def import_with(extra: Extra, module: str) -> Any:
    """Import a module that needs the packages of an extra. Raises InvalidRequest, which names it, without them."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise missing(extra, error) from error


def missing(extra: Extra, error: ModuleNotFoundError) -> InvalidRequest:
    """The error for a package that was not found."""
    return InvalidRequest(
        f"the Python package {error.name} is not installed, which this needs",
        remedy=f"Install it: pip install '{DISTRIBUTION}[{extra}]'.",
    )


def describe_failure(error: Exception) -> str:
    """Return `failed (status 429)`, or `failed (ErrorClass)` when the error has no HTTP status."""
    # Not the provider's own message: it may repeat the key.
    status = getattr(error, "status_code", None)
    return f"failed ({f'status {status}' if isinstance(status, int) else type(error).__name__})"


def openai_key(key: SecretStr | None, *, model: str, alternative: str) -> str:
    """Return the key for a `model` (`embedding`, `language`). Raises InvalidRequest without one. `alternative` is
    the setting that needs no key."""
    if key is None:
        raise InvalidRequest(
            f"the OpenAI {model} model needs a key",
            remedy=f"Set OPENAI_API_KEY (any text will do for a local server), or {alternative}.",
        )
    return key.get_secret_value()


def openai_provider(address: str) -> str:
    """Return the name of the server at an address, for messages."""
    # The host alone: an address may carry a user and a password.
    return f"OpenAI at {urlsplit(address).hostname or 'an address without a host'}"


class ClassPath(NamedTuple):
    """A class of another package that a setting names as `package.module:Class`. `purpose` and `kind` describe the
    class in messages (`language model`); `setting` is where it is named."""

    path: str
    purpose: str
    kind: str
    setting: str

    def load(self, base: type[Any]) -> type[Any]:
        """Import the class. Raises InvalidRequest when it does not exist or is no subclass of `base`."""
        loaded = self._import()
        if not (isinstance(loaded, type) and issubclass(loaded, base)):
            raise self._unfit(base.__name__)
        return loaded

    def load_fitting(self, methods: Sequence[str], base: str) -> type[Any]:
        """Import the class without the library of its base class, whose name is `base`. Raises InvalidRequest when
        it does not exist or lacks one of the methods."""
        loaded = self._import()
        if not (isinstance(loaded, type) and all(callable(getattr(loaded, name, None)) for name in methods)):
            raise self._unfit(base)
        return loaded

    def _import(self) -> Any:
        module, _, name = self.path.partition(":")
        try:
            return getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError, TypeError) as exc:
            raise InvalidRequest(
                f"the {self.purpose} class {self.path} cannot be imported ({type(exc).__name__})",
                remedy=f"Install the package, and write {self.setting} as package.module:Class.",
            ) from exc

    def _unfit(self, base: str) -> InvalidRequest:
        return InvalidRequest(
            f"{self.path} is not a LlamaIndex {self.kind}",
            remedy=f"Name a subclass of LlamaIndex's {base} in {self.setting}.",
        )

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
