"""Every operation keeps its word, whatever it is asked: by examples, at its bounds and past them, and at random.

All checks of schemathesis are made on each answer, narrowed only as tests/contract/api.py says. The random requests are
1,000 in all, 10,000 at full size; examples and bounds are about as many again, and tests/contract/test_bodies.py sends
200 to each route that takes a body. At its quick size it asks the routes of one game, for all.
"""

from hypothesis import HealthCheck, settings

from tests.contract.api import API, ROUTES, SHIPPED, Case, Visitor
from tests.sizes import CI, sized

REQUESTS = sized(600, 1_500, 10_000)
ASKED = [route for route in ROUTES if route.parameters or route.body]

# The routes of a game are those of any other, but for the bodies that they take, which test_bodies.py sends to all.
_, *OTHERS = sorted(game.name for game in SHIPPED)
FUZZED = API if CI else API.exclude(path_regex=f"^/v1/({'|'.join(OTHERS)})/")


@FUZZED.parametrize()
@settings(max_examples=REQUESTS // len(ASKED) + 1, suppress_health_check=list(HealthCheck))
def test_an_operation_keeps_its_word(case: Case, visitor: Visitor) -> None:
    case.validate_response(visitor.send(case))
