"""What signatures show for the defaults of keys and options. It imports nothing."""


class Written:
    """A default in a signature, as `help` shows it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text
