"""mkdocs' hook: lays the reference pages, made now, beside those that were written."""

from __future__ import annotations

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from scripts.reference import PAGES


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The files of the site, and the pages of `reference/`."""
    for name, page in PAGES.items():
        files.append(File.generated(config, f"reference/{name}", content=page()))
    return files
