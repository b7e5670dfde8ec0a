"""What the parts of a reviewed file have in common: words for what is empty, and how what pydantic
finds wrong is said. Which parts a file has stands with each file's reader.
"""

from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

TimeOfDay = Annotated[str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]


class WindowPart(BaseModel):
    """Of each day; over midnight where it ends before it starts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    start: TimeOfDay
    end: TimeOfDay

    @model_validator(mode="after")
    def _has_length(self) -> Self:
        if self.start == self.end:
            raise ValueError("has to end at another time than it starts")
        return self


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
