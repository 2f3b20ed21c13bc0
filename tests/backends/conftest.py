"""The fixtures of the conformance suite: each library that is there, and those that the front end takes."""

from __future__ import annotations

import pytest

from tests.backends.libraries import Backend, backends


@pytest.fixture(params=backends(), ids=str)
def backend(request: pytest.FixtureRequest) -> Backend:
    return request.param


@pytest.fixture(params=[each for each in backends() if each.in_front], ids=str)
def library(request: pytest.FixtureRequest) -> Backend:
    return request.param
