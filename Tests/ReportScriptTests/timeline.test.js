"use strict";

const assert = require("node:assert/strict");
const { test } = require("node:test");
const { openPage, text, entry, insert, update, remove } = require("./page.js");

const story = [
    entry(1, [insert("Shelf/1", { label: "A" }), insert("Book/1", { title: "Dune" })],
        { author: "ada", note: "First books" }),
    entry(2, [update("Book/1", { title: "Dune" }, { title: "Emma" })], { author: "grace" }),
    entry(3, [insert("Book/2", { title: "Ulysses" })]),
    entry(4, [remove("Book/1", { title: "Emma" })], { author: "ada", note: "The old EMMA goes" }),
    entry(5, [], { author: "ada", kind: "model", model: { entities: [] } }),
];

test("each filter, and several at once, find what they say", async () => {
    const page = await openPage(story);

    for (const [fields, listed, count] of [
        [{}, [5, 4, 3, 2, 1], "5 entries, 5 changes"],
        [{ author: "ada" }, [5, 4, 1], "3 of 5 entries, 3 of 5 changes"],
        [{ author: "Nobody named" }, [3], "1 of 5 entries, 1 of 5 changes"],
        [{ entity: "Shelf" }, [1], "1 of 5 entries, 1 of 5 changes"],
        [{ operation: "Update" }, [2], "1 of 5 entries, 1 of 5 changes"],
        [{ entity: "Book", operation: "Insert" }, [3, 1], "2 of 5 entries, 2 of 5 changes"],
        // In a value before or after; or in a note, which is of the whole entry.
        [{ text: "emma" }, [4, 2], "2 of 5 entries, 2 of 5 changes"],
        [{ text: "FIRST BOOKS" }, [1], "1 of 5 entries, 2 of 5 changes"],
        [{ text: "first", entity: "Book" }, [1], "1 of 5 entries, 1 of 5 changes"],
        [{ text: "first", operation: "Delete" }, [], "0 of 5 entries, 0 of 5 changes"],
        [{ text: "book/2" }, [3], "1 of 5 entries, 1 of 5 changes"],
        // From a day, and through the end of one.
        [{ since: "2024-01-04" }, [5, 4], "2 of 5 entries, 1 of 5 changes"],
        [{ until: "2024-01-02" }, [2, 1], "2 of 5 entries, 3 of 5 changes"],
        [{ since: "2024-01-03", until: "2024-01-03" }, [3], "1 of 5 entries, 1 of 5 changes"],
    ]) {
        assert.equal(await page.filter(fields), count, JSON.stringify(fields));
        assert.deepEqual(page.listed, listed, JSON.stringify(fields));
    }
});

test("an entry of the last microsecond of a day is of that day", async () => {
    const page = await openPage([
        { ...story[0], time: "2024-01-02T23:59:59.999999Z" },
        { ...story[1], time: "2024-01-03T00:00:00Z" },
    ]);

    await page.filter({ until: "2024-01-02" });

    assert.deepEqual(page.listed, [1]);
});

test("choices say how many entries each has, in the order of their names", async () => {
    const page = await openPage(story);

    assert.deepEqual(page.texts("#author option"),
        ["Anybody", "Nobody named (1)", "ada (3)", "grace (1)"]);
    assert.deepEqual(page.texts("#entity option"), ["Any", "Book (4)", "Shelf (1)"]);
});

test("a report without entries, and filters that find none, say so", async () => {
    const empty = await openPage([]);
    const page = await openPage(story);
    await page.filter({ text: "nowhere" });

    assert.deepEqual(empty.texts("#list .none"), ["There is no entry in this report."]);
    assert.deepEqual(page.texts("#list .none"), ["No entry is like that."]);
});

test("pages of fifty have every entry once", async () => {
    const page = await openPage(Array.from({ length: 120 }, (_, index) =>
        entry(index + 1, [insert(`Item/${index}`, { x: index })])));

    const seen = [...page.listed];
    assert.equal(page.find("#newer").disabled, true);
    while (!page.find("#older").disabled) {
        page.find("#older").click();
        seen.push(...page.listed);
    }

    assert.deepEqual(seen, Array.from({ length: 120 }, (_, index) => 120 - index));
    assert.equal(page.find("#page").textContent, "Page 3 of 3");
});

