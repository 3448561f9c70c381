"""Ballots: a crowd is sampled voter by voter, and one voter's answers are one bet.

``explorer`` talks to voters. What it decides are events, kept as ``records``; ``state`` is what they add up
to. ``drawing`` draws ballots with known chances, ``bets`` turns a design into a bet against every rival,
``evidence`` says what follows from a log, ``tables`` the same where the rivals are too many to list,
``conclusions`` whether that is a verdict, ``planning`` what to put on the next ballot. The proof that it is
sound is in docs/algorithms/ballots.md.
"""
