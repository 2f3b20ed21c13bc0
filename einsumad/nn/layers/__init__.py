"""The layers. Each sets its parameters and calls one function of ``functional``."""
