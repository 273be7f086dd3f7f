"""Trees of variables, as the text of a `program`: what occurs twice is computed once."""

import itertools
from collections.abc import Mapping
from typing import Any

from fractals.formulas.language import parser
from fractals.formulas.language.parser import Tree
from fractals.formulas.program import replaced, variables


def texts_of(
    first: list[tuple[str, Tree]], step: list[tuple[str, Tree]], condition: Tree
) -> dict[str, str]:
    """Return the texts of a `program` whose variables change at once.

    `first` and `step`: variables at the start, and after a step as trees of those before it.
    `condition`: of the variables before the step, under which the orbit goes on after it.
    """
    begin, then = (_Emitted(dict(trees)) for trees in (first, step))
    start = [*begin.temporaries, *(f"{name} = {begin.text(tree)}" for name, tree in first)]
    lines, test = then.simultaneous(step, condition)
    return {"start": "; ".join(start), "step": "; ".join(lines), "test": test}


class _Emitted:
    """Writes trees as text; what occurs twice becomes a variable of its own."""

    def __init__(self, own: Mapping[str, Tree]) -> None:
        trees = list(own.values())
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._by_id: dict[int, tuple[int, Tree]] = {}
        self.names: dict[int, str] = {}
        self.temporaries: list[str] = []
        self.taken = variables(*trees) | own.keys() | {"z"}
        counts: dict[int, int] = {}
        order: list[Tree] = []
        for tree in trees:
            self._count(tree, counts, order)
        for tree in order:  # parts before wholes
            if counts[self.number(tree)] > 1 and len(tree) > 1 and tree[0] != "number":
                name = self.new_name("t")
                self.temporaries.append(f"{name} = {self.text(tree)}")
                self.names[self.number(tree)] = name

    def new_name(self, begin: str) -> str:
        """Return a name that no variable has."""
        ends = itertools.chain([""], itertools.count(1))
        name = next(f"{begin}{end}" for end in ends if f"{begin}{end}" not in self.taken)
        self.taken.add(name)
        return name

    def number(self, tree: Tree) -> int:
        """Return the number of all trees that are equal to this one."""
        if id(tree) not in self._by_id:
            parts = (self.number(part) if isinstance(part, tuple) else part for part in tree)
            number = self._numbers.setdefault(tuple(parts), len(self._numbers))
            self._by_id[id(tree)] = number, tree
        return self._by_id[id(tree)][0]

    def _count(self, tree: Tree, counts: dict[int, int], order: list[Tree]) -> None:
        number = self.number(tree)
        counts[number] = counts.get(number, 0) + 1
        if counts[number] == 1:
            for part in tree[1:]:
                if isinstance(part, tuple):
                    self._count(part, counts, order)
            order.append(tree)

    def text(self, tree: Tree) -> str:
        """Return the text of a tree."""
        return parser.text_of(self._named(tree))

    def _named(self, tree: Tree) -> Tree:
        if name := self.names.get(self.number(tree)):
            return (name,)
        if tree[0] == "number":
            return tree
        return tuple(self._named(part) if isinstance(part, tuple) else part for part in tree)

    def simultaneous(self, step: list[tuple[str, Tree]], condition: Tree) -> tuple[list[str], str]:
        """Return statements that assign to all variables at once, and the condition after them."""
        assigned = {name for name, _ in step}
        after = dict(self.names)
        for name, tree in step:
            after[self.number(tree)] = name
        self.names, before = after, self.names
        test = self._named(condition)
        self.names = before
        temporary = {line.partition(" = ")[0] for line in self.temporaries}
        lines = list(self.temporaries)
        if self._reads_old(condition, after, assigned, temporary):
            name = self.new_name("on")
            lines.append(f"{name} = {self.text(condition)}")
            test = (name,)
        waiting = {name: self._named(tree) for name, tree in step}
        while waiting:
            read = {
                name: {other for other, tree in waiting.items() if name in variables(tree)} - {name}
                for name in waiting
            }
            name = min(waiting, key=lambda n: (len(read[n]), n))
            if read[name]:  # its value is kept for those that read it
                kept = self.new_name("old")
                lines.append(f"{kept} = {name}")
                waiting = {
                    other: tree if other == name else replaced(tree, {name: (kept,)})
                    for other, tree in waiting.items()
                }
            lines.append(f"{name} = {parser.text_of(waiting.pop(name))}")
        return lines, parser.text_of(test)

    def _reads_old(
        self, tree: Tree, after: Mapping[int, str], assigned: set[str], temporary: set[str]
    ) -> bool:
        """Tell whether a condition needs more than variables after a step."""
        own = after.get(self.number(tree))
        if own in assigned or tree[0] == "number":
            return False
        if own in temporary or len(tree) == 1:
            return True
        return any(
            self._reads_old(part, after, assigned, temporary)
            for part in tree[1:]
            if isinstance(part, tuple)
        )
