//! Tensors of the protocol, in JSON and as raw bytes (its binary extension).

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error::Refusal;

/// What the cells of a tensor are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Datatype {
    Bool,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Int8,
    Int16,
    Int32,
    Int64,
    Fp32,
    Fp64,
    Bytes,
}

/// The head of a tensor as a request has it: its cells are in `data`, or follow the JSON text as raw bytes.
#[derive(Debug, Deserialize)]
pub struct Head {
    pub name: String,
    pub datatype: Datatype,
    pub shape: Vec<usize>,
    #[serde(default)]
    pub parameters: Map<String, Value>,
    pub data: Option<Value>,
}

/// Cells: numbers (booleans are 0 and 1, missing ones NaN) or text.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    Numbers(Vec<f64>),
    Text(Vec<Option<Arc<str>>>),
}

/// A whole tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub name: String,
    pub datatype: Datatype,
    pub shape: Vec<usize>,
    pub cells: Cells,
}

impl Datatype {
    /// Bytes of one cell; none where cells have their own length.
    fn width(self) -> Option<usize> {
        match self {
            Datatype::Bool | Datatype::Uint8 | Datatype::Int8 => Some(1),
            Datatype::Uint16 | Datatype::Int16 => Some(2),
            Datatype::Uint32 | Datatype::Int32 | Datatype::Fp32 => Some(4),
            Datatype::Uint64 | Datatype::Int64 | Datatype::Fp64 => Some(8),
            Datatype::Bytes => None,
        }
    }
}

impl Head {
    /// Bytes that follow the JSON text for this tensor, where it has no `data`.
    pub fn binary_size(&self) -> Result<Option<usize>, Refusal> {
        let Some(size) = self.parameters.get("binary_data_size") else {
            return Ok(None);
        };
        let size = size.as_u64().and_then(|size| usize::try_from(size).ok());
        size.map(Some)
            .ok_or_else(|| self.wrong("`binary_data_size` is not a number of bytes"))
    }

    /// The tensor, its cells from `data` or from the raw bytes that belong to it.
    pub fn read(self, raw: Option<&[u8]>) -> Result<Tensor, Refusal> {
        let count = self
            .shape
            .iter()
            .try_fold(1usize, |product, axis| product.checked_mul(*axis));
        let count = count.ok_or_else(|| self.wrong("its shape is too large"))?;
        let cells = match (raw, &self.data) {
            (Some(raw), None) => self.decode(raw, count)?,
            (None, Some(data)) => self.flatten(data)?,
            _ => return Err(self.wrong("expected either `data` or `binary_data_size`")),
        };
        let found = match &cells {
            Cells::Numbers(cells) => cells.len(),
            Cells::Text(cells) => cells.len(),
        };
        if found != count {
            return Err(self.wrong(&format!("its shape has {count} cells, its data {found}")));
        }
        Ok(Tensor {
            name: self.name,
            datatype: self.datatype,
            shape: self.shape,
            cells,
        })
    }

    fn wrong(&self, problem: &str) -> Refusal {
        Refusal::bad(format!("input `{}`: {problem}", self.name))
    }

    fn decode(&self, raw: &[u8], count: usize) -> Result<Cells, Refusal> {
        let Some(width) = self.datatype.width() else {
            return self.decode_text(raw).map(Cells::Text);
        };
        if count.checked_mul(width) != Some(raw.len()) {
            return Err(self.wrong(&format!(
                "its shape has {count} cells of {width} bytes, its data {} bytes",
                raw.len()
            )));
        }
        let cells = raw.chunks_exact(width).map(|cell| {
            let mut word = [0u8; 8];
            word[..width].copy_from_slice(cell);
            number(self.datatype, word)
        });
        Ok(Cells::Numbers(cells.collect()))
    }

    /// Each cell: its length in four bytes, then its text in UTF-8.
    fn decode_text(&self, mut raw: &[u8]) -> Result<Vec<Option<Arc<str>>>, Refusal> {
        let mut cells = Vec::new();
        while let Some((length, rest)) = raw.split_first_chunk::<4>() {
            let length = u32::from_le_bytes(*length) as usize;
            if rest.len() < length {
                return Err(self.wrong("a text is cut off"));
            }
            let (cell, rest) = rest.split_at(length);
            let cell = std::str::from_utf8(cell).map_err(|_| self.wrong("a text is not UTF-8"))?;
            cells.push((!cell.is_empty()).then(|| cell.into()));
            raw = rest;
        }
        match raw {
            [] => Ok(cells),
            _ => Err(self.wrong("the length of a text is cut off")),
        }
    }

    fn flatten(&self, data: &Value) -> Result<Cells, Refusal> {
        let mut flat = Vec::new();
        leaves(data, &mut flat);
        if self.datatype == Datatype::Bytes {
            let cell = |value: &&Value| match value {
                Value::String(text) => Ok((!text.is_empty()).then(|| text.as_str().into())),
                Value::Null => Ok(None),
                other => Err(self.wrong(&format!("{other} is not a text"))),
            };
            return flat
                .iter()
                .map(cell)
                .collect::<Result<_, _>>()
                .map(Cells::Text);
        }
        let cell = |value: &&Value| match value {
            Value::Number(number) => Ok(number.as_f64().unwrap_or(f64::NAN)),
            Value::Bool(truth) => Ok(f64::from(u8::from(*truth))),
            Value::Null => Ok(f64::NAN),
            other => Err(self.wrong(&format!("{other} is not a number"))),
        };
        flat.iter()
            .map(cell)
            .collect::<Result<_, _>>()
            .map(Cells::Numbers)
    }
}

