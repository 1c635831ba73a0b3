"""The window on a small project, for a screen reader: `program.py FOLDER`. Ends with its standard input."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from PySide6.QtCore import QMetaObject, Qt
from PySide6.QtWidgets import QDialog

from curator.ui.shell.app import make_application
from tests.curator.ui.window.fakes import Desk, make_project, make_window


def main(folder: Path) -> int:
    app = make_application(["curator"])
    world = make_project(folder)
    world.kb()
    world.documents(1)
    world.project.retraining.build_index(on_progress=lambda _: None, on_end=lambda _: None).wait(30)
    window = make_window(app)
    window.show()
    window.session.show(world.project)
    desk = Desk(window, world)
    mention = desk.bench.navigator.mention
    assert mention is not None
    desk.bench.decider.choose(0)
    app.processEvents()
    for command in ("model.retrain", "edit.settings", "view.decisions"):
        window.menus.action(command).trigger()
    assert len([one for one in app.topLevelWidgets() if isinstance(one, QDialog) and one.isVisible()]) == 3

    def end() -> None:
        sys.stdin.read()
        QMetaObject.invokeMethod(app, "quit", Qt.ConnectionType.QueuedConnection)

    threading.Thread(target=end, daemon=True).start()
    sys.stdout.write("there\n")
    sys.stdout.flush()
    code = app.exec()
    window.session.close()
    return code


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
