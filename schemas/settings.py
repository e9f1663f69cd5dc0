"""Settings, read from `SUBSTRATE_*` and from the bare names that newcomers try.

Only this module reads the environment. Few settings, each with a reason; all else is a constant beside the code
that uses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from platformdirs import user_cache_path, user_data_path
from pydantic import AfterValidator, AliasChoices, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class _Group(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="SUBSTRATE_", env_ignore_empty=True, extra="ignore", populate_by_name=True
    )


_REDIS: Final = (
    "redis", "rediss", "unix", "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster",
)  # fmt: skip
NAMES_OF_URL: Final = " (it is set by SUBSTRATE_URL, FALKORDB_URL or FALKORDB_URI)"


def _check_address(text: str, schemes: Sequence[str], names: str = "") -> str:
    """The address. Raises ValueError, without the address in the message: it may hold a password."""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in schemes
        if "+" in parts.scheme:  # several servers: each is looked at when they are opened
            usable = usable and bool(parts.netloc)
        else:
            target = parts.path.strip("/") if parts.scheme == "unix" else parts.hostname
            usable = usable and bool(target) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError(f"it is not an address such as {schemes[0]}://host:port{names}")
    return text


def _check_counter(address: SecretStr) -> SecretStr:
    _check_address(address.get_secret_value(), ("redis", "rediss"))
    return address


_WebAddress = Annotated[str, AfterValidator(partial(_check_address, schemes=("http", "https")))]


AckMode = Literal["auto", "primary", "replica", "replica-disk"]
"""Who has a write when it is acknowledged: the primary, or one replica as well, in memory or on disk. `auto`: a
replica as well where there are several servers."""

ReadMode = Literal["primary", "replica"]
"""Who answers a plain question: the primary, or a replica as well."""

AppraisalMode = Literal["words", "model", "off"]
"""How the text of a memory is appraised at writing."""


class StoreSettings(_Group):
    """Where the graphs are stored: in the bundled engine in `data`, or on the server at `url`."""

    data: Path = Field(
        default_factory=lambda: user_data_path("substrate"),
        description="Directory of the embedded engine; unset: the platform's directory for user data.",
    )
    url: Annotated[str, AfterValidator(partial(_check_address, schemes=_REDIS, names=NAMES_OF_URL))] | None = (
        Field(
            default=None,
            validation_alias=AliasChoices("SUBSTRATE_URL", "FALKORDB_URL", "FALKORDB_URI"),
            description="redis:// or unix:// address of a FalkorDB server; redis+sentinel://HOST,HOST/NAME of one "
            "behind Sentinels; redis+cluster://HOST,HOST of a cluster. The embedded engine is then not used.",
        )
    )
    falkordb_host: str | None = Field(
        default=None,
        validation_alias=AliasChoices("FALKORDB_HOST"),
        description="Host of a FalkorDB server, when no address is set.",
    )
    falkordb_port: int = Field(
        default=6379,
        ge=1,
        le=65535,
        validation_alias=AliasChoices("FALKORDB_PORT"),
        description="Port of that server.",
    )
    username: str | None = Field(
        default=None,
        validation_alias=AliasChoices("FALKORDB_USER", "FALKORDB_USERNAME"),
        description="The user name for the server.",
    )
    password: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("FALKORDB_PASSWORD"),
        description="The password for the server.",
    )
    ack: AckMode = Field(
        default="auto",
        description="Who has a write when it is acknowledged: the `primary`, or a `replica` as well, in memory or "
        "(`replica-disk`) on disk; `auto`: a replica as well behind Sentinels and in a cluster.",
    )
    read: ReadMode = Field(
        default="primary",
        description="Who answers a plain question: the `primary`, or a `replica` as well, behind Sentinels and in "
        "a cluster; the answer then says how old it may be.",
    )
    mirror: Path | None = Field(
        default=None,
        description="Directory in which the memory of each citizen is kept as Markdown files; unset: none is.",
    )
    appraisal: AppraisalMode = Field(
        default="words",
        description=(
            "How what a writer leaves out (feelings, goal, state, rule, step, energy, importance, result) is read "
            "from the text: by its words, by the language model with `model`, or not at all with `off`."
        ),
    )
    stream_notes_days: float = Field(
        default=90.0,
        ge=0,
        le=36_500,
        allow_inf_nan=False,
        description="So many days it is kept what a stream was asked and showed, so that it can be asked again; "
        "0: nothing is kept.",
    )
    most_memories: int | None = Field(
        default=None, ge=1, description="So many memories a citizen may have; unset: any number."
    )
    most_bytes: int | None = Field(
        default=None,
        ge=1,
        description="A citizen who has so many bytes in the engine may add nothing to them; unset: any number.",
    )
    park_after: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="A citizen who was not asked about for so many days goes to a file, and is back at the next "
        "request; unset: none does by itself.",
    )
    park_to: Path | None = Field(
        default=None,
        description="Folder of these files, the same for all services of a store; unset: `parked` in the data "
        "directory.",
    )
    cache_mb: int = Field(
        default=256,
        ge=0,
        le=65_536,
        description="So many megabytes are kept in each process: seven tenths memories and links that it read, a "
        "fifth whole answers, a tenth what else is known of a graph, so that a question reads again only what "
        "changed; 0: nothing is kept.",
    )
    likeness: Literal["auto", "sets", "index"] = Field(
        default="auto",
        description="What finds the nearest memories of new graphs: Redis vector sets (`sets`), or a vector index "
        "of the graph (`index`), which is built anew at every start; `auto`: sets where the server has them.",
    )
    names: Literal["on", "off"] = Field(
        default="on", description="`on`: people, places and projects that a text names become memories."
    )

    def park_folder(self) -> Path:
        """Where the files of parked citizens are."""
        return (self.park_to or self.data / "parked").expanduser().absolute()

    def server_url(self) -> str | None:
        """Address of the configured server, or None when the embedded engine is to be used."""
        if self.url:
            return self.url
        return f"redis://{self.falkordb_host}:{self.falkordb_port}" if self.falkordb_host else None


_OpenAIKey = Annotated[
    SecretStr | None, Field(validation_alias=AliasChoices("OPENAI_API_KEY"), description="The key for OpenAI.")
]
_OpenAIAddress = Annotated[
    str | None,
    Field(
        validation_alias=AliasChoices("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        description="Address of a server that offers OpenAI's API; unset: OpenAI itself.",
    ),
]


class EmbeddingSettings(_Group):
    """Which embedding model: `local`, `openai[:model]`, `none`, or `package.module:Class` of LlamaIndex."""

    embedding: str | None = Field(default=None, description="Unset: openai when its key is set, else local.")
    cache: Path = Field(
        default_factory=lambda: user_cache_path("substrate"),
        description="Directory for the local model's file of a clone; unset: the platform's directory for caches.",
    )
    openai_api_key: _OpenAIKey = None
    openai_base_url: _OpenAIAddress = None

    def choice(self) -> str:
        """The embedding to use, with the default rule applied."""
        if self.embedding:
            return self.embedding
        return "openai" if self.openai_api_key else "local"


class LanguageModelSettings(_Group):
    """Which language model: `none`, `openai[:model]`, or `package.module:Class` of LlamaIndex."""

    llm: str = Field(default="none", description="No language model unless one is named.")
    llm_question_seconds: float = Field(
        default=2.0,
        ge=0,
        le=2,
        description="Seconds that a question waits for the model to find names in it; 0: the model is not called.",
    )
    reranker: str | None = Field(
        default=None,
        description="For `rerank: custom`: `onnx:DIRECTORY` of a cross-encoder, or `package.module:Class` of a "
        "LlamaIndex node postprocessor.",
    )
    llm_input_price: float | None = Field(
        default=None, ge=0, description="Price of a million tokens sent; unset: only tokens are counted, not cost."
    )
    llm_output_price: float | None = Field(default=None, ge=0, description="Price of a million tokens received.")
    openai_api_key: _OpenAIKey = None
    openai_base_url: _OpenAIAddress = None

    @model_validator(mode="after")
    def _a_cost_has_both_prices(self) -> Self:
        if (self.llm_input_price is None) != (self.llm_output_price is None):
            raise ValueError("llm_input_price and llm_output_price belong together: set both or none")
        return self


class ServerSettings(_Group):
    """Address of the REST service, its logs and traces."""

    host: str = Field(
        default="127.0.0.1",
        validation_alias=AliasChoices("SUBSTRATE_HOST", "HOST"),
        description="Address to listen on; other machines can reach every address but loopback.",
    )
    port: int = Field(
        default=8000, ge=1, le=65535, validation_alias=AliasChoices("SUBSTRATE_PORT", "PORT"), description="Port."
    )
    workers: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Processes that answer requests; more than one helps where there are more than two cores.",
    )
    log_level: str = Field(
        default="info",
        validation_alias=AliasChoices("SUBSTRATE_LOG_LEVEL", "LOG_LEVEL"),
        description="critical, error, warning, info, debug or trace; `debug` adds tracebacks.",
    )
    trusted_proxies: str = Field(
        default="",
        validation_alias=AliasChoices("SUBSTRATE_TRUSTED_PROXIES", "FORWARDED_ALLOW_IPS"),
        description="Comma-separated addresses of proxies whose `X-Forwarded-For` is trusted; none unless set.",
    )
    webhooks_private: bool = Field(
        default=False,
        description="Webhooks may go to private and loopback addresses, and over plain HTTP.",
    )
    mcp_tools: str = Field(
        default="",
        description="Tools that `/mcp` offers beside the usual eight, with commas; `all`: every one.",
    )
    otlp_endpoint: _WebAddress | None = Field(
        default=None,
        pattern=r"^https?://",
        validation_alias=AliasChoices("SUBSTRATE_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"),
        description="Address of an OpenTelemetry collector that takes OTLP over HTTP; unset: no traces.",
    )


class UpkeepSettings(_Group):
    """Upkeep in idle time: whether the service does it, which jobs, and when a citizen counts as idle."""

    upkeep: Literal["idle", "off"] = Field(
        default="idle",
        description="`idle`: the service does upkeep for citizens without requests; `off`: only when asked to.",
    )
    upkeep_jobs: str = Field(
        default="",
        pattern=r"^([a-z]+( *, *[a-z]+)*)?$",
        description="Jobs that run in idle time, with commas; unset: those that run by default.",
    )
    upkeep_idle_seconds: float = Field(
        default=300.0,
        ge=0,
        le=86_400,
        allow_inf_nan=False,
        description="A citizen is idle after so many seconds without a request to any service of the store.",
    )

    def named_jobs(self) -> tuple[str, ...] | None:
        """The names of the jobs to run; None for those that run by default."""
        return tuple(name.strip() for name in self.upkeep_jobs.split(",") if name.strip()) or None


class AuthSettings(_Group):
    """Keys, JWTs and rate limits. Closed unless `open`, which is for loopback only."""

    open: bool = Field(default=False, description="Let everybody in without a key; only on a loopback address.")
    admin_key: SecretStr | None = Field(
        default=None, min_length=20, description="An administrator's key of the operator's choice."
    )
    jwks_url: _WebAddress | None = Field(
        default=None, pattern=r"^https?://", description="Where the public keys for JWTs are; unset: no JWTs."
    )
    jwt_issuer: str | None = Field(default=None, description="The `iss` that a JWT must have.")
    jwt_audience: str | None = Field(default=None, description="The `aud` that a JWT must have.")
    rate_limit: str = Field(
        default="6000/minute",
        pattern=r"^(off|[1-9]\d{0,8}/(second|minute|hour|day))$",
        description="How many requests a key may send, such as `100/second`; `off`: any.",
    )
    wrong_key_limit: str = Field(
        default="30/minute",
        pattern=r"^(off|[1-9]\d{0,8}/(second|minute|hour|day))$",
        description="How many wrong keys an address may send before it must wait; `off`: any.",
    )
    rate_limit_url: Annotated[SecretStr, AfterValidator(_check_counter)] | None = Field(
        default=None,
        description="redis:// address where all processes of the service count together; unset: each alone.",
    )
    cors_origins: tuple[str, ...] = Field(
        default=(),
        description="JSON list of the origins whose pages may call, besides the service's own; none unless set.",
    )

    @model_validator(mode="after")
    def _jwts_name_their_issuer_and_audience(self) -> Self:
        if self.jwks_url and not (self.jwt_issuer and self.jwt_audience):
            raise ValueError(
                "jwks_url needs jwt_issuer and jwt_audience: a token made for another service must be refused"
            )
        return self


class ClientSettings(_Group):
    """Where a client finds the service, and with which key."""

    base_url: str = Field(
        default="http://127.0.0.1:8000", pattern=r"^https?://", description="Address of the service."
    )
    api_key: SecretStr | None = Field(default=None, description="The key that a client sends.")

    @property
    def named(self) -> str | None:
        """The address, if somebody named one."""
        return self.base_url if "base_url" in self.model_fields_set else None


@dataclass(frozen=True, slots=True)
class Settings:
    """All groups, read once at the edge. `dataclasses.replace` changes one and leaves the others."""

    store: StoreSettings = field(default_factory=StoreSettings)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    auth: AuthSettings = field(default_factory=AuthSettings)
    language_model: LanguageModelSettings = field(default_factory=LanguageModelSettings)
    upkeep: UpkeepSettings = field(default_factory=UpkeepSettings)
