-- Orders, and triggers that keep old and new columns of every change under the number of its save.
CREATE TABLE entry(id INTEGER PRIMARY KEY, recorded_at REAL NOT NULL, note TEXT);
CREATE TABLE orders(id INTEGER PRIMARY KEY, number INTEGER NOT NULL, customer TEXT NOT NULL,
    amount INTEGER NOT NULL, state INTEGER NOT NULL);
CREATE TABLE audit(entry INTEGER NOT NULL, orders INTEGER NOT NULL,
    old_number INTEGER, old_customer TEXT, old_amount INTEGER, old_state INTEGER,
    new_number INTEGER, new_customer TEXT, new_amount INTEGER, new_state INTEGER,
    PRIMARY KEY(entry, orders)) WITHOUT ROWID;
CREATE TRIGGER orders_inserted AFTER INSERT ON orders BEGIN
    INSERT INTO audit VALUES ((SELECT max(id) FROM entry), new.id, NULL, NULL, NULL, NULL,
        new.number, new.customer, new.amount, new.state);
END;
CREATE TRIGGER orders_updated AFTER UPDATE ON orders BEGIN
    INSERT INTO audit VALUES ((SELECT max(id) FROM entry), new.id,
        old.number, old.customer, old.amount, old.state,
        new.number, new.customer, new.amount, new.state);
END;
