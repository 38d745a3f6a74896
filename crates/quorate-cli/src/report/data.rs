//! The numbers of the page for programs.

use quorate::Inspection;
use quorate::diagnose::{Account, Answerers, Diagnosis, PartShare};
use serde::Serialize;

use super::card::Shown;
use super::{Kind, Page};

#[derive(Serialize)]
struct Data<'a> {
    model: String,
    data: Option<String>,
    scored: &'static str,
    scores: Option<Shown<'a>>,
    diagnosis: Option<&'a Diagnosis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<&'a Account>,
    parts: &'a [PartShare],
    not_shown: Vec<String>,
    notes: &'a [String],
    inspection: &'a Inspection,
}

/// An element that is not shown and not executed. `<` is written as an escape, so that no name can end the element.
pub fn block(page: &Page<'_>) -> String {
    let parts: &[PartShare] = match page.answerers {
        Answerers::Landmarks { parts, .. } => parts,
        _ => &[],
    };
    let data = Data {
        model: page.model.display().to_string(),
        data: page.data.map(|path| path.display().to_string()),
        scored: match page.kind() {
            Kind::Table => "table",
            Kind::LeaveOneOut => "leave-one-out",
            Kind::HeldOut => "held-out",
        },
        scores: Shown::of(page),
        diagnosis: page.diagnosis,
        account: page.account,
        parts,
        not_shown: page.not_shown(),
        notes: page.notes,
        inspection: page.inspection,
    };
    // Numbers, strings and lists always have a JSON form.
    let json = serde_json::to_string(&data).unwrap_or_else(|_| "null".to_owned());
    format!(
        "<script type=\"application/json\" id=\"quorate-report\">\n{}\n</script>\n",
        json.replace('<', "\\u003c")
    )
}
