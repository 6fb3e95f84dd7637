"use strict";

const assert = require("node:assert/strict");
const { test } = require("node:test");
const { openPage, text, entry, insert } = require("./page.js");

const items = (count) => Array.from({ length: count }, (_, index) =>
    entry(index + 1, [insert(`Item/${index + 1}`, { name: `item ${index + 1}` })]));

/** The view that is shown, and no other. */
const shown = (page) => ["timeline", "object", "summary"].filter((view) =>
    !page.find(`#view-${view}`).hidden);

test("the address leads to each view, also when the page is opened with it", async () => {
    for (const [place, view] of [
        ["", "timeline"], ["#timeline", "timeline"], ["#summary", "summary"],
        ["#object-Item/1", "object"], ["#object-Item%2F1", "object"], ["#entry-1", "timeline"],
        ["#nowhere", "timeline"], ["#entry-x", "timeline"], ["#%E0%A4%A", "timeline"],
    ]) {
        const page = await openPage(items(3), { place });

        assert.deepEqual(shown(page), [view], place);
        if (view === "object") assert.equal(page.find("#object-title").textContent, "Item/1");
    }
});

test("the address of an entry opens it, on its page, without the filters that hide it", async () => {
    const page = await openPage(items(120));
    await page.filter({ text: "item 120" });

    await page.go("#entry-7");

    assert.ok(page.listed.includes(7));
    assert.equal(page.find("#text").value, "");
    assert.equal(page.find("#entry-7 button.row").getAttribute("aria-expanded"), "true");
    assert.equal(page.document.activeElement, page.find("#entry-7 button.row"));
});

test("the address of an entry keeps filters that show it", async () => {
    const page = await openPage(items(120));
    await page.filter({ text: "item 7" });

    await page.go("#entry-7");

    assert.equal(page.find("#text").value, "item 7");
    assert.ok(page.listed.includes(7));
});

test("an entry that is not in the report is said not to be there", async () => {
    const page = await openPage(items(3));

    await page.go("#entry-99");

    assert.equal(page.find("#count").textContent, "Entry 99 is not in this report.");
});

test("arrows, Home and End move through the lines, and from page to page", async () => {
    const page = await openPage(items(60));
    const focus = () => page.document.activeElement.closest("li").id;
    page.find("#list button.row").focus();

    const seen = ["ArrowDown", "ArrowDown", "ArrowUp", "End", "ArrowDown", "ArrowUp", "Home",
        "ArrowUp"].map((key) => {
        page.press(key);
        return focus();
    });

    assert.deepEqual(seen, ["entry-59", "entry-58", "entry-59", "entry-11", "entry-10", "entry-11",
        "entry-60", "entry-60"]);
});

test("slash goes to the search, Escape empties it, then closes entries and views", async () => {
    const page = await openPage(items(3));
    await page.go("#summary");

    page.press("/");
    assert.equal(page.document.activeElement, page.find("#text"));
    assert.deepEqual(shown(page), ["timeline"]);
    await page.filter({ text: "item 2" });
    page.find("#text").focus();
    page.press("Escape");
    await page.until(() => page.listed.length === 3);

    const row = page.find("#list button.row");
    row.click();
    page.find("#list .entry a").focus();
    page.press("Escape");
    assert.equal(row.getAttribute("aria-expanded"), "false");
    assert.equal(page.document.activeElement, row);
});

test("keys with Control, and slashes in a field, are left to the browser", async () => {
    const page = await openPage(items(3));
    const row = page.find("#list button.row");
    row.focus();

    const event = new page.window.KeyboardEvent("keydown",
        { key: "ArrowDown", ctrlKey: true, bubbles: true, cancelable: true });
    row.dispatchEvent(event);
    assert.equal(event.defaultPrevented, false);
    assert.equal(page.document.activeElement, row);

    page.find("#author").focus();
    page.press("/");
    assert.equal(page.document.activeElement, page.find("#author"));
});

test("'clear' takes all filters away, and is there only when there are some", async () => {
    const page = await openPage(items(3));

    assert.equal(page.find("#clear").disabled, true);
    await page.filter({ text: "item 2", since: "2024-01-01" });
    assert.equal(page.find("#clear").disabled, false);
    page.find("#clear").click();
    await page.until(() => page.listed.length === 3);

    assert.equal(page.find("#since").value, "");
    assert.equal(page.find("#clear").disabled, true);
});

test("on paper stand all entries that the filters want, whole, and the filters", async () => {
    const page = await openPage(items(120));
    await page.filter({ text: "item 1" });

    page.window.dispatchEvent(new page.window.Event("beforeprint"));
    const articles = page.texts("#print article > h3");
    const lead = text(page.find("#print .lead"));
    const values = page.texts("#print article td:last-child");
    page.window.dispatchEvent(new page.window.Event("afterprint"));

    // 1, 10 to 19, 100 to 120.
    assert.equal(articles.length, 32);
    assert.equal(articles[0], "Entry 120nobody named");
    assert.equal(lead, "32 of 120 entries, 32 of 120 changes. Filters: Search: item 1.");
    assert.deepEqual(values.slice(0, 2), ["item 120", "item 119"]);
    assert.equal(page.find("#print").childElementCount, 0);
});
