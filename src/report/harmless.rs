//! Text from outside, without what steers: names come from plans, versions from servers, records from whoever sent the folder.

/// Longest sentence that is shown.
const SENTENCE: usize = 4000;

/// A text of several lines for a terminal.
#[must_use]
pub fn text(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { letter(c) }).collect()
}

/// A sentence for a terminal: one line, and not longer than anybody reads. Parsers break their lines, which is no attack, so a
/// newline becomes a space.
#[must_use]
pub fn sentence(text: &str) -> String {
    shortened(text.trim_end().chars().map(|c| if c == '\n' { ' ' } else { letter(c) }), SENTENCE)
}

/// The same for a page, whose template escapes: there a newline is as odd as any other of its kind.
pub(super) fn in_page(text: &str) -> String {
    shortened(text.chars().map(letter), SENTENCE)
}

/// What steers a terminal, an XML reader, or the direction of what follows is shown as what it is not.
pub(super) fn letter(c: char) -> char {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_no_xml = matches!(c, '\u{fffe}' | '\u{ffff}');
    if c.is_control() || turns || is_no_xml { char::REPLACEMENT_CHARACTER } else { c }
}

/// Its beginning, with dots where something is left out.
pub(super) fn shortened(text: impl Iterator<Item = char>, most: usize) -> String {
    let mut text = text.peekable();
    let mut short: String = text.by_ref().take(most).collect();
    if text.peek().is_some() {
        short.pop();
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_one_line_of_what_it_says() {
        assert_eq!(sentence("x\u{1b}[31m\nforged\u{7}\u{202e}\n"), "x\u{fffd}[31m forged\u{fffd}\u{fffd}");
        assert_eq!(sentence(&"x".repeat(5000)).chars().count(), SENTENCE);
    }

    #[test]
    fn a_text_keeps_its_lines_and_nothing_else_that_steers() {
        assert_eq!(text("a\u{202e}b\nc\td"), "a\u{fffd}b\nc\u{fffd}d");
    }
}
