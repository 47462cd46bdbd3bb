//! The tables of the ledger.
//!
//! INVARIANT: a ledger of another version is not written to; amounts are 32 bytes, the most significant first, and are added in this
//! program alone.

use policy_state::sqlite::Shape;

/// What is in the file.
pub(crate) const SHAPE: Shape =
    Shape { version: 1, tables: TABLES, upgrades: &[], settings: "PRAGMA foreign_keys = ON;" };

const TABLES: &str = "
    CREATE TABLE clock (one INTEGER PRIMARY KEY CHECK (one = 1), last INTEGER NOT NULL, changes INTEGER NOT NULL) STRICT;
    INSERT INTO clock VALUES (1, 0, 0);
    CREATE TABLE decision (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        session TEXT NOT NULL,
        beside TEXT NOT NULL,
        account TEXT NOT NULL,
        key TEXT,
        fingerprint BLOB NOT NULL,
        status INTEGER NOT NULL,
        would INTEGER NOT NULL,
        reasons TEXT NOT NULL,
        shown TEXT NOT NULL,
        tool TEXT NOT NULL,
        payee TEXT,
        seller TEXT,
        page TEXT,
        url TEXT,
        text BLOB NOT NULL,
        flows TEXT NOT NULL,
        at INTEGER NOT NULL,
        expires INTEGER NOT NULL,
        answered INTEGER,
        used INTEGER NOT NULL DEFAULT 0,
        tx TEXT,
        evidence INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE UNIQUE INDEX decision_key ON decision (account, key) WHERE key IS NOT NULL;
    CREATE INDEX decision_waits ON decision (expires) WHERE status = 2;
    CREATE INDEX decision_same ON decision (fingerprint, session);
    CREATE TABLE hold (
        decision INTEGER NOT NULL REFERENCES decision,
        asset TEXT NOT NULL,
        units BLOB NOT NULL,
        state INTEGER NOT NULL,
        at INTEGER NOT NULL,
        payee TEXT NOT NULL,
        seller TEXT NOT NULL,
        session TEXT NOT NULL,
        tool TEXT NOT NULL,
        same TEXT NOT NULL,
        PRIMARY KEY (decision, asset)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX hold_all ON hold (asset, at);
    CREATE INDEX hold_payee ON hold (asset, payee, at);
    CREATE INDEX hold_seller ON hold (asset, seller, at);
    CREATE INDEX hold_session ON hold (asset, session, at);
    CREATE INDEX hold_tool ON hold (asset, tool, at);
    CREATE INDEX hold_same ON hold (asset, same, at);
    CREATE TABLE run (
        asset TEXT NOT NULL,
        side INTEGER NOT NULL,
        who TEXT NOT NULL,
        seconds INTEGER NOT NULL,
        tail INTEGER NOT NULL,
        total BLOB NOT NULL,
        PRIMARY KEY (asset, side, who, seconds)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE known (payee TEXT PRIMARY KEY, ends TEXT NOT NULL, how TEXT NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE INDEX known_ends ON known (ends);
    CREATE TABLE price (page TEXT NOT NULL, asset TEXT NOT NULL, units BLOB NOT NULL, PRIMARY KEY (page, asset)) STRICT, WITHOUT ROWID;
    CREATE TABLE content (
        hash BLOB NOT NULL,
        session TEXT NOT NULL,
        origin TEXT NOT NULL,
        found INTEGER NOT NULL,
        classes TEXT NOT NULL,
        text TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (hash, session)
    ) STRICT;
    CREATE TABLE seen (session TEXT NOT NULL, address TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (session, address)) STRICT, WITHOUT ROWID;
    CREATE TABLE flag (session TEXT PRIMARY KEY, until INTEGER NOT NULL, hash BLOB NOT NULL) STRICT, WITHOUT ROWID;
";
