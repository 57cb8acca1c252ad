//! Tests of the platform of smart-home apps.

mod corpus;
mod table;
mod verdicts;
