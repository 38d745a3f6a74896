//! A directed graph: layers from top to bottom, exogenous columns first.

use quorate::network::Graph;

use super::text::{escape, push, shortened};

/// Width and height of a box, and the room around it.
const BOX: (f64, f64) = (132.0, 36.0);
const ROOM: (f64, f64) = (36.0, 64.0);
const STYLE: &str =
    "    text { font: 13px system-ui, sans-serif; fill: #333a44; text-anchor: middle; }
    .page { fill: #ffffff; }
    .node { fill: #eaf2fb; stroke: #1f66b8; stroke-width: 1.5; }
    .given { fill: #f4f5f7; stroke: #7a828e; stroke-dasharray: 5 3; }
    .edge { fill: none; stroke: #5c6672; stroke-width: 1.5; }
    @media screen and (prefers-color-scheme: dark) {
      text { fill: #d5dbe3; } .page { fill: #16191e; } .node { fill: #1d2a3a; stroke: #7db8ff; }
      .given { fill: #22262c; stroke: #9aa3af; } .edge { stroke: #9aa3af; }
    }";

/// The graph as a complete SVG document.
pub fn graph(graph: &Graph) -> quorate::Result<String> {
    let layers = graph.layers()?;
    let above = usize::from(!graph.exogenous.is_empty());
    let mut rows: Vec<Vec<&str>> = vec![Vec::new(); above];
    if let Some(first) = rows.first_mut() {
        first.extend(graph.exogenous.iter().map(String::as_str));
    }
    for (name, layer) in graph.variables().zip(&layers) {
        while rows.len() <= above + layer {
            rows.push(Vec::new());
        }
        rows[above + layer].push(name);
    }
    let widest = rows.iter().map(Vec::len).max().unwrap_or(1).max(1) as f64;
    let width = widest * (BOX.0 + ROOM.0) + ROOM.0;
    let height = rows.len() as f64 * (BOX.1 + ROOM.1) + ROOM.0;
    let place = |name: &str| -> Option<(f64, f64)> {
        let row = rows.iter().position(|row| row.contains(&name))?;
        let column = rows[row].iter().position(|own| *own == name)?;
        let used = rows[row].len() as f64 * (BOX.0 + ROOM.0);
        let left = (width - used) / 2.0 + (column as f64 + 0.5) * (BOX.0 + ROOM.0);
        Some((left, ROOM.0 + row as f64 * (BOX.1 + ROOM.1) + BOX.1 / 2.0))
    };
    let mut svg = String::new();
    push(
        &mut svg,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">"
        ),
    );
    push(
        &mut svg,
        format_args!(
            "  <title>Network of {} columns</title>",
            graph.parents.len()
        ),
    );
    push(&mut svg, format_args!("  <style>\n{STYLE}\n  </style>"));
    push(
        &mut svg,
        format_args!(
            "  <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"#5c6672\"/></marker></defs>"
        ),
    );
    push(
        &mut svg,
        format_args!("  <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>"),
    );
    for (child, parents) in &graph.parents {
        for parent in parents {
            let (Some(from), Some(to)) = (place(parent), place(child)) else {
                continue;
            };
            push(
                &mut svg,
                format_args!(
                    "  <path class=\"edge\" marker-end=\"url(#tip)\" d=\"{}\"/>",
                    path(from, to)
                ),
            );
        }
    }
    let named = graph.exogenous.iter().map(|name| (name.as_str(), " given"));
    for (name, class) in named.chain(graph.variables().map(|name| (name, ""))) {
        let Some((x, y)) = place(name) else { continue };
        push(
            &mut svg,
            format_args!(
                "  <rect class=\"node{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{}\" height=\"{}\" rx=\"8\"/>",
                x - BOX.0 / 2.0,
                y - BOX.1 / 2.0,
                BOX.0,
                BOX.1
            ),
        );
        let shown = escape(&shortened(name, 17));
        push(
            &mut svg,
            format_args!("  <text x=\"{x:.1}\" y=\"{:.1}\">{shown}</text>", y + 4.5),
        );
    }
    push(&mut svg, format_args!("</svg>"));
    Ok(svg)
}

/// From the rim of one box to the rim of another; around the boxes between where they are in one row.
fn path(from: (f64, f64), to: (f64, f64)) -> String {
    let half = BOX.1 / 2.0;
    if (from.1 - to.1).abs() < half {
        // Two arrows between the same boxes bend to different sides.
        let side = if from.0 < to.0 { -1.0 } else { 1.0 };
        let bend = from.1 + side * (half + 0.18 * (from.0 - to.0).abs().min(200.0));
        let rim = from.1 + side * half;
        return format!(
            "M{:.1} {rim:.1} Q{:.1} {bend:.1} {:.1} {rim:.1}",
            from.0,
            (from.0 + to.0) / 2.0,
            to.0
        );
    }
    let down = if from.1 < to.1 { 1.0 } else { -1.0 };
    let (start, end) = (from.1 + down * half, to.1 - down * half);
    let middle = (start + end) / 2.0;
    format!(
        "M{:.1} {start:.1} C{:.1} {middle:.1} {:.1} {middle:.1} {:.1} {end:.1}",
        from.0, from.0, to.0, to.0
    )
}
