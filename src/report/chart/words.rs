//! Text from outside, and how much room text takes.

use super::super::harmless::{in_page, letter, shortened};

/// Longest name that is shown.
const NAME: usize = 120;

/// A name from outside as it may be shown: without characters that steer, and not longer than anybody reads. Escaping is the
/// template's matter.
pub(in crate::report) fn shown(name: &str) -> String {
    shortened(name.chars().map(letter), NAME)
}

/// The same of a sentence, in which names may stand.
pub(in crate::report) fn shown_sentence(text: &str) -> String {
    in_page(text)
}

/// Fewest letters that are left of a word: its first, its last, and what stands for the others.
const LEAST: usize = 3;

/// A name in the room for so many characters. Its longest words lose their middles first: a row's name is that of a target and
/// that of a document, and to cut either off would make rows alike.
pub(super) fn fitted(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    // Dots are as wide as two letters.
    let most = most.saturating_sub(1);
    let words: Vec<&str> = name.split(' ').collect();
    let long = |at_most: usize| words.iter().map(|word| word.chars().count().min(at_most) + 1).sum::<usize>() - 1;
    match (LEAST..=most).rev().find(|at_most| long(*at_most) <= most) {
        Some(at_most) => words.iter().map(|word| without_middle(word, at_most)).collect::<Vec<_>>().join(" "),
        None => without_middle(name, most),
    }
}

/// Names of a family (`server-with-tls`, `server-without`) share their beginnings and differ in their ends.
fn without_middle(word: &str, most: usize) -> String {
    let letters: Vec<char> = word.chars().collect();
    if letters.len() <= most {
        return word.to_owned();
    }
    let kept = most.saturating_sub(1);
    let end = kept / 2;
    let (first, last) = (&letters[..kept - end], &letters[letters.len() - end..]);
    first.iter().chain(&['…']).chain(last).collect()
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
    fn rows_are_told_apart_where_there_is_little_room() {
        let rows = ["tomcat 7.5m.html short", "tomcat 7.5m.html keep-alive"].map(|row| format!("quintain-{row}"));
        assert_eq!(rows.map(|row| fitted(&row, 24)), ["quin…cat 7.5m…tml short", "qui…cat 7.5…tml kee…ive"]);
        let rows = [1, 2].map(|at| format!("target-with-a-very-long-name-number-{at} 1k.html short"));
        assert_eq!(rows.map(|row| fitted(&row, 25)), ["targe…er-1 1k.html short", "targe…er-2 1k.html short"]);
        assert_eq!([fitted("a b c d e f", 6), fitted("a b c", 0)], ["a … f", "…"]);
    }

    #[test]
    fn long_texts_end_in_dots() {
        assert_eq!(shown(&"x".repeat(400)).chars().count(), 120);
        assert_eq!(shown_sentence(&"x".repeat(5000)).chars().count(), 4000);
        assert_eq!([fitted("tomcat-bio", 10), fitted("tomcat-bios", 10)], ["tomcat-bio", "tomc…bios"]);
    }
}
