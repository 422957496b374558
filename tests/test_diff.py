"""What a variant changes, as data."""

import membill
from membill.diff import Kind, diff
from membill.tables import shape_text


def names(changes: tuple[object, ...]) -> list[str]:
    return [change.row.tensor for change in changes]  # type: ignore[attr-defined]


def test_equal_ledgers_differ_in_nothing() -> None:
    ledger = membill.layer("gpt").ledger()
    found = diff(ledger, membill.layer("gpt").ledger())
    assert found.changes == ()
    assert found.total.expr == 0


def test_what_goes_comes_and_changes() -> None:
    gpt = membill.layer("gpt")
    found = diff(gpt.ledger(), gpt.variant(dropout=False).ledger())
    assert names(found.of(Kind.GONE)) == [
        "attention.core.dropout.mask",
        "attention.core.dropout",
        "attention.dropout.mask",
        "mlp.dropout.mask",
    ]
    assert found.of(Kind.NEW) == ()
    (softmax,) = found.of(Kind.REASONED)
    assert softmax.row.tensor == "attention.core.softmax"
    assert "attention.core.context" in softmax.row.needed_by
    assert str(found.total) == "-2Tbd - 3hT²b"


def test_a_change_of_size_is_told_from_one_of_reason() -> None:
    gpt = membill.layer("gpt")
    found = diff(gpt.ledger(), gpt.variant(attention="eager-float32").ledger())
    (softmax,) = found.of(Kind.RESIZED)
    assert (str(softmax.before.bytes), str(softmax.after.bytes)) == ("2hT²b", "4hT²b")  # type: ignore[union-attr]
    assert shape_text(softmax.row.shape) == "(b, h, T, T)"


def test_the_changes_account_for_the_total() -> None:
    for name in ("gpt", "llama"):
        layer = membill.layer(name)
        before = layer.ledger()
        for variant in layer.variants():
            after = variant.ledger()
            found = diff(before, after)
            moved = sum(
                (change.after.bytes.expr if change.after else 0)
                - (change.before.bytes.expr if change.before else 0)
                for change in found.changes
            )
            assert (moved - found.total.expr).expand() == 0, variant.chosen


def test_recomputation_leaves_what_enters_the_region() -> None:
    gpt = membill.layer("gpt")
    found = diff(gpt.ledger(), gpt.ledger(recompute="full"))
    assert names(found.of(Kind.REASONED)) == ["x"]
    assert found.of(Kind.NEW) == ()
    assert str(found.total) == "-32Tbd - 5hT²b - 16Tb"
