//! The style sheet: `style/main.css` with everything it imports, in one minified file.

use std::path::Path;

use anyhow::{Result, anyhow};
use lightningcss::bundler::{Bundler, FileProvider};
use lightningcss::stylesheet::{MinifyOptions, ParserOptions, PrinterOptions};

/// Bundles and minifies. A mistake in the CSS fails the build: a browser would only skip the rule.
pub(super) fn bundle(main: &Path) -> Result<String> {
    let files = FileProvider::new();
    let mut bundler = Bundler::new(&files, None, ParserOptions::default());
    let mut sheet = bundler
        .bundle(main)
        .map_err(|error| anyhow!("{}: {error}", main.display()))?;
    sheet
        .minify(MinifyOptions::default())
        .map_err(|error| anyhow!("{}: {error}", main.display()))?;
    let printed = sheet.to_css(PrinterOptions {
        minify: true,
        ..PrinterOptions::default()
    });
    Ok(printed
        .map_err(|error| anyhow!("{}: {error}", main.display()))?
        .code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_bundled_in_their_layers() {
        let dir = tempfile::tempdir().unwrap();
        let main = dir.path().join("main.css");
        std::fs::write(
            &main,
            "@layer tokens, base;\n@import url('tokens.css') layer(tokens);",
        )
        .unwrap();
        std::fs::write(dir.path().join("tokens.css"), ":root {\n  --gap: 8px;\n}\n").unwrap();
        let css = bundle(&main).unwrap();
        assert_eq!(css, "@layer tokens{:root{--gap:8px}}@layer base;");
    }

    #[test]
    fn a_mistake_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let main = dir.path().join("main.css");
        std::fs::write(&main, "a { color: }} b").unwrap();
        assert!(bundle(&main).is_err());
        std::fs::write(&main, "@import 'nowhere.css';").unwrap();
        assert!(bundle(&main).is_err());
    }
}
