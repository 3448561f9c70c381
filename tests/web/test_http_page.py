"""The page on the HTTP API is true: its curl and Python examples are run, in order, against a real server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from duelmatch.studies import Store
from duelmatch.web.webhooks import signature
from terminal import PROGRAM

PAGE = Path(__file__).parents[2] / "docs" / "http.md"
ADDRESS = "http://127.0.0.1:8000"


def blocks() -> list[tuple[str, str]]:
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(r"^```(sh|json|python)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def fits(shown: Any, sent: Any) -> bool:
    """Whether what was sent is what is shown, where "..." stands for anything."""
    if shown == "...":
        return True
    if isinstance(shown, dict) and isinstance(sent, dict):
        return shown.keys() == sent.keys() and all(fits(value, sent[key]) for key, value in shown.items())
    if isinstance(shown, list) and isinstance(sent, list):
        return len(shown) == len(sent) and all(map(fits, shown, sent))
    return bool(shown == sent)


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("jq")), reason="curl and jq are not installed")
def test_curl_receives_what_is_shown(place: tuple[str, Store], tmp_path: Path) -> None:
    script = "".join(text for language, text in blocks() if language == "sh").replace(ADDRESS, place[0])
    shown = [json.loads(text) for language, text in blocks() if language == "json"]
    function = f'duelmatch() {{ {" ".join(PROGRAM)} "$@"; }}\n'
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", function + script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"no_proxy": "127.0.0.1"},
    )
    sent, rest = [], done.stdout.strip()
    while rest:
        found, end = json.JSONDecoder().raw_decode(rest)
        sent.append(found)
        rest = rest[end:].strip()
    assert len(sent) == len(shown)
    for expected, received in zip(shown, sent, strict=True):
        assert fits(expected, received), (expected, received)
    assert "decided" in (tmp_path / "verified.txt").read_text(encoding="utf-8").lower()


def test_the_signature_of_a_webhook_is_checked_as_shown() -> None:
    (check,) = [text for language, text in blocks() if language == "python" and "is_genuine" in text]
    names: dict[str, Any] = {}
    exec(check, names)
    secret, body = "whsec_c2VjcmV0", b"{}"
    headers = {"webhook-id": "1", "webhook-timestamp": "2"}
    headers["webhook-signature"] = signature(secret, "1", "2", body)
    assert names["is_genuine"](secret, headers, body)
    assert not names["is_genuine"](secret, headers, b"{ }")


def test_the_client_gets_what_is_asserted(place: tuple[str, Store], tmp_path: Path) -> None:
    programs = [text for language, text in blocks() if language == "python" and "Client(" in text]
    assert len(programs) == 1
    program = programs[0].replace(ADDRESS, place[0])
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)


def test_every_operation_is_in_the_table(place: tuple[str, Store]) -> None:
    table = [
        line.split("|")[2] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")
    ]
    known = set()
    for cell in table:
        method = path = ""
        for written in re.findall("`([^`]+)`", cell):
            if written.startswith("…"):
                path = path.rpartition("/")[0] + written[1:]
            elif written.startswith(("GET", "POST")):
                method, _, path = written.partition(" ")
                path = path if path.startswith("/api/") else f"/api/v1/studies/ID{path}"
            known.add((method.lower(), path))
    with urlopen(f"{place[0]}/api/v1/openapi.json") as response:
        paths = json.load(response)["paths"]
    for path, methods in paths.items():
        pattern = re.compile(re.sub(r"\{\w+\}", "[A-Za-z]+", path))
        for method in methods:
            assert any(one == method and pattern.fullmatch(other) for one, other in known), (method, path)
