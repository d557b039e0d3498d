"""As much of Prolog as exported models need: read clauses, prove goals.

    text -> Program.consult -> clauses -> Program.solve -> answers

It is here so that what `to_prolog` writes is run in every test, with no Prolog installed; with one,
`make prolog-test` asks the real one. Goals wait in linked tuples (goal, where a cut goes back to,
rest), choices on a list: nothing recurses but terms, and those are small.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple

Term = Any
"""An int or float, an `Atom`, a `Var`, or a `Struct`."""


class Atom(str):
    __slots__ = ()


class Var:
    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: Term = None


class Struct(NamedTuple):
    name: str
    args: tuple[Term, ...]


NIL = Atom("[]")
FACT = Atom("fact")
"""The body of a clause that has none, and no variables either."""


def list_term(items: list[Term], end: Term = NIL) -> Term:
    for each in reversed(items):
        end = Struct(".", (each, end))
    return end


def items_of(term: Term) -> list[Term]:
    """The items of a list that has an end."""
    items = []
    while isinstance(term := deref(term), Struct) and term.name == ".":
        items.append(term.args[0])
        term = term.args[1]
    if term != NIL:
        raise ValueError(f"not a list: {term}")
    return items


def deref(term: Term) -> Term:
    while type(term) is Var and term.value is not None:
        term = term.value
    return term


def plain(term: Term) -> Any:
    """A term without variables: lists as lists, `a-b` as a tuple, atoms as str."""
    term = deref(term)
    if term == NIL or (isinstance(term, Struct) and term.name == "."):
        return [plain(each) for each in items_of(term)]
    if isinstance(term, Struct):
        args = tuple(map(plain, term.args))
        return args if term.name == "-" else (term.name, *args)
    return str(term) if isinstance(term, Atom) else term


# --- reading -------------------------------------------------------------------------

TOKEN = re.compile(
    r"""(?P<space>(?:\s|%[^\n]*)+)
      | (?P<number>\d+(?:\.\d+(?:[eE][+-]?\d+)?)?)
      | (?P<var>[A-Z_]\w*)
      | (?P<atom>[a-z]\w*|!|\[\])
      | (?P<quoted>'(?:[^'\\]|\\\d+\\|\\[^\d])*')
      | (?P<end>\.(?=\s|%|$))
      | (?P<mark>[()\[\],|])
      | (?P<symbol>[-+*/\\^<>=~:.?@\#&]+)""",
    re.VERBOSE,
)
INFIX = {":-": 1200, ",": 1000, "-": 500, "+": 500, "/": 400} | dict.fromkeys(
    ("is", "=", "=<", ">=", "=\\=", "=:=", "\\==", "<", ">"), 700
)
ESCAPED = {"n": "\n", "t": "\t", "\\": "\\", "'": "'"}


def tokens_of(text: str) -> list[tuple[str, str]]:
    tokens, place = [], 0
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            raise SyntaxError(f"cannot read {text[place : place + 40]!r}")
        place = match.end()
        if match.lastgroup != "space":
            tokens.append((str(match.lastgroup), match.group()))
    return tokens


def unquoted(token: str) -> str:
    def unescape(match: re.Match[str]) -> str:
        code = match.group(1)
        return chr(int(code[:-1], 8)) if code[0].isdigit() else ESCAPED[code]

    return re.sub(r"\\(\d+\\|.)", unescape, token[1:-1], flags=re.DOTALL)


class Reader:
    """Clauses from text. Each has variables of its own."""

    def __init__(self, text: str):
        self.tokens = tokens_of(text)
        self.place = 0
        self.variables: dict[str, Var] = {}

    def clauses(self) -> Iterator[Term]:
        while self.place < len(self.tokens):
            self.variables = {}
            yield self.term(1200)
            self.take(".")

    def peek(self) -> str:
        return self.tokens[self.place][1]

    def take(self, expected: str) -> None:
        if self.peek() != expected:
            near = " ".join(text for _, text in self.tokens[self.place - 8 : self.place + 3])
            raise SyntaxError(f"{expected!r} is missing near {near}")
        self.place += 1

    def term(self, most: int) -> Term:
        """An operator's right side binds tighter, but for the comma's."""
        left = self.primary()
        while (level := INFIX.get(self.peek(), 9999)) <= most and self.kind() != "quoted":
            operator = self.peek()
            self.place += 1
            right = self.term(level if operator == "," else level - 1)
            left = Struct(operator, (left, right))
        return left

    def kind(self) -> str:
        return self.tokens[self.place][0]

    def primary(self) -> Term:
        kind, text = self.tokens[self.place]
        self.place += 1
        if kind == "number":
            return float(text) if "." in text else int(text)
        if kind == "var":
            return Var() if text == "_" else self.variables.setdefault(text, Var())
        if text == "-" and self.kind() == "number":
            return -self.primary()
        if text == ":-":
            return Struct(":-", (self.term(1199),))
        if text == "(":
            inner = self.term(1200)
            self.take(")")
            return inner
        if text == "[":
            return self.rest_of_list()
        name = unquoted(text) if kind == "quoted" else text
        if kind in ("atom", "quoted") and self.peek() == "(":
            self.place += 1
            return Struct(name, tuple(self.arguments(")")))
        return Atom(name)

    def arguments(self, end: str) -> list[Term]:
        terms = [self.term(999)]
        while self.peek() == ",":
            self.place += 1
            terms.append(self.term(999))
        if end:
            self.take(end)
        return terms

    def rest_of_list(self) -> Term:
        terms = self.arguments("")
        tail: Term = NIL
        if self.peek() == "|":
            self.place += 1
            tail = self.term(999)
        self.take("]")
        return list_term(terms, tail)


# --- proving -------------------------------------------------------------------------


class Thrown(Exception):  # noqa: N818  # as Prolog calls it
    """What `throw` was given."""


class Program:
    """Clauses, in order, and what follows from them."""

    def __init__(self, text: str = ""):
        self.clauses: dict[tuple[str, int], list[tuple[Term, Term]]] = defaultdict(list)
        self.about: dict[tuple[str, int], list[tuple[Term, Term]]] = defaultdict(list)
        self.known: set[tuple[str, int]] = set()
        self.trail: list[Var] = []
        self.consult(text)

    def consult(self, text: str) -> None:
        for term in Reader(text).clauses():
            if isinstance(term, Struct) and term.name == ":-" and len(term.args) == 1:
                self.direct(term.args[0])
            else:
                self.add(term)

    def direct(self, directive: Term) -> None:
        if directive.name == "dynamic":
            name, arity = directive.args[0].args
            self.known.add((str(name), arity))

    def add(self, clause: Term) -> None:
        rule = isinstance(clause, Struct) and clause.name == ":-"
        head, body = clause.args if rule else (clause, FACT if is_ground(clause) else Atom("true"))
        self.known.add(key_of(head))
        self.clauses[key_of(head)].append((head, body))
        if isinstance(head, Struct) and isinstance(head.args[0], int):
            self.about[head.name, head.args[0]].append((head, body))

    def ask(self, text: str, name: str) -> list[Any]:
        """Every answer to a goal: what the variable `name` is then."""
        reader = Reader(text)
        (goal,) = reader.clauses()
        return [plain(reader.variables[name]) for _ in self.solve(goal)]

    def solve(self, goal: Term) -> Iterator[None]:
        """Stops once for each way in which the goal can be proven."""
        choices: list[tuple[int, Iterator[Any]]] = [(len(self.trail), iter([(goal, 0, None)]))]
        while choices:
            mark, ways = choices[-1]
            self.undo(mark)
            goals: Any = next(ways, False)
            if goals is False:
                choices.pop()
                continue
            while goals is not None:
                goal, cut, rest = goals
                goal = deref(goal)
                if goal == "!":
                    del choices[cut:]
                    goals = rest
                elif isinstance(goal, Struct) and goal.name == ",":
                    goals = (goal.args[0], cut, (goal.args[1], cut, rest))
                else:
                    choices.append((len(self.trail), self.ways(goal, len(choices), rest)))
                    break
            else:
                yield

    def ways(self, goal: Term, height: int, rest: Any) -> Iterator[Any]:
        """The goals that are left, for each way in which the first one may go."""
        name, arity = key_of(goal)
        args = goal.args if isinstance(goal, Struct) else ()
        if name == "call":
            yield (args[0], height, rest)
        elif (name, arity) in BUILT_IN:
            for _ in BUILT_IN[name, arity](self, *args):
                yield rest
        elif (name, arity) not in self.known:
            raise NameError(f"unknown procedure {name}/{arity}")
        else:
            mark = len(self.trail)
            for head, body in self.candidates(name, args):
                if not may_match(head, args):
                    continue
                fresh: dict[Var, Var] = {}
                if body is FACT:  # of the state, or the like: without variables
                    if self.unify(head, goal):
                        yield rest
                elif self.unify(renamed(head, fresh), goal):
                    yield (renamed(body, fresh), height, rest)
                self.undo(mark)

    def candidates(self, name: str, args: tuple[Term, ...]) -> list[tuple[Term, Term]]:
        """Facts about a number are found by it: they are the state, and there are many."""
        first = deref(args[0]) if args else None
        if isinstance(first, int) and (name, first) in self.about:
            return list(self.about[name, first])
        return list(self.clauses[name, len(args)])

    def unify(self, one: Term, other: Term) -> bool:
        waiting = [(one, other)]
        while waiting:  # most of the time is spent here, so variables are looked up in place
            one, other = waiting.pop()
            while type(one) is Var and one.value is not None:
                one = one.value
            while type(other) is Var and other.value is not None:
                other = other.value
            if one is other:
                continue
            if type(one) is Var or type(other) is Var:
                var, value = (one, other) if type(one) is Var else (other, one)
                var.value = value
                self.trail.append(var)
            elif type(one) is not type(other):
                return False
            elif type(one) is Struct:
                if one.name != other.name or len(one.args) != len(other.args):
                    return False
                waiting += zip(one.args, other.args, strict=True)
            elif one != other:
                return False
        return True

    def undo(self, mark: int) -> None:
        while len(self.trail) > mark:
            self.trail.pop().value = None

    def found(self, template: Term, goal: Term) -> Term:
        """The list of what the template is, for each way in which the goal can be proven."""
        mark = len(self.trail)
        answers = [renamed(template, {}) for _ in self.solve(goal)]
        self.undo(mark)
        return list_term(answers)


def key_of(term: Term) -> tuple[str, int]:
    return (term.name, len(term.args)) if isinstance(term, Struct) else (str(term), 0)


def is_ground(term: Term) -> bool:
    """Whether it has no variables."""
    waiting = [term]
    while waiting:
        term = deref(waiting.pop())
        if isinstance(term, Var):
            return False
        waiting += term.args if isinstance(term, Struct) else ()
    return True


CONSTANTS = (Atom, int)


def may_match(head: Term, args: tuple[Term, ...]) -> bool:
    """Whether no two atoms or numbers differ: most clauses are passed over by this."""
    for mine, given in zip(head.args if isinstance(head, Struct) else (), args, strict=True):
        if type(mine) in CONSTANTS:
            other = deref(given)
            if type(other) in CONSTANTS and mine != other:
                return False
    return True


def renamed(term: Term, fresh: dict[Var, Var]) -> Term:
    while type(term) is Var and term.value is not None:
        term = term.value
    if type(term) is Var:
        return fresh.setdefault(term, Var())
    if type(term) is Struct:
        return Struct(term.name, tuple([renamed(each, fresh) for each in term.args]))
    return term


# --- what is built in ----------------------------------------------------------------


def evaluate(term: Term) -> int | float:
    term = deref(term)
    if not isinstance(term, Struct):
        return term  # type: ignore[no-any-return]
    numbers = [evaluate(each) for each in term.args]
    if term.name == "float":
        return float(numbers[0])
    one, other = numbers
    return {"+": one + other, "-": one - other, "/": one / (other or 1)}[term.name]


Builtin = Callable[..., Iterator[None]]
BUILT_IN: dict[tuple[str, int], Builtin] = {}


def builtin(name: str, arity: int) -> Callable[[Builtin], Builtin]:
    def remember(function: Builtin) -> Builtin:
        BUILT_IN[name, arity] = function
        return function

    return remember


def when(asked: Callable[..., bool]) -> Builtin:
    """A goal that is true or not."""

    def prove(program: Program, *args: Term) -> Iterator[None]:
        if asked(program, *args):
            yield

    return prove


BUILT_IN["true", 0] = when(lambda program: True)
BUILT_IN["is", 2] = when(lambda program, a, b: program.unify(a, evaluate(b)))
BUILT_IN["=<", 2] = when(lambda program, a, b: evaluate(a) <= evaluate(b))
BUILT_IN[">=", 2] = when(lambda program, a, b: evaluate(a) >= evaluate(b))
BUILT_IN["=\\=", 2] = when(lambda program, a, b: evaluate(a) != evaluate(b))
BUILT_IN["\\==", 2] = when(lambda program, a, b: plain(a) != plain(b))
BUILT_IN["append", 3] = when(lambda program, a, b, c: program.unify(list_term(items_of(a), b), c))
BUILT_IN["findall", 3] = when(lambda program, a, b, c: program.unify(program.found(a, b), c))


@builtin("member", 2)
def member(program: Program, item: Term, items: Term) -> Iterator[None]:
    mark = len(program.trail)
    for each in items_of(items):
        if program.unify(item, each):
            yield
        program.undo(mark)


@builtin("length", 2)
def length(program: Program, items: Term, n: Term) -> Iterator[None]:
    unknown = isinstance(deref(items), Var)
    result = list_term([Var() for _ in range(deref(n))]) if unknown else items
    if program.unify(items, result) and program.unify(n, len(items_of(result))):
        yield


@builtin("keysort", 2)
def keysort(program: Program, pairs: Term, ordered: Term) -> Iterator[None]:
    """Only of keys that are numbers, or lists of one shape: Python has those in the same order."""
    by_key = sorted(items_of(pairs), key=lambda pair: plain(deref(pair).args[0]))
    if program.unify(list_term(by_key), ordered):
        yield


@builtin("throw", 1)
def throw(program: Program, what: Term) -> Iterator[None]:
    raise Thrown(plain(what))
    yield


@builtin("forall", 2)
def forall(program: Program, condition: Term, action: Term) -> Iterator[None]:
    mark = len(program.trail)
    for _ in program.solve(condition):
        if next(program.solve(action), count) is count:
            return
    program.undo(mark)
    yield


@builtin("assertz", 1)
def assertz(program: Program, clause: Term) -> Iterator[None]:
    program.add(renamed(clause, {}))
    yield


@builtin("retractall", 1)
def retractall(program: Program, head: Term) -> Iterator[None]:
    """Only of all: the head's arguments are new variables."""
    assert all(isinstance(deref(each), Var) for each in deref(head).args)
    program.clauses[key_of(deref(head))].clear()
    for place in [place for place in program.about if place[0] == deref(head).name]:
        del program.about[place]
    yield
