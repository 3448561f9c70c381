"""Ballots: a crowd is sampled voter by voter, and one voter's answers are one bet.

``records`` has what the log keeps, ``drawing`` draws ballots with known chances, ``bets`` turns a design
into a bet against every rival, ``evidence`` says what follows from a log, ``tables`` the same where the
rivals are too many to list, ``planning`` decides what to put on the next ballot, and ``explorer`` talks to
voters. The proof that it is sound is in docs/algorithms/ballots.md.
"""
