"""How results are printed: tables and short paragraphs for people, JSON for programs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial, wraps
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn

import click
from rich.box import ROUNDED
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from duelmatch.cli import PIPE_CLOSED
from duelmatch.phrases import filled_by, printable, spoken

if TYPE_CHECKING:
    from duelmatch.problem import Details

QUIET_SECONDS = 60.0
"""Between two lines of progress where there is no terminal."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for other programs to read.")


class _Console(Console):
    """A console that prints names as they are, and ends quietly when its reader is gone."""

    def __init__(self, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, highlight=False, emoji=False)

    def on_broken_pipe(self) -> NoReturn:
        """Leave without a word."""
        raise SystemExit(PIPE_CLOSED)


class Page:
    """What a command prints for people."""

    def __init__(self, stderr: bool = False) -> None:
        self._console = _Console(stderr)
        self._begun = False

    def _gap(self) -> None:
        if self._begun:
            self._console.print()
        self._begun = True

    def paragraph(self, text: str, style: str = "") -> None:
        """Print a paragraph, with an empty line before it unless it is the first."""
        self._gap()
        self.line(text, style)

    def line(self, text: str, style: str = "", indent: int = 0) -> None:
        """Print text right below what was printed last."""
        width = max(self._console.width - indent, 1)
        for line in Text(printable(text), style=style).wrap(self._console, width):
            line.rstrip()
            self._console.print(Text(" " * indent) + line)

    def ask(self, question: str, explanation: Iterable[str]) -> str:
        """Return what is answered on the same line; to ``?``, explain and ask again.

        :raises EOFError: at the end of the input.
        """
        while True:
            self._console.print(Text(question, style="bold"), end=" ", soft_wrap=True)
            line = "" if sys.stdin is None else sys.stdin.readline()
            if not line or not sys.stdin.isatty():
                self.line(line.strip() or " ")  # a terminal shows what is typed by itself
            if not line:
                raise EOFError
            if line.strip() != "?":
                return line.strip()
            for each in explanation:
                self.line(each, indent=2)

    def picture(self, summary: Mapping[str, Any]) -> None:
        """Say where the ``plot`` is, if there is one, on one line, so that the path can be copied."""
        if "plot" in summary:
            self._gap()
            self._console.print(Text(f"Picture: {printable(summary['plot'])}"), soft_wrap=True)

    def heading(self, text: str) -> None:
        """Print the title of what follows."""
        self.paragraph(text, style="bold")

    def facts(self, rows: Iterable[tuple[str, object]]) -> None:
        """Print names and values under each other."""
        self._gap()
        facts = [(printable(name), _cell(value)) for name, value in rows]
        width = max(cell_len(name) for name, _ in facts)
        for name, value in facts:
            line = Text(name + " " * (width - cell_len(name) + 2))
            self._console.print(line.append(value, style="bold"))

    def table(
        self, headings: Sequence[str], rows: Iterable[Iterable[object]], right: Collection[str] = ()
    ) -> None:
        """Print a table; the columns whose headings are in ``right`` are aligned there."""
        self._gap()
        table = Table(header_style="bold", box=ROUNDED)
        for heading in headings:
            table.add_column(heading, justify="right" if heading in right else "left", overflow="fold")
        for row in rows:
            table.add_row(*map(_cell, row))
        self._console.print(table)


def _cell(value: object) -> str:
    """Write a value; of a line-up, who fills which position."""
    if isinstance(value, Mapping):
        value = filled_by(value)
    return f"{value:,}" if isinstance(value, int) else printable(str(value))


@dataclass(frozen=True, slots=True)
class Output:
    """What a command has found: for programs, and for people (a paragraph, or what prints it)."""

    summary: Mapping[str, Any]
    text: str | Callable[[Page], object]
    exit_code: int = 0

    def show(self, page: Page) -> None:
        """Print it for people."""
        if isinstance(self.text, str):
            page.paragraph(self.text)
        else:
            self.text(page)


def printed(command: Callable[..., Output | None], talks: bool = False) -> Callable[..., None]:
    """Give a command the option --json, and print what it returns, as JSON or for people.

    A command that ``talks`` is passed the page; with --json that is on standard error. One that returns None
    has printed everything itself.
    """

    @wraps(command)
    def with_json(*arguments: Any, as_json: bool, **options: Any) -> None:
        page = Page(stderr=as_json)
        output = command(*arguments, **options, **({"page": page} if talks else {}))
        if output is None:
            return
        if as_json:
            print_json(output.summary)
        else:
            output.show(page)
        if output.exit_code:
            raise click.exceptions.Exit(output.exit_code)

    return json_option(with_json)


conversation = partial(printed, talks=True)


@contextmanager
def working(task: str) -> Iterator[None]:
    """Show on a terminal's stderr that something takes its time."""
    if not sys.stderr.isatty():
        yield
        return
    with _Console(stderr=True).status(f"{task} ..."):
        yield


