//! Text from outside, and how much room text takes.

/// Longest name that is shown.
const NAME: usize = 120;
/// Longest sentence that is shown.
const SENTENCE: usize = 4000;

/// A name from outside as it may be shown: without characters that steer, and not longer than anybody reads. Escaping is the
/// template's matter.
pub(in crate::report) fn shown(name: &str) -> String {
    shortened(name.chars().map(harmless), NAME)
}

/// The same of a sentence, in which names may stand.
pub(in crate::report) fn shown_sentence(text: &str) -> String {
    shortened(text.chars().map(harmless), SENTENCE)
}

/// What steers a terminal, an XML reader, or the direction of what follows is shown as what it is not.
fn harmless(c: char) -> char {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_no_xml = matches!(c, '\u{fffe}' | '\u{ffff}');
    if c.is_control() || turns || is_no_xml { char::REPLACEMENT_CHARACTER } else { c }
}

/// A name in the room for so many characters.
pub(super) fn fitted(name: &str, most: usize) -> String {
    shortened(name.chars(), most)
}

fn shortened(text: impl Iterator<Item = char>, most: usize) -> String {
    let mut text = text.peekable();
    let mut short: String = text.by_ref().take(most).collect();
    if text.peek().is_some() {
        short.pop();
        short.push('…');
    }
    short
}

/// About how many pixels a text of 12 pixels takes: nobody knows the font.
pub(super) fn width(text: &str) -> i32 {
    text.chars().count() as i32 * 7
}

/// How many characters have room in so many pixels.
pub(super) fn characters_in(pixels: i32) -> usize {
    usize::try_from(pixels / 7).unwrap_or(0).max(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_shown_as_what_it_is_not() {
        assert_eq!(shown("a\u{202e}b\u{1b}[31mc\0"), "a\u{fffd}b\u{fffd}[31mc\u{fffd}");
        assert_eq!(shown("nginx/1.26 (Ünïcode)"), "nginx/1.26 (Ünïcode)");
    }

    #[test]
    fn long_texts_end_in_dots() {
        assert_eq!(shown(&"x".repeat(400)).chars().count(), 120);
        assert_eq!(shown_sentence(&"x".repeat(5000)).chars().count(), 4000);
        assert_eq!([fitted("tomcat-bio", 10), fitted("tomcat-bios", 10)], ["tomcat-bio", "tomcat-bi…"]);
    }
}
