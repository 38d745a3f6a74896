//! The ways to fuse of the thesis' tables 3.3 to 3.10, with the errors printed there.

/// Test errors of the thesis: few, many and differently many rows a node, networks then radial basis functions of each.
type Theirs = [f64; 6];

/// A way to fuse, with the thesis' errors on the toy data and on scatterometry.
pub struct Way {
    pub name: &'static str,
    pub how: How,
    pub toy: Theirs,
    pub scatterometry: Theirs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Cooperative,
    Parametric,
    NonParametric,
    Average,
    Weighted,
    Evidence,
    Product,
    Machine,
    /// The committee machine with the prior over functions by linearisation: for networks.
    Linearised,
    /// The same as printed: one prior for all nodes, about zero.
    Printed,
    /// The product of beliefs about many queries together.
    ProductTogether,
    /// The committee machine for many queries together, with one prior for all nodes.
    MachineTogether,
    /// The same with the prior of one node by linearisation and its noise, and with the mean of all nodes' such priors.
    OneTogether,
    AllTogether,
    /// The parametric hierarchy with its covariance inverted as it stands, singular or not.
    Inverted,
}

const NONE: f64 = f64::NAN;

const fn way(name: &'static str, how: How, toy: Theirs, scatterometry: Theirs) -> Way {
    Way {
        name,
        how,
        toy,
        scatterometry,
    }
}

#[rustfmt::skip]
pub const WAYS: [Way; 15] = [
    way("weights: mean of draws", How::Cooperative, [0.9124, 0.1033, 4.0929, 0.0806, 8.4628, 0.0863], [1.2764, 0.1435, 5.7225, 0.1135, 11.7854, 0.1232]),
    way("weights: parametric hierarchy", How::Parametric, [0.3389, 0.3012, 1.5356, 6.8243, 3.0192, 23.4900], [0.4737, 0.4209, 2.1463, 9.5393, 4.2209, 32.8353]),
    way("weights: non-parametric hierarchy", How::NonParametric, [0.3413, 0.3021, 0.3335, 0.2622, 0.2775, 0.2983], [0.4782, 0.4227, 0.4664, 0.3679, 0.3869, 0.4173]),
    way("error averaging", How::Average, [0.3479, 0.2939, 0.2790, 0.2843, 0.3315, 0.2917], [0.4876, 0.4120, 0.3900, 0.4012, 0.4621, 0.4078]),
    way("weighted averaging", How::Weighted, [1.1283e5, 2.5550, 0.2700, 0.2719, 0.2862, 0.2850], [1.5732e5, 3.5715, 0.3807, 0.3812, 0.4000, 0.3984]),
    way("model averaging", How::Evidence, [0.4672, 0.4659, 0.2897, 0.2834, 0.2861, 0.2869], [0.6529, 0.6513, 0.4051, 0.3962, 0.4213, 0.4023]),
    way("product", How::Product, [0.3356, 0.2867, 0.2787, 0.2839, 0.2993, 0.2881], [0.4491, 0.4011, 0.3923, 0.3970, 0.4185, 0.4042]),
    way("committee machine", How::Machine, [0.4467, 0.2912, 0.2654, 0.2790, 0.2721, 0.2812], [0.6244, 0.4072, 0.3710, 0.3902, 0.3842, 0.3938]),
    way("committee machine, prior linearised", How::Linearised, [1.0176, NONE, 1.0375, NONE, 1.1500, NONE], [1.4245, NONE, 1.4503, NONE, 1.6075, NONE]),
    way("product, 100 together", How::ProductTogether, [NONE; 6], [NONE; 6]),
    way("committee machine, 100 together", How::MachineTogether, [0.4467, 0.2912, 0.2654, 0.2790, 0.2721, 0.2812], [0.6244, 0.4072, 0.3710, 0.3902, 0.3842, 0.3938]),
    way("committee machine, 100 together, prior linearised as printed", How::OneTogether, [1.0176, NONE, 1.0375, NONE, 1.1500, NONE], [1.4245, NONE, 1.4503, NONE, 1.6075, NONE]),
    way("committee machine, 100 together, all priors linearised", How::AllTogether, [NONE; 6], [NONE; 6]),
    way("committee machine, prior linearised, as printed", How::Printed, [NONE; 6], [NONE; 6]),
    way("weights: parametric hierarchy, inverted", How::Inverted, [NONE; 6], [NONE; 6]),
];

impl Way {
    /// Whether it has a row in the table: some are for networks, and some for what is said about the table.
    pub fn is_listed(&self, is_network: bool) -> bool {
        match self.how {
            How::Printed | How::Inverted => false,
            How::Linearised | How::OneTogether | How::AllTogether => is_network,
            _ => true,
        }
    }
}
