//! Where the responses of a page come from: a folder, an archive, or the real server, whose
//! responses are recorded at the first use and repeated from then on.

mod folder;
mod given;
mod har;
mod sockets;
mod store;
mod stored;
mod types;

pub use folder::origin_of;
pub use folder::{Folder, FolderError};
pub(crate) use folder::{host_of, path_of};
pub use given::{GivenError, read_given, write_given};
pub use har::{Archive, ArchiveError};
pub(crate) use sockets::has_answers;
pub use sockets::{SocketCause, SocketData, SocketMessage, Sockets, read_sockets, write_sockets};
pub use store::{GivenResponse, Store};
pub use stored::{StorageState, read_storage_state};
pub(crate) use types::ANY_ORIGIN;
pub use types::{Answer, PageRequest, Response, Source};
