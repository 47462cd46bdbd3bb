//! The real name of a file, without memory of the system library's.
//!
//! INVARIANT: the answer is the system's own (`realpath`), whole or an error.

use std::ffi::{CStr, CString, OsString};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// As `std::fs::canonicalize`, which lets the system library take memory for the name: in a process that takes its own
/// from one piece that is a page, and two calls, each time.
///
/// # Errors
/// When the path leads nowhere, or has a zero byte.
#[expect(unsafe_code, reason = "the standard library gives the system no place for the name")]
pub fn real_path(path: &Path) -> Result<PathBuf> {
    // What `realpath` fills, whole: it takes no length.
    const PLACE: usize = libc::PATH_MAX as usize;
    let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| Error::from(ErrorKind::InvalidInput))?;
    let mut place = [0_u8; PLACE];
    // SAFETY: the name ends with a zero, and the place has PATH_MAX bytes, as `realpath` asks for; both live on.
    let found = unsafe { libc::realpath(path.as_ptr(), place.as_mut_ptr().cast()) };
    if found.is_null() {
        return Err(Error::last_os_error());
    }
    let name = CStr::from_bytes_until_nul(&place).map_err(|_| Error::from(ErrorKind::InvalidData))?;
    Ok(PathBuf::from(OsString::from_vec(name.to_bytes().to_vec())))
}

#[cfg(test)]
mod tests {
    use super::real_path;
    use std::path::Path;

    #[test]
    fn as_the_standard_library() {
        for path in ["/", "/proc/self", "/usr/../tmp", "."] {
            let path = Path::new(path);
            assert_eq!(real_path(path).unwrap(), std::fs::canonicalize(path).unwrap(), "{path:?}");
        }
        assert!(real_path(Path::new("/nowhere/at/all")).is_err());
        assert!(real_path(Path::new("a\0b")).is_err());
    }
}
