"""The exceptions of toolseam and the closed set of codes (contract §1)."""

import copy
import pickle

import pytest

from toolseam import ContractViolation, ErrorCode, ToolseamError
from toolseam._errors import LoadError, SettingsError, SpecError

CODES = [
    "invalid_arguments",
    "not_found",
    "permission_denied",
    "approval_denied",
    "unavailable",
    "timeout",
    "cancelled",
    "command_failed",
    "conflict",
    "execution_error",
    "contract_error",
]


def test_codes_are_the_closed_set_of_the_contract() -> None:
    """The codes are exactly those of the contract, in its order."""
    assert [code.value for code in ErrorCode] == CODES


def test_a_code_is_its_text() -> None:
    """A code is found by, formats and concatenates as its slug."""
    assert ErrorCode("not_found") is ErrorCode.NOT_FOUND
    assert f"{ErrorCode.NOT_FOUND}" == "not_found"
    assert "Error: " + ErrorCode.TIMEOUT == "Error: timeout"


@pytest.mark.parametrize("kind", [ContractViolation, SpecError, LoadError, SettingsError])
def test_every_exception_is_a_toolseam_error(kind: type[Exception]) -> None:
    """One `except ToolseamError` catches everything that toolseam itself raises."""
    assert issubclass(kind, ToolseamError)


def test_a_violation_names_path_and_reason() -> None:
    """A violation tells where the value stands and what is wrong with it."""
    violation = ContractViolation("data.rows[3]", "Decimal is no JSON value")

    assert violation.path == "data.rows[3]"
    assert violation.reason == "Decimal is no JSON value"
    assert str(violation) == "data.rows[3]: Decimal is no JSON value"


def test_a_violation_survives_copy_and_pickle() -> None:
    """A violation crosses a process boundary with its path and reason."""
    violation = ContractViolation("data", "no JSON")

    for twin in (copy.copy(violation), pickle.loads(pickle.dumps(violation))):  # noqa: S301
        assert (twin.path, twin.reason, str(twin)) == ("data", "no JSON", "data: no JSON")


def test_a_settings_error_keeps_file_and_key() -> None:
    """A refused settings key is data on the exception, text for people."""
    error = SettingsError("unknown key", key="limits.tiemout_s")

    assert (str(error), error.file, error.key) == ("unknown key", None, "limits.tiemout_s")


@pytest.mark.parametrize("kind", [ToolseamError, ContractViolation, ErrorCode])
def test_public_classes_show_the_public_module(kind: type) -> None:
    """Messages and docs say `toolseam.X`, not where the class happens to be written."""
    assert kind.__module__ == "toolseam"
