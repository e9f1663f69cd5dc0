"""Which versions of the server and of its modules are running."""

from __future__ import annotations

from pathlib import Path

import redis.asyncio as redis
from redis import exceptions as redis_errors

from substrate.connection.errors import translate_error


async def server_versions(socket: Path) -> dict[str, str]:
    """Versions of the server that listens at a unix socket (`redis`) and of each module, as `4.22.1`. Raises
    Unavailable when nothing answers within five seconds."""
    try:
        async with redis.Redis(unix_socket_path=str(socket), decode_responses=True, socket_timeout=5) as client:
            server = await client.info("server")
            modules = (await client.info("modules")).get("modules", [])
    except (redis_errors.RedisError, OSError) as error:
        raise translate_error(error, "INFO") from error
    numbers = {str(module["name"]): int(module["ver"]) for module in modules}
    return {
        "redis": str(server["redis_version"]),
        **{name: f"{number // 10000}.{number // 100 % 100}.{number % 100}" for name, number in numbers.items()},
    }
