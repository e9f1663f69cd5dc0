"""The tree of errors that Substrate raises: that of its client."""

from substrate_client.errors import (
    Conflict as Conflict,
)
from substrate_client.errors import (
    EngineFault as EngineFault,
)
from substrate_client.errors import (
    Fault as Fault,
)
from substrate_client.errors import (
    Forbidden as Forbidden,
)
from substrate_client.errors import (
    ForeignOrigin as ForeignOrigin,
)
from substrate_client.errors import (
    Incorrect as Incorrect,
)
from substrate_client.errors import (
    InvalidRequest as InvalidRequest,
)
from substrate_client.errors import (
    NotAuthor as NotAuthor,
)
from substrate_client.errors import (
    NotFound as NotFound,
)
from substrate_client.errors import (
    NotTrusted as NotTrusted,
)
from substrate_client.errors import (
    PreconditionFailed as PreconditionFailed,
)
from substrate_client.errors import (
    QuotaReached as QuotaReached,
)
from substrate_client.errors import (
    RateLimited as RateLimited,
)
from substrate_client.errors import (
    Refused as Refused,
)
from substrate_client.errors import (
    StorageFull as StorageFull,
)
from substrate_client.errors import (
    StoreDamaged as StoreDamaged,
)
from substrate_client.errors import (
    StoreMisfit as StoreMisfit,
)
from substrate_client.errors import (
    StoreTimeout as StoreTimeout,
)
from substrate_client.errors import (
    SubstrateError as SubstrateError,
)
from substrate_client.errors import (
    Unauthenticated as Unauthenticated,
)
from substrate_client.errors import (
    Unavailable as Unavailable,
)
from substrate_client.errors import (
    errors_by_slug as errors_by_slug,
)
from substrate_client.errors import (
    refusal_error as refusal_error,
)
