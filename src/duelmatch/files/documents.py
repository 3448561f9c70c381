"""What is in a file: text, and YAML and JSON as plain mappings, lists and words, checked; and back.

YAML is read event by event. ``safe_load`` keeps the last of two equal keys, expands aliases into gigabytes
and turns the name ``No`` into ``False``. A loader of our own could refuse those, but only after the C library
has composed the whole file, which overflows the stack on a deeply nested one.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeAlias

import yaml
from yaml.resolver import Resolver

from duelmatch.errors import FileError, ProblemError, brief, did_you_mean, listed
from duelmatch.phrases import printable

AnyPath = str | os.PathLike[str]

LONGEST_MESSAGE = 1000

DEEPEST = 10
LINE_WIDTH = 100

NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]*")

_MEANINGS = {
    "int": "a number",
    "float": "a number",
    "bool": "yes or no",
    "null": "nothing",
    "timestamp": "a date",
}
_TEXT_TAG = "tag:yaml.org,2002:str"
_RESOLVER = Resolver()
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BaseDumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


@dataclass(frozen=True, slots=True)
class Bare:
    """A word without quotes that is not text: a number, a date, YAML's yes, no and null."""

    raw: str
    meaning: str = "a number"
    where: str = ""


Tree: TypeAlias = "dict[str, Tree] | list[Tree] | str | Bare | bool | None"
"""What is in a file: mappings, lists, texts, words that are not text, and JSON's true, false and null."""


@contextmanager
def naming(path: AnyPath) -> Iterator[Path]:
    """Begin the message of every refusal with the path, and keep it one line of a decent length."""
    if not isinstance(path, (str, os.PathLike)):
        raise FileError(f"A file is named by a text or a path, not {brief(path)}.")
    try:
        if "\0" in os.fspath(path):
            raise FileError("The name of a file cannot have a null character in it.")
        yield Path(path)
    except (FileError, ProblemError) as error:
        message = f"{os.fspath(path)}: {error}"
        if len(message) > LONGEST_MESSAGE:
            message = message[: LONGEST_MESSAGE - 1] + "…"
        raise type(error)(printable(message)) from None


@contextmanager
def explaining(verb: str, what: str = "file") -> Iterator[None]:
    """Turn an error of the operating system into a sentence: the file cannot be read, written or made."""
    try:
        yield
    except OSError as error:
        raise FileError(f"The {what} cannot be {verb}: {error.strerror or error}.") from None


def read_text(source: Path | BinaryIO, limit: int) -> str:
    """Return the text of a file, or of what is left of an open one, of at most ``limit`` bytes."""
    return decoded(read_bytes(source, limit))


def read_bytes(source: Path | BinaryIO, limit: int) -> bytes:
    """Return what is in a file, or left of an open one, if that is at most ``limit`` bytes."""
    with explaining("read"):
        if not isinstance(source, Path):
            data = source.read(limit + 1)
        elif not source.exists():
            raise FileError("There is no such file.")
        else:
            check_regular(source)  # opening a pipe would wait for its other end
            with open(source, "rb") as file:
                data = file.read(limit + 1)
    if len(data) > limit:
        raise FileError(f"The file is too large: more than {limit:,} bytes.")
    return data


