-- The tables of shared stores. Entries are rows that are only ever added; the functions below are the only way
-- to add one. No foreign keys: each would be asked for at every append.

-- The names of tags, values and cursors are any texts.
DO $$ BEGIN
    IF current_setting('server_encoding') <> 'UTF8' THEN
        RAISE EXCEPTION 'the database has another encoding than UTF8' USING ERRCODE = '22P05';
    END IF;
END $$;

CREATE SCHEMA daybook;

-- The logical stores. 'numbers' is the least number that no object has been given yet.
CREATE TABLE daybook.store (
    store int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name <> ''),
    uuid uuid NOT NULL UNIQUE,
    created_at bigint NOT NULL,
    numbers bigint NOT NULL CHECK (numbers > 0),
    reader name NOT NULL,
    writer name NOT NULL
) WITH (fillfactor = 50);

-- Who reads and appends: a node of a store under a login. 'connected' is the last time that it proved that its
-- server's writes are confirmed by others. All nodes of a login that only reads are one.
CREATE TABLE daybook.writer (
    writer int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    store int NOT NULL,
    node uuid NOT NULL,
    login name NOT NULL,
    program text NOT NULL,
    connected timestamptz NOT NULL,
    UNIQUE (store, node, login)
) WITH (fillfactor = 50);

-- The journals. A payload that stands in chunks is null here; times are microseconds since 1970.
CREATE TABLE daybook.entry (
    store int NOT NULL,
    writer int NOT NULL,
    sequence bigint NOT NULL CHECK (sequence > 0),
    recorded_at bigint NOT NULL,
    token bigint NOT NULL,
    digest bytea NOT NULL,
    chunks int NOT NULL,
    payload bytea,
    PRIMARY KEY (store, sequence),
    CHECK ((payload IS NULL) = (chunks > 0))
) WITH (fillfactor = 100);

CREATE TABLE daybook.chunk (
    store int NOT NULL,
    sequence bigint NOT NULL,
    part int NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (store, sequence, part)
) WITH (fillfactor = 100);

-- The records of large data: chunks, and above them nodes with the digests of the level below. What an entry refers
-- to is there before the entry is.
CREATE TABLE daybook.data (
    store int NOT NULL,
    level int NOT NULL,
    digest bytea NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (store, level, digest)
) WITH (fillfactor = 100);

-- What is kept beside the journal under a name. A mark that was removed stays as one without a body, so that
-- its version still grows when it comes back.
CREATE TABLE daybook.mark (
    store int NOT NULL,
    kind int NOT NULL,
    name text NOT NULL,
    body bytea,
    version bigint NOT NULL CHECK (version > 0),
    PRIMARY KEY (store, kind, name)
) WITH (fillfactor = 50);

-- Evidence: what 'cut' has taken off the end of a journal, and who did.
CREATE TABLE daybook.cut_entry (
    LIKE daybook.entry,
    cut_at timestamptz NOT NULL,
    cut_by name NOT NULL,
    reason text NOT NULL
);
CREATE TABLE daybook.cut_chunk (LIKE daybook.chunk, cut_at timestamptz NOT NULL);

-- Payloads are compressed already where that helps, and the server has to read them for their digests.
ALTER TABLE daybook.entry ALTER payload SET STORAGE EXTERNAL;
ALTER TABLE daybook.chunk ALTER bytes SET STORAGE EXTERNAL;
ALTER TABLE daybook.data ALTER bytes SET STORAGE EXTERNAL;
ALTER TABLE daybook.cut_entry ALTER payload SET STORAGE EXTERNAL;
ALTER TABLE daybook.cut_chunk ALTER bytes SET STORAGE EXTERNAL;

-- The owner may change rows like everybody else: not at all, except within 'cut'.
CREATE FUNCTION daybook.refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('daybook.cutting', true) = 'yes' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'entries are never changed or removed' USING ERRCODE = 'DB005';
END $$;

CREATE TRIGGER never BEFORE UPDATE OR DELETE OR TRUNCATE ON daybook.entry
    FOR EACH STATEMENT EXECUTE FUNCTION daybook.refuse();
CREATE TRIGGER never BEFORE UPDATE OR DELETE OR TRUNCATE ON daybook.chunk
    FOR EACH STATEMENT EXECUTE FUNCTION daybook.refuse();
CREATE TRIGGER never BEFORE UPDATE OR DELETE OR TRUNCATE ON daybook.data
    FOR EACH STATEMENT EXECUTE FUNCTION daybook.refuse();
CREATE TRIGGER never BEFORE UPDATE OR DELETE OR TRUNCATE ON daybook.cut_entry
    FOR EACH STATEMENT EXECUTE FUNCTION daybook.refuse();
CREATE TRIGGER never BEFORE UPDATE OR DELETE OR TRUNCATE ON daybook.cut_chunk
    FOR EACH STATEMENT EXECUTE FUNCTION daybook.refuse();

-- A chunk is there with its entry or not at all: otherwise one could occupy the places of entries to come.
CREATE FUNCTION daybook.require_entry() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM daybook.entry e
        WHERE e.store = NEW.store AND e.sequence = NEW.sequence AND e.chunks > NEW.part
    ) THEN
        RAISE EXCEPTION 'a chunk has no entry' USING ERRCODE = 'DB010';
    END IF;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER belongs AFTER INSERT ON daybook.chunk DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION daybook.require_entry();
