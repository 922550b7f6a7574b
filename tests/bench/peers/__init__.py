"""Evenfold beside servers of games that others wrote: Trick, the same game, played over each one's own transport.

    rules.js rounds.js loopback.js     what both of the peers' programs share
    boardgameio/ colyseus/             server and driver of each, and what they need from npm, locked
    theirs.py ours.py                  rounds played by a peer, and by us
    players.py transports.py           our players, and how they hear of moves
    contest.py                         who plays against whom, and what the ratios are to reach

The peers keep everything in memory; ours is durable, each command synced to disk before it is answered.
"""
