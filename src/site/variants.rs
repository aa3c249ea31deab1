//! Precompressed neighbours and Accept-Encoding.

/// A coding in which a neighbour may hold the document: `page.html.br` beside `page.html`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Brotli,
    Zstd,
    Gzip,
}

impl Coding {
    /// In the order in which they are preferred where the client has no preference.
    pub const ALL: [Coding; 3] = [Coding::Brotli, Coding::Zstd, Coding::Gzip];

    /// What is appended to the document's name.
    pub fn suffix(self) -> &'static [u8] {
        match self {
            Coding::Brotli => b".br",
            Coding::Zstd => b".zst",
            Coding::Gzip => b".gz",
        }
    }

    /// The name of the coding in Accept-Encoding and Content-Encoding.
    pub fn token(self) -> &'static str {
        match self {
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
            Coding::Gzip => "gzip",
        }
    }
}

/// The coding to send, out of those that `is_available`; `None` is the document as it is.
///
/// That is also the answer where the client refuses everything there is: RFC 9110, section 12.5.3, leaves 406 as a
/// choice, and a client that sends `identity;q=0` is better served by a page than by an error.
pub(super) fn choose(accept: Option<&[u8]>, is_available: impl Fn(Coding) -> bool) -> Option<Coding> {
    let accepted = Accepted::parse(accept?);
    let mut best = None;
    let mut best_weight = accepted.identity_weight().max(1);
    // From the last to the first, so that of equals the preferred one stays.
    for coding in Coding::ALL.into_iter().rev().filter(|&coding| is_available(coding)) {
        let weight = accepted.weight(coding);
        if weight >= best_weight {
            (best, best_weight) = (Some(coding), weight);
        }
    }
    best
}

/// A qvalue in thousandths.
type Weight = u16;

/// The weights that a client gave, as far as they matter here.
#[derive(Debug, Default)]
struct Accepted {
    codings: [Option<Weight>; Coding::ALL.len()],
    identity: Option<Weight>,
    any_other: Option<Weight>,
}

impl Accepted {
    /// A member with a malformed weight is ignored, and with it the coding.
    fn parse(accept: &[u8]) -> Self {
        let mut accepted = Accepted::default();
        for member in accept.split(|&byte| byte == b',') {
            let mut parameters = member.splitn(2, |&byte| byte == b';').map(<[u8]>::trim_ascii);
            let name = parameters.next().unwrap_or_default();
            if let (Some(place), Some(weight)) =
                (accepted.place(name), parameters.next().map_or(Some(1000), parse_weight))
            {
                *place = Some(weight);
            }
        }
        accepted
    }

    fn place(&mut self, name: &[u8]) -> Option<&mut Option<Weight>> {
        if name == b"*" {
            return Some(&mut self.any_other);
        }
        if name.eq_ignore_ascii_case(b"identity") {
            return Some(&mut self.identity);
        }
        // RFC 9110, section 8.4.1.3: `x-gzip` is an alias.
        let name = if name.eq_ignore_ascii_case(b"x-gzip") { b"gzip" } else { name };
        let coding = Coding::ALL.into_iter().find(|coding| name.eq_ignore_ascii_case(coding.token().as_bytes()))?;
        Some(&mut self.codings[coding as usize])
    }

    fn weight(&self, coding: Coding) -> Weight {
        self.codings[coding as usize].or(self.any_other).unwrap_or(0)
    }

    /// Where the client does not mention it, the plain document is acceptable and nothing prefers it.
    fn identity_weight(&self) -> Weight {
        self.identity.or(self.any_other).unwrap_or(0)
    }
}

