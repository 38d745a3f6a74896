//! `quorate completions`: what a shell needs to complete our commands.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use serde::Serialize;

use crate::arguments::Arguments;
use crate::failure::Result;
use crate::text::Console;

/// Print the completion script of a shell
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  quorate completions bash > ~/.local/share/bash-completion/completions/quorate
  quorate completions zsh > \"${fpath[1]}/_quorate\"
  quorate completions fish > ~/.config/fish/completions/quorate.fish")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

#[derive(Serialize)]
struct Report {
    shell: String,
    script: String,
}

impl Completions {
    pub fn run(self, console: &Console) -> Result<()> {
        let mut bytes = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "quorate", &mut bytes);
        let script = String::from_utf8_lossy(&bytes).into_owned();
        if console.json {
            let shell = self.shell.to_string();
            return console.json(&Report { shell, script });
        }
        console.raw(&script)
    }
}
