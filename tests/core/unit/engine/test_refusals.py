"""What a server says to every request travels in the error that ends the task, as values."""

import pickle

import pytest

from ais_prompt.engine import FailureWatch
from ais_prompt.errors import ModelError, Refusal
from ais_prompt.types import Completion, Failure, ServerFailure

URL = "http://127.0.0.1:1/v1"
CASES = {
    ServerFailure.of("http_401", "Who are you (again)?", URL, "no key is sent", fatal=True): Refusal(
        "401", "Who are you (again)?", URL, "no key is sent"
    ),
    ServerFailure.of("unreachable", "Connection refused", URL): Refusal("", "Connection refused", URL, ""),
    ServerFailure.of("certificate", "the certificate is not trusted", URL, fatal=True): None,
    Failure("http_401", "wrong key", fatal=True): None,  # of a part that does not say more
}


def test_the_error_has_the_parts_of_its_message() -> None:
    for failure, refusal in CASES.items():
        with pytest.raises(ModelError, match=r"failed: |would fail: ") as raised:
            FailureWatch(has_answered=False).check(Completion(failure=failure))
        assert raised.value.refusal == refusal
        assert failure.message in raised.value.what
        again = pickle.loads(pickle.dumps(raised.value))
        assert (again.refusal, str(again)) == (refusal, str(raised.value))


def test_a_failure_is_stored_without_its_parts() -> None:
    failure = ServerFailure.of("http_404", "no such model", URL, "most servers want /v1", fatal=True)
    stored = Completion(failure=failure).to_json()["failure"]
    assert stored == {
        "kind": "http_404",
        "message": f"no such model ({URL}; most servers want /v1)",
        "fatal": True,
    }