/// `q=0.5`, as RFC 9110, section 12.4.2, writes it: at most three decimals, at most 1.
fn parse_weight(parameter: &[u8]) -> Option<Weight> {
    let [b'q' | b'Q', b'=', whole @ (b'0' | b'1'), fraction @ ..] = parameter else {
        return None;
    };
    let decimals = match fraction {
        [] => fraction,
        [b'.', decimals @ ..] if decimals.len() <= 3 => decimals,
        _ => return None,
    };
    let mut weight = Weight::from(whole - b'0');
    for place in 0..3 {
        let digit = decimals.get(place).copied().unwrap_or(b'0');
        weight = weight * 10 + char::from(digit).to_digit(10)? as Weight;
    }
    (weight <= 1000).then_some(weight)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_best_acceptable_coding_is_chosen() {
        use Coding::{Brotli, Gzip, Zstd};
        let all: &[Coding] = &Coding::ALL;
        let table: &[(Option<&str>, &[Coding], Option<Coding>)] = &[
            (None, all, None),
            (Some(""), all, None),
            (Some("identity"), all, None),
            (Some("gzip"), all, Some(Gzip)),
            (Some("gzip"), &[Brotli, Zstd], None),
            (Some("gzip"), &[], None),
            (Some("x-gzip"), all, Some(Gzip)),
            (Some("GZip, BR"), all, Some(Brotli)),
            (Some("gzip, deflate, br, zstd"), all, Some(Brotli)),
            (Some("gzip, deflate, br, zstd"), &[Zstd, Gzip], Some(Zstd)),
            (Some("gzip, deflate, br, zstd"), &[Gzip], Some(Gzip)),
            (Some("deflate"), all, None),
            (Some("br;q=0.5, gzip;q=0.8"), all, Some(Gzip)),
            (Some("br;q=0.5,gzip;q=0.500"), all, Some(Brotli)),
            (Some("br ; q=0.5 , gzip ;q=0.501"), all, Some(Gzip)),
            (Some("gzip;Q=0.5"), all, Some(Gzip)),
            (Some("gzip;q=1.000"), all, Some(Gzip)),
            (Some("gzip;q=0.001"), all, Some(Gzip)),
            (Some("gzip;q=0"), all, None),
            (Some("gzip;q=0.000"), all, None),
            (Some("br;q=0, gzip"), all, Some(Gzip)),
            (Some("*"), all, Some(Brotli)),
            (Some("*;q=0"), all, None),
            (Some("*;q=0.5, br;q=0"), all, Some(Zstd)),
            (Some("gzip;q=0.3, *;q=0.5"), &[Gzip], None),
            (Some("gzip;q=0.5, *;q=0.5"), &[Gzip], Some(Gzip)),
            (Some("gzip;q=0.5, identity"), all, None),
            (Some("gzip;q=0.5, identity;q=0.4"), all, Some(Gzip)),
            (Some("identity;q=0"), all, None),
            (Some("identity;q=0, gzip;q=0.1"), all, Some(Gzip)),
            (Some("identity;q=0, *;q=0"), all, None),
            // Malformed members are ignored, the others count.
            (Some("br;q=2, gzip"), all, Some(Gzip)),
            (Some("br;q=1.001, gzip"), all, Some(Gzip)),
            (Some("br;q=0.1234, gzip"), all, Some(Gzip)),
            (Some("br;q=, gzip"), all, Some(Gzip)),
            (Some("br;q=0.x, gzip"), all, Some(Gzip)),
            (Some("br;level=9, gzip"), all, Some(Gzip)),
            (Some(",,;;, gzip"), all, Some(Gzip)),
            (Some("br gzip"), all, None),
        ];
        for (accept, available, expected) in table {
            let chosen = choose(accept.map(str::as_bytes), |coding| available.contains(&coding));
            assert_eq!(chosen, *expected, "{accept:?} of {available:?}");
        }
    }

    proptest! {
        #[test]
        fn only_what_is_available_and_accepted_is_chosen(
            accept in "((br|zstd|gzip|identity|\\*)(;q=[01](\\.[0-9]{0,4})?)?, ?){0,6}",
            mask in 0u8..8,
        ) {
            let is_available = |coding| mask & (1 << coding as u8) != 0;
            if let Some(coding) = choose(Some(accept.as_bytes()), is_available) {
                prop_assert!(is_available(coding));
                prop_assert!(accept.contains(coding.token()) || accept.contains('*'));
            }
        }

        #[test]
        fn no_line_is_too_strange(accept in proptest::collection::vec(any::<u8>(), 0..60)) {
            choose(Some(&accept), |_| true);
        }
    }
}
