//! Members that Python brings along: anything with `fit` and `predict`, behind a small object of the Python package.
//!
//! That object (`quorate._guests.Guest`) has `fit(X, y, weight)`, `predict(fitted, X)`, and the like for classes; inputs are
//! expanded and, like targets, standardised.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use quorate::classifier::{ClassRecipe, Classifier};
use quorate::ensemble::Guests;
use quorate::member::{Expansion, Member, Recipe, State};
use quorate::{Error, Result};
use quorate_gp::data::{Classes, Dataset, Inputs};
use quorate_gp::gaussian::{Joint, Marginals};
use quorate_gp::linalg::Matrix;
use quorate_gp::posterior::Predict;

use crate::work::inside;

/// The guests of a committee by name, and the first exception that one of them raised.
#[derive(Clone)]
pub struct Brought(Arc<Inner>);

struct Inner {
    guests: Vec<(String, Py<PyAny>)>,
    raised: Mutex<Option<PyErr>>,
}

impl Brought {
    pub fn new(guests: Vec<(String, Py<PyAny>)>) -> Self {
        Self(Arc::new(Inner {
            guests,
            raised: Mutex::new(None),
        }))
    }

    /// The guests, for another committee.
    pub fn list(&self, py: Python<'_>) -> Vec<(String, Py<PyAny>)> {
        let each = self.0.guests.iter();
        each.map(|(name, guest)| (name.clone(), guest.clone_ref(py)))
            .collect()
    }

    /// What a guest raised: it says more than what the core made of it.
    pub fn reason(&self, _: Python<'_>) -> Option<PyErr> {
        let mut raised = self.0.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.take()
    }

    fn seat(&self, name: &str, expansion: &Expansion) -> Option<Seat> {
        let known = self.0.guests.iter().any(|(own, _)| own == name);
        known.then(|| Seat {
            brought: self.clone(),
            name: name.to_owned(),
            expansion: expansion.clone(),
        })
    }
}

/// Inputs and weights of rows.
type Shown<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// One guest, and how inputs are expanded for it.
#[derive(Clone)]
struct Seat {
    brought: Brought,
    name: String,
    expansion: Expansion,
}

impl Seat {
    /// Asks the guest something; what it raises is kept for the caller.
    fn ask<T>(&self, ask: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>) -> Result<T> {
        inside(|py| {
            let guests = &self.brought.0.guests;
            let guest = guests.iter().find(|(own, _)| *own == self.name);
            let Some((_, guest)) = guest else {
                return Err(Error::Spec(format!("there is no guest `{}`", self.name)));
            };
            ask(py, guest.bind(py)).map_err(|error| {
                let text = format!("member {}: {error}", self.name);
                let raised = &self.brought.0.raised;
                let mut raised = raised.lock().unwrap_or_else(PoisonError::into_inner);
                raised.get_or_insert(error);
                Error::Spec(text)
            })
        })
    }

    fn inputs<'py>(
        &self,
        py: Python<'py>,
        inputs: Inputs<'_>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let values = self.expansion.apply(inputs).into_pyarray(py);
        values.reshape([inputs.rows(), self.expansion.width()])
    }

    /// The rows of the table, expanded, with their weights.
    fn rows<'py>(&self, py: Python<'py>, rows: &Dataset) -> PyResult<Shown<'py>> {
        let members = rows.members();
        let values: Vec<f64> = members
            .iter()
            .flat_map(|own| rows.inputs().row(own.group))
            .copied()
            .collect();
        let width = rows.inputs().width();
        let inputs = Inputs::new(&values, members.len(), width).map_err(crate::errors::of_gp)?;
        let weights: Vec<f64> = members.iter().map(|own| own.weight).collect();
        Ok((self.inputs(py, inputs)?, weights.into_pyarray(py)))
    }

    fn state(&self, fitted: &Py<PyAny>, numbers: Vec<f64>) -> Result<State> {
        let pickled: String = self.ask(|py, guest| {
            guest
                .call_method1("dumps", (fitted.clone_ref(py),))?
                .extract()
        })?;
        State::new(&(pickled, &self.expansion), vec![numbers])
    }

    fn restored(brought: &Brought, name: &str, state: &State) -> Result<(Self, Py<PyAny>)> {
        let (pickled, expansion): (String, Expansion) = state.read()?;
        let seat = Seat {
            brought: brought.clone(),
            name: name.to_owned(),
            expansion,
        };
        let fitted = seat.ask(|_, guest| Ok(guest.call_method1("loads", (pickled,))?.unbind()))?;
        Ok((seat, fitted))
    }
}

impl Guests for Brought {
    fn recipe(&self, name: &str, expansion: &Expansion) -> Option<Box<dyn Recipe>> {
        let seat = self.seat(name, expansion)?;
        Some(Box::new(seat))
    }

    fn class_recipe(
        &self,
        name: &str,
        expansion: &Expansion,
        classes: &Classes,
    ) -> Option<Box<dyn ClassRecipe>> {
        let seat = self.seat(name, expansion)?;
        Some(Box::new(ClassSeat(seat, classes.clone())))
    }

    fn restore(&self, name: &str, state: &State) -> Option<Result<Box<dyn Member>>> {
        let known = self.0.guests.iter().any(|(own, _)| own == name);
        known.then(|| {
            let (seat, fitted) = Seat::restored(self, name, state)?;
            let [noise, doubt] = *state.list(0)? else {
                return Err(Error::Spec("the stored guest is damaged".into()));
            };
            let member = GuestMember {
                seat,
                fitted,
                noise,
                doubt,
            };
            Ok(Box::new(member) as Box<dyn Member>)
        })
    }

