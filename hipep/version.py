"""The version of hipep."""

__version__ = "0.1.0"
