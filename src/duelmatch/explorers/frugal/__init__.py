"""The frugal explorers: wealth against every rival of the champion, and duels where they tell most.

``stakes`` says what one duel tells about every matching, and ``allocation`` which duels tell most. ``listed``
keeps the wealth against each rival and the proofs where the rivals can be listed, ``tables`` where they
cannot. ``opponents`` chooses the opponent of each rival, ``finding`` the duels that improve the leader while
a proof is out of reach, and ``search`` plays. The proof of soundness is in docs/algorithms/frugal.md.
"""
