"""YAML and JSON: as strict as people need, and never a crash."""

from __future__ import annotations

import time

from cases import each
from duelmatch.files.problems import load_preferences, load_problem
from files.team import check_refused, refusal, write


@each(
    ("name", "content", "fragment"),
    [
        # broken YAML
        ("b.yaml", "candidates: [ann\npositions: [x]", "broken at line 2, column 10"),
        ("b.yaml", "a: b: c", "broken at line 1, column 5"),
        ("b.yaml", "edges:\n\tchair: [ann]", "YAML is indented with spaces, never with tabs."),
        ("b.yaml", "a: \x07", "unacceptable character #x0007"),
        ("b.yaml", "edges: {x: [a]}\n---\nedges: {x: [a]}", "line 2: a second YAML document begins"),
        ("b.yaml", "candidates: [*ann]", "line 1: anchors and aliases (& and *) are not supported"),
        ("b.yaml", "candidates: &all [ann]\npositions: *all", "line 1: anchors and aliases"),
        ("b.yaml", "a: 1\nx: {<<: &b {c: d}}", "line 2: anchors and aliases"),
        ("b.yaml", "edges: {x: [a]}\nedges: {x: [b]}", "line 2: the key 'edges' is given twice"),
        ("b.yaml", "edges:\n  x: [a]\n  x: [b]", "line 3: the key 'x' is given twice"),
        ("b.yaml", "edges: {7: [a], '7': [b]}", "the key '7' is given twice"),
        ("b.yaml", "[" * 100_000, "line 1: lists and mappings are nested too deeply"),
        ("b.yaml", "- " * 100_000, "nested too deeply"),
        ("b.yaml", "? " * 100_000, "nested too deeply"),
        ("b.yaml", "{a: " * 100_000, "nested too deeply"),
        ("b.yaml", "!!python/object/apply:os.system [ls]", "line 1: the tag tag:yaml.org,2002:python/"),
        ("b.yaml", "candidates: !!set {ann}", "the tag tag:yaml.org,2002:set is not supported"),
        ("b.yaml", "? [a, b]\n: c", "A key must be text, not a list"),
        # broken JSON
        ("b.json", '{"edges": [}', "The JSON is broken at line 1, column 12: Expecting value."),
        ("b.json", '{"edges":\n {"x": ["a"]},}', "broken at line 2"),
        ("b.json", "{'edges': 1}", "broken at line 1, column 2"),
        ("b.json", '{"edges": {"x": ["a"], "x": ["b"]}}', "The key 'x' is given twice"),
        ("b.json", "[" * 100_000, "nested too deeply"),
        ("b.json", '{"a":' * 100_000, "nested too deeply"),
        ("b.json", '{"candidates": [NaN]}', "NaN is not a number that JSON allows"),
        ("b.json", '{"candidates": [-Infinity]}', "-Infinity is not a number that JSON allows"),
        ("b.json", '{"candidates": ["\\ud800"], "positions": ["x"]}', "half of a surrogate pair"),
        ("b.json", '{"edges": {"\\ud800": ["x"]}}', "half of a surrogate pair"),
        # words that YAML does not take for text
        ("n.yaml", "edges:\n  x: [No]", 'line 2: A candidate must be text, but No means yes or no; put '
         'quotes around it: "No".'),
        ("n.yaml", "edges: {on: [a]}", 'A key must be text, but on means yes or no'),
        ("n.yaml", "edges: {x: [1.10]}", 'but 1.10 means a number; put quotes around it: "1.10"'),
        ("n.yaml", "edges: {x: [1e5]}", "but 1e5 means a number"),
        ("n.yaml", "edges: {x: [007]}", "but 007 means a number"),
        ("n.yaml", "edges: {x: [1_000]}", "but 1_000 means a number"),
        ("n.yaml", "edges: {x: [12:30]}", "but 12:30 means a number"),
        ("n.yaml", "edges: {x: [2024-05-01]}", "but 2024-05-01 means a date"),
        ("n.yaml", "edges: {x: [2024-99-99]}", "but 2024-99-99 means a date"),
        ("n.yaml", "edges: {x: [Null]}", "but Null means nothing"),
        ("n.yaml", "edges: {x: [.nan]}", "but .nan means a number"),
        ("n.yaml", "edges: {x: [ann, ]}\ncandidates: [ann, ~]", "but ~ means nothing"),
        ("n.yaml", "candidates:\n- ann\n-\npositions: [x]", "A candidate must be text, not nothing"),
        ("n.json", '{"edges": {"x": [false]}}', "A candidate must be text, not false"),
        ("n.json", '{"edges": {"x": [1.10]}}', 'put quotes around it: "1.10"'),
        ("n.json", '{"edges": {"x": [1e999]}}', "but 1e999 means a number"),
        ("n.json", '{"edges": {"x": [null]}}', "not nothing"),
    ],
)  # fmt: skip
def test_what_could_be_misread_is_refused(name, content, fragment):
    check_refused(load_problem, name, content, fragment)


@each("name", ["garbage.yaml", "garbage.json", "garbage.csv"])
@each("size", [4_999_999, 10_000_000])
def test_megabytes_of_garbage_are_refused_quickly(name, size):
    write(name, b"[x: {" * (size // 5))
    started = time.process_time()
    refusal(load_problem, name)
    refusal(load_preferences, name)
    assert time.process_time() - started < 2
