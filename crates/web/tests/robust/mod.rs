//! Pages that are hard to control: each has a right and clear result, within limits.

mod accesses;
mod again;
mod columns;
mod documents;
mod drags;
mod endless;
mod frames;
mod hostile;
mod leaving;
mod natives;
mod responses;
mod server;
mod site;
mod sites;
mod sockets;
mod stored;
mod transitions;
mod workers;
