"""The settings of second opinions, in the order in which dialogs show them."""

from __future__ import annotations

from curator.domain.suggestions import OpinionPlace, OpinionUse
from curator.settings.choices import Option, OptionKind

OPINIONS = (
    Option(
        name="opinion_use",
        title="Second opinion",
        help=(
            "Whether a language model is asked about mentions that the linker doubts. Its answer is shown next to the "
            "candidates and never decides anything."
        ),
        kind=OptionKind.CHOICE,
        choices=tuple(OpinionUse),
    ),
    Option(
        name="opinion_address",
        title="Address of the model",
        help=(
            "Of a server on this computer with an OpenAI-compatible interface, such as the llama.cpp server, Ollama, "
            "vLLM or LM Studio. For example, that of Ollama is http://localhost:11434/v1 (see the manual)."
        ),
        kind=OptionKind.TEXT,
    ),
    Option(
        name="opinion_model",
        title="Name of the model",
        help="As the server calls it.",
        kind=OptionKind.TEXT,
    ),
    Option(
        name="opinion_key",
        title="API key of the model",
        help=(
            "Only if the server asks for one. It is sent only to that server and saved in the settings file on this "
            "computer."
        ),
        kind=OptionKind.SECRET,
    ),
    Option(
        name="opinion_place",
        title="Computers that may be asked",
        help=(
            "Warning: on other computers, whoever runs the server can read the texts around your mentions. Leave "
            "this at “this computer only” if your documents are confidential."
        ),
        kind=OptionKind.CHOICE,
        choices=tuple(OpinionPlace),
    ),
    Option(
        name="opinion_below",
        title="Doubtful below",
        help="A mention is doubtful if the linker's answer is less probable than this many per cent.",
        kind=OptionKind.INTEGER,
        maximum=100,
    ),
    Option(
        name="opinion_margin",
        title="Doubtful margin",
        help=(
            "A mention is also doubtful if the first candidate leads by less than this many percentage points of "
            "probability; 0 turns this off."
        ),
        kind=OptionKind.INTEGER,
        maximum=100,
    ),
    Option(
        name="opinion_seconds",
        title="Time for an answer",
        help="Seconds after which a request to the model is given up.",
        kind=OptionKind.INTEGER,
        minimum=1,
        maximum=600,
    ),
)
