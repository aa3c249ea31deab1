//! The command line, as records keep it.

use std::ffi::OsString;

use crate::load::url::Url;

/// What stands in place of a password.
const HIDDEN: &str = "***";

/// The words of the command line, from the program's name on, without passwords: records are kept and passed on.
pub fn command(words: impl Iterator<Item = OsString>) -> Vec<String> {
    let mut before = String::new();
    let shown = words.map(|word| {
        let word = word.to_string_lossy().into_owned();
        let shown = without_password(&before, &word);
        before = word;
        shown
    });
    shown.collect()
}

fn without_password(before: &str, word: &str) -> String {
    if before == "--user" {
        return HIDDEN.to_owned();
    }
    if word.starts_with("--user=") {
        return format!("--user={HIDDEN}");
    }
    // `-H LINE`, `-HLINE`, `--header LINE` and `--header=LINE`: the name is where the word ends or begins.
    if let Some((name, _)) = word.split_once(':').filter(|(name, _)| name.to_lowercase().ends_with("authorization")) {
        return format!("{name}: {HIDDEN}");
    }
    match Url::parse(word).ok().and_then(|url| url.credentials) {
        Some(credentials) => word.replacen(&credentials, HIDDEN, 1),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_kept() {
        let rows = [
            ("quintain load -n 5 http://h/", "quintain load -n 5 http://h/"),
            ("quintain load http://u:p@h/u:p", "quintain load http://***@h/u:p"),
            ("quintain load --user u:p http://h/", "quintain load --user *** http://h/"),
            ("quintain load --user=u:p http://h/", "quintain load --user=*** http://h/"),
            ("quintain load -H Authorization:x http://h/", "quintain load -H Authorization:_*** http://h/"),
            ("quintain load -Hauthorization:x http://h/", "quintain load -Hauthorization:_*** http://h/"),
            ("quintain load --header=Accept:x http://h/", "quintain load --header=Accept:x http://h/"),
        ];
        for (typed, kept) in rows {
            let kept: Vec<_> = kept.split(' ').map(|word| word.replace('_', " ")).collect();
            assert_eq!(command(typed.split(' ').map(OsString::from)), kept, "{typed}");
        }
    }
}
