"""Removes what nobody sees and nobody may need, as the retention policy says, and records it."""
