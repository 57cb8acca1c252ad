//! Buyers: `n` buyers share the cost of an item.
//!
//! The buyers' side asks the seller for a quote for each buyer. The seller answers each request
//! with an offer to that buyer, who adds a contribution; once the contributions meet the price, the
//! order is placed.
//!
//! Messages: a quote and an offer a buyer, and two initial ones: `2n + 2`. Events: `39n + 10`.

use crate::draft::Name;
use crate::setup::{Row, Setup};
use crate::simulator::{Body, Io, Program};

const SELLER: u32 = 0;
const BUYERS: u32 = 1;

/// The program for a number of buyers.
pub(crate) struct Buyers {
    buyers: u32,
    price: u32,
    quotes_given: u32,
    contributed: u32,
    ordered: u32,
    quote_of: Row,
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

    fn events(size: u64) -> u64 {
        39 * size + 10
    }

    fn new(buyers: u32, setup: &mut Setup<Message>) -> Buyers {
        setup.handler(Name::plain("seller"), Message::OpenShop);
        setup.handler(Name::plain("buyers"), Message::AskAll);
        Buyers {
            buyers,
            price: setup.one("price"),
            quotes_given: setup.one("quotes_given"),
            contributed: setup.one("contributed"),
            ordered: setup.one("ordered"),
            quote_of: setup.row("quote_of", buyers),
        }
    }

    fn body(&self, message: Message, io: &mut Io<Message>) -> Body {
        match message {
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
                    io.post(Name::one("quote", buyer), SELLER, Message::Quote(buyer));
                }
            }
            // 18 accesses and a post.
            Message::Quote(buyer) => {
                let price = io.read(self.price)?;
                let given = io.read(self.quotes_given)?;
                io.work(14);
                io.write(self.quotes_given, given + 1);
                io.write(self.quote_of.at(buyer), price);
                io.post(Name::one("offer", buyer), BUYERS, Message::Offer(buyer));
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
