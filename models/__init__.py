"""The embedded entity linker: encoders, retrievers, fusion, NIL, bundles. Usable without the window.

    from models.linker.linker import Linker
    from models.types import DocumentInput, MentionInput

    linker = Linker.load("bundles/20260131-120501-untrained-1f3a")
    for answer in linker.link([DocumentInput("1", text, (MentionInput("m", ((0, 9),)),))]):
        ...

`models.types` and `models.errors` load no large library.
"""

__curator__ = True
