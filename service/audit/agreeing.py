"""What is told of evidence by itself, before any record is held against it, and of records beside one another.

Every checkpoint and every tree head must be signed, and every proof of inclusion hold, of whatever table it is. What is
not good by itself shows nothing of a record, neither for it nor against it.

Two tree heads agree if the larger tree begins with the smaller. That is shown by a chain of consistency proofs from the
one to the other, or by chains from both to a third. Of kept heads each must be shown to agree with the next larger one,
and the tree of every proof of inclusion with those beside it in size. A consistency proof that names no two sizes of
trees handed in shows nothing, and is left aside.

Records agree if the log of one begins with that of the other: rulings may have come between them.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from service.audit.checking import FAULTS, Checked, Evidence
from service.audit.checkpoints import Checkpoint
from service.audit.merkle import Tree
from service.audit.signing import Keys
from service.audit.transparency import Consistency, Inclusion, Leaf


class TreeSizes(NamedTuple):
    """A tree head by the size of its tree, or two of which the larger should begin with the smaller."""

    sizes: tuple[int, ...]


class Files(NamedTuple):
    """The files of two records of one table, the shorter first."""

    shorter: str
    longer: str


Subject: TypeAlias = TreeSizes | Checkpoint | Leaf | Files
"""What can have a flaw; a proof of inclusion is named by its leaf."""


class Flaw(NamedTuple):
    """What is wrong with evidence, or with records beside one another: a code of FAULTS, and what has it."""

    code: str
    subject: Subject

    @property
    def sentence(self) -> str:
        """What it means."""
        return FAULTS[self.code]


def sifted(evidence: Evidence) -> tuple[Evidence, Sequence[Flaw]]:
    """Return the evidence without what is not good by itself, and what is wrong with that and with the tree heads."""
    flaws: list[Flaw] = []
    checkpoints, inclusions = [], []
    for checkpoint in evidence.checkpoints:
        if evidence.keys is None or checkpoint.is_signed_by(evidence.keys):
            checkpoints.append(checkpoint)
        else:
            flaws.append(Flaw("checkpoint_signature", checkpoint))
    for inclusion in evidence.inclusions:
        code = _fault_in(inclusion, evidence.keys)
        if code is None:
            inclusions.append(inclusion)
        else:
            flaws.append(Flaw(code, inclusion.leaf))
    sound = evidence._replace(checkpoints=tuple(checkpoints), inclusions=tuple(inclusions))
    disagreeing = _tree_flaw(sound)
    return sound, flaws if disagreeing is None else [*flaws, disagreeing]


def unmet(evidence: Evidence, streams: Collection[str]) -> Iterator[Flaw]:
    """Yield what was kept of other streams than these, which records were handed in of, each version once."""
    leaves = (inclusion.leaf for inclusion in evidence.inclusions)
    pieces: tuple[Checkpoint | Leaf, ...] = (*evidence.checkpoints, *leaves)
    others = [piece for piece in pieces if piece.stream not in streams]
    for piece in {(isinstance(piece, Leaf), piece.stream, piece.version): piece for piece in others}.values():
        yield Flaw("unmet", piece)


def contradictions(records: Iterable[tuple[str, Checked]]) -> Iterator[Flaw]:
    """Yield the files of records of one table that do not agree; of what is wrong by itself nothing more is told."""
    by_table: dict[str | None, list[tuple[str, Checked]]] = {}
    for file, checked in records:
        if checked.report.fault is None:
            by_table.setdefault(checked.report.table, []).append((file, checked))
    for of_one in by_table.values():
        # Where each begins the next longer one, each begins all that are longer.
        for (file, shorter), (other, longer) in pairwise(sorted(of_one, key=lambda one: one[1].report.versions)):
            if not _begins(shorter, longer):
                yield Flaw("contradiction", Files(file, other))


def _begins(shorter: Checked, longer: Checked) -> bool:
    """Tell whether the log of a record begins with that of another, which ends where play had ended already."""
    further = longer.report.versions - shorter.report.versions
    return further < len(longer.ends) and longer.ends[-1 - further] == shorter.ends[-1]


def _fault_in(inclusion: Inclusion, keys: Keys | None) -> str | None:
    if not inclusion.holds():
        return "inclusion"
    return "tree_signature" if keys is not None and not inclusion.tree.is_signed_by(keys) else None


def _tree_flaw(evidence: Evidence) -> Flaw | None:
    """Return what is wrong with kept tree heads and consistency proofs, None if nothing is."""
    if evidence.keys is not None:
        for head in evidence.trees:
            if not head.is_signed_by(evidence.keys):
                return Flaw("tree_signature", TreeSizes((head.size,)))
    kept = {head.tree for head in evidence.trees}
    proven = {inclusion.tree.tree for inclusion in evidence.inclusions}
    trees = sorted(kept | proven)
    for one, other in pairwise(trees):
        if one.size == other.size:
            return Flaw("consistency", TreeSizes((one.size, other.size)))
    for proof, first, second in _pairs(trees, evidence.consistencies):
        if not proof.holds(first, second):
            return Flaw("consistency", TreeSizes((first.size, second.size)))
    return _unshown(kept, proven, evidence.consistencies)


def _pairs(trees: Sequence[Tree], proofs: Sequence[Consistency]) -> Iterator[tuple[Consistency, Tree, Tree]]:
    """Yield the proofs that are of two of these trees, whose sizes differ, with both."""
    by_size = {tree.size: tree for tree in trees}
    for proof in proofs:
        if proof.first in by_size and proof.second in by_size:
            yield proof, by_size[proof.first], by_size[proof.second]


def _unshown(kept: set[Tree], proven: set[Tree], proofs: Sequence[Consistency]) -> Flaw | None:
    """Return the first two trees that must be shown to agree and are not; the proofs between any of them hold."""
    larger: dict[int, set[int]] = {}
    for proof, first, second in _pairs(sorted(kept | proven), proofs):
        if proof.first < proof.second:
            larger.setdefault(first.size, set()).add(second.size)
    for one in sorted(proven or kept):
        for smaller, next_larger in pairwise(sorted({tree.size for tree in kept} | {one.size})):
            if _reached(smaller, larger).isdisjoint(_reached(next_larger, larger)):
                return Flaw("consistency", TreeSizes((smaller, next_larger)))
    return None


def _reached(size: int, larger: dict[int, set[int]]) -> set[int]:
    """Return this size and those of all trees that are shown to begin with the tree of this size."""
    reached, waiting = {size}, [size]
    while waiting:
        further = larger.get(waiting.pop(), set()) - reached
        reached |= further
        waiting.extend(further)
    return reached