test("a newer search ends an older one", async () => {
    const page = await openPage(story);

    page.find("#text").value = "emma";
    const older = page.call("changeFilters");
    page.find("#text").value = "ulysses";
    await Promise.all([older, page.call("changeFilters")]);

    assert.deepEqual(page.listed, [3]);
});

test("in an open entry the changes that filters want come first, the others on demand", async () => {
    const page = await openPage([entry(1, [
        insert("A/1", { x: "one" }), insert("B/2", { x: "two" }), insert("A/3", { x: "three" }),
    ])]);
    await page.filter({ entity: "B" });

    page.find("#list button.row").click();
    const before = page.texts("#list h4");
    const more = page.find("#list .entry .more");
    const label = more.textContent;
    more.click();

    assert.deepEqual(before, ["+ Inserted B/2"]);
    assert.equal(label, "Show 2 other changes");
    assert.deepEqual(page.texts("#list h4"),
        ["+ Inserted B/2", "+ Inserted A/1", "+ Inserted A/3"]);
});

test("of an entry with hundreds of changes all can be shown, part by part", async () => {
    const changes = Array.from({ length: 450 }, (_, index) => insert(`A/${index}`, { x: index }));
    const page = await openPage([entry(1, changes)]);

    page.find("#list button.row").click();
    const labels = [];
    for (;;) {
        const more = page.document.querySelector("#list .entry .more");
        if (!more) break;
        labels.push(more.textContent);
        more.click();
    }

    assert.deepEqual(labels, ["Show 200 of 410 more changes", "Show 200 of 210 more changes",
        "Show 10 more changes"]);
    assert.deepEqual(page.texts("#list h4"), changes.map(({ object }) => `+ Inserted ${object}`));
});

test("an entry tells who, when, on what it was based and what it takes back", async () => {
    const page = await openPage([entry(9, [insert("A/1", { x: 1 })], {
        author: "ada", recorded: "2024-01-09T00:00:01Z", context: "import", base: 8, kind: "undo",
        undoes: [3, 5], digest: "00ff", note: "Two lines\nof a note",
    })]);
    page.find("#list button.row").click();

    assert.deepEqual(page.texts("#list .facts > div"), [
        "LinkEntry 9", "Time machineAfter entry 9",
        "Happened2024-01-09 00:00:00 UTC", "Recorded2024-01-09 00:00:01 UTC",
        "Authorada", "Contextimport", "Based onEntry 8", "UndoesEntry 3 to Entry 5", "Digest00ff",
    ]);
    assert.deepEqual(page.texts("#list .note"), ["undoes 3–5 Two lines"]);
    assert.deepEqual(page.texts("#list .whole-note"), ["Two lines of a note"]);
});

test("without a note a line names the first objects", async () => {
    const page = await openPage([
        entry(1, ["A/1", "A/2", "A/3", "A/4", "A/5"].map((object) => insert(object, { x: 1 }))),
    ]);

    assert.deepEqual(page.texts("#list .note"), ["A/1, A/2, A/3 and 2 more"]);
});

test("a delete by rule says because of what", async () => {
    const page = await openPage();

    const section = page.call("changeSection", remove("Task/2", { x: 1 }, { cause: "Team/1" }));

    assert.equal(text(section.querySelector("h4")),
        "− Deleted Task/2 because Team/1 was deleted");
});

// Span

const bars = (page, kind) => page.document.querySelectorAll(`#span rect.${kind}`).length;

test("the span has a bar for each time with entries, and what filters want stands out", async () => {
    const page = await openPage(story);
    await page.filter({ author: "grace" });

    assert.deepEqual(page.texts("#span .ticks span"),
        ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]);
    assert.deepEqual(page.texts("#span .hint"),
        ["No entry for 24 hours, from 2024-01-01 to 2024-01-02."]);
    assert.equal(bars(page, "all"), 5);
    assert.equal(bars(page, "shown"), 1);
});

test("there is no span of few entries, of one moment, or of times that cannot be read", async () => {
    const at = (time) => story.map((each) => ({ ...each, time }));

    const few = await openPage(story.slice(0, 2));
    const once = await openPage(at("2024-01-01T00:00:00Z"));
    const never = await openPage(at("+212345-01-01T00:00:00Z"));

    for (const page of [few, once, never]) assert.equal(page.find("#span").hidden, true);
    assert.deepEqual(never.listed, [5, 4, 3, 2, 1]);
});
