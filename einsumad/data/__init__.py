"""Data for training: sources, batches and splits.

Owns nothing but the names. Imports the modules of this folder.
"""
