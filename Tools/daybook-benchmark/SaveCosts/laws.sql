-- What Daybook's laws say, as triggers.
CREATE TRIGGER numbers_stay BEFORE UPDATE OF number ON orders
WHEN old.number <> new.number BEGIN
    SELECT RAISE(ABORT, 'Numbers stay');
END;
CREATE TRIGGER amounts_do_not_fall BEFORE UPDATE OF amount ON orders
WHEN new.amount < old.amount
    AND (SELECT note FROM entry ORDER BY id DESC LIMIT 1) IS NULL BEGIN
    SELECT RAISE(ABORT, 'Amounts do not fall unsaid');
END;
CREATE TRIGGER closed_stays BEFORE DELETE ON orders WHEN old.state = 4 BEGIN
    SELECT RAISE(ABORT, 'What is closed stays');
END;
