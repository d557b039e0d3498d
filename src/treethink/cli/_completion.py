"""What a shell offers when Tab is pressed: names of worlds, actions, rules, figures, settings.

    what was typed so far -> [ completing ] -> names, and a word about each

The shells are taught by `treethink --install-completion`. Whatever goes wrong here is nothing to
offer: nobody wants an error for pressing Tab.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import typer

from treethink._engine import criterion_names
from treethink.cli._output import make_world
from treethink.model import TreeThink
from treethink.worlds import WORLDS, World

Offer = tuple[str, str]


def _offered(offers: Iterable[Offer], typed: str) -> Iterator[Offer]:
    with suppress(Exception):
        yield from (each for each in offers if each[0].startswith(typed))


def one_of(names: Callable[[], Iterable[str]]) -> Callable[[str], Iterator[Offer]]:
    """Names that are always the same; asked for only when Tab is pressed."""

    def offers(incomplete: str) -> Iterator[Offer]:
        return _offered(((name, "") for name in names()), incomplete)

    return offers


def worlds(incomplete: str) -> Iterator[Offer]:
    """The worlds that come with TreeThink."""
    return _offered(((name, each.summary()) for name, each in WORLDS.items()), incomplete)


def figures(incomplete: str) -> Iterator[Offer]:
    """What can be reproduced."""
    from treethink.repro.figures import FIGURES

    listed = [("all", "all of these"), *((name, each.title) for name, each in FIGURES.items())]
    return _offered(listed, incomplete)


def actions(ctx: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Those of the world that was named."""
    return _offered(_actions(ctx), incomplete)


def _actions(ctx: typer.Context) -> Iterator[Offer]:
    named = _named(ctx, "model")
    schema = _world(ctx).schema if named is None else TreeThink.load(named).schema
    yield from ((name, "") for name in schema.actions)


def rules(ctx: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Those of the model that was named."""
    return _offered(_rules(ctx), incomplete)


def _rules(ctx: typer.Context) -> Iterator[Offer]:
    for key, rule in TreeThink.load(_named(ctx, "model")).rules.items():
        yield ".".join(key), f"{rule.n_leaves} leaves" if rule.varies else "never varies"


def options(ctx: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Those of the world that was named, up to the number."""
    return _offered(_options(ctx), incomplete)


def _options(ctx: typer.Context) -> Iterator[Offer]:
    for name, value in _world(ctx).options.items():
        yield f"{name}=", f"{value} if nothing is said"


def _world(ctx: typer.Context) -> World:
    return make_world(_named(ctx, "world"), [])


def _named(ctx: typer.Context, name: str) -> Any:
    """What was typed for a parameter, if anything was.

    An option that still lacks its value ends the parsing before arguments have got theirs; these
    are then left over.
    """
    if ctx.params.get(name) is None and ctx.args and ctx.command.params[0].name == name:
        return ctx.args[0]
    return ctx.params.get(name)


criteria = one_of(criterion_names)
