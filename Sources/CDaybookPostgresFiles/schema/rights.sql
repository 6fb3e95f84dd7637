-- Who may do what. Readers and writers of a store are roles; a login sees the rows of the stores whose roles it
-- is in, and writes by functions only.

ALTER TABLE daybook.store ENABLE ROW LEVEL SECURITY;
ALTER TABLE daybook.writer ENABLE ROW LEVEL SECURITY;
ALTER TABLE daybook.entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE daybook.chunk ENABLE ROW LEVEL SECURITY;
ALTER TABLE daybook.data ENABLE ROW LEVEL SECURITY;
ALTER TABLE daybook.mark ENABLE ROW LEVEL SECURITY;
ALTER TABLE daybook.cut_entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE daybook.cut_chunk ENABLE ROW LEVEL SECURITY;

-- Whether the login is in a role. A role that is not there has no members: it must not stop other stores.
CREATE FUNCTION daybook.has_role(_role name) RETURNS boolean LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(pg_has_role(session_user, to_regrole(quote_ident(_role)), 'MEMBER'), false)
$$;

CREATE POLICY own ON daybook.store FOR SELECT USING (daybook.has_role(reader) OR daybook.has_role(writer));
-- The rows of 'store' that these see are those that the policy above allows; they are looked up once a query.
CREATE POLICY own ON daybook.writer FOR SELECT USING (store IN (SELECT s.store FROM daybook.store s));
CREATE POLICY own ON daybook.entry FOR SELECT USING (store IN (SELECT s.store FROM daybook.store s));
CREATE POLICY own ON daybook.chunk FOR SELECT USING (store IN (SELECT s.store FROM daybook.store s));
CREATE POLICY own ON daybook.data FOR SELECT USING (store IN (SELECT s.store FROM daybook.store s));
CREATE POLICY own ON daybook.mark FOR SELECT USING (store IN (SELECT s.store FROM daybook.store s));

-- Makes a store. Its roles must be there; several stores may have the same ones.
CREATE FUNCTION daybook.add_store(
    _name text, _uuid uuid, _created_at bigint, _numbers bigint, _reader name, _writer name
) RETURNS int LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    _store int;
BEGIN
    -- One after the other: rights that are granted twice at once refuse each other.
    PERFORM pg_advisory_xact_lock(1145133378, 0);
    INSERT INTO daybook.store (name, uuid, created_at, numbers, reader, writer)
    VALUES (_name, _uuid, _created_at, _numbers, _reader, _writer)
    RETURNING store INTO _store;
    EXECUTE format('GRANT USAGE ON SCHEMA daybook TO %I, %I', _reader, _writer);
    EXECUTE format('GRANT EXECUTE ON FUNCTION daybook.has_role(name) TO %I, %I', _reader, _writer);
    EXECUTE format(
        'GRANT SELECT ON daybook.store, daybook.writer, daybook.entry, daybook.chunk, daybook.data, daybook.mark '
        'TO %I, %I',
        _reader, _writer);
    EXECUTE format(
        'GRANT EXECUTE ON FUNCTION daybook.register(int, uuid, text) TO %I, %I', _reader, _writer);
    EXECUTE format(
        'GRANT EXECUTE ON FUNCTION '
        'daybook.append(int, bigint, bytea, int, bigint, bigint, bytea, bytea, int, boolean), '
        'daybook.append(int, bigint, bytea, int, bigint, bigint[], bytea[], bytea[], boolean), '
        'daybook.add_chunk(int, bigint, int, bytea), daybook.enter(int), '
        'daybook.keep_data(int, int, bigint[], bytea[], bytea[]), '
        'daybook.take_numbers(int, bigint), daybook.set_mark(int, int, text, bytea, bigint) TO %I',
        _writer);
    RETURN _store;
END $$;