def _now_and_then(
    seconds: float, show: Callable[[str], None], at_once: bool = False
) -> Callable[[Callable[[], str]], None]:
    """Return a function that shows a text every so many seconds.

    The text is given as a function, which is called only when its turn has come.
    """
    shown_at = monotonic() - (seconds if at_once else 0.0)

    def offered(text: Callable[[], str]) -> None:
        nonlocal shown_at
        if monotonic() - shown_at >= seconds:
            show(printable(text()))
            shown_at = monotonic()

    return offered


@contextmanager
def live_line(task: str) -> Iterator[Callable[[Callable[[], str]], None]]:
    """Give a function that shows a text on stderr: in place of the last on a terminal, or now and then."""
    if not sys.stderr.isatty():
        yield _now_and_then(30.0, lambda text: click.echo(f"{task}: {text}", err=True))
        return
    with _Console(stderr=True).status(f"{task} ...") as status:
        yield _now_and_then(0.5, lambda text: status.update(Text(f"{task}: {text}")), at_once=True)


@contextmanager
def progress_bar(runs: int) -> Iterator[Callable[[int, str, float | None], None]]:
    """Give a function to call with the runs done, words to show, and the seconds left as far as known.

    On a terminal they are a bar, or else a line on stderr now and then.
    """
    if not sys.stderr.isatty():
        show = _now_and_then(QUIET_SECONDS, lambda text: click.echo(text, err=True))
        yield lambda done, words, left: show(lambda: f"{done:,} of {runs:,} runs; {words}{_left(left)}")
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("runs, {task.fields[rate]}{task.fields[words]}"))
    with Progress(*columns, console=_Console(stderr=True)) as progress:
        task = progress.add_task("", total=runs, rate="", words="starting")
        first: list[int] = []

        def update(done: int, words: str, seconds_left: float | None) -> None:
            if not first:
                first.append(done)
            rate = (done - first[0]) / max(progress.tasks[0].elapsed or 0.0, 1e-9)
            progress.update(task, completed=done, rate=f"{rated(rate)}, ", words=words + _left(seconds_left))

        yield update


def rated(rate: float) -> str:
    """Return a rate for people.

    >>> rated(12.3), rated(0.05)
    ('12.3 a second', '3.0 a minute')
    """
    return f"{rate:,.1f} a second" if rate >= 1 or rate == 0 else f"{60 * rate:,.1f} a minute"


def _left(seconds: float | None) -> str:
    """Say how much time is left, if that is known.

    >>> _left(59.6), _left(3661), _left(None)
    (', 1:00 left', ', 1:01:01 left', '')
    """
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f", {hours}:{minutes:02d}:{rest:02d} left" if hours else f", {minutes}:{rest:02d} left"


def print_json(summary: Mapping[str, Any]) -> None:
    """Print JSON; what is infinite becomes null."""
    utf8 = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
    click.echo(json.dumps(_finite(summary), indent=2, ensure_ascii=not utf8, allow_nan=False))


def picked(value: object, *names: str) -> dict[str, Any]:
    """Return some attributes of a value by name; all are None if it is None."""
    return {name: None if value is None else getattr(value, name) for name in names}


def _finite(value: Any) -> Any:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {key: _finite(entry) for key, entry in value.items()}
        case list() | tuple():
            return [_finite(entry) for entry in value]
    return value


def rounded(value: float) -> str:
    """Return a number with three digits that matter and thousands separators: 12,400,000.

    >>> rounded(12_406_257), rounded(833.2), rounded(0.01234), rounded(4)
    ('12,400,000', '833', '0.0123', '4')
    """
    if value == 0 or not math.isfinite(value) or (isinstance(value, int) and abs(value) < 1000):
        return f"{value:g}"
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{round(value, digits):,.{max(digits, 0)}f}"


def utc_time(at: float) -> str:
    """Return a time of a log for people.

    >>> utc_time(0.0)
    '1970-01-01 00:00:00'
    """
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def unsettled_label(shortfall: float | None) -> str:
    """Return what the line-up is that a log records while nothing is decided: a bound is of a panel."""
    return "First in the test" if shortfall is None else "Line-up of the log"


def titles_of(details: Mapping[str, Details]) -> dict[str, str]:
    """Return what people read in place of names, where that is something else."""
    return {name: about.title for name, about in details.items() if about.title not in (None, "", name)}


def titled(name: str, titles: Mapping[str, str]) -> str:
    """Return what people read on the pages, with the name by which programs know it.

    >>> titled("ann", {"ann": "Anna A."}), titled("bob", {})
    ('Anna A. (ann)', 'bob')
    """
    return f"{titles[name]} ({name})" if titles.get(name, name) != name else name


def spoken_titles(names: str | tuple[str, ...], titles: Mapping[str, str]) -> str:
    """Return who fills a position, one or several, in words."""
    return spoken(tuple(titled(name, titles) for name in (names if isinstance(names, tuple) else (names,))))
