"""Checks that a page is balanced HTML that needs no other file, and prints its facts.

Usage: check_html.py FILE    prints: chart TITLE SERIES POINTS..., element NAME COUNT, and text WORDS for each table cell
"""
import collections
import html.parser
import json
import sys

EMPTY = {"meta", "br", "img", "hr", "input", "link", "wbr"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.count, self.curves, self.cells = [], collections.Counter(), "", []

    def handle_starttag(self, tag, attributes):
        self.count[tag] += 1
        for name, value in attributes:
            assert not name.startswith("on"), (tag, name)
            if name in ("src", "href"):
                assert value.startswith("data:image/png;base64,"), value[:60]
        if tag not in EMPTY:
            self.open.append((tag, dict(attributes)))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in EMPTY:
            self.open.pop()

    def handle_endtag(self, tag):
        opened = self.open.pop()[0]
        assert opened == tag, f"</{tag}> at {self.getpos()} closes <{opened}>"

    def handle_data(self, data):
        if self.open and self.open[-1][1].get("id") == "curves":
            self.curves += data
        elif self.open and self.open[-1][0] in ("td", "th", "b", "h1", "title", "pre", "text"):
            self.cells.append(data)


page = Page()
page.feed(open(sys.argv[1], encoding="utf-8").read())
page.close()
assert not page.open, page.open
for chart in json.loads(page.curves):
    for series in chart["series"]:
        assert len(series["x"]) == len(series["y"])
        print("chart", chart["title"], series["name"], len(series["x"]))
for name, count in sorted(page.count.items()):
    print("element", name, count)
for cell in page.cells:
    print("text", " ".join(cell.split()))
