"""Writes what 'daybook record' reads, for the stores of which reports are made.

    stories.py atlas      countries and what became of their names: for looking at
    stories.py ledger N   N entries of three changes each: for counting and measuring
    stories.py traps      texts that try to be something else
    stories.py diary      one object with many changes
    stories.py model      the model of the last three
"""
import json
import random
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

MODEL = {"entities": [
    {"name": "Account", "attributes": [
        {"name": "name", "type": "string", "optional": False, "unique": True},
        {"name": "pin", "type": "string", "confidential": True}],
     "relationships": [
        {"name": "items", "destination": "Item", "toMany": True, "inverse": "account"}]},
    {"name": "Item", "attributes": [
        {"name": "label", "type": "string", "optional": False, "unique": True},
        {"name": "amount", "type": "int64"},
        {"name": "price", "type": "decimal"},
        {"name": "ratio", "type": "double"},
        {"name": "text", "type": "string"},
        {"name": "settings", "type": "codable"}],
     "relationships": [
        {"name": "account", "destination": "Account", "inverse": "items"}]},
    {"name": "List", "attributes": [
        {"name": "title", "type": "string"},
        {"name": "constructor", "type": "string"}],
     "relationships": [
        {"name": "entries", "destination": "Item", "toMany": True, "ordered": True}]}]}

ROOT = Path(__file__).resolve().parents[3]


def write(**line):
    print(json.dumps(line, ensure_ascii=False, separators=(",", ":")))


def save(author=None, note=None, time=None):
    given = {"author": author, "note": note, "time": time}
    write(op="save", **{name: value for name, value in given.items() if value is not None})


# The names that Debian's list has today, the names before, and when they changed.
RENAMED = [
    ("CV", "Cape Verde", "Cabo Verde", "2013-10-24", "The Portuguese name in all languages"),
    ("CZ", "Czech Republic", "Czechia", "2016-07-05", "The short name is registered"),
    ("SZ", "Swaziland", "Eswatini", "2018-04-19", "Renamed on the day of independence"),
    ("MK", "Macedonia, the former Yugoslav Republic of", "North Macedonia", "2019-02-12",
     "The agreement of Prespa is in force"),
    ("TR", "Turkey", "Türkiye", "2022-06-01", "Its own spelling"),
]


def atlas():
    """The countries of iso-codes as they came to be, with names that changed later."""
    old = {code: (before, now) for code, before, now, _, _ in RENAMED}
    stream = subprocess.run([ROOT / "Tools/iso-codes-stream"], check=True, stdout=subprocess.PIPE,
                            text=True).stdout
    for text in stream.splitlines():
        line = json.loads(text)
        values = line.get("values", {})
        if line.get("entity") == "Country" and values.get("alpha2") in old:
            if line["op"] == "insert" and "flag" in values:
                values["name"] = old[values["alpha2"]][0]
        write(**line)
    for code, _, now, day, note in RENAMED:
        write(op="update", entity="Country", match={"code": code}, values={"name": now})
        save("registry", note, f"{day}T00:00:00Z")


def ledger(count):
    """Always the same entries; deletes now and then, so that lives end."""
    chance = random.Random(20)
    authors = ["billing", "import", "registry", "support", None]
    words = "north south east west amber birch cedar delta ember fjord".split()
    day = datetime(2020, 1, 1, tzinfo=timezone.utc)
    for name in words:
        write(op="insert", entity="Account", values={"name": name, "pin": f"pin-{name}"})
    save("registry", "Accounts", day.strftime("%Y-%m-%dT%H:%M:%SZ"))
    there = []
    for number in range(count - 1):
        day += timedelta(minutes=chance.randrange(1, 500))
        changed = set()
        for step in range(3):
            kind = chance.random()
            if kind < 0.3 or len(there) < 20:
                label = f"item-{number}-{step}"
                write(op="insert", entity="Item", values={
                    "label": label, "amount": chance.randrange(1000),
                    "price": f"{chance.randrange(9999) / 100:.2f}",
                    "text": " ".join(chance.choices(words, k=4)),
                    "account": {"match": {"name": chance.choice(words)}}})
                there.append(label)
                changed.add(label)
                continue
            label = chance.choice([label for label in there[-40:] if label not in changed])
            changed.add(label)
            if kind < 0.34:
                write(op="delete", entity="Item", match={"label": label})
                there.remove(label)
            else:
                write(op="update", entity="Item", match={"label": label}, values={
                    "amount": chance.randrange(1000, 2000),
                    "text": " ".join(chance.choices(words, k=4))})
        note = f"Batch {number} {chance.choice(words)}" if chance.random() < 0.6 else None
        save(chance.choice(authors), note, day.strftime("%Y-%m-%dT%H:%M:%SZ"))


TRAPS = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<!--<script>",
    "]]><img src=x onerror=alert(3)>",
    "\" onmouseover=\"alert(4)\" '",
    "&lt;b&gt;bold&lt;/b&gt;",
    "javascript:alert(5)",
    "שלום עולם",
    "user\u202egpj.exe",
    "zero\u200bwidth",
    "unseen\U000e0041\U000e0042 letters",
    "bell\u0007 and null\u0000",
    "line\u2028separator\u2029paragraph",
    "tab\tand\r\nline ends\n",
    "  two spaces  ",
    "👩‍🔬 é 𝔘nicode",
    "x" * 5000,
    "{{constructor.constructor('alert(6)')()}}",
]


def traps():
    for number, text in enumerate(TRAPS):
        write(op="insert", entity="Item", ref=f"r{number}",
              values={"label": f"trap-{number}", "text": text})
    save("<b>author</b>\u202e", "<script>alert(7)</script>\n\nSecond paragraph </script>")
    write(op="insert", entity="Account",
          values={"name": "</script><script>alert(8)</script>", "pin": "<hush>"})
    write(op="insert", entity="List",
          values={"title": "ordered", "constructor": "a name of JavaScript's own",
                  "entries": [{"ref": "r2"}, {"ref": "r0"}, {"ref": "r1"}]})
    save(None, None)
    write(op="update", entity="Item", match={"label": "trap-0"}, values={
        "text": "<script>alert(9)</script>", "amount": 9007199254740993, "ratio": -0.0,
        "settings": {"<script>": [1, None, "</script>"], "large": 12345678901234567890}})
    write(op="update", entity="Item", match={"label": "trap-1"}, values={"text": ""})
    write(op="update", entity="Item", match={"label": "trap-2"}, values={"text": None})
    write(op="update", entity="Item", match={"label": "trap-7"}, values={"text": "שלום לכולם"})
    save("' onclick='alert(10)", "“Quotes”")


def diary():
    """One object, and more changes of it than a screen shows."""
    write(op="insert", entity="Item", values={"label": "diary", "text": "day 0"})
    save("ada", None)
    for day in range(1, 71):
        write(op="update", entity="Item", match={"label": "diary"}, values={"text": f"day {day}"})
        save("ada", None)


if __name__ == "__main__":
    if sys.argv[1] == "model":
        json.dump(MODEL, sys.stdout, indent=1)
    elif sys.argv[1] == "ledger":
        ledger(int(sys.argv[2]))
    else:
        {"atlas": atlas, "diary": diary, "traps": traps}[sys.argv[1]]()
