"""Texts, web pages and PDF files as documents of one notebook."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

import pypdf
import pytest

from orchestration.ingestion.formats import ParsedFiles, parse
from orchestration.ingestion.formats.documents import PDF, TEXT, read_page, to_text
from orchestration.ingestion.formats.files import make_file, read_files
from orchestration.ingestion.formats.notebook import Document, Notebook, day_of
from schemas.errors import InvalidRequest
from tests.unit.orchestration.ingestion.formats.exports import EXPORTS, counted, export, read_all, read_raw

LOGBOOK = "2024-05-01 Logbook.txt"


def documents(parsed: ParsedFiles) -> tuple[Document, ...]:
    (notebook,) = parsed.items
    assert isinstance(notebook, Notebook)
    return notebook.documents


def test_a_text_is_a_document_with_the_day_of_its_name() -> None:
    (document,) = documents(read_raw(LOGBOOK, export(LOGBOOK)))
    assert (document.path, document.title) == (LOGBOOK, "2024-05-01 Logbook")
    assert document.text == "Left the harbour at six.\n\nSaw two porpoises near the buoy."
    assert (document.date, document.dated) == (datetime(2024, 5, 1, tzinfo=UTC), True)
    assert day_of("2024-13-01 x") is None


def test_a_page_is_a_document_with_a_section_for_each_heading() -> None:
    (document,) = documents(read_raw("page.html", export("page.html")))
    assert (document.title, document.text) == (
        "Harbour rules – Pier 4",
        "Boats of more than 12 m need a pilot.\nCall channel 9.",
    )
    assert [(section.heading, section.text) for section in document.sections] == [
        ("Water", "- Drinking water: tap A\n- Washing: tap B"),
        ("Fees", "Length Fee\n8 m 14 €\n\nopen  08:00\nclose 20:00\n\n> Keep it clean."),
    ]
    assert document.date == datetime(2024, 11, 2, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("just words", "just words"),
        ("<p>a<p>b", "a\n\nb"),
        ("a<br>b<script>x()", "a\nb"),
        ("<head><title>t</title><body>a", "a"),
        ("<blockquote>a<blockquote>b</blockquote></blockquote>c", "> a\n\n> > b\n\nc"),
        ("<div style='display: none'>x<div>y</div></div>a", "a"),
        ("&lt;b&gt; &amp; &#228;", "<b> & ä"),
        ("</div></blockquote>a<b", "a<b"),
        ("<div>" * 50_000 + "deep", "deep"),
    ],
)
def test_the_text_of_any_markup(markup: str, text: str) -> None:
    assert to_text(markup) == text


def test_a_page_knows_its_title_and_its_headings() -> None:
    page = read_page("<title> A\n B </title><h2>C <i>D</i></h2>e")
    assert (page.title, page.parts[1].heading, page.depths) == ("A B", "C D", ("", "h2"))


def test_each_page_of_a_pdf_is_a_section() -> None:
    parsed = read_raw("berths.pdf", export("berths.pdf"))
    (document,) = documents(parsed)
    assert parsed.formats == (PDF.name,)
    assert (document.title, document.date) == ("Berths in Porto", datetime(2025, 3, 4, 13, 5, tzinfo=UTC))
    assert [(section.heading, section.text) for section in document.sections] == [
        ("page 1", "Berth 12 is free from May."),
        ("page 3", "It costs 340 a month."),
    ]
    assert counted(parsed) == {"pages without text, such as scans": 1}


def test_300_pages_of_scans_are_told_to_have_no_text() -> None:
    writer, target = pypdf.PdfWriter(), io.BytesIO()
    for _ in range(300):
        writer.add_blank_page(595, 842)
    writer.write(target)
    with pytest.raises(InvalidRequest, match=r"scan\.pdf: has 300 pages without any text: scans") as caught:
        read_raw("scan.pdf", target.getvalue())
    assert "\n" not in caught.value.detail


@pytest.mark.parametrize("kept", [10, 200, 900])
def test_a_cut_pdf_is_refused(kept: int) -> None:
    with pytest.raises(InvalidRequest, match=r"berths\.pdf: is damaged, cut, or no PDF"):
        read_raw("berths.pdf", export("berths.pdf")[:kept])


def test_a_locked_pdf_is_told() -> None:
    writer, target = pypdf.PdfWriter(clone_from=io.BytesIO(export("berths.pdf"))), io.BytesIO()
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(target)
    with pytest.raises(InvalidRequest, match=r"berths\.pdf: is locked"):
        read_raw("berths.pdf", target.getvalue())


def test_a_folder_of_documents_of_all_formats_is_one_notebook_and_a_bad_one_is_told(tmp_path: Path) -> None:
    for name in (LOGBOOK, "page.html", "berths.pdf"):
        (tmp_path / name).write_bytes((EXPORTS / name).read_bytes())
    (tmp_path / "note.md").write_text("# Note\n\ntext")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing")
    parsed = parse(None, read_files(tmp_path, None, "mira"))
    assert [document.path for document in documents(parsed)] == [LOGBOOK, "berths.pdf", "note.md", "page.html"]
    assert parsed.formats == ("text", "pdf", "markdown", "html")
    assert parsed.faults[0].startswith("broken.pdf: is damaged, cut, or no PDF")


def test_files_of_one_named_format_are_read_in_it() -> None:
    files = [make_file("b.txt", b"two"), make_file("a.txt", b"one"), make_file("c.txt", b"\xff\x00\x01")]
    parsed = read_all(files, form=TEXT.name)
    assert [document.text for document in documents(parsed)] == ["one", "two"]
    assert parsed.faults == ("c.txt: is no text",)
