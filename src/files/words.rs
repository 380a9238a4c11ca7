//! Enums whose values have a word in files and on the command line.

/// Gives an enum its words, in the order in which messages list them.
macro_rules! words {
    ($kind:ident { $($value:ident = $word:literal),+ }) => {
        #[allow(dead_code)]
        impl $kind {
            pub(crate) const ALL: [$kind; Self::NAMES.len()] = [$($kind::$value),+];
            /// The words of [`Self::ALL`].
            pub(crate) const NAMES: [&'static str; [$($word),+].len()] = [$($word),+];

            /// The word in files.
            pub(crate) fn name(self) -> &'static str {
                match self { $($kind::$value => $word),+ }
            }

            /// The value of a word.
            pub(crate) fn named(word: &str) -> Option<$kind> {
                Self::ALL.into_iter().find(|value| value.name() == word)
            }

            /// The value of a word; `what` is said where there is none.
            pub(crate) fn find(what: &str, word: &str) -> $crate::error::Result<$kind> {
                Self::named(word).ok_or_else(|| $crate::error::unknown(what, word, &Self::NAMES))
            }
        }
    };
}
pub(crate) use words;
