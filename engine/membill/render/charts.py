"""Charts as SVG, drawn at build time, for light and for dark pages.

A chart is drawn 440 px wide with large type, so that it can still be read at the width of a
telephone. Values are exact ints until they are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

WIDTH = 440
_PLOT = WIDTH - 80
_BAR = WIDTH - 10
_BAR_STEP = 40
_SI = "replace(format(datum.value, '~s'), /([kMGTP]?)$/, ' $1')"
_DASHES: Sequence[list[int]] = (
    [],
    [9, 4],
    [2, 3],
    [9, 3, 2, 3],
    [14, 5],
    [5, 2],
    [1, 4],
    [12, 3, 2, 3, 2, 3],
)


@dataclass(frozen=True)
class Scheme:
    """The colours of a page: its text, its grid lines, and eight for what is drawn."""

    name: str
    text: str
    faint: str
    colours: tuple[str, ...]


LIGHT = Scheme(
    "light",
    "#2b3137",
    "#d9dde2",
    ("#1f5fa8", "#c2571a", "#1d7f5f", "#8a4fa3", "#9a7a12", "#b03060", "#4a5568", "#2a9d8f"),
)
DARK = Scheme(
    "dark",
    "#dfe3ea",
    "#454b57",
    ("#7fb4f0", "#f0a36b", "#63c9a6", "#c79be0", "#dcc15a", "#f08bae", "#aab4c4", "#74d6cb"),
)


def dark(svg: str) -> str:
    """A chart that was drawn for light pages, in the colours of dark ones."""
    before, after = ((s.text, s.faint, *s.colours) for s in (LIGHT, DARK))
    for old, new in zip(before, after, strict=True):
        svg = svg.replace(old, new)
    return svg


@dataclass(frozen=True)
class Bar:
    """A bar: its label, the group that gives it its colour, its size as value and as text."""

    label: str
    group: str
    value: float
    text: str


def bars(items: Sequence[Bar]) -> str:
    """Horizontal bars for light pages, each below its label, which may then be long."""
    import altair as alt

    data = alt.InlineData(values=[vars(item) | {"order": i} for i, item in enumerate(items)])
    rows = alt.Y("order:O", axis=None, scale=alt.Scale(paddingInner=0.62, paddingOuter=0.5))
    base = alt.Chart(data).encode(y=rows)
    groups = list(dict.fromkeys(item.group for item in items))
    drawn = base.mark_bar().encode(
        x=alt.X("value:Q", axis=None),
        color=alt.Color(
            "group:N",
            scale=alt.Scale(domain=groups, range=_cycle(LIGHT.colours, len(groups))),
            legend=alt.Legend(title=None, orient="top"),
        ),
    )
    label = base.mark_text(align="left", baseline="bottom", dy=-9, fontSize=13.5).encode(
        x=alt.value(0), text="label:N"
    )
    size = base.mark_text(align="right", baseline="bottom", dy=-9, fontSize=13.5).encode(
        x=alt.value(_BAR), text="text:N"
    )
    chart = alt.layer(drawn, label, size).properties(
        width=_BAR, height=_BAR_STEP * max(len(items), 1)
    )
    return _svg(chart.to_dict(validate=False))


@dataclass(frozen=True)
class Curve:
    """A named line through (x, y) points of exact ints."""

    name: str
    points: Mapping[int, int]


def curves(items: Sequence[Curve], *, x: str, unit: str) -> str:
    """Lines for light pages over logarithmic axes, each with its own colour and dashes."""
    import altair as alt

    names = [item.name for item in items]
    data = alt.InlineData(
        values=[{"name": c.name, "x": at, "y": y} for c in items for at, y in c.points.items()]
    )
    ticks = sorted({at for item in items for at in item.points})
    legend = alt.Legend(
        title=None, orient="bottom", columns=1, labelLimit=0, symbolSize=400, symbolStrokeWidth=2.5
    )
    chart = (
        alt.Chart(data)
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X(
                "x:Q",
                title=x,
                scale=alt.Scale(type="log", base=2, domain=[ticks[0], ticks[-1]], nice=False),
                axis=alt.Axis(
                    values=ticks[1::2],
                    format=",",
                    grid=False,
                    tickSize=4,
                    labelOverlap=False,
                    labelBound=False,
                    labelFlush=False,
                ),
            ),
            y=alt.Y(
                "y:Q",
                title=None,
                scale=alt.Scale(type="log"),
                axis=alt.Axis(labelExpr=_SI + f" + '{unit}'", tickCount=6),
            ),
            color=alt.Color(
                "name:N",
                legend=legend,
                scale=alt.Scale(domain=names, range=_cycle(LIGHT.colours, len(names))),
            ),
            strokeDash=alt.StrokeDash(
                "name:N",
                legend=legend,
                scale=alt.Scale(
                    domain=names, range=_cycle(([], [7, 3], [2, 2], [9, 3, 2, 3]), len(names))
                ),
            ),
        )
        .properties(width=_PLOT, height=320)
    )
    return _svg(chart.to_dict(validate=False))


def _cycle(values: Sequence[Any], count: int) -> list[Any]:
    return [values[i % len(values)] for i in range(count)]


def _svg(spec: dict[str, Any]) -> str:
    import vl_convert

    label = {"labelColor": LIGHT.text, "titleColor": LIGHT.text}
    size = {"labelFontSize": 13.5, "titleFontSize": 13.5, "titleFontWeight": "normal"}
    spec["background"] = "transparent"
    spec["config"] = {
        "font": "sans-serif",
        "view": {"stroke": None},
        "text": {"color": LIGHT.text},
        "axis": {
            **label, **size, "gridColor": LIGHT.faint, "domainColor": LIGHT.faint,
            "tickColor": LIGHT.faint,
        },
        "legend": {**label, **size},
    }  # fmt: skip
    return str(vl_convert.vegalite_to_svg(spec, vl_version=_vega_lite()))


@lru_cache(maxsize=1)
def _vega_lite() -> str:
    """The version of Vega-Lite that Altair writes, as vl-convert spells it."""
    import altair

    return ".".join(altair.SCHEMA_VERSION.split(".")[:2])
