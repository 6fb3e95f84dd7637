"use strict";

const assert = require("node:assert/strict");
const { test } = require("node:test");
const { openPage, entry, insert, update, remove } = require("./page.js");

test("numbers of more digits than JavaScript keeps are read as text", async () => {
    const page = await openPage();

    const read = page.value("parse")(
        '{"a":9007199254740993,"b":-12345678901234567890,"c":[9007199254740993,1]}');

    assert.equal(read.a, "9007199254740993");
    assert.equal(read.b, "-12345678901234567890");
    assert.deepEqual(Array.from(read.c), ["9007199254740993", 1]);
});

test("numbers that JavaScript keeps, and digits within texts, stay what they are", async () => {
    const page = await openPage();

    const read = page.value("parse")(
        '{"a":9007199254740991,"b":0.12345678901234568,"c":1e300,'
        + '"d":":1234567890123456789, \\"-1234567890123456789\\"","e":-0.0}');

    assert.equal(read.a, 9007199254740991);
    assert.equal(read.b, 0.12345678901234568);
    assert.equal(read.c, 1e300);
    assert.equal(read.d, ':1234567890123456789, "-1234567890123456789"');
    assert.ok(Object.is(read.e, -0));
});

test("a value as plain text tells minus nought from nought, and a number from a text", async () => {
    const page = await openPage();

    const plain = page.value("plain");

    assert.deepEqual(
        [-0, 0, "", "x", true, 1.5].map((each) => plain(each)),
        ["-0", "0", "", "x", "true", "1.5"]);
    assert.equal(plain(page.window.JSON.parse('{"a":[1,null]}')), '{"a":[1,null]}');
});

test("a search finds objects, values of both sides and members, whatever their case", async () => {
    const page = await openPage();

    const words = page.call("wordsOf", {
        op: "update", object: "Person/7", entity: "Person",
        old: { name: "ADA", gone: null }, new: { name: "Grace", age: 36 },
        removed: { friends: ["Person/1"] }, added: { tasks: [{ object: "Task/2", order: 0.5 }] },
    });

    assert.deepEqual(words.split("\n"),
        ["person/7", "ada", "grace", "36", "person/1", "task/2"]);
});

test("the properties of a change are those of all sides, each once", async () => {
    const page = await openPage();

    const names = page.call("propertiesOf", {
        new: { a: 1, b: 2 }, old: { b: 1, c: 3 }, removed: { d: [] }, added: { d: [], e: [] },
        confidential: ["f"],
    });

    assert.deepEqual(Array.from(names), ["a", "b", "c", "d", "e", "f"]);
});

test("entries of several blocks are read newest first, and each can be read whole again", async () => {
    const entries = [1, 2, 3, 4, 5].map((number) =>
        entry(number, [insert(`Item/${number}`, { name: `item ${number}` })]));

    const page = await openPage(entries, { blockLength: 2 });

    assert.deepEqual(page.listed, [5, 4, 3, 2, 1]);
    for (const index of [4, 0, 2]) {
        assert.equal(page.value(`record(entries[${index}])`).changes[0].new.name,
            `item ${5 - index}`);
    }
});

test("a text that looks like the end of a script is read as it is", async () => {
    const trap = "</script><script>alert(1)</script><!--";

    const page = await openPage([entry(1, [insert("Item/1", { name: trap })], { note: trap })]);

    assert.equal(page.value("record(entries[0])").changes[0].new.name, trap);
    assert.equal(page.find("#list .note").textContent, trap);
    assert.equal(page.document.querySelectorAll("main script").length, 0);
});

test("names of JavaScript's own are names like others", async () => {
    const values = JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}');

    const page = await openPage([entry(1, [insert("Item/1", values)])]);
    await page.go("#object-Item/1");

    assert.deepEqual(page.rows("table.blame").slice(1).map((row) => row.slice(0, 2)),
        [["__proto__", "a"], ["constructor", "b"], ["toString", "c"]]);
});

test("a file of which entries or changes are missing says so", async () => {
    const entries = [entry(1, [insert("Item/1", { name: "x" })])];

    const whole = await openPage(entries);
    const cut = await openPage(entries, { totals: { entries: 2, changes: 1 } });
    const thinned = await openPage(entries, { totals: { entries: 1, changes: 2 } });

    assert.deepEqual(whole.texts("header .warning"), []);
    for (const page of [cut, thinned]) {
        assert.deepEqual(page.texts("header .warning"),
            ["✗This file is not whole: a part of what was written is missing."]);
    }
});

test("a line says what an entry does", async () => {
    const page = await openPage([
        entry(1, [insert("A/1", { x: 1 }), insert("A/2", { x: 1 }), insert("A/3", { x: 1 })]),
        entry(2, [update("A/1", { x: 1 }, { x: 2 }), remove("A/2", { x: 1 })]),
    ]);

    assert.deepEqual(page.texts("#list .what"),
        ["~ Updated x− Deleted A", "+ Inserted 3 A"]);
    assert.equal(page.find("#count").textContent, "2 entries, 5 changes");
});
