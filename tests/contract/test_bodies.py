"""What the document calls a valid body is never refused for its shape: 200 made-up ones for every route that takes one.

A rule may refuse it, and what it is sent to may not be there; that is no matter of shape.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode

from service.api.endpoint import Endpoint
from tests.contract.api import API, ROUTES, Case, Visitor
from tests.sizes import sized

BODIES = sized(40, 200, 200)
TAKING = [route for route in ROUTES if route.body]


@pytest.mark.parametrize("route", TAKING, ids=lambda route: route.name)
def test_no_valid_body_is_refused_for_its_shape(route: Endpoint, visitor: Visitor) -> None:
    sent = []

    @given(API[route.path][route.method].as_strategy(generation_mode=GenerationMode.POSITIVE))
    @settings(max_examples=BODIES, suppress_health_check=list(HealthCheck))
    def send(case: Case) -> None:
        answer = visitor.send(case)
        sent.append(answer.status_code)
        assert answer.status_code < 500
        assert answer.status_code not in {400, 413, 415}, answer.text
        assert answer.status_code != 422 or answer.json()["code"] == "key_reused"

    send()
    assert len(sent) >= BODIES
