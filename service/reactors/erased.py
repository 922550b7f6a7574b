"""Whoever is erased stays erased: whom the archive knows as erased, and the store does not, is erased here again.

Such a store was filled from a backup of before the erasing, by somebody who did not name the archive. Each process of
reactors looks at its start, while it does everything else, and again each minute until the archive has answered and
nobody is left: a list of the archive's erased is held against the store's own, and nobody else is touched.
"""

import asyncio
import logging
from typing import Final

from service.clock import Sleep
from service.erasing import Erasing
from service.errors import Obstacle
from service.logs import kind_and_place

AGAIN_S: Final = 60.0
"""How long to wait after an attempt that left somebody."""

UNKNOWN: Final = "whether all whom the archive knows as erased are so is not known yet"

_logger = logging.getLogger(__name__)


async def keep_erased(erasing: Erasing, sleep: Sleep = asyncio.sleep) -> None:
    """Erase whom the archive knows as erased and this store not, until nobody is left."""
    while not await _all_erased(erasing):
        await sleep(AGAIN_S)


async def _all_erased(erasing: Erasing) -> bool:
    """Try once to erase all of them; return whether nobody is left."""
    try:
        left = await erasing.still_known(await erasing.archived())
    except Obstacle as obstacle:
        _logger.warning("%s: %s", UNKNOWN, obstacle)
        return False
    except Exception as error:  # noqa: BLE001 whatever it was, the next attempt is on its own
        _logger.critical("%s: %s", UNKNOWN, kind_and_place(error))
        return False
    return all([_told(account, why) async for account, why in erasing.erase_again(left)])


def _told(account: str, why: Exception | None) -> bool:
    """Tell what came of the erasing of an account; return whether it is erased."""
    if why is None:
        _logger.warning("%s, erased as the archive knows, is erased here again", account)
    else:
        _logger.critical("%s, erased as the archive knows, is not erased here: %s", account, kind_and_place(why))
    return why is None
