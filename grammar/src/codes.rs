//! The list of codes that each front end has: name, text and one sentence.
//!
//! INVARIANT: every code is in `ALL` exactly once.

macro_rules! codes {
    ($($name:ident = $code:literal, $summary:literal;)*) => {
        /// What is wrong, by name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $summary] $name,)*
        }

        impl Code {
            /// Every code, in the order of this file.
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            /// `policy::parse::<kebab>`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Code::$name => concat!("policy::parse::", $code),)*
                }
            }

            /// What it means, in one sentence.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Code::$name => $summary,)*
                }
            }
        }
    };
}

pub(crate) use codes;
