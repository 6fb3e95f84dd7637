"use strict";

const assert = require("node:assert/strict");
const { test } = require("node:test");
const { openPage, text, entry, insert, update } = require("./page.js");

/** What a browser has, as far as the page uses it. */
class EventSource extends EventTarget {
    static CLOSED = 2;
    static last;
    readyState = 1;
    close() {
        this.readyState = EventSource.CLOSED;
    }
    constructor(address) {
        super();
        this.address = address;
        EventSource.last = this;
    }
    send(...entries) {
        for (const each of entries) this.onmessage({ data: JSON.stringify(each) });
    }
}

async function open(entries, more = {}) {
    const page = await openPage(entries, {
        scope: {
            isLive: true, head: entries.length, display: { Book: "title" }, ...more.scope,
        },
        EventSource,
        place: more.place,
    });
    const { last } = EventSource;
    const send = async (...sent) => {
        last.send(...sent);
        await page.until(() => page.value("arrived.length === 0 && !arrivalTimer"));
        await page.until(() => page.value("!machine.isRunning"));
    };
    return { page, source: last, send };
}

const story = [
    entry(1, [insert("Book/1", { title: "Dune" })], { author: "ada" }),
    entry(2, [update("Book/1", { title: "Dune" }, { title: "Emma" })], { author: "grace" }),
];

test("a page that was served asks for what comes after what it has", async () => {
    assert.equal((await open(story)).source.address, "after-2");
    assert.equal((await open([])).source.address, "after-0");
    // Also where it shows none of those that there are.
    assert.equal((await open([], { scope: { head: 7 } })).source.address, "after-7");
});

test("a page from a file asks for nothing", async () => {
    EventSource.last = undefined;
    await openPage(story, { EventSource });
    assert.equal(EventSource.last, undefined);
});

test("new entries appear at the top, once, and count in all choices", async () => {
    const { page, send } = await open(story);

    await send(entry(3, [insert("Book/2", { title: "Ulysses" })], { author: "hal" }),
        entry(4, [], { author: "ada" }));
    await send(entry(4, [], { author: "ada" }));

    assert.deepEqual(page.listed, [4, 3, 2, 1]);
    assert.equal(text(page.find("#count")), "4 entries, 3 changes");
    assert.deepEqual(page.texts("#author option"),
        ["Anybody", "ada (2)", "grace (1)", "hal (1)"]);
    await page.go("#object-Book/2");
    assert.equal(text(page.find("#object-title")), "Book/2 Ulysses");
});

test("an entry with another model has the page loaded anew, for the names in it", async () => {
    const { page, send } = await open(story);
    page.value("startAgain = () => { window.isLoadedAnew = true; }");

    await send(entry(3, [], { kind: "model" }));

    assert.equal(page.window.isLoadedAnew, true);
});

test("filters hold for new entries, and the focus stays", async () => {
    const { page, send } = await open(story);
    await page.filter({ author: "ada" });
    page.find("#entry-1 button.row").focus();

    await send(entry(3, [], { author: "grace" }), entry(4, [], { author: "ada" }));

    assert.deepEqual(page.listed, [4, 1]);
    assert.equal(page.document.activeElement.closest("li").id, "entry-1");
    assert.equal(page.find("#author").selectedOptions[0].textContent, "ada (2)");
});

test("the time machine goes on with new entries only from the end", async () => {
    const { page, send } = await open(story, { place: "#machine" });
    await send(entry(3, [update("Book/1", { title: "Emma" }, { title: "Ulysses" })]));
    assert.equal(page.value("moment.at"), 3);
    assert.deepEqual(page.texts("#machine-table td.lit"), ["Ulysses"]);

    page.call("goAndFollow", 1);
    await page.until(() => page.value("moment.at === 1"));
    await send(entry(4, [insert("Book/2", { title: "Zorba" })]));
    assert.equal(page.value("moment.at"), 1);
    assert.equal(page.find("#slider").max, "4");
    assert.deepEqual(page.texts("#machine-table td"), ["Dune"]);
});

test("an entry that comes while a search goes on is found, and none twice", async () => {
    const many = Array.from({ length: 2000 }, (_, number) =>
        entry(number + 1, [insert(`Book/${number + 1}`, { title: `b${number}` })]));
    const { page, source } = await open(many);
    // So that the search pauses after each piece.
    page.window.performance.now = ((time) => () => { time += 100; return time; })(0);

    const searching = page.call("changeFilters");
    source.send(entry(2001, [insert("Book/2001", { title: "new" })]));
    await page.call("takeIn");
    await searching;

    assert.equal(text(page.find("#count")), "2,001 entries, 2,001 changes");
    const found = page.value("hits.entries.map(({ sequence }) => sequence)");
    assert.deepEqual(Array.from(found), Array.from({ length: 2001 }, (_, place) => 2001 - place));
});

test("a store that cannot be read any more is told, and not asked again", async () => {
    const { page, source } = await open(story);
    const failure = new Event("failure");
    failure.data = "The store cannot be read: entry 3 is damaged.";
    source.dispatchEvent(failure);

    assert.equal(text(page.find("#live")), failure.data);
    assert.equal(source.readyState, EventSource.CLOSED);
});

test("a broken connection and the end of the serving are said", async () => {
    const { page, source } = await open(story);
    source.onopen();
    assert.equal(text(page.find("#live")), "New entries appear as they are saved.");
    source.onerror();
    assert.equal(text(page.find("#live")), "The connection is lost; trying again.");
    source.readyState = EventSource.CLOSED;
    source.onerror();
    assert.equal(text(page.find("#live")), "The store is not served any more.");
});
