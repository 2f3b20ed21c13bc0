"""Hypothesis profiles: "test" is repeatable, "fuzz" explores (`make fuzz`, FUZZ_EXAMPLES examples each).

A property that needs more examples than the profile's takes the larger number, so that fuzzing still raises
it: `@settings(max_examples=max(2000, settings().max_examples))`.
"""

import os

from hypothesis import HealthCheck, settings

# Deadlines measure the machine and not the code, and the first example of a kind is slow: it is planned.
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}

settings.register_profile("test", max_examples=100, derandomize=True, database=None, **COMMON)
settings.register_profile("fuzz", max_examples=int(os.environ.get("FUZZ_EXAMPLES", "10000")), **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))
