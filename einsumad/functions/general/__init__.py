"""The rows of the functions from tensors to tensors. Importing this package registers them.

Owns the order of import. Imports its modules. Invariant: every module here is imported here.
"""
