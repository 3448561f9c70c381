"""The frugal explorers: wealth against every rival of the champion, and duels where they tell most.

``stakes`` says what one duel tells about every matching, and ``design`` which duels tell most, and against
whom the bets on each rival are. ``listed`` keeps the wealth against each rival and the proofs where the
rivals can be listed, ``tables`` where they cannot. ``finding`` chooses the duels that improve the leader
while a proof is out of reach, and ``search`` plays. The proof of soundness is in docs/algorithms/frugal.md.
"""
