"use strict";

const assert = require("node:assert/strict");
const { test } = require("node:test");
const { openPage, text } = require("./page.js");

/** What is shown of a text, with the named signs in brackets. */
const shown = (page, sample) => Array.from(page.value("visible")(sample), (part) =>
    typeof part === "string" ? part : `[${part.textContent}]`).join("");

test("what cannot be seen is named", async () => {
    const page = await openPage();

    for (const [sample, expected] of [
        ["a\u0000b", "a[U+0000]b"],
        ["line\r\n", "line[U+000D]\n"],
        ["soft\u00adhyphen", "soft[U+00AD]hyphen"],
        ["zero\u200bwidth", "zero[U+200B]width"],
        ["user\u202egpj.exe", "user[U+202E]gpj.exe"],
        ["para\u2029graph", "para[U+2029]graph"],
        ["\ufeffmark", "[U+FEFF]mark"],
        // Letters that no font shows: a text can carry another one in them.
        ["plain\u{e0041}\u{e007f}", "plain[U+E0041][U+E007F]"],
        ["arabic\u0600sign", "arabic[U+0600]sign"],
        ["beam\u{1d173}s", "beam[U+1D173]s"],
    ]) {
        assert.equal(shown(page, sample), expected);
    }
});

test("tabs, line ends and letters of all scripts are left as they are", async () => {
    const page = await openPage();

    for (const sample of ["a\tb\nc", "Rhône é e\u0301", "紫式部", "עברית", "😀", " ", ""]) {
        assert.equal(shown(page, sample), sample);
    }
});

test("a long text is cut where no character is cut in two, and can be shown whole", async () => {
    const page = await openPage();
    const long = `${"x".repeat(479)}😀${"y".repeat(200)}`;

    const element = page.call("folded", long, false);
    const [body, button] = [element.querySelector(".text"), element.querySelector("button")];
    const before = body.textContent;
    button.click();

    assert.equal(before, `${"x".repeat(479)}…`);
    assert.equal(button.textContent, "Show all 680 characters");
    assert.equal(body.textContent, long);
    assert.equal(element.querySelector("button"), null);
});

test("a text is folded for its length or its lines, but not to save a little", async () => {
    const page = await openPage();
    const isFolded = (sample) => page.call("folded", sample).querySelector("button") !== null;

    assert.equal(isFolded("x".repeat(520)), false);
    assert.equal(isFolded("x".repeat(521)), true);
    assert.equal(isFolded("line\n".repeat(9)), false);
    assert.equal(isFolded("line\n".repeat(40)), true);
    assert.equal(page.call("folded", "x".repeat(5000), true).textContent.length, 5000);
});

test("no value, an empty text and nothing are told apart", async () => {
    const page = await openPage();
    const value = page.value("value");

    assert.equal(value(undefined).textContent, "—nothing");
    assert.equal(value(null).textContent, "no value");
    assert.equal(value("").textContent, "empty text");
    assert.equal(value("no value").className, "text");
    assert.equal(value(false).textContent, "false");
});

test("only the name of an object in a relationship is a link", async () => {
    const page = await openPage();
    const value = page.value("value");

    assert.equal(value("Person/7", true).getAttribute("href"), "#object-Person/7");
    assert.equal(value("Person/7", false).querySelector("a"), null);
    assert.equal(value("javascript:alert(1)", true).querySelector("a"), null);
});

/** Both sides of a change of a text: what is marked in brackets. */
async function marks(old, now) {
    const page = await openPage();
    const row = { name: "x", old, new: now, isReference: false };
    return Array.from(page.call("sides", row), (side) => {
        for (const mark of side.querySelectorAll("del, ins")) {
            mark.querySelectorAll(".unseen").forEach((each) => each.remove());
            mark.textContent = `[${mark.textContent}]`;
        }
        return side.textContent;
    });
}

test("what differs in two texts that are mostly alike is marked", async () => {
    assert.deepEqual(await marks("Turkey is a country", "Türkiye is a country"),
        ["T[urkey] is a country", "T[ürkiye] is a country"]);
    assert.deepEqual(await marks("abc", "abcd"), ["abc", "abc[d]"]);
    assert.deepEqual(await marks("aaa", "aa"), ["aa[a]", "aa"]);
    assert.deepEqual(await marks("one", "two"), ["one", "two"]);
});

test("a mark does not cut a character in two", async () => {
    // Both faces begin with the same half; both boats end with the same.
    assert.deepEqual(await marks("ab😀cd", "ab😁cd"), ["ab[😀]cd", "ab[😁]cd"]);
    assert.deepEqual(await marks("ab\u{1f600}", "ab\u{1fa00}"), ["ab[\u{1f600}]", "ab[\u{1fa00}]"]);
});

test("members that join and leave are listed, with their order, a dozen at first", async () => {
    const page = await openPage();
    const list = Array.from({ length: 20 }, (_, index) =>
        ({ object: `Task/${index}`, order: index }));

    const [left, [joined, more]] = page.call("cells", {
        name: "tasks", removed: ["Task/99"], added: list, isReference: true,
    }).map((cell) => cell.querySelector("button")
        ? [cell.querySelector("ul"), cell.querySelector("button")] : cell);
    const before = joined.children.length;
    more.click();

    assert.equal(text(left), "−Task/99 left");
    assert.equal(before, 12);
    assert.equal(more.textContent, "Show 8 more");
    assert.equal(joined.children.length, 20);
    assert.equal(text(joined.lastChild), "+Task/19 joined at 19");
});

test("a value that is kept back is not called nothing", async () => {
    const page = await openPage();

    const [row] = page.call("rowsOf", {
        op: "insert", object: "A/1", entity: "A", new: {}, confidential: ["pin"],
    });

    assert.deepEqual(Array.from(page.value("cells")(row), (cell) => text(cell)),
        ["kept back", "kept back"]);
});

test("an entity with the name of JavaScript's own has no references by that", async () => {
    const page = await openPage([], { scope: { references: { Task: ["owner"] } } });
    const isReference = (entity) => page.call("rowsOf", {
        op: "insert", object: `${entity}/1`, entity, new: { owner: "Person/1" },
    })[0].isReference;

    assert.equal(isReference("Task"), true);
    assert.equal(isReference("constructor"), false);
});

test("times lose parts of a second in a line, and keep them where they are told whole", async () => {
    const page = await openPage();

    assert.equal(page.call("shortTime", "2024-02-29T23:59:59.999999Z"), "2024-02-29 23:59:59");
    assert.equal(page.call("fullTime", "2024-02-29T23:59:59.999999Z"),
        "2024-02-29 23:59:59.999999 UTC");
    assert.equal(page.call("shortTime", "no time"), "no time");
});
