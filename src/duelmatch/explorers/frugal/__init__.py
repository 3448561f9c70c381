"""The frugal explorers: wealth against every rival of the champion, and duels where they tell most.

``stakes`` says what one duel tells about every matching, ``ledger`` keeps the wealth against each rival where
the rivals can be listed, ``tables`` where they cannot, ``champion`` picks whom to back, and ``search`` plays.
The proof that it all is sound is in docs/algorithms/frugal.md.
"""
