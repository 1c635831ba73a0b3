"""The one error of this package that is meant for a human reader."""


class ModelError(Exception):
    """The input or the environment is at fault; the message says what, where, and what to do next.

    Anything else that escapes from this package is a defect of the package.
    """
