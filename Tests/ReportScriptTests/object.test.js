"use strict";

const assert = require("node:assert/strict");
const { test } = require("node:test");
const { openPage, text, entry, insert, update, remove } = require("./page.js");

/** Who wrote each value last: property, value, entry. */
const blame = (page) => page.rows("table.blame").slice(1).map((row) => row.slice(0, 3));
const unknown = "written by an entry not in this report";

test("an object shows every change in order, and who wrote each value last", async () => {
    const page = await openPage([
        entry(1, [insert("Book/1", { title: "Dune", pages: 1 })], { author: "ada" }),
        entry(2, [insert("Book/2", { title: "Other" })]),
        entry(3, [update("Book/1", { title: "Dune" }, { title: "Emma" })], { author: "grace" }),
    ]);
    await page.go("#object-Book/1");

    assert.equal(text(page.find("#view-object .lead")),
        "2 changes. Inserted by Entry 1. Not deleted. Find it in the timeline");
    assert.deepEqual(blame(page), [["pages", "1", "Entry 1"], ["title", "Emma", "Entry 3"]]);
    assert.deepEqual(page.texts("table.life .step"), [
        "+ Inserted by Entry 12024-01-01 00:00:00 · ada",
        "~ Updated by Entry 32024-01-03 00:00:00 · grace",
    ]);
});

test("members of a relationship are those who joined and did not leave", async () => {
    const page = await openPage([
        entry(1, [insert("Team/1", {}, { added: { members: ["P/1", "P/2"] } })]),
        entry(2, [update("Team/1", {}, {}, {
            removed: { members: ["P/1"] }, added: { members: [{ object: "P/3", order: 2 }] },
        })]),
    ]);
    await page.go("#object-Team/1");

    assert.deepEqual(blame(page), [["members", "P/2, P/3", "Entry 2"]]);
});

test("after a delete stand the values that it had, with who wrote them", async () => {
    const page = await openPage([
        entry(1, [insert("Team/1", { name: "A" }, { added: { members: ["P/1"] } })]),
        entry(2, [remove("Team/1", { name: "A" }, { removed: { members: ["P/1"] } })]),
    ]);
    await page.go("#object-Team/1");

    assert.deepEqual(blame(page), [["members", "P/1", "Entry 1"], ["name", "A", "Entry 1"]]);
    assert.equal(text(page.find("#blame-title")),
        "Values when it was deleted, and who wrote them last");
});

test("a delete whose inserts are not in the report writes nothing, members neither", async () => {
    const page = await openPage([
        entry(7, [remove("Team/1", { name: "A" }, { removed: { members: ["P/1", "P/2"] } })]),
    ], { scope: { startsLate: true } });
    await page.go("#object-Team/1");

    assert.deepEqual(blame(page), [["members", "P/1, P/2", unknown], ["name", "A", unknown]]);
    assert.ok(page.find("#view-object .warning").textContent.includes("changes may be missing"));
});

test("where the report leaves changes out, a delete shows its own values, not older ones", async () => {
    const page = await openPage([
        entry(3, [insert("Team/1", { name: "A", town: "X" }, { added: { members: ["P/1"] } })]),
        // An entry in between, which a filter left out, gave it another name and another member.
        entry(5, [remove("Team/1", { name: "B", town: "X" },
            { removed: { members: ["P/1", "P/2"] } })]),
    ], { scope: { isFiltered: true } });
    await page.go("#object-Team/1");

    assert.deepEqual(blame(page), [
        ["members", "P/1, P/2", unknown], ["name", "B", unknown], ["town", "X", "Entry 3"],
    ]);
});

test("an object that is not in the report is said not to be there", async () => {
    const page = await openPage([entry(1, [insert("A/1", { x: 1 })])]);
    await page.go("#object-A/2");

    assert.equal(text(page.find("#view-object")), "A/2No change of this object is in the report.");
});

test("an object without values says so", async () => {
    const page = await openPage([entry(1, [insert("A/1", {})])]);
    await page.go("#object-A/1");

    assert.ok(text(page.find("#view-object")).includes("It has no values."));
});

// A life of sixty changes, of which the screen shows fifty at first.
const long = [
    entry(1, [insert("A/1", { x: 0 })]),
    ...Array.from({ length: 59 }, (_, index) =>
        entry(index + 2, [update("A/1", { x: index }, { x: index + 1 })])),
];

test("a long life is shown part by part", async () => {
    const page = await openPage(long);
    await page.go("#object-A/1");

    const before = page.texts("table.life .step").length;
    const more = page.find("#view-object section > .more");
    const label = more.textContent;
    more.click();

    assert.equal(before, 50);
    assert.equal(label, "Show 10 later changes");
    assert.equal(page.texts("table.life .step").length, 60);
});

test("on paper stands the whole life of an object, with whole texts", async () => {
    const words = "word ".repeat(400).trim();
    const page = await openPage([
        ...long, entry(61, [update("A/1", { x: 59 }, { x: words })]),
    ]);
    await page.go("#object-A/1");
    const screen = page.find("#view-object").innerHTML;

    page.window.dispatchEvent(new page.window.Event("beforeprint"));
    const steps = page.texts("table.life .step").length;
    const value = text(page.find("table.blame td"));
    page.window.dispatchEvent(new page.window.Event("afterprint"));

    assert.equal(steps, 61);
    assert.equal(value, words);
    assert.equal(page.find("#view-object").innerHTML, screen);
});

test("'find it in the timeline' shows the entries that name the object", async () => {
    const page = await openPage([
        entry(1, [insert("A/1", { x: 1 })]), entry(2, [insert("A/2", { x: 1 })]),
        entry(3, [insert("B/1", { a: "A/1" })]),
    ]);
    await page.go("#object-A/1");

    page.find("#view-object .lead .more").click();
    await page.until(() => page.value("hits.entries.length") === 2);

    assert.deepEqual(page.listed, [3, 1]);
});
