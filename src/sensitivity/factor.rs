//! What is varied in a study: parameters and groups of parameters.

use serde::{Deserialize, Serialize};

use super::distribution::Distribution;
use crate::error::{Result, bad_input, unknown};

/// A parameter that is varied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// Name, as in material files.
    pub name: String,
    /// The papers' symbol; the name where there is none.
    pub symbol: String,
    /// Unit in words.
    pub unit: String,
    /// How it is distributed.
    pub distribution: Distribution,
    /// Where local derivatives are taken.
    pub nominal: f64,
}

/// Parameters that are moved together; mostly one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// What it is called: its parameter's name where it has one.
    pub name: String,
    /// Places of its parameters.
    pub members: Vec<usize>,
}

/// Every factor in a group: those that are asked for, and one for each factor that is in none.
pub(crate) fn groups(factors: &[Factor], asked: &[(String, Vec<String>)]) -> Result<Vec<Group>> {
    let names: Vec<&str> = factors.iter().map(|f| f.name.as_str()).collect();
    let mut list: Vec<Group> = Vec::new();
    for (group, wanted) in asked {
        if names.contains(&group.as_str()) || list.iter().any(|g| g.name == *group) {
            return bad_input(format!(
                "--group {group}=…: the name is taken; give it another"
            ));
        }
        let mut members = Vec::new();
        for name in wanted {
            let Some(place) = names.iter().position(|n| n == name) else {
                return Err(unknown(
                    &format!("parameter of --group {group}"),
                    name,
                    &names,
                ));
            };
            if members.contains(&place) || list.iter().any(|g| g.members.contains(&place)) {
                return bad_input(format!(
                    "--group {group}: {name} is in a group already; a parameter can be in one only"
                ));
            }
            members.push(place);
        }
        list.push(Group {
            name: group.clone(),
            members,
        });
    }
    for (place, name) in names.iter().enumerate() {
        if !list.iter().any(|g| g.members.contains(&place)) {
            list.push(Group {
                name: (*name).into(),
                members: vec![place],
            });
        }
    }
    // In the order of the parameters, so that tables read alike with and without groups.
    list.sort_by_key(|g| g.members.iter().copied().min());
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_take_their_members_and_leave_the_rest_alone() {
        let factor = |name: &str| Factor {
            name: name.into(),
            symbol: name.into(),
            unit: "1".into(),
            distribution: Distribution::Uniform {
                low: -1.0,
                high: 3.0,
            },
            nominal: 0.0,
        };
        let factors = ["a", "b", "c"].map(factor);
        let asked = [("pair".to_string(), vec!["c".to_string(), "b".to_string()])];
        let list = groups(&factors, &asked).unwrap();
        assert_eq!(list.len(), 2);
        assert_eq!(
            (list[0].name.as_str(), &list[0].members[..]),
            ("a", &[0][..])
        );
        assert_eq!(list[1].members, [2, 1]);
        let typo = [("pair".to_string(), vec!["d".to_string()])];
        assert!(
            groups(&factors, &typo)
                .unwrap_err()
                .to_string()
                .contains("unknown parameter")
        );
        let twice = [
            ("p".to_string(), vec!["a".to_string()]),
            ("q".to_string(), vec!["a".to_string()]),
        ];
        assert!(
            groups(&factors, &twice)
                .unwrap_err()
                .to_string()
                .contains("one only")
        );
    }
}
