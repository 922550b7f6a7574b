"""The rules that card games share: packs, tricks, standing. Pure."""
