"""The parts that all views share: colours and icons, forms and messages, lists and tables, background threads, and the
record of what was visible when a key was pressed. Independent of projects and documents.

* **Enter never presses a button by accident** (`form.py`, `BaseDialog`). A window opens on its list or first field; a
  form's OK becomes the default button after the first typing, focus change or click.
  `tests/curator/ui/window/every_window.py` lists every window class, and a class without an entry fails.
* **Hints look up the keys of a command** (`key_names.py`), so that they follow the user's own keys. If a command has
  none, the hint is left out and a sentence names the menu.
* **Work outside the window's thread goes through `Worker`**, and its result is delivered through `call_in_window`
  (`worker.py`, `window_calls.py`). Only the latest request counts: results of earlier ones are dropped. `FileScan`
  checks paths one file at a time and can be stopped.
"""

from typing import TYPE_CHECKING

from curator import opened_late

if TYPE_CHECKING:
    from curator.ui.kit.foreign_text import PlainEdit, PlainLabel, StillBrowser, escaped, in_role, shown, tip
    from curator.ui.kit.form import EmptyPage, FormDialog, PathEdit, ShowDialog, file_dialog, guard_from_wheel, sentence
    from curator.ui.kit.key_names import (
        belongs_to,
        is_plain,
        key_name,
        key_of,
        keys_between,
        place_of,
        use_keys,
        way_to,
    )
    from curator.ui.kit.labels import (
        Banner,
        ElidedLabel,
        FindLine,
        NotedLabel,
        NoteLabel,
        ScaledLabel,
        StateChip,
    )
    from curator.ui.kit.layout_store import (
        SavedLayout,
        cascaded,
        forget_layout,
        keep_layout,
        layout_of,
        on_screen,
        usual_layout,
    )
    from curator.ui.kit.line_chart import (
        Axes,
        Curve,
        LineChart,
        Stroke,
        Tone,
        nice_ticks,
        paint_cursor,
        paint_grid,
        paint_line,
        paint_mark,
    )
    from curator.ui.kit.mention_state import (
        LONG_FORM,
        REASON_WORDS,
        REASONS,
        MentionState,
        Reason,
        decision_words,
        long_form,
        marked,
        names_in,
        spoken,
        state_of,
        suggestion_words,
        tooltip,
        verdict_words,
    )
    from curator.ui.kit.messages import ask, choose, tell
    from curator.ui.kit.note_marks import draw_notes, notes_width
    from curator.ui.kit.notices import NoticeLine, Notices
    from curator.ui.kit.record_tables import (
        FigureTable,
        Index,
        OpeningTable,
        RecordColumn,
        RecordModel,
        RecordTable,
        RoomyHeader,
        TickTable,
    )
    from curator.ui.kit.row_list import (
        PAD,
        RowList,
        RowTable,
        cut_line,
        draw_bar,
        draw_focus,
        draw_ground,
        draw_key,
        draw_tag,
        draw_words,
        figure,
        fixed_font,
        row_height,
        scaled,
        tag_width,
    )
    from curator.ui.kit.sight import MODIFIERS, Glance, Sight, rows_in_sight, watch
    from curator.ui.kit.sizing import USUAL_LINE, FlowRow, Pages, RestColumn, grow
    from curator.ui.kit.theme import LIGHT, Scheme, StateColours, Theme, ThemeController, blend, icon, theme_of
    from curator.ui.kit.window_calls import LATE_MS, Bridge, Later, call_in_window
    from curator.ui.kit.worker import Deliver, FileScan, Worker, join_left

__all__ = [
    "LATE_MS",
    "LIGHT",
    "LONG_FORM",
    "MODIFIERS",
    "PAD",
    "REASONS",
    "REASON_WORDS",
    "USUAL_LINE",
    "Axes",
    "Banner",
    "Bridge",
    "Curve",
    "Deliver",
    "ElidedLabel",
    "EmptyPage",
    "FigureTable",
    "FileScan",
    "FindLine",
    "FlowRow",
    "FormDialog",
    "Glance",
    "Index",
    "Later",
    "LineChart",
    "MentionState",
    "NoteLabel",
    "NotedLabel",
    "NoticeLine",
    "Notices",
    "OpeningTable",
    "Pages",
    "PathEdit",
    "PlainEdit",
    "PlainLabel",
    "Reason",
    "RecordColumn",
    "RecordModel",
    "RecordTable",
    "RestColumn",
    "RoomyHeader",
    "RowList",
    "RowTable",
    "SavedLayout",
    "ScaledLabel",
    "Scheme",
    "ShowDialog",
    "Sight",
    "StateChip",
    "StateColours",
    "StillBrowser",
    "Stroke",
    "Theme",
    "ThemeController",
    "TickTable",
    "Tone",
    "Worker",
    "ask",
    "belongs_to",
    "blend",
    "call_in_window",
    "cascaded",
    "choose",
    "cut_line",
    "decision_words",
    "draw_bar",
    "draw_focus",
    "draw_ground",
    "draw_key",
    "draw_notes",
    "draw_tag",
    "draw_words",
    "escaped",
    "figure",
    "file_dialog",
    "fixed_font",
    "forget_layout",
    "grow",
    "guard_from_wheel",
    "icon",
    "in_role",
    "is_plain",
    "join_left",
    "keep_layout",
    "key_name",
    "key_of",
    "keys_between",
    "layout_of",
    "long_form",
    "marked",
    "names_in",
    "nice_ticks",
    "notes_width",
    "on_screen",
    "paint_cursor",
    "paint_grid",
    "paint_line",
    "paint_mark",
    "place_of",
    "row_height",
    "rows_in_sight",
    "scaled",
    "sentence",
    "shown",
    "spoken",
    "state_of",
    "suggestion_words",
    "tag_width",
    "tell",
    "theme_of",
    "tip",
    "tooltip",
    "use_keys",
    "usual_layout",
    "verdict_words",
    "watch",
    "way_to",
]

__getattr__ = opened_late(
    __name__,
    sizing="FlowRow Pages RestColumn USUAL_LINE grow",
    foreign_text="PlainEdit PlainLabel StillBrowser escaped in_role shown tip",
    form="EmptyPage FormDialog PathEdit ShowDialog file_dialog guard_from_wheel sentence",
    key_names="belongs_to is_plain key_name key_of keys_between place_of use_keys way_to",
    labels="Banner ElidedLabel FindLine NoteLabel NotedLabel ScaledLabel StateChip",
    layout_store="SavedLayout cascaded forget_layout keep_layout layout_of on_screen usual_layout",
    line_chart="Axes Curve LineChart Stroke Tone nice_ticks paint_cursor paint_grid paint_line paint_mark",
    mention_state=(
        "LONG_FORM MentionState REASONS REASON_WORDS Reason decision_words long_form marked names_in spoken "
        "state_of suggestion_words tooltip verdict_words"
    ),
    messages="ask choose tell",
    note_marks="draw_notes notes_width",
    notices="NoticeLine Notices",
    record_tables="FigureTable Index OpeningTable RecordColumn RecordModel RecordTable RoomyHeader TickTable",
    row_list=(
        "PAD RowList RowTable cut_line draw_bar draw_focus draw_ground draw_key draw_tag draw_words figure fixed_font "
        "row_height scaled tag_width"
    ),
    sight="Glance MODIFIERS Sight rows_in_sight watch",
    theme="LIGHT Scheme StateColours Theme ThemeController blend icon theme_of",
    window_calls="Bridge LATE_MS Later call_in_window",
    worker="Deliver FileScan Worker join_left",
)
