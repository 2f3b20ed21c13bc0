"""What goes wrong with a request.

Owns the exception. Imports nothing of the package. Invariant: its message says what to type instead.
"""


class RequestError(Exception):
    """A request that makes no sense; the message says what to do."""
