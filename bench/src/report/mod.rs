//! The report: a page for people, JSON for programs, SVG for both.

mod chart;
mod markdown;
mod plots;
mod targets;

use std::{fs, path::Path};

use anyhow::Result;

use crate::session::Findings;

/// Writes `report.md`, `report.json` and the plots.
pub(crate) fn write(findings: &Findings, out: &Path) -> Result<()> {
    fs::create_dir_all(out)?;
    fs::write(out.join("report.json"), serde_json::to_vec_pretty(findings)?)?;
    let plots = plots::all(findings);
    for plot in &plots {
        fs::write(out.join(plot.file), &plot.svg)?;
    }
    fs::write(out.join("report.md"), markdown::page(findings, &plots))?;
    Ok(())
}
