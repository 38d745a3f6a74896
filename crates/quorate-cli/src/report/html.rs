//! Pieces of HTML.

use crate::plot::Figure;
use crate::plot::svg::{self, Ranked, escape};

/// A section with a heading; nothing when there is nothing in it.
pub fn section(title: &str, id: &str, content: &str) -> String {
    if content.is_empty() {
        return String::new();
    }
    format!(
        "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}</h2>\n{content}</section>\n",
        escape(title)
    )
}

/// Cards side by side.
pub fn cards(cards: &[String]) -> String {
    if cards.iter().all(String::is_empty) {
        return String::new();
    }
    format!("<div class=\"cards\">\n{}</div>\n", cards.concat())
}

/// A figure with its title and how to read it.
pub fn figure(figure: &Figure, how: &str) -> String {
    card("", &figure.title, how, &svg::inline(figure))
}

/// Named bars over the whole width, with their title and how to read them.
pub fn bars(ranked: &Ranked, how: &str) -> String {
    let class = " class=\"wide\"";
    card(class, &ranked.title, how, &svg::inline_bars(ranked))
}

fn card(class: &str, title: &str, how: &str, drawing: &str) -> String {
    format!(
        "<figure{class}>\n<figcaption><h3>{}</h3><p class=\"how\">{}</p></figcaption>\n{drawing}</figure>\n",
        escape(title),
        escape(how)
    )
}

/// A column of a table: its head, and whether it holds numbers.
pub type Head<'a> = (&'a str, bool);

/// A table in a card of half the page's width; the first cell of each row is its head.
pub fn table(caption: &str, heads: &[Head<'_>], rows: &[Vec<String>]) -> String {
    table_card("card scroll", caption, heads, rows)
}

/// The same over the whole width.
pub fn wide_table(caption: &str, heads: &[Head<'_>], rows: &[Vec<String>]) -> String {
    table_card("card scroll wide", caption, heads, rows)
}

fn table_card(classes: &str, caption: &str, heads: &[Head<'_>], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let class = |right: bool| if right { " class=\"right\"" } else { "" };
    let head: String = heads
        .iter()
        .map(|(name, right)| format!("<th scope=\"col\"{}>{}</th>", class(*right), escape(name)))
        .collect();
    let body: String = rows
        .iter()
        .map(|cells| {
            let cells: String = cells
                .iter()
                .zip(heads)
                .enumerate()
                .map(|(index, (cell, (_, right)))| match index {
                    0 => format!("<th scope=\"row\">{}</th>", escape(cell)),
                    _ => format!("<td{}>{}</td>", class(*right), escape(cell)),
                })
                .collect();
            format!("<tr>{cells}</tr>\n")
        })
        .collect();
    let head = if heads.iter().all(|(name, _)| name.is_empty()) {
        String::new()
    } else {
        format!("<thead><tr>{head}</tr></thead>\n")
    };
    format!(
        "<div class=\"{classes}\"><table>\n<caption>{}</caption>\n{head}<tbody>\n{body}</tbody>\n</table></div>\n",
        escape(caption)
    )
}
