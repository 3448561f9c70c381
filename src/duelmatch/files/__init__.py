"""Everything that reads and writes files: the formats, atomic writing and locking.

A problem is YAML or JSON::

    candidates: [ann, bob, cyd]       # or [{name: ann, title: Ann, text: Likes cake}, bob]
    positions: [chair, editor]
    edges:                            # who can fill what; left out if everyone can fill everything
      chair: [ann, bob]
      editor: [bob, cyd]
    preferences:                      # optional
      chair:
      - [ann, bob, 0.55]              # ann beats bob at chair with this probability
      editor:
      - [bob, cyd, 0.6]

A candidate or position may carry a title, a text, a picture, a link and a place for the voters to see; a
candidate its ``capacity``, a position its ``seats`` and its ``weight``. What else a decision must obey::

    candidates: [{name: ann, capacity: 2}, bob, cyd]
    positions: [{name: chair, weight: 2}, {name: jury, seats: 2}]
    rules:
    - of: [ann, [bob, jury]]          # a candidate, or [candidate, position]
      at_most: 1                      # and, or, at_least
    - together: [bob, cyd]

``edges`` may also be a list of [candidate, position], ``preferences`` a list of [position, first,
second, probability]. As CSV, a problem has the columns ``candidate,position``, preferences
``position,first,second,probability`` and answers ``position,winner,loser``, perhaps with ``weight``.

Nothing is imported here, so that a module that only writes text does not load numpy or YAML.
"""
