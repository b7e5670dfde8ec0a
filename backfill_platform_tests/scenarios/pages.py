"""Dagster's pages as somebody uses them, in a real Chromium: one method for what a person does."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from playwright.sync_api import Page, sync_playwright

# The browser would otherwise look for its maker's hosts whenever it starts.
_ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_MILLISECONDS = 120_000.0


class Pages:
    def __init__(self, page: Page, url: str) -> None:
        self._page = page
        self._url = url

    def open(self, path: str) -> None:
        self._page.goto(f"{self._url}{path}")

    def see(self, text: str) -> None:
        self._page.get_by_text(text).first.wait_for()

    def launch(self, asset: str, days: str, tags: Mapping[str, str]) -> None:
        """A range of partitions, in the dialog of the asset's own page."""
        page = self._page
        self.open(f"/assets/{asset}?view=partitions")
        page.locator('button:has-text("Materialize"):not([disabled])').first.click()
        page.get_by_text("Show all partitions").click()
        chosen = page.get_by_placeholder("ex:").last
        chosen.fill(days)
        chosen.press("Enter")
        page.get_by_text("Tags", exact=True).last.click()
        page.get_by_role("button", name="Add tags").click()
        self._fill_tags(tags)
        page.locator('button:has-text("Launch backfill"):not([disabled])').click()
        page.get_by_text("Launch runs to materialize").wait_for(state="hidden")

    def _fill_tags(self, tags: Mapping[str, str]) -> None:
        page = self._page
        for number, (key, value) in enumerate(tags.items()):
            if number:
                page.get_by_role("button", name="Add custom tag").click()
            page.get_by_placeholder("Tag Key").nth(number).fill(key)
            page.get_by_placeholder("Tag Value").nth(number).fill(value)
        page.get_by_role("button", name="Apply").click()

    def run_job(self, job: str, config: str) -> None:
        """In its launchpad; until its run has ended well."""
        page = self._page
        self.open(f"/locations/backfill_platform/jobs/{job}/playground")
        editor = page.locator(".CodeMirror").first
        editor.wait_for()
        editor.evaluate("(shown, text) => shown.CodeMirror.setValue(text)", config)
        page.locator('button:has-text("Launch Run"):not([disabled])').click()
        page.wait_for_url("**/runs/**")
        page.get_by_text("Success", exact=True).first.wait_for()


@contextmanager
def open_pages(url: str) -> Iterator[Pages]:
    """In the installed browser, or else in the one that Playwright has fetched."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=_ARGUMENTS)
        page = browser.new_page(viewport={"width": 1500, "height": 1100})
        page.set_default_timeout(_MILLISECONDS)
        yield Pages(page, url)
        browser.close()
