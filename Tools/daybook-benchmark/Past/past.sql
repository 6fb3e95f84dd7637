-- Accounts, and triggers that keep old and new columns of every change under the number of its save, with the indexes
-- that questions about the past want.
CREATE TABLE entry(id INTEGER PRIMARY KEY, recorded_at REAL NOT NULL, author TEXT);
CREATE INDEX entry_author ON entry(author);
CREATE TABLE account(id INTEGER PRIMARY KEY, number INTEGER NOT NULL, name TEXT NOT NULL,
    amount INTEGER NOT NULL, kind INTEGER NOT NULL);
CREATE INDEX account_number ON account(number);
CREATE TABLE audit(account INTEGER NOT NULL, entry INTEGER NOT NULL,
    old_amount INTEGER, old_kind INTEGER, new_amount INTEGER, new_kind INTEGER,
    PRIMARY KEY(account, entry)) WITHOUT ROWID;
CREATE INDEX audit_entry ON audit(entry, old_amount, new_amount, new_kind);
CREATE INDEX audit_amount ON audit(new_amount);
CREATE TRIGGER account_inserted AFTER INSERT ON account BEGIN
    INSERT INTO audit VALUES (new.id, (SELECT max(id) FROM entry),
        NULL, NULL, new.amount, new.kind);
END;
CREATE TRIGGER account_updated AFTER UPDATE ON account BEGIN
    INSERT INTO audit VALUES (new.id, (SELECT max(id) FROM entry),
        old.amount, old.kind, new.amount, new.kind);
END;
CREATE TABLE sums(author TEXT PRIMARY KEY NOT NULL, amount INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE summed(entry INTEGER NOT NULL);
INSERT INTO summed VALUES (0);
