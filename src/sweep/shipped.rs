//! The plans that are built in: the files of `plans/`, so that a program that stands alone has them too.

/// A file of `plans/`.
#[derive(Debug, Clone, Copy)]
pub struct Shipped {
    /// The name of a plan, without `.toml`; of another file its whole name.
    pub name: &'static str,
    /// Its content.
    pub text: &'static str,
}

/// The plan that is run where nobody names one.
pub const USUAL: &str = "quick";

/// The plans, the usual one first.
pub const ALL: &[Shipped] = &[
    Shipped { name: "quick", text: include_str!("../../plans/quick.toml") },
    Shipped { name: "netty-tomcat", text: include_str!("../../plans/netty-tomcat.toml") },
    Shipped { name: "netty-tomcat-small", text: include_str!("../../plans/netty-tomcat-small.toml") },
    Shipped { name: "thousands", text: include_str!("../../plans/thousands.toml") },
    Shipped { name: "thousands-small", text: include_str!("../../plans/thousands-small.toml") },
    Shipped { name: "tomcat-nginx", text: include_str!("../../plans/tomcat-nginx.toml") },
    Shipped { name: "tomcat-nginx-small", text: include_str!("../../plans/tomcat-nginx-small.toml") },
    Shipped { name: "kernel", text: include_str!("../../plans/kernel.toml") },
    Shipped { name: "kernel-small", text: include_str!("../../plans/kernel-small.toml") },
    Shipped { name: "models", text: include_str!("../../plans/models.toml") },
    Shipped { name: "models-small", text: include_str!("../../plans/models-small.toml") },
    Shipped { name: "engine", text: include_str!("../../plans/engine.toml") },
    Shipped { name: "engine-small", text: include_str!("../../plans/engine-small.toml") },
];

/// The published figures.
pub const PUBLISHED: Shipped = Shipped { name: "published.csv", text: include_str!("../../plans/published.csv") };

/// The plan of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Shipped> {
    ALL.iter().find(|shipped| shipped.name == name)
}
