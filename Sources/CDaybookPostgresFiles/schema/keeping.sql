-- What is shared beside entries, and what only the owner does.

-- Takes numbers for objects; answers the first. They are never handed out again.
CREATE FUNCTION daybook.take_numbers(_store int, _count bigint) RETURNS bigint LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    _first bigint;
BEGIN
    PERFORM daybook.require_writing(_store);
    PERFORM daybook.confirm();
    -- Objects have numbers of 48 bits.
    UPDATE daybook.store s SET numbers = s.numbers + _count
    WHERE s.store = _store AND _count BETWEEN 1 AND 1 << 30 AND s.numbers <= (1::bigint << 48) - _count
    RETURNING s.numbers - _count INTO _first;
    IF _first IS NULL THEN
        RAISE EXCEPTION 'so many numbers are not left' USING ERRCODE = 'DB011';
    END IF;
    RETURN _first;
END $$;

-- The digest of a record of large data: over its level, one byte, and its bytes.
CREATE FUNCTION daybook.data_digest(_level int, _bytes bytea) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT pg_catalog.sha256(pg_catalog.set_byte('\x00'::pg_catalog.bytea, 0, _level) || _bytes)
$$;

-- Keeps records of large data; those that are there already stay what they are. An entry that refers to them is
-- appended afterwards, so whoever has confirmed that has them, too.
CREATE FUNCTION daybook.keep_data(_store int, _writer int, _levels bigint[], _digests bytea[], _records bytea[])
    RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    _count int := cardinality(_digests);
    _kept int;
BEGIN
    PERFORM daybook.require_writer(_store, _writer);
    PERFORM daybook.confirm();
    -- A comparison with nothing is never true, and never stops anything. The lists have one dimension, begin at 1,
    -- and have no gap.
    IF num_nulls(_levels, _digests, _records) > 0
        OR _count NOT BETWEEN 1 AND 256 OR cardinality(_levels) <> _count OR cardinality(_records) <> _count
        OR (array_ndims(_levels), array_ndims(_digests), array_ndims(_records)) IS DISTINCT FROM (1, 1, 1)
        OR (array_lower(_levels, 1), array_lower(_digests, 1), array_lower(_records, 1))
            IS DISTINCT FROM (1, 1, 1)
        OR array_position(_levels, NULL) IS NOT NULL OR array_position(_digests, NULL) IS NOT NULL
        OR array_position(_records, NULL) IS NOT NULL
    THEN
        RAISE EXCEPTION 'records have an impossible form' USING ERRCODE = 'DB008';
    END IF;
    FOR i IN 1.._count LOOP
        -- Level 4 would stand above more bytes than there can be.
        IF _levels[i] NOT BETWEEN 0 AND 3 OR octet_length(_records[i]) NOT BETWEEN 1 AND 65520 THEN
            RAISE EXCEPTION 'a record has an impossible form' USING ERRCODE = 'DB008';
        END IF;
        IF daybook.data_digest(_levels[i]::int, _records[i]) IS DISTINCT FROM _digests[i] THEN
            RAISE EXCEPTION 'a digest does not fit its record' USING ERRCODE = 'DB004';
        END IF;
    END LOOP;
    -- In order: two that keep the same records wait for each other in one direction.
    INSERT INTO daybook.data (store, level, digest, bytes)
    SELECT _store, u.level, u.digest, u.bytes FROM unnest(_levels, _digests, _records) u(level, digest, bytes)
    ORDER BY u.level, u.digest
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS _kept = ROW_COUNT;
    IF _kept < _count THEN
        -- The others may not be confirmed yet; the answer is, once this is.
        UPDATE daybook.writer SET connected = clock_timestamp() WHERE writer = _writer;
    END IF;
END $$;

-- Sets a mark that still has the version given, 0 for none; without a body, removes it. Answers the new
-- version, or null when the mark has another one. Setting what is already there answers like the first time.
CREATE FUNCTION daybook.set_mark(_store int, _kind int, _name text, _body bytea, _version bigint)
    RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    _new bigint;
BEGIN
    PERFORM daybook.require_writing(_store);
    IF _kind NOT BETWEEN 1 AND 3 OR octet_length(_body) > 1048576 OR octet_length(_name) > 1024 THEN
        RAISE EXCEPTION 'a mark has an impossible form' USING ERRCODE = 'DB008';
    END IF;
    IF _kind = 3 AND _version > 0 AND _body IS NOT NULL THEN
        -- How far a reader has come: who has moved it, and finds it before that place, sends the move again.
        PERFORM set_config('synchronous_commit', 'local', true);
    ELSE
        PERFORM daybook.confirm();
    END IF;
    IF _version = 0 THEN
        -- One that was removed is none for those who list marks, and its version still grows.
        INSERT INTO daybook.mark AS m VALUES (_store, _kind, _name, _body, 1)
        ON CONFLICT (store, kind, name) DO UPDATE SET body = excluded.body, version = m.version + 1
            WHERE m.body IS NULL AND excluded.body IS NOT NULL
        RETURNING m.version INTO _new;
    ELSE
        UPDATE daybook.mark m SET body = _body, version = m.version + 1
        WHERE m.store = _store AND m.kind = _kind AND m.name = _name AND m.version = _version
        RETURNING m.version INTO _new;
    END IF;
    IF _new IS NULL THEN
        -- It is written once more, because the first time may not be confirmed yet.
        UPDATE daybook.mark m SET body = m.body
        WHERE m.store = _store AND m.kind = _kind AND m.name = _name
            AND (m.version = _version + 1 AND m.body IS NOT DISTINCT FROM _body
                OR _version = 0 AND m.body = _body)
        RETURNING m.version INTO _new;
    END IF;
    RETURN _new;
END $$;

-- The owner takes the end off a journal, from an entry that does not fold, and keeps it as evidence. Answers how
-- many entries there were.
CREATE FUNCTION daybook.cut(_store int, _from bigint, _reason text) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    _count bigint;
BEGIN
    PERFORM daybook.confirm();
    PERFORM pg_advisory_xact_lock(1145133378, _store);
    PERFORM set_config('daybook.cutting', 'yes', true);
    WITH taken AS (
        DELETE FROM daybook.entry e WHERE e.store = _store AND e.sequence >= _from RETURNING e.*
    )
    INSERT INTO daybook.cut_entry SELECT taken.*, clock_timestamp(), session_user, _reason FROM taken;
    GET DIAGNOSTICS _count = ROW_COUNT;
    WITH taken AS (
        DELETE FROM daybook.chunk c WHERE c.store = _store AND c.sequence >= _from RETURNING c.*
    )
    INSERT INTO daybook.cut_chunk SELECT taken.*, clock_timestamp() FROM taken;
    PERFORM set_config('daybook.cutting', 'no', true);
    RETURN _count;
END $$;

-- Nobody but the owner may call anything that is not granted above.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA daybook FROM PUBLIC;
