"""What the surface does not differentiate, as data: names with a status and a reason.

Owns nothing but the modules' names. Imports nothing.
"""
