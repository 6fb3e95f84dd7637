-- How entries are appended. The errors of these functions have names of their own:
--
--   DB003  a recording time falls            DB008  an entry of an impossible form
--   DB004  a digest does not fit             DB009  too long
--   DB005  entries are never changed         DB010  a chunk has no entry
--   DB006  no standby has to confirm         DB011  numbers have run out
--   DB007  a clock is ahead

-- The time of this server in microseconds since 1970.
CREATE FUNCTION daybook.clock() RETURNS bigint LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
$$;

-- Sees to it that what follows is confirmed by others before it is answered, whatever the session has set.
CREATE FUNCTION daybook.confirm() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- Whoever asks a standby is told that first: what it is set to says nothing about its leader.
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION 'this server follows another one' USING ERRCODE = '25006';
    END IF;
    IF current_setting('synchronous_standby_names') = ''
        AND current_setting('daybook.unprotected', true) IS DISTINCT FROM 'allowed'
    THEN
        RAISE EXCEPTION 'no standby has to confirm what this server writes' USING ERRCODE = 'DB006';
    END IF;
    IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
END $$;

-- Refuses a login that is not the writer, or may not write to the store.
CREATE FUNCTION daybook.require_writer(_store int, _writer int) RETURNS void LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM daybook.store s JOIN daybook.writer w ON w.store = s.store
        WHERE s.store = _store AND w.writer = _writer AND w.login = session_user
            AND daybook.has_role(s.writer)
    ) THEN
        RAISE EXCEPTION 'this login may not write to the store' USING ERRCODE = '42501';
    END IF;
END $$;

-- Refuses a login that may not write to the store.
CREATE FUNCTION daybook.require_writing(_store int) RETURNS void LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM daybook.store s
        WHERE s.store = _store AND daybook.has_role(s.writer)
    ) THEN
        RAISE EXCEPTION 'this login may not write to the store' USING ERRCODE = '42501';
    END IF;
END $$;

-- Proves that what this server writes is confirmed, and says who the writer is and what time it is. Every new
-- connection begins with it, also one that only reads: a leader that has been cut off still answers questions. Being
-- known here lets nobody append; the functions that do ask for the right to write.
CREATE FUNCTION daybook.register(_store int, _node uuid, _program text, OUT writer int, OUT clock bigint)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    _writes boolean;
BEGIN
    SELECT daybook.has_role(s.writer) INTO _writes FROM daybook.store s
    WHERE s.store = _store AND (daybook.has_role(s.reader) OR daybook.has_role(s.writer));
    IF _writes IS NULL THEN
        RAISE EXCEPTION 'this login may not use the store' USING ERRCODE = '42501';
    END IF;
    PERFORM daybook.confirm();
    -- Who may not write adds one row, whatever it calls itself.
    IF NOT _writes THEN
        _node := '00000000-0000-0000-0000-000000000000';
    END IF;
    -- An insert would use up a number of a writer each time, also where it finds the row.
    UPDATE daybook.writer w SET program = _program, connected = clock_timestamp()
    WHERE w.store = _store AND w.node = _node AND w.login = session_user
    RETURNING w.writer INTO register.writer;
    IF NOT FOUND THEN
        INSERT INTO daybook.writer AS w (store, node, login, program, connected)
        VALUES (_store, _node, session_user, _program, clock_timestamp())
        ON CONFLICT (store, node, login)
            DO UPDATE SET program = excluded.program, connected = excluded.connected
        RETURNING w.writer INTO register.writer;
    END IF;
    register.clock := daybook.clock();
END $$;

-- The digest of an entry: over a zero byte, the version of the form, and all that the entry says.
CREATE FUNCTION daybook.digest(_sequence bigint, _time bigint, _previous bytea, _payload bytea) RETURNS bytea
    LANGUAGE sql IMMUTABLE AS $$
    SELECT pg_catalog.sha256(
        '\x0001'::pg_catalog.bytea || pg_catalog.int8send(_sequence) || pg_catalog.int8send(_time) || _previous
        || pg_catalog.int8send(pg_catalog.octet_length(_payload)) || _payload)
$$;

-- Queues for the store, until the end of the transaction, and says where the journal ends.
--
-- The queue is an advisory lock; the first half of its key is 'DAYB' in ASCII. Appends of those who have not lost a
-- race share it, and do not wait for it; who has lost one waits to have it alone. An attempt to share it fails at
-- once while somebody has it alone or waits for it.
CREATE FUNCTION daybook.enter(_store int) RETURNS bigint LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM daybook.require_writing(_store);
    PERFORM pg_advisory_xact_lock(1145133378, _store);
    -- A statement of its own: it sees what was appended during the wait.
    RETURN coalesce(
        (SELECT e.sequence FROM daybook.entry e WHERE e.store = _store ORDER BY e.sequence DESC LIMIT 1), 0);
