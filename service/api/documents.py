"""Routes to come."""

from service.api.endpoint import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = ()
