//! The shipped scenes as they are read.

use crate::inside::common::{
    cpu,
    shipped::{examples, refusal},
};
use rumple::scene::Scene;

// Every shipped scene is valid as it stands, and says what it shows.
#[test]
fn shipped_scenes_are_valid() {
    let compute = cpu();
    let list = examples();
    assert!(list.len() >= 20, "{list:?}");
    for path in list {
        let scene = Scene::load(&path).unwrap();
        assert!(!scene.notes.is_empty(), "{}", path.display());
        scene.prepare(&compute).unwrap();
    }
}

// The schema admits every shipped scene with its defaults written out.
#[test]
fn the_schema_admits_resolved_scenes() {
    let schema = Scene::schema();
    for path in examples() {
        let resolved = Scene::load(&path).unwrap().to_json();
        assert_eq!(refusal(&schema, &resolved, ""), None, "{}", path.display());
    }
    assert!(refusal(&schema, &serde_json::Value::Null, "").is_some());
}