    fn restore_class(&self, name: &str, state: &State) -> Option<Result<Box<dyn Classifier>>> {
        let known = self.0.guests.iter().any(|(own, _)| own == name);
        known.then(|| {
            let (seat, fitted) = Seat::restored(self, name, state)?;
            let [classes] = *state.list(0)? else {
                return Err(Error::Spec("the stored guest is damaged".into()));
            };
            let member = GuestClassifier {
                seat,
                fitted,
                classes: classes as usize,
            };
            Ok(Box::new(member) as Box<dyn Classifier>)
        })
    }
}

impl Recipe for Seat {
    fn fit(&self, rows: &Dataset) -> Result<Box<dyn Member>> {
        let (fitted, noise, doubt) = self.ask(|py, guest| {
            let (inputs, weights) = self.rows(py, rows)?;
            let targets: Vec<f64> = rows.members().iter().map(|own| own.target).collect();
            let targets = targets.into_pyarray(py);
            guest
                .call_method1("fit", (inputs, targets, weights))?
                .extract::<(Py<PyAny>, f64, f64)>()
        })?;
        Ok(Box::new(GuestMember {
            seat: self.clone(),
            fitted,
            noise,
            doubt,
        }))
    }
}

/// A fitted guest, the noise it left, and the variance of its answers.
struct GuestMember {
    seat: Seat,
    fitted: Py<PyAny>,
    noise: f64,
    doubt: f64,
}

impl Predict for GuestMember {
    /// Targets are standardised.
    fn prior(&self, query: Inputs<'_>) -> Marginals {
        Marginals {
            mean: Matrix::zeros(query.rows(), 1),
            variance: Matrix::from_fn(query.rows(), 1, |_, _| 1.0),
        }
    }

    fn marginals(&self, query: Inputs<'_>) -> quorate_gp::Result<Marginals> {
        let said = self.seat.ask(|py, guest| {
            let inputs = self.seat.inputs(py, query)?;
            let answer = guest.call_method1("predict", (self.fitted.clone_ref(py), inputs))?;
            let (mean, variance): (PyReadonlyArray1<'_, f64>, Option<PyReadonlyArray1<'_, f64>>) =
                answer.extract()?;
            let mean: Vec<f64> = mean.as_array().iter().copied().collect();
            let variance = variance.map(|own| own.as_array().iter().copied().collect());
            Ok((
                mean,
                variance.unwrap_or_else(|| vec![self.doubt; query.rows()]),
            ))
        });
        let (mean, variance): (Vec<f64>, Vec<f64>) =
            said.map_err(|error| quorate_gp::Error::Invalid(error.to_string()))?;
        if mean.len() != query.rows()
            || variance.len() != query.rows()
            || mean.iter().chain(&variance).any(|value| !value.is_finite())
        {
            return Err(quorate_gp::Error::Invalid(format!(
                "member {} gave other than one number for each row",
                self.seat.name
            )));
        }
        // Nobody knows less than before, and nobody everything.
        let least = 1e-10;
        Ok(Marginals {
            mean: Matrix::from_fn(query.rows(), 1, |row, _| mean[row]),
            variance: Matrix::from_fn(query.rows(), 1, |row, _| variance[row].clamp(least, 1.0)),
        })
    }

    fn joint(&self, _query: Inputs<'_>) -> quorate_gp::Result<Joint> {
        Err(quorate_gp::Error::Invalid(
            "a guest has no covariance between queries".into(),
        ))
    }
}

impl Member for GuestMember {
    fn noise_variance(&self) -> f64 {
        self.noise
    }

    fn state(&self) -> Result<State> {
        self.seat.state(&self.fitted, vec![self.noise, self.doubt])
    }
}

struct ClassSeat(Seat, Classes);

impl ClassRecipe for ClassSeat {
    fn fit(&self, rows: &Dataset) -> Result<Box<dyn Classifier>> {
        let Self(seat, classes) = self;
        let scales = classes.scales();
        let codes = (0..rows.members().len()).map(|place| {
            let own: Vec<f64> = rows.own_targets(place).collect();
            classes.class_of(&own, &scales) as f64
        });
        let codes: Vec<f64> = codes.collect();
        let fitted = seat.ask(|py, guest| {
            let (inputs, weights) = seat.rows(py, rows)?;
            let codes = codes.into_pyarray(py);
            Ok(guest
                .call_method1("fit_classes", (inputs, codes, weights))?
                .unbind())
        })?;
        Ok(Box::new(GuestClassifier {
            seat: seat.clone(),
            fitted,
            classes: classes.count(),
        }))
    }
}

/// A fitted guest that tells classes apart.
struct GuestClassifier {
    seat: Seat,
    fitted: Py<PyAny>,
    classes: usize,
}

impl Classifier for GuestClassifier {
    fn probabilities(&self, query: Inputs<'_>) -> Result<Matrix> {
        let said: Vec<f64> = self.seat.ask(|py, guest| {
            let inputs = self.seat.inputs(py, query)?;
            let fitted = self.fitted.clone_ref(py);
            let answer = guest.call_method1("probabilities", (fitted, inputs, self.classes))?;
            let answer: PyReadonlyArray2<'_, f64> = answer.extract()?;
            let rows = answer.as_array();
            Ok(rows.iter().copied().collect())
        })?;
        if said.len() != query.rows() * self.classes || said.iter().any(|p| !p.is_finite()) {
            return Err(Error::Spec(format!(
                "member {} gave other than one probability for each row and class",
                self.seat.name
            )));
        }
        Ok(Matrix::from_fn(query.rows(), self.classes, |row, class| {
            said[row * self.classes + class]
        }))
    }

    fn state(&self) -> Result<State> {
        self.seat.state(&self.fitted, vec![self.classes as f64])
    }
}
