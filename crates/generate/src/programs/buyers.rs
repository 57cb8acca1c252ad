//! Buyers: `n` buyers share the cost of an item.
//!
//! The buyers' side asks the seller for a quote for each buyer. The seller answers each request
//! with an offer to that buyer, who adds a contribution; once the contributions meet the price, the
//! order is placed.
//!
//! Messages: a quote and an offer a buyer, and two initial ones: `2n + 2`. Events: `39n + 10`.

use super::variables::{Row, Variables};
use crate::draft::Name;
use crate::simulator::{Body, Io, Program};

const SELLER: u32 = 0;
const BUYERS: u32 = 1;

/// The program for a number of buyers.
pub(crate) struct Buyers {
    buyers: u32,
    variables: Variables,
    price: u32,
    quotes_given: u32,
    contributed: u32,
    ordered: u32,
    quote_of: Row,
}

impl Buyers {
    pub(crate) fn new(buyers: u32) -> Buyers {
        let mut variables = Variables::default();
        Buyers {
            buyers,
            price: variables.one("price"),
            quotes_given: variables.one("quotes_given"),
            contributed: variables.one("contributed"),
            ordered: variables.one("ordered"),
            quote_of: variables.row("quote_of", buyers),
            variables,
        }
    }

    /// Returns the number of events.
    pub(crate) fn events(size: u64) -> u64 {
        39 * size + 10
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Message {
    OpenShop,
    AskAll,
    Quote(u32),
    Offer(u32),
}

impl Program for Buyers {
    type Message = Message;

    fn handlers(&self) -> Vec<Name> {
        vec![Name::plain("seller"), Name::plain("buyers")]
    }

    fn variables(&self) -> Vec<Name> {
        self.variables.names()
    }

    fn initial(&self, handler: u32) -> Message {
        if handler == SELLER { Message::OpenShop } else { Message::AskAll }
    }

    fn name(&self, message: &Message) -> Name {
        match *message {
            Message::OpenShop | Message::AskAll => Name::AUTO,
            Message::Quote(buyer) => Name::one("quote", buyer),
            Message::Offer(buyer) => Name::one("offer", buyer),
        }
    }

    fn body(&self, message: &Message, io: &mut Io<Message>) -> Body {
        match *message {
            // 5 events.
            Message::OpenShop => {
                io.write(self.price, 10 * u64::from(self.buyers));
                io.work(4);
            }
            // 5 events, and a post a buyer.
            Message::AskAll => {
                io.write(self.contributed, 0);
                io.write(self.ordered, 0);
                io.work(3);
                for buyer in 0..self.buyers {
                    io.post(SELLER, Message::Quote(buyer));
                }
            }
            // 18 accesses and a post.
            Message::Quote(buyer) => {
                let price = io.read(self.price)?;
                let given = io.read(self.quotes_given)?;
                io.work(14);
                io.write(self.quotes_given, given + 1);
                io.write(self.quote_of.at(buyer), price);
                io.post(BUYERS, Message::Offer(buyer));
            }
            // 17 accesses.
            Message::Offer(buyer) => {
                let quote = io.read(self.quote_of.at(buyer))?;
                io.work(13);
                let contributed = io.read(self.contributed)? + 10;
                io.write(self.contributed, contributed);
                if quote > 0 && contributed >= quote {
                    io.write(self.ordered, 1);
                } else {
                    io.read(self.ordered)?;
                }
            }
        }
        Ok(())
    }
}
