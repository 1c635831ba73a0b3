"""Steps other than decisions: attributes, relations, comments, marks of inconsistencies; and going back over many."""

from __future__ import annotations

from collections.abc import Callable

from curator.domain.decisions import Verdict
from curator.services.ports.curation import StepFilter
from tests.durability.acts import all_mentions
from tests.durability.folders import base, once
from tests.durability.world import Place, Promises, curator, open_project


@once
def inconsistent(place: Place) -> None:
    """One string with two decisions, and an attribute."""
    base(place)
    curator("import", "--gold", place.project, place.inputs / "many.pubtator")
    project = open_project(place)
    project.attributes.save(project.attributes.scheme().with_attribute("negation", ("affirmed", "negated"), ()))
    project.curation.decide(all_mentions(project)[-1], Verdict.nil())
    project.close()


MARKS = 9
"""Steps of `marking`."""


def marking(place: Place, promises: Promises) -> None:
    """Each kind once, each called saved after `settle`."""
    project = open_project(place)
    first, second = all_mentions(project)[:2]
    document = 1
    [attribute] = project.attributes.scheme().shown
    [found, *_] = project.inconsistencies.find().rows

    def delete_relation() -> None:
        one = next(one for one in project.relations.of_document(document) if one.type == "causes")
        project.relations.delete(document, one.name)

    def delete_comment() -> None:
        [one] = project.notes.comments(document)
        project.notes.delete_comment(one.id)

    steps: list[Callable[[], object]] = [
        lambda: project.attributes.save(project.attributes.scheme().with_attribute("time", ("current", "past"))),
        lambda: project.attributes.set([first, second], attribute.id, attribute.values[1].id),
        lambda: project.relations.add(first, second, "causes"),
        lambda: project.notes.comment(document, "Is this the disease?", mention_id=first),
        lambda: project.inconsistencies.mark(found, intended=True),
        lambda: project.attributes.set([first], attribute.id, None),
        delete_relation,
        delete_comment,
        lambda: project.inconsistencies.mark(found, intended=False),
    ]
    for number, step in enumerate(steps, start=1):
        step()
        promises.answered(number)
        project.disk.settle()
        promises.saved(number)
    project.close()


@once
def stepped(place: Place) -> None:
    """Twelve steps of several kinds."""
    inconsistent(place)
    project = open_project(place)
    for number, mention in enumerate(all_mentions(project)[:6]):
        project.curation.decide(mention, Verdict.reject())
        project.notes.comment(1, f"Comment {number}")
    project.close()


def going_back(place: Place, promises: Promises) -> None:
    """Back over eleven steps, and forward again over ten, each as one."""
    project = open_project(place)
    steps = project.steps.page(StepFilter(), limit=12).steps
    numbers = [one.number for one in steps if one.number is not None]
    for number, to in enumerate((numbers[-1], numbers[1]), start=1):
        project.steps.go(project.steps.journey(to))
        project.disk.settle()
        promises.saved(number)
    project.close()
