"""Signs what a principal has said, before it is recorded: an approval, or a review."""

from dataclasses import replace
from typing import TypeVar

from backfill_platform.domain.approvals import Approval
from backfill_platform.domain.reviews import Review
from backfill_platform.governance.signatures import sign

Word = TypeVar("Word", Approval, Review)


def sign_word(word: Word, key: bytes, *, passphrase: bytes | None = None) -> Word:
    return replace(word, signature=sign(word.signed_text, key, passphrase=passphrase))
