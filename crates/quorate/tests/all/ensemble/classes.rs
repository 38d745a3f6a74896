//! Rules for classes.

use quorate::fusion::{CLASS_RULES, ClassFusion, ClassRecord, class_rule};
use quorate::gp::linalg::Matrix;

#[test]
fn rules_for_classes_are_their_formulas() {
    let row = |p: [f64; 2]| Matrix::from_fn(1, 2, |_, class| p[class]);
    let said = [row([0.9, 0.1]), row([0.4, 0.6]), row([0.45, 0.55])];
    let shares = [0.7, 0.3];
    let fuse = |fusion: ClassFusion, weights: Option<&[f64]>| {
        fusion.combine(&said, &shares, weights).unwrap()[(0, 0)]
    };
    let near = |ours: f64, theirs: f64| assert!((ours - theirs).abs() < 1e-12, "{ours} {theirs}");
    let (a, b): (f64, f64) = (0.9 * 0.4 * 0.45, 0.1 * 0.6 * 0.55);
    near(fuse(ClassFusion::Product, None), a / (a + b));
    let (c, d) = (a.cbrt(), b.cbrt());
    near(fuse(ClassFusion::GeometricMean, None), c / (c + d));
    let (c, d) = (a / 0.49, b / 0.09);
    near(fuse(ClassFusion::Machine, None), c / (c + d));
    near(fuse(ClassFusion::Mean, None), (0.9 + 0.4 + 0.45) / 3.0);
    near(fuse(ClassFusion::Majority, None), (1.0 + 0.5) / 4.0);
    let weights = [2.0, 0.5, 0.5];
    near(fuse(ClassFusion::Votes, Some(&weights)), (2.0 + 0.5) / 4.0);
    let weights = [0.5, 0.3, 0.2];
    let mixed = 0.5 * 0.9 + 0.3 * 0.4 + 0.2 * 0.45;
    near(fuse(ClassFusion::Stacked, Some(&weights)), mixed);
    for rule in CLASS_RULES {
        // One member is that member; a vote decides as it does.
        let one = rule.fusion.combine(&said[..1], &shares, None).unwrap();
        match rule.fusion {
            ClassFusion::Majority | ClassFusion::Votes => near(one[(0, 0)], 1.5 / 2.0),
            _ => near(one[(0, 0)], 0.9),
        }
        assert_eq!(class_rule(rule.name), Some(&rule));
        assert!(rule.fusion.combine(&[], &shares, None).is_err());
    }
    // Stacking finds the member that is right, and votes count log odds of being right.
    let seen = Matrix::from_fn(40, 2, |row, class| f64::from(u8::from(row % 2 == class)));
    let good = Matrix::from_fn(40, 2, |row, class| if row % 2 == class { 0.8 } else { 0.2 });
    let blind = Matrix::from_fn(
        40,
        2,
        |row, class| if row / 2 % 2 == class { 0.9 } else { 0.1 },
    );
    let record = ClassRecord {
        shares: seen,
        weights: vec![1.0; 40],
        said: vec![good, blind],
    };
    let stacked = ClassFusion::Stacked.learn(&record).unwrap().unwrap();
    assert!(stacked[0] > 0.9 && (stacked[0] + stacked[1] - 1.0).abs() < 1e-12);
    let votes = ClassFusion::Votes.learn(&record).unwrap().unwrap();
    near(votes[0], 41f64.ln());
    near(votes[1], 0.0);
}
