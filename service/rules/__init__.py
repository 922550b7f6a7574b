"""The rules that card games share: packs, turns, tricks, melds, standing. Pure."""
