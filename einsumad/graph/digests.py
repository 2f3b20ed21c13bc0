"""Digests of content, by which nodes and plans are told apart and put in order.

Owns the choice of the function. Imports CPython's module of it: the one that the standard library hands on,
:mod:`hashlib`, loads OpenSSL first, which takes as long as all node kinds.
"""

from _blake2 import blake2b

__all__ = ["blake2b"]
