"""Small problems that several tests of the command line read from a file."""

NO_PREFERENCES = "candidates: [a, b, c]\npositions: [s, t]\n"
CYCLE = """
candidates: [a, b, c]
positions: [s]
preferences:
  s: [[a, b, 0.6], [b, c, 0.6], [c, a, 0.6]]
"""
ORDER = CYCLE.replace("c, a, 0.6", "c, a, 0.4")
TIE = "candidates: [a, b]\npositions: [s]\npreferences:\n  s: [[a, b, 0.5]]\n"
ONLY_ONE = "candidates: [a]\npositions: [s]\npreferences: {}\n"
HALF_CERTAIN = "edges:\n  s: [a]\n  t: [a, b, c]\n"
