//! One finding: a value, what it means for the connections, and how it could be changed.

/// How much a fact is in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Not at all.
    Ok,
    /// It may change what is measured.
    Look,
    /// It makes the connections impossible.
    Problem,
}

impl Mark {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Look => "look",
            Self::Problem => "problem",
        }
    }

    /// A look where the condition holds.
    pub(super) const fn look_if(condition: bool) -> Self {
        if condition { Self::Look } else { Self::Ok }
    }

    /// A problem where the condition holds.
    pub(super) const fn problem_if(condition: bool) -> Self {
        if condition { Self::Problem } else { Self::Ok }
    }
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) mark: Mark,
    /// The setting's own name where it has one, so that it can be searched for.
    pub(super) name: &'static str,
    pub(super) value: String,
    /// A sentence.
    pub(super) means: String,
    /// The command that would change it; nothing where nothing needs to be changed, or can.
    pub(super) change: Option<String>,
}

impl Fact {
    pub(super) fn new(mark: Mark, name: &'static str, value: impl ToString, means: impl Into<String>) -> Self {
        Self { mark, name, value: value.to_string(), means: means.into(), change: None }
    }

    /// With the command that changes it.
    pub(super) fn change(self, command: impl Into<String>) -> Self {
        Self { change: Some(command.into()), ..self }
    }

    /// What the kernel does not show is said to be unknown, and not guessed.
    pub(super) fn hidden(name: &'static str) -> Self {
        Self::new(Mark::Ok, name, "not shown", "this kernel or container does not show it.")
    }
}

/// The command for a setting of the kernel.
pub(super) fn sysctl(name: &str, value: impl ToString) -> String {
    format!("sysctl -w {name}={}", value.to_string())
}
