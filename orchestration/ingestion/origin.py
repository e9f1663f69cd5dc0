"""Where the files of an ingestion lie. Pure."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import PurePath
from typing import NamedTuple


class Origin(NamedTuple):
    """Where the files of an ingestion lie. `name` is that of the file set that they are parsed as.

    `is_folder`: of a folder, or an archive. `unread`: paths of files there that could not be read or parsed.
    """

    name: str
    path: PurePath
    host: str
    is_folder: bool
    unread: frozenset[str] = frozenset()

    def of_episode(self, episode_id: str) -> PurePath | None:
        """The path of the chat with this id; None when its id does not come from the name of its file."""
        if episode_id == self.name:
            return self.path
        inside = episode_id.removeprefix(f"{self.name}/")
        return self.path / inside if self.is_folder and inside != episode_id else None

    def digest(self, path: PurePath) -> str:
        """A name for a path on this machine that does not tell it."""
        return blake2b(f"{self.host}\n{path}".encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
