"""Traffic: how many requests each route has answered, how, and in what time."""

from typing import Final

from service.metrics import Counter, Histogram

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

_requests = Counter("evenfold_http_requests_total", "Requests answered.", "route", "method", "status")
_seconds = Histogram("evenfold_http_request_seconds", "From a request to the head of its answer.", "route", "method")


def count(route: str, method: str, status: int, seconds: float) -> None:
    """Count an answer under its route's template; a method may be anything that a client has made up."""
    method = method if method in _METHODS else "other"
    _requests.add(route, method, str(status))
    _seconds.observe(seconds, route, method)
