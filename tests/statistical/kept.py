"""Results kept in a file line by line, so that a measurement of hours can be stopped and resumed."""

from __future__ import annotations

import json
from collections.abc import Hashable
from pathlib import Path
from typing import Any, TextIO

from statistical.trials import Trial


class Kept:
    """The results of tasks by what they were; an unfinished last line is forgotten."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known: dict[str, Any] = {}
        self._file: TextIO | None = None
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = 0
        if path.exists():
            for line in path.read_bytes().splitlines(keepends=True):
                if not line.endswith(b"\n"):
                    break
                task, result = json.loads(line)
                self._known[task] = Trial(*result["trial"]) if isinstance(result, dict) else tuple(result)
                whole += len(line)
        self._file = path.open("a", encoding="utf-8")
        self._file.truncate(whole)

    def __contains__(self, task: Hashable) -> bool:
        return repr(task) in self._known

    def __getitem__(self, task: Hashable) -> Any:
        return self._known[repr(task)]

    def add(self, task: Hashable, result: Any) -> None:
        """Keep a result."""
        if self._file is None:
            return
        plain = (
            {"trial": [result.verdict, result.duels, result.seconds]} if isinstance(result, Trial) else result
        )
        self._file.write(json.dumps([repr(task), plain]) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Leave the file as it is, to go on later."""
        if self._file is not None:
            self._file.close()

    def finish(self) -> None:
        """Remove the file: what it kept is on the page now."""
        self.close()
        if self._path is not None:
            self._path.unlink()