/// The cells of nested arrays, row by row; the protocol allows them flat, too.
fn leaves<'v>(value: &'v Value, into: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| leaves(item, into)),
        leaf => into.push(leaf),
    }
}

fn number(datatype: Datatype, word: [u8; 8]) -> f64 {
    let low = |count: usize| u64::from_le_bytes(word) & (u64::MAX >> (64 - 8 * count));
    match datatype {
        Datatype::Bool => f64::from(u8::from(word[0] != 0)),
        Datatype::Uint8 => low(1) as f64,
        Datatype::Uint16 => low(2) as f64,
        Datatype::Uint32 => low(4) as f64,
        Datatype::Uint64 => low(8) as f64,
        Datatype::Int8 => f64::from(word[0] as i8),
        Datatype::Int16 => f64::from(low(2) as u16 as i16),
        Datatype::Int32 => f64::from(low(4) as u32 as i32),
        Datatype::Int64 => i64::from_le_bytes(word) as f64,
        Datatype::Fp32 => f64::from(f32::from_bits(low(4) as u32)),
        Datatype::Fp64 => f64::from_le_bytes(word),
        Datatype::Bytes => f64::NAN,
    }
}

impl Tensor {
    /// A tensor of numbers.
    pub fn numbers(name: impl Into<String>, shape: Vec<usize>, cells: Vec<f64>) -> Self {
        Self {
            name: name.into(),
            datatype: Datatype::Fp64,
            shape,
            cells: Cells::Numbers(cells),
        }
    }

    /// A tensor of text.
    pub fn text<'t>(name: &str, cells: impl Iterator<Item = &'t str>) -> Self {
        let cells: Vec<Option<Arc<str>>> = cells.map(|cell| Some(cell.into())).collect();
        Self {
            name: name.into(),
            datatype: Datatype::Bytes,
            shape: vec![cells.len()],
            cells: Cells::Text(cells),
        }
    }

    /// Its cells as raw bytes.
    pub fn raw(&self) -> Vec<u8> {
        match &self.cells {
            Cells::Numbers(cells) => cells.iter().flat_map(|cell| cell.to_le_bytes()).collect(),
            Cells::Text(cells) => {
                let mut raw = Vec::new();
                for cell in cells {
                    let cell = cell.as_deref().unwrap_or_default();
                    raw.extend((cell.len() as u32).to_le_bytes());
                    raw.extend(cell.as_bytes());
                }
                raw
            }
        }
    }

    /// The tensor in JSON; with `raw` its cells are left out, and their size is told.
    pub fn json(&self, raw: Option<usize>) -> Value {
        let mut value = json!({
            "name": self.name,
            "datatype": self.datatype,
            "shape": self.shape,
        });
        match (raw, &self.cells) {
            (Some(size), _) => value["parameters"] = json!({ "binary_data_size": size }),
            (None, Cells::Numbers(cells)) => value["data"] = json!(cells),
            (None, Cells::Text(cells)) => {
                let cells: Vec<&str> = cells.iter().map(|c| c.as_deref().unwrap_or("")).collect();
                value["data"] = json!(cells);
            }
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(datatype: &str, shape: &[usize], data: Value) -> Head {
        let value = json!({ "name": "x", "datatype": datatype, "shape": shape, "data": data });
        serde_json::from_value(value).expect("head")
    }

    #[test]
    fn nested_and_flat_data_are_the_same() {
        let flat = head("FP64", &[2, 2], json!([1, 2.5, null, 4])).read(None);
        let nested = head("FP64", &[2, 2], json!([[1, 2.5], [null, 4]])).read(None);
        let (flat, nested) = (flat.expect("flat"), nested.expect("nested"));
        assert_eq!(flat.raw(), nested.raw());
        assert!(matches!(flat.cells, Cells::Numbers(cells) if cells[2].is_nan()));
    }

    #[test]
    fn raw_bytes_of_every_width_are_read() {
        let cases: [(&str, Vec<u8>, f64); 8] = [
            ("INT8", vec![0xfe], -2.0),
            ("UINT8", vec![0xfe], 254.0),
            ("INT16", (-3i16).to_le_bytes().to_vec(), -3.0),
            ("INT32", (-70_000i32).to_le_bytes().to_vec(), -70_000.0),
            ("INT64", (-5i64).to_le_bytes().to_vec(), -5.0),
            ("FP32", 0.25f32.to_le_bytes().to_vec(), 0.25),
            ("FP64", 0.1f64.to_le_bytes().to_vec(), 0.1),
            ("BOOL", vec![1], 1.0),
        ];
        for (datatype, raw, expected) in cases {
            let mut head = head(datatype, &[1], json!([]));
            head.data = None;
            let tensor = head.read(Some(&raw)).expect(datatype);
            assert_eq!(tensor.cells, Cells::Numbers(vec![expected]), "{datatype}");
        }
    }

    #[test]
    fn text_goes_out_and_comes_back() {
        let tensor = Tensor::text("t", ["north", "süd"].into_iter());
        let mut head = head("BYTES", &[2], json!([]));
        head.data = None;
        let back = head.read(Some(&tensor.raw())).expect("text");
        assert_eq!(back.cells, tensor.cells);
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        assert!(head("FP64", &[3], json!([1, 2])).read(None).is_err());
        assert!(head("FP64", &[1], json!(["a"])).read(None).is_err());
        assert!(head("BYTES", &[1], json!([1])).read(None).is_err());
        assert!(
            head("FP64", &[usize::MAX, 2], json!([1]))
                .read(None)
                .is_err()
        );
        let mut cut = head("BYTES", &[1], json!([]));
        cut.data = None;
        assert!(cut.read(Some(&[9, 0, 0, 0, b'a'])).is_err());
    }
}
