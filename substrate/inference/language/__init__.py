"""Language models behind one port: LlamaIndex's `LLM`. None is used unless one is configured.

`open_language_model` picks the model; `LanguageModel` is what the rest of Substrate talks to. The libraries behind
a model are imported when that model is opened, not with this package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from schemas.errors import InvalidRequest
from substrate.inference.language.model import LanguageModel, Prices

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemas.settings import LanguageModelSettings

    type _Opener = Callable[..., LanguageModel]

__all__ = ["LanguageModel", "open_language_model"]


def open_language_model(settings: LanguageModelSettings) -> LanguageModel | None:
    """Open the language model that the settings choose; None for `none`.

    In: `none`, `openai[:model]`, or `package.module:Class`, the import path of a LlamaIndex `LLM` class that is
    built with no arguments.
    Out: a `LanguageModel`; close it with `aclose`. Nothing is sent over the network yet.
    Errors: InvalidRequest for an unknown choice, a missing key or a class that cannot be imported; Fault when the
    class cannot be built.
    """
    choice = settings.llm.strip()
    kind, _, rest = choice.partition(":")
    if choice == "none":
        return None
    if kind == "openai":
        model = _opener("openai_client")(settings, rest.strip())
    elif kind and rest:
        model = _opener("import_path")(choice)
    else:
        raise InvalidRequest(
            f"There is no language model {choice!r}.",
            remedy="Set SUBSTRATE_LLM to none, openai, openai:<model>, or package.module:Class.",
        )
    if settings.llm_input_price is not None and settings.llm_output_price is not None:
        model.prices = Prices(settings.llm_input_price, settings.llm_output_price)
    model.question_seconds = settings.llm_question_seconds
    return model


def _opener(module: str) -> _Opener:
    opener: _Opener = import_module(f"{__name__}.{module}").opened
    return opener
