"""`make golden`: add golden logs for the shapes that none of them holds yet; files that exist stay as they are."""

import sys

from tests.laws.setups import GAMES
from tests.replays.adding import add
from tests.replays.keeping import folder_of

for path in add([(game, folder_of(game)) for game in GAMES]):
    sys.stdout.write(f"{path.name}: new, {path.stat().st_size} bytes\n")
