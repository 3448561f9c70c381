"""The figures of a report, a module for each kind."""
