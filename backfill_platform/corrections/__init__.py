"""Corrections of a published table as rows of a table of their own, which never touch the first."""
