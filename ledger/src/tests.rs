//! The ledger in SQLite: what every ledger does, and a file that is damaged, gone or an old copy.
//!
//! INVARIANT: each test has a folder of its own, and time is a number that the test says.

#[path = "../tests/parts/same.rs"]
mod same;

use self::same::{always, asked, judged, new};
use super::*;
use policy_payments::ledger::View;
use std::sync::atomic::{AtomicU64, Ordering};

type Engine = Sqlite;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let temp = std::fs::canonicalize(std::env::temp_dir()).unwrap();
        let path = temp.join(format!("policy-ledger-{}-{name}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self) -> PathBuf {
        file(&self.0)
    }

    fn ledger(&self) -> Sqlite {
        Sqlite::at(self.file())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_ledger_that_cannot_be_used_is_a_fault_and_never_an_empty_one() {
    use std::os::unix::fs::PermissionsExt;
    let made = |name: &str| {
        let folder = Folder::new(name);
        new(folder.ledger().check(&asked(10, 1, 1_000), &mut always(Status::Allowed)).unwrap());
        folder
    };
    let fails = |folder: &Folder| {
        let mut asked_for = false;
        let fault = folder.ledger().check(&asked(10, 2, 2_000), &mut |_: &dyn View| {
            asked_for = true;
            Ok(judged(Status::Allowed))
        });
        fault.unwrap_err().0
    };
    let folder = made("gone");
    std::fs::remove_file(folder.file()).unwrap();
    assert!(fails(&folder).contains("is gone"), "{}", fails(&folder));
    let folder = made("damaged");
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", folder.file().display()));
    }
    std::fs::write(folder.file(), vec![0x41; 8192]).unwrap();
    std::fs::set_permissions(folder.file(), std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(fails(&folder).contains("damaged"), "{}", fails(&folder));
    let folder = made("open");
    std::fs::set_permissions(folder.file(), std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(fails(&folder).contains("other users"), "{}", fails(&folder));
    let folder = made("read-only");
    std::fs::set_permissions(folder.file(), std::fs::Permissions::from_mode(0o400)).unwrap();
    assert!(fails(&folder).contains("read-only"), "{}", fails(&folder));
    let folder = made("empty");
    std::fs::write(folder.file(), "").unwrap();
    let _ = std::fs::remove_file(format!("{}-wal", folder.file().display()));
    assert!(fails(&folder).contains("an old copy"), "{}", fails(&folder));
    let folder = made("head");
    std::fs::write(folder.file().with_file_name("payments.head"), "x").unwrap();
    assert!(fails(&folder).contains("damaged"), "{}", fails(&folder));
}

#[test]
fn an_old_copy_in_its_place_is_noticed() {
    let folder = Folder::new("copy");
    new(folder.ledger().check(&asked(10, 1, 1_000), &mut always(Status::Allowed)).unwrap());
    let copy = std::fs::read(folder.file()).unwrap();
    new(folder.ledger().check(&asked(10, 2, 1_000), &mut always(Status::Allowed)).unwrap());
    std::fs::write(folder.file(), copy).unwrap();
    let _ = std::fs::remove_file(format!("{}-wal", folder.file().display()));
    let fault = folder.ledger().check(&asked(10, 3, 1_000), &mut always(Status::Allowed)).unwrap_err();
    assert!(fault.0.contains("an old copy"), "{fault}");
}
