#!/usr/bin/env python3
"""What the objects of a stage are in the newest model, worked out from the exports alone.

    expected.py STAGE          after the store of that stage has been brought to the newest model
    expected.py STAGE --past   as the newest store shows the end of that stage

It shares nothing with daybook: an entry's changes are applied to dictionaries by name, a model entry maps the
names of one model to those of the next, and a model that is taken back brings back what was there before.
"""
import copy
import json
import os
import re
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
NEWEST = 8


class Number(str):
    """A number with a fraction or an exponent, in its own digits."""


class Model:
    def __init__(self, document):
        self.entities = {entity["name"]: entity for entity in document["entities"]}

    def line(self, name):
        """An entity and its superentities."""
        while name is not None:
            yield self.entities[name]
            name = self.entities[name].get("superentity")

    def properties(self, name):
        """The properties that a store keeps, by name: of two ends of a relationship only one."""
        found = {}
        for entity in self.line(name):
            for attribute in entity.get("attributes", []):
                found[attribute["name"]] = attribute
            for end in entity.get("relationships", []):
                if not end.get("toMany") or "inverse" not in end or end.get("ordered"):
                    found[end["name"]] = end
        return found


def empty(prop):
    return {} if prop.get("toMany") else prop.get("default")


def converted(value, old, new):
    """A value of one attribute as another one has it."""
    if value is None or old["type"] == new["type"]:
        return value
    if new["type"] in ("string", "decimal"):
        return str(value)
    if new["type"].startswith("int"):
        return int(value)
    raise ValueError(f"{old} to {new}")


class Renames:
    """What things are called in the newer of two models, by what they were called."""

    def __init__(self, old, new, steps=None):
        self.entities, self.properties = {}, {}
        if steps is None:
            self.read_identifiers(old, new)
        for step in steps or []:
            if found := re.fullmatch(r"rename entity '(\w+)' to '(\w+)'", step):
                self.entities[found[1]] = found[2]
            elif found := re.fullmatch(r"rename '\w+\.(\w+)' to '(\w+)\.(\w+)'", step):
                self.properties[found[2], found[3]] = found[1]

    def read_identifiers(self, old, new):
        for name, entity in new.entities.items():
            if name not in old.entities and "renamingIdentifier" in entity:
                self.entities[entity["renamingIdentifier"]] = name
            for prop in entity.get("attributes", []) + entity.get("relationships", []):
                if "renamingIdentifier" in prop:
                    self.properties[name, prop["name"]] = prop["renamingIdentifier"]

    def earlier(self, model, entity, name, known):
        """The earlier name of a property, among those that were known."""
        if name in known:
            return name
        names = [self.properties.get((line["name"], name)) for line in model.line(entity)]
        return next((earlier for earlier in names if earlier in known), None)


def migrated(objects, old, new, renames):
    """All objects in another model."""
    result = {}
    for number, (entity, values) in objects.items():
        known = old.properties(entity)
        entity = renames.entities.get(entity, entity)
        if entity not in new.entities:
            continue
        moved = {}
        for name, prop in new.properties(entity).items():
            earlier = renames.earlier(new, entity, name, known)
            if earlier is None:
                moved[name] = empty(prop)
            elif "type" in prop:
                moved[name] = converted(values[earlier], known[earlier], prop)
            else:
                moved[name] = values[earlier]
        result[number] = (entity, moved)
    return result


def taken_back(objects, before, now, model):
    """All objects after a model was taken back: what it had removed is as it was before."""
    result = {}
    for number, (entity, earlier) in before[0].items():
        if number in objects:
            entity, values = objects[number]
            known = now.properties(entity)
            names = model.properties(entity)
            values = {name: values[name] if name in known else earlier[name] for name in names}
            result[number] = (entity, values)
        elif entity not in now.entities:
            result[number] = (entity, earlier)
    for number, (entity, values) in objects.items():
        if number not in result:
            result[number] = (entity, {
                name: values.get(name, empty(prop))
                for name, prop in model.properties(entity).items()})
    return result


def number_of(text):
    return int(text.split("/")[1])


def target(value, prop):
    return number_of(value) if value is not None and "destination" in prop else value


def member(value):
    if isinstance(value, dict):
        return number_of(value["object"]), float(value["order"])
    return number_of(value), 0


def apply(change, objects, model):
    number = number_of(change["object"])
    if change["op"] == "delete":
        del objects[number]
        return
    properties = model.properties(change["entity"])
    if change["op"] == "insert":
        objects[number] = (change["entity"], {
            name: {} if prop.get("toMany") else None for name, prop in properties.items()})
    values = objects[number][1]
    for name, value in change["new"].items():
        values[name] = target(value, properties[name])
    for name, members in change.get("removed", {}).items():
        for each in members:
            del values[name][member(each)[0]]
    for name, members in change.get("added", {}).items():
        values[name].update(map(member, members))


def replay(stage):
    """The objects at the end of a stage, and their model."""
    model, objects, befores = None, {}, {}
    for number in range(1, stage + 1):
        with open(os.path.join(FOLDER, f"v{number}.jsonl"), encoding="utf-8") as lines:
            for line in lines:
                entry = json.loads(line, parse_float=Number)
                if entry.get("kind") == "model":
                    befores[entry["sequence"]] = (copy.deepcopy(objects), model)
                    newer = Model(entry["model"])
                    if "undoes" in entry:
                        objects = taken_back(objects, befores[entry["undoes"]], model, newer)
                    elif model is not None:
                        renames = Renames(model, newer, entry["steps"])
                        objects = migrated(objects, model, newer, renames)
                    model = newer
                for change in entry["changes"]:
                    apply(change, objects, model)
    return objects, model


def fill(objects, model):
    """Gives a required attribute without a value its default, as a migration does."""
    for entity, values in objects.values():
        for name, prop in model.properties(entity).items():
            if values[name] is None and prop.get("optional") is False:
                values[name] = prop["default"]


def main():
    stage, past = int(sys.argv[1]), sys.argv[2:] == ["--past"]
    objects, model = replay(stage)
    with open(os.path.join(FOLDER, f"v{NEWEST}.json"), encoding="utf-8") as text:
        newest = Model(json.load(text))
    objects = migrated(objects, model, newest, Renames(model, newest))
    if not past:
        fill(objects, newest)
    name_of = {number: f"{entity}/{number}" for number, (entity, _) in objects.items()}
    for number, (entity, values) in sorted(objects.items()):
        for name, prop in newest.properties(entity).items():
            if prop.get("toMany"):
                values[name] = [
                    name_of[each] for each in sorted(values[name], key=values[name].get)]
            elif "destination" in prop and values[name] is not None:
                values[name] = name_of[values[name]]
        line = {"object": name_of[number], "entity": entity, "values": values}
        print(json.dumps(line, ensure_ascii=False, sort_keys=True))


main()
