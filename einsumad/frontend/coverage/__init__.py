"""What of NumPy's public names is supported, and why the rest is not.

Owns the inventory as data, one module for each part of NumPy. Imports nothing. Invariant: every public function has a
handler or an entry here, never both.
"""
