"""What the parts of a reviewed file have in common: words for what is empty, and how what pydantic
finds wrong is said. Which parts a file has stands with each file's reader.
"""

from typing import Any

from pydantic import BeforeValidator


def word(said: str, meaning: object) -> BeforeValidator:
    """A word instead of an empty mapping, which could as well be something forgotten."""

    def read(given: Any) -> Any:
        if not given:
            raise ValueError(f"is empty; say `{said}` if that is what is meant")
        return meaning if given == said else given

    return BeforeValidator(read)


def sentence(error: Any) -> str:
    match error["type"]:
        case "extra_forbidden":
            return "is not known here; correct it, or remove it"
        case "missing":
            return "is missing"
        case "model_type" | "dict_type" | "tuple_type" as kind:
            form = "a list" if kind == "tuple_type" else "names with values below it"
            return f"has to be {form} (it is {error['input']!r})"
        case _:
            return f"{error['msg'].removeprefix('Value error, ')} (it is {error['input']!r})"
