//! Values as bytes and back: every part with its length before it.
//!
//! INVARIANT: two different sequences of parts never give the same bytes, and no bytes make the reader panic or take memory that
//! they do not hold.

/// Writes parts.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn list<T>(&mut self, list: &[T], mut each: impl FnMut(&mut Writer, &T)) {
        self.number(list.len() as u64);
        for item in list {
            each(self, item);
        }
    }

    /// Nothing and something empty are not the same.
    pub(crate) fn option<T>(&mut self, value: Option<&T>, each: impl FnOnce(&mut Writer, &T)) {
        self.number(u64::from(value.is_some()));
        if let Some(value) = value {
            each(self, value);
        }
    }

    pub(crate) fn end(self) -> Vec<u8> {
        self.0
    }
}

/// Reads parts; `None` when the bytes are not what was written.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    pub(crate) fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.number()?;
        let mut list = Vec::new();
        for _ in 0..length {
            list.push(each(self)?);
        }
        Some(list)
    }

    pub(crate) fn option<T>(&mut self, each: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.number()? {
            0 => Some(None),
            1 => Some(Some(each(self)?)),
            _ => None,
        }
    }
}
