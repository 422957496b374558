"""Backward of one part of a model, op by op: which storages are alive at each moment.

Ops run in the reverse of their order. What an op needs is freed once the first op that needs it
has run; a gradient, once whoever waited for it has taken it. Gradients of weights stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from membill.alive import Storages, readable, running, storages, storages_of
from membill.graph import Graph, Needs, Op, live_tensors
from membill.ledger import Region
from membill.rebuild import outcome
from membill.recompute import Policy, region_of
from membill.tensor import Role, Tensor

Trains = Callable[[Tensor], bool]


@dataclass(frozen=True)
class Moment:
    """What a part has alive at one moment, with the gradient of its output.

    path: of the op that runs, or the region that is run again. kept: of what it keeps for
    backward; tables: of what it reads that layers share, and frees if no other one needs it any
    more. working: other gradients, and what the op uses besides. made: gradients of weights
    so far; latest: those of them that this op made.
    """

    path: str
    kept: Storages
    working: Storages
    made: Storages = field(default_factory=Counter)
    latest: Storages = field(default_factory=Counter)
    tables: Storages = field(default_factory=Counter)
    again: bool = False


@dataclass(eq=False)
class _Gradient:
    """The storage of a gradient, which several tensors may wait in."""

    like: Tensor


@dataclass
class _State:
    """What is alive while the simulation runs.

    waiting: the gradient of each tensor as far as it is summed up; joining: gradients of parts of
    one. in_use: those that the op that runs reads or has made. apart: one that is not counted.
    """

    kept: set[Tensor]
    tables: set[Tensor]
    in_place: bool
    apart: _Gradient | None = None
    waiting: dict[Tensor, _Gradient] = field(default_factory=dict)
    joining: dict[Tensor, list[_Gradient]] = field(default_factory=dict)
    in_use: list[_Gradient] = field(default_factory=list)
    made: list[Tensor] = field(default_factory=list)
    latest: list[Tensor] = field(default_factory=list)

    def moment(self, path: str, *besides: Tensor, without: Collection[Tensor] = ()) -> Moment:
        """What is alive now, and `besides`; but for what is kept `without`."""
        parts = (each for many in self.joining.values() for each in many)
        alive = dict.fromkeys((*self.waiting.values(), *parts, *self.in_use))
        gradients = (each.like for each in alive if each is not self.apart)
        return Moment(
            path,
            storages_of(frozenset(self.kept.difference(without))),
            storages((*gradients, *besides)),
            storages_of(frozenset(self.made)),
            storages_of(frozenset(self.latest)),
            storages_of(frozenset(self.tables.difference(without))),
        )

    def free(self, tensors: Collection[Tensor]) -> None:
        """Free what is not needed any more."""
        self.kept.difference_update(tensors)
        self.tables.difference_update(tensors)

    def shared(self, gradient: _Gradient) -> bool:
        """Whether more than one tensor waits in a storage."""
        parts = (each for many in self.joining.values() for each in many)
        return sum(each is gradient for each in (*self.waiting.values(), *parts)) > 1

    def add(self, target: Tensor, new: _Gradient, path: str) -> Iterator[Moment]:
        """Add a gradient to what waits for a tensor; it is not in use any more."""
        old = self.waiting.get(target)
        if old is None:
            self.waiting[target] = new
        elif self.in_place and not self.shared(old):
            yield self.moment(path)
        else:
            self.waiting[target] = _Gradient(target)
            self.in_use.append(old)
            yield self.moment(path)
            self.in_use.remove(old)
        self.in_use.remove(new)

    def join(self, target: Tensor, path: str) -> Iterator[Moment]:
        """Put the gradients of parts of a tensor into one storage, if there are any."""
        parts = self.joining.pop(target, None)
        if parts is not None:
            whole = _Gradient(target)
            self.in_use += [*parts, whole]
            yield self.moment(path)
            self.in_use = [each for each in self.in_use if each not in parts]
            yield from self.add(target, whole, path)


def backward(
    graph: Graph,
    policy: Policy,
    trains: Trains,
    *,
    last: bool = False,
    in_place: bool = True,
) -> Iterator[Moment]:
    """Every moment of one part's backward, in order.

    last: whether the part ends the model, so that the gradient of its output is not its own.
    in_place: whether two gradients of one tensor are added in the storage of one of them. PyTorch
    does so where nobody else holds it, but not while a dispatch mode such as MemTracker watches.
    """
    region = region_of(policy, graph)
    live = live_tensors(graph, trains)
    kept, tables = kept_of(graph, policy, trains), tables_of(graph, policy, trains)
    freed = _freed(graph, region, live, kept | tables)
    again = _rebuilt(graph, region, live, kept)
    root = _Gradient(graph.output)
    state = _State(set(kept), set(tables), in_place, root if last else None, {graph.output: root})
    for at, op in reversed([*enumerate(graph.ops)]):
        yield from _run_again(graph, region, again, op, state)
        yield from state.join(op.output, op.path)
        left = state.kept | state.tables
        done = frozenset(tensor for tensor in left if freed.get(tensor) == at)
        if op.output in state.waiting:
            yield from _through(op, live, state, done)
        state.free(done)
    for target in [*state.joining]:
        yield from state.join(target, "")


def kept_of(graph: Graph, policy: Policy, trains: Trains) -> frozenset[Tensor]:
    """The storages that a part keeps for its backward, without the tables that it reads."""
    kept = [item.tensor for item in outcome(graph, policy, trains).kept]
    return readable(graph, [tensor for tensor in kept if tensor.role is not Role.TABLE])


def tables_of(graph: Graph, policy: Policy, trains: Trains) -> frozenset[Tensor]:
    """The storages of the tables that a part reads in its backward."""
    kept = [item.tensor for item in outcome(graph, policy, trains).kept]
    return readable(graph, [tensor for tensor in kept if tensor.role is Role.TABLE])


def _needed(graph: Graph, op: Op, live: frozenset[Tensor]) -> frozenset[Tensor]:
    """The storages that the gradients of an op mention."""
    mentioned = (need.tensors for target, need in op.gradients.items() if target in live)
    return readable(graph, [tensor for each in mentioned for tensor in each])


def _freed(
    graph: Graph, region: Region, live: frozenset[Tensor], kept: frozenset[Tensor]
) -> dict[Tensor, int]:
    """The place of the op after whose backward each storage is freed: the first that needs it.

    What enters a region is held until the first op of the region has run backward.
    """
    places: dict[Tensor, int] = {}
    begins: dict[str | None, int] = {}
    for at, op in enumerate(graph.ops):
        inside = region(op)
        begin = at if inside is None else begins.setdefault(inside, at)
        entering = readable(graph, op.inputs) & kept if inside is not None else frozenset()
        for tensor in (*_needed(graph, op, live), *entering):
            places.setdefault(tensor, begin if tensor in kept else at)
    return places


def _rebuilt(
    graph: Graph, region: Region, live: frozenset[Tensor], kept: frozenset[Tensor]
) -> dict[str, frozenset[Tensor]]:
    """What is made again before an op runs backward, by its region or, outside of one, itself."""
    found: dict[str, frozenset[Tensor]] = {}
    have = set(kept)
    for op in reversed(graph.ops):
        new = {t for t in _needed(graph, op, live) - have if t.role is not Role.TABLE}
        home = region(op) or op.path
        found[home] = found.get(home, frozenset()) | new
        have |= new
    return found


def _run_again(
    graph: Graph,
    region: Region,
    again: dict[str, frozenset[Tensor]],
    op: Op,
    state: _State,
) -> Iterator[Moment]:
    """Make what backward of an op needs and was not kept: with all of its region, at once."""
    home = region(op) or op.path
    new = again.pop(home, frozenset())
    if not new:
        return
    now = state.moment(home)
    ops = [each for each in graph.ops if region(each) == home]
    for _, made, passing in running(ops, new):
        kept, working = now.kept + made, now.working + passing
        yield Moment(home, kept, working, now.made, tables=now.tables, again=True)
    state.kept |= new


def _through(
    op: Op, live: frozenset[Tensor], state: _State, done: frozenset[Tensor]
) -> Iterator[Moment]:
    """Run an op backward: its gradients one by one, then each goes where it is waited for.

    done: what is kept and not needed after it.
    """
    incoming = state.waiting.pop(op.output)
    state.in_use.append(incoming)
    state.latest.clear()
    results: list[tuple[Tensor, Needs, _Gradient]] = []
    for target, need in op.gradients.items():
        if target not in live:
            continue
        gone = done.intersection(tensor.storage for tensor in need.released)
        if target.role is Role.WEIGHT:
            state.made.append(target)
            state.latest.append(target)
        else:
            new = incoming if need.passes or need.joins else _Gradient(target)
            results.append((target, need, new))
            state.in_use.append(new)
        yield state.moment(op.path, *need.scratch, without=gone)
        state.free(gone)
    state.free(done)
    state.in_use.remove(incoming)
    for target, need, new in results:
        if need.joins:
            state.joining.setdefault(target, []).append(new)
            state.in_use.remove(new)
        else:
            yield from state.add(target, new, op.path)
