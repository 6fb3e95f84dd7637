"use strict";

const assert = require("node:assert/strict");
const { test } = require("node:test");
const { openPage, entry, insert, update, remove } = require("./page.js");

const story = [
    entry(1, [insert("A/1", { x: 1, y: 1 }), insert("B/1", { x: 1 })], { author: "ada" }),
    entry(2, [update("A/1", { x: 1 }, { x: 2 })], { author: "ada" }),
    entry(3, [remove("B/1", { x: 1 })]),
];

/** A table of the summary: name, entries, changes, inserted, updated, deleted. */
const tally = (page, place) => page.rows(`#view-summary > :nth-child(${place}) table`).slice(1)
    .map(([name, ...figures]) => [name, ...figures.slice(0, 5).map(Number)]);

test("who changed what is counted by author, entity, property and object", async () => {
    const page = await openPage(story);
    await page.go("#summary");

    assert.deepEqual(tally(page, 3), [["ada", 2, 3, 2, 1, 0], ["nobody named", 1, 1, 0, 0, 1]]);
    assert.deepEqual(tally(page, 4), [["B", 2, 2, 1, 0, 1], ["A", 2, 2, 1, 1, 0]]);
    assert.deepEqual(tally(page, 5),
        [["B.x", 2, 2, 1, 0, 1], ["A.x", 2, 2, 1, 1, 0], ["A.y", 1, 1, 1, 0, 0]]);
    assert.deepEqual(tally(page, 6), [["B/1", 2, 2, 1, 0, 1], ["A/1", 2, 2, 1, 1, 0]]);
});

test("the filters of the timeline hold for the summary, and can be cleared there", async () => {
    const page = await openPage(story);
    await page.filter({ entity: "B" });
    await page.go("#summary");

    const filtered = tally(page, 3);
    page.find("#view-summary .lead .more").click();
    await page.until(() => page.value("hits.changes") === 4);
    await page.call("drawSummary");

    assert.deepEqual(filtered, [["nobody named", 1, 1, 0, 0, 1], ["ada", 1, 1, 1, 0, 0]]);
    assert.deepEqual(tally(page, 3), [["ada", 2, 3, 2, 1, 0], ["nobody named", 1, 1, 0, 0, 1]]);
});

test("to choose an author leads to the entries of that author", async () => {
    const page = await openPage(story);
    await page.go("#summary");

    page.find("#view-summary .choose").click();
    await page.until(() => page.value("hits.entries.length") === 2);

    assert.deepEqual(page.listed, [2, 1]);
    assert.equal(page.find("#author").selectedOptions[0].textContent, "ada (2)");
});

test("of many only the first dozen are shown, and how many there are is said", async () => {
    const page = await openPage(Array.from({ length: 15 }, (_, index) =>
        entry(index + 1, [insert(`A/${index}`, { x: 1 })], { author: `author ${index}` })));
    await page.go("#summary");

    assert.equal(tally(page, 3).length, 12);
    assert.ok(page.find("#view-summary caption").textContent.includes("the first 12 of 15"));
    page.find("#view-summary > :nth-child(3) .more").click();
    assert.equal(tally(page, 3).length, 15);
    assert.equal(page.document.querySelector("#view-summary > :nth-child(3) .more"), null);
});