END $$;

-- Whether an append may go on: who says that it has the queue holds it already, and is let in once more; the others
-- share it, unless somebody has it or waits for it.
CREATE FUNCTION daybook.let_in(_store int, _entered boolean) RETURNS boolean LANGUAGE sql VOLATILE
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN _entered THEN pg_try_advisory_xact_lock(1145133378, _store)
        ELSE pg_try_advisory_xact_lock_shared(1145133378, _store) END
$$;

-- What the first entry follows.
CREATE FUNCTION daybook.no_digest() RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT pg_catalog.decode(pg_catalog.repeat('00', 32), 'hex')
$$;

-- Adds a part of the entry that the same transaction is about to append. False when somebody else's is there.
CREATE FUNCTION daybook.add_chunk(_store int, _sequence bigint, _part int, _bytes bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM daybook.require_writing(_store);
    IF _part NOT BETWEEN 0 AND 511 OR octet_length(_bytes) NOT BETWEEN 1 AND 1048576 THEN
        RAISE EXCEPTION 'a chunk is too long' USING ERRCODE = 'DB009';
    END IF;
    INSERT INTO daybook.chunk VALUES (_store, _sequence, _part, _bytes) ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;

-- What 'append' answers when the journal does not end where the entries begin: -1 when they are there already,
-- by the same writer and token, otherwise the number of the last entry.
CREATE FUNCTION daybook.elsewhere(_store int, _after bigint, _writer int, _token bigint, _last bigint, _digest bytea)
    RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM daybook.entry e
        WHERE e.store = _store AND e.sequence = _last AND e.writer = _writer AND e.token = _token
            AND e.digest = _digest
    ) THEN
        -- The first attempt may not be confirmed yet; the answer is, once this is.
        UPDATE daybook.writer SET connected = clock_timestamp() WHERE writer = _writer;
        RETURN -1;
    END IF;
    RETURN coalesce(
        (SELECT e.sequence FROM daybook.entry e WHERE e.store = _store ORDER BY e.sequence DESC LIMIT 1), 0);
END $$;

