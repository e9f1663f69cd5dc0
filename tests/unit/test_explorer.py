"""The files of the page: the library is the one that is named, and our own part reaches for nothing outside."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from pathlib import Path

import pytest

from api.explorer import HOME

OWN = sorted(path for path in HOME.iterdir() if path.is_file())
VENDOR = HOME / "vendor"


def test_the_library_is_the_published_one_and_carries_its_licence() -> None:
    manifest = json.loads((VENDOR / "manifest.json").read_text("utf-8"))
    found = {
        path.name: "sha512-" + b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
        for path in VENDOR.iterdir()
        if path.name != "manifest.json"
    }
    assert found == manifest["files"]
    notice = (Path(__file__).parents[2] / "NOTICE").read_text("utf-8")
    assert f"{manifest['package']} {manifest['version']}" in notice


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_our_own_files_are_short_and_make_no_markup_of_texts_and_fetch_nothing_from_elsewhere(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") <= 300
    assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text) == []
    elsewhere = [
        found for found in re.findall(r"https?://[^'\"\s]+", text) if found != "http://www.w3.org/2000/svg"
    ]
    assert elsewhere == []


def test_the_page_has_no_script_within() -> None:
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", (HOME / "index.html").read_text("utf-8"), re.DOTALL)
    assert scripts == [(' type="module" src="/static/main.js"', "")]
