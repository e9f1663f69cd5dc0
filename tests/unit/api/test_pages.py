"""The files of both pages: the libraries are those that are named, and our own part fetches nothing elsewhere."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from pathlib import Path

import pytest

from api.pages import EXPLORER, REFERENCE
from tests.docs_pages import ROOT

HOMES = (EXPLORER.folder, REFERENCE.folder)
VENDORS = (*(home / "vendor" for home in HOMES), *sorted((EXPLORER.folder / "fonts").iterdir()))
OWN = sorted(path for home in HOMES for path in home.iterdir() if path.is_file())


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda path: "-".join(path.parts[-3:]))
def test_the_library_is_the_published_one_and_carries_its_licence(vendor: Path) -> None:
    manifest = json.loads((vendor / "manifest.json").read_text("utf-8"))
    found = {
        path.name: "sha512-" + b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
        for path in vendor.iterdir()
        if path.name != "manifest.json"
    }
    assert found == manifest["files"]
    notice = (ROOT / "NOTICE").read_text("utf-8")
    assert f"{manifest['package']} {manifest['version']}" in notice


@pytest.mark.parametrize("path", OWN, ids=lambda path: f"{path.parts[-3]}-{path.name}")
def test_our_own_files_are_short_and_make_no_markup_of_texts_and_fetch_nothing_from_elsewhere(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") <= 300
    assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text) == []
    elsewhere = [
        found for found in re.findall(r"https?://[^'\"\s]+", text) if found != "http://www.w3.org/2000/svg"
    ]
    assert elsewhere == []


SCRIPTS = {
    EXPLORER.folder: [(' type="module" src="/static/main.js"', "")],
    REFERENCE.folder: [
        (' src="/docs/vendor/swagger-ui-bundle.js" defer', ""),
        (' type="module" src="/docs/start.js"', ""),
    ],
}


@pytest.mark.parametrize("home", HOMES, ids=lambda path: path.parts[-2])
def test_the_page_has_no_script_within(home: Path) -> None:
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", (home / "index.html").read_text("utf-8"), re.DOTALL)
    assert scripts == SCRIPTS[home]
