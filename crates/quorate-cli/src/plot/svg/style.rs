//! Colours and lines of figures.

/// Colours live in a style sheet so that a page's dark scheme can replace them; paper is always light.
pub const STYLE: &str = "\
    svg text { font: 13px system-ui, sans-serif; fill: #333a44; }
    svg .title { font-size: 16px; font-weight: 600; }
    svg .page { fill: #ffffff; }
    svg .grid { stroke: #e3e6ea; stroke-width: 1; }
    svg .axis { stroke: #8a93a0; stroke-width: 1; fill: none; }
    svg .band { fill: #4c8bd6; fill-opacity: 0.2; }
    svg .bar { fill: #4c8bd6; fill-opacity: 0.75; }
    svg .cell { fill: #4c8bd6; } svg .below { fill: #c4541c; }
    svg .line { fill: none; stroke: #1f66b8; stroke-width: 2; stroke-linejoin: round; }
    svg .dashes { fill: none; stroke: #7a828e; stroke-width: 1.5; stroke-dasharray: 6 4; }
    svg .point { fill: none; stroke: #c4541c; stroke-opacity: 0.7; stroke-width: 5; stroke-linecap: round; }
    svg .ring { fill: #ffffff; fill-opacity: 0.85; stroke: #1d2530; stroke-width: 2; }
    svg .few { stroke-width: 7; stroke-opacity: 0.9; }
    svg .small { stroke-width: 4; }
    svg .many { stroke-opacity: 0.4; stroke-width: 4; }
    svg .n0 { stroke: #1f66b8; } svg .n1 { stroke: #c4541c; } svg .n2 { stroke: #2f7d4f; }
    svg .n3 { stroke: #7a4fb0; } svg .n4 { stroke: #0f7f86; } svg .n5 { stroke: #b8336a; }
    svg .faint { stroke: #9aa3af; stroke-opacity: 0.45; }
    svg .s0 { stroke: #a9c9ea; } svg .s1 { stroke: #6ba3d6; } svg .s2 { stroke: #3c7ebf; }
    svg .s3 { stroke: #1d5a9c; } svg .s4 { stroke: #0b3563; }
    svg .shade { stroke-opacity: 0.9; }
    @media screen and (prefers-color-scheme: dark) {
      svg text { fill: #d5dbe3; }
      svg .page { fill: #16191e; }
      svg .grid { stroke: #2a3038; }
      svg .axis { stroke: #77808d; }
      svg .band, svg .bar { fill: #5fa2f0; }
      svg .cell { fill: #5fa2f0; } svg .below { fill: #ff9a62; }
      svg .line { stroke: #7db8ff; }
      svg .dashes { stroke: #9aa3af; }
      svg .point { stroke: #ff9a62; }
      svg .n0 { stroke: #7db8ff; } svg .n1 { stroke: #ff9a62; } svg .n2 { stroke: #77cf97; }
      svg .n3 { stroke: #bd9bf0; } svg .n4 { stroke: #5fd0d6; } svg .n5 { stroke: #f28ab2; }
      svg .ring { fill: #16191e; stroke: #ffffff; }
      svg .faint { stroke: #77808d; }
      svg .s0 { stroke: #2a4a70; } svg .s1 { stroke: #3a6ea8; } svg .s2 { stroke: #5695d8; }
      svg .s3 { stroke: #8fbff5; } svg .s4 { stroke: #d9eaff; }
    }";