def check_regular(path: Path) -> None:
    """Refuse a directory, a device or a pipe."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise FileError(f"This is a {'directory' if path.is_dir() else 'device or pipe'}, not a file.")


def decoded(data: bytes) -> str:
    """Return the text that some bytes are, which is not empty."""
    if b"\0" in data:
        raise FileError(f"This is not a text file: byte {data.index(0)} is zero.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The decoder counts from behind the byte order mark.
        offset = error.start + len(data) - len(error.object)
        raise FileError(f"This is not UTF-8 text: byte {offset} is wrong. Save the file as UTF-8.") from None
    if not text.strip():
        raise FileError("The file is empty.")
    return text


def shown(value: object) -> str:
    """Describe a value for a message, however large it is."""
    match value:
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case Bare(raw):
            return f"{raw:.50}"
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
    return f"'{value:.50}'"


def check_keys(given: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    """Refuse a key that nobody reads.

    :raises ProblemError: since a mapping may come from Python as well.
    """
    for key in given:
        if key not in known:
            rest = f"; the known ones are {listed(known, 20)}." if known else "."
            hint = did_you_mean(str(key), known)
            raise ProblemError(f"{what} has an unknown key '{key!s:.50}'{rest}{hint}")


def name(value: Tree, what: str) -> str:
    """Return a name or another short text; whole numbers may stand without quotes."""
    match value:
        case str():
            if any("\ud800" <= character <= "\udfff" for character in value):
                raise FileError(f"{what} has half of a surrogate pair, which is not a character.")
            return value
        case Bare(raw) if WHOLE_NUMBER.fullmatch(raw):
            return raw
        case Bare(raw, meaning, where):
            raise FileError(
                f"{where}{what} must be text, but {raw:.50} means {meaning}; "
                f'put quotes around it: "{raw:.50}".'
            )
    raise FileError(f"{what} must be text, not {shown(value)}.")


def number(value: Tree, what: str) -> float:
    """Return a number."""
    match value:
        case Bare(raw) if NUMBER.fullmatch(raw):
            return float(raw)
        case Bare(raw, _, where):
            raise FileError(f"{where}{what} must be a number, not {raw:.50}.")
    raise FileError(f"{what} must be a number, not {shown(value)}.")


def parse(text: str, suffix: str) -> Tree:
    """Return the content of a YAML or JSON text; words that are not text come as :class:`Bare`."""
    tree = _parse_json(text) if suffix == ".json" else _parse_yaml(text)
    if tree is None:
        raise FileError("The file is empty.")
    return tree


def _parse_json(text: str) -> Tree:
    try:
        tree: Tree = json.loads(
            text,
            object_pairs_hook=_json_mapping,
            parse_int=Bare,
            parse_float=Bare,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise FileError(f"The JSON is broken at {place}: {error.msg}.") from None
    except RecursionError:
        raise FileError("The lists and mappings are nested too deeply.") from None
    return tree


def _json_mapping(pairs: list[tuple[str, Tree]]) -> Tree:
    mapping: dict[str, Tree] = {}
    for key, value in pairs:
        name(key, "A key")
        if key in mapping:
            raise FileError(f"The key '{key:.50}' is given twice in one mapping.")
        mapping[key] = value
    return mapping


def _refuse_constant(constant: str) -> NoReturn:
    raise FileError(f"{constant} is not a number that JSON allows.")


def _parse_yaml(text: str) -> Tree:
    tree: Tree = None
    documents = 0
    events = yaml.parse(text, Loader=_Loader)
    try:
        for event in events:
            documents += isinstance(event, yaml.DocumentStartEvent)
            if documents > 1:
                raise FileError(f"{_line(event)}a second YAML document begins; one is expected.")
            if isinstance(event, yaml.NodeEvent):
                tree = _yaml_node(event, events, depth=1)
    except yaml.MarkedYAMLError as error:
        raise FileError(_yaml_sentence(error, text)) from None
    except yaml.YAMLError as error:
        raise FileError(f"The YAML is broken: {str(error).splitlines()[0]}.") from None
    return tree


def _yaml_node(event: Any, events: Iterator[Any], depth: int) -> Tree:
    if event.anchor is not None:
        raise FileError(
            f"{_line(event)}anchors and aliases (& and *) are not supported; "
            "write the value out, or put quotes around it."
        )
    if depth > DEEPEST:
        raise FileError(f"{_line(event)}lists and mappings are nested too deeply.")
    if event.tag not in (None, _TEXT_TAG):
        raise FileError(f"{_line(event)}the tag {event.tag:.50} is not supported; leave it out.")
    if isinstance(event, yaml.SequenceStartEvent):
        items: list[Tree] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(_yaml_node(event, events, depth + 1))
        return items
    if isinstance(event, yaml.MappingStartEvent):
        mapping: dict[str, Tree] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = name(_yaml_node(event, events, depth + 1), "A key")
            if key in mapping:
                raise FileError(f"{_line(event)}the key '{key:.50}' is given twice.")
            mapping[key] = _yaml_node(next(events), events, depth + 1)
        return mapping
    is_text = event.tag == _TEXT_TAG or not event.implicit[0]
    return event.value if is_text else _plain_scalar(event.value, _line(event))


def _plain_scalar(raw: str, where: str = "") -> Tree:
    if NUMBER.fullmatch(raw):
        return Bare(raw, where=where)
    tag: str = _RESOLVER.resolve(yaml.ScalarNode, raw, (True, False))  # type: ignore[no-untyped-call]
    meaning = _MEANINGS.get(tag.rpartition(":")[2])
    if meaning is None:
        return raw
    return None if raw == "" else Bare(raw, meaning, where)


def _line(event: Any) -> str:
    return f"line {event.start_mark.line + 1}: "


def _yaml_sentence(error: yaml.MarkedYAMLError, text: str) -> str:
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return f"The YAML is broken: {error.problem}."
    line = "".join(text.splitlines()[mark.line : mark.line + 1])
    tab = "\t" in line[: mark.column + 1]
    hint = " YAML is indented with spaces, never with tabs." if tab else ""
    place = f"line {mark.line + 1}, column {mark.column + 1}"
    return f"The YAML is broken at {place}: {error.problem}.{hint}"


def dump(tree: Any, suffix: str) -> str:
    """Return YAML or JSON that people like to read: what fits on a line stands on one line."""
    if suffix == ".json":
        return _json_text(tree, indent="") + "\n"
    dumped: str = yaml.dump(tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=LINE_WIDTH)
    return dumped


def _is_leaf(values: Iterable[Any]) -> bool:
    return not any(isinstance(value, (list, dict)) for value in values)


def _json_text(tree: Any, indent: str) -> str:
    if not isinstance(tree, (list, dict)):
        return json.dumps(tree, ensure_ascii=False)
    if _is_leaf(tree.values() if isinstance(tree, dict) else tree):
        line = json.dumps(tree, ensure_ascii=False)
        if len(indent) + len(line) <= LINE_WIDTH:
            return line
    deeper = indent + "  "
    if isinstance(tree, dict):
        parts = [
            f"{json.dumps(key, ensure_ascii=False)}: {_json_text(value, deeper)}"
            for key, value in tree.items()
        ]
        return "{\n" + ",\n".join(deeper + part for part in parts) + f"\n{indent}}}"
    parts = [_json_text(value, deeper) for value in tree]
    return "[\n" + ",\n".join(deeper + part for part in parts) + f"\n{indent}]"


class _Dumper(_BaseDumper):  # type: ignore[misc, valid-type]
    """Lists of plain values on one line, several lines of text as a block, nothing by reference."""

    def ignore_aliases(self, data: object) -> bool:
        return True

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> Any:
        return super().represent_sequence(tag, sequence, _is_leaf(sequence))

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> Any:
        return super().represent_mapping(tag, mapping, False)

    def represent_text(self, text: str) -> Any:
        style = "|" if "\n" in text else None
        if isinstance(_plain_scalar(text), Bare) or not text.replace("\n", "").isprintable():
            style = '"'
        return self.represent_scalar(_TEXT_TAG, name(text, "A text"), style)


_Dumper.add_representer(str, _Dumper.represent_text)


def items_of(tree: Tree, what: str, of: str) -> list[Tree]:
    """Return a list, if it is one."""
    if not isinstance(tree, list):
        raise FileError(f"{what} must be a list of {of}, not {shown(tree)}.")
    return tree


def row_of(tree: Tree, what: str, columns: tuple[str, ...]) -> list[Tree]:
    """Return a list with an entry for each of these columns."""
    row = items_of(tree, what, f"{len(columns)}: [{', '.join(columns)}]")
    if len(row) != len(columns):
        raise FileError(
            f"{what} must be a list of {len(columns)}: [{', '.join(columns)}], not of {len(row)}."
        )
    return row
