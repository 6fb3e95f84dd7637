"use strict";

const assert = require("node:assert/strict");
const { test } = require("node:test");
const { openPage, text, entry, insert, update, remove } = require("./page.js");

const scope = {
    display: { Team: "name" }, references: { Person: ["team", "friends"] },
    properties: { Team: ["name"], Person: ["first", "team", "friends"] },
};

const story = [
    entry(1, [insert("Team/1", { name: "Red" }), insert("Team/2", { name: "Blue" })]),
    entry(2, [insert("Person/3", { first: "Ada", team: "Team/1" })], { author: "grace" }),
    entry(3, [insert("Person/4", { first: "Bob" }, { added: { friends: ["Person/3"] } })]),
    entry(4, [update("Person/3", { team: "Team/1" }, { team: "Team/2" })], { note: "Moves" }),
    entry(5, [update("Person/4", {}, {}, { removed: { friends: ["Person/3"] } })]),
    entry(6, [remove("Team/1", { name: "Red" })]),
];

async function open(place, entries = story, more = {}) {
    const page = await openPage(entries, { scope: { ...scope, ...more }, place });
    await settled(page);
    return page;
}

const settled = (page) => page.until(() =>
    page.value("!machine.isRunning && moment.at === moment.wanted"));

async function goTo(page, at) {
    page.call("goAndFollow", at);
    await settled(page);
}

/** The objects at the moment, as the tables of all entities have them. */
function tables(page) {
    const found = {};
    for (const name of page.texts("#machine-entity option")) {
        const select = page.find("#machine-entity");
        select.value = name.replace(/ \([\d,]+\)$/, "");
        select.dispatchEvent(new page.window.Event("input"));
        const rows = page.document.querySelectorAll("#machine-table tbody tr:not(.delete)");
        for (const row of rows) {
            found[row.dataset.row] = Object.fromEntries(
                Array.from(row.querySelectorAll("td"), (cell) =>
                    [cell.dataset.property, text(cell)])
                    .filter(([, shown]) => !/^(—nothing|no member)$/.test(shown)));
        }
    }
    return found;
}

const states = [
    {},
    { "Team/1": { name: "Red" }, "Team/2": { name: "Blue" } },
    {
        "Team/1": { name: "Red" }, "Team/2": { name: "Blue" },
        "Person/3": { first: "Ada", team: "Team/1 Red" },
    },
    {
        "Team/1": { name: "Red" }, "Team/2": { name: "Blue" },
        "Person/3": { first: "Ada", team: "Team/1 Red" },
        "Person/4": { first: "Bob", friends: "Person/3" },
    },
    {
        "Team/1": { name: "Red" }, "Team/2": { name: "Blue" },
        "Person/3": { first: "Ada", team: "Team/2 Blue" },
        "Person/4": { first: "Bob", friends: "Person/3" },
    },
    {
        "Team/1": { name: "Red" }, "Team/2": { name: "Blue" },
        "Person/3": { first: "Ada", team: "Team/2 Blue" }, "Person/4": { first: "Bob" },
    },
    {
        "Team/2": { name: "Blue" },
        "Person/3": { first: "Ada", team: "Team/2 Blue" }, "Person/4": { first: "Bob" },
    },
];

test("each moment has the objects that it had, gone to in any order", async () => {
    const page = await open("#machine");

    for (const at of [6, 0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1, 0, 4, 1, 6, 2]) {
        await goTo(page, at);
        assert.deepEqual(tables(page), states[at], `after entry ${at}`);
    }
});

test("an address leads to the moment after an entry, also one that the report has not", async () => {
    const page = await open("#at-4");
    const said = text(page.find("#machine-moment"));
    assert.match(said, /^After entry 4, 2024-01-04 .* Moves Entry 4$/);

    const later = await open("#at-99");
    assert.match(text(later.find("#machine-moment")), /^After entry 6,/);
});

test("what an entry changes is lit up, and what it deletes is still seen", async () => {
    const page = await open("#at-4");
    assert.equal(page.find("#machine-entity").value, "Person");
    assert.deepEqual(page.texts("#machine-table td.lit"), ["Team/2 Blue"]);
    assert.deepEqual(page.texts("#machine-changes li"), ["~Updated Person/3"]);

    await goTo(page, 6);
    assert.equal(page.find("#machine-entity").value, "Team");
    const gone = page.texts("#machine-table tr.lit.delete th");
    assert.deepEqual(gone, ["Team/1 deleted by this entry"]);
});

test("relationships come and go around an object", async () => {
    const page = await open("#at-4");
    const drawn = () => Array.from(page.document.querySelectorAll("#machine-near .relations tr"),
        (row) => [text(row), row.className]).slice(1);

    assert.deepEqual(drawn(), [
        ["team newTeam/2 Blue", "lit insert"], ["friends ofPerson/4", ""],
        ["team no longerTeam/1 Red", "lit delete"],
    ]);
    assert.equal(page.document.querySelectorAll("#machine-near .node").length, 4);

    page.call("pick", "Person/4");
    await goTo(page, 5);
    assert.deepEqual(drawn(), [["friends no longerPerson/3", "lit delete"]]);
    await goTo(page, 6);
    assert.deepEqual(drawn(), []);
});

