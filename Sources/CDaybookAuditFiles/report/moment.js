// The objects as they were after any entry, reached by replaying entries and taking them back.

/**
 * The objects after the first `at` entries, by name: each with its entity and its values. `kinds`
 * has them by entity, see `Kind`.
 */
const moment = { at: 0, wanted: 0, objects: new Map(), kinds: new Map(), links: new Map() };

/** The entry whose number in the report is `at`, counted from the oldest; undefined for none. */
const entryAt = (at) => entries[entries.length - at];

/** Replays one entry more, or takes the last one back. */
function stepForward() {
    for (const change of record(entryAt(moment.at + 1)).changes) replay(change);
    moment.at += 1;
}

function stepBack() {
    const { changes } = record(entryAt(moment.at));
    for (const change of changes.slice().reverse()) takeBack(change);
    moment.at -= 1;
}

function replay(change) {
    if (change.op === "delete") return forget(change.object);
    const object = objectAt(change.object, change.entity);
    for (const row of rowsOf(change)) set(object, row, row.new, row.removed, row.added);
}

function takeBack(change) {
    if (change.op === "insert") return forget(change.object);
    const object = objectAt(change.object, change.entity);
    for (const row of rowsOf(change)) set(object, row, row.old, row.added, row.removed);
}

function objectAt(name, entity) {
    let object = moment.objects.get(name);
    if (!object) {
        object = { name, entity, values: new Map() };
        moment.objects.set(name, object);
        kindOf(entity).add(object);
    }
    return object;
}

function forget(name) {
    const object = moment.objects.get(name);
    if (!object) return;
    for (const [property, { value: was, members: set, isReference }] of object.values) {
        if (isReference && was) unlink(name, property, was);
        for (const member of set?.keys() ?? []) unlink(name, property, member);
    }
    moment.objects.delete(name);
    kindOf(object.entity).remove(object);
}

/**
 * The objects of an entity. What comes and goes takes its place when the list is looked at: one
 * entry may bring or take a hundred thousand.
 */
class Kind {
    count = 0;
    list = [];
    added = [];
    hasLost = false;

    add(object) {
        this.count += 1;
        this.added.push(object);
    }

    remove(object) {
        this.count -= 1;
        object.isForgotten = true;
        this.hasLost = true;
    }

    /** The objects in the order of their numbers. */
    get inOrder() {
        const isHere = ({ isForgotten }) => !isForgotten;
        if (this.hasLost) {
            this.list = this.list.filter(isHere);
            this.added = this.added.filter(isHere);
        }
        if (this.added.length > 0) this.list = merged(this.list, this.added);
        [this.added, this.hasLost] = [[], false];
        return this.list;
    }
}

function kindOf(entity) {
    let kind = moment.kinds.get(entity);
    if (!kind) {
        kind = new Kind();
        moment.kinds.set(entity, kind);
    }
    return kind;
}

/** Objects in their order, with more of them, which come in any. */
function merged(list, more) {
    const all = [];
    let next = 0;
    for (const object of more.slice().sort((one, other) => compare(one.name, other.name))) {
        const place = placeIn(list, object.name);
        for (; next < place; next += 1) all.push(list[next]);
        all.push(object);
    }
    return all.concat(list.slice(next));
}

/** Where an object stands, or would stand, among objects in their order. */
function placeIn(list, name) {
    let [low, high] = [0, list.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (compare(list[middle].name, name) < 0) low = middle + 1; else high = middle;
    }
    return low;
}

const numberOf = (name) => Number(name.slice(name.lastIndexOf("/") + 1)) || 0;
/** How two objects of an entity stand to each other: by their numbers, others by their names. */
const compare = (one, other) =>
    numberOf(one) - numberOf(other) || (one < other ? -1 : Number(one > other));

/** Gives a property a value, or lets members leave and join. */
function set(object, row, now, leaving, joining) {
    const known = object.values.get(row.name);
    if (row.removed || row.added) {
        const list = known?.members ?? new Map();
        for (const member of leaving ?? []) {
            list.delete(memberName(member));
            unlink(object.name, row.name, memberName(member));
        }
        for (const member of joining ?? []) {
            list.set(memberName(member), orderOf(member));
            link(object.name, row.name, memberName(member));
        }
        object.values.set(row.name, { members: list, isReference: true });
        return;
    }
    if (known?.isReference && known.value) unlink(object.name, row.name, known.value);
    object.values.set(row.name,
        { value: now, isReference: row.isReference, isKeptBack: row.isKeptBack });
    if (row.isReference && now) link(object.name, row.name, now);
}

/** Where a member stands; without an order they stand by their numbers. */
const orderOf = (member) => typeof member === "object" ? member.order : 0;

const linkKey = (source, property) => `${source} ${property}`;
function link(source, property, target) {
    let from = moment.links.get(target);
    if (!from) {
        from = new Map();
        moment.links.set(target, from);
    }
    from.set(linkKey(source, property), { source, property });
}

function unlink(source, property, target) {
    const from = moment.links.get(target);
    from?.delete(linkKey(source, property));
    if (from?.size === 0) moment.links.delete(target);
}
