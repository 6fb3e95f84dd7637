-- Contacts, and triggers that keep old and new columns of every change under the number of its save.
CREATE TABLE IF NOT EXISTS entry(id INTEGER PRIMARY KEY, recorded_at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS contact(id INTEGER PRIMARY KEY, name TEXT NOT NULL,
    mail TEXT NOT NULL, address TEXT NOT NULL, age INTEGER NOT NULL,
    balance REAL NOT NULL);
CREATE TABLE IF NOT EXISTS audit(entry INTEGER NOT NULL, contact INTEGER NOT NULL,
    old_name TEXT, old_mail TEXT, old_address TEXT, old_age INTEGER, old_balance REAL,
    new_name TEXT, new_mail TEXT, new_address TEXT, new_age INTEGER, new_balance REAL,
    PRIMARY KEY(entry, contact)) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS contact_inserted AFTER INSERT ON contact BEGIN
    INSERT INTO audit VALUES ((SELECT max(id) FROM entry), new.id,
        NULL, NULL, NULL, NULL, NULL,
        new.name, new.mail, new.address, new.age, new.balance);
END;
CREATE TRIGGER IF NOT EXISTS contact_updated AFTER UPDATE ON contact BEGIN
    INSERT INTO audit VALUES ((SELECT max(id) FROM entry), new.id,
        old.name, old.mail, old.address, old.age, old.balance,
        new.name, new.mail, new.address, new.age, new.balance);
END;
CREATE TRIGGER IF NOT EXISTS contact_deleted AFTER DELETE ON contact BEGIN
    INSERT INTO audit VALUES ((SELECT max(id) FROM entry), old.id,
        old.name, old.mail, old.address, old.age, old.balance,
        NULL, NULL, NULL, NULL, NULL);
END;
