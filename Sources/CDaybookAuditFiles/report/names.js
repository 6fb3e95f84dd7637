// Names: an entry says what entities and properties were called when it was saved. The page calls
// them as they are called now, so that an object is one object from its beginning on.

const otherNames = scope.names ?? [];

/** By their names when an entry was saved, the entities that are called otherwise now. */
const namesAt = (sequence) => otherNames.find(({ before }) =>
    before === undefined || sequence < before)?.entities;

/** A record in the names of now. */
function inNamesOfNow(record) {
    const names = namesAt(record.sequence);
    if (names === undefined) return record;
    for (const change of record.changes) {
        const entity = own(names, change.entity);
        const nameNow = (property) => own(entity?.properties, property) ?? property;
        change.object = objectNow(change.object, names);
        change.entity = entity?.name ?? change.entity;
        change.confidential = change.confidential?.map(nameNow);
        const references = own(scope.references, change.entity) ?? [];
        for (const side of ["old", "new", "removed", "added"]) {
            if (change[side] === undefined) continue;
            change[side] = Object.fromEntries(Object.entries(change[side]).map(([name, value]) => {
                const now = nameNow(name);
                return [now, references.includes(now) ? referenceNow(value, names) : value];
            }));
        }
    }
    return record;
}

/** `Person/7` in the names of now; a hash in its place as it is. */
function objectNow(name, names) {
    const end = name.lastIndexOf("/");
    const entity = end > 0 ? own(names, name.slice(0, end)) : undefined;
    return entity ? entity.name + name.slice(end) : name;
}

/** A reference, or the members of a list. */
function referenceNow(value, names) {
    if (typeof value === "string") return objectNow(value, names);
    if (!Array.isArray(value)) return value;
    return value.map((member) => typeof member === "string" ? objectNow(member, names)
        : { ...member, object: objectNow(member.object, names) });
}
