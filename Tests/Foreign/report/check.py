"""Looks at reports as an auditor does, in headless Chromium, and compares what they show with the
JSON Lines exports of the same stores.

    check.py COMMAND FOLDER AXE [PICTURES]

COMMAND is the command; FOLDER has NAME.daybook, NAME.html and NAME.jsonl for the stores of stories.py; AXE is
the script of axe-core. With PICTURES, what was looked at is kept there.
"""
import json
import re
import subprocess
import sys
import unicodedata
from datetime import datetime, timezone
from pathlib import Path

import html5lib
from browser import Keys, Report, time
from stories import TRAPS

COMMAND, FOLDER, AXE = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]).read_text()
PICTURES = Path(sys.argv[4] if len(sys.argv) > 4 else FOLDER)


def check(is_so, *what):
    if not is_so:
        raise SystemExit("report: " + " ".join(str(each) for each in what))


def silent(report):
    """Nothing in the console, and no request."""
    found = report.complaints()
    check(not found, "the browser complains:", found)


def entries(name):
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").open(encoding="utf-8")]


# What the filters should find, worked out from the JSON Lines export alone.

def plain(value):
    return value if isinstance(value, str) else json.dumps(
        value, separators=(",", ":"), ensure_ascii=False)


def words(change):
    found = [change["object"]]
    for side in ("old", "new"):
        found += [plain(value) for value in change.get(side, {}).values() if value is not None]
    for side in ("removed", "added"):
        for members in change.get(side, {}).values():
            found += [each if isinstance(each, str) else each["object"] for each in members]
    return "\n".join(found).lower()


def wanted(all_entries, text="", author=None, entity=None, operation=None, since=None, until=None):
    shown, changes = 0, 0
    for entry in all_entries:
        day = datetime.fromisoformat(entry["time"].replace("Z", "+00:00")).astimezone(
            timezone.utc).date().isoformat()
        if author is not None and entry.get("author", "Nobody named") != author:
            continue
        if (since and day < since) or (until and day > until):
            continue
        noted = text != "" and text.lower() in entry.get("note", "").lower()
        found = [change for change in entry["changes"]
                 if (entity is None or change["entity"] == entity)
                 and (operation is None or change["op"] == operation)
                 and (text == "" or noted or text.lower() in words(change))]
        if found or (text == "" and entity is None and operation is None) \
                or (noted and entity is None and operation is None):
            shown, changes = shown + 1, changes + len(found)
    return [shown, changes]


def filters():
    """Every filter, alone and with others, finds what the other export says."""
    with Report(FOLDER / "ledger.html") as report:
        ledger = entries("ledger")
        cases = [
            {}, {"text": "amber"}, {"text": "BATCH 77"}, {"text": "Item/999"}, {"text": "no such"},
            {"author": "billing"}, {"author": "Nobody named"}, {"entity": "Account"},
            {"entity": "Item", "operation": "Delete"}, {"operation": "Insert"},
            {"since": "2021-03-01"}, {"until": "2020-01-31"},
            {"since": "2021-03-01", "until": "2021-03-01"},
            {"text": "cedar", "author": "import", "operation": "Update", "since": "2022-01-01",
             "until": "2023-06-30"},
        ]
        for case in cases:
            expected = wanted(ledger, **{
                name: value.lower() if name == "operation" else value
                for name, value in case.items()})
            check(report.filter(**case) == expected, "filters", case, "find other entries")
            count = report.texts("#count")[0]
            check(f"{expected[0]:,}" in count, count, "does not say", expected)
            rows = report.value("document.querySelectorAll('#list button.row').length")
            check(rows == min(50, expected[0]), rows, "rows are shown of", expected[0])
        print(f"  {len(cases)} filters find in {len(ledger)} entries what the JSON Lines export has")
        pages(report, ledger)
        life(report, ledger)
        summary(report, ledger)
        silent(report)


def pages(report, ledger):
    report.filter()
    seen = []
    while True:
        seen += report.value("Array.from(document.querySelectorAll('#list > li'),"
                             " (line) => Number(line.id.slice(6)))")
        if report.value("byId('older').disabled"):
            break
        report.run("byId('older').click()")
    check(seen == [entry["sequence"] for entry in reversed(ledger)], "pages leave entries out")


