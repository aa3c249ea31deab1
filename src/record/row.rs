//! The times of one request, in a fixed binary form: rows are too many for memory and spill to disk.

/// One answered request, as ab's `-g` lists it. Rows are ordered by their total time first, as ab's file is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// From the begin of the connect, or the send on a connection that was there, to the last byte of the answer.
    pub total_ns: u64,
    /// When that began, in microseconds since 1970.
    pub start_unix_us: u64,
    /// From the begin of the connect to its success; 0 on a connection that was there.
    pub connect_ns: u64,
    /// From the request's last byte sent to the answer's first byte received.
    pub first_byte_ns: u64,
}

impl Row {
    /// Length of a row's binary form.
    pub const BYTES: usize = 32;

    /// The binary form: the fields in the order of their declaration, little-endian. It lives as long as the run that
    /// spilled it, so it has no version.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let fields = [self.total_ns, self.start_unix_us, self.connect_ns, self.first_byte_ns];
        for (place, field) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(fields) {
            *place = field.to_le_bytes();
        }
        bytes
    }

    /// The row of a binary form.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let mut fields = [0; 4];
        for (field, place) in fields.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *field = u64::from_le_bytes(*place);
        }
        let [total_ns, start_unix_us, connect_ns, first_byte_ns] = fields;
        Self { total_ns, start_unix_us, connect_ns, first_byte_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_comes_back_from_its_bytes() {
        let row = Row { total_ns: 1, start_unix_us: u64::MAX, connect_ns: 0x0102_0304, first_byte_ns: 1 << 63 };
        let bytes = row.to_bytes();
        assert_eq!(Row::from_bytes(&bytes), row);
        assert_eq!((bytes[0], bytes[16], bytes[19], bytes[31]), (1, 4, 1, 0x80));
    }

    #[test]
    fn the_order_is_by_total_time() {
        let row = |total_ns, start_unix_us| Row { total_ns, start_unix_us, ..Row::default() };
        let mut rows = [row(3, 1), row(1, 3), row(2, 2), row(1, 2)];
        rows.sort_unstable();
        assert_eq!(rows, [row(1, 2), row(1, 3), row(2, 2), row(3, 1)]);
    }
}
