"""Applies the patches and runs the statements that daybook makes of a store with a random history."""

import json
import random
import sqlite3
import subprocess
import sys

import jsonpatch

DAYBOOK, FOLDER, SEED = sys.argv[1], sys.argv[2], int(sys.argv[3])
STORE = FOLDER + "/history.daybook"
ENTRIES = 120

MODEL = {
    "entities": [
        {
            "name": "Item",
            "abstract": True,
            "attributes": [
                {"name": "title", "type": "string"},
                {"name": "price", "type": "decimal"},
                {"name": "weight", "type": "double"},
                {"name": "count", "type": "int64"},
                {"name": "lent", "type": "bool"},
                {"name": "since", "type": "date"},
                {"name": "scan", "type": "data"},
            ],
            "relationships": [{"name": "shelf", "destination": "Shelf", "inverse": "items"}],
        },
        {
            "name": "Book",
            "superentity": "Item",
            "relationships": [
                {"name": "authors", "destination": "Person", "toMany": True, "ordered": True},
                {"name": "topics", "destination": "Person", "toMany": True},
            ],
        },
        {"name": "Disc", "superentity": "Item"},
        {"name": "Person", "attributes": [{"name": "id", "type": "string"}]},
        {
            "name": "Shelf",
            "attributes": [{"name": "label", "type": "string"}],
            "relationships": [
                {"name": "items", "destination": "Item", "toMany": True, "inverse": "shelf"}
            ],
        },
    ]
}
TEXTS = ["", "a", "it's", 'he said "no"', "a/b~c", "~1", "two\nlines", "日本", "x\x00y", "--", "null"]


def run(*words, text=None, codes=(0,)):
    done = subprocess.run(
        [DAYBOOK, *words], input=text, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode not in codes:
        sys.exit(f"daybook {' '.join(words)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


class History:
    """Random changes that the rules of the model allow."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.objects = {}
        self.number = 0

    def of(self, *entities):
        return [name for name, entity in self.objects.items() if entity in entities]

    def values(self, entity):
        choice = self.random.choice
        values = {
            "title": choice([None, *TEXTS]),
            "price": choice([None, "0", "-12.50", "99999999999999999999.9"]),
            "weight": choice([None, 0.1, -2.5, 1e300, "Infinity", "NaN"]),
            "count": choice([None, 0, -7, 9007199254740993]),
            "lent": choice([None, True, False]),
            "since": choice([None, "2011-12-15T08:30:00.5Z", "1954-12-15T00:00:00Z"]),
            "scan": choice([None, "", "AAEC/w=="]),
        }
        if entity == "Person":
            values = {"id": choice(TEXTS)}
        elif entity == "Shelf":
            values = {"label": choice(TEXTS)}
        else:
            values["shelf"] = self.reference(choice([None, *self.of("Shelf")]))
        if entity == "Book":
            for name in ["authors", "topics"]:
                people = self.of("Person")
                chosen = self.random.sample(people, self.random.randint(0, min(3, len(people))))
                values[name] = [self.reference(person) for person in chosen]
        keys = self.random.sample(sorted(values), self.random.randint(1, len(values)))
        return {key: values[key] for key in keys}

    def reference(self, name):
        return None if name is None else {"object": name}

    def change(self):
        kind = self.random.choice(["insert", "insert", "update", "update", "update", "delete"])
        if kind == "insert" or not self.objects:
            entity = self.random.choice(["Book", "Disc", "Person", "Shelf"])
            return entity, {"op": "insert", "entity": entity, "values": self.values(entity)}
        name = self.random.choice(sorted(self.objects))
        if kind == "update":
            return None, {
                "op": "update", "object": name, "values": self.values(self.objects[name])
            }
        del self.objects[name]
        return None, {"op": "delete", "object": name}

    def record(self):
        for _ in range(ENTRIES):
            lines = []
            fresh = []
            for _ in range(self.random.randint(1, 5)):
                entity, line = self.change()
                lines.append(line)
                if entity:
                    fresh.append(entity)
            lines.append({"op": "save", "author": "history"})
            text = "".join(json.dumps(line) + "\n" for line in lines)
            run("record", STORE, "--quiet", text=text)
            if fresh:
                document = state("head")
                self.objects = {
                    f"{entity}/{number}": entity
                    for entity, objects in document.items()
                    for number in objects
                }


def state(place):
    return json.loads(run("document", STORE, "--at", str(place)))


def patch(older, newer):
    text = run("diff", STORE, str(older), str(newer), "--format", "json-patch", codes=(0, 1))
    return jsonpatch.JsonPatch.from_string(text)


def statements(older, newer):
    return run("diff", STORE, str(older), str(newer), "--format", "sql", codes=(0, 1))


def tables(text):
    lines = [line for line in text.split("\n") if line.startswith("-- CREATE TABLE")]
    return "\n".join(line.removeprefix("-- ") for line in lines)


def content(*scripts):
    database = sqlite3.connect(":memory:")
    database.executescript(tables(scripts[0]))
    for script in scripts:
        database.executescript(script)
    names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return {
        name: sorted(map(repr, database.execute(f'SELECT * FROM "{name}"')))
        for (name,) in names.fetchall()
    }


def spoiled(document, random):
    """The same document with another value where one was."""
    copy = json.loads(json.dumps(document))
    places = [
        (entity, number, name)
        for entity, objects in copy.items()
        for number, values in objects.items()
        for name in values
    ]
    entity, number, name = random.choice(places)
    copy[entity][number][name] = {"spoiled": True}
    return copy, f"/{entity}/{number}"


def main():
    print(f"seed {SEED}")
    with open(FOLDER + "/model.json", "w", encoding="utf-8") as file:
        json.dump(MODEL, file)
    run("init", STORE, "--model", FOLDER + "/model.json", "--quiet")
    history = History(SEED)
    history.record()
    head = json.loads(run("log", STORE, "-n", "1", "--output", "jsonl"))["sequence"]

    document = {}
    lines = run("export", STORE, "--format", "json-patch").splitlines()
    assert len(lines) == head, f"{len(lines)} lines for {head} entries"
    for number, line in enumerate(lines, start=1):
        document = jsonpatch.JsonPatch.from_string(line).apply(document)
        if number % 10 == 0 or number == head:
            assert document == state(number), f"the export differs at entry {number}"

    pairs = [sorted(history.random.sample(range(1, head + 1), 2)) for _ in range(20)]
    refused = 0
    for older, newer in pairs + [[b, a] for a, b in pairs[:5]] + [[0, head], [head, head]]:
        start, end, change = state(older), state(newer), patch(older, newer)
        assert change.apply(start) == end, f"the patch from {older} to {newer} leads elsewhere"
        touched = {operation["path"] for operation in change.patch}
        if any(start.values()):
            wrong, place = spoiled(start, history.random)
            if place in touched:
                try:
                    change.apply(wrong)
                except jsonpatch.JsonPatchTestFailed:
                    refused += 1
                else:
                    sys.exit(f"the patch from {older} to {newer} fits a wrong state")
        direct = content(statements(0, newer))
        assert content(statements(0, older), statements(older, newer)) == direct, (
            f"the statements from {older} to {newer} lead elsewhere"
        )
        objects = {name: rows for name, rows in direct.items() if name in end}
        counts = {name: len(values) for name, values in end.items()}
        assert {name: len(rows) for name, rows in objects.items()} == counts

    assert refused > 0, "no patch was tried on a wrong state"
    print(f"{head} entries, {len(pairs) + 7} patches: all lead where they should; {refused} wrong "
          "states refused.")


main()