test("the keys step through time, but not while somebody chooses or types", async () => {
    const page = await open("#machine");
    page.find("#machine-title").focus();
    const after = async (key) => {
        page.press(key);
        await settled(page);
        return page.value("moment.at");
    };

    assert.equal(await after("ArrowLeft"), 5);
    assert.equal(await after("Home"), 0);
    assert.equal(await after("ArrowLeft"), 0);
    assert.equal(await after("PageDown"), 6);
    assert.equal(await after("PageUp"), 0);
    assert.equal(await after("ArrowRight"), 1);
    page.find("#machine-entity").focus();
    assert.equal(await after("ArrowRight"), 1);
});

test("a report that does not have everything says so in the time machine", async () => {
    const whole = await open("#machine");
    assert.equal(whole.find("#machine-warning").hidden, true);

    const late = await open("#machine", story.slice(3), { startsLate: true });
    assert.match(text(late.find("#machine-warning")), /does not hold the whole journal/);
    // What an entry of the report had before it is known.
    await goTo(late, 0);
    assert.deepEqual(tables(late), {
        "Person/3": { team: "Team/1 Red" }, "Person/4": { friends: "Person/3" },
        "Team/1": { name: "Red" },
    });
});

test("an object with more relationships than can be read shows the first of them", async () => {
    const crowd = Array.from({ length: 60 }, (_, number) =>
        insert(`Person/${number + 10}`, { first: `p${number}`, team: "Team/1" }));
    const page = await open("#at-2", [story[0], entry(2, crowd)]);
    page.call("pick", "Team/1");

    assert.equal(page.document.querySelectorAll("#machine-near .node").length, 49);
    assert.deepEqual(page.texts("#machine-near > p"), ["and 12 relationships more"]);
});

test("hostile values are text, in the table and in the drawing", async () => {
    const trap = "</text><script>alert(1)</script>\u202e";
    const page = await open("#machine", [entry(1, [
        insert("Team/1", { name: trap }), insert("Person/2", { team: "Team/1" }),
    ])]);
    page.call("pick", "Team/1");

    assert.equal(page.document.querySelectorAll("main script").length, 0);
    assert.ok(page.find(".near .middle text").textContent.startsWith("</text><script>"));
});

test("objects stand by their numbers, however they come, go and come back", async () => {
    const [count, step] = [45, 7];
    const numbers = Array.from({ length: count }, (_, index) => 1 + index * step % count);
    const entries = numbers.map((number, index) =>
        entry(index + 1, [insert(`Team/${number}`, {})]));
    const leaving = numbers.filter((number) => number % 4 === 1);
    entries.push(entry(count + 1, leaving.map((number) => remove(`Team/${number}`, {}))));
    const page = await open("#machine", entries);

    const shown = () => Array.from(page.document.querySelectorAll("#machine-table tbody tr"),
        (row) => row.dataset.row);
    const sorted = (list) => list.slice().sort((one, other) => one - other);
    const pageOf = (list, number) => {
        const start = list.indexOf(number) - list.indexOf(number) % 20;
        return list.slice(start, start + 20).map((each) => `Team/${each}`);
    };
    for (const at of [1, 2, 20, 45, 44, 33, 7, 45]) {
        await goTo(page, at);
        const there = sorted(numbers.slice(0, at));
        assert.deepEqual(shown(), pageOf(there, numbers[at - 1]), `after ${at}`);
        assert.deepEqual(page.texts("#machine-entity option")[0], `Team (${at})`);
    }

    await goTo(page, count + 1);
    assert.deepEqual(shown(), pageOf(sorted(numbers), 1));
    assert.equal(page.document.querySelectorAll("#machine-table tr.delete").length, 5);
    assert.equal(page.texts("#machine-entity option")[0], `Team (${count - leaving.length})`);
    await goTo(page, count);
    assert.equal(page.texts("#machine-entity option")[0], `Team (${count})`);
});

test("entries from before something was renamed are shown in the names of now", async () => {
    const human = { name: "Person", properties: { called: "first", club: "team" } };
    const names = [
        { before: 3, entities: { Club: { name: "Team", properties: {} }, Human: human } },
        { entities: {} },
    ];
    const page = await open("#machine", [
        entry(1, [insert("Club/1", { name: "Red" })]),
        entry(2, [insert("Human/3", { called: "Ada", club: "Club/1" }),
            insert("Human/4", { called: "Bob" }, { added: { friends: ["Human/3"] } })]),
        entry(3, [], { kind: "model" }),
        entry(4, [update("Person/3", { first: "Ada" }, { first: "Ada L." })]),
        entry(5, [], { kind: "model" }),
        entry(6, [update("Person/4", {}, {}, {
            removed: { friends: [{ object: "Person/3", order: 1 }] },
        })]),
    ], { names });

    for (const [at, person] of [[2, "Ada"], [6, "Ada L."], [2, "Ada"]]) {
        await goTo(page, at);
        assert.deepEqual(tables(page), {
            "Team/1": { name: "Red" }, "Person/3": { first: person, team: "Team/1 Red" },
            "Person/4": at < 6 ? { first: "Bob", friends: "Person/3" } : { first: "Bob" },
        }, `after entry ${at}`);
    }
    assert.equal(await page.filter({ entity: "Person" }), "3 of 6 entries, 4 of 5 changes");
});
