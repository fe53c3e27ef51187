import pytest

from support.spans import Spans


@pytest.fixture
def spans() -> Spans:
    """Give what keeps the spans of a host's telemetry."""
    return Spans()
