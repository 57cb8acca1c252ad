//! Square matrices of bits, and their transitive closure.

/// A relation on `0..len`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Matrix {
    rows: Vec<Vec<u64>>,
}

impl Matrix {
    pub(super) fn new(len: usize) -> Matrix {
        let words = len.div_ceil(64);
        Matrix { rows: vec![vec![0; words]; len] }
    }

    pub(super) fn has(&self, x: usize, y: usize) -> bool {
        self.rows[x][y / 64] >> (y % 64) & 1 == 1
    }

    pub(super) fn set(&mut self, x: usize, y: usize) {
        self.rows[x][y / 64] |= 1 << (y % 64);
    }

    /// Closes the relation transitively (Warshall), in time cubic in `len`.
    pub(super) fn close(&mut self) {
        for k in 0..self.rows.len() {
            let through = self.rows[k].clone();
            for x in 0..self.rows.len() {
                if self.has(x, k) {
                    for (word, more) in self.rows[x].iter_mut().zip(&through) {
                        *word |= more;
                    }
                }
            }
        }
    }
}
