"""The rules that card games share: packs, tricks, melds, standing. Pure."""
