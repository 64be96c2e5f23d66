//! Two kinds of chart as SVG text: bars, and lines over a plane.

use std::fmt::Write;

const WIDTH: f64 = 760.0;
const COLOURS: [&str; 7] = [
    "#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed", "#0891b2", "#be185d",
];

/// A line with its name.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
}

/// How an axis counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    /// For values from 0.01 up that span magnitudes.
    Logarithmic,
}

impl Scale {
    fn place(self, value: f64, least: f64, most: f64) -> f64 {
        match self {
            Self::Linear => (value - least) / (most - least).max(1e-12),
            Self::Logarithmic => (value.max(least) / least).ln() / (most / least).ln().max(1e-12),
        }
    }

    fn ticks(self, least: f64, most: f64) -> Vec<f64> {
        match self {
            Self::Linear => (0..=5)
                .map(|n| least + (most - least) * f64::from(n) / 5.0)
                .collect(),
            Self::Logarithmic => {
                let decades = (-3..=9).map(|n| 10_f64.powi(n));
                decades.filter(|tick| (least..=most).contains(tick)).collect()
            }
        }
    }
}

/// Horizontal bars, the longest first or in the given order; `unit` stands behind each value.
pub(super) fn bars(title: &str, unit: &str, scale: Scale, values: &[(String, f64)]) -> String {
    const ROW: f64 = 26.0;
    const LEFT: f64 = 250.0;
    #[expect(clippy::cast_precision_loss, reason = "a few rows")]
    let height = 50.0 + ROW * values.len() as f64;
    let most = values.iter().map(|(_, value)| *value).fold(1.0, f64::max);
    let least = if scale == Scale::Linear { 0.0 } else { 1.0 };
    let mut svg = open(title, height);
    for (row, (name, value)) in values.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "a few rows")]
        let y = 40.0 + ROW * row as f64;
        let length = scale.place(*value, least, most) * (WIDTH - LEFT - 110.0);
        let colour = COLOURS[if name.starts_with("ours") { 2 } else { 0 }];
        let _ = write!(
            svg,
            "<text x='{}' y='{}' text-anchor='end'>{}</text>\
             <rect x='{LEFT}' y='{y}' width='{length:.1}' height='18' fill='{colour}'/>\
             <text x='{:.1}' y='{}'>{} {unit}</text>",
            LEFT - 8.0,
            y + 14.0,
            escaped(name),
            LEFT + length + 6.0,
            y + 14.0,
            short(*value),
        );
    }
    svg + "</svg>\n"
}

/// Lines over a plane.
pub(super) fn lines(title: &str, x_name: &str, y_name: &str, y_scale: Scale, lines: &[Line]) -> String {
    const HEIGHT: f64 = 380.0;
    const LEFT: f64 = 70.0;
    const TOP: f64 = 50.0;
    const RIGHT: f64 = 200.0;
    const BOTTOM: f64 = 50.0;
    let all = || lines.iter().flat_map(|line| &line.points);
    let most_x = all().map(|point| point.0).fold(1e-9, f64::max);
    let most_y = all().map(|point| point.1).fold(1e-9, f64::max);
    let least_y = match y_scale {
        Scale::Linear => 0.0,
        Scale::Logarithmic => all().map(|point| point.1).fold(most_y, f64::min).max(0.01),
    };
    let x = |value: f64| LEFT + Scale::Linear.place(value, 0.0, most_x) * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| HEIGHT - BOTTOM - y_scale.place(value, least_y, most_y) * (HEIGHT - TOP - BOTTOM);
    let mut svg = open(title, HEIGHT);
    for tick in y_scale.ticks(least_y, most_y) {
        let _ = write!(
            svg,
            "<path d='M{LEFT} {0:.1}H{1}' stroke='#ddd'/><text x='{2}' y='{3:.1}' text-anchor='end'>{4}</text>",
            y(tick),
            WIDTH - RIGHT,
            LEFT - 6.0,
            y(tick) + 4.0,
            short(tick)
        );
    }
    for tick in Scale::Linear.ticks(0.0, most_x) {
        let _ = write!(
            svg,
            "<text x='{:.1}' y='{}' text-anchor='middle'>{}</text>",
            x(tick),
            HEIGHT - BOTTOM + 18.0,
            short(tick)
        );
    }
    let _ = write!(
        svg,
        "<text x='{}' y='{}' text-anchor='middle'>{}</text><text x='6' y='{}'>{}</text>",
        f64::midpoint(LEFT, WIDTH - RIGHT),
        HEIGHT - 10.0,
        escaped(x_name),
        TOP - 6.0,
        escaped(y_name)
    );
    for (number, line) in lines.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let path: Vec<String> = line
            .points
            .iter()
            .map(|(px, py)| format!("{:.1},{:.1}", x(*px), y(*py)))
            .collect();
        #[expect(clippy::cast_precision_loss, reason = "a few lines")]
        let legend = TOP + 20.0 * number as f64;
        let _ = write!(
            svg,
            "<polyline points='{}' fill='none' stroke='{colour}' stroke-width='2'/>\
             <rect x='{}' y='{legend}' width='12' height='12' fill='{colour}'/><text x='{}' y='{}'>{}</text>",
            path.join(" "),
            WIDTH - RIGHT + 12.0,
            WIDTH - RIGHT + 30.0,
            legend + 11.0,
            escaped(&line.name)
        );
    }
    svg + "</svg>\n"
}

fn open(title: &str, height: f64) -> String {
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' font-family='sans-serif' font-size='12'>\
         <rect width='100%' height='100%' fill='white'/><text x='12' y='22' font-size='15'>{}</text>",
        escaped(title)
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// A number in few digits.
pub(super) fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 100_000.0 => format!("{:.0}k", value / 1000.0),
        v if v >= 1000.0 => format!("{:.1}k", value / 1000.0),
        v if v >= 10.0 || v == 0.0 => format!("{value:.0}"),
        v if v >= 1.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_are_whole_even_of_nothing() {
        let line = Line {
            name: "a<b".into(),
            points: vec![(1.0, 2.0), (3.0, 40.0)],
        };
        for svg in [
            bars("t", "/s", Scale::Linear, &[]),
            bars(
                "t",
                "/s",
                Scale::Logarithmic,
                &[("a".into(), 0.0), ("b".into(), 5e4)],
            ),
            lines("t", "x", "y", Scale::Linear, &[]),
            lines("t", "x", "y", Scale::Logarithmic, &[line]),
        ] {
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
            assert!(
                !svg.contains("NaN") && !svg.contains("inf") && !svg.contains("a<b"),
                "{svg}"
            );
        }
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0.0, 0.123, 5.25, 42.4, 1234.0, 123_456.0].map(short),
            ["0", "0.12", "5.2", "42", "1.2k", "123k"]
        );
    }
}
