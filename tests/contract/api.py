"""The API as schemathesis sees it: the shipped document, what is checked of each answer, and who asks.

Left out, for JSON Schema can't say it: a valid request may be refused by a rule (409), for its version (412), for its
key (422) or for coming too often (429), and the address of a WebSocket takes a handshake alone (426). A request outside
the document is never refused by a rule: the contract is looked at first.
"""

from typing import Any

import msgspec
import requests
import schemathesis

from service import games
from service.api.document import document
from service.app import endpoints
from tests.served import Person

Case = schemathesis.Case[Any]

SHIPPED = games.find()
ROUTES = endpoints(SHIPPED)
DOCUMENT = msgspec.json.decode(msgspec.json.encode(document(ROUTES, SHIPPED)))

CHECKS = {
    "positive_data_acceptance": {
        "expected-statuses": ["2xx", "304", "401", "403", "404", "409", "412", "422", "426", "429"]
    },
    "negative_data_rejection": {"expected-statuses": ["400", "401", "403", "404", "405", "406", "413", "415", "431"]},
    "missing_required_header": {"expected-statuses": ["400", "401", "415"]},
}

# Chains are made of valid requests, by the document's own links: others end at once, and are made up anyhow.
CHAINS = {"generation": {"mode": "positive"}, "inference": {"algorithms": []}}

CONFIG = schemathesis.Config.from_dict({"checks": CHECKS, "phases": {"stateful": CHAINS}})
API = schemathesis.openapi.from_dict(DOCUMENT, config=CONFIG)

SHOWN = "zwyrd6z1rv0whe6m1110rdv1ew"
"""The id that the document shows as an example: there is nothing of that name."""


class Visitor:
    """Somebody who sends requests that were made up, to tables that are there."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._session = requests.Session()
        self._enter()

    def close(self) -> None:
        """Close the connections."""
        self._session.close()
        self.person.http.close()

    def send(self, case: Case) -> schemathesis.Response:
        """Send a request; every other one of those for something that isn't there goes to something that is."""
        for name, value in case.path_parameters.items():
            if name in self._there and self._is_to_be_replaced(value):
                case.path_parameters[name] = self._there[name]
        return self.send_as_it_is(case)

    def send_as_it_is(self, case: Case) -> schemathesis.Response:
        """Send a request with a token; who has none any more comes back as somebody new."""
        if case.headers.get("If-Match") == "0" and _is_meant_to_be_right(case):
            # Of a header's values that hold quotes the tester makes none, and then takes a wrong one for right.
            case.headers["If-Match"] = '"41"'
        if case.path == "/v1/tables" and case.headers.get("Last-Event-ID") == "0" and _is_meant_to_be_right(case):
            # The same, for one with a dash.
            case.headers["Last-Event-ID"] = "0-0"
        # The tester makes up a ticket where one may come; beside a token none may, which no document can say.
        case.query.pop("ticket", None)
        # What options a game has no parameter's schema can say.
        case.query.pop("option", None)
        if str(case.query.get("follow")).lower() == "true":
            # The answer to it has no end.
            del case.query["follow"]
        # These belong to answers that have none.
        for name in ("since", "rulings", "checkpoints"):
            case.query.pop(name, None)
        headers = {"Authorization": f"Bearer {self.person.token}"}
        answer = case.call(base_url=self._url, session=self._session, headers=headers)
        ends = case.method == "DELETE" or case.path.endswith("/rotate")
        if ends and self.person.get("/v1/me").status_code == 401:
            self.person.http.close()
            self._enter()
        return answer

    def _enter(self) -> None:
        self.person = Person(self._url)
        self._there = {"player": self.person.id, "game": "chinkway", "page": "problems", "table": self._table()}

    def _table(self) -> str:
        """Open a table at which play has begun, and the person must act, if luck will have it."""
        table = ""
        for _ in range(20):
            opened = self.person.post("/v1/chinkway/tables", {"bots": ["anyone"] * 4})
            seated = self.person.post(f"{opened.headers['Location']}/seats")
            table = opened.json()["table"]
            if self.person.get(opened.headers["Location"]).json()["to_act"] == [seated.json()["seat"]]:
                break
        return table

    def _is_to_be_replaced(self, value: object) -> bool:
        return isinstance(value, str) and (
            value == SHOWN or (len(value) == len(SHOWN) and value[-1] in "02468bdfhkntwy")
        )


def _is_meant_to_be_right(case: Case) -> bool:
    return case.meta is not None and case.meta.generation.mode is schemathesis.GenerationMode.POSITIVE
