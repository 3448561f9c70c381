"""The version of the package, for whatever writes it down."""

__version__ = "0.2.0.dev0"
