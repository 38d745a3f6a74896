//! A pseudo-terminal and a screen small enough to read: what a person would have seen.

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

use nix::pty::{Winsize, openpty};

/// What a command wrote to its terminal.
pub struct Seen {
    /// Exit code.
    pub code: Option<i32>,
    /// Every byte, in order, as text.
    pub raw: String,
}

/// Runs a command whose standard output and error are a terminal of the given width.
pub fn run(mut command: Command, width: u16) -> Seen {
    let size = Winsize {
        ws_row: 40,
        ws_col: width,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let pair = openpty(&size, None).expect("pseudo-terminal");
    let mut child = command
        .env("TERM", "xterm-256color")
        .stdout(Stdio::from(pair.slave.try_clone().expect("terminal")))
        .stderr(Stdio::from(pair.slave))
        .spawn()
        .expect("command");
    // The command object keeps the terminal open; without it the end of the child is the end of the text.
    drop(command);
    let mut raw = Vec::new();
    let mut master = File::from(pair.master);
    let mut buffer = [0; 4096];
    // Linux reports the end of a terminal as an error.
    while let Ok(count @ 1..) = master.read(&mut buffer) {
        raw.extend_from_slice(&buffer[..count]);
    }
    let status = child.wait().expect("end of the command");
    Seen {
        code: status.code(),
        raw: String::from_utf8_lossy(&raw).into_owned(),
    }
}

/// A screen of lines that understands what our output uses: carriage return, new line, cursor up, clear line, colours.
#[derive(Default)]
pub struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Screen {
    /// What is left on the screen at the end.
    pub fn after(raw: &str) -> Vec<String> {
        let mut screen = Screen::default();
        screen.feed(raw);
        screen.text()
    }

    /// Every different state of the line that is drawn over and over.
    pub fn drawn(raw: &str) -> Vec<String> {
        let mut states: Vec<String> = Vec::new();
        let mut screen = Screen::default();
        for piece in raw.split_inclusive('\r') {
            screen.feed(piece);
            let line = screen.text().get(screen.row).cloned().unwrap_or_default();
            if !line.is_empty() && states.last() != Some(&line) {
                states.push(line);
            }
        }
        states
    }

    fn text(&self) -> Vec<String> {
        let rows = self
            .lines
            .iter()
            .map(|line| line.iter().collect::<String>());
        rows.map(|line| line.trim_end().to_owned()).collect()
    }

    fn feed(&mut self, raw: &str) {
        let mut characters = raw.chars();
        while let Some(character) = characters.next() {
            match character {
                '\r' => self.column = 0,
                '\n' => self.row += 1,
                '\u{1b}' => {
                    let mut code = String::new();
                    // The bracket, parameters, and the letter that ends the sequence.
                    for character in characters.by_ref().skip(1) {
                        code.push(character);
                        if character.is_ascii_alphabetic() {
                            break;
                        }
                    }
                    self.control(&code);
                }
                other => self.put(other),
            }
        }
    }

    fn control(&mut self, code: &str) {
        let (number, letter) = code.split_at(code.len().saturating_sub(1));
        match letter {
            "A" => self.row = self.row.saturating_sub(number.parse().unwrap_or(1)),
            "K" if number == "2" => self.line().clear(),
            "K" => {
                let column = self.column;
                self.line().truncate(column);
            }
            _ => {}
        }
    }

    fn line(&mut self) -> &mut Vec<char> {
        while self.lines.len() <= self.row {
            self.lines.push(Vec::new());
        }
        &mut self.lines[self.row]
    }

    fn put(&mut self, character: char) {
        let column = self.column;
        let line = self.line();
        while line.len() <= column {
            line.push(' ');
        }
        line[column] = character;
        self.column += 1;
    }
}
