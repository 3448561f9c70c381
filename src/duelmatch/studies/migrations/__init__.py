"""How the tables came about, one step per file in ``versions``; run by :mod:`duelmatch.studies.database`."""
