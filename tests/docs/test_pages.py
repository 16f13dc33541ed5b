"""The pages point to things that are there.

usage: test_pages.py SOURCE_DIR
"""

import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md")), *sorted((SOURCE / "tests").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")
# `ledger/core/funds.[ch]`, `schema/queries`, `docs/man/x.8.scd`; placeholders and patterns are not names.
NAME = re.compile(r"`((?:ledger|server|schema|clients|tests|docs)/[A-Za-z0-9_./\[\]-]+)`")


def prose(page):
    """The text of a page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


class Pages(unittest.TestCase):
    def test_every_link_leads_to_a_file(self):
        for page in PAGES:
            for target, _ in LINK.findall(prose(page)):
                if not target.startswith(("http:", "https:")):
                    with self.subTest(page=page.name, link=target):
                        self.assertTrue((page.parent / target).exists())

    def test_every_file_that_is_named_is_there(self):
        for page in PAGES:
            for name in NAME.findall(prose(page)):
                if re.search(r"NNNN|_x\.|/x", name):
                    continue
                for one in [name.replace("[ch]", "c"), name.replace("[ch]", "h")]:
                    with self.subTest(page=page.name, name=one):
                        self.assertTrue((SOURCE / one).exists())

    def test_every_metric_is_explained_and_no_other(self):
        page = (SOURCE / "docs/operations.md").read_text(encoding="utf-8")
        explained = set(re.findall(r"`((?:corehour|process)_[a-z_]+)[`{]", page))
        source = (SOURCE / "server/metrics.c").read_text(encoding="utf-8")
        self.assertEqual(explained, set(re.findall(r'"((?:corehour|process)_[a-z_]+)"', source)))

    def test_a_page_begins_with_its_title(self):
        for page in PAGES:
            with self.subTest(page=page.name):
                self.assertRegex(page.read_text(encoding="utf-8"), r"\A# \S")


if __name__ == "__main__":
    unittest.main(verbosity=2)