def life(report, ledger):
    """The object with the most changes: each of them, in order, and who wrote its values last."""
    lives, steps = {}, []
    for entry in ledger:
        for change in entry["changes"]:
            lives.setdefault(change["object"], []).append((entry, change))
    name = max(lives, key=lambda each: len(lives[each]))
    report.go(f"#object-{name}")
    report.until("document.querySelector('table.life')")
    shown = report.run("""
        const said = (cell) => {
            if (cell.matches("td") && cell.querySelector(".nothing")) return null;
            const copy = cell.cloneNode(true);
            copy.querySelectorAll(".unseen, .title").forEach((each) => each.remove());
            return cell.querySelector(".title") ? copy.textContent.trim() : copy.textContent;
        };
        return Array.from(document.querySelectorAll("table.life tbody"), (body) =>
            Array.from(body.rows, (row) => Array.from(row.cells, said)));
    """)
    check(len(shown) == len(lives[name]), "the life of", name, "has", len(shown), "changes")
    for (entry, change), rows in zip(lives[name], shown):
        check(f"Entry {entry['sequence']:,}" in rows[0][0], rows[0], "is not of", entry["sequence"])
        found = {row[0]: tuple(row[1:]) for row in rows[1:]}
        for side, place in (("old", 0), ("new", 1)):
            for property, value in change.get(side, {}).items():
                said = found[property][place]
                check(said == (None if value is None else plain(value)),
                      name, property, "shows", said, "for", value)
    last = {property: entry["sequence"] for entry, change in lives[name]
            for property in change.get("new", {})}
    blamed = dict(report.value("Array.from(document.querySelectorAll('table.blame tbody tr'),"
                               " (row) => [row.cells[0].textContent, row.cells[2].textContent])"))
    check(blamed == {property: f"Entry {number:,}" for property, number in last.items()},
          "blame", blamed, "is not", last)
    print(f"  {name}: {len(shown)} changes in order, and the last writer of {len(last)} properties")


def summary(report, ledger):
    report.go("#summary")
    report.until("document.querySelector('table.tally')")
    rows = report.value("Array.from(document.querySelector('table.tally tbody').rows, (row) =>"
                        " Array.from(row.cells, (cell) => cell.textContent).slice(0, 3))")
    counts = {}
    for entry in ledger:
        line = counts.setdefault(entry.get("author", "nobody named"), [0, 0])
        line[0] += 1
        line[1] += len(entry["changes"])
    found = {name: [int(text.replace(",", "")) for text in figures] for name, *figures in rows}
    check(found == counts, "who changed what:", found, "is not", counts)


