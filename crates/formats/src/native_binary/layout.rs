//! The fixed parts of a file: its head, the head of each block, the trailer, and the limits.

use anyorder_common::coded;

/// The first eight bytes of a file. Like PNG's they show a transfer that changed line ends.
pub const MAGIC: [u8; 8] = *b"\x89AOT\r\n\x1a\n";

/// The version of the format that is written, and the only one that is read.
pub const VERSION: u16 = 1;

/// The most bytes of the unpacked contents of a block. A block that declares more is refused before
/// any allocation.
pub const RAW_BYTES_MAX: u32 = 64 << 20;

/// The most bytes of the packed contents of a block, with what zstd may add to incompressible
/// input.
pub(super) const PACKED_BYTES_MAX: u32 = RAW_BYTES_MAX + (RAW_BYTES_MAX >> 7);

/// The size of the head of a file: magic, version, two zero bytes, checksum.
pub(super) const FILE_HEAD_BYTES: usize = 16;

/// The size of the head of a block.
pub(super) const BLOCK_HEAD_BYTES: usize = 32;

/// The size of the trailer: the offset of the index block, a checksum, and [`TRAILER_MAGIC`].
pub(super) const TRAILER_BYTES: usize = 16;

/// The last four bytes of a complete file.
pub(super) const TRAILER_MAGIC: [u8; 4] = *b"AOTE";

coded! {
    /// The kind of contents of a block.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(super) enum BlockKind {
        /// New entries of tables.
        Tables = 1,
        /// Events.
        Events = 2,
        /// The index of all blocks; the last block of a complete file.
        Index = 3,
    }
}

/// The head of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BlockHead {
    /// The kind of contents.
    pub(super) kind: BlockKind,
    /// The bytes of its packed contents, which follow the head.
    pub(super) packed_bytes: u32,
    /// The bytes of its contents when unpacked.
    pub(super) raw_bytes: u32,
    /// The number of its events; 0 for other kinds.
    pub(super) events_count: u32,
    /// The number of its first event; for other kinds that of the next event.
    pub(super) first: u64,
    /// The checksum (CRC-32) of the packed contents.
    pub(super) checksum: u32,
}

impl BlockHead {
    /// Lays the head out in bytes, with a checksum of its own.
    pub(super) fn to_bytes(self) -> [u8; BLOCK_HEAD_BYTES] {
        let mut bytes = [0; BLOCK_HEAD_BYTES];
        bytes[0] = self.kind as u8;
        bytes[4..8].copy_from_slice(&self.packed_bytes.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.raw_bytes.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.events_count.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.first.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.checksum.to_le_bytes());
        let own = crc32fast::hash(&bytes[..28]);
        bytes[28..].copy_from_slice(&own.to_le_bytes());
        bytes
    }

    /// Reads a head. The error describes the fault.
    pub(super) fn from_bytes(bytes: &[u8; BLOCK_HEAD_BYTES]) -> Result<BlockHead, String> {
        let found = crc32fast::hash(&bytes[..28]);
        let stated = u32::from_le_bytes(part(bytes, 28));
        if found != stated {
            return Err(format!(
                "damaged block head: its checksum is {found:08x}, expected {stated:08x}"
            ));
        }
        let Some(kind) = BlockKind::from_number(bytes[0]) else {
            return Err(format!("unknown kind of block {}, expected 1, 2 or 3", bytes[0]));
        };
        if bytes[1..4] != [0; 3] {
            return Err("reserved bytes of the block head are set, expected 0".to_owned());
        }
        let head = BlockHead {
            kind,
            packed_bytes: u32::from_le_bytes(part(bytes, 4)),
            raw_bytes: u32::from_le_bytes(part(bytes, 8)),
            events_count: u32::from_le_bytes(part(bytes, 12)),
            first: u64::from_le_bytes(part(bytes, 16)),
            checksum: u32::from_le_bytes(part(bytes, 24)),
        };
        head.check_sizes()?;
        Ok(head)
    }

