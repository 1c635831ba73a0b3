from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curator.domain.decisions import OperationKind
from curator.domain.wording import UserError
from tests.curator.storage.filler import AT


def append(unit, kind=OperationKind.DECIDE, *, target=None, actor="ada"):
    payload = {"k": [1, "é"]}
    return unit.operations.append(kind, actor=actor, at=AT, text=kind.value, target=target, payload=payload)


def test_an_operation_comes_back_with_its_payload(store):
    with store.write() as unit:
        operation, payload = unit.operations.get(append(unit))
        assert (operation.kind, operation.actor, operation.at, operation.text) == (
            OperationKind.DECIDE,
            "ada",
            AT,
            "decide",
        )
        assert payload == {"k": [1, "é"]}
        with pytest.raises(UserError, match="operation 44"):
            unit.operations.get(44)


def test_nothing_to_undo_in_a_new_project_and_imports_are_not_undone(store):
    with store.write() as unit:
        assert unit.operations.next_undo() is None
        append(unit, actor="import:a.txt")
        assert unit.operations.next_undo() is None
        mine = append(unit)
        append(unit, actor="import:a.txt")
        assert (unit.operations.next_undo(), unit.operations.next_redo()) == (mine, None)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(steps=st.lists(st.sampled_from("dduuuri"), max_size=30))
def test_stacks_are_those_of_an_editor(store, steps):
    """Against two plain lists."""
    undo: list[int] = []
    redo: list[int] = []
    try:
        with store.write() as unit:
            for step in steps:
                if step == "d":
                    undo.append(append(unit))
                    redo.clear()
                elif step == "i":
                    append(unit, actor="import:x")
                elif step == "u" and undo:
                    redo.append(undo.pop())
                    append(unit, OperationKind.UNDO, target=redo[-1])
                elif step == "r" and redo:
                    undo.append(redo.pop())
                    append(unit, OperationKind.REDO, target=undo[-1])
                assert unit.operations.next_undo() == (undo[-1] if undo else None)
                assert unit.operations.next_redo() == (redo[-1] if redo else None)
                assert unit.operations.undo_steps() == undo[::-1]
                assert unit.operations.undo_steps(down_to=4) == [one for one in undo[::-1] if one >= 4]
                assert unit.operations.redo_steps() == redo[::-1]
                assert unit.operations.taken_back(undo) == set()
                assert unit.operations.taken_back(redo) == set(redo)
                assert unit.operations.fixed_up_to() == 0
            raise InterruptedError  # roll back, for the next example
    except InterruptedError:
        pass


def test_undo_and_redo_out_of_turn_are_refused(store):
    with store.write() as unit:
        first, second = append(unit), append(unit)
        with pytest.raises(UserError, match="undone"):
            append(unit, OperationKind.UNDO, target=first)
        with pytest.raises(UserError, match="redone"):
            append(unit, OperationKind.REDO, target=second)
