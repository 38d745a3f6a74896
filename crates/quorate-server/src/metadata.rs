//! What the server and its models say of themselves.

use quorate::gp::data::{ColumnType, Schema};
use serde_json::{Value, json};

use crate::outputs::described;
use crate::shelf::Loaded;
use crate::tensor::Datatype;

/// The server's reply about itself.
pub fn server() -> Value {
    json!({
        "name": "quorate",
        "version": env!("CARGO_PKG_VERSION"),
        "extensions": ["binary_tensor_data", "model_repository"],
    })
}

/// A model's reply about itself.
pub fn model(loaded: &Loaded) -> Value {
    let tensor = |name: &str, datatype: Datatype, shape: &[i64]| json!({ "name": name, "datatype": datatype, "shape": shape });
    let inputs = inputs(loaded.model.schema());
    let inputs = inputs
        .iter()
        .map(|(name, datatype)| tensor(name, *datatype, &[-1]));
    let outputs = described(loaded.model.schema());
    let outputs = outputs
        .iter()
        .map(|(name, datatype, shape)| tensor(name, *datatype, shape));
    json!({
        "name": loaded.name,
        "versions": [loaded.version],
        "platform": "quorate",
        "inputs": inputs.collect::<Vec<_>>(),
        "outputs": outputs.collect::<Vec<_>>(),
    })
}

fn inputs(schema: &Schema) -> Vec<(String, Datatype)> {
    let datatype = |cells: ColumnType| match cells {
        ColumnType::Text => Datatype::Bytes,
        ColumnType::Boolean => Datatype::Bool,
        // A date is a number of days since 1970-01-01.
        ColumnType::Number | ColumnType::Date => Datatype::Fp64,
    };
    let expected = schema.expected_types().into_iter();
    expected
        .chain(schema.companion_types())
        .map(|(name, cells)| (name, datatype(cells)))
        .collect()
}
