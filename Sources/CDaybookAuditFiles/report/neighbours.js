// Neighbours: an object of the time machine in the middle, and what it is related to around it.

const neighbourLimit = 48;

/** The object in the middle: the one that was picked, else the first that changes. */
function middleOf(touched) {
    if (machine.picked !== "") return machine.picked;
    for (const [name, change] of touched) if (change.entity === machine.entity) return name;
    return touched.keys().next().value ?? "";
}

/** The relationships of an object: where each leads, and whether it came or went with the entry. */
function relationsOf(name, touched) {
    const found = new Map();
    const add = (other, property, isOut, kind) => {
        const key = `${other} ${property} ${isOut}`;
        if (!found.has(key) || kind) found.set(key, { other, property, isOut, kind });
    };
    for (const [property, known] of moment.objects.get(name)?.values ?? []) {
        if (known.isReference && known.value) add(known.value, property, true);
        for (const member of known.members?.keys() ?? []) add(member, property, true);
    }
    for (const { source, property } of moment.links.get(name)?.values() ?? []) {
        add(source, property, false);
    }
    for (const [owner, change] of touched) {
        for (const row of rowsOf(change)) {
            for (const [kind, list] of endsOf(row)) {
                for (const target of list) {
                    if (owner === name) add(target, row.name, true, kind);
                    else if (target === name) add(owner, row.name, false, kind);
                }
            }
        }
    }
    return Array.from(found.values());
}

/** The objects that a row of a change relates anew, and those that it lets go. */
function endsOf(row) {
    const one = (end) => row.isReference && typeof end === "string" ? [end] : [];
    const many = (list) => (list ?? []).map(memberName);
    const [old, now] = [[...one(row.old), ...many(row.removed)],
        [...one(row.new), ...many(row.added)]];
    return [["delete", old.filter((name) => !now.includes(name))],
        ["insert", now.filter((name) => !old.includes(name))]];
}

function drawNeighbours(touched) {
    const place = byId("machine-near");
    const name = middleOf(touched);
    if (name === "") {
        place.replaceChildren();
        return;
    }
    const relations = relationsOf(name, touched);
    const shown = relations.slice(0, neighbourLimit);
    const rest = relations.length - shown.length;
    place.replaceChildren(
        make("h3", {}, objectLink(name)),
        ...(relations.length === 0
            ? [make("p", { class: "nothing" }, "It is related to nothing at that point.")]
            : [drawing(name, shown, touched, place.clientWidth || 480),
                relationTable(shown, touched)]),
        ...(rest > 0 ? [make("p", { class: "nothing" },
            `and ${many(rest, "relationship")} more`)] : []));
}

/** The title of an object at the moment. */
function momentTitle(name, touched) {
    const property = own(scope.display, name.slice(0, name.lastIndexOf("/")));
    const change = touched.get(name);
    const was = change?.op === "delete" ? own(change.old, property) : undefined;
    return moment.objects.get(name)?.values.get(property)?.value ?? was;
}

/** The relationships as a table, which is what a screen reader is told. */
function relationTable(relations, touched) {
    return make("table", { class: "relations" },
        make("caption", { class: "unseen" }, "Its relationships"),
        make("thead", { class: "unseen" }, make("tr", {},
            make("th", { scope: "col" }, "Relationship"), make("th", { scope: "col" }, "Object"))),
        make("tbody", {}, relations.map(({ other, property, isOut, kind }) =>
            make("tr", { class: kind && `lit ${kind}` },
                make("td", {}, isOut ? property : `${property} of`,
                    kind ? unseen(kind === "insert" ? " new" : " no longer") : []),
                make("td", {}, make("a", { href: `#object-${other}` }, other,
                    titleOf(other, momentTitle(other, touched))))))));
}

/** The object in the middle of up to two rings of others. */
function drawing(name, relations, touched, width) {
    const others = Array.from(new Set(relations.map(({ other }) => other)))
        .filter((other) => other !== name);
    const inner = others.length <= 14 ? others.length : Math.floor(others.length / 3);
    const size = Math.min(640, Math.max(300, width));
    const height = others.length <= 14 ? Math.min(size, 380) : size;
    const middle = { x: size / 2, y: height / 2 };
    const spots = new Map([[name, middle]]);
    others.forEach((other, place) => {
        const [ring, index, count] = place < inner
            ? [others.length <= 14 ? .72 : .45, place, inner]
            : [.86, place - inner, others.length - inner];
        const angle = (index + (ring === .86 ? .5 : 0)) / count * 2 * Math.PI - Math.PI / 2;
        spots.set(other, {
            isUpper: Math.sin(angle) < -.05,
            x: middle.x + Math.cos(angle) * ring * (size / 2 - 30),
            y: middle.y + Math.sin(angle) * ring * (height / 2 - 22),
        });
    });
    const drawn = shape("svg", {
        class: "near", viewBox: `0 0 ${size} ${height}`, "aria-hidden": "true",
    });
    for (const { other, property, isOut, kind } of relations) {
        const [from, to] = isOut ? [middle, spots.get(other)] : [spots.get(other), middle];
        drawn.append(edge(from, to, property, kind, others.length <= 14));
    }
    for (const [other, spot] of spots) drawn.append(node(other, spot, name, touched));
    return drawn;
}

function edge(from, to, property, kind, isNamed) {
    const group = shape("g", { class: kind ? `edge ${kind}` : "edge" });
    group.append(shape("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y }));
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    const length = Math.hypot(dx, dy) || 1;
    const tip = { x: to.x - dx / length * 9, y: to.y - dy / length * 9 };
    const [ux, uy] = [dx / length * 7, dy / length * 7];
    group.append(shape("path", {
        d: `M${tip.x} ${tip.y}L${tip.x - ux - uy / 2} ${tip.y - uy + ux / 2}`
            + `L${tip.x - ux + uy / 2} ${tip.y - uy - ux / 2}Z`,
    }));
    if (isNamed) {
        const text = shape("text", {
            x: from.x + dx * .55, y: from.y + dy * .55 - 3, class: "property",
        });
        text.append(property);
        group.append(text);
    }
    return group;
}

const nodeNameLength = 16;
function node(name, { x, y, isUpper }, middle, touched) {
    const kind = touched.get(name)?.op;
    const group = shape("g", {
        class: `node${name === middle ? " middle" : ""}${kind ? ` ${kind}` : ""}`,
        "data-object": name,
    });
    group.append(shape("circle", { cx: x, cy: y, r: name === middle ? 8 : 5 }));
    const title = momentTitle(name, touched);
    const text = title === undefined || title === null || title === "" ? name : plain(title);
    // Away from the middle, where there is more room.
    const label = shape("text", { x, y: y + (name === middle ? 21 : isUpper ? -9 : 17) });
    const shown = text.replace(/\s+/g, " ");
    label.append(...visible(shown.length > nodeNameLength
        ? `${shown.slice(0, boundary(shown, nodeNameLength))}…` : shown)
        .map((part) => typeof part === "string" ? part : part.textContent));
    const whole = shape("title", {});
    whole.append(`${name} ${text}`);
    group.append(whole, label);
    return group;
}
