//! Options for the settings of laboratory tests, as the tests declare them.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};

use crate::{
    error::Result,
    laboratory::{ChosenSetting, TESTS},
};

/// The option that names a case with the section of a test, for made-up tables.
const CASE: &str = "case";

/// An option for each setting that can be chosen: for a design where `PLANNED`, else for a made-up table.
#[derive(Debug)]
pub(super) struct GridArguments<const PLANNED: bool>(Vec<(&'static str, Vec<f64>)>);

impl<const PLANNED: bool> GridArguments<PLANNED> {
    /// Values by the settings' names with units, as the library takes them.
    pub(super) fn chosen(&self) -> Result<Vec<(&'static str, Vec<f64>)>> {
        for setting in settings::<PLANNED>() {
            let given = self.0.iter().find(|(key, _)| *key == setting.key);
            if let Some((_, values)) = given {
                setting.accept(&format!("--{}", setting.option), values)?;
            }
        }
        Ok(self.0.clone())
    }
}

fn settings<const PLANNED: bool>() -> impl Iterator<Item = &'static ChosenSetting> {
    let all = TESTS.iter().flat_map(|test| test.chosen());
    all.filter(|setting| !PLANNED || setting.planned.is_some())
}

impl<const PLANNED: bool> Args for GridArguments<PLANNED> {
    fn augment_args(command: Command) -> Command {
        let mut command = command;
        for test in TESTS {
            let of_section = test.section().is_some();
            for setting in test.chosen() {
                let Some(help) = (if PLANNED {
                    setting.planned
                } else {
                    Some(setting.made_up)
                }) else {
                    continue;
                };
                let arg = Arg::new(setting.key)
                    .long(setting.option)
                    .value_name(setting.letters)
                    .value_delimiter(',')
                    .value_parser(value_parser!(f64))
                    .action(ArgAction::Append)
                    .help(help);
                command = command.arg(match (PLANNED, of_section) {
                    (true, _) => arg,
                    (false, true) => arg.requires(CASE),
                    (false, false) => arg.conflicts_with(CASE),
                });
            }
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const PLANNED: bool> FromArgMatches for GridArguments<PLANNED> {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let given = settings::<PLANNED>().filter_map(|setting| {
            let values = matches.get_many::<f64>(setting.key)?;
            Some((setting.key, values.copied().collect()))
        });
        Ok(GridArguments(given.collect()))
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
