//! Ranks, where ties share theirs.

/// Twice the rank of each value, in the order of the values: the mean of the ranks that ties share is a half at worst, so these
/// are whole numbers.
pub(super) fn doubled(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
    let mut ranks = vec![0; values.len()];
    let mut before = 0;
    for tied in order.chunk_by(|one, other| values[*one] == values[*other]) {
        let (first, last) = (before + 1, before + tied.len());
        tied.iter().for_each(|at| ranks[*at] = first + last);
        before = last;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_the_mean() {
        assert_eq!(doubled(&[5.0, 1.0, 5.0, 2.0, 5.0]), [8, 2, 8, 4, 8]);
        assert_eq!(doubled(&[2.0, 2.0]), [3, 3]);
        assert_eq!(doubled(&[]), [0_usize; 0]);
    }
}
