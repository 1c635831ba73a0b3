"""The words of the program as frozen dataclasses and enums; standard library only."""
