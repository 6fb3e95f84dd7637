-- The tables of the format sqlite. What is written to them is committed when all of it is there.
PRAGMA cache_size = -16384;
PRAGMA temp_store = FILE;
BEGIN IMMEDIATE;
CREATE TABLE entry(
    sequence INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    time_microseconds INTEGER NOT NULL,
    recorded TEXT NOT NULL,
    recorded_microseconds INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK(kind IN ('save', 'batch', 'undo', 'model')),
    author TEXT,
    note TEXT,
    info TEXT,
    context TEXT,
    base INTEGER NOT NULL,
    undoes INTEGER,
    undoes_through INTEGER,
    digest TEXT) STRICT;
CREATE TABLE change(
    id INTEGER PRIMARY KEY,
    sequence INTEGER NOT NULL REFERENCES entry,
    place INTEGER NOT NULL,
    operation TEXT NOT NULL CHECK(operation IN ('insert', 'update', 'delete')),
    object TEXT NOT NULL,
    entity TEXT NOT NULL,
    number INTEGER NOT NULL,
    cause TEXT) STRICT;
CREATE TABLE value(
    change INTEGER NOT NULL REFERENCES change,
    property TEXT NOT NULL,
    old ANY,
    new ANY,
    is_confidential INTEGER NOT NULL,
    PRIMARY KEY(change, property)) STRICT, WITHOUT ROWID;
CREATE TABLE membership(
    change INTEGER NOT NULL REFERENCES change,
    property TEXT NOT NULL,
    action TEXT NOT NULL CHECK(action IN ('added', 'removed')),
    object TEXT NOT NULL,
    place REAL,
    PRIMARY KEY(change, property, action, object)) STRICT, WITHOUT ROWID;
CREATE TABLE object_version(
    object TEXT NOT NULL,
    entity TEXT NOT NULL,
    number INTEGER NOT NULL,
    valid_from INTEGER NOT NULL REFERENCES entry,
    valid_to INTEGER REFERENCES entry,
    state TEXT CHECK(state IS NULL OR json_valid(state))) STRICT;
CREATE TABLE text_with_null(
    object TEXT NOT NULL,
    valid_from INTEGER NOT NULL REFERENCES entry,
    property TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY(object, valid_from, property)) STRICT, WITHOUT ROWID;