-- Appends one entry: the common case, without the lists. Answers -1 when it is appended, -2 when somebody
-- queues, and otherwise the number of the last entry, which is not the one that the entry follows.
-- An entry in chunks has no payload here.
CREATE FUNCTION daybook.append(
    _store int, _after bigint, _previous bytea, _writer int, _token bigint,
    _time bigint, _digest bytea, _payload bytea, _chunks int, _entered boolean
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    _head bigint;
    _head_digest bytea;
    _head_time bigint;
    _whole bytea := _payload;
BEGIN
    PERFORM daybook.require_writer(_store, _writer);
    PERFORM daybook.confirm();
    -- A comparison with nothing is never true, and never stops anything.
    IF num_nulls(_after, _previous, _token, _time, _digest, _chunks, _entered) > 0 THEN
        RAISE EXCEPTION 'an entry has an impossible form' USING ERRCODE = 'DB008';
    END IF;
    IF NOT daybook.let_in(_store, _entered) THEN
        RETURN -2;
    END IF;
    SELECT e.sequence, e.digest, e.recorded_at INTO _head, _head_digest, _head_time
    FROM daybook.entry e WHERE e.store = _store ORDER BY e.sequence DESC LIMIT 1;
    IF (coalesce(_head, 0), coalesce(_head_digest, daybook.no_digest())) IS DISTINCT FROM (_after, _previous) THEN
        RETURN daybook.elsewhere(_store, _after, _writer, _token, _after + 1, _digest);
    END IF;
    IF _time < _head_time THEN
        RAISE EXCEPTION 'an entry was recorded before the one it follows' USING ERRCODE = 'DB003';
    END IF;
    -- After a fail-over the last entry may have the time of another server, and what follows it is not earlier.
    IF _time > greatest(daybook.clock() + 10000000, _head_time) THEN
        RAISE EXCEPTION 'the clock of the node is more than 10 seconds ahead' USING ERRCODE = 'DB007';
    END IF;
    IF _chunks > 0 THEN
        SELECT string_agg(c.bytes, '\x'::bytea ORDER BY c.part) INTO _whole
        FROM daybook.chunk c WHERE c.store = _store AND c.sequence = _after + 1
        HAVING count(*) = _chunks AND max(c.part) = _chunks - 1;
    ELSIF octet_length(_payload) > 1048576 THEN
        RAISE EXCEPTION 'an entry of this length stands in chunks' USING ERRCODE = 'DB009';
    END IF;
    IF _whole IS NULL OR _chunks < 0 OR octet_length(_previous) <> 32 THEN
        RAISE EXCEPTION 'an entry has an impossible form' USING ERRCODE = 'DB008';
    END IF;
    IF daybook.digest(_after + 1, _time, _previous, _whole) IS DISTINCT FROM _digest THEN
        RAISE EXCEPTION 'a digest does not fit its entry' USING ERRCODE = 'DB004';
    END IF;
    INSERT INTO daybook.entry (store, writer, sequence, recorded_at, token, digest, chunks, payload)
    VALUES (_store, _writer, _after + 1, _time, _token, _digest, _chunks, _payload)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        -- Somebody else's append was under way: the wait for its end is over.
        RETURN daybook.elsewhere(_store, _after, _writer, _token, _after + 1, _digest);
    END IF;
    RETURN -1;
END $$;

-- Appends several entries, all or none, with the answers of the function above.
CREATE FUNCTION daybook.append(
    _store int, _after bigint, _previous bytea, _writer int, _token bigint,
    _times bigint[], _digests bytea[], _payloads bytea[], _entered boolean
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    _count int := cardinality(_digests);
    _head bigint;
    _head_digest bytea;
    _head_time bigint;
    _time bigint;
    _last bytea := _previous;
    _bytes bigint := 0;
BEGIN
    PERFORM daybook.require_writer(_store, _writer);
    PERFORM daybook.confirm();
    -- A comparison with nothing is never true, and never stops anything. The lists have one dimension, begin at 1,
    -- and have no gap.
    IF num_nulls(_after, _previous, _token, _times, _digests, _payloads, _entered) > 0
        OR _count NOT BETWEEN 1 AND 256 OR cardinality(_times) <> _count OR cardinality(_payloads) <> _count
        OR (array_ndims(_times), array_ndims(_digests), array_ndims(_payloads)) IS DISTINCT FROM (1, 1, 1)
        OR (array_lower(_times, 1), array_lower(_digests, 1), array_lower(_payloads, 1))
            IS DISTINCT FROM (1, 1, 1)
        OR array_position(_times, NULL) IS NOT NULL OR array_position(_digests, NULL) IS NOT NULL
        OR array_position(_payloads, NULL) IS NOT NULL OR octet_length(_previous) <> 32
    THEN
        RAISE EXCEPTION 'entries have an impossible form' USING ERRCODE = 'DB008';
    END IF;
    IF NOT daybook.let_in(_store, _entered) THEN
        RETURN -2;
    END IF;
    SELECT e.sequence, e.digest, e.recorded_at INTO _head, _head_digest, _head_time
    FROM daybook.entry e WHERE e.store = _store ORDER BY e.sequence DESC LIMIT 1;
    IF (coalesce(_head, 0), coalesce(_head_digest, daybook.no_digest())) IS DISTINCT FROM (_after, _previous) THEN
        RETURN daybook.elsewhere(_store, _after, _writer, _token, _after + _count, _digests[_count]);
    END IF;
    _time := coalesce(_head_time, _times[1]);
    FOR i IN 1.._count LOOP
        IF _times[i] < _time THEN
            RAISE EXCEPTION 'an entry was recorded before the one it follows' USING ERRCODE = 'DB003';
        END IF;
        _time := _times[i];
        _bytes := _bytes + octet_length(_payloads[i]);
        IF octet_length(_payloads[i]) > 1048576 OR _bytes > 8388608 THEN
            RAISE EXCEPTION 'entries are too long to be appended together' USING ERRCODE = 'DB009';
        END IF;
        IF daybook.digest(_after + i, _time, _last, _payloads[i]) IS DISTINCT FROM _digests[i] THEN
            RAISE EXCEPTION 'a digest does not fit its entry' USING ERRCODE = 'DB004';
        END IF;
        _last := _digests[i];
    END LOOP;
    IF _time > greatest(daybook.clock() + 10000000, _head_time) THEN
        RAISE EXCEPTION 'the clock of the node is more than 10 seconds ahead' USING ERRCODE = 'DB007';
    END IF;
    -- Each of them conflicts with what somebody else appends there, or none does.
    INSERT INTO daybook.entry (store, writer, sequence, recorded_at, token, digest, chunks, payload)
    VALUES (_store, _writer, _after + 1, _times[1], _token, _digests[1], 0, _payloads[1])
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN daybook.elsewhere(_store, _after, _writer, _token, _after + _count, _digests[_count]);
    END IF;
    INSERT INTO daybook.entry (store, writer, sequence, recorded_at, token, digest, chunks, payload)
    SELECT _store, _writer, _after + u.place, u.recorded_at, _token, u.digest, 0, u.payload
    FROM unnest(_times, _digests, _payloads) WITH ORDINALITY u(recorded_at, digest, payload, place)
    WHERE u.place > 1;
    RETURN -1;
END $$;