def speed():
    """Nothing keeps ten thousand entries of three changes from responding."""
    with Report(FOLDER / "ledger.html") as report:
        paint = report.value("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        rows = report.value("performance.getEntriesByName('rows')[0]?.startTime ?? 0")
        ready = report.value("performance.getEntriesByName('ready')[0].startTime")
        reading = report.value("Math.max(0, ...longTasks.map(([, duration]) => duration))")
        report.run("longTasks.length = 0; byId('text').focus()")
        times = []
        for key in "amber fjord east":
            report.run("""
                window.drawn = undefined;
                const start = performance.now();
                byId('count').firstChild ?? byId('count').append('');
                new MutationObserver((_, observer) => {
                    observer.disconnect();
                    requestAnimationFrame(() => setTimeout(() => {
                        window.drawn = performance.now() - start;
                    }));
                }).observe(byId('list'), { childList: true });
                byId('text').value += arguments[0];
                byId('text').dispatchEvent(new InputEvent('input', { bubbles: true }));
            """, key)
            report.until("window.drawn !== undefined")
            times.append(report.value("window.drawn"))
        longest = report.value("Math.max(0, ...longTasks.map(([, duration]) => duration))")
        size = (FOLDER / "ledger.html").stat().st_size
        print(f"  {size / 1e6:.1f} MB: first paint {paint:.0f} ms, first rows {rows:.0f} ms, all read "
              f"{ready:.0f} ms (longest task {reading:.0f} ms); a keystroke, until it is drawn, "
              f"{sorted(times)[len(times) // 2]:.0f} ms in the middle, {max(times):.0f} ms at most "
              f"(longest task {longest:.0f} ms)")
        check(longest < 200, "a filter keeps the page from responding for", longest, "ms")


def focus(report):
    return report.value("document.activeElement.id || document.activeElement.className"
                        " || document.activeElement.tagName")


def keyboard():
    """Everything can be reached and done without a pointer."""
    with Report(FOLDER / "atlas.html") as report:
        report.press(Keys.TAB)
        check(report.value("document.activeElement.className") == "skip", "Tab begins elsewhere")
        check(report.value("document.activeElement.getBoundingClientRect().left >= 0"),
              "the link that skips is not seen when it has the focus")
        report.press("/")
        check(focus(report) == "text", "slash does not lead to the search")
        report.press("Prespa")
        report.until("hits.entries.length === 1")
        report.press(Keys.ESCAPE)
        report.until("hits.entries.length > 1")
        for _ in range(20):
            report.press(Keys.TAB)
            if focus(report) == "row":
                break
        check(focus(report) == "row", "Tab does not lead to the list")
        outline = report.value("getComputedStyle(document.activeElement).outlineStyle")
        check(outline == "solid", "the focus is not seen:", outline)
        first = report.value("document.activeElement.closest('li').id")
        report.press(Keys.ARROW_DOWN)
        report.press(Keys.ENTER)
        second = report.value("document.activeElement.closest('li').id")
        check(second != first, "the arrows do not move")
        check(report.value("document.activeElement.getAttribute('aria-expanded')") == "true",
              "Enter opens nothing")
        for place in ("#entry-", "#at-", "#object-"):
            report.press(Keys.TAB)
            check(report.value("document.activeElement.hash").startswith(place),
                  "Tab does not lead to", place)
        check(report.value("document.activeElement.hash").startswith("#object-"),
              "Tab does not lead to the object")
        name = report.value("document.activeElement.hash.slice(8)")
        report.press(Keys.ENTER)
        report.until("document.querySelector('table.life')")
        check(report.value("document.activeElement.firstChild.data") == name,
              "the title has no focus")
        report.press(Keys.ESCAPE)
        # What has the focus is hidden now, so the browser takes it away.
        report.until("!byId('view-timeline').hidden && document.activeElement === document.body")
        report.press(Keys.ESCAPE)
        report.go("#entry-10")
        check(report.value("document.activeElement.closest('li').id") == "entry-10",
              "the address of an entry does not lead there")
        report.press(Keys.ESCAPE)
        check(report.value("document.activeElement.getAttribute('aria-expanded')") == "false",
              "Escape does not close an entry")
        silent(report)
        print("  the keyboard leads everywhere")


def is_unseen(sign):
    return sign not in "\t\n" and unicodedata.category(sign) in ("Cc", "Cf", "Zl", "Zp")


def traps():
    """What looks like a program stays text, and what cannot be seen is named."""
    with Report(FOLDER / "traps.html") as report:
        report.run("opened.clear(); for (const { sequence } of entries) opened.add(sequence);"
                   " drawPage()")
        report.run("document.querySelectorAll('.text + .more, .text ~ .more')"
                   ".forEach((button) => button.click())")
        values = report.value("Array.from(document.querySelectorAll('#list .text'),"
                              " (text) => text.textContent)")
        for trap in TRAPS:
            named = "".join(f"U+{ord(sign):04X}" if is_unseen(sign) else sign for sign in trap)
            check(named in values, "a trap is not shown as it is:", repr(trap))
        made = report.value("document.querySelectorAll('main script, main img, main b').length")
        check(made == 0, made, "elements were made of values")
        check(report.value("document.querySelectorAll('[onclick], [onmouseover]').length") == 0,
              "an attribute was made of a value")
        text = report.value("byId('list').textContent")
        check("9007199254740993" in text and "12345678901234567890" in text,
              "a number lost digits")
        check("a name of JavaScript's own" in text, "a property is taken for one of JavaScript's")
        check("hush" not in report.value("document.documentElement.innerHTML"),
              "a confidential value is in the report")
        check(text.count("kept back") == 2, "nothing says kept back")
        silent(report)
        report.picture(PICTURES / "traps.png")
    page = (FOLDER / "traps.html").read_text(encoding="utf-8")
    html5lib.HTMLParser(strict=True).parse(page)
    blocks = re.findall(r'<script type="application/jsonl" class="entries">\n(.*?)</script>', page,
                        re.S)
    lines = "".join(blocks).splitlines()
    shown = [json.loads(line) for line in lines]
    hidden = json.loads(json.dumps(entries("traps")))
    keeps_back = False
    for entry in hidden:
        # No digest is told that covers what is kept back, by itself or by the digest before.
        keeps_back |= any(change["entity"] == "Account" for change in entry["changes"])
        if keeps_back:
            entry.pop("digest")
        for change in entry["changes"]:
            if change["entity"] == "Account":
                change["new"].pop("pin")
                change["confidential"] = ["pin"]
    check(shown == hidden, "the records are not those of the JSON Lines export")
    print(f"  {len(TRAPS)} traps stay text; an HTML parser finds no error")


def missing():
    """A file of which a part is missing says so; one without JavaScript shows its text."""
    page = (FOLDER / "ledger.html").read_text(encoding="utf-8")
    start = page.index('<script type="application/jsonl"')
    end = page.index("</script>", start) + len("</script>\n")
    (FOLDER / "part.html").write_text(page[:start] + page[end:], encoding="utf-8")
    with Report(FOLDER / "part.html") as report:
        check("not whole" in report.texts("header")[0], "nothing tells that a part is missing")
    with Report(FOLDER / "traps.html", scripts=False) as report:
        text = report.command("Runtime.evaluate", {
            "expression": "document.body.innerText"})["result"].get("value", "")
        check("JavaScript" in text and "trap-1" in text and "Search" not in text,
              "without JavaScript it cannot be read:", text[:300])


def standing():
    """Each verdict has its words."""
    for name, title, words in [
        ("atlas", "Verified", "None of the first"),
        ("unsigned", "signature was not checked", "Anyone may have written"),
        ("ledger", "truncation is not excluded", "checkpoint kept elsewhere"),
        ("foreign", "Not verified", "are not those of the checkpoint"),
    ]:
        page = (FOLDER / f"{name}.html").read_text(encoding="utf-8")
        section = re.search(r'<details class="standing.*?</details>', page, re.S)[0]
        check(title in section and words in " ".join(section.split()), name, "says", section)
        check((" open>" in section) == (name == "foreign"), name, "is unfolded or not:", section[:80])


def accessible():
    """axe-core finds nothing, in every view, light and dark, wide and narrow."""
    views = [("", "document.querySelectorAll('button.row')[0].click()"),
             ("#object-Country/227", ""), ("#summary", ""), ("#machine", ""), ("#at-40", "")]
    for scheme in ("light", "dark"):
        with Report(FOLDER / "atlas.html", scheme=scheme) as report:
            for place, then in views:
                report.go(place)
                report.until("!document.querySelector('main > section:not([hidden])').textContent"
                             ".includes('Reading')")
                report.run(then)
                for width in (1280, 800, 400):
                    report.resize(width, 900)
                    name = f"{scheme}-{place.strip('#').split('-')[0] or 'timeline'}-{width}"
                    report.run(AXE)
                    found = report.driver.execute_async_script(
                        "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa',"
                        " 'wcag22aa', 'best-practice'] }).then(arguments[0])")
                    for violation in found["violations"]:
                        for node in violation["nodes"][:3]:
                            print("   ", violation["id"], node["html"][:200], node["failureSummary"],
                                  file=sys.stderr)
                    check(not found["violations"], name, "has violations:",
                          [each["id"] for each in found["violations"]])
                    wide = report.value("document.documentElement.scrollWidth")
                    check(wide <= width, name, "is", wide, "pixels wide")
                    report.picture(PICTURES / f"{name}.png")
            ground = report.value("getComputedStyle(document.documentElement).backgroundColor")
            check((ground == "rgb(255, 255, 255)") == (scheme == "light"), scheme, "is", ground)
            silent(report)
    print(f"  axe-core {found['testEngine']['version']}: no violation, {len(found['passes'])} rules "
          "passed in the last view")


def first_screen():
    """The first screen shows entries, wide and narrow, without anything unfolded."""
    for width in (1280, 400):
        with Report(FOLDER / "ledger.html", width=width, height=900) as report:
            shown = report.value("Array.from(document.querySelectorAll('#list button.row')).filter("
                                 "(row) => row.getBoundingClientRect().bottom <= 900).length")
            check(shown >= 3, "only", shown, "entries are on the first screen of", width, "pixels")
            print(f"  {shown} entries on the first screen, {width} × 900 pixels")


def state(name, entity, sequence):
    """The objects of an entity as of an entry, by the command."""
    text = subprocess.run(
        [COMMAND, "fetch", FOLDER / f"{name}.daybook", entity, "--at", str(sequence), "--output",
         "jsonl"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {line["object"]: line["values"] for line in map(json.loads, text.splitlines())}


def machine():
    """After any number of steps the tables have what 'fetch --at' has; a drag stays fluid."""
    with Report(FOLDER / "ledger.html") as report:
        report.go("#machine")
        count = report.value("entries.length")
        compared = 0
        for at in (count, count - 1, 2, 3, 100, 4999, 7000, 6999, 37, count):
            report.run("machine.rows = 1e9; goAndFollow(arguments[0])", at)
            report.until(f"!machine.isRunning && moment.at === {at}")
            for entity in ("Account", "Item"):
                report.run("machine.entity = arguments[0]; drawMoment()", entity)
                shown = report.run("""
                    const said = (cell) => {
                        if (cell.querySelector(".nothing")) return null;
                        const copy = cell.cloneNode(true);
                        copy.querySelectorAll(".title").forEach((each) => each.remove());
                        return cell.querySelector(".title")
                            ? copy.textContent.trim() : copy.textContent;
                    };
                    return Object.fromEntries(Array.from(
                        document.querySelectorAll("#machine-table tbody tr:not(.delete)"),
                        (row) => [row.dataset.row, Object.fromEntries(Array.from(
                            row.querySelectorAll("td"),
                            (cell) => [cell.dataset.property, said(cell)]))]));
                """)
                wanted_rows = {
                    name: {property: None if value is None else plain(value)
                           # Confidential values are not in the report.
                           for property, value in values.items()
                           if property in shown.get(name, {}) and property != "pin"}
                    for name, values in state("ledger", entity, at).items()}
                found = {name: {property: value for property, value in row.items()
                                if property in wanted_rows.get(name, {})}
                         for name, row in shown.items()}
                check(found == wanted_rows, "after entry", at, "the table of", entity, "differs:",
                      [(name, found.get(name), wanted_rows.get(name))
                       for name in found.keys() | wanted_rows.keys()
                       if found.get(name) != wanted_rows.get(name)][:3])
                compared += sum(len(row) for row in found.values())
        check(compared > 10_000, "only", compared, "values were compared")
        print(f"  the time machine shows {compared:,} values as 'fetch --at' does")
        frames = drag(report, count)
        check(frames[len(frames) // 2] < 16, "a frame takes", frames[len(frames) // 2], "ms")
        print(f"  dragged through {count:,} entries: work for a frame {frames[len(frames) // 2]:.1f} ms in the "
              f"middle, {frames[int(len(frames) * .99)]:.1f} ms in 99 of 100")
        keys(report, count)
        silent(report)


def drag(report, count):
    """How long the script works in each frame while the slider goes from end to end and back, in ms."""
    report.go("#machine")
    report.run("""
        window.frames = [];
        const slider = byId("slider");
        let step = 0;
        const whole = 240;
        const next = () => {
            const start = performance.now();
            const part = Math.abs(1 - 2 * step / whole);
            slider.value = String(Math.round(arguments[0] * part));
            slider.dispatchEvent(new Event("input"));
            // Layout counts as well.
            document.body.getBoundingClientRect();
            window.frames.push(performance.now() - start);
            step += 1;
            if (step <= whole) requestAnimationFrame(next); else window.dragged = true;
        };
        requestAnimationFrame(next);
    """, count)
    report.until("window.dragged", 120)
    return sorted(report.value("window.frames"))


def keys(report, count):
    report.go("#machine")
    report.press(Keys.ARROW_LEFT)
    report.until(f"moment.at === {count - 1}")
    report.press(Keys.HOME)
    report.until("moment.at === 0")
    report.press("p")
    report.until("moment.at > 1")
    check(report.value("byId('machine-play').textContent") == "Pause", "it does not play")
    report.press("p")
    check(report.value("machine.timer") == 0, "it does not stop")


def live():
    """A page that is served goes on with what is saved, and asks for nothing but that."""
    store = FOLDER / "traps.daybook"
    server = subprocess.Popen([COMMAND, "serve", store], stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        with Report(FOLDER / "traps.html") as report:
            silent(report)
            report.url = address
            report.go("")
            report.until("byId('live').textContent.includes('as they are saved')")
            check("hush" not in report.value("document.documentElement.innerHTML"),
                  "a confidential value is served")
            before = report.value("entries.length")
            for trap in TRAPS[:3]:
                insert(store, trap)
            report.until(f"entries.length === {before + 3}")
            check(report.value("hits.entries.length") == before + 3, "the list has not what was saved")
            report.run("location.hash = '#machine'")
            report.until("moment.at === entries.length")
            insert(store, "last")
            report.until(f"moment.at === {before + 4}")
            lit = report.value("Array.from(document.querySelectorAll('#machine-table tr.lit.insert td'),"
                               " (cell) => cell.textContent)")
            check("last" in lit, "the new object is not lit up:", lit)
            check(report.value("document.querySelectorAll('main script').length") == 0,
                  "a script was made of a value")
            found = [line for line in report.complaints() if address not in line]
            check(not found, "the browser complains:", found)
            server.terminate()
            report.until("byId('live').textContent.includes('lost')")
        check(server.wait(10) == 0, "the command ends with", server.returncode)
    finally:
        server.kill()
    print("  a page that is served shows what is saved while it is open")


def insert(store, title):
    line = {"op": "insert", "entity": "List", "values": {"title": title}}
    subprocess.run([COMMAND, "record", store, "--quiet"], check=True, stdout=subprocess.DEVNULL, text=True,
                   input=json.dumps(line) + "\n" + json.dumps({"op": "save", "note": title}) + "\n")


def paper():
    """On paper stands all that the filters want, and nothing to press."""
    with Report(FOLDER / "ledger.html") as report:
        shown, _ = report.filter(text="cedar", until="2020-03-31")
        report.paper(PICTURES / "paper.pdf")
        text = subprocess.run(["pdftotext", "-layout", PICTURES / "paper.pdf", "-"], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        found = len(re.findall(r"^\s*Entry [\d,]+", text, re.M))
        check(found == shown > 100, "on paper stand", found, "entries of", shown)
        check("Clear" not in text and "Newest" not in text, "there are buttons on paper")
        check(report.value("byId('print').childElementCount") == 0, "the paper stays on the screen")
    subprocess.run(["pdftoppm", "-r", "70", "-l", "2", "-png", PICTURES / "paper.pdf",
                    PICTURES / "paper"], check=True)
    print(f"  {found} entries on paper, and a life of {life_on_paper()} changes")


def life_on_paper():
    """The life of an object with more changes than the screen shows at first."""
    with Report(FOLDER / "diary.html") as report:
        report.go("#object-Item/1")
        report.until("document.querySelector('table.life')")
        shown = report.value("document.querySelectorAll('table.life tbody').length")
        report.paper(PICTURES / "life.pdf")
        silent(report)
    text = subprocess.run(["pdftotext", "-layout", PICTURES / "life.pdf", "-"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    found = len(re.findall(r"^\W*(?:Inserted|Updated) by Entry [\d,]+", text, re.M))
    changes = sum(len(entry["changes"]) for entry in entries("diary"))
    check(found == changes > shown, "on paper stand", found, "changes of", changes)
    return found


if __name__ == "__main__":
    started = time.time()
    for part in (standing, traps, filters, keyboard, first_screen, machine, live, missing, accessible,
                 paper, speed):
        part()
    print(f"  looked at in {time.time() - started:.0f} s")
