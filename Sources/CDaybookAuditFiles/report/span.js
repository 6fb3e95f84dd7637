// Span: how many entries there were when; those that the filters want stand out.

const binCount = 120;

let span = null;

/** The first and the last time, and how many entries there are in each part of the span. */
function measureSpan() {
    const times = entries.map(({ time }) => time).filter((time) => !Number.isNaN(time));
    let [first, last] = [Infinity, -Infinity];
    for (const time of times) {
        first = Math.min(first, time);
        last = Math.max(last, time);
    }
    const bin = (time) =>
        Math.min(binCount - 1, Math.floor((time - first) / (last - first) * binCount));
    const counts = new Array(binCount).fill(0);
    if (first < last) for (const time of times) counts[bin(time)] += 1;
    const isFlat = times.length < 3 || first === last;
    span = { first, last, bin, counts, isFlat, gap: isFlat ? "" : gapText(times) };
}

function drawSpan() {
    if (isRead && !span) measureSpan();
    const place = byId("span");
    place.hidden = !span || span.isFlat;
    if (place.hidden) return;
    const shown = new Array(binCount).fill(0);
    for (const { time } of hits.entries) {
        if (!Number.isNaN(time)) shown[span.bin(time)] += 1;
    }
    const height = scaleOf(span.counts);
    const bars = shape("svg", {
        viewBox: `0 0 ${binCount * 10} 100`, preserveAspectRatio: "none",
    });
    for (let bin = 0; bin < binCount; bin += 1) {
        for (const [count, kind] of [[span.counts[bin], "all"], [shown[bin], "shown"]]) {
            if (count === 0) continue;
            const tall = height(count);
            bars.append(shape("rect",
                { class: kind, x: bin * 10 + 1, width: 8, y: 100 - tall, height: tall }));
        }
    }
    place.replaceChildren(bars, ticks(), ...(span.gap === "" ? [] : [
        make("p", { class: "hint" }, span.gap)]));
}

/** How high a bar is: in proportion, or by the logarithm where one would flatten all others. */
function scaleOf(counts) {
    const sorted = counts.filter((count) => count > 0).sort((a, b) => a - b);
    const most = sorted.at(-1);
    const isSteep = most > 20 * sorted[Math.floor(sorted.length / 2)];
    const part = isSteep ? (count) => Math.log1p(count) / Math.log1p(most)
        : (count) => count / most;
    return (count) => Math.max(6, part(count) * 100);
}

const minute = 60_000;
const hour = 60 * minute;
const dayLength = 24 * hour;
const month = 30.4375 * dayLength;
const year = 12 * month;
/** What may lie between two times under the bars, and how much of a time is said then. */
const steps = [
    [1000, 19], [minute, 16], [10 * minute, 16], [hour, 16], [6 * hour, 16],
    [dayLength, 10], [7 * dayLength, 10], [month, 7], [3 * month, 7], [year, 4],
    [2 * year, 4], [5 * year, 4], [10 * year, 4], [25 * year, 4], [100 * year, 4],
];
const tickMaximum = 7;

/** Round times under the bars. */
function ticks() {
    const length = span.last - span.first;
    const [step, shown] = steps.find(([each]) => length / each <= tickMaximum) ?? steps.at(-1);
    const line = make("div", { class: "ticks" });
    for (let time = roundTime(span.first, step); time < span.last;
        time = roundTime(time + 1, step)) {
        const text = new Date(time).toISOString().slice(0, shown).replace("T", " ");
        const tick = make("span", {}, text);
        tick.style.left = `${((time - span.first) / length * 92).toFixed(2)}%`;
        line.append(tick);
    }
    return line;
}

/** The first round time at or after a time. */
function roundTime(time, step) {
    if (step < month) return Math.ceil(time / step) * step;
    const months = Math.round(step / month);
    const date = new Date(time);
    const number = date.getUTCFullYear() * 12 + date.getUTCMonth();
    const first = Math.floor(number / months) * months;
    const at = (count) => Date.UTC(Math.floor(count / 12), count % 12, 1);
    return at(first) >= time ? at(first) : at(first + months);
}

/** The longest time without an entry, in words; nothing where it is less than a fifth of all. */
function gapText(times) {
    const sorted = times.slice().sort((a, b) => a - b);
    let [longest, from] = [0, 0];
    for (let place = 1; place < sorted.length; place += 1) {
        if (sorted[place] - sorted[place - 1] > longest) {
            longest = sorted[place] - sorted[place - 1];
            from = sorted[place - 1];
        }
    }
    if (longest < (sorted.at(-1) - sorted[0]) / 5) return "";
    const day = (time) => new Date(time).toISOString().slice(0, 10);
    const long = longest >= 2 * dayLength ? many(Math.round(longest / dayLength), "day")
        : longest >= 2 * hour ? many(Math.round(longest / hour), "hour")
            : many(Math.max(1, Math.round(longest / minute)), "minute");
    return day(from) === day(from + longest) ? `No entry for ${long} on ${day(from)}.`
        : `No entry for ${long}, from ${day(from)} to ${day(from + longest)}.`;
}

/** An element of a drawing. */
function shape(tag, attributes) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const name in attributes) element.setAttribute(name, attributes[name]);
    return element;
}
