//! What derivatives at the nominal parameters say.

use crate::{
    report::{
        document::number::{NONE, number},
        fit::{document::Piece, rows::ReportTable},
    },
    sensitivity::{local::Fisher, result::Sensitivity},
};

/// How many combinations the measurements do not see. Which ones is a matter of choice: any mixture of them is
/// not seen either.
pub(crate) fn unseen(fisher: &Fisher) -> Option<String> {
    match fisher
        .combinations
        .iter()
        .filter(|c| c.error.is_none())
        .count()
    {
        0 => None,
        1 => fisher.combinations.last().map(|c| c.words.clone()),
        n => Some(format!(
            "{n} further combinations are not seen at all by these measurements"
        )),
    }
}

pub(super) fn local(result: &Sensitivity) -> Option<Vec<Piece>> {
    let local = result.local.as_ref()?;
    let mut blocks = Vec::new();
    if let Some(fisher) = &local.fisher {
        blocks.push(Piece::Text(
            "Combinations of parameters that the measurements see, from stiff (well known) to sloppy (hardly seen): eigenvectors of the Fisher information of the logarithms.".into(),
        ));
        let seen = fisher
            .combinations
            .iter()
            .filter_map(|c| Some((c, c.error?)));
        let rows =
            seen.map(|(c, error)| vec![number(c.eigenvalue), number(error), c.words.clone()]);
        blocks.push(Piece::Table(ReportTable::new(
            "#eigenvalue; #standard error of the logarithm; combination",
            rows,
        )));
        blocks.extend(unseen(fisher).map(|text| Piece::Text(format!("{text}."))));
    }
    let readings = (0..result.outputs.len()).filter(|i| result.outputs[*i].place.is_none());
    let rows: Vec<Vec<String>> = readings
        .filter(|i| local.elasticities[*i].iter().any(Option::is_some))
        .flat_map(|i| {
            let each = result.factors.iter().enumerate();
            each.map(move |(k, f)| {
                let text = |v: Option<f64>| v.map_or(NONE.into(), number);
                vec![
                    result.outputs[i].name.clone(),
                    f.name.clone(),
                    text(local.slopes[i][k]),
                    text(local.elasticities[i][k]),
                ]
            })
        })
        .collect();
    if !rows.is_empty() {
        blocks.push(Piece::Text(
            "Exact derivatives of the readings; indices.csv has those along the curves.".into(),
        ));
        blocks.push(Piece::Table(ReportTable::new(
            "reading; @parameter; #slope; #elasticity",
            rows,
        )));
    }
    Some(blocks)
}