    /// Refuses sizes above the limits, before any allocation.
    fn check_sizes(&self) -> Result<(), String> {
        let events_max = match self.kind {
            BlockKind::Events => anyorder_trace::Block::EVENTS as u32,
            BlockKind::Tables | BlockKind::Index => 0,
        };
        let limits = [
            (self.raw_bytes, RAW_BYTES_MAX, "unpacked bytes"),
            (self.packed_bytes, PACKED_BYTES_MAX, "packed bytes"),
            (self.events_count, events_max, "events"),
        ];
        for (declared, limit, what) in limits {
            if declared > limit {
                return Err(format!(
                    "block declares {declared} {what}, expected {limit} at the most"
                ));
            }
        }
        if self.kind == BlockKind::Events && self.events_count == 0 {
            return Err("block of events without events, expected 1 or more".to_owned());
        }
        if self.first.checked_add(u64::from(self.events_count)).is_none() {
            return Err(format!("number of the first event {} is too large", self.first));
        }
        Ok(())
    }
}

/// Lays out the head of a file.
pub(super) fn file_head() -> [u8; FILE_HEAD_BYTES] {
    let mut bytes = [0; FILE_HEAD_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
    let own = crc32fast::hash(&bytes[..12]);
    bytes[12..].copy_from_slice(&own.to_le_bytes());
    bytes
}

/// Checks the head of a file. It checks the version before the checksum: a later version may have
/// another head, and the error must name the version.
pub(super) fn check_file_head(bytes: &[u8; FILE_HEAD_BYTES]) -> Result<(), String> {
    if bytes[..8] != MAGIC {
        return Err(
            "no native binary trace: expected it to begin with `\\x89AOT\\r\\n\\x1a\\n`".to_owned()
        );
    }
    let version = u16::from_le_bytes([bytes[8], bytes[9]]);
    if version != VERSION {
        return Err(format!("unknown version {version} of the format, expected {VERSION}"));
    }
    if *bytes != file_head() {
        return Err("damaged file head: its checksum does not match".to_owned());
    }
    Ok(())
}

/// Lays out the trailer of a file whose index block begins at `offset`.
pub(super) fn trailer(offset: u64) -> [u8; TRAILER_BYTES] {
    let mut bytes = [0; TRAILER_BYTES];
    bytes[..8].copy_from_slice(&offset.to_le_bytes());
    let own = crc32fast::hash(&bytes[..8]);
    bytes[8..12].copy_from_slice(&own.to_le_bytes());
    bytes[12..].copy_from_slice(&TRAILER_MAGIC);
    bytes
}

/// Returns the offset that a trailer holds, or `None` when it is damaged.
pub(super) fn trailer_offset(bytes: &[u8; TRAILER_BYTES]) -> Option<u64> {
    let offset = u64::from_le_bytes(part(bytes, 0));
    (*bytes == trailer(offset)).then_some(offset)
}

fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    *bytes[at..].first_chunk().expect("heads have fixed sizes")
}

/// The most entries of one section of a table.
pub(super) const ENTRIES_MAX: usize = 1 << 15;

/// The most bytes of a name.
pub(super) const NAME_BYTES_MAX: usize = 16 << 20;

/// The most items of a list in a table (a stack's positions, an invocation's arguments), and of all
/// lists of a section.
pub(super) const LIST_ITEMS_MAX: usize = 1 << 20;

coded! {
    /// The sections of a block of tables.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(super) enum Section {
        Meta = 1,
        Names = 2,
        Handlers = 3,
        HandlersChanged = 4,
        Tasks = 5,
        Locations = 6,
        Locks = 7,
        Conditions = 8,
        Inputs = 9,
        Sites = 10,
        Stacks = 11,
        Invocations = 12,
        Coherence = 13,
        CoherenceMore = 14,
    }
}
