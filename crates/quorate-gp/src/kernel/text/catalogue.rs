//! The kernels that can be named, and what each of them takes between its parentheses.

/// Least and greatest size of a number in a kernel: squares and products of a few stay finite.
pub(in crate::kernel) const LEAST: f64 = 1e-100;
pub(in crate::kernel) const MOST: f64 = 1e100;

/// One named kernel of the text form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::kernel) enum Family {
    SquaredExponential,
    Matern12,
    Matern32,
    Matern52,
    RationalQuadratic,
    Periodic,
    Linear,
    Polynomial,
    Constant,
    Network,
    Basis,
    Category,
}

/// One word before an equals sign; the order is the order in which settings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::kernel) enum Key {
    Functions,
    Degree,
    Count,
    Rank,
    LengthScale,
    Shape,
    Period,
    Offset,
    Weight,
    Bias,
    Centres,
    Width,
    Embedding,
    Kappa,
}

/// What may stand after an equals sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::kernel) enum Meaning {
    /// A learned quantity above zero.
    Positive,
    /// A learned quantity of either sign.
    Signed,
    /// A chosen quantity above zero; never learned.
    ChosenPositive,
    /// Chosen quantities of either sign; never learned.
    ChosenSigned,
    /// A whole number between two bounds; never learned.
    Whole { least: usize, most: usize },
    /// One of a few words.
    Word(&'static [&'static str]),
}

impl Meaning {
    /// True when learning may move the value.
    pub fn is_learned(self) -> bool {
        matches!(self, Meaning::Positive | Meaning::Signed)
    }
}

/// The kinds of fixed basis functions, as words of the text form.
pub(in crate::kernel) const BASIS_FUNCTIONS: &[&str] = &["gaussian", "polynomial", "fourier"];

const DEGREE: (Key, Meaning) = (Key::Degree, Meaning::Whole { least: 1, most: 20 });
const LENGTH_SCALE: (Key, Meaning) = (Key::LengthScale, Meaning::Positive);

impl Family {
    /// Every family, in the order in which they are listed to people.
    pub const ALL: [Family; 12] = [
        Family::SquaredExponential,
        Family::Matern12,
        Family::Matern32,
        Family::Matern52,
        Family::RationalQuadratic,
        Family::Periodic,
        Family::Linear,
        Family::Polynomial,
        Family::Constant,
        Family::Network,
        Family::Basis,
        Family::Category,
    ];

    /// Its name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Family::SquaredExponential => "se",
            Family::Matern12 => "matern12",
            Family::Matern32 => "matern32",
            Family::Matern52 => "matern52",
            Family::RationalQuadratic => "rq",
            Family::Periodic => "periodic",
            Family::Linear => "linear",
            Family::Polynomial => "polynomial",
            Family::Constant => "constant",
            Family::Network => "network",
            Family::Basis => "basis",
            Family::Category => "category",
        }
    }

    /// The family of a name.
    pub fn from_name(name: &str) -> Option<Family> {
        Family::ALL.into_iter().find(|family| family.name() == name)
    }

    /// The keys it takes and what each may hold.
    pub fn keys(self) -> &'static [(Key, Meaning)] {
        match self {
            Family::SquaredExponential
            | Family::Matern12
            | Family::Matern32
            | Family::Matern52
            | Family::Linear => &[LENGTH_SCALE],
            Family::RationalQuadratic => &[LENGTH_SCALE, (Key::Shape, Meaning::Positive)],
            Family::Periodic => &[LENGTH_SCALE, (Key::Period, Meaning::Positive)],
            Family::Polynomial => &[DEGREE, (Key::Offset, Meaning::Positive)],
            Family::Constant => &[],
            Family::Network => &[
                (Key::Weight, Meaning::Positive),
                (Key::Bias, Meaning::Positive),
            ],
            Family::Basis => &[
                (Key::Functions, Meaning::Word(BASIS_FUNCTIONS)),
                DEGREE,
                (
                    Key::Count,
                    Meaning::Whole {
                        least: 1,
                        most: 500,
                    },
                ),
                (Key::Period, Meaning::ChosenPositive),
                (Key::Centres, Meaning::ChosenSigned),
                (Key::Width, Meaning::ChosenPositive),
            ],
            Family::Category => &[
                (Key::Rank, Meaning::Whole { least: 1, most: 32 }),
                LENGTH_SCALE,
                (Key::Embedding, Meaning::Signed),
                (Key::Kappa, Meaning::Positive),
            ],
        }
    }

    /// What a key may hold in this family, if it takes the key at all.
    pub fn meaning(self, key: Key) -> Option<Meaning> {
        self.keys()
            .iter()
            .find(|(known, _)| *known == key)
            .map(|(_, meaning)| *meaning)
    }

    /// True when `ard` gives it one length scale per column.
    pub fn takes_ard(self) -> bool {
        self.meaning(Key::LengthScale).is_some()
    }

    /// True when it reads columns at all.
    pub fn takes_columns(self) -> bool {
        self != Family::Constant
    }
}

impl Key {
    const ALL: [Key; 14] = [
        Key::Functions,
        Key::Degree,
        Key::Count,
        Key::Rank,
        Key::LengthScale,
        Key::Shape,
        Key::Period,
        Key::Offset,
        Key::Weight,
        Key::Bias,
        Key::Centres,
        Key::Width,
        Key::Embedding,
        Key::Kappa,
    ];

    /// Its name in the text form and in the names of parameters.
    pub fn name(self) -> &'static str {
        match self {
            Key::Functions => "functions",
            Key::Degree => "degree",
            Key::Count => "count",
            Key::Rank => "rank",
            Key::LengthScale => "length_scale",
            Key::Shape => "shape",
            Key::Period => "period",
            Key::Offset => "offset",
            Key::Weight => "weight",
            Key::Bias => "bias",
            Key::Centres => "centres",
            Key::Width => "width",
            Key::Embedding => "embedding",
            Key::Kappa => "kappa",
        }
    }

    /// The key of a name.
    pub fn from_name(name: &str) -> Option<Key> {
        Key::ALL.into_iter().find(|key| key.name() == name)
    }
}
