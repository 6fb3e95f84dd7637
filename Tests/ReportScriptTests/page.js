"use strict";

// The page of a report in jsdom: the views and the script as they are embedded, and entries.

const { JSDOM } = require("jsdom");
const vm = require("node:vm");
const { MessageChannel } = require("node:worker_threads");
const { embedded, joined } = require("../../Tools/ScriptCheck/files.js");

const views = joined(embedded("audit_report_views"));
const script = new vm.Script(joined(embedded("audit_report_script")), { filename: "report.js" });

class Page {
    constructor(dom) {
        this.context = dom.getInternalVMContext();
        this.window = dom.window;
        this.document = dom.window.document;
    }

    /** What an expression is in the scope of the script. */
    value(expression) {
        return vm.runInContext(expression, this.context);
    }

    /** What a function of the script gives; with plain values for its objects and lists. */
    call(name, ...values) {
        const made = values.map((value) => typeof value === "object" && value !== null
            ? this.window.JSON.parse(JSON.stringify(value)) : value);
        return this.value(name)(...made);
    }

    find(selector) {
        const found = this.document.querySelector(selector);
        if (!found) throw new Error(`The page has no '${selector}'.`);
        return found;
    }

    /** The texts of all that a selector finds. */
    texts(selector) {
        return Array.from(this.document.querySelectorAll(selector), (each) => text(each));
    }

    /** A table as its rows of texts. */
    rows(selector) {
        return Array.from(this.find(selector).rows, (row) =>
            Array.from(row.cells, (cell) => text(cell)));
    }

    /** The sequence numbers of the entries that the timeline shows. */
    get listed() {
        return Array.from(this.document.querySelectorAll("#list > li[id]"), (line) =>
            Number(line.id.replace("entry-", "")));
    }

    /** Sets filters by the names of their fields, and says what the page says of what they find. */
    async filter(fields) {
        this.call("resetFilters");
        for (const [name, wanted] of Object.entries(fields)) {
            const field = this.find(`#${name}`);
            const option = Array.from(field.options ?? []).find((each) =>
                each.textContent.replace(/ \([\d,]+\)$/, "") === wanted);
            field.value = option ? option.value : wanted;
        }
        await this.call("changeFilters");
        return text(this.find("#count"));
    }

    /** Presses a key where the focus is. */
    press(key) {
        this.document.activeElement.dispatchEvent(
            new this.window.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    }

    /** Goes to a place, such as '#entry-7', and waits until it is shown. */
    async go(place) {
        this.window.location.hash = place;
        await this.call("route");
    }

    async until(condition) {
        while (!condition()) await new Promise((resume) => { setImmediate(resume); });
    }
}

/** A text as it may stand in an element for scripts. */
const inScript = (line) => line.replaceAll("<", "\\u003c");

/**
 * Opens a page with these entries, oldest first, and waits until it is ready.
 *
 * `scope` has what the report says of itself; `place` is the part of the address behind '#';
 * `blockLength` is how many entries stand in a block; `totals` is what the file says must be there.
 */
async function openPage(entries = [], options = {}) {
    const { scope = {}, place = "", blockLength = 1000 } = options;
    const lines = entries.map((each) => JSON.stringify(each));
    const blocks = [];
    for (let start = 0; start < lines.length; start += blockLength) {
        const block = lines.slice(start, start + blockLength).map(inScript).join("\n");
        blocks.push(`<script type="application/jsonl" class="entries">\n${block}\n</script>`);
    }
    const told = {
        isFiltered: false, startsLate: false, last: lines.length, references: {}, ...scope,
    };
    const changes = entries.reduce((sum, each) => sum + each.changes.length, 0);
    const totals = options.totals ?? { entries: lines.length, changes };
    const html = `<!DOCTYPE html><html lang="en"><body><header></header>
        ${views}
        <script type="application/json" id="scope">${inScript(JSON.stringify(told))}</script>
        ${blocks.join("\n")}
        <script type="application/json" id="totals">${JSON.stringify(totals)}</script>
        </body></html>`;
    const dom = new JSDOM(html, {
        url: `file:///report.html${place}`, runScripts: "outside-only",
        beforeParse(window) {
            // What jsdom has not.
            window.MessageChannel = MessageChannel;
            if (options.EventSource) window.EventSource = options.EventSource;
            window.performance.mark = () => {};
            window.scrollTo = () => {};
            window.Element.prototype.scrollIntoView = () => {};
        },
    });
    script.runInContext(dom.getInternalVMContext());
    const page = new Page(dom);
    await page.until(() => page.document.documentElement.dataset.state === "ready");
    return page;
}

/** The text of nodes and strings, with single blanks. */
function text(...parts) {
    return parts.flat(Infinity).map((part) => part.textContent ?? part).join("")
        .replace(/\s+/g, " ").trim();
}

// Entries

/** An entry with changes and whatever else is said of it. */
const entry = (sequence, changes, more = {}) => ({
    sequence, time: new Date(Date.UTC(2024, 0, sequence)).toISOString().replace(".000Z", "Z"),
    changes, ...more,
});

const insert = (object, values, more = {}) =>
    ({ op: "insert", object, entity: object.split("/")[0], new: values, ...more });
const update = (object, old, now, more = {}) =>
    ({ op: "update", object, entity: object.split("/")[0], old, new: now, ...more });
const remove = (object, values, more = {}) =>
    ({ op: "delete", object, entity: object.split("/")[0], old: values, ...more });

module.exports = { openPage, text, entry, insert, update, remove };
